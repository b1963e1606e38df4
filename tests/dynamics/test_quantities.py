"""The table of quantities, and the key figures: of a motion whose answers are worked out by hand, and as laws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bodymotion as bm
from bodymotion.dynamics import (
    QUANTITIES,
    extremes,
    figures,
    measurable,
    measure,
    series,
)
from sample_files import tries
from strategies_bodies import bodies

RATE = 100.0
TIMES = np.arange(201) / RATE


def arm() -> bm.Body:
    """A mounted arm in the plane: a joint that turns about y, at its end one that slides along x; 2 kg at the slide's origin."""
    shoulder = bm.Joint(
        name="TURN",
        type="rotate",
        id=0,
        axis=np.array([0.0, 1, 0]),
        lower=-2,
        upper=2,
        velocity_upper=5,
    )
    slide = bm.Joint(
        name="", type="slide", id=1, axis=np.array([1.0, 0, 0]), lower=0, upper=0.5
    )
    weight = bm.Segment(mass=2.0, center_of_mass=np.zeros(3), inertia=np.zeros((3, 3)))
    return bm.Body(
        name="arm",
        links=(
            bm.Link(name="BASE", joint=bm.Joint(type="fixed")),
            bm.Link(name="UPPER", index=1, parent=0, joint=shoulder),
            bm.Link(name="HAND", index=2, parent=1, joint=slide, segments=(weight,)),
        ),
    )


def turning() -> bm.Motion:
    """sin(2 t) for the turn, 0.3 m for the slide."""
    return bm.Motion.from_joints(
        np.stack([np.sin(2 * TIMES), np.full_like(TIMES, 0.3)], axis=1), RATE
    )


MEASURES = measure(arm(), turning())


def test_a_mounted_arm_has_no_zmp_and_no_feet():
    names = measurable(MEASURES)
    assert "torques" in names and "joint_displacements" in names
    assert not {
        "zmp",
        "contacts",
        "stability_margin",
        "given_zmp",
        "foot_forces",
    } & set(names)
    assert set(names) <= set(QUANTITIES)
    with pytest.raises(KeyError, match="arm has no zero moment point"):
        series(MEASURES, "zmp")
    with pytest.raises(KeyError, match="did you mean 'torques'"):
        series(MEASURES, "torque")


def test_labels_units_and_limits_of_joints():
    speeds = series(MEASURES, "joint_velocities")
    assert speeds.labels == ("TURN", "joint 1")
    assert speeds.units == ("rad/s", "m/s")
    assert (
        speeds.upper is not None and speeds.upper[0] == 5 and np.isinf(speeds.upper[1])
    )
    shown = speeds.in_degrees()
    assert shown.units == ("°/s", "m/s")
    np.testing.assert_allclose(
        shown.values[:, 0], np.degrees(speeds.values[:, 0]), rtol=1e-15
    )
    np.testing.assert_array_equal(shown.values[:, 1], speeds.values[:, 1])
    assert shown.upper is not None and shown.upper[0] == pytest.approx(np.degrees(5.0))
    one = speeds.select(["joint 1"])
    assert one.labels == ("joint 1",) and one.values.shape == (len(TIMES), 1)
    with pytest.raises(KeyError, match="expected one of TURN, joint 1"):
        speeds.column("ELBOW")


def test_torques_have_the_limits_of_the_motors():
    body = MEASURES.body
    strong = replace(
        body.links[1], joint=replace(body.links[1].joint, extra={"effort": 7.0})
    )
    links = (body.links[0], strong, *body.links[2:])
    limited = series(measure(replace(body, links=links), MEASURES.motion), "torques")
    column = list(body.joint_links).index(1)
    assert limited.lower is not None and limited.upper is not None
    assert (limited.lower[column], limited.upper[column]) == (-7.0, 7.0)
    assert np.isinf(np.delete(limited.upper, column)).all()


