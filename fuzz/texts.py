"""Small files written by hand: they use what the project's own writers do not."""

from __future__ import annotations

__all__ = [
    "AMC",
    "ASF",
    "BODY",
    "BVH",
    "CAP",
    "CHA",
    "CNOID",
    "COLLADA",
    "CSV",
    "LOG_PROGRAMS",
    "LOG_SCHEMA",
    "MJCF",
    "OBJ",
    "PSEQ",
    "SEQ",
    "URDF",
    "VRML",
]

SEQ = (
    """\
%YAML 1.1
--- &top
type: CompositeSeq
content: BodyMotion
formatVersion: 2
frameRate: 50
numFrames: 2
components:
  - &c
    type: MultiSE3Seq
    content: LinkPosition
    numParts: 2
    SE3Format: XYZRPY
    frames:
      - [ [ 0, 0, 1, 0, 0, 0 ], [ 0.1, -2e-3, .5, 1, 2, 3 ] ]
      - [ [ 0, 0, 1, 0, 0, 0.5 ], [ 0, 0, 0, 0, 0, 0 ] ]
  - { type: MultiValueSeq, content: JointDisplacement, numParts: 2, partLabels: [ a, "b" ],
      frames: [ [ 0, 1 ], [ 1e-3, -.5 ] ] }
  - type: Vector3Seq
    content: ZMP
    isRootRelative: true
    hasFrameTime: true
    frames: [ [ 0, 1, 2, 3 ], [ 0.5, 1, 2, 3 ] ]
  - *c
""",
    """\
type: BodyMotion
components:
  -
    type: MultiValueSeq
    purpose: JointPosition
    frameRate: 200
    numFrames: 3
    numParts: 1
    frames:
      - [ 1 ]
      - [ nan ]
      - [ 3.25 ]
  -
    type: Vector3Seq
    purpose: RelativeZMP
    frameRate: 200
    numFrames: 1
    frames:
      - [ 1, 2, 3 ]
""",
    """\
{"type": "CompositeSeq", "formatVersion": 4, "frame_rate": 10, "has_frame_time": true, "author": "x", "components": [
{"type": "MultiSE3Seq", "content": "LinkPositionSeq", "num_parts": 1, "se3_format": "XYZQWQXQYQZ",
"frames": [[0.5, [1,2,3,1,0,0,0]], [1, [1,2,3,0,1,0,0]]]},
{"type": "MultiValueSeq", "content": "JointEffort", "num_parts": 1, "part_labels": ["a\\u0041"], "frames": [[0, 1], [0.25, 2]]}]}
""",
)

