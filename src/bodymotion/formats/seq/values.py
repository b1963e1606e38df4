"""Names and values in the text of a body motion.

Single ones, in both directions, and rows of numbers, read in bulk.

Names: those of keys, contents and types in the versions of the format (`KEYS`,
`CONTENTS`, `TYPES`).

Read: parsed as YAML or JSON, as numbers and plain values. A number of a body motion is
decimal: an optional sign, digits with or without a point, an optional exponent (`1e5`,
`.5`, `5.`, `+1`, `017`, which is 17), or `nan`, `inf`, `infinity` in any case, with or
without YAML's leading point and a sign. Its value is the nearest double. Other texts
that some readers accept (`0x10`, `1_000`, `1:30`, `"7"`, `1.5abc`) are not numbers
here, because readers disagree about them.

Written: numbers, truth values, texts, lists and mappings of them as text that YAML 1.1,
YAML 1.2 and JSON read alike.

Rows (`Layout`, `parse_rows`): a piece of them is turned into JSON (a comma for the
dash) and parsed by simdjson, which checks that it is valid and returns all numbers in
one flat buffer. That each row has its numbers, nested as they must be, follows from the
brackets, commas and dashes alone, which are the same for all rows. Number texts that
are not in JSON (`.5`, `+1`, `nan`) are read one by one by `number`. Where anything else
is irregular, the parser returns nothing, and `rows` reads the piece.
"""

import json
import math
import re
from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, field

import numpy as np

from bodymotion.diagnostics import Diagnostics, FormatError
from bodymotion.formats.seq import rules
from bodymotion.formats.seq.scan import lines
from bodymotion.formats.text import json_array, with_minus_zeros
from bodymotion.formats.text import number as number_text
from bodymotion.formats.yaml.json_text import parse_json
from bodymotion.formats.yaml.rules import NOT_YAML
from bodymotion.formats.yaml.tree import (
    Dialect,
    Document,
    Node,
    PiecedText,
    Scalar,
    Sequence,
    key_text,
    parse_yaml,
)
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats, Indices
from bodymotion.motion import JOINT_DISPLACEMENT, LINK_POSITION, ZMP

DIALECT = Dialect(rules.NOT_A_MOTION, rules.TAG, merges=False)

# Quantifiers without backtracking: a long text that is no number takes linear time.
_NUMBER = re.compile(
    r"[-+]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][-+]?[0-9]++)?"
    r"|[-+]?(?:\.?(?:nan|inf)|infinity)",
    re.IGNORECASE,
)
# Python refuses to read more digits than about 4300.
_INTEGER = re.compile(r"[-+]?[0-9]{1,4000}")
_CONSTANTS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}

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
"""The keys of the format, each with all its spellings.

The first is for messages and for the versions 1 to 3.
"""
OF_COMPONENTS = tuple(
    name for name in KEYS if name not in ("format_version", "components")
)  # The keys of a component.

# Versions 2 and 4 share most names.
_COMMON = {
    JOINT_DISPLACEMENT: JOINT_DISPLACEMENT,
    LINK_POSITION: LINK_POSITION,
    ZMP: ZMP,
}
CONTENTS = {
    1: {
        "JointPosition": JOINT_DISPLACEMENT,
        LINK_POSITION: LINK_POSITION,
        **dict.fromkeys((ZMP, "RelativeZMP", "RelativeZmp"), ZMP),
    },
    2: _COMMON,
    3: {
        "MultiJointDisplacementSeq": JOINT_DISPLACEMENT,
        "MultiLinkPositionSeq": LINK_POSITION,
        "ZMPSeq": ZMP,
    },
    4: {**_COMMON, "ZMPSeq": ZMP},
}
"""By version, what the names of contents mean.

Of several names of a content the first one is written.
"""

MULTI_VALUE = "MultiValueSeq"
MULTI_SE3 = "MultiSE3Seq"
VECTOR3 = "Vector3Seq"
TYPES = {
    name: name for name in (MULTI_VALUE, MULTI_SE3, VECTOR3)
}  # The types of components, by their names.
OLD_TYPES = {**TYPES, "MultiSe3Seq": MULTI_SE3, "MultiAffine3Seq": MULTI_SE3}
"""The same with the further names of version 1."""

SE3_SIZES = {"XYZQWQXQYQZ": 7, "XYZQXQYQZQW": 7, "XYZRPY": 6}
"""The orders of the numbers of a pose, and how many numbers each has."""

