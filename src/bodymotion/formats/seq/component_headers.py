"""The header of a component: its keys, those that it inherits from the top node, and what its first row tells where they are missing."""

from __future__ import annotations

from collections.abc import Mapping as MappingType
from dataclasses import dataclass, field, replace
from typing import TypeVar

from bodymotion.diagnostics import Location, Rule
from bodymotion.formats.seq import rules
from bodymotion.formats.seq.document import Document
from bodymotion.formats.seq.fields import KEYS, Fields, is_empty
from bodymotion.formats.seq.findings import Findings
from bodymotion.formats.seq.frames import Frames
from bodymotion.formats.seq.layout import MULTI_SE3, MULTI_VALUE, OLD_TYPES, SE3_SIZES, TYPES, VECTOR3, Layout
from bodymotion.formats.seq.nodes import Mapping, Node, Scalar, Sequence, key_text
from bodymotion.formats.seq.single_rows import first_row
from bodymotion.formats.text.spelling import meant
from bodymotion.motion import JOINT_DISPLACEMENT, JOINT_EFFORT, LINK_POSITION, ZMP

__all__ = ["COMMON_CONTENTS", "ComponentHeader", "ComponentReader", "is_of_version_3"]

T = TypeVar("T")
MAX_PARTS = 10**8
_ONLY_TOP = ("format_version", "components")

_TYPE_OF_CONTENT = {JOINT_DISPLACEMENT: MULTI_VALUE, JOINT_EFFORT: MULTI_VALUE, LINK_POSITION: MULTI_SE3, ZMP: VECTOR3}
COMMON_CONTENTS = {JOINT_DISPLACEMENT: JOINT_DISPLACEMENT, LINK_POSITION: LINK_POSITION, ZMP: ZMP}
_CONTENTS = {
    1: {
        "JointPosition": JOINT_DISPLACEMENT,
        LINK_POSITION: LINK_POSITION,
        ZMP: ZMP,
        "RelativeZMP": ZMP,
        "RelativeZmp": ZMP,
    },
    2: COMMON_CONTENTS,
    3: {"MultiJointDisplacementSeq": JOINT_DISPLACEMENT, "MultiLinkPositionSeq": LINK_POSITION, "ZMPSeq": ZMP},
    4: {**COMMON_CONTENTS, "ZMPSeq": ZMP},
}
_ALL_CONTENTS = {name for names in _CONTENTS.values() for name in names}
_ONLY_3 = set(_CONTENTS[3]) - {name for version in (1, 2, 4) for name in _CONTENTS[version]}


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


