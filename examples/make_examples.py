"""Make the examples of this folder: the robot `biped.wrl` and its walk `biped_walk.seq`.

    python examples/make_examples.py [FOLDER]

The same bytes come out every time on one kind of machine.
"""

from __future__ import annotations

import sys
from pathlib import Path

from make.robot import biped
from make.wrl import write_wrl


def main(folder: Path) -> None:
    """Write both files into `folder`."""
    model = folder / "biped.wrl"
    model.write_text(write_wrl(biped()), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent)
