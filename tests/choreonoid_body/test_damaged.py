"""Whatever the bytes: a body, or an error that names a place."""

from __future__ import annotations

import math
import time
from pathlib import Path

import pytest
from body_files import HEAD, link_with, parsed, rules, with_links
from hypothesis import given, settings
from hypothesis import strategies as st

from bodymotion.diagnostics import FormatError
from bodymotion.formats.choreonoid_body import parse_body
from bodymotion.formats.sniffing import looks_like_body
from bodymotion.formats.yaml import tree
from bodymotion.model.body import Body
from sample_files import sampled, tries

SAMPLE = """\
format: ChoreonoidBody
formatVersion: 1.0
angleUnit: degree
name: Sample
rootLink: BASE
LOOK: &look { material: { diffuseColor: [ 1, 0.5, 0 ], shininess: 0.2 }, texture: { url: "a.png", repeatS: true } }
links:
  -
    name: BASE
    jointType: free
    mass: 2.5
    inertia: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ]
    elements:
      - &part
        type: Transform
        translation: [ 0, 0, 0.1 ]
        rotation: [ [ 0, 0, 1, 90 ], [ 1, 0, 0, 45 ] ]
        elements:
          Shape: { geometry: { type: Capsule, radius: 0.1, height: 0.2 }, appearance: *look }
      - { type: Shape, geometry: { type: Extrusion, crossSection: [ 0, 0, 0, 1, 1, 0, 0, 0 ], spine: [ 0, 0, 0, 0, 1, 0 ] } }
      - { type: Camera, name: EYE, id: 0, fieldOfView: 60, width: 64, height: 48 }
  -
    name: ARM
    parent: BASE
    jointType: revolute
    jointAxis: -Y
    jointId: 0
    jointRange: [ -90, unlimited ]
    maxJointVelocity: 180
    <<: &more { gearRatio: 100, rotorInertia: 1e-5 }
    elements:
      - *part
      - { type: RigidBody, mass: 1, inertia: [ 1, 0, 0, 1, 0, 1 ], elements: { RangeSensor: { yawRange: 180, yawStep: 10 } } }
      - { type: Resource, uri: "part.wrl", node: PART }
  - { type: ContinuousTrack, name: TRACK, parent: BASE, numJoints: 4, jointAxis: Y, jointOffset: [ 0.1, 0, 0 ] }
  - { type: SubBody, uri: "other.body", parent: ARM, prefix: X_, jointIdOffset: 3, translation: [ 1, 0, 0 ] }
extraJoints:
  - { link1Name: BASE, link2Name: ARM, jointType: hinge, jointAxis: Z, link1LocalPos: [ 0, 0, 1 ], link2LocalPos: [ 0, 1, 0 ] }
"""


def attempt(data: bytes, folder: Path = Path("nowhere")) -> None:
    try:
        body = parse_body(data, folder / "test.body")
    except FormatError as error:
        assert error.problem.message and error.problem.location.line
        return
    assert isinstance(body, Body) and body.links
    for link in body.links:
        assert link.offset.shape == (7,) and len(link.visuals) >= 0
    for problem in body.problems:
        assert problem.message and problem.location.line


def test_the_sample_loads():
    body = parsed(SAMPLE)
    assert [link.name for link in body.links] == [
        "BASE",
        "ARM",
        "TRACK0",
        "TRACK1",
        "TRACK2",
        "TRACK3",
    ]
    assert set(rules(body)) == {"FMT020", "BDY127", "BDY142"}


@settings(max_examples=tries(60), deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes(data):
    attempt(data)
    looks_like_body(data)


@settings(max_examples=tries(60), deadline=None)
@given(st.text(st.sampled_from("{}[]:,-?&*!|>'\"%@` \n\tab<0.1#"), max_size=80))
def test_any_yaml(text):
    attempt(text.encode())
    attempt(f"{HEAD}links:\n  - {text}".encode())


@settings(max_examples=tries(150), deadline=None)
@given(st.data())
def test_changed_bytes(data):
    sample = bytearray(SAMPLE.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(sample) - 1))
        match data.draw(st.sampled_from(["byte", "cut", "drop", "twice"])):
            case "byte":
                sample[at] = data.draw(
                    st.sampled_from(list(b"[]{}:,-&*!0 1e.aZ\n\x00\xff"))
                )
            case "cut":
                del sample[at + 1 :]
            case "drop":
                del sample[at : at + data.draw(st.integers(1, 12))]
            case "twice":
                sample[at:at] = sample[at : at + data.draw(st.integers(1, 40))]
        if not sample:
            break
    attempt(bytes(sample))


WORDS = [
    "",
    "~",
    "[]",
    "{}",
    "[[]]",
    "abc",
    "-1",
    "1e400",
    "nan",
    "inf",
    "1e308",
    "[ 1 ]",
    "[ nan, 0, 0 ]",
    "[ 1, 2, 3, 4, 5 ]",
    "*part",
]


