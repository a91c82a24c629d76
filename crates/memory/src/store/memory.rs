//! The [`Memory`] trait. It documents the guarantees of each method, and the test suite checks
//! them; how they are met is up to the implementations.

use std::pin::Pin;

use countersign_contract::Timestamp;

use super::{
    ClaimReceipt, EraseReport, EraseTarget, ImportTrust, MemoryAudit, MemoryError,
    MemoryExportLine, MemoryImportReport, NewMemoryEvent, PacketBuild, ResidueMatch,
    RetrievalLimits, ScopeViolation, SweepOptions, SweepReport, UnembeddedEvents,
};
use crate::policy::AgeingPolicy;
use crate::record::{
    ClaimCandidate, MemoryClaim, MemoryEvent, MemoryInsight, MemoryOrigin, SessionSummary,
    WorkingMemory,
};
use crate::rules::{AgedEpisode, ClaimAssurance, MemoryRefusal};
use crate::summarize::SummaryInput;
use crate::{Candidates, EmbeddingVector, MemoryScope, MemorySubject, PacketRequest, ScoredRow};

/// The future that every method of [`Memory`] returns. Nothing happens before the first poll.
pub type MemoryFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, MemoryError>> + Send + 'a>>;

/// Stores memory by scope. The trait is object-safe, so callers can use `Arc<dyn Memory>`.
///
/// A write that returned `Ok` is durable. A write that returned an error changed nothing, unless
/// the underlying store became unavailable. Callers supply all timestamps.
pub trait Memory: MemoryReader + MemoryWriter + PacketBuildStore + MemoryMaintenance {}

impl<M: MemoryReader + MemoryWriter + PacketBuildStore + MemoryMaintenance> Memory for M {}

/// Reads memory: candidates for packets, events and working memory.
pub trait MemoryReader: Send + Sync {
    /// Loads the input of a session summary at a timestamp.
    fn load_summary_input<'a>(
        &'a self,
        scope: &'a MemoryScope,
        now: Timestamp,
    ) -> MemoryFuture<'a, SummaryInput>;

    /// Lists the candidates of a subject, most recently written or decided first.
    fn list_candidates<'a>(
        &'a self,
        subject: &'a MemorySubject,
        limit: usize,
    ) -> MemoryFuture<'a, Vec<ClaimCandidate>>;

    /// Lists the insights of a subject in their latest revision, of any run and validation state,
    /// most recently recorded first.
    fn list_insights<'a>(
        &'a self,
        subject: &'a MemorySubject,
        limit: usize,
    ) -> MemoryFuture<'a, Vec<MemoryInsight>>;

    /// Retrieves the rows that a request may see, with their scores.
    fn retrieve_candidates<'a>(
        &'a self,
        request: &'a PacketRequest,
        limits: RetrievalLimits,
    ) -> MemoryFuture<'a, Candidates>;

    /// Lists the latest events of the session after a position, in order, as far as this run may
    /// see them at a timestamp. A position of 0 means the whole session.
    fn list_session_events<'a>(
        &'a self,
        scope: &'a MemoryScope,
        after: u32,
        limit: usize,
        now: Timestamp,
    ) -> MemoryFuture<'a, Vec<MemoryEvent>>;

    /// Loads the latest working state of a run; `None` before the first write.
    fn load_working_memory<'a>(
        &'a self,
        scope: &'a MemoryScope,
    ) -> MemoryFuture<'a, Option<WorkingMemory>>;

    /// Loads the last stored event of a run.
    fn load_last_run_event<'a>(
        &'a self,
        scope: &'a MemoryScope,
    ) -> MemoryFuture<'a, Option<MemoryEvent>>;

    /// Searches the events that match a request, best first.
    fn search_events<'a>(
        &'a self,
        request: &'a PacketRequest,
        limit: usize,
    ) -> MemoryFuture<'a, Vec<ScoredRow<MemoryEvent>>>;

    /// Lists the newest events of a subject that have no vector of an embedder, searching the
    /// newest `among` events.
    fn list_unembedded_events<'a>(
        &'a self,
        subject: &'a MemorySubject,
        embedder: &'a str,
        among: usize,
        limit: usize,
    ) -> MemoryFuture<'a, UnembeddedEvents>;
}

/// Writes memory: events, claims, candidates, summaries and vectors.
pub trait MemoryWriter: Send + Sync {
    /// Stores events, all or none, and assigns their locations. An existing id with the same
    /// content is the same event; an existing id with other content, or an erased id, gives
    /// [`MemoryError::Refused`].
    fn append_events(&self, events: Vec<NewMemoryEvent>) -> MemoryFuture<'_, Vec<MemoryEvent>>;

