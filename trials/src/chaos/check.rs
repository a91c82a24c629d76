//! Checks the invariants after all runs have ended, and reports every violation.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;

use countersign_run::{RunState, fold_entry};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::acknowledged_inputs::AcknowledgedInputs;
use super::chaos_workspace::ChaosWorkspace;
use super::store_tables::{ChaosLogEntry, ChaosRunRow, StoreTables};

/// What was checked, and the faults found.
#[derive(Debug, Default)]
pub(super) struct ChaosReport {
    pub(super) runs: usize,
    pub(super) versions: usize,
    pub(super) events: i64,
    pub(super) results: usize,
    pub(super) snapshots: usize,
    /// The number of program actions; `executions` counts how many times they were executed.
    pub(super) actions: usize,
    pub(super) executions: usize,
    pub(super) faults: Vec<String>,
}

/// The kinds of inputs that report the result of an action; a run accepts one per action.
const RESULT_INPUTS: [&str; 10] = [
    "model_replied",
    "model_failed",
    "effect_finished",
    "effect_failed",
    "tool_finished",
    "hook_finished",
    "child_ended",
    "notified",
    "delivery_finished",
    "delivery_failed",
];

/// Reads and checks all tables.
pub(super) fn check_tables(
    site: &ChaosWorkspace,
    ledger: &StoreTables,
    acknowledged: &AcknowledgedInputs,
    killed: usize,
) -> io::Result<ChaosReport> {
    let mut checked = ChaosReport::default();
    let (runs, logs) = (ledger.load_runs()?, ledger.load_logs()?);
    checked.runs = runs.len();
    let mut ordered = BTreeSet::new();
    let mut folded: BTreeMap<(String, i64), RunState> = BTreeMap::new();
    let snapshots = ledger.load_snapshots()?;
    let wanted: BTreeSet<(String, i64)> =
        snapshots.iter().map(|(run, version, _)| (run.clone(), *version)).collect();
    for row in &runs {
        let none = Vec::new();
        let log = logs.get(&row.id).unwrap_or(&none);
        checked.versions += log.len();
        checked.events += row.seq;
        checked.check_chain(row, log);
        let mut state = RunState::new(&row.id);
        for entry in log {
            if let Err(fault) = fold_entry(&mut state, &entry.body) {
                checked.add_fault(
                    &row.id,
                    &format!("version {} cannot be applied: {fault}", entry.version),
                );
                break;
            }
            let at = (row.id.clone(), entry.version);
            if wanted.contains(&at) {
                folded.insert(at, state.clone());
            }
        }
        checked.check_run_row(row, &state);
        checked.check_single_results(row, log, &mut ordered);
    }
    for run in logs.keys().filter(|run| runs.iter().all(|row| row.id != **run)) {
        checked.add_fault(run, "it has a log but no run row");
    }
    for (run, version, body) in snapshots {
        checked.snapshots += 1;
        let kept: Value = serde_json::from_str(&body)?;
        let state = folded.get(&(run.clone(), version)).map(serde_json::to_value).transpose()?;
        if state.as_ref() != Some(&kept["state"]) {
            checked.add_fault(&run, &format!("its snapshot of version {version} differs from the state that the events produce"));
        }
    }
    checked.check_acknowledged(ledger, acknowledged, &runs)?;
    checked.check_executions(site, &ordered);
    let (waits, workers) = ledger.count_leftovers()?;
    if waits != 0 {
        checked.faults.push(format!("{waits} waits are open"));
    }
    // A killed worker could not unregister.
    if workers != killed as i64 {
        checked.faults.push(format!("{workers} workers are registered, but {killed} were killed"));
    }
    Ok(checked)
}

impl ChaosReport {
    fn add_fault(&mut self, run: &str, what: &str) {
        self.faults.push(format!("{run}: {what}"));
    }