VRML = (
    """\
#VRML V2.0 utf8
PROTO Joint [
  exposedField SFVec3f center 0 0 0
  exposedField MFNode children []
  exposedField MFFloat llimit []
  exposedField SFRotation limitOrientation 0 0 1 0
  exposedField SFString name ""
  exposedField SFRotation rotation 0 0 1 0
  exposedField SFVec3f translation 0 0 0
  exposedField MFFloat ulimit []
  exposedField SFString jointType ""
  exposedField SFInt32 jointId -1
  exposedField SFVec3f jointAxis 0 0 1
] { Transform { center IS center children IS children rotation IS rotation translation IS translation } }
PROTO Segment [
  field SFVec3f bboxCenter 0 0 0
  exposedField SFVec3f centerOfMass 0 0 0
  exposedField MFNode children [ ]
  exposedField SFFloat mass 0
  exposedField MFFloat momentsOfInertia [ 0 0 0 0 0 0 0 0 0 ]
  exposedField SFString name ""
] { Group { children IS children } }
PROTO Humanoid [
  exposedField MFNode humanoidBody [ ]
  exposedField SFString name ""
  exposedField MFString info [ ]
] { Group { children IS humanoidBody } }
PROTO Gyro [ exposedField SFVec3f translation 0 0 0 exposedField SFInt32 sensorId -1 exposedField SFVec3f maxAngularVelocity -1 -1 -1 ]
{ Transform { translation IS translation } }
PROTO ExtraJoint [ exposedField SFString link1Name "" exposedField SFString link2Name "" exposedField SFVec3f link1LocalPos 0 0 0
  exposedField SFString jointType "xyz" exposedField SFVec3f jointAxis 1 0 0 ] { }
DEF SAMPLE Humanoid {
  name "sample" info [ "a" "b" ]
  humanoidBody [
    DEF WAIST Joint {
      jointType "free" translation 0 0 0.7
      children [
        DEF WAIST_LINK Segment {
          mass 2 momentsOfInertia [ 1 0 0 0 1 0 0 0 1 ] centerOfMass 0 0 0.1
          children [
            DEF G Gyro { sensorId 0 }
            DEF T Transform { rotation 1 0 0 1.57 scale 1 2 3 children [
              DEF S Shape { appearance Appearance { material Material { diffuseColor 1 0.5 0 } texture ImageTexture { url "a.png" } }
                geometry Box { size 0.1 0.2 0.3 } } ] }
          ]
        }
        DEF ARM Joint {
          jointType "rotate" jointId 0 jointAxis 0 1 0 llimit [ -1 ] ulimit [ 1 ] translation 0.1 0 0
          children [
            Segment { mass 1 momentsOfInertia [ 1 0 0 0 1 0 0 0 1 ] children [ USE T Inline { url "part.wrl" } ] }
            DEF HAND Joint { jointType "slide" jointId 1 jointAxis "X" children [ Segment { children USE S } ] }
          ]
        }
      ]
    }
  ]
}
DEF LOOP ExtraJoint { link1Name "WAIST" link2Name "HAND" jointType "z" }
""",
    """\
#VRML V2.0 utf8
Viewpoint { position 0 0 3 }
Switch { whichChoice 0 choice [
  Shape { geometry IndexedFaceSet { coord DEF C Coordinate { point [ 0 0 0, 1 0 0, 0 1 0, 0 0 1 ] }
    coordIndex [ 0 1 2 -1 0 1 2 3 -1 ] normal Normal { vector [ 0 0 1 ] } normalPerVertex FALSE
    color Color { color [ 1 0 0 0 1 0 ] } colorIndex [ 0 1 ] colorPerVertex FALSE
    texCoord TextureCoordinate { point [ 0 0 1 0 0 1 ] } texCoordIndex [ 0 1 2 -1 0 1 2 2 -1 ] creaseAngle 0.5 solid FALSE } } ] }
Shape { geometry IndexedLineSet { coord USE C coordIndex [ 0 1 2 -1 ] } }
Shape { geometry PointSet { coord USE C } }
Shape { geometry Extrusion { crossSection [ 0 0 0 1 1 1 0 0 ] spine [ 0 0 0 0 1 0 0 2 1 ] scale [ 1 1 2 2 ] orientation 0 1 0 0.5 } }
Shape { geometry ElevationGrid { xDimension 2 zDimension 3 height [ 0 1 2 3 4 5 ] xSpacing 0.1 } }
Shape { geometry Cylinder { radius 0.1 height 2 top FALSE } appearance Appearance { texture PixelTexture { image 2 1 3 0xff0000 255 } } }
Shape { geometry Cone { bottomRadius 1 } } Shape { geometry Sphere { radius 10 } }
PROTO P [ field SFNode inner NULL field SFColor c 1 0 0 eventIn SFBool set ] { Group { children IS inner } }
P { inner Group { } } EXTERNPROTO Q [ field SFInt32 a ] [ "part.wrl#Q" ] Q { a 3 }
Script { url "javascript: x" field SFTime t 1.5 eventOut SFBool go directOutput TRUE } ROUTE A.b TO C.d
LOD { level [ Group { } ] range [ 1 2 ] } Billboard { } Collision { children [ ] proxy NULL }
""",
)

ASF = """\
:version 1.10
:units
  length 0.45
  angle deg
:root
  order TX TY TZ RX RY RZ
  axis XYZ
  position 0 1 0
  orientation 0 0 0
:bonedata
  begin
    id 1
    name lfemur
    direction 0.34 -0.94 0
    length 7.5
    axis 0 0 20 XYZ
    dof rx rz # two
    limits (-160.0 20.0)
  end
  begin
    name lfoot
    direction 0 -0.2 1
    length 2
    axis -90 7.6e-016 20 XYZ
  end
:hierarchy
  begin
    root lfemur
    lfemur lfoot
  end
"""

