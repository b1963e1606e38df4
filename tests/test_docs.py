"""The pages for people are true: every command in them runs and prints what they say, every link leads somewhere.

In blocks marked `console` or `sh` a line that begins with ``$ `` is a command, run in a folder that holds a copy of the examples (also as
`robot.wrl` and `walk.seq`; with a fault as `broken.seq`; key poses as
`dance.pseq`, recorded motion as `clip.bvh`). The lines below it are what it prints, with `…` for
anything left out. Blocks marked `python` run one after another, page by page, and what their comments claim is asserted
(`doc_claims`).
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import os
import pickle
import pkgutil
import re
import shlex
import shutil
import signal
import subprocess
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner
from fuzz.texts import AMC, ASF, BVH, PSEQ

import bodymotion
from bodymotion.cli.app import app
from bodymotion.dynamics import QUANTITIES
from bodymotion.formats.registry import FORMATS
from bodymotion.plots import KINDS
from doc_claims import run_with_claims
from sample_files import ACCEPT, missing
from skeleton.test_amass_files import family
from tables.test_layouts import LAYOUTS
from waiting import TIMEOUT, until

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STORIES = [
    ROOT / "docs" / "choreography.md",
    ROOT / "docs" / "make-a-seq.md",
    ROOT / "docs" / "write-a-spot-animation.md",
]
"""Pages whose commands and code build on each other: run from the first to the last, in one folder."""
SETS_UP = re.compile(
    r"git clone |cd |(python3? -m )?pip3? install |(uv )?pip install |python3 -m venv |(source|\.) "
)
"""Commands that put bodymotion onto a machine: tried by the packaging test and by whoever clones the project, not here."""
QUOTED = re.compile(r"'[^']*'|\"[^\"`$]*\"")
"""Words in which the shell sees nothing of its own."""


@dataclass(frozen=True)
class Command:
    """A command line of a page and the lines that the page says it prints."""

    page: str
    line: str
    output: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.page}: {self.line}"


def blocks(page: Path, *languages: str) -> list[str]:
    return [
        text
        for language, text in BLOCK.findall(page.read_text(encoding="utf-8"))
        if language in languages
    ]


def commands() -> list[Command]:
    return [
        command
        for page in PAGES
        if page not in STORIES
        for block in blocks(page, "console", "sh")
        for command in commands_of(page, block)
    ]


def commands_of(page: Path, block: str) -> list[Command]:
    found = []
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        line, _, output = part.replace("\\\n", " ").partition("\n")
        found.append(
            Command(
                page.name,
                line.partition("  #")[0].strip(),
                tuple(output.rstrip().splitlines()),
            )
        )
    return found


COMMANDS = commands()


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


@pytest.fixture(scope="module")
def laid_out(tmp_path_factory, examples) -> Path:
    """The files that the pages work with, for copies."""
    folder = tmp_path_factory.mktemp("desk")
    shutil.copytree(
        examples, folder / "examples", ignore=shutil.ignore_patterns("__pycache__")
    )
    for path in examples.iterdir():
        if path.is_file():
            shutil.copy(path, folder)
    shutil.copy(examples / "biped.wrl", folder / "robot.wrl")
    shutil.copy(examples / "biped_walk.seq", folder / "walk.seq")
    if (
        not ACCEPT
    ):  # drawing its camera's frames takes as long as all other commands of two pages
        for path in (
            folder / "robot.wrl",
            folder / "biped.wrl",
            folder / "examples" / "biped.wrl",
        ):
            text = path.read_text(encoding="utf-8")
            assert "width 640 height 480" in text
            path.write_text(
                text.replace("width 640 height 480", "width 64 height 48"),
                encoding="utf-8",
            )
    (folder / "broken.seq").write_text(BROKEN)
    (folder / "motions").mkdir()
    for name in ("motions/walk.seq", "motions/again.seq"):
        shutil.copy(examples / "biped_walk.seq", folder / name)
    (folder / "dance.pseq").write_text(PSEQ[0])
    for name, text in {"clip.bvh": BVH, "clip.asf": ASF, "clip.amc": AMC}.items():
        (folder / name).write_text(text)
    for name, arrays in zip(("clip.npz", "SMPLH_NEUTRAL.npz"), family(52), strict=True):
        np.savez(folder / name, **arrays)
    (folder / "walk.pkl").write_bytes(pickle.dumps(LAYOUTS["GMR"]))
    return folder


@pytest.fixture
def desk(laid_out, tmp_path, monkeypatch) -> Path:
    """A folder to work in, with the examples in it."""
    monkeypatch.setattr("bodymotion.collection.mapping.num_cores", lambda: 1)
    return shutil.copytree(laid_out, tmp_path, dirs_exist_ok=True)


def environment() -> dict[str, str]:
    folder = str(Path(sys.executable).parent)
    return {
        **os.environ,
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "PYTHONUNBUFFERED": "1",
        "COLUMNS": "200",
    }


RUNS: dict[str, tuple[int, str]] = {}
"""Exit code and output of the commands that have run; each runs in a fresh copy of the examples, so it needs to run once only."""


def is_process(line: str) -> bool:
    """Return whether a command runs as a process: one viewer, all of the shell and of a robot; the others run in this process."""
    shell = bool(set(QUOTED.sub("", line)) & set("|<>;`$"))
    robot = " spot upload " in line or " spot rehearse " in line
    return shell or robot or line == "bodymotion view robot.wrl walk.seq"


@pytest.mark.parametrize("command", COMMANDS, ids=str)
def test_command(command, desk):
    if SETS_UP.match(command.line):
        return
    if command.line.startswith("make"):
        target = command.line.split()[1]
        assert re.search(
            rf"^{target}:",
            (ROOT / "Makefile").read_text(encoding="utf-8"),
            re.MULTILINE,
        )
        return
    if command.line not in RUNS:
        RUNS[command.line] = run(command, desk)
    code, output = RUNS[command.line]
    expected = (
        1
        if re.search(
            r"^\S+:\d+:\d+: (error )?[A-Z]+\d+ ",
            "\n".join(command.output),
            re.MULTILINE,
        )
        else 0
    )
    if "--strict-losses" in command.line:
        expected = 3
    assert code == expected, output
    prints(command.output, output)


def run(command: Command, desk: Path) -> tuple[int, str]:
    """Run a command in a folder; return its exit code and output."""
    line = command.line
    if (
        is_process(line)
        and re.search(r"\bbodymotion (view|spot rehearse)\b", line)
        and "--html" not in line
    ):
        serves(line, desk)
        return 0, "\n".join(command.output)
    if "bodymotion spot upload" in line:
        return uploads(command, desk)
    assert line.startswith("bodymotion "), (
        "neither a command of bodymotion nor one that sets it up"
    )
    if " render " in line:
        draws_here()
    if not is_process(line):
        return in_process(line, desk)
    result = subprocess.run(
        line,
        shell=True,
        cwd=desk,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    return result.returncode, result.stdout + result.stderr


def in_process(line: str, desk: Path) -> tuple[int, str]:
    """Run commands joined by && in this process; a viewer is started, and stopped at once."""
    import bodymotion.viewer.api

    real = bodymotion.viewer.api.view

    def started(*things, **options):
        viewer = real(
            *things, **{**options, "block": False, "open_browser": False, "port": 0}
        )
        if viewer is not None:
            viewer.stop()

    output = ""
    with contextlib.chdir(desk), pytest.MonkeyPatch.context() as patched:
        patched.setattr(bodymotion.viewer.api, "view", started)
        patched.setenv("COLUMNS", "200")
        for part in line.split("&&"):
            arguments = [
                found
                for word in shlex.split(part)[1:]
                for found in (
                    sorted(map(str, Path().glob(word))) if "*" in word else [word]
                )
                or [word]
            ]
            result = CliRunner().invoke(app, arguments)
            assert result.exception is None or isinstance(
                result.exception, SystemExit
            ), result.exception
            output += result.stdout + result.stderr
            if result.exit_code:
                return result.exit_code, output
    return 0, output


def draws_here() -> None:
    """Skip, or fail where CI=true, when nothing can draw on this machine."""
    from bodymotion.rendering.vtk import NoRendererError, off_screen_window

    try:
        off_screen_window(16, 16).Finalize()
    except (ImportError, NoRendererError) as error:
        missing(str(error))


def prints(said: tuple[str, ...], output: str) -> None:
    """Check that the lines stand in the output, in their order; a line `…` or `...` stands for any number of lines."""
    lines = [line.rstrip() for line in output.splitlines()]
    at, anywhere = 0, False
    for line in said:
        if line.strip() in ("…", "..."):
            anywhere = True
            continue
        pattern = re.compile(
            ".*".join(
                re.escape(part) for part in re.split("…|\\.\\.\\.", line.rstrip())
            )
        )
        hits = [i for i in range(at, len(lines)) if pattern.fullmatch(lines[i])]
        assert hits, f"not printed: {line!r}"
        assert anywhere or hits[0] == at, f"printed, but not here: {line!r}"
        at, anywhere = hits[0] + 1, False


def uploads(command: Command, desk: Path) -> tuple[int, str]:
    """Run a command that uploads to the stand-in robot which the page started before; return its exit code and output."""
    from bodymotion.spot import StandIn
    from bodymotion.spot.client.connection import PASSWORD, USERNAME

    with StandIn(certificate=desk / "rehearsal.pem") as robot:
        line = command.line.replace("127.0.0.1:4443", f"127.0.0.1:{robot.port}")
        secrets = {
            USERNAME: robot.credentials.username,
            PASSWORD: robot.credentials.password,
        }
        everything = {**environment(), **secrets}
        result = subprocess.run(
            line,
            shell=True,
            cwd=desk,
            env=everything,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
    assert secrets[PASSWORD] not in result.stdout + result.stderr
    return result.returncode, result.stdout + result.stderr


def serves(line: str, desk: Path) -> None:
    """Start a server, wait until it says its address, and interrupt it as Ctrl-C does."""
    line = line.replace("--port 4443", "--port 0")
    options = [
        option
        for option in ("--no-browser", "--port 0")
        if option.split()[0] not in line
    ]
    log = desk / "log.txt"
    with log.open("w") as out:
        process = subprocess.Popen(
            ["bash", "-c", "exec " + " ".join([line, *options])],
            cwd=desk,
            env=environment(),
            stdout=out,
            stderr=out,
        )
    try:
        ready = "Press Ctrl-C" if "rehearse" in line else "http://"
        until(lambda: ready in log.read_text() or process.poll() is not None)
        assert ready in log.read_text(), log.read_text()
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT) in (0, 130)
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("page", STORIES, ids=lambda page: page.name)
def test_story(page, desk):
    names: dict[str, object] = {}
    for language, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "python":
            execute(text, desk, names)
        elif language in ("console", "sh"):
            for command in commands_of(page, text):
                RUNS.pop(command.line, None)
                test_command(command, desk)
                RUNS.pop(command.line, None)


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if blocks(page, "python") and page not in STORIES],
    ids=lambda page: page.name,
)
def test_python(page, desk):
    execute("\n".join(blocks(page, "python")), desk, {})


def execute(code: str, desk: Path, names: dict[str, object]) -> None:
    """Run code in a folder, with names that earlier code has set; viewers are not opened."""
    import bodymotion

    with (
        contextlib.chdir(desk),
        pytest.MonkeyPatch.context() as patched,
        warnings.catch_warnings(),
    ):
        patched.setattr(
            bodymotion, "view", lambda *things, **options: None, raising=False
        )
        names.setdefault("__name__", "__main__")
        run_with_claims(code, names)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    links = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(
        r'(?:src|href)="([^"]+)"', text
    )
    for link in links:
        if not link.startswith(("http://", "https://", "mailto:")):
            target, _, anchor = link.partition("#")
            aim = page.parent / target if target else page
            assert aim.exists(), f"{page.name} points to {link}"
            assert not anchor or anchor in anchors(aim), f"{page.name} points to {link}"


def anchors(page: Path) -> set[str]:
    """Return the anchors that a page's headings have: their text in small letters, blanks as hyphens, without punctuation."""
    headings = re.findall(
        r"^#+ +(.+?) *$", BLOCK.sub("", page.read_text(encoding="utf-8")), re.MULTILINE
    )
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        for heading in headings
    }


