"""Recorded motion of skeletons (.bvh).

Text; a tree of joints, then a row of numbers for each frame.

The shape of a file::

    HIERARCHY
    ROOT Hips
    {
        OFFSET 0.0 92.1 0.0
        CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
        JOINT LeftUpLeg
        {
            OFFSET 10.5 -1.8 0.1
            CHANNELS 3 Zrotation Yrotation Xrotation
            End Site
            {
                OFFSET 0.0 -43.5 0.0
            }
        }
    }
    MOTION
    Frames: 2
    Frame Time: 0.033333
    193.6 90.2 358.2 90.7 -0.04 80.8 169.4 -5.0 164.9
    193.5 90.1 358.3 90.6 -0.05 80.9 169.3 -5.1 164.8

A row has the channels of all joints in the order of the file: degrees, and the file's
unit of length. Rotations are applied in the order written, about moving axes. Position
channels replace OFFSET, on any joint. Neither the unit nor the up axis is in the file.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bodymotion.diagnostics import (
    Diagnostics,
    Location,
    Locator,
    Problem,
    ReadResult,
    Source,
    SourceMap,
    Subject,
    WrongUseError,
    judgement,
)
from bodymotion.diagnostics.spelling import meant
from bodymotion.diagnostics.text import counted
from bodymotion.formats.encodings import in_utf8
from bodymotion.formats.limits import timed
from bodymotion.formats.renaming import Renamings
from bodymotion.formats.resources import file_bytes
from bodymotion.formats.rules import ENCODING, TOO_LARGE
from bodymotion.formats.tables.columns import check_rate
from bodymotion.formats.tables.number_table import Table, read_rows, write_rows
from bodymotion.formats.text import decode, parsed
from bodymotion.model.trees import depth_first
from bodymotion.motion.rules import FRAME_RATE, MOTION_NOT_FINITE
from bodymotion.skeleton import CHANNELS, Skeleton, SkeletonJoint
from bodymotion.skeleton.values import MIN_FRAME_TIME, UP_AXES
from bodymotion.system.files import whole_file

MAX_BYTES = 1 << 30
MAX_TREE_BYTES = 4 << 20
MAX_JOINTS = 5_000

# A line MOTION ends the tree and begins the rows.
_MOTION = re.compile(rb"^[ \t]*MOTION[ \t]*\r?$", re.MULTILINE | re.IGNORECASE)
_FRAMES = re.compile(
    rb"\s*Frames\s*:\s*(\S+)\s+Frame\s+Time\s*:\s*(\S+)[ \t\r]*(?:\n|\Z)", re.IGNORECASE
)
_WORD = re.compile(r"[{}]|[^\s{}]+")
# Words that end what is before them.
KEYS = ("{", "}", "OFFSET", "CHANNELS", "JOINT", "END", "ROOT")
CHANNEL_NAMES = {name.lower(): name for name in CHANNELS}

# The rules of .bvh files. Rules about skeletons and their motion are in
# `bodymotion.checks`; rows of numbers have the rules of tables.
NOT_BVH = judgement.error(
    "BVH002",
    "A .bvh file begins with HIERARCHY and a ROOT.",
    example=("SKELETON\nROOT Hips", "HIERARCHY\nROOT Hips"),
)
SYNTAX = judgement.error(
    "BVH004",
    "A block has only OFFSET, CHANNELS, JOINT and End Site, between braces.",
    example=("POSITION 0 90 0", "OFFSET 0 90 0"),
)
OFFSET = judgement.error(
    "BVH101",
    "A joint and an end point have an OFFSET of three finite numbers.",
    example=("OFFSET 10 -2", "OFFSET 10 -2 0"),
)
LONG_OFFSET = judgement.note(
    "BVH102",
    "An OFFSET has three numbers. Further numbers are not read.",
    leaves_out=True,
    example=("OFFSET 10 -2 0 90 0 90", "OFFSET 10 -2 0"),
)
WRONG_CHANNELS = judgement.error(
    "BVH103",
    "CHANNELS is followed by a number, and by as many names of channels.",
    example=(
        "CHANNELS 4 Zrotation Yrotation Xrotation",
        "CHANNELS 3 Zrotation Yrotation Xrotation",
    ),
)
REPEATED = judgement.warning(
    "BVH104",
    "A joint has each channel once.",
    "all rotations are applied in order; the last position is used",
    example=(
        "CHANNELS 3 Zrotation Yrotation Zrotation",
        "CHANNELS 3 Zrotation Yrotation Xrotation",
    ),
)
NAME = judgement.warning(
    "BVH105",
    "The name of a joint is one word.",
    "other programs read the first word only",
    example=("JOINT Left Leg", "JOINT LeftLeg"),
)
SAME_NAME = judgement.warning(
    "BVH106",
    "No two joints have the same name.",
    example=("JOINT Hips", "JOINT LeftLeg"),
)
NO_MOTION = judgement.error(
    "BVH107",
    "A file has MOTION, `Frames:`, `Frame Time:`, and joints with channels.",
    example=("Frames: 2\nRate: 30", "Frames: 2\nFrame Time: 0.033333"),
)
FRAMES = judgement.warning(
    "BVH109",
    "`Frames:` is the number of rows. All rows are read.",
    "the file may have been cut off",
    example=("Frames: 3", "Frames: 2"),
)
RETIRED = {"BVH108": "MOT106", "BVH110": "MOT101"}
RENAMED = judgement.warning(
    "BVH201",
    "A name in a file has no blanks or braces, and is not empty.",
    leaves_out=True,
    example=("saving a joint 'Left Leg'", "saving a joint 'LeftLeg'"),
)


def read_bvh(
    path: str | Path,
    *,
    unit: float | None = None,
    up: str | None = None,
    frame_rate: float | None = None,
) -> ReadResult[Skeleton]:
    """Read a skeleton with its motion.

    A file of another kind has no value.

    The `unit` of length [m] and the axis that is `up` ("Y", "-Z") are in no file;
    without them they are found from the poses. A
    `frame_rate` [Hz] stands for the frame time of the file.

    Raises
    ------
    WrongUseError
        When the unit is not positive, or there is no such axis.
    """
    if up not in (None, *UP_AXES) or (unit is not None and not 0 < unit < math.inf):
        raise WrongUseError(
            f"unit {unit}, up {up!r}: expected metres above 0, and one of "
            f"{', '.join(UP_AXES)}"
        )
    path = Path(path)
    found = Diagnostics(path)
    value = None
    with found.recover():
        data, wide = in_utf8(file_bytes(path, MAX_BYTES))
        if wide:
            found.report(ENCODING, f"the text is {wide}", Location(str(path), 1))
        value = _read(
            # Files of old Macs end lines with carriage returns.
            data if b"\n" in data else data.replace(b"\r", b"\n"),
            path,
            frame_rate,
            found,
        )
    if value is not None:
        value = replace(value, known_unit=unit, known_up=up)
    return ReadResult(value, found.problems, refusal=found.refusal)


def _read(
    data: bytes, path: Path, rate: float | None, diagnostics: Diagnostics
) -> Skeleton:
    """Return the skeleton of the bytes of a file."""
    # The tree goes through a parser of words, the rows through that of tables.
    end_of_tree = _end_of_tree(data, path)
    text, encoding = decode(data[:end_of_tree])
    tree = _Tree(diagnostics, str(path))
    joints = tree.read(text)
    if not joints:
        text = "the file has no HIERARCHY with a ROOT"
        raise NOT_BVH.error(text, Location(str(path), 1, 1))
    head = _read_head(data, end_of_tree, path)
    frame_time = head.frame_time
    # A rate of the caller replaces the frame time of the file.
    if rate is not None:
        frame_time = 1 / rate
    is_valid = MIN_FRAME_TIME <= frame_time < math.inf
    if not is_valid:
        text = (
            f"the frame time is {head.time_text[:40]!r}; expected seconds, at least "
            f"{MIN_FRAME_TIME}"
        )
        # With 1 s the frames can be read all the same.
        diagnostics.report(FRAME_RATE, text, head.time_location)
        frame_time = 1.0
    unread = sorted(int(subject[1]) for subject in diagnostics.unknown)
    # Joints whose channels are unknown would shift all columns behind them.
    _count_unread_channels(joints, unread, data[head.end : head.end + MAX_TREE_BYTES])
    num_channels = sum(len(joint.channels) for joint in joints)
    if not num_channels:
        raise NO_MOTION.error("no joint has channels", head.location)
    table = read_rows(
        data, head.end, str(path), head.end_line, num_channels, diagnostics
    )
    if is_valid and rate is None:
        rate_location = head.time_location
        num_frames = len(table.values)
        check_rate(1 / frame_time, num_frames, diagnostics, rate_location, least=2)
    # All rows count, whatever `Frames:` says.
    if parsed(head.count_text) != len(table.values):
        text = (
            f"there are {counted(len(table.values), 'row')}, and `Frames:` is "
            f"{head.count_text[:40]!r}"
        )
        rows = {"rows": len(table.values)}
        diagnostics.report(FRAMES, text, head.count_location, data=rows)
    _report_not_finite(table, data, diagnostics)
    # The columns between the first and the last joint that was not read may belong to
    # any of them.
    if unread:
        begins = np.cumsum([0, *(len(joint.channels) for joint in joints)])
        table.values[:, begins[unread[0]] : begins[unread[-1] + 1]] = np.nan
    locations: dict[Subject, Location | Locator] = {
        ("joints", number): location for number, location in enumerate(tree.locations)
    }
    locations["frames",] = lambda subject: table.locate(("frames", *subject))
    source_map = SourceMap(locations, diagnostics.unknown)
    return Skeleton(
        joints=tuple(joints),
        values=table.values,
        frame_time=frame_time,
        source=Source("bvh", path, encoding=encoding, locations=source_map),
        problems=diagnostics.problems,
    )


def _end_of_tree(data: bytes, path: Path) -> int:
    """Return where the line MOTION begins, or the file ends."""
    # The search is limited: a file without MOTION may be any text.
    motion = _MOTION.search(data, 0, MAX_TREE_BYTES)
    end = len(data) if motion is None else motion.start()
    if end > MAX_TREE_BYTES:
        text = f"there is no MOTION in the first {MAX_TREE_BYTES} bytes"
        raise TOO_LARGE.error(text, Location(str(path)))
    return end


class _Head(NamedTuple):
    """What is between the tree and the rows: the number of frames, and their time."""

    location: Location
    count_text: str
    count_location: Location
    time_text: str
    time_location: Location
    end: int
    """Where the rows begin."""
    end_line: int

    @property
    def frame_time(self) -> float:
        return parsed(self.time_text)


def _read_head(data: bytes, start: int, path: Path) -> _Head:
    """Return the head of the motion that begins at a byte."""
    # Lines are counted once up to the motion, then from there.
    first_line = 1 + data.count(b"\n", 0, start)

    def location_of(position: int) -> Location:
        line = first_line + data.count(b"\n", start, position)
        return Location(str(path), line, position - data.rfind(b"\n", 0, position))

    motion = _MOTION.match(data, start)
    at_start = Location(str(path), first_line, 1)
    if motion is None:
        raise NO_MOTION.error("the file ends without MOTION", at_start)
    head = _FRAMES.match(data, motion.end())
    if head is None:
        text = "after MOTION there are no `Frames:` and `Frame Time:`"
        raise NO_MOTION.error(text, at_start)
    return _Head(
        at_start,
        head[1].decode("latin-1"),
        location_of(head.start(1)),
        head[2].decode("latin-1"),
        location_of(head.start(2)),
        head.end(),
        location_of(head.end()).line or first_line,
    )


def _count_unread_channels(
    joints: list[SkeletonJoint], unread: list[int], first_rows: bytes
) -> None:
    """Give the last joint whose CHANNELS contradict themselves as many as are left.

    The first row decides how many these are.
    """
    # Only those whose number of channels is unknown, too.
    uncounted = [number for number in unread if not joints[number].channels]
    if not uncounted:
        return
    # The first row has the channels of all joints.
    row = first_rows.lstrip().partition(b"\n")[0].split()
    num_known = sum(len(joint.channels) for joint in joints)
    count = len(row) - num_known
    if not row:
        count = max(count, 1)
    channels = CHANNELS[:1] * min(max(count, 0), len(CHANNELS))
    joints[uncounted[-1]] = replace(joints[uncounted[-1]], channels=channels)


def _report_not_finite(table: Table, data: bytes, diagnostics: Diagnostics) -> None:
    """Report the rows with a number that is not finite, at the first such number."""
    wrong = {*np.flatnonzero(~np.isfinite(table.values).all(axis=1)).tolist()}
    # Rows that could not be read are reported already.
    wrong -= {*table.unread}
    if not wrong:
        return
    # Lines again only where there is a faulty row.
    lines = data.split(b"\n")
    for row in sorted(wrong):
        words = [*re.finditer(rb"[^\s,;]+", lines[int(table.lines[row]) - 1])]
        first = int(np.isfinite(table.values[row]).argmin())
        location = replace(table.row(row), column=words[first].start() + 1)
        text = f"frame {row} has a number that is not finite"
        diagnostics.report(MOTION_NOT_FINITE, text, location)


@dataclass
class _Block:
    """A block between braces: a joint, or an End Site of the joint `index`."""

    index: int
    location: Location
    is_end: bool
    is_open: bool = False
    offset: list[float] | None = None


class _Tree:
    """The joints of a HIERARCHY, in order of the file."""

    def __init__(self, found: Diagnostics, path: str) -> None:
        self.found = found
        self.path = path
        self.names: set[str] = set()
        self.joints: list[dict[str, Any]] = []
        self.locations: list[Location] = []
        self.blocks: list[_Block] = []

    def read(self, text: str) -> list[SkeletonJoint]:
        """Read the lines from HIERARCHY to MOTION, and return the joints."""
        started = False
        # Reversed: the next word is taken from the end, which is fast.
        for number, line in enumerate(timed(text.split("\n")), 1):
            found = [*_WORD.finditer(line)]
            words = [one[0] for one in reversed(found)]  # the next one is the last
            while words:
                where = Location(self.path, number, found[-len(words)].start() + 1)
                if started:
                    self._statement(words.pop(), words, where)
                elif not (started := words.pop().upper() == "HIERARCHY"):
                    raise NOT_BVH.error("the file does not begin with HIERARCHY", where)
        for block in reversed(self.blocks):
            self.found.report(
                SYNTAX, "a block has no closing brace }", block.location, fatal=True
            )
        return [
            SkeletonJoint(**{**joint, "ends": np.reshape(joint["ends"], (-1, 3))})
            for joint in self.joints
        ]

    def _statement(self, word: str, words: list[str], where: Location) -> None:
        """Read the statement that begins with a word.

        Remove its other words from the end of `words`.
        """
        key = word.upper()
        block = self.blocks[-1] if self.blocks else None
        # A file may have several roots.
        if block is None and key == "ROOT":
            self._begin(words, -1, where)
        elif block is not None and not block.is_open and key == "{":
            block.is_open = True
        elif (
            block is None
            or not block.is_open
            or not self._entry(block, key, words, where)
        ):
            self._unexpected(word, words, where)

    def _entry(
        self, block: _Block, key: str, words: list[str], where: Location
    ) -> bool:
        """Read an entry of an open block; return whether it is one."""
        if key == "}":
            self._close(self.blocks.pop())
        elif key == "OFFSET":
            block.offset = self._offset(_taken(words), where)
        elif key == "CHANNELS":
            channels = self._channels(_taken(words), where)
            if not block.is_end:
                self.joints[block.index]["channels"] = channels
            elif channels:
                # An End Site has no motion.
                self.found.report(WRONG_CHANNELS, "an End Site has channels", where)
        elif key == "JOINT" and not block.is_end:
            self._begin(words, block.index, where)
        elif key == "END" and not block.is_end:
            # "End Site": the second word may be any.
            _taken(words, "{")
            self.blocks.append(_Block(block.index, where, is_end=True))
        else:
            return False
        return True

    def _begin(self, words: list[str], parent: int, where: Location) -> None:
        """Begin the block of a joint."""
        # A name goes on to the brace; more than one word is reported.
        name = " ".join(_taken(words, "{"))
        self.blocks.append(_Block(len(self.joints), where, is_end=False))
        self._add(name, parent, where)

    def _unexpected(self, word: str, words: list[str], where: Location) -> None:
        """Read a misspelt statement as what is meant; refuse any other."""
        key = word.upper()
        # One wrong letter: read on as if it were right.
        near = meant(key, KEYS)
        if near is not None and near != key:
            text = f"unexpected {word[:40]!r}; did you mean {near}?"
            self.found.report(SYNTAX, text, where, fatal=True)
            self._statement(near, words, where)
            return
        expected = "ROOT or MOTION"
        if self.blocks and self.blocks[-1].is_open:
            expected = "OFFSET, CHANNELS, JOINT, End Site or }"
        elif self.blocks:
            expected = "{"
        raise SYNTAX.error(f"unexpected {word[:40]!r}; expected {expected}", where)

    def _add(self, name: str, parent: int, where: Location) -> None:
        """Add a joint; report a name that is missing or used."""
        if len(self.joints) == MAX_JOINTS:
            raise TOO_LARGE.error(f"there are more than {MAX_JOINTS} joints", where)
        if not name or " " in name:
            if name:
                message = f"the name is {name[:60]!r}; expected one word"
            else:
                message = "a joint has no name"
            self.found.report(NAME, message, where)
        elif name in self.names:
            self.found.report(
                SAME_NAME,
                f"there is another joint {name[:60]!r} before this one",
                where,
            )
        self.names.add(name)
        self.joints.append(
            {
                "name": name,
                "parent": parent,
                "offset": [0.0] * 3,
                "channels": (),
                "ends": [],
            }
        )
        self.locations.append(where)

    def _close(self, block: _Block) -> None:
        if block.offset is None:
            self.found.report(OFFSET, "a block has no OFFSET", block.location)
        elif block.is_end:
            # The end points belong to the joint that the block is in.
            self.joints[block.index]["ends"].append(block.offset)
        else:
            self.joints[block.index]["offset"] = block.offset

    def _offset(self, words: list[str], where: Location) -> list[float]:
        """Return the three numbers of an OFFSET."""
        numbers = [parsed(word) for word in words]
        if len(numbers) < 3 or not all(map(math.isfinite, numbers)):
            self.found.report(
                OFFSET,
                f"OFFSET is {' '.join(words)[:60]!r}; expected three numbers",
                where,
            )
            return [0.0] * 3
        if len(numbers) > 3:
            message = (
                f"OFFSET has {len(numbers)} numbers; those after the third are not read"
            )
            self.found.report(LONG_OFFSET, message, where)
        return numbers[:3]

    def _channels(self, words: list[str], where: Location) -> tuple[str, ...]:
        """Return the names of channels; report wrong ones."""
        # The count, then the names.
        text, *names = words or [""]
        unknown = next(
            (name for name in names if name.lower() not in CHANNEL_NAMES), None
        )
        if unknown is not None or parsed(text) != len(names):
            if unknown:
                # The names or the count are wrong, and which of them is not known.
                wrong = f"unknown channel {unknown[:40]!r}"
            else:
                wrong = f"CHANNELS {text[:40]} has {len(names)} names"
            wrong += f"; expected a count and as many of {', '.join(CHANNELS)}"
            self.found.report(WRONG_CHANNELS, wrong, where, fatal=True)
            self.found.mark_unknown(("joints", self.blocks[-1].index))
            # As many as named: at least the columns of the others are right.
            if parsed(text) == len(names):
                return CHANNELS[:1] * len(names)
            return ()
        known = tuple(CHANNEL_NAMES[name.lower()] for name in names)
        if len({*known}) < len(known):
            self.found.report(
                REPEATED, f"CHANNELS has a channel twice: {' '.join(known[:12])}", where
            )
        return known


def _taken(words: list[str], *stops: str) -> list[str]:
    """Return the words before the next of `stops`.

    By default the next word of the format stops.

    Remove them from the end of the list.
    """
    taken = []
    # The next word is the last of the list.
    while words and words[-1].upper() not in (stops or KEYS):
        taken.append(words.pop())
    return taken


def write_bvh(skeleton: Skeleton, path: str | Path) -> tuple[Problem, ...]:
    """Write a file, whole or not at all, and return what it does not hold.

    Numbers have as many digits as they need.

    Raises
    ------
    ValueError
        When there are no joints or no channels, or where the lengths of bones are
        unknown.
    """
    path = Path(path)
    # Unknown lengths would be written as nan.
    skeleton.check_lengths()
    if not skeleton.num_channels:
        raise ValueError("the skeleton has no channels: there is nothing to write")
    renamed = Renamings(RENAMED, Location(str(path)), unnamed=True)
    lines = ["HIERARCHY"]
    # Blocks nest: the order is depth-first, whatever that of the skeleton.
    order = depth_first(dict(enumerate(skeleton.parents)))
    open_blocks: list[int] = []
    for index in order:
        joint = skeleton.joints[index]
        # Close the blocks between the joint before and the parent of this one.
        while open_blocks and open_blocks[-1] != joint.parent:
            open_blocks.pop()
            lines.append(_indent(len(open_blocks)) + "}")
        indent = _indent(len(open_blocks))
        name = _plain_name(joint.name) or f"joint{index}"
        renamed.add("joint", joint.name, name)
        lines += [
            f"{indent}{'ROOT' if joint.parent < 0 else 'JOINT'} {name}",
            indent + "{",
        ]
        lines.append(f"{indent}\tOFFSET {_numbers(joint.offset.tolist())}")
        # A joint without channels has the count 0.
        lines.append(
            f"{indent}\tCHANNELS {len(joint.channels)} "
            f"{' '.join(joint.channels)}".rstrip()
        )
        for end in joint.ends.tolist():
            lines += [
                f"{indent}\tEnd Site",
                f"{indent}\t{{",
                f"{indent}\t\tOFFSET {_numbers(end)}",
                f"{indent}\t}}",
            ]
        open_blocks.append(index)
    lines += [_indent(depth) + "}" for depth in reversed(range(len(open_blocks)))]
    lines += [
        "MOTION",
        f"Frames: {skeleton.num_frames}",
        f"Frame Time: {_numbers([skeleton.frame_time])}",
        "",
    ]
    values = skeleton.values
    # Columns follow the order of the joints in the file.
    if order != sorted(order):
        columns: list[int] = []
        for index in order:
            columns += skeleton.columns(index)
        values = values[:, columns]
    with whole_file(path) as stream:
        stream.write("\n".join(lines).encode("utf-8"))
        rows = write_rows(stream, values, b" ")
    return (*renamed.problems, *rows)


def _plain_name(name: str) -> str:
    """Return a name as one word without braces and unpaired surrogates."""
    text = re.sub("[{}\ud800-\udfff]", " ", name)
    return "_".join(text.split())


def _indent(depth: int) -> str:
    """Return the blanks before a line.

    No more than 32, as a long chain of joints would be a large file otherwise.
    """
    return "\t" * min(depth, 32)


def _numbers(values: Iterable[float]) -> str:
    return " ".join(map(repr, values))
