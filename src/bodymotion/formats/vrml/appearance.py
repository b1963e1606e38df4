"""Appearance, Material and the textures of VRML97 (ISO/IEC 14772-1, 6.3, 6.27, 6.22, 6.49) as a `Material`.

Without a Material node the standard shows the plain colour white and no light on it. Here such a surface is white too, but lit,
so that its shape is visible.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from bodymotion.diagnostics import Diagnostics
from bodymotion.formats.vrml import access
from bodymotion.formats.vrml.nodes import Node
from bodymotion.formats.vrml.rules import NOT_SHOWN, OUT_OF_RANGE
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.geometry.shapes import Material, Texture

__all__ = ["PLAIN", "AppearanceReader", "texture_matrix"]

_DEFAULT = Material()

PLAIN = Material(diffuse=(1.0, 1.0, 1.0))
"""The material of shapes that have none."""


class AppearanceReader:
    """Make materials; an Appearance that is used several times gives the same material each time.

    `find_file(node)` returns the file that a node's url names, or None; then it reports why.
    """

    def __init__(
        self,
        found: Diagnostics,
        actual: Callable[[Node], Node | None],
        find_file: Callable[[Node], Path | None],
    ) -> None:
        self.found = found
        self.actual = actual
        self.find_file = find_file
        self._known: dict[int, tuple[Node, Material]] = {}

    def read(self, node: Node | None) -> Material:
        """Return the material of an Appearance node."""
        if node is None:
            return PLAIN
        if id(node) not in self._known:
            self._known[id(node)] = (node, self._read(node))
        return self._known[id(node)][1]

    def _read(self, node: Node) -> Material:
        found = self.actual(node)
        if found is None or found.type != "Appearance":
            return PLAIN
        material, texture, transform = (
            self.actual(part) if (part := access.child(found, name)) is not None else None
            for name in ("material", "texture", "textureTransform")
        )
        image = self._texture(texture, transform) if texture is not None else None
        if material is None or material.type != "Material":
            return PLAIN if image is None else Material(diffuse=PLAIN.diffuse, texture=image)
        default = _DEFAULT
        return Material(
            diffuse=self._color(material, "diffuseColor", default.diffuse),
            ambient_intensity=self._number(material, "ambientIntensity", default.ambient_intensity),
            specular=self._color(material, "specularColor", default.specular),
            emissive=self._color(material, "emissiveColor", default.emissive),
            shininess=self._number(material, "shininess", default.shininess),
            transparency=self._number(material, "transparency", default.transparency),
            texture=image,
        )

    def _color(self, node: Node, name: str, default: tuple[float, float, float]) -> tuple[float, float, float]:
        red, green, blue = self._clipped(node, access.vector(node, name, default))
        return red, green, blue

    def _number(self, node: Node, name: str, default: float) -> float:
        return self._clipped(node, (access.number(node, name, default),))[0]

    def _clipped(self, node: Node, values: tuple[float, ...]) -> tuple[float, ...]:
        for value in values:
            if not 0.0 <= value <= 1.0:
                break
        else:
            return values
        text = " ".join(f"{value:g}" for value in values)
        self.found.report(OUT_OF_RANGE, f"a Material has the value {text}, expected 0…1", node.location)
        return tuple(min(max(value, 0.0), 1.0) if value == value else 0.0 for value in values)

    def _texture(self, node: Node, transform: Node | None) -> Texture | None:
        if node.type != "ImageTexture":
            self.found.report(NOT_SHOWN, f"{node.type} is not shown", node.location)
            return None
        urls = access.texts(node, "url")
        path = self.find_file(node)
        if path is None:
            return None
        return Texture(
            path,
            next((url for url in urls if url.replace("\\", "/").endswith(path.name)), urls[0]),
            repeat_s=access.flag(node, "repeatS", True),
            repeat_t=access.flag(node, "repeatT", True),
            transform=texture_matrix(transform),
        )


def texture_matrix(node: Node | None) -> Floats:
    """Return the (3, 3) matrix of a TextureTransform for columns (s, t, 1): −C · S · R · C · T (ISO/IEC 14772-1, 6.49)."""
    if node is None:
        return frozen(np.eye(3))
    center = np.array(access.vector(node, "center", (0.0, 0.0)))
    translation = np.array(access.vector(node, "translation", (0.0, 0.0)))
    angle = access.number(node, "rotation", 0.0)
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    stretch = np.diag([*access.vector(node, "scale", (1.0, 1.0)), 1.0])
    matrix = _translation(-center) @ stretch @ turn @ _translation(center + translation)
    return frozen(matrix if np.isfinite(matrix).all() else np.eye(3))


def _translation(by: Floats) -> Floats:
    matrix = np.eye(3)
    matrix[:2, 2] = by
    return matrix
