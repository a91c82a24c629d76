// One protocol: its workflows as graphs, and the findings of `check`.

import { h, put } from "../view/dom.js";
import { icon } from "../view/icons.js";
import { get, part } from "../core/api.js";
import { hasRole } from "../core/me.js";
import { t } from "../core/words.js";
import { graph } from "../parts/graph.js";
import { head } from "../parts/head.js";
import { folded } from "../parts/timeline.js";
import { shown } from "../parts/states.js";

export default function page(root, { name }, signal) {
  const body = h("div", {});
  put(root, head(name, null, hasRole("operator") ? h("a", { class: "button first", href: `/start/${part(name)}` }, icon("start"), t("nav.start")) : null), body);
  shown(body, () => get(`/protocols/${part(name)}`, {}, signal), (protocol) => view(protocol, signal));
}

function view(protocol, signal) {
  return h("div", { class: "split" },
    h("div", { class: "stack stack-wide" },
      protocol.description ? h("p", {}, protocol.description) : null,
      findings(protocol.diagnostics),
      protocol.workflows.map((flow) => workflow(protocol, flow, signal))),
    h("aside", { class: "stack" },
      h("section", { class: "card" }, h("h2", { class: "aside-title" }, t("protocols.about")), h("dl", { class: "facts" }, [
        [t("contract.version"), protocol.version ?? "–"], [t("protocols.origin"), t(`origin.${protocol.origin}`)], [t("run.model"), protocol.default_model ?? "–"],
        [t("protocols.agents"), protocol.agents.join(", ") || "–"], [t("contract.digest"), h("code", {}, protocol.digest.slice(0, 23))],
      ].map(([key, value]) => [h("dt", {}, key), h("dd", {}, value)]))),
      h("section", { class: "card" }, folded(t("protocols.files", { n: protocol.files.length }), () => h("ul", { class: "mono" }, protocol.files.map((file) => h("li", {}, file)))))));
}

function findings(all) {
  if (!all.length) return h("p", { class: "note good-note" }, t("protocols.no_fault"));
  return h("section", { class: "stack", "aria-label": t("protocols.findings") }, all.map((one) => h("div", { class: `note ${one.severity === "error" ? "bad-note" : "warn-note"}` },
    h("strong", {}, icon("incident"), one.message),
    h("code", {}, `${one.file}:${one.line}:${one.column}`), one.hint ? h("span", {}, one.hint) : null, h("span", { class: "tiny soft" }, `${t(`severity.${one.severity}`)} · ${one.code}`))));
}

function workflow(protocol, flow, signal) {
  const drawing = graph(`/protocols/${part(protocol.name)}/graph`, { workflow: flow.id }, t("protocols.drawing", { name: flow.name ?? flow.id }));
  drawing.update(signal);
  return h("section", { class: "stack" },
    h("h2", {}, flow.name ?? flow.id, " ", h("span", { class: "soft small mono" }, flow.id)),
    flow.description ? h("p", { class: "soft" }, flow.description) : null,
    drawing.node,
    folded(t("protocols.phases", { n: flow.phases.length }), () => h("div", { class: "scroll" }, h("table", { class: "grid-table" },
      h("thead", {}, h("tr", {}, [t("protocols.phase"), t("protocols.work"), t("protocols.ways")].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, flow.phases.map((phase) => h("tr", {},
        h("th", { scope: "row" }, phase.name ?? phase.id, h("br"), h("code", { class: "soft" }, phase.id)),
        h("td", {}, phase.work ?? "–"),
        h("td", {}, flow.transitions.filter((way) => way.from === phase.id).map((way) => h("div", {}, `→ ${way.to}`, way.gate ? h("span", { class: "soft" }, ` · ${way.gate}`) : null))))))))));
}
