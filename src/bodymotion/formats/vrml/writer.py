"""Write scenes of nodes as VRML97.

Numbers are written so that they are read as the same numbers.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics.spelling import WIDE_BLANKS
from bodymotion.formats.text import json_text
from bodymotion.formats.vrml.fields import FieldDeclaration, standard_fields
from bodymotion.formats.vrml.nodes import (
    IsReference,
    Node,
    Proto,
    Route,
    Scene,
    Value,
    visits,
)

# The standard forbids a digit, + and - at the front, and a point anywhere; models have
# them, and their readers accept them. Our reader takes what looks like a blank for one.
_FORBIDDEN = re.compile(rf"[\x00-\x20\"#',\[\\\]{{}}\x7f\s\ud800-\udfff{WIDE_BLANKS}]")
_KEYWORDS = {
    *("DEF", "EXTERNPROTO", "FALSE", "IS", "NULL", "PROTO", "ROUTE", "TO", "TRUE"),
    *("USE", "eventIn", "eventOut", "exposedField", "field"),
}

PIECE = 1 << 11
"""Values of a list that are written at once."""
LONG_LIST = 100
"""Rows of a list from which on bytes and time are saved.

Its lines are indented by one blank, and its integers keep their `.0`.
"""
_ROWS = bytes.maketrans(b",]", b" \n")
NUMBERS_PER_LINE = 12
"""Numbers in a line of a list without rows."""

HEADER = "#VRML V2.0 utf8"
MAX_INDENTED_LEVELS = 40
"""Lines are not indented further than that.

In a long chain of Joints the blanks would be most of the text.
"""
MAX_LINE = 100
"""[characters] A node without nodes inside is written in one line up to this length."""
MAX_SHORT_FIELDS = 3
"""Fields of such a node."""
MAX_SHORT_NUMBERS = 9
"""Numbers of such a field: a matrix."""


def is_name(text: str) -> bool:
    """Return whether a text is a name (ISO/IEC 14772-1, A.2).

    Or one that readers of models accept, such as `1.a-b+c`.
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
    # `repr` is the shortest text of a double that reads back exactly.
    words = map(repr, np.ravel(values).tolist())
    return " ".join(word.removesuffix(".0") for word in words)


def number_pieces(values: npt.NDArray[Any], indent: bytes) -> Iterator[bytes]:
    """Return a list in brackets, in pieces that fit into the processor's cache.

    Rows (N, K) one to a line, faces of three corners too, a short list of single
    numbers in one line. `indent` is the text before the closing bracket.
    """
    if not values.size:
        yield b"[ ]"
        return
    is_whole = values.dtype.kind in "iu"
    # Of a long list the blanks before the lines would be most of the text.
    inner = b"\n "
    if len(values) <= LONG_LIST:
        inner = b"\n" + indent + b"  "
    # Triangles have a line each, like the rows of other lists.
    if values.ndim == 1 and is_whole and _triangles(values):
        values = values.reshape(-1, 4)
    if values.ndim == 2 and len(values) > 1:
        yield b"[" + inner
        yield from _row_pieces(values, inner)
    elif values.ndim == 1 and is_whole:
        yield b"[" + inner + _faces(values, inner)
    elif values.ndim == 2 or len(values) <= NUMBERS_PER_LINE:
        # One row, or a short list: all in one line.
        yield b"[ " + _numbers(values).encode() + b" ]"
        return
    else:
        yield b"["
        # Without rows, a long list is broken after a fixed number of numbers.
        for start in range(0, len(values), NUMBERS_PER_LINE):
            yield inner + _numbers(values[start : start + NUMBERS_PER_LINE]).encode()
    yield b"\n" + indent + b"]"


def _row_pieces(values: npt.NDArray[Any], inner: bytes) -> Iterator[bytes]:
    is_long = len(values) > LONG_LIST
    for start in range(0, len(values), PIECE):
        # A whole list as one text would take several times its memory.
        if start:
            yield inner
        yield _rows(values[start : start + PIECE], inner, is_long)


def _faces(index: npt.NDArray[Any], inner: bytes) -> bytes:
    """Return a list of indices with a line for each face, which -1 ends."""
    text = json_text(index)[1:-1].replace(b",-1,", b" -1\n")
    return text.replace(b",", b" ").replace(b"\n", inner)


def _triangles(index: npt.NDArray[Any]) -> bool:
    """Return whether a list of indices has triangles only, each ended by -1."""
    count, left = divmod(len(index), 4)
    return (
        # As many -1 as rows of four, and all of them at their ends.
        not left
        and bool((index[3::4] == -1).all())
        and np.count_nonzero(index == -1) == count
    )


