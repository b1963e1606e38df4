"""The catalogue of a collection: rows as the library measures them, what is read again, and questions; collections at addresses."""

from __future__ import annotations

import json
import os
import shutil
import uuid
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import bodymotion as bm
from bodymotion.cli.app import app
from bodymotion.collection import build_catalogue, query
from bodymotion.collection.catalogue import query_json
from bodymotion.diagnostics import WrongUseError
from bodymotion.dynamics import figures

pytest.importorskip("duckdb")
pytest.importorskip("fsspec")


@pytest.fixture
def walks(tmp_path) -> Path:
    generator = np.random.default_rng(0)
    for name in "abcdef":
        root = np.column_stack(
            [generator.normal(size=(20, 3)), np.tile([1.0, 0, 0, 0], (20, 1))]
        )
        motion = bm.Motion.from_joints(
            generator.normal(size=(20, 3)), 50, root=root, joint_names=["x", "y", "z"]
        )
        (tmp_path / "walks" / name).mkdir(parents=True)
        bm.save(motion, tmp_path / "walks" / name / "m.csv")
    return tmp_path / "walks"


def num_frames(motion: bm.Motion) -> int:
    return motion.num_frames


def build(folder: Path, **options) -> tuple[int, Path]:
    path = folder.parent / "c.parquet"
    return build_catalogue(bm.open_collection(folder), path, workers=1, **options), path


def test_the_rows_are_what_the_library_finds(examples, tmp_path):
    (tmp_path / "walks").mkdir()
    shutil.copy(examples / "biped_walk.seq", tmp_path / "walks")
    (tmp_path / "walks" / "bad.seq").write_text("type: [")
    _, path = build(tmp_path / "walks", body=examples / "biped.wrl")
    bad, row = query(path)
    motion, body = bm.load(examples / "biped_walk.seq"), bm.load(examples / "biped.wrl")
    torques = bm.dynamics.measure(body, motion).torques
    assert row["max_torque"] == pytest.approx(np.abs(torques).max())
    assert (row["num_frames"], row["duration"]) == (motion.num_frames, motion.duration)
    assert row["root_x_max"] == motion.link_position.values[:, 0, 0].max()
    assert row["joint_names"] == [joint.name for joint in body.joints]
    named = {one.name for one in figures(bm.dynamics.measure(body, motion))}
    assert named <= set(row)
    rules = {one.rule for one in bm.check(tmp_path / "walks" / "bad.seq").problems}
    assert (
        bad["errors"]
        and {rule for rule, count in bad["findings"].items() if count} == rules
    )
    assert [one["file"] for one in query(path, "errors = 0 and max_torque > 1")] == [
        "biped_walk.seq"
    ]
    assert list(map(json.loads, query_json(path))) == [bad, row]
    for condition, reason in (
        (
            "no_such_column > 1",
            "no column 'no_such_column'; the columns are file.* duration.* max_torque",
        ),
        (
            "errors = 0 and duratoin > 1",
            r"no column 'duratoin' \(did you mean 'duration'\?\); the columns are file",
        ),
        (
            "duration >",
            "the condition 'duration >' is not valid: syntax error.*the columns are file",
        ),
    ):
        with pytest.raises(WrongUseError, match=reason):
            query(path, condition)
    with pytest.raises(WrongUseError):
        query(
            path,
            f"file IN (SELECT content FROM read_text('{path.parent}/walks/bad.seq'))",
        )


