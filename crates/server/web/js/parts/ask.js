// A confirmation dialog for actions that cannot be undone, with an optional reason.

import { fresh, h, put } from "../view/dom.js";
import { icon } from "../view/icons.js";
import { t } from "../core/words.js";
import { wrong } from "./states.js";

/**
 * A dialog; `about` names what it is about. `send(reason, number, who)` performs the action, where `who` is a name asked
 * for with this label; `done(result)` is called afterwards. `no` is the label of the
 * button that changes nothing; with `danger`, the other button is red and does not have the focus.
 */
export function ask({ title, about, text, yes, no = t("act.leave"), danger = false, reason = false, number, who, send, done }) {
  const told = h("div", {});
  const [why, count, named, person] = [fresh("why"), fresh("count"), fresh("title"), fresh("who")];
  const name = who ? h("input", { class: "input", id: person, autocomplete: "off", required: true, on: { input: () => (name.removeAttribute("aria-invalid"), put(told)) } }) : null;
  const words = h("input", { class: "input", id: why, autocomplete: "off" });
  const digits = number ? h("input", { class: "input", id: count, inputmode: "numeric", value: number.value }) : null;
  const button = h("button", { class: `button ${danger ? "danger solid" : "first"}`, type: "submit" }, yes);
  const back = h("button", { class: "button", type: "button", autofocus: danger && !reason, on: { click: () => dialog.close() } }, no);
  const dialog = h("dialog", { "aria-labelledby": named, on: { close: () => dialog.remove() } },
    h("form", { class: "stack", method: "dialog", novalidate: true, on: { submit } },
      h("header", {}, h("h2", { id: named }, title), h("button", { class: "button low plain", type: "button", "aria-label": t("act.close"), on: { click: () => dialog.close() } }, icon("close"))),
      about ? h("p", {}, h("strong", {}, about)) : null,
      text ? h("p", { class: "soft" }, text) : null,
      name ? h("div", { class: "field" }, h("label", { for: person }, who), name) : null,
      digits ? h("div", { class: "field" }, h("label", { for: count }, number.label), digits) : null,
      reason ? h("div", { class: "field" }, h("label", { for: why }, t("act.reason"), h("span", { class: "need" }, ` (${t("form.optional")})`)), words) : null,
      told, h("div", { class: "buttons" }, button, back)));
  document.body.append(dialog);
  dialog.showModal();

  async function submit(event) {
    event.preventDefault();
    const at = digits ? Number(digits.value) : undefined;
    if (digits && (!Number.isInteger(at) || at < number.min || at > number.max)) {
      digits.setAttribute("aria-invalid", "true");
      put(told, h("p", { class: "small bad", role: "alert" }, t("form.between", { least: number.min, most: number.max })));
      return;
    }
    const to = name?.value.trim();
    if (name && !to) {
      name.setAttribute("aria-invalid", "true");
      put(told, h("p", { class: "small bad", role: "alert" }, t("form.needed")));
      return;
    }
    button.disabled = true;
    try {
      const result = await send(words.value.trim() || undefined, at, to);
      dialog.close();
      done?.(result);
    } catch (error) {
      put(told, wrong(error));
      button.disabled = false;
    }
  }
}
