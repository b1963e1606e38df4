"""Whatever numbers and names a body has, the file that is written can be read, and has its links."""

from __future__ import annotations

import random
from dataclasses import fields, is_dataclass, replace

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bodymotion.formats.openhrp import read_openhrp
from bodymotion.formats.openhrp.writer import write_openhrp
from bodymotion.model.body import Body
from sample_files import tries
from strategies_bodies import DEVICES, EXTRA_JOINT_TYPES, GEOMETRIES, bodies

WILD = [float("nan"), float("inf"), -float("inf"), 1e308, -1e308, 5e-324, 0.0, -0.0]
NAMES = ["", "a b", '"', "\ud800", "DEF", "x" * 300, "é\n"]
KEPT = ("index", "parent", "link", "problems", "source", "type", "path")


def spoiled(value, choose: random.Random):
    """Return the value with some of its numbers and names replaced by odd ones."""
    if (
        isinstance(value, np.ndarray)
        and value.dtype.kind == "f"
        and value.size
        and choose.random() < 0.15
    ):
        value = np.array(value)
        value.flat[choose.randrange(value.size)] = choose.choice(WILD)
    elif isinstance(value, float) and choose.random() < 0.1:
        return choose.choice(WILD)
    elif isinstance(value, str) and choose.random() < 0.1:
        return choose.choice(NAMES)
    elif isinstance(value, tuple):
        return tuple(spoiled(item, choose) for item in value)
    elif is_dataclass(value):
        names = [field.name for field in fields(value) if field.name not in KEPT]
        names = [name for name in names if name != "links" or isinstance(value, Body)]
        return replace(
            value, **{name: spoiled(getattr(value, name), choose) for name in names}
        )
    return value


@settings(max_examples=tries(25), suppress_health_check=list(HealthCheck))
@given(
    bodies(
        sane=False,
        kinds=GEOMETRIES,
        plain=False,
        rigid=False,
        max_segments=2,
        placed_segments=True,
        device_kinds=DEVICES,
        extra_joint_types=EXTRA_JOINT_TYPES,
        viewpoints=True,
    ),
    st.integers(0, 2**32),
    st.sampled_from(["inline", "parts"]),
)
def test_odd_numbers_and_names(tmp_path_factory, body, seed, mesh):
    body = spoiled(body, random.Random(seed))
    path = tmp_path_factory.mktemp("odd") / "x.wrl"
    write_openhrp(body, path, mesh=mesh)
    read = read_openhrp(path).require()
    assert [link.parent for link in read.links] == [link.parent for link in body.links]
    assert len(read.devices) == len(body.devices)
    assert [
        p for p in read.problems if p.severity == "error" and p.rule.startswith("VRML")
    ] == []
