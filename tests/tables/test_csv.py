"""Tables of comma-separated values: what the columns are, what is refused, what comes back."""

from __future__ import annotations

import contextlib
import math
import pickle
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import bodymotion as bm
from bodymotion.formats import registry
from bodymotion.formats.npz.layouts import G1_JOINTS
from bodymotion.geometry import rotations
from bodymotion.model.body import Body
from bodymotion.model.links import Joint, Link
from bodymotion.motion import Motion, MultiSE3Seq, MultiValueSeq, OtherSeq, Vector3Seq
from bodymotion.motion.components import Timeline
from sample_files import tries

read_csv = partial(bm.load, format="csv")

finite = st.floats(allow_nan=False, allow_infinity=False)


def table(tmp_path, text: str):
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode())
    return path


def refused(path, rule: str, **options) -> bm.Problem:
    with pytest.raises(bm.FormatError) as caught:
        bm.load(path, **options)
    assert caught.value.problem.rule == rule, caught.value.problem
    return caught.value.problem


def arm() -> Body:
    """A base, a turning shoulder and elbow, a sliding hand."""
    links = [
        Link(name="BASE", index=0, parent=-1, joint=Joint(name="BASE", type="fixed"))
    ]
    for k, (name, kind) in enumerate(
        (("SHOULDER", "rotate"), ("ELBOW", "rotate"), ("HAND", "slide"))
    ):
        links.append(
            Link(
                name=name,
                index=k + 1,
                parent=k,
                joint=Joint(name=name, type=kind, id=k),
            )
        )
    return Body(name="arm", links=tuple(links))


@st.composite
def motions(draw):
    count = draw(st.integers(2, 5))
    stamps = np.cumsum(
        draw(st.lists(st.floats(0.001, 10), min_size=count, max_size=count))
    )
    uniform = Timeline.uniform(
        count, draw(st.sampled_from([30.0, 100.0, 333.3333333333333, 500.0, 0.1, 1e3]))
    )
    timeline = draw(st.sampled_from([uniform, Timeline.stamped(stamps)]))
    joints = draw(st.integers(1, 3))
    q = draw(
        arrays.arrays(
            np.float64, (count, joints), elements=st.one_of(st.floats(-12, 12), finite)
        )
    )
    links = draw(st.integers(1, 3))
    turns = rotations.normalized(
        draw(arrays.arrays(np.float64, (count, links, 4), elements=st.floats(0.1, 1)))
    )
    places = draw(arrays.arrays(np.float64, (count, links, 3), elements=finite))
    labels = ("左肩", "a,b", 'say "hi"')[:joints] if draw(st.booleans()) else ()
    link_labels = (
        ("WAIST", "CHEST", "L/HAND")[:links]
        if links > 1 and draw(st.booleans())
        else ()
    )
    components = [
        MultiSE3Seq(
            content="LinkPosition",
            timeline=timeline,
            values=np.concatenate([places, turns], axis=-1),
            part_labels=link_labels,
        ),
        MultiValueSeq(
            content="JointDisplacement", timeline=timeline, values=q, part_labels=labels
        ),
        Vector3Seq(
            content="ZMP",
            timeline=timeline,
            values=draw(arrays.arrays(np.float64, (count, 3), elements=finite)),
            is_root_relative=draw(st.booleans()),
        ),
    ]
    kept = draw(
        st.lists(st.sampled_from([0, 1, 2]), min_size=1, unique=True).map(sorted)
    )
    return Motion(tuple(components[k] for k in kept))


def unwished(component):
    """Take off the rate that is wished for stamped frames: a reader gives even ones the rate that they follow."""
    if component.timeline.stamps is None:
        return component
    return replace(component, timeline=Timeline.stamped(component.timeline.times))


@pytest.mark.parametrize("suffix", [".csv", ".npz"])
@settings(max_examples=tries(60), deadline=None)
@given(motion=motions())
def test_what_is_written_comes_back(tmp_path_factory, suffix, motion):
    path = tmp_path_factory.mktemp("tables") / f"a{suffix}"
    assert not bm.save(motion, path).problems
    back = bm.load(path)
    assert tuple(unwished(c) for c in back.components) == motion.components
    assert not back.problems
    for one, other in zip(back.timed, motion.timed, strict=True):
        assert (
            np.ascontiguousarray(one.values).tobytes()
            == np.ascontiguousarray(other.values).tobytes()
        )


