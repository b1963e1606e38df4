"""`bodymotion check`: text, JSON, SARIF, exit codes, folders, and the work in processes."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path, PosixPath

import pytest
from click.testing import CliRunner

import bodymotion as bm
from bodymotion.cli import check as checking
from bodymotion.cli.app import app
from bodymotion.cli.check import check_files
from bodymotion.collection import find_files
from bodymotion.diagnostics.catalogue import catalogue
from waiting import TIMEOUT

run = CliRunner()

BROKEN = """\
type: CompositeSeq
content: BodyMotion
formatVersion: 2
frameRate: 50
components:
  -
    type: MultiValueSeq
    content: JointDisplacement
    numParts: 3
    frames:
      - [0.1, 0.2, 0.3]
      - [0.1, 0x2, 0.3]
"""
ODD = BROKEN.replace("0x2", "0.2").replace(
    "numParts: 3", "numParts: 3\n    numFrames: 1"
)
"""Readable, with a warning."""


def check(*arguments: object, code: int = 0):
    result = run.invoke(app, ["check", *map(str, arguments)])
    assert result.exit_code == code, (result.output, result.exception)
    return result


@pytest.fixture
def desk(tmp_path, examples):
    shutil.copy(examples / "biped.wrl", tmp_path / "robot.wrl")
    shutil.copy(examples / "biped_walk.seq", tmp_path / "walk.seq")
    (tmp_path / "broken.seq").write_text(BROKEN)
    (tmp_path / "odd.seq").write_text(ODD)
    return tmp_path


def test_the_examples_are_sound(desk):
    result = check(desk / "robot.wrl", desk / "walk.seq")
    assert result.stdout == "2 files checked: no problems\n"
    assert result.stderr == (
        f"walk.seq was checked without the model; use --body {desk / 'robot.wrl'} to check against its joints\n"
    )
    result = check("--body", desk / "robot.wrl", desk / "walk.seq")
    assert (result.stdout, result.stderr) == ("1 file checked: no problems\n", "")
    for given in (["--json", "robot.wrl", "walk.seq"], ["robot.wrl"], ["walk.seq"]):
        assert not check(
            *(name if name[0] == "-" else desk / name for name in given)
        ).stderr


def test_text_is_like_a_compilers(desk):
    path = desk / "broken.seq"
    lines = check(path, code=1).stdout.splitlines()
    assert lines[0] == (
        f"{path}:12:15: error SEQ111 frame 1 has 0x2, which is not a plain decimal number (components[0].frames[1])"
    )
    assert lines[1:3] == ["  12 |       - [0.1, 0x2, 0.3]", "     |               ^"]
    assert lines[3].startswith("  hint: ")
    assert lines[4] == "1 file checked: 1 error"


def test_exit_codes(desk):
    assert "warning SEQ214" in check(desk / "odd.seq").stdout
    check("--strict", desk / "odd.seq", code=1)
    check("--strict", "--ignore", "SEQ214", desk / "odd.seq")
    check("--select", "SEQ111,BODY", desk / "odd.seq")
    check("--ignore", "seq111", desk / "broken.seq")
    check(desk / "walk.seq", desk / "broken.seq", code=1)
    check(code=2)
    check("--json", "--sarif", desk / "odd.seq", code=2)
    assert (
        "there is no rule 'NIX'"
        in check("--select", "NIX", desk / "odd.seq", code=2).stderr
    )
    assert (
        "not a model"
        in check("--body", desk / "walk.seq", desk / "walk.seq", code=2).stderr
    )
    assert "FMT002" in check(desk / "nothing.seq", code=1).stdout
    (desk / "empty").mkdir()
    assert "no model or motion" in check(desk / "empty", code=1).stderr
    assert (
        "broken.seq"
        in check("--body", desk / "broken.seq", desk / "walk.seq", code=1).stdout
    )


def test_a_model_for_what_it_means_nothing_to(desk, examples):
    for name, why in (
        ("wave.cha", "an animation is for a Spot"),
        ("biped.wrl", "it is a model itself"),
    ):
        path = examples / name
        said = f"bodymotion check: --body has no effect on {path}: {why}\n"
        assert said in check("--body", desk / "robot.wrl", path).stderr
    assert (
        "--body"
        not in check(
            "--body", desk / "robot.wrl", desk / "walk.seq", desk / "robot.wrl"
        ).stderr
    )


def test_a_motion_of_another_body_has_a_place(desk, examples):
    """The frames of the component, for want of a better line."""
    shorter = bm.Motion.from_joints([[0.0] * 3] * 5, 50)
    bm.save(shorter, desk / "other.seq")
    result = check("--body", desk / "robot.wrl", desk / "other.seq", code=1)
    (line,) = re.findall(r"other\.seq:(\d+):\d+: error MOT201", result.stdout)
    assert re.match(
        r"\s*- *\[", (desk / "other.seq").read_text().splitlines()[int(line) - 1]
    )


def test_exit_codes_are_in_the_help():
    text = " ".join(check("--help-all").stdout.split())
    for code in (
        "Exit code 0: no errors",
        "1: errors",
        "2: wrong use",
    ):
        assert code in text


def test_select_may_be_given_twice(desk):
    assert (
        "SEQ214"
        in check("--select", "BODY", "--select", "SEQ2", desk / "odd.seq").stdout
    )


def test_json(desk):
    answer = json.loads(
        check("--json", desk / "broken.seq", desk / "odd.seq", code=1).stdout
    )
    assert (
        answer["num_files"],
        answer["num_errors"],
        answer["num_warnings"],
        answer["num_notes"],
    ) == (2, 1, 1, 0)
    first, second = answer["files"]
    assert first["file"] == str(desk / "broken.seq") and first["num_errors"] == 1
    problem = first["problems"][0]
    assert (problem["rule"], problem["line"], problem["column"]) == ("SEQ111", 12, 15)
    assert second["problems"][0]["severity"] == "warning"


def test_a_motion_against_a_model(desk):
    """A joint of the example beyond its limits, at the line of the first such frame."""
    body, motion = bm.load(desk / "robot.wrl"), bm.load(desk / "walk.seq")
    values = motion.joint_displacement.values.copy()
    column = next(k for k, joint in enumerate(body.joints) if joint.upper < 3)
    values[20:, column] = body.joints[column].upper + 1
    labels = motion.joint_displacement.part_labels
    wild = bm.Motion.from_joints(values, motion.frame_rate, joint_names=labels)
    bm.save(wild, desk / "wild.seq")
    result = check(
        "--ignore", "MOT341", "--body", desk / "robot.wrl", desk / "wild.seq"
    )
    (line,) = re.findall(r"wild\.seq:(\d+):\d+: warning MOT204", result.stdout)
    rows = [
        n
        for n, text in enumerate((desk / "wild.seq").read_text().splitlines(), 1)
        if re.match(r"\s*- *\[", text)
    ]
    assert int(line) == rows[20]
    assert "beyond it in" in result.stdout


def test_many_of_one_rule_are_counted(tmp_path, desk):
    text = (desk / "robot.wrl").read_text()
    (tmp_path / "heavy.wrl").write_text(re.sub(r"\bmass +[0-9.]+", "mass 0", text))
    answer = json.loads(check("--json", tmp_path / "heavy.wrl").stdout)
    count = sum(p["rule"] == "BODY131" for p in answer["files"][0]["problems"])
    lines = check(tmp_path / "heavy.wrl").stdout.splitlines()
    (head,) = (k for k, line in enumerate(lines) if "BODY131" in line)
    assert f" warning BODY131 ×{count} " in lines[head]
    (also,) = (line for line in lines[head : head + 5] if line.startswith("  also at "))
    assert re.fullmatch(
        rf"  also at (\d+:\d+, ){{4}}\d+:\d+ and {count - 6} more", also
    )


def test_retired_codes_are_aliases(desk, monkeypatch):
    from bodymotion.diagnostics import catalogue as module

    rules, retired = module._collected()
    monkeypatch.setattr(
        module, "_collected", lambda: (rules, {**retired, "OLD123": "SEQ214"})
    )
    assert "SEQ214" in check("--select", "OLD123", desk / "odd.seq").stdout
    assert (
        json.loads(check("--json", desk / "odd.seq").stdout)["aliases"]["OLD123"]
        == "SEQ214"
    )
    (rule,) = json.loads(check("--sarif", desk / "odd.seq").stdout)["runs"][0]["tool"][
        "driver"
    ]["rules"]
    assert "OLD123" in rule["deprecatedIds"]


def screen_of(text: str) -> str:
    """Return what stands on a terminal in the end: rows are erased, and the cursor goes up, as a bar makes it."""
    rows, row, column = [""], 0, 0
    for found in re.finditer(r"\x1b\[([0-9;?]*)([A-Za-z])|\r|\n|[^\x1b\r\n]+", text):
        if found[2] == "K":
            rows[row] = ""
        elif found[2] == "A":
            row = max(0, row - int(found[1] or 1))
        elif found[0] == "\r":
            column = 0
        elif found[0] == "\n":
            row += 1
            rows += [""] * (row == len(rows))
        elif not found[2]:
            rows[row] = (
                rows[row].ljust(column)[:column]
                + found[0]
                + rows[row][column + len(found[0]) :]
            )
            column += len(found[0])
    return "\n".join(line.rstrip() for line in rows)


def test_a_bar_and_the_text_do_not_mix(desk):
    """On a terminal the bar comes and goes, and the text is whole."""
    pty = pytest.importorskip("pty")
    program = "from bodymotion.cli import main, output; output.DELAY = 0.0; main()"
    command = [
        sys.executable,
        "-c",
        program,
        "check",
        str(desk / "broken.seq"),
        *[str(desk / "odd.seq")] * 3,
    ]
    plain = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    own, other = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "150", "LINES": "40"}
    shown = subprocess.Popen(
        command, stdin=other, stdout=other, stderr=other, env=environment
    )
    os.close(other)
    pieces = []
    with contextlib.suppress(OSError):  # as Linux says that the other end has gone
        while piece := os.read(own, 1 << 16):
            pieces.append(piece)
    os.close(own)
    text = b"".join(pieces).decode()
    assert shown.wait(120) == plain.returncode == 1
    assert "\u2501" in text and "checking" in text, "no bar"
    expected = "\n".join(
        line.rstrip() for line in (plain.stdout + plain.stderr).splitlines()
    )
    assert screen_of(text).strip() == expected


def test_nothing_drives_the_terminal(tmp_path):
    (tmp_path / "evil.seq").write_text(
        ODD.replace("numFrames: 1", 'numFrames: "\\e[2J"')
    )
    assert "\x1b" not in check(tmp_path / "evil.seq").stdout
    assert "\x1b" not in check("--json", tmp_path / "evil.seq").stdout


class TestSarif:
    """The structure that the standard (OASIS SARIF 2.1.0) demands of the parts that are used."""

    def log(self, desk, *more):
        return json.loads(
            check(
                "--sarif",
                desk / "broken.seq",
                desk / "odd.seq",
                desk / "robot.wrl",
                *more,
                code=1,
            ).stdout
        )

    def test_the_top(self, desk):
        log = self.log(desk)
        assert set(log) == {"$schema", "version", "runs"}
        assert log["version"] == "2.1.0" and log["$schema"].endswith(
            "sarif-schema-2.1.0.json"
        )
        (one,) = log["runs"]
        assert set(one) == {"tool", "columnKind", "artifacts", "results"}
        assert one["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
        assert len(one["artifacts"]) == 3

    def test_rules(self, desk):
        driver = self.log(desk)["runs"][0]["tool"]["driver"]
        assert driver["name"] == "bodymotion" and driver["version"] == bm.__version__
        ids = [rule["id"] for rule in driver["rules"]]
        assert ids == sorted(set(ids)) == ["SEQ111", "SEQ214"]
        for rule in driver["rules"]:
            assert rule["shortDescription"]["text"] == catalogue()[rule["id"]].sentence
            assert rule["defaultConfiguration"]["level"] in (
                "none",
                "note",
                "warning",
                "error",
            )

    def test_results(self, desk):
        one = self.log(desk)["runs"][0]
        rules = one["tool"]["driver"]["rules"]
        assert len(one["results"]) == 2
        for result in one["results"]:
            assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
            assert result["level"] in ("none", "note", "warning", "error")
            assert (
                isinstance(result["message"]["text"], str) and result["message"]["text"]
            )
            (place,) = result["locations"]
            physical = place["physicalLocation"]
            assert re.fullmatch(
                r"[A-Za-z0-9%/._~:@!$&'()*+,;=-]+", physical["artifactLocation"]["uri"]
            )
            region = physical["region"]
            assert region["startLine"] >= 1 and region.get("startColumn", 1) >= 1
        assert one["results"][0]["locations"][0]["physicalLocation"]["region"] == {
            "startLine": 12,
            "startColumn": 15,
        }

    def test_it_is_valid_by_the_schema(self, desk):
        """By classes that were made of the official schema, and by those of its rules that classes cannot say."""
        model = pytest.importorskip("pydantic_sarif.model")
        (desk / "all of it.urdf").write_text(
            "<robot><link name='a'><visual/></link><link/></robot>"
        )
        (desk / "none.cha").write_bytes(b"\xff\0")
        more = [
            desk / name
            for name in ("all of it.urdf", "none.cha", "nothing.seq", "broken.seq")
        ]
        text = check("--sarif", desk / "broken.seq", desk, *more, code=1).stdout
        model.StaticAnalysisResultsFormatSarifVersion210JsonSchema.model_validate_json(
            text
        )
        self.look_at(json.loads(text))

    def look_at(self, value):
        """No null; no thing twice where there are only different ones; each place and message says something."""
        assert value is not None
        if isinstance(value, list):
            for each in value:
                self.look_at(each)
        elif isinstance(value, dict):
            for key, each in value.items():
                self.look_at(each)
                if key in ("artifacts", "rules", "logicalLocations"):
                    assert len(
                        {json.dumps(one, sort_keys=True) for one in each}
                    ) == len(each), key
                assert key != "region" or "startLine" in each
                assert key != "physicalLocation" or "artifactLocation" in each
                assert key != "message" or "text" in each

    def test_the_schema_is_strict(self):
        model = pytest.importorskip(
            "pydantic_sarif.model"
        ).StaticAnalysisResultsFormatSarifVersion210JsonSchema
        driver = {"name": "x"}
        one = {
            "version": "2.1.0",
            "runs": [
                {"tool": {"driver": driver}, "results": [{"message": {"text": "x"}}]}
            ],
        }
        model.model_validate_json(json.dumps(one))
        for change in (
            {"level": "fatal"},
            {"ruleindex": 1},
            {"ruleIndex": -2},
            {"locations": [{"physicalLocation": {"region": {"startLine": 0}}}]},
        ):
            wrong = json.loads(json.dumps(one))
            wrong["runs"][0]["results"][0].update(change)
            with pytest.raises(ValueError):
                model.model_validate_json(json.dumps(wrong))

    def test_names_of_files(self, desk, monkeypatch):
        monkeypatch.chdir(desk)
        (desk / "a b:ü.seq").write_text(BROKEN)
        log = json.loads(check("--sarif", "a b:ü.seq", code=1).stdout)
        place = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "a%20b%3A%C3%BC.seq"


class TestFolders:
    def test_what_looks_like_a_model_or_a_motion(self, desk):
        (desk / "deep").mkdir()
        shutil.copy(desk / "walk.seq", desk / "deep" / "a.yaml")
        (desk / "deep" / "settings.yaml").write_text("a: 1\n")
        (desk / "deep" / "data.json").write_text("[1, 2]")
        (desk / "deep" / "table.csv").write_text("a,b\n1,2\n")
        (desk / "deep" / "notes.txt").write_text("words")
        (desk / "deep" / ".hidden.seq").write_text(BROKEN)
        (desk / ".git").mkdir()
        (desk / ".git" / "x.seq").write_text(BROKEN)
        (desk / "deep" / "loop").symlink_to(desk)
        expected = ["broken.seq", "odd.seq", "robot.wrl", "walk.seq", "deep/a.yaml"]
        assert [
            path.relative_to(desk).as_posix() for path in find_files([desk])
        ] == expected
        assert check(desk, code=1).stdout.endswith(
            "5 files checked: 1 error, 1 warning (errors in 1 file)\n"
        )

    @pytest.fixture
    def linked(self, tmp_path):
        """A folder with links that lead out of it, and one that does not."""
        inside, outside = tmp_path / "in", tmp_path / "out"
        inside.mkdir()
        outside.mkdir()
        for folder in (inside, outside):
            (folder / "odd.seq").write_text(ODD)
        (inside / "near.seq").symlink_to("odd.seq")
        (inside / "far.seq").symlink_to(outside / "odd.seq")
        (inside / "far.json").symlink_to("../out/odd.seq")
        (inside / "folder").symlink_to(outside)
        return inside

    def test_links_that_lead_out_are_not_followed(self, linked):
        told = []
        found = list(
            find_files([linked], lambda link, folder: told.append((link.name, folder)))
        )
        assert [path.name for path in found] == ["near.seq", "odd.seq"]
        assert told == [(name, linked) for name in ("folder", "far.json", "far.seq")]
        result = check("--fix", linked)
        assert (
            f"{linked / 'far.seq'} is a link that leads out of {linked}: not checked"
            in result.stderr
        )
        assert (linked.parent / "out" / "odd.seq").read_text() == ODD
        assert (linked / "odd.seq").read_text() != ODD
        assert (linked / "near.seq").is_symlink()

    def test_a_link_by_its_name_is_followed_and_stays(self, linked):
        check("--fix", linked / "far.seq")
        assert (linked / "far.seq").is_symlink()
        assert (
            (linked.parent / "out" / "odd.seq").read_text()
            == (linked / "far.seq").read_text()
            != ODD
        )

    def test_a_link_to_the_folder_itself(self, linked):
        (linked.parent / "way").symlink_to(linked)
        assert [path.name for path in find_files([linked.parent / "way"])] == [
            "near.seq",
            "odd.seq",
        ]

    def test_many_links(self, linked):
        for k in range(30):
            (linked / f"x{k}.seq").symlink_to(linked.parent / "out" / "odd.seq")
        stderr = check(linked).stderr
        assert (
            stderr.count("not checked") == 20
            and "and 13 more links that lead out" in stderr
        )

    def test_nothing_found_is_said_with_the_name(self, tmp_path):
        (tmp_path / "d.seq").mkdir()
        assert (
            f"model or motion in the folder {tmp_path / 'd.seq'}\n"
            in check(tmp_path / "d.seq", code=1).stderr
        )

    def test_a_named_file_is_checked_whatever_it_is(self, tmp_path):
        (tmp_path / "settings.yaml").write_text("a: 1\n")
        check(tmp_path / "settings.yaml", code=1)

    def test_each_file_once(self, desk):
        paths = list(find_files([desk / "walk.seq", desk, desk / "walk.seq"]))
        assert len(paths) == len(set(paths)) and paths[0] == desk / "walk.seq"


class Bomb(PosixPath):
    """A path that ends the process that it comes to."""

    def __reduce__(self):
        return os._exit, (1,)


class TestProcesses:
    @pytest.fixture(autouse=True)
    def always(self, monkeypatch):
        monkeypatch.setattr(checking, "MIN_BYTES", 0)
        monkeypatch.setattr("bodymotion.collection.mapping.num_cores", lambda: 2)

    def test_the_answers_are_those_of_one_process(self, desk):
        files = [
            desk / name
            for name in ("walk.seq", "broken.seq", "robot.wrl", "odd.seq", "none.seq")
        ]
        options, robot = (
            {"model": desk / "robot.wrl", "ignore": ("SEQ2",)},
            bm.load(desk / "robot.wrl"),
        )
        answers = list(check_files(files, robot, **options))
        assert [answer.path for answer in answers] == files
        assert answers == [
            checking.check_file(path, robot, **options) for path in files
        ]

    def test_a_process_that_ends_takes_no_other_file_along(self, desk):
        files = [desk / "broken.seq", Bomb(desk / "walk.seq"), desk / "odd.seq"]
        answers = list(check_files(files))
        assert [p.rule for answer in answers for p in answer.problems] == [
            "SEQ111",
            "FMT014",
            "SEQ214",
        ]

    def test_a_fault_of_ours_is_told_as_one(self, desk, monkeypatch):
        def broken(*things, **options):
            raise RuntimeError("what now")

        monkeypatch.setattr("bodymotion.checks.checking.read_here", broken)
        result = check(desk / "robot.wrl", code=1)
        assert (
            "error CHK102 not checked because of RuntimeError: what now"
            in result.stdout
        )
        assert "Traceback" in result.stderr


class TestMending:
    def test_a_diff_changes_nothing(self, desk):
        path = desk / "odd.seq"
        result = check("--diff", path, code=1)
        assert path.read_text() == ODD
        assert f"--- {path}\n+++ {path}\n@@ " in result.stdout
        assert (
            "-    numFrames: 1\n+    numFrames: 2\n" in result.stdout
            and "SEQ214" not in result.stdout
        )
        assert "1 location in 1 file would be fixed" in result.stderr
        check("--fix", "--diff", path, code=1)
        assert path.read_text() == ODD
        assert check("--diff", desk / "walk.seq").stdout == ""
        check("--diff", "--json", path, code=2)

    def test_a_fix_is_shown_written_and_checked(self, desk):
        path = desk / "odd.seq"
        path.chmod(0o640)
        (desk / "link.seq").symlink_to(path)
        result = check("--fix", desk / "link.seq")
        assert path.read_text() == ODD.replace("numFrames: 1", "numFrames: 2")
        assert "+    numFrames: 2\n" in result.stdout and result.stdout.endswith(
            "1 file checked: no problems\n"
        )
        assert "1 location in 1 file fixed" in result.stderr
        assert (desk / "link.seq").is_symlink() and path.stat().st_mode & 0o777 == 0o640
        assert "nothing to fix automatically" in check("--fix", path).stderr

    def test_what_is_left_is_told(self, desk):
        path = desk / "both.seq"
        path.write_text(BROKEN.replace("numParts: 3", "numParts: 3\n    numFrames: 1"))
        result = check("--fix", path, code=1)
        assert "error SEQ111" in result.stdout and "SEQ214" not in result.stdout
        assert "numFrames: 2" in path.read_text()

    def test_only_rules_that_are_asked_for(self, desk):
        path = desk / "odd.seq"
        check("--fix", "--ignore", "SEQ214", path)
        assert path.read_text() == ODD
        assert "--fix can fix SEQ214" in check(path).stderr

    def test_json_stays_json(self, desk):
        result = check("--fix", "--json", desk / "odd.seq")
        assert json.loads(result.stdout)["num_warnings"] == 0
        assert "+    numFrames: 2" in result.stderr

    def test_a_file_that_can_not_be_written_stays(self, desk, monkeypatch):
        from bodymotion.checks import fixing

        def changed(found):
            raise OSError("the file has changed meanwhile; it stays as it is")

        monkeypatch.setattr(fixing, "write_fixes", changed)
        result = check("--strict", "--fix", desk / "odd.seq", code=1)
        assert "has changed meanwhile" in result.stderr and "SEQ214" in result.stdout

    def test_a_file_that_changes_meanwhile_is_not_written(self, desk):
        from bodymotion.checks.fixing import find_fixes, write_fixes

        found = find_fixes(desk / "odd.seq", {"SEQ214"})
        (desk / "odd.seq").write_text(BROKEN)
        with pytest.raises(OSError, match="changed meanwhile"):
            write_fixes(found)
        assert (desk / "odd.seq").read_text() == BROKEN

    def test_a_pipe_is_not_mended(self, desk):
        path = Path("/dev/fd")
        if not path.exists():
            pytest.skip("no /dev/fd here")
        read, write = os.pipe()
        os.write(write, ODD.encode())
        os.close(write)
        try:
            assert "SEQ214" in check("--fix", f"/dev/fd/{read}").stdout
        finally:
            os.close(read)


def test_a_pipe_is_checked(desk):
    path = Path("/dev/fd")
    if not path.exists():
        pytest.skip("no /dev/fd here")
    read, write = os.pipe()
    os.write(write, BROKEN.encode())
    os.close(write)
    try:
        result = check(f"/dev/fd/{read}", code=1)
    finally:
        os.close(read)
    assert "12:15: error SEQ111" in result.stdout


def test_packages_of_a_urdf_are_named(tmp_path, examples):
    hand = tmp_path / "ros" / "hands" / "hand.stl"
    hand.parent.mkdir(parents=True)
    corners = "vertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n"
    hand.write_text(
        f"solid hand\nfacet normal 0 0 1\nouter loop\n{corners}endloop\nendfacet\nendsolid\n"
    )
    shape = '<visual><geometry><mesh filename="package://hands/hand.stl"/></geometry></visual>'
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "r.urdf").write_text(
        f'<robot name="r"><link name="a">{shape}</link></robot>\n'
    )
    shutil.copy(examples / "biped.wrl", tmp_path / "model" / "robot.wrl")
    lost = check(tmp_path / "model", code=1).output
    assert "FMT020" in lost
    assert "--package-path" in lost
    found = check(tmp_path / "model", "--package-path", tmp_path / "ros").output
    assert "FMT020" not in found


def test_only_what_can_be_fixed_in_the_format_of_a_file_is_said_to_be(tmp_path):
    """A quaternion whose length differs by rounding is fixed in a .cha, and in no table."""
    path = tmp_path / "walk.csv"
    path.write_text(
        "time,root_x,root_y,root_z,root_qw,root_qx,root_qy,root_qz\n0,1,2,3,1.05,0,0,0\n0.1,1,2,3,1,0,0,0\n"
    )
    found = check(path)
    assert "MOT102" in found.stdout and "--fix" not in found.stderr
    model = '<mujoco><worldbody><body name="a" quat="2 0 0 0"><geom type="sphere" size="1"/></body></worldbody></mujoco>'
    (tmp_path / "r.xml").write_text(model)
    found = check(tmp_path / "r.xml")
    assert "BODY106" in found.stdout and "--fix" not in found.stderr
    keyframe = "0.31 0.16 0 0.31 -0.16 0 -0.31 0.16 0 -0.31 -0.16 0 1 1 1 1 0 0 0.48"
    rows = f"0 {keyframe} 45 0 0 0\n1 {keyframe} 1 0 0 0\n"
    columns = "time foot_pos contact body_pos body_quat_wxyz"
    (tmp_path / "w.cha").write_text(
        f"controls legs body\nbpm 120\nno_looping\n\nno parameters\n\n{columns}\n{rows}"
    )
    found = check(tmp_path / "w.cha")
    assert "MOT102" in found.stdout and "MOT102" not in found.stderr
