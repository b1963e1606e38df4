"""Find the points of shapes with contacts, and links that overlap.

The points of the shapes of a body that have contacts, and which links overlap at rest.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats, Indices, Ints
from bodymotion.geometry.meshes import hull_distance, solid
from bodymotion.model.body import Body
from bodymotion.model.links import is_moving, rigid_groups

# [m] Links at most this far apart count as overlapping: MuJoCo has meshes in single
# precision.
TOUCH_DISTANCE = 1e-4


class CollisionPoints:
    """The points (P, 3) of the shapes of a body that have contacts.

    Contacts are those in MuJoCo; points are in the frames of their links.

    `links` (P,) are the links of the points, `shapes` (S,) those of the shapes; the
    points of a shape begin at `starts` (S,). `axes`
    (S, 3, 3) are the shapes' own axes, as columns. With `visuals`, the shapes of a body
    without collision shapes are its visuals.
    """

    def __init__(self, body: Body, *, visuals: bool = False) -> None:
        """Collect the points; with `visuals`, those of a body without collisions."""
        self.body = body
        clouds: list[Floats] = []
        links: list[int] = []
        axes: list[Floats] = []
        seen = visuals and not any(link.collisions for link in body.links)
        for link in body.links:
            for shape in link.visuals if seen else link.collisions:
                geom = solid(shape)
                # MuJoCo has no contacts of flat meshes, which have no convex hull.
                if geom is not None and not geom.is_flat:
                    points = shape.to_mesh().vertices
                    if len(points) and np.isfinite(points).all():
                        clouds.append(points)
                        links.append(link.index)
                        axes.append(shape.transform[:3, :3])
        sizes = [len(cloud) for cloud in clouds]
        self.shapes = np.array(links, dtype=np.int64)
        # The link of each point.
        self.links = np.repeat(self.shapes, sizes)
        self.points = np.concatenate([np.zeros((0, 3)), *clouds])
        # Shape s has the points from starts[s] on.
        self.starts = np.cumsum([0, *sizes])[:-1]
        # Orthogonal axes, also of shapes that are scaled or sheared.
        self.axes = np.linalg.qr(np.array(axes).reshape(-1, 3, 3))[0]

    @property
    def boxes(self) -> tuple[Floats, Floats]:
        """The middles and half sizes (S, 3) [m] of the boxes around the shapes.

        Boxes are along the shapes' own axes, middles in the frames of the links.
        """
        sizes = np.diff([*self.starts, len(self.points)])
        # Coordinates of the points along the axes of their shapes.
        local = np.einsum(
            "pi,pij->pj", self.points, np.repeat(self.axes, sizes, axis=0)
        )
        low = np.minimum.reduceat(local, self.starts)
        high = np.maximum.reduceat(local, self.starts)
        # Middles go back to the links' frames.
        return np.einsum("sij,sj->si", self.axes, 0.5 * (low + high)), 0.5 * (
            high - low
        )

    def placed(self, q: Floats, root: npt.ArrayLike) -> Floats:
        """Return the points (P, 3) [m] in the world.

        For joint values (J,) and a root pose (7,).
        """
        return poses.transform_points(
            self.body.forward_kinematics(q, root)[self.links], self.points
        )

    def lowest(self, q: Floats, root: Floats) -> float | None:
        """Return the height [m] of the lowest point; None without shapes."""
        if len(self.points):
            return float(self.placed(q, root)[:, 2].min())
        return None

    def home(self) -> tuple[Floats, Floats]:
        """Return joint values (J,) and a root pose (7,).

        The rest pose within the limits, on the ground if the root is free.
        """
        q = rest_values(self.body)
        root = np.array(self.body.root_pose, dtype=np.float64)
        # The lowest point stands on the ground z = 0.
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
        """Return `known` and the pairs of links whose shapes overlap.

        Pairs are of indices, overlaps are in joint values (J,), of links that MuJoCo
        lets collide.

        MuJoCo itself excludes links that move as one, and a moving link and the one
        that carries it.
        """
        found = set(known)
        if not len(self.shapes):
            return ()
        for q in postures:
            points = self.placed(q, poses.IDENTITY)
            # Boxes first: few pairs are near enough for their hulls to be compared.
            low = np.minimum.reduceat(points, self.starts) - TOUCH_DISTANCE
            high = np.maximum.reduceat(points, self.starts)
            clouds = np.split(points, self.starts[1:])
            for one, index in enumerate(self.shapes.tolist()):
                others = self.partners(one)
                near = ((low[others] <= high[one]) & (low[one] <= high[others])).all(
                    axis=1
                )
                for two in others[near].tolist():
                    pair = index, int(self.shapes[two])
                    # Links with many shapes overlap once.
                    if (
                        pair not in found
                        and hull_distance(clouds[one], clouds[two], TOUCH_DISTANCE)
                        <= TOUCH_DISTANCE
                    ):
                        found.add(pair)
        return tuple(sorted(found))

    def partners(self, one: int) -> Indices:
        """Return the shapes after shape `one` with which MuJoCo lets it collide."""
        group, carrier = self._groups
        own = group[one + 1 :]
        carries = carrier[one + 1 :]
        return (
            np.flatnonzero(
                # Not of one group, and neither carries the other.
                (own != group[one]) & (own != carrier[one]) & (carries != group[one])
            )
            + one
            + 1
        )

    @cached_property
    def _groups(self) -> tuple[Ints, Ints]:
        """For each shape (S,) the number of its rigid group and of the carrier's.

        The group are the links that move as one with the shape's, the carrier those
        that carry them (-1 none).
        """
        groups = rigid_groups(self.body)
        group_of: dict[int, int] = {}
        for number, group in enumerate(groups):
            group_of |= dict.fromkeys(group, number)
        # The link that carries a group; none above the root.
        above = [
            self.body.links[group[0]].parent if group[0] > 0 else -1 for group in groups
        ]
        carriers = [
            # MuJoCo excludes contacts with a parent only where that moves: a fixed base
            # collides with its children.
            group_of[link] if link >= 0 and is_moving(self.body, link) else -1
            for link in above
        ]
        own = np.array(
            [group_of[index] for index in self.shapes.tolist()], dtype=np.int32
        )
        return own, np.array(carriers, dtype=np.int32)[own]


def rest_values(body: Body) -> Floats:
    """Return joint values (J,).

    0, or the limit that is nearest to it; 0 in a body with closed loops.
    """
    q = np.zeros(body.num_joints)
    # In a closed loop, one joint at its limit would open the loop.
    if not body.extra_joints:
        for column, joint in enumerate(body.joints):
            if joint.type in ("rotate", "slide") and joint.lower <= joint.upper:
                q[column] = np.clip(0.0, joint.lower, joint.upper)
    return q
