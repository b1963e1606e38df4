"""Choreographies: files as the vendor's package reads and writes them, what is found in them, and the builder."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import KDTree

import bodymotion as bm
from bodymotion.cli.app import app
from bodymotion.geometry import poses, rotations
from bodymotion.plots.parts import Bars
from bodymotion.scene.loading import load_scene
from bodymotion.scene.playback import moves_of
from bodymotion.spot.animation import Parameter
from bodymotion.spot.cha_proto.sequence import choreography_from_bytes, ranges_of
from bodymotion.spot.cha_proto.writer import message_of
from bodymotion.spot.choreography import check_choreography
from bodymotion.spot.choreography.moves import tracks_of
from bodymotion.spot.choreography.values import MoveInfo, RobotMoves
from bodymotion.viewer.page import timeline_data
from choreography.moves import body as body_of
from choreography.moves import feet as feet_of
from choreography.moves import hand, joints, move, same_poses
from sample_files import corpus_files, missing, tries

text_format = pytest.importorskip("google.protobuf.text_format")
pb = pytest.importorskip("bosdyn.api.spot.choreography_sequence_pb2")

ARM = [0.1, -1.5, 1.6, 0.2, 0.3, 0.4]
SAMPLES = corpus_files(
    "sequences/**/*.csq", "cha/sequences/**/*.csq", "cha/sequences/**/sequences/*.pbtxt"
)
NUMBERS = st.one_of(st.sampled_from([0.0, -0.0, 1.0]), st.floats(allow_nan=False))
SCALARS = {
    "double": NUMBERS,
    "string": st.text(max_size=5),
    "bool": st.booleans(),
    "int32": st.integers(-(2**31), 2**31 - 1),
}


def values_of(field) -> st.SearchStrategy:
    """Return a strategy of values of a field of the vendor's messages; of an enumeration unknown ones, too."""
    if field.message_type is not None:
        return messages_of(field.message_type)
    if field.enum_type is not None:
        return st.integers(-2, 20)
    kinds = {
        field.TYPE_DOUBLE: "double",
        field.TYPE_STRING: "string",
        field.TYPE_BOOL: "bool",
        field.TYPE_INT32: "int32",
    }
    return SCALARS[kinds[field.type]]


def messages_of(descriptor) -> st.SearchStrategy:
    """Return a strategy of messages as mappings of their fields, of which each may be missing."""
    plain = [f for f in descriptor.fields if not f.containing_oneof]
    fields = {
        f.name: st.lists(values_of(f), max_size=3) if f.is_repeated else values_of(f)
        for f in plain
    }
    choices = [
        st.fixed_dictionaries({f.name: values_of(f)})
        for f in descriptor.fields
        if f.containing_oneof
    ]
    chosen = st.one_of(st.just({}), *choices)
    return st.builds(
        lambda one, more: {**one, **more},
        st.fixed_dictionaries({}, optional=fields),
        chosen,
    )


@settings(max_examples=tries(300), deadline=None)
@given(messages_of(pb.ChoreographySequence.DESCRIPTOR))
def test_every_field_of_the_vendors_message_is_kept(values):
    theirs = pb.ChoreographySequence(**values)
    wire = theirs.SerializeToString(deterministic=True)
    loaded = choreography_from_bytes(wire)
    assert message_of(loaded).SerializeToString(deterministic=True) == wire
    bm.check(replace(loaded, robot=ROBOT))


