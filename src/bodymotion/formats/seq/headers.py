"""The headers of a motion: what the top node and each component say of themselves, checked against the rules.

Keys are known in the spelling of every version. A component that lacks a key has that of the top node.
"""

from __future__ import annotations

from collections.abc import Mapping as MappingType
from dataclasses import dataclass, field
from typing import TypeVar

from bodymotion.diagnostics import Location, Problem, Rule
from bodymotion.formats.seq import rules
from bodymotion.formats.seq.document import Document, Frames
from bodymotion.formats.seq.layout import SE3_SIZES, Layout
from bodymotion.formats.seq.nodes import Mapping, Node, Scalar, Sequence, key_text
from bodymotion.formats.seq.numbers import number
from bodymotion.motion import JOINT_DISPLACEMENT, JOINT_EFFORT, LINK_POSITION, ZMP

__all__ = ["ComponentHeader", "Headers", "read_headers"]

T = TypeVar("T")
MAX_PARTS = 10**8
MAX_COMPONENTS = 10**4
_KEYS = {
    "type": ("type",),
    "content": ("content", "purpose"),
    "format_version": ("formatVersion", "format_version"),
    "frame_rate": ("frameRate", "frame_rate"),
    "num_frames": ("numFrames", "num_frames"),
    "num_parts": ("numParts", "num_parts"),
    "part_labels": ("partLabels", "part_labels"),
    "has_frame_time": ("hasFrameTime", "has_frame_time"),
    "is_root_relative": ("isRootRelative", "is_root_relative"),
    "se3_format": ("SE3Format", "format"),
    "frames": ("frames",),
    "components": ("components",),
}
_NAME_OF = {spelling: name for name, spellings in _KEYS.items() for spelling in spellings}
_ONLY_TOP = ("format_version", "components")
_ONLY_COMPONENT = ("frames", "part_labels")

MULTI_VALUE, MULTI_SE3, VECTOR3 = "MultiValueSeq", "MultiSE3Seq", "Vector3Seq"
_TYPES = {MULTI_VALUE: MULTI_VALUE, MULTI_SE3: MULTI_SE3, VECTOR3: VECTOR3}
_OLD_TYPES = {**_TYPES, "MultiSe3Seq": MULTI_SE3, "MultiAffine3Seq": MULTI_SE3}
_TYPE_OF_CONTENT = {JOINT_DISPLACEMENT: MULTI_VALUE, JOINT_EFFORT: MULTI_VALUE, LINK_POSITION: MULTI_SE3, ZMP: VECTOR3}
_COMMON = {JOINT_DISPLACEMENT: JOINT_DISPLACEMENT, LINK_POSITION: LINK_POSITION, ZMP: ZMP}
_CONTENTS = {
    1: {
        "JointPosition": JOINT_DISPLACEMENT,
        LINK_POSITION: LINK_POSITION,
        ZMP: ZMP,
        "RelativeZMP": ZMP,
        "RelativeZmp": ZMP,
    },
    2: _COMMON,
    3: {"MultiJointDisplacementSeq": JOINT_DISPLACEMENT, "MultiLinkPositionSeq": LINK_POSITION, "ZMPSeq": ZMP},
    4: {**_COMMON, "ZMPSeq": ZMP},
}
_ALL_CONTENTS = {name for names in _CONTENTS.values() for name in names}
_TRUE, _FALSE = ("true", "yes", "on"), ("false", "no", "off")


@dataclass(frozen=True, kw_only=True, eq=False)
class ComponentHeader:
    """What a file says of one component, before its rows are read.

    Attributes
    ----------
    type, content:
        "MultiValueSeq", "MultiSE3Seq", "Vector3Seq", or what else the file says; the content by its name in versions 2 and 4.
    num_parts, num_frames:
        Numbers, poses or (Vector3Seq) 3 coordinates a frame; the frames as counted.
    frame_rate:
        [Hz]; None where it is not given. With `has_frame_time` it is the rate on which the file wishes its frames to be put.
    se3_format:
        The order in which a MultiSE3Seq has its numbers in the file, else None.
    extra:
        Keys that the document does not know.
    """

    type: str
    content: str
    num_parts: int
    num_frames: int
    frame_rate: float | None = None
    has_frame_time: bool = False
    se3_format: str | None = None
    is_root_relative: bool = False
    part_labels: tuple[str, ...] = ()
    extra: MappingType[str, object] = field(default_factory=dict)
    location: Location = field(default_factory=Location)
    inside: str = field(default="", repr=False)
    layout: Layout | None = field(default=None, repr=False)
    frames: Frames | None = field(default=None, repr=False)


