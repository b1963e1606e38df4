"""Every reader, and every kind of hostile file: a thing or a FormatError, soon, in little memory, and nothing else is touched.

The files are read in a process of their own, where an audit hook notes each file that is opened, each address that is asked for and each
program that is started. Nothing may take more than 10 s of processor time or, of memory, more than 300 MB and ten times the files' size.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hostile_files import CASES, JOINTS, SEQ

import bodymotion as bm
from sample_files import ACCEPT, tries

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="memory is measured as Linux tells it"
)
READER = Path(__file__).with_name("hostile_reader.py")
SECONDS = 10.0
MEMORY = 300 << 20
LONGEST = 600.0
"""[s] On the clock: a reader that does not answer for so long hangs where Python cannot stop it."""


class Reader:
    """A process that reads; started again when it has died."""

    def __init__(self, errors: Path) -> None:
        self.errors = errors
        self.start()

    def start(self) -> None:
        with self.errors.open("ab") as file:
            self.process = subprocess.Popen(
                [sys.executable, READER],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=file,
            )
        assert self.answer(LONGEST)["outcome"] == "ready", self.errors.read_text()

    def answer(self, seconds: float) -> dict[str, object]:
        assert self.process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            line = self.process.stdout.readline() if selector.select(seconds) else b""
        if line:
            return json.loads(line)
        self.process.kill()
        return {
            "outcome": f"the process ended or hung: {self.process.wait()}",
            "seconds": seconds,
            "memory": 0,
        }

    def ask(self, **what: object) -> dict[str, object]:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(what).encode() + b"\n")
        self.process.stdin.flush()
        answer = self.answer(LONGEST)
        if self.process.poll() is not None:
            self.start()
        return answer


def laid_out(name: str, folder: Path) -> tuple[str, int]:
    """Write the files of a case; give the path to read and the size of all."""
    model = folder / "model"
    model.mkdir(parents=True)
    secrets = {
        "wrl": "#VRML V2.0 utf8\nShape { geometry Box { } }",
        "obj": "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
        "xml": "<mujoco/>",
        "mtl": "newmtl a\n",
    }
    for suffix, text in {
        **secrets,
        "stl": "solid a\n",
        "bin": "0" * 36,
        "dae": "<COLLADA/>",
    }.items():
        (folder / f"secret.{suffix}").write_text(text)
        (model / f"link.{suffix}").symlink_to(folder / f"secret.{suffix}")
    for suffix in ("wrl", "stl"):
        os.mkfifo(model / f"pipe.{suffix}")
        (model / f"zero.{suffix}").symlink_to("/dev/zero")
    (model / "up").symlink_to(folder)
    path = CASES[name](folder)
    return str(path), sum(
        file.stat().st_size
        for file in model.iterdir()
        if file.is_file() and not file.is_symlink()
    )


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """A process that reads one file after another."""
    reader = Reader(tmp_path_factory.mktemp("hostile") / "errors.txt")
    yield reader
    reader.process.kill()
    reader.process.wait()


@pytest.mark.parametrize("name", CASES)
def test_hostile_file(reader, name, tmp_path):
    folder = tmp_path / "files"
    path, size = laid_out(name, folder)
    answer = reader.ask(name=name, folder=str(folder), path=path, size=size)
    outcome = str(answer["outcome"])
    assert outcome.startswith(
        (
            "refused",
            "Body",
            "Motion",
            "Animation",
            "KeyPoses",
            "Skeleton",
            "Choreography",
        )
    ), outcome
    assert answer["seconds"] < SECONDS
    assert answer["memory"] < MEMORY + 10 * size
    assert not [*tmp_path.rglob("*pwned*")]


def test_files_that_change_while_they_are_read(tmp_path):
    """Cut off, grown and replaced again and again: a motion or a FormatError each time."""
    path = tmp_path / "a.seq"
    whole = (SEQ + JOINTS.format(3, "1, 2, 3")).encode() + b"      - [ 1, 2, 3 ]\n" * (
        20_000 if ACCEPT else 5_000
    )
    path.write_bytes(whole)
    done = threading.Event()

    def change() -> None:
        size = 1
        while not done.wait(0.0005):
            size = size * 7919 % len(whole)
            os.truncate(path, size)
            with path.open("r+b") as file:
                file.seek(size // 2)
                file.write(whole[: len(whole) // 3])

    changing = threading.Thread(target=change)
    changing.start()
    try:
        for _ in range(tries(15)):
            try:
                bm.load(path)
            except bm.FormatError as error:
                assert error.problem.message
            bm.check(path)
            try:
                with bm.open_motion(path) as reader:
                    for _ in reader.chunks(500):
                        pass
            except bm.FormatError as error:
                assert error.problem.message
    finally:
        done.set()
        changing.join()


@pytest.mark.parametrize(
    "content", [b"", b"type: [", b"#VRML V2.0 utf8\nGroup {", bytes(1 << 20)]
)
def test_what_comes_out_of_a_pipe(tmp_path, content):
    path = tmp_path / "pipe.seq"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes(content))
    writer.start()
    with pytest.raises(bm.FormatError):
        bm.load(path)
    writer.join(LONGEST)
    assert not writer.is_alive()


def test_a_pipe_that_nobody_writes_into(tmp_path):
    """There is an answer all the same."""
    os.mkfifo(tmp_path / "pipe.seq")
    command = [sys.executable, "-m", "bodymotion", "check", str(tmp_path / "pipe.seq")]
    result = subprocess.run(
        command, capture_output=True, text=True, timeout=LONGEST, check=False
    )
    assert result.returncode == 1
    assert "no process writes to this pipe" in result.stdout


def test_a_folder_with_what_is_no_file(tmp_path):
    """Pipes, devices and links in circles are passed over when a folder is checked."""
    os.mkfifo(tmp_path / "a.seq")
    (tmp_path / "b.wrl").symlink_to("/dev/zero")
    (tmp_path / "loop").symlink_to(".")
    (tmp_path / "c.seq").write_text("type: x")
    command = [sys.executable, "-m", "bodymotion", "check", str(tmp_path)]
    result = subprocess.run(
        command, capture_output=True, text=True, timeout=LONGEST, check=False
    )
    assert result.returncode == 1
    assert "c.seq" in result.stdout and "a.seq" not in result.stdout
