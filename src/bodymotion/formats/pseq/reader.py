"""Read a .pseq file to the end, with all its faults."""

import math
from collections import Counter
from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import cast

import numpy as np

from bodymotion.diagnostics import (
    Diagnostics,
    FormatError,
    Location,
    ReadResult,
    Source,
    SourceMap,
    Subject,
)
from bodymotion.diagnostics.spelling import meant
from bodymotion.diagnostics.text import counted, with_article
from bodymotion.formats.pseq import rules
from bodymotion.formats.resources import file_bytes
from bodymotion.formats.rules import TOO_LARGE
from bodymotion.formats.text import Text
from bodymotion.formats.yaml.fields import MAX_BYTES, Context, Fields, open_text
from bodymotion.formats.yaml.rules import WRONG_VALUE
from bodymotion.formats.yaml.tree import Mapping, Node, Scalar, Sequence
from bodymotion.geometry.arrays import Floats, without_collections
from bodymotion.keyposes import KeyPose, KeyPoses, LinkKey
from bodymotion.motion.rules import MOTION_NOT_FINITE

MAX_POSES = 100_000
# Links of one pose.
MAX_LINKS = 1_000
# Entries of R·Rᵀ − 1; files have six digits or more.
MAX_ROTATION_ERROR = 1e-3

TOP_KEYS = ("type", "name", "target_body", "refs")
REF_KEYS = ("time", "max_transition_time", "refer")
POSE_KEYS = (
    "type",
    "name",
    "joints",
    "q",
    "sp_joints",
    "ik_links",
    "zmp",
    "is_zmp_stationary_point",
)
FLAGS = ("is_base_link", "is_stationary_point", "is_touching", "is_slave")
LINK_KEYS = (
    "name",
    "index",
    "translation",
    "rotation",
    *FLAGS,
    "parting_direction",
    "contact_points",
)


@dataclass(frozen=True)
class Layout:
    """The text of a file, cut into its poses.

    Those that stay unchanged are written as they were.

    Attributes
    ----------
    text, head, poses:
        The whole text; what is before the first pose; each pose with its text, in the
        order of the file.
    value:
        The values that `head` holds: name, target body and other keys.
    indent:
        Blanks before the dash of a pose.
    encoding:
        Of the file.
    """

    text: str
    head: str
    poses: tuple[tuple[KeyPose, str], ...]
    value: tuple[str, str, AnyMapping[str, object]]
    indent: int
    encoding: str


def read_pseq(path: str | Path) -> ReadResult[KeyPoses]:
    """Read key poses.

    A file of another kind, or one that is no YAML, has no value.
    """
    path = Path(path)
    try:
        data = file_bytes(path, MAX_BYTES)
    except FormatError as error:
        return ReadResult(None, error.problems, refusal=error.problem)
    found = Diagnostics(path)
    value = None
    # Collection of garbage is slow with a tree of many nodes: none of them is garbage.
    with found.recover(), without_collections():
        document = open_text(data, path, found)
        root = document.root
        if not isinstance(root, Mapping):
            message = "the file is not a mapping"
            raise rules.NOT_KEY_POSES.error(message, root.location)
        text = cast("Text", root.text)
        # Only a tree from one file has a `Text`; a `PiecedText` is for motions.
        value = _Reader(found, text, document.has_aliases).read(root)
    return ReadResult(value, found.problems, refusal=found.refusal)


