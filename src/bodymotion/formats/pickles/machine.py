"""The stack machine of pickles, without calls.

An instruction takes values from the stack and puts one there. `MARK` puts a mark, and
instructions such as `LIST` take what is above it. `PUT` and `GET` write and read the
memo, by numbers. `GLOBAL` puts a name on the stack, `REDUCE` calls it, and `BUILD`
fills an object with its state: here these know a few names of NumPy, joblib and
PyTorch,
and make arrays of bytes. Any other name is refused.
"""

import io
import math
import pickletools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from bodymotion.diagnostics import FormatError, Location
from bodymotion.diagnostics.text import with_article
from bodymotion.formats.npz.layouts import Array
from bodymotion.formats.npz.reader import array_of
from bodymotion.formats.pickles.rules import CODE, CONTENT
from bodymotion.formats.rules import TOO_LARGE

# Instructions: lists of numbers take two for each number.
MAX_STEPS = 500_000
# Axes of a tensor.
MAX_AXES = 4
# [bytes] What any pickle may make.
FREE_BYTES = 1 << 20
# The bytes that are made of a pickle are at most so many times its own.
MAX_USES = 4

Call: TypeAlias = Literal[
    "_reconstruct",
    "scalar",
    "_frombuffer",
    "ndarray",
    "dtype",
    "encode",
    "joblib",
    "dict",
    "tensor",
]
_MODULES_OF_NUMPY = (
    "numpy.core.multiarray",
    "numpy._core.multiarray",
    "numpy.core.numeric",
    "numpy._core.numeric",
)
_CALLS_OF_NUMPY: tuple[Call, ...] = ("_reconstruct", "scalar", "_frombuffer")
# What a pickle may call, by module and name.
CALLS: dict[tuple[str, str], Call] = {
    ("numpy", "ndarray"): "ndarray",
    ("numpy", "dtype"): "dtype",
    ("_codecs", "encode"): "encode",
    ("joblib.numpy_pickle", "NumpyArrayWrapper"): "joblib",
    ("collections", "OrderedDict"): "dict",
    ("torch._utils", "_rebuild_tensor_v2"): "tensor",
}
for _module in _MODULES_OF_NUMPY:
    for _call in _CALLS_OF_NUMPY:
        CALLS[_module, _call] = _call

# The types of the storages of PyTorch, as NumPy names them.
STORAGES = {
    ("torch", "DoubleStorage"): "<f8",
    ("torch", "FloatStorage"): "<f4",
    ("torch", "HalfStorage"): "<f2",
    ("torch", "BoolStorage"): "?",
    ("torch", "LongStorage"): "<i8",
    ("torch", "IntStorage"): "<i4",
    ("torch", "ShortStorage"): "<i2",
    ("torch", "CharStorage"): "i1",
    ("torch", "ByteStorage"): "u1",
}

_DTYPE = re.compile(r"[biufU]\d{1,4}|\?")
_BYTE_ORDERS = ("<", ">", "|", "=")


class _Mark:
    """The mark on the stack."""


_MARK = _Mark()


@dataclass
class _Name:
    """A name of CALLS."""

    call: Call


@dataclass
class _Storage:
    """The type of a storage; with its values, a storage."""

    code: str
    value: Array | None = None


@dataclass
class _Dtype:
    """A type of NumPy, such as "f8"; its state adds the byte order."""

    code: str


@dataclass
class PickledArray:
    """An array, which a pickle makes first and fills later."""

    value: Array | None = None
    is_of_joblib: bool = False
    """Whether its data follow in the file, as joblib writes them."""


