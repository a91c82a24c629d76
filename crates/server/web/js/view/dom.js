// Creates elements. Text is always inserted as text; the page never parses markup from data.

const SVG = "http://www.w3.org/2000/svg";

/**
 * An element. `props` are attributes, except for `on` (listeners by event), `vars` (CSS variables),
 * `data` (data attributes) and `value`, which are set as properties. Children that are null or false are left out.
 */
export function h(tag, props, ...children) {
  return filled(document.createElement(tag), props, children);
}

/** The same for SVG. */
export function s(tag, props, ...children) {
  return filled(document.createElementNS(SVG, tag), props, children);
}

function filled(node, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    } else if (name === "vars") {
      for (const [variable, said] of Object.entries(value)) node.style.setProperty(variable, said);
    } else if (name === "data") {
      Object.assign(node.dataset, value);
    } else if (name === "value") {
      node.value = value;
    } else {
      node.setAttribute(name, value === true ? "" : value);
    }
  }
  node.append(...flat(children));
  return node;
}

function flat(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : visible(String(child))));
}

// Controls, bidirectional controls and zero-width characters. Joiners and variation selectors belong to words
// and emoji.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g;

/** Escapes hidden characters and characters that change the reading order, for example as `\u{202e}`. */
export function visible(text) {
  return text.replace(/\r\n/g, "\n").replace(HIDDEN, (sign) => `\\u{${sign.codePointAt(0).toString(16)}}`);
}

/** Replaces the children of a node. */
export function put(node, ...children) {
  node.replaceChildren(...flat(children));
  return node;
}

let made = 0;

/** An id that no other element has. */
export function fresh(prefix = "x") {
  made += 1;
  return `${prefix}-${made}`;
}