AMC = """\
# clip
:FULLY-SPECIFIED
:DEGREES
1
root 9.4 17.9 -17.3 -2.0 -7.6 -3.2
lfemur 4.0 -13.8
2
root 9.5 17.8 -17.2 -2.1 -7.5 -3.1
lfemur 4.5 -14.1
"""

BVH = """\
HIERARCHY
ROOT Hips
{
	OFFSET 0.0 90.0 0.0
	CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
	JOINT LeftFoot
	{
		OFFSET 10.5 -85.8 0.1
		CHANNELS 3 Yrotation Xrotation Zrotation
		End Site
		{
			OFFSET 0 0 15
		}
	}
	JOINT RightFoot
	{
		OFFSET -10.5 -85.8 0.1
		CHANNELS 4 Xrotation Yrotation Zrotation Yposition
	}
}
MOTION
Frames: 2
Frame Time: 0.033333
193.6 90.2 358.2 9.7 -0.04 8.8 169.4 -5.0 164.9 1 2 3 4
193.5 90.1 358.3 9.6 -0.05 8.9 169.3 -5.1 164.8 .5 +2 3e-2 4
"""

PSEQ = (
    """\
# Body pose sequence format version 1.0 defined by cnoid-Robotics
type: PoseSeq
name: "Walk"
targetBody: "SR1"
refs:
  -
    time: 0
    refer: { type: Pose, name: rest, joints: [ 0, 1 ], q: [ 0.5, -1 ], zmp: [ 0, 0, 0 ] }
  # up
  -
    time: 1.5
    maxTransitionTime: 0.5
    refer:
      type: Pose
      joints: [ 1 ]
      q: [ 0.25 ]
      spJoints: [ 1 ]
      ikLinks:
        -
          name: WAIST
          index: 0
          isBaseLink: true
          translation: [ 0, 0, 0.7 ]
          rotation: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ]
        - { index: 3, isTouching: true, translation: [ 0, 0, 0 ], rotation: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ],
            partingDirection: [ 0, 0, 1 ], contactPoints: [ [ 0, 0, 0 ] ] }
      zmp: [ 0.1, 0, 0 ]
      isZmpStationaryPoint: false
  - { time: 2, refer: { type: PronunSymbol, name: a } }
  - { time: 3, refer: rest }
""",
)
BODY = """\
format: ChoreonoidBody
formatVersion: 1.0
angleUnit: degree
name: Sample
rootLink: BASE
LOOK: &look { material: { diffuseColor: [ 1, 0.5, 0 ], shininess: 0.2 }, texture: { url: "a.png", repeatS: true } }
links:
  -
    name: BASE
    jointType: free
    mass: 2.5
    inertia: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ]
    elements:
      - &part
        type: Transform
        translation: [ 0, 0, 0.1 ]
        rotation: [ [ 0, 0, 1, 90 ], [ 1, 0, 0, 45 ] ]
        elements:
          Shape: { geometry: { type: Capsule, radius: 0.1, height: 0.2 }, appearance: *look }
      - { type: Shape, geometry: { type: Extrusion, crossSection: [ 0, 0, 0, 1, 1, 0, 0, 0 ], spine: [ 0, 0, 0, 0, 1, 0 ] } }
      - { type: Shape, geometry: { type: IndexedFaceSet, coordinate: [ 0, 0, 0, 1, 0, 0, 0, 1, 0 ], coordIndex: [ 0, 1, 2, -1 ] } }
      - { type: Camera, name: EYE, id: 0, fieldOfView: 60, width: 64, height: 48 }
  -
    name: ARM
    parent: BASE
    jointType: revolute
    jointAxis: -Y
    jointId: 0
    jointRange: [ -90, unlimited ]
    <<: &more { gearRatio: 100, rotorInertia: 1e-5 }
    elements:
      - *part
      - { type: RigidBody, mass: 1, inertia: [ 1, 0, 0, 1, 0, 1 ], elements: { RangeSensor: { yawRange: 180, yawStep: 10 } } }
      - { type: Resource, uri: "part.wrl", node: PART }
      - { type: Resource, uri: "mesh.stl" }
  - { type: ContinuousTrack, name: TRACK, parent: BASE, numJoints: 4, jointAxis: Y, jointOffset: [ 0.1, 0, 0 ] }
  - { type: SubBody, uri: "other.body", parent: ARM, prefix: X_, jointIdOffset: 3, translation: [ 1, 0, 0 ] }
extraJoints:
  - { link1Name: BASE, link2Name: ARM, jointType: hinge, jointAxis: Z, link1LocalPos: [ 0, 0, 1 ], link2LocalPos: [ 0, 1, 0 ] }
"""

