"""Choreonoid's own models (.body).

YAML, the successor of OpenHRP's .wrl, of the versions 1.0 and 2.0.

The shape of a file, in the spelling of version 2.0::

    format: ChoreonoidBody
    format_version: 2.0
    name: Arm
    root_link: BASE
    links:
      -
        name: BASE
        joint_type: fixed
        elements:
          -
            type: Shape
            geometry: { type: Box, size: [ 0.2, 0.2, 0.1 ] }
            appearance: { material: { diffuse: [ 0.5, 0.5, 0.5 ] } }
      -
        name: UPPER
        parent: BASE
        translation: [ 0, 0, 0.1 ]
        rotation: [ 0, 0, 1, 90 ]
        joint_type: revolute
        joint_id: 0
        joint_axis: -Y
        joint_range: [ -90, 90 ]
        mass: 1.2
        center_of_mass: [ 0, 0, 0.1 ]
        inertia: [ 0.01, 0, 0, 0, 0.01, 0, 0, 0, 0.01 ]
        elements:
          RigidBody:
            translation: [ 0, 0, 0.2 ]
            mass: 0.1
            inertia: [ 1e-4, 0, 0, 0, 1e-4, 0, 0, 0, 1e-4 ]
            elements:
              Camera: { name: EYE, id: 0, format: COLOR, field_of_view: 60 }
    extra_joints:
      -
        joint_type: hinge
        link1_name: UPPER
        link2_name: BASE
        link1_local_pos: [ 0, 0, 0.2 ]
        link2_local_pos: [ 0, 0.3, 0 ]
        joint_axis: [ 0, 1, 0 ]

Version 1.0 writes jointType for joint_type, and so on; both spellings are read in every
version. Angles are degrees, unless a file of version 1.0 has `angleUnit: radian`. All
other keys of the top level, of links and of devices are kept in `extra`.

    file        header, links: [ link … ], extra_joints: [ … ], anything else
    link        a Link; a SubBody (`uri`: a .body file whose links become links of this
                body, `prefix`, `suffix`, `joint_id_offset`, and any key of a Link,
                which then changes its root link); a
                ContinuousTrack (a chain of equal links); Skip
    elements    [ element … ] | element | { TYPE: element, … }
    element     Transform, Group, Visual (only shown), Collision (only for contact),
                RigidBody: with `elements` inside
                Shape: `geometry`, `appearance`; Resource: `uri` of a .wrl, a mesh or a
                YAML file with elements, `node` of it devices: AccelerationSensor,
                RateGyroSensor, ForceSensor, Camera, RangeSensor, IMU, SpotLight … any
                of them with `translation`, `rotation` (axis and angle), `scale`; a list
                of these adds up

`fields` returns angles and poses, `formats.yaml.fields` all other values of keys;
`links` (with joints, masses and extra joints),
`elements`, `geometry`, `devices` and `resources` read one kind of node each; `reader`
joins the links of all files to a Body.
"""

from bodymotion.formats.choreonoid_body.reader import parse_body, read_body

__all__ = ["parse_body", "read_body"]
