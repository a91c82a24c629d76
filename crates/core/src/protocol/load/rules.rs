//! Rules for prompts: opaque texts, by the names of their files. `style.ru.md` is `style.md` in Russian.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::contracts::stem;
use super::faults::Faults;
use crate::json::Span;
use crate::protocol::{Bundle, ByLanguage, is_language};
use crate::spec::{Diagnostic, Source};

/// The files of `rules/` by name.
pub(super) fn rules(bundle: &Bundle, faults: &Faults) -> BTreeMap<String, Arc<ByLanguage<String>>> {
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
    let mut by_language: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for (name, (_, text)) in &rules {
        let version = version_of(name).filter(|(plain, _)| rules.contains_key(*plain));
        let (name, language) = version.unwrap_or((name.as_str(), ""));
        let versions = by_language.entry(name.to_owned()).or_default();
        versions.push((language.to_owned(), (*text).to_owned()));
    }
    let mut all = BTreeMap::new();
    for (name, mut versions) in by_language {
        versions.sort();
        all.extend(ByLanguage::of(versions).map(|versions| (name, Arc::new(versions))));
    }
    all
}

/// `style` and `ru` of `style.ru`.
pub(super) fn version_of(name: &str) -> Option<(&str, &str)> {
    name.rsplit_once('.').filter(|(plain, language)| !plain.is_empty() && is_language(language))
}
