"""Many motions: files, folders, patterns and lists; a function on all cores; rows, resumed; every command for each of many files."""

from __future__ import annotations

import csv
import json
import os
import pickle
import re
import shutil
import time
import uuid
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import bodymotion as bm
from bodymotion.cli.app import app
from bodymotion.cli.many import Answer
from bodymotion.cli.many_plan import MANY_FILES
from bodymotion.collection import (
    ProcessEndedError,
    find_files,
    in_order,
    map_files,
    write_lerobot,
)
from bodymotion.collection.inputs import plain_path
from bodymotion.collection.records import Records, flat
from bodymotion.formats.registry import bodies_kept
from sample_files import ACCEPT

SLOW = {"measure", "retarget", "balance", "simulate", "report", "render"}

WRONG = "type: CompositeSeq\ncontent: BodyMotion\nformatVersion: 2\ncomponents:\n  - type: MultiValueSeq\n    frames: [[0x2]]\n"


def half_or_end(number: int) -> float:
    if number == 3:
        os._exit(1)
    if number == 4:
        time.sleep(600)
    if number == 5:
        bytearray(3 << 30)
    return (
        6 / number if number < 7 else partial(lambda: number)
    )  # which no process can send back


def run(*arguments: object, code: int = 0):
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == code, (result.output, result.exception)
    return result


