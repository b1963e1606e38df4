"""A page about a catalogue of motions.

A table with filters, and a picture and a player of some of them.

The table draws only the rows that are on the screen. Pictures and players are files
beside the page, which loads them when a row is chosen.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from html import escape
from importlib.resources import files
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any

from bodymotion.scene.loading import Showable, load_scene
from bodymotion.system.files import whole_file

HIDDEN = (
    "size",
    "modified",
    "run",
    "body",
    "sha256",
    "problem",
    "joint_names",
)  # Columns that the page does not show.
PICTURE_SIZE = (640, 240)
MOMENTS = 5


def catalogue_page(
    rows: Sequence[Mapping[str, Any]],
    output: str | PathLike[str],
    *,
    title: str = "Motions",
    sources: Callable[[str], Sequence[Showable]] | None = None,
    pictures: int = 24,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Write a page about the rows of a catalogue, as `bodymotion.collection.query` returns them.

    Parameters
    ----------
    sources:
        Returns what is shown of the motion of a name in the column `file`: a motion and
        its body. Without it there are no pictures.
    pictures:
        Number of motions, from the first row on, with a picture (as with a stroboscope;
        extra `render`) and a player. They are in the folder NAME_files beside the page.
    progress:
        Called with the numbers of motions that are drawn, and of all.

    Returns
    -------
    The number of motions with pictures; those that cannot be loaded have none.

    Raises
    ------
    ImportError
        When the extra `render` is not installed and there are to be pictures.
    OSError
        When a file cannot be written.
    """
    from bodymotion.rendering import render
    from bodymotion.viewer.page import check_page_path, write_page

    target = Path(output)
    check_page_path(target)
    folder = target.with_name(f"{target.stem}_files")
    shown = []
    if sources is not None:
        chosen = rows[:pictures]
    else:
        chosen = ()
    for number, row in enumerate(chosen):
        try:
            scene = load_scene(*(sources or (lambda name: ()))(row["file"]))
            image: Any = render(
                scene.body, scene.motion, strobe=MOMENTS, size=PICTURE_SIZE, overlay=()
            )
        except (KeyError, ValueError):  # removed since, or faulty
            continue
        folder.mkdir(exist_ok=True)
        with whole_file(folder / f"{number}.webp") as stream:
            image.save(stream, "WEBP")
        write_page(scene, folder / f"{number}.html", play=False)
        shown.append(number)
        if progress is not None:
            progress(number + 1, len(chosen))
    names = [name for name in (rows[0] if rows else {}) if name not in HIDDEN]
    columns = [[_cell(row.get(name)) for row in rows] for name in names]
    data = {"names": names, "columns": columns, "folder": folder.name, "shown": shown}
    text = json.dumps(data, separators=(",", ":"), allow_nan=False).replace(
        "<", "\\u003c"
    )
    page = (
        files("bodymotion.reports")
        .joinpath("catalogue.html")
        .read_text(encoding="utf-8")
    )
    with whole_file(target) as stream:
        stream.write(
            page.replace("{title}", escape(title))
            .replace("{data}", text)
            .encode("utf-8")
        )
    return len(shown)


def _cell(value: object) -> object:
    """Return a value for the table.

    Numbers with five digits, rules with their counts as text.
    """
    if isinstance(value, float):
        if isfinite(value):
            return float(f"{value:.5g}")
        return None
    if isinstance(value, Mapping):
        return " ".join(
            f"{rule} ×{count}" if count != 1 else rule
            for rule, count in value.items()
            if count
        )
    if value is None or isinstance(value, (int, str)):
        return value
    return str(value)
