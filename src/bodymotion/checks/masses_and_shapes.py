"""Rules about numbers, masses, shapes, sizes and textures of a body."""

import warnings
from dataclasses import fields
from pathlib import Path

import numpy as np

from bodymotion.checks.body_review import BodyReview, Box, distance, size
from bodymotion.diagnostics.text import listed
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.shapes import (
    IMAGE_FORMATS,
    Lines,
    Mesh,
    Points,
    Shape,
    Texture,
)
from bodymotion.model import inertias, rules
from bodymotion.model.links import Joint, Link, rigid_groups
from bodymotion.scene.scene import BodyExtent
from bodymotion.system.files import open_file, size_of

# [m] The size of a robot.
MAX_SIZE = 50.0
MIN_SIZE = 1e-3
MAX_OUTSIDE = 1.0  # How far a centre of mass may be outside of the box around the shapes, in diagonals of the box.
MIN_BOX = 0.01  # [m] Boxes count as at least this large.
MAX_DENSITY = 25_000.0
MIN_RADIUS = 0.05
"""[kg/m³], and a part of the diagonal.

A link that is denser than any metal, with a smaller radius of gyration, has a wrong
mass.
"""
LINKS_ALONE = ("openhrp", "body")
"""Formats whose simulators take the mass of each link.

Others add those of links that are fixed to each other.
"""
MAX_RADIUS = 3.0  # The largest radius of gyration of a link, in diagonals of its shape.
MAX_PIXELS = 8192 * 8192  # The largest texture that common graphics cards hold.
MAX_IMAGE_BYTES = 256 << 20
MAX_IMAGES = 1000  # Images of one body that are checked.

_JOINT_FIELDS = tuple(
    name
    for name, value in vars(Joint()).items()
    if isinstance(value, (float, np.ndarray))
)
_LIMITS = ("lower", "upper", "velocity_lower", "velocity_upper")
_RULES = {
    "mass": rules.NO_MASS,
    "zero": rules.NO_INERTIA,
    "negative": rules.TRIANGLE,
    "triangle": rules.TRIANGLE,
    "asymmetric": rules.ASYMMETRIC,
}


def check_numbers(review: BodyReview) -> None:
    """Check that numbers are finite (limits may be infinite), and that the quaternions of poses are of length 1."""
    body = review.body
    if not np.isfinite(body.root_pose).all():
        review.report_body(
            rules.NOT_FINITE, "the root pose is not finite", ("root_pose",)
        )
    for link in body.links:
        for what, field in _not_finite(link):
            review.report_link(
                rules.NOT_FINITE,
                link,
                f"has a number that is not finite in its {what}",
                field,
            )
        if (length := _wrong_length(link.offset)) is not None:
            if length:
                rule = rules.QUATERNION
            else:
                rule = rules.ZERO_QUATERNION
            review.report_link(
                rule,
                link,
                f"has an offset whose quaternion has length {length:.6g}",
                "rotation",
            )
    for number, device in enumerate(body.devices):
        values = (
            getattr(device, f.name)
            for f in fields(device)
            if f.name not in ("extra", "name", "type")
        )
        if not all(
            isinstance(value, int) or np.isfinite(value).all() for value in values
        ):
            review.report_device(
                rules.NOT_FINITE, number, "has a number that is not finite"
            )
        if (length := _wrong_length(device.pose)) is not None:
            if length:
                rule = rules.QUATERNION
            else:
                rule = rules.ZERO_QUATERNION
            review.report_device(
                rule,
                number,
                f"has a pose whose quaternion has length {length:.6g}",
                "pose",
            )
    for number, extra in enumerate(body.extra_joints):
        if not np.isfinite([*extra.positions.flat, *extra.axis]).all():
            review.report_extra_joint(
                rules.NOT_FINITE, number, "has a number that is not finite"
            )


