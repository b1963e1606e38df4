"""Edit Spot animations: trim, reverse, mirror, change the speed, append.

Each function returns a new animation, with the options, the parameters and the comments
of the first one; comments follow their keyframes.
"""

import re
from dataclasses import replace

import numpy as np

from bodymotion.diagnostics import SourceMap, WrongUseError
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, Indices
from bodymotion.motion.interpolation import sampled
from bodymotion.spot.animation import GROUPS, Animation, Keyframes, Parameter
from bodymotion.spot.cha.rows import Comments
from bodymotion.spot.playback.playing import check_keyframes, default_start
from bodymotion.spot.playback.stance import footprint
from bodymotion.spot.playback.tracks import Tracks

__all__ = ["append", "change_speed", "mirror", "reverse", "trim"]

SAME = (
    1e-6  # [m, rad] Numbers of two keyframes up to this difference are the same pose.
)
OTHER_SIDE = {"fl": "fr", "fr": "fl", "hl": "hr", "hr": "hl"}
# Columns that change their sign in a mirror. Positions to the left, rotations about x
# and z.
NEGATED = re.compile(
    r".*(_hx|(?<!_quat)_y|_roll|_yaw|_quat_x|_quat_z)|shoulder0|elbow1|wrist1"
)
NEGATED_PARAMETERS = {"shoulder_0_offset", "elbow_1_offset", "wrist_1_offset"}


def trim(
    animation: Animation, start: float | None = None, end: float | None = None
) -> Animation:
    """Return the part between two times [s], both included, which starts at time 0.

    Ends between keyframes become keyframes, as pchip interpolates them. Raises
    ValueError where nothing is left.
    """
    # Step 1: limit the times to those of the keyframes.
    frames = animation.keyframes
    check_keyframes(animation)
    first, last = (
        frames.times[k] if t is None else t for k, t in ((0, start), (-1, end))
    )
    first = max(first, frames.times[0])
    last = min(last, frames.times[-1])
    if not first <= last:
        raise WrongUseError(
            f"no part of the {animation.duration:g} s is between {first:g} s and "
            f"{last:g} s"
        )
    # Step 2: keyframes inside, and −1 where an end needs a new one. 1e-9 s is rounding.
    inside = np.flatnonzero(
        (frames.times >= first - 1e-9) & (frames.times <= last + 1e-9)
    )
    origin = inside
    for at, place in ((first, 0), (last, len(inside))):
        if not len(inside) or np.abs(frames.times[inside] - at).min() > 1e-9:
            origin = np.insert(origin, min(place, len(origin)), -1)
    # NaN times of new keyframes are those at the ends, set next.
    times = np.where(origin >= 0, frames.times[origin], np.nan)
    times[0], times[-1] = first, last
    # Step 3: values at new keyframes by interpolation, at others exact.
    if len(frames) > 1:
        values = sampled(frames.values, frames.times, times, "pchip")
    else:
        values = np.array(frames.values)
    known = origin >= 0
    values[known] = frames.values[origin[known]]
    # A contact holds only where it does at both keyframes: 0.5 becomes 0.
    for column, name in enumerate(frames.columns):
        if name.endswith("_contact"):
            values[:, column] = np.floor(values[:, column] + 1e-9)
    return _rebuilt(animation, values, times - first, origin)


def reverse(animation: Animation) -> Animation:
    """Return the animation in reverse: it begins with the last keyframe."""
    # The last keyframe gets the time of the first one.
    frames = animation.keyframes
    if len(frames):
        times = frames.times[-1] + frames.times[0] - frames.times[::-1]
    else:
        times = frames.times
    return _rebuilt(animation, frames.values[::-1], times, np.arange(len(frames))[::-1])


