"""A source and the robot that it was made a motion of, side by side: one body with the links of both, and its motion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bodymotion.dynamics import measure
from bodymotion.model.body import Body
from bodymotion.model.links import Joint
from bodymotion.motion import Motion, MultiSE3Seq, Timeline
from bodymotion.motion.components import LINK_POSITION
from bodymotion.motion.interpolation import sampled
from bodymotion.skeleton import Skeleton

APART = 0.4
"""Of the sum of their heights: how far they are apart at the first frame."""


def side_by_side(
    source: Skeleton | Motion, body: Body, motion: Motion, *, source_body: Body | None = None
) -> tuple[Body, Motion]:
    """Return a body with the links of a source and of a robot, and its motion: `bm.view(*bm.side_by_side(person, robot, motion))`.

    The source begins at the left of the robot; both keep their own paths and heights. A motion needs its `source_body`.

    Raises
    ------
    ValueError
        When a motion does not fit its body, or the source is a motion without a body.
    """
    if isinstance(source, Skeleton):
        person, moved = source.body_and_motion()
    elif source_body is None:
        raise ValueError("the source is a motion: showing it needs the body that it belongs to")
    else:
        person, moved = source_body, source
    found = measure(body, motion)
    other = measure(person, moved)
    shown = np.array(sampled(other.link_poses, other.times, found.times))
    tall = float(np.ptp(found.link_poses[0, :, 2]) + np.ptp(shown[0, :, 2]))
    place = found.link_poses[0, :, :2].mean(axis=0) - shown[0, :, :2].mean(axis=0)
    shown[..., :2] += place
    shown[..., 1] += APART * tall
    placed = np.concatenate([shown, found.link_poses], axis=1)
    links = [
        replace(
            link,
            index=k,
            parent=-1 if k == 0 else 0,
            name=f"source {link.name}" if k < len(person.links) else link.name,
            offset=placed[0, k] if k else link.offset,
            joint=Joint(name=f"{k}", type="fixed"),
        )
        for k, link in enumerate((*person.links, *body.links))
    ]
    both = Body(name=f"source and {body.name or 'robot'}", links=tuple(links), environment=body.environment)
    timeline = Timeline(num_frames=len(found.times), stamps=found.times)
    return both, Motion(components=(MultiSE3Seq(content=LINK_POSITION, timeline=timeline, values=placed),))
