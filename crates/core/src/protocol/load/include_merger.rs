//! Includes: the workflows whose phases and transitions are merged into one.

use std::collections::{BTreeMap, BTreeSet};

use super::file_node::FileNode;
use super::load_diagnostics::LoadDiagnostics;
use super::protocol_file::ProtocolFile;
use super::symbol_table::{SymbolTable, report_unknown_name};
use crate::limits::{MAX_LISTED_NAMES, MAX_MERGED_BYTES, MIN_MERGED_BYTES};

/// A workflow as its file has it.
#[derive(Debug)]
pub(super) struct RawWorkflow<'f> {
    pub(super) id: &'f str,
    pub(super) file: &'f ProtocolFile,
}

impl<'f> RawWorkflow<'f> {
    /// The workflows it names, in order.
    fn includes(&self) -> Vec<FileNode<'f>> {
        let root = self.file.root();
        match root.get("include").filter(|include| self.file.is_valid(include)) {
            Some(one) if one.text().is_some() => vec![one],
            Some(many) => many.items(),
            None => Vec::new(),
        }
    }

    /// Its phases, in whichever spelling.
    pub(super) fn phases(&self) -> Vec<FileNode<'f>> {
        let root = self.file.root();
        root.get("phases").or_else(|| root.get("steps")).map(|it| it.items()).unwrap_or_default()
    }

    /// Its transitions.
    pub(super) fn transitions(&self) -> Vec<FileNode<'f>> {
        self.file.root().get("transitions").map(|it| it.items()).unwrap_or_default()
    }
}

/// A workflow and all it includes, itself first, each once.
#[derive(Debug)]
pub(super) struct MergedIncludes<'r, 'f> {
    pub(super) parts: Vec<&'r RawWorkflow<'f>>,
    /// Whether all of it could be read.
    pub(super) is_complete: bool,
    /// Whether some of them include each other.
    pub(super) has_cycle: bool,
}

/// Merges the includes of all workflows of a folder, up to a bound.
pub(super) struct IncludeMerger<'r, 'f> {
    raws: &'r BTreeMap<&'f str, RawWorkflow<'f>>,
    faults: &'r LoadDiagnostics,
    /// How many bytes may still be merged in.
    bytes_left: usize,
}

impl<'r, 'f> IncludeMerger<'r, 'f> {
    /// Of these workflows, with nothing merged yet.
    pub(super) fn new(
        raws: &'r BTreeMap<&'f str, RawWorkflow<'f>>,
        faults: &'r LoadDiagnostics,
    ) -> Self {
        Self { raws, faults, bytes_left: MAX_MERGED_BYTES }
    }

    /// Follows the includes of a workflow.
    pub(super) fn merge(
        &mut self,
        start: &'r RawWorkflow<'f>,
        workflows: &'r SymbolTable<()>,
    ) -> MergedIncludes<'r, 'f> {
        let mut merged = MergedIncludes { parts: Vec::new(), is_complete: true, has_cycle: false };
        // Every workflow on the way from the start, with the includes of it that are still to follow.
        let mut way: Vec<(&'r RawWorkflow<'f>, std::vec::IntoIter<FileNode<'f>>)> = Vec::new();
        let mut on_way: BTreeMap<&'f str, usize> = BTreeMap::new();
        let mut seen: BTreeSet<&'f str> = BTreeSet::new();
        let mut next = Some(start);
        loop {
            if let Some(raw) = next.take() {
                if !self.spend_bytes(raw, start) {
                    merged.is_complete = false;
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
                merged.has_cycle = true;
                self.bytes_left = self.bytes_left.saturating_sub(way.len() - first);
                let ring: Vec<&str> = way[*first..].iter().map(|(raw, _)| raw.id).collect();
                self.report_cycle(&include, &ring);
                continue;
            }
            match self.raws.get(name) {
                Some(raw) if seen.contains(raw.id) => {}
                Some(raw) => next = Some(raw),
                None => {
                    merged.is_complete = false;
                    if !workflows.broken.contains(name) && !workflows.unread {
                        let names = workflows.entries.keys().map(String::as_str);
                        report_unknown_name("workflow", &include, name, names, self.faults);
                    }
                }
            }
        }
    }

    /// Pays for a file that is merged into a workflow; its own file is free.
    fn spend_bytes(&mut self, raw: &RawWorkflow<'f>, start: &RawWorkflow<'f>) -> bool {
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
        self.faults.push(place.diagnose("too_large", message).with_hint(Some(hint)));
        false
    }

    /// A ring is told once, from its first member by name.
    fn report_cycle(&self, include: &FileNode<'_>, ring: &[&str]) {
        if self.faults.is_full("include_cycle") || ring.iter().min() != ring.first() {
            return;
        }
        let message = match ring {
            [alone] => format!("`{alone}` includes itself"),
            _ => format!("these include each other: {}", format_cycle(ring)),
        };
        let hint = "put what they share into a workflow of its own".to_owned();
        self.faults.push(include.diagnose("include_cycle", message).with_hint(Some(hint)));
    }
}

/// A ring as a path back to its beginning; the middle of a long one is left out.
fn format_cycle(ring: &[&str]) -> String {
    let mut names: Vec<&str> = ring.iter().take(MAX_LISTED_NAMES).copied().collect();
    if ring.len() > MAX_LISTED_NAMES {
        names.push("…");
    }
    names.extend(ring.first());
    format!("`{}`", names.join("` → `")).replace("`…`", "…")
}
