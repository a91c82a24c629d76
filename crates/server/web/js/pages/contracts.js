// Contracts that replies are checked against.

import { h, put } from "../view/dom.js";
import { get, part } from "../core/api.js";
import { t } from "../core/words.js";
import { head } from "../parts/head.js";
import { empty, shown } from "../parts/states.js";

export default function page(root, _, signal) {
  const body = h("div", {});
  const search = h("input", { class: "input grow", type: "search", placeholder: t("contracts.search"), "aria-label": t("contracts.search"), data: { search: "" } });
  put(root, head(t("contracts.title"), t("contracts.lead")), h("div", { class: "filters" }, search), body);
  shown(body, () => get("/contracts", {}, signal), (all) => {
    const rows = all.map((one) => [
      `${one.id} ${one.title}`.toLowerCase(),
      h("li", {}, h("a", { class: "line", href: `/contracts/${part(`${one.id}@${one.version}`)}` },
        h("span", { class: "what" }, h("span", { class: "mono" }, one.id), " ", h("span", { class: "soft small" }, one.version)),
        one.title ? h("span", { class: "small soft" }, one.title) : null,
        h("span", { class: "meta" }, h("span", { class: "tag" }, t("contract.intake"), " ", one.intake), h("span", { class: "tag" }, t("contract.repairs"), " ", one.repairs), t("contract.rule_count", { n: one.rules })))),
    ]);
    const none = empty("contracts", t("contracts.none"), t("contracts.none_why"));
    const filter = () => {
      const wanted = search.value.toLowerCase().trim();
      let count = 0;
      for (const [words, node] of rows) {
        node.hidden = !words.includes(wanted);
        count += node.hidden ? 0 : 1;
      }
      none.hidden = count > 0;
    };
    search.addEventListener("input", filter);
    filter();
    return h("div", {}, none, h("ul", { class: "rows" }, rows.map(([, node]) => node)));
  });
}
