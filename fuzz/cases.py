"""Keeping inputs that show a fault: made small, under the name of the fault, where the tests replay them for ever after."""

from __future__ import annotations

import sys
from pathlib import Path

from fuzz.harness import Place, attempt, fault_name, show
from fuzz.watching import Hang

__all__ = ["CASES", "Keeper", "saved_cases", "shrunk"]

CASES = Path(__file__).resolve().parent.parent / "tests" / "fuzz_cases"
TRIES = 400
"""How often an input is tried again to make it small."""


class Keeper:
    """Tries inputs of a target, and keeps the first one of each fault."""

    def __init__(self, place: Place, folder: Path) -> None:
        self.place = place
        self.folder = folder / place.target.name
        self.found: set[str] = set()

    def one(self, data: bytes) -> None:
        """Try one input; a fault is told, kept, and no reason to stop."""
        name = fault_of(self.place, data)
        if name is None or name in self.found:
            return
        self.found.add(name)
        small = data if name.startswith("Hang") else shrunk(self.place, data, name)
        again = fault_of(self.place, small, tell=True)
        print(
            f"FAULT {self.place.target.name} {name} in {len(small)} bytes{'' if again == name else ', but not again'}",
            file=sys.stderr,
        )
        sys.stderr.flush()
        if again is not None:
            self._keep(again, small)

    def _keep(self, name: str, data: bytes) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        suffix = Path(self.place.target.file).suffix
        path, number = self.folder / f"{name}{suffix}", 1
        while path.exists() and path.read_bytes() != data:
            number += 1
            path = self.folder / f"{name}_{number}{suffix}"
        path.write_bytes(data)
        print(f"KEPT {path}", file=sys.stderr, flush=True)


def fault_of(place: Place, data: bytes, tell: bool = False) -> str | None:
    """Name the fault that an input shows, None where it is read as it should be."""
    try:
        attempt(place, data)
    except (KeyboardInterrupt, SystemExit):
        raise
    except (Exception, Hang) as error:
        if tell:
            show(error)
        return fault_name(error)
    return None


def shrunk(place: Place, data: bytes, name: str) -> bytes:
    """Take out of an input what is not needed for the fault of that name, piece by piece."""
    left, size = TRIES, max(len(data) // 2, 1)
    while left > 0:
        at, smaller = 0, False
        while at < len(data) and left > 0:
            trial = data[:at] + data[at + size :]
            left -= 1
            if fault_of(place, trial) == name:
                data, smaller = trial, True
            else:
                at += size
        if size == 1 and not smaller:
            break
        size = max(size // 2, 1)
    return data


def saved_cases(name: str) -> list[Path]:
    """List the cases of a target."""
    folder = CASES / name
    return sorted(path for path in folder.iterdir() if path.is_file()) if folder.is_dir() else []