def _not_finite(link: Link) -> list[tuple[str, str]]:
    """Return the parts of a link with numbers that are not finite.

    A description and the field of each.
    """
    joint = link.joint
    found = []
    if not np.isfinite(link.offset).all():
        found.append(
            (
                "offset",
                "offset" if not np.isfinite(link.offset[:3]).all() else "rotation",
            )
        )
    for name in _JOINT_FIELDS:
        value = np.asarray(getattr(joint, name))
        if np.isnan(value).any() if name in _LIMITS else not np.isfinite(value).all():
            found.append((f"joint ({name})", name))
    for what, field, values in (
        ("mass", "mass", [s.mass for s in link.segments]),
        (
            "centre of mass",
            "center_of_mass",
            [n for s in link.segments for n in s.center_of_mass],
        ),
        ("inertia", "inertia", [n for s in link.segments for n in s.inertia.flat]),
        ("segments", "segments", [n for s in link.segments for n in s.transform.flat]),
    ):
        if not np.isfinite(values).all():
            found.append((what, field))
    if not all(
        _shape_is_finite(shape)
        for s in link.segments
        for shape in (*s.visuals, *s.collisions)
    ):
        found.append(("shapes", "shapes"))
    return found


def _shape_is_finite(shape: Shape) -> bool:
    geometry = shape.geometry
    values: tuple[object, ...]
    if isinstance(geometry, (Mesh, Lines, Points)):
        values = (
            getattr(geometry, "vertices", None),
            getattr(geometry, "points", None),
        )
    else:
        values = tuple(getattr(geometry, f.name) for f in fields(geometry))
    arrays = (
        np.asarray(value, dtype=np.float64)
        for value in (shape.transform, *values)
        if value is not None
    )
    return all(bool(np.isfinite(array).all()) for array in arrays)


def _wrong_length(pose: Floats) -> float | None:
    """Return the length of the quaternion of a pose (7,) if it is not 1.

    None where it is, and where it is not finite.
    """
    length = float(np.linalg.norm(pose[3:]))
    if not np.isfinite(length) or abs(length - 1) <= 1e-6:
        return None
    return length


# Masses


def check_masses(review: BodyReview) -> None:
    """Check mass, centre of mass and inertia of each link."""
    links = review.body.links
    known = [review.is_known(link, "mass", "inertia") for link in links]
    # A joint of an unknown type may be fixed: its link needs no mass.
    moves = [
        link.joint.type != "fixed" and review.is_known(link, "type") for link in links
    ]
    if not any(link.mass or link.inertia.any() for link in links):
        # A body without any mass is part of the environment, or only for display.
        for link in links:
            if known[link.index] and moves[link.index]:
                review.report_link(
                    rules.NO_MASS,
                    link,
                    "has no mass, as no link of the body has",
                    "mass",
                )
        return
    group_known = {
        index: all(known[k] for k in group)
        for group in rigid_groups(review.body)
        for index in group
    }
    faults = inertias.faults(review.body)
    if review.body.source.format in LINKS_ALONE:
        faulty = {one.link for one in faults}
        # Links that move without a mass or an inertia of their own, though links that
        # are fixed to them have one.
        for link in links:
            if not known[link.index] or link.index in faulty or not moves[link.index]:
                continue
            if link.mass == 0:
                review.report_link(
                    rules.NO_MASS, link, "moves and has a mass of 0 kg", "mass"
                )
            elif link.mass > 0 and not link.inertia.any():
                review.report_link(
                    rules.NO_INERTIA,
                    link,
                    f"moves and has {link.mass:g} kg and no inertia",
                    "inertia",
                )
    for one in faults:
        link = links[one.link]
        # Another link of the rigid group may have the missing mass.
        if (
            one.why == "finite"
            or not (group_known if one.why in ("mass", "zero") else known)[one.link]
        ):
            continue
        if (
            one.why in ("mass", "zero")
            and link.mass >= 0
            and not review.is_known(link, "type")
        ):
            continue
        if one.why == "mass" and link.mass < 0:
            rule = rules.NEGATIVE_MASS
        else:
            rule = _RULES[one.why]
        field = "mass" if one.why == "mass" else "inertia"
        review.report_link(rule, link, f"cannot be a rigid body: {one.message}", field)
    for link, box in zip(links, review.boxes, strict=True):
        has_mass = review.is_known(link, "mass") and link.mass >= 0
        if not has_mass and review.is_known(link, "inertia") and link.inertia.any():
            # The inertia may be wrong, too.
            why, message = inertias.fault(1.0, link.inertia) or ("", "")
            if why in ("negative", "triangle", "asymmetric"):
                review.report_link(
                    _RULES[why], link, f"cannot be a rigid body: {message}", "inertia"
                )
        elif link.mass < 0 and review.is_known(link, "mass"):
            review.report_link(
                rules.NEGATIVE_MASS,
                link,
                f"cannot be a rigid body: its mass is {link.mass:g} kg",
                "mass",
            )
        if not known[link.index]:
            continue
        if link.mass == 0 and link.inertia.any() and np.isfinite(link.inertia).all():
            review.report_link(
                rules.INERTIA_WITHOUT_MASS, link, "has an inertia and no mass", "mass"
            )
        finite = np.isfinite(
            [link.mass, *link.center_of_mass, *link.inertia.flat]
        ).all()
        if box is not None and finite and review.is_known(link, "shapes"):
            _check_mass_in_shape(
                review, link, size(box), distance(box, link.center_of_mass)
            )
            _check_density(review, link, box)


