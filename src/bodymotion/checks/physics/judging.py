"""What a samples says of feet, of balance and of motors, in words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bodymotion.checks.physics import rules
from bodymotion.checks.physics.moments import Finding, Moment, Run, Where, finding, runs, when
from bodymotion.checks.physics.samples import FADE, NEAR, Samples, Standing
from bodymotion.diagnostics import Rule
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body

__all__ = ["balance", "feet_on_ground", "torques"]

SLIP = 0.01
"""[m] So far a foot may slip while it is on the ground: landing and lifting take some millimetres."""
DEPTH = 0.01
"""[m] So deep a foot may be below the ground: soles are a little off, and give way."""
HEIGHT = 0.02
"""[m] From there on a foot cannot be on the ground."""
MOVING = 0.3
"""[m/s] A foot that is faster stands on nothing."""
BORNE = 0.3
"""A body that needs this part of its weight from the ground does not fall."""
HANGING = 0.2
"""[s] So long a body may be borne by nothing."""
OUTSIDE = 0.01
"""[m] So far the zero moment point may be outside of the feet."""
TIPPING = 0.1
"""[s] So long it may be there: a body does not tip over at once."""
OWN = 0.05
"""[s] The same for the point that the motion has, which does not depend on derivatives."""
APART = 0.05
"""[m] So far the motion's own zero moment point may be from the one worked out: patterns that were planned with simple models of the same
robot are some 30 mm off."""
PULLING = 0.05
"""[s] So long a motor may be overloaded."""
OVERLOAD = 1.05
"""So much more than a motor gives a joint may need: torques worked out from frames have errors."""
BRIDGE = 0.05
"""[s] What is well for a shorter time in between is not well."""


def feet_on_ground(samples: Samples, standing: Standing, body: Body, where: Where) -> list[Finding]:
    """Return feet that slip or sink, and where a body hovers. Of ground that is not level only the last can be told."""
    if not standing.level:
        return _hovers(samples, where, level=False) or _uneven(samples, where)
    slips: list[Moment] = []
    sinks: list[Moment] = []
    slipped = sunk = 0
    for k, link in enumerate(standing.feet.links):
        name = body.links[link].name
        if body.links[link].joint.type != "crawler":
            found, count = _slips(samples, k, name, where)
            slips += found
            slipped += count
        deep, count = runs(-samples.heights[:, k] / DEPTH, samples.times, bridge=BRIDGE)
        sunk += count
        sinks += [
            _moment(
                rules.SINKS,
                run,
                samples,
                name,
                f"{name!r} is {run.amount * DEPTH * 1000:.3g} mm below the ground in {_at(samples, run.worst)}",
                where,
            )
            for run in deep
        ]
    return [
        *finding(rules.SLIPS, slips, slipped),
        *finding(rules.SINKS, sinks, sunk),
        *_hovers(samples, where, level=True),
    ]


def _uneven(samples: Samples, where: Where) -> list[Finding]:
    lowest = samples.heights.min(axis=1)
    low, high = np.nanquantile(lowest, (0.05, 0.95)) * 1000
    part = float(np.mean(np.abs(lowest) <= NEAR))
    message = (
        f"the lowest foot is within {NEAR * 1000:.0f} mm of one height in {part:.0%} of the frames only, mostly from {low:.0f} to "
        f"{high:.0f} mm: slipping, sinking and balance are not looked at"
    )
    return [Finding(rules.UNEVEN.problem(message, replace(where(0), line=None, column=None, inside=None)))]


def _hovers(samples: Samples, where: Where, *, level: bool) -> list[Finding]:
    if level:
        amount, scale, unit = samples.heights.min(axis=1) / HEIGHT, HEIGHT * 1000, "mm above the ground"
    else:
        amount, scale, unit = samples.still / MOVING, MOVING, "m/s fast"
    hovering, count = runs(np.where(samples.carried > BORNE, amount, np.nan), samples.times, least=HANGING)
    moments = [
        _moment(
            rules.HOVERS,
            run,
            samples,
            "",
            f"no foot stands for {_lasting(samples, run):.2f} s, and the body does not fall: the {'lowest' if level else 'slowest'} one is "
            f"{run.amount * scale:.3g} {unit} in {_at(samples, run.worst)}",
            where,
        )
        for run in hovering
    ]
    return finding(rules.HOVERS, moments, count)


def balance(samples: Samples, where: Where) -> list[Finding]:
    """Return where the zero moment point is outside of the feet, the motion's own is, and where the two are apart."""
    point = "the zero moment point"
    own = f"{point} that the motion has"
    found: list[Finding] = []
    for rule, amount, scale, least, said in (
        (rules.TIPS, -samples.margins, OUTSIDE, TIPPING, f"{point} is up to %s outside of the feet"),
        (rules.OWN_ZMP_OUTSIDE, -samples.own_margins, OUTSIDE, OWN, f"{own} is up to %s outside of the feet"),
        (
            rules.OWN_ZMP_DIFFERS,
            samples.apart,
            APART,
            TIPPING,
            f"{own} is up to %s from the one that root and joints give",
        ),
    ):
        wrong, count = runs(amount / scale, samples.times, least=least, bridge=BRIDGE)
        moments = []
        for run in wrong:
            amount_in_words = f"{run.amount * scale * 1000:.3g} mm"
            message = f"{said % amount_in_words}, in {_at(samples, run.worst)}, for {_lasting(samples, run):.2f} s"
            moments.append(_moment(rule, run, samples, "", message, where))
        found += finding(rule, moments, count)
    return found


