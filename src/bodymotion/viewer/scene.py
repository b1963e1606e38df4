"""A take as nodes of a viser scene: the links as a tree of frames with their shapes, on a ground.

Links hang below their parents, and a pose is only sent where it has changed: of a link on a rotating joint that is one small message.
All of it hangs below `/world`; to follow the root, the world is moved and not the camera, which stays in the hand of the viewer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bodymotion.formats.meshes.glb import to_glb
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.shapes import Material
from bodymotion.viewer.take import Take
from bodymotion.viewer.text import node_name

if TYPE_CHECKING:
    import viser

__all__ = ["Scene"]

ROBOT = "/world/robot"
COLLISION = Material(diffuse=(1.0, 0.45, 0.1), transparency=0.55)
SMALLEST_CHANGE = 1e-6
"""[m, or of a quaternion's elements] Smaller changes since the last message are not sent."""


class Scene:
    """The nodes of one take on a server; `size` [m] is the extent of what is shown, `bounds` (2, 3) the box around it at first.

    `root` is the node that all of it hangs on, `at` (3,) [m] where that stands. With a `paint` all shapes have that look.
    """

    def __init__(
        self,
        server: viser.ViserServer,
        take: Take,
        first: Floats,
        *,
        root: str = ROBOT,
        paint: Material | None = None,
        at: npt.ArrayLike = (0.0, 0.0, 0.0),
    ) -> None:
        self.server = server
        self.take = take
        body = take.body
        self.bounds = _bounds(take, first)
        self.size = float(np.clip(np.linalg.norm(self.bounds[1] - self.bounds[0]), 0.02, 1e3))
        self.parents = np.array([link.parent for link in body.links])
        self.names: list[str] = []
        self.links: list[viser.FrameHandle] = []
        self._visuals: list[viser.GlbHandle] = []
        self._collisions: list[viser.GlbHandle] | None = None
        self._root = root
        if root == ROBOT:
            self.world: viser.FrameHandle = server.scene.add_frame("/world", show_axes=False)
        server.scene.add_frame(root, show_axes=False, position=np.asarray(at, dtype=np.float64))
        for link in body.links:
            parent = self.names[link.parent] if link.parent >= 0 else root
            name = f"{parent}/{node_name(link.index, link.name)}"
            self.names.append(name)
            self.links.append(
                server.scene.add_frame(
                    name, show_axes=False, axes_length=0.08 * self.size, axes_radius=0.0025 * self.size
                )
            )
            data = to_glb(link.visuals, paint)
            if data is not None:
                solid = paint is None or not paint.transparency
                self._visuals.append(
                    server.scene.add_glb(f"{name}/shapes", data, cast_shadow=solid, receive_shadow=solid)
                )
        self._sent = np.full((len(body.links), 7), np.nan)
        self.place(first)

    def place(self, link_poses: Floats) -> int:
        """Put the links at poses (L, 7) in the world; give how many messages that took."""
        local = np.array(link_poses)
        if len(local) > 1:
            local[1:] = poses.compose(poses.inverse(link_poses[self.parents[1:]]), link_poses[1:])
        with np.errstate(invalid="ignore"):
            moved = ~(np.abs(local[:, :3] - self._sent[:, :3]).max(axis=1) <= SMALLEST_CHANGE)
            turned = ~(np.abs(local[:, 3:] - self._sent[:, 3:]).max(axis=1) <= SMALLEST_CHANGE)
        for i in np.flatnonzero(moved):
            self.links[i].position = local[i, :3]
            self._sent[i, :3] = local[i, :3]
        for i in np.flatnonzero(turned):
            self.links[i].wxyz = local[i, 3:]
            self._sent[i, 3:] = local[i, 3:]
        return int(moved.sum() + turned.sum())

    def follow(self, offset: Floats) -> None:
        """Move the world so that the point `offset` (3,) of it stands at the origin."""
        self.world.position = -offset

    def show_frames(self, on: bool) -> None:
        """Show or hide the axes of the links' frames."""
        for handle in self.links:
            handle.show_axes = on

    def show_visuals(self, on: bool) -> None:
        """Show or hide what the links look like."""
        for handle in self._visuals:
            handle.visible = on

    def show_collisions(self, on: bool) -> None:
        """Show or hide the shapes that touch other things, see-through; they are sent when first asked for."""
        if self._collisions is None:
            if not on:
                return
            self._collisions = []
            for link, name in zip(self.take.body.links, self.names, strict=True):
                data = to_glb(link.collisions, COLLISION)
                if data is not None:
                    self._collisions.append(
                        self.server.scene.add_glb(f"{name}/collision", data, cast_shadow=False, receive_shadow=False)
                    )
        for handle in self._collisions:
            handle.visible = on

    def remove(self) -> None:
        """Take the robot out of the scene."""
        self.server.scene.remove_by_name(self._root)


def _bounds(take: Take, link_poses: Floats) -> Floats:
    box = take.footprint.bounds(link_poses)
    if box is not None:
        return box
    some = np.linspace(0, take.num_frames - 1, min(take.num_frames, 500)).astype(int)
    origins = np.concatenate([link_poses[:, :3], take.link_poses[some, :, :3].reshape(-1, 3)])
    low, high = origins.min(axis=0), origins.max(axis=0)
    room = 0.1 + 0.1 * (high - low)
    return np.stack([low - room, high + room])
