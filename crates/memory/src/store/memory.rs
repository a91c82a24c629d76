//! The face of every memory. What each method promises is said here and held by the suite; how it is
//! done is the business of the implementations.

use std::pin::Pin;

use countersign_core::run::Time;

use super::{
    Audit, Build, Erased, Imported, Kept, Limits, Line, MemoryError, Misplaced, NewEvent,
    Provenance, Sweep, Swept, Trace, Unembedded, Whom,
};
use crate::policy::Ageing;
use crate::record::{Candidate, Claim, Event, Origin, Summary, Working};
use crate::rules::{Aged, Assurance, Refusal};
use crate::summarize::Material;
use crate::{Found, Request, Scope, Scored, Subject, Vector};

/// What a memory answers, once awaited. Nothing happens before the first poll.
pub type Reply<'a, T> = Pin<Box<dyn Future<Output = Result<T, MemoryError>> + Send + 'a>>;

/// Keeps memory by scope. Object-safe, so that what uses it says `Arc<dyn Memory>`.
///
/// A write that was answered with `Ok` is durable; one that was answered otherwise left nothing, unless
/// the store below became unavailable. Time comes from outside.
pub trait Memory: Send + Sync {
    /// Whether the next commit is likely to be kept: where it lies is there, and has room.
    fn check_ready(&self) -> Reply<'_, ()>;

    /// Keeps events, all or none, and gives them their places. An id that is there already is the same
    /// event, if it says the same; `Refused` if it does not, or if it was forgotten.
    fn remember(&self, events: Vec<NewEvent>) -> Reply<'_, Vec<Event>>;

