"""Edges are smoothed, and nothing else is touched."""

from __future__ import annotations

import numpy as np

from bodymotion.kernels.antialiasing import smooth_edges


def smoothed(picture: np.ndarray) -> np.ndarray:
    out = np.zeros_like(picture)
    smooth_edges(picture, out)
    return out[::-1]


def slope(rise: float) -> tuple[np.ndarray, np.ndarray]:
    """A white half plane over a black one: as it is drawn pixel by pixel, and how much of each pixel is white."""
    rows, columns = np.mgrid[0:64, 0:64]
    inside = rows + 0.5 > 32 + rise * (columns + 0.5 - 32)
    fine_rows, fine_columns = (np.mgrid[0 : 64 * 8, 0 : 64 * 8] + 0.5) / 8
    share = (fine_rows > 32 + rise * (fine_columns - 32)).reshape(64, 8, 64, 8).mean(axis=(1, 3))
    return np.repeat((255 * inside[..., None]).astype(np.uint8), 3, axis=2), 255 * share


def test_an_edge_comes_nearer_to_how_much_of_each_pixel_is_covered():
    for rise in (0.1, 0.25, 0.4, -0.3):
        stairs, true = slope(rise)
        before = np.abs(stairs[2:-2, 2:-2, 0] - true[2:-2, 2:-2]).sum()
        after = np.abs(smoothed(stairs)[2:-2, 2:-2, 0] - true[2:-2, 2:-2]).sum()
        assert after < 0.6 * before, rise
        turned = smoothed(np.ascontiguousarray(stairs.transpose(1, 0, 2)))
        assert np.abs(turned.transpose(1, 0, 2)[2:-2, 2:-2, 0] - true[2:-2, 2:-2]).sum() < 0.6 * before, rise


def test_level_edges_and_soft_colours_stay_as_they_are():
    flat = np.full((40, 50, 3), 130, dtype=np.uint8)
    half = flat.copy()
    half[:20] = 20
    ramp = np.repeat(np.arange(0, 250, 5, dtype=np.uint8)[None, :, None], 40, axis=0).repeat(3, axis=2)
    for picture in (flat, half, np.ascontiguousarray(half.transpose(1, 0, 2)), np.ascontiguousarray(ramp)):
        np.testing.assert_allclose(smoothed(picture).astype(int), picture, atol=5)


def test_any_picture_is_taken():
    generator = np.random.default_rng(5)
    for shape in ((1, 1, 3), (2, 9, 3), (3, 3, 3), (33, 47, 3)):
        picture = generator.integers(0, 256, shape, dtype=np.uint8)
        out = smoothed(picture)
        assert out.min() >= picture.min() and out.max() <= picture.max()
