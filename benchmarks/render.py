"""Videos without a screen and a graphics card: our whole video against VTK alone.

What VTK alone does: the same robot on the same floor under the same sky and lights, each frame's poses set, `Render()`, and nothing
else: no shadow, no smooth edges, no texts, no picture read back, no file. Both in turns in one run, on the renderer that is there without a
graphics card (Mesa's llvmpipe).
"""

from __future__ import annotations

import statistics
import tempfile
import time
from fractions import Fraction
from pathlib import Path

SIZE = (1280, 720)
RATE = 30
SECONDS = 10.0
ROUNDS = 3
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def bare(scene) -> float:
    """Return the seconds that VTK alone needs for all frames."""
    import numpy as np

    from bodymotion.geometry import poses
    from bodymotion.rendering.playback import Playback
    from bodymotion.rendering.scene import Scene
    from bodymotion.scene.camera import PRESETS, fitted

    playback = Playback(scene)
    times = playback.first + np.arange(int(SECONDS * RATE)) / RATE
    moments = [playback.at(float(time)) for time in times]
    points = np.concatenate([playback.points(moment) for moment in moments[::10]])
    camera = fitted(points, PRESETS["corner"], SIZE)
    scene = Scene(playback, SIZE, camera=camera, area=points[:, :2], opacity=0.0)
    scene.pose(moments[:1])
    scene.draw(camera)
    matrices = [poses.to_matrix(moment) for moment in moments]
    start = time.perf_counter()
    for some in matrices:
        for matrix, values in zip(scene.robots[0].matrices, some, strict=True):
            matrix.DeepCopy(values.ravel())
        scene.window.Render()
    spent = time.perf_counter() - start
    scene.close()
    return spent


def whole(scene, path: Path) -> float:
    """Return the seconds that our video needs, from the loaded motion to the finished file."""
    from bodymotion.rendering.playback import Playback
    from bodymotion.rendering.settings import Settings
    from bodymotion.rendering.videos import Span, video

    playback = Playback(scene)
    span = Span(playback.first, playback.first + SECONDS - 0.5 / RATE, Fraction(RATE))
    start = time.perf_counter()
    video(playback, span, path, Settings(SIZE, overlay=("time",)))
    return time.perf_counter() - start


def compare(*files: Path) -> tuple[float, float]:
    """Return the median seconds of ours and of VTK alone, taken in turns."""
    from bodymotion.scene.loading import load_scene

    scene = load_scene(*files)
    ours, alone = [], []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "walk.mp4"
        whole(scene, path)
        for _ in range(ROUNDS):
            alone.append(bare(scene))
            ours.append(whole(scene, path))
    return statistics.median(ours), statistics.median(alone)


def main() -> list[tuple[str, float, float, float, str]]:
    """Print one row for each robot; return (name, ours [s], VTK alone [s], ratio ours/VTK, target)."""
    from benchmarks.samples import sample

    pairs = {
        "biped": (EXAMPLES / "biped.wrl", EXAMPLES / "biped_walk.seq"),
        "SR1": (
            sample("wrl/choreonoid+choreonoid/share/model/SR1/SR1.wrl"),
            sample(
                "seq/choreonoid+choreonoid/sample/SimpleController/SR1WalkPattern2.seq"
            ),
        ),
    }
    rows = []
    for name, files in pairs.items():
        ours, alone = compare(*files)
        frames = int(SECONDS * RATE)
        row = (
            f"video of {name}, {frames} frames of 1280×720, against VTK's Render()",
            ours,
            alone,
            ours / alone,
            "<= 3",
        )
        print(
            f"{row[0]}: ours {ours:.2f} s ({1e3 * ours / frames:.1f} ms a frame), VTK alone {alone:.2f} s "
            f"({1e3 * alone / frames:.1f} ms), ratio {row[3]:.2f} (target {row[4]})"
        )
        rows.append(row)
    return rows


if __name__ == "__main__":
    main()
