"""Every field of every table of the OpenHRP document: what it gives, and its default; with the document's PROTO lines and without."""

from __future__ import annotations

import numpy as np
import pytest
from small_models import read, rules

import bodymotion as bm
from bodymotion.geometry import poses, rotations

JOINT = """PROTO Joint [ exposedField SFVec3f center 0 0 0 exposedField MFNode children [] exposedField MFFloat llimit []
exposedField MFFloat lvlimit [] exposedField SFRotation limitOrientation 0 0 1 0 exposedField SFString name ""
exposedField SFRotation rotation 0 0 1 0 exposedField SFVec3f scale 1 1 1 exposedField SFRotation scaleOrientation 0 0 1 0
exposedField MFFloat stiffness [ 0 0 0 ] exposedField SFVec3f translation 0 0 0 exposedField MFFloat ulimit []
exposedField MFFloat uvlimit [] exposedField SFString jointType "" exposedField SFInt32 jointId -1
exposedField SFVec3f jointAxis 0 0 1 exposedField SFFloat gearRatio 1 exposedField SFFloat rotorInertia 0
exposedField SFFloat rotorResistor 0 exposedField SFFloat torqueConst 1 exposedField SFFloat encoderPulse 1 ]
{ Transform { center IS center children IS children rotation IS rotation scale IS scale translation IS translation } }
"""
SEGMENT = """PROTO Segment [ field SFVec3f bboxCenter 0 0 0 field SFVec3f bboxSize -1 -1 -1 exposedField SFVec3f centerOfMass 0 0 0
exposedField MFNode children [ ] exposedField SFNode coord NULL exposedField MFNode displacers [ ] exposedField SFFloat mass 0
exposedField MFFloat momentsOfInertia [ 0 0 0 0 0 0 0 0 0 ] exposedField SFString name "" eventIn MFNode addChildren
eventIn MFNode removeChildren ] { Group { children IS children } }
"""
HUMANOID = """PROTO Humanoid [ field SFVec3f bboxCenter 0 0 0 field SFVec3f bboxSize -1 -1 -1 exposedField SFVec3f center 0 0 0
exposedField MFNode humanoidBody [ ] exposedField MFString info [ ] exposedField MFNode joints [ ] exposedField SFString name ""
exposedField SFRotation rotation 0 0 1 0 exposedField SFVec3f scale 1 1 1 exposedField SFRotation scaleOrientation 0 0 1 0
exposedField MFNode segments [ ] exposedField MFNode sites [ ] exposedField SFVec3f translation 0 0 0
exposedField SFString version "1.1" exposedField MFNode viewpoints [ ] ]
{ Transform { children [ Group { children IS viewpoints } Group { children IS humanoidBody } ] } }
"""
PLACED = "exposedField SFVec3f translation 0 0 0 exposedField SFRotation rotation 0 0 1 0 exposedField SFInt32 sensorId -1"
SENSORS = f"""PROTO AccelerationSensor [ exposedField SFVec3f maxAcceleration -1 -1 -1 {PLACED} ] {{ Transform {{ }} }}
PROTO Gyro [ exposedField SFVec3f maxAngularVelocity -1 -1 -1 {PLACED} ] {{ Transform {{ }} }}
PROTO ForceSensor [ exposedField SFVec3f maxForce -1 -1 -1 exposedField SFVec3f maxTorque -1 -1 -1 {PLACED} ] {{ Transform {{ }} }}
PROTO VisionSensor [ {PLACED} exposedField SFFloat fieldOfView 0.785398 field SFString name "" exposedField SFFloat frontClipDistance 0.01
exposedField SFFloat backClipDistance 10.0 exposedField SFString type "NONE" exposedField SFInt32 width 320
exposedField SFInt32 height 240 exposedField SFFloat frameRate 30 ] {{ Transform {{ }} }}
PROTO RangeSensor [ {PLACED} exposedField MFNode children [ ] exposedField SFFloat scanAngle 3.14159 exposedField SFFloat scanStep 0.1
exposedField SFFloat scanRate 10 exposedField SFFloat maxDistance 10 ] {{ Transform {{ children IS children }} }}
PROTO ExtraJoint [ exposedField SFString link1Name "" exposedField SFString link2Name "" exposedField SFVec3f link1LocalPos 0 0 0
exposedField SFVec3f link2LocalPos 0 0 0 exposedField SFString jointType "xyz" exposedField SFVec3f jointAxis 1 0 0 ] {{ }}
"""
DECLARED = HUMANOID + JOINT + SEGMENT + SENSORS


