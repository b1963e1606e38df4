"""Segments as nodes, with their shapes, which may stand in parts of their own."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics.losses import NUMBER_RANGE
from bodymotion.formats.openhrp.writing.joints import finite, vector_fields
from bodymotion.formats.openhrp.writing.kept import KeptFields
from bodymotion.formats.openhrp.writing.parts import has_mesh, moved, shape_nodes
from bodymotion.formats.openhrp.writing.prototypes import prototype, prototypes_of, with_fields
from bodymotion.formats.vrml import Node, Scene, Value
from bodymotion.formats.vrml.writing import ShapeWriter, is_name
from bodymotion.model.links import Segment

if TYPE_CHECKING:
    from bodymotion.diagnostics import Rule
    from bodymotion.formats.openhrp.writing.names import Names
    from bodymotion.geometry.shapes import Texture
    from bodymotion.model.body import Body

__all__ = ["SegmentWriter"]

FIELDS = ("mass", "centerOfMass", "momentsOfInertia", "children")


class SegmentWriter:
    """Writes the segments of one body.

    `parts` are the scenes that stand in files of their own in a `folder`, and `inlines` the nodes that name them, both by the names of
    the files. `bound` are the names that shapes must not take from Joints and Segments before them.
    """

    def __init__(
        self,
        body: Body,
        names: Names,
        tell: Callable[[Rule, str], None],
        url: Callable[[Texture, bool], str],
        folder: str | None,
    ) -> None:
        self.names, self.tell, self.url, self.folder = names, tell, url, folder
        self.parts: dict[str, Scene] = {}
        self.inlines: dict[str, Node] = {}
        self.bound: set[str] = set()
        self.shapes = ShapeWriter(tell, lambda texture: url(texture, False), self._shape_name)
        extras = [segment.extra for link in body.links for segment in link.segments]
        self._kept = KeptFields("Segment", extras, prototype("Segment").fields, {}, tell)
        self._proto = with_fields(prototype("Segment"), self._kept.types)
        self._known: dict[str, tuple[Segment, Node]] = {}
        self._part_names: set[str] = set()

    def name(self, segment: Segment) -> str:
        """Return a name of its own to a segment; one that stands in several links as it is has one name there too."""
        known = self._known.get(segment.name)
        if known is not None and replace(segment, transform=known[0].transform) == known[0]:
            return known[1].name
        name = self.names.take(segment.name, "the segment")
        if segment.name and known is None:
            self._known[segment.name] = segment, Node("Segment", name, proto=self._proto)
        return name

    def nodes(self, segment: Segment, name: str, is_last: bool) -> list[Node]:
        """Return the nodes of a segment: loose shapes where it has nothing else, and is the last of its link, as they are read."""
        known = self._known.get(segment.name)
        shared = known[1] if known is not None and known[1].name == name and name else None
        if shared is not None and shared.fields:
            return moved(segment.transform, [shared], f"Segment {name!r}", self.tell)
        if is_last and (segment.visuals or segment.collisions):
            loose = Segment(visuals=segment.visuals, collisions=segment.collisions)
            if not segment.name and segment == loose:
                return self._shapes(segment, name or "shapes")
        title = f"Segment {name!r}"
        fields: dict[str, Value] = {"mass": finite(float(segment.mass), 0.0, f"{title}: mass", self.tell)}
        fields |= vector_fields({"centerOfMass": segment.center_of_mass}, title, self.tell)
        if not np.isfinite(segment.inertia).all():
            self.tell(NUMBER_RANGE, f"{title}: an inertia that is not finite is left out")
        elif segment.inertia.any():
            fields["momentsOfInertia"] = segment.inertia.reshape(-1)
        fields |= self._kept.of(segment.extra, FIELDS)
        fields["children"] = self._shapes(segment, name)
        node = shared if shared is not None else Node("Segment", name, proto=self._proto)
        node.fields |= fields
        return moved(segment.transform, [node], title, self.tell)

    def _shapes(self, segment: Segment, name: str) -> list[Node]:
        visuals, collisions = segment.visuals, segment.collisions
        title = f"Segment {name!r}"
        if self.folder is None or not has_mesh((*visuals, *collisions)):
            return shape_nodes(visuals, collisions, self.shapes, title, self.tell, surfaces=True)
        writer = ShapeWriter(self.tell, lambda texture: self.url(texture, True))
        nodes = shape_nodes(visuals, collisions, writer, title, self.tell, surfaces=True)
        file = self._part_name(name)
        self.parts[file] = Scene(nodes=nodes, protos={p.name: p for p in prototypes_of(nodes)})
        node = self.inlines[file] = Node("Inline", fields={"url": [f"{self.folder}/{file}"]})
        return [node]

    def _part_name(self, name: str) -> str:
        """Return a file name of its own, of plain characters, for a part: also where capital letters mean nothing."""
        plain = re.sub(r"[^A-Za-z0-9_-]", "_", name) or "shapes"
        free, count = plain, 1
        while f"{free}.wrl".lower() in self._part_names:
            count += 1
            free = f"{plain}_{count}"
        self._part_names.add(f"{free}.wrl".lower())
        return f"{free}.wrl"

    def _shape_name(self, name: str) -> str:
        """Return the name of a Shape: it must not take that of a Joint or Segment before it, which the lists name."""
        if not name or (is_name(name) and name not in self.bound):
            return name
        return self.names.take(name, "the shape")