def test_every_kind_of_parameters_survives_text_and_bytes(tmp_path):
    """All fields of all 38 kinds at once, those with the value 0 and empty messages among them, through every form of the file."""

    def fill(message, depth=0):
        for number, field in enumerate(message.DESCRIPTOR.fields):
            if field.containing_oneof or field.is_repeated:
                continue
            if field.message_type is not None:
                getattr(message, field.name).SetInParent()
                if number % 3:
                    fill(getattr(message, field.name), depth + 1)
            elif field.cpp_type in (
                field.CPPTYPE_DOUBLE,
                field.CPPTYPE_INT32,
                field.CPPTYPE_ENUM,
            ):
                setattr(message, field.name, 1)
            elif field.cpp_type == field.CPPTYPE_BOOL:
                setattr(message, field.name, True)

    theirs = pb.ChoreographySequence(name="all", slices_per_minute=400.5)
    theirs.choreography_info.labels.extend(["a", "b"])
    theirs.choreography_info.start_position.angle = 0.5
    kinds = [
        field.name
        for field in pb.MoveParams.DESCRIPTOR.fields
        if field.containing_oneof
    ]
    for kind in kinds:
        params = getattr(
            theirs.moves.add(type=kind, start_slice=3, requested_slices=4, id=5), kind
        )
        params.SetInParent()
        fill(params)
    assert len(kinds) == 38
    (tmp_path / "a.csq").write_text(text_format.MessageToString(theirs))
    loaded = bm.load_choreography(tmp_path / "a.csq")
    for name in ("b.csq", "b.pbtxt", "b.pb", "b.chr"):
        assert not bm.save(loaded, tmp_path / name).problems
        assert bm.load(tmp_path / name).moves == loaded.moves
    assert (tmp_path / "b.csq").read_bytes() == (tmp_path / "a.csq").read_bytes()
    assert (tmp_path / "b.pb").read_bytes() == theirs.SerializeToString(
        deterministic=True
    )
    saved = text_format.Parse((tmp_path / "b.chr").read_text(), pb.ChoreographerSave())
    assert saved.choreography_sequence == theirs


def test_unknown_fields_stay_in_bytes_and_are_lost_in_text(tmp_path):
    # Field 1023 of a move, of its step_params, and of the sequence.
    unknown = b"\x0a\x01s" + b"\xf8\x3f\x07" + b"\x6a\x03\xf8\x3f\x09"
    wire = pb.ChoreographySequence(name="a", slices_per_minute=400).SerializeToString()
    wire += b"\x1a" + bytes([len(unknown)]) + unknown + b"\xf8\x3f\x05"
    (tmp_path / "a.pb").write_bytes(wire)
    loaded = bm.load(tmp_path / "a.pb")
    assert not bm.save(loaded, tmp_path / "b.pb").problems
    assert (tmp_path / "b.pb").read_bytes() == pb.ChoreographySequence.FromString(
        wire
    ).SerializeToString()
    assert [one.rule for one in bm.save(loaded, tmp_path / "b.csq").problems] == [
        "LOSS064"
    ]


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_samples_load_and_are_clean_or_explained(path):
    loaded = bm.load(path)
    assert (
        message_of(loaded).SerializeToString()
        == text_format.Parse(
            path.read_text(), pb.ChoreographySequence()
        ).SerializeToString()
    )
    errors = [
        (one.rule, one.location.line)
        for one in bm.check(path).problems
        if one.severity == "error"
    ]
    # Two moves of the body begin at the same slice, twice.
    assert errors == (
        [("SPOT109", 743), ("SPOT109", 765)]
        if path.stem == "spot_inferno_full_dance"
        else []
    )


def test_there_are_samples():
    if not SAMPLES:
        missing("the sample choreographies")


def test_problems_are_at_their_fields(tmp_path):
    path = tmp_path / "a.csq"
    path.write_text(
        'name: "a" # moves {\nslices_per_minute: 400\n'
        'moves: <\n type: "twerk"\n  twerk_params {\n    height { value: inf }\n }\n>\n'
    )
    found = {
        one.rule: (one.location.line, one.location.column)
        for one in bm.check(path).problems
    }
    assert found == {"SPOT118": (6, 5), "SPOT105": (3, 1)}


def test_a_fault_hides_no_move_before_it(tmp_path):
    path = tmp_path / "a.csq"
    path.write_text(
        'name: "a"\nslices_per_minute: 4\nmoves { type: "sit" requested_slices: 8 }\nmoves { type: 5 }\n'
    )
    with pytest.raises(bm.FormatError) as failure:
        bm.load(path)
    assert (failure.value.problem.rule, failure.value.problem.location.line) == (
        "CAP002",
        4,
    )
    assert {"CAP002", "SPOT113"} <= {one.rule for one in bm.check(path).problems}
    for number, rules in (
        ("0", ["SPOT102", "CAP002"]),
        ("soon", ["CAP002", "CAP002"]),
        ("", ["CAP002", "CAP002"]),
    ):
        path.write_text(
            f'name: "a"\nslices_per_minute: {number}\nmoves {{ type: "sit" start_slice: soon }}\n'
        )
        assert [one.rule for one in bm.check(path).problems] == rules


