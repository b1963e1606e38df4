"""`--fix` and `--diff`: what was found in a file and has one right answer is shown as a diff, and written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from bodymotion.cli.check.working import Checked, Task, check_file

if TYPE_CHECKING:
    from bodymotion.body import Body

__all__ = ["Mender"]


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
        from bodymotion.cli.text import one_line

        codes = fixable(answer.problems, answer.path)
        if not codes:
            return answer
        try:
            found = mended(answer.path, codes)
            if found is None:
                return answer
            for line in found.diff.split("\n")[:-1]:
                # As it is where a program reads it; what could drive a terminal as an escape.
                safe = "\t".join(map(one_line, line.split("\t"))) if out.isatty() else line
                out.write(f"{safe}\n")
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
        places = "1 place" if self.places == 1 else f"{self.places} places"
        files = "1 file" if self.files == 1 else f"{self.files} files"
        if not self.files:
            return "nothing that can be mended for certain"
        return f"{places} in {files} mended" if self.write else f"{places} in {files} would be mended"
