"""Small inputs are computed without compiled kernels: with the same results, in every function that calls a kernel."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

import bodymotion as bm
from bodymotion.geometry import poses
from bodymotion.geometry.meshes import box_overlap
from bodymotion.kernels import (
    boxes,
    compiling,
    feet,
    interpolation,
    inverse_kinematics,
    kinematics,
    rays,
)

rng = np.random.default_rng(7)
FRAMES, LINKS, JOINTS = 40, 7, 5
TREE = kinematics.Tree(
    np.array([-1, 0, 1, 2, 1, 0, 5]),
    np.array([0, 1, 2, 1, 0, 1, 1]),
    np.array([-1, 0, 1, 2, -1, 3, 4]),
    np.column_stack([rng.normal(size=(LINKS, 3)), rng.normal(size=(LINKS, 4))]),
    np.array(
        [
            [0, 0, 1],
            [0, 1, 0],
            [1, 0, 0],
            [0, 0.6, 0.8],
            [0, 0, 1],
            [1, 0, 0],
            [0, 0, 1],
        ],
        dtype=float,
    ),
)
Q = rng.normal(size=(FRAMES, JOINTS))
ROOT = np.column_stack([rng.normal(size=(FRAMES, 3)), rng.normal(size=(FRAMES, 4))])
POSES = kinematics.link_poses(TREE, Q, ROOT)
BETWEEN = (np.sort(rng.integers(0, FRAMES - 1, 90)), rng.choice([0.0, 0.2, 0.77], 90))
# Two feet, each in contact or not: a square with points inside and corners that coincide, and any points.
SQUARE = np.array(
    [
        [x, y, 0.0]
        for x, y in ((-1, -1), (1, -1), (0, 0.5), (1, 1), (1, 1), (-1, 1), (0.3, 0))
    ]
)
CLOUD = np.concatenate([SQUARE, rng.normal(size=(9, 3)) * [2, 1, 0.1]])
EDGES, STANDS = np.array([0, 7, 16]), rng.choice([0.0, 1.0], (FRAMES, 2))
FEET = POSES[:, :2] * [1, 1, 1, 1, 0.02, 0.02, 1]
FEET[..., 3:] /= np.linalg.norm(FEET[..., 3:], axis=-1, keepdims=True)
MASSES = (
    rng.uniform(0, 3, LINKS),
    rng.normal(size=(LINKS, 3)),
    rng.normal(size=(LINKS, 3, 3)),
)
MOVING = (POSES, Q, rng.normal(size=Q.shape), *rng.normal(size=(2, FRAMES, 6)))
HEIGHTS = feet.heights(FEET, CLOUD, EDGES)[..., 0]


def filled(function, shape, *arguments):
    out = np.zeros(shape)
    function(*arguments, out)
    return out


CASES = {
    "link_poses": lambda: kinematics.link_poses(TREE, Q, ROOT),
    "inverse_dynamics": lambda: kinematics.inverse_dynamics(
        TREE, MASSES, Q[0], MOVING, ROOT[0, :3], True
    ),
    "hulls": lambda: feet.hulls(FEET, CLOUD, EDGES, STANDS, HEIGHTS, 0.3),
    "slerp": lambda: filled(interpolation.slerp, (90, LINKS, 7), POSES, *BETWEEN),
}


@pytest.mark.parametrize("name", CASES)
def test_small_inputs_have_the_results_of_compiled_kernels(name, monkeypatch):
    compiling._done.clear()
    monkeypatch.setattr(compiling._Kernel, "is_compiled", False)
    small = CASES[name]()
    monkeypatch.setattr(compiling, "MAX_NUMPY_WORK", -1)
    for a, b in zip(
        *([x] if isinstance(x, np.ndarray) else x for x in (small, CASES[name]())),
        strict=True,
    ):
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("limit", [10**9, -1])
def test_hulls_are_those_of_qhull(limit, monkeypatch):
    from scipy.spatial import ConvexHull

    monkeypatch.setattr(compiling._Kernel, "is_compiled", False)
    monkeypatch.setattr(compiling, "MAX_NUMPY_WORK", limit)
    corners, counts = feet.hulls(FEET, CLOUD, EDGES, STANDS, HEIGHTS, 0.3)
    placed = [
        poses.transform_points(FEET[:, k, None], CLOUD[a:b])
        for k, (a, b) in enumerate(pairwise(EDGES))
    ]
    for t in range(FRAMES):
        own = [
            p[t][p[t][:, 2] <= HEIGHTS[t, k] + 0.3, :2]
            for k, p in enumerate(placed)
            if STANDS[t, k]
        ]
        points = np.concatenate([np.zeros((0, 2)), *own])
        assert np.isnan(corners[t, counts[t] :]).all() and (counts[t] > 0) == (
            len(points) > 0
        )
        if len(np.unique(points.round(9), axis=0)) > 2:
            wanted = points[ConvexHull(points).vertices]
            first = np.argmin(np.linalg.norm(wanted - corners[t, 0], axis=1))
            np.testing.assert_allclose(
                corners[t, : counts[t]], np.roll(wanted, -first, axis=0), atol=1e-12
            )


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 8, 13])
def test_block_tridiagonal_systems_are_solved(count):
    lower, upper = rng.normal(size=(2, count, 2, 3, 3))
    diagonal = rng.normal(size=(count, 2, 3, 3)) + 9.0 * np.eye(3)
    x = rng.normal(size=(count, 2, 3, 4))
    b = diagonal @ x
    b[1:] += lower[1:] @ x[:-1]
    b[:-1] += upper[:-1] @ x[1:]
    np.testing.assert_allclose(
        interpolation.block_tridiagonal(lower, diagonal, upper)(b),
        x,
        rtol=0,
        atol=1e-12,
    )


def test_a_system_without_a_solution_has_none():
    blocks = np.zeros((5, 1, 1))
    assert np.isnan(
        interpolation.block_tridiagonal(blocks, blocks, blocks)(blocks)
    ).all()


def test_a_quaternion_at_a_right_angle_to_the_one_before_keeps_its_sign():
    w, x = np.eye(4)[:2]
    units = interpolation.unit_quaternions(np.array([w, -2 * w, x, -x, -w])[:, None])
    np.testing.assert_array_equal(units[:, 0], [w, w, x, x, -w])


def test_small_inputs_load_no_compiler():
    code = "import sys, test_kernels as t; [case() for case in t.CASES.values()]; assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], cwd="tests", check=True)


def test_a_kernel_is_compiled_once_whatever_the_layout_of_its_arrays(examples):
    body = bm.load_body(examples / "biped.wrl")
    hand, q = body.links[-1].name, np.zeros((3, body.num_joints))
    for starts in (q, np.asfortranarray(q), q[::2], q[0]):
        body.ik(
            {hand: np.zeros((len(np.atleast_2d(starts)), 3))},
            q0=starts,
            max_steps=1,
            restarts=0,
        )
    assert len(inverse_kinematics._solve.compiled().signatures) == 1
    wall = np.array([[[-9.0, -9, 2], [9, -9, 2], [0, 9, 2]]])
    up, depths, numbers = (
        np.array([0.0, 0, 1]),
        np.full((4, 6), np.inf),
        np.full((4, 6), -1),
    )
    for window in (np.s_[:], np.s_[:, 2:5]):
        size = (*depths[window].shape, 3)
        for starts in (np.zeros(size), np.broadcast_to(np.zeros(3), size)):
            depths[:], numbers[:] = np.inf, -1
            rays.cast(
                rays.boxes(wall),
                np.eye(3, 4),
                starts,
                np.broadcast_to(up, size),
                0.0,
                depths[window],
                numbers[window],
            )
            assert (depths[window] == 2).all() and (numbers[window] == 0).all()
            assert (
                np.isfinite(depths).sum() == (numbers == 0).sum() == depths[window].size
            )
    assert len(rays._cast.compiled().signatures) == 1


@pytest.mark.parametrize("folder", ["missing", "read-only", "below a file"])
def test_kernels_need_no_cache_folder(folder, tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "read-only").mkdir(mode=0o500)
    cache = {"missing": "a/b", "read-only": "read-only", "below a file": "file/cache"}[
        folder
    ]
    code = """
        from bodymotion.kernels.compiling import kernel

        @kernel
        def twice(value: float) -> float:
            return 2.0 * value

        print(twice(0.25))
    """
    (tmp_path / "twice.py").write_text(inspect.cleandoc(code))
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / cache)}
    if (
        folder == "below a file"
    ):  # as if numba's other folders, beside the source and of the user, could not be written either
        environment["NUMBA_CACHE_LOCATOR_CLASSES"] = "UserProvidedCacheLocator"
    run = subprocess.run(
        [sys.executable, "twice.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == "0.5\n"


def test_heights_of_what_is_the_lowest_or_highest_in_no_frame_are_not_needed():
    """Others are exact, so what follows from them, who is how high above the lowest, is the same."""
    low, high = np.moveaxis(feet.heights(FEET, CLOUD, EDGES), -1, 0)
    placed = np.concatenate([FEET + up * np.eye(7)[2] for up in (0, 5, 9)], axis=1)
    edges = np.concatenate([EDGES, 16 + EDGES[1:], 32 + EDGES[1:]])
    found = feet.heights(placed, np.tile(CLOUD, (3, 1)), edges, 0.1)
    assert np.array_equal(found[:, :2, 0], low) and np.allclose(
        found[:, 4:, 1], high + 9, rtol=0, atol=1e-12
    )
    assert np.isinf(found[:, 2:4]).all()


def test_boxes_of_slowly_moving_links_overlap_in_the_same_frames_as_when_each_is_compared():
    count, links, frames, limit = 2, 4, 400, 0.1
    steps = (
        np.cumsum(rng.normal(size=(frames, links, 7)) * 0.03, axis=0)
        + rng.normal(size=(links, 7)) * 0.3
    )
    turns, origins = kinematics.matrices(steps), steps[..., :3].T
    axes = kinematics.matrices(rng.normal(size=(1, links * count, 7)))[
        ..., 0
    ].transpose(2, 0, 1)
    middles, halves = (
        rng.normal(size=(links * count, 3)) * 0.3,
        rng.uniform(0.1, 0.5, (links * count, 3)),
    )
    radii = np.linalg.norm(middles, axis=1) + np.linalg.norm(halves, axis=1)
    reach = np.repeat(radii.reshape(links, count).max(axis=1)[None, :, None], 3, axis=0)
    low, high = origins - reach, origins + reach
    starts = np.arange(0, frames, 32)
    bounds = (
        np.minimum.reduceat(low, starts, axis=-1),
        np.maximum.reduceat(high, starts, axis=-1),
    )
    placed = tuple(map(np.ascontiguousarray, (turns, origins, low, high, *bounds)))
    pairs, edges = (
        np.array([[0, 1], [0, 2], [1, 3]]),
        np.arange(0, links * count + 1, count),
    )
    found = np.zeros(frames, dtype=bool)
    boxes.find_deep(
        pairs,
        np.append(starts, frames),
        placed,
        (axes, middles, halves, radii),
        edges,
        limit,
        found,
    )
    expected = np.zeros(frames, dtype=bool)
    for one, two in pairs:
        for a, b in np.ndindex(count, count):
            pair = [(k, k * count + s) for k, s in ((one, a), (two, b))]
            first, second = (
                (
                    np.einsum("ijt,jk->ikt", turns[:, :, k], axes[s]),
                    halves[s][:, None],
                    np.einsum("ijt,j->it", turns[:, :, k], middles[s]) + origins[:, k],
                )
                for k, s in pair
            )
            expected |= box_overlap(first, second) > limit
    assert 0 < expected.sum() < frames
    assert np.array_equal(found, expected)


def test_distances_are_those_of_dense_points_on_the_segments():
    from bodymotion.kernels.inverse_kinematics import distances

    random = np.random.default_rng(0)
    begins, ways = random.normal(size=(2, 6, 20, 3))
    pairs = np.array([(0, 1), (2, 3), (4, 5), (0, 5)])
    found = np.empty((len(pairs), 20))
    points = begins[:, :, None] + np.linspace(0, 1, 101)[:, None] * ways[:, :, None]
    middles = np.linalg.norm(points[0, :, 50] - points[5, :, 50], axis=-1)
    distances(
        begins, ways, pairs, np.array([10.0, 10.0, 10.0, np.median(middles)]), found
    )
    apart = np.array(
        [
            np.linalg.norm(points[a, :, :, None] - points[b, :, None], axis=-1).min(
                (1, 2)
            )
            for a, b in pairs
        ]
    )
    apart[3, middles >= np.median(middles)] = np.inf
    assert np.all(found <= apart + 1e-12)
    assert np.allclose(found, apart, atol=0.05)
