"""The rules of VRML97.

VRML1xx about the language and the files that a scene names, VRML2xx about shapes.
"""

from bodymotion.diagnostics import Rule, document, judgement
from bodymotion.formats.rules import TOO_LARGE

RETIRED = {
    "VRML130": "FMT020",
    "VRML135": "FMT021",
    "VRML212": "VRML112",
}

NOT_VRML97 = document.error(
    "VRML101",
    "The language of the file is VRML97 (#VRML V2.0 utf8). VRML 1.0 and X3D are other "
    "languages, and are not read.",
    "convert the file to VRML97, for example with a 3D modelling program",
    example=("#VRML V1.0 ascii", "#VRML V2.0 utf8"),
)
SYNTAX = document.error(
    "VRML102",
    "The text follows the grammar of VRML97.",
    "check the lines before as well: a bracket or a value may be missing there",
    example=("geometry Box size 1 1 1", "geometry Box { size 1 1 1"),
)
NOT_CLOSED = document.error(
    "VRML103",
    'Every { [ and " is closed before the file ends.',
    "the file may be cut off, or a bracket may be missing before this",
    example=('info "a scene', 'info "a scene"'),
)
WRONG_VALUE = document.error(
    "VRML104",
    "The value of a field has the type of the field.",
    "correct the value, or the type in the PROTO",
    example=("coordIndex [ 0, 1.5, 2, -1 ]", "coordIndex [ 0, 1, 2, -1 ]"),
)
WRONG_COUNT = document.error(
    "VRML105",
    "A list of vectors, colours or rotations has only complete elements.",
    "a number is missing, or there is one too many",
    example=("point [ 0 0 0, 1 0 0, 0 1 ]", "point [ 0 0 0, 1 0 0, 0 1 0 ]"),
)
HEADER = document.note(
    "VRML110",
    "A file begins with the line #VRML V2.0 utf8.",
    "write it as the first line",
    fixable=True,
    example=("# a scene", "#VRML V2.0 utf8"),
)
ENCODING = document.note(
    "VRML111",
    "The text of a file is UTF-8.",
    "save the file as UTF-8",
    example=("# 歩行 in another encoding", "# 歩行 in UTF-8"),
)
UNKNOWN_NODE = document.warning(
    "VRML112",
    "A node has a standard type, or that of a PROTO before it. Others are left out. "
    "One wrong letter is corrected, but is an error.",
    "the types of its values follow from their form",
    leaves_out=True,
    example=("geometry Kube {", "geometry Box {"),
)
UNKNOWN_FIELD = document.warning(
    "VRML113",
    "A node has only the fields that its type declares.",
    "the field is kept; the type of its value follows from its form",
    example=("sizes 1 1 1", "size 1 1 1"),
)
REPEATED_FIELD = document.warning(
    "VRML114",
    "A field is given once in a node.",
    "the last value counts",
    example=("size 2 2 2 size 1 1 1", "size 1 1 1"),
)
NO_DEF_NAME = document.warning(
    "VRML115",
    "DEF needs a name and a node.",
    "the node is read without a name",
    example=("[ DEF Group { } ]", "[ DEF EMPTY Group { } ]"),
)
UNDEFINED_USE = document.error(
    "VRML116",
    "The name after USE is that of a DEF before it, in the same file or prototype.",
    "the USE is left out",
    leaves_out=True,
    example=("USE BELL", "USE BALL"),
)
IRREGULAR_VALUE = document.warning(
    "VRML117",
    "A value is written in the form of its type: text in quotes, one value without "
    "brackets, several values in brackets.",
    "the value is read as if it were written in this form",
    example=("size [ 1 1 1 ]", "size 1 1 1"),
)
NOT_FINITE = document.warning(
    "VRML118",
    "Numbers are finite.",
    "the program that wrote the file may have divided by zero",
    example=("translation 0 0 nan", "translation 0 0 1"),
)
EMPTY = judgement.warning(
    "VRML119",
    "A file has at least one node.",
    "the file may have been cut off, or never written",
    example=("a header alone", "a header and a Group { }"),
)
UNKNOWN_IS = document.error(
    "VRML120",
    "IS is used in the body of a prototype, and names a field that the prototype "
    "declares.",
    "the field keeps its default",
    example=("radius IS radios", "radius IS size"),
)
UNKNOWN_TYPE = document.error(
    "VRML121",
    "A prototype or a Script declares fields of standard types only: SFBool, MFVec3f …",
    "the type of its value follows from its form",
    example=("field SFDouble size", "field SFFloat size"),
)
BYTE_ORDER_MARK = judgement.note(
    "VRML122",
    "A file begins with its header, without a byte order mark.",
    "many programs recognise a file by its first bytes: save it as UTF-8 without BOM",
    fixable=True,
    example=("a byte order mark before #VRML V2.0 utf8", "#VRML V2.0 utf8"),
)
DECIMAL_COMMA = document.warning(
    "VRML123",
    "Numbers have a decimal point. A comma separates numbers.",
    "write 0.05 for 0,05; the list is read this way if that gives complete vectors, "
    "otherwise it is left out",
    leaves_out=True,
    example=("point [ 0,05 0 0, 1 0 0, 0 1 0 ]", "point [ 0 0 0, 1 0 0, 0 1 0 ]"),
)
NO_PROTO = document.warning(
    "VRML136",
    "The file of an EXTERNPROTO declares a PROTO of that name.",
    "the model is shown without its instances",
    leaves_out=True,
    example=(
        'EXTERNPROTO Knub [ ] "parts.wrl#Knub"',
        'EXTERNPROTO Knub [ ] "parts.wrl#Knob"',
    ),
)

