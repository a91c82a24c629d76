//! How far an export has got: which subschemas are being written, which became definitions, and
//! how much may still be written.
//!
//! A reference that stands alone becomes a definition. One with company is folded into its place;
//! where that leads back to a subschema that is being written, that subschema becomes a definition
//! too, so that recursion ends.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::members::type_name;
use super::normal::{Normal, Shape, TYPES, normal};
use super::recursion::recursive_definitions;
use crate::contract::reference::References;
use crate::limits::{MAX_EXPORT_COPIES, MAX_EXPORT_DEPTH, MAX_EXPORT_SUBSCHEMAS};

/// Begins the key of a definition that stands nowhere in the document.
const LOOSE: &str = "#folded/";

/// What is lost beyond the limits of an export.
pub(super) const BEYOND: &str = "the schema is too large to be written out here";

/// The progress of one export.
pub(super) struct Unfolding<'r> {
    pub(super) references: References<'r>,
    recursive: BTreeSet<String>,
    /// Whether a definition may refer to itself.
    recursion: bool,
    left: usize,
    /// How many folded subschemas may still be written out again.
    copies_left: usize,
    /// The texts of the folded subschemas that are being written; empty for the others.
    active: Vec<String>,
    /// The texts of all folded subschemas so far, with the key of those that became definitions.
    folded: BTreeMap<String, Option<String>>,
    loose: Vec<(Value, String)>,
    /// Whether the next subschema is the body of a definition.
    beginning: bool,
}

/// What a subschema turned out to be.
pub(super) enum Entered {
    /// It is to be written here; [`Unfolding::leave`] follows.
    Here(Box<Normal>),
    /// A definition with this key stands for it.
    Definition(String),
    /// It leads back to itself, and definitions may not.
    Recursive(Box<Normal>),
    /// Nothing more may be written.
    Beyond,
}

impl<'r> Unfolding<'r> {
    pub(super) fn new(root: &'r Value, recursion: bool) -> Self {
        let references = References::new(root);
        let recursive = recursive_definitions(&references);
        Self {
            references,
            recursive,
            recursion,
            left: MAX_EXPORT_SUBSCHEMAS,
            copies_left: MAX_EXPORT_COPIES,
            active: Vec::new(),
            folded: BTreeMap::new(),
            loose: Vec::new(),
            beginning: false,
        }
    }

    /// Whether nothing more may be written.
    pub(super) fn is_exhausted(&self) -> bool {
        self.left == 0 || self.active.len() >= MAX_EXPORT_DEPTH
    }

    /// Whether a definition leads back to itself.
    pub(super) fn is_recursive(&self, key: &str) -> bool {
        self.recursive.contains(key)
    }

    /// Where a row of references that stand alone ends; `None` where it leads back to itself.
    pub(super) fn settle(&self, key: &str) -> Option<String> {
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

    /// A subschema in its shape, without entering it.
    pub(super) fn normal(&self, schema: &Value, at: &str) -> Normal {
        normal(&self.references, schema, at)
    }

    /// The shape of a definition.
    pub(super) fn shape_of(&self, pointer: &str) -> Shape {
        let schema = self.references.root().pointer(pointer).unwrap_or(&Value::Bool(true));
        self.normal(schema, pointer).shape
    }

    /// The types that values of a shape may have, as far as a few steps show.
    pub(super) fn types_of(&self, shape: &Shape) -> BTreeSet<&'static str> {
        let mut found = BTreeSet::new();
        self.collect_types(shape, 0, &mut found);
        found
    }

    fn collect_types(&self, shape: &Shape, depth: usize, into: &mut BTreeSet<&'static str>) {
        match shape {
            Shape::Nothing => {}
            Shape::Typed(types, _) => {
                let is_one = |name: &String, one: &str| {
                    name == one || (name == "integer" && one == "number")
                };
                into.extend(
                    TYPES.into_iter().filter(|one| types.iter().any(|two| is_one(two, one))),
                );
            }
            Shape::Members(members) => into.extend(members.iter().map(type_name)),
            Shape::Alternatives(branches, ..) if depth < 3 && branches.len() <= 64 => {
                for branch in branches {
                    self.collect_types(&self.normal(branch, "").shape, depth + 1, into);
                }
            }
            Shape::Reference(pointer) if depth < 3 => {
                self.collect_types(&self.shape_of(pointer), depth + 1, into);
            }
            _ => into.extend(TYPES),
        }
    }

    /// The schema of a definition, and where it stands. Its body is entered next.
    pub(super) fn begin_definition(&mut self, key: &str) -> (Value, String) {
        self.beginning = true;
        match key.strip_prefix(LOOSE).and_then(|index| index.parse::<usize>().ok()) {
            Some(index) => self.loose[index].clone(),
            None => {
                let schema = self.references.root().pointer(key);
                (schema.cloned().unwrap_or(Value::Bool(true)), key.to_owned())
            }
        }
    }

    /// Looks at a subschema that is to be written.
    pub(super) fn enter(&mut self, schema: &Value, at: &str) -> Entered {
        let beginning = std::mem::take(&mut self.beginning);
        if self.is_exhausted() {
            return Entered::Beyond;
        }
        self.left -= 1;
        let normal = Box::new(normal(&self.references, schema, at));
        if !normal.unfolded {
            self.active.push(String::new());
            return Entered::Here(normal);
        }
        let text = schema.to_string();
        if !beginning && self.recursion && self.folded.contains_key(&text) {
            return Entered::Definition(self.name(text, schema, at));
        }
        if !self.recursion && self.active.contains(&text) {
            return Entered::Recursive(normal);
        }
        if !beginning && self.folded.contains_key(&text) {
            let Some(left) = self.copies_left.checked_sub(1) else { return Entered::Beyond };
            self.copies_left = left;
        }
        self.folded.entry(text.clone()).or_default();
        self.active.push(text);
        Entered::Here(normal)
    }

    /// Ends a subschema that was entered.
    pub(super) fn leave(&mut self) {
        self.active.pop();
    }

    fn name(&mut self, text: String, schema: &Value, at: &str) -> String {
        let known = self.folded.entry(text).or_default();
        if let Some(key) = known {
            return key.clone();
        }
        let key = format!("{LOOSE}{}", self.loose.len());
        *known = Some(key.clone());
        self.loose.push((schema.clone(), at.to_owned()));
        key
    }
}
