"""Files made to harm: each case writes its files into a folder and names the one to read.

A model lies in `folder/model`; what lies beside that, such as `secret.wrl`, is not to be opened.
"""
# ruff: noqa: E501

from __future__ import annotations

import io
import json
import os
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import zstandard

from bodymotion.formats.registry import FORMATS
from sample_files import ACCEPT, tries
from tables.arrow_files import (
    BOMBS,
    deep_parquet,
    leaf,
    parquet_footer,
    table_bytes,
    zero_table,
)
from tables.test_mcap import log, state

__all__ = ["CASES"]

Maker = Callable[[Path], Path | str]
CASES: dict[str, Maker] = {}

SEQ = "type: CompositeSeq\ncontent: BodyMotion\nformatVersion: 2\nframeRate: 10\ncomponents:\n"
JOINTS = "  - type: MultiValueSeq\n    content: JointDisplacement\n    numParts: {}\n    frames:\n      - [ {} ]\n"
BODY = "format: ChoreonoidBody\nformatVersion: 1.0\nname: X\n"
LINK = "links:\n  - { name: A, jointType: fixed, mass: 1 }\n"
POSES = "type: PoseSeq\nname: A\n"
POSE = "  - {{ time: {}, refer: {{ type: Pose, joints: [ {} ], q: [ {} ] }} }}\n"
VRML = "#VRML V2.0 utf8\n"
ROBOT = (
    'PROTO Humanoid [ field MFNode humanoidBody [] field SFString name "" ] { Group { children IS humanoidBody } }\n'
    'PROTO Joint [ field MFNode children [] field SFString jointType "" field SFInt32 jointId -1 field SFVec3f translation 0 0 0 ]'
    " { Transform { children IS children translation IS translation } }\n"
    "PROTO Segment [ field MFNode children [] field SFFloat mass 1 ] { Group { children IS children } }\n"
)
MANY = 200_000
CHAIN = 4_000 if ACCEPT else 1_100
"""Links of a chain: more than Python lets functions call each other."""


def some(number: int) -> int:
    """Return how many of the same things are in a file: in short runs a fortieth."""
    return number if ACCEPT else number // 40


def case(name: str) -> Callable[[Maker], Maker]:
    def keep(maker: Maker) -> Maker:
        CASES[name] = maker
        return maker

    return keep


def one(name: str, file: str, content: str | bytes | Callable[[], str | bytes]) -> None:
    """Add a case of one file."""

    def maker(folder: Path) -> Path:
        data = content() if callable(content) else content
        path = folder / "model" / file
        path.write_bytes(
            data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
        )
        return path

    CASES[name] = maker


def robot(name: str, inside: str | Callable[[], str], before: str = "") -> None:
    """Add a case of an OpenHRP model whose segment shows something, the declarations of which stand before it."""

    def text() -> str:
        shown = inside() if callable(inside) else inside
        return (
            f'{VRML}{ROBOT}{before}DEF R Humanoid {{ humanoidBody [ DEF W Joint {{ jointType "free" children [ DEF S Segment {{'
            f" children [ {shown} ] }} ] }} ] }}\n"
        )

    one(name, "a.wrl", text)


def laughs(item: str, depth: int = 30) -> str:
    lines = [f"A0: &a0 [ {item} ]"]
    lines += [
        f"A{i}: &a{i} [ {', '.join([f'*a{i - 1}'] * 10)} ]" for i in range(1, depth)
    ]
    return "\n".join(lines) + "\n"


# YAML: .seq and .body ----------------------------------------------------------------------------------------------------------------
for kind, head, tail in (("seq", SEQ, JOINTS.format(1, 1)), ("body", BODY, LINK)):
    one(
        f"{kind}: aliases explode",
        f"a.{kind}",
        head.replace("components:\n", "")
        + laughs("1")
        + ("components:\n" if kind == "seq" else "")
        + tail,
    )
    one(
        f"{kind}: aliases explode where they are used",
        f"a.{kind}",
        laughs("1")
        + head.rstrip()
        + (" *a29\n" if kind == "seq" else "\nlinks: *a29\n"),
    )
    one(
        f"{kind}: an alias of itself",
        f"a.{kind}",
        head.replace("components:\n", "")
        + ("components: &c [ *c ]\n" if kind == "seq" else "links: &c [ *c ]\n"),
    )
    one(f"{kind}: merged keys explode", f"a.{kind}", head.replace("components:\n", "") + "M0: &m0 { a: 1, b: 2 }\n" + "".join(
        f"M{i}: &m{i} {{ <<: [ *m{i - 1}, *m{i - 1} ], k{i}: *m{i - 1} }}\n" for i in range(1, 40)) + ("components:\n" if kind == "seq" else "") + tail)  # fmt: skip
    for tag in (
        "!!python/object/apply:os.system [ 'touch pwned' ]",
        "!!python/name:os.system ''",
        "!!binary 'AAAA'",
        "!!set { a, b }",
    ):
        one(
            f"{kind}: tag {tag[:26]}",
            f"a.{kind}",
            head.replace("components:\n", f"x: {tag}\ncomponents:\n")
            + (tail if kind == "seq" else f"x: {tag}\n" + tail),
        )
    for sign in ("[", "{a: ", "- ", "? ", "!a ", "&a ", "|\n "):
        one(
            f"{kind}: deep {sign.strip()}",
            f"a.{kind}",
            lambda head=head, sign=sign: head + "x: " + sign * MANY,
        )
    one(
        f"{kind}: indented ever more",
        f"a.{kind}",
        lambda head=head: head + "".join(" " * i + "a:\n" for i in range(1500)),
    )
    one(
        f"{kind}: a megabyte of digits",
        f"a.{kind}",
        lambda head=head, tail=tail: head + tail.replace("1", "1" * 1_000_000),
    )
    one(f"{kind}: UTF-16", f"a.{kind}", (head + tail).encode("utf-16"))
    one(f"{kind}: a zero byte", f"a.{kind}", (head + "\0" + tail).encode())
    one(
        f"{kind}: half a letter at the end",
        f"a.{kind}",
        (head + tail).encode() + b"# \xe3\x81",
    )

