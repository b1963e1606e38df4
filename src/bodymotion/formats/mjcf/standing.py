"""What a model gets for simulation: a floor, a light, a keyframe on the ground, servos, no contacts of links that overlap at rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from bodymotion.diagnostics import Problem
from bodymotion.diagnostics.text import counted
from bodymotion.formats.kept_json import mjcf_values
from bodymotion.formats.mjcf import rules
from bodymotion.formats.xml.tree import Element, number_text
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.shapes import Box, Shape
from bodymotion.geometry.solids import solid
from bodymotion.model.body import Body
from bodymotion.model.collision_points import CollisionPoints
from bodymotion.model.motors import default_gains, effort_range, passive_joints

if TYPE_CHECKING:
    from bodymotion.formats.mjcf.body_writer import LinkWriter

SelfCollision: TypeAlias = Literal["none", "touching", "all"]
Actuators: TypeAlias = Literal["motor", "position", "none"]
CollisionShapes: TypeAlias = Literal["mesh", "hull", "box"]


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


def overlap_problem(pairs: Sequence[str]) -> Problem:
    """Return the problem that reports pairs of links, `A and B`, that do not collide in the model."""
    shown = "; ".join(pairs[:6]) + (f"; {len(pairs) - 6} more" if len(pairs) > 6 else "")
    message = f"{counted(len(pairs), 'pair')} of links overlap at rest and do not collide in the model: {shown}"
    return rules.OVERLAP.problem(message, data={"pairs": list(pairs)})


def exclude_overlaps(points: CollisionPoints, links: LinkWriter, contact: Element) -> None:
    """Exclude contacts of links that overlap at rest; they are reported."""
    known = {(one.get("body1"), one.get("body2")) for one in contact.children}
    named = []
    for pair in points.rest_overlaps:
        one, two = (links.elements[index].get("name") for index in pair)
        if (one, two) not in known:
            contact.add("exclude", {"body1": one, "body2": two})
            named.append(f"{one} and {two}")
    if named:
        links.problems.add(overlap_problem(named))


def position_actuators(body: Body, links: LinkWriter, gains: Floats | None) -> Element:
    """Return a servo for each joint with a column but the passive ones: force = kp · (control − q) − kd · q̇, within its effort.

    `gains` (J, 2) are kp and kd; by default `bodymotion.model.motors.default_gains`.
    """
    actuator = Element("actuator")
    table, passive = default_gains(body) if gains is None else gains, passive_joints(body)
    for column, index in enumerate(body.joint_links):
        joint = body.links[index].joint
        if index <= 0 or index not in links.joint_names or joint.type not in ("rotate", "slide") or column in passive:
            continue
        name, (kp, kd) = links.joint_names[index], table[column].tolist()
        attributes = {"name": links.names.free("actuator", name), "joint": name}
        attributes |= {"kp": number_text(kp), "kv": number_text(kd)}
        # MuJoCo keeps the range of a joint itself; that of a motor in a file may be of a control without a unit.
        efforts = None if "actuatorfrcrange" in mjcf_values(joint.extra) else effort_range(joint)
        if efforts is not None:
            attributes["forcerange"] = number_text(efforts)
        if body.source.format == "mjcf":
            # Defaults of the file, of motors too, would hold for it.
            attributes |= {"gear": "1", "ctrllimited": "false", "forcelimited": "false" if efforts is None else "true"}
        actuator.add("position", attributes)
    return actuator


def add_floor(world: Element, friction: float) -> None:
    """Add a floor at z = 0 with a coefficient of sliding friction, and a light, before the bodies."""
    plane = {"type": "plane", "size": "0 0 1", "friction": number_text([friction, 0.005, 0.0001])}
    plane |= {"priority": "1", "rgba": "0.7 0.75 0.8 1"}
    light = {"name": "light", "type": "directional", "pos": "0 0 4", "dir": "0.3 0.3 -1"}
    world.children[:0] = [Element("light", light), Element("geom", {"name": "floor", **plane})]


def home_keyframe(points: CollisionPoints, links: LinkWriter, world: Element, actuator: Element) -> list[Element]:
    """Return the keyframe of `CollisionPoints.home`, if there are joints; the controls of position actuators hold it."""
    body, (q, root) = points.body, points.home()
    columns, names_of_joints = enumerate(body.joint_links), links.joint_names
    values = {names_of_joints[index]: [float(q[column])] for column, index in columns if index in names_of_joints}
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
