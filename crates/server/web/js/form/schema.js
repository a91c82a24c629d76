// Reads the parts of a JSON Schema that a form needs: the kind of field, and the constraints of its text.
//
// The server validates the value against the whole schema, and the form shows the server's errors beside the fields.

/** Resolves the local references of a schema. A broken or circular reference allows any value. */
export function resolved(schema, root, depth = 0) {
  if (schema === true || schema === undefined || depth > 32) return {};
  const to = schema.$ref;
  if (typeof to !== "string" || !to.startsWith("#")) return schema;
  let found = root;
  for (const step of to.slice(1).split("/").filter(Boolean)) {
    found = found?.[decodeURIComponent(step).replace(/~1/g, "/").replace(/~0/g, "~")];
  }
  const { $ref: _, ...beside } = schema;
  return { ...resolved(found, root, depth + 1), ...beside };
}

/** The kind of field: `choice`, `boolean`, `number`, `text`, `list`, `object`, or `json` for everything else. */
export function kind(schema) {
  if ("const" in schema || Array.isArray(schema.enum)) return "choice";
  const one = singleType(schema);
  if (schema.oneOf || schema.anyOf || schema.allOf || schema.if || schema.not) return titled(schema) ? "choice" : "json";
  switch (one) {
    case "string": return "text";
    case "integer":
    case "number": return "number";
    case "boolean": return "boolean";
    case "array": return schema.items && !Array.isArray(schema.items) ? "list" : "json";
    case "object": return Object.keys(schema.properties ?? {}).length ? "object" : "json";
    default: return "json";
  }
}

/** The type, if there is exactly one besides `null`, which only makes the value optional. */
export function singleType(schema) {
  const types = [schema.type].flat().filter((type) => type && type !== "null");
  return types.length === 1 ? types[0] : undefined;
}

/** Whether the schema accepts null. */
export const nullable = (schema) => [schema.type].flat().includes("null") || schema.enum?.includes(null) === true;

function titled(schema) {
  const branches = schema.oneOf ?? schema.anyOf;
  return Array.isArray(branches) && branches.every((branch) => "const" in branch);
}

/** The options of a choice: `{ value, label }`. */
export function choices(schema) {
  if ("const" in schema) return [{ value: schema.const, label: said(schema.const) }];
  if (schema.enum) return schema.enum.filter((value) => value !== null).map((value) => ({ value, label: said(value) }));
  return (schema.oneOf ?? schema.anyOf).map((branch) => ({ value: branch.const, label: branch.title ?? said(branch.const) }));
}

const said = (value) => (typeof value === "string" ? value : JSON.stringify(value));

/** Whether a text can have several lines. */
export function long(schema) {
  if (schema.format || schema.pattern?.startsWith("^")) return false;
  return schema.maxLength === undefined || schema.maxLength > 120;
}

/** The type of the input element for a format. */
export const inputType = (schema) => ({ date: "date", email: "email", uri: "url", time: "time" })[schema.format] ?? "text";
