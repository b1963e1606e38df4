"""Recorded motion of skeletons by Acclaim.

A skeleton (.asf) and its motions (.amc), both text.

The shape of the two files::

    :version 1.10                    # comment
    :units
      length 0.45                    :FULLY-SPECIFIED
      angle deg                      :DEGREES
    :root                            1
      order TX TY TZ RX RY RZ        root 9.37 17.87 -17.32 -2.02 -7.60 -3.23
      axis XYZ                       lfemur 4.00 1.20 -13.84
      position 0 0 0                 ltibia 20.09
      orientation 0 0 0              2
    :bonedata                        root 9.37 17.87 -17.32 -2.06 -7.59 -3.10
      begin                          …
        name lfemur
        direction 0.34 -0.94 0
        length 7.16
        axis 0 0 20 XYZ
        dof rx ry rz
      end
    :hierarchy
      begin
        root lfemur
        lfemur ltibia
      end

A bone begins where its parent ends; those under `root` begin at its position. With C =
Rz·Ry·Rx of `axis` and A the same of the numbers of a frame, Q = Q_parent · C · A · C⁻¹
is its rotation, and its end is its beginning + Q · direction · length. A bone without
`dof` does not move in its parent, and has no line in a frame. `length` is the unit:
0.0254 m divided by it. The frame rate is in neither file.

The `Skeleton` has a joint for each bone, where the bone begins, and the channels
Zrotation, Yrotation and Xrotation of C · A · C⁻¹.
"""

import math
import re
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from bodymotion.diagnostics import (
    Diagnostics,
    Location,
    Locator,
    ReadResult,
    Source,
    SourceMap,
    Subject,
    judgement,
)
from bodymotion.diagnostics.text import counted, listed
from bodymotion.formats.encodings import in_utf8, wide_encoding
from bodymotion.formats.resources import check_inside, file_bytes
from bodymotion.formats.rules import ENCODING, TOO_LARGE
from bodymotion.formats.text import decode, parsed
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.skeleton import EULER_CHANNELS, Skeleton, SkeletonJoint, euler_values

MAX_BYTES = 1 << 30
MAX_TREE_BYTES = 4 << 20
MAX_BONES = 1_000
# A number of a frame has fewer digits.
MAX_DIGITS = 12
# [Hz] That of the CMU recordings.
FRAME_RATE = 120.0
# The degrees of freedom of a bone, and those that only the root has.
ROTATIONS = ("rx", "ry", "rz")
SLIDES = ("tx", "ty", "tz")
_LIMITS = re.compile(r"\(\s*([^\s()]+)\s+([^\s()]+)\s*\)")
# The fields that are numbers, and how many of them.
COUNTS = {
    "length": 1,
    **dict.fromkeys(("direction", "position", "orientation", "axis"), 3),
}

# The rules of .asf and .amc files. Rules about skeletons and their motion are in
# `bodymotion.checks`.
NO_SKELETON = judgement.error(
    "ASF002",
    "An .amc is beside its .asf. The name of the .amc begins with that of the .asf "
    "(01_05.amc, 01.asf), or there is only one .asf.",
    "asf=… (--asf) names the file",
    example=("walk.amc alone in a folder", "walk.amc beside walk.asf"),
)
BONES = judgement.error(
    "ASF101",
    "An .asf has :root, :bonedata and :hierarchy.",
    example=(":bones", ":bonedata"),
)
FIELD = judgement.error(
    "ASF102",
    "The fields direction, axis, position and orientation have three numbers. A bone "
    "has a direction and a length of at least 0. The "
    "unit of length is a number greater than 0, that of angle is deg or rad. No lower "
    "limit is above its upper limit.",
    example=("direction 0 -1", "direction 0 -1 0"),
)
DOF = judgement.error(
    "ASF103",
    "The degrees of freedom are rx, ry and rz, each once. The root may also have tx, "
    "ty and tz.",
    example=("dof rx rx", "dof rx rz"),
)
HIERARCHY = judgement.error(
    "ASF104",
    "The hierarchy has each bone once, below root.",
    example=("ltibia lfemur", "lfemur ltibia"),
)
NAME = judgement.error(
    "ASF105",
    "A bone has a unique name of one word.",
    example=("name root", "name lfemur"),
)
FRAME = judgement.error(
    "ASF201",
    "A frame has a line for root and for each bone with degrees of freedom. The line "
    "has the name, and a finite number for each of them.",
    "a frame with an error is left out",
    example=("ltibia 20 1", "ltibia 20"),
)
NUMBER = judgement.warning(
    "ASF202",
    "The numbers of frames increase by one.",
    "the file may have been cut or joined; all frames are read",
    example=("3", "2"),
)
RATE = judgement.note(
    "ASF203",
    "The frame rate is not in the file. 120 Hz is assumed, the rate of the CMU "
    "recordings.",
    "frame_rate=… (--input-rate) gives the rate",
    example=("load('01_01.amc')", "load('01_01.amc', frame_rate=120)"),
)


