"""Laws of scaled and re-rooted bodies, over random ones: the same mechanism, in another size or told from another link."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bodymotion as bm
from bodymotion.editing import reroot, scale
from bodymotion.geometry import poses
from bodymotion.model.links import (
    ForceSensor,
    Gyro,
    OtherDevice,
    RangeSensor,
    VisionSensor,
)
from sample_files import tries

KINDS = ("rotate", "slide", "fixed")
seeds = st.integers(0, 2**32 - 1)


def random_pose(rng: np.random.Generator) -> np.ndarray:
    turn = rng.normal(size=4)
    return np.concatenate([rng.uniform(-1, 1, 3), turn / np.linalg.norm(turn)])


def random_body(seed: int, ids: bool = True) -> bm.Body:
    """A tree of 2 to 9 links in depth-first order, with everything that a body can have."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 10))
    links = []
    stack = [0]
    numbers = list(rng.permutation(count - 1))
    for index in range(count):
        parent = -1
        if index:
            del stack[int(rng.integers(1, len(stack) + 1)) :]
            parent = stack[-1]
            stack.append(index)
        axis = rng.normal(size=3)
        kind = str(rng.choice(KINDS)) if index else str(rng.choice(["free", "fixed"]))
        joint = bm.Joint(
            name=f"joint {index}",
            type=kind,
            id=int(numbers[index - 1]) if index and ids else -1,
            axis=axis / np.linalg.norm(axis),
            lower=-float(rng.uniform(0.1, 2)),
            upper=float(rng.uniform(0.1, 2)),
            rotor_inertia=float(rng.uniform()),
        )
        spread = rng.normal(size=(3, 3))
        segment = bm.Segment(
            name=f"segment {index}",
            transform=poses.to_matrix(random_pose(rng)),
            mass=float(rng.uniform(0.1, 5)),
            center_of_mass=rng.uniform(-1, 1, 3),
            inertia=spread @ spread.T,
            visuals=(
                bm.shapes.Shape(
                    bm.shapes.Box((0.1, 0.2, 0.3)), poses.to_matrix(random_pose(rng))
                ),
                bm.shapes.Shape(bm.shapes.Cylinder(0.1, 0.4)),
                bm.shapes.Shape(
                    bm.shapes.Mesh(rng.normal(size=(4, 3)), [[0, 1, 2], [1, 2, 3]])
                ),
            ),
            collisions=(
                bm.shapes.Shape(bm.shapes.Sphere(0.2)),
                bm.shapes.Shape(bm.shapes.Capsule(0.1, 0.3)),
                bm.shapes.Shape(bm.shapes.Cone(0.1, 0.3)),
            ),
        )
        links.append(
            bm.Link(
                name=f"link {index}",
                index=index,
                parent=parent,
                joint=joint,
                offset=random_pose(rng),
                segments=(segment,),
            )
        )
    devices = tuple(
        kind(
            name=kind.__name__,
            id=0,
            link=int(rng.integers(count)),
            pose=random_pose(rng),
        )
        for kind in (Gyro, VisionSensor, RangeSensor, ForceSensor)
    )
    loop = bm.model.ExtraJoint(
        name="loop",
        type="xy",
        links=(0, count - 1),
        positions=rng.normal(size=(2, 3)),
        axis=[0, 0.6, 0.8],
    )
    return bm.Body(
        name="random",
        links=tuple(links),
        devices=devices,
        extra_joints=(loop,),
        root_pose=links[0].offset,
    )


