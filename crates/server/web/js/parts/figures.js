// Figures of runs: durations, tokens, cost, and charts of them by day.

import { h, s } from "../view/dom.js";
import { language, number, t } from "../core/words.js";

const unit = (name) => new Intl.NumberFormat(language, { style: "unit", unit: name, unitDisplay: "narrow", maximumFractionDigits: 1 });
const UNITS = [["day", 86_400_000], ["hour", 3_600_000], ["minute", 60_000], ["second", 1_000]].map(([name, ms]) => [unit(name), ms]);
const prices = new Intl.NumberFormat(language, { maximumFractionDigits: 4 });

const dates = new Intl.DateTimeFormat(language, { year: "numeric", month: "short", day: "numeric", timeZone: "UTC" });

/** A day in UTC. */
export const date = (at) => dates.format(new Date(at));

/** A duration in its largest unit, for example `2.5h`; a dash if there is none. */
export function duration(ms) {
  if (ms === null || ms === undefined) return "–";
  const [format, length] = UNITS.find(([, size]) => ms >= size) ?? UNITS.at(-1);
  return format.format(ms / length);
}

/** A cost, which the server sends in millionths of the currency. */
export const cost = (millionths) => prices.format(millionths / 1_000_000);

/** Duration, tokens and cost of a run in a list. Tokens and cost are left out while there are none. */
export function figures(run) {
  const tokens = run.input_tokens + run.output_tokens;
  return [
    h("span", { title: t("runs.duration") }, duration(run.duration_ms)),
    tokens ? h("span", {}, t("input.tokens", { n: tokens })) : null,
    run.cost ? h("span", { title: t("runs.cost") }, `${t("runs.cost")} ${cost(run.cost)}`) : null,
  ];
}

const [WIDE, HIGH] = [600, 120];

/**
 * A chart with one bar per day. `rows` are `[day, value]`, the first day first; `series` names the chart for screen
 * readers, which read the values from the table below the charts.
 */
export function chart(series, rows, format) {
  const most = Math.max(...rows.map(([, value]) => value), 0);
  const step = WIDE / Math.max(rows.length, 1);
  const bars = rows.map(([at, value], index) => {
    const tall = most > 0 ? (value / most) * HIGH : 0;
    return s("rect", { class: "chart-bar", x: index * step + step * 0.1, y: HIGH - tall, width: step * 0.8, height: Math.max(tall, value > 0 ? 1 : 0) },
      s("title", {}, `${date(at)}: ${format(value)}`));
  });
  const [first, last] = [rows[0]?.[0], rows.at(-1)?.[0]];
  return h("figure", { class: "chart" },
    h("figcaption", {}, h("strong", {}, series), h("span", { class: "soft small" }, t("stats.most", { value: format(most) }))),
    s("svg", { viewBox: `0 0 ${WIDE} ${HIGH + 1}`, role: "img", "aria-label": t("stats.chart", { series, value: format(most) }), preserveAspectRatio: "none" },
      s("line", { class: "chart-base", x1: 0, x2: WIDE, y1: HIGH, y2: HIGH }), bars),
    first === undefined ? null : h("div", { class: "chart-days soft tiny" }, h("span", {}, date(first)), h("span", {}, date(last))));
}

/** A number without a unit. */
export const plain = (value) => number(Math.round(value));
