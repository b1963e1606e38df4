"""A name from a file is text: whatever it holds, it changes neither a terminal nor the structure of a file that is written."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bodymotion as bm
from bodymotion.cli.app import app
from bodymotion.formats.vrml import parse_vrml
from bodymotion.reports import report
from sample_files import tries

HARMFUL = (
    *(
        "\u202e",
        "\u2066",
        "\u061c",
        "\u200f",
        "\u2028",
        "\x1b[2J",
        "\x07",
        "\x00",
        "\r",
        "\n",
        "\x9b",
        "\ufeff",
        "\ud800",
    ),
    *(
        '"',
        "'",
        "`",
        "\\",
        "<",
        "&lt;",
        "</script><script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "</title>",
        "</style>",
    ),
    *(
        "]]>",
        "-->",
        "<!--",
        "<?xml?>",
        "{",
        "}",
        "[",
        "]",
        "#",
        ",",
        " ",
        "a",
        "ロボ",
        "DEF X Joint { }",
        "${x}",
        "%s",
        "file.stl",
    ),
)
NAMES = st.lists(st.sampled_from(HARMFUL), min_size=1, max_size=4).map("".join)
RAW = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
"""What a terminal or an editor interprets; a newline is checked by the structure."""


def robot(a: str, b: str) -> bm.Body:
    """Return a robot of two links, with these names wherever a name can be."""
    box = bm.shapes.Shape(
        bm.shapes.Box((1, 1, 1)), name=a, material=bm.shapes.Material(diffuse=(1, 0, 0))
    )
    segment = bm.Segment(
        name=b,
        mass=1,
        inertia=np.eye(3),
        visuals=(box,),
        collisions=(box,),
        extra={"note": a},
    )
    hip = bm.Joint(
        name=b,
        type="rotate",
        id=0,
        axis=[0, 0, 1],
        lower=-1,
        upper=1,
        extra={"kind": a},
    )
    links = (
        bm.Link(name=a, joint=bm.Joint(name=a, type="free"), segments=(segment,)),
        bm.Link(name=b, index=1, parent=0, joint=hip, segments=(segment,)),
    )
    devices = (
        bm.model.Gyro(name=a, link=1),
        bm.model.OtherDevice(type="Lamp", name=b, link=1, extra={"label": a}),
    )
    return bm.Body(
        name=a,
        links=links,
        devices=devices,
        info={"title": a, "info": b},
        extra={"by": b},
    )


def motion(a: str, b: str) -> bm.Motion:
    """Return a motion that labels its joint, and holds keys that no format has."""
    values = np.linspace(0, 0.5, 8)[:, None]
    root = np.tile([0.0, 0, 0.5, 1, 0, 0, 0], (8, 1))
    return replace(
        bm.Motion.from_joints(values, 50, root=root, joint_names=[b]), extra={"by": a}
    )


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, tuple[str, ...]]] = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, tuple(name for name, _ in attrs)))


def structure(path) -> object:
    """Return what a file consists of, without its texts."""
    data = path.read_bytes()
    match path.suffix:
        case ".urdf" | ".xml":
            # Names that the format cannot hold are kept in these two, as JSON.
            top = ElementTree.fromstring(data)
            for kept in (*top.findall("bodymotion"), *top.findall("custom")):
                top.remove(kept)
            return [element.tag for element in top.iter()]
        case ".wrl":
            return sorted(node.type for node in _nodes(parse_vrml(data, path).nodes))
        case ".html":
            tags = Tags()
            tags.feed(data.decode())
            return tags.found
    return [component.content for component in bm.load(path).components]


def _nodes(nodes):
    for node in nodes:
        yield node
        for value in node.fields.values():
            inner = value if isinstance(value, list) else [value]
            yield from _nodes(
                [
                    one
                    for one in inner
                    if hasattr(one, "fields") and hasattr(one, "type")
                ]
            )


def write(folder, ending: str, a: str, b: str):
    """Write the robot, or its motion, as such a file."""
    path = folder / f"out{ending}"
    if ending == ".report.html":
        report(robot(a, b), motion(a, b), output=path)
    elif ending == ".view.html":
        bm.view(robot(a, b), motion(a, b), output=path)
    elif ending == ".plot.html":
        bm.plot(robot(a, b), motion(a, b), what="joints", output=path)
    else:
        bm.save(motion(a, b) if ending in (".seq", ".json") else robot(a, b), path)
    return path


def quiet(function):
    return settings(
        max_examples=tries(4), deadline=None, suppress_health_check=list(HealthCheck)
    )(function)


@pytest.mark.parametrize(
    "ending",
    [
        ".wrl",
        ".urdf",
        ".xml",
        ".seq",
        ".json",
        ".view.html",
        ".report.html",
        ".plot.html",
    ],
)
@quiet
@given(a=NAMES, b=NAMES)
def test_no_name_changes_a_file(ending, tmp_path_factory, a, b):
    folder = tmp_path_factory.mktemp("names")
    path = write(folder, ending, "ALPHA", "BETA")
    plain, raw = structure(path), RAW.findall(path.read_text(encoding="utf-8"))
    if ending == ".report.html":
        # Names may have findings, of names that are not unique for instance.
        plain = {*plain, *structure(write(folder, ending, "", ""))}
        assert plain >= {*structure(write(folder, ending, a, b))}
    else:
        assert structure(write(folder, ending, a, b)) == plain
    if ending.endswith("html"):
        assert RAW.findall(path.read_text(encoding="utf-8")) == raw


@quiet
@given(a=NAMES, b=NAMES)
def test_no_name_reaches_an_svg(tmp_path_factory, a, b):
    path = tmp_path_factory.mktemp("names") / "out.svg"
    bm.plot(robot(a, b), motion(a, b), what="joints", output=path)
    tags = {
        element.tag.rpartition("}")[2]
        for element in ElementTree.fromstring(path.read_bytes()).iter()
    }
    assert not tags & {"script", "img", "foreignObject", "a"}
    assert not RAW.search(path.read_text(encoding="utf-8"))


@quiet
@given(a=NAMES, b=NAMES)
def test_no_name_reaches_the_terminal(tmp_path_factory, a, b):
    folder = tmp_path_factory.mktemp("names")
    model, moves = write(folder, ".urdf", a, b), write(folder, ".seq", a, b)
    model.write_text(
        model.read_text(encoding="utf-8").replace('type="revolute"', 'type="revolut"'),
        encoding="utf-8",
    )
    for arguments in (
        ["info", model, moves],
        ["info", "--json", model],
        ["check", "--body", model, moves, model],
        ["check", "--sarif", model, moves],
        ["measure", model, moves],
        ["convert", model, folder / "b.wrl"],
        ["diff", model, folder / "b.wrl"],
        ["plot", model, moves, "--joints", b or "x", "-o", folder / "a.svg"],
    ):
        result = CliRunner().invoke(app, list(map(str, arguments)), terminal_width=200)
        assert result.exception is None or isinstance(result.exception, SystemExit), (
            arguments,
            result.exception,
        )
        assert not RAW.search(result.stdout + result.stderr), arguments
        if arguments[1] in ("--json", "--sarif"):
            json.loads(result.stdout)
