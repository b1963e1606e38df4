"""Values of a body that a format cannot hold.

As JSON inside of the file (<custom> of MJCF, <bodymotion> of URDF).

Those that only MJCF has are in `extra` under "mjcf": its reader keeps them there, its
writer writes them back, others report them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar, get_args

import numpy as np

from bodymotion.diagnostics import Rule
from bodymotion.diagnostics.losses import ONLY_MJCF
from bodymotion.diagnostics.text import with_article
from bodymotion.geometry.arrays import Floats, frozen, same
from bodymotion.model.body import Body, ExtraJointType, Viewpoint
from bodymotion.model.links import JointType, Link, Segment

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
_ENUMERATIONS = {
    ("type", "fixed"): get_args(JointType),
    ("type", "xyz"): get_args(ExtraJointType),
}

T = TypeVar("T")
# Relative difference up to which the sums of the segments equal the link in the rest of
# the file.
SUM_TOLERANCE = 1e-9
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


def plain(value: object, lost: list[str], where: str, depth: int = 0) -> Any:  # noqa: ANN401
    """Return a value as JSON holds it, arrays as lists.

    The rest is left out, and its path is added to `lost`.
    """
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufU":
        return value.tolist()
    if depth < MAX_DEPTH and isinstance(value, (list, tuple)):
        return [
            plain(item, lost, f"{where}[{i}]", depth + 1)
            for i, item in enumerate(value)
        ]
    if depth < MAX_DEPTH and isinstance(value, Mapping):
        lost += [f"{where}[{key!r:.40}]" for key in value if not isinstance(key, str)]
        texts = [key for key in value if isinstance(key, str)]
        found = {
            key: plain(value[key], lost, f"{where}.{key}", depth + 1) for key in texts
        }
        return {
            key: item
            for key, item in found.items()
            if item is not None or value[key] is None
        }
    lost.append(where)
    return None


def as_json(value: object) -> Any:  # noqa: ANN401
    """Return a value as JSON holds it; TypeError where it cannot."""
    lost: list[str] = []
    found = plain(value, lost, type(value).__name__)
    if lost:
        raise TypeError(with_article(lost[0]))
    return found


def coerced(now: object, meant: object, name: str) -> object:
    """Return a value of JSON in the type and shape of `now`.

    TypeError or ValueError where it does not fit.
    """
    if isinstance(now, np.ndarray):
        array = np.array(meant, dtype=np.float64)
        if array.shape != now.shape:
            raise ValueError(f"shape {array.shape}, not {now.shape}")
        if name in FINITE_FIELDS and not np.isfinite(array).all():
            raise ValueError("not finite")
        if name == "offset" and not array[3:].any():
            raise ValueError("no rotation")
        return frozen(array)
    if isinstance(now, tuple):
        return tuple(
            np.asarray(coerced(np.array(now, dtype=np.float64), meant, name)).tolist()
        )
    if isinstance(now, Mapping):
        if not isinstance(meant, dict):
            raise TypeError("no mapping")
        return meant
    if isinstance(now, bool) or isinstance(meant, bool):
        raise TypeError("a boolean")
    if isinstance(now, float):
        if not isinstance(meant, (int, float)):
            raise TypeError("no number")
        return float(meant)
    if isinstance(now, int) and isinstance(meant, float) and meant.is_integer():
        return int(meant)
    if type(now) is not type(meant):
        raise TypeError(
            f"{with_article(type(meant).__name__)}, not "
            f"{with_article(type(now).__name__)}"
        )
    for types in _ENUMERATIONS.values():
        if name == "type" and now in types and meant not in types:
            raise ValueError(f"unknown type {meant!r:.40}")
    return meant


def usable(base: object, values: object, skip: Sequence[str] = ()) -> dict[str, Any]:
    """Return those of the values from JSON that fit the fields of a dataclass."""
    found: dict[str, Any] = {}
    for field in fields(base) if isinstance(values, Mapping) else ():  # type: ignore[arg-type]
        if field.name in values and field.name not in skip:  # type: ignore[operator]
            try:
                found[field.name] = coerced(
                    getattr(base, field.name),
                    values[field.name],  # type: ignore[index]
                    field.name,
                )
            except (TypeError, ValueError, OverflowError):
                continue
    return found


def differences(
    meant: object, base: object, skip: Sequence[str] = ()
) -> dict[str, object]:
    """Return the fields in which a dataclass differs from another one."""
    names = [field.name for field in fields(meant) if field.name not in skip]  # type: ignore[arg-type]
    return {
        name: value
        for name in names
        if not same(value := getattr(meant, name), getattr(base, name))
    }


def json_of_viewpoints(viewpoints: Sequence[Viewpoint]) -> list[dict[str, object]]:
    """Return the entries of viewpoints."""
    return [
        {field.name: as_json(getattr(view, field.name)) for field in fields(view)}
        for view in viewpoints
    ]


def viewpoints_of(entries: object) -> tuple[Viewpoint, ...]:
    """Return the viewpoints of their entries, with defaults for what cannot be used."""
    base = Viewpoint()
    return tuple(
        replace(base, **usable(base, one))
        for one in (entries if isinstance(entries, list) else ())
    )


def json_of_segments(
    link: Link, counts: Sequence[tuple[int, int]]
) -> list[dict[str, object]] | None:
    """Return the entry of a link's segments without `extra`.

    None where the transform of one cannot be inverted.

    `counts` are the numbers of visuals and collisions of each in the rest of the file.
    """
    if any(
        _inverse(one.transform) is None or not np.isfinite(_numbers(one)).all()
        for one in link.segments
    ):
        return None
    return [
        {
            "name": one.name,
            "transform": one.transform.tolist(),
            "mass": one.mass,
            "center_of_mass": one.center_of_mass.tolist(),
            "inertia": one.inertia.tolist(),
            "shapes": list(count),
        }
        for one, count in zip(link.segments, counts, strict=True)
    ]


def separate_segments(entries: object, whole: Segment) -> tuple[Segment, ...] | None:
    """Return the segments of a link from their entry, with the shapes of `whole`, the
    link as one segment.

    None where they do not fit it.

    Raises
    ------
    TypeError, ValueError, OverflowError
        For an entry that cannot be used.
    """
    found: list[Segment] = []
    shapes = [list(whole.visuals), list(whole.collisions)]
    for values in entries if isinstance(entries, list) else []:
        if not isinstance(values, Mapping):
            raise TypeError("no mapping")
        base = {
            name: coerced(getattr(Segment(), name), values.get(name, ()), name)
            for name in _ARRAYS
        }
        one = replace(
            Segment(
                **usable(
                    Segment(), {k: values[k] for k in ("name", "extra") if k in values}
                )
            ),
            **base,  # type: ignore[arg-type]
        )
        back = _inverse(one.transform)
        counts = values.get("shapes", [0, 0])
        if back is None or not np.isfinite(_numbers(one)).all():
            raise ValueError("a number is not finite, or a transform has no inverse")
        if (
            not isinstance(counts, list)
            or [type(n) for n in counts] != [int, int]
            or min(counts) < 0
        ):
            raise ValueError("shapes are not two counts")
        if any(count > len(rest) for rest, count in zip(shapes, counts, strict=True)):
            return None
        own = [
            tuple(rest.pop(0).moved(back) for _ in range(count))
            for rest, count in zip(shapes, counts, strict=True)
        ]
        found.append(replace(one, visuals=own[0], collisions=own[1]))
    made = Link(segments=tuple(found))
    sums = (
        (made.mass, whole.mass, 1e-6),
        (made.center_of_mass, whole.center_of_mass, 1.0),
        (0.5 * (made.inertia + made.inertia.T), whole.inertia, 1e-6),
    )
    if not found or any(shapes):
        return None
    for ours, theirs, min_size in sums:
        if not np.abs(ours - theirs).max() <= SUM_TOLERANCE * max(
            min_size, float(np.abs(theirs).max())
        ):
            return None
    return tuple(found)


def _numbers(segment: Segment) -> Floats:
    return np.concatenate([np.ravel(getattr(segment, name)) for name in _ARRAYS])


def _inverse(transform: Floats) -> Floats | None:
    """Return the inverse of a transform.

    None where it is not exact.
    """
    if (
        not np.isfinite(transform).all()
        or not (transform[3] == (0.0, 0.0, 0.0, 1.0)).all()
    ):
        return None
    with np.errstate(all="ignore"):
        exact = np.linalg.cond(transform[:3, :3]) < 1e6
    if exact:
        return np.asarray(np.linalg.inv(transform), dtype=np.float64)
    return None


def mjcf_values(extra: Mapping[str, object]) -> dict[str, object]:
    """Return the values under "mjcf" in an `extra`.

    Nothing where it is no mapping.
    """
    found = extra.get("mjcf")
    if isinstance(found, Mapping):
        return {key: value for key, value in found.items() if isinstance(key, str)}
    return {}


def attributes_of(values: object) -> dict[str, str]:
    """Return the entries of a mapping that can be attributes of an element."""
    if not isinstance(values, Mapping):
        return {}
    return {
        key: value
        for key, value in values.items()
        if isinstance(key, str)
        and isinstance(value, str)
        and key.replace("_", "").isalnum()
        and key.isascii()
    }


def dynamic_values(extra: Mapping[str, object]) -> Mapping[str, object]:
    """Return the `extra` of a joint without a stiffness of H-Anim, an array with a
    number from 0 to 1 for each axis, which is no spring.
    """
    return {
        key: value
        for key, value in extra.items()
        if key != "stiffness" or not isinstance(value, np.ndarray)
    }


def mjcf_losses(body: Body) -> Iterator[tuple[Rule, str, str]]:
    """Return what another format does not hold of a body's values of MJCF, each with
    its rule and the name of its object.
    """
    for section, values in mjcf_values(body.extra).items():
        if values and section != "joints":
            if section in PHYSICAL_SECTIONS:
                rule = ONLY_MJCF
            else:
                rule = ONLY_MJCF.as_note
            yield rule, f"<{section}> of MJCF", body.name or "the model"
    for link in body.links:
        if mjcf_values(link.joint.extra):
            yield (
                ONLY_MJCF,
                "attributes of joints that only MJCF has",
                link.joint.name or link.name,
            )
        for key in ("stiffness", "margin"):
            if np.any(np.asarray(dynamic_values(link.joint.extra).get(key, 0))):
                yield (
                    ONLY_MJCF,
                    f"{key} of joints, which only MJCF has",
                    link.joint.name or link.name,
                )
        if any(mjcf_values(segment.extra) for segment in link.segments):
            yield ONLY_MJCF, "attributes of geoms that only MJCF has", link.name
    for device in body.devices:
        of_device = mjcf_values(device.extra)
        if of_device and of_device != {"camera": {"resolution": "1 1"}}:
            yield (
                ONLY_MJCF,
                "attributes of sensors, sites or cameras that only MJCF has",
                device.name,
            )
    for joint in body.extra_joints:
        if mjcf_values(joint.extra):
            yield ONLY_MJCF, "attributes of equalities that only MJCF has", joint.name