@pytest.fixture(params=[DECLARED, ""], ids=["declared", "undeclared"])
def protos(request):
    """The PROTO lines of the document, or none: its defaults hold either way."""
    return request.param


def humanoid(inside: str, fields: str = "") -> str:
    return f"DEF R Humanoid {{ {fields} humanoidBody [ {inside} ] }}"


def joint_of(folder, protos, fields):
    body = read(
        folder,
        protos
        + humanoid(
            f'DEF B Joint {{ jointType "fixed" children DEF J Joint {{ {fields} }} }}'
        ),
    )
    return body.links[1]


class TestHumanoid:
    def test_all_fields(self, tmp_path, protos):
        text = humanoid(
            'DEF B Joint { jointType "free" children DEF S Segment { } }',
            """name "Robo" version "2.3" info [ "line 1" "line 2" ] joints [ USE B ] segments [ USE S ]
            viewpoints [ Viewpoint { position 4 5 6 description "V" } ] bboxSize 1 2 3 sites [ DEF T Transform { } ]""",
        ).replace("joints [ USE B ] segments [ USE S ]", "")
        text = (
            text.replace("humanoidBody", "humanoidBody", 1)[:-2]
            + " joints [ USE B ] segments [ USE S ] }"
        )
        body = read(tmp_path, protos + text)
        assert body.name == "R"
        assert body.info == {"name": "Robo", "version": "2.3", "info": "line 1\nline 2"}
        assert body.source.version == "2.3"
        assert [view.pose[:3].tolist() for view in body.viewpoints] == [[4, 5, 6]]
        assert body.extra["bboxSize"].tolist() == [1, 2, 3] and body.extra["sites"] in (
            ["T"],
            "T",
        )
        assert "WRL109" not in rules(body)

    def test_defaults(self, tmp_path, protos):
        body = read(
            tmp_path,
            protos + humanoid('DEF B Joint { jointType "free" }').replace("DEF R ", ""),
            "robo.wrl",
        )
        assert body.name == "robo"
        assert body.info == {"name": "", "version": "1.1", "info": ""}
        assert (
            body.viewpoints == ()
            and body.extra == {}
            and body.devices == ()
            and body.extra_joints == ()
        )

    def test_a_segment_beside_the_root_joint_is_a_fixed_part_of_the_root(
        self, tmp_path, protos
    ):
        inside = """DEF MAST Segment { mass 3 centerOfMass 0 0 5 children Shape { geometry Box { size 1 1 1 } } }
            DEF B Joint { jointType "free" translation 0 0 1 rotation 0 1 0 1.5707963267948966
              children DEF S Segment { mass 1 } }
            Transform { translation 2 0 0 children DEF G Gyro { sensorId 0 } }"""
        body = read(tmp_path, protos + humanoid(inside))
        (root,) = body.links
        assert (
            [segment.name for segment in root.segments] == ["S", "MAST"]
            and root.mass == 4
            and "WRL107" not in rules(body)
        )
        at_rest = poses.transform_points(body.root_pose, root.center_of_mass)
        assert np.allclose(at_rest, (np.array([0, 0, 5]) * 3 + [0, 0, 1]) / 4)
        assert np.allclose(
            root.visuals[0].moved(poses.to_matrix(body.root_pose)).transform,
            np.eye(4),
            atol=1e-12,
        )
        assert np.allclose(
            poses.compose(body.root_pose, body.devices[0].pose),
            [2, 0, 0, 1, 0, 0, 0],
            atol=1e-12,
        )

    def test_its_own_pose_is_kept_and_said(self, tmp_path, protos):
        body = read(
            tmp_path,
            protos
            + humanoid(
                'DEF B Joint { jointType "free" translation 0 0 1 }',
                "translation 1 2 3 scale 2 2 2",
            ),
        )
        assert body.root_pose.tolist() == [0, 0, 1, 1, 0, 0, 0]
        assert body.extra["translation"].tolist() == [1, 2, 3] and body.extra[
            "scale"
        ].tolist() == [2, 2, 2]
        assert rules(body).count("WRL108") == 1