# Shapes (ISO/IEC 14772-1, clause 6)
UNUSABLE_VALUE = document.error(
    "VRML201",
    "A field has a value that its node can use.",
    example=('field SFString size "1"', "field SFFloat size 1"),
)
ZERO_AXIS = document.error(
    "VRML202",
    "The axis of a rotation is not zero.",
    "write 0 0 1 0 for no rotation",
    example=("rotation 0 0 0 0.5", "rotation 0 0 1 0.5"),
)
BAD_INDEX = document.error(
    "VRML203",
    "An index is smaller than the length of its list. Faces with other indices are "
    "left out.",
    leaves_out=True,
    example=("coordIndex [ 0, 1, 3, -1 ]", "coordIndex [ 0, 1, 2, -1 ]"),
)
SMALL_FACE = document.warning(
    "VRML204",
    "A face has three corners or more. Other faces are left out.",
    leaves_out=True,
    example=("coordIndex [ 0, 1, -1 ]", "coordIndex [ 0, 1, 2, -1 ]"),
)
UNUSED_LIST = document.warning(
    "VRML205",
    "There are as many colours, normals and texture coordinates as faces or corners. "
    "Otherwise they are not used.",
    leaves_out=True,
    example=("color [ 1 0 0, 0 1 0 ]", "color [ 1 0 0, 0 1 0, 0 0 1 ]"),
)
NO_POINTS = judgement.warning(
    "VRML206",
    "A shape has points. A shape without points shows nothing.",
    example=(
        "IndexedFaceSet { }",
        "IndexedFaceSet { coord Coordinate { point [ 0 0 0, 1 0 0, 0 1 0 ] } "
        "coordIndex [ 0, 1, 2 ] }",
    ),
)
INFINITE_POINT = judgement.warning(
    "VRML207",
    "Coordinates are finite. Faces with other coordinates are left out.",
    leaves_out=True,
    example=("point [ 0 0 0, 1 0 0, 0 nan 0 ]", "point [ 0 0 0, 1 0 0, 0 1 0 ]"),
)
NOT_SHOWN = judgement.warning(
    "VRML213",
    "A shape has a known geometry other than Text, and an image file as its texture. "
    "Other geometries and textures are not shown.",
    leaves_out=True,
    example=('geometry Text { string "left" }', "geometry Box { size 2 1 1 }"),
)
OUT_OF_RANGE = document.warning(
    "VRML209",
    "The colours and other values of a material are in 0…1. Other values are clipped.",
    example=("diffuseColor 1.8 0.2 0.2", "diffuseColor 0.8 0.2 0.2"),
)
BAD_SIZE = document.warning(
    "VRML210",
    "The sizes of a primitive are greater than zero. Other primitives show nothing, "
    "except a box that is flat in one direction.",
    leaves_out=True,
    example=("radius -1", "radius 1"),
)
SCENERY = judgement.note(
    "VRML214",
    "Lights, sounds, scripts, ROUTEs, and nodes that a Switch or an LOD hides, are no "
    "part of a body. They are left out.",
    leaves_out=True,
    example=("PointLight { }", "Group { }"),
)
INSIDE_OUT = document.warning(
    "VRML208",
    "The cross-section of an Extrusion is counter-clockwise when seen from +y, so "
    "that the faces point outwards.",
    "reverse the cross-section, or write ccw FALSE if the faces should point inwards; "
    "a closed cross-section is reversed",
    example=(
        "crossSection [ 0 0, 1 1, 0 1, 0 0 ]",
        "crossSection [ 0 0, 0 1, 1 1, 0 0 ]",
    ),
)

# What breaks these cannot be read as a whole.
GRAMMAR: tuple[Rule, ...] = (
    NOT_VRML97,
    SYNTAX,
    NOT_CLOSED,
    WRONG_VALUE,
    WRONG_COUNT,
    TOO_LARGE,
)
