"""The widgets of a script, which its extension makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from bodymotion.extensions import kind_of
from bodymotion.scene.playback import Playback

if TYPE_CHECKING:
    from bodymotion.viewer.app import Viewer


class ScriptPanel(Protocol):
    """The widgets of a script; `update` shows it as played with other settings."""

    def update(self, playback: Playback) -> None:
        """Show the same script, played with other settings."""


def script_panel(viewer: Viewer, playback: Playback) -> ScriptPanel | None:
    """Add the widgets of a script; None where its kind has none."""
    kind = kind_of(playback.script)
    make = None if kind is None else kind.function("panel")
    if make is None:
        return None
    panel: ScriptPanel = make(viewer, playback)
    return panel
