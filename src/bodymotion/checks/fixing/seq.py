"""Fixes of a body motion file.

NumFrames, the format version, quaternions that are almost of length 1.
"""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bodymotion.checks.checking import most_common_end
from bodymotion.checks.fixing.edits import Edit, Lines, unit_texts
from bodymotion.diagnostics import Diagnostics, FormatError
from bodymotion.formats.seq import rules
from bodymotion.formats.seq.document import Document, RowPiece
from bodymotion.formats.seq.headers import (
    ComponentHeader,
    Fields,
    component_fields,
    read_headers,
)
from bodymotion.formats.seq.reader import parse_seq, parts_of_rows, read_document
from bodymotion.formats.seq.rows import RowFaultError, elements, row_numbers
from bodymotion.formats.seq.scan import ByteSource
from bodymotion.formats.seq.values import Layout
from bodymotion.formats.yaml.tree import Mapping, Node, Scalar, Sequence, key_text
from bodymotion.geometry.arrays import Bools, Floats
from bodymotion.motion.rules import MAX_LENGTH_ERROR, MOTION_QUATERNION, ROUNDING


def edits_of(data: bytes, path: Path) -> tuple[Edit, ...]:
    """Return the edits of a text.

    None where it is not YAML or not UTF-8.
    """
    source = ByteSource(None, data, str(path))
    if source.encoding not in ("utf-8", "utf-8-sig"):
        return ()
    # Where lines end in CR alone, the reader sees LF; the offsets are the same.
    lines = Lines(source.read(0, source.size))
    try:
        return read_document(source, lambda document: tuple(_edits(document, lines)))
    except FormatError:
        return ()


def is_same_motion(before: bytes, after: bytes, path: Path) -> bool:
    """Return whether two texts can be read, and are the same motion."""
    try:
        return parse_seq(before, str(path)) == parse_seq(after, str(path))
    except FormatError:
        return False


def _edits(document: Document, lines: Lines) -> Iterator[Edit]:
    """Return the edits of a document: version, numFrames, then quaternions."""
    findings = Diagnostics()
    headers = read_headers(document, findings)
    root = document.tree.root
    assert isinstance(root, Mapping)
    top = Fields(document, root, Diagnostics(), "")
    is_missing = any(
        problem.rule == rules.VERSION_MISSING.code for problem in findings.problems
    )
    if is_missing and "format_version" not in top.values:
        yield from _version(document, root, headers.version, lines)
    yield from _num_frames(document, headers.components, top, lines)
    for header in headers.components:
        written = header.layout
        if written is None or header.frames is None or written.pose_size != 7:
            continue
        # Where numParts is wrong, the rows decide.
        parts = parts_of_rows(header) or header.num_parts
        layout = Layout(parts, written.stamped, written.order)
        for piece in header.frames.pieces(layout):
            yield from _quaternions(piece, layout, document, lines)


def _version(
    document: Document, root: Mapping, version: int, lines: Lines
) -> Iterator[Edit]:
    """Write the version that the reader assumes before the first key."""
    place = document.location(root)
    if place.line is None or place.column is None or not root.pairs:
        return
    at = lines.offset(place.line, place.column)
    # In flow style ({key: value, …}) the version goes behind the brace, with quotes if
    # the other keys have them; in block style it gets a line before the first key.
    if root.flow:
        if lines.data[at : at + 1] != b"{":
            return
        quote = lines.data[at + 1 :].lstrip()[:1]
        if quote == b'"':
            key = b'"formatVersion"'
        else:
            key = b"formatVersion"
        yield Edit(
            at + 1, at + 1, key + f": {version}, ".encode(), rules.VERSION_MISSING.code
        )
        return
    first = root.pairs[0][0]
    if (
        isinstance(first, Scalar)
        and first.offset == root.offset
        and lines.data[at : at + 1].isalpha()
    ):
        text = (
            f"formatVersion: {version}".encode()
            + most_common_end(lines.data)
            + b" " * (place.column - 1)
        )
        yield Edit(at, at, text, rules.VERSION_MISSING.code)


