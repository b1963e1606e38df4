"""Components made from the arrays of a caller; what does not fit together is rejected with a message."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats, real_numbers
from bodymotion.motion.components import (
    JOINT_DISPLACEMENT,
    LINK_POSITION,
    ZMP,
    Component,
    MultiSE3Seq,
    MultiValueSeq,
    Timeline,
    Vector3Seq,
)


def of_joints(
    q: npt.ArrayLike,
    frame_rate: float | None,
    times: npt.ArrayLike | None,
    *,
    root: npt.ArrayLike | None,
    zmp: npt.ArrayLike | None,
    zmp_is_root_relative: bool,
    joint_names: Sequence[str],
) -> tuple[Component, ...]:
    """Return the components of `Motion.from_joints`, which describes the arrays and the errors."""
    values = real_numbers(q, "q")
    if values.ndim != 2:
        raise ValueError(f"q: expected shape (frames, joints), got {values.shape}")
    timeline = _timeline_for(len(values), frame_rate, times)
    labels = _names(joint_names, "joint_names")
    if labels and len(labels) != values.shape[1]:
        raise ValueError(f"{len(labels)} joint names for q of shape {values.shape}")
    components: list[Component] = []
    if root is not None:
        components.append(_root_component(real_numbers(root, "root"), values, timeline))
    components.append(MultiValueSeq(content=JOINT_DISPLACEMENT, timeline=timeline, values=values, part_labels=labels))
    if zmp is not None:
        points = real_numbers(zmp, "zmp")
        if points.shape != (len(values), 3):
            raise ValueError(
                f"zmp: expected shape {(len(values), 3)} for q of shape {values.shape}, got {points.shape}"
            )
        components.append(
            Vector3Seq(content=ZMP, timeline=timeline, values=points, is_root_relative=zmp_is_root_relative)
        )
    return tuple(components)


def of_link_poses(
    poses: npt.ArrayLike, frame_rate: float | None, times: npt.ArrayLike | None, link_names: Sequence[str]
) -> tuple[Component, ...]:
    """Return the component of `Motion.from_link_poses`, which describes the arrays and the errors."""
    values = real_numbers(poses, "poses")
    if values.ndim != 3 or values.shape[2] != 7:
        raise ValueError(f"poses: expected shape (frames, links, 7), got {values.shape}")
    labels = _names(link_names, "link_names")
    if labels and len(labels) != values.shape[1]:
        raise ValueError(f"{len(labels)} link names for poses of shape {values.shape}")
    _check_quaternions(values, "poses")
    timeline = _timeline_for(len(values), frame_rate, times)
    return (MultiSE3Seq(content=LINK_POSITION, timeline=timeline, values=values, part_labels=labels),)


def _timeline_for(count: int, frame_rate: float | None, times: npt.ArrayLike | None) -> Timeline:
    if (frame_rate is None) == (times is None):
        raise ValueError("expected either a frame_rate [Hz] or the times [s] of the frames; give exactly one of them")
    if times is None:
        rate = (
            frame_rate.item()
            if isinstance(frame_rate, (np.ndarray, np.generic)) and not frame_rate.ndim
            else frame_rate
        )
        if isinstance(rate, bool) or not isinstance(rate, Real):
            raise ValueError(f"frame_rate: expected a real number of Hz, got {frame_rate!r}")
        return Timeline.uniform(count, float(rate))
    stamps = real_numbers(times, "times")
    if stamps.shape != (count,):
        raise ValueError(f"times: expected shape {(count,)}, one for each of {count} frames, got {stamps.shape}")
    increasing = np.diff(stamps) > 0
    if not np.isfinite(stamps).all() or not increasing.all():
        raise ValueError(f"times must increase; after frame {int(np.argmin(increasing))} they do not")
    return Timeline.stamped(stamps)


def _names(names: Sequence[str], what: str) -> tuple[str, ...]:
    if isinstance(names, (str, bytes)):
        raise ValueError(f"{what}: expected a sequence of names, got the one text {names!r}")
    found = tuple(names)
    for name in found:
        if not isinstance(name, str):
            raise ValueError(f"{what}: expected texts, got {name!r}")
    return tuple(map(str, found))


def _root_component(root: Floats, q: Floats, timeline: Timeline) -> MultiSE3Seq:
    if root.shape == (7,):
        root = np.tile(root, (len(q), 1))
    if root.shape != (len(q), 7):
        raise ValueError(f"root: expected shape {(len(q), 7)} for q of shape {q.shape}, got {root.shape}")
    _check_quaternions(root, "root")
    return MultiSE3Seq(content=LINK_POSITION, timeline=timeline, values=root[:, None])


def _check_quaternions(poses: Floats, what: str) -> None:
    """Raise ValueError for anything far from a unit quaternion: mostly another order of numbers, or angles."""
    lengths = np.linalg.norm(poses[..., 3:], axis=-1).reshape(len(poses), -1)
    far = np.abs(lengths - 1) > 1e-3
    if far.any():
        frame = int(np.argmax(far.any(axis=1)))
        raise ValueError(
            f"{what}: the last four numbers of a pose must be a unit quaternion w x y z; in frame {frame} its length is "
            f"{lengths[frame][far[frame]][0]:.6g}"
        )


def of_mujoco(
    model: Any,  # noqa: ANN401
    qpos: npt.ArrayLike,
    frame_rate: float | None,
    times: npt.ArrayLike | None,
    prefix: str,
) -> tuple[Component, ...]:
    """Return the components of positions of MuJoCo; arguments are those of `Motion.from_mujoco`."""
    table = np.asarray(qpos, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != model.nq:
        raise ValueError(f"qpos: expected shape (T, {model.nq}), got {table.shape}")
    root: Floats | None = None
    columns, names = [], []
    for joint in map(model.joint, range(model.njnt)):
        kind, start = int(joint.type[0]), int(joint.qposadr[0])
        if not joint.name.startswith(prefix):
            continue
        if kind == FREE and root is None:
            root = table[:, start : start + 7]
        elif kind in (SLIDE, HINGE):
            columns.append(start)
            names.append(joint.name[len(prefix) :])
        else:
            raise ValueError(f"joint {joint.name!r} is a ball, or a second free joint, which a motion does not hold")
    return of_joints(
        table[:, columns], frame_rate, times, root=root, zmp=None, zmp_is_root_relative=False, joint_names=names
    )


FREE, SLIDE, HINGE = 0, 2, 3
"""Types of joints: mjtJoint."""