MAX_DEPTH = 50
"""Levels of nesting of a value; readers refuse more."""
MAX_DIGITS = 1000
"""Digits of a whole number; Python refuses to read some thousands."""
_TOO_LARGE = 10**MAX_DIGITS

MAX_KEY = 500
"""[characters] Readers of YAML refuse keys of more than 1024.

An escaped character has up to six (in flow style).
"""

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORDS = re.compile(
    r"y|n|yes|no|on|off|true|false|null|nan|inf|infinity", re.IGNORECASE
)
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")

_UNCLEAR_ROW_START = re.compile(rb"\x01[^\[]*(?:\t|\r(?!\n))")
"""Characters between a dash (here 1) and its row.

With these, YAML sees something else than a row.
"""
_BESIDES = bytes({*range(256)} - {*b"[],\1"})
_TIME_AS_POSE = re.compile(rb"(\[[^\[\],]*)\],\[")
_WORD = re.compile(rb"[^ \t\r\n,\[\]]+")


def key_name(name: str, version: int) -> str:
    """Return a key of `KEYS` in the spelling of a version."""
    if name == "se3_format":
        return "format" if version == 1 else "SE3Format"
    if version == 4:
        return name
    return KEYS[name][0]


def content_name(content: str, version: int, is_root_relative: bool = False) -> str:
    """Return a content in the spelling of a version.

    In version 1 a ZMP relative to the root has another name.
    """
    if version == 1 and content == ZMP and is_root_relative:
        return "RelativeZMP"
    return next(
        (name for name, meaning in CONTENTS[version].items() if meaning == content),
        content,
    )


def parse_text(text: PiecedText, found: Diagnostics) -> Document:
    """Parse a text as YAML, or, where it begins as JSON and is no YAML, as JSON.

    Raises
    ------
    FormatError
        YAML101 when it is neither or is nested too deep, SEQ003 when it is empty,
        YAML102 when aliases unfold to too much.
    """
    # Most files are YAML; JSON is a part of it, but for a few texts.
    data = text.data
    try:
        return parse_yaml(data, text, found, dialect=DIALECT)
    except FormatError as error:
        # Only a text in braces can be JSON.
        if not data.lstrip().startswith("{") or error.problem.rule != NOT_YAML.code:
            raise
        try:
            root = parse_json(data, text)
        except ValueError:
            raise error from None
        return Document(root, {})


def number(text: str) -> float | None:
    """Return the double nearest to an unquoted text.

    None where it is not a number.
    """
    # One pattern for all versions of a number: `float` alone would read `1_000`.
    if _NUMBER.fullmatch(text) is None:
        return None
    if text[-1] in "nfNF":  # Python's float rejects the point of .nan and .inf
        text = text.replace(".", "", 1)
    return float(text)


def plain_scalar(text: str) -> object:
    """Return the value of an unquoted text of an unknown key.

    None, bool, int, float or the text itself.
    """
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    value = number(text)
    return text if value is None else value


def plain(node: Node) -> object:
    """Return a node as plain values (dict, list, str, int, float, bool, None).

    For keys and types that the format does not define.
    """
    if isinstance(node, Scalar):
        if node.quoted:
            return node.value
        return plain_scalar(node.value)
    if isinstance(node, Sequence):
        return [plain(item) for item in node.items]
    return {key_text(key): plain(value) for key, value in node.pairs}


# ---- written


@dataclass
class Unwritable:
    """What cannot be written of values.

    Texts that are not Unicode, types that YAML does not have, numbers that are not
    finite.
    """

    texts: list[str] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    numbers: int = 0


def rate(hertz: float) -> str:
    """Return a frame rate, as a whole number where it is one."""
    # Up to here, all whole numbers are doubles.
    hertz = float(hertz)
    if hertz.is_integer() and hertz < 1e15:
        return str(int(hertz))
    return number_text(hertz)


def quoted(text: str, lost: Unwritable) -> str:
    """Return a text in double quotes, with escapes that YAML and JSON share."""
    # No encoding can hold half a character of UTF-16.
    if _SURROGATE.search(text):
        lost.texts.append(text)
        text = _SURROGATE.sub("\ufffd", text)
    # JSON's escapes are all valid in YAML's double quotes.
    in_quotes = json.dumps(text, ensure_ascii=False)
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", in_quotes)


def name(text: str, lost: Unwritable, json_style: bool = False) -> str:
    """Return a text plain where that is safe, else in quotes."""
    # A plain word such as `no` or `on` would be read as a truth value.
    if json_style or not _PLAIN.fullmatch(text) or _WORDS.fullmatch(text):
        return quoted(text, lost)
    return text