def _num_frames(
    document: Document, headers: tuple[ComponentHeader, ...], top: Fields, lines: Lines
) -> Iterator[Edit]:
    """Correct numFrames, where all components that share it have as many rows.

    It does not change where it may be the only trace of lost rows: in a component
    without rows, and where it is larger than the number of the last rows of the text,
    which may have been cut off.
    """
    # The right numbers and the rules of each node that states one.
    wanted: defaultdict[int, set[tuple[int, str]]] = defaultdict(set)
    nodes: dict[int, Scalar] = {}
    for header in headers:
        if header.layout is None:
            continue
        fields = component_fields(document, header, Diagnostics())
        if "num_frames" not in fields.values:
            fields = top
        node = fields.values.get("num_frames")
        stated = fields.count("num_frames")
        if not isinstance(node, Scalar) or stated is None:
            continue
        num_frames = header.num_frames
        may_be_lost = stated > num_frames and _is_last(document, header)
        if not num_frames or may_be_lost:
            num_frames = UNKNOWN
        rule = rules.NUM_FRAMES_NUMBER if stated == -1 else rules.NUM_FRAMES
        nodes[node.offset] = node
        wanted[node.offset].add((num_frames, rule.code))
    for offset, answers in wanted.items():
        number, code = min(answers)
        is_agreed = all(other == number for other, _ in answers)
        if is_agreed and number != UNKNOWN and nodes[offset].value != str(number):
            yield from _scalar(document, nodes[offset], number, code, lines)


# The number of frames of a component whose rows may be lost.
UNKNOWN = -1


def _is_last(document: Document, header: ComponentHeader) -> bool:
    """Return whether a text ends with the rows of a component, in block style.

    As a text that was cut off after a row does.
    """
    owner: Node = document.tree.root
    if header.inside:
        components = _last_list(owner, "components")
        if components is None:
            return False
        if header.inside != f"components[{len(components.items) - 1}]":
            return False
        owner = components.items[-1]
    return _last_list(owner, "frames") is not None


def _last_list(owner: Node, key: str) -> Sequence | None:
    """Return the list of the last key of a mapping.

    None where that is not `key`.

    None where one of them is in flow style.
    """
    if not isinstance(owner, Mapping) or owner.flow or not owner.pairs:
        return None
    last_key, value = owner.pairs[-1]
    if key_text(last_key) != key or not isinstance(value, Sequence) or value.flow:
        return None
    return value


def _scalar(
    document: Document, node: Scalar, number: int, code: str, lines: Lines
) -> Iterator[Edit]:
    """Write another number in place of a scalar."""
    location = document.location(node)
    if location.line is None or location.column is None:
        return
    try:
        if float(node.value) == number:
            return
    except ValueError:
        pass
    start = lines.offset(location.line, location.column)
    for quote in (b"", b'"', b"'"):
        text = quote + node.value.encode() + quote
        if node.value and lines.data.startswith(text, start):
            yield Edit(start, start + len(text), str(number).encode(), code)
            return


def _quaternions(
    piece: RowPiece, layout: Layout, document: Document, lines: Lines
) -> Iterator[Edit]:
    """Scale the quaternions of a piece to length 1.

    Faulty rows do not change.
    """
    for node, values, parts in _rows_to_fix(piece, layout):
        for part in parts:
            first = layout.stamped + 7 * part + 3
            four = list(elements(node.items[layout.stamped + part]))[3:]
            for k, text in unit_texts(
                [item.value for item in four], values[first : first + 4]
            ):
                if piece.offset is not None:
                    at = piece.offset + four[k].offset
                else:
                    place = document.location(four[k])
                    assert place.line is not None and place.column is not None
                    at = lines.offset(place.line, place.column)
                old = four[k].value.encode()
                if lines.data.startswith(old, at):
                    yield Edit(at, at + len(old), text.encode(), MOTION_QUATERNION.code)


def _rows_to_fix(
    piece: RowPiece, layout: Layout
) -> Iterator[tuple[Sequence, list[float], list[int]]]:
    """Yield the rows with quaternions that are almost of length 1.

    With their numbers, and the indices of these poses.
    """
    if piece.block is not None:
        # All rows at once: a long motion may have as many to fix.
        rough = _rough(piece.block, layout)
        if rough.any():
            nodes = list(piece.nodes())
        else:
            nodes = []
        if len(nodes) == len(rough):
            for k in np.flatnonzero(rough.any(axis=1)).tolist():
                row = nodes[k]
                assert isinstance(row, Sequence)
                yield row, piece.block[k].tolist(), np.flatnonzero(rough[k]).tolist()
        return
    for node in piece.nodes():
        try:
            values = row_numbers(node, layout)
        except RowFaultError:
            continue
        assert isinstance(node, Sequence)
        yield (
            node,
            values,
            np.flatnonzero(_rough(np.array([values]), layout)[0]).tolist(),
        )


def _rough(rows: Floats, layout: Layout) -> Bools:
    """Return which quaternions (N, parts) of some rows are almost of length 1.

    One that is far from it may be no quaternion.
    """
    poses = rows[:, layout.stamped :].reshape(len(rows), -1, 7)
    with np.errstate(all="ignore"):
        length = np.sqrt(np.einsum("ijk,ijk->ij", poses[..., 3:], poses[..., 3:]))
    off = np.abs(length - 1)
    return np.asarray((off > ROUNDING) & (off <= MAX_LENGTH_ERROR))
