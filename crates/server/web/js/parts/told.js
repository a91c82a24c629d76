// Describes inputs and events in sentences, like the command line.

import { h } from "../view/dom.js";
import { plainName, runName } from "../core/names.js";
import { moment, number, t, tOr } from "../core/words.js";
import { brief } from "./json.js";

/** Describes an input; `said` is the server's description, for kinds that this page does not know. */
export function cameIn(input, said) {
  if (!input) return said ?? t("input.nothing");
  const why = (text) => (text ? `: ${brief(text, 120)}` : "");
  switch (input.kind) {
    case "start":
      if (input.fork) return t("input.forked", { by: input.by ?? "–", run: runName(input.fork), version: input.fork.version });
      if (input.parent) return t("input.child", { run: runName(input.parent) });
      return t("input.start", { by: input.by ?? "–" });
    case "model_replied": {
      const tokens = (input.usage?.input_tokens ?? 0) + (input.usage?.output_tokens ?? 0);
      return t("input.model_replied", { by: input.by }) + (tokens ? ` · ${t("input.tokens", { n: tokens })}` : "");
    }
    case "model_failed": return t("input.model_failed", { failure: input.failure }) + why(input.message);
    case "manual_patch": return t("input.manual_patch", { by: input.by });
    case "answered": return t("input.answered", { by: input.by, wait: input.wait });
    case "approval_decided": return t(input.approve ? "input.approved" : "input.denied", { by: input.by, wait: input.wait }) + why(input.note);
    case "delegated": return t("input.delegated", { by: input.by, to: input.to, wait: input.wait }) + why(input.note);
    case "effect_failed": return t("input.effect_failed", { failure: input.failure }) + why(input.message);
    case "tool_finished": return t(input.ok ? "input.tool_used" : "input.tool_failed");
    case "mcp_tools_unavailable": return t("input.mcp_tools_unavailable", { failure: input.failure }) + why(input.message);
    case "hook_finished": return t("input.hook", { answer: input.answer?.answer ?? "" });
    case "child_ended": return t(input.completed ? "input.child_done" : "input.child_failed") + why(input.reason);
    case "delivery_finished": return t("input.delivery_finished");
    case "delivery_failed": return t(input.retry_in == null ? "input.delivery_given_up" : "input.delivery_failed", { failure: input.failure }) + why(input.message);
    case "halted": return t("input.halted", { by: input.by }) + why(input.reason);
    case "resumed": {
      const grants = Object.entries(input.grants ?? {}).map(([name, amount]) => `${name} +${number(amount)}`);
      return t("input.resumed", { by: input.by }) + (grants.length ? `: ${grants.join(", ")}` : "");
    }
    case "model_selected": return t("input.model_selected", { by: input.by, model: input.model });
    case "cancelled": return t("input.cancelled", { by: input.by }) + why(input.reason);
    default: return tOr(`input.${input.kind}`, said ?? input.kind);
  }
}

/** The tone of a timeline entry: good, bad, by a person, or plain. */
export function tone({ input, events }) {
  if (events.some((one) => ["reply_refused", "provider_failed", "effect_failed", "blocked", "item_failed"].includes(one.event))) return "bad";
  if (events.some((one) => one.event === "reply_accepted" || (one.event === "ended" && one.end === "completed"))) return "good";
  if (["answered", "approval_decided", "manual_patch", "halted", "resumed", "model_selected", "cancelled", "start"].includes(input?.kind)) return "person";
  return "plain";
}

/** The icon of an input. */
export function drawing({ input, events }) {
  if (events.some((one) => one.event === "reply_refused")) return "failed";
  if (events.some((one) => one.event === "reply_accepted")) return "completed";
  const by = { start: "start", answered: "question", approval_decided: "approval", manual_patch: "work", halted: "halted", resumed: "next", model_selected: "next", cancelled: "failed", model_failed: "incident", effect_failed: "incident", effect_finished: "document", ticked: "running", child_ended: "runs" };
  return by[input?.kind] ?? "next";
}

