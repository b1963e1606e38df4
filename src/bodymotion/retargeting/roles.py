"""Roles of joints of a person or a robot, such as the left knee, found by topology and geometry.

Names help where these do not decide.

A figure is a tree of joints at their positions in one upright pose, z up. With height h
from its lowest to its highest joint:

    legs       of a person, two limbs whose bones mirror each other (`skeleton.limbs`); of a robot, branches with tips below 0.25·h
    pelvis     the lowest common ancestor of the tips of the legs; seen from there the tree is a tree again
    chest      the joint with the longest pair of branches to both sides, legs excluded, by the shorter one of a pair: the arms
    head       on the way to the highest other tip beyond the chest: of a person where it branches, else its last joint; of a robot the link
               of that name, else the one before the tip

Knees and elbows of a person, whose joints are balls, are where upper and lower limb
meet: the joint K with the largest product of the bones above and below. Joints of a
limb that do not bend in the clip only twist it, and divide no bone. Hip, ankle,
shoulder and wrist are the joints before and behind K. The toes of a person are in
front, and its knees bend to the front. Names decide nothing of this, except left and
right where legs are straight and have no toes.

Of a robot, a knee is the joint K whose least distance from the leg's begin and end is
largest; the elbow is the first that is nearly so. An axis of a knee points sideways,
one of an elbow across upper arm and forearm. A name such as shin counts 1.5 times. K is
the same joint on both sides where the limbs have as many, by the smaller distance of
both sides. The hip is the point c with the smallest sum of
|(1 − a·aᵀ)(c − o)|² over the axes a, through o, of up to three joints before the knee; ankle, shoulder and wrist likewise. A robot's left
is found by name, without names it is at +y: where z × forward points.

A quadruped has tips below 0.25·h on four legs, which begin where the paths to them
separate; tips with a common joint in the lower half are one foot. Of the three ways to
make two pairs of legs, the front and the hind legs are those whose middles are furthest
apart. What is in front is found by name; without names it is along `FORWARD_AXES` of a
robot, and where the highest tip of an animal is.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np

from bodymotion.diagnostics.spelling import choices
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.meshes import hull_of_sorted
from bodymotion.model import ik
from bodymotion.model.body import Body
from bodymotion.model.trees import path_below, with_root
from bodymotion.retargeting.skeletons import check_kind, title
from bodymotion.skeleton import Skeleton
from bodymotion.skeleton.limbs import (
    Legs,
    find_goals,
    find_legs,
    find_limb_pairs,
)
from bodymotion.skeleton.values import FEET

SIDES = ("left", "right")
LIMBS = {
    "leg": ("hip", "knee", "ankle", "toe"),
    "arm": ("shoulder", "elbow", "wrist", "hand"),
}
ROLES = (
    "pelvis",
    "chest",
    "head",
    *(f"{side} {part}" for side in SIDES for limb in LIMBS.values() for part in limb),
)
"""All roles of a figure with two legs.

One without arms or head lacks theirs.
"""
ENDS = ("front", "hind")
LEGS = tuple(f"{end} {side}" for end in ENDS for side in SIDES)
LEG_ENDS = tuple(f"{leg} foot" for leg in LEGS)
QUADRUPED_ROLES = (
    "trunk",
    *(f"{leg} {part}" for leg in LEGS for part in ("hip", "knee", "foot")),
)
"""All roles of a figure with four legs."""
DIGITS = 9
"""Of lengths and poses.

The last digits depend on where a recording begins, and would decide between postures
that are equally good.
"""
MAX_JOINTS = 2000
"""Of a figure with its ends."""
MAX_FEET = 8
"""Low tips of a figure with four legs, with its tails."""
MIN_JOINTS = 2
"""Of a leg of a figure with four legs."""
MAX_SAMPLES = 100
"""Frames of a recording that are looked at."""
MAX_FOOT_HEIGHT = 0.25
"""Of the height of a robot: feet are below."""
LEG_SPLIT_HEIGHT = 0.5
"""Of the height of a trunk.

Four legs are separate above; tips that meet below it are parts of one foot.
"""
MIN_ARM = 0.12
"""Of the height: shorter branches to both sides are no arms."""
MIN_SHIN = 0.12
"""Of the length of a leg: shorter parts above or below make no knee."""
MIN_THIGH = 0.3
"""The same for a robot with two legs, whose ankle would be a knee."""
MAX_FOOT = 1.0
"""Of the length of a leg: a longer foot of a robot is a chain, such as a track."""
FORWARD_AXES = np.array([1.0, 1.0])
"""x + y: a robot without names faces x or y."""
MIN_KNEE_COSINE = 0.7
"""Between the axis of a knee and the lateral axis, at least."""
MAX_ELBOW_COSINE = 0.6
"""Between the axis of an elbow, and upper arm and forearm, at most."""
FIRST_SHARE = {"knee": 1 - 1e-6, "elbow": 0.87}
"""Of the best score, for a robot.

The first joint above is taken, since wrists can be as central as elbows.
"""
MIDDLE_NAMES = {
    "knee": re.compile("knee|shin|shank|calf|tibia|lower_?leg", re.I),
    "elbow": re.compile("elb|fore_?arm|lower_?arm", re.I),
}
"""Names of the links of robots below knees and elbows."""
NAME_FACTOR = 1.5
"""So much likelier is a link of a robot that is named so."""
LEFT = re.compile(r"left|(^|[\W_])l([\W_]|$)|^l[A-Z]", re.I)
RIGHT = re.compile(r"right|(^|[\W_])r([\W_]|$)|^r[A-Z]", re.I)
FRONT, HIND = (  # A forearm of an animal is in front, too.
    re.compile(rf"{word}|(^|[\W_])({short})([\W_]|$)", re.I)
    for word, short in (
        ("front|fore", "f[lr]|[lr]f"),
        ("hind|rear|back", "[hr][lr]|[lr]h"),
    )
)
HEAD = re.compile("head|neck", re.I)
"""Names of the heads of robots."""
FINGER = re.compile(
    "finger|thumb|grip|proximal|intermediate|metacarp|distal|knuckle", re.I
)
"""Names of the fingers of robots, which stay still."""
GRIP = re.compile(f"hand|{FINGER.pattern}", re.I)
"""Past a wrist these are fingers, too."""
MIN_BEND = np.radians(2)
"""[rad] A joint of a person whose limb bends by less, while others bend, twists the limb about itself."""
MIN_LIMB_BEND = np.radians(10)
"""[rad] A limb of a person that bends by less, as in a single pose, does not show which joints only twist it."""
MIN_BALANCE = 0.4
"""The shorter of upper and lower limb over the longer one, at least, if joints are left out that only twist.

