"""Data sets of LeRobot, version 3.0.

Many episodes in Parquet files; each is a motion.

- ``meta/info.json``: frame rate, and the features with the names of their columns,
  which are nowhere else;
- ``meta/episodes/chunk-000/file-000.parquet``: a row for each episode, with its length,
  its data file and its statistics;
- ``data/chunk-000/file-000.parquet``: the frames of many episodes;
- ``meta/tasks.parquet``, ``meta/stats.json``.

The columns ``…x y z qx qy qz qw`` of ``observation.state`` are the root pose, the
others joints [rad or m]. Other features with names are components of their own. Frames
are at multiples of 1/fps.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from bodymotion.diagnostics import (
    Diagnostics,
    FormatError,
    Location,
    Problem,
    Source,
    losses,
)
from bodymotion.diagnostics.text import listed
from bodymotion.formats.limits import budget_for
from bodymotion.formats.parquet import check_columns
from bodymotion.formats.plain import parse_json
from bodymotion.formats.resources import check_inside, file_bytes
from bodymotion.formats.rules import NAMES, STAMPS, UNREADABLE
from bodymotion.formats.tables.columns import angles_without_unit, check_rate
from bodymotion.geometry.arrays import Floats, Indices
from bodymotion.motion import Motion, MultiValueSeq
from bodymotion.system.deferred import need
from bodymotion.system.files import open_file, whole_folder

# The path, the time of the last change [ns] and the size [bytes] of files.
State: TypeAlias = tuple[tuple[str, int, int], ...]

__all__ = ["num_episodes", "read_episode", "write_lerobot"]

INFO = Path("meta/info.json")
STATE = "observation.state"
VERSION = "v3.0"
DATA_PATH = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
# The column with the texts of tasks, which pandas takes as the index.
TASK = "__index_level_0__"
POSE = ("x", "y", "z", "qx", "qy", "qz", "qw")
STAMP = "timestamp"
# Features of each data set, with one number for each frame.
FRAME_FEATURES = (STAMP, "frame_index", "episode_index", "index", "task_index")
QUANTILES = {"q01": 0.01, "q10": 0.1, "q50": 0.5, "q90": 0.9, "q99": 0.99}
# The statistics of each feature.
KINDS = ("min", "max", "mean", "std", "count", *QUANTILES)
# Lists of names in lists.
MAX_DEPTH = 3
# [bytes] A larger info.json is not read; others have some 10 kB.
MAX_INFO = 4 << 20
# Each is a component of the motion.
MAX_FEATURES = 500
# [bytes] A number in memory.
NUMBER_BYTES = 8
# [MB] Size of a data file before the next one begins.
MAX_DATA = 100
# [MB] The same of videos, which we do not write: LeRobot's default.
MAX_VIDEO = 200
# Files in a folder.
MAX_FILES = 1000


def _info(folder: Path) -> dict[str, Any]:
    """Return the description of a data set.

    FormatError where it is none of version 3.0.
    """
    path = folder / INFO
    return _described(path, _state((path,)))


@lru_cache(maxsize=4)
def _described(path: Path, state: State) -> dict[str, Any]:
    """Return the description of a data set.

    `state` is that of its file, for the cache.
    """
    location = Location(str(path))
    try:
        info = parse_json(file_bytes(path, MAX_INFO))
        reason = _find_fault(info)
    except FormatError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        reason = f"the file is not the description of a LeRobot data set: {error}"
    if reason:
        hint = "convert data sets of earlier versions with lerobot"
        raise UNREADABLE.error(reason, location, hint)
    return dict(info)


def _find_fault(info: Any) -> str:  # noqa: ANN401
    """Return why a description is none of a data set that can be read."""
    faults = []
    for key, expected in (("codebase_version", VERSION), ("data_path", DATA_PATH)):
        value = info.get(key)
        if value != expected:
            faults.append(f"{key} is {value!r:.60}; expected {expected!r}")
    if faults:
        return ". ".join(faults)
    features = info["features"]
    # Without `observation.state` nothing says which columns are joints and root.
    if not (0 < float(info["fps"]) < np.inf and features[STATE]):
        return "the description has no frame rate, or no observation.state"
    if len(features) > MAX_FEATURES:
        return f"it has {len(features)} features; at most {MAX_FEATURES}"
    if not all(isinstance(feature, dict) for feature in features.values()):
        return "the description has no frame rate, or no observation.state"
    return ""


def _episodes(folder: Path) -> Indices:
    """Return the rows (N, 4) of the episodes.

    Number, length, and the chunk and file where their frames are.
    """
    path = folder / "meta" / "episodes"
    return _listed_episodes(path, _state(_parquet_files(path)))


@lru_cache(maxsize=4)
def _listed_episodes(path: Path, state: State) -> Indices:
    """Return the rows (N, 4) of the episodes.

    `state` is that of the files, for the cache.
    """
    columns = ["episode_index", "length", "data/chunk_index", "data/file_index"]
    table = _read(path, "episode_index", columns)
    for column in table.columns:
        # A null or a fraction would become an arbitrary number in the conversion below.
        is_whole = str(column.type).startswith(("int", "uint"))
        if column.null_count or not is_whole:
            reason = f"{', '.join(columns)} are not whole numbers"
            raise UNREADABLE.error(reason, Location(str(path)), "")
    numbers = [table[name].cast("int64", safe=False).to_numpy() for name in columns]
    return np.stack(numbers, axis=1).astype(np.int64)


def _parquet_files(path: Path) -> tuple[Path, ...]:
    """Return a file of Parquet, or all those below a folder."""
    # The number of files is a choice of the writer: LeRobot begins a new one by size.
    if path.is_dir():
        return tuple(sorted(path.rglob("*.parquet")))
    return (path,)


def _state(files: Iterable[Path]) -> State:
    """Return what changes when one of the files is written.

    Their paths, times and sizes.
    """
    state = []
    for file in files:
        changed = 0
        size = 0
        if file.is_file():
            status = file.stat()
            changed = status.st_mtime_ns
            size = status.st_size
        state.append((str(file), changed, size))
    return tuple(state)


@lru_cache(maxsize=16)
def _check_sizes(
    path: Path, columns: tuple[str, ...], widths: tuple[int, ...], state: State
) -> None:
    """Raise FormatError where columns of files stand for too much.

    And ValueError where these are damaged. `widths` are the numbers that each cell may
    hold.
    """
    parquet = need("pyarrow.parquet", "lake", "reading a LeRobot data set")
    # Parquet has columns of plain numbers only: a list `state` is the leaf
    # `state.list.element`.
    prefixes = tuple(f"{column}." for column in columns)
    # A few bytes may stand for millions of equal numbers. So sizes are checked before
    # anything is unpacked.
    with budget_for(path, sum(size for *_, size in state)) as budget:
        for name, _, _ in state:
            with open_file(name) as file:
                schema = parquet.ParquetFile(file).schema
                for column, width in zip(columns, widths, strict=True):
                    _check_width(schema.to_arrow_schema(), column, width)
                leaves = [
                    k
                    for k in range(len(schema))
                    if f"{schema.column(k).path}.".startswith(prefixes)
                ]
                check_columns(file, leaves, budget, name)


def _check_width(schema: Any, column: str, width: int) -> None:  # noqa: ANN401
    """Raise ValueError where a column has lists of another fixed length.

    Nulls are expanded to that length.
    """
    number = schema.get_field_index(column)
    if number < 0:
        raise ValueError(f"there is no column {column!r:.60}")
    length = getattr(schema.field(number).type, "list_size", width)
    if length != width:
        raise ValueError(
            f"{column:.60} has lists of {length} numbers; expected {width}"
        )


def _read(
    path: Path,
    order: str,
    columns: Sequence[str],
    widths: Sequence[int] = (),
    **options: Any,  # noqa: ANN401
) -> Any:  # noqa: ANN401
    """Return columns of a file, or of all below a folder, in order of one of them.

    Raises FormatError when they cannot be read, or stand for too much.
    """
    parquet = need("pyarrow.parquet", "lake", "reading a LeRobot data set")
    files = _parquet_files(path)
    widths = tuple(widths) or (1,) * len(columns)
    try:
        _check_sizes(path, tuple(columns), widths, _state(files))
        # Folder names are no columns: without `partitioning=None` pyarrow looks for
        # such.
        table = parquet.read_table(
            path, partitioning=None, columns=list(columns), **options
        )
        return table.sort_by(order)
    except FileNotFoundError:
        raise UNREADABLE.error(
            "the data set has no such file", Location(str(path)), ""
        ) from None
    except FormatError:
        raise
    except (
        OSError,
        ValueError,
        KeyError,
        need("pyarrow", "lake", "reading a LeRobot data set").ArrowException,
    ) as error:
        reason = str(error).partition("\n")[0]
        raise UNREADABLE.error(reason, Location(str(path)), "") from None


def check_links(folder: Path, *parts: str) -> None:
    """Raise FormatError (VRML131) where parts of a data set are links out of it.

    Files or folders, of a data set of others.
    """
    for part in ("meta", INFO.as_posix(), "meta/episodes", *parts):
        path = folder / part
        check_inside(path, folder / "any", allow_outside=False)
        for file in path.rglob("*"):
            check_inside(file, folder / "any", allow_outside=False)


def num_episodes(folder: Path) -> int:
    """Return the number of episodes of a data set.

    FormatError where it is none of version 3.0.
    """
    _info(folder)
    return len(_episodes(folder))


def read_episode(
    folder: Path,
    number: int,
    *,
    degrees: bool | None = None,
    untrusted: bool = False,
) -> Motion:
    """Return an episode of a data set as a motion.

    Parameters
    ----------
    folder, number:
        The data set, and the number of the episode in it.
    degrees:
        Whether joint angles are degrees, also in features with the same names, such as
        `action`. By default they are read as radians, and angles that look like degrees
        are reported (TAB106).
    untrusted:
        Do not follow links out of the folder.

    Raises
    ------
    FormatError
        When the data set is faulty, has no such episode (FMT002), or a wrong number of
        names (FMT007).
    """
    # First the descriptions are checked, then the data file that they lead to.
    if untrusted:
        check_links(folder)
    info = _info(folder)
    rate = float(info["fps"])
    location = Location(str(folder / INFO))
    found = Diagnostics(folder)
    episode = _find_episode(folder, number)
    if untrusted:
        check_links(folder, str(episode.path.relative_to(folder)))
    features = _named_features(info, location, found)
    values = _read_features(episode, features)
    if STAMP in features:
        _check_stamps(values[STAMP][:, 0], rate, number, location, found)
    names = features.get(STATE, [])
    state = values.get(STATE, np.zeros((episode.num_frames, 0)))
    root = _root(names)
    pose = None
    if root:
        # LeRobot has the real part of a quaternion last, a pose has it first.
        x, y, z, qx, qy, qz, qw = root
        pose = state[:, [x, y, z, qw, qx, qy, qz]]
    joints = [k for k in range(len(names)) if k not in root]
    joint_names = [names[k] for k in joints]
    # The data set does not say which joints are slides, so all are taken as rotations.
    slides = [False] * len(joints)
    angles = angles_without_unit(state[:, joints], degrees, slides, location, found)
    check_rate(rate, episode.num_frames, found, location)
    motion = Motion.from_joints(angles, rate, root=pose, joint_names=joint_names)
    components = list(motion.timed)
    for name, labels in features.items():
        if name in (STATE, STAMP):
            continue
        # With the names of joints, such as `action`: in the same unit as the state.
        is_angle = [bool(degrees) and label in joint_names for label in labels]
        factors = np.where(is_angle, np.pi / 180, 1.0)
        components.append(
            MultiValueSeq(
                content=name,
                timeline=motion.timeline,
                values=values[name] * factors,
                part_labels=tuple(labels),
            )
        )
    # A state of nothing but the root leaves joints without columns.
    with_parts = [component for component in components if component.values.shape[1]]
    motion = motion.replaced(*with_parts, problems=found.problems)
    return replace(motion, source=Source(format="lerobot"))


class Episode(NamedTuple):
    """An episode of a data set.

    Its number, its number of frames, and the file that has them.
    """

    number: int
    num_frames: int
    path: Path


def _find_episode(folder: Path, number: int) -> Episode:
    """Return an episode of a data set.

    FormatError (FMT002) where there is none of this number.
    """
    rows = _episodes(folder)
    # By number, not by row: a data set may have lost episodes.
    matching = np.flatnonzero(rows[:, 0] == number)
    if not len(matching):
        raise UNREADABLE.error(
            f"found no episode {number}; expected 0 to {len(rows) - 1}",
            Location(str(folder)),
            "",
        )
    _, num_frames, chunk_index, file_index = rows[matching[0]].tolist()
    path = folder / DATA_PATH.format(chunk_index=chunk_index, file_index=file_index)
    return Episode(number, num_frames, path)


def _named_features(
    info: Mapping[str, Any], location: Location, found: Diagnostics
) -> dict[str, list[str]]:
    """Return the names of the columns of each feature that is read.

    And the time stamps. Reports the features without names. Raises FormatError (FMT007)
    where none has names, or one has a wrong number of them.
    """
    features = {}
    unnamed = []
    stamps = {}
    for name, feature in info["features"].items():
        # Videos and texts are no components of a motion.
        if not str(feature.get("dtype")).startswith(("float", "int")):
            continue
        if name == STAMP:
            stamps[name] = [name]
        names = _names(feature)
        if not names:
            unnamed.append(name)
            continue
        features[name] = names
        shape = feature["shape"]
        if shape != [len(names)]:
            message = f"{name} has {len(names)} names for {shape[0]} numbers"
            raise NAMES.error(message, location)
    if not features:
        raise NAMES.error("no feature of numbers has a list of names", location)
    for name in unnamed:
        if name not in FRAME_FEATURES:
            message = f"{name} has no list of names"
            found.add(NAMES.as_note.problem(message, location))
    return features | stamps


def _read_features(
    episode: Episode, features: Mapping[str, Sequence[str]]
) -> dict[str, Floats]:
    """Return the numbers (T, N) of features in the frames of an episode, by feature.

    `features` are the names of their columns.
    """
    path = episode.path
    location = Location(str(path))
    widths = [len(names) for names in features.values()]
    # `length` is from the file: it may ask for any amount of memory.
    with budget_for(path) as budget:
        num_numbers = max(episode.num_frames * sum(widths), 0)
        budget.take_bytes(NUMBER_BYTES * num_numbers, location)
    table = _read(
        path,
        "frame_index",
        ["frame_index", "episode_index", *features],
        [1, 1, *widths],
        filters=[("episode_index", "=", episode.number)],
    )
    if table.num_rows != episode.num_frames:
        reason = (
            f"episode {episode.number} has {table.num_rows} frames; expected "
            f"{episode.num_frames}"
        )
        raise UNREADABLE.error(reason, location, "")
    values = {}
    for name, names in features.items():
        try:
            values[name] = _numbers(table[name], len(names))
        except (TypeError, ValueError) as error:
            reason = f"{name} of episode {episode.number}: {error}"
            raise UNREADABLE.error(reason, location, "") from None
    return values


def _check_stamps(
    stamps: Floats, rate: float, number: int, location: Location, found: Diagnostics
) -> None:
    """Report the first time stamp, of (T,) [s], that does not fit the rate."""
    # (T,) [s] When each frame is due after the first one.
    due = np.arange(len(stamps)) / rate
    after_first = stamps - stamps[:1]
    # Stamps are in single precision.
    tolerance = 0.5 / rate + 1e-6 * np.abs(stamps)
    # Also true for NaN, which no comparison holds for.
    is_far = ~(np.abs(after_first - due) <= tolerance)
    for k in np.flatnonzero(is_far)[:1]:
        message = (
            f"frame {k} of episode {number} is {after_first[k]:g} s after frame 0 by "
            f"its time stamp, but {due[k]:g} s by fps {rate:g}, which is used"
        )
        found.add(STAMPS.problem(message, location))


def _numbers(column: Any, width: int) -> Floats:  # noqa: ANN401
    """Return the numbers (T, width) of a column of numbers, or of lists of so many.

    ValueError for others. A null is NaN.
    """
    compute = need("pyarrow.compute", "lake", "reading a LeRobot data set")
    # One array in place of chunks.
    cells = column.combine_chunks()
    # Lists of lists are unfolded level by level.
    shape = [len(cells)]
    while hasattr(cells.type, "value_type"):
        lengths = compute.unique(compute.list_value_length(cells)).to_pylist()
        # Rows of different lengths are no columns; a null in place of a list has no
        # length.
        if len(lengths) > 1 or None in lengths:
            raise ValueError(f"its lists have {listed(map(str, lengths), 4)} numbers")
        shape += lengths
        cells = cells.flatten()
    numbers = cells.cast("float64", safe=False).to_numpy(zero_copy_only=False)
    if len(cells) != shape[0] * width:
        raise ValueError(f"its shape is {shape}; expected {[shape[0], width]}")
    return np.array(numbers, dtype=np.float64).reshape(shape[0], width)


def _names(feature: dict[str, Any]) -> list[str]:
    """Return the names of the columns of a feature with one axis.

    None where it has no lists of names.
    """
    shape = feature.get("shape")
    if not isinstance(shape, list) or len(shape) != 1:
        return []
    return _names_in(feature.get("names")) or []


def _names_in(value: Any, depth: int = 0) -> list[str] | None:  # noqa: ANN401
    """Return the names in a list, also in lists of lists.

    Or in a mapping of lists, or in one from names to columns. None in anything else.
    """
    if isinstance(value, dict) and value:
        # {"name": column} has the names as keys, {"group": [names]} as values.
        numbers = [*value.values()]
        if all(type(number) is int for number in numbers):
            if sorted(numbers) != [*range(len(numbers))]:
                return None
            return [str(name) for name in sorted(value, key=value.__getitem__)]
        value = numbers
    if not isinstance(value, list) or depth > MAX_DEPTH:
        return None
    names: list[str] = []
    for item in value:
        if not isinstance(item, (list, dict)):
            names.append(str(item))
            continue
        inner = _names_in(item, depth + 1)
        if inner is None:
            return None
        names += inner
    return names


def _root(names: Sequence[str]) -> list[int]:
    """Return the columns of the root pose x y z qx qy qz qw.

    None without one.
    """
    # By suffix, whatever comes before: `root_qw`, `observation.base.qw`.
    for name in names:
        if name.endswith("qw"):
            columns = [f"{name[:-2]}{axis}" for axis in POSE]
            if set(columns) <= set(names):
                return [names.index(column) for column in columns]
    return []


def write_lerobot(
    motions: Iterable[Motion],
    folder: str | PathLike[str],
    *,
    robot: str = "",
    tasks: Sequence[str] = (),
) -> tuple[Problem, ...]:
    """Write motions as the episodes of a new data set, and return what is lost.

    As 32-bit numbers, whole or not at all; with the counts of the losses.

    Parameters
    ----------
    motions:
        With joint names, all in the same order, and the same whole number of frames per
        second. Further components of one number for each named part, such as `action`,
        become features.
    folder:
        The path of the new folder.
    robot:
        The type of the robot.
    tasks:
        The task of each motion; by default, an empty text.

    Raises
    ------
    ValueError
        When motions do not fit together, with the number of the first.
    FileExistsError
        When the folder exists.
    """
    # Parquet holds UTF-8, which halves of surrogate pairs are not.
    texts = [task.encode("utf-8", "backslashreplace").decode() for task in tasks]
    with whole_folder(Path(folder)) as whole:
        writer = _Writer(whole, texts)
        try:
            for motion in motions:
                writer.add(motion)
        finally:
            # Also after an error: an open file cannot be removed everywhere.
            writer.close_file()
        writer.finish(robot)
    return tuple(
        replace(problem, count=count) for problem, count in writer.lost.items()
    )


class _Feature(NamedTuple):
    """The names of N columns, and their values (T, N) in single precision.

    Features that LeRobot has for each frame have no names, and values (T,).
    """

    names: list[str] | None
    values: Any

    @property
    def description(self) -> dict[str, Any]:
        """The entry of info.json."""
        shape = [len(self.names) if self.names else 1]
        return {"dtype": str(self.values.dtype), "shape": shape, "names": self.names}

    def statistics(self) -> dict[str, list[float]]:
        """Return statistics of the finite numbers of each column.

        NaN for a column without any.
        """
        num_frames = len(self.values)
        width = max(self.values.size // max(num_frames, 1), 1)
        statistics: dict[str, list[float]] = {kind: [] for kind in KINDS}
        for column in self.values.reshape(num_frames, width).astype(np.float64).T:
            finite = column[np.isfinite(column)]
            # Without a finite number all statistics are NaN, without warnings of NumPy.
            if not finite.size:
                finite = np.full(1, np.nan)
            for kind in ("min", "max", "mean", "std"):
                statistics[kind].append(float(getattr(finite, kind)()))
            quantiles = np.quantile(finite, [*QUANTILES.values()]).tolist()
            for kind, value in zip(QUANTILES, quantiles, strict=True):
                statistics[kind].append(value)
        statistics["count"] = [num_frames]
        return statistics


def _describe(features: Mapping[str, _Feature]) -> dict[str, dict[str, Any]]:
    return {name: feature.description for name, feature in features.items()}


class _Writer:
    """Writes motions as the episodes of a data set; `lost` are the losses."""

    def __init__(self, folder: Path, tasks: Sequence[str]) -> None:
        self.lost = Counter[Problem]()
        self._arrow = need("pyarrow", "lake", "writing a LeRobot data set")
        self._parquet = need("pyarrow.parquet", "lake", "writing a LeRobot data set")
        self._folder = folder
        self._tasks = tasks
        # Each task once, in order of first use: its number is its place here.
        self._texts = list(dict.fromkeys(tasks)) or [""]
        self._features: dict[str, dict[str, Any]] = {}
        self._rate = 0.0
        self._episodes: list[dict[str, Any]] = []
        self._num_frames = 0
        # The data file that is being written, the number of the next one, and [bytes]
        # in the file.
        self._file: Any = None
        self._num_files = 0
        self._size = 0

    def add(self, motion: Motion) -> None:
        """Write a motion as the next episode."""
        number = len(self._episodes)
        task = self._texts[0]
        title = f"motion {number}"
        if number < len(self._tasks):
            task = self._tasks[number]
            title += f" ({task})"
        features = _features(motion, title)
        self.lost.update(_lost(motion, features))
        descriptions = _describe(features)
        # The first motion defines the rate and the features of all.
        if number == 0:
            self._features = descriptions
            self._rate = float(motion.frame_rate or 0)
        _check_alike(title, motion, self._rate, descriptions, self._features)

        # The frames, then the row of the episode, which names their file.
        features |= self._frame_features(motion.num_frames, number, task)
        self._write_frames(features)
        # The file that `_write_frames` has just written to.
        last_file = self._num_files - 1
        row: dict[str, Any] = {
            "episode_index": number,
            "tasks": [task],
            "length": motion.num_frames,
            "data/chunk_index": last_file // MAX_FILES,
            "data/file_index": last_file % MAX_FILES,
            "dataset_from_index": self._num_frames,
            "dataset_to_index": self._num_frames + motion.num_frames,
        }
        for name, feature in features.items():
            for kind, values in feature.statistics().items():
                row[f"stats/{name}/{kind}"] = values
        row["meta/episodes/chunk_index"] = 0
        row["meta/episodes/file_index"] = 0
        self._episodes.append(row)
        self._num_frames += motion.num_frames

    def _frame_features(
        self, num_frames: int, number: int, task: str
    ) -> dict[str, _Feature]:
        """Return the features that LeRobot has for each frame."""
        frames = np.arange(num_frames, dtype=np.int64)
        # Types are those of lerobot: stamps in single precision, numbers as 64-bit
        # integers.
        numbers = {
            STAMP: (frames / self._rate).astype(np.float32),
            "frame_index": frames,
            "episode_index": np.full_like(frames, number),
            "index": frames + self._num_frames,
            "task_index": np.full_like(frames, self._texts.index(task)),
        }
        return {name: _Feature(None, values) for name, values in numbers.items()}

    def _write_frames(self, features: Mapping[str, _Feature]) -> None:
        """Write the frames of an episode, in the next file where this one is full."""
        columns = {}
        for name, feature in features.items():
            columns[name] = self._arrow.array(feature.values.ravel())
            if feature.names is not None:
                columns[name] = self._arrow.FixedSizeListArray.from_arrays(
                    columns[name], feature.values.shape[1]
                )
        table = self._arrow.table(columns)
        if self._file is not None and self._size + table.nbytes > MAX_DATA << 20:
            self.close_file()
        if self._file is None:
            path = self._folder / DATA_PATH.format(
                chunk_index=self._num_files // MAX_FILES,
                file_index=self._num_files % MAX_FILES,
            )
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._parquet.ParquetWriter(path, table.schema)
            self._num_files += 1
            self._size = 0
        # A row group for each episode, so that a reader with a filter reads no others.
        self._file.write_table(table, row_group_size=max(table.num_rows, 1))
        self._size += table.nbytes

    def close_file(self) -> None:
        """Close the data file that is being written."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def finish(self, robot: str) -> None:
        """Write the description of the data set, after all its episodes."""
        if not self._episodes:
            raise ValueError("a data set needs at least one motion")
        # The features of motions, and LeRobot's own; their types do not depend on
        # frames.
        features = self._features | _describe(
            self._frame_features(0, 0, self._texts[0])
        )
        meta = self._folder / "meta"
        path = meta / "episodes" / "chunk-000" / "file-000.parquet"
        path.parent.mkdir(parents=True)
        episodes = self._arrow.Table.from_pylist(self._episodes)
        self._parquet.write_table(episodes, path)
        self._parquet.write_table(self._task_table(), meta / "tasks.parquet")
        info: dict[str, Any] = {
            "codebase_version": VERSION,
            "robot_type": robot or None,
            "fps": int(self._rate),
            "total_episodes": len(self._episodes),
            "total_frames": self._num_frames,
            "total_tasks": len(self._texts),
            "features": features,
            "chunks_size": MAX_FILES,
            "data_files_size_in_mb": MAX_DATA,
            "video_files_size_in_mb": MAX_VIDEO,
            "splits": {"train": f"0:{len(self._episodes)}"},
            "data_path": DATA_PATH,
            "video_path": None,
        }
        _write_json(self._folder / INFO, info)
        statistics = {name: _join_statistics(self._episodes, name) for name in features}
        _write_json(meta / "stats.json", statistics)

    def _task_table(self) -> Any:  # noqa: ANN401
        """Return the table of tasks, with their texts as the index of pandas."""
        columns = []
        for name, kind, numpy_kind in (
            ("task_index", "int64", "int64"),
            (None, "unicode", "object"),
        ):
            columns.append(
                {
                    "name": name,
                    "field_name": name or TASK,
                    "pandas_type": kind,
                    "numpy_type": numpy_kind,
                    "metadata": None,
                }
            )
        # What `DataFrame.to_parquet` writes for a table whose index has no name:
        # lerobot reads the texts as the index.
        index = {
            "index_columns": [TASK],
            "column_indexes": [],
            "columns": columns,
            "pandas_version": "2.0.0",
        }
        numbers = self._arrow.array(range(len(self._texts)), self._arrow.int64())
        table = self._arrow.table({"task_index": numbers, TASK: self._texts})
        return table.replace_schema_metadata({"pandas": json.dumps(index)})


