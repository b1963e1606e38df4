"""Poses (..., 7): a position and a quaternion.

X y z in metres, then w x y z, in the frame that the caller names.
"""

import numpy as np
import numpy.typing as npt

from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats

IDENTITY: Floats = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
IDENTITY.flags.writeable = False


def from_parts(position: npt.ArrayLike, quaternion: npt.ArrayLike) -> Floats:
    """Return the poses of positions (..., 3) and quaternions w x y z (..., 4)."""
    p = np.asarray(position, dtype=np.float64)
    q = np.asarray(quaternion, dtype=np.float64)
    batch = np.broadcast_shapes(p.shape[:-1], q.shape[:-1])
    return np.concatenate(
        [np.broadcast_to(p, (*batch, 3)), np.broadcast_to(q, (*batch, 4))], axis=-1
    )


def compose(a: npt.ArrayLike, b: npt.ArrayLike) -> Floats:
    """Return the pose of C in A from that of B in A and that of C in B."""
    a = np.asarray(a, dtype=np.float64)
    b = np.asarray(b, dtype=np.float64)
    q = rotations.normalized(a[..., 3:])
    position = a[..., :3] + rotations.rotate(q, b[..., :3])
    return from_parts(position, rotations.multiply(q, rotations.normalized(b[..., 3:])))


def inverse(pose: npt.ArrayLike) -> Floats:
    """Return the pose of A in B from that of B in A."""
    pose = np.asarray(pose, dtype=np.float64)
    q = rotations.conjugate(rotations.normalized(pose[..., 3:]))
    return from_parts(-rotations.rotate(q, pose[..., :3]), q)


def to_matrix(pose: npt.ArrayLike) -> Floats:
    """Return homogeneous matrices (..., 4, 4)."""
    pose = np.asarray(pose, dtype=np.float64)
    matrix = np.zeros((*pose.shape[:-1], 4, 4))
    matrix[..., :3, :3] = rotations.to_matrix(pose[..., 3:])
    matrix[..., :3, 3] = pose[..., :3]
    matrix[..., 3, 3] = 1.0
    return matrix


def from_matrix(matrix: npt.ArrayLike) -> Floats:
    """Return the poses of rigid homogeneous matrices (..., 4, 4)."""
    matrix = np.asarray(matrix, dtype=np.float64)
    return from_parts(matrix[..., :3, 3], rotations.from_matrix(matrix[..., :3, :3]))


def is_rigid(matrix: npt.ArrayLike) -> bool:
    """Return whether a matrix (4, 4) is a rotation and translation.

    Without scaling or reflection.
    """
    rotation = np.asarray(matrix, dtype=np.float64)[:3, :3]
    return bool(
        (np.abs(rotation @ rotation.T - np.eye(3)) < 1e-6).all()
        and np.linalg.det(rotation) > 0
    )


def nearest_rigid(matrix: npt.ArrayLike) -> Floats:
    """Return a matrix (4, 4) with the nearest rotation as its linear part.

    From the polar decomposition.
    """
    matrix = np.asarray(matrix, dtype=np.float64)
    if is_rigid(matrix):
        return matrix
    u, _, v = np.linalg.svd(matrix[:3, :3])
    # The sign keeps the product from being a reflection: the axis of the smallest
    # singular value changes, which is nearest.
    rotation = u @ np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ v)) or 1.0]) @ v
    result = matrix.copy()
    result[:3, :3] = rotation
    return result


def transform_points(pose: npt.ArrayLike, points: npt.ArrayLike) -> Floats:
    """Return points (..., 3) of the frame of a pose in the frame around it."""
    pose = np.asarray(pose, dtype=np.float64)
    return np.asarray(
        pose[..., :3] + rotations.rotate(rotations.normalized(pose[..., 3:]), points)
    )


def pose_difference(pose: Floats, other: Floats) -> Floats:
    """Return the change (..., 6) that moves another pose to a pose.

    It is x, y, z [m] and a rotation vector [rad], in the frame that both poses are in.
    """
    rotated = rotations.difference(pose[..., 3:], other[..., 3:])
    return np.concatenate((pose[..., :3] - other[..., :3], rotated), axis=-1)


def changed_pose(pose: Floats, change: Floats) -> Floats:
    """Return poses (..., 7) moved by a change (..., 6); see `pose_difference`."""
    turn = rotations.from_vector(change[..., 3:])
    rotated = rotations.multiply(turn, pose[..., 3:])
    return np.concatenate([pose[..., :3] + change[..., :3], rotated], axis=-1)
