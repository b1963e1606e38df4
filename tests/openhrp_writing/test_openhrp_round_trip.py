"""A body that is written as .wrl and read again is the same body, but for what the report names."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bodymotion as bm
from body_differences import difference
from bodymotion.diagnostics import FormatError
from bodymotion.formats.openhrp import read_openhrp
from bodymotion.formats.openhrp.writer import write_openhrp
from bodymotion.geometry import poses
from bodymotion.geometry.shapes import (
    Box,
    Capsule,
    Corners,
    Lines,
    Material,
    Mesh,
    Points,
    Shape,
    Sphere,
    Texture,
)
from bodymotion.model.body import Body, ExtraJoint
from bodymotion.model.links import Gyro, Joint, Link, OtherDevice, Segment, VisionSensor
from goldens import CORPUS, answer, box_differences, exact_box, extra_joint_differences
from openhrp.reference_answers import body_of, device_differences, differences
from sample_files import corpus_files, sampled, tries
from strategies_bodies import DEVICES, EXTRA_JOINT_TYPES, bodies

SLOW = [
    HealthCheck.too_slow,
    HealthCheck.data_too_large,
    HealthCheck.function_scoped_fixture,
]
ROUNDING = 1e-12
INFO = {"name": "", "version": "1.1", "info": ""}
VRML_SHAPES = ("box", "sphere", "cylinder", "cone", "mesh", "lines", "points")


def there_and_back(body, folder, **options):
    """Return the body that is read back, and the codes of what was lost."""
    path = folder / f"{body.name or 'model'}.wrl"
    losses = write_openhrp(body, path, **options)
    return read_openhrp(path, allow_outside=True).require(), [
        problem.rule for problem in losses
    ]


def one_link(*shapes, **more) -> Body:
    segment = Segment(name="PART", mass=1.0, visuals=shapes, collisions=shapes)
    link = Link(
        name="BASE", joint=Joint(name="BASE", type="fixed"), segments=(segment,)
    )
    return Body(**({"name": "thing", "links": (link,), "info": INFO} | more))


@settings(max_examples=tries(60), suppress_health_check=SLOW)
@given(
    bodies(
        sane=False,
        joint_types=("rotate", "slide", "fixed", "crawler"),
        kinds=VRML_SHAPES,
        plain=False,
        rigid=False,
        max_segments=3,
        placed_segments=True,
        device_kinds=DEVICES,
        extra_joint_types=EXTRA_JOINT_TYPES,
        viewpoints=True,
    ),
    st.sampled_from(["inline", "parts"]),
)
def test_any_body(tmp_path_factory, body, mesh):
    read, lost = there_and_back(body, tmp_path_factory.mktemp("any"), mesh=mesh)
    assert lost == []
    assert difference(body, read, ROUNDING) == ""


@settings(max_examples=tries(15), suppress_health_check=SLOW)
@given(bodies(device_kinds=DEVICES))
def test_a_sane_body_gives_a_file_that_the_checks_have_nothing_against(
    tmp_path_factory, body
):
    read, _ = there_and_back(body, tmp_path_factory.mktemp("sane"))
    ids_in_another_order, beyond_the_document = "WRL128", "WRL168"
    assert {problem.rule for problem in read.problems} <= {
        ids_in_another_order,
        beyond_the_document,
    }


SAMPLES = corpus_files("wrl/**/*.wrl")
CHANGED = {"4wheelsVehicle.wrl": "LOSS020", "invalid-same-jointname.wrl": "LOSS020"}
"""Two Segments, or three Joints, have one name."""


@pytest.mark.parametrize("mesh", ["inline", "parts"])
def test_all_samples(corpus, tmp_path, mesh):
    """Lines, points, creases, colours, images, viewpoints, sensors, loops, poses of Humanoids … exactly, but for composed transforms."""
    # To make many files takes its time: of these a part.
    samples = sampled(SAMPLES if mesh == "inline" else SAMPLES[::5])
    equal = seen = 0
    for path in samples:
        try:
            body = read_openhrp(path, allow_outside=True).require()
        except FormatError:
            continue
        target = tmp_path / path.name
        lost = [problem.rule for problem in write_openhrp(body, target, mesh=mesh)]
        read = read_openhrp(target, allow_outside=True).require()
        # An image is the same file by another url.
        assert [t.path.resolve() for t in textures(read)] == [
            t.path.resolve() for t in textures(body)
        ]
        read, body = without_urls(read), without_urls(body)
        lost = [code for code in lost if code != "LOSS026"] if textures(body) else lost
        assert (
            lost == [CHANGED[path.name]] * len(lost)
            if path.name in CHANGED
            else lost == []
        ), path
        assert path.name in CHANGED or difference(body, read, ROUNDING) == "", path
        equal += body == read
        seen += 1
    assert seen >= len(samples) - 10
    assert len(SAMPLES) >= 300
    assert equal >= 0.8 * seen


def test_models_of_choreonoid(corpus, tmp_path):
    """Where nothing is said to be lost nothing is; where something is, the robot still is and moves the same."""
    random = np.random.default_rng(5)
    whole = seen = 0
    samples = sampled(corpus_files("body/**/*.body"))
    for path in samples:
        try:
            body = bm.load(path, allow_outside=True)
        except FormatError:
            continue
        target = tmp_path / f"{path.stem}.wrl"
        lost = {
            problem.rule
            for problem in bm.save(body, target).losses
            if not problem.leaves_out
        }
        read = read_openhrp(target, allow_outside=True).require()
        q = random.uniform(-1, 1, (3, body.num_joints))
        assert (
            np.abs(read.forward_kinematics(q) - body.forward_kinematics(q)).max()
            <= 1e-12
        ), path
        assert [link.mass for link in read.links] == [
            link.mass for link in body.links
        ], path
        assert [extra.type for extra in read.extra_joints] == [
            extra.type for extra in body.extra_joints
        ], path
        assert len(read.devices) == len(body.devices), path
        if not lost:
            bare, same = (
                without_urls(replace(read, info={})),
                without_urls(replace(body, info={})),
            )
            assert difference(same, bare, ROUNDING) == "", path
            whole += 1
        seen += 1
    assert seen >= 0.8 * len(samples)
    assert whole >= 0.3 * seen


def textures(body: Body) -> list[Texture]:
    shapes = [
        s
        for link in body.links
        for segment in link.segments
        for s in (*segment.visuals, *segment.collisions)
    ]
    return [
        shape.material.texture for shape in shapes if shape.material.texture is not None
    ]


def without_urls(body: Body) -> Body:
    def bare(shape: Shape) -> Shape:
        texture = shape.material.texture
        return replace(
            shape,
            material=replace(
                shape.material, texture=texture and replace(texture, url="")
            ),
        )

    if not textures(body):
        return body
    links = tuple(
        replace(
            link,
            segments=tuple(
                replace(
                    s,
                    visuals=tuple(map(bare, s.visuals)),
                    collisions=tuple(map(bare, s.collisions)),
                )
                for s in link.segments
            ),
        )
        for link in body.links
    )
    return replace(body, links=links)


GOLDENS = sorted((CORPUS / "golden").glob("wrl__*.json"))
NESTED = ("unevenfloor.wrl", "PanTilt_futaba.wrl", "table.main.wrl", "HRP4Cmain.wrl")
"""Where the reference's boxes are larger than what is in them: it takes boxes of boxes."""


