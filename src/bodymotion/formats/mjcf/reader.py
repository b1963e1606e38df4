"""Reading an MJCF model.

Its file with those it includes, and the body that is made of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

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
from bodymotion.formats.kept_json import viewpoints_of
from bodymotion.formats.mjcf import rules
from bodymotion.formats.mjcf.attaching import Attacher
from bodymotion.formats.mjcf.bodies import RawLink, Tree
from bodymotion.formats.mjcf.defaults import (
    ORIENTATIONS,
    Defaults,
    Settings,
    read_settings,
)
from bodymotion.formats.mjcf.devices import DeviceReader
from bodymotion.formats.mjcf.efforts import with_efforts
from bodymotion.formats.mjcf.extra import kept_sections
from bodymotion.formats.mjcf.geoms import Geoms
from bodymotion.formats.mjcf.loops import LoopReader
from bodymotion.formats.mjcf.names import MAX_SIZE, Kept, check_actuators, correct_names
from bodymotion.formats.resources import PART_OUTSIDE, ResourceFinder, file_bytes
from bodymotion.formats.rules import TOO_LARGE
from bodymotion.formats.xml.tree import (
    MISSING,
    Element,
    FieldLocator,
    FieldTable,
    read_xml,
)
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.geometry.rotations import limits_in_radians
from bodymotion.model.body import Body
from bodymotion.model.links import Link, Segment
from bodymotion.model.rules import NO_LINKS, NOT_FINITE

MAX_BYTES = 10**8
MAX_ELEMENTS = 2 * 10**6
MAX_DEPTH = 250
ROOTS = ("mujoco", "mujocoinclude")

# Rules that need the whole model. They report nothing where an included file cannot be
# read.
OF_THE_WHOLE = {
    rule.code for rule in (rules.CLASS, rules.ASSET, rules.REFERENCE, NO_LINKS)
}
# Rules that need the whole <worldbody>.
OF_THE_WORLD = {
    rule.code
    for rule in (rules.OTHER_BODIES, rules.WORLD, rules.WORLD_SHAPES, rules.EQUALITY)
}

# What gives the fields of a link. `joint` and `inertial` are elements of its body, with
# their defaults.
LINK_FIELDS: FieldTable = {
    "name": ("joint@name", "~joint"),
    "type": ("joint@type", "~joint"),
    "axis": ("joint@axis", "~joint"),
    "lower": ("joint@range", "~joint"),
    "upper": ("joint@range", "~joint"),
    "rotor_inertia": ("joint@armature", "~joint"),
    "offset": ("@pos",),
    "rotation": tuple(f"@{name}" for name in ORIENTATIONS),
    "mass": ("inertial@mass", "~inertial"),
    "center_of_mass": ("inertial@pos", "~inertial"),
    "inertia": ("inertial@fullinertia", "inertial@diaginertia", "~inertial"),
}
DEVICE_FIELDS: FieldTable = {
    "name": ("@name",),
    "pose": ("@pos",),
    "field_of_view": ("@fovy",),
    **dict.fromkeys(("width", "height"), ("@resolution",)),
}
EXTRA_JOINT_FIELDS: FieldTable = {"name": ("@name",), "positions": ("@anchor",)}


def read_mjcf(
    path: str | Path, *, allow_outside: bool | None = None
) -> ReadResult[Body]:
    """Read an MJCF model.

    Parameters
    ----------
    path:
        The file.
    allow_outside:
        Open files (included ones, meshes, images) outside of the folder of the model.

    Returns
    -------
    The body, None where the file has none, and all problems. A body with several joints
    is a chain of links of which the last has its name. Joint values are those of
    MuJoCo's qpos (`ref` included).
    """
    path = Path(path)
    try:
        data = file_bytes(path, MAX_BYTES)
    except FormatError as error:
        return ReadResult(None, error.problems, refusal=error.problem)
    return parse_mjcf(data, path, allow_outside=allow_outside)


def parse_mjcf(
    data: bytes, path: Path, *, allow_outside: bool | None = None
) -> ReadResult[Body]:
    """Read a model from the bytes of the file at `path`.

    See `read_mjcf`.
    """
    found = Diagnostics(path)
    body = None
    root = None
    files = _Files(path, ResourceFinder(path.parent, allow_outside, model=path), found)
    # Numbers near the largest there are may overflow on the way; what is not finite in
    # the end is reported.
    with found.recover(), np.errstate(all="ignore"):
        root = files.tree(data)
        if root is not None:
            body = _Reader(root, files, found).body()
    if files.incomplete and root is not None:
        _discard_of_missing(root, files, found)
    result = found.result(body)
    if body is None:
        return result
    return replace(result, value=replace(body, problems=result.problems))


def _discard_of_missing(root: Element, files: _Files, found: Diagnostics) -> None:
    """Remove findings that follow from a missing file.

    It may have the names and bodies that they are about.
    """
    unknown = set(OF_THE_WHOLE)
    if files.included or any(world.partial for world in root.all("worldbody")):
        unknown |= OF_THE_WORLD
    found.discard(problem for problem in found.problems if problem.rule in unknown)


@dataclass
class _Files:
    """Parses a model and the files that it includes.

    `incomplete` where one of them could not be read.
    """

    path: Path
    finder: ResourceFinder
    found: Diagnostics
    included: list[Path] = field(default_factory=list)
    incomplete: bool = False

    def tree(self, data: bytes) -> Element | None:
        """Return the root of a model, with the elements of included files.

        FormatError where it is no MJCF, or too large.
        """
        root = self._parse(data, self.path)
        if root is None:
            return None
        # Resolved, so that a link to a file counts as the file: MuJoCo allows each file
        # once.
        seen = {self.path.resolve()}
        # Elements and how deep they are nested. Included files count too: a few small
        # files could include one another into millions of elements otherwise.
        stack = [(root, 0)]
        count = 0
        while stack:
            element, depth = stack.pop()
            count += 1
            if count > MAX_ELEMENTS or depth > MAX_DEPTH:
                message = (
                    f"more than {MAX_ELEMENTS} elements, or elements nested more than "
                    f"{MAX_DEPTH} deep"
                )
                raise TOO_LARGE.error(message, element.location)
            if any(child.name == "include" for child in element.children):
                children: list[Element] = []
                for child in element.children:
                    if child.name == "include":
                        children += self._contents(child, seen)
                    else:
                        children.append(child)
                element.children = children
                # An included file may include others: look at the same element again.
                stack.append((element, depth))
            else:
                stack += [(child, depth + 1) for child in element.children]
        return root

    def model(self, element: Element) -> Element | None:
        """Return the root of a model that an element names, to be attached.

        None where it cannot be read, which is reported.
        """
        root = None
        with self.found.recover():
            path = self._find(element)
            self.included.append(path)
            files = _Files(path, self.finder, self.found, self.included)
            root = files.tree(file_bytes(path, MAX_BYTES))
        self.incomplete = self.incomplete or root is None
        return root

    def _parse(self, data: bytes, path: Path) -> Element | None:
        root = read_xml(data, path, self.found)
        if root is None:
            self.incomplete = True
        elif root.name not in ROOTS:
            expected = " or ".join(f"<{name}>" for name in ROOTS)
            message = f"the root element is <{root.name:.60}>; expected {expected}"
            raise rules.NOT_MJCF.error(message, root.location)
        return root

    def _contents(self, include: Element, seen: set[Path]) -> list[Element]:
        """Return the elements of an included file."""
        root = None
        with self.found.recover():
            file = self._find(include)
            real = file.resolve()
            if real in seen:
                message = f"{file.name} is included twice, or includes itself"
                raise rules.INCLUDE.error(message, include.location_of("file"))
            seen.add(real)
            self.included.append(file)
            root = self._parse(file_bytes(file, MAX_BYTES), file)
        if root is None:
            self.incomplete = True
            return []
        return root.children

    def _find(self, include: Element) -> Path:
        """Return the file that an element names; FormatError where there is none."""
        name = include.get("file")
        if not name:
            raise MISSING.error(f"<{include.name}> has no file", include.location)
        holder = self.path
        if include.document is not None and include.document.path:
            holder = Path(include.document.path)
        # MuJoCo starts from the folder of the model, then from that of the file that
        # names another.
        file = self.finder.find_one(name, self.path)
        if not isinstance(file, Path) and holder != self.path:
            file = self.finder.find_one(name, holder)
        if isinstance(file, Path):
            return file
        hint = PART_OUTSIDE.hint if file.is_outside else None
        message = f"{name!r:.200} {file.reason}"
        raise rules.INCLUDE.error(message, include.location_of("file"), hint)


class _Reader:
    """Reads the parts of one model, and makes its body."""

    def __init__(self, root: Element, files: _Files, found: Diagnostics) -> None:
        """Attach other models, then read settings, defaults and <custom>."""
        self.root = root
        self.files = files
        self.found = found
        correct_names(root)
        # Attached models first: settings and classes below are of the complete model.
        attacher = Attacher(files.model)
        classes = attacher.attach(root)
        self.settings = replace(read_settings(root), attached=attacher.settings)
        self.defaults = Defaults(root, classes)
        self.kept = Kept()
        for custom in root.all("custom"):
            for text in custom.all("text"):
                self.kept.read(text.get("name"), text.attributes.get("data", ""))
        self.geoms = Geoms(
            root,
            self.settings,
            self.defaults,
            self.kept,
            files.finder,
            files.path,
            found,
        )
        self.tree = Tree(self.settings, self.defaults, self.geoms, self.kept)

    def body(self) -> Body | None:
        """Return the body; None where the model has none."""
        tree = self.tree
        tree.read(self.root)
        # The links come first; devices, loops and efforts refer to them.
        locators = [
            FieldLocator(
                raw.element,
                LINK_FIELDS,
                {"joint": raw.joint_element, "inertial": raw.inertial},
            )
            for raw in tree.links
        ]
        incomplete = self.files.incomplete
        _mark_unknown(tree.links, locators, self.found, incomplete=incomplete)
        _check_unit(tree.links, self.settings)
        links = self._links()
        device_reader = DeviceReader(
            self.settings, self.defaults, self.kept, tree.links
        )
        loop_reader = LoopReader(self.defaults, self.kept, device_reader.sites)
        extra_joints = loop_reader.read(
            self.root, tree.of_body, self._poses_in_file(links), tree.left_out
        )
        devices = device_reader.read(self.root, loop_reader.used_sites, tree.left_out)
        check_actuators(self.root)
        links = with_efforts(links, tree, self.root, self.defaults)
        # What <custom> keeps of the body; values of the file itself take precedence.
        of_body = self.kept.get("body", "")
        extra = kept_sections(self.root, of_body, loop_reader, device_reader, tree)
        if not tree.has_body:
            return None
        entries: dict[Subject, Location | Locator] = {}
        for url, location in self.geoms.assets.images.items():
            entries["textures", url] = location
        for index, locator in enumerate(locators):
            entries["links", index] = locator
        self._add_locators(entries, "devices", devices, DEVICE_FIELDS)
        self._add_locators(entries, "extra_joints", extra_joints, EXTRA_JOINT_FIELDS)
        kept_extra = of_body.get("extra")
        if isinstance(kept_extra, dict):
            extra = {**kept_extra, **extra}
        info = of_body.get("info")
        return Body(
            name=self.root.get("model"),
            links=_of_total_mass(links, self.settings.settotalmass),
            devices=tuple(device for device, _ in devices),
            extra_joints=tuple(joint for joint, _ in extra_joints),
            viewpoints=viewpoints_of(of_body.get("viewpoints")),
            root_pose=tree.root_pose,
            environment=tuple(tree.scenery),
            info=info if isinstance(info, dict) else {},
            extra=extra,
            source=Source(
                "mjcf",
                self.files.path,
                parts=tuple(self.files.included),
                encoding="utf-8",
                options={"motors": "made"} if "motors" in of_body else {},
                locations=SourceMap(entries, self.found.unknown),
            ),
        )

    def _links(self) -> tuple[Link, ...]:
        return tuple(
            Link(
                name=raw.name,
                index=index,
                parent=raw.parent,
                joint=raw.joint,
                offset=raw.offset,
                segments=raw.segments,
            )
            for index, raw in enumerate(self.tree.links)
        )

    def _poses_in_file(self, links: tuple[Link, ...]) -> Floats:
        """Return the poses (L, 7) of the links as they are in the file."""
        body = Body(links=links, root_pose=self.tree.root_pose)
        # (J,) The values of the joints at `ref`, 0 for columns without a link.
        rest = [
            self.tree.links[index].rest if index >= 0 else 0.0
            for index in body.joint_links
        ]
        return body.forward_kinematics(np.array(rest))

    def _add_locators(
        self,
        entries: dict[Subject, Location | Locator],
        kind: str,
        objects: Sequence[tuple[object, Element]],
        table: FieldTable,
    ) -> None:
        """Add where objects are in the file, and mark their unknown fields."""
        for index, (_, element) in enumerate(objects):
            locator = FieldLocator(element, table, {})
            entries[kind, index] = locator
            unknown = [(kind, index, name) for name in locator.unknown()]
            self.found.mark_unknown(*unknown)


def _mark_unknown(
    links: Sequence[RawLink],
    locators: Sequence[FieldLocator],
    found: Diagnostics,
    *,
    incomplete: bool,
) -> None:
    """Mark the fields of links whose numbers could not be read."""
    for index, (raw, locator) in enumerate(zip(links, locators, strict=True)):
        unknown = set(locator.unknown())
        # A fault in the file hides these values: rules must not conclude anything from
        # defaults in their place.
        if raw.element.partial:
            unknown.add("shapes")
        if raw.mass_unknown:
            unknown |= {"mass", "center_of_mass", "inertia"}
        if raw.name_unknown:
            unknown |= {"link_name", "name"}
        if _has_huge_numbers(raw, may_be_nan=bool(unknown)):
            message = (
                f"body {raw.name!r:.60} has a pose, axis or mass that is not finite, "
                f"or larger than {MAX_SIZE:g}"
            )
            raw.element.report(NOT_FINITE, message, fatal=True)
            unknown |= {
                "offset",
                "rotation",
                "axis",
                "mass",
                "center_of_mass",
                "inertia",
            }
        found.mark_unknown(*(("links", index, name) for name in unknown))
    if incomplete:
        found.mark_unknown(("links", "all"))


def _has_huge_numbers(raw: RawLink, *, may_be_nan: bool) -> bool:
    """Return whether a number of a link is not finite, or too large."""
    arrays = [raw.offset, raw.joint.axis]
    for segment in raw.segments:
        arrays += [segment.inertia, segment.center_of_mass, np.array(segment.mass)]
    for numbers in arrays:
        sizes = np.abs(numbers)
        if (sizes >= MAX_SIZE).any():
            return True
        # NaN of an attribute that could not be read was reported there.
        if not may_be_nan and np.isnan(sizes).any():
            return True
    return False


def _check_unit(links: Sequence[RawLink], settings: Settings) -> None:
    """Report angles in degrees that look like radians.

    All limits are small, and not whole numbers of a few joints.
    """
    # MJCF's default is degrees: limits in radians without angle="radian" are tiny.
    if settings.angle == 1.0:
        return
    limited = [
        link
        for link in links
        if link.joint.type == "rotate"
        and np.isfinite([link.joint.lower, link.joint.upper]).all()
    ]
    if not limited:
        return
    radians = np.array([[link.joint.lower, link.joint.upper] for link in limited])
    limits = radians / settings.angle
    widest = limits_in_radians(limits)
    if widest is None:
        return
    link = limited[widest]
    which = "the limits of all joints are"
    if len(limited) == 1:
        which = f"the limits of joint {link.joint.name!r:.60} are"
    largest = np.abs(limits).max()
    message = f"{which} within ±{largest:.4g} degrees: are radians meant?"
    element = link.joint_element or link.element
    element.report(rules.RADIANS, message, "range")


def _of_total_mass(links: tuple[Link, ...], total: float) -> tuple[Link, ...]:
    """Return the links with masses scaled to a total.

    Where the compiler has settotalmass.
    """
    sum_of_all = sum(link.mass for link in links)
    if not (total > 0 and sum_of_all > 0):
        return links
    # MuJoCo scales inertias with masses; centres stay.
    share = total / sum_of_all
    scaled = []
    for link in links:
        segments = tuple(_scaled_mass(segment, share) for segment in link.segments)
        scaled.append(replace(link, segments=segments))
    return tuple(scaled)


def _scaled_mass(segment: Segment, share: float) -> Segment:
    return replace(
        segment, mass=segment.mass * share, inertia=frozen(segment.inertia * share)
    )
