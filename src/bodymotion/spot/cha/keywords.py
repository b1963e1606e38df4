"""The keywords of the document of animation files.

Options and parameters, which are in `keywords.txt`, and columns.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Literal, TypeAlias

from bodymotion.motion.feet import LEGS
from bodymotion.spot.animation import GROUPS

Quantity: TypeAlias = Literal[
    "time", "joint", "position", "quaternion", "angle", "contact"
]

PLAYBACKS = (
    "jointspace",
    "workspace",
    "workspace_dance_frame",
)  # The values of the option `arm_playback`.
# The limits of the joints [rad], from the robot's public description. Those of the legs
# by the ends of their columns' names.
JOINT_LIMITS: Mapping[str, tuple[float, float]] = {
    "hx": (-0.785398, 0.785398),
    "hy": (-0.898845, 2.295108),
    "kn": (-2.7929, -0.2471),
    "shoulder0": (-2.618, 3.1416),
    "shoulder1": (-3.1416, 0.5236),
    "elbow0": (0.0, 3.1416),
    "elbow1": (-2.7925, 2.7925),
    "wrist0": (-1.8326, 1.8326),
    "wrist1": (-2.87989, 2.87979),
    "gripper": (-1.5708, 0.0),
}
_TRACKS = dict.fromkeys(LEGS, "legs") | {
    "body": "body",
    "com": "body",
    "gripper": "gripper",
}
_QUANTITIES: Mapping[str, Quantity] = {
    **dict.fromkeys(JOINT_LIMITS, "joint"),
    **dict.fromkeys(("roll", "pitch", "yaw"), "angle"),
    "contact": "contact",
}
TIME = "time"  # The column of times; it belongs to no track.


@dataclass(frozen=True)
class Keyword:
    """A keyword of the first two sections.

    Attributes
    ----------
    values:
        What an option takes: "tracks", "number", "color", "text", "playback", or "" for
        nothing.
    sentence:
        What it does.
    tracks:
        The tracks that it is for: of a parameter the animation must control all of
        them. Empty for any.
    minimum, maximum, whole:
        The range of a parameter, and whether it takes whole numbers.
    in_document:
        Whether the document has it: some keywords only the vendor's converter knows.
    """

    keyword: str
    values: str
    sentence: str
    tracks: tuple[str, ...] = ()
    minimum: float = -math.inf
    maximum: float = math.inf
    whole: bool = False
    in_document: bool = True

    @property
    def shape(self) -> str:
        """The form of the line of an option."""
        after = {
            "tracks": "TRACK…",
            "number": "VALUE",
            "color": "RED GREEN BLUE",
            "text": "TEXT",
            "playback": "OPTION",
        }
        return f"{self.keyword} {after.get(self.values, '')}".rstrip()


@dataclass(frozen=True)
class Column:
    """A single column of the third section.

    Joints move from `minimum` to `maximum` [rad].
    """

    keyword: str
    track: str
    quantity: Quantity
    minimum: float = -math.inf
    maximum: float = math.inf


def _keyword(line: str) -> Keyword:
    """Return the keyword of a line of `keywords.txt`."""
    head, _, sentence = line.strip().partition(": ")
    words, _, tracks = head.partition(" for ")
    name, *words_after = words.split()
    values = ""
    minimum = -math.inf
    maximum = math.inf
    for word in words_after:
        if "…" in word:
            minimum, maximum = map(float, word.split("…"))
        elif word not in ("whole", "converter"):
            values = word
    whole = "whole" in words_after
    in_document = "converter" not in words_after
    return Keyword(
        name,
        values,
        sentence,
        tuple(tracks.split()),
        minimum,
        maximum,
        whole,
        in_document,
    )


def _sections() -> dict[str, dict[str, Keyword]]:
    """Return the sections of `keywords.txt`: a heading, then a keyword on each line."""
    text = Path(__file__).with_name("keywords.txt").read_text("utf-8")
    sections = {}
    for section in text.rstrip().split("\n\n")[1:]:
        heading, *lines = section.splitlines()
        sections[heading] = {word.keyword: word for word in map(_keyword, lines)}
    return sections


_SECTIONS = _sections()
# The options by their keywords.
OPTIONS: Mapping[str, Keyword] = _SECTIONS["options"]
# The parameters by their keywords.
PARAMETERS: Mapping[str, Keyword] = _SECTIONS["parameters"]


def singles(keyword: str) -> tuple[str, ...]:
    """Return the single columns of a keyword of the third section."""
    return GROUPS.get(keyword, (keyword,))


def _column(name: str) -> Column:
    track = _TRACKS.get(name.partition("_")[0], "arm")
    ending = name.rpartition("_")[2]
    quantity = _QUANTITIES.get(ending, "quaternion" if "_quat_" in name else "position")
    return Column(
        name, track, quantity, *JOINT_LIMITS.get(ending, (-math.inf, math.inf))
    )


# The single columns by their keywords. The groups of them are
# `bodymotion.spot.animation.GROUPS`.
COLUMNS: Mapping[str, Column] = {
    TIME: Column(TIME, "", "time", 0),
    **{name: _column(name) for name in ("gripper", *chain(*GROUPS.values()))},
}
