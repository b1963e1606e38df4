"""Read a NumPy archive without pickles and within limits, and make a motion of its arrays."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import Diagnostics, FormatError, Location, ReadResult, Source, SourceMap
from bodymotion.diagnostics.text import listed
from bodymotion.formats.npz import rules
from bodymotion.formats.tables.joint_names import in_body_order, joint_names, link_order
from bodymotion.formats.tables.timelines import check_increasing
from bodymotion.geometry.arrays import Floats
from bodymotion.motion import (
    JOINT_DISPLACEMENT,
    LINK_POSITION,
    ZMP,
    Component,
    Motion,
    MultiSE3Seq,
    MultiValueSeq,
    Vector3Seq,
)
from bodymotion.motion.components import Timeline
from bodymotion.system.open_files import open_file

if TYPE_CHECKING:
    from bodymotion.model.body import Body

Array = npt.NDArray[Any]


MAX_BYTES, MAX_RATIO = 256 << 20, 100
"""An archive unpacks to the first number of bytes, or to this multiple of its own size, at most."""
MAX_ARRAYS = 1000
MAX_TEXT_BYTES = 1 << 20
MAX_EMPTY_ROWS = 10**7
"""Rows of an array without columns: they have no bytes in the file, but each has a time in the motion."""


def read_archive(path: str | Path) -> dict[str, Array]:
    """Read all arrays of an archive by their names.

    Raises
    ------
    FormatError
        When it is no archive, is damaged, holds objects, or unpacks to too much.
    """
    location = Location(str(path))
    try:
        with open_file(path) as file:
            size = file.seek(0, 2)
            with zipfile.ZipFile(file) as archive:
                return _arrays(archive, size, location)
    except FormatError:
        raise
    except OSError as error:
        raise rules.UNREADABLE.error(f"cannot be opened: {error.strerror or error}", location) from error
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
        raise rules.NOT_AN_ARCHIVE.error(str(error)[:200] or "damaged", location) from error
    except Exception as error:
        # zlib, lzma and bz2 have errors of their own.
        if type(error).__module__ in ("zlib", "_lzma", "lzma", "builtins", "struct"):
            raise rules.NOT_AN_ARCHIVE.error(f"damaged: {error}"[:200], location) from error
        raise


def _arrays(archive: zipfile.ZipFile, size: int, location: Location) -> dict[str, Array]:
    members = archive.infolist()
    total = sum(member.file_size for member in members)
    if len(members) > MAX_ARRAYS or total > max(MAX_BYTES, MAX_RATIO * size):
        raise rules.BOMB.error(
            f"{len(members)} arrays of {total / 1e6:.0f} MB in a file of {size / 1e6:.3g} MB", location
        )
    found = {}
    for member in members:
        if member.filename.endswith(".npy"):
            with archive.open(member) as stream:
                found[member.filename.removesuffix(".npy")] = _array(cast(BinaryIO, stream), member, location)
    return found


def _array(stream: BinaryIO, member: zipfile.ZipInfo, location: Location) -> Array:
    inside = Location(location.path, inside=member.filename)
    version = np.lib.format.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise rules.NOT_AN_ARCHIVE.error(f"arrays of the file format version {version} are not read", inside)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    try:
        shape, fortran, dtype = read(stream)
    except Exception as error:  # a header is Python's source: what its tokens and its syntax raise comes through
        raise rules.NOT_AN_ARCHIVE.error(f"{member.filename} has a damaged header: {error}"[:200], inside) from error
    if dtype.hasobject or dtype.kind not in "biufU":
        raise rules.OBJECTS.error(f"{member.filename} is an array of {dtype}", inside)
    count = math.prod(shape)
    if count * dtype.itemsize > member.file_size or min(shape, default=0) < 0 or len(shape) > 4:
        raise rules.NOT_AN_ARCHIVE.error(
            f"{member.filename} has shape {shape} and only {member.file_size} bytes", inside
        )
    if not count and max(shape, default=0) > MAX_EMPTY_ROWS:
        raise rules.NOT_AN_ARCHIVE.error(f"{member.filename} has shape {shape} and no numbers", inside)
    if dtype.kind == "U" and count * dtype.itemsize > MAX_TEXT_BYTES:
        raise rules.NOT_AN_ARCHIVE.error(f"{member.filename} has too much text", inside)
    data = stream.read(count * dtype.itemsize)
    if len(data) != count * dtype.itemsize:
        raise rules.NOT_AN_ARCHIVE.error(f"{member.filename} ends before its last number", inside)
    array = np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")
    if dtype.kind == "U":
        codes = np.frombuffer(data, np.dtype(np.uint32).newbyteorder(dtype.byteorder))
        if ((codes > 0x10FFFF) | ((codes >= 0xD800) & (codes < 0xE000))).any():
            raise rules.NOT_AN_ARCHIVE.error(f"{member.filename} holds codes that are no characters", inside)
    return array


def write_archive(stream: BinaryIO, arrays: Mapping[str, Array], *, compressed: bool = False) -> None:
    """Write arrays as an archive, `compressed` or not; the same arrays give the same bytes."""
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for name, array in arrays.items():
            info = zipfile.ZipInfo(f"{name}.npy")
            info.compress_type = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
            with archive.open(info, "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)


_BEYOND_MIMIC = {"fps", "joint_pos", "body_pos_w", "body_quat_w"}


def read_npz(
    path: str | Path,
    *,
    body: Body | None = None,
    joint_names: Sequence[str] | None = None,
    link_names: Sequence[str] | None = None,
) -> ReadResult[Motion]:
    """Read a motion from a NumPy archive of our layout, or of BeyondMimic's.

    Parameters
    ----------
    path:
        The file.
    body:
        Joints and links are matched with its own by name, and put in their order.
    joint_names, link_names:
        Names for the joints and links of the file, in the file's order, where it has none. Of BeyondMimic's bodies only the first, the
        root, is read when they have no names.
    """
    found = Diagnostics(path)
    components: list[Component] = []
    with found.recover(("components", "all")):
        arrays = read_archive(path)
        reader = _Reader(arrays, Location(str(path)), body, found)
        if arrays.keys() >= _BEYOND_MIMIC:
            reader.beyond_mimic(components, joint_names, link_names)
        elif arrays.keys() & {"joint_displacement", "link_position", "zmp"}:
            reader.own_layout(components, joint_names, link_names)
        else:
            names = listed(sorted(arrays), 20) or "none"
            raise rules.LAYOUT.error(
                f"the arrays are {names}: no joint_displacement, link_position or zmp", reader.location
            )
    if not components and found.has_errors:
        return ReadResult(None, found.problems)
    source = Source("npz", Path(path), locations=SourceMap({(): Location(str(path))}, found.unknown))
    return ReadResult(Motion(tuple(components), source=source, problems=found.problems), found.problems)


class _Reader:
    def __init__(self, arrays: dict[str, Array], location: Location, body: Body | None, found: Diagnostics) -> None:
        self.arrays, self.location, self.body, self.found = arrays, location, body, found
        self.used: set[str] = set()

    def numbers(self, name: str, shape: tuple[int | None, ...]) -> Floats:
        array = self.arrays[name]
        self.used.add(name)
        fits = array.ndim == len(shape) and all(n is None or n == m for n, m in zip(shape, array.shape, strict=True))
        if array.dtype.kind not in "iuf" or not fits:
            wanted = ", ".join("any" if n is None else str(n) for n in shape)
            raise rules.SHAPE.error(
                f"{name}: numbers of shape ({wanted}) are needed, it is {array.dtype} {array.shape}", self.location
            )
        return np.asarray(array, np.float64)

    def names(self, key: str, given: Sequence[str] | None, count: int) -> tuple[str, ...]:
        names = tuple(given) if given is not None else ()
        if not names and key in self.arrays:
            array = self.arrays[key]
            if array.ndim != 1 or array.dtype.kind != "U":
                raise rules.SHAPE.error(f"{key} is no list of texts", self.location)
            names = tuple(array.tolist())
        self.used.add(key)
        if names and len(names) != count:
            raise rules.SHAPE.error(f"{len(names)} names for {count} columns: {', '.join(names[:60])}", self.location)
        return names

    def timeline(self, count: int) -> Timeline:
        """Return the timeline of `count` frames; one of 1 Hz, marked as unknown, where it cannot be read."""
        with self.found.recover(("times",)):
            if "times" in self.arrays:
                times = self.numbers("times", (count,))
                check_increasing(times, rules.RATE, self.found, lambda frame: self.location)
                rate = self.rate("frame_rate") if "frame_rate" in self.arrays else None
                return Timeline.stamped(times, rate)
            if "frame_rate" not in self.arrays:
                raise rules.RATE.error("there is neither frame_rate nor times", self.location)
            return Timeline.uniform(count, self.rate("frame_rate"))
        return Timeline.uniform(count, 1.0)

    def rate(self, name: str) -> float:
        array = self.arrays[name]
        self.used.add(name)
        if array.size != 1 or array.dtype.kind not in "iuf" or not 0 < float(array.ravel()[0]) < np.inf:
            raise rules.RATE.error(f"{name} is {array.ravel()[:3].tolist()}, not one positive number", self.location)
        return float(array.ravel()[0])

    def own_layout(
        self, components: list[Component], joint_names: Sequence[str] | None, link_names: Sequence[str] | None
    ) -> None:
        """Add the components of an archive with our names."""
        first = next(self.arrays[n] for n in ("joint_displacement", "link_position", "zmp") if n in self.arrays)
        count = len(first) if first.ndim else 0
        timeline = self.timeline(count)
        missing = ("components", "all")
        if "link_position" in self.arrays:
            with self.found.recover(missing):
                poses = self.numbers("link_position", (count, None, 7))
                components.append(self.links(poses, self.names("link_names", link_names, poses.shape[1]), timeline))
        if "joint_displacement" in self.arrays:
            with self.found.recover(missing):
                q = self.numbers("joint_displacement", (count, None))
                components.append(self.joints(q, self.names("joint_names", joint_names, q.shape[1]), timeline))
        if "zmp" in self.arrays:
            relative = self.arrays.get("zmp_is_root_relative")
            self.used.add("zmp_is_root_relative")
            is_relative = relative is not None and bool(relative.any())
            with self.found.recover(missing):
                values = self.numbers("zmp", (count, 3))
                components.append(
                    Vector3Seq(content=ZMP, timeline=timeline, values=values, is_root_relative=is_relative)
                )
        self.report_unread()

    def beyond_mimic(
        self, components: list[Component], joint_names: Sequence[str] | None, link_names: Sequence[str] | None
    ) -> None:
        """Add the components of an archive with BeyondMimic's names."""
        q = self.numbers("joint_pos", (None, None))
        positions = self.numbers("body_pos_w", (len(q), None, 3))
        rotations = self.numbers("body_quat_w", (len(q), positions.shape[1], 4))
        timeline = Timeline.uniform(len(q), self.rate("fps"))
        names = self.names("joint_names", joint_names, q.shape[1])
        if not names and self.body is None:
            raise rules.NAMES.error(f"the {q.shape[1]} joints have no names", self.location)
        bodies = self.names("link_names", link_names, positions.shape[1])
        if not positions.shape[1]:
            raise rules.SHAPE.error("body_pos_w has no bodies", self.location)
        poses = np.concatenate([positions, rotations], axis=-1)
        if not bodies:
            poses = poses[:, :1]
        self.report_unread("the poses of bodies other than the first" if not bodies and positions.shape[1] > 1 else "")
        components += [self.links(poses, bodies, timeline), self.joints(q, names, timeline)]

    def links(self, poses: Floats, names: tuple[str, ...], timeline: Timeline) -> MultiSE3Seq:
        if self.body is not None and names:
            poses = poses[:, link_order(names, self.body, self.location)]
            names = tuple(link.name for link in self.body.links[: poses.shape[1]])
        return MultiSE3Seq(content=LINK_POSITION, timeline=timeline, values=poses, part_labels=names)

    def joints(self, q: Floats, names: tuple[str, ...], timeline: Timeline) -> MultiValueSeq:
        if self.body is not None and names:
            q, names = in_body_order(q, names, self.body, self.location, self.found)
        elif self.body is not None:
            wanted = joint_names(self.body)
            if len(wanted) != q.shape[1]:
                message = f"{q.shape[1]} joints without names; {self.body.name} has {len(wanted)}: {', '.join(wanted)}"
                raise rules.SHAPE.error(message, self.location)
            message = f"{q.shape[1]} joints without names are read in the order of {self.body.name}'s joint ids"
            self.found.report(rules.ORDER, message, self.location)
            names = wanted
        return MultiValueSeq(content=JOINT_DISPLACEMENT, timeline=timeline, values=q, part_labels=names)

    def report_unread(self, more: str = "") -> None:
        unread = [*sorted(self.arrays.keys() - self.used), *([more] if more else [])]
        if unread:
            self.found.report(rules.UNREAD, f"not read: {', '.join(unread)}", self.location)
