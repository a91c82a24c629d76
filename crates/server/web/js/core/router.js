// Which page is meant by an address, and going from one to another without loading anything.

import { meant } from "./routes.js";

let show = () => {};

/** Begins: `page(name, params)` is called for the address there is, and for every one that follows. */
export function begin(page) {
  show = () => page(meant(location.pathname));
  window.addEventListener("popstate", show);
  document.addEventListener("click", followed);
  show();
}

/** Goes to an address of this page. */
export function go(address, { instead = false } = {}) {
  if (address !== location.pathname + location.search) {
    history[instead ? "replaceState" : "pushState"](null, "", address);
  }
  show();
}

/** Notes something in the address without going anywhere, such as a filter. */
export function noted(asked) {
  const pairs = Object.entries(asked).filter(([, value]) => value);
  const search = pairs.length ? `?${new URLSearchParams(pairs)}` : "";
  history.replaceState(null, "", location.pathname + search);
}

/** What the address asks for behind its `?`. */
export const asked = () => Object.fromEntries(new URLSearchParams(location.search));

function followed(event) {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = event.target.closest?.("a[href]");
  if (!link || link.target || link.hasAttribute("download")) return;
  const to = new URL(link.href);
  if (to.origin !== location.origin || to.pathname.startsWith("/v1/") || to.pathname.startsWith("/assets/")) return;
  // A place on the same page, such as the skip link's, is the browser's own business.
  if (to.hash && to.pathname === location.pathname) return;
  event.preventDefault();
  go(to.pathname + to.search);
}
