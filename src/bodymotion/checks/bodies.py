"""`check_body`: all rules about a body.

Here those about names, ids, joints, devices and extra joints.
"""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from bodymotion.checks.body_review import BodyReview, device_title, distance, size
from bodymotion.checks.masses_and_shapes import (
    check_masses,
    check_numbers,
    check_shapes,
    check_sizes,
    check_textures,
)
from bodymotion.diagnostics import Problem, Severity
from bodymotion.diagnostics.text import counted, listed
from bodymotion.geometry.rotations import FULL_TURN, NO_LIMIT, limits_in_degrees
from bodymotion.model import rules
from bodymotion.model.body import Body, ExtraJoint
from bodymotion.model.links import (
    Device,
    Joint,
    Link,
    RangeSensor,
    VisionSensor,
    first_number,
)

# [m] The largest limit of a sliding joint. Powers of ten from 100 on mean that there is
# no limit.
MAX_SLIDE = 20.0
# The number of missing ids that a message names.
MAX_ID_GAPS = 20
# The largest error of the length of an axis: files have few digits.
MAX_LENGTH_ERROR = 1e-6
# The largest distance of a device from the box around its link's shapes. In diagonals
# of that box.
MAX_DIAGONALS = 2.0
# [m] A device within this distance is never too far away.
MIN_DISTANCE = 0.5
# [rad] A full turn, in files with few digits.
MAX_SCAN_ANGLE = 2 * np.pi + 1e-3
# [m] The distance between the two points of an extra joint with all joints at 0. For
# robots larger than 1 m, a part of their size.
MAX_GAP = 1e-3
# [rad] The angle between the two axes of a hinge with all joints at 0.
MAX_TILT = 1e-2


def check_body(body: Body) -> tuple[Problem, ...]:
    """Return the problems of a body.

    Those of reading it, and those of the rules about bodies.
    """
    if not body.links:
        return (*body.problems, rules.NO_LINKS.problem("the body has no links"))
    review = BodyReview(body)
    checks = (
        _check_link_names,
        _check_device_names,
        _check_joint_ids,
        _check_device_ids,
        check_numbers,
        check_joints,
        check_masses,
        check_shapes,
        check_textures,
        check_sizes,
        check_devices,
        check_loops,
    )
    for check in checks:
        # Numbers near the largest float overflow; BODY105 reports numbers that are not
        # finite.
        with np.errstate(all="ignore"):
            check(review)
    return (*body.problems, *review.found.problems)


def _check_link_names(review: BodyReview) -> None:
    """Check the names of links and joints.

    Links have a name; no two links or joints have the same one.
    """
    first_link: dict[str, int] = {}
    first_joint: dict[str, int] = {}
    for link in review.body.links:
        if not link.name:
            review.report_link(rules.NO_NAME, link, "has no name")
        elif link.name in first_link:
            message = f"has the same name as link {first_link[link.name]}"
            review.report_link(rules.SAME_LINK, link, message, "link_name")
        first_link.setdefault(link.name, link.index)
        name = link.joint.name
        if not name:
            continue
        other = first_joint.setdefault(name, link.index)
        # Of joints that are named after their links, the link's name is reported.
        is_reported = name == link.name and first_link[name] == other
        if other != link.index and not is_reported:
            message = f"has a joint {name!r}; link {other} has one of the same name"
            review.report_link(rules.SAME_JOINT, link, message, "name")


def _check_device_names(review: BodyReview) -> None:
    seen: set[tuple[int, str, str]] = set()
    for number, device in enumerate(review.body.devices):
        key = (device.link, device.kind, device.name)
        if device.name and key in seen:
            review.report_device(
                rules.SAME_DEVICE,
                number,
                "has the same name as another device of this link",
            )
        seen.add(key)


