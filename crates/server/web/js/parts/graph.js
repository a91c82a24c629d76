// The drawing of a workflow, as the server made it, in the colours of this page.
//
// It is read as XML and copied element by element: only shapes, texts and their places come over.

import { h, put, s } from "../view/dom.js";
import { text } from "../core/api.js";
import { t } from "../core/words.js";

const SHAPES = new Set(["svg", "g", "rect", "circle", "path", "text", "title", "tspan"]);
const PLACES = new Set(["viewBox", "width", "height", "class", "x", "y", "rx", "cx", "cy", "r", "d"]);

/** A drawing by its address; `update()` draws it again where it changed. */
export function graph(path, asked, label) {
  const node = h("div", { class: "graph", tabindex: "0", role: "group", "aria-label": label });
  let last = null;
  async function update(signal) {
    try {
      const drawn = await text(path, asked, signal);
      if (drawn === last) return;
      last = drawn;
      const read = new DOMParser().parseFromString(drawn, "image/svg+xml").documentElement;
      if (read.localName !== "svg") throw new Error("no drawing");
      const svg = copied(read);
      svg.setAttribute("role", "img");
      svg.setAttribute("aria-label", label);
      put(node, svg);
    } catch (error) {
      if (error.name !== "AbortError" && last === null) put(node, h("p", { class: "note" }, t("graph.none"), " ", error.message));
    }
  }
  return { node, update };
}

function copied(from) {
  const attributes = [...from.attributes].filter(({ name }) => PLACES.has(name)).map(({ name, value }) => [name, value]);
  const children = [...from.childNodes].map((child) => {
    if (child.nodeType === Node.TEXT_NODE) return child.data.trim() ? child.data : null;
    return child.nodeType === Node.ELEMENT_NODE && SHAPES.has(child.localName) ? copied(child) : null;
  });
  return s(from.localName, Object.fromEntries(attributes), children);
}