@dataclass
class Headers:
    """All headers of a file."""

    version: int
    components: tuple[ComponentHeader, ...]
    extra: dict[str, object]
    frame_rate: float | None
    style: str
    problems: list[Problem]


class _Fields:
    """The keys of a mapping by their names, whatever their spelling."""

    def __init__(self, document: Document, node: Mapping, problems: list[Problem], inside: str) -> None:
        self.document, self.node, self.inside = document, node, inside
        self.values: dict[str, Node] = {}
        self.unknown: dict[str, Node] = {}
        merged: list[Mapping] = []
        for key, value in node.pairs:
            text = key_text(key)
            if text == "<<" and isinstance(key, Scalar) and not key.quoted and isinstance(value, Mapping):
                problems.append(rules.MERGE.problem("a merge key", self.at(key)))
                merged.append(value)
                continue
            name = _NAME_OF.get(text) if isinstance(key, Scalar) else None
            known, label = (self.unknown, text) if name is None else (self.values, name)
            if label in known:
                problems.append(rules.KEY_TWICE.problem(f"the key {text[:60]} occurs twice", self.at(key)))
            known[label] = value
        for key, value in [pair for mapping in merged for pair in mapping.pairs]:
            text = key_text(key)
            if text in _NAME_OF and isinstance(key, Scalar):
                self.values.setdefault(_NAME_OF[text], value)
            else:
                self.unknown.setdefault(text, value)

    def at(self, node: Node | None, rest: str = "") -> Location:
        """Say where a node is; None: the mapping itself."""
        return self.document.location(node or self.node, (self.inside + rest).lstrip(".") or None)

    def extra(self, *unwanted: str) -> dict[str, object]:
        """Give all keys that are not known, and the known ones that have no meaning here, as plain values."""
        left = dict(self.unknown)
        for name in unwanted:
            if name in self.values:
                left[_KEYS[name][0]] = self.values[name]
        return {key: self.document.plain(value) for key, value in left.items()}


