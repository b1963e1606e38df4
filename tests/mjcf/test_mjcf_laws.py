"""Random bodies to MJCF and back: equal but for what the report names, and MuJoCo loads every one of them."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from comparing_mjcf import differences, reported
from hypothesis import given, settings

import strategies_bodies as some
from bodymotion.formats.mjcf import read_mjcf, write_mjcf
from sample_files import tries


def there_and_back(body, **options):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot.xml"
        lost = write_mjcf(body, path, **options)
        return read_mjcf(path).require(), lost, compiled(path)


def compiled(path):
    mujoco = pytest.importorskip("mujoco")
    return mujoco.MjModel.from_xml_path(str(path))


@settings(max_examples=tries(25))
@given(
    some.bodies(joint_types=("rotate", "slide", "fixed", "crawler"), viewpoints=True)
)
def test_plain_bodies_come_back_equal(body):
    again, lost, model = there_and_back(body)
    assert reported(lost) <= {"LOSS033"}
    assert differences(body, again) == []
    assert again.problems == ()
    assert model.nbody == len(body.links) + 1


@settings(max_examples=tries(20))
@given(
    some.bodies(
        kinds=some.GEOMETRIES,
        plain=False,
        rigid=False,
        max_segments=2,
        placed_segments=True,
        device_kinds=some.DEVICES,
        extra_joint_types=some.EXTRA_JOINT_TYPES,
    )
)
def test_any_bodies_come_back_but_for_what_is_told(body):
    again, lost, model = there_and_back(body)
    codes = reported(lost)
    assert codes <= {
        "LOSS030",
        "LOSS031",
        "LOSS035",
        "LOSS036",
        "LOSS038",
        "LOSS049",
        "LOSS050",
    }
    assert differences(body, again, codes) == []
    assert model.ncam == sum(device.kind == "VisionSensor" for device in body.devices)


@settings(max_examples=tries(20))
@given(
    some.bodies(
        sane=False, kinds=("box",), joint_types=("rotate", "slide", "fixed", "crawler")
    )
)
def test_any_masses_load_after_the_repair(body):
    again, lost, model = there_and_back(body)
    assert reported(lost) <= {"LOSS033", *(f"LOSS{n:03}" for n in range(45, 49))}
    for index, link in enumerate(again.links):
        assert model.body_mass[index + 1] == pytest.approx(link.mass, rel=1e-12)
    if not reported(lost) - {"LOSS033"}:
        assert np.allclose(
            [link.mass for link in body.links], [link.mass for link in again.links]
        )
