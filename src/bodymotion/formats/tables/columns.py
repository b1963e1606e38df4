"""Columns of tables: joints, matched by name, and times.

The order of named columns in the file has no meaning. A column of times becomes a
`Timeline`, and the components of a motion get the one timeline of a table.
"""

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

import numpy as np

from bodymotion.diagnostics import Diagnostics, Location, Problem, judgement, losses
from bodymotion.diagnostics.text import listed
from bodymotion.formats.renaming import Renamings
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.rotations import FULL_TURN, MIN_SHARE
from bodymotion.model.body import (
    OTHER_NAMES,
    Body,
    check_complete,
    fits_names,
    generic_name,
    is_generic,
    matched,
    mismatch,
)
from bodymotion.motion import (
    JOINT_DISPLACEMENT,
    Component,
    Motion,
    MultiSE3Seq,
    MultiValueSeq,
    OtherSeq,
    Vector3Seq,
)
from bodymotion.motion.components import (
    ON_FRAME,
    TimedComponent,
    Timeline,
    out_of_order,
)
from bodymotion.motion.rules import SLOW_RATE, TIME_ORDER

# Times.
UNIT = judgement.warning(
    "TAB105",
    "Times without a unit are seconds.",
    "if they have another unit, name the column 'time [ms]', 'time [us]' or 'time "
    "[ns]'; in an .npz, convert them",
    example=("time,HIP [rad]\n0,0.1\n20,0.1 …", "time [ms],HIP [rad]\n0,0.1\n20,0.1 …"),
)
MAX_STEP = 1.0
# [s] Frames that are further apart may have times of another unit. Fewer frames may be
# poses far apart.
MIN_FRAMES = 10
ROUNDED_TIMES = judgement.note(
    "TAB107",
    "Times have enough decimals to show their rate. Rounded ones are read as those of "
    "the rate that they fit.",
    "frame_rate=… (--input-rate) keeps the times as time stamps",
    example=("0, 0.017, 0.033 … 0.983", "0, 0.016667, 0.033333 … 0.983333"),
)
# Times are rounded ones of a fixed rate if frames are so many units of their last
# decimal apart.
MIN_STEP_UNITS = 1.5
MAX_WHOLE_RATES = 20  # Rates [Hz] that are tried.
# Times of more decimals show their rate to within ON_FRAME.
MAX_DECIMALS = 5

# Joints.
# In place of the index of a joint.
NO_JOINT = -1
# Contacts of feet are values of so many parts.
NUM_FEET = 4
UNMATCHED = judgement.error(
    "TAB101",
    "Each joint column of a table has the name of a joint of the model.",
    "rename the columns; --by-position (model.body.by_position) reads column i as "
    "joint i",
    example=("time,HOP [rad]", "time,HIP [rad]"),
)
NO_COLUMN = judgement.warning(
    "TAB102",
    "A table has a column for every joint.",
    "the values of missing joints are 0",
    example=("time,HIP [rad]", "time,HIP [rad],KNEE [rad]"),
)
TWICE = judgement.error(
    "TAB103",
    "Each name of a column occurs once.",
    example=("joint_0 [rad],joint_00 [rad]", "joint_0 [rad],joint_1 [rad]"),
)
IDS = judgement.error(
    "TAB104",
    "The ids of joints are not much larger than their number.",
    example=("joint_0 [rad],joint_999999 [rad]", "joint_0 [rad],joint_1 [rad]"),
)
LARGE_ANGLES = judgement.warning(
    "TAB106",
    "Joint angles without a unit are radians.",
    "degrees=True (--input-degrees) reads degrees, degrees=False (--input-radians) "
    "confirms radians",
    example=("joints at 40, 80 and 120", "joints at 0.7, 1.4 and 2.1"),
)
MAX_ANGLE = 2 * FULL_TURN  # [rad] Larger angles without a unit may be degrees.

MAX_GROWTH = 16
# With the joints without a column, a table may be MAX_GROWTH times as large, and have
# MIN_NUMBERS numbers in any case.
MIN_NUMBERS = 1 << 22

MAX_NAMES = 60  # Names that a message lists.


def joint_names(body: Body) -> tuple[str, ...]:
    """Return the names of a body's joints, in order of joint id."""
    return tuple(joint.name for joint in body.joints)


