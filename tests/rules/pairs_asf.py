"""Pairs for recorded motion by Acclaim."""

from __future__ import annotations

from fuzz.texts import AMC, ASF

import bodymotion as bm
from rules.pairs import (
    Pair,
    Reported,
    calls,
    examples,
    files,
    folders,
    limited,
    problems_of,
)

TREE = """:root
order TX TY TZ RX RY RZ
:bonedata
begin
name lfemur
direction 0 -1 0
length 7
dof rx rz
end
begin
name ltibia
direction 0 -2 0
length 7
dof rx
end
:hierarchy
root lfemur
lfemur ltibia
"""
"""A sound skeleton."""
FRAMES = """:DEGREES
1
root 0 17 0 0 0 0
lfemur 10 5
ltibia 20
2
root 0 17 1 0 0 0
lfemur 11 5
ltibia 21
"""
LONE = TREE.partition("begin\nname ltibia")[0] + ":hierarchy\nroot lfemur\n"
FILE, CLIP = "walk.asf", "walk.amc"


def read(**options: object) -> Reported:
    """Return what is reported when a clip is read."""

    def reported(folder):
        (folder / FILE).write_text(ASF)
        (folder / CLIP).write_text(AMC)
        return problems_of(lambda: bm.load(folder / CLIP, **options))

    return reported


PAIRS: dict[str, Pair] = {
    "ASF002": folders(CLIP, {CLIP: FRAMES}, {CLIP: FRAMES, FILE: TREE}, place=False),
    "FMT009 .asf": limited(
        files(FILE, TREE, LONE), "bodymotion.formats.asf.MAX_BONES", 1
    ),
    **examples(FILE, TREE, "ASF101 ASF102 ASF103 ASF104"),
    "ASF105": files(FILE, TREE.replace("name lfemur", "name root"), TREE),
    "ASF201": folders(
        CLIP,
        {FILE: TREE, CLIP: FRAMES.replace("tibia 20", "tibia 20 1")},
        {FILE: TREE, CLIP: FRAMES},
    ),
    "ASF202": folders(
        CLIP,
        {FILE: TREE, CLIP: FRAMES.replace("\n2\n", "\n3\n")},
        {FILE: TREE, CLIP: FRAMES},
    ),
    "ASF203": calls(read(), read(frame_rate=120)),
}
