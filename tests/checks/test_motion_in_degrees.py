"""Joint values in degrees are told once, and not all that comes of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bodymotion as bm


@pytest.fixture(scope="module")
def walk(examples):
    return bm.load(examples / "biped_walk.seq"), bm.load(examples / "biped.wrl")


def with_values(motion: bm.Motion, values: object) -> bm.Motion:
    joints = motion.joint_displacement
    changed = replace(joints, values=np.asarray(values))
    return motion.replaced(*(changed if c is joints else c for c in motion.components))


def test_all_joints(walk):
    motion, body = walk
    (problem,) = bm.check(
        with_values(motion, np.degrees(motion.joint_displacement.values)), body=body
    ).problems
    assert problem.rule == "MOT208"
    assert not bm.check(motion, body=body).problems


def test_a_wild_frame(walk):
    """Joints that are out in a frame or two are not in degrees."""
    motion, body = walk
    values = np.array(motion.joint_displacement.values)
    values[20:22] = np.degrees(values[20:22]) + 30
    found = {
        problem.rule
        for problem in bm.check(with_values(motion, values), body=body).problems
    }
    assert "MOT204" in found and "MOT208" not in found


def test_one_joint(walk):
    """One of many joints may be out by a full turn."""
    motion, body = walk
    values = np.array(motion.joint_displacement.values)
    values[:, 3] += 2 * np.pi
    found = {
        problem.rule
        for problem in bm.check(with_values(motion, values), body=body).problems
    }
    assert "MOT204" in found and "MOT208" not in found


def test_the_worst_frame_is_the_one_that_is_named(tmp_path, walk):
    """Of limits of places and of speeds."""
    motion, body = walk
    column = next(k for k, joint in enumerate(body.joints) if joint.upper < 3)
    values = np.array(motion.joint_displacement.values)
    values[20:40, column] = body.joints[column].upper + 0.1
    values[30, column] += 0.2
    body = replace(
        body,
        links=tuple(
            replace(
                link, joint=replace(link.joint, velocity_lower=-5, velocity_upper=5)
            )
            for link in body.links
        ),
    )
    bm.save(with_values(motion, values), tmp_path / "wild.seq")
    found = bm.check(tmp_path / "wild.seq", body=body).problems
    for rule in ("MOT204", "MOT205"):
        problem = next(problem for problem in found if problem.rule == rule)
        named = [joint.name in problem.message for joint in body.joints].index(True)
        frame = (
            30
            if rule == "MOT204"
            else np.abs(np.diff(motion.joint_displacement.values[:, named])).argmax()
        )
        assert problem.location.inside.endswith(f"frames[{frame}]")
        assert problem.location.line is not None