    /// Keeps a fact, an episode, a procedure or a guess by the rules; `Refused` says which one it broke.
    /// What says nothing new makes no revision.
    fn keep<'a>(
        &'a self,
        scope: &'a Scope,
        claim: Claim,
        origin: Origin,
        assurance: Assurance,
        now: Time,
    ) -> Reply<'a, Kept>;

    /// Keeps the fact or procedure that a validated guess taught.
    fn learn<'a>(
        &'a self,
        scope: &'a Scope,
        insight: &'a str,
        claim: Claim,
        origin: Origin,
        now: Time,
    ) -> Reply<'a, Kept>;

    /// Keeps the next version of a run's working state and says which one it is. `Conflict` where the
    /// writer has not seen the latest; 0 is the version before the first.
    fn write_working<'a>(
        &'a self,
        scope: &'a Scope,
        expected: u64,
        working: Working,
    ) -> Reply<'a, u64>;

    /// Keeps the next revision of a session's summary and says which one it is.
    fn write_summary<'a>(&'a self, scope: &'a Scope, summary: Summary) -> Reply<'a, u32>;

    /// What a summary of the session is made of at this moment.
    fn material<'a>(&'a self, scope: &'a Scope, now: Time) -> Reply<'a, Material>;

    /// Writes down a claim that waits for a ruling.
    fn propose<'a>(&'a self, scope: &'a Scope, candidate: Candidate) -> Reply<'a, ()>;

    /// Rules on a candidate. Where the rules refuse it, that is written down too.
    fn promote<'a>(
        &'a self,
        scope: &'a Scope,
        id: &'a str,
        assurance: Assurance,
        now: Time,
    ) -> Reply<'a, Result<Kept, Refusal>>;

    /// Refuses a candidate by hand.
    fn refuse<'a>(
        &'a self,
        scope: &'a Scope,
        id: &'a str,
        reason: &'a str,
        now: Time,
    ) -> Reply<'a, ()>;

    /// The candidates of a subject, those ruled on or written last first.
    fn candidates<'a>(&'a self, subject: &'a Subject, limit: usize) -> Reply<'a, Vec<Candidate>>;

    /// The rows that a request may see, with their scores.
    fn found<'a>(&'a self, request: &'a Request, limits: Limits) -> Reply<'a, Found>;

    /// The latest events of the session behind a position, in their order, as far as this run may see them at this
    /// moment; behind 0 stands the whole session.
    fn session<'a>(
        &'a self,
        scope: &'a Scope,
        after: u32,
        limit: usize,
        now: Time,
    ) -> Reply<'a, Vec<Event>>;

    /// The latest working state of a run; none before the first.
    fn working<'a>(&'a self, scope: &'a Scope) -> Reply<'a, Option<Working>>;

    /// The last event that was kept of a run.
    fn last_of_run<'a>(&'a self, scope: &'a Scope) -> Reply<'a, Option<Event>>;

    /// The events that answer a request, best first.
    fn search<'a>(&'a self, request: &'a Request, limit: usize) -> Reply<'a, Vec<Scored<Event>>>;

    /// The newest events of a subject that have no vector of an embedder, looked for among so many of the
    /// newest.
    fn unembedded<'a>(
        &'a self,
        subject: &'a Subject,
        embedder: &'a str,
        among: usize,
        limit: usize,
    ) -> Reply<'a, Unembedded>;

    /// Keeps what an embedder made of events, by their ids, and says how many: an event that is gone has no
    /// vector. `Dimensions` where those that are here have another length.
    fn keep_vectors<'a>(
        &'a self,
        subject: &'a Subject,
        vectors: Vec<(String, Vector)>,
    ) -> Reply<'a, u64>;

    /// Keeps a build.
    fn keep_build(&self, build: Build) -> Reply<'_, ()>;

    /// A build with what was found for it then, in the revisions of then. `Gone` where a row of it was
    /// swept or forgotten since.
    fn build<'a>(&'a self, subject: &'a Subject, id: &'a str) -> Reply<'a, Option<(Build, Found)>>;

    /// The build for the same purpose that came before a build of the same session, if there is one.
    fn build_before<'a>(&'a self, subject: &'a Subject, id: &'a str) -> Reply<'a, Option<String>>;

    /// What forgetting someone would erase. Nothing changes.
    fn would_forget(&self, whom: Whom) -> Reply<'_, Erased>;

    /// Erases someone: every row, index, build and byte. Hashes of ids stay behind, so that what was
    /// erased is not brought back by an import or a replayed event.
    fn forget(&self, whom: Whom, now: Time) -> Reply<'_, Erased>;

    /// Where these bytes still stand: in whatever the memory is kept in. Empty after they were erased.
    fn traces(&self, needles: Vec<Vec<u8>>) -> Reply<'_, Vec<Trace>>;

    /// Rows that lack a scope or cross one.
    fn misplaced(&self) -> Reply<'_, Vec<Misplaced>>;

    /// What sweeping would take out. Nothing changes.
    fn would_sweep<'a>(&'a self, scope: &'a Scope, sweep: Sweep, now: Time) -> Reply<'a, Swept>;

    /// Takes out what of a subject had its end before now, and what ends with the run where that has ended. What a
    /// build used stays with it, unless that is to go too.
    fn sweep<'a>(&'a self, scope: &'a Scope, sweep: Sweep, now: Time) -> Reply<'a, Swept>;

    /// What ageing would do to the episodes of a subject. Nothing changes.
    fn would_age<'a>(
        &'a self,
        subject: &'a Subject,
        ageing: Ageing,
        now: Time,
    ) -> Reply<'a, Vec<Aged>>;

    /// Ages the episodes of a subject: what is old is told shorter, and what belongs together as one. What was told
    /// before stays, and builds that used it are composed as before.
    fn age<'a>(&'a self, subject: &'a Subject, ageing: Ageing, now: Time) -> Reply<'a, Vec<Aged>>;

    /// Counts junk.
    fn audit<'a>(&'a self, subject: &'a Subject, now: Time) -> Reply<'a, Audit>;

    /// All that a subject has, but its builds.
    fn export<'a>(&'a self, subject: &'a Subject) -> Reply<'a, Vec<Line>>;

    /// Takes lines in, each by itself.
    fn import(&self, lines: Vec<Line>, provenance: Provenance, now: Time) -> Reply<'_, Imported>;
}
