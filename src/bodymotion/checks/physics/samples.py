"""What the rules about feet, balance and motors look at, measured once over a motion, in pieces.

A motion of a million frames is not worked on as a whole: pieces of some thousand frames are measured one after the other, overlapping by
the window of the derivatives, and only a few numbers of each frame are kept. Of more than 400 frames a second every second one is looked
at, of more than 600 every third.

Velocities and accelerations are those of polynomials through `WINDOW` seconds (Savitzky and Golay): what single frames and few digits do
is reported by other rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from bodymotion.checks.physics.moments import Mask
from bodymotion.dynamics import Measures, Soles, SupportPolygons, find_feet, ground_height, measure, root_on_feet, soles
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body
from bodymotion.model.motors import effort_range
from bodymotion.motion import Motion, Vector3Seq

__all__ = ["Samples", "Standing", "record", "standing_on"]

WINDOW = 0.08
"""[s] The polynomials of the derivatives are laid through the frames of so much time, five at least."""
MOST_OFTEN = 0.005
"""[s] Frames nearer to each other are left out."""
SLOWEST = 0.05
"""[s] Frames farther apart say nothing of forces."""
PIECE = 1 << 17
"""So many link poses are worked on at a time."""
MOST_LINKS = 10_000
"""Of a body with more links nothing is measured."""
FEWEST = 16
"""A piece has so many frames at least, and its overlap."""
SAMPLE = 400
"""In so many frames, evenly spread, feet and ground are looked for."""
NEAR = 0.01
"""[m] A foot no higher than this may bear weight, and what is so near to its lowest point touches the ground with it: models of soles, and
ankles, are a little off."""
LEVEL = 2.0 / 3.0
"""In this part of the frames the lowest foot is within `NEAR` of level ground."""
SOLE = 0.002
"""[m²] A foot that touches with so much may stand alone; smaller ones are points."""
ROUND = 0.05
"""[m] The largest radius of the end of a leg."""
FADE = 0.005
"""[m] At this height a foot no longer slips, but flies."""


@dataclass(frozen=True)
class Standing:
    """What a body stands on: its feet, which of them are `flat` (K,), and the height [m] of the ground; `level`: whether it is level."""

    feet: Soles
    flat: Mask
    ground: float
    level: bool


@dataclass
class Samples:
    """What was measured in T frames of a motion: arrays (T,), (T, K) of feet, (T, J) of joints; NaN where there is nothing to be said."""

    frames: npt.NDArray[np.intp]
    """Their numbers in the motion."""
    times: Floats
    heights: Floats
    """(T, K) [m] of the feet's lowest points above the ground."""
    sliding: Floats
    """(T, K) [m/s] How fast feet slip: all of it on the ground, nothing from `FADE` above it on.

    A wheel that rolls has a point at rest where it touches, and the round end of a leg that leans one in its middle: they do not slip."""
    still: Floats
    """(T,) [m/s] The speed of the foot that moves least."""
    carried: Floats
    """(T,) The force that the motion needs from the ground, as a part of the weight."""
    margins: Floats
    """(T,) [m] How far the zero moment point is within the feet; only where these stand by themselves."""
    own_margins: Floats
    """(T,) The same of the motion's own."""
    apart: Floats
    """(T,) [m] between the two."""
    torques: Floats
    """(T, M) as a multiple of what the motor of a joint gives; of joints `motors`."""
    motors: tuple[int, ...] = ()
    efforts: Floats = field(default_factory=lambda: np.zeros((0, 2)))

    @property
    def of_forces(self) -> tuple[Floats, ...]:
        """What was worked out from accelerations."""
        return self.carried, self.margins, self.apart, self.torques

    def forget(self, start: float, end: float, *, wrong: bool) -> None:
        """Discard speeds and forces at times around start … end [s]: something sudden is there, which another rule reports.

        Where the frames themselves are `wrong`, heights are discarded, too.
        """
        gap = float(np.median(np.diff(self.times)))
        near = max(WINDOW, 3.0 * gap)
        if wrong:
            self.heights[slice(*np.searchsorted(self.times, [start - gap, end + gap]))] = np.nan
        around = slice(*np.searchsorted(self.times, [start - near, end + near]))
        for values in (self.still, *self.of_forces):
            values[around] = np.nan
        self.sliding[around] = 0.0


