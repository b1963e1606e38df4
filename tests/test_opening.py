"""A pipe gives its bytes once: `load` reads it as a whole, and no more of it than memory holds."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

import bodymotion as bm
from bodymotion.cli.app import app
from bodymotion.diagnostics import FormatError
from bodymotion.formats.registry import FORMATS, load_together
from bodymotion.scene.loading import load_scene
from bodymotion.system.files import (
    pipe_content,
    pipe_seen,
    pipes_kept,
    read_head,
    size_of,
)
from waiting import TIMEOUT


@contextmanager
def pipe_of(content: bytes) -> Iterator[Path]:
    """Return a name for the reading end of a pipe into which somebody writes the content."""
    out, into = os.pipe()

    def write() -> None:
        try:
            with os.fdopen(into, "wb") as file:
                file.write(content)
        except BrokenPipeError:
            pass

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield Path(f"/dev/fd/{out}")
    finally:
        os.close(out)
        writer.join()


@pytest.mark.parametrize("name", ["biped.wrl", "biped_walk.seq"])
def test_load(examples, name):
    with pipe_of((examples / name).read_bytes()) as path:
        found = bm.load(path)
    expected = bm.load(examples / name)
    if name.endswith(".seq"):
        assert found == expected
    else:
        assert [link.name for link in found.links] == [
            link.name for link in expected.links
        ]


def test_an_open_motion(examples):
    with (
        pipe_of((examples / "biped_walk.seq").read_bytes()) as path,
        bm.open_motion(path) as reader,
    ):
        assert reader.num_frames == bm.load(examples / "biped_walk.seq").num_frames


def test_what_is_kept():
    with pipe_of(b"0123456789") as path, pipes_kept():
        assert size_of(path) is None
        assert read_head(path, 4) == b"0123"
        assert pipe_seen(path) is None
        assert pipe_content(path) == pipe_content(path) == b"0123456789"
        assert read_head(path, 100) == b"0123456789"
        assert (pipe_seen(path), size_of(path)) == (b"0123456789", 10)
    assert pipe_content(__file__) is None
    assert size_of(__file__) == len(Path(__file__).read_bytes())


def test_a_pipe_without_end(monkeypatch):
    monkeypatch.setattr("bodymotion.system.files.MAX_PIPE_BYTES", 5 << 20)
    with (
        pipe_of(b"#VRML V2.0 utf8\n" + bytes(6 << 20)) as path,
        pytest.raises(FormatError, match="more than 1 GiB"),
    ):
        bm.load(path)
    with pytest.raises(FormatError) as caught:
        bm.load("/dev/zero")
    assert caught.value.problem.rule == "FMT002"


class TestNamedPipes:
    """Whoever names a pipe in a folder may have no writer for it: that is said, and nothing hangs."""

    @pytest.fixture
    def pipe(self, tmp_path):
        os.mkfifo(tmp_path / "walk.seq")
        return tmp_path / "walk.seq"

    @pytest.fixture
    def short(self, monkeypatch):
        monkeypatch.setattr("bodymotion.system.files.PIPE_TIMEOUT", 0.2)

    def test_nobody_writes(self, pipe, short):
        with pytest.raises(FormatError, match="no process writes to this pipe"):
            bm.load(pipe)
        assert [p.rule for p in bm.check(pipe).problems] == ["FMT002"]

    def test_somebody_comes_later(self, pipe, examples, monkeypatch):
        monkeypatch.setattr("bodymotion.system.files.PIPE_TIMEOUT", TIMEOUT)
        content = (examples / "biped_walk.seq").read_bytes()
        writer = threading.Timer(0.3, pipe.write_bytes, [content])
        writer.start()
        try:
            assert bm.load(pipe) == bm.load(examples / "biped_walk.seq")
        finally:
            writer.join()

    def test_somebody_is_slow(self, pipe, examples, short):
        """Whoever has opened a pipe for writing is waited for longer than one who has not."""
        content = (examples / "biped_walk.seq").read_bytes()
        opened = os.open(
            pipe, os.O_RDWR
        )  # before it is read, however slow the machine is

        def write() -> None:
            time.sleep(0.6)
            with os.fdopen(opened, "wb") as file:
                file.write(content)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            assert bm.load(pipe) == bm.load(examples / "biped_walk.seq")
        finally:
            writer.join()

    def test_a_pipe_without_a_name_is_waited_for(self, examples, short):
        content = (examples / "biped_walk.seq").read_bytes()
        out, into = os.pipe()

        def write() -> None:
            time.sleep(0.6)
            with os.fdopen(into, "wb") as file:
                file.write(content)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            assert bm.load(f"/dev/fd/{out}") == bm.load(examples / "biped_walk.seq")
        finally:
            writer.join()
            os.close(out)

    def test_nobody_reads(self, pipe, short, examples):
        motion = bm.load(examples / "biped_walk.seq")[:5]
        with pytest.raises(OSError, match="no process reads"):
            bm.save(motion, pipe)

    def test_somebody_reads_later(self, pipe, examples, tmp_path, monkeypatch):
        monkeypatch.setattr("bodymotion.system.files.PIPE_TIMEOUT", TIMEOUT)
        motion = bm.load(examples / "biped_walk.seq")[:5]
        heard: list[bytes] = []
        reader = threading.Timer(0.2, lambda: heard.append(pipe.read_bytes()))
        reader.start()
        bm.save(motion, pipe)
        reader.join()
        bm.save(motion, tmp_path / "file.seq")
        assert heard == [(tmp_path / "file.seq").read_bytes()]

    def test_lists_and_tables(self, pipe, short, examples):
        """A list that nobody writes, and a table that is no file, end with a message."""
        table = pipe.with_suffix(".csv")
        os.mkfifo(table)
        walk = str(examples / "biped_walk.seq")
        for words in (["info", f"@{pipe}"], ["info", walk, "--table", str(table)]):
            answer = CliRunner().invoke(app, words)
            assert answer.exit_code in (1, 2)
            assert Path(words[-1].lstrip("@")).name in answer.output


def test_what_is_read_is_named(tmp_path):
    """Whoever brings a file of no known format is told all that could be brought instead."""
    path = tmp_path / "a.xyz"
    path.write_bytes(b"hello")
    with pytest.raises(FormatError) as caught:
        bm.load(path)
    for row in FORMATS:
        for extension in row.extensions:
            assert f"{extension}," in f"{caught.value.problem.hint},".replace(")", ",")


def test_what_a_motion_has_no_use_for_is_no_fault(examples):
    for name in ("biped.wrl", "biped_walk.seq"):
        assert bm.load(examples / name, allow_outside=True) == bm.load(examples / name)


@pytest.mark.parametrize(
    ("options", "count"),
    [({}, 1), ({"untrusted": True}, 0), ({"allow_outside": False}, 0)],
)
def test_untrusted_confines_whatever_opens_the_model(tmp_path, options, count):
    """A mesh in a folder beside that of the model, through each function that opens files together."""
    (tmp_path / "model").mkdir()
    (tmp_path / "part.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    path = tmp_path / "model" / "a.urdf"
    mesh = '<visual><geometry><mesh filename="../part.obj"/></geometry></visual>'
    path.write_text(f'<robot name="a"><link name="a">{mesh}</link></robot>')
    opened = (
        bm.load(path, **options),
        load_together([path], **options)[0],
        load_scene(path, **options).body,
    )
    assert [len(body.links[0].visuals) for body in opened] == [count] * 3
