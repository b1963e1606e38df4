"""Roles of joints of a person or a robot, such as the left knee, found by topology, geometry in an upright pose, and names.

A figure is a tree of joints at their positions in one upright pose, z up. With height h from its lowest to its highest joint:

    pelvis     the lowest common ancestor of all tips below 0.25·h; seen from there the tree is a tree again
    legs       the two branches of the pelvis with these tips
    chest      the joint with the longest pair of branches to both sides, legs excluded, by the shorter one of a pair: the arms
    head       the joint before the highest other tip beyond the chest
    knee       the joint K of a leg whose least distance from the leg's begin and end is largest; the elbow is the first that is nearly so.
               An axis of a knee points sideways, one of an elbow across upper arm and forearm. A name such as shin counts 1.5 times.
               K is the same joint on both sides where the limbs have as many, by the smaller distance of both sides
    hip        the point c with the smallest sum of |(1 − a·aᵀ)(c − o)|² over the axes a, through o, of up to three joints before the knee;
               ankle, shoulder and wrist likewise. A joint without an axis (a ball) is the point itself

Left is where z × forward points; a person's toes are in front. A robot's left is found by name, without names it is at +y.

A quadruped has tips below 0.25·h on four legs, which begin where the paths to them separate; tips with a common joint in the lower half are
one foot. Of the three ways to make two pairs of legs, the front and the hind legs are those whose middles are furthest apart. What is in
front is found by name; without names it is along `FORWARD_AXES` of a robot, and where the highest tip of an animal is.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, product
from typing import TypeAlias

import numpy as np

from bodymotion.diagnostics.spelling import choices
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.meshes import hull_of_sorted
from bodymotion.model import ik
from bodymotion.model.body import Body
from bodymotion.retargeting.skeletons import check_kind, title
from bodymotion.skeleton import Skeleton
from bodymotion.skeleton.values import FEET, GOAL

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
"""All roles of a figure with two legs. One without arms or head lacks theirs."""
ENDS = ("front", "hind")
LEGS = tuple(f"{end} {side}" for end in ENDS for side in SIDES)
LEG_ENDS = tuple(f"{leg} foot" for leg in LEGS)
QUADRUPED_ROLES = (
    "trunk",
    *(f"{leg} {part}" for leg in LEGS for part in ("hip", "knee", "foot")),
)
"""All roles of a figure with four legs."""
DIGITS = 9
"""Of lengths and poses: the last digits depend on where a recording begins, and would decide between postures that are equally good."""
MAX_JOINTS, MAX_FEET, MIN_JOINTS = 2000, 8, 2
"""Of a figure with its ends; low tips of a figure with four legs, with its tails; of one of these legs."""
LOW, SPLIT = (
    0.25,
    0.5,
)  # Of the height: feet are below; of the height of a trunk: four legs are separate above.
MIN_ARM = 0.12  # Of the height: shorter branches to both sides are no arms.
MIN_SHIN, MIN_THIGH = 0.12, 0.3
"""Of the length of a leg: shorter parts above or below make no knee; of a robot with two legs, whose ankle would be one."""
MAX_FOOT = (
    1.0  # Of the length of a leg: a longer foot of a robot is a chain, such as a track.
)
FORWARD_AXES = np.array([1.0, 1.0])  # x + y: a robot without names faces x or y.
MIN_KNEE_COSINE, MAX_ELBOW_COSINE = 0.7, 0.6
"""The axis of a knee has at least this cosine with the lateral axis, that of an elbow at most this one with upper arm and forearm."""
FIRST_SHARE = {"knee": 1 - 1e-6, "elbow": 0.87}
"""Of the best score: the first joint above is taken, since wrists can be as central as elbows."""
MIDDLE = {
    "knee": re.compile("knee|shin|shank|calf|tibia|lower_?leg", re.I),
    "elbow": re.compile("elb|fore_?arm|lower_?arm", re.I),
}
NAMED = 1.5  # So much likelier is a joint that is named so.
LEFT, RIGHT = (
    re.compile(r"left|(^|[\W_])l([\W_]|$)|^l[A-Z]", re.I),
    re.compile(r"right|(^|[\W_])r([\W_]|$)|^r[A-Z]", re.I),
)
FRONT, HIND = (  # A forearm of an animal is in front, too.
    re.compile(rf"{word}|(^|[\W_])({short})([\W_]|$)", re.I)
    for word, short in (
        ("front|fore", "f[lr]|[lr]f"),
        ("hind|rear|back", "[hr][lr]|[lr]h"),
    )
)
TWIST = re.compile(
    "twist|roll", re.I
)  # Joints of skeletons that rotate a limb about itself, in its middle.
HEAD = re.compile("head|neck", re.I)
FINGER = re.compile(
    "finger|thumb|grip|proximal|intermediate|metacarp|distal|knuckle", re.I
)  # They stay still.
GRIP = re.compile(f"hand|{FINGER.pattern}", re.I)  # Past a wrist they are fingers, too.
LYING = (
    1 / 3
)  # Of its longest extent: a body that is less high lies in its model, as some with y up do.
QUARTERS = rotations.from_rpy(
    0.5 * np.pi * np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 0]])
)
MAX_ARM, MAX_LOW_ARM = 0.9, 0.8
"""Of the length of a leg: longer arms of a robot that lies, or of an animal that stands on them, are front legs."""
MIN_TILT, MAX_TILT = (
    np.radians(3),
    np.radians(30),
)  # Of soles that are made level in the upright pose.
MIN_SOLE = 0.5  # Of the length of a foot: shorter edges are no soles.
MIN_TIP = 1e-3  # [m]
COINCIDENT = 0.02  # Of the height: joints nearer to each other are at one point.

Limb: TypeAlias = tuple[int, Floats, Floats, Floats, int]  # Described at `_limb`.
Point: TypeAlias = tuple[
    int, Floats
]  # The index of a joint or link, and a point (3,) [m] in its frame.


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
    """Joints, then their ends: names, parents, poses (N, 7), world axes (N, 3), NaN for balls and 0 for fixed; no leaf is a helper."""

    names: list[str]
    parents: list[int]
    placed: Floats
    axes: Floats
    owners: list[Point]
    leaves: list[int]


def figure_of_skeleton(
    skeleton: Skeleton, placed: Floats, given: Mapping[str, str] | None = None
) -> Figure:
    """Return the figure of a skeleton whose joints are at poses (T, J, 7), z up.

    Raises
    ------
    ValueError
        When it has neither two nor four legs; the message names what was found. Also for roles or names in `given` that do not exist.
    """
    parents = skeleton.parents
    children = np.bincount(
        [parent for parent in parents if parent >= 0], minlength=len(parents)
    )
    hips, tips = int(np.argmax(children > 1)), np.flatnonzero(children == 0).tolist()
    feet = sorted(tips, key=lambda k: float(placed[:, k, 2].mean()))[:2]
    shapes = poses.transform_points(poses.inverse(placed[:, [hips]]), placed[..., :3])
    deviation = np.linalg.norm(shapes - shapes.mean(axis=0), axis=2).mean(axis=1)
    reference = placed[
        int(
            np.argmax(
                np.round(
                    placed[:, hips, 2] - placed[:, feet, 2].max(axis=1) - deviation, 3
                )
            )
        )
    ]
    ends = [
        (k, end)
        for k, joint in enumerate(skeleton.joints)
        for end in joint.ends * skeleton.unit
    ]
    axes = np.full((len(skeleton.joints) + len(ends), 3), np.nan)
    return _figure(
        title(skeleton), skeleton.names, parents, reference, ends, axes, given
    )


def figure_of_body(body: Body, given: Mapping[str, str] | None = None) -> Figure:
    """Return the figure of a body, all joints at 0 or the limit next to it; errors as `figure_of_skeleton`.

    One that lies in this pose is rotated upright, and feet that are not level are rotated, so that their soles are.
    """
    check_kind(body, "body", Body)
    placed = body.forward_kinematics(neutral(body))
    lies, errors = _lies(body, placed), []
    for quarter in QUARTERS if lies else QUARTERS[-1:]:
        reference = np.round(
            poses.compose(np.array([0.0, 0.0, 0.0, *quarter]), placed), DIGITS
        )
        if quarter[0] < 1 and _lies(body, reference):
            continue
        try:
            return _figure_of_body(body, reference, given, lies)
        except ValueError as error:
            errors.append(error)
    raise errors[-1]


def _lies(body: Body, placed: Floats) -> bool:
    """Return whether a body lies with its links at poses (L, 7): it is flat, or left and right ones are as far above and below the root."""
    depths = [0]
    for link in body.links[1:]:
        depths.append(depths[link.parent] + 1)
    size = np.ptp(placed[:, :3], axis=0)
    middles = np.bincount(depths, placed[:, 2] - placed[0, 2]) / np.bincount(depths)
    return bool(
        size[2] < LYING * size.max() or np.abs(middles).max() < COINCIDENT * size.max()
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
    ends = [(index, end) for index, end in tips if end is not None]
    axes = np.zeros((len(parents) + len(ends), 3))
    for link in body.links[1:]:
        if link.joint.type == "rotate" and link.index in body.joint_links:
            axes[link.index] = rotations.rotate(
                reference[link.index, 3:], link.joint.axis
            )
    names = [link.name for link in body.links]
    figure = _figure(title(body), names, parents, reference, ends, axes, given)
    if figure.is_quadruped:
        return figure
    arm, leg = ([f"left {part}" for part in LIMBS[limb][:3]] for limb in ("arm", "leg"))
    if lies and not (
        arm[0] in figure.points and figure.length(*arm) < MAX_ARM * figure.length(*leg)
    ):
        raise ValueError(
            f"{figure.name}: found no upright pose; expected a figure with two or four legs"
        )
    return _with_level_feet(body, figure)


def foot_cloud(body: Body, figure: Figure, role: str) -> Floats:
    """Return the contact points (N, 3) of a role's link and what it carries, in the upright pose; none without shapes."""
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
        cloud, ankle = foot_cloud(body, figure, role), figure.rest[role]
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
        length, angle = (
            along[same].sum(),
            float(np.arctan2(up[same].sum(), along[same].sum())),
        )
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


