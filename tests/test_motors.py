"""What motors add to a joint and how hard they push, from the fields that files have for it."""

import numpy as np
import pytest

import bodymotion as bm
from bodymotion.model.links import armature, effort_range, motor_range


def test_the_rotor_as_the_joint_feels_it():
    assert armature(bm.Joint(gear_ratio=100.0, rotor_inertia=2e-5)) == pytest.approx(
        0.2
    )
    given = bm.Joint(
        gear_ratio=100.0, rotor_inertia=2e-5, extra={"equivalentInertia": 0.3}
    )
    assert armature(given) == 0.3
    none = bm.Joint(
        gear_ratio=100.0, rotor_inertia=2e-5, extra={"equivalentInertia": 0.0}
    )
    assert armature(none) == pytest.approx(0.2)


def test_how_hard_a_motor_pushes():
    lossy = bm.Joint(
        torque_const=0.05, gear_ratio=80.0, gear_efficiency=0.6, extra={"climit": [4.0]}
    )
    assert effort_range(lossy) == pytest.approx((-9.6, 9.6))
    current = bm.Joint(torque_const=0.05, gear_ratio=80.0, extra={"climit": [4.0]})
    assert effort_range(current) == pytest.approx((-16.0, 16.0))
    assert motor_range(current) == pytest.approx((-0.2, 0.2))
    assert effort_range(bm.Joint(extra={"effort": 7})) == (-7.0, 7.0)
    both = bm.Joint(gear_ratio=-2.0, extra={"joint_effort_range": [-3, 12]})
    assert effort_range(both) == (-3.0, 12.0)
    assert motor_range(both) == (-6.0, 1.5)


@pytest.mark.parametrize(
    "extra",
    [
        {},
        {"effort": "much"},
        {"effort": np.inf},
        {"effort": 0},
        {"joint_effort_range": [2, 1]},
        {"climit": []},
    ],
)
def test_nothing_says_how_hard(extra):
    assert effort_range(bm.Joint(torque_const=1.0, extra=extra)) is None
