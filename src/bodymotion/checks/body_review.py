"""`BodyReview`: a body, the findings about it, and what several rules measure.

Bounding boxes, poses with all joints at 0.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cached_property
from itertools import product

import numpy as np

from bodymotion.diagnostics import Diagnostics, Location, Rule, Severity, Subject
from bodymotion.diagnostics.text import with_article
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body
from bodymotion.model.links import Device, Link

Box = tuple[Floats, Floats]  # The lowest and the highest corner (3,) [m].

MAX_LINKS_IN_PYTHON = 500
"""Poses of bodies with up to this many links are computed without loading the compiled kinematics."""


class BodyReview:
    """Collect the findings of the rules about a body.

    Every finding has a subject, the part of the body that it is about, and the location
    of that part in the file. A rule reports nothing about a part that could not be
    read.
    """

    def __init__(self, body: Body) -> None:
        self.body = body
        path = body.source.path
        self.found = Diagnostics(path)
        self._file = Location(None if path is None else str(path))

    def report_link(
        self,
        rule: Rule,
        link: Link,
        message: str,
        field: str = "",
        hint: str | None = None,
        data: Mapping[str, object] | None = None,
        severity: Severity | None = None,
    ) -> None:
        """Report that a link, or its joint, breaks a rule.

        The message continues after the link's name.

        `field` is the field of the link or the joint that is wrong, as the classes name
        it: "lower", "axis", "mass", "inertia",
        "center_of_mass". Of the offset, "offset" is the position, and "rotation" the
        orientation.
        """
        if link.name:
            title = f"link {link.name!r}"
        else:
            title = f"link {link.index}"
        subject: Subject = (
            ("links", link.index, field) if field else ("links", link.index)
        )
        self._report(
            rule,
            subject,
            f"{title} {message}",
            hint,
            {"link": link.name, **(data or {})},
            severity,
        )

    def report_device(
        self, rule: Rule, number: int, message: str, field: str = ""
    ) -> None:
        """Report that device `number` breaks a rule."""
        device = self.body.devices[number]
        subject: Subject = ("devices", number, field) if field else ("devices", number)
        self._report(
            rule,
            subject,
            f"{device_title(device)} {message}",
            None,
            {"device": device.name},
        )

    def report_extra_joint(
        self, rule: Rule, number: int, message: str, field: str = ""
    ) -> None:
        """Report that an extra joint breaks a rule."""
        joint = self.body.extra_joints[number]
        if joint.name:
            title = f"extra joint {joint.name!r}"
        else:
            title = f"extra joint {number}"
        subject: Subject = (
            ("extra_joints", number, field) if field else ("extra_joints", number)
        )
        self._report(
            rule, subject, f"{title} {message}", None, {"extra_joint": joint.name}
        )

    def report_body(
        self,
        rule: Rule,
        message: str,
        subject: Subject = (),
        data: Mapping[str, object] | None = None,
    ) -> None:
        """Report that the body as a whole breaks a rule."""
        self._report(rule, subject, message, None, data)

    def _report(
        self,
        rule: Rule,
        subject: Subject,
        message: str,
        hint: str | None,
        data: Mapping[str, object] | None,
        severity: Severity | None = None,
    ) -> None:
        locations = self.body.source.locations
        if not locations.is_known(subject):
            return
        if not subject:
            location = self._file
        else:
            location = locations.locate(subject) or self._file
        self.found.report(
            rule,
            message,
            location,
            hint=hint,
            severity=severity,
            subject=subject,
            data=data,
        )

    def is_known(self, link: Link, *fields: str) -> bool:
        """Return whether the fields of a link, or the link itself, were read."""
        locations = self.body.source.locations
        return all(
            locations.is_known(("links", link.index, field))
            for field in fields or ("",)
        )

    def are_known(self, kind: str, field: str) -> bool:
        """Return whether all things of a kind ("links", "devices") are in the body, and a field of all of them was read."""
        locations = self.body.source.locations
        if not locations.unknown:
            return True
        things: Iterable[object] = getattr(self.body, kind)
        return locations.is_known((kind, "all")) and all(
            locations.is_known((kind, number, field)) for number, _ in enumerate(things)
        )

    @cached_property
    def at_rest(self) -> Floats:
        """The poses (L, 7) of the links in the world with all joints at 0."""
        if len(self.body.links) > MAX_LINKS_IN_PYTHON:
            return self.body.forward_kinematics(np.zeros(self.body.num_joints))
        found: list[Floats] = []
        for link in self.body.links:
            if link.parent >= 0:
                above = (found[link.parent], link.offset)
            else:
                above = (poses.IDENTITY, self.body.root_pose)
            found.append(poses.compose(*above))
        return np.array(found).reshape(-1, 7)

    @cached_property
    def boxes(self) -> tuple[Box | None, ...]:
        """The bounding box of the shapes of each link, in the link's frame.

        None for a link without shapes.
        """
        return tuple(_box(link) for link in self.body.links)

    @cached_property
    def diagonal(self) -> float:
        """The diagonal [m] of the bounding box of all shapes and link frames, with all joints at 0."""
        boxed = [k for k, box in enumerate(self.boxes) if box is not None]
        boxes = [box for box in self.boxes if box is not None]
        corners = np.array(
            [list(product(*zip(*box, strict=True))) for box in boxes]
        ).reshape(-1, 8, 3)
        in_world = poses.transform_points(self.at_rest[boxed][:, None], corners)
        points = np.concatenate([self.at_rest[:, :3], in_world.reshape(-1, 3)])
        points = points[np.isfinite(points).all(axis=1)]
        if len(points):
            return float(np.linalg.norm(points.max(axis=0) - points.min(axis=0)))
        return 0.0


def _box(link: Link) -> Box | None:
    bounds = []
    for shape in (*link.visuals, *link.collisions):
        # BODY144 reports a mesh with vertex indices out of range.
        with suppress(IndexError):
            if (extent := shape.bounds) is not None:
                bounds.append(extent)
    if not bounds:
        return None
    box = (
        np.min([b[0] for b in bounds], axis=0),
        np.max([b[1] for b in bounds], axis=0),
    )
    return box if np.isfinite(box).all() else None


def distance(box: Box, point: Floats) -> float:
    """Return the distance [m] of a point from a box, 0 inside."""
    return float(
        np.linalg.norm(np.maximum(np.maximum(box[0] - point, point - box[1]), 0.0))
    )


def size(box: Box) -> float:
    """Return the length [m] of a box's diagonal."""
    return float(np.linalg.norm(box[1] - box[0]))


def device_title(device: Device) -> str:
    """Return the kind and the name of a device, for messages."""
    kind = device.kind or "device"
    if device.name:
        return f"{kind} {device.name!r}"
    return f"{with_article(kind)} without a name"
