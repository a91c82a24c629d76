// Sends requests to the server. An error response is a `Problem`; a failed connection is `Unreachable`.

import { key, liking } from "./kept.js";
import { store } from "./store.js";

/** An error response of the server (RFC 9457). */
export class Problem extends Error {
  constructor(body) {
    super(body.detail ?? body.title ?? `HTTP ${body.status}`);
    this.name = "Problem";
    this.status = body.status;
    this.code = body.code ?? `http_${body.status}`;
    this.violations = body.violations ?? [];
    this.diagnostics = body.diagnostics ?? [];
    this.version = body.version;
  }
}

/** The server did not respond. The request can be repeated with the same idempotency key. */
export class Unreachable extends Error {
  constructor(cause) {
    super("the server is not responding", { cause });
    this.name = "Unreachable";
  }
}

/** The headers that identify the caller. */
export function headers(more = {}) {
  const all = new Headers(more);
  const secret = key.get();
  if (secret) all.set("authorization", `Bearer ${secret}`);
  const user = liking.get("user");
  // A header holds bytes; the server reads them as UTF-8.
  if (user) all.set("countersign-as", String.fromCharCode(...new TextEncoder().encode(user)));
  return all;
}

async function sent(method, path, { body, more, signal } = {}) {
  let response;
  try {
    response = await fetch(path, { method, body, headers: headers(more), signal, cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    store.set("connection", "lost");
    throw new Unreachable(error);
  }
  if (store.get("connection") === "lost") store.set("connection", "back");
  if (response.ok) return response;
  const told = await response.json().catch(() => ({}));
  const problem = new Problem({ status: response.status, title: response.statusText, ...told });
  if (problem.status === 401) store.set("locked", problem);
  throw problem;
}

const query = (asked) => {
  const pairs = Object.entries(asked ?? {}).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return pairs.length ? `?${new URLSearchParams(pairs)}` : "";
};

/** Reads JSON. */
export async function get(path, asked, signal) {
  return (await sent("GET", `/v1${path}${query(asked)}`, { signal })).json();
}

/** Reads text: a graph, or the bytes sent to a model. */
export async function text(path, asked, signal) {
  return (await sent("GET", `/v1${path}${query(asked)}`, { signal })).text();
}

/** The address of a file of a run. */
export const fileAddress = (run, path) => `/v1/runs/${encodeURIComponent(run)}/files/content${query({ path })}`;

/** Reads a file of a run. */
export async function blob(run, path, signal) {
  return (await sent("GET", fileAddress(run, path), { signal })).blob();
}

/** Sends JSON; requests with the same `once` key take effect once. */
export async function post(path, value, { once, match, wait } = {}) {
  const more = { "content-type": "application/json" };
  if (once) more["idempotency-key"] = once;
  if (match !== undefined) more["if-match"] = `"${match}"`;
  if (wait) more.prefer = `wait=${wait}`;
  return (await sent("POST", `/v1${path}`, { body: JSON.stringify(value), more })).json();
}

/** Sends a file. */
export async function upload(path, file, { once } = {}) {
  const more = { "content-type": "application/octet-stream" };
  if (once) more["idempotency-key"] = once;
  const target = `/v1${path}${query({ name: file.name })}`;
  return (await sent("PUT", target, { body: file, more })).json();
}

/** A new idempotency key. */
export function once() {
  // `randomUUID` exists only on secure pages, and a server on a local network may have no certificate.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Encodes a segment of a path. */
export const part = encodeURIComponent;
