"""When and where a motion breaks rules.

Moments, their location in the file, and the problem of all moments of one rule.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np

from bodymotion.checks import rules
from bodymotion.diagnostics import Location, Problem, Rule, Severity, ShortRepr, Subject
from bodymotion.geometry.arrays import Floats, Indices
from bodymotion.model.body import Body
from bodymotion.motion import Motion, MultiSE3Seq, MultiValueSeq, Vector3Seq
from bodymotion.motion.components import Timeline

# Returns the location of a frame in its file.
FrameLocator: TypeAlias = Callable[[int], Location]

# The number of moments of a rule that are kept, the worst ones. For rules about limits
# it counts per joint.
MAX_MOMENTS = 100


@dataclass(frozen=True)
class Moment(ShortRepr):
    """One time at which a motion breaks a rule on its body.

    Attributes
    ----------
    rule, severity:
        The code of the rule, such as "MOT301", and its severity.
    time:
        [s] The time of the worst frame.
    start, end:
        [s] Begin and end; both are `time` for an event of one frame.
    frame:
        The number of the worst frame, from 0, in the component that `location` names.
    subject:
        The name of the joint or link; "" for the whole body.
    amount:
        The violation as a multiple of the limit of the rule, above 1. It orders the
        moments of one rule.
    message:
        The description.
    location:
        The location of the frame in the file.
    """

    rule: str
    severity: Severity
    time: float
    start: float
    end: float
    frame: int
    subject: str
    amount: float
    message: str
    location: Location = field(default_factory=Location)


@dataclass(frozen=True)
class Finding:
    """A problem and its moments."""

    problem: Problem
    moments: tuple[Moment, ...] = ()


class Run(NamedTuple):
    """Frames `first` to `last` above a threshold.

    The worst is frame `worst`, with the value `amount`.
    """

    first: int
    last: int
    worst: int
    amount: float


def find_runs(
    amount: Floats,
    times: Floats,
    threshold: float = 1.0,
    *,
    min_duration: float = 0.0,
    bridge: float = 0.0,
    max_runs: float = MAX_MOMENTS,
) -> tuple[list[Run], int]:
    """Return the runs of frames in which `amount` (T,) is above a threshold.

    And the number of all such runs. NaN is not above. A frame lasts from half-way to
    the frame before to half-way to the frame after.

    Parameters
    ----------
    times:
        (T,) [s] of the frames.
    min_duration:
        [s] Shorter runs are left out.
    bridge:
        [s] Runs with gaps up to this length are one run.
    max_runs:
        Of more runs only the worst are returned, in order of time.
    """
    frames = np.flatnonzero(amount > threshold)
    if not len(frames):
        return [], 0
    after = frames + 1
    last = len(times) - 1
    # (N,) The half-ways before and after each frame above the threshold; at the ends of
    # the motion the frame itself.
    begins = 0.5 * (times[frames] + times[np.maximum(frames - 1, 0)])
    ends = 0.5 * (times[frames] + times[np.minimum(after, last)])

    # A run ends where the next frame is not its neighbour, after a long enough gap.
    is_apart = (frames[1:] > after[:-1]) & (begins[1:] - ends[:-1] > bridge)
    cuts = is_apart.nonzero()[0]
    starts = np.concatenate([[0], cuts + 1])
    stops = np.concatenate([cuts, [len(frames) - 1]])

    # The worst frame of a run is the first of those with its largest amount.
    above = amount[frames]
    tops = np.maximum.reduceat(above, starts)
    are_tops = (above == tops.repeat(stops - starts + 1)).nonzero()[0]
    worst = frames[are_tops[are_tops.searchsorted(starts)]]

    # Sums of times are rounded: a run of exactly the minimum is long enough.
    is_long = ends[stops] - begins[starts] >= min_duration * (1 - 1e-9)
    chosen = np.flatnonzero(is_long)
    count = len(chosen)
    if count > max_runs:
        # The worst are chosen by amount, and put back into the order of time.
        by_amount = np.argsort(-tops[chosen], kind="stable")
        chosen = np.sort(chosen[by_amount[: int(max_runs)]])
    columns = [
        values[chosen].tolist()
        for values in (frames[starts], frames[stops], worst, tops)
    ]
    return list(map(Run, *columns)), count


@dataclass
class Sampling:
    """T frames of a motion.

    Their numbers in it (T,), their times (T,) [s], and where they are in its file.
    """

    frames: Indices
    times: Floats
    locate: FrameLocator

    def when(self, index: int) -> str:
        """Return the number and the time of a frame as text."""
        return f"frame {self.frames[index]} (t = {self.times[index]:.2f} s)"

    def moment(
        self,
        rule: Rule,
        run: Run,
        message: str,
        subject: str = "",
        max_amount: float = np.inf,
    ) -> Moment:
        """Return the moment of a run of frames.

        With more than `max_amount` times the limit it is an error.
        """
        frame = int(self.frames[run.worst])
        return Moment(
            rule=rule.code,
            severity="error" if run.amount > max_amount else rule.severity,
            time=float(self.times[run.worst]),
            start=float(self.times[run.first]),
            end=float(self.times[run.last]),
            frame=frame,
            subject=subject,
            amount=run.amount,
            message=message,
            location=self.locate(frame),
        )

    def moments(
        self,
        rule: Rule,
        amount: Floats,
        message_of: Callable[[Run], str],
        subject: str = "",
    ) -> list[Moment]:
        """Return the moments in which `amount` is above 1.

        (T or T − 1,), in multiples of a limit.
        """
        found, _ = find_runs(amount, self.times[: len(amount)], 1.0)
        return [self.moment(rule, run, message_of(run), subject) for run in found]


# The number of moments that a message names, the worst one included.
MAX_NAMED = 5


def make_finding(
    rule: Rule, moments: Sequence[Moment], total: int | None = None
) -> list[Finding]:
    """Return the one problem of all moments of a rule as a list.

    An empty list without moments.

    The message describes the worst moment and names the times of the next worst ones.
    `total` counts the moments where not all were kept.
    """
    if not moments:
        return []
    ranked = sorted(moments, key=lambda moment: -moment.amount)
    worst = ranked[0]
    message = _describe(ranked, len(moments) if total is None else total)
    data = {
        "time": worst.time,
        "frame": worst.frame,
        "subject": worst.subject,
        "amount": worst.amount,
    }
    problem = rule.problem(message, worst.location, data=data)
    problem = replace(problem, severity=worst.severity)
    in_time = sorted(
        ranked[:MAX_MOMENTS], key=lambda moment: (moment.time, -moment.amount)
    )
    return [Finding(problem, tuple(in_time))]


def _describe(ranked: Sequence[Moment], count: int) -> str:
    """Return the message of `count` moments, the worst first."""
    worst = ranked[0]
    if count <= 1:
        return worst.message
    others = ranked[1:MAX_NAMED]
    named = []
    for moment in sorted(others, key=lambda moment: moment.time):
        text = f"t = {moment.time:.2f} s"
        if moment.subject and moment.subject != worst.subject:
            text += f" ({moment.subject})"
        named.append(text)
    message = f"{count} times, worst: {worst.message}; also at {', '.join(named)}"
    more = count - 1 - len(others)
    if more:
        message += f" and {more} more times"
    return message


def driven_columns(body: Body, *types: str) -> list[int]:
    """Return the columns that move joints of these types."""
    return [
        column
        for column, link in enumerate(body.joint_links)
        if link >= 0 and body.links[link].joint.type in types
    ]


def joint_name(body: Body, column: int) -> str:
    """Return the name of a joint.

    That of its link where it has none.
    """
    link = body.links[body.joint_links[column]]
    return link.joint.name or link.name


def part_name(component: MultiValueSeq | MultiSE3Seq, part: int) -> str:
    """Return the name of a part of a component.

    It is a joint or a link. Without a name, its number.
    """
    labels = component.part_labels
    if part < len(labels) and labels[part]:
        return repr(labels[part])
    kind = "joint" if isinstance(component, MultiValueSeq) else "link"
    return f"{kind} {part}"


def component_number(
    motion: Motion, component: MultiValueSeq | MultiSE3Seq | Vector3Seq
) -> int:
    """Return the index of a component in its motion."""
    return next(k for k, item in enumerate(motion.components) if item is component)


def all_frames(motion: Motion, component: MultiValueSeq | MultiSE3Seq) -> Sampling:
    """Return all frames of a component."""
    locate = partial(frame_location, motion, component_number(motion, component))
    return Sampling(np.arange(component.num_frames), component.timeline.times, locate)


def frame_location(motion: Motion, component: int, frame: int, *part: int) -> Location:
    """Return where a frame of a component is in the file.

    Or a part of it, or a number of a position. `inside` is its path in the document.
    """
    path = motion.source.path
    inside = f"components[{component}].frames[{frame}]"
    subject: Subject = ("components", component, "frames", frame, *part)
    location = motion.source.locations.locate(subject)
    if location is None:
        return Location(None if path is None else str(path), inside=inside)
    if location.inside:
        return location
    return Location(location.path, location.line, location.column, inside)


def too_fast(
    reason: str, timeline: Timeline, location: Location, factor: float = 10.0
) -> Finding:
    """Return the finding of a motion that is too fast as a whole.

    Possibly by a `factor`, a power of ten.
    """
    rate = timeline.frame_rate
    if rate is None:
        timing = "its time stamps"
        question = "are the time stamps seconds?"
    else:
        timing = f"{rate:g} frames per second"
        question = f"is it {rate / factor:g} frames per second?"
    hint = (
        f"{question} Otherwise slow it down: `bodymotion retime --speed`. Speeds and "
        "physics are not checked"
    )
    return Finding(rules.FRAME_RATE.problem(f"with {timing} {reason}", location, hint))
