"""Compare two motions, component by component."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from bodymotion.comparison.difference import Comparison, Difference, Tolerance, in_words
from bodymotion.diagnostics.text import listed
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Bools, Floats, same
from bodymotion.model.body import Body
from bodymotion.motion import (
    JOINT_DISPLACEMENT,
    JOINT_EFFORT,
    LINK_POSITION,
    Component,
    Motion,
    MultiSE3Seq,
    MultiValueSeq,
    OtherSeq,
    Vector3Seq,
)
from bodymotion.motion.components import Timeline

Timed: TypeAlias = MultiValueSeq | MultiSE3Seq | Vector3Seq
Names: TypeAlias = Sequence[str]  # Of parts, or their units.


def compare_motions(
    a: Motion,
    b: Motion,
    *,
    atol: float = 0.0,
    rtol: float = 0.0,
    body: Body | None = None,
) -> Comparison:
    """Return the differences between two motions.

    Parameters
    ----------
    a, b:
        Components are compared by content and type, frame by frame; motions of different lengths over their common frames.
    atol, rtol:
        Numbers are equal when |a − b| ≤ atol + rtol · |b|: joint values [rad or m], positions [m]. Two orientations are equal when the
        angle between them is at most `atol` [rad], or their quaternions are equal up to the sign.
    body:
        The names of joints and links, where the motions have none.

    Raises
    ------
    ValueError
        When a tolerance is negative.
    """
    tolerance = Tolerance(atol, rtol)
    differences: list[Difference] = []
    if not same(a.extra, b.extra):
        differences.append(_extras("the top node", a.extra, b.extra))
    left = list(b.components)
    for component in a.components:
        partner = next((c for c in left if _kind(c) == _kind(component)), None)
        if partner is None:
            differences.append(Difference(_kind(component), "only in the first motion"))
            continue
        left = [c for c in left if c is not partner]
        if isinstance(component, OtherSeq) or isinstance(partner, OtherSeq):
            if component != partner:
                differences.append(
                    _extras(_kind(component), component.extra, partner.extra)
                )
            continue
        differences += _component(component, partner, tolerance, body)
    differences += [
        Difference(_kind(component), "only in the second motion") for component in left
    ]
    return Comparison(tuple(differences))


def _kind(component: Component) -> str:
    kind = (
        component.type if isinstance(component, OtherSeq) else type(component).__name__
    )
    return f"{component.content} ({kind})"


def _component(
    a: Any,  # noqa: ANN401
    b: Any,  # noqa: ANN401
    tolerance: Tolerance,
    body: Body | None,
) -> list[Difference]:
    what = a.content
    found = []
    if isinstance(a, Vector3Seq) and a.is_root_relative != b.is_root_relative:
        where = [
            "the root frame" if c.is_root_relative else "the world frame"
            for c in (a, b)
        ]
        found.append(Difference(what, f"in {where[0]}, in {where[1]}"))
    known = _names_of(body, a)
    if known:
        # With a body, missing names equal the names of the body.
        a, b = (
            replace(c, part_labels=c.part_labels or known[: c.values.shape[1]])
            for c in (a, b)
        )
    names, others = a.part_labels, b.part_labels
    is_permuted = (
        names != others
        and sorted(names) == sorted(others)
        and len(set(names)) == len(names)
    )
    if is_permuted and a.num_parts == len(names) == b.num_parts:
        found.append(
            Difference(
                what, "the parts are in another order; they are compared by name"
            )
        )
        b = replace(
            b,
            values=b.values[:, [others.index(name) for name in names]],
            part_labels=names,
        )
    if a.part_labels != b.part_labels:
        texts = [
            in_words(", ".join(labels)) if labels else "none"
            for labels in (a.part_labels, b.part_labels)
        ]
        found.append(Difference(what, f"part labels {'; '.join(texts)}"))
    if not same(a.extra, b.extra):
        found.append(_extras(what, a.extra, b.extra))
    found += _timelines(what, a.timeline, b.timeline, tolerance)
    parts = a.values.shape[1], b.values.shape[1]
    if parts[0] != parts[1]:
        found.append(
            Difference(
                what, f"{parts[0]} parts, {parts[1]} parts", {"num_parts": list(parts)}
            )
        )
    frames = min(a.num_frames, b.num_frames)
    shared = min(parts)
    if frames and shared:
        x, y = a.values[:frames, :shared], b.values[:frames, :shared]
        names = _names(a, b, shared)
        times = a.timeline.times
        if isinstance(a, MultiSE3Seq):
            found += _numbers(
                f"{what} position",
                x[..., :3],
                y[..., :3],
                names,
                times,
                tolerance,
                ["m"] * shared,
            )
            found += _rotations(
                f"{what} orientation", x[..., 3:], y[..., 3:], names, times, tolerance
            )
        else:
            units = (
                ["m"] * shared
                if isinstance(a, Vector3Seq)
                else _units(body, what, names)
            )
            found += _numbers(
                what, x[..., None], y[..., None], names, times, tolerance, units
            )
    return found


def _timelines(
    what: str, a: Timeline, b: Timeline, tolerance: Tolerance
) -> list[Difference]:
    found = []
    if a.num_frames != b.num_frames:
        counts = {"num_frames": [a.num_frames, b.num_frames]}
        found.append(
            Difference(what, f"{a.num_frames} frames, {b.num_frames} frames", counts)
        )
    if (a.stamps is None) != (b.stamps is None) or (
        a.stamps is None and a.frame_rate != b.frame_rate
    ):
        rates = [a.frame_rate, b.frame_rate]
        texts = ["time stamps" if rate is None else f"{rate:.9g} Hz" for rate in rates]
        found.append(Difference(what, ", ".join(texts), {"frame_rate": rates}))
    elif a.stamps is not None and b.stamps is not None:
        count = min(a.num_frames, b.num_frames)
        differing = tolerance.beyond(a.stamps[:count], b.stamps[:count])
        if differing.any():
            k = int(np.argmax(np.abs(a.stamps[:count] - b.stamps[:count])))
            numbers = {
                "frame": k,
                "largest": float(abs(a.stamps[k] - b.stamps[k])),
                "unit": "s",
            }
            message = f"times differ by up to {numbers['largest']:.6g} s, in frame {k}"
            found.append(
                Difference(what, message, {**numbers, "count": int(differing.sum())})
            )
        if a.import_rate != b.import_rate:
            found.append(
                Difference(
                    what, f"requested rates {a.import_rate} and {b.import_rate} Hz"
                )
            )
    return found


def _numbers(
    what: str,
    a: Floats,
    b: Floats,
    names: Sequence[str],
    times: Floats,
    tolerance: Tolerance,
    units: Sequence[str],
) -> list[Difference]:
    """Compare (T, P, n): a part's amount in a frame is the largest of its n numbers."""
    differing = tolerance.beyond(a, b)
    with np.errstate(invalid="ignore", over="ignore"):
        amounts = np.where(differing, np.abs(a - b), 0.0)
    largest = np.where(np.isnan(amounts), np.inf, amounts).max(axis=2)
    return _difference(
        what, largest, np.asarray(differing.any(axis=2)), names, times, units
    )


