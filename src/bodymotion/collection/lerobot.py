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

State: TypeAlias = tuple[tuple[str, int, int], ...]
"""The path, the time of the last change [ns] and the size [bytes] of files."""

__all__ = ["num_episodes", "read_episode", "write_lerobot"]

INFO = Path("meta/info.json")
STATE = "observation.state"
VERSION = "v3.0"
DATA_PATH = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
TASK = "__index_level_0__"  # The column with the texts of tasks, which pandas takes as the index.
POSE = ("x", "y", "z", "qx", "qy", "qz", "qw")
STAMP = "timestamp"
FRAME_FEATURES = (STAMP, "frame_index", "episode_index", "index", "task_index")
"""Features of each data set, with one number for each frame."""
QUANTILES = {"q01": 0.01, "q10": 0.1, "q50": 0.5, "q90": 0.9, "q99": 0.99}
KINDS = ("min", "max", "mean", "std", "count", *QUANTILES)
MAX_DEPTH = 3  # Lists of names in lists.
MAX_INFO = 4 << 20  # [bytes] A larger info.json is not read; others have some 10 kB.
MAX_FEATURES = 500  # Each is a component of the motion.
NUMBER_BYTES = 8  # [bytes] A number in memory.
MAX_DATA = 100  # [MB] Size of a data file before the next one begins.
MAX_FILES = 1000  # Files in a folder.


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
    try:
        info = parse_json(file_bytes(path, MAX_INFO))
        expected = {"codebase_version": VERSION, "data_path": DATA_PATH}
        wrong = [
            f"{k} is {info.get(k)!r:.60}; expected {one!r}"
            for k, one in expected.items()
            if info.get(k) != one
        ]
        is_valid = (
            not wrong and 0 < float(info["fps"]) < np.inf and info["features"][STATE]
        )
        if is_valid and len(info["features"]) > MAX_FEATURES:
            wrong = [f"it has {len(info['features'])} features; at most {MAX_FEATURES}"]
            is_valid = False
        if is_valid and all(isinstance(one, dict) for one in info["features"].values()):
            return dict(info)
        reason = (
            ". ".join(wrong)
            or "the description has no frame rate, or no observation.state"
        )
    except FormatError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        reason = f"the file is not the description of a LeRobot data set: {error}"
    raise UNREADABLE.error(
        reason,
        Location(str(path)),
        "convert data sets of earlier versions with lerobot",
    )


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
    found = _read(path, "episode_index", columns)
    if any(
        column.null_count or not str(column.type).startswith(("int", "uint"))
        for column in found.columns
    ):
        raise UNREADABLE.error(
            f"{', '.join(columns)} are not whole numbers", Location(str(path)), ""
        )
    numbers = [
        found[name].cast("int64", safe=False).to_numpy().astype(np.int64)
        for name in columns
    ]
    return np.stack(numbers, axis=1)


def _parquet_files(path: Path) -> tuple[Path, ...]:
    """Return a file of Parquet, or all those below a folder."""
    if path.is_dir():
        return tuple(sorted(path.rglob("*.parquet")))
    return (path,)


def _state(files: Iterable[Path]) -> State:
    """Return what changes when one of the files is written.

    Their paths, times and sizes.
    """
    state = []
    for file in files:
        if file.is_file():
            about = file.stat()
        else:
            about = None
        changed = 0 if about is None else about.st_mtime_ns
        state.append((str(file), changed, 0 if about is None else about.st_size))
    return tuple(state)


@lru_cache(maxsize=16)
def _check_sizes(
    path: Path, columns: tuple[str, ...], widths: tuple[int, ...], state: State
) -> None:
    """Raise FormatError where columns of files stand for too much, or ValueError where these are damaged.

    `widths` are the numbers that each cell may hold.
    """
    parquet = need("pyarrow.parquet", "lake", "reading a LeRobot data set")
    with budget_for(path, sum(size for *_, size in state)) as budget:
        for name, _, _ in state:
            with open_file(name) as file:
                schema = parquet.ParquetFile(file).schema
                leaves = [schema.column(k).path for k in range(len(schema))]
                for column, width in zip(columns, widths, strict=True):
                    _check_width(schema.to_arrow_schema(), column, width)
                wanted = [
                    k
                    for k, leaf in enumerate(leaves)
                    if any(f"{leaf}.".startswith(f"{column}.") for column in columns)
                ]
                check_columns(file, wanted, budget, name)


