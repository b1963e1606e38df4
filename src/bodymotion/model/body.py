"""Bodies: links, joints, devices, extra joints and shapes.

Links are in link-index order, joints in order of joint id.

The joint columns of a body (the J numbers that pose it) follow the joint ids: column i
is the joint with id i. An id that no link has is a placeholder that moves nothing; of
several joints with one id the first in link order has the column. Moving joints without
an id, but for the root, follow after the highest id in link order.

The columns of a motion are those of the joints by name where both have names
(`matched`), else by position. Names are those of joints, or of the links that these
move. They also match where only capitals, `_`, `.`, `-` and blanks differ. `joint_3` is
the joint of id 3 where no joint has this name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import Location, Problem, Source, document, judgement
from bodymotion.diagnostics.spelling import choices, meant, plain
from bodymotion.diagnostics.text import counted, listed
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import ContentEquality, Floats, frozen
from bodymotion.geometry.shapes import Shape
from bodymotion.model.links import MOVING, Device, Joint, Link
from bodymotion.system.deferred import NotebookDisplay

if TYPE_CHECKING:
    from bodymotion.kernels.kinematics import Tree
    from bodymotion.model.ik import Solution, Task
    from bodymotion.motion import Motion, MultiSE3Seq, MultiValueSeq

__all__ = ["Body", "ExtraJoint", "ExtraJointType", "Viewpoint"]

ExtraJointType: TypeAlias = Literal["xyz", "xy", "z", "piston", "ball", "hinge"]

MORE_COLUMNS = judgement.warning(
    "MOT202",
    "A motion has no more joint columns than the body.",
    "the other columns move nothing; the motion may belong to another body",
    example=("29 joints, and columns for 30", "29 columns"),
)
SOME_LINKS = document.warning(
    "MOT212",
    "Beside joint displacements, LinkPosition has the pose of the root link, or the "
    "poses of all links.",
    "the others follow from the joints; the motion may belong to another body",
    example=(
        "poses of 3 links and joints, on a body of 4 links",
        "the root's pose and joints",
    ),
)
NAMELESS = judgement.note(
    "MOT221",
    "The joint columns of a motion have names if the model's file does not number its "
    "joints.",
    "column i is read as joint i of the model",
    example=(
        "columns without names, on a URDF",
        "columns with the names of the joints",
    ),
)
OTHER_NAMES = judgement.warning(
    "MOT222",
    "Each name of a joint column is that of a joint of the body. Other columns are "
    "left out.",
    "the motion may be that of another version of the body",
    example=(
        "columns HIP, KNEE and LAMP, on a body with HIP and KNEE",
        "columns HIP and KNEE",
    ),
)
NO_COLUMN = judgement.warning(
    "MOT223",
    "Each joint of the body has a column where columns have names.",
    "the values of missing joints are 0",
    example=("column HIP, on a body with HIP and KNEE", "columns HIP and KNEE"),
)
MIN_MATCHING = 0.5
"""Share of the names of columns that must be more than joints of the body.

