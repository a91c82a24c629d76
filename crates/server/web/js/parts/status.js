// Words with a shape beside them: a status, a kind of wait, a moment. Never a colour alone.

import { h } from "../view/dom.js";
import { icon } from "../view/icons.js";
import { ago, moment, t, tOr } from "../core/words.js";

/** Where a run stands, in a word. */
export const status = (word) => h("span", { class: "status", data: { is: word } }, icon(word), tOr(`status.${word}`, word));

/** What kind of answer a wait wants. */
export const waitKind = (kind) => h("span", { class: "tag strong" }, icon(kind), tOr(`kind.${kind}`, kind));

/** A moment, as far from now as it is. */
export const when = (at, more = {}) => h("time", { datetime: new Date(at).toISOString(), title: moment(at), ...more }, ago(at));

const SOON = 86_400_000;

/** A deadline; one that is near, or over, says so. */
export function deadline(at, now = Date.now()) {
  const near = at < now ? "late" : at - now < SOON ? "soon" : null;
  return h("span", { class: near }, t(at < now ? "wait.was_due" : "wait.due"), " ", when(at));
}
