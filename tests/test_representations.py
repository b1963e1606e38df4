"""The `repr` of every public value is one short line, whatever the value holds."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import bodymotion as bm
from sample_files import ROOT

PACKAGES = ROOT / "src" / "bodymotion"
MAX_CHARACTERS = 400
LONG = "a name\nof two lines " * 50
LARGE = [
    LONG,
    np.zeros((900, 7)),
    (LONG,) * 90,
    {LONG: np.zeros(900), "parts": [LONG] * 90},
    Path(LONG),
    1e-300 / 3,
]


def public_values() -> list[type]:
    """Return the dataclasses in the stubs of the packages."""
    found = []
    for stub in PACKAGES.rglob("__init__.pyi"):
        package = import_module(
            ".".join(("bodymotion", *stub.parent.relative_to(PACKAGES).parts))
        )
        found += [getattr(package, name) for name in package.__all__]
    return sorted(
        {one for one in found if isinstance(one, type) and is_dataclass(one)}, key=str
    )


def check(value: object) -> None:
    text = repr(value)
    assert len(text) <= MAX_CHARACTERS and "\n" not in text, text
    assert text.startswith(type(value).__name__ + "("), text


@pytest.mark.parametrize("kind", public_values(), ids=lambda kind: kind.__name__)
def test_no_field_makes_a_representation_long(kind):
    """Fields are set directly: no check of a value limits them. Only a summary of the class's own may need certain types."""
    for large in LARGE:
        value = object.__new__(kind)
        for one in fields(kind):
            object.__setattr__(value, one.name, large)
        try:
            text = repr(value)
        except (TypeError, ValueError, AttributeError, IndexError, KeyError):
            assert "_summary" in vars(kind) or "_summary" in vars(kind.__mro__[1])
            continue
        assert len(text) <= MAX_CHARACTERS and "\n" not in text, text


def reached(things: list[object]) -> list[object]:
    """Return the values of public classes in these things."""
    known: dict[int, object] = {}
    while things:
        thing = things.pop()
        if id(thing) not in known:
            known[id(thing)] = thing
            if type(thing).__module__.startswith("bodymotion"):
                things += getattr(thing, "__dict__", {}).values()
            elif isinstance(thing, (list, tuple, set)):
                things += thing
            elif hasattr(thing, "items"):
                things += thing.values()
    kinds = set(public_values())
    return [one for one in known.values() if type(one) in kinds]


def test_representations_of_real_values_are_short(examples):
    body, walk, wave = (
        bm.load(examples / name) for name in ("biped.wrl", "biped_walk.seq", "wave.cha")
    )
    measures = bm.dynamics.measure(body, walk[:40])
    things = [
        *(
            body,
            walk,
            wave,
            walk.timeline,
            measures,
            measures.momentum,
            measures.contacts,
            measures.support_polygons,
        ),
        [
            bm.dynamics.series(measures, name)
            for name in bm.dynamics.measurable(measures)
        ],
        *(
            bm.dynamics.figures(measures),
            bm.dynamics.soles(body, measures.contacts.links),
            measures.read_all(),
        ),
        bm.compare_motions(walk, bm.editing.mirror(walk, body), body=body),
        bm.Choreography(
            name=LONG, moves=tuple(bm.spot.Move(LONG, k, 1) for k in range(90))
        ).add(wave),
        *(
            bm.Body(name=LONG),
            bm.Motion(
                tuple(bm.motion.OtherSeq(type=LONG, content=LONG) for _ in range(90))
            ),
        ),
        *(
            bm.Joint(name=LONG),
            bm.model.Gyro(name=LONG),
            bm.KeyPoses(name=LONG),
            bm.skeleton.SkeletonJoint(name=LONG),
        ),
        *(
            bm.keyposes.KeyPose(links=(bm.keyposes.LinkKey(name=LONG),), syllable=LONG),
            bm.spot.stand(),
            bm.editing.Residual(),
        ),
    ]
    found = reached(things)
    assert len({type(one) for one in found}) > 30
    for value in found:
        check(value)


def test_a_representation_tells_what_is_there(examples):
    measures = bm.dynamics.measure(
        bm.load(examples / "biped.wrl"), bm.load(examples / "biped_walk.seq")[:40]
    )
    assert repr(measures.momentum).startswith(
        "Momentum(linear=array(40, 3), angular=array(40, 3), kinetic_energy=array(40,)"
    )
    assert repr(bm.Location("walk.seq", 3)) == "Location(path='walk.seq', line=3)"
    assert (
        repr(bm.model.Viewpoint(pose=[0, 0, 2.5, 1, 0, 0, 0]))
        == "Viewpoint(pose=[0 0 2.5 1 0 0 0])"
    )
