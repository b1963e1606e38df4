"""A Spot animation, played anew as somebody wishes: at another tempo, for another length, with other parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from bodymotion.viewer.animation_panel import with_wish
from bodymotion.viewer.performance import Wishes
from bodymotion.viewer.take import Take, make_take

if TYPE_CHECKING:
    from bodymotion.viewer.app import Viewer

__all__ = ["Performing"]


class Performing:
    """The wishes that a viewer's panel has; of several the last ones count. Its methods are called by the viewer's thread.

    `post` has work done after what waits already; `show` shows another take of the same body, at a time [s].
    """

    def __init__(
        self, viewer: Viewer, post: Callable[[Callable[[], object]], None], show: Callable[[Take, float], None]
    ) -> None:
        self._viewer = viewer
        self._post = post
        self._show = show
        self._wished: Wishes | None = None
        self._refused = False

    def wish(self, key: str, value: float) -> None:
        """Play the animation with another value of what `animation_panel.with_wish` knows."""
        performance = self._viewer.take.performance
        if performance is not None:
            self._wished = with_wish(self._wished or performance.wishes, key, value)
            self._post(self._fulfil)

    def forget(self) -> None:
        """Wish nothing any more."""
        self._wished = None

    def _fulfil(self) -> None:
        wishes, self._wished = self._wished, None
        performance = self._viewer.take.performance
        if wishes is None or performance is None:
            return
        try:
            self.perform(wishes.within(performance.animation))
        except (ValueError, MemoryError) as error:
            self._viewer.panel.say(f"It cannot be played so: {error}", bad=True)
            self._refused = True

    def perform(self, wishes: Wishes) -> None:
        """Play it so, and stay at the slice that is shown; ValueError when no animation is shown or it cannot be played so."""
        take = self._viewer.take
        performance = take.performance
        if performance is None:
            raise ValueError("no animation is shown")
        again = performance.again(wishes)
        time = self._viewer.player.time * again.timing.slice / performance.timing.slice
        self._show(make_take(take.body, again.motion, again), time)
        if self._refused:
            self._viewer.panel.say("")
            self._refused = False

    def time_of(self, keyframe: int) -> float | None:
        """Return the time [s] at which a keyframe is shown; None where it is not."""
        performance = self._viewer.take.performance
        return None if performance is None else performance.time_of(keyframe)
