"""A result of `balance` is never worse than its input, and a safe motion stays as it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import bodymotion as bm
from balancing.law import broken, figures, grounds
from bodymotion.balancing import balancing
from bodymotion.balancing.judging import CRITERIA, Judge, compare
from bodymotion.balancing.knees import knee_limits
from bodymotion.cli.app import app
from bodymotion.dynamics import measure
from bodymotion.geometry import rotations
from sample_files import ACCEPT, CORPUS, ROOT, missing
from walker import frames, moving, smoothly, walker

BIPED = ROOT / "examples" / "biped.wrl"
SR1 = "wrl/choreonoid+choreonoid/share/model/SR1/SR1.wrl"
PATTERNS = "seq/choreonoid+choreonoid/sample/SimpleController"
CMU_WALK = "mocap/VictorS-67+pybvh/bvh_data/cmu_12_01_walk.bvh"
XSENS_WALK = (
    "mocap/Roboparty+human-humanoid-tools/assets/motions/mimic/Xsens_mocap/walk.bvh"
)


def assert_law(
    body: bm.Body,
    motion: bm.Motion,
    new: bm.Motion,
    ground: float | None = None,
    *,
    simulated: bool = False,
) -> None:
    """Compare a result with its input; a result that is not better is the input."""
    old = measure(body, motion, ground=ground)
    for level in grounds(old, ground):
        before, after = (
            figures(body, one, old.feet.links, level, simulated=simulated)
            for one in (motion, new)
        )
        assert broken(before, after) == [], (level, before, after)
    if new.report.outcome in ("unchanged", "refused"):
        assert new.components == motion.components
        assert new.extra == motion.extra
    else:
        assert new.components != motion.components
    if new.report.outcome == "refused":
        assert new.report.has_failed


@pytest.fixture(scope="module")
def retargeted_walk() -> bm.Motion:
    """A recorded walk on the bundled biped; most of its frames are not safe."""
    path = CORPUS / CMU_WALK
    if not path.is_file():
        missing("the recorded walk")
    return bm.retarget(bm.load(path), bm.load_body(BIPED))


@pytest.mark.parametrize(
    ("rate", "begin", "end", "limits"),
    [(30.0, 1.5, 3.5, False), (60.0, 2.0, 2.6, True), (120.0, 1.5, 3.2, True)]
    + ACCEPT * [(rate, 0.0, 4.3, True) for rate in (30.0, 60.0, 100.0, 500.0)],
)
def test_a_retargeted_walk_is_not_worse(retargeted_walk, rate, begin, end, limits):
    body = bm.load_body(BIPED)
    motion = retargeted_walk.between(begin, end).resample(rate, "cubic")
    new = bm.balance(body, motion, ground=0.0, limits=limits)
    assert_law(body, motion, new, 0.0, simulated=ACCEPT)
    found = [problem for problem in new.problems if problem.rule == "BAL101"]
    assert len(found) == len(new.report.kept)
    for problem, part in zip(found, new.report.kept, strict=True):
        assert problem.data == {"begin": part.begin, "end": part.end}
        assert 0.0 <= part.begin < part.end <= motion.duration


@pytest.mark.skipif(not ACCEPT, reason="ACCEPT=1 only")
def test_the_good_seconds_of_a_retargeted_walk_are_balanced(corpus):
    """Xsens: its result was 28 s long, and tipped by 3.7 m."""
    body = bm.load_body(BIPED)
    motion = bm.retarget(bm.load(corpus / XSENS_WALK), body)
    new = bm.balance(body, motion, ground=0.0)
    assert_law(body, motion, new, 0.0, simulated=True)
    assert new.report.outcome == "partly improved"
    assert new.report.safe_after > new.report.safe_before + 0.05


@pytest.mark.parametrize("number", [1, 2, 3] if ACCEPT else [3])
def test_a_safe_walk_of_sr1_is_unchanged(corpus, tmp_path, number):
    path = corpus / PATTERNS / f"SR1WalkPattern{number}.seq"
    out = tmp_path / "new.seq"
    ran = CliRunner().invoke(
        app, ["balance", str(corpus / SR1), str(path), "-o", str(out), "--json"]
    )
    assert ran.exit_code == 0, ran.output
    report = json.loads(ran.stdout)
    assert report["outcome"] == "unchanged"
    assert not report["remaining"] and not report["joints"]
    assert bm.load_motion(out).components == bm.load_motion(path).components


def test_the_safe_walk_of_the_examples_is_unchanged():
    body = bm.load_body(BIPED)
    walk = bm.load_motion(ROOT / "examples" / "biped_walk.seq")
    new = bm.balance(body, walk)
    assert new.components == walk.components
    assert new.report.outcome == "unchanged"
    assert not new.report.has_failed


def test_a_margin_that_is_asked_for_changes_a_safe_motion():
    times = frames(50.0, 4.0)
    motion = moving(times, x=0.075 * smoothly(times, 0.5, 3.5))
    body = walker()
    assert bm.balance(body, motion).components == motion.components
    new = bm.balance(body, motion, margin=0.07)
    assert new.report.outcome == "improved"
    assert measure(body, new).stability_margin.min() > 0.055


def test_a_motion_that_cannot_be_improved_is_returned_as_it_was(tmp_path):
    """The torque that the arm needs at rest is beyond its motor."""
    times = frames(100.0, 0.5)
    body = walker(arm=2.0, effort=9.0)
    motion = moving(times, arm=0.1 * np.sin(times))
    new = bm.balance(body, motion)
    assert new.report.outcome == "refused"
    assert new.components == motion.components
    (problem,) = (problem for problem in new.problems if problem.rule == "BAL101")
    assert problem.data == {"begin": 0.0, "end": pytest.approx(times[-1])}
    bm.save(motion, tmp_path / "old.seq")
    bm.save(body, tmp_path / "body.urdf")
    paths = [str(tmp_path / name) for name in ("body.urdf", "old.seq")]
    ran = CliRunner().invoke(app, ["balance", *paths, "-o", str(tmp_path / "new.seq")])
    assert ran.exit_code == 1
    assert "not balanced" in ran.stdout


def limited_arm(body: bm.Body, speed: float) -> bm.Body:
    """Return a body with an arm of limited speed [rad/s]."""
    links = list(body.links)
    for k, link in enumerate(links):
        if link.joint.name == "ARM":
            joint = replace(link.joint, velocity_lower=-speed, velocity_upper=speed)
            links[k] = replace(link, joint=joint)
    return replace(body, links=tuple(links))


def test_a_longer_result_is_refused_unless_it_is_asked_for():
    """The arm is three times as fast as its limit for a second."""
    times = frames(100.0, 3.0)
    fast = moving(
        times, arm=0.5 * np.sin(9.0 * times) * np.exp(-(((times - 1.5) / 0.5) ** 4))
    )
    body = walker(arm=2.0)
    limited = limited_arm(body, 1.5)
    assert bm.balance(limited, fast).components == fast.components
    new = bm.balance(limited, fast, max_length=3.0)
    assert 3.0 * 1.2 < new.report.seconds <= 9.0
    assert np.abs(measure(limited, new).joint_velocities).max() <= 1.5 * 1.01
    # Slow parts are those of the input.
    assert all(0.0 <= part.begin < part.end <= 3.0 for part in new.report.slowed)


@pytest.mark.parametrize("criterion", [one.name for one in CRITERIA])
def test_a_result_that_is_worse_in_one_criterion_is_refused(criterion):
    """The judge decides by each criterion alone."""
    times = frames(50.0, 1.0)
    body, motion = walker(), moving(times, x=0.15 * smoothly(times, 0.2, 0.8))
    old = measure(body, motion)
    judge = Judge(body, old, old.feet.links, 0.0, simulates=False)
    good = {
        one.name: np.full(51, one.need if np.isfinite(one.need) else 0.0)
        for one in CRITERIA
    }
    better = replace(
        judge.quality, amounts=judge.quality.amounts | {"unsafe": np.zeros(51)}
    )
    assert judge.compare(better).accepts
    (chosen,) = (one for one in CRITERIA if one.name == criterion)
    worst = judge.quality.total(chosen)
    step = 2.0 * chosen.tolerance + 1e-6
    worse = np.full(51, max(worst, good[criterion][0]) + step)
    amounts = better.amounts | {criterion: worse}
    found = judge.compare(replace(better, amounts=amounts))
    assert len(found.worse) == 1 and not found.accepts


def test_a_result_that_slips_on_level_ground_only_is_refused():
    """Ground that follows the feet hides it where the input has no root poses."""
    walk = bm.load_motion(ROOT / "examples" / "biped_walk.seq").between(2.0, 3.0)
    joints = walk.joint_displacement
    motion = bm.Motion.from_joints(joints.values, joints.timeline.frame_rate)
    body = bm.load_body(BIPED)
    old = measure(body, motion)
    assert np.ptp(old.ground) > 0
    judge = Judge(body, old, old.feet.links, None, simulates=False)
    before = judge.quality
    assert before.level is not None
    bad = np.ones(len(before.times))
    worse_input = replace(before, amounts={**before.amounts, "unsafe": bad})
    assert compare(worse_input, before).accepts
    slip = before.level.amounts["slip"] + 5e-3
    on_level = replace(before.level, amounts={**before.level.amounts, "slip": slip})
    after = replace(before, level=on_level)
    assert not compare(worse_input, after).accepts
    assert judge.worse_frames(after).any() and judge.faults_in(after, slice(None))


def test_retarget_reports_a_failed_balance_and_a_fall(tmp_path):
    """A robot that leans so far that it falls, and is too fast to be caught."""
    walk = bm.load_motion(ROOT / "examples" / "biped_walk.seq").between(2.0, 3.0)
    walk = walk.resample(30.0, "cubic")
    joints = walk.joint_displacement
    root = np.array(walk.link_position.values[:, 0])
    lean = np.linspace(0.0, 0.8, len(root))
    turn = rotations.from_axis_angle([0.0, 1.0, 0.0], lean)
    root[:, 3:] = rotations.multiply(turn, root[:, 3:])
    leaning = bm.Motion.from_joints(
        joints.values, joints.timeline.frame_rate, root=root
    )
    bm.save(leaning, tmp_path / "leaning.seq")
    command = ["retarget", str(tmp_path / "leaning.seq"), str(BIPED)]
    command += ["--source-body", str(BIPED), "-o", str(tmp_path / "new.seq")]
    ran = CliRunner().invoke(app, [*command, "--balance", "--simulate", "--json"])
    assert ran.exit_code == 1, ran.output
    found = json.loads(ran.stdout)
    assert found["fall"] is not None
    assert found["balance"]["kept"] or found["balance"]["remaining"]
    text = CliRunner().invoke(app, [*command, "--balance"])
    assert text.exit_code == 1
    assert "not balanced" in text.stdout or "not fixed" in text.stdout


def test_no_search_is_repeated(monkeypatch):
    """The arm is so fast that no result is short enough: each search has a new input."""
    times = frames(50.0, 2.0)
    fast = moving(times, arm=0.5 * np.sin(15.0 * times))
    body = limited_arm(walker(arm=2.0), 1.5)
    searched: list[np.ndarray] = []
    search = balancing.improve

    def counted(old, margin, step):
        searched.append(np.column_stack([old.times, old.joint_displacements]))
        return search(old, margin, step)

    monkeypatch.setattr(balancing, "improve", counted)
    bm.balance(body, fast, simulated=False)
    assert searched
    for k, one in enumerate(searched):
        assert not any(np.array_equal(one, other) for other in searched[:k])


def test_progress_is_called_up_to_the_number_of_steps():
    times = frames(50.0, 1.0)
    calls: list[tuple[int, int]] = []
    motion = moving(times, x=0.15 * smoothly(times, 0.2, 0.8))
    bm.balance(walker(), motion, progress=lambda *call: calls.append(call))
    assert calls
    assert all(0 < done <= total for done, total in calls)
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_knee_without_limits_stays_on_the_side_to_which_it_is_bent(corpus, side):
    """With all joints at 0 the legs of SR1 are straight, and its knees have no limits."""
    body = bm.load_body(corpus / SR1)
    knees = [body.joints.index(body.link(f"{x}LEG_KNEE").joint) for x in "LR"]
    feet = tuple(body.link(f"{x}LEG_ANKLE_R").index for x in "LR")
    joints = np.zeros((20, body.num_joints))
    joints[:, knees] = side * np.linspace(0.1, 0.9, 20)[:, None]
    found = knee_limits(body, feet, joints)
    bound, other = (found.lower, found.upper)[:: int(side)]
    assert side * bound[knees] == pytest.approx([0.03, 0.03], abs=0.02)
    assert np.isinf(other[knees]).all()
    rest = [k for k in range(body.num_joints) if k not in knees]
    assert np.isinf(found.lower[rest]).all() and np.isinf(found.upper[rest]).all()


# All pairs of the corpus.

PEOPLE = (
    CMU_WALK,
    "mocap/facebookresearch+fairmotion/tests/data/01_01.bvh",
    "mocap/Roboparty+human-humanoid-tools/assets/motions/mimic/MOCAP/D0429_踢月转体__01_Sk00_143.bvh",
    "mocap/Roboparty+human-humanoid-tools/assets/motions/mimic/MOCAP/D0429_后空翻__01_Sk00_146.bvh",
    XSENS_WALK,
)
BODIES = {
    "biped": BIPED,
    "SR1": CORPUS / SR1,
    "G1": CORPUS / "robots/YanjieZe+GMR/assets/unitree_g1/g1_mocap_29dof.xml",
    "T1": CORPUS / "robots/YanjieZe+GMR/assets/booster_t1/t1_mocap.xml",
    "GR001": CORPUS / "wrl/choreonoid+choreonoid/share/model/GR001/GR001.wrl",
}
RATES = (30.0, 60.0, 100.0, 500.0)
OF_BODIES = {
    "SR1": ("seq/**/SR1WalkPattern*.seq", "seq/**/SR1WalkPattern*.pseq"),
    "GR001": ("seq/**/GR001/*.pseq",),
    "G1": ("retargeted/NVlabs*/**/*.csv", "retargeted/robfiras*/**/*.npz"),
}
LONGEST = {30.0: 30.0, 60.0: 15.0, 100.0: 12.0, 500.0: 3.0}
"""[s] Longer motions are cut to so much: frames, not seconds, take time."""


def pairs() -> Iterator[tuple[str, Path | None, str, float]]:
    """Yield the name of a body, a motion of its own or a recorded one, and a rate."""
    for rate in RATES:
        for name in BODIES:
            for pattern in OF_BODIES.get(name, ()):
                for path in sorted(CORPUS.glob(pattern)):
                    yield name, path, "", rate
            for clip in PEOPLE:
                yield name, None, clip, rate


def motion_of(body: bm.Body, path: Path | None, clip: str) -> bm.Motion:
    if path is None:
        return bm.retarget(bm.load(CORPUS / clip), body)
    if path.suffix == ".pseq":
        return bm.load_key_poses(path).to_motion(body)
    return bm.load_motion(path)


@pytest.mark.skipif(not ACCEPT, reason="ACCEPT=1 only")
def test_no_result_over_the_corpus_is_worse(tmp_path):
    """Prints how many were improved, left alone and refused."""
    table: dict[tuple[str, str], int] = {}
    made: dict[tuple[str, str], bm.Motion] = {}
    worse = []
    for name, path, clip, rate in pairs():
        body = bm.load_body(BODIES[name])
        key = name, str(path or clip)
        if key not in made:
            made[key] = motion_of(body, path, clip)
        motion = made[key].resample(rate, "cubic")
        motion = motion.between(0.0, min(motion.duration, LONGEST[rate]))
        try:
            new = bm.balance(body, motion)
        except ValueError:
            table["not tried", name] = table.get(("not tried", name), 0) + 1
            continue
        outcome = new.report.outcome
        table[outcome, name] = table.get((outcome, name), 0) + 1
        try:
            assert_law(body, motion, new, simulated=True)
        except AssertionError as error:
            worse.append(f"{key} at {rate:g} Hz: {error}")
    for (outcome, name), count in sorted(table.items()):
        print(f"{outcome:<16} {name:<8} {count}")
    assert not worse, "\n".join(worse)
