"""Converting models: all jointed samples to URDF and MJCF and back, our reader of URDF against yourdfpy's, and a mesh as it grows.

Times are of the processor, on one core; the best of several runs counts. yourdfpy reads a robot without its meshes, since it leaves those
to trimesh; so do we in that row, from a file without any.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

REPEATS = 3
TARGETS = {".urdf": {}, ".xml": {}}
"""Extensions, and the options with which every sample can be written."""
ROBOT = "choreonoid+choreonoid/share/model/SR1/SR1.wrl"
SIZES = (250_000, 500_000, 1_000_000)


def best(run: Callable[[], object], repeats: int = REPEATS) -> float:
    """Return the least processor time [s] of several runs."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def jointed_samples() -> Iterator[Path]:
    """Return the sample robots of which the reference program has posed the links."""
    import json

    from benchmarks.samples import CORPUS, sample

    sample("INDEX.csv")
    for answer in sorted((CORPUS / "golden").glob("wrl__*.json")):
        known = json.loads(answer.read_text(encoding="utf-8"))
        if "fk" in known:
            yield CORPUS / known["file"]


def conversions(folder: Path) -> list[tuple[str, float, float, float, str]]:
    """Write all jointed samples and read them back, beside the time of loading them: (name, ours, loading, ratio, target)."""
    import bodymotion as bm

    robots = [(path.stem, path, bm.load(path)) for path in jointed_samples()]
    loading = sum(best(lambda path=path: bm.load(path)) for _, path, _ in robots)
    rows = []
    for suffix, options in TARGETS.items():
        written, read = [], []
        for number, (stem, _, body) in enumerate(robots):
            place = folder / f"{number}" / f"{stem}{suffix}"
            place.parent.mkdir(exist_ok=True)
            written.append(
                best(
                    lambda body=body, place=place, options=options: bm.save(
                        body, place, **options
                    )
                )
            )
            read.append(best(lambda place=place: bm.load(place)))
        for what, times in (
            (f"writing {len(robots)} robots as {suffix}", written),
            (f"reading them from {suffix}", read),
        ):
            slowest = robots[times.index(max(times))][0]
            print(
                f"{what}: {sum(times):.2f} s, the slowest {slowest} {max(times):.2f} s; loading the .wrl {loading:.2f} s"
            )
            rows.append(
                (
                    f"{what}, in times of loading the .wrl",
                    sum(times),
                    loading,
                    sum(times) / loading,
                    "<= 5",
                )
            )
    return rows


def against_yourdfpy(folder: Path) -> tuple[str, float, float, float, str]:
    """Read one robot without meshes, side by side with yourdfpy."""
    from yourdfpy import URDF

    import bodymotion as bm
    from benchmarks.samples import sample
    from bodymotion.formats.urdf import read_urdf

    path = folder / "robot.urdf"
    bm.save(bm.load(sample(f"wrl/{ROBOT}")), path, extension=False)
    ours = best(lambda: read_urdf(path).require(), 20)
    theirs = best(
        lambda: URDF.load(str(path), load_meshes=False, build_scene_graph=True), 20
    )
    return (
        "SR1.urdf into a Body, against yourdfpy without meshes",
        ours,
        theirs,
        theirs / ours,
        ">= 1",
    )


def growing(folder: Path) -> list[tuple[str, float, float, float, str]]:
    """Write and read meshes of twice as many triangles each: twice the time, not four times."""
    import bodymotion as bm
    from benchmarks.model_writing import one_mesh, surface

    rows = []
    written, read = [], []
    for size in SIZES:
        body, path = one_mesh(surface(size)), folder / f"mesh_{size}.urdf"
        written.append(best(lambda body=body, path=path: bm.save(body, path), 2))
        read.append(best(lambda path=path: bm.load(path), 2))
    for what, times in (("writing", written), ("reading", read)):
        steps = ", ".join(
            f"{size:,} triangles {seconds:.2f} s"
            for size, seconds in zip(SIZES, times, strict=True)
        )
        print(f"{what} URDF with an OBJ mesh: {steps}")
        name = f"{what} URDF with a mesh of {SIZES[-1]:,} triangles, against half of it"
        rows.append((name, times[-1], times[-2], times[-1] / times[-2], "<= 3"))
    return rows


def main() -> list[tuple[str, float, float, float, str]]:
    """Print rows; return (name, ours [s], peer [s], ratio, target) for each."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return [*conversions(folder), against_yourdfpy(folder), *growing(folder)]


if __name__ == "__main__":
    for row in main():
        print(row)
