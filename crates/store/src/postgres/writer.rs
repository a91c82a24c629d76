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

use countersign_postgres::Outage;
use tokio::sync::oneshot;

use super::batch::{Batch, verdicts};
use super::database::Shared;
use super::read;
use super::verdict::Verdict;
use crate::{Commit, NewRun, RunId, StoreError};

/// At most so many commits share a call: the first of them must not wait for ever.
const LARGEST_BATCH: usize = 128;

/// At most so many bytes of events share a call, however few commits that are.
const LARGEST_BODY: usize = 4 << 20;

/// Takes commits to the server.
#[derive(Debug)]
pub(super) struct Writer {
    desk: Arc<Desk>,
}

#[derive(Debug)]
struct Desk {
    database: Shared,
    queue: Mutex<Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Job>,
    /// Runs whose commit is on its way: the next one of such a run waits.
    under_way: HashSet<RunId>,
    writers: usize,
}

#[derive(Debug)]
struct Job {
    new: Option<NewRun>,
    commit: Commit,
    /// Whether it was sent before and nobody knows what came of that.
    doubtful: bool,
    reply: oneshot::Sender<Result<(), StoreError>>,
}

impl Writer {
    pub(super) fn new(database: Shared) -> Self {
        Self { desk: Arc::new(Desk { database, queue: Mutex::default() }) }
    }

    /// Has a commit kept, and a run made for it where one is given.
    pub(super) async fn submit(
        &self,
        new: Option<NewRun>,
        commit: Commit,
    ) -> Result<(), StoreError> {
        self.desk.database.ready().await?;
        let (reply, answer) = oneshot::channel();
        let most = self.desk.database.settings().writers.max(1);
        let starts = {
            let mut queue = self.desk.queue();
            queue.waiting.push_back(Job { new, commit, doubtful: false, reply });
            let starts = queue.writers < most;
            queue.writers += usize::from(starts);
            starts
        };
        if starts {
            let lane = Lane { desk: Arc::clone(&self.desk), runs: Vec::new(), counted: true };
            drop(tokio::spawn(lane.serve()));
        }
        answer.await.unwrap_or(Err(StoreError::Closed))
    }
}

impl Desk {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        // Whatever panicked left whole jobs behind.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One writer while it has something to write.
struct Lane {
    desk: Arc<Desk>,
    /// The runs it has under way.
    runs: Vec<RunId>,
    /// Whether it counts as a writer still.
    counted: bool,
}

impl Drop for Lane {
    fn drop(&mut self) {
        // Also where the runtime ends in the middle of a call: others must not wait for it.
        let mut queue = self.desk.queue();
        for run in &self.runs {
            queue.under_way.remove(run);
        }
        queue.writers -= usize::from(self.counted);
    }
}

impl Lane {
    async fn serve(mut self) {
        loop {
            let jobs = self.take();
            if jobs.is_empty() {
                return;
            }
            self.send(jobs).await;
        }
    }