def test_names_say_what_columns_are(tmp_path):
    """In any order, with either prefix, with units."""
    path = table(
        tmp_path,
        "KNEE [deg],base_qz,base_qw,time,base_z [cm],base_qx,base_y,zmp_y,base_x [mm],base_qy,HIP,zmp_x,zmp_z\n"
        "90,0.6,0.8,0,70,0,2,0.2,1000,0,0.5,0.1,0.3\n"
        "-180,0.6,0.8,0.5,71,0,2,0.2,1001,0,0.6,0.1,0.3\n",
    )
    motion = bm.load(path)
    assert motion.timeline == Timeline.uniform(2, 2)
    assert np.allclose(
        motion.link_position.values[0, 0], [1, 2, 0.7, 0.8, 0, 0, 0.6], atol=1e-15
    )
    assert motion.joint_displacement.part_labels == ("KNEE", "HIP")
    assert np.allclose(
        motion.joint_displacement.values,
        [[math.pi / 2, 0.5], [-math.pi, 0.6]],
        atol=1e-15,
    )
    assert np.array_equal(motion.zmp.values[0], [0.1, 0.2, 0.3])


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,2\n3,4\n",
        "a;b\n1;2\n3;4",
        "a\tb\r\n1\t2\r\n3\t4\r\n",
        "a b\n 1  2 \n3 4\n",
        "\ufeffa,b\n1,2\n\n3,4\n\n",
        "# made by hand\na,b\n1,2\n# a remark\n3,4\n",
        "# a b\n1.0e+00 2.0e+00\n+3. 4.0\n",
        '"a","b"\n"1","2"\n3,4\n',
    ],
)
def test_dialects(tmp_path, text):
    motion = bm.load(table(tmp_path, text), frame_rate=10)
    assert motion.joint_displacement.part_labels == ("a", "b")
    assert np.array_equal(motion.joint_displacement.values, [[1, 2], [3, 4]])


def test_a_table_without_names_needs_a_word(tmp_path):
    path = table(tmp_path, "1,2,3,0,0,0.6,0.8,0.1,0.2\n1,2,3,0,0,0.6,0.8,0.1,0.3\n")
    assert [p.rule for p in bm.load(path).problems] == ["CSV013"], (
        "columns 4 to 7 are quaternions"
    )
    assert bm.load(path) == bm.load(path, layout="unitree")
    assert (
        "unitree"
        in refused(table(tmp_path, "1,2,3,0,0,0.6,0.9,0.1,0.2\n"), "CSV001").hint
    )
    path = table(tmp_path, "1,2,3,0,0,0.6,0.8,0.1,0.2\n1,2,3,0,0,0.6,0.8,0.1,0.3\n")
    motion = bm.load(path, layout="unitree")
    assert motion.timeline == Timeline.uniform(2, 30)
    assert np.array_equal(motion.link_position.values[0, 0], [1, 2, 3, 0.8, 0, 0, 0.6])
    assert np.array_equal(motion.joint_displacement.values, [[0.1, 0.2], [0.1, 0.3]])
    other = bm.load(path, layout="unitree", frame_rate=50, quaternion_order="wxyz")
    assert np.array_equal(other.link_position.values[0, 0], [1, 2, 3, 0, 0, 0.6, 0.8])
    assert other.frame_rate == 50
    named = bm.load(
        path,
        columns=[
            "root_x",
            "root_y",
            "root_z",
            "root_qx",
            "root_qy",
            "root_qz",
            "root_qw",
            "A",
            "B",
        ],
        frame_rate=30,
    )
    assert named.link_position == motion.link_position
    assert named.joint_displacement.part_labels == ("A", "B")
    report = bm.save(motion, tmp_path / "b.csv", layout="unitree")
    assert not report.problems
    assert bm.load(tmp_path / "b.csv", layout="unitree") == motion
    assert [
        p.rule
        for p in bm.save(
            motion.resample(100), tmp_path / "b.csv", layout="unitree"
        ).losses
    ] == ["LOSS010"]


@pytest.mark.parametrize(("cell", "rules"), [("nan", set()), ("x1", {"TAB004"})])
def test_a_bad_cell_of_a_table_without_names(tmp_path, cell, rules):
    """The table keeps its layout and the order of its quaternions; only the cell is reported."""
    rows = ["0,0,0.8,1,0,0,0,0.1"] * 60
    rows[42] = f"0,0,0.8,{cell},0,0,0,0.1"
    _, found = registry.read(table(tmp_path, "\n".join(rows)))
    assert {p.rule for p in found.problems} - {"CSV012", "CSV013"} == rules
    assert all(p.location.line == 43 for p in found.problems if p.rule in rules)
    np.testing.assert_array_equal(
        np.delete(found.value.link_position.values, 42, axis=0)[:, 0, 3:],
        [[1, 0, 0, 0]] * 59,
    )
    checked = bm.check(tmp_path / "a.csv")
    assert {(p.rule, p.location.line) for p in checked.errors} == {
        (*(rules or {"MOT101"}), 43)
    }