def _rows(values: npt.NDArray[Any], inner: bytes, long: bool) -> bytes:
    # Without the outer brackets `[[` and `]]`.
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
    # A stack of iterators in place of nested calls: nodes may be nested deeper than
    # Python's calls.
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
        # Prototypes that are declared here, by name; the body of one inherits them.
        self.protos = dict(protos or {})
        # The node that each name means at this point of the text.
        self.names: dict[str, Node] = {}
        # By id, the name with which a node was written.
        self.written: dict[int, str] = {}
        self.shared: set[int] = set()
        self.used_names: set[str] = set()

    def scene(self, scene: Scene) -> Pieces:
        yield HEADER.encode() + b"\n"
        self._survey(scene.nodes)
        for proto in scene.protos.values():
            # Prototypes of defaults must be declared before the interface that uses
            # them.
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
        # A node that is visited again needs a name for USE.
        for node in visits(nodes):
            if id(node) in seen:
                self.shared.add(id(node))
            seen.add(id(node))
            self.used_names.add(node.name)

    # ---- prototypes

    def _needed(self, nodes: Iterable[Node], indent: bytes) -> Pieces:
        """Declare the prototypes that nodes need.

        Those of all nodes in them, too, if they are not known here.
        """
        protos: dict[str, Proto] = {}
        for node in visits(nodes):
            if node.proto is None:
                continue
            # Within one node both would be used before either is declared again.
            if protos.setdefault(node.type, node.proto) is not node.proto:
                raise ValueError(f"two prototypes have the name {node.type}")
        for name, proto in protos.items():
            # A later PROTO of the same name replaces it, so each is declared before its
            # use.
            if self.protos.get(name) is not proto:
                yield self._needed(_proto_nodes(proto), indent)
                yield self._declared(proto, indent)

    def _declared(self, proto: Proto, indent: bytes) -> Pieces:
        """Write the declaration of a prototype, with its remark."""
        yield b"\n"
        for line in self.remarks.get(proto.name, "").splitlines():
            yield indent + f"# {line}\n".encode()
        keyword = "EXTERNPROTO" if proto.urls else "PROTO"
        yield indent + f"{keyword} {proto.name} [\n".encode()
        yield self._interface(proto, indent + b"  ")
        if proto.urls:
            yield indent + b"] " + _strings(proto.urls) + b"\n"
        else:
            yield indent + b"]\n" + indent + b"{\n"
            # Names of the body are its own: a new writer has none of those outside.
            yield _Writer({}, self.protos)._body(proto, indent + b"  ")
            yield indent + b"}\n"
        self.protos[proto.name] = proto

    def _interface(self, proto: Proto, indent: bytes) -> Pieces:
        """Write the fields of a prototype, in columns."""
        fields = proto.fields.values()
        access_width = max((len(field.access) for field in fields), default=0)
        type_width = max((len(field.type) for field in fields), default=0)
        # Columns of access, type and name; two blanks between them.
        name_width = max((len(field.name) for field in fields), default=0)
        width = access_width + type_width + name_width + 2
        for field in fields:
            head = f"{field.access:{access_width}} {field.type:{type_width}} "
            head += field.name
            # Only fields of a PROTO have defaults.
            if proto.urls or field.access not in ("field", "exposedField"):
                yield indent + head.encode() + b"\n"
                continue
            yield indent + f"{head:{width}} ".encode()
            yield self._value(_default(field), field.type, indent)
            yield b"\n"

    def _body(self, proto: Proto, indent: bytes) -> Pieces:
        self._survey(proto.body)
        for node in proto.body:
            yield self._needed([node], indent)
            yield indent
            yield self._node(node, indent)
            yield b"\n"
        yield self._routes(proto.routes, indent)

    def _routes(self, routes: Iterable[Route], indent: bytes) -> Pieces:
        for route in routes:
            start = f"{route.from_node}.{route.from_event}"
            end = f"{route.to_node}.{route.to_event}"
            yield indent + f"ROUTE {start} TO {end}\n".encode()

    # ---- nodes

    def _node(self, node: Node, indent: bytes) -> Pieces:
        """Write a node, or USE where it is written already."""
        # USE is right only while the name still means this node: DEF may give it to
        # another.
        name = self.written.get(id(node))
        if name is not None and self.names.get(name) is node:
            yield f"USE {name}".encode()
            return
        name = node.name
        if not name and id(node) in self.shared:
            name = self._new_name(node.type)
        if name:
            yield f"DEF {name} ".encode()
        yield f"{node.type} {{".encode()
        short = self._short(node)
        if short is not None:
            yield short
        else:
            yield b"\n"
            yield self._fields(node, _deeper(indent))
            yield indent + b"}"
        # The name holds from here on: inside the node it still means another one, or
        # none.
        if name:
            self.names[name] = node
            self.written[id(node)] = name

    def _new_name(self, node_type: str) -> str:
        count = 1
        while f"{node_type}_{count}" in self.used_names:
            count += 1
        name = f"{node_type}_{count}"
        self.used_names.add(name)
        return name

    def _fields(self, node: Node, indent: bytes) -> Pieces:
        """Write the fields of a node, those of a Script with their declarations."""
        types = {
            name: declared.type for name, declared in _declared_fields(node).items()
        }
        declarations = list(node.declarations.values())
        for name, value in node.fields.items():
            start = name
            if name in node.declarations:
                # Events have no value: they are written where they are declared.
                # Declarations are in order: those before this field are events.
                while declarations[0].name != name:
                    yield indent + _words(declarations.pop(0)).encode() + b"\n"
                declared = declarations.pop(0)
                start = _words(declared)
                types[name] = declared.type
            yield indent + start.encode() + b" "
            yield self._value(value, types.get(name, ""), indent)
            yield b"\n"
        for event in declarations:
            yield indent + _words(event).encode() + b"\n"

    def _short(self, node: Node) -> bytes | None:
        """Return the rest of a node that fits into one line."""
        if not node.fields and not node.declarations:
            return b" }"
        if len(node.fields) > MAX_SHORT_FIELDS or node.declarations:
            return None
        declared = _declared_fields(node)
        text = b" "
        for name, value in node.fields.items():
            # Nodes and lists take lines of their own.
            if isinstance(value, (Node, list)):
                return None
            if isinstance(value, np.ndarray) and value.size > MAX_SHORT_NUMBERS:
                return None
            field_type = declared[name].type if name in declared else ""
            text += name.encode() + b" " + _plain(value, field_type, b"") + b" "
        text += b"}"
        if len(text) <= MAX_LINE and b"\n" not in text:
            return text
        return None

    def _value(self, value: Value, kind: str, indent: bytes) -> Pieces:
        """Write the value of a field of type `kind`."""
        if isinstance(value, Node):
            yield self._node(value, indent)
        elif isinstance(value, list) and value and not isinstance(value[0], str):
            # Strings have a form of their own; every other list holds nodes and NULL.
            yield b"[\n"
            inner = _deeper(indent)
            for item in value:
                yield inner
                yield self._node(item, inner) if isinstance(item, Node) else b"NULL"
                yield b"\n"
            yield indent + b"]"
        elif isinstance(value, np.ndarray) and not kind.startswith("SF"):
            # Every other array has brackets: those of SF types have none.
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
            # `True` is an int too, so bool comes before it.
            return b"NULL"
        case bool():
            return str(value).upper().encode()
        case int():
            return str(value).encode()
        # Without a declared type the form decides the type when it is read: `1.0` is a
        # float.
        case float() if not kind:
            return repr(value).encode()
        case float():
            return _numbers(value).encode()
        case str():
            return _string(value)
        case IsReference():
            return f"IS {value.name}".encode()
        case np.ndarray() if kind.startswith("SF"):
            return _numbers(value).encode()
        case np.ndarray():
            return b"".join(number_pieces(value, indent))
        case list() | tuple():
            return _strings(item for item in value if isinstance(item, str))
    raise TypeError(f"{value!r:.80} is not a value of a field")


