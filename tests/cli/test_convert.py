"""`bodymotion convert`: formats, losses and exit codes, large files in little memory."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import bodymotion as bm
from bodymotion.cli.app import app
from bodymotion.motion import Motion, MultiSE3Seq, MultiValueSeq, OtherSeq, Vector3Seq
from bodymotion.motion.components import Timeline
from waiting import TIMEOUT

run = CliRunner()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def invoke(*arguments: object, code: int = 0):
    strict = ["--strict-losses"] if code == 3 else []
    result = run.invoke(app, [*map(str, arguments), *strict])
    assert result.exit_code == code, (result.output, result.stderr, result.exception)
    return result


@pytest.fixture
def walk(tmp_path):
    rng = np.random.default_rng(2)
    timeline = Timeline.uniform(300, 200)
    root = np.tile([0.0, 0, 0.7, 1, 0, 0, 0], (300, 1, 1))
    root[:, 0, 0] = np.linspace(0, 1, 300)
    motion = Motion(
        (
            MultiSE3Seq(content="LinkPosition", timeline=timeline, values=root),
            MultiValueSeq(
                content="JointDisplacement",
                timeline=timeline,
                values=rng.normal(size=(300, 3)),
                part_labels=("a", "b", "c"),
                extra={"my key": [1, "x"]},
            ),
            Vector3Seq(
                content="ZMP",
                timeline=timeline,
                values=rng.normal(size=(300, 3)),
                is_root_relative=True,
            ),
            OtherSeq(
                type="Mood", content="face", extra={"frames": [["happy"], ["sad"]]}
            ),
        ),
        extra={"maker": "me"},
    )
    bm.save(motion, tmp_path / "walk.seq")
    return tmp_path / "walk.seq"


@pytest.mark.parametrize("version", "1234")
@pytest.mark.parametrize("name", ["out.seq", "out.json"])
def test_a_copy_is_what_a_save_is(walk, tmp_path, version, name):
    """Piece by piece from file to file, or through memory: the same bytes."""
    invoke("convert", walk, tmp_path / name, "--seq-version", version)
    bm.save(bm.load(walk), tmp_path / f"saved_{name}", version=version)
    assert (tmp_path / name).read_bytes() == (tmp_path / f"saved_{name}").read_bytes()
    assert bm.load(tmp_path / name) == bm.load(walk)
    if name.endswith("json"):
        json.loads((tmp_path / name).read_text())


def test_in_place(walk):
    before = bm.load(walk)
    invoke(
        "convert",
        walk,
        walk,
        "--seq-version",
        1,
        "--style",
        "json",
        "--se3-format",
        "XYZQXQYQZQW",
    )
    after = bm.load(walk)
    assert after == before
    assert after.source.version == "1"
    assert names(walk.parent) == ["walk.seq"]


def test_stamps(walk, tmp_path):
    out = tmp_path / "out.seq"
    invoke("convert", walk, out, "--frame-time")
    assert bm.load(out).joint_displacement.timeline == Timeline.stamped(
        np.arange(300) / 200, 200
    )
    invoke("convert", out, tmp_path / "back.seq", "--no-frame-time")
    assert bm.load(tmp_path / "back.seq") == bm.load(walk)
    result = invoke("convert", walk, out, "--seq-version", 1, "--frame-time", code=1)
    assert "version 1" in result.stderr


def test_losses_end_with_3(walk, tmp_path):
    result = invoke("convert", walk, tmp_path / "out.csv", code=3)
    assert "LOSS007" in result.stderr
    assert "Mood" in result.stderr
    motion = bm.load(tmp_path / "out.csv")
    assert motion.joint_displacement.part_labels == ("a", "b", "c")
    invoke("convert", tmp_path / "out.csv", tmp_path / "back.seq")
    assert bm.load(tmp_path / "back.seq").components == motion.components
    stamped = Motion(
        (
            MultiValueSeq(
                content="JointDisplacement",
                timeline=Timeline.stamped([0, 0.25], 10),
                values=[[1.0], [2.0]],
            ),
        )
    )
    bm.save(stamped, tmp_path / "log.seq")
    assert (
        "LOSS001"
        in invoke(
            "convert",
            tmp_path / "log.seq",
            tmp_path / "old.seq",
            "--seq-version",
            1,
            code=3,
        ).stderr
    )
    invoke(
        "convert",
        tmp_path / "log.seq",
        tmp_path / "old.seq",
        "--seq-version",
        1,
        "--rate",
        4,
    )
    assert bm.load(tmp_path / "old.seq").joint_displacement.values.tolist() == [
        [1],
        [2],
    ]


def test_tables(walk, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("90,0\n180,10\n")
    assert "--layout" in invoke("convert", table, tmp_path / "a.seq", code=1).stderr
    invoke(
        "convert",
        table,
        tmp_path / "a.seq",
        "--columns",
        "KNEE,HIP",
        "--input-rate",
        50,
        "--degrees",
    )
    motion = bm.load(tmp_path / "a.seq")
    assert np.allclose(
        motion.joint_displacement.values, np.radians([[90, 0], [180, 10]])
    )
    assert motion.frame_rate == 50
    invoke("convert", walk, tmp_path / "dance.csv", "--layout", "unitree", code=3)
    invoke(
        "convert",
        tmp_path / "dance.csv",
        tmp_path / "dance.seq",
        "--layout",
        "unitree",
        "--input-rate",
        200,
    )
    assert bm.load(tmp_path / "dance.seq").link_position == bm.load(walk).link_position
    invoke("convert", walk, tmp_path / "a.npz", code=3)
    invoke("convert", walk, tmp_path / "a.pos", code=3)
    assert bm.load(tmp_path / "a.waist").num_frames == 300
    invoke("convert", tmp_path / "a.npz", tmp_path / "b.dat", "--to", "seq")
    invoke("convert", tmp_path / "b.dat", tmp_path / "c.csv", "--from", "seq", code=0)


@pytest.mark.parametrize(
    "arguments",
    [
        ("walk.seq", "out.seq", "--seq-version", "5"),
        ("walk.seq", "out.csv", "--style", "json"),
        ("walk.seq", "out.seq", "--degrees"),
        ("walk.seq", "out.seq", "--columns", "a,b"),
        ("walk.seq", "out.seq", "--method", "linear"),
        ("walk.seq", "out.seq", "--to", "nothing"),
        ("walk.seq", "out.seq", "--digits", "0"),
        ("walk.seq", "out.seq", "--body", "walk.seq"),
        ("walk.seq",),
    ],
)
def test_wrong_use(walk, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    invoke("convert", *arguments, code=2)
    assert names(tmp_path) == ["walk.seq"]


def test_faults(walk, tmp_path):
    assert "FMT003" in invoke("convert", walk, tmp_path / "out.xyz", code=1).stderr
    assert (
        "FMT002"
        in invoke(
            "convert", tmp_path / "missing.seq", tmp_path / "out.seq", code=1
        ).stderr
    )
    assert (
        "missing"
        in invoke("convert", walk, tmp_path / "missing" / "out.seq", code=1).stderr
    )
    (tmp_path / "broken.seq").write_text(
        walk.read_text().replace("- [", "- [ 0x2, ", 1)
    )
    (tmp_path / "out.seq").write_text("old")
    assert (
        "SEQ11"
        in invoke(
            "convert", tmp_path / "broken.seq", tmp_path / "out.seq", code=1
        ).stderr
    )
    assert (tmp_path / "out.seq").read_text() == "old"


@pytest.mark.parametrize("method", ["after", "linear", "cubic"])
def test_a_rate_in_little_memory_or_as_a_whole(walk, tmp_path, method, monkeypatch):
    options = (
        "--rate",
        150,
        "--method",
        method,
        "--seq-version",
        3,
        "--style",
        "json",
        "--digits",
        9,
    )
    for name, large in (("whole.seq", 1 << 30), ("rows.seq", 10)):
        monkeypatch.setattr("bodymotion.cli.options.LARGE", large)
        result = invoke("convert", walk, tmp_path / name, *options, code=3)
        assert "LOSS013 the Mood 'face' is not resampled" in result.stderr
    assert (tmp_path / "rows.seq").read_bytes() == (tmp_path / "whole.seq").read_bytes()
    assert bm.load(tmp_path / "rows.seq").num_frames == (
        226 if method == "after" else 225
    )  # the last frame is at 1.495 s


LIMITED = """
import resource, sys
from bodymotion.cli import main
sys.argv = ["bodymotion", "convert", *sys.argv[1:]]
try:
    main()
