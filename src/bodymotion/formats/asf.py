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
FRAME_RATE = 120.0  # [Hz] That of the CMU recordings.
ROTATIONS = ("rx", "ry", "rz")
SLIDES = ("tx", "ty", "tz")
COUNTS = {
    "length": 1,
    **dict.fromkeys(("direction", "position", "orientation", "axis"), 3),
}
"""The fields that are numbers, and how many of them."""

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
    found = Diagnostics(path)
    value = None
    with found.recover():
        data = file_bytes(path, MAX_BYTES)
        head, _ = in_utf8(data[:MAX_TREE_BYTES])
        alone = asf is None and b":bonedata" in head.lower()
        tree_path = path
        if asf is not None:
            tree_path = Path(asf)
        elif not alone:
            tree_path = skeleton_of(path)
            check_inside(tree_path, path, allow_outside)
        if alone:
            tree_data = data
        else:
            tree_data = file_bytes(tree_path, MAX_TREE_BYTES)
        if len(tree_data) > MAX_TREE_BYTES:
            raise TOO_LARGE.error(
                f"the file is larger than {MAX_TREE_BYTES} bytes",
                Location(str(tree_path)),
            )
        tree = _Tree(found, str(tree_path))
        tree_text, _ = decode(tree_data)
        bones = tree.read(tree_text)
        text, encoding = decode(data)
        for part, content in {path: data, tree_path: tree_data}.items():
            if wide := wide_encoding(content):
                found.report(ENCODING, f"the text is {wide}", Location(str(part), 1))
        degrees, frames, lines = (
            (tree.degrees, None, None)
            if alone
            else _frames(text, str(path), bones, tree, found)
        )
        joints, values = _motion(bones, frames, degrees, tree.degrees)
        if not np.isfinite(values).all():
            raise FRAME.error("a position is too large", Location(str(path)))
        if frame_rate is None and not alone:
            found.report(RATE, f"the frame rate is assumed to be {FRAME_RATE:g} Hz")
        locations: dict[Subject, Location | Locator] = {
            ("joints", k): bone.location for k, bone in enumerate(bones)
        }
        locations["frames",] = lambda rest: Location(
            str(path), lines[int(rest[0])] if lines and rest else 1
        )
        parts = () if alone else (tree_path,)
        source = Source(
            "asf",
            path,
            "",
            encoding,
            parts=parts,
            locations=SourceMap(locations, found.unknown),
        )
        step = 1 / (frame_rate or FRAME_RATE)
        value = Skeleton(
            joints=joints,
            values=values,
            frame_time=step,
            known_unit=tree.unit,
            source=source,
        )
    return ReadResult(
        value and replace(value, problems=found.problems),
        found.problems,
        refusal=found.refusal,
    )


def skeleton_of(path: Path) -> Path:
    """Return the .asf of an .amc, by the rule ASF002."""
    beside = sorted(
        one for one in path.parent.iterdir() if one.suffix.lower() == ".asf"
    )
    name = path.stem.lower()
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
        self.degrees = True
        self.root = _Bone(Location(path), "root")
        self.bones: dict[str, _Bone] = {"root": self.root}
        self.children: dict[str, list[tuple[str, Location]]] = {}

    def read(self, text: str) -> list[_Bone]:
        """Read the sections, and return the bones in order of the hierarchy, the root first."""
        section = ""
        sections = set()
        bone = self.root
        for number, line in enumerate(text.split("\n"), 1):
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
        if key == "angle":
            self.degrees = not (unit := " ".join(words[1:]).lower()).startswith("rad")
            if not unit.startswith(("deg", "rad")):
                self.found.report(
                    FIELD,
                    f"the unit of angle is {unit[:40]!r}; expected deg or rad",
                    where,
                )
        elif 0 < (length := parsed(" ".join(words[1:]))) < math.inf:
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
            dofs = tuple(word.lower() for word in words[1:])
            allowed = ROTATIONS if bone is not self.root else ROTATIONS + SLIDES
            if len({*dofs}) < len(dofs) or not {*dofs} <= {*allowed}:
                message = f"{key} is {' '.join(words[1:])[:40]!r}; expected some of {' '.join(allowed)}"
                self.found.report(DOF, message, where, fatal=True)
            else:
                bone.dofs = dofs
        elif key == "limits" or key.startswith("("):
            for low, high in re.findall(
                r"\(\s*([^\s()]+)\s+([^\s()]+)\s*\)", " ".join(words)
            ):
                if parsed(low) > parsed(high):
                    message = f"lower limit {low[:40]} is above upper limit {high[:40]}"
                    self.found.report(
                        FIELD, f"bone {bone.name[:60]!r}: {message}", where
                    )
        elif key in COUNTS:
            if key == "axis" and words[-1].isalpha():
                bone.order = words.pop().lower()
            numbers = [parsed(word) for word in words[1:]]
            if key == "axis" and bone is self.root:
                count = 0
            else:
                count = COUNTS[key]
            if (
                len(numbers) != count
                or not all(map(math.isfinite, numbers))
                or sorted(bone.order) != ["x", "y", "z"]
            ):
                message = f"bone {bone.name[:60]!r}: {' '.join(words)[:60]!r}"
                self.found.report(
                    FIELD,
                    f"{message}; expected {counted(count, 'finite number')}",
                    where,
                )
                bone.order = "xyz"
            elif numbers:
                bone.fields["orientation" if key == "axis" else key] = numbers

    def _add(self, bone: _Bone) -> None:
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
        waiting = [("root", -1)]
        reached = {"root"}
        while waiting:
            name, parent = waiting.pop()
            self.bones[name].parent = parent
            order.append(self.bones[name])
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
        unknown = {
            name: below[0][1]
            for name, below in self.children.items()
            if below and name not in self.bones
        }
        for name, where in (unreached | unknown).items():
            self.found.report(HIERARCHY, f"bone {name[:60]!r} is not below root", where)
        return order


