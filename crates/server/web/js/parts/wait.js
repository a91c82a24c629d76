// One wait: the question and its form. If another person answers first, the card says who.

import { fresh, h, put } from "../view/dom.js";
import { icon } from "../view/icons.js";
import { Problem, Unreachable, get, once, part, post, upload } from "../core/api.js";
import { drafts } from "../core/kept.js";
import { plainName, runName } from "../core/names.js";
import { has, moment, t, tOr } from "../core/words.js";
import { chosen } from "../form/fields.js";
import { fileField, schemaForm, sheet } from "../form/form.js";
import { ask } from "./ask.js";
import { diff } from "./diff.js";
import { writtenDifference } from "./difference.js";
import { brief, code, json } from "./json.js";
import { guess, presented, presentedParts } from "./presented.js";
import { quoted } from "./quoted.js";
import { exampleAnswers } from "./script.js";
import { deadline, waitKind, when } from "./status.js";

/** The problem codes of an answer that comes too late. */
const OVER = new Set(["already_closed", "unknown_wait", "too_late", "run_ended", "subject_changed"]);

/**
 * A wait of a run. `taken(result)` is called when an answer was accepted; `moved(next)` when another wait has replaced
 * this one because its subject changed. `replaced` is the wait that this one replaced while the person looked at it,
 * and `state` the status of the run if it is known.
 * Returns `{ node, update, closed }`: call `update(wait)` when the wait changed, and `closed()` when it is closed; the
 * card keeps showing what was typed.
 */
