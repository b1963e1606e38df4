"""Writing VRML97: scenes of nodes to text, shapes to nodes, transforms to the fields of a Transform."""

from __future__ import annotations

from bodymotion.formats.vrml.writing.names import is_name, legal_name
from bodymotion.formats.vrml.writing.shapes import ShapeWriter
from bodymotion.formats.vrml.writing.text import scene_pieces, scene_text
from bodymotion.formats.vrml.writing.transforms import rotation_value, transform_fields

__all__ = [
    "ShapeWriter",
    "is_name",
    "legal_name",
    "rotation_value",
    "scene_pieces",
    "scene_text",
    "transform_fields",
]
