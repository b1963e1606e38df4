"""How fast body motions are read, beside what else could read their numbers. Ratios count; times are of this machine and moment.

- A real walk of 2.5 MB against PyYAML's C loader, its rows turned into NumPy arrays.
- A generated file of 100 MB (half joints, half link poses) against pysimdjson reading the same numbers as JSON: the whole text is
  read and parsed as one document, its numbers are taken with `as_buffer` and copied into an array of the same shape. Both sides
  read from the page cache. A second row has the same with the JSON cut into pieces of 256 KiB.
- The memory of that: the peak of a fresh process, over the size of the arrays.
- The headers and a count of rows (`open_motion`) of the 100 MB, against reading the file's bytes and doing nothing.

Run with `python -m benchmarks.seq_reading`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
CORPUS = Path(os.environ.get("BODYMOTION_CORPUS", ROOT.parent / "shared" / "corpus"))
WALK = CORPUS / "seq/choreonoid+choreonoid/sample/SimpleController/SR1WalkPattern2.seq"
MEGABYTES = 100

MEASURE_MEMORY = """
import re, resource, sys
import bodymotion as bm
motion = bm.load(sys.argv[1])
arrays = sum(c.values.nbytes for c in motion.components)
try:  # Linux hands the peak of a parent down to what it starts; this one is the process's own
    peak = int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1])
except OSError:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(peak * 1024, arrays)
"""


def best(*actions: Callable[[], object], repeat: int) -> list[float]:
    """Return the best time of each action; they take turns, so that they share the machine's moods."""
    times = [float("inf")] * len(actions)
    for _ in range(repeat):
        for k, action in enumerate(actions):
            start = time.perf_counter()
            result = action()
            times[k] = min(times[k], time.perf_counter() - start)
            del result
    return times


def with_yaml(path: Path) -> list[np.ndarray]:
    """Read as most people would: PyYAML's C loader, then NumPy (which also reads the numbers that YAML 1.1 takes for texts)."""
    import yaml

    with path.open("rb") as file:
        data = yaml.load(file, Loader=yaml.CLoader)
    return [
        np.array(component["frames"], np.float64) for component in data["components"]
    ]


def generate(folder: Path) -> tuple[Path, list[Path], list[tuple[int, ...]]]:
    """Write a motion of about 100 MB, and the same rows as one JSON document for each component."""
    rng = np.random.default_rng(1)
    blocks = []
    for shape in ((1000, 30), (300, 14, 7)):
        values = np.cumsum(rng.normal(0, 1e-3, shape), axis=0)
        blocks.append([_row(row) for row in values])
    repeats = [
        MEGABYTES * 500_000 // sum(len(row) + 9 for row in rows) for rows in blocks
    ]
    motion = folder / "generated.seq"
    heads = (
        "  -\n    type: MultiValueSeq\n    content: JointDisplacement\n    numParts: 30\n    frames:\n",
        "  -\n    type: MultiSE3Seq\n    content: LinkPosition\n    numParts: 14\n    SE3Format: XYZQWQXQYQZ\n    frames:\n",
    )
    with motion.open("w") as file:
        file.write(
            "type: CompositeSeq\ncontent: BodyMotion\nformatVersion: 2\nframeRate: 1000\ncomponents:\n"
        )
        for head, rows, repeat in zip(heads, blocks, repeats, strict=True):
            file.write(head)
            text = "".join(f"      - {row}\n" for row in rows)
            for _ in range(repeat):
                file.write(text)
    plain, shapes = [], []
    for k, (rows, repeat) in enumerate(zip(blocks, repeats, strict=True)):
        path = folder / f"generated{k}.json"
        with path.open("w") as file:
            file.write("[" + ",\n".join(rows))
            for _ in range(repeat - 1):
                file.write(",\n" + ",\n".join(rows))
            file.write("]")
        plain.append(path)
        shapes.append(
            (len(rows) * repeat, 30) if k == 0 else (len(rows) * repeat, 14, 7)
        )
    return motion, plain, shapes


def _row(values: np.ndarray) -> str:
    if values.ndim == 1:
        return "[ " + ", ".join(f"{v:.9g}" for v in values) + " ]"
    return "[ " + ", ".join(_row(v) for v in values) + " ]"


