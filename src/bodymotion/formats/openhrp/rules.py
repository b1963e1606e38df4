"""The rules of OpenHRP models.

What the document requires, and what has no effect or is ambiguous. Rules on bodies are
in `model.rules`.
"""

from bodymotion.diagnostics import document, judgement, reference

RETIRED = {
    "WRL103": "BODY125",
    "WRL110": "BODY101",
    "WRL111": "BODY104",
    "WRL122": "BODY110",
    "WRL123": "BODY111",
    "WRL124": "BODY118",
    "WRL125": "BODY117",
    "WRL129": "BODY123",
    "WRL130": "BODY112",
    "WRL133": "BODY121",
    "WRL134": "BODY106",
    "WRL137": "BODY119",
    "WRL138": "BODY120",
    "WRL139": "BODY109",
    "WRL141": "BODY130",
    "WRL142": "BODY131",
    "WRL143": "BODY132",
    "WRL144": "BODY134",
    "WRL145": "BODY133",
    "WRL146": "BODY155",
    "WRL147": "BODY105",
    "WRL160": "BODY151",
    "WRL161": "BODY151",
    "WRL164": "BODY152",
    "WRL165": "BODY152",
    "WRL166": "BODY152",
    "WRL167": "BODY153",
    "WRL169": "BODY155",
    "WRL180": "BODY160",
}
"""Codes that rules had before, each with that of the rule on bodies that took over."""

# The tree
HUMANOIDS = document.error(
    "WRL101",
    "A file has one Humanoid. Only the first is read.",
    leaves_out=True,
    example=("DEF a Humanoid { } DEF b Humanoid { }", "DEF a Humanoid { }"),
)
NO_JOINT = judgement.warning(
    "WRL102",
    "A Humanoid has a Joint in its humanoidBody. Without one the body is a single "
    "fixed link.",
    "write humanoidBody [ DEF BASE Joint { … } ]",
    example=(
        "humanoidBody [ ]",
        'humanoidBody [ DEF BASE Joint { jointType "fixed" } ]',
    ),
)
JOINT_MOVED = document.error(
    "WRL104",
    "A Joint is directly inside of a Joint. A Transform between them has no effect.",
    "write the Transform's translation and rotation into the Joint",
    example=(
        "Transform { translation 0 0 1 children [ DEF HIP Joint { … } ] }",
        "DEF HIP Joint { translation 0 0 1 … }",
    ),
)
JOINT_IN_SEGMENT = document.error(
    "WRL105",
    "A Joint is not inside of a Segment.",
    "put the Joint beside the Segment",
    example=(
        "DEF WAIST_LINK Segment { children [ DEF HIP Joint { … } ] }",
        "DEF WAIST_LINK Segment { } DEF HIP Joint { … }",
    ),
)
SEGMENT_IN_SEGMENT = document.error(
    "WRL106",
    "A Segment is not inside of a Segment.",
    "put the Segments side by side",
    example=(
        "DEF A Segment { children [ DEF B Segment { } ] }",
        "DEF A Segment { } DEF B Segment { }",
    ),
)
OUTSIDE = judgement.warning(
    "WRL107",
    "Only what is inside of the humanoidBody of the Humanoid belongs to the body.",
    leaves_out=True,
    example=("a Shape beside the Humanoid", "a Shape in a Segment of the Humanoid"),
)
HUMANOID_POSE = judgement.warning(
    "WRL108",
    "Translation, rotation and scale of a Humanoid have no effect by default. The "
    "pose of the root Joint is that of the body.",
    "write them into the root Joint, or load with apply_humanoid_pose=True "
    "(--apply-humanoid-pose)",
    example=("DEF robot Humanoid { translation 0 0 1", "DEF robot Humanoid {"),
)
LISTS = document.warning(
    "WRL109",
    "The lists joints and segments of a Humanoid name all Joints and Segments.",
    fixable=True,
    example=(
        "joints [ USE WAIST, USE HIP ]",
        "joints [ USE WAIST, USE HIP, USE KNEE ]",
    ),
)
TOO_MANY = judgement.error(
    "WRL112", "A body has at most 10 000 links.", example=("10001 Joints", "100 Joints")
)
NOTHING = judgement.error(
    "WRL113",
    "A file has at least one node.",
    "the file may have been cut off, or never written",
    example=("an empty file", "#VRML V2.0 utf8 and a node"),
)
NAME_FIELD = reference.note(
    "WRL114",
    "The name of a Joint or Segment is the one after DEF. A different one in the "
    "field name is kept, but not used.",
    "write the name after DEF into the field",
    example=('DEF HIP Joint { name "LHIP"', 'DEF HIP Joint { name "HIP"'),
)
UNUSED_FIELD = document.note(
    "WRL115",
    "The fields bboxCenter, bboxSize, sites, coord, displacers, addChildren and "
    "removeChildren have no effect in OpenHRP.",
    example=("bboxSize 1 1 1 mass 5", "mass 5"),
)
NO_HUMANOID = document.note(
    "WRL116",
    "A model has a Humanoid. A file without one is a scene: a single fixed link with "
    "all shapes.",
    "put a Humanoid around the Joints: its humanoidBody has the root Joint",
    example=(
        "DEF BASE Joint { … }",
        "DEF robot Humanoid { humanoidBody [ DEF BASE Joint { … } ] }",
    ),
)
EXTENSION = document.note(
    "WRL117",
    "The name of a model file ends with .wrl.",
    example=("a robot.txt of the format wrl", "robot.wrl"),
)
SEGMENT_NAME = judgement.note(
    "WRL118",
    "A Segment has its own name for the list segments: DEF NAME Segment { … }.",
    example=("Segment { mass 5", "DEF WAIST_LINK Segment { mass 5"),
)
UNKNOWN_NODES = judgement.warning(
    "WRL119",
    "Unknown fields hold no nodes. Only the names or types of such nodes are kept.",
    leaves_out=True,
    example=("mass 5 paint [ Material { } ]", "mass 5"),
)

