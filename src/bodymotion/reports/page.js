// One time for all: the robot's frame, the line below it, and the plots. A click on any of them leads the others.
(() => {
  const robot = document.getElementById("robot"), line = document.getElementById("line");
  const mark = document.getElementById("now"), clock = document.getElementById("clock");
  let start = Number(line.dataset.start), end = Number(line.dataset.end), time = start, asked = false, shown = 0;
  // Where the robot was sent, and until when what it still says of the times before that is passed over.
  let awaited = null, patience = 0;

  const show = () => {
    asked = false;
    shown = performance.now();
    const share = Math.min(Math.max((time - start) / Math.max(end - start, 1e-9), 0), 1);
    mark.style.left = `${100 * share}%`;
    clock.textContent = `${time.toFixed(2)} s`;
    if (typeof window.bodymotionCursor === "function") window.bodymotionCursor(time);
  };
  const at = (moment) => {
    time = moment;
    // A browser that draws slowly rarely asks for a picture: the clock does not wait for that.
    if (performance.now() - shown > 100) show();
    else if (!asked) { asked = true; requestAnimationFrame(show); }
  };
  const tell = (what, moment) => robot?.contentWindow.postMessage({ bodymotion: what, time: moment }, "*");

  window.bodymotionSeek = (moment) => {
    const wanted = Math.min(Math.max(moment, start), end);
    tell("pause");
    tell("seek", wanted);
    awaited = wanted;
    patience = performance.now() + 3000;
    at(wanted);
  };
  window.addEventListener("message", (event) => {
    if (event.source !== robot?.contentWindow || event.data?.bodymotion !== "time") return;
    if (awaited !== null && Math.abs(event.data.time - awaited) > 0.05 && performance.now() < patience) return;
    awaited = null;
    at(event.data.time);
  });
  line.addEventListener("click", (event) => {
    const box = line.getBoundingClientRect();
    if (event.target.dataset.time === undefined) window.bodymotionSeek(start + (end - start) * (event.clientX - box.left) / box.width);
  });
  document.addEventListener("click", (event) => {
    const to = event.target.closest("[data-time]");
    if (to) {
      window.bodymotionSeek(Number(to.dataset.time));
    }
  });
  // Out of sight, the robot and its time go along in the corner.
  const place = document.getElementById("place"), stage = document.getElementById("stage");
  new IntersectionObserver(([seen]) => {
    place.style.height = seen.isIntersecting ? "" : `${place.offsetHeight}px`;
    stage.classList.toggle("small", !seen.isIntersecting);
  }, { threshold: 0.05 }).observe(place);

  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const dress = () => window.bodymotionPlotTheme?.(dark.matches ? "dark" : "light");
  dark.addEventListener("change", dress);
  dress();
  show();
})();
