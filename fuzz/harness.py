"""One input: bytes become a file, the file a thing or a FormatError, the thing a file again. Anything else is a fault."""

from __future__ import annotations

import contextlib
import itertools
import re
import sys
import traceback
import warnings
from dataclasses import replace
from pathlib import Path
from types import TracebackType

import numpy as np

import bodymotion as bm
from bodymotion.diagnostics import FormatError
from bodymotion.formats.registry import find_format
from fuzz.targets import Target
from fuzz.watching import MEMORY, SECONDS, Escape, Swell, scratch, watched

with contextlib.suppress(ImportError):
    import mujoco  # noqa: F401 - its first import starts a process, which no input may do

__all__ = ["Broken", "Place", "attempt", "fault_name", "look_at", "show"]


class Broken(AssertionError):  # noqa: N818
    """What was read is not what it should be."""


class Place:
    """A folder in which inputs of one target are read, with the files that they may name beside them."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._folder = scratch()
        self.folder = Path(self._folder.name) / "model"
        self.folder.mkdir()
        for name, data in target.beside().items():
            (self.folder / name).write_bytes(data)
        self.saved = self.folder / "saved"
        self.saved.mkdir()
        (Path(self._folder.name) / "secret.wrl").write_bytes(b"#VRML V2.0 utf8\nShape { geometry Sphere { } }\n")

    def close(self) -> None:
        """Take the folder away."""
        self._folder.cleanup()


def attempt(place: Place, data: bytes, seconds: float = SECONDS, memory: int = MEMORY) -> str:
    """Read, check, look at and write one input; give what it was: `"refused"`, or the name of the thing's type.

    Raises
    ------
    BaseException
        Whatever is no FormatError; `Hang`, `Swell` and `Escape` of `fuzz.watching`; `Broken`.
    """
    target = place.target
    path = place.folder / target.file
    path.write_bytes(data)
    asked = place.folder / (target.asked or target.file)
    with warnings.catch_warnings(), watched(place.folder, len(data), seconds, memory):
        warnings.simplefilter("ignore")
        return _attempt(target, path, asked, place.saved)


def _attempt(target: Target, path: Path, asked: Path, saved: Path) -> str:
    try:
        find_format(path)
    except FormatError as error:
        _said(error)
    thing, refused = None, ""
    try:
        thing = bm.load(asked, format=target.format, untrusted=True)
    except FormatError as error:
        _said(error)
        refused = error.problem.rule
    report = bm.check(asked, format=target.format, untrusted=True)
    for problem in report.problems:
        str(problem)
    if thing is None:
        if report.ok:
            raise Broken(f"load refuses what check finds no error in: {refused}")
        return "refused"
    if target.format == "seq":
        _in_pieces(path, thing)
    look_at(thing)
    _written(target, thing, saved)
    return type(thing).__name__


def _said(error: FormatError) -> None:
    """Every error names its rule and says something."""
    if not (error.problem.rule and error.problem.message):
        raise Broken(f"an error that says nothing: {error!r}")
    str(error)


def _in_pieces(path: Path, motion: bm.Motion) -> None:
    """What comes in pieces is what comes at once."""
    with bm.open_motion(path) as reader:
        frames = sum(component.num_frames for chunk in reader.chunks(3) for component in chunk.timed)
    if frames != sum(component.num_frames for component in motion.timed):
        raise Broken(f"{frames} frames in pieces")


def look_at(thing: object) -> None:
    """Ask a thing for what is worked out of it only then."""
    if isinstance(thing, bm.Body):
        for link in thing.links:
            if not (link.offset.shape == (7,) and link.inertia.shape == (3, 3)):
                raise Broken("a link of odd shape")
        shapes = (shape for link in thing.links for shape in (*link.visuals, *link.collisions))
        for shape in itertools.islice(shapes, 20):
            mesh = shape.to_mesh()
            if len(mesh.faces) and not (mesh.faces.min() >= 0 and mesh.faces.max() < len(mesh.vertices)):
                raise Broken("faces without corners")
        with np.errstate(all="ignore"):
            poses = thing.forward_kinematics(np.zeros(thing.num_joints))
        if poses.shape != (len(thing.links), 7):
            raise Broken("poses of odd shape")
    if isinstance(thing, bm.Skeleton):
        thing = replace(
            thing, values=thing.values[:50]
        )  # all poses are asked for by no reader, and may be many times the file
        poses = (
            thing.joint_poses if thing.lengths_are_known else lambda: np.zeros((*thing.local_rotations().shape[:2], 7))
        )
        shown = (
            poses().shape,
            thing.num_frames if not thing.lengths_are_known else thing.end_positions().shape[0],
            thing.local_rotations().shape,
            thing.times.shape,
        )
        count = thing.num_frames, len(thing.joints)
        if shown != ((*count, 7), count[0], (*count, 4), count[:1]) or not thing.frame_rate > 0:
            raise Broken("poses of odd shape")
    if thing != thing:
        raise Broken("not equal to itself")


def _written(target: Target, thing: object, saved: Path) -> None:
    """What was read can be written, and what was written can be read."""
    path = saved / target.written
    try:
        report = bm.save(thing, path, format=target.write)
    except FormatError as error:
        _said(error)
        return
    except ValueError as error:
        if not _meant(error):
            raise
        return
    again = bm.load(path, format=target.write)
    if type(again) is not type(thing):
        raise Broken(f"a {type(thing).__name__} becomes a {type(again).__name__}")
    if target.equal and not report.losses and again != thing:
        raise Broken("it reads back as something else")


def _meant(error: ValueError) -> bool:
    """Whether a writer says, in words of its own, that it has no place for a thing."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return "bodymotion" in Path(last.filename).parts and (last.line or "").startswith(
        ("raise ValueError", "raise WrongUseError")
    )


def fault_name(error: BaseException) -> str:
    """Name a fault by its kind and the place in the project where it happened."""
    kind = type(error).__name__
    trace: TracebackType | None = error.__traceback__
    name = "somewhere"
    for frame in traceback.extract_tb(trace):
        file = Path(frame.filename)
        if "bodymotion" in file.parts:
            name = f"{file.stem}_{frame.name}"
    if isinstance(error, (Broken, Escape)):
        name = re.sub(r"[^A-Za-z0-9]+", "_", str(error))[:60].strip("_")
    elif isinstance(error, Swell):
        name = "memory"
    return re.sub(r"[^A-Za-z0-9_]+", "", f"{kind}_{name}".replace("<", "").replace(">", ""))


def show(error: BaseException) -> None:
    """Print a fault with its trace."""
    traceback.print_exception(type(error), error, error.__traceback__, file=sys.stderr)
