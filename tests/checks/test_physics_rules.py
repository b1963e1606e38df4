"""The physics of a motion on a body: what breaks each rule, and a near twin that does not. All motions are written down."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bodymotion as bm
from bodymotion.checks import moments
from bodymotion.checks.physics import rules, samples
from bodymotion.checks.physics.checking import MAX_ZMP_OUTSIDE
from bodymotion.diagnostics import Location
from bodymotion.diagnostics.catalogue import rules_of
from bodymotion.formats.resources import PART_MISSING, NotFound
from sample_files import tries
from walker import (
    FAULTS,
    GRAVITY,
    HALF,
    HEIGHT,
    frames,
    jump,
    low,
    moving,
    slip,
    smoothly,
    swing,
    tip,
    walker,
    with_root,
)

BODY = walker()
RATES = (100, 200, 500, 1000)


def codes(motion: bm.Motion, body: bm.Body = BODY) -> set[str]:
    return {problem.rule for problem in bm.check(motion, body=body).problems}


def root_turn(times, size):
    def change(root):
        after = times >= 1.9995
        root[after, 3:] = [np.cos(size / 2), 0, 0, np.sin(size / 2)]

    return with_root(moving(times), change)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("code", FAULTS)
def test_each_rule_at_each_rate(code, rate):
    """The same fault is told alone, whatever the frame rate, and its smaller twin is not; slides do not speak of what the root does."""
    fault, large, small = FAULTS[code]
    times = frames(rate)
    found = codes(fault(times, large))
    assert code in found
    also = {"MOT304": {"MOT301"}, "MOT322": {"MOT323"}}.get(code, set())
    assert found <= {code} | also
    assert code not in codes(fault(times, small))


def test_each_rule_is_tried():
    assert {*FAULTS, "MOT331", "MOT341", "MOT342"} == {
        rule.code for rule in rules_of(rules)
    }


@pytest.mark.parametrize("size", [-0.05, 0.015, 0.03, 0.3])
def test_feet_off_the_floor(size):
    """By the motion's own zero moment point, relative or not; without one by where the model stands in its file."""
    times = frames(100)
    motion = low(times, size)
    relative = replace(
        motion.zmp,
        values=motion.zmp.values - [0, 0, HEIGHT - size],
        is_root_relative=True,
    )
    for one in (
        motion,
        motion.replaced(motion.joint_displacement, motion.link_position, relative),
        motion.replaced(motion.joint_displacement, motion.link_position),
    ):
        (problem,) = bm.check(one, body=BODY).problems
        assert problem.rule == "MOT315" and problem.data["height"] == pytest.approx(
            -size
        )
        assert (
            problem.severity
            == {-0.05: "note", 0.015: "note", 0.03: "warning", 0.3: "error"}[size]
        )
        lost = NotFound("sole.stl", PART_MISSING, "is missing").problem(Location())
        (problem,) = bm.check(one, body=replace(BODY, problems=(lost,))).problems
        assert problem.rule == "MOT315" and problem.data["missing_files"] == 1


def test_feet_on_a_floor_elsewhere():
    """Where the zero moment point is as high as the feet, that is where the floor is; and a model may have no floor at all."""
    motion = low(frames(100), -0.3)
    raised = replace(motion.zmp, values=np.add(motion.zmp.values, [0, 0, 0.3]))
    assert (
        codes(motion.replaced(motion.joint_displacement, motion.link_position, raised))
        == set()
    )
    raised = replace(motion.zmp, values=np.add(motion.zmp.values, [0, 0, 0.33]))
    assert codes(
        motion.replaced(motion.joint_displacement, motion.link_position, raised)
    ) == {"MOT315"}
    without = motion.replaced(motion.joint_displacement, motion.link_position)
    assert codes(without, replace(BODY, root_pose=[0, 0, 0, 1, 0, 0, 0])) == set()


def test_the_root_turns_suddenly():
    times = frames(100)
    assert codes(root_turn(times, 0.5)) == {"MOT304"}
    assert codes(root_turn(times, 0.005)) == set()
    (problem,) = bm.check(root_turn(times, 0.5), body=BODY).problems
    assert (problem.data["frame"], problem.data["time"]) == (
        200,
        2.0,
    ) and "0.5 rad (28.6°)" in problem.message


@pytest.mark.parametrize("rate", RATES)
def test_a_motor_holds_a_weight(rate):
    """2 kg at 0.5 m need 9.80665 Nm; a motor with 5 % less is let pass."""
    times = frames(rate, 2.0)
    motion = moving(times)
    assert codes(motion, walker(arm=2.0, effort=9.0)) == {"MOT331"}
    assert codes(motion, walker(arm=2.0, effort=9.4)) == set()
    (moment,) = moments(motion, walker(arm=2.0, effort=9.0))
    assert moment.subject == "ARM"
    assert moment.amount == pytest.approx(2.0 * 0.5 * GRAVITY / 9.0, rel=1e-6)


