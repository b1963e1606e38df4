"""A law over the examples of all rules: another fault in the file removes no finding.

Into a file that breaks a rule, faults of meaning are planted that have nothing to do with it, and perhaps a fault of syntax behind
everything else. All findings of the file must stay, at lines that move only by the lines that were planted. Exempt are the rules that
need the whole file, or what is next to the planted fault: what cannot be read may be what they miss.
"""

from __future__ import annotations

import importlib
import io
import re
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest

import bodymotion as bm
from rules.pairs import Content, Pair
from sample_files import ROOT, sampled

Planter: TypeAlias = Callable[[str], tuple[int, str] | None]
"""Returns where a fault can be planted in a text (an offset) and what is planted; None where the text is not laid out for it."""


def before(end: str, planted: str) -> Planter:
    """Plant a text before the last occurrence of another; `{}` in it is the first name in the text."""

    def plant(text: str) -> tuple[int, str] | None:
        name = re.search(r'<(?:link|body) name="([^"]*)"', text)
        at = text.rfind(end)
        return (
            (at, planted.format(name and name[1]))
            if at >= 0 and (name or "{}" not in planted)
            else None
        )

    return plant


def at_end(planted: str) -> Planter:
    return lambda text: (len(text), planted if text.endswith("\n") else "\n" + planted)


def link_of_body(text: str) -> tuple[int, str] | None:
    """Plant a link behind the last one of a list in block style."""
    found = re.search(r"^links:[^\n]*\n(?: +[^\n]*\n)*", text, re.MULTILINE)
    if found is None or not (item := re.search(r"^( +)-", found[0], re.MULTILINE)):
        return None
    parent = re.search(r"name: (\w+)", found[0])
    return (
        found.end(),
        f"{item[1]}- {{ name: PLANTED, parent: {parent and parent[1]}, joint_type: fixed, mass: -1 }}\n",
    )


def component(text: str) -> tuple[int, str] | None:
    """Plant a component behind the last one of a list in block style that ends the text."""
    item = re.search(r"^components: *\n(?: *#[^\n]*\n)*(( *)- *)", text, re.MULTILINE)
    if item is None or not text.endswith("\n"):
        return None
    indent = item[2]
    if re.search(rf"^(?!{indent} |{indent}-|#|$)", text[item.start(1) :], re.MULTILINE):
        return None
    return (
        len(text),
        f"{indent}- type: Vector3Seq\n{indent}  content: Planted\n{indent}  frames: [ [ 0, 0, x ] ]\n",
    )


def option(text: str) -> tuple[int, str] | None:
    controls = re.search(r"^controls .*\n", text, re.MULTILINE)
    return (controls.end(), "planted 1\n") if controls else None


def color(text: str) -> tuple[int, str] | None:
    """Plant an option that does not change how the animation is played."""
    controls = re.search(r"^controls .*\n", text, re.MULTILINE)
    return (
        None
        if controls is None or "display_rgb" in text
        else (controls.end(), "display_rgb 1 2 256\n")
    )


def tempo(text: str) -> tuple[int, str] | None:
    """Plant a tempo that cannot be into an animation without one: nothing is known of its end only."""
    controls = re.search(r"^controls .*\n", text, re.MULTILINE)
    return None if controls is None or "bpm" in text else (controls.end(), "bpm -3\n")


def track(text: str) -> tuple[int, str] | None:
    controls = re.search(r"^controls \w[^#\n]*", text, re.MULTILINE)
    return None if controls is None else (controls.end(), " planted")


def row(text: str) -> tuple[int, str] | None:
    """Plant a row at the next time: the time of another one would be a fault of the rate."""
    times = [float(time) for time in re.findall(r"^([\d.]+),", text, re.MULTILINE)]
    return at_end(f"{2 * times[-1] - times[-2] if len(times) > 1 else 0:g},x\n")(text)


INERTIA = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
BODY = '\n<body name="planted" pos="{}"><inertial pos="0 0 0" mass="{}" diaginertia="1 1 1"/></body>\n'


MISSPELT = '<lnk nam="q"/><joit nam="q" type="fixed"><parent lnk="{}"/><child link="q"/></joit>\n'


def of_urdf(mass: int, kind: str, more: str = "") -> Planter:
    link = f'<link name="planted"><inertial><mass value="{mass}"/>{INERTIA}</inertial></link>'
    joint = f'<joint name="p" type="{kind}"><parent link="{{}}"/><child link="planted"/>{more}</joint>'
    return before("</robot>", f"\n{link}\n{joint}\n")


