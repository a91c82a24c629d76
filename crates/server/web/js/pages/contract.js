// One contract: its schema and rules, a reply to try it with, another version to compare it with, and exports.

import { fresh, h, put } from "../view/dom.js";
import { icon } from "../view/icons.js";
import { get, part, post } from "../core/api.js";
import { hasRole } from "../core/me.js";
import { t, tOr } from "../core/words.js";
import { head } from "../parts/head.js";
import { code, json } from "../parts/json.js";
import { reply } from "../parts/reply.js";
import { shown } from "../parts/states.js";
import { folded } from "../parts/timeline.js";

export default function page(root, { id }, signal) {
  const body = h("div", {});
  put(root, head(id.split("@")[0], null), body);
  shown(body, () => get(`/contracts/${part(id)}`, {}, signal), (contract) => view(contract, signal));
}

function view(contract, signal) {
  const name = `${contract.id}@${contract.version}`;
  return h("div", { class: "split" },
    h("div", { class: "stack stack-wide" },
      contract.title || contract.description ? h("div", { class: "stack" }, contract.title ? h("p", {}, contract.title) : null, contract.description ? h("p", { class: "soft" }, contract.description) : null) : null,
      hasRole("operator") ? tryIt(name) : null, rules(contract.rules), hasRole("author") ? compare(contract, signal) : null,
      h("section", { class: "stack" }, h("h2", {}, t("contract.schema")), h("div", { class: "card" }, json(contract.schema, 1)))),
    h("aside", { class: "stack" },
      h("section", { class: "card" }, h("h2", { class: "aside-title" }, t("contract.about")), h("dl", { class: "facts" }, [
        [t("contract.version"), contract.version], [t("contract.intake"), contract.intake], [t("contract.repairs"), contract.repairs],
        [t("contract.reask"), `${contract.on_violation.reask} · ${contract.on_violation.then}`], [t("contract.compatibility"), contract.compatibility],
        contract.migration_notes ? [t("contract.notes"), contract.migration_notes] : null, [t("contract.digest"), h("code", {}, contract.digest.slice(0, 23))],
      ].filter(Boolean).map(([key, value]) => [h("dt", {}, key), h("dd", {}, value)]))),
      h("section", { class: "card" }, h("h2", { class: "aside-title" }, t("contract.export")), exports(name, signal))));
}

function tryIt(name) {
  const id = fresh("reply");
  const text = h("textarea", { class: "area code", id, rows: 6, spellcheck: "false" });
  const result = h("div", { "aria-live": "polite" });
  const admit = () => shown(result, () => post(`/contracts/${part(name)}/admit`, { text: text.value, reask: true }), (found) => h("div", { class: "stack" },
    h("p", { class: `note ${found.verdict === "accepted" ? "good-note" : "bad-note"}` }, h("strong", {}, t(`contract.${found.verdict}`)), found.unchecked.length ? t("contract.unchecked", { rules: found.unchecked.join(", ") }) : null),
    reply(text.value, found), found.value !== null ? folded(t("contract.value"), () => json(found.value)) : null, found.reask ? folded(t("reply.told"), () => code(found.reask, t("reply.told"))) : null), 3);
  return h("section", { class: "card stack" }, h("h2", {}, t("contract.try")), h("div", { class: "field" }, h("label", { for: id }, t("contract.try_why")), text), h("div", {}, h("button", { class: "button", type: "button", on: { click: admit } }, icon("seal"), t("contract.admit"))), result);
}

const rules = (all) => (all.length ? h("section", { class: "stack" }, h("h2", {}, t("contract.rules")), h("div", { class: "card flush scroll" }, h("table", { class: "grid-table" },
  h("thead", {}, h("tr", {}, [t("contract.rule"), t("contract.says"), t("contract.holds")].map((name) => h("th", { scope: "col" }, name)))),
  h("tbody", {}, all.map((rule) => h("tr", {}, h("th", { scope: "row" }, h("code", {}, rule.id), rule.at ? h("div", { class: "soft tiny mono" }, rule.at) : null), h("td", {}, rule.says),
    h("td", {}, rule.when ? h("div", { class: "soft" }, t("contract.when"), " ", h("code", {}, rule.when)) : null, h("code", {}, rule.then))))))) ) : null);

function compare(contract, signal) {
  const [pick, own] = [fresh("other"), fresh("own")];
  const select = h("select", { class: "pick", id: pick });
  const text = h("textarea", { class: "area code", id: own, rows: 4, spellcheck: "false" });
  const result = h("div", { "aria-live": "polite" });
  get("/contracts", {}, signal).then((all) => put(select, h("option", { value: "" }, t("form.unsaid")), all.map((one) => h("option", { value: `${one.id}@${one.version}` }, `${one.id} ${one.version}`)))).catch(() => {});
  const run = () => shown(result, () => post("/contracts/diff", { old: { id: `${contract.id}@${contract.version}` }, new: text.value.trim() ? { text: text.value } : { id: select.value } }), comparison, 3);
  return h("section", { class: "card stack" }, h("h2", {}, t("contract.compare")),
    h("div", { class: "halves" },
      h("div", { class: "field" }, h("label", { for: pick }, t("contract.with")), select),
      h("div", { class: "field" }, h("label", { for: own }, t("contract.or_text")), text)),
    h("div", {}, h("button", { class: "button", type: "button", on: { click: run } }, t("contract.compare_now"))), result);
}

function comparison(found) {
  const way = (name, one) => h("div", { class: `note ${one.answer === "yes" ? "good-note" : one.answer === "no" ? "bad-note" : "warn-note"}` },
    h("strong", {}, t(`contract.${name}`), " ", t(`contract.${one.answer}`)),
    one.witness !== null && one.witness !== undefined ? h("div", {}, t("contract.witness"), code(one.text ?? JSON.stringify(one.witness, null, 2), t("contract.witness"))) : null,
    (one.violations ?? []).map((why) => h("span", { class: "small" }, why)), one.reason ? h("span", {}, one.reason) : null);
  return h("div", { class: "stack" }, way("backward", found.backward), way("forward", found.forward),
    h("ul", { class: "diff" }, found.changes.map((change) => h("li", {}, h("div", { class: "place" }, h("span", { class: "verb" }, tOr(`change.${change.kind}`, change.kind)), change.pointer || "/"), h("div", {}, change.message)))));
}

function exports(name, signal) {
  const result = h("div", {});
  const show = (target) => shown(result, () => get(`/contracts/${part(name)}/export`, { target }, signal), (found) => h("div", { class: "stack" },
    found.losses.length ? h("div", { class: "stack" }, h("p", { class: "small" }, t("contract.losses", { n: found.losses.length })), found.losses.map((loss) => h("div", { class: "note small" }, h("code", {}, `${loss.pointer || "/"} ${loss.keyword}`), loss.reason))) : h("p", { class: "note good-note" }, t("contract.no_losses")),
    folded(t(found.grammar ? "contract.grammar" : "contract.schema"), () => (found.grammar ? code(found.grammar, t("contract.grammar")) : json(found.schema, 2)))), 3);
  return h("div", { class: "stack" }, h("div", { class: "chips" }, ["openai", "anthropic", "gemini", "grammar"].map((target) => h("button", { class: "chip", type: "button", on: { click: () => show(target) } }, target))), result);
}
