"""All sample models and parts are read, or refused at the right place; and VTK's importer finds the same meshes in them."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest

from bodymotion.diagnostics import FormatError
from bodymotion.formats.sniffing import looks_like_vrml
from bodymotion.formats.vrml import Node, Scene, instance_of, parse_vrml, read_vrml
from sample_files import CORPUS, corpus_files, missing, sampled
from waiting import TIMEOUT

REFUSED = {
    "wrl/choreonoid+choreonoid/share/model/GR001/GR001_collision.wrl": "203:3",
    "wrl/fkanehiro+simtrans/vrml.wrl": "95:5",
    "wrl/fkanehiro+simtrans/simtrans/template/vrml.wrl": "125:1",
    "wrl/fkanehiro+simtrans/simtrans/template/vrml-mesh.wrl": "3:1",
}
"""A bracket too many, and templates of a program that writes VRML: with the place of what does not belong there."""


def all_nodes(scene: Scene, expanded: bool = False) -> list[Node]:
    """Return the nodes of a scene, each once; those that instances stand for as well, if wanted."""
    todo, seen, found = list(scene.nodes), set(), []
    while todo:
        node = todo.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        found.append(node)
        meant = instance_of(node) if expanded else None
        for value in [
            *node.fields.values(),
            *(meant.fields.values() if meant is not None else ()),
        ]:
            todo += [
                item
                for item in (value if isinstance(value, list) else [value])
                if isinstance(item, Node)
            ]
    return found


def test_every_model_and_part_is_read_or_refused_in_words(corpus):
    refused = {}
    samples = sampled(sorted(corpus.rglob("*.wrl")))
    for path in samples:
        data = path.read_bytes()
        assert looks_like_vrml(data[:65536]), path
        name = path.relative_to(corpus).as_posix()
        try:
            scene = parse_vrml(data, path)
        except FormatError as error:
            location = error.problem.location
            assert location.path == str(path)
            refused[name] = f"{location.line}:{location.column}"
            continue
        unknown = [
            problem
            for problem in scene.problems
            if problem.rule in ("VRML112", "VRML113", "VRML116", "VRML120")
        ]
        assert unknown == [], name
        assert all(
            instance_of(node) is not None or not node.proto.body
            for node in all_nodes(scene, True)
        ), name
    names = {path.relative_to(corpus).as_posix() for path in samples}
    assert refused == {
        name: location for name, location in REFUSED.items() if name in names
    }


def test_no_other_sample_is_taken_for_vrml(corpus):
    for path in sampled(sorted(corpus.rglob("*"))):
        if path.is_file() and path.suffix != ".wrl":
            with path.open("rb") as file:
                assert not looks_like_vrml(file.read(65536)), path


def test_encodings_of_the_samples(corpus):
    """What Python's own decoders say about the bytes."""
    for path in sampled(sorted(corpus.rglob("*.wrl"))):
        data = path.read_bytes()
        if path.relative_to(corpus).as_posix() in REFUSED:
            continue
        encoding = parse_vrml(data, path).encoding
        assert encoding == ("ascii" if max(data) < 128 else encoding)
        if encoding == "cp932":
            with pytest.raises(UnicodeDecodeError):
                data.decode("utf-8")
        data.decode(encoding)


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
found = {}
for i in range(actors.GetNumberOfItems()):
    mapper = actors.GetNextActor().GetMapper()
    mapper.Update()
    mesh = mapper.GetInput()
    if mesh.GetNumberOfPolys():
        polys = mesh.GetPolys()
        points = vtk_to_numpy(mesh.GetPoints().GetData())
        found[f"corners{i}"] = points[vtk_to_numpy(polys.GetConnectivityArray())]
        found[f"sizes{i}"] = np.diff(vtk_to_numpy(polys.GetOffsetsArray()))
np.savez(sys.argv[2], **found)
"""


def face_sets(path) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return places of corners and numbers of corners of all faces, for each indexed face set as often as it is used."""
    found = []

    def walk(node: Node) -> None:
        if node.type == "IndexedFaceSet":
            points, index = (
                node.fields["coord"].fields["point"],
                node.fields["coordIndex"],
            )
            sizes = (
                np.diff(
                    np.concatenate([[-1], np.flatnonzero(np.append(index, -1) == -1)])
                )
                - 1
            )
            found.append((points[index[index >= 0]], sizes[sizes > 0]))
        for value in node.fields.values():
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, Node):
                    walk(item)

    for node in read_vrml(path).nodes:
        walk(node)
    return found


PEERS = [
    "wrl/isri-aist+hrp4c_description/vrml/cover/NECK_P.wrl",
    "wrl/choreonoid+choreonoid/share/model/RIC30/parts/R_ELBOW_P.wrl",
    "wrl/choreonoid+choreonoid/share/model/JACO2/parts/wrist1.wrl",
    "wrl/fkanehiro+openhrp3/sample/model/mockup/protection_newel.wrl",
]


@pytest.mark.parametrize("name", PEERS)
def test_vtk_reads_the_same_faces(corpus, tmp_path, name):
    """To single precision, which is all that VTK keeps. It runs in a process of its own: some files crash it."""
    out = tmp_path / "faces.npz"
    command = [sys.executable, "-c", VTK, str(corpus / name), str(out)]
    result = subprocess.run(
        command, capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    if "ModuleNotFoundError" in result.stderr:
        missing("VTK")
    assert result.returncode == 0, result.stderr[-2000:]
    with np.load(out) as loaded:
        theirs = [
            (loaded[key], loaded[key.replace("corners", "sizes")])
            for key in loaded.files
            if key.startswith("corners")
        ]
    ours = face_sets(corpus / name)
    assert ours
    for corners, sizes in ours:
        # Theirs have the primitives as well, as meshes.
        same_sizes = [
            found for found, found_sizes in theirs if np.array_equal(sizes, found_sizes)
        ]
        assert any(
            np.array_equal(corners.astype(np.float32), found) for found in same_sizes
        )


@pytest.mark.parametrize(
    "path",
    sampled(corpus_files("wrl/**/parts/*.wrl")[:20], 4),
    ids=lambda path: path.relative_to(CORPUS).as_posix(),
)
def test_numbers_are_those_that_float_reads(path):
    """All numbers of the file, found by a pattern that knows nothing of the grammar, against those in the scene."""
    text = re.sub(
        r'"[^"]*"|#[^\r\n]*', " ", path.read_text(encoding="utf-8", errors="replace")
    )
    words = re.findall(
        r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])", text
    )
    theirs = sorted(float(word) for word in words)
    ours: list[float] = []
    for node in all_nodes(read_vrml(path)):
        for value in node.fields.values():
            if isinstance(value, (np.ndarray, int, float)) and not isinstance(
                value, bool
            ):
                ours += np.asarray(value, dtype=float).ravel().tolist()
    assert sorted(ours) == theirs
