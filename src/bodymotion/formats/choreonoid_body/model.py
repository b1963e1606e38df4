"""One .body file: its header, its links in a tree, with those of the files that it takes in as SubBodies."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from bodymotion.diagnostics import FormatError
from bodymotion.formats.choreonoid_body import rules
from bodymotion.formats.choreonoid_body.document import Document, Mapping, Node, Scalar, Sequence, parse_document
from bodymotion.formats.choreonoid_body.elements import ElementReader
from bodymotion.formats.choreonoid_body.extra_joints import RawExtraJoint, read_extra_joint
from bodymotion.formats.choreonoid_body.fields import Fields, angle_unit, label
from bodymotion.formats.choreonoid_body.links import RawLink, changed_link, read_link, read_track
from bodymotion.formats.choreonoid_body.plain import Context
from bodymotion.formats.choreonoid_body.resources import MOST_BYTES, locate
from bodymotion.formats.faults import Faults, fault
from bodymotion.formats.vrml.rules import PART_OUTSIDE, PART_REMOTE
from bodymotion.model.links import MOST_LINKS
from bodymotion.system.open_files import open_file

if TYPE_CHECKING:
    from bodymotion.diagnostics import Location, Problem
    from bodymotion.formats.vrml.inline import InlineLoader

__all__ = ["HEADER_KEYS", "Model", "ModelLoader", "read_bytes"]

MOST_FILES = 1_000
MOST_KEYS = 1_000_000
DEEPEST_SUB_BODY = 16

MANY_TURNS = 40.0
"""A range [rad] beyond this is told as degrees."""
SMALL = 2.0 * math.pi + 0.01
"""[°] Ranges that are all within this are radians: a robot's joints turn farther, one of them at least."""
MANY = 4
"""So many joints with ranges as small as that are no chance, even where all are whole degrees."""
NO_LIMIT = 1e4
"""A range [rad] beyond this is a way to say that there is none."""

USED = ("format", "links")
HEADER_KEYS = ("format", "format_version", "angle_unit", "name", "root_link", "links", "extra_joints", "foot_links")
"""Those of a file's top, and one that plugins know and that is almost one of them."""
ROUND = 10
"""So many links of a circle of parents are named."""


@dataclass
class Model:
    """What a file says: `links` depth-first from the root, each with its parent."""

    name: str
    version: str
    encoding: str
    links: list[RawLink]
    extra_joints: list[RawExtraJoint] = field(default_factory=list)
    extra: dict[str, object] = field(default_factory=dict)
    incomplete: bool = False
    """Whether a SubBody could not be read."""