    /// The next batch, sorted; what was under way is done. Where there is none, this is a writer no more in
    /// the same moment: whoever comes then begins another.
    fn take(&mut self) -> Vec<Job> {
        let mut queue = self.desk.queue();
        for run in self.runs.drain(..) {
            queue.under_way.remove(&run);
        }
        let (mut taken, mut left, mut size) = (Vec::new(), VecDeque::new(), 0);
        while let Some(job) = queue.waiting.pop_front() {
            if taken.len() == LARGEST_BATCH || size >= LARGEST_BODY {
                left.push_back(job);
                break;
            }
            if queue.under_way.insert(job.commit.run.clone()) {
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
            queue.writers -= usize::from(std::mem::take(&mut self.counted));
        }
        taken.sort_by(|one, other| one.commit.run.cmp(&other.commit.run));
        taken
    }

    /// Sends a batch until it is answered, and answers each job.
    async fn send(&self, mut jobs: Vec<Job>) {
        let mut patience = self.desk.database.patience();
        loop {
            let outage = match self.attempt(&jobs).await {
                Ok(Ok(verdicts)) => return self.answer(jobs, &verdicts).await,
                Ok(Err(error)) => return refuse_all(jobs, &error),
                Err(outage) => outage,
            };
            if outage.passes() {
                for job in &mut jobs {
                    job.doubtful |= outage.leaves_doubt();
                }
                if patience.pause(outage).await {
                    continue;
                }
            } else if jobs.len() > 1 {
                // One of them is at fault, and the others are not to suffer for it.
                for job in jobs {
                    Box::pin(self.send(vec![job])).await;
                }
                return;
            }
            return match (outage, jobs.pop()) {
                (Outage::Failed(code), Some(job)) if code == *b"23505" => {
                    let refused = in_use(&self.desk.database, &job.commit).await;
                    let _ = job.reply.send(Err(refused));
                }
                (_, last) => refuse_all(jobs.into_iter().chain(last).collect(), &outage.into()),
            };
        }
    }

    async fn attempt(&self, jobs: &[Job]) -> Result<Result<Vec<Verdict>, StoreError>, Outage> {
        let clock = self.desk.database.settings().clock;
        let mut batches: Vec<Batch<'_>> = Vec::new();
        let mut tenant = None;
        for job in jobs {
            let owner = job.commit.run.tenant.as_str();
            if tenant != Some(owner) {
                batches.push(Batch::new(owner, clock));
                tenant = Some(owner);
            }
            if let Some(batch) = batches.last_mut() {
                batch.add(job.new.as_ref(), &job.commit, clock);
            }
        }
        let calls: Vec<_> = batches.iter().map(Batch::call).collect();
        let answers = self.desk.database.keep(&calls).await?;
        let rows: Vec<_> = answers.into_iter().flatten().collect();
        let found = verdicts(&rows);
        Ok(found.and_then(|found| {
            if found.len() == jobs.len() {
                return Ok(found);
            }
            let what = format!("{} answers to {} commits", found.len(), jobs.len());
            Err(StoreError::Corrupt { what })
        }))
    }

    async fn answer(&self, jobs: Vec<Job>, verdicts: &[Verdict]) {
        for (job, verdict) in jobs.into_iter().zip(verdicts) {
            let mut answer = verdict.rule(&job.commit);
            if answer.is_err() && job.doubtful {
                match is_kept(&self.desk.database, &job.commit).await {
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

fn refuse_all(jobs: Vec<Job>, error: &StoreError) {
    for job in jobs {
        let _ = job.reply.send(Err(error.clone()));
    }
}

/// Whether the log has this very entry at its version.
async fn is_kept(database: &Shared, commit: &Commit) -> Result<bool, StoreError> {
    let found = read::log(database, &commit.run, commit.expected_version, 1).await?;
    Ok(found.first().is_some_and(|entry| *entry == commit.entry))
}

/// Which id of a commit is in use already.
async fn in_use(database: &Shared, commit: &Commit) -> StoreError {
    match read::in_use(database, commit).await {
        Ok(Some(what)) => StoreError::malformed(what),
        Ok(None) => StoreError::Corrupt {
            what: format!("the log of run `{}` goes beyond its head", commit.run),
        },
        Err(error) => error,
    }
}

#[cfg(test)]
mod tests {
    use countersign_postgres::{Given, Server};

    use super::super::database::PostgresDatabase;
    use super::super::migrate::RUNS_SCHEMA;
    use super::super::settings::PostgresSettings;
    use super::*;

    /// Whoever queues a commit after a writer has found nothing, and before it is gone, must not wait for it.
    #[test]
    fn who_finds_nothing_is_a_writer_no_more_in_the_same_moment() {
        let server = Server::parse("postgresql://nobody@127.0.0.1:1/none", &Given::default());
        let database =
            PostgresDatabase::new(server.unwrap(), PostgresSettings::default(), RUNS_SCHEMA);
        let queue = Mutex::new(Queue { writers: 1, ..Queue::default() });
        let desk = Arc::new(Desk { database: Arc::new(database), queue });
        let mut lane = Lane { desk: Arc::clone(&desk), runs: Vec::new(), counted: true };
        assert!(lane.take().is_empty());
        assert_eq!(desk.queue().writers, 0);
        drop(lane);
        assert_eq!(desk.queue().writers, 0);
    }
}
