//! Exports memory from a store and imports it into another.

use countersign_contract::Timestamp;
use countersign_shipped_contracts::memory::insight::InsightValidationState;
use countersign_shipped_contracts::memory::long_term::FactStatus;

use super::claim_candidates::propose_candidate;
use super::memory_error::MemoryError;
use super::new_event::check_id;
use super::retrieve::hide_foreign_evidence;
use super::revisioned_row::RevisionedRow;
use super::row_store::{FactFilter, LEVELS, MemoryResult, RowStore, resolve_fact_owner};
use super::tombstone::compute_tombstone_hash;
use super::write::{
    append_events, check_sources, differs_error, record_claim, record_row, refuse_forgotten,
};
use super::{ImportTrust, MemoryExportLine, MemoryExportRow, MemoryImportReport, NewMemoryEvent};
use crate::record::{ClaimCandidate, MemoryClaim, MemoryFact, MemoryInsight, MemoryOrigin};
use crate::rules::{ClaimAssurance, FactRevision, MemoryRefusal, ValidityPeriod, check_fact};
use crate::{MemoryScope, MemorySubject};

/// Exports all rows of a subject in an order in which they can be imported: events before the rows
/// that cite them. Facts of its agent and tenant are included if this subject claimed them.
pub(super) fn export_subject(
    row_store: &impl RowStore,
    subject: &MemorySubject,
) -> MemoryResult<Vec<MemoryExportLine>> {
    let mut rows: Vec<MemoryExportRow> = Vec::new();
    rows.extend(
        row_store
            .load_events(subject)?
            .into_iter()
            .map(|event| MemoryExportRow::Event(Box::new(event))),
    );
    for level in LEVELS {
        let mut facts =
            row_store.load_facts(&resolve_fact_owner(subject, level), FactFilter::All)?;
        facts.retain(|one| one.claimed_by == *subject);
        facts.sort_by(|one, other| {
            let key = |fact: &MemoryFact| (fact.recorded_at, fact.id.clone());
            key(&one.fact).cmp(&key(&other.fact))
        });
        rows.extend(facts.into_iter().map(|one| {
            let origin = one.origin;
            MemoryExportRow::Fact { fact: Box::new(hide_foreign_evidence(one, subject)), origin }
        }));
    }
    let all = usize::MAX;
    let episodes = row_store.load_rows(subject, all)?.into_iter();
    rows.extend(episodes.map(|(_, row)| MemoryExportRow::Episode(Box::new(row))));
    let procedures = row_store.load_rows(subject, all)?.into_iter();
    rows.extend(procedures.map(|(_, row)| MemoryExportRow::Procedure(Box::new(row))));
    let insights = row_store.load_rows(subject, all)?.into_iter();
    rows.extend(insights.map(|(_, row)| MemoryExportRow::Insight(Box::new(row))));
    let candidates = row_store.load_rows(subject, all)?.into_iter();
    rows.extend(candidates.map(|(_, row)| MemoryExportRow::Candidate(Box::new(row))));
    let working = row_store.load_rows(subject, all)?.into_iter();
    rows.extend(
        working.map(|(run, row)| MemoryExportRow::WorkingMemory { run, memory: Box::new(row) }),
    );
    let summaries = row_store.load_rows(subject, all)?.into_iter();
    rows.extend(
        summaries
            .map(|(session, row)| MemoryExportRow::Summary { session, summary: Box::new(row) }),
    );
    Ok(rows.into_iter().map(|row| MemoryExportLine { subject: subject.clone(), row }).collect())
}

/// Imports lines independently: a refused line does not stop the others.
pub(super) fn import_lines(
    row_store: &mut impl RowStore,
    lines: &[MemoryExportLine],
    provenance: ImportTrust,
    now: Timestamp,
) -> MemoryResult<MemoryImportReport> {
    let mut imported = MemoryImportReport::default();
    for (number, line) in (1..).zip(lines) {
        match import_line(row_store, line, provenance, now) {
            Ok(()) => imported.accepted += 1,
            Err(MemoryError::Store(error)) => return Err(error.into()),
            Err(refused) => imported.refused.push((number, refused.to_string())),
        }
    }
    Ok(imported)
}

