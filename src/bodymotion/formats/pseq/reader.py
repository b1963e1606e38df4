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
from bodymotion.geometry.arrays import without_collections
from bodymotion.keyposes import KeyPose, KeyPoses, LinkKey
from bodymotion.motion.rules import MOTION_NOT_FINITE

MAX_POSES = 100_000
MAX_LINKS = 1_000  # Links of one pose.
MAX_ROTATION_ERROR = 1e-3  # Entries of R·Rᵀ − 1; files have six digits or more.

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
    """Read key poses; a file of another kind, or one that is no YAML, has no value."""
    path = Path(path)
    try:
        data = file_bytes(path, MAX_BYTES)
    except FormatError as error:
        return ReadResult(None, error.problems, refusal=error.problem)
    found = Diagnostics(path)
    value = None
    with found.recover(), without_collections():
        document = open_text(data, path, found)
        root = document.root
        if not isinstance(root, Mapping):
            message = "the file is not a mapping"
            raise rules.NOT_KEY_POSES.error(message, root.location)
        text = cast("Text", root.text)
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
        self.shared = False

    def fields(self, node: Mapping, title: str) -> Fields:
        return Fields(node, self.context, title)

    def read(self, root: Mapping) -> KeyPoses:
        top = self.fields(root, "the sequence")
        kind = top.text("type")
        refs = top.find("refs")
        if kind != "PoseSeq":
            message = f"the file has the type {kind[:60]!r}, not PoseSeq"
            error = rules.NOT_KEY_POSES.error(message, top.location("type"))
            if not meant(kind, ("PoseSeq",)):
                raise error
            self.found.refuse(error)
        name = top.text("name")
        target = top.text("target_body")
        if not name:
            self.found.report(
                rules.NAME, "the sequence has no name", top.location("name")
            )
        if refs is not None and not isinstance(refs, Sequence):
            raise rules.NOT_KEY_POSES.error("refs is not a list", refs.location)
        items = refs.items if isinstance(refs, Sequence) else []
        if not items:
            self.found.report(
                rules.NO_POSES, "the sequence has no poses", top.location("refs")
            )
        if len(items) > MAX_POSES:
            message = f"there are {len(items)} key poses: at most {MAX_POSES} are read"
            raise TOO_LARGE.error(message, items[MAX_POSES].location)
        for item in items:
            with self.found.recover():
                self._ref(item)
        top.report_misspelt(TOP_KEYS)
        extra = top.rest()
        layout = self._layout(refs, (name, target, extra))
        ordered = sorted(range(len(self.poses)), key=lambda n: (self.poses[n].time, -n))
        for before, after in pairwise(ordered):
            if self.poses[before].time == self.poses[after].time:
                at = self.nodes[before].location_of("time")
                message = f"there is another pose at {self.poses[after].time:g} s before this one"
                self.found.report(rules.SAME_TIME, message, at)
        numbers = {old: new for new, old in enumerate(ordered)}
        locations: dict[Subject, Location] = {
            ("poses", new): self.nodes[old].location for old, new in numbers.items()
        }
        for (_, number, *rest), location in self.locations.items():
            if number in numbers:
                locations["poses", numbers[number], *rest] = location
        if layout:
            options = {"layout": layout}
        else:
            options = {}
        found = SourceMap(locations, self.found.unknown)
        source = Source(
            "pseq", self.text.path, "1.0", self.text.encoding, options, locations=found
        )
        poses = tuple(self.poses[n] for n in ordered)
        problems = self.found.problems
        return KeyPoses(
            name=name,
            target_body=target,
            poses=poses,
            extra=extra,
            source=source,
            problems=problems,
        )

    def _ref(self, item: Node) -> None:
        if not isinstance(item, Mapping):
            raise WRONG_VALUE.error(
                "a pose is not a mapping; expected one with time and refer",
                item.location,
            )
        ref = self.fields(item, "a pose")
        time = ref.number("time", default=math.nan)
        if not time >= 0:
            if math.isnan(time):
                message = "a pose has no time"
            else:
                message = f"a pose is at {time:g} s, before 0"
            if "time" not in ref.unknown:
                self.found.report(rules.TIME, message, ref.location("time"))
            return
        limit = ref.number("max_transition_time", default=0.0)
        refer = ref.find("refer")
        ref.report_misspelt(REF_KEYS)
        number = len(self.poses)
        pose: KeyPose | None
        if isinstance(refer, Scalar):
            self.shared = True
            pose = self._shared(refer)
        elif isinstance(refer, Mapping):
            pose = self._pose(self.fields(refer, f"the pose at {time:g} s"), number)
        else:
            raise WRONG_VALUE.error(
                f"the pose at {time:g} s has no refer", ref.location("refer")
            )
        if pose is not None:
            self.poses.append(replace(pose, time=time, max_transition_time=limit))
            self.nodes.append(item)
            self.locations["poses", number, "time"] = ref.location("time")

    def _shared(self, refer: Scalar) -> KeyPose:
        for pose in reversed(self.poses):
            if refer.value and refer.value in (pose.name, pose.syllable):
                self.found.report(
                    rules.NAMED_POSE,
                    f"the pose is that called {refer.value[:60]!r}",
                    refer.location,
                )
                return pose
        raise rules.UNKNOWN_POSE.error(
            f"there is no pose {refer.value[:60]!r} before", refer.location
        )

    def _pose(self, pose: Fields, number: int) -> KeyPose | None:
        kind = pose.text("type")
        name = pose.text("name")
        if kind == "PronunSymbol":
            return KeyPose(syllable=name, extra=pose.rest())
        if kind != "Pose":
            message = f"{pose.title} is {with_article(kind[:60])}; expected a Pose or a PronunSymbol. It is not used"
            self.found.report(
                rules.KIND, message, pose.location("type" if pose.has("type") else None)
            )
            return None
        joints = self._joints(pose, number)
        stationary = self._ids(pose, "sp_joints") or []
        others = sorted({*stationary} - {*(stationary if joints is None else joints)})
        if others:
            message = f"{pose.title}: spJoints has {others[:5]}, which are not among its joints"
            self.found.report(rules.STATIONARY, message, pose.location("sp_joints"))
        if pose.has("zmp"):
            zmp = pose.vector("zmp", default=(0.0, 0.0, 0.0))
        else:
            zmp = None
        if "zmp" in pose.unknown:
            zmp = None
        made = KeyPose(
            name=name,
            joints=joints or {},
            stationary_joints=frozenset(stationary) - {*others},
            links=tuple(self._links(pose, number)),
            zmp=None if zmp is None else np.array(zmp),
            zmp_is_stationary=pose.flag("is_zmp_stationary_point", default=True),
        )
        pose.report_misspelt(POSE_KEYS)
        self.locations["poses", number, "joints"] = pose.location("joints")
        return replace(made, extra=pose.rest())

    def _ids(self, pose: Fields, name: str) -> list[int] | None:
        numbers = pose.numbers(name)
        if numbers is None:
            return None
        times = Counter(numbers)
        wrong = next(
            (x for x in numbers if not (x >= 0 and x % 1 == 0) or times[x] > 1), None
        )
        if wrong is not None:
            pose.unknown.add(name)
            part = f"{name.replace('sp_j', 'spJ')} of {pose.title}"
            message = f"{part} has {wrong:g} {'twice' if times[wrong] > 1 else 'as an id; expected a whole number, 0 or greater'}"
            self.found.report(rules.JOINT, message, pose.location(name))
            return []
        return [int(x) for x in numbers]

    def _joints(self, pose: Fields, number: int) -> dict[int, float] | None:
        """Return the displacements by joint id; None where they are unknown."""
        ids = self._ids(pose, "joints") or []
        q = pose.numbers("q") or []
        if not {"joints", "q"} & pose.unknown:
            if len(ids) != len(q):
                message = f"{pose.title} has {counted(len(ids), 'joint')}, but q has {counted(len(q), 'value')}"
                self.found.report(
                    rules.LENGTHS,
                    message,
                    pose.location("q" if pose.has("q") else "joints"),
                )
            elif not all(map(math.isfinite, q)):
                pose.not_finite("q", *(x for x in q if not math.isfinite(x)))
            else:
                for joint in ids:
                    self.locations["poses", number, "joints", joint] = pose.location(
                        "q"
                    )
                return dict(zip(ids, q, strict=True))
        self.found.mark_unknown(("poses", number, "joints"))
        return None

    def _links(self, pose: Fields, number: int) -> list[LinkKey]:
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
        if sum(key.is_base for key in links) > 1:
            names = ", ".join(repr(key.name) for key in links if key.is_base)
            self.found.report(
                rules.BASES, f"{pose.title} has several bases: {names}", node.location
            )
        return links

    def _link(self, link: Fields) -> LinkKey | None:
        name = link.text("name")
        index = link.integer("index", default=-1)
        if not name and index < 0:
            raise rules.LINK_NAME.error(
                "a link has neither a name nor an index", link.location()
            )
        if name:
            link.title = f"link {name[:60]!r}"
        else:
            link.title = f"the link with the index {index}"
        base, stationary, touching, slave = (
            link.flag(flag, default=False) for flag in FLAGS
        )
        parting = link.vector("parting_direction", default=(0.0, 0.0, 1.0))
        points = [
            self._point(item, link) for item in _items(link.find("contact_points"))
        ]
        missing = [key for key in ("translation", "rotation") if not link.has(key)]
        link.report_misspelt(LINK_KEYS)
        if missing:
            message = f"{link.title} has no {' and no '.join(missing)}: it is not used"
            self.found.report(rules.LINK_POSE, message, link.location())
            return None
        position = link.vector("translation", default=(0.0,) * 3)
        rotation = np.array(
            link.vector("rotation", default=(1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0))
        ).reshape(3, 3)
        if {"translation", "rotation"} & link.unknown:
            return None
        with np.errstate(all="ignore"):
            error = np.abs(rotation @ rotation.T - np.eye(3)).max()
        if not error <= MAX_ROTATION_ERROR or np.linalg.det(rotation) < 0:
            if error <= MAX_ROTATION_ERROR:
                what = "mirrors"
            else:
                what = f"has R·Rᵀ off by {error:.3g}"
            self.found.report(
                rules.ROTATION,
                f"the rotation of {link.title} {what}",
                link.location("rotation"),
            )
        return LinkKey(
            name=name,
            index=index,
            position=np.array(position),
            rotation=rotation,
            is_base=base,
            is_stationary=stationary,
            is_touching=touching,
            is_slave=slave,
            parting_direction=np.array(parting),
            contact_points=np.array([point for point in points if point]).reshape(
                -1, 3
            ),
            extra=link.rest(),
        )

    def _point(self, item: Node, link: Fields) -> list[float]:
        with self.found.recover():
            values = [
                link.scalar_number("contactPoints", part) for part in _items(item)
            ]
            if len(values) != 3 or not all(map(math.isfinite, values)):
                raise WRONG_VALUE.error(
                    f"a contact point of {link.title} is not three numbers",
                    item.location,
                )
            return values
        return []

    def _layout(
        self, refs: Node | None, value: tuple[str, str, AnyMapping[str, object]]
    ) -> Layout | None:
        """Return the texts of the poses.

        None where one cannot be cut out: in lists in brackets, with aliases, with other
        keys behind.
        """
        data = self.text.data
        whole = (
            not self.has_aliases
            and not self.shared
            and isinstance(refs, Sequence)
            and not refs.flow
        )
        if not whole or self.found.has_errors or len(self.nodes) != len(refs.items):  # type: ignore[union-attr]
            return None
        starts = []
        for node in self.nodes:
            dash = data.rfind("-", 0, node.offset)
            line = data.rfind("\n", 0, dash) + 1
            if data[line:dash].strip():
                return None
            starts.append(line)
        if not starts:
            return None
        indent = data.find("-", starts[0]) - starts[0]
        for n, start in enumerate(starts):
            starts[n] = _with_comments(data, start, starts[n - 1] if n else 0)
        tail = data[starts[-1] :].split("\n")
        if any(
            line and not line.startswith((" ", "#", "-", "\r", "."))
            for line in tail[1:]
        ) or (indent == 0 and any(line and line[0] not in " #-\r." for line in tail)):
            return None
        ends = [*starts[1:], len(data)]
        texts = [data[start:end] for start, end in zip(starts, ends, strict=True)]
        pairs = tuple(zip(self.poses, texts, strict=True))
        return Layout(data, data[: starts[0]], pairs, value, indent, self.text.encoding)


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
