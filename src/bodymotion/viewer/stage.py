"""A take on a server: which poses are shown now, and all that has to be sent when that changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.geometry.arrays import Floats
from bodymotion.viewer.anatomy import Anatomy
from bodymotion.viewer.camera import View, framing, from_viewpoint
from bodymotion.viewer.contacts import ContactMarks
from bodymotion.viewer.insight import Insight, look_into
from bodymotion.viewer.layers import Layers
from bodymotion.viewer.looks import look_of
from bodymotion.viewer.loops import TakeLoops
from bodymotion.viewer.overlays import Overlays, frames_of_path
from bodymotion.viewer.scene import Scene
from bodymotion.viewer.second import SecondRobot
from bodymotion.viewer.surroundings import Lights, add_surroundings
from bodymotion.viewer.switches import LIMIT_SWITCHES, Switches
from bodymotion.viewer.take import Take

if TYPE_CHECKING:
    import viser

__all__ = ["Stage", "fit", "fitting", "refit"]

LOOKED_AT = 12
"""In so many frames it is looked where the parts of Spot come, for the first camera."""
FAR_WALK = 0.6
"""A motion whose root goes farther than so many times the robot's size is followed by the camera unless told otherwise."""


class Stage:
    """A take in the scene of a server, with its overlays.

    `posed` holds the joint values (J,) that someone has set by hand, None while the motion's own are shown.
    """

    def __init__(self, server: viser.ViserServer, take: Take, switches: Switches) -> None:
        self.server = server
        self.take = take
        self.switches = switches
        self.loops = TakeLoops(take)
        self.posed: Floats | None = None
        self.frame = 0
        first = self._poses(0)
        self.scene = Scene(server, take, first)
        self.overlays = Overlays(self.scene)
        self.anatomy = Anatomy(self.scene)
        self._contacts = ContactMarks(self.scene, take.contacts) if take.contacts is not None else None
        self.layers = Layers(self.scene, switches, take.contacts is not None)
        self.second = (
            SecondRobot(server, self.scene, take.second, take.is_ghost, switches.stand)
            if take.second is not None
            else None
        )
        self._anchor = np.array(first[0, :3])
        self.lights: Lights | None = None
        add_surroundings(server.scene, self.scene.size, look_of(switches.dark))
        for name in ("collisions", "frames", "axes", "names", "inertias", "devices", "mass", "zmp", "contacts"):
            if getattr(switches, name):
                self.switch(name, True)
        if not switches.visuals:
            self.scene.show_visuals(False)
        self.choose_path(switches.path)

    @property
    def q(self) -> Floats:
        """The joint values (J,) that are shown."""
        return self.posed if self.posed is not None else np.asarray(self.played.q[self.frame])

    @property
    def played(self) -> Take:
        """What is shown while nothing is set by hand: the motion as it is, or with its loops closed."""
        return self.loops.closed_take if self.switches.motion_loops and self.loops.there else self.take

    def pose_joint(self, column: int, value: float) -> None:
        """Set a joint by hand; joints of closed loops follow while that is switched on."""
        before = np.array(self.q)
        posed = np.array(before)
        posed[column] = value
        closing = self.switches.loops and self.loops.there
        self.posed = self.loops.pose(before, posed, column) if closing else posed

    def unpose(self) -> None:
        """Show the motion's own joint values again."""
        self.posed = None
        self.loops.posed = None

    def loop_note(self) -> str:
        """Say how far the loops of what is shown are from closing; nothing for a body without loops."""
        if not self.loops.there:
            return ""
        closed = self.posed is None and self.switches.motion_loops
        return self.loops.note(self._poses(self.frame), self.frame if closed else None)

    def show(self, frame: int) -> int:
        """Show a frame, or at it what was set by hand; give how many messages the links took."""
        self.frame = frame
        poses = self._poses(frame)
        with self.server.atomic():
            sent = self.scene.place(poses)
            self.overlays.place(poses, self.take.zmp_at(frame, poses[0]))
            self._mark_contacts(poses, frame)
            self.layers.place(frame, self.posed is None)
            if self.second is not None:
                self.second.place(float(self.take.timeline.times[frame]), self.switches.stand)
            self.scene.follow(self.offset(poses))
        return sent

    def _mark_contacts(self, poses: Floats, frame: int) -> None:
        contacts = self.take.contacts
        if self._contacts is not None and contacts is not None:
            stance = contacts.stance[frame] if self.posed is None else None
            self._contacts.place(poses, stance, contacts.short[frame])

    def learn(self, insight: Insight | None) -> None:
        """Show what is known of the motion, in the layers that are on; None forgets what was known."""
        self.layers.learn(insight)

    def learn_at_once(self) -> None:
        """Work out what the layers that are on need to know, and wait for it."""
        if self.layers.wanted:
            self.layers.learn(look_into(self.played, self.switches.stand, self.layers.quantities))

    def suits(self, take: Take) -> bool:
        """Whether another take is of the same body, with the same feet to mark, so that the scene can stay."""
        before, after = self.take.contacts, take.contacts
        links = (() if before is None else before.links, () if after is None else after.links)
        alone = take.second is None and self.take.second is None
        return take.body is self.take.body and links[0] == links[1] and alone

    def retake(self, take: Take) -> None:
        """Go on with another motion of the same body."""
        self.take = self.scene.take = take
        self.loops = TakeLoops(take)
        self.layers.learn(None)
        self.unpose()
        self.frame = min(self.frame, take.num_frames - 1)
        self.choose_path(self.switches.path)

    def offset(self, poses: Floats) -> Floats:
        """Return by how much (3,) the world is moved back so that the root stays in view."""
        if not self.switches.follow:
            return np.zeros(3)
        return np.array([*(poses[0, :2] - self._anchor[:2]), 0.0])

    def link_poses(self) -> Floats:
        """Return the poses (L, 7) of the links in the world as they are shown."""
        return self._poses(self.frame)

    def _poses(self, frame: int) -> Floats:
        poses = self.played.link_poses[frame]
        if self.posed is not None:
            poses = self.take.body.forward_kinematics(self.posed, poses[0])
        if self.switches.stand:
            poses = np.array(poses)
            poses[:, 2] += self.take.lift(poses)
        return np.asarray(poses)

    def switch(self, name: str, on: bool) -> None:
        """Turn a switch of `Switches` on or off."""
        setattr(self.switches, name, on)
        if on and name in LIMIT_SWITCHES:
            for other in LIMIT_SWITCHES:
                setattr(self.switches, other, other == name)
        showers: dict[str, Callable[[bool], None]] = {
            "visuals": lambda on: self.scene.show_visuals(on and self.layers.colors is None),
            "collisions": self.scene.show_collisions,
            "frames": self.scene.show_frames,
            "axes": self.overlays.show_axes,
            "names": self.anatomy.show_names,
            "inertias": self.anatomy.show_inertias,
            "devices": self.overlays.show_devices,
            "mass": self.overlays.show_mass,
            "zmp": lambda on: self.overlays.show_zmp(on and self.take.zmp is not None),
            "contacts": lambda on: self._contacts.show(on) if self._contacts is not None else None,
            "shadows": lambda on: self.lights.cast_shadows(on) if self.lights is not None else None,
            "dark": self._darken,
            "stand": lambda on: self.choose_path(self.switches.path),
            "loops": self._close_posed,
            "motion_loops": lambda on: self.choose_path(self.switches.path),
        }
        if name in showers:
            showers[name](on)

    def _darken(self, on: bool) -> None:
        add_surroundings(self.server.scene, self.scene.size, look_of(on))
        self.layers.look_like(on)

    def _close_posed(self, on: bool) -> None:
        self.loops.posed = None
        if on and self.posed is not None and self.loops.there:
            self.posed = self.loops.pose(self.posed, self.posed)

    def choose_path(self, link: str | None) -> None:
        """Draw the path of a link, or of none; a name that the body has not is none."""
        self.switches.path = link
        index = next((one.index for one in self.take.body.links if one.name == link), None)
        if link is None or index is None or self.take.num_frames < 2:
            self.overlays.show_path(None)
            return
        frames = frames_of_path(self.take.num_frames)
        poses = self.played.link_poses[frames]
        points = np.array(poses[:, index, :3])
        if self.switches.stand:
            points[:, 2] += self.take.lift(poses)
        self.overlays.show_path(points)

    def view(self, preset: str) -> View:
        """Return the camera of a preset, around the robot as it is shown."""
        poses = self._poses(self.frame)
        bounds = self.take.footprint.bounds(poses)
        bounds = self.scene.bounds if bounds is None else bounds
        if self.second is not None:
            bounds = self.second.with_it(bounds)
        return framing(bounds - self.offset(poses), preset)

    def first_view(self) -> View:
        """Return the first camera. Of an animation it sees all the places where parts of Spot come."""
        if self.take.performance is None:
            return self.view("Corner")
        boxes = [self.scene.bounds - self.offset(self._poses(0))]
        for frame in np.linspace(0, self.take.num_frames - 1, LOOKED_AT).astype(int):
            poses = self._poses(int(frame))
            bounds = self.take.footprint.bounds(poses)
            if bounds is not None:
                boxes.append(bounds - self.offset(poses))
        return framing(np.stack([np.min(boxes, axis=(0, 1)), np.max(boxes, axis=(0, 1))]), "Corner")

    def viewpoint(self, number: int) -> View:
        """Return the camera of one of the model's own viewpoints: it goes with the robot over the ground, as the presets do."""
        now = self._poses(self.frame)
        walked = now[0, :2] - self.take.body.root_pose[:2]
        origin = np.array([*walked, 0.0, 1.0, 0.0, 0.0, 0.0])
        origin[:3] -= self.offset(now)
        view = self.take.body.viewpoints[number]
        reach = float(np.linalg.norm(view.pose[:3] - self.scene.bounds.mean(axis=0)))
        return from_viewpoint(view, origin, reach)

    def remove(self) -> None:
        """Take everything out of the scene."""
        self.overlays.remove()
        self.layers.remove()
        if self.second is not None:
            self.second.remove()
        if self._contacts is not None:
            self._contacts.remove()
        self.scene.remove()


