"""The figure of a person or a robot, found by topology and geometry.

Names help where these do not decide.

A figure is a tree of joints at their positions in one upright pose, z up. With height h
from its lowest to its highest joint:

    legs     of a person, two limbs whose bones mirror each other (`skeleton.limbs`);
             of a robot, branches with tips below 0.25·h
    pelvis   the lowest common ancestor of the tips of the legs; seen from there the
             tree is a tree again
    chest    the joint with the longest pair of branches to both sides, legs excluded,
             by the shorter one of a pair: the arms
    head     on the path to the highest other tip beyond the chest: of a person where it
             branches, else its last joint; of a robot the link of that name, else the
             one before the tip

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
both sides. The hip is the point c with the smallest sum of |(1 − a·aᵀ)(c − o)|² over
the axes a, through o, of up to three joints before the knee; ankle, shoulder and wrist
likewise. A robot's left is found by name, without names it is at +y: where z × forward
points.

A quadruped has tips below 0.25·h on four legs, which begin where the paths to them
separate; tips with a common joint in the lower half are one foot. Of the three ways to
make two pairs of legs, the front and the hind legs are those whose middles are furthest
apart. What is in front is found by name; without names it is along `FORWARD_AXES` of a
robot, and where the highest tip of an animal is.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import numpy as np

from bodymotion.diagnostics.spelling import choices
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body
from bodymotion.model.trees import path_below, with_root
from bodymotion.retargeting.biped_roles import find_biped_roles
from bodymotion.retargeting.foot_shapes import level_feet
from bodymotion.retargeting.hinges import neutral_values
from bodymotion.retargeting.joint_tree import MAX_JOINTS, JointTree, build_joint_tree
from bodymotion.retargeting.limb_search import COINCIDENT, MIN_TIP
from bodymotion.retargeting.quadruped_roles import find_quadruped_roles
from bodymotion.retargeting.roles import (
    DIGITS,
    LEG_PARTS,
    LEGS,
    LIMBS,
    QUADRUPED_ROLES,
    ROLES,
    SIDES,
    Figure,
    Point,
)
from bodymotion.retargeting.skeletons import check_kind, title
from bodymotion.skeleton import Skeleton

# Of its longest extent. A body that is less high lies in its model, as some with y up
# do.
LYING_HEIGHT = 1 / 3
# Rotations that may put a body upright; the last one leaves it as it is.
UPRIGHT_ROTATIONS = rotations.from_rpy(
    0.5 * np.pi * np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 0]])
)
# Of the length of a leg: longer arms of a robot that lies are front legs.
MAX_ARM = 0.9
# Of the centre of mass of a link without shapes: its end is twice as far away.
TIP_FACTOR = 2.0


def figure_of_skeleton(
    skeleton: Skeleton,
    joint_poses: Floats,
    given: Mapping[str, str] | None = None,
) -> Figure:
    """Return the figure of a skeleton whose joints are at poses (T, J, 7), z up.

    Raises
    ------
    ValueError
        When it has neither two nor four legs; the message names what was found. Also
        for roles or names in `given` that do not exist.
    """
    ends = []
    for index, joint in enumerate(skeleton.joints):
        for end in joint.ends * skeleton.unit:
            ends.append(Point(index, end))
    tree = build_joint_tree(skeleton.names, skeleton.parents, joint_poses, ends)
    reference = _choose_upright(tree, joint_poses)
    return _find_figure(title(skeleton), tree, reference, given)


def figure_of_body(body: Body, given: Mapping[str, str] | None = None) -> Figure:
    """Return the figure of a body, all joints at 0 or the limit next to it.

    One that lies in this pose is rotated upright, and feet that are not level are
    rotated, so that their soles are. Errors as `figure_of_skeleton`.
    """
    check_kind(body, "body", Body)
    link_poses = body.forward_kinematics(neutral_values(body))
    lies = _lies(body, link_poses)
    errors = []
    for rotation in UPRIGHT_ROTATIONS if lies else UPRIGHT_ROTATIONS[-1:]:
        rotated = poses.compose(np.array([0.0, 0.0, 0.0, *rotation]), link_poses)
        reference = np.round(rotated, DIGITS)
        is_rotated = rotation[0] < 1
        if is_rotated and _lies(body, reference):
            continue
        try:
            return _figure_of_body(body, reference, given, lies)
        except ValueError as error:
            errors.append(error)
    raise errors[-1]


def _lies(body: Body, link_poses: Floats) -> bool:
    """Return whether a body lies with its links at poses (L, 7).

    It is flat, or left and right ones are as far above and below the root.
    """
    depths = [0]
    for link in body.links[1:]:
        depths.append(depths[link.parent] + 1)
    size = np.ptp(link_poses[:, :3], axis=0)
    heights = link_poses[:, 2] - link_poses[0, 2]
    mean_heights = np.bincount(depths, heights) / np.bincount(depths)
    is_flat = size[2] < LYING_HEIGHT * size.max()
    is_symmetric = np.abs(mean_heights).max() < COINCIDENT * size.max()
    return bool(is_flat or is_symmetric)


def _figure_of_body(
    body: Body,
    reference: Floats,
    given: Mapping[str, str] | None,
    lies: bool,
) -> Figure:
    """Return the figure of a body whose links are at upright poses (L, 7).

    `lies` is whether it lies in its model.
    """
    parents = [link.parent for link in body.links]
    inner = set(parents)
    ends = []
    for link in body.links:
        if link.index not in inner:
            tip = _find_tip(body, link.index, reference[:, :3])
            if tip is not None:
                ends.append(Point(link.index, tip))
    names = [link.name for link in body.links]
    tree = build_joint_tree(names, parents, reference[None], ends)
    axes = np.zeros((len(tree.names), 3))
    for link in body.links[1:]:
        if link.joint.type == "rotate" and link.index in body.joint_links:
            orientation = reference[link.index, 3:]
            axes[link.index] = rotations.rotate(orientation, link.joint.axis)
    figure = _find_figure(title(body), replace(tree, axes=axes), reference, given)
    if figure.is_quadruped:
        return figure
    if lies and not _has_short_arms(figure):
        raise ValueError(
            f"{figure.name}: found no upright pose; expected a figure with two or "
            "four legs"
        )
    return level_feet(body, figure)


def _has_short_arms(figure: Figure) -> bool:
    """Return whether a figure has arms that are too short for front legs."""
    if "left shoulder" not in figure.points:
        return False
    arm = figure.length("left shoulder", "left elbow", "left wrist")
    leg = figure.length("left hip", "left knee", "left ankle")
    return arm < MAX_ARM * leg


def free_root(body: Body, figure: Figure) -> Body:
    """Return a body whose root is free also where its model fixes it.

    A body whose pelvis or trunk is moved by a sliding joint stays as it is.
    """
    base = figure.link_of("trunk" if figure.is_quadruped else "pelvis")
    above = body.columns_above(base)
    if not body.is_mounted or any(body.joints[k].type == "slide" for k in above):
        return body
    root = body.links[0]
    root = replace(root, joint=replace(root.joint, type="free"))
    return replace(body, links=(root, *body.links[1:]))


def _find_tip(
    body: Body,
    index: int,
    origins: Floats,
) -> Floats | None:
    """Return the end (3,) of a link without children, None where nothing defines it.

    It is the end of its shapes, or twice its centre of mass, but then no further than
    the bone before it is long. `origins` (L, 3) [m] are those of the links.
    """
    link = body.links[index]
    cloud = link.contact_points
    if len(cloud):
        middle = 0.5 * (cloud.min(axis=0) + cloud.max(axis=0))
    else:
        middle = np.asarray(link.center_of_mass)
    distance = float(np.linalg.norm(middle))
    if distance < MIN_TIP:
        return None
    if len(cloud):
        return np.asarray(middle * (float((cloud @ middle).max()) / distance**2))
    bone = np.inf
    for above in body.path_to_root(index):
        length = float(np.linalg.norm(origins[above] - origins[index]))
        if length > MIN_TIP:
            bone = length
            break
    return np.asarray(middle * min(TIP_FACTOR, bone / distance))


def _choose_upright(tree: JointTree, joint_poses: Floats) -> Floats:
    """Return the poses (J, 7) of the frame in which a person stands best.

    It is high, and in a pose near to the mean of `joint_poses` (T, J, 7).
    """
    parents = tree.parents[: tree.num_joints]
    children = np.bincount(
        [parent for parent in parents if parent >= 0], minlength=len(parents)
    )
    if tree.legs is None:
        hips = int(np.argmax(children > 1))
        tips = np.flatnonzero(children == 0).tolist()
        tips.sort(key=lambda joint: float(joint_poses[:, joint, 2].mean()))
        feet = tips[:2]
    else:
        hips = tree.legs.joint
        feet = [tree.owners[tip].joint for tip in tree.legs.tips]
    to_hips = poses.inverse(joint_poses[:, [hips]])
    shapes = poses.transform_points(to_hips, joint_poses[..., :3])
    deviation = np.linalg.norm(shapes - shapes.mean(axis=0), axis=2).mean(axis=1)
    height = joint_poses[:, hips, 2] - joint_poses[:, feet, 2].max(axis=1)
    # In whole millimetres: the first of frames that are equally good.
    best = int(np.argmax(np.round(height - deviation, 3)))
    return np.asarray(joint_poses[best])


def _find_figure(
    name: str,
    tree: JointTree,
    reference: Floats,
    given: Mapping[str, str] | None,
) -> Figure:
    """Return the figure of a tree with joints at upright poses (J, 7)."""
    if len(tree.owners) > MAX_JOINTS:
        raise ValueError(
            f"{name}: {len(tree.owners)} joints and ends; expected at most {MAX_JOINTS}"
        )
    tree = _place_tree(tree, reference)
    check_kind(given or {}, "roles", Mapping)
    given = dict(given or {})
    _check_names(tree, name, given)
    finders = [find_biped_roles, find_quadruped_roles]
    if given.keys() & {*QUADRUPED_ROLES}:
        finders = [find_quadruped_roles]
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


def _place_tree(tree: JointTree, reference: Floats) -> JointTree:
    """Return the tree with its joints at poses (J, 7), and the ends with them."""
    placed = reference[[owner.joint for owner in tree.owners]].copy()
    offsets = np.array([owner.offset for owner in tree.owners])
    placed[:, :3] = poses.transform_points(placed, offsets)
    return replace(tree, poses=placed)


def _check_names(
    tree: JointTree,
    name: str,
    given: Mapping[str, str],
) -> None:
    """Raise ValueError for roles or joints that do not exist."""
    roles = [*ROLES, *QUADRUPED_ROLES]
    for role, joint in given.items():
        if role not in roles:
            raise ValueError(f"{name}: no role {role!r}; {choices(str(role), roles)}")
        if joint not in tree.names:
            raise ValueError(
                f"{name}: no joint {joint!r}; {choices(str(joint), tree.names)}"
            )


def _check_order(
    tree: JointTree,
    name: str,
    points: Mapping[str, Point],
    given: Mapping[str, str],
) -> None:
    """Raise ValueError where a given role is not behind the one before it in its limb.

    Or not before the one behind it.
    """
    root = points["trunk" if "trunk" in points else "pelvis"].joint
    parents = with_root(tree.parents, root)
    for role, next_role in _successive_roles():
        is_given = role in given or next_role in given
        if not (is_given and role in points and next_role in points):
            continue
        joint = points[role].joint
        next_joint = points[next_role].joint
        if joint not in path_below(parents, next_joint, -1):
            raise ValueError(
                f"{name}: {next_role} {tree.names[next_joint]!r} is not behind {role} "
                f"{tree.names[joint]!r}; name joints of one limb (--map)"
            )


def _successive_roles() -> list[tuple[str, str]]:
    """Return the pairs of roles that follow each other in a limb."""
    pairs: list[tuple[str, str]] = []
    for side in SIDES:
        for parts in LIMBS.values():
            pairs += pairwise([f"{side} {part}" for part in parts])
    for leg in LEGS:
        pairs += pairwise([f"{leg} {part}" for part in LEG_PARTS])
    return pairs
