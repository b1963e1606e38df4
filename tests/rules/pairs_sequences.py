"""Pairs for sequences of moves, and animations, that are sent to the stand-in robot."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from bosdyn.api.spot import choreography_sequence_pb2 as pb

from bodymotion.animation import Animation, Parameter
from bodymotion.formats.cha import parse_cha
from bodymotion.spot.rehearsal.sequences import validate_animation, validate_sequence
from bodymotion.spot.rehearsal.store import UploadedAnimation
from rules.pairs import Pair, calls

SWAY = parse_cha(
    b"controls body\nbpm 120\n\nspeed 0.5 1 2\n\ntime body_pos\n0 0 0 0.48\n1 0 0 0.46\n", "sway.cha"
).require()
NATURAL = 8
"""Its slices."""


def sequence(*moves: tuple[str, int, int], name: str = "show", tempo: float = 480.0, **parameters: float) -> object:
    made = pb.ChoreographySequence(name=name, slices_per_minute=tempo)
    for kind, begin, slices in moves or (("sway", 0, NATURAL),):
        move = made.moves.add(type=f"animation::{kind}", start_slice=begin, requested_slices=slices)
        for parameter, value in parameters.items():
            getattr(move.animate_params, parameter).value = value
    return made


def pair(wrong: object, right: object | None = None, animation: Animation = SWAY, twin: Animation = SWAY) -> Pair:
    def found(message: object, animation: Animation) -> list[object]:
        known = {"sway": UploadedAnimation(None, animation, "")}
        return list(validate_sequence(message, known)[1])

    return calls(lambda _: found(wrong, animation), lambda _: found(right or sequence(), twin))


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
PAIRS: dict[str, Pair] = {
    "SPOT101": pair(sequence(name="")),
    "SPOT102": pair(sequence(tempo=0.0)),
    "SPOT103": pair(without_moves()),
    "SPOT104": pair(sequence(("nothing", 0, NATURAL))),
    "SPOT105": pair(sequence(("sway", 0, 0))),
    "SPOT106": pair(sequence(("sway", 0, NATURAL + 1))),
    "SPOT107": pair(sequence(gripper_offset=1.0), sequence(speed=1.5)),
    "SPOT108": pair(sequence(), animation=NEVER),
    "SPOT109": pair(
        sequence(("sway", 0, NATURAL), ("sway", 0, NATURAL)), sequence(("sway", 0, NATURAL), ("sway", NATURAL, NATURAL))
    ),
    "SPOT110": upload("sway", False, "sway", True),
    "SPOT111": upload("", True, "sway", True),
}
