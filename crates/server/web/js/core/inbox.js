// The loaded part of the inbox, updated by events; nearest deadline first.

import { get } from "./api.js";
import { follow } from "./live.js";
import { store } from "./store.js";

const PAGE = 100;

const known = new Map();
let next = null;
let filter = {};
// Counts the reloads. A page that was requested before the last reload is dropped.
let reading = 0;

const order = (a, b) =>
  (a.deadline ?? Infinity) - (b.deadline ?? Infinity) || a.opened_at - b.opened_at || (a.address < b.address ? -1 : 1);

function publish(error = null) {
  store.set("inbox", { items: [...known.values()].sort(order), more: next !== null, error });
}

/** Starts to follow the inbox. */
export function begin(signal) {
  reload();
  follow("/inbox/stream", { told, again: reload }, signal);
}

/** Loads the inbox from the start, with a new filter if one is given. */
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

/** Loads the next page. */
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
  if (event === "opened") store.set("opened", row.address);
  if (event === "opened" && fits(row)) {
    // A wait after the last loaded one comes with the next page.
    const last = [...known.values()].sort(order).at(-1);
    if (next !== null && last && order(row, last) > 0) return;
    known.set(row.address, row);
    publish();
  }
}

const fits = (row) => (!filter.kind || row.kind === filter.kind) && (!filter.run || row.run === filter.run);
