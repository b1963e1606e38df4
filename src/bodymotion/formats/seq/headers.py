"""The headers of a motion: what the top node and its components say of themselves, checked against the rules."""

from __future__ import annotations

from dataclasses import dataclass

from bodymotion.diagnostics import FormatError, Location, Rule
from bodymotion.formats.seq import rules
from bodymotion.formats.seq.component_headers import COMMON_CONTENTS, ComponentHeader, ComponentReader, is_of_version_3
from bodymotion.formats.seq.document import Document
from bodymotion.formats.seq.fields import Fields, is_empty
from bodymotion.formats.seq.findings import Findings
from bodymotion.formats.seq.layout import OLD_TYPES
from bodymotion.formats.seq.nodes import Mapping, Sequence
from bodymotion.formats.seq.numbers import number
from bodymotion.formats.seq.scan import first_odd_byte
from bodymotion.formats.text.spelling import meant

__all__ = ["ComponentHeader", "Headers", "read_headers"]

MAX_COMPONENTS = 10**4


@dataclass
class Headers:
    """All headers of a file."""

    version: int
    components: tuple[ComponentHeader, ...]
    extra: dict[str, object]
    frame_rate: float | None
    style: str
    problems: Findings


class _Reader:
    def __init__(self, document: Document, problems: Findings) -> None:
        self.document = document
        self.problems = problems
        self.reader = ComponentReader(document, self.problems)

    def warn(self, rule: Rule, message: str, where: Location) -> None:
        self.problems.append(rule.problem(message, where))

    def run(self) -> Headers:
        root = self.document.tree.root
        if not isinstance(root, Mapping):
            found = "list" if isinstance(root, Sequence) else "text"
            raise rules.NOT_A_MOTION.error(f"the top node is a {found}, not a mapping", self.document.location(root))
        top = Fields(self.document, root, self.problems, "")
        kind = top.text("type")
        bare = kind in OLD_TYPES
        self.check_kind(top, kind, bare)
        version = self.version(top, kind)
        content = top.text("content")
        if not bare and content != "BodyMotion" and (content or version > 1) and "content" not in top.slips:
            said = (
                f"the content of the top node is {content[:60]!r}, not 'BodyMotion'"
                if content
                else "the top node has no content"
            )
            self.warn(rules.TOP_CONTENT, said, top.at(top.values.get("content")))
        rate = top.rate()
        if bare:
            self.warn(rules.BARE_COMPONENT, f"the file is a bare {kind}", top.at(top.values.get("type")))
            component = self.reader.read(top, top, version, "")
            components = [] if component is None else [component]
            extra: dict[str, object] = {}
        else:
            components = list(self.components(top, version))
            extra = top.extra("frames", *(() if self.reader.labels_taken else ("part_labels",)))
            if "components" in top.slips:
                self.problems.worsen(top.slips["components"], refused=False)
            elif not components and not any(problem.severity == "error" for problem in self.problems):
                self.warn(rules.NO_COMPONENTS, "the motion has no components", top.at(top.values.get("components")))
        self.check_together(components, rate)
        if self.document.tree.next_document is not None:
            where = self.document.where.location(self.document.tree.next_document)
            self.warn(rules.DOCUMENTS, "another YAML document begins here", where)
        if self.document.encoding == "cp932":
            odd = first_odd_byte(self.document.source)
            said = "the text is not UTF-8" if odd is None else f"the text is not UTF-8: this is the byte 0x{odd[2]:02x}"
            line, column = (None, None) if odd is None else odd[:2]
            self.warn(rules.ENCODING, said, Location(self.document.source.path, line, column))
        style = "flow" if root.flow else "block"
        return Headers(version, tuple(components), extra, rate, style, self.problems)

    def check_kind(self, top: Fields, kind: str | None, bare: bool) -> None:
        if bare or kind in ("CompositeSeq", "BodyMotion"):
            return
        where = top.at(top.values.get("type"))
        if kind == "PoseSeq":
            raise rules.NOT_A_MOTION.error(
                "this is a sequence of key poses (PoseSeq, .pseq), another format", where, ""
            )
        if kind is not None:
            almost = meant(kind, ("CompositeSeq", "BodyMotion", *OLD_TYPES))
            said = f": did you mean {almost!r}?" if almost else ""
            self.problems.fault(rules.NOT_A_MOTION, f"the top node is of type {kind[:60]!r}{said}", where)
            if "components" not in top.values:
                raise FormatError(self.problems.pop(), tuple(self.problems))
            return
        if "components" not in top.values:
            if "type" in top.slips:
                self.problems.worsen(top.slips["type"])
            raise rules.NOT_A_MOTION.error("the top node has neither a type nor components", where)
        if "type" in top.slips:
            return
        self.warn(rules.TOP_TYPE, "the top node has no type; read as CompositeSeq", where)

    def version(self, top: Fields, kind: str | None) -> int:
        node = top.values.get("format_version")
        text = top.text("format_version")
        where = top.at(node, ".formatVersion" if node else "")
        if text is None:
            if kind == "BodyMotion":
                return 1
            if "format_version" in top.slips:
                return 2
            version = 3 if is_of_version_3(top.values.get("components")) else 2
            hint = f"read as version {version}; add 'formatVersion: {version}'"
            problem = rules.VERSION_MISSING.problem("the file does not say its format version", where, hint)
            self.problems.append(problem)
            return version
        value = number(text)
        if value is None or not abs(value) < float("inf"):
            self.problems.fault(rules.VERSION, f"the format version is {text[:40]!r}, not a number", where)
            return 2
        if value >= 5:
            self.problems.fault(rules.VERSION, f"format version {text[:40]} is not known, only 1 to 4", where)
            return 4
        if value < 1:
            self.warn(rules.VERSION_LOW, f"the format version is {text[:40]}, below the first one, 1", where)
        version = max(int(value), 1)
        if kind in ("CompositeSeq", "BodyMotion") and (kind == "BodyMotion") != (version == 1):
            self.warn(
                rules.TOP_TYPE,
                f"the type is {kind}, but in version {version} it is {'CompositeSeq' if version > 1 else 'BodyMotion'}",
                top.at(top.values.get("type")),
            )
        return version

    def components(self, top: Fields, version: int) -> list[ComponentHeader]:
        node = top.values.get("components")
        if node is None or is_empty(node):
            return []
        if not isinstance(node, Sequence):
            self.problems.fault(rules.COMPONENTS, "the components are no list", top.at(node, ".components"))
            return []
        if len(node.items) > MAX_COMPONENTS:
            raise rules.COMPONENTS.error(f"there are {len(node.items)} components", top.at(node, ".components"))
        found = []
        for k, item in enumerate(node.items):
            inside = f"components[{k}]"
            if not isinstance(item, Mapping):
                where = self.document.location(item, inside)
                self.problems.fault(rules.COMPONENTS, f"component {k} is no mapping", where)
                continue
            try:
                own = Fields(self.document, item, self.problems, inside)
                component = self.reader.read(own, top, version, inside)
                if component is not None:
                    found.append(component)
            except FormatError as error:
                if not self.problems.lenient:
                    raise
                self.problems.append(error.problem)
        return found

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
        misspelt = {problem.location.inside for problem in self.problems if problem.rule == rules.MISSPELT.code}
        known = [c for c in components if c.layout and c.content in COMMON_CONTENTS and not c.has_frame_time]
        known = [c for c in known if c.frames or c.inside not in misspelt]
        if len({c.num_frames for c in known}) > 1:
            lengths = ", ".join(f"{c.content} {c.num_frames}" for c in known)
            self.warn(rules.LENGTHS, f"the numbers of frames differ: {lengths}", known[0].location)


def read_headers(document: Document, problems: Findings | None = None) -> Headers:
    """Read and check all headers of a document.

    With lenient `problems`, the faults are noted among them, and what they leave open is told from the rows, as well as can be; components
    of which nothing can be told are left out. Such headers are to look at the rows with, and are not what the file says.

    Raises
    ------
    FormatError
        Where they break a rule such that the rows cannot be understood; with lenient `problems`, where there are no components to be seen.
    """
    return _Reader(document, Findings() if problems is None else problems).run()
