//! Rules for prompts: opaque texts, by the names of their files.

use std::collections::BTreeMap;

use super::contracts::stem;
use super::faults::Faults;
use crate::json::Span;
use crate::protocol::Bundle;
use crate::spec::{Diagnostic, Source};

/// The files of `rules/` by name.
pub(super) fn rules(bundle: &Bundle, faults: &Faults) -> BTreeMap<String, String> {
    let mut rules: BTreeMap<String, (&str, &str)> = BTreeMap::new();
    for (path, text) in bundle.under("rules") {
        let name = stem(path);
        if name.starts_with('.') {
            continue;
        }
        if let Some((other, _)) = rules.insert(name.to_owned(), (path, text)) {
            let message = format!("a rule `{name}` is `{other}` already");
            let source = Source::new(path, text).into();
            let hint = "a rule's name is its file's without the extension; rename one".to_owned();
            let fault = Diagnostic::new("duplicate_id", message, &source, Span::default());
            faults.push(fault.hinting(Some(hint)));
        }
    }
    rules.into_iter().map(|(name, (_, text))| (name, text.to_owned())).collect()
}