one("pseq: aliases explode", "a.pseq", POSES + laughs("1") + "refs: *a29\n")
one("pseq: an alias of itself", "a.pseq", POSES + "refs: &c [ *c ]\n")
one("pseq: deep", "a.pseq", lambda: POSES + "refs: " + "[" * MANY)
one(
    "pseq: many poses",
    "a.pseq",
    lambda: POSES + "refs:\n" + POSE.format(0, 0, 0) * (25_000 if ACCEPT else 1_000),
)
one(
    "pseq: a million joints",
    "a.pseq",
    lambda: (
        POSES + "refs:\n" + POSE.format(0, "1, " * tries(MANY), "1, " * tries(MANY))
    ),
)
one(
    "pseq: far in time",
    "a.pseq",
    POSES + "refs:\n" + POSE.format(0, 0, 0) + POSE.format("1e300", 0, 1),
)
one(
    "pseq: large ids",
    "a.pseq",
    POSES + "refs:\n" + POSE.format(0, "1e18, 99999999999999999999999", "1, 2"),
)
one(
    "pseq: a megabyte of digits",
    "a.pseq",
    lambda: POSES + "refs:\n" + POSE.format("1" * 1_000_000, 0, 0),
)
one(
    "pseq: UTF-16",
    "a.pseq",
    (POSES + "refs:\n" + POSE.format(0, 0, 0)).encode("utf-16"),
)

BVH = "HIERARCHY\nROOT A\n{{\nOFFSET 0 0 0\nCHANNELS 3 Xrotation Yrotation Zrotation\n{}}}\nMOTION\nFrames: {}\nFrame Time: 1\n"
FOOT = "JOINT foot { OFFSET 0 1 0 CHANNELS 1 Xrotation "
one("bvh: deep", "a.bvh", lambda: "HIERARCHY ROOT A { " + FOOT * tries(20_000))
one(
    "bvh: a long chain",
    "a.bvh",
    lambda: BVH.format(FOOT * CHAIN + "}" * CHAIN, 1) + "1 " * (CHAIN + 3),
)
one(
    "bvh: a line of end points",
    "a.bvh",
    lambda: BVH.format("End Site { OFFSET 0 0 0 } " * some(100_000), 1) + "0 0 0\n",
)
one(
    "bvh: a line of braces", "a.bvh", lambda: "HIERARCHY ROOT A " + "{ } " * tries(MANY)
)
one(
    "bvh: joints without channels",
    "a.bvh",
    lambda: (
        BVH.format("JOINT foot { OFFSET 0 1 0 } " * CHAIN, 1) + "1 2 3\n" * some(MANY)
    ),
)
one("bvh: many frames", "a.bvh", BVH.format("", "1" * 4_000) + "0 0 0\n")
one("bvh: a row without end", "a.bvh", lambda: BVH.format("", 1) + "1 " * tries(MANY))
one(
    "bvh: rows that are no rows",
    "a.bvh",
    lambda: BVH.format("", 1) + "[1 {2} 3]\n" * tries(50_000),
)
one(
    "bvh: a megabyte of digits",
    "a.bvh",
    lambda: BVH.format("", 1) + "1" * 1_000_000 + " 0 0\n",
)
one(
    "bvh: many channels",
    "a.bvh",
    lambda: "HIERARCHY ROOT A { CHANNELS 99999 " + "Xrotation " * 99_999 + "}",
)

BONE = (
    "begin\nname b{0}\ndirection 0 1 0\nlength 1\naxis 0 0 0 XYZ\ndof rx ry rz\nend\n"
)
ACCLAIM = ":root\norder TX TY TZ RX RY RZ\n:bonedata\n{}:hierarchy\n{}"


def chain(count: int) -> str:
    """Return the tree of so many bones, each below the one before."""
    links = "".join(f"b{n} b{n + 1}\n" for n in range(count - 1))
    return ACCLAIM.format("".join(map(BONE.format, range(count))), f"root b0\n{links}")


LONG, SHORTER = chain(900 if ACCEPT else 450), chain(900 if ACCEPT else 150)


def acclaim(name: str, tree: str, frames: str) -> None:
    """Add a case of an .amc and its .asf."""

    @case(f"asf: {name}")
    def maker(folder: Path) -> Path:
        (folder / "model" / "a.asf").write_text(tree)
        path = folder / "model" / "a.amc"
        path.write_text(frames)
        return path


one(
    "asf: many bones",
    "a.asf",
    lambda: ACCLAIM.format("".join(map(BONE.format, range(50_000))), ""),
)
one("asf: a long chain", "a.asf", LONG)
one(
    "asf: a circle",
    "a.asf",
    ACCLAIM.format(BONE.format("a") + BONE.format("b"), "root ba\nba bb\nbb ba\n"),
)
one(
    "asf: a bone below itself a million times",
    "a.asf",
    lambda: ACCLAIM.format(BONE.format("a"), "ba ba\n" * some(MANY)),
)
acclaim("empty frames of many bones", SHORTER, ":DEGREES\n" + "1\n" * some(MANY))
acclaim("lines that are no bones", SHORTER, ":DEGREES\n1\n" + "x 1 2 3\n" * tries(MANY))
acclaim("a line without end", SHORTER, ":DEGREES\n1\nroot " + "1 " * tries(MANY))
acclaim(
    "a megabyte of digits",
    SHORTER,
    ":DEGREES\n" + "1" * 1_000_000 + "\nroot " + "1" * 1_000_000 + " 0 0 0 0 0\n",
)

PICKLE = b"\x80\x02}q\x00"
one("pickle: a call", "a.pkl", PICKLE + b"cposix\nsystem\nX\x0b\0\0\0touch pwned\x85R.")
one(
    "pickle: a text used again and again",
    "a.pkl",
    lambda: (
        PICKLE
        + b"X\0\0\x10\0"
        + b"a" * (1 << 20)
        + b"q\x01c_codecs\nencode\nq\x02"
        + b"h\x02h\x01\x85R" * tries(MANY)
        + b"."
    ),
)
one(
    "pickle: deep",
    "a.pkl",
    lambda: PICKLE + b"(" * tries(MANY) + b"l" * tries(MANY) + b".",
)
one(
    "pickle: deep tuples as keys",
    "a.pkl",
    lambda: PICKLE + b")" + b"\x85" * tries(MANY) + b"K\x01s.",
)
one(
    "pickle: marks without end",
    "a.pkl",
    lambda: PICKLE + b"(" * (4 * tries(MANY)) + b".",
)
one("pickle: a place far away in the memo", "a.pkl", PICKLE + b"r\xff\xff\xff\xff.")
one("pickle: a megabyte of digits", "a.pkl", PICKLE + b"L" + b"1" * 1_000_000 + b"L\n.")
one(
    "pickle: many numbers",
    "a.pkl",
    lambda: PICKLE + b"X\x03\0\0\0fps](" + b"K\x01" * (5 * tries(MANY)) + b"es.",
)