def _check_mass_in_shape(
    review: BodyReview, link: Link, diagonal: float, outside: float
) -> None:
    extent = max(diagonal, MIN_BOX)
    if link.mass > 0 and outside > MAX_OUTSIDE * extent:
        shown = " ".join(f"{number:.4g}" for number in link.center_of_mass)
        message = f"has its centre of mass at {shown} m, {outside:.3g} m outside of its shape, whose size is {diagonal:.3g} m"
        review.report_link(rules.CENTER_FAR, link, message, "center_of_mass")
    if link.mass > inertias.MIN_INERTIAL:
        radius = float(
            np.sqrt(max(np.abs(np.diag(link.inertia)).max(), 0.0) / link.mass)
        )
        if radius > MAX_RADIUS * extent:
            message = f"has a radius of gyration of {radius:.3g} m and a shape of {diagonal:.3g} m"
            review.report_link(rules.GYRATION, link, message, "inertia")


def _check_density(review: BodyReview, link: Link, box: Box) -> None:
    """Check for a mass that is far too large for the shape and for the inertia."""
    volume = float(np.prod(np.maximum(box[1] - box[0], MIN_BOX)))
    largest = float(np.abs(np.diag(link.inertia)).max())
    if (
        size(box) < MIN_BOX
        or link.mass <= inertias.MIN_INERTIAL
        or largest == 0
        or link.mass <= MAX_DENSITY * volume
    ):
        return
    radius = float(np.sqrt(largest / link.mass))
    if radius < MIN_RADIUS * size(box):
        message = f"has a mass of {link.mass:g} kg, a shape of {size(box):.3g} m, and a radius of gyration of {radius:.2g} m"
        review.report_link(rules.DENSE, link, message, "mass")


# Shapes


def check_shapes(review: BodyReview) -> None:
    """Check the shapes of links."""
    without = []
    # Which links lack files of shapes is unknown.
    is_complete = not any("missing" in problem.data for problem in review.body.problems)
    any_shape = is_complete and any(box is not None for box in review.boxes)
    for link, box in zip(review.body.links, review.boxes, strict=True):
        moves = link.index and link.joint.type in ("rotate", "slide")
        if (
            any_shape
            and box is None
            and link.mass > 0
            and moves
            and review.is_known(link, "shapes", "mass")
        ):
            without.append(repr(link.name))
        for segment in link.segments:
            for shape in (*segment.visuals, *segment.collisions):
                _check_shape(review, link, shape)
    if without:
        review.report_body(rules.NO_SHAPE, f"links without a shape: {listed(without)}")


