// The current state of a run: open waits, the reply being written, the output, and the graph with the current phase.

import { h, put, visible } from "../../view/dom.js";
import { icon } from "../../view/icons.js";
import { keyed } from "../../view/keyed.js";
import { get, part } from "../../core/api.js";
import { drafts } from "../../core/kept.js";
import { plainName, runName } from "../../core/names.js";
import { moment, number, size, t, tOr } from "../../core/words.js";
import { bars } from "../../parts/bars.js";
import { cost, duration } from "../../parts/figures.js";
import { graph } from "../../parts/graph.js";
import { json } from "../../parts/json.js";
import { looksLikeMarkdown, markdown } from "../../parts/markdown.js";
import { quoted } from "../../parts/quoted.js";
import { when } from "../../parts/status.js";
import { talk } from "../../parts/talk.js";
import { fileCard } from "../../parts/file.js";
import { followUp } from "../../parts/follow.js";
import { filePaths, presented } from "../../parts/presented.js";
import { waitCard } from "../../parts/wait.js";

export default function tab(run, signal, again) {
  const said = talk();
  const waits = h("div", { class: "stack" });
  const cards = new Map();
  let state = null;
  // Waits that replaced another one while this page was open.
  const replaced = new Map();
  const list = keyed(waits, (wait) => wait.id, (wait) => {
    const card = waitCard(wait, run, { state, replaced: replaced.get(wait.id), moved: again });
    cards.set(wait.id, { wait, card });
    return { node: card.node, update: card.update };
  });
  const text = h("pre", {});
  const writing = h("section", { class: "writing", hidden: true, "aria-label": t("run.writing") }, h("header", {}, h("span", { class: "status", data: { is: "running" } }, icon("running"), t("run.writing"))), text);
  const stands = h("div", { class: "stack" });
  const products = h("div", { class: "stack" });
  const follow = h("div", {});
  const files = h("section", { class: "stack", "aria-label": t("run.files") });
  let listed = "";
  const drawing = graph(`/runs/${part(run)}/graph`, {}, t("run.graph"));
  const budgets = h("section", { class: "card" });
  const facts = h("section", { class: "card" });
  const node = h("div", { class: "split" },
    h("div", { class: "stack stack-wide" }, said.node, h("div", { class: "stack" }, stands, writing, waits, products, follow, files)),
    h("aside", { class: "stack", "aria-label": t("run.about") }, drawing.node, budgets, facts));
  let version = -1;

  function update({ status, versions, writing: now }) {
    const written = now.length > 0;
    writing.hidden = !written;
    const shown = visible(now);
    if (written && text.textContent !== shown) {
      text.textContent = shown;
      text.scrollTop = text.scrollHeight;
    }
    if (version === status.version) return;
    version = status.version;
    state = status;
    const open = status.waits.map((wait) => wait.id);
    const kept = [];
    for (const [id, { wait, card }] of cards) {
      if (open.includes(id)) continue;
      const next = status.waits.find((one) => one.supersedes?.includes(id));
      if (next) {
        cards.delete(id);
        replaced.set(next.id, wait);
        if (card.draft) drafts.set(`${run}/${next.id}`, card.draft);
        drafts.drop(`${run}/${id}`);
        continue;
      }
      // A form with input stays, and says who answered first.
      if (card.idle) cards.delete(id);
      else {
        kept.push(wait);
        card.closed();
      }
    }
    list.show([...kept, ...status.waits]);
    said.show(versions, open);
    put(stands, standing(status));
    put(products, status.output.map((one) => product(one, run, signal)));
    // A version that arrives while somebody types does not take the form away.
    if (status.follow_up && !follow.childElementCount) put(follow, followUp(run, status));
    listFiles();
    drawing.update(signal);
    budgets.hidden = !status.budgets.length;
    put(budgets, h("h2", { class: "aside-title" }, t("run.budgets")), bars(status.budgets));
    put(facts, h("h2", { class: "aside-title" }, t("run.about")), about(status));
  }

  /** The files of the run and of its children; they are listed again only if there are others. */
  async function listFiles() {
    const all = await get(`/runs/${part(run)}/files`, {}, signal).catch(() => []);
    // A file that is a result is shown there.
    const results = new Set(state.output.flatMap((one) => filePaths(one.value).map((path) => `${one.run} ${path}`)));
    const found = all.filter((file) => !results.has(`${file.run} ${file.path}`));
    const text = JSON.stringify(found);
    if (signal.aborted || text === listed) return;
    listed = text;
    put(files, found.length ? [h("h2", {}, t("run.files")), h("ul", { class: "files" }, found.map((file) => h("li", {}, fileCard(file))))] : null);
  }
  return { node, update };
}