def change_speed(animation: Animation, factor: float) -> Animation:
    """Return the animation played `factor` times as fast.

    Its beats per minute stay.
    """
    if not 0 < factor < np.inf:
        raise WrongUseError(f"speed: expected a positive number, got {factor:g}")
    frames = animation.keyframes
    options = dict(animation.options)
    # Keyframes per second grow with the speed.
    if isinstance(options.get("frequency"), (int, float)):
        options["frequency"] = options["frequency"] * factor  # type: ignore[operator]
    changed = _rebuilt(
        animation, frames.values, frames.times / factor, np.arange(len(frames))
    )
    return replace(changed, options=options)


def mirror(animation: Animation) -> Animation:
    """Return the animation with left and right exchanged.

    So are the ranges of offsets of the arm.
    """
    frames = animation.keyframes
    # Mirroring negates what points or rotates sideways: y, roll, yaw, joints hx, sh0,
    # el1 and wr1, and x and z of quaternions.
    signs = np.array(
        [-1.0 if NEGATED.fullmatch(name) else 1.0 for name in frames.columns]
    )
    parameters = dict(animation.parameters)
    for name in parameters.keys() & NEGATED_PARAMETERS:
        # Negation exchanges the ends of a range.
        ends = (
            parameters[name].maximum,
            parameters[name].default,
            parameters[name].minimum,
        )
        parameters[name] = Parameter(
            *(None if value is None else 0.0 - value for value in ends)
        )
    # + 0.0 turns −0.0 into 0.0.
    values = frames.values * signs + 0.0
    changed = _rebuilt(animation, values, frames.times, np.arange(len(frames)))
    # Values stay in their columns; the columns change their names.
    columns, header = (
        tuple(map(_mirrored, names)) for names in (frames.columns, frames.header)
    )
    keyframes = replace(changed.keyframes, columns=columns, header=header)
    return replace(changed, parameters=parameters, keyframes=keyframes)


def _mirrored(name: str) -> str:
    leg, _, rest = name.partition("_")
    if leg in OTHER_SIDE:
        return f"{OTHER_SIDE[leg]}_{rest}"
    return name


def append(
    animation: Animation, other: Animation, *, blend: float | None = None
) -> Animation:
    """Return an animation followed by another one with the same columns.

    The other one starts over the feet of the last keyframe.

    Parameters
    ----------
    blend:
        [s] between the two; by default the last gap between keyframes. Without it, a
        first pose that is the last one of the first animation is used once.

    Raises
    ------
    ValueError
        When the columns differ, or one of the two cannot be played.
    """
    first = animation.keyframes
    second = other.keyframes
    if set(first.columns) != set(second.columns):
        odd = sorted(set(first.columns) ^ set(second.columns))
        raise WrongUseError(
            "the animations have different columns: only one of them has "
            f"{', '.join(odd[:6])}"
        )
    if blend is not None and not blend > 0:
        raise WrongUseError(
            f"blend: expected a positive number of seconds, got {blend:g}"
        )
    for one in (animation, other):
        check_keyframes(one)
    # Columns in the order of the first animation.
    values = second.values[:, [second.columns.index(name) for name in first.columns]]
    # From the frame of the feet at the start of the second one to that at the end of
    # the first; heights stay.
    step = poses.compose(
        _footprint(animation, last=True), poses.inverse(_footprint(other, last=False))
    )
    step[2] = 0.0
    values = _moved(values, first.columns, step)
    # Default gap: the last one, or 1 s after a single keyframe.
    if blend is not None:
        gap = blend
    elif len(first) > 1:
        gap = float(np.diff(first.times)[-1])
    else:
        gap = 1.0
    # A first pose that equals the last one is used once.
    begin = int(
        blend is None and np.abs(values[0] - first.values[-1]).max(initial=0.0) < SAME
    )
    times = second.times - second.times[0] + first.times[-1] + (0.0 if begin else gap)
    origin = np.concatenate([np.arange(len(first)), np.full(len(second) - begin, -1)])
    joined = np.concatenate([first.values, values[begin:]])
    return _rebuilt(
        animation, joined, np.concatenate([first.times, times[begin:]]), origin
    )


