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

# The lowest and the highest corner (3,) [m].
Box = tuple[Floats, Floats]

# Up to this many links poses are computed without loading compiled kinematics.
MAX_LINKS_IN_PYTHON = 500


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
        """Report a problem about a subject, unless this could not be read."""
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
        """Return whether a field of all things of a kind was read.

        The kind is "links" or "devices"; all of them are in the body.
        """
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
        # For few links this is faster than the compiled kernel, which loads slowly.
        link_poses: list[Floats] = []
        for link in self.body.links:
            pose = self.body.root_pose
            # The root's is composed, too, so that it has a normalised quaternion.
            parent = poses.IDENTITY
            if link.parent >= 0:
                pose = link.offset
                parent = link_poses[link.parent]
            link_poses.append(poses.compose(parent, pose))
        return np.array(link_poses).reshape(-1, 7)

    @cached_property
    def boxes(self) -> tuple[Box | None, ...]:
        """The bounding box of the shapes of each link, in the link's frame.

        None for a link without shapes.
        """
        return tuple(_box(link) for link in self.body.links)

    @cached_property
    def diagonal(self) -> float:
        """The diagonal [m] of the bounding box of all shapes and link frames.

        With all joints at 0.
        """
        boxed = []
        corners = []
        for index, box in enumerate(self.boxes):
            if box is not None:
                boxed.append(index)
                corners.append([*product(*zip(*box, strict=True))])
        # (B, 8, 3) The corners of the boxes of B links, in the world.
        in_world = poses.transform_points(
            self.at_rest[boxed][:, None], np.array(corners).reshape(-1, 8, 3)
        )
        every = np.concatenate([self.at_rest[:, :3], in_world.reshape(-1, 3)])
        finite = every[np.isfinite(every).all(axis=1)]
        if len(finite):
            return float(np.linalg.norm(finite.max(axis=0) - finite.min(axis=0)))
        return 0.0


def _box(link: Link) -> Box | None:
    """Return the box around the shapes of a link, None without finite shapes."""
    low = []
    high = []
    for shape in (*link.visuals, *link.collisions):
        # BODY144 reports a mesh with vertex indices out of range.
        with suppress(IndexError):
            bounds = shape.bounds
            if bounds is not None:
                low.append(bounds[0])
                high.append(bounds[1])
    if not low:
        return None
    box = np.min(low, axis=0), np.max(high, axis=0)
    return box if np.isfinite(box).all() else None


def distance(box: Box, point: Floats) -> float:
    """Return the distance [m] of a point from a box, 0 inside."""
    low, high = box
    outside = np.maximum(np.maximum(low - point, point - high), 0.0)
    return float(np.linalg.norm(outside))


def size(box: Box) -> float:
    """Return the length [m] of a box's diagonal."""
    return float(np.linalg.norm(box[1] - box[0]))


def device_title(device: Device) -> str:
    """Return the kind and the name of a device, for messages."""
    kind = device.kind or "device"
    if device.name:
        return f"{kind} {device.name!r}"
    return f"{with_article(kind)} without a name"
