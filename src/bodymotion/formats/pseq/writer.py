"""Write key poses.

Unchanged poses as they were read, with their comments, others as Choreonoid writes
them.
"""

from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path

from bodymotion.diagnostics import Location, Problem
from bodymotion.formats.pseq import rules
from bodymotion.formats.pseq.reader import Layout
from bodymotion.formats.seq import values as as_text
from bodymotion.formats.text import number
from bodymotion.keyposes import KeyPose, KeyPoses, LinkKey
from bodymotion.system.files import whole_file

HEADER = "# Body pose sequence format version 1.0 defined by cnoid-Robotics\n\n"
# Blanks before the dash of a pose, as Choreonoid writes it.
DEFAULT_INDENT = 2
FLAGS = {
    "isBaseLink": "is_base",
    "isStationaryPoint": "is_stationary",
    "isTouching": "is_touching",
    "isSlave": "is_slave",
}


def write_pseq(key_poses: KeyPoses, path: str | Path) -> tuple[Problem, ...]:
    """Write a file, whole or not at all, and return what it does not hold.

    A sequence that was read and not changed is written as it was, byte for byte.
    Numbers have as many digits as they need.
    """
    path = Path(path)
    # The text of the file that was read; None for new key poses.
    layout = key_poses.source.options.get("layout")
    lost = as_text.Unwritable()
    text = ""
    encoding = "utf-8"
    if isinstance(layout, Layout):
        text = _with_layout(key_poses, layout, lost)
        # Unchanged: the bytes of the file too, in its own encoding.
        if text == layout.text:
            encoding = layout.encoding
    # Without a text to start from, all is written as Choreonoid does.
    if not text:
        poses = _in_file_order(key_poses.poses)
        text = _head(key_poses, lost)
        text += "".join(_pose(pose, DEFAULT_INDENT, lost) for pose in poses)
    with whole_file(path) as stream:
        stream.write(text.encode(encoding))
    location = Location(str(path))
    # Values of unknown keys that YAML has no form for.
    problems = [
        rules.UNWRITABLE.problem(f"not written: {title}", location)
        for title in (*lost.values, *map(repr, lost.texts))
    ]
    num_comments = _count_lost_comments(layout, text)
    if num_comments:
        message = (
            f"comments of changed or removed poses are not written ({num_comments})"
        )
        problems.append(rules.COMMENTS.problem(message, location))
    return tuple(problems)


def _count_lost_comments(layout: object, text: str) -> int:
    """Return how many comments of the file that was read are not in its new text."""
    if not isinstance(layout, Layout):
        return 0
    # A comment is lost with the text of its pose.
    removed = [before for _, before in layout.poses if before not in text]
    return sum(before.count("#") for before in removed)


def _in_file_order(poses: Iterable[KeyPose]) -> list[KeyPose]:
    """Return the poses in the order in which a file has them.

    Those of one time in reverse.
    """
    ordered: list[KeyPose] = []
    # Of poses at one time, Choreonoid puts a later one before the others: see the
    # reader.
    for _, group in groupby(poses, lambda pose: pose.time):
        ordered += reversed(list(group))
    return ordered


def _with_layout(key_poses: KeyPoses, layout: Layout, lost: as_text.Unwritable) -> str:
    """Return the text of the file that was read, with the texts of changed poses."""
    # Poses are immutable: the same object is unchanged.
    texts = {id(pose): text for pose, text in layout.poses}
    ordered = _in_file_order(key_poses.poses)
    head = layout.head
    values = (key_poses.name, key_poses.target_body, key_poses.extra)
    # The head holds the name and keys of the sequence.
    if values != layout.value:
        head = _head(key_poses, lost)
    elif sorted(map(id, ordered)) == sorted(texts):
        return layout.text
    result = _with_line_end(head)
    for pose in ordered:
        # A pose that was removed from the sequence has no text here.
        text = texts.get(id(pose)) or _pose(pose, layout.indent, lost)
        result += _with_line_end(text)
    return result


