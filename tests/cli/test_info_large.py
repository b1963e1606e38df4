"""`bodymotion info` on motions that are not loaded: the same answers, from headers and a count of rows, in little memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import bodymotion as bm
from bodymotion.cli.info import LARGE
from bodymotion.cli.info_data import describe_motion, describe_open_motion

HEAD = """\
type: CompositeSeq
content: BodyMotion
formatVersion: 2
frameRate: 100
components:
  -
    type: MultiValueSeq
    content: JointDisplacement
    numParts: 4
    frames:
"""
ROWS_OF_A_MEGABYTE = 1 << 15


def write_large(path: Path, megabytes: int) -> int:
    """Write rows of four numbers, the first counting megabytes; give how many rows there are."""
    with path.open("w") as file:
        file.write(HEAD)
        for megabyte in range(megabytes):
            file.write(
                f"      - [{megabyte:5d}, 0.125, -2.5, 1]\n" * ROWS_OF_A_MEGABYTE
            )
    return megabytes * ROWS_OF_A_MEGABYTE


def both(path: Path, parts: bool):
    with bm.open_motion(path) as reader:
        streamed, problems = describe_open_motion(reader, path, parts)
    loaded = bm.load(path)
    assert list(problems) == list(loaded.problems)
    return streamed, describe_motion(loaded, path, parts)


def test_examples_in_pieces(examples, monkeypatch):
    monkeypatch.setattr("bodymotion.cli.info_data.CHUNK", 17)
    for path in examples.glob("*.seq"):
        streamed, loaded = both(path, True)
        assert streamed == loaded


def test_samples_in_pieces(corpus, monkeypatch):
    monkeypatch.setattr("bodymotion.cli.info_data.CHUNK", 17)
    for path in sorted((corpus / "seq" / "made").glob("*.seq")):
        streamed, loaded = both(path, True)
        assert streamed == loaded, path.name


def test_headers_alone(examples):
    for path in examples.glob("*.seq"):
        streamed, loaded = both(path, False)
        for component in loaded["components"]:
            if not component["has_frame_time"]:
                component["range"] = None
        assert streamed == {**loaded, "root_displacement": None}


def test_time_stamps_are_read(tmp_path):
    path = tmp_path / "stamped.seq"
    path.write_text(
        HEAD.replace("numParts: 4", "numParts: 1\n    hasFrameTime: true")
        + "      - [0.5, 1]\n      - [2.0, .nan]\n"
    )
    streamed, loaded = both(path, False)
    assert streamed == loaded
    assert streamed["components"][0]["duration"] == 1.5
    assert streamed["components"][0]["range"]["non_finite"] == 1


@pytest.mark.slow
def test_memory_is_bounded(tmp_path):
    """A file of 160 MB takes hardly more memory than a small one, without its values and with them."""
    small, large = tmp_path / "small.seq", tmp_path / "large.seq"
    write_large(small, 1)
    rows = write_large(large, 160)
    assert large.stat().st_size > LARGE
    code = "import resource, sys; from bodymotion.cli import main\ntry: main()\nexcept SystemExit as end: code = end.code\n"
    code += "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr); sys.exit(code)"

    def run(*arguments: object) -> tuple[dict, int]:
        command = [sys.executable, "-c", code, "info", "--json", *map(str, arguments)]
        result = subprocess.run(command, capture_output=True, text=True, check=True)
        return json.loads(result.stdout), int(result.stderr.split()[-1])

    _, base = run(small)
    headers, peak = run(large)
    (component,) = headers["components"]
    assert (component["num_frames"], component["num_parts"], component["range"]) == (
        rows,
        4,
        None,
    )
    assert component["duration"] == (rows - 1) / 100
    assert peak < base + 60_000
    whole, peak = run("--values", large)
    assert [(p["lower"], p["upper"]) for p in whole["components"][0]["parts"]] == [
        (0, 159),
        (0.125, 0.125),
        (-2.5, -2.5),
        (1, 1),
    ]
    assert peak < base + 60_000
