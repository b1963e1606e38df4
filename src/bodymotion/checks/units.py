"""Whether the numbers of a motion are in the units that they stand in for: metres, radians, frames in a second."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from bodymotion.checks import rules
from bodymotion.checks.limits import shares
from bodymotion.checks.motions import part_name
from bodymotion.checks.physics.moments import Finding
from bodymotion.checks.physics.tape import standing_on
from bodymotion.checks.rows import place_of_frame
from bodymotion.diagnostics import Location, Problem
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body
from bodymotion.motion import Motion, MultiSE3Seq, MultiValueSeq, Vector3Seq
from bodymotion.motion.interpolation import sampled
from bodymotion.motion.timeline import Timeline

__all__ = ["check_units", "in_millimetres", "time_steps", "too_fast", "too_many_frames"]

HIGH, TALL = 20.0, 5.0
"""[m] The root of a robot is not as high as the one; as millimetres it is no higher than the other."""
ON_FLOOR = 0.1
"""[m] Feet that stand so near to 0, were places millimetres, say that they are."""
FAST, FASTER = 30.0, 100.0
"""[m/s] The root of what is so high, or of anything, is not so fast."""
AWAY, NEAR = 20.0, 2.0
"""[m] A zero moment point is not as far from the root as the one; as millimetres it is no farther than the other."""
SLOWEST = 0.1
"""[Hz] Frame rates up to this are times between frames."""
TIMES = 3.0
"""So many times as fast as it can be is a joint of a motion whose frames are given too little time."""
OFTEN, FEW = 0.02, 4
"""In more than this part of the steps, and more than so many, it is too fast."""
MOVING = 0.02
"""[rad or m] A joint that goes less far does not count."""
TURN = 2.0 * math.pi
LARGEST_ANGLE = 720.0
"""[°] Values beyond are no angles of a joint."""
QUICK = 12.0
"""[rad/s] Joints that turn so fast most of the time are none, where they are beyond a full turn, too."""
TO_METRES = np.array([0.001, 0.001, 0.001, 1.0, 1.0, 1.0, 1.0])


def check_units(motion: Motion) -> list[Problem]:
    """Say which numbers of a motion by itself are in other units."""
    return [*time_steps(motion), *in_millimetres(motion)[0], *_degrees(motion)]


def time_steps(motion: Motion) -> list[Problem]:
    """Tell a time between two frames that is written as the frame rate."""
    for number, component in enumerate(motion.components):
        if not isinstance(component, (MultiValueSeq, MultiSE3Seq, Vector3Seq)):
            continue
        rate = component.timeline.frame_rate
        if rate is None or not 0 < rate <= SLOWEST or component.num_frames < 2:
            continue
        duration = component.num_frames / rate
        message = (
            f"the frame rate is {rate:g}, so that {component.num_frames} frames take {duration:.6g} s: is it the time between "
            f"two frames?"
        )
        hint = f"write frameRate: {1 / rate:.6g}"
        return [rules.FRAME_RATE.problem(message, place_of_frame(motion, number, 0), hint)]
    return []


def in_millimetres(
    motion: Motion, body: Body | None = None, q: Floats | None = None
) -> tuple[list[Problem], frozenset[str]]:
    """Say which places are millimetres by their looks, and give the contents of these components; `q` (T, J) are joint values."""
    links, zmp = motion.link_position, motion.zmp
    if links is None or not links.num_parts or not links.num_frames:
        return [], frozenset()
    times, root = links.timeline.times, links.values[:, 0]
    sound = np.asarray(np.isfinite(root).all(axis=1))
    if np.count_nonzero(sound) < 2 or not (np.diff(times) > 0).all():
        return [], frozenset()
    problems: list[Problem] = []
    found: set[str] = set()
    height = float(np.median(np.abs(root[sound, 2])))
    if _root(root, times, sound, height, body, q, motion.joint_displacement):
        found.add(links.content)
        shown = " ".join(f"{value:.4g}" for value in root[int(np.argmax(sound)), :3])
        message = f"the root begins at {shown}: these look like millimetres"
        problems.append(rules.METRES.problem(message, place_of_frame(motion, _number(motion, links), 0)))
    if zmp is not None and zmp.num_frames and (np.diff(zmp.timeline.times) > 0).all():
        there = root * TO_METRES if found else root
        away, near = _from_root(zmp, there, times), _from_root(replace(zmp, values=zmp.values / 1000), there, times)
        if away > AWAY and near < NEAR:
            if not found:
                message = f"the zero moment point is mostly {away:.4g} m from the root: it looks like millimetres"
                problems.append(rules.METRES.problem(message, place_of_frame(motion, _number(motion, zmp), 0)))
            found.add(zmp.content)
    return problems, frozenset(found)


def _root(
    root: Floats,
    times: Floats,
    sound: npt.NDArray[np.bool_],
    height: float,
    body: Body | None,
    q: Floats | None,
    joints: MultiValueSeq | None,
) -> bool:
    steps = np.linalg.norm(np.diff(root[:, :3], axis=0), axis=1) / np.diff(times)
    moving = steps[np.isfinite(steps) & (steps > 0)]
    speed = float(np.median(moving)) if moving.size > len(steps) / 10 else 0.0
    if height / 1000 > TALL:
        return False
    if speed > FASTER and np.ptp(root[sound, :3], axis=0).max() > HIGH:
        return True
    if height <= HIGH:
        return False
    if speed > FAST and body is None:
        return True
    if body is None or q is None or joints is None or len(q) != len(root) or not body.links:
        return False
    if body.links[0].joint.type != "free":
        return False
    if np.ptp(root[sound, :3], axis=0).max() > ON_FLOOR:
        # On feet that keep to the ground as it goes it is where it is said to be.
        standing = standing_on(body, q, root, times)
        if standing is not None and standing.level:
            return False
    standing = standing_on(body, q, root * TO_METRES, times)
    return standing is not None and standing.level and abs(standing.ground) < ON_FLOOR


def _from_root(zmp: Vector3Seq, root: Floats, times: Floats) -> float:
    """Return how far [m] a point mostly is from the root."""
    if zmp.is_root_relative:
        away = zmp.values
    else:
        own = zmp.timeline.times
        away = zmp.values - (root if np.array_equal(own, times) else sampled(root[:, None], times, own)[:, 0])[:, :3]
    length = np.linalg.norm(away, axis=1)
    length = length[np.isfinite(length)]
    return float(np.quantile(length, 0.9)) if length.size else math.nan


def too_many_frames(motion: Motion, joints: MultiValueSeq, q: Floats, body: Body) -> list[Finding]:
    """Say that a motion is told to be far faster than it was made: most of its joints are too fast, often, and some by far.

    `q` (T, J) are its joint values. A few frames in which all joints are fast are something else.
    """
    fast = shares(joints, q, body, np.ones(max(len(q) - 1, 0), dtype=bool))
    moving = [
        column
        for column, (joint, link) in enumerate(zip(body.joints, body.joint_links, strict=True))
        if link >= 0 and -math.inf < joint.velocity_lower < 0 < joint.velocity_upper < math.inf
        if np.ptp(q[:, column]) > MOVING
    ]
    tops: dict[int, float] = {}
    for column in moving:
        part = fast.get(column, (0, np.zeros(0)))[1]
        if np.count_nonzero(part > 1) > max(OFTEN * len(part), FEW):
            tops[column] = float(np.partition(part, -FEW)[-FEW])
    if len(tops) < min(3, len(moving)) or 3 * len(tops) < len(moving) or max(tops.values(), default=0.0) < TIMES:
        return []
    worst = max(tops, key=lambda column: tops[column])
    frame = int(np.argmax(fast[worst][1]))
    name = body.joints[worst].name or body.links[body.joint_links[worst]].name
    said = f"{len(tops)} of {len(moving)} joints that move are often too fast, {name!r} up to {tops[worst]:.3g} times as fast as it can be"
    factor = 10.0 ** max(math.ceil(math.log10(tops[worst])), 1)
    return [too_fast(said, joints.timeline, place_of_frame(motion, _number(motion, joints), frame), factor)]


def too_fast(said: str, timeline: Timeline, where: Location, factor: float = 10.0) -> Finding:
    """Make a finding of a motion that is told to be too fast as a whole; by some power of ten, maybe."""
    rate = timeline.frame_rate
    by = "its time stamps" if rate is None else f"{rate:g} frames a second"
    meant = "are the time stamps seconds?" if rate is None else f"is it {rate / factor:g} frames a second?"
    hint = f"{meant} Else go slower: `bodymotion retime --speed`. Speeds and physics are not looked at"
    return Finding(rules.FRAME_RATE.problem(f"by {by} {said}", where, hint))


def _degrees(motion: Motion) -> list[Problem]:
    """Tell joint values that are degrees by their looks: beyond a full turn from the start, or too fast for any motor, and most of them."""
    joints = motion.joint_displacement
    if joints is None or joints.num_frames < 2 or not joints.num_parts:
        return []
    values, gaps = joints.values, np.diff(joints.timeline.times)
    if not np.isfinite(values).all() or not (gaps > 0).all() or not TURN < np.abs(values).max() <= LARGEST_ANGLE:
        return []
    used = [k for k in range(joints.num_parts) if values[:, k].any()]
    kept = []
    for column in used:
        sizes = np.abs(values[:, column])
        speeds = np.abs(np.diff(values[:, column])) / gaps
        turning = speeds[speeds > 0]
        quick = turning.size > len(speeds) / 4 and float(np.median(turning)) > QUICK
        if np.mean(sizes > TURN) >= 0.25 and (sizes[0] > TURN or quick):
            kept.append(column)
    if len(kept) < 2 or 2 * len(kept) < len(used):
        return []
    frame, k = (int(i) for i in np.unravel_index(int(np.argmax(np.abs(values[:, kept]))), (len(values), len(kept))))
    message = (
        f"{len(kept)} of {len(used)} joints are beyond a full turn, such as {part_name(joints, kept[k])} at "
        f"{values[frame, kept[k]]:.6g} in frame {frame}: these look like degrees"
    )
    hint = "multiply them by π/180; a table in degrees is read by `bodymotion convert --degrees`"
    return [rules.IN_DEGREES.problem(message, place_of_frame(motion, _number(motion, joints), frame), hint)]


def _number(motion: Motion, component: MultiValueSeq | MultiSE3Seq | Vector3Seq) -> int:
    return next(k for k, one in enumerate(motion.components) if one is component)
