//! What a memory is worth: junk counted, with examples.

use std::collections::{BTreeMap, BTreeSet};

use countersign_contracts::memory::long_term::FactStatus;
use countersign_core::json::canonical;
use countersign_core::run::Time;
use countersign_core::text::fingerprint;

use super::RowKind;
use super::shelves::{Answer, Shelves, Which};
use crate::Subject;
use crate::record::{Episode, Event, Expiry, Insight, Procedure};
use crate::rules::Standing;

/// So many examples are shown.
const EXAMPLES: usize = 5;

/// What was found in the memory of one subject. Facts are those of the user's level.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Audit {
    /// How many events there are.
    pub events: u64,
    /// How many facts there are, in their latest revision.
    pub facts: u64,
    /// Events and facts that say, letter for letter, what an earlier one says.
    pub exact_duplicates: Finding,
    /// Events and facts of the same words as an earlier one, and not the same letters.
    pub near_duplicates: Finding,
    /// Facts, procedures and episodes that no build has ever put into a packet.
    pub never_selected: Finding,
    /// Facts that something contradicts.
    pub contradicted: Finding,
    /// Facts that rest on no event that is still there.
    pub unsupported: Finding,
    /// Events, facts and guesses that are over.
    pub expired: Finding,
}

/// How many there are, and a few of them by id; of duplicates, `earlier = later`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Finding {
    /// How many.
    pub count: u64,
    /// The first few.
    pub examples: Vec<String>,
}

impl Finding {
    fn add(&mut self, example: impl FnOnce() -> String) {
        self.count += 1;
        if self.examples.len() < EXAMPLES {
            self.examples.push(example());
        }
    }
}

pub(super) fn audit(shelves: &impl Shelves, subject: &Subject, now: Time) -> Answer<Audit> {
    let events = shelves.events(subject)?;
    let facts = shelves.facts(subject, Which::All)?;
    let mut audit =
        Audit { events: events.len() as u64, facts: facts.len() as u64, ..Audit::default() };
    duplicates(&mut audit, &events, &facts);
    let there: BTreeSet<&str> = events.iter().map(|event| event.id.as_str()).collect();
    let over = |expires| matches!(expires, Expiry::At(end) if end < now);
    for event in &events {
        if event.expires.is_some_and(over) {
            audit.expired.add(|| format!("event {}", event.id));
        }
    }
    let selected = shelves.selected(subject)?;
    let mut unseen = |kind: RowKind, id: &str, name: &str| {
        if !selected.contains(&(kind, id.to_owned())) {
            audit.never_selected.add(|| format!("{name} {id}"));
        }
    };
    for Standing { fact, .. } in &facts {
        unseen(RowKind::FactOfUser, &fact.id, "fact");
    }
    for (id, _) in shelves.rows::<Procedure>(subject, usize::MAX)? {
        unseen(RowKind::Procedure, &id, "procedure");
    }
    for (id, _) in shelves.rows::<Episode>(subject, usize::MAX)? {
        unseen(RowKind::Episode, &id, "episode");
    }
    for Standing { fact, .. } in &facts {
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
    for (id, insight) in shelves.rows::<Insight>(subject, usize::MAX)? {
        if over(insight.expires) {
            audit.expired.add(|| format!("insight {id}"));
        }
    }
    Ok(audit)
}

fn duplicates(audit: &mut Audit, events: &[Event], facts: &[Standing]) {
    let told = events.iter().map(|event| (format!("event {}", event.id), event.text.clone()));
    let facts = facts.iter().filter(|one| one.fact.status != FactStatus::Deprecated);
    let known = facts.map(|Standing { fact, .. }| {
        // What holds again later is no duplicate of what held before.
        let since = fact.valid_from.map_or_else(String::new, |from| from.to_string());
        (format!("fact {}", fact.id), format!("{}\n{}\n{since}", fact.key, canonical(&fact.value)))
    });
    let mut letters: BTreeMap<String, String> = BTreeMap::new();
    let mut words: BTreeMap<String, String> = BTreeMap::new();
    for (name, text) in told.chain(known) {
        let print = fingerprint(&text);
        if let Some(first) = letters.get(&text) {
            audit.exact_duplicates.add(|| format!("{first} = {name}"));
        } else if let Some(first) = words.get(&print) {
            audit.near_duplicates.add(|| format!("{first} = {name}"));
        }
        letters.entry(text).or_insert_with(|| name.clone());
        words.entry(print).or_insert(name);
    }
}
