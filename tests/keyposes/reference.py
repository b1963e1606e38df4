"""The reference's answers to .pseq files: Choreonoid's own parser, interpolator and balancer."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import bodymotion as bm
from sample_files import CORPUS, corpus_files

ANSWERS = corpus_files("golden/pseq/*.golden.json")


@cache
def answer(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def arrays(path: Path) -> Any:
    return np.load(path.with_suffix(".npz"))


@cache
def body_of(path: Path) -> bm.Body:
    given = answer(path)
    if given["body_is_stub"]:
        return bm.load_body(path.with_name(path.name.replace(".golden.json", ".stub.body")))
    return bm.load_body(CORPUS / given["body_file"], allow_outside=True)


@cache
def key_poses_of(path: Path) -> bm.KeyPoses:
    return bm.load_key_poses(CORPUS / answer(path)["file"])


def robots(least: int = 0) -> list[Path]:
    """Return the answers on real robots, with at least so many poses."""
    return [one for one in ANSWERS if not answer(one)["body_is_stub"] and len(answer(one)["parsed"]["poses"]) >= least]
