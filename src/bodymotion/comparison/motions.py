"""Compare two motions, component by component."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar

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
SameTimed = TypeVar("SameTimed", bound=Timed)

# Parts that a message names after the worst one.
MAX_LISTED_PARTS = 3
# By content: the units of rotating and of sliding joints.
UNITS = {JOINT_DISPLACEMENT: ("rad", "m"), JOINT_EFFORT: ("N m", "N")}


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
        Components are compared by content and type, frame by frame; motions of
        different lengths over their common frames.
    atol, rtol:
        Numbers are equal when |a − b| ≤ atol + rtol · |b|: joint values [rad or m],
        positions [m]. Two orientations are equal when the angle between them is at
        most `atol` [rad], or their quaternions are equal up to the sign.
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
        differences.append(compare_extras("the top node", a.extra, b.extra))
    # Components of the second motion that have no partner yet.
    unmatched = list(b.components)
    for component in a.components:
        kind = kind_of(component)
        kinds = [kind_of(other) for other in unmatched]
        if kind not in kinds:
            differences.append(Difference(kind, "only in the first motion"))
            continue
        # Of several components of one kind, the first of each are compared.
        partner = unmatched.pop(kinds.index(kind))
        differences += compare_components(component, partner, tolerance, body)
    for component in unmatched:
        kind = kind_of(component)
        differences.append(Difference(kind, "only in the second motion"))
    return Comparison(tuple(differences))


def kind_of(component: Component) -> str:
    """Return content and type of a component: two with the same are compared."""
    if isinstance(component, OtherSeq):
        return f"{component.content} ({component.type})"
    return f"{component.content} ({type(component).__name__})"


def compare_components(
    a: Component,
    b: Component,
    tolerance: Tolerance,
    body: Body | None,
) -> Iterator[Difference]:
    """Compare two components of the same kind."""
    if isinstance(a, OtherSeq) or isinstance(b, OtherSeq):
        if a != b:
            yield compare_extras(kind_of(a), a.extra, b.extra)
        return
    assert type(a) is type(b)
    content = a.content
    yield from compare_root_frames(a, b)
    # With a body, missing names equal the names of the body.
    a = with_names_of(body, a)
    b = with_names_of(body, b)
    if is_permuted(a, b):
        message = "the parts are in another order; they are compared by name"
        yield Difference(content, message)
        b = in_order_of(a, b)
    if a.part_labels != b.part_labels:
        message = f"part labels {labels_text(a)}; {labels_text(b)}"
        yield Difference(content, message)
    if not same(a.extra, b.extra):
        yield compare_extras(content, a.extra, b.extra)
    yield from compare_timelines(content, a.timeline, b.timeline, tolerance)
    num_parts = [a.values.shape[1], b.values.shape[1]]
    if num_parts[0] != num_parts[1]:
        message = f"{num_parts[0]} parts, {num_parts[1]} parts"
        yield Difference(content, message, {"num_parts": num_parts})
    yield from compare_values(a, b, tolerance, body)


def compare_root_frames(a: Timed, b: Timed) -> Iterator[Difference]:
    """Compare the frames in which two sequences of vectors are given."""
    if not isinstance(a, Vector3Seq) or not isinstance(b, Vector3Seq):
        return
    if a.is_root_relative != b.is_root_relative:
        frames = {True: "the root frame", False: "the world frame"}
        first = frames[a.is_root_relative]
        second = frames[b.is_root_relative]
        yield Difference(a.content, f"in {first}, in {second}")


def with_names_of(body: Body | None, component: SameTimed) -> SameTimed:
    """Return a component with the names of a body where it has none."""
    if component.part_labels:
        return component
    # A component may have fewer parts than the body.
    names = names_of(body, component)[: component.values.shape[1]]
    if names:
        return replace(component, part_labels=names)
    return component


def names_of(body: Body | None, component: Timed) -> tuple[str, ...]:
    """Return the names that a body has for the parts of a component."""
    if body is None:
        return ()
    match component:
        case MultiSE3Seq(content=content) if content == LINK_POSITION:
            return tuple(link.name for link in body.links)
        case MultiValueSeq(content=content) if content in UNITS:
            return tuple(joint.name for joint in body.joints)
    return ()


def is_permuted(a: Timed, b: Timed) -> bool:
    """Return whether two components have the same distinct names in another order."""
    names = a.part_labels
    # With doubles or missing names, an order by name would be ambiguous.
    is_complete = a.values.shape[1] == len(names) == b.values.shape[1]
    are_distinct = len(set(names)) == len(names)
    are_same = sorted(names) == sorted(b.part_labels)
    return is_complete and are_distinct and are_same and names != b.part_labels


def in_order_of(a: SameTimed, b: SameTimed) -> SameTimed:
    """Return a component with its parts in the order of another one."""
    order = [b.part_labels.index(name) for name in a.part_labels]
    return replace(b, values=b.values[:, order], part_labels=a.part_labels)


def labels_text(component: Timed) -> str:
    """Return the names of the parts of a component as text."""
    if not component.part_labels:
        return "none"
    return in_words(", ".join(component.part_labels))


def compare_timelines(
    content: str,
    a: Timeline,
    b: Timeline,
    tolerance: Tolerance,
) -> Iterator[Difference]:
    """Compare the numbers of frames, and their rates or time stamps."""
    if a.num_frames != b.num_frames:
        message = f"{a.num_frames} frames, {b.num_frames} frames"
        yield Difference(content, message, {"num_frames": [a.num_frames, b.num_frames]})
    # Two timelines with stamps have their times compared; otherwise their rates.
    if a.stamps is not None and b.stamps is not None:
        yield from compare_stamps(content, a.stamps, b.stamps, tolerance)
        if a.import_rate != b.import_rate:
            rates = f"requested rates {a.import_rate} and {b.import_rate} Hz"
            yield Difference(content, rates)
    elif a.frame_rate != b.frame_rate:
        # The rate of a timeline with time stamps is None.
        message = f"{rate_text(a)}, {rate_text(b)}"
        numbers = {"frame_rate": [a.frame_rate, b.frame_rate]}
        yield Difference(content, message, numbers)


def rate_text(timeline: Timeline) -> str:
    """Return the rate of a timeline as text."""
    if timeline.frame_rate is None:
        return "time stamps"
    return f"{timeline.frame_rate:.9g} Hz"


def compare_stamps(
    content: str,
    a: Floats,
    b: Floats,
    tolerance: Tolerance,
) -> Iterator[Difference]:
    """Compare the time stamps [s] of the frames that both motions have."""
    count = min(len(a), len(b))
    a = a[:count]
    b = b[:count]
    differing = tolerance.beyond(a, b)
    if not differing.any():
        return
    apart = np.abs(a - b)
    frame = int(np.argmax(apart))
    numbers = {
        "frame": frame,
        "largest": float(apart[frame]),
        "unit": "s",
        "count": int(differing.sum()),
    }
    message = f"times differ by up to {apart[frame]:.6g} s, in frame {frame}"
    yield Difference(content, message, numbers)


@dataclass(frozen=True)
class Parts:
    """The parts of two components that are compared.

    Attributes
    ----------
    names, units:
        Of the P parts.
    times:
        (T,) [s] of the frames.
    """

    names: Sequence[str]
    units: Sequence[str]
    times: Floats


def compare_values(
    a: Timed,
    b: Timed,
    tolerance: Tolerance,
    body: Body | None,
) -> Iterator[Difference]:
    """Compare the numbers of the frames and parts that both components have."""
    # What only one of them has was reported before.
    num_frames = min(a.num_frames, b.num_frames)
    num_parts = min(a.values.shape[1], b.values.shape[1])
    if not num_frames or not num_parts:
        return
    # (T, P) or (T, P, 7), the common frames and parts.
    x = a.values[:num_frames, :num_parts]
    y = b.values[:num_frames, :num_parts]
    names = part_names(a, b, num_parts)
    metres = ["m"] * num_parts
    content = a.content
    times = a.timeline.times
    # Metres and radians do not add up: positions and orientations are apart.
    if isinstance(a, MultiSE3Seq):
        positions = Parts(names, metres, times)
        orientations = Parts(names, ["rad"] * num_parts, times)
        yield from compare_numbers(
            f"{content} position", x[..., :3], y[..., :3], positions, tolerance
        )
        yield from compare_rotations(
            f"{content} orientation", x[..., 3:], y[..., 3:], orientations, tolerance
        )
        return
    units = metres
    if not isinstance(a, Vector3Seq):
        units = units_of(body, content, names)
    parts = Parts(names, units, times)
    # (T, P, 1): one number for each part.
    yield from compare_numbers(content, x[..., None], y[..., None], parts, tolerance)


def compare_numbers(
    content: str,
    a: Floats,
    b: Floats,
    parts: Parts,
    tolerance: Tolerance,
) -> Iterator[Difference]:
    """Compare numbers (T, P, n).

    A part's amount in a frame is the largest of its n.
    """
    differing = tolerance.beyond(a, b)
    with np.errstate(invalid="ignore", over="ignore"):
        # Differences within the tolerance count as 0, not as small ones.
        amounts = np.where(differing, np.abs(a - b), 0.0)
    # NaN on one side is the largest difference there can be.
    largest = np.where(np.isnan(amounts), np.inf, amounts).max(axis=2)
    are_differing = np.asarray(differing.any(axis=2))
    yield from describe_difference(content, largest, are_differing, parts)


def compare_rotations(
    content: str,
    a: Floats,
    b: Floats,
    parts: Parts,
    tolerance: Tolerance,
) -> Iterator[Difference]:
    """Compare quaternions (T, P, 4) by the angle [rad] between their rotations.

    Only the absolute tolerance counts.
    """
    # q and -q are the same rotation. Where a number is not finite the sign stays.
    sign = np.where(np.sum(a * b, axis=-1, keepdims=True) < 0, -1.0, 1.0)
    exactly = Tolerance()
    unlike = np.asarray(exactly.beyond(a * sign, b).any(axis=-1))
    # The angle of equal quaternions is 0, not the rounding error of its formula.
    angles = np.where(unlike, rotations.angle_between(a, b), 0.0)
    # The angle of quaternions that are not finite is unknown: any difference counts.
    finite = np.isfinite(a).all(axis=-1) & np.isfinite(b).all(axis=-1)
    differing = np.asarray(np.where(finite, angles > tolerance.atol, unlike))
    if not differing.any() and tolerance.atol == 0:
        # Without a tolerance, quaternions of other lengths differ, too, if no rotation
        # does.
        differing = unlike
    amounts = np.where(finite, angles, np.inf)
    yield from describe_difference(content, amounts, differing, parts)


def describe_difference(
    content: str,
    amounts: Floats,
    differing: Bools,
    parts: Parts,
) -> Iterator[Difference]:
    """Describe amounts (T, P), of which those that are `differing` (T, P) count."""
    if not differing.any():
        return
    # −1 is below any amount, so that what does not differ is never the largest.
    counted = np.where(differing, amounts, -1.0)
    frame, part = divmod(int(np.argmax(counted)), counted.shape[1])
    worst = counted.max(axis=0)
    # Parts by their largest amount; equal ones stay in their order.
    ranking = np.argsort(-worst, kind="stable")
    ranked = [int(k) for k in ranking if differing[:, k].any()]
    finite = amounts[np.isfinite(amounts)]
    root_mean_square = 0.0
    if len(finite):
        root_mean_square = float(np.sqrt(np.mean(finite**2)))
    largest = float(counted[frame, part])
    time = float(parts.times[frame])
    count = int(differing.any(axis=1).sum())
    numbers = {
        "largest": largest,
        "unit": parts.units[part],
        "frame": frame,
        "time": time,
        "part": parts.names[part],
        "count": count,
        "root_mean_square": root_mean_square,
        "parts": {parts.names[k]: float(worst[k]) for k in ranked},
    }
    amount = f"{largest:.6g} {parts.units[part]}".rstrip()
    message = (
        f"{count} of {len(amounts)} frames differ, by up to {amount} "
        f"at {parts.names[part]} in frame {frame} ({time:.6g} s)"
    )
    others = [f"{parts.names[k]} {worst[k]:.3g}" for k in ranked[1:]]
    if others:
        message += f"; then {listed(others, MAX_LISTED_PARTS)}"
    yield Difference(content, message, numbers)


def units_of(
    body: Body | None,
    content: str,
    names: Sequence[str],
) -> list[str]:
    """Return the units of parts: of a joint that of its type, which a body gives."""
    rotating, sliding = UNITS.get(content, ("", ""))
    # Without a body, it is not known whether a joint slides.
    unknown = f"{rotating} or {sliding}" if rotating else ""
    units = {}
    if body is not None:
        for joint in body.joints:
            units[joint.name] = sliding if joint.type == "slide" else rotating
    return [units.get(name, unknown) for name in names]


def part_names(
    a: Timed,
    b: Timed,
    count: int,
) -> list[str]:
    """Return a distinct name for each of the first `count` parts of two components."""
    if isinstance(a, Vector3Seq):
        return ["x", "y", "z"]
    kind = "part"
    if isinstance(a, MultiSE3Seq):
        kind = "link"
    elif a.content.startswith("Joint"):
        kind = "joint"
    labels = a.part_labels
    if len(labels) < count:
        labels = b.part_labels
    names = [f"{kind} {k}" for k in range(count)]
    for k, label in enumerate(labels[:count]):
        names[k] = label or names[k]
    # Names that several parts have get the number of the part.
    counts = Counter(names)
    return [
        name if counts[name] == 1 else f"{name} ({k})" for k, name in enumerate(names)
    ]


def compare_extras(
    content: str,
    a: Any,  # noqa: ANN401
    b: Any,  # noqa: ANN401
) -> Difference:
    """Return the difference between other keys, mappings from names to values."""
    differing = []
    for key in {**a, **b}:
        is_common = key in a and key in b
        if not is_common or not same(a[key], b[key]):
            differing.append(str(key))
    message = f"other keys differ: {in_words(', '.join(differing))}"
    return Difference(content, message, {"keys": differing})
