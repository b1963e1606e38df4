"""Call functions in child processes whose memory and time the operating system limits.

A file of others may take any time and memory, and a library in C may end its process at
a damaged file. A child process contains all three: the caller gets a
`ProcessEndedError`, and goes on. Limits are those of `resource.setrlimit` for memory
and processor time; the parent ends a child that is not done at its deadline.

Parent and child exchange pickles on a pair of connected sockets. A child is a fresh
interpreter: no thread, lock or open file of the parent is in it, and the program of the
caller does not run again, as it would with `multiprocessing`. Where `fork_exec` of
POSIX is missing, as on Windows, there are no such processes (`IS_AVAILABLE`), and
callers call their functions in their own process.

A child that is ended leaves no files: the parent removes its temporary folder, and the
files that it was writing (`note_file`).
"""

from __future__ import annotations

import atexit
import io
import math
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeAlias, TypeVar

try:
    import resource
except ImportError:  # pragma: no cover - Windows
    resource = None  # type: ignore[assignment]

T = TypeVar("T", int, float)

# Whether this system has child processes with limits.
IS_AVAILABLE = resource is not None

# [bytes] Memory that a process for files of others may allocate, without the code of
# libraries, which takes up to 300 MB.
MEMORY = 1 << 30
# Memory [bytes] that each byte of a file may take in addition.
MEMORY_PER_BYTE = 10
# [bytes] The length of a file that a process for files of others may write. The longest
# results are videos of some 100 MB.
FILE_SIZE = 2 << 30
# Bytes of it that each byte of a file may take in addition. So much may a file unpack
# to.
FILE_SIZE_PER_BYTE = 100
# [bytes] The size up to which a file has the same time as any other.
ORDINARY_SIZE = 10 << 20
# [s] Processor time that each byte above this size may take. The slowest reader, of
# XML, takes half of it.
SECONDS_PER_BYTE = 1e-6
# [s] Processor time for a file of others. With the start of the process it stays below
# 10 s.
PROCESSOR_TIME = 9.0
# [s] Time on the clock for a file of others. A process that waits uses no processor
# time, and on a busy machine all takes longer.
DEADLINE = 90.0
# [s] Time in which a process starts, on a busy machine.
START_TIME = 120.0
# [s] Time in which a process may remove its files after SIGTERM, before SIGKILL ends
# it.
PATIENCE = 3.0
# Characters of what a library writes before it ends the process, for the message.
MAX_WORDS = 200
# [s] Interval at which a process checks that its parent still exists.
PARENT_INTERVAL = 0.5

Ended: TypeAlias = Literal["processor time", "deadline", "memory", "crash"]


@dataclass(frozen=True)
class ProcessLimits:
    """The limits of one call.

    Attributes
    ----------
    memory:
        [bytes] Memory that may be allocated in addition to that of the process after
        its start.
    processor:
        [s] Processor time of all threads together. The operating system counts whole
        seconds.
    deadline:
        [s] Time on the clock.
    file_size:
        [bytes] The length of a file that is written; writing more is an OSError.
    """

    memory: int | None = None
    processor: float | None = None
    deadline: float | None = None
    file_size: int | None = None

    def for_size(self, size: int) -> ProcessLimits:
        """Return these limits with what files of `size` bytes may add.

        They add memory and time.
        """
        seconds = max(size - ORDINARY_SIZE, 0) * SECONDS_PER_BYTE
        return ProcessLimits(
            _plus(self.memory, MEMORY_PER_BYTE * size),
            _plus(self.processor, seconds),
            # The deadline grows in the ratio of both limits, as a busy machine slows
            # down all.
            _plus(self.deadline, DEADLINE / PROCESSOR_TIME * seconds),
            _plus(self.file_size, FILE_SIZE_PER_BYTE * size),
        )


def _plus(limit: T | None, more: T) -> T | None:
    """Return a limit that is raised; None where there is none."""
    if limit is None:
        return None
    return limit + more


# The limits for a file of others.
OF_OTHERS = ProcessLimits(MEMORY, PROCESSOR_TIME, DEADLINE, FILE_SIZE)


