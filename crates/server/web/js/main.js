// The entry point: the frame around every page, the banner, the theme, and the current page.

import { h, put } from "./view/dom.js";
import { icon, mark } from "./view/icons.js";
import * as inbox from "./core/inbox.js";
import { key, liking } from "./core/kept.js";
import { hasRole, loadCaller } from "./core/me.js";
import * as pulse from "./core/pulse.js";
import { begin, go } from "./core/router.js";
import { store } from "./core/store.js";
import { language, t } from "./core/words.js";
import { help, keyboard } from "./parts/help.js";
import { head } from "./parts/head.js";
import { quoted } from "./parts/quoted.js";
import { scriptStrip } from "./parts/script.js";
import { empty } from "./parts/states.js";
import inboxPage from "./pages/inbox.js";
import runs from "./pages/runs.js";
import run from "./pages/run.js";
import stats from "./pages/stats.js";
import start from "./pages/start.js";
import protocols from "./pages/protocols.js";
import protocol from "./pages/protocol.js";
import contracts from "./pages/contracts.js";
import contract from "./pages/contract.js";
import packets from "./pages/packets.js";
import system from "./pages/system.js";

const PAGES = { inbox: inboxPage, runs, run, stats, start, protocols, protocol, contracts, contract, packets, system };
const NAV = [["inbox", "/inbox"], ["runs", "/runs"], ["start", "/start"], ["protocols", "/protocols"], ["contracts", "/contracts"], ["system", "/system"]];
const UNDER = { run: "runs", stats: "runs", protocol: "protocols", contract: "contracts", packets: "runs" };

document.documentElement.lang = language;

const links = NAV.map(([name, to]) => h("a", { href: to, data: { page: name } }, icon(name), h("span", { class: "word" }, t(`nav.${name}`))));
const count = h("span", { class: "count", hidden: true });
links[0].append(count);
const banner = h("div", { class: "banner", role: "status", hidden: true });
const strip = h("div", { class: "strip-frame" });
const page = h("main", { class: "page", id: "main", tabindex: "-1" });
const said = h("div", { class: "quiet-region", role: "status", "aria-live": "polite" });
const themeButton = h("button", { class: "button plain low", type: "button", title: t("help.theme"), on: { click: turnTheme } }, icon("theme"), h("span", { class: "word" }));
document.body.append(
  h("a", { class: "skip", href: "#main" }, t("nav.skip")),
  h("div", { class: "shell" },
    h("header", { class: "rail" },
      h("a", { class: "brand", href: "/inbox" }, mark(), h("span", {}, "Countersign")),
      h("nav", { class: "nav", "aria-label": t("nav.main") }, h("ul", {}, links.map((link) => h("li", {}, link)))),
      h("div", { class: "rail-foot" }, themeButton, h("button", { class: "button plain low", type: "button", on: { click: help } }, icon("keys"), h("span", { class: "word" }, t("help.title"))))),
    h("div", {}, banner, strip, page)),
  said);

store.set("theme", liking.get("theme") ?? "system");
store.watch("theme", (theme) => {
  liking.set("theme", theme === "system" ? undefined : theme);
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  themeButton.lastChild.textContent = `${t("system.theme")}: ${t(`theme.${theme}`)}`;
});

function turnTheme() {
  const all = ["system", "light", "dark"];
  store.set("theme", all[(all.indexOf(store.get("theme")) + 1) % all.length]);
}

let leaving = new AbortController();
let here = null;

function enter({ page: name, params }) {
  leaving.abort();
  leaving = new AbortController();
  const section = UNDER[name] ?? name;
  for (const link of links) {
    if (link.dataset.page === section) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const place = h("div", {});
  put(page, place);
  if (name) PAGES[name](place, params, leaving.signal);
  else put(place, head(t("state.no_page"), null), empty("incident", t("state.no_page"), t("state.no_page_why"), h("a", { class: "button first", href: "/inbox" }, t("nav.inbox"))));
  // Screen readers announce the focused title. For the first page, the browser announces it.
  if (here !== null) {
    window.scrollTo(0, 0);
    place.querySelector("h1")?.focus({ preventScroll: true });
  }
  here = name;
}

store.watch("inbox", ({ items, more }) => {
  count.hidden = items.length === 0;
  put(count, `${items.length}${more ? "+" : ""}`);
  count.setAttribute("aria-label", t("inbox.count", { n: items.length }));
});

store.watch("connection", (state) => {
  banner.hidden = state !== "lost";
  if (state === "lost") put(banner, icon("incident"), h("strong", {}, t("state.unreachable")), h("span", {}, t("state.reconnecting")));
  if (state === "back") put(said, t("state.back"));
});

let locked = false;
store.watch("locked", (problem) => {
  // Several requests can get status 401; the form is shown once.
  if (locked) return;
  locked = true;
  const typed = h("input", { class: "input", type: "password", id: "key", autocomplete: "current-password", required: true });
  const open = (event) => {
    event.preventDefault();
    key.set(typed.value.trim());
    location.reload();
  };
  document.title = t("system.locked");
  put(page, h("form", { class: "card stack reading", on: { submit: open } }, h("h1", { tabindex: "-1" }, t("system.locked")), h("p", { class: "soft" }, quoted(t("system.locked_why"))),
    key.get() ? h("p", { class: "note bad-note", role: "alert" }, problem.message) : null,
    h("div", { class: "field" }, h("label", { for: "key" }, t("system.key")), typed), h("div", {}, h("button", { class: "button first", type: "submit" }, t("system.enter")))));
  typed.focus();
});

/** How long the page waits for the caller before it is shown without. */
const PATIENCE = 2_000;

await Promise.race([loadCaller(), new Promise((done) => setTimeout(done, PATIENCE))]);
links.find((link) => link.dataset.page === "start").closest("li").hidden = !hasRole("operator");
scriptStrip().then((line) => put(strip, hasRole("operator") ? null : h("p", { class: "strip", role: "note" }, icon("incident"), h("span", {}, t("state.reader"))), line));
pulse.watch(() => inbox.reload());
keyboard(turnTheme);
inbox.begin(new AbortController().signal);
// The form that asks for a key stays.
if (!locked) begin(enter);
if (!locked && location.pathname === "/") go("/inbox", { instead: true });
