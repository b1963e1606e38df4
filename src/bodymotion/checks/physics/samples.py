"""`Samples`: what the rules about feet, balance and motors need, measured once over a motion.

Long motions are measured in blocks of some thousand frames, which overlap by the window of the derivatives. Only a few numbers of each
frame are kept. Of more than 400 frames per second every second one is measured, of more than 600 every third.

Velocities and accelerations are those of polynomials over `WINDOW` seconds (Savitzky and Golay). Errors of single frames and of rounding
are reported by other rules.
"""

from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.checks.findings import Sampling
from bodymotion.dynamics import Measures, Soles, SupportPolygons, find_feet, ground_height, measure, root_on_feet, soles
from bodymotion.dynamics.differentiation import stretches
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, median_step
from bodymotion.model.body import Body
from bodymotion.model.links import effort_range
from bodymotion.motion import Motion, Vector3Seq
from bodymotion.motion.interpolation import sampled

WINDOW = 0.08  # [s] The window of the polynomials for derivatives; it has at least five frames.
MIN_TIME_STEP = 0.005  # [s] Frames closer together are left out.
MAX_TIME_STEP = 0.05  # [s] Forces are not computed from frames farther apart.
BLOCK_POSES = 1 << 17  # Link poses in one block.
MAX_LINKS = 10_000  # Larger bodies are not measured.
MIN_BLOCK_FRAMES = 16  # The least number of frames in a block, without its overlap.
GROUND_FRAMES = 400  # Frames, evenly spread, in which feet and ground are searched.
CONTACT_HEIGHT = 0.01
"""[m] A foot up to this height is in contact, with all its points up to this height above its lowest one: models of soles and ankles are
inexact."""
LEVEL = 2.0 / 3.0
"""On level ground the lowest foot is within `CONTACT_HEIGHT` of the ground in this part of the frames."""
MIN_SOLE_AREA = 0.002  # [m²] A foot with a contact patch of this area can stand alone; a smaller one is a point.
MAX_FOOT_RADIUS = 0.05  # [m] The largest radius of a round foot.
MAX_SLIP_HEIGHT = 0.005  # [m] A foot at this height or above does not slip.


Mask: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Ground:
    """The ground of a motion: the `feet` on it, which of them are `flat` (K,) (None: balance is not measured), its `height` [m], and
    whether it is `level`.
    """

    feet: Soles
    flat: Mask | None
    height: float
    level: bool


@dataclass
class Samples(Sampling):
    """The measurements in T frames of a motion with K feet and M motors; NaN where a value is unknown."""

    heights: Floats
    """(T, K) [m] The heights of the lowest points of the feet above the ground."""
    slip_speeds: Floats
    """(T, K) [m/s] The speeds of foot slip: on the ground the full speed, less above it, 0 from `MAX_SLIP_HEIGHT` on.

    A rolling wheel and the round end of a leaning leg have a point at rest, so they do not slip."""
    slowest: Floats
    """(T,) [m/s] The speed of the slowest foot."""
    support: Floats
    """(T,) The vertical force that the motion needs from the ground, as a part of the weight."""
    margins: Floats
    """(T,) [m] The stability margin of the computed zero moment point; only where the feet in contact can stand."""
    recorded_margins: Floats
    """(T,) [m] The stability margin of the recorded zero moment point."""
    zmp_differences: Floats
    """(T,) [m] The distance between the two points."""
    torques: Floats
    """(T, M) The torques or forces of the joints `motors`, as multiples of what their motors give."""
    motors: tuple[int, ...] = ()
    """(M,) The joint columns."""
    efforts: Floats = field(default_factory=lambda: np.zeros((0, 2)))
    """(M, 2) [Nm or N] The least and the largest torque or force of each motor."""

    @property
    def of_forces(self) -> tuple[Floats, ...]:
        """The arrays that are computed from accelerations."""
        return self.support, self.margins, self.zmp_differences, self.torques

    def of_frames(self, rows: slice, sampling: Sampling) -> "Samples":
        """Return the measurements in some rows, whose frames are those of `sampling`."""
        kept = ("frames", "times", "locate", "motors", "efforts")
        arrays = {one.name: getattr(self, one.name)[rows] for one in fields(self) if one.name not in kept}
        return replace(self, frames=sampling.frames, times=sampling.times, locate=sampling.locate, **arrays)

    def discard(self, start: float, end: float, *, wrong: bool) -> None:
        """Discard speeds and forces around `start` to `end` [s], where another rule reports a sudden change.

        `wrong`: the frames themselves are wrong, so heights are discarded, too.
        """
        gap = median_step(self.times)
        near = max(WINDOW, 3.0 * gap)
        if wrong:
            self.heights[slice(*np.searchsorted(self.times, [start - gap, end + gap]))] = np.nan
        around = slice(*np.searchsorted(self.times, [start - near, end + near]))
        for values in (self.slowest, *self.of_forces):
            values[around] = np.nan
        self.slip_speeds[around] = 0.0


