//! What a name in a file may refer to, and the fault when it refers to nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::faults::Faults;
use super::member::Member;
use crate::limits::MAX_LISTED_NAMES;
use crate::nearest::nearest;
use crate::spec::Diagnostic;

/// Things of one kind by name.
#[derive(Debug)]
pub(super) struct Known<T> {
    /// What they are called in messages; `unknown_KIND` is the code.
    pub(super) kind: &'static str,
    pub(super) things: BTreeMap<String, T>,
    /// Names of things that have faults of their own: they exist, and are not complained about twice.
    pub(super) broken: BTreeSet<String>,
    /// Set where the file that declares them could not be read: then nothing is unknown.
    pub(super) unread: bool,
}

impl<T> Known<T> {
    /// Nothing yet.
    pub(super) fn new(kind: &'static str) -> Self {
        Self { kind, things: BTreeMap::new(), broken: BTreeSet::new(), unread: false }
    }

    /// Adds one that could be read, or the name of one that could not.
    pub(super) fn add(&mut self, name: &str, thing: Option<T>) {
        match thing {
            Some(thing) => {
                self.things.insert(name.to_owned(), thing);
            }
            None => {
                self.broken.insert(name.to_owned());
            }
        }
    }

    /// Whether everything declared could be read.
    pub(super) fn is_whole(&self) -> bool {
        self.broken.is_empty() && !self.unread
    }

    /// What a name refers to; a fault where that is nothing.
    pub(super) fn find(&self, name: &Member<'_>, faults: &Faults) -> Option<&T> {
        let text = name.text()?;
        let found = self.things.get(text);
        if found.is_none() && !self.unread && !self.broken.contains(text) {
            let names = self.things.keys().chain(&self.broken).map(String::as_str);
            tell_unknown(self.kind, name, text, names, faults);
        }
        found
    }
}

/// Tells a name that refers to nothing. The name that was probably meant is looked for only where the
/// fault is kept.
pub(super) fn tell_unknown<'n>(
    kind: &str,
    place: &Member<'_>,
    name: &str,
    names: impl Iterator<Item = &'n str>,
    faults: &Faults,
) {
    let code = format!("unknown_{}", kind.replace(' ', "_"));
    faults.push_at(&code, place, || unknown(kind, place, name, names));
}

/// The fault of a name that refers to nothing.
pub(super) fn unknown<'n>(
    kind: &str,
    place: &Member<'_>,
    name: &str,
    names: impl Iterator<Item = &'n str>,
) -> Diagnostic {
    let names: Vec<&str> = names.collect();
    let hint = match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => known(&names),
    };
    let code = format!("unknown_{}", kind.replace(' ', "_"));
    place.fault(&code, format!("no {kind} `{name}`")).hinting(Some(hint))
}

/// The names there are, in backticks, cut where the list is long.
pub(super) fn known(names: &[&str]) -> String {
    const SHOWN: usize = MAX_LISTED_NAMES;
    if names.is_empty() {
        return "none is declared".to_owned();
    }
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > SHOWN { ", …" } else { "" };
    format!("known here: {}{more}", shown.join(", "))
}
