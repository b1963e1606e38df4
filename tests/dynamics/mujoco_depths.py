"""Depths as MuJoCo's renderer sees them, in a process of its own: python mujoco_depths.py MODEL.xml WIDTH HEIGHT OUT.npy."""

import os
import sys

os.environ.setdefault("MUJOCO_GL", "egl")

import mujoco
import numpy as np


def main(model_file: str, width: int, height: int, out: str) -> None:
    """Save the depths (H, W) of the first camera."""
    model = mujoco.MjModel.from_xml_path(model_file)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    with mujoco.Renderer(model, height, width) as renderer:
        renderer.enable_depth_rendering()
        renderer.update_scene(data, 0)
        np.save(out, renderer.render())


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
