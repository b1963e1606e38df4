"""Make the pictures of plots in docs/images: `python docs/make_plots.py [NAME …]`.

Those of SR1 need the sample files, which BODYMOTION_CORPUS names, or `../shared/corpus`; without them they are left as they are.
"""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Any

from PIL import Image

import bodymotion as bm

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
CORPUS = Path(os.environ.get("BODYMOTION_CORPUS", ROOT.parent / "shared" / "corpus"))
CHOREONOID = "choreonoid+choreonoid/share"
BIPED, WALK, TROT = (
    ROOT / "examples" / name for name in ("biped.wrl", "biped_walk.seq", "trot.cha")
)
SR1 = CORPUS / "wrl" / CHOREONOID / "model" / "SR1" / "SR1.wrl"
SR1_WALK = CORPUS / "seq" / CHOREONOID / "motion" / "SR1" / "SR1WalkPattern2.yaml"

PICTURES: dict[str, tuple[tuple[Path, ...], str, dict[str, Any]]] = {
    "plot_overview": ((BIPED, WALK), "overview", {}),
    "plot_joints": ((BIPED, WALK), "joints", {"joints": ["R_*", "CHEST*", "HEAD*"]}),
    "plot_torques": (
        (BIPED, WALK),
        "torques",
        {"joints": ["[LR]_[HKA]*"], "dark": True},
    ),
    "plot_zmp": ((BIPED, WALK), "zmp", {}),
    "plot_contacts": ((TROT,), "contacts", {}),
    "plot_sr1_zmp": ((SR1, SR1_WALK), "zmp", {}),
}
"""By the name of a picture: files, what is plotted, and how."""
DPI = 90


def main(names: list[str]) -> None:
    """Save the pictures with these names, or all, with few enough colours to be small."""
    for name in names or PICTURES:
        files, what, how = PICTURES[name]
        if not all(path.exists() for path in files):
            print(
                f"{name}: left as it is, there is no {', '.join(path.name for path in files if not path.exists())}"
            )
            continue
        buffer = IMAGES / f"{name}.png"
        bm.plot(*files, what=what, dpi=DPI, **how).save(buffer)
        picture = Image.open(io.BytesIO(buffer.read_bytes())).convert("RGB")
        picture.quantize(200, kmeans=1).save(buffer, optimize=True)
        print(
            f"{name}: {picture.width} × {picture.height}, {buffer.stat().st_size // 1024} kB"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
