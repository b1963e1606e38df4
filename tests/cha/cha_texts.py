"""Texts of animation files for tests."""

from __future__ import annotations

from bodymotion.diagnostics import Problem
from bodymotion.spot.cha import parse_cha

HERE = "¦"
"""Stands in a text before the character that a rule is expected to point at; it is taken out before reading."""

LEG = "0 0.8 -1.6"
LEGS = " ".join([LEG] * 4)
"""Joint angles of a stand."""
FEET = "0.3 0.17 0 0.3 -0.17 0 -0.3 0.17 0 -0.3 -0.17 0"
"""Where the feet are in a stand."""


def cha(
    controls: str = "body",
    options: str = "",
    parameters: str = "no parameters",
    columns: str = "time body_z",
    rows: str = "0 0.48\n1 0.44\n",
) -> str:
    """Return a file of which any part may be another one."""
    more = f"{options}\n" if options else ""
    return f"controls {controls}\n{more}\n{parameters}\n\n{columns}\n{rows}"


def legs(
    columns: str = "time leg_joints", rows: str = f"0 {LEGS}\n1 {LEGS}\n", **parts: str
) -> str:
    """Return a file that controls the legs."""
    return cha(**{"controls": "legs", "columns": columns, "rows": rows, **parts})


def cycle(*contacts: str, **parts: str) -> str:
    """Return a gait cycle with these contacts, a keyframe each."""
    rows = "".join(f"{k / 10} {LEGS} {contact}\n" for k, contact in enumerate(contacts))
    return legs(
        **{
            "columns": "time leg_joints contact",
            "rows": rows,
            "options": "custom_gait_cycle",
            **parts,
        }
    )


def without_mark(text: str | bytes) -> tuple[bytes, int | None, int | None]:
    """Return the text, and the line and column of the mark in it."""
    if isinstance(text, bytes) or HERE not in text:
        return text if isinstance(text, bytes) else text.encode(), None, None
    before = text[: text.index(HERE)]
    return (
        text.replace(HERE, "").encode(),
        before.count("\n") + 1,
        len(before) - before.rfind("\n"),
    )


def problems_of(text: str | bytes) -> tuple[Problem, ...]:
    """Return all problems of a text."""
    return parse_cha(
        text if isinstance(text, bytes) else text.encode(), "move.cha"
    ).problems


def codes_of(text: str | bytes) -> list[str]:
    """Return the codes of all problems of a text."""
    return [problem.rule for problem in problems_of(text)]
