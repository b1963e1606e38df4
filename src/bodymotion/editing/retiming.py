"""Change the speed or the length of a motion, or reverse it.

Or slow it down until joints are within their speed limits.
"""

from dataclasses import replace

import numpy as np

from bodymotion.diagnostics import Problem
from bodymotion.editing.rules import unknown_components
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body
from bodymotion.motion import Component, Motion
from bodymotion.motion.components import ON_FRAME, TimedComponent, Timeline
from bodymotion.motion.interpolation import Method
from bodymotion.motion.interpolation.lowpass import smooth_bound


def change_speed(
    motion: Motion,
    factor: float,
    method: Method = "linear",
    *,
    keep_rate: bool = True,
    antialias: bool = False,
    unwrap: bool = False,
) -> Motion:
    """Return the motion `factor` times as fast.

    2 takes half the time, 0.5 twice the time.

    Forces and torques do not change, so they are not those of the faster motion.

    Parameters
    ----------
    method, antialias, unwrap:
        The interpolation between frames: as for `Motion.resample`.
    keep_rate:
        Whether frame rates stay and values are interpolated. If not, all frames stay
        and rates are multiplied by `factor`, without loss. Time stamps are always
        divided by it.
    """
    if not 0 < factor < np.inf:
        raise ValueError(f"speed {factor}, expected a positive, finite number")
    problems: list[Problem] = (
        list(unknown_components(motion, "made faster or slower")) if factor != 1 else []
    )

    def changed(component: TimedComponent) -> Component:
        """Return a component at the new speed."""
        timeline = component.timeline
        if timeline.stamps is not None:
            return replace(
                component,
                timeline=Timeline.stamped(
                    timeline.stamps / factor, timeline.import_rate
                ),
            )
        assert timeline.frame_rate is not None
        # The same frames at `factor` times the rate take 1/`factor` of the time.
        # Resampling then restores the rate.
        stretched = Timeline.uniform(timeline.num_frames, timeline.frame_rate * factor)
        alone = Motion((replace(component, timeline=stretched),))
        if keep_rate and factor != 1:
            alone = alone.resample(
                timeline.frame_rate, method, antialias=antialias, unwrap=unwrap
            )
        problems.extend(alone.problems)
        return alone.components[0]

    return motion.mapped(changed, problems)


def change_length(motion: Motion, seconds: float, method: Method = "linear") -> Motion:
    """Return the motion faster or slower so that it has a length of `seconds`.

    At the same frame rate.

    See `change_speed`.

    Raises
    ------
    ValueError
        When the motion takes no time, its components do not share a timeline, or
        `seconds` is not positive and finite.
    """
    if not (0 < seconds < np.inf and motion.duration > 0):
        message = (
            f"a motion of {motion.duration:g} s cannot be made to take {seconds:g} s, "
            "expected more than 0"
        )
        raise ValueError(message)
    return change_speed(motion, motion.duration / seconds, method)


def within_limits(motion: Motion, body: Body, ease: float = 0.2) -> Motion:
    """Return the motion slower where joints are faster than their limits.

    Elsewhere its speed stays.

    Time is stretched, so that all paths stay as they are; components are interpolated
    linearly at their frame rates. Where the stretching begins and ends, it grows and
    falls over `ease` [s].

    Raises
    ------
    ValueError
        When the motion has no joint displacements at a fixed rate, or a joint that
        moves has a speed limit of 0.
    """
    joints = motion.joint_displacement
    if joints is None or joints.timeline.frame_rate is None:
        raise ValueError(
            "slowing down needs joint displacements with a frame rate; use "
            "Motion.resample() or `retime --rate` first"
        )
    rate = joints.timeline.frame_rate
    # (T − 1, J) Between frames, as interpolation moves the joints.
    speeds = np.diff(body.joint_values(joints), axis=0) * rate
    shares = speed_shares(body, speeds)
    # (T − 1,) How many times as long each step must take; never less than 1.
    needed = shares.max(axis=1, initial=1.0)
    if not np.isfinite(needed).all():
        raise ValueError(
            f"{body.joints[int(np.argmax(shares.max(axis=0)))].name} moves, and its "
            "speed limit is 0"
        )
    if (needed <= 1).all():
        return motion
    # Around slow parts the factor grows and falls smoothly, and is nowhere below what
    # the limits need.
    needed = np.maximum(
        smooth_bound(needed, round(min(max(0.0, ease * rate), len(needed)))), needed
    )
    times = joints.timeline.times
    # (T,) The new time of each frame, first in old frames.
    later = np.concatenate([[0.0], np.cumsum(needed)])
    # The last pose would be lost between two frames of the fixed rate. So all is slowed
    # down by a bit more, until it is on a frame.
    later *= np.ceil(later[-1]) / later[-1] / rate  # ends at a frame
    return stretched(motion, times, later)


