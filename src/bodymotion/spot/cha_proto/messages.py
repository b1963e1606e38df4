"""The vendor's messages, built from one table of their fields.

Those of animations, sequences of moves and logs, with google.protobuf.

Messages are those of `bosdyn.api.spot.choreography_sequence` (version 5.2); the
vendor's package is not needed. In proto3 a plain number that is 0 is not written, and
cannot be distinguished from one that is missing. A wrapper (`DoubleValue` and its kind)
is a message of its own, so its 0 can be distinguished from nothing.
"""

# ruff: noqa: ANN401 - messages of protobuf are made at run time

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from bodymotion.spot.cha.keywords import OPTIONS, PLAYBACKS

_FIELD = re.compile(r"(\w+)=(\d+):?(\w*)(\*?)\|?(\w*)")

# The values of the option `arm_playback`, in the order of the enumeration ArmPlayback.
# 0 lets the robot choose by the columns.
ARM_PLAYBACKS = ("", *PLAYBACKS)

# The messages that are read, with the field of their rows and the message of a row.
ROWS = {
    "Animation": ("animation_keyframes", "AnimationKeyframe"),
    "ChoreographyStateLog": ("key_frames", "LoggedStateKeyFrame"),
    "ChoreographySequence": ("moves", "MoveParams"),
    "ChoreographerSave": ("choreography_sequence", "ChoreographySequence"),
}

_PACKAGE = "bosdyn.api.spot"

# What the vendor's converter writes for 0. A plain 0 is not written, and the robot
# reports numbers that only some keyframes have.
TINY = 1e-6

# The options without values; their fields have the same names.
FLAGS = tuple(
    name for name, one in OPTIONS.items() if not one.values and name != "precise_timing"
)

# The three messages of parameters, and the attribute of a `Parameter` that each holds.
LIMITS = {
    "minimum_parameters": "minimum",
    "default_parameters": "default",
    "maximum_parameters": "maximum",
}


class Field(NamedTuple):
    """A field of a message.

    Its number, its type (a scalar, an enumeration or a message), its oneof, and whether
    it is repeated.
    """

    number: int
    kind: str = "DoubleValue"
    choice: str = ""
    repeated: bool = False


def _read_messages() -> tuple[dict[str, dict[str, Field]], dict[str, dict[str, int]]]:
    """Return the fields of all messages, and the values of enumerations.

    From `messages.txt`, which describes its notation.
    """
    messages: dict[str, dict[str, Field]] = {}
    enums: dict[str, dict[str, int]] = {}
    text = (
        Path(__file__).with_name("messages.txt").read_text("utf-8").replace("\n  ", " ")
    )
    for line in text.splitlines():
        name, colon, words = line.partition(": ")
        if not colon or line.startswith("#"):
            continue
        if name.startswith("enum "):
            pairs = [pair.split("=") for pair in words.split()]
            enums[name[5:]] = {word: int(number) for word, number in pairs}
            continue
        messages[name] = {}
        for field, number, kind, star, choice in _FIELD.findall(words):
            messages[name][field] = Field(
                int(number), kind or "DoubleValue", choice, bool(star)
            )
    return messages, enums


MESSAGES, ENUMS = (
    _read_messages()
)  # The fields of each message by name, and the values of enumerations by name.


@cache
def message_class(name: str) -> Any:
    """Return the class of a message.

    The name of a message in `ROWS` with "Raw" appended is the same message with its
    rows as bytes that are not parsed yet.
    """
    from google.protobuf import message_factory

    return message_factory.GetMessageClass(
        _pool().FindMessageTypeByName(f"{_PACKAGE}.{name}")
    )


@cache
def _pool() -> Any:
    """Return all messages of the table as descriptors.

    In a pool of their own, so that the vendor's package can be used beside it.
    """
    from google.protobuf import descriptor_pb2, descriptor_pool

    file = descriptor_pb2.FileDescriptorProto(
        name="bodymotion/animation.proto", package=_PACKAGE, syntax="proto3"
    )
    for name, numbers in ENUMS.items():
        enum = file.enum_type.add(name=name)
        for word, number in numbers.items():
            enum.value.add(name=word, number=number)
    for name, fields in MESSAGES.items():
        _add_message(file, name, fields)
    for name, (rows, _) in ROWS.items():
        raw = MESSAGES[name][rows]._replace(kind="bytes", repeated=True)
        _add_message(file, f"{name}Raw", {**MESSAGES[name], rows: raw})
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return pool


def _add_message(file: Any, name: str, fields: Mapping[str, Field]) -> None:
    """Add a message with its fields to a description of a file."""
    from google.protobuf.descriptor_pb2 import FieldDescriptorProto as Proto

    message = file.message_type.add(name=name)
    # Members of a oneof refer to its index in the message.
    choices = list(dict.fromkeys(one.choice for one in fields.values() if one.choice))
    for choice in choices:
        message.oneof_decl.add(name=choice)
    for field, one in fields.items():
        if one.repeated:
            label = Proto.LABEL_REPEATED
        else:
            label = Proto.LABEL_OPTIONAL
        added = message.field.add(name=field, number=one.number, label=label)
        if one.kind in MESSAGES or one.kind in ENUMS:
            if one.kind in MESSAGES:
                added.type = Proto.TYPE_MESSAGE
            else:
                added.type = Proto.TYPE_ENUM
            # A leading dot: the name is absolute.
            added.type_name = f".{_PACKAGE}.{one.kind}"
        else:
            added.type = Proto.Type.Value(f"TYPE_{one.kind.upper()}")
        if one.choice:
            added.oneof_index = choices.index(one.choice)


def parameter_paths() -> dict[str, tuple[str, str]]:
    """Return the path of each parameter through AnimateParams, and its type.

    It is "double" or "int32".
    """
    paths: dict[str, tuple[str, str]] = {}
    for name, one in MESSAGES["AnimateParams"].items():
        inner = MESSAGES.get(one.kind, {})
        if "value" in inner:
            paths[name] = f"{name}.value", inner["value"].kind
        else:
            paths |= {
                f"{name}.{part}": (f"{name}.{part}.value", "double") for part in inner
            }
    return paths
