// The prompts of a run: the one it expects a reply to now, with a form to reply instead, and every one before it.

import { fresh, h, put } from "../../view/dom.js";
import { get, part, post, text as bytes } from "../../core/api.js";
import { hasRole } from "../../core/me.js";
import { moment, t } from "../../core/words.js";
import { sheet } from "../../form/form.js";
import { field } from "../../form/fields.js";
import { code, json, pretty } from "../../parts/json.js";
import { violation } from "../../parts/reply.js";
import { messages, steps } from "../../parts/sent.js";
import { empty, loading, shown, wrong } from "../../parts/states.js";
import { folded } from "../../parts/timeline.js";

export default function tab(run, signal) {
  const id = fresh("step");
  const pick = h("select", { class: "pick", id, on: { change: () => ((chosen = pick.value), show()) } });
  const picker = h("div", { class: "card row", hidden: true }, h("label", { for: id, class: "small" }, t("prompt.which")), h("span", { class: "grow" }, pick));
  const body = h("div", {});
  const node = h("div", { class: "stack" }, picker, body);
  let version = -1;
  let chosen = null;
  let sent = [];
  let next = null;

  /** Shows the prompt that the reader picked; otherwise the pending one, or the last one that was sent. */
  async function load() {
    if (!next) put(body, loading(6));
    try {
      next = await get(`/runs/${part(run)}/next`, {}, signal);
    } catch (error) {
      if (error.name !== "AbortError") put(body, wrong(error, load));
      return;
    }
    const now = next.expects ? [h("option", { value: "now" }, t("prompt.now", { phase: next.phase }))] : [];
    put(pick, now, sent.map((one) => h("option", { value: one.version }, t("prompt.sent_at", { phase: one.phase, step: one.action, at: moment(one.time) }))).reverse());
    picker.hidden = pick.options.length === 0;
    if ([...pick.options].some((one) => one.value === chosen)) {
      // The prompt that the reader looks at stays.
      pick.value = chosen;
      if (chosen !== "now") return;
    } else chosen = null;
    show();
  }

  function show() {
    const one = sent.find(({ version: at }) => String(at) === pick.value);
    if (!one) return put(body, view(next));
    return shown(body, () => bytes(`/blobs/${one.request}`, {}, signal), (found) => past(one, found));
  }

  function past(one, found) {
    const facts = [[t("prompt.step_id"), one.action], [t("protocols.phase"), one.phase], [t("run.model"), one.by], [t("run.version"), h("a", { href: `/runs/${part(run)}/timeline` }, `v${one.version}`)], one.build ? [t("prompt.memory"), h("a", { href: `/packets?build=${part(one.build)}` }, t("reply.packet"))] : null];
    const turns = messages(found);
    return h("div", { class: "split" },
      h("div", { class: "stack" }, turns ? turns.map(({ role, text }) => h("section", { class: "stack" }, h("h2", {}, t(`prompt.${role}`)), code(text, t(`prompt.${role}`)))) : code(pretty(found), t("reply.request"))),
      h("aside", { class: "stack" },
        h("section", { class: "card" }, h("h2", { class: "aside-title" }, t("prompt.step")), h("dl", { class: "facts" }, facts.filter(Boolean).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]))),
        h("section", { class: "card" }, folded(t("prompt.raw"), () => code(pretty(found), t("reply.request"))))));
  }

  function view(step) {
    if (!step.expects) return empty("completed", t("prompt.nothing"), t(step.waits.length ? "prompt.nothing_waits" : "prompt.nothing_why"), h("a", { class: "button", href: `/runs/${part(run)}` }, t("run.now")));
    const facts = [
      step.agent ? [t("prompt.agent"), step.agent] : null,
      step.model ? [t("run.model"), step.model] : null,
      step.attempt ? [t("prompt.attempt"), step.attempt] : null,
      step.purpose ? [t("prompt.purpose"), step.purpose] : null,
      [t("prompt.contract"), h("a", { href: `/contracts/${part(step.contract.id)}` }, `${step.contract.id} ${step.contract.version}`)],
      step.tools?.length ? [t("prompt.tools"), step.tools.join(", ")] : null,
      step.packet_build ? [t("prompt.memory"), h("a", { href: `/packets?build=${part(step.packet_build)}` }, t("reply.packet"))] : null,
    ];
    return h("div", { class: "split" },
      h("div", { class: "stack" },
        step.system ? h("section", { class: "stack" }, h("h2", {}, t("prompt.system")), code(step.system, t("prompt.system"))) : null,
        (step.messages ?? []).map((turn) => h("section", { class: "stack" }, h("h3", {}, t(`prompt.${turn.role}`)), code(turn.text, t(`prompt.${turn.role}`)))),
        hasRole("operator") ? handIn(step) : null),
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
    update({ status, versions }) {
      if (status.version === version) return;
      version = status.version;
      sent = steps(versions);
      load();
    },
  };
}
