// The graph of a workflow, rendered by the server, in the colours of this page. It can be zoomed and moved with the
// mouse, with touch and with the keyboard, and a phase shows its details.
//
// It is parsed as XML and copied element by element: only shapes, texts and their coordinates are copied.

import { h, put, s } from "../view/dom.js";
import { icon } from "../view/icons.js";
import { get, part, text } from "../core/api.js";
import { number, span, t } from "../core/words.js";
import { loading } from "./states.js";

const SHAPES = new Set(["svg", "g", "rect", "circle", "path", "text", "title", "tspan"]);
const PLACES = new Set(["viewBox", "width", "height", "class", "x", "y", "rx", "cx", "cy", "r", "d", "data-phase"]);

/** The scale at which every text is still readable, and the limits of the zoom. */
const READABLE = 0.8;
const [LEAST, MOST, STEP] = [0.15, 4, 1.25];
/** How far the mouse may move in a click, in pixels. */
const STILL = 5;

/** A graph by its address; `update()` redraws it if it changed. */
export function graph(path, asked, label) {
  const place = h("div", { class: "graph-place" }, h("div", { class: "graph-wait" }, loading(5)));
  const node = h("div", { class: "graph-frame" }, place);
  const data = () => get(path, { ...asked, format: "json" });
  let last = null;
  let view = null;
  async function update(signal) {
    try {
      const drawn = await text(path, asked, signal);
      if (drawn === last) return;
      last = drawn;
      if (!drawn.startsWith("<svg")) throw new Error(drawn.slice(0, 80));
      // The content security policy of the page forbids the style element of the graph.
      const bare = drawn.replace(/<style>[^<]*<\/style>/, "");
      const read = new DOMParser().parseFromString(bare, "image/svg+xml").documentElement;
      if (read.localName !== "svg") throw new Error("the response is not an SVG image");
      const svg = () => copied(read);
      if (view) view.draw(svg());
      else put(place, (view = viewport(label, data, () => enlarged(svg(), label, data))).node), view.draw(svg());
    } catch (error) {
      if (error.name !== "AbortError" && last === null) put(place, h("p", { class: "note" }, t("graph.none"), " ", error.message));
    }
  }
  return { node, update };
}

/** Shows the graph in a large window. */
function enlarged(svg, label, data) {
  const close = h("button", { class: "button low plain", type: "button", "aria-label": t("act.close"), on: { click: () => dialog.close() } }, icon("close"));
  const view = viewport(label, data);
  const dialog = h("dialog", { class: "wide whole", "aria-label": label, on: { close: () => dialog.remove() } }, h("header", {}, h("h2", {}, label), close), view.node);
  document.body.append(dialog);
  dialog.showModal();
  view.draw(svg);
}

