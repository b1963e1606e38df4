"""The language VRML97 alone, bytes to scene, without making meshes: against splitting into tokens, and against VTK's importer.

A robot and its parts, where nodes and small fields are most of the work, are compared with one pass of `re.findall` that only splits the
bytes into tokens. Parts that are mostly numbers are compared with VTK's importer, in a process of its own, which makes meshes as well.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.samples import sample
from bodymotion.formats.vrml import InlineLoader, Node, parse_vrml, read_vrml

ROBOTS = (
    "wrl/choreonoid+choreonoid/share/model/SR1/SR1.wrl",
    "wrl/fkanehiro+openhrp3/sample/model/PA10/pa10.main.wrl",
)
MESHES = (
    "wrl/choreonoid+choreonoid/share/model/RIC30/parts/R_ELBOW_P.wrl",
    "wrl/isri-aist+hrp4c_description/vrml/cover/NECK_P.wrl",
    "wrl/fkanehiro+openhrp3/sample/model/RH2/parts/body/body.wrl",
    "wrl/fkanehiro+openhrp3/sample/model/mockup/protection_newel.wrl",
)
ROUNDS = 15
TOKEN = re.compile(rb'#[^\r\n]*|"(?:[^"\\]|\\.)*"|[\[\]{}]|[^\s,#"\[\]{}]+')

VTK = """
import sys, time
from vtkmodules.vtkIOImport import vtkVRMLImporter
import vtkmodules.vtkRenderingOpenGL2
from vtkmodules.vtkRenderingCore import vtkRenderWindow

def seconds(path):
    importer = vtkVRMLImporter()
    importer.SetFileName(path)
    window = vtkRenderWindow()
    window.SetOffScreenRendering(1)
    importer.SetRenderWindow(window)
    start = time.perf_counter()
    importer.Update()
    return time.perf_counter() - start

print(min(seconds(sys.argv[1]) for _ in range(int(sys.argv[2]))))
"""


def best_seconds(work, rounds: int = ROUNDS) -> float:
    """Return the shortest time of a call: what the machine does besides only adds to it."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def vtk_seconds(path: Path) -> float:
    """Return the shortest time that VTK's importer takes to read a file, its start not counted."""
    command = [sys.executable, "-c", VTK, str(path), str(ROUNDS)]
    result = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=300
    )
    return float(result.stdout.splitlines()[-1])


def with_parts(path: Path) -> list[Path]:
    """Return a model's file and those of all its parts, each once."""
    loader = InlineLoader(path.parent)
    found = {path.resolve(): read_vrml(path)}
    todo: list[Node] = list(found[path.resolve()].nodes)
    seen: set[int] = set()
    while todo:
        node = todo.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if (
            node.type == "Inline"
            and (scene := loader.load(node)) is not None
            and scene.path not in found
        ):
            found[scene.path] = scene
            todo += scene.nodes
        for value in node.fields.values():
            todo += [
                item
                for item in (value if isinstance(value, list) else [value])
                if isinstance(item, Node)
            ]
    return list(found)


def main() -> list[tuple[str, float, float, float, str]]:
    """Print a row for the robot and each mesh; return (name, ours [s], peer [s], ratio peer/ours, target)."""
    rows = []
    for robot in ROBOTS:
        files = [(path, path.read_bytes()) for path in with_parts(sample(robot))]
        ours = best_seconds(
            lambda files=files: [parse_vrml(data, path) for path, data in files]
        )
        peer = best_seconds(
            lambda files=files: [TOKEN.findall(data) for _, data in files]
        )
        size = sum(len(data) for _, data in files)
        name = f"VRML97, {Path(robot).name} and its parts ({len(files)} files, {size / 1e3:.0f} kB), against splitting into tokens"
        rows.append((name, ours, peer, peer / ours, ">= 0.125 (1/8)"))
    for mesh in MESHES:
        path = sample(mesh)
        data = path.read_bytes()
        ours = best_seconds(lambda data=data, path=path: parse_vrml(data, path))
        peer = vtk_seconds(path)
        rows.append(
            (
                f"VRML97, {path.stem} ({len(data) / 1e3:.0f} kB), against VTK's importer",
                ours,
                peer,
                peer / ours,
                ">= 1",
            )
        )
    for name, ours, peer, ratio, target in rows:
        print(
            f"{name}: ours {ours * 1e3:.2f} ms, peer {peer * 1e3:.2f} ms, ratio {ratio:.2f} (target {target})"
        )
    return rows


if __name__ == "__main__":
    main()
