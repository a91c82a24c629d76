// The timeline of a run, newest first or last, as the reader prefers.

import { h, put } from "../../view/dom.js";
import { liking } from "../../core/kept.js";
import { t } from "../../core/words.js";
import { timeline } from "../../parts/timeline.js";

export default function tab(run) {
  const line = timeline(run);
  let newest = liking.get("newest_first") === true;
  let versions = [];
  const turn = h("button", { class: "chip", type: "button", on: { click: () => {
    newest = !newest;
    liking.set("newest_first", newest);
    show();
  } } });
  const count = h("span", { class: "small soft" });
  const node = h("div", { class: "stack" }, h("div", { class: "row" }, turn, count), line.node);

  function show() {
    turn.setAttribute("aria-pressed", String(newest));
    put(turn, t("run.newest_first"));
    put(count, t("run.versions", { n: versions.length }));
    line.show(newest ? [...versions].reverse() : versions);
  }
  return {
    node,
    update(run) {
      if (versions === run.versions && versions.length) return;
      versions = run.versions;
      show();
    },
  };
}
