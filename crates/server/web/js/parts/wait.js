// One wait: the question and its form. If another person answers first, the card says who.

import { fresh, h, put } from "../view/dom.js";
import { icon } from "../view/icons.js";
import { Problem, Unreachable, get, once, part, post, upload } from "../core/api.js";
import { drafts } from "../core/kept.js";
import { t } from "../core/words.js";
import { chosen } from "../form/fields.js";
import { fileField, schemaForm, sheet } from "../form/form.js";
import { brief, json } from "./json.js";
import { quoted } from "./quoted.js";
import { deadline, waitKind, when } from "./status.js";

/** The problem codes of an answer that comes too late. */
const OVER = new Set(["already_closed", "unknown_wait", "too_late", "run_ended", "subject_changed"]);

/**
 * A wait of a run. `taken(result)` is called when an answer was accepted.
 * Returns `{ node, closed }`: call `closed()` when the wait is closed; the card keeps showing what was typed.
 */
export function waitCard(wait, run, { taken, linked = false } = {}) {
  const place = `${run}/${wait.id}`;
  const path = `/runs/${part(run)}/waits/${part(wait.id)}`;
  const heading = fresh("wait");
  const work = h("div", {});
  let done = false;
  // While an answer is being sent, its response reports the outcome, so `closed()` is ignored.
  let busy = false;
  const node = h("article", { class: "card wait", "aria-labelledby": heading, data: { wait: wait.id } },
    h("header", { class: "stack" },
      h("div", { class: "row" }, waitKind(wait.kind),
        linked ? h("a", { href: `/runs/${part(run)}`, class: "small" }, run) : null,
        h("span", { class: "small soft" }, wait.phase),
        wait.deadline ? h("span", { class: "small" }, deadline(wait.deadline)) : null,
        h("span", { class: "small soft" }, t("wait.since"), " ", when(wait.opened_at))),
      h("h2", { id: heading }, quoted(wait.question)),
      wait.who?.length ? h("p", { class: "small soft" }, t("wait.for", { who: wait.who.join(", ") })) : null,
      wait.approval?.need > 1 ? h("p", { class: "small soft" }, t("wait.votes", { n: wait.approval.votes?.length ?? 0, need: wait.approval.need }), " ", (wait.approval.votes ?? []).map((one) => one.by).join(", ")) : null,
      wait.subject ? subject(wait.subject) : null,
      wait.item !== undefined ? h("div", {}, h("p", { class: "small soft" }, t("wait.item")), json(wait.item)) : null),
    work);
  function answer() {
    // The server says whether this person may decide; it decides again when an answer is sent.
    if (wait.may_answer === false) return h("p", { class: "soft" }, t("wait.not_yours"));
    switch (wait.kind) {
      case "document": return documentForm();
      case "approval":
      case "incident": return decision();
      case "budget": return budget();
      case "work": return handIn();
      default: return question();
    }
  }

  const given = (send) => async (...what) => {
    busy = true;
    try {
      return await send(...what);
    } finally {
      busy = false;
    }
  };

  const common = (label) => ({ place, label, taken: accepted, refused });

  function question() {
    const shape = wait.answer_shape;
    const send = given((value, key) => post(`${path}/answer`, { value }, { once: key }));
    if (shape?.kind === "choices") {
      const options = shape.choices.map(({ id, label }) => ({ value: id, label: label || id }));
      const body = chosen(options, {}, { name: t("wait.choose"), at: "", required: true });
      return sheet({ body, send, ...common(t("wait.answer")) }).node;
    }
    return schemaForm({ schema: shape?.schema ?? {}, name: t("wait.your_answer"), send, ...common(t("wait.answer")) }).node;
  }

  function documentForm() {
    const body = fileField({ accepts: wait.answer_shape?.accepts, suggested: wait.answer_shape?.suggested_path });
    const send = given((file, key) => upload(`${path}/document`, file, { once: key }));
    return sheet({ body, send, ...common(t("wait.upload")) }).node;
  }

  function decision() {
    const tries = wait.kind === "incident";
    return decided(t(tries ? "wait.try_again" : "wait.approve"), t(tries ? "wait.end_run" : "wait.deny"), `${path}/approve`);
  }

  /** A note, and two buttons: approve and deny. */
  function decided(yes, no, approve) {
    const id = fresh("note");
    const note = h("textarea", { class: "area", id, rows: 2 });
    note.value = drafts.get(place)?.note ?? "";
    note.addEventListener("input", () => drafts.set(place, { note: note.value }));
    const told = h("div", { role: "alert" });
    // Repeating the same decision uses the same key; the other decision has its own key.
    const keys = {};
    const buttons = [];
    const say = (target) => async () => {
      buttons.forEach((one) => (one.disabled = true));
      put(told);
      keys[target] ??= once();
      try {
        const body = { note: note.value || undefined, subject: wait.subject?.digest };
        const result = await given(post)(target, body, { once: keys[target] });
        drafts.drop(place);
        accepted(result);
      } catch (error) {
        if (!(error instanceof Problem && (await refused(error)))) put(told, unsent(error));
      } finally {
        buttons.forEach((one) => (one.disabled = false));
      }
    };
    buttons.push(
      h("button", { class: "button first", type: "button", on: { click: say(approve) } }, icon("completed"), yes),
      h("button", { class: "button danger", type: "button", on: { click: say(`${path}/deny`) } }, icon("failed"), no));
    return h("div", { class: "stack" },
      h("div", { class: "field" }, h("label", { for: id }, t("wait.note"), h("span", { class: "need" }, ` (${t(noteNeed(wait))})`)), note),
      told, h("div", { class: "buttons" }, buttons));
  }

  function budget() {
    const schema = { type: "integer", minimum: 1, title: t("wait.more_of", { name: wait.name }) };
    const send = given((amount, key) => post(`/runs/${part(run)}/resume`, { grants: { [wait.name]: amount } }, { once: key }));
    const deny = h("button", { class: "button danger", type: "button", on: { click: async () => {
      try {
        accepted(await given(post)(`${path}/deny`, {}, { once: once() }));
      } catch (error) {
        if (!(error instanceof Problem && (await refused(error)))) form.explain(error);
      }
    } } }, icon("failed"), t("wait.end_run"));
    const form = schemaForm({ schema, name: wait.name, send, extra: deny, ...common(t("wait.grant")) });
    return form.node;
  }

  function handIn() {
    return h("div", { class: "stack" }, h("p", { class: "soft" }, t("wait.work")),
      h("div", {}, h("a", { class: "button", href: `/runs/${part(run)}/prompt` }, icon("work"), t("wait.hand_in"))));
  }

  function accepted(result) {
    done = true;
    put(work, h("p", { class: "note good-note", role: "status" }, t("wait.taken")));
    taken?.(result);
  }

  async function refused(problem, mine) {
    if (!OVER.has(problem.code)) return false;
    await second(problem, mine);
    return true;
  }

  /** Shows who answered first and what the answer was, and keeps showing what was typed here. */
  async function second(problem, mine) {
    done = true;
    const typed = mine instanceof File ? mine.name : mine ?? drafts.get(place);
    const first = await whoWasFirst(run, wait).catch(() => null);
    put(work, h("div", { class: "stack" },
      h("div", { class: "note warn-note", role: "alert" },
        h("strong", {}, first ? t(`wait.first_${first.how}`, { who: first.by }) : problem?.code === "subject_changed" ? t("wait.subject_changed") : problem ? t("wait.over") : t("wait.gone")),
        first?.said !== undefined ? h("blockquote", {}, brief(first.said, 2_000)) : null,
        first ? h("span", { class: "soft" }, when(first.time)) : problem ? h("span", { class: "soft" }, problem.message) : null),
      typed === undefined || typed?.note === "" ? null : h("div", { class: "note" },
        h("strong", {}, t("wait.yours_kept")), h("div", {}, typed?.note ?? brief(typed, 4_000)),
        h("div", { class: "buttons" },
          h("button", { class: "button low", type: "button", on: { click: () => navigator.clipboard?.writeText(typed?.note ?? brief(typed, Infinity)) } }, icon("copy"), t("act.copy")),
          h("button", { class: "button low plain", type: "button", on: { click: (event) => (drafts.drop(place), event.target.closest(".note").remove()) } }, t("wait.forget")))),
      h("div", {}, h("a", { href: `/runs/${part(run)}` }, t("wait.see_run")))));
  }

  put(work, answer());
  return {
    node,
    /** Whether the card can be removed without losing input. */
    get idle() {
      return !busy && drafts.get(place) === undefined;
    },
    closed: () => (done || busy ? undefined : second(null)),
  };
}