URDF = """\
<?xml version="1.0"?>
<robot name="r">
  <material name="red"><color rgba="1 0 0 1"/><texture filename="a.png"/></material>
  <link name="base">
    <inertial><origin xyz="0 0 0.1" rpy="0 0 0"/><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <visual><origin rpy="0.1 0 0"/><geometry><mesh filename="package://r/mesh.obj" scale="1 1 2"/></geometry><material name="red"/></visual>
    <collision><geometry><box size="1 2 3"/></geometry></collision>
    <visual><geometry><cylinder radius="1" length="2"/></geometry></visual>
    <visual><geometry><sphere radius="1"/></geometry></visual>
  </link>
  <link name="arm"/><link name="hand"/>
  <joint name="a" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/><origin xyz="1 0 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="3"/><dynamics damping="0.1" friction="0.2"/></joint>
  <joint name="b" type="prismatic"><parent link="arm"/><child link="hand"/><axis xyz="1 0 0"/><limit upper="1" effort="1" velocity="1"/>
    <mimic joint="a" multiplier="2" offset="0.1"/></joint>
  <transmission name="t"><type>transmission_interface/SimpleTransmission</type><joint name="a"/><actuator name="m">
    <mechanicalReduction>50</mechanicalReduction></actuator></transmission>
  <gazebo reference="arm"><sensor name="s" type="camera"><pose>1 2 3 0 0 0</pose><update_rate>10</update_rate><camera>
    <horizontal_fov>1</horizontal_fov><image><width>64</width><height>48</height></image><clip><near>0.1</near><far>9</far></clip></camera>
  </sensor></gazebo>
</robot>
"""

MJCF = (
    """\
<mujoco model="m"><compiler angle="radian" meshdir="." eulerseq="XYz" autolimits="true"/>
<default><joint axis="0 1 0" armature="0.01"/><geom density="500"/><default class="arm"><joint range="-1 2"/>
<geom type="capsule" size="0.05 0.2" euler="0.1 0 0"/></default></default>
<asset><mesh name="wedge" vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 2 1 0 1 3 0 3 2 1 2 3" scale="0.5 0.5 2" refpos="0.1 0.2 0"/>
<mesh file="mesh.stl"/><mesh name="o" file="mesh.obj"/><texture name="t" type="2d" file="a.png"/><texture name="sky" builtin="checker"
width="8" height="8"/><material name="red" rgba="1 0 0 1" texture="t"/></asset>
<worldbody><light pos="0 0 3"/><geom type="plane" size="1 1 0.1"/><body name="a" childclass="arm" pos="0 0 1"><freejoint/>
<inertial pos="0.1 0 0.2" mass="2" diaginertia="0.1 0.2 0.25"/><geom/><geom type="mesh" mesh="wedge" mass="3"/>
<site name="s" pos="0 0 0.1"/><camera name="eye" fovy="60"/>
<frame pos="1 0 0" euler="0 0 0.5"><body name="b" pos="0 0 0.4" axisangle="1 0 0 0.5"><joint name="j" range="-1 1" ref="0.1"/>
<geom class="main" size="0.1" material="red"/><body name="c" xyaxes="1 0 0 0 1 0"><joint name="k" type="slide"/>
<joint name="l" type="ball"/><geom type="ellipsoid" fromto="0 0 0 1 0 0" size="0.1"/><geom type="mesh" mesh="mesh"/></body></body></frame>
</body></worldbody>
<equality><connect body1="a" body2="c" anchor="0 0 1"/><weld body1="b" body2="c"/><joint joint1="j" joint2="k"/></equality>
<actuator><motor name="m" joint="j" gear="50" ctrlrange="-1 1"/><position joint="k" kp="10"/></actuator>
<sensor><gyro name="g" site="s"/><accelerometer site="s"/><force site="s"/><rangefinder site="s"/></sensor></mujoco>
""",
)

