"""A built wheel, installed alone in an empty environment, opens the examples from anywhere on the machine."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from sample_files import ACCEPT, ROOT, missing
from waiting import TIMEOUT

NO_INDEX = re.compile(
    "No matching distribution|Temporary failure|Network is unreachable|Connection|Max retries|Name or service",
    re.IGNORECASE,
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    built = subprocess.run(
        [
            sys.executable,
            "-m",
            "build",
            "--wheel",
            "--no-isolation",
            "--outdir",
            str(folder),
            str(ROOT),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    (path,) = folder.glob("*.whl")
    return path


def test_what_the_wheel_holds(wheel):
    package = ROOT / "src" / "bodymotion"
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (stated,) = (
            archive.read(name).decode() for name in names if name.endswith("/METADATA")
        )
        (entry_points,) = (
            archive.read(name).decode()
            for name in names
            if name.endswith("/entry_points.txt")
        )
    files = {
        f"bodymotion/{p.relative_to(package).as_posix()}"
        for p in package.rglob("*")
        if p.is_file()
    }
    assert {name for name in files if "__pycache__" not in name} <= names
    assert {name.split("/")[0] for name in names} == {
        "bodymotion",
        *(n.split("/")[0] for n in names if ".dist-info/" in n),
    }
    assert any(name.endswith("/LICENSE") for name in names)
    assert "License-Expression: Apache-2.0" in stated
    assert "bodymotion = bodymotion.cli:main" in entry_points


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """A folder far from the project with an environment that holds the wheel, and what it asks for, and nothing else.

    What it asks for is installed in acceptance; else the files of what is installed here are linked.
    """
    folder = tmp_path_factory.mktemp("elsewhere")
    venv.create(folder / "env")
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        folder / "env",
        "--disable-pip-version-check",
        "--no-input",
    ]
    index = (
        ["--retries", "2", "--timeout", "20", "-c", ROOT / "constraints.txt"]
        if ACCEPT
        else ["--no-deps"]
    )
    result = subprocess.run(
        [*pip, "install", "--quiet", "--no-compile", *index, wheel],
        capture_output=True,
        text=True,
        env=clean(),
        cwd=folder,
        check=False,
    )
    if result.returncode and NO_INDEX.search(result.stderr):
        missing("an index of Python packages")
    assert result.returncode == 0, result.stderr
    if not ACCEPT:
        (packages,) = (folder / "env").glob("lib/python*/site-packages")
        (own,) = metadata.distributions(name="bodymotion", path=[str(packages)])
        link_asked_for(own, packages, set())
    checked = subprocess.run(
        [*pip, "check"], capture_output=True, text=True, env=clean(), check=False
    )
    assert checked.returncode == 0, checked.stdout
    return folder


def link_asked_for(
    asking: metadata.Distribution, packages: Path, linked: set[str]
) -> None:
    """Link all that a distribution asks for, and what that asks for, into a folder of packages."""
    for requirement in map(Requirement, asking.requires or ()):
        if requirement.name in linked or (
            requirement.marker and not requirement.marker.evaluate({"extra": ""})
        ):
            continue
        assert not requirement.extras, (
            f"{requirement}: what extras ask for is not linked"
        )
        linked.add(requirement.name)
        found = metadata.distribution(requirement.name)
        for file in found.files or ():
            # A folder that several distributions share is no package, and linked file by file.
            whole = found.locate_file(file.parts[0])
            is_own = Path(whole, "__init__.py").is_file() or file.parts[0].endswith(
                (".dist-info", ".libs")
            )
            path = packages / (file.parts[0] if is_own else file)
            if ".." not in file.parts and not path.is_symlink():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.symlink_to(whole if is_own else found.locate_file(file))
        link_asked_for(found, packages, linked)


def clean() -> dict[str, str]:
    return {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("PYTHON", "VIRTUAL_ENV", "BODYMOTION"))
    }


def run(folder: Path, *arguments: str) -> str:
    result = subprocess.run(
        [folder / "env" / "bin" / arguments[0], *arguments[1:]],
        cwd=folder,
        env=clean(),
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.slow
def test_installed_alone(installed, examples):
    for name in ("biped.wrl", "biped_walk.seq"):
        shutil.copy(examples / name, installed)
    where = run(
        installed, "python", "-c", "import bodymotion; print(bodymotion.__file__)"
    ).strip()
    assert Path(where).is_relative_to(installed / "env")

    body, motion = json.loads(
        run(installed, "bodymotion", "info", "--json", "biped.wrl", "biped_walk.seq")
    )
    assert body["kind"] == "body"
    assert body["mass"] > 0
    assert motion["kind"] == "motion"
    assert motion["duration"] > 9
    assert "Links" in run(installed, "bodymotion", "info", "biped.wrl")

    run(
        installed,
        "bodymotion",
        "view",
        "biped.wrl",
        "biped_walk.seq",
        "--html",
        "walk.html",
    )
    page = (installed / "walk.html").read_text(encoding="utf-8")
    assert "<html" in page.lower()
    assert len(page) > 100_000
