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

# Columns that the page does not show.
HIDDEN = ("size", "modified", "run", "body", "sha256", "problem", "joint_names")
# [px] Width and height of a picture, and the moments in it.
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
    """Write a page about the rows of a catalogue.

    `bodymotion.collection.query` returns such rows.

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
    from bodymotion.viewer.page import check_page_path

    target = Path(output)
    check_page_path(target)
    folder = target.with_name(f"{target.stem}_files")
    # Indices of the rows with a picture.
    shown: list[int] = []
    if sources is not None:
        chosen = rows[:pictures]
        for number, row in enumerate(chosen):
            if not _draw_motion(folder / str(number), sources, row):
                continue
            shown.append(number)
            if progress is not None:
                progress(number + 1, len(chosen))
    # All rows have the same columns.
    names = [name for name in (rows[0] if rows else {}) if name not in HIDDEN]
    columns = [_column(rows, name) for name in names]
    data = {"names": names, "columns": columns, "folder": folder.name, "shown": shown}
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    # In a script of HTML, "<" could begin the end of the script.
    text = text.replace("<", "\\u003c")
    page = files("bodymotion.reports").joinpath("catalogue.html").read_text("utf-8")
    page = page.replace("{title}", escape(title)).replace("{data}", text)
    with whole_file(target) as stream:
        stream.write(page.encode("utf-8"))
    return len(shown)


def _draw_motion(
    base: Path, sources: Callable[[str], Sequence[Showable]], row: Mapping[str, Any]
) -> bool:
    """Write the picture and the player of a motion; return whether it can be loaded."""
    from bodymotion.rendering import render
    from bodymotion.viewer.page import write_page

    try:
        scene = load_scene(*sources(row["file"]))
        image: Any = render(
            scene.body, scene.motion, strobe=MOMENTS, size=PICTURE_SIZE, overlay=()
        )
    except (KeyError, ValueError):  # Removed since, or faulty.
        return False
    base.parent.mkdir(exist_ok=True)
    with whole_file(base.with_suffix(".webp")) as stream:
        image.save(stream, "WEBP")
    # Its page begins paused: several players on one page would all run.
    write_page(scene, base.with_suffix(".html"), play=False)
    return True


def _column(rows: Sequence[Mapping[str, Any]], name: str) -> list[object]:
    """Return a column of the table."""
    return [_cell(row.get(name)) for row in rows]


def _cell(value: object) -> object:
    """Return a value for the table.

    Numbers with five digits, rules with their counts as text.
    """
    if isinstance(value, float):
        if isfinite(value):
            return float(f"{value:.5g}")
        return None
    if isinstance(value, Mapping):
        texts = []
        for rule, count in value.items():
            if count:
                texts.append(rule if count == 1 else f"{rule} ×{count}")
        return " ".join(texts)
    if value is None or isinstance(value, (int, str)):
        return value
    return str(value)
