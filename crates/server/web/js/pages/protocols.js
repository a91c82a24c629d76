// Protocols that runs can be started from.

import { h, put } from "../view/dom.js";
import { part } from "../core/api.js";
import { offered } from "../core/offered.js";
import { t } from "../core/words.js";
import { head } from "../parts/head.js";
import { empty, shown } from "../parts/states.js";

export default function page(root, _, signal) {
  const body = h("div", {});
  put(root, head(t("protocols.title"), t("protocols.lead")), body);
  shown(body, () => offered(signal), (all) => all.length
    ? h("ul", { class: "rows" }, all.map((one) => h("li", {}, h("a", { class: "line", href: `/protocols/${part(one.name)}` },
      h("span", { class: "what" }, one.name, " ", h("span", { class: "soft small" }, one.version ?? "")),
      one.description ? h("span", { class: "small soft" }, one.description) : null,
      h("span", { class: "meta" }, h("span", { class: "tag" }, t(`origin.${one.origin}`)), one.workflows.join(", "), one.errors ? h("span", { class: "bad" }, t("protocols.errors", { n: one.errors })) : null)))))
    : empty("protocols", t("protocols.empty"), t("protocols.empty_why")));
}
