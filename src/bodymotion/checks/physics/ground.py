"""The ground of a motion: the feet that may be in contact, and its height."""

from dataclasses import dataclass

import numpy as np

from bodymotion.dynamics import Soles, find_feet, soles
from bodymotion.geometry.arrays import Bools, Floats, Indices, median_step
from bodymotion.model.body import Body

# The smallest number of frames that are measured. The polynomials for derivatives need
# as many.
MIN_FRAMES = 5
# [s] Frames closer together are left out: they cost time and add only noise.
MIN_TIME_STEP = 0.005
# Link poses in one block, which bounds the memory (7 numbers each: 7 MB).
BLOCK_POSES = 1 << 17
# The smallest number of frames in a block, without its overlap.
MIN_BLOCK_FRAMES = 16
# Larger bodies are not measured.
MAX_LINKS = 10_000
# Frames, evenly spread, in which feet and ground are searched.
MAX_GROUND_FRAMES = 400
# [m] A foot up to this height is in contact. With all its points up to this height
# above its lowest. Models of soles are inexact.
CONTACT_HEIGHT = 0.01
# On level ground the lowest foot is near it in at least this part of the frames. Near
# is within `CONTACT_HEIGHT`. The rest is for jumps.
MIN_LEVEL_SHARE = 2.0 / 3.0
# [m²] A body can stand on a foot with a contact patch of this area. A smaller one is a
# point.
MIN_SOLE_AREA = 0.002
MIN_QUATERNION_LENGTH = 1e-6
# Quaternions whose length is not between these are no orientations.
MAX_QUATERNION_LENGTH = 1e6


@dataclass(frozen=True)
class Ground:
    """The ground of a motion with K feet.

    Attributes
    ----------
    feet:
        The feet on it.
    flat:
        (K,) Which feet are flat, so that a body can stand on one. None: balance is not
        measured.
    height:
        [m] Its height, the median of the lowest foot's.
    level:
        Whether it is level.
    """

    feet: Soles
    flat: Bools | None
    height: float
    level: bool


def find_ground(
    body: Body, q: Floats, root: Floats | None, times: Floats
) -> Ground | None:
    """Find the ground of a motion.

    It has joint values (T, J) and root poses (T, 7).

    None where the body has no feet, or where its root link is one of them: then it lies
    on the ground. Without root poses the body is taken to be upright on level ground.
    """
    frames = select_frames(q, root, times)
    if not len(frames) or len(body.links) > MAX_LINKS:
        return None

    block_frames = BLOCK_POSES // len(body.links)
    count = int(np.clip(block_frames, MIN_BLOCK_FRAMES, MAX_GROUND_FRAMES))
    rows = np.linspace(0, len(frames) - 1, count).astype(int)
    chosen = frames[np.unique(rows)]
    root_poses = None if root is None else root[chosen]
    link_poses = body.forward_kinematics(q[chosen], root_poses)

    links = find_feet(body, link_poses)
    if not links or 0 in links:
        return None
    feet = soles(body, links)
    foot_poses = link_poses[:, list(links)]
    foot_heights = lowest_heights(feet, foot_poses)
    heights = foot_heights.min(axis=1)
    height = float(np.median(heights))
    if root is None:
        level = True
    else:
        near = np.abs(heights - height) <= CONTACT_HEIGHT
        level = float(np.mean(near)) >= MIN_LEVEL_SHARE
    flat = _find_flat_feet(feet, foot_poses, foot_heights)
    return Ground(feet, flat, height, level)


def select_frames(q: Floats, root: Floats | None, times: Floats) -> Indices:
    """Select the frames to be measured.

    Those with finite numbers and orientations, at least `MIN_TIME_STEP` apart.
    """
    if len(times) < MIN_FRAMES:
        return np.zeros(0, dtype=np.intp)
    # Equal times would divide by zero.
    time_step = max(median_step(times), 1e-9)
    stride = max(int(MIN_TIME_STEP / time_step), 1)
    frames = np.arange(0, len(times), stride)
    valid = np.isfinite(q[frames]).all(axis=1)
    if root is not None:
        length = np.linalg.norm(root[frames, 3:], axis=1)
        valid &= np.isfinite(root[frames]).all(axis=1)
        valid &= (length > MIN_QUATERNION_LENGTH) & (length < MAX_QUATERNION_LENGTH)
    return np.asarray(frames[valid], dtype=np.intp)


def lowest_heights(feet: Soles, foot_poses: Floats) -> Floats:
    """Return the heights (T, K) [m] of lowest points.

    Of feet at poses (T, K, 7).
    """
    from bodymotion.kernels.feet import lowest

    return lowest(foot_poses, feet.points, feet.edges, 0.0)[..., 0]


def _find_flat_feet(feet: Soles, foot_poses: Floats, heights: Floats) -> Bools:
    """Return which feet (K,) have a contact patch of at least `MIN_SOLE_AREA`.

    In the frame where each is lowest, of poses (T, K, 7) and heights (T, K).
    """
    from bodymotion.kernels.feet import hulls

    # Row k is the frame of foot k, in which only this foot stands.
    frames = heights.argmin(axis=0)
    corners, counts = hulls(
        foot_poses[frames],
        feet.points,
        feet.edges,
        np.eye(len(frames)),
        heights[frames],
        CONTACT_HEIGHT / 2,
    )
    areas = np.zeros(len(frames))
    for foot, count in enumerate(counts):
        x, y = corners[foot, :count].T
        # The area of a polygon is half the sum of x_k y_(k+1) − y_k x_(k+1).
        doubled = np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))
        areas[foot] = 0.5 * abs(float(doubled))
    return np.asarray(areas >= MIN_SOLE_AREA)
