"""The interfaces of the OpenHRP document's prototypes, and what a plain VRML97 viewer makes of them."""

from __future__ import annotations

NODE_FIELDS = {
    "Humanoid": """
  field        SFVec3f    bboxCenter       0 0 0
  field        SFVec3f    bboxSize         -1 -1 -1
  exposedField SFVec3f    center           0 0 0
  exposedField MFNode     humanoidBody     []
  exposedField MFString   info             []
  exposedField MFNode     joints           []
  exposedField SFString   name             ""
  exposedField SFRotation rotation         0 0 1 0
  exposedField SFVec3f    scale            1 1 1
  exposedField SFRotation scaleOrientation 0 0 1 0
  exposedField MFNode     segments         []
  exposedField MFNode     sites            []
  exposedField SFVec3f    translation      0 0 0
  exposedField SFString   version          "1.1"
  exposedField MFNode     viewpoints       []""",
    "Joint": """
  exposedField SFString   name             ""
  exposedField SFString   jointType        ""
  exposedField SFInt32    jointId          -1
  exposedField SFVec3f    jointAxis        0 0 1
  exposedField SFVec3f    translation      0 0 0
  exposedField SFRotation rotation         0 0 1 0
  exposedField SFVec3f    center           0 0 0
  exposedField SFVec3f    scale            1 1 1
  exposedField SFRotation scaleOrientation 0 0 1 0
  exposedField SFRotation limitOrientation 0 0 1 0
  exposedField MFFloat    llimit           []
  exposedField MFFloat    ulimit           []
  exposedField MFFloat    lvlimit          []
  exposedField MFFloat    uvlimit          []
  exposedField MFFloat    stiffness        [ 0 0 0 ]
  exposedField SFFloat    gearRatio        1
  exposedField SFFloat    gearEfficiency   1
  exposedField SFFloat    rotorInertia     0
  exposedField SFFloat    rotorResistor    0
  exposedField SFFloat    torqueConst      1
  exposedField SFFloat    encoderPulse     1
  exposedField MFNode     children         []""",
    "Segment": """
  field        SFVec3f    bboxCenter       0 0 0
  field        SFVec3f    bboxSize         -1 -1 -1
  exposedField SFString   name             ""
  exposedField SFFloat    mass             0
  exposedField SFVec3f    centerOfMass     0 0 0
  exposedField MFFloat    momentsOfInertia [ 0 0 0 0 0 0 0 0 0 ]
  exposedField SFNode     coord            NULL
  exposedField MFNode     displacers       []
  exposedField MFNode     children         []
  eventIn      MFNode     addChildren
  eventIn      MFNode     removeChildren""",
    "ExtraJoint": """
  exposedField SFString   link1Name        ""
  exposedField SFString   link2Name        ""
  exposedField SFVec3f    link1LocalPos    0 0 0
  exposedField SFVec3f    link2LocalPos    0 0 0
  exposedField SFString   jointType        "xyz"
  exposedField SFVec3f    jointAxis        1 0 0""",
    "AccelerationSensor": """
  exposedField SFInt32    sensorId         -1
  exposedField SFVec3f    translation      0 0 0
  exposedField SFRotation rotation         0 0 1 0
  exposedField SFVec3f    maxAcceleration  -1 -1 -1""",
    "Gyro": """
  exposedField SFInt32    sensorId           -1
  exposedField SFVec3f    translation        0 0 0
  exposedField SFRotation rotation           0 0 1 0
  exposedField SFVec3f    maxAngularVelocity -1 -1 -1""",
    "ForceSensor": """
  exposedField SFInt32    sensorId         -1
  exposedField SFVec3f    translation      0 0 0
  exposedField SFRotation rotation         0 0 1 0
  exposedField SFVec3f    maxForce         -1 -1 -1
  exposedField SFVec3f    maxTorque        -1 -1 -1""",
    "VisionSensor": """
  field        SFString   name              ""
  exposedField SFInt32    sensorId          -1
  exposedField SFVec3f    translation       0 0 0
  exposedField SFRotation rotation          0 0 1 0
  exposedField SFString   type              "NONE"
  exposedField SFFloat    fieldOfView       0.785398
  exposedField SFFloat    frontClipDistance 0.01
  exposedField SFFloat    backClipDistance  10.0
  exposedField SFInt32    width             320
  exposedField SFInt32    height            240
  exposedField SFFloat    frameRate         30""",
    "RangeSensor": """
  exposedField SFInt32    sensorId         -1
  exposedField SFVec3f    translation      0 0 0
  exposedField SFRotation rotation         0 0 1 0
  exposedField SFFloat    scanAngle        3.14159
  exposedField SFFloat    scanStep         0.1
  exposedField SFFloat    scanRate         10
  exposedField SFFloat    maxDistance      10
  exposedField MFNode     children         []""",
}
"""The interfaces of the document's prototypes."""

PLACED = "translation IS translation rotation IS rotation"
TURNED = (
    f"{PLACED} center IS center scale IS scale scaleOrientation IS scaleOrientation"
)
NODE_BODIES = {
    "Humanoid": f"""Transform {{
    {TURNED}
    bboxCenter IS bboxCenter bboxSize IS bboxSize
    children [ Group {{ children IS viewpoints }} Group {{ children IS humanoidBody }} ]
  }}""",
    "Joint": f"""Transform {{
    {TURNED}
    children IS children
  }}""",
    "Segment": """Group {
    bboxCenter IS bboxCenter bboxSize IS bboxSize
    addChildren IS addChildren removeChildren IS removeChildren
    children IS children
  }""",
    "ExtraJoint": "",
    "RangeSensor": f"Transform {{ {PLACED} children IS children }}",
}


def prototypes() -> str:
    """Return the declarations of all of them."""
    return "".join(
        f"\nPROTO {name} [{fields}\n]\n{{\n  {NODE_BODIES.get(name, f'Transform {{ {PLACED} }}')}\n}}\n"
        for name, fields in NODE_FIELDS.items()
    )
