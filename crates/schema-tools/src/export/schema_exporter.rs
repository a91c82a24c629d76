//! Writes a schema in the language of one provider.
//!
//! Definitions stay definitions. Every keyword that the provider does not accept is dropped and
//! listed; what the provider's language makes narrower than the contract is listed as narrowed.

use std::collections::{BTreeMap, BTreeSet};

use countersign_contract::json;
use serde_json::{Map, Value, json};

use super::export_size::ExportSize;
use super::export_traversal::{EnteredSubschema, ExportTraversal, TOO_LARGE_REASON};
use super::exported_contract::{ExportedContract, LossEffect};
use super::loss_recorder::LossRecorder;
use super::normalized_schema::{NormalizedSchema, SchemaShape, with_siblings};
use super::nullable_fields::{NullabilityChecker, NullableFields};
use super::object_root::build_object_root;
use super::strict_mode::StrictModeProfile;
use crate::compat::{OneOfBranches, are_mutually_exclusive};

/// The name of the definition for any value, used if definitions may be recursive.
const ANY_DEFINITION: &str = "AnyJson";

/// Exports a schema for a provider.
pub(super) fn export_schema(root: &Value, vendor: &StrictModeProfile) -> ExportedContract {
    let mut writer = SchemaExporter::new(root, vendor);
    let (start, at) = build_object_root(&mut writer);
    let mut out = writer.write_schema(&start, &at);
    if out["type"] != "object" {
        writer.losses.record(
            &at,
            "type",
            "the provider requires an object at the root",
            LossEffect::OverLimit,
        );
    }
    let mut definitions = Map::new();
    while let Some((key, name)) = writer.pending_definitions.pop() {
        let (schema, at) = writer.traversal.begin_definition(&key);
        definitions.insert(name, writer.write_schema(&schema, &at));
    }
    if writer.uses_any_definition {
        definitions.insert(
            ANY_DEFINITION.to_owned(),
            build_any_schema(&json!({"$ref": format!("#/$defs/{ANY_DEFINITION}")}), false),
        );
    }
    if let (Some(keywords), false) = (out.as_object_mut(), definitions.is_empty()) {
        keywords.insert("$defs".to_owned(), Value::Object(definitions));
    }
    writer.check_limits(&out);
    let nullable_fields = if vendor.all_required {
        NullableFields::from_schema(&writer.traversal.references, &start)
    } else {
        NullableFields::default()
    };
    let losses = writer.losses.into_losses();
    ExportedContract {
        output: out,
        losses,
        nullable: nullable_fields.list_pointers(),
        nullable_fields,
    }
}

pub(super) struct SchemaExporter<'r> {
    pub(super) profile: &'r StrictModeProfile,
    pub(super) traversal: ExportTraversal<'r>,
    pub(super) null_checker: NullabilityChecker,
    pub(super) losses: LossRecorder,
    /// The names of definitions by their key.
    definition_names: BTreeMap<String, String>,
    used_names: BTreeSet<String>,
    pending_definitions: Vec<(String, String)>,
    uses_any_definition: bool,
}

impl<'r> SchemaExporter<'r> {
    fn new(root: &'r Value, profile: &'r StrictModeProfile) -> Self {
        Self {
            profile,
            traversal: ExportTraversal::new(root, profile.recursion),
            null_checker: NullabilityChecker::default(),
            losses: LossRecorder::default(),
            definition_names: BTreeMap::new(),
            used_names: BTreeSet::from([ANY_DEFINITION.to_owned()]),
            pending_definitions: Vec::new(),
            uses_any_definition: false,
        }
    }

    /// Writes the subschema at the pointer `at`.
    pub(super) fn write_schema(&mut self, schema: &Value, at: &str) -> Value {
        let normal = match self.traversal.enter_subschema(schema, at) {
            EnteredSubschema::Inline(normal) => *normal,
            EnteredSubschema::Definition(key) => return self.write_reference(&key, at),
            EnteredSubschema::Recursive(normal) => return self.write_recursive(&normal.shape, at),
            EnteredSubschema::LimitReached => {
                self.losses.record(at, "limit", TOO_LARGE_REASON, LossEffect::Widened);
                return self.write_anything(at);
            }
        };
        let out = self.write_normalized(schema, normal, at);
        self.traversal.leave_subschema();
        out
    }

