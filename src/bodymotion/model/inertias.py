"""Masses and inertias that no rigid body has, and the smallest change of them.

A rigid body has a positive mass and a symmetric tensor of inertia whose principal
moments a ≤ b ≤ c are positive with a + b ≥ c. The same in other words: its mass spreads
along each principal axis by a second moment ∫x²dm = (a + b + c)/2 − (moment about that
axis), and none of the three is negative.

Simulators require this of all that moves. A link that is fixed to a moving link moves
with it, so one link with a mass and an inertia is enough in a group of links without
joints between them (MuJoCo requires no more). Negative masses and moments, and a + b <
c, are always refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import Location, Problem, Rule, losses
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.model.links import Link, Segment, is_moving, rigid_groups

if TYPE_CHECKING:
    from bodymotion.model.body import Body

# [kg, kg m²] A mass or principal moment below this is none: MuJoCo's mjMINVAL.
MIN_INERTIAL = 1e-15
MASS_GIVEN = 1e-3  # The mass [kg] that a repair gives to a moving link without one.
WATER = 1000.0  # [kg/m³]
MIN_THICKNESS = (
    0.01  # A link that gets an inertia from its shapes is at least this thick [m].
)
# Share of the largest moment by which moments may violate the triangle inequality:
# those of flat bodies do, by rounding.
ROUNDING = 1e-9
# The smallest second moment along an axis that a repair leaves, as a part of the
# largest one.
SPREAD = 1e-6

Why: TypeAlias = Literal["finite", "mass", "zero", "negative", "triangle", "asymmetric"]


@dataclass(frozen=True)
class Fault:
    """Why a link is no rigid body.

    `why`: "finite" (a number is not), "mass" (none, or a negative one), "zero" (no
    inertia), "negative" (a principal moment is not
    positive), "triangle" (one is larger than the sum of the other two), "asymmetric";
    `message` has the numbers.
    """

    link: int
    why: Why
    message: str


def principal_moments(inertia: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Return the principal moments (3,), in ascending order, and their axes.

    The axes are the columns of a rotation (3, 3).
    """
    tensor = np.asarray(inertia, dtype=np.float64)
    # Scaled to 1, so that neither tiny nor huge tensors lose digits.
    size = np.abs(tensor).max()
    if not np.isfinite(size) or size == 0:
        return np.full(3, size), np.eye(3)
    # Halved first: the sum of two large numbers may be more than a number can be.
    tensor = tensor / size
    moments, axes = np.linalg.eigh(0.5 * tensor + 0.5 * tensor.T)
    # `eigh` may return a reflection; the axes are to be a rotation.
    if np.linalg.det(axes) < 0:
        axes[:, 0] *= -1.0
    return np.asarray(moments * size), np.asarray(axes)


def fault(mass: float, inertia: npt.ArrayLike) -> tuple[Why, str] | None:
    """Return why no rigid body has this mass [kg] and inertia (3, 3) [kg m²].

    None where one can have them.
    """
    tensor = np.asarray(inertia, dtype=np.float64)
    if not (np.isfinite(mass) and np.isfinite(tensor).all()):
        return "finite", "its mass or inertia is not a number"
    if mass < MIN_INERTIAL:
        return "mass", f"its mass is {mass:g} kg"
    size = np.abs(tensor).max()
    if size < MIN_INERTIAL:
        return (
            "zero",
            "its inertia is zero"
            if size == 0
            else f"no moment of its inertia is more than {size:.3g} kg m²",
        )
    if np.abs(tensor - tensor.T).max() > 1e-6 * size:
        return "asymmetric", "its inertia is not symmetric"
    moments, _ = principal_moments(tensor)
    smallest, middle, most = moments.tolist()
    shown = (
        f"its principal moments are {smallest:.4g}, {middle:.4g} and {most:.4g} kg m²"
    )
    if smallest < MIN_INERTIAL:
        return "negative", f"{shown}, which are not all positive"
    # A flat body has the sum exactly, and rounding on either side.
    if smallest + middle < most * (1.0 - ROUNDING):
        return "triangle", f"{shown}: the largest is more than the sum of the other two"
    return None


