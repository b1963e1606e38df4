"""Select parts of motions, and join motions one after another.

With cross-fading, and with the root continuing from its last pose.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple, TypeAlias

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
from bodymotion.model.links import Link
from bodymotion.motion import (
    JOINT_DISPLACEMENT,
    LINK_POSITION,
    Component,
    Motion,
    MultiSE3Seq,
    OtherSeq,
    Vector3Seq,
)
from bodymotion.motion.components import TimedComponent, Timeline
from bodymotion.motion.interpolation import find_wraps
from bodymotion.motion.interpolation.lowpass import quintic
from bodymotion.motion.interpolation.sampling import FULL_TURN, are_poses, wrap_problem


def keep(motion: Motion, *contents: str) -> Motion:
    """Return the motion with only the components of these contents.

    Such as "JointDisplacement", "LinkPosition", "ZMP"; in the order of the motion.

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
    begin = first + count if first < 0 else first
    stop = count - 1 if last is None else last
    if stop < 0:
        stop += count
    if not 0 <= begin <= stop < count:
        raise ValueError(
            f"no frames {first} to {'the end' if last is None else last}: the motion "
            f"has frames 0 to {count - 1}"
        )
    return motion[begin : stop + 1]


# [rad or m] The largest difference of a joint where motions are joined. More moves a
# foot by more than 2 cm while both fade into each other.
MAX_POSE_DIFFERENCE = 0.2
# [rad or m] A smaller jump of a joint or the root is not reported.
MIN_JUMP = 0.1
# The type of a component, its content, and its number among those of both.
Key: TypeAlias = tuple[str, str, int]


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
    # A blend that is far too long must not overflow an integer.
    overlap = round(min(blend * rate, max(m.num_frames for m in motions)))
    if any(overlap > m.num_frames - 1 for m in motions):
        raise ValueError(
            f"a blend of {blend:g} s does not fit: the shortest motion takes "
            f"{min(m.duration for m in motions):g} s"
        )
    joined = _JoinedMotion(motions, rate, overlap, since)
    root_paths = joined.find_root_paths()
    if foot is None:
        transitions = [*pairwise(root_paths)]
    else:
        transitions = _paths_of(motions, body, foot, overlap)
    transform: Floats | None = None
    for index, table in enumerate(joined.tables[1:]):
        parts = joined.match_parts(table)
        if rebase and transitions:
            before, after = transitions[index]
            if transform is not None:
                # The motion before was moved itself.
                before = poses.compose(transform, before)
            transform = _alignment(before, after, overlap)
        joined.append(parts, transform)
    return joined.finish()


