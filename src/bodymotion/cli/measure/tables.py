"""All values in a file: one table (.csv, .parquet), or one array each (.npz, .json)."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import numpy.typing as npt
import typer

if TYPE_CHECKING:
    from bodymotion.cli.measure.measured import Wanted
    from bodymotion.geometry.arrays import Floats

__all__ = ["write"]

ROWS = 4096
"""So many rows of a table are made into text at once."""


def write(path: Path, blocks: Sequence[Wanted]) -> None:
    """Write blocks to a file of the kind that its name says; another name is wrong use."""
    from bodymotion.system.atomic_files import whole_file

    ways = {".csv": _csv, ".npz": _npz, ".json": _json, ".parquet": _parquet}
    way = ways.get(path.suffix.lower())
    if way is None:
        raise typer.BadParameter(f"{path.name} does not end in {', '.join(ways)}", param_hint="--output")
    with whole_file(path) as stream:
        way(stream, blocks)


def _table(blocks: Sequence[Wanted]) -> tuple[tuple[str, ...], Floats]:
    """Return the names of the columns, `time` first, and the values (T, N) of all blocks side by side."""
    from bodymotion.diagnostics.text import distinct

    for block in blocks:
        if block.pictures is not None:
            raise ValueError(f"the pictures of {block.series.name} are no table; an .npz holds them")
    all_series = [block.series for block in blocks]
    times = all_series[0].times
    for one in all_series:
        if not np.array_equal(one.times, times):
            raise ValueError(
                f"{one.name} is read at other times than {all_series[0].name}, and a table has one time for each row; "
                "take them one by one, or write an .npz or .json"
            )
    names = [one.name if one.of == "body" else f"{one.name}/{label}" for one in all_series for label in one.labels]
    values = np.concatenate([times[:, None], *(one.values for one in all_series)], axis=1)
    return distinct(["time", *names]), np.ascontiguousarray(values)


def _csv(stream: BinaryIO, blocks: Sequence[Wanted]) -> None:
    from bodymotion.formats.text.decimals import number_rows

    names, values = _table(blocks)
    header = io.StringIO()
    csv.writer(header, lineterminator="\n").writerow(names)
    stream.write(header.getvalue().encode("utf-8", "surrogateescape"))
    for start in range(0, len(values), ROWS):
        text = b"\n".join(number_rows(values[start : start + ROWS])).replace(b" ", b"") + b"\n"
        stream.write(text.replace(b".nan", b"nan").replace(b".inf", b"inf"))


def _parquet(stream: BinaryIO, blocks: Sequence[Wanted]) -> None:
    from bodymotion.system.extras import need

    polars = need("polars", "data", "a .parquet file")
    names, values = _table(blocks)
    polars.DataFrame({name: values[:, k] for k, name in enumerate(names)}).write_parquet(stream)


def _npz(stream: BinaryIO, blocks: Sequence[Wanted]) -> None:
    from bodymotion.formats.npz.archive import write_archive

    arrays: dict[str, npt.NDArray[Any]] = {}
    for block in blocks:
        of, pictures = block.series, block.pictures
        about: dict[str, Any] = {"times": of.times}
        if pictures is not None:
            about |= {"color": pictures.color, "depth": pictures.depth}
        else:
            arrays[of.name] = of.values
            about |= {"labels": np.array(of.labels, dtype=np.str_), "units": np.array(of.units, dtype=np.str_)}
            about |= {"lower": of.lower, "upper": of.upper, "saturated": block.saturated}
        arrays |= {f"{of.name}.{key}": array for key, array in about.items() if array is not None}
    write_archive(stream, arrays, compressed=any(block.pictures is not None for block in blocks))


def _json(stream: BinaryIO, blocks: Sequence[Wanted]) -> None:
    import orjson

    data = []
    for block in blocks:
        of = block.series
        if block.pictures is not None:
            raise ValueError(f"the pictures of {of.name} are no text; an .npz holds them")
        about = {"name": of.name, "title": of.title, "labels": of.labels, "units": of.units, "times": of.times}
        data.append({**about, "lower": of.lower, "upper": of.upper, "values": of.values})
    # Numbers that are not finite become null: JSON has none. Only arrays whose numbers lie side by side are written at once.
    how = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE
    stream.write(orjson.dumps(data, default=lambda array: np.ascontiguousarray(array), option=how))
