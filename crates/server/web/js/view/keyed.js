// A list whose elements live as long as their keys: what somebody types in one outlives every change around it.

/**
 * Keeps the children of `parent` in step with a list.
 * `make(item)` gives `{ node, update?, gone? }`; `update(item)` is called whenever the item comes again.
 */
export function keyed(parent, keyOf, make) {
  const shown = new Map();
  return {
    /** Shows these, in this order. */
    show(items) {
      const wanted = new Set(items.map(keyOf));
      for (const [key, one] of shown) {
        if (wanted.has(key)) continue;
        one.gone?.();
        one.node.remove();
        shown.delete(key);
      }
      let before = parent.firstElementChild;
      for (const item of items) {
        const key = keyOf(item);
        let one = shown.get(key);
        if (one) {
          one.update?.(item);
        } else {
          one = make(item);
          shown.set(key, one);
        }
        // Moving a node takes its focus, so only those are moved that stand elsewhere.
        if (one.node === before) before = before.nextElementSibling;
        else parent.insertBefore(one.node, before);
      }
    },
    /** What is shown under a key. */
    get: (key) => shown.get(key),
    /** How many are shown. */
    get size() {
      return shown.size;
    },
  };
}