def standing_on(body: Body, q: Floats, root: Floats | None, times: Floats) -> Standing | None:
    """Return what a body stands on in a motion of joint values (T, J) and root poses (T, 7); None where it has no feet to stand on.

    It has none either where the root link is one of them: it lies on the ground then. Without root poses it stands upright on level ground.
    """
    from bodymotion.kernels.feet import lowest

    frames = _chosen(q, root, times)
    if not len(frames) or len(body.links) > MOST_LINKS:
        return None
    count = int(np.clip(PIECE // len(body.links), FEWEST, SAMPLE))
    chosen = frames[np.unique(np.linspace(0, len(frames) - 1, count).astype(int))]
    placed = body.forward_kinematics(q[chosen], None if root is None else root[chosen])
    found = find_feet(body, placed)
    if not found or 0 in found:
        return None
    feet = soles(body, found)
    ground = ground_height(feet, placed)
    bottom = lowest(placed[:, list(found)], feet.points, feet.edges, 0.0)[..., 0]
    level = root is None or float(np.mean(np.abs(bottom.min(axis=1) - ground) <= NEAR)) >= LEVEL
    return Standing(feet, _flat(feet, placed, bottom), ground, level)


def record(
    body: Body, q: Floats, root: Floats | None, times: Floats, standing: Standing | None, zmp: Vector3Seq | None
) -> Samples | None:
    """Measure a motion of joint values (T, J) and root poses (T, 7); `root` is None where the motion has none. None: too few frames.

    On feet, where there is no root pose, it is taken that these do not slip: forces are not computed then.
    """
    frames = _chosen(q, root, times)
    if len(frames) < 5 or len(body.links) > MOST_LINKS:
        return None
    kept = times[frames]
    gap = float(np.median(np.diff(kept)))
    forces = root is not None and gap <= SLOWEST and body.mass > 0
    window = int(np.clip(2 * int(0.5 * WINDOW / gap) + 1, 5, 101))
    motors = [
        (column, efforts)
        for column, (joint, link) in enumerate(zip(body.joints, body.joint_links, strict=True))
        if forces and link >= 0 and joint.type in ("rotate", "slide") and (efforts := effort_range(joint)) is not None
    ]
    limits = np.array([efforts for _, efforts in motors]).reshape(-1, 2)
    count = 0 if standing is None else len(standing.feet.links)
    blank = np.full(len(frames), np.nan)
    samples = Samples(
        frames,
        kept,
        np.full((len(frames), count), np.nan),
        np.zeros((len(frames), count)),
        blank.copy(),
        blank.copy(),
        blank.copy(),
        blank.copy(),
        blank.copy(),
        np.full((len(frames), len(motors)), np.nan, dtype=np.float32),
        tuple(column for column, _ in motors),
        limits,
    )
    own = None if zmp is None else _own_zmp(zmp, kept)
    for inner, outer in _pieces(len(frames), max(PIECE // len(body.links), FEWEST), window):
        rows = frames[outer]
        placed = root_on_feet(body, q[rows], standing.feet.links) if root is None and standing else None
        if placed is None:
            assert root is not None
            placed = np.concatenate([root[rows, :3], rotations.normalized(root[rows, 3:])], axis=1)
        part = Motion.from_joints(q[rows], times=kept[outer], root=placed)
        ground = 0.0 if standing is None else standing.ground
        if root is None and standing is not None:
            ground = ground_height(standing.feet, body.forward_kinematics(q[rows], placed))
        measures = measure(
            body,
            part,
            derivative="savgol",
            window=window,
            ground=ground,
            feet=() if standing is None else standing.feet.links,
        )
        cut = slice(inner.start - outer.start, inner.stop - outer.start)
        _write(samples, inner, cut, measures, standing, None if own is None else (own[outer], zmp), forces)
    # At the ends polynomials lie on one side only.
    edge = window // 2
    for values in samples.of_forces:
        values[:edge] = np.nan
        values[len(values) - edge :] = np.nan
    return samples


def _write(
    samples: Samples,
    inner: slice,
    cut: slice,
    measures: Measures,
    standing: Standing | None,
    own: tuple[Floats, Vector3Seq | None] | None,
    forces: bool,
) -> None:
    body = measures.body
    if forces:
        weight = body.mass * float(np.linalg.norm(measures.gravity))
        samples.carried[inner] = measures.root_wrench[cut, 2] / weight
        if samples.motors and (standing is None or standing.level):
            torques = measures.torques[cut][:, list(samples.motors)]
            samples.torques[inner] = np.maximum(torques / samples.efforts[:, 1], torques / samples.efforts[:, 0])
    if standing is None:
        return
    contacts = measures.contacts
    samples.heights[inner] = contacts.heights[cut]
    samples.still[inner] = np.linalg.norm(contacts.velocities[cut], axis=-1).min(axis=1)
    speeds = _slip(contacts.velocities, measures.link_velocities[:, list(standing.feet.links), 3:])
    samples.sliding[inner] = (speeds * np.clip(2.0 - np.exp2(np.maximum(contacts.heights, 0.0) / FADE), 0.0, 1.0))[cut]
    if not standing.level or (own is None and not forces):
        return
    polygons, firm = _polygons(measures, standing)
    if forces:
        margins = polygons.margins(measures.zmp[:, :2])[0]
        samples.margins[inner] = np.where(firm, margins, np.nan)[cut]
    if own is not None:
        points, component = own
        if component is not None and component.is_root_relative:
            points = poses.transform_points(measures.root_poses, points)
        margins = polygons.margins(points[:, :2])[0]
        samples.own_margins[inner] = np.where(firm, margins, np.nan)[cut]
        if forces:
            samples.apart[inner] = np.linalg.norm(points[cut, :2] - measures.zmp[cut, :2], axis=1)


def _slip(velocities: Floats, spins: Floats) -> Floats:
    """Return the least speed (T, K) along the ground of all points up to `ROUND` above the one that touches, which moves with (T, K, 3)."""
    speed = velocities[..., :2]
    rising = np.stack([spins[..., 1], -spins[..., 0]], axis=-1)
    square = np.sum(rising * rising, axis=-1)
    height = np.clip(-np.sum(speed * rising, axis=-1) / np.where(square > 0, square, 1.0), 0.0, ROUND)
    return np.asarray(np.linalg.norm(speed + height[..., None] * rising, axis=-1))


def _polygons(measures: Measures, standing: Standing) -> tuple[SupportPolygons, Mask]:
    """Return the hulls of all that is near the ground, and where (T,) a body can stand on it: on a sole, or three points."""
    from bodymotion.kernels.feet import hulls

    heights = measures.contacts.heights
    touching = heights < NEAR
    placed = measures.link_poses[:, list(standing.feet.links)]
    world = heights + measures.ground[:, None]
    found = hulls(placed, standing.feet.points, standing.feet.edges, touching.astype(np.float64), world, NEAR)
    firm = (touching & standing.flat).any(axis=1) | (touching.sum(axis=1) >= 3)
    return SupportPolygons(*found), firm


def _flat(feet: Soles, placed: Floats, bottom: Floats) -> Mask:
    """Return which feet (K,) touch with an area, where they are lowest."""
    from bodymotion.kernels.feet import hulls

    flat = np.zeros(len(feet.links), dtype=bool)
    links = placed[:, list(feet.links)]
    for k in range(len(feet.links)):
        frame = int(np.argmin(bottom[:, k]))
        alone = np.zeros((1, len(feet.links)))
        alone[0, k] = 1.0
        corners, counts = hulls(links[[frame]], feet.points, feet.edges, alone, bottom[[frame]], NEAR / 2)
        x, y = corners[0, : int(counts[0])].T
        flat[k] = 0.5 * abs(float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))) >= SOLE
    return flat


def _chosen(q: Floats, root: Floats | None, times: Floats) -> npt.NDArray[np.intp]:
    """Return the frames to be looked at: those with finite numbers and orientations, and no more than are needed."""
    if len(times) < 5:
        return np.zeros(0, dtype=np.intp)
    stride = max(int(MOST_OFTEN / max(float(np.median(np.diff(times))), 1e-9)), 1)
    frames = np.arange(0, len(times), stride)
    sound = np.isfinite(q[frames]).all(axis=1)
    if root is not None:
        length = np.linalg.norm(root[frames, 3:], axis=1)
        sound &= np.isfinite(root[frames]).all(axis=1) & (length > 1e-6) & (length < 1e6)
    return np.asarray(frames[sound], dtype=np.intp)


def _pieces(count: int, size: int, overlap: int) -> Iterator[tuple[slice, slice]]:
    """Return the pieces of `count` frames, and each with its overlap on both sides."""
    for start in range(0, count, size):
        end = min(start + size, count)
        yield slice(start, end), slice(max(start - overlap, 0), min(end + overlap, count))


def _own_zmp(zmp: Vector3Seq, times: Floats) -> Floats:
    from bodymotion.motion.interpolation import sampled

    given = zmp.timeline.times
    if len(given) == len(times) and np.array_equal(given, times):
        return np.asarray(zmp.values)
    return np.asarray(sampled(zmp.values, given, times))
