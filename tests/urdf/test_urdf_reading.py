"""URDF files as others write them: what the specification says of each element, and what is wrong with some."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bodymotion as bm
from bodymotion.diagnostics import FormatError
from bodymotion.formats.meshes.obj import to_obj
from bodymotion.formats.meshes.stl import to_stl
from bodymotion.formats.registry import find_format
from bodymotion.formats.sniffing import looks_like_urdf
from bodymotion.formats.urdf import parse_urdf, read_urdf, write_urdf
from bodymotion.geometry import meshes as meshing
from bodymotion.geometry import rotations
from bodymotion.geometry.shapes import Box, Capsule, Cylinder, Sphere

TWO = "<link name='a'/><link name='b'/>"


def read(inside, **options):
    return parse_urdf(
        f"<robot name='r'>\n{inside}\n</robot>".encode(), Path("r.urdf"), **options
    ).require()


def joint(inside="", kind="revolute", name="j", ends=("a", "b")):
    return f"<joint name='{name}' type='{kind}'><parent link='{ends[0]}'/><child link='{ends[1]}'/>{inside}</joint>"


def rules(body):
    return [problem.rule for problem in body.problems]


def test_defaults_of_a_joint():
    """Without <origin> it is at the parent, its axis is x; a continuous joint has no limits."""
    body = read(TWO + joint(kind="continuous"))
    found = body.links[1].joint
    assert (found.type, found.axis.tolist(), body.links[1].offset.tolist()) == (
        "rotate",
        [1, 0, 0],
        [0, 0, 0, 1, 0, 0, 0],
    )
    assert (found.lower, found.upper, found.velocity_upper) == (-np.inf, np.inf, np.inf)
    assert not body.problems


def test_limits_and_what_else_a_joint_says():
    body = read(
        TWO
        + "<link name='c'/>"
        + joint(
            "<axis xyz='0 0 1'/><limit lower='-1' upper='2' effort='30' velocity='4'/><dynamics damping='0.1' friction='0.2'/>"
            "<calibration rising='0.5'/><safety_controller k_velocity='10' k_position='3' soft_lower_limit='-0.9' soft_upper_limit='1.9'/>"
        )
        + joint(
            "<limit effort='1' velocity='1'/><mimic joint='j' multiplier='-2'/>",
            "prismatic",
            "k",
            ("b", "c"),
        )
    )
    found = body.links[1].joint
    assert (found.lower, found.upper, found.velocity_lower, found.velocity_upper) == (
        -1,
        2,
        -4,
        4,
    )
    assert found.extra == {
        "joint_effort_range": [-30, 30],
        "damping": 0.1,
        "friction": 0.2,
        "calibration": {"rising": 0.5},
        "safety_controller": {
            "k_velocity": 10,
            "k_position": 3,
            "soft_lower_limit": -0.9,
            "soft_upper_limit": 1.9,
        },
    }
    # Limits that are not said are zero.
    slide = body.links[2].joint
    assert (slide.type, slide.lower, slide.upper) == ("slide", 0, 0)
    assert slide.extra["mimic"] == {"joint": "j", "multiplier": -2, "offset": 0}
    assert rules(body) == ["URDF127"]


def test_order_of_links_and_of_columns():
    """Links go depth-first in the order of the joints, columns in that of the file."""
    links = "".join(f"<link name='{name}'/>" for name in "dcba")
    body = read(
        links
        + joint(name="z", kind="continuous", ends=("c", "d"))
        + joint(name="y", kind="continuous", ends=("a", "b"))
        + joint(name="x", kind="continuous", ends=("a", "c"))
    )
    assert [link.name for link in body.links] == ["a", "b", "c", "d"]
    assert [joint.name for joint in body.joints] == ["z", "y", "x"]


def test_an_origin_turns_about_fixed_axes():
    """R = Rz(yaw) · Ry(pitch) · Rx(roll), as the specification has it."""
    body = read(TWO + joint("<origin xyz='1 2 3' rpy='0.1 0.2 0.3'/>", "fixed"))

    def turn(axis, angle):
        return rotations.to_matrix(rotations.from_axis_angle(np.eye(3)[axis], angle))

    expected = turn(2, 0.3) @ turn(1, 0.2) @ turn(0, 0.1)
    assert (
        np.abs(rotations.to_matrix(body.links[1].offset[3:]) - expected).max() < 1e-15
    )
    assert body.links[1].offset[:3].tolist() == [1, 2, 3]


def test_inertia_is_turned_into_the_axes_of_the_link():
    body = read(
        "<link name='a'><inertial><origin xyz='1 0 0' rpy='0 0 1.5707963267948966'/><mass value='2'/>"
        "<inertia ixx='1' ixy='0.1' ixz='0' iyy='2' iyz='0' izz='2.5'/></inertial></link>"
    )
    link = body.links[0]
    assert (link.mass, link.center_of_mass.tolist()) == (2, [1, 0, 0])
    # A quarter turn about z: x and y change places, and their product its sign.
    assert (
        np.abs(link.inertia - [[2, -0.1, 0], [-0.1, 1, 0], [0, 0, 2.5]]).max() < 1e-15
    )


def test_geometries_and_materials():
    body = read(
        "<material name='red'><color rgba='1 0 0 0.5'/></material>"
        "<link name='a'>"
        "<visual name='v'><origin xyz='0 0 1'/><geometry><cylinder radius='1' length='4'/></geometry><material name='red'/></visual>"
        "<visual><geometry><box size='1 2 3'/></geometry><material name='own'><color rgba='0 1 0 1'/></material></visual>"
        "<visual><geometry><sphere radius='2'/></geometry><material name='own'/></visual>"
        "<visual><geometry><capsule radius='1' length='2'/></geometry><material name='none'/></visual>"
        "<visual/><visual><geometry><torus/></geometry></visual><visual><geometry><sphere radius='-1'/></geometry></visual>"
        "<collision><geometry><box size='1 1 1'/></geometry></collision></link>"
    )
    cylinder, box, ball, capsule = body.links[0].visuals
    assert (cylinder.geometry, cylinder.name) == (Cylinder(1, 4), "v")
    assert np.abs(cylinder.bounds - [[-1, -1, -1], [1, 1, 3]]).max() < 1e-15
    assert (cylinder.material.diffuse, cylinder.material.transparency) == (
        (1, 0, 0),
        0.5,
    )
    assert (box.geometry, box.material.diffuse) == (Box((1, 2, 3)), (0, 1, 0))
    assert (ball.geometry, ball.material.diffuse) == (Sphere(2), (0, 1, 0))
    assert capsule.geometry == Capsule(1, 2)
    assert np.abs(capsule.bounds[:, 2] - [-2, 2]).max() < 1e-15
    assert len(body.links[0].collisions) == 1
    assert rules(body) == ["URDF132", "URDF131", "URDF131", "URDF133"]


@pytest.fixture
def package(tmp_path):
    """A ROS package with a model in `urdf`, meshes in `meshes`, and something beside it."""
    (tmp_path / "arm" / "urdf").mkdir(parents=True)
    (tmp_path / "arm" / "meshes").mkdir()
    (tmp_path / "arm" / "package.xml").write_text("<package/>")
    cube = meshing.to_mesh(Box((1.0, 1.0, 1.0)))
    (tmp_path / "arm" / "meshes" / "cube.stl").write_bytes(to_stl(cube))
    (tmp_path / "arm" / "urdf" / "cube.obj").write_bytes(to_obj(cube)[0])
    (tmp_path / "outside.stl").write_bytes(to_stl(cube))
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "cube.stl").write_bytes(to_stl(cube))
    return tmp_path


def meshed(package, uri, scale="", **options):
    path = package / "arm" / "urdf" / "arm.urdf"
    path.write_text(
        f"<robot name='r'><link name='a'><visual><geometry><mesh filename='{uri}' {scale}/></geometry></visual></link></robot>"
    )
    return read_urdf(path, **options).require()


@pytest.mark.parametrize(
    "uri",
    [
        "package://arm/meshes/cube.stl",
        "../meshes/cube.stl",
        "cube.obj",
        "file://FOLDER/arm/meshes/cube.stl",
    ],
)
def test_files_of_the_package_are_found(package, uri):
    body = meshed(package, uri.replace("FOLDER", str(package)), "scale='2 1 -1'")
    (shape,) = body.links[0].visuals
    assert np.abs(shape.bounds - [[-1, -0.5, -0.5], [1, 0.5, 0.5]]).max() < 1e-7
    assert not body.problems
    assert [path.stem for path in body.source.parts] == ["cube"]


@pytest.mark.parametrize(
    "uri",
    [
        "../../outside.stl",
        "package://plain/cube.stl",
        "package://arm/../outside.stl",
        "file://FOLDER/outside.stl",
    ],
)
def test_files_outside_are_not_opened_unless_allowed(package, uri):
    uri = uri.replace("FOLDER", str(package))
    body = meshed(package, uri, allow_outside=False)
    assert rules(body) == ["FMT020"]
    assert not body.links[0].visuals
    assert not meshed(package, uri, allow_outside=True).problems
    assert rules(meshed(package, uri)) == ([] if ".." in uri else ["FMT020"])
    if uri.startswith("package://plain"):
        assert not meshed(package, uri, package_paths=[package]).problems
        assert not meshed(package, uri, package_paths=package / "plain").problems


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "nothing.stl",
        "package://none/x.stl",
        "https://host/x.stl",
        "package://",
        "package://..",
    ],
)
def test_missing_files_are_problems(package, uri):
    body = meshed(package, uri)
    assert rules(body) == ["FMT020"]
    assert body.problems[0].location.line == 1


def test_a_broken_mesh_is_a_problem(package):
    (package / "arm" / "urdf" / "bad.stl").write_bytes(b"nothing of the kind")
    assert rules(meshed(package, "bad.stl")) == ["FMT021"]


BROKEN = {
    "BODY108": "",
    "URDF111": "<link name='a'/>\n<link name='a'/>",
    "URDF112": f"{TWO}\n{joint(ends=('a', 'c'))}",
    "URDF113": f"{TWO}<link name='c'/>{joint()}\n{joint(name='k', ends=('c', 'b'))}",
    "BODY125": "<link name='a'/>\n<link name='b'/>",
    "BODY125 of a cycle": f"{TWO}<link name='c'/>{joint(ends=('b', 'c'))}\n{joint(name='k', ends=('c', 'b'))}",
    "URDF120": f"{TWO}\n{joint(kind='hinge')}",
    "URDF102": "\n<xacro:include filename='x'/>",
    "XML104": TWO + joint("\n<origin xyz='1 2'/>", "fixed"),
    "XML105": f"{TWO}\n<joint name='j'><parent link='a'/><child link='b'/></joint>",
}


@pytest.mark.parametrize("key", BROKEN)
def test_what_makes_no_robot_is_refused_at_its_line(key):
    with pytest.raises(FormatError) as caught:
        read(BROKEN[key])
    assert caught.value.problem.rule == key.split()[0]
    assert caught.value.problem.location.line == (1 if key == "BODY108" else 3)
    assert caught.value.problem.location.column is not None


def test_all_in_a_circle():
    with pytest.raises(FormatError, match=r":3:\d+: BODY125 link 'a' is in a cycle"):
        read(TWO + joint() + "\n" + joint(name="k", ends=("b", "a")))


def test_odd_joints_are_read_with_problems():
    body = read(TWO + "<link name='c'/><link name='d'/>" + joint() + joint("<axis xyz='0 0 2'/>", "continuous", "k", ("a", "c"))
                + joint(kind="planar", name="l", ends=("a", "d")))  # fmt: skip
    assert sorted(rules(body)) == ["BODY110", "URDF121", "URDF124"]
    assert body.link("c").joint.axis.tolist() == [0, 0, 1]


def test_the_gear_of_a_transmission():
    body = read(
        TWO
        + joint(kind="continuous")
        + "<transmission name='t'><type>x</type><joint name='j'/><actuator name='m'><mechanicalReduction>50</mechanicalReduction>"
        "</actuator></transmission>"
    )
    assert body.links[1].joint.gear_ratio == 50
    assert "<transmission" in body.extra["urdf"][0]


SENSORS = """
<gazebo reference='b'>
  <material>Gazebo/Red</material>
  <sensor name='eye' type='depth'><update_rate>20</update_rate><pose>0 0 1 0 0 0</pose>
    <camera><horizontal_fov>1.5</horizontal_fov><image><width>400</width><height>400</height><format>R8</format></image>
    <clip><near>0.2</near><far>9</far></clip></camera><plugin name='p' filename='f'/></sensor>
  <sensor name='both' type='imu'/>
  <sensor name='scan' type='gpu_ray'><ray><scan><horizontal><samples>5</samples><min_angle>0</min_angle><max_angle>1</max_angle>
    </horizontal></scan><range><max>7</max></range></ray></sensor>
  <sensor name='turning' type='gpu_lidar'><lidar name='l'><scan><horizontal><samples>3</samples><min_angle>-1</min_angle>
    <max_angle>1</max_angle></horizontal><vertical><samples>16</samples></vertical></scan><range><min>0.5</min><max>8</max></range></lidar></sensor>
  <sensor name='touch' type='contact'><contact><collision>c</collision></contact></sensor>
