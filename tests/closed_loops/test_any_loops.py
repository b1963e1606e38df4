"""Loops between any links of any bodies: an answer comes, soon, and it is what it says it is."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import bodymotion as bm
from bodymotion.model.closed_loops import Loops
from closed_loops_samples import link
from sample_files import tries

KINDS = ["xyz", "xy", "z", "piston", "ball", "hinge"]
LENGTH = st.floats(-0.5, 0.5)
PLACE = st.tuples(LENGTH, LENGTH, LENGTH)
AXIS = st.sampled_from(
    [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.6, 0.8, 0), (0, -0.28, 0.96)]
)


@st.composite
def bodies(draw) -> bm.Body:
    links = [link("BASE", 0, -1, draw(PLACE))]
    for index in range(1, draw(st.integers(2, 7))):
        kind = draw(st.sampled_from(["rotate", "rotate", "slide", "fixed"]))
        links.append(
            link(
                f"L{index}",
                index,
                draw(st.integers(0, index - 1)),
                draw(PLACE),
                turned=draw(
                    st.sampled_from([(0, 0, 0), (0.3, -1.0, 2.0), (np.pi / 2, 0, 0)])
                ),
                axis=draw(AXIS),
                kind=kind,
            )
        )
    ends = st.integers(0, len(links) - 1)
    extra = draw(
        st.lists(
            st.builds(
                lambda kind, links, positions, axis: bm.model.ExtraJoint(
                    type=kind, links=links, positions=positions, axis=axis
                ),
                st.sampled_from(KINDS),
                st.tuples(ends, ends),
                st.tuples(PLACE, PLACE),
                AXIS,
            ),
            min_size=1,
            max_size=3,
        )
    )
    return bm.Body(links=tuple(links), extra_joints=tuple(extra))


@settings(max_examples=tries(40))
@given(body=bodies(), seed=st.integers(0, 1000))
def test_an_answer_comes_and_is_what_it_says(body, seed) -> None:
    chance = np.random.default_rng(seed)
    ends = chance.uniform(-1, 1, (2, body.num_joints))
    q = ends[0] + np.linspace(0, 1, 6)[:, None] * (ends[1] - ends[0])
    closed = bm.model.close_loops(body, q)
    driven = [
        column for column in range(body.num_joints) if column not in closed.following
    ]
    np.testing.assert_array_equal(closed.q[:, driven], q[:, driven])
    apart, tilted = bm.model.loop_errors(body, body.forward_kinematics(closed.q))
    np.testing.assert_allclose(closed.residual, apart.max(axis=1), atol=1e-12)
    np.testing.assert_allclose(closed.tilt, tilted.max(axis=1), atol=1e-7)
    np.testing.assert_array_equal(bm.model.close_loops(body, q).q, closed.q)


@settings(max_examples=tries(40))
@given(body=bodies(), seed=st.integers(0, 1000))
def test_what_is_closed_stays_closed_and_goes_on_without_jumps(body, seed) -> None:
    """The points are put where a random pose has them, so that there is a way to close; then the drivers move a little."""
    chance = np.random.default_rng(seed)
    q = chance.uniform(-1, 1, body.num_joints)
    poses = body.forward_kinematics(q)
    points = [_met(poses, joint) for joint in body.extra_joints]
    body = bm.Body(
        links=body.links,
        extra_joints=tuple(
            bm.model.ExtraJoint(
                type=joint.type if joint.type != "hinge" else "ball",
                links=joint.links,
                positions=positions,
                axis=joint.axis,
            )
            for joint, positions in zip(body.extra_joints, points, strict=True)
        ),
    )
    loops = Loops(body)
    closed = loops.close(q)
    assert closed.residual < 1e-9
    np.testing.assert_allclose(closed.q, q, atol=1e-9)
    away = np.array(q)
    away[list(loops.driving(q=q))] += 1e-3
    steps = loops.close(np.linspace(q, away, 11))
    far = steps.margin > 0.05
    if far.all() and (steps.residual < 1e-9).all():
        assert np.abs(np.diff(steps.q, axis=0)).max(initial=0) < 5e-3


def _met(poses: np.ndarray, joint: bm.model.ExtraJoint) -> np.ndarray:
    """The two points, the second one moved to where the first one is."""
    from scipy.spatial.transform import Rotation

    first, second = poses[joint.links[0]], poses[joint.links[1]]
    point = first[:3] + Rotation.from_quat(np.roll(first[3:], -1)).apply(
        np.array(joint.positions[0])
    )
    return np.stack(
        [
            joint.positions[0],
            Rotation.from_quat(np.roll(second[3:], -1)).inv().apply(point - second[:3]),
        ]
    )
