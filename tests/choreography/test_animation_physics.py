"""Physics of animations: torques, flight, collisions and the floor, and what only happens at the ends of parameters' ranges."""

from __future__ import annotations

import numpy as np
import pytest
from moves import RADIUS, move

import bodymotion as bm
from bodymotion.spot.animation import Animation, Parameter
from bodymotion.spot.checking import corners
from bodymotion.spot.playback import stand

pytest.importorskip("mujoco")
UNDER = stand().feet - [0, 0, RADIUS]
TIMES = np.arange(101) * 0.02


def raised(feet: np.ndarray, body: np.ndarray) -> Animation:
    """Return a stand whose feet and body are raised by heights (T,) [m]; feet that are raised have no contact."""
    rows = [
        [
            *(UNDER + np.array([0.0, 0.0, foot])).ravel(),
            0.0,
            0.0,
            0.48 + top,
            *[float(foot == 0)] * 4,
        ]
        for foot, top in zip(feet, body, strict=True)
    ]
    return move("legs body", "foot_pos body_pos contact", rows, TIMES)


def rules(animation: Animation, **options: object) -> dict[str, bm.Problem]:
    found = bm.check(animation, **options).problems
    assert len(found) == len({one.rule for one in found})
    return {one.rule: one for one in found}


def test_a_knee_that_needs_too_much_torque():
    """The torque follows from Newton's law: four knees carry the trunk, whose acceleration is that of the sine."""
    squats = [
        raised(0 * TIMES, 0.1 * np.sin(2 * np.pi * rate * TIMES) - 0.12)
        for rate in (2.5, 3.5)
    ]
    assert "MOT331" not in rules(squats[0])
    found = rules(squats[1])["MOT331"]
    assert (
        found.severity == "warning"
        and found.data["subject"].endswith("_kn")
        and "115 Nm" in found.message
    )
    motion = squats[1].play()
    torques = np.abs(
        bm.dynamics.measure(bm.spot.body(arm=False), motion).torques[10:-10]
    ).max()
    assert found.data["amount"] * 115 == pytest.approx(torques, rel=0.1)
    assert (
        found.location.inside.startswith("keyframe ")
        and found.subject[0] == "keyframes"
    )


@pytest.mark.parametrize(("seconds", "hovers"), [(0.4, False), (1.2, True)])
def test_a_hop_must_be_ballistic(seconds, hovers):
    """A hop of 0.4 s with g/8·0.16 s² is a free fall; one of the same height that takes 1.2 s is not."""
    height = 9.80665 / 8 * 0.16
    phase = np.clip((TIMES - 0.4) / seconds, 0.0, 1.0)
    up = 4 * height * phase * (1 - phase)
    up[up < 1e-9] = 0.0
    assert ("MOT313" in rules(raised(up, up))) == hovers


def test_a_hand_below_the_floor():
    reach = [[0.9, 0, 0.3]] * 2 + [[0.55, 0, -0.25]] * 3
    found = rules(
        move("arm", "hand_pos", reach, [0, 0.5, 2, 3, 4], arm_playback="workspace")
    )["MOT312"]
    assert found.severity == "error" and found.data["subject"] in ("arm_wr1", "gripper")
    assert found.data["time"] >= 1.5


def nod(**ranges: Parameter) -> Animation:
    return move(
        "body",
        "body_euler_rpy",
        [[0, 0, 0], [0, 0.4, 0], [0, 0, 0]],
        [0, 1, 2],
        parameters=ranges,
    )


def test_parameters_are_tried_at_the_ends_of_their_ranges():
    name = "rotation_multiplier.pitch"
    assert not rules(nod(**{name: Parameter(0, 1, 1.2)}))
    found = rules(nod(**{name: Parameter(0, 1, 2)}))["SPOT001"]
    assert found.data["parameters"] == {name: 2.0} and name in found.message
    played = nod(**{name: Parameter(0, 1, 2)}).play(parameters={name: 2.0})
    miss = next(c.values for c in played.timed if c.content == "ReachError")
    assert found.data["amount"] == pytest.approx(miss.max(), rel=1e-3)
    # With a value the corners are not tried, and the finding is about this value.
    assert not rules(nod(**{name: Parameter(0, 1, 2)}), parameters={name: 1.2})
    assert (
        "parameters"
        not in rules(nod(**{name: Parameter(0, 1, 2)}), parameters={name: 2.0})[
            "SPOT001"
        ].data
    )


def test_corners_with_fewer_changes_are_tried_first():
    two = nod(
        **{
            "rotation_multiplier.pitch": Parameter(0, 1, 2),
            "translation_multiplier.z": Parameter(1, 1, 2),
        }
    )
    sizes = [len(corner) for corner in corners(two)]
    assert sizes == [1, 1, 1, 2, 2]
    axes = (
        "rotation_multiplier.roll",
        "rotation_multiplier.yaw",
        *(f"translation_multiplier.{axis}" for axis in "xyz"),
    )
    many = nod(**dict.fromkeys(axes, Parameter(0, 1, 2)))
    assert len(list(corners(many))) == 10 + 2


def test_a_tempo_changes_what_is_found():
    quick = raised(0 * TIMES, 0.1 * np.sin(2 * np.pi * 2.5 * TIMES) - 0.12)
    paced = bm.Animation(
        name="squat", options={**quick.options, "bpm": 60.0}, keyframes=quick.keyframes
    )
    assert "MOT331" in rules(paced, bpm=120.0) and "MOT331" not in rules(paced)