def key(text: str, lost: Unwritable, json_style: bool = False) -> str:
    """Return a key with its colon."""
    return name(text, lost, json_style) + ":"


def value(
    thing: object, lost: Unwritable, json_style: bool = False, depth: int = 0
) -> str:
    """Return any value in flow style.

    What YAML does not have becomes null and is added to `lost`.
    """
    # A list may contain itself.
    if depth > MAX_DEPTH:
        lost.values.append(f"values nested more than {MAX_DEPTH} deep")
        return "null"
    # Numbers and arrays of NumPy as Python's own.
    if isinstance(thing, np.generic):
        thing = thing.item()
    elif isinstance(thing, np.ndarray):
        thing = thing.tolist()
    if isinstance(thing, AnyMapping):
        pairs: list[str] = []
        for item_key, item in thing.items():
            start = key(_as_key(item_key, lost), lost, json_style)
            pairs.append(f"{start} {value(item, lost, json_style, depth + 1)}")
        return "{ " + ", ".join(pairs) + " }" if pairs else "{}"
    if isinstance(thing, (list, tuple)):
        items = [value(item, lost, json_style, depth + 1) for item in thing]
        return "[ " + ", ".join(items) + " ]" if items else "[]"
    return _scalar(thing, lost, json_style)


def _scalar(thing: object, lost: Unwritable, json_style: bool) -> str:
    """Return a single value as text."""
    match thing:
        case None:
            return "null"
        # bool is an int: it comes first.
        case bool():
            return str(thing).lower()
        case int() if abs(thing) < _TOO_LARGE:
            return str(thing)
        case int():
            lost.values.append(f"a whole number of more than {MAX_DIGITS} digits")
        case float():
            # nan and inf are written and reported: not all readers know them.
            lost.numbers += not math.isfinite(thing)
            return number_text(thing)
        case str():
            return name(thing, lost, json_style)
        case _:
            lost.values.append(f"a value of type {type(thing).__name__}")
    return "null"


def _as_key(thing: object, lost: Unwritable) -> str:
    if isinstance(thing, str):
        return thing
    lost.values.append(f"a key of type {type(thing).__name__} (it becomes a text)")
    return str(thing)


@dataclass(frozen=True)
class Layout:
    """A row: its time first where `stamped`, then `parts` numbers.

    With an `order`, `parts` nested poses of that order.
    """

    parts: int
    stamped: bool = False
    order: str | None = None

    @property
    def pose_size(self) -> int:
        """Numbers of a pose; 0 where there are no poses."""
        if self.order:
            return SE3_SIZES[self.order]
        return 0

    @property
    def width(self) -> int:
        """Numbers of a row in all."""
        return self.stamped + self.parts * (self.pose_size or 1)

    @property
    def pattern(self) -> bytes:
        """The brackets and commas of a row."""
        # A pose without its numbers: brackets, and a comma between each two.
        pose = b""
        if self.order:
            pose = b"[" + b"," * (self.pose_size - 1) + b"]"
        elements = [b""] * self.stamped + [pose] * self.parts
        return b"[" + b",".join(elements) + b"]"

    def unknown(self, rows: int) -> tuple[Floats, Floats | None]:
        """Return arrays of nan for values, and for times where rows have any."""
        shape: tuple[int, ...] = (rows, self.parts)
        if self.order:
            shape = (rows, self.parts, 7)
        times = np.full(rows, np.nan) if self.stamped else None
        # Poses are always seven numbers in memory, whatever their order in the file.
        return np.full(shape, np.nan), times

    def store(
        self,
        rows: Floats,
        values: Floats,
        times: Floats | None,
        frames: slice | Indices = slice(None),
    ) -> None:
        """Copy rows (N, width) as read into the values and times of some frames.

        Poses as x y z, w x y z.
        """
        # The time is the first number of a row.
        if times is not None:
            times[frames] = rows[:, 0]
            rows = rows[:, 1:]
        if self.order is None:
            values[frames] = rows
            return
        poses = rows.reshape(len(rows), self.parts, self.pose_size)
        if self.order == "XYZQWQXQYQZ":
            values[frames] = poses
        elif self.order == "XYZQXQYQZQW":
            # From x y z w to w x y z.
            values[frames] = poses[..., [0, 1, 2, 6, 3, 4, 5]]
        else:
            values[frames, :, :3] = poses[..., :3]
            # An infinite angle is no rotation: nan, which the reader reports.
            with np.errstate(invalid="ignore"):
                values[frames, :, 3:] = rotations.from_rpy(poses[..., 3:])