class ComponentReader:
    """Reads the headers of components; what is odd goes to `problems`. `labels_taken`: whether one has the part labels of the top."""

    def __init__(self, document: Document, problems: Findings) -> None:
        self.document = document
        self.problems = problems
        self.labels_taken = False

    def warn(self, rule: Rule, message: str, where: Location) -> None:
        """Note a problem."""
        self.problems.append(rule.problem(message, where))

    def read(self, own: Fields, top: Fields, version: int, inside: str) -> ComponentHeader | None:
        """Read the header of a component, which may be the top node itself; None where, after a fault, nothing can be told of it."""
        kind = own.text("type")
        content = own.text("content")
        if kind is None:
            self._missing(rules.COMPONENT_TYPE, "a component has no type", "type", own)
            kind = _TYPE_OF_CONTENT.get(_CONTENTS[version].get(content or "", ""))
            if kind is None:
                return None
        if content is None:
            content = top.text("content") or ""
            taken = f"; {content[:60]!r} is taken from the top node" if content else ""
            if "content" not in own.slips:
                self.warn(rules.CONTENT_MISSING, f"a {kind[:60]} has no content{taken}", own.at(None))
        known = (OLD_TYPES if version == 1 else TYPES).get(kind)
        if known is None:
            almost = meant(kind, TYPES)
            self.warn(
                rules.COMPONENT_UNKNOWN,
                f"the component {content[:60]} is of type {kind[:60]!r}{f': did you mean {almost!r}?' if almost else ''}",
                own.at(own.values["type"], ".type"),
            )
            extra = {key_text(key): self.document.plain(value) for key, value in own.node.pairs}
            for name in ("type", "content"):
                for spelling in KEYS[name]:
                    extra.pop(spelling, None)
            return ComponentHeader(
                type=kind, content=content, num_parts=0, num_frames=0, extra=extra, location=own.at(None), inside=inside
            )
        frames = self._frames(own, content)
        num_frames = frames.num_rows if frames else 0
        self._check_num_frames(own, top, content, num_frames)
        relative = self._either(own.flag("is_root_relative"), top.flag("is_root_relative")) or False
        if version == 1 and content in ("RelativeZMP", "RelativeZmp"):
            relative = True
        stamped = self._stamped(own, top, version, known, frames)
        rate = self._either(own.rate(), top.rate())
        if rate is None and not stamped and not (self.problems.lenient and _has_rate(own, top)):
            message = f"the component {content[:60]} has no frame rate"
            self._missing(rules.FRAME_RATE_MISSING, message, "frame_rate", own, top)
        content = self._content(own, known, content, version)
        order = self._order(own, top, frames, stamped) if known == MULTI_SE3 else None
        parts = self._parts(own, top, known, frames, stamped)
        labels = self._labels(own, top, parts)
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

    def _missing(self, rule: Rule, message: str, name: str, *fields: Fields) -> None:
        """Say that a component lacks a key without which it cannot be read; where one is almost spelt like it, that is what is wrong."""
        slip = next((mapping.slips[name] for mapping in fields if name in mapping.slips), None)
        if slip is None:
            self.problems.fault(rule, message, fields[0].at(None))
        else:
            self.problems.worsen(slip)

    @staticmethod
    def _either(own: T | None, top: T | None) -> T | None:
        return top if own is None else own

    def _frames(self, own: Fields, content: str) -> Frames | None:
        node = own.values.get("frames")
        if node is None or is_empty(node):
            if "frames" in own.slips:
                self.problems.worsen(own.slips["frames"], refused=False)
            else:
                self.warn(rules.FRAMES_MISSING, f"the component {content[:60]} has no frames", own.at(node))
            return None
        if not isinstance(node, Sequence):
            raise rules.FRAMES.error(f"the frames of {content[:60]} are no list", own.at(node, ".frames"))
        return self.document.frames(node) if node.items else None

    def _check_num_frames(self, own: Fields, top: Fields, content: str, found: int) -> None:
        fields = own if "num_frames" in own.values else top
        said = fields.count("num_frames")
        if said is None or said == found:
            return
        where = fields.at(fields.values["num_frames"], ".numFrames")
        if said < 0:
            problem = rules.NUM_FRAMES_NUMBER.problem(
                f"numFrames is {fields.text('num_frames')!r:.60}, no whole number", where
            )
        else:
            hint = "the rows count; some are missing, if the file was cut off" if said > found else None
            message = f"numFrames is {said}, but {content[:60]} has {found or 'no'} row{'s' * (found != 1)}"
            problem = rules.NUM_FRAMES.problem(message, where, hint)
            if not found:
                problem = replace(problem, severity="error")
        if problem not in self.problems:
            self.problems.append(problem)

    def _stamped(self, own: Fields, top: Fields, version: int, kind: str, frames: Frames | None) -> bool:
        flag = self._either(own.flag("has_frame_time"), top.flag("has_frame_time"))
        fields = own if "has_frame_time" in own.values else top
        if flag and version == 1:
            where = fields.at(fields.values["has_frame_time"], ".hasFrameTime")
            self.problems.fault(rules.FRAME_TIME_V1, "there is hasFrameTime in a file of version 1", where)
        if flag is None and self.problems.lenient and fields.text("has_frame_time") is not None:
            return self._looks_stamped(own, kind, frames)
        slip = own.slips.get("has_frame_time") or top.slips.get("has_frame_time")
        if flag is None and slip is not None and self._looks_stamped(own, kind, frames):
            self.problems.worsen(slip)
            return True
        return flag or False

    def _looks_stamped(self, own: Fields, kind: str, frames: Frames | None) -> bool:
        row = first_row(frames, self.problems.one_by_one) if frames is not None else None
        return row is not None and _looks_stamped(row, kind, own.count("num_parts"))

    def _content(self, own: Fields, kind: str, content: str, version: int) -> str:
        where = own.at(own.values.get("content"))
        name = _CONTENTS[version].get(content)
        if name is None:
            if content in _ALL_CONTENTS:
                ours = next(names[content] for names in _CONTENTS.values() if content in names)
                there = next(name for name, known in _CONTENTS[version].items() if known == ours)
                message = f"the content {content} is not known in version {version}, where it is {there}"
                self.warn(rules.CONTENT_OF_OTHER_VERSION, message, where)
            elif (almost := meant(content, (*_CONTENTS[version], JOINT_EFFORT))) not in (None, content):
                message = f"the content {content!r} is none that the document knows: did you mean {almost!r}?"
                self.warn(rules.MISSPELT_CONTENT, message, where)
            name = content
        wanted = _TYPE_OF_CONTENT.get(name, kind)
        if wanted != kind:
            self.warn(rules.CONTENT_TYPE, f"a {content} is a {kind}, not a {wanted}", where)
        return name

    def _first_row(self, own: Fields, frames: Frames) -> Sequence:
        row = first_row(frames, self.problems.one_by_one)
        if not isinstance(row, Sequence):
            where = frames.location(0, own.inside)
            raise rules.ROW.error("frame 0 is not a row [ … ] of numbers", where)
        return row

    def _order(self, own: Fields, top: Fields, frames: Frames | None, stamped: bool) -> str:
        fields = own if "se3_format" in own.values else top
        text = fields.text("se3_format")
        if text is not None:
            if text in SE3_SIZES:
                return text
            where = fields.at(fields.values["se3_format"], ".SE3Format")
            message = f"the SE3 format {text[:60]!r} is none of {', '.join(SE3_SIZES)}"
            self.problems.fault(rules.SE3_FORMAT, message, where)
        size = 7
        if frames:
            poses = self._first_row(own, frames).items[stamped:]
            if poses and isinstance(poses[0], Sequence):
                size = len(poses[0].items)
        if size not in (6, 7):
            message = f"there is no SE3 format, and the first pose has {size} numbers"
            assert frames is not None
            raise rules.SE3_FORMAT.error(message, frames.location(0, own.inside))
        order = "XYZQWQXQYQZ" if size == 7 else "XYZRPY"
        if text is None and "se3_format" not in own.slips and "se3_format" not in top.slips:
            self.warn(rules.SE3_FORMAT_MISSING, f"the component has no SE3Format; read as {order}", own.at(None))
        return order

    def _parts(self, own: Fields, top: Fields, kind: str, frames: Frames | None, stamped: bool) -> int:
        if kind == VECTOR3:
            if "num_parts" in own.values:
                self.warn(
                    rules.NUM_PARTS_VECTOR,
                    "a Vector3Seq has numParts, which means nothing there",
                    own.at(own.values["num_parts"], ".numParts"),
                )
            return 3
        fields = own if "num_parts" in own.values else top
        parts = fields.count("num_parts")
        if parts is None:
            parts = max(len(self._first_row(own, frames).items) - stamped, 0) if frames else 0
            if "num_parts" not in own.slips and "num_parts" not in top.slips:
                self.warn(rules.NUM_PARTS_MISSING, f"a {kind} has no numParts; the first row has {parts}", own.at(None))
        elif not 0 <= parts <= MAX_PARTS:
            where = fields.at(fields.values["num_parts"], ".numParts")
            self.problems.fault(
                rules.NUM_PARTS, f"numParts is {fields.text('num_parts')!r:.60}, no whole number of parts", where
            )
            parts = max(len(self._first_row(own, frames).items) - stamped, 0) if frames else 0
        return parts

    def _labels(self, own: Fields, top: Fields, parts: int) -> tuple[str, ...] | None:
        node = own.values.get("part_labels")
        if node is None:
            # Those of the top node can be meant only for the components that have as many parts.
            labels = _texts(top.values.get("part_labels"))
            if not labels or len(labels) != parts:
                return ()
            self.labels_taken = True
            return labels
        where = own.at(node, ".partLabels")
        labels = _texts(node)
        if labels is None:
            self.warn(rules.PART_LABELS, "the part labels are no list of texts", where)
        elif len(labels) != parts:
            self.warn(rules.PART_LABELS, f"the part labels are {len(labels)}, the parts {parts}", where)
        return labels


