"""From file to file, row by row: the same as in memory, whatever the size of the pieces."""

from __future__ import annotations

import json
import tracemalloc

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from symmetric_bodies import any_motion

import bodymotion as bm
from bodymotion import editing
from bodymotion.cli.app import app
from bodymotion.editing import streaming
from bodymotion.geometry import arrays
from bodymotion.motion import Motion, MultiValueSeq
from bodymotion.motion.components import Timeline
from sample_files import tries

same_folder = settings(
    max_examples=tries(25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(streaming, "CHUNK_NUMBERS", 64)
    monkeypatch.setattr("bodymotion.cli.options.LARGE", 0)


def uneven(seed, stamped):
    """Make a motion with components of different lengths, and gaps in its stamps."""
    motion = any_motion(seed, frames=30 + seed % 20, stamped=stamped, links=2)
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.choice([0.001, 0.01, 0.02, 0.5], 17)) + rng.choice(
        [-0.2, 0.0, 0.3]
    )
    extra = MultiValueSeq(
        content="Contact",
        timeline=Timeline.stamped(times, 50.0),
        values=rng.normal(size=(17, 1)),
    )
    empty = MultiValueSeq(
        content="Nothing", timeline=Timeline.uniform(0, 50), values=np.zeros((0, 3))
    )
    return motion.replaced(*motion.components, *((extra,) if stamped else ()), empty)


@given(
    st.integers(0, 1000),
    st.booleans(),
    st.sampled_from(["after", "nearest", "before", "linear"]),
    st.sampled_from([7.0, 30.0, 50.0, 333.3]),
    st.sampled_from([0.0, 0.1, -0.5]),
)
@same_folder
def test_resampling_is_that_in_memory(tmp_path, seed, stamped, method, rate, start):
    source, target = tmp_path / "in.seq", tmp_path / "out.seq"
    bm.save(uneven(seed, stamped), source)
    motion = bm.load(source)
    streaming.resample_file(source, target, rate, method, start=start)
    found, expected = bm.load(target), motion.resample(rate, method, start=start)
    assert found.extra == expected.extra
    assert found.source.version == motion.source.version
    for a, b in zip(found.components, expected.components, strict=True):
        if method == "linear" and hasattr(a, "values"):
            assert np.allclose(a.values, b.values, atol=1e-12)
            a = type(a)(**{**vars(a), "values": b.values})
        assert a == b


@given(st.integers(0, 1000), st.booleans(), st.floats(0, 0.5), st.floats(0, 0.6))
@same_folder
def test_cutting_is_that_in_memory(tmp_path, seed, stamped, start, length):
    source, target = tmp_path / "in.seq", tmp_path / "out.seq"
    bm.save(uneven(seed, stamped), source)
    try:
        expected = editing.trim(bm.load(source), start, start + length)
    except ValueError as error:
        with pytest.raises(ValueError, match="has no frame there") as same:
            streaming.trim_file(source, target, start, start + length)
        assert str(same.value) == str(error)
        return
    streaming.trim_file(source, target, start, start + length)
    assert bm.load(target) == expected


def test_rates_of_the_file_jumps_and_progress(tmp_path):
    source, target = tmp_path / "in.seq", tmp_path / "out.seq"
    angles = (np.linspace(0, 40, 400)[:, None] + np.pi) % (2 * np.pi) - np.pi
    timeline = Timeline.stamped(np.arange(400) / 50, import_rate=200)
    motion = Motion(
        (MultiValueSeq(content="JointDisplacement", timeline=timeline, values=angles),)
    )
    bm.save(motion, source)
    told = []
    found = streaming.resample_file(
        source, target, None, "linear", progress=lambda *done: told.append(done)
    )
    assert [str(p) for p in found] == [
        str(p) for p in motion.resample(None, "linear").problems
    ]
    assert bm.load(target).frame_rate == 200
    assert told[-1] == (400, 400)
    with pytest.raises(ValueError, match="needs the motion as a whole"):
        streaming.resample_file(source, target, 100, "cubic")
    bm.save(
        motion.replaced(
            MultiValueSeq(
                content="X", timeline=Timeline.stamped([0, 1]), values=[[0], [1]]
            )
        ),
        source,
    )
    with pytest.raises(ValueError, match="frame_rate"):
        streaming.resample_file(source, target)


def test_a_fault_far_down_leaves_the_old_file(tmp_path):
    source, target = tmp_path / "in.seq", tmp_path / "out.seq"
    bm.save(any_motion(0, frames=300), source)
    lines = source.read_text().splitlines()
    rows = [i for i, line in enumerate(lines) if line.lstrip().startswith("- [")]
    lines[rows[-1]] = "      - [x]"
    source.write_text("\n".join(lines) + "\n")
    target.write_text("old")
    for change in (streaming.trim_file, streaming.resample_file):
        with pytest.raises(bm.FormatError):
            change(source, target)
    assert target.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.seq", "out.seq"]


def test_the_verbs_go_row_by_row(tmp_path, monkeypatch):
    source, target = tmp_path / "in.seq", tmp_path / "out.seq"
    bm.save(any_motion(0, frames=80, stamped=True), source)
    motion = bm.load(source)
    monkeypatch.setattr(arrays, "available_memory", lambda: 0)

    def run(*arguments):
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    options = ("--rate", "20", "--start", "first", "--strict-losses")
    result = run("retime", source, target, *options)
    # The component of an unknown type stays as it is.
    assert result.exit_code == 3
    assert "LOSS013 the FooSeq 'Bar' is not resampled" in result.stderr
    monkeypatch.setattr(arrays, "available_memory", lambda: None)
    assert bm.load(target) == motion.resample(20, start=motion.times[0])
    monkeypatch.setattr(arrays, "available_memory", lambda: 0)
    as_json = tmp_path / "out.json"
    assert run("edit", source, as_json, "--trim", "0.5:").exit_code == 0
    json.loads(as_json.read_bytes())
    assert run("edit", source, target, "--trim", "0.5:").exit_code == 0
    assert bm.load(target) == editing.trim(motion, 0.5)
    for arguments in (
        ("retime", source, target, "--method", "cubic"),
        ("edit", source, target, "--smooth", "3"),
    ):
        result = run(*arguments)
        assert result.exit_code == 1
        assert "as a whole" in result.stderr
        assert "0.0 MB are available" in result.stderr


def test_memory_does_not_grow_with_the_file(tmp_path, monkeypatch):
    """The most that is in use while a file is changed: of a file four times as long it is the same, whatever the process had before."""
    monkeypatch.undo()
    source, target, most = tmp_path / "in.seq", tmp_path / "out.seq", []
    for frames in (10_000, 40_000):
        values = np.round(np.random.default_rng(0).normal(size=(frames, 40)), 4)
        bm.save(
            Motion(
                (
                    MultiValueSeq(
                        content="X",
                        timeline=Timeline.uniform(frames, 1000),
                        values=values,
                    ),
                )
            ),
            source,
        )
        tracemalloc.start()
        streaming.resample_file(source, target, 1500, "linear")
        streaming.trim_file(target, source, 1, 1 + frames / 2000)
        most.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert most[1] < 1.2 * most[0] < 60e6


def test_what_the_disk_can_not_hold_is_said_before(tmp_path):
    path, out = tmp_path / "clock.seq", tmp_path / "out.seq"
    values = MultiValueSeq(
        content="X",
        timeline=Timeline.stamped([1.7e9, 1.7e9 + 1], 1e5),
        values=np.zeros((2, 1)),
    )
    bm.save(Motion((values,)), path)
    result = CliRunner().invoke(app, ["retime", str(path), str(out)])
    assert result.exit_code == 1
    assert "retime --start first" in result.stderr
    assert not out.exists()
    assert (
        CliRunner()
        .invoke(app, ["retime", str(path), str(out), "--start", "first"])
        .exit_code
        == 0
    )
    assert bm.load(out).num_frames == 100001