# Sums over segments may overflow; the result is reported.
@np.errstate(all="ignore")
def faults(body: Body, *, asymmetric: bool = True) -> tuple[Fault, ...]:
    """Return the links with a mass and inertia that simulators refuse, in link order.

    A missing mass or inertia counts where nothing of the link's rigid group has them
    and the group moves; it is then reported for the link that the joint moves. With
    `asymmetric`, also tensors that are not symmetric, of which simulators use a half.
    """
    found: list[Fault] = []
    for group in rigid_groups(body):
        # Whether one link of the group has an inertia for all.
        has_inertia = any(_has_inertia(body.links[index]) for index in group)
        for index in group:
            link = body.links[index]
            if not np.isfinite(link.center_of_mass).all():
                found.append(
                    Fault(index, "finite", "its centre of mass is not a number")
                )
                continue
            reason = fault(link.mass, link.inertia)
            # One link of a group is enough, and what the world carries needs none.
            is_needed = not has_inertia and index == group[0] and is_moving(body, index)
            if reason and _lacks_inertia(link, reason[0]) and not is_needed:
                continue
            # The symmetric part may have a fault of its own.
            if reason and reason[0] == "asymmetric" and not asymmetric:
                symmetric = 0.5 * link.inertia + 0.5 * link.inertia.T
                reason = fault(link.mass, symmetric)
            if reason:
                found.append(Fault(index, *reason))
    return tuple(sorted(found, key=lambda fault: fault.link))


def _has_inertia(link: Link) -> bool:
    """Return whether a link has a mass and three moments, however they compare.

    It keeps its rigid group from being without.
    """
    return bool(
        np.isfinite(link.mass)
        and np.isfinite(link.inertia).all()
        and link.mass >= MIN_INERTIAL
        and principal_moments(link.inertia)[0][0] >= MIN_INERTIAL
    )


def _lacks_inertia(link: Link, why: Why) -> bool:
    """Return whether a link's fault is that it has no mass or no inertia."""
    if link.mass < 0:
        return False
    # A rod or a point: three positive moments are missing, not wrong.
    if why == "negative":
        return _possible_without_width(link.inertia)
    return why in ("mass", "zero")


def _possible_without_width(inertia: Floats) -> bool:
    """Return whether a tensor is that of a rod or a point, up to rounding.

    These have no three positive moments.
    """
    moments, _ = principal_moments(inertia)
    smallest, middle, most = moments.tolist()
    return bool(
        smallest >= -ROUNDING * most and smallest + middle >= most * (1.0 - ROUNDING)
    )


def nearest_possible(inertia: npt.ArrayLike) -> Floats | None:
    """Return the tensor (3, 3) nearest to `inertia` that a rigid body can have.

    None where no second moment of it is positive.

    The axes stay. Negative second moments (see the module) become `SPREAD` of the
    largest one: where a + b < c, both a and b grow by half of what is missing, and c
    stays but for a millionth. An asymmetric tensor is replaced by its symmetric part.
    """
    tensor = np.asarray(inertia, dtype=np.float64)
    if not np.isfinite(tensor).all():
        return None
    moments, axes = principal_moments(tensor)
    # Second moments: s_x = (a + b + c)/2 − a; moments back: a = sum of s − s_x.
    spreads = 0.5 * moments.sum() - moments
    largest = spreads.max()
    # Also for NaN.
    if not SPREAD * largest > MIN_INERTIAL:
        return None
    spreads = np.maximum(spreads, SPREAD * largest)
    changed: Floats = np.asarray((axes * (spreads.sum() - spreads)) @ axes.T)
    # Rounding would leave it asymmetric.
    return np.asarray(0.5 * (changed + changed.T))


