"""What stands beside a model in its file, as nodes: words about the file, and viewpoints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics.losses import KEPT_VALUE, NUMBER_RANGE
from bodymotion.formats.openhrp.writing.joints import finite, pose_fields
from bodymotion.formats.vrml import Node, Value
from bodymotion.model.body import Viewpoint

if TYPE_CHECKING:
    from bodymotion.diagnostics import Rule

    Tell = Callable[[Rule, str], None]

__all__ = ["viewpoint_node", "world_info"]


def world_info(info: Mapping[str, object], tell: Tell) -> list[Node]:
    """Return a WorldInfo for what came from one; say which other words have no place."""
    fields: dict[str, Value] = {}
    for key, value in info.items():
        texts = list(value) if isinstance(value, (list, tuple)) else []
        if key == "title" and isinstance(value, str):
            fields["title"] = value
        elif key in ("info", "world_info") and texts and all(isinstance(text, str) for text in texts):
            fields["info"] = texts
        elif key in ("info", "world_info") and isinstance(value, (list, tuple, np.ndarray)) and not len(value):
            fields["info"] = []
        elif key not in ("name", "version", "info") or not isinstance(value, str):
            tell(KEPT_VALUE, f"info[{key!r}] is left out")
    return [Node("WorldInfo", fields=fields)] if fields else []


def viewpoint_node(view: Viewpoint, tell: Tell) -> Node:
    """Return the node of a viewpoint, without the numbers that are not finite."""
    title = f"the Viewpoint {view.description!r}"
    pose = pose_fields(np.array([0.0, 0.0, 0.0, *view.pose[3:]]), title, tell)
    fields: dict[str, Value] = {"description": view.description} if view.description else {}
    if np.isfinite(view.pose[:3]).all():
        fields["position"] = view.pose[:3]
    else:
        tell(NUMBER_RANGE, f"{title}: the position is left out")
    if "rotation" in pose:
        fields["orientation"] = pose["rotation"]
    default = Viewpoint().field_of_view
    angle = finite(float(view.field_of_view), default, f"{title}: fieldOfView", tell)
    if angle != default:
        fields["fieldOfView"] = angle
    return Node("Viewpoint", fields=fields)