@pytest.mark.parametrize(
    "path", sampled(GOLDENS), ids=lambda path: path.stem.removeprefix("wrl__")
)
def test_written_and_read_again_models_agree_with_the_reference(corpus, tmp_path, path):
    golden = answer(path)
    source = CORPUS / golden["file"]
    target = tmp_path / source.name
    write_openhrp(body_of(source), target)
    body = read_openhrp(target, allow_outside=True).require()
    # Three Joints of one name get names of their own.
    assert differences(body, golden) == (
        ["names of links"] if "same-jointname" in source.name else []
    )
    assert device_differences(body, golden) == []
    assert extra_joint_differences(body, golden) == []
    nested = {link.name for link in body.links} if source.name in NESTED else set()
    assert (
        "same-jointname" in source.name or box_differences(body, golden, nested) == []
    )


def test_a_file_is_written_by_its_extension_and_the_same_twice(examples, tmp_path):
    body = bm.load(examples / "biped.wrl")
    report = bm.save(body, tmp_path / "a.wrl")
    assert report.problems == ()
    again = bm.load(tmp_path / "a.wrl")
    assert again == body
    assert again.problems == ()
    bm.save(again, tmp_path / "b.wrl")
    assert (tmp_path / "a.wrl").read_bytes() == (tmp_path / "b.wrl").read_bytes()