@pytest.mark.parametrize("number", ["99999999999999999999", "-0xFFFFFFFFFFFFFFFFFF"])
def test_a_number_of_an_enumeration_may_be_too_large(number, tmp_path):
    path = tmp_path / "a.csq"
    path.write_text(
        f'name: "{number}"\nslices_per_minute: 300\nmoves {{ type: "step" requested_slices: 4 step_params {{ foot: {number} }} }}\n'
    )
    found = [
        (one.rule, one.location.line, one.location.column)
        for one in bm.check(path).problems
    ]
    assert found == [("CAP002", 3, 62)]


def test_a_fault_has_no_follow_up_and_takes_no_time(tmp_path):
    """What is missing behind a fault is not reported as missing; messages nested 50 000 deep end the reading."""
    nested = "name: 'a' " + "moves { step_params { " * 50_000
    for text, expected in (
        ("name: 'a' name: 'b'", {"CAP002", "CAP101"}),
        (nested, {"FMT009"}),
    ):
        (tmp_path / "a.csq").write_text(text)
        found = {one.rule for one in bm.check(tmp_path / "a.csq").problems}
        assert found and found <= expected


def test_a_dance_is_built_checked_and_played(tmp_path):
    """Animations have their natural length, moves follow each other, and the motion is that of the animations at their slices."""
    nod = replace(
        move("body", "body_pos", [[0, 0, 0.48], [0, 0, 0.40], [0, 0, 0.48]]), name="nod"
    )
    dance = (
        bm.Choreography(name="show", slices_per_minute=480)
        .add(nod)
        .add("sit", slices=4)
        .add(nod, start=20)
    )
    dance = dance.add("twerk", 0, 4, {"height": 0.1})
    assert [
        (one.type, one.start_slice, one.requested_slices) for one in dance.moves
    ] == [
        ("animation::nod", 0, 8),
        ("sit", 8, 4),
        ("animation::nod", 20, 8),
        ("twerk", 0, 4),
    ]
    assert dance.moves[-1].kind == "twerk_params"
    assert dance.duration == pytest.approx(28 / 8)
    assert [
        one.rule for one in bm.check(dance).problems if one.severity == "error"
    ] == ["SPOT109"]
    bm.save(dance, tmp_path / "show.csq")
    bm.save(nod, tmp_path / "nod.cap")
    loaded = bm.load(tmp_path / "show.csq")
    assert loaded == dance
    assert list(loaded.animations) == ["nod"]
    motion = bm.load(tmp_path / "show.csq").play()
    frames = np.array([0.0, 0.5, 1.0, 2.0, 3.0]) * motion.frame_rate
    heights = motion.link_position.values[frames.round().astype(int), 0, 2]
    np.testing.assert_allclose(
        heights, np.array([0.48, 0.40, 0.48, 0.48, 0.40]) + 0.036, atol=1e-9
    )
    shown = [(one["type"], one["played"]) for one in motion.extra["spot"]["moves"]]
    assert shown == [
        ("≈ twerk", True),
        ("animation::nod", True),
        ("sit", False),
        ("animation::nod", True),
    ]
    for wrong in (
        lambda: dance.add("jig"),
        lambda: dance.add("twerk", 0, 4, {"heigt": 1}),
        lambda: dance.add("jig", 0, 4, {"x": 1}),
    ):
        with pytest.raises(ValueError, match=r"jig|heigt"):
            wrong()


