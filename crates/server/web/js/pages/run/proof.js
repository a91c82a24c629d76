// Verifies a run: the server checks its hash chain and replays every input.

import { h, put } from "../../view/dom.js";
import { icon } from "../../view/icons.js";
import { get, part } from "../../core/api.js";
import { number, t } from "../../core/words.js";
import { code } from "../../parts/json.js";
import { shown } from "../../parts/states.js";

export default function tab(run, signal) {
  const result = h("div", { "aria-live": "polite" });
  const button = h("button", { class: "button first", type: "button", on: { click: prove } }, icon("seal"), t("proof.prove"));
  const node = h("div", { class: "stack" }, h("div", { class: "card stack" }, h("h2", {}, t("proof.title")), h("p", { class: "soft" }, t("proof.why")), h("div", {}, button)), result);

  async function prove() {
    button.disabled = true;
    await shown(result, () => get(`/runs/${part(run)}/verify`, {}, signal), view, 3);
    button.disabled = false;
  }

  const view = (proof) => h("div", { class: "card proof" },
    h("span", { class: `seal ${proof.verified ? "good" : "bad"}` }, icon(proof.verified ? "seal" : "incident")),
    h("div", { class: "stack" },
      h("h2", {}, t(proof.verified ? "proof.good" : "proof.bad")),
      proof.verified ? h("p", {}, t("proof.counted", { versions: number(proof.versions), events: number(proof.events), ms: number(Math.round(proof.seconds * 1_000)) })) : code(proof.failure ?? "", t("proof.bad")),
      proof.hash ? h("p", { class: "small soft" }, t("proof.hash"), h("br"), h("code", {}, proof.hash)) : null));

  let first = true;
  return { node, update: () => first && ((first = false), put(result)) };
}
