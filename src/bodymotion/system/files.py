"""Opening files to read them, and writing them whole or not at all.

The bytes of a pipe (or `/dev/stdin`) can be read only once: they are kept in memory. A
file is opened to find its format, and then again to read it. Within `pipes_kept` both
get the same bytes, however often a pipe is opened.

A file is written (`whole_file`) to a temporary file beside the target, flushed to the
disk, then renamed over it. Whatever happens meanwhile (an exception, Ctrl-C, a full
disk, a killed process), the old file stays as it was. Only a killed process leaves its
temporary file, `.NAME.bodymotion-tmp-PID-RANDOM`; the next save into the folder removes
it. A writer holds a lock on its temporary file for as long as it runs. So a file that
is still being written is never removed, not even by another machine with the same file
system, where process numbers have no meaning.
"""

import contextlib
import errno
import io
import json
import os
import re
import select
import shutil
import socket
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import BinaryIO, Literal, TypeAlias

from bodymotion.diagnostics import WrongUseError
from bodymotion.system.limited import note_file

try:
    import fcntl
except ImportError:  # pragma: no cover
    fcntl = None  # type: ignore[assignment]

MAX_PIPE_BYTES = 1 << 30  # The largest number of bytes that are read from a pipe.
_BLOCK_BYTES = 1 << 20
# [s] The time to wait for a process that opens the other end of a named pipe. Once it
# is open, there is no limit.
PIPE_TIMEOUT = 5.0
_PIPE_INTERVAL = 0.05  # [s] between attempts to open a named pipe for writing.

_Key: TypeAlias = tuple[int, int]

_MARK = ".bodymotion-tmp-"
_TEMPORARY = re.compile(r"\..*\.bodymotion-tmp-[0-9]+-[0-9a-f]{12}")
_MAX_NAME_BYTES = 255
_MAX_HOLDER_BYTES = 1 << 12  # Of a lock file, which names one process.
_WRITE_ERRORS = {
    getattr(errno, name, None) for name in ("ENOSPC", "EDQUOT", "EFBIG", "EROFS")
} - {None}


class _Pipe:
    """A file that gives its bytes once.

    What it has given, and the open file while there may be more.
    """

    def __init__(self, path: Path) -> None:
        self._seen = io.BytesIO()
        self._file: BinaryIO | None = (
            self._of_writer(path) if _is_named_pipe(path) else path.open("rb")
        )
        # /dev/zero and /dev/random never end; a terminal ends with Ctrl-D.
        if (
            stat.S_ISCHR(os.fstat(self._file.fileno()).st_mode)
            and not self._file.isatty()
        ):
            self.close()
            raise OSError(
                errno.EINVAL, "a device is not a file; its data may be endless"
            )

    def _of_writer(self, path: Path) -> BinaryIO:
        """Open a named pipe.

        OSError when no process opens it for writing.
        """
        # To open it as a file is opened would wait for a writer for ever.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            poll = select.poll()
            poll.register(descriptor, select.POLLIN)
            # Nothing came in time: an empty read means that there is no writer,
            # `BlockingIOError` that there is one.
            if not poll.poll(PIPE_TIMEOUT * 1000):
                try:
                    piece = os.read(descriptor, _BLOCK_BYTES)
                except BlockingIOError:  # there is a writer, who has not written yet
                    pass
                else:
                    if not piece:
                        raise OSError(
                            errno.ENXIO, "no process writes to this pipe", str(path)
                        )
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
        """Return all bytes; OSError if they are more than `MAX_PIPE_BYTES`."""
        # One byte more than is accepted, to see that there is more.
        self._fill(MAX_PIPE_BYTES + 1)
        if self._file is not None:
            raise OSError(
                errno.EFBIG, "more than 1 GiB of data; save it as a file first"
            )
        return self._seen.getvalue()

    def seen(self) -> bytes | None:
        """Return all bytes if they have been read, else None."""
        if self._file is not None:
            return None
        return self._seen.getvalue()

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
    """Return whether a file is a pipe in a folder.

    One that a process was given (`/dev/stdin`, `<(…)`) always had a writer.
    """
    try:
        return stat.S_ISFIFO(os.lstat(os.path.realpath(path)).st_mode)
    except (OSError, ValueError):
        return False


