"""A check of a Choreonoid model does not end at the first fault: each planted one is said, in its line, and what follows from it is not."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bodymotion as bm
from bodymotion.formats.choreonoid_body import read_body
from sample_files import tries

MODEL = """\
format: ChoreonoidBody
format_version: 2.0
name: Test
root_link: BASE
links:
  -
    name: BASE
    joint_type: free
    translation: [ 0, 0, 1 ]
    mass: 1.0
    center_of_mass: [ 0, 0, 0.1 ]
    inertia: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ]
    elements:
      -
        type: Shape
        geometry: { type: Box, size: [ 1, 2, 3 ] }
        appearance:
          material: { diffuse: [ 1, 0, 0 ] }
      -
        type: Camera
        name: EYE
        width: 320
        optical_frame: cv
  -
    name: UPPER
    parent: BASE
    joint_type: revolute
    joint_id: 0
    joint_axis: [ 0, 0, 1 ]
    joint_range: [ -90, 90 ]
    mass: 2.0
    inertia: [ 2, 0, 0, 0, 2, 0, 0, 0, 2 ]
    elements:
      -
        type: RigidBody
        rotation: [ 0, 1, 0, 30 ]
        mass: 3.0
        inertia: [ 3, 0, 0, 0, 3, 0, 0, 0, 3 ]
  -
    name: LOWER
    parent: UPPER
    joint_type: prismatic
    joint_id: 1
    joint_axis: Z
    mass: 4.0
    inertia: [ 4, 0, 0, 0, 4, 0, 0, 0, 4 ]
extra_joints:
  -
    joint_type: ball
    link1_name: UPPER
    link2_name: LOWER
    link1_local_pos: [ 0, 0, 0 ]
"""
FAULTS = {
    "joint_type: free": "joint_type: loose",
    "translation: [ 0, 0, 1 ]": "translation: [ 0, 0 ]",
    "mass: 1.0": "mass: much",
    "center_of_mass: [ 0, 0, 0.1 ]": "center_of_mass: 0.1",
    "inertia: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ]": "inertia: [ 1 ]",
    "size: [ 1, 2, 3 ]": "size: [ 1, 2 ]",
    "diffuse: [ 1, 0, 0 ]": "diffuse: red",
    "width: 320": "width: wide",
    "optical_frame: cv": "optical_frame: tv",
    "joint_type: revolute": "joint_type: turn",
    "joint_id: 0": "joint_id: none",
    "joint_axis: [ 0, 0, 1 ]": "joint_axis: W",
    "joint_range: [ -90, 90 ]": "joint_range: [ -90, 0, 90 ]",
    "rotation: [ 0, 1, 0, 30 ]": "rotation: [ 0, 1, 30 ]",
    "inertia: [ 3, 0, 0, 0, 3, 0, 0, 0, 3 ]": "inertia: []",
    "parent: UPPER": "parent: UPER",
    "joint_axis: Z": "joint_axis: [ 0, 0 ]",
    "link1_local_pos: [ 0, 0, 0 ]": "link1_local_pos: [ 0, here, 0 ]",
    "root_link: BASE": "root_link: BASIS",
}


def written(folder: Path, chosen: dict[str, str]) -> Path:
    text = MODEL
    for right, wrong in chosen.items():
        assert text.count(right) == 1, right
        text = text.replace(right, wrong)
    path = folder / "model.body"
    path.write_text(text, encoding="utf-8")
    return path


def line_of(part: str) -> int:
    return MODEL[: MODEL.index(part)].count("\n") + 1


def errors(path: Path) -> list:
    return [
        problem for problem in bm.check(path).problems if problem.severity == "error"
    ]


def test_the_model_is_whole(tmp_path):
    path = written(tmp_path, {})
    assert not errors(path)
    assert read_body(path).problems == bm.load(path).problems


@pytest.mark.parametrize("right", FAULTS)
def test_one_fault_is_one_error_and_that_of_the_reader(right, tmp_path):
    path = written(tmp_path, {right: FAULTS[right]})
    with pytest.raises(bm.FormatError) as raised:
        bm.load(path)
    assert errors(path) == [raised.value.problem]
    assert raised.value.problem.location.line == line_of(right)


def test_all_of_them_in_one_run(tmp_path):
    found = errors(written(tmp_path, FAULTS))
    assert [problem.location.line for problem in found] == sorted(map(line_of, FAULTS))


@settings(max_examples=tries(40), deadline=None)
@given(st.sets(st.sampled_from(sorted(FAULTS)), min_size=1))
def test_any_of_them(chosen):
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder), {right: FAULTS[right] for right in chosen})
        assert [problem.location.line for problem in errors(path)] == sorted(
            map(line_of, chosen)
        )


def test_links_and_elements_of_no_known_kind_do_not_hide_others(tmp_path):
    path = tmp_path / "model.body"
    path.write_text(
        """\
format: ChoreonoidBody
links:
  - { name: A, joint_type: free, mass: 1, inertia: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ], elements: 5 }
  - { name: B, type: Chain, parent: A }
  - just words
  - { name: C, parent: B, joint_type: turn }
  - { name: D, parent: A, elements: { Shape: box, Camera: { id: one } } }
  - { name: E, parent: A, type: Limb, joint_type: revolute, joint_range: [ 1, -1 ], mass: -1 }
  - { name: F, parent: A, type: limb, joint_type: revolute }
  - { name: G, type: skipp, joint_type: turn }
  - { name: H, type: Pause }
"""
    )
    assert [problem.location.line for problem in errors(path)] == [
        3,
        4,
        5,
        6,
        7,
        7,
        8,
        8,
        9,
        10,
        11,
    ]
    assert {p.rule for p in bm.check(path).problems if p.location.line > 7} == {
        "BDY126",
        "BODY112",
        "BODY130",
    }


def test_aliases_that_name_nothing_do_not_hide_other_faults(tmp_path):
    chosen = {
        "inertia: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ]": "inertia: *NOTHING",
        "joint_type: revolute": "joint_type: turn",
    }
    found = errors(written(tmp_path, chosen))
    assert [problem.location.line for problem in found] == sorted(map(line_of, chosen))


@settings(max_examples=tries(60), deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 8))
def test_whatever_is_changed_it_has_errors_where_the_reader_gives_up(seed, count):
    rng = random.Random(seed)
    text = MODEL
    for _ in range(count):
        at, size = rng.randrange(len(text)), rng.choice((0, 1, 1, 20))
        put = rng.choice(
            [
                "{",
                "}",
                "[",
                "]",
                '"',
                "x",
                ":",
                "- ",
                "\n",
                "  ",
                "*a",
                "&a ",
                text[at : at + 50],
            ]
        )
        text = text[:at] + put + text[at + size :]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.body"
        path.write_text(text, encoding="utf-8")
        try:
            problems = bm.load(path, format="body").problems
        except bm.FormatError as error:
            found = bm.check(path, format="body").errors
            first = error.problem
            assert first in found
        else:
            assert read_body(path).problems == problems