class ModelLoader:
    """Loads the files of one model, each once."""

    def __init__(self, parts: InlineLoader, problems: list[Problem]) -> None:
        self.parts = parts
        self.problems = problems
        self._models: dict[Path, Model | None] = {}
        self._open: list[Path] = []
        self._plain_left = Context([]).plain_left

    def load(self, path: Path, data: bytes) -> Model:
        """Read a file.

        Raises
        ------
        FormatError
            When no body can be made of it.
        """
        document = parse_document(data, path, thorough=isinstance(self.problems, Faults))
        self.problems += document.problems
        return _FileReader(document, self).read()

    def sub_body(self, fields: Fields) -> Model | None:
        """Return the model that a SubBody takes in, None where it cannot be read, which is noted."""
        uri, where = fields.text("uri"), fields.place("uri")
        known = len(self.parts.problems)
        path = locate(uri, fields.node.text.path, self.parts, where)
        if path is None:
            reason = self.parts.problems[-1]
            # That a file outside is not opened is our own rule, and told as such; what else is wrong is told once, too.
            if reason.rule != PART_OUTSIDE.code:
                del self.parts.problems[known:]
                hint = reason.hint if reason.rule == PART_REMOTE.code else None
                self.problems.append(rules.SUB_BODY.problem(f"{reason.message}: the SubBody is left out", where, hint))
            return None
        if path in self._open or len(self._open) >= DEEPEST_SUB_BODY:
            why = "contains itself" if path in self._open else "is nested too deep"
            fields.tell(rules.SUB_BODY, f"{path.name} {why}: left out", "uri")
            return None
        if path not in self._models:
            self._models[path] = None
            self._open.append(path)
            try:
                self._models[path] = self._read(path)
            except FormatError as error:
                self.problems += [error.problem, rules.SUB_BODY.problem(f"{path.name} is left out", where)]
            finally:
                self._open.pop()
        return self._models[path]

    def _read(self, path: Path) -> Model:
        if len(self._models) > MOST_FILES:
            raise rules.TOO_LARGE.error(f"the model has more than {MOST_FILES} files")
        return self.load(path, read_bytes(path))

    def start(self, path: Path) -> None:
        """Note the file that the model begins with, so that it is not taken in again."""
        self._open.append(path)


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a file.

    Raises
    ------
    FormatError
        When it cannot be opened, or is too large for a model.
    """
    from bodymotion.diagnostics import Location

    place = Location(str(path))
    try:
        with open_file(path) as file:
            if file.seek(0, 2) > MOST_BYTES:
                raise rules.TOO_LARGE.error(f"the file is larger than {MOST_BYTES} bytes", place)
            file.seek(0)
            return file.read()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        if isinstance(error, FormatError):
            raise
        raise rules.UNREADABLE.error(f"cannot be opened: {reason}", place) from error


class _FileReader:
    def __init__(self, document: Document, loader: ModelLoader) -> None:
        self.document = document
        self.loader = loader
        self.problems = loader.problems
        self.context = Context(loader.problems)
        self.elements = ElementReader(document, self.context, loader.parts)
        self.extra: dict[str, object] = {}
        self.extra_joints: list[RawExtraJoint] = []
        self.links: list[RawLink] = []
        self.visited = 0
        self.incomplete = False
        """Whether a SubBody could not be read, so that links may lack their parents for no fault of theirs."""
        self.orphans: set[int] = set()
        """The links that lack theirs for that."""

    def read(self) -> Model:
        root = self.document.root
        if not isinstance(root, Mapping):
            raise rules.NOT_A_BODY.error("the file is no mapping", root.location)
        header = Fields(root, self.context, "the body")
        version = self._header(header)
        links = header.find("links")
        header.find("root_link", "name", "extra_joints")
        if "links" in header.warn_of_misspelt(HEADER_KEYS) and links is None:
            raise self._misspelt_links()
        if links is None:
            raise rules.NO_LINK.error("the file has no links", root.location)
        for node in links.items if isinstance(links, Sequence) else [links]:
            self._link(node)
        self._check_unit(header)
        for node in _items(header, "extra_joints"):
            try:
                extra_joint = read_extra_joint(Fields(node, self.context, "an extra joint"))
            except FormatError as error:
                fault(self.problems, error)
                continue
            if extra_joint is not None:
                self.extra_joints.append(extra_joint)
        name, wanted = header.text("name"), header.text("root_link")
        tree = self._tree(wanted, header.place("root_link" if wanted else "links"))
        self.context.plain_left = self.loader._plain_left
        own = header.rest(USED)
        self.loader._plain_left = self.context.plain_left
        encoding = self.document.text.encoding
        return Model(name, version, encoding, tree, self.extra_joints, {**self.extra, **own}, self.incomplete)

    def _misspelt_links(self) -> FormatError:
        slip = next(p for p in reversed(self.problems) if p.rule == rules.MISSPELT.code and "'links'" in p.message)
        self.problems.remove(slip)
        return FormatError(replace(slip, severity="error"))

    def _header(self, header: Fields) -> str:
        kind = header.text("format")
        if kind != "ChoreonoidBody":
            if kind or not header.has("links"):
                wrong = (
                    f"format is {kind!r:.60}, not 'ChoreonoidBody'" if kind else "the file has no format and no links"
                )
                raise rules.NOT_A_BODY.error(wrong, header.place("format"))
            header.tell(rules.NOT_A_BODY, "the file has no format")
        version = header.text("format_version")
        if version:
            number = header.number("format_version", default=1.0)
            if number not in (1.0, 2.0):
                header.tell(rules.VERSION, f"format_version is {version:.60}, neither 1.0 nor 2.0", "format_version")
            if number >= 2.0 and header.text("angle_unit") == "radian":
                header.tell(rules.ANGLE_UNIT, f"angle_unit is radian in version {version:.60}", "angle_unit")
        self.context.angle_unit = angle_unit(header, self.context.angle_unit)
        return version

    def _check_unit(self, header: Fields) -> None:
        """Say once that the ranges of joints are degrees by their looks, at the unit of the file; or, at the widest, radians."""
        path = header.node.location.path
        own = [link for link in self.links if link.joint.type == "rotate" and link.location.path == path]
        if self.context.angle_unit != 1.0:
            self._check_ranges(own)
            return
        if not header.has("angle_unit"):
            return
        ends = [(link, abs(end)) for link in own for end in (link.joint.lower, link.joint.upper)]
        odd = list(dict.fromkeys(link.title for link, end in ends if MANY_TURNS < end < NO_LIMIT))
        if odd:
            others = "" if len(odd) == 1 else f" and {len(odd) - 1} more"
            said = f"angle_unit is radian, and {odd[0]}{others} would turn more than {MANY_TURNS:g} rad: are these degrees?"
            header.tell(rules.UNIT_ODD, said, "angle_unit")

    def _check_ranges(self, own: list[RawLink]) -> None:
        """Say that the ranges of all joints are within some degrees, and no whole ones or many: radians."""
        unit = self.context.angle_unit
        limited = [
            (link, max(abs(link.joint.lower), abs(link.joint.upper)) / unit)
            for link in own
            if math.isfinite(link.joint.lower)
            and math.isfinite(link.joint.upper)
            and link.joint.upper > link.joint.lower
        ]
        if not limited:
            return
        widest, most = max(limited, key=lambda one: one[1])
        ends = [end / unit for link, _ in limited for end in (link.joint.lower, link.joint.upper)]
        whole = all(abs(end - round(end)) < 1e-9 for end in ends)
        if most <= SMALL and not (whole and len(limited) < MANY):
            which = (
                "the range of the joint that turns is"
                if len(limited) == 1
                else "the ranges of all joints that turn are"
            )
            said = f"{which} within ±{most:.4g} degrees"
            self.problems.append(rules.DEGREES.problem(said, widest.place("joint_range")))

    def _link(self, node: Node) -> None:
        self.visited += 1 + (len(node.items) if isinstance(node, Mapping) else 0)
        if self.visited > MOST_KEYS or len(self.links) > MOST_LINKS:
            raise rules.TOO_LARGE.error(f"the body has more than {MOST_LINKS} links", node.location)
        if isinstance(node, Sequence):
            # An alias may stand for several links.
            for item in node.items:
                self._link(item)
            return
        try:
            self._one_link(node)
        except FormatError as error:
            fault(self.problems, error)
            self.incomplete = True

    def _one_link(self, node: Node) -> None:
        if not isinstance(node, Mapping):
            raise rules.WRONG_VALUE.error("a link must be a mapping", node.location)
        name = node.items.get("name")
        title = label("link", name) if isinstance(name, Scalar) and name.value else "a link without a name"
        fields = Fields(_imported(node), self.context, title)
        kind = fields.text("type", default="Link")
        match kind:
            case "Link":
                self.links.append(read_link(fields, self.elements))
            case "SubBody":
                fields.title = f"the SubBody {fields.text('uri')!r:.60}"
                self._sub_body(fields)
            case "ContinuousTrack":
                self.links += read_track(fields, self.elements)
            case "Skip" | "SkipLink":
                return
            case _:
                raise rules.LINK_TYPE.error(
                    f"{title} has the type {kind!r:.60}, none of Link, SubBody, ContinuousTrack, Skip",
                    fields.place("type"),
                )

    def _sub_body(self, fields: Fields) -> None:
        model = self.loader.sub_body(fields)
        prefix, suffix = fields.text("prefix"), fields.text("suffix")
        device_prefix, id_offset = fields.text("device_prefix"), fields.integer("joint_id_offset", default=0)
        if model is None or not model.links:
            self.incomplete = True
            return
        self.incomplete |= model.incomplete
        copies = {id(link): link.copy() for link in model.links}
        for original in model.links:
            link = copies[id(original)]
            if isinstance(original.parent, RawLink):
                link.parent = copies[id(original.parent)]
            joint_id = link.joint.id + id_offset if link.joint.id >= 0 else -1
            link.name = f"{prefix}{link.name}{suffix}"
            link.joint = replace(link.joint, name=f"{prefix}{link.joint.name}{suffix}", id=joint_id)
            link.devices = [replace(device, name=f"{device_prefix}{device.name}") for device in link.devices]
            self.links.append(link)
        changed_link(fields, copies[id(model.links[0])], self.elements)
        self.extra_joints += [joint.renamed(prefix, suffix) for joint in model.extra_joints]
        self.extra = {**self.extra, **model.extra}

    def _tree(self, wanted: str, place: Location) -> list[RawLink]:
        """Join the links to a tree; give them depth-first."""
        if not self.links and isinstance(self.problems, Faults) and self.problems.any:
            return []
        if not self.links:
            told = (*self.loader.parts.problems, *self.context.problems) if self.incomplete else ()
            why = next((problem for problem in told if problem.severity != "note"), None)
            if why is not None:
                raise rules.NO_LINK.error(f"the body has no link: {why.message}", place, why.hint)
            raise rules.NO_LINK.error("the body has no link", place)
        by_name: dict[str, RawLink] = {}
        for link in self.links:
            by_name.setdefault(link.name, link)
        root = by_name.get(wanted) if wanted else self.links[0]
        if root is None:
            fault(self.problems, rules.ROOT.error(f"root_link is {wanted!r:.60}, no link has that name", place))
            root = next((link for link in self.links if not link.parent), self.links[0])
        if root.parent:
            self.context.problems.append(rules.ROOT.problem(f"{root.title} has a parent", root.place("parent")))
            root.parent = ""
        children: dict[int, list[RawLink]] = {}
        for link in self.links:
            if isinstance(link.parent, str) and link.parent:
                link.parent = self._parent(link, by_name, root)
            if isinstance(link.parent, RawLink):
                children.setdefault(id(link.parent), []).append(link)
        ordered = []
        stack = [root]
        while stack:
            link = stack.pop()
            ordered.append(link)
            stack += reversed(children.get(id(link), []))
        here = {id(link) for link in ordered}
        self._tell_loose([link for link in self.links if id(link) not in here])
        return ordered

    def _tell_loose(self, loose: list[RawLink]) -> None:
        """Say which links do not hang on the root: each that has no parent, and each circle of parents, with how many hang on them."""
        tops: dict[int, list[RawLink]] = {}
        """By each link, the circle above it, or the one link at the top."""
        below: Counter[int] = Counter()
        for link in loose:
            way: dict[int, RawLink] = {}
            at = link
            while id(at) not in tops and id(at) not in way:
                way[id(at)] = at
                if not isinstance(at.parent, RawLink):
                    break
                at = at.parent
            if id(at) in way:
                round_ = list(way.values())[list(way).index(id(at)) :]
                tops[id(at)] = round_
            top = tops[id(at)]
            for on_way in way:
                tops[on_way] = top
        for link in loose:
            below[id(tops[id(link)])] += 1
        told: set[int] = set()
        for link in loose:
            top = tops[id(link)]
            if id(top) in told:
                continue
            told.add(id(top))
            more = below[id(top)] - len(top)
            hanging = "" if not more else ", and the link below" if more == 1 else f", and the {more} links below"
            if isinstance(top[0].parent, RawLink):
                names = " → ".join(one.name[:60] for one in [*top[:ROUND], top[0]]) + (" …" if len(top) > ROUND else "")
                said = f"{names}: parents in a circle, which is left out{hanging}"
                place, hint = top[0].place("parent"), "give one of them a parent that hangs on the root"
                self.context.problems.append(rules.LOOSE.problem(said, place, hint))
            else:
                said = f"{top[0].title} has no parent and is left out{hanging}"
                problem = rules.LOOSE.problem(said, top[0].location)
                if id(top[0]) in self.orphans:
                    said = f"{top[0].title} is left out{hanging}: its parent is not in what could be read"
                    problem = replace(problem, severity="warning", message=said, hint="")
                self.context.problems.append(problem)

    def _parent(self, link: RawLink, by_name: dict[str, RawLink], root: RawLink) -> RawLink | str:
        found = by_name.get(str(link.parent))
        if found is None:
            message = f"the parent of {link.title} is {link.parent!r:.60}, no link has that name"
            if not self.incomplete:
                fault(self.problems, rules.PARENT.error(message, link.place("parent")))
            if isinstance(self.problems, Faults):
                # So that nobody is said to be left out for that.
                return root
            # It is, most likely, in the file that is missing: the link is left out with it.
            self.orphans.add(id(link))
            return ""
        return found


def _items(header: Fields, name: str) -> list[Mapping]:
    value = header.find(name)
    items = value.items if isinstance(value, Sequence) else [] if value is None else [value]
    for item in items:
        if not isinstance(item, Mapping):
            try:
                header.refuse(name, "a list of mappings", item)
            except FormatError as error:
                fault(header.context.problems, error)
    return [item for item in items if isinstance(item, Mapping)]


def _imported(node: Mapping) -> Mapping:
    """Return a link with the keys that its `import` brings in, where it does not have them itself."""
    source = node.items.get("import")
    if not isinstance(source, Mapping):
        return node
    whole = Mapping(node.text, node.offset)
    whole.places = node.places
    whole.items = {**source.items, **node.items}
    return whole
