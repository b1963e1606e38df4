"""Select parts of motions, and join motions one after another, with cross-fading, and with the root continuing from its last pose."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from bodymotion.diagnostics import Problem, WrongUseError
from bodymotion.diagnostics.spelling import choices
from bodymotion.diagnostics.text import listed
from bodymotion.editing.frames import level, moved
from bodymotion.editing.rules import HARD_CUT, LOST, SLIPPING, unknown_components
from bodymotion.extensions import functions_for
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, check_memory
from bodymotion.model.body import Body
from bodymotion.motion import (
    JOINT_DISPLACEMENT,
    LINK_POSITION,
    Component,
    Motion,
    MultiSE3Seq,
    MultiValueSeq,
    OtherSeq,
    Vector3Seq,
)
from bodymotion.motion.components import Timeline
from bodymotion.motion.interpolation import find_wraps
from bodymotion.motion.interpolation.lowpass import quintic
from bodymotion.motion.interpolation.sampling import FULL_TURN, are_poses, wrap_problem


def keep(motion: Motion, *contents: str) -> Motion:
    """Return the motion with only the components of these contents ("JointDisplacement", "LinkPosition", "ZMP", …), in their order.

    Raises
    ------
    ValueError
        When the motion has no component of a content; the message lists the existing
        ones.
    """
    _check(motion, contents)
    return motion.replaced(*(c for c in motion.components if c.content in contents))


def drop(motion: Motion, *contents: str) -> Motion:
    """Return the motion without the components of these contents.

    Errors are those of `keep`.
    """
    _check(motion, contents)
    return motion.replaced(*(c for c in motion.components if c.content not in contents))


def _check(motion: Motion, contents: tuple[str, ...]) -> None:
    existing = [c.content for c in motion.components]
    missing = [content for content in contents if content not in existing]
    if missing:
        raise ValueError(
            f"no component {', '.join(missing)}; existing components: "
            f"{', '.join(existing) or 'none'}"
        )


def trim(
    motion: Motion, start: float | None = None, end: float | None = None
) -> Motion:
    """Return the frames from time `start` to time `end` [s], both included.

    None means from the beginning, or to the end.

    Each component keeps its frames with start ≤ t ≤ end (within a microsecond). At a
    fixed rate the first frame that is kept becomes frame 0; time stamps count from
    `start`. Components of unknown types are not trimmed; `problems` reports them.

    Raises
    ------
    ValueError
        When `end` is before `start`, or a component with frames has none in between;
        the message gives the times of its frames.
    """
    return motion.between(start, end)


def trim_frames(motion: Motion, first: int = 0, last: int | None = None) -> Motion:
    """Return frames `first` to `last`, both included and counted from 0.

    Negative indices count from the end.

    Time stamps count from that of the first frame.

    Raises
    ------
    ValueError
        When the components do not share a timeline, or there are no such frames.
    """
    count = motion.num_frames
    if first < 0:
        begin = first + count
    else:
        begin = first
    if last is None:
        stop = count - 1
    elif last < 0:
        stop = last + count
    else:
        stop = last
    if not 0 <= begin <= stop < count:
        message = f"no frames {first} to {'the end' if last is None else last}: the motion has frames 0 to {count - 1}"
        raise ValueError(message)
    return motion[begin : stop + 1]


MAX_POSE_DIFFERENCE = 0.2
"""[rad or m] Joints that differ by more where motions are joined move a foot by more than 2 cm while both fade into each other."""
MIN_JUMP = 0.1
"""[rad or m] A smaller jump of a joint or the root where motions are joined is not reported."""
Key = tuple[str, str, int]
Timed = MultiValueSeq | MultiSE3Seq | Vector3Seq


def join(
    *motions: Motion,
    blend: float = 0.0,
    rebase: bool = True,
    body: Body | None = None,
    foot: str | None = None,
) -> Motion:
    """Return motions one after another.

    The last frame of one and the first of the next become one frame, so durations add
    up, and `join` restores what `trim` cut at a common time. With `blend`, that many
    seconds of the end of one overlap with the beginning of the next, and one fades into
    the other: numbers by a weight with zero speed and acceleration at both ends (6u⁵ −
    15u⁴ + 10u³), orientations by SLERP with that weight.

    Parts (joints, links) with names in two motions are identified by name, in the order
    of the first; without names in one of them, by position. A component that is not in
    all motions is left out, and `problems` reports it. Other keys are those of the
    first motion.

    Parameters
    ----------
    blend:
        [s], rounded to whole frames.
    rebase:
        Move each motion in x, y and heading so that its root begins at the pose of the
        root of the motion before it. Height and tilt do not change. Without root poses
        nothing is moved.
    body, foot:
        The name of a link, such as the foot in contact at the transition: it continues
        from its last pose instead of the root, so that it does not slip. With "auto" it
        is, in each transition, the link that is lowest at the end of one motion and the
        start of the next.

    Raises
    ------
    ValueError
        When the body has no link `foot`, a motion has no single fixed rate, rates,
        widths of components or names of their parts differ, or a blend is longer than a
        motion.
    """
    return _join(motions, blend, rebase=rebase, body=body, foot=foot)


def _join(
    motions: tuple[Motion, ...],
    blend: float,
    *,
    rebase: bool = True,
    body: Body | None = None,
    foot: str | None = None,
    since: float = 0.0,
) -> Motion:
    """Return the motions joined, as `join`.

    Times in messages are from `since` [s] of the result on.
    """
    if not motions:
        raise ValueError("there is nothing to join")
    if not 0 <= blend < np.inf:
        raise ValueError(f"blend {blend} s, expected a finite number, 0 or more")
    rate = _shared_rate(motions)
    overlap = round(min(blend * rate, max(m.num_frames for m in motions)))
    if any(overlap > m.num_frames - 1 for m in motions):
        raise ValueError(
            f"a blend of {blend:g} s does not fit: the shortest motion takes "
            f"{min(m.duration for m in motions):g} s"
        )
    tables = [_table(motion) for motion in motions]
    shared = [key for key in tables[0] if all(key in table for table in tables)]
    root = next(
        (
            key
            for key in reversed(shared)
            if key[:2] == (MultiSE3Seq.__name__, LINK_POSITION)
        ),
        None,
    )
    pieces: dict[Key, list[Floats]] = {key: [] for key in shared}
    tails = {key: tables[0][key] for key in shared}
    crossing_problems: list[Problem] = []
    differences: list[_PoseDifference] = []
    jumps: list[_Jump] = []
    is_repeated = all(motion is motions[0] for motion in motions)
    roots: list[Floats] = []
    if root is not None:
        roots = [
            _by_name(tables[0][root], table[root]).values[:, :1].reshape(-1, 7)
            for table in tables
        ]
    if foot is None:
        leading = [*pairwise(roots)]
    else:
        leading = _paths_of(motions, body, foot, overlap)
    by: Floats | None = None
    for index, following in enumerate(tables[1:], 1):
        table = {key: _by_name(tails[key], following[key]) for key in shared}
        if rebase and leading:
            before, after = leading[index - 1]
            by = _alignment(
                before if by is None else poses.compose(by, before), after, overlap
            )
        for key in shared:
            next_part = table[key] if by is None else moved(table[key], by)
            assert isinstance(next_part, (MultiValueSeq, MultiSE3Seq, Vector3Seq))
            _check_compatible(tails[key], next_part)
            # Other motions may well differ, as in their arms; without a body, nobody
            # knows which joints move feet.
            if next_part.content == JOINT_DISPLACEMENT and is_repeated:
                begin = sum(len(piece) for piece in pieces[key]) / rate - since
                differences.append(
                    _pose_difference(tails[key], next_part, overlap, begin)
                )
            moves = key == root or next_part.content == JOINT_DISPLACEMENT
            if moves and not overlap and not is_repeated:
                seam = sum(len(piece) for piece in pieces[key])
                time = (seam + len(tails[key].values) - 1) / rate - since
                jumps += _jumps(tails[key], next_part, time)
            if overlap and next_part.content == JOINT_DISPLACEMENT:
                both_sides = np.stack(
                    [tails[key].values[-1 - overlap], next_part.values[0]]
                )
                where = "where one motion fades into the next"
                problem = wrap_problem(find_wraps(both_sides), next_part.content, where)
                crossing_problems += [problem] if problem else []
            done, tail = _faded(tails[key].values, next_part.values, overlap)
            pieces[key].append(done)
            labels = tails[key].part_labels or next_part.part_labels
            timeline = Timeline.uniform(len(tail), rate)
            tails[key] = replace(
                tails[key], values=tail, timeline=timeline, part_labels=labels
            )
    components: list[Component] = []
    keys = {id(component): key for key, component in tables[0].items()}
    for component in motions[0].components:
        own = keys.get(id(component))
        if isinstance(component, OtherSeq) or own is None:
            components.append(component)
        elif own in pieces:
            values = np.concatenate([*pieces[own], tails[own].values])
            timeline = Timeline.uniform(len(values), rate)
            components.append(
                replace(
                    component,
                    values=values,
                    timeline=timeline,
                    part_labels=tails[own].part_labels,
                )
            )
    problems = [
        *crossing_problems,
        *_slipping_problems(differences),
        *_cut_problems(jumps),
        *_losses(motions, tables, shared),
    ]
    return motions[0].replaced(*components, problems=problems)


class _PoseDifference(NamedTuple):
    """The largest difference [rad or m] of a joint where two motions are joined, its name, and the time [s]."""

    difference: float
    joint: str
    time: float


def _pose_difference(
    before: Timed, after: Timed, overlap: int, begin: float
) -> _PoseDifference:
    """Return the difference of joints that fade into each other.

    The end of one motion begins at a time [s] of the result.
    """
    ending = before.values[-1 - overlap :]
    apart = ending - after.values[: overlap + 1]
    # Full turns are reported on their own (EDIT101).
    apart = np.abs(apart - FULL_TURN * np.rint(apart / FULL_TURN))
    apart = np.where(np.isfinite(apart), apart, 0.0)
    if not apart.size:
        return _PoseDifference(0.0, "", begin)
    frame, column = np.unravel_index(int(apart.argmax()), apart.shape)
    labels = before.part_labels or after.part_labels
    if labels:
        joint = labels[column]
    else:
        joint = f"joint {column}"
    rate = before.timeline.frame_rate or 1.0
    time = begin + (len(before.values) - 1 - overlap + int(frame)) / rate
    return _PoseDifference(float(apart[frame, column]), joint, time)


def _slipping_problems(differences: Sequence[_PoseDifference]) -> list[Problem]:
    """Return the problem that poses are not alike where motions are joined, with the largest difference.

    None where they are.
    """
    large = [one for one in differences if one.difference > MAX_POSE_DIFFERENCE]
    if not large:
        return []
    worst = max(large)
    message = (
        f"{worst.joint} differs by {worst.difference:.3g} rad between the poses that "
        f"are joined at {worst.time:.3g} s: "
        "feet slip, or joints jump"
    )
    problem = SLIPPING.problem(message, data=worst._asdict())
    return [replace(problem, count=len(large))]


class _Jump(NamedTuple):
    """A jump where two motions are joined.

    How far, what elsewhere is the largest step in one frame, of what, and the time [s].
    """

    jump: float
    step: float
    unit: str
    part: str
    time: float


def _jumps(before: Timed, after: Timed, time: float) -> list[_Jump]:
    """Return the jumps of joints, or of the root, between the last pose of one motion and the first of the next."""
    ending = before.values[-1:]
    beginning = after.values[:1]
    if isinstance(before, MultiSE3Seq):
        root = (before.values[:, :1], after.values[:, :1])
        labels = before.part_labels or after.part_labels or ("root",)
        measured = [
            (_distances, root, labels[:1], "m"),
            (_angles, root, labels[:1], "rad"),
        ]
        ending = ending[:, :1]
        beginning = beginning[:, :1]
    else:
        count = before.values.shape[1]
        labels = before.part_labels or after.part_labels
        labels = labels or tuple(f"joint {k}" for k in range(count))
        measured = [(_turns, (before.values, after.values), labels, "rad")]
    found = []
    for measure, sides, names, unit in measured:
        jumps = measure(ending, beginning)[0]
        steps = np.zeros_like(jumps)
        for values in sides:
            moved_by = measure(values[:-1], values[1:])
            steps = np.maximum(steps, moved_by.max(axis=0, initial=0.0))
        for k in np.flatnonzero(jumps > np.maximum(steps, MIN_JUMP)):
            jump = _Jump(float(jumps[k]), float(steps[k]), unit, names[k], time)
            found.append(jump)
    return found


def _turns(a: Floats, b: Floats) -> Floats:
    """Return how far joints move.

    Full turns are reported on their own (EDIT101), gaps are not finite and count as 0.
    """
    apart = b - a
    apart = np.abs(apart - FULL_TURN * np.rint(apart / FULL_TURN))
    return np.where(np.isfinite(apart), apart, 0.0)


def _distances(a: Floats, b: Floats) -> Floats:
    """Return the distances [m] of poses.

    0 where one is not finite.
    """
    distances: Floats = np.linalg.norm(b[..., :3] - a[..., :3], axis=-1)
    return np.where(np.isfinite(distances), distances, 0.0)


def _angles(a: Floats, b: Floats) -> Floats:
    """Return the angles [rad] between poses.

    0 where one is not finite.
    """
    first = rotations.normalized(a[..., 3:])
    second = rotations.normalized(b[..., 3:])
    cosines = np.abs(np.sum(first * second, axis=-1))
    cosines = np.where(np.isfinite(cosines), cosines, 1.0)
    angles: Floats = 2 * np.arccos(np.clip(cosines, 0.0, 1.0))
    return angles


def _cut_problems(jumps: Sequence[_Jump]) -> list[Problem]:
    """Return the problem that joints or the root jump where motions are joined, with the largest jump.

    None without jumps.
    """
    if not jumps:
        return []
    worst = max(jumps)
    message = (
        f"{worst.part} jumps by {worst.jump:.3g} {worst.unit} in one frame at "
        f"{worst.time:.3g} s, where motions are joined; "
        f"elsewhere it moves by {worst.step:.2g} {worst.unit} in a frame at most"
    )
    problem = HARD_CUT.problem(message, data=worst._asdict())
    return [replace(problem, count=len(jumps))]


def loop(
    motion: Motion,
    times: int,
    blend: float = 0.0,
    *,
    body: Body | None = None,
    foot: str | None = None,
) -> Motion:
    """Return the motion repeated `times` times, each continuing in x, y and heading from the one before.

    See `join`.
    """
    if not 1 <= times < 1 << 53:
        raise ValueError(
            f"a motion cannot be repeated {times} times, expected 1 or more, and "
            "fewer than 2⁵³"
        )
    check_memory(
        times * sum(c.values.nbytes for c in motion.timed), f"the motion {times} times"
    )
    return join(*[motion] * times, blend=blend, body=body, foot=foot)


def seamless(
    motion: Motion,
    blend: float,
    *,
    body: Body | None = None,
    foot: str | None = None,
) -> Motion:
    """Return one period of the motion, `blend` seconds shorter, whose end continues without a jump at its beginning.

    Its last `blend` seconds fade into the beginning of the motion (`join`). The last
    frame is the first one, but for x, y and heading of the root. So `loop` repeats it
    with continuous speeds. Parameters `body` and `foot` are those of `join`.

    Raises
    ------
    ValueError
        As `join`; also when the blend is not positive, or longer than half of the
        motion.
    """
    if 0 < blend < np.inf:
        overlap = round(min(blend * _shared_rate((motion,)), motion.num_frames))
    else:
        overlap = 0
    if not 0 < 2 * overlap < motion.num_frames:
        message = f"a blend of {blend:g} s, expected at least one frame and at most half of the motion, {motion.duration / 2:g} s"
        raise ValueError(message)
    since = overlap / _shared_rate((motion,))
    twice = _join((motion, motion), blend, body=body, foot=foot, since=since)
    return trim_frames(twice, overlap, motion.num_frames - 1)


def hold(motion: Motion, at: float, seconds: float) -> Motion:
    """Return the motion with the frame in force at the time `at` [s] held for `seconds`.

    All that follows is later.

    Raises
    ------
    ValueError
        When a number is not finite, `seconds` is negative, or the motion has no single
        fixed rate.
    """
    rate = _shared_rate((motion,))
    frame = _frame(motion, at)
    if not 0 <= seconds * rate < np.inf:
        raise ValueError(
            f"hold of {seconds} s at {rate:g} Hz, expected 0 or more, and a finite "
            "number of frames"
        )
    count = round(seconds * rate) + 1
    check_memory(
        count * sum(c.values[:1].nbytes for c in motion.timed),
        f"a pose held for {seconds:g} s",
    )
    still = trim_frames(motion, frame, frame)
    timeline = Timeline.uniform(count, rate)
    between = still.mapped(
        lambda c: replace(
            c, values=np.repeat(c.values, count, axis=0), timeline=timeline
        )
    )
    return join(
        trim_frames(motion, 0, frame), between, trim_frames(motion, frame), rebase=False
    )


def insert(
    motion: Motion,
    other: Motion,
    at: float,
    blend: float = 0.0,
    *,
    body: Body | None = None,
    foot: str | None = None,
) -> Motion:
    """Return the motion with another one inserted at the time `at` [s].

    The rest continues from its end. Parameters as for `join`.
    """
    frame = _frame(motion, at)
    parts = (trim_frames(motion, 0, frame), other, trim_frames(motion, frame))
    return join(*parts, blend=blend, body=body, foot=foot)


def _frame(motion: Motion, at: float) -> int:
    if not 0 <= at <= motion.duration:
        raise ValueError(
            f"there is no frame at {at:g} s: the motion is from 0 s to "
            f"{motion.duration:g} s"
        )
    return int(motion.timeline.frames_at(at))


def _shared_rate(motions: tuple[Motion, ...]) -> float:
    rates = [motion.frame_rate for motion in motions]
    first = rates[0]
    if first is None or any(rate is None for rate in rates):
        raise ValueError(
            "motions with time stamps cannot be joined; use Motion.resample() or "
            "`retime --rate` first"
        )
    if any(abs(rate - first) > 1e-9 * first for rate in rates if rate is not None):
        listed = ", ".join(f"{rate:g}" for rate in rates)
        message = f"motions with different frame rates ({listed} Hz) cannot be joined; use Motion.resample() or `retime --rate` first"
        raise ValueError(message)
    if any(not motion.num_frames for motion in motions):
        raise ValueError("a motion without frames cannot be joined")
    return first


def _table(motion: Motion) -> dict[Key, Timed]:
    """Return components by type, content, and their number among those of both."""
    counts: Counter[tuple[str, str]] = Counter()
    table: dict[Key, Timed] = {}
    for component in motion.timed:
        kind = (type(component).__name__, component.content)
        table[*kind, counts[kind]] = component
        counts[kind] += 1
    return table


def _by_name(a: Timed, b: Timed) -> Timed:
    """Put the parts of `b` into the order of `a`, where both have names."""
    known = a.part_labels
    names = b.part_labels
    if isinstance(b, Vector3Seq) or not known or not names or known == names:
        return b
    if b.num_parts == 1 and isinstance(b, MultiSE3Seq):
        # Only the root link: its name does not matter.
        return b
    if sorted(known) == sorted(names) and len(set(names)) == len(names) == b.num_parts:
        index = {name: k for k, name in enumerate(names)}
        return replace(
            b, values=b.values[:, [index[name] for name in known]], part_labels=known
        )
    both = {*known} & {*names}
    only = [[name for name in one if name not in both] for one in (known, names)]
    if any(only):
        which = zip(only, ("the first", "the second"), strict=True)
        parts = " and ".join(
            f"{listed(some)} only in {there}" for some, there in which if some
        )
        hints = [hint(*only) for hint in functions_for("joining_hint")]
        hint = "".join(f"; {text}" for text in hints if text)
        raise ValueError(
            f"{b.content} has parts of different names in two motions: {parts}{hint}"
        )
    raise ValueError(
        f"{b.content} has parts in different orders in two motions, and their names "
        "are not unique"
    )


def _check_compatible(a: Timed, b: Timed) -> None:
    if a.values.shape[1:] != b.values.shape[1:]:
        raise ValueError(
            f"{a.content} has {a.values.shape[1]} parts in one motion and "
            f"{b.values.shape[1]} in another"
        )
    if (
        isinstance(a, Vector3Seq)
        and isinstance(b, Vector3Seq)
        and a.is_root_relative != b.is_root_relative
    ):
        message = f"{a.content} is in the root frame in one motion and in the world frame in another; use zmp_to_world() first"
        raise ValueError(message)


def _paths_of(
    motions: tuple[Motion, ...], body: Body | None, name: str, overlap: int
) -> list[tuple[Floats, Floats]]:
    """Return for each transition the poses (T, 7) of a link in the motion before, and in the one after it."""
    if body is None:
        names = []
    else:
        names = [link.name for link in body.links]
    if body is None or name not in ("auto", *names):
        raise WrongUseError(
            f"joining at {name!r} needs a body with that link: {choices(name, names)}"
        )
    able = [
        link
        for link in body.links
        if link.name == name or (name == "auto" and len(link.contact_points))
    ]
    if not able:
        raise WrongUseError(
            f"{body.name or 'the body'} has no shapes of which one is lowest; name "
            "the foot that continues"
        )
    found = []
    for pair in pairwise(body.link_poses(motion) for motion in motions):
        ends = np.stack((pair[0][len(pair[0]) - 1 - overlap], pair[1][0]))[:, :, None]
        points = (
            poses.transform_points(ends[:, link.index], link.contact_points)
            for link in able
        )
        heights = np.array(
            [placed[..., 2].min(axis=1, initial=np.inf) for placed in points]
        )
        # Each motion has its own height of the ground: what counts is how far a link is
        # above the lowest one.
        index = able[
            int((heights - heights.min(axis=0)).max(axis=1).argmin())
            if len(able) > 1
            else 0
        ].index
        found.append((pair[0][:, index], pair[1][:, index]))
    return found


def _alignment(a: Floats, b: Floats, overlap: int) -> Floats | None:
    """Return the transform (7,) by which the next motion's poses (T, 7) begin where those of this one end, in x, y and heading."""
    if not a.size or not b.size:
        return None
    end_pose = a[len(a) - 1 - overlap]
    start_pose = b[0]
    if not np.isfinite([end_pose, start_pose]).all():
        # All that follows would be moved by it.
        raise ValueError(
            "the pose where the motions are joined is not finite; fill the gaps first "
            "(`edit --fill-gaps`)"
        )
    if np.array_equal(end_pose, start_pose):
        return None
    end, start = (rotations.normalized(pose[3:]) for pose in (end_pose, start_pose))
    by = level([0.0, 0.0, 0.0, *rotations.multiply(end, rotations.conjugate(start))])
    by[:2] = (end_pose[:3] - poses.transform_points(by, start_pose[:3]))[:2]
    return by


