"""What is printed: nothing in a file drives the terminal, plain text is stable, messages point at the place."""

from __future__ import annotations

import io
import json
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

import bodymotion as bm
from bodymotion.cli.output import as_json, one_line, plain, progress, show_problems
from bodymotion.cli.page import Page
from bodymotion.diagnostics import Location, Problem
from waiting import until

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=50)
DRIVES = {"Cc", "Cs", "Zl", "Zp"}


def drives_a_terminal(text: str) -> bool:
    turns = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
    return any(unicodedata.category(c) in DRIVES or c in turns for c in text)


@given(ANY_TEXT)
def test_one_line_drives_nothing(text):
    assert not drives_a_terminal(one_line(text))


@given(st.text("abcXYZ äö回転軸 {}[]:.-_", max_size=30))
def test_one_line_keeps_plain_words(text):
    assert one_line(text) == text


def test_escapes_are_those_of_python():
    assert one_line("a\x1b[31m\nb\u202e\ud800") == r"a\x1b[31m\nb\u202e\ud800"


JSON_LIKE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4)
    ),
    max_leaves=20,
)


@given(JSON_LIKE)
def test_json_is_json_and_drives_nothing(value):
    text = as_json(plain(value))
    assert not drives_a_terminal(text.replace("\n", ""))
    text.encode("utf-8")
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


@given(ANY_TEXT)
def test_json_gives_texts_back(text):
    assert json.loads(as_json(text)) == text


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.array([[1.0, np.nan], [np.inf, -2.0]]), [[1.0, None], [None, -2.0]]),
        (np.int32(7), 7),
        (np.bool_(True), True),
        (2**100, 2**100),
        ({1: (1, 2)}, {"1": [1, 2]}),
        (b"\x00", "<bytes>"),
        (object(), "<object>"),
        (np.zeros(2000), "<2000 values>"),
    ],
)
def test_plain(value, expected):
    assert plain(value) == expected


def test_plain_ends():
    endless: list[object] = []
    endless.append(endless)
    json.dumps(plain(endless))


CELL = st.text("ab1 ", max_size=30).map(str.rstrip)


@given(
    st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=4), st.integers(40, 100)
)
def test_a_table_in_a_window(rows, window):
    """No line is wider than the window, and no cell is left out."""
    page = Page()
    page.table("first | >second | third [m]", rows)
    stream = io.StringIO()
    page._print(Console(file=stream, width=window, color_system=None))
    assert all(
        cell_len(line.rstrip()) <= window for line in stream.getvalue().splitlines()
    )
    words = stream.getvalue().replace(";", " ").split()
    assert all(word in words for row in rows for cell in row for word in cell.split())


def a_page() -> Page:
    page = Page()
    page.heading("Robot [bold]")
    page.fact("mass", "1 kg")
    page.fact("info", "one\ntwo\x1b")
    page.heading("Links")
    rows = [("0", "WAIST", "", "1.5"), ("1", "回転", "", "12.25")]
    page.table(">link | name | nothing | >mass [kg]", rows)
    return page


def test_plain_page():
    assert a_page().plain() == (
        "Robot [bold]\n"
        "  mass                1 kg\n"
        "  info                one\n"
        "                      two\\x1b\n"
        "\n"
        "Links\n"
        "  link  name   mass [kg]\n"
        "     0  WAIST        1.5\n"
        "     1  回転       12.25\n"
    )


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("columns", ["30", "200"])
def test_page_on_a_terminal(monkeypatch, columns):
    """Colours come from us only, markup is not read, all that plain text has is there in a wide window as in a narrow one."""
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    a_page().print()
    text = terminal.getvalue()
    assert "\x1b[1m" in text
    for word in ("Robot [bold]", "two\\x1b", "WAIST", "回転", "12.25"):
        assert word in text


