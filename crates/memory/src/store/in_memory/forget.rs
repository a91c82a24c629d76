//! Forgetting in the reference, and looking for what is left.

use std::collections::{BTreeMap, BTreeSet};

use countersign_core::run::Time;

use super::super::gone::mend;
use super::super::mark::mark;
use super::super::revised::REVISED_TABLES;
use super::super::shelves::Answer;
use super::super::{Erased, Trace, Whom};
use super::state::State;
use crate::Subject;
use crate::record::Fact;

impl State {
    pub(super) fn forget(&mut self, whom: &Whom, now: Time) -> Answer<Erased> {
        whom.check()?;
        let mut erased = Erased::default();
        let mut marks = BTreeSet::new();
        let mut gone: BTreeMap<Subject, Vec<Fact>> = BTreeMap::new();
        let rows = self.rows.keys().map(|(_, subject, _)| subject);
        let facts = self.facts.keys().map(|(holder, _)| holder);
        let builds = self.builds.keys().map(|(subject, _)| subject);
        let all: BTreeSet<Subject> =
            self.events.keys().chain(rows).chain(facts).chain(builds).cloned().collect();
        for subject in all.iter().filter(|subject| whom.means(subject)) {
            let events = self.events.remove(subject).unwrap_or_default();
            marks.extend(events.values().map(|event| mark(subject, "event", &event.id)));
            erased.count("events", events.len());
            let sessions = self.sessions.remove(subject).unwrap_or_default();
            erased.count("sessions", sessions.len());
            self.vectors.retain(|(whose, _), vectors| {
                let goes = whose == subject;
                if goes {
                    erased.count("vectors", vectors.len());
                }
                !goes
            });
            for (table, kind) in REVISED_TABLES {
                self.rows.retain(|(of, whose, id), revisions| {
                    let goes = *of == table && whose == subject;
                    if goes {
                        marks.insert(mark(subject, kind, id));
                        erased.count(table, revisions.len());
                    }
                    !goes
                });
            }
            self.builds.retain(|(whose, id), _| {
                let goes = whose == subject;
                if goes {
                    marks.insert(mark(subject, "build", id));
                    erased.count("context_builds", 1);
                }
                !goes
            });
        }
        self.facts.retain(|(holder, id), revisions| {
            let own = whom.means(holder);
            let mut touched = false;
            for one in &mut *revisions {
                let before = one.sources.len();
                let mut stays = one.sources.iter().map(|source| !whom.means(source));
                one.fact.evidence.retain(|_| stays.next().unwrap_or(true));
                one.sources.retain(|source| !whom.means(source));
                touched |= before != one.sources.len() || whom.means(&one.by);
                if whom.means(&one.by)
                    && let Some(other) = one.sources.first()
                {
                    one.by = other.clone();
                }
            }
            let orphan = touched && revisions.last().is_some_and(|one| one.sources.is_empty());
            if own || orphan {
                marks.insert(mark(holder, "fact", id));
                erased.count("facts", revisions.len());
                if let Some(last) = revisions.pop().filter(|_| !own) {
                    gone.entry(holder.clone()).or_default().push(last.fact);
                }
                return false;
            }
            if touched {
                // What has no other voice behind it goes, revision by revision.
                let before = revisions.len();
                revisions.retain(|one| !whom.means(&one.by));
                erased.count("facts", before - revisions.len());
                erased.shared.push(id.clone());
            }
            true
        });
        for (holder, facts) in gone {
            mend(self, &holder, &facts, now)?;
        }
        erased.tombstones = marks.len() as u64;
        self.tombstones.append(&mut marks);
        Ok(erased)
    }

    pub(super) fn traces(&self, needles: &[Vec<u8>]) -> Vec<Trace> {
        let dump = format!("{self:?}");
        let mut traces = Vec::new();
        for (needle, bytes) in needles.iter().enumerate() {
            let found = dump.as_bytes().windows(bytes.len().max(1)).position(|part| part == bytes);
            if let Some(offset) = found {
                traces.push(Trace { needle, place: "memory".to_owned(), offset: offset as u64 });
            }
        }
        traces
    }
}
