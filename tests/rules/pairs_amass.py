"""Pairs for recorded motion of body models."""

from __future__ import annotations

import numpy as np

import bodymotion as bm
from rules.pairs import Pair, Reported, calls, files, problems_of
from rules.pairs_tables import archive
from skeleton.test_amass_files import family

FILE = "walk.npz"
MOTION = {
    "trans": np.zeros((3, 3)),
    "poses": np.zeros((3, 72)),
    "mocap_framerate": 60.0,
}


def with_model(joints: int | None) -> Reported:
    """Return what is reported when a motion of 52 joints is read with a model of so many."""

    def reported(folder):
        np.savez(folder / FILE, **family(52)[0])
        if joints is None:
            return problems_of(lambda: bm.load(folder / FILE))
        np.savez(folder / "model.npz", **family(joints)[1])
        return problems_of(
            lambda: bm.load(folder / FILE, body_model=folder / "model.npz")
        )

    return reported


def with_betas(by_frame: bool) -> Reported:
    """Return what is reported of betas with a row for each frame, which differ or not."""

    def reported(folder):
        motion, model = family(52)
        rows = np.repeat(motion["betas"][None, :10], len(motion["trans"]), axis=0)
        rows[0] += by_frame
        np.savez(folder / FILE, **{**motion, "betas": rows})
        np.savez(folder / "model.npz", **model)
        return problems_of(
            lambda: bm.load(folder / FILE, body_model=folder / "model.npz")
        )

    return reported


UPRIGHT_ALONG_Z = np.pad(np.full((3, 1), np.pi / 2), ((0, 0), (0, 71)))
"""A quarter of a turn about x, from y to z."""

PAIRS: dict[str, Pair] = {
    "AMS001": files(
        FILE,
        archive(**{**MOTION, "poses": np.zeros((3, 70))}),
        archive(**MOTION),
        place=False,
    ),
    "AMS002": calls(with_model(24), with_model(52)),
    "AMS003": calls(with_model(None), with_model(52)),
    "AMS004": calls(with_betas(by_frame=True), with_betas(by_frame=False)),
    "AMS005": files(
        FILE,
        archive(**MOTION),
        archive(**{**MOTION, "poses": UPRIGHT_ALONG_Z}),
        place=False,
    ),
}