finally:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, file=sys.stderr)
"""


def test_a_large_file_in_little_memory(tmp_path):
    """100 MB of text, 40 MB of numbers: many times what the copy needs on top of the program."""
    big, out = tmp_path / "big.seq", tmp_path / "out.seq"
    with big.open("wb") as file:
        file.write(
            b"type: CompositeSeq\ncontent: BodyMotion\nformatVersion: 2\nframeRate: 1000\ncomponents:\n"
        )
        row = (
            b"      - [ "
            + b", ".join(b"0.12345678901234%03d" % k for k in range(50))
            + b" ]\n"
        )
        for name in (b"JointDisplacement", b"JointEffort"):
            file.write(
                b"  -\n    type: MultiValueSeq\n    content: "
                + name
                + b"\n    numParts: 50\n    frames:\n"
            )
            file.write(row * 50000)
    peaks = []
    for source in (tmp_path / "small.seq", big):
        if source.name == "small.seq":
            bm.save(bm.Motion.from_joints(np.zeros((10, 50)), 100), source)
        result = subprocess.run(
            [
                sys.executable,
                "-c",
                LIMITED,
                str(source),
                str(out),
                "--seq-version",
                "4",
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, result.stderr
        peaks.append(int(result.stderr.split()[-1]))
    assert peaks[1] - peaks[0] < 60, peaks
    assert out.stat().st_size > 0.9 * big.stat().st_size


@pytest.mark.parametrize(
    ("sent", "codes"),
    [
        (signal.SIGINT, (130,)),
        (signal.SIGTERM, (143, -signal.SIGTERM)),
        (signal.SIGHUP, (129, -signal.SIGHUP)),
    ],
)
def test_an_interrupt_leaves_no_litter(tmp_path, sent, codes):
    big = tmp_path / "big.seq"
    bm.save(
        bm.Motion.from_joints(np.random.default_rng(0).normal(size=(60000, 40)), 100),
        big,
    )
    (tmp_path / "out").mkdir()
    out = tmp_path / "out" / "a.seq"
    out.write_text("old")
    process = subprocess.Popen(
        [sys.executable, "-m", "bodymotion", "convert", str(big), str(out)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + TIMEOUT
    while (
        len(names(out.parent)) < 2 and process.poll() is None and time.monotonic() < end
    ):
        time.sleep(0.002)
    process.send_signal(sent)
    code = process.wait(TIMEOUT)
    assert names(out.parent) == ["a.seq"]
    if code:
        assert code in codes
        assert out.read_text() == "old"
