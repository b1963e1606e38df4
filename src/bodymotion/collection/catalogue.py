"""A catalogue of motions.

A Parquet file with a row for each that SQL queries; an update reads only new and
changed motions.
"""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from errno import ENOENT
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from bodymotion.collection.mapping import map_files
from bodymotion.collection.opening import EPISODE_OPTIONS, Clip, Collection
from bodymotion.collection.records import Records, Row, about, current_table, key
from bodymotion.diagnostics import Problem, WrongUseError
from bodymotion.diagnostics.spelling import meant
from bodymotion.diagnostics.text import listed
from bodymotion.geometry.arrays import without_collections
from bodymotion.keyposes import KeyPoses
from bodymotion.model.body import Body
from bodymotion.motion import Motion
from bodymotion.system.deferred import need
from bodymotion.system.files import remove_void_lock

__all__ = ["build_catalogue", "query"]

# Key figures that a message about an unknown column may suggest.
COMMON_FIGURES = (
    "max_torque",
    "max_power",
    "max_root_speed",
    "max_joint_velocity",
    "max_joint_acceleration",
    "min_margin",
    "max_zmp_difference",
    "max_slip",
)
# Key figures that every row has from its file.
KNOWN_FIGURES = ("duration", "num_frames")
# Columns that a message names.
MAX_LISTED = 100
# Rows that become Python objects together. The columns of more would not fit into the
# caches.
ROWS_AT_ONCE = 5000


def build_catalogue(
    collection: Collection,
    path: str | PathLike[str],
    *,
    body: str | PathLike[str] | None = None,
    by_position: bool = False,
    progress: Callable[[int, int], None] | None = None,
    workers: int | None = None,
    time_limit: float | None = None,
    cluster: str | None = None,
    **options: Any,  # noqa: ANN401
) -> int:
    """Update a catalogue, and return the number of motions read.

    New and changed motions are read, and rows of missing files are removed. It can be
    interrupted at any time: what was read is kept, and the next call goes on.

    Parameters
    ----------
    path:
        The catalogue, a `.parquet`; a name without an extension is a folder of such
        files.
    body:
        The file of the body that the motions are for: with it, the catalogue has key
        figures (`max_torque` [Nm], `min_margin` [m] …) and the findings of motions on
        their body. A catalogue remembers its body: without another one, its rows stay
        those on it.
    by_position:
        Read joint columns by position, whatever their names.
    progress:
        Called with the number of motions that are done, and of all.
    workers, time_limit, cluster:
        As for `map_files`.
    options:
        Those of the readers (see `load`); each goes to the files whose reader has it.

    Raises
    ------
    ImportError
        Without the extra `lake`.
    FormatError
        When the body cannot be read.
    WrongUseError
        When the body that the catalogue was built with is gone.
    OSError
        When another process updates the catalogue, which is named, or the disk is full.
    """
    from bodymotion import __version__
    from bodymotion.formats.registry import load_body

    need("duckdb", "lake", "a catalogue")
    records = Records(Path(path), resume=True)
    if body is None:
        body = body_of(records)
    else:
        body = Path(body).absolute()
    # Rows are made again when the version, the options or the content of the body
    # change.
    run = " ".join(
        [
            __version__,
            *map(repr, sorted(options.items())),
            *(["by position"] if by_position else []),
        ]
    )
    robot = None
    of_body = Row()
    if body is not None:
        robot = load_body(body)
        of_body = {"body": str(body)}
        run += f" {hashlib.sha256(body.read_bytes()).hexdigest()[:12]}"
    rows = [{**about(clip.name, clip.state, run), **of_body} for clip in collection]
    # Nothing has changed: the table is not written again.
    if records.is_complete(rows):
        remove_void_lock(records.path)
        return 0
    function = partial(_row, robot=robot, by_position=by_position, options=options)
    with records:
        earlier = records.keep(rows)
        # Indices of the motions that no earlier run has read.
        left = [k for k in range(len(rows)) if key(rows[k]) not in earlier]
        clips = [collection[k] for k in left]
        done = len(rows) - len(left)
        for outcome in map_files(
            function, clips, workers=workers, time_limit=time_limit, cluster=cluster
        ):
            problem = {"errors": 1, "problem": str(outcome.error)}
            records.add({**rows[left[outcome.index]], **(outcome.value or problem)})
            done += 1
            if progress is not None:
                progress(done, len(rows))
    return len(left)


