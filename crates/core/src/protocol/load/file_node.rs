//! One member of a file: its value and its place, walked together.

use std::sync::Arc;

use serde_json::Value;

use crate::json;
use crate::protocol::FileOrigin;
use crate::source::{Diagnostic, LineColumn, ParsedSourceFile};

/// A member of a file. Accessors are forgiving: the schema has spoken before.
#[derive(Debug, Clone)]
pub(super) struct FileNode<'t> {
    pub(super) tree: &'t Arc<ParsedSourceFile>,
    pub(super) pointer: String,
    pub(super) value: &'t Value,
}

impl<'t> FileNode<'t> {
    /// The whole file.
    pub(super) fn root(tree: &'t Arc<ParsedSourceFile>) -> Self {
        Self { tree, pointer: String::new(), value: &tree.value }
    }

    /// A member of this one.
    pub(super) fn get(&self, key: &str) -> Option<Self> {
        let value = self.value.get(key)?;
        Some(Self { tree: self.tree, pointer: json::child_pointer(&self.pointer, key), value })
    }

    /// The items of a list; none where it is no list.
    pub(super) fn items(&self) -> Vec<Self> {
        let items = self.value.as_array().into_iter().flatten().enumerate();
        let item = |(index, value): (usize, &'t Value)| {
            let pointer = json::child_pointer(&self.pointer, &index.to_string());
            Self { tree: self.tree, pointer, value }
        };
        items.map(item).collect()
    }

    /// The members of a table with their names; none where it is no table.
    pub(super) fn entries(&self) -> Vec<(&'t str, Self)> {
        let members = self.value.as_object().into_iter().flatten();
        let entry = |(name, value): (&'t String, &'t Value)| {
            let pointer = json::child_pointer(&self.pointer, name);
            (name.as_str(), Self { tree: self.tree, pointer, value })
        };
        members.map(entry).collect()
    }

    /// The text that stands here.
    pub(super) fn text(&self) -> Option<&'t str> {
        self.value.as_str()
    }

    /// The text of a member.
    pub(super) fn text_at(&self, key: &str) -> Option<&'t str> {
        self.value.get(key).and_then(Value::as_str)
    }

    /// The text of a member, to keep.
    pub(super) fn string_at(&self, key: &str) -> Option<String> {
        self.text_at(key).map(str::to_owned)
    }

    /// The texts of a list.
    pub(super) fn texts(&self) -> Vec<String> {
        self.items().iter().filter_map(|item| item.text().map(str::to_owned)).collect()
    }

    /// The texts of a member that is one text or a list of them.
    pub(super) fn strings_at(&self, key: &str) -> Vec<String> {
        match self.get(key) {
            None => Vec::new(),
            Some(one) => one.text().map_or_else(|| one.texts(), |text| vec![text.to_owned()]),
        }
    }

    /// This place, to keep.
    pub(super) fn origin(&self) -> FileOrigin {
        FileOrigin { tree: Arc::clone(self.tree), pointer: self.pointer.clone() }
    }

    /// A fault here.
    pub(super) fn diagnose(&self, code: &str, message: impl Into<String>) -> Diagnostic {
        self.tree.diagnose(code, &self.pointer, message)
    }

    /// A fault in the words of a schema: the place, what was expected, what was found.
    pub(super) fn diagnose_bound(&self, code: &str, message: impl std::fmt::Display) -> Diagnostic {
        self.diagnose(code, format!("{}: {message}", self.pointer))
    }

    /// A fault at a key of this table, not at its value.
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

    /// `file:line:column`, for sentences that name a second place.
    pub(super) fn format_location(&self) -> String {
        let source = &self.tree.source;
        let LineColumn { line, column } =
            source.line_column_at(self.tree.find_span(&self.pointer).start);
        format!("{}:{line}:{column}", source.name)
    }
}
