"""What is fuzzed: a target for each format, with seeds made in memory and the words of its language."""

from __future__ import annotations

import io
import pickle
import sqlite3
import struct
import tempfile
import zlib
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import bodymotion as bm
from bodymotion.formats.registry import FORMATS
from fuzz import texts
from fuzz.other_targets import OTHER_TARGETS
from fuzz.target import Target, split

if TYPE_CHECKING:
    import pyarrow

__all__ = ["TARGETS", "Target"]


def _saved(thing: object, name: str, **options: object) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        bm.save(thing, path, **options)
        return path.read_bytes()


def _loaded(data: bytes, name: str) -> object:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        return bm.load(path)


@cache
def _motion() -> bm.Motion:
    turn = np.array([0.5, 0.25, 0.7, 1, 0, 0, 0])
    return bm.Motion.from_joints(
        np.arange(6.0).reshape(3, 2) / 7,
        100,
        root=turn,
        zmp=np.zeros((3, 3)),
        joint_names=("a", "b"),
    )


@cache
def _body() -> object:
    return _loaded(texts.VRML[0].encode(), "robot.wrl")


@cache
def _animations() -> tuple[object, ...]:
    return tuple(_loaded(text.encode(), "move.cha") for text in texts.CHA)


def _saved_motion(name: str) -> tuple[bytes, ...]:
    return (_saved(_motion(), name),)


def _encoded(*lines: str) -> tuple[bytes, ...]:
    return tuple(text.encode() for text in lines)


def _pkl() -> tuple[bytes, ...]:
    rows = {
        "root_pos": np.ones((3, 3)),
        "root_rot": np.eye(4)[[3] * 3],
        "dof_pos": np.ones((3, 2), np.float32),
    }
    return tuple(
        pickle.dumps({"fps": 30.0, **rows, "joint_names": ["a", "b"]}, protocol)
        for protocol in (2, 4)
    )


def _mcap() -> tuple[bytes, ...]:
    return tuple(
        _saved(_motion(), "a.mcap", encoding=encoding) for encoding in ("cdr", "json")
    )


def _rosbag() -> tuple[bytes, ...]:
    from mcap.reader import make_reader

    rows = [*make_reader(io.BytesIO(_mcap()[0])).iter_messages()]
    topics = {
        channel.id: (channel.id, channel.topic, schema.name, "cdr")
        for schema, channel, _ in rows
    }
    with closing(sqlite3.connect(":memory:")) as bag:
        bag.execute(
            "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT, serialization_format TEXT)"
        )
        bag.execute(
            "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data BLOB)"
        )
        bag.executemany("INSERT INTO topics VALUES (?, ?, ?, ?)", topics.values())
        messages = [
            (channel.id, message.log_time, message.data) for _, channel, message in rows
        ]
        bag.executemany(
            "INSERT INTO messages(topic_id, timestamp, data) VALUES (?, ?, ?)", messages
        )
        return (bag.serialize(),)


def _amass() -> tuple[bytes, ...]:
    stream = io.BytesIO()
    np.savez(
        stream,
        trans=np.ones((2, 3)),
        poses=np.ones((2, 66), np.float32),
        mocap_framerate=60.0,
        betas=np.zeros(4),
    )
    return (stream.getvalue(),)


def _amc() -> tuple[bytes, ...]:
    return _encoded(texts.AMC)


def _asf() -> dict[str, bytes]:
    return {"a.asf": texts.ASF.encode()}


@cache
def _seq() -> tuple[bytes, ...]:
    return (
        *_encoded(*texts.SEQ[:2]),
        _saved(_motion(), "a.seq"),
        _saved(_motion(), "a.seq", version=1),
    )


@cache
def _json() -> tuple[bytes, ...]:
    return (texts.SEQ[2].encode(), _saved(_motion(), "a.json"))


@cache
def _wrl() -> tuple[bytes, ...]:
    return (*_encoded(*texts.VRML), _saved(_body(), "a.wrl"))


