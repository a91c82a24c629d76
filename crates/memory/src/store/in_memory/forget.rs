//! Erases subjects from the in-memory backend and scans it for residue.

use std::collections::{BTreeMap, BTreeSet};

use countersign_contract::Timestamp;

use super::super::repair_facts::repair_facts;
use super::super::revisioned_row::REVISED_TABLES;
use super::super::row_store::MemoryResult;
use super::super::tombstone::compute_tombstone_hash;
use super::super::{EraseReport, EraseTarget, ResidueMatch};
use super::transaction::InMemoryRows;
use crate::MemorySubject;
use crate::record::MemoryFact;

impl InMemoryRows {
    pub(super) fn forget(
        &mut self,
        whom: &EraseTarget,
        now: Timestamp,
    ) -> MemoryResult<EraseReport> {
        whom.check()?;
        let mut erased = EraseReport::default();
        let mut marks = BTreeSet::new();
        let mut gone: BTreeMap<MemorySubject, Vec<MemoryFact>> = BTreeMap::new();
        let rows = self.rows.keys().map(|(_, subject, _)| subject);
        let facts = self.facts.keys().map(|(holder, _)| holder);
        let builds = self.builds.keys().map(|(subject, _)| subject);
        let all: BTreeSet<MemorySubject> =
            self.events.keys().chain(rows).chain(facts).chain(builds).cloned().collect();
        for subject in all.iter().filter(|subject| whom.matches_subject(subject)) {
            let events = self.events.remove(subject).unwrap_or_default();
            marks.extend(
                events.values().map(|event| compute_tombstone_hash(subject, "event", &event.id)),
            );
            erased.add_rows("events", events.len());
            let sessions = self.sessions.remove(subject).unwrap_or_default();
            erased.add_rows("sessions", sessions.len());
            self.vectors.retain(|(whose, _), vectors| {
                let goes = whose == subject;
                if goes {
                    erased.add_rows("vectors", vectors.len());
                }
                !goes
            });
            for (table, kind) in REVISED_TABLES {
                self.rows.retain(|(of, whose, id), revisions| {
                    let goes = *of == table && whose == subject;
                    if goes {
                        marks.insert(compute_tombstone_hash(subject, kind, id));
                        erased.add_rows(table, revisions.len());
                    }
                    !goes
                });
            }
            self.builds.retain(|(whose, id), _| {
                let goes = whose == subject;
                if goes {
                    marks.insert(compute_tombstone_hash(subject, "build", id));
                    erased.add_rows("context_builds", 1);
                }
                !goes
            });
        }
        self.facts.retain(|(holder, id), revisions| {
            let own = whom.matches_subject(holder);
            let mut touched = false;
            for one in &mut *revisions {
                let before = one.sources.len();
                let mut stays = one.sources.iter().map(|source| !whom.matches_subject(source));
                one.fact.evidence.retain(|_| stays.next().unwrap_or(true));
                one.sources.retain(|source| !whom.matches_subject(source));
                touched |= before != one.sources.len() || whom.matches_subject(&one.claimed_by);
                if whom.matches_subject(&one.claimed_by)
                    && let Some(other) = one.sources.first()
                {
                    one.claimed_by = other.clone();
                }
            }
            let orphan = touched && revisions.last().is_some_and(|one| one.sources.is_empty());
            if own || orphan {
                marks.insert(compute_tombstone_hash(holder, "fact", id));
                erased.add_rows("facts", revisions.len());
                if let Some(last) = revisions.pop().filter(|_| !own) {
                    gone.entry(holder.clone()).or_default().push(last.fact);
                }
                return false;
            }
            if touched {
                // Revisions that only the erased subject claimed are removed.
                let before = revisions.len();
                revisions.retain(|one| !whom.matches_subject(&one.claimed_by));
                erased.add_rows("facts", before - revisions.len());
                erased.shared_facts.push(id.clone());
            }
            true
        });
        for (holder, facts) in gone {
            repair_facts(self, &holder, &facts, now)?;
        }
        erased.tombstones = marks.len() as u64;
        self.tombstones.append(&mut marks);
        Ok(erased)
    }

    pub(super) fn scan_residue(&self, needles: &[Vec<u8>]) -> Vec<ResidueMatch> {
        let dump = format!("{self:?}");
        let mut traces = Vec::new();
        for (needle, bytes) in needles.iter().enumerate() {
            let found = dump.as_bytes().windows(bytes.len().max(1)).position(|part| part == bytes);
            if let Some(offset) = found {
                traces.push(ResidueMatch {
                    needle,
                    location: "memory".to_owned(),
                    offset: offset as u64,
                });
            }
        }
        traces
    }
}
