"""The command as a program: starts quickly, ends politely, keeps results and messages apart."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from rich.cells import cell_len as width

import bodymotion
from bodymotion.cli.app import app
from waiting import TIMEOUT, until

COMMAND = str(Path(sys.executable).parent / "bodymotion")


def run(*arguments: str, **options):
    return subprocess.run(
        [COMMAND, *arguments],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
        **options,
    )


@pytest.fixture
def walk(examples) -> str:
    return str(examples / "biped_walk.seq")


def test_version():
    result = run("--version")
    assert (result.returncode, result.stdout, result.stderr) == (
        0,
        f"bodymotion {bodymotion.__version__}\n",
        "",
    )


@pytest.mark.parametrize(
    "arguments", [["--help-all"], ["info", "-h"], ["info", "--help"]]
)
def test_help_has_examples(arguments):
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0
    assert re.search(r"Examples:\n +bodymotion info", result.stdout)
    assert result.stderr == ""


def test_the_module_is_the_command():
    result = subprocess.run(
        [sys.executable, "-m", "bodymotion", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout == run("--version").stdout


@pytest.mark.parametrize(
    "arguments", [[], ["nonsense"], ["info"], ["info", "--nonsense", "a.seq"]]
)
def test_wrong_use(arguments):
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert "Usage:" in result.stdout + result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "unloaded"),
    [
        (
            ["--help"],
            "numpy rich yaml simdjson numba trimesh viser scipy PIL matplotlib",
        ),
        (
            ["--version"],
            "numpy rich yaml simdjson numba trimesh viser scipy PIL matplotlib",
        ),
        (["info", "WALK"], "numba trimesh viser scipy PIL matplotlib"),
        (["info", "MODEL"], "viser scipy matplotlib"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_stays_unloaded(arguments, unloaded, examples):
    files = {
        "WALK": str(examples / "biped_walk.seq"),
        "MODEL": str(examples / "biped.wrl"),
    }
    code = """
import json, sys
from bodymotion.cli import main
try:
    main()