def test_the_timeline_has_the_moves(tmp_path):
    """Plots and the viewer show each move on its tracks, those without a known motion marked."""
    nod = replace(
        move("body", "body_pos", [[0, 0, 0.48], [0, 0, 0.40], [0, 0, 0.48]]), name="nod"
    )
    dance = (
        bm.Choreography(name="show", slices_per_minute=480)
        .add(nod)
        .add("arm_move", 4, 8, {"gripper": 0.5})
    )
    assert dance.add(nod, 12, 3).play().num_frames, (
        "an animation of 8 slices in 3 has the nearest length that it allows"
    )
    plot = bm.plot(dance, what=["moves", "overview"])
    for chart in plot.charts:
        (bars,) = (
            cell.part
            for cell in chart.cells
            if isinstance(cell.part, Bars) and cell.part.title == "Moves"
        )
        assert bars.labels == ("body", "arm", "gripper")
        assert bars.texts == (("nod",), ("arm_move",), ("arm_move",))
        assert [len(spans) for spans in bars.marked] == [0, 1, 1]
        np.testing.assert_allclose([spans[0][0] for spans in bars.spans], [0, 0.5, 0.5])
    plot.save(tmp_path / "show.png")
    rows = timeline_data(load_scene(dance))["rows"]
    assert [(row[0], row[1][0][:2], row[1][0][4]) for row in rows[:2]] == [
        ("body", [0, 1], "nod"),
        ("arm", [0.5, 1.5], "arm_move"),
    ]
    damaged = replace(
        dance.play(),
        extra={"spot": {"moves": [3, {"type": "a", "start": "b"}, {"type": 4}]}},
    )
    assert not moves_of(damaged)


def test_lengths_by_slices_and_seconds():
    """A length in seconds beats that in slices; of bounds that contradict each other the minimum counts."""
    fixed = MoveInfo("a", slices=(4, 0, 0), seconds=(2.0, 0, 0))
    assert fixed.slice_range(300.0) == (10.0, 10.0)
    ranged = MoveInfo("a", slices=(4, 2, 16), seconds=(0, 1.0, 2.0), is_extendable=True)
    assert ranged.slice_range(300.0) == (5.0, 10.0)
    assert replace(ranged, seconds=(0, 4.0, 0)).slice_range(300.0) == (20.0, 20.0)
    assert MoveInfo("a", is_extendable=True).slice_range(300.0) == (0.0, float("inf"))


CONFIG = "sway sway_params\nvertical -0.1 0.05 0.1\nstyle 1\n\nstep step_params\noffset.x -0.3 0 0.3\nswing_height 0 0.1 0.2\n\nsit NONE\n"
STAND, SIT = "TRANSITION_STATE_STAND", "TRANSITION_STATE_SIT"
ROBOT = RobotMoves(
    {
        "sway": MoveInfo("sway", ("body",), (8, 4, 64), is_extendable=True),
        "step": MoveInfo(
            "step", ("legs",), (4, 4, 16), (0, 0, 0), True, (STAND,), STAND
        ),
        "sit": MoveInfo("sit", ("legs",), (0, 0, 0), (3, 0, 0), False, (STAND,), SIT),
    },
    ranges_of(CONFIG),
)


def test_ranges_of_a_robot():
    assert ROBOT.ranges["step"] == (
        "step_params",
        {"offset.x": Parameter(-0.3, 0, 0.3), "swing_height": Parameter(0, 0.1, 0.2)},
    )
    assert ROBOT.ranges["sit"] == ("", {})
    assert ROBOT.ranges["sway"][1]["style"] == Parameter()


def is_allowed(moves: list[bm.spot.Move]) -> bool:
    """Return whether a robot with the moves of `ROBOT` takes a sequence: the rules once more, each as simply as can be."""
    ids = [one.id for one in moves if one.id]
    if len(set(ids)) < len(ids):
        return False
    for k, one in enumerate(moves):
        if (
            one.type not in ("sway", "step")
            or one.start_slice < 0
            or one.kind != f"{one.type}_params"
        ):
            return False
        if not 4 <= one.requested_slices <= {"sway": 64, "step": 16}[one.type]:
            return False
        for name, value in one.parameters.items():
            limits = ROBOT.ranges[one.type][1].get(name)
            if limits is None or not limits.minimum <= value <= limits.maximum:
                return False
        for other in moves[:k]:
            if (
                one.type == other.type
                and one.start_slice < other.end_slice
                and other.start_slice < one.end_slice
            ):
                return False
    return True


