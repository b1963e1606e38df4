"""A motion that is no YAML: why, and what else is wrong with it."""

from __future__ import annotations

from collections.abc import Callable

from bodymotion.diagnostics import FormatError, Problem
from bodymotion.formats.seq import rules
from bodymotion.formats.seq.fields import KEYS
from bodymotion.formats.seq.source_bytes import ByteSource
from bodymotion.formats.yaml.faults import EFFORT, read_on

__all__ = ["without_faulty_lines"]

_DOUBTFUL = {
    rule.code
    for rule in (
        rules.NOT_A_MOTION,
        rules.COMPONENT_TYPE,
        rules.FRAME_RATE_MISSING,
        rules.VERSION_MISSING,
        rules.TOP_TYPE,
        rules.TOP_CONTENT,
        rules.NO_COMPONENTS,
        rules.CONTENT_MISSING,
        rules.NUM_PARTS_MISSING,
        rules.NUM_FRAMES,
        rules.SE3_FORMAT_MISSING,
        rules.FRAMES_MISSING,
        rules.LENGTHS,
    )
}
"""What is missing may have stood in a line that was taken out."""

_KEYS = [spelling for spellings in KEYS.values() for spelling in spellings]
LARGEST = 10 * EFFORT


def without_faulty_lines(
    source: ByteSource, error: FormatError, attempt: Callable[[ByteSource], tuple[Problem, ...] | FormatError]
) -> tuple[Problem, ...]:
    """Say why a text is no YAML, each time that it is none, and what else is wrong with it; `attempt` gives all problems of a text."""
    if source.encoding not in ("utf-8", "utf-8-sig") or source.size > LARGEST:
        return error.problems

    def tried(data: bytes) -> tuple[Problem, ...] | FormatError:
        return attempt(ByteSource(None, data, source.path))

    return read_on(source.read(0, source.size), error, tried, _KEYS, _DOUBTFUL)
