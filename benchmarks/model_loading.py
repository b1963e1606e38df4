"""Loading models: mesh parts against VTK's VRML importer, a robot against one pass that only splits its bytes into tokens.

VTK reads in a process of its own: its importer ends the program on some files. It gets parts without prototypes only, which it does
not survive. Both sides read from the file to triangles in memory, on one core; the best of several runs counts, by the time of the
processor, so that a busy machine does not blur it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path

PARTS = (
    "choreonoid+choreonoid/share/model/RIC30/parts/R_ELBOW_P.wrl",
    "isri-aist+hrp4c_description/vrml/cover/NECK_P.wrl",
    "fkanehiro+openhrp3/sample/model/mockup/protection_newel.wrl",
    "fkanehiro+openhrp3/sample/model/RH2/parts/body/body.wrl",
)
ROBOT = "choreonoid+choreonoid/share/model/SR1/SR1.wrl"
REPEATS = 20

VTK = """
import json, sys, time
from vtkmodules.vtkCommonCore import vtkObject
from vtkmodules.vtkIOImport import vtkVRMLImporter
from vtkmodules.vtkRenderingCore import vtkRenderer, vtkRenderWindow
import vtkmodules.vtkRenderingOpenGL2
vtkObject.GlobalWarningDisplayOff()
times = []
for _ in range(int(sys.argv[2])):
    importer, window, renderer = vtkVRMLImporter(), vtkRenderWindow(), vtkRenderer()
    window.SetOffScreenRendering(1)
    window.AddRenderer(renderer)
    importer.SetRenderWindow(window)
    importer.SetFileName(sys.argv[1])
    start = time.process_time()
    importer.Update()
    times.append(time.process_time() - start)
actors = renderer.GetActors()
actors.InitTraversal()
faces = 0
for _ in range(actors.GetNumberOfItems()):
    mapper = actors.GetNextActor().GetMapper()
    mapper.Update()
    faces += mapper.GetInput().GetNumberOfPolys()
print(json.dumps({"seconds": min(times), "faces": faces}))
"""


def best(function, repeats: int = REPEATS) -> float:
    """Return the shortest time [s] of several runs."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def vtk_reads(path: Path) -> dict | None:
    """Return seconds and faces of VTK's importer, None where it breaks down."""
    run = subprocess.run(
        [sys.executable, "-c", VTK, str(path), str(REPEATS)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    lines = [line for line in run.stdout.splitlines() if line.startswith("{")]
    return json.loads(lines[-1]) if run.returncode == 0 and lines else None


def main() -> list[tuple[str, float, float, float, str]]:
    """Print rows; return (name, ours [s], peer [s], ratio, target) for each: peer/ours for parts, ours/peer for the robot."""
    from benchmarks.samples import sample
    from bodymotion.formats.openhrp import read_openhrp

    rows = []
    for name in PARTS:
        path = sample(f"wrl/{name}")
        theirs = vtk_reads(path)
        if theirs is None:
            print(f"{path.name}: VTK does not read it", file=sys.stderr)
            continue
        faces = sum(
            len(shape.to_mesh().faces)
            for shape in read_openhrp(path).require().links[0].visuals
        )
        if faces < theirs["faces"]:
            raise SystemExit(
                f"{path.name}: {faces} triangles here, {theirs['faces']} polygons in VTK"
            )
        ours = best(lambda path=path: read_openhrp(path).require())
        title = f"loading {path.name}, {path.stat().st_size // 1000} kB, against VTK's VRML importer"
        rows.append((title, ours, theirs["seconds"], theirs["seconds"] / ours, ">= 1"))
    path = sample(f"wrl/{ROBOT}")
    data = path.read_bytes()
    tokens, ours = float("inf"), float("inf")
    for _ in range(5 * REPEATS):
        # In turns, so that a busy moment hits both.
        tokens = min(tokens, best(lambda: re.findall(rb"[^\s,]+", data), 1))
        ours = min(ours, best(lambda: read_openhrp(path).require(), 1))
    rows.append(
        (
            f"loading {path.name}, in times of splitting its bytes into tokens",
            ours,
            tokens,
            ours / tokens,
            "<= 20",
        )
    )
    for title, ours, peer, ratio, target in rows:
        print(
            f"{title}: ours {ours * 1e3:.2f} ms, peer {peer * 1e3:.2f} ms, ratio {ratio:.2f} (target {target})"
        )
    return rows


if __name__ == "__main__":
    main()
