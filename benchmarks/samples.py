"""Where the sample files are that the benchmarks run on."""

from __future__ import annotations

import os
from pathlib import Path

CORPUS = Path(
    os.environ.get(
        "BODYMOTION_CORPUS", Path(__file__).resolve().parents[2] / "shared" / "corpus"
    )
)


def sample(name: str) -> Path:
    """Return the path of a sample file, or say that the folder is missing."""
    path = CORPUS / name
    if not path.exists():
        raise SystemExit(
            f"{path} is missing: BODYMOTION_CORPUS names the folder of sample files"
        )
    return path
