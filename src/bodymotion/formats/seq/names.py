"""The names of keys, contents and types in the versions of the format, for reading and writing."""

from bodymotion.motion import JOINT_DISPLACEMENT, LINK_POSITION, ZMP

KEYS = {
    "type": ("type",),
    "content": ("content", "purpose"),
    "format_version": ("formatVersion", "format_version"),
    "frame_rate": ("frameRate", "frame_rate"),
    "num_frames": ("numFrames", "num_frames"),
    "num_parts": ("numParts", "num_parts"),
    "part_labels": ("partLabels", "part_labels"),
    "has_frame_time": ("hasFrameTime", "has_frame_time"),
    "is_root_relative": ("isRootRelative", "is_root_relative"),
    "se3_format": ("SE3Format", "se3_format", "Se3Format", "format"),
    "frames": ("frames",),
    "components": ("components",),
}
"""The keys of the format, each with all its spellings, the first for messages and for the versions 1 to 3."""
OF_COMPONENTS = tuple(name for name in KEYS if name not in ("format_version", "components"))  # The keys of a component.

_COMMON = {JOINT_DISPLACEMENT: JOINT_DISPLACEMENT, LINK_POSITION: LINK_POSITION, ZMP: ZMP}
CONTENTS = {
    1: {
        "JointPosition": JOINT_DISPLACEMENT,
        LINK_POSITION: LINK_POSITION,
        **dict.fromkeys((ZMP, "RelativeZMP", "RelativeZmp"), ZMP),
    },
    2: _COMMON,
    3: {"MultiJointDisplacementSeq": JOINT_DISPLACEMENT, "MultiLinkPositionSeq": LINK_POSITION, "ZMPSeq": ZMP},
    4: {**_COMMON, "ZMPSeq": ZMP},
}
"""By version, what the names of contents mean; of several names of a content the first one is written."""

MULTI_VALUE, MULTI_SE3, VECTOR3 = "MultiValueSeq", "MultiSE3Seq", "Vector3Seq"
TYPES = {name: name for name in (MULTI_VALUE, MULTI_SE3, VECTOR3)}  # The types of components, by their names.
OLD_TYPES = {**TYPES, "MultiSe3Seq": MULTI_SE3, "MultiAffine3Seq": MULTI_SE3}
"""The same with the further names of version 1."""

SE3_SIZES = {"XYZQWQXQYQZ": 7, "XYZQXQYQZQW": 7, "XYZRPY": 6}
"""The orders of the numbers of a pose, and how many numbers each has."""


def key_name(name: str, version: int) -> str:
    """Return a key of `KEYS` in the spelling of a version."""
    if name == "se3_format":
        return "format" if version == 1 else "SE3Format"
    return name if version == 4 else KEYS[name][0]


def content_name(content: str, version: int, is_root_relative: bool = False) -> str:
    """Return a content in the spelling of a version; in version 1 a ZMP relative to the root has another name."""
    if version == 1 and content == ZMP and is_root_relative:
        return "RelativeZMP"
    return next((name for name, meaning in CONTENTS[version].items() if meaning == content), content)