class _JoinedMotion:
    """Motions that are joined one after another.

    Attributes
    ----------
    tables:
        The components of each motion.
    shared:
        The keys of the components that all motions have.
    root:
        That of the root poses, where there are any.
    """

    def __init__(
        self, motions: tuple[Motion, ...], rate: float, overlap: int, since: float
    ) -> None:
        self._motions = motions
        self._rate = rate
        self._overlap = overlap
        self._since = since
        self.tables = [_table(motion) for motion in motions]
        first = self.tables[0]
        in_all = set(first).intersection(*self.tables)
        self.shared = [key for key in first if key in in_all]
        self.root: Key | None = None
        for key in self.shared:
            if key[:2] == (MultiSE3Seq.__name__, LINK_POSITION):
                self.root = key
        # What can still fade into the next motion is in the tails.
        self._pieces: dict[Key, list[Floats]] = {key: [] for key in self.shared}
        self._tails = {key: first[key] for key in self.shared}
        self._is_repeated = all(motion is motions[0] for motion in motions)
        # Joint values (2, J) between which one motion fades into the next.
        self._fades: list[Floats] = []
        self._differences: list[_PoseDifference] = []
        self._jumps: list[_Jump] = []

    def find_root_paths(self) -> list[Floats]:
        """Return the root poses (T, 7) of each motion, without root poses none."""
        if self.root is None:
            return []
        first = self.tables[0][self.root]
        paths = []
        for table in self.tables:
            links = _by_name(first, table[self.root])
            # Part 0 is the root link; a motion with the poses of all links has further
            # parts.
            paths.append(links.values[:, :1].reshape(-1, 7))
        return paths

    def match_parts(
        self, table: dict[Key, TimedComponent]
    ) -> dict[Key, TimedComponent]:
        """Return the shared components of a motion, with parts in the same order."""
        return {key: _by_name(self._tails[key], table[key]) for key in self.shared}

    def append(
        self, components: dict[Key, TimedComponent], transform: Floats | None
    ) -> None:
        """Add the next motion, moved by a transform (7,)."""
        for key, component in components.items():
            tail = self._tails[key]
            if transform is not None:
                moved_component = moved(component, transform)
                # Tables hold components with a timeline, and `moved` keeps the type.
                assert not isinstance(moved_component, OtherSeq)
                component = moved_component
            _check_compatible(tail, component)
            self._review(key, tail, component)
            # Frames before the overlap are final. Those from it on may still fade into
            # the next motion.
            done, values = _fade(tail.values, component.values, self._overlap)
            self._pieces[key].append(done)
            self._tails[key] = replace(
                tail,
                values=values,
                timeline=Timeline.uniform(len(values), self._rate),
                # The first motion with names gives them.
                part_labels=tail.part_labels or component.part_labels,
            )

    def _review(self, key: Key, tail: TimedComponent, after: TimedComponent) -> None:
        """Note jumps and differences between the end of one motion and the next."""
        frame = sum(len(piece) for piece in self._pieces[key])
        is_joints = after.content == JOINT_DISPLACEMENT
        # Other motions may well differ, as in their arms; without a body, nobody knows
        # which joints move feet.
        if is_joints and self._is_repeated:
            begin = frame / self._rate - self._since
            difference = _pose_difference(tail, after, self._overlap, begin)
            self._differences.append(difference)
        # Without a fade all of the step happens in one frame. A motion that is repeated
        # has its difference in the list above.
        if not self._overlap:
            if (is_joints or key == self.root) and not self._is_repeated:
                time = (frame + len(tail.values) - 1) / self._rate - self._since
                self._jumps += _find_jumps(tail, after, time)
        elif is_joints:
            # (2, J) The frames where the fade begins.
            ends = np.stack([tail.values[-1 - self._overlap], after.values[0]])
            self._fades.append(ends)

    def finish(self) -> Motion:
        """Return the joined motion."""
        first = self._motions[0]
        # By identity: a motion may have several components of one type and content.
        keys = {id(component): key for key, component in self.tables[0].items()}
        components: list[Component] = []
        for component in first.components:
            key = keys.get(id(component))
            if isinstance(component, OtherSeq) or key is None:
                components.append(component)
            # A component that is not in all motions has no pieces, and is left out.
            # `_losses` reports it.
            elif key in self._pieces:
                tail = self._tails[key]
                values = np.concatenate([*self._pieces[key], tail.values])
                timeline = Timeline.uniform(len(values), self._rate)
                components.append(replace(tail, values=values, timeline=timeline))
        problems = [
            *_crossing_problems(self._fades),
            *_slipping_problems(self._differences),
            *_cut_problems(self._jumps),
            *_losses(self._motions, self.tables, self.shared),
        ]
        return first.replaced(*components, problems=problems)


class _PoseDifference(NamedTuple):
    """The largest difference [rad or m] of a joint where two motions are joined.

    With the name of the joint, and the time [s].
    """

    difference: float
    joint: str
    time: float


def _pose_difference(
    before: TimedComponent, after: TimedComponent, overlap: int, begin: float
) -> _PoseDifference:
    """Return the difference of joints that fade into each other.

    The end of one motion begins at a time [s] of the result.
    """
    # (overlap + 1, J) The frames that fade into the first ones of the next motion;
    # without an overlap only the last one.
    ending = before.values[-1 - overlap :]
    differences = _turns(ending, after.values[: overlap + 1])
    if not differences.size:
        return _PoseDifference(0.0, "", begin)
    frame, column = np.unravel_index(differences.argmax(), differences.shape)
    labels = before.part_labels or after.part_labels
    joint = labels[column] if labels else f"joint {column}"
    rate = before.timeline.frame_rate or 1.0
    time = begin + (len(before.values) - 1 - overlap + int(frame)) / rate
    return _PoseDifference(float(differences[frame, column]), joint, time)


