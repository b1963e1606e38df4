"""`bodymotion catalogue FOLDER`: a table of many motions, and those that meet a condition."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import click

from bodymotion.cli import failures
from bodymotion.cli.many import report_left_out
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
    from bodymotion.collection.catalogue import (
        body_of,
        build_catalogue,
        query,
        query_json,
    )
    from bodymotion.collection.mapping import ClusterError
    from bodymotion.collection.opening import Collection, open_collection
    from bodymotion.collection.records import Records

    if output is None and not Path(source).is_dir():
        raise click.BadParameter(
            "an address or archive needs a local file for its catalogue",
            param_hint="--output",
        )
    path = output or Path(source) / "catalogue.parquet"
    if path.suffix.lower() not in (".parquet", ""):
        raise click.BadParameter(
            f"{path} is no .parquet, and no name of a folder", param_hint="--output"
        )
    with failures("catalogue", ClusterError):
        if (
            where and body is None and "findings" not in where
        ):  # rules without a finding have no column yet
            with suppress(FileNotFoundError):
                query(
                    path, where, ("file",)
                )  # a wrong condition ends before motions are read
        if update or html is not None:
            clips = open_collection(source)
        else:
            clips = Collection(source, ())
        report_left_out("catalogue", clips.left_out)
        state = "not updated"
        if update and not len(clips):
            print_message(f"bodymotion catalogue: no motion in {source}")
            raise click.exceptions.Exit(1)
        if update:
            _check_reading(reading, clips, body)
            with progress(f"reading {counted(len(clips), 'motion')}") as bar:
                sharing: dict[str, Any] = {
                    "workers": workers,
                    "time_limit": time_limit,
                    "cluster": cluster,
                }
                done = build_catalogue(
                    clips,
                    path,
                    body=body,
                    by_position=by_position,
                    progress=bar,
                    **sharing,
                    **reading,
                )
            state = f"{counted(len(clips), 'motion')}, {done} read now"
        rows = query(path, where, ("file",) if html is None else ())
        if html is not None:
            from bodymotion.reports.catalogue import catalogue_page

            model = list(filter(None, [body or body_of(Records(path, resume=True))]))
            with progress(f"drawing {html.name}") as bar:
                drawn = catalogue_page(
                    rows,
                    html,
                    title=source,
                    sources=lambda name: (clips[name].load(), *model),
                    pictures=pictures,
                    progress=bar,
                )
            print_message(f"{html}: {counted(drawn, 'motion')} with pictures")
        print_message(f"{path}: {state}, {len(rows)} found")
        # The folder above a pattern.
        if "*" in source:
            top = source.partition("*")[0].rpartition("/")[0]
        else:
            top = source.rstrip("/")
        if "://" in source:
            above = f"{top}/"
        else:
            above = str(Path(source) / "_")[:-1]
        lines = (
            map(safe_json, query_json(path, where))
            if as_json
            else (one_line(f"{above}{row['file']}") for row in rows)
        )
        with results() as out:
            out.writelines(f"{line}\n" for line in lines)


def _check_reading(
    reading: ReaderOptions, clips: Iterable[Clip], body: Path | None
) -> None:
    """Check that each option of readers is one of the formats that the names of motions show.

    Wrong use otherwise.
    """
    from bodymotion.collection.inputs import BAG
    from bodymotion.collection.opening import EPISODE_OPTIONS
    from bodymotion.formats.registry import FORMATS, named_format
    from bodymotion.formats.untrusted import TRUST_OPTIONS

    known = set(TRUST_OPTIONS)
    if body is not None:
        known |= set().union(
            *(row.read.options for row in FORMATS if row.holds == "Body")
        )
    for name in {PurePosixPath(one.name) for one in clips}:
        suffix = name.suffix.lower()
        if not suffix:  # an episode, or a file whose content shows its format
            known |= EPISODE_OPTIONS
        if suffix == ".npz":
            known |= named_format("amass").read.options
        if name.name == BAG:
            known |= named_format("mcap").read.options
        known |= set().union(
            *(row.read.options for row in FORMATS if suffix in row.extensions)
        )
    for option in sorted(reading.keys() - known):
        flag = flag_of(option, reading_options)
        raise click.BadParameter("has no effect on these motions", param_hint=flag)
