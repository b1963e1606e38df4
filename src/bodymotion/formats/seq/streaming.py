"""Motions larger than memory: headers at once, frames in chunks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

import numpy as np
import numpy.typing as npt

from bodymotion.arrays import Floats, frozen
from bodymotion.diagnostics import Problem
from bodymotion.formats.seq.document import Document
from bodymotion.formats.seq.headers import ComponentHeader, read_headers
from bodymotion.formats.seq.reader import component_of, read_document, row_blocks, source_of
from bodymotion.formats.seq.source_bytes import ByteSource
from bodymotion.motion import Motion
from bodymotion.source import Source

__all__ = ["MotionReader", "open_motion"]


class MotionReader:
    """An open body motion file; a context manager.

    Attributes
    ----------
    components:
        What the file says of each component (`ComponentHeader`), its frames counted, not parsed.
    extra, source, problems:
        As in the `Motion` that `load` gives, but for the problems that only the rows show.
    """

    def __init__(self, path: str | Path) -> None:
        self._bytes = ByteSource.open(path)
        try:
            read_document(self._bytes, self._take)
        except BaseException:
            self._bytes.close()
            raise

    def _take(self, document: Document) -> None:
        headers = read_headers(document)
        for header in headers.components:
            # Shapes that only a full YAML parse knows show here, while that can still be made.
            for _, block in row_blocks(header):
                if len(block):
                    break
        self.components: tuple[ComponentHeader, ...] = headers.components
        self.extra = headers.extra
        self.source: Source = source_of(document, headers)
        self.problems: tuple[Problem, ...] = tuple(headers.problems)

    def __enter__(self) -> MotionReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; its frames can not be read any more."""
        self._bytes.close()


def open_motion(path: str | Path) -> MotionReader:
    """Open a body motion file of any size.

    Raises
    ------
    FormatError
        As `load` does for what the headers show.
    """
    return MotionReader(path)
