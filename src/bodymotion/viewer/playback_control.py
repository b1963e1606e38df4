"""Plays the shown script again with the settings that a user chooses."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from bodymotion.extensions import kind_of
from bodymotion.scene.playback import PlaybackSettings
from bodymotion.scene.scene import Scene, make_scene

if TYPE_CHECKING:
    from bodymotion.viewer.app import Viewer


class PlaybackControl:
    """Plays the shown script with the settings of the panel.

    All methods are called in the viewer's thread. `show` shows another scene of the
    same body, at a time [s].
    """

    def __init__(self, viewer: Viewer, show: Callable[[Scene, float], None]) -> None:
        self._viewer = viewer
        self._show = show
        self._pending: PlaybackSettings | None = None
        self._failed = False

    def change_setting(self, name: str, value: float) -> None:
        """Play the script with another value, see `PlaybackSettings.changed`.

        Changes that wait are applied together.
        """
        playback = self._viewer.scene.playback
        if playback is not None:
            self._pending = (self._pending or playback.settings).changed(name, value)
            self._viewer.post(self._apply_pending)

    def forget(self) -> None:
        """Drop changes that wait."""
        self._pending = None

    def _apply_pending(self) -> None:
        settings = self._pending
        self._pending = None
        playback = self._viewer.scene.playback
        if settings is None or playback is None:
            return
        try:
            self.replay(playback.allowed(settings))
        except (ValueError, MemoryError) as error:
            kind = kind_of(playback.script)
            noun = "script" if kind is None else kind.noun
            message = f"The {noun} cannot be played with these settings: {error}"
            self._viewer.panel.show_message(message, bad=True)
            self._failed = True

    def replay(self, settings: PlaybackSettings) -> None:
        """Play the script at the current slice.

        ValueError when none is shown or it cannot be played so.
        """
        scene = self._viewer.scene
        if scene.playback is None:
            raise ValueError("nothing is shown that is played with settings")
        playback = scene.playback.with_settings(settings)
        stretch = playback.slice / scene.playback.slice
        time = self._viewer.player.time * stretch
        self._show(make_scene(scene.body, playback.motion, playback), time)
        if self._failed:
            self._viewer.panel.show_message("")
            self._failed = False
