"""Hold, insert, change the length or a joint, fill gaps, slow down to limits, continue on a foot, and loop without a seam: as laws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import bodymotion as bm
from bodymotion import editing
from bodymotion.cli.app import app
from sample_files import ROOT, tries

few = settings(max_examples=tries(60))
BODY = bm.load_body(ROOT / "examples" / "biped.wrl")
WALK = bm.load_motion(ROOT / "examples" / "biped_walk.seq")
RATE = WALK.frame_rate
FRAMES = WALK.num_frames
FOOT = next(
    link.name
    for link in BODY.links
    if link.name.endswith("ANKLE_ROLL") or link.name == "R_ANKLE"
)


def q(motion: bm.Motion) -> np.ndarray:
    return motion.joint_displacement.values


def waving(seed: int, frames: int = 120) -> bm.Motion:
    """A smooth motion of the biped, its root on a path."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 1, frames)[:, None]
    root = np.tile(np.array(BODY.root_pose), (frames, 1))
    root[:, :2] += rng.normal(size=2) * t
    values = rng.uniform(-0.6, 0.6, BODY.num_joints) * np.sin(
        rng.uniform(1, 9, BODY.num_joints) * t
    )
    return bm.Motion.from_joints(
        values, RATE, root=root, joint_names=[joint.name for joint in BODY.joints]
    )


@few
@given(st.integers(0, FRAMES - 1), st.integers(0, 300))
def test_a_pose_is_held_and_nothing_else_changes(frame, count):
    held = editing.hold(WALK, frame / RATE, count / RATE)
    assert held.num_frames == FRAMES + count
    expected = np.insert(np.arange(FRAMES), frame, [frame] * count)
    for a, b in zip(held.components, WALK.components, strict=True):
        np.testing.assert_array_equal(a.values, b.values[expected])


@few
@given(st.integers(0, FRAMES - 1), st.integers(0, 5))
def test_what_is_inserted_is_between_what_was_there(frame, seed):
    other = waving(seed)
    both = editing.insert(WALK, other, frame / RATE)
    assert both.duration == pytest.approx(WALK.duration + other.duration)
    labels = both.joint_displacement.part_labels or [
        joint.name for joint in BODY.joints
    ]
    np.testing.assert_array_equal(q(both)[: frame + 1], q(WALK)[: frame + 1])
    np.testing.assert_array_equal(
        q(both)[frame + 1 : frame + other.num_frames], q(other)[1:]
    )
    np.testing.assert_array_equal(
        q(both)[frame + other.num_frames :], q(WALK)[frame + 1 :]
    )
    assert len(labels) == BODY.num_joints


@few
@given(st.floats(0.5, 40))
def test_a_length_is_that_asked_for_and_paths_stay(seconds):
    found = editing.change_length(WALK, seconds)
    assert (
        found.frame_rate == RATE
        and seconds - 1 / RATE - 1e-6 < found.duration <= seconds + 1e-6
    )
    at = np.minimum(found.times * WALK.duration / seconds, WALK.duration)
    expected = [np.interp(at, WALK.times, column) for column in q(WALK).T]
    np.testing.assert_allclose(q(found), np.transpose(expected), atol=1e-9)


@few
@given(st.integers(0, 1000), st.floats(0.02, 3.0), st.floats(0, 0.3))
def test_no_joint_is_faster_than_its_limit_and_the_path_stays(seed, share, ease):
    motion = waving(seed)
    speeds = np.abs(np.diff(q(motion), axis=0)).max(axis=0) * RATE
    limits = np.where(np.arange(BODY.num_joints) % 2, share * speeds, np.inf)
    links = [
        replace(
            link,
            joint=replace(
                link.joint, velocity_lower=-limits[k], velocity_upper=limits[k]
            ),
        )
        if (k := link.joint.id if link.joint else -1) >= 0
        else link
        for link in BODY.links
    ]
    found = editing.within_limits(motion, replace(BODY, links=tuple(links)), ease)
    if (speeds <= limits).all():
        assert found == motion
        return
    assert (
        np.abs(np.diff(q(found), axis=0)) * RATE <= limits * (1 + 1e-6) + 1e-12
    ).all()
    assert found.duration >= motion.duration and found.frame_rate == RATE
    for end in (0, -1):
        np.testing.assert_allclose(q(found)[end], q(motion)[end], atol=1e-9)
    # Each frame is on the way of the original, all joints at one time of it.
    root, path = (
        found.link_position.values[:, 0, :2],
        motion.link_position.values[:, 0, :2],
    )
    way = (
        (path - path[0])
        @ (path[-1] - path[0])
        / max(np.sum((path[-1] - path[0]) ** 2), 1e-30)
    )
    times = np.interp(
        (root - path[0]) @ (path[-1] - path[0]) / np.sum((path[-1] - path[0]) ** 2),
        way,
        motion.times,
    )
    expected = np.transpose(
        [np.interp(times, motion.times, column) for column in q(motion).T]
    )
    np.testing.assert_allclose(q(found), expected, atol=1e-6)