def _with_line_end(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"


def _head(key_poses: KeyPoses, lost: as_text.Unwritable) -> str:
    lines = ["type: PoseSeq", f"name: {as_text.quoted(key_poses.name, lost)}"]
    if key_poses.target_body:
        lines.append(f"targetBody: {as_text.quoted(key_poses.target_body, lost)}")
    lines += _extra(key_poses.extra, lost)
    lines.append("refs:" if key_poses.poses else "refs: []")
    return HEADER + "\n".join(lines) + "\n"


def _extra(extra: Mapping[str, object], lost: as_text.Unwritable) -> list[str]:
    return [
        f"{as_text.key(name, lost)} {as_text.value(thing, lost)}"
        for name, thing in extra.items()
    ]


def _pose(pose: KeyPose, indent: int, lost: as_text.Unwritable) -> str:
    """Return a pose as an item of the list, its dash behind `indent` blanks."""
    lines = [f"time: {number(pose.time)}"]
    # 0 is no limit, and the default.
    if pose.max_transition_time > 0:
        lines.append(f"maxTransitionTime: {number(pose.max_transition_time)}")
    lines.append("refer:")
    if pose.syllable:
        inside = ["type: PronunSymbol", f"name: {as_text.quoted(pose.syllable, lost)}"]
    else:
        inside = _refer(pose, lost)
    inside += _extra(pose.extra, lost)
    lines += [f"  {line}" for line in inside]
    blanks = " " * indent
    return f"{blanks}-\n" + "".join(f"{blanks}  {line}\n" for line in lines)


def _refer(pose: KeyPose, lost: as_text.Unwritable) -> list[str]:
    """Return the lines of a pose itself, without its time."""
    lines = ["type: Pose", f"name: {as_text.quoted(pose.name, lost)}"]
    if pose.joints:
        lines += _numbers("joints", pose.joints.keys())
        lines += _numbers("q", pose.joints.values())
    if pose.stationary_joints:
        lines += _numbers("spJoints", sorted(pose.stationary_joints))
    if pose.links:
        lines.append("ikLinks:")
    for key in pose.links:
        lines += _link(key, lost)
    if pose.zmp is not None:
        # A flag without a ZMP is written where it is not the default.
        lines.append(f"zmp: {_flow(pose.zmp)}")
    if pose.zmp is not None or not pose.zmp_is_stationary:
        flag = str(pose.zmp_is_stationary).lower()
        lines.append(f"isZmpStationaryPoint: {flag}")
    return lines


def _link(key: LinkKey, lost: as_text.Unwritable) -> list[str]:
    """Return the lines of a link as an item of a list."""
    lines = []
    if key.name:
        lines.append(f"name: {as_text.name(key.name, lost)}")
    if key.index >= 0:
        lines.append(f"index: {key.index}")
    # Missing flags are false.
    lines += [f"{name}: true" for name, flag in FLAGS.items() if getattr(key, flag)]
    lines.append(f"translation: {_flow(key.position)}")
    # Three numbers in a line: a row of the matrix.
    lines += _numbers("rotation", key.rotation.ravel().tolist(), 3)
    # The direction has a meaning only for a link in contact.
    if key.is_touching:
        lines.append(f"partingDirection: {_flow(key.parting_direction)}")
    if len(key.contact_points):
        lines.append(f"contactPoints: [ {', '.join(map(_flow, key.contact_points))} ]")
    lines += _extra(key.extra, lost)
    return ["  -", *(f"    {line}" for line in lines)]


def _numbers(name: str, values: Iterable[float], width: int = 9) -> list[str]:
    """Return a key with a list of numbers, at most a fixed number in a line."""
    texts = [number(float(value)) for value in values]
    lines = [f"{name}: ["]
    for start in range(0, len(texts), width):
        row = ", ".join(texts[start : start + width])
        end = "," if start + width < len(texts) else " ]"
        lines.append(f"  {row}{end}")
    return lines


def _flow(values: Iterable[float]) -> str:
    return f"[ {', '.join(number(float(value)) for value in values)} ]"