@pytest.mark.parametrize("yaw", [0.0, 1.0, -0.8])
def test_the_order_of_a_quaternion_that_has_the_root_upright(yaw, tmp_path):
    """Kimodo writes w first, Unitree last; a robot that stands, and one on its head, tell them apart."""
    w, z = math.cos(yaw / 2), math.sin(yaw / 2)
    first = table(tmp_path, f"0,0,0.8,{w},0,0,{z},0.1\n")
    motion = bm.load(first, layout="unitree")
    np.testing.assert_allclose(motion.link_position.values[0, 0, 3:], [w, 0, 0, z])
    assert [p.rule for p in motion.problems] == ["CSV012"]
    assert not bm.load(first, layout="unitree", quaternion_order="xyzw").problems
    last = bm.load(table(tmp_path, f"0,0,0.8,0,0,{z},{w},0.1\n"), layout="unitree")
    np.testing.assert_allclose(last.link_position.values[0, 0, 3:], [w, 0, 0, z])
    assert not last.problems


def test_nothing_is_guessed(tmp_path):
    assert "--input-rate" in refused(table(tmp_path, "a,b\n1,2\n"), "CSV002").hint
    unclear = table(
        tmp_path,
        "root_x,root_y,root_z,root_q0,root_q1,root_q2,root_q3\n0,0,0,1,0,0,0\n",
    )
    assert "--quaternion-order" in refused(unclear, "CSV003", frame_rate=1).hint
    first = bm.load(
        unclear, frame_rate=1, quaternion_order="wxyz"
    ).link_position.values[0, 0]
    last = bm.load(unclear, frame_rate=1, quaternion_order="xyzw").link_position.values[
        0, 0
    ]
    assert first.tolist() == [0, 0, 0, 1, 0, 0, 0]
    assert last.tolist() == [0, 0, 0, 0, 1, 0, 0]
    large = table(tmp_path, "KNEE,HIP\n90,1\n")
    assert "--input-degrees" in refused(large, "CSV004", frame_rate=1).hint
    assert bm.load(
        large, frame_rate=1, degrees=False
    ).joint_displacement.values.tolist() == [[90, 1]]
    assert np.allclose(
        bm.load(large, frame_rate=1, degrees=True).joint_displacement.values,
        [[math.pi / 2, math.pi / 180]],
    )


@pytest.mark.parametrize(
    ("text", "rule", "line", "column"),
    [
        ("a,b\n1,2\n3\n", "TAB003", 3, 1),
        ("a,b\n1,2\n3,x\n", "TAB004", 3, 3),
        ("a,b\n1,2\n3,\n", "TAB004", 3, 3),
        ("a,b\n1,1_000\n", "TAB004", 2, 3),
        ("a,b\n1,0x10\n", "TAB004", 2, 3),
        ("", "TAB002", None, None),
        ("\n\n# only a remark\n", "TAB002", None, None),
        ("time,a\n0,1\n1,2\n1,3\n", "MOT105", 4, None),
        ("time,a\nnan,1\n", "MOT105", 2, None),
        ("a,a\n1,2\n", "CSV006", 1, None),
        ("a [furlong],b\n1,2\n", "CSV006", 1, None),
        ("root_x,root_y\n1,2\n", "CSV005", 1, None),
        ("root_x,root_y,root_z,a\n1,2,3,4\n", "CSV005", 1, None),
        (
            "root_x,root_y,root_z,root_qw,root_qx,root_qy\n1,2,3,1,0,0\n",
            "CSV005",
            1,
            None,
        ),
        ("zmp_x,zmp_y\n1,2\n", "CSV005", 1, None),
        ("\udc80,a\n1,2\n", "TAB006", 1, None),
    ],
)
def test_faults_have_their_place(tmp_path, text, rule, line, column):
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    problem = refused(path, rule, frame_rate=10)
    assert (problem.location.line, problem.location.column) == (line, column)


def test_lengths_of_quaternions_are_judged_as_in_other_formats(tmp_path):
    rows = "".join(f"1,2,3,{length},0,0,0\n" for length in (1, 1.05, 0, 5))
    path = table(
        tmp_path, "root_x,root_y,root_z,root_qw,root_qx,root_qy,root_qz\n" + rows
    )
    found = {
        (p.rule, p.severity, p.location.line)
        for p in bm.check(path, frame_rate=10).problems
    }
    assert found == {
        ("MOT102", "warning", 3),
        ("MOT103", "warning", 4),
        ("MOT104", "error", 5),
    }
    assert bm.load(path, frame_rate=10).link_position.values[:, 0, 3].tolist() == [
        1,
        1.05,
        0,
        5,
    ]


