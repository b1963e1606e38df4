"""`physics`: all rules about the physics of a motion on a body.

`Samples`: what those about feet, balance and motors need, measured once.

Long motions are measured in blocks of some thousand frames, which overlap by the window
of the derivatives. Only a few numbers of each frame are kept. Of more than 400 frames
per second every second one is measured, of more than 600 every third.

Velocities and accelerations are those of polynomials over `WINDOW` seconds (Savitzky
and Golay). Errors of single frames and of rounding are reported by other rules.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from bodymotion.checks.findings import (
    MAX_MOMENTS,
    Finding,
    FrameLocator,
    Moment,
    Run,
    Sampling,
    all_frames,
    component_number,
    finding,
    runs,
    too_fast,
)
from bodymotion.checks.physics import rules
from bodymotion.checks.physics.collisions import (
    FLOOR,
    MIN_DEPTH,
    Collisions,
    find_collisions,
)
from bodymotion.checks.physics.sudden import jumps_of_joints, jumps_of_root, sign_flips
from bodymotion.diagnostics import Location, Rule, Severity
from bodymotion.diagnostics.text import counted
from bodymotion.dynamics import (
    Measures,
    Soles,
    SupportPolygons,
    find_feet,
    ground_height,
    measure,
    root_on_feet,
    soles,
)
from bodymotion.dynamics.differentiation import MIN_REST, stretches
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Bools, Floats, Indices, median_step
from bodymotion.model.body import Body
from bodymotion.model.links import effort_range
from bodymotion.motion import Motion, MultiSE3Seq, MultiValueSeq, Vector3Seq
from bodymotion.motion.interpolation import sampled

WINDOW = 0.08  # [s] The window of the polynomials for derivatives; it has at least five frames.
MIN_TIME_STEP = 0.005  # [s] Frames closer together are left out.
MAX_TIME_STEP = 0.05  # [s] Forces are not computed from frames farther apart.
BLOCK_POSES = 1 << 17  # Link poses in one block.
MAX_LINKS = 10_000  # Larger bodies are not measured.
MIN_BLOCK_FRAMES = 16  # The smallest number of frames in a block, without its overlap.
GROUND_FRAMES = 400  # Frames, evenly spread, in which feet and ground are searched.
CONTACT_HEIGHT = 0.01
"""[m] A foot up to this height is in contact, with all its points up to this height above its lowest.

