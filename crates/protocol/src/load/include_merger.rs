//! Includes: merges the phases and transitions of several workflows into one.

use std::collections::{BTreeMap, BTreeSet};

use countersign_contract::limits::{MAX_LISTED_NAMES, MAX_MERGED_BYTES, MIN_MERGED_BYTES};

use super::file_node::FileNode;
use super::load_diagnostics::LoadDiagnostics;
use super::protocol_file::ProtocolFile;
use super::symbol_table::{SymbolTable, report_unknown_name};
use super::workflow_settings::WorkflowSettings;

/// A workflow as its file defines it, before merging.
#[derive(Debug)]
pub(super) struct RawWorkflow<'f> {
    pub(super) id: &'f str,
    pub(super) file: &'f ProtocolFile,
    pub(super) settings: WorkflowSettings<'f>,
}

impl<'f> RawWorkflow<'f> {
    /// The names of the included workflows, in order.
    fn includes(&self) -> Vec<FileNode<'f>> {
        let root = self.file.root();
        match root.get("include").filter(|include| self.file.is_valid(include)) {
            Some(one) if one.text().is_some() => vec![one],
            Some(many) => many.items(),
            None => Vec::new(),
        }
    }

    /// The phases, under either of the two keys `phases` and `steps`.
    pub(super) fn phases(&self) -> Vec<FileNode<'f>> {
        let root = self.file.root();
        root.get("phases").or_else(|| root.get("steps")).map(|it| it.items()).unwrap_or_default()
    }

    /// The transitions of this file only.
    pub(super) fn transitions(&self) -> Vec<FileNode<'f>> {
        self.file.root().get("transitions").map(|it| it.items()).unwrap_or_default()
    }
}

/// A workflow and everything it includes: itself first, each once.
#[derive(Debug)]
pub(super) struct MergedIncludes<'r, 'f> {
    pub(super) parts: Vec<&'r RawWorkflow<'f>>,
    /// Whether every include could be read.
    pub(super) is_complete: bool,
    /// Whether some of them include each other.
    pub(super) has_cycle: bool,
}

/// Merges the includes of all workflows of a folder, up to a size limit.
pub(super) struct IncludeMerger<'r, 'f> {
    raws: &'r BTreeMap<&'f str, RawWorkflow<'f>>,
    faults: &'r LoadDiagnostics,
    /// Number of bytes that may still be merged.
    bytes_left: usize,
}

impl<'r, 'f> IncludeMerger<'r, 'f> {
    /// Creates a merger for these workflows with nothing merged yet.
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
        // The path from the start: each workflow with its includes that are still to be followed.
        let mut transition: Vec<(&'r RawWorkflow<'f>, std::vec::IntoIter<FileNode<'f>>)> =
            Vec::new();
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
                on_way.insert(raw.id, transition.len());
                transition.push((raw, raw.includes().into_iter()));
            }
            let Some((raw, includes)) = transition.last_mut() else { return merged };
            let Some(include) = includes.next() else {
                on_way.remove(raw.id);
                transition.pop();
                continue;
            };
            let Some(name) = include.text() else { continue };
            if let Some(first) = on_way.get(name) {
                merged.has_cycle = true;
                self.bytes_left = self.bytes_left.saturating_sub(transition.len() - first);
                let ring: Vec<&str> = transition[*first..].iter().map(|(raw, _)| raw.id).collect();
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

    /// Deducts a file that is merged into a workflow from the limit; the workflow's own file is
    /// free. Returns whether the limit sufficed.
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
        let node = root.get("include").unwrap_or(root);
        let message = format!(
            "the workflows of a protocol may include at most {MAX_MERGED_BYTES} bytes in total, and this one exceeds that"
        );
        let hint = "include less, or invoke a workflow instead of including it".to_owned();
        self.faults.push(node.diagnose("too_large", message).with_hint(Some(hint)));
        false
    }

    /// Reports a cycle once, from the member that comes first by name.
    fn report_cycle(&self, include: &FileNode<'_>, ring: &[&str]) {
        if self.faults.is_full("include_cycle") || ring.iter().min() != ring.first() {
            return;
        }
        let message = match ring {
            [alone] => format!("`{alone}` includes itself"),
            _ => format!("these include each other: {}", format_cycle(ring)),
        };
        let hint = "move what they share into a separate workflow".to_owned();
        self.faults.push(include.diagnose("include_cycle", message).with_hint(Some(hint)));
    }
}

/// Formats a cycle as a path back to its start, with the middle of a long one omitted.
fn format_cycle(ring: &[&str]) -> String {
    let mut names: Vec<&str> = ring.iter().take(MAX_LISTED_NAMES).copied().collect();
    if ring.len() > MAX_LISTED_NAMES {
        names.push("…");
    }
    names.extend(ring.first());
    format!("`{}`", names.join("` → `")).replace("`…`", "…")
}
