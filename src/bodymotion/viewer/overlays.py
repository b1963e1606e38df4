"""Overlays that need only the shown poses: axes, devices, names, inertias, centre of mass, recorded ZMP, paths, recorded contacts.

Each is made when it is first switched on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics.text import node_name, shown
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.model.links import Device, ForceSensor, Link, RangeSensor, VisionSensor
from bodymotion.scene.scene import HAND, FootContacts
from bodymotion.scene.theme import (
    CRAWLER_AXIS,
    MASS_COLOR,
    MISSED,
    PATH_COLOR,
    ROTATION_AXIS,
    SLIDE_AXIS,
    STANCE,
    SWING,
    ZMP_COLOR,
    Rgb,
)
from bodymotion.viewer.nodes import RobotNodes

if TYPE_CHECKING:
    import viser

MAX_DEVICE_LABELS, MAX_JOINT_LABELS = 60, 200
MAX_RAYS = 61  # Number of rays that are drawn of a range sensor; its first and last ray always are.
INERTIA_COLOR, OTHER_DEVICE_COLOR = (235, 170, 30), (20, 150, 90)
DEVICE_COLORS = {VisionSensor: (30, 120, 220), RangeSensor: (220, 90, 30), ForceSensor: (200, 30, 60)}
AXIS_COLORS = {"rotate": ROTATION_AXIS, "slide": SLIDE_AXIS, "crawler": CRAWLER_AXIS}
POSITION_DIGITS = 6  # Positions [m] are rounded to so many decimal places: viser sends only what has changed.
NO_SHADOW = {"cast_shadow": False, "receive_shadow": False}
ON_SCREEN = {"thickness_units": "screen"}


class Overlays:
    """The overlays of one robot."""

    def __init__(self, nodes: RobotNodes) -> None:
        self._nodes = nodes
        self._body = nodes.scene.body
        self._api: Any = nodes.server.scene
        self._made: dict[str, list[Any]] = {}
        self._path: viser.SceneNodeHandle | None = None

    def show(self, name: str, on: bool) -> None:
        """Show or hide the overlay of a display option: "axes", "devices", "names", "inertias", "mass" or "zmp"."""
        if name not in self._made and on:
            self._made[name] = getattr(self, f"_make_{name}")()
        for handle in self._made.get(name, ()):
            handle.visible = on

    def place(self, link_poses: Floats, zmp: Floats | None) -> None:
        """Move the centre of mass to that of link poses (L, 7), and the recorded zero moment point to `zmp` (3,)."""
        if "mass" in self._made and self._made["mass"][0].visible:
            ball, disc, line = self._made["mass"]
            center = self._body.center_of_mass(link_poses)
            for node, position in ((ball, center), (line, center), (disc, center * (1.0, 1.0, 0.0))):
                self._nodes.move(node, position)
        if "zmp" in self._made and zmp is not None:
            self._nodes.move(self._made["zmp"][0], zmp)

    def show_path(self, points: Floats | None) -> None:
        """Show a path through points (N, 3), or none."""
        if self._path is not None:
            self._path.remove()
            self._path = None
        if points is not None and len(points) > 1:
            segments = np.stack([points[:-1], points[1:]], axis=1)
            self._path = self._api.add_line_segments("/world/path", segments, PATH_COLOR, thickness=2.5, **ON_SCREEN)

    def remove(self) -> None:
        """Remove the overlays that are not nodes below the robot."""
        for handle in (*self._made.get("mass", ()), *self._made.get("zmp", ()), self._path):
            if handle is not None:
                handle.remove()

    def _make_axes(self) -> list[Any]:
        """Return an arrow along each joint axis, its colour by the type of the joint."""
        size, made = self._nodes.size, []
        for link in self._body.links:
            if link.index and link.joint.type in AXIS_COLORS:
                axis = link.joint.axis * (0.07 * size)
                made.append(
                    self._api.add_arrows(
                        f"{self._nodes.names[link.index]}/axis",
                        np.stack([-0.5 * axis, axis])[None],
                        AXIS_COLORS[link.joint.type],
                        shaft_radius=0.003 * size,
                        head_radius=0.007 * size,
                        head_length=0.018 * size,
                    )
                )
        return made

    def _make_devices(self) -> list[Any]:
        """Return the outlines of the devices, with their names."""
        labels, made = device_labels(self._body.devices, 0.01 * self._nodes.size), []
        for number, device in enumerate(self._body.devices):
            if not 0 <= device.link < len(self._body.links):
                continue
            name = f"{self._nodes.names[device.link]}/device {node_name(number, device.name)}"
            made.append(
                self._api.add_line_segments(
                    name,
                    device_outline(device, self._nodes.size),
                    next(
                        (color for kind, color in DEVICE_COLORS.items() if isinstance(device, kind)), OTHER_DEVICE_COLOR
                    ),
                    thickness=1.5,
                    position=device.pose[:3],
                    wxyz=poses.compose(poses.IDENTITY, device.pose)[3:],
                    **ON_SCREEN,
                )
            )
            if number in labels:
                self._api.add_label(f"{name}/name", labels[number], font_screen_scale=0.6, anchor="bottom-center")
        return made

    def _make_names(self) -> list[Any]:
        """Return the ids and names of the joints, at the origins of the links that they move."""
        origins = self._body.forward_kinematics(np.zeros(self._body.num_joints))[:, :3]
        labels = joint_labels(self._body.links[:MAX_JOINT_LABELS], origins, 0.01 * self._nodes.size)
        return [
            self._api.add_label(
                f"{self._nodes.names[index]}/joint name", text, font_screen_scale=0.55, anchor="center-left"
            )
            for index, text in labels.items()
        ]

    def _make_inertias(self) -> list[Any]:
        """Return a ball at the centre of mass of each link with mass, and the box of its inertia."""
        size, made = self._nodes.size, []
        for link in self._body.links:
            if not link.mass > 0 or not np.isfinite(link.center_of_mass).all():
                continue
            name = self._nodes.names[link.index]
            made.append(
                self._api.add_icosphere(
                    f"{name}/centre of mass",
                    radius=0.006 * size,
                    color=INERTIA_COLOR,
                    position=link.center_of_mass,
                    **NO_SHADOW,
                )
            )
            box = inertia_box(link)
            if box is not None:
                lengths, axes = box
                made.append(
                    self._api.add_box(
                        f"{name}/inertia",
                        dimensions=np.maximum(lengths, 1e-4 * size),
                        color=INERTIA_COLOR,
                        opacity=0.45,
                        position=link.center_of_mass,
                        wxyz=rotations.from_matrix(axes),
                        **NO_SHADOW,
                    )
                )
        return made

    def _make_mass(self) -> list[Any]:
        """Return the centre of mass, its projection on the ground, and a vertical line through it.

        The floor hides the line below the ground. The label begins with a dot, which is visible through the body.
        """
        size = self._nodes.size
        line = np.array([[[0.0, 0.0, 0.0], [0.0, 0.0, -2.0 * size]]])
        projection, plumb = "/world/centre of mass on the ground", "/world/centre of mass plumb line"
        return [
            self._labelled_ball("/world/centre of mass", "● CoM", 0.014 * size, MASS_COLOR),
            self._api.add_cylinder(projection, radius=0.025 * size, height=0.004 * size, color=MASS_COLOR),
            self._api.add_line_segments(plumb, line, MASS_COLOR, thickness=2.0, **ON_SCREEN),
        ]

    def _make_zmp(self) -> list[Any]:
        return [self._labelled_ball("/world/zero moment point", "ZMP (recorded)", 0.012 * self._nodes.size, ZMP_COLOR)]

    def _labelled_ball(self, name: str, text: str, radius: float, color: Rgb) -> Any:  # noqa: ANN401
        ball = self._api.add_icosphere(name, radius=radius, color=color, **NO_SHADOW)
        self._api.add_label(f"{name}/name", text, font_screen_scale=0.75, anchor="center-left")
        return ball


def joint_label(link: Link) -> str:
    """Return the label of a link: the id of its joint, if any, and the name of the joint, or else of the link."""
    name = shown(link.joint.name or link.name or f"link {link.index}", 30)
    return f"{link.joint.id}  {name}" if link.joint.id >= 0 else name


def joint_labels(links: Sequence[Link], origins: Floats, distance: float) -> dict[int, str]:
    """Return labels by link index; links of a chain whose origins (L, 3) are within `distance` [m] of its first share a label."""
    found: dict[int, list[str]] = {}
    firsts: dict[int, int] = {}
    for link in links:
        first = firsts.get(link.parent, link.index)
        if np.linalg.norm(origins[link.index] - origins[first]) > distance:
            first = link.index
        firsts[link.index] = first
        found.setdefault(first, []).append(joint_label(link))
    return {index: ", ".join(names) for index, names in found.items()}


def device_labels(devices: Sequence[Device], distance: float) -> dict[int, str]:
    """Return labels by device number; devices of one link within `distance` [m] share a label."""
    found: dict[int, list[str]] = {}
    for number, device in enumerate(devices[:MAX_DEVICE_LABELS]):
        if device.name:
            same = (
                other
                for other in found
                if devices[other].link == device.link
                and np.linalg.norm(devices[other].pose[:3] - device.pose[:3]) <= distance
            )
            found.setdefault(next(same, number), []).append(shown(device.name))
    return {number: shown(", ".join(names), 120) for number, names in found.items()}


def inertia_box(link: Link) -> tuple[Floats, Floats] | None:
    """Return the edges (3,) [m] of the uniform box with a link's mass and inertia, and the rotation (3, 3) of its axes.

    None without mass, or for an inertia that no body can have. A box with edges a, b, c has the moment m (b² + c²) / 12 about its
    first axis.
    """
    if not link.mass > 0 or not np.isfinite(link.inertia).all():
        return None
    moments, axes = np.linalg.eigh(0.5 * (link.inertia + link.inertia.T))
    squares = 12.0 / link.mass * (0.5 * moments.sum() - moments)
    if moments.max() <= 0 or (squares < -1e-6 * abs(squares).max()).any():
        return None
    if np.linalg.det(axes) < 0:
        axes[:, 0] *= -1
    return np.sqrt(np.maximum(squares, 0.0)), axes


def device_outline(device: Device, size: float) -> Floats:
    """Return the lines (N, 2, 3) [m] of a device in its own frame, on a robot of `size` metres.

    A device looks along -z with +y up; a range sensor sweeps the XZ plane from -z to both sides. The lines of cameras and range sensors
    are at most about half the robot's size long, because their range (often 10 m) would fill the view.
    """
    if isinstance(device, VisionSensor):
        return _frustum(device, 0.35 * size)
    if isinstance(device, RangeSensor):
        return _fan(device, 0.6 * size)
    tips = np.eye(3) * 0.04 * size
    square = 0.02 * size * np.array([[1.0, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]])
    edges = np.stack([square, np.roll(square, -1, axis=0)], axis=1)
    return np.concatenate([np.stack([-tips, tips], axis=1), edges])


def _frustum(device: VisionSensor, length: float) -> Floats:
    angle = device.field_of_view if 0 < device.field_of_view < np.pi else np.pi / 4
    right, up = replace(device, field_of_view=angle, width=max(device.width, 1), height=max(device.height, 1)).half_size
    depth = min(length, device.back_clip_distance) if device.back_clip_distance > 0 else length
    near = min(device.front_clip_distance, 0.5 * depth) if device.front_clip_distance > 0 else 0.0
    corners = np.array([[-right, -up, -1.0], [right, -up, -1.0], [right, up, -1.0], [-right, up, -1.0]])
    corners *= depth / max(1.0, float(np.linalg.norm(corners[0])))
    close = corners * (near / depth)
    top = np.array([0.0, up * 1.35, -1.0]) * (-corners[0, 2])
    lines = [(close[i], corners[i]) for i in range(4)]
    lines += [(corners[i], corners[(i + 1) % 4]) for i in range(4)]
    lines += [(close[i], close[(i + 1) % 4]) for i in range(4)]
    lines += [(corners[3], top), (top, corners[2])]
    return np.array(lines)


def _fan(device: RangeSensor, length: float) -> Floats:
    angle = min(device.scan_angle, 2 * np.pi) if device.scan_angle > 0 else 0.0
    length = min(length, max(device.max_distance, 1e-3)) if device.max_distance > 0 else length
    half = 0.5 * angle
    step = min(max(device.scan_step, 1e-9), 2 * np.pi) if device.scan_step > 0 else angle
    rays_per_side = int(half / step + 1e-9) if step > 0 else 0
    if rays_per_side > MAX_RAYS // 2:
        rays_per_side = MAX_RAYS // 2
        step = half / rays_per_side
    tips = length * _directions(np.arange(-rays_per_side, rays_per_side + 1) * step)
    rays = np.stack([np.zeros_like(tips), tips], axis=1)
    arc = length * _directions(np.linspace(-half, half, 33))
    return np.concatenate([rays, np.stack([arc[:-1], arc[1:]], axis=1)])


def _directions(angles: npt.NDArray[np.floating[Any]]) -> Floats:
    return np.stack([np.sin(angles), np.zeros_like(angles), -np.cos(angles)], axis=1)


class FootMarks:
    """The recorded foot contacts: a ball around each foot, its colour by stance or swing, and a disc on the floor below a foot in stance.

    The disc makes stance visible without colours.
    """

    def __init__(self, nodes: RobotNodes, contacts: FootContacts) -> None:
        self._on, self._move = True, nodes.move
        api: Any = nodes.server.scene
        self._balls, self._discs = [], []
        extent = nodes.scene.extent
        for link in contacts.links:
            points = extent.points[extent.links == link]
            radius = 1.05 * float(np.linalg.norm(points, axis=1).max()) if len(points) else 0.02 * nodes.size
            name = f"{nodes.names[link]}/foot"
            self._balls.append(api.add_icosphere(name, radius=radius, color=SWING, visible=False, receive_shadow=False))
            size = {"radius": 1.9 * radius, "height": 0.1 * radius}
            disc = api.add_cylinder(
                f"/world/contact {link}", **size, color=STANCE, opacity=0.6, visible=False, **NO_SHADOW
            )
            self._discs.append(disc)

    def show(self, on: bool) -> None:
        """Show or hide the marks from the next `place` on."""
        self._on = on

    def place(self, link_poses: Floats, contacts: FootContacts | None, frame: int) -> None:
        """Mark the feet of link poses (L, 7) with the contacts of a frame; without contacts hide the marks."""
        if contacts is None or not self._on:
            for handle in (*self._balls, *self._discs):
                handle.visible = False
            return
        for k, (name, link) in enumerate(zip(contacts.names, contacts.links, strict=True)):
            ball, disc = self._balls[k], self._discs[k]
            stance, missed = bool(contacts.stance[frame, k]), bool(contacts.out_of_reach[frame, k])
            color = MISSED if missed else STANCE if stance else SWING
            ball.visible = name != HAND or missed
            if ball.color != color:
                ball.color = color
            disc.visible = stance
            if stance:
                self._move(disc, np.round([*link_poses[link, :2], 0.0], POSITION_DIGITS))

    def remove(self) -> None:
        """Remove the discs; the balls are nodes below the robot."""
        for disc in self._discs:
            disc.remove()
