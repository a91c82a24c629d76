//! Misspelt keywords in schemas: `minLenght` says nothing, and JSON Schema does not mind.
//!
//! Only what is nearly a keyword is told. Anything else is an annotation of the author's.

use serde_json::Value;

use super::faults::Faults;
use super::member::Member;
use crate::nearest::nearest;

/// Keywords whose value is a schema, or a list of schemas.
const SCHEMAS: [&str; 16] = [
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "oneOf",
    "prefixItems",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Keywords whose value is a table of schemas by names of the author's.
const TABLES: [&str; 6] =
    ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"];

/// All the others, of 2020-12 and draft-07.
const OTHERS: [&str; 37] = [
    "$anchor",
    "$comment",
    "$dynamicAnchor",
    "$dynamicRef",
    "$id",
    "$ref",
    "$schema",
    "$vocabulary",
    "const",
    "contentEncoding",
    "contentMediaType",
    "default",
    "dependentRequired",
    "deprecated",
    "description",
    "enum",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "pattern",
    "readOnly",
    "required",
    "title",
    "type",
    "uniqueItems",
];

/// Looks through a schema.
pub(super) fn look(schema: &Member<'_>, faults: &Faults) {
    for (keyword, member) in schema.entries() {
        if TABLES.contains(&keyword) {
            member.entries().iter().for_each(|(_, inside)| look(inside, faults));
        } else if SCHEMAS.contains(&keyword) {
            match member.value {
                Value::Array(_) => member.items().iter().for_each(|inside| look(inside, faults)),
                _ => look(&member, faults),
            }
        } else if !OTHERS.contains(&keyword) && !keyword.starts_with("x-") {
            let all = SCHEMAS.iter().chain(&TABLES).chain(&OTHERS).copied();
            let Some(near) = nearest(keyword, all) else { continue };
            let message = format!("`{keyword}` is no keyword of JSON Schema, and checks nothing");
            let fault = schema.fault_at_key("unknown_keyword", keyword, message);
            faults.push(fault.warning().hinting(Some(format!("did you mean `{near}`?"))));
        }
    }
}
