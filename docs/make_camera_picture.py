"""Make docs/images/camera.png: what the camera of the example robot sees on its walk, in colour and in depth.

python docs/make_camera_picture.py
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image

import bodymotion as bm
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.shapes import Corners

ROOT = Path(__file__).resolve().parents[1]
TILES = 30
SECONDS = 4.5
NEAR, FAR = (253, 231, 37), (68, 1, 84)
"""The colours of the smallest and the largest visible depth."""


def main() -> None:
    """Save the picture."""
    robot, walk = (
        bm.load(ROOT / "examples" / "biped.wrl"),
        bm.load(ROOT / "examples" / "biped_walk.seq"),
    )
    other = replace(
        robot,
        root_pose=poses.from_parts(
            [3.4, 0.75, 0.72], rotations.from_rpy([0, 0, np.pi - 0.4])
        ),
    )
    scenery = [
        floor(),
        other,
        placed(
            bm.shapes.Box((0.5, 0.5, 0.9)), (4.4, -0.35, 0.45), 0.4, (0.75, 0.25, 0.2)
        ),
        placed(bm.shapes.Sphere(0.3), (3.3, -0.05, 0.3), 0.0, (0.2, 0.4, 0.75)),
        placed(
            bm.shapes.Box((0.2, 12.0, 2.2)), (7.0, 1.5, 1.1), 0.0, (0.82, 0.8, 0.74)
        ),
    ]
    (picture,) = (
        bm.dynamics.measure(robot, walk).read("HEAD_CAMERA", scenery).at(SECONDS)
    )
    Image.fromarray(
        np.concatenate([picture.color, in_colours(picture.depth)], axis=1)
    ).quantize(256, kmeans=3).save(
        ROOT / "docs" / "images" / "camera.png", optimize=True
    )


def floor() -> bm.shapes.Mesh:
    """Return a floor of tiles, half a metre wide."""
    side = 0.5 * (np.arange(TILES + 1) - TILES / 3)
    x, y = (
        values.ravel()
        for values in np.meshgrid(side, side - side.mean(), indexing="ij")
    )
    row, column = (values.ravel() for values in np.divmod(np.arange(TILES**2), TILES))
    first = (TILES + 1) * row + column
    faces = np.concatenate(
        [
            np.stack([first, first + TILES + 1, first + TILES + 2], axis=1),
            np.stack([first, first + TILES + 2, first + 1], axis=1),
        ]
    )
    dark = np.tile((row + column) % 2, 2)[:, None].repeat(3, axis=1)
    colors = Corners(np.array([[0.85, 0.85, 0.85], [0.55, 0.58, 0.62]]), dark)
    return bm.shapes.Mesh(np.stack([x, y, 0 * x], axis=1), faces, colors=colors)


def placed(
    geometry: bm.shapes.Box | bm.shapes.Sphere,
    position: tuple[float, float, float],
    yaw: float,
    color: tuple[float, float, float],
) -> bm.shapes.Shape:
    """Return a shape of a colour at a position [m], rotated about z."""
    pose = poses.from_parts(position, rotations.from_rpy([0, 0, yaw]))
    return bm.shapes.Shape(
        geometry, poses.to_matrix(pose), bm.shapes.Material(diffuse=color)
    )


def in_colours(depth: np.ndarray) -> np.ndarray:
    """Return depths (H, W) [m] as colours (H, W, 3), evenly over the inverse of the depth; black for nothing."""
    nearness = 1 / depth
    seen = np.isfinite(depth)
    low, high = nearness[seen].min(), nearness[seen].max()
    share = ((nearness - low) / (high - low))[..., None]
    return np.where(
        seen[..., None], share * np.array(NEAR) + (1 - share) * np.array(FAR), 0
    ).astype(np.uint8)


if __name__ == "__main__":
    main()
