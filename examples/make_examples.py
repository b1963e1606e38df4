"""Make the examples of this folder: the robot `biped.wrl` and its walk `biped_walk.seq`, and moves of Spot: `wave`, `sway`, `trot`.

    python examples/make_examples.py [FOLDER]

The same bytes come out every time on one kind of machine.
"""

from __future__ import annotations

import sys
from pathlib import Path

from make.robot import biped
from make.seq import write_seq
from make.sway import sway
from make.trot import trot
from make.walk import walk
from make.wave import wave
from make.wrl import write_wrl

import bodymotion as bm


def main(folder: Path) -> None:
    """Write all files into `folder`; the walk is made for the robot as it is read back from its file."""
    model = folder / "biped.wrl"
    model.write_text(write_wrl(biped()), encoding="utf-8", newline="\n")
    motion = walk(bm.load(model))
    (folder / "biped_walk.seq").write_text(
        write_seq(
            motion,
            "The robot of biped.wrl walks for ten seconds, with a bend to the left",
        ),
        encoding="utf-8",
        newline="\n",
    )
    for name, move in (("wave", wave), ("sway", sway), ("trot", trot)):
        (folder / f"{name}.cha").write_text(move(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent)