CHA = (
    """\
# A wave
controls legs body gripper
bpm 96
extendable
description A wave to the beat.
display_rgb 150 90 200

speed 0.5 1 2
body_tracking_stiffness 1 5 11

time contact body_pos body_quat_wxyz foot_pos gripper
0 1 1 1 1 0 0 0.47 1 0 0 0 0.3 0.16 0 0.3 -0.16 0 -0.3 0.16 0 -0.3 -0.16 0 0
0.5 1 0 1 1 0 0.1 0.46 1 0.1 0 0 0.3 0.16 0 0.3 -0.16 0.1 -0.3 0.16 0 -0.3 -0.16 0 -1.5
1 1 1 1 1 0 0 0.47 1 0 0 0 0.3 0.16 0 0.3 -0.16 0 -0.3 0.16 0 -0.3 -0.16 0 0
""",
    """\
controls arm
truncatable
arm_playback workspace
frequency 5

no parameters

hand_pos hand_quat_wxyz
0.5 0 0.3 1 0 0 0
0.5 0.1 0.3 1 0 0 0
""",
)

CAP = (
    """\
# a message
name: "wave" bpm: 96 controls_legs: true controls_body: true truncatable: true description: "a\\n'b'\\303\\251"
arm_playback: ARM_PLAYBACK_WORKSPACE
minimum_parameters { speed { value: 0.5 } } default_parameters: { speed: < value: 1 >; } maximum_parameters { speed { value: 2e0 } }
animation_keyframes { time: 0 legs { fl { foot_pos { x { value: .3 } y { value: 0.16 } z { } } stance { value: true } } }
  body { body_pos { z { value: 0.47 } } quaternion { w: 1 } } }
animation_keyframes { time: 1.5 legs { fl { stance { value: false } } } body { quaternion { w: 1 x: -0.1 } } }
""",
    """\
name: "arm" controls_arm: true controls_gripper: true
animation_keyframes { time: 0 gripper { gripper_angle { value: -1 } } arm { joint_angles { shoulder_0 { value: 1 } } } }
animation_keyframes { time: 1 gripper { gripper_angle { value: 0 } } arm { joint_angles { shoulder_0 { value: 2 } } } }
""",
)

STATES = (
    "key_frames { timestamp { seconds: 3 nanos: 500000000 } joint_angles { fl { hip_x: 0.1 hip_y: 0.5 knee: -1 } fr { knee: -1 }"
    " hl { knee: -1 } hr { knee: -1 } gripper_angle { value: 0 } arm { shoulder_0 { value: 1 } } }"
    " foot_contact_state { fl_contact: true } animation_tform_body { position { z: 0.5 } rotation { w: 1 } } }\n"
    "key_frames { timestamp { seconds: 4 } joint_angles { fl { hip_x: 0.2 } fr { knee: -1 } hl { knee: -1 } hr { knee: -1 } }"
    " foot_contact_state { fr_contact: true } animation_tform_body { position { z: 0.4 } rotation { w: 0.5 x: 0.5 } } }\n"
)

CSV = (
    "time,A,B,root_x,root_y,root_z,root_qw,root_qx,root_qy,root_qz,zmp_x,zmp_y,zmp_z\n"
    "0,0.1,0.2,0,0,0.7,1,0,0,0,0,0,0\n0.01,0.1,0.2,0,0,0.7,1,0,0,0,0,0,0\n0.02,.1,2e-1,0,0,0.7,1,0,0,0,0,0,0\n",
    "time;A;B\n0;0.5;1\n0.5;0.25;2\n",
    "t B C\n4 5 6\n7 8 nan\n",
)

OBJ = """\
# a mesh
mtllib look.mtl
o part
v 0 0 0
v 1 0 0 0.5 0.5 1
v 0 1 0
v 0 0 1
vt 0 0
vt 1 0.5
vn 0 0 1
g one
usemtl red
s 1
f 1/1/1 2/2/1 3/1/1
f 1//1 2//1 3//1 4//1
f -1 -2 -3
l 1 2
f 1 \\
 2 3
"""