except SystemExit as end:
    assert end.code in (0, None)
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""
    result = subprocess.run(
        [sys.executable, "-c", code, *(files.get(a, a) for a in arguments)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not set(unloaded.split()) & set(json.loads(result.stdout.splitlines()[-1]))


def test_reader_of_the_output_goes_away(walk, tmp_path):
    """As in `bodymotion info … | head -1`, with more output than a pipe holds."""
    messages = tmp_path / "messages"
    with messages.open("wb") as err:
        process = subprocess.Popen(
            [COMMAND, "info", *[walk] * 100], stdout=subprocess.PIPE, stderr=err
        )
    assert process.stdout.readline()
    process.stdout.close()
    assert process.wait(TIMEOUT) == 141
    assert messages.read_bytes() == b""


@pytest.mark.parametrize(
    "arguments", [["convert", "--to", "seq"], ["convert", "--to", "csv"]], ids=" ".join
)
def test_reader_of_a_file_that_is_written_goes_away(walk, arguments, tmp_path):
    """As in `bodymotion convert walk.seq /dev/stdout --to seq | head -1`."""
    messages = tmp_path / "messages"
    with messages.open("wb") as err:
        process = subprocess.Popen(
            [COMMAND, *arguments, walk, "/dev/stdout"],
            stdout=subprocess.PIPE,
            stderr=err,
        )
    assert process.stdout.readline()
    process.stdout.close()
    assert process.wait(TIMEOUT) == 141
    assert messages.read_bytes() == b""


def test_interrupted(tmp_path):
    """Ctrl-C while a file is read: a FIFO whose writer is silent keeps the command waiting."""
    waits = tmp_path / "waits.seq"
    os.mkfifo(waits)
    writer = os.open(waits, os.O_RDWR)
    process = subprocess.Popen(
        [COMMAND, "info", waits], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    until(lambda: re.search("pipe|poll", waiting_in(process.pid)))
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=TIMEOUT)
    os.close(writer)
    assert process.returncode == 130
    assert out == b""
    assert b"Traceback" not in err


def test_interrupted_while_a_module_is_imported(tmp_path):
    """CPython remembers a KeyboardInterrupt that left an `exec` of text, and ends `python -m` by the signal although it was handled."""
    (tmp_path / "interrupted.py").write_text(
        "import os, signal\n"
        "from bodymotion import cli\n"
        "from bodymotion.cli import app\n"
        "def command(**options):\n"
        "    try:\n"
        "        exec('os.kill(os.getpid(), signal.SIGINT)\\nfor _ in range(10000): pass', globals())\n"
        "    except KeyboardInterrupt:\n"
        "        raise SystemExit(130)\n"
        "app.app = command\n"
        "cli.main()\n"
    )
    ended = subprocess.run(
        [sys.executable, "-m", "interrupted"],
        cwd=tmp_path,
        timeout=TIMEOUT,
        check=False,
    )
    assert ended.returncode == 130


@pytest.mark.parametrize(
    "module",
    ["bodymotion.cli.app", "bodymotion.cli.info", "bodymotion.formats.registry"],
)
def test_interrupted_while_commands_are_imported(module, tmp_path):
    (tmp_path / "interrupted.py").write_text(
        "import os, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a background job of a shell ignores it
        "class Finder:\n"
        "    def find_spec(self, name, *rest):\n"
        f"        if name == {module!r}:\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "            for _ in range(10000): pass\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from bodymotion.cli import main\n"
        "sys.argv = ['bodymotion', 'info', 'missing.seq']\n"
        "main()\n"
    )
    command = [sys.executable, "-m", "interrupted"]
    ended = subprocess.run(
        command, cwd=tmp_path, timeout=TIMEOUT, check=False, capture_output=True
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, b"", b"")


def waiting_in(pid: int) -> str:
    """Return the function of the kernel that a process waits in; where Linux does not say, wait a second instead."""
    try:
        return Path(f"/proc/{pid}/wchan").read_text()
    except OSError:
        time.sleep(1)
        return "pipe"


def test_on_a_terminal(walk):
    """Coloured on a terminal, the same words as in a pipe."""
    shown = on_a_terminal("info", walk, columns=250)
    assert "\x1b[1m" in shown
    plain = run("info", walk).stdout
    assert "\x1b" not in plain
    for word in plain.split():
        assert word in shown


def test_output_in_an_encoding_that_lacks_characters(walk):
    result = run("info", walk, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert result.returncode == 0, result.stderr


def test_a_fault_of_our_own_is_said_and_the_rest_goes_on(walk, monkeypatch):
    """A bug shows its traceback on stderr, costs one file its answer, and gives exit code 1."""
    import bodymotion.cli.info_data as module

    real = module.describe
    calls = []

    def once(*arguments, **options):
        calls.append(arguments)
        if len(calls) == 1:
            raise RuntimeError("broken here")
        return real(*arguments, **options)

    monkeypatch.setattr(module, "describe", once)
    result = CliRunner().invoke(app, ["info", walk, walk])
    assert result.exit_code == 1
    assert "broken here" in result.stderr
    assert "bug of bodymotion" in result.stderr
    assert "Components" in result.stdout


def test_a_pipe_is_read_once(examples, tmp_path):
    """`cat FILE | bodymotion VERB /dev/stdin` is what `bodymotion VERB FILE` is, though a file is looked at before it is read."""
    for name in ("biped.wrl", "biped_walk.seq"):
        with (examples / name).open("rb") as file:
            (from_file,) = [
                json.loads(run("info", "--json", str(examples / name)).stdout)
            ]
            piped = subprocess.run(
                ["cat"], stdin=file, stdout=subprocess.PIPE, check=True
            ).stdout
        result = subprocess.run(
            [COMMAND, "info", "--json", "/dev/stdin"],
            input=piped,
            capture_output=True,
            check=False,
        )
        assert result.returncode == 0, result.stderr
        from_pipe = json.loads(result.stdout)
        assert from_pipe.pop("file") == "/dev/stdin"
        del from_file["file"]
        assert without_paths(from_pipe) == without_paths(from_file)
    out = tmp_path / "out.seq"
    subprocess.run(
        [COMMAND, "convert", "/dev/stdin", out],
        input=piped,
        capture_output=True,
        check=True,
    )
    assert bodymotion.load(out) == bodymotion.load(examples / "biped_walk.seq")
    subprocess.run(
        [COMMAND, "convert", "/dev/stdin", tmp_path / "out.npz"],
        input=piped,
        capture_output=True,
        check=False,
    )
    with (tmp_path / "out.npz").open("rb") as file:
        result = subprocess.run(
            ["bash", "-c", f"'{COMMAND}' info <(cat)"],
            stdin=file,
            capture_output=True,
            check=False,
        )
    assert result.returncode == 0, result.stderr
    result = subprocess.run(
        [COMMAND, "info", "/dev/stdin"],
        input=piped.replace(b"- [", b"- [ 0x2, ", 1),
        capture_output=True,
        check=False,
    )
    assert result.returncode == 1
    message, line = result.stderr.decode().splitlines()[:2]
    assert message.startswith("/dev/stdin:")
    assert "0x2" in line


def without_paths(data: dict[str, object]) -> dict[str, object]:
    return {
        **data,
        "problems": [{**problem, "path": None} for problem in data["problems"]],
    }


@pytest.mark.parametrize("columns", [60, 80])
def test_a_narrow_terminal(examples, tmp_path, columns):
    """No line is wider than the window, wherever the files are, and what goes on goes on below where it began."""
    files = [
        str(
            tmp_path
            / "a_folder_with_a_name_that_is_longer_than_a_window_is_wide"
            / "biped.wrl"
        )
    ]
    Path(files[0]).parent.mkdir()
    shutil.copy(examples / "biped.wrl", files[0])
    shutil.copy(examples / "biped_walk.seq", tmp_path)
    files.append(str(tmp_path / "biped_walk.seq"))
    shown = re.sub(
        r"\x1b\[[0-9;]*m", "", on_a_terminal("info", "-v", *files, columns=columns)
    ).split("\n")
    assert max(map(width, shown)) <= columns
    at = next(i for i, line in enumerate(shown) if line.startswith("  devices"))
    assert shown[at + 1].startswith(" " * 22)
    assert shown[at + 1][22] != " "
    numbers = [
        word
        for word in run("info", "-v", *files).stdout.split()
        if re.fullmatch(r"-?[0-9]+\.[0-9]+", word)
    ]
    assert len(numbers) > 100
    assert {number for number in numbers if number not in "".join(shown)} == set()


def on_a_terminal(*arguments: str, columns: int) -> str:
    """Return what a terminal of so many columns gets."""
    main, side = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(columns)}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen(
        [COMMAND, *arguments], stdout=side, stderr=side, env=environment
    )
    os.close(side)
    shown = b""
    while True:
        try:
            piece = os.read(main, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(main)
    assert process.wait(TIMEOUT) == 0
    return shown.decode().replace("\r", "")


def every_command():
    context = click.Context(app)
    for name in app.list_commands(context):
        command = app.get_command(context, name)
        inner = getattr(command, "commands", {})
        yield [name]
        yield from ([name, verb] for verb in inner)


@pytest.mark.parametrize("words", [[], *every_command()], ids=" ".join)
def test_the_first_page_of_help_fits_a_terminal(words):
    text = CliRunner().invoke(app, [*words, "--help"], terminal_width=80).output
    lines = text.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    path = " ".join(["bodymotion", *words])
    assert f"`{path} --help-all`" in " ".join(text.replace("app", "bodymotion").split())


def test_all_options_are_in_their_groups():
    text = CliRunner().invoke(app, ["measure", "--help-all"]).output
    headings = re.findall(r"^(\w[^\n]*):$", text, re.MULTILINE)
    assert headings == [
        "Positional arguments",
        "Options",
        "More options",
        "Reading the files",
        "Output",
        "Many files",
        "Reading certain formats",
        "Help",
    ]
    measure = app.get_command(click.Context(app), "measure")
    flags = [flag for option in measure.params for flag in option.opts]
    assert all(flag in text for flag in flags if flag.startswith("-"))


def test_help_needs_no_files():
    result = CliRunner().invoke(app, ["measure", "--help", "absent", "b", "c"])
    assert result.exit_code == 0
    assert result.output.startswith("Usage:")


@pytest.mark.parametrize("group", [(), ("spot",)])
@pytest.mark.parametrize("width", [50, 80, 140])
def test_the_list_of_commands_has_whole_sentences(group, width):
    text = CliRunner().invoke(app, [*group, "--help"], terminal_width=width).output
    commands = text.split("Commands:")[1]
    assert not re.search(r"\.\.\.|…", commands)
    of_group = app.get_command(click.Context(app), group[0]) if group else app
    context = click.Context(of_group)
    words = " ".join(commands.split())
    for name in of_group.list_commands(context):
        command = of_group.get_command(context, name)
        summary = command.help.split("\n\n")[0].split()
        assert " ".join([name, *summary]) in words


@pytest.mark.parametrize(
    ("words", "closed", "code"),
    [
        (["info", "WALK"], "2>&-", 0),
        (["check", "WALK"], "2>&-", 0),
        (["check", "WALK"], ">&-", 1),
        (["--help"], ">&-", 1),
        (["convert", "WALK", "out.csv"], "<&- >&-", 0),
    ],
)
def test_closed_standard_streams(tmp_path, examples, words, closed, code):
    """Messages are no results: without stderr all is done; results that cannot be written are a failure."""
    words = [str(examples / "biped_walk.seq") if w == "WALK" else w for w in words]
    line = f"exec {shlex.join([str(COMMAND), *words])} {closed}"
    done = subprocess.run(
        ["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert code == 0 or "results cannot be written" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["info", "LONG"],
        ["check", "LONG"],
        ["convert", "WALK", "LONG"],
        ["measure", "LONG", "WALK"],
        ["info", "@LONG"],
        ["catalogue", "LONG"],
        ["info", "WALK", "--table", "LONG.csv"],
    ],
)
def test_names_that_are_too_long(tmp_path, examples, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    names = {"LONG": "x" * 300 + ".seq", "WALK": str(examples / "biped_walk.seq")}
    for short, name in names.items():
        words = [word.replace(short, name) for word in words]
    done = CliRunner().invoke(app, words)
    assert done.exit_code in (1, 2) and isinstance(done.exception, SystemExit)
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_parameter_is_wrong_use(examples):
    done = CliRunner().invoke(
        app, ["info", str(examples / "wave.cha"), "--set", "sped=1"]
    )
    assert done.exit_code == 2 and "speed" in done.output
    assert "Traceback" not in done.output


def test_without_docstrings_the_reason_is_printed(examples):
    done = subprocess.run(
        [COMMAND, "info", examples / "wave.cha"],
        env={**os.environ, "PYTHONOPTIMIZE": "2", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1 and "PYTHONOPTIMIZE" in done.stderr
    assert "Traceback" not in done.stderr
