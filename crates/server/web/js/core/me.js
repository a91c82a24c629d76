// The caller as the server sees it: the name, and the role that limits what the caller may do.

import { get } from "./api.js";
import { store } from "./store.js";

const ROLES = ["reader", "operator", "author", "admin"];

/** Loads the caller. Where that fails, the page that is shown next says why. */
export async function loadCaller() {
  try {
    store.set("me", await get("/me"));
  } catch {
    // Without a caller every button is shown, and the server decides.
  }
}

/** Whether the caller has at least this role. */
export const hasRole = (role) => {
  const caller = store.get("me");
  return !caller || ROLES.indexOf(caller.role) >= ROLES.indexOf(role);
};