PLY = """\
ply
format ascii 1.0
element vertex 4
property float x
property float y
property float z
property uchar red
element face 2
property list uchar int vertex_indices
end_header
0 0 0 255
1 0 0 0
0 1 0 0
0 0 1 0
3 0 1 2
3 0 2 3
"""

STL = """\
solid part
facet normal 0 0 1
outer loop
vertex 0 0 0
vertex 1 0 0
vertex 0 1 0
endloop
endfacet
endsolid part
"""

COLLADA = """\
<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="inch" meter="0.0254"/><up_axis>Z_UP</up_axis></asset>
<library_images><image id="i"><init_from>a.png</init_from></image></library_images>
<library_effects><effect id="e"><profile_COMMON><newparam sid="s"><surface type="2D"><init_from>i</init_from></surface></newparam>
<newparam sid="p"><sampler2D><source>s</source></sampler2D></newparam><technique sid="c"><phong>
<diffuse><texture texture="p" texcoord="UV"/></diffuse><specular><color>1 1 1 1</color></specular><transparency><float>0.5</float>
</transparency></phong></technique></profile_COMMON></effect></library_effects>
<library_materials><material id="m"><instance_effect url="#e"/></material></library_materials>
<library_geometries><geometry id="g"><mesh>
<source id="pos"><float_array id="pa" count="12">0 0 0 1 0 0 0 1 0 0 0 1</float_array><technique_common>
<accessor source="#pa" count="4" stride="3"><param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/>
</accessor></technique_common></source>
<source id="uv"><float_array id="ua" count="4">0 0 1 1</float_array><technique_common><accessor source="#ua" count="2" stride="2"/>
</technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#pos"/></vertices>
<triangles count="1" material="look"><input semantic="VERTEX" source="#v" offset="0"/>
<input semantic="TEXCOORD" source="#uv" offset="1" set="0"/><p>0 0 1 1 2 0</p></triangles>
<polylist count="1"><input semantic="VERTEX" source="#v" offset="0"/><vcount>4</vcount><p>0 1 2 3</p></polylist>
<polygons count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2 3</p></polygons>
</mesh></geometry></library_geometries>
<library_controllers><controller id="k"><skin source="#g"/></controller></library_controllers>
<library_nodes><node id="n"><translate>1 0 0</translate></node></library_nodes>
<library_visual_scenes><visual_scene id="s"><node id="a"><rotate>0 0 1 90</rotate><scale>1 2 3</scale>
<matrix>1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1</matrix><instance_node url="#n"/><instance_geometry url="#g"><bind_material><technique_common>
<instance_material symbol="look" target="#m"/></technique_common></bind_material></instance_geometry>
<node><instance_controller url="#k"/></node></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>
"""

GLTF = """\
{"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0, "translation": [1, 0, 0], "children": [1]},
{"matrix": [1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1]}], "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "mode": 4,
"material": 0}]}], "materials": [{"pbrMetallicRoughness": {"baseColorFactor": [1, 0, 0, 1], "baseColorTexture": {"index": 0}}}],
"textures": [{"source": 0}], "images": [{"uri": "a.png"}],
"accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "max": [1, 1, 0], "min": [0, 0, 0]},
{"bufferView": 1, "componentType": 5123, "count": 3, "type": "SCALAR"}], "bufferViews": [{"buffer": 0, "byteOffset": 0, "byteLength": 36},
{"buffer": 0, "byteOffset": 36, "byteLength": 6}], "buffers": [{"byteLength": 42, "uri":
"data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAAAAABAAIA"}]}
"""

