"""Fix the problems of a file that have one right answer.

Edits of its bytes at the locations of the problems only.

Each format has a module here or in its extension: its `edits_of(data, path)` returns
edits, each for a rule that is marked `fixable`. A text is corrected to what the reader
reads. What has two possible meanings does not change, nor does a text that cannot be
read.
"""

import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from bodymotion.checks import rules
from bodymotion.checks.checking import TEXT_FORMATS, most_common_end, other_ends
from bodymotion.checks.fixing.edits import Edit, applied, in_order, unified_diff
from bodymotion.diagnostics import FormatError, Problem, ShortRepr
from bodymotion.extensions import extensions
from bodymotion.formats.registry import find_format
from bodymotion.system.files import whole_file

__all__ = ["Fixes", "find_fixes", "fixable", "write_fixes"]

# Files of more bytes are not fixed: they are held in memory as a whole.
MAX_BYTES = 1 << 30

OWN_MODULES = {"seq": "seq", "openhrp": "wrl", "urdf": "axes", "body": "axes"}
# The module with `edits_of` of each format whose files can be fixed.
MODULES = {name: f"{__name__}.{module}" for name, module in OWN_MODULES.items()}
for _extension in extensions():
    MODULES |= _extension.fixes


@dataclass(frozen=True)
class Fixes(ShortRepr):
    """A file as it would be: its bytes before, and the changes."""

    path: Path
    before: bytes
    edits: tuple[Edit, ...]

    @property
    def after(self) -> bytes:
        """The bytes with all changes."""
        return applied(self.before, self.edits)

    def diff(self) -> Iterator[str]:
        """Return the lines of the changes as a unified diff."""
        return unified_diff(self.before, self.edits, str(self.path))

    @property
    def rules(self) -> tuple[str, ...]:
        """The codes of the rules that something was changed for."""
        return tuple(sorted({edit.rule for edit in self.edits}))


def find_fixes(path: Path, codes: Iterable[str]) -> Fixes | None:
    """Return the changes to a file that fix some rules.

    None where nothing can be fixed, and for all but regular files.

    Raises
    ------
    OSError
        When the file cannot be read.
    """
    wanted = set(codes)
    status = path.stat()
    if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BYTES or not wanted:
        return None
    try:
        row = find_format(path)
    except FormatError:
        return None
    data = path.read_bytes()
    edits: list[Edit] = []
    if row.name in MODULES:
        edits += import_module(MODULES[row.name]).edits_of(data, path)
    if rules.LINE_ENDS.code in wanted and row.name in TEXT_FORMATS:
        edits += _line_ends(data, path, row.name)
    chosen = in_order(
        edit
        for edit in edits
        if edit.rule in wanted and data[edit.start : edit.stop] != edit.text
    )
    return Fixes(path, data, chosen) if chosen else None


def _line_ends(data: bytes, path: Path, name: str) -> list[Edit]:
    """Change the ends of all lines to that of most of them.

    Where that does not change the meaning of the text.
    """
    end = most_common_end(data)
    edits = [
        Edit(start, stop, end, rules.LINE_ENDS.code) for start, stop in other_ends(data)
    ]
    if name == "openhrp":
        from bodymotion.checks.fixing.wrl import ends_in_strings

        return [] if ends_in_strings(data) else edits
    if name == "seq" and any(data[edit.start : edit.stop] == b"\r" for edit in edits):
        # After a CR alone, a part of a line may become a line.
        from bodymotion.checks.fixing.seq import is_same_motion

        if is_same_motion(data, applied(data, edits), path):
            return edits
        return []
    return edits


def write_fixes(found: Fixes) -> None:
    """Write a file with its changes, whole or not at all.

    Raises
    ------
    OSError
        When it cannot be written, or is not any more as it was read.
    """
    if found.path.read_bytes() != found.before:
        raise OSError(
            f"{found.path}: the file has changed meanwhile; it stays as it is"
        )
    with whole_file(found.path) as stream:
        stream.write(found.after)


def fixable(problems: Iterable[Problem], path: Path) -> set[str]:
    """Return the rules, of those that a file itself breaks, that can be fixed."""
    from bodymotion.diagnostics.catalogue import catalogue

    known = catalogue()
    broken = {
        problem.rule
        for problem in problems
        if problem.location.path in (None, str(path))
    }
    return {code for code in broken if code in known and known[code].fixable}
