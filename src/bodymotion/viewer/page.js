// A page without a server: the timeline, keys and messages beside viser's player, which has no interface for scripts. `bodymotionPage` is
// { times, frames, play, data, sound }: `frames` of the file at `times` [s] after the first. The player's time is read from its slider, and set by calling the
// slider's handler, which React keeps with the element. Its own bar is hidden.
(() => {
  const { times, frames, play, data, sound } = window.bodymotionPage;
  const first = data.start, lastFrame = times.length - 1, end = times[lastFrame];
  const frameAt = (t) => Math.max(times.findLastIndex((time) => time <= t + 3e-4), 0);
  const bar = () => [...document.querySelectorAll("[role=slider]")].at(-1)?.closest(".mantine-Paper-root");
  const now = () => parseFloat(bar().querySelector("[role=slider]").getAttribute("aria-valuenow"));
  const button = () => bar().querySelector("button");
  const playing = () => button().querySelector(".tabler-icon-player-pause-filled") !== null;
  const handler = (element, matches) => {
    let fiber = element[Object.keys(element).find((key) => key.startsWith("__reactFiber$"))];
    while (fiber && !(fiber.memoizedProps?.onChange && matches(fiber.memoizedProps))) fiber = fiber.return;
    return fiber.memoizedProps;
  };
  // React renders at once what a click changes, and later what a timer changes: the next key would find the old time.
  const atOnce = (change) => {
    const element = document.createElement("i");
    element.addEventListener("click", change);
    element.click();
  };
  const seek = (t) => {
    // Moving the slider pauses, too, but playback would continue for one tick: not before the pause is rendered.
    if (playing()) button().click();
    const within = Math.min(Math.max(0, t), end);
    queueMicrotask(() => atOnce(() => handler(bar().querySelector("[role=slider]"), (props) => "max" in props).onChange(within)));
  };
  // The player shows nothing before its first tick: a pause that comes sooner would leave the scene empty, so a pause shows its time, too.
  const toggle = () => { if (playing()) seek(now()); else button().click(); };
  const act = (name) => {
    const time = now(), step = { back: -1, far_back: -1, next: 1, far_next: 1 }[name], next = frameAt(time) + step;
    const far = name.startsWith("far") ? frameAt(time + 0.1 * step) : next;
    if (name === "toggle") toggle();
    else if (step) seek(times[Math.min(Math.max(step > 0 ? Math.max(far, next) : Math.min(far, next), 0), lastFrame)]);
    else seek(name === "last" ? end : 0);
  };
  const speed = () => bar().querySelector("input[aria-haspopup]");
  const ready = () => !!bar();

  document.documentElement.addEventListener("keydown", (event) => {
    if (!ready() || event.target instanceof HTMLInputElement) return;
    const names = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last", " ": "toggle" };
    if (!(event.key in names)) return;
    event.stopPropagation();
    if (event.key === " " && event.target.closest("button, select")) return;
    if (event.key === " ") event.preventDefault();
    act(event.shiftKey && event.key.startsWith("Arrow") ? `far_${names[event.key]}` : names[event.key]);
  });

  // The notice that this browser draws without a graphics card would cover the robot in small frames.
  const hideNotices = () => document.querySelectorAll(".mantine-Notification-root").forEach((notice) => {
    if (notice.textContent.includes("Software WebGL")) notice.style.display = "none";
  });
  new MutationObserver(hideNotices).observe(document.body, { subtree: true, childList: true });
  hideNotices();

  const moves = lastFrame > 0;
  const state = () => {
    if (!ready()) return { time: first, playing: false, speed: 1 };
    if (bar().style.display !== "none") bar().style.display = "none";
    const time = Math.min(now(), end);
    const text = `frame ${frames[frameAt(time)]} of ${data.frames - 1}`;
    return { time: time + first, playing: playing(), speed: parseFloat(speed()?.value ?? "1"), text };
  };
  window.bodymotionTimeline({
    speeds: [0.5, 1, 2, 4, 8],
    data: () => data,
    sound: () => sound,
    state: moves ? state : () => ({}),
    act: (name) => { if (ready()) act(name); },
    seek: (time) => { if (ready()) seek(time - first); },
    setSpeed: (value) => { if (speed()) handler(speed(), (props) => Array.isArray(props.data)).onChange(`${value}x`); },
  });
  if (!moves) return;

  let waiting = play ? [] : [{ bodymotion: "seek", time: first }], sent = "", begun = false;
  const post = (message) => { if (window.parent !== window) window.parent.postMessage(message, "*"); };
  const run = ({ bodymotion, time }) => {
    if (bodymotion === "seek" && Number.isFinite(time)) seek(time - first);
    if (bodymotion === (playing() ? "pause" : "play")) toggle();
  };
  window.addEventListener("message", (event) => {
    if (event.source !== window.parent || event.source === window || typeof event.data?.bodymotion !== "string") return;
    if (begun) run(event.data);
    else waiting.push(event.data);
  });
  const report = () => {
    const { time, playing: on } = state();
    if (`${time} ${on}` === sent) return;
    sent = `${time} ${on}`;
    post({ bodymotion: "time", time, playing: on });
  };
  const begin = setInterval(() => {
    if (!ready()) return;
    clearInterval(begin);
    begun = true;
    new MutationObserver(report).observe(bar(), { subtree: true, childList: true, attributeFilter: ["aria-valuenow"] });
    post({ bodymotion: "ready", start: first, end: first + end });
    waiting.forEach(run);
    waiting = [];
    report();
  }, 50);
})();
