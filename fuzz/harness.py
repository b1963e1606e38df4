"""One input: bytes become a file, the file a value or a FormatError, the value a file again. Anything else is a fault."""

from __future__ import annotations

import contextlib
import itertools
import re
import sys
import traceback
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import TracebackType

import numpy as np
from click import BadParameter

import bodymotion as bm
from bodymotion.diagnostics import FormatError, WrongUseError
from bodymotion.formats.registry import find_format
from fuzz.target import Target
from fuzz.watching import MEMORY, SECONDS, Escape, Swell, scratch, watched

with contextlib.suppress(ImportError):
    import mujoco  # noqa: F401 - its first import starts a process, which no input may do

__all__ = ["Broken", "Workspace", "attempt", "evaluate", "fault_name", "show"]


class Broken(AssertionError):  # noqa: N818
    """The value that was read is wrong."""


class Workspace:
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
        (Path(self._folder.name) / "secret.wrl").write_bytes(
            b"#VRML V2.0 utf8\nShape { geometry Sphere { } }\n"
        )

    def close(self) -> None:
        """Remove the folder."""
        self._folder.cleanup()


def attempt(
    workspace: Workspace, data: bytes, seconds: float = SECONDS, memory: int = MEMORY
) -> str:
    """Read, check, evaluate and write one input; return `"refused"`, or the name of the value's type.

    Raises
    ------
    BaseException
        Any exception but FormatError; `Hang`, `Swell` and `Escape` of `fuzz.watching`; `Broken`.
    """
    target = workspace.target
    path = workspace.folder / target.file
    target.put(data, path)
    opened = workspace.folder / (target.opened or target.file)
    with (
        warnings.catch_warnings(),
        watched(workspace.folder, len(data), seconds, memory),
    ):
        warnings.simplefilter("ignore")
        if target.read is not None:
            return _attempt_to_read(target.read, opened)
        return _attempt(target, path, opened, workspace.saved)


REFUSALS = (FormatError, WrongUseError, BadParameter, OSError)
"""What commands print of readers that are none of a format, as a message."""


def _attempt_to_read(read: Callable[[Path], object], path: Path) -> str:
    try:
        return type(read(path)).__name__
    except REFUSALS as error:
        if isinstance(error, FormatError):
            _check_message(error)
        if not str(error):
            raise Broken(f"an error without a message: {error!r}") from error
        return "refused"


def _attempt(target: Target, path: Path, opened: Path, saved: Path) -> str:
    try:
        find_format(path)
    except FormatError as error:
        _check_message(error)
    value, refused = None, ""
    try:
        value = bm.load(opened, format=target.format, untrusted=True)
    except FormatError as error:
        _check_message(error)
        refused = error.problem.rule
    report = bm.check(opened, format=target.format, untrusted=True)
    for problem in report.problems:
        str(problem)
    if value is None:
        if report.ok:
            raise Broken(f"load refuses what check finds no error in: {refused}")
        return "refused"
    if target.format == "seq":
        _in_pieces(path, value)
    evaluate(value)
    _written(target, value, saved)
    return type(value).__name__


def _check_message(error: FormatError) -> None:
    """Check that an error has a rule and a message."""
    if not (error.problem.rule and error.problem.message):
        raise Broken(f"an error without a message: {error!r}")
    str(error)


def _in_pieces(path: Path, motion: bm.Motion) -> None:
    """Check that reading in pieces returns the same frames as reading at once."""
    with bm.open_motion(path) as reader:
        frames = sum(
            component.num_frames
            for chunk in reader.chunks(3)
            for component in chunk.timed
        )
    if frames != sum(component.num_frames for component in motion.timed):
        raise Broken(f"{frames} frames in pieces")


def evaluate(value: object) -> None:
    """Compute the properties of a value that are computed on first use."""
    if isinstance(value, bm.Body):
        for link in value.links:
            if not (link.offset.shape == (7,) and link.inertia.shape == (3, 3)):
                raise Broken("a link of wrong shape")
        shapes = (
            shape for link in value.links for shape in (*link.visuals, *link.collisions)
        )
        for shape in itertools.islice(shapes, 20):
            mesh = shape.to_mesh()
            if len(mesh.faces) and not (
                mesh.faces.min() >= 0 and mesh.faces.max() < len(mesh.vertices)
            ):
                raise Broken("faces without corners")
        with np.errstate(all="ignore"):
            poses = value.forward_kinematics(np.zeros(value.num_joints))
        if poses.shape != (len(value.links), 7):
            raise Broken("poses of wrong shape")
    if isinstance(value, bm.Skeleton):
        value = replace(
            value, values=value.values[:50]
        )  # no reader computes all poses; they may be many times as large as the file
        poses = (
            value.joint_poses
            if value.lengths_are_known
            else lambda: np.zeros((*value.local_rotations().shape[:2], 7))
        )
        shown = (
            poses().shape,
            value.num_frames
            if not value.lengths_are_known
            else value.end_positions().shape[0],
            value.local_rotations().shape,
            value.times.shape,
        )
        count = value.num_frames, len(value.joints)
        if (
            shown != ((*count, 7), count[0], (*count, 4), count[:1])
            or not value.frame_rate > 0
        ):
            raise Broken("poses of wrong shape")
    if value != value:
        raise Broken("not equal to itself")


def _written(target: Target, value: object, saved: Path) -> None:
    """Check that the value can be written, and read again."""
    path = saved / target.written
    try:
        report = bm.save(value, path, format=target.write)
    except FormatError as error:
        _check_message(error)
        return
    except ValueError as error:
        if not _meant(error):
            raise
        return
    again = bm.load(path, format=target.write)
    if type(again) is not type(value):
        raise Broken(f"a {type(value).__name__} becomes a {type(again).__name__}")
    if target.equal and not report.losses and again != value:
        raise Broken("it reads back as something else")


def _meant(error: ValueError) -> bool:
    """Return whether a writer reports, by a `raise` of its own, that it cannot write a value."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return "bodymotion" in Path(last.filename).parts and (last.line or "").startswith(
        ("raise ValueError", "raise WrongUseError")
    )


def fault_name(error: BaseException) -> str:
    """Return a name for a fault: its kind and the function of the project where it happened."""
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
    return re.sub(
        r"[^A-Za-z0-9_]+", "", f"{kind}_{name}".replace("<", "").replace(">", "")
    )


def show(error: BaseException) -> None:
    """Print a fault with its trace."""
    traceback.print_exception(type(error), error, error.__traceback__, file=sys.stderr)