class TestJoint:
    def test_all_fields(self, tmp_path, protos):
        link = joint_of(
            tmp_path,
            protos,
            """name "J" translation 1 2 3 rotation 0 0 1 1.5707963267948966 center 0 0 0 jointType "rotate" jointId 0 jointAxis 0 1 0
            ulimit [ 1.5 ] llimit [ -0.5 ] uvlimit [ 3 ] lvlimit [ -4 ] gearRatio 100 gearEfficiency 0.6 rotorInertia 1e-5
            rotorResistor 0.25 torqueConst 0.04 encoderPulse 1000 limitOrientation 0 0 1 1 stiffness [ 1 2 3 ]""",
        )
        joint = link.joint
        assert np.allclose(
            link.offset, [1, 2, 3, np.sqrt(0.5), 0, 0, np.sqrt(0.5)], atol=1e-15
        )
        assert (joint.name, joint.type, joint.id, joint.axis.tolist()) == (
            "J",
            "rotate",
            0,
            [0, 1, 0],
        )
        assert (
            joint.lower,
            joint.upper,
            joint.velocity_lower,
            joint.velocity_upper,
        ) == (-0.5, 1.5, -4, 3)
        assert (joint.gear_ratio, joint.gear_efficiency, joint.rotor_inertia) == (
            100,
            0.6,
            1e-5,
        )
        assert (joint.rotor_resistor, joint.torque_const, joint.encoder_pulse) == (
            0.25,
            0.04,
            1000,
        )
        assert joint.extra["limitOrientation"].tolist() == [0, 0, 1, 1]
        assert (
            joint.extra["stiffness"].tolist() == [1, 2, 3]
            and joint.extra["name"] == "J"
        )

    def test_gear_efficiency_is_a_field_that_the_printed_prototype_lacks(
        self, tmp_path
    ):
        body = read(
            tmp_path,
            DECLARED
            + humanoid(
                'DEF B Joint { jointType "fixed" gearEfficiency 0.6 gearEficiency 1 }'
            ),
        )
        assert (
            body.links[0].joint.gear_efficiency == 0.6
            and rules(body).count("VRML113") == 1
        )

    def test_the_field_name_counts_where_there_is_no_def(self, tmp_path, protos):
        inside = """Joint { name "alpha" jointType "free" children [ Segment { name "skull" mass 1 }
            VisionSensor { name "eye" sensorId 0 } DEF beta Joint { name "gamma" jointType "rotate" jointId 0 } ] }"""
        extra = 'ExtraJoint { link1Name "alpha" link2Name "beta" }'
        body = read(tmp_path, protos + humanoid(inside) + extra)
        assert (
            [link.name for link in body.links]
            == ["alpha", "beta"]
            == [link.joint.name for link in body.links]
        )
        assert (
            body.links[0].segments[0].name == "skull" and body.devices[0].name == "eye"
        )
        assert body.extra_joints[0].links == (0, 1) and "WRL118" not in rules(body)

    def test_defaults(self, tmp_path, protos):
        link = joint_of(tmp_path, protos, 'jointType "slide"')
        joint = link.joint
        assert link.offset.tolist() == [0, 0, 0, 1, 0, 0, 0]
        assert (joint.id, joint.axis.tolist(), joint.extra) == (-1, [0, 0, 1], {})
        assert (
            joint.lower,
            joint.upper,
            joint.velocity_lower,
            joint.velocity_upper,
        ) == (
            -np.inf,
            np.inf,
            -np.inf,
            np.inf,
        )
        assert (joint.gear_ratio, joint.gear_efficiency, joint.rotor_inertia) == (
            1,
            1,
            0,
        )
        assert (joint.rotor_resistor, joint.torque_const, joint.encoder_pulse) == (
            0,
            1,
            1,
        )

    @pytest.mark.parametrize("kind", ["rotate", "slide", "free", "fixed", "crawler"])
    def test_types(self, tmp_path, protos, kind):
        joint = joint_of(tmp_path, protos, f'jointType "{kind}"').joint
        assert joint.type == kind and "jointType" not in joint.extra

    @pytest.mark.parametrize("kind", ["pseudoContinuousTrack", "agx_crawler"])
    def test_other_names_of_a_crawler(self, tmp_path, kind):
        joint = joint_of(tmp_path, DECLARED, f'jointType "{kind}"').joint
        assert joint.type == "crawler" and joint.extra["jointType"] == kind

    @pytest.mark.parametrize(
        ("text", "lower", "rule"),
        [
            ("-1", -1, None),
            ("[ ]", -np.inf, None),
            ("[ -1 -2 ]", -1, "WRL136"),
            ("nan", -np.inf, None),
        ],
    )
    def test_limits_count_by_their_first_number(
        self, tmp_path, protos, text, lower, rule
    ):
        body = read(
            tmp_path,
            protos + humanoid(f'DEF J Joint {{ jointType "rotate" llimit {text} }}'),
        )
        joint = body.links[0].joint
        assert joint.lower == lower
        assert (rule in rules(body)) == (rule is not None)
        assert ("llimit" in joint.extra) == (rule is not None)

    @pytest.mark.parametrize(
        ("text", "axis", "rule"),
        [
            ('"X"', [1, 0, 0], "WRL135"),
            ('"Z"', [0, 0, 1], "WRL135"),
            ("0 -3 4", [0, -0.6, 0.8], "BODY110"),
            ("1e-300 0 0", [1, 0, 0], "BODY110"),
            ("0 0 0", [0, 0, 0], "BODY111"),
            ("1 0 0", [1, 0, 0], None),
        ],
    )
    def test_axes(self, tmp_path, text, axis, rule):
        joint = (
            JOINT.replace("SFVec3f jointAxis 0 0 1", 'SFString jointAxis "Z"')
            if '"' in text
            else JOINT
        )
        body = read(
            tmp_path,
            joint + humanoid(f'DEF J Joint {{ jointType "rotate" jointAxis {text} }}'),
        )
        assert np.allclose(body.links[0].joint.axis, axis, atol=1e-15)
        found = [problem.rule for problem in bm.check(body).problems]
        assert [r for r in found if r in ("BODY110", "BODY111", "WRL135")] == (
            [rule] if rule else []
        )

    def test_no_axis_is_fine_where_none_is_needed(self, tmp_path, protos):
        body = read(
            tmp_path,
            protos + humanoid('DEF J Joint { jointType "free" jointAxis 0 0 0 }'),
        )
        assert not any(problem.rule == "BODY111" for problem in bm.check(body).problems)

    def test_fields_that_the_document_lacks_are_kept(self, tmp_path):
        more = JOINT.replace(
            "PROTO Joint [",
            'PROTO Joint [ exposedField SFFloat equivalentInertia 0 exposedField MFFloat climit [] field SFString x ""',
        )
        text = (
            'DEF J Joint { jointType "rotate" equivalentInertia 5 climit [ 7 ] x "y" }'
        )
        body = read(tmp_path, more + humanoid(text))
        extra = body.links[0].joint.extra
        assert (extra["equivalentInertia"], extra["climit"].tolist(), extra["x"]) == (
            5,
            [7],
            "y",
        )
        assert "WRL132" in rules(body)

    def test_the_files_own_defaults_win(self, tmp_path):
        own = JOINT.replace("gearRatio 1", "gearRatio 50").replace(
            "jointAxis 0 0 1", "jointAxis 0 1 0"
        )
        own = own.replace("ulimit []", "ulimit [ 2 ]").replace(
            'jointType ""', 'jointType "rotate"'
        )
        joint = read(tmp_path, own + humanoid("DEF J Joint { }")).links[0].joint
        assert (joint.type, joint.gear_ratio, joint.axis.tolist(), joint.upper) == (
            "rotate",
            50,
            [0, 1, 0],
            2,
        )


