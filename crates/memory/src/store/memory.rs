//! The face of every memory. What each method promises is said here and held by the suite; how it is
//! done is the business of the implementations.

use std::pin::Pin;

use countersign_core::run::Timestamp;

use super::{
    ClaimReceipt, EraseReport, EraseTarget, ImportTrust, MemoryAudit, MemoryError,
    MemoryExportLine, MemoryImportReport, NewMemoryEvent, PacketBuild, ResidueMatch,
    RetrievalLimits, ScopeViolation, SweepOptions, SweepReport, UnembeddedEvents,
};
use crate::policy::AgeingPolicy;
use crate::record::{
    ClaimCandidate, MemoryClaim, MemoryEvent, MemoryOrigin, SessionSummary, WorkingMemory,
};
use crate::rules::{AgedEpisode, ClaimAssurance, MemoryRefusal};
use crate::summarize::SummaryInput;
use crate::{Candidates, EmbeddingVector, MemoryScope, MemorySubject, PacketRequest, ScoredRow};

/// What a memory answers, once awaited. Nothing happens before the first poll.
pub type MemoryFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, MemoryError>> + Send + 'a>>;

/// Keeps memory by scope. Object-safe, so that what uses it says `Arc<dyn Memory>`.
///
/// A write that was answered with `Ok` is durable; one that was answered otherwise left nothing, unless
/// the store below became unavailable. Time comes from outside.
pub trait Memory: Send + Sync {
    /// Whether the next commit is likely to be kept: where it lies is there, and has room.
    fn check_ready(&self) -> MemoryFuture<'_, ()>;

    /// Keeps events, all or none, and gives them their places. An id that is there already is the same
    /// event, if it says the same; `Refused` if it does not, or if it was forgotten.
    fn append_events(&self, events: Vec<NewMemoryEvent>) -> MemoryFuture<'_, Vec<MemoryEvent>>;

