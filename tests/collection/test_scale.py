"""Many motions on a cluster, from an object store and an archive; broken files among good ones; a run that is killed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import bodymotion as bm
from bodymotion.cli.app import app
from bodymotion.collection import (
    ClusterError,
    build_catalogue,
    in_order,
    map_files,
    open_collection,
    query,
)
from sample_files import ACCEPT
from waiting import until

pytest.importorskip("duckdb")
accept = pytest.mark.skipif(not ACCEPT, reason="takes minutes: ACCEPT=1")
tried: list[int] = []
COLUMNS = ("file", "num_frames", "errors", "joint_min", "root_x_max")
BUILD = """
import sys
from bodymotion.collection import build_catalogue, open_collection
if __name__ == "__main__":
    print(build_catalogue(open_collection(sys.argv[1]), sys.argv[2], workers=2))
"""


def half(number: int) -> float:
    tried.append(number)
    if number == 5 and tried.count(5) < 2:
        raise ConnectionError("try again")
    return 6 / number


def clips(folder: Path, examples: Path, number: int) -> None:
    """Write short motions, each with another content."""
    bm.save(bm.load(examples / "biped_walk.seq")[0:30], folder.parent / "one.seq")
    content = (folder.parent / "one.seq").read_bytes()
    for k in range(number):
        path = folder / f"{k // 1000}" / f"{k}.seq"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content + b"\n# %d\n" % k)


def test_a_cluster_gives_the_same_outcomes():
    """What could not be reached is tried again; another error is not."""
    distributed = pytest.importorskip("distributed")
    tried.clear()
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    ) as cluster:
        found = list(
            in_order(map_files(half, [2, 0, 5, 6], cluster=cluster.scheduler_address))
        )
    assert [one.value for one in found] == [3, None, 1.2, 1]
    assert isinstance(found[1].error, ZeroDivisionError)
    assert sorted(tried) == [0, 2, 5, 5, 6]


def test_a_cluster_that_is_lost_or_missing(tmp_path, examples, capfd):
    """One line for what happened, without a traceback of Dask."""
    dask, distributed = pytest.importorskip("dask"), pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        found = map_files(half, [2] * 3000, cluster=cluster.scheduler_address)
        next(found)
        cluster.close()
        with pytest.raises(ClusterError, match="does not answer"):
            list(found)
    clips(tmp_path / "walks", examples, 2)
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        for words in (
            ["info", "--table", tmp_path / "t.csv"],
            ["catalogue", "-o", tmp_path / "c.parquet"],
        ):
            arguments = [*words, tmp_path / "walks", "--cluster", "tcp://127.0.0.1:1"]
            result = CliRunner().invoke(app, list(map(str, arguments)))
            assert result.exit_code == 1 and result.stderr.count("\n") == 1
            assert "the scheduler tcp://127.0.0.1:1 does not answer" in result.stderr
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("kind", ["zip", "gztar"])
def test_an_archive_is_as_a_folder(kind, tmp_path, examples):
    pytest.importorskip("fsspec")
    clips(tmp_path / "walks", examples, 3)
    shutil.copy(examples / "biped.wrl", tmp_path / "walks")
    archive = shutil.make_archive(str(tmp_path / "all"), kind, tmp_path / "walks")
    here, there = open_collection(tmp_path / "walks"), open_collection(archive)
    assert [clip.name for clip in there] == [clip.name for clip in here] and len(
        here
    ) == 3
    assert [clip.load() for clip in there] == [clip.load() for clip in here]
    assert build_catalogue(there, tmp_path / "c.parquet", workers=1) == 3
    assert build_catalogue(there, tmp_path / "c.parquet", workers=1) == 0
    (tmp_path / "cut.zip").write_bytes(Path(archive).read_bytes()[:200])
    with pytest.raises(bm.FormatError):
        open_collection(tmp_path / "cut.zip")


def test_a_catalogue_in_parts(tmp_path, examples):
    """A folder of Parquet files is asked, and brought up to date, as one file is."""
    clips(tmp_path / "walks", examples, 3)
    walks = open_collection(tmp_path / "walks")
    assert build_catalogue(walks[:2], tmp_path / "parts", workers=1) == 2
    assert build_catalogue(walks, tmp_path / "parts", workers=1) == 1
    assert list((tmp_path / "parts").glob("*.parquet"))
    assert [
        row["file"] for row in query(tmp_path / "parts", "num_frames = 30", ["file"])
    ] == [one.name for one in walks]


@accept
def test_a_command_on_a_cluster(tmp_path, examples):
    """The processes of the cluster have another current folder, and no files of ours but those that are named."""
    distributed = pytest.importorskip("distributed")
    clips(tmp_path / "walks", examples, 4)
    (tmp_path / "walks" / "bad.seq").write_text("type: [")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as cluster:
        arguments = [
            "retime",
            "walks/",
            "slow/",
            "--rate",
            "50",
            "--cluster",
            cluster.scheduler_address,
        ]
        assert (
            subprocess.run(
                [sys.executable, "-m", "bodymotion", *arguments], cwd=tmp_path
            ).returncode
            == 1
        )
    assert sorted(path.name for path in (tmp_path / "slow").rglob("*.seq")) == [
        f"{k}.seq" for k in range(4)
    ]
    assert bm.load(tmp_path / "slow" / "0" / "0.seq").frame_rate == 50


@accept
def test_killed_workers_lose_nothing(tmp_path, examples, object_store):
    """A cluster of four processes, one killed every few seconds, reads an object store; the rows are those of the folder."""
    distributed = pytest.importorskip("distributed")
    clips(tmp_path / "walks", examples, 400)
    body = examples / "biped.wrl"
    build_catalogue(
        open_collection(tmp_path / "walks"), tmp_path / "here.parquet", body=body
    )
    object_store.mkdir("bucket")
    object_store.put(str(tmp_path / "walks"), "bucket/walks", recursive=True)
    over, killed = threading.Event(), []

    def kill(cluster) -> None:
        while not over.wait(2 if not killed else 20):
            workers = [
                one.process.process.pid
                for one in cluster.workers.values()
                if one.process and one.process.process
            ]
            os.kill(workers[len(killed) % len(workers)], signal.SIGKILL)
            killed.append(time.monotonic())

    with distributed.LocalCluster(
        n_workers=4, threads_per_worker=1, dashboard_address=None
    ) as cluster:
        threading.Thread(target=kill, args=(cluster,), daemon=True).start()
        there = open_collection("s3://bucket/walks")
        build_catalogue(
            there, tmp_path / "there", body=body, cluster=cluster.scheduler_address
        )
        over.set()
    assert killed
    leave = {"size", "modified", "run"}
    for a, b in zip(
        query(tmp_path / "here.parquet"), query(tmp_path / "there"), strict=True
    ):
        assert {name: value for name, value in a.items() if name not in leave} == {
            name: pytest.approx(value, rel=1e-9, abs=1e-12)
            if isinstance(value, float)
            else value
            for name, value in b.items()
            if name not in leave
        }


@accept
def test_broken_files_among_good_ones(tmp_path, examples):
    """10 000 good files are done, each of 1 000 broken, hostile or huge ones is named; memory and time are bounded."""
    import resource

    clips(tmp_path / "walks", examples, 10_000)
    good = (tmp_path / "one.seq").read_bytes()
    bvh = (
        "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Xposition Yposition Zposition\n"
    )
    generator = np.random.default_rng(0)
    aliases = "\n".join(
        f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 10)}]" for k in range(1, 30)
    )
    kinds = {
        "cut.seq": lambda k: good[: len(good) // 2 + k],
        "noise.seq": lambda k: generator.bytes(1000 + k),
        "noise.bvh": lambda k: generator.bytes(1000 + k),
        "deep.seq": lambda k: b"components: " + b"[" * (50_000 + k),
        "aliases.seq": lambda k: good + f"\nx: &a0 [1]\n{aliases}\n{k}: [".encode(),
        "words.seq": lambda k: (
            good.replace(b"frames:", b"frames: [[one, two]] #", 1) + b"#%d" % k
        ),
        "joints.bvh": lambda k: (
            bvh + "JOINT b\n{\nOFFSET 0 0 0\nCHANNELS 0\n" * (20_000 + k)
        ).encode(),
        "huge.seq": lambda k: good[:-1],
        "empty.cha": lambda k: b"#%d" % k,
    }
    (tmp_path / "walks" / "bad").mkdir()
    for name, content in kinds.items():
        for k in range(4 if name == "huge.seq" else 142):
            path = tmp_path / "walks" / "bad" / f"{k}{name}"
            path.write_bytes(content(k))
            if name == "huge.seq":
                os.truncate(path, 50 << 30)
    found = open_collection(tmp_path / "walks")
    build_catalogue(found, tmp_path / "c.parquet", workers=2, time_limit=20)
    rows = query(tmp_path / "c.parquet", columns=COLUMNS)
    assert [row["file"] for row in rows] == [clip.name for clip in found] and len(
        rows
    ) == 11_140
    assert [row["file"] for row in rows if row["errors"]] == [
        row["file"] for row in rows if "bad/" in row["file"]
    ]
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 2 << 20  # [kB]


@accept
def test_a_killed_catalogue_goes_on(tmp_path, examples):
    """At most one in a hundred is read twice."""
    clips(tmp_path / "walks", examples, 2000)
    part = tmp_path / "c.parquet.part"
    (tmp_path / "build.py").write_text(BUILD)
    arguments = [
        sys.executable,
        str(tmp_path / "build.py"),
        str(tmp_path / "walks"),
        str(tmp_path / "c.parquet"),
    ]
    process = subprocess.Popen(arguments)
    until(lambda: part.exists() and part.read_bytes().count(b"\n") > 500)
    process.kill()
    process.wait()
    done = part.read_bytes().count(b"\n")
    again = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert 2000 - done <= int(again.stdout) <= 2000 - done + 20
    assert len(query(tmp_path / "c.parquet", columns=["file"])) == 2000
