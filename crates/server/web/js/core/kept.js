// What this browser keeps: how the page looks, who acts, and whatever was typed and not yet taken.
//
// A browser that keeps nothing (a private window that is full) is no reason to stop.

function read(area, name) {
  try {
    const text = area().getItem(`countersign.${name}`);
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function write(area, name, value) {
  try {
    if (value === undefined) area().removeItem(`countersign.${name}`);
    else area().setItem(`countersign.${name}`, JSON.stringify(value));
  } catch {
    // Full or forbidden: it lives as long as the page.
  }
}

const local = () => window.localStorage;
const session = () => window.sessionStorage;

/** How somebody likes it: `theme`, `language`, `user`. */
export const liking = {
  get: (name) => read(local, `liking.${name}`),
  set: (name, value) => write(local, `liking.${name}`, value),
};

/** The key of the server, for this tab only. */
export const key = {
  get: () => read(session, "key"),
  set: (value) => write(session, "key", value),
};

/** What was typed and not yet taken, by the place it belongs to. */
export const drafts = {
  get: (place) => read(local, `draft.${place}`),
  set: (place, value) => write(local, `draft.${place}`, value),
  drop: (place) => write(local, `draft.${place}`, undefined),
};
