"""`python -m fuzz.sweep [--sample N] [--readers …] [--verbs …]`: hostile files of every shape, each through every reader and command.

A run is a command line in a process of its own, in a new folder. The operating system limits it, and measures it with all processes that it
starts. A fault is more than 10 s of processor time or 1.5 GB of memory in one process, a traceback, an end by a signal, an exit code that
no command has, or a file that is left: after a failed run any new file, after any run one in the folder for temporary files.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bodymotion.formats.registry import named_format
from fuzz.shapes import SHAPES
from fuzz.target import Target
from fuzz.targets import TARGETS

ROOT = Path(__file__).resolve().parent.parent
MODEL = ROOT / "examples" / "biped.wrl"
WALK = ROOT / "examples" / "biped_walk.seq"
MAX_SECONDS = 10.0
"""[s] Processor time of a run."""
MAX_MEMORY = 1500 << 20
"""[bytes] Memory of a process."""
COMPUTING = ("balance", "retarget", "simulate")
COMPUTING_SECONDS = 15
"""[s] Processor time for commands that compute by themselves; to read a file they have no more than others."""
END_SECONDS = 120
"""[s] Processor time after which the operating system ends a process of a run."""
END_MEMORY = 16 << 30
"""[bytes] Addresses that a process of a run can have."""
CODES = (0, 1, 2, 3)
"""Exit codes of commands that end by themselves."""

FILE = "{file}"
OUT = "{out}"
ANY = {
    "info": ("info", FILE),
    "info --json": ("info", "--json", FILE),
    "check": ("check", FILE),
    "check --fix": ("check", "--fix", FILE),
    "view": ("view", "--html", f"{OUT}.html", FILE),
    "render": ("render", FILE, "-o", f"{OUT}.png"),
    "diff": ("diff", FILE, FILE),
    "folder": ("info", "{folder}"),
}
"""Commands for any file."""
OF_BODIES = {
    **{
        f"to {name}": ("convert", FILE, f"{OUT}.{name}")
        for name in ("wrl", "urdf", "xml", "body")
    },
    "simulate": ("simulate", FILE, "--to", "0.1"),
}
"""Commands for models."""
MODEL_WORD = "{model}"
OF_MOTIONS = {
    **{
        f"to {name}": ("convert", FILE, f"{OUT}.{name}")
        for name in ("seq", "csv", "npz", "parquet", "mcap")
    },
    "to seq of the model": ("convert", "--body", MODEL_WORD, FILE, f"{OUT}.seq"),
    "check --body": ("check", "--body", MODEL_WORD, FILE),
    "retime": ("retime", FILE, f"{OUT}.seq", "--rate", "50"),
    "edit": ("edit", FILE, f"{OUT}.seq", "--smooth", "3"),
    "measure": ("measure", MODEL_WORD, FILE),
    "plot": ("plot", MODEL_WORD, FILE, "-o", f"{OUT}.png"),
    "report": ("report", MODEL_WORD, FILE, "-o", f"{OUT}.html"),
    "view with the model": ("view", "--html", f"{OUT}.html", MODEL_WORD, FILE),
    "balance": ("balance", MODEL_WORD, FILE, "-o", f"{OUT}.seq"),
    "retarget": ("retarget", FILE, MODEL_WORD, "-o", f"{OUT}.seq"),
    "simulate": ("simulate", MODEL_WORD, FILE, "--to", "0.1"),
    "catalogue": ("catalogue", "{folder}", "-o", f"{OUT}.parquet"),
}
"""Commands for all that is no model."""

WALK_WORD = "{walk}"
MANY = {
    "info": ("info", FILE),
    "info --json": ("info", "--json", FILE),
    "check": ("check", FILE),
    "catalogue": ("catalogue", FILE, "-o", f"{OUT}.parquet"),
}
"""Commands for data sets and archives."""
OF_DATA_SETS = {
    **MANY,
    "to seq": ("convert", f"{FILE}/episode_000001", f"{OUT}.seq"),
    "measure": ("measure", MODEL_WORD, f"{FILE}/episode_000001"),
}
OF_ARCHIVES = {
    **MANY,
    "to seq": ("convert", f"{FILE}/walks/a.npz", f"{OUT}.seq"),
    "all to csv": ("convert", FILE, OUT, "--to", "csv"),
}
OF_OTHERS = {
    "lerobot": OF_DATA_SETS,
    "zip": OF_ARCHIVES,
    "tar": OF_ARCHIVES,
    "tar.gz": OF_ARCHIVES,
    "cnoid": {
        "info": ("info", FILE),
        "simulate": ("simulate", FILE, "--to", "0.1"),
    },
    "map": {
        "retarget": (
            *("retarget", WALK_WORD, MODEL_WORD, "--source-body", MODEL_WORD),
            *("--map", FILE, "-o", f"{OUT}.seq"),
        ),
    },
    "gains": {
        "simulate": (
            *("simulate", MODEL_WORD, WALK_WORD, "--gains", FILE, "--to", "0.1"),
        ),
        "to mjcf": ("convert", "--gains", FILE, MODEL_WORD, f"{OUT}.xml"),
    },
    "music": {
        "view": (
            *("view", "--html", f"{OUT}.html", "--music", FILE),
            *(MODEL_WORD, WALK_WORD),
        ),
    },
}
"""Commands for what is none of a format, by the first word of the target's name."""