FAULTS: dict[str, tuple[Planter, ...]] = {
    ".urdf": (
        of_urdf(-1, "fixed"),
        of_urdf(1, "fixed", '<origin xyz="0 x 0"/>'),
        of_urdf(1, "revolve"),
        before("</robot>", MISSPELT),
    ),
    ".xml": (
        before("</worldbody>", BODY.format("0 0 0", -1)),
        before("</worldbody>", BODY.format("0 x 0", 1)),
        before("</worldbody>", '<gem sise="1"/>'),
    ),
    ".wrl": (
        at_end("Shape { geometry Sphere { radius -1 } }\n"),
        at_end("Shap { geometry Sphere { } }\n"),
        at_end(
            "Shape { geometry PointSet { coord Coordinate { point [ 0 0 0 1 ] } } }\n"
        ),
    ),
    ".body": (link_of_body,),
    ".seq": (component,),
    ".cha": (option, color, tempo, track, at_end("7 7\n")),
    ".cap": (
        at_end("planted: 1\n"),
        at_end("bpm: soon\n"),
        at_end("timing_adjustability: 5\n"),
    ),
    ".pbtxt": (at_end("planted: 1\n"), at_end("name: 1\n")),
    ".csq": (
        at_end("planted: 1\n"),
        at_end("planted { a: 1 }\n"),
        at_end("slices_per_minute: fast\n"),
    ),
    ".csv": (row, at_end("0,1,2,3,4,5,6,7,8,9\n")),
    ".waist": (at_end("0 1 2\n"),),
}
"""Faults of meaning by format."""
SYNTAX: dict[str, tuple[Planter, ...]] = {
    # Readers of XML, VRML and YAML stop at the first fault of syntax.
    **dict.fromkeys((".urdf", ".xml", ".wrl", ".body", ".seq"), ()),
    ".cha": (at_end("x y z\n"), at_end("1e\n"), at_end("\x00\n")),
    ".cap": (at_end("planted {\n"), at_end("}\n"), at_end("bpm\n")),
    ".pbtxt": (at_end("planted {\n"), at_end("}\n"), at_end("name\n")),
    ".csq": (
        at_end("planted {\n"),
        at_end("}\n"),
        at_end("moves {\n"),
        at_end("name\n"),
    ),
    ".csv": (at_end('"\n'), at_end("\x00\n")),
    ".waist": (at_end("x\n"), at_end("\x00")),
}
THERE_IS_NONE = {
    *["BODY108", "CHA115", "CHA200", "CAP006", "TAB002", "WRL113", "WRL116", "BODY131"]
}
"""Rules about files that lack something which the planted text has, or may have."""
NEEDS_WHOLE = {
    *["URDF112", "BODY125 .urdf", "URDF132", "URDF150", "URDF160"],
    *["MJCF105", "MJCF142", "MJCF152"],
    *["BDY102", "BODY108", "SEQ003", "SEQ116", "SEQ214", "SEQ217", "VRML103"],
}
"""Rules about names, counts and kinds that need the whole file: nothing of them is known where the file breaks off."""
NEEDS_ROWS = re.compile(r"SPOT|MOT3|CHA2(?:01|17|18|2\d)$")
"""Rules about the motion through neighbouring keyframes, as it is played: nothing of them is known next to a faulty one."""


@cache
def pairs(suffix: str) -> list[Pair]:
    """Return the files of that kind that break rules."""
    modules = (
        importlib.import_module(f"rules.{path.stem}")
        for path in sorted((ROOT / "tests/rules").glob("pairs_*.py"))
    )
    found = [
        pair
        for module in modules
        for pair in (*module.PAIRS.values(), *getattr(module, "MORE", ()))
    ]
    return [
        pair
        for pair in found
        if pair.folder is not None and Path(pair.name).suffix == suffix
    ]


def findings(pair: Pair, content: bytes, folder: Path) -> set[tuple[str, int]]:
    """Return the rules and lines of what is found in a file; line 0 for the whole file, -1 for another file."""
    assert pair.folder is not None
    for name, other in {**pair.folder, pair.name: content}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encoded(other))
    path = folder / pair.name
    own = (str(path), None)
    return {
        (p.rule, (p.location.line or 0) if p.location.path in own else -1)
        for p in bm.check(path).problems
    }


def encoded(content: Content) -> bytes:
    return content.encode() if isinstance(content, str) else content


def with_array(content: bytes) -> bytes:
    """Plant an array in an archive that can be read."""
    try:
        arrays = dict(np.load(io.BytesIO(content)))
    except (ValueError, zipfile.BadZipFile):
        return content
    stream = io.BytesIO()
    np.savez(stream, planted=np.zeros((2, 2, 2, 2)), **arrays)
    return stream.getvalue()


