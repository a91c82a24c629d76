//! Implements [`Memory`](super::Memory) for every backend with transactions: maps each method to a read or a
//! write. Backends implement the rest themselves.

use countersign_contract::Timestamp;

use super::memory::{
    MemoryFuture, MemoryMaintenance, MemoryReader, MemoryWriter, PacketBuildStore,
};
use super::row_store::{MemoryResult, RecordRows as _, RowStore};
use super::{
    ClaimReceipt, EraseReport, EraseTarget, ImportTrust, MemoryAudit, MemoryExportLine,
    MemoryImportReport, NewMemoryEvent, PacketBuild, ResidueMatch, RetrievalLimits, ScopeViolation,
    SweepOptions, SweepReport, UnembeddedEvents, age_episodes, audit, claim_candidates,
    export_import, load_summary_input, replay, retrieve, session_events, store_vectors, sweep,
    write,
};
use crate::policy::AgeingPolicy;
use crate::record::{
    ClaimCandidate, MemoryClaim, MemoryEvent, MemoryInsight, MemoryOrigin, SessionSummary,
    WorkingMemory,
};
use crate::rules::{AgedEpisode, ClaimAssurance, MemoryRefusal};
use crate::summarize::SummaryInput;
use crate::{Candidates, EmbeddingVector, MemoryScope, MemorySubject, PacketRequest, ScoredRow};

/// A shared row store in which a read is one snapshot and a write is one commit.
pub(super) trait TransactionalStore: Send + Sync {
    /// The rows for the duration of a read or a write.
    type Transaction<'s>: RowStore;

    /// The number of imported lines per commit.
    const IMPORT_BATCH: usize;

    /// Runs a read; may run it again if the connection is lost.
    fn read<T: Send + 'static>(
        &self,
        question: impl for<'s> Fn(&Self::Transaction<'s>) -> MemoryResult<T> + Send + Sync + 'static,
    ) -> MemoryFuture<'_, T>;

    /// Runs a write; may run it again if the commit failed.
    fn write<T: Send + 'static>(
        &self,
        work: impl for<'s> Fn(&mut Self::Transaction<'s>) -> MemoryResult<T> + Send + Sync + 'static,
    ) -> MemoryFuture<'_, T>;

    /// Implements [`MemoryMaintenance::check_ready`] for the backend.
    fn check_ready(&self) -> MemoryFuture<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    /// Implements [`MemoryMaintenance::preview_forget`] for the backend.
    fn preview_forget(&self, whom: EraseTarget) -> MemoryFuture<'_, EraseReport>;

    /// Implements [`MemoryMaintenance::forget`] for the backend.
    fn forget(&self, whom: EraseTarget, now: Timestamp) -> MemoryFuture<'_, EraseReport>;

    /// Implements [`MemoryMaintenance::scan_residue`] for the backend.
    fn scan_residue(&self, needles: Vec<Vec<u8>>) -> MemoryFuture<'_, Vec<ResidueMatch>>;

    /// Implements [`MemoryMaintenance::find_scope_violations`] for the backend.
    fn find_scope_violations(&self) -> MemoryFuture<'_, Vec<ScopeViolation>>;
}

impl<M: TransactionalStore> MemoryReader for M {
    fn load_summary_input<'a>(
        &'a self,
        scope: &'a MemoryScope,
        now: Timestamp,
    ) -> MemoryFuture<'a, SummaryInput> {
        let scope = scope.clone();
        self.read(move |row_store| load_summary_input::load_summary_input(row_store, &scope, now))
    }

    fn list_candidates<'a>(
        &'a self,
        subject: &'a MemorySubject,
        limit: usize,
    ) -> MemoryFuture<'a, Vec<ClaimCandidate>> {
        let subject = subject.clone();
        self.read(move |row_store| {
            Ok(row_store.load_rows(&subject, limit)?.into_iter().map(|(_, row)| row).collect())
        })
    }

    fn list_insights<'a>(
        &'a self,
        subject: &'a MemorySubject,
        limit: usize,
    ) -> MemoryFuture<'a, Vec<MemoryInsight>> {
        let subject = subject.clone();
        self.read(move |row_store| {
            Ok(row_store.load_rows(&subject, limit)?.into_iter().map(|(_, row)| row).collect())
        })
    }

    fn retrieve_candidates<'a>(
        &'a self,
        request: &'a PacketRequest,
        limits: RetrievalLimits,
    ) -> MemoryFuture<'a, Candidates> {
        let request = request.clone();
        self.read(move |row_store| retrieve::retrieve_candidates(row_store, &request, limits))
    }

    fn list_session_events<'a>(
        &'a self,
        scope: &'a MemoryScope,
        after: u32,
        limit: usize,
        now: Timestamp,
    ) -> MemoryFuture<'a, Vec<MemoryEvent>> {
        let scope = scope.clone();
        self.read(move |row_store| {
            session_events::list_session_events(row_store, &scope, after, limit, now)
        })
    }

    fn load_working_memory<'a>(
        &'a self,
        scope: &'a MemoryScope,
    ) -> MemoryFuture<'a, Option<WorkingMemory>> {
        let scope = scope.clone();
        self.read(move |row_store| retrieve::load_working_memory(row_store, &scope))
    }

    fn load_last_run_event<'a>(
        &'a self,
        scope: &'a MemoryScope,
    ) -> MemoryFuture<'a, Option<MemoryEvent>> {
        let scope = scope.clone();
        self.read(move |row_store| retrieve::load_last_run_event(row_store, &scope))
    }

    fn search_events<'a>(
        &'a self,
        request: &'a PacketRequest,
        limit: usize,
    ) -> MemoryFuture<'a, Vec<ScoredRow<MemoryEvent>>> {
        let request = request.clone();
        self.read(move |row_store| retrieve::search_events(row_store, &request, limit))
    }

    fn list_unembedded_events<'a>(
        &'a self,
        subject: &'a MemorySubject,
        embedder: &'a str,
        among: usize,
        limit: usize,
    ) -> MemoryFuture<'a, UnembeddedEvents> {
        let (subject, embedder) = (subject.clone(), embedder.to_owned());
        self.read(move |row_store| {
            store_vectors::list_unembedded_events(row_store, &subject, &embedder, among, limit)
        })
    }
}