def read_asf(
    path: str | Path,
    *,
    asf: str | Path | None = None,
    frame_rate: float | None = None,
    allow_outside: bool | None = None,
) -> ReadResult[Skeleton]:
    """Read a recorded motion (.amc) with its skeleton.

    Or a skeleton (.asf), with one frame: its zero pose.

    Parameters
    ----------
    path:
        The file.
    asf:
        The skeleton of an .amc. By default the .asf whose name its name begins with
        (`01.asf` for `01_05.amc`), or the only one of the folder.
    frame_rate:
        [Hz] By default 120, that of the CMU recordings (ASF203).
    allow_outside:
        See `bodymotion.load`.
    """
    path = Path(path)
    diagnostics = Diagnostics(path)
    value = None
    with diagnostics.recover():
        value = _read(path, asf, frame_rate, allow_outside, diagnostics)
    return ReadResult(
        value and replace(value, problems=diagnostics.problems),
        diagnostics.problems,
        refusal=diagnostics.refusal,
    )


def _read(
    path: Path,
    asf: str | Path | None,
    frame_rate: float | None,
    allow_outside: bool | None,
    diagnostics: Diagnostics,
) -> Skeleton:
    """Return the skeleton of an .asf, or of an .amc with it."""
    data = file_bytes(path, MAX_BYTES)
    # An .asf alone has :bonedata; an .amc begins with frames.
    head, _ = in_utf8(data[:MAX_TREE_BYTES])
    is_alone = asf is None and b":bonedata" in head.lower()
    # The skeleton by itself: one frame.
    if is_alone:
        tree_path = path
        tree_data = data
        parts: tuple[Path, ...] = ()
    else:
        tree_path = Path(asf) if asf is not None else skeleton_of(path)
        if asf is None:
            # A symbolic link must not lead out of the folder.
            check_inside(tree_path, path, allow_outside)
        tree_data = file_bytes(tree_path, MAX_TREE_BYTES)
        parts = (tree_path,)
    if len(tree_data) > MAX_TREE_BYTES:
        text = f"the file is larger than {MAX_TREE_BYTES} bytes"
        raise TOO_LARGE.error(text, Location(str(tree_path)))
    # The .amc needs the skeleton first: its bones say how many numbers a line has.
    tree = _Tree(diagnostics, str(tree_path))
    tree_text, _ = decode(tree_data)
    bones = tree.read(tree_text)
    text, encoding = decode(data)
    # Each file has an encoding of its own.
    for part, content in {path: data, tree_path: tree_data}.items():
        if wide := wide_encoding(content):
            diagnostics.report(ENCODING, f"the text is {wide}", Location(str(part), 1))
    if is_alone:
        # The zero pose.
        zeros = np.zeros((1, sum(len(bone.dofs) for bone in bones)))
        frames = _Frames(zeros, [1], tree.is_in_degrees)
    else:
        frames = _FrameReader(str(path), bones, tree.is_in_degrees, diagnostics).read(
            text
        )
        if frame_rate is None:
            assumed = f"the frame rate is assumed to be {FRAME_RATE:g} Hz"
            diagnostics.report(RATE, assumed)
    # The unit of angles may differ: axes are in that of the .asf, frames in their own.
    joints, values = _joints_of(bones, frames, _factor(tree.is_in_degrees))
    if not np.isfinite(values).all():
        raise FRAME.error("a position is too large", Location(str(path)))
    # Joints are located in the .asf, frames in the .amc.
    locations: dict[Subject, Location | Locator] = {
        ("joints", number): bone.location for number, bone in enumerate(bones)
    }
    locations["frames",] = lambda rest: Location(
        str(path), frames.lines[int(rest[0])] if rest else 1
    )
    source = Source(
        "asf",
        path,
        "",
        encoding,
        parts=parts,
        locations=SourceMap(locations, diagnostics.unknown),
    )
    return Skeleton(
        joints=joints,
        values=values,
        frame_time=1 / (frame_rate or FRAME_RATE),
        known_unit=tree.unit,
        source=source,
    )


