"""`check_body`: all rules about a body.

Here those about names, ids, joints, devices and extra joints.
"""

import math
from dataclasses import replace

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
from bodymotion.model.body import Body
from bodymotion.model.links import (
    Device,
    Joint,
    Link,
    RangeSensor,
    VisionSensor,
    first_number,
)

MAX_SLIDE = 20.0  # [m] The largest limit of a sliding joint. Powers of ten from 100 on mean that there is no limit.
MAX_ID_GAPS = 20  # The number of missing ids that a message names.

MAX_DIAGONALS = 2.0  # The distance of a device from the box around its link's shapes, in diagonals of that box.
MIN_DISTANCE = 0.5  # [m] A device within this distance is never too far away.
MAX_GAP = 1e-3
"""[m] The distance between the two points of an extra joint with all joints at 0.

For robots larger than 1 m, a part of their size.
"""
MAX_TILT = 1e-2  # [rad] The angle between the two axes of a hinge with all joints at 0.


def check_body(body: Body) -> tuple[Problem, ...]:
    """Return the problems of reading a body, and what the rules about bodies find in it."""
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
    first: dict[str, int] = {}
    joints: dict[str, int] = {}
    for link in review.body.links:
        if not link.name:
            review.report_link(rules.NO_NAME, link, "has no name")
        elif link.name in first:
            review.report_link(
                rules.SAME_LINK,
                link,
                f"has the same name as link {first[link.name]}",
                "link_name",
            )
        first.setdefault(link.name, link.index)
        name = link.joint.name
        if (
            name
            and name in joints
            and first.get(name) == joints[name] != link.index
            and name == link.name
        ):
            # Joints that are named after their links: the link's name is reported.
            continue
        if name and name in joints:
            review.report_link(
                rules.SAME_JOINT,
                link,
                f"has a joint {name!r}; link {joints[name]} has one of the same name",
                "name",
            )
        joints.setdefault(name, link.index)


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
    links = review.body.links
    twice, gaps, behind = _ids([link.joint.id for link in links])
    for number, link, other in twice:
        if links[other].name:
            title = repr(links[other].name)
        else:
            title = f"link {other}"
        message = f"has the joint id {number}, as {title} does"
        review.report_link(
            rules.ID_TWICE, links[link], message, "id", data={"id": number}
        )
    if gaps and review.are_known("links", "id"):
        message = f"no joint has the {'ids' if len(gaps) > 1 else 'id'} {listed(map(str, gaps))}"
        review.report_body(rules.ID_GAP, message, ("links", behind, "id"))


def _check_device_ids(review: BodyReview) -> None:
    devices = review.body.devices
    if review.body.source.format not in ("openhrp", "body", ""):
        # Only OpenHRP and Choreonoid have ids of devices.
        return
    known = review.are_known("devices", "id")
    for kind in dict.fromkeys(device.kind for device in devices):
        twice, gaps, behind = _ids(
            [one.id if one.kind == kind else -1 for one in devices]
        )
        for number, device, other in twice:
            message = f"has the id {number}, as {device_title(devices[other])} does"
            review.report_device(rules.DEVICE_ID, device, message, "id")
        if gaps and known:
            message = f"no {kind} has the id {listed(map(str, gaps))}"
            review.report_body(rules.DEVICE_ID, message, ("devices", behind, "id"))


def _ids(ids: list[int]) -> tuple[list[tuple[int, int, int]], list[int], int]:
    """Return each id from 0 on that is used again, where, and where it was first.

    Missing ids; and where the one behind the first is.
    """
    first: dict[int, int] = {}
    found = [
        (number, place, first.setdefault(number, place))
        for place, number in enumerate(ids)
        if number >= 0
    ]
    highest = min(max(first, default=-1), len(first) + MAX_ID_GAPS)
    gaps = [number for number in range(highest) if number not in first]
    if gaps:
        behind = first[min(number for number in first if number > gaps[0])]
    else:
        behind = -1
    return [one for one in found if one[1] != one[2]], gaps, behind


def check_joints(review: BodyReview) -> None:
    """Check the joint of each link."""
    outside = []
    for link in review.body.links:
        joint = link.joint
        if link.index and joint.type == "free":
            # The OpenHRP document allows it at the root only; Choreonoid's own models
            # have several free links.
            severity: Severity | None = (
                "warning" if review.body.source.format == "openhrp" else None
            )
            message = "has a free joint and is not the root"
            review.report_link(
                rules.FREE_INSIDE, link, message, "type", severity=severity
            )
        if not link.index and joint.type in ("rotate", "slide") and joint.id >= 0:
            message = f"is the root and has a joint of type {joint.type}: column {joint.id} moves nothing"
            review.report_link(rules.ROOT_MOVES, link, message, "type")
        if joint.type in ("rotate", "slide") and review.is_known(link, "type"):
            _check_axis(review, link, joint)
            _check_limits(review, link, joint)
            if (
                link.index
                and (joint.lower > 0 or joint.upper < 0)
                and joint.lower <= joint.upper
            ):
                outside += [repr(link.name)] * review.is_known(link, "lower", "upper")
        _check_motor(review, link, joint)
    if outside:
        review.report_body(
            rules.ZERO_OUTSIDE, f"0 is outside the limits of {listed(outside)}"
        )


