"""Read a .body file to a Body, with all faults.

It has a header, and links in a tree, with those of the files that are its SubBodies.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Self

import numpy as np

from bodymotion.diagnostics import (
    Diagnostics,
    FormatError,
    Location,
    Locator,
    ReadResult,
    Source,
    SourceMap,
    Subject,
)
from bodymotion.diagnostics.spelling import meant
from bodymotion.diagnostics.text import counted
from bodymotion.formats.choreonoid_body import rules
from bodymotion.formats.choreonoid_body.devices import KEYS_OF_DEVICE
from bodymotion.formats.choreonoid_body.elements import ElementReader
from bodymotion.formats.choreonoid_body.fields import Fields, angle_unit
from bodymotion.formats.choreonoid_body.links import (
    KEYS_OF_EXTRA_JOINT,
    KEYS_OF_LINK,
    LINK_KEYS,
    RawExtraJoint,
    RawLink,
    change_link,
    locator,
    read_extra_joint,
    read_link,
    read_track,
)
from bodymotion.formats.choreonoid_body.resources import find_file
from bodymotion.formats.resources import (
    PART_OUTSIDE,
    PART_REMOTE,
    NotFound,
    ReferencedFiles,
    ResourceFinder,
    file_bytes,
)
from bodymotion.formats.rules import TOO_LARGE
from bodymotion.formats.yaml.fields import MAX_BYTES, Context, label, open_text
from bodymotion.formats.yaml.rules import (
    WRONG_VALUE,
)
from bodymotion.formats.yaml.tree import Document, Mapping, Node, Scalar, Sequence
from bodymotion.geometry.rotations import limits_in_radians
from bodymotion.model.body import Body, ExtraJoint
from bodymotion.model.links import MAX_LINKS, Device, Link, in_order_of_ids
from bodymotion.model.rules import NO_LINKS, NOT_FINITE, UNCONNECTED

# Files of one model.
MAX_FILES = 1_000
# Keys of all links of a file. Those that aliases repeat count as often as they are
# read.
MAX_KEYS = 1_000_000
# SubBodies inside of each other.
MAX_SUB_BODY_DEPTH = 16
# Links of a circle of parents that are named.
MAX_CIRCLE_SHOWN = 10

# The keys of the top node, and one of plugins that is almost one of them.
HEADER_KEYS = (
    *("format", "format_version", "angle_unit", "name"),
    *("root_link", "links", "extra_joints", "foot_links"),
)
LINK_TYPES = ("Link", "SubBody", "ContinuousTrack", "Skip", "SkipLink")


def read_body(
    path: str | Path, *, allow_outside: bool | None = None
) -> ReadResult[Body]:
    """Read a Choreonoid model with all its faults.

    Parameters
    ----------
    path:
        The `.body` file.
    allow_outside:
        Open files (SubBodies, resources, textures) that lie outside the folder of the
        model, too.

    Returns
    -------
    The body, its links in link-index order, and all problems of its file, also missing
    parts and elements that only plugins have.
    """
    path = Path(path)
    try:
        data = file_bytes(path, MAX_BYTES)
    except FormatError as error:
        return ReadResult(None, error.problems, refusal=error.problem)
    return _read(data, path, allow_outside)


def parse_body(data: bytes, path: Path, *, allow_outside: bool | None = None) -> Body:
    """Return the model in the bytes of the file at `path`.

    See `read_body`.

    Raises FormatError when the file cannot be read as a whole; `problems` of the
    exception are all that are wrong with it.
    """
    return _read(data, path, allow_outside).require()


def _read(data: bytes, path: Path, allow_outside: bool | None) -> ReadResult[Body]:
    """Read the bytes of a model with all parts."""
    found = Diagnostics(path)
    # Where files are: beside the model, and outside only with `allow_outside`.
    parts = ReferencedFiles(ResourceFinder(path.parent, allow_outside, model=path))
    loader = _ModelLoader(parts, path)
    body = None
    # Numbers near the largest there are may overflow on the way; results that are not
    # finite are reported.
    with np.errstate(all="ignore"):
        # A fault of the header ends the reading; faults of links leave the others.
        try:
            model = _Model(open_text(data, path, found), loader, found).read()
            if model.tree:
                body = _made(model, parts, found, path)
        except FormatError as error:
            found.refuse(error)
    # They refer to the loader: such a cycle keeps meshes in memory until the next
    # collection of garbage.
    loader.models.clear()
    found.extend(parts.problems)
    result = found.result(body)
    return replace(
        result, value=None if body is None else replace(body, problems=result.problems)
    )


class _ModelLoader:
    def __init__(self, parts: ReferencedFiles, path: Path) -> None:
        self.parts = parts
        self.models: dict[Path, _Model | None] = {}
        # The files around the one that is read: a SubBody must not contain itself.
        self._open = [path.resolve()]

    def sub_body(self, fields: Fields, found: Diagnostics) -> _Model | None:
        """Return the model of a SubBody; None where it is left out."""
        location = fields.location("uri")
        path = find_file(fields.text("uri"), fields.node, self.parts.finder)
        if isinstance(path, NotFound):
            # That a file outside is not opened is a rule of our own, and is reported as
            # such.
            if path.rule is PART_OUTSIDE:
                found.add(path.problem(location))
            else:
                hint = path.rule.hint if path.rule is PART_REMOTE else None
                message = f"{path.message}: the SubBody is left out"
                found.report(rules.SUB_BODY, message, location, hint=hint)
            return None
        reason = ""
        if path in self._open:
            reason = "contains itself"
        elif len(self._open) >= MAX_SUB_BODY_DEPTH:
            reason = f"is nested more than {MAX_SUB_BODY_DEPTH} deep"
        if reason:
            fields.report(rules.SUB_BODY, f"{path.name} {reason}: left out", "uri")
            return None
        # None while the file is read, so a faulty one is read once.
        if path not in self.models:
            self.models[path] = None
            self.models[path] = self._read(path, location, found)
        return self.models[path]

    def _read(
        self, path: Path, location: Location, found: Diagnostics
    ) -> _Model | None:
        """Return a SubBody without faults; the model is whole without a faulty one."""
        of_file = Diagnostics(path)
        model = None
        # Around the reading, so files inside of it see it.
        self._open.append(path)
        with of_file.recover():
            if len(self.models) > MAX_FILES:
                raise TOO_LARGE.error(f"the model has more than {MAX_FILES} files")
            document = open_text(file_bytes(path, MAX_BYTES), path, of_file)
            model = _Model(document, self, of_file).read()
        self._open.pop()
        found.extend(of_file.problems)
        # With a fault in it, links may be missing: the SubBody is left out as a whole.
        if of_file.refusal is None:
            return model
        found.report(rules.SUB_BODY, f"{path.name} is left out", location)
        return None


class _Model:
    """One file.

    Attributes
    ----------
    links, tree:
        Its links in the order of the file; those in the tree depth first from the root,
        each with its parent.
    is_incomplete, is_faulty:
        Whether a SubBody could not be read: links may lack their parents for no fault
        of theirs. Whether a link could not be read.
    extra_joints_missing:
        Whether extra joints of the file are not in the model.
    orphans:
        The links that lack their parents because of a SubBody.
    """

    def __init__(
        self, document: Document, loader: _ModelLoader, found: Diagnostics
    ) -> None:
        self.document = document
        self.loader = loader
        self.found = found
        self.context = Context(found, NOT_FINITE)
        self.elements = ElementReader(document, self.context, loader.parts)
        self.name = self.version = ""
        self.links: list[RawLink] = []
        self.tree: list[RawLink] = []
        self.extra: dict[str, object] = {}
        self.extra_joints: list[RawExtraJoint] = []
        self.visited = 0
        self.is_incomplete = self.is_faulty = self.extra_joints_missing = False
        self.orphans: set[int] = set()

    def read(self) -> Self:
        """Read header, links, extra joints and tree of the file."""
        root = self.document.root
        if not isinstance(root, Mapping):
            raise rules.NOT_A_BODY.error("the top node is not a mapping", root.location)
        header = Fields(root, self.context, "the body")
        # `links` misspelt: nothing could be read otherwise.
        header.report_misspelt(HEADER_KEYS, as_meant=("links",))
        self.version = self.header(header)
        links = header.find("links")
        # Keys that are read later count as used, so they are not reported as misspelt.
        header.find("root_link", "name", "extra_joints")
        header.report_misspelt(HEADER_KEYS)
        if links is None:
            raise NO_LINKS.error("the file has no links", root.location)
        for node in _items(links):
            self.link(node)
        # After all links: a single small range proves nothing.
        self.check_ranges(root.location.path)
        extra_joints = header.find("extra_joints")
        if extra_joints is not None:
            for node in _items(extra_joints):
                self.extra_joint(node, header)
        self.name = header.text("name")
        root_name = header.text("root_link")
        location = header.location("root_link" if root_name else "links")
        # The tree needs all links, as a parent may come after its child.
        self.tree = self.in_tree(root_name, location)
        self.extra |= header.rest(("format", "links"))
        self.is_incomplete |= self.is_faulty
        return self

    def extra_joint(self, node: Node, header: Fields) -> None:
        extra_joint = None
        with self.found.recover():
            if not isinstance(node, Mapping):
                header.refuse("extra_joints", "a list of mappings", node)
            fields = Fields(node, self.context, "an extra joint")
            extra_joint = read_extra_joint(fields)
        if extra_joint is None:
            self.extra_joints_missing = True
        else:
            self.extra_joints.append(extra_joint)

    def header(self, header: Fields) -> str:
        """Check the format and return its version."""
        self.check_format(header)
        version = header.text("format_version")
        if version:
            number = header.number("format_version", default=1.0)
            # Versions of the format that are known.
            if number not in (1.0, 2.0):
                message = f"format_version is {version:.60}; expected 1.0 or 2.0"
                header.report(rules.VERSION, message, "format_version")
            # Version 2.0 has degrees only.
            if number >= 2.0 and header.text("angle_unit") == "radian":
                message = f"angle_unit is radian in version {version:.60}"
                header.report(rules.ANGLE_UNIT, message, "angle_unit")
        self.context.angle_unit = angle_unit(header, self.context.angle_unit)
        return version

    def check_format(self, header: Fields) -> None:
        """Check that the file is a model of Choreonoid."""
        name = header.text("format")
        if name == "ChoreonoidBody":
            return
        # The links show what the file is.
        if not name and header.has("links"):
            header.report(rules.NOT_A_BODY, "the file has no format")
            return
        message = "there is no format, and no links"
        if name:
            message = f"format is {name!r:.60}, not 'ChoreonoidBody'"
        error = rules.NOT_A_BODY.error(message, header.location("format"))
        # Almost ChoreonoidBody: refused, but read to the end.
        if not meant(name, ("ChoreonoidBody",)):
            raise error
        self.found.refuse(error)

    def check_ranges(self, path: str | None) -> None:
        """Report ranges in degrees that look like radians.

        Those of all joints are small, and no whole numbers or many.
        """
        # Links of SubBodies are checked with their own files.
        unit = self.context.angle_unit
        limited: list[RawLink] = []
        for link in self.links:
            joint = link.joint
            has_range = np.isfinite([joint.lower, joint.upper]).all()
            is_here = link.node.location.path == path
            is_range = has_range and joint.upper > joint.lower
            if joint.type == "rotate" and is_here and is_range:
                limited.append(link)
        # In radians there is nothing to confuse.
        if unit == 1.0 or not limited:
            return
        ranges = [[link.joint.lower, link.joint.upper] for link in limited]
        limits = np.array(ranges) / unit
        widest = limits_in_radians(limits)
        if widest is None:
            return
        title = f"ranges of all {len(limited)} joints are"
        if len(limited) == 1:
            title = "range of the only joint is"
        largest = np.abs(limits).max()
        message = f"the {title} within ±{largest:.4g} degrees"
        location = limited[widest].node.location_of("joint_range")
        self.found.report(rules.DEGREES, message, location)

    def link(self, node: Node) -> None:
        """Read the links that a node stands for."""
        # Keys are counted each time that an alias stands for them.
        self.visited += 1
        if isinstance(node, Mapping):
            self.visited += len(node.items)
        if self.visited > MAX_KEYS or len(self.links) > MAX_LINKS:
            message = f"the body has more than {MAX_LINKS} links"
            raise TOO_LARGE.error(message, node.location)
        if isinstance(node, Sequence):
            # An alias may stand for several links.
            for item in node.items:
                self.link(item)
            return
        # A faulty link leaves the others.
        try:
            self.one_link(node)
        except FormatError as error:
            self.found.refuse(error)
            self.is_faulty = True

    def one_link(self, node: Node) -> None:
        """Read a node of the list of links by its type."""
        if not isinstance(node, Mapping):
            raise WRONG_VALUE.error("a link must be a mapping", node.location)
        # `import` brings in the keys of an anchor before anything is read.
        fields = Fields(_imported(node), self.context, "a link without a name")
        # Without one of these keys nothing can be made of the link.
        fields.report_misspelt(LINK_KEYS, as_meant=("name", "parent", "elements"))
        name = fields.node.items.get("name")
        if isinstance(name, Scalar) and name.value:
            fields.title = label("link", name)
        link_type = fields.text("type", default="Link")
        is_known = link_type in LINK_TYPES
        if not is_known:
            message = (
                f"{fields.title} has the type {link_type!r:.60}, expected one of Link, "
                "SubBody, ContinuousTrack and Skip"
            )
            self.found.refuse(rules.LINK_TYPE.error(message, fields.location("type")))
            # It may stand for several links, or for none.
            self.is_faulty = True
        # A misspelt type is read as the one that is meant.
        match link_type if is_known else meant(link_type, LINK_TYPES):
            case "SubBody":
                fields.title = f"the SubBody {fields.text('uri')!r:.60}"
                self.sub_body(fields)
            case "ContinuousTrack":
                self.links += read_track(fields, self.elements)
            case "Skip" | "SkipLink":
                return
            case _:
                link = read_link(fields, self.elements)
                # A node of an unknown type is a link only with a parent, or as the
                # first.
                if is_known or link.parent or not self.links:
                    link.mass_unset &= is_known
                    self.links.append(link)

    def sub_body(self, fields: Fields) -> None:
        """Add the links of a SubBody, renamed and numbered."""
        model = self.loader.sub_body(fields, self.found)
        prefix = fields.text("prefix")
        suffix = fields.text("suffix")
        device_prefix = fields.text("device_prefix")
        id_offset = fields.integer("joint_id_offset", default=0)
        # Links of the file may be the parents of others here.
        if model is None or not model.tree:
            self.is_incomplete = True
            return
        self.is_incomplete |= model.is_incomplete
        # Copies: a file may be a SubBody several times.
        copies = {id(link): replace(link, parent="") for link in model.tree}
        for original in model.tree:
            # Names and ids must differ between several copies.
            link = copies[id(original)]
            if isinstance(original.parent, RawLink):
                link.parent = copies[id(original.parent)]
            joint = link.joint
            joint_name = f"{prefix}{joint.name}{suffix}"
            joint_id = joint.id + id_offset if joint.id >= 0 else -1
            link.name = f"{prefix}{link.name}{suffix}"
            link.joint = replace(joint, name=joint_name, id=joint_id)
            link.devices = tuple(
                (replace(device, name=f"{device_prefix}{device.name}"), node, unknown)
                for device, node, unknown in link.devices
            )
            self.links.append(link)
        # Its root hangs where the keys of the SubBody say.
        change_link(fields, copies[id(model.tree[0])], self.elements)
        self.extra_joints += [
            joint.renamed(prefix, suffix) for joint in model.extra_joints
        ]
        self.extra = {**self.extra, **model.extra}

    def in_tree(self, root_name: str, location: Location) -> list[RawLink]:
        """Return the links depth first, each with its parent."""
        # Where a fault explains that there are none, it is reported already.
        if not self.links:
            if self.found.refusal is None:
                raise self.no_links(location)
            return []
        # Of several links of one name the first counts.
        by_name = {link.name: link for link in reversed(self.links)}
        root = self.root(root_name, by_name, location)
        # The tree has one root.
        if root.parent:
            message = f"{root.title} has a parent"
            self.found.report(rules.ROOT, message, root.node.location_of("parent"))
            root.parent = ""
        for link in self.links:
            # Links whose parents are known already are those of SubBodies and tracks.
            if isinstance(link.parent, str) and link.parent:
                link.parent = self.parent(link, by_name, root)
        ordered = self.below(root)
        in_tree = {id(link) for link in ordered}
        # Links that no chain of parents connects to the root.
        self.report_loose([link for link in self.links if id(link) not in in_tree])
        return ordered

    def below(self, root: RawLink) -> list[RawLink]:
        """Return a link and all below it, depth first."""
        children: dict[int, list[RawLink]] = {}
        for link in self.links:
            if isinstance(link.parent, RawLink):
                children.setdefault(id(link.parent), []).append(link)
        ordered = []
        stack = [root]
        # A stack: chains may be longer than Python's calls allow; children in file
        # order.
        while stack:
            link = stack.pop()
            ordered.append(link)
            stack += reversed(children.get(id(link), []))
        return ordered

    def no_links(self, location: Location) -> FormatError:
        """Return the error for a body without links.

        It has the reason if that is known.
        """
        if self.is_incomplete:
            for problem in (*self.loader.parts.problems, *self.found.problems):
                if problem.severity != "note":
                    message = f"the body has no link: {problem.message}"
                    return NO_LINKS.error(message, location, problem.hint)
        return NO_LINKS.error("the body has no link", location)

    def root(
        self, name: str, by_name: dict[str, RawLink], location: Location
    ) -> RawLink:
        if not name:
            # Without a root_link the first link is the root.
            return self.links[0]
        if name in by_name:
            return by_name[name]
        message = f"root_link is {name!r:.60}, which is not a link"
        self.found.refuse(rules.ROOT.error(message, location))
        # The first link without a parent stands in.
        for link in self.links:
            if not link.parent:
                return link
        return self.links[0]

    def parent(
        self, link: RawLink, by_name: dict[str, RawLink], root: RawLink
    ) -> RawLink | str:
        """Return the parent of a link that names it."""
        parent = by_name.get(str(link.parent))
        if parent is not None:
            return parent
        if self.is_incomplete and not self.is_faulty:
            # It is probably in the file that is missing: the link is left out with it.
            self.orphans.add(id(link))
            return ""
        if not self.is_faulty:
            name = f"{link.parent!r:.60}"
            message = f"the parent of {link.title} is {name}, which is not a link"
            location = link.node.location_of("parent")
            self.found.refuse(rules.PARENT.error(message, location))
        # A child of the root, so that neither it nor its children are reported as left
        # out.
        link.unknown = link.unknown | {"parent", "translation", "rotation"}
        return root

    def report_loose(self, loose: list[RawLink]) -> None:
        """Report links that are not connected to the root.

        Each that has no parent, and each circle of parents, with the links below.
        """
        tops = _find_tops(loose)
        num_links = Counter(id(tops[id(link)]) for link in loose)
        reported: set[int] = set()
        for link in loose:
            top = tops[id(link)]
            if id(top) not in reported:
                reported.add(id(top))
                self.report_top(top, num_links[id(top)] - len(top))

    def report_top(self, top: list[RawLink], num_below: int) -> None:
        """Report a circle of links, or one without a parent, and the links below."""
        first = top[0]
        location = first.node.location
        more = f", with {counted(num_below, 'link')} below" if num_below else ""
        if isinstance(first.parent, RawLink):
            shown = [link.name[:60] for link in [*top[:MAX_CIRCLE_SHOWN], first]]
            names = " → ".join(shown)
            if len(top) > MAX_CIRCLE_SHOWN:
                names += " …"
            message = (
                f"{names}: these links are parents of each other and are left out{more}"
            )
            hint = "give one of them a parent that is connected to the root"
            location = first.node.location_of("parent")
            self.found.report(UNCONNECTED, message, location, hint=hint)
        elif id(first) in self.orphans:
            message = f"{first.title} is left out{more}: its parent could not be read"
            self.found.report(
                UNCONNECTED, message, location, hint="", severity="warning"
            )
        else:
            message = f"{first.title} has no parent and is left out{more}"
            self.found.report(UNCONNECTED, message, location)


def _find_tops(links: list[RawLink]) -> dict[int, list[RawLink]]:
    """Return by each link the circle above it, or the one link at the top.

    Links below the same top have the same list.
    """
    tops: dict[int, list[RawLink]] = {}
    for link in links:
        path: dict[int, RawLink] = {}
        top = link
        # Up the chain of parents, until a known end, a circle, or a top.
        while id(top) not in tops and id(top) not in path:
            path[id(top)] = top
            if not isinstance(top.parent, RawLink):
                break
            top = top.parent
        # The chain met itself: the circle begins there.
        if id(top) in path:
            circle = list(path).index(id(top))
            tops[id(top)] = list(path.values())[circle:]
        tops |= dict.fromkeys(path, tops[id(top)])
    return tops


def _items(node: Node) -> list[Node]:
    """Return the items of a list; any other node is one item."""
    return node.items if isinstance(node, Sequence) else [node]


def _imported(node: Mapping) -> Mapping:
    """Return a link with the keys that its `import` brings in.

    Keys that it has itself stay.
    """
    # In YAML an anchor of another link.
    source = node.items.get("import")
    if not isinstance(source, Mapping):
        return node
    whole = Mapping(node.text, node.offset)
    whole.offsets = node.offsets
    # Own keys go before imported ones.
    whole.items = {**source.items, **node.items}
    return whole


def _made(
    model: _Model, parts: ReferencedFiles, found: Diagnostics, path: Path
) -> Body:
    """Return the body of a model whose links are in a tree."""
    links = _links(model.tree)
    for link, raw in zip(links, model.tree, strict=True):
        _check_mass(link, raw, found)
    extra_joints = _extra_joints(model, links, found)
    if model.is_incomplete or len(model.tree) < len(model.links):
        found.mark_unknown(("links", "all"), ("devices", "all"))
    devices: list[Device] = []
    for number, raw in enumerate(model.tree):
        devices += [replace(device, link=number) for device, _, _ in raw.devices]
    # Devices of a kind are in the order of their ids.
    order = in_order_of_ids([(device.kind, device.id) for device in devices])
    locations = _locations(model.tree, order, extra_joints, parts.urls, found)
    encoding = getattr(model.document.root.text, "encoding", "")
    return Body(
        name=model.name or path.stem,
        links=links,
        devices=tuple(devices[rank] for rank in order),
        extra_joints=tuple(joint for _, joint in extra_joints),
        root_pose=links[0].offset,
        info={"name": model.name},
        extra=model.extra,
        source=Source("body", path, model.version, encoding, locations=locations),
    )


def _extra_joints(
    model: _Model, links: tuple[Link, ...], found: Diagnostics
) -> list[tuple[RawExtraJoint, ExtraJoint]]:
    """Return the extra joints between links of the body."""
    # Of links with one name the first counts.
    by_name = {link.name: link.index for link in reversed(links)}
    extra_joints: list[tuple[RawExtraJoint, ExtraJoint]] = []
    for raw in model.extra_joints:
        joint = raw.joined(by_name, model.is_incomplete)
        if joint is not None:
            extra_joints.append((raw, joint))
    is_missing = len(extra_joints) < len(model.extra_joints)
    if is_missing or model.extra_joints_missing:
        found.mark_unknown(("extra_joints", "all"))
    return extra_joints


def _links(tree: list[RawLink]) -> tuple[Link, ...]:
    """Return the links with their numbers and parents."""
    numbers = {id(link): number for number, link in enumerate(tree)}
    links: list[Link] = []
    for number, raw in enumerate(tree):
        parent = -1
        if isinstance(raw.parent, RawLink):
            parent = numbers[id(raw.parent)]
        links.append(
            Link(
                name=raw.name,
                index=number,
                parent=parent,
                joint=raw.joint,
                offset=raw.offset,
                segments=raw.segments,
            )
        )
    return tuple(links)


def _check_mass(link: Link, raw: RawLink, found: Diagnostics) -> None:
    """Report a mass that cannot be made of its parts, or that is missing.

    The rules about masses are those on bodies.
    """
    subject: Subject = ("links", link.index)
    keys = ("mass", "center_of_mass", "inertia")
    # Sums of the parts may overflow, although each number is finite.
    numbers = [link.mass, *link.center_of_mass, *link.inertia.flat]
    if not np.isfinite(numbers).all():
        message = (
            f"the mass, center of mass or inertia of {raw.title}, the sum of its "
            "parts, is not finite"
        )
        key = "mass" if "mass" in raw.node.offsets else "inertia"
        hint = "its parts have numbers that are too large"
        found.report(NOT_FINITE, message, raw.node.location_of(key), hint=hint)
        found.mark_unknown(*((*subject, key) for key in keys))
        return
    # A mass that could not be read is reported already.
    is_known = raw.unknown.isdisjoint(keys)
    if raw.mass_unset and link.joint.type != "fixed" and is_known:
        message = f"{raw.title} states no mass; 1 kg is used"
        found.report(rules.MASS_UNSET, message, raw.node.location, subject=subject)


def _locations(
    links: list[RawLink],
    order: list[int],
    extra_joints: list[tuple[RawExtraJoint, ExtraJoint]],
    urls: dict[str, Location],
    found: Diagnostics,
) -> SourceMap:
    """Return where the parts of a body are in their files.

    Mark what could not be read of links, devices and extra joints. `order` is that of
    the devices.
    """
    entries: dict[Subject, Location | Locator] = {
        ("textures", url): location for url, location in urls.items()
    }

    def add(
        subject: Subject,
        keys: dict[str, tuple[str, ...]],
        node: Mapping,
        unknown: set[str],
    ) -> None:
        entries[subject] = locator(node, keys)
        for attribute, names in keys.items():
            if not unknown.isdisjoint(names):
                found.mark_unknown((*subject, attribute))

    devices: list[tuple[Mapping, set[str]]] = []
    for number, link in enumerate(links):
        add(("links", number), KEYS_OF_LINK, link.node, link.unknown)
        devices += [(node, unknown) for _, node, unknown in link.devices]
    for number, rank in enumerate(order):
        add(("devices", number), KEYS_OF_DEVICE, *devices[rank])
    for number, (raw, _) in enumerate(extra_joints):
        fields = raw.fields
        subject: Subject = ("extra_joints", number)
        add(subject, KEYS_OF_EXTRA_JOINT, fields.node, fields.unknown)
    return SourceMap(entries, found.unknown)