def body_of(records: Records) -> Path | None:
    """Return the file of the body that the rows of a catalogue are on.

    None without one.
    """
    found = next(
        (Path(row["body"]) for row in records.earlier(("body",)) if row.get("body")),
        None,
    )
    if found is not None and not found.exists():
        raise WrongUseError(
            f"{records.path} was built with the body {found}, which is gone; name a "
            "body"
        )
    return found


def query(
    path: str | PathLike[str], where: str = "", columns: Sequence[str] = ()
) -> list[Row]:
    """Return the rows of a catalogue that meet a condition of SQL, in order of file.

    Such as ``max_torque < 80 and errors = 0``. `columns`: only these are read, by
    default all.

    Raises
    ------
    WrongUseError
        When DuckDB rejects the condition; the message lists columns.
    """
    found = _found(path, where, ", ".join(columns) or "*")
    rows = list[Row]()
    names = found.column_names
    # Millions of small objects are made, none of them in a cycle: the garbage collector
    # would search them again and again.
    with without_collections():
        for part in found.to_batches(max_chunksize=ROWS_AT_ONCE):
            values = zip(*(column.to_pylist() for column in part.columns), strict=True)
            rows += [dict(zip(names, row, strict=True)) for row in values]
    return rows


def query_json(path: str | PathLike[str], where: str = "") -> list[str]:
    """Return the rows that `query` returns with all columns, each as JSON.

    For many rows, in less time than from Python objects.
    """
    rows = _found(path, where, "to_json(motions)")
    return rows.column(0).to_pylist()  # type: ignore[no-any-return]


def _found(path: str | PathLike[str], where: str, columns: str) -> Any:  # noqa: ANN401
    """Return the rows of a catalogue that meet a condition, as a table of Arrow."""
    duckdb = need("duckdb", "lake", "a catalogue")
    need("pyarrow", "lake", "a catalogue")
    path = Path(path).absolute()
    table = current_table(path)
    parts = [str(table)]
    if table.is_dir():
        parts = sorted(map(str, table.glob("*.parquet")))
    if not parts or not (table.is_dir() or table.is_file()):
        raise FileNotFoundError(ENOENT, "No such catalogue", str(path))
    with duckdb.connect(":memory:") as base:
        # The condition reads no other files.
        base.execute("SET allowed_paths = $1", [parts])
        base.execute("SET enable_external_access = false; SET errors_as_json = true")
        try:
            motions = base.read_parquet(parts, hive_partitioning=False)
        except duckdb.Error as error:
            raise ValueError(f"{path} is not a catalogue: {error}") from None
        # The newline ends a comment `--` in the condition, which would hide the
        # bracket.
        condition = f"WHERE ({where}\n)" if where else ""
        motions.create_view("motions")
        try:
            base.execute(
                f"CREATE TEMP VIEW found AS SELECT {columns} FROM motions {condition} "
                "ORDER BY file"
            )
            return base.table("found").to_arrow_table()
        except duckdb.Error as error:
            reason = _describe_error(str(error), where, motions.columns)
            raise WrongUseError(
                f"{reason}; the columns are {listed(motions.columns, MAX_LISTED)}"
            ) from None


def _describe_error(error: str, where: str, columns: Sequence[str]) -> str:
    """Return why DuckDB rejects a condition."""
    # An object of JSON behind the kind of the error.
    data = json.loads(error[error.index("{") :])
    if data.get("error_subtype") != "COLUMN_NOT_FOUND":
        message = data["exception_message"].splitlines()[0]
        return f"the condition {where!r} is not valid: {message}"
    reason = f"the catalogue has no column {data['name']!r}"
    near = meant(data["name"], [*columns, *COMMON_FIGURES])
    if not near:
        return reason
    if near in columns:
        return f"{reason} (did you mean {near!r}?)"
    return f"{reason} (see `bodymotion catalogue --body`)"