def _crossing_problems(fades: Sequence[Floats]) -> Iterator[Problem]:
    """Yield a problem for each fade between joint values full turns apart."""
    for ends in fades:
        place = "where one motion fades into the next"
        problem = wrap_problem(find_wraps(ends), JOINT_DISPLACEMENT, place)
        if problem:
            yield problem


def _slipping_problems(differences: Sequence[_PoseDifference]) -> list[Problem]:
    """Return the problem that poses are not alike where motions are joined.

    With the largest difference; none where they are alike.
    """
    large = [item for item in differences if item.difference > MAX_POSE_DIFFERENCE]
    if not large:
        return []
    # Named tuples are compared by their first field, the difference.
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


def _find_jumps(
    before: TimedComponent, after: TimedComponent, time: float
) -> list[_Jump]:
    """Return the jumps of joints, or of the root, where two motions are joined.

    Between the last pose of one and the first of the next.
    """
    labels = before.part_labels or after.part_labels
    if isinstance(before, MultiSE3Seq):
        sides = before.values[:, :1], after.values[:, :1]
        root = labels[:1] or ("root",)
        return [
            *_measure_jumps(_distances, sides, root, "m", time),
            *_measure_jumps(_angles, sides, root, "rad", time),
        ]
    names = labels or tuple(f"joint {k}" for k in range(before.values.shape[1]))
    return _measure_jumps(_turns, (before.values, after.values), names, "rad", time)


def _measure_jumps(
    measure: Callable[[Floats, Floats], Floats],
    sides: tuple[Floats, Floats],
    names: Sequence[str],
    unit: str,
    time: float,
) -> list[_Jump]:
    """Return where the step between two sides is larger than all steps within them."""
    before, after = sides
    jumps = measure(before[-1:], after[:1])[0]
    # (K,) The largest step within either motion. A part that moves as fast elsewhere
    # does not jump.
    steps = np.zeros_like(jumps)
    for values in sides:
        inner = measure(values[:-1], values[1:])
        steps = np.maximum(steps, inner.max(axis=0, initial=0.0))
    return [
        _Jump(float(jumps[k]), float(steps[k]), unit, names[k], time)
        for k in np.flatnonzero(jumps > np.maximum(steps, MIN_JUMP)).tolist()
    ]


def _turns(a: Floats, b: Floats) -> Floats:
    """Return how far joints move.

    Full turns are reported on their own (EDIT101), gaps are not finite and count as 0.
    """
    steps = b - a
    # The remainder to the nearest number of full turns.
    sizes = np.abs(steps - FULL_TURN * np.rint(steps / FULL_TURN))
    return np.where(np.isfinite(sizes), sizes, 0.0)


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
    # The angle between two rotations is 2·acos |q₁·q₂|: q and −q are the same rotation.
    cosines = np.abs(np.sum(first * second, axis=-1))
    cosines = np.where(np.isfinite(cosines), cosines, 1.0)
    angles: Floats = 2 * np.arccos(np.clip(cosines, 0.0, 1.0))
    return angles


def _cut_problems(jumps: Sequence[_Jump]) -> list[Problem]:
    """Return the problem that joints or the root jump where motions are joined.

    With the largest jump; none without jumps.
    """
    if not jumps:
        return []
    # Compared by their first field, the size of the jump.
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
    """Return the motion repeated `times` times.

    Each continues in x, y and heading from the one before; see `join`.
    """
    if not 1 <= times < 1 << 53:
        raise ValueError(
            f"a motion cannot be repeated {times} times, expected 1 or more, and "
            "fewer than 2⁵³"
        )
    # Before the list of `times` motions is made, and before `join` makes their arrays.
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
    """Return one period of the motion, whose end continues without a jump at its start.

    It is `blend` seconds shorter. Its last `blend` seconds fade into the beginning of
    the motion (`join`). The last frame is the first one, but for x, y and heading of
    the root. So `loop` repeats it with continuous speeds. Parameters `body` and `foot`
    are those of `join`.

    Raises
    ------
    ValueError
        As `join`; also when the blend is not positive, or longer than half of the
        motion.
    """
    overlap = 0
    if 0 < blend < np.inf:
        overlap = round(min(blend * _shared_rate((motion,)), motion.num_frames))
    # Frames `overlap` to N − 1 − `overlap` do not fade. At least one is needed.
    if not 0 < 2 * overlap < motion.num_frames:
        raise ValueError(
            f"a blend of {blend:g} s, expected at least one frame and at most half of "
            f"the motion, {motion.duration / 2:g} s"
        )
    # The result begins at frame `overlap`, and times in messages count from there.
    since = overlap / _shared_rate((motion,))
    twice = _join((motion, motion), blend, body=body, foot=foot, since=since)
    # Of the motion joined to itself, frame N − 1 is frame `overlap` of the second copy,
    # after the fade. From frame `overlap` of the first copy to it is one period.
    return trim_frames(twice, overlap, motion.num_frames - 1)


