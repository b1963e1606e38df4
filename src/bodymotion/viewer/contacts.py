"""Feet in stance and in swing: which they are, and how they are marked in the scene.

Blue and orange are told apart by people who confuse red and green; and without any colour: a foot in stance has a disc on the floor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body
from bodymotion.motion import Motion, MultiValueSeq
from bodymotion.motion.timeline import Timeline
from bodymotion.spot.playback import FOOT_CONTACT, REACH_ERROR
from bodymotion.spot.playback.dimensions import LEGS

if TYPE_CHECKING:
    import viser

    from bodymotion.viewer.scene import Scene

__all__ = ["HAND", "MISSED", "STANCE", "SWING", "ContactMarks", "Contacts", "contacts_of"]

STANCE, SWING, MISSED = (0, 104, 192), (245, 145, 20), (200, 0, 140)
"""The colours of a foot in stance, of one in swing, and of what stays short of where it is to be."""
HAND = "hand"
SHORT = 1e-3
"""[m] What stays no farther from its goal is there."""
SMALLEST_CHANGE = 1e-5


@dataclass(frozen=True, eq=False)
class Contacts:
    """Feet over T frames.

    Attributes
    ----------
    names, links:
        What the K feet are called, and the links that they are. The hand may be the last of them: it is never in stance.
    stance:
        (T, K) whether a foot is in stance.
    missed:
        (T, K) how far [m] it stays from where it is to be.
    """

    names: tuple[str, ...]
    links: tuple[int, ...]
    stance: npt.NDArray[np.bool_]
    missed: Floats

    @property
    def short(self) -> npt.NDArray[np.bool_]:
        """Whether feet (T, K) stay clearly away from where they are to be."""
        return np.asarray(self.missed > SHORT)

    def in_words(self, frame: int) -> str:
        """Say which feet stay short at a frame; nothing where all are where they are to be."""
        said = [
            f"{'the hand' if name == HAND else f'foot {name}'} is {1e3 * miss:.0f} mm short"
            for name, miss in zip(self.names, self.missed[frame], strict=True)
            if miss > SHORT
        ]
        return ", ".join(said)


def contacts_of(body: Body, motion: Motion, timeline: Timeline) -> Contacts | None:
    """Return the contacts of a motion at the frames of a timeline, or None where it has none for feet of the body.

    They are those of the component FootContact; the foot of `fl` is the link `fl_foot`, or `fl`.
    """
    contact = _component(motion, FOOT_CONTACT)
    if contact is None:
        return None
    labels = contact.part_labels if any(contact.part_labels) else LEGS
    index = {link.name: link.index for link in body.links}
    names = tuple(labels[: contact.num_parts])
    links = tuple(index.get(f"{name}_foot", index.get(name, -1)) for name in names)
    if len(names) != contact.num_parts or -1 in links or not links:
        return None
    stance = _at(contact, timeline) > 0.5
    missed = np.zeros(stance.shape)
    errors = _component(motion, REACH_ERROR)
    if errors is not None:
        values = np.clip(np.nan_to_num(_at(errors, timeline)), 0.0, 1e5)
        for column, name in enumerate(errors.part_labels[: errors.num_parts]):
            if name in names:
                missed[:, names.index(name)] = values[:, column]
            elif name == HAND and HAND in index:
                names, links = (*names, HAND), (*links, index[HAND])
                stance = np.hstack([stance, np.zeros((len(stance), 1), dtype=bool)])
                missed = np.hstack([missed, values[:, column : column + 1]])
    return Contacts(names, links, stance, missed)


def _component(motion: Motion, content: str) -> MultiValueSeq | None:
    found = [c for c in motion.timed if isinstance(c, MultiValueSeq) and c.content == content and c.num_frames]
    return found[-1] if found else None


def _at(component: MultiValueSeq, timeline: Timeline) -> Floats:
    if component.timeline == timeline:
        return component.values
    return np.asarray(component.values[component.timeline.frames_at(timeline.times)])


class ContactMarks:
    """A ball around each foot, of one colour in stance, of another in swing; and a disc on the floor below one in stance."""

    def __init__(self, scene: Scene, contacts: Contacts) -> None:
        self._on = True
        api = scene.server.scene
        self._links = contacts.links
        points = scene.take.footprint
        self._balls: list[dict[str, viser.SceneNodeHandle]] = []
        self._discs: list[viser.SceneNodeHandle | None] = []
        for name, link in zip(contacts.names, contacts.links, strict=True):
            own = points.points[points.links == link]
            radius = 1.05 * float(np.linalg.norm(own, axis=1).max()) if len(own) else 0.02 * scene.size
            kinds = {"short": MISSED} if name == HAND else {"stance": STANCE, "swing": SWING, "short": MISSED}
            self._balls.append(
                {
                    kind: api.add_icosphere(
                        f"{scene.names[link]}/foot {kind}",
                        radius=radius * (1.15 if kind == "short" else 1.0),
                        color=color,
                        visible=False,
                        receive_shadow=False,
                    )
                    for kind, color in kinds.items()
                }
            )
            disc = api.add_cylinder(
                f"/world/contact {link}",
                radius=1.9 * radius,
                height=0.1 * radius,
                color=STANCE,
                opacity=0.6,
                cast_shadow=False,
                receive_shadow=False,
                visible=False,
                wxyz=(1.0, 0.0, 0.0, 0.0),
            )
            self._discs.append(None if name == HAND else disc)
            if name == HAND:
                disc.remove()
        self._shown: list[str | None] = [None] * len(self._links)
        self._standing = [False] * len(self._links)
        self._places = np.full((len(self._links), 2), np.nan)

    def show(self, on: bool) -> None:
        """Show or hide all of it, from the next `place` on."""
        self._on = on

    def place(self, link_poses: Floats, stance: npt.NDArray[np.bool_] | None, short: npt.NDArray[np.bool_]) -> None:
        """Mark the feet of link poses (L, 7): in `stance` (K,), and `short` (K,) of their goals; None marks none."""
        hidden = stance is None or not self._on
        for k, link in enumerate(self._links):
            on_floor = not hidden and stance is not None and bool(stance[k])
            kind = None if hidden else "short" if short[k] else "stance" if on_floor else "swing"
            if kind != self._shown[k]:
                for name, ball in self._balls[k].items():
                    if name in (kind, self._shown[k]):
                        ball.visible = name == kind
                self._shown[k] = kind
            disc = self._discs[k]
            if disc is None:
                continue
            place = link_poses[link, :2]
            if on_floor and not np.abs(place - self._places[k]).max() <= SMALLEST_CHANGE:
                disc.position = np.array([*place, 0.0])
                self._places[k] = place
            if on_floor != self._standing[k]:
                disc.visible = self._standing[k] = on_floor

    def remove(self) -> None:
        """Take away what does not hang on the robot."""
        for disc in self._discs:
            if disc is not None:
                disc.remove()