    /// Checks that the log has no gap and no fork, and that every hash follows from the previous
    /// one.
    fn check_chain(&mut self, row: &ChaosRunRow, log: &[ChaosLogEntry]) {
        let (mut hash, mut last) = ("0".repeat(64), 0);
        for (index, entry) in log.iter().enumerate() {
            if entry.version != index as i64 + 1 || entry.first != last + 1 {
                let found = (entry.version, entry.first);
                return self.add_fault(&row.id, &format!("gap or fork in the log at {found:?}"));
            }
            hash = to_hex(&Sha256::digest(format!("{hash}\n{}", entry.body)));
            if hash != entry.hash {
                return self
                    .add_fault(&row.id, &format!("wrong hash of version {}", entry.version));
            }
            last = entry.last;
        }
        if (log.len() as i64, last, &hash) != (row.version, row.seq, &row.hash) {
            self.add_fault(&row.id, "the end of its log differs from its row");
        }
    }

    /// Checks that the row of the run agrees with the fold of its events, and that the run has
    /// ended.
    fn check_run_row(&mut self, row: &ChaosRunRow, state: &RunState) {
        let (status, phase) = (state.status().as_str(), state.phase.as_str());
        if (status, phase) != (row.status.as_str(), row.phase.as_str()) {
            self.add_fault(
                &row.id,
                &format!(
                    "its row says {} in {}, but its log says {status} in {phase}",
                    row.status, row.phase
                ),
            );
        }
        if row.status != "completed" {
            self.add_fault(&row.id, &format!("it did not complete: {}", row.status));
        }
        if row.due || row.pending_actions != 0 || !state.pending.is_empty() {
            self.add_fault(&row.id, "it has ended but still has work to do");
        }
        if let Some(worker) = &row.lease_worker {
            self.add_fault(&row.id, &format!("{worker} still holds its lease"));
        }
    }

    /// Checks that no action has two results, and collects the actions that run programs.
    fn check_single_results(
        &mut self,
        row: &ChaosRunRow,
        log: &[ChaosLogEntry],
        ordered: &mut BTreeSet<String>,
    ) {
        let mut seen = BTreeSet::new();
        for entry in log {
            let Ok(body) = serde_json::from_str::<Value>(&entry.body) else {
                return self
                    .add_fault(&row.id, &format!("version {} is not valid JSON", entry.version));
            };
            for event in body["events"].as_array().into_iter().flatten() {
                let what = &event["input"]["payload"];
                let result = what["kind"].as_str().filter(|kind| RESULT_INPUTS.contains(kind));
                if let (Some(_), Some(action)) = (result, what["action"].as_str()) {
                    self.results += 1;
                    if !seen.insert(action.to_owned()) {
                        self.add_fault(&row.id, &format!("action {action} has two results"));
                    }
                }
                if event["event"] == "effect_requested" && event["effect"]["effect"] == "run" {
                    let action = event["action"].as_str().unwrap_or_default();
                    ordered.insert(format!("{}/{action}", row.id));
                }
            }
        }
    }

    /// Checks that every acknowledged input is stored under exactly one version.
    fn check_acknowledged(
        &mut self,
        ledger: &StoreTables,
        acknowledged: &AcknowledgedInputs,
        runs: &[ChaosRunRow],
    ) -> io::Result<()> {
        let keys: BTreeSet<(String, String)> =
            ledger.load_keys()?.into_iter().map(|(run, key, _)| (run, key)).collect();
        for (run, key) in &acknowledged.keys {
            if !keys.contains(&(run.clone(), key.clone())) {
                self.add_fault(run, &format!("`{key}` was acknowledged but is lost"));
            }
        }
        for run in
            acknowledged.started_runs.keys().filter(|run| runs.iter().all(|row| row.id != **run))
        {
            self.add_fault(run, "it was acknowledged but is lost");
        }
        Ok(())
    }

    /// Checks that every program action was executed, and that nothing else was.
    fn check_executions(&mut self, site: &ChaosWorkspace, ordered: &BTreeSet<String>) {
        let marks = fs::read_to_string(site.path().join("ids.txt")).unwrap_or_default();
        self.executions = marks.lines().count();
        self.actions = ordered.len();
        let carried_out: BTreeSet<String> = marks.lines().map(str::to_owned).collect();
        for id in ordered.symmetric_difference(&carried_out) {
            self.add_fault(id, "requested but not executed, or executed but not requested");
        }
    }
}

fn to_hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        text.push_str(&format!("{byte:02x}"));
    }
    text
}