def skeleton_of(path: Path) -> Path:
    """Return the .asf of an .amc, by the rule ASF002."""
    beside = sorted(
        one for one in path.parent.iterdir() if one.suffix.lower() == ".asf"
    )
    name = path.stem.lower()
    # `01_05.amc` belongs to `01.asf`: a longer name that goes on with a letter or digit
    # is another skeleton's.
    named = [
        one
        for one in beside
        if name.startswith(stem := one.stem.lower())
        and not name[len(stem) :][:1].isalnum()
    ]
    if not named and len(beside) != 1:
        seen = listed([one.name for one in beside], 4) or "no .asf"
        raise NO_SKELETON.error(
            f"the file has no skeleton: {seen} beside it; expected one",
            Location(str(path)),
        )
    # Of several that fit, the longest name is the most special.
    return max(named or beside, key=lambda one: len(one.stem))


@dataclass
class _Bone:
    """A bone, or the root, with the numbers of its fields.

    `parent` is an index of the list of bones.
    """

    location: Location
    name: str = ""
    fields: dict[str, list[float]] = field(default_factory=dict)
    order: str = "xyz"
    dofs: tuple[str, ...] = ()
    parent: int = -1

    @property
    def end(self) -> Floats:
        """Return the end of the bone (3,) from its beginning."""
        # Huge lengths become infinite, and are refused with the bone.
        with np.errstate(over="ignore"):
            return (
                np.array(self.fields.get("direction", (0, 0, 0)))
                * self.fields.get("length", (0,))[0]
            )


