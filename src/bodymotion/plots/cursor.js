/* Plots of bodymotion on a page: a line at the time that all plots share, and clicks that tell a time.

   bodymotionPlot(id, plot)     draws a plot into the element of that id
   bodymotionCursor(seconds)    puts the line of all plots there; null takes it away
   bodymotionPlotTheme(name)    "light" or "dark"
   bodymotionSeek(seconds)      is called, where the page has such a function, when someone clicks at a time */
(function () {
  "use strict";
  const plots = [];
  let now = null, theme = null;
  const CONFIG = { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"] };

  function recoloured(text, from, to) {
    const wanted = from.map((color, k) => [color, to[k]]);
    const table = new Map(wanted);
    return text.replace(/#[0-9a-f]{6}/g, (color) => table.get(color) || color);
  }

  function axes(plot, pair) {
    const full = plot.element._fullLayout;
    return full && full[pair[0]] && full[pair[1]] ? [full[pair[0]], full[pair[1]]] : null;
  }

  function nearest(times, time) {
    let low = 0, high = times.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (times[middle] <= time) low = middle; else high = middle;
    }
    return high >= 0 && time - times[low] > times[high] - time ? high : low;
  }

  function place(plot) {
    plot.marks.forEach((mark) => { mark.style.display = "none"; });
    if (now === null) return;
    plot.about.timed.forEach((pair, k) => {
      const found = axes(plot, pair), line = plot.marks[k];
      if (!found) return;
      const at = found[0].d2p(now);
      if (!(at >= -1 && at <= found[0]._length + 1)) return;
      line.style.display = "block";
      line.style.transform = "translate(" + (found[0]._offset + at) + "px," + found[1]._offset + "px)";
      line.style.height = found[1]._length + "px";
    });
    plot.about.grounds.forEach((ground, k) => {
      const found = axes(plot, ground.axes), dot = plot.marks[plot.about.timed.length + k];
      if (!found || !ground.times.length) return;
      const n = nearest(ground.times, now), x = found[0].d2p(ground.x[n]), y = found[1].d2p(ground.y[n]);
      if (ground.x[n] === null || !(x >= 0 && x <= found[0]._length && y >= 0 && y <= found[1]._length)) return;
      dot.style.display = "block";
      dot.style.transform = "translate(" + (found[0]._offset + x - 5) + "px," + (found[1]._offset + y - 5) + "px)";
    });
  }

  function timeAt(plot, event) {
    const box = plot.element.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    const inside = (found) => found && x >= found[0]._offset && x <= found[0]._offset + found[0]._length &&
      y >= found[1]._offset && y <= found[1]._offset + found[1]._length;
    for (const pair of plot.about.timed) {
      const found = axes(plot, pair);
      if (inside(found)) return found[0].p2d(x - found[0]._offset);
    }
    for (const ground of plot.about.grounds) {
      const found = axes(plot, ground.axes);
      if (!inside(found)) continue;
      let best = null, least = 25 * 25;
      ground.times.forEach((time, n) => {
        if (ground.x[n] === null) return;
        const dx = found[0]._offset + found[0].d2p(ground.x[n]) - x, dy = found[1]._offset + found[1].d2p(ground.y[n]) - y;
        if (dx * dx + dy * dy < least) { least = dx * dx + dy * dy; best = time; }
      });
      return best;
    }
    return null;
  }

  function listen(plot) {
    let pressed = null;
    plot.element.addEventListener("pointerdown", (event) => {
      const control = event.target.closest && event.target.closest(".modebar,.legend,.colorbar");
      pressed = event.button === 0 && !control ? [event.clientX, event.clientY] : null;
    }, true);
    window.addEventListener("pointerup", (event) => {
      if (!pressed) return;
      const moved = Math.hypot(event.clientX - pressed[0], event.clientY - pressed[1]);
      pressed = null;
      const time = moved < 4 ? timeAt(plot, event) : null;
      if (time === null) return;
      const seconds = Math.min(Math.max(time, plot.about.start), plot.about.end);
      window.bodymotionCursor(seconds);
      if (typeof window.bodymotionSeek === "function") window.bodymotionSeek(seconds);
    }, true);
  }

  function drawn(plot) {
    const from = plot.about.colors[plot.about.theme], to = plot.about.colors[theme || plot.about.theme];
    const figure = JSON.parse(recoloured(plot.figure, from, to));
    plot.marks.forEach((mark) => { mark.style.setProperty("--bodymotion-mark", recoloured(plot.about.mark, from, to)); });
    return figure;
  }

  window.bodymotionPlot = function (id, given) {
    const element = document.getElementById(id);
    const plot = { element: element, figure: JSON.stringify(given.figure), about: given.about, marks: [] };
    element.style.position = "relative";
    const over = document.createElement("div");
    over.style.cssText = "position:absolute;inset:0;overflow:hidden;pointer-events:none;z-index:5";
    const add = (style) => {
      const mark = document.createElement("div");
      mark.style.cssText = "position:absolute;left:0;top:0;display:none;" + style;
      over.appendChild(mark);
      plot.marks.push(mark);
    };
    plot.about.timed.forEach(() => add("width:0;border-left:1.5px solid var(--bodymotion-mark)"));
    plot.about.grounds.forEach(() => add("width:10px;height:10px;border-radius:50%;box-sizing:border-box;" +
      "background:var(--bodymotion-mark);border:2px solid #fff"));
    const figure = drawn(plot);
    return Plotly.newPlot(element, figure.data, figure.layout, CONFIG).then(() => {
      element.appendChild(over);
      plots.push(plot);
      element.on("plotly_afterplot", () => place(plot));
      element.on("plotly_relayout", () => place(plot));
      listen(plot);
      place(plot);
    });
  };
  window.bodymotionCursor = function (seconds) {
    now = seconds;
    plots.forEach(place);
  };
  window.bodymotionPlotTheme = function (name) {
    theme = name;
    return Promise.all(plots.map((plot) => {
      const figure = drawn(plot);
      return Plotly.react(plot.element, figure.data, figure.layout, CONFIG);
    }));
  };
})();
