"""A scene as nodes of a viser server: the links as a tree of frames with their shapes.

Links are children of their parents, and a pose is only sent where it changed: for a link on a rotating joint that is one small message.
Everything is below `/world`. To follow the root, the world is moved and not the camera, which the user controls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics.text import node_name
from bodymotion.formats.meshes.glb import to_glb
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.shapes import Material, Shape
from bodymotion.scene.scene import Scene
from bodymotion.scene.second_motion import Differences

if TYPE_CHECKING:
    import viser
    import viser.infra

OnClick: TypeAlias = Callable[[int], None] | None  # Called with the index of a link whose shapes are clicked.
ROBOT = "/world/robot"
COLLISION = Material(diffuse=(1.0, 0.45, 0.1), transparency=0.55)
SELECTED = Material(diffuse=(0.1, 0.5, 1.0), transparency=0.45)
GHOST = Material(diffuse=(0.2, 0.5, 0.95), transparency=0.62)
_MESSAGES = {"position": "SetPositionMessage", "wxyz": "SetOrientationMessage"}
"""The types of viser's messages that set a part of a pose."""
MIN_POSE_CHANGE = 1e-6  # [m, or of a quaternion's elements] Smaller changes since the last message are not sent.
SECOND_ROBOT_WIDTHS, SECOND_ROBOT_SIZES = 1.35, 0.45
"""Distance to the second robot: the first one's width times the one, and at least its size times the other."""


class RobotNodes:
    """The nodes of one robot on a server.

    `bounds`, `size`: the box (2, 3) around the first frame, and the length [m] of its diagonal. `names`, `links`: the names of the links'
    nodes, and the nodes. `recording`: that to which poses are added, where there is no
    browser to send them to.
    """

    def __init__(
        self,
        server: viser.ViserServer,
        scene: Scene,
        first: Floats,
        *,
        root: str = ROBOT,
        material: Material | None = None,
        offset: npt.ArrayLike = (0.0, 0.0, 0.0),
        on_click: OnClick = None,
    ) -> None:
        """Add the nodes below the node `root` at `offset` (3,) [m], with links at poses `first` (L, 7); `material` replaces all others."""
        self.server = server
        self.scene = scene
        body = scene.body
        self.bounds = _bounds(scene, first)
        self.size = float(np.clip(np.linalg.norm(self.bounds[1] - self.bounds[0]), 0.02, 1e3))
        self._parents = np.array([link.parent for link in body.links])
        self.names: list[str] = []
        self.links: list[viser.FrameHandle] = []
        self.recording: viser.infra.StateSerializer | None = None
        self._shapes: dict[str, tuple[tuple[Shape, ...], viser.GlbHandle | None]] = {}
        """By the name of a node, the shapes that it shows, and the node; None where nothing is visible."""
        self._moved: dict[str, Floats] = {}
        self._selected: tuple[int, viser.GlbHandle | None] | None = None
        self._frames_shown, self._visuals_shown, self._collisions_shown = False, True, False
        self._root, self._material, self._on_click = root, material, on_click
        api = server.scene
        if root == ROBOT:
            self._world: viser.FrameHandle = api.add_frame("/world", show_axes=False)
        api.add_frame(root, show_axes=False, position=np.asarray(offset, dtype=np.float64))
        for link in body.links:
            parent = self.names[link.parent] if link.parent >= 0 else root
            name = f"{parent}/{node_name(link.index, link.name)}"
            self.names.append(name)
            length, radius = 0.08 * self.size, 0.0025 * self.size
            self.links.append(api.add_frame(name, show_axes=False, axes_length=length, axes_radius=radius))
        self.draw(scene)
        self._sent = np.full((len(body.links), 7), np.nan)
        self.place(first)

    def draw(self, scene: Scene) -> None:
        """Show the shapes of a scene with the same links; only those that are new are sent."""
        self.scene = scene
        if self._root == ROBOT:
            self._draw(f"{self._root}/environment", scene.body.environment, None, True)
        self.show_visuals(self._visuals_shown)
        self.show_collisions(self._collisions_shown)

    def _draw(
        self, name: str, shapes: tuple[Shape, ...], material: Material | None, on: bool, link: int | None = None
    ) -> None:
        """Let a node show shapes, those of a `link` that can be clicked, or hide it."""
        drawn, node = self._shapes.get(name, ((), None))
        if shapes != drawn:
            if node is not None:
                node.remove()
            data, opaque = to_glb(shapes, material), material is None or not material.transparency
            node = self.server.scene.add_glb(name, data, cast_shadow=opaque, receive_shadow=opaque) if data else None
            if node is not None and link is not None and (click := self._on_click) is not None:
                node.on_click(lambda _event: click(link))
            self._shapes[name] = shapes, node
        if node is not None:
            node.visible = on

    def place(self, link_poses: Floats) -> int:
        """Move the links to poses (L, 7) in the world; return the number of messages."""
        local = np.array(link_poses)
        if len(local) > 1:
            local[1:] = poses.compose(poses.inverse(link_poses[self._parents[1:]]), link_poses[1:])
        with np.errstate(invalid="ignore"):
            moved = ~(np.abs(local[:, :3] - self._sent[:, :3]).max(axis=1) <= MIN_POSE_CHANGE)
            rotated = ~(np.abs(local[:, 3:] - self._sent[:, 3:]).max(axis=1) <= MIN_POSE_CHANGE)
        for name, changed, part in (("position", moved, slice(3)), ("wxyz", rotated, slice(3, 7))):
            for i in np.flatnonzero(changed):
                self._set(self.links[i], name, local[i, part])
            self._sent[changed, part] = local[changed, part]
        return int(moved.sum() + rotated.sum())

    def move(self, node: viser.SceneNodeHandle, position: Floats) -> None:
        """Move a node to a position (3,) below its parent."""
        if self.recording is None or not np.array_equal(self._moved.get(node.name, ()), position):
            self._moved[node.name] = position
            self._set(node, "position", position)

    def _set(self, node: viser.SceneNodeHandle, name: str, value: Floats) -> None:
        """Set a part of the pose of a node: by its handle, or, ten times as fast, by the message that this would add to a recording."""
        if self.recording is None:
            setattr(node, name, value)
            return
        message = {"name": node.name, name: tuple(value.tolist()), "owner": "", "type": _MESSAGES[name]}
        self.recording._messages.append((self.recording._time, message))

    def follow(self, offset: Floats) -> None:
        """Move the world so that its point `offset` (3,) is at the origin."""
        self.move(self._world, -offset)

    def show_frames(self, on: bool) -> None:
        """Show or hide the axes of the link frames."""
        self._frames_shown = on
        for index, handle in enumerate(self.links):
            handle.show_axes = on or (self._selected is not None and self._selected[0] == index)

    def select(self, index: int | None) -> None:
        """Highlight a link by its axes and a blue copy of its shapes; with None no link."""
        if self._selected is not None:
            before, copy = self._selected
            self.links[before].show_axes = self._frames_shown
            if copy is not None:
                copy.remove()
        self._selected = None
        if index is None:
            return
        self.links[index].show_axes = True
        data, name = to_glb(self.scene.shapes[index], SELECTED), f"{self.names[index]}/selected"
        copy = (
            self.server.scene.add_glb(name, data, scale=1.01, cast_shadow=False, receive_shadow=False) if data else None
        )
        self._selected = (index, copy)

    def show_visuals(self, on: bool) -> None:
        """Show or hide the visual shapes."""
        self._visuals_shown = on
        for index, (shapes, name) in enumerate(zip(self.scene.shapes, self.names, strict=True)):
            self._draw(f"{name}/shapes", shapes, self._material, on, index)

    def show_collisions(self, on: bool) -> None:
        """Show or hide the collision shapes, see-through; they are sent when first shown."""
        self._collisions_shown = on
        for link, name in zip(self.scene.body.links, self.names, strict=True):
            if on or f"{name}/collision" in self._shapes:
                self._draw(f"{name}/collision", link.collisions, COLLISION, on)

    def remove(self) -> None:
        """Remove the robot and its environment."""
        self.server.scene.remove_by_name(self._root)


