// A list that keeps the element of each key, so that input in one element survives changes of the others.

/**
 * Synchronizes the children of `parent` with a list.
 * `make(item)` returns `{ node, update?, gone? }`; `update(item)` is called whenever the item is shown again.
 */
export function keyed(parent, keyOf, make) {
  const shown = new Map();
  return {
    /** Shows these items, in this order. */
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
        // A moved node loses its focus, so only nodes at another position are moved.
        if (one.node === before) before = before.nextElementSibling;
        else parent.insertBefore(one.node, before);
      }
    },
    /** The entry of a key. */
    get: (key) => shown.get(key),
    /** The number of entries. */
    get size() {
      return shown.size;
    },
  };
}