</gazebo>
<gazebo reference='j'><sensor name='wrist' type='force_torque'/></gazebo>
<gazebo reference='nowhere'><sensor name='x' type='imu'/></gazebo>
"""


def test_sensors_of_gazebo():
    body = read(TWO + joint(kind="continuous") + SENSORS)
    eye, accelerometer, gyro, scan, turning, touch, wrist = body.devices
    assert [device.kind for device in body.devices] == [
        "VisionSensor", "AccelerationSensor", "Gyro", "RangeSensor", "RangeSensor", "contact", "ForceSensor",
    ]  # fmt: skip
    assert {device.link for device in body.devices} == {1}
    assert (
        eye.type,
        eye.width,
        eye.field_of_view,
        eye.front_clip_distance,
        eye.frame_rate,
    ) == (
        "DEPTH",
        400,
        1.5,
        0.2,
        20,
    )
    assert eye.pose[:3].tolist() == [0, 0, 1]
    # Gazebo's camera looks along x with z up; here along -z with y up.
    turn = rotations.to_matrix(eye.pose[3:])
    assert np.abs(turn @ [0, 0, -1] - [1, 0, 0]).max() < 1e-15
    assert np.abs(turn @ [0, 1, 0] - [0, 0, 1]).max() < 1e-15
    assert accelerometer.name == gyro.name == "both"
    # A scan from 0 to 1 is one of 1 around 0.5, to the left.
    assert (scan.scan_angle, scan.scan_step, scan.max_distance) == (1, 0.25, 7)
    ahead = rotations.to_matrix(scan.pose[3:]) @ [0, 0, -1]
    assert np.abs(ahead - [np.cos(0.5), np.sin(0.5), 0]).max() < 1e-15
    assert (turning.scan_angle, turning.scan_step, turning.max_distance) == (2, 1, 8)
    assert (touch.type, wrist.name) == ("contact", "wrist")
    assert rules(body) == ["URDF150"]


def with_no_extension(body, folder):
    write_urdf(body, folder / "plain.urdf", extension=False)
    return folder / "plain.urdf"


def test_what_other_programs_say_comes_back(tmp_path):
    body = read(
        TWO
        + joint(kind="continuous")
        + SENSORS
        + "<ros2_control name='x'><a b='1'>t</a></ros2_control>"
    )
    write_urdf(body, tmp_path / "r.urdf")
    text = (tmp_path / "r.urdf").read_text()
    for kept in (
        "Gazebo/Red",
        "<plugin",
        "<format>R8</format>",
        "<contact>",
        '<a b="1">t</a>',
        'reference="nowhere"',
    ):
        assert kept in text
    assert 'type="gpu_lidar"' in text
    assert text.count("<lidar") == 1
    again = read_urdf(tmp_path / "r.urdf").require()
    assert [device.kind for device in again.devices] == [
        device.kind for device in body.devices
    ]
    assert [device.extra for device in again.devices] == [
        device.extra for device in body.devices
    ]
    plain = read_urdf(with_no_extension(body, tmp_path)).require()
    assert [device.extra for device in plain.devices] == [
        device.extra for device in body.devices
    ]
    assert again.extra == body.extra


def test_effort_from_motor_and_gear(tmp_path):
    """climit [A] · torqueConst [Nm/A] · gearRatio [1] is the torque behind the gear."""
    motor = bm.Joint(
        type="rotate",
        id=0,
        lower=-1.0,
        upper=1.0,
        gear_ratio=100.0,
        torque_const=0.05,
        extra={"climit": [4.0]},
    )
    body = bm.Body(
        name="r",
        links=(bm.Link(name="a"), bm.Link(name="b", index=1, parent=0, joint=motor)),
    )
    write_urdf(body, tmp_path / "r.urdf")
    assert 'effort="20"' in (tmp_path / "r.urdf").read_text()
    again = read_urdf(tmp_path / "r.urdf").require().links[1].joint
    assert again.extra == {"joint_effort_range": [-20.0, 20.0]}
    assert (again.gear_ratio, again.torque_const) == (100.0, 0.05)


def test_limits_of_one_side_and_of_two_speeds(tmp_path):
    one = bm.Joint(
        type="rotate", id=0, lower=-1.0, velocity_lower=-2.0, velocity_upper=5.0
    )
    body = bm.Body(
        name="r",
        links=(bm.Link(name="a"), bm.Link(name="b", index=1, parent=0, joint=one)),
    )
    report = write_urdf(body, tmp_path / "r.urdf")
    text = (tmp_path / "r.urdf").read_text()
    assert 'lower="-1" upper="1e+16"' in text
    assert 'velocity="2"' in text
    assert [problem.rule for problem in report if problem.rule.startswith("LOSS")] == [
        "LOSS034"
    ]
    found = read_urdf(tmp_path / "r.urdf").require().links[1].joint
    assert (found.lower, found.upper, found.velocity_lower, found.velocity_upper) == (
        -1,
        np.inf,
        -2,
        2,
    )


def test_names_that_can_not_be(tmp_path):
    links = [bm.Link(name="a")]
    for index, name in enumerate(["a", "", "x y", "x/y", "a_2", "\x01"], start=1):
        links.append(
            bm.Link(
                name=name,
                index=index,
                parent=0,
                joint=bm.Joint(name=name, type="rotate", id=index - 1),
            )
        )
    body = bm.Body(name="", links=tuple(links))
    report = write_urdf(body, tmp_path / "r.urdf")
    names = [
        line.split('"')[1]
        for line in (tmp_path / "r.urdf").read_text().splitlines()
        if line.startswith("  <link name")
    ]
    assert names == ["a", "a_3", "link_2", "x_y", "x_y_2", "a_2", "_"]
    assert "LOSS032" in [problem.rule for problem in report]
    read = read_urdf(tmp_path / "r.urdf").require()
    assert [link.name for link in read.links] == names


def test_turns_come_back_where_roll_and_yaw_are_one(tmp_path):
    """Pitch at and around ±90°: the turn that is read is the one that was written, to 1e-12 rad."""
    rng = np.random.default_rng(1)
    count = 300
    pitch = rng.choice([-1, 1], count) * np.pi / 2 + rng.choice(
        [0, 1e-16, 1e-12, 1e-9, 1e-8, 1e-6], count
    )
    rpy = np.stack(
        [rng.uniform(-3, 3, count), pitch, rng.uniform(-3, 3, count)], axis=1
    )
    turns = np.concatenate(
        [rotations.from_rpy(rpy), rotations.normalized(rng.normal(size=(count, 4)))]
    )
    links = [bm.Link(name="root")]
    for index, turn in enumerate(turns, start=1):
        links.append(
            bm.Link(
                name=f"l{index}",
                index=index,
                parent=0,
                offset=np.array([0, 0, 0, *turn]),
            )
        )
    write_urdf(bm.Body(name="r", links=tuple(links)), tmp_path / "r.urdf")
    found = np.array(
        [link.offset[3:] for link in read_urdf(tmp_path / "r.urdf").require().links[1:]]
    )
    assert rotations.angle_between(turns, found).max() < 1e-12


def test_known_by_content(tmp_path):
    assert looks_like_urdf(
        b"<?xml version='1.0'?>\n<!-- <mujoco> -->\n<robot name='x'>"
    )
    assert not looks_like_urdf(b"<mujoco><!-- <robot name='x'> --></mujoco>")
    assert not looks_like_urdf(b"a: <robot>")
    path = tmp_path / "model.xml"
    path.write_text("<!-- a robot -->\n<robot name='x'><link name='a'/></robot>")
    assert find_format(path).name == "urdf"
    with pytest.raises(FormatError, match="URDF101"):
        parse_urdf(b"<mujoco/>", path).require()


def test_a_body_without_links_is_no_robot(tmp_path):
    with pytest.raises(FormatError, match="BODY108"):
        bm.save(bm.Body(name="x"), tmp_path / "x.urdf")


def test_package_names_of_files(tmp_path):
    from bodymotion.geometry.shapes import Cone, Shape

    body = bm.Body(
        name="r",
        links=(
            bm.Link(name="a", segments=(bm.Segment(visuals=(Shape(Cone(1.0, 1.0)),)),)),
        ),
    )
    write_urdf(body, tmp_path / "r.urdf", package="my_robot")
    assert (
        'filename="package://my_robot/r_urdf_meshes/a.obj"'
        in (tmp_path / "r.urdf").read_text()
    )
