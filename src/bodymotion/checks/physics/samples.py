"""`Samples`: what the rules about feet, balance and motors need, measured once.

Long motions are measured in blocks of some thousand frames, which overlap by the window
of the derivatives. Only a few numbers of each frame are kept. Of more than 400 frames
per second every second one is measured, of more than 600 every third.

Velocities and accelerations are those of polynomials over `WINDOW` seconds (Savitzky
and Golay). Errors of single frames and of rounding are reported by other rules.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise

import numpy as np

from bodymotion.checks.findings import Finding, Sampling
from bodymotion.checks.physics import rules
from bodymotion.checks.physics.ground import (
    BLOCK_POSES,
    CONTACT_HEIGHT,
    MAX_LINKS,
    MIN_BLOCK_FRAMES,
    MIN_FRAMES,
    Ground,
    select_frames,
)
from bodymotion.dynamics import (
    Measures,
    SupportPolygons,
    ground_height,
    measure,
    root_on_feet,
)
from bodymotion.dynamics.differentiation import stretches
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Bools, Floats, Indices, median_step
from bodymotion.model.body import Body
from bodymotion.model.links import effort_range
from bodymotion.motion import Motion, Vector3Seq
from bodymotion.motion.interpolation import sampled

# [s] The window of the polynomials for derivatives; it has at least five frames.
WINDOW = 0.08
# The most frames of that window. More than `MIN_TIME_STEP` needs; it bounds the overlap
# of blocks.
MAX_WINDOW_FRAMES = 101
# [s] Forces are not computed from frames farther apart.
MAX_TIME_STEP = 0.05
# [m] The largest radius of a round foot.
MAX_FOOT_RADIUS = 0.05
# [m] A foot at this height or above does not slip.
MAX_SLIP_HEIGHT = 0.005
# A body can stand on this number of feet that are points.
MIN_STANDING_FEET = 3

SPIKES = (rules.JOINT_SPIKE.code, rules.ROOT_SPIKE.code)


@dataclass
class Samples(Sampling):
    """The measurements in T frames of a motion with K feet and M motors.

    NaN where a value is unknown.
    """

    heights: Floats
    """(T, K) [m] The heights of the lowest points of the feet above the ground."""
    slip_speeds: Floats
    """(T, K) [m/s] The speeds of foot slip.

    On the ground the full speed, less above it, 0 from `MAX_SLIP_HEIGHT` on.

    A rolling wheel and the round end of a leaning leg have a point at rest, so they do
    not slip.
    """
    slowest: Floats
    """(T,) [m/s] The speed of the slowest foot."""
    support: Floats
    """(T,) The vertical force that the motion needs from the ground.

    As a part of the weight.
    """
    margins: Floats
    """(T,) [m] The stability margin of the computed zero moment point.

    Only where the feet in contact can stand.
    """
    recorded_margins: Floats
    """(T,) [m] The stability margin of the recorded zero moment point."""
    zmp_differences: Floats
    """(T,) [m] The distance between the two points."""
    torques: Floats
    """(T, M) The torques or forces of the joints `motors`.

    As multiples of the limits of their motors.
    """
    motors: tuple[int, ...] = ()
    """(M,) The joint columns."""
    efforts: Floats = field(default_factory=lambda: np.zeros((0, 2)))
    """(M, 2) [Nm or N] The smallest and the largest torque or force of each motor."""

    @property
    def of_forces(self) -> tuple[Floats, ...]:
        """The arrays that are computed from accelerations."""
        return self.support, self.margins, self.zmp_differences, self.torques

    def of_frames(self, rows: slice, sampling: Sampling) -> "Samples":
        """Return the measurements in some rows, which are the frames of `sampling`."""
        changed = dict(vars(sampling))
        for item in fields(self):
            if item.name not in (*changed, "motors", "efforts"):
                changed[item.name] = getattr(self, item.name)[rows]
        return replace(self, **changed)

    def discard(self, findings: Sequence[Finding]) -> None:
        """Discard speeds and forces around the sudden changes that other rules report.

        At spikes, whose frames are wrong, heights, too.
        """
        time_step = median_step(self.times)
        reach = max(WINDOW, 3.0 * time_step)
        for finding in findings:
            for moment in finding.moments:
                if moment.rule == rules.SIGN_FLIP.code:
                    continue
                if moment.rule in SPIKES:
                    rows = self._rows(moment.start - time_step, moment.end + time_step)
                    self.heights[rows] = np.nan
                rows = self._rows(moment.start - reach, moment.end + reach)
                for values in (self.slowest, *self.of_forces):
                    values[rows] = np.nan
                self.slip_speeds[rows] = 0.0

    def _rows(self, start: float, end: float) -> slice:
        """Return the rows from a time [s] to another."""
        return slice(*np.searchsorted(self.times, [start, end]))


@dataclass(frozen=True)
class _Block:
    """Rows that are measured together.

    Those of `inner` are kept; those around them are needed for the derivatives.
    """

    inner: slice
    outer: slice

    @property
    def kept(self) -> slice:
        """The rows of the block that are kept."""
        start = self.outer.start
        return slice(self.inner.start - start, self.inner.stop - start)


def measure_samples(
    body: Body,
    q: Floats,
    root: Floats | None,
    all_frames: Sampling,
    ground: Ground | None,
    zmp: Vector3Seq | None,
) -> Samples | None:
    """Measure a motion of joint values (T, J) and root poses (T, 7).

    Return None for too few frames or too many links.

    Without root poses (`root` is None) the feet are taken not to slip, and forces are
    not computed.
    """
    frames = select_frames(q, root, all_frames.times)
    if len(frames) < MIN_FRAMES or len(body.links) > MAX_LINKS:
        return None
    times = all_frames.times[frames]
    time_step = median_step(times)
    # Forces need accelerations of the root, frames that are close enough for these, and
    # masses.
    has_forces = root is not None and time_step <= MAX_TIME_STEP and body.mass > 0
    efforts = _find_efforts(body) if has_forces else {}
    num_feet = 0 if ground is None else len(ground.feet.links)
    # An odd number of frames, so that the polynomial is evaluated in the middle.
    window = 2 * int(0.5 * WINDOW / time_step) + 1
    window = int(np.clip(window, MIN_FRAMES, MAX_WINDOW_FRAMES))

    samples = _unknown_samples(
        Sampling(frames, times, all_frames.locate), num_feet, efforts
    )
    measurement = _Measurement(
        body,
        q,
        root,
        ground,
        zmp,
        None if zmp is None else sampled(zmp.values, zmp.timeline.times, times),
        has_forces,
        window,
        samples,
    )
    for block in _split_into_blocks(len(frames), len(body.links), window):
        measurement.measure_block(block)
    _discard_ends(samples, window // 2)
    return samples


def _find_efforts(body: Body) -> dict[int, tuple[float, float]]:
    """Return the range of torque or force of motors.

    [Nm or N] The smallest and the largest.

    By the column of the joint. Motors without limits are left out.
    """
    efforts = {}
    links = zip(body.joints, body.joint_links, strict=True)
    for column, (joint, link) in enumerate(links):
        if link < 0 or joint.type not in ("rotate", "slide"):
            continue
        limits = effort_range(joint)
        if limits is not None:
            efforts[column] = limits
    return efforts


def _unknown_samples(
    sampling: Sampling, num_feet: int, efforts: dict[int, tuple[float, float]]
) -> Samples:
    """Return samples in which nothing is known yet, and no foot slips."""
    num_frames = len(sampling.frames)
    slowest, support, margins, recorded_margins, zmp_differences = np.full(
        (5, num_frames), np.nan
    )
    return Samples(
        sampling.frames,
        sampling.times,
        sampling.locate,
        heights=np.full((num_frames, num_feet), np.nan),
        slip_speeds=np.zeros((num_frames, num_feet)),
        slowest=slowest,
        support=support,
        margins=margins,
        recorded_margins=recorded_margins,
        zmp_differences=zmp_differences,
        # Single precision: a robot has many motors.
        torques=np.full((num_frames, len(efforts)), np.nan, dtype=np.float32),
        motors=tuple(efforts),
        efforts=np.array([*efforts.values()]).reshape(-1, 2),
    )


def _split_into_blocks(
    num_frames: int, num_links: int, overlap: int
) -> Iterator[_Block]:
    size = max(BLOCK_POSES // num_links, MIN_BLOCK_FRAMES)
    for start in range(0, num_frames, size):
        stop = min(start + size, num_frames)
        first = max(start - overlap, 0)
        last = min(stop + overlap, num_frames)
        yield _Block(slice(start, stop), slice(first, last))


def _discard_ends(samples: Samples, width: int) -> None:
    """Discard forces near the ends of the motion, and beside a long rest.

    There the polynomials have frames on one side only.
    """
    for values in samples.of_forces:
        for first, end in pairwise(stretches(samples.times)):
            values[first : first + width] = np.nan
            values[max(end - width, first) : end] = np.nan


@dataclass(frozen=True)
class _Measurement:
    """The measurement of a motion: joint values (N, J), root poses (N, 7) or None.

    `recorded_zmp` (T, 3) are the points of `zmp` in the frames of `samples`, in the
    coordinates of `zmp`.
    """

    body: Body
    q: Floats
    root: Floats | None
    ground: Ground | None
    zmp: Vector3Seq | None
    recorded_zmp: Floats | None
    has_forces: bool
    window: int
    samples: Samples

    def measure_block(self, block: _Block) -> None:
        """Measure a block, and keep its inner rows in `samples`."""
        measures = self._measure(block.outer)
        if self.has_forces:
            self._keep_forces(measures, block)
        if self.ground is not None:
            self._keep_feet(measures, block, self.ground)
            self._keep_balance(measures, block, self.ground)

    def _measure(self, rows: slice) -> Measures:
        """Measure rows of the motion on the ground.

        Without root poses the ground is at the lowest foot of each frame.
        """
        frames = self.samples.frames[rows]
        q = self.q[frames]
        root = self._root_poses(frames, q)
        height: float | Floats = 0.0
        feet: tuple[int, ...] = ()
        if self.ground is not None:
            height = self.ground.height
            feet = self.ground.feet.links
            if self.root is None:
                link_poses = self.body.forward_kinematics(q, root)
                height = ground_height(self.ground.feet, link_poses)
        motion = Motion.from_joints(q, times=self.samples.times[rows], root=root)
        return measure(
            self.body,
            motion,
            derivative="savgol",
            window=self.window,
            ground=height,
            feet=feet,
        )

    def _root_poses(self, frames: Indices, q: Floats) -> Floats:
        """Return the root poses, from the feet where the motion has none."""
        if self.root is not None:
            root = self.root[frames]
            quaternions = rotations.normalized(root[:, 3:])
            return np.concatenate([root[:, :3], quaternions], axis=1)
        assert self.ground is not None
        return root_on_feet(self.body, q, self.ground.feet.links)

    def _keep_forces(self, measures: Measures, block: _Block) -> None:
        samples = self.samples
        weight = self.body.mass * float(np.linalg.norm(measures.gravity))
        samples.support[block.inner] = measures.root_wrench[block.kept, 2] / weight
        # On uneven ground it is unknown which foot carries the weight.
        if samples.motors and (self.ground is None or self.ground.level):
            torques = measures.torques[block.kept][:, list(samples.motors)]
            lower, upper = samples.efforts.T
            # `lower` is negative: the quotient for the direction of the torque is
            # positive.
            samples.torques[block.inner] = np.maximum(torques / upper, torques / lower)

    def _keep_feet(self, measures: Measures, block: _Block, ground: Ground) -> None:
        samples = self.samples
        contacts = measures.contacts
        samples.heights[block.inner] = contacts.heights[block.kept]
        speeds = np.linalg.norm(contacts.velocities[block.kept], axis=-1)
        samples.slowest[block.inner] = speeds.min(axis=1)
        angular_velocities = measures.link_velocities[:, list(ground.feet.links), 3:]
        slip_speeds = _compute_slip_speeds(contacts.velocities, angular_velocities)
        # The weight is 1 on the ground, and 2 − 2^(height / MAX_SLIP_HEIGHT) above.
        height_ratios = np.maximum(contacts.heights, 0.0) / MAX_SLIP_HEIGHT
        weights = np.clip(2.0 - np.exp2(height_ratios), 0.0, 1.0)
        samples.slip_speeds[block.inner] = (slip_speeds * weights)[block.kept]

    def _keep_balance(self, measures: Measures, block: _Block, ground: Ground) -> None:
        """Keep the margins of both zero moment points, and their distance."""
        points = self._recorded_points(measures, block.outer)
        if not ground.level or ground.flat is None:
            return
        if points is None and not self.has_forces:
            return
        samples = self.samples
        polygons, can_stand = _find_polygons(measures, ground, ground.flat)

        def compute_margins(zmp: Floats) -> Floats:
            margins = polygons.margins(zmp[:, :2])[0]
            return np.where(can_stand, margins, np.nan)[block.kept]

        if self.has_forces:
            samples.margins[block.inner] = compute_margins(measures.zmp)
        if points is None:
            return
        samples.recorded_margins[block.inner] = compute_margins(points)
        if self.has_forces:
            differences = points[block.kept, :2] - measures.zmp[block.kept, :2]
            lengths = np.linalg.norm(differences, axis=1)
            samples.zmp_differences[block.inner] = lengths

    def _recorded_points(self, measures: Measures, rows: slice) -> Floats | None:
        """Return the recorded zero moment points (T, 3) in the world."""
        if self.zmp is None or self.recorded_zmp is None:
            return None
        points = np.asarray(self.recorded_zmp[rows])
        if self.zmp.is_root_relative:
            return poses.transform_points(measures.root_poses, points)
        return points


def _compute_slip_speeds(velocities: Floats, angular_velocities: Floats) -> Floats:
    """Return the speeds (T, K) of foot slip.

    From velocities (T, K, 3) of contact points and angular velocities (T, K, 3). It is
    the smallest horizontal speed of the points up to `MAX_FOOT_RADIUS` above the
    contact point.
    """
    # A point at height h above the contact point has the horizontal velocity v + h s,
    # where s = (ω_y, −ω_x). Its square is smallest at h = −v·s / s·s.
    speed = velocities[..., :2]
    slope = np.stack([angular_velocities[..., 1], -angular_velocities[..., 0]], axis=-1)
    square = np.sum(slope * slope, axis=-1)
    slowest_height = -np.sum(speed * slope, axis=-1) / np.where(square > 0, square, 1.0)
    height = np.clip(slowest_height, 0.0, MAX_FOOT_RADIUS)
    return np.asarray(np.linalg.norm(speed + height[..., None] * slope, axis=-1))


def _find_polygons(
    measures: Measures, ground: Ground, flat: Bools
) -> tuple[SupportPolygons, Bools]:
    """Return the support polygons, and in which frames (T,) a body can stand.

    On a flat foot, or on three feet.
    """
    from bodymotion.kernels.feet import hulls

    heights = measures.contacts.heights
    touching = heights < CONTACT_HEIGHT
    # (T, C, 2) [m] Corners of the support polygons, of which `counts` (T,) are used.
    corners, counts = hulls(
        measures.link_poses[:, list(ground.feet.links)],
        ground.feet.points,
        ground.feet.edges,
        touching.astype(np.float64),
        heights + measures.ground[:, None],
        CONTACT_HEIGHT,
    )
    on_flat_foot = (touching & flat).any(axis=1)
    can_stand = on_flat_foot | (touching.sum(axis=1) >= MIN_STANDING_FEET)
    return SupportPolygons(corners, counts), can_stand
