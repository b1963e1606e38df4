"""`bodymotion catalogue FOLDER`: a table of many motions, and queries of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import click

from bodymotion.cli import failures
from bodymotion.cli.many_plan import report_left_out
from bodymotion.cli.options import (
    AsJson,
    ByPosition,
    Cluster,
    ReaderOptions,
    TimeLimit,
    Workers,
    flag_of,
    reading_options,
    reads_files,
)
from bodymotion.cli.output import one_line, print_message, progress, results, safe_json
from bodymotion.diagnostics.text import counted

if TYPE_CHECKING:
    from bodymotion.collection import Clip
    from bodymotion.collection.opening import Collection


@reads_files
def catalogue(
    reading: ReaderOptions,
    source: str,
    output: Path | None = None,
    body: Path | None = None,
    where: str = "",
    update: bool = True,
    html: Path | None = None,
    pictures: int = 24,
    as_json: AsJson = False,
    by_position: ByPosition = False,
    workers: Workers = None,
    time_limit: TimeLimit = None,
    cluster: Cluster = None,
) -> None:
    """Keep a table of many motions, and find some by conditions.

    The catalogue is a Parquet file with a row for each motion. It is updated first:
    only new and changed files are read. Prints the paths of the motions, one in a line,
    which other commands take as @list.txt. Needs the extra `lake`.

    \b
    Examples:
      bodymotion catalogue motions/ --body robot.wrl
      bodymotion catalogue motions/ --where "errors = 0 and duration > 5"
      bodymotion catalogue motions/ --no-update --where "max_torque < 80"
      bodymotion catalogue motions/ --body robot.wrl --html motions.html
      bodymotion catalogue s3://bucket/walks -o walks.parquet --json

    Options:
      source FOLDER: A folder or archive with motions, or an address of fsspec, such as
        s3://bucket/walks.
      --body -b MODEL: The model that the motions are for: the catalogue has torques,
        speeds, balance and findings on it, and remembers it.
      --where SQL: Print only motions that meet this condition, such as max_torque < 80
        and errors = 0.
      --update/--no-update: Update the catalogue first, or query it as it is.

    More options:
      --pictures N: Number of motions with a picture and a player on the page, from the
        first one on.

    Output:
      --output -o FILE: The catalogue, by default FOLDER/catalogue.parquet; a name
        without extension is a folder of Parquet files.
      --html FILE: Write a page with the motions found: a table with filters, pictures
        and players.
    """  # noqa: D301
    from bodymotion.collection.catalogue import query
    from bodymotion.collection.mapping import ClusterError
    from bodymotion.collection.opening import Collection, open_collection

    path = _catalogue_path(source, output)
    with failures("catalogue", ClusterError):
        # A wrong condition ends before motions are read. Rules without a finding have
        # no column yet.
        if where and body is None and "findings" not in where:
            with suppress(FileNotFoundError):
                query(path, where, ("file",))
        # Without an update the folder is not searched: the table has the names.
        clips = Collection(source, ())
        if update or html is not None:
            clips = open_collection(source)
        report_left_out("catalogue", clips.left_out)
        state = "not updated"
        if update and not len(clips):
            print_message(f"bodymotion catalogue: no motion in {source}")
            raise click.exceptions.Exit(1)
        if update:
            sharing: dict[str, Any] = {
                "workers": workers,
                "time_limit": time_limit,
                "cluster": cluster,
            }
            state = _update(clips, path, body, by_position, reading, sharing)
        # Only the names are printed; JSON comes from DuckDB by itself.
        columns = ("file",) if html is None else ()
        rows = query(path, where, columns)
        if html is not None:
            _write_page(html, source, rows, clips, path, body, pictures)
        print_message(f"{path}: {state}, {len(rows)} found")
        with results() as out:
            for line in _lines(rows, source, path, where, as_json):
                out.write(f"{line}\n")


def _catalogue_path(source: str, output: Path | None) -> Path:
    """Return the file or folder of the catalogue; a wrong one is wrong use."""
    if output is None and not Path(source).is_dir():
        raise click.BadParameter(
            "an address or archive needs a local file for its catalogue",
            param_hint="--output",
        )
    # In the folder itself, beside the motions.
    path = output or Path(source) / "catalogue.parquet"
    if path.suffix.lower() not in (".parquet", ""):
        raise click.BadParameter(
            f"{path} is no .parquet, and no name of a folder", param_hint="--output"
        )
    return path


def _update(
    clips: Collection,
    path: Path,
    body: Path | None,
    by_position: bool,
    reading: ReaderOptions,
    sharing: Mapping[str, Any],
) -> str:
    """Read new and changed motions, and return how many there are.

    `sharing`: how the runs share the machine, as for `build_catalogue`.
    """
    from bodymotion.collection.catalogue import build_catalogue

    # Before any motion is read: a wrong option ends at once.
    _check_reading(reading, clips, body)
    with progress(f"reading {counted(len(clips), 'motion')}") as bar:
        num_read = build_catalogue(
            clips,
            path,
            body=body,
            by_position=by_position,
            progress=bar,
            **sharing,
            **reading,
        )
    return f"{counted(len(clips), 'motion')}, {num_read} read now"


def _write_page(
    html: Path,
    source: str,
    rows: Sequence[dict[str, Any]],
    clips: Collection,
    path: Path,
    body: Path | None,
    pictures: int,
) -> None:
    """Write the page with the motions found, on the body of the catalogue."""
    from bodymotion.collection.catalogue import body_of
    from bodymotion.collection.records import Records
    from bodymotion.reports.catalogue import catalogue_page

    # A catalogue remembers the body that it was built with.
    model = body or body_of(Records(path, resume=True))
    models = () if model is None else (model,)
    with progress(f"drawing {html.name}") as bar:
        drawn = catalogue_page(
            rows,
            html,
            title=source,
            # Read when it is drawn, so that only the motions with pictures are read.
            sources=lambda name: (clips[name].load(), *models),
            pictures=pictures,
            progress=bar,
        )
    print_message(f"{html}: {counted(drawn, 'motion')} with pictures")


def _lines(
    rows: Iterable[Mapping[str, Any]],
    source: str,
    path: Path,
    where: str,
    as_json: bool,
) -> Iterator[str]:
    """Yield the rows as JSON, or the paths of the motions."""
    from bodymotion.collection.catalogue import query_json

    if as_json:
        # DuckDB writes JSON itself: faster than from rows of Python.
        yield from map(safe_json, query_json(path, where))
        return
    folder = _folder_of(source)
    for row in rows:
        yield one_line(f"{folder}{row['file']}")


def _folder_of(source: str) -> str:
    """Return what precedes the names of motions, so that other commands find them.

    The folder with its separator; that of a pattern is above the first `*`.
    """
    if "://" not in source:
        # With a slash at the end, also of "." and "/".
        return str(Path(source) / "_")[:-1]
    # Names are below the folder in front of the pattern.
    if "*" in source:
        folder = source.partition("*")[0].rpartition("/")[0]
    else:
        folder = source.rstrip("/")
    return f"{folder}/"


def _check_reading(
    reading: ReaderOptions, clips: Iterable[Clip], body: Path | None
) -> None:
    """Check that each option of readers is one of the formats of the motions.

    Their names show the formats.

    Wrong use otherwise.
    """
    from bodymotion.collection.inputs import BAG
    from bodymotion.collection.opening import EPISODE_OPTIONS
    from bodymotion.formats.registry import FORMATS, named_format
    from bodymotion.formats.untrusted import TRUST_OPTIONS

    # Files are not opened: what the name shows is enough, and there may be very many.
    known = set(TRUST_OPTIONS)
    if body is not None:
        for row in FORMATS:
            if row.holds == "Body":
                known |= row.read.options
    for path in {PurePosixPath(clip.name) for clip in clips}:
        suffix = path.suffix.lower()
        if not suffix:  # an episode, or a file whose content shows its format
            known |= EPISODE_OPTIONS
        # An .npz may be one of AMASS, whose reader has options of its own.
        if suffix == ".npz":
            known |= named_format("amass").read.options
        # A rosbag2 is named by its metadata.yaml, and read as .mcap.
        if path.name == BAG:
            known |= named_format("mcap").read.options
        for row in FORMATS:
            if suffix in row.extensions:
                known |= row.read.options
    for option in sorted(reading.keys() - known):
        flag = flag_of(option, reading_options)
        raise click.BadParameter("has no effect on these motions", param_hint=flag)
