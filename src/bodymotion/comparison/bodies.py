"""Compare two bodies, link by link."""

from collections.abc import Iterator, Sequence
from dataclasses import fields

import numpy as np

from bodymotion.comparison.difference import Comparison, Difference, Tolerance, in_words
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats, same
from bodymotion.geometry.shapes import Shape
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

    They are those of links, joints, masses, shapes, devices and closed loops.

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
    tolerance = Tolerance(atol, rtol)
    return Comparison(tuple(_compare_all(a, b, tolerance)))


def _compare_all(
    a: Body,
    b: Body,
    tolerance: Tolerance,
) -> Iterator[Difference]:
    """Compare names and counts, then links, devices and closed loops."""
    if a.name != b.name:
        yield Difference("the model", f"named {a.name!r}, {b.name!r}")
    yield from _compare_counts(a, b)
    yield from _compare_numbers("the model", "mass", a.mass, b.mass, tolerance, "kg")
    root_poses = (a.root_pose, b.root_pose)
    yield from _compare_poses("the model", "root pose", *root_poses, tolerance)
    # Joints in another order have other columns in motions.
    order = [joint.name for joint in a.joints]
    other_order = [joint.name for joint in b.joints]
    # The same names: otherwise counts or links differ, which is reported there.
    if order != other_order and sorted(order) == sorted(other_order):
        message = "the same joints in another order"
        yield Difference("joints", message, {"orders": [order, other_order]})
    yield from _compare_links(a, b, tolerance)
    yield from _compare_devices(a, b, tolerance)
    yield from _compare_loops(a, b)


def _compare_counts(a: Body, b: Body) -> Iterator[Difference]:
    """Compare how many links, joints, devices and closed loops there are."""
    for what, first, second in (
        ("links", len(a.links), len(b.links)),
        ("joints", len(a.joints), len(b.joints)),
        ("devices", len(a.devices), len(b.devices)),
        ("closed loops", len(a.extra_joints), len(b.extra_joints)),
    ):
        if first != second:
            yield Difference(what, f"{first}, {second}", {"counts": [first, second]})


def _compare_links(
    a: Body,
    b: Body,
    tolerance: Tolerance,
) -> Iterator[Difference]:
    """Compare the links of two bodies by name."""
    links_of_a = _links_by_name(a)
    links_of_b = _links_by_name(b)
    # In the order of the first body, then what only the second has.
    for name in {**links_of_a, **links_of_b}:
        what = f"link {name}"
        link = links_of_a.get(name)
        other = links_of_b.get(name)
        if link is None or other is None:
            yield _only_in(what, "second" if link is None else "first")
            continue
        parent = _parent_name(a, link)
        other_parent = _parent_name(b, other)
        if parent != other_parent:
            yield Difference(what, f"its parent is {parent}, {other_parent}")
        yield from _compare_link(what, link, other, tolerance)


def _links_by_name(body: Body) -> dict[str, Link]:
    """Return links by name; those with a name of one before also have their number."""
    links: dict[str, Link] = {}
    for link in body.links:
        # The index makes names distinct.
        name = link.name
        if name in links:
            name = f"{name} ({link.index})"
        links[name] = link
    return links


def _only_in(what: str, which: str) -> Difference:
    """Return that something is only in the first or second model."""
    return Difference(what, f"only in the {which} model")


def _parent_name(body: Body, link: Link) -> str:
    """Return the name of a link's parent."""
    if link.parent < 0:
        return "none"
    return body.links[link.parent].name


def _compare_link(
    what: str,
    a: Link,
    b: Link,
    tolerance: Tolerance,
) -> Iterator[Difference]:
    """Compare pose, masses, shapes and joint of two links of the same name."""
    yield from _compare_poses(what, "pose in its parent", a.offset, b.offset, tolerance)
    for name, x, y, unit in (
        ("mass", a.mass, b.mass, "kg"),
        ("centre of mass", a.center_of_mass, b.center_of_mass, "m"),
        ("inertia", a.inertia, b.inertia, "kg m²"),
    ):
        yield from _compare_numbers(what, name, x, y, tolerance, unit)
    yield from _compare_shapes(what, "visual", a.visuals, b.visuals, tolerance)
    yield from _compare_shapes(what, "collision", a.collisions, b.collisions, tolerance)
    yield from _compare_fields(what, "joint ", a.joint, b.joint, tolerance)


