"""Read a data set by lerobot, in an environment of its own (`make accept-lerobot`): ``python lerobot_reader.py FOLDER OUT.npz``."""

from __future__ import annotations

import importlib.machinery
import os
import sys
import types

import datasets  # noqa: F401 - before the stand-in, which it would take for torchvision
import numpy as np

os.environ["HF_HUB_OFFLINE"] = "1"
for name in ("torchvision", "torchvision.transforms", "torchvision.transforms.v2"):
    # It is for images, of which these data sets have none; its compiled part does not fit every torch.
    module = types.ModuleType(name)
    module.__spec__ = importlib.machinery.ModuleSpec(name, None)
    module.__path__ = []
    sys.modules[name] = module
    above, _, short = name.rpartition(".")
    if above:
        setattr(sys.modules[above], short, module)

from lerobot.datasets.lerobot_dataset import LeRobotDataset  # noqa: E402


def main(folder: str, out: str) -> None:
    """Write the values of each feature over all frames, the tasks, and the frame rate."""
    found = LeRobotDataset("any/name", root=folder)
    rows = [found[k] for k in range(len(found))]
    values = {
        name: np.array([np.asarray(row[name]) for row in rows]) for name in rows[0]
    }
    names = found.meta.features["observation.state"]["names"]
    np.savez(
        out,
        fps=found.fps,
        names=names,
        **{name.replace(".", "/"): value for name, value in values.items()},
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
