"""A scene on a viser server.

Which poses are shown now, the links as a tree of frames with their shapes, and closed
loops.

Links are children of their parents, and a pose is only sent where it changed: for a
link on a rotating joint that is one small message. Everything is below `/world`. To
follow the root, the world is moved and not the camera, which the user controls. Around
the robot are sky, ground, lights, the theme of the panel, and the camera.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics.text import fixed, node_name
from bodymotion.formats.meshes.glb import to_glb
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.geometry.shapes import Material, Mesh, Shape
from bodymotion.kernels.compiling import compile_in_background
from bodymotion.model.body import Body, Viewpoint
from bodymotion.model.closed_loops import ClosedLoopSolution, Loops, loop_errors
from bodymotion.scene.camera import Camera
from bodymotion.scene.compared_motion import Differences
from bodymotion.scene.options import LIMIT_OPTIONS, DisplayOptions
from bodymotion.scene.scene import Scene, path_frames
from bodymotion.scene.theme import DARK, LIGHT, Theme
from bodymotion.viewer.analysis import analyze
from bodymotion.viewer.overlays import AnalysisOverlays, FootMarks, Overlays

if TYPE_CHECKING:
    import viser
    import viser.infra

FRAMES_TOGETHER = 32  # Consecutive frames whose poses are converted at once.
# Number of frames whose extent the first camera sees, evenly chosen.
FRAMED_FRAMES = 60
# The camera follows a root that moves farther than this many sizes of the robot, unless
# the option is set.
FOLLOW_DISTANCE = 0.6
OVERLAYS = ("axes", "names", "inertias", "devices", "mass")
CLOSURE_TOLERANCE = 1e-6  # [m, rad] A loop that is open by more is reported as open.
MAX_LISTED_LOOPS = 3
FIELD_OF_VIEW = 0.7  # [rad] Vertical field of view of the presets.
# Directions from the robot to the camera. A robot's front is +x, its left side +y.
PRESETS: dict[str, tuple[float, float, float]] = {
    "Corner": (1.0, 0.75, 0.45),
    "Front": (1.0, 0.0, 0.0),
    "Side": (0.0, 1.0, 0.0),
    "Top": (-1e-3, 0.0, 1.0),
}

ROBOT = "/world/robot"
COLLISION = Material(diffuse=(1.0, 0.45, 0.1), transparency=0.55)
SELECTED = Material(diffuse=(0.1, 0.5, 1.0), transparency=0.45)
GHOST = Material(diffuse=(0.2, 0.5, 0.95), transparency=0.62)
# The types of viser's messages that set a part of a pose.
_MESSAGES = {"position": "SetPositionMessage", "wxyz": "SetOrientationMessage"}
# [m, or of a quaternion's elements] Smaller changes since the last message are not
# sent.
MIN_POSE_CHANGE = 1e-6
SECOND_ROBOT_WIDTHS = 1.35
# Distance to the second robot. The first one's width times the one, and at least its
# size times the other.
SECOND_ROBOT_SIZES = 0.45


class SceneView:
    """A scene on a server, with its overlays.

    `manual_q` are the joint values (J,) that were set by hand, None while those of the
    motion are shown; `manual_root` is the pose (7,) of
    the root as it is shown, None while it is that of the motion.
    """

    def __init__(
        self,
        server: viser.ViserServer,
        scene: Scene,
        options: DisplayOptions,
        on_click: OnClick = None,
    ) -> None:
        self.server = server
        self.scene = scene
        self.options = options
        self.loops = ClosedLoops(scene)
        self.manual_q: Floats | None = None
        self.manual_root: Floats | None = None
        self.frame = 0
        self._together = np.empty(0), 0, np.empty(0)
        """Link poses of the motion that were last shown, a frame, and the poses below
        their parents from this frame on.
        """
        first = self._poses(0)
        self.nodes = RobotNodes(server, scene, first, on_click=on_click)
        self.overlays = Overlays(self.nodes)
        self._foot_marks = FootMarks(self.nodes, scene.contacts)
        self.analysis_overlays = AnalysisOverlays(
            self.nodes, options, scene.contacts is not None
        )
        self.compared: ComparedRobotNodes | None = None
        if scene.compared is not None:
            self.compared = ComparedRobotNodes(
                server, self.nodes, scene.compared, scene.is_ghost, options.stand
            )
        self._first_root = np.array(first[0, :3])
        self.light: viser.DirectionalLightHandle | None = None
        add_environment(server.scene, self.nodes.size, DARK if options.dark else LIGHT)
        for name in ("collisions", "frames", *OVERLAYS, "zmp", "contacts"):
            if getattr(options, name):
                self.switch(name, True)
        if not options.visuals:
            self.nodes.show_visuals(False)
        self.choose_path(options.path)

    @property
    def q(self) -> Floats:
        """The joint values (J,) that are shown."""
        if self.manual_q is not None:
            return self.manual_q
        return np.asarray(self.shown_scene.q[self.frame])

    @property
    def shown_scene(self) -> Scene:
        """What is shown while nothing is set by hand.

        The motion as it is, or with its loops closed.
        """
        if self.options.motion_loops and self.loops.exist:
            return self.loops.closed_scene
        return self.scene

    def pose_joint(self, column: int, value: float) -> None:
        """Set a joint by hand.

        The joints of closed loops follow while that option is on.
        """
        before = np.array(self.q)
        target = np.array(before)
        target[column] = value
        closing = self.options.loops and self.loops.exist
        if closing:
            self.manual_q = self.loops.pose(before, target, column)
        else:
            self.manual_q = target

    def set_pose(self, q: Floats | None, root: Floats | None) -> None:
        """Set all joints and the root by hand.

        None for those of the motion.
        """
        self.manual_q = q
        self.manual_root = root
        self.loops.manual_result = None

    def loop_note(self) -> str:
        """Return how far the loops of what is shown are open.

        Empty for a body without loops.
        """
        if not self.loops.exist:
            return ""
        closed = self.manual_q is None and self.options.motion_loops
        return self.loops.describe(
            self._poses(self.frame), self.frame if closed else None
        )

    def show(self, frame: int) -> int:
        """Show a frame, or the pose that was set by hand.

        Return the number of messages for the links.
        """
        self.frame = frame
        poses = self._poses(frame)
        recorded = self.manual_q is None
        with self.server.atomic():
            sent = self.nodes.place(poses, self._below_parents(frame))
            self.overlays.place(poses, self.scene.zmp_at(frame, poses[0]))
            self._foot_marks.place(
                poses, self.scene.contacts if recorded else None, frame
            )
            self.analysis_overlays.place(frame, recorded)
            if self.compared is not None:
                self.compared.place(
                    float(self.scene.timeline.times[frame]), self.options.stand
                )
            self.nodes.follow(self.follow_offset(poses))
        return sent

    def analyze_now(self) -> None:
        """Compute the analysis that the overlays need, and wait for it."""
        if self.analysis_overlays.needed:
            self.analysis_overlays.set_analysis(
                analyze(self.shown_scene, self.options.stand)
            )

    def can_show(self, scene: Scene) -> bool:
        """Return whether the nodes can show another scene.

        Of the same body, or that with more shapes, and feet, without second motion.
        """
        before = self.scene.contacts
        after = scene.contacts
        same_feet = (() if before is None else before.links) == (
            () if after is None else after.links
        )
        # Of a model that is being read only the shapes change; its mass, too, where it
        # is that of the shapes.
        grown = (
            self.scene.num_unread > 0
            and scene.body.mass == self.scene.body.mass
            and self.is_as_large(scene)
        )
        alone = scene.compared is None and self.scene.compared is None
        return (scene.body is self.scene.body or grown) and same_feet and alone

    def is_as_large(self, scene: Scene) -> bool:
        """Return whether another scene has about the size of this one."""
        bounds = scene.extent.bounds(scene.link_poses[0])
        return (
            bounds is not None
            and 0.8
            < float(np.linalg.norm(bounds[1] - bounds[0])) / self.nodes.size
            < 1.25
        )

    def draw(self, scene: Scene) -> None:
        """Show the shapes of a scene with the same links and motion."""
        self.scene = scene
        self.nodes.draw(scene)
        if self.compared is not None and scene.compared is not None:
            self.compared.nodes.draw(scene.compared)

    def update(self, scene: Scene) -> None:
        """Show another motion of the same body, or of one with other shapes."""
        self.draw(scene)
        self.loops = ClosedLoops(scene)
        self.analysis_overlays.set_analysis(None)
        self.set_pose(None, None)
        self.frame = min(self.frame, scene.num_frames - 1)
        self.choose_path(self.options.path)

    def follow_offset(self, poses: Floats) -> Floats:
        """Return how far (3,) the world is moved back.

        So the root stays in view.
        """
        if not self.options.follow:
            return np.zeros(3)
        return np.array([*(poses[0, :2] - self._first_root[:2]), 0.0])

    def link_poses(self) -> Floats:
        """Return the poses (L, 7) of the links in the world as they are shown."""
        return self._poses(self.frame)

    def _poses(self, frame: int) -> Floats:
        poses = self.shown_scene.link_poses[frame]
        if self.manual_q is not None:
            if self.manual_root is None:
                root = poses[0]
            else:
                root = self.manual_root
            poses = self.scene.body.forward_kinematics(self.manual_q, root)
        if self.options.stand and self.manual_root is None:
            poses = np.array(poses)
            poses[:, 2] += self.scene.ground_offset(poses)
        return np.asarray(poses)

    def _below_parents(self, frame: int) -> Floats | None:
        """Return the link poses (L, 7) below their parents.

        They are those of a frame of the motion.

        Those of some frames are computed together.
        """
        if self.manual_q is not None:
            return None
        of_motion = self.shown_scene.link_poses
        first = frame - frame % FRAMES_TOGETHER
        if self._together[0] is not of_motion or self._together[1] != first:
            together = self.nodes.below_parents(
                of_motion[first : first + FRAMES_TOGETHER]
            )
            self._together = of_motion, first, together
        return np.asarray(self._together[2][frame - first])

    def switch(self, name: str, on: bool) -> None:
        """Switch a display option on or off."""
        setattr(self.options, name, on)
        if on and name in LIMIT_OPTIONS:
            for other in LIMIT_OPTIONS:
                setattr(self.options, other, other == name)
        actions: dict[str, Callable[[bool], None]] = {
            "visuals": lambda on: self.nodes.show_visuals(
                on and self.analysis_overlays.colors is None
            ),
            "collisions": self.nodes.show_collisions,
            "frames": self.nodes.show_frames,
            "zmp": lambda on: self.overlays.show(
                "zmp", on and self.scene.zmp is not None
            ),
            "contacts": self._foot_marks.show,
            "shadows": lambda on: (
                setattr(self.light, "cast_shadow", on)
                if self.light is not None
                else None
            ),
            "dark": self._set_theme,
            "stand": lambda on: self.choose_path(self.options.path),
            "loops": self._close_manual_pose,
            "motion_loops": lambda on: self.choose_path(self.options.path),
        }
        if name in OVERLAYS:
            self.overlays.show(name, on)
        elif name in actions:
            actions[name](on)

    def _set_theme(self, dark: bool) -> None:
        add_environment(self.server.scene, self.nodes.size, DARK if dark else LIGHT)
        self.analysis_overlays.remove_trails()

    def _close_manual_pose(self, on: bool) -> None:
        self.loops.manual_result = None
        if on and self.manual_q is not None and self.loops.exist:
            self.manual_q = self.loops.pose(self.manual_q, self.manual_q)

    def choose_path(self, link: str | None) -> None:
        """Draw the path of the link with a name.

        None for None, and for a name that the body does not have.
        """
        self.options.path = link
        index = next(
            (one.index for one in self.scene.body.links if one.name == link), None
        )
        if link is None or index is None or self.scene.num_frames < 2:
            self.overlays.show_path(None)
            return
        poses = self.shown_scene.link_poses[path_frames(self.scene.num_frames)]
        points = np.array(poses[:, index, :3])
        if self.options.stand:
            points[:, 2] += self.scene.ground_offset(poses)
        self.overlays.show_path(points)

    def camera(self, preset: str) -> Camera:
        """Return the camera of a preset for the robot as it is shown."""
        return framing(self._bounds(self._poses(self.frame)), preset)

    def first_camera(self) -> Camera:
        """Return the first camera: it sees the whole space that the robots move in."""
        if self.scene.num_frames == 1:
            return self.camera("Corner")
        last = self.scene.num_frames - 1
        chosen = np.unique(np.linspace(0, last, FRAMED_FRAMES).astype(int))
        boxes = np.stack([self._bounds(self._poses(int(frame))) for frame in chosen])
        corners = np.stack([boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)])
        return framing(corners, "Corner")

    def _bounds(self, poses: Floats) -> Floats:
        """Return the box (2, 3) around the robots.

        They are as shown with link poses (L, 7).
        """
        bounds = self.scene.extent.bounds(poses)
        if bounds is None:
            bounds = self.nodes.bounds
        if self.compared is not None:
            bounds = self.compared.bounds_with(bounds)
        return np.asarray(bounds - self.follow_offset(poses))

    def viewpoint(self, number: int) -> Camera:
        """Return the camera of one of the model's viewpoints.

        It moves with the robot over the ground, as the presets do.
        """
        poses = self._poses(self.frame)
        walked = poses[0, :2] - self.scene.body.root_pose[:2]
        origin = np.array([*walked, 0.0, 1.0, 0.0, 0.0, 0.0])
        origin[:3] -= self.follow_offset(poses)
        viewpoint = self.scene.body.viewpoints[number]
        distance = float(
            np.linalg.norm(viewpoint.pose[:3] - self.nodes.bounds.mean(axis=0))
        )
        return from_viewpoint(viewpoint, origin, distance)

    def set_first_camera(self) -> None:
        """Set the camera of browsers that connect."""
        first = self.first_camera()
        camera = self.server.initial_camera
        camera.fov = first.field_of_view
        camera.near, camera.far = 0.01 * self.nodes.size, 300.0 * self.nodes.size
        camera.position, camera.look_at = first.position, first.look_at

    def remove(self) -> None:
        """Remove everything from the server."""
        self.overlays.remove()
        self.analysis_overlays.remove()
        if self.compared is not None:
            self.compared.nodes.remove()
        self._foot_marks.remove()
        self.nodes.remove()


def default_options(scene: Scene) -> dict[str, bool]:
    """Return the options whose default depends on the scene.

    The body stands on the ground when its root pose is unknown, the camera follows a
    root that moves far, frames are shown of a body without shapes, and contacts where
    the motion records them.
    """
    roots = scene.link_poses[:, 0, :2]
    bounds = scene.extent.bounds(scene.link_poses[0])
    if bounds is not None:
        size = float(np.linalg.norm(bounds[1] - bounds[0]))
    else:
        size = np.inf
    return {
        "stand": scene.on_ground_by_default,
        "follow": bool(
            scene.num_frames > 1
            and np.ptp(roots, axis=0).max() > FOLLOW_DISTANCE * size
        ),
        "frames": bounds is None,
        "contacts": scene.contacts is not None,
    }


def apply_defaults(options: DisplayOptions, scene: Scene) -> None:
    """Switch on the defaults of a scene.

    A body without shapes gets the path of its root.
    """
    for name, on in default_options(scene).items():
        setattr(options, name, on or getattr(options, name))
    if options.path is None and not len(scene.extent.points):
        options.path = scene.body.links[0].name


def reapply_defaults(options: DisplayOptions, scene: Scene, before: Scene) -> None:
    """Set untouched options to the defaults of another scene.

    These are the options that had the defaults of the scene `before`.
    """
    defaults = default_options(scene)
    for name, was in default_options(before).items():
        if getattr(options, name) == was:
            setattr(options, name, defaults[name])


class ClosedLoops:
    """The closed loops of a scene.

    `manual_result` is the result of the last pose set by hand, None while there is
    none.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.manual_result: ClosedLoopSolution | None = None

    @property
    def exist(self) -> bool:
        """Whether the body has closed loops."""
        return bool(self.scene.body.extra_joints)

    def prepare(self) -> None:
        """Compile the kernels in the background.

        So the first slider does not wait for them.
        """
        if self.exist:
            body = self.scene.body
            compile_in_background(lambda: Loops(body).driving())

    @cached_property
    def loops(self) -> Loops:
        """The loops of the body."""
        return Loops(self.scene.body)

    def pose(self, q: Floats, target: Floats, moved: int | None = None) -> Floats:
        """Return joint values (J,) that close the loops.

        They are near `target` (J,); the search starts from `q` (J,).

        The joint `moved` keeps its target.
        """
        first = () if moved is None or moved not in self.loops.columns else (moved,)
        apart, tilted = loop_errors(
            self.scene.body, self.scene.body.forward_kinematics(q)
        )
        # An open loop is on no branch of solutions: any closed pose near the target
        # will do.
        if max(apart.max(), tilted.max()) <= CLOSURE_TOLERANCE:
            start = q
        else:
            start = None
        self.manual_result = self.loops.close(
            target, driving=self.loops.driving(first, q=q), start=start
        )
        return np.array(self.manual_result.q)

    @cached_property
    def closed_motion(self) -> ClosedLoopSolution:
        """The motion with its loops closed."""
        return self.loops.close(self.scene.q)

    @cached_property
    def closed_scene(self) -> Scene:
        """The scene with its loops closed in all frames.

        Root poses stay as they are.
        """
        scene = self.scene
        found = self.closed_motion.q
        q = np.where(np.isfinite(found), found, scene.q)
        link_poses = frozen(scene.body.forward_kinematics(q, scene.link_poses[:, 0]))
        return replace(scene, q=frozen(q), link_poses=link_poses)

    def describe(self, link_poses: Floats, frame: int | None) -> str:
        """Return whether the loops are closed and the pose singular.

        It is for link poses (L, 7).

        `frame` is that of the motion with its loops closed; None for poses as recorded,
        or set by hand.
        """
        apart, tilted = loop_errors(self.scene.body, link_poses)
        text = _closure_text(self.scene.body, apart, tilted)
        singular = self.manual_result is not None and bool(self.manual_result.singular)
        if frame is not None:
            singular = bool(self.closed_motion.singular[frame])
        if singular:
            text += (
                " This pose is singular: the driving joints do not determine the "
                "others."
            )
        return text