class TestSegment:
    def test_all_fields(self, tmp_path, protos):
        text = """DEF S Segment { name "part" mass 2 centerOfMass 0.1 0.2 0.3 momentsOfInertia [ 1 0.1 0.2 0.1 2 0.3 0.2 0.3 2.5 ]
            bboxCenter 1 1 1 bboxSize 2 2 2 children Shape { geometry Box { } } }"""
        (link,) = read(
            tmp_path,
            protos + humanoid(f'DEF J Joint {{ jointType "free" children {text} }}'),
        ).links
        (segment,) = link.segments
        assert (segment.name, segment.mass) == ("S", 2)
        assert segment.center_of_mass.tolist() == [0.1, 0.2, 0.3]
        assert segment.inertia.tolist() == [
            [1, 0.1, 0.2],
            [0.1, 2, 0.3],
            [0.2, 0.3, 2.5],
        ]
        assert segment.extra["name"] == "part" and segment.extra[
            "bboxSize"
        ].tolist() == [2, 2, 2]
        assert len(segment.visuals) == 1 and segment.collisions == segment.visuals
        assert (link.mass, link.inertia.tolist()) == (2, segment.inertia.tolist())

    def test_defaults(self, tmp_path, protos):
        (link,) = read(
            tmp_path,
            protos
            + humanoid('DEF J Joint { jointType "free" children DEF S Segment { } }'),
        ).links
        (segment,) = link.segments
        assert (
            segment.mass,
            segment.center_of_mass.tolist(),
            segment.inertia.any(),
        ) == (0, [0, 0, 0], False)
        assert segment.visuals == () and segment.extra == {}


