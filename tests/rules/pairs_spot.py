"""Pairs for what a Spot would mind about an animation."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

import bodymotion as bm
from bodymotion.spot.animation import Animation, Parameter
from bodymotion.spot.playback import stand
from choreography.moves import RADIUS, move
from rules.pairs import Pair, calls

UNDER = stand().feet - [0, 0, RADIUS]
"""Where the feet stand."""
READY = [0.1, -2.0, 1.9, 0.2, -0.3, 0.4]
"""Joint angles of an arm that is ready."""
LIFTED = [[0, 1, 1, 1]] * 2


def feet(
    *places: object,
    body: object = (0, 0, 0.48),
    contacts: object = None,
    **options: object,
) -> Animation:
    """Make an animation of feet (4, 3) with the body at a place, or one for each keyframe."""
    stacked = np.array(places, float)
    bodies = np.broadcast_to(np.asarray(body, float), (len(stacked), 3))
    marks = (
        np.ones((len(stacked), 4)) if contacts is None else np.asarray(contacts, float)
    )
    rows = [
        [*place.ravel(), *center, *mark]
        for place, center, mark in zip(stacked, bodies, marks, strict=True)
    ]
    return move(
        "legs body",
        "foot_pos body_pos contact",
        rows,
        options.pop("times", None),
        **options,
    )  # type: ignore[arg-type]


def shifted(**steps: object) -> np.ndarray:
    """Return the feet with some of them moved by (3,)."""
    places = UNDER.copy()
    for name, step in steps.items():
        places[("fl", "fr", "hl", "hr").index(name)] += step
    return places


def arm(*rows: object, **options: object) -> Animation:
    return move("arm", "arm_joints", rows, options.pop("times", None), **options)  # type: ignore[arg-type]


def offset(value: float) -> Animation:
    return arm(READY, READY, parameters={"elbow_0_offset": Parameter(-10, value, 10)})


def hand(x: float) -> Animation:
    return move("arm", "hand_pos", [[0.7, 0, 0.7], [x, 0, 0.7]])


def crossing(step: float) -> Animation:
    """Move the front feet towards each other."""
    return feet(
        UNDER,
        shifted(fl=[0, -step, 0.05], fr=[0, step, 0.05]),
        contacts=[[0, 0, 1, 1]] * 2,
    )


def pair(wrong: Animation, right: Animation) -> Pair:
    def reported(animation: Animation) -> Iterable[bm.Problem]:
        return bm.spot.validate(animation)

    return calls(lambda _: reported(wrong), lambda _: reported(right))


def up(height: float, **options: object) -> Animation:
    return feet(UNDER, UNDER, body=[[0, 0, 0.48], [0, 0, height]], **options)


AHEAD = [0.2, 0, 0]
PAIRS: dict[str, Pair] = {
    "SPOT001": pair(up(0.9), up(0.48)),
    "SPOT002": pair(hand(2.5), hand(0.7)),
    "SPOT003": pair(offset(2.0), offset(0.1)),
    "SPOT004": pair(
        arm(READY, [*READY[:5], -1.5], times=[0, 0.05]),
        arm(READY, [*READY[:5], -1.5], times=[0, 0.5]),
    ),
    "SPOT005": pair(
        feet(UNDER, shifted(fl=[0.25, 0, 0.05]), times=[0, 0.03], contacts=LIFTED),
        feet(UNDER, shifted(fl=[0.25, 0, 0.05]), times=[0, 0.3], contacts=LIFTED),
    ),
    "SPOT006": pair(
        feet(UNDER, shifted(hl=[0.1, 0, 0])), feet(UNDER, shifted(hl=[0.005, 0, 0]))
    ),
    "SPOT008": pair(
        feet(UNDER, shifted(fr=[0, 0, 0.06]), UNDER),
        feet(
            UNDER,
            shifted(fr=[0, 0, 0.06]),
            UNDER,
            contacts=[[1] * 4, [1, 0, 1, 1], [1] * 4],
        ),
    ),
    "SPOT009": pair(
        feet(*[UNDER] * 3, body=[0.4, 0, 0.4]), feet(*[UNDER] * 3, body=[0.1, 0, 0.4])
    ),
    "SPOT010": pair(
        feet(*[UNDER] * 3, contacts=np.zeros((3, 4))),
        feet(*[UNDER] * 3, contacts=np.zeros((3, 4)), times=[0, 0.1, 0.2]),
    ),
    "SPOT011": pair(
        feet(*[UNDER + AHEAD] * 2, body=[0.2, 0, 0.48]), feet(*[UNDER] * 2)
    ),
    "SPOT012": pair(up(0.05), up(0.2)),
    "SPOT013": pair(up(0.4, extendable=True), up(0.48, extendable=True)),
    "SPOT014": pair(feet(UNDER, UNDER, body=[0, 0.1, 0.42]), feet(UNDER, UNDER)),
    "SPOT015": pair(
        feet(UNDER, UNDER, times=[0, 1.07], bpm=60.0),
        feet(UNDER, UNDER, times=[0, 1.0], bpm=60.0),
    ),
    "SPOT016": pair(crossing(0.15), crossing(0.02)),
    "SPOT018": pair(
        feet(UNDER, UNDER, body=[[0, 0, 0.48], [0, 0, 0.3]], times=[0, 0.01]),
        feet(UNDER, UNDER, body=[[0, 0, 0.48], [0, 0, 0.3]], times=[0, 1.0]),
    ),
    "SPOT017": pair(
        move("body", "body_z", [[0.4], [np.nan]]),
        move("body", "body_z", [[0.4], [0.4]]),
    ),
}