def column_names(
    joints: MultiValueSeq,
    body: Body | None = None,
    plain: Callable[[str], bool] = str.isprintable,
) -> tuple[tuple[str, ...], tuple[Problem, ...]]:
    """Return a name for each joint column, and what is lost.

    Lost are labels that are written otherwise.

    The name is the label, or that of the body's joint; column_k in place of a label
    that is not `plain`; joint_k where none can be written: without labels, with two
    equal ones, or with `plain` ones such as joint_3 alone. A column_k is read as a
    joint of that name.
    """
    labels = joints.part_labels
    count = joints.num_parts
    # A body gives names where the motion has none.
    if not labels and body is not None and len(body.joints) == count:
        labels = joint_names(body)
    # joint_0, joint_1 …: what readers know as ids.
    written = tuple(map(generic_name, range(count)))
    if len(labels) == count == len(set(labels)):
        # The name joint_k would be that of the joint with this id.
        kept = tuple(
            one if plain(one) else f"column_{k}" for k, one in enumerate(labels)
        )
        # With names like joint_3 alone, a reader would take them for ids.
        if len(set(kept)) == count and any(
            plain(one) and not is_generic(one) for one in labels
        ):
            written = kept
    return written, renamed_labels("joint", labels, written)


def renamed_labels(
    kind: str, labels: Sequence[str], written: Iterable[str] = ()
) -> tuple[Problem, ...]:
    """Return the loss of labels that are not in the file, or not as they are.

    `kind` is "joint" or "link"; without `written` none of the labels is in the file.
    """
    if not labels:
        return ()
    renamed = Renamings(losses.LABELS, unnamed=True)
    for label, name in zip_longest(labels, written, fillvalue=""):
        renamed.add(kind, label, name)
    return renamed.problems


# First characters of a cell that spreadsheets take for a formula.
FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")


def is_plain(label: str) -> bool:
    """Return whether text tables can hold a name.

    Readers remove blanks around it, and take # for a comment.

    A spreadsheet would run a name that begins as a formula does.
    """
    return (
        bool(label)
        and label.isprintable()
        and label == label.strip()
        and not label.startswith(("#", *FORMULA_SIGNS))
    )


def in_id_order(
    values: Floats, names: Sequence[str], location: Location, found: Diagnostics
) -> Floats | None:
    """Return columns joint_k (T, N) in the order of k.

    An id without a column is 0, which is reported. None for any other names.

    Raises
    ------
    FormatError
        TAB103 when two columns have one id, TAB104 when far more ids have none than
        have one.
    """
    if not all(map(is_generic, names)):
        return None
    ids = [int(name.removeprefix("joint_")) for name in names]
    count = max(ids) + 1
    # One id twice: which column is meant is unclear.
    if len(set(ids)) < len(ids):
        raise TWICE.error(
            f"two columns are {generic_name(max(ids, key=ids.count))}", location
        )
    # An id such as 999999 would make a table of zeros.
    if count * len(values) > max(MIN_NUMBERS, MAX_GROWTH * values.size):
        raise IDS.error(
            f"{len(names)} columns, and one of them is {generic_name(count - 1)}",
            location,
        )
    if ids == list(range(count)):
        return values
    # Ids without a column stay 0.
    ordered = np.zeros((len(values), count))
    ordered[:, ids] = values
    absent = [generic_name(k) for k in range(count) if k not in set(ids)]
    if absent:
        found.report(NO_COLUMN, f"no column for {listed(absent, MAX_NAMES)}", location)
    return ordered