class ProcessEndedError(RuntimeError):
    """The process of a call has ended.

    For lack of memory or after its time limit, for example.

    Attributes
    ----------
    ended:
        Why: a limit, or "crash".
    path:
        The file that the process was reading; None if it was reading none.
    limits:
        The limits of the call.
    """

    def __init__(
        self,
        message: str,
        ended: Ended,
        path: str | None = None,
        limits: ProcessLimits | None = None,
    ) -> None:
        super().__init__(message)
        self.ended = ended
        self.path = path
        self.limits = limits or ProcessLimits()

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how a pickle makes it again."""
        return type(self), (str(self), self.ended, self.path, self.limits)


@dataclass(frozen=True)
class _Request:
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    limits: ProcessLimits


class LimitedProcess:
    """A child process that calls one function after another, each within limits.

    Parameters
    ----------
    streams:
        Files for stdout and stderr; by default those of this process.
    is_quiet:
        Whether what is written to stderr is kept for the message of a
        `ProcessEndedError` instead: libraries write there why they end a process.
    shares_files:
        Whether stdin and other files that this process has inherited are open in the
        child, such as those of `<(…)` in a shell. By default stdin is empty.
    """

    def __init__(
        self,
        *,
        streams: tuple[Any, Any] = (None, None),
        shares_files: bool = False,
        is_quiet: bool = False,
    ) -> None:
        # Without the guard each child would start a child, without end.
        if _is_running_main:
            raise RuntimeError(
                "the program starts a process when it is imported: "
                'put what it does below `if __name__ == "__main__":`'
            )
        self.num_calls = 0
        """Calls that were submitted."""
        self.deadline = math.inf
        """[s] When `time.monotonic` is later, the process is not done in time."""
        self.reading: str | None = None
        """The file that the process is reading."""
        self.prepared_for: object = None
        """What the last caller has prepared the process for."""
        self.held = 0
        """[bytes] Memory that the process holds after its last call, in addition to
        that at its start.
        """
        self._state: tuple[Any, ...] = ()
        self._limits = ProcessLimits()
        self._answer: tuple[str, bytes] | None = None
        self._lost: ProcessEndedError | None = None
        self._has_call = False
        self._left_over: dict[str, None] = {}
        self._temporary = tempfile.mkdtemp(prefix="bodymotion-")
        self.connection, inner = Pipe()
        program = (
            f"import sys; sys.path[:] = {sys.path!r}; "
            f"from {__name__} import serve; serve({inner.fileno()})"
        )
        stdout, stderr = streams
        self.is_quiet = is_quiet
        self._words = Path(self._temporary) / "stderr" if is_quiet else None
        if self._words is not None:
            stderr = self._words.open("wb")
        # Only this end goes to the child; the parent's end stays closed there.
        os.set_inheritable(inner.fileno(), True)
        self._process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=None if shares_files else subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            pass_fds=() if shares_files else [inner.fileno()],
            close_fds=not shares_files,
            env={**os.environ, **_ENVIRONMENT, "TMPDIR": self._temporary},
        )
        inner.close()
        if self._words is not None:
            stderr.close()

    def submit(
        self,
        function: Callable[..., Any],
        *arguments: Any,  # noqa: ANN401
        limits: ProcessLimits,
    ) -> None:
        """Begin a call; `receive` returns its result.

        Raises
        ------
        Exception
            What pickle raises for a function or argument that cannot be sent.
        ProcessEndedError
            When the process has ended.
        """
        data = _dumps(_Request(function, arguments, limits))
        # A function of the program itself: the child must run its file first.
        if b"__main__" in data:
            main_file = _main_file()
        else:
            main_file = None
        self.num_calls += 1
        self._has_call = True
        self._limits = limits
        # Until the child reports that it has begun; then the time of the call counts.
        self.deadline = time.monotonic() + START_TIME
        state = str(Path.cwd()), list(sys.path), dict(os.environ)
        try:
            # The state is sent only when it differs from that of the last call.
            changed = None if state == self._state else state
            self._state = state
            self.connection.send_bytes(pickle.dumps((changed, main_file)))
            self.connection.send_bytes(data)
        except OSError:
            raise self._ended() from None

    def receive(self, *, is_plain: bool = False) -> Any:  # noqa: ANN401
        """Wait for the result of the call, and return it.

        With `is_plain` it may have only types of bodymotion, NumPy and the standard
        library (`load_plain`).

        Raises
        ------
        ProcessEndedError
            When the process ends, or is not done at the deadline.
        Exception
            What the function raises.
        """
        while not self.is_done():
            wait = self.deadline - time.monotonic()
            self.connection.poll(None if wait == math.inf else max(wait, 0))
        if self._lost is not None:
            raise self._lost
        assert self._answer is not None
        kind, data = self._answer
        self._has_call = False
        self._answer = None
        self.deadline = math.inf
        self.reading = None
        load = load_plain if is_plain else pickle.loads
        if kind == "error":
            raise load(data)
        return load(data)

    def is_done(self) -> bool:
        """Return whether `receive` would not wait; never waits."""
        if self._lost is not None:
            return True
        try:
            # The child sends notes about files and memory before its answer.
            while self._answer is None and self.connection.poll():
                kind, data = pickle.loads(self.connection.recv_bytes())
                if kind == "reading":
                    self.reading = data
                elif kind == "opened":
                    self._left_over[data] = None
                elif kind == "closed":
                    self._left_over.pop(data, None)
                elif kind == "started":
                    self.deadline = time.monotonic() + (
                        self._limits.deadline or math.inf
                    )
                elif kind == "held":
                    self.held = int(data)
                else:
                    self._answer = kind, data
        except (EOFError, OSError):
            self._lost = self._ended()
        if (
            self._answer is None
            and self._lost is None
            and time.monotonic() >= self.deadline
        ):
            self._lost = self._ended("deadline")
        return self._answer is not None or self._lost is not None

    def _ended(self, reason: Ended | None = None) -> ProcessEndedError:
        """Return why the process has ended, after the end of it."""
        words = ""
        if self._words is not None:
            with suppress(OSError):
                words = self._words.read_text("utf-8", "replace")[-MAX_WORDS:]
        # Without a reason the connection was closed: the process is ending by itself.
        code = self.end(at_once=reason is None)
        processor = self._limits.processor
        if reason == "deadline":
            text = (
                f"it was not done after the time limit of {self._limits.deadline:g} s"
            )
        elif code == -signal.SIGXCPU:
            reason = "processor time"
            text = f"it took more than {processor or math.nan:g} s of processor time"
        elif code == _NO_MEMORY:
            reason = "memory"
            text = "its memory was not sufficient"
        else:
            reason = "crash"
            text = f"it has ended with exit code {code}"
            if code < 0:
                text = f"it was ended by {signal.Signals(-code).name}"
            if words.strip():
                text += f" ({' '.join(words.split())})"
        message = f"its process was lost: {text}"
        return ProcessEndedError(message, reason, self.reading, self._limits)

    @property
    def is_waiting(self) -> bool:
        """Whether the process runs and has no call."""
        return (
            self._process.poll() is None and self._lost is None and not self._has_call
        )

    def terminate(self) -> None:
        """Ask the process to end; `end` then waits for less time."""
        if self._process.poll() is None:
            self._process.terminate()

    def end(self, *, at_once: bool = False) -> int:
        """End the process, whatever it does; return its exit code.

        What it leaves is removed.

        With `at_once` the process ends by itself: it has no call, or is lost.
        """
        self.connection.close()
        process = self._process
        try:
            if not at_once:
                self.terminate()
            try:
                code = process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                code = process.wait()
        finally:
            if process.poll() is None:
                process.kill()
            # Files that were reported as opened and not as closed.
            for path in map(Path, self._left_over):
                with suppress(OSError):
                    if path.is_dir():
                        shutil.rmtree(path)
                    else:
                        path.unlink()
            shutil.rmtree(self._temporary, ignore_errors=True)
        return code


_ENVIRONMENT = {
    # The import of MuJoCo would look for a window system with a process of its own.
    "MUJOCO_GL": "disable",
    # Threads of OpenBLAS would use a processor while they wait, and memory for their
    # stacks.
    "OPENBLAS_NUM_THREADS": "1",
}
# Exit code of a process that lacks the memory to report a MemoryError.
_NO_MEMORY = 112


# In the parent
# ----------------------------------------------------------------------------

# [bytes] A process that holds more memory after a call is not used again.
MAX_HELD = 1 << 28
# The quiet process and the other one that wait for a call, with the number of their
# parent. A fork of this process has no use of them.
_idle: dict[bool, tuple[int, LimitedProcess]] = {}


def take_process(*, is_quiet: bool = False) -> LimitedProcess:
    """Return a process that waits for its next call.

    The one that was given back, or a new one.
    """
    number, process = _idle.pop(is_quiet, (0, None))
    # After a fork the process belongs to the parent of this one.
    if process is not None and number == os.getpid():
        if process.is_waiting:
            return process
        process.end()
    return LimitedProcess(is_quiet=is_quiet)


def give_back(process: LimitedProcess) -> None:
    """Keep a process without a call for the next `take_process`.

    End it where one is kept already.
    """
    is_kept = process.is_quiet in _idle
    if is_kept or not process.is_waiting or process.held > MAX_HELD:
        process.end(at_once=True)
    else:
        _idle[process.is_quiet] = os.getpid(), process


def call_limited(
    function: Callable[..., Any],
    *arguments: Any,  # noqa: ANN401
    limits: ProcessLimits = OF_OTHERS,
    shares_files: bool = False,
) -> Any:  # noqa: ANN401
    """Call a function of bodymotion within limits, and return its result.

    The function is called in a child process; in this process where it is one, or where
    there are no such processes. The next call uses the same child process, so that only
    the first one waits for its start. With `shares_files` it is a process of its own,
    in which stdin and other open files are those of this process.

    Raises
    ------
    ProcessEndedError
        When the process ends.
    MemoryError
        When the memory is not sufficient.
    Exception
        What the function raises.
    """
    # A child of a child is not needed: its limits hold for what it calls.
    if _channel is not None or not IS_AVAILABLE or _is_watched:
        with _within(limits):
            return function(*arguments)
    while True:
        if shares_files:
            process = LimitedProcess(shares_files=True, is_quiet=True)
        else:
            process = take_process(is_quiet=True)
        is_usable = False
        try:
            process.submit(function, *arguments, limits=limits)
            result = process.receive(is_plain=True)
            is_usable = True
            return result
        except (ProcessEndedError, MemoryError) as error:
            # Else the loop begins again, with a new process.
            if not may_pass_again(process, error):
                raise
        except Exception:
            is_usable = True
            raise
        finally:
            if is_usable and not shares_files:
                give_back(process)
            else:
                process.end()


def reason_of(error: ProcessEndedError | MemoryError) -> Ended:
    """Return why a call has ended."""
    if isinstance(error, ProcessEndedError):
        return error.ended
    return "memory"


def may_pass_again(
    process: LimitedProcess, error: ProcessEndedError | MemoryError
) -> bool:
    """Return whether a call that has ended may pass in a new process.

    An earlier call of the process may have left little memory, or damaged something.
    """
    had_other_calls = process.num_calls > 1
    return had_other_calls and reason_of(error) in ("memory", "crash")


@atexit.register
def end_idle() -> None:
    """End the processes that wait for a call.

    For a program that ends without `atexit`.
    """
    for number, process in _idle.values():
        if number == os.getpid():
            process.end(at_once=True)


_is_watched = False


@contextmanager
def in_this_process() -> Iterator[None]:
    """Within the block, call functions in this process.

    For tests and fuzzing, which watch and limit it themselves.
    """
    global _is_watched
    before = _is_watched
    _is_watched = True
    try:
        yield
    finally:
        _is_watched = before


# In the child
# ----------------------------------------------------------------------------

# The connection to the parent. None in a process that is no such child.
_channel: Connection | None = None
_data_at_start = 0


def is_limited() -> bool:
    """Return whether this process is a child process with limits."""
    return _channel is not None


def note_reading(path: str | os.PathLike[str]) -> None:
    """Report to the parent the file that is read from now on.

    It names the file if this process ends.
    """
    _report("reading", os.fspath(path))


def note_file(path: str | os.PathLike[str], *, is_open: bool) -> None:
    """Report to the parent a file that is being written.

    It removes the file if this process ends.

    Or that it is done.
    """
    _report("opened" if is_open else "closed", os.path.abspath(path))  # noqa: PTH100


def _report(kind: str, path: str) -> None:
    if _channel is not None and threading.current_thread() is threading.main_thread():
        with suppress(OSError):
            _channel.send_bytes(pickle.dumps((kind, path)))


def serve(descriptor: int) -> NoReturn:
    """Call the functions that the parent sends, until it closes the connection."""
    global _channel, _data_at_start
    channel = _channel = Connection(descriptor)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
    signal.signal(signal.SIGTERM, _terminate)
    threading.Thread(target=_follow_parent, args=(os.getppid(),), daemon=True).start()
    # A crash on a damaged file must not fill the disk with a core dump.
    _set_limit("RLIMIT_CORE", 0)
    _data_at_start = _data_size()
    code = 0
    while True:
        try:
            changed, main_file = pickle.loads(channel.recv_bytes())
            if changed is not None:
                _set_state(*changed)
            data = channel.recv_bytes()
            kind, answer = _answer(data, main_file)
            # Memory is measured without the request.
            del data
            channel.send_bytes(
                pickle.dumps(("held", str(_data_size() - _data_at_start)))
            )
            channel.send_bytes(pickle.dumps((kind, answer)))
        except (EOFError, OSError):
            break
        except MemoryError:
            code = _NO_MEMORY
            break
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
            break
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def _set_state(folder: str, path: list[str], environment: dict[str, str]) -> None:
    """Set the state of the parent in this process.

    These are the working folder, the path of modules and the environment.
    """
    os.chdir(folder)
    sys.path[:] = path
    own = {**_ENVIRONMENT, "TMPDIR": os.environ["TMPDIR"]}
    wanted = {**environment, **own}
    for name in os.environ.keys() - wanted.keys():
        del os.environ[name]
    os.environ.update(wanted)


def _answer(data: bytes, main_file: str | None) -> tuple[str, bytes]:
    """Return the kind of answer to a request, and its pickle."""
    try:
        # Before unpickling, which looks for the function in `__main__`.
        if main_file is not None:
            _run_main(main_file)
        request: _Request = pickle.loads(data)
        # What the function needs is imported: the time of the call begins.
        _report("started", "")
        with _within(request.limits):
            return "result", _dumps(request.function(*request.arguments))
    except Exception as error:
        return "error", _dumps_error(error)


def _dumps_error(error: Exception) -> bytes:
    try:
        data = _dumps(error)
        # Some exceptions have a pickle that cannot be read, such as those whose
        # `__init__` takes other arguments than they have kept.
        pickle.loads(data)
        return data
    except Exception:
        return _dumps(RuntimeError(f"{type(error).__name__}: {error}"))


def _terminate(number: int, frame: object) -> NoReturn:
    """End as after an exception: files that are being written are removed."""
    raise SystemExit(128 + number)


def _follow_parent(parent: int) -> None:
    """End this process when its parent has ended, however that was."""
    while os.getppid() == parent:
        time.sleep(PARENT_INTERVAL)
    os._exit(1)


@contextmanager
def _within(limits: ProcessLimits) -> Iterator[None]:
    """Set the limits of this process within the block, where it is a child.

    Those outside of the block stay where they are lower.
    """
    if _channel is None or resource is None:
        yield
        return
    wanted = {}
    if limits.memory is not None:
        wanted["RLIMIT_DATA"] = _data_at_start + limits.memory
    if limits.file_size is not None:
        # Python ignores the signal of this limit: writing raises OSError.
        wanted["RLIMIT_FSIZE"] = limits.file_size
    if limits.processor is not None:
        used = resource.getrusage(resource.RUSAGE_SELF)
        seconds = used.ru_utime + used.ru_stime
        # The operating system counts whole seconds, at least one.
        wanted["RLIMIT_CPU"] = max(int(seconds + limits.processor), int(seconds) + 1)
    before = {name: _set_limit(name, value) for name, value in wanted.items()}
    try:
        yield
    finally:
        for name, value in before.items():
            if value is not None:
                _set_limit(name, value, can_rise=True)


def _set_limit(name: str, value: int, *, can_rise: bool = False) -> int | None:
    """Set a soft limit, unless a lower one is set, and return the one before.

    None where the system has no such limit.
    """
    if resource is None or not hasattr(resource, name):
        return None
    key = getattr(resource, name)
    before, hard = resource.getrlimit(key)
    # Infinity may be a negative number, so it does not take part in the minimum.
    lowest = [
        limit
        for limit in (value, hard, resource.RLIM_INFINITY if can_rise else before)
        if limit != resource.RLIM_INFINITY
    ]
    try:
        resource.setrlimit(key, (min(lowest, default=value), hard))
    except (OSError, ValueError):
        return None
    return before


def _data_size() -> int:
    """Return the memory of this process that counts for RLIMIT_DATA [bytes].

    0 where the system does not report it.
    """
    with suppress(OSError, IndexError, ValueError):
        # The sixth number of statm: data and stack, in pages.
        pages = Path("/proc/self/statm").read_text().split()[5]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    return 0


# Pickles
# ----------------------------------------------------------------------------


def _main_file() -> str | None:
    """Return the file of the program that runs, in which a function may be defined."""
    found = getattr(sys.modules.get("__main__"), "__file__", None)
    return None if found is None else os.path.abspath(found)  # noqa: PTH100


def can_send(function: Callable[..., Any]) -> bool:
    """Return whether a child process can call a function.

    Not one of a notebook, of a program from a pipe, or inside of a function.
    """
    try:
        return b"__main__" not in _dumps(function) or _main_file() is not None
    except Exception:  # what objects raise that have no pickle is of any type
        return False


_main_done: set[str] = set()
_is_running_main = False


def _run_main(path: str) -> None:
    """Run the program of the parent, as a module, for its functions."""
    global _is_running_main
    if path in _main_done:
        return
    import runpy
    from types import ModuleType

    _main_done.add(path)
    module = ModuleType("__mp_main__")
    _is_running_main = True
    try:
        module.__dict__.update(runpy.run_path(path, run_name="__mp_main__"))
    finally:
        _is_running_main = False
    # Under both names: pickles name `__main__`, and functions of the run have
    # `__mp_main__`.
    sys.modules["__main__"] = sys.modules["__mp_main__"] = module


def _dumps(value: object) -> bytes:
    """Return a pickle in which arrays that are read-only stay so."""
    stream = io.BytesIO()
    pickler = pickle.Pickler(stream, protocol=5)
    if "numpy" in sys.modules:
        import copyreg

        import numpy as np

        table: dict[type, Callable[[Any], Any]] = dict(copyreg.dispatch_table)
        table[np.ndarray] = _reduce_array
        pickler.dispatch_table = table
    pickler.dump(value)
    return stream.getvalue()


def _reduce_array(array: Any) -> Any:  # noqa: ANN401
    """Return how a pickle makes an array again.

    Only a contiguous one stays read-only by itself.
    """
    import numpy as np

    if not array.flags.writeable and not array.flags.forc:
        array = np.array(array)
        array.flags.writeable = False
    return array.__reduce_ex__(5)


# Names of the standard library that results may have, beside exceptions, paths and what
# is built into pickles.
_PLAIN: Mapping[str, frozenset[str]] = {
    "builtins": frozenset(
        {"bytearray", "complex", "frozenset", "range", "set", "slice"}
    ),
    "collections": frozenset({"Counter", "OrderedDict", "defaultdict", "deque"}),
    "datetime": frozenset({"date", "datetime", "time", "timedelta", "timezone"}),
    "types": frozenset({"MappingProxyType", "SimpleNamespace"}),
}


class _PlainUnpickler(pickle.Unpickler):
    """Read values of bodymotion, NumPy and the standard library.

    A pickle that names anything else is an error.
    """

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401
        """Return a class, or a function of NumPy that makes arrays."""
        found = super().find_class(module, name)
        package = module.partition(".")[0]
        is_class = isinstance(found, type)
        # A pickle calls what it names. So only classes may be named, and the few
        # functions with which arrays and our values are made again.
        if package == "bodymotion" and (is_class or name.startswith("_restore")):
            return found
        if package == "numpy" and (is_class or name in _NUMPY):
            return found
        if package == "pathlib" and is_class:
            return found
        if is_class and issubclass(found, Exception):
            return found
        if name in _PLAIN.get(module, ()):
            return found
        raise pickle.UnpicklingError(f"a result has {module}.{name}")


_NUMPY = frozenset({"_frombuffer", "_reconstruct", "scalar"})


def load_plain(data: bytes) -> Any:  # noqa: ANN401
    """Return the value of a pickle that names only known types.

    They are those of bodymotion, NumPy and the standard library.
    """
    return _PlainUnpickler(io.BytesIO(data)).load()
