//! The selection log of a packet: each item that was selected or omitted, and why.

use std::collections::BTreeSet;

use countersign_shipped_contracts::JsonObject;
use countersign_shipped_contracts::memory::long_term::PacketFact;
use countersign_shipped_contracts::memory::report::{
    BudgetDegradation, BudgetOmission, FactConflict, OmittedItem,
};

use super::budget::PacketSection;
use super::fill::FilledSection;

/// Why an item was omitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OmissionReason {
    /// This purpose does not receive items of this kind.
    Purpose,
    Deprecated,
    Disputed,
    Rejected,
    Expired,
    NotYetValid,
    /// A fact of a nearer level has the same key.
    Overridden,
    /// A newer row has the same key.
    SameKey,
    /// A nearer or newer row has the same id.
    SameId,
    TaskType,
    NotApplicable,
    Window,
    NoCue,
    WeakCue,
    Aged,
    NoMatch,
    /// The item repeats an insight that must not be visible.
    Quarantined,
    Closed,
    /// The packet cannot represent it: an empty key, an invalid time.
    Invalid,
    Duplicate,
    Cap,
    Candidates,
    Budget,
}

impl OmissionReason {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Purpose => "purpose",
            Self::Deprecated => "deprecated",
            Self::Disputed => "disputed",
            Self::Rejected => "rejected",
            Self::Expired => "expired",
            Self::NotYetValid => "not_yet_valid",
            Self::Overridden => "overridden",
            Self::SameKey => "same_key",
            Self::SameId => "same_id",
            Self::TaskType => "task_type",
            Self::NotApplicable => "not_applicable",
            Self::Window => "window",
            Self::NoCue => "no_cue",
            Self::WeakCue => "weak_cue",
            Self::Aged => "aged",
            Self::NoMatch => "no_match",
            Self::Quarantined => "quarantined",
            Self::Closed => "closed",
            Self::Invalid => "invalid",
            Self::Duplicate => "duplicate",
            Self::Cap => "cap",
            Self::Candidates => "candidates",
            Self::Budget => "budget",
        }
    }

    /// Returns whether the item would have been selected with more room.
    fn is_capacity_limit(self) -> bool {
        matches!(self, Self::Duplicate | Self::Cap | Self::Candidates | Self::Budget)
    }
}

/// A degradation that was applied for lack of room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DegradationStep {
    FewerItems,
    TighterWindow,
    StrongerCompression,
    DroppedLowConfidence,
    DroppedSection,
}

impl DegradationStep {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::FewerItems => "fewer_items",
            Self::TighterWindow => "tighter_window",
            Self::StrongerCompression => "stronger_compression",
            Self::DroppedLowConfidence => "dropped_low_confidence",
            Self::DroppedSection => "dropped_section",
        }
    }
}

/// The selection log of one packet.
#[derive(Debug, Default)]
pub(super) struct SelectionLog {
    pub(super) selected: Vec<String>,
    pub(super) omitted: Vec<OmittedItem>,
    pub(super) omissions: Vec<BudgetOmission>,
    pub(super) degradations: Vec<BudgetDegradation>,
    pub(super) conflicts: Vec<FactConflict>,
}

/// A ranked item that may go into the packet.
pub(super) trait RankedItem {
    /// The kind of the item.
    const KIND: &'static str;

    /// Returns the ids; several for facts that contradict each other, which stay together.
    fn ids(&self) -> Vec<&str>;

    /// Returns the rule that selected the row with this id.
    fn rule(&self, id: &str) -> String;
}

impl SelectionLog {
    /// Records an omitted item.
    pub(super) fn omit(&mut self, kind: &str, item: &str, reason: OmissionReason) {
        self.omit_with_details(kind, item, reason, JsonObject::new());
    }

    /// Records an omitted item with additional details.
    pub(super) fn omit_with_details(
        &mut self,
        kind: &str,
        item: &str,
        reason: OmissionReason,
        mut extra: JsonObject,
    ) {
        extra.insert("kind".to_owned(), kind.into());
        let (item, told) = (item.to_owned(), reason.as_str().to_owned());
        if reason.is_capacity_limit() {
            self.omissions.push(BudgetOmission { item: item.clone(), reason: told.clone() });
        }
        self.omitted.push(OmittedItem { item, reason: told, extra });
    }

