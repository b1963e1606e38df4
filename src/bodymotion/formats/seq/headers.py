"""The headers of a motion.

The keys of the top node and of its components, with what the rows show where keys are
missing or faulty.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, field, replace
from typing import TypeVar, cast

from bodymotion.diagnostics import (
    Diagnostics,
    FormatError,
    Location,
    Problem,
    Rule,
    Severity,
    ShortRepr,
)
from bodymotion.diagnostics.spelling import meant
from bodymotion.diagnostics.text import with_article
from bodymotion.formats.rules import ENCODING, TOO_LARGE
from bodymotion.formats.seq import rules
from bodymotion.formats.seq.document import Document, Frames
from bodymotion.formats.seq.scan import first_non_utf8_byte
from bodymotion.formats.seq.values import (
    CONTENTS,
    KEYS,
    MULTI_SE3,
    MULTI_VALUE,
    OF_COMPONENTS,
    OLD_TYPES,
    SE3_SIZES,
    TYPES,
    VECTOR3,
    Layout,
    key_name,
    number,
)
from bodymotion.formats.yaml.rules import KEY_TWICE, MISSPELT, WRONG_VALUE
from bodymotion.formats.yaml.tree import (
    Mapping,
    MissingAlias,
    Node,
    Scalar,
    Sequence,
    key_text,
)
from bodymotion.motion import (
    JOINT_DISPLACEMENT,
    JOINT_EFFORT,
    LINK_POSITION,
    ZMP,
    Component,
    OtherSeq,
    Vector3Seq,
)
from bodymotion.motion.rules import FRAME_RATE

T = TypeVar("T")

MAX_COMPONENTS = 10**4
MAX_PARTS = 10**8
MAX_MISSPELT = 50  # Unknown keys of a mapping that are compared with known ones: spelling mistakes are few.

_NAME_OF = {
    spelling: name for name, spellings in KEYS.items() for spelling in spellings
}
_OF_TOP = tuple(name for name in KEYS if name != "frames")
_ONLY_TOP = ("format_version", "components")
_INHERITED = (
    "frame_rate",
    "has_frame_time",
    "num_parts",
    "is_root_relative",
    "se3_format",
)
"""Keys of the top node that are for the components without them."""
_TRUE = ("true", "yes", "on")
_FALSE = ("false", "no", "off")

_TYPE_OF_CONTENT = {
    JOINT_DISPLACEMENT: MULTI_VALUE,
    JOINT_EFFORT: MULTI_VALUE,
    LINK_POSITION: MULTI_SE3,
    ZMP: VECTOR3,
}
_ALL_CONTENTS = {name for names in CONTENTS.values() for name in names}
_ONLY_IN = {
    3: set(CONTENTS[3]) - set(CONTENTS[4]),
    1: {*CONTENTS[1], *OLD_TYPES} - {*CONTENTS[2], *TYPES},
    4: set(CONTENTS[4]) - set(CONTENTS[2]),
}
"""By version, names of contents and types that show it.