def in_body_order(
    values: Floats,
    names: Sequence[str],
    body: Body,
    location: Location,
    found: Diagnostics,
    lost: Collection[str] = (),
) -> tuple[Floats, tuple[str, ...]]:
    """Return the columns of joints (T, J) in the order of a body.

    `values` are columns (T, N); the names of the joints come with the result.

    Reports columns that are no joint of the body (MOT222, or TAB101 where most names
    are none) or the same joint as another (TAB103), all left out, and joints without a
    column (TAB102), which are 0. After an error, or with `lost` columns, the joints
    without one are NaN, and unknown.
    """
    wanted = joint_names(body)
    joint_of_column = matched(names, body)
    column_of_joint: dict[int, int] = {}
    unclear: set[int] = set()
    # A joint is unclear where two columns name it.
    for column, (name, joint) in enumerate(zip(names, joint_of_column, strict=True)):
        if name in lost:
            unclear.add(joint)
        if joint in column_of_joint:
            text = f"two columns are the joint {wanted[joint]}"
            found.report(TWICE, text, location)
            unclear.add(joint)
        elif joint != NO_JOINT:
            column_of_joint[joint] = column
    if NO_JOINT in joint_of_column:
        if _report_other_names(names, joint_of_column, body, location, found):
            unclear.discard(NO_JOINT)
        else:
            # Any joint without a column may be one of these.
            unclear.add(NO_JOINT)
    # nan where a column may be missing by a fault, else 0.
    ordered = np.full((len(values), len(wanted)), np.nan if unclear else 0.0)
    for joint in column_of_joint.keys() - unclear:
        ordered[:, joint] = values[:, column_of_joint[joint]]
    clear = column_of_joint.keys() - unclear
    absent = [name for joint, name in enumerate(wanted) if joint not in clear]
    # After a fault nothing is reported as missing: it may be there under another name.
    if unclear:
        found.mark_unknown(*(("contents", JOINT_DISPLACEMENT, name) for name in absent))
    elif absent:
        titles = [name or repr("") for name in absent]
        text = f"no column for {listed(titles, MAX_NAMES)}"
        found.report(NO_COLUMN, text, location)
    return ordered, wanted


def _report_other_names(
    names: Sequence[str],
    joint_of_column: Sequence[int],
    body: Body,
    location: Location,
    found: Diagnostics,
) -> bool:
    """Report the names of no joint; return whether the columns are the body's."""
    others = [
        name
        for name, joint in zip(names, joint_of_column, strict=True)
        if joint == NO_JOINT
    ]
    data = {"names": others}
    # Most names are wrong: another robot's table, not a slip.
    if not fits_names(names, body):
        found.report(UNMATCHED, mismatch(names, body), location, data=data)
        return False
    text = (
        f"no joint of {body.name or 'the body'} is named {listed(others, MAX_NAMES)}: "
        "the columns are left out"
    )
    found.report(OTHER_NAMES, text, location, data=data)
    return True


def by_joint_id(component: MultiValueSeq, body: Body, whole: bool) -> MultiValueSeq:
    """Return columns with names of a body's joints in the order of joint id.

    Other columns keep their order (`Body.joint_columns`).

    With `whole`, as files need it that hold no names, there is a column for every joint
    then.

    Raises
    ------
    ValueError
        As `Body.joint_columns`, and with `whole` also where a joint has no column.
    """
    values = component.values
    labels = component.part_labels
    columns = body.joint_columns(component)
    ordered = values
    if whole:
        check_complete(component, body)
        ordered = body.joint_values(component)
    # The columns are in order already.
    if columns == tuple(
        k if k < component.num_parts else -1 for k in range(len(columns))
    ):
        return component
    # Columns that are no joint of the body come last.
    rest = sorted({*range(component.num_parts)} - {*columns})
    if whole:
        values = np.concatenate([ordered, values[:, rest]], axis=1)
        return replace(
            component,
            values=values,
            part_labels=(*joint_names(body), *[""] * len(rest)),
        )
    order = [*(column for column in columns if column >= 0), *rest]
    named = tuple(labels[column] if column < len(labels) else "" for column in order)
    return replace(component, values=values[:, order], part_labels=named)


def link_order(names: Sequence[str], body: Body, location: Location) -> list[int]:
    """Return for each link of the body the column of its name.

    Up to the last link that has one.

    Raises
    ------
    FormatError
        TAB101 when a name is no link of the body, or when a link between others has no
        column.
    """
    wanted = [link.name for link in body.links]
    unknown = [name for name in names if name not in wanted]
    if unknown:
        raise UNMATCHED.error(
            f"no link of {body.name} is named {listed(unknown, MAX_NAMES)}; its links "
            f"are {listed(wanted, MAX_NAMES)}",
            location,
        )
    # Links behind the last one with a pose are not needed.
    last = max(wanted.index(name) for name in names)
    absent = [name for name in wanted[: last + 1] if name not in names]
    if absent:
        message = (
            f"link poses are in order of link index, and there is none for "
            f"{listed(absent, MAX_NAMES)}"
        )
        raise UNMATCHED.error(message, location)
    return [list(names).index(name) for name in wanted[: last + 1]]