impl<M: TransactionalStore> MemoryWriter for M {
    fn append_events(&self, events: Vec<NewMemoryEvent>) -> MemoryFuture<'_, Vec<MemoryEvent>> {
        self.write(move |row_store| write::append_events(row_store, &events))
    }

    fn record_claim<'a>(
        &'a self,
        scope: &'a MemoryScope,
        claim: MemoryClaim,
        origin: MemoryOrigin,
        assurance: ClaimAssurance,
        now: Timestamp,
    ) -> MemoryFuture<'a, ClaimReceipt> {
        let scope = scope.clone();
        self.write(move |row_store| {
            write::record_claim(row_store, &scope, &claim, origin, assurance, now)
        })
    }

    fn learn_from_insight<'a>(
        &'a self,
        scope: &'a MemoryScope,
        insight: &'a str,
        claim: MemoryClaim,
        origin: MemoryOrigin,
        now: Timestamp,
    ) -> MemoryFuture<'a, ClaimReceipt> {
        let (scope, insight) = (scope.clone(), insight.to_owned());
        self.write(move |row_store| {
            write::learn_from_insight(row_store, &scope, &insight, &claim, origin, now)
        })
    }

    fn write_working_memory<'a>(
        &'a self,
        scope: &'a MemoryScope,
        expected: u64,
        working: WorkingMemory,
    ) -> MemoryFuture<'a, u64> {
        let scope = scope.clone();
        self.write(move |row_store| {
            write::write_working_memory(row_store, &scope, expected, &working)
        })
    }

    fn write_summary<'a>(
        &'a self,
        scope: &'a MemoryScope,
        summary: SessionSummary,
    ) -> MemoryFuture<'a, u32> {
        let scope = scope.clone();
        self.write(move |row_store| write::write_summary(row_store, &scope, &summary))
    }

    fn propose_candidate<'a>(
        &'a self,
        scope: &'a MemoryScope,
        candidate: ClaimCandidate,
    ) -> MemoryFuture<'a, ()> {
        let scope = scope.clone();
        self.write(move |row_store| {
            claim_candidates::propose_candidate(row_store, &scope, &candidate)
        })
    }

    fn promote_candidate<'a>(
        &'a self,
        scope: &'a MemoryScope,
        id: &'a str,
        assurance: ClaimAssurance,
        now: Timestamp,
    ) -> MemoryFuture<'a, Result<ClaimReceipt, MemoryRefusal>> {
        let (scope, id) = (scope.clone(), id.to_owned());
        self.write(move |row_store| {
            claim_candidates::promote_candidate(row_store, &scope, &id, assurance, now)
        })
    }

    fn refuse_candidate<'a>(
        &'a self,
        scope: &'a MemoryScope,
        id: &'a str,
        reason: &'a str,
        now: Timestamp,
    ) -> MemoryFuture<'a, ()> {
        let (scope, id, reason) = (scope.clone(), id.to_owned(), reason.to_owned());
        self.write(move |row_store| {
            claim_candidates::refuse_candidate(row_store, &scope, &id, &reason, now)
        })
    }

    fn store_vectors<'a>(
        &'a self,
        subject: &'a MemorySubject,
        vectors: Vec<(String, EmbeddingVector)>,
    ) -> MemoryFuture<'a, u64> {
        let subject = subject.clone();
        self.write(move |row_store| store_vectors::store_vectors(row_store, &subject, &vectors))
    }
}

