"""Fuzzing one target with atheris, which learns from the branches that an input takes. `python -m fuzz` starts one for each target."""

from __future__ import annotations

import argparse
import contextlib
import random
import resource
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import atheris

BIGGEST = 1 << 14
"""[bytes] Inputs are no longer."""
ADDRESSES = 3 << 30
"""[bytes] Memory that may be asked for on top of what is in use at the start; more is a MemoryError."""


def compiled_modules() -> list[str]:
    """Name the modules whose functions numba compiles: it can not compile what atheris has rewritten."""
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
            found.append(".".join(("bodymotion", *(parts[:-1] if parts[-1] == "__init__" else parts))))
    return found


def main() -> None:
    """Fuzz the target that the command line names."""
    parser = argparse.ArgumentParser()
    for name in ("target", "seconds", "cases", "work"):
        parser.add_argument(name)
    given = parser.parse_args()
    with atheris.instrument_imports(include=["bodymotion"], exclude=compiled_modules()):
        from fuzz.cases import Keeper
        from fuzz.changing import changed
        from fuzz.harness import Place, attempt
        from fuzz.targets import TARGETS

        target = TARGETS[given.target]
        place = Place(target)
        seeds = target.seeds()
        for seed in seeds:
            with contextlib.suppress(AssertionError):  # what is imported and compiled only once does not count
                attempt(place, seed, seconds=300, memory=4 << 30)
        keeper = Keeper(place, Path(given.cases))
        work = Path(given.work)
        known = work / "corpus" / target.name
        known.mkdir(parents=True, exist_ok=True)
        for number, seed in enumerate(seeds):
            (known / f"seed{number}").write_bytes(seed)
        words = work / f"{target.name}.dict"
        listed = dict.fromkeys((*target.words, b"\0"))  # libFuzzer takes no empty list
        words.write_text("".join(f'"{_escaped(word)}"\n' for word in listed), encoding="ascii")
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + ADDRESSES,) * 2)

        def change(data: bytes, most: int, seed: int) -> bytes:
            by = random.Random(seed)
            if by.random() < 0.6:
                return changed(data or by.choice(seeds), target, by, most)
            return bytes(atheris.Mutate(data, most))

        options: list[Any] = [
            sys.argv[0],
            str(known),
            f"-max_total_time={given.seconds}",
            f"-max_len={BIGGEST}",
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
    return "".join(chr(c) if 32 < c < 127 and c not in b'"\\' else f"\\x{c:02x}" for c in word)


if __name__ == "__main__":
    main()
