"""Edges are smoothed, and nothing else is touched."""

from __future__ import annotations

import numpy as np

from bodymotion.kernels.antialiasing import smooth_edges


def slope(rise: float) -> tuple[np.ndarray, np.ndarray]:
    """A white half plane over a black one: as it is drawn pixel by pixel, and how much of each pixel is white."""
    rows, columns = np.mgrid[0:64, 0:64]
    inside = rows + 0.5 > 32 + rise * (columns + 0.5 - 32)
    fine_rows, fine_columns = (np.mgrid[0 : 64 * 8, 0 : 64 * 8] + 0.5) / 8
    share = (fine_rows > 32 + rise * (fine_columns - 32)).reshape(64, 8, 64, 8).mean(axis=(1, 3))
    return (255 * inside).astype(np.uint8), 255 * share


def test_an_edge_comes_nearer_to_how_much_of_each_pixel_is_covered():
    for rise in (0.1, 0.25, 0.4, -0.3):
        stairs, true = slope(rise)
        for drawn, wanted in ((stairs, true), (stairs.T, true.T), (255 - stairs, 255 - true)):
            before = np.abs(drawn - wanted)[2:-2, 2:-2].sum()
            after = np.abs(smooth_edges(np.ascontiguousarray(drawn)) - wanted)[2:-2, 2:-2].sum()
            assert after < 0.6 * before, rise


def test_level_edges_and_soft_colours_stay_as_they_are():
    flat = np.full((40, 50), 130, dtype=np.uint8)
    half = flat.copy()
    half[:20] = 20
    ramp = np.repeat(np.arange(0, 250, 5, dtype=np.uint8)[None, :], 40, axis=0)
    for light in (flat, half, np.ascontiguousarray(half.T), ramp):
        np.testing.assert_allclose(smooth_edges(light).astype(int), light, atol=5)


def test_any_picture_is_taken():
    generator = np.random.default_rng(5)
    for shape in ((1, 1), (2, 9), (3, 3), (33, 47)):
        light = generator.integers(0, 256, shape, dtype=np.uint8)
        out = smooth_edges(light)
        assert out.min() >= light.min() and out.max() <= light.max()