@pytest.fixture
def desk(tmp_path, examples, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("bodymotion.collection.mapping.num_cores", lambda: 1)
    shutil.copy(examples / "biped.wrl", "robot.wrl")
    for name in ("walks/a.seq", "walks/deep/b.seq"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        run("edit", examples / "biped_walk.seq", name, "--trim", "1:1.2")
    return Path()


@pytest.mark.parametrize("workers", [1, 2])
def test_each_input_has_its_outcome_whatever_happens_to_another(workers, monkeypatch):
    """Also where a process ends, or needs more time or memory than it may; in any order, and in order; in one process or several."""
    monkeypatch.setattr("bodymotion.collection.mapping.available_memory", lambda: None)
    inputs = [2, 0, 3, 4, 5, 6, 1, 7]
    found = list(map_files(half_or_end, inputs, workers=workers, time_limit=2))
    assert sorted(one.index for one in found) == [0, 1, 2, 3, 4, 5, 6, 7]
    by_index = list(in_order(found))
    assert [one.value for one in by_index] == [3, None, None, None, None, 1, 6, None]
    assert by_index[7].error is not None
    errors = [ZeroDivisionError, ProcessEndedError, ProcessEndedError, MemoryError]
    assert [type(one.error) for one in by_index[1:5]] == errors


def test_what_arguments_stand_for(desk):
    shutil.copy("robot.wrl", "walks/robot.wrl")
    Path("list.txt").write_text("walks/deep/b.seq\n\nwalks/a.seq\n")
    inner = [Path("walks/a.seq"), Path("walks/deep/b.seq")]
    for given, expected in {
        "walks": [inner[0], Path("walks/robot.wrl"), inner[1]],
        "walks/*.seq": inner[:1],
        "walks/**/*.seq": inner,
        "@list.txt": inner[::-1],
    }.items():
        assert list(find_files([Path(given)])) == expected, given
    assert list(find_files([Path("walks")], models=False)) == inner
    Path("walks/q.csv").write_text("x,y,z\n1,2,3\n")
    Path("walks/words.csv").write_text("x,y,z\n1,2,three\n")
    assert list(find_files(["walks"], models=False)) == [
        inner[0],
        Path("walks/q.csv"),
        inner[1],
    ]


@pytest.mark.parametrize(
    ("text", "is_motion"),
    [
        ("x;y;z\n1;2;3\n", True),
        ("x\ty\tz\n1\t2\t3\n", True),
        ("x y z\n1 2 3\n", True),
        ('"x","y","z"\n"1","2","3"\n', True),
        ("# made by a robot\n\n# x,y,z\n1,2,3\n", True),
        ("1,2,3\n", True),
        ("x,y,z\n1,2,\n1,2,3\n", True),
        (
            ",".join(f"joint_{k:0100d}" for k in range(1000))
            + "\n"
            + "0," * 999
            + "0\n",
            True,
        ),
        ("x,y,z\n1,2,three\n", False),
        ("x,y\n1,2\n", False),
        ("words without numbers\nin two lines\n", False),
        ("", False),
    ],
)
def test_tables_in_a_folder_are_those_that_are_read(tmp_path, text, is_motion):
    """Whatever is between cells and before them; `check` finds the same ones."""
    left_out = []
    (tmp_path / "a.csv").write_text(text)
    found = list(find_files([tmp_path], lambda path, folder: left_out.append(path)))
    assert (found, left_out) == (
        ([tmp_path / "a.csv"], []) if is_motion else ([], [tmp_path / "a.csv"])
    )
    assert (
        "1 file checked" in CliRunner().invoke(app, ["check", str(tmp_path)]).stdout
    ) == is_motion


def test_what_is_one_thing_in_a_folder(desk):
    """A rosbag2 is its `metadata.yaml`; an archive and a data set are left out, with what to do."""
    Path("walks/bag").mkdir()
    Path("walks/bag/metadata.yaml").write_text(
        "rosbag2_bagfile_information:\n  version: 9\n"
    )
    Path("walks/set/meta").mkdir(parents=True)
    Path("walks/set/meta/info.json").write_text("{}")
    for name in ("walks/bag/m_0.mcap", "walks/bag/m_1.mcap", "walks/deep/m.mcap"):
        Path(name).write_bytes(b"\x89MCAP0\r\n")
    shutil.make_archive("walks/old", "tar", "walks/deep")
    inner = ["a.seq", "bag/metadata.yaml", "deep/b.seq", "deep/m.mcap"]
    assert list(find_files(["walks"])) == [Path("walks", name) for name in inner]
    for words in (["info", "--table", "t.jsonl"], ["catalogue", "-o", "c.parquet"]):
        found = CliRunner().invoke(app, [*words, "walks"])
        assert (
            "2 collections left out, to be named by itself, a data set in a local folder: "
            in found.stderr
        )
        assert "walks/old.tar" in found.stderr and "walks/set" in found.stderr


@pytest.mark.parametrize("kind", ["tar", "stored", "set"])
def test_motions_in_a_collection_by_their_names(desk, kind):
    """As `catalogue` prints them, in a list and alone; files without compression are not taken for one of them."""
    pytest.importorskip("duckdb")
    if kind == "set":
        body = bm.load("robot.wrl")
        names = [joint.name for joint in body.joints]
        walk = bm.load("walks/a.seq")
        one = bm.Motion.from_joints(
            walk.joint_displacement.values, 100, joint_names=names
        )
        write_lerobot([one, one], source := "set")
    elif kind == "tar":
        source = shutil.make_archive("all", "tar", "walks")
    else:
        with zipfile.ZipFile(source := "all.zip", "w") as archive:
            for path in ("a.seq", "deep/b.seq"):
                archive.write(f"walks/{path}", path)
    printed = run("catalogue", source, "-o", "c.parquet", "--workers", 1).stdout
    assert len(printed.splitlines()) == 2
    Path("list.txt").write_text(printed + "walks/a.seq\n")
    run("retime", "@list.txt", "out/", "--rate", 50)
    assert len(list(Path("out").rglob("*.seq"))) == 3
    for line in printed.splitlines():
        assert "1 file done: no failures" in run("info", line).stderr
    assert run("info", source).stderr.startswith("2 files done")
    run("info", f"{source}/none.seq", code=1)


def test_rows_outlive_a_kill(tmp_path):
    """A line that was not finished does not count, nor one of a file that has changed; nothing else is repeated."""
    rows = [{"file": name, "size": 1, "modified": 2, "run": "x"} for name in "abc"]
    table = tmp_path / "t.csv"
    part = table.with_name("t.csv.part")
    part.write_text("\n".join(map(json.dumps, rows))[:-5])
    records = Records(table, resume=True)
    with records:
        assert list(records.done) == ["a|1|2|x", "b|1|2|x"]
        records.keep(rows[:1])
        records.add(
            {
                "file": "d",
                "size": 3,
                "modified": 4,
                "run": "x",
                "values": [{"name": "m", "value": 4}],
                "problems": [{"rule": "R"}] * 2,
            }
        )
    assert not part.exists()
    with table.open() as stream:
        found = list(csv.DictReader(stream))
    assert [row["file"] for row in found] == ["a", "d"]
    assert (found[1]["values.m"], found[1]["problems.R"]) == ("4", "2")
    with Records(table, resume=True) as records:
        assert list(records.done) == ["a|1|2|x", "d|3|4|x"]
    assert flat({"a": {"b": 1}, "c": [1, 2]}) == {"a.b": 1, "c": "1 2"}


def test_no_cell_of_a_table_is_a_formula(tmp_path):
    """Numbers stay numbers; rows read back have the names that they had."""
    names = ["=cmd|'/c calc'!A1", "'=x", "''-y", "+1.5", "-2", "@a", "plain", "'quoted"]
    rows = [{"file": one, "size": -1, "modified": "", "run": "x"} for one in names]
    for _ in range(2):
        with Records(tmp_path / "t.csv", resume=True) as records:
            kept = records.keep(rows)
            for row in rows if not kept else []:
                records.add(row)
    assert len(kept) == len(rows)
    with (tmp_path / "t.csv").open(newline="") as stream:
        cells = [row["file"] for row in csv.DictReader(stream)]
    for cell in cells:
        assert cell[0] not in "=@" and (cell[0] not in "+-" or float(cell))
    motion = bm.Motion.from_joints(np.zeros((3, 2)), 50, joint_names=["=cmd|x", "b"])
    lost = bm.save(motion, tmp_path / "m.csv")
    assert "LOSS009" in [one.rule for one in lost.problems]
    assert "=cmd" not in (tmp_path / "m.csv").read_text()


@pytest.mark.parametrize("missing", ["wlaks/", "wlaks", "walks/c.seq"])
def test_an_input_that_does_not_exist_ends_the_command(desk, missing):
    """With the message for one missing file; nothing is done for the others, and no table is written."""
    result = run("measure", "robot.wrl", "walks", missing, "--table", "t.jsonl", code=1)
    alone = run("info", missing, code=1)
    assert "FMT002" in alone.stderr and result.stderr == alone.stderr
    assert run("convert", missing, "out/", "--to", "csv", code=1).stderr == alone.stderr
    assert not Path("t.jsonl").exists() and not Path("out").exists()


def test_a_row_is_what_the_command_prints_for_the_file(desk):
    Path("walks/bad.seq").write_text(WRONG)
    run("measure", "robot.wrl", "walks", "--table", "t.jsonl", code=1)
    rows = {
        row["file"]: row
        for row in map(json.loads, Path("t.jsonl").read_text().splitlines())
    }
    assert set(rows) == {"walks/a.seq", "walks/bad.seq", "walks/deep/b.seq"}
    assert rows["walks/bad.seq"]["exit_code"] == 1 and "SEQ" in "".join(
        rows["walks/bad.seq"]["messages"]
    )
    alone = json.loads(run("measure", "robot.wrl", "walks/a.seq", "--json").stdout)
    assert alone.items() <= rows["walks/a.seq"].items()


def test_a_run_is_resumed(desk):
    """Only what changed, what has no result, and all with another option is done again."""

    def done() -> dict[str, int]:
        return {
            path.name: path.stat().st_mtime_ns for path in Path("out").rglob("*.seq")
        }

    run("retime", "walks/", "out/", "--rate", 50)
    first = done()
    assert set(first) == {"a.seq", "b.seq"} and Path("out/deep/b.seq").exists()
    run("retime", "walks/", "out/", "--rate", 50, "--resume", "--workers", 1)
    assert done() == first
    Path("out/a.seq").unlink()
    run("retime", "walks/", "out/", "--rate", 50, "--resume")
    second = done()
    assert second["b.seq"] == first["b.seq"] and second["a.seq"] > first["a.seq"]
    run("retime", "walks/", "out/", "--rate", 25, "--resume")
    assert all(second[name] < time for name, time in done().items())
    assert len(Path("out/results.jsonl").read_text().splitlines()) == 2


@pytest.mark.parametrize(
    "name", sorted(set(MANY_FILES) - ({"retime"} if ACCEPT else {"retime", *SLOW}))
)
def test_every_command_takes_a_folder(name, desk):
    folder, more = (
        "walks/deep",
        ["--to", "csv"]
        if name == "convert"
        else ["--mirror"]
        if name == "edit"
        else [],
    )
    more += (
        ["--body", "robot.wrl"]
        if name in ("edit", "check")
        else ["--suffix", ".png"]
        if name == "render"
        else []
    )
    models = ["robot.wrl"][: abs(MANY_FILES[name].models)]
    more += ["--source-body", "robot.wrl"] if name == "retarget" else []
    target = (
        ["out/"]
        if MANY_FILES[name].target == "argument"
        else ["-o", "out/"]
        if MANY_FILES[name].target
        else []
    )
    table = [] if target else ["--table", "out.jsonl"]
    run(
        name,
        *([folder, *models] if name == "retarget" else [*models, folder]),
        *target,
        *more,
        *table,
    )
    (row,) = map(
        json.loads,
        Path(table[1] if table else "out/results.jsonl").read_text().splitlines(),
    )
    assert row["file"] == "walks/deep/b.seq" and row["exit_code"] == 0
    assert not target or (
        Path(row["output"]).stem == "b" and Path(row["output"]).stat().st_size
    )


@pytest.fixture(params=["memory", "zip", "s3"])
def elsewhere(request, desk) -> Iterator[str]:
    """The walks of the desk and a broken one at an address or in an archive."""
    fsspec = pytest.importorskip("fsspec")
    Path("walks/deep/bad.seq").write_text(WRONG)
    if request.param == "zip":
        yield shutil.make_archive("walks", "zip", "walks")
        return
    store = (
        request.getfixturevalue("object_store")
        if request.param == "s3"
        else fsspec.filesystem("memory")
    )
    bucket = uuid.uuid4().hex  # the memory of a process is one store for all tests
    store.mkdir(f"/{bucket}")
    store.put("walks", f"/{bucket}/walks", recursive=True)
    yield f"{request.param}://{bucket}/walks"


def test_an_object_store_and_an_archive_are_as_a_folder(elsewhere):
    """The same results, rows and messages, but for names, sizes and times; one motion by its own address, too."""

    def rows(table: str) -> list[dict[str, object]]:
        text = Path(table).read_text()
        for above in (
            f"{elsewhere}/",
            elsewhere.replace("://", ":///") + "/",
            f"::{elsewhere}",
            "zip://",
            "walks/",
        ):
            text = text.replace(above, "")
        found = map(json.loads, text.splitlines())
        return [
            {
                name: one
                for name, one in row.items()
                if name not in ("size", "modified", "run")
            }
            for row in found
        ]

    for words in (["info"], ["check", "--body", "robot.wrl"], ["measure", "robot.wrl"]):
        for source, table in (("walks", "here.jsonl"), (elsewhere, "there.jsonl")):
            run(*words, source, "--table", table, code=1)
        assert (
            rows("here.jsonl") == rows("there.jsonl") and len(rows("there.jsonl")) == 3
        )
    for words in (["retime", "--rate", "50"], ["convert", "--to", "csv"]):
        for source, target in (("walks", "here/"), (elsewhere, "there/")):
            run(*words, source, target, code=1)
    here = {
        path.relative_to("here"): path.read_bytes()
        for path in Path("here").glob("**/[ab].*")
    }
    assert here == {
        path.relative_to("there"): path.read_bytes()
        for path in Path("there").glob("**/[ab].*")
    }
    assert set(map(str, here)) == {"a.seq", "a.csv", "deep/b.seq", "deep/b.csv"}
    run("retime", "--rate", "50", elsewhere, "there/", "--resume", code=1)
    alone = elsewhere if elsewhere.endswith(".zip") else f"{elsewhere}/deep/b.seq"
    assert run("info", alone, code=1 if alone is elsewhere else 0).stdout.count("b.seq")
    if not elsewhere.endswith(".zip"):
        assert run("info", f"{elsewhere}/**/[ab].seq").stderr.startswith("2 files done")
        run(
            "retime",
            f"{elsewhere}/*.seq",
            f"{elsewhere}/deep/b.seq",
            "both/",
            "--rate",
            "50",
        )
        bucket = elsewhere.partition("://")[2]
        assert {
            path.relative_to("both").as_posix() for path in Path("both").rglob("*.seq")
        } == {
            f"{bucket}/a.seq",
            f"{bucket}/deep/b.seq",
        }
        pytest.importorskip("duckdb")
        printed = run(
            "catalogue", f"{elsewhere}/*.seq", "-o", "c.parquet", "--workers", 1
        ).stdout
        assert printed == f"{elsewhere}/a.seq\n"
    run("retime", elsewhere, "s3://bucket/out/", "--rate", "50", code=2)
    run("check", "--fix", elsewhere, code=2)


def test_addresses_that_cannot_be_used(desk, monkeypatch):
    """In one line, without a password of the address or a traceback."""
    pytest.importorskip("s3fs").S3FileSystem.clear_instance_cache()
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    for words in (["info"], ["catalogue", "-o", "c.parquet"]):
        secret = run(*words, "s3://KEY:SECRET@bucket/walks", code=2)
        assert "SECRET" not in secret.output and "password" in secret.stderr
        unreachable = run(*words, "s3://bucket/walks", code=1)
        assert (
            unreachable.stderr.count("\n") == 1
            and "s3://bucket/walks: " in unreachable.stderr
        )


def test_names_in_an_archive_that_no_file_should_have(desk):
    """Results have plain names, each its own; the rows and a message have those of the archive."""
    long = "x" * 251 + ".seq"
    names = [
        "a\x01.seq",
        "a\x02.seq",
        "C:\\b\\c.seq",
        "-rf.seq",
        "d/\x1b[31m.seq",
        long,
    ]
    with zipfile.ZipFile("bad.zip", "w") as archive:
        for name in names:
            archive.write("walks/a.seq", name)
    answer = run("edit", "bad.zip", "out/", "--trim", "0:0.1", "--workers", 1)
    assert "6 names changed" in answer.stderr and "\x1b" not in answer.output
    results = [path for path in Path("out").rglob("*.seq") if path.is_file()]
    assert len(results) == 6 and not list(Path().glob("C*"))
    for path in results:
        assert re.fullmatch(r"[\w.\[ ][\w.\[ -]*", path.name) and len(path.name) <= 210
    lines = Path("out/results.jsonl").read_text().splitlines()
    rows = [json.loads(line)["file"] for line in lines]
    inner = [row.removeprefix("zip://").partition("::")[0] for row in rows]
    assert sorted(inner) == sorted(names)
    assert plain_path("../a/./CON .seq. ").as_posix() == "a/CON .seq._"


def test_files_of_no_known_format_are_named(desk):
    Path("walks/broken.npz").write_bytes(b"PK\x03\x04" + bytes(range(256)))
    Path("walks/package.xml").write_text("<package/>")
    printed = run("info", "walks", "--table", "rows.jsonl").stderr
    assert (
        "2 files left out" in printed
        and "broken.npz" in printed
        and "package.xml" in printed
    )


def test_results_of_a_folder_above(desk, monkeypatch):
    """The folder is named by a path with `..` in it."""
    Path("below").mkdir()
    monkeypatch.chdir("below")
    run("retime", "../walks", "../below/out/", "--rate", 50)
    assert Path("out/deep/b.seq").exists()


def test_inputs_are_no_results(desk):
    """Neither the same folder, nor one above or a link to it; results below the inputs are no inputs of the next run."""
    Path("link").symlink_to("walks")
    before = {
        path: path.read_bytes() for path in Path("walks").rglob("*") if path.is_file()
    }
    for given, target in (
        ("walks", "walks/"),
        ("walks/deep", "walks/"),
        ("walks/", "link/"),
        ("walks/*.seq", "walks/"),
    ):
        run("edit", given, target, "--shift", "1,0,0", code=2)
    run("edit", "walks/a.seq", "walks/", "--shift", "1,0,0", code=2)
    assert before == {
        path: path.read_bytes() for path in Path("walks").rglob("*") if path.is_file()
    }
    for _ in range(2):
        assert (
            "2 files done"
            in run("edit", "walks", "walks/out/", "--shift", "1,0,0").stderr
        )
    assert (
        run("retime", "walks/deep/b.seq", "./", "--rate", 50) and Path("b.seq").exists()
    )


def test_results_of_formats_that_cannot_be_written(desk):
    """They are of a format that can, and holds the same."""
    angles = np.zeros((20, 32))
    Path("walks/c.pkl").write_bytes(
        pickle.dumps(
            {
                "fps": 50,
                "joint_names": [f"j{k}" for k in range(32)],
                "dof_pos": angles,
                "root_pos": angles[:, :3],
                "root_rot": np.tile([0, 0, 0, 1.0], (20, 1)),
            }
        )
    )
    Path("walks/a.amc").write_text("nothing")
    run("retime", "walks", "out/", "--rate", 25, code=1)
    rows = {
        row["file"]: row
        for row in map(json.loads, Path("out/results.jsonl").read_text().splitlines())
    }
    assert {name: Path(row["output"]).name for name, row in rows.items()} == {
        "walks/a.seq": "a.seq",
        "walks/c.pkl": "c.seq",
        "walks/a.amc": "a.bvh",
        "walks/deep/b.seq": "b.seq",
    }
    assert rows["walks/c.pkl"]["exit_code"] == 0, rows["walks/c.pkl"]
    assert bm.load("out/c.seq").frame_rate == 25


def test_the_reason_of_a_motion_that_is_not_balanced_is_printed(desk, monkeypatch):
    monkeypatch.setattr(
        "bodymotion.cli.many._run_task",
        lambda mark, task: Answer(1, '{"remaining": ["a foot slips"]}', ""),
    )
    found = run("balance", "robot.wrl", "walks", "-o", "out/", code=1)
    assert "walks/a.seq: not fixed: a foot slips\n" in found.stderr


def test_wrong_use(desk):
    run("retime", "walks", "robot.wrl", code=2)  # a file, not a folder
    run("render", "robot.wrl", "walks", code=2)  # no folder
    run("convert", "walks", "out/", code=2)  # no format
    run("convert", "walks", "out/", "--to", "word", code=2)
    run("info", "robot.wrl", "--resume", code=2)  # one file
    run(
        "simulate", "robot.wrl", "walks", "--sensors", "s.csv", code=2
    )  # one file for many
    run("info", "walks", "--table", "t.txt", code=2)
    Path("empty").mkdir()
    run("info", "empty", code=1)


def test_a_kept_body_is_read_again_when_a_part_of_it_has_changed(tmp_path):
    """What takes many files keeps its body as long as neither the model nor a file that it names changes."""
    model, part = tmp_path / "model.wrl", tmp_path / "box.wrl"
    text = "#VRML V2.0 utf8\nShape {{ geometry Box {{ size {0} {0} {0} }} }}\n"
    model.write_text('#VRML V2.0 utf8\nInline { url "box.wrl" }\n')
    part.write_text(text.format(1))
    with bodies_kept():
        first = bm.load_body(model)
        assert bm.load_body(model) is first
        part.write_text(text.format(33))
        assert bm.load_body(model).links[0].visuals[0].geometry == bm.shapes.Box(
            (33, 33, 33)
        )
    assert bm.load_body(model) is not bm.load_body(model)


def test_rules_that_are_reported_in_the_results_are_counted(tmp_path):
    """Angles of up to 90 and 80 are read as radians (TAB106), in two of three files; 0.5 is no angle in degrees."""
    motions = tmp_path / "motions"
    motions.mkdir()
    for name, largest in (("a", 90), ("b", 80), ("c", 0.5)):
        with (motions / f"{name}.pkl").open("wb") as stream:
            angles = np.linspace(0, largest, 21)[:, None] * [1.0, 0.1]
            root = np.tile([0.0, 0.0, 1.0], (21, 1))
            upright = np.tile([0.0, 0.0, 0.0, 1.0], (21, 1))
            data = {"fps": 50, "dof_pos": angles, "root_pos": root, "root_rot": upright}
            pickle.dump({**data, "joint_names": ["A", "B"]}, stream)
    found = run("convert", motions, tmp_path / "out", "--to", "seq")
    (line,) = [x for x in found.stderr.splitlines() if x.startswith("reported: ")]
    assert "TAB106 in 2 files" in line