_kept: ContextVar[dict[_Key, _Pipe] | None] = ContextVar("kept", default=None)


@contextmanager
def pipes_kept() -> Iterator[dict[_Key, _Pipe]]:
    """Within the block, and blocks like it inside, keep what comes out of each pipe."""
    pipes = _kept.get()
    if pipes is not None:
        yield pipes
        return
    pipes = {}
    token = _kept.set(pipes)
    try:
        yield pipes
    finally:
        _kept.reset(token)
        for pipe in pipes.values():
            pipe.close()


@contextmanager
def _pipe(path: Path, about: os.stat_result) -> Iterator[_Pipe]:
    # By device and inode: one pipe may have several names.
    key = about.st_dev, about.st_ino
    with pipes_kept() as pipes:
        if key not in pipes:
            pipes[key] = _Pipe(path)
        yield pipes[key]


def _about_pipe(path: Path) -> os.stat_result | None:
    """Return the status of a file that gives its bytes only once.

    None for any other, and where there is none.
    """
    try:
        about = path.stat()
    except (OSError, ValueError):
        return None
    if stat.S_ISREG(about.st_mode) or stat.S_ISDIR(about.st_mode):
        return None
    return about


def pipe_content(path: str | Path) -> bytes | None:
    """Return all that comes out of a pipe.

    None for a regular file, a folder, and where there is nothing.

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
    """Open a file for reading bytes anywhere in it.

    A pipe is read first. Raises OSError as `open` and `pipe_content` do.
    """
    content = pipe_content(path)
    if content is None:
        return Path(path).open("rb")
    return io.BytesIO(content)


def read_head(path: str | Path, size: int) -> bytes:
    """Return the first bytes of a file, no more than `size`.

    Raises OSError as `open` does.
    """
    path = Path(path)
    about = _about_pipe(path)
    if about is None:
        with path.open("rb") as file:
            return file.read(size)
    with _pipe(path, about) as pipe:
        return pipe.head(size)


def read_tail(path: str | Path, size: int) -> bytes:
    """Return the last bytes of a file, no more than `size`.

    Raises OSError as `open` does.
    """
    with open_file(path) as file:
        file.seek(max(file.seek(0, 2) - size, 0))
        return file.read()


def pipe_seen(path: str | Path) -> bytes | None:
    """Return what has come out of a pipe if all of it has been read already.

    Never reads.
    """
    about = _about_pipe(Path(path))
    pipes = _kept.get()
    if about is None or pipes is None:
        pipe = None
    else:
        pipe = pipes.get((about.st_dev, about.st_ino))
    if pipe is None:
        return None
    return pipe.seen()


def size_of(path: str | Path) -> int | None:
    """Return how many bytes a file has.

    None where there is none, and for a pipe that has not been read to its end.
    """
    path = Path(path)
    if _about_pipe(path) is not None:
        content = pipe_seen(path)
        if content is None:
            return None
        return len(content)
    try:
        return path.stat().st_size
    except (OSError, ValueError):
        return None


def is_special(path: str | Path) -> bool:
    """Return whether a name is neither a regular file nor a folder.

    False where there is nothing of this name.
    """
    return _about_pipe(Path(path)) is not None


@contextmanager
def whole_file(path: str | Path) -> Iterator[BinaryIO]:
    """Return a stream whose content becomes the file `path`.

    It does when the block ends, and is gone when the block raises.

    A symbolic link stays one: the file that it points to is replaced. The permissions
    of an existing file are kept. What is no regular file (a pipe, a terminal,
    `/dev/null`) is written to directly.

    Raises
    ------
    OSError
        As `open` and `write` do: no such folder, no permission, a read-only file, a
        full disk.
    """
    with whole_files(path) as (stream,):
        yield stream


@contextmanager
def whole_files(*paths: str | Path) -> Iterator[tuple[BinaryIO, ...]]:
    """Return streams for several files that belong together.

    None is replaced before all are on the disk.
    """
    with ExitStack() as stack:
        pending = [_Pending(Path(path)) for path in paths]
        for one in pending:
            stack.callback(one.drop)
            one.open()
        with _named(*paths):
            yield tuple(one.stream for one in pending)
        # First all are flushed, then all get their names: a full disk replaces none of
        # them.
        for one, path in zip(pending, paths, strict=True):
            with _named(path):
                one.settle()
        for one in pending:
            one.commit()
        for path in paths:
            note_written(Path(path))


_written: ContextVar[list[Path] | None] = ContextVar("written", default=None)


@contextmanager
def files_written() -> Iterator[list[Path]]:
    """Yield a list that gets the paths of the files that are written in the block."""
    paths: list[Path] = []
    token = _written.set(paths)
    try:
        yield paths
    finally:
        _written.reset(token)


def note_written(path: Path) -> None:
    """Add a file to the list of `files_written`, if there is one."""
    paths = _written.get()
    if paths is not None:
        paths.append(path)


@contextmanager
def temporary_folder(beside: str | Path) -> Iterator[Path]:
    """Return an empty folder beside a path.

    It is removed when the block ends.

    That of a killed process is removed when something is written beside it again.

    Raises
    ------
    OSError
        When the folder cannot be made.
    """
    beside = Path(beside).absolute()
    remove_leftovers(beside.parent)
    folder, descriptor = _make_folder(beside)
    note_file(folder, is_open=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        note_file(folder, is_open=False)
        if descriptor is not None:
            os.close(descriptor)


@contextmanager
def whole_folder(path: str | Path) -> Iterator[Path]:
    """Return a folder that gets the name `path`.

    It does when the block ends, and is gone when the block raises.

    Raises
    ------
    FileExistsError
        When there is something of this name, before the block or after it.
    OSError
        When the folder cannot be made.
    """
    path = Path(path)
    exists = FileExistsError(errno.EEXIST, "exists; name a new folder", str(path))
    if os.path.lexists(path):
        raise exists
    check_place(path)
    with temporary_folder(path) as above:
        folder = above / path.name
        folder.mkdir()
        yield folder
        with _named(path):
            _flush_folder(folder)
        if os.path.lexists(path):
            raise exists
        folder.rename(path)
        _flush(path.absolute().parent)


def _make_folder(beside: Path) -> tuple[Path, int | None]:
    """Make a temporary folder.

    Return it, and the open file that locks it.
    """
    while True:
        # Between the making and the locking of a folder, a clean-up of another process
        # may remove it.
        folder = beside.with_name(_temporary_name(beside.name))
        folder.mkdir(0o777)
        try:
            descriptor = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        except FileNotFoundError:  # A clean-up has taken it: make another one.
            continue
        except OSError:  # Windows opens no folders: no lock, and no clean-up.
            return folder, None
        if _lock(descriptor) != "another's" and _is_still_at(descriptor, folder):
            return folder, descriptor
        os.close(descriptor)


def _temporary_name(name: str) -> str:
    """Return a new name for what becomes, or is beside, the file of a name."""
    tail = f"{_MARK}{os.getpid()}-{os.urandom(6).hex()}"
    # Cut in bytes: the limit of file systems is one of bytes, not of characters.
    head = os.fsdecode(os.fsencode(name)[: _MAX_NAME_BYTES - len(tail) - 1])
    return f".{head}{tail}"


def _is_still_at(descriptor: int, path: Path) -> bool:
    """Return whether the name of an open file still leads to it."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


