"""Make the images of docs/pictures.md in docs/images, with `bodymotion.render`.

python docs/make_rendered.py [NAME …]

The robots of `rendered_robots.png` are no part of this project: BODYMOTION_CORPUS names the folder of sample files with them. Their
licences (MIT; BSD-3-Clause for HRP-4C) allow images of them; the page has the credits.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from PIL import Image

import bodymotion as bm

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
EXAMPLES = ROOT / "examples"
CORPUS = Path(os.environ.get("BODYMOTION_CORPUS", ROOT.parent / "shared" / "corpus"))
MODELS = "wrl/choreonoid+choreonoid/share/model"
ROBOTS = (
    (f"{MODELS}/SR1/SR1.wrl", "corner"),
    ("wrl/isri-aist+hrp4c_description/vrml/HRP4Cmain.wrl", "corner"),
    (f"{MODELS}/PA10/PA10.wrl", "corner"),
    ("body/choreonoid+choreonoid/share/model/misc/FourWheelCar.body", "iso"),
    (f"{MODELS}/misc/trackedVehicle.wrl", "iso"),
)
COLORS = 256
BIPED, WALK = EXAMPLES / "biped.wrl", EXAMPLES / "biped_walk.seq"


def still() -> Image.Image:
    """Return one moment of the walk."""
    return drawn(BIPED, WALK, at=4.62, size=(960, 540), overlay=("title", "time"))


def steps() -> Image.Image:
    """Return several moments of the walk."""
    return drawn(
        BIPED, WALK, strobe=7, start=1.0, end=8.5, camera="side", size=(1200, 420)
    )


def sheet() -> Image.Image:
    """Return the four views of the example robot."""
    return drawn(BIPED, sheet=True, size=(1200, 900))


def wave() -> Image.Image:
    """Return several moments of the wave of Spot."""
    return drawn(
        EXAMPLES / "wave.cha",
        at=(0.0, 0.75, 1.3, 1.75, 3.6),
        background="dark",
        size=(1200, 420),
    )


def robots() -> Image.Image:
    """Return robots of other projects side by side."""
    pictures = [
        drawn(CORPUS / name, camera=camera, size=(280, 340)) for name, camera in ROBOTS
    ]
    row = Image.new(
        "RGB", (sum(picture.width for picture in pictures), pictures[0].height)
    )
    for number, picture in enumerate(pictures):
        row.paste(picture, (number * picture.width, 0))
    return row


PICTURES: dict[str, Callable[[], Image.Image]] = {
    "still": still,
    "steps": steps,
    "sheet": sheet,
    "wave": wave,
    "robots": robots,
}


def drawn(*files: Path, **options: object) -> Image.Image:
    """Return an image of files."""
    picture = bm.render(*files, **options)  # type: ignore[arg-type]
    assert picture is not None
    return picture


def main(names: list[str]) -> None:
    """Save the images with these names, or all; few colours keep the files small."""
    for name in names or PICTURES:
        PICTURES[name]().quantize(COLORS, kmeans=2).save(
            IMAGES / f"rendered_{name}.png", optimize=True
        )


if __name__ == "__main__":
    main(sys.argv[1:])
