"""Reading an MJCF model.

Its file with those it includes, and the body that is made of them.
"""

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
from bodymotion.formats.mjcf.extra import plain_sections, with_efforts
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
from bodymotion.geometry.arrays import frozen
from bodymotion.geometry.rotations import limits_in_radians
from bodymotion.model.body import Body
from bodymotion.model.links import Link, Segment
from bodymotion.model.rules import NO_LINKS, NOT_FINITE

MAX_BYTES = 10**8
MAX_ELEMENTS = 2 * 10**6
MAX_DEPTH = 250
ROOTS = ("mujoco", "mujocoinclude")

OF_THE_WHOLE = {
    rule.code for rule in (rules.CLASS, rules.ASSET, rules.REFERENCE, NO_LINKS)
}
"""Rules that need the whole model.

They report nothing where a part of it cannot be read.
"""
OF_THE_WORLD = {
    rule.code
    for rule in (rules.OTHER_BODIES, rules.WORLD, rules.WORLD_SHAPES, rules.EQUALITY)
}
"""Rules that need the whole <worldbody>."""

LINK_FIELDS: FieldTable = {
    **{name: (f"joint@{name}", "~joint") for name in ("name", "type", "axis")},
    **dict.fromkeys(("lower", "upper"), ("joint@range", "~joint")),
    "rotor_inertia": ("joint@armature", "~joint"),
    "offset": ("@pos",),
    "rotation": tuple(f"@{name}" for name in ORIENTATIONS),
    "mass": ("inertial@mass", "~inertial"),
    "center_of_mass": ("inertial@pos", "~inertial"),
    "inertia": ("inertial@fullinertia", "inertial@diaginertia", "~inertial"),
}
"""What gives the fields of a link.

`joint` and `inertial` are elements of its body, with their defaults.
"""
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
    body = root = None
    files = _Files(path, ResourceFinder(path.parent, allow_outside, model=path), found)
    # Numbers near the largest there are may overflow on the way; what is not finite in
    # the end is reported.
    with found.recover(), np.errstate(all="ignore"):
        root = files.tree(data)
        if root is not None:
            body = _read(root, files, found)
    world = (
        root is not None
        and not files.included
        and not any(world.partial for world in root.all("worldbody"))
    )
    if world:
        unknown = OF_THE_WHOLE
    else:
        unknown = OF_THE_WHOLE | OF_THE_WORLD
    found.discard(
        problem
        for problem in found.problems
        if files.incomplete and problem.rule in unknown
    )
    result = found.result(body)
    return replace(
        result, value=None if body is None else replace(body, problems=result.problems)
    )


