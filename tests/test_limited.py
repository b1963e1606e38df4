"""Files of others are read in a child process with limits of the operating system: what ends it ends nothing else, and is a finding."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from pickle import UnpicklingError

import pytest

import bodymotion as bm
import limited_calls
from bodymotion.formats.untrusted import call_within_limits
from bodymotion.system.limited import (
    IS_AVAILABLE,
    OF_OTHERS,
    ProcessEndedError,
    ProcessLimits,
    call_limited,
)

pytestmark = pytest.mark.skipif(
    not IS_AVAILABLE, reason="the system has no limits for processes"
)
MEMORY = ProcessLimits(memory=256 << 20)
HOSTILE = {
    "crash": (limited_calls.abort, OF_OTHERS, "FMT014"),
    "processor time": (limited_calls.compute, ProcessLimits(processor=1), "FMT013"),
    "deadline": (limited_calls.wait, ProcessLimits(deadline=0.1), "FMT013"),
}
ABORTS = "import os\nos.abort()\n"
WAITS = "import os, pathlib, time\npathlib.Path(os.environ['MARK']).write_text(str(os.getpid()))\ntime.sleep(600)\n"


@pytest.mark.parametrize("ended", HOSTILE)
def test_a_process_that_ends_is_an_error_of_the_call(ended, tmp_path):
    function, limits, rule = HOSTILE[ended]
    path = tmp_path / "a.seq"
    path.touch()
    with pytest.raises(bm.FormatError) as fault:
        call_within_limits(function, files=[path], limits=limits)
    problem = fault.value.problem
    assert (problem.rule, problem.location.path) == (rule, str(path))
    assert problem.data == {"ended": ended}
    assert call_limited(limited_calls.half, 6) == 3


def test_memory_is_limited():
    assert call_limited(limited_calls.allocate, 128 << 20, limits=MEMORY) == 128 << 20
    with pytest.raises(MemoryError):
        call_limited(limited_calls.allocate, 1 << 30, limits=MEMORY)


def test_files_that_are_written_are_limited(tmp_path):
    short = ProcessLimits(file_size=1 << 20)
    path = tmp_path / "a"
    assert call_limited(limited_calls.write, path, 1 << 20, limits=short) == 1 << 20
    with pytest.raises(OSError) as caught:
        call_limited(limited_calls.write, path, 2 << 20, limits=short)
    assert caught.value.errno == errno.EFBIG
    # The limit is that of the call.
    assert call_limited(limited_calls.write, path, 2 << 20) == 2 << 20
    assert OF_OTHERS.for_size(10).file_size == OF_OTHERS.file_size + 1000


def test_results_are_values_that_stay_read_only():
    motion = call_limited(limited_calls.motion_of_columns)
    assert motion == limited_calls.motion_of_columns()
    assert not motion.joint_displacement.values.flags.writeable
    with pytest.raises(UnpicklingError, match=r"decimal\.Decimal"):
        call_limited(limited_calls.foreign_value)


def test_a_process_that_ends_leaves_no_files(tmp_path):
    with pytest.raises(ProcessEndedError):
        call_limited(limited_calls.write_and_abort, tmp_path / "a.seq")
    assert not [*tmp_path.iterdir()]


def python(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python, and return its result."""
    return subprocess.run(
        [sys.executable, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, **environment},
    )


def test_a_program_without_a_guard_runs_once(tmp_path, examples):
    """With `multiprocessing` the child process would run it again."""
    program = tmp_path / "program.py"
    program.write_text(
        "import bodymotion as bm\nprint('once')\n"
        f"print(bm.load({str(examples / 'wave.cha')!r}, untrusted=True).name)\n"
    )
    done = python(program)
    assert (done.stdout, done.stderr) == ("once\nwave\n", "")


@pytest.fixture
def tables(tmp_path) -> Path:
    """A folder with three tables, one of them of Parquet."""
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    folder = tmp_path / "tables"
    folder.mkdir()
    for number in range(2):
        (folder / f"b{number}.csv").write_text("time,a,b\n0,1,2\n0.1,1,2\n")
    columns = {name: [0.0, 0.1] for name in ("time", "a", "b")}
    parquet.write_table(pyarrow.table(columns), folder / "a0.parquet")
    return folder


def fake_pyarrow(folder: Path, program: str) -> str:
    """Write a package `pyarrow` that does what damaged files could make it do; return the path of modules that has it."""
    package = folder / "fake" / "pyarrow"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(program)
    return str(package.parent)


