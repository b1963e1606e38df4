"""Extra joints, which close loops, as nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from bodymotion.formats.openhrp.writing.joints import vector_fields
from bodymotion.formats.openhrp.writing.kept import KeptFields
from bodymotion.formats.openhrp.writing.prototypes import prototype, with_fields
from bodymotion.formats.vrml import Node, Proto, Value

if TYPE_CHECKING:
    from bodymotion.diagnostics import Rule
    from bodymotion.formats.openhrp.writing.names import Names
    from bodymotion.model.body import ExtraJoint

    Tell = Callable[[Rule, str], None]

__all__ = ["extra_joint_nodes"]

FIELDS = ("link1Name", "link2Name", "link1LocalPos", "link2LocalPos", "jointType", "jointAxis")


def extra_joint_nodes(
    extra_joints: Sequence[ExtraJoint], joints: Mapping[int, Node], names: Names, tell: Tell
) -> list[Node]:
    """Return the nodes; `joints` are the Joint nodes by the numbers of their links."""
    extras = [extra.extra for extra in extra_joints]
    kept = KeptFields("ExtraJoint", extras, prototype("ExtraJoint").fields, {}, tell)
    proto = with_fields(prototype("ExtraJoint"), kept.types)
    return [_node(extra, joints, kept, proto, names, tell) for extra in extra_joints]


def _node(
    extra: ExtraJoint, joints: Mapping[int, Node], kept: KeptFields, proto: Proto, names: Names, tell: Tell
) -> Node:
    title = f"ExtraJoint {extra.name!r}"
    fields: dict[str, Value] = {f"link{k + 1}Name": joints[end].name for k, end in enumerate(extra.links)}
    points = {f"link{k + 1}LocalPos": point for k, point in enumerate(extra.positions)}
    fields |= vector_fields(points, title, tell)
    fields["jointType"] = extra.type
    fields |= vector_fields({"jointAxis": extra.axis}, title, tell, (1.0, 0.0, 0.0))
    fields |= kept.of(extra.extra, FIELDS)
    return Node("ExtraJoint", names.take(extra.name, "the extra joint"), fields, proto)