def _figure(
    name: str,
    names: Sequence[str],
    parents: Sequence[int],
    reference: Floats,
    ends: Sequence[Point],
    axes: Floats,
    given: Mapping[str, str] | None,
) -> Figure:
    """Return the figure of joints at poses (J, 7) in an upright pose; `axes` are those of the joints, then of the ends."""
    owners = [*((k, np.zeros(3)) for k in range(len(names))), *ends]
    placed = reference[[joint for joint, _ in owners]].copy()
    placed[:, :3] = poses.transform_points(placed, np.array([end for _, end in owners]))
    if len(owners) > MAX_JOINTS:
        raise ValueError(
            f"{name}: {len(owners)} joints and ends; expected at most {MAX_JOINTS}"
        )
    all_names = [*names, *(f"{names[k]} end" for k, _ in ends)]
    inner = {*parents, *(k for k, _ in ends)}
    leaves = [
        k for k, one in enumerate(all_names) if k not in inner and not GOAL.search(one)
    ]
    tree = _Tree(
        all_names, [*parents, *(k for k, _ in ends)], placed, axes, owners, leaves
    )
    check_kind(given or {}, "roles", Mapping)
    given = dict(given or {})
    for role, joint in given.items():
        if role not in (*ROLES, *QUADRUPED_ROLES):
            raise ValueError(
                f"{name}: no role {role!r}; {choices(str(role), [*ROLES, *QUADRUPED_ROLES])}"
            )
        if joint not in tree.names:
            raise ValueError(
                f"{name}: no joint {joint!r}; {choices(str(joint), tree.names)}"
            )
    errors = []
    for find in (
        (_quadruped_roles,)
        if given.keys() & {*QUADRUPED_ROLES}
        else (_roles, _quadruped_roles)
    ):
        try:
            points = find(tree, name, given)
        except ValueError as error:
            errors.append(error)
            continue
        _check_order(tree, name, points, given)
        return Figure(name, tuple(names), reference, points)
    raise errors[0]


