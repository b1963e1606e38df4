"""The reference program's own samples: what it reads and goes on with has no errors here, and what is said instead is known."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest

import bodymotion as bm
from sample_files import sampled

FAULTY = {"share/model/GR001/GR001_collision.wrl": ("VRML102", 203)}
"""Broken, by the list of the samples, too: a bracket too many."""
OUTSIDE = {
    "AizuSpiderDA",
    "AizuSpiderDS",
    "AizuSpiderSA",
    "AizuSpiderSS",
    "AizuWheel",
} | {f"{arm}-2F85" for arm in ("UR3", "UR5", "UR10")}
"""Take in a model from the folder beside theirs, which is opened only when that is allowed."""


@pytest.fixture(scope="module")
def samples(corpus, tmp_path_factory) -> list[Path]:
    """Its models and motions, put together again: what the .body files name stands with the .wrl files in the corpus."""
    folder = tmp_path_factory.mktemp("reference")
    with (corpus / "INDEX.csv").open(newline="") as index:
        rows = [
            row
            for row in csv.DictReader(index)
            if row["repo"] == "choreonoid/choreonoid"
        ]
    for row in rows:
        (folder / row["original_path"]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(corpus / row["path"], folder / row["original_path"])
    # Descriptions of projects in YAML and sequences of key poses are in no format that is read here.
    known = [
        folder / row["original_path"]
        for row in rows
        if row["original_path"].endswith((".wrl", ".body", ".seq"))
    ]
    assert len(known) > 300
    return [folder, *dict.fromkeys(known)]


def test_the_reference_programs_samples_have_no_errors(samples):
    folder, *paths = samples
    named = [
        path
        for path in paths
        if path.stem in OUTSIDE | {"GR001_collision", "RIC30", "tank", "Tank"}
    ]
    paths = list(dict.fromkeys([*named, *sampled(paths)]))
    wrong, told = {}, {}
    for path in paths:
        report = bm.check(path, untrusted=path.stem in OUTSIDE)
        name = str(path.relative_to(folder))
        if report.errors:
            wrong[name] = (report.errors[0].rule, report.errors[0].location.line)
        told[name] = {p.rule for p in report.problems if p.severity == "warning"}
        if path.stem in OUTSIDE:
            assert not {"BDY123", "BDY127"} & {p.rule for p in report.problems}
    assert wrong == FAULTY
    # Each a slip that the reference program takes as it is: two ids that no joint has, a DEF without a name, a part from outside.
    assert "BODY118" in told["share/model/RIC30/RIC30.wrl"]
    assert (
        "VRML115"
        in told["share/model/Tank/resource/tank.wrl"]
        & told["share/model/Tank/Tank.body"]
    )
    assert {
        Path(name).stem for name, rules in told.items() if "VRML131" in rules
    } == OUTSIDE


def test_what_lies_outside_is_read_of_a_model_of_the_user(samples):
    for path in (path for path in samples if path.stem in OUTSIDE):
        report = bm.check(path)
        assert report.ok and not any(
            problem.rule == "VRML131" for problem in report.problems
        )
