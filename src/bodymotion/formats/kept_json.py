"""Values of a body that a format cannot hold: as JSON in <custom> of MJCF.

Those that only MJCF has are in `extra` under "mjcf": its reader keeps them there, its
writer writes them back, others report them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple, get_args

import numpy as np

from bodymotion.diagnostics import Rule
from bodymotion.diagnostics.losses import ONLY_MJCF
from bodymotion.geometry.arrays import Floats, frozen, same
from bodymotion.model.body import Body, ExtraJointType, Viewpoint
from bodymotion.model.links import JointType, Link, Segment

# Nested lists and mappings: deeper ones are left out.
MAX_DEPTH = 50
# Key of `Body.extra`: the planar joints of a URDF, as XML, by the names of their child
# links.
PLANAR_JOINTS = "urdf_planar"
# Fields that must be finite.
FINITE_FIELDS = (
    "offset",
    "pose",
    "positions",
    "axis",
    "transform",
    "diffuse",
    "specular",
    "emissive",
)
# The words of fields called `type`, of joints and of extra joints.
_TYPES = (get_args(JointType), get_args(ExtraJointType))

# Relative difference up to which the sums of the segments equal the link in the rest of
# the file.
SUM_TOLERANCE = 1e-9
# Masses [kg] and inertias [kg m²] below this size differ by as much.
MIN_COMPARED = 1e-6
# Transforms with a larger condition number have no exact inverse.
MAX_CONDITION = 1e6
_ARRAYS = ("transform", "mass", "center_of_mass", "inertia")
# Sections of MJCF that define motion and sensing. The others are about the scene,
# appearance and defaults.
PHYSICAL_SECTIONS = (
    "actuator",
    "contact",
    "deformable",
    "equality",
    "sensor",
    "tendon",
)


def plain(value: object, lost: list[str], path: str, depth: int = 0) -> Any:  # noqa: ANN401
    """Return a value as JSON holds it, arrays as lists.

    The rest is left out, and its path is added to `lost`.
    """
    # Numbers of NumPy as Python's own.
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufU":
        return value.tolist()
    if depth < MAX_DEPTH and isinstance(value, (list, tuple)):
        return [
            plain(item, lost, f"{path}[{index}]", depth + 1)
            for index, item in enumerate(value)
        ]
    if depth < MAX_DEPTH and isinstance(value, Mapping):
        return _plain_mapping(value, lost, path, depth)
    # Values of other types, and what is nested too deep.
    lost.append(path)
    return None


def _plain_mapping(
    values: Mapping[Any, object], lost: list[str], path: str, depth: int
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in values.items():
        if not isinstance(key, str):
            lost.append(f"{path}[{key!r:.40}]")
            continue
        item = plain(value, lost, f"{path}.{key}", depth + 1)
        if item is not None or value is None:
            found[key] = item
    return found


def usable(base: object, values: object, skip: Sequence[str] = ()) -> dict[str, Any]:
    """Return those of the values from JSON that fit the fields of a dataclass."""
    found: dict[str, Any] = {}
    if not isinstance(values, Mapping):
        return found
    for field in fields(base):  # type: ignore[arg-type]
        if field.name not in values or field.name in skip:
            continue
        default = getattr(base, field.name)
        # Each field by itself: a wrong one leaves the others.
        try:
            found[field.name] = _fit(default, values[field.name], field.name)
        except (TypeError, ValueError, OverflowError):
            # A file that was edited by hand may hold anything.
            continue
    return found


def _fit(default: object, value: Any, name: str) -> object:  # noqa: ANN401
    """Return a value of JSON in the type and shape of a default.

    TypeError, ValueError or OverflowError where it does not fit.
    """
    if isinstance(default, np.ndarray):
        return _fit_array(default, value, name)
    # A tuple of numbers, such as a colour.
    if isinstance(default, tuple):
        array = _fit_array(np.array(default, dtype=np.float64), value, name)
        return tuple(array.tolist())
    # bool is an int to Python, but no number here.
    if isinstance(default, (bool, int, float)) or isinstance(value, bool):
        return _fit_number(default, value)
    if isinstance(default, Mapping):
        return dict(value) if isinstance(value, dict) else _refuse()
    if type(default) is not type(value):
        return _refuse()
    # A word that is none of its field's.
    for types in _TYPES:
        if name == "type" and default in types and value not in types:
            return _refuse()
    return value


def _refuse() -> object:
    raise ValueError("the value does not fit")


def _fit_array(default: Floats, value: object, name: str) -> Floats:
    array = np.array(value, dtype=np.float64)
    is_infinite = name in FINITE_FIELDS and not np.isfinite(array).all()
    if array.shape != default.shape or is_infinite:
        raise ValueError("the value has another shape, or is not finite")
    # A pose (7,) with the quaternion 0 is none.
    if name == "offset" and not array[3:].any():
        raise ValueError("the value has no rotation")
    return frozen(array)


def _fit_number(default: object, value: object) -> object:
    if isinstance(default, bool) or isinstance(value, bool):
        return _refuse()
    if isinstance(default, float) and isinstance(value, (int, float)):
        return float(value)
    if isinstance(default, int) and isinstance(value, (int, float)):
        return int(value) if value == int(value) else _refuse()
    return _refuse()


def differences(
    meant: object, base: object, skip: Sequence[str] = ()
) -> dict[str, object]:
    """Return the fields in which a dataclass differs from another one."""
    found: dict[str, object] = {}
    for field in fields(meant):  # type: ignore[arg-type]
        value = getattr(meant, field.name)
        if field.name not in skip and not same(value, getattr(base, field.name)):
            found[field.name] = value
    return found


def json_of_viewpoints(viewpoints: Sequence[Viewpoint]) -> list[dict[str, object]]:
    """Return the entries of viewpoints."""
    return [dict(vars(viewpoint)) for viewpoint in viewpoints]


def viewpoints_of(entries: object) -> tuple[Viewpoint, ...]:
    """Return the viewpoints of their entries, with defaults for what cannot be used."""
    base = Viewpoint()
    return tuple(
        replace(base, **usable(base, entry))
        for entry in (entries if isinstance(entries, list) else ())
    )


def json_of_segments(
    link: Link, counts: Sequence[tuple[int, int]]
) -> list[dict[str, object]] | None:
    """Return the entry of a link's segments without `extra`.

    None where the transform of one cannot be inverted. `counts` are the numbers of
    visuals and collisions of each in the rest of the file.
    """
    entries: list[dict[str, object]] = []
    # A segment whose transform has no inverse cannot be separated again.
    for segment, count in zip(link.segments, counts, strict=True):
        if _inverse(segment.transform) is None or not _is_finite(segment):
            return None
        entry: dict[str, object] = {"name": segment.name}
        for name in _ARRAYS:
            entry[name] = np.asarray(getattr(segment, name)).tolist()
        entries.append({**entry, "shapes": list(count)})
    return entries


def separate_segments(entries: object, whole: Segment) -> tuple[Segment, ...] | None:
    """Return the segments of a link from their entry.

    They have the shapes of `whole`, the link as one segment. None where they do not fit
    it. Raises TypeError, ValueError or OverflowError for an entry that cannot be used.
    """
    visuals = list(whole.visuals)
    collisions = list(whole.collisions)
    segments: list[Segment] = []
    # Shapes of the link are in the order of its segments: each takes its own.
    for entry in entries if isinstance(entries, list) else []:
        part = _read_segment(entry)
        if part.num_visuals > len(visuals) or part.num_collisions > len(collisions):
            return None
        own_visuals = visuals[: part.num_visuals]
        own_collisions = collisions[: part.num_collisions]
        del visuals[: part.num_visuals]
        del collisions[: part.num_collisions]
        segments.append(
            replace(
                part.segment,
                visuals=tuple(shape.moved(part.inverse) for shape in own_visuals),
                collisions=tuple(shape.moved(part.inverse) for shape in own_collisions),
            )
        )
    # The file was edited: the link as a whole counts.
    if not segments or visuals or collisions or not _is_sum(segments, whole):
        return None
    return tuple(segments)


class _Part(NamedTuple):
    """A segment without shapes, the inverse of its transform, and numbers of shapes."""

    segment: Segment
    inverse: Floats
    num_visuals: int
    num_collisions: int


def _read_segment(entry: object) -> _Part:
    """Return a segment from its entry.

    An entry that cannot be used raises an error.
    """
    if not isinstance(entry, Mapping):
        raise TypeError("no mapping")
    # Defaults show the type and shape of each field.
    default = Segment()
    # The arrays are required; without one the file was edited.
    arrays: dict[str, Any] = {
        name: _fit(getattr(default, name), entry.get(name, ()), name)
        for name in _ARRAYS
    }
    others = {key: entry[key] for key in ("name", "extra") if key in entry}
    segment = replace(default, **usable(default, others), **arrays)
    inverse = _inverse(segment.transform)
    if inverse is None or not _is_finite(segment):
        raise ValueError("a number is not finite, or a transform has no inverse")
    # Counts of visuals and collisions.
    counts = entry.get("shapes", [0, 0])
    if not isinstance(counts, list) or list(map(type, counts)) != [int, int]:
        raise ValueError("shapes are not two counts")
    if min(counts) < 0:
        raise ValueError("a count is negative")
    return _Part(segment, inverse, *counts)


def _is_sum(segments: Sequence[Segment], whole: Segment) -> bool:
    """Return whether segments have the mass of the link.

    Else the file was edited.
    """
    # Mass, centre and inertia of the sum of the segments.
    link = Link(segments=tuple(segments))
    symmetric = 0.5 * (link.inertia + link.inertia.T)
    return (
        _is_near(link.mass, whole.mass, MIN_COMPARED)
        and _is_near(link.center_of_mass, whole.center_of_mass, 1.0)
        and _is_near(symmetric, whole.inertia, MIN_COMPARED)
    )


def _is_near(value: Floats | float, other: Floats | float, min_size: float) -> bool:
    size = max(min_size, float(np.abs(other).max()))
    return bool(np.abs(value - other).max() <= SUM_TOLERANCE * size)


def _is_finite(segment: Segment) -> bool:
    return all(np.isfinite(getattr(segment, name)).all() for name in _ARRAYS)


def _inverse(transform: Floats) -> Floats | None:
    """Return the inverse of a transform, None where it is not exact."""
    is_affine = (transform[3] == (0.0, 0.0, 0.0, 1.0)).all()
    if not np.isfinite(transform).all() or not is_affine:
        return None
    # A singular matrix has an infinite condition number.
    with np.errstate(all="ignore"):
        is_exact = np.linalg.cond(transform[:3, :3]) < MAX_CONDITION
    if is_exact:
        return np.asarray(np.linalg.inv(transform), dtype=np.float64)
    return None


def mjcf_values(extra: Mapping[str, object]) -> dict[str, object]:
    """Return the values under "mjcf" in an `extra`.

    Nothing where it is no mapping.
    """
    values = extra.get("mjcf")
    if not isinstance(values, Mapping):
        return {}
    return {key: value for key, value in values.items() if isinstance(key, str)}


def attributes_of(values: object) -> dict[str, str]:
    """Return the entries of a mapping that can be attributes of an element."""
    attributes: dict[str, str] = {}
    for key, value in values.items() if isinstance(values, Mapping) else ():
        is_text = isinstance(key, str) and isinstance(value, str)
        # Names of attributes in XML.
        if is_text and key.replace("_", "").isalnum() and key.isascii():
            attributes[key] = value
    return attributes


def dynamic_values(extra: Mapping[str, object]) -> Mapping[str, object]:
    """Return the `extra` of a joint without a stiffness of H-Anim.

    That is an array with a number from 0 to 1 for each axis, and no spring.
    """
    return {
        key: value
        for key, value in extra.items()
        if key != "stiffness" or not isinstance(value, np.ndarray)
    }


class MjcfLoss(NamedTuple):
    """What another format does not hold of the object called `name`."""

    rule: Rule
    message: str
    name: str


def mjcf_losses(body: Body) -> Iterator[MjcfLoss]:
    """Return what another format does not hold of a body's values of MJCF."""
    for section, values in mjcf_values(body.extra).items():
        if values and section != "joints":
            is_physical = section in PHYSICAL_SECTIONS
            rule = ONLY_MJCF if is_physical else ONLY_MJCF.as_note
            yield MjcfLoss(rule, f"<{section}> of MJCF", body.name or "the model")
    for link in body.links:
        yield from _losses_of_link(link)
    for device in body.devices:
        of_device = mjcf_values(device.extra)
        # A camera of one pixel makes no images, as without the attribute.
        if of_device and of_device != {"camera": {"resolution": "1 1"}}:
            message = "attributes of sensors, sites or cameras that only MJCF has"
            yield MjcfLoss(ONLY_MJCF, message, device.name)
    for joint in body.extra_joints:
        if mjcf_values(joint.extra):
            message = "attributes of equalities that only MJCF has"
            yield MjcfLoss(ONLY_MJCF, message, joint.name)


def _losses_of_link(link: Link) -> Iterator[MjcfLoss]:
    name = link.joint.name or link.name
    if mjcf_values(link.joint.extra):
        yield MjcfLoss(ONLY_MJCF, "attributes of joints that only MJCF has", name)
    dynamics = dynamic_values(link.joint.extra)
    for key in ("stiffness", "margin"):
        if np.any(np.asarray(dynamics.get(key, 0))):
            message = f"{key} of joints, which only MJCF has"
            yield MjcfLoss(ONLY_MJCF, message, name)
    if any(mjcf_values(segment.extra) for segment in link.segments):
        message = "attributes of geoms that only MJCF has"
        yield MjcfLoss(ONLY_MJCF, message, link.name)
