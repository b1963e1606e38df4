"""Keep inputs that show a fault: minimised, under the name of the fault, where the tests replay them in every run."""

from __future__ import annotations

import sys
from pathlib import Path

from fuzz.harness import Workspace, attempt, fault_name, show
from fuzz.watching import Hang

__all__ = ["CASES", "Keeper", "saved_cases", "shrunk"]

CASES = Path(__file__).resolve().parent.parent / "tests" / "fuzz_cases"
TRIES = 400
"""Maximum number of trials to minimise an input."""


class Keeper:
    """Tries inputs of a target, and keeps the first one of each fault."""

    def __init__(self, workspace: Workspace, folder: Path) -> None:
        self.workspace = workspace
        self.folder = folder / workspace.target.name
        self.found: set[str] = set()

    def one(self, data: bytes) -> None:
        """Try one input; report and keep a fault, and go on."""
        name = fault_of(self.workspace, data)
        if name is None or name in self.found:
            return
        self.found.add(name)
        small = data if name.startswith("Hang") else shrunk(self.workspace, data, name)
        again = fault_of(self.workspace, small, report=True)
        print(
            f"FAULT {self.workspace.target.name} {name} in {len(small)} bytes{'' if again == name else ', but not again'}",
            file=sys.stderr,
        )
        sys.stderr.flush()
        if again is not None:
            self._keep(again, small)

    def _keep(self, name: str, data: bytes) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        suffix = Path(self.workspace.target.file).suffix
        path, number = self.folder / f"{name}{suffix}", 1
        while path.exists() and path.read_bytes() != data:
            number += 1
            path = self.folder / f"{name}_{number}{suffix}"
        path.write_bytes(data)
        print(f"KEPT {path}", file=sys.stderr, flush=True)


def fault_of(workspace: Workspace, data: bytes, report: bool = False) -> str | None:
    """Return the name of the fault that an input shows; None where it is read correctly."""
    try:
        attempt(workspace, data)
    except (KeyboardInterrupt, SystemExit):
        raise
    except (Exception, Hang) as error:
        if report:
            show(error)
        return fault_name(error)
    return None


def shrunk(workspace: Workspace, data: bytes, name: str) -> bytes:
    """Remove the pieces of an input that are not needed for the fault of that name."""
    left, size = TRIES, max(len(data) // 2, 1)
    while left > 0:
        at, smaller = 0, False
        while at < len(data) and left > 0:
            trial = data[:at] + data[at + size :]
            left -= 1
            if fault_of(workspace, trial) == name:
                data, smaller = trial, True
            else:
                at += size
        if size == 1 and not smaller:
            break
        size = max(size // 2, 1)
    return data


def saved_cases(name: str) -> list[Path]:
    """Return the cases of a target."""
    folder = CASES / name
    return (
        sorted(path for path in folder.iterdir() if path.is_file())
        if folder.is_dir()
        else []
    )
