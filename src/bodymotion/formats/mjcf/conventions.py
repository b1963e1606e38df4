"""What the reader and the writer agree on: how looks are said, and along which axis solids stand."""

from __future__ import annotations

import numpy as np

from bodymotion.geometry import poses
from bodymotion.geometry.shapes import Material

__all__ = ["CLASSES", "FROM_Y_TO_Z", "read_look"]

CLASSES = {
    "visual": {"group": "2", "contype": "0", "conaffinity": "0"},
    "collision": {"group": "3"},
    "seen_collision": {"group": "1"},
}
"""Classes of geoms: what is only seen, what only touches (MuJoCo does not show group 3), and what does both."""

FROM_Y_TO_Z = poses.from_parts(np.zeros(3), [np.sqrt(0.5), -np.sqrt(0.5), 0.0, 0.0])
"""The pose of a frame whose z is along y: cylinders and capsules stand along y here, along z there."""


def read_look(rgba: tuple[float, ...], specular: float, shininess: float, emission: float) -> Material:
    """Return the material that the numbers of an MJCF material mean."""
    red, green, blue, alpha = rgba
    return Material(
        diffuse=(red, green, blue),
        specular=(specular, specular, specular),
        emissive=(emission * red, emission * green, emission * blue),
        shininess=shininess,
        transparency=1.0 - alpha,
    )
