"""Motions written by hand into many styles of text, for tests of the reader."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from hypothesis import strategies as st

from bodymotion.formats.seq.document import whole_document
from bodymotion.formats.seq.reader import motion_of
from bodymotion.formats.seq.scan import ByteSource, UnusualError
from bodymotion.motion import Motion

CAMEL = {
    "rate": "frameRate",
    "frames": "numFrames",
    "parts": "numParts",
    "time": "hasFrameTime",
    "relative": "isRootRelative",
    "version": "formatVersion",
}
SNAKE = {
    "rate": "frame_rate",
    "frames": "num_frames",
    "parts": "num_parts",
    "time": "has_frame_time",
    "relative": "is_root_relative",
    "version": "format_version",
}
NAMES = {
    1: ("JointPosition", "LinkPosition", "ZMP"),
    2: ("JointDisplacement", "LinkPosition", "ZMP"),
    3: ("MultiJointDisplacementSeq", "MultiLinkPositionSeq", "ZMPSeq"),
    4: ("JointDisplacement", "LinkPosition", "ZMP"),
}


def by_yaml(data: bytes) -> Motion:
    """Read a text by a full YAML parse, whatever its shape."""
    return motion_of(
        whole_document(ByteSource(None, data, None), UnusualError("for the test"))
    ).require()


def header(text: str, version: int = 2, rate: str = "frameRate: 100") -> str:
    """A top node around components in block style."""
    top = "CompositeSeq" if version > 1 else "BodyMotion"
    return f"type: {top}\ncontent: BodyMotion\nformatVersion: {version}\n{rate}\ncomponents:\n{text}"


def joints(rows: str, parts: int | str = 2) -> str:
    """A motion of joints, its rows as the text given (indented by 6 for block style)."""
    return header(
        f"  -\n    type: MultiValueSeq\n    content: JointDisplacement\n    numParts: {parts}\n    frames:{rows}"
    )


json_numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**20), 10**20).map(str),
    st.sampled_from(
        [
            "0",
            "-0",
            "-0.0",
            "1e-05",
            "1E5",
            "6.9e-310",
            "4.9e-324",
            "1e400",
            "-1e400",
            "9007199254740993",
            "18446744073709551616",
            "0e-0",
            "1e-0",
        ]
    ),
    st.builds(
        "{}.{}e{}".format,
        st.integers(-999, 999),
        st.integers(0, 10**18),
        st.integers(-330, 310),
    ),
)
"""Texts of numbers as JSON has them."""

odd_numbers = st.one_of(
    st.sampled_from(
        [
            ".5",
            "5.",
            "+1",
            "-.5",
            "+.5e1",
            "017",
            "-017",
            "00",
            "1.e3",
            "nan",
            "NaN",
            "-nan",
            "inf",
            "-inf",
            "+inf",
            ".nan",
            ".NaN",
            ".inf",
            "-.inf",
            "+.Inf",
            "Infinity",
        ]
    ),
    st.builds(
        "+{}".format, st.floats(0, allow_nan=False, allow_infinity=False).map(repr)
    ),
    st.builds("{}.".format, st.integers(-(10**30), 10**30)),
)
"""Texts of numbers that JSON does not have."""


@dataclass
class Text:
    """A motion as text, and the numbers that are in it: for each component the texts of its rows, flat."""

    data: bytes
    rows: list[list[list[str]]]


@st.composite
def motions(draw: st.DrawFn, numbers: st.SearchStrategy[str] = json_numbers) -> Text:
    """A faultless motion in some style."""
    version = draw(st.sampled_from([1, 2, 3, 4]))
    stamped = version > 1 and draw(st.booleans())
    keys = draw(st.sampled_from([CAMEL, SNAKE]))
    inherited = draw(st.booleans())
    fields: list[tuple[dict[str, str], list[str], list[list[str]]]] = []
    for kind in draw(st.lists(st.sampled_from([0, 0, 1, 2]), min_size=1, max_size=3)):
        parts = 3 if kind == 2 else draw(st.integers(1, 4))
        order = draw(st.sampled_from(["XYZQWQXQYQZ", "XYZQXQYQZQW", "XYZRPY"]))
        size = {0: 1, 1: 6 if order == "XYZRPY" else 7, 2: 1}[kind]
        count = draw(st.integers(1, 5))
        rows, flat = [], []
        for k in range(count):
            texts = [draw(numbers) for _ in range(parts * size)]
            head = [f"{k * 0.25}"] if stamped else []
            flat.append(head + texts)
            poses = (
                [
                    "[" + ", ".join(texts[i * size : i * size + size]) + "]"
                    for i in range(parts)
                ]
                if kind == 1
                else texts
            )
            rows.append(", ".join(head + poses))
        values = {
            "type": ["MultiValueSeq", "MultiSE3Seq", "Vector3Seq"][kind],
            "content": NAMES[version][kind],
        }
        if kind < 2:
            values[keys["parts"]] = str(parts)
        if kind == 1:
            values["format" if version == 1 else "SE3Format"] = order
        if kind == 2 and version > 1:
            values[keys["relative"]] = draw(st.sampled_from(["true", "false"]))
        if not inherited:
            values[keys["rate"]] = "250"
            if stamped:
                values[keys["time"]] = "true"
        if draw(st.booleans()):
            values[keys["frames"]] = str(count)
        fields.append((values, rows, flat))
    top = {
        "type": "BodyMotion" if version == 1 else "CompositeSeq",
        "content": "BodyMotion",
        keys["version"]: str(version),
    }
    if inherited:
        top[keys["rate"]] = "250"
        if stamped:
            top[keys["time"]] = "true"
    components = [(values, rows) for values, rows, _ in fields]
    write = draw(st.sampled_from([_block, _block, _nested, _mixed, _flow]))
    text = write(draw, top, components)
    if draw(st.booleans()) and write is not _flow:
        text = text.replace("\n", "\r\n")
    return Text(text.encode(), [flat for _, _, flat in fields])


def _shuffled(draw: st.DrawFn, values: dict[str, str]) -> list[tuple[str, str]]:
    return draw(st.permutations(list(values.items())))


def _block(
    draw: st.DrawFn,
    top: dict[str, str],
    components: list[tuple[dict[str, str], list[str]]],
) -> str:
    """Block style, rows on lines or (a few) over several lines, with comments and blank lines."""
    note = draw(st.sampled_from(["", "", '  # a [comment], with: odd "things', " #"]))
    blank = draw(st.sampled_from(["", "", "\n", "# ふ [1, 2]\n", "   \n"]))
    pad = draw(st.sampled_from(["", " ", "  "]))
    outer = " " * draw(st.integers(0, 4))
    key = outer + "  "
    row = key + " " * draw(st.sampled_from([0, 0, 2, 7]))
    wrapped = draw(st.booleans())
    body = f"components:{note}\n"
    for values, rows in components:
        lines = [f"{name}: {value}{note}\n" for name, value in _shuffled(draw, values)]
        frames = f"frames:{note}\n{blank}"
        for text in rows:
            if wrapped and ", " in text:
                head, tail = text.split(", ", 1)
                frames += (
                    f"{row}- [{pad}{head},{note}\n{blank}{row}     {tail}{pad}]{note}\n"
                )
            else:
                frames += f"{row}- [{pad}{text}{pad}]{note}\n{blank}"
        lines.insert(draw(st.integers(0, len(lines))), frames)
        first, *rest = lines
        together = draw(st.booleans())
        body += f"{outer}- " + first if together else f"{outer}-{note}\n{key}" + first
        body += "".join(key + line for line in rest)
    lines = [f"{name}: {value}{note}\n" for name, value in _shuffled(draw, top)]
    at = draw(st.integers(0, len(lines)))
    return blank + "".join(lines[:at]) + body + "".join(lines[at:])


def _nested(
    draw: st.DrawFn,
    top: dict[str, str],
    components: list[tuple[dict[str, str], list[str]]],
) -> str:
    """Block style throughout, rows as nested lists, as PyYAML writes them."""
    note = draw(st.sampled_from(["", "", "  # - [comment], - -", " #"]))
    blank = draw(st.sampled_from(["", "", "\n", "# x\n", "   \n"]))
    gap = " " * draw(st.sampled_from([0, 0, 0, 2, 5]))
    body = "components:\n"
    for values, rows in components:
        lines = [f"{name}: {value}\n" for name, value in _shuffled(draw, values)]
        frames = "frames:\n"
        for row in rows:
            column, opening = 0, True
            for token in ["[", *re.findall(r"[][]|[^],[ ]+", row), "]"]:
                if token == "[":
                    frames += (
                        f"  {gap}{' ' * column}- "
                        if not opening or column == 0
                        else "- "
                    )
                    column, opening = column + 2, True
                elif token == "]":
                    column -= 2
                else:
                    frames += (
                        "- " if opening else f"  {gap}{' ' * column}- "
                    ) + f"{token}{note}\n{blank}"
                    opening = False
        lines.insert(draw(st.integers(0, len(lines))), frames)
        body += "- " + "  ".join(lines)
    return body + "".join(f"{name}: {value}\n" for name, value in _shuffled(draw, top))


def _mixed(
    draw: st.DrawFn,
    top: dict[str, str],
    components: list[tuple[dict[str, str], list[str]]],
) -> str:
    """Block style outside, flow style for components or for their frames."""
    glue = draw(st.sampled_from([",", ", ", ",\n      "]))
    body = "components:\n"
    for values, rows in components:
        frames = "[" + glue.join(f"[{text}]" for text in rows) + "]"
        pairs = [f"{name}: {value}" for name, value in _shuffled(draw, values)]
        pairs.insert(draw(st.integers(0, len(pairs))), f"frames: {frames}")
        inner = draw(st.booleans())
        body += (
            "  - {" + ", ".join(pairs) + "}\n"
            if inner
            else "  - " + "\n    ".join(pairs) + "\n"
        )
    lines = [f"{name}: {value}\n" for name, value in _shuffled(draw, top)]
    at = draw(st.integers(0, len(lines)))
    return "".join(lines[:at]) + body + "".join(lines[at:])


def _flow(
    draw: st.DrawFn,
    top: dict[str, str],
    components: list[tuple[dict[str, str], list[str]]],
) -> str:
    """JSON, on one line or indented."""
    gap, colon = draw(
        st.sampled_from([("", ":"), (" ", ": "), ("\n  ", " : "), ("\n", ":  ")])
    )

    def value(text: str) -> str:
        return text if text in ("true", "false") or text.isdigit() else json.dumps(text)

    found = []
    for values, rows in components:
        pairs = [
            f'"{name}"{colon}{value(text)}' for name, text in _shuffled(draw, values)
        ]
        frames = "[" + f",{gap}".join(f"[{text}]" for text in rows) + f"{gap}]"
        pairs.insert(draw(st.integers(0, len(pairs))), f'"frames"{colon}{frames}')
        found.append("{" + f",{gap}".join(pairs) + "}")
    pairs = [f'"{name}"{colon}{value(text)}' for name, text in _shuffled(draw, top)]
    pairs.insert(
        draw(st.integers(0, len(pairs))),
        f'"components"{colon}[' + f",{gap}".join(found) + "]",
    )
    return (
        "{"
        + gap
        + f",{gap}".join(pairs)
        + gap
        + "}"
        + draw(st.sampled_from(["", "\n"]))
    )
