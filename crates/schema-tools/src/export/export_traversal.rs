//! Tracks the progress of an export: which subschemas are being written, which became definitions,
//! and how much may still be written.
//!
//! A reference without other keywords becomes a definition. A reference with other keywords beside
//! it is inlined. If inlining leads back to a subschema that is being written, that subschema
//! becomes a definition as well, so that recursion ends.

use std::collections::{BTreeMap, BTreeSet};

use countersign_contract::contract::ReferenceResolver;
use countersign_contract::limits::{MAX_EXPORT_COPIES, MAX_EXPORT_DEPTH, MAX_EXPORT_SUBSCHEMAS};
use serde_json::Value;

use super::export_enum::type_name;
use super::normalized_schema::{NormalizedSchema, SchemaShape, TYPES, normalize_schema};
use super::reference_graph::find_recursive_definitions;

/// The prefix of the key of a definition that is not part of the document.
const DETACHED_KEY_PREFIX: &str = "#folded/";

/// The reason of losses beyond the limits of an export.
pub(super) const TOO_LARGE_REASON: &str = "the schema is too large to be exported here";

/// The progress of one export.
pub(super) struct ExportTraversal<'r> {
    pub(super) references: ReferenceResolver<'r>,
    recursive_definitions: BTreeSet<String>,
    /// Whether a definition may be recursive.
    allows_recursion: bool,
    subschemas_left: usize,
    /// The number of inlined subschemas that may still be written more than once.
    copies_left: usize,
    /// The texts of the inlined subschemas that are being written; empty texts for other
    /// subschemas.
    active: Vec<String>,
    /// The texts of all inlined subschemas so far, with the key of those that became definitions.
    folded: BTreeMap<String, Option<String>>,
    detached_definitions: Vec<(Value, String)>,
    /// Whether the next subschema is the body of a definition.
    enters_definition: bool,
}

/// How a subschema is written.
pub(super) enum EnteredSubschema {
    /// Write it here, then call [`ExportTraversal::leave_subschema`].
    Inline(Box<NormalizedSchema>),
    /// Refer to the definition with this key.
    Definition(String),
    /// It is recursive, and the target does not allow recursion.
    Recursive(Box<NormalizedSchema>),
    /// The limits of the export do not allow writing it.
    LimitReached,
}

impl<'r> ExportTraversal<'r> {
    pub(super) fn new(root: &'r Value, allows_recursion: bool) -> Self {
        let references = ReferenceResolver::new(root);
        let recursive_definitions = find_recursive_definitions(&references);
        Self {
            references,
            recursive_definitions,
            allows_recursion,
            subschemas_left: MAX_EXPORT_SUBSCHEMAS,
            copies_left: MAX_EXPORT_COPIES,
            active: Vec::new(),
            folded: BTreeMap::new(),
            detached_definitions: Vec::new(),
            enters_definition: false,
        }
    }

    /// Returns whether the limits do not allow writing more subschemas.
    pub(super) fn is_exhausted(&self) -> bool {
        self.subschemas_left == 0 || self.active.len() >= MAX_EXPORT_DEPTH
    }

    /// Returns whether a definition is recursive.
    pub(super) fn is_recursive(&self, key: &str) -> bool {
        self.recursive_definitions.contains(key)
    }

    /// Returns the end of a chain of references without other keywords; `None` if the chain is a
    /// cycle.
    pub(super) fn resolve_reference_chain(&self, key: &str) -> Option<String> {
        let mut passed = BTreeSet::from([key.to_owned()]);
        let mut settled = key.to_owned();
        while let Some(schema) = self.references.root().pointer(&settled)
            && schema.as_object().is_some_and(|keywords| keywords.len() == 1)
            && let Some((next, _)) = self.references.resolve_in(schema)
        {
            if !passed.insert(next.clone()) {
                return None;
            }
            settled = next;
        }
        Some(settled)
    }