No earlier one of these has them, and version 2 has none of them.
"""


def _is_empty(node: Node) -> bool:
    """Return whether a key has no value."""
    return (
        isinstance(node, Scalar) and not node.quoted and node.value in ("", "~", "null")
    )


class Fields:
    """The keys of a mapping by their names, whatever their spelling.

    Attributes
    ----------
    values:
        The values of the keys of the format.
    unknown:
        Those of other keys, by their texts.
    slips:
        By the name of a key that is missing, the problem of an unknown one that is
        almost spelt like it.
    top:
        The keys of the top node, which a component inherits.
    """

    def __init__(
        self,
        document: Document,
        node: Mapping,
        found: Diagnostics,
        inside: str,
        top: Fields | None = None,
    ) -> None:
        self.document, self.node, self.inside, self.found, self.top = (
            document,
            node,
            inside,
            found,
            top or self,
        )
        self.values: dict[str, Node] = {}
        self.unknown: dict[str, Node] = {}
        merged: list[Mapping] = []
        for key, value in node.pairs:
            text = key_text(key)
            if (
                text == "<<"
                and isinstance(key, Scalar)
                and not key.quoted
                and isinstance(value, Mapping)
            ):
                found.report(
                    rules.MERGE,
                    "the merge key '<<' copies keys from another mapping",
                    self.at(key),
                )
                merged.append(value)
                continue
            if isinstance(key, Scalar):
                name = _NAME_OF.get(text)
            else:
                name = None
            known, label = (self.unknown, text) if name is None else (self.values, name)
            if label in known:
                found.report(
                    KEY_TWICE, f"the key {text[:60]} occurs twice", self.at(key)
                )
            known[label] = value
        for key, value in [pair for mapping in merged for pair in mapping.pairs]:
            text = key_text(key)
            if text in _NAME_OF and isinstance(key, Scalar):
                self.values.setdefault(_NAME_OF[text], value)
            else:
                self.unknown.setdefault(text, value)
        if self.unknown:
            self.slips = self._find_slips()
        else:
            self.slips = {}

    def _find_slips(self) -> dict[str, Problem]:
        expected = OF_COMPONENTS if self.inside else _OF_TOP
        expected = tuple(name for name in expected if name not in self.values)
        keys = {key.value: key for key, _ in self.node.pairs if isinstance(key, Scalar)}
        slips: dict[str, Problem] = {}
        for text in list(self.unknown)[:MAX_MISSPELT]:
            if text in keys:
                spelling = meant(text, (KEYS[name][0] for name in expected))
            else:
                spelling = None
            if spelling is None or _NAME_OF[spelling] in slips:
                continue
            message = f"the key {text!r} is not known: did you mean {spelling!r}?"
            data = {"key": text, "meant": spelling}
            problem = MISSPELT.problem(message, self.at(keys[text]), data=data)
            slips[_NAME_OF[spelling]] = problem
            self.found.add(problem)
        return slips

    def at(self, node: Node | None, rest: str = "") -> Location:
        """Return where a node is.

        Of None, where the mapping itself is.
        """
        return self.document.location(
            node or self.node, (self.inside + rest).lstrip(".") or None
        )

    def holder(self, name: str) -> Fields:
        """Return the mapping that has a key: this one, or else the top node."""
        return self if name in self.values else self.top

    def slip(self, name: str) -> Problem | None:
        """Return the problem of a misspelt key, here or in the top node."""
        return self.slips.get(name) or self.top.slips.get(name)

    def inherited(self, read: Callable[[Fields], T | None]) -> T | None:
        """Return what `read` returns for this mapping, or else for the top node."""
        own = read(self)
        if self.top is self:
            top = None
        else:
            top = read(self.top)
        return top if own is None else own

    def extra(self, *unwanted: str) -> dict[str, object]:
        """Return all unknown keys, and known ones that have no meaning here, as plain values."""
        left = dict(self.unknown)
        for name in unwanted:
            if name in self.values:
                left[KEYS[name][0]] = self.values[name]
        return {key: self.document.plain(value) for key, value in left.items()}

    def location(self, name: str) -> Location | None:
        """Return where the value of a key is.

        None where there is none.
        """
        if name in self.values:
            return self.at(self.values[name], f".{KEYS[name][0]}")
        return None

    def refuse(self, rule: Rule, message: str, name: str) -> None:
        """Record a faulty value of a key."""
        self.found.refuse(rule.error(message, self.location(name)))

    def text(self, name: str) -> str | None:
        """Return the text of a key.

        None where it is missing or empty.
        """
        node = self.values.get(name)
        if node is None or _is_empty(node):
            return None
        if not isinstance(node, Scalar):
            self.refuse(
                WRONG_VALUE,
                f"{KEYS[name][0]} is a list or a mapping, not a single value",
                name,
            )
            return None
        return node.value

    def rate(self) -> float | None:
        """Return the frame rate [Hz], where there is a valid one."""
        text = self.text("frame_rate")
        if text is None:
            return None
        value = number(text)
        if value is None or not 0 < value < float("inf"):
            message = f"the frame rate is {text[:40]!r}, not a positive number of Hz"
            self.refuse(FRAME_RATE, message, "frame_rate")
            return None
        if not 1e-3 <= value <= 1e6:
            self.found.report(
                rules.IRREGULAR_RATE,
                f"the frame rate is {text[:40]} Hz",
                self.location("frame_rate"),
            )
        return value

    def flag(self, name: str) -> bool | None:
        """Return a truth value, where there is a valid one."""
        text = self.text(name)
        if text is None:
            return None
        if text.lower() in _TRUE or text.lower() in _FALSE:
            return text.lower() in _TRUE
        self.refuse(
            WRONG_VALUE,
            f"{KEYS[name][0]} is {text[:40]!r}; expected true or false",
            name,
        )
        return None

    def count(self, name: str) -> int | None:
        """Return a whole number, where there is one.

        −1 where the text is none.
        """
        text = self.text(name)
        if text is None:
            return None
        value = number(text)
        if value is not None and 0 <= value < 2**53 and value == int(value):
            return int(value)
        return -1


@dataclass(frozen=True, kw_only=True, eq=False)
class ComponentHeader(ShortRepr):
    """A component without its rows.

    Attributes
    ----------
    type, content:
        "MultiValueSeq", "MultiSE3Seq", "Vector3Seq", or another type as the file has
        it; the content by its name in versions 2 and 4.
    num_parts, num_frames:
        Numbers, poses or (Vector3Seq) 3 coordinates per frame; the frames as counted.
    frame_rate:
        [Hz]; None where there is none. With `has_frame_time` it is the rate to which
        the frames are to be resampled.
    se3_format:
        The order in which a MultiSE3Seq has its numbers in the file, else None.
    extra:
        Keys that the format does not define.
    location, rate_location:
        Of the component, and of its frame rate (None where it has none).
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
    extra: AnyMapping[str, object] = field(default_factory=dict)
    location: Location = field(default_factory=Location)
    rate_location: Location | None = field(default=None, repr=False)
    parts_location: Location | None = field(default=None, repr=False)
    inside: str = field(default="", repr=False)
    layout: Layout | None = field(default=None, repr=False)
    frames: Frames | None = field(default=None, repr=False)


