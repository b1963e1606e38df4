"""Motions with anything in them: an edit gives a motion, or says in words why not."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from symmetric_bodies import symmetric_body

from bodymotion import editing
from bodymotion.formats.registry import save
from bodymotion.motion import Motion, MultiSE3Seq, MultiValueSeq, OtherSeq, Vector3Seq
from bodymotion.motion.components import Timeline
from sample_files import tries

BODY = symmetric_body(3, pairs=1, middle=1)
NUMBERS = st.sampled_from(
    [0.0, -0.0, 1.0, -2.5, 3.1, -3.1, 1e-310, 1e200, -1e308, np.inf, -np.inf, np.nan]
)


@st.composite
def timelines(draw, count):
    if draw(st.booleans()):
        return Timeline.uniform(
            count, draw(st.sampled_from([0.5, 1.0, 7.3, 100.0, 1e-9, 1e14]))
        )
    steps = draw(
        st.lists(
            st.sampled_from([1e-7, 0.01, 0.5, 3.0, 0.0, 1e15]),
            min_size=count,
            max_size=count,
        )
    )
    return Timeline.stamped(np.cumsum(steps) - 0.4, draw(st.sampled_from([None, 2.0])))


@st.composite
def components(draw):
    count = draw(st.integers(0, 5))
    content = draw(
        st.sampled_from(
            ["JointDisplacement", "LinkPosition", "ZMP", "JointEffort", "Other"]
        )
    )
    timeline = draw(timelines(count))
    parts = draw(
        st.integers(0, 3) | st.sampled_from([BODY.num_joints, len(BODY.links)])
    )

    def table(*shape):
        return draw(
            hnp.arrays(float, (count, *shape), elements=NUMBERS, fill=st.just(0.5))
        )

    kind = draw(st.sampled_from(["value", "pose", "vector", "unknown"]))
    if kind == "value":
        return MultiValueSeq(content=content, timeline=timeline, values=table(parts))
    if kind == "pose":
        return MultiSE3Seq(content=content, timeline=timeline, values=table(parts, 7))
    if kind == "vector":
        return Vector3Seq(
            content=content,
            timeline=timeline,
            values=table(3),
            is_root_relative=draw(st.booleans()),
        )
    return OtherSeq(type="FooSeq", content=content)


motions = st.lists(components(), max_size=3).map(lambda found: Motion(tuple(found)))

EDITS = {
    "trim": lambda m: editing.trim(m, 0.0, 2.0),
    "trim_frames": lambda m: editing.trim_frames(m, 0, 1),
    "join": lambda m: editing.join(m, m, blend=0.1),
    "loop": lambda m: editing.loop(m, 2),
    "slower": lambda m: editing.change_speed(m, 0.7, "cubic", unwrap=True),
    "faster": lambda m: editing.change_speed(m, 3, "pchip", antialias=True),
    "reverse": editing.reverse,
    "smooth": lambda m: editing.smooth(m, 0.3),
    "move": lambda m: editing.move(m, [1, 0, 0, 0, 0, 0, 0]),
    "start_at": lambda m: editing.start_at(m, 1, 2, 3),
    "zmp_to_world": editing.zmp_to_world,
    "zmp_to_root": editing.zmp_to_root,
    "unwrap": lambda m: editing.unwrap(m, BODY),
    "mirror": lambda m: editing.mirror(m, BODY),
    "mirror without body": editing.mirror,
    "fill_link_poses": lambda m: editing.fill_link_poses(m, BODY),
    "recover_joints": lambda m: editing.recover_joints(m, BODY)[0],
    "keep_root_pose": editing.keep_root_pose,
    **{
        f"resample {method} {antialias}": lambda m, method=method, antialias=antialias: (
            m.resample(3, method, antialias=antialias)
        )
        for method in ("after", "nearest", "before", "linear", "cubic", "pchip")
        for antialias in (False, True)
    },
    "common": lambda m: m.on_common_timeline(method="linear"),
    "synchronized": lambda m: m.synchronized("linear"),
}


STILL = Timeline.stamped([-0.4, 0.1, 0.1, 0.1])
"""Frames that mostly stand at one time."""


@given(motions, st.sampled_from(sorted(EDITS)))
@example(
    Motion(
        (Vector3Seq(content="ZMP", timeline=STILL, values=np.full((4, 3), np.nan)),)
    ),
    "resample linear True",
)
@settings(max_examples=tries(600), deadline=None)
def test_an_edit_gives_a_motion_or_says_why_not(motion, name):
    with np.errstate(all="ignore"):
        try:
            edited = EDITS[name](motion)
        except (ValueError, MemoryError) as error:
            assert str(error) and not str(error).startswith("Unable to allocate")
        else:
            assert isinstance(edited, Motion)


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_motions_are_not_joined_at_a_pose_without_numbers(number):
    """The whole of the second one would be moved by it."""
    poses = np.tile([0.0, 0, 1, 1, 0, 0, 0], (10, 1))
    good = Motion.from_joints(np.zeros((10, 1)), 100, root=poses + np.eye(7)[0])
    for frame, is_refused in ((4, False), (9, True)):
        root = poses.copy()
        root[frame, 0] = number
        first = Motion.from_joints(np.zeros((10, 1)), 100, root=root)
        if is_refused:
            with pytest.raises(ValueError, match="finite"):
                editing.join(first, good)
        else:
            joined = editing.join(first, good)
            assert np.isfinite(joined.link_position.values[10:]).all()


def test_the_command_prints_no_warning_of_numpy(tmp_path):
    """It reports numbers that are not finite itself, as a loss."""
    root = np.tile([0.0, 0, 1, 1, 0, 0, 0], (10, 1))
    root[5, 0] = np.inf
    save(Motion.from_joints(np.zeros((10, 1)), 100, root=root), tmp_path / "a.seq")
    words = ["edit", tmp_path / "a.seq", tmp_path / "b.seq", "--turn", "30"]
    done = subprocess.run(
        [sys.executable, "-m", "bodymotion", *words], capture_output=True, text=True
    )
    assert "LOSS002" in done.stderr and "RuntimeWarning" not in done.stderr
