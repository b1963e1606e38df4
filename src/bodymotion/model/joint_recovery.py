"""Joint displacements from the poses of all links of a body."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from bodymotion.diagnostics import ShortRepr
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body
from bodymotion.model.rules import NOT_RIGID
from bodymotion.motion import JOINT_DISPLACEMENT, Motion, MultiSE3Seq, MultiValueSeq

# Link poses that are processed at once; it limits the memory.
CHUNK_POSES = 1 << 16
# [m, rad] A larger residual is reported.
RESIDUAL_TOLERANCE = 1e-3


@dataclass(frozen=True)
class Residual(ShortRepr):
    """The difference between link poses and those by root and joints.

    The largest distance [m] and angle [rad], with link and frame.
    """

    distance: float = 0.0
    distance_link: str = ""
    distance_frame: int = 0
    angle: float = 0.0
    angle_link: str = ""
    angle_frame: int = 0

    def __str__(self) -> str:
        return (
            f"links are at most {self.distance * 1000:.3g} mm ({self.distance_link}, "
            f"frame {self.distance_frame}) and "
            f"{np.degrees(self.angle):.3g}° ({self.angle_link}, frame "
            f"{self.angle_frame}) from the poses by root and joints"
        )


def recover_joints(motion: Motion, body: Body) -> tuple[Motion, Residual]:
    """Compute the joint displacements from the poses of all links.

    See `Body.recovered_joints`. Columns that move no link, and crawlers, keep their
    values where the motion has joint displacements on the same timeline, and are 0
    otherwise.

    Returns
    -------
    The motion with JointDisplacement (T, J), which replaces an existing one, and the
    residual of the link poses. `problems` reports more than 1 mm or 1 mrad. Existing
    columns are identified by name where they have names (`Body.joint_columns`).

    Raises
    ------
    ValueError
        When the motion does not have the poses of all links; the message names the
        counts. Also when only some of the names of its joints are the body's.
    """
    positions = _require_poses(motion, body)
    recorded = motion.joint_displacement
    q = np.zeros((positions.num_frames, body.num_joints))
    columns: Sequence[int] = ()
    if recorded is not None:
        columns = body.joint_columns(recorded)
        # Values of columns that move no link cannot be recovered from poses.
        if recorded.timeline == positions.timeline:
            known = [k for k, column in enumerate(columns) if column >= 0]
            q[:, known] = recorded.values[:, [columns[k] for k in known]]
    q = body.recovered_joints(positions.values, q)
    recovered = MultiValueSeq(
        content=JOINT_DISPLACEMENT, timeline=positions.timeline, values=q
    )
    components = list(motion.components)
    # A new component follows the poses, an existing one is replaced where it is.
    if recorded is None:
        components.insert(_index_of(positions, components) + 1, recovered)
    else:
        labels = _labels(recorded.part_labels, tuple(columns), body)
        components[_index_of(recorded, components)] = replace(
            recorded, timeline=positions.timeline, values=q, part_labels=labels
        )
    residual = _compute_residual(positions.values, q, body)
    # Poses that no joint values lead to: the links are not rigidly joined as in the
    # body.
    problems = []
    if max(residual.distance, residual.angle) > RESIDUAL_TOLERANCE:
        problems.append(NOT_RIGID.problem(str(residual)))
    return motion.replaced(*components, problems=problems), residual


def _require_poses(motion: Motion, body: Body) -> MultiSE3Seq:
    """Return the component with the poses of all links; ValueError without one."""
    positions = motion.link_position
    num_poses = 0
    if positions is not None:
        num_poses = positions.num_parts
        if num_poses >= len(body.links):
            return positions
    raise ValueError(
        f"the motion has poses of {num_poses} links, {body.name or 'the body'} has "
        f"{len(body.links)} links: joints need the poses of all of them"
    )


def _index_of(component: object, components: Sequence[object]) -> int:
    """Return the index of a component itself, not of one that is equal."""
    return next(k for k, other in enumerate(components) if other is component)


def _labels(
    labels: tuple[str, ...], columns: tuple[int, ...], body: Body
) -> tuple[str, ...]:
    """Return the labels of columns in the body's order.

    New joints get the names of the body.
    """
    in_order = tuple(range(len(labels)))
    if not labels or columns[: len(labels)] == in_order[: len(columns)]:
        return labels[: len(columns)]
    return tuple(
        labels[column] if 0 <= column < len(labels) else joint.name
        for column, joint in zip(columns, body.joints, strict=True)
    )


class _Largest(NamedTuple):
    """The largest of some values (T, L), its frame and its link."""

    value: float = 0.0
    frame: int = 0
    link: int = 0


def _compute_residual(link_poses: Floats, q: Floats, body: Body) -> Residual:
    """Return how far link poses (T, L, 7) are from those by root and joints."""
    count = len(body.links)
    # As many frames at a time as bound the memory.
    step = max(CHUNK_POSES // max(count, 1), 1)
    distance = _Largest()
    angle = _Largest()
    for start in range(0, len(link_poses), step):
        recorded = link_poses[start : start + step, :count]
        # Kinematics from the recorded root, so that its own error does not count.
        rigid = body.forward_kinematics(q[start : start + step], recorded[:, 0])
        distances = np.linalg.norm(rigid[..., :3] - recorded[..., :3], axis=-1)
        angles = rotations.angle_between(rigid[..., 3:], recorded[..., 3:])
        distance = max(distance, _find_largest(distances, start))
        angle = max(angle, _find_largest(angles, start))
    return Residual(
        distance.value,
        body.links[distance.link].name,
        distance.frame,
        angle.value,
        body.links[angle.link].name,
        angle.frame,
    )


def _find_largest(values: Floats, start: int) -> _Largest:
    """Return the largest of values (T, L) of frames from `start` on.

    Numbers that are not finite are ignored.
    """
    # A pose that is NaN has no distance.
    usable = np.where(np.isfinite(values), values, 0.0)
    frame, link = np.unravel_index(int(np.argmax(usable)), usable.shape)
    return _Largest(float(usable[frame, link]), start + int(frame), int(link))