def test_parts_stand_in_a_folder_beside_the_model(examples, tmp_path):
    body = bm.load(examples / "biped.wrl")
    bm.save(body, tmp_path / "robot.wrl", mesh="parts")
    parts = sorted((tmp_path / "robot-parts").iterdir())
    assert len(parts) == sum(
        any(
            isinstance(shape.geometry, Mesh)
            for shape in (*segment.visuals, *segment.collisions)
        )
        for link in body.links
        for segment in link.segments
    )
    assert "IndexedFaceSet" not in (tmp_path / "robot.wrl").read_text()
    assert all(part.read_text().startswith("#VRML V2.0 utf8\n") for part in parts)
    read = bm.load(tmp_path / "robot.wrl")
    assert read == body
    assert {part.name for part in read.source.parts} == {part.name for part in parts}
    with pytest.raises(ValueError, match="parts"):
        bm.save(body, tmp_path / "robot.wrl", mesh="elsewhere")


def test_long_names_have_short_parts(tmp_path):
    mesh = Mesh(np.eye(3), [[0, 1, 2]])
    segments = tuple(
        Segment(name=f"{'x' * 254}{end}", visuals=(Shape(mesh),)) for end in "ab"
    )
    body = one_link()
    there_and_back(
        replace(body, links=(replace(body.links[0], segments=segments),)),
        tmp_path,
        mesh="parts",
    )
    assert len(list((tmp_path / "thing-parts").iterdir())) == 2


def test_more_parts_than_files_that_may_be_open(tmp_path):
    mesh = Mesh(np.eye(3), [[0, 1, 2]])
    segments = tuple(
        Segment(name=f"Part/{k % 300}", visuals=(Shape(mesh),)) for k in range(900)
    )
    body = one_link()
    body = replace(body, links=(replace(body.links[0], segments=segments),))
    _, lost = there_and_back(body, tmp_path, mesh="parts")
    assert set(lost) <= {"LOSS020"}
    assert len(list((tmp_path / "thing-parts").iterdir())) == 300


# ---- what is kept


@pytest.mark.parametrize(
    "value",
    [
        True,
        7,
        2**40,
        -0.5,
        'text with "quotes", \\ and\nline 関節',
        ["a", ""],
        [],
        np.array([1.0, 2.0]),
        np.array([1.0, 2.0, 3.0]),
        np.array([0.0, 0.0, 1.0, 0.5]),
        np.arange(5.0),
        np.array([1, -2, 3], dtype=np.int32),
        np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
        np.array([[1.0, 2.0]]),
        [1, 2, 3],
        None,
    ],
    ids=lambda value: f"{type(value).__name__}_{np.shape(value)}",
)
def test_unknown_fields_are_kept_with_their_types(tmp_path, value):
    """Prototypes that declare them are written; so a reader that insists on declarations takes the file."""
    extra = {"made_up": value}
    body = Body(
        name="kept",
        links=(
            Link(
                name="A",
                joint=Joint(name="A", type="free", extra=extra),
                segments=(Segment(name="S", extra=extra),),
            ),
            Link(
                name="B", index=1, parent=0, joint=Joint(name="B", type="rotate", id=0)
            ),
        ),
        devices=(
            Gyro(name="G", id=0, link=1, extra=extra),
            OtherDevice(name="O", id=0, type="Nose", extra=extra),
        ),
        extra_joints=(ExtraJoint(name="X", links=(0, 1), extra=extra),),
        info=INFO,
        extra=extra,
    )
    read, lost = there_and_back(body, tmp_path)
    assert lost == []
    assert read == body
    assert not {problem.rule for problem in read.problems} & {
        "VRML110",
        "VRML111",
        "VRML112",
        "VRML113",
    }