@settings(max_examples=tries(200), deadline=None)
@given(st.data())
def test_changed_values(data):
    lines = SAMPLE.splitlines()
    at = data.draw(st.integers(1, len(lines) - 1))
    key, colon, _ = lines[at].partition(":")
    if colon:
        lines[at] = f"{key}: {data.draw(st.sampled_from(WORDS))}"
    attempt("\n".join(lines).encode())


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("[" * 100_000, "YAML101"),
        ("{a: " * 100_000, "YAML101"),
        ("- " * 5_000 + "x", "YAML101"),
        (
            "".join(f"a{i}: &a{i} [ *a{i - 1} ]\n" for i in range(1, 400)).replace(
                "*a0", "x"
            ),
            "YAML102",
        ),
        ("a: &a { <<: *a }", "YAML102"),
        ("a: &a [ *a ]", "YAML102"),
        ("a: *nothing", "YAML102"),
        ("a: { <<: 1 }", "YAML102"),
        ("", "YAML101"),
        ("x", "BDY102"),
        ("a: 1\n  b: 2", "YAML101"),
        ("a: \x07", "YAML101"),
    ],
)
def test_refused(text, rule):
    with pytest.raises(FormatError) as caught:
        parsed(text)
    assert caught.value.problem.rule == rule
    assert caught.value.problem.location.line


def nested(first: str, count: int) -> str:
    """Return lists that alias the one before ten times each: 10^count of the first."""
    lines = [f"A0: &a0 {first}"]
    lines += [
        f"A{i}: &a{i} [ {', '.join([f'*a{i - 1}'] * 10)} ]" for i in range(1, count)
    ]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("first", "use"),
    sampled(
        [
            ("{ type: Group }", "elements: *a11"),
            ("[]", "elements: *a11"),
            (
                f"{{ {', '.join(f'Skip{i}: {{ type: Skip }}' for i in range(1000))} }}",
                "elements: *a11",
            ),
            ("[ 0, 0, 0 ]", "translation: *a11"),
            ("[ 0, 0, 1, 0 ]", "rotation: *a11"),
            ("{ name: L, mass: 1 }", "NOTHING: 0\n  - *a11\n  - { name: M"),
            ("[]", "NOTHING: 0\n  - *a11\n  - { name: M"),
        ],
        2,
    ),
)
def test_aliases_unfold_within_bounds(first, use, monkeypatch):
    end = " }" if "{ name: M" in use else ""
    text = f"{HEAD}{nested(first, 12)}links:\n  -\n    name: BASE\n    {use}{end}\n"
    with pytest.raises(FormatError, match="YAML102") as caught:
        parsed(text)
    assert [problem.rule for problem in caught.value.problems] == ["YAML102"]
    # Without that bound, each walk along aliases has one of its own.
    monkeypatch.setattr(tree, "FREE_ALIASES", math.inf)
    start = time.process_time()
    with pytest.raises(FormatError) as caught:
        parsed(text)
    assert caught.value.problem.rule == "FMT009"
    assert time.process_time() - start < 20


def test_aliases_of_large_parts_are_no_harm():
    part = ", ".join(f"{{ type: Group, name: g{number} }}" for number in range(400))
    links = "".join(
        f"  - {{ name: L{number}, parent: L0, elements: *part }}\n"
        for number in range(1, 50)
    )
    assert (
        parsed(f"{HEAD}part: &part [ {part} ]\nlinks:\n  - {{ name: L0 }}\n{links}")
        .links[49]
        .name
        == "L49"
    )


def test_what_is_only_kept_unfolds_within_bounds(monkeypatch):
    monkeypatch.setattr(tree, "FREE_ALIASES", math.inf)
    body = parsed(f"{HEAD}{nested('[ 1, 2 ]', 12)}links: [ {{ name: BASE }} ]\n")
    assert "FMT009" in rules(body)
    assert body.extra["A0"] == [1, 2]


def test_merged_keys_are_bounded(monkeypatch):
    monkeypatch.setattr(tree, "FREE_ALIASES", math.inf)
    many = ", ".join(f"k{i}: {i}" for i in range(1000))
    merging = "\n".join(f"B{i}: {{ <<: *a }}" for i in range(1100))
    with pytest.raises(FormatError, match="merges more than"):
        parsed(f"A: &a {{ {many} }}\n{merging}\n")


def test_places_count_characters():
    with pytest.raises(FormatError) as caught:
        parsed(
            "format: ChoreonoidBody\nname: 日本語\nlinks: [ { name: 腰, mass: abc } ]\n"
        )
    location = caught.value.problem.location
    assert (location.line, location.column) == (3, 27)
    assert "腰" in caught.value.problem.message


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp932"])
def test_encodings(encoding):
    data = f"{HEAD}links: [ {{ name: 腰 }} ]\n".encode(encoding)
    assert looks_like_body(data)
    assert parse_body(data, Path("test.body")).links[0].name == "腰"


def test_what_is_beyond_is_named():
    body = parsed(f"{HEAD}links:\n  - !thing {{ name: A, name: B }}\n---\nmore: 1\n")
    assert body.links[0].name == "B"
    assert (
        rules(body)[:2] == ["YAML107", "YAML103"] and rules(body).count("YAML107") == 2
    )


def test_a_missing_file():
    from bodymotion.formats.choreonoid_body import read_body

    with pytest.raises(FormatError) as caught:
        read_body("nowhere/robot.body").require()
    assert caught.value.problem.rule == "FMT002"
    with pytest.raises(FormatError):
        read_body("a\0b.body").require()


def test_numbers_with_something_behind_them():
    body = link_with(
        "mass: 0.5f\ncenter_of_mass: [ 0.t, 1, 2 ]\ninertia: [ 1, 0, 0, 1, 0, 1 ]"
    )
    assert body.links[0].mass == 0.5
    assert body.links[0].center_of_mass.tolist() == [0, 1, 2]
    assert rules(body) == ["YAML105", "YAML105"]
    with pytest.raises(FormatError, match="expected a number"):
        link_with("mass: f0.5")


def test_links_that_are_no_mappings():
    for text in ("  - BASE\n", "  BASE\n", "  - []\n"):
        with pytest.raises(FormatError):
            with_links(text)
