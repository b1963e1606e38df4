"""The rules of OpenHRP's plain text files. All are ours: there is no document."""

from __future__ import annotations

from bodymotion.diagnostics import DocumentRule, Rule

WIDTH = DocumentRule(
    "OTX001",
    "error",
    "A file has the columns of its kind: .pos t and joints, .waist t x y z r p y, .hip t r p y, .zmp t x y z.",
    example=("0.0 0 0 0.8 0 0", "0.0 0 0 0.8 0 0 0"),
)
TIME_ORDER = Rule(
    "OTX002",
    "error",
    "The time of each line is greater than that of the line before it.",
    example=("0.0 0 0 0.9 0 0 0", "0.1 0 0 0.9 0 0 0"),
)
JOINTS = Rule(
    "OTX003",
    "error",
    "A .pos has as many joints as the model that is given.",
    example=("0.0 0.1 0.2 0.3", "0.0 0.1 0.2"),
)
POSITION = Rule(
    "OTX004",
    "warning",
    "The orientation of a .hip comes with the positions of a .waist.",
    "the position is read as 0 0 0",
    example=("a .hip alone", "a .hip beside a .waist"),
)
SUFFIX = DocumentRule(
    "OTX005", "error", "The files of a motion end in .pos, .waist, .hip and .zmp.", example=("walk.pose", "walk.pos")
)
IGNORED = Rule(
    "OTX006",
    "warning",
    "The .waist and the .hip of a motion have the same orientation of the root.",
    "that of the .waist is read; remove the file that does not belong to the motion",
    example=("a .waist and a .hip of other turns", "a .waist and a .hip of the same turns"),
)
STAYS = Rule(
    "OTX101",
    "warning",
    "Files of an older motion of the same name are read with the ones that are written.",
    "remove the file if it does not belong to the motion",
    example=("saving joints as walk.pos where a walk.zmp is", "saving joints as walk.pos where none is"),
)
CONVERTED = DocumentRule(
    "OTX102",
    "note",
    "A .zmp is in the root link's frame.",
    example=("saving a ZMP in the world's frame", "saving a ZMP that is root-relative"),
)

RULES: tuple[Rule, ...] = tuple(value for value in list(globals().values()) if isinstance(value, Rule))
"""All rules, in the order of their codes."""
