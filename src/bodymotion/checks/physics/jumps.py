"""What is sudden about the joints and the root of a motion, in words."""

from __future__ import annotations

import numpy as np

from bodymotion.checks.physics import rules
from bodymotion.checks.physics.moments import MOST, Finding, Moment, Where, finding, when
from bodymotion.checks.physics.sudden import ANGLES, PLACES, SLIDES, TURNS, Scale, Sudden, sudden, trembling
from bodymotion.diagnostics import Rule
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body
from bodymotion.motion.interpolation import find_wraps, unwrapped

__all__ = ["jumps_of_joints", "jumps_of_root", "sign_flips"]

TOGETHER = 2
"""Joints that do something sudden within so many frames of each other do it together."""
OPPOSITE = -0.5
"""Quaternions with a product below this are less than 120° apart, but of other sign."""


def jumps_of_joints(q: Floats, times: Floats, body: Body, where: Where) -> list[Finding]:
    """Return jumps, spikes and jumps by full turns of joint values (T, J)."""
    gaps = np.diff(times)
    jumped: list[tuple[Sudden, str, str]] = []
    spiked: list[tuple[Sudden, str, str]] = []
    turned: list[Moment] = []
    trembled: list[Moment] = []
    for column, (joint, link) in enumerate(zip(body.joints, body.joint_links, strict=True)):
        if link < 0 or joint.type not in ("rotate", "slide"):
            continue
        values, name = q[:, [column]], joint.name or body.links[link].name
        if joint.type == "rotate":
            turned += _full_turns(values, times, name, where)
            values = unwrapped(values)
        scale, unit = (ANGLES, "rad") if joint.type == "rotate" else (SLIDES, "m")
        steps = np.diff(values, axis=0)
        for event in sudden(steps, gaps, scale):
            (jumped if event.jump else spiked).append((event, name, unit))
        trembled += _trembling(steps, gaps, times, scale, name, where)
    return [
        *finding(rules.JOINT_JUMPS, _together(rules.JOINT_JUMPS, jumped, times, where)),
        *finding(rules.JOINT_SPIKE, _together(rules.JOINT_SPIKE, spiked, times, where)),
        *finding(rules.FULL_TURN, turned),
        *finding(rules.TREMBLES, trembled),
    ]


def jumps_of_root(root: Floats, times: Floats, where: Where) -> list[Finding]:
    """Return jumps and spikes of the root's poses (T, 7), of its place and of its orientation."""
    gaps = np.diff(times)
    places = np.diff(root[:, :3], axis=0)
    units = rotations.normalized(root[:, 3:])
    axes, angles = rotations.to_axis_angle(rotations.multiply(rotations.conjugate(units[:-1]), units[1:]))
    turns = axes * angles[:, None]
    found = [
        *((event, "", "m") for event in sudden(places, gaps, PLACES)),
        *((event, "", "rad") for event in sudden(turns, gaps, TURNS)),
    ]
    trembled = [
        *_trembling(places, gaps, times, PLACES, "", where),
        *_trembling(turns, gaps, times, TURNS, "", where),
    ]
    jumped, spiked = ([one for one in found if bool(one[0].jump) is kind] for kind in (True, False))
    return [
        *finding(rules.ROOT_JUMPS, _together(rules.ROOT_JUMPS, jumped, times, where)),
        *finding(rules.ROOT_SPIKE, _together(rules.ROOT_SPIKE, spiked, times, where)),
        *finding(rules.TREMBLES, trembled),
    ]


def sign_flips(quaternions: Floats, times: Floats, where: Where) -> list[Finding]:
    """Return where quaternions (T, 4) change their sign from one frame to the next."""
    lengths = np.sum(quaternions * quaternions, axis=1)
    product = np.sum(quaternions[1:] * quaternions[:-1], axis=1)
    flipped = np.flatnonzero(product < OPPOSITE * np.sqrt(lengths[1:] * lengths[:-1])) + 1
    moments = [
        _moment(
            rules.SIGN_FLIP,
            frame,
            frame,
            times,
            "root",
            1.0,
            f"the root's quaternion changes its sign in {when(frame, times[frame])}",
            where,
        )
        for frame in map(int, flipped[:MOST])
    ]
    return finding(rules.SIGN_FLIP, moments, len(flipped))