def test_a_library_that_ends_its_process_ends_no_command(tmp_path, tables):
    """In a folder of a few files with one worker, each file has its finding or result; --resume gets past those that failed."""
    path = fake_pyarrow(tmp_path, ABORTS)
    checked = python(
        "-m", "bodymotion", "check", "--workers", 1, tables, PYTHONPATH=path
    )
    assert checked.returncode == 1
    assert checked.stdout.count("FMT014") == 1
    assert "3 files checked: 1 error" in checked.stdout
    words = ["-m", "bodymotion", "info", tables, "--table", tmp_path / "rows.jsonl"]
    first = python(*words, "--workers", 1, "--resume", PYTHONPATH=path)
    assert (first.returncode, first.stderr.count("FMT014")) == (1, 1)
    again = python(*words, "--workers", 1, "--resume", PYTHONPATH=path)
    assert again.returncode == 1 and "3 by an earlier run" in again.stderr
    assert len((tmp_path / "rows.jsonl").read_text().splitlines()) == 3


def test_the_library_and_a_viewer_survive_it(tmp_path, tables):
    program = (
        "import sys, bodymotion as bm\n"
        "from bodymotion.scene.loading import load_scene_apart\n"
        "for read in (bm.load, load_scene_apart):\n"
        "    try:\n"
        "        read(sys.argv[1], **({'untrusted': True} if read is bm.load else {}))\n"
        "    except bm.FormatError as error:\n"
        "        print(error.problem.rule)\n"
        "print(*[one.rule for one in bm.check(sys.argv[1], untrusted=True).problems])\n"
    )
    path = fake_pyarrow(tmp_path, ABORTS)
    done = python("-c", program, tables / "a0.parquet", PYTHONPATH=path)
    assert done.stdout.split() == ["FMT014"] * 3, done.stderr


def test_a_time_limit_for_one_file(tmp_path, tables):
    path = fake_pyarrow(tmp_path, WAITS)
    words = ["-m", "bodymotion", "info", tables / "a0.parquet", "--time-limit", 0.5]
    mark = str(tmp_path / "mark")
    done = python(*words, PYTHONPATH=path, MARK=mark)
    assert done.returncode == 1
    assert "FMT013" in done.stderr and "0.5 s" in done.stderr


def test_ctrl_c_ends_the_child_process_too(tmp_path, tables):
    mark = tmp_path / "mark"
    path = fake_pyarrow(tmp_path, WAITS)
    words = ["-m", "bodymotion", "info", "--untrusted", str(tables / "a0.parquet")]
    with subprocess.Popen(
        [sys.executable, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path, "MARK": str(mark)},
    ) as command:
        while command.poll() is None and not (mark.exists() and mark.read_text()):
            time.sleep(0.02)
        command.send_signal(signal.SIGINT)
        assert command.wait(60) == 130
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)


