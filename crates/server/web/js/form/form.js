// A form generated from a schema: it saves the input, sends it once, and shows errors beside the fields.

import { h, put } from "../view/dom.js";
import { icon } from "../view/icons.js";
import { Problem, once } from "../core/api.js";
import { drafts } from "../core/kept.js";
import { t } from "../core/words.js";
import { quoted } from "../parts/quoted.js";
import { Unfit, field } from "./fields.js";

/**
 * A form. `place` is the key of the saved draft, `send(value, once)` sends the value, and `taken(result)` is called
 * afterwards. `refused(problem)` returns true if it has shown the problem itself.
 */
export function schemaForm({ schema, name, place, label, send, taken, refused, extra }) {
  const body = field(schema ?? {}, { root: schema, name, required: true });
  return sheet({ body, place, label, send, taken, refused, extra });
}

/** A form around any field. */
export function sheet({ body, place, label, send, taken, refused, extra }) {
  const told = h("div", { role: "alert", class: "told" });
  const button = h("button", { class: "button first", type: "submit" }, label);
  const form = h("form", { class: "stack", novalidate: true, on: { submit, input: keep, change: keep } }, body.node, told, h("div", { class: "buttons" }, button, extra));
  // The same value is sent under the same idempotency key until the server responds, so it is accepted once.
  let under = null;
  const before = drafts.get(place);
  if (before !== undefined) body.fill(before);

  function keep() {
    under = null;
    const value = body.typed();
    if (value === undefined) drafts.drop(place);
    else drafts.set(place, value);
  }

  async function submit(event) {
    event.preventDefault();
    body.clear();
    put(told);
    let value;
    try {
      value = body.read();
    } catch (error) {
      if (!(error instanceof Unfit)) throw error;
      body.fail(error.pointer, error.message);
      form.querySelector("[aria-invalid=true]")?.focus();
      return;
    }
    under ??= once();
    button.disabled = true;
    form.setAttribute("aria-busy", "true");
    try {
      const result = await send(value, under);
      drafts.drop(place);
      taken?.(result, value);
    } catch (error) {
      if (!(error instanceof Problem && (await refused?.(error, value)))) explain(error);
    } finally {
      button.disabled = false;
      form.removeAttribute("aria-busy");
    }
  }

  function explain(error) {
    if (!(error instanceof Problem)) {
      put(told, h("p", { class: "note warn-note" }, h("strong", {}, t("form.unsent")), t("form.unsent_why")));
      return;
    }
    under = null;
    const homeless = error.violations.filter((one) => !body.fail(one.pointer, one.hint ?? sentence(one)));
    if (error.violations.length === 0 || homeless.length) {
      put(told, h("div", { class: "note bad-note" }, h("strong", {}, quoted(error.message)), homeless.map((one) => h("span", {}, one.message))));
    }
    form.querySelector("[aria-invalid=true]")?.focus();
  }

  return { node: form, body, explain };
}

const sentence = (violation) => t("form.expected", { expected: violation.expected, found: violation.found });

/** A field for one file. */
export function fileField({ accepts = [], suggested }) {
  const input = h("input", { type: "file", accept: accepts.map((one) => (one.startsWith(".") || one.includes("/") ? one : `.${one}`)).join(",") || null, "aria-label": t("wait.choose_file") });
  const named = h("p", { class: "small soft" }, accepts.length ? t("wait.accepts", { kinds: accepts.join(", ") }) : t("wait.any_file"));
  const where = suggested ? h("p", { class: "small soft" }, t("wait.suggested"), " ", h("code", {}, suggested)) : null;
  const fault = h("p", { class: "fault small bad", role: "alert", hidden: true });
  const zone = h("label", { class: "drop", on: {
    dragover: (event) => (event.preventDefault(), (zone.dataset.over = "")),
    dragleave: () => delete zone.dataset.over,
    drop: (event) => {
      event.preventDefault();
      delete zone.dataset.over;
      if (event.dataTransfer.files.length) input.files = event.dataTransfer.files;
    },
  } }, icon("upload"), h("span", {}, t("wait.drop")), input, named, where);
  return {
    node: h("div", { class: "field" }, zone, fault),
    read() {
      if (!input.files.length) throw new Unfit("", t("wait.no_file"));
      const [file] = input.files;
      const fits = (end) => file.name.toLowerCase().endsWith((end.startsWith(".") ? end : `.${end}`).toLowerCase());
      // The server decides by the same rule; here, nothing of the file is sent.
      if (accepts.length && !accepts.some(fits)) throw new Unfit("", t("wait.wrong_type", { name: file.name, kinds: accepts.join(", ") }));
      return file;
    },
    // A browser cannot save a chosen file as a draft.
    typed: () => undefined,
    fill() {},
    fail(_, message) {
      put(fault, message);
      fault.hidden = false;
      input.setAttribute("aria-invalid", "true");
      return true;
    },
    clear() {
      fault.hidden = true;
      input.removeAttribute("aria-invalid");
    },
    focus: () => input.focus(),
  };
}
