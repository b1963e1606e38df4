"""An image on a surface as ImageTexture and TextureTransform."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics.losses import SHAPE_LOOK
from bodymotion.formats.vrml.appearance import texture_matrix
from bodymotion.formats.vrml.nodes import Node, Value
from bodymotion.geometry.arrays import Floats

if TYPE_CHECKING:
    from bodymotion.diagnostics import Rule
    from bodymotion.geometry.shapes import Texture

__all__ = ["texture_nodes"]


def texture_nodes(texture: Texture, url: str, tell: Callable[[Rule, str], None]) -> dict[str, Value]:
    """Return the fields of an Appearance for a texture whose file has this url."""
    fields: dict[str, Value] = {"url": [url]}
    if not texture.repeat_s:
        fields["repeatS"] = False
    if not texture.repeat_t:
        fields["repeatT"] = False
    result: dict[str, Value] = {"texture": Node("ImageTexture", fields=fields)}
    if not np.array_equal(texture.transform, np.eye(3)):
        turned = Node("TextureTransform", fields=_transform_fields(texture.transform))
        if np.abs(texture_matrix(turned) - texture.transform).max() <= 1e-12 * max(
            1.0, np.abs(texture.transform).max()
        ):
            result["textureTransform"] = turned
        else:
            tell(SHAPE_LOOK, "a transform of texture coordinates that shears is left out")
    return result


def _transform_fields(matrix: Floats) -> dict[str, Value]:
    """Split a matrix (3, 3), −C · S · R · C · T, into scale, turn, and a centre that is moved to the origin."""
    (a, b), (c, d) = matrix[:2, :2].tolist()
    angle = math.atan2(-b, a) if a or b else math.atan2(c, d)
    sine, cosine = math.sin(angle), math.cos(angle)
    scale = np.array([a * cosine - b * sine, c * sine + d * cosine])
    fields: dict[str, Value] = {}
    if angle:
        fields["rotation"] = angle
    if (scale != 1.0).any():
        fields["scale"] = scale
    moved = matrix[:2, 2]
    if moved.any():
        # With T = −C the point that is turned and stretched is the origin, and −C is the translation after that.
        fields["center"], fields["translation"] = -moved, np.array(moved)
    return fields
