"""Compare a changed motion with the motion that it was made from.

A result of `balance` is never worse than its input in any of `CRITERIA`. The
comparison does not use the numbers of the search for better postures: both motions
are measured as they would be written, with the same feet on the same ground.

Each criterion has one number for each frame, of which larger is worse. So it is known
how bad a motion is, and also when.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from bodymotion.checks import moments
from bodymotion.checks.findings import Finding, Sampling
from bodymotion.checks.physics.sudden import jumps_of_joints, jumps_of_root
from bodymotion.diagnostics import Location
from bodymotion.dynamics import Measures, measure
from bodymotion.dynamics.contacts import foot_slips
from bodymotion.editing.retiming import speed_shares
from bodymotion.geometry.arrays import Bools, Floats, median_step
from bodymotion.kernels.feet import lowest
from bodymotion.model.body import Body
from bodymotion.model.links import effort_range
from bodymotion.motion import Motion

# [m] Frames with a smaller stability margin are not safe.
SAFE_MARGIN = 0.01
# A result is at most this many times as long as its input, unless more is asked for.
MAX_LENGTH = 1.2
# Frames at both ends of a flight whose accelerations are not reliable.
END_FRAMES = 2
# [s] The same as a time. Derivatives at high frame rates have a window of 0.05 s.
END_TIME = 0.03
# Of the weight: a body with a larger force does not fall freely.
MAX_FORCE_SHARE = 0.05
# [s] A result may fall earlier by less in a simulation.
FALL_TOLERANCE = 0.1
# The rule about trembling: it is no jump.
TREMBLING = "MOT307"


# Rules of `check` whose findings must not grow. Its contacts are found otherwise than
# those of the measures, so a foot in swing that scuffs the ground slips only there.
FINDINGS = {
    "MOT311": "foot slip that `check` reports",
    "MOT312": "depth below the ground that `check` reports",
    "MOT313": "force in the air that `check` reports",
    "MOT321": "zero moment point outside that `check` reports",
    "MOT341": "collision of links that `check` reports",
}


class Criterion(NamedTuple):
    """One way in which a motion is good or bad.

    `total` makes one number of those of all frames. A result that is worse by more than
    `tolerance` is refused. One that is better by more than `gain`, or within `need`, is
    an improvement. A motion beyond `need` is changed.
    """

    name: str
    title: str
    unit: str
    scale: float
    total: Literal["max", "mean", "sum"]
    tolerance: float
    gain: float
    need: float


CRITERIA = (
    Criterion("unsafe", "frames that are not safe", "%", 100.0, "mean", 1e-9, 1e-3, 0),
    Criterion(
        "tipping",
        "stability margin",
        "mm",
        -1e3,
        "max",
        5e-4,
        1e-3,
        -SAFE_MARGIN,
    ),
    Criterion("slip", "foot slip", "mm", 1e3, "max", 5e-4, 1e-3, 0.01),
    Criterion("depth", "depth below the ground", "mm", 1e3, "max", 5e-4, 1e-3, 0.01),
    Criterion(
        "position", "excess of a position limit", "rad", 1.0, "max", 1e-6, 1e-4, 1e-5
    ),
    Criterion(
        "velocity", "excess of a velocity limit", "%", 100.0, "max", 0.01, 0.05, 0.005
    ),
    Criterion(
        "effort", "excess of an effort limit", "%", 100.0, "max", 0.02, 0.05, 0.02
    ),
    Criterion(
        "acceleration",
        "excess of the acceleration",
        "%",
        100.0,
        "max",
        0.01,
        0.05,
        0.01,
    ),
    # Balancing does not remove jumps, so that they are no reason to change a motion.
    Criterion("jumps", "jumps", "", 1.0, "sum", 0.5, 0.5, np.inf),
    # Amounts are multiples of the limit of the rule; a tenth of it is no difference.
    *(
        Criterion(rule, f"{title} ({rule})", "", 1.0, "max", 0.1, np.inf, np.inf)
        for rule, title in FINDINGS.items()
    ),
)


@dataclass(frozen=True, eq=False)
class Quality:
    """How good a motion is.

    Attributes
    ----------
    times:
        (T,) [s].
    amounts:
        By the names of criteria: (T,), of which larger is worse.
    level:
        The same on level ground, if the ground of the input follows its feet.
    """

    times: Floats
    amounts: Mapping[str, Floats]
    level: "Quality | None" = None

    @property
    def seconds(self) -> float:
        """[s] The length."""
        return float(self.times[-1] - self.times[0])

    def total(self, criterion: Criterion) -> float:
        """Return the one number of a criterion.

        −inf where it is not known.
        """
        amounts = self.amounts[criterion.name]
        known = amounts[np.isfinite(amounts)]
        if not len(known):
            return -np.inf
        if criterion.total == "mean":
            return float(known.mean())
        if criterion.total == "sum":
            return float(known.sum())
        return float(known.max())


class Judgement(NamedTuple):
    """Why a motion is worse than another one, and in which criteria it is better."""

    worse: tuple[str, ...]
    better: tuple[str, ...]
    # [s] After this time the body falls in a simulation. Infinite for never.
    fall: float | None = None

    @property
    def accepts(self) -> bool:
        """Whether the result is nowhere worse, and somewhere better."""
        return not self.worse and bool(self.better)


@dataclass(frozen=True, eq=False)
class Judge:
    """Compares results with one input on a body.

    Without a height `ground` [m], each motion is measured on its own ground, which
    follows the feet of an input without root poses. Then both are measured on level
    ground, too, and a result must be nowhere worse on either.

    A margin of `enough` [m] or more is as good as any larger one. With `wants_margin` a
    larger margin is an improvement also of a safe motion. With `simulates` a result
    does not fall earlier than the input in a simulation (extra `sim`); None simulates
    if the extra is installed and MuJoCo can load the body.
    """

    body: Body
    before: Measures
    feet: tuple[int, ...]
    ground: float | None
    acceleration: float = np.inf
    max_length: float = MAX_LENGTH
    enough: float = np.inf
    wants_margin: bool = False
    simulates: bool | None = None
    quality: Quality = field(init=False)

    def __post_init__(self) -> None:
        quality = self._assess_both_grounds(self.before)
        object.__setattr__(self, "quality", quality)

    @cached_property
    def fall(self) -> float | None:
        """[s] After this time the input falls.

        Infinite for never, None for unknown.
        """
        if self.simulates is False:
            return None
        try:
            return time_to_fall(self.body, self.before.motion)
        except (ImportError, ValueError, RuntimeError):
            if self.simulates:
                raise
            return None

    def measured(self, motion: Motion) -> Measures:
        """Return the measures of a motion, with feet and ground of the input."""
        if motion is self.before.motion:
            return self.before
        return measure(self.body, motion, feet=self.feet, ground=self.ground)

    def assess(self, measures: Measures) -> Quality:
        """Return how good a measured motion is."""
        if measures is self.before:
            return self.quality
        return self._assess_both_grounds(measures)

    def _assess_both_grounds(self, measures: Measures) -> Quality:
        """Return how good a motion is, on its ground and on level ground."""
        quality = self._quality(measures)
        quality = replace(quality, amounts={**quality.amounts, **_findings(measures)})
        if self.ground is not None:
            return quality
        level = float(np.median(self.before.ground))
        on_level = measure(self.body, measures.motion, feet=self.feet, ground=level)
        return replace(quality, level=self._quality(on_level))

    def _quality(self, measures: Measures) -> Quality:
        """Return how good a motion is on the ground of its measures."""
        amounts = amounts_of(measures, self.acceleration)
        amounts["tipping"] = np.maximum(amounts["tipping"], -self.enough)
        for rule in FINDINGS:
            amounts[rule] = np.zeros(len(measures.times))
        return Quality(measures.times, amounts)

    def review(self, measures: Measures) -> tuple[Quality, Judgement]:
        """Compare a result with the input, in a simulation if it is good without."""
        quality = self.assess(measures)
        judgement = self.compare(quality)
        if not judgement.accepts or self.fall is None:
            return quality, judgement
        fall = time_to_fall(self.body, measures.motion)
        judgement = judgement._replace(fall=fall)
        if fall < self.fall - FALL_TOLERANCE:
            text = (
                f"it would fall {_when(fall)} in a simulation, "
                f"the input {_when(self.fall)}"
            )
            judgement = judgement._replace(worse=(text,))
        return quality, judgement

    @property
    def needs_nothing(self) -> bool:
        """Whether the input is safe, so that it stays as it is."""
        return not self.needed(self.quality).any()

    def needed(self, quality: Quality) -> Bools:
        """Return the frames (T,) that need a change."""
        frames = np.zeros(len(quality.times), dtype=bool)
        for criterion in CRITERIA:
            frames |= quality.amounts[criterion.name] > criterion.need
        return frames

    def compare(self, after: Quality) -> Judgement:
        """Compare the quality of a result with that of the input."""
        judgement = compare(self.quality, after, self.wants_margin)
        before = max(self.quality.seconds, 1e-9)
        if 1.0 / MAX_LENGTH <= after.seconds / before <= self.max_length + 1e-9:
            return judgement
        text = (
            f"it would take {after.seconds:.2f} s, the input takes {before:.2f} s; "
            f"at most {self.max_length:g} times as long is allowed (--max-length)"
        )
        return Judgement((text, *judgement.worse), judgement.better)

    def worse_frames(self, after: Quality, *, each: bool = False) -> Bools:
        """Return the frames (T,) in which a result is worse than the input ever is.

        With `each`, also those with a margin that is not safe and smaller than that of
        the same frame of an input with as many frames.
        """
        worse = np.zeros(len(after.times), dtype=bool)
        for was, would_be in _on_each_ground(self.quality, after):
            for criterion in CRITERIA:
                worse |= _worse_in(criterion, was, would_be)
                if each and criterion.name == "tipping":
                    worse |= _tips_more(criterion, was, would_be)
        return worse

    def faults_in(self, after: Quality, part: slice) -> tuple[str, ...]:
        """Return in which criteria a result is worse within a part of its frames."""
        faults = []
        for before, result in _on_each_ground(self.quality, after):
            for criterion in CRITERIA:
                if not _worse_in(criterion, before, result)[part].any():
                    continue
                amounts = {criterion.name: result.amounts[criterion.name][part]}
                inside = Quality(result.times[part], amounts)
                was = before.total(criterion)
                would_be = inside.total(criterion)
                faults.append(_difference(criterion, was, would_be, inside))
        return tuple(faults)


def _on_each_ground(before: Quality, after: Quality) -> list[tuple[Quality, Quality]]:
    """Return the qualities of two motions on their own ground, then on level ground."""
    both = [(before, after)]
    if before.level is not None and after.level is not None:
        both.append((before.level, after.level))
    return both


def _worse_in(
    criterion: Criterion,
    before: Quality,
    after: Quality,
) -> Bools:
    """Return the frames (T,) in which a result is worse in one criterion."""
    amounts = after.amounts[criterion.name]
    if criterion.total == "mean":
        return np.zeros(len(amounts), dtype=bool)
    allowed: Floats | float = before.total(criterion)
    if criterion.total == "sum":
        allowed = before.amounts[criterion.name]
        if len(allowed) != len(amounts):
            allowed = 0.0
    return np.asarray(amounts > allowed + criterion.tolerance)


def _tips_more(
    tipping: Criterion,
    before: Quality,
    after: Quality,
) -> Bools:
    """Return the frames (T,) with a smaller margin, which is not safe, than before."""
    amounts_before = before.amounts[tipping.name]
    amounts = after.amounts[tipping.name]
    if len(amounts_before) != len(amounts):
        return np.zeros(len(amounts), dtype=bool)
    allowed = np.maximum(amounts_before, tipping.need) + tipping.tolerance
    return np.asarray(amounts > allowed)


def compare(
    before: Quality,
    after: Quality,
    wants_margin: bool = False,
) -> Judgement:
    """Compare the quality of a motion with that of another one.

    It is worse if it is so on either ground, and better as measured on its own ground.
    With `wants_margin` a larger margin is better also for a safe motion. An unknown
    total is −inf.
    """
    worse = []
    better = []
    for old, new in _on_each_ground(before, after):
        for criterion in CRITERIA:
            was = old.total(criterion)
            would_be = new.total(criterion)
            if would_be > was + criterion.tolerance:
                worse.append(_difference(criterion, was, would_be, new))
    for criterion in CRITERIA:
        was = before.total(criterion)
        would_be = after.total(criterion)
        matters = was > criterion.need or (wants_margin and criterion.name == "tipping")
        is_now_enough = would_be <= criterion.need < was
        if matters and (is_now_enough or would_be < was - criterion.gain):
            better.append(criterion.name)
    return Judgement(tuple(worse), tuple(better))


def _difference(
    criterion: Criterion,
    was: float,
    would_be: float,
    after: Quality,
) -> str:
    """Return by how much a criterion is worse, and when."""
    unit = f" {criterion.unit}" if criterion.unit else ""
    number = f"{would_be * criterion.scale:.4g}{unit}"
    number_before = f"{was * criterion.scale:.4g}{unit}"
    text = f"{criterion.title} would be {number}, was {number_before}"
    if criterion.total == "mean":
        return text
    worst = int(np.nanargmax(after.amounts[criterion.name]))
    return f"{text} (at {after.times[worst]:.2f} s)"


def _when(fall: float) -> str:
    """Return when a body falls as text."""
    if np.isfinite(fall):
        return f"after {fall:.2f} s"
    return "never"


def time_to_fall(body: Body, motion: Motion) -> float:
    """Return after how many seconds a body falls in a simulation.

    Inf for never.
    """
    from bodymotion.simulation import simulate

    fall = simulate(body, motion, sensors=False, until_fall=True).fall
    return np.inf if fall is None else fall


def amounts_of(measures: Measures, acceleration: float = np.inf) -> dict[str, Floats]:
    """Return the amounts (T,) of all criteria."""
    around_flights = near_flights(measures)
    margin = measures.stability_margin
    safe = around_flights | (margin >= SAFE_MARGIN)
    sudden = np.abs(measures.joint_accelerations).max(axis=1, initial=0.0)
    return {
        "unsafe": np.asarray(~safe, dtype=np.float64),
        "tipping": np.where(around_flights, np.nan, -margin),
        "slip": _slips(measures),
        "depth": np.maximum(depths(measures), 0.0),
        "position": _position_excess(measures),
        "velocity": _velocity_excess(measures),
        "effort": _effort_excess(measures),
        "acceleration": np.maximum(sudden / acceleration - 1.0, 0.0),
        "jumps": _jumps(measures),
    }


def held(measures: Measures) -> Floats:
    """Return what holds the body, as parts of its weight.

    (T, 2): the force [1] and the moment about the centre of mass [m].
    """
    force, moment = np.split(measures.root_wrench, 2, axis=1)
    arm = measures.center_of_mass - measures.root_poses[:, :3]
    moment = moment - np.cross(arm, force)
    weight = measures.body.mass * float(np.linalg.norm(measures.gravity))
    parts = [np.linalg.norm(part, axis=1) for part in (force, moment)]
    return np.stack(parts, axis=1) / weight


def near_flights(measures: Measures) -> Bools:
    """Return the frames (T,) in which the body flies, and those next to them.

    It flies where nothing touches the ground and nothing holds the body. The
    acceleration changes suddenly at both ends of a flight. So accelerations next to it
    are not reliable, and neither are margins.
    """
    free = (held(measures) <= [MAX_FORCE_SHARE, SAFE_MARGIN]).all(axis=1)
    flies = np.asarray(free & ~measures.contacts.in_contact.any(axis=1))
    if not flies.any():
        return flies
    frames = max(END_FRAMES, int(np.ceil(END_TIME / median_step(measures.times))))
    window = np.ones(1 + 2 * min(frames, len(flies)))
    return np.convolve(np.pad(flies * 1.0, len(window) // 2), window, "valid") > 0.5


def depths(measures: Measures) -> Floats:
    """Return the depth (T,) [m] of the deepest link below the ground."""
    deepest = np.full(len(measures.times), -np.inf)
    for link in measures.body.links:
        depth = depth_of(measures, link.index)
        if depth is not None:
            deepest = np.maximum(deepest, depth)
    return deepest


def depth_of(measures: Measures, link: int) -> Floats | None:
    """Return the depth (T,) [m] of a link below the ground.

    None without a shape.
    """
    points = measures.body.links[link].contact_points
    if not len(points):
        return None
    edges = np.array([0, len(points)])
    heights = lowest(measures.link_poses[:, [link]], points, edges, 0.0)[:, 0, 0]
    return np.asarray(measures.ground - heights)


def _slips(measures: Measures) -> Floats:
    """Return the slip (T,) [m] of the stance phase that each frame is in."""
    amounts = np.zeros(len(measures.times))
    for slip in foot_slips(measures.contacts, measures.times):
        phase = slice(slip.first, slip.last + 1)
        amounts[phase] = np.maximum(amounts[phase], slip.way)
    return amounts


def _position_excess(measures: Measures) -> Floats:
    """Return how far (T,) [rad or m] a joint is beyond its limits."""
    limited = [joint.lower <= joint.upper for joint in measures.body.joints]
    distances = measures.limit_distances[:, np.array(limited, dtype=bool)]
    return np.asarray(np.maximum(-distances.min(axis=1, initial=np.inf), 0.0))


def _velocity_excess(measures: Measures) -> Floats:
    """Return by which share (T,) a joint is faster than its limit."""
    shares = speed_shares(measures.body, measures.joint_velocities)
    # A limit of 0 cannot be kept by a joint that moves.
    shares[np.isinf(shares)] = 0.0
    return np.asarray(np.maximum(shares.max(axis=1, initial=0.0) - 1.0, 0.0))


def _effort_excess(measures: Measures) -> Floats:
    """Return by which share (T,) a torque is beyond the limit of its motor."""
    excess = np.zeros(len(measures.times))
    for column, joint in enumerate(measures.body.joints):
        limits = effort_range(joint)
        if limits is None or not limits[0] < 0 < limits[1]:
            continue
        torques = measures.torques[:, column]
        share = np.where(torques < 0, torques / limits[0], torques / limits[1])
        excess = np.fmax(excess, share - 1.0)
    return excess


def _jumps(measures: Measures) -> Floats:
    """Return the number (T,) of jumps and spikes that begin in each frame."""
    times = measures.times
    frames = Sampling(np.arange(len(times)), times, lambda _: Location(""))
    findings: list[Finding] = []
    if len(times) > 2:
        findings += jumps_of_joints(measures.joint_displacements, frames, measures.body)
        findings += jumps_of_root(measures.root_poses, frames)
    counts = np.zeros(len(times))
    for finding in findings:
        if finding.problem.rule != TREMBLING:
            for moment in finding.moments:
                counts[moment.frame] += 1
    return counts


def _findings(measures: Measures) -> dict[str, Floats]:
    """Return by the rules of `FINDINGS` the amounts (T,) that `check` finds.

    An amount is a multiple of the limit of the rule, above 1; 0 where nothing is found.
    """
    times = measures.times
    amounts = {rule: np.zeros(len(times)) for rule in FINDINGS}
    for moment in moments(measures.motion, measures.body):
        if moment.rule in amounts:
            first = int(np.searchsorted(times, moment.start - 1e-9))
            after = int(np.searchsorted(times, moment.end + 1e-9))
            inside = amounts[moment.rule][first : max(after, first + 1)]
            np.maximum(inside, moment.amount, out=inside)
    return amounts
