"""Models written in the tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bodymotion.formats.openhrp import read_openhrp
from bodymotion.geometry.shapes import Mesh, Shape
from bodymotion.model.body import Body

HEADER = "#VRML V2.0 utf8\n"


def read(folder: Path, text: str, name: str = "model.wrl") -> Body:
    """Read a model from its text."""
    path = folder / name
    path.write_text(text if text.startswith("#") else HEADER + text, encoding="utf-8")
    return read_openhrp(path).require()


def shapes(folder: Path, text: str) -> tuple[Shape, ...]:
    """Return what a scene without Humanoid shows."""
    return read(folder, text).links[0].visuals


def mesh(folder: Path, text: str) -> Mesh:
    """Return the only shape of a scene as a mesh."""
    (shape,) = shapes(folder, text)
    return shape.to_mesh()


def volume(shape: Mesh) -> float:
    """Return the volume of a closed mesh whose faces look outwards (Gauss)."""
    corner = shape.vertices[shape.faces]
    return float(
        np.einsum("ij,ij->i", corner[:, 0], np.cross(corner[:, 1], corner[:, 2])).sum()
        / 6
    )


def rules(body: Body) -> list[str]:
    """Return the codes of a body's problems."""
    return [problem.rule for problem in body.problems]
