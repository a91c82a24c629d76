// The system page: the current user, the state of the server, the workers, and the look of this page.

import { fresh, h, put } from "../view/dom.js";
import { icon } from "../view/icons.js";
import { get, part } from "../core/api.js";
import { key, liking } from "../core/kept.js";
import { store } from "../core/store.js";
import { LANGUAGES, language, t } from "../core/words.js";
import { head } from "../parts/head.js";
import { shown } from "../parts/states.js";
import { when } from "../parts/status.js";

export default function page(root, _, signal) {
  const [who, house, workers] = [h("div", {}), h("div", {}), h("div", {})];
  const card = (title, ...body) => h("section", { class: "card" }, h("h2", {}, title), ...body);
  put(root, head(t("system.title"), t("system.lead")),
    h("div", { class: "halves" },
      h("div", { class: "stack" }, card(t("system.you"), who)),
      h("div", { class: "stack" }, card(t("system.look"), looks()), card(t("system.server"), house), card(t("system.workers"), workers))));
  shown(who, () => get("/me", {}, signal), me, 3);
  shown(house, () => get("/ready", {}, signal), (found) => facts([[t("system.state"), found.status], [t("contract.version"), found.version], ["API", h("a", { href: "/v1/docs" }, "/v1/docs")]]), 3);
  workersOf(workers, signal);
}

const facts = (rows) => h("dl", { class: "facts" }, rows.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));

function me(found) {
  const [name, secret] = [fresh("name"), fresh("key")];
  const user = h("input", { class: "input", id: name, value: liking.get("user") ?? "", placeholder: found.user, autocomplete: "off" });
  const typed = h("input", { class: "input", id: secret, type: "password", autocomplete: "off", value: key.get() ?? "" });
  const save = () => {
    liking.set("user", user.value.trim() || undefined);
    key.set(typed.value.trim() || undefined);
    location.reload();
  };
  return h("div", { class: "stack" },
    facts([[t("system.user"), found.user], [t("system.tenant"), found.tenant], [t("system.role"), found.role], [t("system.key"), found.key ?? t("system.keyless")]]),
    h("div", { class: "field" }, h("label", { for: name }, t("system.act_as")), h("p", { class: "help" }, t("system.act_as_why")), user),
    h("div", { class: "field" }, h("label", { for: secret }, t("system.key")), h("p", { class: "help" }, t("system.key_why")), typed),
    h("div", {}, h("button", { class: "button", type: "button", on: { click: save } }, t("act.save"))));
}

function looks() {
  const [theme, spoken] = [fresh("theme"), fresh("language")];
  const themes = h("select", { class: "pick", id: theme, on: { change: () => store.set("theme", themes.value) } }, ["system", "light", "dark"].map((one) => h("option", { value: one }, t(`theme.${one}`))));
  themes.value = liking.get("theme") ?? "system";
  const languages = h("select", { class: "pick", id: spoken, on: { change: () => (liking.set("language", languages.value), location.reload()) } }, LANGUAGES.map(([id, name]) => h("option", { value: id, lang: id }, name)));
  languages.value = language;
  return h("div", { class: "stack" }, h("div", { class: "field" }, h("label", { for: theme }, t("system.theme")), themes), h("div", { class: "field" }, h("label", { for: spoken }, t("system.language")), languages));
}

function workersOf(node, signal) {
  // Only tenant `default` may list the workers, and an older server has no such route.
  const load = () => get("/workers", {}, signal).catch((error) => {
    if (error.status === 404 || error.status === 403) return [];
    throw error;
  });
  shown(node, load, (all) => (all.length ? h("ul", { class: "stack" }, all.map(worker)) : h("p", { class: "soft" }, t("system.one_process"))), 3);
}

const worker = (one) => h("li", { class: "note" },
  h("span", { class: "row" }, h("code", {}, one.name), h("span", { class: "tag" }, icon(one.lost ? "incident" : "running"), t(one.lost ? "system.lost" : "system.works"))),
  h("span", { class: "soft" }, [one.host, one.pid, one.version].filter(Boolean).join(" · ")),
  one.seen_at ? h("span", { class: "soft" }, t("system.seen"), " ", when(one.seen_at)) : null,
  one.runs.length ? h("span", {}, t("system.holds"), ": ", one.runs.slice(0, 20).map((run) => [h("a", { href: `/runs/${part(run)}` }, run), " "]), one.runs.length > 20 ? t("json.more", { n: one.runs.length - 20 }) : null) : null);