class _Tree:
    """What an .asf holds."""

    def __init__(self, found: Diagnostics, path: str) -> None:
        self.found = found
        self.path = path
        self.unit: float | None = None
        self.is_in_degrees = True
        self.root = _Bone(Location(path), "root")
        self.bones: dict[str, _Bone] = {"root": self.root}
        self.children: dict[str, list[tuple[str, Location]]] = {}

    def read(self, text: str) -> list[_Bone]:
        """Read the sections; return the bones in order of the hierarchy.

        The root is the first.
        """
        section = ""
        sections = set()
        # Until a bone begins, fields are those of the root.
        bone = self.root
        for number, line in enumerate(text.split("\n"), 1):
            # A comment goes to the end of the line.
            words = line.partition("#")[0].split()
            if not words:
                continue
            places = [
                Location(self.path, number, word.start() + 1)
                for word in re.finditer(r"\S+", line)
            ]
            where = places[0]
            key = words[0].lower()
            if key.startswith(":"):
                section = key[1:]
                sections.add(section)
                bone = self.root
            elif section == "units" and key in ("length", "angle"):
                self._unit(key, words, where)
            elif section == "root" or (section == "bonedata" and bone is not self.root):
                # The bone is complete: its fields may come in any order.
                if key == "end" and bone is not self.root:
                    self._add(bone)
                    bone = self.root
                else:
                    self._field(bone, key, words, where)
            elif section == "bonedata" and key == "begin":
                bone = _Bone(where)
            elif section == "hierarchy" and key not in ("begin", "end"):
                self.children.setdefault(words[0], []).extend(
                    zip(words[1:], places[1:], strict=False)
                )
        if missing := [
            name for name in ("root", "bonedata", "hierarchy") if name not in sections
        ]:
            raise BONES.error(
                f"the file has no :{missing[0]}", Location(self.path, 1, 1)
            )
        return self._in_order()

    def _unit(self, key: str, words: list[str], where: Location) -> None:
        """Read the unit of length or of angle."""
        # `deg` and `rad`, also written in full.
        if key == "angle":
            self.is_in_degrees = not (unit := " ".join(words[1:]).lower()).startswith(
                "rad"
            )
            if not unit.startswith(("deg", "rad")):
                self.found.report(
                    FIELD,
                    f"the unit of angle is {unit[:40]!r}; expected deg or rad",
                    where,
                )
        elif 0 < (length := parsed(" ".join(words[1:]))) < math.inf:
            # An inch is 0.0254 m, and `length` is the number of units in it.
            self.unit = 0.0254 / length
        else:
            self.found.report(
                FIELD,
                f"the unit of length is {' '.join(words[1:])[:40]!r}; expected more "
                "than 0",
                where,
            )

    def _field(self, bone: _Bone, key: str, words: list[str], where: Location) -> None:
        if key == "name":
            bone.name = " ".join(words[1:])
        elif key in ("dof", "order"):
            self._dofs(bone, words, where)
        elif key == "limits" or key.startswith("("):
            self._limits(bone, words, where)
        elif key in COUNTS:
            self._numbers(bone, key, words, where)

    def _dofs(self, bone: _Bone, words: list[str], where: Location) -> None:
        """Read the degrees of freedom of a bone, or the order of those of the root."""
        dofs = tuple(word.lower() for word in words[1:])
        allowed: tuple[str, ...] = ROTATIONS
        # Only the root slides.
        if bone is self.root:
            allowed = ROTATIONS + SLIDES
        if len({*dofs}) == len(dofs) and {*dofs} <= {*allowed}:
            bone.dofs = dofs
            return
        text = (
            f"{words[0].lower()} is {' '.join(words[1:])[:40]!r}; expected some of "
            f"{' '.join(allowed)}"
        )
        self.found.report(DOF, text, where, fatal=True)

    def _limits(self, bone: _Bone, words: list[str], where: Location) -> None:
        """Check pairs of limits; they may take several lines."""
        # Pairs in parentheses, one for each degree of freedom.
        for low, high in _LIMITS.findall(" ".join(words)):
            if parsed(low) > parsed(high):
                text = (
                    f"bone {bone.name[:60]!r}: lower limit {low[:40]} is above upper "
                    f"limit {high[:40]}"
                )
                self.found.report(FIELD, text, where)

    def _numbers(
        self, bone: _Bone, key: str, words: list[str], where: Location
    ) -> None:
        """Read a field of numbers.

        The axis of a bone ends with the order of its angles.
        """
        # "axis 0 0 20 XYZ": the order of the angles is behind them.
        if key == "axis" and words[-1].isalpha():
            bone.order = words.pop().lower()
        numbers = [parsed(word) for word in words[1:]]
        count = COUNTS[key]
        # The axis of the root is an order alone; its angles are its orientation.
        if key == "axis" and bone is self.root:
            count = 0
        is_order = sorted(bone.order) == ["x", "y", "z"]
        if (
            len(numbers) != count
            or not all(map(math.isfinite, numbers))
            or not is_order
        ):
            text = (
                f"bone {bone.name[:60]!r}: {' '.join(words)[:60]!r}; expected "
                f"{counted(count, 'finite number')}"
            )
            self.found.report(FIELD, text, where)
            bone.order = "xyz"
        elif numbers:
            # The root's `orientation` is what `axis` is for bones.
            bone.fields["orientation" if key == "axis" else key] = numbers

    def _add(self, bone: _Bone) -> None:
        """Add a bone that is complete; report what it lacks."""
        if len(self.bones) > MAX_BONES:
            raise TOO_LARGE.error(
                f"there are more than {MAX_BONES} bones", bone.location
            )
        if not bone.name or " " in bone.name or bone.name in self.bones:
            message = (
                f"the name of a bone is {bone.name[:60]!r}; expected one unique word"
            )
            self.found.report(NAME, message, bone.location)
        length = bone.fields.get("length", [0.0])[0]
        direction = bone.fields.get("direction", ())
        # A bone without a length needs no direction.
        for key, is_wrong in (
            ("direction", length and not any(direction)),
            ("length", length < 0),
        ):
            if is_wrong or key not in bone.fields or not np.isfinite(bone.end).all():
                self.found.report(
                    FIELD, f"bone {bone.name[:60]!r} has no valid {key}", bone.location
                )
        self.bones.setdefault(bone.name, bone)

    def _in_order(self) -> list[_Bone]:
        """Return the bones, parents before children.

        Report those that are not in the hierarchy once.
        """
        order: list[_Bone] = []
        # A stack with parents by their place in the order.
        waiting = [("root", -1)]
        reached = {"root"}
        while waiting:
            name, parent = waiting.pop()
            self.bones[name].parent = parent
            order.append(self.bones[name])
            # In reverse, so that children come in the order of the file.
            for child, where in reversed(self.children.pop(name, [])):
                if child in reached or child not in self.bones:
                    if child in reached:
                        reason = "twice"
                    else:
                        reason = "not in :bonedata"
                    self.found.report(
                        HIERARCHY, f"bone {child[:60]!r} is {reason}", where
                    )
                    continue
                reached.add(child)
                waiting.append((child, len(order) - 1))
        unreached = {
            name: bone.location
            for name, bone in self.bones.items()
            if name not in reached
        }
        # Lines of the hierarchy that no bone has.
        unknown = {
            name: below[0][1]
            for name, below in self.children.items()
            if below and name not in self.bones
        }
        for name, where in (unreached | unknown).items():
            self.found.report(HIERARCHY, f"bone {name[:60]!r} is not below root", where)
        return order


