"""Read a motion from a pickle, compressed or not, or from an archive of PyTorch."""

import io
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bodymotion.diagnostics import (
    Diagnostics,
    FormatError,
    Location,
    ReadResult,
    Source,
)
from bodymotion.diagnostics.text import with_article
from bodymotion.formats.compression import compression_of, unpacked
from bodymotion.formats.limits import budget_for
from bodymotion.formats.npz.layouts import (
    Array,
    QuaternionOrder,
    ReadOptions,
    motion_of,
)
from bodymotion.formats.npz.rules import UNREAD
from bodymotion.formats.pickles.machine import Machine, PickledArray
from bodymotion.formats.pickles.rules import CONTENT
from bodymotion.formats.resources import file_bytes
from bodymotion.formats.rules import TOO_LARGE
from bodymotion.model.body import Body
from bodymotion.motion import Motion

MAX_BYTES = 1 << 30
"""[bytes] The size of a file."""
ZIP_HEAD = b"PK"
# The folder of the storages in an archive of PyTorch.
STORAGES = "data/"
# [bytes] A character in an array of texts.
BYTES_OF_CHARACTER = 4


def read_pickle(
    path: str | Path,
    *,
    body: Body | None = None,
    joint_names: Sequence[str] | None = None,
    link_names: Sequence[str] | None = None,
    frame_rate: float | None = None,
    quaternion_order: QuaternionOrder | None = None,
    degrees: bool | None = None,
) -> ReadResult[Motion]:
    """Read a motion from a pickle; parameters as for `read_npz`."""
    path = Path(path)
    diagnostics = Diagnostics(path)
    arrays: dict[str, Array] = {}
    with diagnostics.recover(("components", "all")):
        data = file_bytes(path, MAX_BYTES)
        if not data:
            raise CONTENT.error("the file is empty", Location(str(path)))
        # joblib and others compress the whole pickle.
        if compression_of(data):
            data = _unpacked(data, str(path))
        parts = _parts_of(data, str(path))
        machine = Machine(parts.pickle, parts.storages, str(path))
        arrays = _arrays(machine, machine.run(), diagnostics)
    options = ReadOptions(
        body, joint_names, link_names, frame_rate, quaternion_order, degrees
    )
    return motion_of(arrays, Source("pickle", path), diagnostics, options)


def _unpacked(data: bytes, path: str) -> bytes:
    """Return the content of a compressed file, within the budget."""
    pieces = []
    with budget_for(path, len(data)) as budget:
        try:
            for piece in unpacked(data):
                budget.take_bytes(len(piece), Location(path))
                pieces.append(piece)
        except FormatError:
            raise
        except ValueError as error:
            raise CONTENT.error(str(error), Location(path)) from error
    return b"".join(pieces)


class _Parts(NamedTuple):
    """A pickle, and the storages of its tensors by their keys."""

    pickle: bytes
    storages: dict[str, bytes]


def _parts_of(data: bytes, path: str) -> _Parts:
    """Return the parts of a file.

    Those of an archive, or the file itself is the pickle.
    """
    # An archive of PyTorch is a zip.
    if not data.startswith(ZIP_HEAD):
        return _Parts(data, {})
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _parts_in_archive(archive, len(data), path)
    except (
        zipfile.BadZipFile,
        KeyError,
        ValueError,
        EOFError,
        OSError,
        RuntimeError,
    ) as error:
        text = f"the archive cannot be read: {error}"
        raise CONTENT.error(text, Location(path)) from error


def _parts_in_archive(archive: zipfile.ZipFile, num_bytes: int, path: str) -> _Parts:
    """Return the parts in an archive of so many bytes."""
    # All names begin with the name of the archive.
    members = {info.filename.partition("/")[2]: info for info in archive.infolist()}
    # Compressed members could unpack to any size.
    if any(info.compress_type for info in members.values()):
        text = "its files are compressed; PyTorch writes them as they are"
        raise CONTENT.error(text, Location(path))
    # Members may overlap in a crafted archive.
    if sum(info.file_size for info in members.values()) > num_bytes:
        text = "its files are larger than the archive"
        raise TOO_LARGE.error(text, Location(path))
    storages = {
        name.removeprefix(STORAGES): archive.read(info)
        for name, info in members.items()
        if name.startswith(STORAGES)
    }
    return _Parts(archive.read(members["data.pkl"]), storages)


def _arrays(
    machine: Machine,
    value: Any,  # noqa: ANN401
    diagnostics: Diagnostics,
) -> dict[str, Array]:
    """Return the arrays of a dictionary, or of the first motion in it."""
    if isinstance(value, dict) and value:
        motions = [*value.values()]
        # Some files have a motion for each name.
        if all(isinstance(motion, dict) for motion in motions):
            if len(motions) > 1:
                text = f"not read: {len(motions) - 1} of {len(motions)} motions"
                diagnostics.report(UNREAD, text)
            value = motions[0]
    if not isinstance(value, dict):
        raise machine.fail(f"the pickle holds {with_article(type(value).__name__)}")
    arrays = {}
    for key, item in value.items():
        array = _array_of(machine, item)
        if array is not None:
            arrays[key] = array
    return arrays


def _array_of(machine: Machine, value: Any) -> Array | None:  # noqa: ANN401
    """Return a value as an array.

    None for what is neither numbers nor texts.
    """
    # Arrays that the machine made are of the right kind already.
    if isinstance(value, PickledArray):
        return value.value
    rows = value if isinstance(value, (list, tuple)) else [value]
    if all(isinstance(row, str) for row in rows):
        # All texts of an array take the length of the longest.
        longest = max(map(len, rows), default=0)
        machine.spend(BYTES_OF_CHARACTER * len(rows) * longest)
    elif not _are_numbers(machine, rows):
        return None
    try:
        array = np.asarray(value)
    except (ValueError, OverflowError):  # rows of different lengths
        return None
    if array.dtype.kind in "biufU":
        return array
    return None


def _are_numbers(machine: Machine, rows: Sequence[Any]) -> bool:
    """Return whether rows, or rows of rows, are numbers."""
    for row in rows:
        items = row if isinstance(row, (list, tuple)) else [row]
        machine.spend(len(items))
        if not all(isinstance(item, (bool, int, float, np.generic)) for item in items):
            return False
    return True
