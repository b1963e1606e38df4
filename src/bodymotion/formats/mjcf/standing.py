"""What lets a model stand in MuJoCo: a floor, a light, a keyframe on the ground, and no contacts between links that overlap at rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from bodymotion.diagnostics.text import counted
from bodymotion.formats.mjcf import rules
from bodymotion.formats.mjcf.geom_writer import solid
from bodymotion.formats.mjcf_extra import mjcf_values
from bodymotion.formats.xml.tree import Element, number_text
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.convex import hull_distance
from bodymotion.geometry.shapes import Box
from bodymotion.model.inertias import is_moving, rigid_groups
from bodymotion.model.motors import default_gains, effort_range, passive_joints

if TYPE_CHECKING:
    from bodymotion.formats.mjcf.body_writer import LinkWriter
    from bodymotion.geometry.shapes import Shape
    from bodymotion.model.body import Body

SelfCollision: TypeAlias = Literal["none", "touching", "all"]
Actuators: TypeAlias = Literal["motor", "position", "none"]
CollisionShapes: TypeAlias = Literal["mesh", "hull", "box"]

TOUCH_DISTANCE = 1e-4
"""[m] Links at most this far apart count as overlapping: MuJoCo has meshes in single precision."""


def boxed(body: Body) -> Body:
    """Return the body with a box, along the axes of the shape, in place of each collision mesh."""

    def box(shape: Shape) -> Shape:
        found = solid(shape)
        if found is None or found.mesh is None or found.is_flat:
            return shape
        low, high = found.mesh.vertices.min(axis=0), found.mesh.vertices.max(axis=0)
        at = poses.compose(found.pose, [*(0.5 * (low + high)), 1.0, 0.0, 0.0, 0.0])
        return replace(shape, geometry=Box(tuple((high - low).tolist())), transform=poses.to_matrix(at))

    return replace(
        body,
        links=tuple(
            replace(link, segments=tuple(replace(s, collisions=tuple(map(box, s.collisions))) for s in link.segments))
            for link in body.links
        ),
    )


def _clouds(body: Body) -> list[list[Floats]]:
    """Return the points (N, 3) of each shape that has contacts in MuJoCo, in its link's frame, by link."""
    found: list[list[Floats]] = []
    for link in body.links:
        found.append([])
        for shape in link.collisions:
            geom = solid(shape)
            if geom is not None and not geom.is_flat:
                points = shape.to_mesh().vertices
                if len(points) and np.isfinite(points).all():
                    found[-1].append(points)
    return found


def home_posture(body: Body) -> tuple[Floats, Floats]:
    """Return joint values (J,) and a root pose (7,): the rest pose within the limits of the joints, on the ground if the root is free."""
    q = np.zeros(body.num_joints)
    if not body.extra_joints:
        for column, joint in enumerate(body.joints):
            if joint.type in ("rotate", "slide") and joint.lower <= joint.upper:
                q[column] = np.clip(0.0, joint.lower, joint.upper)
    root = np.array(body.root_pose, dtype=np.float64)
    if not body.is_mounted:
        root[2] -= lowest_point(body, q, root) or 0.0
    return q, root


def lowest_point(body: Body, q: Floats, root: Floats) -> float | None:
    """Return the height [m] of the lowest point that has contacts, for joint values (J,) and a root pose (7,); None without shapes."""
    clouds = zip(body.forward_kinematics(q, root), _clouds(body), strict=True)
    lows = [poses.transform_points(pose, points)[:, 2].min() for pose, shapes in clouds for points in shapes]
    return float(min(lows)) if lows else None


def overlapping_links(body: Body, postures: Sequence[Floats] = ()) -> list[tuple[int, int]]:
    """Return the pairs of links, by index, whose shapes overlap at rest or in joint values (J,), and which MuJoCo lets collide.

    MuJoCo itself excludes links that move as one, and a moving link and the one that carries it.
    """
    clouds = _clouds(body)
    groups = rigid_groups(body)
    group_of = {index: number for number, group in enumerate(groups) for index in group}
    carried_by = {
        number: group_of[body.links[group[0]].parent]
        for number, group in enumerate(groups)
        if group[0] > 0 and is_moving(body, body.links[group[0]].parent)
    }
    found: set[tuple[int, int]] = set()
    for q in (home_posture(body)[0], np.zeros(body.num_joints), *postures):
        link_poses = body.forward_kinematics(q, poses.IDENTITY)
        shapes = [
            (index, poses.transform_points(link_poses[index], points))
            for index, own in enumerate(clouds)
            for points in own
        ]
        low = np.array([points.min(axis=0) for _, points in shapes]).reshape(-1, 3) - TOUCH_DISTANCE
        high = np.array([points.max(axis=0) for _, points in shapes]).reshape(-1, 3)
        for number, (index, points) in enumerate(shapes):
            near = ((low[number + 1 :] <= high[number]) & (low[number] <= high[number + 1 :])).all(axis=1)
            for other in (np.flatnonzero(near) + number + 1).tolist():
                one, two = group_of[index], group_of[shapes[other][0]]
                if one == two or carried_by.get(one) == two or carried_by.get(two) == one:
                    continue
                pair = (index, shapes[other][0])
                if pair not in found and hull_distance(points, shapes[other][1], TOUCH_DISTANCE) <= TOUCH_DISTANCE:
                    found.add(pair)
    return sorted(found)


