// The protocols that a name leads to: that of the folder stands before one that ships under the same name.

import { get } from "./api.js";

/** Protocols, each name once. */
export async function offered(signal) {
  const all = await get("/protocols", {}, signal);
  return all.filter((one, place) => all.findIndex(({ name }) => name === one.name) === place);
}
