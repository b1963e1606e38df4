"""Writing VRML97: scenes of nodes as text.

Numbers are written so that they are read as the same numbers.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics.spelling import WIDE_BLANKS
from bodymotion.formats.text import json_text
from bodymotion.formats.vrml.nodes import (
    FieldDeclaration,
    IsReference,
    Node,
    Proto,
    Route,
    Scene,
    Value,
    visits,
)
from bodymotion.formats.vrml.values import standard_fields

# The standard forbids a digit, + and - at the front, and a point anywhere; models have
# them, and their readers accept them. Our reader takes what looks like a blank for one.
_FORBIDDEN = re.compile(rf"[\x00-\x20\"#',\[\\\]{{}}\x7f\s\ud800-\udfff{WIDE_BLANKS}]")
_KEYWORDS = {
    *(
        "DEF",
        "EXTERNPROTO",
        "FALSE",
        "IS",
        "NULL",
        "PROTO",
        "ROUTE",
        "TO",
        "TRUE",
        "USE",
    ),
    *("eventIn", "eventOut", "exposedField", "field"),
}

PIECE = 1 << 11  # Values of a list that are written at once.
LONG_LIST = 100  # The lines of a longer list are indented by one blank, and its integers keep their `.0`: this saves bytes and time.
_ROWS = bytes.maketrans(b",]", b" \n")
NUMBERS_PER_LINE = 12  # Numbers in a line of a list without rows.

HEADER = "#VRML V2.0 utf8"
MAX_INDENTED_LEVELS = 40
"""Lines are not indented further than that.

