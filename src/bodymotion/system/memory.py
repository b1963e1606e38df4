"""Check the available memory before work that needs much of it."""

import os


def available_memory() -> int | None:
    """Return how many bytes a process can still get without swapping; None where the system does not report it."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:  # noqa: PTH123
            for line in file:
                if line.startswith("MemAvailable:"):
                    return 1024 * int(line.split()[1])
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def check_memory(size: int, what: str) -> None:
    """Raise MemoryError when `size` bytes are more than available; `what` names what needs them, for the message."""
    available = available_memory()
    if available is not None and size > available:
        raise MemoryError(f"{what} would need {_size_text(size)} of memory; {_size_text(available)} are available")


def _size_text(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e8 else f"{size / 1e6:.1f} MB"
