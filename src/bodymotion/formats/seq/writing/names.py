"""How each version spells types, contents and keys."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias, get_args

from bodymotion.motion import JOINT_DISPLACEMENT, LINK_POSITION, ZMP

__all__ = [
    "COMPONENT_KEYS",
    "TOP_KEYS",
    "VERSIONS",
    "SE3Format",
    "Style",
    "Version",
    "content_name",
    "key_name",
    "means",
]

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
"""Keys that mean something in the top node, in every spelling."""
COMPONENT_KEYS = _RESERVED - {"components", "formatVersion", "format_version"}
"""Keys that mean something in a component, in every spelling."""


def key_name(key: str, version: Version) -> str:
    """Spell a key of the document as a version does."""
    if version == 4:
        return _snake(key)
    return "format" if version == 1 and key == "SE3Format" else key


def content_name(content: str, version: Version, is_root_relative: bool = False) -> str:
    """Spell a content as a version does: in version 1 the name of a ZMP says what it is relative to."""
    if version == 1 and content == ZMP and is_root_relative:
        return "RelativeZMP"
    return _CONTENTS[version].get(content, content)


def means(name: str, version: Version) -> str:
    """Say which content a version means by a name."""
    return _MEANINGS[version].get(name, name)
