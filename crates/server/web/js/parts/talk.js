// The questions and answers of a run, as a conversation.

import { h } from "../view/dom.js";
import { keyed } from "../view/keyed.js";
import { plainName } from "../core/names.js";
import { t } from "../core/words.js";
import { json } from "./json.js";
import { quoted } from "./quoted.js";
import { when } from "./status.js";

/** A conversation; `show(versions)` shows the questions and answers of these versions. */
export function talk() {
  const node = h("div", { class: "talk", role: "log", "aria-label": t("run.talk") });
  const list = keyed(node, (one) => one.key, (one) => ({ node: turn(one) }));
  return { node, show: (versions, open) => list.show(turns(versions, new Set(open))) };
}

function turns(versions, open) {
  const all = [];
  const questions = new Map();
  for (const { version, time, input, events } of versions) {
    if (input?.kind === "start" && input.input !== undefined && !input.parent) {
      all.push({ key: `${version}-start`, side: "person", who: input.by ?? "", said: input.input, time });
    }
    if (input?.kind === "answered" && questions.has(input.wait)) {
      all.push({ key: `${version}-a`, side: "person", who: input.by, said: input.value, time });
    }
    if (input?.kind === "approval_decided" && questions.has(input.wait)) {
      const said = t(input.approve ? "wait.yes" : "wait.no") + (input.note ? `: ${input.note}` : "");
      all.push({ key: `${version}-d`, side: "person", who: input.by, said, time });
    }
    for (const event of events) {
      if (event.event !== "wait_opened") continue;
      questions.set(event.wait.id, true);
      // An open wait is shown as a form instead.
      if (!open.has(event.wait.id)) all.push({ key: `${version}-${event.wait.id}`, side: "run", who: plainName(event.wait.phase), said: event.wait.question, time });
    }
  }
  return all;
}

const turn = ({ side, who, said, time }) => h("div", { class: "turn", data: { side } },
  h("div", { class: "who" }, h("span", {}, who), when(time)),
  h("div", { class: "said" }, typeof said !== "string" ? json(said) : side === "run" ? quoted(said) : said));