def _closure_text(body: Body, apart: Floats, tilted: Floats) -> str:
    is_open = np.flatnonzero((apart > CLOSURE_TOLERANCE) | (tilted > CLOSURE_TOLERANCE))
    if not len(is_open):
        if len(body.extra_joints) == 1:
            return "The loop is closed."
        return "All loops are closed."
    parts = []
    for k in is_open[:MAX_LISTED_LOOPS]:
        joint = body.extra_joints[k]
        name = joint.name or " – ".join(
            body.links[index].name or f"link {index}" for index in joint.links
        )
        if apart[k] > CLOSURE_TOLERANCE:
            gaps = [f"{fixed(1e3 * apart[k], 3 if apart[k] < 1e-3 else 1)} mm"]
        else:
            gaps = []
        gaps += (
            [f"{fixed(np.rad2deg(tilted[k]), 2)}°"]
            if tilted[k] > CLOSURE_TOLERANCE
            else []
        )
        parts.append(f"{name} is open by {' and '.join(gaps)}")
    if len(is_open) > MAX_LISTED_LOOPS:
        more = f", and {len(is_open) - MAX_LISTED_LOOPS} more"
    else:
        more = ""
    return f"{'; '.join(parts)}{more}."


def apply_theme(gui: viser.GuiApi, dark: bool) -> None:
    """Set the panel to dark mode or light mode."""
    gui.configure_theme(
        show_logo=False,
        show_share_button=False,
        control_width="large",
        dark_mode=dark,
        brand_color=(28, 110, 190),
    )


