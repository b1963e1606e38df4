"""Pairs for motions in pickles."""

from __future__ import annotations

import os
import pickle

import numpy as np

from rules.pairs import Pair, files, limited

ROOT = {"root_pos": np.zeros((3, 3)), "root_rot": np.eye(4)[[3] * 3]}
MOTION = {
    "fps": 30.0,
    "joint_names": ["HIP", "KNEE"],
    "dof_pos": np.zeros((3, 2)),
    "root_pos": np.zeros((3, 3)),
    "root_rot": np.eye(4)[[3] * 3],
}
FILE = "walk.pkl"
WHOLE = pickle.dumps(MOTION)


class Call:
    """What a pickle would call."""

    def __reduce__(self):
        return os.getenv, ("HOME",)


def pair(wrong: object, right: object = MOTION) -> Pair:
    """Make a pair of two values."""
    return files(FILE, pickle.dumps(wrong), pickle.dumps(right), place=False)


PAIRS: dict[str, Pair] = {
    "FMT009 .pkl": limited(
        pair({**MOTION, "list": [*range(2000)]}, {**MOTION, "list": np.arange(2000)}),
        "bodymotion.formats.pickles.machine.MAX_STEPS",
        999,
    ),
    "PKL003": pair([1, 2]),
    "PKL004": pair({**MOTION, "by": Call()}),
}