def _write_json(path: Path, data: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(data, indent=4), encoding="utf-8")


def _lost(motion: Motion, features: Mapping[str, _Feature]) -> list[Problem]:
    """Return what the features do not hold of a motion."""
    lost = []
    links = motion.link_position
    written = set()
    for component in motion.components:
        content = component.content
        if component is links or component is motion.joint_displacement:
            continue
        # Of components of one content only the first is a feature.
        is_first = isinstance(component, MultiValueSeq) and content not in written
        if is_first:
            written.add(content)
        if not is_first or content not in features:
            kind = type(component).__name__
            message = f"the {kind} {content!r} is not written"
            lost.append(losses.COMPONENT.problem(message))
    if links is not None and links.num_parts > 1:
        message = "only the pose of the root link is written"
        lost.append(losses.COMPONENT.problem(message))
    for name, feature in features.items():
        count = np.count_nonzero(~np.isfinite(feature.values))
        if count:
            message = f"numbers of {name} that are not finite: {count}"
            lost.append(losses.NOT_FINITE.problem(message))
    # Values of a feature are 32-bit numbers in all data sets.
    message = "numbers are rounded to single precision"
    return [*lost, losses.PRECISION.problem(message)]


def _features(motion: Motion, title: str) -> dict[str, _Feature]:
    """Return the features of a motion.

    Raises ValueError, with the `title` of the motion, where its joints have no names,
    or a component has a name of LeRobot's own.
    """
    joints = motion.joint_displacement
    links = motion.link_position
    if joints is None or not joints.num_parts:
        raise ValueError(f"{title} has no joints")
    if not joints.part_labels or not all(joints.part_labels):
        raise ValueError(f"{title} has no names of joints; `convert --body` names them")
    names = list(joints.part_labels)
    values = joints.values
    if links is not None:
        names = [f"root_{axis}" for axis in POSE] + names
        # The quaternion of a pose begins with w, that of LeRobot ends with it.
        root = links.values[:, 0, [0, 1, 2, 4, 5, 6, 3]]
        values = np.concatenate([root, values], axis=1)
    columns = {STATE: (names, values)}
    contents = set()
    for component in motion.components:
        if component is joints or component is links:
            continue
        contents.add(component.content)
        if isinstance(component, MultiValueSeq):
            labels = list(component.part_labels)
            if labels and all(labels):
                columns.setdefault(component.content, (labels, component.values))
    reserved = {*FRAME_FEATURES, STATE} & contents
    if reserved:
        raise ValueError(
            f"{title} has a component {min(reserved)!r}, which is a name of LeRobot's "
            "own"
        )
    features = {}
    # A number beyond single precision becomes inf, which `_lost` reports.
    with np.errstate(over="ignore"):
        for name, (labels, numbers) in columns.items():
            features[name] = _Feature(labels, numbers.astype(np.float32))
    return features