/** A window onto a graph, with its buttons, and the details of the selected phase. */
function viewport(label, data, enlarge) {
  const ground = h("div", { class: "graph", tabindex: "0", role: "group", "aria-label": label, "aria-roledescription": t("graph.role"), data: { whole: String(!enlarge) } });
  const tool = (name, drawn, act) => h("button", { class: "button low plain", type: "button", "aria-label": t(`graph.${name}`), title: t(`graph.${name}`), on: { click: act } }, icon(drawn));
  const details = h("div", { class: "phase-details", "aria-live": "polite" });
  const tools = h("div", { class: "graph-tools", role: "group", "aria-label": t("graph.tools") },
    tool("out", "minus", () => zoom(1 / STEP)), tool("in", "plus", () => zoom(STEP)), tool("fit", "fit", () => fit()),
    enlarge ? tool("enlarge", "enlarge", enlarge) : null);
  const node = h("div", { class: "graph-view", data: { whole: String(!enlarge) } }, h("div", { class: "graph-box" }, ground, tools), details);
  let svg = null;
  let size = { width: 1, height: 1 };
  // The visible part: the point at the top left, in units of the graph, and pixels per unit.
  let [x, y, scale] = [0, 0, 1];
  let chosen = null;
  let moved = false;

  const box = () => ({ width: ground.clientWidth || 1, height: ground.clientHeight || 1 });

  function show() {
    const { width, height } = box();
    scale = Math.min(Math.max(scale, LEAST), MOST);
    // Half of the window may be empty, never all of it.
    x = Math.min(Math.max(x, -width / scale / 2), size.width - width / scale / 2);
    y = Math.min(Math.max(y, -height / scale / 2), size.height - height / scale / 2);
    svg?.setAttribute("viewBox", `${x.toFixed(1)} ${y.toFixed(1)} ${(width / scale).toFixed(1)} ${(height / scale).toFixed(1)}`);
  }

  const fitting = () => Math.min(box().width / size.width, box().height / size.height, 1.25);

  /** Shows all of the graph. */
  function fit() {
    const { width, height } = box();
    scale = fitting();
    [x, y] = [(size.width - width / scale) / 2, (size.height - height / scale) / 2];
    show();
  }

  /** Shows a graph that is too large at a readable size, around the current phase or its start. */
  function begin() {
    if (fitting() >= READABLE) return fit();
    const { width, height } = box();
    scale = Math.max(READABLE, Math.min(fitting(), 1));
    const at = svg.querySelector(".current .box") ?? svg.querySelector(".phase .box");
    const [left, top, wide, high] = ["x", "y", "width", "height"].map((name) => Number(at?.getAttribute(name) ?? 0));
    // No empty margin where there is something to show.
    const within = (from, seen, whole) => (seen >= whole ? (whole - seen) / 2 : Math.min(Math.max(from, 0), whole - seen));
    x = within(left + wide / 2 - width / scale / 2, width / scale, size.width);
    y = within(at?.closest(".current") ? top + high / 2 - height / scale / 2 : top - 60, height / scale, size.height);
    return show();
  }

  /** Zooms around a point of the window, by default its centre. */
  function zoom(factor, at = { x: box().width / 2, y: box().height / 2 }) {
    const before = { x: x + at.x / scale, y: y + at.y / scale };
    scale = Math.min(Math.max(scale * factor, LEAST), MOST);
    [x, y] = [before.x - at.x / scale, before.y - at.y / scale];
    moved = true;
    show();
  }

  function pan(dx, dy) {
    [x, y] = [x + dx / scale, y + dy / scale];
    moved = true;
    show();
  }

  ground.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const phase = event.target.closest?.("[data-phase]");
    if (phase && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      return void choose(phase.dataset.phase);
    }
    const act = { "+": () => zoom(STEP), "=": () => zoom(STEP), "-": () => zoom(1 / STEP), 0: () => fit(), ArrowLeft: () => pan(-60, 0), ArrowRight: () => pan(60, 0), ArrowUp: () => pan(0, -60), ArrowDown: () => pan(0, 60) }[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  });

  // Without Ctrl, the wheel scrolls the page; in the large window there is nothing to scroll.
  ground.addEventListener("wheel", (event) => {
    if (enlarge && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const { left, top } = ground.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.002)), { x: event.clientX - left, y: event.clientY - top });
  }, { passive: false });

  const fingers = new Map();
  let still = true;
  ground.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY, first: { x: event.clientX, y: event.clientY } });
    still = fingers.size === 1;
  });
  ground.addEventListener("pointermove", (event) => {
    const one = fingers.get(event.pointerId);
    if (!one) return;
    if (still && Math.hypot(event.clientX - one.first.x, event.clientY - one.first.y) <= STILL) return;
    if (still) ground.setPointerCapture(event.pointerId);
    still = false;
    const other = [...fingers.entries()].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const apart = (point) => Math.hypot(point.x - other.x, point.y - other.y) || 1;
      const { left, top } = ground.getBoundingClientRect();
      zoom(apart({ x: event.clientX, y: event.clientY }) / apart(one), { x: (event.clientX + other.x) / 2 - left, y: (event.clientY + other.y) / 2 - top });
    } else pan(one.x - event.clientX, one.y - event.clientY);
    [one.x, one.y] = [event.clientX, event.clientY];
  });
  const lifted = (event) => fingers.delete(event.pointerId);
  ground.addEventListener("pointerup", lifted);
  ground.addEventListener("pointercancel", lifted);
  ground.addEventListener("click", (event) => {
    const phase = event.target.closest?.("[data-phase]");
    if (phase && still) choose(phase.dataset.phase);
  });
  // A phase that gets the focus is moved into the window.
  ground.addEventListener("focusin", (event) => {
    if (!event.target.matches?.("[data-phase]:focus-visible")) return;
    const [inner, outer] = [event.target.getBoundingClientRect(), ground.getBoundingClientRect()];
    if (inner.left < outer.left || inner.right > outer.right || inner.top < outer.top || inner.bottom > outer.bottom) pan(inner.left + inner.width / 2 - outer.left - outer.width / 2, inner.top + inner.height / 2 - outer.top - outer.height / 2);
  });

  new ResizeObserver(() => svg && (moved ? show() : begin())).observe(ground);

  /** Shows the details of a phase; selecting it again closes them. */
  async function choose(id, keep = false) {
    chosen = id === chosen && !keep ? null : id;
    for (const one of svg.querySelectorAll("[data-phase]")) one.setAttribute("aria-pressed", String(one.dataset.phase === chosen));
    if (chosen === null) return void put(details);
    const wanted = chosen;
    try {
      const found = await data();
      if (chosen === wanted) put(details, phaseDetails(found, wanted, () => choose(wanted)));
    } catch (error) {
      if (chosen === wanted) put(details, h("p", { class: "note bad-note" }, error.message));
    }
  }

  return {
    node,
    draw(drawn) {
      svg = drawn;
      size = { width: Number(drawn.getAttribute("width")), height: Number(drawn.getAttribute("height")) };
      drawn.removeAttribute("width");
      drawn.removeAttribute("height");
      drawn.setAttribute("role", "group");
      drawn.setAttribute("aria-label", label);
      for (const phase of drawn.querySelectorAll("[data-phase]")) {
        // The texts of a phase are its name for a screen reader, without its tooltip; the details have the rest.
        phase.querySelector("title")?.remove();
        for (const line of phase.querySelectorAll("text")) line.after(" ");
        phase.setAttribute("tabindex", "0");
        phase.setAttribute("role", "button");
        phase.setAttribute("aria-pressed", "false");
      }
      put(ground, drawn);
      if (moved) show();
      else begin();
      if (chosen !== null) choose(chosen, true);
    },
  };
}