MCAP = b"\x89MCAP0\r\n"


def mcap_chunk(data: bytes, size: int = 1 << 30) -> bytes:
    """Return a log with one chunk of zstd that states a size."""
    content = struct.pack("<QQQII4sQ", 0, 0, size, 0, 4, b"zstd", len(data)) + data
    return MCAP + b"\x06" + struct.pack("<Q", len(content)) + content


def ring(parent: str, child: str) -> dict[str, object]:
    """Return a frame below another one."""
    return {
        "parent_frame_id": parent,
        "child_frame_id": child,
        "translation": {"x": 1},
        "rotation": {"w": 1},
    }


one(
    "mcap: a record without end",
    "a.mcap",
    MCAP + b"\x05" + b"\xff" * 7 + b"\x0f" + bytes(1000),
)
one(
    "mcap: a chunk that grows",
    "a.mcap",
    lambda: mcap_chunk(zstandard.compress(bytes(1 << 30))),
)
one(
    "mcap: a chunk that grows and is larger than it states",
    "a.mcap",
    lambda: mcap_chunk(zstandard.compress(bytes(1 << 30)), 99),
)
one("mcap: deep messages", "a.mcap", lambda: log(("/a", b"[" * tries(MANY))))
one(
    "mcap: frames in a ring",
    "a.mcap",
    lambda: log(("/tf", {"transforms": [ring("a", "b"), ring("b", "a")]})),
)
one(
    "mcap: a chain of frames",
    "a.mcap",
    lambda: log(
        ("/tf", {"transforms": [ring(str(k), str(k + 1)) for k in range(CHAIN)]})
    ),
)
one(
    "mcap: other joints in each message",
    "a.mcap",
    lambda: log(*[state(f"j{k}") for k in range(tries(20_000))]),
)

for count in ("1000000000000", "99999999999999999999999", "-1", "1e9", ".inf"):
    one(f"seq: {count} parts", "a.seq", SEQ + JOINTS.format(count, 1))
    one(
        f"seq: {count} frames",
        "a.seq",
        SEQ.replace("components", f"numFrames: {count}\ncomponents")
        + JOINTS.format(1, 1),
    )
one(
    "seq: rows without end", "a.seq", lambda: SEQ + JOINTS.format(1, "1, " * some(MANY))
)
one(
    "seq: rows of nothing",
    "a.seq",
    lambda: SEQ + JOINTS.format(0, "") + "      - [ ]\n" * some(50_000),
)
one(
    "seq: parts without rows",
    "a.seq",
    SEQ
    + "  - { type: MultiSE3Seq, content: LinkPosition, numParts: 2000000000, SE3Format: XYZRPY, frames: [] }\n",
)
one("seq: nan and inf", "a.seq", SEQ + JOINTS.format(3, ".nan, .inf, -.inf"))
one(
    "seq: frames at 1e-300 Hz",
    "a.seq",
    SEQ.replace("10", "1e-300") + JOINTS.format(1, 1),
)
one(
    "seq: a million components",
    "a.seq",
    lambda: SEQ + "  - {}\n" * (20_000 if ACCEPT else 5_000),
)
one(
    "json: deep",
    "a.json",
    lambda: '{"type": "CompositeSeq", "components": ' + '[{"a":' * tries(MANY),
)
one(
    "json: a megabyte of digits",
    "a.json",
    lambda: (
        '{"type": "CompositeSeq", "formatVersion": '
        + "1" * 1_000_000
        + ', "components": []}'
    ),
)
one(
    "body: a thousand tracks of a million",
    "a.body",
    BODY
    + "links:\n"
    + "".join(
        f"  - {{ type: ContinuousTrack, name: T{i}, parent: A, numJoints: 1000000 }}\n"
        for i in range(5)
    ),
)
one(
    "body: shapes double at every level",
    "a.body",
    BODY
    + "S0: &s0 { type: Shape, geometry: { type: Box, size: [ 1, 1, 1 ] } }\n"
    + "".join(
        f"S{i}: &s{i} {{ type: Group, elements: [ *s{i - 1}, *s{i - 1} ] }}\n"
        for i in range(1, 40)
    )
    + "links:\n  - { name: A, jointType: fixed, mass: 1, elements: [ *s39 ] }\n",
)
one(
    "body: shapes double fifteen times",
    "a.body",
    BODY
    + "S0: &s0 { type: Shape, geometry: { type: Box, size: [ 1, 1, 1 ] } }\n"
    + "".join(
        f"S{i}: &s{i} {{ type: Group, elements: [ *s{i - 1}, *s{i - 1} ] }}\n"
        for i in range(1, 16)
    )
    + "links:\n  - { name: A, jointType: fixed, mass: 1, elements: [ *s15 ] }\n",
)
one(
    "body: a body of itself",
    "a.body",
    BODY + LINK + "  - { type: SubBody, uri: a.body, parent: A, prefix: X }\n",
)
for uri in (
    "../secret.wrl",
    "/etc/passwd",
    "file:///etc/passwd",
    "http://127.0.0.1:9/a.wrl",
    "pipe.wrl",
    "zero.wrl",
    "link.wrl",
):
    one(
        f"body: the part {uri}",
        "a.body",
        BODY
        + f"links:\n  - {{ name: A, jointType: fixed, mass: 1, elements: [ {{ type: Resource, uri: '{uri}' }} ] }}\n",
    )

