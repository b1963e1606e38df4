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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

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

MAX_BYTES = 2 << 20  # Projects with all their views have some 100 kB.
MAX_ITEMS = 100_000  # Items of a project, aliases unfolded.
MAX_BODIES = 100  # MuJoCo needs memory and time for each pair of bodies.
MAX_LINKS = 2_000  # Of all bodies together, for the same reason.
CONTAINER_ITEMS = (
    "RootItem",
    "WorldItem",
    "FolderItem",
)  # Classes of items that only hold others.


@dataclass(frozen=True)
class Project(ShortRepr):
    """A scene: the body that is simulated with its motion, further bodies with the poses (7,) of their models, time step and length [s]."""

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
    folders = [*map(Path, share)]
    is_confined = options.get("untrusted") or options.get("allow_outside") is False
    trees = [tree.resolve() for tree in (path.absolute().parent, *folders)]
    if not is_confined:
        trees = [Path(path.absolute().anchor)]
        folders += [above / "share" for above in path.absolute().parents]
    problems: list[Problem] = []
    found: list[tuple[Body, Motion | None, Floats]] = []
    times: list[Mapping[str, Any]] = []
    unused: list[str] = []
    opened: dict[Path, object] = {}
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
                body, motion, at = _body(
                    item,
                    data,
                    lambda values: _opened(
                        _file(values, path, folders, trees), options, opened
                    ),
                )
                num_links += len(body.links)
                found.append((body, motion, at))
            except (FormatError, OSError, ValueError) as error:
                message = f"body {item.get('name')!r:.60} is left out: {error}"
                problems.append(rules.PROJECT.problem(message, Location(str(path))))
        elif kind.endswith("SimulatorItem"):
            times.append(data)
        elif item.get("class") and kind not in (*CONTAINER_ITEMS, "BodyMotionItem"):
            unused.append(f"{kind} {item.get('name')!r:.40}")
    if num_bodies > MAX_BODIES or num_links > MAX_LINKS:
        message = (
            f"the project has {num_bodies} bodies, of which {len(found)} with"
            f" {num_links} links are used; expected at most {MAX_BODIES} bodies with"
            f" {MAX_LINKS} links"
        )
        data = {"found": num_bodies, "limit": MAX_BODIES}
        problems.append(TOO_LARGE.problem(message, Location(str(path)), data=data))
    if not found:
        raise rules.PROJECT.error(
            "the project has no body that can be read", Location(str(path))
        )
    if unused:
        message = f"items that are not used: {listed(unused, 8)}"
        problems.append(rules.UNUSED.problem(message, Location(str(path))))
    order = sorted(
        range(len(found)),
        key=lambda k: (
            found[k][1] is None,
            found[k][0].is_mounted,
            not found[k][0].num_joints,
            k,
        ),
    )
    body, motion, at = found[order[0]]
    others = tuple(
        (thing, poses.compose(pose, poses.inverse(thing.root_pose)))
        for k in order[1:]
        for thing, _, pose in [found[k]]
    )
    if times:
        settings = times[0]
    else:
        settings = {}
    return Project(
        replace(body, root_pose=at),
        motion,
        others,
        _number(settings, "time_step", "timeStep"),
        _number(settings, "time_length", "timeLength"),
        tuple(problems),
    )


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
    stack: list[Any] = [top]
    for _ in range(MAX_ITEMS):
        if not stack:
            return
        item = stack.pop()
        if isinstance(item, Mapping):
            yield item
            children = item.get("children")
            stack += reversed(children) if isinstance(children, list) else []


def _opened(
    path: Path, options: Mapping[str, Any], opened: dict[Path, object]
) -> object:
    """Return the value of a file; each file is read once."""
    if path not in opened:
        row = find_format(path)
        opened[path] = load(path, format=row.name, **row.options_of(options))
    return opened[path]


def _body(
    item: Mapping[str, Any],
    data: Mapping[str, Any],
    opened: Callable[[Mapping[str, Any]], object],
) -> tuple[Body, Motion | None, Floats]:
    """Return a body as the project has it, its motion, and the pose (7,) of its root.

    `opened` loads the file that an item names.
    """
    body = opened(data)
    if not isinstance(body, Body) or not body.links:
        raise ValueError("its file holds no model")
    at = np.array(body.root_pose)
    position = _numbers(
        data,
        3,
        "initial_root_translation",
        "initialRootPosition",
        "root_translation",
        "rootPosition",
    )
    turn = _numbers(data, 4, "initial_root_rotation", "root_rotation")
    matrix = _numbers(data, 9, "initialRootAttitude", "rootAttitude")
    if position is not None:
        at[:3] = position
    if turn is not None and np.linalg.norm(turn[:3]) > 0:
        at[3:] = rotations.from_axis_angle(
            turn[:3] / np.linalg.norm(turn[:3]), np.radians(turn[3])
        )
    elif matrix is not None:
        at[3:] = rotations.from_matrix(matrix.reshape(3, 3))
    if isinstance(fixed := data.get("fix_root", data.get("staticModel")), bool):
        joint = replace(body.links[0].joint, type="fixed" if fixed else "free")
        body = replace(
            body, links=(replace(body.links[0], joint=joint), *body.links[1:])
        )
    for child in _items({"children": item.get("children")}):
        values = child.get("data")
        if child.get("class") == "BodyMotionItem" and isinstance(values, Mapping):
            motion = opened(values)
            if isinstance(motion, Motion):
                return body, motion, at
    degrees = _numbers(
        data, body.num_joints, "initial_joint_displacements", "joint_displacements"
    )
    q = _numbers(data, body.num_joints, "initialJointPositions", "jointPositions")
    if degrees is not None:
        q = np.radians(degrees)
    return (
        body,
        None
        if q is None or not len(q)
        else Motion.from_joints(np.stack([q, q]), 0.1, root=at),
        at,
    )


def _file(
    data: Mapping[str, Any], project: Path, folders: list[Path], trees: list[Path]
) -> Path:
    """Return the file that an item names, if it is in one of the trees."""
    name: str | None = next(
        (
            data[key]
            for key in ("file", "filename", "modelFile")
            if isinstance(data.get(key), str)
        ),
        None,
    )
    if name is None:
        raise ValueError("it names no file")
    start, _, rest = name.partition("}/")
    beside = project.parent / (rest if start == "${PROJECT_DIR" else name)
    for place in (
        [folder / rest for folder in folders] if start == "${SHARE" else [beside]
    ):
        if place.is_file():
            if not any(map(place.resolve().is_relative_to, trees)):
                raise ValueError(
                    f"its file {name!r:.100} is outside of the project's folder: an "
                    "untrusted project cannot open it"
                )
            return place
    raise ValueError(
        f"its file {name!r:.100} is not found; `share` names the folder of ${{SHARE}}"
    )


def _numbers(data: Mapping[str, Any], count: int, *keys: str) -> Floats | None:
    for key in keys:
        value = data.get(key)
        if (
            isinstance(value, list)
            and len(value) == count
            and all(isinstance(n, (int, float)) for n in value)
        ):
            with suppress(OverflowError):
                return np.array(value, dtype=np.float64)
    return None


def _number(data: Mapping[str, Any], *keys: str) -> float | None:
    found = next(
        (data[key] for key in keys if isinstance(data.get(key), (int, float))), 0.0
    )
    if 0 < found <= sys.float_info.max:
        return float(found)
    return None
