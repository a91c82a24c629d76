// The texts of the page in the reader's language, and the formats of dates, durations and numbers.

import { liking } from "./kept.js";
import en from "../words/en.js";
import ru from "../words/ru.js";
import zh from "../words/zh.js";

const ALL = { en, ru, zh };

/** The available languages, each with its own name. */
export const LANGUAGES = [["en", "English"], ["ru", "Русский"], ["zh", "中文"]];

/** The current language. */
export const language = chosen();

function chosen() {
  const liked = liking.get("language");
  if (liked in ALL) return liked;
  const wanted = (navigator.languages ?? []).map((one) => one.slice(0, 2).toLowerCase());
  return wanted.find((one) => one in ALL) ?? "en";
}

const plurals = new Intl.PluralRules(language);
const numbers = new Intl.NumberFormat(language);
const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
const moments = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "medium" });
const short = new Intl.DateTimeFormat(language, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });
const clock = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });

/** The text of a key, with its placeholders filled in; `n` selects the plural form. An unknown key is returned unchanged. */
export function t(key, places = {}) {
  const found = ALL[language][key] ?? en[key];
  if (found === undefined) return key;
  const form = typeof found === "string" ? found : found[plurals.select(places.n ?? 0)] ?? found.other;
  return form.replace(/\{(\w+)\}/g, (whole, name) => {
    const value = places[name];
    return value === undefined ? whole : typeof value === "number" ? numbers.format(value) : String(value);
  });
}

/** Whether a key has a text. */
export const has = (key) => key in en;

/** The text of a key, or `otherwise` if there is none: for kinds that only a newer server has. */
export const tOr = (key, otherwise, places) => (has(key) ? t(key, places) : otherwise);

/** Formats a number. */
export const number = (value) => numbers.format(value);

/** Formats a time: in full, as a short date, and as a clock time. */
export const moment = (time) => moments.format(new Date(time));
export const day = (time) => short.format(new Date(time));
export const time = (at) => clock.format(new Date(at));

const UNITS = [["year", 31_557_600_000], ["month", 2_629_800_000], ["day", 86_400_000], ["hour", 3_600_000], ["minute", 60_000], ["second", 1_000]];

/** Formats a time relative to now: "in 3 days", "5 minutes ago". */
export function ago(at, now = Date.now()) {
  const away = at - now;
  for (const [unit, long] of UNITS) {
    if (Math.abs(away) >= long || unit === "second") return relative.format(Math.trunc(away / long), unit);
  }
  return "";
}

const lengths = (unit) => new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay: "short", maximumFractionDigits: 1 });

/** Formats a duration: "350 ms", "4.2 sec", "3 min", "2 days". */
export function span(milliseconds) {
  const [unit, long] = [["day", 86_400_000], ["hour", 3_600_000], ["minute", 60_000], ["second", 1_000]].find(([, long]) => milliseconds >= long) ?? ["millisecond", 1];
  return lengths(unit).format(milliseconds / long);
}

/** Formats a size in bytes. */
export function size(bytes) {
  if (bytes < 1_024) return `${numbers.format(bytes)} B`;
  const [value, unit] = bytes < 1_048_576 ? [bytes / 1_024, "KiB"] : [bytes / 1_048_576, "MiB"];
  return `${new Intl.NumberFormat(language, { maximumFractionDigits: 1 }).format(value)} ${unit}`;
}
