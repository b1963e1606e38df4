"""The rules of the language, VRML1xx: which file is refused, and what is odd in one that is read."""

from __future__ import annotations

from bodymotion.diagnostics import Rule
from bodymotion.formats.resources import (
    PART_LIMIT as PART_LIMIT,
)
from bodymotion.formats.resources import (
    PART_MISSING as PART_MISSING,
)
from bodymotion.formats.resources import (
    PART_OUTSIDE as PART_OUTSIDE,
)
from bodymotion.formats.resources import (
    PART_REMOTE as PART_REMOTE,
)
from bodymotion.formats.resources import (
    PART_UNREADABLE as PART_UNREADABLE,
)

__all__ = ["RULES"]

UNREADABLE = Rule(
    "VRML100",
    "error",
    "The file must be there and be readable.",
    "judgement",
    "check the path",
    example=("a folder called robot.wrl", "a file called robot.wrl"),
)
NOT_VRML97 = Rule(
    "VRML101",
    "error",
    "Only VRML97 (#VRML V2.0 utf8) is read: VRML 1.0 and X3D are other languages.",
    hint="convert the file to VRML97, for example with a 3D modelling program",
    example=("#VRML V1.0 ascii", "#VRML V2.0 utf8"),
)
SYNTAX = Rule(
    "VRML102",
    "error",
    "The text must follow the grammar of VRML97.",
    hint="look at the lines before as well: a bracket or a value may be missing there",
    example=("geometry Box size 1 1 1", "geometry Box { size 1 1 1"),
)
NOT_CLOSED = Rule(
    "VRML103",
    "error",
    'Every { [ and " must be closed before the file ends.',
    hint="the file may be cut off, or a bracket be missing further up",
    example=('info "a scene', 'info "a scene"'),
)
WRONG_VALUE = Rule(
    "VRML104",
    "error",
    "A field's value must be of the field's type.",
    hint="correct the value, or the type in the PROTO",
    example=("coordIndex [ 0, 1.5, 2, -1 ]", "coordIndex [ 0, 1, 2, -1 ]"),
)
WRONG_COUNT = Rule(
    "VRML105",
    "error",
    "A list of vectors, colours or rotations must hold a whole number of them.",
    hint="a number is missing, or one too many",
    example=("point [ 0 0 0, 1 0 0, 0 1 ]", "point [ 0 0 0, 1 0 0, 0 1 0 ]"),
)
TOO_DEEP = Rule(
    "VRML106",
    "error",
    "Nodes may be nested 256 deep at most, and a scene may hold a million nodes with all USE and prototypes expanded.",
    "judgement",
    "such a file is broken, or made to harm",
    example=("300 Groups, one in the other", "200 Groups, one in the other"),
)
HEADER = Rule(
    "VRML110",
    "note",
    "A file begins with the line #VRML V2.0 utf8.",
    hint="write it as the first line",
    fixable=True,
    example=("# a scene", "#VRML V2.0 utf8"),
)
ENCODING = Rule(
    "VRML111",
    "note",
    "The text of a file is UTF-8.",
    hint="save the file as UTF-8",
    example=("# 歩行 in another encoding", "# 歩行 in UTF-8"),
)
UNKNOWN_NODE = Rule(
    "VRML112",
    "warning",
    "A node's type must be one of the standard, or be declared by a PROTO before.",
    hint="the node is kept; the types of its values are told by their look",
    example=("geometry Kube {", "geometry Box {"),
)
UNKNOWN_FIELD = Rule(
    "VRML113",
    "warning",
    "A node may have only the fields that its type declares.",
    hint="the field is kept; the type of its value is told by its look",
    example=("sizes 1 1 1", "size 1 1 1"),
)
REPEATED_FIELD = Rule(
    "VRML114",
    "warning",
    "A field is given once in a node.",
    hint="the last value counts",
    example=("size 2 2 2 size 1 1 1", "size 1 1 1"),
)
NO_DEF_NAME = Rule(
    "VRML115",
    "warning",
    "DEF needs a name and a node.",
    hint="the node is read without a name",
    example=("[ DEF Group { } ]", "[ DEF EMPTY Group { } ]"),
)
UNDEFINED_USE = Rule(
    "VRML116",
    "error",
    "USE needs a node with that DEF name before it, in the same file or prototype.",
    hint="nothing stands in its place",
    leaves_out=True,
    example=("USE BELL", "USE BALL"),
)
ODD_VALUE = Rule(
    "VRML117",
    "warning",
    "A value is written as its type demands: text in quotes, single values without brackets, several in brackets.",
    hint="the value is taken as it is meant",
    example=("size [ 1 1 1 ]", "size 1 1 1"),
)
NOT_FINITE = Rule(
    "VRML118",
    "warning",
    "A number must be finite.",
    hint="the program that wrote the file has divided by zero",
    example=("translation 0 0 nan", "translation 0 0 1"),
)
EMPTY = Rule(
    "VRML119",
    "warning",
    "A file should hold at least one node.",
    "judgement",
    "the file may have been cut off, or never written",
    example=("a header alone", "a header and a Group { }"),
)
UNKNOWN_IS = Rule(
    "VRML120",
    "error",
    "IS stands in the body of a prototype and names a field that it declares.",
    hint="the field keeps its default",
    example=("radius IS radios", "radius IS size"),
)
UNKNOWN_TYPE = Rule(
    "VRML121",
    "error",
    "The type of a field that a prototype or a Script declares is one of the standard: SFBool, MFVec3f …",
    hint="the type of its value is told by its look",
    example=("field SFDouble size", "field SFFloat size"),
)
BYTE_ORDER_MARK = Rule(
    "VRML122",
    "note",
    "A file begins with its header, without a byte order mark.",
    "judgement",
    "many programs know a file by its first bytes: save it as UTF-8 without BOM",
    fixable=True,
    example=("a byte order mark before #VRML V2.0 utf8", "#VRML V2.0 utf8"),
)
PART_CYCLE = Rule(
    "VRML133",
    "error",
    "A file must not contain itself through Inline.",
    hint="the inner one is left out",
    leaves_out=True,
    example=('Inline { url "robot.wrl" }', 'Inline { url "hand.wrl" }'),
)
NO_PROTO = Rule(
    "VRML136",
    "warning",
    "The file of an EXTERNPROTO must declare a PROTO of that name.",
    hint="the model is shown without its instances",
    leaves_out=True,
    example=('EXTERNPROTO Knub [ ] "parts.wrl#Knub"', 'EXTERNPROTO Knub [ ] "parts.wrl#Knob"'),
)

RULES: tuple[Rule, ...] = tuple(value for value in globals().values() if isinstance(value, Rule))