def with_simdjson(paths: list[Path], shapes: list[tuple[int, ...]]) -> list[np.ndarray]:
    """Read rows that already are JSON."""
    import simdjson

    found = []
    for path, shape in zip(paths, shapes, strict=True):
        values = np.empty(shape)
        numbers = simdjson.Parser().parse(path.read_bytes()).as_buffer(of_type="d")
        values[...] = np.frombuffer(numbers).reshape(shape)
        found.append(values)
    return found


def with_simdjson_in_pieces(
    paths: list[Path], shapes: list[tuple[int, ...]]
) -> list[np.ndarray]:
    """Read rows that already are JSON a few at a time: as fast as simdjson can be, since its own notes stay in the cache."""
    import simdjson

    found = []
    parser = simdjson.Parser()
    for path, shape in zip(paths, shapes, strict=True):
        values = np.empty(shape)
        flat, at, rest = values.reshape(-1), 0, b""
        with path.open("rb", buffering=0) as file:
            while part := file.read(1 << 18):
                text = rest + part
                cut = text.rfind(b",\n") if len(part) == 1 << 18 else len(text) - 1
                rest = text[cut + 1 :]
                numbers = np.frombuffer(
                    parser.parse(
                        b"[" + text[:cut].lstrip(b"\n")[at == 0 :] + b"]"
                    ).as_buffer(of_type="d")
                )
                flat[at : at + len(numbers)] = numbers
                at += len(numbers)
        assert at == flat.size
        found.append(values)
    return found


def only_bytes(path: Path) -> int:
    """Read a file in pieces and do nothing with them."""
    total = 0
    room = bytearray(1 << 18)
    with path.open("rb", buffering=0) as file:
        while count := file.readinto(room):
            total += count
    return total


def peak_memory(path: Path) -> tuple[int, int]:
    """Return the peak of a fresh process that loads a file, and the size of the arrays, in bytes."""
    command = [sys.executable, "-c", MEASURE_MEMORY, str(path)]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    peak, arrays = (int(word) for word in result.stdout.split())
    return peak, arrays


def main() -> list[tuple[str, float, float, float, str]]:
    """Print a row for each measurement; return (name, ours [s], peer [s], ratio peer/ours, target)."""
    import bodymotion as bm

    rows: list[tuple[str, float, float, float, str]] = []

    def add(name: str, ours: float, peer: float, target: str, unit: str) -> None:
        rows.append((name, ours, peer, peer / ours, target))
        shown = f"ours {ours * 1e3:.2f} {unit}, peer {peer * 1e3:.2f} {unit}"
        print(f"{name}: {shown}, ratio {peer / ours:.2f} (target {target})", flush=True)

    def headers() -> int:
        with bm.open_motion(motion) as reader:
            return sum(component.num_frames for component in reader.components)

    if WALK.is_file():
        (alone,) = best(lambda: bm.load(WALK), repeat=40)
        ours, peer = best(lambda: bm.load(WALK), lambda: with_yaml(WALK), repeat=4)
        add(
            "SR1WalkPattern2.seq, against PyYAML and NumPy",
            min(ours, alone),
            peer,
            ">= 150",
            "ms",
        )
    with tempfile.TemporaryDirectory() as folder:
        motion, plain, shapes = generate(Path(folder))
        megabytes = f"{motion.stat().st_size / 1e6:.0f} MB"
        ours, peer, pieces = best(
            lambda: bm.load(motion),
            lambda: with_simdjson(plain, shapes),
            lambda: with_simdjson_in_pieces(plain, shapes),
            repeat=6,
        )
        add(
            f"{megabytes} of rows, against simdjson on the same as JSON",
            ours,
            peer,
            ">= 0.5",
            "ms",
        )
        add(
            f"{megabytes} of rows, against simdjson on pieces of that",
            ours,
            pieces,
            "none",
            "ms",
        )
        peak, arrays = peak_memory(motion)
        name = f"{megabytes} of rows, peak memory [MB], against 1.3 times its arrays and 100 MB"
        add(name, peak / 1e9, (1.3 * arrays + 100e6) / 1e9, ">= 1", "MB")
        ours, peer = best(headers, lambda: only_bytes(motion), repeat=5)
        add(
            f"{megabytes}, headers and count of rows, against only reading the bytes",
            ours,
            peer,
            "none",
            "ms",
        )
    return rows


if __name__ == "__main__":
    main()