def test_figures_of_an_arm_worked_out_by_hand():
    """The weight is 0.3 m from the axis, at the angle q below the horizontal; torque = m r² q̈ − m g r cos q about +y."""
    found = {one.name: one for one in figures(MEASURES)}
    assert found["duration"].value == pytest.approx(2.0)
    assert found["mass"].value == 2.0
    fastest = found["max_joint_velocity"]
    assert (fastest.part, fastest.unit) == ("TURN", "rad/s")
    assert fastest.value == pytest.approx(2.0, rel=1e-3)
    assert found["velocity_limit_used"].value == pytest.approx(0.4, rel=1e-3)
    assert found["velocity_limit_used"].part == "TURN"
    assert found["nearest_limit"].value == pytest.approx(1.0, abs=1e-4)
    assert found["nearest_limit"].time == pytest.approx(np.pi / 4, abs=0.01)
    assert found["nearest_limit_slide"].value == pytest.approx(0.2)
    q = np.sin(2 * TIMES)
    torque = 2 * 0.3**2 * -4 * q - 2 * 9.80665 * 0.3 * np.cos(q)
    assert found["max_torque"].value == pytest.approx(np.abs(torque).max(), rel=0.01)
    assert "min_margin" not in found and "path_length" not in found


def test_the_share_of_a_limit_is_that_of_its_own_side():
    body = arm()
    joint = bm.Joint(
        name="TURN",
        type="rotate",
        id=0,
        axis=np.array([0.0, 1, 0]),
        velocity_lower=-8,
        velocity_upper=4,
    )
    links = (
        body.links[0],
        bm.Link(name="UPPER", index=1, parent=0, joint=joint),
        body.links[2],
    )
    motion = bm.Motion.from_joints(
        np.stack([-TIMES * 2, np.zeros_like(TIMES)], axis=1), RATE
    )
    turn = extremes(series(measure(bm.Body(links=links), motion), "joint_velocities"))[
        0
    ]
    assert turn.lowest == pytest.approx(-2) and turn.highest == pytest.approx(-2)
    assert turn.used == pytest.approx(0.25)


def test_a_limit_on_the_other_side_of_0_has_no_share():
    """Spot's knee, as an example, moves between -2.79 and -0.25 rad."""
    joint = replace(arm().links[1].joint, lower=-2.0, upper=-0.25)
    body = replace(
        arm(),
        links=(arm().links[0], replace(arm().links[1], joint=joint), arm().links[2]),
    )
    motion = bm.Motion.from_joints(
        np.stack([np.linspace(-1.5, -1.0, 20), np.zeros(20)], axis=1), RATE
    )
    knee = extremes(series(measure(body, motion), "joint_displacements"))[0]
    assert knee.used == pytest.approx(0.75) and knee.used_time == 0


def test_how_far_a_foot_slides():
    """A block that is pushed over the floor at 0.1 m/s for a second."""
    block = bm.shapes.Shape(bm.shapes.Box((0.2, 0.2, 0.1)))
    inertia = 0.01 * np.eye(3)
    body = bm.Body(
        links=(
            bm.Link(
                name="BLOCK",
                joint=bm.Joint(type="free"),
                segments=(
                    bm.Segment(
                        mass=1.0, inertia=inertia, visuals=(block,), collisions=(block,)
                    ),
                ),
            ),
        )
    )
    times = np.arange(101) / RATE
    root = np.zeros((101, 7))
    root[:, 0], root[:, 2], root[:, 3] = 0.1 * times, 0.05, 1
    measures = measure(
        body, bm.Motion.from_link_poses(root[:, None], RATE), feet=["BLOCK"]
    )
    found = {one.name: one for one in figures(measures)}
    assert found["max_slip"].value == pytest.approx(0.1, rel=1e-6)
    assert found["max_slip"].part == "BLOCK"
    assert found["path_length"].value == pytest.approx(0.1, rel=1e-9)
    assert found["time_in_balance"].value == 1
    assert found["min_margin"].value == pytest.approx(0.1, abs=1e-6)


@settings(max_examples=tries(25), deadline=None)
@given(bodies(), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_every_quantity_of_any_body_is_a_table_that_fits(body, count, seed):
    draw = np.random.default_rng(seed)
    motion = bm.Motion.from_joints(draw.normal(size=(count, body.num_joints)), 50.0)
    measures = measure(body, motion)
    for name in measurable(measures):
        found = series(measures, name)
        assert (
            found.values.shape
            == (count, len(found.labels))
            == (len(found.times), len(found.units))
        )
        assert len(set(found.labels)) == len(found.labels) and all(found.labels)
        for limit in (found.lower, found.upper):
            assert limit is None or limit.shape == (len(found.labels),)
        assert len(extremes(found)) == len(found.labels)
    for one in figures(measures):
        assert np.isfinite(one.value)
        assert one.time is None or measures.times[0] <= one.time <= measures.times[-1]