@cache
def _urdf() -> tuple[bytes, ...]:
    return (texts.URDF.encode(), _saved(_body(), "a.urdf"))


@cache
def _mjcf() -> tuple[bytes, ...]:
    return (*_encoded(*texts.MJCF), _saved(_body(), "a.xml"))


@cache
def _cha() -> tuple[bytes, ...]:
    return (
        *_encoded(*texts.CHA),
        *(_saved(animation, "a.cha") for animation in _animations()),
    )


@cache
def _cap() -> tuple[bytes, ...]:
    return (
        *_encoded(*texts.CAP),
        *(_saved(animation, "a.cap") for animation in _animations()),
    )


@cache
def _pb() -> tuple[bytes, ...]:
    return tuple(_saved(_loaded(data, "a.cap"), "a.pb") for data in _cap())


@cache
def _dances() -> tuple[object, ...]:
    dance = bm.Choreography(name="a", slices_per_minute=400.0).add(
        "sway", 0, 8, {"vertical": 0.05, "pivot": "PIVOT_FRONT"}
    )
    dance = dance.add(
        "set_color", 0, 8, {"left_color.red": 255.0, "right_same_as_left": True}
    ).add("sit", 8, 8)
    return dance, replace(
        dance, editor={"music_file": "a.mp3", "music_start_slice": 4.0}
    )


def _dance_texts() -> tuple[bytes, ...]:
    return _saved(_dances()[0], "a.csq"), _saved(_dances()[1], "a.chr")


@cache
def _states() -> tuple[bytes, ...]:
    def wire(number: int, value: bytes | int | float | bool) -> bytes:
        if isinstance(value, bytes):
            size = (
                bytes([len(value)])
                if len(value) < 128
                else bytes([len(value) & 127 | 128, len(value) >> 7])
            )
            return bytes([number << 3 | 2]) + size + value
        if isinstance(value, float):
            return bytes([number << 3 | 1]) + struct.pack("<d", value)
        return bytes([number << 3, int(value)])

    legs = b"".join(
        wire(n, wire(1, 0.1) + wire(2, 0.5) + wire(3, -1.0)) for n in range(1, 5)
    )
    pose = wire(1, wire(3, 0.5)) + wire(2, wire(4, 1.0))
    frames = b""
    for second in (3, 4, 5):
        stamp = wire(1, second) + wire(2, 100)
        frames += wire(
            1,
            wire(1, legs)
            + wire(2, pose)
            + wire(3, stamp)
            + wire(4, wire(1, 1) + wire(2, 0)),
        )
    return (texts.STATES.encode(), frames)


@cache
def _csv() -> tuple[bytes, ...]:
    return (*_encoded(*texts.CSV), _saved(_motion(), "a.csv"))


def _table() -> pyarrow.Table:
    import pyarrow

    columns = {
        "time": [0.0, 0.1],
        "HIP": [0.1, 0.2],
        "on": [True, False],
        "label": ["a", "b"],
        "list": [[1], [2, 3]],
    }
    return pyarrow.table(columns, metadata={"pandas": '{"index_columns": ["time"]}'})


@cache
def _parquet() -> tuple[bytes, ...]:
    from pyarrow import parquet

    stream = io.BytesIO()
    parquet.write_table(_table(), stream, compression="zstd")
    return (stream.getvalue(), _saved(_motion(), "a.parquet"))


@cache
def _arrow() -> tuple[bytes, ...]:
    from pyarrow import ipc

    plain, packed = io.BytesIO(), io.BytesIO()
    for stream, start, options in (
        (plain, ipc.new_stream, None),
        (packed, ipc.new_file, ipc.IpcWriteOptions(compression="zstd")),
    ):
        with start(stream, _table().schema, options=options) as writer:
            writer.write_table(_table())
    return (plain.getvalue(), packed.getvalue(), _saved(_motion(), "a.arrow"))