class Machine:
    """The stack machine of pickles, without calls."""

    def __init__(self, data: bytes, storages: dict[str, bytes], path: str) -> None:
        self._data = data
        self._storages = storages
        self._path = path
        self._position = 0
        """[bytes] Where the instruction is."""
        self._stream = io.BytesIO(data)
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}
        # Pickles can use a part again and again, so the bytes made are limited by those
        # there.
        size = len(data) + sum(map(len, storages.values()))
        self._budget = MAX_USES * size + FREE_BYTES

    def fail(self, message: str) -> FormatError:
        """Return the error of a damaged pickle."""
        return CONTENT.error(message, self._location())

    def spend(self, size: int) -> None:
        """Count bytes that are made.

        A pickle can use a text again and again.
        """
        self._budget -= size
        if self._budget < 0:
            raise TOO_LARGE.error(
                "its parts are used again and again", self._location()
            )

    def run(self) -> Any:  # noqa: ANN401
        """Return what the pickle builds.

        Raises
        ------
        FormatError
            PKL003 for a damaged pickle, PKL004 for one that calls something, FMT009 for
            one of too many instructions or bytes.
        """
        try:
            # `genops` only reads instructions; it runs nothing.
            instructions = pickletools.genops(self._stream)
            for number, (code, argument, position) in enumerate(instructions):
                self._position = position or 0
                if number >= MAX_STEPS:
                    raise TOO_LARGE.error(
                        f"more than {MAX_STEPS} instructions",
                        Location(self._path),
                        "save arrays of NumPy instead of lists",
                    )
                if code.name == "STOP":
                    break
                self._step(code.name, argument)
            # The one value on the stack is the result.
            return self._stack.pop()
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
            reason = str(error)[:100] or type(error).__name__
            raise self.fail(f"damaged: {reason}") from error

    def _location(self) -> Location:
        return Location(self._path, inside=f"byte {self._position}")

    def _refuse(self, what: str) -> FormatError:
        text = f"the pickle has {what[:80]}, and no code is run"
        return CODE.error(text, self._location())

    def _step(self, name: str, argument: Any) -> None:  # noqa: ANN401
        """Carry out one instruction."""
        # Instructions that hold their value: numbers, texts, bytes.
        if name in _VALUES:
            self._stack.append(argument)
            return
        instruction = _INSTRUCTIONS.get(name)
        if instruction is None:
            raise self._refuse(f"the instruction {name}")
        instruction(self, argument)

    def _pop_to_mark(self) -> list[Any]:
        """Take the values above the last mark, and the mark, from the stack."""
        # From the top: marks may be nested.
        for start in reversed(range(len(self._stack))):
            if self._stack[start] is _MARK:
                items = self._stack[start + 1 :]
                del self._stack[start:]
                return items
        raise self.fail("there is no mark")

    def _make_tuple(self, count: int) -> None:
        """Put a tuple in place of the last values."""
        start = len(self._stack) - count
        items = self._stack[start:]
        if len(items) < count or any(item is _MARK for item in items):
            raise self.fail("there are fewer values than an instruction takes")
        self._stack[start:] = [tuple(items)]

    def _fill(self, into: dict[str, Any], items: list[Any]) -> dict[str, Any]:
        """Set keys and values, which alternate."""
        for key, value in zip(items[::2], items[1::2], strict=True):
            # Keys of dictionaries are names or numbers of motions.
            if not isinstance(key, (str, int)):
                raise self._refuse(f"a key that is {with_article(type(key).__name__)}")
            # Of the dictionary itself: a value of another type is refused.
            dict.__setitem__(into, str(key), value)
        return into

    def _append(self, items: list[Any]) -> None:
        # Of the list itself: a value of another type has none of its items added.
        list.extend(self._stack[-1], items)

    def _set_item(self) -> None:
        value = self._stack.pop()
        key = self._stack.pop()
        self._fill(self._stack[-1], [key, value])

    def _set_items(self) -> None:
        items = self._pop_to_mark()
        self._fill(self._stack[-1], items)

    def _put(self, number: int) -> None:
        self._memo[number] = self._stack[-1]

    def _push_name(self, module: Any, name: Any) -> None:  # noqa: ANN401
        if isinstance(module, str) and isinstance(name, str):
            # Only names of the tables: nothing is imported.
            if (module, name) in CALLS:
                self._stack.append(_Name(CALLS[module, name]))
                return
            if (module, name) in STORAGES:
                self._stack.append(_Storage(STORAGES[module, name]))
                return
            raise self._refuse(f"the name {f'{module[:40]}.{name[:40]}'!r}")
        raise self._refuse("a name that is no text")

    def _push_name_of_stack(self) -> None:
        name = self._stack.pop()
        self._push_name(self._stack.pop(), name)

    def _push_storage(self) -> None:
        """Replace the id of a storage by the storage.

        The id is a word, its type, its key, device and size.
        """
        # Python's own pickles have ids of other kinds.
        _, kind, key, _, count = self._stack.pop()
        if not isinstance(kind, _Storage) or kind.value is not None:
            raise self._refuse("an object of its own")
        dtype = _Dtype(kind.code)
        value = self._array(self._storages[key], dtype, (count,), is_fortran=False)
        self._stack.append(_Storage(kind.code, value))

    def _reduce(self) -> None:
        arguments = self._stack.pop()
        name = self._stack.pop()
        self._stack.append(self._made(name, arguments))

    def _made(self, name: Any, arguments: Any) -> Any:  # noqa: ANN401
        """Return what a call stands for."""
        call = name.call if isinstance(name, _Name) else None
        match call:
            case "dtype":
                code = arguments[0]
                if not isinstance(code, str) or not _DTYPE.fullmatch(code):
                    raise self._refuse("an array of objects or of an unknown type")
                return _Dtype(code)
            case "scalar":
                # A scalar is an array without axes.
                dtype, data = arguments
                return self._array(data, dtype, (), is_fortran=False)[()]
            case "_frombuffer":
                data, dtype, shape, order = arguments
                return PickledArray(self._array(data, dtype, shape, order == "F"))
            case "tensor":
                return PickledArray(self._tensor(*arguments[:4]))
            case "encode":
                # A pickle in protocol 2 has bytes as text of latin-1.
                self.spend(len(arguments[0]))
                return str.encode(arguments[0], "latin-1")
            case "dict" if not arguments:
                return {}
            case "_reconstruct":
                # An empty array, which BUILD fills.
                return PickledArray()
            case "joblib":
                return PickledArray(is_of_joblib=True)
        raise self._refuse("a call")

    def _build(self) -> None:
        """Fill a type or an array with its state."""
        state = self._stack.pop()
        target = self._stack[-1]
        if isinstance(target, _Dtype):
            # The state of a dtype: version, byte order, and what structures have.
            byte_order = state[1]
            if byte_order not in _BYTE_ORDERS:
                raise self.fail("a byte order is unknown")
            target.code = byte_order + target.code.lstrip("<>|=")
        elif not isinstance(target, PickledArray) or target.value is not None:
            raise self._refuse("the state of an object")
        elif target.is_of_joblib:
            # The data follow the instruction; a byte before them is the number of bytes
            # that align them.
            if state.get("numpy_array_alignment_bytes"):
                self._stream.seek(self._stream.read(1)[0], 1)
            is_fortran = state["order"] == "F"
            target.value = self._array(None, state["dtype"], state["shape"], is_fortran)
        else:
            # The state of an array: version, shape, type, order, bytes.
            _, shape, dtype, is_fortran, data = state
            target.value = self._array(data, dtype, shape, bool(is_fortran))

    def _tensor(
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
        # The place of the last number is offset + Σ (size − 1) · stride.
        last = offset
        for size, stride in zip(shape, strides, strict=True):
            last += (size - 1) * stride
        # All numbers of the tensor are in the storage then: strides are not negative.
        is_inside = min(offset, *shape, *strides, 0) >= 0 and last < len(values)
        if not isinstance(storage, _Storage) or not is_inside or len(shape) > MAX_AXES:
            raise self.fail(f"a tensor of shape {shape} is larger than its storage")
        self.spend(math.prod(shape) * values.itemsize)
        # Bytes, as NumPy counts strides.
        steps = [stride * values.itemsize for stride in strides]
        view = np.lib.stride_tricks.as_strided(
            values[offset:], shape, steps, writeable=False
        )
        # A copy: the view could be written to, or share numbers.
        return np.array(view)

    def _array(
        self,
        data: bytes | str | None,
        dtype: Any,  # noqa: ANN401
        shape: Any,  # noqa: ANN401
        is_fortran: bool,
    ) -> Array:
        """Return an array of bytes, or of those that follow in the file."""
        if not isinstance(dtype, _Dtype) or not all(
            type(size) is int for size in shape
        ):
            raise self._refuse("an array of an unknown type or shape")
        stream = self._stream
        left = len(self._data) - stream.tell()
        if data is not None:
            # latin-1 has one character for each byte.
            if isinstance(data, str):
                data = data.encode("latin-1")
            stream = io.BytesIO(data)
            left = len(data)
            self.spend(left)
        return array_of(
            stream.read,
            np.dtype(dtype.code),
            tuple(shape),
            is_fortran,
            left,
            lambda text: self.fail(f"an array {text}"),
        )


_VALUE = re.compile(
    r"(BIN)?(INT|FLOAT|LONG)\d?|(SHORT_)?(BIN)?(STRING|UNICODE|BYTES)8?|BYTEARRAY8"
)
# Instructions that put their argument on the stack.
_VALUES = frozenset(
    code.name for code in pickletools.opcodes if _VALUE.fullmatch(code.name)
)

_INSTRUCTIONS: dict[str, Callable[[Machine, Any], object]] = {
    "PROTO": lambda machine, argument: None,
    "FRAME": lambda machine, argument: None,
    "NONE": lambda machine, argument: machine._stack.append(None),
    "NEWTRUE": lambda machine, argument: machine._stack.append(True),
    "NEWFALSE": lambda machine, argument: machine._stack.append(False),
    "MARK": lambda machine, argument: machine._stack.append(_MARK),
    "EMPTY_TUPLE": lambda machine, argument: machine._make_tuple(0),
    "TUPLE1": lambda machine, argument: machine._make_tuple(1),
    "TUPLE2": lambda machine, argument: machine._make_tuple(2),
    "TUPLE3": lambda machine, argument: machine._make_tuple(3),
    "TUPLE": lambda machine, argument: machine._stack.append(
        tuple(machine._pop_to_mark())
    ),
    "EMPTY_LIST": lambda machine, argument: machine._stack.append([]),
    "LIST": lambda machine, argument: machine._stack.append(machine._pop_to_mark()),
    "APPEND": lambda machine, argument: machine._append([machine._stack.pop()]),
    "APPENDS": lambda machine, argument: machine._append(machine._pop_to_mark()),
    "EMPTY_DICT": lambda machine, argument: machine._stack.append({}),
    "DICT": lambda machine, argument: machine._stack.append(
        machine._fill({}, machine._pop_to_mark())
    ),
    "SETITEM": lambda machine, argument: machine._set_item(),
    "SETITEMS": lambda machine, argument: machine._set_items(),
    "PUT": lambda machine, argument: machine._put(int(argument)),
    "BINPUT": lambda machine, argument: machine._put(int(argument)),
    "LONG_BINPUT": lambda machine, argument: machine._put(int(argument)),
    "MEMOIZE": lambda machine, argument: machine._put(len(machine._memo)),
    "GET": lambda machine, argument: machine._stack.append(
        machine._memo[int(argument)]
    ),
    "BINGET": lambda machine, argument: machine._stack.append(
        machine._memo[int(argument)]
    ),
    "LONG_BINGET": lambda machine, argument: machine._stack.append(
        machine._memo[int(argument)]
    ),
    "GLOBAL": lambda machine, argument: machine._push_name(*argument.split(" ", 1)),
    "STACK_GLOBAL": lambda machine, argument: machine._push_name_of_stack(),
    "BINPERSID": lambda machine, argument: machine._push_storage(),
    "REDUCE": lambda machine, argument: machine._reduce(),
    "NEWOBJ": lambda machine, argument: machine._reduce(),
    "BUILD": lambda machine, argument: machine._build(),
    "POP": lambda machine, argument: machine._stack.pop(),
    "POP_MARK": lambda machine, argument: machine._pop_to_mark(),
}
