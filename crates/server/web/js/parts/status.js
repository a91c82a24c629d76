// Labels with an icon: a status, a kind of wait, a time. Colour is never the only signal.

import { h } from "../view/dom.js";
import { icon } from "../view/icons.js";
import { ago, moment, t, tOr } from "../core/words.js";

/** The status of a run. */
export const status = (word) => h("span", { class: "status", data: { is: word } }, icon(word), tOr(`status.${word}`, word));

/** The kind of a wait. */
export const waitKind = (kind) => h("span", { class: "tag strong" }, icon(kind), tOr(`kind.${kind}`, kind));

/** A time, relative to now. */
export const when = (at, more = {}) => h("time", { datetime: new Date(at).toISOString(), title: moment(at), ...more }, ago(at));

const SOON = 86_400_000;

/** A deadline, highlighted if it is near or past. */
export function deadline(at, now = Date.now()) {
  const near = at < now ? "late" : at - now < SOON ? "soon" : null;
  return h("span", { class: near }, t(at < now ? "wait.was_due" : "wait.due"), " ", when(at));
}