/** The reasons for the status, other than open waits. */
function standing(status) {
  const told = [];
  if (status.end) {
    const tone = status.end.kind === "completed" ? "good-note" : "bad-note";
    told.push(h("p", { class: `note ${tone}` }, h("strong", {}, tOr(`end.${status.end.kind}`, status.end.kind)), status.end.reason));
  }
  if (status.halted) told.push(h("p", { class: "note warn-note" }, h("strong", {}, t("run.halted_by", { by: status.halted.by })), status.halted.reason));
  // The card of an incident or a spent budget says the same, and has the buttons.
  if (status.blocked && !status.waits.some((wait) => wait.kind === "incident" || wait.kind === "budget")) {
    told.push(h("p", { class: "note bad-note" }, h("strong", {}, t("run.blocked")), h("span", {}, quoted(t(`blocked.${status.blocked.kind}`, status.blocked)))));
  }
  for (const order of status.pending) {
    // The head of the page names the child that waits for a person.
    if (order.kind === "child" && status.waiting_child) continue;
    told.push(h("p", { class: "note" }, h("strong", {}, tOr(`order.${order.kind}`, order.kind)), order.kind === "model" ? null : order.description, order.not_before ? h("span", { class: "soft" }, t("run.not_before", { at: moment(order.not_before) })) : null));
  }
  // An open approval has a card, which says more than its closed gate.
  const closed = status.closed_gates.filter((gate) => !status.waits.some((wait) => wait.kind === "approval" && wait.transition === gate.transition));
  if (closed.length) {
    told.push(h("section", { class: "gates", "aria-label": t("run.gates") }, closed.map((gate) => h("div", { class: "gate" },
      h("strong", {}, t("run.gate_to", { to: gate.to })), " ", gate.reason,
      gate.retry_at ? h("span", { class: "soft" }, " · ", t("event.retry_at", { at: moment(gate.retry_at) })) : null))));
  }
  return told;
}

/** One output. A text that looks like Markdown is rendered, and its references lead to the evidence in the document. */
function product({ run, pointer, value }, shown, signal) {
  const body = h("div", { class: "stack" });
  const plain = typeof value !== "string" || !looksLikeMarkdown(value);
  if (plain) put(body, presented({ value }, { run }));
  else {
    put(body, markdown(value));
    if (/\[\d+\]/.test(value)) cited();
  }
  async function cited() {
    const found = await get(`/runs/${part(run)}/document`, { pointer: "/evidence" }, signal).catch(() => null);
    if (!Array.isArray(found) || !found.length) return;
    const named = (number) => `evidence-${part(run)}-${number}`;
    const cite = (number) => (found[number - 1] === undefined ? null : { href: `#${named(number)}`, title: told(found[number - 1]) });
    put(body, markdown(value, { cite }), h("section", { class: "evidence stack", "aria-label": t("run.evidence") }, h("h3", {}, t("run.evidence")),
      h("ol", {}, found.map((one, index) => h("li", { id: named(index + 1), tabindex: "-1" }, proof(one))))));
  }
  return h("section", { class: "product" },
    h("h2", { class: "aside-title", title: pointer }, t("run.result"), pointer ? `: ${plainName(pointer)}` : null),
    run === shown ? null : h("p", { class: "small soft" }, t("run.made_by"), " ", h("a", { href: `/runs/${part(run)}` }, runName({ run }))), body);
}

const told = (one) => (typeof one === "string" ? one : one?.snippet ?? one?.text ?? one?.title ?? one?.ref ?? "");

/** One piece of evidence: its text, and where it comes from. */
const proof = (one) => (told(one) ? [h("div", {}, told(one)), one.ref ? h("div", { class: "small soft" }, one.source ? `${one.source} · ` : "", h("code", {}, one.ref)) : null] : json(one));

function about(status) {
  const link = (id, title) => h("a", { href: `/runs/${part(id)}`, class: title ? null : "mono" }, runName({ run: id, title }));
  const rows = [
    [t("run.begun"), h("span", { title: moment(status.created_at) }, when(status.created_at))],
    [t("run.changed"), when(status.updated_at)],
    [t("run.version"), `${number(status.version)} · ${t("run.events", { n: status.events })}`],
    status.wake_at ? [t("run.alarm"), when(status.wake_at)] : null,
    [t("run.model"), status.model ?? t("run.model_own")],
    [t("run.calls"), `${number(status.model_calls)} · ${t("input.tokens", { n: status.input_tokens + status.output_tokens })}`],
    [t("run.size"), size(status.document_bytes)],
    status.started_by ? [t("run.started_by"), status.started_by] : null,
    [t("run.duration"), duration((status.ended_at ?? Date.now()) - status.created_at)],
    status.cost ? [t("run.cost"), cost(status.cost)] : null,
    status.parent ? [t("run.parent"), h("span", {}, link(status.parent.run, status.parent.title), status.parent.status ? ` ${tOr(`status.${status.parent.status}`, status.parent.status)}` : null)] : null,
    status.fork ? [t("run.forked"), h("span", {}, link(status.fork.run, status.fork.title), ` v${status.fork.version}`)] : null,
    status.continues ? [t("run.continues"), link(status.continues)] : null,
    status.children.length ? [t("run.children"), h("ul", {}, status.children.map((child) => h("li", {}, link(child.run, child.title), ` ${tOr(`status.${child.status}`, tOr(`child.${child.status}`, child.status))}`)))] : null,
    status.tickets.length ? [t("run.tickets"), status.tickets.join(", ")] : null,
    [t("run.id"), h("code", { class: "break tiny" }, status.run)],
    status.protocol.folder_changed ? [t("run.protocol"), t("run.folder_changed")] : null,
  ];
  return h("dl", { class: "facts" }, rows.filter(Boolean).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}