def hold(motion: Motion, at: float, seconds: float) -> Motion:
    """Return the motion with the frame at the time `at` [s] held for `seconds`.

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
    # `join` makes one frame of the last and the first frame of two parts: n steps take
    # n + 1 frames.
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
    # One pose is on both sides of each transition, so there is nothing to align.
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
    # The frame at the time is in both parts, and `join` makes one frame of them again.
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
    """Return the frame rate that all motions have [Hz]."""
    rates = [motion.frame_rate for motion in motions]
    known = [rate for rate in rates if rate is not None]
    if len(known) < len(rates):
        raise ValueError(
            "motions with time stamps cannot be joined; use Motion.resample() or "
            "`retime --rate` first"
        )
    first = known[0]
    # Rates in files may have been rounded.
    if any(abs(rate - first) > 1e-9 * first for rate in known):
        shown = ", ".join(f"{rate:g}" for rate in known)
        raise ValueError(
            f"motions with different frame rates ({shown} Hz) cannot be joined; use "
            "Motion.resample() or `retime --rate` first"
        )
    if not all(motion.num_frames for motion in motions):
        raise ValueError("a motion without frames cannot be joined")
    return first


def _table(motion: Motion) -> dict[Key, TimedComponent]:
    """Return components by type, content, and their number among those of both."""
    counts: Counter[tuple[str, str]] = Counter()
    table: dict[Key, TimedComponent] = {}
    for component in motion.timed:
        kind = (type(component).__name__, component.content)
        table[*kind, counts[kind]] = component
        counts[kind] += 1
    return table


def _by_name(a: TimedComponent, b: TimedComponent) -> TimedComponent:
    """Put the parts of `b` into the order of `a`, where both have names."""
    # Without names on both sides parts are identified by position.
    wanted = a.part_labels
    names = b.part_labels
    if isinstance(b, Vector3Seq) or not wanted or not names or wanted == names:
        return b
    if b.num_parts == 1 and isinstance(b, MultiSE3Seq):
        # Only the root link: its name does not matter.
        return b
    if sorted(wanted) == sorted(names) and len(set(names)) == len(names) == b.num_parts:
        columns = [names.index(name) for name in wanted]
        return replace(b, values=b.values[:, columns], part_labels=wanted)
    raise ValueError(_describe_difference(b.content, wanted, names))


def _describe_difference(
    content: str, first: Sequence[str], second: Sequence[str]
) -> str:
    """Return how the names of parts differ in two motions."""
    only_first = [name for name in first if name not in second]
    only_second = [name for name in second if name not in first]
    if not only_first and not only_second:
        return (
            f"{content} has parts in different orders in two motions, and their names "
            "are not unique"
        )
    parts = []
    if only_first:
        parts.append(f"{listed(only_first)} only in the first")
    if only_second:
        parts.append(f"{listed(only_second)} only in the second")
    message = f"{content} has parts of different names in two motions: "
    message += " and ".join(parts)
    # Extensions know their robots: one of the motions may lack the arm, for example.
    for find_hint in functions_for("joining_hint"):
        hint = find_hint(only_first, only_second)
        if hint:
            message += f"; {hint}"
    return message


def _check_compatible(a: TimedComponent, b: TimedComponent) -> None:
    """Raise ValueError where components of two motions do not fit together."""
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
        raise ValueError(
            f"{a.content} is in the root frame in one motion and in the world frame in "
            "another; use zmp_to_world() first"
        )


def _paths_of(
    motions: tuple[Motion, ...], body: Body | None, name: str, overlap: int
) -> list[tuple[Floats, Floats]]:
    """Return for each transition the poses (T, 7) of a link before and after it."""
    names = [] if body is None else [link.name for link in body.links]
    if body is None or name not in ("auto", *names):
        raise WrongUseError(
            f"joining at {name!r} needs a body with that link: {choices(name, names)}"
        )
    is_auto = name == "auto"
    # With "auto" only links with points that can touch the ground.
    links = [
        link
        for link in body.links
        if link.name == name or (is_auto and len(link.contact_points))
    ]
    if not links:
        raise WrongUseError(
            f"{body.name or 'the body'} has no shapes of which one is lowest; name "
            "the foot that continues"
        )
    # For each transition the link with its poses (T, 7) in both motions. Where a fade
    # begins, `overlap` frames before the end, the link continues from its pose.
    paths = []
    for before, after in pairwise(body.link_poses(motion) for motion in motions):
        link = links[0]
        if len(links) > 1:
            ends = np.stack([before[len(before) - 1 - overlap], after[0]])
            link = _find_lowest(links, ends)
        paths.append((before[:, link.index], after[:, link.index]))
    return paths


def _find_lowest(links: Sequence[Link], ends: Floats) -> Link:
    """Return the link that is lowest at the ends (2, L, 7) of two motions."""
    heights = np.empty((len(links), 2))
    for k, link in enumerate(links):
        link_poses = ends[:, link.index, None]
        # (2, P, 3) At the end of one motion and at the start of the next.
        points = poses.transform_points(link_poses, link.contact_points)
        heights[k] = points[..., 2].min(axis=1, initial=np.inf)
    # Each motion has its own height of the ground: what counts is how far a link is
    # above the lowest one.
    above_lowest = heights - heights.min(axis=0)
    # The link that is near the ground on both sides: the larger of its two heights
    # counts.
    return links[int(above_lowest.max(axis=1).argmin())]


def _alignment(a: Floats, b: Floats, overlap: int) -> Floats | None:
    """Return the transform (7,) by which poses (T, 7) begin where others end.

    In x, y and heading. None where they do already, or there are none.
    """
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
    end = rotations.normalized(end_pose[3:])
    start = rotations.normalized(start_pose[3:])
    # The rotation from the start to the end, of which only the heading is kept.
    rotation = rotations.multiply(end, rotations.conjugate(start))
    transform = level([0.0, 0.0, 0.0, *rotation])
    # The rotation is about the origin of the world. What is then missing between start
    # and end is the translation; the height is left out of it.
    shift = end_pose[:3] - poses.transform_points(transform, start_pose[:3])
    transform[:2] = shift[:2]
    return transform


def _fade(a: Floats, b: Floats, overlap: int) -> tuple[Floats, Floats]:
    """Return `a` before the overlap, and the overlap with the rest of `b`."""
    start = len(a) - 1 - overlap
    # Without an overlap: the last frame of `a`, in place of the first one of `b`.
    mixed = a[start:]
    if overlap:
        ending = mixed
        beginning = b[: overlap + 1]
        # From 0 to 1, for each frame.
        weights = quintic(np.arange(overlap + 1) / overlap)
        factors = weights.reshape(-1, *[1] * (a.ndim - 1))
        mixed = (1 - factors) * ending + factors * beginning
        # A weighted mean of quaternions has another length, and no constant rate of
        # rotation: orientations go by SLERP.
        if are_poses(a):
            mixed[..., 3:] = rotations.slerp(
                ending[..., 3:], beginning[..., 3:], weights[:, None]
            )
    return a[:start], np.concatenate([mixed, b[overlap + 1 :]])


def _losses(
    motions: tuple[Motion, ...],
    tables: list[dict[Key, TimedComponent]],
    shared: list[Key],
) -> list[Problem]:
    """Return what the joined motion does not have of the motions."""
    keys = set().union(*tables)
    problems = []
    for _, content, _ in sorted(keys - set(shared)):
        message = f"{content} is not in all motions and is left out"
        problems.append(LOST.problem(message))
    first = _rest_of(motions[0])
    if any(_rest_of(motion) != first for motion in motions):
        message = (
            "components of unknown types and keys beside the components are those of "
            "the first motion"
        )
        return [*problems, LOST.problem(message)]
    if len(motions) > 1:
        return [*problems, *unknown_components(motions[0], "repeated")]
    return problems


def _rest_of(motion: Motion) -> tuple[object, ...]:
    """Return what of a motion is not joined."""
    unknown = [item for item in motion.components if isinstance(item, OtherSeq)]
    return unknown, motion.extra
