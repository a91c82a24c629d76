// One run: its head, its tabs, and the selected tab. Each tab has its own file.

import { h, put } from "../view/dom.js";
import { icon } from "../view/icons.js";
import { once, part, post } from "../core/api.js";
import { followRun } from "../core/run.js";
import { hasRole } from "../core/me.js";
import { runName } from "../core/names.js";
import { go } from "../core/router.js";
import { t } from "../core/words.js";
import { ask } from "../parts/ask.js";
import { head } from "../parts/head.js";
import { empty, loading, wrong } from "../parts/states.js";
import { status } from "../parts/status.js";
import now from "./run/now.js";
import history from "./run/history.js";
import contents from "./run/document.js";
import prompt from "./run/prompt.js";
import proof from "./run/proof.js";

const TABS = { now, timeline: history, document: contents, prompt, proof };

export default function page(root, { run, tab = "now" }, signal) {
  const place = h("div", {});
  const body = h("div", {});
  const badge = h("span", {});
  const actions = h("span", { class: "buttons" });
  const lead = h("span", {});
  const tabs = h("nav", { class: "tabs", "aria-label": t("run.tabs") }, Object.keys(TABS).map((name) =>
    h("a", { href: `/runs/${part(run)}${name === "now" ? "" : `/${name}`}`, "aria-current": name === tab ? "page" : null }, t(`run.${name}`))));
  put(root, head(t("state.loading"), lead, badge, actions), tabs, place, body);
  const title = root.querySelector("h1");
  put(body, loading(8));
  if (!TABS[tab]) return put(body, empty("runs", t("state.no_page"), t("state.no_page_why"), h("a", { class: "button", href: `/runs/${part(run)}` }, t("run.now"))));
  const shown = TABS[tab](run, signal, () => following.read());
  let first = true;
  let told = null;

  const following = followRun(run, (one) => {
    if (one.error) {
      const missing = one.error.status === 404;
      if (!one.status) put(title, run);
      if (!one.status) put(body, missing ? empty("runs", t("run.unknown"), t("run.unknown_why"), h("a", { class: "button", href: "/runs" }, t("nav.runs"))) : wrong(one.error, () => following.read()));
      return;
    }
    if (!one.status) return;
    if (first) put(body, shown.node);
    first = false;
    const { status: state } = one;
    const known = `${state.version} ${state.status} ${state.parent?.title} ${state.waiting_child?.run}`;
    if (told !== known) {
      told = known;
      put(title, state.title || state.workflow);
      document.title = `${state.title || state.workflow} · Countersign`;
      put(place, family(state));
      put(badge, status(state.status));
      put(lead, h("a", { href: `/protocols/${part(state.protocol.name)}` }, state.protocol.name), ` ${state.protocol.version} · ${state.workflow} · `, h("strong", {}, state.phase_name ?? state.phase));
      put(actions, steering(state));
    }
    shown.update(one);
  }, signal);

  /** The parent, and the child that waits for a person. */
  function family(state) {
    const link = (one) => h("a", { href: `/runs/${part(one.run)}` }, runName(one));
    const child = state.waiting_child;
    return [
      state.parent ? h("p", { class: "small", data: { parent: "" } }, `${t("run.parent")}: `, link(state.parent)) : null,
      child ? h("p", { class: "note", role: "status", data: { waitingChild: "" } }, h("span", {}, t("run.waiting_child"), link(child), child.asks ? t("run.waiting_child_asks", { who: child.asks }) : null)) : null,
    ];
  }

  function steering(state) {
    if (!hasRole("operator")) return null;
    const over = state.status === "completed" || state.status === "failed";
    const act = (name, drawn, danger, work) => h("button", { class: `button low ${danger ? "danger" : ""}`, type: "button", on: { click: () => work(name) } }, icon(drawn), t(`act.${name}`));
    const steer = (name) => ask({
      title: t(`act.${name}_title`), about: state.title || run, text: t(`act.${name}_text`), yes: t(name === "cancel" ? "act.cancel_yes" : `act.${name}`), reason: name !== "resume",
      ...(name === "cancel" ? { danger: true, no: t("act.cancel_no") } : {}),
      send: (reason) => post(`/runs/${part(run)}/${name}`, reason ? { reason } : {}, { once: once() }),
      done: () => following.read(),
    });
    const fork = () => ask({
      title: t("act.fork_title"), about: state.title || run, text: t("act.fork_text"), yes: t("act.fork"),
      number: { label: t("act.fork_at"), value: state.version, min: 1, max: state.version },
      send: (_, version) => post(`/runs/${part(run)}/fork`, { version }, { once: once() }),
      done: (made) => go(`/runs/${part(made.run)}`),
    });
    const stopped = state.status === "halted" || state.blocked;
    return [
      over || state.halted ? null : act("halt", "halted", false, steer),
      !over && stopped ? act("resume", "next", false, steer) : null,
      act("fork", "fork", false, fork),
      over ? null : act("cancel", "failed", true, steer),
    ];
  }
  return undefined;
}
