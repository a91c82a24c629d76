// The difference of two values, line by line; inside a changed line, word by word.

import { h } from "../view/dom.js";
import { t } from "../core/words.js";

/** Number of unchanged lines that are shown around a change. */
const AROUND = 2;

/** Size of the table that a comparison may need; larger texts are shown as removed and added. */
const MOST_CELLS = 1_000_000;

/** Shows how a value became another one. */
export function difference(before, after) {
  const rows = compact(changedLines(written(before).split("\n"), written(after).split("\n")));
  if (rows.every(({ kind }) => kind === "same" || kind === "gap")) return h("p", { class: "soft small" }, t("difference.none"));
  return h("div", { class: "difference", role: "group", "aria-label": t("difference.title") }, rows.map(line));
}

/** Shows a difference whose lines begin with `+`, `-` or a space. */
export function writtenDifference(lines) {
  const kinds = { "+": "add", "-": "remove" };
  const rows = lines.map((text) => ({ kind: kinds[text[0]] ?? "same", text: text.slice(1) }));
  return h("div", { class: "difference", role: "group", "aria-label": t("difference.title") }, rows.map(line));
}

const written = (value) => (value === undefined || value === null ? "" : typeof value === "string" ? value : JSON.stringify(value, null, 2));

function line(row) {
  if (row.kind === "gap") return h("div", { class: "gap" }, t("difference.same", { n: row.count }));
  if (row.kind === "same") return h("div", { class: "same" }, row.text || " ");
  const tag = row.kind === "add" ? "ins" : "del";
  const sign = h("span", { class: "sign", "aria-hidden": "true" }, row.kind === "add" ? "+" : "−");
  const parts = row.parts?.map(({ text, changed }) => (changed ? h("mark", {}, text) : text)) ?? [row.text || " "];
  return h(tag, { class: row.kind }, sign, parts);
}

/** The lines of both texts: `same`, `remove` and `add`, in order. */
function changedLines(before, after) {
  const rows = [];
  for (const [kind, texts] of blocks(before, after)) {
    if (kind === "same") rows.push(...texts.map((text) => ({ kind, text })));
    else rows.push(...replaced(texts[0], texts[1]));
  }
  return rows;
}

/** Removed and added lines; if there are as many of both, the changed words of each are marked. */
function replaced(removed, added) {
  const pairs = removed.length === added.length ? removed.map((text, at) => words(text, added[at])) : [];
  return [
    ...removed.map((text, at) => ({ kind: "remove", text, parts: pairs[at]?.[0] })),
    ...added.map((text, at) => ({ kind: "add", text, parts: pairs[at]?.[1] })),
  ];
}

function words(before, after) {
  const split = (text) => text.match(/[\p{L}\p{N}_]+|\s+|./gsu) ?? [];
  const sides = [[], []];
  for (const [kind, texts] of blocks(split(before), split(after))) {
    const of = kind === "same" ? [texts, texts] : texts;
    of.forEach((some, side) => some.length && sides[side].push({ text: some.join(""), changed: kind !== "same" }));
  }
  return sides;
}

/** Blocks of two lists: `["same", items]` or `["changed", [removed, added]]`, by their longest common subsequence. */
function blocks(before, after) {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const [left, right] = [before.slice(start, before.length - end), after.slice(start, after.length - end)];
  const all = [];
  const push = (kind, some) => {
    const last = all.at(-1);
    if (last?.[0] !== kind) all.push([kind, some]);
    else if (kind === "same") last[1].push(...some);
    else some.forEach((one, side) => last[1][side].push(...one));
  };
  if (start) push("same", before.slice(0, start));
  if (left.length * right.length > MOST_CELLS) push("changed", [left, right]);
  else walk(left, right, push);
  if (end) push("same", before.slice(before.length - end));
  return all;
}

function walk(left, right, push) {
  const wide = right.length + 1;
  const common = new Uint32Array((left.length + 1) * wide);
  for (let i = left.length - 1; i >= 0; i -= 1) {
    for (let j = right.length - 1; j >= 0; j -= 1) {
      common[i * wide + j] = left[i] === right[j] ? common[(i + 1) * wide + j + 1] + 1 : Math.max(common[(i + 1) * wide + j], common[i * wide + j + 1]);
    }
  }
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && left[i] === right[j]) {
      push("same", [left[i]]);
      i += 1;
      j += 1;
    } else if (j >= right.length || (i < left.length && common[(i + 1) * wide + j] >= common[i * wide + j + 1])) {
      push("changed", [[left[i]], []]);
      i += 1;
    } else {
      push("changed", [[], [right[j]]]);
      j += 1;
    }
  }
}

/** Replaces long stretches of unchanged lines by their number. */
function compact(rows) {
  const near = rows.map((_, at) => rows.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(({ kind }) => kind !== "same"));
  const shown = [];
  rows.forEach((row, at) => {
    if (near[at]) shown.push(row);
    else if (shown.at(-1)?.kind === "gap") shown.at(-1).count += 1;
    else shown.push({ kind: "gap", count: 1 });
  });
  return shown;
}