def add_environment(api: viser.SceneApi, size: float, theme: Theme = LIGHT) -> None:
    """Add sky and ground for a robot of `size` metres.

    They replace those that were there.
    """
    share = np.linspace(0.0, 1.0, 256)[:, None, None] ** 0.6
    sky = np.asarray(theme.sky_top) * (1 - share) + np.asarray(theme.sky_bottom) * share
    api.set_background_image(np.repeat(sky, 2, axis=1).astype(np.uint8), format="png")
    # The browser draws transparent objects from far to near by their origins. A grid
    # that includes the floor would be drawn over those transparent shapes whose origins
    # are farther away. So the floor is a separate opaque object, which is always drawn
    # first. It is a little lower, or the two would flicker in the distance; it is
    # visible from above only, of one colour in any light.
    angles = np.linspace(0.0, 2.0 * np.pi, 49)[:-1]
    rim = (
        280
        * size
        * np.stack([np.cos(angles), np.sin(angles), np.zeros_like(angles)], axis=1)
    )
    following = np.roll(np.arange(48), -1) + 1
    faces = np.stack([np.zeros(48, dtype=int), np.arange(48) + 1, following], axis=1)
    mesh = Mesh(np.concatenate([np.zeros((1, 3)), rim]), faces)
    floor = to_glb([Shape(mesh)], Material(diffuse=theme.floor), glow=theme.glow)
    assert floor is not None
    api.add_glb(
        "/floor",
        floor,
        cast_shadow=False,
        receive_shadow=False,
        position=(0.0, 0.0, -0.005 * size),
    )
    cell = float(10.0 ** np.floor(np.log10(max(size, 1e-3)))) / 4.0
    while cell < size / 12:
        cell *= 2
    api.add_grid(
        "/world/ground",
        infinite_grid=True,
        cell_size=cell,
        section_size=4 * cell,
        cell_color=theme.cells,
        section_color=theme.sections,
        cell_thickness=0.8,
        section_thickness=1.1,
        fade_distance=14 * size,
        fade_strength=1.5,
        shadow_opacity=theme.shadow,
        plane_opacity=0.0,
        position=(0.0, 0.0, -0.0005 * size),
    )


