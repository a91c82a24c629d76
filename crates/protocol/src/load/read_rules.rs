//! Reads prompt rules: opaque texts named after their files. `style.ru.md` is the Russian version
//! of `style.md`.

use std::collections::BTreeMap;
use std::sync::Arc;

use countersign_contract::json::TextSpan;
use countersign_contract::source::{Diagnostic, SourceFile};

use super::load_diagnostics::LoadDiagnostics;
use super::protocol_contracts::file_stem;
use crate::{Localized, ProtocolBundle, is_language_tag};

/// Reads the files of `rules/` by name.
pub(super) fn read_rules(
    bundle: &ProtocolBundle,
    faults: &LoadDiagnostics,
) -> BTreeMap<String, Arc<Localized<String>>> {
    let mut rules: BTreeMap<String, (&str, &str)> = BTreeMap::new();
    for (path, text) in bundle.files_in_folder("rules") {
        let name = file_stem(path);
        if name.starts_with('.') {
            continue;
        }
        if let Some((other, _)) = rules.insert(name.to_owned(), (path, text)) {
            let message = format!("rule `{name}` is already defined in `{other}`");
            let source = SourceFile::new(path, text).into();
            let hint =
                "the name of a rule is its file name without the extension; rename one".to_owned();
            let fault = Diagnostic::new("duplicate_id", message, &source, TextSpan::default());
            faults.push(fault.with_hint(Some(hint)));
        }
    }
    let mut by_language: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for (name, (_, text)) in &rules {
        let version = split_language_suffix(name).filter(|(plain, _)| rules.contains_key(*plain));
        let (name, language) = version.unwrap_or((name.as_str(), ""));
        let versions = by_language.entry(name.to_owned()).or_default();
        versions.push((language.to_owned(), (*text).to_owned()));
    }
    let mut all = BTreeMap::new();
    for (name, mut versions) in by_language {
        versions.sort();
        all.extend(Localized::from_versions(versions).map(|versions| (name, Arc::new(versions))));
    }
    all
}

/// Splits `style.ru` into `style` and `ru`.
pub(super) fn split_language_suffix(name: &str) -> Option<(&str, &str)> {
    name.rsplit_once('.').filter(|(plain, language)| !plain.is_empty() && is_language_tag(language))
}
