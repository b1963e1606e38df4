"""Single values as text that YAML 1.1, YAML 1.2 and JSON read alike: numbers, truth values, texts, lists and mappings of them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from bodymotion.formats.text.decimals import number

MAX_DEPTH = 50
"""Levels of nesting of a value; readers refuse more."""

MAX_KEY = 500
"""[characters] Readers of YAML refuse keys of more than 1024, and an escaped character has up to six (in flow style)."""

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORDS = re.compile(r"y|n|yes|no|on|off|true|false|null|nan|inf|infinity", re.IGNORECASE)
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass
class Unwritable:
    """What cannot be written of values: texts that are not Unicode, values of types that YAML does not have, numbers that are not
    finite.
    """

    texts: list[str] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    numbers: int = 0


def rate(hertz: float) -> str:
    """Return a frame rate, as a whole number where it is one."""
    hertz = float(hertz)
    return str(int(hertz)) if hertz.is_integer() and hertz < 1e15 else number(hertz)


def quoted(text: str, lost: Unwritable) -> str:
    """Return a text in double quotes, with escapes that YAML and JSON have in common."""
    if _SURROGATE.search(text):
        lost.texts.append(text)
        text = _SURROGATE.sub("\ufffd", text)
    return _ESCAPED.sub(lambda m: f"\\u{ord(m.group()):04x}", json.dumps(text, ensure_ascii=False))


def name(text: str, lost: Unwritable, json_style: bool = False) -> str:
    """Return a text plain where that is safe, else in quotes."""
    if json_style or not _PLAIN.fullmatch(text) or _WORDS.fullmatch(text):
        return quoted(text, lost)
    return text


def key(text: str, lost: Unwritable, json_style: bool = False) -> str:
    """Return a key with its colon."""
    return name(text, lost, json_style) + ":"


def value(thing: object, lost: Unwritable, json_style: bool = False, depth: int = 0) -> str:
    """Return any value in flow style; what YAML does not have becomes null and is added to `lost`."""
    if depth > MAX_DEPTH:
        lost.values.append(f"values nested more than {MAX_DEPTH} deep")
        return "null"
    if isinstance(thing, np.generic):
        thing = thing.item()
    elif isinstance(thing, np.ndarray):
        thing = thing.tolist()
    if thing is None:
        return "null"
    if isinstance(thing, bool):
        return "true" if thing else "false"
    if isinstance(thing, int):
        if abs(thing) < 10**1000:
            return str(thing)
        lost.values.append("a whole number of more than 1000 digits")
        return "null"
    if isinstance(thing, float):
        lost.numbers += not math.isfinite(thing)
        return number(thing)
    if isinstance(thing, str):
        return name(thing, lost, json_style)
    if isinstance(thing, Mapping):
        pairs = [
            f"{key(_as_key(k, lost), lost, json_style)} {value(v, lost, json_style, depth + 1)}"
            for k, v in thing.items()
        ]
        return "{ " + ", ".join(pairs) + " }" if pairs else "{}"
    if isinstance(thing, (list, tuple)):
        items = [value(item, lost, json_style, depth + 1) for item in thing]
        return "[ " + ", ".join(items) + " ]" if items else "[]"
    lost.values.append(f"a value of type {type(thing).__name__}")
    return "null"


def _as_key(thing: object, lost: Unwritable) -> str:
    if isinstance(thing, str):
        return thing
    lost.values.append(f"a key of type {type(thing).__name__} (it becomes a text)")
    return str(thing)