def header_of(component: Component) -> ComponentHeader:
    """Return a component without its frames."""
    if isinstance(component, OtherSeq):
        return ComponentHeader(
            type=component.type,
            content=component.content,
            num_parts=0,
            num_frames=0,
            extra=component.extra,
        )
    timeline = component.timeline
    parts = component.values.shape[1]
    is_stamped = timeline.stamps is not None
    return ComponentHeader(
        type=type(component).__name__,
        content=component.content,
        num_frames=component.num_frames,
        num_parts=parts,
        frame_rate=timeline.frame_rate or timeline.import_rate,
        has_frame_time=is_stamped,
        is_root_relative=isinstance(component, Vector3Seq)
        and component.is_root_relative,
        part_labels=component.part_labels,
        extra=component.extra,
        layout=Layout(parts, is_stamped),
    )


@dataclass
class Headers:
    """All headers of a file.

    Attributes
    ----------
    components:
        Those that can be read.
    is_complete:
        Whether these are all that the file has.
    style:
        "flow" where the top node is in braces, else "block".
    """

    version: int
    components: tuple[ComponentHeader, ...]
    extra: dict[str, object]
    frame_rate: float | None
    style: str
    is_complete: bool = True


def read_headers(document: Document, found: Diagnostics) -> Headers:
    """Read and check all headers of a document.

    Parameters
    ----------
    found:
        Gets all faults. What they leave open is derived from the rows where that is
        possible; other components are left out.

    Raises
    ------
    FormatError
        When there are no components to be seen.
    UnusualError
        When only a YAML parse of the whole file can read the rows.
    """
    return _Reader(document, found).run()


