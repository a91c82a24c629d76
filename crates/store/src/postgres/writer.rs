//! The writers of a database, and their group commit.
//!
//! A commit that finds a free writer is sent at once. The others wait: a writer that finishes takes
//! all of them, one per run, and sends them as one call. So no commit waits for a batch to fill,
//! and a busy store sends few calls. Refusing one commit does not affect the others.
//!
//! If the connection breaks during a call, it is not known whether the call was committed. The
//! writer sends it again: the version check prevents a second write, and after a refusal the writer
//! looks for the commit's own entry in the log.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_postgres::PgError;
use tokio::sync::oneshot;

use super::commit_batch::{PgCommitBatch, read_verdicts};
use super::commit_verdict::PgCommitVerdict;
use super::database::SharedPgDatabase;
use super::queries;
use crate::{NewRun, RunCommit, RunId, StoreError};

/// Maximum number of commits in one call, so that the first of them does not wait too long.
const MAX_BATCH_COMMITS: usize = 128;

/// Maximum size in bytes of the events in one call, however few commits there are.
const MAX_BATCH_BYTES: usize = 4 << 20;

/// Sends commits to the server.
#[derive(Debug)]
pub(super) struct PgWriter {
    shared: Arc<PgWriterShared>,
}

#[derive(Debug)]
struct PgWriterShared {
    database: SharedPgDatabase,
    queue: Mutex<PgWriteQueue>,
}

#[derive(Debug, Default)]
struct PgWriteQueue {
    waiting: VecDeque<PgWriteJob>,
    /// Runs with a commit in flight: the next commit of such a run waits.
    in_flight: HashSet<RunId>,
    writers: usize,
}

#[derive(Debug)]
struct PgWriteJob {
    new: Option<NewRun>,
    commit: RunCommit,
    /// Whether the commit was sent before and its result is unknown.
    in_doubt: bool,
    reply: oneshot::Sender<Result<(), StoreError>>,
}

impl PgWriter {
    pub(super) fn new(database: SharedPgDatabase) -> Self {
        Self { shared: Arc::new(PgWriterShared { database, queue: Mutex::default() }) }
    }

    /// Writes a commit, and creates its run if `new` is set.
    pub(super) async fn submit_commit(
        &self,
        new: Option<NewRun>,
        commit: RunCommit,
    ) -> Result<(), StoreError> {
        self.shared.database.ensure_migrated().await?;
        let (reply, answer) = oneshot::channel();
        let most = self.shared.database.settings().writers.max(1);
        let starts = {
            let mut queue = self.shared.lock_queue();
            queue.waiting.push_back(PgWriteJob { new, commit, in_doubt: false, reply });
            let starts = queue.writers < most;
            queue.writers += usize::from(starts);
            starts
        };
        if starts {
            let lane = PgWriterTask {
                shared: Arc::clone(&self.shared),
                runs: Vec::new(),
                is_counted: true,
            };
            drop(tokio::spawn(lane.run_until_idle()));
        }
        answer.await.unwrap_or(Err(StoreError::Closed))
    }
}

impl PgWriterShared {
    fn lock_queue(&self) -> MutexGuard<'_, PgWriteQueue> {
        // A panic leaves only whole jobs in the queue.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One writer while it has commits to send.
struct PgWriterTask {
    shared: Arc<PgWriterShared>,
    /// The runs whose commits it sends.
    runs: Vec<RunId>,
    /// Whether this task still counts as a writer.
    is_counted: bool,
}

impl Drop for PgWriterTask {
    fn drop(&mut self) {
        // Also runs if the runtime ends during a call: others must not wait for this writer.
        let mut queue = self.shared.lock_queue();
        for run in &self.runs {
            queue.in_flight.remove(run);
        }
        queue.writers -= usize::from(self.is_counted);
    }
}

impl PgWriterTask {
    async fn run_until_idle(mut self) {
        loop {
            let jobs = self.take_batch();
            if jobs.is_empty() {
                return;
            }
            self.send_batch(jobs).await;
        }
    }

    /// Finishes the current batch and returns the next one, sorted. If there is none, this task
    /// stops being a writer under the same lock, so that a commit that arrives next starts another
    /// writer.
    fn take_batch(&mut self) -> Vec<PgWriteJob> {
        let mut queue = self.shared.lock_queue();
        for run in self.runs.drain(..) {
            queue.in_flight.remove(&run);
        }
        let (mut taken, mut left, mut size) = (Vec::new(), VecDeque::new(), 0);
        while let Some(job) = queue.waiting.pop_front() {
            if taken.len() == MAX_BATCH_COMMITS || size >= MAX_BATCH_BYTES {
                left.push_back(job);
                break;
            }
            if queue.in_flight.insert(job.commit.run.clone()) {
                self.runs.push(job.commit.run.clone());
                size += job.commit.entry.body.len();
                taken.push(job);
            } else {
                left.push_back(job);
            }
        }
        left.append(&mut queue.waiting);
        queue.waiting = left;
        if taken.is_empty() {
            queue.writers -= usize::from(std::mem::take(&mut self.is_counted));
        }
        taken.sort_by(|one, other| one.commit.run.cmp(&other.commit.run));
        taken
    }

