"""Change the speed of a motion, or reverse it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bodymotion.diagnostics import Problem
from bodymotion.editing.rules import unknown_components
from bodymotion.motion import Component, Motion, OtherSeq
from bodymotion.motion.components import ON_FRAME, Timeline
from bodymotion.motion.interpolation import Method


def change_speed(
    motion: Motion,
    factor: float,
    method: Method = "linear",
    *,
    keep_rate: bool = True,
    antialias: bool = False,
    unwrap: bool = False,
) -> Motion:
    """Return the motion `factor` times as fast: 2 takes half the time, 0.5 twice the time.

    Forces and torques do not change, so they are not those of the faster motion.

    Parameters
    ----------
    method, antialias, unwrap:
        The interpolation between frames: as for `Motion.resample`.
    keep_rate:
        Whether frame rates stay and values are interpolated. If not, all frames stay and rates are multiplied by `factor`, which loses
        nothing. Time stamps are always divided by it.
    """
    if not 0 < factor < np.inf:
        raise ValueError(f"speed {factor}, expected a positive, finite number")
    components: list[Component] = []
    problems: list[Problem] = list(unknown_components(motion, "made faster or slower")) if factor != 1 else []
    for component in motion.components:
        if isinstance(component, OtherSeq):
            components.append(component)
            continue
        timeline = component.timeline
        if timeline.stamps is not None:
            stretched = Timeline.stamped(timeline.stamps / factor, timeline.import_rate)
            components.append(replace(component, timeline=stretched))
            continue
        assert timeline.frame_rate is not None
        stretched = Timeline.uniform(timeline.num_frames, timeline.frame_rate * factor)
        alone = Motion((replace(component, timeline=stretched),))
        if keep_rate and factor != 1:
            alone = alone.resample(timeline.frame_rate, method, antialias=antialias, unwrap=unwrap)
        components += alone.components
        problems += alone.problems
    return replace(motion, components=tuple(components), problems=(*motion.problems, *problems))


def reverse(motion: Motion) -> Motion:
    """Return the motion backwards: its last frame becomes the first.

    Raises
    ------
    ValueError
        When a component with a fixed rate is shorter than the motion, so that backwards it would begin late.
    """
    lasting = [c.timeline for c in motion.timed if c.num_frames]
    begin = min((float(t.times[0]) for t in lasting), default=0.0)
    end = max((float(t.times[-1]) for t in lasting), default=0.0)
    components: list[Component] = []
    for component in motion.components:
        if not isinstance(component, OtherSeq):
            timeline = component.timeline
            if timeline.stamps is not None:
                timeline = Timeline.stamped(begin + end - timeline.stamps[::-1], timeline.import_rate)
            elif component.num_frames and (
                begin < -ON_FRAME or end - timeline.duration > 0.5 / (timeline.frame_rate or 1)
            ):
                raise ValueError(
                    f"{component.content} runs from 0 s to {timeline.duration:g} s, the motion from {begin:g} s to {end:g} s: "
                    "use Motion.on_common_timeline() first"
                )
            component = replace(component, timeline=timeline, values=component.values[::-1])
        components.append(component)
    return replace(
        motion, components=tuple(components), problems=(*motion.problems, *unknown_components(motion, "reversed"))
    )
