//! Audits the memory of a subject: counts rows of low value, with examples.

use std::collections::{BTreeMap, BTreeSet};

use countersign_contract::Timestamp;
use countersign_contract::json::to_canonical_json;
use countersign_contract::text::compute_fingerprint;
use countersign_shipped_contracts::memory::long_term::FactStatus;

use super::BuildRowKind;
use super::row_store::{FactFilter, MemoryResult, RowStore};
use crate::MemorySubject;
use crate::record::{MemoryEpisode, MemoryEvent, MemoryExpiry, MemoryInsight, MemoryProcedure};
use crate::rules::FactRevision;

/// The maximum number of examples per finding.
const EXAMPLES: usize = 5;

/// The findings for one subject. Only facts of the user level are included.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MemoryAudit {
    /// The number of events.
    pub events: u64,
    /// The number of facts, counting the latest revision of each.
    pub facts: u64,
    /// Events and facts with exactly the same text as an earlier one.
    pub exact_duplicates: AuditFinding,
    /// Events and facts with the same words as an earlier one, but not the same characters.
    pub near_duplicates: AuditFinding,
    /// Facts, procedures and episodes that no build has ever put into a packet.
    pub never_selected: AuditFinding,
    /// Facts that another fact contradicts.
    pub contradicted: AuditFinding,
    /// Facts whose cited events no longer exist.
    pub unsupported: AuditFinding,
    /// Events, facts and insights that have expired.
    pub expired: AuditFinding,
}

/// The number of matches and a few examples by id; duplicates are written `earlier = later`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuditFinding {
    /// The total number of matches.
    pub count: u64,
    /// The first five matches.
    pub examples: Vec<String>,
}

impl AuditFinding {
    fn add(&mut self, example: impl FnOnce() -> String) {
        self.count += 1;
        if self.examples.len() < EXAMPLES {
            self.examples.push(example());
        }
    }
}

pub(super) fn audit_subject(
    row_store: &impl RowStore,
    subject: &MemorySubject,
    now: Timestamp,
) -> MemoryResult<MemoryAudit> {
    let events = row_store.load_events(subject)?;
    let facts = row_store.load_facts(subject, FactFilter::All)?;
    let mut audit = MemoryAudit {
        events: events.len() as u64,
        facts: facts.len() as u64,
        ..MemoryAudit::default()
    };
    count_duplicates(&mut audit, &events, &facts);
    let there: BTreeSet<&str> = events.iter().map(|event| event.id.as_str()).collect();
    let over = |expires| matches!(expires, MemoryExpiry::Until(end) if end < now);
    for event in &events {
        if event.expires.is_some_and(over) {
            audit.expired.add(|| format!("event {}", event.id));
        }
    }
    let selected = row_store.load_selected_ids(subject)?;
    let mut unseen = |kind: BuildRowKind, id: &str, name: &str| {
        if !selected.contains(&(kind, id.to_owned())) {
            audit.never_selected.add(|| format!("{name} {id}"));
        }
    };
    for FactRevision { fact, .. } in &facts {
        unseen(BuildRowKind::UserFact, &fact.id, "fact");
    }
    for (id, _) in row_store.load_rows::<MemoryProcedure>(subject, usize::MAX)? {
        unseen(BuildRowKind::Procedure, &id, "procedure");
    }
    for (id, _) in row_store.load_rows::<MemoryEpisode>(subject, usize::MAX)? {
        unseen(BuildRowKind::Episode, &id, "episode");
    }
    for FactRevision { fact, .. } in &facts {
        let name = || format!("fact {}", fact.id);
        if fact.status == FactStatus::Disputed {
            audit.contradicted.add(name);
        }
        if !fact.evidence.iter().any(|piece| there.contains(piece.event.as_str())) {
            audit.unsupported.add(name);
        }
        if fact.valid_to.is_some_and(|end| end < now) {
            audit.expired.add(name);
        }
    }
    for (id, insight) in row_store.load_rows::<MemoryInsight>(subject, usize::MAX)? {
        if over(insight.expires) {
            audit.expired.add(|| format!("insight {id}"));
        }
    }
    Ok(audit)
}

fn count_duplicates(audit: &mut MemoryAudit, events: &[MemoryEvent], facts: &[FactRevision]) {
    let told = events.iter().map(|event| (format!("event {}", event.id), event.text.clone()));
    let facts = facts.iter().filter(|one| one.fact.status != FactStatus::Deprecated);
    let known = facts.map(|FactRevision { fact, .. }| {
        // A fact that is valid again later is not a duplicate of the earlier one.
        let since = fact.valid_from.map_or_else(String::new, |from| from.to_string());
        (
            format!("fact {}", fact.id),
            format!("{}\n{}\n{since}", fact.key, to_canonical_json(&fact.value)),
        )
    });
    let mut letters: BTreeMap<String, String> = BTreeMap::new();
    let mut words: BTreeMap<String, String> = BTreeMap::new();
    for (name, text) in told.chain(known) {
        let print = compute_fingerprint(&text);
        if let Some(first) = letters.get(&text) {
            audit.exact_duplicates.add(|| format!("{first} = {name}"));
        } else if let Some(first) = words.get(&print) {
            audit.near_duplicates.add(|| format!("{first} = {name}"));
        }
        letters.entry(text).or_insert_with(|| name.clone());
        words.entry(print).or_insert(name);
    }
}