def sensor_of(folder, protos, text):
    return read(
        folder,
        protos + humanoid(f'DEF J Joint {{ jointType "free" children DEF S {text} }}'),
    ).devices[0]


class TestSensors:
    def test_those_of_one_kind_are_in_the_order_of_their_ids(self, tmp_path, protos):
        inside = """DEF B Joint { jointType "free" children [
            DEF b Gyro { sensorId 1 }
            DEF f ForceSensor { }
            DEF n Gyro { }
            DEF e ForceSensor { sensorId 5 }
            DEF C Joint { jointType "fixed" children
            DEF a Gyro { sensorId 0 } } ] }"""
        body = read(tmp_path, protos + humanoid(inside))
        assert [device.name for device in body.devices] == ["a", "e", "b", "f", "n"]
        lines = [body.source.locations.locate(("devices", k)).line for k in range(5)]
        assert [line - min(lines) for line in lines] == [5, 3, 0, 1, 2]
        assert [body.sensors("gyro")[k].name for k in range(3)] == ["a", "b", "n"]
        assert {k: one.name for k, one in body.sensors("ForceSensor").items()} == {
            5: "e",
            6: "f",
        }
        assert body.sensors("range_sensor") == {}
        with pytest.raises(KeyError, match="ForceSensor, Gyro"):
            body.sensors("nose")
        motion = bm.Motion.from_joints(np.zeros((9, 0)), frame_rate=50)
        assert [
            one.device.name for one in bm.dynamics.measure(body, motion).read_all()
        ] == ["a", "e", "b", "f", "n"]
        bm.save(body, tmp_path / "model.xml")
        assert [one.name for one in bm.load_body(tmp_path / "model.xml").devices] == [
            "a",
            "e",
            "b",
            "f",
            "n",
        ]

    def test_acceleration(self, tmp_path, protos):
        sensor = sensor_of(
            tmp_path,
            protos,
            "AccelerationSensor { maxAcceleration 1 2 3 sensorId 4 translation 5 6 7 rotation 1 0 0 2 }",
        )
        assert (sensor.kind, sensor.name, sensor.id, sensor.link) == (
            "AccelerationSensor",
            "S",
            4,
            0,
        )
        assert sensor.max_acceleration.tolist() == [1, 2, 3]
        assert np.allclose(
            sensor.pose, [5, 6, 7, *rotations.from_axis_angle([1, 0, 0], 2.0)]
        )
        default = sensor_of(tmp_path, protos, "AccelerationSensor { }")
        assert (default.id, default.max_acceleration.tolist(), default.extra) == (
            -1,
            [-1, -1, -1],
            {},
        )
        assert default.pose.tolist() == [0, 0, 0, 1, 0, 0, 0]

    def test_gyro(self, tmp_path, protos):
        assert sensor_of(
            tmp_path, protos, "Gyro { maxAngularVelocity 1 2 3 }"
        ).max_angular_velocity.tolist() == [
            1,
            2,
            3,
        ]
        assert sensor_of(
            tmp_path, protos, "Gyro { }"
        ).max_angular_velocity.tolist() == [-1, -1, -1]

    def test_force(self, tmp_path, protos):
        sensor = sensor_of(
            tmp_path, protos, "ForceSensor { maxForce 1 2 3 maxTorque 4 5 6 }"
        )
        assert (sensor.max_force.tolist(), sensor.max_torque.tolist()) == (
            [1, 2, 3],
            [4, 5, 6],
        )
        default = sensor_of(tmp_path, protos, "ForceSensor { }")
        assert (default.max_force.tolist(), default.max_torque.tolist()) == (
            [-1, -1, -1],
            [-1, -1, -1],
        )

    def test_vision(self, tmp_path, protos):
        sensor = sensor_of(
            tmp_path,
            protos,
            """VisionSensor { fieldOfView 1.5 name "eye" frontClipDistance 0.5 backClipDistance 20 type "COLOR_DEPTH"
            sensorId 1 width 64 height 48 frameRate 15 }""",
        )
        assert (
            sensor.field_of_view,
            sensor.front_clip_distance,
            sensor.back_clip_distance,
        ) == (1.5, 0.5, 20)
        assert (sensor.type, sensor.width, sensor.height, sensor.frame_rate) == (
            "COLOR_DEPTH",
            64,
            48,
            15,
        )
        assert sensor.extra == {"name": "eye"} and sensor.name == "S"
        default = sensor_of(tmp_path, protos, "VisionSensor { }")
        assert (
            default.field_of_view,
            default.front_clip_distance,
            default.back_clip_distance,
        ) == (0.785398, 0.01, 10)
        assert (default.type, default.width, default.height, default.frame_rate) == (
            "NONE",
            320,
            240,
            30,
        )

    def test_range(self, tmp_path, protos):
        body = read(
            tmp_path,
            protos
            + humanoid(
                """DEF J Joint { jointType "free" children DEF S RangeSensor { scanAngle 1 scanStep 0.25 scanRate 5 maxDistance 30
                translation 1 0 0 children Transform { translation 0 2 0 children Shape { geometry Sphere { } } } } }"""
            ),
        )
        (sensor,) = body.devices
        assert (
            sensor.scan_angle,
            sensor.scan_step,
            sensor.scan_rate,
            sensor.max_distance,
        ) == (1, 0.25, 5, 30)
        assert np.allclose(sensor.ray_angles, [-0.5, -0.25, 0, 0.25, 0.5])
        assert [shape.transform[:3, 3].tolist() for shape in body.links[0].visuals] == [
            [1, 2, 0]
        ]
        default = sensor_of(tmp_path, protos, "RangeSensor { }")
        assert (
            default.scan_angle,
            default.scan_step,
            default.scan_rate,
            default.max_distance,
        ) == (
            3.14159,
            0.1,
            10,
            10,
        )

    def test_others_are_kept_with_all_their_fields(self, tmp_path):
        proto = f'PROTO SmellSensor [ {PLACED} exposedField SFFloat sharpness 7 exposedField SFString what "tea" ] {{ Transform {{ }} }}\n'
        sensor = sensor_of(
            tmp_path,
            DECLARED + proto,
            'SmellSensor { sensorId 0 translation 1 2 3 what "coffee" }',
        )
        assert (sensor.kind, sensor.id, sensor.pose[:3].tolist()) == (
            "SmellSensor",
            0,
            [1, 2, 3],
        )
        assert sensor.extra == {"sharpness": 7, "what": "coffee"}

    def test_poses_add_up(self, tmp_path, protos):
        """Under Transforms, in a Segment under a Transform, in a Transform in it."""
        turn = "rotation 0 0 1 1.5707963267948966"
        text = f"""Transform {{ translation 1 0 0 {turn} children DEF P Segment {{ children Transform {{ translation 1 0 0 children
            DEF S Gyro {{ translation 1 0 0 rotation 1 0 0 0.5 }} }} }} }}"""
        body = read(
            tmp_path,
            protos
            + humanoid(f'DEF J Joint {{ jointType "free" children [ {text} ] }}'),
        )
        expected = rotations.multiply(
            rotations.from_axis_angle([0, 0, 1], np.pi / 2),
            rotations.from_axis_angle([1, 0, 0], 0.5),
        )
        assert np.allclose(body.devices[0].pose, [1, 2, 0, *expected])