# VRML --------------------------------------------------------------------------------------------------------------------------------
robot(
    "wrl: a PROTO of itself", "P { }", "PROTO P [ ] { Group { children [ P { } ] } }\n"
)
robot(
    "wrl: PROTOs of each other",
    "P { }",
    'EXTERNPROTO Q [ ] "a.wrl#Q"\nPROTO P [ ] { Group { children [ Q { } ] } }\nPROTO Q [ ] { Group { children [ P { } ] } }\n',
)
robot("wrl: PROTOs fan out", "P39 { }", "PROTO P0 [ ] { Shape { geometry Box { } } }\n" + "".join(
    f"PROTO P{i} [ ] {{ Group {{ children [ P{i - 1} {{ }} P{i - 1} {{ }} ] }} }}\n" for i in range(1, 40)))  # fmt: skip
robot("wrl: arguments fan out", "P39 { a Shape { geometry Box { } } }", "PROTO P0 [ field SFNode a NULL ] { Group { children IS a } }\n" + "".join(
    f"PROTO P{i} [ field SFNode a NULL ] {{ Group {{ children [ P{i - 1} {{ a IS a }} P{i - 1} {{ a IS a }} ] }} }}\n" for i in range(1, 40)))  # fmt: skip
robot(
    "wrl: USE of what it is in",
    "DEF A Group { children [ USE A Group { children USE A } ] }",
)
robot(
    "wrl: USE doubles at every level",
    lambda: (
        "DEF G0 Shape { geometry Box { } } "
        + " ".join(
            f"DEF G{i} Group {{ children [ USE G{i - 1} USE G{i - 1} ] }}"
            for i in range(1, 40)
        )
    ),
)
robot(
    "wrl: joints double at every level",
    lambda: (
        "DEF J0 Joint { } "
        + " ".join(
            f"DEF J{i} Joint {{ children [ USE J{i - 1} USE J{i - 1} ] }}"
            for i in range(1, 40)
        )
    ),
)
robot("wrl: nested groups", lambda: "Group { children [ " * 100_000)
robot(
    "wrl: nested groups that end", lambda: "Group { children [ " * 3000 + "] } " * 3000
)
robot("wrl: a million groups", lambda: "Group { } " * tries(100_000))
robot(
    "wrl: a string of escaped quotes without end",
    lambda: 'WorldInfo { title "' + 'a\\"' * 300_000,
)
one(
    "wrl: nested joints",
    "a.wrl",
    lambda: (
        VRML
        + ROBOT
        + "Humanoid { humanoidBody [ "
        + "Joint { children [ " * 5000
        + "] } " * 5000
        + "] }"
    ),
)
for url in ("a.wrl", "../secret.wrl", "/etc/passwd", "file:///etc/passwd", "http://127.0.0.1:9/a.wrl", "//127.0.0.1/share/a.wrl", "pipe.wrl",
            "zero.wrl", "link.wrl", "up/secret.wrl", "part.wrl\\u0000", "x" * 5000, "javascript:1", "data:,1"):  # fmt: skip
    robot(
        f"wrl: Inline of {url[:30]}",
        f'Inline {{ url "{url}" }} Shape {{ appearance Appearance {{ texture ImageTexture {{ url "{url}" }} }} geometry Box {{ }} }}',
    )
robot(
    "wrl: an EXTERNPROTO in the net",
    "P { }",
    'EXTERNPROTO P [ ] [ "http://127.0.0.1:9/a.wrl#P" "urn:x" ]\n',
)
SHAPE = "Shape {{ geometry IndexedFaceSet {{ coord Coordinate {{ point [ {} ] }} coordIndex [ {} ] }} }}"
robot(
    "wrl: corners that are not there",
    SHAPE.format("0 0 0, 1 0 0", "0 1 2 -1 0 1 2147483647 -1 0 -5 1 -1"),
)
robot("wrl: indices without points", lambda: SHAPE.format("", "0 1 2 -1 " * 50_000))
robot(
    "wrl: one face of many corners",
    lambda: SHAPE.format(
        "0 0 0, 1 0 0, 0 1 0", " ".join(f"{i % 3}" for i in range(20_000))
    ),
)
robot(
    "wrl: points of nan",
    SHAPE.format("nan 0 0, inf 0 0, 1e999 0 0, 0 0 0", "0 1 2 3 -1"),
)
robot(
    "wrl: a megabyte of digits",
    lambda: SHAPE.format("1" * 1_000_000 + " 0 0", "0 0 0 -1"),
)
robot(
    "wrl: a grid without heights",
    "Shape { geometry ElevationGrid { xDimension 100000 zDimension 100000 height [ 0 ] } }",
)
robot(
    "wrl: a grid of negative size",
    "Shape { geometry ElevationGrid { xDimension -5 zDimension 2147483647 } }",
)
robot(
    "wrl: an extrusion of many sides",
    lambda: (
        "Shape { geometry Extrusion { crossSection [ "
        + "0 1 1 0 " * 2000
        + "] spine [ "
        + " ".join(f"0 {i} 0" for i in range(4000))
        + " ] } }"
    ),
)
robot(
    "wrl: a picture without pixels",
    "Shape { appearance Appearance { texture PixelTexture { image 1000000 1000000 4 0 } } geometry Box { } }",
)
robot(
    "wrl: a text without end",
    lambda: 'Group { } WorldInfo { info [ "' + "\\a" * tries(MANY),
)
robot(
    "wrl: sizes beyond numbers",
    "Transform { scale 1e308 1e308 1e308 children Shape { geometry Box { size 1e308 1e308 1e308 } } }",
)
one("wrl: UTF-16", "a.wrl", (VRML + "Shape { }").encode("utf-16"))
one("wrl: zero bytes", "a.wrl", VRML.encode() + bytes(MANY))
one("wrl: compressed", "a.wrl", b"\x1f\x8b\x08" + bytes(100))


@case("wrl: parts that double")
def _(folder: Path) -> Path:
    for i in range(25):
        (folder / f"model/p{i}.wrl").write_text(
            VRML + f'Inline {{ url "p{i + 1}.wrl" }} Inline {{ url "p{i + 1}.wrl" }}'
        )
    (folder / "model/p25.wrl").write_text(VRML + "Shape { geometry Box { } }")
    return _with(folder, 'Inline { url "p0.wrl" }')


@case("wrl: many files that inline each other")
def _(folder: Path) -> Path:
    count = 301 if ACCEPT else 75
    for number in range(count):
        others = (other for other in range(count) if other != number)
        rows = "".join(f'Inline {{ url "p{other}.wrl" }}\n' for other in others)
        (folder / f"model/p{number}.wrl").write_text(VRML + rows)
    return _with(folder, 'Inline { url "p0.wrl" }')


