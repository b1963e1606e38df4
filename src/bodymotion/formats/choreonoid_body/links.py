"""The links of a file, one by one: what each says of itself, before they are put together into a tree."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.formats.choreonoid_body import rules
from bodymotion.formats.choreonoid_body.document import Sequence
from bodymotion.formats.choreonoid_body.fields import camel
from bodymotion.formats.choreonoid_body.joints import JOINT_KEYS, axis, read_joint
from bodymotion.formats.choreonoid_body.masses import MASS_KEYS, read_mass
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.model.links import Joint, Segment

if TYPE_CHECKING:
    from bodymotion.diagnostics import Location
    from bodymotion.formats.choreonoid_body.document import Mapping
    from bodymotion.formats.choreonoid_body.elements import ElementReader, LinkParts
    from bodymotion.formats.choreonoid_body.fields import Fields
    from bodymotion.model.devices import Device

__all__ = ["LINK_KEYS", "RawLink", "changed_link", "read_link", "read_track"]

LINK_KEYS = ("type", "name", "parent", "translation", "rotation", "elements", "import", *JOINT_KEYS, *MASS_KEYS)
MOST_TRACK_LINKS = 2_000


@dataclass
class RawLink:
    """A link that has no number yet; `parent` is the link itself where it is known, else its name, "" for none."""

    name: str
    parent: RawLink | str
    joint: Joint
    position: tuple[float, ...]
    turn: tuple[float, ...]
    node: Mapping
    segments: list[Segment] = field(default_factory=list)
    devices: list[Device] = field(default_factory=list)
    device_nodes: list[Mapping] = field(default_factory=list)
    mass_unset: bool = False
    mass_misspelt: bool = False

    @property
    def location(self) -> Location:
        """Where the link stands."""
        return self.node.location

    def place(self, *names: str) -> Location:
        """Return the place of the first of several keys that the link has, in whatever spelling; else that of the link."""
        spellings = (spelling for name in names for spelling in (name, camel(name)))
        key = next((spelling for spelling in spellings if spelling in self.node.places), None)
        return self.location if key is None else self.node.location_of(key)

    @property
    def offset(self) -> Floats:
        """The pose (7,) in the parent."""
        return frozen(np.array([*self.position, *self.turn]))

    @property
    def title(self) -> str:
        """What to call the link in a message."""
        return f"link {self.name!r}" if self.name else "a link without a name"

    def copy(self) -> RawLink:
        """Return a link of its own with the same contents, without parent."""
        segments, devices, nodes = list(self.segments), list(self.devices), list(self.device_nodes)
        return replace(self, parent="", segments=segments, devices=devices, device_nodes=nodes)


def read_link(fields: Fields, elements: ElementReader) -> RawLink:
    """Read a link.

    Raises
    ------
    FormatError
        When a value is none that its key can have.
    """
    name = _name(fields)
    link = RawLink(
        name=name,
        parent=fields.text("parent"),
        joint=read_joint(fields, name),
        position=fields.translation() or (0.0, 0.0, 0.0),
        turn=fields.rotation() or (1.0, 0.0, 0.0, 0.0),
        node=fields.node,
    )
    parts = elements.read(fields.find("elements"), fields.title)
    fields.find("type", "import")
    _fill(link, fields, parts)
    link.mass_misspelt = bool(fields.warn_of_misspelt(LINK_KEYS) & set(MASS_KEYS))
    link.joint = replace(link.joint, extra={**link.joint.extra, **fields.rest()})
    return link


def _name(fields: Fields) -> str:
    name = fields.text("name")
    if not name:
        fields.tell(rules.NO_NAME, "a link has no name")
    return name


def _fill(link: RawLink, fields: Fields, parts: LinkParts) -> None:
    """Put segments and devices into a link: its own mass and shapes come first, then its RigidBodies."""
    visuals = tuple(d.shape for d in parts.drawn if d.visual)
    collisions = tuple(d.shape for d in parts.drawn if d.collision)
    given = fields.has("mass") or fields.has("inertia") or fields.has("center_of_mass")
    if given or not parts.segments:
        mass, center, inertia = read_mass(fields) if given else (1.0, frozen(np.zeros(3)), frozen(np.eye(3)))
        link.mass_unset = not given
        own = Segment(mass=mass, center_of_mass=center, inertia=inertia, visuals=visuals, collisions=collisions)
        link.segments.append(own)
    elif visuals or collisions:
        link.segments.append(Segment(visuals=visuals, collisions=collisions))
    link.segments += parts.segments
    link.devices += parts.devices
    link.device_nodes += parts.device_nodes


def changed_link(fields: Fields, root: RawLink, elements: ElementReader) -> None:
    """Return the root link of a SubBody what the SubBody's own keys say: joint, place, further elements; it keeps its name."""
    root.parent = fields.text("parent")
    root.joint = read_joint(fields, root.name, root.joint)
    root.position = fields.translation() or root.position
    root.turn = fields.rotation() or root.turn
    parts = elements.read(fields.find("elements"), fields.title)
    visuals = tuple(d.shape for d in parts.drawn if d.visual)
    collisions = tuple(d.shape for d in parts.drawn if d.collision)
    if visuals or collisions:
        root.segments.append(Segment(visuals=visuals, collisions=collisions))
    root.segments += parts.segments
    root.devices += parts.devices
    root.device_nodes += parts.device_nodes
    fields.warn_of_misspelt((*LINK_KEYS, "uri", "prefix", "suffix", "device_prefix", "joint_id_offset"))
    root.joint = replace(root.joint, extra={**root.joint.extra, **fields.rest(("type", "name"))})