@pytest.mark.parametrize("suffix", SYNTAX)
def test_another_fault_removes_no_finding(suffix, tmp_path):
    found_by = dict.fromkeys((*FAULTS[suffix], *SYNTAX[suffix]), 0)
    is_played = suffix in (".cap", ".cha")
    some = sampled(pairs(suffix), 3 if is_played else 4)
    # Each check of an animation plays it.
    for pair in sampled(some, 4) if is_played else some:
        assert pair.folder is not None
        text = encoded(pair.folder[pair.name]).decode("latin-1")
        was = findings(pair, text.encode("latin-1"), tmp_path)
        for planter in found_by:
            planted = planter(text)
            # Where a track that is not controlled has columns, an unknown track may be that one.
            if planted is None or (
                planter is track and any(rule == "CHA187" for rule, _ in was)
            ):
                continue
            at, more = planted
            now = findings(
                pair, (text[:at] + more + text[at:]).encode("latin-1"), tmp_path
            )
            found_by[planter] += bool(
                {rule for rule, _ in now} - {rule for rule, _ in was}
            )
            exempt = THERE_IS_NONE | (
                NEEDS_WHOLE if planter in SYNTAX[suffix] else set()
            )
            begin, lines = text[:at].count("\n") + 1, more.count("\n")
            lost = {
                (rule, line)
                for rule, line in was - now
                if not {rule, f"{rule} {suffix}"} & exempt
                and not (
                    suffix == ".cha"
                    and NEEDS_ROWS.match(rule)
                    and planter not in (option, color, tempo, track)
                )
                if line < begin or (rule, line + lines) not in now
            }
            assert not lost, (pair.name, text, more, now - was)
    assert all(found_by.values()), "a planter plants nothing that is found"


def test_another_array_removes_no_finding(tmp_path):
    for pair in pairs(".npz"):
        assert pair.folder is not None
        content = encoded(pair.folder[pair.name])
        assert findings(pair, content, tmp_path) <= findings(
            pair, with_array(content), tmp_path
        )


CHA_ROW, CAP_ROW = (
    "{} {}",
    "animation_keyframes {{ time: {} body {{ body_pos {{ z {{ value: {} }} }} }} }}",
)


HEADS = {
    "move.cha": ("controls body\n\nno parameters\n\ntime body_z\n", CHA_ROW),
    "move.cap": ("name: 'move'\n\n\n\ncontrols_body: true\n", CAP_ROW),
}


@pytest.mark.parametrize(
    ("name", "time", "z", "found"),
    [
        ("move.cha", 8, "", {("CHA202", 15)}),
        ("move.cha", 9, "nan", {("MOT101", 15)}),
        ("move.cha", 9, 1e9, {("CHA216", 15)}),
        ("move.cha", "nan", 0.48, {("MOT101", 15)}),
        ("move.cha", -1, 0.48, {("CHA206", 15), ("MOT105", 15)}),
        ("move.cha", 2, 0.48, {("MOT105", 15)}),
        ("move.cha", 8, 0.48, {("MOT105", 15)}),
        ("move.cha", 30, 0.48, {("MOT105", 16)}),
        ("move.cap", "x", 0.48, {("CAP002", 15)}),
        ("move.cap", 9, 1e9, {("CHA216", None)}),
        ("move.cap", 2, 0.48, {("MOT105", None)}),
    ],
)
def test_a_faulty_keyframe_leaves_the_others_to_be_played(
    name, time, z, found, tmp_path
):
    """The body sinks to the floor, long before and after a faulty keyframe; the keyframes next to that are unknown."""
    head, row = HEADS[name]
    for low in (1, 19):
        rows = [row.format(k, 0.02 if k == low else 0.48) for k in range(21)]
        path = tmp_path / name
        path.write_text(head + "\n".join(rows) + "\n")
        was = {
            (p.rule, p.location.line, p.location.inside, p.message)
            for p in bm.check(path).problems
        }
        assert any(
            rule.startswith("SPOT") and f"keyframe {low + 1}" in inside
            for rule, _, inside, _ in was
        )
        path.write_text(
            head + "\n".join([*rows[:9], row.format(time, z), *rows[10:]]) + "\n"
        )
        now = {
            (p.rule, p.location.line, p.location.inside, p.message)
            for p in bm.check(path).problems
        }
        assert {one[:2] for one in now - was} == found and was <= now


@pytest.mark.parametrize(
    ("column", "is_played"), [("planted", True), ("body_rol", False)]
)
def test_an_unknown_column_that_is_none_of_the_format_changes_no_motion(
    column, is_played, tmp_path
):
    path = tmp_path / "move.cha"

    def found(more="", value=""):
        rows = "".join(f"{k} {0.02 if k == 5 else 0.48}{value}\n" for k in range(10))
        path.write_text(f"controls body\n\nno parameters\n\ntime body_z{more}\n{rows}")
        return {(p.rule, p.location.line) for p in bm.check(path).problems}

    was = found()
    assert any(rule.startswith("SPOT") for rule, _ in was)
    assert found(f" {column}", " 0") == {("CHA171", 5)} | (was if is_played else set())
