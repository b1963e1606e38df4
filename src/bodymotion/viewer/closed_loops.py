"""Closed loops in the viewer: joints that follow a joint set by hand, a motion with its loops closed, and how far loops are open."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bodymotion.diagnostics.text import fixed
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.kernels.compiling import compile_in_background
from bodymotion.model.body import Body
from bodymotion.model.closed_loops import Closed, Loops, loop_errors
from bodymotion.scene.scene import Scene

CLOSURE_TOLERANCE = 1e-6
"""[m, rad] A loop that is open by more is reported as open."""
MAX_LISTED_LOOPS = 3


class ClosedLoops:
    """The closed loops of a scene. `manual_result` is the result of the last pose set by hand, None while there is none."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.manual_result: Closed | None = None
        self._loops: Loops | None = None
        self._closed: tuple[Scene, Closed] | None = None

    @property
    def exist(self) -> bool:
        """Whether the body has closed loops."""
        return bool(self.scene.body.extra_joints)

    def prepare(self) -> None:
        """Compile the kernels in the background, so that the first slider does not wait for them."""
        if self.exist:
            body = self.scene.body
            compile_in_background(lambda: Loops(body).driving())

    @property
    def loops(self) -> Loops:
        """The loops of the body."""
        if self._loops is None:
            self._loops = Loops(self.scene.body)
        return self._loops

    def pose(self, q: Floats, target: Floats, moved: int | None = None) -> Floats:
        """Return joint values (J,) near `target` (J,) that close the loops, starting from `q` (J,); the joint `moved` keeps its target."""
        first = () if moved is None or moved not in self.loops.columns else (moved,)
        apart, tilted = loop_errors(self.scene.body, self.scene.body.forward_kinematics(q))
        # An open loop is on no branch of solutions: any closed pose near the target will do.
        start = q if max(apart.max(), tilted.max()) <= CLOSURE_TOLERANCE else None
        self.manual_result = self.loops.close(target, driving=self.loops.driving(first, q=q), start=start)
        return np.array(self.manual_result.q)

    @property
    def closed_scene(self) -> Scene:
        """The scene with its loops closed in all frames; root poses stay as they are."""
        return self._close_motion()[0]

    def _close_motion(self) -> tuple[Scene, Closed]:
        if self._closed is None:
            scene = self.scene
            closed = self.loops.close(scene.q)
            q = np.where(np.isfinite(closed.q), closed.q, scene.q)
            link_poses = frozen(scene.body.forward_kinematics(q, scene.link_poses[:, 0]))
            self._closed = replace(scene, q=frozen(q), link_poses=link_poses), closed
        return self._closed

    def describe(self, link_poses: Floats, frame: int | None) -> str:
        """Return whether the loops of link poses (L, 7) are closed, and whether the pose is singular.

        `frame` is that of the motion with its loops closed; None for poses as recorded, or set by hand.
        """
        apart, tilted = loop_errors(self.scene.body, link_poses)
        text = _closure_text(self.scene.body, apart, tilted)
        singular = self.manual_result is not None and bool(self.manual_result.singular)
        if frame is not None:
            singular = bool(self._close_motion()[1].singular[frame])
        if singular:
            text += " This pose is singular: the driving joints do not determine the others."
        return text


def _closure_text(body: Body, apart: Floats, tilted: Floats) -> str:
    is_open = np.flatnonzero((apart > CLOSURE_TOLERANCE) | (tilted > CLOSURE_TOLERANCE))
    if not len(is_open):
        return "The loop is closed." if len(body.extra_joints) == 1 else "All loops are closed."
    parts = []
    for k in is_open[:MAX_LISTED_LOOPS]:
        joint = body.extra_joints[k]
        name = joint.name or " – ".join(body.links[index].name or f"link {index}" for index in joint.links)
        gaps = [f"{fixed(1e3 * apart[k], 3 if apart[k] < 1e-3 else 1)} mm"] if apart[k] > CLOSURE_TOLERANCE else []
        gaps += [f"{fixed(np.rad2deg(tilted[k]), 2)}°"] if tilted[k] > CLOSURE_TOLERANCE else []
        parts.append(f"{name} is open by {' and '.join(gaps)}")
    more = f", and {len(is_open) - MAX_LISTED_LOOPS} more" if len(is_open) > MAX_LISTED_LOOPS else ""
    return f"{'; '.join(parts)}{more}."
