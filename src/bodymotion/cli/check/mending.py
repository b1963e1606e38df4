"""`--fix` and `--diff`: what was found in a file and has one right answer is shown as a diff, and written."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, TextIO

from bodymotion.cli.check.working import Checked, Task, check_file
from bodymotion.cli.text import one_line

if TYPE_CHECKING:
    from bodymotion.checks.fixing import Mended
    from bodymotion.model.body import Body

__all__ = ["Mender", "show_diff"]

MOST_LINES = 300
"""So many lines of a diff are shown on a terminal."""


@dataclass
class Mender:
    """Goes from file to file; `files` were, or would be, changed in `places`."""

    task: Task
    body: Body | None
    write: bool
    files: int = 0
    places: int = 0

    def mend(self, answer: Checked, out: TextIO) -> Checked:
        """Show the changes of a file on `out`, write them if that is wanted, and give what a check says after that."""
        from bodymotion.checks.fixing import fixable, mended, write_mended
        from bodymotion.cli.messages import say

        codes = fixable(answer.problems, answer.path)
        if not codes:
            return answer
        try:
            found = mended(answer.path, codes)
            if found is None:
                return answer
            show_diff(found, out)
            if self.write:
                write_mended(found)
        except OSError as error:
            say(f"bodymotion check: {one_line(f'{answer.path}: {error.strerror or error}')}; not mended")
            return answer
        self.files += 1
        self.places += len(found.edits)
        return check_file(answer.path, self.task, self.body) if self.write else answer

    @property
    def summary(self) -> str:
        """Say in a line what was done."""
        places = _places(self.places)
        files = "1 file" if self.files == 1 else f"{self.files} files"
        if not self.files:
            return "nothing that can be mended for certain"
        return f"{places} in {files} mended" if self.write else f"{places} in {files} would be mended"


def show_diff(found: Mended, out: TextIO) -> None:
    """Write a diff: whole and as it is where a program reads it; on a terminal its beginning, with escapes for what could drive that."""
    if not out.isatty():
        out.writelines(found.diff())
        return
    lines = found.diff()
    for line in islice(lines, MOST_LINES):
        # One that ends a file without a line end is two.
        for text in line.split("\n")[:-1]:
            out.write("\t".join(map(one_line, text.split("\t"))) + "\n")
    if next(lines, None) is not None:
        out.write(f"and so on: {_places(len(found.edits))} in all; a pipe or a file gets the whole diff\n")


def _places(count: int) -> str:
    return "1 place" if count == 1 else f"{count} places"
