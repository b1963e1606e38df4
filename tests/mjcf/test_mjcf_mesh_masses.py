"""Masses of meshes that are not convex, and solids around them, as MuJoCo computes them in each mode of `inertia`."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("mujoco")

import mujoco
import trimesh

from bodymotion.formats.mjcf import read_mjcf
from sample_files import tries

MODES = ("legacy", "exact", "convex", "shell")
GEOMS = ("mesh", "box", "capsule", "ellipsoid")
MESHES = tries(200)
TOLERANCE = 1e-5  # MuJoCo has vertices in single precision.


def star(rng):
    """Return a sphere whose vertices are moved in and out."""
    mesh = trimesh.creation.icosphere(subdivisions=1)
    factors = 0.3 + 1.4 * rng.random((len(mesh.vertices), 1))
    return mesh.vertices * factors, mesh.faces


def prism(rng):
    """Return a prism over a star-shaped polygon."""
    count = int(rng.integers(5, 12))
    # Neighbours are less than half a turn apart, so the middle is inside.
    angles = (np.arange(count) + 0.5 * rng.random(count)) * 2 * np.pi / count
    radii = 0.2 + rng.random(count)
    corners = np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=1)
    outline = np.concatenate([corners, np.zeros((1, 2))])
    heights = (0.0, 0.1 + rng.random())
    layers = [np.column_stack([outline, np.full(count + 1, h)]) for h in heights]
    faces = []
    for k in range(count):
        after = (k + 1) % count
        low, high = (k, after), (count + 1 + k, count + 1 + after)
        faces.append((count, low[1], low[0]))
        faces.append((2 * count + 1, *high))
        faces.append((low[0], low[1], high[1]))
        faces.append((low[0], high[1], high[0]))
    return np.concatenate(layers), np.array(faces)


def torus(rng):
    mesh = trimesh.creation.torus(
        1.0, 0.1 + 0.3 * rng.random(), major_sections=8, minor_sections=5
    )
    return mesh.vertices, mesh.faces


def two_parts(rng):
    """Return a box and a ball apart from it."""
    box = trimesh.creation.box((1.0, 0.2, 0.3))
    ball = trimesh.creation.icosphere(subdivisions=0, radius=0.4)
    ball.apply_translation(2.0 * rng.normal(size=3))
    mesh = trimesh.util.concatenate([box, ball])
    return mesh.vertices, mesh.faces


def open_shell(rng):
    """Return a sphere with holes."""
    vertices, faces = star(rng)
    return vertices, faces[rng.permutation(len(faces))[:-8]]


SHAPES = (star, prism, torus, two_parts, open_shell)


def model_of(vertices, faces) -> str:
    """Return a model of a body for each mode and each kind of geom."""
    corners = " ".join(map(repr, np.asarray(vertices, dtype=float).ravel().tolist()))
    numbers = " ".join(map(str, np.ravel(faces).tolist()))
    meshes = "".join(
        f'<mesh name="{mode}" vertex="{corners}" face="{numbers}" inertia="{mode}"/>'
        for mode in MODES
    )
    bodies = "".join(
        f'<body name="{mode} {geom}"><freejoint/><geom type="{geom}" mesh="{mode}"/></body>'
        for mode in MODES
        for geom in GEOMS
    )
    return f"<mujoco><asset>{meshes}</asset><worldbody>{bodies}</worldbody></mujoco>"


@pytest.mark.parametrize("seed", range(MESHES))
def test_meshes_that_are_not_convex(seed, tmp_path):
    rng = np.random.default_rng(seed)
    vertices, faces = SHAPES[seed % len(SHAPES)](rng)
    rotation = trimesh.transformations.random_rotation_matrix(rng.random(3))[:3, :3]
    scaled = np.asarray(vertices) * rng.uniform(0.2, 1.0, 3)
    path = tmp_path / "model.xml"
    path.write_text(model_of(0.3 * scaled @ rotation.T + rng.normal(size=3), faces))
    body, model = read_mjcf(path).require(), mujoco.MjModel.from_xml_path(str(path))
    for link in body.links[1:]:
        number = model.body(link.name).id
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, model.body_iquat[number])
        axes, moments = turn.reshape(3, 3), model.body_inertia[number]
        assert link.mass == pytest.approx(model.body_mass[number], rel=TOLERANCE)
        np.testing.assert_allclose(
            link.center_of_mass, model.body_ipos[number], atol=TOLERANCE
        )
        np.testing.assert_allclose(
            link.inertia, (axes * moments) @ axes.T, atol=1e-4 * moments.max()
        )


def test_the_bracket_of_a_report(strangers):
    body = read_mjcf(strangers / "02/bracket.xml").require()
    assert body.mass == pytest.approx(1.230774, abs=5e-7)