def exclude_overlaps(body: Body, links: LinkWriter, contact: Element, postures: Sequence[Floats]) -> None:
    """Exclude contacts of links that overlap at rest or in `postures`; they are reported."""
    known = {(one.get("body1"), one.get("body2")) for one in contact.children}
    named = []
    for pair in overlapping_links(body, postures):
        one, two = (links.elements[index].get("name") for index in pair)
        if (one, two) not in known:
            contact.add("exclude", {"body1": one, "body2": two})
            named.append(f"{one} and {two}")
    if named:
        shown = "; ".join(named[:6]) + (f"; {len(named) - 6} more" if len(named) > 6 else "")
        message = f"{counted(len(named), 'pair')} of links overlap at rest and do not collide in the model: {shown}"
        links.problems.add(rules.OVERLAP.problem(message, data={"pairs": named}))


def position_actuators(body: Body, links: LinkWriter, gains: Floats | None) -> Element:
    """Return a servo for each joint with a column but the passive ones: force = kp · (control − q) − kd · q̇, within its effort.

    `gains` (J, 2) are kp and kd; by default `bodymotion.model.motors.default_gains`.
    """
    actuator = Element("actuator")
    table, passive = default_gains(body) if gains is None else gains, passive_joints(body)
    for column, index in enumerate(body.joint_links):
        if index <= 0 or index not in links.joint_names or body.links[index].joint.type not in ("rotate", "slide"):
            continue
        if column in passive:
            continue
        name, (kp, kd) = links.joint_names[index], table[column].tolist()
        attributes = {"name": links.names.free("actuator", name), "joint": name}
        attributes |= {"kp": number_text(kp), "kv": number_text(kd)}
        joint = body.links[index].joint
        # MuJoCo keeps the range of a joint itself; that of a motor in a file may be of a control without a unit.
        efforts = None if "actuatorfrcrange" in mjcf_values(joint.extra) else effort_range(joint)
        if efforts is not None:
            attributes["forcerange"] = number_text(efforts)
        if body.source.format == "mjcf":
            # Defaults of the file, of motors too, would hold for it.
            limited = "false" if efforts is None else "true"
            attributes |= {"gear": "1", "ctrllimited": "false", "forcelimited": limited}
        actuator.add("position", attributes)
    return actuator


def add_floor(world: Element, friction: float) -> None:
    """Add a floor at z = 0 with a coefficient of sliding friction, and a light, before the bodies."""
    plane = {
        "type": "plane",
        "size": "0 0 1",
        "friction": number_text([friction, 0.005, 0.0001]),
        "priority": "1",
        "rgba": "0.7 0.75 0.8 1",
    }
    light = {"name": "light", "type": "directional", "pos": "0 0 4", "dir": "0.3 0.3 -1"}
    world.children[:0] = [Element("light", light), Element("geom", {"name": "floor", **plane})]


def home_keyframe(body: Body, links: LinkWriter, world: Element, actuator: Element) -> list[Element]:
    """Return the keyframe of `home_posture`, if there are joints; the controls of position actuators hold it."""
    q, root = home_posture(body)
    values: dict[str, list[float]] = {}
    for column, index in enumerate(body.joint_links):
        if index in links.joint_names:
            values[links.joint_names[index]] = [float(q[column])]
    if body.links and 0 in links.joint_names:
        values[links.joint_names[0]] = root.tolist()
    joints = [e.get("name") for e in world.every() if e.name in ("joint", "freejoint")]
    attributes = {
        "name": "home",
        "qpos": number_text([number for name in joints for number in values.get(name, [0.0])]),
    }
    if actuator.first("position") is not None:
        attributes["ctrl"] = number_text([values[one.get("joint")][0] for one in actuator.children])
    return [Element("key", attributes)] if joints else []
