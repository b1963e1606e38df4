"""Read a NumPy archive within limits, and make a motion of it.

Pickles in it are refused.
"""

import math
import zipfile
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from bodymotion.diagnostics import (
    Diagnostics,
    FormatError,
    Location,
    ReadResult,
    Source,
)
from bodymotion.formats.limits import budget_for
from bodymotion.formats.npz import rules
from bodymotion.formats.npz.layouts import (
    UNREAD,
    Array,
    QuaternionOrder,
    ReadOptions,
    motion_of,
)
from bodymotion.formats.resources import unreadable
from bodymotion.formats.rules import TOO_LARGE
from bodymotion.model.body import Body
from bodymotion.motion import Motion
from bodymotion.system.files import open_file

MAX_ARRAYS = 1000
MAX_TEXT_BYTES = 1 << 20
# Rows of an array without columns. They have no bytes in the file, but each has a time
# in the motion.
MAX_EMPTY_ROWS = 10**7


def read_archive(
    path: str | Path,
    *,
    only: Collection[str] | None = None,
    found: Diagnostics | None = None,
) -> dict[str, Array]:
    """Read all arrays of an archive by their names, or `only` some.

    `found` gets the faults of single arrays, which are then UNREAD.

    Raises
    ------
    FormatError
        When it is no archive, is damaged, holds objects, or unpacks to too much.
    """
    location = Location(str(path))
    try:
        with open_file(path) as file:
            if not (size := file.seek(0, 2)):
                raise rules.NOT_AN_ARCHIVE.error("the file is empty", location)
            with zipfile.ZipFile(file) as archive:
                members = archive.infolist()
                members = [
                    one
                    for one in members
                    if only is None or one.filename.removesuffix(".npy") in only
                ]
                if len(members) > MAX_ARRAYS:
                    message = f"{len(members)} arrays; expected at most {MAX_ARRAYS}"
                    raise TOO_LARGE.error(message, location)
                # Sizes as the archive states them: refused before anything is unpacked.
                with budget_for(path, size) as budget:
                    budget.take_bytes(sum(one.file_size for one in members), location)
                arrays = {
                    one.filename.removesuffix(".npy"): UNREAD
                    for one in members
                    if one.filename.endswith(".npy")
                }
                for member in members:
                    if (
                        name := member.filename.removesuffix(".npy")
                    ) != member.filename:
                        # A fault in one array leaves the others, if there is a
                        # collector.
                        with (
                            archive.open(member) as stream,
                            nullcontext() if found is None else found.recover(),
                        ):
                            arrays[name] = _array(
                                cast(BinaryIO, stream), member, location
                            )
                return arrays
    except FormatError:
        raise
    except OSError as error:
        raise unreadable(error, path) from error
    except Exception as error:  # zipfile, zlib, lzma and bz2 have errors of their own
        raise rules.NOT_AN_ARCHIVE.error(
            f"the archive is damaged: {error}"[:200], location
        ) from error


def _array(stream: BinaryIO, member: zipfile.ZipInfo, location: Location) -> Array:
    """Return the array of one member of an archive."""
    inside = Location(location.path, inside=member.filename)
    # The header of an .npy: magic, version, shape, order, type.
    version = np.lib.format.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise rules.NOT_AN_ARCHIVE.error(
            f"arrays of the file format version {version} are not read", inside
        )
    if version == (1, 0):
        read = np.lib.format.read_array_header_1_0
    else:
        read = np.lib.format.read_array_header_2_0
    try:
        shape, fortran, dtype = read(stream)
    # a header is Python's source: what its tokens and its syntax raise comes through
    except Exception as error:
        raise rules.NOT_AN_ARCHIVE.error(
            f"{member.filename} has a damaged header: {error}"[:200], inside
        ) from error
    # Objects are pickles, which run code when they are read.
    if dtype.hasobject or dtype.kind not in "biufSU":
        raise rules.OBJECTS.error(f"{member.filename} is an array of {dtype}", inside)

    def fail(message: str) -> FormatError:
        return rules.NOT_AN_ARCHIVE.error(f"{member.filename} {message}", inside)

    return array_of(stream.read, dtype, shape, fortran, member.file_size, fail)


def array_of(
    read: Callable[[int], bytes],
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    fortran: bool,
    available: int,
    fail: Callable[[str], FormatError],
) -> Array:
    """Return an array of numbers or texts.

    `read` returns its data, of which `available` bytes are there.

    Raise what `fail` makes of a message.
    """
    count = math.prod(shape)
    # The product of sizes must be in the file: no memory for what is not there.
    if (
        min(shape, default=0) < 0
        or len(shape) > 4
        or count * dtype.itemsize > available
    ):
        raise fail(f"has shape {shape} and only {available} bytes")
    # No numbers, but rows: each would still become a frame.
    if not count and max(shape, default=0) > MAX_EMPTY_ROWS:
        raise fail(f"has shape {shape} and no numbers")
    if dtype.kind in "SU" and count * dtype.itemsize > MAX_TEXT_BYTES:
        raise fail("has too much text")
    data = read(count * dtype.itemsize)
    if len(data) != count * dtype.itemsize:
        raise fail("ends before its last number")
    # Read-only, as a view of the bytes.
    array = np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")
    if dtype.kind == "U":
        # A character has 4 bytes; Python refuses those that are none.
        codes = np.frombuffer(data, np.dtype(np.uint32).newbyteorder(dtype.byteorder))
        if ((codes > 0x10FFFF) | ((codes >= 0xD800) & (codes < 0xE000))).any():
            raise fail("holds codes that are not characters")
    return array


def write_archive(
    stream: BinaryIO, arrays: Mapping[str, Array], *, compressed: bool = False
) -> None:
    """Write arrays as an archive, `compressed` or not.

    The same arrays give the same bytes.
    """
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        # A time in the archive would make its bytes different each time.
        for name, array in arrays.items():
            info = zipfile.ZipInfo(f"{name}.npy")
            if compressed:
                info.compress_type = zipfile.ZIP_DEFLATED
            else:
                info.compress_type = zipfile.ZIP_STORED
            with archive.open(info, "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)


def read_npz(
    path: str | Path,
    *,
    body: Body | None = None,
    joint_names: Sequence[str] | None = None,
    link_names: Sequence[str] | None = None,
    frame_rate: float | None = None,
    quaternion_order: QuaternionOrder | None = None,
    degrees: bool | None = None,
) -> ReadResult[Motion]:
    """Read a motion from a NumPy archive of our layout, or of one of `layouts`.

    Parameters
    ----------
    path:
        The file.
    body:
        Joints and links are matched with its own by name, and put in their order.
    joint_names, link_names:
        Names for the joints and links of the file, in the file's order, where it has
        none. Of links without names only the first, the root, is read.
    frame_rate:
        [Hz] in place of the rate of the archive; with times, the rate for resampling.
    quaternion_order:
        Of a layout of another program; by default its own, or where that is open, the
        order in which the root is upright.
    degrees:
        Whether joint angles are degrees. By default they are read as radians, and
        angles that look like degrees are reported (TAB106). Sliding joints, which only
        a body shows, stay in metres.
    """
    found = Diagnostics(path)
    arrays: dict[str, Array] = {}
    with found.recover(("components", "all")):
        arrays = read_archive(path, found=found)
    source = Source("npz", Path(path))
    return motion_of(
        arrays,
        source,
        found,
        ReadOptions(
            body, joint_names, link_names, frame_rate, quaternion_order, degrees
        ),
    )