def _check_width(schema: Any, column: str, width: int) -> None:  # noqa: ANN401
    """Raise ValueError where a column has lists of another fixed length, which nulls are expanded to."""
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
    """Return columns of a file, or of all files below a folder, in order of one of them.

    Raises FormatError when they cannot be read, or stand for too much.
    """
    parquet = need("pyarrow.parquet", "lake", "reading a LeRobot data set")
    files = _parquet_files(path)
    try:
        _check_sizes(
            path,
            tuple(columns),
            tuple(widths) or (1,) * len(columns),
            _state(files),
        )
        return parquet.read_table(
            path, partitioning=None, columns=list(columns), **options
        ).sort_by(order)
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
        raise UNREADABLE.error(
            str(error).partition("\n")[0], Location(str(path)), ""
        ) from None


def check_links(folder: Path, *parts: str) -> None:
    """Raise FormatError (VRML131) where parts of a data set of others, files or folders, are links out of it."""
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
    if root:
        pose = state[:, [*root[:3], root[6], *root[3:6]]]
    else:
        pose = None
    joints = [k for k in range(len(names)) if k not in root]
    joint_names = [names[k] for k in joints]
    slides = [False] * len(joints)
    angles = angles_without_unit(state[:, joints], degrees, slides, location, found)
    check_rate(rate, episode.num_frames, found, location)
    motion = Motion.from_joints(angles, rate, root=pose, joint_names=joint_names)
    others = [name for name in features if name not in (STATE, STAMP)]
    for name in others:
        labels = features[name]
        is_angle = [bool(degrees) and label in joint_names for label in labels]
        component = MultiValueSeq(
            content=name,
            timeline=motion.timeline,
            values=values[name] * np.where(is_angle, np.pi / 180, 1.0),
            part_labels=tuple(labels),
        )
        motion = motion.replaced(*motion.components, component)
    motion = motion.replaced(
        *(component for component in motion.timed if component.values.shape[1]),
        problems=found.problems,
    )
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
    """Return the features of numbers that are read, with the names of their columns, and the time stamps.

    Reports the features without names. Raises FormatError (FMT007) where none has
    names, or one has a wrong number of them.
    """
    numeric = {
        name: feature
        for name, feature in info["features"].items()
        if str(feature.get("dtype")).startswith(("float", "int"))
    }
    named = {name: _names(feature) for name, feature in numeric.items()}
    features = {name: names for name, names in named.items() if names}
    for name, names in features.items():
        shape = numeric[name]["shape"]
        if shape != [len(names)]:
            message = f"{name} has {len(names)} names for {shape[0]} numbers"
            raise NAMES.error(message, location)
    if not features:
        raise NAMES.error("no feature of numbers has a list of names", location)
    for name in numeric:
        if name not in (*features, *FRAME_FEATURES):
            message = f"{name} has no list of names"
            found.add(NAMES.as_note.problem(message, location))
    if STAMP in numeric:
        features[STAMP] = [STAMP]
    return features


def _read_features(
    episode: Episode, features: Mapping[str, Sequence[str]]
) -> dict[str, Floats]:
    """Return the numbers (T, N) of features in the frames of an episode, by feature.

    `features` are the names of their columns.
    """
    path = episode.path
    location = Location(str(path))
    widths = [len(names) for names in features.values()]
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
        reason = f"episode {episode.number} has {table.num_rows} frames; expected {episode.num_frames}"
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
    """Report the first time stamp, of (T,) [s], that is not at its frame by the rate [Hz]."""
    due = np.arange(len(stamps)) / rate
    after_first = stamps - stamps[:1]
    # Stamps are in single precision.
    tolerance = 0.5 / rate + 1e-6 * np.abs(stamps)
    is_far = ~(np.abs(after_first - due) <= tolerance)
    for k in np.flatnonzero(is_far)[:1]:
        message = (
            f"frame {k} of episode {number} is {after_first[k]:g} s after frame 0 by "
            "its time stamp,"
            f" but {due[k]:g} s by fps {rate:g}, which is used"
        )
        found.add(STAMPS.problem(message, location))


