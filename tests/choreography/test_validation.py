"""Validation: each rule has an animation that breaks it, and one that does not."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from moves import RADIUS, move

import bodymotion as bm
from bodymotion.diagnostics.catalogue import rules_of
from bodymotion.spot.animation import Parameter
from bodymotion.spot.cha import parse_cha
from bodymotion.spot.playback import rules, stand
from bodymotion.spot.playback.stance import distance_outside

UNDER = stand().feet - [0, 0, RADIUS]
ARM_READY = [0.1, -2.0, 1.9, 0.2, -0.3, 0.4]


def codes(animation, **options):
    return {problem.rule for problem in bm.spot.validate(animation, **options)}


def steps(*places, body=((0, 0, 0.48),), contacts=None, times=None, **options):
    """Make an animation of feet (4, 3), bodies (3,) and contacts (4,)."""
    places = np.array(places)
    bodies = np.broadcast_to(np.asarray(body, float), (len(places), 3))
    marks = (
        np.ones((len(places), 4)) if contacts is None else np.asarray(contacts, float)
    )
    rows = [
        [*place.ravel(), *center, *mark]
        for place, center, mark in zip(places, bodies, marks, strict=True)
    ]
    return move("legs body", "foot_pos body_pos contact", rows, times, **options)


def shifted(**feet):
    """Return the nominal feet with some of them moved by (3,)."""
    places = UNDER.copy()
    for name, step in feet.items():
        places[("fl", "fr", "hl", "hr").index(name)] += step
    return places


STILL = steps(UNDER, UNDER, UNDER)
SWING = [[0, 1, 1, 1]] * 3


def arm(*rows, **options):
    return move("arm", "arm_joints", rows, **options)


def parameter(default):
    return Parameter(-10, default, 10)


BROKEN = {
    "SPOT017": move("body", "body_z", [[0.4], [np.nan]]),
    "SPOT001": steps(UNDER, UNDER, body=[[0, 0, 0.48], [0, 0, 0.9]]),
    "SPOT002": move("arm", "hand_pos", [[0.7, 0, 0.7], [2.5, 0, 0.7]]),
    "SPOT003": arm(ARM_READY, ARM_READY, parameters={"elbow_0_offset": parameter(2.0)}),
    "SPOT004": arm(ARM_READY, [*ARM_READY[:5], -1.5], times=[0, 0.05]),
    "SPOT005": steps(
        UNDER, shifted(fl=[0.25, 0, 0.05]), times=[0, 0.03], contacts=[[0, 1, 1, 1]] * 2
    ),
    "SPOT006": steps(UNDER, shifted(hl=[0.1, 0, 0])),
    "SPOT008": steps(UNDER, shifted(fr=[0, 0, 0.06]), UNDER),
    "SPOT009": steps(*[UNDER] * 3, body=[[0.4, 0, 0.4]] * 3),
    "SPOT010": steps(*[UNDER] * 3, contacts=np.zeros((3, 4))),
    "SPOT011": steps(
        UNDER + np.array([0.2, 0, 0]),
        UNDER + np.array([0.2, 0, 0]),
        body=[0.2, 0, 0.48],
    ),
    "SPOT012": steps(UNDER, UNDER, body=[[0, 0, 0.48], [0, 0, 0.05]]),
    "SPOT013": steps(UNDER, UNDER, body=[[0, 0, 0.48], [0, 0, 0.40]], extendable=True),
    "SPOT014": steps(UNDER, UNDER, body=[0, 0.1, 0.42]),
    "SPOT015": steps(UNDER, UNDER, times=[0, 1.07], bpm=60.0),
    "SPOT018": steps(
        UNDER,
        UNDER,
        UNDER,
        body=[[0, 0, 0.48], [0, 0, 0.30], [0, 0, 0.48]],
        times=[0, 0.01, 1],
    ),
    "SPOT016": steps(
        UNDER,
        shifted(fl=[0, -0.15, 0.05], fr=[0, 0.15, 0.05]),
        contacts=[[0, 0, 1, 1]] * 2,
    ),
}


def test_every_rule_is_broken_once():
    assert set(BROKEN) == {rule.code for rule in rules_of(rules)}


@pytest.mark.parametrize("code", BROKEN)
def test_a_rule_is_found_broken(code):
    found = [
        problem for problem in bm.spot.validate(BROKEN[code]) if problem.rule == code
    ]
    assert found
    assert found[0].message
    assert code == "SPOT017" or found[0].location.inside.startswith("keyframe ")


@pytest.mark.parametrize("options", [{}, {"no_looping": True}, {"extendable": True}])
@pytest.mark.parametrize(("name", "value"), [("offset_slices", 1.0), ("speed", 2.0)])
def test_a_move_that_starts_again_reports_its_jump(options, name, value):
    """The amount is the largest step of the played body; without the parameter the move does not start again."""
    animation = move("body", "body_z", np.linspace(0.48, 0.40, 9)[:, None], **options)
    played = bm.play(animation, parameters={name: value})
    steps = np.abs(np.diff(played.link_position.values[:, 0, 2])).max()
    found = [problem for problem in played.problems if problem.rule == "SPOT013"]
    assert [problem.severity for problem in found] == (
        ["warning"] if not options.get("no_looping") else []
    )
    assert all(
        problem.data["amount"] == pytest.approx(0.08) == pytest.approx(steps, abs=2e-3)
        for problem in found
    )
    assert not bm.play(animation).problems
    with_default = replace(animation, parameters={name: Parameter(0, value, 32)})
    assert [
        p.severity for p in bm.spot.validate(with_default) if p.rule == "SPOT013"
    ] == [p.severity for p in found]


def test_a_stand_has_no_problems():
    assert codes(STILL) == set()


def test_the_examples_have_no_problems(examples):
    for path in sorted(examples.glob("*.cha")):
        found = [
            str(problem)
            for problem in bm.spot.validate(bm.load(path))
            if problem.severity != "note"
        ]
        assert not found, path.name


def test_the_keyframe_is_named_where_it_is_worst():
    rows = [UNDER, UNDER, shifted(fr=[0, 0, 0.06]), UNDER]
    (problem,) = [p for p in bm.spot.validate(steps(*rows)) if p.rule == "SPOT008"]
    assert problem.location.inside == "keyframe 3"
    assert problem.subject == ("keyframes", 2)
    assert (problem.count, problem.data) == (
        1,
        {"amount": pytest.approx(0.06), "time": 1.0, "parts": ["fr"]},
    )


def test_other_keyframes_are_counted():
    rows = [UNDER, UNDER, *[shifted(fr=[0, 0, 0.06])] * 3, UNDER]
    (problem,) = [p for p in bm.spot.validate(steps(*rows)) if p.rule == "SPOT008"]
    assert problem.location.inside == "keyframe 3"
    assert problem.count == 3


def test_what_is_worst_between_two_keyframes_has_a_time_between_them():
    """Both feet are on the floor and within reach at keyframes; the fastest is in the middle between them."""
    found = [p for p in bm.spot.validate(BROKEN["SPOT004"]) if p.rule == "SPOT004"]
    assert found
    times = BROKEN["SPOT004"].keyframes.times
    assert all(times[0] < p.data["time"] < times[1] for p in found)


@pytest.mark.parametrize(
    ("harmless", "code"),
    [
        (
            steps(
                UNDER,
                shifted(hl=[0.1, 0, 0.03]),
                shifted(hl=[0.2, 0, 0]),
                contacts=[[1, 1, 1, 1], [1, 1, 0, 1], [1, 1, 1, 1]],
            ),
            "SPOT006",
        ),
        (
            steps(
                UNDER,
                shifted(fr=[0, 0, 0.06]),
                UNDER,
                contacts=[[1, 1, 1, 1], [1, 0, 1, 1], [1, 1, 1, 1]],
            ),
            "SPOT008",
        ),
        (
            steps(
                *[UNDER] * 3,
                body=[[0, 0, 0.48], [0.4, 0, 0.4], [0, 0, 0.48]],
                times=[0, 0.2, 0.4],
            ),
            "SPOT009",
        ),
        (
            steps(*[UNDER] * 3, contacts=np.zeros((3, 4)), times=[0, 0.1, 0.2]),
            "SPOT010",
        ),
        (
            steps(
                UNDER,
                UNDER,
                body=[[0, 0, 0.48], [0, 0, 0.4]],
                extendable=True,
                no_looping=True,
            ),
            "SPOT013",
        ),
        (
            steps(
                UNDER,
                UNDER,
                body=[0, 0.1, 0.42],
                parameters={"body_entry_slices": parameter(2)},
            ),
            "SPOT014",
        ),
        (
            steps(
                UNDER, UNDER, times=[0, 1.07], bpm=60.0, retime_to_integer_slices=True
            ),
            "SPOT015",
        ),
        (steps(UNDER, UNDER, body=[[0, 0, 0.145]] * 2, starts_sitting=True), "SPOT012"),
    ],
)
def test_what_is_all_right_is_not_minded(harmless, code):
    assert code not in codes(harmless)


@pytest.mark.parametrize(
    ("animation", "said"),
    [
        (move("body", "body_z", [[np.nan], [0.4]]), "body_z is nan in keyframe 1"),
        (move("body", "body_z", np.zeros((0, 1)), []), "no keyframes"),
        (move("body", "body_z", [0.48, 0.4], [1, 0]), "keyframe 2"),
        (move("body", "body_z", [0.48, 0.4], [0, 1e300]), "too long"),
        (move("body", "body_z", [0.48, 0.4], [0, 1e-300]), "smallest gap"),
        (move("body", "body_z", [0.48, 1e300]), "keyframe 2"),
        (move("body", "body_z", [0.48, 0.4], bpm=1e300), "beats per minute"),
        (move("body", "body_z", [0.48, 0.4], bpm=1e-300), "beats per minute"),
        (move("body", "body_z", [0.48, 0.4], bpm=-5.0), "beats per minute"),
        (
            move(
                "body", "body_z", [0.48, 0.4], parameters={"speed": Parameter(0, 0, 2)}
            ),
            "speed: expected a positive number",
        ),
        (
            move(
                "body",
                "body_z",
                [0.48, 0.4],
                parameters={"speed": Parameter(0, 1e300, 1e301)},
            ),
            "largest value",
        ),
        (
            move(
                "body",
                "body_z",
                [0.48, 0.4],
                parameters={"offset_slices": Parameter(0, 1e300, 1e301)},
            ),
            "largest value",
        ),
    ],
)
def test_what_can_not_be_played_is_a_problem_with_its_reason(animation, said):
    (problem,) = bm.spot.validate(animation)
    assert (problem.rule, problem.severity) == ("SPOT017", "error")
    assert said in problem.message
    with pytest.raises(ValueError, match=said):
        animation.play()


def test_a_robot_that_may_not_play_it_is_a_problem():
    (problem,) = bm.spot.validate(
        move("body", "body_z", [0.4, 0.4], arm_required=True), arm=False
    )
    assert problem.rule == "SPOT017"
    assert "arm_required" in problem.message


def test_angles_beyond_limits_in_the_keyframes_are_the_documents_matter():
    assert "SPOT003" not in codes(arm([*ARM_READY[:2], -1.0, 0, 0, 0], ARM_READY))


def test_outside_of_a_polygon():
    square = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]], float)
    points = np.array([[0, 0], [3, 0], [2, 2], [0.9, -0.9], [0, 0], [2, 0], [0, 0]])
    stance = np.array(
        [[1, 1, 1, 1]] * 4 + [[1, 0, 0, 1], [1, 0, 0, 0], [0, 0, 0, 0]], bool
    )
    found = distance_outside(points, np.tile(square, (7, 1, 1)), stance)
    np.testing.assert_allclose(found, [0, 2, np.sqrt(2), 0, 0, np.sqrt(2), np.nan])


def test_outside_of_a_triangle_against_shapes_of_all_kinds():
    """A point is inside just when it is a mix of corners with shares from 0 to 1."""
    rng = np.random.default_rng(8)
    feet = rng.normal(size=(500, 4, 2))
    points = rng.normal(size=(500, 2))
    stance = np.tile([True, True, False, True], (500, 1))
    corners = feet[:, [0, 1, 3]]
    system = np.concatenate([np.swapaxes(corners, 1, 2), np.ones((500, 1, 3))], axis=1)
    shares = np.linalg.solve(
        system, np.concatenate([points, np.ones((500, 1))], axis=1)[..., None]
    )[..., 0]
    np.testing.assert_array_equal(
        distance_outside(points, feet, stance) == 0, (shares >= 0).all(axis=1)
    )


def test_in_a_file_the_line_is_named(tmp_path):
    text = "controls body\n\nno parameters\n\ntime body_z # two comments\n# are here\n0 0.48\n\t1 0.9 # too high\n2 0.48\n"
    path = tmp_path / "high.cha"
    path.write_text(text, encoding="utf-8")
    found = [p for p in bm.check(path).problems if p.rule == "SPOT001"]
    assert [sorted(p.data["parts"]) for p in found] == [["fl", "fr", "hl", "hr"]]
    assert {(p.location.path, p.location.line) for p in found} == {(str(path), 8)}
    assert [p for p in bm.check(bm.load(path)).problems if p.rule == "SPOT001"] == found


def test_a_long_move_takes_little_memory():
    """A few lines of text that last for a day are looked at at a lower rate."""
    text = "controls legs\nextendable\n\nno parameters\n\ntime foot_pos\n"
    feet = "0.3 0.17 0  0.3 -0.17 0  -0.3 0.17 0  -0.3 -0.17 0"
    animation = parse_cha(f"{text}0 {feet}\n90000 {feet}\n".encode()).require()
    tracemalloc.start()
    try:
        bm.spot.validate(animation)
        assert tracemalloc.get_traced_memory()[1] < 150 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("low", [0, 1, 2, 3])
def test_a_keyframe_in_which_the_body_is_too_low_is_reported_alone(low):
    """The legs are given by joints: their feet go down with the body, fast, and below the floor."""
    rows = np.tile([0.0, 0.8, -1.6] * 4 + [0.0, 0.0, 0.48], (4, 1))
    rows[low, -1] = 0.30
    times = [0, 0.01, 0.02, 1] if low < 2 else [0, 0.98, 0.99, 1]
    animation = move("legs body", "leg_joints body_pos", rows, times=times)
    (problem,) = bm.spot.validate(animation)
    assert problem.rule == "SPOT018"
    assert problem.data == {
        "distance": pytest.approx(0.18),
        "seconds": pytest.approx(0.01),
    }
