// What the browser stores: preferences, the acting user, and drafts that the server has not accepted yet.
//
// The page also works if the browser cannot store anything, for example in a private window.

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
    // Storage is full or forbidden: the value lives as long as the page.
  }
}

const local = () => window.localStorage;
const session = () => window.sessionStorage;

/** Preferences: `theme`, `language`, `user`. */
export const liking = {
  get: (name) => read(local, `liking.${name}`),
  set: (name, value) => write(local, `liking.${name}`, value),
};

/** The key of the server, for this tab only. */
export const key = {
  get: () => read(session, "key"),
  set: (value) => write(session, "key", value),
};

/** Drafts that the server has not accepted yet, by form. */
export const drafts = {
  get: (place) => read(local, `draft.${place}`),
  set: (place, value) => write(local, `draft.${place}`, value),
  drop: (place) => write(local, `draft.${place}`, undefined),
};