def _flush_folder(folder: Path) -> None:
    """Flush all files in a folder to the disk."""
    for above, _, names in os.walk(folder):
        for name in names:
            flush_file(Path(above, name))
        # A name is on the disk only when its folder is.
        _flush(Path(above))


def flush_file(path: Path) -> None:
    """Flush a file that another library has written to the disk.

    Raises
    ------
    OSError
        When the disk is full, or the file is gone.
    """
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _flush(folder: Path) -> None:
    """Flush the names in a folder to the disk, where the file system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def only_writer(path: str | Path) -> Iterator[None]:
    """Lock `path` within the block, by the file `path.lock`, which names this process.

    The lock of a killed process is void. File systems without locks have none.

    Raises
    ------
    OSError
        When another process has the lock; the message names it. Also when the lock
        cannot be written.
    """
    path = Path(path)
    lock = path.with_name(f"{path.name}.lock")
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
    flags |= getattr(os, "O_NOFOLLOW", 0)
    while True:
        descriptor = os.open(lock, flags, 0o666)
        try:
            if _lock(descriptor) == "another's":
                reason = f"{_holder(descriptor)} writes it; wait for its end"
                raise OSError(errno.EBUSY, reason, str(path))
            # The one before may have removed the file after it was opened here.
            if _is_still_at(descriptor, lock):
                break
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
    try:
        with _named(lock):
            _write_holder(descriptor)
        yield
    finally:
        with contextlib.suppress(OSError):
            # Removed while it is still locked: nobody can have taken it.
            lock.unlink()
        os.close(descriptor)


def remove_void_lock(path: str | Path) -> None:
    """Remove the lock of a process that was killed after its work was done."""
    path = Path(path)
    if path.with_name(f"{path.name}.lock").exists():
        with contextlib.suppress(OSError), only_writer(path):
            pass


def _write_holder(descriptor: int) -> None:
    """Write who has a lock into its file."""
    holder = {
        "process": os.getpid(),
        "host": socket.gethostname(),
        "started": datetime.now().astimezone().isoformat(" ", "seconds"),
    }
    os.ftruncate(descriptor, 0)
    os.write(descriptor, json.dumps(holder).encode())


def _holder(descriptor: int) -> str:
    """Return who has a lock, as words.

    What its file holds may be unfinished.
    """
    try:
        holder = json.loads(os.read(descriptor, _MAX_HOLDER_BYTES))
        process = int(holder["process"])
        host = str(holder["host"])[:64]
        started = str(holder["started"])[:64]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return "another process"
    return f"process {process} on {host}, started {started},"


def _open_for_writing(path: Path) -> BinaryIO:
    """Open what is no regular file.

    OSError when no process opens a named pipe for reading.
    """
    if not _is_named_pipe(path):
        return path.open("wb")
    # To open it as a file is opened would wait for a reader for ever.
    last_attempt = time.monotonic() + PIPE_TIMEOUT
    while True:
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            if time.monotonic() > last_attempt:
                reason = "no process reads from this pipe"
                raise OSError(errno.ENXIO, reason, str(path)) from None
            time.sleep(_PIPE_INTERVAL)
        else:
            os.set_blocking(descriptor, True)
            return os.fdopen(descriptor, "wb")


@contextmanager
def new_folder(path: Path) -> Iterator[None]:
    """Make a folder, unless there is one.

    A new one is removed when the block raises.

    Raises
    ------
    OSError
        When it cannot be made.
    """
    try:
        path.mkdir()
    except FileExistsError:
        yield
        return
    try:
        yield
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)
        raise


def check_place(path: str | Path) -> None:
    """Raise, before any work is done, when a file cannot be written.

    Raises
    ------
    IsADirectoryError
        When there is a folder of this name.
    FileNotFoundError
        When its folder is not there.
    """
    path = Path(path)
    if path.is_symlink():
        folder = Path(os.path.realpath(path)).parent
    else:
        folder = path.parent
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder", str(path))
    if not folder.exists():
        raise FileNotFoundError(errno.ENOENT, f"there is no folder {folder}", str(path))


def check_not_read(
    path: str | PathLike[str], read: Iterable[str | PathLike[str]]
) -> None:
    """Raise when the file to be written is one of those that are `read`.

    Also through links, and before any work is done.

    What is no regular file, such as a terminal, may be both.

    Raises
    ------
    WrongUseError
        When it is.
    """
    for one in read:
        try:
            same = Path(path).is_file() and Path(path).samefile(one)
        except (OSError, ValueError):
            continue
        if same:
            raise WrongUseError(
                f"{path} is also read; choose another name for the output"
            )


@contextmanager
def _named(*paths: str | Path) -> Iterator[None]:
    """Add the name of the first path to errors of writing that have no file name."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno in _WRITE_ERRORS:
            raise OSError(error.errno, error.strerror, str(paths[0])) from error
        raise