@dataclass(frozen=True)
class Case:
    """A run: a reader's file of a shape, through a command."""

    reader: str
    shape: str
    verb: str


@dataclass
class Result:
    """What came of a run: exit code, processor time [s], memory [bytes], the last line of stderr, and the faults."""

    case: Case
    code: int
    seconds: float
    memory: int
    message: str
    faults: list[str] = field(default_factory=list)


def verbs_of(target: Target) -> dict[str, tuple[str, ...]]:
    """Return the commands for the files of a target, by name."""
    if target.read is not None:
        return OF_OTHERS[target.name.partition("-")[0]]
    is_body = named_format(target.format).holds == "Body"
    return {**ANY, **(OF_BODIES if is_body else OF_MOTIONS)}


def all_cases() -> Iterator[Case]:
    """Yield the product of readers, shapes and commands."""
    for name, target in TARGETS.items():
        for shape in SHAPES:
            for verb in verbs_of(target):
                yield Case(name, shape, verb)


def write_input(case: Case, folder: Path) -> Path | None:
    """Write the files of a case into a folder, and return the one to open; None where there is no such file."""
    target = TARGETS[case.reader]
    rng = random.Random(f"{case.reader} {case.shape}")
    seed = rng.choice(target.seeds())
    data = SHAPES[case.shape](seed, target, rng)
    if data is None or (data == seed and case.shape != "as it is"):
        return None
    for name, content in target.beside().items():
        (folder / name).write_bytes(content)
    target.put(data, folder / target.file)
    return folder / (target.opened or target.file)


def run_case(case: Case, options: Sequence[str] = ("--untrusted",)) -> Result | None:
    """Run a case in a new folder, and return its result; None where there is no such file."""
    with tempfile.TemporaryDirectory(prefix="sweep-") as name:
        above = Path(name)
        folder = above / "input"
        temporary = above / "tmp"
        out = above / "output"
        for one in (folder, temporary, out):
            one.mkdir()
        path = write_input(case, folder)
        if path is None:
            return None
        words = {
            FILE: str(path),
            "{folder}": str(folder),
            MODEL_WORD: str(MODEL),
            WALK_WORD: str(WALK),
            OUT: str(out / "out"),
        }
        command, *rest = verbs_of(TARGETS[case.reader])[case.verb]
        time_limit = ("--time-limit", str(COMPUTING_SECONDS))
        if command in COMPUTING:
            options = (*options, *time_limit)
        line = [_filled(word, words) for word in rest]
        before = _files(above)
        with (above / "stderr").open("wb") as errors:
            process = subprocess.Popen(
                [sys.executable, "-m", "bodymotion", command, *options, *line],
                cwd=above,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env={**os.environ, "TMPDIR": str(temporary)},
                preexec_fn=_limit,
            )
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        text = (above / "stderr").read_text("utf-8", "replace")
        (above / "stderr").unlink()
        new = _files(above) - before
        result = Result(
            case,
            process.returncode,
            usage.ru_utime + usage.ru_stime,
            usage.ru_maxrss << 10,
            (text.strip().splitlines() or [""])[-1][:200],
        )
        result.faults = _faults(result, text, new)
        return result


