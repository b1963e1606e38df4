"""Foot contacts that a motion records: which feet are in stance, and how far a foot or the hand is from its target."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body
from bodymotion.motion import JOINT_DISPLACEMENT, Motion, MultiValueSeq
from bodymotion.motion.components import Timeline

HAND = "hand"
REACH_TOLERANCE = 1e-3
"""[m] A foot that is no farther from its target reaches it."""


@dataclass(frozen=True, eq=False)
class FootContacts:
    """The feet over T frames.

    Attributes
    ----------
    names, links:
        The names of the K feet and the indices of their links. The last may be the hand, which is never in stance.
    stance:
        (T, K) whether a foot is in stance.
    reach_errors:
        (T, K) distance [m] from a foot to its target.
    """

    names: tuple[str, ...]
    links: tuple[int, ...]
    stance: npt.NDArray[np.bool_]
    reach_errors: Floats

    @property
    def out_of_reach(self) -> npt.NDArray[np.bool_]:
        """Whether feet (T, K) do not reach their targets."""
        return np.asarray(self.reach_errors > REACH_TOLERANCE)

    def describe(self, frame: int) -> str:
        """Return which feet do not reach their targets at a frame; empty where all do."""
        return ", ".join(
            f"{'the hand' if name == HAND else f'foot {name}'} is {1e3 * distance:.0f} mm short"
            for name, distance in zip(self.names, self.reach_errors[frame], strict=True)
            if distance > REACH_TOLERANCE
        )


def contacts_of(body: Body, motion: Motion, timeline: Timeline) -> FootContacts | None:
    """Return the contacts of a motion at the frames of a timeline, or None where it has none for feet of the body.

    They are those of the component FootContact; the foot `fl` is the link `fl_foot`, or `fl`.
    """
    if all(one.content == JOINT_DISPLACEMENT or not isinstance(one, MultiValueSeq) for one in motion.timed):
        return None
    from bodymotion.spot.playback.dimensions import LEGS
    from bodymotion.spot.playback.recording import FOOT_CONTACT, REACH_ERROR

    contact = _component(motion, FOOT_CONTACT)
    if contact is None:
        return None
    labels = contact.part_labels if any(contact.part_labels) else LEGS
    index = {link.name: link.index for link in body.links}
    names = tuple(labels[: contact.num_parts])
    links = tuple(index.get(f"{name}_foot", index.get(name, -1)) for name in names)
    if len(names) != contact.num_parts or -1 in links or not links:
        return None
    stance = _values_at(contact, timeline) > 0.5
    reach_errors = np.zeros(stance.shape)
    recorded = _component(motion, REACH_ERROR)
    if recorded is not None:
        values = np.clip(np.nan_to_num(_values_at(recorded, timeline)), 0.0, 1e5)
        for column, name in enumerate(recorded.part_labels[: recorded.num_parts]):
            if name in names:
                reach_errors[:, names.index(name)] = values[:, column]
            elif name == HAND and HAND in index:
                names, links = (*names, HAND), (*links, index[HAND])
                stance = np.hstack([stance, np.zeros((len(stance), 1), dtype=bool)])
                reach_errors = np.hstack([reach_errors, values[:, column : column + 1]])
    return FootContacts(names, links, stance, reach_errors)


def _component(motion: Motion, content: str) -> MultiValueSeq | None:
    found = [c for c in motion.timed if isinstance(c, MultiValueSeq) and c.content == content and c.num_frames]
    return found[-1] if found else None


def _values_at(component: MultiValueSeq, timeline: Timeline) -> Floats:
    if component.timeline == timeline:
        return component.values
    return np.asarray(component.values[component.timeline.frames_at(timeline.times)])
