// Fields: each is `{ node, read, typed, fill, fail, clear, focus }`.
//
// `read()` returns the value, or `undefined` if the field is empty; it throws `Unfit` if the text is not a valid value.
// `typed()` returns the current contents, valid or not, and `fill(..)` restores them, so that no input is lost.
// `fail(pointer, message)` shows a message beside the field at a JSON Pointer, and returns whether there is such a field.

import { fresh, h, put } from "../view/dom.js";
import { icon } from "../view/icons.js";
import { t } from "../core/words.js";
import * as shape from "./schema.js";

/** The contents of a field are not a valid value. */
export class Unfit extends Error {
  constructor(pointer, message) {
    super(message);
    this.pointer = pointer;
  }
}

/** A field for a schema. `at` is its JSON Pointer. */
export function field(schema, { root, name, at = "", required = false }) {
  const read = shape.resolved(schema, root);
  const make = { choice, boolean, number, text, list, object, json }[shape.kind(read)];
  return make(read, { root, name, at, required });
}

function frame({ name, required, tag = "div", id }, schema) {
  const help = schema.description ? h("p", { class: "help", id: fresh("help") }, schema.description) : null;
  const fault = h("p", { class: "fault", id: fresh("fault"), hidden: true });
  const described = [help?.id, fault.id].filter(Boolean).join(" ");
  const title = schema.title ?? name;
  const optional = required ? null : h("span", { class: "need" }, ` (${t("form.optional")})`);
  const head = tag === "div" ? h("label", { for: id }, title, optional) : h("legend", {}, title, optional);
  return { help, fault, described, head };
}

function withFault(node, fault, at, control, parts) {
  return {
    node,
    fail(pointer, message) {
      if (pointer !== at) return false;
      put(fault, icon("incident"), message);
      fault.hidden = false;
      control.setAttribute("aria-invalid", "true");
      return true;
    },
    clear() {
      fault.hidden = true;
      control.removeAttribute("aria-invalid");
    },
    focus: () => control.focus(),
    typed: () => control.value || undefined,
    ...parts,
  };
}

function text(schema, { name, at, required }) {
  const id = fresh("field");
  const { help, fault, described, head } = frame({ name, required, id }, schema);
  const more = { id, "aria-describedby": described, "aria-required": required ? "true" : null, maxlength: schema.maxLength };
  const control = shape.long(schema)
    ? h("textarea", { class: "area", rows: 3, ...more })
    : h("input", { class: "input", type: shape.inputType(schema), autocomplete: "off", ...more });
  const node = h("div", { class: "field" }, head, help, control, fault);
  return withFault(node, fault, at, control, {
    read() {
      if (control.value === "") {
        if (!required) return undefined;
        if ((schema.minLength ?? 0) > 0 || schema.pattern) throw new Unfit(at, t("form.needed"));
        return "";
      }
      if ([...control.value].length < (schema.minLength ?? 0)) throw new Unfit(at, t("form.short", { n: schema.minLength }));
      return control.value;
    },
    fill: (value) => (control.value = typeof value === "string" ? value : ""),
  });
}

function number(schema, { name, at, required }) {
  const id = fresh("field");
  const { help, fault, described, head } = frame({ name, required, id }, schema);
  const whole = shape.singleType(schema) === "integer";
  // A text input: an input of type `number` hides text that it cannot parse, and the mouse wheel changes its value.
  const control = h("input", { class: "input", id, inputmode: whole ? "numeric" : "decimal", autocomplete: "off", "aria-describedby": described, "aria-required": required ? "true" : null });
  const node = h("div", { class: "field" }, head, help, control, fault);
  return withFault(node, fault, at, control, {
    read() {
      const typed = control.value.trim().replace(",", ".");
      if (typed === "") {
        if (required) throw new Unfit(at, t("form.needed"));
        return undefined;
      }
      const value = Number(typed);
      if (!Number.isFinite(value) || (whole && !Number.isInteger(value))) throw new Unfit(at, t(whole ? "form.whole" : "form.number"));
      if (value < (schema.minimum ?? -Infinity)) throw new Unfit(at, t("form.least", { least: schema.minimum }));
      if (value > (schema.maximum ?? Infinity)) throw new Unfit(at, t("form.most", { most: schema.maximum }));
      return value;
    },
    fill: (value) => (control.value = value === undefined || value === null ? "" : String(value)),
  });
}

