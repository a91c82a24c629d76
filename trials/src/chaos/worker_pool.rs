//! Starts worker processes and sends them signals.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::chaos_args::ChaosTrialArgs;
use super::chaos_workspace::ChaosWorkspace;

/// A worker process, and when it resumes if it is suspended.
struct WorkerProcess {
    child: Child,
    suspended_until: Option<Instant>,
}

/// All worker processes of the trial.
pub(super) struct WorkerPool<'s> {
    workspace: &'s ChaosWorkspace,
    settings: &'s ChaosTrialArgs,
    workers: Vec<WorkerProcess>,
    spawned: usize,
}

impl<'s> WorkerPool<'s> {
    pub(super) fn new(site: &'s ChaosWorkspace, settings: &'s ChaosTrialArgs) -> io::Result<Self> {
        let mut crew = Self { workspace: site, settings, workers: Vec::new(), spawned: 0 };
        for _ in 0..settings.workers {
            let hand = crew.spawn_worker()?;
            crew.workers.push(hand);
        }
        Ok(crew)
    }

    pub(super) fn len(&self) -> usize {
        self.workers.len()
    }

    fn spawn_worker(&mut self) -> io::Result<WorkerProcess> {
        self.spawned += 1;
        let log =
            File::create(self.workspace.path().join(format!("worker-{:04}.jsonl", self.spawned)))?;
        let lease = format!("{}ms", self.settings.lease);
        let arguments = ["worker", "--json", "--capacity", "8", "--poll", "200ms", "--grace", "5s"];
        let arguments = [&arguments[..], &["--lease", &lease]].concat();
        let mut command = self.workspace.build_command(&arguments);
        let child = command.stdout(log.try_clone()?).stderr(Stdio::from(log)).spawn()?;
        Ok(WorkerProcess { child, suspended_until: None })
    }

    /// Kills a worker with `SIGKILL` and starts another.
    pub(super) fn kill_worker(&mut self, index: usize) -> io::Result<()> {
        self.send_signal(index, Signal::KILL)?;
        self.workers[index].child.wait()?;
        self.workers[index] = self.spawn_worker()?;
        Ok(())
    }

    /// Suspends a worker for a while; returns `false` if it was already suspended.
    pub(super) fn suspend_worker(&mut self, index: usize, time: Duration) -> io::Result<bool> {
        if self.workers[index].suspended_until.is_some() {
            return Ok(false);
        }
        self.send_signal(index, Signal::STOP)?;
        self.workers[index].suspended_until = Some(Instant::now() + time);
        Ok(true)
    }

    /// Resumes the workers whose suspension is over, or all of them.
    pub(super) fn resume_workers(&mut self, all: bool) -> io::Result<()> {
        for index in 0..self.workers.len() {
            let over = |until: Instant| all || Instant::now() >= until;
            if self.workers[index].suspended_until.is_some_and(over) {
                self.send_signal(index, Signal::CONT)?;
                self.workers[index].suspended_until = None;
            }
        }
        Ok(())
    }

    /// Stops a worker gracefully and starts another. Returns the exit code.
    pub(super) fn replace_worker(&mut self, index: usize) -> io::Result<Option<i32>> {
        if self.workers[index].suspended_until.take().is_some() {
            self.send_signal(index, Signal::CONT)?;
        }
        self.send_signal(index, Signal::TERM)?;
        let status = self.workers[index].child.wait()?;
        self.workers[index] = self.spawn_worker()?;
        Ok(status.code())
    }

    /// Stops all workers gracefully and returns their exit codes.
    pub(super) fn stop_all(&mut self) -> io::Result<Vec<Option<i32>>> {
        self.resume_workers(true)?;
        for index in 0..self.workers.len() {
            self.send_signal(index, Signal::TERM)?;
        }
        let mut codes = Vec::new();
        for mut hand in self.workers.drain(..) {
            codes.push(hand.child.wait()?.code());
        }
        Ok(codes)
    }

    /// Counts the log lines of all workers by kind.
    pub(super) fn count_log_events(&self) -> io::Result<BTreeMap<String, usize>> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for number in 1..=self.spawned {
            let path = self.workspace.path().join(format!("worker-{number:04}.jsonl"));
            for line in fs::read_to_string(path)?.lines() {
                // A killed worker may have left an incomplete line; a line that is not JSON counts
                // as `?`.
                let news = serde_json::from_str::<Value>(line).map_or("?".to_owned(), |line| {
                    line["event"].as_str().unwrap_or("?").to_owned()
                });
                *counts.entry(news).or_default() += 1;
            }
        }
        Ok(counts)
    }

    fn send_signal(&self, index: usize, signal: Signal) -> io::Result<()> {
        let id = self.workers[index].child.id().cast_signed();
        let pid = Pid::from_raw(id).ok_or_else(|| io::Error::other("no such process"))?;
        Ok(kill_process(pid, signal)?)
    }
}

impl Drop for WorkerPool<'_> {
    fn drop(&mut self) {
        for hand in &mut self.workers {
            // If the trial was aborted, the workers are still running.
            let _ = hand.child.kill();
            let _ = hand.child.wait();
        }
    }
}
