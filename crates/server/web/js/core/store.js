// The one place of what is known now. Who wants to know watches a name; nothing is shown from anywhere else.

class Store {
  #values = new Map();
  #watchers = new Map();

  /** What is known under a name. */
  get(name) {
    return this.#values.get(name);
  }

  /** Makes it known, and tells whoever watches where it is something new. */
  set(name, value) {
    if (Object.is(this.#values.get(name), value)) return;
    this.#values.set(name, value);
    for (const watcher of [...(this.#watchers.get(name) ?? [])]) watcher(value);
  }

  /** Calls back now, where there is something, and whenever it changes, until the signal ends it. */
  watch(name, watcher, signal) {
    const all = this.#watchers.get(name) ?? new Set();
    this.#watchers.set(name, all.add(watcher));
    signal?.addEventListener("abort", () => all.delete(watcher));
    if (this.#values.has(name)) watcher(this.#values.get(name));
  }
}

export const store = new Store();