Else one was a stiff elbow.
"""
OUTER_SHARE = 0.25
"""Of the length of the bone.

Upper arms and thighs begin further apart. Those of people are 1.2 and 0.5 apart.
"""
MIN_WEIGHT = 0.25
"""Of bones that begin at one point, as a middle is found."""
MIN_TURN = 1e-3
"""Of the height: toes, or knees that bend, show in front where they are further ahead.
"""
LYING_HEIGHT = 1 / 3
"""Of its longest extent.

A body that is less high lies in its model, as some with y up do.
"""
UPRIGHT_ROTATIONS = rotations.from_rpy(
    0.5 * np.pi * np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 0]])
)
"""Rotations that may put a body upright."""
MAX_ARM = 0.9
"""Of the length of a leg: longer arms of a robot that lies are front legs."""
MAX_LOW_ARM = 0.8
"""Of the length of a leg.

Longer arms of an animal that stands on them are front legs.
"""
MIN_TILT = np.radians(3)
"""[rad] Soles that are tilted by less are level.

And edges that differ by less are one sole.
"""
MAX_TILT = np.radians(30)
"""[rad] Soles are made level in the upright pose up to this tilt."""
MIN_SOLE = 0.5
"""Of the length of a foot: shorter edges are no soles."""
MIN_TIP = 1e-3
"""[m] Shorter ends are none."""
COINCIDENT = 0.02
"""Of the height: joints nearer to each other are at one point."""


class Point(NamedTuple):
    """A point (3,) [m] in the frame of a joint or link, by its index."""

    joint: int
    offset: Floats


class Limb(NamedTuple):
    """A leg or an arm.

    The points (3,) [m] of its upper end, its middle and its lower end, and the joints
    of the last two.
    """

    middle: int
    last: int
    upper_end: Floats
    center: Floats
    lower_end: Floats

    @property
    def lengths(self) -> Floats:
        """The lengths (2,) [m] above and below the middle."""
        ways = np.stack([self.center - self.upper_end, self.lower_end - self.center])
        return np.asarray(np.linalg.norm(ways, axis=1))


@dataclass(frozen=True, eq=False)
class Figure:
    """A person or a robot, with the points that have roles.

    Attributes
    ----------
    name, names:
        Of the figure, and of its joints or links.
    reference:
        (N, 7) poses of all joints in one upright pose, z up [m].
    points:
        By role, the joint and the point in its frame.
    """

    name: str
    names: tuple[str, ...]
    reference: Floats
    points: Mapping[str, Point]

    def at(self, role: str, placed: Floats) -> Floats:
        """Return the positions (..., 3) of a role's point for poses (..., N, 7) of all joints."""
        joint, offset = self.points[role]
        return poses.transform_points(placed[..., joint, :], offset)

    @property
    def is_quadruped(self) -> bool:
        """Whether it has four legs: its roles are `QUADRUPED_ROLES`."""
        return "trunk" in self.points

    @cached_property
    def rest(self) -> dict[str, Floats]:
        """The positions (3,) of all roles in the upright pose."""
        return {role: self.at(role, self.reference) for role in self.points}

    def length(self, *roles: str) -> float:
        """Return the length [m] of a limb in the upright pose, from role to role."""
        rest = np.array([self.at(role, self.reference) for role in roles])
        return float(np.linalg.norm(np.diff(rest, axis=0), axis=1).sum())


@dataclass(frozen=True, eq=False)
class _Tree:
    """The joints of a figure, then their ends.

    Attributes
    ----------
    names, parents, placed:
        The poses are (N, 7), upright.
    axes:
        (N, 3) in the world; NaN for balls, as those of people, and 0 for fixed joints.
    owners:
        By joint or end, the point of a joint that it is.
    leaves:
        Joints and ends without children that are no helpers.
    num_joints:
        The number of joints, which the ends follow.
    clip:
        (S, N, 3) [m] Positions in some frames of a recording; in the upright pose alone
        for a robot.
    legs:
        The legs of a person, found from the lengths of bones.
    """

    names: list[str]
    parents: list[int]
    placed: Floats
    axes: Floats
    owners: list[Point]
    leaves: list[int]
    num_joints: int
    clip: Floats
    legs: Legs | None = None

    @property
    def is_person(self) -> bool:
        """Whether it was recorded: all its joints are balls."""
        return bool(np.isnan(self.axes[0, 0]))


def figure_of_skeleton(
    skeleton: Skeleton, placed: Floats, given: Mapping[str, str] | None = None
) -> Figure:
    """Return the figure of a skeleton whose joints are at poses (T, J, 7), z up.

    Raises
    ------
    ValueError
        When it has neither two nor four legs; the message names what was found. Also
        for roles or names in `given` that do not exist.
    """
    ends = [
        Point(k, end)
        for k, joint in enumerate(skeleton.joints)
        for end in joint.ends * skeleton.unit
    ]
    tree = _tree_of(skeleton.names, skeleton.parents, placed, ends)
    return _find_figure(title(skeleton), tree, _choose_upright(tree, placed), given)


def figure_of_body(body: Body, given: Mapping[str, str] | None = None) -> Figure:
    """Return the figure of a body, all joints at 0 or the limit next to it.

    Errors as `figure_of_skeleton`.

    One that lies in this pose is rotated upright, and feet that are not level are
    rotated, so that their soles are.
    """
    check_kind(body, "body", Body)
    placed = body.forward_kinematics(neutral(body))
    lies = _lies(body, placed)
    errors = []
    for rotation in UPRIGHT_ROTATIONS if lies else UPRIGHT_ROTATIONS[-1:]:
        reference = np.round(
            poses.compose(np.array([0.0, 0.0, 0.0, *rotation]), placed), DIGITS
        )
        if rotation[0] < 1 and _lies(body, reference):
            continue
        try:
            return _figure_of_body(body, reference, given, lies)
        except ValueError as error:
            errors.append(error)
    raise errors[-1]


def _lies(body: Body, placed: Floats) -> bool:
    """Return whether a body lies with its links at poses (L, 7).

    It is flat, or left and right ones are as far above and below the root.
    """
    depths = [0]
    for link in body.links[1:]:
        depths.append(depths[link.parent] + 1)
    size = np.ptp(placed[:, :3], axis=0)
    middles = np.bincount(depths, placed[:, 2] - placed[0, 2]) / np.bincount(depths)
    return bool(
        size[2] < LYING_HEIGHT * size.max()
        or np.abs(middles).max() < COINCIDENT * size.max()
    )


