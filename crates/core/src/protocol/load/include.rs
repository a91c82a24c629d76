//! Includes: the workflows whose phases and transitions are merged into one.

use std::collections::BTreeMap;

use super::faults::Faults;
use super::file::File;
use super::known::{Known, unknown};
use super::member::Member;

/// A workflow as its file has it.
#[derive(Debug)]
pub(super) struct Raw<'f> {
    pub(super) id: &'f str,
    pub(super) file: &'f File,
}

impl<'f> Raw<'f> {
    /// The workflows it names, in order.
    fn includes(&self) -> Vec<Member<'f>> {
        let root = self.file.root();
        match root.get("include").filter(|include| self.file.is_sound(include)) {
            Some(one) if one.text().is_some() => vec![one],
            Some(many) => many.items(),
            None => Vec::new(),
        }
    }

    /// Its phases, in whichever spelling.
    pub(super) fn phases(&self) -> Vec<Member<'f>> {
        let root = self.file.root();
        root.get("phases").or_else(|| root.get("steps")).map(|it| it.items()).unwrap_or_default()
    }

    /// Its transitions.
    pub(super) fn transitions(&self) -> Vec<Member<'f>> {
        self.file.root().get("transitions").map(|it| it.items()).unwrap_or_default()
    }
}

/// A workflow and all it includes, itself first, each once.
#[derive(Debug)]
pub(super) struct Merged<'r, 'f> {
    pub(super) parts: Vec<&'r Raw<'f>>,
    /// Whether all of it could be read.
    pub(super) whole: bool,
    /// Whether some of them include each other.
    pub(super) ring: bool,
}

/// Follows the includes of a workflow.
pub(super) fn merged<'r, 'f>(
    start: &'r Raw<'f>,
    raws: &'r BTreeMap<&'f str, Raw<'f>>,
    workflows: &'r Known<()>,
    faults: &'r Faults,
) -> Merged<'r, 'f> {
    let mut following = Following { raws, workflows, faults, way: Vec::new() };
    let mut merged = Merged { parts: Vec::new(), whole: true, ring: false };
    following.follow(start, &mut merged);
    merged
}

struct Following<'r, 'f> {
    raws: &'r BTreeMap<&'f str, Raw<'f>>,
    workflows: &'r Known<()>,
    faults: &'r Faults,
    way: Vec<&'f str>,
}

impl<'r, 'f> Following<'r, 'f> {
    fn follow(&mut self, raw: &'r Raw<'f>, merged: &mut Merged<'r, 'f>) {
        merged.parts.push(raw);
        self.way.push(raw.id);
        for include in raw.includes() {
            let Some(name) = include.text() else { continue };
            if let Some(start) = self.way.iter().position(|id| *id == name) {
                merged.ring = true;
                self.tell_ring(&include, start);
                continue;
            }
            match self.raws.get(name) {
                Some(next) if merged.parts.iter().any(|part| part.id == next.id) => {}
                Some(next) => self.follow(next, merged),
                None => {
                    merged.whole = false;
                    if !self.workflows.broken.contains(name) && !self.workflows.unread {
                        let names = self.workflows.things.keys().map(String::as_str);
                        self.faults.push(unknown("workflow", &include, name, names));
                    }
                }
            }
        }
        self.way.pop();
    }

    /// A ring is told once, from its first member by name.
    fn tell_ring(&self, include: &Member<'_>, start: usize) {
        let ring = &self.way[start..];
        if ring.iter().min() != ring.first() {
            return;
        }
        let told: Vec<&str> = ring.iter().chain(ring.first()).copied().collect();
        let message = match ring {
            [alone] => format!("`{alone}` includes itself"),
            _ => format!("these include each other: `{}`", told.join("` → `")),
        };
        let hint = "put what they share into a workflow of its own".to_owned();
        self.faults.push(include.fault("include_cycle", message).hinting(Some(hint)));
    }
}
