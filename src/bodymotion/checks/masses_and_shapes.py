"""Rules about numbers, masses, shapes, sizes and textures of a body."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path

import numpy as np

from bodymotion.checks.body_review import BodyReview, Box, distance, size
from bodymotion.diagnostics import Rule
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
from bodymotion.model.extent import BodyExtent
from bodymotion.model.links import Device, Joint, Link, rigid_groups
from bodymotion.system.files import open_file, size_of

# [m] The largest robot, and the largest distance of a link from its parent.
MAX_SIZE = 50.0
# [m] The smallest robot.
MIN_SIZE = 1e-3
# How far a centre of mass may be outside of the box around the shapes. In diagonals of
# the box.
MAX_OUTSIDE = 1.0
# [m] Boxes count as at least this large.
MIN_BOX = 0.01
# [kg/m³] Denser than any metal.
MAX_DENSITY = 25_000.0
# The smallest radius of gyration of such a link, in diagonals of its shape. A smaller
# one shows that the mass is wrong.
MIN_RADIUS = 0.05
# The largest radius of gyration of a link, in diagonals of its shape.
MAX_RADIUS = 3.0
# The largest error of the length of a quaternion: files have few digits.
MAX_LENGTH_ERROR = 1e-6
# A shape is flat where one axis is scaled by less than this part of another.
MIN_SCALE = 1e-9
# Formats whose simulators take the mass of each link. Others add those of links that
# are fixed to each other.
LINKS_ALONE = ("openhrp", "body")
# The largest texture that common graphics cards hold.
MAX_PIXELS = 8192 * 8192
MAX_IMAGE_BYTES = 256 << 20
# Images of one body that are checked.
MAX_IMAGES = 1000

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
    """Check that numbers are finite, and quaternions of length 1.

    Limits may be infinite.
    """
    body = review.body
    if not np.isfinite(body.root_pose).all():
        review.report_body(
            rules.NOT_FINITE, "the root pose is not finite", ("root_pose",)
        )
    for link in body.links:
        for title, field in _find_not_finite(link):
            message = f"has a number that is not finite in its {title}"
            review.report_link(rules.NOT_FINITE, link, message, field)
        rule, length = _check_quaternion(link.offset)
        if rule is not None:
            message = f"has an offset whose quaternion has length {length:.6g}"
            review.report_link(rule, link, message, "rotation")
    message = "has a number that is not finite"
    for number, device in enumerate(body.devices):
        if not _is_device_finite(device):
            review.report_device(rules.NOT_FINITE, number, message)
        rule, length = _check_quaternion(device.pose)
        if rule is not None:
            pose_message = f"has a pose whose quaternion has length {length:.6g}"
            review.report_device(rule, number, pose_message, "pose")
    for number, extra in enumerate(body.extra_joints):
        if not np.isfinite([*extra.positions.flat, *extra.axis]).all():
            review.report_extra_joint(rules.NOT_FINITE, number, message)


def _is_device_finite(device: Device) -> bool:
    for field in fields(device):
        if field.name in ("extra", "name", "type"):
            continue
        value = getattr(device, field.name)
        if not isinstance(value, int) and not np.isfinite(value).all():
            return False
    return True


def _find_not_finite(link: Link) -> Iterator[tuple[str, str]]:
    """Return the parts of a link with numbers that are not finite.

    A description and the field of each.
    """
    if not np.isfinite(link.offset[:3]).all():
        yield "offset", "offset"
    elif not np.isfinite(link.offset).all():
        yield "offset", "rotation"
    for name in _JOINT_FIELDS:
        value = np.asarray(getattr(link.joint, name))
        # An infinite limit means that there is none.
        is_wrong = np.isnan(value) if name in _LIMITS else ~np.isfinite(value)
        if is_wrong.any():
            yield f"joint ({name})", name
    segments = link.segments
    for title, field, values in (
        ("mass", "mass", [segment.mass for segment in segments]),
        ("centre of mass", "center_of_mass", [s.center_of_mass for s in segments]),
        ("inertia", "inertia", [segment.inertia for segment in segments]),
        ("segments", "segments", [segment.transform for segment in segments]),
    ):
        if not np.isfinite(values).all():
            yield title, field
    for segment in segments:
        for shape in (*segment.visuals, *segment.collisions):
            if not _shape_is_finite(shape):
                yield "shapes", "shapes"
                return


def _shape_is_finite(shape: Shape) -> bool:
    """Return whether all numbers of a shape are finite.

    Its transform, and its sizes or vertices.
    """
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


def _check_quaternion(pose: Floats) -> tuple[Rule | None, float]:
    """Return the rule that a quaternion breaks, and its length.

    It is that of a pose (7,).

    None where its length is 1, and where it is not finite.
    """
    length = float(np.linalg.norm(pose[3:]))
    if not np.isfinite(length) or abs(length - 1) <= MAX_LENGTH_ERROR:
        return None, length
    return (rules.QUATERNION if length else rules.ZERO_QUATERNION), length


# Masses


def check_masses(review: BodyReview) -> None:
    """Check mass, centre of mass and inertia of each link."""
    links = review.body.links
    if not any(link.mass or link.inertia.any() for link in links):
        # A body without any mass is part of the environment, or only for display.
        message = "has no mass, as no link of the body has"
        for link in links:
            if _moves(review, link) and _has_known_inertia(review, link):
                review.report_link(rules.NO_MASS, link, message, "mass")
        return
    faults = inertias.faults(review.body)
    if review.body.source.format in LINKS_ALONE:
        _check_moving_masses(review, {fault.link for fault in faults})
    _check_rigid_bodies(review, faults)
    for link, box in zip(links, review.boxes, strict=True):
        has_mass = review.is_known(link, "mass") and link.mass >= 0
        if not has_mass:
            _check_without_mass(review, link)
        if _has_known_inertia(review, link):
            _check_known_inertia(review, link, box)


def _check_known_inertia(review: BodyReview, link: Link, box: Box | None) -> None:
    """Check that mass and inertia fit together.

    And that both fit the box of the shapes.
    """
    if link.mass == 0 and link.inertia.any() and np.isfinite(link.inertia).all():
        message = "has an inertia and no mass"
        review.report_link(rules.INERTIA_WITHOUT_MASS, link, message, "mass")
    numbers = [link.mass, *link.center_of_mass, *link.inertia.flat]
    if box is None or not np.isfinite(numbers).all():
        return
    if review.is_known(link, "shapes"):
        _check_mass_in_shape(review, link, box)
        _check_density(review, link, box)


def _has_known_inertia(review: BodyReview, link: Link) -> bool:
    return review.is_known(link, "mass", "inertia")


def _moves(review: BodyReview, link: Link) -> bool:
    """Return whether a link is known to move.

    A joint of an unknown type may be fixed: its link needs no mass.
    """
    return link.joint.type != "fixed" and review.is_known(link, "type")


def _check_moving_masses(review: BodyReview, faulty: set[int]) -> None:
    """Report links that move without a mass or an inertia of their own.

    Links that are fixed to them may have one. `faulty` are reported otherwise.
    """
    for link in review.body.links:
        if link.index in faulty or not _has_known_inertia(review, link):
            continue
        if not _moves(review, link):
            continue
        if link.mass == 0:
            message = "moves and has a mass of 0 kg"
            review.report_link(rules.NO_MASS, link, message, "mass")
        elif link.mass > 0 and not link.inertia.any():
            message = f"moves and has {link.mass:g} kg and no inertia"
            review.report_link(rules.NO_INERTIA, link, message, "inertia")


def _check_rigid_bodies(review: BodyReview, faults: Sequence[inertias.Fault]) -> None:
    """Report masses and inertias that no rigid body has."""
    links = review.body.links
    group_of = {}
    for group in rigid_groups(review.body):
        group_of.update(dict.fromkeys(group, group))
    for fault in faults:
        if fault.why == "finite":
            continue
        link = links[fault.link]
        needed: tuple[int, ...] = (fault.link,)
        if fault.why in ("mass", "zero"):
            # Another link of the rigid group may have the missing mass.
            needed = group_of[fault.link]
            if link.mass >= 0 and not review.is_known(link, "type"):
                continue
        if not all(_has_known_inertia(review, links[k]) for k in needed):
            continue
        rule = _RULES[fault.why]
        if fault.why == "mass" and link.mass < 0:
            rule = rules.NEGATIVE_MASS
        field = "mass" if fault.why == "mass" else "inertia"
        message = f"cannot be a rigid body: {fault.message}"
        review.report_link(rule, link, message, field)


def _check_without_mass(review: BodyReview, link: Link) -> None:
    """Check a link with an unknown or negative mass.

    Its inertia, or where it has none the mass.
    """
    if review.is_known(link, "inertia") and link.inertia.any():
        # The inertia may be wrong, too; the mass does not matter for that.
        fault = inertias.fault(1.0, link.inertia)
        if fault is not None and fault[0] in ("negative", "triangle", "asymmetric"):
            message = f"cannot be a rigid body: {fault[1]}"
            review.report_link(_RULES[fault[0]], link, message, "inertia")
    elif link.mass < 0 and review.is_known(link, "mass"):
        message = f"cannot be a rigid body: its mass is {link.mass:g} kg"
        review.report_link(rules.NEGATIVE_MASS, link, message, "mass")


def _check_mass_in_shape(review: BodyReview, link: Link, box: Box) -> None:
    """Check that the mass is within the shape.

    By the centre of mass and the radius of gyration.
    """
    diagonal = size(box)
    outside = distance(box, link.center_of_mass)
    extent = max(diagonal, MIN_BOX)
    if link.mass > 0 and outside > MAX_OUTSIDE * extent:
        shown = " ".join(f"{number:.4g}" for number in link.center_of_mass)
        message = (
            f"has its centre of mass at {shown} m, {outside:.3g} m outside of its "
            f"shape, whose size is {diagonal:.3g} m"
        )
        review.report_link(rules.CENTER_FAR, link, message, "center_of_mass")
    if link.mass > inertias.MIN_INERTIAL:
        largest = np.abs(np.diag(link.inertia)).max()
        # I = m r²: at the radius r the whole mass would have this moment of inertia.
        radius = float(np.sqrt(largest / link.mass))
        if radius > MAX_RADIUS * extent:
            message = (
                f"has a radius of gyration of {radius:.3g} m and a shape of "
                f"{diagonal:.3g} m"
            )
            review.report_link(rules.GYRATION, link, message, "inertia")


def _check_density(review: BodyReview, link: Link, box: Box) -> None:
    """Check for a mass that is far too large.

    Both for the shape and for the inertia.
    """
    volume = float(np.prod(np.maximum(box[1] - box[0], MIN_BOX)))
    largest = float(np.abs(np.diag(link.inertia)).max())
    if (
        size(box) < MIN_BOX
        or link.mass <= inertias.MIN_INERTIAL
        or largest == 0
        or link.mass <= MAX_DENSITY * volume
    ):
        return
    # A small radius of gyration confirms that the mass is wrong, or that the inertia
    # belongs to another mass.
    radius = float(np.sqrt(largest / link.mass))
    if radius < MIN_RADIUS * size(box):
        message = (
            f"has a mass of {link.mass:g} kg, a shape of {size(box):.3g} m, and a "
            f"radius of gyration of {radius:.2g} m"
        )
        review.report_link(rules.DENSE, link, message, "mass")


# Shapes


def check_shapes(review: BodyReview) -> None:
    """Check the shapes of links."""
    for link in review.body.links:
        for segment in link.segments:
            for shape in (*segment.visuals, *segment.collisions):
                _check_shape(review, link, shape)
    has_shapes = any(box is not None for box in review.boxes)
    # Which links lack files of shapes is unknown.
    is_complete = not any("missing" in problem.data for problem in review.body.problems)
    if has_shapes and is_complete:
        _report_links_without_shapes(review)


def _report_links_without_shapes(review: BodyReview) -> None:
    """Report links that move and have a mass, but no shape."""
    without = []
    for link, box in zip(review.body.links, review.boxes, strict=True):
        if box is not None or not link.index or not link.mass > 0:
            continue
        moves = link.joint.type in ("rotate", "slide")
        if moves and review.is_known(link, "shapes", "mass"):
            without.append(repr(link.name))
    if without:
        review.report_body(rules.NO_SHAPE, f"links without a shape: {listed(without)}")


def _check_shape(review: BodyReview, link: Link, shape: Shape) -> None:
    """Check one shape of a link.

    Meshes name vertices that exist, and no scale is 0.
    """
    geometry = shape.geometry
    if isinstance(geometry, Mesh) and geometry.faces.size:
        lowest = int(geometry.faces.min())
        highest = int(geometry.faces.max())
        if lowest < 0 or highest >= len(geometry.vertices):
            wrong = lowest if lowest < 0 else highest
            message = (
                f"has a mesh that names vertex {wrong}; the mesh has "
                f"{len(geometry.vertices)} vertices"
            )
            review.report_link(rules.INDICES, link, message, "shapes")
    stretch = np.linalg.norm(shape.transform[:3, :3], axis=0)
    # A shape may be scaled by 0 in all directions.
    largest = max(stretch.max(), 1e-300)
    if np.isfinite(stretch).all() and stretch.min() <= MIN_SCALE * largest:
        message = "has a shape that is scaled by 0"
        review.report_link(rules.FLAT, link, message, "shapes")


def check_sizes(review: BodyReview) -> None:
    """Check that lengths are in metres.

    A body of one link is part of the environment and may have any size.
    """
    links = review.body.links
    if len(links) < 2:
        return
    message = f"the size of the robot is {review.diagonal:.4g} m"
    if review.diagonal > MAX_SIZE:
        shapes = tuple(link.visuals or link.collisions for link in links)
        # One shape that is far away, such as a floor, makes a robot of any size huge.
        far = BodyExtent(review.body, shapes).far
        if far:
            text = f"has shapes far outside of the other links: {message}"
            hint = "is it a floor, or is a number in a mesh wrong?"
            review.report_link(rules.HUGE, links[far[0]], text, "shapes", hint)
        else:
            review.report_body(rules.HUGE, message)
    elif 0 < review.diagonal < MIN_SIZE and review.are_known("links", "shapes"):
        review.report_body(rules.TINY, message)
    for link in links[1:]:
        distance_to_parent = float(np.linalg.norm(link.offset[:3]))
        if MAX_SIZE < distance_to_parent < np.inf:
            message = f"is {distance_to_parent:.4g} m from its parent"
            review.report_link(rules.FAR_LINK, link, message, "offset")


# Textures


def check_textures(review: BodyReview) -> None:
    """Check the images of all textures.

    Their headers, and whether the data are complete.
    """
    images: dict[Path, tuple[Texture, Link]] = {}
    for link in review.body.links:
        for shape in (*link.visuals, *link.collisions):
            texture = shape.material.texture
            if texture is not None and len(images) < MAX_IMAGES:
                images.setdefault(texture.path, (texture, link))
    locate = review.body.source.locations.locate
    for path, (texture, link) in images.items():
        fault = _image_fault(path)
        if fault is None:
            continue
        subject = ("textures", texture.url)
        location = locate(subject) or locate(("links", link.index, "shapes"))
        message = f"the image {path.name} {fault}"
        review.found.report(rules.IMAGE, message, location, subject=subject)


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
    except Exception as error:
        # Pillow raises exceptions of many types for damaged images.
        return f"cannot be read: {error}"
    return None
