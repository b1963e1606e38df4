"""Devices as sensor nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bodymotion.diagnostics.losses import BODY_NAMES, KEPT_VALUE, NUMBER_RANGE
from bodymotion.formats.openhrp.nodes import CLASSES, NUMBERS, VECTORS
from bodymotion.formats.openhrp.writing.joints import finite, pose_fields, vector_fields
from bodymotion.formats.openhrp.writing.kept import KeptFields, as_value
from bodymotion.formats.openhrp.writing.prototypes import PLACED, device_prototype, prototype, with_fields
from bodymotion.formats.vrml import Node, Proto, Value
from bodymotion.formats.vrml.specs import STANDARD_NODES
from bodymotion.formats.vrml.writing import is_name, legal_name
from bodymotion.model.body import Body
from bodymotion.model.devices import Device, OtherDevice, VisionSensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from bodymotion.diagnostics import Rule

    Tell = Callable[[Rule, str], None]

__all__ = ["DeviceWriter"]

RESERVED = {*STANDARD_NODES, *CLASSES, "Humanoid", "Joint", "Segment", "ExtraJoint", "Surface", "WorldInfo"}
"""Names that a device of another type cannot have."""

VISION = {"type": "type", "width": "width", "height": "height"}


class DeviceWriter:
    """Makes sensor nodes for the devices of a body; types that the document lacks get prototypes of their own."""

    def __init__(self, body: Body, tell: Tell) -> None:
        self.tell = tell
        self._types: dict[str, str] = {}
        by_type: dict[str, list[Device]] = {}
        for device in body.devices:
            by_type.setdefault(self._node_type(device), []).append(device)
        self._kept: dict[str, tuple[KeptFields, Proto]] = {}
        for node_type, devices in by_type.items():
            known = node_type in CLASSES
            declared = prototype(node_type if known else "OtherDevice").fields
            extras = [device.extra for device in devices]
            kept = KeptFields(node_type, extras, declared, {}, tell)
            proto = with_fields(prototype(node_type), kept.types) if known else device_prototype(node_type, kept.types)
            self._kept[node_type] = kept, proto
            if not known:
                self._say_gained(node_type, devices, kept)

    def _node_type(self, device: Device) -> str:
        if not isinstance(device, OtherDevice):
            return device.kind
        if device.type not in self._types:
            wanted = device.type
            name = wanted if is_name(wanted) else legal_name(wanted, "Device")
            if name in RESERVED:
                name += "Device"
            while name in RESERVED or name in self._types.values():
                name += "_"
            if name != wanted:
                self.tell(BODY_NAMES, f"devices of type {wanted!r} are written as {name!r}")
            self._types[wanted] = name
        return self._types[device.type]

    def _say_gained(self, node_type: str, devices: list[Device], kept: KeptFields) -> None:
        """A prototype gives its fields to all of its instances: say which devices get some that they have not."""
        for device in devices:
            missing = [name for name in kept.types if name not in device.extra]
            if missing:
                names = ", ".join(missing)
                self.tell(KEPT_VALUE, f"{node_type} {device.name!r} gets {names}, which others of its type have")

    def node(self, device: Device, name: str) -> Node:
        """Make the node of a device."""
        node_type = self._node_type(device)
        kept, proto = self._kept[node_type]
        title = f"{node_type} {device.name!r}"
        fields: dict[str, Value] = {}
        if -(2**31) <= device.id < 2**31 and device.id != -1:
            fields["sensorId"] = int(device.id)
        elif device.id != -1:
            self.tell(NUMBER_RANGE, f"{title} has the id {device.id}: left out")
        fields |= pose_fields(device.pose, title, self.tell)
        kind = type(device)
        default = kind()
        for ours, theirs in VECTORS.get(kind, {}).items():
            fields |= vector_fields({theirs: getattr(device, ours)}, title, self.tell, (-1.0, -1.0, -1.0))
        for ours, theirs in NUMBERS.get(kind, {}).items():
            before = float(getattr(default, ours))
            value = finite(float(getattr(device, ours)), before, f"{title}: {theirs}", self.tell)
            if value != before:
                fields[theirs] = value
        if isinstance(device, VisionSensor):
            for ours in VISION:
                given, types = as_value(getattr(device, ours))
                if ("SFString" if ours == "type" else "SFInt32") not in types:
                    self.tell(NUMBER_RANGE, f"{title}: {ours} {given!r:.60} is left out")
                elif given != getattr(default, ours):
                    fields[ours] = given
        used = (*PLACED, *VECTORS.get(kind, {}).values(), *NUMBERS.get(kind, {}).values())
        fields |= kept.of(device.extra, (*used, *VISION) if isinstance(device, VisionSensor) else used)
        return Node(node_type, name, fields, proto)