def read_track(fields: Fields, elements: ElementReader) -> list[RawLink]:
    """Read a ContinuousTrack: a chain of `num_joints` equal links NAME0, NAME1 …, the first free, each other one turning on the one before.

    `initial_joint_angles` are where the joints of all but the first stand at first.

    Raises
    ------
    FormatError
        When there are too many links, or a value is none that its key can have.
    """
    name = _name(fields)
    count = fields.integer("num_joints", default=1)
    if not 1 <= count <= MOST_TRACK_LINKS:
        wrong = f"num_joints of {fields.title} is {count}"
        raise rules.TOO_LARGE.error(wrong, fields.place("num_joints"))
    first = RawLink(
        name=f"{name}0",
        parent=fields.text("parent"),
        joint=Joint(name=f"{name}0", type="free"),
        position=fields.translation() or (0.0, 0.0, 0.0),
        turn=fields.rotation() or (1.0, 0.0, 0.0, 0.0),
        node=fields.node,
    )
    turning = axis(fields, "joint_axis")
    turning = frozen([0.0, 1.0, 0.0]) if turning is None or not turning.any() else turning
    offset = fields.vector("joint_offset", default=(0.0, 0.0, 0.0))
    given = fields.find("initial_joint_angles")
    if given is not None and not isinstance(given, Sequence):
        fields.refuse("initial_joint_angles", "a list of numbers", given)
    some = given.items[: count - 1] if given is not None else []
    angles = [fields.scalar_number("initial_joint_angles", item) * fields.context.angle_unit for item in some]
    _fill(first, fields, elements.read(fields.find("elements"), fields.title))
    first.joint = replace(first.joint, axis=turning, extra={**fields.rest(("type",)), "isContinuousTrack": True})
    track = [first]
    for number in range(1, count):
        link = first.copy()
        link.name, link.parent = f"{name}{number}", track[-1]
        link.position, link.turn = offset, (1.0, 0.0, 0.0, 0.0)
        extra = {"joint_displacement": angles[number - 1]} if number <= len(angles) else {}
        link.joint = Joint(name=link.name, type="rotate", axis=turning, extra=extra)
        track.append(link)
    return track
