"""Laws of rotations and poses, and SciPy as an independent second opinion."""

from __future__ import annotations

from inspect import isfunction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.spatial.transform import Rotation, Slerp

from bodymotion.geometry import poses, rotations

finite = st.floats(-10, 10, allow_nan=False)
quaternions = hnp.arrays(
    float,
    hnp.array_shapes(min_dims=0, max_dims=2, max_side=3).map(lambda s: (*s, 4)),
    elements=finite,
).filter(lambda q: np.all(np.linalg.norm(q, axis=-1) > 1e-3))
one_quaternion = hnp.arrays(float, 4, elements=finite).filter(
    lambda q: np.linalg.norm(q) > 1e-3
)
vectors = hnp.arrays(float, 3, elements=finite)
a_pose = st.tuples(vectors, one_quaternion).map(lambda pq: np.concatenate(pq))


def scipy_rotation(q):
    return Rotation.from_quat(np.asarray(q), scalar_first=True)


def same_turn(a, b, tolerance=1e-12):
    a, b = rotations.normalized(a), rotations.normalized(b)
    return np.all(np.minimum(np.abs(a - b).max(-1), np.abs(a + b).max(-1)) < tolerance)


@given(quaternions)
def test_matrix_and_back(q):
    assert same_turn(rotations.from_matrix(rotations.to_matrix(q)), q)


@given(one_quaternion, one_quaternion, vectors)
def test_composition_rotation_and_inverse_agree_with_scipy(a, b, v):
    a, b = rotations.normalized(a), rotations.normalized(b)
    product = rotations.multiply(a, b)
    assert np.allclose(
        rotations.to_matrix(product),
        (scipy_rotation(a) * scipy_rotation(b)).as_matrix(),
        atol=1e-13,
    )
    assert np.allclose(rotations.rotate(a, v), scipy_rotation(a).apply(v), atol=1e-12)
    assert np.allclose(
        rotations.rotate(rotations.conjugate(a), rotations.rotate(a, v)), v, atol=1e-12
    )
    assert np.isclose(
        rotations.angle_between(a, b),
        (scipy_rotation(a).inv() * scipy_rotation(b)).magnitude(),
        atol=1e-7,
    )


@given(hnp.arrays(float, 3, elements=st.floats(-3.1, 3.1)))
def test_rpy_is_yaw_after_pitch_after_roll(rpy):
    assert np.allclose(
        rotations.to_matrix(rotations.from_rpy(rpy)),
        Rotation.from_euler("xyz", rpy).as_matrix(),
        atol=1e-14,
    )


@given(
    st.floats(-3.1, 3.1),
    st.sampled_from([-1.0, 1.0]),
    st.floats(-3.1, 3.1),
    st.sampled_from([0, 1e-3, 1e-5, 1e-7, 1e-9, 1e-12]),
)
def test_rpy_loses_nothing_near_straight_up_and_down(roll, sign, yaw, off):
    q = rotations.from_rpy([roll, sign * (np.pi / 2 - off), yaw])
    back = rotations.from_rpy(rotations.to_rpy(q))
    assert rotations.angle_between(q, back) < 1e-12


@given(vectors.filter(lambda v: np.linalg.norm(v) > 1e-3), st.floats(-6.2, 6.2))
def test_axis_angle(axis, angle):
    q = rotations.from_axis_angle(axis, angle)
    assert same_turn(
        q,
        Rotation.from_rotvec(axis / np.linalg.norm(axis) * angle).as_quat(
            scalar_first=True
        ),
    )
    unit, turn = rotations.to_axis_angle(q)
    assert same_turn(rotations.from_axis_angle(unit, turn), q)
    assert 0 <= turn <= np.pi


def test_zero_axis_and_zero_quaternion_are_the_identity():
    assert np.array_equal(rotations.from_axis_angle([0, 0, 0], 1.0), rotations.IDENTITY)
    assert np.array_equal(
        rotations.normalized([[0, 0, 0, 0], [np.nan, 0, 0, 1]]),
        [rotations.IDENTITY] * 2,
    )
    assert np.allclose(
        rotations.normalized([1e-200, 0, 0, 1e-200]), [0.5**0.5, 0, 0, 0.5**0.5]
    )


@given(one_quaternion, one_quaternion, st.floats(0, 1))
def test_slerp_agrees_with_scipy(a, b, t):
    if rotations.angle_between(a, b) > 3.1:
        return
    expected = Slerp([0, 1], scipy_rotation([a, b]))(t).as_quat(scalar_first=True)
    assert same_turn(rotations.slerp(a, b, t), expected, 1e-9)


@given(a_pose, a_pose, a_pose, vectors)
def test_poses_are_a_group_that_acts_on_points(a, b, c, point):
    left = poses.compose(poses.compose(a, b), c)
    right = poses.compose(a, poses.compose(b, c))
    assert np.allclose(poses.to_matrix(left), poses.to_matrix(right), atol=1e-9)
    assert np.allclose(
        poses.to_matrix(poses.compose(a, poses.inverse(a))), np.eye(4), atol=1e-10
    )
    assert np.allclose(
        poses.to_matrix(a) @ poses.to_matrix(b),
        poses.to_matrix(poses.compose(a, b)),
        atol=1e-10,
    )
    assert np.allclose(
        poses.transform_points(a, point),
        (poses.to_matrix(a) @ [*point, 1])[:3],
        atol=1e-10,
    )
    assert np.allclose(
        poses.to_matrix(poses.from_matrix(poses.to_matrix(a))),
        poses.to_matrix(a),
        atol=1e-12,
    )


def test_batch_axes_broadcast():
    a, b = np.tile(poses.IDENTITY, (5, 1, 1)), np.tile(poses.IDENTITY, (4, 1))
    assert poses.compose(a, b).shape == (5, 4, 7)


@pytest.mark.parametrize(
    "thing",
    [getattr(rotations, name) for name in rotations.__all__] + [*vars(poses).values()],
)
def test_everything_public_says_what_it_does(thing):
    assert not isfunction(thing) or thing.__name__.startswith("_") or thing.__doc__
