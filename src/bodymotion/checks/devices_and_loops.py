"""Rules about devices (where they are, whether they can measure) and extra joints (whether they close a loop at rest)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bodymotion.checks import rules
from bodymotion.checks.body_review import BodyReview, distance, size
from bodymotion.model.links import Device, RangeSensor, VisionSensor

__all__ = ["check_devices", "check_loops"]

MAX_DIAGONALS = 2.0
"""The distance of a device from the box around its link's shapes, in diagonals of that box."""
MIN_DISTANCE = 0.5
"""[m] A device within this distance is never too far away."""
MAX_GAP = 1e-3
"""[m] The distance between the two points of an extra joint at rest; of a robot larger than a metre, this part of its size."""
MAX_TILT = 1e-2
"""[rad] The angle between the two axes of a hinge at rest."""


def check_devices(review: BodyReview) -> None:
    """Check each device."""
    links = review.body.links
    for number, device in enumerate(review.body.devices):
        if not 0 <= device.link < len(links):
            message = f"is on link {device.link}; the body has {len(links)} links"
            review.report_device(rules.DEVICE_LINK, number, message, "link")
            continue
        _check_position(review, number, device)
        if isinstance(device, VisionSensor):
            _check_camera(review, number, device)
        if isinstance(device, RangeSensor):
            _check_scan(review, number, device)


def _check_position(review: BodyReview, number: int, device: Device) -> None:
    position, box, link = device.pose[:3], review.boxes[device.link], review.body.links[device.link]
    if not np.isfinite(position).all() or not review.is_known(link, "shapes"):
        return
    outside = float(np.linalg.norm(position)) if box is None else distance(box, position)
    limit = review.diagonal if box is None else MAX_DIAGONALS * size(box)
    if outside > max(limit, MIN_DISTANCE):
        shown = " ".join(f"{value:.4g}" for value in position)
        of = "from the link's frame" if box is None else "outside of the link's shape"
        message = f"is at {shown} m in link {link.name!r}, {outside:.3g} m {of}"
        review.report_device(rules.DEVICE_FAR, number, message, "pose")


def _check_camera(review: BodyReview, number: int, device: VisionSensor) -> None:
    wrong = []
    if not 0 < device.field_of_view <= 2 * np.pi:
        wrong.append(("field_of_view", f"a field of view of {device.field_of_view:g} rad"))
    if not 0 < device.front_clip_distance < device.back_clip_distance:
        distances = f"the clip distances {device.front_clip_distance:g} and {device.back_clip_distance:g} m"
        wrong.append(("front_clip_distance", distances))
    if min(device.width, device.height) < 1 or not device.frame_rate > 0:
        image = f"an image of {device.width} × {device.height} pixels at {device.frame_rate:g} Hz"
        wrong.append(("frame_rate" if min(device.width, device.height) >= 1 else "width", image))
    locations = review.body.source.locations
    wrong = [(field, text) for field, text in wrong if locations.is_known(("devices", number, field))]
    if wrong:
        review.report_device(rules.CAMERA, number, f"has {' and '.join(text for _, text in wrong)}", wrong[0][0])


def _check_scan(review: BodyReview, number: int, device: RangeSensor) -> None:
    wrong = {
        "scan_angle": not 0 <= device.scan_angle <= 2 * np.pi + 1e-3,
        "scan_step": not (device.scan_step > 0 or device.scan_angle == 0),
        "scan_rate": not device.scan_rate > 0,
        "max_distance": not device.max_distance > 0,
    }
    locations = review.body.source.locations
    fields = [field for field, is_wrong in wrong.items() if is_wrong and locations.is_known(("devices", number, field))]
    if fields:
        message = (
            f"scans {device.scan_angle:g} rad in steps of {device.scan_step:g}, {device.scan_rate:g} times a second, "
            f"up to {device.max_distance:g} m"
        )
        review.report_device(rules.SCAN, number, message, fields[0])


def check_loops(review: BodyReview) -> None:
    """Check each extra joint."""
    links = review.body.links
    tying = []
    for number, joint in enumerate(review.body.extra_joints):
        a, b = joint.links
        if not (0 <= a < len(links) and 0 <= b < len(links)):
            message = f"ties the links {a} and {b}; the body has {len(links)} links"
            review.report_extra_joint(rules.LOOP_LINK, number, message, "links")
        elif a == b:
            review.report_extra_joint(rules.LOOP_LINK, number, f"ties link {links[a].name!r} to itself", "links")
        else:
            tying.append(number)
        length = float(np.linalg.norm(joint.axis))
        if joint.type not in ("xyz", "ball") and np.isfinite(length) and abs(length - 1) > 1e-6:
            review.report_extra_joint(rules.LOOP_AXIS, number, f"has an axis of length {length:.6g}", "axis")
    if not tying or not review.are_known("links", "offset") or not review.are_known("links", "rotation"):
        return
    # Loads the compiled kernels, for bodies with loops only.
    from bodymotion.model.closed_loops.errors import loop_errors

    tied = replace(review.body, extra_joints=tuple(review.body.extra_joints[number] for number in tying))
    for number, gap, tilt in zip(tying, *loop_errors(tied, review.at_rest), strict=True):
        joint = review.body.extra_joints[number]
        first, second = (links[index].name for index in joint.links)
        between = f"({joint.type}) between {first!r} and {second!r} is open by"
        if MAX_GAP * max(1.0, review.diagonal) < gap < np.inf:
            review.report_extra_joint(rules.LOOP_OPEN, number, f"{between} {gap:.3g} m with all joints at 0")
        elif tilt > MAX_TILT:
            review.report_extra_joint(
                rules.LOOP_OPEN, number, f"{between} {np.degrees(tilt):.3g}° with all joints at 0"
            )