@pytest.mark.parametrize(
    "value",
    [
        {"a": 1},
        np.array([np.nan]),
        float("inf"),
        [["a"], 1],
        np.zeros((2, 5)),
        object(),
        "half \ud800",
    ],
)
def test_values_that_no_field_holds_are_reported(tmp_path, value):
    body = one_link(extra={"odd": value, "good": 1})
    read, lost = there_and_back(body, tmp_path)
    assert lost == ["LOSS023"]
    assert read.extra == {"good": 1}


def test_one_field_has_one_type_in_all_nodes_of_a_kind(tmp_path):
    def chain(*values):
        links = (
            Link(
                name=f"L{i}",
                index=i,
                parent=i - 1,
                joint=Joint(
                    name=f"L{i}",
                    type="fixed",
                    extra={} if value is None else {"x": value},
                ),
            )
            for i, value in enumerate(values)
        )
        return Body(name="chain", links=tuple(links), info=INFO)

    for body in (
        chain(1, 2.5, None),
        chain(np.arange(3.0), np.arange(2.0)),
        chain([], ["a"]),
    ):
        read, lost = there_and_back(body, tmp_path)
        assert lost == []
        assert read == body
    body = chain(1, "text")
    read, lost = there_and_back(body, tmp_path)
    assert lost == ["LOSS023"]
    assert [link.joint.extra for link in read.links] == [{"x": 1}, {}]


FIELDS = """#VRML V2.0 utf8
DEF R Humanoid {
  name "robot" version "2" info [ "one" "two \\"2\\"" ]
  bboxCenter 1 2 3 bboxSize 4 5 6 center 0 0 1 rotation 0 0 1 0.5 scale 1 1 2 scaleOrientation 1 0 0 0.1
  translation 1 0 0 sites [ ]
  viewpoints [ Viewpoint { description "front" position 1 2 3 orientation 0 1 0 1 fieldOfView 0.5 } ]
  humanoidBody [
    DEF A Joint {
      center 0 0 0.1 llimit [ -1 -2 ] ulimit 3 lvlimit [ ] uvlimit [ 4 ] limitOrientation 0 1 0 1 name "A"
      rotation 0 0.6 0.8 0.7 scale 1 1 1 scaleOrientation 0 0 1 0 stiffness [ 1 2 3 ] translation 1 2 3
      jointType "free" jointId -1 jointAxis 0 0 2 climit [ 5 6 ] equivalentInertia 0.5
      children [
        DEF S Segment {
          bboxCenter 0 0 1 bboxSize 1 1 1 centerOfMass 0.1 0.2 0.3 mass 4 name "S" coord NULL displacers [ ]
          momentsOfInertia [ 1 0.1 0 0.1 2 0 0 0 3 ]
          children [ Surface { visual [ DEF V Shape { geometry Box { } } ] collision [ Shape { geometry Sphere { } } ] } ]
        }
        Transform { translation 0 0 0.5 rotation 1 0 0 1.57 children DEF S2 Segment { mass 1 } }
        DEF ACC AccelerationSensor { maxAcceleration 1 2 3 translation 1 0 0 rotation 0 0 1 1 sensorId 0 }
        DEF GYRO Gyro { maxAngularVelocity 1 2 3 translation 1 0 0 rotation 0 0 1 1 sensorId 0 }
        DEF B Joint {
          jointType "rotate" jointAxis "Y" jointId 0 stiffness [ 1 0.5 0 ] gearRatio 100 gearEfficiency 0.6 rotorInertia 0.001
          rotorResistor 2 torqueConst 3 encoderPulse 4
          children [
            DEF CAM VisionSensor {
              translation 1 0 0 rotation 0 0 1 1 fieldOfView 1 name "eye" frontClipDistance 0.1 backClipDistance 20
              type "COLOR_DEPTH" sensorId 0 width 640 height 480 frameRate 15
            }
          ]
        }
        DEF FORCE ForceSensor { maxForce 1 2 3 maxTorque 4 5 6 translation 1 0 0 rotation 0 0 1 1 sensorId 0 }
        DEF RANGE RangeSensor {
          translation 1 0 0 rotation 0 0 1 1 sensorId 0 scanAngle 1 scanStep 0.2 scanRate 5 maxDistance 7
          children [ Shape { geometry Cone { } } ]
        }
        DEF LIGHT SpotLightDevice { sensorId 1 beamWidth 0.5 color 1 0 0 }
      ]
    }
  ]
  joints [ USE A USE B ] segments [ USE S USE S2 ]
}
DEF LOOP ExtraJoint { link1Name "A" link2Name "B" link1LocalPos 1 0 0 link2LocalPos 0 1 0 jointType "xy" jointAxis 0 1 0 }
WorldInfo { title "world" }
"""


