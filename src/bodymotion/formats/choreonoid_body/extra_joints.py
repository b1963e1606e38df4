"""Extra joints: constraints that close loops."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.formats.choreonoid_body import rules
from bodymotion.formats.choreonoid_body.fields import Fields
from bodymotion.formats.choreonoid_body.joints import axis
from bodymotion.geometry.arrays import frozen
from bodymotion.model.body import ExtraJoint, ExtraJointType

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["RawExtraJoint", "read_extra_joint"]

TYPES: dict[str, ExtraJointType] = {
    "ball": "ball",
    "hinge": "hinge",
    "piston": "piston",
    "xyz": "xyz",
    "xy": "xy",
    "z": "z",
}


KEYS = (
    "name",
    "joint_type",
    "joint_axis",
    "axis",
    "link1_name",
    "link2_name",
    "link1_local_pos",
    "link2_local_pos",
)


class RawExtraJoint:
    """An extra joint whose links are known by name only."""

    def __init__(self, fields: Fields, joint: ExtraJoint, names: tuple[str, str]) -> None:
        self.fields = fields
        self.joint = joint
        self.names = names

    def renamed(self, prefix: str, suffix: str) -> RawExtraJoint:
        """Return the joint as part of a body that has it in a SubBody."""
        first, second = self.names
        return RawExtraJoint(self.fields, self.joint, (f"{prefix}{first}{suffix}", f"{prefix}{second}{suffix}"))

    def joined(self, links: Mapping[str, int], incomplete: bool = False) -> ExtraJoint | None:
        """Return the joint between links with numbers; None where one of them is not there, which is noted.

        Of an incomplete model that may be no fault of the joint's.
        """
        for key, name in zip(("link1_name", "link2_name"), self.names, strict=True):
            if name not in links:
                wrong = f"{key} of {self.fields.title} is {name!r:.60}, no link has that name: left out"
                problem = rules.EXTRA_LINK.problem(wrong, self.fields.place(key))
                self.fields.context.problems.append(replace(problem, severity="warning") if incomplete else problem)
                return None
        return replace(self.joint, links=(links[self.names[0]], links[self.names[1]]))


def read_extra_joint(fields: Fields) -> RawExtraJoint | None:
    """Read an extra joint; None where it is of no known type, which is noted.

    Raises
    ------
    FormatError
        When a value is none that its key can have.
    """
    kind = fields.text("joint_type", default="ball")
    if kind not in TYPES:
        fields.tell(
            rules.EXTRA_TYPE,
            f"joint_type of {fields.title} is {kind!r:.60}, none of {', '.join(TYPES)}: left out",
            "joint_type",
        )
        return None
    direction = axis(fields, "joint_axis", "axis")
    if direction is None or not direction.any():
        if direction is not None and kind not in ("ball", "xyz"):
            fields.tell(rules.NO_AXIS, f"joint_axis of {fields.title} is 0 0 0", "joint_axis")
        direction = frozen([1.0, 0.0, 0.0] if kind in ("xyz", "xy", "z") else [0.0, 0.0, 1.0])
    positions = [fields.vector(name, default=(0.0, 0.0, 0.0)) for name in ("link1_local_pos", "link2_local_pos")]
    names = (fields.text("link1_name"), fields.text("link2_name"))
    fields.warn_of_misspelt(KEYS, 0.8)
    joint = ExtraJoint(
        name=fields.text("name"),
        type=TYPES[kind],
        positions=np.array(positions),
        axis=direction,
        extra=fields.rest(),
    )
    return RawExtraJoint(fields, joint, names)
