"""What MJCF alone says of a model: the readers keep it under "mjcf" in `extra`, and writers of MJCF put it back where it stood.

Writers of other formats have no place for it: they report what `passed_over` lists.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bodymotion.model.body import Body

__all__ = ["of_mjcf", "passed_over", "texts"]


def of_mjcf(extra: Mapping[str, object]) -> dict[str, object]:
    """Return what an `extra` holds under "mjcf"; nothing where that is no mapping."""
    found = extra.get("mjcf")
    return {key: value for key, value in found.items() if isinstance(key, str)} if isinstance(found, Mapping) else {}


def texts(given: object) -> dict[str, str]:
    """Return the entries of a mapping that can be attributes of an element."""
    if not isinstance(given, Mapping):
        return {}
    return {
        key: value
        for key, value in given.items()
        if isinstance(key, str) and isinstance(value, str) and key.replace("_", "").isalnum() and key.isascii()
    }


def passed_over(body: Body) -> Iterator[tuple[str, str]]:
    """Return pairs of words and a name for all that a body keeps of MJCF, for the report of a writer that has no place for it."""
    for section, held in of_mjcf(body.extra).items():
        if held and section != "joints":
            yield f"<{section}> of MJCF", body.name or "the model"
    for link in body.links:
        if of_mjcf(link.joint.extra):
            yield "what MJCF says of a joint", link.joint.name or link.name
        for key in ("stiffness", "margin"):
            if link.joint.extra.get(key):
                yield f"{key} of joints, which MJCF has", link.joint.name or link.name
        if any(of_mjcf(segment.extra) for segment in link.segments):
            yield "what MJCF says of geoms", link.name
    for device in body.devices:
        said = of_mjcf(device.extra)
        if said and said != {"camera": {"resolution": "1 1"}}:
            yield "what MJCF says of a sensor, site or camera", device.name
    for joint in body.extra_joints:
        if of_mjcf(joint.extra):
            yield "what MJCF says of an equality", joint.name
