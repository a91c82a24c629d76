// Follows server-sent events with `fetch`, because `EventSource` cannot send an API key.
//
// An event is a hint that there is something to read. A broken stream is resumed where it ended.
// If the server does not stream, the page polls every two seconds.

import { Problem, headers } from "./api.js";
import { store } from "./store.js";

const FIRST = 400;
const LONGEST = 8_000;
const ASKED_EVERY = 2_000;

/**
 * Follows a stream until the signal aborts. Calls `told({ event, data, id })` for every event, and `again()` when
 * events may have been missed: at the start, after a break, and every two seconds without a stream.
 */
export function follow(path, { told, again }, signal) {
  run(path, { told, again }, signal).catch((error) => {
    if (error.name !== "AbortError") console.error(error);
  });
}

async function run(path, { told, again }, signal) {
  let last = null;
  let pause = FIRST;
  let first = true;
  while (!signal.aborted) {
    try {
      const more = { accept: "text/event-stream" };
      if (last !== null) more["last-event-id"] = last;
      const response = await fetch(`/v1${path}`, { headers: headers(more), signal, cache: "no-store" });
      // The stream has ended.
      if (response.status === 204) return;
      if ([404, 405, 406, 501].includes(response.status)) return await asking(again, signal);
      if (!response.ok) throw new Problem({ status: response.status, ...(await response.json().catch(() => ({}))) });
      if (!(response.headers.get("content-type") ?? "").startsWith("text/event-stream")) {
        await response.body?.cancel();
        return await asking(again, signal);
      }
      connected();
      if (!first) await again();
      first = false;
      pause = FIRST;
      await events(response.body, (event) => {
        if (event.id !== null) last = event.id;
        told(event);
      });
    } catch (error) {
      if (signal.aborted || error.name === "AbortError") return;
      // A retry needs another key.
      if (error instanceof Problem && error.status === 401) return store.set("locked", error);
      if (!(error instanceof Problem)) store.set("connection", "lost");
      first = false;
    }
    // A random delay, so that not all clients reconnect to a restarted server at once.
    await after(pause * (0.75 + Math.random() / 2), signal);
    pause = Math.min(pause * 2, LONGEST);
  }
}

async function asking(again, signal) {
  for (;;) {
    await after(ASKED_EVERY, signal);
    if (signal.aborted) return;
    if (!document.hidden) await again();
  }
}

function connected() {
  if (store.get("connection") === "lost") store.set("connection", "back");
}

function after(milliseconds, signal) {
  return new Promise((done) => {
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener("abort", () => (clearTimeout(timer), done()), { once: true });
  });
}

/** Parses an event stream: one field per line; an empty line ends an event. */
export async function events(body, told) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let event = blank();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split(/\r\n|\n/);
    rest = lines.pop();
    for (const line of lines) {
      if (line === "") {
        if (event.data.length) told({ event: event.name, id: event.id, data: event.data.join("\n") });
        event = blank(event.id);
        continue;
      }
      const colon = line.indexOf(":");
      if (colon === 0) continue;
      const field = colon < 0 ? line : line.slice(0, colon);
      const said = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (field === "event") event.name = said;
      else if (field === "data") event.data.push(said);
      else if (field === "id") event.id = said;
    }
  }
}

const blank = (id = null) => ({ name: "message", data: [], id });