def _numbers(column: Any, width: int) -> Floats:  # noqa: ANN401
    """Return the numbers (T, width) of a column of numbers, or of lists of so many.

    ValueError for others. A null is NaN.
    """
    compute = need("pyarrow.compute", "lake", "reading a LeRobot data set")
    cells = column.combine_chunks()
    shape = [len(cells)]
    while hasattr(cells.type, "value_type"):
        lengths = compute.unique(compute.list_value_length(cells)).to_pylist()
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
    """Return the names in a list, in lists of lists, in a mapping of lists, or in one from names to columns.

    None in anything else.
    """
    if isinstance(value, dict) and value:
        numbers = [*value.values()]
        if all(type(one) is int for one in numbers):
            in_order = sorted(value, key=value.__getitem__)
            is_whole = sorted(numbers) == [*range(len(numbers))]
            if is_whole:
                return [str(name) for name in in_order]
            return None
        value = numbers
    if not isinstance(value, list) or depth > MAX_DEPTH:
        return None
    names: list[str] = []
    for one in value:
        inner = [str(one)]
        if isinstance(one, (list, dict)):
            found = _names_in(one, depth + 1)
            if found is None:
                return None
            inner = found
        names += inner
    return names


def _root(names: Sequence[str]) -> list[int]:
    """Return the columns of the root pose x y z qx qy qz qw.

    None without one.
    """
    known = {*names}
    starts = (name[:-2] for name in names if name.endswith("qw"))
    start = next(
        (one for one in starts if all(one + axis in known for axis in POSE)), None
    )
    if start is None:
        return []
    return [names.index(start + axis) for axis in POSE]


