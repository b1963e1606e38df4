"""JavaScript for browsers: keys of the live viewer, clicks in plots, and keys and messages of a page without a server."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import viser

    from bodymotion.geometry.arrays import Floats

__all__ = ["KEYS", "PLOT_CLICKS", "add_keys", "page_script", "run_in_browsers"]

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
    run_in_browsers(server, KEY_EVENTS)


def run_in_browsers(server: viser.ViserServer, script: str) -> None:
    """Run a script in all browsers, also in those that connect later, where this version of viser can do that."""
    with suppress(
        ImportError, AttributeError
    ):  # a private part of viser; without it the arrow keys also rotate the camera
        from viser import _messages

        server.gui._websock_interface.queue_message(_messages.RunJavascriptMessage(source=script))


KEY_EVENTS = """
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
"""Keeps the arrow keys for the frames; viser would rotate its camera with them.

A button or tab that was clicked keeps the focus and would handle space and arrows itself: they are passed on. A slider keeps the arrows,
Home and End.
"""

PLOT_CLICKS = """
if (!window.bodymotionPlots) {
  window.bodymotionPlots = true;
  const sliderMoved = () => {
    for (const slider of document.querySelectorAll("[role=slider]")) {
      let fiber = slider[Object.keys(slider).find((key) => key.startsWith("__reactFiber$"))], change = null;
      for (; fiber; fiber = fiber.return) {
        const props = fiber.memoizedProps;
        if (!change && props?.onChange && "max" in props) change = props.onChange;
        if (props?.props?.label === "Frame") return change;
      }
    }
    return null;
  };
  const go = (event) => {
    const plot = event.target instanceof Element ? event.target.closest(".bodymotion-plot") : null;
    const svg = plot?.querySelector("svg");
    if (!svg) return;
    const frames = JSON.parse(plot.dataset.frames), box = svg.getBoundingClientRect();
    const share = Math.min(Math.max((event.clientX - box.left) / Math.max(box.width, 1), 0), 1);
    sliderMoved()?.(frames[Math.round(share * (frames.length - 1))]);
    event.preventDefault();
  };
  document.addEventListener("pointerdown", (event) => { if (event.button === 0) go(event); });
  document.addEventListener("pointermove", (event) => { if (event.buttons === 1) go(event); });
}
"""
"""Moves the slider of frames when a plot is clicked, or the pointer is dragged across it."""


def page_script(times: Floats, start: float, *, play: bool = True) -> str:
    """Return the script of a page whose motion begins at `start` [s], with a frame at each of the times (N,) [s] after that.

    Without `play` it shows its first frame; viser's player begins to play by itself.
    """
    first = "[]" if play else '[{ bodymotion: "seek", time: firstTime }]'
    listed = ",".join(f"{time:.12g}" for time in times)
    return f"const frameTimes = [{listed}], firstTime = {start!r}, firstMessages = {first};{PAGE_EVENTS}"


PAGE_EVENTS = """
(() => {
  const lastFrame = frameTimes.length - 1, end = frameTimes[lastFrame];
  const frameAt = (t) => Math.max(frameTimes.findLastIndex((time) => time <= t + 3e-4), 0);
  const bar = () => [...document.querySelectorAll("[role=slider]")].at(-1)?.closest(".mantine-Paper-root");
  const field = () => bar()?.querySelector("input.mantine-NumberInput-input");
  const now = () => parseFloat(bar().querySelector("[role=slider]").getAttribute("aria-valuenow"));
  const button = () => bar().querySelector("button");
  const playing = () => button().querySelector(".tabler-icon-player-pause-filled") !== null;
  const sliderMoved = () => {
    const slider = bar().querySelector("[role=slider]");
    let fiber = slider[Object.keys(slider).find((key) => key.startsWith("__reactFiber$"))];
    while (fiber && !(fiber.memoizedProps?.onChange && "max" in fiber.memoizedProps)) fiber = fiber.return;
    return fiber.memoizedProps.onChange;
  };
  // React renders at once what a click changes, and later what a timer changes: the next key would find the old time.
  const atOnce = (change) => {
    const element = document.createElement("i");
    element.addEventListener("click", change);
    element.click();
  };
  const within = (t) => Math.min(Math.max(0, t), end);
  const seek = (t) => {
    // Moving the slider pauses, too, but playback would continue for one tick: not before the pause is rendered.
    if (playing()) button().click();
    queueMicrotask(() => atOnce(() => sliderMoved()(within(t))));
  };

  document.documentElement.addEventListener("keydown", (event) => {
    if (!field() || (event.target instanceof HTMLInputElement && event.target !== field())) return;
    const steps = { ArrowLeft: -1, ArrowRight: 1 };
    if (event.key in steps) {
      event.stopPropagation();
      const time = now(), step = steps[event.key], next = frameAt(time) + step;
      const far = event.shiftKey ? frameAt(time + 0.1 * step) : next;
      seek(frameTimes[Math.min(Math.max(step > 0 ? Math.max(far, next) : Math.min(far, next), 0), lastFrame)]);
    } else if (event.key === "Home") seek(0);
    else if (event.key === "End") seek(end);
  });
  document.documentElement.addEventListener("input", (event) => {
    const t = event.target === field() ? parseFloat(event.target.value) : 0;
    if (t < 0 || t > end + 1e-3) {
      event.stopPropagation();
      seek(t);
      event.target.value = within(t).toFixed(1);  // React changes the field only where another digit is shown
    }
  }, true);
  // When it loses the focus, the field would go to the time that it shows, rounded to one digit.
  document.documentElement.addEventListener("focusout", (event) => {
    if (event.target === field()) event.stopPropagation();
  }, true);

  // The notice that this browser draws without a graphics card would cover the robot in small frames.
  const hideNotices = () => document.querySelectorAll(".mantine-Notification-root").forEach((notice) => {
    if (notice.textContent.includes("Software WebGL")) notice.style.display = "none";
  });
  new MutationObserver(hideNotices).observe(document.body, { subtree: true, childList: true });
  hideNotices();

  if (lastFrame < 1) return;
  let ready = false, waiting = firstMessages, sent = "";
  const post = (message) => { if (window.parent !== window) window.parent.postMessage(message, "*"); };
  const run = ({ bodymotion, time }) => {
    if (bodymotion === "seek" && Number.isFinite(time)) seek(time - firstTime);
    if (bodymotion === (playing() ? "pause" : "play")) button().click();
  };
  window.addEventListener("message", (event) => {
    if (event.source !== window.parent || event.source === window || typeof event.data?.bodymotion !== "string") return;
    if (ready) run(event.data);
    else waiting.push(event.data);
  });
  const report = () => {
    const time = Math.min(now(), end) + firstTime;
    const text = `${time} ${playing()}`;
    if (text === sent) return;
    sent = text;
    document.getElementById("bodymotion-time").textContent = `${time.toFixed(3)} s of `;
    post({ bodymotion: "time", time, playing: playing() });
  };
  const begin = setInterval(() => {
    if (!bar() || !field()) return;
    clearInterval(begin);
    ready = true;
    new MutationObserver(report).observe(bar(), { subtree: true, childList: true, attributeFilter: ["aria-valuenow"] });
    post({ bodymotion: "ready", start: firstTime, end: firstTime + end });
    waiting.forEach(run);
    waiting = [];
    report();
  }, 50);
})();
"""
"""Keys and messages beside viser's player, which has no interface for scripts.

Its time is read from its slider, and set by calling the slider's handler, which React keeps with the element. Typing into its number field
would sometimes round to the one digit that is shown.
"""
