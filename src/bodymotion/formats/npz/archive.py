"""NumPy archives, read with suspicion: no pickles, no sizes that the bytes do not hold."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import FormatError, Location, Rule
from bodymotion.system.open_files import open_file

__all__ = ["RULES", "Array", "read_archive", "write_archive"]

Array = npt.NDArray[Any]

NOT_AN_ARCHIVE = Rule(
    "NPZ001",
    "error",
    "An .npz file is a zip archive of NumPy arrays.",
    "judgement",
    example=("a text called walk.npz", "numpy.savez('walk.npz', …)"),
)
BOMB = Rule(
    "NPZ002",
    "error",
    "An archive unpacks to at most 256 MB, or 100 times its own size.",
    "judgement",
    "save it again with numpy.savez, which does not compress",
    example=("a gigabyte of zeros, compressed", "the same, not compressed"),
)
OBJECTS = Rule(
    "NPZ003",
    "error",
    "Arrays hold numbers, truth values or texts; Python objects could run code when they are unpacked.",
    "judgement",
    example=("info=numpy.array({'by': 'me'})", "info=numpy.array('by me')"),
)
UNREADABLE = Rule(
    "NPZ004",
    "error",
    "The file can be opened and read to its end.",
    "judgement",
    example=("a folder called walk.npz", "a file called walk.npz"),
)
RULES = (NOT_AN_ARCHIVE, BOMB, OBJECTS, UNREADABLE)

_ALWAYS = 256 << 20
_TIMES = 100
_MEMBERS = 1000
_TEXT_LIMIT = 1 << 20
_LONGEST_EMPTY = 10**7
"""Rows of an array without columns: they take no room in the file, but a motion has a time for each."""


def read_archive(path: str | Path) -> dict[str, Array]:
    """Read all arrays of an archive by their names.

    Raises
    ------
    FormatError
        When it is no archive, is damaged, holds objects, or unpacks to too much.
    """
    where = Location(str(path))
    try:
        with open_file(path) as file:
            size = file.seek(0, 2)
            with zipfile.ZipFile(file) as archive:
                return _arrays(archive, size, where)
    except FormatError:
        raise
    except OSError as error:
        raise UNREADABLE.error(f"cannot be opened: {error.strerror or error}", where) from error
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
        raise NOT_AN_ARCHIVE.error(str(error)[:200] or "damaged", where) from error
    except Exception as error:
        # zlib, lzma and bz2 have errors of their own.
        if type(error).__module__ in ("zlib", "_lzma", "lzma", "builtins", "struct"):
            raise NOT_AN_ARCHIVE.error(f"damaged: {error}"[:200], where) from error
        raise


def _arrays(archive: zipfile.ZipFile, size: int, where: Location) -> dict[str, Array]:
    members = archive.infolist()
    total = sum(member.file_size for member in members)
    if len(members) > _MEMBERS or total > max(_ALWAYS, _TIMES * size):
        raise BOMB.error(f"{len(members)} arrays of {total / 1e6:.0f} MB in a file of {size / 1e6:.3g} MB", where)
    found = {}
    for member in members:
        if member.filename.endswith(".npy"):
            with archive.open(member) as stream:
                found[member.filename.removesuffix(".npy")] = _array(cast(BinaryIO, stream), member, where)
    return found


def _array(stream: BinaryIO, member: zipfile.ZipInfo, where: Location) -> Array:
    inside = Location(where.path, inside=member.filename)
    version = np.lib.format.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise NOT_AN_ARCHIVE.error(f"arrays of the file format version {version} are not read", inside)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    try:
        shape, fortran, dtype = read(stream)
    except Exception as error:  # a header is Python's source: what its tokens and its syntax raise comes through
        raise NOT_AN_ARCHIVE.error(f"{member.filename} has a damaged header: {error}"[:200], inside) from error
    if dtype.hasobject or dtype.kind not in "biufU":
        raise OBJECTS.error(f"{member.filename} is an array of {dtype}", inside)
    count = math.prod(shape)
    if count * dtype.itemsize > member.file_size or min(shape, default=0) < 0 or len(shape) > 4:
        raise NOT_AN_ARCHIVE.error(f"{member.filename} says shape {shape}, and has {member.file_size} bytes", inside)
    if not count and max(shape, default=0) > _LONGEST_EMPTY:
        raise NOT_AN_ARCHIVE.error(f"{member.filename} says shape {shape}, and holds nothing", inside)
    if dtype.kind == "U" and count * dtype.itemsize > _TEXT_LIMIT:
        raise NOT_AN_ARCHIVE.error(f"{member.filename} has too much text", inside)
    data = stream.read(count * dtype.itemsize)
    if len(data) != count * dtype.itemsize:
        raise NOT_AN_ARCHIVE.error(f"{member.filename} ends before its last number", inside)
    array = np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")
    if dtype.kind == "U":
        codes = np.frombuffer(data, np.dtype(np.uint32).newbyteorder(dtype.byteorder))
        if ((codes > 0x10FFFF) | ((codes >= 0xD800) & (codes < 0xE000))).any():
            raise NOT_AN_ARCHIVE.error(f"{member.filename} holds codes that are no characters", inside)
    return array


def write_archive(stream: BinaryIO, arrays: Mapping[str, Array], *, compressed: bool = False) -> None:
    """Write arrays as an archive, without compression unless asked for, with the same bytes each time."""
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for name, array in arrays.items():
            about = zipfile.ZipInfo(f"{name}.npy")
            about.compress_type = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
            with archive.open(about, "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)