In a long chain of Joints the blanks would be most of the text.
"""
MAX_LINE = 100  # A node without nodes inside is written in one line up to this length.


def is_name(text: str) -> bool:
    """Return whether a text is a name (ISO/IEC 14772-1, A.2), or one that readers of models accept.

    `1.a-b+c`.
    """
    return bool(text) and text not in _KEYWORDS and _FORBIDDEN.search(text) is None


def legal_name(text: str, otherwise: str = "unnamed") -> str:
    """Return the text as a name.

    Each character that is not allowed becomes an underscore.
    """
    name = _FORBIDDEN.sub("_", text) or otherwise
    if name in _KEYWORDS:
        return f"{name}_"
    return name


def _numbers(values: npt.ArrayLike) -> str:
    """Return a few numbers as the shortest text that reads back as the same.

    `1`, `0.5`, `1e-07`, `-0`, `nan`, `-inf`.
    """
    return " ".join(
        repr(value).removesuffix(".0") for value in np.ravel(values).tolist()
    )


def number_pieces(values: npt.NDArray[Any], indent: bytes) -> Iterator[bytes]:
    """Return a list in brackets.

    Rows (N, K) one to a line, faces of three corners too, a short list of single
    numbers in one line.

    `indent` is the text before the closing bracket. A long list comes in pieces that
    fit into the processor's cache.
    """
    if not values.size:
        yield b"[ ]"
        return
    whole = values.dtype.kind in "iu"
    # Of a long list the blanks before the lines would be most of the text.
    inner = b"\n" + (indent + b"  " if len(values) <= LONG_LIST else b" ")
    if values.ndim == 1 and whole and _triangles(values):
        values = values.reshape(-1, 4)
    if values.ndim == 2 and len(values) > 1:
        yield b"[" + inner
        for start in range(0, len(values), PIECE):
            yield _rows(values[start : start + PIECE], inner, len(values) > LONG_LIST)
            if start + PIECE < len(values):
                yield inner
    elif values.ndim == 1 and whole:
        yield (
            b"["
            + inner
            + json_text(values)[1:-1]
            .replace(b",-1,", b" -1\n")
            .replace(b",", b" ")
            .replace(b"\n", inner)
        )
    elif values.ndim == 2 or len(values) <= NUMBERS_PER_LINE:
        yield b"[ " + _numbers(values).encode() + b" ]"
        return
    else:
        yield b"["
        for start in range(0, len(values), NUMBERS_PER_LINE):
            yield inner + _numbers(values[start : start + NUMBERS_PER_LINE]).encode()
    yield b"\n" + indent + b"]"


def _triangles(index: npt.NDArray[Any]) -> bool:
    """Return whether a list of indices has triangles only, each ended by -1."""
    count, left = divmod(len(index), 4)
    return (
        not left
        and bool((index[3::4] == -1).all())
        and np.count_nonzero(index == -1) == count
    )


def _rows(values: npt.NDArray[Any], inner: bytes, long: bool) -> bytes:
    text = json_text(values, repr)[2:-2]
    if long:
        # One pass over the bytes: of `a,b],[c,d` it makes two lines, the comma between
        # them a blank at the beginning of the second.
        return text.translate(_ROWS, b"[")
    # Searching for one byte is several times as fast as searching for more.
    text = text.replace(b".0,", b",").replace(b".0]", b"]").removesuffix(b".0")
    return text.replace(b"],[", b"\n").replace(b",", b" ").replace(b"\n", inner)


Pieces: TypeAlias = "Iterator[bytes | Pieces]"


def scene_pieces(
    scene: Scene, remarks: Mapping[str, str] | None = None
) -> Iterator[bytes]:
    """Return the text of a scene in pieces, UTF-8, from the header on.

    Parameters
    ----------
    scene:
        `nodes`, `protos` and `routes` are written; prototypes that nodes use are
        declared whether they are in `protos` or not.
    remarks:
        Comments before the declarations of prototypes, by their names.

    Raises
    ------
    ValueError
        When within one node of the top level two prototypes have one name.
    """
    stack: list[Pieces] = [_Writer(remarks or {}).scene(scene)]
    while stack:
        piece = next(stack[-1], None)
        if piece is None:
            stack.pop()
        elif isinstance(piece, bytes):
            yield piece
        else:
            stack.append(piece)


class _Writer:
    """Writes nodes that share one space of names.

    A file, or the body of a prototype.
    """

    def __init__(
        self, remarks: Mapping[str, str], protos: Mapping[str, Proto] | None = None
    ) -> None:
        self.remarks = remarks
        self.protos = dict(protos or {})
        self.names: dict[str, Node] = {}
        self.written: dict[int, str] = {}
        self.shared: set[int] = set()
        self.used_names: set[str] = set()

    def scene(self, scene: Scene) -> Pieces:
        yield HEADER.encode() + b"\n"
        self._survey(scene.nodes)
        for proto in scene.protos.values():
            yield self._needed(_proto_nodes(proto), b"")
            yield self._declared(proto, b"")
        for node in scene.nodes:
            yield self._needed([node], b"")
            yield b"\n"
            yield self._node(node, b"")
            yield b"\n"
        yield self._routes(scene.routes, b"")

    def _survey(self, nodes: Iterable[Node]) -> None:
        seen: set[int] = set()
        for node in visits(nodes):
            (self.shared if id(node) in seen else seen).add(id(node))
            self.used_names.add(node.name)

    # ---- prototypes

    def _needed(self, nodes: Iterable[Node], indent: bytes) -> Pieces:
        """Declare the prototypes of nodes and of all in them that are not known here."""
        found: dict[str, Proto] = {}
        for node in visits(nodes):
            if (
                node.proto is not None
                and found.setdefault(node.type, node.proto) is not node.proto
            ):
                raise ValueError(f"two prototypes have the name {node.type}")
        for name, proto in found.items():
            if self.protos.get(name) is not proto:
                yield self._needed(_proto_nodes(proto), indent)
                yield self._declared(proto, indent)

    def _declared(self, proto: Proto, indent: bytes) -> Pieces:
        inner = indent + b"  "
        remark = self.remarks.get(proto.name)
        yield b"\n"
        for line in remark.splitlines() if remark else ():
            yield indent + f"# {line}\n".encode()
        yield (
            indent
            + f"{'EXTERNPROTO' if proto.urls else 'PROTO'} {proto.name} [\n".encode()
        )
        widths = [
            max(
                (len(words[k]) for words in map(_words, proto.fields.values())),
                default=0,
            )
            for k in range(3)
        ]
        for field in proto.fields.values():
            access, kind, name = _words(field)
            head = f"{access:{widths[0]}} {kind:{widths[1]}} {name}"
            if proto.urls or field.access not in ("field", "exposedField"):
                yield inner + head.encode() + b"\n"
                continue
            yield inner + f"{head:{sum(widths) + 2}} ".encode()
            yield self._value(_default(field), field.type, inner)
            yield b"\n"
        if proto.urls:
            yield indent + b"] " + _strings(proto.urls) + b"\n"
        else:
            yield indent + b"]\n" + indent + b"{\n"
            body = _Writer({}, self.protos)
            body._survey(proto.body)
            for node in proto.body:
                yield body._needed([node], inner)
                yield inner
                yield body._node(node, inner)
                yield b"\n"
            yield self._routes(proto.routes, inner)
            yield indent + b"}\n"
        self.protos[proto.name] = proto

    def _routes(self, routes: Iterable[Route], indent: bytes) -> Pieces:
        for route in routes:
            ends = (
                f"{route.from_node}.{route.from_event}",
                f"{route.to_node}.{route.to_event}",
            )
            yield indent + f"ROUTE {ends[0]} TO {ends[1]}\n".encode()

    # ---- nodes

    def _node(self, node: Node, indent: bytes) -> Pieces:
        name = self.written.get(id(node))
        if name is not None and self.names.get(name) is node:
            yield f"USE {name}".encode()
            return
        name = node.name
        count = 1
        if not name and id(node) in self.shared:
            while (name := f"{node.type}_{count}") in self.used_names:
                count += 1
            self.used_names.add(name)
        if name:
            head = f"DEF {name} {node.type} {{".encode()
        else:
            head = f"{node.type} {{".encode()
        short = self._short(node)
        if short is not None:
            yield head + short
        else:
            inner = _deeper(indent)
            yield head + b"\n"
            declared = _declared_fields(node)
            own = list(node.declarations.values())
            for field_name, value in node.fields.items():
                declaration = declared.get(field_name)
                start = field_name
                if field_name in node.declarations:
                    while own[0].name != field_name:
                        yield inner + " ".join(_words(own.pop(0))).encode() + b"\n"
                    declaration = own.pop(0)
                    start = " ".join(_words(declaration))
                yield inner + start.encode() + b" "
                yield self._value(
                    value, declaration.type if declaration is not None else "", inner
                )
                yield b"\n"
            for event in own:
                yield inner + " ".join(_words(event)).encode() + b"\n"
            yield indent + b"}"
        # The name holds from here on: inside the node it still means another one, or
        # none.
        if name:
            self.names[name] = node
            self.written[id(node)] = name

    def _short(self, node: Node) -> bytes | None:
        """Return the rest of a node that fits into one line."""
        if not node.fields and not node.declarations:
            return b" }"
        if len(node.fields) > 3 or node.declarations:
            return None
        declared = _declared_fields(node)
        words = []
        for name, value in node.fields.items():
            if isinstance(value, (Node, list)) or (
                isinstance(value, np.ndarray) and value.size > 9
            ):
                return None
            words.append(
                f"{name} ".encode()
                + _plain(value, declared[name].type if name in declared else "", b"")
            )
        text = b" " + b" ".join(words) + b" }"
        if len(text) <= MAX_LINE and b"\n" not in text:
            return text
        return None

    def _value(self, value: Value, kind: str, indent: bytes) -> Pieces:
        if isinstance(value, Node):
            yield self._node(value, indent)
        elif isinstance(value, list) and value and not isinstance(value[0], str):
            yield b"[\n"
            inner = _deeper(indent)
            for item in value:
                yield inner
                yield self._node(item, inner) if isinstance(item, Node) else b"NULL"
                yield b"\n"
            yield indent + b"]"
        elif isinstance(value, np.ndarray) and not kind.startswith("SF"):
            yield number_pieces(value, indent)
        else:
            yield _plain(value, kind, indent)


def _deeper(indent: bytes) -> bytes:
    if len(indent) < MAX_INDENTED_LEVELS:
        return indent + b"  "
    return indent


def _plain(value: Value, kind: str, indent: bytes) -> bytes:
    """Return a value without nodes.

    `kind` is the field's declared type, "" where none is: then numbers keep their look.
    """
    match value:
        case None:
            return b"NULL"
        case bool():
            return b"TRUE" if value else b"FALSE"
        case int():
            return str(value).encode()
        case float():
            if kind:
                return _numbers(value).encode()
            return repr(value).encode()
        case str():
            return _string(value)
        case IsReference():
            return f"IS {value.name}".encode()
        case np.ndarray():
            if kind.startswith("SF"):
                return _numbers(value).encode()
            return b"".join(number_pieces(value, indent))
        case list() | tuple():
            return _strings([item for item in value if isinstance(item, str)])
        case _:
            raise TypeError(f"{value!r:.80} is not a value of a field")


def _string(text: str) -> bytes:
    return (
        b'"'
        + text.replace("\\", "\\\\").replace('"', '\\"').encode("utf-8", "replace")
        + b'"'
    )


def _strings(texts: Iterable[str]) -> bytes:
    return b"[ " + b"".join(_string(text) + b" " for text in texts) + b"]"


def _proto_nodes(proto: Proto) -> list[Node]:
    """Return the nodes that are the defaults of a prototype's fields.

    Those of its body declare what they need themselves.
    """
    return list(
        visits(
            [
                Node(
                    "",
                    fields={field.name: field.value for field in proto.fields.values()},
                )
            ]
        )
    )[1:]


def _declared_fields(node: Node) -> Mapping[str, FieldDeclaration]:
    if node.proto is not None:
        return node.proto.fields
    return standard_fields(node.type)


def _words(field: FieldDeclaration) -> tuple[str, str, str]:
    return field.access, field.type, field.name


def _default(field: FieldDeclaration) -> Value:
    """Return the default of a field.

    Nothing, zero or "" where the declaration has none.
    """
    if field.value is not None or field.type == "SFNode":
        return field.value
    if field.type.startswith("MF"):
        return []
    vectors = dict.fromkeys(("SFVec3f", "SFColor", "SFImage"), np.zeros(3)) | {
        "SFVec2f": np.zeros(2)
    }
    defaults: dict[str, Value] = {
        "SFBool": False,
        "SFString": "",
        "SFRotation": np.array([0.0, 0.0, 1.0, 0.0]),
    }
    return {**vectors, **defaults}.get(field.type, 0)