Else the motion is taken for that of another one.
"""
RETIRED = {"MEAS102": "MOT202", "VIEW101": "MOT202"}
NUMBERED = (
    "",
    "openhrp",
    "body",
)  # Formats of models whose joints have ids; "" is a body that was made by a program.
MAX_NAMES = 8  # Names of each side that a message lists.

_GENERIC = re.compile(r"joint_([0-9]{1,6})")


@dataclass(frozen=True, eq=False, kw_only=True)
class ExtraJoint(ContentEquality, positions=(2, 3), axis=(3,)):
    """A constraint that closes a loop.

    Point `positions[0]` of link `links[0]` stays with `positions[1]` of `links[1]`.

    `type`: "xyz" (the two points coincide), "xy" (they coincide in the two directions
    normal to `axis`), "z" (along `axis` only);
    "ball", "piston" and "hinge" as Choreonoid has them; `bodymotion.model.closed_loops`
    has the equations. `axis` (3,) is in the first link's frame.
    """

    name: str = ""
    type: ExtraJointType = "xyz"
    links: tuple[int, int] = (0, 0)
    positions: Floats = field(default_factory=lambda: frozen(np.zeros((2, 3))))
    axis: Floats = field(default_factory=lambda: frozen([1.0, 0.0, 0.0]))
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, kw_only=True)
class Viewpoint(ContentEquality, pose=(7,)):
    """A place to look from.

    `pose` (7,) in the model's frame, looking along −z with +y up; `field_of_view`
    [rad].
    """

    description: str = ""
    pose: Floats = field(
        default_factory=lambda: frozen([0.0, 0.0, 10.0, 1.0, 0.0, 0.0, 0.0])
    )
    field_of_view: float = 0.785398


@dataclass(frozen=True, eq=False, kw_only=True)
class Body(NotebookDisplay, ContentEquality):
    """A robot, or any other object made of links.

    Attributes
    ----------
    links:
        In link-index order: depth-first, in the order of the file; a parent is before
        its children.
    root_pose:
        (7,) The root link's pose in the world when a motion gives none.
    environment:
        Shapes in the world that are not part of the robot; they are shown only.
    info:
        Texts of the file: `info`, `version` and `name` of the OpenHRP document.
    """

    name: str = ""
    links: tuple[Link, ...] = ()
    devices: tuple[Device, ...] = ()
    extra_joints: tuple[ExtraJoint, ...] = ()
    viewpoints: tuple[Viewpoint, ...] = ()
    root_pose: Floats = field(default_factory=lambda: poses.IDENTITY)
    info: Mapping[str, object] = field(default_factory=dict)
    extra: Mapping[str, object] = field(default_factory=dict)
    environment: tuple[Shape, ...] = field(default=(), compare=False)
    source: Source = field(default_factory=Source, compare=False)
    problems: tuple[Problem, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        """Freeze the root pose; check the order of links and their numbers."""
        object.__setattr__(self, "root_pose", frozen(self.root_pose, (7,), "root_pose"))
        for index, link in enumerate(self.links):
            if (
                link.index != index
                or not -1 <= link.parent < index
                or (link.parent == -1) != (index == 0)
            ):
                raise ValueError(
                    f"link {index} ({link.name!r}) has index {link.index} and parent "
                    f"{link.parent}: links are in link-index "
                    "order, the root first, every parent before its children"
                )

    def _summary(self) -> str:
        counts = [f"{len(self.links)} links", f"{self.num_joints} joints"]
        counts += [f"{len(self.devices)} devices"] if self.devices else []
        counts += (
            [f"{len(self.extra_joints)} extra joints"] if self.extra_joints else []
        )
        return f"Body({self.name!r}: {', '.join(counts)}, {self.mass:.4g} kg)"

    @cached_property
    def joint_links(self) -> tuple[int, ...]:
        """For each joint column the index of its link, −1 for a placeholder."""
        owner: dict[int, int] = {}
        for link in self.links:
            if link.joint.id >= 0:
                owner.setdefault(link.joint.id, link.index)
        highest = max(owner, default=-1)
        without_id = [
            link.index
            for link in self.links[1:]
            if link.joint.id < 0 and link.joint.type in MOVING
        ]
        return (*(owner.get(i, -1) for i in range(highest + 1)), *without_id)

    @cached_property
    def joints(self) -> tuple[Joint, ...]:
        """The J joints, one for each column of joint arrays."""
        return tuple(
            self.links[index].joint
            if index >= 0
            else Joint(name="", type="fixed", id=column)
            for column, index in enumerate(self.joint_links)
        )

    @property
    def num_joints(self) -> int:
        """J, the number of columns of joint arrays."""
        return len(self.joint_links)

    @property
    def is_mounted(self) -> bool:
        """Whether the root is fixed to the world.

        It stays where the model puts it, and its mount carries the body.
        """
        return bool(self.links) and self.links[0].joint.type != "free"

    @cached_property
    def mass(self) -> float:
        """The mass [kg] of all links."""
        return float(sum(link.mass for link in self.links))

    def link(self, name: str) -> Link:
        """Return the link of that name.

        Raises
        ------
        KeyError
            When there is none; the message has the names that exist.
        """
        for link in self.links:
            if link.name == name:
                return link
        raise KeyError(
            f"no link {name!r}; {choices(name, [link.name for link in self.links])}"
        )

    def sensors(self, kind: str) -> dict[int, Device]:
        """Return the devices of one kind by id, in order of ids.

        `body.sensors("gyro")[0]`.

        `kind` is the name of the device's node, such as "ForceSensor"; case,
        underscores and a "sensor" at its end do not matter. Of
        several devices with one id the first counts. Devices without an id follow in
        the order of the file, under the next free ids.

        Raises
        ------
        KeyError
            When the kind is unknown and the body has no such device; the message lists
            the kinds that the body has.
        """
        wanted = _kind_key(kind)
        found = [device for device in self.devices if _kind_key(device.kind) == wanted]
        if not found and all(
            _kind_key(known.__name__) != wanted for known in Device.__subclasses__()
        ):
            raise KeyError(
                f"no devices of kind {kind!r}; the body has "
                f"{listed(sorted({one.kind for one in self.devices}), 60) or 'none'}"
            )
        by_id: dict[int, Device] = {}
        for device in found:
            if device.id >= 0:
                by_id.setdefault(device.id, device)
        # Devices without an id follow behind all ids that exist.
        first_free = max(by_id, default=-1) + 1
        return by_id | dict(
            enumerate((device for device in found if device.id < 0), first_free)
        )

    def joint_columns(self, component: MultiValueSeq) -> tuple[int, ...]:
        """Return for each of the J joints the column of a component that is its own.

        −1 for a joint that has none there.

        Columns with names go by name, whatever their order: that of a joint or of the
        link that it moves, up to capitals and separators. Columns with other names are
        left out, if most of the names are joints. Where the columns or the joints have
        no names at all, column i is joint i. `model.body.by_position` gives columns the
        names of the joints by position.

        Raises
        ------
        ValueError
            When most names are that of no joint, one is similar to that of a joint
            without a column, or two name one joint; the message has the first names of
            both sides that do not match.
        """
        count = component.num_parts
        labels = [*component.part_labels[:count]]
        # Fewer labels than columns: the rest has none.
        labels += [""] * (count - len(labels))
        names = [label for label in labels if label]
        joints = [joint.name for joint in self.joints]
        links = _moved(self)
        # Columns beyond the joints may not have names.
        is_in_order = not any(labels[len(joints) :])
        for label, *names_of_joint in zip(labels, joints, links, strict=False):
            # Each label is the joint's, the link's, or none: no search is needed.
            is_in_order &= label in ("", *names_of_joint)
        # Nothing to go by but positions.
        if is_in_order or not any((*joints, *links)):
            return tuple(k if k < count else -1 for k in range(len(joints)))
        if not fits_names(names, self):
            hint = "rename the columns"
            # As many columns as joints: reading them by position may be meant.
            if count == len(joints):
                hint = "by_position=True (--by-position) reads column i as joint i"
            raise ValueError(
                f"{component.content}: {mismatch(names, self)}. Is it a motion of "
                f"another body? {hint}"
            )
        # Columns that have names, in order; `matched` has the joint of each.
        labelled = [column for column, label in enumerate(labels) if label]
        columns = [-1] * len(joints)
        for column, joint in zip(labelled, matched(names, self), strict=True):
            # A column that names no joint is left out.
            if joint < 0:
                continue
            if columns[joint] >= 0:
                raise ValueError(
                    f"two columns of {component.content} are the joint "
                    f"{joints[joint]}: {labels[columns[joint]]} and {labels[column]}"
                )
            columns[joint] = column
        return tuple(columns)

    def joint_values(self, component: MultiValueSeq) -> Floats:
        """Return the values (T, J) of the body's joints in a component.

        In order of joint columns; see `joint_columns`.

        Columns beyond the body's are left out; placeholders without a column are 0. So
        are joints that no column names, which
        `fit_problems` reports.

        Raises
        ------
        ValueError
            As `joint_columns`; also when columns have no names, and a joint has no
            column. The message names the counts and the joints.
        """
        columns = self.joint_columns(component)
        if not any(component.part_labels):
            check_complete(component, self)
        # The usual case needs no copy.
        if columns == tuple(range(self.num_joints)):
            return np.asarray(component.values[:, : self.num_joints])
        there = np.array(columns) >= 0
        values = np.zeros((component.num_frames, self.num_joints))
        values[:, there] = component.values[:, np.array(columns)[there]]
        return frozen(values)

    def recovered_joints(self, link_poses: Floats, q: Floats | None = None) -> Floats:
        """Return joint values (T, J) that lead to poses (T, L, 7) of all links.

        The inverse of `forward_kinematics`.

        A joint angle is the twist of the link in its parent about the joint axis
        (swing-twist decomposition), continuous beyond ±π; a sliding displacement is the
        translation along the axis. Other columns, as those of crawlers, are those of
        `q`, or 0.
        """
        if q is None:
            q = np.zeros((len(link_poses), self.num_joints))
        else:
            q = np.array(q)
        for column, index in enumerate(self.joint_links):
            link = self.links[index]
            # The root is moved by its pose; fixed joints and crawlers have no value.
            if index < 1 or link.joint.type not in ("rotate", "slide"):
                continue
            # Pose of the link at joint value 0, in all frames (T, 7).
            at_zero = poses.compose(link_poses[:, link.parent], link.offset)
            moved = poses.compose(poses.inverse(at_zero), link_poses[:, index])
            if link.joint.type == "slide":
                q[:, column] = moved[:, :3] @ link.joint.axis
            else:
                # Twist about the axis: tan ½q = (v·axis)/w, v the vector part of the
                # quaternion.
                angles = 2 * np.arctan2(moved[:, 4:] @ link.joint.axis, moved[:, 3])
                q[:, column] = np.unwrap(
                    # Into −π…π first, then continuous over frames.
                    angles - 2 * np.pi * np.rint(angles / (2 * np.pi))
                )
        return q

    def forward_kinematics(
        self,
        q: npt.ArrayLike,
        root: npt.ArrayLike | None = None,
        links: Sequence[int] | None = None,
    ) -> Floats:
        """Return the poses of links in the world.

        Parameters
        ----------
        q:
            (..., J) joint displacements [rad or m], in order of joint columns.
        root:
            (..., 7) poses of the root link in the world; `root_pose` by default. Its
            batch axes and those of `q` broadcast.
        links:
            The indices of K links; all L by default.

        Returns
        -------
        (..., L, 7) in link-index order, or (..., K, 7).

        Raises
        ------
        ValueError
            When the last axis of `q` is not J long, or that of `root` not 7.
        """
        from bodymotion.kernels import kinematics

        q = np.asarray(q, dtype=np.float64)
        root = np.asarray(self.root_pose if root is None else root, dtype=np.float64)
        if q.ndim == 0 or q.shape[-1] != self.num_joints:
            raise ValueError(
                f"the body has {self.num_joints} joint columns, q has shape {q.shape}"
            )
        if root.ndim == 0 or root.shape[-1] != 7:
            raise ValueError(
                "a root pose has 7 numbers (x y z qw qx qy qz), root has shape "
                f"{root.shape}"
            )
        if links is None:
            return kinematics.link_poses(self.tree, q, root)
        # Only the links asked for and those that carry them; the root is always row 0.
        rows = sorted({0}.union(*map(self.path_to_root, links)))
        tree = kinematics.Tree(
            # Numbers of the parents among these rows, which are sorted.
            np.searchsorted(rows, self.tree.parents[rows]),
            self.tree.kinds[rows],
            self.tree.columns[rows],
            self.tree.offsets[rows],
            self.tree.axes[rows],
        )
        return kinematics.link_poses(tree, q, root, np.searchsorted(rows, links))

    @cached_property
    def tree(self) -> Tree:
        """The links as arrays for the kernels.

        The joint of the root is fixed, because its pose is an argument.
        """
        from bodymotion.kernels import kinematics

        # Types that are not in the table have no joint value here.
        kinds_of_types = {"rotate": kinematics.ROTATE, "slide": kinematics.SLIDE}
        count = len(self.links)
        kinds = np.zeros(count, dtype=np.int64)
        columns = np.full(count, -1)
        for column, index in enumerate(self.joint_links):
            # Placeholders have no link.
            if index >= 0:
                columns[index] = column
            # The root's pose is an argument, whatever its joint.
            if index > 0:
                joint = self.links[index].joint
                kinds[index] = kinds_of_types.get(joint.type, kinematics.FIXED)
        return kinematics.Tree(
            np.array([link.parent for link in self.links], dtype=np.int64),
            kinds,
            columns,
            np.array([link.offset for link in self.links]).reshape(count, 7),
            np.array([link.joint.axis for link in self.links]).reshape(count, 3),
        )

    def path_to_root(self, index: int) -> list[int]:
        """Return the indices of a link and of those that carry it, up to the root."""
        path = [index]
        while path[-1] > 0:
            path.append(self.links[path[-1]].parent)
        return path

    def columns_above(self, *links: int) -> list[int]:
        """Return the columns of the joints between the root and some links, sorted.

        `links`: their indices.
        """
        tree = self.tree
        carrying = set().union(*map(self.path_to_root, links))
        # The root's own joint is fixed, and the world (−1) has none.
        moving = (i for i in carrying if i > 0 and tree.kinds[i])
        return sorted(int(tree.columns[i]) for i in moving)

    def link_poses(self, motion: Motion, *, close_loops: bool = False) -> Floats:
        """Return the poses (T, L, 7) of all links in the world over a motion.

        The .seq document combines link and joint trajectories in three ways. Where the
        motion has the poses of all links, they are used as they are, with or without
        joints beside them. Where it has fewer, the first is the root's and the rest
        follows from the joint displacements, by name where they have names
        (`joint_columns`). Without any link pose, the root is at `root_pose`. A motion
        with link poses alone, on a body of one link, needs no joints.

        `close_loops`: joints in loops that follow from others are worked out anew (see
        `close_loops` of the package; which ones is its
        default) where poses follow from joints; where the motion has the poses of all
        links, they stay as they are.

        Raises
        ------
        ValueError
            When the motion has poses of more links than the body, or no column for one
            of its joints, or neither joints nor poses of all links; the message names
            the counts. Also when only some of its joints' names are the body's.
        """
        count = len(self.links)
        joints = motion.joint_displacement
        placed = motion.link_position
        # A component without poses says nothing about links.
        if placed is not None and placed.num_parts == 0:
            placed = None
        if placed is not None:
            if placed.num_parts > count:
                raise ValueError(
                    f"the motion has poses of {placed.num_parts} links, "
                    f"{self.name or 'the body'} has {count}: is it a motion of "
                    "another body?"
                )
            # Poses of all links need neither joints nor kinematics.
            if placed.num_parts == count:
                return placed.values
            if joints is None and self.num_joints:
                raise ValueError(
                    f"the motion has poses of {placed.num_parts} links and no "
                    f"joint displacements; {self.name or 'the body'} "
                    f"has {count} links and {self.num_joints} joint columns"
                )
            # Joints and the root are put on one timeline before they are combined.
            if joints is not None and joints.timeline != placed.timeline:
                motion = motion.replaced(joints, placed).on_common_timeline()
                joints = motion.joint_displacement
                placed = motion.link_position
        if joints is not None:
            q = self.joint_values(joints)
        elif placed is not None:
            q = np.zeros((placed.num_frames, 0))
        else:
            raise ValueError(
                "the motion has neither joint displacements nor link positions, "
                "so it moves no body"
            )
        if close_loops and self.extra_joints:
            from bodymotion.model import closed_loops

            q = closed_loops.close_loops(self, q).q
        root = None if placed is None else placed.values[:, 0]
        return frozen(self.forward_kinematics(q, root))

    def ik(
        self,
        targets: Mapping[str, npt.ArrayLike] | None = None,
        *,
        tasks: Iterable[Task] = (),
        q0: npt.ArrayLike | None = None,
        root: npt.ArrayLike | None = None,
        free_root: bool | None = None,
        pinned: Iterable[str] = (),
        joints: Iterable[str | int] | None = None,
        posture: npt.ArrayLike | None = None,
        posture_weight: float = 0.0,
        close_loops: bool = True,
        restarts: int = 30,
        max_steps: int = 200,
    ) -> Solution:
        """Return joint values that bring links to their targets, within limits.

        And the pose of the root, where it is free.

        Parameters
        ----------
        targets:
            For each link, by its name, a pose (7,) in the world, a position (3,) [m],
            or an orientation (4,) as quaternion; over T frames (T, 7), (T, 3) or (T,
            4).
        tasks:
            Further tasks, inequalities, and those with weights: `bm.ik.FrameTask`,
            `CenterOfMassTask`, `LookAtTask`, `DistanceTask`, `HalfSpaceTask`.
        q0:
            (J,) where the search begins, by default at 0; each further frame begins
            where the one before ended. (T, J): each frame begins at its own row, as for
            a motion that is changed.
        root:
            (7,) or (T, 7) the pose of the root, by default `root_pose`; where it
            begins, if it is free.
        free_root:
            Whether the root moves. By default it does when links are pinned, but for a
            body whose root is fixed to the world.
        pinned:
            Links (or one) that stay at their pose at `q0` and `root`, whatever else is
            out of reach.
        joints:
            Names or columns of the joints that may move; by default all.
        posture, posture_weight:
            (J,) or (T, J) joint values, `q0` by default, near which joints are held
            with this weight. It competes with the tasks: with 1e-4 they are missed by
            about 1e-8 of the distance to the posture.
        close_loops:
            Whether the loops of the body are kept closed.
        restarts:
            When the targets of the first frame are not reached from `q0`, the number of
            random start poses (always the same ones) that are tried; of those that
            reach them the solution nearest to `q0` is taken.
        max_steps:
            The largest number of steps in each frame.

        Raises
        ------
        ValueError
            When shapes do not fit, numbers are not finite or out of range, or there is
            no task.
        KeyError
            When there is no such link; the message has the names that exist.
        """
        from bodymotion.model import ik

        problem = ik.TaskList(self, q0, root, posture)
        # A text is a sequence of letters: one name is one link.
        if isinstance(pinned, str):
            pinned = (pinned,)
        else:
            pinned = tuple(pinned)
        problem.add_pinned(pinned)
        # Pinned links come first in the names of the solution.
        for task in (
            *(ik.FrameTask(name, goal) for name, goal in (targets or {}).items()),
            *tasks,
        ):
            problem.add_task(task)
        # Loops alone are no task.
        if close_loops and problem.names:
            problem.add_loops()
        # A root moves to hold pinned links, unless it is mounted.
        if free_root is None:
            moves = bool(pinned) and not self.is_mounted
        else:
            moves = free_root
        return ik.solve(
            problem,
            ik.search_space(self, moves, joints, posture_weight),
            restarts,
            max_steps,
        )

    def center_of_mass(self, link_poses: npt.ArrayLike) -> Floats:
        """Return the centre of mass (..., 3) [m] of link poses (..., L, 7).

        A body without mass has it at its root.
        """
        link_poses = np.asarray(link_poses, dtype=np.float64)
        if link_poses.ndim < 2 or link_poses.shape[-2:] != (len(self.links), 7):
            raise ValueError(
                f"link poses have shape (..., {len(self.links)}, 7), these have "
                f"{link_poses.shape}"
            )
        if self.mass == 0:
            return np.array(link_poses[..., 0, :3])
        from bodymotion.kernels import kinematics

        masses = np.array([link.mass for link in self.links])
        centers = np.array([link.center_of_mass for link in self.links])
        return kinematics.center_of_mass(link_poses, masses / self.mass, centers)


def _kind_key(kind: str) -> str:
    return kind.replace("_", "").lower().removesuffix("sensor")


def generic_name(k: int) -> str:
    """Return the name of column k where joints have none.

    It stands for the joint of id k.
    """
    return f"joint_{k}"


def is_generic(name: str) -> bool:
    """Return whether a name is that of a joint without a name: joint_k."""
    return _GENERIC.fullmatch(name) is not None


def matched(names: Sequence[str], body: Body) -> tuple[int, ...]:
    """Return for each name the joint column that it stands for.

    −1 where it stands for none.
    """
    by_joint = _first_columns([joint.name for joint in body.joints])
    by_link = _first_columns(_moved(body))
    # Names of joints and links may cross: one kind alone is preferred.
    if all(name in by_joint for name in names):
        exact = by_joint
    elif all(name in by_link for name in names):
        exact = by_link
    else:
        exact = by_link | by_joint
    alike: dict[str, int] = {}
    for name, column in exact.items():
        # Spellings without capitals and separators.
        # A spelling that two joints share is none's.
        shared = alike.get(plain(name), column) != column
        alike[plain(name)] = -1 if shared else column
    columns = []
    for name in names:
        columns.append(exact.get(name, alike.get(plain(name), -1)))
    # Generic names, `joint_k`, stand for the column k of a joint without a name.
    if -1 in columns:
        count = len(body.joints)
        for number, name in enumerate(names):
            generic = _GENERIC.fullmatch(name)
            if generic and name not in exact and int(generic[1]) < count:
                columns[number] = int(generic[1])
    return tuple(columns)


def _first_columns(names: Sequence[str]) -> dict[str, int]:
    """Return the first column of each name."""
    columns: dict[str, int] = {}
    for column, name in enumerate(names):
        if name:
            columns.setdefault(name, column)
    return columns


def fits_names(names: Sequence[str], body: Body) -> bool:
    """Return whether columns can be matched by name.

    All are joints, or most are and no other is a misspelt joint.
    """
    columns = matched(names, body)
    strange = [name for name, k in zip(names, columns, strict=True) if k < 0]
    if not strange:
        return True
    # Most must match: otherwise it is a motion of another body.
    if len(names) - len(strange) <= MIN_MATCHING * len(names):
        return False
    free = _names_without_column(columns, body)
    # A name that is nearly a free joint's is a misspelling, which must not be dropped.
    return not any(meant(name, free) for name in strange)


def _names_without_column(columns: Sequence[int], body: Body) -> list[str]:
    """Return the names of the joints that are none of the `columns`."""
    wanted = [
        joint.name or link
        for joint, link in zip(body.joints, _moved(body), strict=True)
    ]
    return [name for k, name in enumerate(wanted) if name and k not in columns]


def _moved(body: Body) -> list[str]:
    """Return for each joint column the name of the link that it moves."""
    return [body.links[index].name if index >= 0 else "" for index in body.joint_links]


def mismatch(names: Sequence[str], body: Body) -> str:
    """Return the message about names that are not all those of a body's joints.

    How many match, and the first of each side that do not.
    """
    columns = matched(names, body)
    strange = [name for name, k in zip(names, columns, strict=True) if k < 0]
    free = _names_without_column(columns, body)
    pairs = ((name, meant(name, free)) for name in strange)
    better = next(
        (f"; did you mean {other} for {name}?" for name, other in pairs if other), ""
    )
    others = listed(free, MAX_NAMES) or "none"
    others = f"joints of {body.name or 'the body'} without a column: {others}"
    return (
        f"{len(names) - len(strange)} of {counted(len(names), 'joint name')} match: "
        f"no joint is named {listed(strange, MAX_NAMES)}; "
        f"{others}{better}"
    )


def by_position(motion: Motion, body: Body) -> Motion:
    """Return the motion with its joint columns named after the body's joints.

    By position, whatever names they have. Column i is joint i of the body; further
    columns get no name.
    """
    joints = motion.joint_displacement
    if joints is None:
        return motion
    names = [
        joint.name or link
        for joint, link in zip(body.joints, _moved(body), strict=True)
    ]
    # Further columns get empty names; missing ones none.
    labels = (*names, *[""] * (joints.num_parts - len(names)))[: joints.num_parts]
    return motion.replaced(
        *(
            replace(c, part_labels=labels) if c is joints else c
            for c in motion.components
        )
    )


def _name_problems(
    joints: MultiValueSeq, body: Body, locate: Callable[[], Location]
) -> list[Problem]:
    """Return the problems of columns and joints whose names match no other.

    Nothing where the names do not fit at all.
    """
    names = [name for name in joints.part_labels if name]
    title = body.name or "the body"
    # Where names do not fit at all, `joint_columns` raises for the whole motion.
    if not any(joint.name for joint in body.joints) or not fits_names(names, body):
        return []
    columns = matched(names, body)
    found = []
    others = [name for name, k in zip(names, columns, strict=True) if k < 0]
    if others:
        message = (
            f"no joint of {title} is named {listed(others, MAX_NAMES)}: "
            "the columns are left out"
        )
        found.append(OTHER_NAMES.problem(message, locate(), data={"names": others}))
    missing = _joints_without_column(columns, body)
    if missing:
        message = (
            f"no column for {listed(missing, MAX_NAMES)} of {title}: their values are 0"
        )
        found.append(NO_COLUMN.problem(message, locate(), data={"names": missing}))
    return found


def _joints_without_column(columns: Collection[int], body: Body) -> list[str]:
    """Return the names of the joints, placeholders apart, that have no column."""
    joints = enumerate(zip(body.joints, body.joint_links, strict=True))
    return [
        joint.name or body.links[link].name
        for number, (joint, link) in joints
        if number not in columns and link >= 0
    ]


def check_complete(component: MultiValueSeq, body: Body) -> None:
    """Raise ValueError where a joint of the body has no column.

    The message names the counts and the joints.
    """
    columns = body.joint_columns(component)
    present = {number for number, column in enumerate(columns) if column >= 0}
    missing = _joints_without_column(present, body)
    if missing:
        raise ValueError(
            f"{component.content} has {component.num_parts} joint columns, "
            f"{body.name or 'the body'} has {body.num_joints}: there is "
            f"none for {listed(missing, 60)}. Is it a motion of another body?"
        )


def fit_problems(
    motion: Motion, body: Body, locate: Callable[[], Location] | None = None
) -> tuple[Problem, ...]:
    """Return what is to be reported of a motion whose joint columns are read on a body.

    Too many columns (MOT202), none with a name (MOT221), names of no joint (MOT222),
    joints without a name among the columns (MOT223), and poses of some links that are
    not used (MOT212).
    """
    joints = motion.joint_displacement
    if joints is None:
        return ()
    name = body.name or "the body"
    if locate is None:
        path = motion.source.path
        locate = partial(Location, None if path is None else str(path))
    found = []
    has_names = any(joints.part_labels)
    # With names, columns are reported by name; without, by their number.
    if has_names:
        found += _name_problems(joints, body, locate)
    elif joints.num_parts > body.num_joints:
        message = (
            f"{joints.content} has {joints.num_parts} joint columns, "
            f"{name} has {body.num_joints} joints; the columns "
            f"from {body.num_joints} on are left out"
        )
        data = {"motion": joints.num_parts, "body": body.num_joints}
        found.append(MORE_COLUMNS.problem(message, locate(), data=data))
    # Joints of these models have ids, which columns without names follow.
    if joints.num_parts and not has_names and body.source.format not in NUMBERED:
        columns = counted(joints.num_parts, "joint column")
        message = f"{columns} without names, read in the order of the joints of {name}"
        found.append(NAMELESS.problem(message, locate()))
    links = motion.link_position
    # One pose is the root's; those of all links are used.
    if links is not None and 1 < links.num_parts < len(body.links):
        found.append(_unused_link_poses(motion, links, body, locate))
    return tuple(found)


def _unused_link_poses(
    motion: Motion, links: MultiSE3Seq, body: Body, locate: Callable[[], Location]
) -> Problem:
    numbers = {id(component): k for k, component in enumerate(motion.components)}
    location = motion.source.locations.locate(("components", numbers[id(links)]))
    message = (
        f"{links.content} has poses of {links.num_parts} links, "
        f"{body.name or 'the body'} has {len(body.links)}; "
        "only that of the root is used"
    )
    data = {"motion": links.num_parts, "body": len(body.links)}
    return SOME_LINKS.problem(message, location or locate(), data=data)
