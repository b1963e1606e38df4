// The bar at the lower edge of the live viewer and of pages: buttons, time, and a timeline with beats, contacts and findings.
// A host connects it to what plays:
//   data():  { start, end, frames, slice, slices, rows: [[name, [[from, to, color] …]] …], marks: [[time, text, count] …], note, music } or null; a
//            new object where it has changed; music is null or { levels, duration, beats, first, bar }: the waveform, and beats, of which every
//            fourth from the first one on begins a bar;
//   sound(): the address of the music, or null;
//   state(): { time, playing, speed, loop, text }; loop is undefined where it cannot be switched;
//   speeds, act(name) (see `player.run_action`), seek(time), setSpeed(speed).
window.bodymotionTimeline = (host) => {
  const RULER = 20, RIGHT = 14, SNAP = 5, MAX_LEFT = 76, WAVE = 26;
  let LEFT = 14, ROW = 9;
  const bar = document.createElement("div");
  bar.id = "bodymotion-bar";
  bar.innerHTML = `<style>
    #bodymotion-bar { position: fixed; left: 0; right: 0; bottom: 0; z-index: 9; font: 13px system-ui, sans-serif; color: #343a40;
      background: #fff; border-top: 1px solid #8884; user-select: none; font-variant-numeric: tabular-nums; }
    [data-mantine-color-scheme=dark] #bodymotion-bar { color: #ced4da; background: #242424; }
    #bodymotion-bar .row { display: flex; flex-wrap: wrap; align-items: center; gap: 2px 8px; padding: 3px 8px 0; }
    #bodymotion-bar button, #bodymotion-bar select, #bodymotion-bar input { font: inherit; color: inherit; background: none; border: 0;
      border-radius: 4px; padding: 2px 5px; min-width: 26px; cursor: pointer; }
    #bodymotion-bar option { color: #343a40; background: #fff; }
    #bodymotion-bar button:hover, #bodymotion-bar select:hover, #bodymotion-bar button.on { background: #228be633; }
    #bodymotion-bar .play { background: #228be6; color: #fff; min-width: 38px; }
    #bodymotion-bar input { width: 5em; text-align: right; cursor: text; border: 1px solid #8886; padding: 1px 4px; }
    #bodymotion-bar .text { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; opacity: 0.75; }
    #bodymotion-bar canvas { display: block; width: 100%; touch-action: none; cursor: crosshair; }
    #bodymotion-bar .note { padding: 2px 10px 4px; font-size: 12px; overflow-wrap: anywhere; max-height: 4.2em; overflow-y: auto; }
    #bodymotion-bar .note:empty { display: none; }
    #root { height: calc(100% - var(--bodymotion-bar, 0px)) !important; }
    @media (max-width: 36em) { .mantine-ScrollAreaAutosize-root[style*=fixed], .mantine-Paper-root[style*="fixed"] {
      bottom: var(--bodymotion-bar, 0px) !important; max-height: 45% !important; } }
    </style><div class="row"><span>
    <button data-act="first" title="First frame (Home)">|◀</button><button data-act="back" title="One frame back (←)">◀</button
    ><button class="play" data-act="toggle"></button><button data-act="next" title="One frame forward (→)">▶</button
    ><button data-act="last" title="Last frame (End)">▶|</button></span>
    <span><input id="bodymotion-time" title="Time [s]; type a time and press Enter" inputmode="decimal" autocomplete="off"> <span class="of"></span></span>
    <span class="text"></span><span><select title="Playback speed"></select><button data-act="loop" title="Loop (L)">⟳</button
    ><button data-zoom="0.5" title="Zoom in (mouse wheel)">+</button><button data-zoom="2" title="Zoom out (mouse wheel)">−</button></span></div>
    <canvas></canvas><div class="note"></div>`;
  document.body.append(bar);
  const part = (name) => bar.querySelector(name);
  const canvas = part("canvas"), field = part("input"), play = part(".play"), speed = part("select");
  for (const one of host.speeds) speed.add(new Option(`${one}×`, one));
  let data = null, state = {}, from = 0, to = 1, drawn = "";
  const audio = bar.appendChild(new Audio());
  let heard = {};
  // Music sounds where the motion is; small differences would be heard when they are corrected.
  const sing = () => {
    const url = data && host.sound?.();
    if (!url) return;
    const state = host.state() ?? {};
    if (audio.src !== url) audio.src = url;
    const on = state.playing && state.time >= 0 && state.time < (data.music?.duration ?? 0);
    if (!on) {
      heard = {};
      return audio.pause();
    }
    audio.playbackRate = Math.min(Math.max(state.speed ?? 1, 0.1), 8);
    // The state of a page that is not drawn is old: the music goes on from it.
    if (state.time !== heard.time) heard = { time: state.time, at: performance.now() };
    const time = heard.time + (performance.now() - heard.at) / 1000 * audio.playbackRate;
    if (audio.paused || Math.abs(audio.currentTime - time) > 0.12 * Math.max(audio.playbackRate, 1)) audio.currentTime = time;
    if (audio.paused) audio.play().catch(() => {});
  };
  setInterval(sing, 100); // also where the page is not drawn

  const width = () => Math.max(canvas.clientWidth - LEFT - RIGHT, 1);
  const xOf = (time) => LEFT + (time - from) / (to - from) * width();
  const timeAt = (x) => Math.min(Math.max(from + (x - LEFT) / width() * (to - from), data.start), data.end);
  const markNear = (x) => {
    const distance = ([time]) => Math.abs(xOf(time) - x);
    const near = data.marks.filter((mark) => distance(mark) <= SNAP);
    return near.sort((one, other) => distance(one) - distance(other))[0];
  };
  const show = (first, span) => {
    span = Math.min(Math.max(span, (data.end - data.start) / Math.max(data.frames - 1, 1) * 4), data.end - data.start);
    from = Math.min(Math.max(first, data.start), data.end - span);
    to = from + span;
  };
  const zoom = (factor, at) => show(at - (at - from) * factor, (to - from) * factor);

  bar.addEventListener("mousedown", (event) => { if (event.target.closest("button")) event.preventDefault(); });
  bar.addEventListener("click", (event) => {
    const { act, zoom: factor } = event.target.closest("button")?.dataset ?? {};
    if (act) host.act(act);
    if (factor) zoom(Number(factor), Math.min(Math.max(state.time, from), to));
  });
  speed.addEventListener("change", () => { host.setSpeed(Number(speed.value)); speed.blur(); });
  const typed = () => {
    const time = parseFloat(field.value.replace(",", "."));
    if (Number.isFinite(time)) host.seek(Math.min(Math.max(time, data.start), data.end));
  };
  field.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Enter") typed();
    if (event.key === "Enter" || event.key === "Escape") field.blur();
  });
  field.addEventListener("focus", () => field.select());
  const scrub = (event) => {
    const x = event.clientX - canvas.getBoundingClientRect().left;
    host.seek(markNear(x)?.[0] ?? timeAt(x));
  };
  canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); if (!event.button) scrub(event); });
  canvas.addEventListener("pointermove", (event) => {
    if (event.buttons === 1) return scrub(event);
    const x = event.clientX - canvas.getBoundingClientRect().left;
    if (event.buttons) show(from - event.movementX / width() * (to - from), to - from);
    const mark = markNear(x);
    const worst = mark?.[2] > 1 ? `worst of ${mark[2]}: ` : "";
    canvas.title = `${timeAt(x).toFixed(3)} s${mark ? ` · ${worst}${mark[1]}` : ""}`;
  });
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const side = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
    if (side) show(from + side / width() * (to - from), to - from);
    else zoom(Math.exp(0.002 * event.deltaY), timeAt(event.clientX - canvas.getBoundingClientRect().left));
  }, { passive: false });
  canvas.addEventListener("dblclick", () => show(data.start, data.end - data.start));

  const round = (minimum) => [1, 2, 5, 10].map((factor) => factor * 10 ** Math.floor(Math.log10(minimum))).find((one) => one >= minimum * 0.999);
  const draw = () => {
    ROW = data.rows.some(([, spans]) => spans.some((span) => span[4])) ? 13 : 9;
    const scale = devicePixelRatio || 1, waves = RULER + ROW * data.rows.length, high = waves + (data.music ? WAVE : 0) + 14, wide = canvas.clientWidth;
    if (canvas.width !== Math.round(wide * scale) || canvas.height !== high * scale) {
      [canvas.width, canvas.height] = [Math.round(wide * scale), high * scale];
      canvas.style.height = `${high}px`;
    }
    const pen = canvas.getContext("2d"), ink = getComputedStyle(bar).color;
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, wide, high);
    pen.font = "10px system-ui, sans-serif";
    pen.fillStyle = ink;
    LEFT = Math.min(Math.max(14, ...data.rows.map(([name]) => pen.measureText(name).width + 8)), MAX_LEFT);
    const line = (x, top, bottom, alpha) => { pen.globalAlpha = alpha; pen.fillRect(Math.round(x), top, 1, bottom - top); };
    pen.globalAlpha = 0.12;
    pen.fillRect(LEFT, RULER - 1, width(), high - RULER - 4);
    pen.textAlign = "center";
    const beats = data.slice > 0, unit = beats ? 4 * data.slice : 1, origin = beats ? 0 : data.start;
    const step = beats ? Math.max(round(60 * (to - from) / width() / unit), 1) : round(70 * (to - from) / width());
    const last = Math.min(Math.floor((to - (beats ? 0 : 0)) / unit / step + 1e-6), beats ? Math.ceil(data.slices / 4 / step) - 1 : Infinity);
    for (let k = Math.ceil(from / unit / step - 1e-6); k <= last; k++) {
      const x = xOf(k * step * unit);
      line(x, RULER - 6, high - 5, 0.35);
      pen.globalAlpha = 0.8;
      pen.fillText(beats ? k * step + 1 : `${Number((k * step).toPrecision(8))} s`, x, 10);
    }
    if (beats && data.slice / (to - from) * width() > 6) {
      for (let k = Math.ceil(from / data.slice); k <= Math.min(to / data.slice + 1e-6, data.slices); k++) line(xOf(k * data.slice), RULER - 4, RULER - 1, 0.4);
    }
    data.rows.forEach(([name, spans], number) => {
      const top = RULER + ROW * number + 1;
      for (const [a, b, color, thin, text] of spans) {
        if (b < from || a > to) continue;
        const left = Math.max(xOf(a), LEFT), right = Math.min(xOf(b), LEFT + width());
        // A name is written over a thin line, not into it.
        pen.globalAlpha = thin && text ? 0.35 : 1;
        pen.fillStyle = color;
        pen.fillRect(left, top + (thin ? 2 : 0), Math.max(right - left, 1), ROW - 2 - (thin ? 4 : 0));
        if (!text || right - left < 24) continue;
        pen.globalAlpha = 1;
        pen.fillStyle = thin ? ink : "#fff";
        pen.textAlign = "left";
        pen.fillText(text, left + 3, top + ROW - 3, right - left - 6);
        pen.fillStyle = ink;
        line(left, top, top + ROW - 2, 1);
      }
      pen.fillStyle = ink;
      pen.globalAlpha = 0.8;
      pen.textAlign = "right";
      pen.fillText(name, LEFT - 4, top + ROW - 2, LEFT - 6);
    });
    if (data.music) {
      const { levels, duration, beats, first, bar } = data.music, middle = waves + WAVE / 2;
      pen.fillStyle = "#228be6";
      pen.globalAlpha = 0.7;
      const right = Math.min(xOf(duration), LEFT + width());
      for (let x = Math.max(xOf(0), LEFT); x < right; x++) {
        const one = Math.floor(timeAt(x) / duration * levels.length), next = Math.max(Math.floor(timeAt(x + 1) / duration * levels.length), one + 1);
        const level = Math.max(0, ...levels.slice(one, next)) / 100 * (WAVE / 2 - 2);
        pen.fillRect(x, middle - level, 1, 2 * level + 1);
      }
      pen.fillStyle = ink;
      beats.forEach((time, k) => { if (time >= from && time <= to) line(xOf(time), waves, waves + WAVE, (k - first) % bar ? 0.25 : 0.8); });
    }
    pen.globalAlpha = 1;
    for (const [time, , count] of data.marks) {
      // The more findings a mark stands for, the taller it is.
      const x = xOf(time), top = high - 12 - Math.min(2 * Math.log2(count), 8);
      if (time < from || time > to) continue;
      pen.fillStyle = "#d3122f"; // FINDING of theme.py
      pen.beginPath();
      pen.moveTo(x, top); pen.lineTo(x + 5, high - 3); pen.lineTo(x - 5, high - 3);
      pen.fill();
    }
    const x = xOf(state.time);
    pen.fillStyle = ink;
    if (x >= LEFT - 1 && x <= LEFT + width() + 1) {
      pen.fillRect(x - 1, 12, 2, high - 16);
      pen.beginPath();
      pen.arc(x, 13, 5, 0, 7);
      pen.fill();
    }
  };

  const tick = () => {
    requestAnimationFrame(tick);
    const next = host.data();
    if (next !== data) {
      if (next && (next.start !== data?.start || next.end !== data?.end)) [from, to] = [next.start, next.end];
      data = next;
      drawn = "";
    }
    bar.style.display = data ? "" : "none";
    document.documentElement.style.setProperty("--bodymotion-bar", `${bar.offsetHeight}px`);
    if (!data) return;
    state = host.state() ?? state;
    const moves = data.frames > 1;
    part(".row").style.display = canvas.style.display = moves ? "" : "none";
    if (state.playing && (state.time < from || state.time > to)) show(state.time, to - from);
    const look = [JSON.stringify(state), from, to, canvas.clientWidth, getComputedStyle(bar).color].join();
    if (look === drawn) return;
    drawn = look;
    if (part(".note").innerHTML !== data.note) part(".note").innerHTML = data.note;
    if (!moves) return;
    if (document.activeElement !== field) field.value = (state.time ?? 0).toFixed(3);
    part(".of").textContent = `of ${data.end.toFixed(3)} s`;
    part(".text").textContent = part(".text").title = state.text ?? "";
    play.textContent = state.playing ? "❚❚" : "▶";
    play.title = play.ariaLabel = state.playing ? "Pause" : "Play";
    part("[data-act=loop]").style.display = state.loop === undefined ? "none" : "";
    part("[data-act=loop]").classList.toggle("on", !!state.loop);
    if (document.activeElement !== speed) speed.value = state.speed;
    draw();
  };
  tick();
};