TABLES = (
    "CREATE TABLE topics (id INTEGER PRIMARY KEY, name TEXT, type TEXT, serialization_format TEXT)",
    "INSERT INTO topics VALUES (1, '/joint_states', 'sensor_msgs/msg/JointState', 'cdr')",
)
ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"
ROWS = "1 AS topic_id, 0 AS timestamp"
PROGRAMS = {
    "endless": f"CREATE VIEW messages AS {ENDLESS} SELECT {ROWS}, x AS data FROM n",
    "blob": f"CREATE VIEW messages AS SELECT {ROWS}, zeroblob(900000000) AS data",
    "text": f"CREATE VIEW messages AS SELECT {ROWS}, printf('%900000000d', 1) AS data",
    "join": f"CREATE VIEW messages AS SELECT {ROWS}, a.id AS data FROM topics a, topics b",
    "computed column": "CREATE TABLE messages (topic_id INTEGER DEFAULT 1, timestamp INTEGER DEFAULT 0,"
    " data BLOB AS (zeroblob(900000000)))",
    "virtual table": "CREATE VIRTUAL TABLE messages USING fts5(topic_id, timestamp, data)",
    "none": "CREATE TABLE others (topic_id, timestamp, data)",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_sql_of_a_log_is_not_run(tmp_path, name):
    """Tables that are views, or compute their columns, would take any time and memory."""
    path = tmp_path / "a.db3"
    with sqlite3.connect(path) as connection:
        for statement in (*TABLES, PROGRAMS[name]):
            connection.execute(statement)
        if name == "computed column":
            connection.execute("INSERT INTO messages DEFAULT VALUES")
    connection.close()
    with pytest.raises(bm.FormatError) as caught:
        bm.load(path)
    problem = caught.value.problem
    assert (problem.rule, problem.location.path) == ("FMT002", str(path))


def test_a_log_has_no_more_messages_than_bytes(tmp_path):
    """A page that leads to itself would have rows without end."""
    path = tmp_path / "a.db3"
    with sqlite3.connect(path) as connection:
        for statement in TABLES:
            connection.execute(statement)
        connection.execute("CREATE TABLE messages (topic_id, timestamp, data BLOB)")
        rows = [(2, 0, bytes(900))] * 2000
        connection.executemany("INSERT INTO messages VALUES (?, ?, ?)", rows)
        (root,) = connection.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'messages'"
        ).fetchone()
        (page,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    data = bytearray(path.read_bytes())
    start = (root - 1) * page
    assert data[start] == 5, "an inner page of a table"
    # All its cells lead to the first of its leaves but the last, which has most rows.
    count = int.from_bytes(data[start + 3 : start + 5], "big")
    cells = [
        start + int.from_bytes(data[at : at + 2], "big")
        for at in range(start + 12, start + 12 + 2 * count, 2)
    ]
    leaves = [bytes(data[cell : cell + 4]) for cell in cells]
    for cell in cells:
        data[cell : cell + 4] = leaves[-1]
    data[start + 8 : start + 12] = root.to_bytes(4, "big")
    path.write_bytes(data)
    with pytest.raises(bm.FormatError) as caught:
        bm.load(path)
    assert caught.value.problem.rule == "FMT009"


SECRET = "secret = 1234\n"


def linked(folder: Path, name: str) -> Path:
    """Make a file of a folder a link to a secret beside the folder, and return it."""
    secret = folder.parent / "secret.txt"
    secret.write_text(SECRET)
    path = folder / name
    path.unlink(missing_ok=True)
    path.symlink_to(secret)
    return path


@pytest.mark.parametrize("format", ["asf", "rosbag2", "itself"])
def test_links_out_of_the_folder_are_not_followed(tmp_path, format):
    folder = tmp_path / "model"
    folder.mkdir()
    named = {
        "asf": ("a.amc", ":FULLY-SPECIFIED\n:DEGREES\n1\nroot 0 0 0 0 0 0\n", "a.asf"),
        "rosbag2": (
            "metadata.yaml",
            "rosbag2_bagfile_information:\n  version: 5\n",
            "a.db3",
        ),
        "itself": ("a.seq", "", "a.seq"),
    }
    name, text, link = named[format]
    path = folder / name
    path.write_text(text)
    linked(folder, link)
    with pytest.raises(bm.FormatError) as caught:
        bm.load(path, untrusted=True)
    problem = caught.value.problem
    assert problem.rule == "VRML131"
    assert problem.location.path == str(folder / link)
    if format == "asf":
        found = python("-m", "bodymotion", "check", "--untrusted", folder)
        assert "secret =" not in f"{found.stdout}{found.stderr}"


@pytest.mark.parametrize("part", ["meta/info.json", "data/chunk-000/file-000.parquet"])
def test_links_in_a_data_set_of_others_are_not_followed(tmp_path, part):
    pytest.importorskip("pyarrow")
    folder = tmp_path / "set"
    bm.collection.write_lerobot([limited_calls.motion_of_columns()], folder)
    (episode,) = bm.open_collection(folder)
    assert episode.load(untrusted=True).num_frames == 4
    elsewhere = tmp_path / "elsewhere"
    shutil.move(folder / part, elsewhere)
    (folder / part).symlink_to(elsewhere)
    assert episode.load().num_frames == 4
    with pytest.raises(bm.FormatError) as caught:
        episode.load(untrusted=True)
    assert caught.value.problem.rule == "VRML131"


def test_a_pipe_of_others_is_read(examples):
    """A child process has no stdin of its own, and /dev/stdin is a link."""
    with (examples / "wave.cha").open("rb") as stream:
        words = ["-m", "bodymotion", "info", "--untrusted", "/dev/stdin"]
        done = subprocess.run(
            [sys.executable, *words],
            stdin=stream,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, "")
    assert "Spot animation" in done.stdout


def test_files_of_others_are_fixed(tmp_path, examples):
    """What is to be fixed is found in the child process, and written by the command."""
    path = tmp_path / "a.seq"
    text = (examples / "biped_walk.seq").read_text()
    path.write_text(text.replace("\n", "\r\n", 1))
    done = python("-m", "bodymotion", "check", "--untrusted", "--fix", path)
    assert done.returncode == 0, done.stderr
    assert path.read_bytes() == text.encode()