/** A choice: radio buttons for a few options, a list for many. */
export function chosen(options, schema, { name, at, required }) {
  const id = fresh("field");
  const few = options.length <= 7;
  const { help, fault, described, head } = frame({ name, required, id, tag: few ? "fieldset" : "div" }, schema);
  const free = () => t("form.unsaid");
  if (!few) {
    const control = h("select", { class: "pick", id, "aria-describedby": described },
      h("option", { value: "" }, free()), options.map(({ label }, index) => h("option", { value: index }, label)));
    const node = h("div", { class: "field" }, head, help, control, fault);
    return withFault(node, fault, at, control, {
      read: () => picked(control.value === "" ? undefined : Number(control.value)),
      typed: () => (control.value === "" ? undefined : options[Number(control.value)].value),
      fill: (value) => (control.value = String(place(value) ?? "")),
    });
  }
  const offered = required ? options : [...options, { label: free(), none: true }];
  const inputs = offered.map(({ none }, index) => h("input", { type: "radio", name: id, value: none ? "" : index }));
  const across = offered.length <= 3 && options.every(({ label }) => label.length <= 10);
  const control = h("div", { class: across ? "choices across" : "choices", role: "presentation" },
    offered.map(({ label }, index) => h("label", { class: "choice" }, inputs[index], h("span", {}, label))));
  const node = h("fieldset", { class: "field", "aria-describedby": described }, head, help, control, fault);
  return withFault(node, fault, at, control, {
    read() {
      const found = inputs.find((one) => one.checked);
      return picked(found && found.value !== "" ? Number(found.value) : undefined);
    },
    typed() {
      const found = inputs.find((one) => one.checked && one.value !== "");
      return found && options[Number(found.value)].value;
    },
    fill(value) {
      const wanted = place(value);
      inputs.forEach((one) => (one.checked = wanted !== undefined && one.value === String(wanted)));
    },
    focus: () => inputs[0]?.focus(),
  });

  function place(value) {
    const found = options.findIndex((one) => JSON.stringify(one.value) === JSON.stringify(value));
    return found < 0 ? undefined : found;
  }
  function picked(index) {
    if (index === undefined && required) throw new Unfit(at, t("form.choose"));
    return index === undefined ? undefined : options[index].value;
  }
}

const choice = (schema, place) => chosen(shape.choices(schema), schema, place);

const boolean = (schema, place) =>
  chosen([{ value: true, label: t("form.yes") }, { value: false, label: t("form.no") }], schema, place);

function object(schema, { root, name, at, required }) {
  const { help, fault, described, head } = frame({ name, required: true, tag: "fieldset" }, schema);
  const needed = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties).map(([key, inner]) => [
    key,
    field(inner, { root, name: key, at: `${at}/${escaped(key)}`, required: needed.has(key) }),
  ]);
  const bare = at === "" && !schema.title;
  const node = h("fieldset", { class: bare ? "stack" : "group", "aria-describedby": described }, bare ? null : head, help, fields.map(([, one]) => one.node), fault);
  return withFault(node, fault, at, node, {
    read() {
      const value = {};
      const faults = [];
      for (const [key, one] of fields) {
        try {
          const found = one.read();
          if (found !== undefined) value[key] = found;
        } catch (error) {
          if (!(error instanceof Unfit)) throw error;
          faults.push(error);
        }
      }
      // Omit an optional object whose fields are all empty.
      if (!required && at !== "" && Object.keys(value).length === 0) return undefined;
      if (faults.length) {
        for (const { pointer, message } of faults.slice(1)) this.fail(pointer, message);
        throw faults[0];
      }
      return value;
    },
    typed() {
      const all = fields.map(([key, one]) => [key, one.typed()]).filter(([, found]) => found !== undefined);
      return all.length ? Object.fromEntries(all) : undefined;
    },
    fill: (value) => fields.forEach(([key, one]) => one.fill(value?.[key])),
    fail(pointer, message) {
      if (fields.some(([, one]) => one.fail(pointer, message))) return true;
      if (pointer !== at && !pointer.startsWith(`${at}/`)) return false;
      put(fault, icon("incident"), pointer === at ? message : `${pointer}: ${message}`);
      fault.hidden = false;
      return true;
    },
    clear() {
      fault.hidden = true;
      fields.forEach(([, one]) => one.clear());
    },
    focus: () => fields[0]?.[1].focus(),
  });
}