    fn write_normalized(&mut self, schema: &Value, normal: NormalizedSchema, at: &str) -> Value {
        let NormalizedSchema { shape, dropped, description, .. } = normal;
        for (pointer, keyword) in dropped {
            let reason = match keyword.as_str() {
                "$ref" => "the reference cannot be resolved here",
                "limit" => TOO_LARGE_REASON,
                _ => "not supported by this provider",
            };
            self.losses.record(&pointer, &keyword, reason, LossEffect::Widened);
        }
        if schema.get("default").is_some() {
            self.losses.record(
                at,
                "default",
                "filled in by the runtime where the field is absent",
                LossEffect::Unstated,
            );
        }
        let mut out = match shape {
            SchemaShape::Anything => self.write_anything(at),
            SchemaShape::Nothing => self.write_nothing(at),
            SchemaShape::Reference(pointer) => return self.write_reference(&pointer, at),
            SchemaShape::EnumMembers(members) => self.write_enum_members(&members, at),
            SchemaShape::Alternatives(branches, keyword, beside) => {
                self.write_alternatives(&branches, keyword, &beside, at)
            }
            SchemaShape::Typed(types, keywords) => self.write_types(&types, &keywords, at),
        };
        if let (Some(keywords), Some(words)) = (out.as_object_mut(), description)
            && !keywords.contains_key("$ref")
        {
            keywords.insert("description".to_owned(), Value::from(words));
        }
        out
    }

    fn write_reference(&mut self, key: &str, at: &str) -> Value {
        // A reference that leads back to itself restricts nothing.
        let Some(key) = self.traversal.resolve_reference_chain(key) else {
            return self.write_anything(at);
        };
        let key = key.as_str();
        if !self.profile.recursion && self.traversal.is_recursive(key) {
            let shape = self.traversal.classify_definition(key);
            return self.write_recursive(&shape, at);
        }
        if !self.definition_names.contains_key(key) {
            let last = json::split_pointer(key).last().map(std::borrow::Cow::into_owned);
            let fits = |name: &String| !name.is_empty() && !self.used_names.contains(name);
            let loose = !key.is_empty() && !key.starts_with('/');
            let name = last.filter(|name| !loose && fits(name)).unwrap_or_else(|| {
                (self.definition_names.len()..=usize::MAX)
                    .map(|number| format!("Definition{number}"))
                    .find(fits)
                    .unwrap_or_default()
            });
            self.used_names.insert(name.clone());
            self.definition_names.insert(key.to_owned(), name.clone());
            self.pending_definitions.push((key.to_owned(), name));
        }
        let name = self.definition_names[key].replace('~', "~0").replace('/', "~1");
        json!({"$ref": format!("#/$defs/{name}")})
    }

