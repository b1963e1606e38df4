"""The headers of a motion.

The keys of the top node and of its components, with what the rows show where keys are
missing or faulty.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, field, replace
from typing import TypeVar, cast

from bodymotion.diagnostics import (
    Diagnostics,
    Location,
    Problem,
    Rule,
    ShortRepr,
)
from bodymotion.diagnostics.spelling import meant
from bodymotion.diagnostics.text import counted, with_article
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
MIN_RATE = 1e-3
MAX_RATE = 1e6
"""[Hz] Frame rates outside of these are probably meant otherwise."""
RATE_TOLERANCE = 1e-5
"""Relative difference of two frame rates that is rounding of a file."""
MAX_MISSPELT = 50
"""Unknown keys of a mapping that are compared with known ones.

Spelling mistakes are few.
"""

# Readers meet either spelling of a key in any version: both are accepted everywhere.
_NAME_OF: dict[str, str] = {}
"""By the spellings of keys, their names."""
for _name, _spellings in KEYS.items():
    _NAME_OF |= dict.fromkeys(_spellings, _name)
_OF_TOP = tuple(name for name in KEYS if name != "frames")
_ONLY_TOP = ("format_version", "components")
_INHERITED = (
    *("frame_rate", "has_frame_time", "num_parts"),
    *("is_root_relative", "se3_format"),
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
        self.document = document
        self.node = node
        self.inside = inside
        self.found = found
        self.top = top or self
        self.values: dict[str, Node] = {}
        self.unknown: dict[str, Node] = {}
        self.slips: dict[str, Problem] = {}
        # "<<" is an ordinary key of this dialect: it is followed here, and reported.
        merged: list[Mapping] = []
        for key, value in node.pairs:
            if _is_merge(key) and isinstance(value, Mapping):
                message = "the merge key '<<' copies keys from another mapping"
                found.report(rules.MERGE, message, self.at(key))
                merged.append(value)
                continue
            values, name = self._entry(key)
            if name in values:
                # The later value counts, as in other YAML readers.
                message = f"the key {key_text(key)[:60]} occurs twice"
                found.report(KEY_TWICE, message, self.at(key))
            values[name] = value
        # Keys of the mapping itself go before those that are merged.
        for mapping in merged:
            for key, value in mapping.pairs:
                values, name = self._entry(key)
                values.setdefault(name, value)
        if self.unknown:
            self.slips = self._find_slips()

    def _entry(self, key: Node) -> tuple[dict[str, Node], str]:
        """Return the values of known or unknown keys, and the name of a key there."""
        text = key_text(key)
        if isinstance(key, Scalar) and text in _NAME_OF:
            return self.values, _NAME_OF[text]
        return self.unknown, text

    def _find_slips(self) -> dict[str, Problem]:
        """Report misspelt keys; return them by the keys they stand for."""
        # A component has no keys such as formatVersion.
        expected = OF_COMPONENTS if self.inside else _OF_TOP
        spellings = [KEYS[name][0] for name in expected if name not in self.values]
        # Only texts can be misspelt; a key may be a list.
        keys = {key.value: key for key, _ in self.node.pairs if isinstance(key, Scalar)}
        slips: dict[str, Problem] = {}
        for text in list(self.unknown)[:MAX_MISSPELT]:
            if text not in keys:
                continue
            spelling = meant(text, spellings)
            # Two unknown keys may be like one known key: the first is reported.
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
        """Return the mapping that has a key.

        This one, or else the top node.
        """
        return self if name in self.values else self.top

    def slip(self, name: str) -> Problem | None:
        """Return the problem of a misspelt key, here or in the top node."""
        return self.slips.get(name) or self.top.slips.get(name)

    # Keys of the format that a component lacks are those of the top node.
    def inherited(self, read: Callable[[Fields], T | None]) -> T | None:
        """Return what `read` returns for this mapping, or else for the top node."""
        value = read(self)
        if self.top is self:
            return value
        inherited = read(self.top)
        return inherited if value is None else value

    def extra(self, *unwanted: str) -> dict[str, object]:
        """Return unknown keys, and known ones without meaning here, as plain values."""
        # Known keys without meaning in this place are kept like unknown ones.
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
            message = f"{KEYS[name][0]} is a list or a mapping, not a single value"
            self.refuse(WRONG_VALUE, message, name)
            return None
        return node.value

    def rate(self) -> float | None:
        """Return the frame rate [Hz], where there is a valid one."""
        text = self.text("frame_rate")
        if text is None:
            return None
        value = number(text)
        # nan fails both comparisons.
        if value is None or not 0 < value < float("inf"):
            message = f"the frame rate is {text[:40]!r}, not a positive number of Hz"
            self.refuse(FRAME_RATE, message, "frame_rate")
            return None
        if not MIN_RATE <= value <= MAX_RATE:
            message = f"the frame rate is {text[:40]} Hz"
            self.found.report(
                rules.IRREGULAR_RATE, message, self.location("frame_rate")
            )
        return value

    def flag(self, name: str) -> bool | None:
        """Return a truth value, where there is a valid one."""
        text = self.text(name)
        if text is None:
            return None
        if text.lower() in _TRUE or text.lower() in _FALSE:
            return text.lower() in _TRUE
        message = f"{KEYS[name][0]} is {text[:40]!r}; expected true or false"
        self.refuse(WRONG_VALUE, message, name)
        return None

    def count(self, name: str) -> int | None:
        """Return a whole number, where there is one.

        −1 where the text is none.
        """
        text = self.text(name)
        if text is None:
            return None
        value = number(text)
        # Above this, not all whole numbers are doubles.
        # `numParts: 3.0` is a whole number, too.
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
    # A stamped component has a rate only for its later import.
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
        """Read and check the headers of the whole file."""
        root = self.document.tree.root
        if not isinstance(root, Mapping):
            kind = "list" if isinstance(root, Sequence) else "text"
            message = f"the top node is {with_article(kind)}, not a mapping"
            raise rules.NOT_A_MOTION.error(message, self.document.location(root))
        top = Fields(self.document, root, self.found, "")
        self.check_indentation(top)
        top_type = top.text("type")
        # A file may be one component without a top node around it.
        is_bare = top_type in OLD_TYPES
        if not is_bare:
            self.check_type(top, top_type)
        version = self.version(top, top_type)
        if not is_bare:
            self.check_content(top, version)
        rate = top.rate()
        extra: dict[str, object] = {}
        if is_bare:
            message = f"the file is a bare {top_type}"
            location = top.at(top.values.get("type"))
            self.found.report(rules.BARE_COMPONENT, message, location)
            component = self.component(top, version)
            components = [] if component is None else [component]
        else:
            components = self.components(top, version)
            # `frames` of the top node belong to nothing.
            unwanted = ["frames"]
            # Labels that no component inherits are kept as an unknown key.
            if not self.labels_inherited:
                unwanted.append("part_labels")
            extra = top.extra(*unwanted)
            self.check_number(top, components)
        self.check_together(components, rate)
        self.check_text()
        style = "flow" if root.flow else "block"
        return Headers(version, tuple(components), extra, rate, style, self.is_complete)

    def check_content(self, top: Fields, version: int) -> None:
        content = top.text("content")
        if content == "BodyMotion" or "content" in top.slips:
            return
        location = top.at(top.values.get("content"))
        if content:
            message = (
                f"the content of the top node is {content[:60]!r}, not 'BodyMotion'"
            )
            self.found.report(rules.TOP_CONTENT, message, location)
        elif version > 1:
            # Version 1 has no content of the top node.
            message = "the top node has no content"
            self.found.report(rules.TOP_CONTENT, message, location)

    def check_number(self, top: Fields, components: list[ComponentHeader]) -> None:
        """Report that there are no components, unless another fault explains it."""
        # A misspelt `components` explains that there are none.
        if "components" in top.slips:
            self.worsen(top.slips["components"], refused=False)
        elif not components and not self.found.has_errors:
            location = top.at(top.values.get("components"))
            message = "the motion has no components"
            self.found.report(rules.NO_COMPONENTS, message, location)

    def check_indentation(self, top: Fields) -> None:
        """Raise FormatError where the keys of components are in the top node.

        Examples in documents have lost their indentation so.
        """
        keys = [key_text(key) for key, _ in top.node.pairs]
        # Without indentation, the top node has the frames of a component.
        if "frames" not in keys or "components" not in keys:
            return
        repeated = [name for name in ("type", "content") if keys.count(name) > 1]
        if not repeated:
            return
        # A component with frames of its own is indented: then something else is wrong.
        for item in _items(top.values.get("components")):
            if any(key_text(key) == "frames" for key, _ in _pairs(item)):
                return
        # The repeated keys are the same fault.
        self.found.discard(
            problem for problem in self.found.problems if problem.rule == KEY_TWICE.code
        )
        same = [key for key, _ in top.node.pairs if key_text(key) == repeated[0]]
        message = (
            "the keys of the components are not indented: in the top node, each "
            "replaces the one before"
        )
        raise rules.INDENTATION.error(message, top.at(same[1]))

    def worsen(self, slip: Problem, refused: bool = True) -> None:
        """Make an error of a misspelt key without which a part cannot be read."""
        self.found.discard([slip])
        self.found.add(replace(slip, severity="error"), fatal=refused)

    def check_type(self, top: Fields, top_type: str | None) -> None:
        """Check the type of the top node."""
        if top_type in ("CompositeSeq", "BodyMotion"):
            return
        location = top.at(top.values.get("type"))
        # Key poses are YAML with a type, too; another reader has them.
        if top_type == "PoseSeq":
            message = "this is a sequence of key poses (PoseSeq, .pseq), another format"
            # An empty hint in place of the rule's, which is about motions.
            raise rules.NOT_A_MOTION.error(message, location, "")
        has_components = "components" in top.values
        if top_type is not None:
            message = f"the top node is of type {top_type[:60]!r}"
            almost = meant(top_type, ("CompositeSeq", "BodyMotion", *OLD_TYPES))
            if almost:
                message += f": did you mean {almost!r}?"
            # With components it is still read as a motion, although refused.
            error = rules.NOT_A_MOTION.error(message, location)
            if not has_components:
                raise error
            self.found.refuse(error)
            return
        slip = top.slips.get("type")
        if not has_components:
            if slip is None:
                message = "the top node has neither a type nor components"
                raise rules.NOT_A_MOTION.error(message, location)
            self.worsen(slip)
        elif slip is None:
            message = "the top node has no type; read as CompositeSeq"
            self.found.report(rules.TOP_TYPE, message, location)

    def version(self, top: Fields, top_type: str | None) -> int:
        """Return the format version; report a wrong one."""
        node = top.values.get("format_version")
        text = top.text("format_version")
        location = top.at(node, ".formatVersion" if node else "")
        # Without a version the names of contents decide it.
        if text is None:
            return self.missing_version(top, top_type, location)
        value = number(text)
        if value is None or not math.isfinite(value):
            message = f"the format version is {text[:40]!r}, not a number"
            self.found.refuse(rules.VERSION.error(message, location))
            # The version of the documents, so the rest of the file can be checked.
            return 2
        if value >= 5:
            message = f"the format version is {text[:40]}; versions are 1 to 4"
            self.found.refuse(rules.VERSION.error(message, location))
            # The latest that is known.
            return 4
        if value < 1:
            message = f"the format version is {text[:40]}; the first version is 1"
            self.found.report(rules.VERSION_LOW, message, location)
        version = max(int(value), 1)
        # Version 1 names its top node BodyMotion.
        right = "CompositeSeq" if version > 1 else "BodyMotion"
        if top_type in ("CompositeSeq", "BodyMotion") and top_type != right:
            message = f"the type is {top_type}; in version {version} it is {right}"
            location = top.at(top.values.get("type"))
            self.found.report(rules.TOP_TYPE, message, location)
        return version

    def missing_version(
        self, top: Fields, top_type: str | None, location: Location
    ) -> int:
        """Return the version of a file that has none.

        Report that it is missing.
        """
        # The oldest files have no version at all, and this type.
        if top_type == "BodyMotion":
            return 1
        # The misspelt key is reported; version 2 is that of the documents.
        if "format_version" in top.slips:
            return 2
        version = _version_of(top.values.get("components"))
        message = "the file has no format version"
        hint = f"read as version {version}; add 'formatVersion: {version}'"
        self.found.report(rules.VERSION_MISSING, message, location, hint=hint)
        return version

    def components(self, top: Fields, version: int) -> list[ComponentHeader]:
        """Return the headers of the components that can be read."""
        node = top.values.get("components")
        # "components:" without a value is an empty list.
        if node is None or _is_empty(node):
            return []
        if not isinstance(node, Sequence):
            self.is_complete = False
            top.refuse(WRONG_VALUE, "the components are not a list", "components")
            return []
        count = len(node.items)
        if count > MAX_COMPONENTS:
            message = f"there are {count} components; {MAX_COMPONENTS} are read at most"
            raise TOO_LARGE.error(message, top.at(node, ".components"))
        components = []
        for index, item in enumerate(node.items):
            inside = f"components[{index}]"
            component = None
            if isinstance(item, Mapping):
                # A faulty component is left out, and the others are read.
                with self.found.recover():
                    fields = Fields(self.document, item, self.found, inside, top)
                    component = self.component(fields, version)
            elif not isinstance(item, MissingAlias):
                location = self.document.location(item, inside)
                message = f"component {index} is not a mapping"
                self.found.refuse(WRONG_VALUE.error(message, location))
            if component is None:
                self.is_complete = False
            else:
                components.append(component)
        return components

    def check_together(
        self, components: list[ComponentHeader], rate: float | None
    ) -> None:
        """Check contents, rates and lengths of components together."""
        contents: set[str] = set()
        for component in components:
            # A component of an unknown type has no rows to compare.
            if component.layout is None:
                continue
            # An empty content is reported elsewhere.
            content = component.content
            if content and content in contents:
                message = f"the content {content[:60]} occurs twice"
                self.found.report(rules.CONTENT_TWICE, message, component.location)
            contents.add(content)
            if rate is not None and component.frame_rate is not None:
                self.check_rate(component, component.frame_rate, rate)
        self.check_lengths(components)

    def check_rate(
        self, component: ComponentHeader, rate: float, top_rate: float
    ) -> None:
        # Choreonoid writes the rate of the top node with 6 digits.
        if abs(rate - top_rate) > RATE_TOLERANCE * top_rate:
            title = component.content[:60]
            message = f"{title} has {rate:g} Hz, the top node {top_rate:g} Hz"
            self.found.report(rules.RATES, message, component.location)

    def check_lengths(self, components: list[ComponentHeader]) -> None:
        """Check that components without times have as many frames as each other.

        Those whose frames may be under a misspelt key are left out.
        """
        misspelt = {
            problem.location.inside
            for problem in self.found.problems
            if problem.rule == MISSPELT.code
        }
        compared: list[ComponentHeader] = []
        for component in components:
            if not component.layout or component.has_frame_time:
                continue
            # Frames under a misspelt key count as 0 here, which would be a second
            # fault.
            has_frames = component.frames or component.inside not in misspelt
            # Unknown contents may have another number of frames.
            if component.content in CONTENTS[2] and has_frames:
                compared.append(component)
        if len({component.num_frames for component in compared}) > 1:
            lengths = ", ".join(
                f"{component.content} {component.num_frames}" for component in compared
            )
            message = f"the numbers of frames differ: {lengths}"
            self.found.report(rules.LENGTHS, message, compared[0].location)

    def check_text(self) -> None:
        """Report a second document, and a text that is not UTF-8."""
        document = self.document
        offset = document.tree.next_document
        if offset is not None:
            # Only the first document is read.
            message = "another YAML document begins here"
            location = document.text.location(offset)
            self.found.report(rules.DOCUMENTS, message, location)
        # cp932 is the encoding of Japanese Windows: no error, but reported.
        if document.encoding == "cp932":
            location = Location(document.source.path)
            message = "the text is not UTF-8 but read as Japanese (cp932)"
            wrong = first_non_utf8_byte(document.source)
            if wrong is not None:
                line, column, byte = wrong
                location = Location(document.source.path, line, column)
                message += f": this is the byte 0x{byte:02x}"
            self.found.report(ENCODING, message, location)

    def component(self, fields: Fields, version: int) -> ComponentHeader | None:
        """Return the header of a component, which may be the top node itself.

        None where its type is unknown.
        """
        type_in_file = fields.text("type")
        content = fields.text("content")
        if type_in_file is None:
            message = "a component has no type"
            self.missing(rules.COMPONENT_TYPE, message, "type", fields)
            # Without a type, the content may show which it is.
            name = CONTENTS[version].get(content or "", "")
            type_in_file = _TYPE_OF_CONTENT.get(name)
            if type_in_file is None:
                return None
        # The top node's content is "BodyMotion"; a component inherits it all the same.
        if content is None:
            content = self.inherited_content(fields, type_in_file)
        types = OLD_TYPES if version == 1 else TYPES
        if type_in_file not in types:
            return self.other_component(fields, type_in_file, content, version)
        component_type = types[type_in_file]
        frames = self.frames(fields, content)
        num_frames = frames.num_rows if frames else 0
        self.check_num_frames(fields, content, num_frames)
        is_relative = fields.inherited(lambda fields: fields.flag("is_root_relative"))
        # Version 1 has the frame of a ZMP in the name of its content.
        if version == 1 and content in ("RelativeZMP", "RelativeZmp"):
            is_relative = True
        is_stamped = self.stamped(fields, version, component_type, frames)
        rate = self.frame_rate(fields, content, is_stamped)
        order = None
        if component_type == MULTI_SE3:
            order = self.order(fields, frames, is_stamped)
        name = self.content(fields, component_type, content, version)
        parts = self.parts(fields, component_type, frames, is_stamped)
        labels = self.labels(fields, parts)
        # Keys that have a meaning only in the top node are unknown ones here, and kept.
        unwanted = ["components"] if fields is fields.top else [*_ONLY_TOP]
        # Labels that are no texts are kept as they are.
        if labels is None:
            unwanted.append("part_labels")
        return ComponentHeader(
            type=component_type,
            content=name,
            num_parts=parts,
            num_frames=num_frames,
            frame_rate=rate,
            has_frame_time=is_stamped,
            se3_format=order,
            is_root_relative=is_relative or False,
            part_labels=labels or (),
            extra=fields.extra(*unwanted),
            location=fields.at(None),
            rate_location=fields.holder("frame_rate").location("frame_rate"),
            parts_location=fields.location("num_parts"),
            inside=fields.inside,
            layout=Layout(parts, is_stamped, order),
            frames=frames,
        )

    def inherited_content(self, fields: Fields, component_type: str) -> str:
        """Return the content of the top node for a component.

        The component has none, which is reported.
        """
        content = fields.top.text("content") or ""
        if "content" not in fields.slips:
            message = f"{with_article(component_type[:60])} has no content"
            if content:
                message += f"; {content[:60]!r} is inherited from the top node"
            self.found.report(rules.CONTENT_MISSING, message, fields.at(None))
        return content

    def frame_rate(
        self, fields: Fields, content: str, is_stamped: bool
    ) -> float | None:
        """Return the frame rate of a component; report a missing one."""
        rate = fields.inherited(Fields.rate)
        # A rate at the top node is inherited, so both are looked at.
        # A rate that cannot be read is another fault.
        is_given = False
        for holder in (fields, fields.top):
            node = holder.values.get("frame_rate")
            is_given = is_given or not (node is None or _is_empty(node))
        # With time stamps a rate is needed only for putting frames on a fixed rate.
        if rate is None and not is_stamped and not is_given:
            message = f"the component {content[:60]} has no frame rate"
            self.missing(
                rules.FRAME_RATE_MISSING, message, "frame_rate", fields, fields.top
            )
        return rate

    def other_component(
        self, fields: Fields, component_type: str, content: str, version: int
    ) -> ComponentHeader:
        """Return the header of a component of an unknown type.

        With all its keys and those that it inherits from the top node.
        """
        message = f"the component {content[:60]} is of type {component_type[:60]!r}"
        almost = meant(component_type, TYPES)
        if almost:
            message += f": did you mean {almost!r}?"
        self.found.report(rules.COMPONENT_UNKNOWN, message, fields.location("type"))
        self.found.mark_unknown(("contents", CONTENTS[version].get(content, content)))
        plain = self.document.plain
        extra = {key_text(key): plain(value) for key, value in fields.node.pairs}
        # Type and content have attributes of their own.
        for spelling in (*KEYS["type"], *KEYS["content"]):
            extra.pop(spelling, None)
        # A component that is written elsewhere no longer inherits them.
        for name in _INHERITED:
            if name in fields.top.values and name not in fields.values:
                extra[key_name(name, version)] = plain(fields.top.values[name])
        return ComponentHeader(
            type=component_type,
            content=content,
            num_parts=0,
            num_frames=0,
            extra=extra,
            location=fields.at(None),
            inside=fields.inside,
        )

    def missing(self, rule: Rule, message: str, name: str, *holders: Fields) -> None:
        """Record that a component lacks a key without which it cannot be read.

        A misspelt one is the error, if there is one.
        """
        for fields in holders:
            if name in fields.slips:
                self.worsen(fields.slips[name])
                return
        self.found.refuse(rule.error(message, holders[0].at(None)))

    def frames(self, fields: Fields, content: str) -> Frames | None:
        """Return the rows of a component, None where it has none."""
        node = fields.values.get("frames")
        if node is None or _is_empty(node):
            if "frames" in fields.slips:
                self.worsen(fields.slips["frames"], refused=False)
            elif not isinstance(node, MissingAlias):
                message = f"the component {content[:60]} has no frames"
                self.found.report(rules.FRAMES_MISSING, message, fields.at(node))
            return None
        if not isinstance(node, Sequence):
            message = f"the frames of {content[:60]} are not a list"
            raise WRONG_VALUE.error(message, fields.at(node, ".frames"))
        if node.items:
            return self.document.frames(node)
        return None

    def check_num_frames(self, fields: Fields, content: str, num_rows: int) -> None:
        """Compare the number of frames that a header states."""
        # Rows decide: numFrames is information only.
        fields = fields.holder("num_frames")
        stated = fields.count("num_frames")
        if stated is None or stated == num_rows:
            return
        location = fields.location("num_frames")
        if stated < 0:
            text = f"{fields.text('num_frames')!r:.60}"
            message = f"numFrames is {text}, not a whole number"
            self.found.report(rules.NUM_FRAMES_NUMBER, message, location)
            return
        hint = None
        if stated > num_rows:
            hint = "the rows count; some are missing, if the file was cut off"
        rows = counted(num_rows, "row") if num_rows else "no rows"
        self.found.report(
            rules.NUM_FRAMES,
            f"numFrames is {stated}, but {content[:60]} has {rows}",
            location,
            hint=hint,
            severity=None if num_rows else "error",
            data={"given": stated, "counted": num_rows},
        )

    def stamped(
        self, fields: Fields, version: int, component_type: str, frames: Frames | None
    ) -> bool:
        """Return whether rows begin with a time."""
        flag = fields.inherited(lambda fields: fields.flag("has_frame_time"))
        holder = fields.holder("has_frame_time")
        # The format of version 1 has no time stamps.
        if flag and version == 1:
            message = "version 1 has no hasFrameTime"
            holder.refuse(rules.FRAME_TIME_V1, message, "has_frame_time")
        if flag is not None:
            return flag
        # An invalid flag is reported: the rows show what was meant.
        if holder.text("has_frame_time") is not None:
            return self.looks_stamped(fields, component_type, frames)
        # A misspelt flag, with rows that have a time.
        slip = fields.slip("has_frame_time")
        if slip is not None and self.looks_stamped(fields, component_type, frames):
            self.worsen(slip)
            return True
        return False

    def looks_stamped(
        self, fields: Fields, component_type: str, frames: Frames | None
    ) -> bool:
        """Return whether the first row begins with a time.

        By the number of its elements, and for poses by the first of them.
        """
        row = frames.first_row() if frames is not None else None
        if not isinstance(row, Sequence) or not row.items:
            return False
        # The first element of a pose row is a list, unless it is a time.
        if component_type == MULTI_SE3:
            return isinstance(row.items[0], Scalar)
        parts = 3 if component_type == VECTOR3 else fields.count("num_parts")
        return parts is not None and len(row.items) == parts + 1

    def content(
        self, fields: Fields, component_type: str, content: str, version: int
    ) -> str:
        """Return the name of a content in versions 2 and 4."""
        location = fields.at(fields.values.get("content"))
        name = CONTENTS[version].get(content)
        if name is None:
            # An unknown content is kept by its name.
            self.report_content(content, version, location)
            name = content
        # A known content belongs to one type.
        right = _TYPE_OF_CONTENT.get(name, component_type)
        if right != component_type:
            expected = with_article(right)
            message = (
                f"{content} is {with_article(component_type)}; expected {expected}"
            )
            self.found.report(rules.CONTENT_TYPE, message, location)
        return name

    def report_content(self, content: str, version: int, location: Location) -> None:
        """Report a content of another version, or one that is misspelt."""
        names = CONTENTS[version]
        for other_names in CONTENTS.values():
            # The same meaning in this version has another name.
            if content in other_names:
                meanings = list(names.values())
                here = list(names)[meanings.index(other_names[content])]
                message = (
                    f"the content {content} is of another version; "
                    f"in version {version} it is {here}"
                )
                self.found.report(rules.CONTENT_OF_OTHER_VERSION, message, location)
                return
        # JointEffort is no content of the document, but Choreonoid writes it.
        almost = meant(content, (*names, JOINT_EFFORT))
        if almost not in (None, content):
            message = (
                f"the content {content!r} is not one of the format: "
                f"did you mean {almost!r}?"
            )
            self.found.report(rules.MISSPELT_CONTENT, message, location)
            # Readers that look for the meant content find it unknown, not missing.
            self.found.mark_unknown(("contents", names.get(almost or "", "")))

    def first_row(self, fields: Fields, frames: Frames) -> Sequence:
        row = frames.first_row()
        if not isinstance(row, Sequence):
            message = "frame 0 is not a row [ … ] of numbers"
            raise rules.ROW.error(message, _first_location(fields, frames))
        return row

    def order(self, fields: Fields, frames: Frames | None, is_stamped: bool) -> str:
        """Return the order of the numbers of a pose."""
        holder = fields.holder("se3_format")
        text = holder.text("se3_format")
        if text is not None:
            if text in SE3_SIZES:
                return text
            expected = ", ".join(SE3_SIZES)
            message = f"the SE3 format is {text[:60]!r}; expected one of {expected}"
            holder.refuse(rules.SE3_FORMAT, message, "se3_format")
        # Without an order, its number of numbers shows it: quaternion or angles.
        size = 7
        if frames:
            # A row is [t, pose, …] or [pose, …].
            poses = self.first_row(fields, frames).items[is_stamped:]
            if poses and isinstance(poses[0], Sequence):
                size = len(poses[0].items)
            if size not in (6, 7):
                message = (
                    f"there is no SE3 format, and the first pose has {size} numbers"
                )
                location = _first_location(fields, frames)
                raise rules.SE3_FORMAT.error(message, location)
        order = "XYZQWQXQYQZ" if size == 7 else "XYZRPY"
        if text is None and fields.slip("se3_format") is None:
            message = f"the component has no SE3Format; read as {order}"
            self.found.report(rules.SE3_FORMAT_MISSING, message, fields.at(None))
        return order

    def parts(
        self,
        fields: Fields,
        component_type: str,
        frames: Frames | None,
        is_stamped: bool,
    ) -> int:
        """Return the number of parts of a component."""
        # A Vector3Seq is always 3 numbers.
        if component_type == VECTOR3:
            if "num_parts" in fields.values:
                message = "a Vector3Seq has numParts, which is not used"
                location = fields.location("num_parts")
                self.found.report(rules.NUM_PARTS_VECTOR, message, location)
            return 3
        holder = fields.holder("num_parts")
        parts = holder.count("num_parts")
        # The limit keeps a wrong number from becoming a huge array.
        if parts is not None and 0 <= parts <= MAX_PARTS:
            return parts
        # Without numParts, the first row counts.
        in_row = 0
        if frames:
            in_row = max(len(self.first_row(fields, frames).items) - is_stamped, 0)
        if parts is not None:
            text = f"{holder.text('num_parts')!r:.60}"
            message = f"numParts is {text}, not a number of parts"
            holder.refuse(rules.NUM_PARTS, message, "num_parts")
        elif fields.slip("num_parts") is None:
            title = with_article(component_type)
            message = f"{title} has no numParts; the first row has {in_row}"
            self.found.report(rules.NUM_PARTS_MISSING, message, fields.at(None))
        return in_row

    def labels(self, fields: Fields, parts: int) -> tuple[str, ...] | None:
        """Return the part labels; None where they are no texts."""
        node = fields.values.get("part_labels")
        if node is None:
            # Those of the top node are for the components that have as many parts.
            labels = _texts(fields.top.values.get("part_labels"))
            if not labels or len(labels) != parts:
                return ()
            self.labels_inherited = True
            return labels
        location = fields.location("part_labels")
        labels = _texts(node)
        if labels is None:
            message = "the part labels are not a list of texts"
            self.found.report(rules.PART_LABELS, message, location)
        elif len(labels) != parts:
            message = f"the number of part labels is {len(labels)}; expected {parts}"
            self.found.report(rules.PART_LABELS, message, location)
        return labels


def component_fields(
    document: Document, header: ComponentHeader, found: Diagnostics
) -> Fields:
    """Return the keys of a component."""
    # The path inside the document, such as "components[2]", names the component.
    node = cast("Mapping", document.tree.root)
    if header.inside:
        items = _items(Fields(document, node, found, "").values.get("components"))
        number = int(header.inside.removeprefix("components[").removesuffix("]"))
        node = cast("Mapping", items[number])
    return Fields(document, node, found, header.inside)


def _first_location(fields: Fields, frames: Frames) -> Location:
    return frames.location(0, None, f"{fields.inside}.frames[0]".lstrip("."))


def _is_merge(key: Node) -> bool:
    return isinstance(key, Scalar) and key.value == "<<" and not key.quoted


def _items(node: Node | None) -> list[Node]:
    return node.items if isinstance(node, Sequence) else []


def _pairs(node: Node) -> list[tuple[Node, Node]]:
    return node.pairs if isinstance(node, Mapping) else []


def _version_of(components: Node | None) -> int:
    """Return the version that has the names of the components' contents and types.

    2 where they are those of several.
    """
    names: set[str] = set()
    for item in _items(components):
        for key, value in _pairs(item):
            is_name = key_text(key) in (*KEYS["content"], *KEYS["type"])
            if is_name and isinstance(value, Scalar):
                names.add(value.value)
    # Names that only one version has, in this order.
    for version, names_of_version in _ONLY_IN.items():
        if names_of_version & names:
            return version
    return 2


def _texts(node: Node | None) -> tuple[str, ...] | None:
    """Return the texts of a list of texts.

    None for anything else.
    """
    if not isinstance(node, Sequence):
        return None
    texts = tuple(item.value for item in node.items if isinstance(item, Scalar))
    return texts if len(texts) == len(node.items) else None