class _Reader:
    def __init__(self, document: Document, found: Diagnostics) -> None:
        self.document = document
        self.found = found
        self.labels_inherited = False
        """Whether a component has the part labels of the top node."""
        self.is_complete = True

    def run(self) -> Headers:
        root = self.document.tree.root
        if not isinstance(root, Mapping):
            kind_found = "list" if isinstance(root, Sequence) else "text"
            where = self.document.location(root)
            raise rules.NOT_A_MOTION.error(
                f"the top node is {with_article(kind_found)}, not a mapping", where
            )
        top = Fields(self.document, root, self.found, "")
        self.check_indentation(top)
        kind = top.text("type")
        bare = kind in OLD_TYPES
        self.check_kind(top, kind, bare)
        version = self.version(top, kind)
        content = top.text("content")
        if (
            not bare
            and content != "BodyMotion"
            and (content or version > 1)
            and "content" not in top.slips
        ):
            if content:
                message = (
                    f"the content of the top node is {content[:60]!r}, not 'BodyMotion'"
                )
            else:
                message = ""
            where = top.at(top.values.get("content"))
            self.found.report(
                rules.TOP_CONTENT, message or "the top node has no content", where
            )
        rate = top.rate()
        extra: dict[str, object] = {}
        if bare:
            self.found.report(
                rules.BARE_COMPONENT,
                f"the file is a bare {kind}",
                top.at(top.values.get("type")),
            )
            component = self.component(top, version)
            if component is None:
                components = []
            else:
                components = [component]
        else:
            components = self.components(top, version)
            extra = top.extra(
                "frames", *(() if self.labels_inherited else ("part_labels",))
            )
            if "components" in top.slips:
                self.worsen(top.slips["components"], refused=False)
            elif not components and not self.found.has_errors:
                where = top.at(top.values.get("components"))
                self.found.report(
                    rules.NO_COMPONENTS, "the motion has no components", where
                )
        self.check_together(components, rate)
        self.check_text()
        style = "flow" if root.flow else "block"
        return Headers(version, tuple(components), extra, rate, style, self.is_complete)

    def check_indentation(self, top: Fields) -> None:
        """Raise FormatError where the keys of components stand in the top node, as in examples that lost their indentation."""
        keys = [key_text(key) for key, _ in top.node.pairs]
        inside = [
            key_text(key)
            for item in _items(top.values.get("components"))
            for key, _ in _pairs(item)
        ]
        twice = next(
            (name for name in ("type", "content") if keys.count(name) > 1), None
        )
        if (
            twice
            and "frames" in keys
            and "components" in keys
            and "frames" not in inside
        ):
            self.found.discard(
                [
                    problem
                    for problem in self.found.problems
                    if problem.rule == KEY_TWICE.code
                ]
            )
            second = [key for key, _ in top.node.pairs if key_text(key) == twice][1]
            message = "the keys of the components are not indented: in the top node, each replaces the one before"
            raise rules.INDENTATION.error(message, top.at(second))

    def worsen(self, slip: Problem, refused: bool = True) -> None:
        """Make an error of a misspelt key without which the file, or a part of it, cannot be read."""
        self.found.discard([slip])
        self.found.add(replace(slip, severity="error"), fatal=refused)

    def check_kind(self, top: Fields, kind: str | None, bare: bool) -> None:
        if bare or kind in ("CompositeSeq", "BodyMotion"):
            return
        where = top.at(top.values.get("type"))
        if kind == "PoseSeq":
            message = "this is a sequence of key poses (PoseSeq, .pseq), another format"
            raise rules.NOT_A_MOTION.error(message, where, "")
        if kind is not None:
            almost = meant(kind, ("CompositeSeq", "BodyMotion", *OLD_TYPES))
            if almost:
                question = f": did you mean {almost!r}?"
            else:
                question = ""
            error = rules.NOT_A_MOTION.error(
                f"the top node is of type {kind[:60]!r}{question}", where
            )
            if "components" not in top.values:
                raise error
            self.found.refuse(error)
            return
        if "components" not in top.values:
            if "type" in top.slips:
                self.worsen(top.slips["type"])
                return
            raise rules.NOT_A_MOTION.error(
                "the top node has neither a type nor components", where
            )
        if "type" not in top.slips:
            self.found.report(
                rules.TOP_TYPE, "the top node has no type; read as CompositeSeq", where
            )

    def version(self, top: Fields, kind: str | None) -> int:
        node = top.values.get("format_version")
        text = top.text("format_version")
        where = top.at(node, ".formatVersion" if node else "")
        if text is None:
            if kind == "BodyMotion":
                return 1
            if "format_version" in top.slips:
                return 2
            version = _version_of(top.values.get("components"))
            hint = f"read as version {version}; add 'formatVersion: {version}'"
            self.found.report(
                rules.VERSION_MISSING,
                "the file has no format version",
                where,
                hint=hint,
            )
            return version
        value = number(text)
        known = value is not None and abs(value) < float("inf")
        if value is None or not known or value >= 5:
            if known:
                wrong = f"{text[:40]}; versions are 1 to 4"
            else:
                wrong = f"{text[:40]!r}, not a number"
            self.found.refuse(
                rules.VERSION.error(f"the format version is {wrong}", where)
            )
            return 4 if known else 2
        if value < 1:
            message = f"the format version is {text[:40]}; the first version is 1"
            self.found.report(rules.VERSION_LOW, message, where)
        version = max(int(value), 1)
        if kind in ("CompositeSeq", "BodyMotion") and (kind == "BodyMotion") != (
            version == 1
        ):
            right = "CompositeSeq" if version > 1 else "BodyMotion"
            where = top.at(top.values.get("type"))
            self.found.report(
                rules.TOP_TYPE,
                f"the type is {kind}; in version {version} it is {right}",
                where,
            )
        return version

    def components(self, top: Fields, version: int) -> list[ComponentHeader]:
        node = top.values.get("components")
        if node is None or _is_empty(node):
            return []
        if not isinstance(node, Sequence):
            self.is_complete = False
            top.refuse(WRONG_VALUE, "the components are not a list", "components")
            return []
        if len(node.items) > MAX_COMPONENTS:
            message = f"there are {len(node.items)} components; {MAX_COMPONENTS} are read at most"
            raise TOO_LARGE.error(message, top.at(node, ".components"))
        components = []
        for k, item in enumerate(node.items):
            inside = f"components[{k}]"
            component = None
            if isinstance(item, Mapping):
                try:
                    component = self.component(
                        Fields(self.document, item, self.found, inside, top), version
                    )
                except FormatError as error:
                    self.found.refuse(error)
            elif not isinstance(item, MissingAlias):
                where = self.document.location(item, inside)
                self.found.refuse(
                    WRONG_VALUE.error(f"component {k} is not a mapping", where)
                )
            if component is None:
                self.is_complete = False
            else:
                components.append(component)
        return components

    def check_together(
        self, components: list[ComponentHeader], rate: float | None
    ) -> None:
        seen: set[str] = set()
        for component in components:
            if component.layout is None:
                continue
            if component.content and component.content in seen:
                message = f"the content {component.content[:60]} occurs twice"
                self.found.report(rules.CONTENT_TWICE, message, component.location)
            seen.add(component.content)
            own = component.frame_rate
            if rate is not None and own is not None and abs(own - rate) > 1e-5 * rate:
                message = (
                    f"{component.content[:60]} has {own:g} Hz, the top node {rate:g} Hz"
                )
                self.found.report(rules.RATES, message, component.location)
        misspelt = {
            p.location.inside for p in self.found.problems if p.rule == MISSPELT.code
        }
        known = [
            c
            for c in components
            if c.layout and c.content in CONTENTS[2] and not c.has_frame_time
        ]
        known = [c for c in known if c.frames or c.inside not in misspelt]
        if len({c.num_frames for c in known}) > 1:
            lengths = ", ".join(f"{c.content} {c.num_frames}" for c in known)
            self.found.report(
                rules.LENGTHS,
                f"the numbers of frames differ: {lengths}",
                known[0].location,
            )

    def check_text(self) -> None:
        more = self.document.tree.next_document
        if more is not None:
            where = self.document.text.location(more)
            self.found.report(
                rules.DOCUMENTS, "another YAML document begins here", where
            )
        if self.document.encoding == "cp932":
            path = self.document.source.path
            wrong = first_non_utf8_byte(self.document.source)
            if wrong is None:
                where = Location(path)
            else:
                where = Location(path, *wrong[:2])
            if wrong is None:
                byte = ""
            else:
                byte = f": this is the byte 0x{wrong[2]:02x}"
            self.found.report(
                ENCODING,
                f"the text is not UTF-8 but read as Japanese (cp932){byte}",
                where,
            )

    def component(self, own: Fields, version: int) -> ComponentHeader | None:
        """Return the header of a component, which may be the top node itself.

        None where its type is unknown.
        """
        kind = own.text("type")
        content = own.text("content")
        if kind is None:
            self.missing(rules.COMPONENT_TYPE, "a component has no type", "type", own)
            kind = _TYPE_OF_CONTENT.get(CONTENTS[version].get(content or "", ""))
            if kind is None:
                return None
        if content is None:
            content = own.top.text("content") or ""
            if content:
                inherited = f"; {content[:60]!r} is inherited from the top node"
            else:
                inherited = ""
            if "content" not in own.slips:
                message = f"{with_article(kind[:60])} has no content{inherited}"
                self.found.report(rules.CONTENT_MISSING, message, own.at(None))
        known = (OLD_TYPES if version == 1 else TYPES).get(kind)
        if known is None:
            return self.other_component(own, kind, content, version)
        frames = self.frames(own, content)
        num_frames = frames.num_rows if frames else 0
        self.check_num_frames(own, content, num_frames)
        relative = (
            own.inherited(lambda fields: fields.flag("is_root_relative")) or False
        )
        stamped = self.stamped(own, version, known, frames)
        rate = own.inherited(Fields.rate)
        rates = [
            fields.values["frame_rate"]
            for fields in (own, own.top)
            if "frame_rate" in fields.values
        ]
        if rate is None and not stamped and all(map(_is_empty, rates)):
            message = f"the component {content[:60]} has no frame rate"
            self.missing(rules.FRAME_RATE_MISSING, message, "frame_rate", own, own.top)
        if known == MULTI_SE3:
            order = self.order(own, frames, stamped)
        else:
            order = None
        name = self.content(own, known, content, version)
        parts = self.parts(own, known, frames, stamped)
        labels = self.labels(own, parts)
        unwanted = ("components",) if own is own.top else _ONLY_TOP
        rate_holder = own.holder("frame_rate")
        return ComponentHeader(
            type=known,
            content=name,
            num_parts=parts,
            num_frames=num_frames,
            frame_rate=rate,
            has_frame_time=stamped,
            se3_format=order,
            is_root_relative=relative
            or (version == 1 and content in ("RelativeZMP", "RelativeZmp")),
            part_labels=labels or (),
            extra=own.extra(*unwanted, *(("part_labels",) if labels is None else ())),
            location=own.at(None),
            rate_location=rate_holder.location("frame_rate"),
            parts_location=own.location("num_parts"),
            inside=own.inside,
            layout=Layout(parts, stamped, order),
            frames=frames,
        )

    def other_component(
        self, own: Fields, kind: str, content: str, version: int
    ) -> ComponentHeader:
        """Return the header of a component of an unknown type, with all its keys and those that it inherits from the top node."""
        almost = meant(kind, TYPES)
        if almost:
            question = f": did you mean {almost!r}?"
        else:
            question = ""
        message = f"the component {content[:60]} is of type {kind[:60]!r}{question}"
        self.found.report(rules.COMPONENT_UNKNOWN, message, own.location("type"))
        self.found.mark_unknown(("contents", CONTENTS[version].get(content, content)))
        extra = {
            key_text(key): self.document.plain(value) for key, value in own.node.pairs
        }
        for spelling in (*KEYS["type"], *KEYS["content"]):
            extra.pop(spelling, None)
        for name in _INHERITED:
            if name in own.top.values and name not in own.values:
                extra[key_name(name, version)] = self.document.plain(
                    own.top.values[name]
                )
        return ComponentHeader(
            type=kind,
            content=content,
            num_parts=0,
            num_frames=0,
            extra=extra,
            location=own.at(None),
            inside=own.inside,
        )

    def missing(self, rule: Rule, message: str, name: str, *fields: Fields) -> None:
        """Record that a component lacks a key without which it cannot be read.

        A misspelt one is the error, if there is one.
        """
        slip = next(
            (mapping.slips[name] for mapping in fields if name in mapping.slips), None
        )
        if slip is None:
            self.found.refuse(rule.error(message, fields[0].at(None)))
        else:
            self.worsen(slip)

    def frames(self, own: Fields, content: str) -> Frames | None:
        node = own.values.get("frames")
        if node is None or _is_empty(node):
            if "frames" in own.slips:
                self.worsen(own.slips["frames"], refused=False)
            elif not isinstance(node, MissingAlias):
                self.found.report(
                    rules.FRAMES_MISSING,
                    f"the component {content[:60]} has no frames",
                    own.at(node),
                )
            return None
        if not isinstance(node, Sequence):
            raise WRONG_VALUE.error(
                f"the frames of {content[:60]} are not a list", own.at(node, ".frames")
            )
        if node.items:
            return self.document.frames(node)
        return None

    def check_num_frames(self, own: Fields, content: str, counted: int) -> None:
        fields = own.holder("num_frames")
        stated = fields.count("num_frames")
        if stated is None or stated == counted:
            return
        where = fields.location("num_frames")
        if stated < 0:
            message = (
                f"numFrames is {fields.text('num_frames')!r:.60}, not a whole number"
            )
            self.found.report(rules.NUM_FRAMES_NUMBER, message, where)
            return
        if stated > counted:
            hint = "the rows count; some are missing, if the file was cut off"
        else:
            hint = None
        message = f"numFrames is {stated}, but {content[:60]} has {counted or 'no'} row{'s' * (counted != 1)}"
        data = {"given": stated, "counted": counted}
        severity: Severity | None = None if counted else "error"
        self.found.report(
            rules.NUM_FRAMES, message, where, hint=hint, severity=severity, data=data
        )

    def stamped(
        self, own: Fields, version: int, kind: str, frames: Frames | None
    ) -> bool:
        flag = own.inherited(lambda fields: fields.flag("has_frame_time"))
        fields = own.holder("has_frame_time")
        if flag and version == 1:
            fields.refuse(
                rules.FRAME_TIME_V1, "version 1 has no hasFrameTime", "has_frame_time"
            )
        if flag is None and fields.text("has_frame_time") is not None:
            return self.looks_stamped(own, kind, frames)
        slip = own.slip("has_frame_time")
        if flag is None and slip is not None and self.looks_stamped(own, kind, frames):
            self.worsen(slip)
            return True
        return flag or False

    def looks_stamped(self, own: Fields, kind: str, frames: Frames | None) -> bool:
        """Return whether the first row begins with a time, by the number of its elements, and for poses by the first of them."""
        if frames is not None:
            row = frames.first_row()
        else:
            row = None
        if not isinstance(row, Sequence) or not row.items:
            return False
        if kind == MULTI_SE3:
            return isinstance(row.items[0], Scalar)
        parts = own.count("num_parts")
        return (
            len(row.items)
            == (3 if kind == VECTOR3 else -1 if parts is None else parts) + 1
        )

    def content(self, own: Fields, kind: str, content: str, version: int) -> str:
        where = own.at(own.values.get("content"))
        name = CONTENTS[version].get(content)
        if name is None:
            almost = meant(content, (*CONTENTS[version], JOINT_EFFORT))
            if content in _ALL_CONTENTS:
                meaning = next(
                    names[content] for names in CONTENTS.values() if content in names
                )
                there = next(
                    name
                    for name, known in CONTENTS[version].items()
                    if known == meaning
                )
                message = f"the content {content} is of another version; in version {version} it is {there}"
                self.found.report(rules.CONTENT_OF_OTHER_VERSION, message, where)
            elif almost not in (None, content):
                message = f"the content {content!r} is not one of the format: did you mean {almost!r}?"
                self.found.report(rules.MISSPELT_CONTENT, message, where)
                self.found.mark_unknown(
                    ("contents", CONTENTS[version].get(almost or "", ""))
                )
            name = content
        right = _TYPE_OF_CONTENT.get(name, kind)
        if right != kind:
            self.found.report(
                rules.CONTENT_TYPE,
                f"{content} is {with_article(kind)}; expected {with_article(right)}",
                where,
            )
        return name

    def first_row(self, own: Fields, frames: Frames) -> Sequence:
        row = frames.first_row()
        if not isinstance(row, Sequence):
            message = "frame 0 is not a row [ … ] of numbers"
            raise rules.ROW.error(
                message, frames.location(0, None, f"{own.inside}.frames[0]".lstrip("."))
            )
        return row

    def order(self, own: Fields, frames: Frames | None, stamped: bool) -> str:
        fields = own.holder("se3_format")
        text = fields.text("se3_format")
        if text is not None:
            if text in SE3_SIZES:
                return text
            message = f"the SE3 format is {text[:60]!r}; expected one of {', '.join(SE3_SIZES)}"
            fields.refuse(rules.SE3_FORMAT, message, "se3_format")
        size = 7
        if frames:
            poses = self.first_row(own, frames).items[stamped:]
            if poses and isinstance(poses[0], Sequence):
                size = len(poses[0].items)
            else:
                size = 7
            if size not in (6, 7):
                message = (
                    f"there is no SE3 format, and the first pose has {size} numbers"
                )
                raise rules.SE3_FORMAT.error(
                    message,
                    frames.location(0, None, f"{own.inside}.frames[0]".lstrip(".")),
                )
        order = "XYZQWQXQYQZ" if size == 7 else "XYZRPY"
        if text is None and own.slip("se3_format") is None:
            message = f"the component has no SE3Format; read as {order}"
            self.found.report(rules.SE3_FORMAT_MISSING, message, own.at(None))
        return order

    def parts(
        self, own: Fields, kind: str, frames: Frames | None, stamped: bool
    ) -> int:
        if kind == VECTOR3:
            if "num_parts" in own.values:
                message = "a Vector3Seq has numParts, which is not used"
                self.found.report(
                    rules.NUM_PARTS_VECTOR, message, own.location("num_parts")
                )
            return 3
        fields = own.holder("num_parts")
        parts = fields.count("num_parts")
        if parts is not None and 0 <= parts <= MAX_PARTS:
            return parts
        if frames:
            counted = max(len(self.first_row(own, frames).items) - stamped, 0)
        else:
            counted = 0
        if parts is not None:
            message = (
                f"numParts is {fields.text('num_parts')!r:.60}, not a number of parts"
            )
            fields.refuse(rules.NUM_PARTS, message, "num_parts")
        elif own.slip("num_parts") is None:
            message = (
                f"{with_article(kind)} has no numParts; the first row has {counted}"
            )
            self.found.report(rules.NUM_PARTS_MISSING, message, own.at(None))
        return counted

    def labels(self, own: Fields, parts: int) -> tuple[str, ...] | None:
        node = own.values.get("part_labels")
        if node is None:
            # Those of the top node are for the components that have as many parts.
            labels = _texts(own.top.values.get("part_labels"))
            if not labels or len(labels) != parts:
                return ()
            self.labels_inherited = True
            return labels
        where = own.location("part_labels")
        labels = _texts(node)
        if labels is None:
            self.found.report(
                rules.PART_LABELS, "the part labels are not a list of texts", where
            )
        elif len(labels) != parts:
            self.found.report(
                rules.PART_LABELS,
                f"the number of part labels is {len(labels)}; expected {parts}",
                where,
            )
        return labels