def test_only_what_is_new_is_read(walks):
    """Also after an interruption, which keeps what was read."""

    def interrupt(done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(walks, progress=interrupt)
    assert build(walks) == (4, walks.parent / "c.parquet")
    assert build(walks)[0] == 0
    os.utime(walks / "a" / "m.csv", ns=(0, 0))
    shutil.rmtree(walks / "b")
    number, path = build(walks)
    assert number == 1
    assert [row["file"] for row in query(path)] == [f"{name}/m.csv" for name in "acdef"]
    shutil.rmtree(walks / "c")
    assert build(walks)[0] == 0 and len(query(path)) == 4
    # The lock of a process that was killed with its last call.
    lock = path.with_name(f"{path.name}.lock")
    lock.write_text("{}")
    assert build(walks)[0] == 0 and not lock.exists()


def test_a_catalogue_remembers_its_body(examples, tmp_path):
    """Also when it is brought up to date for a question; a wrong question changes nothing."""
    (tmp_path / "walks").mkdir()
    for name in ("a", "b"):
        bm.save(
            bm.load(examples / "biped_walk.seq")[:60],
            tmp_path / "walks" / f"{name}.seq",
        )
    model = shutil.copy(examples / "biped.wrl", tmp_path)
    _, path = build(tmp_path / "walks", body=model)
    before, written = query(path), path.stat().st_mtime_ns
    os.utime(tmp_path / "walks" / "b.seq")
    arguments = [
        "catalogue",
        str(tmp_path / "walks"),
        "-o",
        str(path),
        "--workers",
        "1",
        "--where",
    ]
    assert CliRunner().invoke(app, [*arguments, "max_torqe > 1"]).exit_code == 2
    assert path.stat().st_mtime_ns == written
    asked = CliRunner().invoke(app, [*arguments, "max_torque > 1 and errors = 0"])
    assert (asked.exit_code, len(asked.stdout.splitlines())) == (
        0,
        2,
    ) and "1 read now" in asked.stderr
    leave = {"modified"}
    assert [
        {name: row[name] for name in row.keys() - leave} for row in query(path)
    ] == [{name: row[name] for name in row.keys() - leave} for row in before]
    Path(model).unlink()
    with pytest.raises(WrongUseError, match=r"biped\.wrl, which is gone"):
        build(tmp_path / "walks")
    assert query(path, "max_torque > 1")


@pytest.mark.skipif(os.name == "nt", reason="names are UTF-16")
@pytest.mark.parametrize("table", ["t.csv", "t.parquet", "t.jsonl", "catalogue"])
def test_names_that_are_not_utf_8(walks, table):
    """Each is a row, with escapes for its bytes, and known again."""
    (walks / "a").rename(os.fsdecode(os.fsencode(walks / "a") + b"\xe9"))
    shutil.copytree(walks / "b", os.fsdecode(os.fsencode(walks / "a") + b"\xea"))
    path = str(walks.parent / table)
    words = (
        ["catalogue", "-o", f"{path}.parquet"]
        if table == "catalogue"
        else ["info", "--table", path, "--resume"]
    )
    for state in (
        ("7 read now", "0 read now")
        if table == "catalogue"
        else ("no failures", "7 by an earlier run")
    ):
        found = CliRunner().invoke(app, [*words, str(walks), "--workers", "1"])
        assert found.exit_code == 0 and state in found.stderr, found.stderr
    if table == "catalogue":
        names = [row["file"] for row in query(f"{path}.parquet")]
        assert sorted(names) == sorted(
            [rf"a\udc{byte}/m.csv" for byte in ("e9", "ea")]
            + [f"{k}/m.csv" for k in "bcdef"]
        )
    assert len(bm.open_collection(walks).to_tensors(test=0, workers=1).values) == 7


def test_an_address_is_as_a_folder(walks):
    import fsspec

    bucket = uuid.uuid4().hex  # the memory of a process is one store for all tests
    fsspec.filesystem("memory").put(str(walks), f"/{bucket}/walks", recursive=True)
    here, there = (
        bm.open_collection(walks),
        bm.open_collection(f"memory://{bucket}/walks"),
    )
    assert [clip.name for clip in there] == [clip.name for clip in here] and len(
        there
    ) == 6
    for a, b in zip(here, there, strict=True):
        assert np.array_equal(
            a.load().joint_displacement.values, b.load().joint_displacement.values
        )
    assert {one.value for one in there.map(num_frames, workers=1)} == {20}
    build_catalogue(there, walks.parent / "there.parquet", workers=1)
    assert [row["num_frames"] for row in query(walks.parent / "there.parquet")] == [
        20
    ] * 6
    with pytest.raises(KeyError, match="none"):
        there["none"]


def test_a_motion_that_is_gone_has_no_picture(walks):
    pytest.importorskip("vtkmodules")
    build(walks)
    shutil.rmtree(walks / "a")
    arguments = [
        "catalogue",
        str(walks),
        "-o",
        str(walks.parent / "c.parquet"),
        "--no-update",
        "--pictures",
        "2",
    ]
    found = CliRunner().invoke(
        app, [*arguments, "--html", str(walks.parent / "c.html")]
    )
    assert found.exit_code == 0 and "1 motion with pictures" in found.stderr


def test_a_catalogue_is_asked_as_it_is(walks):
    """Without a look at the motions, which may be gone or out of reach; names of any characters are safe on a terminal."""
    (walks / "a\x9b\N{RIGHT-TO-LEFT OVERRIDE}").mkdir()
    shutil.copy(walks / "a" / "m.csv", walks / "a\x9b\N{RIGHT-TO-LEFT OVERRIDE}")
    build(walks)
    shutil.rmtree(walks)
    for source in (walks.parent, "s3://bucket/walks"):
        arguments = [
            "catalogue",
            str(source),
            "-o",
            str(walks.parent / "c.parquet"),
            "--no-update",
        ]
        found = CliRunner().invoke(app, [*arguments, "--where", "num_frames = 20"])
        names = [
            f"{source!s}/{name}/m.csv"
            for name in ("a", "a\\x9b\\u202e", "b", "c", "d", "e", "f")
        ]
        assert (found.exit_code, found.stdout.splitlines()) == (0, names)
        rows = CliRunner().invoke(app, [*arguments, "--json"]).stdout
        assert rows.isascii() and list(map(json.loads, rows.splitlines())) == query(
            walks.parent / "c.parquet"
        )
    missing = CliRunner().invoke(
        app, ["catalogue", str(walks.parent), "-o", "missing.parquet", "--no-update"]
    )
    assert missing.exit_code == 1 and "missing.parquet: " in missing.stderr
    (walks.parent / "words.parquet").write_text("words")
    with pytest.raises(ValueError, match=r"words\.parquet"):
        query(walks.parent / "words.parquet")