def test_message_with_line_and_caret(tmp_path, capsys):
    path = tmp_path / "walk.seq"
    path.write_bytes("first\r\n\t- [0.1, 回転x, 0.3]\r\nlast".encode("cp932"))
    show_problems(
        [
            Problem(
                "MOT106",
                "error",
                "`x` is not a number",
                Location(str(path), 2, 12),
                "write a number",
            )
        ]
    )
    out, err = capsys.readouterr()
    assert out == ""
    message, line, caret, hint = err.splitlines()
    assert message == f"{path}:2:12: MOT106 `x` is not a number"
    assert line == "  2 |  - [0.1, 回転x, 0.3]"
    assert cell_len(caret) - 1 == cell_len(line[: line.index("x")])
    assert hint == "  hint: write a number"


def test_message_about_a_long_line(tmp_path, capsys):
    path = tmp_path / "a.seq"
    path.write_text("1234567890" * 1000 + "x" + "0" * 5000)
    show_problems([Problem("MOT106", "error", "no", Location(str(path), 1, 10001))])
    _, line, caret = capsys.readouterr().err.splitlines()
    assert len(line) < 120
    assert line[caret.index("^")] == "x"


@pytest.mark.parametrize(
    "location",
    [
        Location("nowhere.seq", 3, 4),
        Location("nowhere.seq"),
        Location(None, 3, 4),
        Location("/dev/zero", 1, 1),
        Location("a\0b", 1, 1),
        Location(".", 1, 1),
        Location(__file__, 10**9, 1),
        Location(__file__, 0, 0),
        Location(inside="components[0]"),
    ],
)
def test_message_without_a_line(location, capsys):
    show_problems([Problem("MOT106", "error", "no", location)])
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_message_is_one_safe_line(capsys):
    show_problems(
        [
            Problem(
                "MOT106",
                "error",
                "two\nlines \x1b[2J",
                Location("a\x1b.seq", 1, 2, "components[0]"),
            )
        ]
    )
    assert (
        capsys.readouterr().err
        == "a\\x1b.seq:1:2: MOT106 two\\nlines \\x1b[2J (components[0])\n"
    )


def test_problems_of_one_rule_are_grouped(capsys):
    show_problems(
        [
            Problem("MOT106", "error", "no", Location("a.seq", line, 2))
            for line in range(1, 25)
        ]
    )
    first, also = capsys.readouterr().err.splitlines()
    assert first == "a.seq:1:2: MOT106 ×24 no"
    assert also == "  also at 2:2, 3:2, 4:2, 5:2, 6:2 and 18 more"


def test_missing_files_are_counted_once_and_have_no_follow_up_findings(
    tmp_path, capsys
):
    parts = "".join(
        f'DEF J{k} Joint {{ jointType "rotate" jointId {k} children Segment {{ mass 1 children Inline {{ url "no{k}.wrl" }} }} }}\n'
        for k in range(3)
    )
    segment = "Segment { children Shape { geometry Box { } } }"
    model = tmp_path / "r.wrl"
    model.write_text(
        f"#VRML V2.0 utf8\nDEF R Humanoid {{ humanoidBody DEF B Joint {{ children [ {segment} {parts} ] }} }}\n"
    )
    found = bm.check(model).problems
    assert "BODY143" not in {problem.rule for problem in found}
    show_problems([problem for problem in found if problem.rule == "FMT020"])
    assert (
        "×" not in (shown := capsys.readouterr().err)
        and "no0.wrl, no1.wrl, no2.wrl" in shown
    )
    assert len([line for line in shown.splitlines() if "FMT020" in line]) == 1


def test_locations_in_parts_are_named_by_their_path_from_the_model(capsys):
    show_problems(
        [
            Problem("MOT106", "error", "no", Location(path, 1, 1))
            for path in ("a/b.wrl", "a/c/d.wrl", "e.wrl")
        ]
    )
    assert capsys.readouterr().err.splitlines()[1] == "  also at c/d.wrl:1:1, e.wrl:1:1"


def test_no_bar_where_nobody_looks(capsys):
    with progress("reading") as report:
        assert report is None
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("delay", "shown"), [(0.0, True), (60.0, False)])
def test_a_bar_after_a_while(monkeypatch, delay, shown):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr("bodymotion.cli.output.DELAY", delay)
    with progress("reading [bold]a\x1bb") as report:
        until(lambda: report(1, 2) or not shown or "reading" in terminal.getvalue())
    assert (r"reading [bold]a\x1bb" in terminal.getvalue()) == shown
