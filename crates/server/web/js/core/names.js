// Names of fields and runs as a person reads them.

import { t } from "./words.js";

/** The members of a JSON Pointer in words: `/claim/total_sum` as "Claim › Total sum". */
export const plainName = (pointer) => pointer.split("/").filter(Boolean).map((one) => capitalised(one.replaceAll("~1", "/").replaceAll("~0", "~").replaceAll("_", " "))).join(" › ");

const capitalised = (text) => text.charAt(0).toLocaleUpperCase() + text.slice(1);

/** What a run is called that has no title: its id, unless that is a key which a program made up. */
export const runName = ({ run, title }) => title || (run.startsWith("key-") ? t("run.untitled") : run);
