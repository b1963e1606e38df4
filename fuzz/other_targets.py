"""Targets that are no format of one file: data sets, archives, projects, maps of joints, gains, music, and the SQL of logs."""

from __future__ import annotations

import io
import itertools
import os
import shutil
import sqlite3
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path, PurePosixPath

import numpy as np

import bodymotion as bm
from bodymotion.diagnostics import FormatError
from fuzz import texts
from fuzz.target import Target, split

__all__ = ["OTHER_TARGETS"]

LARGE_INPUT = 1 << 17
"""[bytes] Maximum length of inputs whose seeds have the size of real files."""
MAX_UNPACKED = 1 << 20
"""[bytes] The length of a file in the folder that an input becomes."""
MAX_STATEMENTS = 300
MAX_STEPS = 100_000
"""Steps of SQLite for one statement of a log that is made."""
NUM_JOINTS = 29
"""Joints of the robot in the seeds: those of a humanoid."""
NUM_FRAMES = 100
NUM_TRIED = 3
"""Episodes and members that are read of each input."""

_clock = itertools.count(1)


def _renew(path: Path) -> None:
    """Give a file a time of its own: readers keep what they know of a file until its time changes."""
    time = next(_clock) * 1_000_000_000
    os.utime(path, ns=(time, time))


@contextmanager
def _copies_in(folder: Path) -> Iterator[None]:
    """Let readers put their copies into a folder that they may use."""
    usual = tempfile.tempdir
    tempfile.tempdir = str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = usual


@cache
def _walk() -> bm.Motion:
    """Return a motion as long as those in the seeds are."""
    names = [f"joint_{k:02d}" for k in range(NUM_JOINTS)]
    times = np.arange(NUM_FRAMES)[:, None] / 9
    return bm.Motion.from_joints(
        np.sin(times + np.arange(NUM_JOINTS)), 50, joint_names=names
    )


# Logs of SQL --------------------------------------------------------------------------------------------


def write_log(data: bytes, path: Path) -> None:
    """Write a log whose schema and rows an input states as SQL; what SQLite refuses is left out."""
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as log:
        log.execute("PRAGMA journal_mode=OFF")
        log.execute("PRAGMA synchronous=OFF")
        log.execute("PRAGMA max_page_count=250")
        log.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_UNPACKED)
        log.set_progress_handler(lambda: 1, MAX_STEPS)
        log.set_authorizer(_authorize)
        statements = data.decode("utf-8", "replace").split(";\n")
        for statement in statements[:MAX_STATEMENTS]:
            with suppress(sqlite3.Error, sqlite3.Warning, MemoryError, ValueError):
                log.execute(statement)


def _authorize(action: int, name: str | None, *others: str | None) -> int:
    """Allow what changes this log only."""
    if action == sqlite3.SQLITE_PRAGMA and name != "writable_schema":
        return sqlite3.SQLITE_DENY
    if action in (sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH):
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


@cache
def _logs() -> tuple[bytes, ...]:
    """Return the schema as rosbag2 writes it, with messages of a robot; the same with what SQL has besides tables."""
    from mcap.reader import make_reader

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.mcap"
        bm.save(_walk(), path)
        rows = [*make_reader(io.BytesIO(path.read_bytes())).iter_messages()]
    topics = {
        channel.id: f"INSERT INTO topics VALUES({channel.id}, '{channel.topic}', '{schema.name}', 'cdr', '', '')"
        for schema, channel, _ in rows
        if schema is not None
    }
    messages = [
        f"INSERT INTO messages VALUES({number}, {channel.id}, {message.log_time}, X'{message.data.hex()}')"
        for number, (_, channel, message) in enumerate(rows[:10], start=1)
    ]
    made = ";\n".join((texts.LOG_SCHEMA, *topics.values(), *messages))
    return (
        made.encode(),
        ";\n".join((made, *texts.LOG_PROGRAMS)).encode(),
    )


_WORDS_OF_SQL = split(
    "CREATE TABLE VIEW INDEX TRIGGER VIRTUAL TEMP IF NOT EXISTS topics messages schema metadata sqlite_schema sqlite_master",
    "SELECT FROM WHERE UNION ALL WITH RECURSIVE AS JOIN GROUP BY ORDER LIMIT zeroblob printf hex randomblob json_each",
    "generate_series load_extension GENERATED ALWAYS VIRTUAL STORED WITHOUT ROWID STRICT PRIMARY KEY UNIQUE DEFAULT",
    "CHECK COLLATE REFERENCES INTEGER TEXT BLOB REAL ANY NULL fts5 rtree dbstat INSERT UPDATE DELETE DROP ALTER RENAME",
    "ADD COLUMN id topic_id timestamp data name type serialization_format rowid cdr 'X''",
)


# Data sets of LeRobot -----------------------------------------------------------------------------------


