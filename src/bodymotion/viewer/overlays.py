"""What is drawn over a robot, made when it is first switched on.

`Overlays` need only the shown poses: axes, devices, names, inertias, centre of mass,
recorded ZMP, paths, recorded contacts.
`AnalysisOverlays` need the analysis of the whole motion: contacts, support polygon,
computed ZMP, trails, colours of limits. Those that are
off cost nothing during playback, and nothing is sent for what does not move.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics.text import node_name, shown
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.model.links import Device, ForceSensor, Link, RangeSensor, VisionSensor
from bodymotion.motion.components import Timeline
from bodymotion.scene.options import LIMIT_OPTIONS, DisplayOptions
from bodymotion.scene.scene import HAND, FootContacts
from bodymotion.scene.theme import (
    CRAWLER_AXIS,
    DARK,
    LIGHT,
    MASS_COLOR,
    MISSED,
    PATH_COLOR,
    ROTATION_AXIS,
    SLIDE_AXIS,
    STANCE,
    SWING,
    ZMP_COLOR,
    Rgb,
    Theme,
)
from bodymotion.viewer.analysis import MotionAnalysis
from bodymotion.viewer.limit_colors import LimitColors

if TYPE_CHECKING:
    import viser

    from bodymotion.viewer.scene_view import RobotNodes

MAX_DEVICE_LABELS = 60
MAX_JOINT_LABELS = 200
# Number of rays that are drawn of a range sensor; its first and last ray always are.
MAX_RAYS = 61
INERTIA_COLOR = (235, 170, 30)
OTHER_DEVICE_COLOR = (20, 150, 90)
DEVICE_COLORS = {
    VisionSensor: (30, 120, 220),
    RangeSensor: (220, 90, 30),
    ForceSensor: (200, 30, 60),
}
AXIS_COLORS = {"rotate": ROTATION_AXIS, "slide": SLIDE_AXIS, "crawler": CRAWLER_AXIS}
POSITION_DIGITS = (
    6  # Decimal places of positions [m]: viser sends only what has changed.
)
NO_SHADOW = {"cast_shadow": False, "receive_shadow": False}
ON_SCREEN = {"thickness_units": "screen"}

SUPPORT_COLOR = (70, 120, 220)
COMPUTED_ZMP_COLOR = (0, 140, 110)
# Height of a flat overlay above the ground, in sizes of the robot, against flicker.
LAYER_HEIGHT = 0.0012
COLLISION_COLOR = (215, 25, 30)
MAX_COLLISIONS = 12  # Collisions of one frame that are shown.
TRAIL_PIECES = 40  # Line segments of a trail.


class Overlays:
    """The overlays of one robot."""

    def __init__(self, nodes: RobotNodes) -> None:
        self._nodes = nodes
        self._body = nodes.scene.body
        self._api: Any = nodes.server.scene
        self._made: dict[str, list[Any]] = {}
        self._path: viser.SceneNodeHandle | None = None

    def show(self, name: str, on: bool) -> None:
        """Show or hide the overlay of a display option.

        "axes", "devices", "names", "inertias", "mass" or "zmp".
        """
        if name not in self._made and on:
            self._made[name] = getattr(self, f"_make_{name}")()
        for handle in self._made.get(name, ()):
            handle.visible = on

    def place(self, link_poses: Floats, zmp: Floats | None) -> None:
        """Move the centre of mass and the zero moment point.

        The centre of mass is that of link poses (L, 7), the recorded zero moment point
        is at `zmp` (3,).
        """
        if "mass" in self._made and self._made["mass"][0].visible:
            ball, disc, line = self._made["mass"]
            center = self._body.center_of_mass(link_poses)
            for node, position in (
                (ball, center),
                (line, center),
                (disc, center * (1.0, 1.0, 0.0)),
            ):
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
            self._path = self._api.add_line_segments(
                "/world/path", segments, PATH_COLOR, thickness=2.5, **ON_SCREEN
            )

    def remove(self) -> None:
        """Remove the overlays that are not nodes below the robot."""
        for handle in (
            *self._made.get("mass", ()),
            *self._made.get("zmp", ()),
            self._path,
        ):
            if handle is not None:
                handle.remove()

    def _make_axes(self) -> list[Any]:
        """Return an arrow along each joint axis, coloured by the type of the joint."""
        size = self._nodes.size
        made = []
        sizes = {
            "shaft_radius": 0.003 * size,
            "head_radius": 0.007 * size,
            "head_length": 0.018 * size,
        }
        for link in self._body.links:
            if link.index and link.joint.type in AXIS_COLORS:
                axis = link.joint.axis * (0.07 * size)
                name = f"{self._nodes.names[link.index]}/axis"
                arrow = np.stack([-0.5 * axis, axis])[None]
                made.append(
                    self._api.add_arrows(
                        name, arrow, AXIS_COLORS[link.joint.type], **sizes
                    )
                )
        return made

    def _make_devices(self) -> list[Any]:
        """Return the outlines of the devices, with their names."""
        labels = device_labels(self._body.devices, 0.01 * self._nodes.size)
        made = []
        for number, device in enumerate(self._body.devices):
            if not 0 <= device.link < len(self._body.links):
                continue
            name = (
                f"{self._nodes.names[device.link]}/device "
                f"{node_name(number, device.name)}"
            )
            lines = device_outline(device, self._nodes.size)
            colors = (
                color
                for kind, color in DEVICE_COLORS.items()
                if isinstance(device, kind)
            )
            color = next(colors, OTHER_DEVICE_COLOR)
            pose = {
                "position": device.pose[:3],
                "wxyz": poses.compose(poses.IDENTITY, device.pose)[3:],
            }
            made.append(
                self._api.add_line_segments(
                    name, lines, color, thickness=1.5, **pose, **ON_SCREEN
                )
            )
            if number in labels:
                self._api.add_label(
                    f"{name}/name",
                    labels[number],
                    font_screen_scale=0.6,
                    anchor="bottom-center",
                )
        return made

    def _make_names(self) -> list[Any]:
        """Return the ids and names of the joints.

        They are at the origins of the links that the joints move.
        """
        origins = self._body.forward_kinematics(np.zeros(self._body.num_joints))[:, :3]
        labels = joint_labels(
            self._body.links[:MAX_JOINT_LABELS], origins, 0.01 * self._nodes.size
        )
        names = {index: f"{self._nodes.names[index]}/joint name" for index in labels}
        look = {"font_screen_scale": 0.55, "anchor": "center-left"}
        return [
            self._api.add_label(names[index], text, **look)
            for index, text in labels.items()
        ]

    def _make_inertias(self) -> list[Any]:
        """Return the mass and inertia of links as shapes.

        A ball at the centre of mass of each link with mass, and the box of its inertia.
        """
        size = self._nodes.size
        made = []
        for link in self._body.links:
            if not link.mass > 0 or not np.isfinite(link.center_of_mass).all():
                continue
            name = self._nodes.names[link.index]
            common = {
                "color": INERTIA_COLOR,
                "position": link.center_of_mass,
                **NO_SHADOW,
            }
            made.append(
                self._api.add_icosphere(
                    f"{name}/centre of mass", radius=0.006 * size, **common
                )
            )
            box = inertia_box(link)
            if box is not None:
                lengths = np.maximum(box[0], 1e-4 * size)
                wxyz = rotations.from_matrix(box[1])
                made.append(
                    self._api.add_box(
                        f"{name}/inertia",
                        dimensions=lengths,
                        wxyz=wxyz,
                        opacity=0.45,
                        **common,
                    )
                )
        return made

    def _make_mass(self) -> list[Any]:
        """Return the centre of mass and its projection.

        The projection is on the ground; a vertical line joins the two.

        The floor hides the line below the ground. The label begins with a dot, which is
        visible through the body.
        """
        size = self._nodes.size
        line = np.array([[[0.0, 0.0, 0.0], [0.0, 0.0, -2.0 * size]]])
        projection = "/world/centre of mass on the ground"
        plumb = "/world/centre of mass plumb line"
        return [
            self._labelled_ball(
                "/world/centre of mass", "● CoM", 0.014 * size, MASS_COLOR
            ),
            self._api.add_cylinder(
                projection, radius=0.025 * size, height=0.004 * size, color=MASS_COLOR
            ),
            self._api.add_line_segments(
                plumb, line, MASS_COLOR, thickness=2.0, **ON_SCREEN
            ),
        ]

    def _make_zmp(self) -> list[Any]:
        return [
            self._labelled_ball(
                "/world/zero moment point",
                "ZMP (recorded)",
                0.012 * self._nodes.size,
                ZMP_COLOR,
            )
        ]

    def _labelled_ball(
        self,
        name: str,
        text: str,
        radius: float,
        color: Rgb,
    ) -> Any:  # noqa: ANN401
        ball = self._api.add_icosphere(name, radius=radius, color=color, **NO_SHADOW)
        self._api.add_label(
            f"{name}/name", text, font_screen_scale=0.75, anchor="center-left"
        )
        return ball


def joint_label(link: Link) -> str:
    """Return the label of a link.

    The id of its joint, if any, and the name of the joint, or else of the link.
    """
    name = shown(link.joint.name or link.name or f"link {link.index}", 30)
    if link.joint.id >= 0:
        return f"{link.joint.id}  {name}"
    return name


def joint_labels(
    links: Sequence[Link], origins: Floats, distance: float
) -> dict[int, str]:
    """Return labels by link index.

    Links of a chain whose origins (L, 3) are within `distance` [m] of its first share a
    label.
    """
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
    """Return labels by device number.

    Devices of one link within `distance` [m] share a label.
    """
    found: dict[int, list[str]] = {}
    for number, device in enumerate(devices[:MAX_DEVICE_LABELS]):
        if device.name:
            same = (
                other
                for other in found
                if devices[other].link == device.link
                and np.linalg.norm(devices[other].pose[:3] - device.pose[:3])
                <= distance
            )
            found.setdefault(next(same, number), []).append(shown(device.name))
    return {number: shown(", ".join(names), 120) for number, names in found.items()}


def inertia_box(link: Link) -> tuple[Floats, Floats] | None:
    """Return the box with a link's mass and inertia.

    Its edges (3,) [m], and the rotation (3, 3) of its axes; it is uniform.

    None without mass, or for an inertia that no body can have. A box with edges a, b, c
    has the moment m (b² + c²) / 12 about a.
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
    """Return the lines (N, 2, 3) [m] of a device.

    They are in its own frame, for a robot of `size` metres.

    A device looks along -z with +y up; a range sensor sweeps the XZ plane from -z to
    both sides. The lines of cameras and range sensors are at most about half the
    robot's size long, because their range (often 10 m) would fill the view.
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
    if 0 < device.field_of_view < np.pi:
        angle = device.field_of_view
    else:
        angle = np.pi / 4
    right, up = replace(
        device,
        field_of_view=angle,
        width=max(device.width, 1),
        height=max(device.height, 1),
    ).half_size
    if device.back_clip_distance > 0:
        depth = min(length, device.back_clip_distance)
    else:
        depth = length
    if device.front_clip_distance > 0:
        near = min(device.front_clip_distance, 0.5 * depth)
    else:
        near = 0.0
    corners = np.array(
        [[-right, -up, -1.0], [right, -up, -1.0], [right, up, -1.0], [-right, up, -1.0]]
    )
    corners *= depth / max(1.0, float(np.linalg.norm(corners[0])))
    close = corners * (near / depth)
    top = np.array([0.0, up * 1.35, -1.0]) * (-corners[0, 2])
    lines = [(close[i], corners[i]) for i in range(4)]
    lines += [(corners[i], corners[(i + 1) % 4]) for i in range(4)]
    lines += [(close[i], close[(i + 1) % 4]) for i in range(4)]
    lines += [(corners[3], top), (top, corners[2])]
    return np.array(lines)


def _fan(device: RangeSensor, length: float) -> Floats:
    if device.scan_angle > 0:
        angle = min(device.scan_angle, 2 * np.pi)
    else:
        angle = 0.0
    if device.max_distance > 0:
        length = min(length, max(device.max_distance, 1e-3))
    half = 0.5 * angle
    if device.scan_step > 0:
        step = min(max(device.scan_step, 1e-9), 2 * np.pi)
    else:
        step = angle
    if step > 0:
        rays_per_side = int(half / step + 1e-9)
    else:
        rays_per_side = 0
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
    """The recorded foot contacts.

    A ball around each foot, its colour by stance or swing, and a disc on the floor
    below a foot in stance.

    The disc makes stance visible without colours.
    """

    def __init__(self, nodes: RobotNodes, contacts: FootContacts | None) -> None:
        self._on = True
        self._move = nodes.move
        api: Any = nodes.server.scene
        self._balls = []
        self._discs = []
        extent = nodes.scene.extent
        for link in () if contacts is None else contacts.links:
            points = extent.points[extent.links == link]
            if len(points):
                radius = 1.05 * float(np.linalg.norm(points, axis=1).max())
            else:
                radius = 0.02 * nodes.size
            name = f"{nodes.names[link]}/foot"
            self._balls.append(
                api.add_icosphere(
                    name,
                    radius=radius,
                    color=SWING,
                    visible=False,
                    receive_shadow=False,
                )
            )
            look = {
                "radius": 1.9 * radius,
                "height": 0.1 * radius,
                "color": STANCE,
                "opacity": 0.6,
            }
            self._discs.append(
                api.add_cylinder(
                    f"/world/contact {link}", **look, visible=False, **NO_SHADOW
                )
            )

    def show(self, on: bool) -> None:
        """Show or hide the marks from the next `place` on."""
        self._on = on

    def place(
        self, link_poses: Floats, contacts: FootContacts | None, frame: int
    ) -> None:
        """Mark the feet of link poses (L, 7) with the contacts of a frame.

        Without contacts hide the marks.
        """
        if contacts is None or not self._on:
            for handle in (*self._balls, *self._discs):
                handle.visible = False
            return
        for k, (name, link) in enumerate(
            zip(contacts.names, contacts.links, strict=True)
        ):
            ball = self._balls[k]
            disc = self._discs[k]
            stance = bool(contacts.stance[frame, k])
            missed = bool(contacts.out_of_reach[frame, k])
            if missed:
                color = MISSED
            elif stance:
                color = STANCE
            else:
                color = SWING
            ball.visible = name != HAND or missed
            if ball.color != color:
                ball.color = color
            disc.visible = stance
            if stance:
                self._move(
                    disc, np.round([*link_poses[link, :2], 0.0], POSITION_DIGITS)
                )

    def remove(self) -> None:
        """Remove the discs; the balls are nodes below the robot."""
        for disc in self._discs:
            disc.remove()


class AnalysisOverlays:
    """The overlays of one robot, as the display options have them.

    `has_contacts` when the motion itself records contacts.
    """

    def __init__(
        self, nodes: RobotNodes, options: DisplayOptions, has_contacts: bool
    ) -> None:
        self._nodes = nodes
        self._options = options
        self._names = tuple(
            name for name in _OVERLAYS if name != "contacts" or not has_contacts
        )
        self.analysis: MotionAnalysis | None = None
        self._made: dict[str, _Overlay] = {}
        self.colors: LimitColors | None = None

    @property
    def needed(self) -> tuple[str, ...]:
        """The options that are on and need the analysis."""
        names = (*self._names, "contacts", "trails", *LIMIT_OPTIONS)
        return tuple(
            dict.fromkeys(name for name in names if getattr(self._options, name, False))
        )

    @property
    def quantities(self) -> tuple[str, ...]:
        """The quantities that they need, beyond those that every analysis has."""
        if self._options.torque_limits:
            return ("torques",)
        return ()

    def describe(self) -> str:
        """Return why an overlay that is on cannot be shown."""
        balance = any(getattr(self._options, name, False) for name in self._names)
        if self.analysis is not None and balance:
            return self.analysis.no_feet_reason
        return ""

    def set_analysis(self, analysis: MotionAnalysis | None) -> None:
        """Show another analysis, or none."""
        self.remove()
        self.analysis = analysis

    def place(self, frame: int, recorded: bool) -> None:
        """Show a frame.

        Nothing is shown unless the `recorded` pose is, because a pose set by hand was
        not analyzed.
        """
        analysis = self.analysis
        if analysis is None:
            return
        if recorded:
            at = min(frame, analysis.scene.num_frames - 1)
        else:
            at = None
        if self._options.trails and "trails" not in self._made:
            self._made["trails"] = _Trails(self._nodes, analysis, self._options)
        for name in (*self._names, "trails"):
            on = getattr(self._options, "contacts" if name == "overlaps" else name)
            if (
                on
                and name not in self._made
                and (analysis.on_feet or name == "overlaps")
            ):
                self._made[name] = _OVERLAYS[name](self._nodes, analysis)
            if name in self._made:
                self._made[name].place(at if on else None)
        self._place_colors(analysis, at)

    def _place_colors(self, analysis: MotionAnalysis, at: int | None) -> None:
        kind = next(
            (
                kind
                for name, kind in LIMIT_OPTIONS.items()
                if getattr(self._options, name)
            ),
            None,
        )
        if self.colors is not None and self.colors.kind != kind:
            self._remove_colors()
        if kind is not None and self.colors is None and analysis.measures is not None:
            self.colors = LimitColors(self._nodes, analysis, kind)
            self._nodes.show_visuals(False)
        if self.colors is not None:
            self.colors.place(at)

    def _remove_colors(self) -> None:
        if self.colors is not None:
            self.colors.remove()
            self.colors = None
            self._nodes.show_visuals(self._options.visuals)

    def remove_trails(self) -> None:
        """Remove the trails.

        They are made again in the colours of dark mode or light mode when they are
        shown.
        """
        if "trails" in self._made:
            self._made.pop("trails").remove()

    def remove(self) -> None:
        """Remove all overlays."""
        for overlay in self._made.values():
            overlay.remove()
        self._made.clear()
        self._remove_colors()


class _Overlay:
    """What `place` shows at a frame.

    None hides it. `handles` are its nodes.
    """

    handles: tuple[Any, ...]

    def place(self, frame: int | None) -> None:
        raise NotImplementedError

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()


def closed_corners(corners: Floats, count: int) -> Floats | None:
    """Return the `count` first corners of (M, 3), without gaps.

    The last known corner replaces those that are NaN or missing.

    None without any.
    """
    known = int(np.isfinite(corners[:, 0]).sum())
    if known:
        return corners[np.minimum(np.arange(count), known - 1)]
    return None


class _Patch(_Overlay):
    """A flat polygon on the ground, and its outline.

    Its corners are (T, M, 3), NaN for unused ones.
    """

    def __init__(
        self,
        nodes: RobotNodes,
        name: str,
        corners: Floats | None,
        color: Rgb,
        opacity: float,
        level: int,
    ) -> None:
        self._corners = corners
        self._up = np.array([0.0, 0.0, level * LAYER_HEIGHT * nodes.size])
        self._count = count = 3 if corners is None else max(corners.shape[1], 3)
        api: Any = nodes.server.scene
        inner = np.arange(1, count - 1)
        faces = np.stack([np.zeros_like(inner), inner, inner + 1], axis=1)
        edges = np.zeros((count, 2, 3))
        look = {
            "color": color,
            "opacity": opacity,
            "side": "double",
            "flat_shading": True,
            "visible": False,
        }
        self._face = api.add_mesh_simple(
            name, np.zeros((count, 3)), faces, **look, **NO_SHADOW
        )
        self._edge = api.add_line_segments(
            f"{name} outline", edges, color, thickness=2.5, visible=False, **ON_SCREEN
        )
        self.handles = (self._face, self._edge)

    def place(self, frame: int | None) -> None:
        hidden = frame is None or self._corners is None
        points = None
        if not hidden:
            assert self._corners is not None
            points = closed_corners(self._corners[frame], self._count)
        if points is not None:
            points = np.round(points + self._up, POSITION_DIGITS).astype(np.float32)
            self._face.vertices = points
            self._edge.points = np.stack([points, np.roll(points, -1, axis=0)], axis=1)
        self._face.visible = self._edge.visible = points is not None


class _FootPatches(_Overlay):
    """The contact patches and lowest points of the feet.

    Each foot has its patch on the ground in stance, and a ball at its lowest point in
    swing.
    """

    def __init__(self, nodes: RobotNodes, analysis: MotionAnalysis) -> None:
        self._points = analysis.contact_points
        api: Any = nodes.server.scene
        self._patches = []
        self._balls = []
        for k, corners in enumerate(analysis.foot_patches):
            self._patches.append(
                _Patch(nodes, f"/world/foot print {k}", corners, STANCE, 0.75, 2)
            )
            name = f"/world/foot in swing {k}"
            radius = 0.009 * nodes.size
            self._balls.append(
                api.add_icosphere(
                    name, radius=radius, color=SWING, visible=False, **NO_SHADOW
                )
            )
        self.handles = (*self._patches, *self._balls)

    def place(self, frame: int | None) -> None:
        for k, (patch, ball) in enumerate(zip(self._patches, self._balls, strict=True)):
            patch.place(frame)
            ball.visible = frame is not None and not patch._face.visible
            if (
                ball.visible
                and self._points is not None
                and np.isfinite(self._points[frame, k]).all()
            ):
                ball.position = self._points[frame, k]


class _ComputedZmp(_Overlay):
    """The computed zero moment point.

    A cube, while the recorded one is a ball. It is hidden in flight.
    """

    def __init__(self, nodes: RobotNodes, analysis: MotionAnalysis) -> None:
        self._points = analysis.zmp
        api: Any = nodes.server.scene
        side = 0.02 * nodes.size
        name = "/world/measured zero moment point"
        self._cube = api.add_box(
            name, COMPUTED_ZMP_COLOR, (side, side, side), visible=False, **NO_SHADOW
        )
        api.add_label(
            f"{name}/name",
            "ZMP (computed) ",
            font_screen_scale=0.75,
            anchor="center-right",
        )
        self.handles = (self._cube,)

    def place(self, frame: int | None) -> None:
        if frame is None or self._points is None:
            point = None
        else:
            point = self._points[frame]
        self._cube.visible = point is not None and bool(np.isfinite(point).all())
        if self._cube.visible:
            self._cube.position = point


class _CollisionMarks(_Overlay):
    """Where links are inside of each other or below the floor.

    Red balls with the names of the links and the depth.
    """

    def __init__(self, nodes: RobotNodes, analysis: MotionAnalysis) -> None:
        self._found = analysis.collisions
        self._body = nodes.scene.body
        if self._found is None:
            self._frames = np.zeros(0, dtype=np.int64)
        else:
            self._frames = self._found.frames
        api: Any = nodes.server.scene
        radius = 0.012 * nodes.size
        self._balls = []
        self._labels = []
        for k in range(
            min(int(np.bincount(self._frames).max(initial=0)), MAX_COLLISIONS)
        ):
            name = f"/world/collision {k}"
            ball = api.add_icosphere(
                name, radius=radius, color=COLLISION_COLOR, visible=False, **NO_SHADOW
            )
            self._balls.append(ball)
            self._labels.append(
                api.add_label(
                    f"{name}/name", "", font_screen_scale=0.75, anchor="bottom-left"
                )
            )
        self.handles = tuple(self._balls)

    def place(self, frame: int | None) -> None:
        found = self._found
        rows = np.flatnonzero(self._frames == frame)
        for k, (ball, label) in enumerate(zip(self._balls, self._labels, strict=True)):
            ball.visible = k < len(rows)
            if k < len(rows) and found is not None:
                one, two = (
                    "floor" if link < 0 else self._body.links[link].name
                    for link in found.links[rows[k]]
                )
                ball.position = found.points[rows[k]]
                label.text = f" {one} – {two}: {found.depths[rows[k]] * 1000:.0f} mm"


_OVERLAYS: dict[str, Callable[[RobotNodes, MotionAnalysis], _Overlay]] = {
    "support": lambda nodes, found: _Patch(
        nodes, "/world/support polygon", found.support, SUPPORT_COLOR, 0.3, 1
    ),
    "contacts": _FootPatches,
    "overlaps": _CollisionMarks,
    "measured_zmp": _ComputedZmp,
}


def trail(points: Floats, timeline: Timeline, time: float, seconds: float) -> Floats:
    """Return the pieces (TRAIL_PIECES, 2, 3) of a trail, oldest first.

    A trail is the path of points (T, 3) in the last seconds before a time.

    Pieces before the first frame, and those with a point that is NaN, have no length.
    """
    times = np.linspace(
        max(time - seconds, float(timeline.times[0])), time, TRAIL_PIECES + 1
    )
    path = points[np.minimum(np.asarray(timeline.frames_at(times)), len(points) - 1)]
    pieces = np.stack([path[:-1], path[1:]], axis=1)
    unknown = ~np.isfinite(pieces).all(axis=(1, 2))
    if unknown.any():
        known = path[np.isfinite(path).all(axis=1)]
        pieces[unknown] = known[-1] if len(known) else 0.0
    return pieces


class _Trails(_Overlay):
    """The paths of centre of mass and zero moment points.

    They show the last seconds, as lines that fade into the floor.
    """

    def __init__(
        self, nodes: RobotNodes, analysis: MotionAnalysis, options: DisplayOptions
    ) -> None:
        self._timeline = analysis.scene.timeline
        self._options = options
        theme = DARK if options.dark else LIGHT
        paths = {
            "mass": (
                analysis.center_of_mass if analysis.scene.body.mass > 0 else None,
                MASS_COLOR,
            ),
            "zmp": (analysis.recorded_zmp, ZMP_COLOR),
            "measured_zmp": (analysis.zmp, COMPUTED_ZMP_COLOR),
        }
        self._paths = {
            name: (points, color)
            for name, (points, color) in paths.items()
            if points is not None
        }
        self._up = np.array([0.0, 0.0, 0.002 * nodes.size])
        add: Any = nodes.server.scene.add_line_segments
        start = np.zeros((TRAIL_PIECES, 2, 3))
        self._lines: dict[str, viser.LineSegmentsHandle] = {
            name: add(
                f"/world/trail {name}",
                start,
                _faded(color, theme),
                thickness=3.5,
                visible=False,
                **ON_SCREEN,
            )
            for name, (_, color) in self._paths.items()
        }
        self.handles = tuple(self._lines.values())

    def place(self, frame: int | None) -> None:
        """Show those whose points are shown up to a frame, or hide all."""
        for name, (points, _) in self._paths.items():
            on = self._lines[name].visible = frame is not None and getattr(
                self._options, name
            )
            if frame is not None and on:
                time = float(self._timeline.times[frame])
                pieces = (
                    trail(points, self._timeline, time, self._options.trail_seconds)
                    + self._up
                )
                self._lines[name].points = np.round(pieces, POSITION_DIGITS).astype(
                    np.float32
                )


def _faded(color: Rgb, theme: Theme) -> npt.NDArray[np.uint8]:
    """Return the colours (TRAIL_PIECES, 2, 3) of a trail.

    They go from that of the floor to its own.
    """
    share = np.linspace(0.0, 1.0, TRAIL_PIECES + 1)[:, None] ** 0.7
    colors = share * np.array(color) + (1.0 - share) * np.array(theme.fade)
    return np.stack([colors[:-1], colors[1:]], axis=1).astype(np.uint8)
