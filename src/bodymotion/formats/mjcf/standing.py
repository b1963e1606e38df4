"""What a model gets for simulation: a floor, a light, a keyframe on the ground, servos, no contacts of links that overlap at rest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics.text import counted
from bodymotion.formats.kept_json import mjcf_values
from bodymotion.formats.mjcf import rules
from bodymotion.formats.mjcf.geom_writer import solid
from bodymotion.formats.xml.tree import Element, number_text
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats, Ints
from bodymotion.geometry.convex import hull_distance
from bodymotion.geometry.shapes import Box
from bodymotion.model.inertias import is_moving, rigid_groups
from bodymotion.model.motors import default_gains, effort_range, passive_joints

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem
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


class CollisionPoints:
    """The points (P, 3) of the shapes of a body that have contacts in MuJoCo, in the frames of their links.

    `links` (P,) are the links of the points, `shapes` (S,) those of the shapes; the points of a shape begin at `starts` (S,).
    """

    def __init__(self, body: Body) -> None:
        self.body = body
        clouds: list[Floats] = []
        links: list[int] = []
        for link in body.links:
            for shape in link.collisions:
                geom = solid(shape)
                if geom is not None and not geom.is_flat:
                    points = shape.to_mesh().vertices
                    if len(points) and np.isfinite(points).all():
                        clouds.append(points)
                        links.append(link.index)
        sizes = [len(cloud) for cloud in clouds]
        self.shapes = np.array(links, dtype=np.int64)
        self.links = np.repeat(self.shapes, sizes)
        self.points = np.concatenate([np.zeros((0, 3)), *clouds])
        self.starts = np.cumsum([0, *sizes])[:-1]

    def placed(self, q: Floats, root: npt.ArrayLike) -> Floats:
        """Return the points (P, 3) [m] in the world, for joint values (J,) and a root pose (7,)."""
        return poses.transform_points(self.body.forward_kinematics(q, root)[self.links], self.points)

    def lowest(self, q: Floats, root: Floats) -> float | None:
        """Return the height [m] of the lowest point; None without shapes."""
        return float(self.placed(q, root)[:, 2].min()) if len(self.points) else None

    def home(self) -> tuple[Floats, Floats]:
        """Return joint values (J,) and a root pose (7,): the rest pose within the limits, on the ground if the root is free."""
        q, root = rest_values(self.body), np.array(self.body.root_pose, dtype=np.float64)
        if not self.body.is_mounted:
            root[2] -= self.lowest(q, root) or 0.0
        return q, root

    @cached_property
    def rest_overlaps(self) -> tuple[tuple[int, int], ...]:
        """The pairs of links that overlap at rest, as `overlaps`."""
        return self.overlaps((rest_values(self.body), np.zeros(self.body.num_joints)))

    def overlaps(
        self, postures: Sequence[Floats], known: Iterable[tuple[int, int]] = ()
    ) -> tuple[tuple[int, int], ...]:
        """Return `known` and the pairs of links, by index, whose shapes overlap in joint values (J,), and which MuJoCo lets collide.

        MuJoCo itself excludes links that move as one, and a moving link and the one that carries it.
        """
        found = set(known)
        if not len(self.shapes):
            return ()
        group, carrier = self._groups
        for q in postures:
            points = self.placed(q, poses.IDENTITY)
            low = np.minimum.reduceat(points, self.starts) - TOUCH_DISTANCE
            high = np.maximum.reduceat(points, self.starts)
            clouds = np.split(points, self.starts[1:])
            for one, index in enumerate(self.shapes.tolist()):
                near = ((low[one + 1 :] <= high[one]) & (low[one] <= high[one + 1 :])).all(axis=1)
                own, carries = group[one + 1 :], carrier[one + 1 :]
                near &= (own != group[one]) & (own != carrier[one]) & (carries != group[one])
                for two in (np.flatnonzero(near) + one + 1).tolist():
                    pair = index, int(self.shapes[two])
                    if pair not in found and hull_distance(clouds[one], clouds[two], TOUCH_DISTANCE) <= TOUCH_DISTANCE:
                        found.add(pair)
        return tuple(sorted(found))

    @cached_property
    def _groups(self) -> tuple[Ints, Ints]:
        """For each shape (S,) the number of the links that move as one with its own, and of those that carry them (-1 none)."""
        groups = rigid_groups(self.body)
        group_of = {index: number for number, group in enumerate(groups) for index in group}
        above = [self.body.links[group[0]].parent if group[0] > 0 else -1 for group in groups]
        carriers = [group_of[link] if link >= 0 and is_moving(self.body, link) else -1 for link in above]
        own = np.array([group_of[index] for index in self.shapes.tolist()], dtype=np.int32)
        return own, np.array(carriers, dtype=np.int32)[own]


def rest_values(body: Body) -> Floats:
    """Return joint values (J,): 0, or the limit that is nearest to it; 0 in a body with closed loops."""
    q = np.zeros(body.num_joints)
    if not body.extra_joints:
        for column, joint in enumerate(body.joints):
            if joint.type in ("rotate", "slide") and joint.lower <= joint.upper:
                q[column] = np.clip(0.0, joint.lower, joint.upper)
    return q


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
    plane = {"type": "plane", "size": "0 0 1", "friction": number_text([friction, 0.005, 0.0001])}
    plane |= {"priority": "1", "rgba": "0.7 0.75 0.8 1"}
    light = {"name": "light", "type": "directional", "pos": "0 0 4", "dir": "0.3 0.3 -1"}
    world.children[:0] = [Element("light", light), Element("geom", {"name": "floor", **plane})]


def home_keyframe(points: CollisionPoints, links: LinkWriter, world: Element, actuator: Element) -> list[Element]:
    """Return the keyframe of `CollisionPoints.home`, if there are joints; the controls of position actuators hold it."""
    body, (q, root) = points.body, points.home()
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
