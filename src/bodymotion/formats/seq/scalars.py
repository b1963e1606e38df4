"""Single values in the text of a body motion, in both directions.

Read: parsed as YAML or JSON, as numbers and plain values. A number of a body motion is decimal: an optional sign, digits with or without a
point, an optional exponent (`1e5`, `.5`, `5.`, `+1`, `017`, which is 17), or `nan`, `inf`, `infinity` in any case, with or without YAML's
leading point and a sign. Its value is the nearest double. Other texts that some readers accept (`0x10`, `1_000`, `1:30`, `"7"`, `1.5abc`)
are not numbers here, because readers disagree about them.

Written: numbers, truth values, texts, lists and mappings of them as text that YAML 1.1, YAML 1.2 and JSON read alike.
"""

import json
import math
import re
from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, field

import numpy as np

from bodymotion.diagnostics import Diagnostics, FormatError
from bodymotion.formats.seq import rules
from bodymotion.formats.text import number as number_text
from bodymotion.formats.yaml.json_text import parse_json
from bodymotion.formats.yaml.tree import Dialect, Document, Node, PiecedText, Scalar, Sequence, key_text, parse_yaml

DIALECT = Dialect(rules.NOT_YAML, rules.NOT_A_MOTION, rules.ALIASES, rules.TAG)

_NUMBER = re.compile(
    r"[-+]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][-+]?[0-9]++)?|[-+]?(?:\.?(?:nan|inf)|infinity)", re.IGNORECASE
)
_INTEGER = re.compile(r"[-+]?[0-9]{1,4000}")
_CONSTANTS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


def parse_text(text: PiecedText, found: Diagnostics) -> Document:
    """Parse a text as YAML, or, where it begins as JSON and is no YAML, as JSON.

    Raises
    ------
    FormatError
        SEQ002 when it is neither or is nested too deep, SEQ003 when it is empty, SEQ006 when aliases unfold to too much.
    """
    data = text.data
    try:
        return parse_yaml(data, text, DIALECT, found)
    except FormatError as error:
        if not data.lstrip().startswith("{") or error.problem.rule != rules.NOT_YAML.code:
            raise
        try:
            root = parse_json(data, text, DIALECT.max_depth)
        except ValueError:
            raise error from None
        return Document(root, {})


def number(text: str) -> float | None:
    """Return the double nearest to an unquoted text; None where it is not a number."""
    if _NUMBER.fullmatch(text) is None:
        return None
    if text[-1] in "nfNF":  # Python's float rejects the point of .nan and .inf
        text = text.replace(".", "", 1)
    return float(text)


def plain_scalar(text: str) -> object:
    """Return the value of an unquoted text of an unknown key: None, bool, int, float or the text itself."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    value = number(text)
    return text if value is None else value


def plain(node: Node) -> object:
    """Return a node as plain values (dict, list, str, int, float, bool, None): for keys and types that the format does not define."""
    if isinstance(node, Scalar):
        return node.value if node.quoted else plain_scalar(node.value)
    if isinstance(node, Sequence):
        return [plain(item) for item in node.items]
    return {key_text(key): plain(value) for key, value in node.pairs}


# ---- written

MAX_DEPTH = 50  # Levels of nesting of a value; readers refuse more.

MAX_KEY = 500  # [characters] Readers of YAML refuse keys of more than 1024, and an escaped character has up to six (in flow style).

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
    return str(int(hertz)) if hertz.is_integer() and hertz < 1e15 else number_text(hertz)


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
        return number_text(thing)
    if isinstance(thing, str):
        return name(thing, lost, json_style)
    if isinstance(thing, AnyMapping):
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