@dataclass
class _Files:
    """Parses a model and the files that it includes.

    `incomplete` where one of them could not be read as a whole.
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
        seen = {self.path.resolve()}
        if root is not None:
            stack = [(root, 0)]
        else:
            stack = []
        count = 0
        while stack:
            element, depth = stack.pop()
            count += 1
            if count > MAX_ELEMENTS or depth > MAX_DEPTH:
                message = f"more than {MAX_ELEMENTS} elements, or elements nested more than {MAX_DEPTH} deep"
                raise TOO_LARGE.error(message, element.location)
            if any(child.name == "include" for child in element.children):
                children: list[Element] = []
                for child in element.children:
                    children += (
                        self._contents(child, seen)
                        if child.name == "include"
                        else [child]
                    )
                element.children = children
                # An included file may include others: look at the same element again.
                stack.append((element, depth))
                continue
            stack += [(child, depth + 1) for child in element.children]
        return root

    def model(self, element: Element) -> Element | None:
        """Return the root of a model that an element names, to be attached.

        None where it cannot be read, which is reported.
        """
        try:
            path = self._find(element)
            self.included.append(path)
            files = _Files(path, self.finder, self.found, self.included)
            root = files.tree(file_bytes(path, MAX_BYTES))
        except FormatError as error:
            self.found.add(error.problem, fatal=True)
            root = None
        self.incomplete = self.incomplete or root is None
        return root

    def _parse(self, data: bytes, path: Path) -> Element | None:
        root = read_xml(data, path, self.found)
        if root is None:
            self.incomplete = True
        if root is not None and root.name not in ROOTS:
            message = f"the root element is <{root.name:.60}>; expected {' or '.join(f'<{name}>' for name in ROOTS)}"
            raise rules.NOT_MJCF.error(message, root.location)
        return root

    def _contents(self, include: Element, seen: set[Path]) -> list[Element]:
        try:
            file = self._find(include)
            real = file.resolve()
            if real in seen:
                message = f"{file.name} is included twice, or includes itself"
                raise rules.INCLUDE.error(message, include.location_of("file"))
            seen.add(real)
            self.included.append(file)
            root = self._parse(file_bytes(file, MAX_BYTES), file)
        except FormatError as error:
            self.found.add(error.problem, fatal=True)
            root = None
        self.incomplete = self.incomplete or root is None
        return [] if root is None else root.children

    def _find(self, include: Element) -> Path:
        name = include.get("file")
        if not name:
            raise MISSING.error(f"<{include.name}> has no file", include.location)
        document = include.document
        if document is not None and document.path:
            holder = Path(document.path)
        else:
            holder = self.path
        # MuJoCo starts from the folder of the model, then from that of the file that
        # names another.
        file = self.finder.find_one(name, self.path)
        if not isinstance(file, Path) and holder != self.path:
            file = self.finder.find_one(name, holder)
        if isinstance(file, Path):
            return file
        hint = PART_OUTSIDE.hint if file.is_outside else None
        raise rules.INCLUDE.error(
            f"{name!r:.200} {file.reason}", include.location_of("file"), hint
        )


def _read(root: Element, files: _Files, found: Diagnostics) -> Body | None:
    correct_names(root)
    attacher = Attacher(files.model)
    classes = attacher.attach(root)
    settings = replace(read_settings(root), attached=attacher.settings)
    defaults = Defaults(root, classes)
    kept = Kept()
    for custom in root.all("custom"):
        for text in custom.all("text"):
            kept.read(text.get("name"), text.attributes.get("data", ""))
    geoms = Geoms(root, settings, defaults, kept, files.finder, files.path, found)
    tree = Tree(settings, defaults, geoms, kept)
    tree.read(root)
    locators = [
        FieldLocator(
            raw.element,
            LINK_FIELDS,
            {"joint": raw.joint_element, "inertial": raw.inertial},
        )
        for raw in tree.links
    ]
    _mark_unknown(tree.links, locators, found, incomplete=files.incomplete)
    _check_unit(tree.links, settings)
    links = tuple(
        Link(
            name=raw.name,
            index=i,
            parent=raw.parent,
            joint=raw.joint,
            offset=raw.offset,
            segments=raw.segments,
        )
        for i, raw in enumerate(tree.links)
    )
    devices = DeviceReader(settings, defaults, kept, tree.links)
    loops = LoopReader(defaults, kept, devices.sites)
    body = Body(links=links, root_pose=tree.root_pose)
    rest = [tree.links[index].rest if index >= 0 else 0.0 for index in body.joint_links]
    extra_joints = loops.read(
        root, tree.of_body, body.forward_kinematics(np.array(rest)), tree.left_out
    )
    carried = devices.read(root, loops.used_sites, tree.left_out)
    of_body = kept.get("body", "")
    check_actuators(root)
    links = with_efforts(links, tree, root, defaults)
    extra = plain_sections(root, of_body, loops, devices, tree)
    own = of_body.get("extra")
    info = of_body.get("info")
    if not tree.has_body:
        return None
    entries: dict[Subject, Location | Locator] = {
        **{("textures", url): location for url, location in geoms.images.items()},
        **{("links", k): locator for k, locator in enumerate(locators)},
        **{
            ("devices", k): FieldLocator(element, DEVICE_FIELDS, {})
            for k, (_, element) in enumerate(carried)
        },
        **{
            ("extra_joints", k): FieldLocator(e, EXTRA_JOINT_FIELDS, {})
            for k, (_, e) in enumerate(extra_joints)
        },
    }
    for kind, locate in entries.items():
        if kind[0] != "links" and isinstance(locate, FieldLocator):
            found.mark_unknown(*((*kind, name) for name in locate.unknown()))
    return Body(
        name=root.get("model"),
        links=_of_total_mass(links, settings.settotalmass),
        devices=tuple(device for device, _ in carried),
        extra_joints=tuple(joint for joint, _ in extra_joints),
        viewpoints=viewpoints_of(of_body.get("viewpoints")),
        root_pose=tree.root_pose,
        environment=tuple(tree.scenery),
        info=info if isinstance(info, dict) else {},
        extra={**own, **extra} if isinstance(own, dict) else extra,
        source=Source(
            "mjcf",
            files.path,
            parts=tuple(files.included),
            encoding="utf-8",
            options={"motors": "made"} if "motors" in of_body else {},
            locations=SourceMap(entries, found.unknown),
        ),
    )


def _mark_unknown(
    links: Sequence[RawLink],
    locators: Sequence[FieldLocator],
    found: Diagnostics,
    *,
    incomplete: bool,
) -> None:
    for index, (raw, locator) in enumerate(zip(links, locators, strict=True)):
        unknown = set(locator.unknown())
        if raw.element.partial:
            unknown.add("shapes")
        if raw.mass_unknown:
            unknown |= {"mass", "center_of_mass", "inertia"}
        if raw.name_unknown:
            unknown |= {"link_name", "name"}
        masses = [
            np.append(s.inertia.ravel(), [s.mass, *s.center_of_mass])
            for s in raw.segments
        ]
        sizes = [np.abs(numbers) for numbers in (raw.offset, raw.joint.axis, *masses)]
        # What is unknown is NaN.
        if any(
            (size >= MAX_SIZE).any() if unknown else not (size < MAX_SIZE).all()
            for size in sizes
        ):
            message = f"body {raw.name!r:.60} has a pose, axis or mass that is not finite, or larger than {MAX_SIZE:g}"
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


def _check_unit(links: Sequence[RawLink], settings: Settings) -> None:
    """Report angles in degrees that look like radians.

    All limits are small, and not whole numbers of a few joints.
    """
    turning = [link for link in links if link.joint.type == "rotate"]
    limited = [
        link
        for link in turning
        if np.isfinite([link.joint.lower, link.joint.upper]).all()
    ]
    limits = (
        np.array([[link.joint.lower, link.joint.upper] for link in limited])
        / settings.angle
    )
    if settings.angle != 1.0 and limited:
        widest = limits_in_radians(limits)
    else:
        widest = None
    if widest is None:
        return
    link = limited[widest]
    largest = np.abs(limits).max()
    element = link.joint_element or link.element
    if len(limited) == 1:
        which = f"the limits of joint {link.joint.name!r:.60} are"
    else:
        which = "the limits of all joints are"
    element.report(
        rules.RADIANS,
        f"{which} within ±{largest:.4g} degrees: are radians meant?",
        "range",
    )


def _of_total_mass(links: tuple[Link, ...], total: float) -> tuple[Link, ...]:
    """Return the links with masses scaled to a total, where the compiler has settotalmass."""
    sum_of_all = sum(link.mass for link in links)
    if not (total > 0 and sum_of_all > 0):
        return links
    share = total / sum_of_all

    def scaled(segment: Segment) -> Segment:
        return replace(
            segment, mass=segment.mass * share, inertia=frozen(segment.inertia * share)
        )

    return tuple(
        replace(link, segments=tuple(map(scaled, link.segments))) for link in links
    )
