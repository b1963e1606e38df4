"""Read a .body file to a Body, with all faults.

Its header, its links in a tree, with those of the files that it has as SubBodies.
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
from bodymotion.model.links import MAX_LINKS, Link, in_order_of_ids
from bodymotion.model.rules import NO_LINKS, NOT_FINITE, UNCONNECTED

MAX_FILES = 1_000  # Files of one model.
MAX_KEYS = 1_000_000  # Keys of all links of a file, those that aliases repeat counted as often as they are read.
MAX_SUB_BODY_DEPTH = 16
MAX_CIRCLE_SHOWN = 10  # Links of a circle of parents that are named.

HEADER_KEYS = (
    "format",
    "format_version",
    "angle_unit",
    "name",
    "root_link",
    "links",
    "extra_joints",
    "foot_links",
)
"""The keys of the top node, and one of plugins that is almost one of them."""
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
    found = Diagnostics(path)
    parts = ReferencedFiles(ResourceFinder(path.parent, allow_outside, model=path))
    loader = _ModelLoader(parts, path)
    body = None
    # Numbers near the largest there are may overflow on the way; results that are not
    # finite are reported.
    with np.errstate(all="ignore"):
        try:
            model = _Model(open_text(data, path, found), loader, found).read()
            if model.tree:
                body = _made(model, parts, found, path)
        except FormatError as error:
            found.refuse(error)
    loader.models.clear()  # they refer to the loader: such a cycle keeps meshes in memory until the next collection of garbage
    found.extend(parts.problems)
    result = found.result(body)
    return replace(
        result, value=None if body is None else replace(body, problems=result.problems)
    )


class _ModelLoader:
    def __init__(self, parts: ReferencedFiles, path: Path) -> None:
        self.parts = parts
        self.models: dict[Path, _Model | None] = {}
        self._open = [path.resolve()]

    def sub_body(self, fields: Fields, found: Diagnostics) -> _Model | None:
        uri = fields.text("uri")
        where = fields.location("uri")
        path = find_file(uri, fields.node, self.parts.finder)
        if isinstance(path, NotFound):
            # That a file outside is not opened is a rule of our own, and is reported as
            # such.
            if path.rule is PART_OUTSIDE:
                found.add(path.problem(where))
            else:
                if path.rule is PART_REMOTE:
                    hint = path.rule.hint
                else:
                    hint = None
                found.report(
                    rules.SUB_BODY,
                    f"{path.message}: the SubBody is left out",
                    where,
                    hint=hint,
                )
            return None
        if path in self._open or len(self._open) >= MAX_SUB_BODY_DEPTH:
            if path in self._open:
                reason = "contains itself"
            else:
                reason = f"is nested more than {MAX_SUB_BODY_DEPTH} deep"
            fields.report(rules.SUB_BODY, f"{path.name} {reason}: left out", "uri")
            return None
        if path not in self.models:
            self.models[path] = None
            self._open.append(path)
            # The model is whole without a faulty SubBody.
            own = Diagnostics(path)
            model = None
            with own.recover():
                if len(self.models) > MAX_FILES:
                    raise TOO_LARGE.error(f"the model has more than {MAX_FILES} files")
                model = _Model(
                    open_text(file_bytes(path, MAX_BYTES), path, own), self, own
                ).read()
            self._open.pop()
            found.extend(own.problems)
            if own.refusal is None:
                self.models[path] = model
            else:
                found.report(rules.SUB_BODY, f"{path.name} is left out", where)
        return self.models[path]


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
        root = self.document.root
        if not isinstance(root, Mapping):
            raise rules.NOT_A_BODY.error("the top node is not a mapping", root.location)
        header = Fields(root, self.context, "the body")
        header.report_misspelt(HEADER_KEYS, as_meant=("links",))
        self.version = self.header(header)
        links = header.find("links")
        header.find("root_link", "name", "extra_joints")
        header.report_misspelt(HEADER_KEYS)
        if links is None:
            raise NO_LINKS.error("the file has no links", root.location)
        for node in links.items if isinstance(links, Sequence) else [links]:
            self.link(node)
        self.check_ranges(root.location.path)
        closed = header.find("extra_joints")
        for node in (
            closed.items
            if isinstance(closed, Sequence)
            else []
            if closed is None
            else [closed]
        ):
            extra_joint = None
            with self.found.recover():
                if not isinstance(node, Mapping):
                    header.refuse("extra_joints", "a list of mappings", node)
                extra_joint = read_extra_joint(
                    Fields(node, self.context, "an extra joint")
                )
            self.extra_joints += [] if extra_joint is None else [extra_joint]
            self.extra_joints_missing |= extra_joint is None
        self.name = header.text("name")
        wanted = header.text("root_link")
        self.tree = self.in_tree(
            wanted, header.location("root_link" if wanted else "links")
        )
        self.extra |= header.rest(("format", "links"))
        self.is_incomplete |= self.is_faulty
        return self

    def header(self, header: Fields) -> str:
        kind = header.text("format")
        if kind != "ChoreonoidBody":
            if kind or not header.has("links"):
                if kind:
                    wrong = f"format is {kind!r:.60}, not 'ChoreonoidBody'"
                else:
                    wrong = "there is no format, and no links"
                error = rules.NOT_A_BODY.error(wrong, header.location("format"))
                if not meant(kind, ("ChoreonoidBody",)):
                    raise error
                self.found.refuse(error)
            else:
                header.report(rules.NOT_A_BODY, "the file has no format")
        version = header.text("format_version")
        if version:
            number = header.number("format_version", default=1.0)
            if number not in (1.0, 2.0):
                header.report(
                    rules.VERSION,
                    f"format_version is {version:.60}; expected 1.0 or 2.0",
                    "format_version",
                )
            if number >= 2.0 and header.text("angle_unit") == "radian":
                header.report(
                    rules.ANGLE_UNIT,
                    f"angle_unit is radian in version {version:.60}",
                    "angle_unit",
                )
        self.context.angle_unit = angle_unit(header, self.context.angle_unit)
        return version

    def check_ranges(self, path: str | None) -> None:
        """Report that the ranges of all joints in degrees are small, and no whole numbers or many.

        They look like radians.
        """
        unit = self.context.angle_unit
        limited = [
            link
            for link in self.links
            if link.joint.type == "rotate" and link.node.location.path == path
            if np.isfinite([link.joint.lower, link.joint.upper]).all()
            and link.joint.upper > link.joint.lower
        ]
        limits = (
            np.array([[link.joint.lower, link.joint.upper] for link in limited]) / unit
        )
        if unit != 1.0 and limited:
            widest = limits_in_radians(limits)
        else:
            widest = None
        if widest is not None:
            largest = np.abs(limits).max()
            if len(limited) == 1:
                ranges = "range of the only joint is"
            else:
                ranges = f"ranges of all {len(limited)} joints are"
            message = f"the {ranges} within ±{largest:.4g} degrees"
            self.found.report(
                rules.DEGREES, message, limited[widest].node.location_of("joint_range")
            )

    def link(self, node: Node) -> None:
        self.visited += 1 + (len(node.items) if isinstance(node, Mapping) else 0)
        if self.visited > MAX_KEYS or len(self.links) > MAX_LINKS:
            raise TOO_LARGE.error(
                f"the body has more than {MAX_LINKS} links", node.location
            )
        if isinstance(node, Sequence):
            # An alias may stand for several links.
            for item in node.items:
                self.link(item)
            return
        try:
            self.one_link(node)
        except FormatError as error:
            self.found.refuse(error)
            self.is_faulty = True

    def one_link(self, node: Node) -> None:
        if not isinstance(node, Mapping):
            raise WRONG_VALUE.error("a link must be a mapping", node.location)
        fields = Fields(_imported(node), self.context, "a link without a name")
        fields.report_misspelt(LINK_KEYS, as_meant=("name", "parent", "elements"))
        name = fields.node.items.get("name")
        title = fields.title = (
            label("link", name)
            if isinstance(name, Scalar) and name.value
            else fields.title
        )
        kind = fields.text("type", default="Link")
        if not (known := kind in LINK_TYPES):
            message = f"{title} has the type {kind!r:.60}, expected one of Link, SubBody, ContinuousTrack and Skip"
            self.found.refuse(rules.LINK_TYPE.error(message, fields.location("type")))
            self.is_faulty = True  # It may stand for several links, or for none.
        match kind if known else meant(kind, LINK_TYPES):
            case "SubBody":
                fields.title = f"the SubBody {fields.text('uri')!r:.60}"
                self.sub_body(fields)
            case "ContinuousTrack":
                self.links += read_track(fields, self.elements)
            case "Skip" | "SkipLink":
                return
            case _:
                link = read_link(fields, self.elements)
                if known or link.parent or not self.links:
                    link.mass_unset &= known
                    self.links.append(link)

    def sub_body(self, fields: Fields) -> None:
        model = self.loader.sub_body(fields, self.found)
        prefix = fields.text("prefix")
        suffix = fields.text("suffix")
        device_prefix = fields.text("device_prefix")
        id_offset = fields.integer("joint_id_offset", default=0)
        if model is None or not model.tree:
            self.is_incomplete = True
            return
        self.is_incomplete |= model.is_incomplete
        copies = {id(link): replace(link, parent="") for link in model.tree}
        for original in model.tree:
            link = copies[id(original)]
            if isinstance(original.parent, RawLink):
                link.parent = copies[id(original.parent)]
            if link.joint.id >= 0:
                joint_id = link.joint.id + id_offset
            else:
                joint_id = -1
            link.name = f"{prefix}{link.name}{suffix}"
            link.joint = replace(
                link.joint, name=f"{prefix}{link.joint.name}{suffix}", id=joint_id
            )
            link.devices = tuple(
                (replace(d, name=f"{device_prefix}{d.name}"), n, u)
                for d, n, u in link.devices
            )
            self.links.append(link)
        change_link(fields, copies[id(model.tree[0])], self.elements)
        self.extra_joints += [
            joint.renamed(prefix, suffix) for joint in model.extra_joints
        ]
        self.extra = {**self.extra, **model.extra}

    def in_tree(self, wanted: str, where: Location) -> list[RawLink]:
        """Return the links depth first, each with its parent."""
        if not self.links and self.found.refusal is not None:
            return []
        if not self.links:
            if self.is_incomplete:
                reasons = (*self.loader.parts.problems, *self.found.problems)
            else:
                reasons = ()
            reason = next(
                (problem for problem in reasons if problem.severity != "note"), None
            )
            if reason is not None:
                raise NO_LINKS.error(
                    f"the body has no link: {reason.message}", where, reason.hint
                )
            raise NO_LINKS.error("the body has no link", where)
        by_name = {link.name: link for link in reversed(self.links)}
        if wanted:
            root = by_name.get(wanted)
        else:
            root = self.links[0]
        if root is None:
            self.found.refuse(
                rules.ROOT.error(
                    f"root_link is {wanted!r:.60}, which is not a link", where
                )
            )
            root = next((link for link in self.links if not link.parent), self.links[0])
        if root.parent:
            self.found.report(
                rules.ROOT,
                f"{root.title} has a parent",
                root.node.location_of("parent"),
            )
            root.parent = ""
        children: dict[int, list[RawLink]] = {}
        for link in self.links:
            if isinstance(link.parent, str) and link.parent:
                link.parent = self.parent(link, by_name, root)
            if isinstance(link.parent, RawLink):
                children.setdefault(id(link.parent), []).append(link)
        ordered = []
        stack = [root]
        while stack:
            link = stack.pop()
            ordered.append(link)
            stack += reversed(children.get(id(link), []))
        in_tree = {id(link) for link in ordered}
        self.report_loose([link for link in self.links if id(link) not in in_tree])
        return ordered

    def parent(
        self, link: RawLink, by_name: dict[str, RawLink], root: RawLink
    ) -> RawLink | str:
        found = by_name.get(str(link.parent))
        if found is not None:
            return found
        if self.is_incomplete and not self.is_faulty:
            # It is probably in the file that is missing: the link is left out with it.
            self.orphans.add(id(link))
            return ""
        if not self.is_faulty:
            message = f"the parent of {link.title} is {link.parent!r:.60}, which is not a link"
            self.found.refuse(
                rules.PARENT.error(message, link.node.location_of("parent"))
            )
        # A child of the root, so that neither it nor its children are reported as left
        # out.
        link.unknown = link.unknown | {"parent", "translation", "rotation"}
        return root

    def report_loose(self, loose: list[RawLink]) -> None:
        """Report links that are not connected to the root.

        Each that has no parent, and each circle of parents, with the links below.
        """
        tops: dict[int, list[RawLink]] = {}
        """By each link, the circle above it, or the one link at the top."""
        for link in loose:
            way: dict[int, RawLink] = {}
            at = link
            while id(at) not in tops and id(at) not in way:
                way[id(at)] = at
                if not isinstance(at.parent, RawLink):
                    break
                at = at.parent
            if id(at) in way:
                tops[id(at)] = list(way.values())[list(way).index(id(at)) :]
            tops |= dict.fromkeys(way, tops[id(at)])
        below = Counter(id(tops[id(link)]) for link in loose)
        for top in {id(tops[id(link)]): tops[id(link)] for link in loose}.values():
            others = below[id(top)] - len(top)
            if others:
                more = f", with {counted(others, 'link')} below"
            else:
                more = ""
            if isinstance(top[0].parent, RawLink):
                names = " → ".join(
                    one.name[:60] for one in [*top[:MAX_CIRCLE_SHOWN], top[0]]
                )
                names += " …" if len(top) > MAX_CIRCLE_SHOWN else ""
                message = f"{names}: these links are parents of each other and are left out{more}"
                hint = "give one of them a parent that is connected to the root"
                self.found.report(
                    UNCONNECTED, message, top[0].node.location_of("parent"), hint=hint
                )
            elif id(top[0]) in self.orphans:
                message = (
                    f"{top[0].title} is left out{more}: its parent could not be read"
                )
                self.found.report(
                    UNCONNECTED,
                    message,
                    top[0].node.location,
                    hint="",
                    severity="warning",
                )
            else:
                self.found.report(
                    UNCONNECTED,
                    f"{top[0].title} has no parent and is left out{more}",
                    top[0].node.location,
                )


def _imported(node: Mapping) -> Mapping:
    """Return a link with the keys that its `import` brings in, where it does not have them itself."""
    source = node.items.get("import")
    if not isinstance(source, Mapping):
        return node
    whole = Mapping(node.text, node.offset)
    whole.offsets = node.offsets
    whole.items = {**source.items, **node.items}
    return whole


def _made(
    model: _Model, parts: ReferencedFiles, found: Diagnostics, path: Path
) -> Body:
    numbers = {id(link): number for number, link in enumerate(model.tree)}
    links = tuple(
        Link(
            name=raw.name,
            index=number,
            parent=-1 if isinstance(raw.parent, str) else numbers[id(raw.parent)],
            joint=raw.joint,
            offset=raw.offset,
            segments=raw.segments,
        )
        for number, raw in enumerate(model.tree)
    )
    by_name = {link.name: link.index for link in reversed(links)}
    for number, raw in enumerate(model.tree):
        _check_mass(links[number], raw, found)
    joined = [
        (raw, raw.joined(by_name, model.is_incomplete)) for raw in model.extra_joints
    ]
    extra_joints = [(raw, joint) for raw, joint in joined if joint is not None]
    if len(extra_joints) < len(joined) or model.extra_joints_missing:
        found.mark_unknown(("extra_joints", "all"))
    if model.is_incomplete or len(model.tree) < len(model.links):
        found.mark_unknown(("links", "all"), ("devices", "all"))
    devices = [
        replace(device, link=number)
        for number, raw in enumerate(model.tree)
        for device, _, _ in raw.devices
    ]
    order = in_order_of_ids([(device.kind, device.id) for device in devices])
    locations = _locations(model.tree, order, extra_joints, parts.urls, found)
    encoding = getattr(model.document.root.text, "encoding", "")
    return Body(
        name=model.name or path.stem,
        links=links,
        devices=tuple(devices[place] for place in order),
        extra_joints=tuple(joint for _, joint in extra_joints),
        root_pose=links[0].offset,
        info={"name": model.name},
        extra=model.extra,
        source=Source("body", path, model.version, encoding, locations=locations),
    )


def _check_mass(link: Link, raw: RawLink, found: Diagnostics) -> None:
    """Report a mass that cannot be made of its parts, or that is missing.

    The rules about masses are those on bodies.
    """
    subject: Subject = ("links", link.index)
    if not np.isfinite([link.mass, *link.center_of_mass, *link.inertia.flat]).all():
        message = f"the mass, center of mass or inertia of {raw.title}, the sum of its parts, is not finite"
        where = raw.node.location_of(
            "mass" if "mass" in raw.node.offsets else "inertia"
        )
        found.report(
            NOT_FINITE, message, where, hint="its parts have numbers that are too large"
        )
        found.mark_unknown(
            *((*subject, key) for key in ("mass", "center_of_mass", "inertia"))
        )
    elif (
        raw.mass_unset
        and link.joint.type != "fixed"
        and not raw.unknown & {"mass", "center_of_mass", "inertia"}
    ):
        found.report(
            rules.MASS_UNSET,
            f"{raw.title} states no mass; 1 kg is used",
            raw.node.location,
            subject=subject,
        )


def _locations(
    links: list[RawLink],
    order: list[int],
    extra_joints: list[tuple[RawExtraJoint, ExtraJoint]],
    urls: dict[str, Location],
    found: Diagnostics,
) -> SourceMap:
    """Return where links, devices, extra joints and images are in their files, and mark what could not be read of them."""
    entries: dict[Subject, Location | Locator] = {
        ("textures", url): location for url, location in urls.items()
    }
    devices = [(node, unknown) for link in links for _, node, unknown in link.devices]
    for name, keys, nodes in (
        ("links", KEYS_OF_LINK, [(link.node, link.unknown) for link in links]),
        ("devices", KEYS_OF_DEVICE, [devices[place] for place in order]),
        (
            "extra_joints",
            KEYS_OF_EXTRA_JOINT,
            [(raw.fields.node, raw.fields.unknown) for raw, _ in extra_joints],
        ),
    ):
        for number, (node, unknown) in enumerate(nodes):
            entries[name, number] = locator(node, keys)
            found.mark_unknown(
                *(
                    (name, number, key)
                    for key, names in keys.items()
                    if unknown.intersection(names)
                )
            )
    return SourceMap(entries, found.unknown)