def _faded(a: Floats, b: Floats, overlap: int) -> tuple[Floats, Floats]:
    """Return the part of `a` before the overlap, and the overlap with the rest of `b`."""
    before = a[: len(a) - 1 - overlap]
    mixed = a[len(a) - 1 - overlap :]
    new = b[: overlap + 1]
    if overlap:
        weight = quintic(np.arange(overlap + 1) / overlap)
        w = weight.reshape(-1, *[1] * (a.ndim - 1))
        old = mixed
        mixed = (1 - w) * mixed + w * new
        if are_poses(a):
            mixed[..., 3:] = rotations.slerp(
                old[..., 3:], new[..., 3:], weight[:, None]
            )
    return before, np.concatenate([mixed, b[overlap + 1 :]])


def _losses(
    motions: tuple[Motion, ...], tables: list[dict[Key, Timed]], shared: list[Key]
) -> list[Problem]:
    lost = sorted({key for table in tables for key in table} - set(shared))
    problems = [
        LOST.problem(f"{content} is not in all motions and is left out")
        for _, content, _ in lost
    ]
    others = [
        ([c for c in motion.components if isinstance(c, OtherSeq)], motion.extra)
        for motion in motions
    ]
    if any(other != others[0] for other in others):
        message = "components of unknown types and keys beside the components are those of the first motion"
        return [*problems, LOST.problem(message)]
    if len(motions) > 1:
        return [*problems, *unknown_components(motions[0], "repeated")]
    return problems