def _check_axis(review: BodyReview, link: Link, joint: Joint) -> None:
    length = float(np.linalg.norm(joint.axis))
    if length == 0:
        review.report_link(
            rules.ZERO_AXIS,
            link,
            f"has a {joint.type} joint with the axis 0 0 0",
            "axis",
        )
    elif math.isfinite(length) and abs(length - 1) > 1e-6:
        axis = " ".join(f"{number:.6g}" for number in joint.axis)
        message = f"has a {joint.type} joint with the axis {axis}, whose length is {length:.6g}"
        review.report_link(
            rules.AXIS_LENGTH, link, message, "axis", data={"length": length}
        )


def _check_limits(review: BodyReview, link: Link, joint: Joint) -> None:
    unit = "rad" if joint.type == "rotate" else "m"
    limits = {"lower": joint.lower, "upper": joint.upper}
    if review.is_known(link, "lower", "upper"):
        if joint.lower > joint.upper:
            message = f"has a lower limit of {joint.lower:g} {unit}, above its upper limit of {joint.upper:g} {unit}"
            review.report_link(
                rules.REVERSED_LIMITS, link, message, "lower", data=limits
            )
        elif joint.lower == joint.upper:
            message = f"has a {joint.type} joint with both limits at {joint.lower:g} {unit}: it cannot move"
            review.report_link(rules.NO_RANGE, link, message, "lower", data=limits)
        _check_units_of_limits(review, link, joint)
    if review.is_known(link, "velocity_lower", "velocity_upper"):
        _check_velocity_limits(review, link, joint, f"{unit}/s")


def _check_velocity_limits(
    review: BodyReview, link: Link, joint: Joint, unit: str
) -> None:
    low = joint.velocity_lower
    high = joint.velocity_upper
    limits = {"lower": low, "upper": high}
    message = f"has velocity limits of {low:g} and {high:g} {unit}"
    if low > high:
        message = f"{message}: the lower is above the upper"
        review.report_link(
            rules.REVERSED_LIMITS, link, message, "velocity_lower", data=limits
        )
    elif low == high == 0:
        hint = "write the largest speed of the joint, or no limit"
        message = f"has a velocity limit of 0 {unit}: it cannot move"
        review.report_link(
            rules.VELOCITY, link, message, "velocity_upper", hint, limits
        )
    elif low >= 0 or high <= 0:
        review.report_link(
            rules.VELOCITY,
            link,
            f"{message}: it cannot move both ways",
            "velocity_lower",
            data=limits,
        )


def _check_units_of_limits(review: BodyReview, link: Link, joint: Joint) -> None:
    if joint.type == "slide":
        far = [
            abs(end)
            for end in (joint.lower, joint.upper)
            if MAX_SLIDE < abs(end) < NO_LIMIT
        ]
        far = [end for end in far if not (end >= 100 and math.log10(end).is_integer())]
        if far:
            message = f"slides from {joint.lower:g} to {joint.upper:g} m"
            if far[-1] == abs(joint.upper):
                field = "upper"
            else:
                field = "lower"
            review.report_link(rules.SLIDING_RANGE, link, message, field)
    elif (largest := limits_in_degrees(joint.lower, joint.upper)) is not None:
        turns = f"{(joint.upper - joint.lower) / FULL_TURN:.3g} full turns"
        message = f"has limits of {joint.lower:g} and {joint.upper:g} rad: {turns}"
        if largest == abs(joint.lower):
            field = "lower"
        else:
            field = "upper"
        review.report_link(
            rules.DEGREES,
            link,
            message,
            field,
            data={"lower": joint.lower, "upper": joint.upper},
        )