def far(a: object, b: object, atol: float, where: str = "body") -> list[str]:
    """Name the fields in which two values differ by more than a tolerance; quaternions may have the other sign."""
    if is_dataclass(a) and type(a) is type(b):
        compared = [f.name for f in fields(a) if f.compare]
        return [
            w
            for name in compared
            for w in far(getattr(a, name), getattr(b, name), atol, f"{where}.{name}")
        ]
    if (
        isinstance(a, (tuple, list))
        and isinstance(b, (tuple, list))
        and len(a) == len(b)
    ):
        return [
            w
            for k, (x, y) in enumerate(zip(a, b, strict=True))
            for w in far(x, y, atol, f"{where}[{k}]")
        ]
    if isinstance(a, Mapping) and isinstance(b, Mapping) and a.keys() == b.keys():
        return [w for key in a for w in far(a[key], b[key], atol, f"{where}[{key}]")]
    if (
        isinstance(a, np.ndarray)
        and isinstance(b, np.ndarray)
        and a.shape == b.shape == (7,)
    ):
        same = np.allclose(poses.to_matrix(a), poses.to_matrix(b), rtol=0, atol=atol)
    elif isinstance(a, (float, np.ndarray)):
        same = np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=atol, atol=atol)
    else:
        same = a == b
    return [] if same else [f"{where}: {a!r}, {b!r}"]


def values_by_name(body: bm.Body, values: dict[str, float]) -> np.ndarray:
    return np.array([values.get(joint.name, 0.0) for joint in body.joints])


def points_of(body: bm.Body, link_poses: np.ndarray) -> dict[str, np.ndarray]:
    """Where in the world the segments' corners, the devices and the ends of extra joints are."""
    found = {}
    for link in body.links:
        world = poses.to_matrix(link_poses[link.index])
        for segment in link.segments:
            found[segment.name] = world @ segment.transform
    for device in body.devices:
        if isinstance(device, ForceSensor):
            continue  # these go with their joint
        found[f"device {device.name}"] = poses.to_matrix(
            poses.compose(link_poses[device.link], device.pose)
        )
    for joint in body.extra_joints:
        for end in (0, 1):
            found[f"{joint.name} {end}"] = poses.transform_points(
                link_poses[joint.links[end]], joint.positions[end]
            )
        turn = poses.to_matrix(link_poses[joint.links[0]])[:3, :3]
        found[f"{joint.name} axis"] = turn @ joint.axis
    return found


@settings(max_examples=tries(60))
@given(seeds, st.booleans(), st.data())
def test_a_rerooted_body_moves_alike(seed, ids, data):
    body = random_body(seed, ids)
    root = data.draw(st.integers(0, len(body.links) - 1))
    other = reroot(body, f"link {root}")
    assert other.links[0].name == f"link {root}"
    assert sorted(joint.name for joint in other.joints) == sorted(
        joint.name for joint in body.joints
    )
    if ids:
        assert [joint.name for joint in other.joints] == [
            joint.name for joint in body.joints
        ]
    rng = np.random.default_rng(seed)
    values = {joint.name: rng.uniform(-2, 2) for joint in body.joints}
    expected = body.forward_kinematics(values_by_name(body, values), random_pose(rng))
    # The new root's own frame may not have moved: it is no link on the way whose joint turns.
    given = other.forward_kinematics(values_by_name(other, values), expected[root])
    there, here = points_of(body, expected), points_of(other, given)
    assert there.keys() == here.keys()
    for name in there:
        np.testing.assert_allclose(here[name], there[name], atol=1e-9, err_msg=name)
    for link in other.links:
        before = body.link(link.name)
        np.testing.assert_allclose(
            poses.to_matrix(given[link.index])[:3, :3],
            poses.to_matrix(expected[before.index])[:3, :3],
            atol=1e-9,
        )
        assert link.mass == before.mass
        np.testing.assert_allclose(link.inertia, before.inertia, atol=1e-12)
    np.testing.assert_allclose(
        other.center_of_mass(given), body.center_of_mass(expected), atol=1e-9
    )
    assert np.isclose(other.mass, body.mass, rtol=1e-12)


@settings(max_examples=tries(40))
@given(seeds, st.data())
def test_at_rest_it_stands_where_it_stood(seed, data):
    body = random_body(seed)
    root = data.draw(st.integers(0, len(body.links) - 1))
    other = reroot(body, root)
    zero = np.zeros(body.num_joints)
    there, here = (points_of(b, b.forward_kinematics(zero)) for b in (body, other))
    for name in there:
        np.testing.assert_allclose(here[name], there[name], atol=1e-9)


