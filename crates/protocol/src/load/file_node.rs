//! One value of a file together with its location, navigated as a unit.

use std::sync::Arc;

use countersign_contract::json;
use countersign_contract::source::{Diagnostic, LineColumn, ParsedSourceFile};
use serde_json::Value;

use crate::FileOrigin;

/// A value in a file. Accessors return nothing for a wrong type, because the schema check has
/// already reported it.
#[derive(Debug, Clone)]
pub(super) struct FileNode<'t> {
    pub(super) tree: &'t Arc<ParsedSourceFile>,
    pub(super) pointer: String,
    pub(super) value: &'t Value,
}

impl<'t> FileNode<'t> {
    /// The root of the file.
    pub(super) fn root(tree: &'t Arc<ParsedSourceFile>) -> Self {
        Self { tree, pointer: String::new(), value: &tree.value }
    }

    /// The member with this key.
    pub(super) fn get(&self, key: &str) -> Option<Self> {
        let value = self.value.get(key)?;
        Some(Self { tree: self.tree, pointer: json::child_pointer(&self.pointer, key), value })
    }

    /// The items of a list; empty if the value is not a list.
    pub(super) fn items(&self) -> Vec<Self> {
        let items = self.value.as_array().into_iter().flatten().enumerate();
        let item = |(index, value): (usize, &'t Value)| {
            let pointer = json::child_pointer(&self.pointer, &index.to_string());
            Self { tree: self.tree, pointer, value }
        };
        items.map(item).collect()
    }

    /// The members of an object with their names; empty if the value is not an object.
    pub(super) fn entries(&self) -> Vec<(&'t str, Self)> {
        let members = self.value.as_object().into_iter().flatten();
        let entry = |(name, value): (&'t String, &'t Value)| {
            let pointer = json::child_pointer(&self.pointer, name);
            (name.as_str(), Self { tree: self.tree, pointer, value })
        };
        members.map(entry).collect()
    }

    /// The value as text.
    pub(super) fn text(&self) -> Option<&'t str> {
        self.value.as_str()
    }

    /// The text of a member.
    pub(super) fn text_at(&self, key: &str) -> Option<&'t str> {
        self.value.get(key).and_then(Value::as_str)
    }

    /// The text of a member, as an owned string.
    pub(super) fn string_at(&self, key: &str) -> Option<String> {
        self.text_at(key).map(str::to_owned)
    }

    /// The texts in a list; other items are skipped.
    pub(super) fn texts(&self) -> Vec<String> {
        self.items().iter().filter_map(|item| item.text().map(str::to_owned)).collect()
    }

    /// The texts of a member that is one text or a list of texts.
    pub(super) fn strings_at(&self, key: &str) -> Vec<String> {
        match self.get(key) {
            None => Vec::new(),
            Some(one) => one.text().map_or_else(|| one.texts(), |text| vec![text.to_owned()]),
        }
    }

    /// The location of this value, without a borrow of the file.
    pub(super) fn origin(&self) -> FileOrigin {
        FileOrigin { tree: Arc::clone(self.tree), pointer: self.pointer.clone() }
    }

    /// Creates a diagnostic for this value.
    pub(super) fn diagnose(&self, code: &str, message: impl Into<String>) -> Diagnostic {
        self.tree.diagnose(code, &self.pointer, message)
    }

    /// Creates a diagnostic worded like a schema violation: location, expectation, finding.
    pub(super) fn diagnose_bound(&self, code: &str, message: impl std::fmt::Display) -> Diagnostic {
        self.diagnose(code, format!("{}: {message}", self.pointer))
    }

    /// Creates a diagnostic for a key of this object rather than for its value.
    pub(super) fn diagnose_key(
        &self,
        code: &str,
        key: &str,
        message: impl Into<String>,
    ) -> Diagnostic {
        let pointer = json::child_pointer(&self.pointer, key);
        Diagnostic::new(
            code,
            message,
            &self.tree.source,
            super::unknown_keys::key_span(self.tree, &pointer),
        )
    }

    /// Formats the location as `file:line:column`, for messages that mention a second location.
    pub(super) fn format_location(&self) -> String {
        let source = &self.tree.source;
        let LineColumn { line, column } =
            source.line_column_at(self.tree.find_span(&self.pointer).start);
        format!("{}:{line}:{column}", source.name)
    }
}