/** Describes an event in one line; null if it is shown elsewhere or not at all. */
export function becameTrue(event) {
  switch (event.event) {
    case "phase_entered": return h("span", { class: "phase" }, t("event.phase", { phase: event.phase }));
    case "transition_taken": return t("event.transition", { to: event.to, reason: event.reason });
    case "model_requested": return event.attempt > 1 ? t("event.asked_again", { n: event.attempt }) : t("event.asked");
    case "reply_refused": return h("span", { class: "bad" }, t("event.refused", { n: event.violations.length }));
    case "reply_accepted": {
      const mended = event.repairs?.length ? ` · ${t("event.mended", { n: event.repairs.length })}` : "";
      return h("span", { class: "good" }, (event.attempt > 1 ? t("event.accepted_on", { n: event.attempt }) : t("event.accepted")) + mended);
    }
    case "title_changed": return t("event.title", { title: event.title });
    case "tickets_issued": return t("event.tickets", { tickets: event.tickets.join(", ") });
    case "tickets_revoked": return t("event.tickets_back", { tickets: event.tickets.join(", ") });
    case "event_emitted": return h("span", {}, h("strong", {}, event.name), event.data === undefined ? "" : ` ${brief(event.data)}`);
    case "provider_failed": return h("span", { class: "bad" }, t("event.provider", { message: event.message }));
    case "gates_closed": return h("span", {}, event.gates.map((gate) => h("span", { class: "warn" }, t("event.gate", { to: gate.to, reason: gate.reason }), h("br"))), event.retry_at ? t("event.retry_at", { at: moment(event.retry_at) }) : null);
    case "wait_opened": return t("event.wait", { question: event.wait.question });
    case "wait_closed": return ["expired", "dropped", "superseded"].includes(event.resolution.outcome) ? t(`event.wait_${event.resolution.outcome}`, { wait: event.wait }) : null;
    case "effect_requested": return t("event.effect", { what: effect(event.effect) });
    case "effect_failed": return h("span", { class: "bad" }, t("event.failed", { message: event.message }));
    case "tool_requested": return t("event.tool", { what: tool(event.call) });
    case "mcp_tools_requested": return t("event.mcp_requested", { server: event.server });
    case "mcp_tools_pinned": return pinned(event);
    case "mcp_tools_unavailable": return h("span", { class: "bad" }, t("event.failed", { message: event.message }));
    case "hook_requested": return t("event.hook", { hook: event.hook });
    case "hook_finished": return event.answer === "ok" ? null : t("event.hook_said", { answer: event.answer });
    case "child_requested": return h("span", {}, t("event.child", { workflow: event.workflow }), " ", h("a", { href: `/runs/${encodeURIComponent(event.run)}` }, runName(event)));
    case "delivery_requested": return event.attempt > 1 ? null : t("event.delivery", { channel: event.delivery.channel, event: event.delivery.event });
    case "delivery_failed": return h("span", { class: event.retry_at ? "warn" : "bad" }, event.message);
    case "item_failed": return h("span", { class: "bad" }, t("event.failed", { message: event.message }));
    case "blocked": return h("span", { class: "bad" }, t(`blocked.${event.reason.kind}`, event.reason));
    case "budget_granted": return t("event.granted", { amount: event.amount, budget: budgetName(event.budget) });
    case "ended": return h("strong", {}, tOr(`end.${event.end}`, event.end), event.reason ? `: ${event.reason}` : "");
    case "budget_spent": return event.budget === "tokens" ? null : t("event.spent", { amount: event.amount, budget: budgetName(event.budget) });
    default: return null;
  }
}

const budgetName = (name) => {
  const [base, phase] = name.split("@");
  return tOr(`budget.${base}`, plainName(base)) + (phase ? ` · ${plainName(phase)}` : "");
};

function tool(call) {
  if (call.tool === "mcp") return `${call.server}.${call.name} ${brief(call.arguments)}`;
  return `${call.tool} ${call.path ?? call.query ?? ""}`;
}

/** The tools of an MCP server that a run may use, and what is different about them. */
function pinned({ server, pinned: list, unusable = [], changes }) {
  const names = (tools) => (tools?.length ? tools.join(", ") : "–");
  const lines = unusable.map((one) => t("event.mcp_unusable", { tool: `${server}.${one.name}`, reason: one.reason }));
  if (changes) lines.push(t("event.mcp_changed", { server, run: runName({ run: changes.run }), added: names(changes.added), removed: names(changes.removed), changed: names(changes.changed) }));
  return h("span", {}, t("event.mcp_pinned", { server, n: list.tools.length }), lines.map((line) => h("span", { class: "warn" }, h("br"), line)));
}

function effect(one) {
  const said = { write: one.path, copy: `${one.from} → ${one.to}`, run: [one.program, ...(one.args ?? [])].join(" "), http: `${one.method} ${one.url}`, retrieve: one.source };
  return `${one.effect} ${said[one.effect] ?? ""}`;
}
