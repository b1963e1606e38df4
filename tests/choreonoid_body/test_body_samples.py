"""All sample models load; with their parts beside them, a model is the same as its OpenHRP form."""

from __future__ import annotations

import gc
import re
import shutil
import weakref

import numpy as np
import pytest

import bodymotion
from bodymotion.formats.choreonoid_body import read_body
from bodymotion.formats.openhrp import read_openhrp
from bodymotion.geometry.shapes import Mesh
from goldens import CORPUS, close, exact_box
from sample_files import ACCEPT, sampled

FILES = sorted((CORPUS / "body").rglob("*.body"))

PLUGIN_NODES = {
    "AGXBreakableJointDevice",
    "AGXMagneticJointDevice",
    "AGXVehicleContinuousTrackDevice",
    "AGXWireDevice",
    "CompetitorMarker",
    "FireDevice",
    "FountainDevice",
    "LivoxMid360",
    "MarkerDevice",
    "PxContinuousTrack",
    "RainDevice",
    "RotorDevice",
    "SmokeDevice",
    "SnowDevice",
    "StdActionController",
}


def test_every_sample_loads(corpus):
    assert len(FILES) >= 222
    strange = set()
    for path in sampled(FILES):
        body = read_body(path, allow_outside=True).require()
        assert body.links and body.source.format == "body", path
        for problem in body.problems:
            assert problem.location.line and problem.location.column, problem
            if problem.rule == "BDY151":
                strange.add(problem.data["type"])
        errors = {
            problem.rule for problem in body.problems if problem.severity == "error"
        }
        assert not errors, path
        kinds = {device.kind for device in body.devices}
        text = path.read_text(encoding="utf-8")
        if "SubBody" not in text:
            said = set(
                re.findall(
                    r"^[^#\n]*type: (\w+Device|CompetitorMarker)\s*$",
                    text,
                    re.MULTILINE,
                )
            )
            assert said <= kinds, path
    assert strange == PLUGIN_NODES if ACCEPT else strange <= PLUGIN_NODES


def test_a_file_is_known_by_its_content(corpus, tmp_path):
    source = (
        corpus / "body/choreonoid+choreonoid/share/model/misc/ClosedLinkSample.body"
    )
    for name in ("model.body", "model.yaml", "model"):
        path = tmp_path / name
        shutil.copy(source, path)
        assert bodymotion.load(path).source.format == "body"


@pytest.fixture
def share(corpus, tmp_path):
    """The models of Choreonoid: the .body files beside the .wrl files that are their parts."""
    for form in ("wrl", "body"):
        for name in ("PA10", "Tank"):
            folder = corpus / form / "choreonoid+choreonoid/share/model" / name
            shutil.copytree(
                folder,
                tmp_path / name,
                dirs_exist_ok=True,
                copy_function=shutil.copyfile,
            )
    return tmp_path


def test_one_robot_in_both_formats(share):
    ours, theirs = (
        read_body(share / "PA10/PA10.body").require(),
        read_openhrp(share / "PA10/PA10.wrl").require(),
    )
    assert [link.name for link in ours.links] == [link.name for link in theirs.links]
    assert ours.joint_links == theirs.joint_links
    for a, b in zip(ours.links, theirs.links, strict=True):
        assert (a.parent, a.joint.type, a.joint.id) == (
            b.parent,
            b.joint.type,
            b.joint.id,
        )
        assert a.mass == pytest.approx(b.mass, abs=1e-9)
        for name in ("offset", "center_of_mass", "inertia"):
            assert close(getattr(a, name), getattr(b, name)), (a.name, name)
        assert close(a.joint.axis, b.joint.axis)
        # The limits in degrees are rounded in one of the files.
        assert np.allclose(
            [a.joint.lower, a.joint.upper], [b.joint.lower, b.joint.upper], atol=1e-6
        )
        assert np.abs(exact_box(a.visuals) - exact_box(b.visuals)).max() < 1e-9, a.name
    q = np.linspace(-1.0, 1.0, 5 * ours.num_joints).reshape(5, -1)
    assert (
        np.abs(ours.forward_kinematics(q) - theirs.forward_kinematics(q)).max() < 1e-9
    )


def test_parts_taken_out_of_one_scene_by_name(share):
    """The scene has the whole tank; each link takes its own part, whose place is that of the link."""
    body = read_body(share / "Tank/Tank.body").require()
    tracks = [body.link(name) for name in ("TRACK_L", "TRACK_R")]
    assert {link.joint.type for link in tracks} == {"crawler"}
    left, right = (exact_box(link.visuals) for link in tracks)
    mirror = np.array([1.0, -1.0, 1.0])
    assert np.abs(np.sort(right * mirror, axis=0) - left).max() < 2e-3
    for link in body.links:
        seen, solid = exact_box(link.visuals), exact_box(link.collisions)
        middle = np.abs(seen.mean(axis=0) - solid.mean(axis=0))
        assert (middle < 0.1 * (solid[1] - solid[0]).max()).all(), link.name
    assert all(
        isinstance(shape.geometry, Mesh) for link in tracks for shape in link.visuals
    )
    names = {link.name: len(link.visuals) for link in body.links}
    assert names["CHASSIS"] < sum(names.values())


def test_a_model_is_let_go_as_soon_as_it_is_not_used(share):
    gc.collect()
    gc.disable()
    try:
        body = read_body(share / "Tank/Tank.body").require()
        mesh = weakref.ref(
            next(
                s.geometry
                for s in body.links[0].visuals
                if isinstance(s.geometry, Mesh)
            )
        )
        del body
        assert mesh() is None
    finally:
        gc.enable()