def _row(
    clip: Clip, robot: Body | None, by_position: bool, options: Mapping[str, Any]
) -> Row:
    """Return the columns of a motion.

    Of a file that cannot be read, those that are known.
    """
    from bodymotion.checks import check
    from bodymotion.formats.registry import find_format, read
    from bodymotion.model.body import by_position as put_by_position

    problems = set[Any]()
    reading: dict[str, Any] = {}
    if clip.episode is not None:
        reading = {name: options[name] for name in options.keys() & EPISODE_OPTIONS}
    with clip.file(problems.update, **reading) as path:
        form = find_format(path)
        used = form.options_of(options)
        _, result = read(
            path, format=form.name, body=None if by_position else robot, **used
        )
        problems.update(result.problems)
        # Some errors leave a whole value: see `ReadResult.whole`.
        has_errors = any(problem.severity == "error" for problem in result.problems)
        # A partial value would give wrong figures.
        value = None
        if result.whole or not has_errors:
            value = result.value
        if isinstance(value, Motion) and by_position and robot is not None:
            value = put_by_position(value, robot)
        if value is None:
            problems.update(check(path, body=robot, **used).problems)
        else:
            problems.update(check(value, body=robot).problems)
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256")
    row: Row = {
        "sha256": digest.hexdigest(),
        "format": form.name,
        "kind": type(value).__name__ if value is not None else None,
        **_count_problems(problems),
    }
    if robot is not None and isinstance(value, KeyPoses):
        value = value.to_motion(robot)
    for name in ("num_frames", "frame_rate", "duration"):
        row[name] = _number(getattr(value, name, None))
    if isinstance(value, Motion):
        row |= _extents(value, robot)
        if robot is not None:
            row |= _figures(value, robot)
    return row


def _count_problems(problems: Iterable[Problem]) -> Row:
    rules = Counter[str]()
    severities = Counter[str]()
    for problem in problems:
        rules[problem.rule] += problem.count
        severities[problem.severity] += problem.count
    return {
        "errors": severities["error"],
        "warnings": severities["warning"],
        "notes": severities["note"],
        "findings": dict(sorted(rules.items())) or None,
    }


def _extents(motion: Motion, body: Body | None) -> Row:
    """Return names of joints, and ranges of joints [rad or m] and root [m]."""
    row: Row = {}
    joints = motion.joint_displacement
    links = motion.link_position
    if joints is not None and joints.values.size:
        num_joints = joints.values.shape[1]
        names = [label for label in joints.part_labels if label]
        if not names and body is not None and body.num_joints == num_joints:
            names = [joint.name for joint in body.joints]
        row["num_joints"] = num_joints
        row["joint_names"] = names
        row["joint_min"] = _number(np.nanmin(joints.values))
        row["joint_max"] = _number(np.nanmax(joints.values))
    if links is not None and links.values.size:
        for k, axis in enumerate("xyz"):
            positions = links.values[:, 0, k]
            row[f"root_{axis}_min"] = _number(positions.min())
            row[f"root_{axis}_max"] = _number(positions.max())
    return row


def _figures(motion: Motion, body: Body) -> Row:
    """Return the key figures of a motion on a body.

    None where it does not fit the body, which is a finding.
    """
    from bodymotion.dynamics import figures, measure

    try:
        with np.errstate(all="ignore"):
            found = figures(measure(body, motion))
        return {
            figure.name: _number(figure.value)
            for figure in found
            if figure.name not in KNOWN_FIGURES
        }
    except ValueError:
        return {}


def _number(value: Any) -> float | int | None:  # noqa: ANN401
    if value is None or not math.isfinite(value):
        return None
    if isinstance(value, int):
        return value
    return float(value)
