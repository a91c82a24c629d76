// The addresses of the pages. The server answers exactly these with the page itself; a test compares.

export const ROUTES = [
  ["/", "inbox"],
  ["/inbox", "inbox"],
  ["/inbox/{run}/{wait}", "inbox"],
  ["/runs", "runs"],
  ["/runs/{run}", "run"],
  ["/runs/{run}/{tab}", "run"],
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

/** The page of an address, and what its parts say; `page` is null where there is none. */
export function meant(pathname) {
  const path = pathname.length > 1 ? pathname.replace(/\/+$/, "") : pathname;
  for (const { pattern, names, page } of READ) {
    const found = pattern.exec(path);
    if (!found) continue;
    try {
      return { page, params: Object.fromEntries(names.map((name, at) => [name, decodeURIComponent(found[at + 1])])) };
    } catch {
      break; // A `%` that stands for nothing.
    }
  }
  return { page: null, params: {} };
}