def _footprint(animation: Animation, *, last: bool) -> Floats:
    """Return the frame (7,) of the feet at the first or the last keyframe.

    The origin where the legs are not controlled.
    """
    before = default_start(animation)
    tracks = Tracks(animation, before, before.frame)
    if not tracks.has_legs:
        return poses.IDENTITY
    at = animation.keyframes.times[[-1 if last else 0]]
    # As in playback: without the body its pose follows from the legs.
    if tracks.has_body:
        body = tracks.body_poses(at)
    else:
        body = tracks.body_on_legs(at)
    return np.asarray(footprint(tracks.feet(at, body))[0])


def _moved(values: Floats, columns: tuple[str, ...], step: Floats) -> Floats:
    """Return values (N, C) of keyframes, moved in the animation frame.

    Positions and orientations are moved by a pose `step` (7,).
    """
    moved = np.array(values)
    indices = {name: k for k, name in enumerate(columns)}
    # Feet (fl …), body, centre of mass and hand have positions in the frame.
    for part in (*OTHER_SIDE, "body", "com", "hand"):
        _move_position(moved, indices, part, step)
    for part in ("body", "hand"):
        _rotate(moved, indices, part, step)
    return moved


def _yaw_of(step: Floats) -> float:
    """Return the yaw [rad] of a pose (7,) that rotates about z only."""
    return 2.0 * float(np.arctan2(step[6], step[3]))


def _move_position(
    values: Floats, indices: dict[str, int], part: str, step: Floats
) -> None:
    """Move the position of a part by a pose."""
    x = indices.get(f"{part}_x")
    y = indices.get(f"{part}_y")
    # x and y rotate together; z stays.
    if x is not None and y is not None:
        points = np.column_stack([values[:, x], values[:, y], np.zeros(len(values))])
        values[:, [x, y]] = poses.transform_points(step, points)[:, :2]
        return
    for axis, column in enumerate((x, y)):
        if column is None:
            continue
        # A rotation would need the other coordinate.
        if abs(_yaw_of(step)) > SAME:
            raise WrongUseError(
                f"the first animation rotates, and {part} has a column for only one of "
                "x and y"
            )
        values[:, column] += step[axis]


def _rotate(values: Floats, indices: dict[str, int], part: str, step: Floats) -> None:
    """Rotate the orientation of a part by the yaw of a pose."""
    quaternion = [
        indices[name] for name in GROUPS[f"{part}_quat_wxyz"] if name in indices
    ]
    yaw = _yaw_of(step)
    # The quaternion of the step from the left: a rotation in the animation frame.
    if len(quaternion) == 4:
        rotated = rotations.multiply(step[3:], values[:, quaternion])
        values[:, quaternion] = rotated
    elif f"{part}_yaw" in indices:
        values[:, indices[f"{part}_yaw"]] += yaw
    elif abs(yaw) > SAME and any(name.startswith(f"{part}_") for name in indices):
        raise WrongUseError(
            f"the first animation rotates, and {part} has no column for its yaw"
        )


def _rebuilt(
    animation: Animation, values: Floats, times: Floats, origin: Indices
) -> Animation:
    """Return an animation with other keyframes.

    `origin` (N,) are the old ones, −1 for new ones.
    """
    old = animation.keyframes
    source = animation.source
    zeros = None
    if old.exact_zeros is not None:
        # New keyframes count as written 0, as in canonical texts.
        zeros = np.where((origin >= 0)[:, None], old.exact_zeros[origin], True)
    frames = Keyframes(
        columns=old.columns,
        values=values,
        times=times,
        header=old.header,
        exact_zeros=zeros,
    )
    # Comments follow their keyframes to the new times; those of others are lost.
    comments = source.options.get("comments")
    options = source.options
    if isinstance(comments, Comments):
        new = {
            float(old.times[k]): float(t)
            for k, t in zip(origin, times, strict=True)
            if k >= 0
        }
        rows = {
            new[time]: lines for time, lines in comments.rows.items() if time in new
        }
        options = {**options, "comments": replace(comments, rows=rows)}
    return replace(
        animation,
        keyframes=frames,
        problems=(),
        source=replace(source, options=options, locations=SourceMap()),
    )