def is_of_version_3(components: Node | None) -> bool:
    """Whether components have contents by names that only version 3 has."""
    for item in components.items if isinstance(components, Sequence) else ():
        for key, value in item.pairs if isinstance(item, Mapping) else ():
            if key_text(key) in KEYS["content"] and isinstance(value, Scalar) and value.text in _ONLY_3:
                return True
    return False


def _has_rate(own: Fields, top: Fields) -> bool:
    """Whether a frame rate is given, if only one that is none."""
    return any("frame_rate" in fields.values and not is_empty(fields.values["frame_rate"]) for fields in (own, top))


def _looks_stamped(row: Node, kind: str, parts: int | None) -> bool:
    """Whether a row begins with a time, by the number of its elements, and for poses by the first of them."""
    if not isinstance(row, Sequence) or not row.items:
        return False
    if kind == MULTI_SE3:
        return isinstance(row.items[0], Scalar)
    return len(row.items) == (3 if kind == VECTOR3 else -1 if parts is None else parts) + 1


def _texts(node: Node | None) -> tuple[str, ...] | None:
    """Return the texts of a list, if it is one of texts only."""
    if not isinstance(node, Sequence):
        return None
    texts = tuple(item.text for item in node.items if isinstance(item, Scalar))
    return texts if len(texts) == len(node.items) else None
