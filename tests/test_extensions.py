"""A robot of a third party: the package of docs/developing/a-robot-of-your-own.md, installed beside bodymotion."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bodymotion.extensions import Extension, Function, extensions, kind_of
from sample_files import ROOT

PAGE = ROOT / "docs" / "developing" / "a-robot-of-your-own.md"
BLOCK = re.compile(
    r"^`wagger/(\w+\.py)`.*?^```py\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
GROUP = re.compile(r'entry-points\."(.*?)"\]\n(.*)')


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder on the path with the package of the page and its metadata."""
    folder = tmp_path_factory.mktemp("site")
    text = PAGE.read_text(encoding="utf-8")
    (folder / "wagger").mkdir()
    (folder / "wagger" / "__init__.py").touch()
    for name, code in BLOCK.findall(text):
        (folder / "wagger" / name).write_text(code, encoding="utf-8")
    metadata = folder / "wagger-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Name: wagger\nVersion: 1.0\n")
    group, row = GROUP.search(text).groups()
    rows = row.replace('"', "")
    (metadata / "entry_points.txt").write_text(f"[{group}]\n{rows}\n")
    return folder


def run(installed: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(installed), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_the_page_has_all_modules(installed):
    names = {path.name for path in (installed / "wagger").glob("*.py")}
    wanted = {"extension.py", "files.py", "sniffing.py", "values.py", "__init__.py"}
    assert names == wanted


def test_a_third_party_adds_its_robot(installed, tmp_path):
    """Load, check, save, describe, measure and convert a file that only the extension knows."""
    (tmp_path / "happy").write_text("0\n30\n-30\n120\n0\n0\n")
    code = f"""
import bodymotion as bm, sys
assert not [name for name in sys.modules if name.startswith("wagger")]
wag = bm.load({str(tmp_path / "happy")!r})
assert type(wag).__name__ == "Wag" and len(wag.angles) == 6
found = bm.check({str(tmp_path / "happy")!r}).problems
assert [(p.rule, p.location.line) for p in found] == [("WAG101", 4)], found
bm.save(wag, {str(tmp_path / "copy.wag")!r})
assert bm.load({str(tmp_path / "copy.wag")!r}).angles == wag.angles
body, motion = wag.body_and_motion()
assert body.num_joints == 1 and motion.duration == 0.5
assert bm.check({str(tmp_path / "happy")!r}, ignore="WAG1").problems == ()
"""
    result = run(installed, "-c", code)
    assert result.returncode == 0, result.stderr
    for arguments, expected in (
        (["check", "copy.wag"], "WAG101"),
        (["measure", "copy.wag"], ""),
        (["convert", "copy.wag", "copy.seq"], ""),
        (["info", "copy.wag"], "wag of a Wagger"),
        (["info", "copy.seq"], "JointDisplacement"),
    ):
        paths = [str(tmp_path / word) if "." in word else word for word in arguments]
        result = run(installed, "-m", "bodymotion", *paths)
        assert result.returncode == 0, (arguments, result.stderr)
        assert expected in result.stdout


def test_nothing_is_loaded_for_an_extension_that_is_not_used():
    code = (
        "import sys, bodymotion.formats.registry; "
        "print(*[name for name in sys.modules if name.startswith('bodymotion.spot.')])"
    )
    result = run(Path(), "-c", code)
    assert set(result.stdout.split()) <= {
        "bodymotion.spot.extension",
        "bodymotion.spot.sniffing",
    }


def test_every_function_of_an_extension_exists():
    for extension in extensions():
        places = [*extension.functions.values()]
        for kind in extension.kinds:
            assert isinstance(kind.type, type)
            places += kind.functions.values()
        assert all(callable(Function(place).find()) for place in places)


def test_a_missing_function_is_named():
    extension = Extension(name="wagger", package="wagger")
    with pytest.raises(ValueError, match=r"wagger.*no function"):
        extension.needed_function("body")
    assert kind_of(3) is None