def add_lights(api: viser.SceneApi, shadows: bool) -> viser.DirectionalLightHandle:
    """Add the lights of the live viewer.

    Return the main one, from the front, left and above, where the first camera is.

    With a weaker one and viser's ambient light it shows a surface about as bright as
    its own colour.
    """
    api.configure_default_lights(False)
    api.add_light_directional("/lights/fill", intensity=0.25, position=(1.0, -2.0, 1.5))
    return api.add_light_directional(
        "/lights/key", intensity=1.1, cast_shadow=shadows, position=(2.0, 1.2, 3.0)
    )


def show_camera(client: viser.ClientHandle, camera: Camera) -> None:
    """Move the camera of a browser."""
    with client.atomic():
        client.camera.up_direction = camera.up
        client.camera.position = camera.position
        client.camera.look_at = camera.look_at
        client.camera.fov = camera.field_of_view


def framing(bounds: npt.ArrayLike, preset: str) -> Camera:
    """Return the camera that sees a whole box.

    The box is `bounds` (2, 3), seen from the direction of a preset, in a window of any
    shape.
    """
    low, high = np.asarray(bounds, dtype=np.float64)
    center = 0.5 * (low + high)
    radius = max(0.5 * float(np.linalg.norm(high - low)), 1e-3)
    direction = np.array(PRESETS[preset]) / np.linalg.norm(PRESETS[preset])
    distance = 1.08 * radius / np.sin(0.5 * FIELD_OF_VIEW)
    return Camera(
        center + distance * direction, center, np.array([0.0, 0.0, 1.0]), FIELD_OF_VIEW
    )