impl<M: TransactionalStore> PacketBuildStore for M {
    fn store_build(&self, build: PacketBuild) -> MemoryFuture<'_, ()> {
        self.write(move |row_store| replay::store_build(row_store, &build))
    }

    fn load_build<'a>(
        &'a self,
        subject: &'a MemorySubject,
        id: &'a str,
    ) -> MemoryFuture<'a, Option<(PacketBuild, Candidates)>> {
        let (subject, id) = (subject.clone(), id.to_owned());
        self.read(move |row_store| replay::load_build_candidates(row_store, &subject, &id))
    }

    fn find_previous_build<'a>(
        &'a self,
        subject: &'a MemorySubject,
        id: &'a str,
    ) -> MemoryFuture<'a, Option<String>> {
        let (subject, id) = (subject.clone(), id.to_owned());
        self.read(move |row_store| replay::find_previous_build(row_store, &subject, &id))
    }
}

impl<M: TransactionalStore> MemoryMaintenance for M {
    fn check_ready(&self) -> MemoryFuture<'_, ()> {
        TransactionalStore::check_ready(self)
    }

    fn preview_forget(&self, whom: EraseTarget) -> MemoryFuture<'_, EraseReport> {
        TransactionalStore::preview_forget(self, whom)
    }

    fn forget(&self, whom: EraseTarget, now: Timestamp) -> MemoryFuture<'_, EraseReport> {
        TransactionalStore::forget(self, whom, now)
    }

    fn scan_residue(&self, needles: Vec<Vec<u8>>) -> MemoryFuture<'_, Vec<ResidueMatch>> {
        TransactionalStore::scan_residue(self, needles)
    }

    fn find_scope_violations(&self) -> MemoryFuture<'_, Vec<ScopeViolation>> {
        TransactionalStore::find_scope_violations(self)
    }

    fn preview_sweep<'a>(
        &'a self,
        scope: &'a MemoryScope,
        sweep: SweepOptions,
        now: Timestamp,
    ) -> MemoryFuture<'a, SweepReport> {
        let scope = scope.clone();
        self.read(move |row_store| sweep::preview_sweep(row_store, &scope, sweep, now))
    }

    fn sweep_expired<'a>(
        &'a self,
        scope: &'a MemoryScope,
        sweep: SweepOptions,
        now: Timestamp,
    ) -> MemoryFuture<'a, SweepReport> {
        Box::pin(async move {
            // Usually nothing has expired, and the preview does not block writers.
            let would = self.preview_sweep(scope, sweep, now).await?;
            if would.events + would.insights == 0 {
                return Ok(would);
            }
            let scope = scope.clone();
            self.write(move |row_store| sweep::sweep_expired(row_store, &scope, sweep, now)).await
        })
    }

    fn preview_ageing<'a>(
        &'a self,
        subject: &'a MemorySubject,
        ageing: AgeingPolicy,
        now: Timestamp,
    ) -> MemoryFuture<'a, Vec<AgedEpisode>> {
        let subject = subject.clone();
        self.read(move |row_store| {
            Ok(age_episodes::plan_ageing(row_store, &subject, ageing, now)?.changes)
        })
    }

    fn age_episodes<'a>(
        &'a self,
        subject: &'a MemorySubject,
        ageing: AgeingPolicy,
        now: Timestamp,
    ) -> MemoryFuture<'a, Vec<AgedEpisode>> {
        let subject = subject.clone();
        self.write(move |row_store| age_episodes::age_episodes(row_store, &subject, ageing, now))
    }

    fn audit<'a>(
        &'a self,
        subject: &'a MemorySubject,
        now: Timestamp,
    ) -> MemoryFuture<'a, MemoryAudit> {
        let subject = subject.clone();
        self.read(move |row_store| audit::audit_subject(row_store, &subject, now))
    }

    fn export<'a>(&'a self, subject: &'a MemorySubject) -> MemoryFuture<'a, Vec<MemoryExportLine>> {
        let subject = subject.clone();
        self.read(move |row_store| export_import::export_subject(row_store, &subject))
    }

    fn import(
        &self,
        lines: Vec<MemoryExportLine>,
        provenance: ImportTrust,
        now: Timestamp,
    ) -> MemoryFuture<'_, MemoryImportReport> {
        Box::pin(async move { import_in_batches(self, lines, provenance, now).await })
    }
}

async fn import_in_batches<M: TransactionalStore>(
    memory: &M,
    lines: Vec<MemoryExportLine>,
    provenance: ImportTrust,
    now: Timestamp,
) -> MemoryResult<MemoryImportReport> {
    let mut imported = MemoryImportReport::default();
    for (number, some) in (0_u64..).zip(lines.chunks(M::IMPORT_BATCH)) {
        let (some, before) = (some.to_vec(), number * M::IMPORT_BATCH as u64);
        let part = memory
            .write(move |row_store| export_import::import_lines(row_store, &some, provenance, now));
        let part = part.await?;
        imported.accepted += part.accepted;
        let refused = part.refused.into_iter().map(|(line, why)| (before + line, why));
        imported.refused.extend(refused);
    }
    Ok(imported)
}
