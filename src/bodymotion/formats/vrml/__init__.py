"""The language VRML97: text to `Scene`, prototypes expanded, parts named by Inline loaded. It is independent of robots."""

from bodymotion.formats.vrml.nodes import FieldDeclaration, IsReference, Node, Proto, Route, Scene, Value
from bodymotion.formats.vrml.reader import InlineLoader, expand, instance_of, parse_vrml, read_scene, read_vrml

__all__ = [
    "FieldDeclaration",
    "InlineLoader",
    "IsReference",
    "Node",
    "Proto",
    "Route",
    "Scene",
    "Value",
    "expand",
    "instance_of",
    "parse_vrml",
    "read_scene",
    "read_vrml",
]
