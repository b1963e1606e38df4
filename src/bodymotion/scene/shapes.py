"""What is drawn of each link: its shapes, or a stick figure of links whose shapes are missing; and the extent of the body.

The stick figure has bones from joint to joint, a ball at each moving joint, and a disc for a wheel. It is drawn where files of shapes are
missing, or where no link has shapes.
"""

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics.text import counted, listed, shown
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.meshes import outermost_points
from bodymotion.geometry.shapes import Capsule, Cylinder, Material, Shape, Sphere, shape_along
from bodymotion.model.body import Body
from bodymotion.model.links import Link

BONE, JOINT = Material(diffuse=(0.56, 0.63, 0.73)), Material(diffuse=(0.25, 0.42, 0.66))
BONE_RADIUS, JOINT_RADIUS, WHEEL_RADIUS, MAX_WHEEL_RADIUS = 0.012, 0.02, 0.08, 0.3
"""Of a stick figure, in sizes of the body; of a wheel where its inertia does not give the radius."""
MIN_BULK_WEIGHT, BULK_GAP = 0.5, 10.0
"""Points outside of a ball around at least this share of the body do not count, where they are so many times as far away."""


def missing_files(body: Body) -> tuple[object, ...]:
    """Return the files of a model that are not shown: their names, or where they are named."""
    if not body.problems:
        return ()
    # The packages of formats import their readers: they are only needed where there is a problem.
    from bodymotion.formats import resources
    from bodymotion.formats.mjcf.rules import MESH_FILE
    from bodymotion.formats.urdf.rules import RESOURCE_BROKEN, RESOURCE_MISSING

    parts = (resources.PART_MISSING, resources.PART_OUTSIDE, resources.PART_REMOTE, resources.PART_LIMIT)
    rules = (*parts, resources.PART_UNREADABLE, RESOURCE_MISSING, RESOURCE_BROKEN, MESH_FILE)
    codes = {rule.code for rule in rules}
    found: dict[object, None] = {}
    for problem in body.problems:
        if problem.rule in codes:
            names = problem.data.get("missing", (problem.data.get("name", problem.location),))
            found |= dict.fromkeys(names if isinstance(names, tuple) else (names,))
    return tuple(found)


def missing_files_text(body: Body) -> str:
    """Return how many files of a model are not shown, in a sentence; empty where there are none."""
    count = len(missing_files(body))
    if not count:
        return ""
    return f"{counted(count, 'file')} of shapes or textures missing: a stick figure shows the links"


def drawn_shapes(body: Body, is_read: bool = True) -> tuple[tuple[Shape, ...], ...]:
    """Return the shapes of each link, in its frame; those of a stick figure where they are missing, or still to be read."""
    shapes = tuple(link.visuals for link in body.links)
    if len(shapes) < 2 or all(shapes) or (any(shapes) and not missing_files(body)):
        return shapes
    origins = body.forward_kinematics(np.zeros(body.num_joints))[:, :3]
    origins = origins[_bulk(origins, np.ones(len(origins)))]
    size = float(np.linalg.norm(np.ptp(origins, axis=0))) or 0.3
    children: list[list[Link]] = [[] for _ in body.links]
    for link in body.links[1:]:
        if link.joint.type != "free":
            children[link.parent].append(link)
    # Of a link with shapes some may be missing, too; its bones are inside of the others.
    return tuple(
        own + _bones(link, children[link.index], size) * is_read if own else _stand_in(link, children[link.index], size)
        for own, link in zip(shapes, body.links, strict=True)
    )


def _bones(link: Link, children: list[Link], size: float) -> tuple[Shape, ...]:
    """Return the bones from a link to its children, or to its centre of mass."""
    ends = [child.offset[:3] for child in children]
    if not children and link.mass > 0:
        ends = [link.center_of_mass]
    long = [end for end in ends if np.isfinite(end).all() and np.linalg.norm(end) > JOINT_RADIUS * size]
    return tuple(
        shape_along(Capsule(BONE_RADIUS * size, float(np.linalg.norm(end))), 0.5 * end, end, BONE) for end in long
    )