Models of soles are inexact.
"""
LEVEL = 2.0 / 3.0
"""On level ground the lowest foot is within `CONTACT_HEIGHT` of the ground in this part of the frames."""
MIN_SOLE_AREA = 0.002  # [m²] A foot with a contact patch of this area can stand alone; a smaller one is a point.
MAX_FOOT_RADIUS = 0.05  # [m] The largest radius of a round foot.
MAX_SLIP_HEIGHT = 0.005  # [m] A foot at this height or above does not slip.
MAX_SLIP = 0.01  # [m] The largest foot slip in one stance phase; landing and lifting take some millimetres.
MAX_UNKNOWN = 5  # Frames in a row that are unknown, as of which what is before them is another stance phase.
MAX_DEPTH = 0.01  # [m] The largest depth of a foot below the ground; models of soles are inexact, and soles are soft.
MAX_OVERLAP = 0.05  # [m] The overlap of two links from which on it is an error.
MIN_AIR_HEIGHT = 0.02  # [m] A foot at this height or above has no contact.
MAX_CONTACT_SPEED = 0.3  # [m/s] A faster foot has no contact.
MIN_SUPPORT = 0.3  # A body whose motion needs more than this part of its weight from the ground is not in free fall.
MIN_HOVERING = 0.2  # [s] A shorter time without contact is not reported.
MAX_ZMP_OUTSIDE = (
    0.01  # [m] The largest distance of the zero moment point outside of the feet.
)
MIN_TIPPING = (
    0.1  # [s] A shorter time outside is not reported: a body does not tip over at once.
)
MIN_RECORDED_OUTSIDE = (
    0.05  # [s] The same for the recorded point, which needs no derivatives.
)
MAX_ZMP_DIFFERENCE = 0.05
"""[m] The largest difference between the recorded and the computed zero moment point. Patterns planned with simple models of the same robot
are about 30 mm off."""
MAX_LOAD = 1.05  # The largest torque, as a multiple of the motor's limit; torques computed from frames have errors.
MIN_OVERLOAD = 0.05  # [s] A shorter overload of a motor is not reported.
BRIDGE = 0.05  # [s] Two violations with a shorter time between them are one.
MAX_ZMP_DISTANCE = 1.0
MAX_ZMP_SHARE = 0.1
"""[m] If the zero moment point is farther outside of the feet in more than this share of the frames, the frame rate is wrong."""
MAX_FLOOR_DEPTHS: tuple[tuple[Severity, float], ...] = (
    ("error", 0.1),
    ("warning", 0.02),
)
"""[m] The depth of feet below the floor from which on it is an error, and a warning."""
MAX_FLOOR_VARIATION = 1e-3
"""[m] A recorded zero moment point whose height varies by no more is on a floor at that height."""

Pending: TypeAlias = tuple[
    float, Callable[[], Moment]
]  # The amount of a moment, and what returns it.

JOINT_RULES = (rules.JOINT_JUMPS.code, rules.JOINT_SPIKE.code, rules.FULL_TURN.code)
SPIKES = (rules.JOINT_SPIKE.code, rules.ROOT_SPIKE.code)
OF_HEIGHTS = {
    rule.code for rule in (rules.DEPTH, rules.FLIGHT, rules.GROUND, rules.FLOOR_HEIGHT)
}


@dataclass(frozen=True)
class Ground:
    """The ground of a motion: the `feet` on it, which of them are `flat` (K,) (None: balance is not measured), its `height` [m], and
    whether it is `level`.
    """

    feet: Soles
    flat: Bools | None
    height: float
    level: bool


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
    """(T,) The vertical force that the motion needs from the ground, as a part of the weight."""
    margins: Floats
    """(T,) [m] The stability margin of the computed zero moment point.

    Only where the feet in contact can stand.
    """
    recorded_margins: Floats
    """(T,) [m] The stability margin of the recorded zero moment point."""
    zmp_differences: Floats
    """(T,) [m] The distance between the two points."""
    torques: Floats
    """(T, M) The torques or forces of the joints `motors`, as multiples of the limits of their motors."""
    motors: tuple[int, ...] = ()
    """(M,) The joint columns."""
    efforts: Floats = field(default_factory=lambda: np.zeros((0, 2)))
    """(M, 2) [Nm or N] The smallest and the largest torque or force of each motor."""

    @property
    def of_forces(self) -> tuple[Floats, ...]:
        """The arrays that are computed from accelerations."""
        return self.support, self.margins, self.zmp_differences, self.torques

    def of_frames(self, rows: slice, sampling: Sampling) -> "Samples":
        """Return the measurements in some rows, whose frames are those of `sampling`."""
        kept = ("frames", "times", "locate", "motors", "efforts")
        arrays = {
            one.name: getattr(self, one.name)[rows]
            for one in fields(self)
            if one.name not in kept
        }
        return replace(
            self,
            frames=sampling.frames,
            times=sampling.times,
            locate=sampling.locate,
            **arrays,
        )

    def discard(self, found: Sequence[Finding]) -> None:
        """Discard speeds and forces around the sudden changes that other rules report.

        At spikes, whose frames are wrong, heights, too.
        """
        gap = median_step(self.times)
        near = max(WINDOW, 3.0 * gap)
        for moment in (
            moment
            for one in found
            for moment in one.moments
            if moment.rule != rules.SIGN_FLIP.code
        ):
            if moment.rule in SPIKES:
                self.heights[
                    slice(
                        *np.searchsorted(
                            self.times, [moment.start - gap, moment.end + gap]
                        )
                    )
                ] = np.nan
            around = slice(
                *np.searchsorted(self.times, [moment.start - near, moment.end + near])
            )
            for values in (self.slowest, *self.of_forces):
                values[around] = np.nan
            self.slip_speeds[around] = 0.0


def ground_of(
    body: Body, q: Floats, root: Floats | None, times: Floats
) -> Ground | None:
    """Return the ground of a motion of joint values (T, J) and root poses (T, 7).

    None where the body has no feet, or where its root link is one of them: then it lies
    on the ground. Without root poses the body is taken to be upright on level ground.
    """
    from bodymotion.kernels.feet import lowest

    frames = chosen_frames(q, root, times)
    if not len(frames) or len(body.links) > MAX_LINKS:
        return None
    count = int(
        np.clip(BLOCK_POSES // len(body.links), MIN_BLOCK_FRAMES, GROUND_FRAMES)
    )
    chosen = frames[np.unique(np.linspace(0, len(frames) - 1, count).astype(int))]
    placed = body.forward_kinematics(q[chosen], None if root is None else root[chosen])
    found = find_feet(body, placed)
    if not found or 0 in found:
        return None
    feet = soles(body, found)
    bottom = lowest(placed[:, list(found)], feet.points, feet.edges, 0.0)[..., 0]
    height = float(np.median(bottom.min(axis=1)))
    level = (
        root is None
        or float(np.mean(np.abs(bottom.min(axis=1) - height) <= CONTACT_HEIGHT))
        >= LEVEL
    )
    return Ground(feet, _flat_feet(feet, placed, bottom), height, level)


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
    frames = chosen_frames(q, root, all_frames.times)
    if len(frames) < 5 or len(body.links) > MAX_LINKS:
        return None
    kept = all_frames.times[frames]
    gap = median_step(kept)
    forces = root is not None and gap <= MAX_TIME_STEP and body.mass > 0
    window = int(np.clip(2 * int(0.5 * WINDOW / gap) + 1, 5, 101))
    motors = [
        (column, efforts)
        for column, (joint, link) in enumerate(
            zip(body.joints, body.joint_links, strict=True)
        )
        if forces
        and link >= 0
        and joint.type in ("rotate", "slide")
        and (efforts := effort_range(joint)) is not None
    ]
    limits = np.array([efforts for _, efforts in motors]).reshape(-1, 2)
    if ground is None:
        count = 0
    else:
        count = len(ground.feet.links)
    slowest, support, margins, recorded_margins, differences = np.full(
        (5, len(frames)), np.nan
    )
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
    if zmp is None:
        recorded = None
    else:
        recorded = sampled(zmp.values, zmp.timeline.times, kept)
    size = max(BLOCK_POSES // len(body.links), MIN_BLOCK_FRAMES)
    for start in range(0, len(frames), size):
        # Each block is measured with an overlap on both sides.
        inner = slice(start, min(start + size, len(frames)))
        outer = slice(max(start - window, 0), min(inner.stop + window, len(frames)))
        rows = frames[outer]
        if root is None and ground:
            placed = root_on_feet(body, q[rows], ground.feet.links)
        else:
            placed = None
        if placed is None:
            assert root is not None
            placed = np.concatenate(
                [root[rows, :3], rotations.normalized(root[rows, 3:])], axis=1
            )
        part = Motion.from_joints(q[rows], times=kept[outer], root=placed)
        height: float | Floats = 0.0 if ground is None else ground.height
        if root is None and ground is not None:
            height = ground_height(
                ground.feet, body.forward_kinematics(q[rows], placed)
            )
        measures = measure(
            body,
            part,
            derivative="savgol",
            window=window,
            ground=height,
            feet=() if ground is None else ground.feet.links,
        )
        cut = slice(inner.start - outer.start, inner.stop - outer.start)
        if recorded is None:
            points = None
        else:
            points = np.asarray(recorded[outer])
        if points is not None and zmp is not None and zmp.is_root_relative:
            points = poses.transform_points(measures.root_poses, points)
        if forces:
            weight = body.mass * float(np.linalg.norm(measures.gravity))
            samples.support[inner] = measures.root_wrench[cut, 2] / weight
            if motors and (ground is None or ground.level):
                torques = measures.torques[cut][:, list(samples.motors)]
                samples.torques[inner] = np.maximum(
                    torques / limits[:, 1], torques / limits[:, 0]
                )
        if ground is None:
            continue
        contacts = measures.contacts
        samples.heights[inner] = contacts.heights[cut]
        samples.slowest[inner] = np.linalg.norm(contacts.velocities[cut], axis=-1).min(
            axis=1
        )
        speeds = _slip_speeds(
            contacts.velocities,
            measures.link_velocities[:, list(ground.feet.links), 3:],
        )
        near = np.clip(
            2.0 - np.exp2(np.maximum(contacts.heights, 0.0) / MAX_SLIP_HEIGHT), 0.0, 1.0
        )
        samples.slip_speeds[inner] = (speeds * near)[cut]
        if not ground.level or ground.flat is None or (points is None and not forces):
            continue
        polygons, stable = _polygons(measures, ground, ground.flat)
        if forces:
            samples.margins[inner] = np.where(
                stable, polygons.margins(measures.zmp[:, :2])[0], np.nan
            )[cut]
        if points is not None:
            samples.recorded_margins[inner] = np.where(
                stable, polygons.margins(points[:, :2])[0], np.nan
            )[cut]
            if forces:
                samples.zmp_differences[inner] = np.linalg.norm(
                    points[cut, :2] - measures.zmp[cut, :2], axis=1
                )
    # Near the ends of the motion, and beside a long rest, the polynomials have frames
    # on one side only.
    for values in samples.of_forces:
        for first, end in pairwise(stretches(kept)):
            values[first : first + window // 2] = values[
                max(end - window // 2, first) : end
            ] = np.nan
    return samples


def _slip_speeds(velocities: Floats, angular_velocities: Floats) -> Floats:
    """Return the speeds (T, K) of foot slip, from velocities (T, K, 3) of contact points and angular velocities (T, K, 3).

    It is the smallest horizontal speed of the points up to `MAX_FOOT_RADIUS` above the
    contact point.
    """
    speed = velocities[..., :2]
    slope = np.stack([angular_velocities[..., 1], -angular_velocities[..., 0]], axis=-1)
    square = np.sum(slope * slope, axis=-1)
    height = np.clip(
        -np.sum(speed * slope, axis=-1) / np.where(square > 0, square, 1.0),
        0.0,
        MAX_FOOT_RADIUS,
    )
    return np.asarray(np.linalg.norm(speed + height[..., None] * slope, axis=-1))


def _polygons(
    measures: Measures, ground: Ground, flat: Bools
) -> tuple[SupportPolygons, Bools]:
    """Return the support polygons, and in which frames (T,) a body can stand.

    On a flat foot, or on three feet.
    """
    from bodymotion.kernels.feet import hulls

    heights = measures.contacts.heights
    touching = heights < CONTACT_HEIGHT
    placed = measures.link_poses[:, list(ground.feet.links)]
    world = heights + measures.ground[:, None]
    found = hulls(
        placed,
        ground.feet.points,
        ground.feet.edges,
        touching.astype(np.float64),
        world,
        CONTACT_HEIGHT,
    )
    stable = (touching & flat).any(axis=1) | (touching.sum(axis=1) >= 3)
    return SupportPolygons(*found), stable


def _flat_feet(feet: Soles, placed: Floats, bottom: Floats) -> Bools:
    """Return which feet (K,) have a contact patch of at least `MIN_SOLE_AREA` in the frame where they are lowest."""
    from bodymotion.kernels.feet import hulls

    frames = bottom.argmin(axis=0)
    around = (bottom[frames], CONTACT_HEIGHT / 2)
    found = hulls(
        placed[frames][:, list(feet.links)],
        feet.points,
        feet.edges,
        np.eye(len(frames)),
        *around,
    )
    polygons = (corners[:count].T for corners, count in zip(*found, strict=True))
    areas = [
        0.5 * abs(float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))))
        for x, y in polygons
    ]
    return np.array(areas) >= MIN_SOLE_AREA


def chosen_frames(q: Floats, root: Floats | None, times: Floats) -> Indices:
    """Return the frames to be measured.

    Those with finite numbers and orientations, at least `MIN_TIME_STEP` apart.
    """
    if len(times) < 5:
        return np.zeros(0, dtype=np.intp)
    stride = max(int(MIN_TIME_STEP / max(median_step(times), 1e-9)), 1)
    frames = np.arange(0, len(times), stride)
    valid = np.isfinite(q[frames]).all(axis=1)
    if root is not None:
        length = np.linalg.norm(root[frames, 3:], axis=1)
        valid &= (
            np.isfinite(root[frames]).all(axis=1) & (length > 1e-6) & (length < 1e6)
        )
    return np.asarray(frames[valid], dtype=np.intp)


def physics(
    motion: Motion, body: Body, q: Floats | None, unusable: Collection[str] = ()
) -> list[Finding]:
    """Return the findings about the physics of a motion that fits its body.

    Parameters
    ----------
    q:
        (T, J) the values of the body's joints; None where the motion has none that fit.
        They are then computed from the poses of all links, where the motion has these.
    unusable:
        Contents of components whose positions are in another unit.
    """
    links = motion.link_position
    if links is not None and links.content in unusable:
        links = None
    found = list[Finding]()
    root = None
    if (
        links is not None
        and links.num_parts
        and links.num_frames
        and _is_increasing(links.timeline.times)
    ):
        root = links.values[:, 0]
        of_links = all_frames(motion, links)
        number = component_number(motion, links)
        found += jumps_of_root(root, of_links)
        formats = motion.source.options.get("se3_formats")
        known = isinstance(formats, (tuple, list)) and len(formats) == len(
            motion.components
        )
        # Signs of angles that were converted are not the file's.
        if not (known and formats[number] == "XYZRPY"):  # type: ignore[index]
            found += sign_flips(root[:, 3:], of_links)
    main: MultiValueSeq | MultiSE3Seq | None = motion.joint_displacement
    if q is None:
        if (
            motion.joint_displacement is not None
            or links is None
            or links.num_parts != len(body.links)
        ):
            return found
        main = links
        q = _recovered(motion, body)
    if main is None or q is None or not _is_increasing(main.timeline.times):
        return found
    times = main.timeline.times
    frames = all_frames(motion, main)
    found = jumps_of_joints(q, frames, body) + found
    if root is not None and links is not None and links.timeline != main.timeline:
        root = sampled(links.values[:, :1], links.timeline.times, times)[:, 0]
    if not body.links or not len(q):
        return found
    zmp = motion.zmp
    if zmp is not None:
        usable = (
            zmp.content not in unusable
            and zmp.num_frames
            and _is_increasing(zmp.timeline.times)
        )
        if not (usable and np.isfinite(zmp.values).any()):
            zmp = None
    free = body.links[0].joint.type == "free"
    has_place = (
        not free or root is not None or (zmp is not None and zmp.is_root_relative)
    )
    if free and has_place:
        ground = ground_of(body, q, root, times)
    else:
        ground = None
    if ground is not None and ground.level and root is not None:
        floor = ground.height
    else:
        floor = None
    chosen = chosen_frames(q, root, times)
    overlaps, collisions = _overlaps(body, q, root, frames, chosen, floor)
    if overlaps is not None:
        collisions = _collisions(
            overlaps, Sampling(chosen, times[chosen], frames.locate), body
        )
    if not has_place or (free and root is None and ground is None):
        return found + collisions
    if root is None and not free:
        root = np.broadcast_to(body.root_pose, (len(q), 7))
    samples = measure_samples(body, q, root, frames, ground, zmp)
    if samples is None:
        return found + collisions
    samples.discard(found)
    margins = samples.margins[np.isfinite(samples.margins)]
    trembles = any(one.problem.rule == rules.OSCILLATION.code for one in found)
    if (
        not trembles
        and len(margins)
        and np.mean(margins < -MAX_ZMP_DISTANCE) > MAX_ZMP_SHARE
    ):
        reason = f"the zero moment point is {-float(np.min(margins)):.3g} m outside of the feet: accelerations are impossible"
        worst = int(samples.frames[int(np.nanargmin(samples.margins))])
        of_time = too_fast(reason, main.timeline, frames.locate(worst))
        return [
            *(
                one
                for one in found
                if one.problem.rule in (rules.FULL_TURN.code, rules.SIGN_FLIP.code)
            ),
            of_time,
        ]
    if (
        zmp is not None
        and not zmp.is_root_relative
        and any(one.problem.rule == rules.ROOT_JUMPS.code for one in found)
    ):
        # After a jump of the root the two are apart; the jump is reported.
        samples.recorded_margins[:] = samples.zmp_differences[:] = np.nan
    found += collisions
    if ground is not None:
        if root is not None and links is not None:
            found += feet_on_ground(samples, ground, body, overlaps)
            found += off_the_floor(
                ground, body, root, times, zmp, all_frames(motion, links).locate
            )
        found += balance(samples)
    found = _with_cause(found, body)
    # The forces in an extra joint are unknown.
    if body.extra_joints:
        return found
    return found + torques(samples, body, MIN_OVERLOAD)


def physics_of_plays(
    body: Body,
    feet: Soles,
    times: Floats,
    plays: Sequence[tuple[Floats, Floats]],
    min_overload: float,
) -> list[list[Finding]]:
    """Return the findings about collisions, depths, flight and torques of each of N played motions on a level floor at z = 0.

    They are measured together: one motion, with a rest before each.

    Parameters
    ----------
    feet:
        The links that may be in contact.
    times:
        (T,) [s] of the frames of all of them.
    plays:
        The joint values (T, J) and root poses (T, 7) of each.
    min_overload:
        [s] A shorter overload of a motor is not reported.
    """
    q, root = (np.concatenate(parts) for parts in zip(*plays, strict=True))
    starts = np.arange(len(plays)) * (times[-1] - times[0] + 2 * MIN_REST)
    frames = Sampling(
        np.arange(len(q)), (starts[:, None] + times).ravel(), lambda _: Location()
    )
    ground = Ground(feet, None, 0.0, level=True)
    chosen = chosen_frames(q, root, frames.times)
    overlaps, unchecked = _overlaps(body, q, root, frames, chosen, ground.height)
    samples = measure_samples(body, q, root, frames, ground, None)
    edges = np.searchsorted(chosen, np.arange(len(plays) + 1) * len(times))
    results = []
    for k, (own_q, own_root) in enumerate(plays):
        rows = slice(edges[k], edges[k + 1])
        numbers = chosen[rows] - k * len(times)
        sampling = Sampling(numbers, times[numbers], frames.locate)
        if overlaps is None:
            own = None
        else:
            own = overlaps.of_postures(rows)
        if own is None:
            found = list(unchecked)
        else:
            found = _collisions(own, sampling, body)
        if samples is not None:
            part = samples.of_frames(rows, sampling)
            own_frames = Sampling(np.arange(len(times)), times, frames.locate)
            part.discard(
                jumps_of_joints(own_q, own_frames, body)
                + jumps_of_root(own_root, own_frames)
            )
            found += feet_on_ground(part, ground, body, own) + torques(
                part, body, min_overload
            )
        results.append(found)
    return results


def _with_cause(found: list[Finding], body: Body) -> list[Finding]:
    """Name the cause in findings about the heights of feet, where files of shapes are missing.

    The lowest points are unknown then.
    """
    from bodymotion.scene.scene import missing_files

    missing = len(missing_files(body))
    if not missing:
        return found
    cause = f"; {counted(missing, 'file')} of shapes missing, so the lowest points of the feet are unknown"
    hint = (
        "find the missing files first: the heights of the feet follow from their shapes"
    )
    for k, one in enumerate(found):
        if one.problem.rule in OF_HEIGHTS:
            data = {**one.problem.data, "missing_files": missing}
            problem = replace(
                one.problem, message=one.problem.message + cause, hint=hint, data=data
            )
            found[k] = replace(one, problem=problem)
    return found


def calm_steps(times: Floats, found: Sequence[Finding]) -> Bools:
    """Return the steps (T − 1,) between frames at `times` in which no joint changes suddenly.

    There speeds are checked.
    """
    calm = np.ones(max(len(times) - 1, 0), dtype=bool)
    for one in found:
        moments = [moment for moment in one.moments if moment.rule in JOINT_RULES]
        if len(moments) >= MAX_MOMENTS:
            # There may be more moments than those that were kept.
            return np.zeros_like(calm)
        for moment in moments:
            first = np.searchsorted(times[1:], moment.start - WINDOW)
            calm[first : np.searchsorted(times[:-1], moment.end + WINDOW)] = False
    return calm


def _recovered(motion: Motion, body: Body) -> Floats | None:
    from bodymotion.editing import recover_joints

    try:
        joints = recover_joints(motion, body)[0].joint_displacement
        if joints is None:
            return None
        return body.joint_values(joints)
    except ValueError:
        return None


def _is_increasing(times: Floats) -> bool:
    return bool(len(times) and np.isfinite(times).all() and (np.diff(times) > 0).all())


def off_the_floor(
    ground: Ground,
    body: Body,
    root: Floats,
    times: Floats,
    zmp: Vector3Seq | None,
    locate: FrameLocator,
) -> list[Finding]:
    """Report feet whose ground is not the floor, in a motion of root poses (T, 7).

    The height of the floor is known from the recorded zero moment point, or else from
    the root pose of the model.
    """
    if not ground.level:
        return []
    if zmp is not None:
        points = np.asarray(sampled(zmp.values, zmp.timeline.times, times))
        if zmp.is_root_relative:
            points = poses.transform_points(root, points)
        heights = points[np.isfinite(points[:, 2]), 2]
        if not heights.size or np.ptp(heights) > MAX_FLOOR_VARIATION:
            return []
        # Files have few digits: 0.0004 m is 0.
        floor = round(float(np.median(heights)), 3) + 0.0
        reason = "the recorded zero moment point is there"
    elif _is_at_zero(ground, body):
        floor = 0.0
        reason = "with the root at its pose in the model they are there"
    else:
        return []
    if abs(ground.height - floor) <= CONTACT_HEIGHT:
        return []
    side = "below" if ground.height < floor else "above"
    message = f"the ground under the feet is {abs(ground.height - floor):.3f} m {side} the floor at z = {floor:g} m; {reason}"
    problem = rules.FLOOR_HEIGHT.problem(
        message, locate(0), data={"height": ground.height - floor}
    )
    deep: list[Severity] = [
        severity
        for severity, depth in MAX_FLOOR_DEPTHS
        if floor - ground.height > depth
    ]
    return [Finding(replace(problem, severity=(*deep, "note")[0]))]


def _is_at_zero(ground: Ground, body: Body) -> bool:
    """Return whether the feet are at z = 0 with all joints at 0 and the root at its pose in the model."""
    from bodymotion.kernels.feet import lowest

    feet = ground.feet
    placed = body.forward_kinematics(
        np.zeros((1, body.num_joints)), body.root_pose[None]
    )
    bottom = lowest(placed[:, list(feet.links)], feet.points, feet.edges, 0.0)[..., 0]
    return abs(float(bottom.min())) <= CONTACT_HEIGHT


def feet_on_ground(
    samples: Samples, ground: Ground, body: Body, overlaps: Collisions | None
) -> list[Finding]:
    """Return where feet slip, links are below the ground, or no foot has contact although the body does not fall.

    On uneven ground it is only the last.
    """
    if not ground.level:
        return _hovers(samples, level=False) or _uneven(samples)
    feet = ground.feet.links
    links = body.links
    slips = [
        _slips(samples, k, links[f].name)
        for k, f in enumerate(feet)
        if links[f].joint.type != "crawler"
    ]
    depths = [(f, -samples.heights[:, k], MAX_DEPTH) for k, f in enumerate(feet)]
    of_others = () if overlaps is None else overlaps.by_pair()
    depths += [
        (link, depth, MIN_DEPTH)
        for one, link, depth in of_others
        if one == FLOOR and link not in feet
    ]
    sinks = []
    for link, depth, limit in depths:
        text = "{subject!r} is {amount:.3g} mm below the ground in {at}"
        limits = {"bridge": BRIDGE, "max_amount": MAX_FLOOR_DEPTHS[0][1] / limit}
        sinks.append(
            _moments(
                rules.DEPTH,
                samples,
                depth * 1000,
                limit * 1000,
                text,
                links[link].name,
                **limits,
            )
        )
    return [
        *_together(rules.FOOT_SLIP, *slips),
        *_together(rules.DEPTH, *sinks),
        *_hovers(samples, level=True),
    ]


def _overlaps(
    body: Body,
    q: Floats,
    root: Floats | None,
    motion: Sampling,
    frames: Indices,
    floor: float | None,
) -> tuple[Collisions | None, list[Finding]]:
    """Return the collisions in some `frames` of a motion.

    None, and the finding with the reason, where they cannot be found.
    """
    if len(body.links) < 2 or not len(frames):
        return None, []
    if root is None:
        placed = np.broadcast_to(body.root_pose, (len(q), 7))
    else:
        placed = root
    try:
        return find_collisions(body, q[frames], placed[frames], floor), []
    except (ImportError, ValueError) as error:
        reason = f"collisions of links were not checked: {error}"
        return None, [
            Finding(
                rules.NO_COLLISIONS.problem(
                    reason, replace(motion.locate(0), line=None, column=None)
                )
            )
        ]


def _collisions(overlaps: Collisions, sampling: Sampling, body: Body) -> list[Finding]:
    """Return the finding about links inside of each other."""
    found = []
    text = "{subject} overlap by {amount:.3g} mm in {at}, and for {duration:.2f} s"
    limits = {"bridge": BRIDGE, "max_amount": MAX_OVERLAP / MIN_DEPTH}
    for one, two, depth in overlaps.by_pair():
        if one != FLOOR:
            names = f"{body.links[one].name!r} and {body.links[two].name!r}"
            found.append(
                _moments(
                    rules.COLLISION,
                    sampling,
                    depth * 1000,
                    MIN_DEPTH * 1000,
                    text,
                    names,
                    **limits,
                )
            )
    return _together(rules.COLLISION, *found)


def _uneven(samples: Samples) -> list[Finding]:
    lowest = samples.heights.min(axis=1)
    low, high = np.nanquantile(lowest, (0.05, 0.95)) * 1000
    part = float(np.mean(np.abs(lowest) <= CONTACT_HEIGHT))
    message = (
        f"the lowest foot is within {CONTACT_HEIGHT * 1000:.0f} mm of one height in "
        f"only {part:.0%} of the frames (5th to 95th percentile: "
        f"{low:.0f} to {high:.0f} mm); foot slip, depth and balance are not checked"
    )
    return [
        Finding(
            rules.GROUND.problem(
                message, replace(samples.locate(0), line=None, column=None, inside=None)
            )
        )
    ]


def _hovers(samples: Samples, *, level: bool) -> list[Finding]:
    amount = samples.slowest
    limit = MAX_CONTACT_SPEED
    text = "slowest foot moves at {amount:.3g} m/s"
    if level:
        text = "lowest foot is {amount:.3g} mm above the ground"
        amount = samples.heights.min(axis=1) * 1000
        limit = MIN_AIR_HEIGHT * 1000
    text = f"no foot is in contact for {{duration:.2f}} s, and the body does not fall: the {text} in {{at}}"
    hovering = np.where(samples.support > MIN_SUPPORT, amount, np.nan)
    return _together(
        rules.FLIGHT,
        _moments(
            rules.FLIGHT, samples, hovering, limit, text, min_duration=MIN_HOVERING
        ),
    )


def balance(samples: Samples) -> list[Finding]:
    """Return where the computed and the recorded zero moment point are outside of the feet, and where they differ."""
    outside = "is up to {amount:.3g} mm outside of the feet"
    differs = "is up to {amount:.3g} mm from the computed one"
    found: list[Finding] = []
    for rule, amount, limit, min_duration, text in (
        (rules.ZMP_OUTSIDE, -samples.margins, MAX_ZMP_OUTSIDE, MIN_TIPPING, outside),
        (
            rules.RECORDED_ZMP_OUTSIDE,
            -samples.recorded_margins,
            MAX_ZMP_OUTSIDE,
            MIN_RECORDED_OUTSIDE,
            outside,
        ),
        (
            rules.RECORDED_ZMP_DIFFERS,
            samples.zmp_differences,
            MAX_ZMP_DIFFERENCE,
            MIN_TIPPING,
            differs,
        ),
    ):
        if rule is rules.ZMP_OUTSIDE:
            point = "the zero moment point"
        else:
            point = "the recorded zero moment point"
        text = f"{point} {text}, in {{at}}, for {{duration:.2f}} s"
        moments = _moments(
            rule,
            samples,
            amount * 1000,
            limit * 1000,
            text,
            min_duration=min_duration,
            bridge=BRIDGE,
        )
        found += _together(rule, moments)
    return found


def torques(samples: Samples, body: Body, min_duration: float) -> list[Finding]:
    """Return where joints need more torque or force than their motors give, for `min_duration` [s] or more."""
    found = []
    for k, column in enumerate(samples.motors):
        joint = body.joints[column]
        name = joint.name or body.links[body.joint_links[column]].name
        loads = np.asarray(samples.torques[:, k], dtype=np.float64)
        effort = max(abs(samples.efforts[k]))
        unit = "Nm" if joint.type == "rotate" else "N"
        needs = f"{{subject!r}} needs {{amount:.4g}} {unit}, and its motor has {effort:.4g} {unit}"
        text = f"{needs}, in {{at}}; it is overloaded for {{duration:.2f}} s"
        limits = {"threshold": MAX_LOAD, "min_duration": min_duration, "bridge": BRIDGE}
        found.append(
            _moments(
                rules.TORQUE_LIMIT,
                samples,
                loads * effort,
                effort,
                text,
                name,
                **limits,
            )
        )
    return _together(rules.TORQUE_LIMIT, *found)


def _slips(samples: Samples, foot: int, name: str) -> tuple[list[Pending], int]:
    """Return the stance phases in which a foot slips more than `MAX_SLIP`, and their number."""
    contact = np.where(samples.heights[:, foot] < MAX_SLIP_HEIGHT, 1.0, 0.0)
    steps = np.diff(samples.frames)
    contact[:-1][steps > MAX_UNKNOWN * steps.min()] = 0.0
    stances, _ = runs(contact, samples.times, 0.5, max_runs=len(contact))
    known = np.nan_to_num(samples.slip_speeds[:, foot])
    # The trapezoidal rule.
    path = np.concatenate(
        [[0.0], np.cumsum(0.5 * (known[1:] + known[:-1]) * np.diff(samples.times))]
    )
    found: list[Pending] = []
    for run in stances:
        distance = float(path[run.last] - path[run.first])
        if distance <= MAX_SLIP:
            continue
        worst = run.first + int(
            np.argmax(samples.slip_speeds[run.first : run.last + 1, foot])
        )
        slip = Run(run.first, run.last, worst, distance / MAX_SLIP)
        speed = samples.slip_speeds[worst, foot]
        message = (
            f"{name!r} slips {distance * 1000:.3g} mm over the ground from t = "
            f"{samples.times[run.first]:.2f} s "
            f"to {samples.times[run.last]:.2f} s, "
            f"fastest in {samples.when(worst)} at {speed:.2g} m/s"
        )
        found.append(
            (slip.amount, partial(samples.moment, rules.FOOT_SLIP, slip, message, name))
        )
    return found, len(found)


def _moments(
    rule: Rule,
    samples: Sampling,
    values: Floats,
    limit: float,
    text: str,
    subject: str = "",
    max_amount: float = np.inf,
    **limits: float,
) -> tuple[list[Pending], int]:
    """Return the moments in which `values` (T,) are above a limit, and the number of all.

    `limits` are those of `runs`.

    `text` is the message, with {subject}, {amount} (the largest value), {at} and
    {duration}.
    """

    def moment(run: Run) -> Moment:
        duration = float(
            samples.times[min(run.last + 1, len(samples.times) - 1)]
            - samples.times[run.first]
        )
        at = samples.when(run.worst)
        message = text.format(
            subject=subject, amount=run.amount * limit, at=at, duration=duration
        )
        return samples.moment(rule, run, message, subject, max_amount)

    found, count = runs(values / limit, samples.times, **limits)
    return [(run.amount, partial(moment, run)) for run in found], count


def _together(rule: Rule, *parts: tuple[list[Pending], int]) -> list[Finding]:
    """Return the finding of the moments of several subjects, each with the number of all its moments.

    Only the worst are described.
    """
    pending = [one for moments, _ in parts for one in moments]
    worst = sorted(range(len(pending)), key=lambda k: -pending[k][0])[:MAX_MOMENTS]
    return finding(
        rule, [pending[k][1]() for k in sorted(worst)], sum(count for _, count in parts)
    )