def torques(samples: Samples, body: Body, where: Where) -> list[Finding]:
    """Return where joints need more than their motors give."""
    moments: list[Moment] = []
    total = 0
    for k, column in enumerate(samples.motors):
        joint = body.joints[column]
        name = joint.name or body.links[body.joint_links[column]].name
        loads = np.asarray(samples.torques[:, k], dtype=np.float64)
        over, count = runs(loads, samples.times, OVERLOAD, least=PULLING, bridge=BRIDGE)
        total += count
        unit = "Nm" if joint.type == "rotate" else "N"
        most = max(abs(samples.efforts[k]))
        moments += [
            _moment(
                rules.TORQUE_LIMIT,
                run,
                samples,
                name,
                f"{name!r} needs {run.amount:.3g} times what its motor gives ({most:.4g} {unit}) in {_at(samples, run.worst)}, "
                f"too much for {_lasting(samples, run):.2f} s",
                where,
            )
            for run in over
        ]
    return finding(rules.TORQUE_LIMIT, moments, total)


def _slips(samples: Samples, foot: int, name: str, where: Where) -> tuple[list[Moment], int]:
    """Return each time on the ground in which a foot slips farther than it may."""
    near = np.where(samples.heights[:, foot] < FADE, 1.0, 0.0)
    stances, _ = runs(near, samples.times, 0.5, most=len(near))
    way = _way(samples.sliding[:, foot], samples.times)
    found = []
    for run in stances:
        far = float(way[run.last] - way[run.first])
        if far <= SLIP:
            continue
        worst = run.first + int(np.argmax(samples.sliding[run.first : run.last + 1, foot]))
        slip = Run(run.first, run.last, worst, far / SLIP)
        speed = samples.sliding[worst, foot]
        message = (
            f"{name!r} slips {far * 1000:.3g} mm over the ground from t = {samples.times[run.first]:.2f} s "
            f"to {samples.times[run.last]:.2f} s, "
            f"fastest in {_at(samples, worst)} at {speed:.2g} m/s"
        )
        found.append(_moment(rules.SLIPS, slip, samples, name, message, where))
    return found, len(found)


def _way(speeds: Floats, times: Floats) -> Floats:
    """Return how far something has gone (T,) since the first frame (trapezoidal rule)."""
    given = np.nan_to_num(speeds)
    return np.concatenate([[0.0], np.cumsum(0.5 * (given[1:] + given[:-1]) * np.diff(times))])


def _at(samples: Samples, index: int) -> str:
    return when(int(samples.frames[index]), float(samples.times[index]))


def _lasting(samples: Samples, run: Run) -> float:
    return float(samples.times[min(run.last + 1, len(samples.times) - 1)] - samples.times[run.first])


def _moment(rule: Rule, run: Run, samples: Samples, subject: str, message: str, where: Where) -> Moment:
    frame = int(samples.frames[run.worst])
    return Moment(
        rule.code,
        rule.severity,
        float(samples.times[run.worst]),
        float(samples.times[run.first]),
        float(samples.times[run.last]),
        frame,
        subject,
        run.amount,
        message,
        where(frame),
    )