def test_every_field_of_the_document(tmp_path):
    (tmp_path / "all.wrl").write_text(FIELDS)
    body = read_openhrp(tmp_path / "all.wrl").require()
    read, lost = there_and_back(body, tmp_path)
    assert lost == []
    assert difference(body, read, 1e-15) == ""
    assert [d.name for d in read.devices] == [
        "ACC",
        "GYRO",
        "CAM",
        "FORCE",
        "RANGE",
        "LIGHT",
    ]
    text = (tmp_path / "R.wrl").read_text()
    for words in (
        'jointType "xy"',
        "llimit [ -1 -2 ]",
        "ulimit [ 3 ]",
        "climit [ 5 6 ]",
        "gearEfficiency 0.6",
    ):
        assert words in text
    assert "USE A\n" in text
    assert "USE S2\n" in text
    # The stiffness of H-Anim is no spring.
    bm.save(replace(body, devices=(), extra_joints=()), tmp_path / "R.xml")
    assert "stiffness=" not in (tmp_path / "R.xml").read_text()


# ---- what is lost, and said


def test_names_that_are_none_or_not_their_own(tmp_path):
    names = ["A B", "A_B", "A_B", 'q"{}', "", "DEF"]
    links = tuple(
        Link(
            name=name,
            index=i,
            parent=i - 1,
            joint=Joint(name=name, type="fixed"),
            segments=(Segment(name="S"),),
        )
        for i, name in enumerate(names)
    )
    links = (*links[:-1], replace(links[-1], segments=(Segment(name="S", mass=2.0),)))
    body = Body(
        name="my robot",
        links=links,
        extra_joints=(ExtraJoint(name="A_B", links=(1, 2)),),
        info=INFO,
    )
    read, lost = there_and_back(body, tmp_path)
    assert [link.name for link in read.links] == [
        "A_B",
        "A_B_2",
        "A_B_3",
        "q___",
        "",
        "DEF_",
    ]
    assert [link.segments[0].name for link in read.links] == ["S"] * 5 + ["S_2"]
    assert [link.mass for link in read.links] == [0.0] * 5 + [2.0]
    assert read.extra_joints[0].links == (1, 2)
    assert read.name == "my_robot"
    # One for each kind of part: the model, links, segments and extra joints.
    assert lost == ["LOSS020"] * 4


def test_a_joint_that_is_called_otherwise_than_its_link(tmp_path):
    """Motions go by the names of joints: a joint that moves keeps its own, wherever it is; one that does not gives way to its link's."""
    links = (
        Link(name="base", joint=Joint(name="ground", type="fixed")),
        Link(
            name="arm",
            index=1,
            parent=0,
            joint=Joint(name="shoulder", type="rotate", id=0),
        ),
        Link(
            name="tip", index=2, parent=1, joint=Joint(name="base", type="slide", id=1)
        ),
    )
    extra = ExtraJoint(name="loop", links=(1, 2))
    read, lost = there_and_back(
        Body(name="arm", links=links, extra_joints=(extra,), info=INFO), tmp_path
    )
    assert lost == ["LOSS027"]
    assert [link.name for link in read.links] == ["ground", "shoulder", "base"]
    assert [joint.name for joint in read.joints] == ["shoulder", "base"]
    assert [link.joint.extra for link in read.links] == [
        {"name": "base"},
        {"name": "arm"},
        {"name": "tip"},
    ]
    assert read.extra_joints[0].links == (1, 2)