@settings(max_examples=tries(60))
@given(seeds, st.booleans(), st.data())
def test_rerooted_back_it_is_what_it_was(seed, ids, data):
    body = random_body(seed, ids)
    other = body
    for _ in range(data.draw(st.integers(1, 3))):
        other = reroot(other, data.draw(st.integers(0, len(body.links) - 1)))
    back = reroot(other, "link 0")
    assert [link.name for link in back.links] == [link.name for link in body.links]
    assert not far(body, back, 1e-9)


@pytest.mark.parametrize("kind", ["rotate", "slide"])
def test_limits_and_columns_stay_with_the_joint(kind):
    """A door on a wall becomes a wall on a door: the same angle between the two, within the same limits."""
    door = bm.Joint(
        name="hinge", type=kind, id=0, axis=[0, 0, 1], lower=-0.1, upper=2.0
    )
    body = bm.Body(
        links=(
            bm.Link(name="wall", joint=bm.Joint(name="ground", type="fixed")),
            bm.Link(
                name="door", index=1, parent=0, offset=[1, 0, 0, 1, 0, 0, 0], joint=door
            ),
        )
    )
    other = reroot(body, "door")
    wall = other.link("wall")
    assert (wall.joint.name, wall.joint.id, wall.joint.lower, wall.joint.upper) == (
        "hinge",
        0,
        -0.1,
        2.0,
    )
    assert wall.joint.axis.tolist() == [0, 0, -1]
    assert (
        other.links[0].joint.name == "ground" and other.links[0].joint.type == "fixed"
    )


@settings(max_examples=tries(40))
@given(seeds, st.data())
def test_a_force_sensor_stays_at_its_joint(seed, data):
    """It is at the joint where it was, on the other side of it: there it reads the opposite of what it read."""
    body = random_body(seed)
    root = data.draw(st.integers(0, len(body.links) - 1))
    other = reroot(body, root)
    (before,), (after,) = (
        [d for d in b.devices if isinstance(d, ForceSensor)] for b in (body, other)
    )
    assert other.links[after.link].joint.name == body.links[before.link].joint.name
    zero = np.zeros(body.num_joints)
    placed = [
        poses.to_matrix(poses.compose(b.forward_kinematics(zero)[d.link], d.pose))
        for b, d in ((body, before), (other, after))
    ]
    np.testing.assert_allclose(placed[0], placed[1], atol=1e-9)
    moved = other.links[after.link].name != body.links[before.link].name
    assert [problem.rule for problem in other.problems] == ["LOSS080"] * moved


def test_a_crawler_can_not_change_hands():
    body = random_body(3)
    links = list(body.links)
    links[1] = replace(links[1], joint=replace(links[1].joint, type="crawler"))
    body = replace(body, links=tuple(links))
    with pytest.raises(ValueError, match="crawler"):
        reroot(body, "link 1")
    assert reroot(body, "link 0") is body
    with pytest.raises(KeyError, match="link 0"):
        reroot(body, "nothing")
    with pytest.raises(ValueError, match="no link 99"):
        reroot(body, 99)


@settings(max_examples=tries(40))
@given(seeds, st.floats(1e-3, 1e3))
def test_a_scaled_body_has_its_points_where_they_belong(seed, factor):
    body = random_body(seed)
    other = scale(body, factor)
    rng = np.random.default_rng(seed)
    values = {joint.name: rng.uniform(-2, 2) for joint in body.joints}
    sliding = {
        joint.name: factor * values[joint.name]
        for joint in body.joints
        if joint.type == "slide"
    }
    before = body.forward_kinematics(values_by_name(body, values))
    after = other.forward_kinematics(values_by_name(other, values | sliding))
    np.testing.assert_allclose(after[:, :3], factor * before[:, :3], atol=1e-9 * factor)
    np.testing.assert_allclose(after[:, 3:], before[:, 3:], atol=1e-12)
    np.testing.assert_allclose(
        other.center_of_mass(after),
        factor * body.center_of_mass(before),
        atol=1e-9 * factor,
    )
    assert other.mass == body.mass
    for link, scaled in zip(body.links, other.links, strict=True):
        np.testing.assert_allclose(scaled.inertia, factor**2 * link.inertia, rtol=1e-9)
        for kind in ("visuals", "collisions"):
            for shape, grown in zip(
                getattr(link, kind), getattr(scaled, kind), strict=True
            ):
                np.testing.assert_allclose(
                    grown.to_mesh().vertices,
                    factor * shape.to_mesh().vertices,
                    atol=1e-9 * factor,
                )


