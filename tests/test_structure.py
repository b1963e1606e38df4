"""The packages: what each may import, what is public, what import does not load, and what no file may hold."""

from __future__ import annotations

import ast
import gc
import importlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import bodymotion

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "bodymotion"

LAYERS = (
    ("extensions",),
    ("diagnostics",),
    ("system",),
    ("geometry",),
    ("kernels",),
    ("motion",),
    ("model",),
    ("keyposes",),
    ("skeleton",),
    ("formats",),
    ("scene",),
    ("comparison",),
    ("editing",),
    ("dynamics",),
    ("simulation",),
    ("checks",),
    ("balancing",),
    ("collection",),
    ("retargeting",),
    ("plots",),
    ("viewer",),
    ("rendering",),
    ("notebooks", "reports"),
    ("cli",),
    ("spot",),
)
"""Packages from the lowest layer to the highest; a package imports from lower layers only. Place a new package here."""

LAYER = {
    package: number for number, packages in enumerate(LAYERS) for package in packages
}
HEAVY = (
    "numba",
    "trimesh",
    "viser",
    "yaml",
    "simdjson",
    "google.protobuf",
    "orjson",
    "scipy",
    "PIL",
    "click",
    "rich",
    "mujoco",
    "matplotlib",
    "plotly",
    "vtkmodules",
    "av",
)


