// The icons of the page: 16 units square, one line, in the colour of the surrounding text.

import { s } from "./dom.js";

const LINES = {
  inbox: "M2 9l2-6h8l2 6v4H2zM2 9h4l1 2h2l1-2h4",
  runs: "M3 3v10M3 5h5v3h5M8 8v4h5",
  start: "M8 3v10M3 8h10",
  protocols: "M8 2v3M4 5h8v3H4zM4 11h3M9 11h3M5.500 8v3M10.500 8v3M4 11v3h3v-3zM9 11v3h3v-3z",
  contracts: "M4 2h6l3 3v9H4zM10 2v3h3M6.500 9l1.500 1.500 3-3",
  system: "M3 4h10v3H3zM3 9h10v3H3zM5 5.500h.01M5 10.500h.01",
  running: "M8 2a6 6 0 1 1-6 6",
  waiting: "M8 2l6 6-6 6-6-6z",
  halted: "M6 3v10M10 3v10",
  completed: "M3 8.500l3.500 3.500L13 4.500",
  failed: "M4 4l8 8M12 4l-8 8",
  question: "M5.500 6a2.500 2.500 0 1 1 3.600 2.200C8.300 8.700 8 9.200 8 10M8 12.500h.01",
  document: "M4 2h6l3 3v9H4zM10 2v3h3",
  approval: "M3 8.500l3 3 5-6.500M8 11.500l1 1L13.500 7",
  budget: "M2.500 12a6 6 0 1 1 11 0M8 11l3-4",
  work: "M3 13l1-3 6.500-6.500 2 2L6 12z",
  incident: "M8 2.500l6 11H2zM8 7v3M8 12h.01",
  next: "M6 3l5 5-5 5",
  close: "M4 4l8 8M12 4l-8 8",
  theme: "M8 2a6 6 0 1 0 0 12zM8 2a6 6 0 0 1 0 12",
  keys: "M2 4h12v8H2zM4.500 6.500h.01M7 6.500h.01M9.500 6.500h.01M12 6.500h.01M5 9.500h6",
  fork: "M4 3v10M4 8h4a4 4 0 0 0 4-4V3M12 3l-2 2M12 3l2 2",
  seal: "M8 2l5 2v4c0 3-2 5-5 6-3-1-5-3-5-6V4zM5.800 8l1.600 1.600L10.500 6.500",
  enlarge: "M9.500 2.500h4v4M6.500 13.500h-4v-4M13.500 2.500l-4.500 4.500M2.500 13.500l4.500-4.500",
  upload: "M8 11V3M5 6l3-3 3 3M3 11v2.500h10V11",
  download: "M8 3v8M5 8l3 3 3-3M3 11v2.500h10V11",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  fit: "M3 6V3h3M10 3h3v3M13 10v3h-3M6 13H3v-3",
  robot: "M4 6h8v7H4zM8 6V3M6.500 9h.01M9.500 9h.01M6.500 11h3",
  copy: "M5.500 5.500h8v8h-8zM10.500 5.500v-3h-8v8h3",
};

/** An icon by name. It is hidden from screen readers, because a label is always beside it. */
export function icon(name) {
  return s(
    "svg",
    { class: `icon icon-${name}`, viewBox: "0 0 16 16", "aria-hidden": "true", focusable: "false" },
    s("path", { d: LINES[name] ?? LINES.next }),
  );
}

/** The logo: two signatures, the second over the first. */
export function mark() {
  return s(
    "svg",
    { class: "mark", viewBox: "0 0 32 32", "aria-hidden": "true", focusable: "false" },
    s("rect", { width: 32, height: 32, rx: 8, class: "mark-ground" }),
    s("path", { d: "M7 17l5 5 9-12", class: "mark-first" }),
    s("path", { d: "M16 22l2 1.500L26 12", class: "mark-second" }),
  );
}