def test_mutated_sequences_are_caught_or_harmless():
    """What is changed at random is found exactly where a robot would not take it."""
    chance = random.Random(5)
    moves = []
    for k in range(20):
        moves.append(
            bm.spot.Move(
                "sway", 8 * k, 8, {"vertical": 0.05}, "sway_params", id=2 * k + 1
            )
        )
        moves.append(
            bm.spot.Move(
                "step",
                8 * k,
                8,
                {"offset.x": 0.1, "swing_height": 0.1},
                "step_params",
                id=2 * k + 2,
            )
        )
    clean = bm.Choreography(
        name="show", slices_per_minute=400, moves=tuple(moves), robot=ROBOT
    )
    assert check_choreography(clean) == ()
    outcomes = set()
    for _ in range(tries(1000)):
        number = chance.randrange(len(moves))
        one = moves[number]
        name = chance.choice([*one.parameters, "heigt"])
        change = chance.choice(
            [
                {"type": chance.choice(["swa", "sit down", "", "animation::x"])},
                {"start_slice": chance.randrange(-50, 200)},
                {"requested_slices": chance.randrange(-5, 30)},
                {"kind": chance.choice(["twerk_params", "animate_params"])},
                {"id": chance.randrange(60)},
                {"parameters": {**one.parameters, name: chance.uniform(-1, 1)}},
            ]
        )
        mutated = [*moves[:number], replace(one, **change), *moves[number + 1 :]]
        found = check_choreography(clean.replaced(*mutated))
        assert bool(found) != is_allowed(mutated), (one, change, found)
        outcomes.add(bool(found))
    assert outcomes == {True, False}


def test_ten_thousand_moves(tmp_path):
    """The check is much cheaper than the vendor's parser of the same text; here: it does not grow faster than the number of moves."""
    import time

    def cost(count: int) -> float:
        moves = tuple(
            bm.spot.Move(
                "sway",
                8 * k,
                8,
                {"vertical": 0.05, "pivot": "PIVOT_CENTER"},
                "sway_params",
            )
            for k in range(count)
        )
        dance = bm.Choreography(name="a", moves=moves, robot=ROBOT)
        start = time.process_time()
        check_choreography(dance)
        return time.process_time() - start

    cost(100)
    assert cost(10_000) < 40 * max(cost(1_000), 1e-3)


def test_commands(tmp_path):
    """info, diff and convert know choreographies."""
    dance = (
        bm.Choreography(name="show")
        .add("sway", 0, 8, {"vertical": 0.05})
        .add("sit", 8, 8)
    )
    paths = tmp_path / "a.csq", tmp_path / "b.pb"
    bm.save(dance, paths[0])
    run = CliRunner().invoke
    assert run(app, ["convert", str(paths[0]), str(paths[1])]).exit_code == 0
    assert run(app, ["diff", *map(str, paths)]).exit_code == 0
    bm.save(
        dance.replaced(dance.moves[0], bm.spot.Move("step", 8, 4), dance.moves[1]),
        paths[1],
    )
    different = run(app, ["diff", *map(str, paths)])
    assert (different.exit_code, different.output) == (
        1,
        "step at slice 8: only in the second\n",
    )
    shown = run(app, ["info", str(paths[0])]).output
    assert "vertical=0.05" in shown
    assert "2.4 s, 16 slices" in shown
    assert tracks_of(dance, dance.moves[0]) == ("body",)
    assert run(app, ["convert", str(paths[0]), str(tmp_path / "a.seq")]).exit_code == 0
    assert bm.load(tmp_path / "a.seq").duration == pytest.approx(2.4)
    assert (
        run(app, ["measure", str(paths[0]), "-o", str(tmp_path / "a.csv")]).exit_code
        == 0
    )
    assert Path(bm.load(paths[0]).source.path) == paths[0]


