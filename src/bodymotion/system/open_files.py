"""Opening files to read them. What is no regular file (a pipe, `/dev/stdin`) gives its bytes only once: they are read and kept in memory.

A file is looked at to know its format, and then read. Within `pipes_kept` both see the same bytes, however often a pipe is opened.
"""

import errno
import io
import os
import select
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import BinaryIO, TypeAlias

MAX_PIPE_BYTES = 1 << 30  # The largest number of bytes that are read from a pipe.
_BLOCK_BYTES = 1 << 20
PIPE_TIMEOUT = 5.0
"""[s] The time to wait for a process that opens a named pipe for writing. Once it is open, there is no limit."""

_Key: TypeAlias = tuple[int, int]


class _Pipe:
    """A file that gives its bytes once: what it has given, and the open file while there may be more."""

    def __init__(self, path: Path) -> None:
        self._seen = io.BytesIO()
        self._file: BinaryIO | None = self._of_writer(path) if _is_named_pipe(path) else path.open("rb")
        if stat.S_ISCHR(os.fstat(self._file.fileno()).st_mode) and not self._file.isatty():
            self.close()
            raise OSError(errno.EINVAL, "a device is not a file; its data may be endless")

    def _of_writer(self, path: Path) -> BinaryIO:
        """Open a named pipe; OSError when no process opens it for writing."""
        # To open it as a file is opened would wait for a writer for ever.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            poll = select.poll()
            poll.register(descriptor, select.POLLIN)
            if not poll.poll(PIPE_TIMEOUT * 1000):
                try:
                    piece = os.read(descriptor, _BLOCK_BYTES)
                except BlockingIOError:  # there is a writer, who has not written yet
                    pass
                else:
                    if not piece:
                        raise OSError(errno.ENXIO, "no process writes to this pipe", str(path))
                    self._seen.write(piece)
            os.set_blocking(descriptor, True)
            return os.fdopen(descriptor, "rb")
        except BaseException:
            os.close(descriptor)
            raise

    def head(self, size: int) -> bytes:
        """Return the first bytes, fewer where there are no more."""
        self._fill(size)
        return self._seen.getbuffer()[:size].tobytes()

    def whole(self) -> bytes:
        """Return all bytes; OSError says if they are more than `MAX_PIPE_BYTES`."""
        self._fill(MAX_PIPE_BYTES + 1)
        if self._file is not None:
            raise OSError(errno.EFBIG, "more than 1 GiB of data; save it as a file first")
        return self._seen.getvalue()

    def seen(self) -> bytes | None:
        """Return all bytes if they have been read, else None."""
        return None if self._file is not None else self._seen.getvalue()

    def _fill(self, size: int) -> None:
        while self._file is not None and self._seen.tell() < size:
            piece = self._file.read(min(_BLOCK_BYTES, size - self._seen.tell()))
            self._seen.write(piece)
            if not piece:
                self.close()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _is_named_pipe(path: Path) -> bool:
    """Return whether a file is a pipe in a folder; one that a process was given (`/dev/stdin`, `<(…)`) always had a writer."""
    try:
        return stat.S_ISFIFO(os.lstat(os.path.realpath(path)).st_mode)
    except (OSError, ValueError):
        return False


_kept: ContextVar[dict[_Key, _Pipe] | None] = ContextVar("kept", default=None)


@contextmanager
def pipes_kept() -> Iterator[None]:
    """Within the block, and blocks like it inside, keep what comes out of each pipe."""
    if _kept.get() is not None:
        yield
        return
    pipes: dict[_Key, _Pipe] = {}
    token = _kept.set(pipes)
    try:
        yield
    finally:
        _kept.reset(token)
        for pipe in pipes.values():
            pipe.close()


@contextmanager
def _pipe(path: Path, about: os.stat_result) -> Iterator[_Pipe]:
    pipes, key = _kept.get(), (about.st_dev, about.st_ino)
    if pipes is None:
        alone = _Pipe(path)
        try:
            yield alone
        finally:
            alone.close()
        return
    if key not in pipes:
        pipes[key] = _Pipe(path)
    yield pipes[key]


def _about_pipe(path: Path) -> os.stat_result | None:
    """Return the status of a file that gives its bytes only once; None for any other, and where there is none."""
    try:
        about = path.stat()
    except (OSError, ValueError):
        return None
    return None if stat.S_ISREG(about.st_mode) or stat.S_ISDIR(about.st_mode) else about


def pipe_content(path: str | Path) -> bytes | None:
    """Return all that comes out of a pipe; None for a regular file, a folder, and where there is nothing.

    Raises
    ------
    OSError
        When it cannot be read, or when more than 1 GiB comes out of it.
    """
    path = Path(path)
    about = _about_pipe(path)
    if about is None:
        return None
    with _pipe(path, about) as pipe:
        return pipe.whole()


def open_file(path: str | Path) -> BinaryIO:
    """Open a file for reading bytes anywhere in it; a pipe is read first. Raises OSError as `open` and `pipe_content` do."""
    content = pipe_content(path)
    return Path(path).open("rb") if content is None else io.BytesIO(content)


def read_head(path: str | Path, size: int) -> bytes:
    """Return the first bytes of a file, no more than `size`. Raises OSError as `open` does."""
    path = Path(path)
    about = _about_pipe(path)
    if about is None:
        with path.open("rb") as file:
            return file.read(size)
    with _pipe(path, about) as pipe:
        return pipe.head(size)


def read_tail(path: str | Path, size: int) -> bytes:
    """Return the last bytes of a file, no more than `size`. Raises OSError as `open` does."""
    with open_file(path) as file:
        file.seek(max(file.seek(0, 2) - size, 0))
        return file.read()


def pipe_seen(path: str | Path) -> bytes | None:
    """Return what has come out of a pipe if all of it has been read already; never reads."""
    about = _about_pipe(Path(path))
    pipes = _kept.get()
    pipe = None if about is None or pipes is None else pipes.get((about.st_dev, about.st_ino))
    return None if pipe is None else pipe.seen()


def size_of(path: str | Path) -> int | None:
    """Return how many bytes a file has; None where there is none, and for a pipe that has not been read to its end."""
    path = Path(path)
    if _about_pipe(path) is not None:
        content = pipe_seen(path)
        return None if content is None else len(content)
    try:
        return path.stat().st_size
    except (OSError, ValueError):
        return None
