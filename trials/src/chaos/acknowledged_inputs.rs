//! Simulates users: they start runs and answer questions, each under an idempotency key, and retry
//! until the input is acknowledged.

use std::collections::BTreeMap;
use std::io;
use std::process::Stdio;

use super::chaos_workspace::{ChaosWorkspace, INTAKE_ANSWERS, OUTLINE_CHOICE, RUN_KINDS};
use super::store_tables::StoreTables;

/// The acknowledged inputs, as pairs of run and key.
#[derive(Debug, Default)]
pub(super) struct AcknowledgedInputs {
    pub(super) keys: Vec<(String, String)>,
    pub(super) started_runs: BTreeMap<String, &'static str>,
    /// The number of inputs that had to be retried.
    pub(super) refused: usize,
}

impl AcknowledgedInputs {
    /// Starts a run and retries until it is acknowledged.
    pub(super) fn start_run(&mut self, site: &ChaosWorkspace, number: usize) -> io::Result<()> {
        let (kind, arguments) = RUN_KINDS[number % RUN_KINDS.len()];
        let key = format!("{number:05}");
        let arguments = [arguments, &["--json", "--idempotency-key", &key]].concat();
        for _ in 0..MAX_START_ATTEMPTS {
            if run_command(site, &arguments)? {
                self.started_runs.insert(format!("key-{key}"), kind);
                self.keys.push((format!("key-{key}"), key));
                return Ok(());
            }
            self.refused += 1;
        }
        Err(io::Error::other(format!("run {key} could not be started")))
    }

    /// Answers some of the open questions and approvals, once each, and resumes parked runs.
    pub(super) fn answer_waits(
        &mut self,
        site: &ChaosWorkspace,
        ledger: &StoreTables,
    ) -> io::Result<()> {
        for run in ledger.load_parked()? {
            // As long as the third worker may still be alive, the resume is refused and retried
            // later.
            run_command(site, &["resume", &run, "--json"])?;
        }
        for row in ledger.load_waits()?.into_iter().take(ANSWERS_PER_ROUND) {
            let address = format!("{}/{}", row.run, row.wait);
            // An intake asks for three answers; its document run asks which outline, and then for
            // an approval of it.
            let is_child = row.run.contains('.');
            let answer = match INTAKE_ANSWERS.get(row.answered) {
                _ if is_child => OUTLINE_CHOICE,
                Some(answer) => answer,
                None => "Yes.",
            };
            let decision: &[&str] = if row.is_approval {
                &["approve", &address]
            } else {
                &["answer", &address, answer]
            };
            let arguments = [decision, &["--idempotency-key", &address, "--json"]].concat();
            if run_command(site, &arguments)? {
                self.keys.push((row.run, address));
            } else {
                // Retried when the list is read again; by then the question may be closed.
                self.refused += 1;
            }
        }
        Ok(())
    }
}

/// The number of waits to answer in one round.
const ANSWERS_PER_ROUND: usize = 4;

/// How many times to try to start a run.
const MAX_START_ATTEMPTS: usize = 50;

fn run_command(site: &ChaosWorkspace, arguments: &[&str]) -> io::Result<bool> {
    let mut command = site.build_command(arguments);
    Ok(command.stdout(Stdio::null()).stderr(Stdio::null()).status()?.success())
}