@pytest.mark.parametrize("starts", [0, 4])
def test_moves_on_different_tracks_are_played_together(starts):
    """Against each move alone: the feet of the legs' move, the body relative to where the legs carry it, the hand kept in the world."""
    feet = np.array(
        [[0.3, 0.17, 0], [0.3, -0.17, 0], [-0.3, 0.17, 0], [-0.3, -0.17, 0]]
    )
    rows = [np.add(feet, [x, 0, 0]).ravel() for x in (0, 0.1, 0.2)]
    nod = move(
        "body", "body_pos body_pitch", [[0, 0, 0.48, 0], [0, 0.02, 0.45, 0.2]], [0, 1]
    )
    parts = {
        "walk": (move("legs", "foot_pos", rows, [0, 1, 2]), 4 - starts),
        "nod": (nod, starts),
        "reach": (
            move("arm", "hand_pos", [[0.7, 0, 0.7], [0.75, 0.1, 0.7]], [0, 1]),
            10,
        ),
        "grip": (move("gripper", "gripper", [[0], [-1]], [0, 1]), 10),
    }

    def dance(*names: str) -> bm.Motion:
        made = bm.Choreography(name="all", slices_per_minute=480.0).add("rest", 0, 20)
        for name in names:
            made = made.add(replace(parts[name][0], name=name), parts[name][1])
        assert "SPOT109" not in [one.rule for one in bm.check(made).problems]
        return made.play(arm=True)

    whole, walk, alone = dance(*parts), dance("walk"), dance("nod")
    np.testing.assert_allclose(feet_of(whole), feet_of(walk), atol=1e-9)
    of_walk, of_nod = body_of(walk), body_of(alone)
    same_poses(
        poses.compose(poses.inverse(of_walk), body_of(whole)),
        poses.compose(poses.inverse(of_nod[0]), of_nod),
    )
    np.testing.assert_allclose(
        joints(whole, "gripper"), joints(dance("grip"), "gripper")
    )
    center = feet_of(whole)[80].mean(axis=0)
    np.testing.assert_allclose(
        hand(whole)[[80, 144], :3],
        np.add(center, [[0.7, 0, 0.7], [0.75, 0.1, 0.7]]),
        atol=1e-6,
    )


def test_goals_that_are_missed_together_are_reported():
    """Each move alone reaches its goals; the body is too high over feet that are far apart, and goes away from the hand."""
    feet = np.array(
        [[0.3, 0.17, 0], [0.3, -0.17, 0], [-0.3, 0.17, 0], [-0.3, -0.17, 0]]
    )
    contact = np.tile([[1.0] * 4], (3, 1))
    rows = np.hstack(
        [[(feet * [size, size, 1]).ravel() for size in (1, 1.6, 1)], contact]
    )
    wide = move("legs", "foot_pos contact", rows, [0, 0.6, 1.2])
    up = move(
        "body", "body_pos", [[0, 0, 0.5], [0, 0, 0.63], [0, 0, 0.5]], [0, 0.6, 1.2]
    )
    back = move(
        "body", "body_pos", [[0, 0, 0.5], [-0.3, 0, 0.5], [0, 0, 0.5]], [0, 0.6, 1.2]
    )
    reach = move("arm", "hand_pos", [[1.0, 0, 0.75], [1.0, 0, 0.75]], [0, 1.2])
    known = {
        name: replace(one, name=name)
        for name, one in (("wide", wide), ("up", up), ("back", back), ("reach", reach))
    }

    def found(*moves: tuple[str, int]) -> list[tuple[str, int, int]]:
        made = bm.Choreography(name="all", slices_per_minute=400.0)
        for name, start in moves:
            made = made.add(known[name], start)
        problems = check_choreography(made)
        assert {one.rule for one in problems} <= {"SPOT001", "SPOT002"}
        return [(one.rule, one.subject[1], one.data["slice"]) for one in problems]

    assert found(("wide", 0), ("up", 8), ("back", 16), ("reach", 24)) == []
    assert found(("wide", 0), ("up", 0)) == [("SPOT001", 0, 4)]
    assert found(("up", 8), ("wide", 8), ("wide", 24), ("up", 24)) == [
        ("SPOT001", 0, 12),
        ("SPOT001", 2, 28),
    ]
    assert found(("reach", 8), ("back", 8)) == [("SPOT002", 0, 12)]


