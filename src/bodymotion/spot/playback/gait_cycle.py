"""Rules of the document on a custom gait cycle without contacts, checked on the contacts that playback infers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bodymotion.diagnostics import Diagnostics, Problem
from bodymotion.formats.cha.head_checks import Checked
from bodymotion.formats.cha.keyframe_checks import check_swings
from bodymotion.spot.playback.dimensions import LEGS
from bodymotion.spot.playback.playing import contacts_at_keyframes

if TYPE_CHECKING:
    from bodymotion.animation import Animation


def check_gait_cycle(animation: Animation) -> tuple[Problem, ...]:
    """Return the problems of a custom gait cycle at feet without contacts; the rules of the format check feet that have them.

    Raises
    ------
    ValueError
        When the animation cannot be played.
    """
    frames = animation.keyframes
    missing = [leg for leg in LEGS if not frames.has(f"{leg}_contact")]
    legs_controlled = not animation.controls or "legs" in animation.controls
    if "custom_gait_cycle" not in animation.options or not missing or not legs_controlled:
        return ()
    source = animation.source
    found = Diagnostics(None if source.path is None else str(source.path))
    checked = Checked(animation, found, source.locations if source.locations else None)
    contacts = contacts_at_keyframes(animation)
    for k, leg in enumerate(LEGS):
        # Contacts are inferred from the columns of the leg, so a fault is located at the first of them.
        column = next((name for name in frames.columns if name.startswith(f"{leg}_")), None)
        if leg in missing and column is not None:
            check_swings(checked, leg, column, contacts[:, k], ", as inferred from its motion")
    return found.problems