class _Pending:
    stream: BinaryIO

    def __init__(self, path: Path) -> None:
        self._path = path
        self.target = Path(os.path.realpath(path))
        self._temporary: Path | None = None

    def open(self) -> None:
        """Open the stream: a temporary file, or what is no regular file itself."""
        try:
            found: os.stat_result | None = self._path.stat()
        except FileNotFoundError:
            found = None
        check_place(self._path)
        if found is not None and not stat.S_ISREG(found.st_mode):
            # By the name that was passed: the target of /dev/stdout has no name that
            # could be opened.
            self.stream = _open_for_writing(self._path)
            return
        if found is not None and not os.access(self.target, os.W_OK):
            # Replacing a file needs no permission to write it, so a read-only file
            # would be lost.
            raise PermissionError(13, "the file is read-only", str(self.target))
        remove_leftovers(self.target.parent)
        descriptor = self._create()
        self.stream = os.fdopen(descriptor, "wb", buffering=1 << 16)
        if found is not None:
            # The owner of another user's file may not be settable: then the file
            # becomes ours.
            with contextlib.suppress(OSError):
                if (found.st_uid, found.st_gid) != (os.geteuid(), os.getegid()):
                    os.fchown(descriptor, found.st_uid, found.st_gid)
            with contextlib.suppress(OSError):
                os.fchmod(descriptor, stat.S_IMODE(found.st_mode))

    def _create(self) -> int:
        """Make and lock a temporary file.

        Anew when a clean-up takes it between the two.
        """
        while True:
            # The name is known to `drop` before the file is there: an interrupt may
            # come between any two steps.
            self._temporary = self.target.with_name(_temporary_name(self.target.name))
            note_file(self._temporary, is_open=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
            try:
                descriptor = os.open(self._temporary, flags, 0o666)
            except OSError as error:
                raise OSError(error.errno, error.strerror, str(self._path)) from None
            if _lock(descriptor) != "another's" and os.fstat(descriptor).st_nlink:
                return descriptor
            os.close(descriptor)
            self._temporary.unlink(missing_ok=True)

    def settle(self) -> None:
        """Flush all data to the disk."""
        self.stream.flush()
        if self._temporary is not None:
            # Else a power failure after the renaming could leave an empty file.
            os.fsync(self.stream.fileno())

    def commit(self) -> None:
        if self._temporary is not None:
            self._temporary.replace(self.target)
            note_file(self._temporary, is_open=False)
            self._temporary = None
            # The new name goes to the disk, too; the file is complete in any case.
            _flush(self.target.parent)

    def drop(self) -> None:
        # Unlinking comes first: closing flushes, and that fails on a full disk.
        if self._temporary is not None:
            with contextlib.suppress(OSError):
                self._temporary.unlink()
            note_file(self._temporary, is_open=False)
            self._temporary = None
        stream = getattr(self, "stream", None)
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()


def _lock(descriptor: int) -> Literal["ours", "another's", "none"]:
    """Lock a file without waiting.

    On a file system without locks there is no lock, and no clean-up.
    """
    if fcntl is None:
        return "none"
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return "another's"
    except OSError:
        return "none"
    return "ours"


def remove_leftovers(folder: Path) -> None:
    """Remove what killed processes have left in a folder.

    These are temporary files and folders.
    """
    try:
        with os.scandir(folder) as entries:
            left = [
                Path(entry.path)
                for entry in entries
                if _TEMPORARY.fullmatch(entry.name)
            ]
    except OSError:
        return
    for path in left:
        with contextlib.suppress(OSError):
            _remove_leftover(path)


def _remove_leftover(path: Path) -> None:
    """Remove a temporary file or folder, unless the process that made it has it."""
    is_folder = stat.S_ISDIR(path.lstat().st_mode)
    # Without following links and without waiting for the writer of a pipe: the name may
    # be anything.
    flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    flags |= os.O_RDONLY if is_folder else os.O_RDWR
    descriptor = os.open(path, flags)
    try:
        kind = os.fstat(descriptor).st_mode
        if _lock(descriptor) != "ours":
            return
        if stat.S_ISDIR(kind):
            shutil.rmtree(path, ignore_errors=True)
        elif stat.S_ISREG(kind):
            path.unlink()
    finally:
        os.close(descriptor)
