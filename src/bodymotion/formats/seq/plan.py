"""What is written of a motion: the version with its spelling, the components without their frames, the times; and what is lost."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, get_args

from bodymotion.diagnostics import Problem
from bodymotion.motion import (
    JOINT_DISPLACEMENT,
    LINK_POSITION,
    ZMP,
    Motion,
    MultiSE3Seq,
    MultiValueSeq,
    OtherSeq,
    Vector3Seq,
)
from bodymotion.motion.components import Timeline
from bodymotion.motion.interpolation.fixed_rate import at_fixed_rate

Version: TypeAlias = Literal[1, 2, 3, 4]
Style: TypeAlias = Literal["block", "json"]
SE3Format: TypeAlias = Literal["XYZQWQXQYQZ", "XYZQXQYQZQW", "XYZRPY"]
VERSIONS: tuple[Version, ...] = get_args(Version)

_CONTENTS: dict[int, dict[str, str]] = {
    1: {JOINT_DISPLACEMENT: "JointPosition"},
    2: {},
    3: {JOINT_DISPLACEMENT: "MultiJointDisplacementSeq", LINK_POSITION: "MultiLinkPositionSeq", ZMP: "ZMPSeq"},
    4: {},
}
_MEANINGS: dict[int, dict[str, str]] = {
    1: {"JointPosition": JOINT_DISPLACEMENT, "RelativeZMP": ZMP, "RelativeZmp": ZMP},
    2: {},
    3: {name: content for content, name in _CONTENTS[3].items()},
    4: {"ZMPSeq": ZMP},
}
_KEYS = (
    "type",
    "content",
    "formatVersion",
    "frameRate",
    "numFrames",
    "components",
    "numParts",
    "partLabels",
    "hasFrameTime",
    "isRootRelative",
    "SE3Format",
    "frames",
)


def _snake(key: str) -> str:
    return re.sub(r"(?<=[a-z])([A-Z])", lambda match: "_" + match.group().lower(), key) if key[0].islower() else key


_RESERVED = frozenset({*_KEYS, *map(_snake, _KEYS), "purpose", "format"})
TOP_KEYS = _RESERVED - {"frames", "partLabels", "part_labels"}
"""Keys of the format in the top node, in every spelling."""
COMPONENT_KEYS = _RESERVED - {"components", "formatVersion", "format_version"}
"""Keys of the format in a component, in every spelling."""


def key_name(key: str, version: Version) -> str:
    """Return a key in the spelling of a version."""
    if version == 4:
        return _snake(key)
    return "format" if version == 1 and key == "SE3Format" else key


def content_name(content: str, version: Version, is_root_relative: bool = False) -> str:
    """Return a content in the spelling of a version; in version 1 a ZMP relative to the root has another name."""
    if version == 1 and content == ZMP and is_root_relative:
        return "RelativeZMP"
    return _CONTENTS[version].get(content, content)


def content_meaning(name: str, version: Version) -> str:
    """Return the content that a name means in a version."""
    return _MEANINGS[version].get(name, name)


@dataclass(frozen=True, kw_only=True)
class Head:
    """A component without its frames. `frame_rate` [Hz] is that of its frames, or the one to which stamped frames are to be resampled."""

    type: str
    content: str
    num_frames: int
    num_parts: int | None = None
    frame_rate: float | None = None
    has_frame_time: bool = False
    is_root_relative: bool = False
    part_labels: tuple[str, ...] = ()
    extra: Mapping[str, object] = field(default_factory=dict)


def head_of(component: MultiValueSeq | MultiSE3Seq | Vector3Seq) -> Head:
    """Return a component without its frames."""
    timeline = component.timeline
    return Head(
        type=type(component).__name__,
        content=component.content,
        num_frames=component.num_frames,
        num_parts=None if isinstance(component, Vector3Seq) else component.num_parts,
        frame_rate=timeline.frame_rate or timeline.import_rate,
        has_frame_time=timeline.stamps is not None,
        is_root_relative=isinstance(component, Vector3Seq) and component.is_root_relative,
        part_labels=component.part_labels,
        extra=component.extra,
    )


def version_to_write(version: int | str | None, read: str) -> Version:
    """Return the version to write: the one that is given, else that of the file that was read, else 4.

    Raises
    ------
    ValueError
        When it is not 1, 2, 3 or 4.
    """
    if version is None:
        return next((known for known in VERSIONS if _same(known, read)), 4)
    found = next((known for known in VERSIONS if _same(known, version)), None)
    if found is None:
        raise ValueError(f"the versions of .seq are 1, 2, 3 and 4, not {version!r}")
    return found


def _same(known: int, version: int | str) -> bool:
    try:
        return not isinstance(version, bool) and float(version) == known
    except (TypeError, ValueError):
        return False


def with_times_for(motion: Motion, version: Version, frame_time: bool | None) -> tuple[Motion, tuple[Problem, ...]]:
    """Return the motion with the times that are written: stamps for all frames (True), for none (False), or as it has them (None).

    Raises
    ------
    ValueError
        For stamps in version 1, when stamped frames need a rate and the motion has none, or when the frames at that rate do not fit into
        memory.
    """
    if version == 1:
        if frame_time:
            raise ValueError("version 1 of .seq has no time-stamped frames; versions 2, 3 and 4 have")
        frame_time = False
    if frame_time is None:
        return motion, ()
    if not frame_time:
        return at_fixed_rate(motion)
    stamped = (
        c
        if isinstance(c, OtherSeq) or c.timeline.stamps is not None
        else replace(c, timeline=Timeline.stamped(c.timeline.times, c.timeline.frame_rate))
        for c in motion.components
    )
    return motion.replaced(*stamped), ()