fn import_line(
    row_store: &mut impl RowStore,
    line: &MemoryExportLine,
    provenance: ImportTrust,
    now: Timestamp,
) -> MemoryResult<()> {
    let MemoryExportLine { subject, row } = line;
    let origin = |told: MemoryOrigin| match provenance {
        ImportTrust::OwnExport => told,
        ImportTrust::Foreign => MemoryOrigin::Imported,
    };
    // Rows name their session or run only if they have one.
    let within = |session: &str, run: &str| {
        MemoryScope::new(&*subject.tenant, &*subject.user, &*subject.agent, session, run)
    };
    let anywhere = within("import", "import")?;
    if provenance == ImportTrust::OwnExport && try_restore(row_store, subject, row)? {
        return Ok(());
    }
    match row {
        MemoryExportRow::Event(event) => {
            if event.scope.subject() != *subject {
                return Err(MemoryRefusal::malformed("scope", "that of the line").into());
            }
            let mut event = NewMemoryEvent::from((**event).clone());
            event.origin = origin(event.origin);
            append_events(row_store, &[event])?;
        }
        MemoryExportRow::Fact { fact, origin: told } => {
            return import_fact(row_store, &anywhere, fact, origin(*told), provenance, now);
        }
        MemoryExportRow::Episode(episode) => {
            refuse_if_different(row_store, subject, &episode.id, &**episode)?;
            let claim = MemoryClaim::Episode(episode.clone());
            record_claim(
                row_store,
                &anywhere,
                &claim,
                MemoryOrigin::Imported,
                ClaimAssurance::Claimed,
                now,
            )?;
        }
        MemoryExportRow::Procedure(procedure) => {
            refuse_if_different(row_store, subject, &procedure.id, &**procedure)?;
            let claim = MemoryClaim::Procedure(procedure.clone());
            record_claim(
                row_store,
                &anywhere,
                &claim,
                MemoryOrigin::Imported,
                ClaimAssurance::Claimed,
                now,
            )?;
        }
        MemoryExportRow::Insight(insight) => {
            let scope = within("import", &insight.run)?;
            let mut insight: MemoryInsight = (**insight).clone();
            if provenance == ImportTrust::Foreign {
                insight.validation = InsightValidationState::Unvalidated;
            }
            refuse_if_different(row_store, subject, &insight.id, &insight)?;
            let claim = MemoryClaim::Insight(Box::new(insight));
            record_claim(
                row_store,
                &scope,
                &claim,
                MemoryOrigin::Imported,
                ClaimAssurance::Claimed,
                now,
            )?;
        }
        MemoryExportRow::Candidate(candidate) => {
            let mut candidate = (**candidate).clone();
            candidate.origin = origin(candidate.origin);
            propose_candidate(row_store, &anywhere, &candidate)?;
        }
        MemoryExportRow::WorkingMemory { run, memory: working } => {
            within("import", run)?;
            import_row(row_store, subject, run, &**working, now)?;
        }
        MemoryExportRow::Summary { session, summary } => {
            within(session, "import")?;
            import_row(row_store, subject, session, &**summary, now)?;
        }
    }
    Ok(())
}

/// Restores a row of an own export in its original revision if the store has none yet. Returns
/// whether it did.
fn try_restore(
    row_store: &mut impl RowStore,
    subject: &MemorySubject,
    row: &MemoryExportRow,
) -> MemoryResult<bool> {
    match row {
        MemoryExportRow::Episode(it) if it.start <= it.end => {
            restore_row(row_store, subject, &it.id, &**it, &it.sources)
        }
        MemoryExportRow::Procedure(it) if !it.task_type.is_empty() => {
            restore_row(row_store, subject, &it.id, &**it, &it.sources)
        }
        MemoryExportRow::Insight(it) if (0.0..=1.0).contains(&it.confidence) => {
            check_id(&it.run)?;
            restore_row(row_store, subject, &it.id, &**it, &it.sources)
        }
        MemoryExportRow::Candidate(it) => {
            match row_store.load_row::<ClaimCandidate>(subject, &it.id, None)? {
                // This store already knows the decision on the candidate.
                Some(known) => Ok(known.claim == it.claim && known.origin == it.origin),
                None => restore_row(row_store, subject, &it.id, &**it, &[]),
            }
        }
        MemoryExportRow::WorkingMemory { run, memory: working } => {
            restore_row(row_store, subject, run, &**working, &[])
        }
        MemoryExportRow::Summary { session, summary } => {
            check_sources(row_store, subject, &summary.sources)?;
            restore_row(row_store, subject, session, &**summary, &summary.quotes)
        }
        _ => Ok(false),
    }
}

