"""The shapes of a segment as nodes: under Transforms, in Surfaces where what is seen and what touches differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics.losses import PLACE
from bodymotion.formats.openhrp.writing.prototypes import prototype
from bodymotion.formats.vrml import Node
from bodymotion.formats.vrml.writing.transforms import holds, transform_fields
from bodymotion.geometry.shapes import Mesh, Shape

if TYPE_CHECKING:
    from bodymotion.diagnostics import Rule
    from bodymotion.formats.vrml.writing import ShapeWriter
    from bodymotion.geometry.arrays import Floats

    Tell = Callable[[Rule, str], None]

__all__ = ["has_mesh", "moved", "shape_nodes"]


LARGEST = 1e100
"""Transforms in Transforms with larger numbers than that would leave the range of numbers."""


def has_mesh(shapes: Sequence[Shape]) -> bool:
    """Whether there is a mesh among shapes."""
    return any(isinstance(shape.geometry, Mesh) for shape in shapes)


def moved(matrix: Floats, children: list[Node], title: str, tell: Tell) -> list[Node]:
    """Return nodes under a Transform (none where it would do nothing); say where that is not quite the matrix (4, 4)."""
    if not np.abs(matrix).max() < LARGEST:
        tell(PLACE, f"{title}: a transform that is not finite, or close to that, is left out")
        return children
    fields = transform_fields(matrix)
    if not holds(matrix, fields):
        tell(PLACE, f"{title}: a transform that is not affine is written as the nearest one")
    return [Node("Transform", fields={**fields, "children": children})] if fields else children


def shape_nodes(
    visuals: Sequence[Shape], collisions: Sequence[Shape], writer: ShapeWriter, title: str, tell: Tell, surfaces: bool
) -> list[Node]:
    """Return the nodes for the shapes of a segment, in an order in which both kinds are read back as they are.

    A shape that is both seen and touched is one node. Of others, `surfaces` makes Surface nodes, and else Collision nodes, as VRML97
    itself has them.
    """
    runs: list[tuple[str, list[Shape]]] = []
    for use, shape in _merged(visuals, collisions):
        if runs and runs[-1][0] == use:
            runs[-1][1].append(shape)
        else:
            runs.append((use, [shape]))
    nodes: list[Node] = []
    for use, shapes in runs:
        made = _grouped(shapes, writer, title, tell)
        if not made or use == "both":
            nodes += made
        elif not surfaces:
            nodes.append(_collision(use, made))
        elif use == "collision" and nodes and nodes[-1].type == "Surface" and "collision" not in nodes[-1].fields:
            nodes[-1].fields["collision"] = made
        else:
            nodes.append(Node("Surface", fields={use: made}, proto=prototype("Surface")))
    return nodes


def _collision(use: str, made: list[Node]) -> Node:
    if use == "visual":
        return Node("Collision", fields={"collide": False, "children": made})
    return Node("Collision", fields={"proxy": Node("Group", fields={"children": made})})


def _merged(visuals: Sequence[Shape], collisions: Sequence[Shape]) -> list[tuple[str, Shape]]:
    """Put two lists into one that has each in its order; what stands in both, in the same order, is one item.

    Meshes are the same when they are one object, or are seen to be equal at once.
    """
    keys_v, keys_c = [_key(shape) for shape in visuals], [_key(shape) for shape in collisions]
    left_c: dict[object, int] = {}
    for key in keys_c:
        left_c[key] = left_c.get(key, 0) + 1
    left_v: dict[object, int] = {}
    for key in keys_v:
        left_v[key] = left_v.get(key, 0) + 1
    merged: list[tuple[str, Shape]] = []
    i = j = 0
    while i < len(visuals) or j < len(collisions):
        v = keys_v[i] if i < len(visuals) else None
        c = keys_c[j] if j < len(collisions) else None
        if v is not None and v == c:
            merged.append(("both", visuals[i]))
        elif v is not None and (c is None or not left_c.get(v) or left_v.get(c)):
            merged.append(("visual", visuals[i]))
            c = None
        else:
            merged.append(("collision", collisions[j]))
            v = None
        if v is not None:
            left_v[v] -= 1
            i += 1
        if c is not None:
            left_c[c] -= 1
            j += 1
    return merged


def _key(shape: Shape) -> object:
    geometry = id(shape.geometry) if hasattr(shape.geometry, "vertices") else shape.geometry
    material = shape.material
    looks = (
        material.diffuse,
        material.specular,
        material.emissive,
        (material.ambient_intensity, material.shininess, material.transparency),
        id(material.texture),
    )
    return shape.name, geometry, (shape.transform + 0.0).tobytes(), looks


def _grouped(shapes: Sequence[Shape], writer: ShapeWriter, title: str, tell: Tell) -> list[Node]:
    """Return shapes under their Transforms; one for all that follow each other with the same one."""
    nodes: list[Node] = []
    start = 0
    while start < len(shapes):
        matrix = shapes[start].transform
        stop = start + 1
        while stop < len(shapes) and np.array_equal(shapes[stop].transform, matrix):
            stop += 1
        made = [node for shape in shapes[start:stop] for node in writer.nodes(shape)]
        if made:
            nodes += moved(matrix, made, title, tell)
        start = stop
    return nodes