def _frames(
    text: str, path: str, bones: list[_Bone], tree: _Tree, found: Diagnostics
) -> tuple[bool, Floats, list[int]]:
    """Return whether angles are degrees, the numbers (T, D) of the degrees of freedom in order of the bones, and the line of each frame."""
    counts = {bone.name: len(bone.dofs) for bone in bones if bone.dofs}
    degrees = tree.degrees
    last = -1
    start = Location(path)
    rows: list[list[float]] = []
    lines: list[int] = []
    seen: dict[str, list[float]] | None = (
        None  # of the frame; None where it has an error
    )

    def finish() -> None:
        if seen is not None and len(seen) == len(counts):
            rows.append([number for name in counts for number in seen[name]])
            lines.append(start.line or 0)
        elif seen is not None and not found.is_full(FRAME):
            missing = [name for name in counts if name not in seen]
            message = f"frame {last}: {counted(len(missing), 'bone')} missing: {listed(missing, 3)}"
            found.report(FRAME, message, start)

    for line_number, line in enumerate(text.split("\n"), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        name = words[0]
        where = Location(path, line_number, line.index(words[0]) + 1)
        if name.startswith(":"):
            degrees = {":degrees": True, ":radians": False}.get(name.lower(), degrees)
        elif (
            len(words) == 1
            and name.isdecimal()
            and len(name) < 12
            and name not in counts
        ):
            finish()
            if last >= 0 and int(name) != last + 1:
                found.report(NUMBER, f"frame {name} follows frame {last}", where)
            last = int(name)
            start = where
            seen = {}
        elif seen is not None:
            numbers = [parsed(word) for word in words[1:]]
            if (
                name not in seen
                and len(numbers) == counts.get(name)
                and all(map(math.isfinite, numbers))
            ):
                seen[name] = numbers
                continue
            message = f"frame {last} has {' '.join(words)[:60]!r}; expected "
            if name not in counts:
                message += "the name of a bone with degrees of freedom"
            else:
                message += (
                    "one line"
                    if name in seen
                    else counted(counts[name], "finite number")
                )
            found.report(FRAME, message, where)
            seen = None
    finish()
    if last < 0:
        found.report(FRAME, "there is no frame", Location(path))
    return degrees, np.reshape(rows, (len(rows), sum(counts.values()))), lines


def _motion(
    bones: list[_Bone], frames: Floats | None, degrees: bool, axis_degrees: bool
) -> tuple[tuple[SkeletonJoint, ...], Floats]:
    """Return the joints, and their channels (T, C).

    Those of the zero pose without frames.
    """
    factor, axis_factor = (
        np.pi / 180 if one else 1.0 for one in (degrees, axis_degrees)
    )
    if frames is None:
        moved = np.zeros((1, sum(len(bone.dofs) for bone in bones)))
    else:
        moved = frames
    joints = []
    values = [np.zeros((len(moved), 0))]
    column = 0
    parents = {bone.parent for bone in bones}
    for index, bone in enumerate(bones):
        columns = dict(
            zip(bone.dofs, moved[:, column : column + len(bone.dofs)].T, strict=True)
        )
        column += len(bone.dofs)
        channels: tuple[str, ...] = ()
        if index == 0:
            origin = np.array(bone.fields.get("position", (0, 0, 0)))
        else:
            origin = bones[bone.parent].end
        if index == 0:
            channels = ("Xposition", "Yposition", "Zposition")
            values.append(
                origin
                + np.stack(
                    [columns.get(name, np.zeros(len(moved))) for name in SLIDES], axis=1
                )
            )
        turned = [
            (name[1], angles) for name, angles in columns.items() if name in ROTATIONS
        ]
        if turned or index == 0:
            channels += EULER_CHANNELS
            axes = np.array(bone.fields.get("orientation", (0, 0, 0)))
            frame = _product(
                [
                    (letter, np.array(axes["xyz".index(letter)]))
                    for letter in bone.order
                ],
                axis_factor,
            )
            local = rotations.multiply(
                rotations.multiply(frame, _product(turned, factor)),
                rotations.conjugate(frame),
            )
            values.append(euler_values(np.broadcast_to(local, (len(moved), 4))))
        if index not in parents:
            ends = bone.end[None]
        else:
            ends = np.zeros((0, 3))
        joints.append(
            SkeletonJoint(
                name=bone.name,
                parent=bone.parent,
                offset=origin,
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
        turn = rotations.multiply(
            rotations.from_axis_angle(np.eye(3)["xyz".index(letter)], angle * factor),
            turn,
        )
    return turn