def angles_without_unit(
    values: Floats,
    degrees: bool | None,
    slides: Sequence[bool],
    location: Location,
    found: Diagnostics,
) -> Floats:
    """Return joint columns (T, N) in rad or m.

    The file does not state the unit of angles.

    They are degrees if `degrees`, but for those that are `slides` (N,). Without
    `degrees` they are radians; angles that look like degrees are then reported
    (TAB106).
    """
    # Only joints that rotate have angles.
    turning = ~np.asarray(slides, bool)
    if degrees:
        return values * np.where(turning, np.pi / 180, 1.0)
    if degrees is None:
        angles = values[:, turning]
        if look_like_degrees(angles):
            largest = largest_size(angles)
            message = (
                f"angles go up to {largest:.6g}, read as radians: are they degrees?"
            )
            found.report(LARGE_ANGLES, message, location)
    return values


def look_like_degrees(angles: Floats) -> bool:
    """Return whether angles (T, N) are too large for radians.

    In more than a few frames.
    """
    # A frame counts once, however many joints are large in it.
    is_large = np.isfinite(angles) & (np.abs(angles) > MAX_ANGLE)
    return bool(np.count_nonzero(is_large.any(axis=1)) > MIN_SHARE * len(angles))


def largest_size(values: Floats) -> float:
    """Return the largest absolute value of those that are finite.

    0 without one.
    """
    sizes = np.abs(values[np.isfinite(values)])
    return float(sizes.max(initial=0.0))


def slides_of(names: Sequence[str], body: Body | None) -> list[bool]:
    """Return for each name whether it is a sliding joint of the body."""
    if body is None:
        return [False] * len(names)
    joints = body.joints
    return [k >= 0 and joints[k].type == "slide" for k in matched(names, body)]


def check_unit(times: Floats, found: Diagnostics, location: Location) -> None:
    """Report times (T,) without a unit that are too far apart for seconds."""
    times = times[np.isfinite(times)]
    if (
        len(times) >= MIN_FRAMES
        # The median: a single gap in the recording does not count.
        and (step := float(np.median(np.diff(times)))) > MAX_STEP
    ):
        found.report(
            UNIT,
            f"frames are {step:.6g} s apart: are the times in ms, µs or ns?",
            location,
        )


def check_rate(
    rate: float,
    num_frames: int,
    found: Diagnostics,
    location: Location,
    least: int = MIN_FRAMES,
) -> None:
    """Report a rate [Hz] at which frames are far apart (MOT107).

    Of files of `least` frames or more.
    """
    step = 1 / rate
    if num_frames >= least and step > MAX_STEP:
        message = f"frames are {step:.6g} s apart, {rate:.6g} Hz"
        found.report(SLOW_RATE, message, location, data={"rate": rate})


def check_increasing(
    times: Floats,
    found: Diagnostics,
    locate: Callable[[int], Location],
    unread: Collection[int] = (),
) -> None:
    """Report each of the times (T,) that is not after the one before.

    Rows `unread` are passed over.
    """
    before = -np.inf
    passed = set(unread)
    # The usual case, without a loop.
    if not out_of_order(times).any():
        return
    for frame, time in enumerate(times.tolist()):
        # Rows that could not be read have no time of their own.
        if frame in passed:
            continue
        if not (np.isfinite(time) and time > before):
            if np.isfinite(before):
                after = f"not after {before!r} s"
            else:
                after = "no time"
            found.report(
                TIME_ORDER,
                f"frame {frame} is at {time!r} s, {after}",
                locate(frame),
                data={"time": time},
            )
        # The latest time so far: one late row is one fault.
        if np.isfinite(time):
            before = max(before, time)


