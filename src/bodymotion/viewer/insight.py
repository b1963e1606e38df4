"""What is worked out of a whole take: where its centre of mass and zero moment points are as it is shown, and what is measured of it.

What is measured is what is shown: the joints and roots of the take, with its loops closed when that is switched on. A robot whose motion
says nothing of its root is measured as it walks on its feet; places in the world then go with the root as it is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.motion import JOINT_DISPLACEMENT, LINK_POSITION, Motion, MultiSE3Seq, MultiValueSeq
from bodymotion.motion.timeline import Timeline
from bodymotion.viewer.take import Take

if TYPE_CHECKING:
    from bodymotion.dynamics import Measures, Series

__all__ = ["Insight", "look_into"]

AT_ONCE = 256
"""So many frames are lifted at once: all points of the body in all frames would be too much."""


@dataclass(frozen=True, eq=False)
class Insight:
    """What is known of the T frames of a take, all in the world as it is shown.

    Attributes
    ----------
    take, stands:
        Of which take, and whether it was lifted or lowered to the ground.
    roots:
        (T, 7) of the root.
    center_of_mass:
        (T, 3) [m].
    given_zmp:
        (T, 3) [m] of the file; None where it has none.
    measures:
        What is measured; None where nothing can be, and `why_not` says why.
    """

    take: Take
    stands: bool
    roots: Floats
    center_of_mass: Floats
    given_zmp: Floats | None
    measures: Measures | None = None
    why_not: str = ""
    _series: dict[str, Series] = field(default_factory=dict, repr=False)

    @cached_property
    def zmp(self) -> Floats | None:
        """(T, 3) [m] the zero moment point that is measured, NaN in flight; None for what does not stand on feet."""
        if self.measures is None or not self.on_feet:
            return None
        return self.placed(self.measures.zmp)

    @cached_property
    def on_feet(self) -> bool:
        """Whether it is measured and stands on feet: it has mass and feet, and is not mounted."""
        m = self.measures
        return m is not None and not m.is_mounted and m.body.mass > 0 and bool(m.feet.links)

    @property
    def about_feet(self) -> str:
        """Say why no feet carry what is measured; nothing where they do."""
        m = self.measures
        if m is None or self.on_feet:
            return ""
        if m.is_mounted:
            return "Its root is mounted: no feet carry it, and there is no support polygon."
        return "It has no mass, so nothing has to carry it." if not m.body.mass > 0 else "It has no feet to stand on."

    @cached_property
    def foot_patches(self) -> tuple[Floats, ...]:
        """For each foot the corners (T, M, 3) [m] of what touches the ground; NaN beyond their number, and where it does not stand."""
        from bodymotion.dynamics import support_polygons

        m = self.measures
        if m is None:
            return ()
        found = []
        for k in range(len(m.contacts.links)):
            alone = np.zeros_like(m.contacts.standing)
            alone[:, k] = m.contacts.standing[:, k]
            polygons = support_polygons(replace(m.contacts, standing=alone), m.feet, m.link_poses, m.ground)
            found.append(self._on_ground(polygons.corners))
        return tuple(found)

    @cached_property
    def support(self) -> Floats | None:
        """(T, M, 3) [m] the corners of the support polygon, counter-clockwise from above; NaN beyond their number."""
        return None if self.measures is None else self._on_ground(self.measures.support_polygons.corners)

    @cached_property
    def touching(self) -> Floats | None:
        """(T, K, 3) [m] the place of each foot that touches the ground, or would first."""
        return None if self.measures is None else self.placed(self.measures.contacts.points)

    def placed(self, points: Floats) -> Floats:
        """Take points (T, ..., 3) of the measures to where they are as it is shown."""
        m = self.measures
        assert m is not None
        if m.root_poses.shape == self.roots.shape and np.array_equal(m.root_poses, self.roots):
            return frozen(points)
        between = poses.compose(self.roots, poses.inverse(m.root_poses))
        return frozen(poses.transform_points(between.reshape(len(between), *(1,) * (points.ndim - 2), 7), points))

    def _on_ground(self, corners: Floats) -> Floats:
        """Put corners (T, M, 2) on the ground."""
        m = self.measures
        assert m is not None
        ground = np.broadcast_to(m.ground[:, None, None], (*corners.shape[:2], 1))
        placed = np.array(self.placed(np.concatenate([corners, ground], axis=-1)))
        if not self.take.has_root:
            # A root that is shown upright may lean as it is measured: the ground stays level.
            placed[..., 2] = 0.0
        return frozen(placed)

    def series(self, name: str) -> Series:
        """Return a quantity by its name in `bodymotion.dynamics.QUANTITIES`, with degrees for radians; KeyError where there is none."""
        if name not in self._series:
            from bodymotion.dynamics import series

            if self.measures is None:
                raise KeyError(self.why_not)
            with np.errstate(all="ignore"):
                self._series[name] = series(self.measures, name).in_degrees()
        return self._series[name]

    def has(self, name: str) -> bool:
        """Whether a quantity is worked out already."""
        return name in self._series


def look_into(
    take: Take, stands: bool, wanted: Iterable[str] = (), goes_on: Callable[[], bool] = lambda: True
) -> Insight | None:
    """Work out what is known of a take, which is lifted to the ground when it `stands`; None when it is not to go on any more.

    `wanted` are quantities that are worked out at once. Frames that hold the last one for a second motion are not looked at.
    """
    # Numbers that are too large are no fault of what is shown: what comes of them is not finite, and not drawn.
    with np.errstate(all="ignore"):
        return _looked_into(_without_held(take), stands, wanted, goes_on)


def _looked_into(take: Take, stands: bool, wanted: Iterable[str], goes_on: Callable[[], bool]) -> Insight | None:
    link_poses = take.link_poses
    center = np.zeros((take.num_frames, 3))
    roots = np.array(link_poses[:, 0])
    for first in range(0, take.num_frames, AT_ONCE):
        if not goes_on():
            return None
        some = slice(first, first + AT_ONCE)
        lift = take.lift(link_poses[some]) if stands else 0.0
        roots[some, 2] += lift
        center[some] = take.body.center_of_mass(link_poses[some])
        center[some, 2] += lift
    zmp = None if take.zmp is None else take.zmp
    if zmp is not None and take.zmp_in_root:
        zmp = poses.transform_points(roots, zmp)
    insight = Insight(take, stands, frozen(roots), frozen(center), zmp)
    why_not = _why_not(take)
    if why_not:
        return replace(insight, why_not=why_not)
    try:
        measures = _measured(take)
        found = replace(insight, measures=measures)
        if found.on_feet:
            # What overlays ask for with each frame is worked out here, where nobody waits.
            for work in (lambda: found.support, lambda: found.foot_patches, lambda: found.touching, lambda: found.zmp):
                if not goes_on():
                    return None
                work()
    except (ValueError, MemoryError, ArithmeticError) as error:
        return replace(insight, why_not=str(error))
    for name in wanted:
        if not goes_on():
            return None
        with suppress(KeyError):
            found.series(name)
    return found


def _without_held(take: Take) -> Take:
    own = take.own_frames
    if not own:
        return take
    whole = take.timeline
    rate = whole.frame_rate
    timeline = (
        Timeline.uniform(own, rate)
        if whole.stamps is None and rate is not None
        else Timeline.stamped(whole.times[:own], whole.import_rate)
    )
    zmp = None if take.zmp is None else take.zmp[:own]
    return replace(
        take, timeline=timeline, link_poses=take.link_poses[:own], q=take.q[:own], zmp=zmp, own_frames=0, second=None
    )


def _why_not(take: Take) -> str:
    if take.motion is None or take.num_frames < 2:
        return "there is no motion"
    if take.motion_alone:
        return "there is a motion only, and no body"
    if take.num_frames < 3:
        return "the motion has two frames only"
    return ""


def _measured(take: Take) -> Measures:
    from bodymotion.dynamics import measure
    from bodymotion.dynamics.rules import ON_FEET

    joints = MultiValueSeq(content=JOINT_DISPLACEMENT, timeline=take.timeline, values=take.q)
    root = MultiSE3Seq(content=LINK_POSITION, timeline=take.timeline, values=take.link_poses[:, :1])
    given = [take.motion.zmp] if take.motion is not None and take.motion.zmp is not None else []
    if not take.has_root and not take.body.is_mounted:
        found = measure(take.body, Motion((joints, *given)))
        if any(problem.rule == ON_FEET.code for problem in found.problems):
            return found
    return measure(take.body, Motion((joints, root, *given)))