def _figure_of_body(
    body: Body, reference: Floats, given: Mapping[str, str] | None, lies: bool
) -> Figure:
    """Return the figure of a body whose links are at poses (L, 7), upright, also where the body lies in its model."""
    parents = [link.parent for link in body.links]
    inner = {*parents}
    tips = (
        (k.index, _tip(body, k.index, reference[:, :3]))
        for k in body.links
        if k.index not in inner
    )
    ends = [Point(index, end) for index, end in tips if end is not None]
    axes = np.zeros((len(parents) + len(ends), 3))
    for link in body.links[1:]:
        if link.joint.type == "rotate" and link.index in body.joint_links:
            axes[link.index] = rotations.rotate(
                reference[link.index, 3:], link.joint.axis
            )
    names = [link.name for link in body.links]
    tree = replace(_tree_of(names, parents, reference[None], ends), axes=axes)
    figure = _find_figure(title(body), tree, reference, given)
    if figure.is_quadruped:
        return figure
    arm, leg = ([f"left {part}" for part in LIMBS[limb][:3]] for limb in ("arm", "leg"))
    if lies and not (
        arm[0] in figure.points and figure.length(*arm) < MAX_ARM * figure.length(*leg)
    ):
        raise ValueError(
            f"{figure.name}: found no upright pose; expected a figure with two or "
            "four legs"
        )
    return _with_level_feet(body, figure)


def foot_cloud(body: Body, figure: Figure, role: str) -> Floats:
    """Return the contact points (N, 3) of a role's link and what it carries, in the upright pose.

    None without shapes.
    """
    foot = figure.points[role][0]
    carried = (
        k
        for k in body.links
        if foot in body.path_to_root(k.index) and len(k.contact_points)
    )
    clouds = [
        poses.transform_points(figure.reference[k.index], k.contact_points)
        for k in carried
    ]
    return np.concatenate([np.zeros((0, 3)), *clouds])


def _with_level_feet(body: Body, figure: Figure) -> Figure:
    """Return the figure with feet rotated about their ankles where their soles, seen from the side or the front, are oblique."""
    lateral = figure.rest["left hip"] - figure.rest["right hip"]
    lateral = lateral * [1, 1, 0] / max(float(np.hypot(*lateral[:2])), MIN_TIP)
    ahead = np.cross(lateral, [0.0, 0.0, 1.0])
    for (axis, way), side in product(((lateral, ahead), (ahead, -lateral)), SIDES):
        role = f"{side} ankle"
        cloud = foot_cloud(body, figure, role)
        ankle = figure.rest[role]
        points = np.column_stack([cloud @ way, cloud[:, 2]])[
            np.argsort(cloud[:, 2], kind="stable")
        ]
        lowest = points[
            np.unique(np.round(points[:, 0], 3), return_index=True)[1]
        ]  # Of each millimetre.
        outline = np.array(hull_of_sorted(sorted(map(tuple, lowest.tolist()))))
        if len(outline) < 3:
            continue
        along, up = (np.roll(outline, -1, axis=0) - outline).T
        angles = np.arctan2(up, along)
        same = (
            np.abs(angles - angles[np.argmax(along)]) < MIN_TILT
        )  # A sole that is nearly flat has several edges.
        length = along[same].sum()
        angle = float(np.arctan2(up[same].sum(), along[same].sum()))
        if MIN_TILT < abs(angle) < MAX_TILT and length > MIN_SOLE * np.ptp(
            outline[:, 0]
        ):
            rotation = rotations.from_axis_angle(axis, angle)
            moved = np.array([*(ankle - rotations.rotate(rotation, ankle)), *rotation])
            carried = [
                figure.points[role][0] in body.path_to_root(k)
                for k in range(len(body.links))
            ]
            reference = np.round(poses.compose(moved, figure.reference), DIGITS)
            figure = replace(
                figure,
                reference=np.where(
                    np.array(carried)[:, None], reference, figure.reference
                ),
            )
    return figure


def free_to_walk(body: Body, figure: Figure) -> Body:
    """Return a body whose root is free where its model fixes it, and no sliding joint moves the pelvis."""
    above = body.columns_above(
        figure.points["trunk" if figure.is_quadruped else "pelvis"][0]
    )
    if not body.is_mounted or any(
        body.joints[column].type == "slide" for column in above
    ):
        return body
    root = body.links[0]
    return replace(
        body,
        links=(replace(root, joint=replace(root.joint, type="free")), *body.links[1:]),
    )