@few
@given(st.floats(-3, 3), st.floats(-1, 1), st.integers(0, BODY.num_joints - 1))
def test_one_joint_changes_and_changes_back(factor, offset, column):
    name = BODY.joints[column].name
    found = editing.change_joint(WALK, name, factor=factor, offset=offset, body=BODY)
    expected = np.array(q(WALK))
    expected[:, column] = factor * expected[:, column] + offset
    np.testing.assert_array_equal(q(found), expected)
    with pytest.raises(ValueError, match="did you mean"):
        editing.change_joint(WALK, name + "X", body=BODY)


@few
@given(st.integers(0, 1000), st.floats(0, 0.9), st.booleans())
def test_gaps_are_straight_lines_and_the_rest_stays(seed, share, stamped):
    rng = np.random.default_rng(seed)
    motion = waving(seed)
    times = motion.times**2 if stamped else motion.times
    timeline = bm.Timeline.stamped(times) if stamped else motion.timeline
    joints, root = motion.joint_displacement, motion.link_position
    known = rng.random(q(motion).shape) >= share
    lost = rng.random(len(times)) < share
    poses = np.array(root.values)
    poses[lost, 0, rng.integers(0, 7)] = np.nan
    broken = motion.replaced(
        replace(joints, values=np.where(known, q(motion), np.nan), timeline=timeline),
        replace(root, values=poses, timeline=timeline),
    )
    found = editing.fill_gaps(broken)
    for column, there in enumerate(known.T):
        expected = (
            np.interp(times, times[there], q(motion)[there, column])
            if there.any()
            else np.full(len(times), np.nan)
        )
        np.testing.assert_allclose(q(found)[:, column], expected, atol=1e-12)
    np.testing.assert_array_equal(q(found)[known], q(motion)[known])
    np.testing.assert_array_equal(found.link_position.values[~lost], root.values[~lost])
    if not lost.all():
        np.testing.assert_allclose(
            np.linalg.norm(found.link_position.values[..., 3:], axis=-1), 1.0
        )
    assert editing.fill_gaps(motion) == motion


def test_a_gap_in_one_column_leaves_the_others():
    """A position is between its own known neighbours, whether or not the other numbers of those poses are known."""
    values = np.array(
        [[[x, 10.0 * x * x, 0, 1, 0, 0, 0]] for x in range(5)], dtype=float
    )
    values[2, 0, 0] = values[1, 0, 1] = values[3, 0, 4] = np.nan
    component = bm.MultiSE3Seq(
        content="LinkPosition", timeline=bm.Timeline.uniform(5, 10.0), values=values
    )
    (found,) = editing.fill_gaps(bm.Motion((component,))).components
    np.testing.assert_allclose(found.values[:, 0, 0], range(5))
    np.testing.assert_allclose(found.values[:, 0, 1], [0, 20, 40, 90, 160])
    np.testing.assert_allclose(found.values[:, 0, 3:], [[1, 0, 0, 0]] * 5)


def test_numbers_without_bound():
    """Lengths that no memory holds are errors of the argument; easing over more frames than there are costs no more than all of them."""
    for too_long in (
        lambda: editing.hold(WALK, 0.1, 1e308),
        lambda: editing.loop(WALK, 10**400),
        lambda: editing.join(WALK, WALK, blend=1e308),
        lambda: editing.seamless(WALK, 1e308),
    ):
        with pytest.raises(ValueError, match=r"repeated|hold|blend"):
            too_long()
    link = replace(
        BODY.links[BODY.joint_links[0]],
        index=0,
        parent=-1,
        joint=replace(BODY.joints[0], velocity_lower=-1.0, velocity_upper=1.0, id=0),
    )
    values = np.zeros((6, 1))
    values[3] = 1e-3
    found = editing.within_limits(
        bm.Motion.from_joints(values, 1e6), bm.Body(links=(link,)), ease=1e9
    )
    assert np.abs(np.diff(q(found), axis=0)).max() * 1e6 <= 1 + 1e-6


