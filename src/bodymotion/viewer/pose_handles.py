"""Handles that drag parts of the robot.

Inverse kinematics moves the ends of arms and legs, and the selected link.

The robot's feet, its lowest links, stay.

A dragged arrow or plane moves the link's origin and leaves its orientation free; a
dragged ring keeps the origin and rotates the link.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bodymotion.dynamics.contacts import find_feet
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.kernels.compiling import compile_in_background
from bodymotion.model.body import Body
from bodymotion.model.ik import FrameTask
from bodymotion.motion import Motion
from bodymotion.viewer.capture import file_name

if TYPE_CHECKING:
    import viser

    from bodymotion.viewer.app import Viewer

# Minimum number of joints of an arm or leg, between two branches, or a branch and its
# tip.
MIN_JOINTS = 3
HANDLE_SIZE = 0.12  # Of the size of the robot.
# Joints that the task leaves free stay near where they were when the drag began.
POSTURE_WEIGHT = 1e-3
MAX_STEPS = 50
MAX_UNDO = 100
SAME_ROTATION = (
    1e-4  # [rad] A handle that is rotated by less is dragged along its axes.
)


def limb_ends(body: Body) -> list[int]:
    """Return the links at which long chains end or branch.

    They are in link order. A long chain has at least `MIN_JOINTS` joints.
    """
    moving = body.tree[1] > 0
    branches = np.zeros(len(body.links), dtype=int)
    lengths = np.zeros(len(body.links), dtype=int)
    carries = np.array(moving)
    for link in reversed(body.links[1:]):
        branches[link.parent] += carries[link.index]
        carries[link.parent] |= carries[link.index]
    ends = []
    for link in body.links[1:]:
        lengths[link.index] = moving[link.index] + (
            lengths[link.parent] if branches[link.parent] == 1 else 0
        )
        if (
            moving[link.index]
            and branches[link.index] != 1
            and lengths[link.index] >= MIN_JOINTS
        ):
            ends.append(link.index)
    return ends


@dataclass(frozen=True)
class Drag:
    """A drag of a link, and where it began.

    Joints (J,) [rad or m], poses (L, 7) of the links in the world, and the links that
    stay.
    """

    link: int
    q: Floats
    links: Floats
    pinned: tuple[int, ...]


class PoseHandles:
    """The handles of a viewer.

    All but `add_to` and `save` is called by the viewer's own thread.
    """

    def __init__(self, viewer: Viewer) -> None:
        self._viewer = viewer
        self._on = self._is_compiled = False
        self._handles: dict[int, viser.TransformControlsHandle] = {}
        self._undo: list[tuple[Floats | None, Floats | None]] = []
        self._drag: Drag | None = None
        self._is_waiting = False

    def add_to(self, gui: viser.GuiApi) -> None:
        """Add the widgets to the panel."""
        checkbox = gui.add_checkbox(
            "Drag handles", self._on, hint="Drag hands, feet and the selected link"
        )
        checkbox.on_update(
            lambda event: self._viewer.post(lambda: self.switch(event.target.value))
        )
        buttons = gui.add_button_group(
            "Pose", ("Undo", "Save"), hint="Undo the last drag; save the pose as .seq"
        )

        def react(event: Any) -> None:  # noqa: ANN401
            if event.target.value == "Undo":
                self._viewer.post(self.undo)
            elif event.client is not None:
                self.save(event.client)

        buttons.on_click(react)

    def save(self, client: viser.ClientHandle) -> None:
        """Download the pose that is shown as a motion of one frame."""
        from bodymotion.formats.registry import save

        view = self._viewer.scene_view
        q = np.array(view.q)
        root = view.link_poses()[0]
        names = [joint.name for joint in self._viewer.scene.body.joints]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "pose.seq"
            save(
                Motion.from_joints(
                    q[None],
                    100.0,
                    root=root[None],
                    joint_names=names if all(names) else (),
                ),
                path,
            )
            name = file_name(f"{self._viewer.scene.title} pose", "seq")
            client.send_file_download(name, path.read_bytes(), save_immediately=True)

    def switch(self, on: bool) -> None:
        """Show or hide the handles.

        They appear when the kernels are compiled.
        """
        self._on = on
        if not on:
            self.remove()
            return
        self._viewer.panel.show_message("Preparing the handles …")

        def prepare() -> None:
            body = self._viewer.scene.body
            body.ik(tasks=[FrameTask(0, body.root_pose)])
            self._viewer.post(self._ready)

        compile_in_background(prepare)

    def _ready(self) -> None:
        self._is_compiled = True
        self._viewer.panel.show_message("")

    def remove(self) -> None:
        """Remove the handles and what could be undone, as for another scene."""
        for handle in self._handles.values():
            handle.remove()
        self._handles.clear()
        self._undo.clear()
        self._drag = None

    def update_positions(self) -> None:
        """Put the handles on the links as they are shown.

        Those of limbs and of the selected link.
        """
        if not (self._on and self._is_compiled):
            return
        view = self._viewer.scene_view
        selected = self._viewer.selected_link
        links = view.link_poses()
        wanted = {
            *limb_ends(self._viewer.scene.body),
            *([] if selected is None else [selected.index]),
        }
        for index in [index for index in self._handles if index not in wanted]:
            self._handles.pop(index).remove()
        for index in wanted:
            if index not in self._handles:
                self._handles[index] = self._add(index)
            handle = self._handles[index]
            if self._drag is None or self._drag.link != index:
                if not np.allclose(
                    handle.position, links[index, :3], rtol=0, atol=1e-6
                ):
                    handle.position = links[index, :3]
                if not np.allclose(handle.wxyz, links[index, 3:], rtol=0, atol=1e-6):
                    handle.wxyz = links[index, 3:]

    def _add(self, index: int) -> viser.TransformControlsHandle:
        server = self._viewer.server
        size = self._viewer.scene_view.nodes.size
        handle = server.scene.add_transform_controls(
            f"/world/handles/{index}", HANDLE_SIZE * size, depth_test=False
        )

        async def react(event: Any) -> None:  # noqa: ANN401
            if event.phase == "start":
                self._viewer.post(lambda: self._begin(index))
            elif event.phase == "end":
                self._viewer.post(self._end)
            elif not self._is_waiting:
                self._is_waiting = True
                self._viewer.post(self._follow)

        handle.on_update(react)
        return handle

    def _begin(self, index: int) -> None:
        viewer = self._viewer
        view = self._viewer.scene_view
        viewer.player.pause()
        links = view.link_poses()
        self._undo = [*self._undo[1 - MAX_UNDO :], (view.manual_q, view.manual_root)]
        body = viewer.scene.body
        pinned = (
            ()
            if body.is_mounted
            else tuple(i for i in find_feet(body, links[None]) if i != index)
        )
        self._drag = Drag(index, np.array(view.q), links, pinned)
        view.set_pose(np.array(view.q), np.array(links[0]))

    def _end(self) -> None:
        self._follow()
        self._drag = None

    def _follow(self) -> None:
        """Move the dragged link to its handle."""
        self._is_waiting = False
        view = self._viewer.scene_view
        drag = self._drag
        # None when another link was selected meanwhile
        if drag is None:
            handle = None
        else:
            handle = self._handles.get(drag.link)
        if drag is None or handle is None or view.manual_root is None:
            return
        body = self._viewer.scene.body
        goal = np.concatenate([handle.position, handle.wxyz])
        rotated = (
            rotations.angle_between(drag.links[drag.link, 3:], goal[3:]) > SAME_ROTATION
        )
        tasks = [FrameTask(drag.link, goal if rotated else goal[:3])]
        tasks += [FrameTask(i, drag.links[i], np.inf, np.inf) for i in drag.pinned]
        found = body.ik(
            tasks=tasks,
            q0=view.q,
            root=view.manual_root,
            free_root=bool(drag.pinned) or (drag.link == 0 and not body.is_mounted),
            posture=drag.q,
            posture_weight=POSTURE_WEIGHT,
            close_loops=self._viewer.options.loops,
            restarts=0,
            max_steps=MAX_STEPS,
        )
        view.set_pose(np.array(found.q), np.array(found.root))

    def undo(self) -> None:
        """Show the pose before the last drag."""
        if self._undo and self._drag is None:
            self._viewer.scene_view.set_pose(*self._undo.pop())
