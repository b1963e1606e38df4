"""Pairs for choreographies, and for animations that are sent to the stand-in robot."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
from bosdyn.api.spot import choreography_sequence_pb2 as pb

import bodymotion as bm
from bodymotion.diagnostics import Problem
from bodymotion.spot.animation import Animation, Parameter
from bodymotion.spot.cha import parse_cha
from bodymotion.spot.rehearsal.choreography import validate_animation, validate_sequence
from bodymotion.spot.rehearsal.store import UploadedAnimation
from rules.pairs import Pair, Reported, calls, folders

SWAY = parse_cha(
    b"controls body\nbpm 120\n\nspeed 0.5 1 2\n\ntime body_pos\n0 0 0 0.48\n1 0 0 0.46\n",
    "sway.cha",
).require()
NATURAL = 8
"""Its slices."""


def sequence(
    *moves: tuple[str, int, int],
    name: str = "show",
    tempo: float = 480.0,
    **parameters: float,
) -> object:
    made = pb.ChoreographySequence(name=name, slices_per_minute=tempo)
    for kind, begin, slices in moves or (("sway", 0, NATURAL),):
        move = made.moves.add(
            type=f"animation::{kind}", start_slice=begin, requested_slices=slices
        )
        for parameter, value in parameters.items():
            getattr(move.animate_params, parameter).value = value
    return made


def pair(
    wrong: object,
    right: object | None = None,
    animation: Animation = SWAY,
    twin: Animation = SWAY,
) -> Pair:
    def found(message: object, animation: Animation) -> list[object]:
        known = {"sway": UploadedAnimation(None, animation, "")}
        return list(validate_sequence(message, known)[1])

    return calls(
        lambda _: found(wrong, animation), lambda _: found(right or sequence(), twin)
    )


def upload(name: str, arm: bool, twin_name: str, twin_arm: bool) -> Pair:
    animation = replace(SWAY, options={**SWAY.options, "arm_required": True})
    return calls(
        lambda _: validate_animation(animation, name, arm=arm),
        lambda _: validate_animation(animation, twin_name, arm=twin_arm),
    )


def without_moves() -> object:
    made = sequence()
    del made.moves[:]  # type: ignore[attr-defined]
    return made


NEVER = replace(SWAY, parameters={"speed": Parameter(0.0, np.nan, 0.0)})
HEAD = "name: 'show'\nslices_per_minute: 400\n"
ROBOT = """\
moves { name: 'sit' controls_legs: true entrance_states: TRANSITION_STATE_STAND exit_state: TRANSITION_STATE_SIT }
moves { name: 'step' controls_legs: true entrance_states: TRANSITION_STATE_STAND exit_state: TRANSITION_STATE_STAND }
moves { name: 'sway' controls_body: true }
moves { name: 'animation::wave' controls_body: true move_length_slices: 8 }
moves { name: 'animation::nod' controls_body: true move_length_slices: 16 }
move_param_config: "sway sway_params\\nvertical 0 0.05 0.1\\n"
"""
CHA = (
    "controls body\nbpm 120\n\nno parameters\n\ntime body_pos\n0 0 0 0.48\n1 0 0 0.46\n"
)
REACH, STOW = ("0 -0.9 1.8 0 -0.9 0", "0 -3.1 3.1 0 0 0")


def written(kind: str, *, start: int = 0, slices: int = 4, more: str = "") -> str:
    return f"moves {{ type: '{kind}' start_slice: {start} requested_slices: {slices} {more} }}\n"


def dance(
    wrong: str, right: str, *, head: str = HEAD, robot: bool = False, **beside: str
) -> Pair:
    """Make a pair of texts of moves, with files beside them."""
    folder = {f"{name}.cha": content for name, content in beside.items()}
    if not robot:
        return folders(
            "show.csq",
            {**folder, "show.csq": head + wrong},
            {**folder, "show.csq": head + right},
        )

    def checked(text: str) -> Reported:
        def found(place: Path) -> Iterable[Problem]:
            for name, content in {
                **folder,
                "show.csq": head + text,
                "robot.txt": ROBOT,
            }.items():
                (place / name).write_text(content)
            return bm.check(
                place / "show.csq", robot_moves=place / "robot.txt"
            ).problems

        return found

    return Pair(checked(wrong), checked(right))


def arm_file(first: str, last: str) -> str:
    return f"controls arm\n\nno parameters\n\ntime arm_joints\n0 {first}\n1 {last}\n"


STEP = written("step", start=4)
PAIRS: dict[str, Pair] = {
    "SPOT101": pair(sequence(name="")),
    "SPOT102": pair(sequence(tempo=0.0)),
    "SPOT103": pair(without_moves()),
    "SPOT104": dance(written("stp"), written("step"), robot=True),
    "SPOT105": pair(sequence(("sway", 0, 0))),
    "SPOT106": pair(sequence(("sway", 0, NATURAL + 1))),
    "SPOT107": dance(
        written("sway", more="sway_params { vertical { value: 0.2 } }"),
        written("sway", more="sway_params { vertical { value: 0.1 } }"),
        robot=True,
    ),
    "SPOT108": pair(sequence(), animation=NEVER),
    "SPOT109": pair(
        sequence(("sway", 0, NATURAL), ("sway", 0, NATURAL)),
        sequence(("sway", 0, NATURAL), ("sway", NATURAL, NATURAL)),
    ),
    "SPOT110": upload("sway", False, "sway", True),
    "SPOT111": upload("", True, "sway", True),
    "SPOT112": dance(
        written("animation::wav", slices=8),
        written("animation::wave", slices=8),
        wave=CHA,
    ),
    "SPOT113": dance(
        "slices_per_minute: 600\n" + STEP,
        "slices_per_minute: 450\n" + STEP,
        head="name: 'show'\n",
    ),
    "SPOT114": dance(written("sit") + STEP, written("step") + STEP, robot=True),
    "SPOT115": dance(
        "entrance_state: TRANSITION_STATE_SIT\n" + STEP,
        "entrance_state: TRANSITION_STATE_STAND\n" + STEP,
        robot=True,
    ),
    "SPOT116": dance(
        written("step", more="id: 7") + written("step", start=4, more="id: 7"),
        written("step", more="id: 7") + written("step", start=4, more="id: 8"),
    ),
    "SPOT117": dance(
        written("animation::wave", slices=8, more="step_params { }"),
        written("animation::wave", slices=8, more="animate_params { }"),
        wave=CHA,
    ),
    **{
        code: dance(written(kind, more=wrong), written(kind, more=right))
        for code, kind, wrong, right in (
            (
                "SPOT118",
                "twerk",
                "twerk_params { height { value: nan } }",
                "twerk_params { height { value: 0.1 } }",
            ),
            (
                "SPOT119",
                "butt_circle",
                "butt_circle_params { pivot: 9 }",
                "butt_circle_params { pivot: PIVOT_FRONT }",
            ),
            (
                "SPOT120",
                "set_color",
                "set_color_params { left_color { red { value: 300 } } }",
                "set_color_params { left_color { red { value: 30 } } }",
            ),
            (
                "SPOT121",
                "buzzer_note",
                "buzzer_note_params { sharp { value: true } flat { value: true } }",
                "buzzer_note_params { sharp { value: true } flat { } }",
            ),
            (
                "SPOT122",
                "step",
                "step_params { mirror { value: true } }",
                "step_params { mirror_x { value: true } mirror { } }",
            ),
            (
                "SPOT127",
                "step",
                "step_params { foot: LEG_FRONT_LEFT second_foot: LEG_FRONT_LEFT }",
                "step_params { foot: LEG_FRONT_LEFT second_foot: LEG_NO_LEG }",
            ),
        )
    },
    "SPOT123": dance(
        written("custom_gait", start=8, slices=8) + written("sway", slices=12),
        written("custom_gait", start=8, slices=8) + written("sway", slices=8),
    ),
    "SPOT124": dance(written("random_stretch"), written("stand_up")),
    "SPOT125": dance(
        written("goto", more="goto_params { link_to_next { value: true } }")
        + written("goto", start=5),
        written("goto", more="goto_params { link_to_next { value: true } }")
        + written("goto", start=4),
    ),
    "SPOT126": dance(
        written("sway", more="sway_params { }") + written("body_const", start=5),
        written("sway", more="sway_params { }") + written("body_const", start=4),
    ),
    "SPOT128": dance(
        written(
            "animation", slices=8, more="animate_params { animation_name: 'wave' }"
        ),
        written("animation::wave", slices=8),
        wave=CHA,
    ),
    "SPOT129": dance(
        written("animation::nod", slices=8),
        written("animation::wave", slices=8),
        robot=True,
        wave=CHA,
        nod=CHA,
    ),
    "SPOT130": dance(
        written("animation::bad", slices=8),
        written("animation::wave", slices=8),
        wave=CHA,
        bad=CHA.replace("0.46", "x"),
    ),
    "SPOT131": dance(
        written("animation::a", slices=7) + written("animation::b", start=7, slices=7),
        written("animation::a", slices=7) + written("animation::a", start=7, slices=7),
        a=arm_file(REACH, REACH),
        b=arm_file(STOW, STOW),
    ),
    "SPOT133": calls(
        lambda _: bm.spot.ensemble([SWAY, SWAY], [(0, 0, 0), (0.5, 0, 0)]).problems,
        lambda _: bm.spot.ensemble([SWAY, SWAY], [(0, 0, 0), (2.0, 0, 0)]).problems,
    ),
    "SPOT132": calls(
        lambda _: bm.Choreography(moves=(bm.spot.Move("sway", 0, 8),)).play().problems,
        lambda _: bm.Choreography().add(SWAY).play().problems,
    ),
}