class _Reader:
    def __init__(self, document: Document) -> None:
        self.document = document
        self.problems: list[Problem] = []

    def warn(self, rule: Rule, message: str, where: Location) -> None:
        self.problems.append(rule.problem(message, where))

    # ---- single values

    def text(self, fields: _Fields, name: str) -> str | None:
        node = fields.values.get(name)
        if node is None or (isinstance(node, Scalar) and not node.quoted and node.text in ("", "~", "null")):
            return None
        if not isinstance(node, Scalar):
            raise rules.KEY_VALUE.error(f"{_KEYS[name][0]} is no text", fields.at(node, f".{_KEYS[name][0]}"))
        return node.text

    def rate(self, fields: _Fields) -> float | None:
        text = self.text(fields, "frame_rate")
        if text is None:
            return None
        value = number(text)
        if value is None or not 0 < value < float("inf"):
            where = fields.at(fields.values["frame_rate"], ".frameRate")
            raise rules.FRAME_RATE.error(f"the frame rate is {text[:40]!r}, not a positive number of Hz", where)
        return value

    def flag(self, fields: _Fields, name: str) -> bool | None:
        text = self.text(fields, name)
        if text is None:
            return None
        if text.lower() in _TRUE or text.lower() in _FALSE:
            return text.lower() in _TRUE
        where = fields.at(fields.values[name], f".{_KEYS[name][0]}")
        raise rules.FLAG.error(f"{_KEYS[name][0]} is {text[:40]!r}, neither true nor false", where)

    def count(self, fields: _Fields, name: str) -> int | None:
        """Give a whole number; −1 where the text is none."""
        text = self.text(fields, name)
        if text is None:
            return None
        value = number(text)
        return int(value) if value is not None and 0 <= value < 2**53 and value == int(value) else -1

    # ---- the top node

    def run(self) -> Headers:
        root = self.document.tree.root
        if not isinstance(root, Mapping):
            found = "list" if isinstance(root, Sequence) else "text"
            raise rules.NOT_A_MOTION.error(f"the top node is a {found}, not a mapping", self.document.location(root))
        top = _Fields(self.document, root, self.problems, "")
        kind = self.text(top, "type")
        bare = kind in _OLD_TYPES
        self.check_kind(top, kind, bare)
        version = self.version(top, kind)
        content = self.text(top, "content")
        if not bare and content != "BodyMotion" and (content or version > 1):
            said = f"the content of the top node is {content[:60]!r}" if content else "the top node has no content"
            self.warn(rules.TOP_CONTENT, said, top.at(top.values.get("content")))
        rate = self.rate(top)
        if bare:
            self.warn(rules.BARE_COMPONENT, f"the file is a bare {kind}", top.at(top.values.get("type")))
            components = [self.component(top, top, version, "")]
            extra: dict[str, object] = {}
        else:
            components = list(self.components(top, version))
            extra = top.extra(*_ONLY_COMPONENT)
            if not components:
                self.warn(rules.NO_COMPONENTS, "the motion has no components", top.at(top.values.get("components")))
        self.check_together(components, rate)
        if self.document.tree.next_document is not None:
            where = self.document.where.location(self.document.tree.next_document)
            self.warn(rules.DOCUMENTS, "another YAML document begins here", where)
        if self.document.encoding == "cp932":
            self.warn(rules.ENCODING, "the text is not UTF-8", Location(self.document.source.path))
        style = "flow" if root.flow else "block"
        return Headers(version, tuple(components), extra, rate, style, self.problems)

    def check_kind(self, top: _Fields, kind: str | None, bare: bool) -> None:
        if bare or kind in ("CompositeSeq", "BodyMotion"):
            return
        where = top.at(top.values.get("type"))
        if kind == "PoseSeq":
            raise rules.NOT_A_MOTION.error(
                "this is a sequence of key poses (PoseSeq, .pseq), another format", where, ""
            )
        if kind is not None:
            raise rules.NOT_A_MOTION.error(f"the top node is of type {kind[:60]!r}", where)
        if "components" not in top.values:
            raise rules.NOT_A_MOTION.error("the top node has neither a type nor components", where)
        self.warn(rules.TOP_TYPE, "the top node has no type; read as CompositeSeq", where)

    def version(self, top: _Fields, kind: str | None) -> int:
        node = top.values.get("format_version")
        text = self.text(top, "format_version")
        where = top.at(node, ".formatVersion" if node else "")
        if text is None:
            if kind == "BodyMotion":
                return 1
            self.warn(rules.VERSION_MISSING, "the file does not say its format version", where)
            return 2
        value = number(text)
        if value is None or not abs(value) < float("inf"):
            raise rules.VERSION.error(f"the format version is {text[:40]!r}, not a number", where)
        if value >= 5:
            raise rules.VERSION.error(f"format version {text[:40]} is not known, only 1 to 4", where)
        if value < 1:
            self.warn(rules.VERSION_LOW, f"the format version is {text[:40]}", where)
        version = max(int(value), 1)
        if kind in ("CompositeSeq", "BodyMotion") and (kind == "BodyMotion") != (version == 1):
            self.warn(rules.TOP_TYPE, f"the type {kind} in version {version}", top.at(top.values.get("type")))
        return version

    def components(self, top: _Fields, version: int) -> list[ComponentHeader]:
        node = top.values.get("components")
        if node is None or (isinstance(node, Scalar) and not node.quoted and node.text in ("", "~", "null")):
            return []
        if not isinstance(node, Sequence):
            raise rules.COMPONENTS.error("the components are no list", top.at(node, ".components"))
        if len(node.items) > MAX_COMPONENTS:
            raise rules.COMPONENTS.error(f"there are {len(node.items)} components", top.at(node, ".components"))
        found = []
        for k, item in enumerate(node.items):
            inside = f"components[{k}]"
            if not isinstance(item, Mapping):
                raise rules.COMPONENTS.error(f"component {k} is no mapping", self.document.location(item, inside))
            found.append(self.component(_Fields(self.document, item, self.problems, inside), top, version, inside))
        return found

    # ---- one component

    def component(self, own: _Fields, top: _Fields, version: int, inside: str) -> ComponentHeader:
        kind = self.text(own, "type")
        if kind is None:
            raise rules.COMPONENT_TYPE.error("a component has no type", own.at(None))
        content = self.text(own, "content")
        if content is None:
            content = self.text(top, "content") or ""
            taken = f"; {content[:60]!r} is taken from the top node" if content else ""
            self.warn(rules.CONTENT_MISSING, f"a {kind[:60]} has no content{taken}", own.at(None))
        known = (_OLD_TYPES if version == 1 else _TYPES).get(kind)
        if known is None:
            self.warn(
                rules.COMPONENT_UNKNOWN,
                f"the component {content[:60]} is of type {kind[:60]!r}",
                own.at(own.values["type"], ".type"),
            )
            extra = {key_text(key): self.document.plain(value) for key, value in own.node.pairs}
            for name in ("type", "content"):
                for spelling in _KEYS[name]:
                    extra.pop(spelling, None)
            return ComponentHeader(
                type=kind, content=content, num_parts=0, num_frames=0, extra=extra, location=own.at(None), inside=inside
            )
        frames = self.frames(own, content)
        num_frames = frames.num_rows if frames else 0
        self.check_num_frames(own, top, content, num_frames)
        relative = self.either(self.flag(own, "is_root_relative"), self.flag(top, "is_root_relative")) or False
        if version == 1 and content in ("RelativeZMP", "RelativeZmp"):
            relative = True
        stamped = self.stamped(own, top, version)
        rate = self.either(self.rate(own), self.rate(top))
        if rate is None and not stamped:
            raise rules.FRAME_RATE_MISSING.error(f"the component {content[:60]} has no frame rate", own.at(None))
        content = self.content(own, known, content, version)
        order = self.order(own, top, frames, stamped) if known == MULTI_SE3 else None
        parts = self.parts(own, top, known, frames, stamped)
        labels = self.labels(own, parts)
        unwanted = _ONLY_TOP if own is not top else ("components",)
        if labels is None:
            unwanted = (*unwanted, "part_labels")
        return ComponentHeader(
            type=known,
            content=content,
            num_parts=parts,
            num_frames=num_frames,
            frame_rate=rate,
            has_frame_time=stamped,
            se3_format=order,
            is_root_relative=relative,
            part_labels=labels or (),
            extra=own.extra(*unwanted),
            location=own.at(None),
            inside=inside,
            layout=Layout(parts, stamped, order),
            frames=frames,
        )

    @staticmethod
    def either(own: T | None, top: T | None) -> T | None:
        return top if own is None else own

    def frames(self, own: _Fields, content: str) -> Frames | None:
        node = own.values.get("frames")
        if node is None or (isinstance(node, Scalar) and not node.quoted and node.text in ("", "~", "null")):
            self.warn(rules.FRAMES_MISSING, f"the component {content[:60]} has no frames", own.at(node))
            return None
        if not isinstance(node, Sequence):
            raise rules.FRAMES.error(f"the frames of {content[:60]} are no list", own.at(node, ".frames"))
        return self.document.frames(node) if node.items else None

    def check_num_frames(self, own: _Fields, top: _Fields, content: str, found: int) -> None:
        fields = own if "num_frames" in own.values else top
        said = self.count(fields, "num_frames")
        if said is None or said == found:
            return
        where = fields.at(fields.values["num_frames"], ".numFrames")
        if said < 0:
            problem = rules.NUM_FRAMES_NUMBER.problem(f"numFrames is {self.text(fields, 'num_frames')!r:.60}", where)
        else:
            problem = rules.NUM_FRAMES.problem(f"numFrames is {said}, but {content[:60]} has {found} rows", where)
        if problem not in self.problems:
            self.problems.append(problem)

    def stamped(self, own: _Fields, top: _Fields, version: int) -> bool:
        stamped = self.either(self.flag(own, "has_frame_time"), self.flag(top, "has_frame_time")) or False
        if stamped and version == 1:
            fields = own if "has_frame_time" in own.values else top
            where = fields.at(fields.values["has_frame_time"], ".hasFrameTime")
            raise rules.FRAME_TIME_V1.error("hasFrameTime in a file of version 1", where)
        return stamped

    def content(self, own: _Fields, kind: str, content: str, version: int) -> str:
        where = own.at(own.values.get("content"))
        name = _CONTENTS[version].get(content)
        if name is None:
            if content in _ALL_CONTENTS:
                self.warn(
                    rules.CONTENT_OF_OTHER_VERSION, f"the content {content} is not known in version {version}", where
                )
            name = content
        wanted = _TYPE_OF_CONTENT.get(name, kind)
        if wanted != kind:
            self.warn(rules.CONTENT_TYPE, f"a {content} is a {kind}, not a {wanted}", where)
        return name

    def first_row(self, own: _Fields, frames: Frames) -> Sequence:
        row = frames.row(0)
        if not isinstance(row, Sequence):
            where = frames.location(0, own.inside)
            raise rules.ROW.error("frame 0 is not a row [ … ] of numbers", where)
        return row

    def order(self, own: _Fields, top: _Fields, frames: Frames | None, stamped: bool) -> str:
        fields = own if "se3_format" in own.values else top
        text = self.text(fields, "se3_format")
        if text is not None:
            if text not in SE3_SIZES:
                where = fields.at(fields.values["se3_format"], ".SE3Format")
                raise rules.SE3_FORMAT.error(f"the SE3 format {text[:60]!r} is none of {', '.join(SE3_SIZES)}", where)
            return text
        size = 7
        if frames:
            poses = self.first_row(own, frames).items[stamped:]
            if poses and isinstance(poses[0], Sequence):
                size = len(poses[0].items)
        if size not in (6, 7):
            message = f"there is no SE3 format, and the first pose has {size} numbers"
            assert frames is not None
            raise rules.SE3_FORMAT.error(message, frames.location(0, own.inside))
        order = "XYZQWQXQYQZ" if size == 7 else "XYZRPY"
        self.warn(rules.SE3_FORMAT_MISSING, f"there is no SE3 format; read as {order}", own.at(None))
        return order

    def parts(self, own: _Fields, top: _Fields, kind: str, frames: Frames | None, stamped: bool) -> int:
        if kind == VECTOR3:
            if "num_parts" in own.values:
                self.warn(
                    rules.NUM_PARTS_VECTOR, "a Vector3Seq has numParts", own.at(own.values["num_parts"], ".numParts")
                )
            return 3
        fields = own if "num_parts" in own.values else top
        parts = self.count(fields, "num_parts")
        if parts is None:
            parts = max(len(self.first_row(own, frames).items) - stamped, 0) if frames else 0
            self.warn(rules.NUM_PARTS_MISSING, f"a {kind} has no numParts; the first row has {parts}", own.at(None))
        elif not 0 <= parts <= MAX_PARTS:
            where = fields.at(fields.values["num_parts"], ".numParts")
            raise rules.NUM_PARTS.error(f"numParts is {self.text(fields, 'num_parts')!r:.60}", where)
        return parts

    def labels(self, own: _Fields, parts: int) -> tuple[str, ...] | None:
        node = own.values.get("part_labels")
        if node is None:
            return ()
        where = own.at(node, ".partLabels")
        if not isinstance(node, Sequence) or not all(isinstance(item, Scalar) for item in node.items):
            self.warn(rules.PART_LABELS, "the part labels are no list of texts", where)
            return None
        labels = tuple(item.text for item in node.items if isinstance(item, Scalar))
        if len(labels) != parts:
            self.warn(rules.PART_LABELS, f"there are {len(labels)} part labels for {parts} parts", where)
        return labels

    # ---- all components

    def check_together(self, components: list[ComponentHeader], rate: float | None) -> None:
        seen: set[str] = set()
        for component in components:
            if component.layout is None:
                continue
            if component.content and component.content in seen:
                self.warn(rules.CONTENT_TWICE, f"the content {component.content[:60]} occurs twice", component.location)
            seen.add(component.content)
            own = component.frame_rate
            if rate is not None and own is not None and abs(own - rate) > 1e-5 * rate:
                self.warn(
                    rules.RATES,
                    f"{component.content[:60]} has {own:g} Hz, the top node {rate:g} Hz",
                    component.location,
                )
        known = [c for c in components if c.layout and c.content in _COMMON and not c.has_frame_time]
        if len({c.num_frames for c in known}) > 1:
            lengths = ", ".join(f"{c.content} {c.num_frames}" for c in known)
            self.warn(rules.LENGTHS, f"the numbers of frames differ: {lengths}", known[0].location)


def read_headers(document: Document) -> Headers:
    """Read and check all headers of a document.

    Raises
    ------
    FormatError
        Where they break a rule such that the rows can not be understood.
    """
    return _Reader(document).run()
