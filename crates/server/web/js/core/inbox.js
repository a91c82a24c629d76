// What waits for a person, as far as it was read, kept in step by events. The nearest deadline first.

import { get } from "./api.js";
import { follow } from "./live.js";
import { store } from "./store.js";

const PAGE = 100;

const known = new Map();
let next = null;
let filter = {};
// How often it was read from the beginning. A page that was asked for before the last time has no place any more.
let reading = 0;

const order = (a, b) =>
  (a.deadline ?? Infinity) - (b.deadline ?? Infinity) || a.opened_at - b.opened_at || (a.address < b.address ? -1 : 1);

function publish(error = null) {
  store.set("inbox", { items: [...known.values()].sort(order), more: next !== null, error });
}

/** Begins to follow the inbox. */
export function begin(signal) {
  reload();
  follow("/inbox/stream", { told, again: reload }, signal);
}

/** Reads it from the beginning, with another filter where one is given. */
export async function reload(wanted = filter) {
  filter = wanted;
  const mine = ++reading;
  let page;
  try {
    page = await get("/inbox", { limit: PAGE, ...filter });
  } catch (error) {
    return mine === reading ? publish(error) : undefined;
  }
  if (mine !== reading) return undefined;
  known.clear();
  take(page);
  return publish();
}

/** Reads what comes after. */
export async function more() {
  if (next === null) return;
  const mine = reading;
  const page = await get("/inbox", { limit: PAGE, cursor: next, ...filter });
  if (mine !== reading) return;
  take(page);
  publish();
}

function take(page) {
  for (const row of page.items) known.set(row.address, row);
  next = page.next_cursor ?? null;
}

function told({ event, data }) {
  if (event === "reset") return void reload();
  const row = JSON.parse(data);
  if (event === "closed") {
    store.set("closed", row.address);
    if (known.delete(row.address)) publish();
  }
  if (event === "opened" && fits(row)) {
    // What lies beyond the last one read comes when the next page is read.
    const last = [...known.values()].sort(order).at(-1);
    if (next !== null && last && order(row, last) > 0) return;
    known.set(row.address, row);
    publish();
  }
}

const fits = (row) => (!filter.kind || row.kind === filter.kind) && (!filter.run || row.run === filter.run);
