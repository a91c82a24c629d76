// The shared state of the page. Components watch a name; nothing is shown from any other state.

class Store {
  #values = new Map();
  #watchers = new Map();

  /** The value of a name. */
  get(name) {
    return this.#values.get(name);
  }

  /** Sets the value, and notifies the watchers if it changed. */
  set(name, value) {
    if (Object.is(this.#values.get(name), value)) return;
    this.#values.set(name, value);
    for (const watcher of [...(this.#watchers.get(name) ?? [])]) watcher(value);
  }

  /** Calls back immediately if there is a value, and on every change, until the signal aborts. */
  watch(name, watcher, signal) {
    const all = this.#watchers.get(name) ?? new Set();
    this.#watchers.set(name, all.add(watcher));
    signal?.addEventListener("abort", () => all.delete(watcher));
    if (this.#values.has(name)) watcher(this.#values.get(name));
  }
}

export const store = new Store();
