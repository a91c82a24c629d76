// The graph of a workflow, rendered by the server, in the colours of this page.
//
// It is parsed as XML and copied element by element: only shapes, texts and their coordinates are copied.

import { h, put, s } from "../view/dom.js";
import { icon } from "../view/icons.js";
import { text } from "../core/api.js";
import { t } from "../core/words.js";
import { loading } from "./states.js";

const SHAPES = new Set(["svg", "g", "rect", "circle", "path", "text", "title", "tspan"]);
const PLACES = new Set(["viewBox", "width", "height", "class", "x", "y", "rx", "cx", "cy", "r", "d"]);

/** A graph by its address; `update()` redraws it if it changed. */
export function graph(path, asked, label) {
  const place = h("div", { class: "graph", tabindex: "0", role: "group", "aria-label": label }, h("div", { class: "graph-wait" }, loading(5)));
  const larger = h("button", { class: "button low plain enlarge", type: "button", "aria-label": t("graph.enlarge"), title: t("graph.enlarge"), hidden: true, on: { click: () => enlarged(place, label) } }, icon("enlarge"));
  const node = h("div", { class: "graph-frame" }, place, larger);
  let last = null;
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
      const svg = copied(read);
      svg.setAttribute("role", "img");
      svg.setAttribute("aria-label", label);
      put(place, svg);
      larger.hidden = false;
    } catch (error) {
      if (error.name !== "AbortError" && last === null) put(place, h("p", { class: "note" }, t("graph.none"), " ", error.message));
    }
  }
  return { node, update };
}

/** Shows the graph at full size. */
function enlarged(place, label) {
  const close = h("button", { class: "button low plain", type: "button", "aria-label": t("act.close"), on: { click: () => dialog.close() } }, icon("close"));
  const dialog = h("dialog", { class: "wide", "aria-label": label, on: { close: () => dialog.remove() } }, h("header", {}, h("h2", {}, label), close), h("div", { class: "graph whole", tabindex: "0", role: "group", "aria-label": label }, place.firstElementChild.cloneNode(true)));
  document.body.append(dialog);
  dialog.showModal();
}

function copied(from) {
  const attributes = [...from.attributes].filter(({ name }) => PLACES.has(name)).map(({ name, value }) => [name, value]);
  const children = [...from.childNodes].map((child) => {
    if (child.nodeType === Node.TEXT_NODE) return child.data.trim() ? child.data : null;
    return child.nodeType === Node.ELEMENT_NODE && SHAPES.has(child.localName) ? copied(child) : null;
  });
  return s(from.localName, Object.fromEntries(attributes), children);
}