@dataclass
class _Frames:
    """The numbers (T, D) of the degrees of freedom, in order of the bones."""

    values: Floats
    lines: list[int]
    """The line of each frame."""
    are_in_degrees: bool


@dataclass
class _Frame:
    """A frame while it is read: its number and the numbers of its bones."""

    number: str
    location: Location
    bones: dict[str, list[float]] = field(default_factory=dict)
    has_error: bool = False


class _FrameReader:
    """Read the frames of an .amc."""

    def __init__(
        self,
        path: str,
        bones: list[_Bone],
        is_in_degrees: bool,
        diagnostics: Diagnostics,
    ) -> None:
        self.path = path
        self.diagnostics = diagnostics
        # Bones without degrees of freedom have no line in a frame.
        self.num_dofs = {bone.name: len(bone.dofs) for bone in bones if bone.dofs}
        self.is_in_degrees = is_in_degrees
        self.frame: _Frame | None = None
        self.rows: list[list[float]] = []
        self.lines: list[int] = []

    def read(self, text: str) -> _Frames:
        """Return the frames of a text."""
        for line_number, line in enumerate(text.split("\n"), 1):
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            column = line.index(words[0]) + 1
            self._read_line(words, Location(self.path, line_number, column))
        if self.frame is None:
            text = "there is no frame"
            self.diagnostics.report(FRAME, text, Location(self.path))
        self._finish()
        num_columns = sum(self.num_dofs.values())
        values = np.reshape(self.rows, (len(self.rows), num_columns))
        return _Frames(values, self.lines, self.is_in_degrees)

    def _read_line(self, words: list[str], location: Location) -> None:
        name = words[0]
        if name.startswith(":"):
            # Units at the top of the .amc are those of its frames.
            units = {":degrees": True, ":radians": False}
            self.is_in_degrees = units.get(name.lower(), self.is_in_degrees)
        elif self._is_number_of_frame(words):
            self._begin(name, location)
        elif self.frame is not None and not self.frame.has_error:
            self._read_bone(self.frame, words, location)

    def _is_number_of_frame(self, words: list[str]) -> bool:
        name = words[0]
        # A bone may have a number for a name: then a line with numbers behind it is its
        # own.
        is_number = name.isdecimal() and len(name) < MAX_DIGITS
        return is_number and len(words) == 1 and name not in self.num_dofs

    def _begin(self, number: str, location: Location) -> None:
        self._finish()
        # The first frame may have any number.
        if self.frame is not None and int(number) != int(self.frame.number) + 1:
            text = f"frame {number} follows frame {int(self.frame.number)}"
            self.diagnostics.report(NUMBER, text, location)
        self.frame = _Frame(number, location)

    def _read_bone(self, frame: _Frame, words: list[str], location: Location) -> None:
        """Read the numbers of one bone in a frame."""
        name = words[0]
        numbers = [parsed(word) for word in words[1:]]
        is_complete = len(numbers) == self.num_dofs.get(name)
        if name not in frame.bones and is_complete and all(map(math.isfinite, numbers)):
            frame.bones[name] = numbers
            return
        if name not in self.num_dofs:
            expected = "the name of a bone with degrees of freedom"
        elif name in frame.bones:
            expected = "one line"
        else:
            expected = counted(self.num_dofs[name], "finite number")
        text = f"frame {int(frame.number)} has {' '.join(words)[:60]!r}"
        self.diagnostics.report(FRAME, f"{text}; expected {expected}", location)
        frame.has_error = True

    def _finish(self) -> None:
        """Add the frame that was read, if it is complete."""
        frame = self.frame
        # A frame with an error is left out: rows have all their numbers.
        if frame is None or frame.has_error:
            return
        missing = [name for name in self.num_dofs if name not in frame.bones]
        if not missing:
            row: list[float] = []
            for name in self.num_dofs:
                row += frame.bones[name]
            self.rows.append(row)
            self.lines.append(frame.location.line or 0)
        elif not self.diagnostics.is_full(FRAME):
            text = (
                f"frame {int(frame.number)}: {counted(len(missing), 'bone')} missing: "
                f"{listed(missing, 3)}"
            )
            self.diagnostics.report(FRAME, text, frame.location)


