"""Read a file in VRML97 as a mesh file: its visible shapes."""

from pathlib import Path

from bodymotion.diagnostics import Diagnostics, FormatError
from bodymotion.formats.resources import ReferencedFiles
from bodymotion.formats.vrml.reader import parse_vrml
from bodymotion.formats.vrml.rules import DECIMAL_COMMA, SCENERY
from bodymotion.formats.vrml.shapes import NodeFrame, SceneWalker
from bodymotion.geometry.shapes import Shape


def read_shapes(path: Path, files: ReferencedFiles, remarks: list[str]) -> list[Shape]:
    """Return the visible shapes of a file; see `formats.meshes.reading.read_shapes`."""
    found = Diagnostics(path)
    walker = SceneWalker(found, files)
    try:
        scene = parse_vrml(path.read_bytes(), path)
        # No node is done by itself: the walk goes through all.
        walker.walk(scene.nodes, NodeFrame(), lambda node, frame: False)
    except FormatError as error:
        raise ValueError(error.problem.message) from error
    # A decimal comma changes a shape; the other problems of the text do not.
    commas = [one for one in scene.problems if one.rule == DECIMAL_COMMA.code]
    # A mesh file may hold lights and viewpoints: a model does not miss them.
    faults = [one for one in found.problems if one.rule != SCENERY.code]
    remarks += [problem.message for problem in (*commas, *faults)]
    return [drawn.shape for drawn in walker.drawn if drawn.visual]