    /// Records a degradation of a section.
    pub(super) fn record_degradation(
        &mut self,
        section: PacketSection,
        step: DegradationStep,
        reason: String,
    ) {
        let (section, action) = (section.name().to_owned(), step.as_str().to_owned());
        self.degradations.push(BudgetDegradation { section, action, reason });
    }

    /// Truncates a ranked list and records the omitted items.
    pub(super) fn truncate_to_cap<R: RankedItem>(
        &mut self,
        list: &mut Vec<R>,
        most: usize,
        reason: OmissionReason,
    ) {
        for dropped in list.drain(most.min(list.len())..) {
            for id in dropped.ids() {
                self.omit(R::KIND, id, reason);
            }
        }
    }

    /// Records which items of a list were selected, shortened and omitted.
    pub(super) fn record_section<R: RankedItem, T>(
        &mut self,
        section: PacketSection,
        list: &[R],
        filled: &FilledSection<T>,
        fewer: DegradationStep,
    ) {
        for (place, form) in &filled.items {
            let cut = if form.is_truncated { ",shortened" } else { "" };
            let form_rule =
                if form.name == "raw" { String::new() } else { format!(",{}", form.name) };
            for id in list[*place].ids() {
                let rule = list[*place].rule(id);
                self.selected.push(format!("{id}|{},{rule}{cut}{form_rule}", R::KIND));
            }
            let ids = list[*place].ids().join("`, `");
            if form.name != "raw" {
                let reason = format!("`{ids}` raw→{}", form.name);
                self.record_degradation(section, DegradationStep::StrongerCompression, reason);
            } else if form.is_truncated {
                let reason = format!("`{ids}` is longer than the longest item");
                self.record_degradation(section, DegradationStep::StrongerCompression, reason);
            }
        }
        let (kept, all) = (filled.items.len(), list.len());
        if kept == all {
            return;
        }
        for left in &list[kept..] {
            for id in left.ids() {
                self.omit(R::KIND, id, OmissionReason::Budget);
            }
        }
        // The working state and the session have other parts, which may be present.
        let alone =
            !matches!(section, PacketSection::WorkingState | PacketSection::ShortTermSummary);
        if kept == 0 && alone {
            let reason = format!("no {} of {all} fits", R::KIND);
            self.record_degradation(section, DegradationStep::DroppedSection, reason);
        } else {
            self.record_degradation(section, fewer, format!("{kept} of {all} {}s fit", R::KIND));
        }
    }

    /// Shows disputed facts in the conflicts that name them.
    pub(super) fn show_disputed_facts(&mut self, facts: &[PacketFact]) {
        for conflict in self.conflicts.iter_mut().filter(|conflict| conflict.kind == "disputed") {
            let ids = conflict.fact_ids.iter().flatten();
            let ids: BTreeSet<&str> = ids.map(String::as_str).collect();
            let own = facts.iter().filter(|fact| ids.contains(fact.fact_id.as_str()));
            let own: Vec<PacketFact> = own.cloned().collect();
            if !own.is_empty() {
                conflict.show_facts(&own).expect("a fact serializes to JSON");
            }
        }
    }

    /// Sorts entries that were recorded in no particular order.
    pub(super) fn sort_entries(&mut self) {
        self.omitted.sort_by_cached_key(|entry| {
            let kind = entry.extra.get("kind").and_then(|kind| kind.as_str()).unwrap_or_default();
            (kind.to_owned(), entry.item.clone(), entry.reason.clone())
        });
        self.omissions
            .sort_by(|one, other| (&one.item, &one.reason).cmp(&(&other.item, &other.reason)));
        self.conflicts
            .sort_by(|one, other| (&one.kind, &one.fact_ids).cmp(&(&other.kind, &other.fact_ids)));
    }
}