def parse_rows(text: bytes, indent: int | None, layout: Layout) -> Floats | None:
    """Return the numbers (N, width) of a piece of whole rows without comments.

    None where anything in it is irregular.

    The rows are lines of `indent` blanks and a dash, or (None) elements of a flow
    sequence.
    """
    # Each number takes two bytes at least, with what separates it.
    if not layout.width or 2 * layout.width > len(text):
        return None
    # Nested block lists: the same rows with dashes in place of brackets.
    if indent is not None and text.startswith(b"- - ", indent):
        text = _flow_of_block(text, indent, layout)
        indent = None
    # The rows become one array of JSON.
    json = bytearray(b"[%b]" % text)
    if indent is None:
        count = _count_flow_rows(json, layout.pattern)
    else:
        count = _join_lines(json, text, indent, layout.pattern)
    if not count:
        return None
    flat = _numbers(json, count * layout.width)
    if flat is None:
        return None
    # simdjson reads −0 as 0 where it is written as an integer.
    if not flat.all():
        flat = with_minus_zeros(flat, json)
    return flat.reshape(count, layout.width)


def _count_flow_rows(json: bytearray, row: bytes) -> int:
    """Return the number of rows in brackets.

    0 where anything else is in them.

    `row` are the brackets and commas of one.
    """
    # Only brackets and commas are left: they must repeat the pattern of a row.
    brackets = json.translate(None, _BESIDES)[1:-1]
    count = (len(brackets) + 1) // (len(row) + 1)
    if brackets != b",".join([row] * count):
        return 0
    return count


def _join_lines(json: bytearray, text: bytes, indent: int, row: bytes) -> int:
    """Put commas between rows in place of their dashes, and return their number.

    0 where anything else is in the lines. `json` is the text in brackets.
    """
    # Where rows begin, all at once.
    starts, is_row = lines(text, indent)
    dashes = starts[is_row] + indent + 1
    count = len(dashes)
    # The dashes are found again as a byte that no text has.
    codes = np.frombuffer(json, np.uint8)
    codes[dashes] = 1
    if (
        not count
        # Dash, row, dash, row: nothing else may have brackets or commas.
        or json.translate(None, _BESIDES) != b"[" + (b"\1" + row) * count + b"]"
    ):
        return 0
    if (b"\t" in text or b"\r" in text) and _UNCLEAR_ROW_START.search(json):
        return 0
    # The dash becomes the comma between two rows; before the first there is none.
    codes[dashes] = ord(",")
    codes[dashes[0]] = ord(" ")
    return count


def _numbers(json: bytearray, count: int) -> Floats | None:
    flat = json_array(json)
    if flat is not None:
        return flat if flat.size == count else None
    # Texts that are no numbers of JSON may be numbers all the same: with 0 in their
    # places the rest must be JSON.
    # Word by word, and only where JSON has refused the text.
    values = [number(text.decode("latin-1")) for text in _WORD.findall(json)]
    rest = json_array(_WORD.sub(b"0", json))
    if len(values) != count or None in values or rest is None or rest.size != count:
        return None
    return np.array(values, np.float64)


def _flow_of_block(text: bytes, indent: int, layout: Layout) -> bytes:
    """Return rows in nested block lists in flow style.

    YAML libraries write such lists by default. Other rows become what is no JSON.

    ::

        - - 0.1            [0.1            - - - 0.1          [[0.1
          - 0.2            ,0.2              - 0.2            ,0.2
        - - 0.3            ],[0.3          - - - 0.3          ]],[[0.3
          - 0.4            ,0.4]             - 0.4            ,0.4]]

    Each level is two columns further in.
    """

    # Lines by their level of nesting and number of dashes.
    def line(level: int, dashes: int) -> bytes:
        return b"\n" + b" " * (indent + 2 * level) + b"- " * dashes

    # Longest first: a line with more dashes contains one with fewer.
    steps = [(line(0, 2), b"],["), (line(1, 1), b",")]
    closing = b"]"
    if layout.order:
        steps = [
            (line(0, 3), b"]],[["),
            (line(0, 2), b"]],["),
            (line(1, 2), b"],["),
            (line(2, 1), b","),
        ]
        closing = b"]]"
    text = b"\n" + text
    for old, new in steps:
        text = text.replace(old, new)
    # The time of such a row comes out as a pose of one number: `[t],[`.
    if layout.order and layout.stamped:
        text = _TIME_AS_POSE.sub(rb"\1,[", text)
    # The first row begins with the brackets that close a row before it.
    return text.removeprefix(closing + b",") + closing