def from_viewpoint(
    viewpoint: Viewpoint, model: npt.ArrayLike, distance: float
) -> Camera:
    """Return the camera of a model's viewpoint.

    The model has the pose (7,) in the world.

    A viewpoint has a direction but no target; the target is put `distance` metres in
    front of it.
    """
    pose = poses.compose(model, viewpoint.pose)
    forward = rotations.rotate(pose[3:], [0.0, 0.0, -1.0])
    if 0.05 < viewpoint.field_of_view < 2.8:
        field = viewpoint.field_of_view
    else:
        field = FIELD_OF_VIEW
    target = pose[:3] + max(distance, 1e-3) * forward
    return Camera(pose[:3], target, rotations.rotate(pose[3:], [0.0, 1.0, 0.0]), field)


OnClick: TypeAlias = (
    Callable[[int], None] | None
)  # Called with the index of a link whose shapes are clicked.


class RobotNodes:
    """The nodes of one robot on a server.

    `bounds`, `size`: the box (2, 3) around the first frame, and the length [m] of its
    diagonal. `names`, `links`: the names of the links' nodes, and the nodes.
    `recording`: that to which poses are added, where there is no browser to send them
    to.
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
        """Add the nodes of a robot.

        They are below the node `root` at `offset` (3,) [m], with links at poses `first`
        (L, 7).

        `material` replaces all others.
        """
        self.server = server
        self.scene = scene
        body = scene.body
        self.bounds = _bounds(scene, first)
        self.size = float(
            np.clip(np.linalg.norm(self.bounds[1] - self.bounds[0]), 0.02, 1e3)
        )
        self._parents = np.array([link.parent for link in body.links])
        self.names: list[str] = []
        self.links: list[viser.FrameHandle] = []
        self.recording: viser.infra.StateSerializer | None = None
        self._shapes: dict[str, tuple[tuple[Shape, ...], viser.GlbHandle | None]] = {}
        """By the name of a node, the shapes that it shows, and the node.

        None where nothing is visible.
        """
        self._moved: dict[str, Floats] = {}
        self._selected: tuple[int, viser.GlbHandle | None] | None = None
        self._frames_shown = False
        self._visuals_shown = True
        self._collisions_shown = False
        self._root = root
        self._material = material
        self._on_click = on_click
        api = server.scene
        if root == ROBOT:
            self._world: viser.FrameHandle = api.add_frame("/world", show_axes=False)
        api.add_frame(
            root, show_axes=False, position=np.asarray(offset, dtype=np.float64)
        )
        for link in body.links:
            if link.parent >= 0:
                parent = self.names[link.parent]
            else:
                parent = root
            name = f"{parent}/{node_name(link.index, link.name)}"
            self.names.append(name)
            length = 0.08 * self.size
            radius = 0.0025 * self.size
            self.links.append(
                api.add_frame(
                    name, show_axes=False, axes_length=length, axes_radius=radius
                )
            )
        self.draw(scene)
        self._sent = np.full((len(body.links), 7), np.nan)
        self.place(first)

    def draw(self, scene: Scene) -> None:
        """Show the shapes of a scene with the same links.

        Only those that are new are sent.
        """
        self.scene = scene
        if self._root == ROBOT:
            self._draw(f"{self._root}/environment", scene.body.environment, None, True)
        self.show_visuals(self._visuals_shown)
        self.show_collisions(self._collisions_shown)

    def _draw(
        self,
        name: str,
        shapes: tuple[Shape, ...],
        material: Material | None,
        on: bool,
        link: int | None = None,
    ) -> None:
        """Let a node show shapes, those of a `link` that can be clicked, or hide it."""
        drawn, node = self._shapes.get(name, ((), None))
        if shapes != drawn:
            if node is not None:
                node.remove()
            data = to_glb(shapes, material)
            opaque = material is None or not material.transparency
            if data:
                node = self.server.scene.add_glb(
                    name, data, cast_shadow=opaque, receive_shadow=opaque
                )
            else:
                node = None
            if (
                node is not None
                and link is not None
                and (click := self._on_click) is not None
            ):
                node.on_click(lambda _event: click(link))
            self._shapes[name] = shapes, node
        if node is not None:
            node.visible = on

    def below_parents(self, link_poses: Floats) -> Floats:
        """Return link poses (..., L, 7) below their parents.

        They are computed from poses in the world; that of the root stays in the world.
        """
        local = np.array(link_poses)
        local[..., 1:, :] = poses.compose(
            poses.inverse(link_poses[..., self._parents[1:], :]), link_poses[..., 1:, :]
        )
        return local

    def place(self, link_poses: Floats, local: Floats | None = None) -> int:
        """Move the links to poses (L, 7) in the world.

        Return the number of messages.

        `local` (L, 7) are their poses below their parents, where they are known; that
        of the root may be another.
        """
        if local is None:
            local = self.below_parents(link_poses)
        else:
            local = np.concatenate([link_poses[:1], local[1:]])
        with np.errstate(invalid="ignore"):
            moved = ~(
                np.abs(local[:, :3] - self._sent[:, :3]).max(axis=1) <= MIN_POSE_CHANGE
            )
            rotated = ~(
                np.abs(local[:, 3:] - self._sent[:, 3:]).max(axis=1) <= MIN_POSE_CHANGE
            )
        for name, changed, part in (
            ("position", moved, slice(3)),
            ("wxyz", rotated, slice(3, 7)),
        ):
            values = local[changed, part]
            self._sent[changed, part] = values
            for i, value in zip(
                np.flatnonzero(changed).tolist(), values.tolist(), strict=True
            ):
                self._set(self.links[i], name, tuple(value))
        return int(moved.sum() + rotated.sum())

    def move(self, node: viser.SceneNodeHandle, position: Floats) -> None:
        """Move a node to a position (3,) below its parent."""
        if self.recording is None or not np.array_equal(
            self._moved.get(node.name, ()), position
        ):
            self._moved[node.name] = position
            self._set(node, "position", tuple(position.tolist()))

    def _set(
        self, node: viser.SceneNodeHandle, name: str, value: tuple[float, ...]
    ) -> None:
        """Set a part of the pose of a node.

        By its handle, or, ten times as fast, by the message that this would add to a
        recording.
        """
        if self.recording is None:
            setattr(node, name, value)
            return
        message = {"name": node.name, name: value, "owner": "", "type": _MESSAGES[name]}
        self.recording._messages.append((self.recording._time, message))

    def follow(self, offset: Floats) -> None:
        """Move the world so that its point `offset` (3,) is at the origin."""
        self.move(self._world, -offset)

    def show_frames(self, on: bool) -> None:
        """Show or hide the axes of the link frames."""
        self._frames_shown = on
        for index, handle in enumerate(self.links):
            handle.show_axes = on or (
                self._selected is not None and self._selected[0] == index
            )

    def select(self, index: int | None) -> None:
        """Highlight a link by its axes and a blue copy of its shapes.

        With None no link.
        """
        if self._selected is not None:
            before, copy = self._selected
            self.links[before].show_axes = self._frames_shown
            if copy is not None:
                copy.remove()
        self._selected = None
        if index is None:
            return
        self.links[index].show_axes = True
        data = to_glb(self.scene.shapes[index], SELECTED)
        name = f"{self.names[index]}/selected"
        add = self.server.scene.add_glb
        if data:
            copy = add(name, data, scale=1.01, cast_shadow=False, receive_shadow=False)
        else:
            copy = None
        self._selected = (index, copy)

    def show_visuals(self, on: bool) -> None:
        """Show or hide the visual shapes."""
        self._visuals_shown = on
        for index, (shapes, name) in enumerate(
            zip(self.scene.shapes, self.names, strict=True)
        ):
            self._draw(f"{name}/shapes", shapes, self._material, on, index)

    def show_collisions(self, on: bool) -> None:
        """Show or hide the collision shapes, transparent.

        They are sent when first shown.
        """
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
    frames = np.linspace(0, scene.num_frames - 1, min(scene.num_frames, 500)).astype(
        int
    )
    origins = np.concatenate(
        [link_poses[:, :3], scene.link_poses[frames, :, :3].reshape(-1, 3)]
    )
    low = origins.min(axis=0)
    high = origins.max(axis=0)
    margin = 0.1 + 0.1 * (high - low)
    return np.stack([low - margin, high + margin])


class ComparedRobotNodes:
    """The robot of a second motion.

    Beside the first one, or transparent at its position.
    """

    def __init__(
        self,
        server: viser.ViserServer,
        first: RobotNodes,
        scene: Scene,
        is_ghost: bool,
        stand: bool,
    ) -> None:
        self.scene = scene
        self.differences = Differences(first.scene, scene)
        self._offset = np.zeros(3)
        if not is_ghost:
            width = float(first.bounds[1, 1] - first.bounds[0, 1])
            self._offset[1] = -max(
                SECOND_ROBOT_WIDTHS * width, SECOND_ROBOT_SIZES * first.size
            )
        material = GHOST if is_ghost else None
        start = self._poses_at(0, stand)
        self.nodes = RobotNodes(
            server,
            scene,
            start,
            root="/world/second robot",
            material=material,
            offset=self._offset,
        )

    def _poses_at(self, frame: int, stand: bool) -> Floats:
        link_poses = np.array(self.scene.link_poses[frame])
        if stand and not self.scene.has_root:
            link_poses[:, 2] += self.scene.ground_offset(link_poses)
        return link_poses

    def place(self, time: float, stand: bool) -> None:
        """Show it at a time [s].

        With `stand` a motion without root poses is put on the ground.
        """
        self.nodes.place(
            self._poses_at(int(self.scene.timeline.frames_at(time)), stand)
        )

    def bounds_with(self, bounds: Floats) -> Floats:
        """Return the box (2, 3) around both robots.

        It is that around the first one, extended by the second one beside it.
        """
        return np.add(
            bounds, [np.minimum(self._offset, 0.0), np.maximum(self._offset, 0.0)]
        )