def test_how_far_the_point_is_outside():
    size = HALF + 0.03
    (problem,) = bm.check(tip(frames(200), size), body=BODY).problems
    assert problem.rule == "MOT321" and problem.data[
        "amount"
    ] * MAX_ZMP_OUTSIDE == pytest.approx(0.03, abs=5e-4)


def test_where_a_jump_is(tmp_path):
    times = frames(100)
    q = np.array(jump(times, 0.3).joint_displacement.values)
    bm.save(bm.Motion.from_joints(q, 100), tmp_path / "walk.seq")
    (problem,) = bm.check(tmp_path / "walk.seq", body=BODY).problems
    assert problem.rule == "MOT301"
    assert (problem.data["subject"], problem.data["frame"], problem.data["time"]) == (
        "ARM",
        200,
        2.0,
    )
    assert "0.3 rad (17.2°)" in problem.message
    row = (tmp_path / "walk.seq").read_text().splitlines()[problem.location.line - 1]
    assert np.allclose(np.fromstring(row.strip(" -[]"), sep=","), q[200])


def test_joints_that_jump_together_are_one_place():
    times = frames(100)
    step = np.where(times >= 1.9995, 0.2, 0.0)
    motion = moving(times, x=0.25 * step, arm=step)
    found = {
        problem.rule: problem.message
        for problem in bm.check(motion, body=BODY).problems
    }
    assert set(found) == {"MOT301", "MOT304"}
    assert "and so do 2 other joints" in found["MOT301"]


@pytest.mark.parametrize("first", [True, False])
def test_a_wrong_frame_at_either_end_is_a_jump(first):
    times = frames(100)
    arm = swing(times, 0.3) + 0.4
    arm[0 if first else -1] -= 0.5
    (problem,) = bm.check(moving(times, arm=arm), body=BODY).problems
    assert problem.rule == "MOT301"


def test_the_first_steps_of_a_walk_that_starts_fast_are_none():
    times = frames(100)
    assert codes(moving(times, arm=4.0 * times)) == set()


def test_a_body_that_falls_does_not_hover():
    """A jump up and down: nothing carries the body, and it falls as it must."""
    times = frames(200)
    up = (times > 1.0) & (times < 2.0)
    z = np.where(up, 0.5 * GRAVITY * (times - 1.0) * (2.0 - times), 0.0)
    assert codes(moving(times, z=z, lift=(z, z))) <= {"MOT305"}


def test_a_body_that_goes_up_by_itself_hovers():
    times = frames(100)
    z = 1.0 * times
    assert codes(moving(times, z=z, lift=(z, z))) == {"MOT313"}


def test_round_ends_of_legs_lean_and_wheels_roll():
    """A ball that rolls without slipping does not slip, nor one that turns about its middle; one that is dragged does."""
    body = walker(sphere=True)
    times = frames(100)
    assert codes(moving(times), body) == set()
    angle = swing(times, 0.5)
    for way, turn, expected in (
        (0.05, 1.0, set()),
        (0.0, 1.0, set()),
        (0.05, 0.0, {"MOT311"}),
    ):
        x = way * angle
        motion = moving(times, x=x, feet=(x, x))

        def change(root, turn=turn):
            # The feet hang below the root by a fixed way: it is turned about their middle, so both are where they were.
            about = turn * angle
            low = HEIGHT - 0.05
            root[:, 0] += low * np.sin(about)
            root[:, 2] += low * (np.cos(about) - 1)
            root[:, 3], root[:, 5] = np.cos(about / 2), np.sin(about / 2)

        assert codes(with_root(motion, change), body) - {"MOT321", "MOT331"} == expected


def test_own_points_go_by_the_root_where_they_say_so():
    times = frames(100)
    x = 2.0 * smoothly(times, 0, 4)
    feet = (x, x)
    relative = bm.Motion.from_joints(
        moving(times, x=x, feet=feet).joint_displacement.values,
        100,
        zmp=np.tile([0.0, 0.0, -HEIGHT], (len(times), 1)),
        zmp_is_root_relative=True,
    )
    assert codes(relative) == set()
    wrong = bm.Motion.from_joints(
        relative.joint_displacement.values,
        100,
        zmp=relative.zmp.values + np.array([0.2, 0, 0]),
        zmp_is_root_relative=True,
    )
    assert codes(wrong) == {"MOT322"}


