"""The tree of Joints and Segments: what stands where, how masses add up, what is refused and what is said."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_models import read, rules
from test_document import DECLARED, humanoid

import bodymotion as bm
from bodymotion.diagnostics import FormatError
from bodymotion.formats.openhrp import read_openhrp
from bodymotion.geometry import rotations
from bodymotion.model.links import Link, Segment


def load(folder, inside: str, before: str = "", after: str = ""):
    return read(folder, DECLARED + before + humanoid(inside) + after)


class TestTree:
    def test_links_stand_depth_first_in_order_of_the_file(self, tmp_path):
        body = load(
            tmp_path,
            """DEF A Joint { jointType "free" children [ DEF B Joint { jointType "rotate" jointId 2 children [
            DEF C Joint { jointType "rotate" jointId 0 } ] } DEF S Segment { mass 1 } Group { children DEF D Joint {
            jointType "slide" jointId 1 } } ] }""",
        )
        assert [(link.name, link.parent) for link in body.links] == [
            ("A", -1),
            ("B", 0),
            ("C", 1),
            ("D", 0),
        ]
        assert [joint.name for joint in body.joints] == ["C", "D", "B"]

    def test_prototypes_around_joints_are_looked_through(self, tmp_path):
        proto = """PROTO CylinderSensorX [ exposedField SFFloat maxAngle -1 exposedField MFNode children [ ] ] { Transform {
            rotation 0 0 1 -1.5708 children [ DEF Z CylinderSensor { maxAngle IS maxAngle } Transform { rotation 0 0 1 1.5708
            children IS children } ] } ROUTE Z.rotation_changed TO Z.set_rotation }\n"""
        body = load(
            tmp_path,
            """DEF A Joint { jointType "free" children CylinderSensorX { maxAngle 2 children [ DEF S Segment { mass 3 }
            DEF B Joint { jointType "rotate" jointId 0 } ] } }""",
            proto,
        )
        assert [link.name for link in body.links] == ["A", "B"] and body.links[
            0
        ].mass == 3

    def test_prototypes_that_stand_for_joints_and_sensors(self, tmp_path):
        protos = """PROTO Wheel [ field SFInt32 number 0 field MFNode inside [ ] ] { Joint { jointType "rotate" jointId IS number
            children IS inside } }
            PROTO FrontWheel [ ] { Wheel { number 1 inside [ Gyro { sensorId 0 } Segment { mass 3 } ] } }\n"""
        body = load(
            tmp_path,
            'DEF A Joint { jointType "free" children [ DEF B Wheel { } DEF C FrontWheel { } ] }',
            protos,
        )
        assert [(link.name, link.joint.id, link.mass) for link in body.links] == [
            ("A", -1, 0),
            ("B", 0, 0),
            ("C", 1, 3),
        ]
        assert [(device.kind, device.link) for device in body.devices] == [("Gyro", 2)]

    def test_segments_and_joints_in_other_files(self, tmp_path):
        (tmp_path / "arm.wrl").write_text(
            "#VRML V2.0 utf8\n"
            + DECLARED
            + 'DEF B Joint { jointType "rotate" jointId 0 children DEF S Segment { mass 2 } }'
        )
        body = load(
            tmp_path,
            'DEF A Joint { jointType "free" children Inline { url "arm.wrl" } }',
        )
        assert [(link.name, link.mass) for link in body.links] == [("A", 0), ("B", 2)]

    def test_a_segment_used_twice(self, tmp_path):
        body = load(
            tmp_path,
            """DEF A Joint { jointType "free" children [ DEF S Segment { mass 2 children Shape { geometry Sphere { } } }
            DEF B Joint { jointType "rotate" children [ USE S ] } ] }""",
        )
        assert [link.mass for link in body.links] == [2, 2]
        assert body.links[0].visuals[0].geometry is body.links[1].visuals[0].geometry

    def test_surface(self, tmp_path):
        link = load(
            tmp_path,
            """DEF A Joint { jointType "free" children DEF S Segment { children Transform { translation 1 0 0 children Surface {
            visual [ Shape { geometry Sphere { radius 1 } } ] collision [ Shape { geometry Box { } } ] } } } }""",
            "PROTO Surface [ field MFNode visual [ ] field MFNode collision [ ] ] { Group { children IS visual } }\n",
        ).links[0]
        assert [type(shape.geometry).__name__ for shape in link.visuals] == ["Sphere"]
        assert [type(shape.geometry).__name__ for shape in link.collisions] == ["Box"]
        assert link.collisions[0].transform[0, 3] == 1

    def test_shapes_that_stand_in_the_joint_itself(self, tmp_path):
        link = load(
            tmp_path,
            'DEF A Joint { jointType "free" children Shape { geometry Sphere { } } }',
        ).links[0]
        assert len(link.visuals) == 1 and link.mass == 0

    @pytest.mark.parametrize("mass", [0, 3])
    def test_a_humanoid_without_joints_is_one_fixed_link(self, tmp_path, mass):
        """The document: zero or more Joints and zero or one Segment."""
        segment = (
            f"DEF S Segment {{ mass {mass} children Shape {{ geometry Sphere {{ }} }} }}"
            if mass
            else ""
        )
        body = load(tmp_path, segment)
        assert [(link.name, link.joint.type, link.mass) for link in body.links] == [
            ("Root", "fixed", mass)
        ]
        assert len(body.links[0].visuals) == bool(mass)
        assert [p.rule for p in body.problems] == ["WRL102"]

    @pytest.mark.parametrize(
        ("inside", "rule", "words"),
        [
            (
                'DEF A Joint { jointType "free" children Transform { translation 0 0 1 children DEF B Joint { } } }',
                "WRL104",
                "'B'",
            ),
            (
                'DEF A Joint { jointType "free" children DEF S Segment { children DEF B Joint { } } }',
                "WRL105",
                "'B'",
            ),
            (
                'DEF A Joint { jointType "free" children DEF S Segment { children DEF T Segment { } } }',
                "WRL106",
                "'T'",
            ),
            ('DEF A Joint { jointType "hinge" }', "WRL120", "'hinge'"),
            ("DEF A Joint { }", "WRL120", "no jointType"),
            (
                'DEF A Joint { jointType "free" children DEF S Segment { momentsOfInertia [ 1 0 0 1 ] } }',
                "WRL140",
                "4 numbers",
            ),
            ('DEF A Joint { jointType "free" rotation 0 0 0 1 }', "VRML202", "'A'"),
            (
                'DEF A Joint { jointType "free" children Transform { rotation 0 0 0 1 } }',
                "VRML202",
                "Transform",
            ),
        ],
    )
    def test_refused(self, tmp_path, inside, rule, words):
        with pytest.raises(FormatError, match=words) as caught:
            load(tmp_path, inside)
        assert caught.value.problem.rule == rule
        assert caught.value.problem.location.line == DECLARED.count("\n") + 2
        assert "BODY106" not in [problem.rule for problem in caught.value.problems]

    @pytest.mark.parametrize(
        ("extra", "rule"),
        [
            ('ExtraJoint { link1Name "A" link2Name "Q" }', "BODY160"),
            ('ExtraJoint { link1Name "A" link2Name "A" jointType "rope" }', "WRL181"),
        ],
    )
    def test_refused_extra_joints(self, tmp_path, extra, rule):
        with pytest.raises(FormatError) as caught:
            load(tmp_path, 'DEF A Joint { jointType "free" }', after=extra)
        assert caught.value.problem.rule == rule

    @pytest.mark.parametrize(
        ("rule", "inside", "after"),
        [
            (
                "WRL101",
                'DEF A Joint { jointType "free" }',
                'DEF R2 Humanoid { humanoidBody Joint { jointType "fixed" } }',
            ),
            (
                "BODY125",
                'DEF A Joint { jointType "free" } DEF B Joint { jointType "free" }',
                "",
            ),
            (
                "WRL107",
                'DEF A Joint { jointType "free" }',
                "Shape { geometry Box { } }",
            ),
            ("WRL109", 'DEF A Joint { jointType "free" }', ""),
            (
                "BODY101",
                'DEF A Joint { jointType "free" children DEF A Joint { jointType "fixed" } }',
                "",
            ),
            ("BODY104", 'Joint { jointType "free" }', ""),
            (
                "BODY118",
                'DEF A Joint { jointType "free" children DEF B Joint { jointType "rotate" jointId 2 } }',
                "",
            ),
            (
                "BODY117",
                'DEF A Joint { jointType "rotate" jointId 0 children DEF B Joint { jointType "rotate" jointId 0 } }',
                "",
            ),
            (
                "WRL126",
                'DEF A Joint { jointType "free" children DEF B Joint { jointType "rotate" } }',
                "",
            ),
            ("WRL127", 'DEF A Joint { jointType "free" jointId 0 }', ""),
            (
                "WRL128",
                'DEF A Joint { jointType "rotate" jointId 1 children DEF B Joint { jointType "rotate" jointId 0 } }',
                "",
            ),
            ("BODY123", 'DEF A Joint { jointType "free" jointId 2000000000 }', ""),
            (
                "BODY112",
                'DEF A Joint { jointType "rotate" ulimit [ -1 ] llimit [ 1 ] }',
                "",
            ),
            ("WRL131", 'DEF A Joint { jointType "free" center 1 0 0 }', ""),
            (
                "WRL118",
                'DEF A Joint { jointType "free" children [ DEF S Segment { mass 1 } DEF S Segment { mass 1 } ] }',
                "",
            ),
            (
                "WRL118",
                'DEF A Joint { jointType "free" children Segment { mass 1 } }',
                "",
            ),
            ("WRL119", 'DEF A Joint { jointType "free" strange Group { } }', ""),
            (
                "WRL119",
                'DEF A Joint { jointType "free" strange [ Group { } Transform { } ] }',
                "",
            ),
            ("BODY121", 'DEF A Joint { jointType "free" gearRatio 0 }', ""),
            ("BODY121", 'DEF A Joint { jointType "free" torqueConst -1 }', ""),
            ("BODY121", 'DEF A Joint { jointType "free" encoderPulse -1 }', ""),
            ("BODY121", 'DEF A Joint { jointType "free" rotorResistor -1 }', ""),
            ("BODY106", 'DEF A Joint { jointType "free" rotation 1 1 0 2 }', ""),
            (
                "WRL140",
                f'DEF A Joint {{ jointType "free" children Segment {{ momentsOfInertia [ {"1 0 0 0 " * 3} ] }} }}',
                "",
            ),
            (
                "BODY130",
                'DEF A Joint { jointType "free" children Segment { mass -1 } }',
                "",
            ),
            (
                "BODY131",
                'DEF A Joint { jointType "free" children Segment { mass 0 } }',
                "",
            ),
            (
                "BODY132",
                'DEF A Joint { jointType "free" children Segment { mass 1 } }',
                "",
            ),
            (
                "BODY134",
                'DEF A Joint { jointType "free" children Segment { mass 1 momentsOfInertia [ 1 1 0 0 1 0 0 0 1 ] } }',
                "",
            ),
            (
                "BODY133",
                'DEF A Joint { jointType "free" children Segment { mass 1 momentsOfInertia [ 1 0 0 0 1 0 0 0 3 ] } }',
                "",
            ),
            (
                "BODY155",
                'DEF A Joint { jointType "free" children Transform { scale 2 2 2 children Segment { } } }',
                "",
            ),
            ("BODY105", 'DEF A Joint { jointType "free" translation nan 0 0 }', ""),
            (
                "BODY151",
                'DEF A Joint { jointType "free" children Gyro { sensorId 1 } }',
                "",
            ),
            (
                "BODY151",
                'DEF A Joint { jointType "free" children [ Gyro { sensorId 0 } Gyro { sensorId 0 } ] }',
                "",
            ),
            ("WRL162", 'DEF A Joint { jointType "free" children Gyro { } }', ""),
            (
                "WRL163",
                'DEF A Joint { jointType "free" children VisionSensor { type "HEAT" } }',
                "",
            ),
            (
                "BODY152",
                'DEF A Joint { jointType "free" children VisionSensor { fieldOfView 3.2 } }',
                "",
            ),
            (
                "BODY152",
                'DEF A Joint { jointType "free" children VisionSensor { frontClipDistance 11 } }',
                "",
            ),
            (
                "BODY152",
                'DEF A Joint { jointType "free" children VisionSensor { width 0 } }',
                "",
            ),
            (
                "BODY153",
                'DEF A Joint { jointType "free" children RangeSensor { scanStep 0 } }',
                "",
            ),
            (
                "BODY155",
                'DEF A Joint { jointType "free" children Transform { scale 2 1 1 children Gyro { } } }',
                "",
            ),
        ],
    )
    def test_said(self, tmp_path, rule, inside, after):
        body = load(tmp_path, inside, after=after)
        (problem, *_) = [
            problem for problem in bm.check(body).problems if problem.rule == rule
        ]
        assert body.links[0].name in ("A", "")
        if problem.subject or not rule.startswith("BODY"):
            assert (
                problem.location.line == DECLARED.count("\n") + 2
                and problem.location.column
            )

    def test_a_good_model_has_no_problems(self, tmp_path):
        body = read(
            tmp_path,
            DECLARED
            + """DEF R Humanoid { humanoidBody DEF A Joint { jointType "free" children [ DEF S Segment { mass 1
            momentsOfInertia [ 1 0 0 0 1 0 0 0 1 ] } DEF G Gyro { sensorId 0 } DEF B Joint { jointType "rotate" jointId 0 children
            DEF T Segment { mass 1 momentsOfInertia [ 1 0 0 0 1 0 0 0 1 ] } } ] } joints [ USE A USE B ] segments [ USE S USE T ] }""",
        )
        assert rules(body) == []

    def test_joint_columns_stay_small(self, tmp_path):
        """An id of two thousand million must not make as many columns."""
        body = load(tmp_path, 'DEF A Joint { jointType "rotate" jointId 2000000000 }')
        assert body.num_joints == 0


masses = st.floats(0.01, 10)
vectors = st.lists(st.floats(-2, 2), min_size=3, max_size=3).map(np.array)


@given(
    st.lists(
        st.tuples(st.integers(0, 2**32 - 1), vectors, vectors, st.floats(-3, 3)),
        min_size=1,
        max_size=4,
    )
)
def test_masses_merge_as_points_do(parts):
    """Segments made of mass points: the link has the mass, centre and inertia of all points together."""
    segments, all_points, all_masses = [], [], []
    for seed, shift, axis, angle in parts:
        rng = np.random.default_rng(seed)
        points, weights = rng.normal(size=(5, 3)), rng.uniform(0.1, 2, size=5)
        transform = np.eye(4)
        transform[:3, :3] = rotations.to_matrix(rotations.from_axis_angle(axis, angle))
        transform[:3, 3] = shift
        center, inertia = point_masses(points, weights)
        segments.append(
            Segment(
                transform=transform,
                mass=float(weights.sum()),
                center_of_mass=center,
                inertia=inertia,
            )
        )
        all_points.append(points @ transform[:3, :3].T + shift)
        all_masses.append(weights)
    link = Link(segments=tuple(segments))
    points, weights = np.concatenate(all_points), np.concatenate(all_masses)
    center, inertia = point_masses(points, weights)
    assert link.mass == pytest.approx(weights.sum())
    assert np.allclose(link.center_of_mass, center, atol=1e-12)
    assert np.allclose(link.inertia, inertia, atol=1e-9)


def point_masses(points, weights):
    """Return centre (3,) and inertia (3, 3) about it by the definition: Σ m (r² 1 − r rᵀ)."""
    center = weights @ points / weights.sum()
    arms = points - center
    inertia = sum(
        m * (r @ r * np.eye(3) - np.outer(r, r))
        for m, r in zip(weights, arms, strict=True)
    )
    return center, inertia


def test_segments_under_transforms(tmp_path):
    """Two rods of 1 kg at right angles: one along x from the origin, the other moved and turned by a Transform."""
    rod = "Segment { mass 1 centerOfMass 0.5 0 0 momentsOfInertia [ 0 0 0 0 0.08333333333333333 0 0 0 0.08333333333333333 ] }"
    body = load(
        tmp_path,
        f"""DEF A Joint {{ jointType "free" children [ DEF S {rod} Transform {{ translation 1 0 0
        rotation 0 0 1 1.5707963267948966 children DEF T {rod} }} ] }}""",
    )
    (link,) = body.links
    assert [segment.name for segment in link.segments] == ["S", "T"]
    assert link.mass == 2 and np.allclose(link.center_of_mass, [0.75, 0.25, 0])
    # About the common centre: 1/12 along each rod's normal, plus two masses at (∓1/4, ∓1/4) from it.
    ixx = 1 / 12 + 2 / 16
    assert np.allclose(
        link.inertia, [[ixx, -2 / 16, 0], [-2 / 16, ixx, 0], [0, 0, 2 / 12 + 4 / 16]]
    )


HUGE = "centerOfMass 1e200 0 0"


@pytest.mark.parametrize("types", [DECLARED, ""], ids=["declared", "undeclared"])
@pytest.mark.parametrize(
    "inside",
    [
        f"Segment {{ mass 1 }} Segment {{ mass 1 {HUGE} }}",
        "Segment { mass 1e308 momentsOfInertia [ 1 0 0 0 1 0 0 0 1 ] } Segment { mass 1e308 }",
        f"Segment {{ mass 1 }} Segment {{ mass -2 {HUGE} }}",
        f"Transform {{ scale 1e200 1 1 children Segment {{ mass 1 {HUGE} }} }}",
    ],
)
def test_masses_that_overflow_together_are_said(tmp_path, types, inside):
    body = read(
        tmp_path,
        types + humanoid(f'DEF R Joint {{ jointType "free" children [ {inside} ] }}'),
    )
    said = [problem for problem in body.problems if problem.rule == "BODY105"]
    assert len(said) == 1 and "'R'" in said[0].message and said[0].severity == "error"


@pytest.mark.parametrize(
    ("inside", "rule"),
    [
        ("Gyro { sensorId 0 translation 1e200 0 0 }", "BODY105"),
        ("Transform { scale 1e200 1 1 children Segment { mass 1 } }", "VRML207"),
        (
            "Gyro { sensorId 0 translation 1e200 0 0 children Transform { scale 1e200 1 1 children Gyro { } } }",
            "VRML207",
        ),
    ],
)
def test_places_that_overflow_are_said(tmp_path, inside, rule):
    text = humanoid(
        f'DEF R Joint {{ jointType "free" children Transform {{ scale 1e200 1 1 children [ {inside} ] }} }}'
    )
    try:
        problems = read(tmp_path, text).problems
    except FormatError as error:
        problems = (error.problem,)
    assert rule in [problem.rule for problem in problems]


def test_a_model_installed_as_symbolic_links(tmp_path):
    source, installed = tmp_path / "source", tmp_path / "installed"
    for name, text in (
        (
            "r.wrl",
            humanoid(
                'DEF A Joint { jointType "free" children Segment { children Inline { url "parts/box.wrl" } } }'
            ),
        ),
        (
            "parts/box.wrl",
            'Shape { geometry Box { } appearance Appearance { texture ImageTexture { url "i.png" } } }',
        ),
        ("parts/i.png", ""),
    ):
        for folder in (source, installed):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(f"#VRML V2.0 utf8\n{text}")
        (installed / name).symlink_to(source / name)
    body = read_openhrp(installed / "r.wrl").require()
    (shape,) = body.links[0].visuals
    assert shape.material.texture is not None
    assert not [
        problem for problem in body.problems if problem.rule.startswith("VRML13")
    ]


@pytest.mark.parametrize(
    ("field", "read_as"),
    [
        ("translation 1 2 3 4", [1, 2, 3]),
        ("translation [ 1 2 3 4 5 6 ]", [1, 2, 3]),
        ("rotation 0 0 1 0 5", [0, 0, 0]),
    ],
)
def test_more_numbers_than_a_field_has_are_said(tmp_path, field, read_as):
    body = read(tmp_path, humanoid(f'DEF R Joint {{ jointType "free" {field} }}'))
    assert rules(body).count("WRL148") == 1
    assert body.links[0].offset[:3].tolist() == read_as
    with pytest.raises(FormatError):
        read(
            tmp_path,
            DECLARED
            + humanoid(
                f'DEF R Joint {{ jointType "free" {field.replace("[", "").replace("]", "")} }}'
            ),
        )


@pytest.mark.parametrize(
    "field",
    ["jointAxis 1 0 0 0", "jointId 1 2", "gearRatio 100 1", "rotorInertia [ 1 2 ]"],
    ids=str.split,
)
def test_more_numbers_than_a_joint_needs_are_said(tmp_path, field):
    body = read(
        tmp_path,
        humanoid(
            f'DEF R Joint {{ jointType "free" children DEF A Joint {{ jointType "rotate" {field} }} }}'
        ),
    )
    assert rules(body).count("WRL148") == 1


@pytest.mark.parametrize(
    "field", ["momentsOfInertia [ 1 0 0 0 1 0 0 0 1 ]", "centerOfMass 1 2 3", "mass 1"]
)
def test_as_many_numbers_as_a_field_has_are_right(tmp_path, field):
    body = read(
        tmp_path,
        humanoid(f'DEF R Joint {{ jointType "free" children Segment {{ {field} }} }}'),
    )
    assert "WRL148" not in rules(body)


def test_a_sensor_that_nobody_declares_is_kept(tmp_path):
    text = 'DEF R Joint { jointType "free" children DEF S MySensor { sensorId 3 translation 1 2 3 gain 0.5 } }'
    body = read(tmp_path, humanoid(text))
    (device,) = body.devices
    assert (device.kind, device.name, device.id, device.pose[:3].tolist()) == (
        "MySensor",
        "S",
        3,
        [1, 2, 3],
    )
    assert device.extra["gain"] == 0.5
    assert "WRL168" in rules(body) and "VRML212" not in rules(body)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ('jointType "rotate" jointId 0', True),
        ('jointType "slide" jointId 0', True),
        ('jointType "rotate"', False),
        ('jointType "free"', False),
    ],
)
def test_a_root_with_a_column_that_moves_nothing_is_said(tmp_path, fields, said):
    body = read(tmp_path, humanoid(f"DEF R Joint {{ {fields} }}"))
    assert any(problem.rule == "BODY119" for problem in bm.check(body).problems) is said
    assert body.num_joints == said
    if said:
        assert np.array_equal(
            body.forward_kinematics([0.5]), body.forward_kinematics([0.0])
        )


def test_words_of_the_humanoid_and_of_the_world(tmp_path):
    """A WorldInfo beside a Humanoid does not take the place of the Humanoid's own info."""
    humanoid = """DEF R Humanoid { info [ "author: me" "licence: BSD" ] humanoidBody DEF A Joint { jointType "free" } }"""
    body = read(tmp_path, f"""WorldInfo {{ title "T" info [ "w" ] }}\n{humanoid}""")
    assert body.info["info"] == "author: me\nlicence: BSD"
    assert (body.info["title"], body.info["world_info"]) == ("T", ["w"])


def test_a_joint_that_is_listed_twice(tmp_path):
    humanoid = """DEF R Humanoid { humanoidBody DEF A Joint { jointType "free" } joints [ USE A USE A ] }"""
    (problem,) = (p for p in read(tmp_path, humanoid).problems if p.rule == "WRL109")
    assert problem.location.line == 2