    /// Returns the normalized form of a subschema without entering it.
    pub(super) fn normalize(&self, schema: &Value, at: &str) -> NormalizedSchema {
        normalize_schema(&self.references, schema, at)
    }

    /// Returns the shape of a definition.
    pub(super) fn classify_definition(&self, pointer: &str) -> SchemaShape {
        let schema = self.references.root().pointer(pointer).unwrap_or(&Value::Bool(true));
        self.normalize(schema, pointer).shape
    }

    /// Returns the types that values of a shape may have; a shape nested too deep counts as all
    /// types.
    pub(super) fn list_possible_types(&self, shape: &SchemaShape) -> BTreeSet<&'static str> {
        let mut found = BTreeSet::new();
        self.collect_types(shape, 0, &mut found);
        found
    }

    fn collect_types(&self, shape: &SchemaShape, depth: usize, into: &mut BTreeSet<&'static str>) {
        match shape {
            SchemaShape::Nothing => {}
            SchemaShape::Typed(types, _) => {
                let is_one = |name: &String, one: &str| {
                    name == one || (name == "integer" && one == "number")
                };
                into.extend(
                    TYPES.into_iter().filter(|one| types.iter().any(|two| is_one(two, one))),
                );
            }
            SchemaShape::EnumMembers(members) => into.extend(members.iter().map(type_name)),
            SchemaShape::Alternatives(branches, ..) if depth < 3 && branches.len() <= 64 => {
                for branch in branches {
                    self.collect_types(&self.normalize(branch, "").shape, depth + 1, into);
                }
            }
            SchemaShape::Reference(pointer) if depth < 3 => {
                self.collect_types(&self.classify_definition(pointer), depth + 1, into);
            }
            _ => into.extend(TYPES),
        }
    }

    /// Returns the schema of a definition and its pointer. The next call must enter its body.
    pub(super) fn begin_definition(&mut self, key: &str) -> (Value, String) {
        self.enters_definition = true;
        match key.strip_prefix(DETACHED_KEY_PREFIX).and_then(|index| index.parse::<usize>().ok()) {
            Some(index) => self.detached_definitions[index].clone(),
            None => {
                let schema = self.references.root().pointer(key);
                (schema.cloned().unwrap_or(Value::Bool(true)), key.to_owned())
            }
        }
    }

    /// Decides how to write a subschema.
    pub(super) fn enter_subschema(&mut self, schema: &Value, at: &str) -> EnteredSubschema {
        let beginning = std::mem::take(&mut self.enters_definition);
        if self.is_exhausted() {
            return EnteredSubschema::LimitReached;
        }
        self.subschemas_left -= 1;
        let normal = Box::new(normalize_schema(&self.references, schema, at));
        if !normal.has_inlined_reference {
            self.active.push(String::new());
            return EnteredSubschema::Inline(normal);
        }
        let text = schema.to_string();
        if !beginning && self.allows_recursion && self.folded.contains_key(&text) {
            return EnteredSubschema::Definition(self.name_definition(text, schema, at));
        }
        if !self.allows_recursion && self.active.contains(&text) {
            return EnteredSubschema::Recursive(normal);
        }
        if !beginning && self.folded.contains_key(&text) {
            let Some(left) = self.copies_left.checked_sub(1) else {
                return EnteredSubschema::LimitReached;
            };
            self.copies_left = left;
        }
        self.folded.entry(text.clone()).or_default();
        self.active.push(text);
        EnteredSubschema::Inline(normal)
    }

    /// Ends a subschema that was entered inline.
    pub(super) fn leave_subschema(&mut self) {
        self.active.pop();
    }

    fn name_definition(&mut self, text: String, schema: &Value, at: &str) -> String {
        let known = self.folded.entry(text).or_default();
        if let Some(key) = known {
            return key.clone();
        }
        let key = format!("{DETACHED_KEY_PREFIX}{}", self.detached_definitions.len());
        *known = Some(key.clone());
        self.detached_definitions.push((schema.clone(), at.to_owned()));
        key
    }
}
