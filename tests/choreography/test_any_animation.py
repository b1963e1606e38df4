"""Whatever an animation asks for, playing gives finite numbers of the right shapes, or says in a ValueError why not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from moves import body, component, joints, move

import bodymotion as bm
from bodymotion.spot.animation import GROUPS, Parameter
from bodymotion.spot.playback.timing import NEUTRAL
from sample_files import tries

CHOICES = {
    "legs": [
        "leg_joints",
        "foot_pos",
        "fl_angles fr_pos hl_angles hr_pos",
        "foot_pos contact",
        "leg_joints fl_contact",
    ],
    "body": [
        "body_pos",
        "com_pos body_quat_wxyz",
        "body_z body_yaw",
        "body_quat_xyzw",
        "body_pos body_euler_rpy",
        "com_x body_roll",
    ],
    "arm": [
        "arm_joints",
        "hand_pos",
        "hand_pos hand_quat_wxyz",
        "hand_pos hand_euler_rpy",
        "shoulder0 elbow1",
    ],
    "gripper": ["gripper"],
}
FLAGS = [
    "retime_to_integer_slices",
    "no_looping",
    "neutral_start",
    "starts_sitting",
    "precise_steps",
    "track_swing_trajectories",
    "custom_gait_cycle",
]


@st.composite
def animations(draw):
    controls = draw(
        st.lists(st.sampled_from(sorted(CHOICES)), min_size=1, max_size=4, unique=True)
    )
    columns = " ".join(draw(st.sampled_from(CHOICES[track])) for track in controls)
    extra = draw(st.sampled_from(["", " gripper", " body_z"]))
    columns += (
        extra
        if extra.strip() not in columns and extra.strip()[:4] not in columns
        else ""
    )
    width = sum(len(GROUPS.get(word, (word,))) for word in columns.split())
    count = draw(st.integers(1, 5))
    value = st.floats(-2, 2) | st.sampled_from([0.0, 1.0, -1.6, 0.48, 1e-6, 1e5, -3.2])
    rows = [draw(st.lists(value, min_size=width, max_size=width)) for _ in range(count)]
    if (
        "hand_quat_wxyz" in columns
    ):  # No animation can be played with a quaternion of zeros.
        first = sum(
            len(GROUPS.get(word, (word,)))
            for word in columns.partition("hand_quat_wxyz")[0].split()
        )
        assume(all(any(row[first : first + 4]) for row in rows))
    times = np.cumsum(
        [
            0.0,
            *draw(
                st.lists(st.floats(0.01, 1.0), min_size=count - 1, max_size=count - 1)
            ),
        ]
    )
    options = dict.fromkeys(
        draw(st.lists(st.sampled_from(FLAGS), unique=True, max_size=3)), True
    )
    if draw(st.booleans()):
        options["bpm"] = draw(st.floats(30, 240))
    if draw(st.booleans()):
        options["arm_playback"] = draw(
            st.sampled_from(["jointspace", "workspace", "workspace_dance_frame"])
        )
    named = draw(st.lists(st.sampled_from(sorted(NEUTRAL)), unique=True, max_size=4))
    parameters = {
        name: draw(
            st.just(Parameter()) | st.floats(0.25, 3).map(lambda x: Parameter(0, x, 4))
        )
        for name in named
    }
    return move(
        " ".join(controls),
        columns,
        rows,
        times,
        parameters=parameters,
        extendable=True,
        truncatable=True,
        **options,
    )


@settings(max_examples=tries(60))
@given(animations(), st.floats(0.5, 12), st.sampled_from([None, 60.0, 133.0]))
def test_anything_plays(animation, slices, bpm):
    motion = animation.play(slices=slices, bpm=bpm, frame_rate=30)
    count = 19 if {"arm", "gripper"} & set(animation.controls) else 12
    assert joints(motion).shape == (motion.num_frames, count)
    for found in motion.timed:
        assert np.isfinite(found.values).all()
    np.testing.assert_allclose(
        np.linalg.norm(body(motion)[:, 3:], axis=1), 1, atol=1e-12
    )
    assert set(np.unique(component(motion, "FootContact"))) <= {0.0, 1.0}
    assert (component(motion, "ReachError") >= 0).all()
    assert motion.duration <= slices * 15 / (bpm or animation.bpm or 120) + 1e-9


@settings(max_examples=tries(20))
@given(animations())
def test_a_robot_minds_or_does_not(animation):
    problems = bm.spot.validate(animation)
    if any(
        problem.rule == "SPOT017" for problem in problems
    ):  # it cannot be played, so nothing else is known
        with pytest.raises(ValueError, match=r"."):
            animation.play()
        assert len(problems) == 1
        return
    for problem in problems:
        assert problem.message
        inside = problem.location.inside
        keyframe, _, column = inside.rpartition("keyframe ")[2].partition(", ")
        if inside.startswith("keyframe "):
            assert 1 <= int(keyframe) <= len(animation.keyframes)
        assert (column or inside) in animation.keyframes.columns or (
            inside.startswith("keyframe ") and not column
        )


def test_the_sample_files_play(corpus):
    files = sorted((corpus / "cha" / "valid").glob("*.cha"))
    assert files
    for path in files:
        animation = bm.load(path)
        motion = animation.play(
            parameters=dict.fromkeys(
                {"body_entry_slices"} & set(animation.parameters), 0.0
            )
        )
        assert (component(motion, "ReachError") < 1e-9).all(), path.name
        told = motion.extra["spot"]
        assert abs(motion.duration - animation.duration) <= told["slice"] + 1e-9
        if animation.keyframes.has("leg_joints") and "legs" in animation.controls:
            np.testing.assert_allclose(
                joints(motion)[0, :12],
                animation.keyframes.column("leg_joints")[0],
                atol=1e-12,
            )
        assert not [p for p in bm.spot.validate(animation) if p.severity != "note"], (
            path.name
        )


def test_long_recordings_play_in_pieces_of_memory():
    count = 5000
    times = np.arange(count) * 0.05
    rows = np.column_stack([0.48 - 0.05 * np.sin(times), 0.1 * np.sin(times * 0.7)])
    motion = move("body", "body_z body_yaw", rows, times).play(frame_rate=50)
    assert motion.num_frames > 12_000
    assert body(motion)[:, 2].min() == pytest.approx(0.43 + 0.036, abs=1e-4)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize(
    "name",
    [
        "speed",
        "offset_slices",
        "body_entry_slices",
        "body_exit_slices",
        "translation_multiplier.z",
    ],
)
@pytest.mark.parametrize("value", [1e300, 1e6, 1e-300])
def test_absurd_parameters_play_or_are_refused_without_a_warning_of_numpy(name, value):
    animation = move(
        "body",
        "body_z body_yaw",
        [[0.48, 0], [0.4, 1]],
        parameters={name: Parameter(0, value, 1e301)},
    )
    (refused,) = {p.rule for p in bm.spot.validate(animation)} & {"SPOT017"} or (None,)
    if value == 1e300:
        assert refused
        with pytest.raises(ValueError, match="largest value"):
            animation.play()
    else:
        assert refused is None
        assert np.isfinite(joints(animation.play())).all()
