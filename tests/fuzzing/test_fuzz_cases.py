"""Inputs that once broke a reader, and the same harness as `make fuzz` for a few seconds, where atheris is not."""

from __future__ import annotations

import contextlib
import random
from pathlib import Path

import pytest
from fuzz.__main__ import report
from fuzz.cases import CASES, fault_of, saved_cases, shrunk
from fuzz.changing import changed
from fuzz.harness import Broken, Workspace, attempt
from fuzz.targets import TARGETS
from fuzz.watching import Escape, Hang, Swell, scratch, watched
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bodymotion.formats.registry import FORMATS
from sample_files import ACCEPT

FINDING = settings(
    max_examples=150 if ACCEPT else 10,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
SAVED = [(path.parent.name, path) for name in TARGETS for path in saved_cases(name)]


def prepared(name: str) -> Workspace:
    """Return a workspace where the target has been read once, so that what is imported and compiled does not count."""
    workspace = Workspace(TARGETS[name])
    for seed in workspace.target.seeds():
        with contextlib.suppress(AssertionError):
            attempt(workspace, seed, seconds=300, memory=4 << 30)
    return workspace


@pytest.fixture(scope="module")
def workspaces():
    """Workspaces by the names of targets, made on first use."""
    made: dict[str, Workspace] = {}

    def workspace(name: str) -> Workspace:
        if name not in made:
            made[name] = prepared(name)
        return made[name]

    yield workspace
    for workspace in made.values():
        workspace.close()


def test_names_and_folders():
    assert {row.name for row in FORMATS} <= {
        target.format for target in TARGETS.values()
    }
    assert {path.name for path in CASES.iterdir()} <= set(TARGETS)
    for _, path in SAVED:
        assert path.stat().st_size < 20_000, "cases are small"


@pytest.mark.parametrize(
    ("name", "path"), SAVED, ids=lambda value: getattr(value, "name", value)
)
def test_cases(workspaces, name, path):
    """What broke a reader once does not again, nor takes long."""
    attempt(workspaces(name), path.read_bytes())


@pytest.mark.parametrize("name", TARGETS)
def test_seeds_are_read(workspaces, name):
    workspace = workspaces(name)
    for seed in workspace.target.seeds():
        assert attempt(workspace, seed) in (
            "Body",
            "Motion",
            "Animation",
            "KeyPoses",
            "Skeleton",
            "Choreography",
            *("list", "Project", "dict", "ndarray", "Music"),
        )


@pytest.mark.parametrize("name", TARGETS)
def test_changed_files(workspaces, name):
    """What hypothesis draws are numbers: each makes a file of a seed. With CI=true they are the same each time."""
    workspace = workspaces(name)
    seeds = workspace.target.seeds()

    @FINDING
    @given(st.integers(0, 2**40))
    def files(number: int) -> None:
        by = random.Random(number)
        attempt(workspace, changed(by.choice(seeds), workspace.target, by))

    files()


def test_what_the_harness_notices():
    with scratch() as folder:
        with pytest.raises(Hang), watched(folder, 0, seconds=0.2):
            while True:
                pass
        with (
            pytest.raises(Escape, match="passwd"),
            watched(folder, 0),
            Path("/etc/passwd").open() as file,
        ):
            file.read(1)
        with (
            pytest.raises(Escape, match=r"socket\."),
            watched(folder, 0),
            contextlib.suppress(OSError),
        ):
            import socket

            socket.create_connection(("127.0.0.1", 9), timeout=1)
        with pytest.raises(Swell), watched(folder, 0, memory=50 << 20):
            bytearray(100 << 20)
        with watched(folder, 0):
            pass


def test_faults_are_named_and_made_small(workspaces, monkeypatch):
    def broken(workspace, data, *options):
        if b"x" in data:
            raise Broken("it has an x")

    monkeypatch.setattr("fuzz.cases.attempt", broken)
    workspace = workspaces("csv")
    assert fault_of(workspace, b"abc") is None
    assert fault_of(workspace, b"abxc") == "Broken_it_has_an_x"
    assert shrunk(workspace, b"some text with an x in it", "Broken_it_has_an_x") == b"x"


def test_a_fault_is_reported_with_its_input(tmp_path, capsys):
    """As libFuzzer and the keeper of cases write it down; a process that ends in another way is a fault, too."""
    case = tmp_path / "Hang.seq"
    case.write_bytes(b"a: \xff\n")
    log = tmp_path / "seq.log"
    log.write_text(
        f"#12 NEW cov: 40 ft\nFAULT seq Hang in 5 bytes\nKEPT {case}\nDone 345 runs in 3 second(s)\n"
    )
    assert report("seq", 3, 0, tmp_path) == (345, 1)
    out = capsys.readouterr().out
    assert "seq: 345 executions in 3 s, 40 branches, 1 faults" in out
    assert "Hang in 5 bytes" in out and str(case) in out and r"b'a: \xff\n'" in out
    log.write_text("#99 NEW cov: 7\n")
    assert report("seq", 3, -9, tmp_path) == (99, 1)
    assert "ended with -9" in capsys.readouterr().out
