"""Known properties of a move.

Its tracks, its positions at the start and the end, its lengths, and the ranges of its
parameters.

It comes from the animation, else from the list of the robot, else from the kind of its
parameters. The moves of a robot are not part of this package: `bodymotion spot moves -o
FILE` saves the robot's list.
"""

from collections.abc import Mapping
from dataclasses import replace

from bodymotion.spot.animation import Animation, Parameter
from bodymotion.spot.cha_proto.messages import message_class
from bodymotion.spot.cha_proto.sequence import KINDS
from bodymotion.spot.cha_proto.writer import set_fields
from bodymotion.spot.choreography.values import (
    PREFIX,
    STATES,
    Choreography,
    Move,
    Value,
)
from bodymotion.spot.playback.timing import settings, timing

STAND = STATES[1]
SIT = STATES[3]

_MOVES_OF_TRACKS = {
    "legs body": "jump",
    "arm gripper": "arm_move",
    "gripper": "gripper",
    "lights audio_visual_lights": "set_all_color",
    "audio_visual_lights": "set_audio_visual_color",
    "audio_visual_buzzer": "buzzer_note",
    "arm": "workspace_arm_move figure8 chicken_head",
    "lights": "set_color ripple_color fade_color independent_color",
    "body": "rotate_body body_hold fidget_stand random_rotate butt_circle sway twerk",
    "legs": "step goto turn pace_2step crawl custom_gait running_man hop bourree "
    "front_up kneel_leg_move kneel_leg_move2 kneel_circle clap",
}


def _tracks_of_kinds() -> dict[str, tuple[str, ...]]:
    """Return the tracks of each field of parameters."""
    tracks_of_kinds = {}
    for tracks, names in _MOVES_OF_TRACKS.items():
        for name in names.split():
            tracks_of_kinds[f"{name}_params"] = tuple(tracks.split())
    return tracks_of_kinds


# The tracks that moves with these parameters control at least. By the headings of the
# vendor's reference of moves.
TRACKS_OF_KINDS: Mapping[str, tuple[str, ...]] = _tracks_of_kinds()


def tracks_of(choreography: Choreography, move: Move) -> tuple[str, ...]:
    """Return the tracks that a move controls, as far as they are known."""
    animation = choreography.animations.get(move.animation)
    info = choreography.info(move)
    if animation is not None:
        return animation.controls
    if info is not None:
        return info.tracks
    return TRACKS_OF_KINDS.get(move.kind, ())


def states_of(choreography: Choreography, move: Move) -> tuple[tuple[str, ...], str]:
    """Return the positions in which a move may begin and in which it ends.

    () and "" where they are unknown.
    """
    info = choreography.info(move)
    if info is not None:
        return info.entrance_states, "" if info.exit_state == STATES[
            0
        ] else info.exit_state
    animation = choreography.animations.get(move.animation)
    if animation is None:
        return (), ""
    return (SIT if "starts_sitting" in animation.options else STAND,), STAND


def natural_slices(animation: Animation, bpm: float) -> int:
    """Return the number of slices of an animation by itself at a tempo.

    At least one.

    Raises ValueError when it cannot be played at this tempo.
    """
    return max(
        timing(
            animation, bpm=bpm, speed=settings(animation)["speed"], frame_rate=1.0
        ).natural,
        1,
    )


def length_range(choreography: Choreography, move: Move) -> tuple[float, float]:
    """Return the smallest and the largest length [slices] of a move.

    0 and infinity where it is unknown.

    Raises ValueError when its animation cannot be played.
    """
    animation = choreography.animations.get(move.animation)
    info = choreography.info(move)
    if animation is not None:
        natural = float(natural_slices(animation, choreography.bpm))
        if "truncatable" in animation.options:
            low = 1.0
        else:
            low = natural
        return low, float("inf") if "extendable" in animation.options else natural
    if info is None:
        return (0.0, float("inf"))
    return info.slice_range(choreography.slices_per_minute)


def ranges_of(
    choreography: Choreography, move: Move
) -> tuple[str | None, Mapping[str, Parameter] | None]:
    """Return the field of the parameters of a move, and their limits by name.

    None where they are unknown.
    """
    if choreography.robot is not None:
        listed = choreography.robot.ranges
    else:
        listed = {}
    if not move.animation:
        return listed.get(move.type, (None, None))
    animation = choreography.animations.get(move.animation)
    if animation is None:
        return "animate_params", None
    robot = next(
        (limits for kind, limits in listed.values() if kind == "animate_params"), {}
    )
    own = animation.parameters.items()
    return "animate_params", {
        name: robot.get(name, one) if one == Parameter() else one for name, one in own
    }


def add(
    choreography: Choreography,
    move: str | Animation | Move,
    start: int | None = None,
    slices: int | None = None,
    parameters: Mapping[str, Value] | None = None,
) -> Choreography:
    """Return a choreography with a further move; see `Choreography.add`."""
    if isinstance(move, Move):
        return choreography.replaced(*choreography.moves, move)
    if isinstance(move, Animation):
        if not move.name:
            raise ValueError("the animation has no name, by which a move could name it")
        choreography = replace(
            choreography, animations={**choreography.animations, move.name: move}
        )
        move = f"{PREFIX}{move.name}"
    made = Move(
        move,
        choreography.slices if start is None else start,
        slices or 0,
        dict(parameters or {}),
    )
    if made.parameters:
        kind = ranges_of(choreography, made)[0] or f"{move}_params"
        if kind not in KINDS:
            raise ValueError(
                f"the parameters of {move!r} are unknown; expected one of "
                f"{', '.join(KINDS)}"
            )
        made = replace(made, kind=kind)
        values = {f"{kind}.{name}": value for name, value in made.parameters.items()}
        set_fields(message_class("MoveParams")(), values, repr(move))
    if slices is None:
        low, high = length_range(choreography, made)
        animation = choreography.animations.get(made.animation)
        info = choreography.info(made)
        if info is None:
            length = 0
        else:
            length = info.natural_slices(choreography.slices_per_minute)
        if animation is not None:
            length = natural_slices(animation, choreography.bpm)
        if not length:
            raise ValueError(f"the length of {move!r} is unknown; pass slices=…")
        made = replace(made, requested_slices=int(min(max(length, low), high)))
    return choreography.replaced(*choreography.moves, made)