def test_roll_pitch_yaw(tmp_path):
    path = table(
        tmp_path,
        "root_yaw,root_x,root_y,root_z,root_pitch,root_roll\n90,0,0,0,0,0\n0,0,0,0,90,0\n0,0,0,0,0,90\n",
    )
    turns = bm.load(path, frame_rate=1, degrees=True).link_position.values[:, 0, 3:]
    half = math.sqrt(0.5)
    assert np.allclose(
        turns, [[half, 0, 0, half], [half, 0, half, 0], [half, half, 0, 0]], atol=1e-15
    )


def test_joints_go_by_name(tmp_path):
    body = arm()
    path = table(tmp_path, "HAND,ELBOW,SHOULDER\n0.3,20,10\n")
    motion = bm.load(path, body=body, frame_rate=1, degrees=True)
    assert motion.joint_displacement.part_labels == ("SHOULDER", "ELBOW", "HAND")
    # A sliding joint is in metres whatever angles are in.
    assert np.allclose(
        motion.joint_displacement.values,
        [[math.radians(10), math.radians(20), 0.3]],
        atol=1e-15,
    )
    problem = refused(
        table(tmp_path, "HAND,KNEE\n1,2\n"), "TAB101", body=body, frame_rate=1
    )
    assert problem.data["names"] == ["KNEE"]
    partly = bm.load(table(tmp_path, "HAND,ELBOW\n1,2\n"), body=body, frame_rate=1)
    assert partly.joint_displacement.values.tolist() == [[0, 2, 1]]
    assert [p.rule for p in partly.problems] == ["TAB102", "CSV011"]
    generic = bm.load(
        table(tmp_path, "joint_2,joint_0,joint_1\n3,1,2\n"), body=body, frame_rate=1
    )
    assert generic.joint_displacement.values.tolist() == [[1, 2, 3]]
    cross = bm.load(
        table(tmp_path, "joint_2,joint_0,joint_1\n3,180,90\n"),
        body=body,
        frame_rate=1,
        degrees=True,
    )
    assert np.allclose(cross.joint_displacement.values, [[math.pi, math.pi / 2, 3]])
    nameless = table(tmp_path, "0,0,0,0,0,0,1,1,2\n")
    assert (
        "SHOULDER, ELBOW, HAND"
        in refused(nameless, "CSV007", body=body, layout="unitree").message
    )


def test_numbered_joints_are_joints_by_id(tmp_path):
    crossed = bm.load(
        table(
            tmp_path, "time,joint_1,joint_2 [deg],joint_0\n0,1,180,0.5\n1,1.5,90,0.25\n"
        )
    )
    assert np.allclose(
        crossed.joint_displacement.values,
        [[0.5, 1, math.pi], [0.25, 1.5, math.pi / 2]],
        atol=1e-15,
    )
    assert crossed.joint_displacement.part_labels == ()
    assert [p.rule for p in crossed.problems] == ["CSV011"]
    gaps = bm.load(
        table(tmp_path, "joint_3,joint_1\n3,1\n"), frame_rate=1, degrees=False
    )
    assert gaps.joint_displacement.values.tolist() == [[0, 1, 0, 3]]
    (problem,) = gaps.problems
    assert problem.rule == "TAB102"
    assert "joint_0, joint_2" in problem.message
    refused(table(tmp_path, "joint_1,joint_01\n3,1\n"), "TAB103", frame_rate=1)
    refused(table(tmp_path, "joint_999999\n" + "0\n" * 1000), "TAB104", frame_rate=1)
    some = bm.load(table(tmp_path, "joint_1,KNEE\n3,1\n"), frame_rate=1)
    assert some.joint_displacement.part_labels == ("joint_1", "KNEE")


def test_names_that_would_be_read_as_ids_are_not_written(tmp_path):
    motion = bm.Motion.from_joints([[1.0, 2.0]], 10, joint_names=("joint_1", "joint_0"))
    assert "LOSS009" in [p.rule for p in bm.save(motion, tmp_path / "a.csv").losses]
    assert bm.load(tmp_path / "a.csv").joint_displacement.values.tolist() == [[1, 2]]


def test_names_of_a_body_are_written(tmp_path):
    motion = bm.Motion.from_joints([[0.1, 0.2, 0.3], [0.2, 0.3, 0.4]], 50)
    bm.save(motion, tmp_path / "a.csv", body=arm(), degrees=True)
    first = (tmp_path / "a.csv").read_text().splitlines()[0]
    assert first == "time,SHOULDER [deg],ELBOW [deg],HAND [m]"
    back = bm.load(tmp_path / "a.csv")
    assert np.allclose(
        back.joint_displacement.values, motion.joint_displacement.values, atol=1e-15
    )