    /// Keeps a fact, an episode, a procedure or a guess by the rules; `Refused` says which one it broke.
    /// What says nothing new makes no revision.
    fn record_claim<'a>(
        &'a self,
        scope: &'a MemoryScope,
        claim: MemoryClaim,
        origin: MemoryOrigin,
        assurance: ClaimAssurance,
        now: Timestamp,
    ) -> MemoryFuture<'a, ClaimReceipt>;

    /// Keeps the fact or procedure that a validated guess taught.
    fn learn_from_insight<'a>(
        &'a self,
        scope: &'a MemoryScope,
        insight: &'a str,
        claim: MemoryClaim,
        origin: MemoryOrigin,
        now: Timestamp,
    ) -> MemoryFuture<'a, ClaimReceipt>;

    /// Keeps the next version of a run's working state and says which one it is. `FactConflict` where the
    /// writer has not seen the latest; 0 is the version before the first.
    fn write_working_memory<'a>(
        &'a self,
        scope: &'a MemoryScope,
        expected: u64,
        working: WorkingMemory,
    ) -> MemoryFuture<'a, u64>;

    /// Keeps the next revision of a session's summary and says which one it is.
    fn write_summary<'a>(
        &'a self,
        scope: &'a MemoryScope,
        summary: SessionSummary,
    ) -> MemoryFuture<'a, u32>;

    /// What a summary of the session is made of at this moment.
    fn load_summary_input<'a>(
        &'a self,
        scope: &'a MemoryScope,
        now: Timestamp,
    ) -> MemoryFuture<'a, SummaryInput>;

    /// Writes down a claim that waits for a ruling.
    fn propose_candidate<'a>(
        &'a self,
        scope: &'a MemoryScope,
        candidate: ClaimCandidate,
    ) -> MemoryFuture<'a, ()>;

    /// Rules on a candidate. Where the rules refuse it, that is written down too.
    fn promote_candidate<'a>(
        &'a self,
        scope: &'a MemoryScope,
        id: &'a str,
        assurance: ClaimAssurance,
        now: Timestamp,
    ) -> MemoryFuture<'a, Result<ClaimReceipt, MemoryRefusal>>;

    /// Refuses a candidate by hand.
    fn refuse_candidate<'a>(
        &'a self,
        scope: &'a MemoryScope,
        id: &'a str,
        reason: &'a str,
        now: Timestamp,
    ) -> MemoryFuture<'a, ()>;

    /// The candidates of a subject, those ruled on or written last first.
    fn list_candidates<'a>(
        &'a self,
        subject: &'a MemorySubject,
        limit: usize,
    ) -> MemoryFuture<'a, Vec<ClaimCandidate>>;

    /// The rows that a request may see, with their scores.
    fn retrieve_candidates<'a>(
        &'a self,
        request: &'a PacketRequest,
        limits: RetrievalLimits,
    ) -> MemoryFuture<'a, Candidates>;

    /// The latest events of the session behind a position, in their order, as far as this run may see them at this
    /// moment; behind 0 stands the whole session.
    fn list_session_events<'a>(
        &'a self,
        scope: &'a MemoryScope,
        after: u32,
        limit: usize,
        now: Timestamp,
    ) -> MemoryFuture<'a, Vec<MemoryEvent>>;

    /// The latest working state of a run; none before the first.
    fn load_working_memory<'a>(
        &'a self,
        scope: &'a MemoryScope,
    ) -> MemoryFuture<'a, Option<WorkingMemory>>;

    /// The last event that was kept of a run.
    fn load_last_run_event<'a>(
        &'a self,
        scope: &'a MemoryScope,
    ) -> MemoryFuture<'a, Option<MemoryEvent>>;

    /// The events that answer a request, best first.
    fn search_events<'a>(
        &'a self,
        request: &'a PacketRequest,
        limit: usize,
    ) -> MemoryFuture<'a, Vec<ScoredRow<MemoryEvent>>>;

    /// The newest events of a subject that have no vector of an embedder, looked for among so many of the
    /// newest.
    fn list_unembedded_events<'a>(
        &'a self,
        subject: &'a MemorySubject,
        embedder: &'a str,
        among: usize,
        limit: usize,
    ) -> MemoryFuture<'a, UnembeddedEvents>;

    /// Keeps what an embedder made of events, by their ids, and says how many: an event that is gone has no
    /// vector. `Dimensions` where those that are here have another length.
    fn store_vectors<'a>(
        &'a self,
        subject: &'a MemorySubject,
        vectors: Vec<(String, EmbeddingVector)>,
    ) -> MemoryFuture<'a, u64>;

    /// Keeps a build.
    fn store_build(&self, build: PacketBuild) -> MemoryFuture<'_, ()>;

    /// A build with what was found for it then, in the revisions of then. `RowGone` where a row of it was
    /// swept or forgotten since.
    fn load_build<'a>(
        &'a self,
        subject: &'a MemorySubject,
        id: &'a str,
    ) -> MemoryFuture<'a, Option<(PacketBuild, Candidates)>>;

    /// The build for the same purpose that came before a build of the same session, if there is one.
    fn find_previous_build<'a>(
        &'a self,
        subject: &'a MemorySubject,
        id: &'a str,
    ) -> MemoryFuture<'a, Option<String>>;

    /// What forgetting someone would erase. Nothing changes.
    fn preview_forget(&self, whom: EraseTarget) -> MemoryFuture<'_, EraseReport>;

    /// Erases someone: every row, index, build and byte. Hashes of ids stay behind, so that what was
    /// erased is not brought back by an import or a replayed event.
    fn forget(&self, whom: EraseTarget, now: Timestamp) -> MemoryFuture<'_, EraseReport>;

    /// Where these bytes still stand: in whatever the memory is kept in. Empty after they were erased.
    fn scan_residue(&self, needles: Vec<Vec<u8>>) -> MemoryFuture<'_, Vec<ResidueMatch>>;

    /// Rows that lack a scope or cross one.
    fn find_scope_violations(&self) -> MemoryFuture<'_, Vec<ScopeViolation>>;

    /// What sweeping would take out. Nothing changes.
    fn preview_sweep<'a>(
        &'a self,
        scope: &'a MemoryScope,
        sweep: SweepOptions,
        now: Timestamp,
    ) -> MemoryFuture<'a, SweepReport>;

    /// Takes out what of a subject had its end before now, and what ends with the run where that has ended. What a
    /// build used stays with it, unless that is to go too.
    fn sweep_expired<'a>(
        &'a self,
        scope: &'a MemoryScope,
        sweep: SweepOptions,
        now: Timestamp,
    ) -> MemoryFuture<'a, SweepReport>;

    /// What ageing would do to the episodes of a subject. Nothing changes.
    fn preview_ageing<'a>(
        &'a self,
        subject: &'a MemorySubject,
        ageing: AgeingPolicy,
        now: Timestamp,
    ) -> MemoryFuture<'a, Vec<AgedEpisode>>;

    /// Ages the episodes of a subject: what is old is told shorter, and what belongs together as one. What was told
    /// before stays, and builds that used it are composed as before.
    fn age_episodes<'a>(
        &'a self,
        subject: &'a MemorySubject,
        ageing: AgeingPolicy,
        now: Timestamp,
    ) -> MemoryFuture<'a, Vec<AgedEpisode>>;

    /// Counts junk.
    fn audit<'a>(
        &'a self,
        subject: &'a MemorySubject,
        now: Timestamp,
    ) -> MemoryFuture<'a, MemoryAudit>;

    /// All that a subject has, but its builds.
    fn export<'a>(&'a self, subject: &'a MemorySubject) -> MemoryFuture<'a, Vec<MemoryExportLine>>;

    /// Takes lines in, each by itself.
    fn import(
        &self,
        lines: Vec<MemoryExportLine>,
        provenance: ImportTrust,
        now: Timestamp,
    ) -> MemoryFuture<'_, MemoryImportReport>;
}