def _filled(text: str, words: Mapping[str, str]) -> str:
    """Return an argument with the paths of a case."""
    for word, path in words.items():
        text = text.replace(word, path)
    return text


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (END_SECONDS, END_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (END_MEMORY, END_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _files(folder: Path) -> set[str]:
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if not path.is_dir() or path.parent.name == "tmp"
    }


def _faults(result: Result, text: str, new: set[str]) -> list[str]:
    """Return what is wrong with a run that wrote the text on stderr and made new files."""
    faults = []
    # A command that computes has the time that it is given.
    more = COMPUTING_SECONDS if result.case.verb in COMPUTING else 0
    if result.seconds > MAX_SECONDS + more:
        faults.append(f"{result.seconds:.1f} s of processor time")
    if result.memory > MAX_MEMORY:
        faults.append(f"{result.memory >> 20} MB")
    if "Traceback (most recent call last)" in text:
        faults.append("traceback")
    if result.code not in CODES:
        faults.append(f"exit code {result.code}")
    has_failed = result.code in (1, 2) and result.case.verb not in RESULT_OF_FAILURE
    left = {
        name for name in new if name.startswith("tmp/") or ".bodymotion-tmp" in name
    }
    left |= {name for name in new if name.startswith("input/") or "/" not in name}
    left |= {name for name in new if has_failed and name.startswith("output/")}
    if left:
        faults.append(f"files left: {', '.join(sorted(left)[:5])}")
    return faults


RESULT_OF_FAILURE = ("balance", "catalogue", "report", "retarget", "simulate")
"""Commands that write a result and exit with 1, for what they found in it."""


def main() -> int:
    """Run cases, print each fault and a summary, and return 1 where there are faults."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.sweep", description=__doc__)
    parser.add_argument("--sample", type=int, help="cases, drawn at random (all)")
    parser.add_argument("--seed", default="0", help="of the drawing (0)")
    parser.add_argument("--readers", nargs="*", help="names of fuzz targets (all)")
    parser.add_argument("--verbs", nargs="*", help="names of commands (all)")
    parser.add_argument("--shapes", nargs="*", help="names of shapes (all)")
    parser.add_argument("--trusted", action="store_true", help="without --untrusted")
    parser.add_argument("--results", type=Path, help="a file of lines of JSON")
    chosen = parser.parse_args()
    cases = [
        case
        for case in all_cases()
        if (not chosen.readers or case.reader in chosen.readers)
        and (not chosen.verbs or case.verb in chosen.verbs)
        and (not chosen.shapes or case.shape in chosen.shapes)
    ]
    random.Random(chosen.seed).shuffle(cases)
    options = [] if chosen.trusted else ["--untrusted"]
    num_runs = 0
    kinds = Counter[str]()
    seconds, memory = 0.0, 0
    for case in cases:
        if chosen.sample is not None and num_runs >= chosen.sample:
            break
        result = run_case(case, options)
        if result is None:
            continue
        num_runs += 1
        seconds = max(seconds, result.seconds)
        memory = max(memory, result.memory)
        if chosen.results is not None:
            with chosen.results.open("a", encoding="utf-8") as rows:
                rows.write(json.dumps(asdict(result)) + "\n")
        for fault in result.faults:
            kinds[fault.split(":")[0]] += 1
            print(
                f"FAULT {case.reader} | {case.shape} | {case.verb}: {fault} ({result.message})",
                flush=True,
            )
    print(
        f"{num_runs} runs of {len(cases)} cases: {sum(kinds.values())} faults;"
        f" at most {seconds:.1f} s of processor time, {memory >> 20} MB"
    )
    return 1 if kinds else 0


if __name__ == "__main__":
    sys.exit(main())
