"""The reference's answers to .pseq files: Choreonoid's own parser, interpolator and balancer."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import bodymotion as bm
from bodymotion.geometry.arrays import Floats
from bodymotion.keyposes.chains import MAX_STEPS, Chain, compute_error
from sample_files import CORPUS, corpus_files

ANSWERS = corpus_files("golden/pseq/*.golden.json")
GAIN, TOLERANCE, BLIND_ANGLE = 0.9, 1e-14, 1.414e-3
"""Of the reference's iteration: the share of a step, [m² + rad²], and [rad] below which a rotation counts as none."""


@cache
def answer(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def arrays(path: Path) -> Any:
    return np.load(path.with_suffix(".npz"))


@cache
def body_of(path: Path) -> bm.Body:
    given = answer(path)
    if given["body_is_stub"]:
        return bm.load_body(
            path.with_name(path.name.replace(".golden.json", ".stub.body"))
        )
    return bm.load_body(CORPUS / given["body_file"], allow_outside=True)


@cache
def key_poses_of(path: Path) -> bm.KeyPoses:
    return bm.load_key_poses(CORPUS / answer(path)["file"])


def robots(least: int = 0) -> list[Path]:
    """Return the answers on real robots, with at least so many poses."""
    return [
        one
        for one in ANSWERS
        if not answer(one)["body_is_stub"]
        and len(answer(one)["parsed"]["poses"]) >= least
    ]


def solve_chain(
    body: bm.Body, chain: Chain, q: Floats, target: Floats
) -> tuple[Floats, Floats]:
    """Return what `solve_chain` does, by Choreonoid's own iteration: frames that do not arrive keep the joints of `q`."""
    values, todo = np.array(q), np.arange(len(q))
    for _ in range(MAX_STEPS):
        error, jacobian = compute_error(body, chain, values[todo], target[todo])
        error[np.linalg.norm(error[:, 3:], axis=1) < BLIND_ANGLE, 3:] = 0.0
        going = np.square(error).sum(axis=1) >= TOLERANCE
        todo, error, jacobian = todo[going], error[going], jacobian[going]
        if not len(todo):
            break
        square = jacobian @ jacobian.transpose(0, 2, 1) + 1e-15 * np.eye(6)
        step = jacobian.transpose(0, 2, 1) @ np.linalg.solve(square, error[:, :, None])
        values[todo[:, None], list(chain.columns)] += GAIN * step[:, :, 0]
    values[todo] = q[todo]
    error, _ = compute_error(body, chain, values, target)
    return values[:, list(chain.columns)], np.linalg.norm(
        error.reshape(-1, 2, 3), axis=2
    )