def component_fields(
    document: Document, header: ComponentHeader, found: Diagnostics
) -> Fields:
    """Return the keys of a component."""
    node = document.tree.root
    if header.inside:
        items = _items(
            Fields(document, cast("Mapping", node), found, "").values.get("components")
        )
        node = items[int(header.inside.removeprefix("components[").removesuffix("]"))]
    return Fields(document, cast("Mapping", node), found, header.inside)


def _items(node: Node | None) -> list[Node]:
    return node.items if isinstance(node, Sequence) else []


def _pairs(node: Node) -> list[tuple[Node, Node]]:
    return node.pairs if isinstance(node, Mapping) else []


def _version_of(components: Node | None) -> int:
    """Return the version that has the names of the components' contents and types.

    2 where they are those of several.
    """
    named = (*KEYS["content"], *KEYS["type"])
    pairs = [pair for item in _items(components) for pair in _pairs(item)]
    names = {
        value.value
        for key, value in pairs
        if key_text(key) in named and isinstance(value, Scalar)
    }
    return next((version for version, own in _ONLY_IN.items() if own & names), 2)


def _texts(node: Node | None) -> tuple[str, ...] | None:
    """Return the texts of a list of texts.

    None for anything else.
    """
    if not isinstance(node, Sequence):
        return None
    texts = tuple(item.value for item in node.items if isinstance(item, Scalar))
    return texts if len(texts) == len(node.items) else None
