"""What Spot adds to bodymotion.

Rows of the table in `bodymotion.extensions`. Imports nothing that it names.
"""

from pathlib import Path

from bodymotion.extensions import Extension, Kind

SPOT = "bodymotion.spot"

# What a move may control; two moves at a time share no track.
TRACKS = (
    *("legs", "body", "arm", "gripper", "lights"),
    *("audio_visual_lights", "audio_visual_buzzer", "annotations"),
)

EXTENSION = Extension(
    name="spot",
    package=SPOT,
    formats=Path(__file__).with_name("formats.txt").read_text(encoding="utf-8"),
    kinds=(
        Kind(
            name="Animation",
            place=f"{SPOT}.animation:Animation",
            noun="animation",
            plural="Spot animations",
            robot="Spot",
            has_tempo=True,
            from_motion_options=("legs", "bpm"),
            to_motion_options=("bpm", "rate"),
            functions={
                "check": f"{SPOT}.checking:check_animation",
                "change_speed": f"{SPOT}.editing:change_speed",
                "compare": f"{SPOT}.comparison:compare_animations",
                "describe": f"{SPOT}.information:describe_animation",
                "edit": f"{SPOT}.edit_command:edit_animation",
                "from_motion": f"{SPOT}.playback.recording:animation_for_file",
                "page": f"{SPOT}.information:show_animation",
                "panel": f"{SPOT}.viewer_panel:AnimationPanel",
                "play_together": f"{SPOT}.playback.playing:play_together",
                "playback": f"{SPOT}.animation_playback:play_animation",
                "summary": f"{SPOT}.notebooks:summary_of",
                "table": f"{SPOT}.notebooks:columns_of",
                "to_motion": f"{SPOT}.playback.playing:play",
            },
        ),
        Kind(
            name="Choreography",
            place=f"{SPOT}.choreography.values:Choreography",
            noun="choreography",
            plural="Spot choreographies",
            robot="Spot",
            functions={
                "check": f"{SPOT}.choreography.validation:problems_of",
                "compare": f"{SPOT}.comparison:compare_choreographies",
                "describe": f"{SPOT}.information:describe_choreography",
                "page": f"{SPOT}.information:show_choreography",
                "play_together": f"{SPOT}.playback.playing:play_together",
                "snap": f"{SPOT}.choreography.music:snap_to_beats",
                "to_motion": f"{SPOT}.choreography.playing:play_choreography",
            },
        ),
    ),
    text_formats=("cha",),
    rules=(
        f"{SPOT}.losses",
        f"{SPOT}.cha.rules",
        f"{SPOT}.cha_proto.rules",
        f"{SPOT}.playback.rules",
        f"{SPOT}.choreography.rules",
    ),
    fixes={"cha": f"{SPOT}.cha.fixes"},
    commands={"spot": f"{SPOT}.command"},
    examples={
        "convert": (
            "bodymotion convert wave.cha wave.cap",
            "bodymotion convert trot.cha trot.seq",
        ),
        "diff": ("bodymotion diff wave.cha log.pb --recorded",),
        "edit": ("bodymotion edit wave.cha left.cha --mirror --set speed=0.8",),
        "measure": ("bodymotion measure dance.cha",),
        "report": ("bodymotion report wave.cha -o wave.html",),
        "retarget": ("bodymotion retarget walk.bvh spot -o walk.cha",),
        "retime": ("bodymotion retime dance.csq on_beat.csq --beats song.mp3",),
        "view": (
            "bodymotion view --ghost wave.cha log.pb",
            "bodymotion view --watch wave.cha",
        ),
    },
    renamed={
        f"bodymotion.comparison.{name}": f"{SPOT}.{name}"
        for name in (
            "compare_animations",
            "compare_choreographies",
            "compare_recording",
        )
    }
    | {"bodymotion.editing.animations": f"{SPOT}.editing"},
    tracks=TRACKS,
    functions={
        "body": f"{SPOT}.robots:body_of",
        "body_for": f"{SPOT}.robots:body_for",
        "compare_recording": f"{SPOT}.recordings:compare_recording",
        "joining_hint": f"{SPOT}.robots:joining_hint",
        "retarget": f"{SPOT}.retargeting:retarget_to_spot",
        "validate": f"{SPOT}.playback.validation:validate",
    },
)
