"""Colours in the planes that videos hold, against the conversion that FFmpeg's libraries have."""

from __future__ import annotations

import numpy as np
import pytest

from bodymotion.kernels.television import to_planes

BLOCK = 8


@pytest.mark.parametrize("kind", ["yuv420p", "yuv444p"])
def test_planes_are_those_of_ffmpeg(kind):
    av = pytest.importorskip("av")
    blocks = np.random.default_rng(3).integers(0, 256, (12, 16, 4), dtype=np.uint8)
    blocks[0, :4, :3] = [[0, 0, 0], [255, 255, 255], [255, 0, 0], [0, 0, 255]]
    picture = np.ascontiguousarray(blocks.repeat(BLOCK, axis=0).repeat(BLOCK, axis=1))
    frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture[::-1]), format="rgba")
    planes = []
    for plane in frame.reformat(format=kind, dst_colorspace="ITU709").planes:
        plane_rows = np.frombuffer(plane, dtype=np.uint8).reshape(plane.height, plane.line_size)[:, : plane.width]
        planes.append(plane_rows)
    ours = [np.zeros_like(plane) for plane in planes]
    to_planes(picture, *ours)
    for got, wanted in zip(ours, planes, strict=True):
        # In the middle of each block: next to an edge the two choose different places of a colour of four pixels.
        step = BLOCK * wanted.shape[0] // picture.shape[0]
        middle = (slice(step // 2, None, step), slice(step // 2, None, step))
        np.testing.assert_allclose(got[middle].astype(int), wanted[middle], atol=1)


def test_a_colour_of_four_pixels_is_of_their_mean():
    picture = np.zeros((2, 2, 4), dtype=np.uint8)
    picture[0, 0, :3] = picture[1, 1, :3] = 200
    light, bluer, redder = np.zeros((2, 2), np.uint8), np.zeros((1, 1), np.uint8), np.zeros((1, 1), np.uint8)
    to_planes(picture, light, bluer, redder)
    assert light.tolist() == [[16, 188], [188, 16]]
    assert bluer.tolist() == redder.tolist() == [[128]]