def test_the_api_pages_have_every_public_name():
    """Their entries are modules, or what a module defines itself."""
    pages = sorted((ROOT / "docs" / "api").glob("*.md"))
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    entries = re.findall(r"^::: (\S+)$", text, re.MULTILINE)
    for entry in entries:
        found = pkgutil.resolve_name(entry)
        assert entry == (
            found.__name__
            if inspect.ismodule(found)
            else f"{found.__module__}.{found.__qualname__}"
        )
    modules = [bodymotion]
    for module in modules:
        named = {name: getattr(module, name) for name in module.__all__}
        modules += [
            value
            for value in named.values()
            if inspect.ismodule(value) and hasattr(value, "__all__")
        ]
        for name, value in named.items():
            place = getattr(value, "__module__", None) or ""
            assert not place.startswith("bodymotion") or {place, f"{place}.{name}"} & {
                *entries
            }, name


def test_the_reference_has_every_verb_and_option():
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    group = app
    sections = {
        heading.strip("`").split()[-1]: text
        for heading, text in re.findall(
            r"^## (`bodymotion[^\n]*`)\n(.*?)(?=^## |\Z)",
            page,
            re.MULTILINE | re.DOTALL,
        )
    }
    context = click.Context(group)
    found_commands = {
        name: group.get_command(context, name) for name in group.list_commands(context)
    }
    verbs = {
        name: command
        for verb, found in found_commands.items()
        for name, command in getattr(found, "commands", {verb: found}).items()
    }
    assert set(verbs) <= set(sections)
    (reading,) = re.findall(
        r"^### Options for reading\n(.*?)(?=^#)", page, re.MULTILINE | re.DOTALL
    )
    of_readers = set(re.findall(r"`(--?[a-z][a-z0-9-]*)", reading))
    (many,) = re.findall(
        r"^### Many files\n(.*?)(?=^#)", page, re.MULTILINE | re.DOTALL
    )
    of_many = set(re.findall(r"`(--?[a-z][a-z0-9-]*)", many))
    for name, command in verbs.items():
        real = {
            option
            for parameter in command.params
            for option in (*parameter.opts, *parameter.secondary_opts)
        }
        real = {option for option in real if option.startswith("-")}
        text = BLOCK.sub("", sections[name])
        told = set(re.findall(r"`(--?[a-z][a-z0-9-]*)", text))
        shared = {
            option
            for group in (of_readers, of_many)
            if group <= real
            for option in group
        }
        assert real - {"-h", "--help"} - shared == told - shared, name