def _tree_of(
    names: Sequence[str], parents: Sequence[int], placed: Floats, ends: Sequence[Point]
) -> _Tree:
    """Return the tree of joints at poses (T, J, 7), all balls, and their ends."""
    owners = [*(Point(k, np.zeros(3)) for k in range(len(names))), *ends]
    all_names = [*names, *(f"{names[end.joint]} end" for end in ends)]
    all_parents = [*parents, *(end.joint for end in ends)]
    some = placed[:: max(1, len(placed) // MAX_SAMPLES)]
    some = some[:, [owner.joint for owner in owners]]
    offsets = np.array([owner.offset for owner in owners])
    clip = poses.transform_points(some, np.broadcast_to(offsets, (*some.shape[:2], 3)))
    goals: set[int] = set()
    if len(owners) <= MAX_JOINTS:
        goals = find_goals(all_parents, clip, all_names)
    inner = {*parents, *(end.joint for end in ends)}
    leaves = [k for k in range(len(all_names)) if k not in inner and k not in goals]
    bound = [-1 if k in goals else parent for k, parent in enumerate(all_parents)]
    bones = np.array(
        [
            0.0 if above < 0 else np.median(_distances(clip, k, above))
            for k, above in enumerate(bound)
        ]
    )
    pairs = find_limb_pairs(bound, bones)
    legs = find_legs(bound, pairs, clip[..., 2].mean(axis=0))
    return _Tree(
        names=all_names,
        parents=all_parents,
        placed=some[0],
        axes=np.full((len(owners), 3), np.nan),
        owners=owners,
        leaves=leaves,
        num_joints=len(names),
        clip=clip,
        legs=legs,
    )


def _distances(clip: Floats, one: int, other: int) -> Floats:
    """Return the distances (S,) [m] of two joints in the frames of a clip."""
    return np.asarray(np.linalg.norm(clip[:, one] - clip[:, other], axis=1))


def _choose_upright(tree: _Tree, placed: Floats) -> Floats:
    """Return the poses (J, 7) of joints, of poses (T, J, 7), in the frame in which a person stands best, in a pose near to the mean."""
    parents = tree.parents[: tree.num_joints]
    children = np.bincount(
        [parent for parent in parents if parent >= 0], minlength=len(parents)
    )
    if tree.legs is None:
        hips = int(np.argmax(children > 1))
        tips = np.flatnonzero(children == 0).tolist()
        feet = sorted(tips, key=lambda k: float(placed[:, k, 2].mean()))[:2]
    else:
        hips = tree.legs.joint
        feet = [tree.owners[tip].joint for tip in tree.legs.tips]
    shapes = poses.transform_points(poses.inverse(placed[:, [hips]]), placed[..., :3])
    deviation = np.linalg.norm(shapes - shapes.mean(axis=0), axis=2).mean(axis=1)
    tall = placed[:, hips, 2] - placed[:, feet, 2].max(axis=1)
    return np.asarray(placed[int(np.argmax(np.round(tall - deviation, 3)))])


def _find_figure(
    name: str, tree: _Tree, reference: Floats, given: Mapping[str, str] | None
) -> Figure:
    """Return the figure of a tree whose joints are at poses (J, 7) in an upright pose."""
    owners = tree.owners
    if len(owners) > MAX_JOINTS:
        raise ValueError(
            f"{name}: {len(owners)} joints and ends; expected at most {MAX_JOINTS}"
        )
    placed = reference[[owner.joint for owner in owners]].copy()
    offsets = np.array([owner.offset for owner in owners])
    placed[:, :3] = poses.transform_points(placed, offsets)
    tree = replace(tree, placed=placed)
    check_kind(given or {}, "roles", Mapping)
    given = dict(given or {})
    for role, joint in given.items():
        if role not in (*ROLES, *QUADRUPED_ROLES):
            raise ValueError(
                f"{name}: no role {role!r}; "
                f"{choices(str(role), [*ROLES, *QUADRUPED_ROLES])}"
            )
        if joint not in tree.names:
            raise ValueError(
                f"{name}: no joint {joint!r}; {choices(str(joint), tree.names)}"
            )
    finders = [_roles, _quadruped_roles]
    if given.keys() & {*QUADRUPED_ROLES}:
        finders = [_quadruped_roles]
    errors = []
    for find in finders:
        try:
            points = find(tree, name, given)
        except ValueError as error:
            errors.append(error)
            continue
        _check_order(tree, name, points, given)
        names = tuple(tree.names[: tree.num_joints])
        return Figure(name, names, reference, points)
    raise errors[0]


def _check_order(
    tree: _Tree, name: str, points: Mapping[str, Point], given: Mapping[str, str]
) -> None:
    """Raise ValueError where a role that is given is not behind the one before it in its limb, or before the one behind it."""
    around = with_root(
        tree.parents, points["trunk" if "trunk" in points else "pelvis"][0]
    )
    limbs = [
        [f"{side} {part}" for part in limb] for side in SIDES for limb in LIMBS.values()
    ]
    limbs += [[f"{leg} {part}" for part in ("hip", "knee", "foot")] for leg in LEGS]
    for one, other in (
        pair for limb in limbs for pair in pairwise(limb) if given.keys() & {*pair}
    ):
        if (
            one in points
            and other in points
            and points[one][0] not in path_below(around, points[other][0], -1)
        ):
            first, second = (tree.names[points[role][0]] for role in (one, other))
            raise ValueError(
                f"{name}: {other} {second!r} is not behind {one} {first!r}; name "
                "joints of one limb (--map)"
            )


def neutral(body: Body) -> Floats:
    """Return joint values (J,): 0, or the limit next to it."""
    limits = np.array(
        [(j.lower, j.upper) if j.lower <= j.upper else (0, 0) for j in body.joints]
    ).reshape(-1, 2)
    return np.asarray(np.clip(0.0, limits[:, 0], limits[:, 1]))


class Hinge(NamedTuple):
    """A knee or an elbow.

    `column` is that of its joint. At the value `straight` [rad] the limb is straight,
    and
    its end moves by `end_velocity` (3,) [m/rad]. `wider_side` [rad] is how much more
    the limits allow beyond straight than before it, up to π on each side.
    """

    column: int
    straight: float
    end_velocity: Floats
    wider_side: float


class BendSide(NamedTuple):
    """A knee or an elbow.

    The column of its joint, its value [rad] where it is straight, and the side to which
    it bends (±1).
    """

    column: int
    straight: float
    sign: float


def find_hinge(body: Body, figure: Figure, above: str, role: str, below: str) -> Hinge:
    """Return a knee or an elbow, between the roles above and below.

    ValueError where no joint rotates its link.

    With unit axis a, the limbs u above and v below make the angle atan2(a · (u × v), u
    · v), whose derivative by the joint is 1. The end moves by a × v.
    """
    index = figure.points[role][0]
    rest = figure.rest
    if index not in body.joint_links or body.links[index].joint.type != "rotate":
        raise ValueError(
            f"{figure.name}: {role}: no joint rotates link {figure.names[index]!r}; "
            "name a hinge (--map)"
        )
    column = body.joint_links.index(index)
    axis = rotations.rotate(figure.reference[index, 3:], body.links[index].joint.axis)
    u, v = (
        way - (way @ axis) * axis
        for way in (rest[role] - rest[above], rest[below] - rest[role])
    )
    straight = float(neutral(body)[column] - np.arctan2(axis @ np.cross(u, v), u @ v))
    limits = [
        limit[6 + column] for limit in ik.search_space(body, False, None, 0.0)[1:3]
    ]
    wider = (
        float(np.clip(limits, straight - np.pi, straight + np.pi).sum()) - 2 * straight
    )
    return Hinge(column, straight, np.cross(axis, v), wider)


def bent(
    body: Body, sides: Iterable[BendSide], min_bend: float, bend: float
) -> tuple[Floats, ...]:
    """Return joint values (J,) of knees and elbows bent by `bend` [rad], and limits (J,) that keep them bent by `min_bend` at least."""
    q, (lower, upper) = (
        neutral(body),
        (limit[6:] for limit in ik.search_space(body, False, None, 0.0)[1:3]),
    )
    for column, straight, sign in sides:
        bounds = np.sort(straight + sign * np.array([min_bend, np.pi]))
        lower[column], upper[column] = np.clip(bounds, lower[column], upper[column])
        if sign * (q[column] - straight) < bend:
            q[column] = np.clip(straight + sign * bend, lower[column], upper[column])
    return q, lower, upper


def _tip(body: Body, index: int, at: Floats) -> Floats | None:
    """Return the end (3,) of a link without children, for origins (L, 3) of the links.

    None where nothing defines it.

    It is the end of its shapes, or twice its centre of mass, but then no further than
    the bone before it is long.
    """
    link = body.links[index]
    cloud = link.contact_points
    if len(cloud):
        middle = 0.5 * (cloud.min(axis=0) + cloud.max(axis=0))
    else:
        middle = np.asarray(link.center_of_mass)
    if (far := float(np.linalg.norm(middle))) < MIN_TIP:
        return None
    if not len(cloud):
        bones = (
            float(np.linalg.norm(at[k] - at[index])) for k in body.path_to_root(index)
        )
        return np.asarray(
            middle
            * min(2.0, next((bone for bone in bones if bone > MIN_TIP), np.inf) / far)
        )
    return np.asarray(middle * (float((cloud @ middle).max()) / far**2))


def _roles(tree: _Tree, name: str, given: Mapping[str, str]) -> dict[str, Point]:
    """Return the points of the roles of a figure with two legs, or of one that is found to have four."""
    at = tree.placed[:, :3]
    height = float(np.ptp(at[:, 2]))
    low = _low_tips(tree, height, given)
    shared = _shared([path_below(tree.parents, k, -1) for k in low])
    if "pelvis" in given:
        pelvis = tree.names.index(given["pelvis"])
    else:
        pelvis = shared
    around = with_root(tree.parents, pelvis)
    legs: dict[int, int] = {}
    for k in low:
        path = path_below(around, k, pelvis)
        if not path:
            continue
        if path[0] not in legs or at[k, 2] < at[legs[path[0]], 2] - COINCIDENT * height:
            legs[path[0]] = k
    if len(legs) == 4:
        return _quadruped_roles(tree, name, given)
    if not height:
        raise ValueError(
            f"{name}: all joints are at one height; expected a figure that stands in "
            "one of its frames"
        )
    if len(legs) != 2:
        what = f"found {len(legs)} legs below {tree.names[pelvis]!r}"
        raise ValueError(
            f"{name}: {what}; expected a figure with two or four legs; name its roles "
            "(--map)"
        )
    paths = [path_below(around, tip, pelvis) for tip in legs.values()]
    lateral = _lateral_axis(at, paths, height)
    parts = _limbs(tree, paths, "knee", lateral, height)
    _check_legs(tree, name, pelvis, paths, parts)
    if not _is_left_first(tree, paths, parts, lateral, height):
        paths.reverse()
        parts.reverse()
        lateral = -lateral
    found = {"pelvis": Point(tree.owners[pelvis].joint, np.zeros(3))}
    for side, path, part in zip(SIDES, paths, parts, strict=True):
        points = _points(tree, path, part, path[-1])
        for role, point in zip(LIMBS["leg"], points, strict=True):
            found[f"{side} {role}"] = point
    chest, arms = _arms(tree, around, pelvis, set(legs), lateral, height)
    if "chest" in given:
        chest = tree.names.index(given["chest"])
    paths = [path_below(around, tip, chest) for tip in arms]
    limbs = _limbs(tree, paths, "elbow", lateral, height)
    if tree.is_person and arms:
        arm = sum(float(limb.lengths.sum()) for limb in limbs)
        leg = sum(float(limb.lengths.sum()) for limb in parts)
        hands = float(at[list(arms), 2].max())
        if (
            arm > MAX_LOW_ARM * leg
            and hands < at[:, 2].min() + MAX_FOOT_HEIGHT * height
        ):
            return _quadruped_roles(tree, name, given)
    for side, path, limb in zip(SIDES, paths, limbs, strict=False):
        points = _points(tree, path, limb, _palm(tree, path, limb))
        for role, point in zip(LIMBS["arm"], points, strict=True):
            found[f"{side} {role}"] = point
    found["chest"] = Point(tree.owners[chest].joint, np.zeros(3))
    head = _head(tree, around, pelvis, chest, [*legs.values(), *arms])
    if head is not None:
        found["head"] = Point(tree.owners[head].joint, np.zeros(3))
    return found | {
        role: tree.owners[tree.names.index(joint)] for role, joint in given.items()
    }


def _low_tips(tree: _Tree, height: float, given: Mapping[str, str]) -> list[int]:
    """Return the tips of feet.

    Those of a robot are low; those of a person end the legs, also of who lies or
    crawls.
    """
    feet = [given.get(f"{side} toe") or given.get(f"{side} ankle") for side in SIDES]
    if all(feet):
        return [tree.names.index(foot) for foot in feet if foot]
    if tree.is_person and tree.legs is not None:
        return list(tree.legs.tips)
    if tree.is_person:
        by_name = [k for k in tree.leaves if FEET.search(tree.names[k])]
        if len(by_name) > 1:
            return by_name
    heights = tree.placed[:, 2]
    highest = heights.min() + MAX_FOOT_HEIGHT * height
    return [k for k in tree.leaves if heights[k] < highest]


def _lateral_axis(at: Floats, paths: Sequence[list[int]], height: float) -> Floats:
    """Return the level unit vector (3,) from the second leg to the first, where they are apart first."""
    lateral = at[paths[0][0]] - at[paths[1][0]]
    for one, other in zip(*paths, strict=False):
        way = at[one] - at[other]
        if np.hypot(way[0], way[1]) > 2 * COINCIDENT * height:
            lateral = way
            break
    lateral = lateral * [1.0, 1.0, 0.0]
    return np.asarray(lateral / max(float(np.linalg.norm(lateral)), 1e-9))


def _check_legs(
    tree: _Tree,
    name: str,
    pelvis: int,
    paths: Sequence[list[int]],
    parts: Sequence[Limb],
) -> None:
    """Raise ValueError where legs have no knees, or are arms or tracks."""
    at = tree.placed[:, :3]
    min_share = MIN_SHIN if tree.is_person else MIN_THIGH
    for part in parts:
        too_short = part.lengths.min() <= min_share * part.lengths.sum()
        if too_short or not tree.axes[part.middle].any():
            raise ValueError(
                f"{name}: found no knees below {tree.names[pelvis]!r}; expected two "
                "or four legs with knees"
            )
    if tree.is_person:
        return
    foot = max(
        float(np.linalg.norm(at[path[-1]] - part.lower_end))
        for path, part in zip(paths, parts, strict=True)
    )
    leg = min(float(part.lengths.sum()) for part in parts)
    if foot > MAX_FOOT * leg:
        what = f"found a leg of {leg:.3g} m with a foot of {foot:.3g} m"
        raise ValueError(
            f"{name}: {what}; expected two or four legs; name their roles (--map)"
        )
    height = float(np.ptp(at[:, 2]))
    if (
        min(part.lower_end[2] for part in parts)
        > at[pelvis, 2] + MAX_FOOT_HEIGHT * height
    ):
        raise ValueError(
            f"{name}: what hangs from {tree.names[pelvis]!r} are arms; expected two "
            "or four legs"
        )


def _is_left_first(
    tree: _Tree,
    paths: Sequence[list[int]],
    parts: Sequence[Limb],
    lateral: Floats,
    height: float,
) -> bool:
    """Return whether the first of two legs is the left one, with the lateral axis from the second to the first.

    Left × up is forward. The toes of a person are in front, and knees bend to the
    front. Names help where neither shows, and with robots.
    """
    if tree.is_person:
        at = tree.placed[:, :3]
        ahead = np.cross(lateral, [0.0, 0.0, 1.0])
        toes = sum(
            float(ahead @ (at[path[-1]] - part.lower_end))
            for path, part in zip(paths, parts, strict=True)
        )
        if abs(toes) > 2 * COINCIDENT * height:
            return toes > 0
        knees = _bend_of_knees(tree, parts)
        if abs(knees) > MIN_TURN * height:
            return knees > 0
    votes = [
        sum(
            bool(LEFT.search(tree.names[k])) - bool(RIGHT.search(tree.names[k]))
            for k in path
        )
        for path in paths
    ]
    # A name such as link3 is on both sides.
    return (votes[0] - votes[1] or lateral[1]) >= 0


def _bend_of_knees(tree: _Tree, parts: Sequence[Limb]) -> float:
    """Return how far [m] knees are in front of the lines from hips to ankles, mean of all frames, if the first leg is the left one."""
    first, second = (tree.clip[:, [part.middle, part.last]] for part in parts)
    if tree.legs is not None:
        upper = tree.clip[:, tree.legs.joint]
    else:
        upper = first[:, 0]
    across = first[:, 0] - second[:, 0]
    total = 0.0
    for knee, ankle in ((first[:, 0], first[:, 1]), (second[:, 0], second[:, 1])):
        thigh = knee - upper
        shin = ankle - knee
        # The shin of a bent knee is rotated backwards about the lateral axis: thigh ×
        # shin points to the left.
        bend = np.einsum("ij,ij->i", np.cross(thigh, shin), across)
        size = np.linalg.norm(across, axis=1) * np.linalg.norm(shin, axis=1)
        total += float(np.mean(bend / np.maximum(size, MIN_TIP**2)))
    return total


def _palm(tree: _Tree, path: list[int], limb: Limb) -> int:
    """Return the joint that holds the tip of an arm.

    The end, or the last link of a robot that moves and is no finger.
    """
    if tree.is_person:
        return path[-1]
    past = path[path.index(limb.last) + 1 :]
    carried = []
    for k in path:
        pattern = GRIP if k in past else FINGER
        if tree.axes[k].any() and not pattern.search(tree.names[k]):
            carried.append(k)
    if carried:
        return carried[-1]
    return path[-1]


def _head(
    tree: _Tree, around: Sequence[int], pelvis: int, chest: int, tips: Sequence[int]
) -> int | None:
    """Return the head: on the way to the highest tip beyond the chest, above it, that is in no arm and no leg.

    None without.

    That of a person is where eyes, jaw or hair branch off, else the last joint. That of
    a robot has its name, or is before the tip.
    """
    at = tree.placed[:, :3]
    used = {*tips}
    for tip in tips:
        used.update(path_below(around, tip, pelvis))
    free = [
        k
        for k in tree.leaves
        if k not in used
        and not used & {*path_below(around, k, chest)}
        and chest in path_below(around, k, -1)
    ]
    top = max(free, key=lambda k: float(at[k, 2]), default=chest)
    if at[top, 2] <= at[chest, 2]:
        return None
    path = path_below(around, top, chest) or [top]
    if not tree.is_person:
        named = [k for k in path if HEAD.search(tree.names[k])]
        if named:
            return named[-1]
        return path[max(len(path) - 2, 0)]
    joints = [k for k in path if k < tree.num_joints] or path[:1]
    branches = [k for k in joints if around.count(k) > 1]
    if branches:
        return branches[0]
    return joints[-1]


def _quadruped_roles(
    tree: _Tree, name: str, given: Mapping[str, str]
) -> dict[str, Point]:
    """Return the points of the roles of a figure with four legs."""
    at = tree.placed[:, :3]
    height = float(np.ptp(at[:, 2]))
    named: list[int] = []
    if {*LEG_ENDS} <= given.keys():
        named = [tree.names.index(given[role]) for role in LEG_ENDS]
    tips = _paths_to_low_tips(tree, height, named)
    feet = _separate_feet(tree, tips)
    paths = _own_paths(tips, feet)
    if len(paths) != 4 or not all(paths):
        raise ValueError(
            f"{name}: found {len(paths)} feet; expected two or four legs; name its "
            "roles (--map)"
        )
    pairs = _front_and_hind(tree, paths)
    lateral = np.array([-pairs.forward[1], pairs.forward[0], 0.0])
    lateral /= max(float(np.linalg.norm(pairs.forward)), MIN_TIP)
    trunk = _shared([tips[foot] for foot in feet])
    points = {"trunk": Point(tree.owners[trunk].joint, np.zeros(3))}
    for end, pair in zip(ENDS, (pairs.front, pairs.hind), strict=True):
        from_left = sorted(pair, key=lambda k: -float(at[paths[k][0]] @ lateral))
        legs = [paths[k] for k in from_left]
        limbs = _limbs(tree, legs, "knee", lateral, height)
        for side, path, limb in zip(SIDES, legs, limbs, strict=True):
            thigh = float(np.linalg.norm(limb.center - limb.upper_end))
            shin = float(np.linalg.norm(at[path[-1]] - limb.center))
            is_short = min(thigh, shin) < MIN_SHIN * (thigh + shin)
            if is_short or not tree.axes[limb.middle].any():
                raise ValueError(
                    f"{name}: found no knee of the {end} {side} leg; name its roles "
                    "(--map)"
                )
            hip, knee, _, foot = _points(tree, path, limb, path[-1])
            points[f"{end} {side} hip"] = hip
            points[f"{end} {side} knee"] = knee
            points[f"{end} {side} foot"] = foot
    return points | {
        role: tree.owners[tree.names.index(joint)] for role, joint in given.items()
    }


def _paths_to_low_tips(
    tree: _Tree, height: float, named: Sequence[int]
) -> dict[int, list[int]]:
    """Return by low tip, or by those that are named, the path to it from the root, if it moves as a leg does."""
    at = tree.placed[:, :3]
    tips = set(named)
    if not named:
        highest = float(at[:, 2].min()) + MAX_FOOT_HEIGHT * height
        tips = {
            k for k in map(partial(_lower_end, tree), tree.leaves) if at[k, 2] < highest
        }
    order = named or sorted(tips)
    moving = np.asarray(tree.axes.any(axis=1))
    paths = {k: path_below(tree.parents, k, -1) for k in order}
    return {
        k: path
        for k, path in paths.items()
        if np.count_nonzero(moving[path]) >= MIN_JOINTS
    }


def _lower_end(tree: _Tree, leaf: int) -> int:
    """Return a leaf, or its parent, which is lower.

    The end of a foot by its centre of mass can be above its joint.
    """
    heights = tree.placed[:, 2]
    parent = tree.parents[leaf]
    is_end = bool(tree.owners[leaf].offset.any())
    if is_end and heights[leaf] > heights[parent]:
        return parent
    return leaf


def _separate_feet(tree: _Tree, paths: Mapping[int, list[int]]) -> list[int]:
    """Return the tips that are feet of different legs, the lowest first."""
    heights = tree.placed[:, 2]
    lowest = float(heights.min())
    trunk = _shared([*paths.values()])
    # Legs are separate above this height; tips that meet below it are parts of one
    # foot.
    split_height = lowest + LEG_SPLIT_HEIGHT * (heights[trunk] - lowest)
    feet: list[int] = []
    for tip in sorted(paths, key=lambda k: float(np.round(heights[k], 3))):
        splits = [_shared([paths[tip], paths[foot]]) for foot in feet]
        if len(feet) <= MAX_FEET and np.all(heights[splits] > split_height):
            feet.append(tip)
    if not 4 < len(feet) <= MAX_FEET:
        return feet
    # A tail has no other of its length.
    counts = Counter(len(paths[foot]) for foot in feet)
    return [foot for foot in feet if counts[len(paths[foot])] > 1]


def _own_paths(paths: Mapping[int, list[int]], feet: Sequence[int]) -> list[list[int]]:
    """Return for each foot the joints that lead to no other foot."""
    uses = Counter(k for foot in feet for k in paths[foot])
    return [[k for k in paths[foot] if uses[k] == 1] for foot in feet]


class _LegPairs(NamedTuple):
    """The numbers of the front and of the hind legs, and the level vector (2,) [m] from the middle of these to that of those."""

    front: list[int]
    hind: list[int]
    forward: Floats


def _front_and_hind(tree: _Tree, paths: Sequence[list[int]]) -> _LegPairs:
    """Return the two pairs of four legs whose middles are furthest apart."""
    at = tree.placed[:, :3]
    begins = np.array([at[path[0], :2] for path in paths])
    pairings = [([0, k], [j for j in (1, 2, 3) if j != k]) for k in (1, 2, 3)]
    one, other = max(
        pairings,
        key=lambda pairs: float(
            np.linalg.norm(begins[pairs[0]].sum(0) - begins[pairs[1]].sum(0))
        ),
    )
    forward = begins[one].mean(axis=0) - begins[other].mean(axis=0)
    votes = []
    for pair in (one, other):
        names = [" ".join(tree.names[k] for k in paths[leg]) for leg in pair]
        votes.append(
            sum(bool(FRONT.search(name)) - bool(HIND.search(name)) for name in names)
        )
    ahead = FORWARD_AXES
    if tree.is_person:
        highest = max(tree.leaves, key=lambda k: at[k, 2])
        ahead = at[highest, :2] - begins.mean(axis=0)
    sign = votes[0] - votes[1] or forward @ ahead
    if sign >= 0:
        return _LegPairs(one, other, forward)
    return _LegPairs(other, one, -forward)


def _shared(paths: list[list[int]]) -> int:
    """Return the last joint that paths from the root have in common.

    0 without.
    """
    if paths:
        return max({*paths[0]}.intersection(*paths[1:]), default=0)
    return 0


def _arms(
    tree: _Tree,
    around: Sequence[int],
    pelvis: int,
    legs: set[int],
    lateral: Floats,
    height: float,
) -> tuple[int, tuple[int, ...]]:
    """Return the chest, and the tips of the left and the right arm.

    (pelvis, ()) without arms.
    """
    at = tree.placed[:, :3]
    bone = np.array(
        [np.linalg.norm(at[k] - at[p]) if p >= 0 else 0.0 for k, p in enumerate(around)]
    ).tolist()
    children: list[list[int]] = [[] for _ in around]
    for k, parent in enumerate(around):
        children[parent] += [k] * (parent >= 0 and k not in legs)
    # A root that only holds the pelvis is an end seen from there, too: it is a helper
    # of the file, and no hand.
    leaves = set(tree.leaves)
    tips: tuple[int, ...] = ()
    best = MIN_ARM * height
    chest = pelvis
    for joint in (k for k in range(len(at)) if len(children[k]) > 1):
        under = [joint]
        for k in under:
            under += children[k]
        spine = at[joint] - at[pelvis]
        across = lateral - spine * float(lateral @ spine) / max(
            float(spine @ spine), MIN_TIP**2
        )
        beside = {joint: 0}
        lengths = {joint: 0.0}
        for k, way in zip(
            under[1:], ((at[under[1:]] - at[joint]) @ across).tolist(), strict=True
        ):
            beside[k] = beside[around[k]] or int(np.sign(way)) * (
                abs(way) > COINCIDENT * height
            )
            lengths[k] = lengths[around[k]] + bone[k]
        sides: dict[int, tuple[float, int]] = {}
        for tip in sorted(leaves.intersection(under)):
            side = beside[tip]
            if side and lengths[tip] > sides.get(side, (0.0, 0))[0] * (1 + 1e-9):
                sides[side] = lengths[tip], tip
        if len(sides) == 2 and (
            shorter := min(length for length, _ in sides.values())
        ) > best * (1 + 1e-6):
            first = [path_below(around, tip, joint)[0] for _, tip in sides.values()]
            if first[0] != first[1]:
                best = shorter
                chest = joint
                tips = (sides[1][1], sides[-1][1])
    return chest, tips


def _limbs(
    tree: _Tree, paths: list[list[int]], role: str, lateral: Floats, height: float
) -> list[Limb]:
    """Return the limbs of both sides.

    Where they have as many joints, the middle is the same one: shapes are not quite
    symmetric.
    """
    if tree.is_person:
        scores = [_middle_scores(tree, paths, k, height) for k in range(len(paths))]
        share = 1.0 - 1e-6
    else:
        scores = [_hinge_scores(tree, path, role, lateral) for path in paths]
        share = FIRST_SHARE[role]
    if len({len(path) for path in paths}) == 1:
        scores = [np.minimum(*scores)] * 2
    limbs = []
    for path, score in zip(paths, scores, strict=True):
        middle = int(np.argmax(score >= share * score.max()))
        if tree.is_person:
            limbs.append(_limb_of_person(tree, path, middle, height))
        else:
            limbs.append(_limb_of_robot(tree, path, role, middle))
    return limbs


def _middle_scores(
    tree: _Tree, paths: Sequence[list[int]], side: int, height: float
) -> Floats:
    """Return how likely (N,) [m²] the joints of a limb of a person are its middle.

    The product of the bones above and below.

    Upper and lower limb are its longest bones. Joints that only twist the limb do not
    divide a bone. A bone that begins near the same bone of the other side is a
    clavicle, or part of the pelvis, and counts less: else shoulders were elbows with
    CMU's long clavicles.
    """
    path = paths[side]
    scores = np.zeros(len(path))
    corners = _corners(tree, path, height)
    at = tree.placed[:, :3]
    for before, k, behind in zip(corners, corners[1:], corners[2:], strict=False):
        above = float(np.linalg.norm(at[k] - at[before]))
        below = float(np.linalg.norm(at[behind] - at[k]))
        weight = 1.0
        if len(paths[0]) == len(paths[-1]):
            mirrored = paths[1 - side][path.index(before)]
            apart = float(np.linalg.norm(at[before] - at[mirrored]))
            weight = float(np.clip(apart / (OUTER_SHARE * above), MIN_WEIGHT, 1.0))
        scores[path.index(k)] = weight * above * below
    return scores


def _corners(tree: _Tree, path: list[int], height: float) -> list[int]:
    """Return the joints of a limb of a person that divide it into bones, of several at one point the first, with both ends."""
    apart = [path[0]]
    for k in path[1:]:
        way = tree.placed[k, :3] - tree.placed[apart[-1], :3]
        if np.linalg.norm(way) > COINCIDENT * height:
            apart.append(k)
    if len(apart) < 4:
        return apart
    # The largest angle in the clip between the bones above and below.
    points = tree.clip[:, apart]
    bones = np.diff(points, axis=1)
    bones = bones / np.maximum(np.linalg.norm(bones, axis=2, keepdims=True), MIN_TIP)
    cosines = np.einsum("sij,sij->si", bones[:, 1:], bones[:, :-1])
    bends = np.arccos(np.clip(cosines, -1.0, 1.0)).max(axis=0)
    if bends.max() < MIN_LIMB_BEND:
        return apart
    bent = [k for k, bend in zip(apart[1:-1], bends, strict=True) if bend > MIN_BEND]
    corners = [apart[0], *bent, apart[-1]]
    lengths = sorted(
        float(np.linalg.norm(tree.placed[b, :3] - tree.placed[a, :3]))
        for a, b in pairwise(corners)
    )
    is_stiff = len(lengths) < 2 or lengths[-2] < MIN_BALANCE * lengths[-1]
    return apart if is_stiff else corners


def _limb_of_person(tree: _Tree, path: list[int], middle: int, height: float) -> Limb:
    """Return the limb whose middle is a joint of the path.

    It ends at the joints before and behind that are corners.
    """
    at = tree.placed[:, :3]
    joint = path[middle]
    corners = _corners(tree, path, height)
    if joint not in corners:
        corners = path
    number = corners.index(joint)
    upper = corners[max(number - 1, 0)]
    lower = corners[min(number + 1, len(corners) - 1)]
    return Limb(joint, lower, at[upper], at[joint], at[lower])


def _hinge_scores(tree: _Tree, path: list[int], role: str, lateral: Floats) -> Floats:
    """Return how likely (N,) [m] the joints of a limb of a robot are its middle one."""
    at = tree.placed[:, :3]
    scores = np.zeros(len(path))
    for number, k in enumerate(path):
        axis = tree.axes[k]
        if not axis.any():
            continue
        ways = np.stack([at[k] - at[path[0]], at[path[-1]] - at[k]])
        lengths = np.linalg.norm(ways, axis=1)
        is_named = bool(MIDDLE_NAMES[role].search(tree.names[k]))
        if role == "knee":
            fits = abs(float(axis @ lateral)) > MIN_KNEE_COSINE
        else:
            along = np.abs(ways @ axis) / np.maximum(lengths, 1e-9)
            fits = float(along.max()) < MAX_ELBOW_COSINE
        if fits or is_named:
            scores[number] = lengths.min()
        if is_named:
            scores[number] *= NAME_FACTOR
    return scores


def _limb_of_robot(tree: _Tree, path: list[int], role: str, middle: int) -> Limb:
    """Return the limb whose middle is a joint of the path.

    It ends where the axes of hips, ankles, shoulders or wrists cross.
    """
    at = tree.placed[:, :3]
    axes = tree.axes
    joint = path[middle]
    moving = [k for k in path if axes[k].any()]
    if joint in moving:
        split = moving.index(joint)
    else:
        split = 0
    near = 2 if role == "knee" else 3
    beyond = [k for k in moving[split + 1 :] if not FINGER.search(tree.names[k])]
    after = [k for k in beyond if not GRIP.search(tree.names[k])] or beyond
    after = after[:near]
    start = _crossing(at, axes, moving[max(split - 3, 0) : split] or path[:1])
    upper = float(np.linalg.norm(at[joint] - start))
    end = at[path[-1]]  # Without a joint between the elbow and the tip.
    last = path[-1]
    if after and np.linalg.norm(at[after[-1]] - at[joint]) > 0.3 * upper:
        end = _crossing(at, axes, after)
        last = after[-1]
    hinge = axes[joint]
    center = at[joint] + hinge * float((0.5 * (start + end) - at[joint]) @ hinge)
    return Limb(joint, last, start, center, end)


def _crossing(at: Floats, axes: Floats, joints: Sequence[int]) -> Floats:
    """Return the point (3,) nearest to the axes of joints.

    Of several, the one nearest to the last joint.
    """
    matrix = 1e-3 * np.eye(3)
    right = 1e-3 * at[joints[-1]]
    for k in joints:
        across = np.eye(3) - np.outer(axes[k], axes[k])
        matrix = matrix + across
        right = right + across @ at[k]
    return np.asarray(np.linalg.solve(matrix, right))


def _points(tree: _Tree, path: list[int], limb: Limb, holder: int) -> list[Point]:
    """Return the points of the four roles of a limb.

    The upper end is of the joint before the middle, the tip of the `holder`.
    """
    above = path[max(path.index(limb.middle) - 1, 0)]

    def point(joint: int, position: Floats) -> Point:
        owner = tree.owners[joint]
        to_joint = poses.inverse(tree.placed[joint])
        offset = poses.transform_points(to_joint, position) + owner.offset
        return Point(owner.joint, offset)

    return [
        point(above, limb.upper_end),
        point(limb.middle, limb.center),
        point(limb.last, limb.lower_end),
        point(holder, tree.placed[path[-1], :3]),
    ]
