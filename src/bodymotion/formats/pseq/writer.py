"""Write key poses: unchanged poses as they were read, with their comments, others as Choreonoid writes them."""

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
    layout = key_poses.source.options.get("layout")
    lost = as_text.Unwritable()
    text = ""
    encoding = "utf-8"
    if isinstance(layout, Layout):
        text = _with_layout(key_poses, layout, lost)
        if text == layout.text:
            encoding = layout.encoding
        else:
            encoding = "utf-8"
    text = text or _head(key_poses, lost) + "".join(
        _pose(pose, 2, lost) for pose in _in_file_order(key_poses.poses)
    )
    with whole_file(path) as stream:
        stream.write(text.encode(encoding))
    where = Location(str(path))
    found = [
        rules.UNWRITABLE.problem(f"not written: {what}", where)
        for what in (*lost.values, *map(repr, lost.texts))
    ]
    if isinstance(layout, Layout):
        gone = sum(
            before.count("#") for pose, before in layout.poses if before not in text
        )
        if gone:
            message = f"comments of changed or removed poses are not written ({gone})"
            found.append(rules.COMMENTS.problem(message, where))
    return tuple(found)


def _in_file_order(poses: Iterable[KeyPose]) -> list[KeyPose]:
    """Return the poses in the order in which a file has them.

    Those of one time in reverse.
    """
    return [
        pose
        for _, group in groupby(poses, lambda pose: pose.time)
        for pose in reversed(list(group))
    ]


def _with_layout(key_poses: KeyPoses, layout: Layout, lost: as_text.Unwritable) -> str:
    """Return the text of the file that was read, with changed poses in place of their texts."""
    kept = {id(pose): text for pose, text in layout.poses}
    ordered = _in_file_order(key_poses.poses)
    same_head = (key_poses.name, key_poses.target_body, key_poses.extra) == layout.value
    if same_head and sorted(map(id, ordered)) == sorted(kept):
        return layout.text
    if same_head:
        head = layout.head
    else:
        head = _head(key_poses, lost)
    end = "" if head.endswith("\n") else "\n"
    texts = (kept.get(id(pose)) or _pose(pose, layout.indent, lost) for pose in ordered)
    body = "".join(text if text.endswith("\n") else text + "\n" for text in texts)
    return head + end + body


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
    if pose.max_transition_time > 0:
        lines.append(f"maxTransitionTime: {number(pose.max_transition_time)}")
    lines.append("refer:")
    if pose.syllable:
        inner = ["type: PronunSymbol", f"name: {as_text.quoted(pose.syllable, lost)}"]
    else:
        inner = ["type: Pose", f"name: {as_text.quoted(pose.name, lost)}"]
        if pose.joints:
            inner += _numbers("joints", pose.joints.keys()) + _numbers(
                "q", pose.joints.values()
            )
        if pose.stationary_joints:
            inner += _numbers("spJoints", sorted(pose.stationary_joints))
        if pose.links:
            inner.append("ikLinks:")
            inner += [line for key in pose.links for line in _link(key, lost)]
        if pose.zmp is not None:
            inner.append(f"zmp: {_flow(pose.zmp)}")
        if pose.zmp is not None or not pose.zmp_is_stationary:
            inner.append(f"isZmpStationaryPoint: {str(pose.zmp_is_stationary).lower()}")
    inner += _extra(pose.extra, lost)
    lines += [f"  {line}" for line in inner]
    blanks = " " * indent
    return f"{blanks}-\n" + "".join(f"{blanks}  {line}\n" for line in lines)


def _link(key: LinkKey, lost: as_text.Unwritable) -> list[str]:
    lines = []
    if key.name:
        lines.append(f"name: {as_text.name(key.name, lost)}")
    if key.index >= 0:
        lines.append(f"index: {key.index}")
    lines += [f"{name}: true" for name, flag in FLAGS.items() if getattr(key, flag)]
    lines.append(f"translation: {_flow(key.position)}")
    lines += _numbers("rotation", key.rotation.ravel().tolist(), 3)
    if key.is_touching:
        lines.append(f"partingDirection: {_flow(key.parting_direction)}")
    if len(key.contact_points):
        lines.append(f"contactPoints: [ {', '.join(map(_flow, key.contact_points))} ]")
    lines += _extra(key.extra, lost)
    return ["  -", *(f"    {line}" for line in lines)]


def _numbers(name: str, values: Iterable[float], width: int = 9) -> list[str]:
    """Return a key with a list of numbers, at most a fixed number in a line."""
    texts = [number(float(value)) for value in values]
    rows = [
        ", ".join(texts[start : start + width]) for start in range(0, len(texts), width)
    ]
    return [
        f"{name}: [",
        *(f"  {row}{',' if row is not rows[-1] else ' ]'}" for row in rows),
    ]


def _flow(values: Iterable[float]) -> str:
    return f"[ {', '.join(number(float(value)) for value in values)} ]"
