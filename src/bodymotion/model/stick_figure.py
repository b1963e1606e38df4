"""A stick figure for links without shapes, or whose files of shapes are missing.

It has bones from joint to joint, a ball at each moving joint, and a disc for a wheel.
"""

import numpy as np

from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.shapes import (
    Capsule,
    Cylinder,
    Material,
    Shape,
    Sphere,
    shape_along,
)
from bodymotion.model.body import Body
from bodymotion.model.extent import find_bulk
from bodymotion.model.links import Link

BONE = Material(diffuse=(0.56, 0.63, 0.73))
JOINT = Material(diffuse=(0.25, 0.42, 0.66))
# In sizes of the figure, as all radii.
BONE_RADIUS = 0.012
JOINT_RADIUS = 0.02
# Of a wheel whose inertia does not give a radius of a wheel.
WHEEL_RADIUS = 0.08
MIN_WHEEL_RADIUS = 2 * BONE_RADIUS
MAX_WHEEL_RADIUS = 0.3
# In radii of the wheel.
WHEEL_WIDTH = 0.4
# [m] Of a figure whose links are at one position.
DEFAULT_SIZE = 0.3


def drawn_shapes(
    body: Body, *, are_missing: bool, is_read: bool = True
) -> tuple[tuple[Shape, ...], ...]:
    """Return the shapes of each link in its frame, those of a stick figure included.

    Parameters
    ----------
    body:
        The body.
    are_missing:
        Whether files of shapes are missing. Otherwise a link without shapes stays
        without, if others have some.
    is_read:
        Whether all files are read. Until then links with shapes get no bones.
    """
    shapes = tuple(link.visuals for link in body.links)
    is_complete = all(shapes) or (any(shapes) and not are_missing)
    # A single link has no bones; a complete body needs none.
    if len(shapes) < 2 or is_complete:
        return shapes
    size = _figure_size(body)
    # A link with a free joint is an object of its own: no bone leads to it.
    children: list[list[Link]] = [[] for _ in body.links]
    for link in body.links[1:]:
        if link.joint.type != "free":
            children[link.parent].append(link)
    figure = []
    for link in body.links:
        own_shapes = link.visuals
        if not own_shapes:
            own_shapes = _stand_in(link, children[link.index], size)
        elif is_read:
            # Some shapes of this link may be missing. Bones are inside of the others.
            own_shapes += _bones(link, children[link.index], size)
        figure.append(own_shapes)
    return tuple(figure)


def _figure_size(body: Body) -> float:
    """Return the diagonal [m] of the box around the origins of the links at rest."""
    origins = body.forward_kinematics(np.zeros(body.num_joints))[:, :3]
    # A link far away, such as an object in a scene, does not enlarge the figure.
    origins = origins[find_bulk(origins, np.ones(len(origins)))]
    return float(np.linalg.norm(np.ptp(origins, axis=0))) or DEFAULT_SIZE


def _bones(link: Link, children: list[Link], size: float) -> tuple[Shape, ...]:
    """Return the bones from a link to its children, or to its centre of mass."""
    ends = [child.offset[:3] for child in children]
    if not children and link.mass > 0:
        ends = [link.center_of_mass]
    bones = []
    for end in ends:
        length = float(np.linalg.norm(end))
        # A shorter bone is inside of the ball at the joint.
        if JOINT_RADIUS * size < length < np.inf:
            capsule = Capsule(BONE_RADIUS * size, length)
            bones.append(shape_along(capsule, 0.5 * end, end, BONE))
    return tuple(bones)


def _stand_in(link: Link, children: list[Link], size: float) -> tuple[Shape, ...]:
    """Return the shapes of a link without shapes in a figure of `size` metres."""
    # Collision shapes show more of the link than bones.
    if link.collisions:
        return tuple(
            Shape(shape.geometry, shape.transform, BONE, shape.name)
            for shape in link.collisions
        )
    joint = link.joint
    # Not the root, which nothing rotates.
    if _turns_freely(link) and not children and link.index:
        radius = _wheel_radius(link, size)
        wheel = Cylinder(radius, WHEEL_WIDTH * radius)
        return (shape_along(wheel, np.zeros(3), joint.axis, BONE),)
    bones = _bones(link, children, size)
    if link.index and joint.type in ("rotate", "slide"):
        return (*bones, Shape(Sphere(JOINT_RADIUS * size), material=JOINT))
    return bones


def _turns_freely(link: Link) -> bool:
    """Return whether a link rotates without limits, as a wheel does."""
    joint = link.joint
    if joint.type == "crawler":
        return True
    has_limit = np.isfinite([joint.lower, joint.upper]).any()
    return joint.type == "rotate" and not has_limit


def _wheel_radius(link: Link, size: float) -> float:
    """Return the radius [m] of a disc with the mass and the moment of a link."""
    axis: Floats = link.joint.axis
    moment = float(axis @ link.inertia @ axis)
    radius = 0.0
    if link.mass > 0 and moment > 0:
        # The moment of a disc about its axis is m r² / 2.
        radius = float(np.sqrt(2.0 * moment / link.mass))
    # An inertia that is not that of a wheel may give any radius.
    if MIN_WHEEL_RADIUS < radius / size < MAX_WHEEL_RADIUS:
        return radius
    return WHEEL_RADIUS * size
