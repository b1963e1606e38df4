"""Writing models: a mesh as .wrl against VTK's VRML exporter, how the time grows with the mesh, and all sample models.

Both sides go from triangles in memory to a file, on one core; the best of several runs counts, by the time of the processor.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bodymotion.geometry.shapes import Mesh, Shape
from bodymotion.model.body import Body
from bodymotion.model.links import Joint, Link, Segment

REPEATS = 3
SIZES = (62_500, 125_000, 250_000, 500_000, 1_000_000)
AGAINST_VTK = 125_000


def surface(count: int) -> Mesh:
    """Return a wavy square of about so many triangles; its coordinates have all their digits."""
    side = int(np.sqrt(count / 2))
    x, y = np.meshgrid(np.linspace(0, 1, side + 1), np.linspace(0, 1, side + 1))
    vertices = np.stack([x, y, 0.1 * np.sin(7 * x) * np.cos(5 * y)], axis=-1).reshape(
        -1, 3
    )
    first = np.arange(side * (side + 1)).reshape(side, side + 1)[:, :-1].ravel()
    lower = np.stack([first, first + 1, first + side + 2], axis=1)
    upper = np.stack([first, first + side + 2, first + side + 1], axis=1)
    return Mesh(vertices, np.concatenate([lower, upper]))


def one_mesh(mesh: Mesh) -> Body:
    """Return a body of one link with a mesh."""
    shapes = (Shape(mesh),)
    segment = Segment(name="PART", mass=1.0, visuals=shapes, collisions=shapes)
    return Body(
        name="mesh",
        links=(Link(name="BASE", joint=Joint(name="BASE"), segments=(segment,)),),
    )


def best(run: Callable[[], object]) -> float:
    """Return the least processor time [s] of several runs."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def vtk_writer(mesh: Mesh, path: Path) -> Callable[[], object]:
    """Return a function that has VTK write a mesh; it draws nothing."""
    import vtkmodules.vtkRenderingOpenGL2  # noqa: F401
    from vtkmodules.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray
    from vtkmodules.vtkCommonCore import vtkObject, vtkPoints
    from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkPolyData
    from vtkmodules.vtkIOExport import vtkVRMLExporter
    from vtkmodules.vtkRenderingCore import (
        vtkActor,
        vtkPolyDataMapper,
        vtkRenderer,
        vtkRenderWindow,
    )

    vtkObject.GlobalWarningDisplayOff()
    points = vtkPoints()
    points.SetData(numpy_to_vtk(mesh.vertices, deep=True))
    cells = vtkCellArray()
    rows = np.insert(mesh.faces.astype(np.int64), 0, 3, axis=1)
    cells.ImportLegacyFormat(numpy_to_vtkIdTypeArray(rows.ravel(), deep=True))
    data = vtkPolyData()
    data.SetPoints(points)
    data.SetPolys(cells)
    mapper, actor, renderer, window = (
        vtkPolyDataMapper(),
        vtkActor(),
        vtkRenderer(),
        vtkRenderWindow(),
    )
    mapper.SetInputData(data)
    actor.SetMapper(mapper)
    renderer.AddActor(actor)
    window.SetOffScreenRendering(1)
    window.AddRenderer(renderer)

    def write() -> None:
        exporter = vtkVRMLExporter()
        exporter.SetRenderWindow(window)
        exporter.SetFileName(str(path))
        exporter.Write()

    return write


def main() -> list[tuple[str, float, float, float, str]]:
    """Print rows; return (name, ours [s], peer [s], peer/ours, target) for the mesh against VTK, and how doubling it adds up."""
    from bodymotion.formats.openhrp import read_openhrp
    from bodymotion.formats.openhrp.writer import write_openhrp

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.wrl"
        times = []
        for count in SIZES:
            body = one_mesh(surface(count))
            times.append(best(lambda body=body: write_openhrp(body, out)))
            print(
                f"writing {count} triangles, {out.stat().st_size / 1e6:.1f} MB: {times[-1] * 1e3:.0f} ms"
            )
        each = [seconds / count for seconds, count in zip(times, SIZES, strict=True)]
        name = (
            f"writing {SIZES[-1]} triangles, for each triangle, in times of {SIZES[2]}"
        )
        rows.append((name, each[-1] * 1e6, each[2] * 1e6, each[-1] / each[2], "<= 1.5"))
        mesh = surface(AGAINST_VTK)
        ours = best(lambda: write_openhrp(one_mesh(mesh), out))
        again = read_openhrp(out).require().links[0].visuals[0].geometry
        if not np.array_equal(again.vertices, mesh.vertices) or not np.array_equal(
            again.faces, mesh.faces
        ):
            raise SystemExit("the mesh is not read back to the bit")
        theirs = best(vtk_writer(mesh, Path(folder) / "vtk.wrl"))
        name = f"writing {AGAINST_VTK} triangles as .wrl, against VTK's exporter (6 digits)"
        rows.append((name, ours, theirs, theirs / ours, ">= 1"))
        _all_samples(out)
    for title, ours, peer, ratio, target in rows:
        print(
            f"{title}: ours {ours * 1e3:.2f} ms, peer {peer * 1e3:.2f} ms, ratio {ratio:.2f} (target {target})"
        )
    return rows


def _all_samples(out: Path) -> None:
    """Print how long all sample models take to be read and written."""
    from benchmarks.samples import CORPUS
    from bodymotion.diagnostics import FormatError
    from bodymotion.formats.openhrp import read_openhrp
    from bodymotion.formats.openhrp.writer import write_openhrp

    reading = writing = 0.0
    count = 0
    for path in sorted((CORPUS / "wrl").rglob("*.wrl")):
        start = time.process_time()
        try:
            body = read_openhrp(path, allow_outside=True).require()
        except FormatError:
            continue
        middle = time.process_time()
        write_openhrp(body, out)
        reading, writing, count = (
            reading + middle - start,
            writing + time.process_time() - middle,
            count + 1,
        )
    print(
        f"all {count} sample models: read in {reading:.2f} s, written in {writing:.2f} s"
    )


if __name__ == "__main__":
    main()
