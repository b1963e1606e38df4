"""Closed loops in the viewer: what follows a joint that someone moves, a motion with its loops closed, how far they are from closing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.kernels.background import compile_in_background
from bodymotion.model.body import Body
from bodymotion.model.closed_loops import Closed, Loops, loop_errors
from bodymotion.viewer.take import Take
from bodymotion.viewer.text import fixed

__all__ = ["TakeLoops"]

OPEN = 1e-6
"""A loop that is open by more than this [m, rad] is called open."""
MOST_NAMES = 3


class TakeLoops:
    """The closed loops of what is shown; a body without loops has none and nothing changes.

    `posed` is what the last pose set by hand came to, None while nothing is.
    """

    def __init__(self, take: Take) -> None:
        self.take = take
        self.posed: Closed | None = None
        self._loops: Loops | None = None
        self._closed: tuple[Take, Closed] | None = None

    @property
    def there(self) -> bool:
        """Whether there are any."""
        return bool(self.take.body.extra_joints)

    def prepare(self) -> None:
        """Have the kernels compiled in the background: nobody shall wait for that with a slider in hand."""
        if self.there:
            body = self.take.body
            compile_in_background(lambda: Loops(body).driving())

    @property
    def loops(self) -> Loops:
        """The body's loops."""
        if self._loops is None:
            self._loops = Loops(self.take.body)
        return self._loops

    def pose(self, q: Floats, target: Floats, moved: int | None = None) -> Floats:
        """Return joint values (J,) near the target that close the loops, reached from q; the joint `moved` is where the target has it."""
        first = () if moved is None or moved not in self.loops.columns else (moved,)
        apart, tilted = loop_errors(self.take.body, self.take.body.forward_kinematics(q))
        # A loop that is open has no branch to stay on: the nearest closed pose is taken.
        start = q if max(apart.max(), tilted.max()) <= OPEN else None
        self.posed = self.loops.close(target, driving=self.loops.driving(first, q=q), start=start)
        return np.array(self.posed.q)

    @property
    def closed_take(self) -> Take:
        """The take with its loops closed over the whole motion: what follows is worked out anew, the root stays where it is."""
        return self._closed_motion()[0]

    def _closed_motion(self) -> tuple[Take, Closed]:
        if self._closed is None:
            take = self.take
            closed = self.loops.close(take.q)
            found = np.where(np.isfinite(closed.q), closed.q, take.q)
            poses = frozen(take.body.forward_kinematics(found, take.link_poses[:, 0]))
            self._closed = replace(take, q=frozen(found), link_poses=poses), closed
        return self._closed

    def note(self, link_poses: Floats, frame: int | None) -> str:
        """Say whether the loops of link poses (L, 7) are closed, and whether they are at a singular pose.

        `frame`: of the motion with its loops closed; None for poses as the file has them, or set by hand.
        """
        body = self.take.body
        apart, tilted = loop_errors(body, link_poses)
        text = _in_words(body, apart, tilted)
        singular = self.posed is not None and bool(self.posed.singular)
        if frame is not None:
            singular = bool(self._closed_motion()[1].singular[frame])
        if singular:
            text += " Singular here: the joints that drive do not say which way the others go."
        return text


def _in_words(body: Body, apart: Floats, tilted: Floats) -> str:
    wrong = np.flatnonzero((apart > OPEN) | (tilted > OPEN))
    if not len(wrong):
        return "The loop is closed." if len(body.extra_joints) == 1 else "All loops are closed."
    parts = []
    for k in wrong[:MOST_NAMES]:
        joint = body.extra_joints[k]
        name = joint.name or " – ".join(body.links[index].name or f"link {index}" for index in joint.links)
        far = [f"{fixed(1e3 * apart[k], 3 if apart[k] < 1e-3 else 1)} mm"] if apart[k] > OPEN else []
        far += [f"{fixed(np.rad2deg(tilted[k]), 2)}°"] if tilted[k] > OPEN else []
        parts.append(f"{name} is open by {' and '.join(far)}")
    more = f", and {len(wrong) - MOST_NAMES} more" if len(wrong) > MOST_NAMES else ""
    return f"{'; '.join(parts)}{more}."