def speed_shares(body: Body, speeds: Floats) -> Floats:
    """Return the shares (T, J) of joint speeds [rad/s or m/s] in their limits.

    Above 1 beyond, inf for a limit of 0, 0 without numbers.
    """
    # (J, 2) The sizes of the limits in negative and in positive direction.
    limits = np.array(
        [
            [max(-joint.velocity_lower, 0.0), max(joint.velocity_upper, 0.0)]
            for joint in body.joints
        ]
    )
    # A limit of 0 gives inf, and a gap NaN; a joint that stands has a share of 0 also
    # where its limit is 0.
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(
            speeds == 0,
            0.0,
            np.abs(speeds) / np.where(speeds < 0, *limits.T.reshape(2, 1, -1)),
        )
    return np.nan_to_num(shares, nan=0.0, posinf=np.inf)


def stretched(
    motion: Motion, times: Floats, later: Floats, method: Method = "linear"
) -> Motion:
    """Return the motion with what is at `times` (T,) [s] at `later` ones (T,) [s].

    Before and after these the speed stays.

    Components with a frame rate keep it: they are interpolated by `method`.
    """
    problems = list(unknown_components(motion, "slowed down"))

    def changed(component: TimedComponent) -> Component:
        """Return a component with stretched times."""
        own = component.timeline
        # [s] How far times are outside the stretched ones: `np.interp` would hold
        # there.
        beyond = own.times - np.clip(own.times, times[0], times[-1])
        stamps = np.interp(own.times, times, later) + beyond
        alone = Motion(
            (replace(component, timeline=Timeline.stamped(stamps, own.import_rate)),)
        )
        if own.stamps is None:
            alone = alone.resample(own.frame_rate, method)
            problems.extend(alone.problems)
        return alone.components[0]

    return motion.mapped(changed, problems)


def reverse(motion: Motion) -> Motion:
    """Return the motion backwards: its last frame becomes the first.

    Raises
    ------
    ValueError
        When a component with a fixed rate is shorter than the motion, so that backwards
        it would begin late.
    """
    # Time t becomes begin + end − t, for all components alike.
    lasting = [c.timeline for c in motion.timed if c.num_frames]
    begin = min((float(t.times[0]) for t in lasting), default=0.0)
    end = max((float(t.times[-1]) for t in lasting), default=0.0)

    def reversed_one(component: TimedComponent) -> Component:
        """Return a component backwards."""
        timeline = component.timeline
        if timeline.stamps is not None:
            timeline = Timeline.stamped(
                begin + end - timeline.stamps[::-1], timeline.import_rate
            )
        # Frames at a fixed rate begin at 0. A component that ends early would have to
        # begin late, which it cannot; half a frame is within rounding.
        elif component.num_frames and (
            begin < -ON_FRAME
            or end - timeline.duration > 0.5 / (timeline.frame_rate or 1)
        ):
            raise ValueError(
                f"{component.content} runs from 0 s to {timeline.duration:g} s, the "
                f"motion from {begin:g} s to {end:g} s: "
                "use Motion.on_common_timeline() or `retime --common` first"
            )
        return replace(component, timeline=timeline, values=component.values[::-1])

    return motion.mapped(reversed_one, unknown_components(motion, "reversed"))