def _check_joint_ids(review: BodyReview) -> None:
    """Report ids that two joints have, and missing ids."""
    links = review.body.links
    ids = _review_ids({link.index: link.joint.id for link in links})
    for link, first in ids.repeated.items():
        number = links[link].joint.id
        title = repr(links[first].name) if links[first].name else f"link {first}"
        message = f"has the joint id {number}, as {title} does"
        data = {"id": number}
        review.report_link(rules.ID_TWICE, links[link], message, "id", data=data)
    # A joint that could not be read may have the missing id.
    if ids.gaps and review.are_known("links", "id"):
        noun = "ids" if len(ids.gaps) > 1 else "id"
        message = f"no joint has the {noun} {listed(map(str, ids.gaps))}"
        review.report_body(rules.ID_GAP, message, ("links", ids.behind, "id"))


def _check_device_ids(review: BodyReview) -> None:
    """Report ids that two devices of a kind have, and missing ids."""
    if review.body.source.format not in ("openhrp", "body", ""):
        # Only OpenHRP and Choreonoid have ids of devices.
        return
    devices = review.body.devices
    ids_of_kind: dict[str, dict[int, int]] = {}
    for number, device in enumerate(devices):
        ids_of_kind.setdefault(device.kind, {})[number] = device.id
    is_known = review.are_known("devices", "id")
    for kind, numbers in ids_of_kind.items():
        ids = _review_ids(numbers)
        for number, first in ids.repeated.items():
            title = device_title(devices[first])
            message = f"has the id {devices[number].id}, as {title} does"
            review.report_device(rules.DEVICE_ID, number, message, "id")
        if ids.gaps and is_known:
            message = f"no {kind} has the id {listed(map(str, ids.gaps))}"
            subject = ("devices", ids.behind, "id")
            review.report_body(rules.DEVICE_ID, message, subject)


class _Ids(NamedTuple):
    """Ids of things with indices.

    `repeated`: the first thing with the same id, by the later thing. `gaps`: missing
    ids. `behind`: the thing whose id follows the first gap, −1 without gaps.
    """

    repeated: dict[int, int]
    gaps: list[int]
    behind: int


def _review_ids(ids: dict[int, int]) -> _Ids:
    """Return which ids from 0 on, by thing, are repeated or missing."""
    first: dict[int, int] = {}
    repeated = {}
    for thing, number in ids.items():
        if number >= 0 and first.setdefault(number, thing) != thing:
            repeated[thing] = first[number]
    # A large id is probably wrong, so not all of the missing ones are named.
    highest = min(max(first, default=-1), len(first) + MAX_ID_GAPS)
    gaps = [number for number in range(highest) if number not in first]
    if not gaps:
        return _Ids(repeated, gaps, -1)
    behind = min(number for number in first if number > gaps[0])
    return _Ids(repeated, gaps, first[behind])


def check_joints(review: BodyReview) -> None:
    """Check the joint of each link."""
    outside = []
    for link in review.body.links:
        joint = link.joint
        _check_type(review, link, joint)
        if joint.type in ("rotate", "slide") and review.is_known(link, "type"):
            _check_axis(review, link, joint)
            _check_limits(review, link, joint)
            is_ordered = joint.lower <= joint.upper
            # The pose with all joints at 0 is not possible then.
            is_zero_outside = is_ordered and (joint.lower > 0 or joint.upper < 0)
            is_known = review.is_known(link, "lower", "upper")
            if link.index and is_zero_outside and is_known:
                outside.append(repr(link.name))
        _check_motor(review, link, joint)
    if outside:
        review.report_body(
            rules.ZERO_OUTSIDE, f"0 is outside the limits of {listed(outside)}"
        )


