"""What can be shown beside the robot: joint axes, devices, centre of mass, zero moment point, the path of a link.

Each is made when it is first switched on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics.text import shown
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.model.devices import Device, ForceSensor, RangeSensor, VisionSensor
from bodymotion.viewer.outlines import device_outline
from bodymotion.viewer.scene import Scene
from bodymotion.viewer.text import node_name

if TYPE_CHECKING:
    import viser

__all__ = ["Overlays", "frames_of_path", "names_at_places"]

MOST_PATH_POINTS = 1500
MOST_NAMES = 60
ROTATE, SLIDE, CRAWL = (190, 0, 110), (0, 90, 170), (30, 140, 60)
MASS_COLOR, ZMP_COLOR, PATH_COLOR = (230, 160, 0), (220, 30, 30), (120, 60, 220)


class Overlays:
    """The things beside the robot of one scene."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self._api = scene.server.scene
        self._axes: list[viser.SceneNodeHandle] | None = None
        self._devices: list[viser.SceneNodeHandle] | None = None
        self._mass: list[viser.SceneNodeHandle] | None = None
        self._zmp: viser.SceneNodeHandle | None = None
        self._path: viser.SceneNodeHandle | None = None

    def show_axes(self, on: bool) -> None:
        """Show or hide the axes of the joints: an arrow along the axis, its colour says whether it turns, slides or is a belt."""
        if self._axes is None and on:
            moving = [
                link.index
                for link in self.scene.take.body.links
                if link.index and link.joint.type in ("rotate", "slide", "crawler")
            ]
            self._axes = [self._arrow(index) for index in moving]
        _toggle(self._axes, on)

    def _arrow(self, index: int) -> viser.SceneNodeHandle:
        joint, size = self.scene.take.body.links[index].joint, self.scene.size
        axis = joint.axis * (0.07 * size)
        return self._api.add_arrows(
            f"{self.scene.names[index]}/axis",
            np.stack([-0.5 * axis, axis])[None],
            {"slide": SLIDE, "crawler": CRAWL}.get(joint.type, ROTATE),
            shaft_radius=0.003 * size,
            head_radius=0.007 * size,
            head_length=0.018 * size,
        )

    def show_devices(self, on: bool) -> None:
        """Show or hide the devices as lines: what a camera sees, what a range sensor sweeps, where the others are."""
        if self._devices is None and on:
            body = self.scene.take.body
            self._devices = [
                self._api.add_line_segments(
                    f"{self.scene.names[device.link]}/device {node_name(number, device.name)}",
                    device_outline(device, self.scene.size),
                    _color(device),
                    thickness=1.5,
                    thickness_units="screen",
                    position=device.pose[:3],
                    wxyz=poses.compose(poses.IDENTITY, device.pose)[3:],
                )
                for number, device in enumerate(body.devices)
                if 0 <= device.link < len(body.links)
            ]
            for number, text in names_at_places(body.devices, 0.01 * self.scene.size).items():
                device = body.devices[number]
                if 0 <= device.link < len(body.links):
                    node = f"{self.scene.names[device.link]}/device {node_name(number, device.name)}/name"
                    self._api.add_label(node, text, font_screen_scale=0.6, anchor="bottom-center")
        _toggle(self._devices, on)

    def show_mass(self, on: bool) -> None:
        """Show or hide the centre of mass, a plumb line from it and its place on the ground.

        Its name begins with a dot at the very place, and is seen through the body. Where the line goes on below the ground, the floor
        hides it.
        """
        if self._mass is None and on:
            size = self.scene.size
            self._mass = [
                self._marked("/world/centre of mass", "● CoM", 0.014 * size, MASS_COLOR),
                self._api.add_cylinder(
                    "/world/centre of mass on the ground", radius=0.025 * size, height=0.004 * size, color=MASS_COLOR
                ),
                self._api.add_line_segments(
                    "/world/centre of mass plumb line",
                    np.array([[[0.0, 0.0, 0.0], [0.0, 0.0, -2.0 * size]]]),
                    MASS_COLOR,
                    thickness=2.0,
                    thickness_units="screen",
                ),
            ]
        _toggle(self._mass, on)

    def show_zmp(self, on: bool) -> None:
        """Show or hide the zero moment point."""
        if self._zmp is None and on:
            self._zmp = self._marked("/world/zero moment point", "ZMP (file)", 0.012 * self.scene.size, ZMP_COLOR)
        if self._zmp is not None:
            self._zmp.visible = on

    def _marked(self, name: str, text: str, radius: float, color: tuple[int, int, int]) -> viser.SceneNodeHandle:
        ball = self._api.add_icosphere(name, radius=radius, color=color, cast_shadow=False, receive_shadow=False)
        self._api.add_label(f"{name}/name", text, font_screen_scale=0.75, anchor="center-left")
        return ball

    def show_path(self, points: Floats | None) -> None:
        """Show a path through points (N, 3), or none."""
        if self._path is not None:
            self._path.remove()
            self._path = None
        if points is not None and len(points) > 1:
            self._path = self._api.add_line_segments(
                "/world/path",
                np.stack([points[:-1], points[1:]], axis=1),
                PATH_COLOR,
                thickness=2.5,
                thickness_units="screen",
            )

    def place(self, link_poses: Floats, zmp: Floats | None) -> None:
        """Put the moving ones where they are at link poses (L, 7) and a zero moment point (3,)."""
        if self._mass is not None and self._mass[0].visible:
            center = self.scene.take.body.center_of_mass(link_poses)
            self._mass[0].position = center
            self._mass[1].position = np.array([center[0], center[1], 0.0])
            self._mass[2].position = center
        if self._zmp is not None and zmp is not None:
            self._zmp.position = zmp

    def remove(self) -> None:
        """Take away what does not hang on the robot."""
        for handle in (*(self._mass or ()), self._zmp, self._path):
            if handle is not None:
                handle.remove()


def names_at_places(devices: Sequence[Device], near: float) -> dict[int, str]:
    """Return what is written at devices, by their number; those of one link `near` [m] each other have one name tag, at the first."""
    tags: dict[int, list[str]] = {}
    for number, device in enumerate(devices[:MOST_NAMES]):
        if device.name:
            first = next((n for n in tags if _together(devices[n], device, near)), number)
            tags.setdefault(first, []).append(shown(device.name))
    return {number: shown(", ".join(names), 120) for number, names in tags.items()}


def _together(one: Device, other: Device, near: float) -> bool:
    return one.link == other.link and bool(np.linalg.norm(one.pose[:3] - other.pose[:3]) <= near)


def frames_of_path(count: int) -> npt.NDArray[np.intp]:
    """Choose among `count` frames those that a path goes through: at most `MOST_PATH_POINTS`, the first and the last among them."""
    if count <= MOST_PATH_POINTS:
        return np.arange(count)
    return np.linspace(0, count - 1, MOST_PATH_POINTS).astype(np.intp)


def _toggle(handles: list[viser.SceneNodeHandle] | None, on: bool) -> None:
    for handle in handles or ():
        handle.visible = on


def _color(device: Device) -> tuple[int, int, int]:
    if isinstance(device, VisionSensor):
        return (30, 120, 220)
    if isinstance(device, RangeSensor):
        return (220, 90, 30)
    return (200, 30, 60) if isinstance(device, ForceSensor) else (20, 150, 90)