@cache
def _npz() -> tuple[bytes, ...]:
    plain, packed = io.BytesIO(), io.BytesIO()
    np.savez(
        plain,
        fps=np.array([50]),
        joint_pos=np.zeros((3, 2), np.float32),
        joint_vel=np.zeros((3, 2), np.float32),
        body_pos_w=np.zeros((3, 1, 3), np.float32),
        body_quat_w=np.tile(np.float32([1, 0, 0, 0]), (3, 1, 1)),
        joint_names=np.array(["a", "b"]),
    )
    np.savez_compressed(
        packed,
        joint_displacement=np.ones((3, 2)),
        times=np.array([0.0, 0.5, 1.0]),
        frame_rate=np.array(10.0),
    )
    return (plain.getvalue(), packed.getvalue(), _saved(_motion(), "a.npz"))


@cache
def _stl() -> tuple[bytes, ...]:
    triangle = struct.pack("<12fH", 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0)
    return (texts.STL.encode(), bytes(80) + struct.pack("<I", 2) + triangle * 2)


@cache
def _glb() -> tuple[bytes, ...]:
    import trimesh

    return (bytes(trimesh.creation.box().export(file_type="glb")),)


def _png(width: int = 1, height: int = 1) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data))
            + kind
            + data
            + struct.pack(">I", zlib.crc32(kind + data))
        )

    rows = zlib.compress(b"".join(b"\0" + b"\x80" * 3 * width for _ in range(height)))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", rows)
        + chunk(b"IEND", b"")
    )


@cache
def _beside() -> dict[str, bytes]:
    part = "#VRML V2.0 utf8\nPROTO Q [ field SFInt32 a 1 ] { Group { } }\nDEF PART Shape { geometry Box { } }\n"
    other = "format: ChoreonoidBody\nformatVersion: 1.0\nname: Other\nrootLink: O\nlinks:\n  - { name: O, jointType: fixed, mass: 1 }\n"
    return {
        "part.wrl": part.encode(),
        "other.body": other.encode(),
        "a.png": _png(),
        "mesh.stl": texts.STL.encode(),
        "mesh.obj": texts.OBJ.encode(),
        "look.mtl": b"newmtl red\nKd 1 0 0\nmap_Kd a.png\n",
    }


def _shown_by_urdf(name: str) -> Callable[[], dict[str, bytes]]:
    def beside() -> dict[str, bytes]:
        shows = f'<{{0}}><geometry><mesh filename="{name}"/></geometry></{{0}}>'
        text = f'<robot name="r"><link name="a">{shows.format("visual")}{shows.format("collision")}</link></robot>'
        return {**_beside(), "robot.urdf": text.encode()}

    return beside