def _compare_shapes(
    what: str,
    kind: str,
    a: Sequence[Shape],
    b: Sequence[Shape],
    tolerance: Tolerance,
) -> Iterator[Difference]:
    """Compare the visual or collision shapes (`kind`) of two links, in their order."""
    count = len(a)
    # Different counts leave no pairs to compare.
    if count != len(b):
        yield Difference(what, f"{count} {kind} shapes, {len(b)}")
        return
    num_differing = 0
    num_moved = 0
    for shape, other in zip(a, b, strict=True):
        num_differing += shape.geometry != other.geometry
        # Also scales: the transform is affine.
        num_moved += not tolerance.alike(shape.transform, other.transform)
    if num_differing:
        message = f"{num_differing} of {count} {kind} shapes have another geometry"
        yield Difference(what, message)
    if num_moved:
        message = f"{num_moved} of {count} {kind} shapes have another pose or size"
        yield Difference(what, message)


def _compare_fields(
    what: str,
    prefix: str,
    a: Joint | Device,
    b: Joint | Device,
    tolerance: Tolerance,
    left_out: Sequence[str] = (),
) -> Iterator[Difference]:
    """Compare two values field by field, but for those that are left out."""
    for field in fields(a):
        if field.name in left_out:
            continue
        x = getattr(a, field.name)
        y = getattr(b, field.name)
        name = f"{prefix}{field.name.replace('_', ' ')}"
        # Numbers with the tolerance, all else exactly.
        if isinstance(x, (float, np.ndarray)) and isinstance(y, (float, np.ndarray)):
            yield from _compare_numbers(what, name, x, y, tolerance)
        elif not same(x, y):
            yield Difference(what, f"{name} {in_words(x)}, {in_words(y)}")


def _compare_devices(
    a: Body,
    b: Body,
    tolerance: Tolerance,
) -> Iterator[Difference]:
    """Compare the devices of two bodies by kind and name."""
    devices_of_a = {f"{device.kind} {device.name}": device for device in a.devices}
    devices_of_b = {f"{device.kind} {device.name}": device for device in b.devices}
    for what in {**devices_of_a, **devices_of_b}:
        device = devices_of_a.get(what)
        other = devices_of_b.get(what)
        if device is None or other is None:
            yield _only_in(what, "second" if device is None else "first")
            continue
        link = a.links[device.link].name
        other_link = b.links[other.link].name
        if link != other_link:
            yield Difference(what, f"on link {link}, on {other_link}")
        yield from _compare_poses(what, "pose", device.pose, other.pose, tolerance)
        # These are compared before, or are the key.
        left_out = ("name", "link", "pose")
        yield from _compare_fields(what, "", device, other, tolerance, left_out)


def _compare_loops(a: Body, b: Body) -> Iterator[Difference]:
    """Compare closed loops in their order, where both bodies have as many."""
    # Other counts are reported with the counts.
    if len(a.extra_joints) != len(b.extra_joints):
        return
    pairs = zip(a.extra_joints, b.extra_joints, strict=True)
    for number, (joint, other) in enumerate(pairs):
        if joint != other:
            message = f"{joint.type} and {other.type}, or their positions"
            yield Difference(f"closed loop {number}", message)


def _compare_numbers(
    what: str,
    name: str,
    a: float | Floats,
    b: float | Floats,
    tolerance: Tolerance,
    unit: str = "",
) -> Iterator[Difference]:
    """Compare two numbers, or arrays by the largest difference."""
    if tolerance.alike(a, b):
        return
    x = np.asarray(a, np.float64)
    y = np.asarray(b, np.float64)
    if x.ndim == 0 and y.ndim == 0:
        values = [float(x), float(y)]
        message = f"{name} {values[0]:.9g}, {values[1]:.9g} {unit}".rstrip()
        yield Difference(what, message, {"values": values})
        return
    # Arrays of different shapes have no largest difference.
    largest = float("nan")
    if x.shape == y.shape and x.size:
        with np.errstate(invalid="ignore"):
            largest = float(np.abs(x - y).max())
    message = f"{name} differs by up to {largest:.6g} {unit}".rstrip()
    yield Difference(what, message, {"largest": largest, "unit": unit})


def _compare_poses(
    what: str,
    name: str,
    a: Floats,
    b: Floats,
    tolerance: Tolerance,
) -> Iterator[Difference]:
    """Compare the positions of two poses (7,), and the angle between them."""
    position = f"{name}: position"
    yield from _compare_numbers(what, position, a[:3], b[:3], tolerance, "m")
    # q and −q are one rotation.
    if same(a[3:], b[3:]) or same(a[3:], -b[3:]):
        return
    angle = float(rotations.angle_between(a[3:], b[3:]))
    # Without a tolerance, quaternions of other lengths differ even at angle 0.
    if angle > tolerance.atol or tolerance.atol == 0:
        message = f"{name}: rotated by {angle:.6g} rad"
        yield Difference(what, message, {"largest": angle, "unit": "rad"})