def _full_turns(values: Floats, times: Floats, name: str, where: Where) -> list[Moment]:
    return [
        _moment(
            rules.FULL_TURN,
            wrap.frame,
            wrap.frame,
            times,
            name,
            abs(wrap.turns),
            f"{name!r} jumps by {'a full turn' if abs(wrap.turns) == 1 else f'{abs(wrap.turns)} full turns'} "
            f"from frame {wrap.frame - 1} to {when(wrap.frame, times[wrap.frame])}",
            where,
        )
        for wrap in find_wraps(values)[:MOST]
    ]


def _trembling(steps: Floats, gaps: Floats, times: Floats, scale: Scale, name: str, where: Where) -> list[Moment]:
    who = repr(name) if name else "the root"
    moments = []
    for run in trembling(steps, gaps, times, scale)[0]:
        worst = when(run.worst, times[run.worst])
        message = f"{who} trembles from t = {times[run.first]:.2f} s to {times[run.last]:.2f} s, most in {worst}"
        moments.append(
            Moment(
                rules.TREMBLES.code,
                rules.TREMBLES.severity,
                float(times[run.worst]),
                float(times[run.first]),
                float(times[run.last]),
                run.worst,
                name,
                run.amount,
                message,
                where(run.worst),
            )
        )
    return moments


def _together(rule: Rule, found: list[tuple[Sudden, str, str]], times: Floats, where: Where) -> list[Moment]:
    """Make one moment of what several joints do at the same time."""
    if not found:
        return []
    busy = np.full(len(times), np.nan)
    for event, _, _ in found:
        part = slice(event.first, event.last + 1)
        busy[part] = np.fmax(busy[part], event.amount)
    moments = []
    spans = _spans(busy)
    for first, last in spans:
        inside = [one for one in found if first <= one[0].first <= last]
        event, name, unit = max(inside, key=lambda one: one[0].amount)
        others = sorted({other for _, other, _ in inside if other != name})
        message = _message(event, name, unit, times)
        if others:
            message += f", and so do {len(others)} other joints" if len(others) > 1 else f", and so does {others[0]!r}"
        start, end = (event.before, event.before + 1) if event.jump else (event.first, event.last)
        moments.append(
            Moment(
                rule.code,
                rule.severity,
                float(times[end if event.jump else event.worst]),
                float(times[start]),
                float(times[end]),
                end if event.jump else event.worst,
                name,
                event.amount,
                message,
                where(end if event.jump else event.worst),
            )
        )
    return moments


def _spans(busy: Floats) -> list[tuple[int, int]]:
    """Return first and last frames of what is busy, with up to `TOGETHER` frames between."""
    frames = np.flatnonzero(np.isfinite(busy))
    cuts = np.flatnonzero(np.diff(frames) > TOGETHER) + 1
    parts = np.split(frames, cuts)
    return [(int(part[0]), int(part[-1])) for part in parts if len(part)]


def _message(event: Sudden, name: str, unit: str, times: Floats) -> str:
    who = repr(name) if name else "the root" if unit == "m" else "the root's orientation"
    if event.jump:
        size = _size(event.jump, unit)
        return f"{who} jumps by {size} from frame {event.before} to {when(event.before + 1, times[event.before + 1])}"
    size = f"{event.change:.3g} {unit}/s"
    usual = f"{event.usual:.2g}"
    return f"the speed of {who} changes by {size} in {when(event.worst, times[event.worst])}, around it by {usual} {unit}/s a frame"


def _size(amount: float, unit: str) -> str:
    return f"{amount * 1000:.3g} mm" if unit == "m" else f"{amount:.3g} rad ({np.degrees(amount):.3g}°)"


def _moment(
    rule: Rule, first: int, last: int, times: Floats, subject: str, amount: float, message: str, where: Where
) -> Moment:
    return Moment(
        rule.code,
        rule.severity,
        float(times[first]),
        float(times[first]),
        float(times[last]),
        first,
        subject,
        float(amount),
        message,
        where(first),
    )