LOG_SCHEMA = """\
CREATE TABLE schema(schema_version INTEGER PRIMARY KEY,ros_distro TEXT NOT NULL);
CREATE TABLE metadata(id INTEGER PRIMARY KEY,metadata_version INTEGER NOT NULL,metadata TEXT NOT NULL);
CREATE TABLE topics(id INTEGER PRIMARY KEY,name TEXT NOT NULL,type TEXT NOT NULL,serialization_format TEXT NOT NULL,
offered_qos_profiles TEXT NOT NULL,type_description_hash TEXT NOT NULL);
CREATE TABLE message_definitions(id INTEGER PRIMARY KEY,topic_type TEXT NOT NULL,encoding TEXT NOT NULL,
encoded_message_definition TEXT NOT NULL,type_description_hash TEXT NOT NULL);
CREATE TABLE messages(id INTEGER PRIMARY KEY,topic_id INTEGER NOT NULL,timestamp INTEGER NOT NULL,data BLOB NOT NULL);
CREATE INDEX timestamp_idx ON messages (timestamp ASC);
INSERT INTO schema(schema_version, ros_distro) VALUES (4, 'jazzy')"""

LOG_PROGRAMS = (
    "CREATE VIEW later AS SELECT * FROM messages WHERE timestamp > 0",
    "CREATE TRIGGER added AFTER INSERT ON messages BEGIN DELETE FROM metadata; END",
    "CREATE TABLE made(a INTEGER, b AS (a * 2) STORED, c TEXT DEFAULT (hex(zeroblob(9))), CHECK (a > 0))",
    "CREATE TABLE pairs(a TEXT PRIMARY KEY COLLATE NOCASE, b BLOB) WITHOUT ROWID",
    "CREATE INDEX part ON messages (length(data)) WHERE topic_id > 0",
    "PRAGMA writable_schema=ON",
    "UPDATE sqlite_master SET rootpage = 2 WHERE name = 'metadata'",
    "ALTER TABLE metadata ADD COLUMN size INTEGER GENERATED ALWAYS AS (length(metadata)) VIRTUAL",
)

CNOID = (
    """\
items:
  id: 0
  name: "Root"
  plugin: Base
  class: RootItem
  children:
    -
      id: 1
      name: "World"
      plugin: Body
      class: WorldItem
      data:
        collisionDetection: false
        collisionDetector: AISTCollisionDetector
      children:
        -
          id: 2
          name: "sample"
          plugin: Body
          class: BodyItem
          data:
            modelFile: "${PROJECT_DIR}/robot.wrl"
            currentBaseLink: "WAIST"
            rootPosition: [ 0, 0, 0.7 ]
            rootAttitude: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ]
            jointPositions: [ 0.1, 0.2 ]
            initialRootPosition: [ 0, 0, 0.7 ]
            initialRootAttitude: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ]
            initialJointPositions: [ 0.1, -2e-1 ]
            zmp: [ 0, 0, 0 ]
            collisionDetection: true
            staticModel: false
          children:
            -
              id: 3
              name: "walk"
              plugin: Body
              class: BodyMotionItem
              data:
                filename: "walk.seq"
                format: "BODY-MOTION-YAML"
            - { id: 4, class: PoseSeqItem, name: steps, data: { filename: "steps.pseq", targetBody: sample } }
        - &floor
          id: 5
          name: "Floor"
          class: BodyItem
          data: { file: "other.body", root_translation: [ 1, 2, 0 ], root_rotation: [ 0, 0, 1, 90 ], fix_root: true }
        - *floor
        -
          id: 6
          name: "AISTSimulator"
          plugin: Body
          class: AISTSimulatorItem
          data:
            realtimeSync: true
            timeRangeMode: Specified time
            timeLength: 5
            timeStep: 0.002
            allLinkPositionOutputMode: false
            gravity: [ 0, 0, -9.80665 ]
views:
  -
    id: 0
    plugin: Base
    class: ItemTreeView
    mounted: true
    state:
      selected: [ 2 ]
      checked: [ 2, 5 ]
toolbars:
  "TimeBar": { minTime: 0, maxTime: 30, frameRate: 1000 }
""",
    """\
items: { class: RootItem, children: [ { class: BodyItem, name: a,
  data: &d { file: "${SHARE}/robot.wrl", joint_displacements: [ 90, 0 ] } },
  { class: FolderItem, children: [ { class: BodyItem, name: b,
  data: { <<: *d, file: robot.wrl, initial_root_translation: [ 1, .5, 0 ] } } ] },
  { class: SimpleControllerItem, name: c }, { class: SubSimulatorItem, data: { time_step: 1e-3, time_length: 2 } } ] }
""",
)
