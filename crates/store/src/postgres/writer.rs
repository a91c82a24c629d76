//! The writers of a database, and their group commit.
//!
//! A commit that finds a writer free is sent at once. The others wait: a writer that is done takes all
//! of them, one of each run, and sends them as one call. So nobody waits for a batch to fill, and a busy
//! store sends few calls. A refused commit is refused alone.
//!
//! Where the connection breaks in the middle, nobody knows whether the call was kept. It is sent again:
//! the version keeps it from being kept twice, and a refusal is then looked up by the hash of its entry.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_postgres::PgError;
use tokio::sync::oneshot;

use super::commit_batch::{PgCommitBatch, read_verdicts};
use super::commit_verdict::PgCommitVerdict;
use super::database::SharedPgDatabase;
use super::queries;
use crate::{NewRun, RunCommit, RunId, StoreError};

/// At most so many commits share a call: the first of them must not wait for ever.
const MAX_BATCH_COMMITS: usize = 128;

/// At most so many bytes of events share a call, however few commits that are.
const MAX_BATCH_BYTES: usize = 4 << 20;

/// Takes commits to the server.
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
    /// Runs whose commit is on its way: the next one of such a run waits.
    in_flight: HashSet<RunId>,
    writers: usize,
}

#[derive(Debug)]
struct PgWriteJob {
    new: Option<NewRun>,
    commit: RunCommit,
    /// Whether it was sent before and nobody knows what came of that.
    in_doubt: bool,
    reply: oneshot::Sender<Result<(), StoreError>>,
}

impl PgWriter {
    pub(super) fn new(database: SharedPgDatabase) -> Self {
        Self { shared: Arc::new(PgWriterShared { database, queue: Mutex::default() }) }
    }

    /// Has a commit kept, and a run made for it where one is given.
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
        // Whatever panicked left whole jobs behind.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One writer while it has something to write.
struct PgWriterTask {
    shared: Arc<PgWriterShared>,
    /// The runs it has under way.
    runs: Vec<RunId>,
    /// Whether it counts as a writer still.
    is_counted: bool,
}

impl Drop for PgWriterTask {
    fn drop(&mut self) {
        // Also where the runtime ends in the middle of a call: others must not wait for it.
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

    /// The next batch, sorted; what was under way is done. Where there is none, this is a writer no more in
    /// the same moment: whoever comes then begins another.
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

    /// Sends a batch until it is answered, and answers each job.
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
                // One of them is at fault, and the others are not to suffer for it.
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
            let what = format!("{} answers to {} commits", found.len(), jobs.len());
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
            // Nobody may be waiting any more; the commit is kept all the same.
            let _ = job.reply.send(answer);
        }
    }
}

fn fail_all(jobs: Vec<PgWriteJob>, error: &StoreError) {
    for job in jobs {
        let _ = job.reply.send(Err(error.clone()));
    }
}

/// Whether the log has this very entry at its version.
async fn is_committed(database: &SharedPgDatabase, commit: &RunCommit) -> Result<bool, StoreError> {
    let found = queries::read_log(database, &commit.run, commit.expected_version, 1).await?;
    Ok(found.first().is_some_and(|entry| *entry == commit.entry))
}

/// Which id of a commit is in use already.
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

    /// Whoever queues a commit after a writer has found nothing, and before it is gone, must not wait for it.
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
