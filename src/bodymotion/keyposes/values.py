"""Key poses: joints, some links and the zero moment point at a few moments.

Units are metres, radians and seconds; poses and points are in the world's frame. Values
are kept as they are in the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics import Problem, Source
from bodymotion.diagnostics.text import counted
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import ContentEquality, Floats, frozen
from bodymotion.system.deferred import provided_by

if TYPE_CHECKING:
    from bodymotion.keyposes.tracks import StepStyle
    from bodymotion.model.body import Body
    from bodymotion.motion import Motion


@dataclass(frozen=True, eq=False, kw_only=True)
class LinkKey(
    ContentEquality,
    position=(3,),
    rotation=(3, 3),
    parting_direction=(3,),
    contact_points=(None, 3),
):
    """Where a link is at a key pose.

    Inverse kinematics moves the joints between such links.

    Attributes
    ----------
    name, index:
        The link; the name decides where the body has it, else the index.
    position, rotation:
        (3,) [m] and the rotation matrix (3, 3) of the link in the world.
    is_base:
        The link that the others follow from, while this is its last key.
    is_stationary:
        It comes to rest here. A key that touches does, too.
    is_touching:
        It touches the ground or an object here: a foot in contact.
    is_slave:
        The link follows from the joints near this key, not the joints from the link.
    parting_direction, contact_points:
        (3,) and (N, 3), of a link that touches; no influence on the motion.
    """

    name: str = ""
    index: int = -1
    position: Floats = field(default_factory=lambda: frozen(np.zeros(3)))
    rotation: Floats = field(default_factory=lambda: frozen(np.eye(3)))
    is_base: bool = False
    is_stationary: bool = False
    is_touching: bool = False
    is_slave: bool = False
    parting_direction: Floats = field(default_factory=lambda: frozen([0.0, 0.0, 1.0]))
    contact_points: Floats = field(default_factory=lambda: frozen(np.zeros((0, 3))))
    extra: Mapping[str, object] = field(default_factory=dict)

    @property
    def pose(self) -> Floats:
        """The pose (7,): x y z [m], then the quaternion w x y z."""
        return np.concatenate((self.position, rotations.from_matrix(self.rotation)))


@dataclass(frozen=True, eq=False, kw_only=True)
class KeyPose(ContentEquality):
    """A pose at one time.

    Attributes
    ----------
    time, max_transition_time:
        [s] When the pose is reached, and how long at most the movement to it lasts:
        before that, the robot keeps the pose before; 0: the whole time since the pose
        before.
    name:
        Of the pose; without influence.
    joints:
        Displacements [rad or m] by joint id; other joints pass on.
    stationary_joints:
        Ids of those that come to rest here.
    links:
        Links that inverse kinematics moves.
    zmp, zmp_is_stationary:
        Zero moment point (3,) [m], or None, and whether it comes to rest here.
    syllable:
        Of a pose of the mouth: then it has nothing else.
    extra:
        Keys that the format does not define.
    """

    time: float = 0.0
    max_transition_time: float = 0.0
    name: str = ""
    joints: Mapping[int, float] = field(default_factory=dict)
    stationary_joints: frozenset[int] = frozenset()
    links: tuple[LinkKey, ...] = ()
    zmp: Floats | None = None
    zmp_is_stationary: bool = True
    syllable: str = ""
    extra: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "links", tuple(self.links))
        object.__setattr__(self, "stationary_joints", frozenset(self.stationary_joints))
        if self.zmp is not None:
            object.__setattr__(self, "zmp", frozen(self.zmp, (3,), "zmp"))

    def link(self, name: str) -> LinkKey:
        """Return the key of a link.

        Raises
        ------
        KeyError
            When the pose has none of that name.
        """
        for key in self.links:
            if key.name == name:
                return key
        names = [key.name for key in self.links]
        raise KeyError(f"no key of a link {name!r}: the pose has {names}")


@dataclass(frozen=True, eq=False, kw_only=True)
class KeyPoses(ContentEquality):
    """Key poses of a robot, in order of time.

    Of poses at one time, the last is the one that is reached.

    Attributes
    ----------
    name, target_body:
        Of the sequence, and of the body that it is made for.
    poses:
        The key poses.
    extra:
        Keys of the file's top node that the format does not define.
    source, problems:
        Where it came from, and what was found there; not part of `==`.
    """

    name: str = ""
    target_body: str = ""
    poses: tuple[KeyPose, ...] = ()
    extra: Mapping[str, object] = field(default_factory=dict)
    source: Source = field(default_factory=Source, compare=False)
    problems: tuple[Problem, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "poses", tuple(sorted(self.poses, key=lambda pose: pose.time))
        )

    def _summary(self) -> str:
        poses = counted(len(self.poses), "pose")
        return f"KeyPoses({self.name!r}: {poses}, {self.duration:g} s)"

    def __len__(self) -> int:
        return len(self.poses)

    def __getitem__(self, number: int) -> KeyPose:
        return self.poses[number]

    @property
    def duration(self) -> float:
        """The time [s] of the last pose."""
        if self.poses:
            return self.poses[-1].time
        return 0.0

    @property
    def times(self) -> Floats:
        """The times (N,) [s] of the poses."""
        return np.array([pose.time for pose in self.poses])

    @provided_by("bodymotion.keyposes.interpolation:to_motion")
    def to_motion(
        self,
        body: Body,
        frame_rate: float = 100.0,
        *,
        steps: StepStyle = "stealthy",
        automatic_zmp: bool = True,
    ) -> Motion:
        """Return the motion between the poses, as Choreonoid makes it.

        It is from 0 to the last pose.

        Parameters
        ----------
        body:
            The body that moves. Links with keys are moved to these by inverse
            kinematics of chains of six joints.
        frame_rate:
            [Hz]
        steps:
            How feet depart and arrive: "stealthy" (they rise before they move, and sink
            last), "toe" (they roll over the toe), "none".
        automatic_zmp:
            Make a zero moment point where the poses have none, for a body with two feet
            (`footLinks` of a Choreonoid model).

        Raises
        ------
        ValueError
            When there are no poses, or `frame_rate` is not positive and finite.
        """
        raise NotImplementedError

    @classmethod
    @provided_by("bodymotion.keyposes.fitting:fit")
    def from_motion(
        cls,
        motion: Motion,
        body: Body,
        *,
        tolerance: float = 0.01,
        name: str = "",
    ) -> KeyPoses:
        """Return as few key poses as keep the motion between them close to a motion.

        They are within `tolerance` [rad or m] of it at all its frames. The root is a
        link with keys where the motion moves it. Between two poses that are too far
        from the motion, one is added where the difference is largest, until none is:
        the number is small, not the smallest possible.

        Raises
        ------
        ValueError
            When the motion does not fit the body, has a number that is not finite, or
            `tolerance` is not positive.
        """
        raise NotImplementedError
