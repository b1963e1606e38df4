"""Fuzzing one target with atheris, which learns from the branches that an input takes. `python -m fuzz` starts one for each target.

With several names, separated by commas, it imports once, and goes on as a process for each.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import pkgutil
import random
import resource
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import atheris

ADDRESSES = 3 << 30
"""[bytes] Memory that may be allocated in addition to that in use at the start; more is a MemoryError."""


def compiled_modules() -> list[str]:
    """Return the modules whose functions numba compiles: it cannot compile what atheris has rewritten."""
    spec = find_spec("bodymotion")
    assert spec is not None and spec.submodule_search_locations
    root = Path(spec.submodule_search_locations[0])
    found = []
    for path in root.rglob("*.py"):
        if (
            "numba" in (text := path.read_text(encoding="utf-8"))
            or "kernels.compiling" in text
            or path.parent.name == "kernels"
        ):
            parts = path.relative_to(root).with_suffix("").parts
            found.append(
                ".".join(
                    ("bodymotion", *(parts[:-1] if parts[-1] == "__init__" else parts))
                )
            )
    return found


def main() -> None:
    """Fuzz the target that the command line names, or several side by side."""
    parser = argparse.ArgumentParser()
    for name in ("target", "seconds", "cases", "work"):
        parser.add_argument(name)
    options = parser.parse_args()
    names = options.target.split(",")
    with atheris.instrument_imports(include=["bodymotion"], exclude=compiled_modules()):
        if len(names) == 1:
            fuzz(names[0], options.seconds, Path(options.cases), Path(options.work))
            return
        for package in ("bodymotion.formats", "bodymotion.checks"):
            for module in pkgutil.walk_packages(
                import_module(package).__path__, f"{package}."
            ):
                import_module(module.name)
        side_by_side(names, options.seconds, Path(options.cases), Path(options.work))


def side_by_side(names: list[str], seconds: str, cases: Path, work: Path) -> None:
    """Fuzz each target in a copy of this process, as many at a time as there are processors; print the end and exit code of each."""
    left, running = names[::-1], dict[int, str]()
    while left or running:
        while left and len(running) < (os.cpu_count() or 1):
            name = left.pop()
            number = os.fork()
            if number == 0:
                log = os.open(
                    work / f"{name}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC
                )
                os.dup2(log, 1)
                os.dup2(log, 2)
                fuzz(name, seconds, cases, work)
                return
            running[number] = name
        number, status = os.wait()
        print(
            f"ENDED {running.pop(number)} {os.waitstatus_to_exitcode(status)}",
            flush=True,
        )


def fuzz(name: str, seconds: str, cases: Path, work: Path) -> None:
    """Fuzz one target; atheris ends the process when the time is over."""
    from fuzz.cases import Keeper
    from fuzz.changing import changed
    from fuzz.harness import Workspace, attempt
    from fuzz.targets import TARGETS

    target = TARGETS[name]
    workspace = Workspace(target)
    seeds = target.seeds()
    for seed in seeds:
        with contextlib.suppress(
            AssertionError
        ):  # what is imported and compiled only once does not count
            attempt(workspace, seed, seconds=300, memory=4 << 30)
    keeper = Keeper(workspace, cases)
    known = work / "corpus" / target.name
    known.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds):
        (known / f"seed{number}").write_bytes(seed)
    words = work / f"{target.name}.dict"
    listed = dict.fromkeys((*target.words, b"\0"))  # libFuzzer rejects an empty list
    words.write_text(
        "".join(f'"{_escaped(word)}"\n' for word in listed), encoding="ascii"
    )
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(
        resource.RLIMIT_AS, (pages * resource.getpagesize() + ADDRESSES,) * 2
    )

    def change(data: bytes, most: int, seed: int) -> bytes:
        by = random.Random(seed)
        if by.random() < 0.6:
            return changed(data or by.choice(seeds), target, by, most)
        return bytes(atheris.Mutate(data, most))

    options: list[Any] = [
        sys.argv[0],
        str(known),
        f"-max_total_time={seconds}",
        f"-max_len={target.most}",
        f"-dict={words}",
        f"-artifact_prefix={work}/{target.name}-",
        "-timeout=60",
        "-rss_limit_mb=5000",
        "-print_final_stats=0",
        "-verbosity=1",
    ]
    atheris.Setup(options, keeper.one, custom_mutator=change, internal_libfuzzer=True)
    atheris.Fuzz()


def _escaped(word: bytes) -> str:
    return "".join(
        chr(c) if 32 < c < 127 and c not in b'"\\' else f"\\x{c:02x}" for c in word
    )


if __name__ == "__main__":
    main()
