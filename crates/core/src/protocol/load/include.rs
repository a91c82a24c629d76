//! Includes: the workflows whose phases and transitions are merged into one.

use std::collections::{BTreeMap, BTreeSet};

use super::faults::Faults;
use super::file::File;
use super::known::{Known, tell_unknown};
use super::member::Member;
use crate::limits::{MAX_LISTED_NAMES, MAX_MERGED_BYTES, MIN_MERGED_BYTES};

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

/// Merges the includes of all workflows of a folder, up to a bound.
pub(super) struct Merging<'r, 'f> {
    raws: &'r BTreeMap<&'f str, Raw<'f>>,
    faults: &'r Faults,
    /// How many bytes may still be merged in.
    bytes_left: usize,
}

impl<'r, 'f> Merging<'r, 'f> {
    /// Of these workflows, with nothing merged yet.
    pub(super) fn new(raws: &'r BTreeMap<&'f str, Raw<'f>>, faults: &'r Faults) -> Self {
        Self { raws, faults, bytes_left: MAX_MERGED_BYTES }
    }

    /// Follows the includes of a workflow.
    pub(super) fn merge(&mut self, start: &'r Raw<'f>, workflows: &'r Known<()>) -> Merged<'r, 'f> {
        let mut merged = Merged { parts: Vec::new(), whole: true, ring: false };
        // Every workflow on the way from the start, with the includes of it that are still to follow.
        let mut way: Vec<(&'r Raw<'f>, std::vec::IntoIter<Member<'f>>)> = Vec::new();
        let mut on_way: BTreeMap<&'f str, usize> = BTreeMap::new();
        let mut seen: BTreeSet<&'f str> = BTreeSet::new();
        let mut next = Some(start);
        loop {
            if let Some(raw) = next.take() {
                if !self.charge(raw, start) {
                    merged.whole = false;
                    return merged;
                }
                merged.parts.push(raw);
                seen.insert(raw.id);
                on_way.insert(raw.id, way.len());
                way.push((raw, raw.includes().into_iter()));
            }
            let Some((raw, includes)) = way.last_mut() else { return merged };
            let Some(include) = includes.next() else {
                on_way.remove(raw.id);
                way.pop();
                continue;
            };
            let Some(name) = include.text() else { continue };
            if let Some(first) = on_way.get(name) {
                merged.ring = true;
                self.bytes_left = self.bytes_left.saturating_sub(way.len() - first);
                let ring: Vec<&str> = way[*first..].iter().map(|(raw, _)| raw.id).collect();
                self.tell_ring(&include, &ring);
                continue;
            }
            match self.raws.get(name) {
                Some(raw) if seen.contains(raw.id) => {}
                Some(raw) => next = Some(raw),
                None => {
                    merged.whole = false;
                    if !workflows.broken.contains(name) && !workflows.unread {
                        let names = workflows.things.keys().map(String::as_str);
                        tell_unknown("workflow", &include, name, names, self.faults);
                    }
                }
            }
        }
    }

    /// Pays for a file that is merged into a workflow; its own file is free.
    fn charge(&mut self, raw: &Raw<'f>, start: &Raw<'f>) -> bool {
        if raw.id == start.id {
            return true;
        }
        let bytes = raw.file.tree.source.text.len().max(MIN_MERGED_BYTES);
        if let Some(left) = self.bytes_left.checked_sub(bytes) {
            self.bytes_left = left;
            return true;
        }
        let root = start.file.root();
        let place = root.get("include").unwrap_or(root);
        let message = format!(
            "the workflows of a protocol include at most {MAX_MERGED_BYTES} bytes together, and with \
             this one they include more"
        );
        let hint = "include less, or invoke a workflow instead of including it".to_owned();
        self.faults.push(place.fault("too_large", message).hinting(Some(hint)));
        false
    }

    /// A ring is told once, from its first member by name.
    fn tell_ring(&self, include: &Member<'_>, ring: &[&str]) {
        if self.faults.is_full("include_cycle") || ring.iter().min() != ring.first() {
            return;
        }
        let message = match ring {
            [alone] => format!("`{alone}` includes itself"),
            _ => format!("these include each other: {}", path_of(ring)),
        };
        let hint = "put what they share into a workflow of its own".to_owned();
        self.faults.push(include.fault("include_cycle", message).hinting(Some(hint)));
    }
}

/// A ring as a path back to its beginning; the middle of a long one is left out.
fn path_of(ring: &[&str]) -> String {
    let mut names: Vec<&str> = ring.iter().take(MAX_LISTED_NAMES).copied().collect();
    if ring.len() > MAX_LISTED_NAMES {
        names.push("…");
    }
    names.extend(ring.first());
    format!("`{}`", names.join("` → `")).replace("`…`", "…")
}