def _check_type(review: BodyReview, link: Link, joint: Joint) -> None:
    """Check the types of joints.

    Free joints are at the root only, and the root does not move along an axis.
    """
    if link.index and joint.type == "free":
        # The OpenHRP document allows it at the root only; Choreonoid's own models have
        # several free links.
        is_openhrp = review.body.source.format == "openhrp"
        severity: Severity | None = "warning" if is_openhrp else None
        message = "has a free joint and is not the root"
        review.report_link(rules.FREE_INSIDE, link, message, "type", severity=severity)
    if not link.index and joint.type in ("rotate", "slide") and joint.id >= 0:
        message = (
            f"is the root and has a joint of type {joint.type}: column {joint.id} "
            "moves nothing"
        )
        review.report_link(rules.ROOT_MOVES, link, message, "type")


def _check_axis(review: BodyReview, link: Link, joint: Joint) -> None:
    length = float(np.linalg.norm(joint.axis))
    message = f"has a {joint.type} joint with the axis"
    if length == 0:
        review.report_link(rules.ZERO_AXIS, link, f"{message} 0 0 0", "axis")
    elif math.isfinite(length) and abs(length - 1) > MAX_LENGTH_ERROR:
        axis = " ".join(f"{number:.6g}" for number in joint.axis)
        message = f"{message} {axis}, whose length is {length:.6g}"
        data = {"length": length}
        review.report_link(rules.AXIS_LENGTH, link, message, "axis", data=data)


def _check_limits(review: BodyReview, link: Link, joint: Joint) -> None:
    """Check the limits of position and velocity of a joint."""
    unit = "rad" if joint.type == "rotate" else "m"
    data = {"lower": joint.lower, "upper": joint.upper}
    if review.is_known(link, "lower", "upper"):
        if joint.lower > joint.upper:
            message = (
                f"has a lower limit of {joint.lower:g} {unit}, above its upper limit "
                f"of {joint.upper:g} {unit}"
            )
            review.report_link(rules.REVERSED_LIMITS, link, message, "lower", data=data)
        elif joint.lower == joint.upper:
            message = (
                f"has a {joint.type} joint with both limits at {joint.lower:g} {unit}: "
                "it cannot move"
            )
            review.report_link(rules.NO_RANGE, link, message, "lower", data=data)
        if joint.type == "slide":
            _check_sliding_range(review, link, joint)
        else:
            _check_degrees(review, link, joint)
    if review.is_known(link, "velocity_lower", "velocity_upper"):
        _check_velocity_limits(review, link, joint, f"{unit}/s")


def _check_velocity_limits(
    review: BodyReview, link: Link, joint: Joint, unit: str
) -> None:
    """Report velocity limits between which a joint cannot move both ways."""
    low = joint.velocity_lower
    high = joint.velocity_upper
    data = {"lower": low, "upper": high}
    message = f"has velocity limits of {low:g} and {high:g} {unit}"
    field = "velocity_lower"
    rule = rules.VELOCITY
    hint = None
    if low > high:
        rule = rules.REVERSED_LIMITS
        message += ": the lower is above the upper"
    elif low == high == 0:
        message = f"has a velocity limit of 0 {unit}: it cannot move"
        field = "velocity_upper"
        hint = "write the largest speed of the joint, or no limit"
    elif low >= 0 or high <= 0:
        message += ": it cannot move both ways"
    else:
        return
    review.report_link(rule, link, message, field, hint, data)


def _check_sliding_range(review: BodyReview, link: Link, joint: Joint) -> None:
    far = []
    for limit in (abs(joint.lower), abs(joint.upper)):
        # Powers of ten such as 1000 mean that there is no limit.
        is_power_of_ten = limit >= 100 and math.log10(limit).is_integer()
        if MAX_SLIDE < limit < NO_LIMIT and not is_power_of_ten:
            far.append(limit)
    if far:
        message = f"slides from {joint.lower:g} to {joint.upper:g} m"
        field = "upper" if far[-1] == abs(joint.upper) else "lower"
        review.report_link(rules.SLIDING_RANGE, link, message, field)