def test_moments_are_in_order_and_at_the_faults():
    times = frames(100)
    arm = swing(times, 0.3) + np.where(times >= 2.9995, 0.2, 0.0)
    motion = moving(
        times,
        arm=arm,
        lift=(-0.03 * smoothly(times, 1.0, 1.1) * (1 - smoothly(times, 1.4, 1.5)), 0.0),
    )
    found = moments(motion, BODY)
    assert [moment.rule for moment in found] == ["MOT312", "MOT301"]
    sunk, jumped = found
    assert (
        1.0 < sunk.start < 1.1
        and 1.4 < sunk.end < 1.5
        and sunk.start <= sunk.time <= sunk.end
    )
    assert sunk.amount == pytest.approx(3.0) and sunk.subject == "L_FOOT"
    assert (jumped.time, jumped.frame, jumped.subject) == (3.0, 300, "ARM")
    assert jumped.location.inside == "components[1].frames[300]"
    assert {moment.rule for moment in found} == codes(motion)


@pytest.mark.parametrize("code", FAULTS)
def test_moments_are_those_of_the_problems(code):
    """Whatever is wrong at some time is a moment, too, with the time of its frame."""
    fault, large, _ = FAULTS[code]
    times = frames(100)
    found = moments(fault(times, large), BODY)
    assert {moment.rule for moment in found} == codes(fault(times, large)) - {
        "MOT314",
        "MOT315",
    }
    assert [moment.time for moment in found] == sorted(moment.time for moment in found)
    for moment in found:
        assert (
            times[moment.frame] == moment.time
            and moment.start <= moment.time <= moment.end
        )
        assert moment.amount >= 1.0 and moment.message


def test_moments_of_limits():
    links = list(BODY.links)
    links[5] = replace(
        links[5],
        joint=replace(
            links[5].joint, lower=-1.0, upper=1.0, velocity_lower=-9, velocity_upper=3.6
        ),
    )
    body = replace(BODY, links=tuple(links))
    times = frames(200)
    found = moments(moving(times, arm=1.2 * np.sin(np.pi * times)), body)
    limit = [moment for moment in found if moment.rule == "MOT204"]
    assert np.allclose([moment.time for moment in limit], [0.5, 1.5, 2.5, 3.5])
    speed = [moment for moment in found if moment.rule == "MOT205"]
    assert np.allclose([moment.time for moment in speed], [0.0, 2.0, 4.0], atol=0.011)
    assert all(moment.subject == "ARM" for moment in found)


def test_pieces_are_one_whole(monkeypatch):
    """A long motion is worked on in pieces, of which nothing is to be seen in the findings."""
    times = frames(200, 12.0)
    gain = 1 + HEIGHT * np.pi**2 / GRAVITY
    x = (HALF + 0.03) / gain * np.sin(np.pi * times)
    motion = moving(
        times,
        x=x,
        feet=(0.2 * smoothly(times, 3, 9), None),
        zmp=0.07 * np.ones(len(times)),
    )
    whole = moments(motion, BODY)
    monkeypatch.setattr(samples, "BLOCK_POSES", 1)
    pieces = moments(motion, BODY)
    assert {m.rule for m in whole} == {"MOT311", "MOT321", "MOT323"}
    assert [(m.rule, m.frame) for m in pieces] == [(m.rule, m.frame) for m in whole]
    assert np.allclose([m.amount for m in pieces], [m.amount for m in whole], rtol=1e-6)


def test_joints_that_follow_from_the_poses_of_all_links():
    times = frames(100)
    motion = jump(times, 0.3)
    links = bm.Motion.from_link_poses(BODY.link_poses(motion), 100)
    (problem,) = bm.check(links, body=BODY).problems
    assert (
        problem.rule == "MOT301"
        and problem.location.inside == "components[0].frames[200]"
    )


def test_a_root_on_its_own_timeline():
    """A root with a third of the frames: what is said of it names its own frames, and feet are looked at all the same."""
    times = frames(300)
    motion = slip(times, 0.03)
    root = motion.link_position
    thin = replace(
        root, timeline=bm.Timeline.stamped(times[::3]), values=root.values[::3]
    )
    changed = motion.replaced(thin, motion.joint_displacement)
    assert codes(changed) == {"MOT311"}


def test_nan_and_a_few_frames_are_no_reason_to_stop():
    times = frames(100)
    motion = jump(times, 0.3)
    values = np.array(motion.joint_displacement.values)
    values[50] = np.nan
    values[300:310, 2] = np.inf
    broken = motion.replaced(
        motion.link_position, replace(motion.joint_displacement, values=values)
    )
    assert codes(broken) == {"MOT101", "MOT301"}
    for count in range(7):
        part = frames(100)[: max(count, 1)]
        bm.check(moving(part), body=BODY)


