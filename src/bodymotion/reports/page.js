// One time for the robot with its timeline, and the plots. A click on any of them moves the others.
(() => {
  const robot = document.getElementById("robot"), clock = document.getElementById("clock");
  const start = Number(clock.dataset.start), end = Number(clock.dataset.end);
  let time = start, requested = false, shown = 0;
  // The time that was requested, and until when messages about earlier times are ignored.
  let awaited = null, ignoreUntil = 0;

  const show = () => {
    requested = false;
    shown = performance.now();
    clock.textContent = `${time.toFixed(2)} s`;
    if (typeof window.bodymotionCursor === "function") window.bodymotionCursor(time);
  };
  const at = (moment) => {
    time = moment;
    // A browser that draws slowly rarely requests a frame: the clock does not wait for that.
    if (performance.now() - shown > 100) show();
    else if (!requested) { requested = true; requestAnimationFrame(show); }
  };
  const send = (message, moment) => robot?.contentWindow.postMessage({ bodymotion: message, time: moment }, "*");

  window.bodymotionSeek = (moment) => {
    const wanted = Math.min(Math.max(moment, start), end);
    send("pause");
    send("seek", wanted);
    awaited = wanted;
    ignoreUntil = performance.now() + 3000;
    at(wanted);
  };
  window.addEventListener("message", (event) => {
    if (event.source !== robot?.contentWindow || event.data?.bodymotion !== "time") return;
    if (awaited !== null && Math.abs(event.data.time - awaited) > 0.05 && performance.now() < ignoreUntil) return;
    awaited = null;
    at(event.data.time);
  });
  document.addEventListener("click", (event) => {
    const to = event.target.closest("[data-time]");
    if (to) window.bodymotionSeek(Number(to.dataset.time));
  });
  // When the robot scrolls out of view, it moves to the corner.
  const place = document.getElementById("place"), stage = document.getElementById("stage");
  new IntersectionObserver(([seen]) => {
    place.style.height = seen.isIntersecting ? "" : `${place.offsetHeight}px`;
    stage.classList.toggle("small", !seen.isIntersecting);
  }, { threshold: 0.05 }).observe(place);

  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const applyTheme = () => window.bodymotionPlotTheme?.(dark.matches ? "dark" : "light");
  dark.addEventListener("change", applyTheme);
  applyTheme();
  show();
})();
