//! Texts that may stand in several languages: `Hello`, or `{ en: Hello, ru: Привет }`.

use super::expression::template;
use super::faults::Faults;
use super::member::Member;
use crate::protocol::{ByLanguage, Template};

/// Reads a text in each of its languages; `None` where a version has a fault.
fn versions<'t, T>(
    member: &Member<'t>,
    read: impl Fn(&Member<'t>) -> Option<T>,
) -> Option<ByLanguage<T>> {
    if member.text().is_some() {
        return read(member).map(ByLanguage::plain);
    }
    let versions: Vec<Option<(String, T)>> = member
        .entries()
        .iter()
        .map(|(language, text)| Some(((*language).to_owned(), read(text)?)))
        .collect();
    ByLanguage::of(versions.into_iter().collect::<Option<_>>()?)
}

/// A text as it stands.
pub(super) fn text(member: &Member<'_>) -> Option<ByLanguage<String>> {
    versions(member, |member| member.text().map(str::to_owned))
}

/// A text with places to fill.
pub(super) fn templates(
    member: &Member<'_>,
    names: &[&str],
    faults: &Faults,
) -> Option<ByLanguage<Template>> {
    versions(member, |member| template(member, names, faults))
}
