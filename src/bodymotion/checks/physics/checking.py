"""All rules about the physics of a motion on a body."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from bodymotion.checks.motions import component_number, frame_location, too_fast
from bodymotion.checks.physics import rules
from bodymotion.checks.physics.floor import off_the_floor
from bodymotion.checks.physics.judging import balance, feet_on_ground, torques
from bodymotion.checks.physics.jumps import jumps_of_joints, jumps_of_root, sign_flips
from bodymotion.checks.physics.moments import MOST, Finding
from bodymotion.checks.physics.samples import WINDOW, record, standing_on
from bodymotion.editing import recover_joints
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body
from bodymotion.motion import Motion, MultiSE3Seq, MultiValueSeq
from bodymotion.motion.interpolation import sampled

__all__ = ["calm_steps", "physics"]

OF_JOINTS = (rules.JOINT_JUMPS.code, rules.JOINT_SPIKE.code, rules.FULL_TURN.code)
FAR, OFTEN = 1.0, 0.1
"""[m] So far outside of the feet the zero moment point is in more than this part of the frames only where time is wrong."""
SPIKES = (rules.JOINT_SPIKE.code, rules.ROOT_SPIKE.code)


def physics(motion: Motion, body: Body, q: Floats | None, doubtful: Collection[str] = ()) -> list[Finding]:
    """Return what is wrong with the physics of a motion that fits its body.

    Parameters
    ----------
    q:
        (T, J) the values of the body's joints; None where the motion has none that fit: they are worked out from the poses of all links
        then, if it has these.
    doubtful:
        Contents of components whose places are in another unit: they are not used.
    """
    links = motion.link_position
    if links is not None and links.content in doubtful:
        links = None
    leading: MultiValueSeq | MultiSE3Seq | None = motion.joint_displacement
    if q is None:
        if motion.joint_displacement is not None or links is None or links.num_parts != len(body.links):
            return []
        leading, q = links, _recovered(motion, body)
    if leading is None or q is None or not _in_order(leading.timeline.times):
        return []
    times = leading.timeline.times
    where = partial(frame_location, motion, component_number(motion, leading))
    found = jumps_of_joints(q, times, body, where)
    root = None
    if links is not None and links.num_parts and links.num_frames and _in_order(links.timeline.times):
        root = links.values[:, 0]
        own, number = links.timeline.times, component_number(motion, links)
        found += jumps_of_root(root, own, partial(frame_location, motion, number))
        if _has_quaternions(motion, number):
            found += sign_flips(root[:, 3:], own, partial(frame_location, motion, number))
        if links.timeline != leading.timeline:
            root = sampled(links.values[:, :1], own, times)[:, 0]
    if not body.links or not len(q):
        return found
    zmp = motion.zmp
    if zmp is not None and (
        zmp.content in doubtful
        or not zmp.num_frames
        or not _in_order(zmp.timeline.times)
        or not np.isfinite(zmp.values).all()
    ):
        zmp = None
    free = body.links[0].joint.type == "free"
    if free and root is None and (zmp is None or not zmp.is_root_relative):
        return found
    standing = standing_on(body, q, root, times) if free else None
    if root is None and free and standing is None:
        return found
    if not free and root is None:
        root = np.broadcast_to(body.root_pose, (len(q), 7))
    samples = record(body, q, root, times, standing, zmp)
    if samples is None:
        return found
    for one in found:
        for moment in one.moments:
            if moment.rule != rules.SIGN_FLIP.code:
                samples.forget(moment.start, moment.end, wrong=moment.rule in SPIKES)
    far = samples.margins[np.isfinite(samples.margins)]
    if len(far) and np.mean(far < -FAR) > OFTEN and not any(one.problem.rule == rules.TREMBLES.code for one in found):
        reason = f"the zero moment point is {-float(np.min(far)):.3g} m outside of the feet: nothing can move so fast"
        of_time = too_fast(reason, leading.timeline, where(int(samples.frames[int(np.nanargmin(samples.margins))])))
        return [*(one for one in found if one.problem.rule in (rules.FULL_TURN.code, rules.SIGN_FLIP.code)), of_time]
    if zmp is not None and not zmp.is_root_relative and any(one.problem.rule == rules.ROOT_JUMPS.code for one in found):
        # One of the two is elsewhere from then on; the jump is reported.
        samples.own_margins[:] = samples.apart[:] = np.nan
    if standing is not None:
        if root is not None and links is not None:
            found += feet_on_ground(samples, standing, body, where)
            of_root = partial(frame_location, motion, component_number(motion, links))
            found += off_the_floor(standing, body, root, times, zmp, of_root)
        found += balance(samples, where)
    # What an extra joint bears is not known.
    return found if body.extra_joints else found + torques(samples, body, where)


def calm_steps(times: Floats, found: Sequence[Finding]) -> npt.NDArray[np.bool_]:
    """Return in which steps (T − 1,) between frames at `times` no joint does something sudden: there their speeds can be told of."""
    calm = np.ones(max(len(times) - 1, 0), dtype=bool)
    for one in found:
        moments = [moment for moment in one.moments if moment.rule in OF_JOINTS]
        if len(moments) >= MOST:
            # There are more of them than are known.
            return np.zeros_like(calm)
        for moment in moments:
            calm[
                np.searchsorted(times[1:], moment.start - WINDOW) : np.searchsorted(times[:-1], moment.end + WINDOW)
            ] = False
    return calm


def _recovered(motion: Motion, body: Body) -> Floats | None:
    try:
        joints = recover_joints(motion, body)[0].joint_displacement
        return None if joints is None else body.joint_values(joints)
    except ValueError:
        return None


def _in_order(times: Floats) -> bool:
    return bool(len(times) and np.isfinite(times).all() and (np.diff(times) > 0).all())


def _has_quaternions(motion: Motion, number: int) -> bool:
    """Return whether the file has quaternions itself, and not angles that were made into some."""
    formats = motion.source.options.get("se3_formats")
    known = isinstance(formats, (tuple, list)) and len(formats) == len(motion.components)
    return not (known and formats[number] == "XYZRPY")  # type: ignore[index]
