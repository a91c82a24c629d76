// A sentence in which names stand between backticks, as the server writes them.

import { h } from "../view/dom.js";

/** The sentence, its names in the type of code. */
export const quoted = (text) => text.split("`").map((part, place) => (place % 2 ? h("code", {}, part) : part));
