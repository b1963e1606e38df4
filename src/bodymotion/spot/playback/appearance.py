"""The shapes of Spot.

Our own drawing after the public dimensions, in the frames of its links.

Links are made of rounded shells through cross-sections, tubes, discs and balls.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.shapes import (
    Box,
    Capsule,
    Cylinder,
    Material,
    Mesh,
    Shape,
    Sphere,
    shape_along,
)
from bodymotion.spot.playback.dimensions import (
    FOOT_RADIUS,
    HIP_WIDTH,
    KNEE,
    SHIN,
    UPPER_ARM,
)

YELLOW = Material(
    diffuse=(0.96, 0.68, 0.05), specular=(0.25, 0.25, 0.25), shininess=0.4
)
DARK = Material(diffuse=(0.10, 0.105, 0.115), specular=(0.3, 0.3, 0.3), shininess=0.35)
GREY = Material(diffuse=(0.30, 0.31, 0.33), specular=(0.3, 0.3, 0.3), shininess=0.35)
STEEL = Material(diffuse=(0.55, 0.56, 0.58), specular=(0.5, 0.5, 0.5), shininess=0.6)
RUBBER = Material(diffuse=(0.06, 0.06, 0.065), shininess=0.05)

SECTION_POINTS = 40  # Points of the outline of a cross-section.


def _shells() -> dict[str, tuple[list[str], Floats]]:
    """Return the shells of `shells.txt`: a head, then a cross-section on each line."""
    text = Path(__file__).with_name("shells.txt").read_text("utf-8")
    shells = {}
    for shell in text.split("\n\n"):
        head, *rows = shell.splitlines()
        name, *settings = head.split()
        sections = np.array([row.split() for row in rows], dtype=np.float64)
        shells[name] = (settings, sections)
    return shells


# The shells by name: axis ("x" or "z"), squareness, crease angle, cross-sections. A
# cross-section (5,) [m] has its position along the axis, centre and half width along u,
# centre and half width along v. For the axis x, u is y and v is z; for z, u is x and v
# is y. Squareness 2 is an ellipse, larger numbers come closer to a rectangle.
SHELLS = _shells()


def shell(name: str, material: Material, way: float = 1.0, side: float = 1.0) -> Shape:
    """Return the closed surface through cross-sections of `SHELLS`.

    -1 mirrors it along its axis (`way`) or along v (`side`).
    """
    (axis, squareness, crease), rows = SHELLS[name]
    sections = rows * [way, 1.0, 1.0, side, 1.0]
    angle = np.arange(SECTION_POINTS) * 2 * np.pi / SECTION_POINTS
    power = 2.0 / float(squareness)
    c = np.cos(angle)
    s = np.sin(angle)
    u_unit = np.sign(c) * np.abs(c) ** power
    v_unit = np.sign(s) * np.abs(s) ** power
    at, u, half_u, v, half_v = sections[:, :, None].swapaxes(0, 1)
    rings = np.stack(
        np.broadcast_arrays(at, u + half_u * u_unit, v + half_v * v_unit), axis=-1
    )
    rings = np.take(rings, [0, 1, 2] if axis == "x" else [1, 2, 0], axis=-1)
    vertices = np.concatenate([*rings, rings[[0, -1]].mean(axis=1)])
    corner = np.arange(rings[..., 0].size).reshape(rings.shape[:2])
    beside = np.roll(corner, -1, axis=1)
    sides = [
        [corner[:-1], beside[:-1], beside[1:]],
        [corner[:-1], beside[1:], corner[1:]],
    ]
    first, last = (np.full(SECTION_POINTS, corner.size + end) for end in (0, 1))
    ends = [[first, beside[0], corner[0]], [last, corner[-1], beside[-1]]]
    triangles = np.concatenate(
        [
            np.array(sides).transpose(2, 0, 3, 1).reshape(-1, 3),
            np.array(ends).swapaxes(1, 2).reshape(-1, 3),
        ]
    ).astype(np.int32)
    if sections[-1][0] < sections[0][0]:
        triangles = triangles[:, ::-1]
    return Shape(
        Mesh(vertices, triangles, crease_angle=float(crease)), material=material
    )


def tube(
    start: npt.ArrayLike,
    end: npt.ArrayLike,
    radius: float,
    material: Material,
    *,
    round_ends: bool = True,
) -> Shape:
    """Return a tube from one point (3,) to another."""
    a = np.asarray(start, dtype=np.float64)
    b = np.asarray(end, dtype=np.float64)
    length = float(np.linalg.norm(b - a))
    form = Capsule(radius, length) if round_ends else Cylinder(radius, length)
    return shape_along(form, (a + b) / 2, b - a, material)


def disc(
    center: npt.ArrayLike,
    direction: npt.ArrayLike,
    radius: float,
    thickness: float,
    material: Material,
) -> Shape:
    """Return a flat cylinder whose axis has a direction (3,)."""
    return shape_along(
        Cylinder(radius, thickness), np.asarray(center), np.asarray(direction), material
    )


Y = (0.0, 1.0, 0.0)
X = (1.0, 0.0, 0.0)
Z = (0.0, 0.0, 1.0)


def _box(
    center: tuple[float, float, float],
    size: tuple[float, float, float],
    material: Material,
) -> Shape:
    transform = np.eye(4)
    transform[:3, 3] = center
    return Shape(Box(size), transform, material)


def body(*, arm: bool) -> tuple[Shape, ...]:
    """Return the trunk.

    A yellow shell over a dark belly, dark caps with eyes before and behind, two rails
    on the back.
    """
    parts = [
        shell("trunk", YELLOW),
        shell("belly", DARK),
        shell("cap", DARK),
        shell("cap", DARK, -1.0),
    ]
    for side in (0.052, -0.052):
        parts.append(disc((0.430, side, 0.004), (1.0, 0.0, 0.12), 0.017, 0.012, STEEL))
        parts.append(disc((0.433, side, 0.0045), (1.0, 0.0, 0.12), 0.012, 0.012, DARK))
    parts.append(_box((0.431, 0.0, -0.020), (0.008, 0.075, 0.012), GREY))
    for side in (0.075, -0.075):
        parts.append(
            tube(
                (-0.29, side, 0.098), (0.20 if arm else 0.29, side, 0.098), 0.009, DARK
            )
        )
    parts.append(_box((-0.27, 0.0, 0.093), (0.07, 0.10, 0.012), DARK))
    if arm:
        parts.append(disc((0.292, 0.0, 0.105), Z, 0.078, 0.045, DARK))
    return tuple(parts)


def hip(side: float, *, front: bool) -> tuple[Shape, ...]:
    """Return a hip: the motor of hx along the body, that of hy as a drum across."""
    out = side * HIP_WIDTH
    if front:
        way = 1.0
    else:
        way = -1.0
    return (
        tube((-0.055 * way, 0.0, 0.0), (0.075 * way, 0.0, 0.0), 0.050, DARK),
        disc((0.0, 0.45 * out, 0.0), Y, 0.056, 0.075, DARK),
        disc((0.0, 0.82 * out, 0.0), Y, 0.061, 0.020, GREY),
    )


def upper_leg(side: float) -> tuple[Shape, ...]:
    """Return an upper leg.

    A yellow shell that tapers to the knee, with a dark cap on the hip.
    """
    lean = 0.02 * side
    return (
        shell("upper_leg", YELLOW, side=side),
        disc((0.0, lean + 0.036 * side, 0.0), Y, 0.047, 0.012, DARK),
        tube((0.006, 0.0, -0.24), (KNEE[0], 0.0, KNEE[2]), 0.0275, DARK),
        disc((KNEE[0], 0.0, KNEE[2]), Y, 0.031, 0.062, DARK),
        disc((KNEE[0], 0.0, KNEE[2]), Y, 0.017, 0.068, STEEL),
    )


LOWER_LEG = (
    shell("lower_leg", DARK),
    disc((0.0, 0.0, -SHIN + 0.045), Z, 0.021, 0.012, GREY),
)  # Slim and dark.
FOOT = (Shape(Sphere(FOOT_RADIUS), material=RUBBER),)
# What each joint of the arm moves, by its name.
ARM: Mapping[str, tuple[Shape, ...]] = {
    "sh0": (
        disc((0.0, 0.0, -0.045), Z, 0.070, 0.045, YELLOW),
        disc((0.0, 0.0, 0.0), Y, 0.058, 0.110, DARK),
    ),
    "sh1": (
        disc((0.0, 0.066, 0.0), Y, 0.054, 0.022, YELLOW),
        disc((0.0, -0.066, 0.0), Y, 0.054, 0.022, YELLOW),
        shell("upper_arm", YELLOW),
        disc((UPPER_ARM, 0.0, 0.0), Y, 0.043, 0.085, DARK),
    ),
    "el0": (
        disc((0.0, 0.0, 0.0), Y, 0.036, 0.098, YELLOW),
        tube((0.0, 0.0, 0.0), (0.06, 0.0, 0.055), 0.033, DARK),
        shell("forearm", YELLOW),
    ),
    "el1": (
        tube((-0.130, 0.0, 0.0), (-0.045, 0.0, 0.0), 0.030, DARK, round_ends=False),
        disc((-0.090, 0.0, 0.0), X, 0.0325, 0.016, GREY),
        _box((-0.022, 0.031, 0.0), (0.085, 0.010, 0.036), DARK),
        _box((-0.022, -0.031, 0.0), (0.085, 0.010, 0.036), DARK),
    ),
    "wr0": (
        disc((0.0, 0.0, 0.0), Y, 0.031, 0.052, GREY),
        tube((0.0, 0.0, 0.0), (0.035, 0.0, 0.0), 0.026, DARK),
    ),
    "wr1": (shell("hand", YELLOW), disc((0.128, 0.0, 0.0), Y, 0.020, 0.104, DARK)),
}
JAW = (
    disc((0.0, 0.0, 0.0), Y, 0.019, 0.086, DARK),
    shell("jaw", DARK),
)  # The upper jaw of the gripper, which opens upwards.