@settings(max_examples=tries(40))
@given(seeds, st.floats(1e-3, 1e3))
def test_scaled_there_and_back(seed, factor):
    body = random_body(seed)
    back = scale(scale(body, factor), 1 / factor)
    assert not far(body, back, 1e-12)
    assert scale(scale(body, 1024.0), 1 / 1024) == body


def test_what_is_kept_of_sliding_joints_is_scaled():
    """All that says where a joint is goes with it: soft limits, calibration, and what mimics it or is mimicked."""
    kept = {
        "safety_controller": {
            "soft_lower_limit": 10.0,
            "soft_upper_limit": 90.0,
            "k_position": 1.0,
            "k_velocity": 3.0,
        },
        "calibration": {"rising": 50.0},
        "joint_displacement": 7.0,
    }
    other = {"joint": "slide", "multiplier": 1.0, "offset": 50.0}
    joints = (
        bm.Joint(name="slide", type="slide", id=0, lower=0.0, upper=100.0, extra=kept),
        bm.Joint(name="after", type="slide", id=1, extra={"mimic": other}),
        bm.Joint(name="turn", type="rotate", id=2, extra={"mimic": other, **kept}),
        bm.Joint(
            name="last", type="slide", id=3, extra={"mimic": {**other, "joint": "turn"}}
        ),
    )
    links = [bm.Link(name="base")]
    links += [
        bm.Link(name=j.name, index=k, parent=k - 1, joint=j)
        for k, j in enumerate(joints, 1)
    ]
    small = scale(bm.Body(links=tuple(links)), 0.001)
    slide, after, turn, last = (
        small.link(name).joint.extra for name in ("slide", "after", "turn", "last")
    )
    safe = slide["safety_controller"]
    assert (safe["soft_lower_limit"], safe["soft_upper_limit"]) == pytest.approx(
        (0.01, 0.09)
    )
    assert (safe["k_position"], slide["calibration"]["rising"]) == (
        1.0,
        pytest.approx(0.05),
    )
    assert slide["joint_displacement"] == pytest.approx(0.007)
    assert (after["mimic"]["multiplier"], after["mimic"]["offset"]) == (
        1.0,
        pytest.approx(0.05),
    )
    assert (turn["mimic"]["multiplier"], turn["mimic"]["offset"]) == (
        pytest.approx(1000.0),
        50.0,
    )
    assert turn["safety_controller"] == kept["safety_controller"]
    assert (last["mimic"]["multiplier"], last["mimic"]["offset"]) == pytest.approx(
        (0.001, 0.05)
    )
    assert not small.problems


def test_lengths_that_nobody_knows_are_named():
    body = replace(random_body(2), extra={"urdf": ["<gazebo><size>3</size></gazebo>"]})
    body = replace(
        body,
        devices=(OtherDevice(name="d", link=0, type="Grip", extra={"reach": 2.0}),),
    )
    small = scale(body, 0.001)
    assert [problem.rule for problem in small.problems] == ["LOSS081", "LOSS081"]
    assert not scale(body, 1.0).problems


@pytest.mark.parametrize("factor", [0.0, -1.0, float("inf"), float("nan")])
def test_a_body_is_scaled_by_a_positive_number(factor):
    with pytest.raises(ValueError, match="positive"):
        scale(random_body(1), factor)


def test_scaling_and_rerooting_may_be_mixed():
    body = random_body(7)
    last = body.links[-1].name
    back = reroot(scale(reroot(scale(body, 2.0), last), 0.5), "link 0")
    assert not far(body, back, 1e-9)
