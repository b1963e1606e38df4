"""Read a .bvh file to the end, with all its faults."""

import math
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bodymotion.diagnostics import Diagnostics, Location, Locator, ReadResult, Source, SourceMap, Subject, WrongUseError
from bodymotion.diagnostics.text import counted
from bodymotion.formats.bvh import rules
from bodymotion.formats.resources import file_bytes
from bodymotion.formats.tables.number_table import read_rows
from bodymotion.formats.text import decode, parsed
from bodymotion.skeleton import CHANNELS, Skeleton, SkeletonJoint
from bodymotion.skeleton.values import MIN_FRAME_TIME, UP_AXES

MAX_BYTES = 1 << 30
MAX_TREE_BYTES = 4 << 20
MAX_JOINTS = 5_000

_MOTION = re.compile(rb"^[ \t]*MOTION[ \t]*\r?$", re.MULTILINE | re.IGNORECASE)
_FRAMES = re.compile(rb"\s*Frames\s*:\s*(\S+)\s+Frame\s+Time\s*:\s*(\S+)[ \t\r]*(?:\n|\Z)", re.IGNORECASE)
_WORD = re.compile(r"[{}]|[^\s{}]+")
KEYS = ("{", "}", "OFFSET", "CHANNELS", "JOINT", "END", "ROOT")
CHANNEL_NAMES = {name.lower(): name for name in CHANNELS}


def read_bvh(path: str | Path, *, unit: float | None = None, up: str | None = None) -> ReadResult[Skeleton]:
    """Read a skeleton with its motion; a file of another kind has no value.

    The `unit` of length [m] and the axis that is `up` ("Y", "-Z") are in no file; without them they are found from the poses.

    Raises
    ------
    WrongUseError
        When the unit is not positive, or there is no such axis.
    """
    if up not in (None, *UP_AXES) or (unit is not None and not 0 < unit < math.inf):
        raise WrongUseError(f"unit {unit}, up {up!r}: expected metres above 0, and one of {', '.join(UP_AXES)}")
    path = Path(path)
    found = Diagnostics(path)
    value = None
    with found.recover():
        data = file_bytes(path, rules.UNREADABLE, rules.TOO_LARGE, MAX_BYTES)
        value = _read(data if b"\n" in data else data.replace(b"\r", b"\n"), path, found)
    if value is not None:
        value = replace(value, known_unit=unit, known_up=up)
    return ReadResult(value, found.problems, refusal=found.refusal)