class TestExtraJoint:
    LOOP = """DEF A Joint { jointType "fixed" children [ DEF B Joint { jointType "rotate" jointId 0 }
    DEF C Joint { jointType "rotate" jointId 1 } ] }"""

    @pytest.mark.parametrize("kind", ["xyz", "xy", "z", "piston", "ball", "hinge"])
    def test_all_fields(self, tmp_path, protos, kind):
        extra = f"""DEF E ExtraJoint {{ link1Name "B" link2Name "C" link1LocalPos 1 2 3 link2LocalPos 4 5 6 jointType "{kind}"
            jointAxis 0 2 0 }}"""
        body = read(tmp_path, protos + humanoid(self.LOOP) + extra)
        (joint,) = body.extra_joints
        assert (joint.name, joint.type, joint.links) == ("E", kind, (1, 2))
        assert joint.positions.tolist() == [
            [1, 2, 3],
            [4, 5, 6],
        ] and joint.axis.tolist() == [0, 1, 0]

    def test_defaults(self, tmp_path, protos):
        extra = 'ExtraJoint { link1Name "A" link2Name "C" }'
        (joint,) = read(tmp_path, protos + humanoid(self.LOOP) + extra).extra_joints
        assert (
            joint.type,
            joint.links,
            joint.positions.any(),
            joint.axis.tolist(),
        ) == (
            "xyz",
            (0, 2),
            False,
            [1, 0, 0],
        )