@pytest.mark.parametrize("number", [np.inf, 1e300, 1.7e308])
@pytest.mark.parametrize("frame", [198, 199, 200])
def test_a_huge_number_beside_a_spike_of_another_joint(number, frame):
    """All that is known of the other joint is reported, and a number whose square is none is a spike, too."""
    motion = jump(frames(100), 0.0)
    values = np.array(motion.joint_displacement.values)
    values[200, -1] += 0.5
    values[frame, 0] = number
    found = bm.check(
        motion.replaced(
            motion.link_position, replace(motion.joint_displacement, values=values)
        ),
        body=BODY,
    )
    (spike,) = (problem for problem in found.problems if problem.rule == "MOT302")
    assert BODY.joints[-1].name in (spike.data["subject"], spike.message.split("'")[-2])


@pytest.mark.parametrize("frame", [201, 200, 199])
def test_a_huge_quaternion_beside_a_huge_position(frame):
    def change(root):
        root[200, 2] = 1e300
        root[frame, 3:] = 0, 0, 1e5, 0

    assert codes(with_root(moving(frames(100)), change)) >= {"MOT104", "MOT305"}


@settings(max_examples=tries(25), deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(190, 210), st.integers(0, 2)),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from([np.inf, -np.inf]),
)
def test_an_infinite_number_is_as_unknown_as_nan(cells, number):
    """A joint jumps and goes beyond its limits; the root moves."""
    links = list(BODY.links)
    links[-1] = replace(
        links[-1], joint=replace(links[-1].joint, lower=-0.2, upper=0.25)
    )
    times = frames(100)
    arm = swing(times, 0.3) + np.where(times >= 1.9995, 0.3, 0.0)
    body, motion = (
        replace(BODY, links=tuple(links)),
        moving(times, x=swing(times, 0.01), arm=arm, zmp=0.0),
    )

    def found(number):
        values = [np.array(component.values) for component in motion.components]
        for component, frame, column in cells:
            values[component].reshape(len(values[component]), -1)[
                frame, -1 - column
            ] = number
        spoiled = motion.replaced(
            *(
                replace(c, values=v)
                for c, v in zip(motion.components, values, strict=True)
            )
        )
        return {
            (one.rule, one.message, one.location)
            for one in bm.check(spoiled, body=body).problems
        }

    assert found(number) == found(np.nan) and {rule for rule, *_ in found(number)} >= {
        "MOT101",
        "MOT204",
    }


@pytest.mark.parametrize("frame", range(190, 210))
def test_an_unknown_number_near_a_jump_makes_no_spike_of_it(frame):
    """Beside the jump it is unknown whether the joint comes back, and at the jump all is."""
    motion = jump(frames(100), 0.3)
    values = np.array(motion.joint_displacement.values)
    values[frame, -1] = np.nan
    found = codes(
        motion.replaced(
            motion.link_position, replace(motion.joint_displacement, values=values)
        )
    )
    of_jump = {198: {"MOT302"}, 199: set(), 200: set(), 201: {"MOT302"}}.get(
        frame, {"MOT301"}
    )
    assert found == {"MOT101"} | of_jump


@settings(max_examples=tries(40))
@given(
    st.sampled_from([30, 60, 100, 250, 500, 1000]),
    st.lists(
        st.tuples(st.floats(0.0, 0.3), st.floats(0.05, 2.0), st.floats(0.0, 6.3)),
        min_size=1,
        max_size=4,
    ),
    st.floats(0.0, 0.04),
)
def test_smooth_motions_within_their_limits_are_no_fault(rate, waves, sway):
    """Arms that swing as sums of slow waves, on a body that sways so little that its zero moment point stays within the feet."""
    times = frames(rate, 3.0)
    arm = sum(a * np.sin(2 * np.pi * f * times + phase) for a, f, phase in waves)
    gain = 1 + HEIGHT * np.pi**2 / GRAVITY
    point = sway * np.sin(np.pi * times)
    assert codes(moving(times, arm=arm, x=point / gain, zmp=point)) == set()


@settings(max_examples=tries(30))
@given(st.integers(0, 2**32 - 1), st.sampled_from([50, 100, 300]))
def test_uneven_frames_of_a_smooth_motion_are_no_fault(seed, rate):
    rng = np.random.default_rng(seed)
    gaps = rng.uniform(0.5, 1.5, 2 * rate) / rate
    times = np.concatenate([[0.0], np.cumsum(gaps)])
    assert codes(moving(times, arm=swing(times, 1.0), x=swing(times, 0.02))) == set()
