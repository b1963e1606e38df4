"""Many motions as arrays for training.

Windows of frames, statistics, a split between training and test, batches.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bodymotion.collection.mapping import Outcome
from bodymotion.diagnostics import ShortRepr, WrongUseError
from bodymotion.diagnostics.text import listed, with_article
from bodymotion.dynamics import (
    Derivative,
    derivatives,
    inverse_dynamics,
    pose_derivatives,
)
from bodymotion.geometry.arrays import Bools, Floats, Indices, check_memory
from bodymotion.model.body import Body
from bodymotion.motion import Motion, MultiSE3Seq

__all__ = ["Tensors"]

ROOT = tuple(f"root_{axis}" for axis in ("x", "y", "z", "qw", "qx", "qy", "qz"))
# [rad or m] A channel that varies less is divided by 1.
MIN_STD = 1e-6
# Where a library has `from_dlpack`, if not at its top.
MODULES = {"jax": "jax.dlpack"}


@dataclass(frozen=True, eq=False)
class Tensors(ShortRepr):
    """Windows of the motions of a collection, all of the same length.

    Attributes
    ----------
    values:
        (N, T, C) 32-bit numbers: the root pose x y z qw qx qy qz in the world [m], then
        the joints [rad or m]. The quaternion has continuous signs, and qw >= 0 in the
        first frame. After the last frame of a motion, that frame is repeated.
    mask:
        (N, T): which frames are those of the motion.
    channels:
        The names of the C channels.
    motions, starts:
        (N,) the name of the motion of each window, and the number of its first frame.
    is_test:
        (N,): which windows are for tests. All windows of a group are on the same side.
    mean, std:
        (C,) statistics of the frames that are for training; a std below 1e-6 is 1.
    frame_rate:
        [Hz].
    left_out:
        Motions that could not be used, with the reason.
    """

    values: npt.NDArray[np.float32]
    mask: Bools
    channels: tuple[str, ...]
    motions: tuple[str, ...]
    starts: Indices
    is_test: Bools
    mean: Floats
    std: Floats
    frame_rate: float
    left_out: dict[str, str]

    def batches(
        self,
        size: int,
        *,
        test: bool = False,
        normalised: bool = True,
        seed: int | None = None,
        library: str = "numpy",
    ) -> Iterator[tuple[Any, Any]]:
        """Return values (B, T, C) and mask (B, T) of up to `size` windows at a time.

        Each window once.

        Parameters
        ----------
        test:
            Whether the windows are those for tests; else those for training.
        normalised:
            Subtract the mean and divide by the std.
        seed:
            Shuffle the windows; by default they are in order.
        library:
            `torch`, `jax` or another library with `from_dlpack`: the arrays are its, of
            the same memory.
        """
        if size < 1:
            raise WrongUseError(f"size is {size}; expected at least 1 window")
        rows = np.flatnonzero(self.is_test == test)
        if seed is not None:
            rows = np.random.default_rng(seed).permutation(rows)
        if library != "numpy":
            convert = import_module(MODULES.get(library, library)).from_dlpack
        else:
            convert = np.asarray
        for k in range(0, len(rows), size):
            values = self.values[rows[k : k + size]]
            mask = self.mask[rows[k : k + size]]
            if normalised:
                values = ((values - self.mean) / self.std).astype(np.float32)
            yield convert(values), convert(mask)

    def link_poses(self, body: Body, *, device: str | None = None) -> Floats:
        """Return the poses (N, T, L, 7) of all links of a body in the world.

        For all windows in one call.

        Parameters
        ----------
        device:
            `cuda`, `cuda:1` or `cpu` of Warp, which computes in single precision (extra
            `gpu`); by default NumPy computes.

        Raises
        ------
        ValueError
            When the channels are not those of the body, in its order: give `body` to
            `to_tensors`.
        """
        q, root = self._configurations(body)
        if device is None:
            return body.forward_kinematics(q, root)
        from bodymotion.simulation.warp import frames_together

        return frames_together(body, q, root, (), device)[0]

    def inverse_dynamics(
        self,
        body: Body,
        *,
        derivative: Derivative = "spline",
        device: str | None = None,
    ) -> tuple[Floats, Floats]:
        """Return torques (N, T, J) of all joints and wrenches (N, T, 6) at the root.

        In Nm, for slides in N; for all windows.

        They are the `torques` and the `root_wrench` of
        `bodymotion.dynamics.inverse_dynamics`: all external forces act on the root.
        Derivatives by time are those of each window alone, so they are least accurate
        at its ends. Frames that pad a window are at rest.
        `derivative` is as for `bodymotion.dynamics.derivatives`; `device` and errors
        are as for `link_poses`.
        """
        q, root = self._configurations(body)
        rates = [
            np.zeros((*q.shape[:2], width))
            for width in (q.shape[-1], q.shape[-1], 6, 6)
        ]
        lengths = self.mask.sum(axis=1)
        for length in np.unique(lengths):
            rows = np.flatnonzero(lengths == length)
            times = np.arange(length) / self.frame_rate
            for k, (method, values) in enumerate(
                ((derivatives, q), (pose_derivatives, root))
            ):
                found = method(
                    np.swapaxes(values[rows, :length], 0, 1), times, derivative
                )
                for into, rate in zip(rates[2 * k : 2 * k + 2], found, strict=True):
                    into[rows, :length] = np.swapaxes(rate, 0, 1)
        if device is None:
            alone = inverse_dynamics(body, body.forward_kinematics(q, root), *rates)
            return alone.torques, alone.root_wrench
        from bodymotion.simulation.warp import frames_together

        _, torques, wrench = frames_together(body, q, root, rates, device)
        return torques, wrench

    def _configurations(self, body: Body) -> tuple[Floats, Floats]:
        """Return joint values (N, T, J), unwrapped, and root poses (N, T, 7)."""
        names = tuple(joint.name for joint in body.joints)
        if self.channels != (*ROOT, *names):
            raise ValueError(
                f"the channels are not the {len(names)} joints of "
                f"{body.name or 'the body'}: give it to to_tensors"
            )
        values = self.values.astype(np.float64)
        q = values[..., len(ROOT) :]
        revolute = [
            column for column, joint in enumerate(body.joints) if joint.type == "rotate"
        ]
        q[..., revolute] = np.unwrap(q[..., revolute], axis=1)
        return q, values[..., : len(ROOT)]


def frames_of(
    motion: Any,  # noqa: ANN401
    body: Body | None,
    frame_rate: float | None,
) -> tuple[tuple[str, ...], float, Floats]:
    """Return the channels, the frame rate, and the values (T, C) of a motion.

    Raises
    ------
    ValueError
        When it is no motion, or has no root, no joint names or values that are not
        finite.
    """
    if not isinstance(motion, Motion):
        raise ValueError(f"holds {with_article(type(motion).__name__)}, not a motion")
    motion = motion.on_common_timeline(
        frame_rate or motion.frame_rate, "linear", antialias=frame_rate is not None
    )
    joints = motion.joint_displacement
    links = motion.link_position
    if joints is None or links is None or not links.values.size:
        raise ValueError("has no joints, or no root pose")
    names = joints.part_labels
    if body is not None:
        names = tuple(joint.name for joint in body.joints)
    if not names or not all(names):
        raise ValueError("has no names of joints: give the body")
    root = links.values[:, _root_column(links, body)].copy()
    # The sign of a quaternion is that of the frame before; w is positive at first.
    products = (root[1:, 3:] * root[:-1, 3:]).sum(axis=1)
    first_sign = 1.0 if root[0, 3] >= 0 else -1.0
    signs = np.cumprod([first_sign, *np.where(products < 0, -1.0, 1.0)])
    root[:, 3:] *= signs[:, None]
    q = joints.values if body is None else body.joint_values(joints)
    values = np.concatenate([root, q], axis=1)
    if not np.isfinite(values).all():
        raise ValueError("has values that are not finite")
    return (*ROOT, *names), float(motion.frame_rate or 0), values


def _root_column(links: MultiSE3Seq, body: Body | None) -> int:
    """Return the column of the root link: by name where both have names."""
    labels = links.part_labels
    if body is None or not any(labels) or not labels[0]:
        return 0
    name = body.links[0].name
    if name not in labels:
        raise ValueError(
            f"has no pose of the root link {name}, but of {listed(labels, 5)}"
        )
    return labels.index(name)


def windows_of(
    names: Sequence[str],
    outcomes: Iterable[Outcome],
    window: int | None,
    step: int | None,
    test: float,
    group: Callable[[str], str],
) -> Tensors:
    """Return the windows of motions, from their outcomes of `frames_of` in order.

    See `Collection.to_tensors`.
    """
    for name, frames in (("window", window), ("step", step)):
        if frames is not None and frames < 1:
            raise WrongUseError(f"{name} is {frames}; expected at least 1 frame")
    if not 0 <= test < 1:
        raise WrongUseError(f"test is {test:g}; expected a share from 0 to less than 1")
    usable = _collect(names, outcomes)
    motions = usable.motions
    num_channels = len(usable.channels)
    length = window or max(map(len, motions.values()))
    step = step or length
    rows = []
    for name, values in motions.items():
        # The last window is the first one that has the last frame.
        end = min(max(len(values) - length, 0) + step, len(values))
        rows += [(name, start) for start in range(0, end, step)]
    check_memory(
        4 * len(rows) * length * num_channels,
        f"{len(rows)} windows of {length} frames",
    )
    windows, mask = _fill_windows(motions, rows, length, num_channels)
    is_test = {name: _share(group(name)) < test for name in motions}
    training = [values for name, values in motions.items() if not is_test[name]]
    if not training:
        raise ValueError(
            f"all {len(motions)} motions are for tests: no motion is left for training"
        )
    # Statistics of the training part only: those of tests must not leak into it.
    together = np.concatenate(training)
    std = together.std(axis=0)
    std[std < MIN_STD] = 1
    return Tensors(
        windows,
        mask,
        usable.channels,
        tuple(name for name, _ in rows),
        np.array([start for _, start in rows]),
        np.array([is_test[name] for name, _ in rows]),
        together.mean(axis=0),
        std,
        usable.frame_rate,
        usable.left_out,
    )


def _fill_windows(
    motions: Mapping[str, Floats],
    rows: Sequence[tuple[str, int]],
    length: int,
    num_channels: int,
) -> tuple[npt.NDArray[np.float32], Bools]:
    """Return the windows (N, T, C), and which of their frames (N, T) are of the motion.

    `rows` are the motion and the first frame of each.
    """
    windows = np.empty((len(rows), length, num_channels), np.float32)
    mask = np.empty((len(rows), length), np.bool_)
    for k, (name, start) in enumerate(rows):
        values = motions[name]
        frames = start + np.arange(length)
        mask[k] = frames < len(values)
        # The last window is padded with the last frame.
        windows[k] = values[np.minimum(frames, len(values) - 1)]
    return windows, mask


class _UsableMotions(NamedTuple):
    """The values (T, C) of motions of the same channels and frame rate [Hz].

    `left_out`: why others cannot be used.
    """

    motions: dict[str, Floats]
    channels: tuple[str, ...]
    frame_rate: float
    left_out: dict[str, str]


def _collect(names: Sequence[str], outcomes: Iterable[Outcome]) -> _UsableMotions:
    """Return the motions that can be used.

    ValueError where two differ, or there are none.
    """
    motions: dict[str, Floats] = {}
    left_out: dict[str, str] = {}
    shared: tuple[tuple[str, ...], float] | None = None
    for name, outcome in zip(names, outcomes, strict=True):
        if outcome.error is not None:
            left_out[name] = str(outcome.error)
            continue
        channels, rate, values = outcome.value
        if shared is None:
            shared = (channels, rate)
        if shared != (channels, rate):
            first = next(iter(motions))
            raise ValueError(
                f"{name} has other joints, or another frame rate ({rate:g} Hz), than "
                f"{first} ({shared[1]:g} Hz): "
                "give the body for the same joints, frame_rate for the same rate"
            )
        motions[name] = values
    if shared is None:
        raise ValueError(
            "no motion can be used: "
            f"{next(iter(left_out.items()), 'the collection is empty')}"
        )
    return _UsableMotions(motions, *shared, left_out)


def _share(group: str) -> float:
    """Return a number in [0, 1) that depends on the name alone.

    So motions keep their side when others are added.
    """
    digest = hashlib.sha256(group.encode(errors="surrogateescape")).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
