"""`bodymotion catalogue FOLDER`: a table of many motions, and those for which a condition holds."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from bodymotion.cli.options import AsJson, ByPosition, ReaderOptions, Workers, reads_files
from bodymotion.cli.output import failures, one_line, plain, results, say
from bodymotion.diagnostics.text import counted


@reads_files
def catalogue(
    reading: ReaderOptions,
    source: str,
    output: Path | None = None,
    body: Path | None = None,
    where: str = "",
    as_json: AsJson = False,
    by_position: ByPosition = False,
    workers: Workers = None,
) -> None:
    """Keep a table of many motions, and find those for which a condition holds.

    The catalogue is a Parquet file with a row for each motion. It is brought up to date first: only new and changed files are read. Prints
    the paths of the motions, one in a line, which other commands take as @list.txt. Needs the extra `lake`.

    \b
    Examples:
      bodymotion catalogue motions/ --body robot.wrl
      bodymotion catalogue motions/ --where "errors = 0 and duration > 5"
      bodymotion catalogue s3://bucket/walks -o walks.parquet --json

    Options:
      source FOLDER: A folder with motions, or an address of fsspec, such as s3://bucket/walks.
      --output -o FILE: The catalogue; by default FOLDER/catalogue.parquet.
      --body -b MODEL: The model that the motions are for: the catalogue has torques, speeds, balance and findings on it, too.
      --where SQL: Print only motions for which this holds, such as max_torque < 80 and errors = 0.
    """  # noqa: D301
    from bodymotion.cli.progress import progress
    from bodymotion.collection import build_catalogue, open_collection, query

    if output is None and "://" in source:
        raise typer.BadParameter("an address needs a local file for its catalogue", param_hint="--output")
    path = output or Path(source) / "catalogue.parquet"
    if path.suffix.lower() != ".parquet":
        raise typer.BadParameter(f"{path} is no .parquet", param_hint="--output")
    with failures("catalogue"):
        found = open_collection(source)
        if not len(found):
            say(one_line(f"bodymotion catalogue: no motion in {source}"))
            raise typer.Exit(1)
        with progress(f"reading {counted(len(found), 'motion')}") as bar:
            done = build_catalogue(
                found, path, body=body, by_position=by_position, workers=workers, progress=bar, **reading
            )
        rows = query(path, where)
        say(one_line(f"{path}: {counted(len(found), 'motion')}, {done} read now, {len(rows)} found"))
        with results() as out:
            for row in rows:
                name = str(Path(source) / row["file"]) if "://" not in source else f"{source.rstrip('/')}/{row['file']}"
                out.write(json.dumps(plain(row)) + "\n" if as_json else one_line(name) + "\n")