def _rotations(
    what: str,
    a: Floats,
    b: Floats,
    names: Sequence[str],
    times: Floats,
    tolerance: Tolerance,
) -> list[Difference]:
    sign = np.where(np.sum(a * b, axis=-1, keepdims=True) < 0, -1.0, 1.0)
    unlike = np.asarray(Tolerance().beyond(a * sign, b).any(axis=-1))
    angles = np.where(unlike, rotations.angle_between(a, b), 0.0)
    finite = np.isfinite(a).all(axis=-1) & np.isfinite(b).all(axis=-1)
    differing = np.asarray(np.where(finite, angles > tolerance.atol, unlike))
    if not differing.any() and tolerance.atol == 0:
        # Without a tolerance, quaternions of the same rotation and different length differ.
        differing = unlike
    return _difference(
        what,
        np.where(finite, angles, np.inf),
        differing,
        names,
        times,
        ["rad"] * len(names),
    )


def _difference(
    what: str,
    amounts: Floats,
    differing: Bools,
    names: Names,
    times: Floats,
    units: Names,
) -> list[Difference]:
    """Describe amounts (T, P), of which those that are `differing` count, of parts with `names` and `units`."""
    if not differing.any():
        return []
    counted = np.where(differing, amounts, -1.0)
    frame, part = divmod(int(np.argmax(counted)), counted.shape[1])
    worst = counted.max(axis=0)
    order = [int(k) for k in np.argsort(-worst, kind="stable") if differing[:, k].any()]
    finite = amounts[np.isfinite(amounts)]
    numbers = {
        "largest": float(counted[frame, part]),
        "unit": units[part],
        "frame": frame,
        "time": float(times[frame]),
        "part": names[part],
        "count": int(differing.any(axis=1).sum()),
        "root_mean_square": float(np.sqrt(np.mean(finite**2))) if len(finite) else 0.0,
        "parts": {names[k]: float(worst[k]) for k in order},
    }
    amount = f"{numbers['largest']:.6g} {units[part]}".rstrip()
    more = (
        f"; then {listed((f'{names[k]} {worst[k]:.3g}' for k in order[1:]), 3)}"
        if len(order) > 1
        else ""
    )
    message = (
        f"{numbers['count']} of {len(amounts)} frames differ, by up to {amount} at {names[part]} in frame {frame} "
        f"({numbers['time']:.6g} s){more}"
    )
    return [Difference(what, message, numbers)]