def test_a_rerooted_body_keeps_the_names_of_its_joints(examples, tmp_path):
    from bodymotion.editing import reroot

    body = bm.load(examples / "biped.wrl")
    other = reroot(body, body.links[-1].name)
    read, lost = there_and_back(other, tmp_path)
    assert lost == ["LOSS027"]
    assert [joint.name for joint in read.joints] == [
        joint.name for joint in body.joints
    ]
    q = np.random.default_rng(0).uniform(-1, 1, body.num_joints)
    assert (
        np.abs(read.forward_kinematics(q) - other.forward_kinematics(q)).max() <= 1e-9
    )


def test_links_in_another_order_are_numbered_anew(tmp_path):
    parents = [-1, 0, 0, 1, 2, 1]
    links = tuple(
        Link(name=f"L{i}", index=i, parent=p, joint=Joint(name=f"L{i}", type="fixed"))
        for i, p in enumerate(parents)
    )
    devices = tuple(Gyro(name=f"G{i}", id=i, link=i) for i in (3, 2, 5))
    body = Body(
        name="b",
        links=links,
        devices=devices,
        extra_joints=(ExtraJoint(links=(4, 3)),),
        info=INFO,
    )
    read, lost = there_and_back(body, tmp_path)
    assert [link.name for link in read.links] == ["L0", "L1", "L3", "L5", "L2", "L4"]
    # Of one kind, by their ids.
    assert [(device.id, read.links[device.link].name) for device in read.devices] == [
        (2, "L2"),
        (3, "L3"),
        (5, "L5"),
    ]
    assert [read.links[end].name for end in read.extra_joints[0].links] == ["L4", "L3"]
    assert lost == ["LOSS021", "LOSS021"]


def test_the_root_stands_where_the_body_does(tmp_path):
    link = Link(
        name="BASE",
        joint=Joint(name="BASE", type="free"),
        offset=np.array([1.0, 0, 0, 1, 0, 0, 0]),
    )
    pose = np.array([0.0, 2, 0, 1, 0, 0, 0])
    read, lost = there_and_back(
        Body(name="b", links=(link,), root_pose=pose, info=INFO), tmp_path
    )
    assert lost == ["LOSS025"]
    assert np.array_equal(read.root_pose, pose)


def test_a_capsule_becomes_a_cylinder_and_two_balls(tmp_path):
    transform = poses.to_matrix([1.0, 2, 3, *np.array([1.0, 2, 3, 4]) / np.sqrt(30)])
    body = one_link(Shape(Capsule(0.5, 2.0), transform))
    read, lost = there_and_back(body, tmp_path)
    assert lost == ["LOSS022"]
    assert len(read.links[0].visuals) == 3
    # The end of the axis, and as far again as the radius, in all directions.
    axis = np.abs(transform[:3, 1])
    expected = np.array([-1, 1])[:, None] * (axis + 0.5) + transform[:3, 3]
    spheres = [
        shape for shape in read.links[0].visuals if isinstance(shape.geometry, Sphere)
    ]
    reach = np.array(
        [[s.transform[:3, 3] - 0.5, s.transform[:3, 3] + 0.5] for s in spheres]
    )
    assert (
        np.abs(
            np.array([reach[:, 0].min(axis=0), reach[:, 1].max(axis=0)]) - expected
        ).max()
        <= 1e-12
    )


TRIANGLE = Mesh(np.eye(3), [[0, 1, 2]])
ODD_SHAPES = {
    "no faces": Mesh(np.eye(3), np.zeros((0, 3), int)),
    "no lines": Lines(np.eye(3), np.zeros((0, 2), int)),
    "no points": Points(np.zeros((0, 3))),
    "a box of no size": Box((0.0, 0.0, 1.0)),
    "a negative radius": Sphere(-1.0),
    "no number": Sphere(float("nan")),
    "corners that are not there": Mesh(np.eye(3), [[0, 1, 5]]),
    "corners nowhere": Mesh(np.full((3, 3), np.inf), [[0, 1, 2]]),
}


@pytest.mark.parametrize("name", ODD_SHAPES)
def test_shapes_that_show_nothing_are_left_out(tmp_path, name):
    read, lost = there_and_back(
        one_link(Shape(ODD_SHAPES[name]), Shape(Box((1.0, 2.0, 3.0)))), tmp_path
    )
    assert lost == ["LOSS031"]
    assert [shape.geometry for shape in read.links[0].visuals] == [Box((1.0, 2.0, 3.0))]


