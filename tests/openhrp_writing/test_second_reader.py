"""VTK's importer reads what is written: the same triangles, in the same places.

It knows no prototypes, and ends the program on some files. So it gets a copy in which every instance is replaced by what its prototype,
as the file declares it, says that it is; and it runs in a process of its own.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from bodymotion.formats.openhrp import read_openhrp
from bodymotion.formats.openhrp.writer import write_openhrp
from bodymotion.formats.vrml import Node, Scene, expand, read_vrml
from bodymotion.formats.vrml.writer import scene_pieces
from bodymotion.geometry import poses
from bodymotion.geometry.meshes import used_vertices
from bodymotion.geometry.shapes import Box, Mesh
from sample_files import missing
from waiting import TIMEOUT

VTK = """
import sys
import numpy as np
from vtkmodules.vtkIOImport import vtkVRMLImporter
import vtkmodules.vtkRenderingOpenGL2
from vtkmodules.vtkRenderingCore import vtkRenderWindow
from vtkmodules.util.numpy_support import vtk_to_numpy
importer = vtkVRMLImporter()
importer.SetFileName(sys.argv[1])
window = vtkRenderWindow()
window.SetOffScreenRendering(1)
importer.SetRenderWindow(window)
importer.Update()
actors = importer.GetRenderer().GetActors()
actors.InitTraversal()
found = []
for i in range(actors.GetNumberOfItems()):
    actor = actors.GetNextActor()
    mapper = actor.GetMapper()
    mapper.Update()
    mesh = mapper.GetInput()
    polys = mesh.GetPolys()
    if polys.GetNumberOfCells():
        corners = vtk_to_numpy(mesh.GetPoints().GetData())[vtk_to_numpy(polys.GetConnectivityArray())]
        sizes = np.diff(vtk_to_numpy(polys.GetOffsetsArray()))
        matrix = np.array([[actor.GetMatrix().GetElement(r, c) for c in range(4)] for r in range(4)])
        placed = corners @ matrix[:3, :3].T + matrix[:3, 3]
        found.append([(sizes - 2).sum(), *placed.min(axis=0), *placed.max(axis=0)])
np.save(sys.argv[2], np.array(found))
"""


def plain(node: Node) -> Node | None:
    """Return a copy of a node with all instances of prototypes in it replaced by what they stand for.

    Nothing in it is shared: of a geometry that is used again VTK makes no mesh.
    """
    actual: Node | None = node
    while actual is not None and actual.proto is not None:
        actual = next(iter(expand(actual)), None)
    if actual is None:
        return None
    fields = {}
    for name, value in actual.fields.items():
        if isinstance(value, Node):
            fields[name] = plain(value)
        elif isinstance(value, list) and value and isinstance(value[0], Node):
            fields[name] = [
                found for item in value if (found := plain(item)) is not None
            ]
        elif not name.startswith(("bbox", "addCh", "removeCh")):
            fields[name] = value
    return replace(actual, name="", fields=fields)


def shapes_in(nodes: list[Node], around: tuple[Node, ...] = ()) -> list[Node]:
    """Return each Shape by itself, under copies of the Transforms that it stands in."""
    found: list[Node] = []
    for node in nodes:
        if node.type == "Shape":
            for outer in reversed(around):
                node = replace(outer, fields={**outer.fields, "children": [node]})
            found.append(node)
        else:
            inside = (*around, node) if node.type == "Transform" else around
            found += shapes_in(node.fields.get("children", []), inside)
    return found


def faces_of(node: Node) -> int:
    while node.type != "Shape":
        (node,) = node.fields["children"]
    index = node.fields["geometry"].fields.get("coordIndex")
    return 0 if index is None else np.count_nonzero(index == -1)


def read_by_vtk(path, folder) -> np.ndarray:
    """Return for each mesh (N, 7) the number of triangles, lowest and highest corner."""
    scene = read_vrml(path)
    shapes = shapes_in(
        [found for node in scene.nodes if (found := plain(node)) is not None]
    )
    # The largest first: of a mesh with more faces than all before it VTK 9.7 drops some.
    shapes.sort(key=faces_of, reverse=True)
    copy, out = folder / "plain.wrl", folder / "found.npy"
    copy.write_bytes(b"".join(scene_pieces(Scene(nodes=shapes))))
    assert b"PROTO" not in copy.read_bytes()
    command = [sys.executable, "-c", VTK, str(copy), str(out)]
    result = subprocess.run(
        command, capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    if "ModuleNotFoundError" in result.stderr:
        missing("VTK")
    assert result.returncode == 0, result.stderr[-2000:]
    return np.load(out)


MODELS = (
    "choreonoid+choreonoid/share/model/SR1/SR1.wrl",
    "choreonoid+choreonoid/share/model/RIC30/RIC30.wrl",
    "choreonoid+choreonoid/share/model/PA10/PA10.wrl",
    "choreonoid+choreonoid/share/model/GR001/GR001.wrl",
    "choreonoid+choreonoid/share/model/misc/ClosedLinkSample.wrl",
)


def compared(body, folder):
    """Compare what VTK reads of a written body with the body's own shapes, at zero joint values."""
    target = folder / "model.wrl"
    write_openhrp(body, target)
    theirs = read_by_vtk(target, folder)
    stands = body.forward_kinematics(np.zeros(body.num_joints))
    ours, exact, meshes = [], [], []
    for link, pose in zip(body.links, stands, strict=True):
        for shape in link.visuals:
            if not isinstance(shape.geometry, Mesh) and len(shape.to_mesh().faces) == 0:
                continue
            mesh = shape.moved(poses.to_matrix(pose)).to_mesh()
            points = used_vertices(mesh)
            ours.append([len(mesh.faces), *points.min(axis=0), *points.max(axis=0)])
            exact.append(isinstance(shape.geometry, (Mesh, Box)))
            meshes.append(isinstance(shape.geometry, Mesh))
    order = np.argsort(
        [-row[0] if mesh else 0 for row, mesh in zip(ours, meshes, strict=True)],
        kind="stable",
    )
    ours, exact, meshes = (
        np.array(ours)[order],
        np.array(exact)[order],
        np.array(meshes)[order],
    )
    assert len(theirs) == len(ours)
    size = np.linalg.norm(ours[:, 4:] - ours[:, 1:4], axis=1, keepdims=True)
    apart = np.abs(theirs[:, 1:] - ours[:, 1:])
    # Single precision; the round of other solids is cut into other numbers of faces.
    assert (apart[exact] <= 1e-5 * (1 + size[exact])).all()
    assert (apart[~exact] <= 0.2 * size[~exact]).all()
    assert np.array_equal(theirs[exact, 0], ours[exact, 0])
    return len(ours)


@pytest.mark.parametrize("name", MODELS)
def test_samples(corpus, tmp_path, name):
    path = corpus / "wrl" / name
    assert compared(read_openhrp(path, allow_outside=True).require(), tmp_path) >= 1


def test_the_example(examples, tmp_path):
    assert compared(read_openhrp(examples / "biped.wrl").require(), tmp_path) >= 20