def _names_of(body: Body | None, component: Timed) -> tuple[str, ...]:
    """Return the names that a body has for the parts of a component."""
    if body is None or isinstance(component, Vector3Seq):
        return ()
    if isinstance(component, MultiSE3Seq):
        return (
            tuple(link.name for link in body.links)
            if component.content == LINK_POSITION
            else ()
        )
    joints = component.content in (JOINT_DISPLACEMENT, JOINT_EFFORT)
    return tuple(joint.name for joint in body.joints) if joints else ()


def _units(body: Body | None, content: str, names: Sequence[str]) -> list[str]:
    """Return the units of parts: of a joint the one of its type, which a body gives."""
    rotary, sliding = {
        JOINT_DISPLACEMENT: ("rad", "m"),
        JOINT_EFFORT: ("N m", "N"),
    }.get(content, ("", ""))
    joints = {} if body is None else {joint.name: joint for joint in body.joints}
    either = rotary if rotary == sliding else f"{rotary} or {sliding}"
    return [
        either
        if name not in joints
        else sliding
        if joints[name].type == "slide"
        else rotary
        for name in names
    ]


def _names(a: Timed, b: Timed, count: int) -> list[str]:
    if isinstance(a, Vector3Seq):
        return ["x", "y", "z"]
    kind = (
        "link"
        if isinstance(a, MultiSE3Seq)
        else "joint"
        if a.content.startswith("Joint")
        else "part"
    )
    labels = a.part_labels if len(a.part_labels) >= count else b.part_labels
    names = [
        (labels[k] if k < len(labels) else "") or f"{kind} {k}" for k in range(count)
    ]
    return [
        name if names.count(name) == 1 else f"{name} ({k})"
        for k, name in enumerate(names)
    ]


def _extras(what: str, a: Any, b: Any) -> Difference:  # noqa: ANN401
    differing = [
        str(key)
        for key in {**a, **b}
        if key not in a or key not in b or not same(a[key], b[key])
    ]
    return Difference(
        what,
        f"other keys differ: {in_words(', '.join(differing))}",
        {"keys": differing},
    )