def test_times(tmp_path):
    assert (
        bm.load(
            table(tmp_path, "time,a\n0,1\n0.033333,2\n0.066667,3\n0.1,4\n")
        ).frame_rate
        == 30
    )
    uneven = bm.load(table(tmp_path, "t,a\n0,1\n0.1,2\n0.3,3\n"))
    assert uneven.timeline == Timeline.stamped([0, 0.1, 0.3])
    tiny = bm.load(table(tmp_path, "t,a\n0,1\n5e-324,2\n"))
    assert tiny.timeline == Timeline.stamped([0, 5e-324])
    late = table(tmp_path, "timestamp [ms],a\n1500,1\n1502,2\n1504,3\n")
    assert bm.load(late).timeline == Timeline.stamped([1.5, 1.502, 1.504], 500)
    assert bm.load(late, from_zero=True).timeline == Timeline.uniform(3, 500)


def test_losses_are_reported(tmp_path):
    timeline = Timeline.uniform(3, 100)
    motion = Motion(
        (
            MultiValueSeq(
                content="JointDisplacement",
                timeline=timeline,
                values=np.zeros((3, 2)),
                part_labels=("time", "b"),
                extra={"k": 1},
            ),
            MultiValueSeq(
                content="JointEffort", timeline=timeline, values=np.zeros((3, 2))
            ),
            Vector3Seq(
                content="ZMP", timeline=Timeline.uniform(2, 50), values=np.zeros((2, 3))
            ),
            OtherSeq(type="Foo", content="bar"),
        ),
        extra={"maker": "me"},
    )
    found = [p.rule for p in bm.save(motion, tmp_path / "a.csv").losses]
    assert sorted(found) == [
        "LOSS007",
        "LOSS007",
        "LOSS008",
        "LOSS008",
        "LOSS009",
        "LOSS011",
    ]
    found = [p.rule for p in bm.save(motion, tmp_path / "a.npz").losses]
    assert sorted(found) == ["LOSS007", "LOSS007", "LOSS008", "LOSS008", "LOSS011"]
    with pytest.raises(ValueError, match="nothing to write"):
        bm.save(Motion(()), tmp_path / "a.csv")


def test_a_quaternion_that_is_none_is_kept(tmp_path):
    """Uninitialised memory, as the reference program writes it."""
    poses = np.array(
        [
            [[0, 0, 1, 2.0, 0, 0, 0]],
            [[0, 0, 1, 0, 0, 0, 0]],
            [[0, 0, 1, 1.0001, 0, 0, 0]],
        ]
    )
    motion = Motion(
        (
            MultiSE3Seq(
                content="LinkPosition", timeline=Timeline.uniform(3, 10), values=poses
            ),
        )
    )
    assert not bm.save(motion, tmp_path / "a.csv").losses
    np.testing.assert_array_equal(
        bm.load(tmp_path / "a.csv").link_position.values, poses
    )


def test_a_long_table(tmp_path):
    """More than one block, with a fault in the last of them."""
    rng = np.random.default_rng(0)
    motion = bm.Motion.from_joints(
        rng.normal(size=(30000, 20)) * 10.0 ** rng.integers(-9, 1, size=(30000, 20)),
        200,
    )
    path = tmp_path / "a.csv"
    bm.save(motion, path)
    assert path.stat().st_size > 8 << 20
    assert bm.load(path) == motion
    text = path.read_bytes().rstrip(b"\n").removesuffix(b"1").removesuffix(b"2")
    path.write_bytes(text + b"x\n")
    assert refused(path, "TAB004").location.line == 30001