function list(schema, { root, name, at, required }) {
  const { help, fault, described, head } = frame({ name, required, tag: "fieldset" }, schema);
  const items = [];
  const holder = h("div", { class: "stack" });
  const add = (value) => {
    const index = items.length;
    const one = field(schema.items, { root, name: t("form.item", { n: index + 1 }), at: `${at}/${index}`, required: true });
    const row = h("div", { class: "item" }, one.node, h("button", {
      class: "button low plain", type: "button", "aria-label": t("form.remove_item", { n: index + 1 }), on: { click: () => remove(row) },
    }, icon("close")));
    items.push({ one, row });
    holder.append(row);
    if (value !== undefined && value !== null) one.fill(value);
    return one;
  };
  const remove = (row) => {
    // Pointers in messages contain indexes, so the items after the removed one are rebuilt with their new index.
    const kept = items.filter((item) => item.row !== row).map(({ one }) => one.typed());
    refill(kept);
    node.dispatchEvent(new Event("input", { bubbles: true }));
    more.focus();
  };
  const refill = (values) => {
    items.length = 0;
    put(holder);
    values.forEach((value) => add(value));
  };
  const more = h("button", { class: "button low", type: "button", on: { click: () => add().focus() } }, icon("start"), t("form.add"));
  const node = h("fieldset", { class: "group", "aria-describedby": described }, head, help, holder, h("div", {}, more), fault);
  if (required || (schema.minItems ?? 0) > 0) add();
  return withFault(node, fault, at, node, {
    read() {
      const values = items.map(({ one }) => one.read());
      if (!values.length && !required) return undefined;
      if (values.length < (schema.minItems ?? 0)) throw new Unfit(at, t("form.items", { n: schema.minItems }));
      return values;
    },
    typed: () => (items.length ? items.map(({ one }) => one.typed() ?? null) : undefined),
    fill: (values) => Array.isArray(values) && refill(values),
    fail(pointer, message) {
      if (items.some(({ one }) => one.fail(pointer, message))) return true;
      if (pointer !== at) return false;
      put(fault, icon("incident"), message);
      fault.hidden = false;
      return true;
    },
    clear() {
      fault.hidden = true;
      items.forEach(({ one }) => one.clear());
    },
    focus: () => (items[0]?.one ?? more).focus(),
  });
}

function json(schema, { name, at, required }) {
  const id = fresh("field");
  const { help, fault, described, head } = frame({ name, required, id }, schema);
  const words = takesText(schema);
  const hint = h("p", { class: "help", id: fresh("hint") }, t(words ? "form.text_or_json" : "form.json"));
  const control = h("textarea", { class: words ? "area" : "area code", id, rows: 4, spellcheck: words ? null : "false", "aria-describedby": `${described} ${hint.id}` });
  const node = h("div", { class: "field" }, head, help, hint, control, fault);
  return withFault(node, fault, at, control, {
    read() {
      const typed = control.value.trim();
      if (typed === "") {
        if (required) throw new Unfit(at, t("form.needed"));
        return undefined;
      }
      try {
        return JSON.parse(typed);
      } catch {
        if (words) return control.value;
        throw new Unfit(at, t("form.no_json"));
      }
    },
    fill: (value) => (control.value = value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value, null, 2)),
  });
}

/** Whether plain text is a valid value: the schema sets no type, or one of its alternatives is a string. */
function takesText(schema) {
  const ways = [...(schema.oneOf ?? []), ...(schema.anyOf ?? [])];
  if (ways.length) return ways.some((way) => way.type === "string");
  return schema.type === undefined ? !schema.allOf : [schema.type].flat().includes("string");
}

const escaped = (key) => key.replace(/~/g, "~0").replace(/\//g, "~1");