    /// Stores a fact, an episode, a procedure or an insight by the rules; [`MemoryError::Refused`]
    /// names the rule that it violates. A claim that adds nothing new creates no revision.
    fn record_claim<'a>(
        &'a self,
        scope: &'a MemoryScope,
        claim: MemoryClaim,
        origin: MemoryOrigin,
        assurance: ClaimAssurance,
        now: Timestamp,
    ) -> MemoryFuture<'a, ClaimReceipt>;

    /// Stores the fact or procedure that a validated insight became.
    fn learn_from_insight<'a>(
        &'a self,
        scope: &'a MemoryScope,
        insight: &'a str,
        claim: MemoryClaim,
        origin: MemoryOrigin,
        now: Timestamp,
    ) -> MemoryFuture<'a, ClaimReceipt>;

    /// Stores the next version of a run's working state and returns its number. Fails with
    /// [`MemoryError::Conflict`] if `expected` is not the latest version; before the first write
    /// the version is 0.
    fn write_working_memory<'a>(
        &'a self,
        scope: &'a MemoryScope,
        expected: u64,
        working: WorkingMemory,
    ) -> MemoryFuture<'a, u64>;

    /// Stores the next revision of a session's summary and returns its number.
    fn write_summary<'a>(
        &'a self,
        scope: &'a MemoryScope,
        summary: SessionSummary,
    ) -> MemoryFuture<'a, u32>;

    /// Stores a claim that waits for a decision.
    fn propose_candidate<'a>(
        &'a self,
        scope: &'a MemoryScope,
        candidate: ClaimCandidate,
    ) -> MemoryFuture<'a, ()>;

    /// Decides on a candidate by the rules. A refusal is recorded too.
    fn promote_candidate<'a>(
        &'a self,
        scope: &'a MemoryScope,
        id: &'a str,
        assurance: ClaimAssurance,
        now: Timestamp,
    ) -> MemoryFuture<'a, Result<ClaimReceipt, MemoryRefusal>>;

    /// Refuses a candidate by hand, with a reason.
    fn refuse_candidate<'a>(
        &'a self,
        scope: &'a MemoryScope,
        id: &'a str,
        reason: &'a str,
        now: Timestamp,
    ) -> MemoryFuture<'a, ()>;

    /// Stores the vectors of events by event id and returns how many were stored; events that no
    /// longer exist get none. Fails with [`MemoryError::Dimensions`] if the stored vectors of the
    /// embedder have another length.
    fn store_vectors<'a>(
        &'a self,
        subject: &'a MemorySubject,
        vectors: Vec<(String, EmbeddingVector)>,
    ) -> MemoryFuture<'a, u64>;
}

/// Stores how packets were built, so that they can be explained and built again.
pub trait PacketBuildStore: Send + Sync {
    /// Stores the build of a packet.
    fn store_build(&self, build: PacketBuild) -> MemoryFuture<'_, ()>;

    /// Loads a build with the rows that were retrieved for it, in the revisions of that time. Fails
    /// with [`MemoryError::RowGone`] if one of the rows was swept or erased since.
    fn load_build<'a>(
        &'a self,
        subject: &'a MemorySubject,
        id: &'a str,
    ) -> MemoryFuture<'a, Option<(PacketBuild, Candidates)>>;

    /// Returns the id of the previous build of the same session and purpose, if there is one.
    fn find_previous_build<'a>(
        &'a self,
        subject: &'a MemorySubject,
        id: &'a str,
    ) -> MemoryFuture<'a, Option<String>>;
}

/// What operators need: health, forgetting, sweeping, ageing, audits, export and import.
pub trait MemoryMaintenance: Send + Sync {
    /// Checks that the next commit is likely to succeed: the storage is reachable and has room.
    fn check_ready(&self) -> MemoryFuture<'_, ()>;

    /// Reports what erasing a target would remove, without changing anything.
    fn preview_forget(&self, whom: EraseTarget) -> MemoryFuture<'_, EraseReport>;

    /// Erases a target: every row, index entry, build and byte. Hashes of ids remain, so that an
    /// import or a replayed event cannot bring erased rows back.
    fn forget(&self, whom: EraseTarget, now: Timestamp) -> MemoryFuture<'_, EraseReport>;

    /// Searches the underlying storage for these bytes. After an erasure the result is empty.
    fn scan_residue(&self, needles: Vec<Vec<u8>>) -> MemoryFuture<'_, Vec<ResidueMatch>>;

    /// Finds rows that have no scope or that cross one.
    fn find_scope_violations(&self) -> MemoryFuture<'_, Vec<ScopeViolation>>;

    /// Reports what a sweep would remove, without changing anything.
    fn preview_sweep<'a>(
        &'a self,
        scope: &'a MemoryScope,
        sweep: SweepOptions,
        now: Timestamp,
    ) -> MemoryFuture<'a, SweepReport>;

    /// Removes expired rows of a subject, and rows that end with the run if it has ended. Rows that
    /// a build uses stay with it, unless the options include them.
    fn sweep_expired<'a>(
        &'a self,
        scope: &'a MemoryScope,
        sweep: SweepOptions,
        now: Timestamp,
    ) -> MemoryFuture<'a, SweepReport>;

    /// Reports what ageing would do to the episodes of a subject, without changing anything.
    fn preview_ageing<'a>(
        &'a self,
        subject: &'a MemorySubject,
        ageing: AgeingPolicy,
        now: Timestamp,
    ) -> MemoryFuture<'a, Vec<AgedEpisode>>;

    /// Ages the episodes of a subject: condenses old ones and merges related ones. Earlier
    /// revisions stay, so builds that used them are composed as before.
    fn age_episodes<'a>(
        &'a self,
        subject: &'a MemorySubject,
        ageing: AgeingPolicy,
        now: Timestamp,
    ) -> MemoryFuture<'a, Vec<AgedEpisode>>;

    /// Counts duplicates, contradictions and other rows of low value.
    fn audit<'a>(
        &'a self,
        subject: &'a MemorySubject,
        now: Timestamp,
    ) -> MemoryFuture<'a, MemoryAudit>;

    /// Exports all rows of a subject except its builds.
    fn export<'a>(&'a self, subject: &'a MemorySubject) -> MemoryFuture<'a, Vec<MemoryExportLine>>;

    /// Imports lines, each independently of the others.
    fn import(
        &self,
        lines: Vec<MemoryExportLine>,
        provenance: ImportTrust,
        now: Timestamp,
    ) -> MemoryFuture<'_, MemoryImportReport>;
}