_XML = split(
    '< > /> = " <!-- --> <![CDATA[ ]]> &amp; &#0; &x; <!DOCTYPE <!ENTITY <?xml xmlns'
)
_YAML = split(
    "- : ? [ ] { } , &a *a << | > ! !!float !!python/object --- ... %YAML # ~ ' \" .nan .inf 0x1F 1_0 1:30"
)
_SEQ_WORDS = split(
    "type content purpose formatVersion frameRate frame_rate numFrames num_frames numParts num_parts",
    "components frames SE3Format hasFrameTime has_frame_time isRootRelative partLabels part_labels",
    "CompositeSeq BodyMotion MultiValueSeq MultiSE3Seq Vector3Seq MultiSe3Seq MultiAffine3Seq",
    "LinkPosition JointDisplacement JointPosition ZMP ZMPSeq RelativeZMP XYZQWQXQYQZ XYZQXQYQZQW XYZRPY",
    "true",
)
_WORDS_OF_VRML = split(
    "#VRML V2.0 utf8 PROTO EXTERNPROTO DEF USE IS NULL TRUE FALSE ROUTE TO field exposedField eventIn",
    "eventOut SFNode MFNode SFFloat MFFloat SFInt32 MFInt32 SFVec3f MFVec3f SFRotation SFString MFString",
    "SFColor SFImage SFBool SFTime SFVec2f Group Transform Shape Appearance Material Box Sphere Cylinder",
    "Cone IndexedFaceSet IndexedLineSet PointSet Extrusion ElevationGrid Coordinate Normal Color Switch",
    "LOD Inline ImageTexture PixelTexture TextureTransform Humanoid Joint Segment jointType jointId",
    "jointAxis humanoidBody children geometry coord coordIndex point url mass momentsOfInertia",
    "centerOfMass translation rotation scale scaleOrientation center whichChoice choice",
    "AccelerationSensor Gyro ForceSensor VisionSensor RangeSensor ExtraJoint Viewpoint crawler free slide",
    "rotate fixed { } [ ] -1",
)
_WORDS_OF_PSEQ = split(
    "type PoseSeq name targetBody refs time maxTransitionTime refer Pose PronunSymbol joints q spJoints ikLinks index translation rotation"
    " isBaseLink isStationaryPoint isTouching isSlave partingDirection contactPoints zmp isZmpStationaryPoint"
)
_WORDS_OF_BODY = split(
    "format formatVersion ChoreonoidBody angleUnit degree radian name rootLink links parent jointType",
    "jointId jointAxis jointRange revolute prismatic free fixed mass inertia centerOfMass elements type",
    "Transform RigidBody Shape Resource SubBody ContinuousTrack Camera Skip geometry Box size Sphere",
    "Cylinder Capsule Cone Extrusion IndexedFaceSet ElevationGrid coordinate coordIndex appearance",
    "material uri node translation rotation scale extraJoints link1Name link2Name import unlimited",
    "numJoints prefix",
)
_WORDS_OF_URDF = split(
    "robot link joint name type revolute continuous prismatic fixed floating planar parent child origin",
    "xyz rpy axis limit lower upper effort velocity mimic dynamics inertial mass inertia ixx visual",
    "collision geometry mesh filename scale box sphere cylinder radius length size material color rgba",
    "texture transmission gazebo sensor pose camera bodymotion package:// file:///etc/passwd",
    "http://localhost/x ../x",
)
_WORDS_OF_MJCF = split(
    "mujoco compiler angle degree coordinate eulerseq meshdir texturedir autolimits inertiafromgeom",
    "option default class childclass asset mesh texture material hfield include file worldbody body joint",
    "freejoint geom site camera light inertial pos quat euler axisangle xyaxes zaxis size type sphere",
    "capsule ellipsoid cylinder box plane fromto mass density range ref armature equality connect weld",
    "actuator motor sensor gyro fitscale builtin frame attach replicate count offset composite flexcomp",
    "custom text numeric exclude tendon keyframe",
)
_WORDS_OF_CHA = split(
    "controls legs body arm gripper bpm frequency time foot_pos leg_joints contact body_pos",
    "body_quat_wxyz body_euler_rpy_angles com_pos hand_pos hand_quat_wxyz arm_joints extendable",
    "truncatable neutral_start precise_steps precise_timing timing_adjustability arm_playback workspace",
    "jointspace minimum_hip_height description custom_icon display_rgb arm_required no_looping speed",
    "retime_to_integer_slices nan",
)
_WORDS_OF_CAP = split(
    "name animation_keyframes time gripper gripper_angle value arm joint_angles shoulder_0 hand_pose",
    "position quaternion euler_angles body body_pos com_pos legs fl fr hl hr foot_pos stance controls_arm",
    "controls_legs bpm arm_playback ARM_PLAYBACK_WORKSPACE minimum_parameters default_parameters speed",
    "key_frames timestamp seconds nanos foot_contact_state fl_contact animation_tform_body rotation { } <",
    "> : ; [ ]",
)
_WORDS_OF_BVH = split(
    "HIERARCHY ROOT JOINT End Site { } OFFSET CHANNELS 0 3 6 Xposition Yposition Zposition Xrotation",
    "Yrotation Zrotation MOTION Frames: Frame Time: 0.008333 -0 1e-9 nan 1e999",
)
_WORDS_OF_ACCLAIM = split(
    ":units :root :bonedata :hierarchy :DEGREES :RADIANS begin end name id direction length axis XYZ ZYX dof rx ry rz",
    "tx l order TX RX root lfemur lfoot limits ( ) position orientation angle rad 0 1 2 3 -1 1e-9 nan 1e999",
)
_WORDS_OF_COLLADA = split(
    "COLLADA library_geometries geometry mesh source float_array accessor count stride offset param",
    "vertices input semantic POSITION VERTEX NORMAL TEXCOORD triangles polylist polygons trifans",
    "tristrips lines vcount p ph h instance_geometry instance_node url node matrix lookat visual_scene",
    "unit meter up_axis Y_UP X_UP skew instance_controller skin",
)
_WORDS_OF_TABLES = split(
    "time frame rate root_x root_qw root_roll zmp_x , ; # nan inf 1e999 -0 joint[0] fps x y z qx qy qz qw"
)
_WORDS_OF_GLTF = split(
    'glTF JSON "asset" "version" "scenes" "nodes" "children" "meshes" "primitives" "attributes" "POSITION" "indices" "mode" "accessors"',
    '"bufferView" "byteOffset" "byteLength" "componentType" "count" "type" "VEC3" "SCALAR" "buffers" "uri" "sparse" "extensions" "matrix"',
)

