"""What Spot adds to bodymotion: rows of the table in `bodymotion.extensions`. Imports nothing that it names."""

from pathlib import Path

from bodymotion.extensions import Extension, Kind

SPOT = "bodymotion.spot"

EXTENSION = Extension(
    name="spot",
    package=SPOT,
    formats=Path(__file__).with_name("formats.txt").read_text(encoding="utf-8"),
    kinds=(
        Kind(
            name="Animation",
            place=f"{SPOT}.animation:Animation",
            plural="Spot animations",
            has_tempo=True,
        ),
        Kind(
            name="Choreography",
            place=f"{SPOT}.choreography.values:Choreography",
            plural="Spot choreographies",
        ),
    ),
    text_formats=("cha",),
    rules=(
        f"{SPOT}.losses",
        f"{SPOT}.cha.rules",
        f"{SPOT}.cha_proto.rules",
        f"{SPOT}.playback.rules",
        f"{SPOT}.choreography.rules",
    ),
    fixes={"cha": f"{SPOT}.cha.fixes"},
    commands={"spot": f"{SPOT}.command"},
)