    /// Writes a recursive definition for a provider that does not allow recursion: a value of its
    /// types, without its content.
    fn write_recursive(&mut self, shape: &SchemaShape, at: &str) -> Value {
        let types = self.traversal.list_possible_types(shape);
        let mut kinds = Vec::new();
        let plain: Vec<&str> =
            types.iter().copied().filter(|name| !matches!(*name, "object" | "array")).collect();
        if !plain.is_empty() {
            kinds.push(json!({"type": format_type_names(&plain)}));
        }
        let open = json!({"type": "object", "additionalProperties": true});
        let mut lose = |reason: &str, effect| self.losses.record(at, "$ref", reason, effect);
        if types.contains(&"array") {
            let reason = "a definition must not refer to itself here; nested lists cannot be sent";
            lose(reason, LossEffect::Narrowed);
            let item = if self.profile.closed_objects {
                build_scalar_schema()
            } else {
                json!({"anyOf": [build_scalar_schema(), open]})
            };
            kinds.push(json!({"type": "array", "items": item}));
        }
        if types.contains(&"object") && self.profile.closed_objects {
            let reason =
                "a definition must not refer to itself here; only an empty object can be sent";
            self.losses.record(at, "$ref", reason, LossEffect::Narrowed);
            kinds.push(json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false}));
        } else if types.contains(&"object") {
            let reason = "a definition must not refer to itself here; any object is accepted";
            self.losses.record(at, "$ref", reason, LossEffect::Widened);
            kinds.push(open);
        }
        if kinds.len() == 1 { kinds.remove(0) } else { json!({"anyOf": kinds}) }
    }

    /// Writes a schema that accepts no value; a provider's language has no form for that.
    pub(super) fn write_nothing(&mut self, at: &str) -> Value {
        self.losses.record(
            at,
            "not",
            "no value fits here; null is sent instead",
            LossEffect::Widened,
        );
        json!({"type": "null"})
    }

    /// Writes a schema for any value, as far as the provider's language can express it.
    pub(super) fn write_anything(&mut self, at: &str) -> Value {
        match (self.profile.closed_objects, self.profile.recursion) {
            (true, true) => {
                self.losses.record(
                    at,
                    "type",
                    "any value is allowed, but objects of any shape cannot be expressed",
                    LossEffect::Narrowed,
                );
                self.uses_any_definition = true;
                json!({"$ref": format!("#/$defs/{ANY_DEFINITION}")})
            }
            (true, false) => {
                self.losses.record(at, "type", "any value is allowed, but objects of any shape and nested lists cannot be expressed", LossEffect::Narrowed);
                build_any_schema(&build_scalar_schema(), false)
            }
            (false, _) => {
                self.losses.record(
                    at,
                    "type",
                    "any value is allowed, but nested lists cannot be expressed",
                    LossEffect::Narrowed,
                );
                let item = json!({"anyOf": [build_scalar_schema(), {"type": "object", "additionalProperties": true}]});
                build_any_schema(&item, true)
            }
        }
    }

    fn write_alternatives(
        &mut self,
        branches: &[Value],
        keyword: &str,
        beside: &Map<String, Value>,
        at: &str,
    ) -> Value {
        let checked = OneOfBranches {
            references: &self.traversal.references,
            alternatives: branches,
            beside,
        };
        if keyword == "oneOf" && !are_mutually_exclusive(&checked) {
            // Any other form would accept even more.
            self.losses.record(at, "oneOf", "exactly one may fit; sent as anyOf, and the branches are not proven to exclude each other", LossEffect::Widened);
        }
        let mut out: Vec<Value> = Vec::new();
        let mut seen = BTreeSet::new();
        for (index, branch) in branches.iter().enumerate() {
            let at = format!("{at}/{keyword}/{index}");
            if self.traversal.is_exhausted() {
                self.losses.record(&at, "limit", TOO_LARGE_REASON, LossEffect::Widened);
                out.push(self.write_anything(&at));
                break;
            }
            let branch = with_siblings(beside, branch);
            if matches!(self.traversal.normalize(&branch, &at).shape, SchemaShape::Nothing) {
                continue;
            }
            let branch = self.write_schema(&branch, &at);
            if seen.insert(branch.to_string()) {
                out.push(branch);
            }
        }
        match out.len() {
            0 => self.write_nothing(at),
            1 => out.remove(0),
            _ => json!({"anyOf": out}),
        }
    }

    fn write_types(&mut self, types: &[String], keywords: &Map<String, Value>, at: &str) -> Value {
        let is_plain = |name: &String| !matches!(name.as_str(), "object" | "array");
        let mut branches = Vec::new();
        let plain: Vec<&str> =
            types.iter().filter(|name| is_plain(name)).map(String::as_str).collect();
        if !plain.is_empty() {
            let mut out = Map::new();
            out.insert("type".to_owned(), format_type_names(&plain));
            let speaks = |names: &[&str]| plain.iter().any(|name| names.contains(name));
            for (keyword, said) in keywords {
                let belongs = match keyword.as_str() {
                    "minLength" | "maxLength" | "pattern" | "format" | "contentEncoding"
                    | "contentMediaType" => speaks(&["string"]),
                    "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum"
                    | "multipleOf" => speaks(&["number", "integer"]),
                    _ => false,
                };
                if belongs {
                    self.write_keyword(keyword, said, at, &mut out);
                }
            }
            branches.push(Value::Object(out));
        }
        for name in types.iter().filter(|name| !is_plain(name)) {
            branches.push(if name == "object" {
                self.write_object(keywords, at)
            } else {
                self.write_array(keywords, at)
            });
        }
        if branches.len() == 1 { branches.remove(0) } else { json!({"anyOf": branches}) }
    }

    /// Writes a keyword unchanged if the provider accepts it, and records a loss otherwise.
    pub(super) fn write_keyword(
        &mut self,
        keyword: &str,
        said: &Value,
        at: &str,
        out: &mut Map<String, Value>,
    ) {
        if self.profile.accepts_keyword(keyword, said) {
            out.insert(keyword.to_owned(), said.clone());
        } else {
            self.losses.record(at, keyword, "not supported by this provider", LossEffect::Widened);
        }
    }

    fn check_limits(&mut self, out: &Value) {
        let size = ExportSize::from_schema(out);
        let limits = &self.profile.limits;
        let over = [
            (size.properties, limits.properties, "fields in total"),
            (size.depth, limits.depth, "levels of objects and lists"),
            (size.enum_values, limits.enum_values, "listed values"),
        ];
        for (found, limit, what) in over {
            if let Some(limit) = limit.filter(|limit| found > *limit) {
                self.losses.record(
                    "",
                    "limit",
                    &format!("{found} {what}; the strictest source allows {limit}"),
                    LossEffect::OverLimit,
                );
            }
        }
    }
}

/// Returns a single name as a string, and several as an array.
pub(super) fn format_type_names(names: &[&str]) -> Value {
    if names.len() == 1 { json!(names[0]) } else { json!(names) }
}

fn build_scalar_schema() -> Value {
    json!({"type": ["string", "number", "boolean", "null"]})
}

fn build_any_schema(item: &Value, open_objects: bool) -> Value {
    let mut kinds = vec![build_scalar_schema(), json!({"type": "array", "items": item})];
    if open_objects {
        kinds.push(json!({"type": "object", "additionalProperties": true}));
    }
    json!({"anyOf": kinds})
}