@pytest.mark.parametrize("page", ["README.md", "docs/commands.md"])
def test_every_format_is_on_its_page(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    absent = [
        f.name
        for f in FORMATS
        if f.extensions
        and not any(f"`{extension}`" in text for extension in f.extensions)
    ]
    assert absent == [], f"add the format to the table of {page}"


def test_every_plot_is_on_its_page():
    text = (ROOT / "docs" / "plots.md").read_text(encoding="utf-8")
    absent = [
        name for name in KINDS if name not in QUANTITIES and f"`{name}`" not in text
    ]
    assert absent == [], "add the plot to the list of docs/plots.md"


def test_the_page_of_rules_is_up_to_date():
    spec = importlib.util.spec_from_file_location(
        "make_rules", ROOT / "docs" / "make_rules.py"
    )
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    assert (ROOT / "docs" / "rules.md").read_text(encoding="utf-8") == maker.page(), (
        "run `make docs`"
    )


def test_the_makefile_and_the_check_are_sound():
    for target in ("demo", "test", "check", "bench"):
        subprocess.run(
            ["make", "-n", target], cwd=ROOT, check=True, capture_output=True
        )
    subprocess.run(["bash", "-n", ".ci/run"], cwd=ROOT, check=True)
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


PLACEHOLDERS = ("NAME", "_X", "199", "MOT213")
"""What stands for something else in the pages for developers."""


@pytest.mark.parametrize(
    "page",
    [
        ROOT / "ARCHITECTURE.md",
        ROOT / "CONTRIBUTING.md",
        *sorted((ROOT / "docs" / "developing").glob("*.md")),
    ],
    ids=lambda page: page.name,
)
def test_what_pages_for_developers_name_exists(page):
    """Every word of code in them is a word of the code or the name of a file."""
    code = [
        path
        for folder in ("src", "tests", "fuzz", "docs")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".pyi", ".txt")
    ]
    code += [ROOT / "Makefile", ROOT / "pyproject.toml"]
    known = {path.name for path in code}
    for path in code:
        known.update(re.findall(r"\w+", path.read_text(encoding="utf-8")))
    prose = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for span in re.findall(r"`([^`\n]+)`", prose):
        for word in re.findall(r"[A-Za-z_]\w+(?:\.py|\.txt)?", span):
            is_placeholder = any(part in word for part in PLACEHOLDERS)
            assert word in known or is_placeholder, f"{page.name}: {span}"
