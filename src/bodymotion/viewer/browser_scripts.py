"""The keys of the live viewer, and the scripts in the files of this package that browsers run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import viser

    from bodymotion.geometry.arrays import Floats

KEYS: tuple[tuple[str, str | None, str, str], ...] = (
    ("space", None, "toggle", "Play or pause"),
    ("arrowright", None, "next", "One frame forward"),
    ("arrowleft", None, "back", "One frame back"),
    ("arrowright", "shift", "far_next", "0.1 s forward"),
    ("arrowleft", "shift", "far_back", "0.1 s back"),
    ("home", None, "first", "First frame"),
    ("end", None, "last", "Last frame"),
    ("[", None, "slower", "Slower"),
    ("]", None, "faster", "Faster"),
    ("L", None, "loop", "Switch loop on or off"),
    ("F", None, "follow", "Switch camera follows root on or off"),
)
"""Key, modifier, action (see `player.run_action`) and description."""


def add_keys(server: viser.ViserServer, act: Callable[[str], None]) -> None:
    """Make the keys call `act` with the name of their action; they are also in viser's list of commands (Ctrl-K)."""
    command: Any = server.gui.add_command
    for key, modifier, name, description in KEYS:
        handle = command(description, hotkey=key, modifier=modifier)
        handle.on_trigger(lambda _event, name=name: act(name))


def run_live_script(server: viser.ViserServer) -> None:
    """Run the script of the live viewer in all browsers, also in those that connect later."""
    from viser import _messages

    # A private part of viser, which has no public way to run a script.
    script = _script("timeline.js") + _script("live.js")
    server.gui._websock_interface.queue_message(_messages.RunJavascriptMessage(source=script))


def page_script(times: Floats, data: Mapping[str, Any], *, play: bool = True) -> str:
    """Return the script of a page with a frame at each of the times (N,) [s] after the first, whose timeline shows `data`.

    Without `play` it shows its first frame; viser's player begins to play by itself.
    """
    # In a script of HTML, "<" could begin the end of the script.
    settings = json.dumps({"times": [round(float(time), 9) for time in times], "play": play, "data": data}).replace(
        "<", "\\u003c"
    )
    return f"window.bodymotionPage = {settings};\n{_script('timeline.js')}{_script('page.js')}"


def _script(name: str) -> str:
    return files("bodymotion.viewer").joinpath(name).read_text(encoding="utf-8")