export function waitCard(wait, run, { taken, moved, replaced, state, linked = false } = {}) {
  const place = `${run}/${wait.id}`;
  const path = `/runs/${part(run)}/waits/${part(wait.id)}`;
  const heading = fresh("wait");
  let title = state?.title || state?.workflow || wait.title;
  // The name of the phase, where the author gave it one.
  let phase = state?.phase === wait.phase ? state.phase_name : null;
  const work = h("div", {});
  const top = h("header", { class: "stack" });
  const follows = h("div", {});
  const examples = h("div", {});
  let done = false;
  // While an answer is being sent, its response reports the outcome, so `closed()` is ignored.
  let busy = false;
  // While it is unknown whether another wait replaced a closed one, the card stays.
  let closing = false;
  const node = h("article", { class: "card wait", "aria-labelledby": heading, data: { wait: wait.id } },
    replaced ? replacedNote(replaced, wait) : null, top, follows, examples, work);

  function head() {
    put(top,
      h("div", { class: "row" }, waitKind(wait.kind),
        linked ? h("a", { href: `/runs/${part(run)}`, class: "small run-title" }, runName({ run, title })) : null,
        h("span", { class: "small soft" }, phase ?? plainName(wait.phase)),
        wait.deadline ? h("span", { class: "small" }, deadline(wait.deadline)) : null,
        h("span", { class: "small soft" }, t("wait.since"), " ", when(wait.opened_at))),
      questionHeading(wait, heading),
      people(wait),
      subject(wait, run),
      wait.item !== undefined ? h("div", {}, h("p", { class: "small soft" }, t("wait.item")), json(wait.item)) : null);
    put(follows, outcomes(wait));
  }

  function answer() {
    // The server says whether this person may decide; it decides again when an answer is sent.
    if (wait.may_answer === false) return refusal(wait);
    switch (wait.kind) {
      case "document": return documentForm();
      case "approval":
      case "incident": return decision();
      case "budget": return budget();
      case "work": return handIn();
      default: return question();
    }
  }

  /** Sends an answer, unless the wait has closed while the page did not hear of it; then nothing is sent. */
  const given = (send) => async (...what) => {
    busy = true;
    try {
      if (await isClosed()) throw new Problem({ status: 409, code: "already_closed", detail: t("wait.closed_before") });
      return await send(...what);
    } finally {
      busy = false;
    }
  };

  const common = (label) => ({ place, label, taken: (result) => accepted(result), refused });

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
      busy = true;
      try {
        // A decision on something that is no longer there is not even sent.
        if (await isOutdated()) return;
        const body = { note: note.value || undefined, subject: wait.subject?.digest };
        const result = await post(target, body, { once: keys[target] });
        drafts.drop(place);
        accepted(result, target === approve);
      } catch (error) {
        if (!(error instanceof Problem && (await refused(error)))) put(told, unsent(error));
      } finally {
        busy = false;
        buttons.forEach((one) => (one.disabled = false));
      }
    };
    buttons.push(
      h("button", { class: "button first", type: "button", on: { click: say(approve) } }, icon("completed"), yes),
      h("button", { class: "button danger", type: "button", on: { click: say(`${path}/deny`) } }, icon("failed"), no));
    if (wait.kind === "approval") buttons.push(h("button", { class: "button plain", type: "button", on: { click: delegate } }, t("wait.delegate")));
    return h("div", { class: "stack" },
      h("div", { class: "field" }, h("label", { for: id }, t("wait.note"), h("span", { class: "need" }, ` (${t(noteNeed(wait))})`)), note),
      told, h("div", { class: "buttons" }, buttons));
  }

  /** Lets another person decide as well. */
  function delegate() {
    ask({
      title: t("wait.delegate"), about: wait.question, text: t("wait.delegate_text"), yes: t("wait.delegate_yes"), reason: true, who: t("wait.delegate_to"),
      send: (note, _, to) => post(`${path}/delegate`, { to, note }, { once: once() }),
      done: () => complete(),
    });
  }

  function budget() {
    const schema = { type: "integer", minimum: 1, title: t("wait.more_of", { name: plainName(wait.name) }) };
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

  /** Whether this wait has closed, or its subject has changed; the page then shows what came instead. */
  async function isOutdated() {
    const now = await get(`/runs/${part(run)}`);
    if (now.waits.some((one) => one.id === wait.id && one.subject?.digest === wait.subject?.digest)) return false;
    const next = findNext(now);
    if (next) return replace(next);
    await second(null);
    return true;
  }

  async function isClosed() {
    const now = await get(`/runs/${part(run)}`);
    return !now.waits.some((one) => one.id === wait.id);
  }

  const findNext = (now) => now.waits.find((one) => one.supersedes?.includes(wait.id));

  /** Shows the wait that replaced this one; the note that was typed goes along. */
  function replace(next) {
    done = true;
    const typed = drafts.get(place);
    drafts.drop(place);
    if (typed !== undefined) drafts.set(`${run}/${next.id}`, typed);
    if (moved) moved(next, wait);
    else node.replaceWith(waitCard(next, run, { taken, replaced: wait, linked }).node);
    return true;
  }

  function accepted(result, voted = false) {
    done = true;
    put(follows);
    put(examples);
    const missing = voted ? Math.max((wait.approval?.need ?? 1) - (wait.approval?.votes?.length ?? 0) - 1, 0) : 0;
    put(work, h("p", { class: "note good-note", role: "status" }, missing > 0 ? t("wait.voted", { n: missing }) : t("wait.taken")));
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
    closing = true;
    const next = wait.subject ? await get(`/runs/${part(run)}`).then(findNext).catch(() => null) : null;
    closing = false;
    if (next) return void replace(next);
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

  /** Loads what the inbox does not know: what follows from a decision, and what a script knows. */
  async function complete() {
    const now = state ?? (await get(`/runs/${part(run)}`).catch(() => null));
    if (!now || done) return;
    const found = now.waits.find((one) => one.id === wait.id);
    title = now.title || now.workflow;
    phase = now.phase === wait.phase ? now.phase_name : null;
    if (found) {
      wait = { ...found, may_answer: found.may_answer ?? wait.may_answer, refusal: found.refusal ?? wait.refusal };
      head();
    }
    if (wait.kind === "question" && !now.model) put(examples, await exampleAnswers(now.protocol.name, use));
  }

  /** Fills an example into the form. */
  function use(text) {
    const input = work.querySelector("textarea, input:not([type=radio])");
    if (!input) return;
    input.value = text;
    input.dispatchEvent(new Event("input", { bubbles: true }));
    input.focus();
  }

  head();
  put(work, answer());
  complete();
  return {
    node,
    /** Whether the card can be removed without losing input. */
    get idle() {
      return !busy && !closing && drafts.get(place) === undefined;
    },
    /** What was typed and not sent. */
    get draft() {
      return drafts.get(place);
    },
    /** Shows votes, delegations and deadlines that changed; the form stays, unless the person may no longer decide. */
    update(next) {
      if (done || next === wait) return;
      const may = wait.may_answer;
      wait = { ...wait, ...next };
      head();
      if (may !== wait.may_answer) put(work, answer());
    },
    closed: () => (done || busy ? undefined : second(null)),
  };
}

/** The question as a heading; what is long about it, such as reasons or what went wrong, stands below in plain text. */
function questionHeading({ kind, question: text }, id) {
  const [first, ...rest] = kind === "incident" ? [t("wait.incident"), text] : text.split("\n");
  return h("h2", { id }, quoted(first), rest.length ? h("span", { class: "rest" }, " ", quoted(rest.join("\n"))) : null);
}

/** Who asks, who may decide, and what they decided so far. */
function people(wait) {
  const rules = wait.approval;
  const votes = rules?.votes ?? [];
  const lines = [
    wait.agent ? t("wait.agent", { agent: wait.agent }) : null,
    wait.requested_by?.length ? t("wait.asked_by", { who: wait.requested_by.join(", ") }) : null,
    wait.who?.length ? t("wait.for", { who: wait.who.join(", ") }) : null,
    rules?.distinct_from?.length ? t("wait.distinct", { who: rules.distinct_from.map((one) => tOr(`party.${one}`, one)).join(", ") }) : null,
    rules?.verified ? t("wait.verified") : null,
    rules?.escalate_at ? t("wait.escalates", { who: (rules.escalate_to ?? []).join(", "), at: moment(rules.escalate_at) }) : null,
    ...(rules?.delegations ?? []).map((one) => t("wait.delegated", one) + (one.note ? `: ${one.note}` : "")),
  ].filter(Boolean);
  return [
    lines.length ? h("ul", { class: "people small soft" }, lines.map((line) => h("li", {}, line))) : null,
    rules?.need > 1 ? h("div", { class: "votes" },
      h("p", { class: "small" }, t("wait.votes", { n: votes.length, need: rules.need })),
      h("ul", {}, Array.from({ length: rules.need }, (_, at) => vote(votes[at])))) : null,
  ];
}

const vote = (one) => h("li", { class: "small", data: { given: String(Boolean(one)) } }, icon(one ? "completed" : "waiting"),
  one ? h("strong", {}, one.by) : h("span", { class: "soft" }, t("wait.vote_missing")), one?.note ? h("span", { class: "soft" }, one.note) : null);

/** What follows from each decision. */
function outcomes({ outcomes: known, approval, deadline: until, kind, may_answer: may }) {
  if (!known) return null;
  const missing = Math.max((approval?.need ?? 1) - (approval?.votes?.length ?? 0) - 1, 0);
  const tries = kind === "incident" || kind === "budget";
  const rows = [
    ["good", tries ? "outcome.if_retry" : may === false ? "outcome.when_approved" : "outcome.if_approve", known.approve, missing > 0 ? t("outcome.more", { n: missing }) : null],
    known.deny ? ["bad", tries ? "outcome.if_end" : may === false ? "outcome.when_denied" : "outcome.if_deny", known.deny] : null,
    known.expire ? ["soft", "outcome.if_expire", known.expire] : null,
  ].filter(Boolean);
  return h("dl", { class: "outcomes" }, rows.map(([tone, label, result, more]) => h("div", { data: { tone } },
    h("dt", {}, t(label, { at: until ? moment(until) : "" })), h("dd", {}, more ? [more, " "] : null, outcome(result)))));
}

function outcome({ kind, phase, phase_name: name, work, ends, conditional }) {
  if (kind !== "phase") return tOr(`outcome.${kind}`, kind);
  const to = name ?? phase;
  return [t(conditional ? "outcome.maybe" : ends ? "outcome.ends" : "outcome.phase", { phase: to }), work ? [" ", h("span", { class: "tag" }, work)] : null];
}

/** Why this person may not decide. */
function refusal({ refusal: why, who }) {
  const known = why && has(`refusal.${why.code}`);
  return h("div", { class: "note" }, h("strong", {}, t("wait.not_yours")),
    known ? h("span", {}, t(`refusal.${why.code}`, { who: (who ?? []).join(", ") })) : why ? h("span", {}, quoted(why.message)) : null);
}

/** Says that the subject changed while the person looked at it, and how. */
function replacedNote(before, after) {
  const old = new Map((before.subject?.parts ?? []).map(({ pointer, value }) => [pointer, value]));
  const parts = (after.subject?.parts ?? []).filter(({ pointer, value }) => JSON.stringify(value) !== JSON.stringify(old.get(pointer)));
  return h("section", { class: "note warn-note changed", role: "alert" },
    h("strong", {}, t("wait.replaced")), h("span", {}, t("wait.replaced_why")),
    parts.map(({ pointer, value }) => presented({ pointer, format: "difference", value, before: old.get(pointer) ?? null })));
}

/** What an approval signs, as its author presents it, or else the parts of the document. */
function subject({ subject: signed, presented: shown, supersedes, preview }, run) {
  if (!signed) return null;
  const { parts = [], omitted, changes, digest } = signed;
  const all = shown?.length ? shown : parts.flatMap(members);
  return h("section", { class: "subject", "aria-label": t("wait.subject") },
    h("div", { class: "row" }, h("strong", {}, t("wait.subject")), h("span", { class: "grow" }),
      h("span", { class: "tiny soft" }, t("wait.digest"), " ", h("code", { title: digest }, digest.slice(0, 16)))),
    changes && supersedes?.length ? h("details", { class: "note warn-note" }, h("summary", {}, t("wait.changed"), " ", changes.map((one) => plainName(one.path) || "/").join(", ")), diff(changes)) : null,
    preview ? callPreview(preview, parts[0]?.value) : presentedParts(all, { run }),
    omitted ? h("p", { class: "soft" }, t("wait.omitted"), " ", h("a", { href: `/runs/${part(run)}/document` }, t("run.document"))) : null);
}

/** What a held call would do: the difference of a file, the command line, the request; then its exact arguments. */
function callPreview(text, call) {
  const [heading, ...lines] = text.split("\n");
  const effect = call?.name !== "write" || !lines.length ? code(text, t("wait.preview"))
    : [h("h4", {}, heading), writtenDifference(lines)];
  return h("div", { class: "presented stack" }, effect,
    call ? h("details", {}, h("summary", { class: "small soft" }, t("wait.arguments")), json(call)) : null);
}

/** The parts to show: an object that contains texts is shown member by member. */
function members({ pointer, value }) {
  const object = value !== null && typeof value === "object" && !Array.isArray(value) ? Object.entries(value) : [];
  if (!object.some(([, inner]) => ["markdown", "text", "table", "image", "file"].includes(guess(inner))) || object.length > 12) return [{ pointer, value }];
  return object.map(([name, inner]) => ({ pointer: `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`, value: inner }));
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