fn restore_row<R: RevisionedRow>(
    row_store: &mut impl RowStore,
    subject: &MemorySubject,
    id: &str,
    row: &R,
    sources: &[String],
) -> MemoryResult<bool> {
    if row.revision() == 0 || row_store.load_row::<R>(subject, id, None)?.is_some() {
        return Ok(false);
    }
    check_id(id)?;
    refuse_forgotten(row_store, subject, R::KIND, id)?;
    check_sources(row_store, subject, sources)?;
    row_store.put_row(subject, id, row)?;
    Ok(true)
}

/// The existing row is newer than the imported one, so refuse an import with the same id and other
/// content.
fn refuse_if_different<R: RevisionedRow>(
    row_store: &impl RowStore,
    subject: &MemorySubject,
    id: &str,
    row: &R,
) -> MemoryResult<()> {
    let Some(known) = row_store.load_row::<R>(subject, id, None)? else { return Ok(()) };
    let brought = row.clone().with_revision(1, Timestamp::default());
    if known.with_revision(1, Timestamp::default()) == brought {
        Ok(())
    } else {
        Err(differs_error(R::KIND, id))
    }
}

/// Keeps the existing row, which is newer than the imported one.
fn import_row<R: RevisionedRow>(
    row_store: &mut impl RowStore,
    subject: &MemorySubject,
    id: &str,
    row: &R,
    now: Timestamp,
) -> MemoryResult<()> {
    match row_store.load_row::<R>(subject, id, None)? {
        Some(_) => Ok(()),
        None => record_row(row_store, subject, id, row, now).map(|_| ()),
    }
}

/// Restores facts of an own export with their status; foreign facts go through the rules.
fn import_fact(
    row_store: &mut impl RowStore,
    scope: &MemoryScope,
    fact: &MemoryFact,
    origin: MemoryOrigin,
    provenance: ImportTrust,
    now: Timestamp,
) -> MemoryResult<()> {
    let subject = scope.subject();
    let holder = resolve_fact_owner(&subject, fact.level);
    row_store.lock_subject(&subject)?;
    let absent = row_store.load_fact(&holder, &fact.id, None)?.is_none()
        && row_store
            .find_tombstones(&holder, &[compute_tombstone_hash(&holder, "fact", &fact.id)])?
            .is_empty();
    let mut standing = row_store.load_facts(&holder, FactFilter::ByKey(&fact.key))?.into_iter();
    let alone = standing.all(|other| {
        !ValidityPeriod::from_fact(fact).overlaps(ValidityPeriod::from_fact(&other.fact))
    });
    if provenance == ImportTrust::OwnExport && absent {
        // An active fact is restored as active if no other fact is valid in its period.
        let settled = fact.superseded_by.is_some() || fact.status == FactStatus::Disputed;
        if alone || settled {
            return restore_fact(row_store, &subject, &holder, fact, origin);
        }
    }
    let claim = MemoryClaim::Fact(Box::new(fact.clone()));
    record_claim(row_store, scope, &claim, origin, ClaimAssurance::Claimed, now).map(|_| ())
}

fn restore_fact(
    row_store: &mut impl RowStore,
    subject: &MemorySubject,
    holder: &MemorySubject,
    fact: &MemoryFact,
    origin: MemoryOrigin,
) -> MemoryResult<()> {
    let sources = vec![subject.clone(); fact.evidence.len()];
    let standing =
        FactRevision { fact: fact.clone(), origin, claimed_by: subject.clone(), sources };
    check_fact(&standing, ClaimAssurance::Claimed)?;
    let cited: Vec<&str> = fact.evidence.iter().map(|piece| &*piece.event).collect();
    let words = row_store.load_events_by_id(subject, &cited)?;
    for piece in &fact.evidence {
        let Some(event) = words.get(&piece.event) else {
            return Err(MemoryRefusal::UnknownEvent { event: piece.event.clone() }.into());
        };
        if piece.quote.as_ref().is_some_and(|quote| !event.text.contains(&**quote)) {
            return Err(MemoryRefusal::QuoteNotInEvent { event: piece.event.clone() }.into());
        }
    }
    row_store.put_fact(holder, &standing)
}
