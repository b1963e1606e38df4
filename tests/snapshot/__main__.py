"""Record what every file loads as and what is found in it, and compare two such records.

A change that must not alter behaviour is made between two records::

    python tests/snapshot examples FOLDER              # write the files of all rule examples, once, before the change
    python tests/snapshot record BEFORE.json ROOT...   # before the change
    python tests/snapshot record AFTER.json ROOT...    # after it, over the same folders
    python tests/snapshot compare BEFORE.json AFTER.json

A record holds, for each file, a hash of the loaded value (every array and text in it, not where it came from), or the rule and location
that refused it, and the findings of `check` as (rule, severity, line, column, path inside): never a message. Codes that were retired are
translated by the tables RETIRED of the packages' rules, so a renamed rule is no difference.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import multiprocessing
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from bodymotion.formats.registry import FORMATS

LIMIT = 300
"""[s] for one file; a file that takes longer is recorded as such."""
SKIPPED = {"source", "problems"}
"""Fields that say where a value came from."""
SUFFIXES = frozenset(extension for row in FORMATS for extension in row.extensions)


def digest(value: object) -> str:
    """Return a hash of everything in a value; equal values have equal hashes in every version of the library."""
    state = hashlib.sha256()
    _add(value, state)
    return state.hexdigest()[:20]


def _add(value: Any, state: Any) -> None:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        state.update(type(value).__name__.encode())
        for field in dataclasses.fields(value):
            if field.name not in SKIPPED and not field.name.startswith("_"):
                state.update(field.name.encode())
                _add(getattr(value, field.name), state)
    elif isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        state.update(f"{value.dtype.kind}{value.shape}".encode())
        state.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, dict) or hasattr(value, "keys"):
        for key in value:
            state.update(repr(key).encode())
            _add(value[key], state)
    elif isinstance(value, (list, tuple)):
        state.update(f"[{len(value)}]".encode())
        for item in value:
            _add(item, state)
    else:
        state.update(
            (
                repr(value)
                if isinstance(value, (str, int, float, bytes, bool, type(None)))
                else str(type(value))
            ).encode()
        )


def _problem(problem: Any) -> list[object]:
    at = problem.location
    name = Path(at.path).name if at.path else None
    return [problem.rule, problem.severity, name, at.line, at.column, at.inside]


def record_file(job: tuple[str, str | None]) -> tuple[str, dict[str, object]]:
    """Record one file; with a body, the findings of the motion on it."""
    import bodymotion as bm

    path, body = job
    entry: dict[str, object] = {}
    if body is None:
        try:
            entry["value"] = digest(bm.load(path))
        except bm.FormatError as error:
            entry["refused"] = _problem(error.problem)
        except Exception as error:
            entry["raised"] = f"{type(error).__name__}"
    try:
        found = bm.check(path) if body is None else bm.check(path, body=body)
        entry["findings"] = sorted((_problem(one) for one in found.problems), key=repr)
    except Exception as error:
        entry["check raised"] = f"{type(error).__name__}"
    return path if body is None else f"{path} on {body}", entry


def record(target: Path, roots: list[Path], pairs: list[tuple[str, str]]) -> None:
    """Record all files below the roots."""
    found = {
        path
        for root in roots
        for path in ([root] if root.is_file() else root.rglob("*"))
        if path.is_file()
    }
    files = sorted(
        path
        for path in found
        if path.suffix in SUFFIXES and "golden" not in f"{path.parent}{path.name}"
    )
    jobs: list[tuple[str, str | None]] = [(str(path), None) for path in files]
    jobs += list(pairs)
    entries: dict[str, object] = {}
    with multiprocessing.get_context("fork").Pool(2, maxtasksperchild=400) as pool:
        waiting = [(job, pool.apply_async(record_file, (job,))) for job in jobs]
        for number, (job, result) in enumerate(waiting):
            try:
                path, entry = result.get(LIMIT)
            except multiprocessing.TimeoutError:
                path, entry = job[0], {"raised": "TimeoutError"}
            entries[path] = entry
            if number % 200 == 0:
                print(f"{number} of {len(jobs)}", file=sys.stderr, flush=True)
    target.write_text(json.dumps(entries, indent=0, sort_keys=True), encoding="utf-8")
    print(f"wrote {target}: {len(entries)} files")


def write_examples(folder: Path) -> None:
    """Write the files of all rule examples, each into a folder named after its rule."""
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    import importlib

    for module in sorted(
        (Path(__file__).resolve().parent.parent / "rules").glob("pairs_*.py")
    ):
        for code, pair in importlib.import_module(f"rules.{module.stem}").PAIRS.items():
            for half in ("wrong", "right"):
                place = folder / code / half
                place.mkdir(parents=True, exist_ok=True)
                try:
                    tuple(getattr(pair, half)(place))
                except BaseException as error:
                    print(f"{code} {half}: {type(error).__name__}", file=sys.stderr)


def compare(before: Path, after: Path, renames: dict[str, str]) -> int:
    """Print every difference; return how many files differ."""
    old, new = (
        json.loads(path.read_text(encoding="utf-8")) for path in (before, after)
    )
    try:
        from bodymotion.diagnostics.catalogue import retired
    except ImportError:
        retired = dict
    renames = {**retired(), **renames}

    def code(finding: list[object]) -> tuple[object, ...]:
        return (renames.get(str(finding[0]), finding[0]), *finding[1:])

    lost: Counter[str] = Counter()
    gained: Counter[str] = Counter()
    differing = 0
    for path in sorted(old.keys() | new.keys()):
        one, other = old.get(path), new.get(path)
        if one == other:
            continue
        lines: list[str] = []
        if one is None or other is None:
            lines.append("only in one record")
        else:
            for key in ("value", "refused", "raised", "check raised"):
                a, b = one.get(key), other.get(key)
                if key == "refused":
                    a, b = (tuple(code(x)) if x else None for x in (a, b))
                if a != b:
                    lines.append(f"{key}: {a} -> {b}")
            a, b = (
                {code(x) for x in side.get("findings", [])} for side in (one, other)
            )
            for sign, only, counts in (("-", a - b, lost), ("+", b - a, gained)):
                for finding in sorted(only, key=repr):
                    counts[str(finding[0])] += 1
                    lines.append(f"{sign} {' '.join(str(part) for part in finding)}")
        if lines:
            differing += 1
            print(path)
            print("\n".join(f"    {line}" for line in lines))
    print(
        f"\n{differing} files differ; findings lost: {dict(lost.most_common())}; gained: {dict(gained.most_common())}"
    )
    return differing


def main() -> int:
    """Run the command that the first argument names."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("examples")
    one.add_argument("folder", type=Path)
    one = commands.add_parser("record")
    one.add_argument("target", type=Path)
    one.add_argument("roots", type=Path, nargs="*")
    one.add_argument(
        "--on", nargs=2, action="append", default=[], metavar=("MOTION", "BODY")
    )
    one = commands.add_parser("compare")
    one.add_argument("before", type=Path)
    one.add_argument("after", type=Path)
    one.add_argument(
        "--rename", nargs=2, action="append", default=[], metavar=("OLD", "NEW")
    )
    given = parser.parse_args()
    if given.command == "examples":
        write_examples(given.folder)
    elif given.command == "record":
        record(given.target, given.roots, [(motion, body) for motion, body in given.on])
    else:
        return 1 if compare(given.before, given.after, dict(given.rename)) else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
