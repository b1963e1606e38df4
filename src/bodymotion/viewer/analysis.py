"""The analysis of a whole scene.

Centre of mass, zero moment points, feet, support polygon, and all quantities of
`bodymotion.dynamics`.

It is computed for what is shown: the joint values and root poses of the scene, with
loops closed where that is switched on. A motion without root poses is measured as it
walks on its feet; the positions are then moved to the root as it is shown.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.kernels.compiling import compile_in_background
from bodymotion.motion import (
    JOINT_DISPLACEMENT,
    LINK_POSITION,
    Motion,
    MultiSE3Seq,
    MultiValueSeq,
)
from bodymotion.scene.playback import approximate_frames
from bodymotion.scene.scene import Scene

if TYPE_CHECKING:
    from bodymotion.checks.findings import Moment
    from bodymotion.checks.physics.collisions import Collisions
    from bodymotion.dynamics import Measures, Series

# Number of frames whose extent is computed together. The points of all frames would
# need too much memory.
FRAMES_PER_BATCH = 256


@dataclass(frozen=True, eq=False)
class MotionAnalysis:
    """The analysis of the T frames of a scene, in the world as it is shown.

    `scene`, `on_ground`: the scene, and whether it was moved to the ground. `roots`:
    (T, 7) poses of the root. `center_of_mass`: (T, 3) [m]. `recorded_zmp`: (T, 3) [m];
    None where the motion has none. `measures`: what `bodymotion.dynamics.measure`
    returns; None where nothing can be measured for the reason `failure`. `moments`: the
    times at which the motion breaks rules on its body.
    """

    scene: Scene
    on_ground: bool
    roots: Floats
    center_of_mass: Floats
    recorded_zmp: Floats | None
    measures: Measures | None = None
    failure: str = ""
    moments: tuple[Moment, ...] = ()
    _series: dict[str, Series] = field(default_factory=dict, repr=False)

    @cached_property
    def zmp(self) -> Floats | None:
        """(T, 3) [m] the computed zero moment point, NaN in flight.

        None for a body that is not on feet.
        """
        if self.measures is not None and self.on_feet:
            return self.placed(self.measures.zmp)
        return None

    @cached_property
    def on_feet(self) -> bool:
        """Whether the body has mass and feet, and is not mounted."""
        m = self.measures
        return (
            m is not None
            and not m.is_mounted
            and m.body.mass > 0
            and bool(m.feet.links)
        )

    @property
    def no_feet_reason(self) -> str:
        """Why there is no support polygon; empty where there is one."""
        m = self.measures
        if m is None or self.on_feet:
            return ""
        if m.is_mounted:
            return (
                "The root is mounted: there are no foot contacts and no support "
                "polygon."
            )
        if not m.body.mass > 0:
            reason = "The body has no mass"
        else:
            reason = "The body has no feet"
        return f"{reason}: there is no support polygon."

    @cached_property
    def foot_patches(self) -> tuple[Floats, ...]:
        """For each foot the corners (T, M, 3) [m] of its contact with the ground.

        NaN for unused corners and without contact.
        """
        from bodymotion.dynamics import support_polygons

        m = self.measures
        if m is None:
            return ()
        found = []
        for k in range(len(m.contacts.links)):
            alone = np.zeros_like(m.contacts.in_contact)
            alone[:, k] = m.contacts.in_contact[:, k]
            polygons = support_polygons(
                replace(m.contacts, in_contact=alone), m.feet, m.link_poses, m.ground
            )
            found.append(self._on_ground(polygons.corners))
        return tuple(found)

    @cached_property
    def support(self) -> Floats | None:
        """The corners (T, M, 3) [m] of the support polygon.

        They are counter-clockwise from above, NaN for unused corners.
        """
        if self.measures is None:
            return None
        return self._on_ground(self.measures.support_polygons.corners)

    @cached_property
    def contact_points(self) -> Floats | None:
        """The lowest point (T, K, 3) [m] of each foot.

        It touches the ground, or would touch it first.
        """
        if self.measures is None:
            return None
        return self.placed(self.measures.contacts.points)

    @cached_property
    def collisions(self) -> Collisions | None:
        """Where links are inside of each other or below level ground.

        None where it cannot be found.
        """
        from bodymotion.checks.physics.collisions import find_collisions
        from bodymotion.checks.physics.ground import find_ground

        body = self.scene.body
        q = self.scene.q
        if body.is_mounted:
            ground = None
        else:
            ground = find_ground(body, q, self.roots, self.scene.timeline.times)
        with suppress(ImportError, ValueError):
            return find_collisions(
                body,
                q,
                self.roots,
                ground.height if ground is not None and ground.level else None,
            )
        return None

    def placed(self, points: Floats) -> Floats:
        """Transform points (T, ..., 3) of the measures to the world as it is shown."""
        m = self.measures
        assert m is not None
        if m.root_poses.shape == self.roots.shape and np.array_equal(
            m.root_poses, self.roots
        ):
            return frozen(points)
        between = poses.compose(self.roots, poses.inverse(m.root_poses))
        return frozen(
            poses.transform_points(
                between.reshape(len(between), *(1,) * (points.ndim - 2), 7), points
            )
        )

    def _on_ground(self, corners: Floats) -> Floats:
        """Return corners (T, M, 2) as points (T, M, 3) on the ground."""
        m = self.measures
        assert m is not None
        ground = np.broadcast_to(m.ground[:, None, None], (*corners.shape[:2], 1))
        placed = np.array(self.placed(np.concatenate([corners, ground], axis=-1)))
        if not self.scene.has_root:
            # A root that is shown upright may be measured inclined: the ground stays
            # level.
            placed[..., 2] = 0.0
        return frozen(placed)

    def series(self, name: str) -> Series:
        """Return a quantity by its name.

        The names are those of `bodymotion.dynamics.QUANTITIES`; angles are in degrees.

        KeyError where there is none.
        """
        if name not in self._series:
            from bodymotion.dynamics import series

            if self.measures is None:
                raise KeyError(self.failure)
            with np.errstate(all="ignore"):
                self._series[name] = series(self.measures, name).in_degrees()
        return self._series[name]

    def has(self, name: str) -> bool:
        """Return whether a quantity is computed already."""
        return name in self._series


# Numbers that are too large are reported elsewhere: results that are not finite are not
# drawn.
@np.errstate(all="ignore")
def analyze(
    scene: Scene,
    on_ground: bool,
    keep_going: Callable[[], bool] = lambda: True,
    *,
    overlays: bool = True,
    measures: Measures | None = None,
) -> MotionAnalysis | None:
    """Analyze a scene, moved to the ground with `on_ground`.

    Return None when `keep_going` returns False.

    With `overlays`, what these need is computed, too. Frames that hold the last one for
    a longer second motion are left out. `measures` are those of the motion where they
    are known.
    """
    scene = _without_held_frames(scene)
    center = np.zeros((scene.num_frames, 3))
    roots = np.array(scene.link_poses[:, 0])
    for first in range(0, scene.num_frames, FRAMES_PER_BATCH):
        if not keep_going():
            return None
        frames = slice(first, first + FRAMES_PER_BATCH)
        link_poses = scene.link_poses[frames]
        offset = scene.ground_offset(link_poses) if on_ground else 0.0
        roots[frames, 2] += offset
        center[frames] = scene.body.center_of_mass(link_poses)
        center[frames, 2] += offset
    zmp = scene.zmp
    if zmp is not None and scene.zmp_in_root:
        zmp = poses.transform_points(roots, zmp)
    failure = scene.reason_not_to_measure
    analysis = MotionAnalysis(
        scene, on_ground, frozen(roots), frozen(center), zmp, failure=failure
    )
    if failure:
        return analysis
    try:
        known = measures is not None and len(measures.times) == scene.num_frames
        found = replace(
            analysis,
            measures=measures if known else _measure(scene),
            moments=_moments(scene),
        )
        if overlays and found.on_feet:
            # What overlays need for each frame is computed here, in the background.
            for name in ("support", "foot_patches", "contact_points", "zmp"):
                if not keep_going():
                    return None
                getattr(found, name)
    except (ValueError, MemoryError, ArithmeticError) as error:
        return replace(analysis, failure=str(error))
    return found


def _without_held_frames(scene: Scene) -> Scene:
    own = scene.own_frames
    whole = scene.timeline
    if not own:
        return scene
    timeline = whole.part(slice(own))
    if scene.zmp is None:
        zmp = None
    else:
        zmp = scene.zmp[:own]
    link_poses = scene.link_poses[:own]
    q = scene.q[:own]
    return replace(
        scene,
        timeline=timeline,
        link_poses=link_poses,
        q=q,
        zmp=zmp,
        own_frames=0,
        compared=None,
    )


def _moments(scene: Scene) -> tuple[Moment, ...]:
    """Return when the motion breaks rules.

    Those of a script are at its keyframes.

    Nothing is reported while a move is played that is only approximated.
    """
    from bodymotion.checks.motions import moments

    if scene.motion is None or scene.playback is not None:
        return ()
    with suppress(ValueError):
        found = moments(scene.motion, scene.body)
        times = np.array([moment.time for moment in found])
        skipped = approximate_frames(scene.motion, times)
        return tuple(
            moment for moment, skip in zip(found, skipped, strict=True) if not skip
        )
    return ()


def _measure(scene: Scene) -> Measures:
    from bodymotion.dynamics import measure
    from bodymotion.dynamics.measures import ON_FEET

    joints = MultiValueSeq(
        content=JOINT_DISPLACEMENT, timeline=scene.timeline, values=scene.q
    )
    root = MultiSE3Seq(
        content=LINK_POSITION, timeline=scene.timeline, values=scene.link_poses[:, :1]
    )
    if scene.motion is not None and scene.motion.zmp is not None:
        zmp = [scene.motion.zmp]
    else:
        zmp = []
    if not scene.has_root and not scene.body.is_mounted:
        found = measure(scene.body, Motion((joints, *zmp)))
        if any(problem.rule == ON_FEET.code for problem in found.problems):
            return found
    return measure(scene.body, Motion((joints, root, *zmp)))


class BackgroundAnalysis:
    """Analyze the shown scene in the background.

    The analysis starts as soon as an overlay or plot needs it.

    `post` runs work in the viewer's thread, in which all methods are called; so is
    `done`, with the result.
    """

    def __init__(
        self,
        post: Callable[[Callable[[], object]], None],
        done: Callable[[MotionAnalysis], None],
    ) -> None:
        self._post = post
        self._done = done
        self._job: tuple[Scene | None, bool, frozenset[str]] = (
            None,
            False,
            frozenset(),
        )
        self._analysis: MotionAnalysis | None = None
        self._running = False
        self._failure = ""

    def describe(self) -> str:
        """Return that an analysis is under way, or why there is none."""
        if self._running:
            return "measuring …"
        failure = self._failure or (self._analysis.failure if self._analysis else "")
        if failure:
            return f"Cannot be measured: {failure}."
        return ""

    def known(self, scene: Scene, on_ground: bool) -> MotionAnalysis | None:
        """Return the analysis of a scene, moved to the ground or not.

        None when there is none yet.
        """
        found, (of, ground, _) = self._analysis, self._job
        if of is scene and ground == on_ground:
            return found
        return None

    def request(
        self, scene: Scene, on_ground: bool, quantities: frozenset[str] = frozenset()
    ) -> None:
        """Start the analysis of a scene with some quantities.

        Nothing happens when it is done or under way.
        """
        of, ground, computed = self._job
        is_same = of is scene and ground == on_ground
        if is_same and quantities <= computed:
            return
        known = self._analysis if is_same else None
        job = self._job = (
            scene,
            on_ground,
            quantities | computed if is_same else quantities,
        )
        self._analysis = known
        self._running = True
        self._failure = ""
        compile_in_background(lambda: self._work(job, known))

    def forget(self) -> None:
        """Cancel what is under way and drop the result."""
        self._job = (None, False, frozenset())
        self._analysis = None
        self._running = False
        self._failure = ""

    def _work(
        self, job: tuple[Scene, bool, frozenset[str]], known: MotionAnalysis | None
    ) -> None:
        scene, on_ground, quantities = job
        found = known
        failure = ""
        try:
            found = known or analyze(scene, on_ground, lambda: job is self._job)
            for name in quantities if found is not None else ():
                with suppress(
                    KeyError, ValueError, MemoryError
                ):  # a quantity that there is not
                    found.series(name)  # type: ignore[union-attr]
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            failure = str(error) or type(error).__name__
        self._post(lambda: self._finish(job, found, failure))

    def _finish(self, job: object, found: MotionAnalysis | None, failure: str) -> None:
        if job is self._job:
            self._analysis = found
            self._running = False
            self._failure = failure
            if found is not None:
                self._done(found)