_SEQ = {"format": "seq", "write": "seq", "equal": True}
_MESH = {
    "format": "urdf",
    "written": "again.urdf",
    "write": "urdf",
    "opened": "robot.urdf",
}

TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Target(
            "seq",
            "a.seq",
            written="a.seq",
            seeds=_seq,
            words=_YAML + _SEQ_WORDS,
            **_SEQ,
        ),  # type: ignore[arg-type]
        Target(
            "json", "a.json", written="a.json", seeds=_json, words=_SEQ_WORDS, **_SEQ
        ),  # type: ignore[arg-type]
        Target(
            "wrl",
            "a.wrl",
            "openhrp",
            "a.wrl",
            "openhrp",
            _wrl,
            _WORDS_OF_VRML,
            beside=_beside,
        ),
        Target(
            "body",
            "a.body",
            "body",
            "a.urdf",
            "urdf",
            lambda: _encoded(texts.BODY),
            _YAML + _WORDS_OF_BODY,
            beside=_beside,
        ),
        Target(
            "pseq",
            "a.pseq",
            "pseq",
            "a.pseq",
            "pseq",
            lambda: _encoded(*texts.PSEQ),
            _YAML + _WORDS_OF_PSEQ,
            equal=True,
        ),
        Target(
            "bvh",
            "a.bvh",
            "bvh",
            "a.bvh",
            "bvh",
            lambda: _encoded(texts.BVH),
            _WORDS_OF_BVH,
            equal=True,
        ),
        Target(
            "amc", "a.amc", "asf", "a.bvh", "bvh", _amc, _WORDS_OF_ACCLAIM, beside=_asf
        ),
        Target(
            "asf",
            "a.asf",
            "asf",
            "a.bvh",
            "bvh",
            lambda: _encoded(texts.ASF),
            _WORDS_OF_ACCLAIM,
        ),
        Target(
            "urdf",
            "a.urdf",
            "urdf",
            "a.urdf",
            "urdf",
            _urdf,
            _XML + _WORDS_OF_URDF,
            beside=_beside,
        ),
        Target(
            "mjcf",
            "a.xml",
            "mjcf",
            "a.xml",
            "mjcf",
            _mjcf,
            _XML + _WORDS_OF_MJCF,
            beside=_beside,
        ),
        Target("cha", "a.cha", "cha", "a.cha", "cha", _cha, _WORDS_OF_CHA, equal=True),
        Target("cap", "a.cap", "cap", "a.cap", "cap", _cap, _WORDS_OF_CAP),
        Target("pb", "a.pb", "cap-bytes", "a.pb", "cap-bytes", _pb, how="bytes"),
        *(
            Target(
                name, f"a.{name}", name, f"b.{name}", name, _dance_texts, _WORDS_OF_CAP
            )
            for name in ("csq", "chr")
        ),
        Target(
            "csq-bytes",
            "a.pb",
            "csq-bytes",
            "a.pb",
            "csq-bytes",
            lambda: (_saved(_dances()[0], "a.pb"),),
            how="bytes",
        ),
        Target(
            "states",
            "a.log",
            "state-log",
            "a.cha",
            "cha",
            _states,
            _WORDS_OF_CAP,
            how="bytes",
        ),
        Target("csv", "a.csv", "csv", "a.csv", "csv", _csv, _WORDS_OF_TABLES),
        Target(
            "parquet",
            "a.parquet",
            "parquet",
            "a.parquet",
            "parquet",
            _parquet,
            how="bytes",
        ),
        Target(
            "arrow", "a.arrow", "parquet", "a.arrow", "parquet", _arrow, how="bytes"
        ),
        Target("npz", "a.npz", "npz", "a.npz", "npz", _npz, how="zip", equal=True),
        Target("amass", "a.npz", "amass", "a.bvh", "bvh", _amass, how="zip"),
        Target("mcap", "a.mcap", "mcap", "a.mcap", "mcap", _mcap, how="bytes"),
        Target("rosbag2", "a.db3", "rosbag2", "a.mcap", "mcap", _rosbag, how="bytes"),
        Target("pkl", "a.pkl", "pickle", "a.npz", "npz", _pkl, how="bytes"),
        Target(
            "vrml-mesh",
            "m.wrl",
            seeds=_wrl,
            words=_WORDS_OF_VRML,
            beside=_shown_by_urdf("m.wrl"),
            **_MESH,
        ),
        Target(
            "collada",
            "m.dae",
            seeds=lambda: _encoded(texts.COLLADA),
            words=_XML + _WORDS_OF_COLLADA,
            beside=_shown_by_urdf("m.dae"),
            **_MESH,
        ),
        Target(
            "obj",
            "m.obj",
            seeds=lambda: _encoded(texts.OBJ),
            beside=_shown_by_urdf("m.obj"),
            **_MESH,
        ),
        Target(
            "stl",
            "m.stl",
            seeds=_stl,
            how="bytes",
            beside=_shown_by_urdf("m.stl"),
            **_MESH,
        ),
        Target(
            "ply",
            "m.ply",
            seeds=lambda: _encoded(texts.PLY),
            beside=_shown_by_urdf("m.ply"),
            **_MESH,
        ),
        Target(
            "glb",
            "m.glb",
            seeds=_glb,
            words=_WORDS_OF_GLTF,
            how="bytes",
            beside=_shown_by_urdf("m.glb"),
            **_MESH,
        ),
        Target(
            "gltf",
            "m.gltf",
            seeds=lambda: _encoded(texts.GLTF),
            words=_WORDS_OF_GLTF,
            beside=_shown_by_urdf("m.gltf"),
            **_MESH,
        ),
    )
}
for _row in FORMATS:
    # A format of motions without a row above begins with what is saved.
    if (
        _row.holds == "Motion"
        and _row.write is not None
        and all(_row.name != target.format for target in TARGETS.values())
    ):
        _file = f"a{_row.extensions[0]}"
        TARGETS[_row.name] = Target(
            _row.name,
            _file,
            _row.name,
            _file,
            _row.name,
            partial(_saved_motion, _file),
            _WORDS_OF_TABLES,
        )
TARGETS.update({target.name: target for target in OTHER_TARGETS})
