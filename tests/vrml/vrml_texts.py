"""VRML97 texts with the values that they say, made up by hypothesis: each strategy gives pairs of text and value."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from bodymotion.formats.vrml import Node
from bodymotion.formats.vrml.fields import STANDARD_NODES, standard_fields

GAPS = st.sampled_from(
    [
        " ",
        "\n",
        "\t",
        "\r\n",
        "\r",
        ", ",
        " ,,\n",
        "  ",
        "# note\n",
        ' # " } ] { [ DEF\r',
        "#\n#1 2 3\r\n",
        "\n\t# 関節\n ",
    ]
)
LETTERS = st.characters(
    codec="utf-8",
    # What looks like a blank is read as one.
    exclude_characters=" \t\r\n,\f\v#\"[]{}'\\\x00\x1a\x85\u200b\u2060\ufeff",
    exclude_categories=["Cs", "Zs", "Zl", "Zp"],
)
WORDS = {"DEF", "USE", "NULL", "IS", "PROTO", "EXTERNPROTO", "ROUTE"}
NAMES = st.text(LETTERS, min_size=1, max_size=6).filter(lambda name: name not in WORDS)
WIDTHS = {"Vec2f": 2, "Vec3f": 3, "Color": 3, "Rotation": 4}
MULTIPLE = [
    "MFInt32",
    "MFFloat",
    "MFTime",
    "MFVec2f",
    "MFVec3f",
    "MFColor",
    "MFRotation",
    "MFString",
]


@st.composite
def doubles(draw):
    """Return a number in one of the spellings that mean the same double."""
    value = draw(
        st.floats(allow_nan=False, allow_infinity=False)
        | st.integers(-1000, 1000).map(float)
    )
    text = draw(st.sampled_from(["{!r}", "{:.17g}", "{:.20e}", "{:.16E}"])).format(
        value
    )
    if "e" not in text.lower() and "." in text:
        text = draw(st.sampled_from([text, text.rstrip("0"), text + "000"]))
        if text.lstrip("-").startswith("0.") and text.lstrip("-") != "0.":
            text = draw(
                st.sampled_from(
                    [text, text.replace("0.", ".", 1), text.replace("0.", "000.", 1)]
                )
            )
    if text[0] != "-":
        text = draw(st.sampled_from(["", "+"])) + text
    return text, value


@st.composite
def whole_numbers(draw):
    value = draw(st.integers(-(2**31), 2**31 - 1) | st.integers(-2, 20))
    forms = [str(value), hex(value), hex(value).upper().replace("X", "x")]
    return draw(
        st.sampled_from([*forms, "+" + str(value)] if value >= 0 else forms)
    ), value


@st.composite
def strings(draw):
    value = draw(
        st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=10)
    )
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"', value


@st.composite
def values(draw, field_type: str, depth: int):
    """Return a value of a field type."""
    kind, many = field_type[2:], field_type[:2] == "MF"
    if kind == "Node":
        return draw(node_lists(depth) if many else single_nodes(depth))
    if field_type == "SFBool":
        value = draw(st.booleans())
        return str(value).upper(), value
    if kind == "Image":
        width, height = draw(st.tuples(st.integers(0, 3), st.integers(0, 3)))
        pixels = draw(
            st.lists(
                st.integers(0, 2**32 - 1),
                min_size=width * height,
                max_size=width * height,
            )
        )
        numbers = [width, height, draw(st.integers(0, 4)), *pixels]
        return joined(
            draw, [draw(st.sampled_from([str(n), hex(n)])) for n in numbers]
        ), np.array(numbers, np.int64)
    one = (
        strings()
        if kind == "String"
        else whole_numbers()
        if kind == "Int32"
        else doubles()
    )
    width = WIDTHS.get(kind, 1)
    count = draw(st.integers(0, 4) | st.sampled_from([0, 1, 300])) if many else 1
    made = draw(
        st.lists(one, min_size=min(count * width, 8), max_size=min(count * width, 8))
    )
    made = (made * (count * width))[: count * width]
    text = joined(draw, [text for text, _ in made])
    if many and (count != 1 or draw(st.booleans())):
        text = f"[{draw(st.sampled_from(['', ' ']))}{text}{draw(GAPS)}]"
    found = [value for _, value in made]
    if kind == "String":
        return text, found if many else found[0]
    if not many and width == 1:
        return text, found[0]
    array = np.array(found, np.int32 if kind == "Int32" else np.float64)
    return text, array.reshape(-1, width) if many and width > 1 else array


def joined(draw, words: list[str]) -> str:
    """Put gaps between words; long lists have few different ones."""
    gaps = draw(st.lists(GAPS, min_size=1, max_size=4))
    return "".join(gaps[i % len(gaps)] * (i > 0) + word for i, word in enumerate(words))


@st.composite
def nodes(draw, depth: int = 3):
    """Return a node of the standard with some of its fields."""
    node_type = draw(st.sampled_from(sorted(STANDARD_NODES)))
    fields = [
        d
        for d in standard_fields(node_type).values()
        if d.access in ("field", "exposedField")
    ]
    chosen = (
        draw(st.lists(st.sampled_from(fields), unique_by=lambda d: d.name, max_size=4))
        if fields
        else []
    )
    name = draw(st.just("") | NAMES)
    words, given = [node_type, "{"], {}
    for declared in chosen:
        text, value = draw(values(declared.type, depth - 1))
        words += [declared.name, text]
        given[declared.name] = value
    if name:
        words[:0] = ["DEF", name]
    return joined(draw, [*words, "}"]), Node(node_type, name, given)


@st.composite
def single_nodes(draw, depth: int):
    return draw(nodes(depth)) if depth > 0 and draw(st.booleans()) else ("NULL", None)


@st.composite
def node_lists(draw, depth: int):
    made = draw(st.lists(nodes(depth), max_size=3)) if depth > 0 else []
    text = joined(draw, [text for text, _ in made])
    if len(made) != 1 or draw(st.booleans()):
        text = f"[{text}{draw(GAPS)}]"
    return text, [node for _, node in made]


def alike(a, b) -> bool:
    """Whether two values are the same to the bit."""
    if isinstance(a, Node):
        return (
            isinstance(b, Node)
            and (a.type, a.name, list(a.fields)) == (b.type, b.name, list(b.fields))
            and all(alike(a.fields[name], b.fields[name]) for name in a.fields)
        )
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and (a.dtype, a.shape, a.tobytes()) == (
            b.dtype,
            b.shape,
            b.tobytes(),
        )
    return type(a) is type(b) and repr(a) == repr(b)
