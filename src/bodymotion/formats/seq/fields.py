"""The keys of a mapping by their names, whatever their spelling, and their values."""

from __future__ import annotations

from bodymotion.diagnostics import Location, Problem
from bodymotion.formats.seq import rules
from bodymotion.formats.seq.document import Document
from bodymotion.formats.seq.findings import Findings
from bodymotion.formats.seq.nodes import Mapping, Node, Scalar, key_text
from bodymotion.formats.seq.numbers import number
from bodymotion.formats.text.spelling import meant

__all__ = ["KEYS", "Fields", "is_empty"]

KEYS = {
    "type": ("type",),
    "content": ("content", "purpose"),
    "format_version": ("formatVersion", "format_version"),
    "frame_rate": ("frameRate", "frame_rate"),
    "num_frames": ("numFrames", "num_frames"),
    "num_parts": ("numParts", "num_parts"),
    "part_labels": ("partLabels", "part_labels"),
    "has_frame_time": ("hasFrameTime", "has_frame_time"),
    "is_root_relative": ("isRootRelative", "is_root_relative"),
    "se3_format": ("SE3Format", "se3_format", "Se3Format", "format"),
    "frames": ("frames",),
    "components": ("components",),
}
_NAME_OF = {spelling: name for name, spellings in KEYS.items() for spelling in spellings}
_OF_COMPONENTS = tuple(name for name in KEYS if name not in ("format_version", "components"))
_OF_TOP = tuple(name for name in KEYS if name != "frames")
MOST_MISSPELT = 50
"""So many unknown keys of a mapping are looked at: a typing error is one of few."""
_TRUE, _FALSE = ("true", "yes", "on"), ("false", "no", "off")


def is_empty(node: Node) -> bool:
    """Whether a key was written without a value."""
    return isinstance(node, Scalar) and not node.quoted and node.text in ("", "~", "null")


class Fields:
    """The keys of a mapping by their names, whatever their spelling.

    `slips`: by the name of a key that is not there, what is said of an unknown one that is almost spelt like it.
    """

    def __init__(self, document: Document, node: Mapping, problems: Findings, inside: str) -> None:
        self.document, self.node, self.inside, self.problems = document, node, inside, problems
        self.values: dict[str, Node] = {}
        self.unknown: dict[str, Node] = {}
        merged: list[Mapping] = []
        for key, value in node.pairs:
            text = key_text(key)
            if text == "<<" and isinstance(key, Scalar) and not key.quoted and isinstance(value, Mapping):
                problems.append(rules.MERGE.problem("a merge key, '<<', takes keys from another mapping", self.at(key)))
                merged.append(value)
                continue
            name = _NAME_OF.get(text) if isinstance(key, Scalar) else None
            known, label = (self.unknown, text) if name is None else (self.values, name)
            if label in known:
                problems.append(rules.KEY_TWICE.problem(f"the key {text[:60]} occurs twice", self.at(key)))
            known[label] = value
        for key, value in [pair for mapping in merged for pair in mapping.pairs]:
            text = key_text(key)
            if text in _NAME_OF and isinstance(key, Scalar):
                self.values.setdefault(_NAME_OF[text], value)
            else:
                self.unknown.setdefault(text, value)
        self.slips = self._slips() if self.unknown else {}

    def _slips(self) -> dict[str, Problem]:
        expected = _OF_COMPONENTS if self.inside else _OF_TOP
        expected = tuple(name for name in expected if name not in self.values)
        places = {key.text: key for key, _ in self.node.pairs if isinstance(key, Scalar)}
        slips: dict[str, Problem] = {}
        for text in list(self.unknown)[:MOST_MISSPELT]:
            spelling = meant(text, (KEYS[name][0] for name in expected)) if text in places else None
            if spelling is None or _NAME_OF[spelling] in slips:
                continue
            message = f"the key {text!r} is none that the document knows: did you mean {spelling!r}?"
            problem = rules.MISSPELT.problem(message, self.at(places[text]))
            slips[_NAME_OF[spelling]] = problem
            self.problems.append(problem)
        return slips

    def at(self, node: Node | None, rest: str = "") -> Location:
        """Say where a node is; None: the mapping itself."""
        return self.document.location(node or self.node, (self.inside + rest).lstrip(".") or None)

    def extra(self, *unwanted: str) -> dict[str, object]:
        """Return all keys that are not known, and the known ones that have no meaning here, as plain values."""
        left = dict(self.unknown)
        for name in unwanted:
            if name in self.values:
                left[KEYS[name][0]] = self.values[name]
        return {key: self.document.plain(value) for key, value in left.items()}

    def text(self, name: str) -> str | None:
        """Return the text of a key; None where it is missing or empty."""
        node = self.values.get(name)
        if node is None or is_empty(node):
            return None
        if not isinstance(node, Scalar):
            where = self.at(node, f".{KEYS[name][0]}")
            self.problems.fault(rules.KEY_VALUE, f"{KEYS[name][0]} is a list or a mapping, not a single value", where)
            return None
        return node.text

    def rate(self) -> float | None:
        """Return the frame rate [Hz], where there is one."""
        text = self.text("frame_rate")
        if text is None:
            return None
        value = number(text)
        if value is None or not 0 < value < float("inf"):
            where = self.at(self.values["frame_rate"], ".frameRate")
            message = f"the frame rate is {text[:40]!r}, not a positive number of Hz"
            self.problems.fault(rules.FRAME_RATE, message, where)
            return None
        if not 1e-3 <= value <= 1e6:
            problem = rules.ODD_RATE.problem(
                f"the frame rate is {text[:40]} Hz", self.at(self.values["frame_rate"], ".frameRate")
            )
            if problem not in self.problems:
                self.problems.append(problem)
        return value

    def flag(self, name: str) -> bool | None:
        """Return a truth value, where there is one."""
        text = self.text(name)
        if text is None:
            return None
        if text.lower() in _TRUE or text.lower() in _FALSE:
            return text.lower() in _TRUE
        where = self.at(self.values[name], f".{KEYS[name][0]}")
        message = f"{KEYS[name][0]} is {text[:40]!r}, neither true nor false"
        self.problems.fault(rules.FLAG, message, where)
        return None

    def count(self, name: str) -> int | None:
        """Return a whole number, where there is one; −1 where the text is none."""
        text = self.text(name)
        if text is None:
            return None
        value = number(text)
        return int(value) if value is not None and 0 <= value < 2**53 and value == int(value) else -1