@few
@given(st.integers(1, 40))
def test_a_loop_has_no_seam(overlap):
    motion = waving(overlap)
    period = editing.seamless(motion, overlap / RATE)
    assert period.duration == pytest.approx(motion.duration - overlap / RATE)
    np.testing.assert_allclose(q(period)[0], q(period)[-1], atol=1e-12)
    np.testing.assert_array_equal(
        q(period)[: 119 - 2 * overlap], q(motion)[overlap : 119 - overlap]
    )
    twice = q(editing.loop(period, 2))
    seam = period.num_frames - 1
    # Around the seam are the frames of the motion around its beginning, but for what is left of the fading: 10/n³ at n frames.
    np.testing.assert_array_equal(twice[seam + 1], q(motion)[overlap + 1])
    np.testing.assert_allclose(
        twice[seam - 1], q(motion)[overlap - 1], atol=1.2 * 10 / overlap**3 + 1e-12
    )


@few
@given(st.integers(0, 1000), st.integers(0, 30))
def test_the_foot_in_contact_stays_where_it_is(seed, overlap):
    first, second = waving(seed), waving(seed + 1)
    index = [link.name for link in BODY.links].index(FOOT)
    both = editing.join(
        first, second, first, blend=overlap / RATE, body=BODY, foot=FOOT
    )
    alone = editing.join(first, second, blend=0, body=BODY, foot=FOOT)
    at = first.num_frames - 1
    foot = BODY.link_poses(alone)[:, index]
    moved = BODY.link_poses(second)[:, index]
    # The second motion as a whole is turned about z and shifted, so that its foot begins where the first one's ends.
    np.testing.assert_allclose(foot[at + 1 :, 2], moved[1:, 2], atol=1e-9)
    ahead = np.linalg.norm(foot[at + 1 :, :2] - foot[at, :2], axis=1)
    np.testing.assert_allclose(
        ahead, np.linalg.norm(moved[1:, :2] - moved[0, :2], axis=1), atol=1e-9
    )
    assert both.num_frames == 3 * first.num_frames - 2 - 2 * overlap
    with pytest.raises(ValueError, match="needs a body with that link"):
        editing.join(first, second, body=BODY, foot="NO_SUCH_LINK")


