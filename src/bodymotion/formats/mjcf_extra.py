"""Values that only MJCF has: kept in `extra` under "mjcf" by its reader, written back by its writer, reported by writers of other
formats.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics.losses import ONLY_MJCF

if TYPE_CHECKING:
    from bodymotion.diagnostics import Rule
    from bodymotion.model.body import Body

MATTERS = ("actuator", "contact", "deformable", "equality", "sensor", "tendon")
"""Sections of MJCF that say how the body moves and what it senses; the others are about the scene, looks and defaults."""


def mjcf_values(extra: Mapping[str, object]) -> dict[str, object]:
    """Return the values under "mjcf" in an `extra`; nothing where it is no mapping."""
    found = extra.get("mjcf")
    return {key: value for key, value in found.items() if isinstance(key, str)} if isinstance(found, Mapping) else {}


def attributes_of(values: object) -> dict[str, str]:
    """Return the entries of a mapping that can be attributes of an element."""
    if not isinstance(values, Mapping):
        return {}
    return {
        key: value
        for key, value in values.items()
        if isinstance(key, str) and isinstance(value, str) and key.replace("_", "").isalnum() and key.isascii()
    }


def dynamic_values(extra: Mapping[str, object]) -> Mapping[str, object]:
    """Return the `extra` of a joint without a stiffness of H-Anim, an array with a number from 0 to 1 for each axis, which is no spring."""
    return {key: value for key, value in extra.items() if key != "stiffness" or not isinstance(value, np.ndarray)}


def mjcf_losses(body: Body) -> Iterator[tuple[Rule, str, str]]:
    """Return what another format does not hold of a body's values of MJCF, each with its rule and the name of its object."""
    for section, values in mjcf_values(body.extra).items():
        if values and section != "joints":
            rule = ONLY_MJCF if section in MATTERS else ONLY_MJCF.as_note
            yield rule, f"<{section}> of MJCF", body.name or "the model"
    for message, name in _lost_attributes(body):
        yield ONLY_MJCF, message, name


def _lost_attributes(body: Body) -> Iterator[tuple[str, str]]:
    for link in body.links:
        if mjcf_values(link.joint.extra):
            yield "attributes of joints that only MJCF has", link.joint.name or link.name
        for key in ("stiffness", "margin"):
            if np.any(np.asarray(dynamic_values(link.joint.extra).get(key, 0))):
                yield f"{key} of joints, which only MJCF has", link.joint.name or link.name
        if any(mjcf_values(segment.extra) for segment in link.segments):
            yield "attributes of geoms that only MJCF has", link.name
    for device in body.devices:
        of_device = mjcf_values(device.extra)
        if of_device and of_device != {"camera": {"resolution": "1 1"}}:
            yield "attributes of sensors, sites or cameras that only MJCF has", device.name
    for joint in body.extra_joints:
        if mjcf_values(joint.extra):
            yield "attributes of equalities that only MJCF has", joint.name
