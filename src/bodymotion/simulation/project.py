"""Projects of Choreonoid (`.cnoid`) as scenes.

Bodies, their start poses and motions, and the time step.

A project is a tree of items in YAML. What is read of it::

    items: { children: [
      { class: BodyItem, name, data: { file | modelFile, fix_root,
      initial_root_translation, initial_root_rotation: [axis, degrees],
          joint_displacements: [degrees] | jointPositions: [radians], rootPosition,
          rootAttitude: [3 × 3] },
        children: [ { class: BodyMotionItem, data: { file | filename } } ] },
      { class: …SimulatorItem, data: { time_step, time_length } } ] }

`${SHARE}` and `${PROJECT_DIR}` in the names of files are folders.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bodymotion.diagnostics import (
    Diagnostics,
    FormatError,
    Location,
    MissingFileError,
    Problem,
    ShortRepr,
)
from bodymotion.diagnostics.text import listed
from bodymotion.formats.plain import read_plain_yaml
from bodymotion.formats.registry import find_format, load
from bodymotion.formats.resources import file_bytes
from bodymotion.formats.rules import TOO_LARGE
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body
from bodymotion.motion import Motion
from bodymotion.simulation import rules

# Projects with all their views have some 100 kB.
MAX_BYTES = 2 << 20
# Items of a project, aliases unfolded.
MAX_ITEMS = 100_000
# MuJoCo needs memory and time for each pair of bodies.
MAX_BODIES = 100
# Of all bodies together, for the same reason.
MAX_LINKS = 2_000
CONTAINER_ITEMS = (
    "RootItem",
    "WorldItem",
    "FolderItem",
)  # Classes of items that only hold others.


@dataclass(frozen=True)
class Project(ShortRepr):
    """A scene: the body that is simulated with its motion, and further bodies.

    These with the poses (7,) of their models; time step and length in seconds.
    """

    body: Body
    motion: Motion | None
    objects: tuple[tuple[Body, Floats], ...]
    timestep: float | None
    seconds: float | None
    problems: tuple[Problem, ...]


def load_project(
    path: str | PathLike[str],
    share: Sequence[str | PathLike[str]] = (),
    **options: Any,  # noqa: ANN401
) -> Project:
    """Read a project of Choreonoid.

    The simulated body is the first one with a motion, else the first one with joints
    that is not fixed, else the first one. A body without a motion holds its joint
    displacements.

    Parameters
    ----------
    share:
        Folders for `${SHARE}`; by default those called `share` beside the project and
        above it.
    options:
        Those of `bodymotion.load` for models and motions. Untrusted projects only name
        files in their own folder, and in those of `share`.

    Raises
    ------
    FormatError
        When the file is not a project, or no body of it can be read (SIM102).
    """
    path = Path(path)
    location = Location(str(path))
    files = _Files(path, [*map(Path, share)], options)
    problems: list[Problem] = []
    bodies: list[_PlacedBody] = []
    settings: Mapping[str, Any] | None = None
    unused: list[str] = []
    num_bodies = 0
    num_links = 0
    for item in _items(_tree(path)):
        kind = str(item.get("class"))
        data = item.get("data")
        data = data if isinstance(data, Mapping) else {}
        if kind == "BodyItem":
            num_bodies += 1
            if num_bodies > MAX_BODIES or num_links > MAX_LINKS:
                continue
            try:
                bodies.append(_read_body(item, data, files))
                num_links += len(bodies[-1].body.links)
            except (FormatError, OSError, ValueError) as error:
                message = f"body {item.get('name')!r:.60} is left out: {error}"
                problems.append(rules.PROJECT.problem(message, location))
        elif kind.endswith("SimulatorItem"):
            # The first one counts.
            settings = data if settings is None else settings
        elif item.get("class") and kind not in (*CONTAINER_ITEMS, "BodyMotionItem"):
            unused.append(f"{kind} {item.get('name')!r:.40}")
    if num_bodies > MAX_BODIES or num_links > MAX_LINKS:
        message = (
            f"the project has {num_bodies} bodies, of which {len(bodies)} with"
            f" {num_links} links are used; expected at most {MAX_BODIES} bodies with"
            f" {MAX_LINKS} links"
        )
        limits = {"found": num_bodies, "limit": MAX_BODIES}
        problems.append(TOO_LARGE.problem(message, location, data=limits))
    if not bodies:
        raise rules.PROJECT.error("the project has no body that can be read", location)
    if unused:
        message = f"items that are not used: {listed(unused, 8)}"
        problems.append(rules.UNUSED.problem(message, location))
    # The order of the file counts among equal ranks.
    # `sorted` is stable.
    simulated, *others = sorted(bodies, key=_PlacedBody.rank)
    objects = []
    for other in others:
        # The project has the pose of the root, a world that of the whole model.
        in_model = poses.inverse(other.body.root_pose)
        objects.append((other.body, poses.compose(other.pose, in_model)))
    return Project(
        replace(simulated.body, root_pose=simulated.pose),
        simulated.motion,
        tuple(objects),
        _number(settings or {}, "time_step", "timeStep"),
        _number(settings or {}, "time_length", "timeLength"),
        tuple(problems),
    )


class _PlacedBody(NamedTuple):
    """A body as a project has it, its motion, and the pose (7,) of its root."""

    body: Body
    motion: Motion | None
    pose: Floats

    def rank(self) -> tuple[bool, bool, bool]:
        """Return how unlikely it is the simulated one: the lowest rank is."""
        return self.motion is None, self.body.is_mounted, not self.body.num_joints


def _tree(path: Path) -> Mapping[str, Any]:
    """Return the tree of items of a project.

    FormatError where it has none.
    """
    try:
        found, _ = read_plain_yaml(file_bytes(path, MAX_BYTES), path, Diagnostics(path))
    except FormatError as error:
        if isinstance(error, MissingFileError) or error.problem.rule == TOO_LARGE.code:
            raise
        message = f"the project is not YAML: {error.problem.message:.200}"
        raise rules.PROJECT.error(
            message, error.problem.location or Location(str(path)), ""
        ) from error
    if not isinstance(found, Mapping) or not isinstance(found.get("items"), Mapping):
        raise rules.PROJECT.error("the file has no tree of items", Location(str(path)))
    items: Mapping[str, Any] = found["items"]
    return items


def _items(top: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    # A stack instead of recursion: nesting may be deep, and aliases of YAML make a few
    # lines many items.
    stack: list[Any] = [top]
    for _ in range(MAX_ITEMS):
        if not stack:
            return
        item = stack.pop()
        if isinstance(item, Mapping):
            yield item
            children = item.get("children")
            stack += reversed(children) if isinstance(children, list) else []


class _Files:
    """The files of a project; each is read once."""

    def __init__(
        self, project: Path, shared: list[Path], options: Mapping[str, Any]
    ) -> None:
        """Find the folders that the project may read from."""
        self._folder = project.parent
        self._options = options
        self._values: dict[Path, object] = {}
        above = project.absolute().parents
        # Untrusted projects see their own folder and `share` alone.
        if options.get("untrusted") or options.get("allow_outside") is False:
            self._trees = [tree.resolve() for tree in (above[0], *shared)]
            self._shared = shared
        else:
            # The root of the file system: every file is in the tree.
            self._trees = [Path(project.absolute().anchor)]
            self._shared = [*shared, *(folder / "share" for folder in above)]

    def read(self, data: Mapping[str, Any]) -> object:
        """Return the value of the file that an item names."""
        path = self._find(data)
        if path not in self._values:
            row = find_format(path)
            options = row.options_of(self._options)
            self._values[path] = load(path, format=row.name, **options)
        return self._values[path]

    def _find(self, data: Mapping[str, Any]) -> Path:
        """Return the file that an item names, if it is in one of the trees."""
        # Items name their file by one of these keys.
        keys = ("file", "filename", "modelFile")
        names = [data[key] for key in keys if isinstance(data.get(key), str)]
        if not names:
            raise ValueError("it names no file")
        name: str = names[0]
        start, _, rest = name.partition("}/")
        # A path relative to the project.
        candidates = [self._folder / name]
        if start == "${PROJECT_DIR":
            candidates = [self._folder / rest]
        elif start == "${SHARE":
            candidates = [folder / rest for folder in self._shared]
        for path in candidates:
            if not path.is_file():
                continue
            # After links are resolved: a link in the folder may lead out of it.
            if not any(map(path.resolve().is_relative_to, self._trees)):
                raise ValueError(
                    f"its file {name!r:.100} is outside of the project's folder: an "
                    "untrusted project cannot open it"
                )
            return path
        raise ValueError(
            f"its file {name!r:.100} is not found; `share` names the folder of "
            "${SHARE}"
        )


def _read_body(
    item: Mapping[str, Any], data: Mapping[str, Any], files: _Files
) -> _PlacedBody:
    """Return a body as the project has it, its motion, and the pose of its root."""
    body = files.read(data)
    if not isinstance(body, Body) or not body.links:
        raise ValueError("its file holds no model")
    pose = _root_pose(data, body)
    # `staticModel` is that of earlier versions.
    is_fixed = data.get("fix_root", data.get("staticModel"))
    if isinstance(is_fixed, bool):
        joint = replace(body.links[0].joint, type="fixed" if is_fixed else "free")
        root = replace(body.links[0], joint=joint)
        body = replace(body, links=(root, *body.links[1:]))
    for child in _items({"children": item.get("children")}):
        values = child.get("data")
        if child.get("class") == "BodyMotionItem" and isinstance(values, Mapping):
            motion = files.read(values)
            if isinstance(motion, Motion):
                return _PlacedBody(body, motion, pose)
    # Present versions have degrees, earlier ones radians.
    degrees = _numbers(
        data, body.num_joints, "initial_joint_displacements", "joint_displacements"
    )
    q = _numbers(data, body.num_joints, "initialJointPositions", "jointPositions")
    if degrees is not None:
        q = np.radians(degrees)
    if q is None or not len(q):
        return _PlacedBody(body, None, pose)
    # Two frames of the same posture, held for 10 s.
    held = Motion.from_joints(np.stack([q, q]), 0.1, root=pose)
    return _PlacedBody(body, held, pose)


def _root_pose(data: Mapping[str, Any], body: Body) -> Floats:
    """Return the root pose (7,), by the names of present and earlier versions."""
    pose = np.array(body.root_pose)
    position = _numbers(
        data,
        3,
        "initial_root_translation",
        "initialRootPosition",
        "root_translation",
        "rootPosition",
    )
    # Present versions have an axis and an angle in degrees, earlier ones a matrix.
    axis_angle = _numbers(data, 4, "initial_root_rotation", "root_rotation")
    matrix = _numbers(data, 9, "initialRootAttitude", "rootAttitude")
    if position is not None:
        pose[:3] = position
    if axis_angle is not None and np.linalg.norm(axis_angle[:3]) > 0:
        axis = axis_angle[:3] / np.linalg.norm(axis_angle[:3])
        pose[3:] = rotations.from_axis_angle(axis, np.radians(axis_angle[3]))
    elif matrix is not None:
        pose[3:] = rotations.from_matrix(matrix.reshape(3, 3))
    return pose


def _numbers(data: Mapping[str, Any], count: int, *keys: str) -> Floats | None:
    """Return the numbers (count,) of the first of the keys that has as many."""
    for key in keys:
        value = data.get(key)
        # Lists of another length are left out, like missing ones.
        if (
            isinstance(value, list)
            and len(value) == count
            and all(isinstance(n, (int, float)) for n in value)
        ):
            # An integer of YAML may be larger than any float.
            with suppress(OverflowError):
                return np.array(value, dtype=np.float64)
    return None


def _number(data: Mapping[str, Any], *keys: str) -> float | None:
    for key in keys:
        number = data.get(key)
        if isinstance(number, (int, float)):
            return float(number) if 0 < number <= sys.float_info.max else None
    return None