@settings(max_examples=tries(200), deadline=None)
@given(
    data=st.one_of(
        st.binary(max_size=200),
        st.text('0123456789.,;eE+- \n\t"#abtimeroot_xqnf[]', max_size=200).map(
            str.encode
        ),
    )
)
def test_any_bytes(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("any") / "a.csv"
    path.write_bytes(data)
    for options in (
        {},
        {"frame_rate": 10.0, "layout": "unitree"},
        {"frame_rate": 10.0, "degrees": True},
    ):
        with contextlib.suppress(bm.FormatError):
            assert isinstance(read_csv(path, **options), Motion)


def bent(limit: float) -> Body:
    """A base and two knees that bend from 0 to `limit` [rad]."""
    links = [
        Link(name="BASE", index=0, parent=-1, joint=Joint(name="BASE", type="fixed"))
    ]
    for k, name in enumerate(("L_KNEE", "R_KNEE")):
        joint = Joint(name=name, type="rotate", id=k, lower=0.0, upper=limit)
        links.append(Link(name=name, index=k + 1, parent=0, joint=joint))
    return Body(name="legs", links=tuple(links))


def test_the_unit_of_angles_is_said_when_it_is_taken_for_granted(tmp_path):
    path = table(tmp_path, "time,L_KNEE,R_KNEE\n0,12,5\n1,8,4\n")
    (note,) = bm.load(path).problems
    assert (note.rule, note.severity) == ("CSV011", "note")
    assert "L_KNEE, R_KNEE" in note.message
    assert "--input-degrees" in note.hint
    for said in (True, False):
        assert not bm.load(path, degrees=said).problems
    assert not bm.load(
        table(tmp_path, "time,L_KNEE [deg],R_KNEE [rad]\n0,12,5\n1,8,4\n")
    ).problems


def test_angles_far_beyond_the_limits_of_a_joint_may_be_degrees(tmp_path):
    path = table(tmp_path, "time,R_KNEE,L_KNEE\n0,1,5\n1,2,4\n")
    problem = refused(path, "CSV004", body=bent(2.5))
    assert "L_KNEE" in problem.message and "2.5 rad" in problem.message
    assert "--input-degrees" in problem.hint
    assert bm.load(
        path, body=bent(2.5), degrees=False
    ).joint_displacement.values.tolist() == [[5, 1], [4, 2]]
    assert [p.rule for p in bm.load(path, body=bent(4.5)).problems] == ["CSV011"]


@pytest.mark.parametrize("value", [5.0, -4.0])
def test_one_frame_beyond_the_limits_is_not_in_degrees(value, tmp_path):
    """It is found as what it is, and hides no number that is not finite."""
    rows = [[k / 10, 0.5, 0.5] for k in range(10)]
    rows[6][1], rows[4][2] = value, math.nan
    path = table(
        tmp_path, "time,L_KNEE,R_KNEE\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows)
    )
    assert bm.load(path, body=bent(2.5)).joint_displacement.values[6].tolist() == [
        value,
        0.5,
    ]
    found = {(p.rule, p.location.line) for p in bm.check(path, body=bent(2.5)).problems}
    assert {("MOT101", 6), ("MOT204", 8)} <= found
    assert "CSV004" not in {rule for rule, _ in found}


@pytest.mark.parametrize("value", [5, 90])
def test_joints_that_look_like_degrees_are_all_that_is_found(value, tmp_path):
    pose = "root_x,root_y,root_z,root_qw,root_qx,root_qy,root_qz"
    rows = "".join(f"{k / 10},0,0,0,1,0,0,0,{value},{value}\n" for k in range(10))
    path = table(tmp_path, f"time,{pose},L_KNEE,R_KNEE\n{rows}")
    assert [
        (p.rule, p.location.line) for p in bm.check(path, body=bent(2.5)).problems
    ] == [("CSV004", 1)]


@pytest.mark.parametrize(
    ("column", "rule"),
    [("joint_3", "CSV006"), ("joint_03", "TAB103")],
)
def test_joints_without_a_clear_column_are_unknown(column, rule, examples, tmp_path):
    """No value is made up for them, nothing follows, and the other joints are checked."""
    path = tmp_path / "walk.csv"
    motion, body = bm.load(examples / "biped_walk.seq"), bm.load(examples / "biped.wrl")
    joints = motion.joint_displacement
    values = np.array(joints.values)
    for fault in ({}, {(30, 8): math.nan, (300, 9): values[300, 9] + 0.5}):
        for place, value in fault.items():
            values[place] = value
        bm.save(
            motion.replaced(
                *(
                    replace(joints, values=values) if c is joints else c
                    for c in motion.components
                )
            ),
            path,
        )
        path.write_text(path.read_text().replace(",joint_2,", f",{column},", 1))
        found = {p.rule: p.location.line for p in bm.check(path, body=body).problems}
        assert found == {rule: 1} | ({"MOT101": 32, "MOT302": 302} if fault else {})


def test_angles_of_the_root_are_no_exception(tmp_path):
    names = "root_x,root_y,root_z,root_roll,root_pitch,root_yaw"
    assert (
        "--input-degrees"
        in refused(
            table(tmp_path, f"{names}\n0,0,0,0,0,90\n"), "CSV004", frame_rate=1
        ).hint
    )
    assert [
        p.rule
        for p in bm.load(
            table(tmp_path, f"{names}\n0,0,0,0,0,3\n"), frame_rate=1
        ).problems
    ] == ["CSV011"]


def test_contacts_of_a_spot_are_columns(tmp_path):
    times = np.arange(4) / 10
    stance = np.array([[1, 1, 1, 1], [0, 1, 1, 0], [0, 1, 1, 0], [1, 1, 1, 1]], float)
    timeline = bm.Timeline.uniform(4, 10.0)
    joints = bm.MultiValueSeq(
        content="JointDisplacement",
        timeline=timeline,
        values=np.zeros((4, 2)),
        part_labels=("fl_hx", "fl_hy"),
    )
    feet = ("fl", "fr", "hl", "hr")
    contacts = bm.MultiValueSeq(
        content="FootContact", timeline=timeline, values=stance, part_labels=feet
    )
    path = tmp_path / "trot.csv"
    assert not bm.save(bm.Motion((joints, contacts)), path).problems
    assert (
        path.read_text().splitlines()[0]
        == "time,fl_hx [rad|m],fl_hy [rad|m],fl_contact,fr_contact,hl_contact,hr_contact"
    )
    (back,) = [c for c in bm.load(path).timed if c.content == "FootContact"]
    np.testing.assert_array_equal(back.values, stance)
    np.testing.assert_allclose(back.timeline.times, times)
    assert back.part_labels == feet
    assert bm.load(path).joint_displacement.part_labels == ("fl_hx", "fl_hy")


def test_contacts_of_some_feet_are_columns_like_any_other(tmp_path):
    path = tmp_path / "some.csv"
    path.write_text("time,fl_contact,fr_contact\n0,1,0\n0.1,0,1\n")
    assert bm.load(path).joint_displacement.part_labels == ("fl_contact", "fr_contact")


def test_reading_goes_on_after_faults(tmp_path):
    path = tmp_path / "walk.csv"
    path.write_text(
        "time,HIP [rad],KNEE [inch]\n0,0.1,1\n0.1,x,1\n0.2,0.1\n0.3,0.2,nan\n0.2,nan,1\n0.5,0.5,1\n"
    )
    found = [
        (problem.rule, problem.location.line) for problem in bm.check(path).problems
    ]
    assert found == [
        ("CSV006", 1),
        ("TAB004", 3),
        ("TAB003", 4),
        ("MOT105", 6),
        ("MOT101", 6),
    ]
    with pytest.raises(bm.FormatError) as caught:
        bm.load(path)
    assert {problem.rule for problem in caught.value.problems} == {
        "CSV006",
        "TAB004",
        "TAB003",
        "MOT105",
    }


@pytest.mark.parametrize(
    ("row", "rules"),
    [
        (12, {"TAB004", "MOT210"}),
        (5, {"TAB004", "MOT210"}),
        (0, {"TAB004", "MOT210"}),
        (None, {"MOT210"}),
    ],
)
def test_a_row_that_cannot_be_read_leaves_the_rate_of_the_others(row, rules, tmp_path):
    """Frames 20 s apart are found at the first of them, wherever the unread row is; its time is that of an even step."""
    path = tmp_path / "walk.csv"
    path.write_text(
        "time [s],HIP [rad]\n"
        + "".join(f"{20 * k},{'x' if k == row else 0}\n" for k in range(13))
    )
    found = registry.read(path)[1].value
    assert found.joint_displacement.timeline == Timeline.uniform(13, 0.05)
    assert {problem.rule for problem in bm.check(path).problems} == rules
    path.write_text("time [s],HIP [rad]\n0,0\n0.01,0\n0.03,x\n0.07,0\n")
    assert {problem.rule for problem in bm.check(path).problems} == {"TAB004"}


def test_an_empty_cell_between_tabs_is_not_filled_from_the_next_row(tmp_path):
    """Without the fix three cells and one, and one cell with two numbers, made two rows of three numbers."""
    path = tmp_path / "walk.csv"
    path.write_text("time\tA\tB\n0\t1\t2\n1\t\t3\n2 5\t6\t7\n")
    found = bm.check(path)
    assert {problem.location.line for problem in found.errors} >= {3, 4}
    with pytest.raises(bm.FormatError):
        bm.load(path)


@pytest.mark.parametrize(
    "text", [f"{mark}time\tA\t\n0\t1\t2\n" for mark in ("", "# ", "#\t")]
)
def test_a_name_that_is_absent_between_tabs_is_a_column(text, tmp_path):
    """The column has no name, which is reported; the other cells are not shifted."""
    (tmp_path / "a.csv").write_text(text)
    _, found = registry.read(tmp_path / "a.csv", delimiter="\t", degrees=False)
    assert [one.rule for one in found.problems] == ["CSV006"]
    assert "column 3 " in found.problems[0].message
    assert found.value.joint_displacement.part_labels == ("A",)
    assert found.value.joint_displacement.values.tolist() == [[1.0]]


def test_a_line_of_tabs_is_empty(tmp_path):
    (tmp_path / "a.csv").write_text("\t\ntime\tA\tB\n0\t1\t2\n\t\t\n1\t3\t4\n")
    motion = bm.load(tmp_path / "a.csv", delimiter="\t")
    assert motion.joint_displacement.values.tolist() == [[1, 2], [3, 4]]


INDEXED = ["{0},time,A,B", "{0};time;A;B", "{0}\ttime\tA\tB"]


@pytest.mark.parametrize("header", INDEXED)
@pytest.mark.parametrize(
    "name", ["", '""', "Unnamed: 0", "index", "Unnamed: 0.1", "level_0"]
)
@pytest.mark.parametrize("first", [0, 100])
def test_an_index_of_pandas_is_no_joint(header, name, first, tmp_path):
    """It has the numbers of the rows, from 0 or, of a part of a table, from another one."""
    lines = [header.format(name)]
    for k in range(12):
        cells = (first + k, 0.01 * k, 0.1 * k, -0.1)
        lines.append(header[3].join(map(str, cells)))
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    motion = bm.load_motion(tmp_path / "a.csv", degrees=False)
    assert motion.joint_displacement.part_labels == ("A", "B")
    assert motion.frame_rate == 100 and not motion.problems
    np.testing.assert_allclose(
        motion.joint_displacement.values[:, 0], 0.1 * np.arange(12)
    )


def test_a_column_without_a_name(tmp_path):
    """One that does not count the rows is refused, with its number; a joint may be named index."""
    path = tmp_path / "a.csv"
    path.write_text(",time,A\n0.5,0,0.1\n0.75,0.5,0.1\n")
    with pytest.raises(bm.FormatError, match="column 1 ") as caught:
        bm.load_motion(path, degrees=False)
    assert (caught.value.problem.rule, caught.value.problem.location.line) == (
        "CSV006",
        1,
    )
    path.write_text("index,time,A\n0.5,0,0.1\n0.75,0.5,0.1\n")
    found = bm.load_motion(path, degrees=False).joint_displacement
    assert found.part_labels == ("index", "A")


def test_indexed_tables_of_strangers(strangers):
    for path in sorted((strangers / "20").glob("*.csv")):
        motion = bm.load_motion(path, degrees=True)
        assert motion.joint_displacement.part_labels == ("A", "B")
        assert motion.frame_rate == 100


def g1_with_hands() -> bm.Body:
    """Return a body with the joints of the G1 in another order, and one more."""
    names = [*reversed(G1_JOINTS), "hand_joint"]
    links = [bm.Link(name="pelvis", joint=bm.Joint(name="pelvis", type="free"))]
    for k, name in enumerate(names):
        joint = bm.Joint(name=name, type="rotate", id=k)
        links.append(bm.Link(name=name, index=k + 1, parent=k, joint=joint))
    return bm.Body(name="g1", links=tuple(links))


@pytest.mark.parametrize("with_body", [False, True])
def test_columns_without_names_are_read_alike_in_all_formats(
    with_body, strangers, tmp_path
):
    """29 joints without names are those of the G1, in a .csv as in an .npz or .pkl, also on a body with more joints."""
    body = g1_with_hands() if with_body else None
    rows = np.loadtxt(strangers / "45/lafan.csv", delimiter=",")
    content = {
        "root_pos": rows[:, :3],
        "root_rot": rows[:, 3:7],
        "dof_pos": rows[:, 7:],
        "fps": 30.0,
    }
    np.savez(tmp_path / "a.npz", **content)
    (tmp_path / "a.pkl").write_bytes(pickle.dumps(content))
    options = {} if body is None else {"body": body}
    motions = [
        bm.load_motion(path, **options)
        for path in (strangers / "45/lafan.csv", tmp_path / "a.npz", tmp_path / "a.pkl")
    ]
    for motion in motions:
        joints = motion.joint_displacement
        for k, name in enumerate(G1_JOINTS):
            column = joints.values[:, joints.part_labels.index(name)]
            np.testing.assert_array_equal(column, rows[:, 7 + k])
        assert joints.part_labels == (
            G1_JOINTS if body is None else tuple(one.name for one in body.joints)
        )
        assert {one.rule for one in motion.problems} >= {"NPZ109"}
        np.testing.assert_array_equal(
            motion.link_position.values, motions[0].link_position.values
        )


def test_an_index_beside_decimal_commas(tmp_path):
    """The cells with commas are reported, and not the index, whose rows cannot be read; an index of no numbers is."""
    path = tmp_path / "a.csv"
    path.write_text(";time;KNEE\n0;0,0;0,1\n1;0,01;0,2\n2;0,02;0,3\n")
    _, found = registry.read(path)
    rules = {problem.rule for problem in found.problems}
    assert "TAB004" in rules and "CSV006" not in rules
    path.write_text(";time;KNEE\nnan;0.0;0.1\nnan;0.01;0.2\nnan;0.02;0.3\n")
    _, found = registry.read(path)
    assert "CSV006" in {problem.rule for problem in found.problems}