def test_the_foot_that_carries_the_robot_is_found_in_each_transition():
    contacts = bm.dynamics.measure(BODY, WALK).contacts
    alone = np.flatnonzero(contacts.in_contact.sum(axis=1) == 1)
    seen = set()
    for at in alone[:: len(alone) // 7]:
        foot = BODY.links[contacts.links[int(contacts.in_contact[at].argmax())]].name
        before, after = editing.trim_frames(WALK, 0, at), editing.trim_frames(WALK, at)
        after = editing.start_at(after, x=0.4, y=-0.2, yaw=0.5)
        found, named = (
            editing.join(before, after, body=BODY, foot=name) for name in ("auto", foot)
        )
        np.testing.assert_array_equal(
            found.link_position.values, named.link_position.values
        )
        seen.add(foot)
    assert len(seen) == 2


@pytest.mark.parametrize(
    ("arguments", "same"),
    [
        (["--hold", "2:0.5"], lambda m: editing.hold(m, 2, 0.5)),
        (["--length", "8@120"], lambda m: editing.change_length(m, 4.0)),
        (["--length", "3"], lambda m: editing.change_length(m, 3.0)),
        (["--within-limits"], lambda m: editing.within_limits(m, BODY)),
        (
            ["--offset-joint", "R_KNEE=10"],
            lambda m: editing.change_joint(
                m, "R_KNEE", offset=np.radians(10), body=BODY
            ),
        ),
        (
            ["--scale-joint", "R_KNEE=0.5"],
            lambda m: editing.change_joint(m, "R_KNEE", factor=0.5, body=BODY),
        ),
        (["--fill-gaps"], editing.fill_gaps),
        (["--seamless", "0.3"], lambda m: editing.seamless(m, 0.3)),
        (
            ["--insert", "1:WALK", "--foot", FOOT],
            lambda m: editing.insert(m, m, 1, body=BODY, foot=FOOT),
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_step_is_its_function_and_one_line_says_what_it_did(
    tmp_path, examples, arguments, same
):
    walk, out = str(examples / "biped_walk.seq"), tmp_path / "out.seq"
    given = ["edit", walk, str(out), "--body", str(examples / "biped.wrl")]
    result = CliRunner().invoke(
        app, [*given, *(text.replace("WALK", walk) for text in arguments)]
    )
    assert result.exit_code == 0, result.output
    assert bm.load(out) == same(WALK)
    assert (
        sum(line.startswith(arguments[0]) for line in result.stderr.splitlines()) == 1
    )


def test_retiming_within_limits_needs_a_model(tmp_path, examples):
    given = [
        "retime",
        str(examples / "biped_walk.seq"),
        str(tmp_path / "out.seq"),
        "--within-limits",
    ]
    assert CliRunner().invoke(app, given).exit_code == 2
    result = CliRunner().invoke(app, [*given, "--body", str(examples / "biped.wrl")])
    assert result.exit_code == 0
    assert q(bm.load(tmp_path / "out.seq")) == pytest.approx(
        q(editing.within_limits(WALK, BODY))
    )


@pytest.mark.parametrize("blend", [0.0, 0.2])
def test_motions_that_are_joined_at_other_poses_are_reported(blend):
    """A joint swings by A = 0.5 rad: sin at the end and at the begin of the fade, 0.75 periods apart, differ by up to A·√2."""
    times = np.arange(76) / 100
    names = ("KNEE", "HIP")
    values = 0.5 * np.sin(2 * np.pi * times)[:, None] * [1.0, 0.1]
    swing = bm.Motion.from_joints(values, 100, joint_names=names)
    (problem,) = editing.loop(swing, 3, blend).problems
    overlap = round(blend * 100)
    apart = values[75 - overlap :, 0] - values[: overlap + 1, 0]
    assert problem.rule == "EDIT107" and problem.count == 2
    assert problem.data["joint"] == "KNEE"
    assert problem.data["difference"] == pytest.approx(np.abs(apart).max())
    whole = np.arange(101) / 100
    values = 0.5 * np.sin(2 * np.pi * whole)[:, None] * [1.0, 0.1]
    period = bm.Motion.from_joints(values, 100, joint_names=names)
    assert editing.loop(period, 3, 0.0).problems == ()
    if blend:
        (problem,) = editing.seamless(swing, blend).problems
        frame = round(100 * problem.data["time"])
        assert 75 - 2 * overlap <= frame <= 75 - overlap


@pytest.mark.parametrize(("span", "slips"), [("2:4", True), ("3:6.3", False)])
def test_with_a_body_the_slip_of_joined_steps_is_measured(span, slips, tmp_path):
    """The walk has a period of 1.5 s: a foot is put down every 1.5 s. Of 1.7 s, other phases of a step fade into each other."""
    folder, out = ROOT / "examples", tmp_path / "out.seq"
    files = [str(folder / "biped_walk.seq"), str(out), "--body"]
    steps = ["--trim", span, "--seamless", "0.3", "--loop", "2"]
    command = ["edit", *files, str(folder / "biped.wrl"), *steps]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.stderr
    assert ("EDIT107" in result.stderr) == slips
    body = bm.load_body(folder / "biped.wrl")
    measures = bm.dynamics.measure(body, bm.load_motion(out))
    feet = measures.contacts
    ways = np.where(feet.in_contact[..., None], feet.velocities[..., :2], 0.0)
    moved = np.linalg.norm(ways, axis=-1).sum(axis=0) / 100
    assert (moved.max() > 0.05) == slips


def test_a_cut_between_motions_is_reported():
    """A joint at 0.3 rad is followed by one that begins at −0.2 rad: it jumps by 0.5 rad, and moves by 0.01 rad a frame elsewhere."""
    names = ("KNEE", "HIP")
    ramp = np.linspace(0.0, 0.3, 31)[:, None] * [1.0, 0.0]
    first = bm.Motion.from_joints(ramp, 100, joint_names=names)
    other = bm.Motion.from_joints(ramp - [0.2, 0.0], 100, joint_names=names)
    (problem,) = editing.join(first, other).problems
    assert problem.rule == "EDIT108" and problem.count == 1
    assert problem.data["part"] == "KNEE"
    assert problem.data["jump"] == pytest.approx(0.5)
    assert problem.data["step"] == pytest.approx(0.01)
    assert problem.data["time"] == pytest.approx(0.3)
    assert editing.join(first, other, blend=0.1).problems == ()
    assert editing.join(first[:11], first[10:]).problems == ()
    rules = [p.rule for p in editing.insert(first, other, 0.1).problems]
    assert rules == ["EDIT108"]


def test_a_root_that_jumps_where_motions_are_joined_is_reported():
    """The heading and x, y continue; a height that differs by 0.3 m is a jump."""
    poses = np.tile([0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0], (5, 1))
    angles = np.zeros((5, 1))
    low = bm.Motion.from_joints(angles, 100, joint_names=("KNEE",), root=poses)
    raised = poses.copy()
    raised[:, 2] += 0.3
    high = bm.Motion.from_joints(angles, 100, joint_names=("KNEE",), root=raised)
    (problem,) = editing.join(low, high).problems
    assert problem.rule == "EDIT108"
    assert problem.data["jump"] == pytest.approx(0.3)
    assert problem.data["unit"] == "m"