def write_lerobot(
    motions: Iterable[Motion],
    folder: str | PathLike[str],
    *,
    robot: str = "",
    tasks: Sequence[str] = (),
) -> tuple[Problem, ...]:
    """Write motions as the episodes of a new data set, as 32-bit numbers, whole or not at all.

    Return what is lost, with counts.

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
    texts = [one.encode("utf-8", "backslashreplace").decode() for one in tasks]
    with whole_folder(Path(folder)) as whole:
        lost = _write(motions, whole, robot, texts)
    return tuple(replace(problem, count=count) for problem, count in lost.items())


def _write(
    motions: Iterable[Motion], folder: Path, robot: str, tasks: Sequence[str]
) -> Counter[Problem]:
    arrow, parquet = (
        need(one, "lake", "writing a LeRobot data set")
        for one in ("pyarrow", "pyarrow.parquet")
    )
    features: dict[str, dict[str, Any]] = {}
    rate = 0.0
    total = 0
    size = 0
    file = 0
    writer = None
    episodes: list[dict[str, Any]] = []
    texts = list(dict.fromkeys(tasks)) or [""]
    lost = Counter[Problem]()
    for number, motion in enumerate(motions):
        name = f"motion {number}" + (
            f" ({tasks[number]})" if number < len(tasks) else ""
        )
        found = _features(motion, name)
        lost.update(_lost(motion, found))
        shapes = {
            name: _feature("float32", names) for name, (names, _) in found.items()
        }
        if number == 0:
            features = shapes
            rate = float(motion.frame_rate or 0)
        _check_alike(name, motion, rate, shapes, features)
        count = motion.num_frames
        if number < len(tasks):
            task = tasks[number]
        else:
            task = texts[0]
        frames = np.arange(count, dtype=np.int64)
        lists = arrow.FixedSizeListArray.from_arrays
        columns = {
            name: lists(arrow.array(v.ravel()), v.shape[1])
            for name, (_, v) in found.items()
        }
        numbers: dict[str, Any] = {
            "timestamp": (frames / rate).astype(np.float32),
            "frame_index": frames,
        }
        index_of_task = 0 * frames + texts.index(task)
        numbers |= {
            "episode_index": 0 * frames + number,
            "index": frames + total,
            "task_index": index_of_task,
        }
        table = arrow.table(
            columns | {name: arrow.array(v) for name, v in numbers.items()}
        )
        if writer is None or size + table.nbytes > MAX_DATA << 20:
            if writer is not None:
                writer.close()
                file += 1
            size = 0
            path = folder / DATA_PATH.format(
                chunk_index=file // MAX_FILES, file_index=file % MAX_FILES
            )
            path.parent.mkdir(parents=True, exist_ok=True)
            writer = parquet.ParquetWriter(path, table.schema)
        writer.write_table(table, row_group_size=max(count, 1))
        size += table.nbytes
        row = {
            "episode_index": number,
            "tasks": [task],
            "length": count,
            "data/chunk_index": file // MAX_FILES,
        }
        row |= {
            "data/file_index": file % MAX_FILES,
            "dataset_from_index": total,
            "dataset_to_index": total + count,
        }
        for name, one in (
            {name: v for name, (_, v) in found.items()} | numbers
        ).items():
            v = [
                c[np.isfinite(c)]
                for c in one.reshape(count, one.size // max(count, 1) or 1)
                .astype(np.float64)
                .T
            ]
            v = [c if c.size else np.full(1, np.nan) for c in v]
            of_columns = [
                *([float(getattr(c, kind)()) for c in v] for kind in KINDS[:4]),
                [count],
            ]
            of_columns += np.transpose(
                [np.quantile(c, [*QUANTILES.values()]) for c in v]
            ).tolist()
            row |= {
                f"stats/{name}/{kind}": values
                for kind, values in zip(KINDS, of_columns, strict=True)
            }
        episodes.append(
            {**row, "meta/episodes/chunk_index": 0, "meta/episodes/file_index": 0}
        )
        total += count
    if writer is None:
        raise ValueError("a data set needs at least one motion")
    writer.close()
    features |= {name: _feature(str(v.dtype), None) for name, v in numbers.items()}
    place = folder / "meta" / "episodes" / "chunk-000"
    place.mkdir(parents=True)
    parquet.write_table(arrow.Table.from_pylist(episodes), place / "file-000.parquet")
    columns_of_tasks = [
        {
            "name": name,
            "field_name": name or TASK,
            "pandas_type": kind,
            "numpy_type": numpy_kind,
            "metadata": None,
        }
        for name, kind, numpy_kind in (
            ("task_index", "int64", "int64"),
            (None, "unicode", "object"),
        )
    ]
    index = {
        "index_columns": [TASK],
        "column_indexes": [],
        "columns": columns_of_tasks,
        "pandas_version": "2.0.0",
    }
    named = arrow.table(
        {"task_index": arrow.array(range(len(texts)), arrow.int64()), TASK: texts}
    )
    parquet.write_table(
        named.replace_schema_metadata({"pandas": json.dumps(index)}),
        folder / "meta" / "tasks.parquet",
    )
    info: dict[str, Any] = {
        "codebase_version": VERSION,
        "robot_type": robot or None,
        "fps": int(rate),
    }
    info |= {
        "total_episodes": len(episodes),
        "total_frames": total,
        "total_tasks": len(texts),
        "features": features,
    }
    info |= {
        "chunks_size": MAX_FILES,
        "data_files_size_in_mb": MAX_DATA,
        "video_files_size_in_mb": 200,
    }
    info |= {
        "splits": {"train": f"0:{len(episodes)}"},
        "data_path": DATA_PATH,
        "video_path": None,
    }
    (folder / INFO).write_text(json.dumps(info, indent=4), encoding="utf-8")
    stats = {name: _together(episodes, name) for name in features}
    (folder / "meta" / "stats.json").write_text(
        json.dumps(stats, indent=4), encoding="utf-8"
    )
    return lost


def _lost(
    motion: Motion, features: Mapping[str, tuple[list[str], Floats]]
) -> list[Problem]:
    """Return what the features do not hold of a motion."""
    held = (motion.joint_displacement, motion.link_position)
    links = motion.link_position
    others = [one for one in motion.components if all(one is not c for c in held)]
    first = {
        one.content: one for one in reversed(others) if isinstance(one, MultiValueSeq)
    }
    others = [
        one
        for one in others
        if one.content not in features or one is not first.get(one.content)
    ]
    lost = [
        (losses.COMPONENT, f"the {type(one).__name__} {one.content!r} is not written")
        for one in others
    ]
    has_more = links is not None and links.num_parts > 1
    lost += (
        [(losses.COMPONENT, "only the pose of the root link is written")]
        if has_more
        else []
    )
    wrong = {
        name: np.count_nonzero(~np.isfinite(v)) for name, (_, v) in features.items()
    }
    lost += [
        (losses.NOT_FINITE, f"numbers of {one} that are not finite: {n}")
        for one, n in wrong.items()
        if n
    ]
    return [
        rule.problem(text)
        for rule, text in (
            *lost,
            (losses.PRECISION, "numbers are rounded to single precision"),
        )
    ]


def _features(motion: Motion, name: str) -> dict[str, tuple[list[str], Any]]:
    """Return names and values (T, N), in single precision, of each feature."""
    joints = motion.joint_displacement
    links = motion.link_position
    if joints is None or not all(joints.part_labels) or not joints.part_labels:
        has_joints = joints is not None and joints.num_parts
        raise ValueError(
            f"{name} has no "
            f"{'names of joints; `convert --body` names them' if has_joints else 'joints'}"
        )
    names = list(joints.part_labels)
    values = [joints.values]
    if links is not None:
        names = [f"root_{axis}" for axis in POSE] + names
        values.insert(0, links.values[:, 0, [0, 1, 2, 4, 5, 6, 3]])
    found = {STATE: (names, np.concatenate(values, axis=1))}
    for one in motion.timed:
        if (
            isinstance(one, MultiValueSeq)
            and one is not joints
            and all(one.part_labels)
            and one.part_labels
        ):
            found.setdefault(one.content, (list(one.part_labels), one.values))
    contents = {
        one.content
        for one in motion.components
        if one is not joints and one is not links
    }
    if reserved := {*FRAME_FEATURES, STATE} & contents:
        raise ValueError(
            f"{name} has a component {min(reserved)!r}, which is a name of LeRobot's "
            "own"
        )
    with np.errstate(over="ignore"):
        return {
            name: (names, v.astype(np.float32)) for name, (names, v) in found.items()
        }


def _check_alike(
    name: str,
    motion: Motion,
    rate: float,
    features: dict[str, Any],
    first: dict[str, Any],
) -> None:
    """Raise ValueError where a motion cannot be an episode beside motion 0, which has this rate and the features `first`."""
    if rate % 1 or motion.frame_rate != rate:
        if rate and not rate % 1:
            wanted = f"motion 0 has {rate:g} Hz"
        else:
            wanted = "needs a whole number of frames per second"
        if motion.num_frames > 1:
            hint = "; `convert --rate` resamples"
        else:
            hint = ""
        raise ValueError(f"{name} has {motion.timeline}, but {wanted}{hint}")
    for feature in {**features, **first}:
        pair = [
            [*one.get(feature, {"names": ()})["names"], "nothing"]
            for one in (features, first)
        ]
        for k, (own, other) in enumerate(zip(*pair, strict=False)):
            if own != other:
                raise ValueError(
                    f"{name} has {own} in column {k} of {feature}, but motion 0 has "
                    f"{other}"
                )


def _feature(kind: str, names: list[str] | None) -> dict[str, Any]:
    return {"dtype": kind, "shape": [len(names) if names else 1], "names": names}


def _together(
    episodes: Sequence[Mapping[str, Any]], name: str
) -> dict[str, list[float]]:
    """Return the statistics of a feature.

    Quantiles are means of the episodes', weighted by their lengths, as lerobot's are.
    """
    of = {
        kind: np.array(
            [row[f"stats/{name}/{kind}"] for row in episodes], dtype=np.float64
        )
        for kind in KINDS
    }
    counts = of["count"] * np.isfinite(of["mean"])
    share = counts / np.maximum(counts.sum(axis=0), 1)
    mean = np.nansum(share * of["mean"], axis=0)
    found = {
        "min": np.fmin.reduce(of["min"]),
        "max": np.fmax.reduce(of["max"]),
        "mean": mean,
    }
    found["std"] = np.sqrt(
        np.nansum(share * (of["std"] ** 2 + (of["mean"] - mean) ** 2), axis=0)
    )
    found |= {name: np.nansum(share * of[name], axis=0) for name in QUANTILES}
    return {name: np.nan_to_num(value).tolist() for name, value in found.items()} | {
        "count": [int(of["count"].sum())]
    }
