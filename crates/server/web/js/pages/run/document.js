// The document of a run at any version, and the changes between two versions.

import { fresh, h, put } from "../../view/dom.js";
import { get, part } from "../../core/api.js";
import { t } from "../../core/words.js";
import { at, diff } from "../../parts/diff.js";
import { json } from "../../parts/json.js";
import { shown } from "../../parts/states.js";

export default function tab(run, signal) {
  const [from, to] = [fresh("from"), fresh("to")];
  const range = h("input", { type: "range", min: 1, value: 1, id: to });
  const since = h("select", { class: "pick", id: from });
  const told = h("output", { class: "mono small", for: to });
  const body = h("div", {});
  const node = h("div", { class: "stack" },
    h("div", { class: "card row" },
      h("label", { for: to, class: "small" }, t("document.at")), range, told,
      h("label", { for: from, class: "small" }, t("document.since")), h("span", {}, since)),
    body);
  let newest = 0;
  let chosen = null;

  async function show() {
    const version = Number(range.value);
    const before = since.value === "" ? null : Number(since.value);
    put(told, `v${version}`);
    const path = `/runs/${part(run)}`;
    if (before === null) await shown(body, () => get(`${path}/document`, { version }, signal), (found) => h("div", { class: "card" }, json(found)));
    else {
      const load = () => Promise.all([get(`${path}/diff`, { from: before, to: version }, signal), get(`${path}/document`, { version: before }, signal)]);
      await shown(body, load, ([ops, old]) => (ops.length ? diff(ops, (pointer) => at(old, pointer)) : h("p", { class: "note" }, t("document.same"))));
    }
  }
  range.addEventListener("input", () => put(told, `v${range.value}`));
  range.addEventListener("change", () => ((chosen = Number(range.value) === newest ? null : range.value), show()));
  since.addEventListener("change", show);

  return {
    node,
    update({ status }) {
      if (status.version === newest) return;
      newest = status.version;
      range.max = newest;
      const was = since.value;
      put(since, h("option", { value: "" }, t("document.whole")), Array.from({ length: newest }, (_, index) => h("option", { value: index + 1 }, t("document.changes_since", { n: index + 1 }))));
      since.value = was;
      // Do not leave the version that the reader has selected.
      if (chosen === null) {
        range.value = newest;
        show();
      }
    },
  };
}
