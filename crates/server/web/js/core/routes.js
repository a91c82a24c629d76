// The addresses of the pages. The server returns the page at exactly these addresses; a test compares the lists.

export const ROUTES = [
  ["/", "inbox"],
  ["/inbox", "inbox"],
  ["/inbox/{run}/{wait}", "inbox"],
  ["/runs", "runs"],
  ["/runs/{run}", "run"],
  ["/runs/{run}/{tab}", "run"],
  ["/stats", "stats"],
  ["/start", "start"],
  ["/start/{protocol}", "start"],
  ["/protocols", "protocols"],
  ["/protocols/{name}", "protocol"],
  ["/contracts", "contracts"],
  ["/contracts/{id}", "contract"],
  ["/packets", "packets"],
  ["/system", "system"],
];

const READ = ROUTES.map(([path, page]) => {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map((found) => found[1]);
  const pattern = new RegExp(`^${path.replace(/\{\w+\}/g, "([^/]+)")}$`);
  return { pattern, names, page };
});

/** The page of an address and its parameters; `page` is null if no page matches. */
export function meant(pathname) {
  const path = pathname.length > 1 ? pathname.replace(/\/+$/, "") : pathname;
  for (const { pattern, names, page } of READ) {
    const found = pattern.exec(path);
    if (!found) continue;
    try {
      return { page, params: Object.fromEntries(names.map((name, at) => [name, decodeURIComponent(found[at + 1])])) };
    } catch {
      break; // An invalid percent-encoding.
    }
  }
  return { page: null, params: {} };
}