def even_rate(times: Floats) -> float | None:
    """Return the rate [Hz] of times (T,) that are evenly apart, to within ON_FRAME.

    None where they are not, or are fewer than two.

    Of the rates that fit, one that gives exactly the times k / rate is preferred, then
    a round one.
    """
    if len(times) < 2 or times[-1] == times[0]:
        return None
    frames = np.arange(len(times))
    span = float(times[-1] - times[0])
    with np.errstate(over="ignore"):
        raw = float(np.float64(len(times) - 1) / span)
    # A difference of almost 0 makes the rate infinite.
    if not 0 < raw < 1e300:
        return None
    # The rate may be off by one unit in the last place.
    near = [raw, np.nextafter(raw, 0), np.nextafter(raw, np.inf)]
    # A rate is as exact as the last time: times of six decimals show no more digits of
    # 333.333333 Hz.
    doubt = raw * ON_FRAME / span
    # Rounded to 0 … 8 decimals.
    rounded = [round(raw, digits) for digits in range(0, 9)]
    short = [rate for rate in rounded if rate > 0 and abs(rate - raw) <= doubt]
    # Rounding errors of the times themselves: a few units in the last place.
    few_bits = 8 * np.finfo(float).eps * float(np.abs(times[[0, -1]]).max())
    # First short rates that are exact but for rounding; then the computed one where it
    # is exact; at last any within ON_FRAME.
    for rates, within in ((short, few_bits), (near, 0.0), ([*short, raw], ON_FRAME)):
        for rate in rates:
            if np.abs(frames / rate + times[0] - times).max() <= within:
                return float(rate)
    return None


def rate_of_rounded(times: Floats) -> float | None:
    """Return the rate [Hz] whose times (T,) were rounded to a few decimals.

    None for other times.

    It is the one of the fewest digits with which each time is the rounded one of its
    frame.
    """
    if len(times) < MIN_FRAMES:
        return None
    # Times may begin anywhere.
    offsets = times - times[0]
    bits = 8 * np.finfo(float).eps * float(np.abs(times).max())
    # The fewest decimals with which all times are written.
    for decimals in range(MAX_DECIMALS + 1):
        if np.abs(times - np.round(times, decimals)).max() <= bits:
            break
    else:
        return None
    unit = 10.0**-decimals
    span = float(offsets[-1])
    # Steps of about one unit show no rate: all rates would fit.
    if span < MIN_STEP_UNITS * unit * (len(times) - 1):
        return None
    frames = np.arange(len(times))
    raw = (len(times) - 1) / span
    # The first and the last time are each off by half a unit at most.
    doubt = raw * unit / span
    # A first time that is not 0 may be rounded, too.
    if times[0] == 0:
        error = unit / 2
    else:
        error = unit
    # Whole rates within the doubt of the first and the last time.
    whole = [float(n) for n in range(math.ceil(raw - doubt), int(raw + doubt) + 1)]
    # A multiple of ten before one of five, before another whole number.
    whole.sort(key=lambda rate: (rate % 10 > 0, rate % 5 > 0, abs(rate - raw)))
    # Rates such as 29.97 after the whole ones.
    finer = [round(raw, digits) for digits in range(1, 7)]
    for rate in (*whole[:MAX_WHOLE_RATES], *finer):
        is_near = rate > 0 and abs(rate - raw) <= doubt
        if is_near and np.abs(frames / rate - offsets).max() <= error + bits:
            return float(rate)
    return None


def timeline_of(
    times: Floats, frame_rate: float | None = None, from_zero: bool = False
) -> Timeline:
    """Return the timeline of increasing times (T,) [s].

    It has a fixed rate when the first time is 0 (or is made 0 by `from_zero`) and all
    are k / rate, to within ON_FRAME. Else it has stamps; its rate for resampling is
    then `frame_rate`, or the rate that they follow.
    """
    if not len(times):
        if frame_rate is not None:
            return Timeline.uniform(0, frame_rate)
        return Timeline.stamped(times)
    # The rate is that of the times as they are: a subtraction would add rounding
    # errors.
    if frame_rate is None:
        rate = even_rate(times)
    else:
        rate = frame_rate
    if from_zero:
        times = times - times[0]
    # The frames are where the rate puts them.
    if (
        rate is not None
        and np.abs(np.arange(len(times)) / rate - times).max() <= ON_FRAME
    ):
        return Timeline.uniform(len(times), rate)
    return Timeline.stamped(times, rate)


