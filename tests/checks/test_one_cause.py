"""One cause is told once, by its name: what follows from it is not said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bodymotion as bm
from bodymotion.motion.components import Timeline


@pytest.fixture(scope="module")
def walk(examples):
    return bm.load(examples / "biped_walk.seq"), bm.load(examples / "biped.wrl")


def changed(motion: bm.Motion, name: str, change) -> bm.Motion:
    """Return a motion with other numbers in one of its components."""
    component = getattr(motion, name)
    values = np.array(component.values)
    change(values)
    new = replace(component, values=values)
    return motion.replaced(*(new if c is component else c for c in motion.components))


def codes(motion: bm.Motion, body: bm.Body | None) -> list[str]:
    return [problem.rule for problem in bm.check(motion, body=body).problems]


def zero_row(values):
    values[600] = 0


def spike(values):
    values[300, 3] += 0.5


@pytest.mark.parametrize("change", [zero_row, spike])
def test_a_wrong_frame(walk, change):
    """Joints are fast there, and forces great: only the frame is told."""
    motion, body = walk
    assert codes(changed(motion, "joint_displacement", change), body) == ["MOT302"]


@pytest.mark.parametrize(
    ("quaternion", "rule"),
    [
        ((0, 0, 45, 0), "MOT104"),
        ((0, 0, 0, 1e5), "MOT104"),
        ((1e300, 1e300, 0, 0), "MOT104"),
        ((0, 0, 0, 0), "MOT103"),
    ],
)
@pytest.mark.parametrize("all_frames", [False, True])
def test_a_quaternion_that_is_no_orientation(walk, quaternion, rule, all_frames):
    """Its frame is unknown to the other rules; its position is known."""
    motion, body = walk
    rows = slice(None) if all_frames else slice(600, 601)

    def walks_backwards(values):
        values[:, 0, 3:] = 0, 0, 0, 1
        values[rows, 0, 3:] = quaternion
        values[300:, 0, 0] += 0.1

    found = bm.check(
        changed(motion, "link_position", walks_backwards), body=body
    ).problems
    (jump,) = (one for one in found if one.rule in ("MOT304", "MOT305"))
    assert (
        jump.rule == "MOT304"
        and jump.data["frame"] == 300
        and rule in {one.rule for one in found}
    )


def test_what_is_fast_elsewhere_is_told_beside_a_wrong_frame(walk):
    motion, body = walk
    column = next(k for k, joint in enumerate(body.joints) if "ELBOW" in joint.name)

    def both(values):
        spike(values)
        # Up and down within its limits, smoothly, and too fast.
        times = np.arange(len(values)) * 0.01
        wave = np.where(
            (times > 6) & (times < 8), np.sin(np.pi * (times - 6)) ** 2, 0.0
        )
        values[:, column] += 0.6 * wave * np.sin(25 * times)

    found = codes(changed(motion, "joint_displacement", both), body)
    assert "MOT302" in found and "MOT205" in found


def test_a_jump_of_the_root(walk):
    """The zero moment point in the world does not jump along: that is said already."""
    motion, body = walk

    def ahead(values):
        values[500:, 0, 0] += 0.1

    assert codes(changed(motion, "link_position", ahead), body) == ["MOT304"]


def test_joints_without_rows_hide_no_other_fault(walk, tmp_path):
    motion, body = walk
    joints = replace(
        motion.joint_displacement,
        timeline=Timeline.uniform(0, 100),
        values=np.zeros((0, 32)),
    )

    def spoiled(values):
        values[500, 0, 3:] *= 2
        values[700:, 0, 0] += 0.1

    faulty = changed(motion, "link_position", spoiled)
    path = tmp_path / "faulty.seq"
    bm.save(
        faulty.replaced(
            *(
                joints if c is motion.joint_displacement else c
                for c in faulty.components
            )
        ),
        path,
    )
    first = next(
        k
        for k, line in enumerate(path.read_text().splitlines(), 1)
        if line.strip() == "frames:"
    )
    found = {
        one.rule: one.location.line
        for one in bm.check(path, body=body).problems
        if one.rule != "SEQ217"
    }
    assert found == {"MOT104": first + 501, "MOT304": first + 701}


def rated(motion: bm.Motion, factor: float) -> bm.Motion:
    """Return a motion with the same frames at another rate."""
    timed = (
        replace(
            c, timeline=replace(c.timeline, frame_rate=c.timeline.frame_rate * factor)
        )
        for c in motion.timed
    )
    return motion.replaced(*timed)


def in_mm(values):
    values[..., :3] *= 1000


@pytest.mark.parametrize("name", ["link_position", "zmp"])
def test_places_in_millimetres(walk, name):
    motion, body = walk
    (problem,) = bm.check(changed(motion, name, in_mm), body=body).problems
    assert problem.rule == "MOT209" and "millimetres" in problem.message
    assert (
        problem.location.inside
        == f"components[{[c.content for c in motion.components].index(getattr(motion, name).content)}].frames[0]"
    )
    assert codes(changed(motion, name, in_mm), None) == ["MOT209"]
    assert codes(motion, None) == codes(motion, body) == []


def test_both_in_millimetres_are_one(walk):
    motion, body = walk
    motion = changed(changed(motion, "link_position", in_mm), "zmp", in_mm)
    assert codes(motion, body) == codes(motion, None) == ["MOT209"]


def test_degrees_hide_no_wrong_rate(walk):
    """A rule about any motion is applied with a body and without one."""
    motion, body = walk
    motion = rated(
        changed(
            motion, "joint_displacement", lambda values: np.degrees(values, out=values)
        ),
        1e-4,
    )
    assert codes(motion, None) == ["MOT210"]
    assert set(codes(motion, body)) == {"MOT208", "MOT210"}


def test_far_away_and_high_up_are_metres(walk):
    """A robot may walk on a mountain, and start far from where its world begins."""
    motion, body = walk

    def there(values):
        values[..., :3] += [300.0, -200.0, 800.0]

    motion = changed(changed(motion, "link_position", there), "zmp", there)
    assert not {"MOT209"} & {*codes(motion, body), *codes(motion, None)}


@pytest.mark.parametrize("factor", [10, 100])
def test_too_many_frames_a_second(walk, factor):
    """Speeds, the zero moment point and slips are what comes of it; the hint says what is meant."""
    motion, body = walk
    (problem,) = bm.check(rated(motion, factor), body=body).problems
    assert problem.rule == "MOT210" and "is it 100 frames per second?" in problem.hint
    assert not {"MOT210"} & {*codes(rated(motion, 2), body)}


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_an_unknown_number_of_each_joint_hides_no_wrong_rate(walk, number):
    motion, body = walk

    def unknown(values):
        np.fill_diagonal(values, number)

    for one in (motion, motion.replaced(motion.joint_displacement)):
        found = bm.check(
            rated(changed(one, "joint_displacement", unknown), 10), body=body
        ).problems
        assert {problem.rule for problem in found} == {"MOT101", "MOT210"}


def test_too_many_frames_for_joints_without_limits(walk):
    """Then the zero moment point tells it."""
    motion, body = walk
    links = tuple(
        replace(
            link,
            joint=replace(link.joint, velocity_lower=-np.inf, velocity_upper=np.inf),
        )
        for link in body.links
    )
    assert codes(rated(motion, 10), replace(body, links=links)) == ["MOT210"]


def test_the_time_between_frames_is_no_rate(walk):
    motion, body = walk
    for given in (None, body):
        (problem,) = bm.check(
            rated(motion, 0.002 / motion.frame_rate), body=given
        ).problems
        assert problem.rule == "MOT210" and "frameRate: 500" in problem.hint
    assert codes(rated(motion, 1 / motion.frame_rate), None) == []


@pytest.mark.parametrize("factor", [1e-6, 1e8])
def test_time_stamps_in_another_unit_are_one(walk, factor):
    motion, body = walk
    times = motion.joint_displacement.timeline.times * factor
    motion = motion.replaced(
        *(replace(one, timeline=Timeline.stamped(times)) for one in motion.timed)
    )
    assert codes(motion, None) == codes(motion, body) == ["MOT211"]


@pytest.mark.parametrize(
    "values",
    [
        np.linspace(45, 49, 4)[:, None] * [1, 0.9, 1.1],
        np.linspace(0, 90, 300)[:, None] * [1, 0.5, -1],
    ],
)
def test_degrees_without_a_body(values):
    assert codes(bm.Motion.from_joints(values, 100), None) == ["MOT208"]
    assert codes(bm.Motion.from_joints(np.radians(values), 100), None) == []


def test_wheels_that_roll_are_not_in_degrees():
    """They turn on and on, from 0, slowly."""
    way = np.arange(2000)[:, None] * 0.05 * [1.0, 1.1]
    assert codes(bm.Motion.from_joints(way, 100), None) == []


def test_units_of_a_file(tmp_path):
    bm.save(
        bm.Motion.from_joints(np.linspace(45, 49, 4)[:, None] * [1, 0.9, 1.1], 100),
        tmp_path / "m.seq",
    )
    (problem,) = bm.check(tmp_path / "m.seq").problems
    assert problem.rule == "MOT208" and problem.location.line is not None