def modules() -> dict[str, Path]:
    """Return all modules of the package: dotted name without the package's own, and file."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


@pytest.fixture(scope="module", autouse=True)
def _no_collection_of_garbage() -> Iterator[None]:
    """Syntax trees are kept until the end: to look through them for garbage, again and again, takes longer than to make them."""
    gc.disable()
    yield
    gc.enable()


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(parsed(path)))


@cache
def imports(name: str, path: Path) -> tuple[tuple[str, int, bool], ...]:
    """Return what a module imports of the package: dotted name, line, whether for types only."""
    return tuple(_imports(name, path))


def _imports(name: str, path: Path) -> Iterator[tuple[str, int, bool]]:
    for_types = {
        id(inner)
        for node in nodes(path)
        if isinstance(node, ast.If)
        and any(
            "TYPE_CHECKING" in (getattr(one, "id", ""), getattr(one, "attr", ""))
            for one in ast.walk(node.test)
        )
        for inner in ast.walk(node)
    }
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in nodes(path):
        targets: list[str] = []
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".") if package else []
                above = above[: len(above) - (node.level - 1)]
                base = ".".join(
                    ["bodymotion", *above, *([node.module] if node.module else [])]
                )
            targets = [f"{base}.{alias.name}" for alias in node.names]
        for target in targets:
            if target.split(".")[0] != "bodymotion":
                continue
            inside = target.partition(".")[2]
            while inside and inside not in MODULES:
                inside = inside.rpartition(".")[0]
            if inside:
                yield inside, node.lineno, id(node) in for_types


def package_of(module: str) -> str:
    return module.partition(".")[0]


INNER = {name: path for name, path in MODULES.items() if name not in ("", "__main__")}


def test_every_package_has_a_layer():
    assert {package_of(name) for name in INNER} <= set(LAYER), (
        "place the new package in LAYERS"
    )


def test_nothing_imports_upwards():
    wrong = [
        f"{name}:{line} imports {target}, which is not below it"
        for name, path in INNER.items()
        for target, line, _ in imports(name, path)
        if (package := package_of(target)) != package_of(name)
        if LAYER[package] >= LAYER[package_of(name)]
    ]
    assert wrong == []


NAMES_OF_SPOT = re.compile(
    r"(?<![A-Za-z])(spot|cha|cap|csq)(?![A-Za-z])|choreograph|animation", re.IGNORECASE
)
HOMONYM = re.compile(r"\bon_cap\b|cap of the|their cap \(|first cap has")
"""The caps of cylinders, and that of the collector."""


def test_only_spot_names_spot():
    """Other packages ask `extensions`: a third party could add its robot likewise.

    The stubs of public names (`__init__.pyi`) are the exception.
    """
    named = [
        f"{name}:{number}: {line.strip()}"
        for name, path in INNER.items()
        if package_of(name) != "spot"
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if NAMES_OF_SPOT.search(HOMONYM.sub("", line))
    ]
    assert named == []


def test_no_cycle_of_imports():
    """Neither when modules load nor later: imports inside of functions count, too.

    A method that a module above its value provides names that module; see
    `system.deferred.provided_by`.
    """
    imported: dict[str, set[str]] = {}
    for name, path in INNER.items():
        found = imports(name, path)
        targets = {target for target, _, for_types in found if not for_types}
        # A module imports the package that it is in.
        around = {target for target in targets if f"{name}.".startswith(f"{target}.")}
        imported[name] = targets - around
    assert _cycle(imported) == []


def _cycle(graph: dict[str, set[str]]) -> list[str]:
    """Return the nodes that are on a cycle or lead only to one: what is left when leaves are taken off again and again."""
    left = {node: set(targets) & set(graph) for node, targets in graph.items()}
    while leaves := [node for node, targets in left.items() if not targets]:
        for leaf in leaves:
            del left[leaf]
        for targets in left.values():
            targets.difference_update(leaves)
    return sorted(left)


STRING_METHODS = {
    "split",
    "rsplit",
    "splitlines",
    "partition",
    "rpartition",
    "startswith",
    "endswith",
    "find",
    "index",
}
STRING_METHODS |= {
    "removeprefix",
    "removesuffix",
    "replace",
    "count",
    "strip",
    "lower",
    "casefold",
}


def reads_a_message(path: Path) -> list[int]:
    """Return the lines in which a `.message` is compared, searched, or taken apart; to print it or to pass it on is fine."""

    def is_message(node: ast.AST) -> bool:
        return isinstance(node, ast.Attribute) and node.attr == "message"

    lines = []
    for node in nodes(path):
        read = (
            (
                isinstance(node, ast.Compare)
                and any(map(is_message, (node.left, *node.comparators)))
            )
            or (
                isinstance(node, ast.Attribute)
                and node.attr in STRING_METHODS
                and is_message(node.value)
            )
            or (isinstance(node, ast.Subscript) and is_message(node.value))
            or (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr
                in {"match", "search", "fullmatch", "findall", "finditer", "sub"}
                and any(map(is_message, node.args))
            )
        )
        if read:
            lines.append(node.lineno)
    return lines


def test_no_module_reads_a_message():
    """What a program needs of a problem is in its rule, subject and data: any message may be reworded."""
    found = {
        name: lines for name, path in INNER.items() if (lines := reads_a_message(path))
    }
    assert found == {}


def test_there_is_one_collector():
    """Problems are collected in `diagnostics.Diagnostics`, not in lists that are handed from function to function."""
    found = set()
    for name, path in INNER.items():
        for node in nodes(path):
            handed = isinstance(node, ast.arg) and node.annotation is not None
            held = isinstance(node, ast.AnnAssign) and isinstance(
                node.target, ast.Attribute
            )
            is_list = (handed or held) and isinstance(node.annotation, ast.Subscript)
            if is_list and ast.unparse(node.annotation) == "list[Problem]":  # type: ignore[union-attr]
                found.add(name)
    assert found == set()


@pytest.mark.parametrize("language", ["formats.vrml", "formats.seq"])
def test_a_language_knows_no_other_format(language):
    allowed = (
        language,
        "formats.rules",
        "formats.encodings",
        "formats.limits",
        "formats.text",
        "formats.registry",
        "formats.yaml",
        "formats.meshes",
        "formats.resources",
    )
    for name in (
        name for name in INNER if name == language or name.startswith(f"{language}.")
    ):
        for target, line, _ in imports(name, INNER[name]):
            ok = (
                package_of(target) != "formats"
                or target == "formats"
                or target.startswith(allowed)
            )
            assert ok, f"{name}:{line} imports {target}"


@pytest.mark.parametrize("format_name", ["urdf", "mjcf", "meshes"])
def test_a_format_without_vrml_does_not_import_it(format_name):
    """Meshes in VRML97 are read by a function that the table of readers names."""
    package = f"formats.{format_name}"
    for name in INNER:
        if name == package or name.startswith(f"{package}."):
            for target, line, _ in imports(name, INNER[name]):
                is_vrml = target.startswith("formats.vrml")
                assert not is_vrml, f"{name}:{line} imports {target}"


def test_vrml_knows_no_robots():
    for name in (name for name in INNER if name.startswith("formats.vrml")):
        for target, line, _ in imports(name, INNER[name]):
            assert (
                LAYER[package_of(target)] < LAYER["motion"]
                or package_of(target) == "formats"
            ), f"{name}:{line} imports {target}"


def test_every_name_in_all_exists():
    for name in MODULES:
        if name == "__main__":
            continue
        module = importlib.import_module(f"bodymotion.{name}" if name else "bodymotion")
        listed = getattr(module, "__all__", [])
        assert len(listed) == len(set(listed)), name
        assert [public for public in listed if not hasattr(module, public)] == [], name


def test_every_module_has_a_docstring():
    assert [
        name for name, path in INNER.items() if not ast.get_docstring(parsed(path))
    ] == []


def test_public_names():
    promised = "load open_motion view Body Motion Problem Findings FormatError Location MultiValueSeq MultiSE3Seq Vector3Seq"
    assert set(promised.split()) <= set(bodymotion.__all__)
    assert dir(bodymotion) == sorted(bodymotion.__all__)
    for public in bodymotion.__all__:
        assert getattr(bodymotion, public) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = bodymotion.nothing


def loaded_after(code: str) -> set[str]:
    """Return the top-level packages that are loaded in a fresh interpreter after some code ran."""
    code += "\nimport json, sys; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return set(json.loads(result.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    "code", ["import bodymotion", "from bodymotion import Body, Motion, load"]
)
def test_import_loads_nothing_heavy(code):
    assert not loaded_after(code) & set(HEAVY)


def project_files() -> list[Path]:
    """Return the files of the project: those that git knows, or all where there is no git."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode == 0 and listed.stdout:
        return [
            ROOT / name
            for name in listed.stdout.split("\0")
            if name and (ROOT / name).is_file()
        ]
    return [
        path
        for path in ROOT.rglob("*")
        if path.is_file()
        and not any(p.startswith((".", "__pycache__")) for p in path.parts)
    ]


