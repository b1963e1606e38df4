"""Declarations of fields, and those of the standard nodes: types and defaults.

The table of the standard nodes is `nodes.txt`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.geometry.arrays import frozen, frozen_ints

if TYPE_CHECKING:
    from bodymotion.formats.vrml.nodes import Value

# By the type of a field, how many numbers are in a value.
COUNTS = {
    "SFFloat": 1,
    "SFTime": 1,
    "SFInt32": 1,
    "SFVec2f": 2,
    "SFVec3f": 3,
    "SFColor": 3,
    "SFRotation": 4,
}

_ACCESS = {"x": "exposedField", "f": "field", "in": "eventIn", "out": "eventOut"}
# A line of `nodes.txt`: access, type, names and default of fields.
_LINE = re.compile(r"(\w+) (\w+)((?: [a-z]\w*)+) ?(.*)")


@dataclass(frozen=True)
class FieldDeclaration:
    """A field in the interface of a node or prototype.

    `access` is field, exposedField, eventIn or eventOut.
    """

    access: str
    type: str
    name: str
    value: Value = None


def _read_tables(path: Path) -> dict[str, str]:
    """Return the sections of `nodes.txt`: by their headings the lines of fields."""
    tables: dict[str, str] = {}
    name = ""
    for line in path.read_text("utf-8").splitlines():
        # `+ name` includes the lines of another section, which is above it.
        if line.startswith("  + "):
            tables[name] += tables[line[4:]]
        elif line.startswith("  "):
            tables[name] += line[2:] + "\n"
        elif line and not line.startswith("#"):
            name = line
            tables[name] = ""
    return tables


# By the names of nodes the lines of their fields. The other sections of the file are
# parts of several nodes.
STANDARD_NODES = {
    name: table
    for name, table in _read_tables(Path(__file__).with_name("nodes.txt")).items()
    if name[0].isupper()
}


@cache
def standard_fields(node_type: str) -> Mapping[str, FieldDeclaration]:
    """Return the fields of a standard node by name.

    There are none for any other node.
    """
    fields = {}
    for line in STANDARD_NODES.get(node_type, "").splitlines():
        match = _LINE.fullmatch(line)
        assert match is not None, line
        access, field_type, names, default = match.groups()
        value = _parse_default(field_type, default)
        # One line declares several fields of the same type and default.
        for name in names.split():
            fields[name] = FieldDeclaration(_ACCESS[access], field_type, name, value)
    return fields


def _parse_default(field_type: str, text: str) -> Value:
    """Return the default of a field of a standard node.

    None where it has none.
    """
    if text in ("", "NULL"):
        return None
    if field_type == "SFBool":
        return text == "TRUE"
    if field_type.endswith("String"):
        strings = re.findall(r'"([^"]*)"', text)
        return strings if field_type == "MFString" else strings[0]
    if field_type == "MFNode":
        return []
    # Numbers may be in brackets, with commas.
    words = text.strip("[]").replace(",", " ").split()
    if field_type == "SFInt32":
        return int(text)
    if field_type == "MFInt32":
        return frozen_ints(np.array(words, np.int32))
    if field_type == "SFImage":
        image = np.array(words, np.int64)
        image.flags.writeable = False
        return image
    numbers = frozen(np.array(words, np.float64))
    count = COUNTS[f"SF{field_type[2:]}"]
    if field_type.startswith("MF"):
        return numbers if count == 1 else numbers.reshape(-1, count)
    return float(numbers[0]) if count == 1 else numbers