def _read(data: bytes, path: Path, found: Diagnostics) -> Skeleton:
    motion = _MOTION.search(data, 0, MAX_TREE_BYTES)
    end = len(data) if motion is None else motion.start()
    if end > MAX_TREE_BYTES:
        raise rules.TOO_LARGE.error(f"there is no MOTION in the first {MAX_TREE_BYTES} bytes", Location(str(path)))
    text, encoding = decode(data[:end])
    tree = _Tree(found, str(path))
    joints = tree.read(text)
    if not joints:
        raise rules.NOT_BVH.error("the file has no HIERARCHY with a ROOT", Location(str(path), 1, 1))
    line = 1 + data.count(b"\n", 0, end)
    at_end = Location(str(path), line, 1)
    if motion is None:
        raise rules.NO_MOTION.error("the file ends without MOTION", at_end)
    head = _FRAMES.match(data, motion.end())
    if head is None:
        raise rules.NO_MOTION.error("after MOTION there are no `Frames:` and `Frame Time:`", at_end)
    places = (head.start(1), head.start(2), head.end())
    after = [Location(str(path), line + data.count(b"\n", end, at), at - data.rfind(b"\n", 0, at)) for at in places]
    frame_time = parsed(head[2].decode("latin-1"))
    if not MIN_FRAME_TIME <= frame_time < math.inf:
        message = f"the frame time is {head[2][:40].decode('latin-1')!r}; expected seconds, at least {MIN_FRAME_TIME}"
        found.report(rules.FRAME_TIME, message, after[1])
        frame_time = 1.0
    channels = sum(len(joint.channels) for joint in joints)
    if not channels:
        raise rules.NO_MOTION.error("no joint has channels", at_end)
    table = read_rows(data, head.end(), str(path), after[2].line or line, channels, found)
    if parsed(head[1].decode("latin-1")) != len(table.values):
        message = f"there are {counted(len(table.values), 'row')}, and `Frames:` is {head[1][:40].decode('latin-1')!r}"
        found.report(rules.FRAMES, message, after[0], data={"rows": len(table.values)})
    wrong = np.flatnonzero(~np.isfinite(table.values).all(axis=1))
    lines = data.split(b"\n") if len(wrong) else []
    for row in sorted({*wrong.tolist()} - {*table.unread}):
        words = [*re.finditer(rb"[^\s,;]+", lines[int(table.lines[row]) - 1])]
        where = replace(table.row(row), column=words[int(np.isfinite(table.values[row]).argmin())].start() + 1)
        found.report(rules.NOT_FINITE, f"frame {row} has a number that is not finite", where)
    locations: dict[Subject, Location | Locator] = {("joints", n): where for n, where in enumerate(tree.locations)}
    locations["frames",] = lambda subject: table.locate(("frames", *subject))
    source = Source("bvh", path, encoding=encoding, locations=SourceMap(locations, found.unknown))
    values, problems = table.values, found.problems
    return Skeleton(joints=tuple(joints), values=values, frame_time=frame_time, source=source, problems=problems)


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
        self.found, self.path = found, path
        self.names: set[str] = set()
        self.joints: list[dict[str, Any]] = []
        self.locations: list[Location] = []
        self.blocks: list[_Block] = []

    def read(self, text: str) -> list[SkeletonJoint]:
        """Read the lines from HIERARCHY to MOTION, and return the joints."""
        started = False
        for number, line in enumerate(text.split("\n"), 1):
            found = [*_WORD.finditer(line)]
            words = [one[0] for one in reversed(found)]  # the next one is the last
            while words:
                where = Location(self.path, number, found[-len(words)].start() + 1)
                if started:
                    self._statement(words.pop(), words, where)
                elif not (started := words.pop().upper() == "HIERARCHY"):
                    raise rules.NOT_BVH.error("the file does not begin with HIERARCHY", where)
        for block in reversed(self.blocks):
            self.found.report(rules.SYNTAX, "a block has no closing brace }", block.location, fatal=True)
        return [SkeletonJoint(**{**joint, "ends": np.reshape(joint["ends"], (-1, 3))}) for joint in self.joints]

    def _statement(self, word: str, words: list[str], where: Location) -> None:
        """Read the statement that begins with a word; remove its other words from the end of `words`."""
        key, blocks = word.upper(), self.blocks
        is_open = bool(blocks) and blocks[-1].is_open
        if key == "{" and blocks and not is_open:
            blocks[-1].is_open = True
        elif key == "}" and is_open:
            self._close(blocks.pop())
        elif key == "OFFSET" and is_open:
            blocks[-1].offset = self._offset(_taken(words), where)
        elif key == "CHANNELS" and is_open:
            channels = self._channels(words, where)
            if not blocks[-1].is_end:
                self.joints[blocks[-1].index]["channels"] = channels
            elif channels:
                self.found.report(rules.CHANNELS, "an End Site has channels", where)
        elif (key == "ROOT" and not blocks) or (key in ("JOINT", "END") and is_open and not blocks[-1].is_end):
            name, parent = " ".join(_taken(words, "{")), blocks[-1].index if blocks else -1
            blocks.append(_Block(parent if key == "END" else len(self.joints), where, key == "END"))
            if key != "END":
                self._add(name, parent, where)
        else:
            expected = "ROOT or MOTION" if not blocks else "OFFSET, CHANNELS, JOINT, End Site or }" if is_open else "{"
            raise rules.SYNTAX.error(f"unexpected {word[:40]!r}; expected {expected}", where)

    def _add(self, name: str, parent: int, where: Location) -> None:
        if len(self.joints) == MAX_JOINTS:
            raise rules.TOO_LARGE.error(f"there are more than {MAX_JOINTS} joints", where)
        if not name or " " in name:
            message = f"the name is {name[:60]!r}; expected one word" if name else "a joint has no name"
            self.found.report(rules.NAME, message, where)
        elif name in self.names:
            self.found.report(rules.SAME_NAME, f"there is another joint {name[:60]!r} before this one", where)
        self.names.add(name)
        self.joints.append({"name": name, "parent": parent, "offset": [0.0] * 3, "channels": (), "ends": []})
        self.locations.append(where)

    def _close(self, block: _Block) -> None:
        if block.offset is None:
            self.found.report(rules.OFFSET, "a block has no OFFSET", block.location)
        elif block.is_end:
            self.joints[block.index]["ends"].append(block.offset)
        else:
            self.joints[block.index]["offset"] = block.offset

    def _offset(self, words: list[str], where: Location) -> list[float]:
        numbers = [parsed(word) for word in words]
        if len(numbers) < 3 or not all(map(math.isfinite, numbers)):
            self.found.report(rules.OFFSET, f"OFFSET is {' '.join(words)[:60]!r}; expected three numbers", where)
            return [0.0] * 3
        if len(numbers) > 3:
            message = f"OFFSET has {len(numbers)} numbers; those after the third are not read"
            self.found.report(rules.LONG_OFFSET, message, where)
        return numbers[:3]

    def _channels(self, words: list[str], where: Location) -> tuple[str, ...]:
        text = words.pop() if words else ""
        count = int(text) if text.isdecimal() and len(text) < 6 else -1
        names = [words.pop() for _ in range(min(count, len(words)))]
        unknown = next((name for name in names if name.lower() not in CHANNEL_NAMES), None)
        if unknown is not None or len(names) != count:
            wrong = f"unknown channel {unknown[:40]!r}" if unknown else f"CHANNELS {text[:40]} has {len(names)} names"
            raise rules.CHANNELS.error(f"{wrong}; expected a count and as many of {', '.join(CHANNELS)}", where)
        known = tuple(CHANNEL_NAMES[name.lower()] for name in names)
        if len({*known}) < len(known):
            self.found.report(rules.REPEATED, f"CHANNELS has a channel twice: {' '.join(known[:12])}", where)
        return known


def _taken(words: list[str], *stops: str) -> list[str]:
    """Return the words before the next of `stops` (by default the next word of the format); remove them from the end of the list."""
    taken = []
    while words and words[-1].upper() not in (stops or KEYS):
        taken.append(words.pop())
    return taken