def unpack(data: bytes, path: Path) -> None:
    """Write the members of a zip archive as a folder; of other bytes, the description of a data set."""
    shutil.rmtree(path, ignore_errors=True)
    members = {"meta/info.json": data[:MAX_UNPACKED]}
    with suppress(Exception), zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {
            name: archive.open(name).read(MAX_UNPACKED)
            for name in archive.namelist()[:30]
        }
    for name, content in members.items():
        parts = PurePosixPath(name).parts
        if not parts or ".." in parts or name.startswith("/") or len(name) > 200:
            continue
        file = path.joinpath(*parts)
        with suppress(OSError, ValueError):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
            _renew(file)
    path.mkdir(exist_ok=True)


def packed(members: dict[str, bytes]) -> bytes:
    """Return a zip archive."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


@cache
def _data_sets() -> tuple[bytes, ...]:
    from bodymotion.collection.lerobot import write_lerobot

    found = []
    short = bm.Motion.from_joints([[0.0, 0.1]] * 9, 50, joint_names=["HIP", "KNEE"])
    for motion in (_walk(), short):
        with tempfile.TemporaryDirectory() as above:
            folder = Path(above) / "set"
            write_lerobot([motion] * NUM_TRIED, folder)
            files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
            members = {
                path.relative_to(folder).as_posix(): path.read_bytes() for path in files
            }
            found.append(packed(members))
    return tuple(found)


def read_data_set(folder: Path) -> list[bm.Motion]:
    """Read the first episodes of a data set."""
    from bodymotion.collection.lerobot import num_episodes, read_episode

    count = min(num_episodes(folder), NUM_TRIED)
    return [read_episode(folder, k, untrusted=True) for k in range(count)]


# Archives -----------------------------------------------------------------------------------------------


def write_archive(data: bytes, path: Path) -> None:
    """Write an archive with a time of its own."""
    path.write_bytes(data)
    _renew(path)


def read_archive(path: Path) -> list[object]:
    """Read the first members of an archive; those that are refused are left out."""
    found = []
    with _copies_in(path.parent / "saved"):
        for clip in bm.open_collection(path)[:NUM_TRIED]:
            with suppress(FormatError):
                found.append(clip.load(untrusted=True))
    return found


@cache
def _motion_files() -> dict[str, bytes]:
    found = {"readme.txt": b"walks"}
    with tempfile.TemporaryDirectory() as folder:
        for name in ("a.npz", "b.csv"):
            path = Path(folder) / name
            bm.save(_walk(), path)
            found[f"walks/{name}"] = path.read_bytes()
    return {**found, "walks/deep/c.seq": texts.SEQ[0].encode()}


def _zips() -> tuple[bytes, ...]:
    small = {name: content[:2000] for name, content in _motion_files().items()}
    return packed(_motion_files()), packed(small)


def _tar(mode: str, **options: int) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode, **options) as archive:  # type: ignore[call-overload]
        for name, content in _motion_files().items():
            about = tarfile.TarInfo(name)
            about.size = len(content)
            archive.addfile(about, io.BytesIO(content))
        link = tarfile.TarInfo("walks/link.seq")
        link.type, link.linkname = tarfile.SYMTYPE, "../../secret.wrl"
        archive.addfile(link)
    return stream.getvalue()


@cache
def _tars() -> tuple[bytes, ...]:
    return _tar("w", format=tarfile.PAX_FORMAT), _tar("w", format=tarfile.GNU_FORMAT)


@cache
def _packed_tars() -> tuple[bytes, ...]:
    return (_tar("w:gz"),)


# Projects, maps, gains ----------------------------------------------------------------------------------


def read_project(path: Path) -> object:
    """Read a project of Choreonoid as a stranger's."""
    from bodymotion.simulation import load_project

    return load_project(path, untrusted=True)


def _beside_project() -> dict[str, bytes]:
    other = "format: ChoreonoidBody\nformatVersion: 1.0\nname: Other\nrootLink: O\nlinks:\n  - { name: O, jointType: fixed, mass: 1 }\n"
    return {
        "other.body": other.encode(),
        "robot.wrl": texts.VRML[0].encode(),
        "walk.seq": texts.SEQ[0].encode(),
        "steps.pseq": texts.PSEQ[0].encode(),
    }


def read_map(path: Path) -> object:
    """Read a map of joints as `retarget --map` does."""
    from bodymotion.cli.retarget import _roles

    return _roles(path)


ROLES = [
    f"{side} {part}"
    for side in ("left", "right")
    for part in ("hip", "knee", "ankle", "toe", "shoulder", "elbow", "wrist", "hand")
]


