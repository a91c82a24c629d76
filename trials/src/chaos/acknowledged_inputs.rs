//! People: they begin runs and answer questions, each under a key, until they are told that it is taken.

use std::collections::BTreeMap;
use std::io;
use std::process::Stdio;

use super::chaos_workspace::{ChaosWorkspace, INTAKE_ANSWERS, RUN_KINDS};
use super::store_tables::StoreTables;

/// What was acknowledged: for each run its keys.
#[derive(Debug, Default)]
pub(super) struct AcknowledgedInputs {
    pub(super) keys: Vec<(String, String)>,
    pub(super) started_runs: BTreeMap<String, &'static str>,
    /// How often somebody had to say it again.
    pub(super) refused: usize,
}

impl AcknowledgedInputs {
    /// Begins a run; tries again until that is acknowledged.
    pub(super) fn start_run(&mut self, site: &ChaosWorkspace, number: usize) -> io::Result<()> {
        let (kind, arguments) = RUN_KINDS[number % RUN_KINDS.len()];
        let key = format!("{number:05}");
        let arguments = [arguments, &["--json", "--key", &key]].concat();
        for _ in 0..MAX_START_ATTEMPTS {
            if run_command(site, &arguments)? {
                self.started_runs.insert(format!("key-{key}"), kind);
                self.keys.push((format!("key-{key}"), key));
                return Ok(());
            }
            self.refused += 1;
        }
        Err(io::Error::other(format!("run {key} could not be begun")))
    }

    /// Answers some of what is asked, once each, and lets runs go on that were parked.
    pub(super) fn answer_questions(
        &mut self,
        site: &ChaosWorkspace,
        ledger: &StoreTables,
    ) -> io::Result<()> {
        for run in ledger.load_parked()? {
            // Where the third worker may still live, that is refused, and said again.
            run_command(site, &["resume", &run, "--json"])?;
        }
        for (run, wait, answered) in ledger.load_questions()?.into_iter().take(ANSWERS_PER_ROUND) {
            let place = format!("{run}/{wait}");
            let said = INTAKE_ANSWERS.get(answered).copied().unwrap_or("Yes.");
            if run_command(site, &["answer", &place, said, "--key", &place, "--json"])? {
                self.keys.push((run, place));
            } else {
                // Asked again when the list is read again; by then it may be over.
                self.refused += 1;
            }
        }
        Ok(())
    }
}

/// How many questions are answered before somebody does something else.
const ANSWERS_PER_ROUND: usize = 4;

/// How often a beginning is tried.
const MAX_START_ATTEMPTS: usize = 50;

fn run_command(site: &ChaosWorkspace, arguments: &[&str]) -> io::Result<bool> {
    let mut command = site.build_command(arguments);
    Ok(command.stdout(Stdio::null()).stderr(Stdio::null()).status()?.success())
}
