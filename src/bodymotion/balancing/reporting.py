"""What balancing changed, what it left alone, and what is still not right."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from bodymotion.balancing.improving import MAX_MISS, falls_freely
from bodymotion.balancing.judging import SAFE_MARGIN, amounts_of, depth_of, held
from bodymotion.balancing.slowing import SlowPart
from bodymotion.balancing.stance import FootPlan
from bodymotion.diagnostics import ShortRepr
from bodymotion.dynamics import Measures
from bodymotion.dynamics.contacts import longest_slip
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Bools, Floats, runs
from bodymotion.model.links import effort_range

# [rad or m] Joints that change by less are not in the report.
MIN_REPORTED = 5e-5
# [rad or m] Joints that change by less are not printed one by one.
MIN_PRINTED = 0.01
# So many joints are printed at most.
MAX_PRINTED = 6
# So many parts of a motion are listed at most.
MAX_PARTS = 3
# [m] Links that are deeper are reported. Models of soles are inexact.
MAX_DEPTH = 0.01

Outcome: TypeAlias = Literal["unchanged", "improved", "partly improved", "refused"]


class KeptPart(NamedTuple):
    """A part of the input that stays as it was: begin and end [s], and why."""

    begin: float
    end: float
    reason: str


@dataclass(frozen=True, kw_only=True)
class BalanceReport(ShortRepr):
    """The changes of a motion, and the problems that remain.

    Attributes
    ----------
    seconds, frames:
        Length of the new motion.
    safe_before, safe_after:
        Share of the frames with a stability margin of at least 10 mm.
    margin_before, margin_after:
        [m] The minimum stability margin.
    slip_before, slip_after:
        [m] The longest slip of a foot in one stance phase.
    center_shift:
        [m] The largest shift of the centre of mass, and its time [s].
    feet, joints:
        By the names of changed links and joints: the largest change [m; rad or m], and
        its time [s].
    sliding:
        The names of joints whose change is in metres.
    slowed:
        Begin and end [s] of slowed parts in the input, and the largest factor.
    remaining:
        The problems that could not be fixed.
    outcome:
        "unchanged": the input was safe. "improved", "partly improved": it is better,
        everywhere or in parts. "refused": no result was better; it is unchanged.
    kept:
        The parts of the input that stay as they were, since a result would be worse.
    seconds_before:
        Length of the input.
    fall_before, fall_after:
        [s] After this time input and result fall in a simulation; infinite for never,
        None where this is not known.
    """

    seconds: float
    frames: int
    safe_before: float
    safe_after: float
    margin_before: float
    margin_after: float
    slip_before: float
    slip_after: float
    center_shift: tuple[float, float]
    feet: dict[str, tuple[float, float]]
    joints: dict[str, tuple[float, float]]
    sliding: tuple[str, ...] = ()
    slowed: tuple[SlowPart, ...] = ()
    remaining: tuple[str, ...] = ()
    outcome: Outcome = "improved"
    kept: tuple[KeptPart, ...] = ()
    seconds_before: float = float("nan")
    fall_before: float | None = None
    fall_after: float | None = None

    @property
    def has_other_length(self) -> bool:
        """Whether the new motion is longer than the input by a frame or more."""
        frame = self.seconds / max(self.frames - 1, 1)
        return abs(self.seconds - self.seconds_before) > 0.5 * frame

    @property
    def has_failed(self) -> bool:
        """Whether something is not balanced, or could not be fixed."""
        return bool(self.kept or self.remaining)

    def __str__(self) -> str:
        rows = [("frames", f"{self.frames} in {self.seconds:.3f} s")]
        if self.outcome == "unchanged":
            rows.append(("unchanged", "the motion is safe already"))
        rows += self._measure_rows()
        rows += self._change_rows()
        if self.fall_before is not None and self.fall_after is not None:
            falls = f"{_fall_text(self.fall_before)} before"
            rows.append(("simulation", f"{falls}, {_fall_text(self.fall_after)} now"))
        for part in self.slowed:
            when = f"{part.begin:.2f} s to {part.end:.2f} s of the input"
            rows.append(("slower", f"{when}, by up to {part.factor:.2f}"))
        for kept in self.kept[:MAX_PARTS]:
            when = f"{kept.begin:.2f} s to {kept.end:.2f} s"
            rows.append(("not balanced", f"{when}: {kept.reason}"))
        if len(self.kept) > MAX_PARTS:
            left = len(self.kept) - MAX_PARTS
            rows.append(("not balanced", f"{left} more parts of the motion"))
        rows += [("not fixed", text) for text in self.remaining]
        width = max(len(name) for name, _ in rows) + 2
        return "".join(f"{name:<{width}}{text}\n" for name, text in rows)

    def _measure_rows(self) -> list[tuple[str, str]]:
        def both(
            before: float,
            after: float,
            unit: str,
        ) -> str:
            if self.outcome in ("unchanged", "refused"):
                return f"{before:.1f} {unit}"
            return f"{before:.1f} {unit} before, {after:.1f} {unit} now"

        safe = both(100 * self.safe_before, 100 * self.safe_after, "%")
        margin = both(1e3 * self.margin_before, 1e3 * self.margin_after, "mm")
        slip = both(1e3 * self.slip_before, 1e3 * self.slip_after, "mm")
        return [
            ("safe frames", f"{safe} (margin of {1e3 * SAFE_MARGIN:g} mm)"),
            ("stability margin", f"at least {margin}"),
            ("foot slip", f"at most {slip}"),
        ]

    def _change_rows(self) -> list[tuple[str, str]]:
        if self.outcome in ("unchanged", "refused"):
            return []
        moved = {"centre of mass": self.center_shift}
        moved |= {f"foot {name}": shift for name, shift in self.feet.items()}
        rows = [
            (name, f"moved by up to {1e3 * much:.1f} mm at {at:.2f} s")
            for name, (much, at) in moved.items()
        ]
        large = sorted(self.joints.items(), key=lambda row: -row[1][0])
        large = [row for row in large if row[1][0] >= MIN_PRINTED][:MAX_PRINTED]
        for name, (much, at) in large:
            unit = "m" if name in self.sliding else "rad"
            text = f"changed by up to {much:.2f} {unit} at {at:.2f} s"
            rows.append((f"joint {name}", text))
        left = len(self.joints) - len(large)
        if left:
            rows.append(("other joints", f"{left} changed by less"))
        return rows


def _fall_text(fall: float) -> str:
    if np.isfinite(fall):
        return f"falls at {fall:.2f} s"
    return "does not fall"


class Comparison(NamedTuple):
    """What a report compares.

    `original`, the input; `old`, the same with the times of the result; `new`, the
    result.
    """

    original: Measures
    old: Measures
    new: Measures


def make_report(
    compared: Comparison,
    outcome: Outcome,
    *,
    feet: FootPlan | None = None,
    missed: Floats | None = None,
    slowed: Sequence[SlowPart] = (),
    kept: Sequence[KeptPart] = (),
    acceleration: float = np.inf,
    falls: tuple[float | None, float | None] = (None, None),
) -> BalanceReport:
    """Compare a result with its input."""
    original, old, new = compared
    body = old.body
    times = old.times
    links = list(new.feet.links)
    if feet is None:
        middles = np.zeros((len(links), 3))
    else:
        middles = feet.points
    shifts = np.linalg.norm(
        poses.transform_points(new.link_poses[:, links], middles)
        - poses.transform_points(old.link_poses[:, links], middles),
        axis=-1,
    )
    center_shifts = np.linalg.norm(new.center_of_mass - old.center_of_mass, axis=1)
    joint_names = [joint.name or f"joint {k}" for k, joint in enumerate(body.joints)]
    joint_changes = np.abs(new.joint_displacements - old.joint_displacements)
    sliding = [
        name
        for name, joint in zip(joint_names, body.joints, strict=True)
        if joint.type == "slide"
    ]
    remaining = () if outcome == "unchanged" else _remaining(new, missed, acceleration)
    return BalanceReport(
        seconds=float(times[-1] - times[0]),
        frames=len(times),
        safe_before=float(np.mean(original.stability_margin >= SAFE_MARGIN)),
        safe_after=float(np.mean(new.stability_margin >= SAFE_MARGIN)),
        margin_before=minimum(original.stability_margin),
        margin_after=minimum(new.stability_margin),
        slip_before=longest_slip(original.contacts, original.times),
        slip_after=longest_slip(new.contacts, new.times),
        center_shift=_largest(center_shifts, times),
        feet=_changes([body.links[k].name for k in links], shifts, times),
        joints=_changes(joint_names, joint_changes, times),
        sliding=tuple(sliding),
        slowed=tuple(slowed),
        remaining=tuple(remaining),
        outcome=outcome,
        kept=tuple(kept),
        seconds_before=float(original.times[-1] - original.times[0]),
        fall_before=falls[0],
        fall_after=falls[1],
    )


def _largest(values: Floats, times: Floats) -> tuple[float, float]:
    """Return the largest of values (T,), and its time."""
    frame = int(np.argmax(values))
    return float(values[frame]), float(times[frame])


def _changes(
    names: Sequence[str],
    changes: Floats,
    times: Floats,
) -> dict[str, tuple[float, float]]:
    """Return the largest changes by name, of changes (T, N)."""
    return {
        name: _largest(column, times)
        for name, column in zip(names, changes.T, strict=True)
        if column.max() > MIN_REPORTED
    }


def minimum(margins: Floats) -> float:
    """Return the minimum of margins (T,), which are nan without contact."""
    known = margins[np.isfinite(margins)]
    if len(known):
        return float(known.min())
    return float("nan")


class _Notes:
    """Texts about what is wrong from when to when."""

    def __init__(self, times: Floats) -> None:
        self._times = times
        self.texts: list[str] = []

    def add(
        self,
        text: str,
        wrong: Bools,
        rest: str = "",
    ) -> None:
        """Add a text about the frames (T,) that are wrong, if there are any."""
        parts = [
            f"{self._times[a]:.2f} s to {self._times[b - 1]:.2f} s"
            for a, b in runs(wrong)
        ]
        if not parts:
            return
        more = len(parts) - MAX_PARTS
        if more > 0:
            also = f" and {more} more"
        else:
            also = ""
        self.texts.append(f"{text} from {', '.join(parts[:MAX_PARTS])}{also}{rest}")


def _remaining(
    new: Measures,
    missed: Floats | None,
    acceleration: float,
) -> list[str]:
    """Return what is not right in a result."""
    notes = _Notes(new.times)
    _note_margins(notes, new)
    if missed is not None:
        far = 1e3 * missed.max()
        text = f"feet or centre of mass are up to {far:.1f} mm from their goals"
        notes.add(text, missed > MAX_MISS)
    for link in new.body.links:
        depth = depth_of(new, link.index)
        if depth is not None:
            text = f"link {link.name!r} is up to {1e3 * depth.max():.1f} mm deep"
            notes.add(f"{text} below the ground", depth > MAX_DEPTH)
    slips = amounts_of(new)["slip"]
    notes.add(f"feet slip by up to {1e3 * slips.max():.1f} mm", slips > MAX_DEPTH)
    _note_limits(notes, new, acceleration)
    return notes.texts


def _note_margins(notes: _Notes, new: Measures) -> None:
    """Note small margins, and what would have to hold the body in the air."""
    margin = new.stability_margin
    falls = falls_freely(new)
    has_margin = np.isfinite(margin) & ~falls
    expected = f"expected {1e3 * SAFE_MARGIN:g} mm or more,"
    text = f"stability margin {1e3 * minimum(margin[has_margin]):.1f} mm, {expected}"
    notes.add(text, has_margin & (margin < SAFE_MARGIN))
    # Balancing leaves rotations in the air unchanged, so a moment may remain there. The
    # largest force and the largest moment may be those of different frames.
    is_airborne = ~falls & ~has_margin
    weight = new.body.mass * float(np.linalg.norm(new.gravity))
    force, moment = weight * held(new).max(
        axis=0, where=is_airborne[:, None], initial=0.0
    )
    text = f"in the air {force:.3g} N and {moment:.3g} Nm are needed, expected none,"
    notes.add(text, is_airborne, ": rotations are as before")


def _note_limits(
    notes: _Notes,
    new: Measures,
    acceleration: float,
) -> None:
    """Note joints beyond their limits."""
    joints = new.body.joints
    efforts = [effort_range(joint) or (-np.inf, np.inf) for joint in joints]
    positions = [(joint.lower, joint.upper) for joint in joints]
    velocities = [(joint.velocity_lower, joint.velocity_upper) for joint in joints]
    accelerations = [(-acceleration, acceleration)] * len(joints)
    ranges = (
        ("position", new.joint_displacements, positions),
        ("velocity", new.joint_velocities, velocities),
        ("acceleration", new.joint_accelerations, accelerations),
        ("effort", new.torques, efforts),
    )
    for kind, table, limits in ranges:
        for joint, column, (lower, upper) in zip(joints, table.T, limits, strict=True):
            excess = np.maximum(lower - column, column - upper)
            worst = column[excess.argmax()]
            text = f"{kind} {worst:.4g}, expected {lower:.4g} to {upper:.4g},"
            notes.add(f"joint {joint.name!r}: {text}", excess > 1e-6)