def repaired(body: Body) -> tuple[Body, tuple[Problem, ...]]:
    """Return the body with masses and inertias that simulators accept.

    They are changed as little as possible, and each change is reported.

    - numbers that are not finite, and negative masses, become 0;
    - a moving link without mass (in a rigid group without) gets `MASS_GIVEN`, at its
      centre of mass;
    - one without inertia gets that of a solid box around its shapes, `MIN_THICKNESS` at
      least each way, with the link's mass;
      without shapes that of a ball as dense as water;
    - else the tensor is `nearest_possible`.

    Returns
    -------
    The body (the same one, where nothing was to be changed), and a problem for each
    change, by the rules LOSS045 … LOSS048.
    """
    problems: list[Problem] = []
    # What has lost a broken mass may be without one then, in a group that moves, and
    # what has one now may need an inertia.
    for _ in range(4):
        found = faults(body)
        if not found:
            break
        links = list(body.links)
        for fault in found:
            index = fault.link
            # Numbers of broken links may overflow on the way.
            with np.errstate(all="ignore"):
                moving = is_moving(body, index)
                repair = _repaired(links[index], fault.why, moving=moving)
            links[index] = repair.link
            name = body.links[index].name or f"number {index}"
            message = f"link {name}: {fault.message}; {repair.change}"
            location = Location(inside=f"links[{index}]")
            problems.append(repair.rule.problem(message, location))
        body = replace(body, links=tuple(links))
    return body, tuple(problems)


class _Repair(NamedTuple):
    """The changed link, the rule of the change, and the change in words."""

    link: Link
    rule: Rule
    change: str


def _repaired(link: Link, why: Why, *, moving: bool) -> _Repair:
    """Return the link with the smallest change that makes it a rigid body."""
    mass = link.mass
    center = link.center_of_mass
    if why == "finite" or mass < 0:
        return _Repair(
            _without_invalid_numbers(link),
            losses.INERTIA_NOT_FINITE,
            "its invalid numbers are 0 now",
        )
    nearest = nearest_possible(link.inertia)
    # The former inertia stays, where a rigid body can have it.
    if why == "mass":
        if nearest is None:
            solid = _solid(link, MASS_GIVEN)
        else:
            solid = _Solid(nearest, "its former inertia")
        change = f"its mass is {MASS_GIVEN:g} kg now, with {solid.description}"
        changed = _with(link, MASS_GIVEN, center, solid.inertia)
        return _Repair(changed, losses.MASS_GIVEN, change)
    # A fixed link needs no inertia; an impossible one is dropped.
    if nearest is None and not moving:
        changed = _with(link, mass, center, np.zeros((3, 3)))
        return _Repair(changed, losses.INERTIA_GIVEN, "it has none now")
    if why == "zero" or nearest is None:
        solid = _solid(link, mass)
        changed = _with(link, mass, center, solid.inertia)
        change = f"it has {solid.description} now"
        return _Repair(changed, losses.INERTIA_GIVEN, change)
    smallest, middle, most = principal_moments(nearest)[0].tolist()
    change = f"they are {smallest:.4g}, {middle:.4g} and {most:.4g} kg m² now"
    changed = _with(link, mass, center, nearest)
    return _Repair(changed, losses.INERTIA_CHANGED, change)


def _without_invalid_numbers(link: Link) -> Link:
    """Return the link with 0 for what is not finite, and for a negative mass."""
    mass = link.mass
    center = link.center_of_mass
    inertia = link.inertia
    if not (np.isfinite(mass) and mass > 0):
        # A mass that is NaN is not above 0.
        mass = 0.0
    if not np.isfinite(center).all():
        center = np.zeros(3)
    if not (mass and np.isfinite(inertia).all()):
        inertia = np.zeros((3, 3))
    return _with(link, mass, center, inertia)


class _Solid(NamedTuple):
    """The inertia (3, 3) of a solid, and what it is."""

    inertia: Floats
    description: str