def _string(text: str) -> bytes:
    # Backslashes first, or those of the quotes would be doubled.
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return b'"' + escaped.encode("utf-8", "replace") + b'"'


def _strings(texts: Iterable[str]) -> bytes:
    return b"[ " + b"".join(_string(text) + b" " for text in texts) + b"]"


def _proto_nodes(proto: Proto) -> list[Node]:
    """Return the nodes that are the defaults of a prototype's fields.

    Those of its body declare what they need themselves.
    """
    # `visits` yields the made-up node first: it is left out.
    defaults = {field.name: field.value for field in proto.fields.values()}
    return list(visits([Node("", fields=defaults)]))[1:]


def _declared_fields(node: Node) -> Mapping[str, FieldDeclaration]:
    if node.proto is not None:
        return node.proto.fields
    return standard_fields(node.type)


def _words(field: FieldDeclaration) -> str:
    return f"{field.access} {field.type} {field.name}"


def _default(field: FieldDeclaration) -> Value:
    """Return the default of a field.

    Nothing, zero or "" where the declaration has none.
    """
    if field.value is not None or field.type == "SFNode":
        return field.value
    if field.type.startswith("MF"):
        return []
    match field.type:
        case "SFBool":
            return False
        case "SFString":
            return ""
        case "SFRotation":
            return np.array([0.0, 0.0, 1.0, 0.0])
        case "SFVec2f":
            return np.zeros(2)
        case "SFVec3f" | "SFColor" | "SFImage":
            return np.zeros(3)
    return 0