def fitting(take: Take) -> dict[str, bool]:
    """Return the switches that a take wants to be on or off at first.

    It stands on the ground when nothing says where its root is, the camera follows a root that goes far, frames are shown of what has
    no shapes, and feet are marked where the motion itself says which ones stand.
    """
    roots = take.link_poses[:, 0, :2]
    bounds = take.footprint.bounds(take.link_poses[0])
    size = float(np.linalg.norm(bounds[1] - bounds[0])) if bounds is not None else np.inf
    far = bool(take.num_frames > 1 and np.ptp(roots, axis=0).max() > FAR_WALK * size)
    return {
        "stand": take.stands_by_default,
        "follow": far,
        "frames": bounds is None,
        "contacts": take.contacts is not None,
    }


def fit(switches: Switches, take: Take) -> None:
    """Turn on what a take wants to be on at first; what has no shapes gets the path of its root."""
    for name, on in fitting(take).items():
        setattr(switches, name, on or getattr(switches, name))
    if switches.path is None and not len(take.footprint.points):
        switches.path = take.body.links[0].name


def refit(switches: Switches, take: Take, before: Take) -> None:
    """Set those switches anew for another take that were as the take `before` wanted them."""
    wanted = fitting(take)
    for name, was in fitting(before).items():
        if getattr(switches, name) == was:
            setattr(switches, name, wanted[name])