def _solid(link: Link, mass: float) -> _Solid:
    """Return the inertia of a solid of that mass as large as the link."""
    boxes = [shape.bounds for shape in link.collisions or link.visuals]
    boxes = [box for box in boxes if box is not None and np.isfinite(box).all()]
    if boxes:
        corners = np.array(boxes)
        edges = corners[:, 1].max(axis=0) - corners[:, 0].min(axis=0)
        edges = np.maximum(edges, MIN_THICKNESS)
        # Of a box a × b × c about its axis a: m/12·(b² + c²).
        square = edges * edges
        with np.errstate(over="ignore"):
            tensor = np.diag(mass / 12.0 * (square.sum() - square))
        # The tensor has moments that simulators accept, even after the smallest is
        # limited.
        if np.isfinite(tensor).all() and tensor.max() * SPREAD > MIN_INERTIAL:
            return _Solid(
                tensor,
                f"the inertia of a solid box of {edges[0]:.3g} × {edges[1]:.3g} × "
                f"{edges[2]:.3g} m",
            )
    # Of a ball of water: m = 4/3·π·r³·ρ, and 2/5·m·r² about each axis.
    radius = (0.75 * mass / (np.pi * WATER)) ** (1 / 3)
    radius = max(radius, 0.5 * MIN_THICKNESS)
    if mass > 1e200:  # m·r² would overflow
        radius = min(radius, 1.0)
    moment = max(0.4 * mass * radius**2, 10 * MIN_INERTIAL)
    return _Solid(
        moment * np.eye(3), f"the inertia of a ball with a radius of {radius:.3g} m"
    )


def _with(
    link: Link, mass: float, center: npt.ArrayLike, inertia: npt.ArrayLike
) -> Link:
    """Return the link with another mass, centre and inertia.

    Its segments change. One that only gets another inertia keeps what each segment
    weighs: the change goes to the heaviest. Else the first has all.
    """
    tensor = np.asarray(inertia, dtype=np.float64)
    if not link.segments:
        return replace(
            link,
            segments=(
                Segment(
                    mass=mass, center_of_mass=frozen(center), inertia=frozen(tensor)
                ),
            ),
        )
    masses = [segment.mass for segment in link.segments]
    if np.isfinite(masses).all():
        heaviest = int(np.argmax(masses))
    else:
        heaviest = 0
    # Whether only the inertia changes, so that segments keep their masses.
    old = link.inertia
    kept = (
        mass == link.mass
        and np.array_equal(link.center_of_mass, center)
        and np.isfinite(old).all()
    )
    if kept and _is_rotated(link.segments[heaviest]):
        segments = list(link.segments)
        # The change of the tensor in the axes of the segment.
        turn = segments[heaviest].transform[:3, :3]
        change = turn.T @ (tensor - old) @ turn
        segments[heaviest] = replace(
            segments[heaviest], inertia=frozen(segments[heaviest].inertia + change)
        )
        return replace(link, segments=tuple(segments))
    return replace(
        link,
        segments=_all_in_one(
            link.segments, mass, np.asarray(center, dtype=np.float64), tensor
        ),
    )


def _is_rotated(segment: Segment) -> bool:
    turn = segment.transform[:3, :3]
    return bool(
        np.isfinite(turn).all() and np.abs(turn @ turn.T - np.eye(3)).max() < 1e-9
    )


def _all_in_one(
    segments: Sequence[Segment], mass: float, center: Floats, inertia: Floats
) -> tuple[Segment, ...]:
    """Return the segments with all mass in the first that is only rotated and moved.

    One is added where none does.
    """
    nowhere = frozen(np.zeros(3))
    none = frozen(np.zeros((3, 3)))
    left = [
        replace(segment, mass=0.0, center_of_mass=nowhere, inertia=none)
        for segment in segments
    ]
    chosen = next(
        (i for i, segment in enumerate(segments) if _is_rotated(segment)), None
    )
    if chosen is None:
        return (
            *left,
            Segment(mass=mass, center_of_mass=frozen(center), inertia=frozen(inertia)),
        )
    # Into the frame of the segment: its transform is a rotation and a shift.
    turn = segments[chosen].transform[:3, :3]
    shift = segments[chosen].transform[:3, 3]
    left[chosen] = replace(
        left[chosen],
        mass=mass,
        center_of_mass=frozen(turn.T @ (center - shift)),
        inertia=frozen(turn.T @ inertia @ turn),
    )
    return tuple(left)