def test_robots_dance_together(tmp_path):
    """Each as alone, moved to its place; distances are at most those of the points of the shapes, and hardly less."""
    nod = replace(
        move("body", "body_pos", [[0, 0, 0.48], [0.1, 0, 0.40], [0, 0, 0.48]]),
        name="nod",
    )
    reach = move("arm", "hand_pos", [[0.7, 0, 0.7], [0.75, 0.1, 0.7]], [0, 0.5])
    places = [(0.0, 0.5, 0.3), (1.6, 0.2, np.pi)]
    made = bm.spot.ensemble(
        [bm.Choreography(name="a", slices_per_minute=480).add(nod), reach], places
    )
    placed = made.body.link_poses(made.motion)
    clouds = []
    for k, (alone, (x, y, heading)) in enumerate(
        zip((nod.play(), reach.play()), places, strict=True)
    ):
        robot = bm.spot.body(arm=k == 1)
        stage = poses.from_parts(
            [x, y, 0], [np.cos(heading / 2), 0, 0, np.sin(heading / 2)]
        )
        first = made.body.link(f"spot{k + 1}_body").index
        here = placed[[0, -1], first : first + len(robot.links)]
        same_poses(here, poses.compose(stage, robot.link_poses(alone)[[0, -1]]), 1e-6)
        points = [
            (link.index, shape.to_mesh().vertices)
            for link in robot.links
            for shape in link.visuals
        ]
        clouds.append(
            np.concatenate(
                [
                    poses.transform_points(here[-1, link], cloud)
                    for link, cloud in points
                ]
            )
        )
    nearest = KDTree(clouds[0]).query(clouds[1])[0].min()
    assert 0.7 * nearest < made.distances[0, 1][-1] <= nearest
    assert [
        one.rule
        for one in bm.spot.ensemble([nod, nod], [(0, 0, 0), (0.6, 0, 0)]).problems
    ] == ["SPOT133"]
    bm.save(nod, tmp_path / "nod.cha")
    arguments = [
        "spot",
        "together",
        *[str(tmp_path / "nod.cha")] * 2,
        "--place",
        "0,0,0",
        "--place",
    ]
    assert CliRunner().invoke(app, [*arguments, "0,3,90"]).exit_code == 0
    assert CliRunner().invoke(app, [*arguments, "0,0.3,0"]).exit_code == 1
    assert CliRunner().invoke(app, [*arguments, "0,0.3"]).exit_code == 2


def test_moves_whose_parameters_say_where_they_lead():
    """Turns and holds reach their poses, swaying and going down have their amplitudes, the arm its angles; a step is a pause."""
    dance = bm.Choreography(name="own", slices_per_minute=480)
    back = {"rotation.pitch": 0.2, "return_to_start_pose": True}
    dance = dance.add("rotate_body", 0, 8, {"rotation.yaw": 0.3}).add(
        "rotate_body", 8, 8, back
    )
    dance = dance.add(
        "body_hold", 16, 8, {"translation.x": 0.05, "entry_slices": 2, "exit_slices": 2}
    )
    dance = (
        dance.add("sway", 24, 8, {"horizontal": 0.04})
        .add("twerk", 32, 4, {"height": 0.1})
        .add("step", 36, 4)
    )
    angles = dict(
        zip(
            ("shoulder_0", "shoulder_1", "elbow_0", "elbow_1", "wrist_0", "wrist_1"),
            ARM,
            strict=True,
        )
    )
    motion = (
        dance.add("arm_move", 0, 8, angles).add("gripper", 8, 4, {"angle": 1.0}).play()
    )
    at = [slice_ * 8 for slice_ in (8, 12, 16, 20, 26, 34, 40)]
    where, turned = body_of(motion)[at, :3], rotations.to_rpy(body_of(motion)[at, 3:])
    np.testing.assert_allclose(turned[[0, 1, 2], [2, 1, 1]], [0.3, 0.2, 0.0], atol=1e-6)
    np.testing.assert_allclose(where[[3, 4], [0, 1]], [0.05, 0.04], atol=1e-6)
    np.testing.assert_allclose(where[[5, 6], 2], np.add([0.38, 0.48], 0.036), atol=1e-6)
    np.testing.assert_allclose(joints(motion)[at[0], 12:18], ARM, atol=1e-6)
    assert joints(motion, "gripper")[at[1]] == -1.0
    (problem,) = motion.problems
    assert "step" in problem.message
    huge = (
        bm.Choreography(name="huge", slices_per_minute=480)
        .add("twerk", 0, 4, {"height": 1e300})
        .play()
    )
    assert np.ptp(body_of(huge), axis=0).max() == 0


@pytest.mark.parametrize("kind", ["", "animation:wave", "Animation::wave"])
def test_a_type_that_can_be_no_move_is_an_error_without_the_list_of_a_robot(
    tmp_path, kind
):
    path = tmp_path / "show.csq"
    path.write_text(
        f'name: "show"\nslices_per_minute: 400\nmoves {{ type: "{kind}" requested_slices: 8 }}\n'
    )
    problems = bm.check(path).problems
    assert [(one.rule, one.severity, one.location.line) for one in problems] == [
        ("SPOT104", "error", 3)
    ]
