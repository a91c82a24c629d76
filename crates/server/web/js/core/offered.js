// The protocols by name: the folder's protocol takes precedence over a shipped one with the same name.

import { get } from "./api.js";

/** The protocols, each name once. */
export async function offered(signal) {
  const all = await get("/protocols", {}, signal);
  return all.filter((one, place) => all.findIndex(({ name }) => name === one.name) === place);
}
