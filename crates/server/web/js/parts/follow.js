// A follow-up question to a run that has ended: a new run that continues its conversation.

import { fresh, h, put } from "../view/dom.js";
import { icon } from "../view/icons.js";
import { once, part, post } from "../core/api.js";
import { go } from "../core/router.js";
import { t } from "../core/words.js";
import { wrong } from "./states.js";

/** The form; what is typed stays until it is sent. */
export function followUp(run, { protocol, workflow, model }) {
  const [id, key] = [fresh("follow"), once()];
  const told = h("div", {});
  const words = h("textarea", { class: "input", id, rows: "2", required: true, maxlength: "4000" });
  const button = h("button", { class: "button first", type: "submit" }, icon("next"), t("follow.send"));
  async function submit(event) {
    event.preventDefault();
    const input = words.value.trim();
    if (!input) return words.focus();
    button.disabled = true;
    try {
      const body = { protocol: protocol.name, workflow, input, continues: run, ...(model ? { model } : {}) };
      const made = await post("/runs", body, { once: key });
      go(`/runs/${part(made.run)}`);
    } catch (error) {
      put(told, wrong(error));
      button.disabled = false;
    }
    return undefined;
  }
  return h("form", { class: "card stack", data: { follow: "" }, on: { submit } },
    h("div", { class: "field" }, h("label", { for: id }, t("follow.label")), h("p", { class: "help" }, t("follow.why")), words),
    told, h("div", { class: "buttons" }, button));
}