def test_looks_that_vrml_has_not(tmp_path):
    rgba = Corners([[1.0, 0.5, 0.0, 0.25], [2.0, 0.0, 0.0, 1.0]], [[0, 1, 0]])
    mesh = replace(TRIANGLE, colors=rgba, normals=Corners([[0.0, 0, 1]], [[0, 0, 7]]))
    read, lost = there_and_back(
        one_link(Shape(mesh, material=Material(diffuse=(2.0, 0.0, 0.0)))), tmp_path
    )
    assert set(lost) == {"LOSS026"}
    shape = read.links[0].visuals[0]
    assert shape.material.diffuse == (1.0, 0.0, 0.0)
    assert shape.geometry.normals is None
    assert shape.geometry.colors.values[shape.geometry.colors.indices].tolist() == [
        [[1.0, 0.5, 0.0], [1.0, 0.0, 0.0], [1.0, 0.5, 0.0]]
    ]


def test_numbers_that_are_none(tmp_path):
    joint = Joint(
        name="J",
        type="rotate",
        id=20_000,
        lower=np.inf,
        upper=np.nan,
        gear_ratio=np.nan,
    )
    segment = Segment(
        name="S",
        mass=np.nan,
        center_of_mass=np.array([np.inf, 0, 0]),
        inertia=np.full((3, 3), np.nan),
    )
    links = (
        Link(name="R", joint=Joint(name="R", type="fixed"), segments=(segment,)),
        Link(
            name="J",
            index=1,
            parent=0,
            joint=joint,
            offset=np.array([np.nan, 0, 0, 1, 0, 0, 0]),
        ),
    )
    devices = (
        VisionSensor(
            name="V",
            id=0,
            width=2**40,
            field_of_view=np.inf,
            pose=np.array([0.0, 0, 0, 0, 0, 0, 0]),
        ),
    )
    read, lost = there_and_back(
        Body(name="b", links=links, devices=devices, info=INFO), tmp_path
    )
    assert lost.count("LOSS024") == 10
    assert lost.count("LOSS025") == 1
    assert read.links[1].joint == Joint(name="J", type="rotate")
    assert read.devices == (VisionSensor(name="V", id=0),)
    assert not any(problem.severity == "error" for problem in read.problems)


def test_infinite_limits_are_none(tmp_path):
    assert there_and_back(one_link(), tmp_path)[1] == []
    declared, _, model = (tmp_path / "thing.wrl").read_text().partition("Humanoid {")
    assert re.search(r"exposedField MFFloat +llimit +\[ \]", declared)
    assert "limit" not in model


def test_devices_of_one_type_with_other_fields(tmp_path):
    devices = (
        OtherDevice(name="A", id=0, type="Nose", extra={"range": 1.5}),
        OtherDevice(name="B", id=1, type="Nose", extra={"unit": "ppm"}),
        OtherDevice(name="C", id=0, type="Joint", extra={}),
        OtherDevice(name="D", id=0, type="Geiger counter"),
    )
    read, lost = there_and_back(replace(one_link(), devices=devices), tmp_path)
    assert lost.count("LOSS023") == 2
    assert lost.count("LOSS020") == 1
    assert [device.kind for device in read.devices] == [
        "Nose",
        "Nose",
        "JointDevice",
        "Geiger_counter",
    ]
    assert read.devices[0].extra == {"range": 1.5, "unit": ""}


def test_what_is_seen_and_what_touches(tmp_path):
    """Shapes of both kinds in any order, each list as it was."""
    a, b, c, d = (Shape(Box((1.0, 1.0, float(k)))) for k in range(1, 5))
    for visuals, collisions in [
        ((a, b), (b, a)),
        ((a, b, c), (c,)),
        ((a,), (b, a, c)),
        ((), (a, b)),
        ((a, b, a), (a, a, d)),
        ((a, b, c, d), (d, b, a)),
        ((Shape(TRIANGLE),), (Shape(Mesh(np.eye(3), [[0, 1, 2]])),)),
    ]:
        body = one_link()
        segment = replace(
            body.links[0].segments[0], visuals=visuals, collisions=collisions
        )
        body = replace(body, links=(replace(body.links[0], segments=(segment,)),))
        read, lost = there_and_back(body, tmp_path)
        assert lost == []
        assert read == body