def _bounds(scene: Scene, link_poses: Floats) -> Floats:
    bounds = scene.extent.bounds(link_poses)
    if bounds is not None:
        return bounds
    frames = np.linspace(0, scene.num_frames - 1, min(scene.num_frames, 500)).astype(int)
    origins = np.concatenate([link_poses[:, :3], scene.link_poses[frames, :, :3].reshape(-1, 3)])
    low, high = origins.min(axis=0), origins.max(axis=0)
    margin = 0.1 + 0.1 * (high - low)
    return np.stack([low - margin, high + margin])


class SecondRobotNodes:
    """The robot of a second motion: beside the first one, or see-through at its position."""

    def __init__(self, server: viser.ViserServer, first: RobotNodes, scene: Scene, is_ghost: bool, stand: bool) -> None:
        self.scene = scene
        self.differences = Differences(first.scene, scene)
        self._offset = np.zeros(3)
        if not is_ghost:
            width = float(first.bounds[1, 1] - first.bounds[0, 1])
            self._offset[1] = -max(SECOND_ROBOT_WIDTHS * width, SECOND_ROBOT_SIZES * first.size)
        self.nodes = RobotNodes(
            server,
            scene,
            self._poses_at(0, stand),
            root="/world/second robot",
            material=GHOST if is_ghost else None,
            offset=self._offset,
        )

    def _poses_at(self, frame: int, stand: bool) -> Floats:
        link_poses = np.array(self.scene.link_poses[frame])
        if stand and not self.scene.has_root:
            link_poses[:, 2] += self.scene.ground_offset(link_poses)
        return link_poses

    def place(self, time: float, stand: bool) -> None:
        """Show it at a time [s]; with `stand` a motion without root poses is put on the ground."""
        self.nodes.place(self._poses_at(int(self.scene.timeline.frames_at(time)), stand))

    def bounds_with(self, bounds: Floats) -> Floats:
        """Return the box (2, 3) around the first robot, extended by the second one beside it."""
        return np.stack(
            [np.minimum(bounds[0], bounds[0] + self._offset), np.maximum(bounds[1], bounds[1] + self._offset)]
        )

    def remove(self) -> None:
        """Remove the robot."""
        self.nodes.remove()
