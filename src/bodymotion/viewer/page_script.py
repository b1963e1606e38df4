"""What runs in a page beside viser's player: the keys of single pictures, and messages for pages that it is embedded in.

The player has no handle for scripts. Its time is read where its slider shows it, and set by calling what the slider calls when it is
moved, which React keeps with the slider's element. Typing into the field for the time would round now and then to the one digit that it
shows.
"""

from __future__ import annotations

__all__ = ["page_script"]


def page_script(rate: float, pictures: int, start: float, *, play: bool = True) -> str:
    """Return the script of a page with so many `pictures`, `rate` of them a second, whose motion begins at `start` [s].

    Without `play` it stands at its first picture; the player begins to play on its own.
    """
    first = "[]" if play else '[{ bodymotion: "seek", time: firstTime }]'
    return f"const pictureRate = {rate!r}, lastPicture = {pictures - 1}, firstTime = {start!r}, firstWishes = {first};{SCRIPT}"


SCRIPT = """
(() => {
  const end = lastPicture / pictureRate;
  const bar = () => [...document.querySelectorAll("[role=slider]")].at(-1)?.closest(".mantine-Paper-root");
  const field = () => bar()?.querySelector("input.mantine-NumberInput-input");
  const now = () => parseFloat(bar().querySelector("[role=slider]").getAttribute("aria-valuenow"));
  const button = () => bar().querySelector("button");
  const playing = () => button().querySelector(".tabler-icon-player-pause-filled") !== null;
  const moved = () => {
    const slider = bar().querySelector("[role=slider]");
    let fiber = slider[Object.keys(slider).find((key) => key.startsWith("__reactFiber$"))];
    while (fiber && !(fiber.memoizedProps?.onChange && "max" in fiber.memoizedProps)) fiber = fiber.return;
    return fiber.memoizedProps.onChange;
  };
  let wanted = null;
  const seek = (t) => {
    if (wanted === null) {
      // Moving pauses, too, but what is playing would go on for one tick.
      if (playing()) button().click();
      setTimeout(() => { moved()(wanted); wanted = null; });
    }
    wanted = Math.min(Math.max(0, t), end);
  };

  document.documentElement.addEventListener("keydown", (event) => {
    if (!field() || (event.target instanceof HTMLInputElement && event.target !== field())) return;
    const steps = { ArrowLeft: -1, ArrowRight: 1 };
    if (event.key in steps) {
      event.stopPropagation();
      const far = event.shiftKey ? Math.max(1, Math.round(0.1 * pictureRate)) : 1;
      seek((Math.floor((wanted ?? now()) * pictureRate + 0.01) + steps[event.key] * far) / pictureRate);
    } else if (event.key === "Home") seek(0);
    else if (event.key === "End") seek(end);
  });
  document.documentElement.addEventListener("input", (event) => {
    const t = event.target === field() ? parseFloat(event.target.value) : 0;
    if (t < 0 || t > end + 1e-3) {
      event.stopPropagation();
      seek(t);
      requestAnimationFrame(() => event.target.blur());
    }
  }, true);

  // That this browser draws without a graphics card is no news to who looks, and would cover the robot in small frames.
  const quiet = () => document.querySelectorAll(".mantine-Notification-root").forEach((notice) => {
    if (notice.textContent.includes("Software WebGL")) notice.style.display = "none";
  });
  new MutationObserver(quiet).observe(document.body, { subtree: true, childList: true });
  quiet();

  if (lastPicture < 1) return;
  let ready = false, waiting = firstWishes, said = "";
  const post = (what) => { if (window.parent !== window) window.parent.postMessage(what, "*"); };
  const obey = ({ bodymotion, time }) => {
    if (bodymotion === "seek" && Number.isFinite(time)) seek(time - firstTime);
    if (bodymotion === (playing() ? "pause" : "play")) button().click();
  };
  window.addEventListener("message", (event) => {
    if (event.source !== window.parent || event.source === window || typeof event.data?.bodymotion !== "string") return;
    if (ready) obey(event.data);
    else waiting.push(event.data);
  });
  const say = () => {
    const time = Math.min(now(), end) + firstTime;
    const text = `${time} ${playing()}`;
    if (text === said) return;
    said = text;
    document.getElementById("bodymotion-time").textContent = `${time.toFixed(3)} s of `;
    post({ bodymotion: "time", time, playing: playing() });
  };
  const begin = setInterval(() => {
    if (!bar() || !field()) return;
    clearInterval(begin);
    ready = true;
    new MutationObserver(say).observe(bar(), { subtree: true, childList: true, attributeFilter: ["aria-valuenow"] });
    post({ bodymotion: "ready", start: firstTime, end: firstTime + end });
    waiting.forEach(obey);
    waiting = [];
    say();
  }, 50);
})();
"""
