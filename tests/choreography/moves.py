"""Small animations, and what is looked at in the motions that come of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

import bodymotion as bm
from bodymotion.geometry import poses
from bodymotion.spot.animation import GROUPS, Animation, Keyframes, Parameter

LEGS = ("fl", "fr", "hl", "hr")
RADIUS = 0.036


def move(
    controls: str,
    columns: str,
    rows: npt.ArrayLike,
    times: Sequence[float] | npt.NDArray[np.float64] | None = None,
    *,
    parameters: Mapping[str, Parameter] | None = None,
    **options: object,
) -> Animation:
    """Make an animation; groups among the columns stand for their single columns."""
    names = [name for word in columns.split() for name in GROUPS.get(word, (word,))]
    values = np.asarray(rows, dtype=float).reshape(-1, len(names))
    stamps = (
        np.arange(len(values)) * 0.5
        if times is None
        else np.asarray(times, dtype=float)
    )
    return Animation(
        name="test",
        options={"controls": tuple(controls.split()), **options},
        parameters=dict(parameters or {}),
        keyframes=Keyframes(columns=tuple(names), values=values, times=stamps),
    )


def joints(motion: bm.Motion, *names: str) -> npt.NDArray[np.float64]:
    """Return the columns (T, K) of joints by their names; all without names."""
    component = motion.joint_displacement
    wanted = names or component.part_labels
    return np.stack(
        [component.values[:, component.part_labels.index(name)] for name in wanted],
        axis=-1,
    )


def body(motion: bm.Motion) -> npt.NDArray[np.float64]:
    """Return the body's poses (T, 7) in the world."""
    return motion.link_position.values[:, 0]


def links(motion: bm.Motion, *names: str) -> npt.NDArray[np.float64]:
    """Return the poses (T, K, 7) of links in the world."""
    robot = bm.spot.body(arm=motion.joint_displacement.num_parts > 12)
    return robot.link_poses(motion)[:, [robot.link(name).index for name in names]]


def feet(motion: bm.Motion) -> npt.NDArray[np.float64]:
    """Return the feet's centres (T, 4, 3) in the world, by the body's own kinematics."""
    return links(motion, *(f"{leg}_foot" for leg in LEGS))[:, :, :3]


def hand(motion: bm.Motion) -> npt.NDArray[np.float64]:
    """Return the hand's poses (T, 7) in the world."""
    return links(motion, "hand")[:, 0]


def component(motion: bm.Motion, content: str) -> npt.NDArray[np.float64]:
    """Return the values of a component."""
    return next(c.values for c in motion.timed if c.content == content)


def same_poses(a: npt.ArrayLike, b: npt.ArrayLike, atol: float = 1e-9) -> None:
    """Assert that poses (..., 7) are the same, quaternions of either sign."""
    apart = poses.to_matrix(a) - poses.to_matrix(b)
    np.testing.assert_allclose(apart, 0.0, atol=atol)


def on_floor(place: Sequence[float]) -> npt.NDArray[np.float64]:
    """Take a place in the animation frame of a nominal start to the world, whose floor is a foot's radius lower."""
    return np.asarray(place) + np.array([0.0, 0.0, RADIUS])