def _stand_in(link: Link, children: list[Link], size: float) -> tuple[Shape, ...]:
    """Return the shapes of a link without shapes in a stick figure of a body of `size` metres."""
    if link.collisions:
        return tuple(Shape(shape.geometry, shape.transform, BONE, shape.name) for shape in link.collisions)
    joint, mass = link.joint, link.mass
    turns = joint.type == "crawler" or (joint.type == "rotate" and not np.isfinite([joint.lower, joint.upper]).any())
    if turns and not children and link.index:
        # The moment of a disc about its axis is m r² / 2.
        moment = float(joint.axis @ link.inertia @ joint.axis)
        radius = float(np.sqrt(2.0 * moment / mass)) if mass > 0 and moment > 0 else 0.0
        if not 2 * BONE_RADIUS < radius / size < MAX_WHEEL_RADIUS:
            radius = WHEEL_RADIUS * size
        return (shape_along(Cylinder(radius, 0.4 * radius), np.zeros(3), joint.axis, BONE),)
    ball = (Shape(Sphere(JOINT_RADIUS * size), material=JOINT),) if joint.type in ("rotate", "slide") else ()
    return _bones(link, children, size) + (ball if link.index else ())


class BodyExtent:
    """The outermost points of a body: `points` (N, 3) in the frames of the links `links` (N,). They give its extent in any pose.

    Points far outside of the bulk of the body (a vertex with a wrong number, a floor in the model) are left out. `far` are the indices
    of their links. A body without shapes of its own has the extent of its environment, too.
    """

    def __init__(self, body: Body, shapes: tuple[tuple[Shape, ...], ...]) -> None:
        found = [
            link.visual_points if link.visuals else outermost_points(own)
            for own, link in zip(shapes, body.links, strict=True)
        ]
        if body.environment and not any(link.visuals for link in body.links):
            around = outermost_points(body.environment)
            found[0] = np.concatenate([found[0], poses.transform_points(poses.inverse(body.root_pose), around)])
        counts = np.array([len(points) for points in found])
        self.points: Floats = np.concatenate([np.zeros((0, 3)), *found])
        self.links: npt.NDArray[np.intp] = np.repeat(np.arange(len(found)), counts)
        self._body = body
        self.far: tuple[int, ...] = ()
        if len(self.points):
            placed = self.placed(body.forward_kinematics(np.zeros(body.num_joints)))
            near = _bulk(placed, 1.0 / counts[self.links])
            self.far = tuple(np.unique(self.links[~near]).tolist())
            self.points, self.links = self.points[near], self.links[near]

    def describe_far(self) -> str:
        """Return the links that reach far outside of the bulk of the body, in a sentence; empty where there are none."""
        if not self.far:
            return ""
        names = listed((repr(shown(self._body.links[index].name)) for index in self.far), 3)
        return f"shapes of {names} reach more than {BULK_GAP:g} sizes of the body away: the camera shows the rest"

    def placed(self, link_poses: npt.ArrayLike) -> Floats:
        """Return the points (N, 3) in the world for link poses (L, 7)."""
        placed = np.asarray(link_poses, dtype=np.float64)[self.links]
        return np.asarray(placed[:, :3] + rotations.rotate(rotations.normalized(placed[:, 3:]), self.points))

    def lowest(self, link_poses: npt.ArrayLike) -> Floats:
        """Return the height (...) [m] of the lowest point for link poses (..., L, 7); 0 for a body without shapes."""
        placed = np.asarray(link_poses, dtype=np.float64)
        if not len(self.points):
            return np.zeros(placed.shape[:-2])
        w, x, y, z = np.moveaxis(rotations.normalized(placed[..., 3:]), -1, 0)
        down = np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=-1)
        heights = placed[..., self.links, 2] + np.einsum("...nk,nk->...n", down[..., self.links, :], self.points)
        return np.asarray(heights.min(axis=-1))

    def bounds(self, link_poses: npt.ArrayLike) -> Floats | None:
        """Return the lowest and highest corner (2, 3) of the box around the body for link poses (L, 7); None without shapes."""
        placed = self.placed(link_poses)
        return np.stack([placed.min(axis=0), placed.max(axis=0)]) if len(placed) else None


def _bulk(points: Floats, weights: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Return which points (N, 3) belong to the bulk: all that are not beyond a wide gap around at least half of the weights (N,)."""
    weights = np.asarray(weights, dtype=np.float64)
    center = np.quantile(points, 0.5, axis=0, weights=np.repeat(weights[:, None], 3, 1), method="inverted_cdf")
    distances = np.linalg.norm(points - center, axis=1)
    order = np.argsort(distances)
    sorted_distances = distances[order]
    enough = np.cumsum(weights[order])[:-1] >= MIN_BULK_WEIGHT * weights.sum()
    gaps = np.flatnonzero(enough & (sorted_distances[1:] > BULK_GAP * np.maximum(sorted_distances[:-1], 1e-9)))
    # A few points alone are no bulk: two boxes of a small part beside a large one.
    gaps = gaps[gaps >= 3]
    return np.asarray(distances <= sorted_distances[gaps[0]]) if len(gaps) else np.ones(len(points), dtype=bool)