/** What a phase does, where it leads, and what the run did in it. */
function phaseDetails({ phases, edges }, id, close) {
  const phase = phases.find((one) => one.id === id);
  if (!phase) return null;
  const name = (other) => phases.find((one) => one.id === other)?.name ?? other;
  const [contract] = phase.contract?.split("@") ?? [];
  const rows = [
    phase.work ? [t("protocols.work"), phase.work] : null,
    phase.agent ? [t("prompt.agent"), phase.model ? `${phase.agent} · ${phase.model}` : phase.agent] : null,
    phase.contract ? [t("prompt.contract"), h("a", { href: `/contracts/${part(phase.contract)}`, title: phase.contract }, contract)] : null,
    [t("graph.writes"), phase.writes === null ? t("graph.writes_all") : phase.writes.length ? phase.writes.map((one) => [h("code", {}, one), " "]) : t("graph.writes_none")],
    phase.needs.length ? [t("graph.needs"), phase.needs.join(", ")] : null,
    phase.issues.length ? [t("graph.issues"), phase.issues.join(", ")] : null,
    phase.visits ? [t("graph.visits"), number(phase.visits)] : null,
    phase.visits ? [t("graph.time"), span(phase.time_ms)] : null,
  ].filter(Boolean);
  const ways = edges.filter((one) => one.from === id);
  return h("section", { class: "card stack", "aria-label": t("graph.phase", { name: name(id) }) },
    h("div", { class: "row" }, h("h3", {}, name(id)), h("code", { class: "soft small" }, id), h("span", { class: "grow" }),
      h("button", { class: "button low plain", type: "button", "aria-label": t("graph.close"), on: { click: close } }, icon("close"))),
    phase.description ? h("p", { class: "small" }, phase.description) : null,
    h("dl", { class: "facts" }, rows.map(([key, value]) => [h("dt", {}, key), h("dd", {}, value)])),
    ways.length ? h("div", { class: "stack" }, h("h4", { class: "small" }, t("protocols.ways")), h("ul", { class: "ways small" }, ways.map((way) => h("li", {},
      h("strong", {}, "→ ", name(way.to)), way.taken ? h("span", { class: "tag" }, t("graph.taken", { n: way.taken })) : null,
      way.condition ? h("div", { class: "soft" }, way.check === null && /[=<>()]/.test(way.condition) ? h("code", {}, way.condition) : way.condition) : null,
      way.check ? h("code", { class: "soft" }, way.check) : null,
      way.closed_reason ? h("div", { class: "bad" }, way.closed_reason) : null)))) : null);
}

function copied(from) {
  const attributes = [...from.attributes].filter(({ name }) => PLACES.has(name)).map(({ name, value }) => [name, value]);
  const children = [...from.childNodes].map((child) => {
    if (child.nodeType === Node.TEXT_NODE) return child.data.trim() ? child.data : null;
    return child.nodeType === Node.ELEMENT_NODE && SHAPES.has(child.localName) ? copied(child) : null;
  });
  return s(from.localName, Object.fromEntries(attributes), children);
}
