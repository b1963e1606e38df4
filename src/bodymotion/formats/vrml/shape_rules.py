"""What can be wrong with the shapes of a VRML97 file (ISO/IEC 14772-1, clause 6)."""

from __future__ import annotations

from bodymotion.diagnostics import Rule

WRONG_VALUE = Rule(
    "VRML201",
    "error",
    "A field holds what its node can use.",
    example=('field SFString size "1"', "field SFFloat size 1"),
)
ZERO_AXIS = Rule(
    "VRML202",
    "error",
    "The axis of a rotation has a length.",
    hint="write 0 0 1 0 for a rotation that does nothing",
    example=("rotation 0 0 0 0.5", "rotation 0 0 1 0.5"),
)
BAD_INDEX = Rule(
    "VRML203",
    "error",
    "An index points into the list that it is for; the faces that break this are left out.",
    leaves_out=True,
    example=("coordIndex [ 0, 1, 3, -1 ]", "coordIndex [ 0, 1, 2, -1 ]"),
)
SMALL_FACE = Rule(
    "VRML204",
    "warning",
    "A face has three corners or more; others are left out.",
    leaves_out=True,
    example=("coordIndex [ 0, 1, -1 ]", "coordIndex [ 0, 1, 2, -1 ]"),
)
UNUSED_LIST = Rule(
    "VRML205",
    "warning",
    "Colours, normals and texture coordinates are as many as what they are for; else they are not used.",
    leaves_out=True,
    example=("color [ 1 0 0, 0 1 0 ]", "color [ 1 0 0, 0 1 0, 0 0 1 ]"),
)
NO_POINTS = Rule(
    "VRML206",
    "warning",
    "A shape has points; one without shows nothing.",
    "judgement",
    example=(
        "IndexedFaceSet { }",
        "IndexedFaceSet { coord Coordinate { point [ 0 0 0, 1 0 0, 0 1 0 ] } coordIndex [ 0, 1, 2 ] }",
    ),
)
NOT_FINITE = Rule(
    "VRML207",
    "warning",
    "Coordinates are finite numbers; faces with others are left out.",
    "judgement",
    leaves_out=True,
    example=("point [ 0 0 0, 1 0 0, 0 nan 0 ]", "point [ 0 0 0, 1 0 0, 0 1 0 ]"),
)
NOT_SHOWN = Rule(
    "VRML213",
    "note",
    "Some nodes of VRML97 have no shape here.",
    "judgement",
    leaves_out=True,
    example=('geometry Text { string "left" }', "geometry Box { size 2 1 1 }"),
)
OUT_OF_RANGE = Rule(
    "VRML209",
    "warning",
    "Colours and the other values of a material are in 0…1; others are cut off there.",
    example=("diffuseColor 1.8 0.2 0.2", "diffuseColor 0.8 0.2 0.2"),
)
BAD_SIZE = Rule(
    "VRML210",
    "warning",
    "The sizes of a primitive are greater than zero; others show nothing, but for a box that is flat in one direction.",
    leaves_out=True,
    example=("radius -1", "radius 1"),
)
TOO_LARGE = Rule(
    "VRML211",
    "error",
    "A scene stays within what can be held; what is beyond is left out.",
    "judgement",
    leaves_out=True,
    example=("a Group that uses the one before it twice, 16 times over", "the same 5 times over"),
)
UNKNOWN_NODE = Rule(
    "VRML212",
    "warning",
    "A node is of the standard or has a PROTO; others are left out.",
    leaves_out=True,
    example=("children [ Ladder { } ]", "children [ Group { } ]"),
)
SCENERY = Rule(
    "VRML214",
    "note",
    "Lights, sounds, scripts, ROUTEs, and what a Switch or an LOD does not show, are parts of a scene and of no body: they are left out.",
    "judgement",
    leaves_out=True,
    example=("PointLight { }", "Group { }"),
)
IMAGE_INSIDE = Rule(
    "VRML215",
    "note",
    "Images are files of their own; those inside of another file are left out.",
    "judgement",
    leaves_out=True,
    example=("a .glb with a texture inside", "a .glb with colours alone"),
)
INSIDE_OUT = Rule(
    "VRML208",
    "warning",
    "The cross-section of an Extrusion runs counter-clockwise seen from +y, so that the faces look outwards.",
    hint="a closed one that looks inwards is turned round; reverse the cross-section, or write ccw FALSE if that is meant",
    example=("crossSection [ 0 0, 1 1, 0 1, 0 0 ]", "crossSection [ 0 0, 0 1, 1 1, 0 0 ]"),
)

RULES: tuple[Rule, ...] = (
    WRONG_VALUE,
    ZERO_AXIS,
    BAD_INDEX,
    SMALL_FACE,
    UNUSED_LIST,
    NO_POINTS,
    NOT_FINITE,
    NOT_SHOWN,
    OUT_OF_RANGE,
    BAD_SIZE,
    TOO_LARGE,
    UNKNOWN_NODE,
    SCENERY,
    IMAGE_INSIDE,
    INSIDE_OUT,
)