def _check_motor(review: BodyReview, link: Link, joint: Joint) -> None:
    efficiency = joint.gear_efficiency
    current = first_number(joint.extra, "climit") or 0.0
    faults = (
        ("gear_ratio", joint.gear_ratio == 0, "a gear ratio of 0"),
        (
            "gear_efficiency",
            not 0 < efficiency <= 1,
            f"a gear efficiency of {efficiency:g}",
        ),
        (
            "rotor_inertia",
            joint.rotor_inertia < 0,
            f"a rotor inertia of {joint.rotor_inertia:g} kg m²",
        ),
        (
            "rotor_resistor",
            joint.rotor_resistor < 0,
            f"a rotor resistor of {joint.rotor_resistor:g}",
        ),
        (
            "encoder_pulse",
            joint.encoder_pulse < 0,
            f"an encoder pulse of {joint.encoder_pulse:g}",
        ),
        (
            "torque_const",
            joint.torque_const < 0,
            f"a torque constant of {joint.torque_const:g} Nm/A",
        ),
        ("climit", current < 0, f"a climit of {current:g} A"),
    )
    wrong = [
        (field, text)
        for field, is_wrong, text in faults
        if is_wrong and review.is_known(link, field)
    ]
    if wrong:
        review.report_link(
            rules.MOTOR,
            link,
            f"has {' and '.join(text for _, text in wrong)}",
            wrong[0][0],
        )


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
    position = device.pose[:3]
    box = review.boxes[device.link]
    link = review.body.links[device.link]
    if not np.isfinite(position).all() or not review.is_known(link, "shapes"):
        return
    if box is None:
        outside = float(np.linalg.norm(position))
    else:
        outside = distance(box, position)
    if box is None:
        limit = review.diagonal
    else:
        limit = MAX_DIAGONALS * size(box)
    if outside > max(limit, MIN_DISTANCE):
        shown = " ".join(f"{value:.4g}" for value in position)
        if box is None:
            of = "from the link's frame"
        else:
            of = "outside of the link's shape"
        message = f"is at {shown} m in link {link.name!r}, {outside:.3g} m {of}"
        review.report_device(rules.DEVICE_FAR, number, message, "pose")


def _check_camera(review: BodyReview, number: int, device: VisionSensor) -> None:
    wrong = []
    if not 0 < device.field_of_view <= 2 * np.pi:
        wrong.append(
            ("field_of_view", f"a field of view of {device.field_of_view:g} rad")
        )
    if not 0 < device.front_clip_distance < device.back_clip_distance:
        distances = f"the clip distances {device.front_clip_distance:g} and {device.back_clip_distance:g} m"
        wrong.append(("front_clip_distance", distances))
    if min(device.width, device.height) < 1 or not device.frame_rate > 0:
        image = f"an image of {device.width} × {device.height} pixels at {device.frame_rate:g} Hz"
        wrong.append(
            ("frame_rate" if min(device.width, device.height) >= 1 else "width", image)
        )
    locations = review.body.source.locations
    wrong = [
        (field, text)
        for field, text in wrong
        if locations.is_known(("devices", number, field))
    ]
    if wrong:
        review.report_device(
            rules.CAMERA,
            number,
            f"has {' and '.join(text for _, text in wrong)}",
            wrong[0][0],
        )


def _check_scan(review: BodyReview, number: int, device: RangeSensor) -> None:
    wrong = {
        "scan_angle": not 0 <= device.scan_angle <= 2 * np.pi + 1e-3,
        "scan_step": not (device.scan_step > 0 or device.scan_angle == 0),
        "scan_rate": not device.scan_rate > 0,
        "max_distance": not device.max_distance > 0,
    }
    locations = review.body.source.locations
    fields = [
        field
        for field, is_wrong in wrong.items()
        if is_wrong and locations.is_known(("devices", number, field))
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
    links = review.body.links
    connecting = []
    for number, joint in enumerate(review.body.extra_joints):
        a, b = joint.links
        if not (0 <= a < len(links) and 0 <= b < len(links)):
            message = f"connects the links {a} and {b}; the body has {counted(len(links), 'link')}"
            review.report_extra_joint(rules.LOOP_LINK, number, message, "links")
        elif a == b:
            review.report_extra_joint(
                rules.LOOP_LINK,
                number,
                f"connects link {links[a].name!r} to itself",
                "links",
            )
        else:
            connecting.append(number)
        length = float(np.linalg.norm(joint.axis))
        if (
            joint.type not in ("xyz", "ball")
            and np.isfinite(length)
            and abs(length - 1) > 1e-6
        ):
            rule = rules.AXIS_LENGTH if length else rules.ZERO_AXIS
            review.report_extra_joint(
                rule, number, f"has an axis of length {length:.6g}", "axis"
            )
    if (
        not connecting
        or not review.are_known("links", "offset")
        or not review.are_known("links", "rotation")
    ):
        return
    # This import loads compiled kernels, which only bodies with loops need.
    from bodymotion.model.closed_loops import loop_errors

    reduced = replace(
        review.body,
        extra_joints=tuple(review.body.extra_joints[number] for number in connecting),
    )
    for number, gap, tilt in zip(
        connecting, *loop_errors(reduced, review.at_rest), strict=True
    ):
        joint = review.body.extra_joints[number]
        first, second = (links[index].name for index in joint.links)
        between = f"({joint.type}) between {first!r} and {second!r} is open by"
        if MAX_GAP * max(1.0, review.diagonal) < gap < np.inf:
            review.report_extra_joint(
                rules.LOOP_OPEN, number, f"{between} {gap:.3g} m with all joints at 0"
            )
        elif tilt > MAX_TILT:
            review.report_extra_joint(
                rules.LOOP_OPEN,
                number,
                f"{between} {np.degrees(tilt):.3g}° with all joints at 0",
            )