# Joints
JOINT_TYPE = document.error(
    "WRL120",
    "jointType is free, slide, rotate, fixed or crawler.",
    example=('jointType "turn"', 'jointType "rotate"'),
)
HANIM_JOINT = judgement.warning(
    "WRL149",
    "The PROTO of Joint declares jointType. Without it, as in H-Anim figures, all "
    "joints are fixed.",
    "an H-Anim figure can be shown; to move it, use the document's PROTO and write "
    "jointType, jointAxis and translation",
    example=(
        "PROTO Joint [ ] { }",
        'PROTO Joint [ field SFString jointType "fixed" ] { }',
    ),
)
JOINT_AXIS = document.error(
    "WRL121",
    'jointAxis is a vector, or in old files "X", "Y" or "Z".',
    example=('jointAxis "up"', "jointAxis 0 1 0"),
)
ID_MISSING = judgement.warning(
    "WRL126",
    "A Joint that moves has a jointId.",
    "the joint gets the next free column",
    example=('jointType "slide"', 'jointType "slide" jointId 1'),
)
ID_UNUSED = judgement.note(
    "WRL127",
    "A fixed or free Joint has no jointId, because it has no joint value.",
    example=('jointType "free" jointId 0', 'jointType "free"'),
)
ID_ORDER = judgement.note(
    "WRL128",
    "The jointIds are in the order of the links. Other orders are read as they are.",
    example=(
        "jointId 1 in the first Joint, jointId 0 in the second",
        "jointId 0 in the first Joint, jointId 1 in the second",
    ),
)
CENTER = judgement.warning(
    "WRL131",
    "center, scale and scaleOrientation of a Joint have no effect.",
    "use translation",
    example=("center 0 0 0.3", "translation 0 0 0.3"),
)
OBSOLETE = judgement.note(
    "WRL132",
    "equivalentInertia is an obsolete field.",
    "write rotorInertia and gearRatio",
    example=("equivalentInertia 0.3", "rotorInertia 0.3"),
)
OLD_AXIS = document.note(
    "WRL135",
    "jointAxis is a vector since OpenHRP 3.",
    'write 1 0 0 for "X", 0 1 0 for "Y", 0 0 1 for "Z"',
    example=('jointAxis "Y"', "jointAxis 0 1 0"),
)
SEVERAL_LIMITS = judgement.note(
    "WRL136",
    "A limit is one number. The first of several is used.",
    example=("ulimit [ 1.5 1.6 ]", "ulimit [ 1.5 ]"),
)

# Segments
INERTIA_SIZE = document.error(
    "WRL140",
    "momentsOfInertia has nine numbers, row by row.",
    example=(
        "momentsOfInertia [ 0.1 0.1 0.1 ]",
        "momentsOfInertia [ 0.1 0 0 0 0.1 0 0 0 0.1 ]",
    ),
)
MORE_NUMBERS = document.warning(
    "WRL148",
    "A field has as many numbers as its type needs. Further numbers are not used.",
    example=("centerOfMass 0 0 0.1 0.2", "centerOfMass 0 0 0.1"),
)

# Sensors
SENSOR_ID_MISSING = document.warning(
    "WRL162",
    "A sensor has a sensorId.",
    example=("DEF gyro Gyro { }", "DEF gyro Gyro { sensorId 0 }"),
)
VISION_TYPE = document.error(
    "WRL163",
    "The type of a VisionSensor is COLOR, DEPTH, COLOR_DEPTH or NONE.",
    example=('type "RGB"', 'type "COLOR"'),
)
NOT_IN_DOCUMENT = document.note(
    "WRL168",
    "A sensor is of one of the five types of the document. Other sensors are kept "
    "with all their fields.",
    example=("DEF nose SmellSensor { sensorId 0 }", "DEF nose Gyro { sensorId 0 }"),
)
SENSOR_LIMIT = judgement.warning(
    "WRL170",
    "A sensor's maxAcceleration, maxAngularVelocity, maxForce and maxTorque are "
    "positive, or -1 for no limit.",
    example=("maxAngularVelocity [ 0 0 0 ]", "maxAngularVelocity [ 10 10 10 ]"),
)

# Extra joints
EXTRA_TYPE = document.error(
    "WRL181",
    'jointType of an ExtraJoint is "xyz", "xy" or "z". Choreonoid also has "piston", '
    '"ball" and "hinge".',
    example=('jointType "xz"', 'jointType "xyz"'),
)
