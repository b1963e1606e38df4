// The live viewer in a browser: keys, the timeline, clicks in plots, the search for links, and labels that do not overlap.
if (!window.bodymotionLive) {
  window.bodymotionLive = true;

  // viser keeps its arrow keys for its camera; here they are for frames. A button or tab that was clicked keeps the focus and would handle
  // space and arrows itself: they are passed on. A slider keeps the arrows, Home and End.
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

  // viser's own state, which React keeps with the elements: its widgets, also those that are not on the screen.
  let known = null;
  const viser = () => {
    if (known) return known;
    const canvas = document.querySelector("canvas");
    let fiber = canvas?.[Object.keys(canvas).find((key) => key.startsWith("__reactFiber$"))];
    for (; fiber; fiber = fiber.return) {
      const value = fiber.memoizedProps?.value;
      if (value?.useGuiConfig && value.mutable?.current?.sendMessage) return (known = value);
    }
    return null;
  };
  const widget = (matches) => Object.values(viser()?.useGuiConfig.getAll() ?? {}).find((one) => one?.props && matches(one.props));
  const parsed = {};
  const content = (name) => {
    const text = widget((props) => props.content?.startsWith?.(`bodymotion-${name}:`))?.props.content;
    if (text === undefined) return null;
    if (parsed[name]?.text !== text) parsed[name] = { text, value: JSON.parse(text.slice(text.indexOf(":") + 1)) };
    return parsed[name].value;
  };
  let count = 0, waiting = null;
  const send = (request) => {
    // The last of several requests in 16 ms counts; `count` makes each different from the one before.
    if (!waiting) setTimeout(() => {
      const uuid = widget((props) => props.label === "bodymotion requests")?.uuid, value = JSON.stringify({ ...waiting, count: ++count });
      waiting = null;
      if (uuid) viser().mutable.current.sendMessage({ type: "GuiUpdateMessage", uuid, updates: { value } });
    }, 16);
    waiting = request;
  };
  window.bodymotionTimeline({
    speeds: [0.1, 0.25, 0.5, 1, 2, 4],
    data: () => content("data"),
    state: () => content("state"),
    sound: () => content("sound"),
    act: (act) => send({ act }),
    seek: (seek) => send({ seek }),
    setSpeed: (speed) => send({ speed }),
  });

  // In a narrow window the panel would cover the robot: it begins folded.
  if (innerWidth <= 576) {
    const fold = setInterval(() => {
      const handle = document.querySelector('div[style*="cursor: pointer"][style*="3.5em"]');
      if (!handle || !content("state") && !document.querySelector("[role=tab]")) return;
      clearInterval(fold);
      handle.click();
    }, 100);
  }

  const inPlot = (event) => {
    const box = event.target instanceof Element ? event.target.closest(".bodymotion-plot")?.querySelector("svg")?.getBoundingClientRect() : null;
    const data = content("data");
    if (!box || !data) return;
    const share = Math.min(Math.max((event.clientX - box.left) / Math.max(box.width, 1), 0), 1);
    send({ seek: data.start + share * (data.end - data.start) });
    event.preventDefault();
  };
  document.addEventListener("pointerdown", (event) => { if (event.button === 0) inPlot(event); });
  document.addEventListener("pointermove", (event) => { if (event.buttons === 1) inPlot(event); });

  document.addEventListener("click", (event) => {
    const row = event.target instanceof Element ? event.target.closest("[data-bodymotion-link]") : null;
    if (row) send({ select: Number(row.dataset.bodymotionLink) });
  });
  document.addEventListener("input", (event) => {
    if (!event.target.matches?.(".bodymotion-search")) return;
    const words = event.target.value.toLowerCase().split(/\s+/);
    for (const row of document.querySelectorAll("[data-bodymotion-link]")) {
      row.style.display = words.every((word) => row.textContent.toLowerCase().includes(word)) ? "" : "none";
    }
  });

  // Labels that would cover one another are hidden, those that are farther away first.
  const LABEL = /\/(joint name|name)$/;
  setInterval(() => {
    const state = viser(), camera = state?.mutable.current.camera, canvas = document.querySelector("canvas");
    if (!camera || document.hidden) return;
    const found = [];
    for (const [name, node] of Object.entries(state.useSceneTree.getAll())) {
      if (node?.message?.type !== "LabelMessage" || !LABEL.test(name)) continue;
      const parent = name.slice(0, name.lastIndexOf("/")), matrix = state.mutable.current.nodeRefFromName[parent]?.matrixWorld;
      if (!matrix || node.visibility === false || state.useSceneTree.get(parent)?.effectiveVisibility === false) continue;
      const at = camera.position.clone().setFromMatrixPosition(matrix), depth = at.distanceTo(camera.position);
      at.project(camera);
      const size = 12 * (node.message.props.font_screen_scale ?? 1);
      found.push({
        name, node, depth, x: (at.x + 1) / 2 * canvas.clientWidth, y: (1 - at.y) / 2 * canvas.clientHeight,
        width: 0.62 * size * node.message.props.text.length + 10, height: 1.5 * size + 4,
      });
    }
    const kept = [];
    for (const one of found.sort((a, b) => a.depth - b.depth)) {
      const hidden = kept.some((other) => Math.abs(one.y - other.y) < (one.height + other.height) / 2
        && one.x < other.x + other.width && other.x < one.x + one.width);
      if (!hidden) kept.push(one);
      const override = hidden ? false : undefined;
      if (one.node.overrideVisibility !== override) state.sceneTreeActions.updateNodeAttributes(one.name, { overrideVisibility: override });
    }
  }, 250);
}