def ground_of(body: Body, q: Floats, root: Floats | None, times: Floats) -> Ground | None:
    """Return the ground of a motion of joint values (T, J) and root poses (T, 7).

    None where the body has no feet, or where its root link is one of them: then it lies on the ground. Without root poses the body is
    taken to be upright on level ground.
    """
    from bodymotion.kernels.feet import lowest

    frames = chosen_frames(q, root, times)
    if not len(frames) or len(body.links) > MAX_LINKS:
        return None
    count = int(np.clip(BLOCK_POSES // len(body.links), MIN_BLOCK_FRAMES, GROUND_FRAMES))
    chosen = frames[np.unique(np.linspace(0, len(frames) - 1, count).astype(int))]
    placed = body.forward_kinematics(q[chosen], None if root is None else root[chosen])
    found = find_feet(body, placed)
    if not found or 0 in found:
        return None
    feet = soles(body, found)
    height = ground_height(feet, placed)
    bottom = lowest(placed[:, list(found)], feet.points, feet.edges, 0.0)[..., 0]
    level = root is None or float(np.mean(np.abs(bottom.min(axis=1) - height) <= CONTACT_HEIGHT)) >= LEVEL
    return Ground(feet, _flat_feet(feet, placed, bottom), height, level)


def measure_samples(
    body: Body, q: Floats, root: Floats | None, all_frames: Sampling, ground: Ground | None, zmp: Vector3Seq | None
) -> Samples | None:
    """Measure a motion of joint values (T, J) and root poses (T, 7); return None for too few frames or too many links.

    Without root poses (`root` is None) the feet are taken not to slip, and forces are not computed.
    """
    frames = chosen_frames(q, root, all_frames.times)
    if len(frames) < 5 or len(body.links) > MAX_LINKS:
        return None
    kept = all_frames.times[frames]
    gap = median_step(kept)
    forces = root is not None and gap <= MAX_TIME_STEP and body.mass > 0
    window = int(np.clip(2 * int(0.5 * WINDOW / gap) + 1, 5, 101))
    motors = [
        (column, efforts)
        for column, (joint, link) in enumerate(zip(body.joints, body.joint_links, strict=True))
        if forces and link >= 0 and joint.type in ("rotate", "slide") and (efforts := effort_range(joint)) is not None
    ]
    limits = np.array([efforts for _, efforts in motors]).reshape(-1, 2)
    count = 0 if ground is None else len(ground.feet.links)
    slowest, support, margins, recorded_margins, differences = np.full((5, len(frames)), np.nan)
    samples = Samples(
        frames,
        kept,
        all_frames.locate,
        np.full((len(frames), count), np.nan),
        np.zeros((len(frames), count)),
        *(slowest, support, margins, recorded_margins, differences),
        np.full((len(frames), len(motors)), np.nan, dtype=np.float32),
        tuple(column for column, _ in motors),
        limits,
    )
    recorded = None if zmp is None else sampled(zmp.values, zmp.timeline.times, kept)
    size = max(BLOCK_POSES // len(body.links), MIN_BLOCK_FRAMES)
    for start in range(0, len(frames), size):
        # Each block is measured with an overlap on both sides.
        inner = slice(start, min(start + size, len(frames)))
        outer = slice(max(start - window, 0), min(inner.stop + window, len(frames)))
        rows = frames[outer]
        placed = root_on_feet(body, q[rows], ground.feet.links) if root is None and ground else None
        if placed is None:
            assert root is not None
            placed = np.concatenate([root[rows, :3], rotations.normalized(root[rows, 3:])], axis=1)
        part = Motion.from_joints(q[rows], times=kept[outer], root=placed)
        height: float | Floats = 0.0 if ground is None else ground.height
        if root is None and ground is not None:
            height = ground_height(ground.feet, body.forward_kinematics(q[rows], placed))
        measures = measure(
            body,
            part,
            derivative="savgol",
            window=window,
            ground=height,
            feet=() if ground is None else ground.feet.links,
        )
        cut = slice(inner.start - outer.start, inner.stop - outer.start)
        points = None if recorded is None else np.asarray(recorded[outer])
        if points is not None and zmp is not None and zmp.is_root_relative:
            points = poses.transform_points(measures.root_poses, points)
        if forces:
            samples.support[inner] = measures.root_wrench[cut, 2] / (
                body.mass * float(np.linalg.norm(measures.gravity))
            )
            if motors and (ground is None or ground.level):
                torques = measures.torques[cut][:, list(samples.motors)]
                samples.torques[inner] = np.maximum(torques / limits[:, 1], torques / limits[:, 0])
        if ground is None:
            continue
        contacts = measures.contacts
        samples.heights[inner] = contacts.heights[cut]
        samples.slowest[inner] = np.linalg.norm(contacts.velocities[cut], axis=-1).min(axis=1)
        speeds = _slip_speeds(contacts.velocities, measures.link_velocities[:, list(ground.feet.links), 3:])
        near = np.clip(2.0 - np.exp2(np.maximum(contacts.heights, 0.0) / MAX_SLIP_HEIGHT), 0.0, 1.0)
        samples.slip_speeds[inner] = (speeds * near)[cut]
        if not ground.level or ground.flat is None or (points is None and not forces):
            continue
        polygons, stable = _polygons(measures, ground, ground.flat)
        if forces:
            samples.margins[inner] = np.where(stable, polygons.margins(measures.zmp[:, :2])[0], np.nan)[cut]
        if points is not None:
            samples.recorded_margins[inner] = np.where(stable, polygons.margins(points[:, :2])[0], np.nan)[cut]
            if forces:
                samples.zmp_differences[inner] = np.linalg.norm(points[cut, :2] - measures.zmp[cut, :2], axis=1)
    # Near the ends of the motion, and beside a long rest, the polynomials have frames on one side only.
    for values in samples.of_forces:
        for first, end in pairwise(stretches(kept)):
            values[first : first + window // 2] = values[max(end - window // 2, first) : end] = np.nan
    return samples


def _slip_speeds(velocities: Floats, angular_velocities: Floats) -> Floats:
    """Return the speeds (T, K) of foot slip, from velocities (T, K, 3) of contact points and angular velocities (T, K, 3).

    It is the least horizontal speed of the points up to `MAX_FOOT_RADIUS` above the contact point.
    """
    speed = velocities[..., :2]
    slope = np.stack([angular_velocities[..., 1], -angular_velocities[..., 0]], axis=-1)
    square = np.sum(slope * slope, axis=-1)
    height = np.clip(-np.sum(speed * slope, axis=-1) / np.where(square > 0, square, 1.0), 0.0, MAX_FOOT_RADIUS)
    return np.asarray(np.linalg.norm(speed + height[..., None] * slope, axis=-1))


def _polygons(measures: Measures, ground: Ground, flat: Mask) -> tuple[SupportPolygons, Mask]:
    """Return the support polygons, and in which frames (T,) a body can stand: on a flat foot, or on three feet."""
    from bodymotion.kernels.feet import hulls

    heights = measures.contacts.heights
    touching = heights < CONTACT_HEIGHT
    placed = measures.link_poses[:, list(ground.feet.links)]
    world = heights + measures.ground[:, None]
    found = hulls(placed, ground.feet.points, ground.feet.edges, touching.astype(np.float64), world, CONTACT_HEIGHT)
    stable = (touching & flat).any(axis=1) | (touching.sum(axis=1) >= 3)
    return SupportPolygons(*found), stable


def _flat_feet(feet: Soles, placed: Floats, bottom: Floats) -> Mask:
    """Return which feet (K,) have a contact patch of at least `MIN_SOLE_AREA` in the frame where they are lowest."""
    from bodymotion.kernels.feet import hulls

    frames = bottom.argmin(axis=0)
    around = (bottom[frames], CONTACT_HEIGHT / 2)
    found = hulls(placed[frames][:, list(feet.links)], feet.points, feet.edges, np.eye(len(frames)), *around)
    polygons = (corners[:count].T for corners, count in zip(*found, strict=True))
    areas = [0.5 * abs(float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))) for x, y in polygons]
    return np.array(areas) >= MIN_SOLE_AREA


def chosen_frames(q: Floats, root: Floats | None, times: Floats) -> npt.NDArray[np.intp]:
    """Return the frames to be measured: those with finite numbers and orientations, at least `MIN_TIME_STEP` apart."""
    if len(times) < 5:
        return np.zeros(0, dtype=np.intp)
    stride = max(int(MIN_TIME_STEP / max(median_step(times), 1e-9)), 1)
    frames = np.arange(0, len(times), stride)
    valid = np.isfinite(q[frames]).all(axis=1)
    if root is not None:
        length = np.linalg.norm(root[frames, 3:], axis=1)
        valid &= np.isfinite(root[frames]).all(axis=1) & (length > 1e-6) & (length < 1e6)
    return np.asarray(frames[valid], dtype=np.intp)
