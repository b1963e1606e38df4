"""The physics of motions that are good: nothing is said of them, at any rate; and what is said when they are spoiled."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bodymotion as bm
from bodymotion.spot.playback.robot import spot_body
from sample_files import corpus_files

SAMPLES = corpus_files(
    "seq/choreonoid+choreonoid/sample/SimpleController/SR1Walk*.seq",
    "seq/choreonoid+choreonoid/share/motion/SR1/SR1Walk*.yaml",
    "seq/fkanehiro+openhrp3/sample/controller/SampleController/etc/Sample.pos",
)
MOVES = corpus_files("cha/**/v*.cha")


def physics(motion: object, body: bm.Body) -> set[str]:
    return {
        problem.rule
        for problem in bm.check(motion, body=body).problems
        if problem.rule.startswith("MOT")
    }


@pytest.fixture(scope="module")
def walk(examples):
    return bm.load(examples / "biped_walk.seq"), bm.load(examples / "biped.wrl")


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_the_reference_programs_walks_are_sound(corpus, path):
    (robot,) = corpus.glob("wrl/choreonoid+choreonoid/share/model/SR1/SR1.wrl")
    assert physics(bm.load(path), bm.load(robot)) == set()


@pytest.mark.parametrize(
    ("rate", "method"),
    [(20, "cubic"), (30, "linear"), (60, "cubic"), (250, "linear"), (1000, "linear")],
)
def test_the_projects_walk_is_sound_at_each_rate(walk, rate, method):
    motion, body = walk
    assert (
        physics(motion, body) == physics(motion.resample(rate, method), body) == set()
    )


@pytest.mark.parametrize("name", ["wave", "trot", "sway"])
def test_the_projects_moves_are_sound(examples, name):
    assert physics(*played(examples / f"{name}.cha")) == set()


@pytest.mark.parametrize("path", MOVES, ids=lambda path: path.stem)
def test_moves_of_spot_are_sound(path):
    assert physics(*played(path)) == set()


def played(path):
    motion = bm.play(bm.load(path))
    return motion, spot_body(arm=motion.joint_displacement.num_parts > 12)


def without(motion: bm.Motion, first: int, last: int) -> bm.Motion:
    """Leave frames out."""
    parts = []
    for component in motion.components:
        values = np.delete(component.values, np.s_[first:last], axis=0)
        parts.append(
            replace(
                component,
                values=values,
                timeline=bm.Timeline.uniform(len(values), motion.frame_rate),
            )
        )
    return motion.replaced(*parts)


def test_frames_that_are_missing(walk):
    motion, body = walk
    assert physics(without(motion, 500, 520), body) >= {"MOT301", "MOT304"}


def test_a_walk_on_the_spot_slips(walk):
    """The root stays where it begins, and the legs walk."""
    motion, body = walk
    root = np.array(motion.link_position.values)
    root[:, 0, :2] = root[0, 0, :2]
    changed = motion.replaced(
        *(
            replace(c, values=root) if c is motion.link_position else c
            for c in motion.components
        )
    )
    assert "MOT311" in physics(changed, body)


def test_the_walk_of_another_speed_tips_over(walk):
    """In half of the time all forces along the ground are four times as large."""
    motion, body = walk
    fast = motion.replaced(
        *(
            replace(c, timeline=bm.Timeline.uniform(c.num_frames, 200.0))
            for c in motion.components
        )
    )
    assert {"MOT321", "MOT323"} <= physics(fast, body)


def test_a_point_in_the_wrong_frame_is_elsewhere(walk):
    """The motion's own zero moment point is in the world, and says that it is relative to the root."""
    motion, body = walk
    changed = motion.replaced(
        *(
            replace(c, is_root_relative=True) if c is motion.zmp else c
            for c in motion.components
        )
    )
    assert physics(changed, body) == {"MOT322", "MOT323"}
