// Names of fields as a person reads them.

/** The members of a JSON Pointer in words: `/claim/total_sum` as "Claim › Total sum". */
export const plainName = (pointer) => pointer.split("/").filter(Boolean).map((one) => capitalised(one.replaceAll("~1", "/").replaceAll("~0", "~").replaceAll("_", " "))).join(" › ");

const capitalised = (text) => text.charAt(0).toLocaleUpperCase() + text.slice(1);
