// Markdown as elements. Text stays text: HTML in it is shown as written, a link leads only to http, https or mailto,
// and an image is a link to it. `cite(number)` returns where a reference such as `[1]` leads, or null.

import { h } from "../view/dom.js";

const DEEPEST = 6;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const QUOTE = /^ {0,3}> ?(.*)$/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])( +)(.*)$/;
const DIVIDER = /^ {0,3}\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;

/** Whether a text looks like Markdown: a heading, a list, a table, a fence, or emphasis. */
export const looksLikeMarkdown = (text) => /^ {0,3}(#{1,6}\s|[-*+] |\d{1,9}[.)] |```|\|.*\||> )/m.test(text) || /\*\*\S|\[[^\]]+\]\(https?:/.test(text);

/** A text in Markdown, as an element. */
export const markdown = (text, { cite } = {}) => h("div", { class: "markdown" }, blocks(text.replace(/\r\n?/g, "\n").split("\n"), cite, 0));

function blocks(lines, cite, depth) {
  const made = [];
  const line = (text) => inline(text, cite, 0);
  for (let at = 0; at < lines.length;) {
    const one = lines[at];
    let found;
    if (!one.trim()) at += 1;
    else if ((found = FENCE.exec(one))) {
      const end = lines.findIndex((later, index) => index > at && later.trim().startsWith(found[1]) && !later.trim().replaceAll(found[1][0], ""));
      const last = end < 0 ? lines.length : end;
      made.push(h("pre", { class: "code-block", tabindex: "0" }, lines.slice(at + 1, last).join("\n")));
      at = last + 1;
    } else if ((found = HEADING.exec(one))) {
      // The page has its own first two levels.
      made.push(h(`h${Math.min(found[1].length + 1, 6)}`, {}, line(found[2])));
      at += 1;
    } else if (RULE.test(one)) {
      made.push(h("hr"));
      at += 1;
    } else if (QUOTE.test(one) && depth < DEEPEST) {
      const inner = [];
      for (; at < lines.length && QUOTE.test(lines[at]); at += 1) inner.push(QUOTE.exec(lines[at])[1]);
      made.push(h("blockquote", {}, blocks(inner, cite, depth + 1)));
    } else if (ITEM.test(one) && depth < DEEPEST) {
      const [items, next] = listed(lines, at);
      const [, , sign] = ITEM.exec(one);
      const body = items.map((item) => h("li", {}, item.length === 1 ? line(item[0]) : blocks(item, cite, depth + 1)));
      made.push(/\d/.test(sign) ? h("ol", { start: Number.parseInt(sign, 10) }, body) : h("ul", {}, body));
      at = next;
    } else if (one.includes("|") && DIVIDER.test(lines[at + 1] ?? "") && lines[at + 1].includes("-")) {
      let last = at + 2;
      while (last < lines.length && lines[last].includes("|")) last += 1;
      const row = (text, tag) => h("tr", {}, cells(text).map((cell) => h(tag, tag === "th" ? { scope: "col" } : {}, line(cell))));
      made.push(h("div", { class: "scroll", tabindex: "0", role: "group" }, h("table", { class: "grid-table" }, h("thead", {}, row(one, "th")), h("tbody", {}, lines.slice(at + 2, last).map((text) => row(text, "td"))))));
      at = last;
    } else {
      const text = [];
      do {
        text.push(lines[at].trim());
        at += 1;
      } while (at < lines.length && lines[at].trim() && !FENCE.test(lines[at]) && !HEADING.test(lines[at]) && !RULE.test(lines[at]) && !QUOTE.test(lines[at]) && !ITEM.test(lines[at]));
      made.push(h("p", {}, line(text.join("\n"))));
    }
  }
  return made;
}

/** The items of a list as lines without their indent, and the line after it. */
function listed(lines, at) {
  const items = [];
  const ordered = /\d/.test(ITEM.exec(lines[at])[2]);
  let wide = 0;
  for (; at < lines.length; at += 1) {
    const one = lines[at];
    const found = ITEM.exec(one);
    const indent = one.search(/\S/);
    if (items.length && indent >= wide) items.at(-1).push(one.slice(wide));
    else if (found && /\d/.test(found[2]) === ordered) {
      wide = found[1].length + found[2].length + 1;
      items.push([found[4]]);
    } else if (!one.trim() && (lines[at + 1] ?? "").search(/\S/) >= wide) items.at(-1).push("");
    else break;
  }
  return [items, at];
}

const cells = (text) => text.trim().replace(/^\|/, "").replace(/\|$/, "").split("|").map((cell) => cell.trim());

const INLINE = /(`+)([^`]|[^`][^]{0,2000}?[^`])\1(?!`)|(!?)\[([^\][]{0,400})\]\(\s*<?([^\s<>()]{1,2000})>?(?:\s+"[^"]*")?\s*\)|<(https?:\/\/[^\s<>]{1,2000})>|\[(\d{1,4})\]|\*\*(?=\S)([^]{0,2000}?\S)\*\*|(?<![\w*])\*(?=[^\s*])([^*]{0,2000}[^\s*])\*(?!\*)|(?<!\w)_(?=\S)([^_]{0,2000}\S)_(?!\w)/g;

function inline(text, cite, depth) {
  if (depth > DEEPEST) return [text];
  const made = [];
  let from = 0;
  for (const found of text.matchAll(INLINE)) {
    const [whole, , code, image, label, target, bare, reference, strong, star, under] = found;
    made.push(text.slice(from, found.index));
    from = found.index + whole.length;
    if (code !== undefined) made.push(h("code", {}, code));
    else if (target !== undefined) made.push(linked(target, image ? [label || target] : inline(label, cite, depth + 1), whole));
    else if (bare !== undefined) made.push(linked(bare, [bare], whole));
    else if (reference !== undefined) {
      const to = cite?.(Number(reference));
      made.push(to ? h("a", { class: "cite", href: to.href, title: to.title }, `[${reference}]`) : whole);
    } else if (strong !== undefined) made.push(h("strong", {}, inline(strong, cite, depth + 1)));
    else made.push(h("em", {}, inline(star ?? under, cite, depth + 1)));
  }
  made.push(text.slice(from));
  return made;
}

/** A link to an allowed address, or the text as it was written. */
function linked(target, label, whole) {
  let url;
  try {
    url = new URL(target);
  } catch {
    return whole;
  }
  if (!["http:", "https:", "mailto:"].includes(url.protocol)) return whole;
  return h("a", { href: url.href, rel: "noopener noreferrer nofollow", target: "_blank", title: url.href }, label);
}