def test_no_two_test_files_have_one_name():
    """pytest imports them by their bare names."""
    names = [
        path.name
        for path in (ROOT / "tests").rglob("*.py")
        if path.name != "conftest.py"
    ]
    assert sorted(names) == sorted(set(names))


def test_no_file_names_a_machine_or_a_registry():
    folders = [
        rf"(?<![\w.-])/{name}/"
        for name in ("work", "root", "home/[a-z]", "Users/[a-z]")
    ]
    hosts = [
        name.replace("_", r"\.")
        for name in ("pypi_org", "pythonhosted_org", "test_pypi")
    ]
    options = [f"--{name}index" + "-url" for name in ("", "extra-")] + [
        "--trusted-" + "host",
        "PIP_" + "INDEX",
    ]
    forbidden = re.compile("|".join([*folders, *hosts, *options]))
    for path in project_files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found = forbidden.search(text)
        assert not found, f"{path.relative_to(ROOT)} names {found.group()!r}"


def test_dependencies_are_pinned_without_addresses():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line.strip() and not line.startswith("#")]
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.!+_-]+", pin) for pin in pins)
    names = {re.sub(r"[-_.]+", "-", pin.partition("==")[0]).lower() for pin in pins}
    assert len(names) == len(pins)
    wanted = re.findall(
        r'^  "([A-Za-z0-9._-]+)>=',
        (ROOT / "pyproject.toml").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert len(wanted) > 10
    assert {re.sub(r"[-_.]+", "-", name).lower() for name in wanted} <= names


def test_licence_and_version():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{bodymotion.__version__}"' in text
    assert 'license = "Apache-2.0"' in text
    assert "Apache License" in (ROOT / "LICENSE").read_text(encoding="utf-8")
    released, dev, _ = bodymotion.__version__.partition(".dev")
    changes = re.findall(
        r"^## \[(.*?)\]( - \d{4}-\d\d-\d\d)?$",
        (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    newest, date = changes[0]
    # A development version is later than the newest release; without changes since then, the version is that release.
    assert (newest == "Unreleased") == bool(dev)
    if dev:
        numbers = [tuple(map(int, one.split("."))) for one in (released, changes[1][0])]
        assert numbers[0] > numbers[1] and not date
    else:
        assert newest == released and date