def _factor(is_in_degrees: bool) -> float:
    """Return the factor from the unit of angles to radians."""
    if is_in_degrees:
        return math.pi / 180
    return 1.0


def _joints_of(
    bones: list[_Bone], frames: _Frames, axis_factor: float
) -> tuple[tuple[SkeletonJoint, ...], Floats]:
    """Return the joints, and their channels (T, C).

    `axis_factor` makes radians of the angles of axes.
    """
    num_frames = len(frames.values)
    factor = _factor(frames.are_in_degrees)
    # Bones that are parents end where their children begin.
    parents = {bone.parent for bone in bones}
    joints = []
    values = [np.zeros((num_frames, 0))]
    start = 0
    for index, bone in enumerate(bones):
        is_root = index == 0
        # The columns of the bone's degrees of freedom.
        columns = frames.values[:, start : start + len(bone.dofs)]
        start += len(bone.dofs)
        numbers = dict(zip(bone.dofs, columns.T, strict=True))
        channels: tuple[str, ...] = ()
        if is_root:
            offset = np.array(bone.fields.get("position", (0, 0, 0)))
            # Positions that are no degree of freedom stay 0.
            zeros = np.zeros(num_frames)
            slides = np.stack([numbers.get(name, zeros) for name in SLIDES], axis=1)
            values.append(offset + slides)
            channels = ("Xposition", "Yposition", "Zposition")
        else:
            offset = bones[bone.parent].end
        # In the order of `dof`, which is that of the rotations.
        angles = [
            (name[1], column) for name, column in numbers.items() if name in ROTATIONS
        ]
        if angles or is_root:
            channels += EULER_CHANNELS
            # C · A · C⁻¹ of the docstring of this module.
            axes = np.array(bone.fields.get("orientation", (0, 0, 0)))
            # In the order that the axis states; the standard one is xyz.
            axis_angles = [
                (letter, np.array(axes["xyz".index(letter)])) for letter in bone.order
            ]
            frame = _product(axis_angles, axis_factor)
            local = rotations.multiply(frame, _product(angles, factor))
            local = rotations.multiply(local, rotations.conjugate(frame))
            values.append(euler_values(np.broadcast_to(local, (num_frames, 4))))
        # Only a last bone has an end point of its own.
        ends = np.zeros((0, 3))
        if index not in parents:
            ends = bone.end[None]
        joints.append(
            SkeletonJoint(
                name=bone.name,
                parent=bone.parent,
                offset=offset,
                channels=channels,
                ends=ends,
            )
        )
    return tuple(joints), np.concatenate(values, axis=1)


def _product(angles: list[tuple[str, Floats]], factor: float) -> Floats:
    """Return the quaternion of rotations about fixed axes, one after the other.

    Rz · Ry · Rx for x, y, z.
    """
    turn: Floats = np.array([1.0, 0, 0, 0])
    for letter, angle in angles:
        # About fixed axes: each further rotation is on the left.
        turn = rotations.multiply(
            rotations.from_axis_angle(np.eye(3)["xyz".index(letter)], angle * factor),
            turn,
        )
    return turn
