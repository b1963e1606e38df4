"""Limits of a reader while it reads one file: time, memory, and no files, hosts or programs but the files of the model."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from bodymotion.system.limited import in_this_process

__all__ = [
    "MEMORY",
    "SECONDS",
    "TIMES",
    "Escape",
    "Hang",
    "Swell",
    "memory_used",
    "scratch",
    "watched",
]

SECONDS = 10.0
"""[s] Processor time that a file of ordinary size may take."""
MEMORY = 300 << 20
"""[bytes] Memory that any file may take,"""
TIMES = 10
"""and how many times its own size on top."""


class Hang(BaseException):
    """It takes too long. No Exception, so that no `except Exception` in what is watched keeps it."""


class Swell(AssertionError):  # noqa: N818
    """It took too much memory."""


class Escape(AssertionError):  # noqa: N818
    """It accessed what is not a part of the model: another file, a host, a program."""


_PROJECT = Path(__file__).resolve().parent.parent
_OURS = tuple(
    f"{os.path.realpath(folder)}{os.sep}"
    for folder in (
        sys.prefix,
        sys.base_prefix + "/lib",
        sys.pycache_prefix or sys.prefix,
        sysconfig.get_paths()["stdlib"],
        *(one for one in sys.path if Path(one).name == "site-packages"),
        _PROJECT / "src",
        _PROJECT / "fuzz",
        "/proc",
        "/sys",
    )
)
_HARMLESS = (
    "/dev/null",
    "/dev/urandom",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/ld.so.cache",
)
_FORBIDDEN = re.compile(
    r"socket\.(connect|bind|getaddrinfo|gethostby|sendto|sendmsg)|urllib\.|http\.client|ftplib|smtplib|webbrowser\."
    r"|subprocess\.Popen|os\.(system|exec|fork|posix_spawn|startfile|remove|rmdir|chmod|chown|link|symlink)|pickle\.find_class|shutil\.rmtree"
)

_folder: str | None = None
_allowed = ""
_memory_used = 0
_seen: list[str] = []


def _audit(event: str, details: tuple[object, ...]) -> None:
    if _folder is None:
        return
    if event == "open":
        name = details[0]
        if isinstance(name, (str, bytes)):
            path = os.path.realpath(os.fsdecode(name).rstrip("\0").partition("\0")[0])
            if not path.startswith((_folder, *_OURS)) and path not in (
                *_HARMLESS,
                _allowed,
            ):
                _seen.append(f"open {path}")
    elif _FORBIDDEN.match(event):
        if event.startswith(("os.", "shutil.")) and details:
            if isinstance(details[0], int) or _ours(_in_folder(details)):
                return
        elif event == "pickle.find_class" and _within("numba"):
            return  # it stores compiled kernels as pickles
        _seen.append(f"{event} {details!r:.200}")


def _in_folder(details: tuple[object, ...]) -> object:
    """Return the path that is removed; its name may be that in an open folder."""
    name, *rest = details
    folder = rest[0] if rest else None
    if isinstance(name, str) and isinstance(folder, int) and folder >= 0:
        return f"/proc/self/fd/{folder}/{name}"
    return name


def _ours(name: object) -> bool:
    assert _folder is not None
    return isinstance(name, (str, bytes)) and os.path.realpath(
        os.fsdecode(name)
    ).startswith((_folder, *_OURS))


def _within(package: str) -> bool:
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if f"{os.sep}{package}{os.sep}" in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False


_hooked = False


def _hook() -> None:
    """Audit hooks stay for as long as the process lives: one is enough."""
    global _hooked
    if not _hooked:
        sys.addaudithook(_audit)
        _hooked = True


def _stop(number: int, frame: FrameType | None) -> None:
    raise Hang


def _status(key: str) -> int:
    """Return a size of this process from the kernel, in bytes; 0 where it is not reported."""
    try:
        status = Path("/proc/self/status").read_bytes()
    except OSError:
        return 0
    found = re.search(rf"^{key}:\s+(\d+) kB".encode(), status, re.MULTILINE)
    return int(found[1]) << 10 if found else 0


@contextlib.contextmanager
def watched(
    folder: Path,
    size: int,
    seconds: float = SECONDS,
    memory: int = MEMORY,
    allowed: str = "",
) -> Iterator[None]:
    """Watch a block that reads a file of `size` bytes, and may open no file outside a folder but `allowed`.

    Raises
    ------
    Hang
        When it takes more processor time than `seconds`.
    Swell
        When it took more than `memory` and 10 times the size (known on Linux only).
    Escape
        When it opened another file, used the network, or started a program.
    """
    global _allowed, _folder, _memory_used
    _hook()
    _seen.clear()
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text(
            "5"
        )  # the highest size so far is forgotten
    before = _status("VmRSS")
    old = signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    _folder, _allowed = (
        os.path.realpath(folder) + os.sep,
        os.path.realpath(allowed.partition("\0")[0]) if allowed else "",
    )
    try:
        with in_this_process():
            yield
    finally:
        _folder = None
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, old)
        _memory_used = _status("VmHWM") - before
    if _seen:
        raise Escape("; ".join(dict.fromkeys(_seen)))
    if _memory_used > memory + TIMES * size:
        raise Swell(f"{_memory_used >> 20} MiB for a file of {size} bytes")


def memory_used() -> int:
    """Return the memory that the last watched block used [bytes]."""
    return _memory_used


def scratch() -> tempfile.TemporaryDirectory[str]:
    """Return a folder to work in, in memory where the system has such a folder."""
    folder = Path("/dev/shm")
    return tempfile.TemporaryDirectory(
        dir=folder if os.access(folder, os.W_OK) else None
    )