def _maps() -> tuple[bytes, ...]:
    rows = {
        name: "".join(
            f"  {role}: {name.upper()}_{role.replace(' ', '_').upper()}\n"
            for role in ROLES
        )
        for name in ("source", "body")
    }
    block = "".join(f"{name}:\n{text}" for name, text in rows.items())
    flow = '{"source": {"left knee": "LeftLeg"}, "body": {"left knee": "LLEG_KNEE", waist: &w WAIST, chest: *w}}\n'
    return block.encode(), flow.encode()


@cache
def _robot() -> bm.Body:
    """Return a robot with the joints of the gains."""
    joints = "".join(
        f'<link name="l{k + 1}"/><joint name="joint_{k:02d}" type="revolute"><parent link="l{k}"/><child link="l{k + 1}"/>'
        '<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
        for k in range(NUM_JOINTS)
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot.urdf"
        path.write_text(f'<robot name="r"><link name="l0"/>{joints}</robot>')
        return bm.load_body(path)


def read_gains_of_robot(path: Path) -> object:
    """Read gains of the robot."""
    from bodymotion.formats.gains import read_gains

    return read_gains(path, _robot())


def _gains() -> tuple[bytes, ...]:
    _robot()  # it is read before what a reader opens is watched
    rows = [f"{200 + 10 * k}.5 {1 + k}e-1" for k in range(NUM_JOINTS)]
    named = [f"joint_{k:02d}, {row} 60 # Nm" for k, row in enumerate(rows)]
    return "\n".join(rows).encode(), "\r\n".join(["# gains", *named]).encode()


# Music --------------------------------------------------------------------------------------------------


def read_music(path: Path) -> object:
    """Read music, and its levels as a page shows them."""
    from bodymotion.scene.music import load_music

    music = load_music(path)
    levels = music.levels(64)
    if not np.isfinite(levels).all() or not np.isfinite(music.duration):
        raise AssertionError("levels that are not finite")
    return music


def _sounds(kind: str, subtype: str | None = None) -> tuple[bytes, ...]:
    """Return a second of beats, and a short piece in stereo."""
    import soundfile

    times = np.arange(8000) / 8000
    beats = np.sin(1400 * times) * (np.mod(times, 0.25) < 0.05)
    both = np.stack([beats, beats / 2], axis=1)[:1000]
    found = []
    for samples in (beats, both):
        stream = io.BytesIO()
        soundfile.write(stream, samples, 8000, format=kind, subtype=subtype)
        found.append(stream.getvalue())
    return tuple(found)


def _of_music(kind: str, subtype: str | None = None) -> Target:
    @cache
    def seeds() -> tuple[bytes, ...]:
        return _sounds(kind.upper(), subtype)

    name = f"a.{kind}"
    return Target(
        f"music-{kind}",
        name,
        seeds=seeds,
        how="bytes",
        most=LARGE_INPUT,
        read=read_music,
    )


_WORDS_OF_CNOID = split(
    "items children class name data file filename modelFile plugin id BodyItem WorldItem BodyMotionItem PoseSeqItem",
    "AISTSimulatorItem RootItem initial_root_translation initial_root_rotation initialRootPosition initialRootAttitude",
    "initial_joint_displacements jointPositions fix_root staticModel time_step timeStep time_length timeLength",
    "${PROJECT_DIR}/ ${SHARE}/ .. /etc/passwd other.body robot.wrl walk.seq true false null .nan .inf",
    "- : { } [ ] & * << ! | > ---",
)
_WORDS_OF_MAPS = split(
    "source body : - { } [ ] &a *a << ! | > ' \" --- null .nan waist"
)

OTHER_TARGETS: tuple[Target, ...] = (
    Target(
        "rosbag2-sql",
        "a.db3",
        "rosbag2",
        "a.mcap",
        "mcap",
        _logs,
        _WORDS_OF_SQL,
        most=LARGE_INPUT,
        put=write_log,
    ),
    Target(
        "lerobot",
        "set",
        seeds=_data_sets,
        how="folder",
        most=LARGE_INPUT,
        put=unpack,
        read=read_data_set,
    ),
    *(
        Target(
            name,
            f"a.{name}",
            seeds=seeds,
            how=how,
            most=LARGE_INPUT,
            put=write_archive,
            read=read_archive,
        )
        for name, seeds, how in (
            ("zip", _zips, "folder"),
            ("tar", _tars, "bytes"),
            ("tar.gz", _packed_tars, "bytes"),
        )
    ),
    Target(
        "cnoid",
        "a.cnoid",
        seeds=lambda: tuple(text.encode() for text in texts.CNOID),
        words=_WORDS_OF_CNOID,
        beside=_beside_project,
        read=read_project,
    ),
    Target("map", "map.yaml", seeds=_maps, words=_WORDS_OF_MAPS, read=read_map),
    Target("gains", "gains.txt", seeds=_gains, read=read_gains_of_robot),
    _of_music("wav"),
    _of_music("flac"),
    _of_music("ogg"),
    _of_music("mp3"),
)
"""All of them; in `TARGETS` they follow those of the formats."""