def _check_degrees(review: BodyReview, link: Link, joint: Joint) -> None:
    """Report limits of a rotating joint that look like degrees."""
    largest = limits_in_degrees(joint.lower, joint.upper)
    if largest is None:
        return
    turns = (joint.upper - joint.lower) / FULL_TURN
    message = (
        f"has limits of {joint.lower:g} and {joint.upper:g} rad: {turns:.3g} full turns"
    )
    field = "lower" if largest == abs(joint.lower) else "upper"
    data = {"lower": joint.lower, "upper": joint.upper}
    review.report_link(rules.DEGREES, link, message, field, data=data)


def _check_motor(review: BodyReview, link: Link, joint: Joint) -> None:
    """Report values that no motor has.

    Those of one joint are one finding.
    """
    efficiency = joint.gear_efficiency
    current = first_number(joint.extra, "climit") or 0.0
    faults = {}
    if joint.gear_ratio == 0:
        faults["gear_ratio"] = "a gear ratio of 0"
    if not 0 < efficiency <= 1:
        faults["gear_efficiency"] = f"a gear efficiency of {efficiency:g}"
    if joint.rotor_inertia < 0:
        faults["rotor_inertia"] = f"a rotor inertia of {joint.rotor_inertia:g} kg m²"
    if joint.rotor_resistor < 0:
        faults["rotor_resistor"] = f"a rotor resistor of {joint.rotor_resistor:g}"
    if joint.encoder_pulse < 0:
        faults["encoder_pulse"] = f"an encoder pulse of {joint.encoder_pulse:g}"
    if joint.torque_const < 0:
        faults["torque_const"] = f"a torque constant of {joint.torque_const:g} Nm/A"
    if current < 0:
        faults["climit"] = f"a climit of {current:g} A"
    fields = [field for field in faults if review.is_known(link, field)]
    if fields:
        message = f"has {' and '.join(faults[field] for field in fields)}"
        review.report_link(rules.MOTOR, link, message, fields[0])


# Devices and extra joints


def check_devices(review: BodyReview) -> None:
    """Check each device."""
    links = review.body.links
    for number, device in enumerate(review.body.devices):
        if not 0 <= device.link < len(links):
            message = (
                f"is on link {device.link}; the body has {counted(len(links), 'link')}"
            )
            review.report_device(rules.DEVICE_LINK, number, message, "link")
            continue
        _check_position(review, number, device)
        if isinstance(device, VisionSensor):
            _check_camera(review, number, device)
        if isinstance(device, RangeSensor):
            _check_scan(review, number, device)


def _check_position(review: BodyReview, number: int, device: Device) -> None:
    """Report a device that is far outside of the shape of its link."""
    position = device.pose[:3]
    box = review.boxes[device.link]
    link = review.body.links[device.link]
    if not np.isfinite(position).all() or not review.is_known(link, "shapes"):
        return
    # Without shapes, the size of the whole robot takes the place of the link's.
    if box is None:
        outside = float(np.linalg.norm(position))
        limit = review.diagonal
        origin = "from the link's frame"
    else:
        outside = distance(box, position)
        limit = MAX_DIAGONALS * size(box)
        origin = "outside of the link's shape"
    if outside > max(limit, MIN_DISTANCE):
        shown = " ".join(f"{value:.4g}" for value in position)
        message = f"is at {shown} m in link {link.name!r}, {outside:.3g} m {origin}"
        review.report_device(rules.DEVICE_FAR, number, message, "pose")


def _check_camera(review: BodyReview, number: int, device: VisionSensor) -> None:
    """Report an angle, a distance or an image size that no camera has."""
    faults = {}
    if not 0 < device.field_of_view <= 2 * np.pi:
        angle = f"a field of view of {device.field_of_view:g} rad"
        faults["field_of_view"] = angle
    near = device.front_clip_distance
    far = device.back_clip_distance
    if not 0 < near < far:
        distances = f"the clip distances {near:g} and {far:g} m"
        faults["front_clip_distance"] = distances
    has_pixels = min(device.width, device.height) >= 1
    if not has_pixels or not device.frame_rate > 0:
        faults["frame_rate" if has_pixels else "width"] = (
            f"an image of {device.width} × {device.height} pixels at "
            f"{device.frame_rate:g} Hz"
        )
    is_known = review.body.source.locations.is_known
    fields = [field for field in faults if is_known(("devices", number, field))]
    if fields:
        message = f"has {' and '.join(faults[field] for field in fields)}"
        review.report_device(rules.CAMERA, number, message, fields[0])


