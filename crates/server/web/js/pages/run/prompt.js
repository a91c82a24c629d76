// What the run expects now: the prompt as the model receives it, its packet and contract, and a form to reply instead.

import { h, put } from "../../view/dom.js";
import { get, part, post } from "../../core/api.js";
import { t } from "../../core/words.js";
import { sheet } from "../../form/form.js";
import { field } from "../../form/fields.js";
import { code, json } from "../../parts/json.js";
import { violation } from "../../parts/reply.js";
import { empty, shown } from "../../parts/states.js";
import { folded } from "../../parts/timeline.js";

export default function tab(run, signal) {
  const node = h("div", {});
  let version = -1;
  const load = () => shown(node, () => get(`/runs/${part(run)}/next`, {}, signal), view);

  function view(step) {
    if (!step.expects) return empty("completed", t("prompt.nothing"), t(step.waits.length ? "prompt.nothing_waits" : "prompt.nothing_why"), h("a", { class: "button", href: `/runs/${part(run)}` }, t("run.now")));
    const facts = [
      step.agent ? [t("prompt.agent"), step.agent] : null,
      step.model ? [t("run.model"), step.model] : null,
      step.attempt ? [t("prompt.attempt"), step.attempt] : null,
      step.purpose ? [t("prompt.purpose"), step.purpose] : null,
      [t("prompt.contract"), h("a", { href: `/contracts/${part(step.contract.id)}` }, `${step.contract.id} ${step.contract.version}`)],
      step.tools?.length ? [t("prompt.tools"), step.tools.join(", ")] : null,
      step.packet_build ? [t("prompt.memory"), h("a", { href: `/packets?build=${part(step.packet_build)}` }, step.packet_build)] : null,
    ];
    return h("div", { class: "split" },
      h("div", { class: "stack" },
        step.system ? h("section", { class: "stack" }, h("h2", {}, t("prompt.system")), code(step.system, t("prompt.system"))) : null,
        (step.messages ?? []).map((turn) => h("section", { class: "stack" }, h("h3", {}, t(`prompt.${turn.role}`)), code(turn.text, t(`prompt.${turn.role}`)))),
        handIn(step)),
      h("aside", { class: "stack" },
        h("section", { class: "card" }, h("h2", { class: "aside-title" }, t("prompt.step")), h("dl", { class: "facts" }, facts.filter(Boolean).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]))),
        step.contract.rules.length ? h("section", { class: "card" }, h("h2", { class: "aside-title" }, t("contract.rules")), h("ul", { class: "stack small" }, step.contract.rules.map((rule) => h("li", {}, rule.says)))) : null,
        h("section", { class: "card" }, h("h2", { class: "aside-title" }, t("prompt.packet")), json(step.packet, 1)),
        h("section", { class: "card" }, folded(t("contract.schema"), () => json(step.contract.schema, 1)))));
  }

  function handIn(step) {
    const body = field({ title: t(step.expects === "reply" ? "prompt.reply" : "prompt.patch") }, { root: {}, name: "", required: true });
    const text = body.node.querySelector("textarea");
    body.read = () => text.value;
    const told = h("div", { class: "faults", "aria-live": "polite" });
    const form = sheet({
      body, place: `${run}/submit`, label: t("prompt.send"),
      send: (value, once) => post(`/runs/${part(run)}/submit`, { text: value, ...(step.action ? { action: step.action } : {}) }, { once, match: step.action ? undefined : step.version }),
      taken: (result) => (result.violations ? put(told, h("strong", { class: "bad" }, t("event.refused", { n: result.violations.length })), result.violations.map(violation)) : put(told, h("p", { class: "note good-note" }, t("event.accepted")))),
    });
    return h("section", { class: "card stack" }, h("h2", {}, t("prompt.hand_in")), h("p", { class: "soft small" }, t("prompt.hand_in_why")), form.node, told);
  }

  return {
    node,
    update({ status }) {
      if (status.version === version) return;
      version = status.version;
      load();
    },
  };
}
