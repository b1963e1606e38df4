"""What a URDF file does not hold of a body, and the names that it can hold."""

import re
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import numpy as np

from bodymotion.diagnostics import Problem, Rule, losses
from bodymotion.diagnostics.text import listed
from bodymotion.formats.xml.tree import is_xml_text
from bodymotion.geometry.arrays import same

# Names that a message lists of one kind of loss.
MAX_NAMES = 8
# Difference of numbers that differ by rounding only, also relative to the larger.
TOLERANCE = 1e-12


class LossReport:
    """Collects what a file does not hold.

    One problem for each rule and kind of loss, with the names of the objects.
    """

    def __init__(self) -> None:
        self._rules: dict[tuple[str, str], Rule] = {}
        self._names: dict[tuple[str, str], dict[str, None]] = {}

    def add(self, rule: Rule, kind: str, name: str) -> None:
        """Record a loss of the object called `name`.

        `kind` describes it, such as "links are reordered".
        """
        key = (rule.code, kind)
        self._rules.setdefault(key, rule)
        self._names.setdefault(key, {})[name] = None

    def leave_out(self, field: str, name: str) -> None:
        """Record, as a note, that a field is left out.

        It is a field of the object called `name`.
        """
        self.add(losses.NO_TARGET_FIELD.as_note, f"left out: {field}", name)

    @property
    def problems(self) -> list[Problem]:
        """One problem for each kind of loss, in order of codes."""
        problems = []
        for key in sorted(self._rules):
            names = tuple(self._names[key])
            shown = listed((name[:60] or "''" for name in names), MAX_NAMES)
            message = f"{key[1]}: {shown}"
            problems.append(self._rules[key].problem(message, data={"names": names}))
        return problems


def changed_fields(
    value: Any,  # noqa: ANN401
    read_back: Any,  # noqa: ANN401
    skip: Iterable[str] = (),
) -> list[str]:
    """Return the names of the fields in which two dataclasses of one type differ.

    Numbers may differ by rounding.
    """
    return [
        field.name
        for field in fields(value)
        if field.compare
        and field.name not in skip
        and not _agree(getattr(value, field.name), getattr(read_back, field.name))
    ]


def _agree(value: object, other: object) -> bool:
    if isinstance(value, float):
        value = np.array(value)
    if not isinstance(value, np.ndarray):
        return same(value, other)
    others = np.asarray(other)
    if value.shape != others.shape:
        return False
    return np.allclose(value, others, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)


def unique_names(wanted: Iterable[str], otherwise: str) -> list[str]:
    """Return a different name for each wanted one.

    The same where possible, else without white space and slashes, and with a number. An
    empty name becomes `otherwise` with its index in the list.
    """
    names = [
        _plain(name) or f"{otherwise}_{number}" for number, name in enumerate(wanted)
    ]
    # A name that occurs once is kept, even where another one would be renamed to it.
    reserved = set(names)
    used: set[str] = set()
    numbers: dict[str, int] = {}
    unique = []
    for name in names:
        free = name
        while free in used or (free != name and free in reserved):
            numbers[name] = numbers.get(name, 1) + 1
            free = f"{name}_{numbers[name]}"
        used.add(free)
        unique.append(free)
    return unique


def _plain(name: str) -> str:
    letters = [letter if is_xml_text(letter) else "_" for letter in name]
    return re.sub(r"[\s/]+", "_", "".join(letters).strip())