/** What an approval signs: the parts of the document, and what changed since the approval before. */
function subject({ parts = [], omitted, changes, digest }) {
  const shown = ({ pointer, value }) => h("div", { class: "stack" },
    pointer ? h("p", { class: "small soft" }, h("code", {}, pointer)) : null,
    typeof value === "string" ? h("blockquote", { class: "subject-text" }, value) : json(value));
  return h("section", { class: "note subject", "aria-label": t("wait.subject") },
    h("strong", {}, t("wait.subject")),
    changes ? h("p", { class: "warn-note note", role: "status" }, t("wait.changed"), " ", changes.map((one) => one.path || "/").join(", ")) : null,
    parts.map(shown),
    omitted ? h("p", { class: "soft" }, t("wait.omitted")) : null,
    h("p", { class: "small soft" }, t("wait.digest"), " ", h("code", { title: digest }, digest.slice(0, 16))));
}

const noteNeed = (wait) => ({ on_denial: "wait.note_on_denial", always: "wait.note_always" })[wait.approval?.note] ?? "form.optional";

const unsent = (error) => h("p", { class: error instanceof Unreachable ? "note warn-note" : "note bad-note" },
  h("strong", {}, error instanceof Unreachable ? t("form.unsent") : quoted(error.message)),
  error instanceof Unreachable ? t("form.unsent_why") : null);

/** Who closed a wait, how, and with what answer; null if no person did. */
async function whoWasFirst(run, wait) {
  let cursor;
  do {
    const page = await get(`/runs/${part(run)}/versions`, { limit: 500, cursor });
    for (const { input, time, events } of page.items) {
      if (input?.wait === wait.id && input.kind === "answered") return { how: "answered", by: input.by, said: input.value, time };
      if (input?.wait === wait.id && input.kind === "approval_decided") return { how: input.approve ? "approved" : "denied", by: input.by, said: input.note ?? undefined, time };
      const closed = events.find((one) => one.event === "wait_closed" && one.wait === wait.id);
      if (closed && closed.resolution.by) return { how: closed.resolution.outcome, by: closed.resolution.by, said: undefined, time };
    }
    cursor = page.next_cursor;
  } while (cursor);
  return null;
}