def _check_order(
    tree: _Tree, name: str, points: Mapping[str, Point], given: Mapping[str, str]
) -> None:
    """Raise ValueError where a role that is given is not behind the one before it in its limb, or before the one behind it."""
    around = _rooted(
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
            and points[one][0] not in _path(around, points[other][0], -1)
        ):
            first, second = (tree.names[points[role][0]] for role in (one, other))
            raise ValueError(
                f"{name}: {other} {second!r} is not behind {one} {first!r}; name joints of one limb (--map)"
            )


def neutral(body: Body) -> Floats:
    """Return joint values (J,): 0, or the limit next to it."""
    limits = np.array(
        [(j.lower, j.upper) if j.lower <= j.upper else (0, 0) for j in body.joints]
    ).reshape(-1, 2)
    return np.asarray(np.clip(0.0, limits[:, 0], limits[:, 1]))


def hinge(
    body: Body, figure: Figure, above: str, role: str, below: str
) -> tuple[int, float, Floats, float]:
    """Return of a knee or an elbow its column, its value where the limb is straight, how the end moves there, and its wider side.

    With unit axis a, the limbs u above and v below make the angle atan2(a · (u × v), u · v), whose derivative by the joint is 1. The end
    moves by a × v (3,) [m/rad]. The wider side is how much more [rad] limits allow beyond straight than before it, up to π on each side.
    """
    index, rest = figure.points[role][0], figure.rest
    if index not in body.joint_links or body.links[index].joint.type != "rotate":
        raise ValueError(
            f"{figure.name}: {role}: no joint rotates link {figure.names[index]!r}; name a hinge (--map)"
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
    return column, straight, np.cross(axis, v), wider


def bent(
    body: Body, sides: Iterable[tuple[int, float, float]], min_bend: float, bend: float
) -> tuple[Floats, ...]:
    """Return joint values (J,) of knees and elbows bent by `bend` [rad], and limits (J,) that keep them bent by `min_bend` at least.

    `sides`: their columns, their values where they are straight, and the side to which they bend (±1).
    """
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
    """Return the end (3,) of a link without children, for origins (L, 3) of the links; None where nothing defines it.

    It is the end of its shapes, or twice its centre of mass, but then no further than the bone before it is long.
    """
    link = body.links[index]
    cloud = link.contact_points
    middle = (
        0.5 * (cloud.min(axis=0) + cloud.max(axis=0))
        if len(cloud)
        else np.asarray(link.center_of_mass)
    )
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
    at, leaves = tree.placed[:, :3], tree.leaves
    height = float(np.ptp(at[:, 2]))
    feet = [given.get(f"{side} toe") or given.get(f"{side} ankle") for side in SIDES]
    low = [k for k in leaves if at[k, 2] < at[:, 2].min() + LOW * height]
    by_name = (
        [k for k in leaves if FEET.search(tree.names[k])]
        if np.isnan(tree.axes[0, 0])
        else []
    )
    low = by_name if len(by_name) > 1 else low  # Also of a person who lies.
    low = [tree.names.index(one) for one in feet if one] if all(feet) else low
    shared = _shared([_path(tree.parents, k, -1) for k in low])
    pelvis = tree.names.index(given["pelvis"]) if "pelvis" in given else shared
    around = _rooted(tree.parents, pelvis)
    legs: dict[int, int] = {}
    for k in low:
        path = _path(around, k, pelvis)
        if path and (
            path[0] not in legs or at[k, 2] < at[legs[path[0]], 2] - COINCIDENT * height
        ):
            legs[path[0]] = k
    if len(legs) == 4:
        return _quadruped_roles(tree, name, given)
    if not height:
        raise ValueError(
            f"{name}: all joints are at one height; expected a figure that stands in one of its frames"
        )
    if len(legs) != 2:
        what = f"found {len(legs)} legs below {tree.names[pelvis]!r}"
        raise ValueError(
            f"{name}: {what}; expected a figure with two or four legs; name its roles (--map)"
        )
    paths = [_path(around, tip, pelvis) for tip in legs.values()]
    lateral = at[paths[0][0]] - at[paths[1][0]]
    for one, other in zip(*paths, strict=False):
        if np.hypot(*(at[one] - at[other])[:2]) > 2 * COINCIDENT * height:
            lateral = at[one] - at[other]
            break
    lateral = np.array([lateral[0], lateral[1], 0]) / max(np.hypot(*lateral[:2]), 1e-9)
    found: dict[str, Point] = {"pelvis": (tree.owners[pelvis][0], np.zeros(3))}
    parts = _limbs(tree, paths, "knee", lateral, height)
    lengths = np.array(
        [[np.linalg.norm(part[3] - end) for end in part[1:3]] for part in parts]
    )
    min_lengths = (MIN_SHIN if np.isnan(tree.axes[0, 0]) else MIN_THIGH) * lengths.sum(
        axis=1
    )
    if (
        not all(tree.axes[part[0]].any() for part in parts)
        or (lengths.min(axis=1) <= min_lengths).any()
    ):
        raise ValueError(
            f"{name}: found no knees below {tree.names[pelvis]!r}; expected two or four legs with knees"
        )
    foot = max(
        float(np.linalg.norm(at[path[-1]] - part[2]))
        for path, part in zip(paths, parts, strict=True)
    )
    if not np.isnan(tree.axes[0, 0]) and foot > MAX_FOOT * lengths.sum(axis=1).min():
        what = f"found a leg of {lengths.sum(axis=1).min():.3g} m with a foot of {foot:.3g} m"
        raise ValueError(
            f"{name}: {what}; expected two or four legs; name their roles (--map)"
        )
    forward = np.mean(
        [at[path[-1]] - part[2] for path, part in zip(paths, parts, strict=True)],
        axis=0,
    )
    turned = float(np.cross(lateral, [0, 0, 1]) @ forward)  # left × up is forward
    if abs(turned) < COINCIDENT * height or not np.isnan(tree.axes[0, 0]):
        names = [[tree.names[k] for k in path] for path in paths]
        one, other = (
            sum(bool(LEFT.search(name)) - bool(RIGHT.search(name)) for name in leg)
            for leg in names
        )
        turned = one - other or lateral[1]  # A name such as link3 is on both sides.
    if (
        not np.isnan(tree.axes[0, 0])
        and min(part[1][2] for part in parts) > at[pelvis, 2] + LOW * height
    ):
        raise ValueError(
            f"{name}: what hangs from {tree.names[pelvis]!r} are arms; expected two or four legs"
        )
    order = (0, 1) if turned >= 0 else (1, 0)
    lateral = lateral * (1 if turned >= 0 else -1)
    for side, number in zip(SIDES, order, strict=True):
        points = _points(tree, paths[number], parts[number], paths[number][-1])
        for role, point in zip(LIMBS["leg"], points, strict=True):
            found[f"{side} {role}"] = point
    chest, arms = _arms(tree, around, pelvis, set(legs), lateral, height)
    chest = tree.names.index(given["chest"]) if "chest" in given else chest
    paths = [_path(around, tip, chest) for tip in arms]
    limbs = _limbs(tree, paths, "elbow", lateral, height)
    arm, leg = (
        sum(np.linalg.norm(p[3] - p[1]) + np.linalg.norm(p[2] - p[3]) for p in two)
        for two in (limbs, parts)
    )
    on_ground = arms and max(at[[*arms], 2]) < at[:, 2].min() + LOW * height
    if np.isnan(tree.axes[0, 0]) and arm > MAX_LOW_ARM * leg and on_ground:
        return _quadruped_roles(tree, name, given)
    for side, path, part in zip(SIDES, paths, limbs, strict=False):
        past, moving = (
            path[path.index(part[4]) + 1 :],
            [k for k in path if tree.axes[k].any()],
        )
        carried = [
            k
            for k in moving
            if not (GRIP if k in past else FINGER).search(tree.names[k])
        ]
        palm = path[-1] if np.isnan(tree.axes[0, 0]) or not carried else carried[-1]
        for role, point in zip(
            LIMBS["arm"], _points(tree, path, part, palm), strict=True
        ):
            found[f"{side} {role}"] = point
    found["chest"] = (tree.owners[chest][0], np.zeros(3))
    used = {
        *legs.values(),
        *arms,
        *(k for tip in (*legs.values(), *arms) for k in _path(around, tip, pelvis)),
    }
    free = [
        k for k in leaves if k not in used and not used & {*_path(around, k, chest)}
    ]
    top = max(
        (k for k in free if chest in _path(around, k, -1)),
        key=lambda k: at[k, 2],
        default=chest,
    )
    if at[top, 2] > at[chest, 2]:
        path = _path(around, top, chest) or [top]
        named = [k for k in path if HEAD.search(tree.names[k])]
        head = named[-1] if named else path[max(len(path) - 2, 0)]
        found["head"] = (tree.owners[head][0], np.zeros(3))
    return found | {
        role: tree.owners[tree.names.index(joint)] for role, joint in given.items()
    }


def _quadruped_roles(
    tree: _Tree, name: str, given: Mapping[str, str]
) -> dict[str, Point]:
    """Return the points of the roles of a figure with four legs."""
    at, leaves = tree.placed[:, :3], tree.leaves
    low, height = float(at[:, 2].min()), float(np.ptp(at[:, 2]))
    named = (
        [tree.names.index(given[f"{leg} foot"]) for leg in LEGS]
        if {*LEG_ENDS} <= given.keys()
        else []
    )
    # The end of a foot by its centre of mass can be above its joint.
    tips = {
        tree.parents[k]
        if tree.owners[k][1].any() and at[k, 2] > at[tree.parents[k], 2]
        else k
        for k in leaves
    }
    ways = {
        k: _path(tree.parents, k, -1)
        for k in named or sorted(tips)
        if named or at[k, 2] < low + LOW * height
    }
    moving = np.asarray(tree.axes.any(axis=1))
    ways = {
        k: way for k, way in ways.items() if np.count_nonzero(moving[way]) >= MIN_JOINTS
    }
    feet: list[int] = []
    trunk = _shared([*ways.values()])
    for k in sorted(ways, key=lambda k: float(np.round(at[k, 2], 3))):
        splits = [_shared([ways[k], ways[foot]]) for foot in feet]
        feet += [k] * bool(
            len(feet) <= MAX_FEET
            and np.all(at[splits, 2] > low + SPLIT * (at[trunk, 2] - low))
        )
    if 4 < len(feet) <= MAX_FEET:  # A tail has no other of its length.
        counts = [len(ways[foot]) for foot in feet]
        feet = [
            foot
            for foot, count in zip(feet, counts, strict=True)
            if counts.count(count) > 1
        ]
    paths = [
        [
            k
            for k in ways[foot]
            if not any(k in ways[other] for other in feet if other != foot)
        ]
        for foot in feet
    ]
    if len(paths) != 4 or not all(paths):
        raise ValueError(
            f"{name}: found {len(paths)} feet; expected two or four legs; name its roles (--map)"
        )
    ends = np.array([at[path[0], :2] for path in paths])
    pairs = [([0, k], [j for j in (1, 2, 3) if j != k]) for k in (1, 2, 3)]
    one, other = max(
        pairs,
        key=lambda two: float(
            np.linalg.norm(ends[two[0]].sum(0) - ends[two[1]].sum(0))
        ),
    )
    along = ends[one].mean(axis=0) - ends[other].mean(axis=0)
    words = [
        [" ".join(tree.names[k] for k in paths[leg]) for leg in pair]
        for pair in (one, other)
    ]
    front = [
        sum(bool(FRONT.search(word)) - bool(HIND.search(word)) for word in pair)
        for pair in words
    ]
    top = at[max(leaves, key=lambda k: at[k, 2]), :2] - ends.mean(axis=0)
    sign = front[0] - front[1] or along @ (
        top if np.isnan(tree.axes[0, 0]) else FORWARD_AXES
    )
    one, other, along = (one, other, along) if sign >= 0 else (other, one, -along)
    lateral = np.array([-along[1], along[0], 0.0]) / max(
        float(np.linalg.norm(along)), MIN_TIP
    )
    trunk = _shared([ways[foot] for foot in feet])
    found: dict[str, Point] = {"trunk": (tree.owners[trunk][0], np.zeros(3))}
    for end, pair in zip(ENDS, (one, other), strict=True):
        legs = [
            paths[k] for k in sorted(pair, key=lambda k: -float(ends[k] @ lateral[:2]))
        ]
        for side, path, part in zip(
            SIDES, legs, _limbs(tree, legs, "knee", lateral, height), strict=True
        ):
            hip, knee, _, foot = _points(tree, path, part, path[-1])
            lengths = [
                np.linalg.norm(a - b)
                for a, b in ((part[1], part[3]), (part[3], at[path[-1]]))
            ]
            if min(lengths) < MIN_SHIN * sum(lengths) or not tree.axes[part[0]].any():
                raise ValueError(
                    f"{name}: found no knee of the {end} {side} leg; name its roles (--map)"
                )
            found |= {
                f"{end} {side} {role}": at
                for role, at in (("hip", hip), ("knee", knee), ("foot", foot))
            }
    return found | {
        role: tree.owners[tree.names.index(joint)] for role, joint in given.items()
    }


def _shared(paths: list[list[int]]) -> int:
    """Return the last joint that paths from the root have in common; 0 without."""
    return max({*paths[0]}.intersection(*paths[1:]), default=0) if paths else 0


def _path(parents: Sequence[int], joint: int, top: int) -> list[int]:
    """Return the joints from below `top` (−1: from the root) to a joint."""
    found = []
    while joint not in (top, -1):
        found.append(joint)
        joint = parents[joint]
    return found[::-1]


def _rooted(parents: Sequence[int], root: int) -> list[int]:
    """Return the parents of all joints, seen from another root."""
    found = list(parents)
    previous, joint = -1, root
    while joint >= 0:
        found[joint], previous, joint = previous, joint, parents[joint]
    return found


def _arms(
    tree: _Tree,
    around: Sequence[int],
    pelvis: int,
    legs: set[int],
    lateral: Floats,
    height: float,
) -> tuple[int, tuple[int, ...]]:
    """Return the chest, and the tips of the left and the right arm; (pelvis, ()) without arms."""
    at = tree.placed[:, :3]
    bone = np.array(
        [np.linalg.norm(at[k] - at[p]) if p >= 0 else 0.0 for k, p in enumerate(around)]
    ).tolist()
    children: list[list[int]] = [[] for _ in around]
    for k, parent in enumerate(around):
        children[parent] += [k] * (parent >= 0 and k not in legs)
    # Seen from the pelvis, a root that only holds the pelvis is an end, too: a helper of the file, and no hand.
    leaves = {*range(len(at))} - {*around, tree.parents.index(-1)}
    leaves = {k for k in leaves if not GOAL.search(tree.names[k])}
    tips: tuple[int, ...] = ()
    best, chest = MIN_ARM * height, pelvis
    for joint in (k for k in range(len(at)) if len(children[k]) > 1):
        under = [joint]
        for k in under:
            under += children[k]
        spine = at[joint] - at[pelvis]
        across = lateral - spine * float(lateral @ spine) / max(
            float(spine @ spine), MIN_TIP**2
        )
        beside, lengths = {joint: 0}, {joint: 0.0}
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
            first = [_path(around, tip, joint)[0] for _, tip in sides.values()]
            if first[0] != first[1]:
                best, chest, tips = shorter, joint, (sides[1][1], sides[-1][1])
    return chest, tips


def _limbs(
    tree: _Tree, paths: list[list[int]], role: str, lateral: Floats, height: float
) -> list[Limb]:
    """Return the limbs of both sides. Where they have as many joints, K is the same one: the shapes of a robot are not quite symmetric."""
    scores = [_scores(tree, path, role, lateral) for path in paths]
    if len({len(path) for path in paths}) == 1:
        scores = [np.minimum(*scores)] * 2
    middles = [
        int(np.argmax(score >= FIRST_SHARE[role] * score.max())) for score in scores
    ]
    return [
        _limb(tree, path, role, middle, height)
        for path, middle in zip(paths, middles, strict=True)
    ]


def _scores(tree: _Tree, path: list[int], role: str, lateral: Floats) -> Floats:
    """Return how likely (N,) [m] the joints of a limb are its middle one, K."""
    at, axes = tree.placed[:, :3], tree.axes
    scores = []
    for k in path:
        score = min(
            np.linalg.norm(at[k] - at[path[0]]), np.linalg.norm(at[k] - at[path[-1]])
        )
        if not np.isnan(axes[k, 0]):
            ways = np.stack([at[k] - at[path[0]], at[path[-1]] - at[k]])
            along = float(
                (
                    np.abs(ways @ axes[k])
                    / np.maximum(np.linalg.norm(ways, axis=1), 1e-9)
                ).max()
            )
            fits = (
                abs(float(axes[k] @ lateral)) > MIN_KNEE_COSINE
                if role == "knee"
                else along < MAX_ELBOW_COSINE
            )
            score *= bool(axes[k].any()) and (
                fits or bool(MIDDLE[role].search(tree.names[k]))
            )
        else:
            score *= not TWIST.search(tree.names[k])
        scores.append(score * (NAMED if MIDDLE[role].search(tree.names[k]) else 1.0))
    return np.array(scores)


def _limb(tree: _Tree, path: list[int], role: str, middle: int, height: float) -> Limb:
    """Return of a limb: its joint K, the points (3,) of its upper end, lower end and K, and the joint of the lower end."""
    at, axes = tree.placed[:, :3], tree.axes
    if np.isnan(axes[path[middle], 0]):
        apart = COINCIDENT * height
        ends = [
            k
            for k in path
            if np.linalg.norm(at[k] - at[path[middle]]) > apart
            and not TWIST.search(tree.names[k])
        ]
        above = next((k for k in reversed(ends) if k in path[:middle]), path[0])
        below = next((k for k in ends if k in path[middle + 1 :]), path[-1])
        return path[middle], at[above], at[below], at[path[middle]], below
    moving = [k for k in path if axes[k].any()]
    split = moving.index(path[middle]) if path[middle] in moving else 0
    near = 2 if role == "knee" else 3
    beyond = [k for k in moving[split + 1 :] if not FINGER.search(tree.names[k])]
    after = ([k for k in beyond if not GRIP.search(tree.names[k])] or beyond)[:near]
    start = _crossing(at, axes, moving[max(split - 3, 0) : split] or path[:1])
    if after and np.linalg.norm(
        at[after[-1]] - at[path[middle]]
    ) > 0.3 * np.linalg.norm(at[path[middle]] - start):
        end, last = _crossing(at, axes, after), after[-1]
    else:  # no joint between the elbow and the tip
        end, last = at[path[-1]], path[-1]
    hinge = axes[path[middle]]
    middle_point = at[path[middle]] + hinge * float(
        (0.5 * (start + end) - at[path[middle]]) @ hinge
    )
    return path[middle], start, end, middle_point, last


def _crossing(at: Floats, axes: Floats, joints: Sequence[int]) -> Floats:
    """Return the point (3,) nearest to the axes of joints; of several, the one nearest to the last joint."""
    matrix, right = 1e-3 * np.eye(3), 1e-3 * at[joints[-1]]
    for k in joints:
        across = np.eye(3) - np.outer(axes[k], axes[k])
        matrix, right = matrix + across, right + across @ at[k]
    return np.asarray(np.linalg.solve(matrix, right))


def _points(tree: _Tree, path: list[int], part: Limb, holder: int) -> list[Point]:
    """Return the points of the four roles of a limb: those of the upper end are of the joint before K, the tip is that of the `holder`."""
    middle, start, end, between, last = part
    number = path.index(middle)
    above = path[max(number - 1, 0)]

    def point(joint: int, position: Floats) -> Point:
        owner = tree.owners[joint][0]
        return owner, poses.transform_points(
            poses.inverse(tree.placed[joint, :]), position
        ) + tree.owners[joint][1]

    return [
        point(above, start),
        point(middle, between),
        point(last, end),
        point(holder, tree.placed[path[-1], :3]),
    ]
