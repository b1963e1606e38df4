"""The ExtraJoint node: a constraint that closes a loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import numpy as np

from bodymotion.formats.faults import fault
from bodymotion.formats.openhrp import values
from bodymotion.formats.openhrp.rules import EXTRA_LINK, EXTRA_TYPE, NO_AXIS
from bodymotion.formats.vrml import access
from bodymotion.formats.vrml.nodes import Node
from bodymotion.model.body import ExtraJoint, ExtraJointType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bodymotion.diagnostics import Problem

__all__ = ["read_extra_joint"]

TYPES: tuple[ExtraJointType, ...] = get_args(ExtraJointType)
USED = {"link1Name", "link2Name", "link1LocalPos", "link2LocalPos", "jointType", "jointAxis"}


def read_extra_joint(node: Node, links: Mapping[str, int], problems: list[Problem]) -> ExtraJoint:
    """Make an extra joint of a node; `links` gives the index of each link by name.

    Raises
    ------
    FormatError
        When a link is not there, or jointType is none of the known ones.
    """
    title = values.label(node)
    ends = []
    for name in ("link1Name", "link2Name"):
        wanted = access.text(node, name)
        if wanted not in links:
            wrong = f"{name} of {title} is {wanted!r}, no Joint has that name"
            fault(problems, EXTRA_LINK.error(wrong, node.location_of(name)))
        ends.append(links.get(wanted, 0))
    kind = access.text(node, "jointType", "xyz")
    known = next((known for known in TYPES if known == kind), None)
    if known is None:
        fault(
            problems,
            EXTRA_TYPE.error(
                f"jointType of {title} is {kind!r}, none of {', '.join(TYPES)}", node.location_of("jointType")
            ),
        )
        known = "xyz"
    axis = values.axis(node, (1.0, 0.0, 0.0), problems)
    if not axis.any():
        if known not in ("xyz", "ball"):
            problems.append(NO_AXIS.problem(f"jointAxis of {title} is 0 0 0", node.location, "it is read as 1 0 0"))
        axis = np.array([1.0, 0.0, 0.0])
    return ExtraJoint(
        name=node.name,
        type=known,
        links=(ends[0], ends[1]),
        positions=np.stack(
            [values.finite(node, name, (0.0, 0.0, 0.0), problems) for name in ("link1LocalPos", "link2LocalPos")]
        ),
        axis=axis,
        extra=values.rest(node, USED),
    )