    /// Sends a batch until there is a result, and replies to each job.
    async fn send_batch(&self, mut jobs: Vec<PgWriteJob>) {
        let mut patience = self.shared.database.new_retry_window();
        loop {
            let outage = match self.send_once(&jobs).await {
                Ok(Ok(verdicts)) => return self.reply_to_jobs(jobs, &verdicts).await,
                Ok(Err(error)) => return fail_all(jobs, &error),
                Err(outage) => outage,
            };
            if outage.is_transient() {
                for job in &mut jobs {
                    job.in_doubt |= outage.is_outcome_unknown();
                }
                if patience.wait_before_retry(outage).await {
                    continue;
                }
            } else if jobs.len() > 1 {
                // One of the commits causes the error; send each alone, so that the others do not
                // fail with it.
                for job in jobs {
                    Box::pin(self.send_batch(vec![job])).await;
                }
                return;
            }
            return match (outage, jobs.pop()) {
                (PgError::Other(code), Some(job)) if code == *b"23505" => {
                    let refused = id_conflict_error(&self.shared.database, &job.commit).await;
                    let _ = job.reply.send(Err(refused));
                }
                (_, last) => fail_all(jobs.into_iter().chain(last).collect(), &outage.into()),
            };
        }
    }

    async fn send_once(
        &self,
        jobs: &[PgWriteJob],
    ) -> Result<Result<Vec<PgCommitVerdict>, StoreError>, PgError> {
        let clock = self.shared.database.settings().clock;
        let mut batches: Vec<PgCommitBatch<'_>> = Vec::new();
        let mut tenant = None;
        for job in jobs {
            let owner = job.commit.run.tenant.as_str();
            if tenant != Some(owner) {
                batches.push(PgCommitBatch::new(owner, clock));
                tenant = Some(owner);
            }
            if let Some(batch) = batches.last_mut() {
                batch.push_commit(job.new.as_ref(), &job.commit, clock);
            }
        }
        let calls: Vec<_> = batches.iter().map(PgCommitBatch::to_statement).collect();
        let answers = self.shared.database.commit_once(&calls).await?;
        let rows: Vec<_> = answers.into_iter().flatten().collect();
        let found = read_verdicts(&rows);
        Ok(found.and_then(|found| {
            if found.len() == jobs.len() {
                return Ok(found);
            }
            let what =
                format!("the server returned {} verdicts for {} commits", found.len(), jobs.len());
            Err(StoreError::Corrupt { reason: what })
        }))
    }

    async fn reply_to_jobs(&self, jobs: Vec<PgWriteJob>, verdicts: &[PgCommitVerdict]) {
        for (job, verdict) in jobs.into_iter().zip(verdicts) {
            let mut answer = verdict.to_result(&job.commit);
            if answer.is_err() && job.in_doubt {
                match is_committed(&self.shared.database, &job.commit).await {
                    Ok(true) => answer = Ok(()),
                    Ok(false) => {}
                    Err(error) => answer = Err(error),
                }
            }
            // The caller may be gone; the commit is kept anyway.
            let _ = job.reply.send(answer);
        }
    }
}

fn fail_all(jobs: Vec<PgWriteJob>, error: &StoreError) {
    for job in jobs {
        let _ = job.reply.send(Err(error.clone()));
    }
}

/// Whether the log has exactly this entry at its version.
async fn is_committed(database: &SharedPgDatabase, commit: &RunCommit) -> Result<bool, StoreError> {
    let found = queries::read_log(database, &commit.run, commit.expected_version, 1).await?;
    Ok(found.first().is_some_and(|entry| *entry == commit.entry))
}

/// Returns the error that names the id in a commit that is already in use.
async fn id_conflict_error(database: &SharedPgDatabase, commit: &RunCommit) -> StoreError {
    match queries::describe_id_conflict(database, commit).await {
        Ok(Some(what)) => StoreError::malformed(what),
        Ok(None) => StoreError::Corrupt {
            reason: format!("the log of run `{}` goes beyond its head", commit.run),
        },
        Err(error) => error,
    }
}

#[cfg(test)]
mod tests {
    use countersign_postgres::{PgConnectOptions, PgServer};

    use super::super::database::PostgresDatabase;
    use super::super::migrate::RUNS_SCHEMA;
    use super::super::settings::PostgresSettings;
    use super::*;

    /// A commit that is queued after a writer found nothing, and before that writer is gone, must
    /// not wait for it.
    #[test]
    fn who_finds_nothing_is_a_writer_no_more_in_the_same_moment() {
        let server =
            PgServer::parse("postgresql://nobody@127.0.0.1:1/none", &PgConnectOptions::default());
        let database =
            PostgresDatabase::new(server.unwrap(), PostgresSettings::default(), RUNS_SCHEMA);
        let queue = Mutex::new(PgWriteQueue { writers: 1, ..PgWriteQueue::default() });
        let desk = Arc::new(PgWriterShared { database: Arc::new(database), queue });
        let mut lane =
            PgWriterTask { shared: Arc::clone(&desk), runs: Vec::new(), is_counted: true };
        assert!(lane.take_batch().is_empty());
        assert_eq!(desk.lock_queue().writers, 0);
        drop(lane);
        assert_eq!(desk.lock_queue().writers, 0);
    }
}