@dataclass(frozen=True)
class SharedTime:
    """A motion whose components share one timeline.

    It has those components that such formats hold, and what is lost already.
    """

    motion: Motion
    timeline: Timeline
    joints: MultiValueSeq | None
    links: MultiSE3Seq | None
    zmp: Vector3Seq | None
    problems: tuple[Problem, ...]
    others: tuple[MultiValueSeq, ...] = ()

    def time_losses(self) -> list[Problem]:
        """Return what a column of times does not show.

        The rate of fewer than two frames, the rate for resampling.
        """
        timeline = self.timeline
        note = losses.RATE.as_note
        found = []
        if timeline.frame_rate is not None and timeline.num_frames < 2:
            message = (
                f"{timeline.num_frames} frames do not show the rate of "
                f"{timeline.frame_rate:g} Hz"
            )
            found.append(note.problem(message))
        rate = timeline.import_rate
        if rate is not None and timeline_of(timeline.times).import_rate != rate:
            found.append(note.problem(f"the import rate of {rate:g} Hz is not written"))
        return found


def on_one_timeline(
    motion: Motion,
    rows: bool = True,
    body: Body | None = None,
    nameless: bool = False,
    contents: Collection[str] = (),
) -> SharedTime:
    """Put joints, link positions and ZMP on a common timeline.

    Other components are left out.

    Parameters
    ----------
    motion:
        What is written.
    rows:
        Whether the format is nothing but rows: then there must be a frame, and a
        component without parts leaves no trace.
    body:
        Joint columns with names of its joints are put in order of joint id.
    nameless:
        Whether the format holds no names: then a body has a column for each joint.
    contents:
        Contents of values of four parts that the format holds, too: contacts of feet.

    Raises
    ------
    ValueError
        When the motion has none of the three, or they cannot be put on one timeline, or
        the joints are not the body's.
    """
    # Poses first: the root is in the first columns of a table.
    kept: list[TimedComponent] = [
        component
        for component in (motion.link_position, motion.joint_displacement, motion.zmp)
        if component is not None
    ]
    if not kept:
        raise ValueError(
            "the motion has neither joint displacements nor link positions nor a ZMP: "
            "there is nothing to write"
        )
    # Of several components of contacts, the last.
    kept += _components_of(motion, contents)[-1:]
    problems = _left_out(motion, kept)
    reduced = motion.replaced(*kept)
    first = kept[0].timeline
    # Rows have one time: all components get the same.
    if any(component.timeline != first for component in kept[1:]):
        reduced = reduced.synchronized()
        text = f"the components have different timelines; all get {reduced.timeline}"
        problems.append(losses.FRAMES.problem(text))
    joints = reduced.joint_displacement
    links = reduced.link_position
    if joints is not None and body is not None and joints.num_parts:
        joints = by_joint_id(joints, body, nameless)
    if rows:
        if not reduced.timeline.num_frames:
            raise ValueError("the motion has no frames: there is nothing to write")
        if joints is not None and not joints.num_parts:
            problems.append(_no_parts(joints))
            joints = None
        if links is not None and not links.num_parts:
            problems.append(_no_parts(links))
            links = None
        if joints is None and links is None and reduced.zmp is None:
            raise ValueError(
                "the motion has no part that moves: there is nothing to write"
            )
    return SharedTime(
        reduced,
        reduced.timeline,
        joints,
        links,
        reduced.zmp,
        tuple(problems),
        tuple(_components_of(reduced, contents)),
    )


def _components_of(motion: Motion, contents: Collection[str]) -> list[MultiValueSeq]:
    """Return the components of four parts with one of the contents."""
    return [
        component
        for component in motion.timed
        if isinstance(component, MultiValueSeq)
        and component.content in contents
        and component.num_parts == NUM_FEET
    ]


def _left_out(motion: Motion, kept: Sequence[Component]) -> list[Problem]:
    """Return what is lost of a motion of which some components are written."""
    problems = []
    for component in motion.components:
        content = component.content
        if not any(component is other for other in kept):
            kind = type(component).__name__
            if isinstance(component, OtherSeq):
                kind = component.type
            text = f"the {kind} {content!r} is not written"
            problems.append(losses.COMPONENT.problem(text, Location(inside=content)))
        elif component.extra:
            text = f"keys of {content}: {', '.join(map(str, component.extra))}"
            problems.append(losses.EXTRA.problem(text, Location(inside=content)))
    if motion.extra:
        text = f"keys of the top node: {', '.join(map(str, motion.extra))}"
        problems.append(losses.EXTRA.problem(text))
    return problems


def _no_parts(component: Component) -> Problem:
    text = f"{component.content} has no parts, and is not written"
    location = Location(inside=component.content)
    return losses.COMPONENT.as_note.problem(text, location)
