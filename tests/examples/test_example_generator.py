"""The parts of the walking-pattern generator, against closed forms and other programs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bodymotion.geometry import poses, rotations
from sample_files import tries

unit = st.floats(-1, 1)


@settings(max_examples=tries(60))
@given(st.lists(unit, min_size=12, max_size=12), st.sampled_from("RL"))
def test_leg_joints_put_the_foot_where_it_shall_be(make, body, numbers, side):
    """Joints from poses, poses from joints: the way there and back, for any posture within the limits."""
    n = np.array(numbers)
    leg = make("make.legs").Leg.of(body, side)
    root = np.concatenate(
        [n[:3], rotations.from_rpy([0.4 * n[3], 0.4 * n[4], 3 * n[5]])]
    )
    q = np.zeros(body.num_joints)
    q[leg.columns] = np.array([0.6, 0.3, 0.7, 0.9, 0.7, 0.4]) * n[6:] + [
        0,
        0,
        -0.3,
        1.1,
        0,
        0,
    ]
    ankle = body.forward_kinematics(q, root)[leg.foot]
    again = leg.joints(root[None], ankle[None])[0]
    np.testing.assert_allclose(again, q[leg.columns], atol=1e-9)


def test_a_foot_out_of_reach_is_said(make, body):
    leg = make("make.legs").Leg.of(body, "R")
    root = np.array([[0, 0, 0.75, 1, 0, 0, 0.0]])
    with pytest.raises(
        ValueError, match=r"frame 0: the foot is 0\.6200 m from the hip"
    ):
        leg.joints(root, np.array([[0, -0.085, 0.085, 1, 0, 0, 0.0]]))


def test_the_gains_solve_the_riccati_equation(make):
    from scipy.linalg import solve_discrete_are

    controller = make("make.preview").Preview(height=0.7)
    a, b, c = controller.model()
    cost = solve_discrete_are(
        a, b[:, None], np.outer(c, c), np.array([[controller.effort]])
    )
    expected = (b @ cost @ a) / (controller.effort + b @ cost @ b)
    feedback, weights = controller.gains()
    np.testing.assert_allclose(feedback, expected, rtol=1e-6)
    assert feedback[0] == pytest.approx(weights.sum(), rel=1e-12), (
        "a cart at rest above a steady reference stays"
    )


def test_the_cart_follows_its_reference(make):
    preview = make("make.preview")
    height = 0.7
    times = np.arange(600) / 100
    reference = make("make.steps").smooth((times[:, None] - 2) / 0.3) * [0.2, -0.1]
    path = preview.Preview(height).track(reference)
    acceleration = np.diff(path, n=2, axis=0) * 100**2
    found = path[1:-1] - height / preview.GRAVITY * acceleration
    np.testing.assert_allclose(found, reference[1:-1], atol=0.004)
    assert np.abs(path[0] - reference[0]).max() == 0
    np.testing.assert_allclose(path[-1], reference[-1], atol=1e-6)


def test_standing_still_the_point_is_below_the_centre_of_mass(make, body):
    still = np.repeat(body.forward_kinematics(np.full(32, 0.1))[None], 10, axis=0)
    found = make("make.balance").zero_moment_point(body, still, 0.01)
    np.testing.assert_allclose(
        found[:, :2], body.center_of_mass(still)[:, :2], atol=1e-9
    )


def test_in_free_fall_nothing_pushes(make, body):
    """A root that falls with g, straight: no force, so the point is anywhere; at half of g it is below the centre of mass."""
    gravity = make("make.preview").GRAVITY
    times = np.arange(20) / 100
    root = np.repeat(body.root_pose[None], 20, axis=0)
    root[:, 2] -= 0.25 * gravity * times**2
    falling = body.forward_kinematics(np.zeros((20, 32)), root)
    found = make("make.balance").zero_moment_point(body, falling, 0.01)
    np.testing.assert_allclose(
        found[3:-3, :2], body.center_of_mass(falling)[3:-3, :2], atol=1e-9
    )


def test_the_later_passes_are_worth_it(make, body, motion, link_poses):
    """The cart alone leaves the zero moment point of the whole robot where it should not be; the second pass mends that."""
    walk = make("make.walk")
    zmp = make("make.balance").zero_moment_point
    passes, walk.PASSES = walk.PASSES, 1
    try:
        first = walk.walk(body)
    finally:
        walk.PASSES = passes
    before = (
        zmp(body, body.forward_kinematics(first.joints, first.root), 0.01) - first.zmp
    )
    after = zmp(body, link_poses, 0.01) - motion.zmp.values
    assert np.abs(before).max() > 0.012
    assert np.abs(after).max() < 0.25 * np.abs(before).max()


@pytest.mark.parametrize("kind", ["Box", "Sphere", "Cylinder", "limb", "shell"])
def test_solids_weigh_what_their_triangles_enclose(make, kind):
    trimesh = pytest.importorskip("trimesh")
    solids = make("make.solids")
    if kind == "Box":
        solid, mesh = solids.Box((0.1, 0.2, 0.3)), trimesh.creation.box((0.1, 0.2, 0.3))
    elif kind == "Sphere":
        solid, mesh = solids.Sphere(0.2), trimesh.creation.icosphere(5, 0.2)
    elif kind == "Cylinder":
        turn = trimesh.transformations.rotation_matrix(np.pi / 2, [1, 0, 0])
        solid, mesh = (
            solids.Cylinder(0.1, 0.3),
            trimesh.creation.cylinder(0.1, 0.3, sections=400, transform=turn),
        )
    elif kind == "limb":
        solid = solids.limb(
            (-0.2, 0.03, 0.04), (0.0, 0.06, 0.05), (0.1, 0.04, 0.04), ends=(0.01, 0.02)
        )
        mesh = _mesh(trimesh, *solid.hull())
    else:
        solid = solids.shell(
            (0.0, 0.05, 0.06, 0.0),
            (0.1, 0.08, 0.1, 0.02),
            (0.2, 0.04, 0.05, 0),
            ends=(0.02, 0.03),
        )
        mesh = _mesh(trimesh, *solid.hull())
    mesh.density = 500.0
    found = solid.mass_properties(500.0)
    assert mesh.is_watertight
    assert found.mass == pytest.approx(mesh.mass, rel=1e-2)
    np.testing.assert_allclose(
        found.center, mesh.center_mass, atol=1e-9 if kind in ("limb", "shell") else 1e-6
    )
    np.testing.assert_allclose(
        found.inertia, mesh.moment_inertia, atol=1e-2 * np.trace(found.inertia)
    )


def _mesh(trimesh, points, faces):
    triangles = [
        [face[0], face[k], face[k + 1]]
        for face in faces
        for k in range(1, len(face) - 1)
    ]
    return trimesh.Trimesh(points, triangles, process=False)


def test_a_part_is_placed_by_its_turn(make):
    model, solids = make("make.model"), make("make.solids")
    part = model.Part(solids.Cylinder(0.01, 0.4), "JOINT", 1000.0, (0.1, 0.2, 0.3), "x")
    weight = part.mass_properties()
    np.testing.assert_allclose(weight.center, [0.1, 0.2, 0.3], atol=1e-15)
    assert weight.inertia[0, 0] < 0.01 * weight.inertia[1, 1], "long along x"
    twice = solids.joined([weight, weight])
    assert twice.mass == 2 * weight.mass
    np.testing.assert_allclose(twice.inertia, 2 * weight.inertia, atol=1e-15)
    moved = poses.transform_points(
        poses.from_parts([0.1, 0.2, 0.3], rotations.IDENTITY), np.zeros(3)
    )
    np.testing.assert_allclose(weight.center, moved)
