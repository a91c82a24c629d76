// Maps addresses to pages, and navigates without reloading.

import { meant } from "./routes.js";

let show = () => {};

/** The current address. */
let shown = "";

const here = () => location.pathname + location.search;

/** Starts the router: calls `page(name, params)` for the current address and for every later one. */
export function begin(page) {
  show = () => {
    shown = here();
    page(meant(location.pathname));
  };
  // Fragments of the same page, such as the skip link's, also arrive here; they need no new page.
  window.addEventListener("popstate", () => here() !== shown && show());
  document.addEventListener("click", followed);
  show();
}

/** Navigates to an address. */
export function go(address, { instead = false } = {}) {
  if (address !== here()) {
    history[instead ? "replaceState" : "pushState"](null, "", address);
  }
  show();
}

/** Stores something in the address, such as a filter, without navigating. */
export function noted(asked) {
  const pairs = Object.entries(asked).filter(([, value]) => value);
  const search = pairs.length ? `?${new URLSearchParams(pairs)}` : "";
  history.replaceState(null, "", location.pathname + search);
  shown = here();
}

/** The query parameters of the address. */
export const asked = () => Object.fromEntries(new URLSearchParams(location.search));

function followed(event) {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = event.target.closest?.("a[href]");
  if (!link || link.target || link.hasAttribute("download")) return;
  const to = new URL(link.href);
  if (to.origin !== location.origin || to.pathname.startsWith("/v1/") || to.pathname.startsWith("/assets/")) return;
  // The browser handles fragments of the same page, such as the skip link's.
  if (to.hash && to.pathname === location.pathname) return;
  event.preventDefault();
  go(to.pathname + to.search);
}
