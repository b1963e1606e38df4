"""Motions in Python pickles (.pkl) or archives of PyTorch (.pt).

Dictionaries of arrays, as GMR, TWIST2, ASAP and MimicKit write them.

Only reading. A pickle is a program for a stack machine that can call any function of
Python. Here a machine of our own interprets it: it builds numbers, texts, lists, tuples
and dictionaries, and the arrays of NumPy and joblib from their bytes. It calls nothing:
other names are refused. A pickle may be compressed (`formats.compression`), as joblib
does it. An archive of PyTorch is a zip file with the pickle `data.pkl`, whose tensors
have storages, the files `data/KEY`.

The dictionary has the keys of a layout of `formats.npz.layouts`; or it has such
dictionaries by the names of motions: the first is read.
"""

import io
import math
import pickletools
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bodymotion.diagnostics import (
    Diagnostics,
    FormatError,
    Location,
    ReadResult,
    Source,
    judgement,
)
from bodymotion.diagnostics.text import with_article
from bodymotion.formats.compression import compression_of, unpacked
from bodymotion.formats.limits import budget_for
from bodymotion.formats.npz.layouts import (
    Array,
    QuaternionOrder,
    ReadOptions,
    motion_of,
)
from bodymotion.formats.npz.reader import array_of
from bodymotion.formats.npz.rules import UNREAD
from bodymotion.formats.resources import file_bytes
from bodymotion.formats.rules import TOO_LARGE
from bodymotion.model.body import Body
from bodymotion.motion import Motion

CONTENT = judgement.error(
    "PKL003",
    "A pickle is a complete dictionary of arrays, numbers and texts, or a dictionary "
    "of such dictionaries, one for each motion.",
    example=("pickle.dumps([1, 2])", "pickle.dumps({'fps': 30, …})"),
)
CODE = judgement.error(
    "PKL004",
    "A pickle holds only numbers, texts, lists, tuples, dictionaries and arrays. "
    "Anything else could run code.",
    "save the arrays with numpy.savez",
    example=("a pickle that calls os.system", "a pickle that calls numpy.dtype"),
)