def _check_shape(review: BodyReview, link: Link, shape: Shape) -> None:
    geometry = shape.geometry
    if isinstance(geometry, Mesh) and geometry.faces.size:
        lowest = int(geometry.faces.min())
        highest = int(geometry.faces.max())
        if lowest < 0 or highest >= len(geometry.vertices):
            wrong = lowest if lowest < 0 else highest
            message = f"has a mesh that names vertex {wrong}; the mesh has {len(geometry.vertices)} vertices"
            review.report_link(rules.INDICES, link, message, "shapes")
    stretch = np.linalg.norm(shape.transform[:3, :3], axis=0)
    if np.isfinite(stretch).all() and stretch.min() <= 1e-9 * max(
        stretch.max(), 1e-300
    ):
        review.report_link(
            rules.FLAT, link, "has a shape that is scaled by 0", "shapes"
        )


def check_sizes(review: BodyReview) -> None:
    """Check that lengths are in metres.

    A body of one link is part of the environment and may have any size.
    """
    links = review.body.links
    if len(links) < 2:
        return
    if review.diagonal > MAX_SIZE:
        far = BodyExtent(
            review.body, tuple(link.visuals or link.collisions for link in links)
        ).far
        for index in far[:1]:
            message = f"has shapes far outside of the other links: the size of the robot is {review.diagonal:.4g} m"
            hint = "is it a floor, or is a number in a mesh wrong?"
            review.report_link(rules.HUGE, links[index], message, "shapes", hint)
        if not far:
            review.report_body(
                rules.HUGE, f"the size of the robot is {review.diagonal:.4g} m"
            )
    elif 0 < review.diagonal < MIN_SIZE and review.are_known("links", "shapes"):
        review.report_body(
            rules.TINY, f"the size of the robot is {review.diagonal:.4g} m"
        )
    for link in links[1:]:
        distance_to_parent = float(np.linalg.norm(link.offset[:3]))
        if MAX_SIZE < distance_to_parent < np.inf:
            review.report_link(
                rules.FAR_LINK,
                link,
                f"is {distance_to_parent:.4g} m from its parent",
                "offset",
            )


# Textures


def check_textures(review: BodyReview) -> None:
    """Check the images of all textures.

    Their headers, and whether the data are complete.
    """
    found: dict[Path, tuple[Texture, Link]] = {}
    for link in review.body.links:
        for shape in (*link.visuals, *link.collisions):
            if (texture := shape.material.texture) is not None and len(
                found
            ) < MAX_IMAGES:
                found.setdefault(texture.path, (texture, link))
    locations = review.body.source.locations
    for path, (texture, link) in found.items():
        fault = _image_fault(path)
        if fault is not None:
            location = locations.locate(("textures", texture.url)) or locations.locate(
                ("links", link.index, "shapes")
            )
            subject = ("textures", texture.url)
            review.found.report(
                rules.IMAGE, f"the image {path.name} {fault}", location, subject=subject
            )


def _image_fault(path: Path) -> str | None:
    """Return why an image cannot be shown; None if it can."""
    from PIL import Image, UnidentifiedImageError

    bytes_in_file = size_of(path)
    if bytes_in_file is not None and bytes_in_file > MAX_IMAGE_BYTES:
        return f"has {bytes_in_file / 1e6:.0f} MB"
    try:
        with warnings.catch_warnings(), open_file(path) as file:
            # Pillow warns of large images; here they have their own limit.
            warnings.simplefilter("ignore")
            with Image.open(file, formats=IMAGE_FORMATS) as image:
                if image.width * image.height > MAX_PIXELS:
                    return f"has {image.width} × {image.height} pixels"
                if image.format == "PNG":
                    image.verify()
                else:
                    # Other formats have no checksums: what is cut off is found while
                    # decoding, a JPEG in its smallest size.
                    image.draft("L", (1, 1))
                    image.load()
    except Image.DecompressionBombError:
        return f"has more than {MAX_PIXELS} pixels"
    except UnidentifiedImageError:
        if bytes_in_file:
            return "has an unknown image format"
        return "is empty"
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    except (
        Exception
    ) as error:  # Pillow raises exceptions of many types for damaged images
        return f"cannot be read: {error}"
    return None
