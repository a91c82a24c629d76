// Monitors the connection. While the server does not respond, the page retries and shows a banner.

import { store } from "./store.js";

const EVERY = 1_500;

let asking = false;

/** Watches the connection; `back` is called when the server responds again. */
export function watch(back) {
  store.watch("connection", (state) => {
    if (state === "lost" && !asking) ask();
    if (state === "back") {
      store.set("connection", "here");
      back();
    }
  });
  window.addEventListener("online", () => store.get("connection") === "lost" && once());
}

async function ask() {
  asking = true;
  while (store.get("connection") === "lost") {
    await new Promise((done) => setTimeout(done, EVERY));
    await once();
  }
  asking = false;
}

async function once() {
  try {
    const response = await fetch("/v1/health", { cache: "no-store" });
    if (response.ok && store.get("connection") === "lost") store.set("connection", "back");
  } catch {
    // The server still does not respond.
  }
}