@case("wrl: parts of each other")
def _(folder: Path) -> Path:
    (folder / "model/p.wrl").write_text(
        VRML
        + 'Group { children [ Inline { url "q.wrl" } Shape { geometry Box { } } ] }'
    )
    (folder / "model/q.wrl").write_text(
        VRML + 'Inline { url "p.wrl" } Inline { url "a.wrl" }'
    )
    return _with(folder, 'Inline { url "p.wrl" }')


def _with(folder: Path, shown: str) -> Path:
    path = folder / "model/a.wrl"
    path.write_text(
        f'{VRML}{ROBOT}Humanoid {{ humanoidBody [ Joint {{ jointType "free" children [ Segment {{ children [ {shown} ] }} ] }} ] }}'
    )
    return path


def bomb(width: int = 60_000, height: int = 60_000) -> bytes:
    """Return a PNG of a few kilobytes that says it has billions of pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data))
            + kind
            + data
            + struct.pack(">I", zlib.crc32(kind + data))
        )

    rows = zlib.compress(bytes((width // 8 + 1) * 100))
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0))
        + chunk(b"IDAT", rows)
        + chunk(b"IEND", b"")
    )


@case("wrl: a texture of billions of pixels")
def _(folder: Path) -> Path:
    (folder / "model/bomb.png").write_bytes(bomb())
    return _with(
        folder,
        'Shape { appearance Appearance { texture ImageTexture { url "bomb.png" } } geometry Box { } }',
    )


# XML ---------------------------------------------------------------------------------------------------------------------------------
ENTITIES = (
    "<!DOCTYPE x [ <!ENTITY a0 'ha'>"
    + "".join(f"<!ENTITY a{i} '{f'&a{i - 1};' * 10}'>" for i in range(1, 30))
    + " ]>"
)
URDF = '<robot name="r"><link name="a">{}</link>{}</robot>'
MESH = '<visual><geometry><mesh filename="{}"/></geometry></visual>'
MJCF = "<mujoco>{}<worldbody><body>{}</body></worldbody></mujoco>"
for kind, whole in (
    ("urdf", URDF.format("&a29;", "")),
    ("xml", MJCF.format("", "&a29;")),
):
    one(f"{kind}: entities explode", f"a.{kind}", ENTITIES + whole)
    one(
        f"{kind}: an entity of a file",
        f"a.{kind}",
        "<!DOCTYPE x [ <!ENTITY a29 SYSTEM 'file:///etc/passwd'> ]>" + whole,
    )
    one(
        f"{kind}: an entity in the net",
        f"a.{kind}",
        "<!DOCTYPE x SYSTEM 'http://127.0.0.1:9/x.dtd' [ <!ENTITY % a SYSTEM 'http://127.0.0.1:9/y'> %a; ]>"
        + whole.replace("&a29;", ""),
    )
    one(
        f"{kind}: deep",
        f"a.{kind}",
        lambda whole=whole: whole.split("&a29;")[0] + "<a>" * MANY,
    )
    one(
        f"{kind}: many attributes",
        f"a.{kind}",
        lambda whole=whole: whole.replace(
            "&a29;", "<a " + " ".join(f"b{i}=''" for i in range(30_000)) + "/>"
        ),
    )
    one(
        f"{kind}: many elements",
        f"a.{kind}",
        lambda whole=whole: whole.replace("&a29;", "<a/>" * some(MANY)),
    )
    one(
        f"{kind}: UTF-7",
        f"a.{kind}",
        "<?xml version='1.0' encoding='utf-7'?>" + whole.replace("&a29;", ""),
    )
    one(f"{kind}: zero bytes", f"a.{kind}", whole.replace("&a29;", "\0"))
for url in (
    "../secret.obj",
    "/etc/passwd",
    "file:///etc/passwd",
    "http://127.0.0.1:9/a.stl",
    "package://../../secret.obj",
    "pipe.stl",
    "zero.stl",
    "link.stl",
    "model://x",
):
    one(f"urdf: the mesh {url}", "a.urdf", URDF.format(MESH.format(url), ""))
    one(
        f"xml: the mesh {url}",
        "a.xml",
        MJCF.format(
            f'<asset><mesh name="m" file="{url}"/></asset>',
            '<geom type="mesh" mesh="m"/>',
        ),
    )
JOINT = '<joint name="{0}" type="fixed"><parent link="{1}"/><child link="{2}"/></joint>'
one(
    "urdf: a circle of links",
    "a.urdf",
    URDF.format(
        "",
        '<link name="b"/>' + JOINT.format("j", "a", "b") + JOINT.format("k", "b", "a"),
    ),
)
one(
    "urdf: a chain of links",
    "a.urdf",
    lambda: URDF.format(
        "",
        "".join(
            f'<link name="l{i}"/>'
            + JOINT.format(f"j{i}", f"l{i - 1}" if i else "a", f"l{i}")
            for i in range(tries(10_000))
        ),
    ),
)
one(
    "urdf: more links than are read",
    "a.urdf",
    lambda: (
        "<robot name='r'>"
        + "".join(f"<link name='l{i}'/>" for i in range(40_000 if ACCEPT else 10_001))
        + "</robot>"
    ),
)
one(
    "xml: more geoms than are read",
    "a.xml",
    lambda: (
        "<mujoco><worldbody><body>"
        + "<geom size='1'/>" * 20_001
        + "</body></worldbody></mujoco>"
    ),
)
one(
    "seq: many quaternions to mend on one line",
    "a.seq",
    lambda: (
        SEQ
        + "  - { type: MultiSE3Seq, content: LinkPosition, numParts: 1, SE3Format: XYZQWQXQYQZ, frames: [ "
        + "[ [ 0, 0, 0, 1.002, 0, 0, 0 ] ], " * 4000
        + "[ [ 0, 0, 0, 1, 0, 0, 0 ] ] ] }\n"
    ),
)
one(
    "urdf: a megabyte of digits",
    "a.urdf",
    lambda: URDF.format(f'<inertial><mass value="{"1" * 1_000_000}x"/></inertial>', ""),
)
one(
    "urdf: sizes beyond numbers",
    "a.urdf",
    URDF.format(
        '<visual><geometry><sphere radius="1e308"/></geometry></visual><visual><geometry><box size="nan inf 1e999"/></geometry></visual>',
        "",
    ),
)
one(
    "xml: it includes itself",
    "a.xml",
    '<mujoco><include file="a.xml"/><worldbody><body/></worldbody></mujoco>',
)
one(
    "xml: it includes a secret",
    "a.xml",
    '<mujoco><include file="../secret.xml"/><include file="/etc/passwd"/><worldbody><body/></worldbody></mujoco>',
)
one(
    "xml: a billion copies",
    "a.xml",
    MJCF.format(
        "",
        '<replicate count="1000000000"><replicate count="1000000000"><geom size="1"/><body/></replicate></replicate>',
    ),
)
one(
    "xml: a composite of billions",
    "a.xml",
    MJCF.format(
        "",
        '<composite type="grid" count="100000 100000 1" spacing="1"/><flexcomp count="100000 100000 1"/>',
    ),
)
one(
    "xml: a field of heights",
    "a.xml",
    MJCF.format(
        '<asset><hfield name="h" nrow="100000" ncol="100000" size="1 1 1 1"/></asset>',
        '<geom type="hfield" hfield="h"/>',
    ),
)
one(
    "xml: a texture of its own",
    "a.xml",
    MJCF.format(
        '<asset><texture name="t" type="2d" builtin="checker" width="1000000" height="1000000"/><material name="m" texture="t"/></asset>',
        '<geom size="1" material="m"/>',
    ),
)
one(
    "xml: corners that are not there",
    "a.xml",
    MJCF.format(
        '<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 1 9999999 -1 2 3"/></asset>',
        '<geom type="mesh" mesh="m"/>',
    ),
)
one(
    "xml: classes in classes",
    "a.xml",
    lambda: MJCF.format(
        "<default>" + "<default class='a'>" * 5000 + "</default>" * 5001, ""
    ),
)


@case("xml: it includes twice as much each time")
def _(folder: Path) -> Path:
    for i in range(25):
        again = f'<include file="p{i + 1}.xml"/>' * 2
        (folder / f"model/p{i}.xml").write_text(
            f"<mujocoinclude>{again}</mujocoinclude>"
        )
    (folder / "model/p25.xml").write_text(
        "<mujocoinclude><geom size='1'/></mujocoinclude>"
    )
    path = folder / "model/a.xml"
    path.write_text(MJCF.format("", '<include file="p0.xml"/>'))
    return path


for suffix, root, inner in (
    ("urdf", "robot name='a'", "link"),
    ("xml", "mujoco", "body"),
    ("dae", "COLLADA", "node"),
):
    one(
        f"{suffix}: defaults of attributes explode",
        f"a.{suffix}",
        lambda root=root, inner=inner: (
            f"<!DOCTYPE a [<!ATTLIST {inner} x CDATA '{'a' * some(500_000)}'>]>"
            f"<{root}>{f'<{inner}/>' * some(20_000)}</{root.split()[0]}>"
        ),
    )


# Meshes ------------------------------------------------------------------------------------------------------------------------------
def mesh(
    name: str, file: str, content: str | bytes | Callable[[], str | bytes]
) -> None:
    """Add a case of a mesh that a URDF shows."""

    def maker(folder: Path) -> Path:
        data = content() if callable(content) else content
        (folder / "model" / file).write_bytes(
            data.encode() if isinstance(data, str) else data
        )
        path = folder / "model/a.urdf"
        path.write_text(URDF.format(MESH.format(file), ""))
        return path

    CASES[name] = maker


mesh(
    "obj: corners that are not there",
    "m.obj",
    "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 99999999\nf -9 -8 -7\nf 0 1 2\nf 1/9/9 2/9/9 3/9/9\n",
)
mesh(
    "obj: a face of many corners",
    "m.obj",
    lambda: "v 0 0 0\nv 1 0 0\nv 0 1 0\nf " + "1 2 3 " * tries(100_000),
)
mesh(
    "obj: a library elsewhere",
    "m.obj",
    "mtllib ../secret.mtl\nmtllib /etc/passwd\nmtllib http://127.0.0.1:9/a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl a\nf 1 2 3\n",
)
mesh("obj: lines that go on", "m.obj", lambda: "v 0 0 0 \\\n" * MANY)
mesh("obj: a megabyte of digits", "m.obj", lambda: "v " + "1" * 1_000_000 + "x 0 0\n")
mesh(
    "stl: four billion triangles",
    "m.stl",
    bytes(80) + struct.pack("<I", 0xFFFFFFFF) + bytes(500),
)
mesh(
    "stl: text without end",
    "m.stl",
    lambda: "solid a\n" + "facet normal 0 0 1\nouter loop\n" * 20_000,
)
mesh(
    "stl: nan",
    "m.stl",
    bytes(80) + struct.pack("<I", 1) + struct.pack("<12fH", *[float("nan")] * 12, 0),
)
PLY = "ply\nformat {} 1.0\nelement vertex {}\nproperty float x\nproperty float y\nproperty float z\nelement face {}\nproperty list uchar int vertex_indices\nend_header\n"
for style in ("ascii", "binary_little_endian"):
    mesh(
        f"ply: a trillion corners, {style}",
        "m.ply",
        PLY.format(style, 10**12, 10**12) + "0 0 0\n",
    )
    mesh(f"ply: corners that are not there, {style}", "m.ply", PLY.format(style, 1, 1).encode() + (b"0 0 0\n3 0 1 99999999\n" if style == "ascii" else bytes(12) + b"\3" + struct.pack("<3i", 0, 1, 10**9)))  # fmt: skip


def gltf(**changes: object) -> str:
    whole = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}], "buffers": [{"byteLength": 36, "uri": "data:application/octet-stream;base64," + "A" * 48}],
    }  # fmt: skip
    return json.dumps({**whole, **changes})


mesh(
    "gltf: a buffer elsewhere",
    "m.gltf",
    gltf(buffers=[{"byteLength": 36, "uri": "../secret.bin"}]),
)
mesh(
    "gltf: a buffer in the net",
    "m.gltf",
    gltf(buffers=[{"byteLength": 36, "uri": "http://127.0.0.1:9/a.bin"}]),
)
mesh(
    "gltf: a trillion corners",
    "m.gltf",
    gltf(
        accessors=[
            {"bufferView": 0, "componentType": 5126, "count": 10**12, "type": "VEC3"}
        ]
    ),
)
mesh(
    "gltf: corners out of nothing",
    "m.gltf",
    gltf(accessors=[{"componentType": 5126, "count": 10**9, "type": "VEC3"}]),
)
mesh(
    "gltf: nodes in a circle",
    "m.gltf",
    gltf(nodes=[{"mesh": 0, "children": [1]}, {"children": [0]}]),
)
mesh(
    "gltf: nodes that double",
    "m.gltf",
    gltf(nodes=[{"children": [i + 1, i + 1]} for i in range(40)] + [{"mesh": 0}]),
)
mesh(
    "glb: lengths that lie",
    "m.glb",
    b"glTF" + struct.pack("<5I", 2, 2**31, 2**31, 0x4E4F534A, 0),
)
DAE = (
    '<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">{}<library_geometries><geometry id="g"><mesh><source id="p">'
    '<float_array id="f" count="{}">0 0 0 1 0 0 0 1 0</float_array><technique_common><accessor source="#f" count="{}" stride="3"/></technique_common>'
    '</source><vertices id="v"><input semantic="POSITION" source="#p"/></vertices><triangles count="{}"><input semantic="VERTEX" source="#v" offset="0"/>'
    '<p>{}</p></triangles></mesh></geometry></library_geometries>{}<library_visual_scenes><visual_scene id="s"><node>{}</node></visual_scene>'
    '</library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>'
)  # fmt: skip
SHOWN = '<instance_geometry url="#g"/>'
mesh(
    "dae: entities explode",
    "m.dae",
    ENTITIES + DAE.format("&a29;", 9, 3, 1, "0 1 2", "", SHOWN),
)
mesh(
    "dae: counts that lie",
    "m.dae",
    DAE.format("", 10**12, 10**12, 10**12, "0 1 2", "", SHOWN),
)
mesh(
    "dae: corners that are not there",
    "m.dae",
    DAE.format("", 9, 3, 1, "0 1 99999999 -1 -2 -3", "", SHOWN),
)
mesh(
    "dae: nodes in a circle",
    "m.dae",
    DAE.format(
        "",
        9,
        3,
        1,
        "0 1 2",
        '<library_nodes><node id="n"><instance_node url="#n"/></node></library_nodes>',
        '<instance_node url="#n"/>',
    ),
)
mesh("dae: nodes that double", "m.dae", DAE.format("", 9, 3, 1, "0 1 2", "<library_nodes>" + "".join(f'<node id="n{i}">' + f'<instance_node url="#n{i + 1}"/>' * 2 + "</node>" for i in range(40)) + f'<node id="n40">{SHOWN}</node></library_nodes>', '<instance_node url="#n0"/>'))  # fmt: skip
mesh(
    "dae: a geometry elsewhere",
    "m.dae",
    DAE.format(
        "",
        9,
        3,
        1,
        "0 1 2",
        "",
        '<instance_geometry url="http://127.0.0.1:9/a.dae#g"/><instance_node url="../secret.dae#n"/>',
    ),
)
mesh("3mf: an archive", "m.3mf", lambda: zipped({"3D/3dmodel.model": bytes(200 << 20)}))
mesh("zip: an archive", "m.zip", lambda: zipped({"a.obj": bytes(200 << 20)}))


# Archives, messages, tables, animations ------------------------------------------------------------------------------------------------
def zipped(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


class Pwned:
    """Unpickled, it runs a command."""

    def __reduce__(self):
        return os.system, ("touch pwned",)


def saved(**arrays: object) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def header(shape: object, kind: str = "<f8") -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        stream, {"descr": kind, "fortran_order": False, "shape": shape}
    )
    return stream.getvalue()


one(
    "npz: it unpacks to gigabytes",
    "a.npz",
    lambda: zipped({f"a{i}.npy": bytes(100 << 20) for i in range(4)}),
)
one(
    "npz: a pickle",
    "a.npz",
    lambda: saved(
        joint_displacement=np.array([Pwned()], dtype=object), frame_rate=np.array(1)
    ),
)
one(
    "npz: a shape that lies",
    "a.npz",
    lambda: zipped({"joint_displacement.npy": header((10**15,)) + bytes(80)}),
)
one(
    "npz: rows without columns",
    "a.npz",
    lambda: zipped(
        {
            "joint_displacement.npy": header((10**15, 0)),
            "frame_rate.npy": header(()) + struct.pack("<d", 1),
        }
    ),
)
one(
    "npz: a long kind of text",
    "a.npz",
    lambda: zipped({"joint_displacement.npy": header((1,), "<U999999999")}),
)
one(
    "npz: many arrays", "a.npz", lambda: zipped({f"a{i}.npy": b"" for i in range(5000)})
)
one(
    "npz: names with ways",
    "a.npz",
    lambda: zipped(
        {
            "../../pwned.npy": header((1,)) + bytes(8),
            "/pwned.npy": header((1,)) + bytes(8),
        }
    ),
)
one(
    "npz: cut off",
    "a.npz",
    lambda: saved(joint_displacement=np.zeros((99, 9)), frame_rate=np.array(1))[:-300],
)
one("pb: lengths that lie", "a.pb", b"\x0a\x01a\x12\xff\xff\xff\xff\x0f\x09")
one("pb: a length of 2**63", "a.pb", b"\x0a\x01a\x12" + b"\xff" * 9 + b"\x7f")
one("pb: groups in groups", "a.pb", b"\x0a\x01a" + b"\x12\x02\x0b\x0b" + b"\x0b" * MANY)
one(
    "pb: messages in messages",
    "a.pb",
    lambda: b"\x0a\x01a" + b"\x12\x7f\x12\x7d" * 50_000,
)
one("pb: empty rows", "a.pb", b"\x0a\x01a\x12\x09\x09" + bytes(8) + b"\x12\x00" * MANY)
one(
    "cap: deep", "a.cap", "name: 'a' " + "animation_keyframes { body { " * tries(50_000)
)
one("cap: a megabyte of digits", "a.cap", "name: 'a' bpm: " + "1" * 1_000_000)
one("cap: a text without end", "a.cap", "name: '" + "\\a" * tries(MANY))
one("csq: deep", "a.csq", "name: 'a' " + "moves { step_params { " * tries(50_000))
one("csq: moves without end", "a.csq", lambda: "name: 'a' " + "moves { } " * MANY)
one("csq: a text without end", "a.csq", "name: '" + "\\a" * tries(MANY))
one(
    "csq: other files as animations",
    "a.csq",
    "moves { type: 'animation::../../pwned' requested_slices: 8 }",
)
one(
    "csq: bytes of moves without end",
    "a.pb",
    lambda: b"\x0a\x01a\x11" + bytes(8) + b"\x1a\x00" * MANY,
)
one(
    "csq: lengths that lie",
    "a.pb",
    b"\x0a\x01a\x11" + bytes(8) + b"\x1a\xff\xff\xff\x0f",
)
one(
    "csq: a dance of eons",
    "a.csq",
    "name: 'a' slices_per_minute: 1e-300 moves { type: 'a' start_slice: 2147483647 requested_slices: 9 }",
)
one("log: lengths that lie", "a.log", b"\x0a\xff\xff\xff\x0f\x0a\x02")
one("log: states of nothing", "a.log", b"\x0a\x02\x1a\x00" * 100_000)
CHA = "controls body\n{}\n\nno parameters\n\ntime body_pos\n0 0 0 0.5\n{} 0 0 0.5\n"
for rate in ("frequency 1e-300", "frequency 1e300", "bpm 1e-300", "bpm 0"):
    one(
        f"cha: {rate}",
        "a.cha",
        CHA.format(rate, 1).replace(
            "time body", "body" if "freq" in rate else "time body"
        ),
    )
one("cha: a move of eons", "a.cha", CHA.format("bpm 100", "1e300"))
one("cha: a megabyte of digits", "a.cha", CHA.format("bpm 100", "1" * 1_000_000))
one(
    "cha: comments among rows",
    "a.cha",
    lambda: CHA.format("bpm 100", 1) + "#\n" * tries(100_000),
)
one(
    "cha: a row without end", "a.cha", lambda: CHA.format("bpm 100", 1) + "1 " * 300_000
)
one("csv: a line without end", "a.csv", lambda: "time,A\n" + "1," * 300_000)
one(
    "csv: comments before it", "a.csv", lambda: "#\n" * tries(200_000) + "time,A\n0,1\n"
)
one("csv: blanks in a name", "a.csv", lambda: "time,A" + " " * MANY + "B\n0,1\n")
one(
    "csv: a megabyte of digits", "a.csv", lambda: "time,A\n0," + "1" * 1_000_000 + "x\n"
)
one("csv: times of eons", "a.csv", "time,A\n0,1\n1e-300,1\n1e300,1\n")
for name, bomb in BOMBS.items():
    one(f"{name}: it unpacks to gigabytes", f"a.{name.partition(' ')[0]}", bomb)


def misfit_levels() -> bytes:
    """Return a file of Parquet whose schema has a required column, and whose histograms count the levels of an optional one."""
    import pyarrow as pa

    content = table_bytes(pa.table({"time": [0.0, 0.1], "HIP": [0.0, 0.1]}))
    optional, required = b"\x25\x02\x18\x04time", b"\x25\x00\x18\x04time"
    assert optional in content
    return content.replace(optional, required)


one(
    "mcap: messages without end",
    "a.mcap",
    lambda: log(*[state("HIP")] * some(1_000_000), step=0),
)
one(
    "mcap: a chunk of empty messages",
    "a.mcap",
    lambda: log(*[("/joint_states", b"{}")] * some(2_000_000), step=0),
)
one("mcap: zeros", "a.mcap", lambda: log()[:8] + bytes(some(100 << 20)))
one(
    "mcap: brackets in brackets",
    "a.mcap",
    log(("/joint_states", b"[" * 900 + b"]" * 900), ("/a", b"[[]," * MANY)),
)
one("parquet: levels that end pyarrow", "a.parquet", misfit_levels)
one(
    "parquet: rows without end",
    "a.parquet",
    lambda: table_bytes(zero_table(time=some(1 << 23)), row_group_size=1 << 23),
)
one("parquet: deep", "a.parquet", lambda: deep_parquet(MANY))
one(
    "parquet: rows that lie",
    "a.parquet",
    lambda: parquet_footer(leaf(b"time"), rows=10**15),
)
one(
    "parquet: a name that is no UTF-8",
    "a.parquet",
    lambda: parquet_footer(leaf(b"\xff")),
)
one(
    "arrow: a length that lies",
    "a.arrow",
    b"\xff\xff\xff\xff\xff\xff\xff\x7f" + bytes(1000),
)
one("pos: times of eons", "a.pos", "0 1\n1e-300 1\n1e300 1\n")
one("pos: no numbers", "a.pos", "a b\n" * 1000)
one("text: newlines before bytes", "a.seq", b"\n" * 100_000 + b"\xe3")
one("text: a name and blanks", "a.xyz", b"name" + b" " * 60_000 + b"%")
one("text: nothing", "a.seq", b"")


# Files that are none ---------------------------------------------------------------------------------------------------------------------
for suffix in (*(row.extensions[0][1:] for row in FORMATS if row.extensions), "json"):

    @case(f"a folder named a.{suffix}")
    def _(folder: Path, suffix: str = suffix) -> Path:
        path = folder / "model" / f"a.{suffix}"
        path.mkdir()
        return path

    @case(f"an endless a.{suffix}")
    def _(folder: Path, suffix: str = suffix) -> Path:
        path = folder / "model" / f"a.{suffix}"
        path.symlink_to("/dev/zero")
        return path


@case("a link to itself")
def _(folder: Path) -> Path:
    path = folder / "model/a.seq"
    path.symlink_to("a.seq")
    return path


@case("a name that is no text")
def _(folder: Path) -> str:
    name = os.fsdecode(b"\xff\xfe\n.seq")
    (folder / "model" / name).write_text(SEQ + JOINTS.format(2, 1))
    return str(folder / "model" / name)


@case("a name with a zero byte")
def _(folder: Path) -> str:
    return str(folder / "model" / "a\0.seq")


@case("a name of ten thousand letters")
def _(folder: Path) -> str:
    return str(folder / "model" / ("a" * 10_000 + ".seq"))


@case("no file")
def _(folder: Path) -> str:
    return str(folder / "model" / "nothing.wrl")
