"""Compare two bodies, link by link."""

from collections.abc import Iterator, Sequence
from dataclasses import fields

import numpy as np

from bodymotion.comparison.difference import Comparison, Difference, Tolerance, in_words
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats, same
from bodymotion.model.body import Body
from bodymotion.model.links import Device, Joint, Link


def compare_bodies(
    a: Body,
    b: Body,
    *,
    atol: float = 0.0,
    rtol: float = 0.0,
) -> Comparison:
    """Return the differences between two bodies.

    Links, joints, masses, shapes, devices, closed loops.

    Parameters
    ----------
    a, b:
        Links and devices are compared by name.
    atol, rtol:
        Numbers are equal when |a − b| ≤ atol + rtol · |b|; orientations when the angle
        between them is at most `atol` [rad].

    Raises
    ------
    ValueError
        When a tolerance is negative.
    """
    return Comparison(tuple(_all(a, b, Tolerance(atol, rtol))))


def _all(
    a: Body,
    b: Body,
    tolerance: Tolerance,
) -> Iterator[Difference]:
    if a.name != b.name:
        yield Difference("the model", f"named {a.name!r}, {b.name!r}")
    for what, first, second in (
        ("links", len(a.links), len(b.links)),
        ("joints", len(a.joints), len(b.joints)),
        ("devices", len(a.devices), len(b.devices)),
        ("closed loops", len(a.extra_joints), len(b.extra_joints)),
    ):
        if first != second:
            yield Difference(what, f"{first}, {second}", {"counts": [first, second]})
    yield from _number("the model", "mass", a.mass, b.mass, tolerance, "kg")
    yield from _pose("the model", "root pose", a.root_pose, b.root_pose, tolerance)
    names = [joint.name for joint in a.joints], [joint.name for joint in b.joints]
    if names[0] != names[1] and sorted(names[0]) == sorted(names[1]):
        yield Difference(
            "joints", "the same joints in another order", {"orders": list(names)}
        )
    ours = _by_name(a.links)
    theirs = _by_name(b.links)
    for name in {**ours, **theirs}:
        if name in ours and name in theirs:
            yield from _link(f"link {name}", ours[name], theirs[name], a, b, tolerance)
        else:
            yield Difference(
                f"link {name}",
                f"only in the {'first' if name in ours else 'second'} model",
            )
    yield from _devices(a, b, tolerance)
    if len(a.extra_joints) == len(b.extra_joints):
        for k, (one, other) in enumerate(
            zip(a.extra_joints, b.extra_joints, strict=True)
        ):
            if one != other:
                yield Difference(
                    f"closed loop {k}",
                    f"{one.type} and {other.type}, or their positions",
                )


def _by_name(links: tuple[Link, ...]) -> dict[str, Link]:
    found: dict[str, Link] = {}
    for link in links:
        found[
            link.name if link.name not in found else f"{link.name} ({link.index})"
        ] = link
    return found


def _link(
    what: str,
    a: Link,
    b: Link,
    in_a: Body,
    in_b: Body,
    tolerance: Tolerance,
) -> Iterator[Difference]:
    parents = [
        body.links[link.parent].name if link.parent >= 0 else "none"
        for link, body in ((a, in_a), (b, in_b))
    ]
    if parents[0] != parents[1]:
        yield Difference(what, f"its parent is {parents[0]}, {parents[1]}")
    yield from _pose(what, "pose in its parent", a.offset, b.offset, tolerance)
    yield from _number(what, "mass", a.mass, b.mass, tolerance, "kg")
    yield from _number(
        what, "centre of mass", a.center_of_mass, b.center_of_mass, tolerance, "m"
    )
    yield from _number(what, "inertia", a.inertia, b.inertia, tolerance, "kg m²")
    for kind, first, second in (
        ("visual", a.visuals, b.visuals),
        ("collision", a.collisions, b.collisions),
    ):
        if len(first) != len(second):
            yield Difference(what, f"{len(first)} {kind} shapes, {len(second)}")
        else:
            pairs = list(zip(first, second, strict=True))
            differing = sum(one.geometry != other.geometry for one, other in pairs)
            moved = sum(
                not tolerance.alike(one.transform, other.transform)
                for one, other in pairs
            )
            if differing:
                yield Difference(
                    what,
                    f"{differing} of {len(first)} {kind} shapes have another geometry",
                )
            if moved:
                yield Difference(
                    what,
                    f"{moved} of {len(first)} {kind} shapes have another pose or size",
                )
    yield from _fields(what, "joint ", a.joint, b.joint, tolerance)


def _fields(
    what: str,
    prefix: str,
    a: Joint | Device,
    b: Joint | Device,
    tolerance: Tolerance,
    but: Sequence[str] = (),
) -> Iterator[Difference]:
    """Compare two values field by field, but those that are named."""
    for field in fields(a):
        if field.name in but:
            continue
        x = getattr(a, field.name)
        y = getattr(b, field.name)
        name = f"{prefix}{field.name.replace('_', ' ')}"
        if isinstance(x, (float, np.ndarray)) and isinstance(y, (float, np.ndarray)):
            yield from _number(what, name, x, y, tolerance)
        elif not same(x, y):
            yield Difference(what, f"{name} {in_words(x)}, {in_words(y)}")


def _devices(
    a: Body,
    b: Body,
    tolerance: Tolerance,
) -> Iterator[Difference]:
    ours, theirs = (
        {f"{one.kind} {one.name}": one for one in body.devices} for body in (a, b)
    )
    for what in {**ours, **theirs}:
        if what not in ours or what not in theirs:
            yield Difference(
                what, f"only in the {'first' if what in ours else 'second'} model"
            )
            continue
        device = ours[what]
        other = theirs[what]
        on = a.links[device.link].name, b.links[other.link].name
        if on[0] != on[1]:
            yield Difference(what, f"on link {on[0]}, on {on[1]}")
        yield from _pose(what, "pose", device.pose, other.pose, tolerance)
        yield from _fields(
            what, "", device, other, tolerance, but=("name", "link", "pose")
        )


def _number(
    what: str,
    name: str,
    a: float | Floats,
    b: float | Floats,
    tolerance: Tolerance,
    unit: str = "",
) -> Iterator[Difference]:
    if tolerance.alike(a, b):
        return
    x = np.asarray(a, np.float64)
    y = np.asarray(b, np.float64)
    if unit:
        tail = f" {unit}"
    else:
        tail = ""
    if x.ndim == 0 and y.ndim == 0:
        yield Difference(
            what,
            f"{name} {float(x):.9g}, {float(y):.9g}{tail}",
            {"values": [float(x), float(y)]},
        )
        return
    with np.errstate(invalid="ignore"):
        if x.shape == y.shape and x.size:
            largest = float(np.abs(x - y).max())
        else:
            largest = float("nan")
    yield Difference(
        what,
        f"{name} differs by up to {largest:.6g}{tail}",
        {"largest": largest, "unit": unit},
    )


def _pose(
    what: str,
    name: str,
    a: Floats,
    b: Floats,
    tolerance: Tolerance,
) -> Iterator[Difference]:
    yield from _number(what, f"{name}: position", a[:3], b[:3], tolerance, "m")
    if same(a[3:], b[3:]) or same(a[3:], -b[3:]):
        return
    angle = float(rotations.angle_between(a[3:], b[3:]))
    if angle > tolerance.atol or tolerance.atol == 0:
        yield Difference(
            what,
            f"{name}: rotated by {angle:.6g} rad",
            {"largest": angle, "unit": "rad"},
        )
