//! Reads texts that may have several languages: `Hello`, or `{ en: Hello, ru: Привет }`.

use super::file_node::FileNode;
use super::load_diagnostics::LoadDiagnostics;
use super::read_expression::read_template;
use crate::{Localized, TextTemplate};

/// Reads a text in each of its languages; `None` if one version is invalid.
fn read_versions<'t, T>(
    member: &FileNode<'t>,
    read: impl Fn(&FileNode<'t>) -> Option<T>,
) -> Option<Localized<T>> {
    if member.text().is_some() {
        return read(member).map(Localized::from_plain);
    }
    let versions: Vec<Option<(String, T)>> = member
        .entries()
        .iter()
        .map(|(language, text)| Some(((*language).to_owned(), read(text)?)))
        .collect();
    Localized::from_versions(versions.into_iter().collect::<Option<_>>()?)
}

/// Reads a plain text in each of its languages.
pub(super) fn read_localized_text(member: &FileNode<'_>) -> Option<Localized<String>> {
    read_versions(member, |member| member.text().map(str::to_owned))
}

/// Reads a text template in each of its languages.
pub(super) fn read_localized_template(
    member: &FileNode<'_>,
    names: &[&str],
    faults: &LoadDiagnostics,
) -> Option<Localized<TextTemplate>> {
    read_versions(member, |member| read_template(member, names, faults))
}
