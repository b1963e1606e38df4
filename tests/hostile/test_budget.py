"""The budget of a file: what small files may stand for, counted in bytes after unpacking, items, depth and processor time."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import click
import numpy as np
import pyarrow as pa
import pytest
import yaml
from pyarrow import parquet

import bodymotion as bm
from bodymotion.cli.retarget import _roles
from bodymotion.collection import open_collection
from bodymotion.collection.lerobot import num_episodes, read_episode, write_lerobot
from bodymotion.diagnostics import Diagnostics
from bodymotion.formats import limits
from bodymotion.formats.limits import Budget, Limits, budget_for
from bodymotion.formats.plain import parse_json, read_plain_yaml
from bodymotion.formats.vrml.reader import InlineLoader, read_vrml
from bodymotion.scene.music import load_music
from bodymotion.simulation import load_project
from bodymotion.spot.choreography.playing import play_choreography
from sample_files import ACCEPT
from tables.test_mcap import log, state


def refusal(path, **options: object) -> bm.Problem:
    """Return the first problem of a file that is not read."""
    with pytest.raises(bm.FormatError) as caught:
        bm.load(path, **options)
    return caught.value.problem


SMALL = Limits(
    free_bytes=100,
    growth=2,
    free_items=10,
    items_per_byte=1,
    depth=3,
    free_seconds=0.0,
    seconds_per_byte=0.0,
)


@pytest.mark.parametrize(
    ("take", "rule", "limit", "found"),
    [
        (lambda budget: budget.take_bytes(121), "FMT010", 120, 121),
        (lambda budget: budget.take_items(61), "FMT009", 60, 61),
    ],
)
def test_a_budget_reports_limit_and_number(take, rule, limit, found):
    with pytest.raises(bm.FormatError) as caught:
        take(Budget("a.seq", 60, SMALL))
    assert caught.value.problem.rule == rule
    assert caught.value.problem.data == {"found": found, "limit": limit}
    assert caught.value.problem.location.path == "a.seq"


def test_a_budget_takes_what_is_within_its_limits():
    budget = Budget("a.seq", 60, SMALL)
    budget.take_bytes(120)
    budget.take_items(60)


def test_a_budget_ends_with_the_time():
    budget = Budget("a.seq", 0, SMALL)
    sum(range(100_000))
    with pytest.raises(bm.FormatError) as caught:
        budget.check_time()
    assert caught.value.problem.rule == "FMT009"
    assert caught.value.problem.data["limit"] == 0


def test_the_parts_of_a_file_share_its_budget(tmp_path):
    (tmp_path / "a.seq").write_bytes(bytes(7))
    with budget_for(tmp_path / "a.seq") as whole, budget_for("b.seq", 10**9) as part:
        assert part is whole
        assert whole.size == 7
    with budget_for("b.seq", 5) as other:
        assert other is not whole


COUNT = 700
"""Items of a file, more than are handled before the clock is read again."""


def lines(text: str) -> str:
    return "".join(text.format(k) + "\n" for k in range(COUNT))


LONG_FILES = {
    "nodes.wrl": "#VRML V2.0 utf8\n" + lines("Group {{ }}"),
    "prototype.wrl": "#VRML V2.0 utf8\nPROTO P [ ] { Group { } }\nP { }\n",
    "links.urdf": '<robot name="r">' + lines('<link name="a{}"/>') + "</robot>",
    "bodies.xml": "<mujoco><worldbody>\n"
    + lines('<body name="a{}"/>')
    + "</worldbody></mujoco>",
    "links.body": "format: ChoreonoidBody\nlinks:\n" + lines("  - {{ name: a{} }}"),
    "poses.pseq": "type: PoseSeq\nrefs:\n" + lines("  - {{ time: {} }}"),
    "rows.seq": "type: BodyMotion\ncomponents:\n  - type: MultiValueSeq\n"
    "    content: JointPosition\n    frameRate: 50\n    numParts: 1\n"
    f"    numFrames: {COUNT}\n    frames:\n" + lines("      - [ {} ]"),
    "rows.csv": "time,a\n" + lines("{},0"),
    "joints.bvh": "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\n" + lines("# {}"),
    "keyframes.cha": "controls legs\nfrequency 5\n\nno parameters\n\n"
    "foot_pos\n" + lines("{} 0 0 0 0 0 0 0 0 0 0 0"),
    "keyframes.cap": lines("animation_keyframes {{ time: {} oops: 1 }}"),
}


@pytest.mark.parametrize("name", LONG_FILES)
def test_readers_end_with_the_time(tmp_path, monkeypatch, name):
    """Without time, each ends in the loop in which it handles the items of a file."""
    monkeypatch.setattr(
        limits, "LIMITS", Limits(free_seconds=0.0, seconds_per_byte=0.0)
    )
    (tmp_path / name).write_text(LONG_FILES[name])
    problem = refusal(tmp_path / name)
    assert problem.rule == "FMT009", problem
    assert problem.data["limit"] == 0
    assert problem.location.path == str(tmp_path / name)


# Parquet ------------------------------------------------------------------------------------------------


def test_a_damaged_parquet_does_not_end_the_process(unbounded):
    """pyarrow calls std::terminate where the descriptions of these columns are read."""
    files = sorted(unbounded.glob("aborts_pyarrow_*.parquet"))
    assert files
    program = (
        "import sys, bodymotion as bm\n"
        "for path in sys.argv[1:]:\n"
        "    try: bm.load(path)\n"
        "    except bm.FormatError as error: print(error.problem.rule)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, files)],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["FMT002"] * len(files)


def test_rows_of_parquet_beyond_the_size_of_the_file(tmp_path, unbounded, monkeypatch):
    assert refusal(unbounded / "many_rows.parquet").rule == "FMT009"
    monkeypatch.setattr(limits, "LIMITS", Limits(free_items=3000))
    for rows in (3000, 3001):
        table = pa.table({"time": [0.0] * rows})
        parquet.write_table(table, tmp_path / f"{rows}.parquet")
    assert (tmp_path / "3001.parquet").stat().st_size < 3000
    assert bm.check(tmp_path / "3000.parquet").errors[0].rule != "FMT009"
    assert refusal(tmp_path / "3001.parquet").rule == "FMT009"


# Logs ---------------------------------------------------------------------------------------------------


def test_messages_beyond_the_size_of_the_log(tmp_path, unbounded, monkeypatch):
    """A log of idle messages shrinks to nothing; what is counted is what is unpacked."""
    assert refusal(unbounded / "many_tiny_messages.mcap").rule == "FMT010"
    monkeypatch.setattr(limits, "LIMITS", Limits(free_items=2000, items_per_byte=0))
    for count in (100, 2000):
        idle = log(*[state("HIP")] * count)
        (tmp_path / f"{count}.mcap").write_bytes(idle)
    assert bm.load(tmp_path / "100.mcap").num_frames == 100
    assert refusal(tmp_path / "2000.mcap").rule == "FMT009"


# YAML and JSON ------------------------------------------------------------------------------------------


def brackets(depth: int) -> str:
    return "[" * depth + "]" * depth


def doubling(count: int) -> str:
    """Return mappings of which each merges the one before twice."""
    lines = ["m0: &m0 { a: 1 }"]
    lines += [
        f"m{k}: &m{k} {{ <<: [ *m{k - 1}, *m{k - 1} ], k{k}: 1 }}"
        for k in range(1, count)
    ]
    return "\n".join(lines) + "\n"


def test_nested_projects_are_refused(tmp_path, unbounded):
    """PyYAML calls itself for each bracket, and copies keys twice for each merge."""
    (tmp_path / "deep.cnoid").write_text("items: " + brackets(50_000))
    for path in (*unbounded.glob("deep*.cnoid"), tmp_path / "deep.cnoid"):
        with pytest.raises(bm.FormatError) as caught:
            load_project(path)
        assert caught.value.problem.rule == "SIM102"
        assert caught.value.problem.location.line == 1
    (tmp_path / "merge.cnoid").write_text(doubling(40) + "items: {}\n")
    for path in (unbounded / "merge.cnoid", tmp_path / "merge.cnoid"):
        with pytest.raises(bm.FormatError) as caught:
            load_project(path)
        assert caught.value.problem.rule == "SIM102"


def test_bodies_of_a_project_are_limited(tmp_path):
    """Each is read once, and MuJoCo gets no more than it has memory for."""
    (tmp_path / "box.urdf").write_text('<robot name="box"><link name="a"/></robot>')
    item = "{ class: BodyItem, name: b, data: { file: box.urdf } }"
    path = tmp_path / "a.cnoid"
    path.write_text(f"items: {{ children: [ {', '.join([item] * 300)} ] }}\n")
    project = load_project(path)
    assert 1 + len(project.objects) == 100
    limit = next(one for one in project.problems if one.rule == "FMT009")
    assert limit.data == {"found": 300, "limit": 100}


@pytest.mark.parametrize("text", [f"source: {brackets(5000)}\n", doubling(40)])
def test_nested_maps_of_roles_are_refused(tmp_path, text):
    (tmp_path / "map.yaml").write_text(text)
    with pytest.raises(click.BadParameter) as caught:
        _roles(tmp_path / "map.yaml")
    assert caught.value.param_hint == "--map"


def test_plain_values_are_those_of_a_yaml_library(tmp_path):
    text = (
        "{a: 1, b: -2.5, c: yes, d: 'yes', e: ~, f: [x, 1e-3, .5, 1.e+2], g: {h: off},"
        " i: .inf, j: 007x, k: !!str 5, <<: {a: 2, l: &l [1, 2]}, m: *l, n: ''}"
    )
    value, _ = read_plain_yaml(text.encode(), tmp_path / "a", Diagnostics())
    expected = yaml.safe_load(text)
    expected["f"][1] = 1e-3  # YAML 1.2 and C++; PyYAML reads it as a text
    assert value == expected


def test_json_is_parsed_to_a_depth():
    assert parse_json('{"a[": [1, {"b\\"[": null}]}') == {"a[": [1, {'b"[': None}]}
    assert parse_json(brackets(100)) is not None
    for depth in (101, 100_000):
        with pytest.raises(ValueError, match="nested"):
            parse_json(brackets(depth))


def test_no_reader_parses_yaml_or_json_without_limits():
    """Other parsers call themselves for each level: there is one reader for all."""
    limited = {
        "formats/plain.py": "the reader",
        "formats/yaml/tree.py": "the reader: events, not values",
        "formats/mcap/reader.py": "orjson, which has a limit of its own, at 1024",
        "collection/records.py": "lines of our own tables",
        "collection/catalogue.py": "messages of a library",
        "cli/many.py": "output of our own commands",
        "system/files.py": "our own locks, of a few bytes",
        "viewer/page.py": "requests of at most 1000 characters",
    }
    parsers = re.compile(
        r"(?<!\w)(or)?json\.loads?\(|yaml\.(safe_)?(load|compose|parse)"
        r"|return orjson\.loads"
    )
    package = Path(bm.__file__).parent
    found = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if parsers.search(path.read_text())
    }
    assert found <= {*limited}


# Data sets of LeRobot -----------------------------------------------------------------------------------


@pytest.fixture
def data_set(tmp_path):
    """A data set of three episodes."""
    walk = bm.Motion.from_joints([[0.0, 0.1]] * 9, 50, joint_names=["HIP", "KNEE"])
    write_lerobot([walk] * 3, tmp_path / "set")
    return tmp_path / "set"


def episode_refusal(folder: Path) -> bm.Problem:
    with pytest.raises(bm.FormatError) as caught:
        read_episode(folder, 1)
    return caught.value.problem


def test_episodes_beyond_the_size_of_their_table(unbounded, data_set, monkeypatch):
    many = unbounded / "lerobot" / "many_episodes"
    for read in (lambda: num_episodes(many), lambda: read_episode(many, 1)):
        with pytest.raises(bm.FormatError) as caught:
            read()
        assert caught.value.problem.rule == "FMT009"
    monkeypatch.setattr(limits, "LIMITS", Limits(free_items=2, items_per_byte=0))
    with pytest.raises(bm.FormatError) as caught:
        num_episodes(data_set)
    assert caught.value.problem.data == {"found": 3, "limit": 2}


def test_the_table_of_episodes_is_read_once(data_set, monkeypatch):
    read = []
    whole = parquet.read_table
    monkeypatch.setattr(
        parquet,
        "read_table",
        lambda path, **options: read.append(path) or whole(path, **options),
    )
    assert num_episodes(data_set) == 3
    assert [read_episode(data_set, k).num_frames for k in range(3)] == [9, 9, 9]
    assert len([path for path in read if "meta" in Path(path).parts]) == 1


def test_a_changed_table_of_episodes_is_read_again(data_set):
    assert num_episodes(data_set) == 3
    path = data_set / "meta/episodes/chunk-000/file-000.parquet"
    parquet.write_table(parquet.read_table(path).slice(0, 2), path)
    assert num_episodes(data_set) == 2


def test_a_declared_length_takes_no_memory(data_set):
    path = data_set / "meta/episodes/chunk-000/file-000.parquet"
    rows = parquet.read_table(path).to_pylist()
    rows[1]["length"] = 10**9
    parquet.write_table(pa.Table.from_pylist(rows), path)
    assert episode_refusal(data_set).rule == "FMT010"


def test_nulls_are_not_expanded_to_long_lists(data_set):
    """A null in a column of lists of a million numbers would take 8 MB; the description names two."""
    path = data_set / "data/chunk-000/file-000.parquet"
    table = parquet.read_table(path)
    nulls = pa.nulls(table.num_rows, pa.list_(pa.float64(), 1_000_000))
    table = table.set_column(0, "observation.state", nulls)
    parquet.write_table(table, path)
    assert path.stat().st_size < 100_000
    problem = episode_refusal(data_set)
    assert problem.rule == "FMT002"
    assert "1000000" in problem.message


def test_texts_in_place_of_numbers_are_not_unpacked(data_set):
    """A long text in a dictionary, named by each row, would be copied for each."""
    path = data_set / "data/chunk-000/file-000.parquet"
    table = parquet.read_table(path)
    texts = pa.array(["a" * 1000] * table.num_rows)
    table = table.set_column(0, "observation.state", texts)
    parquet.write_table(table, path)
    problem = episode_refusal(data_set)
    assert problem.rule == "FMT002"
    assert "texts" in problem.message


# VRML ---------------------------------------------------------------------------------------------------


def inlines(folder: Path, names: dict[int, list[int]]) -> Path:
    """Write files of VRML that inline each other, by their numbers; return file 0."""
    for number, inner in names.items():
        rows = [f'Inline {{ url "p{one}.wrl" }}\n' for one in inner] or ["Group { }"]
        (folder / f"p{number}.wrl").write_text(f"#VRML V2.0 utf8\n{''.join(rows)}")
    return folder / "p0.wrl"


def loaded(path: Path) -> InlineLoader:
    """Load a file of VRML with all that it inlines, level by level."""
    loader = InlineLoader(path.parent)
    waiting = [read_vrml(path)]
    seen: set[int] = set()
    while waiting:
        scene = waiting.pop(0)
        if id(scene) not in seen:
            seen.add(id(scene))
            parts = [loader.load(node) for node in scene.nodes if node.type == "Inline"]
            waiting += [part for part in parts if part is not None]
    return loader


def test_files_that_inline_each_other_end(tmp_path):
    count = 301 if ACCEPT else 60
    every = {k: [j for j in range(count) if j != k] for k in range(count)}
    problems = loaded(inlines(tmp_path, every)).problems
    found = {problem.rule for problem in problems}
    assert found == {"VRML133", "VRML134"}
    limit = next(problem for problem in problems if problem.rule == "VRML134")
    assert limit.data["limit"] == 2000


@pytest.mark.parametrize(("depth", "refused"), [(64, False), (65, True)])
def test_chains_of_files_are_limited_however_they_are_joined(tmp_path, depth, refused):
    """A chain that is opened first, and then below another chain, is as deep as both."""
    first = 30
    lower = {k: [k + 1] for k in range(1, first)} | {first: []}
    start = first + 1
    upper = {start + k: [start + k + 1] for k in range(depth - first)}
    upper[start + depth - first - 1] = [1]
    path = inlines(tmp_path, {0: [1, start], **lower, **upper})
    rules = {problem.rule for problem in loaded(path).problems}
    assert rules == ({"VRML134"} if refused else set())


# Archives -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["zip", "tar", "tar.gz", "tar.bz2", "tar.xz"])
def test_archives_that_unpack_to_too_much(tmp_path, monkeypatch, kind):
    """Nothing of them is written; what is within the limits is listed."""
    monkeypatch.setattr(limits, "LIMITS", Limits(free_bytes=100_000, growth=2))
    for name, size in (("small", 10_000), ("large", 1 << 20)):
        content = bytes(size)
        path = tmp_path / f"{name}.{kind}"
        if kind == "zip":
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("a.seq", content)
        else:
            compression = kind.partition(".")[2]
            with tarfile.open(path, f"w:{compression}") as archive:
                about = tarfile.TarInfo("a.seq")
                about.size = size
                archive.addfile(about, io.BytesIO(content))
    assert [clip.name for clip in open_collection(tmp_path / f"small.{kind}")] == [
        "a.seq"
    ]
    if kind == "tar":  # it holds what it stands for
        assert len(open_collection(tmp_path / "large.tar")) == 1
        return
    with pytest.raises(bm.FormatError) as caught:
        open_collection(tmp_path / f"large.{kind}")
    assert caught.value.problem.rule == "FMT010"
    assert caught.value.problem.location.path == str(tmp_path / f"large.{kind}")


@pytest.mark.parametrize("kind", ["zip", "tar.gz"])
def test_archives_at_an_address_are_counted(tmp_path, monkeypatch, kind):
    """As those on the disk are, before a member is copied."""
    fsspec = pytest.importorskip("fsspec")
    monkeypatch.setattr(limits, "LIMITS", Limits(free_bytes=100_000, growth=2))
    store = fsspec.filesystem("memory")
    for name, size in (("small", 10_000), ("large", 1 << 20)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.seq").write_bytes(bytes(size))
        form = "zip" if kind == "zip" else "gztar"
        path = shutil.make_archive(str(tmp_path / name), form, tmp_path / name)
        store.put(path, f"/counted/{name}.{kind}")
    small = open_collection(f"memory://counted/small.{kind}")
    assert [Path(clip.name).name for clip in small] == ["a.seq"]
    with pytest.raises(bm.FormatError) as caught:
        open_collection(f"memory://counted/large.{kind}")
    assert caught.value.problem.rule == "FMT010"
    assert caught.value.problem.location.path == f"memory://counted/large.{kind}"


def test_holes_in_an_archive_are_counted(tmp_path, monkeypatch):
    """A sparse file of a tar archive is larger than the archive."""
    monkeypatch.setattr(limits, "LIMITS", Limits(free_bytes=100_000, growth=2))
    about = tarfile.TarInfo("a.seq")
    about.pax_headers = {
        "GNU.sparse.major": "1",
        "GNU.sparse.minor": "0",
        "GNU.sparse.name": "a.seq",
        "GNU.sparse.realsize": str(1 << 32),
    }
    blocks = b"0\n".ljust(512, b"\0")  # no data but holes
    about.size = len(blocks)
    with tarfile.open(tmp_path / "a.tar", "w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(about, io.BytesIO(blocks))
    with pytest.raises(bm.FormatError) as caught:
        open_collection(tmp_path / "a.tar")
    assert caught.value.problem.data["found"] >= 1 << 32


def test_members_of_an_archive_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "LIMITS", Limits(free_items=5, items_per_byte=0))
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for number in range(6):
            archive.writestr(f"{number}.seq", "")
    with pytest.raises(bm.FormatError) as caught:
        open_collection(tmp_path / "a.zip")
    assert caught.value.problem.rule == "FMT009"


# Times, dances, music -----------------------------------------------------------------------------------


FAR_POSES = (
    "type: PoseSeq\nname: a\nrefs:\n"
    "  - {{ time: 0, refer: {{ type: Pose, joints: [ 0 ], q: [ 0 ] }} }}\n"
    "  - {{ time: {}, refer: {{ type: Pose, joints: [ 0 ], q: [ 0.1 ] }} }}\n"
)


def test_poses_far_apart_make_no_motion(tmp_path, unbounded):
    body = read_robot(tmp_path)
    (tmp_path / "far.pseq").write_text(FAR_POSES.format("1e12"))
    (tmp_path / "near.pseq").write_text(FAR_POSES.format("2"))
    for path in (tmp_path / "far.pseq", unbounded / "far_times.pseq"):
        with pytest.raises(MemoryError, match="frames"):
            bm.load(path).to_motion(body, 100)
        assert "FMT009" in {one.rule for one in bm.check(path, body=body).errors}
    assert bm.load(tmp_path / "near.pseq").to_motion(body, 100).num_frames == 201


def read_robot(folder: Path) -> bm.Body:
    (folder / "arm.urdf").write_text(
        '<robot name="arm"><link name="a"/><link name="b"/><joint name="j" type="revolute">'
        '<parent link="a"/><child link="b"/><axis xyz="0 1 0"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="9"/></joint></robot>'
    )
    return bm.load_body(folder / "arm.urdf")


@pytest.mark.parametrize(
    ("slices_per_minute", "start"), [(1e-300, 0), (400.0, 1_000_000)]
)
def test_endless_dances_are_not_played(slices_per_minute, start):
    dance = bm.Choreography(name="a", slices_per_minute=slices_per_minute)
    with pytest.raises(ValueError, match="frames"):
        play_choreography(dance.add("sway", start, 8, {}))


def test_moves_of_a_dance_are_limited(tmp_path):
    move = "moves { type: 'sway' start_slice: 0 requested_slices: 8 }\n"
    for count in (10, 50_000):
        path = tmp_path / f"{count}.csq"
        path.write_text("name: 'a' slices_per_minute: 400\n" + move * count)
    assert len(bm.load(tmp_path / "10.csq").moves) == 10
    assert refusal(tmp_path / "50000.csq").rule == "FMT009"


def test_silence_does_not_unpack_to_gigabytes(tmp_path, monkeypatch):
    """Silence in FLAC takes no bytes; recordings shrink to a tenth at least."""
    soundfile = pytest.importorskip("soundfile")
    monkeypatch.setattr(limits, "LIMITS", Limits(free_bytes=1 << 20))
    silence = np.zeros((2 << 20, 2), np.int16)
    soundfile.write(tmp_path / "a.flac", silence, 44100)
    assert (tmp_path / "a.flac").stat().st_size < 80_000
    with pytest.raises(bm.FormatError) as caught:
        load_music(tmp_path / "a.flac")
    assert caught.value.problem.rule == "FMT010"
    soundfile.write(tmp_path / "a.wav", silence, 44100)
    assert load_music(tmp_path / "a.wav") is not None
