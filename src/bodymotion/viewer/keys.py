"""The keys of the viewer, the same ones in the live viewer and in the page.

viser turns its camera with the arrow keys; here left and right belong to the frames, so their events are held back from it. A button or tab
that was clicked keeps the focus and would take space and arrows for itself; they are passed on. A slider keeps the arrows, Home and End.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import viser

__all__ = ["KEYS", "add_keys", "run_in_browsers"]

KEYS: tuple[tuple[str, str | None, str, str], ...] = (
    ("space", None, "toggle", "Play or pause"),
    ("arrowright", None, "next", "One frame on"),
    ("arrowleft", None, "back", "One frame back"),
    ("arrowright", "shift", "far_next", "A tenth of a second on"),
    ("arrowleft", "shift", "far_back", "A tenth of a second back"),
    ("home", None, "first", "First frame"),
    ("end", None, "last", "Last frame"),
    ("[", None, "slower", "Slower"),
    ("]", None, "faster", "Faster"),
    ("L", None, "loop", "Loop on or off"),
    ("F", None, "follow", "Camera follows the root, or not"),
)
"""Key, modifier, what it does (a name that the viewer knows), and that in words."""

HOLD_BACK = """
if (!window.bodymotionKeys) {
  window.bodymotionKeys = true;
  const mine = ["ArrowLeft", "ArrowRight", "Home", "End", " "];
  window.addEventListener("keydown", (event) => {
    if (!mine.includes(event.key) || event.target === document.body || !(event.target instanceof HTMLElement)) return;
    const role = event.target.getAttribute("role");
    const button = event.target instanceof HTMLButtonElement && role !== "combobox" && role !== "option";
    if (!button && role !== "tab") return;
    event.stopImmediatePropagation();
    event.preventDefault();
    event.target.blur();
    document.body.dispatchEvent(new KeyboardEvent("keydown", {
      key: event.key, code: event.code, shiftKey: event.shiftKey, ctrlKey: event.ctrlKey, altKey: event.altKey,
      metaKey: event.metaKey, bubbles: true, cancelable: true,
    }));
  }, true);
  document.body.addEventListener("keydown", (event) => {
    if (event.target instanceof HTMLElement && event.target.getAttribute("role") === "slider" && event.key !== " ") {
      if (mine.includes(event.key)) event.stopPropagation();
    }
  });
  document.documentElement.addEventListener("keydown", (event) => {
    if (event.key === "ArrowLeft" || event.key === "ArrowRight") event.stopPropagation();
  });
}
"""


def add_keys(server: viser.ViserServer, act: Callable[[str], None]) -> None:
    """Make the keys call `act` with the name of what they do; they also stand in viser's list of commands (Ctrl-K)."""
    command: Any = server.gui.add_command
    for key, modifier, name, words in KEYS:
        handle = command(words, hotkey=key, modifier=modifier)
        handle.on_trigger(lambda _event, name=name: act(name))
    run_in_browsers(server, HOLD_BACK)


def run_in_browsers(server: viser.ViserServer, script: str) -> None:
    """Have a script run in all browsers, also in those that come later, where this version of viser can do that."""
    with suppress(ImportError, AttributeError):  # no public part of viser; without it the arrows turn the camera, too
        from viser import _messages

        server.gui._websock_interface.queue_message(_messages.RunJavascriptMessage(source=script))