MAX_BYTES = 1 << 30
MAX_STEPS = 500_000
_KINDS = re.compile(r"[biufU]\d{1,4}|\?")
_MODULES = (
    "numpy.core.multiarray",
    "numpy._core.multiarray",
    "numpy.core.numeric",
    "numpy._core.numeric",
)
_STORAGES = {
    **{"Double": "<f8", "Float": "<f4", "Half": "<f2", "Bool": "?"},
    **{"Long": "<i8", "Int": "<i4", "Short": "<i2", "Char": "i1", "Byte": "u1"},
}
KNOWN = {
    **{
        (module, name): name
        for module in _MODULES
        for name in ("_reconstruct", "scalar", "_frombuffer")
    },
    ("numpy", "ndarray"): "ndarray",
    ("numpy", "dtype"): "dtype",
    ("_codecs", "encode"): "encode",
    ("joblib.numpy_pickle", "NumpyArrayWrapper"): "joblib",
    ("collections", "OrderedDict"): "dict",
    ("torch._utils", "_rebuild_tensor_v2"): "tensor",
    **{
        ("torch", f"{name}Storage"): f"storage {code}"
        for name, code in _STORAGES.items()
    },
}
"""The names that a pickle may have, and what they stand for."""
_VALUE = re.compile(
    r"(BIN)?(INT|FLOAT|LONG)\d?|(SHORT_)?(BIN)?(STRING|UNICODE|BYTES)8?|BYTEARRAY8|NONE|NEWTRUE|NEWFALSE"
)
_VALUES = frozenset(
    code.name for code in pickletools.opcodes if _VALUE.fullmatch(code.name)
)
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_TUPLES = {"EMPTY_TUPLE": 0, "TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_MARK = object()


def read_pickle(
    path: str | Path,
    *,
    body: Body | None = None,
    joint_names: Sequence[str] | None = None,
    link_names: Sequence[str] | None = None,
    frame_rate: float | None = None,
    quaternion_order: QuaternionOrder | None = None,
    degrees: bool | None = None,
) -> ReadResult[Motion]:
    """Read a motion from a pickle; parameters as for `read_npz`."""
    path = Path(path)
    found = Diagnostics(path)
    arrays: dict[str, Array] = {}
    with found.recover(("components", "all")):
        if not (data := file_bytes(path, MAX_BYTES)):
            raise CONTENT.error("the file is empty", Location(str(path)))
        if compression_of(data):
            data = _unpacked(data, str(path))
        machine = _Machine(*_opened(data, str(path)), str(path))
        arrays = machine.arrays(machine.run(), found)
    options = ReadOptions(
        body, joint_names, link_names, frame_rate, quaternion_order, degrees
    )
    return motion_of(arrays, Source("pickle", path), found, options)


def _unpacked(data: bytes, path: str) -> bytes:
    """Return the content of a compressed file, within the budget."""
    pieces = []
    with budget_for(path, len(data)) as budget:
        try:
            for piece in unpacked(data):
                budget.take_bytes(len(piece), Location(path))
                pieces.append(piece)
        except FormatError:
            raise
        except ValueError as error:
            raise CONTENT.error(str(error), Location(path)) from error
    return b"".join(pieces)


def _opened(data: bytes, path: str) -> tuple[bytes, dict[str, bytes]]:
    """Return the pickle, and the storages of tensors by their keys, of a file's bytes."""
    if data[:2] != b"PK":
        return data, {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {
                info.filename.partition("/")[2]: info for info in archive.infolist()
            }
            if any(info.compress_type for info in members.values()):
                raise CONTENT.error(
                    "its files are compressed; PyTorch writes them as they are",
                    Location(path),
                )
            if sum(info.file_size for info in members.values()) > len(data):
                raise TOO_LARGE.error(
                    "its files are larger than the archive", Location(path)
                )
            keys = [name for name in members if name.startswith("data/")]
            return archive.read(members["data.pkl"]), {
                key[5:]: archive.read(members[key]) for key in keys
            }
    except (
        zipfile.BadZipFile,
        KeyError,
        ValueError,
        EOFError,
        OSError,
        RuntimeError,
    ) as error:
        raise CONTENT.error(
            f"the archive cannot be read: {error}", Location(path)
        ) from error


@dataclass
class _Object:
    """A name of KNOWN.

    Or what a pickle makes first and fills later: a dtype ("f8"), an array, or an array
    of joblib.
    """

    what: str
    code: str = ""
    value: Array | None = None


class _Machine:
    """The stack machine of pickles, without calls."""

    def __init__(self, data: bytes, storages: dict[str, bytes], path: str) -> None:
        self.data = data
        self.storages = storages
        self.path = path
        self.at = 0
        self.stream = io.BytesIO(data)
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}
        self.budget = 4 * (len(data) + sum(map(len, storages.values()))) + (1 << 20)
        """[bytes] What may be made of the pickle, which can use a text again and again.
        """

    def fail(self, message: str) -> FormatError:
        return CONTENT.error(message, Location(self.path, inside=f"byte {self.at}"))

    def refuse(self, what: str) -> FormatError:
        return CODE.error(
            f"the pickle has {what[:80]}, and no code is run",
            Location(self.path, inside=f"byte {self.at}"),
        )

    def spend(self, size: int) -> None:
        """Count bytes that are made."""
        self.budget -= size
        if self.budget < 0:
            raise TOO_LARGE.error(
                "its parts are used again and again",
                Location(self.path, inside=f"byte {self.at}"),
            )

    def run(self) -> Any:  # noqa: ANN401
        """Return what the pickle builds."""
        try:
            for steps, (step, argument, at) in enumerate(
                pickletools.genops(self.stream)
            ):
                self.at = at or 0
                if steps >= MAX_STEPS:
                    raise TOO_LARGE.error(
                        f"more than {MAX_STEPS} instructions",
                        Location(self.path),
                        "save arrays of NumPy instead of lists",
                    )
                if step.name == "STOP":
                    break
                self.step(step.name, argument)
            return self.stack.pop()
        except FormatError:
            raise
        except (
            ValueError,
            IndexError,
            KeyError,
            TypeError,
            AttributeError,
            OverflowError,
        ) as error:
            raise self.fail(
                f"damaged: {str(error)[:100] or type(error).__name__}"
            ) from error

    def step(self, name: str, argument: Any) -> None:  # noqa: ANN401
        """Carry out one instruction."""
        stack = self.stack
        if name in _VALUES:
            stack.append(_CONSTANTS.get(name, argument))
        elif name == "MARK":
            stack.append(_MARK)
        elif name in _TUPLES:
            count = _TUPLES[name]
            stack[len(stack) - count :] = [tuple(self.top(count))]
        elif name in ("TUPLE", "LIST", "DICT"):
            items = self.marked()
            stack.append(
                tuple(items)
                if name == "TUPLE"
                else items
                if name == "LIST"
                else self.filled({}, items)
            )
        elif name in ("EMPTY_LIST", "EMPTY_DICT"):
            stack.append([] if name == "EMPTY_LIST" else {})
        elif name in ("APPEND", "APPENDS"):
            if name == "APPENDS":
                items = self.marked()
            else:
                items = [stack.pop()]
            list.extend(stack[-1], items)
        elif name in ("SETITEM", "SETITEMS"):
            if name == "SETITEMS":
                items = self.marked()
            else:
                items = [*reversed([stack.pop(), stack.pop()])]
            self.filled(stack[-1], items)
        elif name in ("PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"):
            self.memo[len(self.memo) if name == "MEMOIZE" else int(argument)] = stack[
                -1
            ]
        elif name in ("GET", "BINGET", "LONG_BINGET"):
            stack.append(self.memo[int(argument)])
        elif name in ("GLOBAL", "STACK_GLOBAL"):
            if name == "GLOBAL":
                names = tuple(argument.split(" ", 1))
            else:
                names = (*reversed([stack.pop(), stack.pop()]),)
            if not all(isinstance(one, str) for one in names) or names not in KNOWN:
                raise self.refuse(
                    "the name "
                    f"{'.'.join(str(one)[:40] for one in names if isinstance(one, str))!r}"
                )
            stack.append(_Object(KNOWN[names]))
        elif name == "BINPERSID":
            _, kind, key, _, count = stack.pop()
            if not isinstance(kind, _Object) or not kind.what.startswith("storage "):
                raise self.refuse("an object of its own")
            dtype = _Object("dtype", kind.what.split()[1])
            stack.append(
                _Object(
                    "storage",
                    value=self.array(self.storages[key], dtype, (count,), False),
                )
            )
        elif name in ("REDUCE", "NEWOBJ"):
            arguments = stack.pop()
            stack.append(self.made(stack.pop(), arguments))
        elif name == "BUILD":
            state = stack.pop()
            self.build(stack[-1], state)
        elif name in ("POP", "POP_MARK"):
            self.marked() if name == "POP_MARK" else stack.pop()
        elif name not in ("PROTO", "FRAME"):
            raise self.refuse(f"the instruction {name}")

    def top(self, count: int) -> list[Any]:
        found = self.stack[len(self.stack) - count :]
        if len(found) < count or any(one is _MARK for one in found):
            raise self.fail("there are fewer values than an instruction takes")
        return found

    def marked(self) -> list[Any]:
        """Take the values above the last mark, and the mark, from the stack."""
        start = next(
            (k for k in reversed(range(len(self.stack))) if self.stack[k] is _MARK), -1
        )
        if start < 0:
            raise self.fail("there is no mark")
        items = self.stack[start + 1 :]
        del self.stack[start:]
        return items

    def filled(self, into: dict[str, Any], items: list[Any]) -> dict[str, Any]:
        for key, value in zip(items[::2], items[1::2], strict=True):
            if not isinstance(key, (str, int)):
                raise self.refuse(f"a key that is {with_article(type(key).__name__)}")
            dict.__setitem__(into, str(key), value)
        return into

    def made(self, name: Any, arguments: Any) -> Any:  # noqa: ANN401
        """Return what a call stands for."""
        what = name.what if isinstance(name, _Object) else ""
        if what == "dtype":
            if not isinstance(arguments[0], str) or not _KINDS.fullmatch(arguments[0]):
                raise self.refuse("an array of objects or of an unknown type")
            return _Object("dtype", arguments[0])
        if what == "scalar":
            return self.array(arguments[1], arguments[0], (), False)[()]
        if what == "_frombuffer":
            data, dtype, shape, order = arguments
            return _Object("array", value=self.array(data, dtype, shape, order == "F"))
        if what == "dict" and not arguments:
            return {}
        if what == "tensor":
            return _Object("array", value=self.tensor(*arguments[:4]))
        if what == "encode":
            self.spend(len(arguments[0]))
            return str.encode(arguments[0], "latin-1")
        if what in ("_reconstruct", "joblib"):
            return _Object("joblib" if what == "joblib" else "array")
        raise self.refuse("a call")

    def build(self, target: Any, state: Any) -> None:  # noqa: ANN401
        """Fill a dtype or an array with its state."""
        is_new = isinstance(target, _Object) and target.value is None
        if not is_new or target.what not in ("dtype", "array", "joblib"):
            raise self.refuse("the state of an object")
        if target.what == "dtype":
            if state[1] not in ("<", ">", "|", "="):
                raise self.fail("a byte order is unknown")
            target.code = state[1] + target.code.lstrip("<>|=")
        elif target.what == "joblib":
            # The data follow the instruction; a byte before them is the number of bytes
            # that align them.
            if state.get("numpy_array_alignment_bytes"):
                self.stream.seek(self.stream.read(1)[0], 1)
            target.value = self.array(
                None, state["dtype"], state["shape"], state["order"] == "F"
            )
        else:
            _, shape, dtype, fortran, data = state
            target.value = self.array(data, dtype, shape, bool(fortran))

    def tensor(
        self,
        storage: Any,  # noqa: ANN401
        offset: int,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
    ) -> Array:
        """Return a part of a storage, whose last number must be in it.

        Strides are numbers, not bytes.
        """
        values = storage.value
        last = offset + sum(
            (n - 1) * step for n, step in zip(shape, strides, strict=True)
        )
        if (
            storage.what != "storage"
            or min(offset, *shape, *strides, 0) < 0
            or len(shape) > 4
            or last >= len(values)
        ):
            raise self.fail(f"a tensor of shape {shape} is larger than its storage")
        self.spend(math.prod(shape) * values.itemsize)
        steps = [step * values.itemsize for step in strides]
        return np.array(
            np.lib.stride_tricks.as_strided(
                values[offset:], shape, steps, writeable=False
            )
        )

    def array(
        self,
        data: bytes | str | None,
        dtype: Any,  # noqa: ANN401
        shape: Any,  # noqa: ANN401
        fortran: bool,
    ) -> Array:
        """Return an array of bytes, or of those that follow in the file."""
        if (
            not isinstance(dtype, _Object)
            or dtype.what != "dtype"
            or not all(type(n) is int for n in shape)
        ):
            raise self.refuse("an array of an unknown type or shape")
        raw = data.encode("latin-1") if isinstance(data, str) else data
        if raw is None:
            left = len(self.data) - self.stream.tell()
        else:
            left = len(raw)
        self.spend(left if raw is not None else 0)
        if raw is None:
            read = self.stream.read
        else:
            read = io.BytesIO(raw).read
        kind = np.dtype(dtype.code)
        return array_of(
            read,
            kind,
            tuple(shape),
            fortran,
            left,
            lambda text: self.fail(f"an array {text}"),
        )

    def arrays(self, value: Any, found: Diagnostics) -> dict[str, Array]:  # noqa: ANN401
        """Return the arrays of a dictionary, or of the first one in it."""
        if isinstance(value, dict):
            inner = [*value.values()]
        else:
            inner = []
        if inner and all(isinstance(one, dict) for one in inner):
            if len(inner) > 1:
                found.report(
                    UNREAD, f"not read: {len(inner) - 1} of {len(inner)} motions"
                )
            value = inner[0]
        if not isinstance(value, dict):
            raise self.fail(f"the pickle holds {with_article(type(value).__name__)}")
        return {
            key: array
            for key, one in value.items()
            if (array := self.plain(one)) is not None
        }

    def plain(self, value: Any) -> Array | None:  # noqa: ANN401
        """Return a value as an array.

        None for what is neither numbers nor texts.
        """
        if isinstance(value, _Object):
            return value.value
        if isinstance(value, (list, tuple)):
            rows = value
        else:
            rows = [value]
        if all(isinstance(one, str) for one in rows):
            self.spend(4 * len(rows) * max(map(len, rows), default=0))
        else:
            self.spend(
                sum(len(row) if isinstance(row, (list, tuple)) else 1 for row in rows)
            )
            flat = (
                one
                for row in rows
                for one in (row if isinstance(row, (list, tuple)) else [row])
            )
            if not all(isinstance(one, (bool, int, float, np.generic)) for one in flat):
                return None
        try:
            array = np.asarray(value)
        except (ValueError, OverflowError):  # rows of different lengths
            return None
        return array if array.dtype.kind in "biufU" else None
