// Text from the server, in which names are in backticks.

import { h } from "../view/dom.js";

/** The text, with its names as code. */
export const quoted = (text) => text.split("`").map((part, place) => (place % 2 ? h("code", {}, part) : part));
