// The timeline of a run: one entry per version, with its input, its events and its changes.

import { h } from "../view/dom.js";
import { icon } from "../view/icons.js";
import { keyed } from "../view/keyed.js";
import { get, part, text } from "../core/api.js";
import { moment, t, time } from "../core/words.js";
import { at, diff } from "./diff.js";
import { brief, code, json, pretty } from "./json.js";
import { reply } from "./reply.js";
import { shown } from "./states.js";
import { becameTrue, cameIn, drawing, tone } from "./told.js";

/** A timeline; `show(versions)` shows the versions, newest last. */
export function timeline(run) {
  const node = h("ol", { class: "timeline", "aria-label": t("run.timeline") });
  const list = keyed(node, (one) => one.version, (one) => ({ node: entry(run, one) }));
  return { node, show: (versions) => list.show(versions) };
}

function entry(run, one) {
  const lines = one.events.map(becameTrue).filter(Boolean);
  const ops = one.events.filter((event) => event.event === "document_changed").flatMap((event) => event.patch);
  return h("li", { class: "entry", data: { tone: tone(one), version: one.version } },
    h("time", { class: "at", datetime: new Date(one.time).toISOString(), title: moment(one.time) }, time(one.time)),
    h("div", { class: "spine" }, h("span", { class: "dot" }, icon(drawing(one)))),
    h("div", { class: "body" },
      h("div", { class: "head" }, cameIn(one.input, one.summary), " ", h("span", { class: "version", title: one.hash }, `v${one.version} · ${one.hash.slice(0, 8)}`)),
      given(run, one),
      lines.length ? h("div", { class: "facts-told" }, lines.map((line) => h("div", {}, line))) : null,
      ops.length ? changes(run, one.version, ops) : null));
}

/** The contents of an input. */
function given(run, { input, events }) {
  const refused = events.find((event) => event.event === "reply_refused");
  const accepted = events.find((event) => event.event === "reply_accepted");
  switch (input?.kind) {
    case "start": return input.input === undefined ? null : h("blockquote", { class: "note" }, typeof input.input === "string" ? input.input : json(input.input));
    case "answered": return h("blockquote", { class: "note" }, typeof input.value === "string" ? input.value : json(input.value));
    case "model_replied":
    case "manual_patch": {
      const beside = { violations: refused?.violations, repairs: accepted?.repairs, defaults: accepted?.defaults };
      const marked = refused || accepted?.repairs?.length;
      return h("div", { class: "stack" },
        folded(t(marked ? "reply.beside" : "reply.text"), () => reply(input.text, beside), Boolean(refused)),
        refused?.feedback ? folded(t("reply.told"), () => code(refused.feedback, t("reply.told"))) : null,
        input.exchange ? folded(t("reply.prompt"), () => exchange(input.exchange)) : null,
        input.packet_build ? h("a", { class: "small", href: `/packets?build=${part(input.packet_build)}` }, t("reply.packet")) : null);
    }
    case "effect_finished": return folded(t("input.result"), () => json(input.result));
    case "tool_finished": return folded(t("input.result"), () => code(brief(input.output, 4_000), t("input.result")));
    default: return null;
  }
}

/** A collapsed section whose body is built when it is opened. */
export function folded(label, make, open = false) {
  const body = h("div", { class: "stack" });
  const details = h("details", { open }, h("summary", { class: "small" }, label), body);
  const fill = () => body.childElementCount === 0 && body.append(make());
  if (open) fill();
  else details.addEventListener("toggle", fill);
  return details;
}

function exchange({ request, response }) {
  const bytes = (digest, label) => {
    const node = h("div", {});
    shown(node, () => text(`/blobs/${digest}`), (found) => code(pretty(found), label), 3);
    return h("div", {}, h("p", { class: "small soft" }, label), node);
  };
  return h("div", { class: "stack" }, bytes(request, t("reply.request")), bytes(response, t("reply.response")));
}

/** The changes of a version. The previous document is loaded only when the section is opened. */
function changes(run, version, ops) {
  const label = t("diff.changed", { n: ops.length });
  return folded(label, () => {
    const node = h("div", {});
    const touched = ops.some((op) => op.op === "replace" || op.op === "remove");
    if (!touched || version < 2) return diff(ops);
    shown(node, () => get(`/runs/${part(run)}/document`, { version: version - 1 }), (before) => diff(ops, (pointer) => at(before, pointer)), 2);
    return node;
  }, ops.length <= 3 && JSON.stringify(ops).length < 600);
}
