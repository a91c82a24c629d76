// The button that starts a new run, for those who may.

import { h } from "../view/dom.js";
import { hasRole } from "../core/me.js";
import { t } from "../core/words.js";

export const startLink = () => (hasRole("operator") ? h("a", { class: "button first", href: "/start" }, t("nav.start")) : null);
