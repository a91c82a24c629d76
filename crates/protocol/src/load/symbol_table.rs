//! Symbol tables: what a name in a file may refer to, and the diagnostic for a name that refers to
//! nothing.

use std::collections::{BTreeMap, BTreeSet};

use countersign_contract::find_similar_name;
use countersign_contract::limits::MAX_LISTED_NAMES;
use countersign_contract::source::Diagnostic;

use super::file_node::FileNode;
use super::load_diagnostics::LoadDiagnostics;

/// The declared entries of one kind, by name.
#[derive(Debug)]
pub(super) struct SymbolTable<T> {
    /// The kind as messages name it; `unknown_KIND` is the diagnostic code.
    pub(super) kind: &'static str,
    pub(super) entries: BTreeMap<String, T>,
    /// Names of entries that have errors of their own. They exist, so references to them are not
    /// reported.
    pub(super) broken: BTreeSet<String>,
    /// Whether the declaring file could not be read; if so, no name is reported as unknown.
    pub(super) unread: bool,
}

impl<T> SymbolTable<T> {
    /// Creates an empty table.
    pub(super) fn new(kind: &'static str) -> Self {
        Self { kind, entries: BTreeMap::new(), broken: BTreeSet::new(), unread: false }
    }

    /// Adds an entry, or only its name if it could not be read.
    pub(super) fn add(&mut self, name: &str, thing: Option<T>) {
        match thing {
            Some(thing) => {
                self.entries.insert(name.to_owned(), thing);
            }
            None => {
                self.broken.insert(name.to_owned());
            }
        }
    }

    /// Whether everything declared could be read.
    pub(super) fn is_complete(&self) -> bool {
        self.broken.is_empty() && !self.unread
    }

    /// Resolves a name, and reports it if it refers to nothing.
    pub(super) fn resolve_name(&self, name: &FileNode<'_>, faults: &LoadDiagnostics) -> Option<&T> {
        let text = name.text()?;
        let found = self.entries.get(text);
        if found.is_none() && !self.unread && !self.broken.contains(text) {
            let names = self.entries.keys().chain(&self.broken).map(String::as_str);
            report_unknown_name(self.kind, name, text, names, faults);
        }
        found
    }
}

/// Reports a name that refers to nothing. A similar name is looked up only if the diagnostic will
/// be listed.
pub(super) fn report_unknown_name<'n>(
    kind: &str,
    node: &FileNode<'_>,
    name: &str,
    names: impl Iterator<Item = &'n str>,
    faults: &LoadDiagnostics,
) {
    let code = format!("unknown_{}", kind.to_lowercase().replace(' ', "_"));
    faults.push_with(&code, node, || unknown_name_diagnostic(kind, node, name, names));
}

/// Creates the diagnostic for a name that refers to nothing.
pub(super) fn unknown_name_diagnostic<'n>(
    kind: &str,
    node: &FileNode<'_>,
    name: &str,
    names: impl Iterator<Item = &'n str>,
) -> Diagnostic {
    let names: Vec<&str> = names.collect();
    let hint = match find_similar_name(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format_known_names(&names),
    };
    let code = format!("unknown_{}", kind.to_lowercase().replace(' ', "_"));
    node.diagnose(&code, format!("no {kind} `{name}`")).with_hint(Some(hint))
}

/// Formats the known names in backticks; a long list is truncated.
pub(super) fn format_known_names(names: &[&str]) -> String {
    const SHOWN: usize = MAX_LISTED_NAMES;
    if names.is_empty() {
        return "none is declared".to_owned();
    }
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > SHOWN { ", …" } else { "" };
    format!("known here: {}{more}", shown.join(", "))
}