def test_a_scene_without_a_humanoid_stays_one(tmp_path):
    (tmp_path / "scene.wrl").write_text(
        '#VRML V2.0 utf8\nWorldInfo { info [ "a" ] }\nViewpoint { }\nShape { geometry Box { } }\n'
        "Collision { collide FALSE children Shape { geometry Sphere { } } }\n"
        "Collision { proxy Shape { geometry Cone { } } children Shape { geometry Cylinder { } } }\n"
    )
    body = read_openhrp(tmp_path / "scene.wrl").require()
    assert len(body.links[0].collisions) == 2
    assert write_openhrp(body, tmp_path / "scene.wrl") == ()
    assert read_openhrp(tmp_path / "scene.wrl").require() == body
    assert "Humanoid" not in (tmp_path / "scene.wrl").read_text()
    assert [
        problem.rule for problem in write_openhrp(body, tmp_path / "other.wrl")
    ] == ["LOSS020"]


def test_images_are_named_from_where_the_model_is(tmp_path):
    folder = tmp_path / "model"
    (folder / "images").mkdir(parents=True)
    image = folder / "images" / "skin.png"
    image.write_bytes(b"")
    uv = Corners([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [[0, 1, 2]])
    turned = np.array([[0.0, -2.0, 0.5], [1.0, 0.0, 0.25], [0.0, 0.0, 1.0]])
    texture = Texture(image, "images/skin.png", repeat_s=False, transform=turned)
    body = one_link(
        Shape(
            replace(TRIANGLE, texture_coordinates=uv),
            material=Material(texture=texture),
        )
    )
    for target, mesh, url in [
        (folder / "a.wrl", "inline", "images/skin.png"),
        (folder / "b.wrl", "parts", "../images/skin.png"),
        (tmp_path / "c.wrl", "inline", "model/images/skin.png"),
    ]:
        assert write_openhrp(body, target, mesh=mesh) == ()
        found = read_openhrp(target).require().links[0].visuals[0].material.texture
        assert (found.url, found.path.resolve(), found.repeat_s) == (
            url,
            image.resolve(),
            False,
        )
        assert np.abs(found.transform - turned).max() <= 1e-15
    (tmp_path / "elsewhere").mkdir()
    lost = write_openhrp(body, tmp_path / "elsewhere" / "d.wrl")
    assert [problem.rule for problem in lost] == ["LOSS026"]
    assert (
        read_openhrp(tmp_path / "elsewhere" / "d.wrl", allow_outside=True)
        .require()
        .links[0]
        .visuals[0]
        .material.texture
    )


def test_a_long_chain_is_written_and_said_to_be_too_deep(tmp_path):
    links = tuple(
        Link(
            name=f"L{i}", index=i, parent=i - 1, joint=Joint(name=f"L{i}", type="fixed")
        )
        for i in range(3000)
    )
    body = Body(name="chain", links=links, info=INFO)
    assert [
        problem.rule for problem in write_openhrp(body, tmp_path / "chain.wrl")
    ] == ["LOSS028"]
    assert (tmp_path / "chain.wrl").stat().st_size < 3000 * 400
    with pytest.raises(FormatError):
        read_openhrp(tmp_path / "chain.wrl").require()
    there_and_back(replace(body, links=links[:200]), tmp_path)


def test_the_old_file_stays_when_the_new_one_can_not_be_written(tmp_path):
    path = tmp_path / "model.wrl"
    path.write_text("old")
    body = one_link(extra_joints=(ExtraJoint(links=(0, 5)),))
    with pytest.raises(ValueError, match="is on link 5; the body has 1 link"):
        write_openhrp(body, path)
    assert path.read_text() == "old"


def test_boxes_of_written_models_stay(examples, tmp_path):
    body = bm.load(examples / "biped.wrl")
    read, _ = there_and_back(body, tmp_path, mesh="parts")
    for before, after in zip(body.links, read.links, strict=True):
        if before.visuals:
            assert np.array_equal(exact_box(before.visuals), exact_box(after.visuals))