def _check_scan(review: BodyReview, number: int, device: RangeSensor) -> None:
    """Report an angle, a step, a rate or a range that no scanner has."""
    is_wrong = {
        "scan_angle": not 0 <= device.scan_angle <= MAX_SCAN_ANGLE,
        "scan_step": not (device.scan_step > 0 or device.scan_angle == 0),
        "scan_rate": not device.scan_rate > 0,
        "max_distance": not device.max_distance > 0,
    }
    is_known = review.body.source.locations.is_known
    fields = [
        field
        for field in is_wrong
        if is_wrong[field] and is_known(("devices", number, field))
    ]
    if fields:
        message = (
            f"scans {device.scan_angle:g} rad in steps of {device.scan_step:g} rad, "
            f"{device.scan_rate:g} times per second, "
            f"up to {device.max_distance:g} m"
        )
        review.report_device(rules.SCAN, number, message, fields[0])


def check_loops(review: BodyReview) -> None:
    """Check each extra joint."""
    connecting = []
    for number, joint in enumerate(review.body.extra_joints):
        fault = _find_fault_of_links(review.body, joint)
        if fault:
            review.report_extra_joint(rules.LOOP_LINK, number, fault, "links")
        else:
            connecting.append(number)
        length = float(np.linalg.norm(joint.axis))
        has_axis = joint.type not in ("xyz", "ball") and np.isfinite(length)
        if has_axis and abs(length - 1) > MAX_LENGTH_ERROR:
            rule = rules.AXIS_LENGTH if length else rules.ZERO_AXIS
            message = f"has an axis of length {length:.6g}"
            review.report_extra_joint(rule, number, message, "axis")
    has_poses = review.are_known("links", "offset")
    if connecting and has_poses and review.are_known("links", "rotation"):
        _check_open_loops(review, connecting)


def _find_fault_of_links(body: Body, joint: ExtraJoint) -> str:
    """Return why an extra joint connects no two links; "" where it does."""
    links = body.links
    a, b = joint.links
    if not (0 <= a < len(links) and 0 <= b < len(links)):
        count = counted(len(links), "link")
        return f"connects the links {a} and {b}; the body has {count}"
    if a == b:
        return f"connects link {links[a].name!r} to itself"
    return ""


def _check_open_loops(review: BodyReview, numbers: list[int]) -> None:
    """Report extra joints whose ends are apart with all joints at 0."""
    # This import loads compiled kernels, which only bodies with loops need.
    from bodymotion.model.closed_loops import loop_errors

    body = review.body
    joints = tuple(body.extra_joints[number] for number in numbers)
    gaps, tilts = loop_errors(replace(body, extra_joints=joints), review.at_rest)
    # Numbers in a file have a relative error: larger robots have larger gaps.
    max_gap = MAX_GAP * max(1.0, review.diagonal)
    for number, joint, gap, tilt in zip(numbers, joints, gaps, tilts, strict=True):
        if max_gap < gap < np.inf:
            size_of_gap = f"{gap:.3g} m"
        elif tilt > MAX_TILT:
            size_of_gap = f"{np.degrees(tilt):.3g}°"
        else:
            continue
        first, second = (body.links[index].name for index in joint.links)
        message = (
            f"({joint.type}) between {first!r} and {second!r} is open by {size_of_gap} "
            "with all joints at 0"
        )
        review.report_extra_joint(rules.LOOP_OPEN, number, message)
