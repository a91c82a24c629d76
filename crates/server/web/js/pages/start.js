// Starts a run: the protocol, the input and the model.

import { fresh, h, put } from "../view/dom.js";
import { icon } from "../view/icons.js";
import { get, part, post } from "../core/api.js";
import { hasRole } from "../core/me.js";
import { go } from "../core/router.js";
import { t } from "../core/words.js";
import { field } from "../form/fields.js";
import { sheet } from "../form/form.js";
import { offered } from "../core/offered.js";
import { head } from "../parts/head.js";
import { quoted } from "../parts/quoted.js";
import { scriptNote } from "../parts/script.js";
import { empty, shown } from "../parts/states.js";

export default function page(root, { protocol }, signal) {
  const body = h("div", {});
  put(root, head(t("start.title"), t("start.lead")), body);
  if (!hasRole("operator")) put(body, empty("incident", t("start.not_you"), t("start.not_you_why"), h("a", { class: "button", href: "/runs" }, t("nav.runs"))));
  else if (protocol) shown(body, () => get(`/protocols/${part(protocol)}`, {}, signal), one);
  else shown(body, () => offered(signal), all);
}

function all(protocols) {
  if (!protocols.length) return empty("protocols", t("protocols.empty"), t("protocols.empty_why"));
  return h("ul", { class: "rows" }, protocols.map((one) => h("li", {}, h("a", { class: "line", href: `/start/${part(one.name)}`, "aria-disabled": one.errors ? "true" : null },
    h("span", { class: "what" }, one.name, " ", h("span", { class: "tag" }, t(`origin.${one.origin}`))),
    h("span", { class: "meta" }, one.description || one.workflows.join(", ")),
    one.errors ? h("span", { class: "bad small" }, t("protocols.errors", { n: one.errors })) : null))));
}

function one(protocol) {
  const faults = protocol.diagnostics.filter((found) => found.severity === "error");
  if (faults.length) return empty("incident", t("start.faulty"), t("start.faulty_why"), h("a", { class: "button", href: `/protocols/${part(protocol.name)}` }, t("protocols.see")));
  const place = h("div", {});
  const pick = fresh("workflow");
  const own = protocol.workflows.filter((flow) => flow.input || flow.id === protocol.default_workflow);
  const select = h("select", { class: "pick", id: pick, on: { change: () => show() } }, own.map((flow) => h("option", { value: flow.id }, flow.name ? `${flow.name} (${flow.id})` : flow.id)));
  select.value = protocol.default_workflow ?? own[0]?.id ?? "";
  const show = () => put(place, form(protocol, own.find((flow) => flow.id === select.value)));
  show();
  return h("div", { class: "card stack" },
    h("div", { class: "row" }, h("h2", {}, protocol.name), h("span", { class: "tag" }, protocol.version ?? ""), h("a", { class: "small", href: "/start" }, t("start.other"))),
    protocol.description ? h("p", { class: "soft" }, protocol.description) : null,
    own.length > 1 ? h("div", { class: "field" }, h("label", { for: pick }, t("start.workflow")), select) : null,
    place);
}

function form(protocol, workflow) {
  const asked = workflow?.input;
  const input = asked
    ? field({ ...asked.schema, title: asked.question ?? asked.schema.title ?? t("start.input") }, { root: asked.schema, name: t("start.input"), required: true, at: "" })
    : field({ type: ["object"], title: t("start.document"), description: t("start.document_why") }, { root: {}, name: t("start.document"), required: false });
  const id = fresh("model");
  const model = h("input", { class: "input", id, autocomplete: "off", placeholder: protocol.default_model ?? "openai:gpt-5-mini" });
  const extra = h("details", {}, h("summary", { class: "small" }, t("start.more")), h("div", { class: "field" }, h("label", { for: id }, t("run.model"), h("span", { class: "need" }, ` (${t("form.optional")})`)), h("p", { class: "help" }, quoted(t("start.model_why"))), model));
  const fill = (text) => {
    const control = input.node.querySelector("textarea, input");
    control.value = text;
    control.dispatchEvent(new Event("input", { bubbles: true }));
    control.focus();
  };
  const note = protocol.script ? scriptNote(asked ? protocol.script : { ...protocol.script, inputs: [] }, fill) : null;
  const body = { ...input, node: h("div", { class: "stack" }, note?.node, input.node, extra) };
  input.node.addEventListener("input", () => note?.check(input.typed()));
  const sent = (value) => {
    const new_ = { protocol: protocol.name, workflow: workflow?.id };
    if (value !== undefined) new_[asked ? "input" : "document"] = value;
    if (model.value.trim()) new_.model = model.value.trim();
    return new_;
  };
  return sheet({
    body, place: `start/${protocol.name}/${workflow?.id}`, label: [icon("next"), t("start.start")],
    send: (value, once) => post("/runs", sent(value), { once }),
    taken: (run) => go(`/runs/${part(run.run)}`),
  }).node;
}