def _check_alike(
    title: str,
    motion: Motion,
    rate: float,
    features: dict[str, Any],
    first: dict[str, Any],
) -> None:
    """Raise ValueError where a motion cannot be an episode beside motion 0.

    That has this rate and the features `first`.
    """
    if rate % 1 or motion.frame_rate != rate:
        wanted = "needs a whole number of frames per second"
        if rate and not rate % 1:
            wanted = f"motion 0 has {rate:g} Hz"
        hint = "; `convert --rate` resamples" if motion.num_frames > 1 else ""
        raise ValueError(f"{title} has {motion.timeline}, but {wanted}{hint}")
    no_feature: dict[str, list[str]] = {"names": []}
    for feature in {**features, **first}:
        names = features.get(feature, no_feature)["names"]
        first_names = first.get(feature, no_feature)["names"]
        # "nothing" marks the end, so that a missing or further name differs from the
        # other's.
        pairs = zip([*names, "nothing"], [*first_names, "nothing"], strict=False)
        for k, (name, first_name) in enumerate(pairs):
            if name != first_name:
                raise ValueError(
                    f"{title} has {name} in column {k} of {feature}, but motion 0 has "
                    f"{first_name}"
                )


def _join_statistics(
    episodes: Sequence[Mapping[str, Any]], name: str
) -> dict[str, list[float]]:
    """Return the statistics of a feature.

    Quantiles are means of the episodes', weighted by their lengths, as lerobot's are.
    """
    # (E, N) of E episodes and N columns.
    parts = {}
    for kind in KINDS:
        rows = [row[f"stats/{name}/{kind}"] for row in episodes]
        parts[kind] = np.array(rows, dtype=np.float64)
    # Episodes without a finite number in a column have no share in its statistics.
    counts = parts["count"] * np.isfinite(parts["mean"])
    shares = counts / np.maximum(counts.sum(axis=0), 1)
    mean = np.nansum(shares * parts["mean"], axis=0)
    # The variance of all is the mean of σ² + (μ − mean)² of the parts.
    variances = parts["std"] ** 2 + (parts["mean"] - mean) ** 2
    joined = {
        "min": np.fmin.reduce(parts["min"]),
        "max": np.fmax.reduce(parts["max"]),
        "mean": mean,
        "std": np.sqrt(np.nansum(shares * variances, axis=0)),
    }
    for kind in QUANTILES:
        joined[kind] = np.nansum(shares * parts[kind], axis=0)
    statistics = {kind: np.nan_to_num(value).tolist() for kind, value in joined.items()}
    statistics["count"] = [int(parts["count"].sum())]
    return statistics