class _Reader:
    def __init__(self, found: Diagnostics, text: Text, has_aliases: bool) -> None:
        self.found = found
        self.text = text
        self.has_aliases = has_aliases
        self.context = Context(found, MOTION_NOT_FINITE)
        self.locations: dict[Subject, Location] = {}
        self.poses: list[KeyPose] = []
        """The poses so far, in the order of the file."""
        self.nodes: list[Mapping] = []
        """The nodes that they were read from."""
        # Whether a pose is given by the name of an earlier one.
        self.shared = False

    def fields(self, node: Mapping, title: str) -> Fields:
        return Fields(node, self.context, title)

    def read(self, root: Mapping) -> KeyPoses:
        """Read the sequence of the top node."""
        top = self.fields(root, "the sequence")
        file_type = top.text("type")
        refs = top.find("refs")
        if file_type != "PoseSeq":
            message = f"the file has the type {file_type[:60]!r}, not PoseSeq"
            error = rules.NOT_KEY_POSES.error(message, top.location("type"))
            # Almost PoseSeq: refused, but its faults are still reported.
            if not meant(file_type, ("PoseSeq",)):
                raise error
            self.found.refuse(error)
        name = top.text("name")
        target = top.text("target_body")
        if not name:
            message = "the sequence has no name"
            self.found.report(rules.NAME, message, top.location("name"))
        for item in self._refs(refs, top):
            # A faulty pose is left out, and the others are read.
            with self.found.recover():
                self._ref(item)
        # After all keys were looked for, the others are unknown or misspelt.
        top.report_misspelt(TOP_KEYS)
        extra = top.rest()
        layout = self._layout(refs, (name, target, extra))
        # Of poses at one time, Choreonoid puts a later one before the others.
        order = sorted(range(len(self.poses)), key=lambda n: (self.poses[n].time, -n))
        self._report_same_times(order)
        options = {"layout": layout} if layout else {}
        locations = SourceMap(self._locations(order), self.found.unknown)
        source = Source(
            "pseq",
            self.text.path,
            "1.0",
            self.text.encoding,
            options,
            locations=locations,
        )
        return KeyPoses(
            name=name,
            target_body=target,
            poses=tuple(self.poses[number] for number in order),
            extra=extra,
            source=source,
            problems=self.found.problems,
        )

    def _refs(self, refs: Node | None, top: Fields) -> list[Node]:
        if refs is not None and not isinstance(refs, Sequence):
            raise rules.NOT_KEY_POSES.error("refs is not a list", refs.location)
        items = _items(refs)
        if not items:
            message = "the sequence has no poses"
            self.found.report(rules.NO_POSES, message, top.location("refs"))
        if len(items) > MAX_POSES:
            message = f"there are {len(items)} key poses: at most {MAX_POSES} are read"
            raise TOO_LARGE.error(message, items[MAX_POSES].location)
        return items

    def _report_same_times(self, order: list[int]) -> None:
        for before, after in pairwise(order):
            time = self.poses[after].time
            # `order` is ascending, so equal times are neighbours.
            if self.poses[before].time == time:
                location = self.nodes[before].location_of("time")
                message = f"there is another pose at {time:g} s before this one"
                self.found.report(rules.SAME_TIME, message, location)

    def _locations(self, order: list[int]) -> dict[Subject, Location]:
        """Return the locations with the numbers of poses in the order of time."""
        # The locations were noted by the order of the file.
        new_numbers = {old: new for new, old in enumerate(order)}
        locations: dict[Subject, Location] = {
            ("poses", new): self.nodes[old].location for old, new in new_numbers.items()
        }
        for (_, number, *rest), location in self.locations.items():
            if number in new_numbers:
                locations["poses", new_numbers[number], *rest] = location
        return locations

    def _ref(self, item: Node) -> None:
        """Read one pose with its time."""
        if not isinstance(item, Mapping):
            message = "a pose is not a mapping; expected one with time and refer"
            raise WRONG_VALUE.error(message, item.location)
        ref = self.fields(item, "a pose")
        # nan stands for a missing time, and fails the comparison.
        time = ref.number("time", default=math.nan)
        if not time >= 0:
            message = f"a pose is at {time:g} s, before 0"
            if math.isnan(time):
                message = "a pose has no time"
            # A time that is no number is reported already.
            if "time" not in ref.unknown:
                self.found.report(rules.TIME, message, ref.location("time"))
            return
        limit = ref.number("max_transition_time", default=0.0)
        refer = ref.find("refer")
        ref.report_misspelt(REF_KEYS)
        number = len(self.poses)
        pose: KeyPose | None
        # A name in place of a pose: the pose with that name before this one.
        if isinstance(refer, Scalar):
            self.shared = True
            pose = self._shared(refer)
        elif isinstance(refer, Mapping):
            pose = self._pose(self.fields(refer, f"the pose at {time:g} s"), number)
        else:
            message = f"the pose at {time:g} s has no refer"
            raise WRONG_VALUE.error(message, ref.location("refer"))
        if pose is not None:
            # A pose is read without its time, which the reference to it has.
            self.poses.append(replace(pose, time=time, max_transition_time=limit))
            self.nodes.append(item)
            self.locations["poses", number, "time"] = ref.location("time")

    def _shared(self, refer: Scalar) -> KeyPose:
        """Return the pose before that is called by its name."""
        name = f"{refer.value[:60]!r}"
        # The latest of a name counts.
        for pose in reversed(self.poses):
            if refer.value and refer.value in (pose.name, pose.syllable):
                message = f"the pose is that called {name}"
                self.found.report(rules.NAMED_POSE, message, refer.location)
                return pose
        message = f"there is no pose {name} before"
        raise rules.UNKNOWN_POSE.error(message, refer.location)

    def _pose(self, pose: Fields, number: int) -> KeyPose | None:
        """Return a pose without its time; None for another kind."""
        pose_type = pose.text("type")
        name = pose.text("name")
        # A syllable to speak: it has no joints.
        if pose_type == "PronunSymbol":
            return KeyPose(syllable=name, extra=pose.rest())
        if pose_type != "Pose":
            message = (
                f"{pose.title} is {with_article(pose_type[:60])}; expected a Pose or a "
                "PronunSymbol. It is not used"
            )
            key = "type" if pose.has("type") else None
            self.found.report(rules.KIND, message, pose.location(key))
            return None
        joints = self._joints(pose, number)
        # spJoints: the joints that are stationary at this pose.
        stationary = frozenset(self._ids(pose, "sp_joints") or [])
        others: list[int] = []
        # Where the joints are unknown, nothing can be compared.
        if joints is not None:
            others = sorted(stationary - joints.keys())
        if others:
            message = (
                f"{pose.title}: spJoints has {others[:5]}, "
                "which are not among its joints"
            )
            self.found.report(rules.STATIONARY, message, pose.location("sp_joints"))
        zmp = None
        if pose.has("zmp"):
            zmp = np.array(pose.vector("zmp", default=(0.0, 0.0, 0.0)))
        if "zmp" in pose.unknown:
            zmp = None
        key_pose = KeyPose(
            name=name,
            joints=joints or {},
            stationary_joints=stationary - set(others),
            links=tuple(self._links(pose, number)),
            zmp=zmp,
            zmp_is_stationary=pose.flag("is_zmp_stationary_point", default=True),
        )
        # After all keys were read: those that are left may be misspelt.
        pose.report_misspelt(POSE_KEYS)
        self.locations["poses", number, "joints"] = pose.location("joints")
        return replace(key_pose, extra=pose.rest())

    def _ids(self, pose: Fields, name: str) -> list[int] | None:
        """Return a list of joint ids; empty where one is wrong."""
        numbers = pose.numbers(name)
        if numbers is None:
            return None
        counts = Counter(numbers)
        for number in numbers:
            # An id is a whole number, and once in the list.
            is_id = number >= 0 and number % 1 == 0
            if is_id and counts[number] == 1:
                continue
            fault = "as an id; expected a whole number, 0 or greater"
            if counts[number] > 1:
                fault = "twice"
            key = name.replace("sp_j", "spJ")
            message = f"{key} of {pose.title} has {number:g} {fault}"
            pose.unknown.add(name)
            self.found.report(rules.JOINT, message, pose.location(name))
            return []
        return [int(number) for number in numbers]

    def _joints(self, pose: Fields, number: int) -> dict[int, float] | None:
        """Return the displacements by joint id; None where they are unknown."""
        ids = self._ids(pose, "joints") or []
        values = pose.numbers("q") or []
        infinite = [value for value in values if not math.isfinite(value)]
        # One of the lists could not be read: which joint a value is of is unknown.
        if {"joints", "q"} & pose.unknown:
            pass  # reported already
        elif len(ids) != len(values):
            message = (
                f"{pose.title} has {counted(len(ids), 'joint')}, "
                f"but q has {counted(len(values), 'value')}"
            )
            key = "q" if pose.has("q") else "joints"
            self.found.report(rules.LENGTHS, message, pose.location(key))
        elif infinite:
            pose.not_finite("q", *infinite)
        else:
            location = pose.location("q")
            for joint in ids:
                self.locations["poses", number, "joints", joint] = location
            return dict(zip(ids, values, strict=True))
        self.found.mark_unknown(("poses", number, "joints"))
        return None

    def _links(self, pose: Fields, number: int) -> list[LinkKey]:
        """Return the links of a pose that are goals."""
        node = pose.find("ik_links")
        if node is None:
            return []
        if not isinstance(node, Sequence):
            with self.found.recover():
                pose.refuse("ikLinks", "a list of links", node)
            return []
        links: list[LinkKey] = []
        for item in node.items[:MAX_LINKS]:
            with self.found.recover():
                if not isinstance(item, Mapping):
                    raise WRONG_VALUE.error("a link is not a mapping", item.location)
                key = self._link(self.fields(item, "a link"))
                if key is not None:
                    self.locations["poses", number, "links", len(links)] = item.location
                    links.append(key)
        bases = [repr(key.name) for key in links if key.is_base]
        if len(bases) > 1:
            message = f"{pose.title} has several bases: {', '.join(bases)}"
            self.found.report(rules.BASES, message, node.location)
        return links

    def _link(self, link: Fields) -> LinkKey | None:
        """Return a link with its pose; None without a pose."""
        name = link.text("name")
        index = link.integer("index", default=-1)
        if not name and index < 0:
            message = "a link has neither a name nor an index"
            raise rules.LINK_NAME.error(message, link.location())
        link.title = f"the link with the index {index}"
        if name:
            link.title = f"link {name[:60]!r}"
        flags = {flag: link.flag(flag, default=False) for flag in FLAGS}
        parting = link.vector("parting_direction", default=(0.0, 0.0, 1.0))
        points = self._points(link)
        # A link is a goal for its pose: without one it says nothing.
        missing = [key for key in ("translation", "rotation") if not link.has(key)]
        link.report_misspelt(LINK_KEYS)
        if missing:
            message = f"{link.title} has no {' and no '.join(missing)}: it is not used"
            self.found.report(rules.LINK_POSE, message, link.location())
            return None
        position = link.vector("translation", default=(0.0, 0.0, 0.0))
        numbers = link.vector("rotation", default=(1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0))
        # A pose that could not be read is reported already.
        if {"translation", "rotation"} & link.unknown:
            return None
        # Row by row (3, 3).
        rotation = np.array(numbers).reshape(3, 3)
        self._check_rotation(rotation, link)
        return LinkKey(
            name=name,
            index=index,
            position=np.array(position),
            rotation=rotation,
            is_base=flags["is_base_link"],
            is_stationary=flags["is_stationary_point"],
            is_touching=flags["is_touching"],
            is_slave=flags["is_slave"],
            parting_direction=np.array(parting),
            contact_points=points,
            extra=link.rest(),
        )

    def _points(self, link: Fields) -> Floats:
        """Return the contact points (N, 3) of a link, without faulty ones."""
        points = []
        for item in _items(link.find("contact_points")):
            point = self._point(item, link)
            if point:
                points.append(point)
        return np.array(points).reshape(-1, 3)

    def _check_rotation(self, rotation: Floats, link: Fields) -> None:
        # R · Rᵀ is 1 for a rotation; its determinant is −1 for one that mirrors.
        with np.errstate(all="ignore"):
            error = np.abs(rotation @ rotation.T - np.eye(3)).max()
        # nan and infinite numbers make the comparison false.
        is_orthogonal = error <= MAX_ROTATION_ERROR
        if is_orthogonal and np.linalg.det(rotation) >= 0:
            return
        fault = "mirrors" if is_orthogonal else f"has R·Rᵀ off by {error:.3g}"
        message = f"the rotation of {link.title} {fault}"
        self.found.report(rules.ROTATION, message, link.location("rotation"))

    def _point(self, item: Node, link: Fields) -> list[float]:
        with self.found.recover():
            values = [
                link.scalar_number("contactPoints", part) for part in _items(item)
            ]
            if len(values) != 3 or not all(map(math.isfinite, values)):
                message = f"a contact point of {link.title} is not three numbers"
                raise WRONG_VALUE.error(message, item.location)
            return values
        return []

    def _layout(
        self, refs: Node | None, value: tuple[str, str, AnyMapping[str, object]]
    ) -> Layout | None:
        """Return the texts of the poses.

        None where one cannot be cut out: in lists in brackets, with aliases, with other
        keys behind.
        """
        if not self._has_texts(refs):
            # Texts are only of use where each pose has one.
            return None
        data = self.text.data
        # -1 where a pose begins in the middle of a line.
        starts = [_start_of_item(data, node.offset) for node in self.nodes]
        if -1 in starts:
            return None
        # Poses of one list have one indentation.
        indent = data.find("-", starts[0]) - starts[0]
        # Comments before a pose are a part of it.
        floor = 0
        for number, start in enumerate(starts):
            starts[number] = _with_comments(data, start, floor)
            floor = starts[number]
        # Keys behind the last pose would be taken for a part of it.
        if _has_keys_behind(data[starts[-1] :], indent):
            return None
        # A pose ends where the next one begins, comments included.
        ends = [*starts[1:], len(data)]
        texts = [data[start:end] for start, end in zip(starts, ends, strict=True)]
        pairs = tuple(zip(self.poses, texts, strict=True))
        return Layout(data, data[: starts[0]], pairs, value, indent, self.text.encoding)

    def _has_texts(self, refs: Node | None) -> bool:
        """Return whether each pose is an item of a block list, and only there."""
        if not isinstance(refs, Sequence) or refs.flow:
            return False
        if self.has_aliases or self.shared or self.found.has_errors:
            return False
        return 0 < len(self.nodes) == len(refs.items)


def _start_of_item(data: str, offset: int) -> int:
    """Return where the line of an item's dash begins.

    -1 where more is before the dash.
    """
    # The node is the mapping behind the dash.
    dash = data.rfind("-", 0, offset)
    start = data.rfind("\n", 0, dash) + 1
    return -1 if data[start:dash].strip() else start


def _has_keys_behind(text: str, indent: int) -> bool:
    """Return whether keys of the top node are behind the last pose.

    `text` begins with that pose, whose dash has an indentation.
    """
    first, *others = text.split("\n")
    # Comments, and "..." at the end of a document, are none.
    if any(line and line[0] not in " #-\r." for line in others):
        return True
    return indent == 0 and first[:1] not in ("", *" #-\r.")


def _with_comments(data: str, start: int, floor: int) -> int:
    """Return where the comment lines directly before a line begin."""
    while start > floor:
        line = data.rfind("\n", 0, start - 1) + 1
        if not data[line:start].lstrip().startswith("#"):
            break
        start = line
    return start


def _items(node: Node | None) -> list[Node]:
    return node.items if isinstance(node, Sequence) else []
