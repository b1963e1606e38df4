"""Values as JSON can hold them, and what both kinds of file have in common there."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from bodymotion.cli.text import UNSAFE_IN_JSON
from bodymotion.diagnostics import Problem
from bodymotion.system.open_files import size_of

__all__ = ["Data", "about_file", "as_json", "number", "plain", "problems_of"]

Data: TypeAlias = dict[str, Any]

LONGEST = 1000
"""A list of more elements, met in what a file says beyond the document, is named by its length only."""
DEEPEST = 20


def number(value: float) -> float | None:
    """Return a number, or None where it is not finite: JSON has no infinity and no NaN."""
    return float(value) if math.isfinite(value) else None


def plain(value: object, depth: int = 0) -> Any:  # noqa: ANN401
    """Return any value as JSON can hold it: arrays as lists, numbers that are not finite as None, anything strange by its type's name."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (np.bool_, np.integer, int)):
        return value.item() if isinstance(value, np.generic) else value
    if isinstance(value, (float, np.floating)):
        return number(float(value))
    if isinstance(value, np.ndarray):
        return _long(value.size) if value.size > LONGEST else plain(value.tolist(), depth)
    if depth > DEEPEST:
        return "…"
    if isinstance(value, Mapping):
        return {str(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (Sequence, Set)) and not isinstance(value, (bytes, bytearray)):
        return _long(len(value)) if len(value) > LONGEST else [plain(item, depth + 1) for item in value]
    if type(value).__module__ in ("datetime", "pathlib"):
        return str(value)
    return f"<{type(value).__name__}>"


def _long(count: int) -> str:
    return f"<{count} values>"


def about_file(path: Path, kind: str, format_name: str = "") -> Data:
    """Return the members that every object of the answer begins with."""
    return {"file": str(path), "kind": kind, "format": format_name, "size": size_of(path)}


def problems_of(problems: Sequence[Problem]) -> Data:
    """Return the problems and how many there are of each severity."""
    counts = {name: sum(p.severity == name for p in problems) for name in ("error", "warning", "note")}
    return {
        "num_errors": counts["error"],
        "num_warnings": counts["warning"],
        "num_notes": counts["note"],
        "problems": [
            {
                "rule": p.rule,
                "severity": p.severity,
                "message": p.message,
                "path": p.location.path,
                "line": p.location.line,
                "column": p.location.column,
                "inside": p.location.inside,
                "hint": p.hint,
            }
            for p in problems
        ],
    }


def as_json(value: object) -> str:
    """Return JSON text that is safe on a terminal, too, with a newline at its end."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2)
    return UNSAFE_IN_JSON.sub(lambda match: f"\\u{ord(match.group()):04x}", text) + "\n"
