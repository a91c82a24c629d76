//! What must be true when the dust has settled. Tells every fault it finds.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;

use countersign_core::run::{State, fold};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::ledger::{Entry, Ledger, Row};
use super::people::Acknowledged;
use super::site::Site;

/// What was looked at, and what is wrong.
#[derive(Debug, Default)]
pub(super) struct Checked {
    pub(super) runs: usize,
    pub(super) versions: usize,
    pub(super) events: i64,
    pub(super) results: usize,
    pub(super) snapshots: usize,
    /// Orders to a program, and how often they were carried out.
    pub(super) orders: usize,
    pub(super) marks: usize,
    pub(super) faults: Vec<String>,
}

/// Inputs that bring what came of an order, which a run may take once.
const RESULTS: [&str; 8] = [
    "model_replied",
    "model_failed",
    "effect_finished",
    "effect_failed",
    "tool_finished",
    "hook_finished",
    "child_ended",
    "told",
];

/// Reads everything.
pub(super) fn check(
    site: &Site,
    ledger: &Ledger,
    told: &Acknowledged,
    killed: usize,
) -> io::Result<Checked> {
    let mut checked = Checked::default();
    let (runs, logs) = (ledger.runs()?, ledger.logs()?);
    checked.runs = runs.len();
    let mut ordered = BTreeSet::new();
    let mut folded: BTreeMap<(String, i64), State> = BTreeMap::new();
    let snapshots = ledger.snapshots()?;
    let wanted: BTreeSet<(String, i64)> =
        snapshots.iter().map(|(run, version, _)| (run.clone(), *version)).collect();
    for row in &runs {
        let none = Vec::new();
        let log = logs.get(&row.id).unwrap_or(&none);
        checked.versions += log.len();
        checked.events += row.seq;
        checked.chain(row, log);
        let mut state = State::blank(&row.id);
        for entry in log {
            if let Err(fault) = fold(&mut state, &entry.body) {
                checked
                    .fault(&row.id, &format!("version {} does not fold: {fault}", entry.version));
                break;
            }
            let at = (row.id.clone(), entry.version);
            if wanted.contains(&at) {
                folded.insert(at, state.clone());
            }
        }
        checked.standing(row, &state);
        checked.once(row, log, &mut ordered);
    }
    for run in logs.keys().filter(|run| runs.iter().all(|row| row.id != **run)) {
        checked.fault(run, "it has a log and is no run");
    }
    for (run, version, body) in snapshots {
        checked.snapshots += 1;
        let kept: Value = serde_json::from_str(&body)?;
        let state = folded.get(&(run.clone(), version)).map(serde_json::to_value).transpose()?;
        if state.as_ref() != Some(&kept["state"]) {
            checked.fault(&run, &format!("its snapshot of version {version} is not the fold"));
        }
    }
    checked.acknowledged(ledger, told, &runs)?;
    checked.marks(site, &ordered);
    let (waits, workers) = ledger.left_over()?;
    if waits != 0 {
        checked.faults.push(format!("{waits} waits are open"));
    }
    // Whoever was killed could not say goodbye.
    if workers != killed as i64 {
        checked.faults.push(format!("{workers} workers are on the list, and {killed} were killed"));
    }
    Ok(checked)
}

impl Checked {
    fn fault(&mut self, run: &str, what: &str) {
        self.faults.push(format!("{run}: {what}"));
    }

    /// No gap, no fork, and every hash follows from the one before.
    fn chain(&mut self, row: &Row, log: &[Entry]) {
        let (mut hash, mut last) = ("0".repeat(64), 0);
        for (index, entry) in log.iter().enumerate() {
            if entry.version != index as i64 + 1 || entry.first != last + 1 {
                let found = (entry.version, entry.first);
                return self.fault(&row.id, &format!("a gap or a fork at {found:?}"));
            }
            hash = hex(&Sha256::digest(format!("{hash}\n{}", entry.body)));
            if hash != entry.hash {
                return self.fault(&row.id, &format!("the hash of version {}", entry.version));
            }
            last = entry.last;
        }
        if (log.len() as i64, last, &hash) != (row.version, row.seq, &row.hash) {
            self.fault(&row.id, "the end of its log is not where it stands");
        }
    }

    /// The row says what the fold says, and the run is over.
    fn standing(&mut self, row: &Row, state: &State) {
        let (status, phase) = (state.status().as_str(), state.phase.as_str());
        if (status, phase) != (row.status.as_str(), row.phase.as_str()) {
            self.fault(
                &row.id,
                &format!(
                    "its row says {} in {}, the fold {status} in {phase}",
                    row.status, row.phase
                ),
            );
        }
        if row.status != "completed" {
            self.fault(&row.id, &format!("it did not come to its end: {}", row.status));
        }
        if row.due || row.orders != 0 || !state.pending.is_empty() {
            self.fault(&row.id, "it has ended and something is to be done for it");
        }
        if let Some(worker) = &row.held_by {
            self.fault(&row.id, &format!("{worker} holds it"));
        }
    }

    /// Nothing came twice of one order. Gathers orders to programs.
    fn once(&mut self, row: &Row, log: &[Entry], ordered: &mut BTreeSet<String>) {
        let mut seen = BTreeSet::new();
        for entry in log {
            let Ok(body) = serde_json::from_str::<Value>(&entry.body) else {
                return self.fault(&row.id, &format!("version {} is no JSON", entry.version));
            };
            for event in body["events"].as_array().into_iter().flatten() {
                let what = &event["input"]["what"];
                let result = what["input"].as_str().filter(|kind| RESULTS.contains(kind));
                if let (Some(_), Some(action)) = (result, what["action"].as_str()) {
                    self.results += 1;
                    if !seen.insert(action.to_owned()) {
                        self.fault(&row.id, &format!("order {action} came to something twice"));
                    }
                }
                if event["event"] == "effect_asked" && event["effect"]["effect"] == "run" {
                    let action = event["action"].as_str().unwrap_or_default();
                    ordered.insert(format!("{}/{action}", row.id));
                }
            }
        }
    }

    /// What was acknowledged is there, under one version.
    fn acknowledged(
        &mut self,
        ledger: &Ledger,
        told: &Acknowledged,
        runs: &[Row],
    ) -> io::Result<()> {
        let keys: BTreeSet<(String, String)> =
            ledger.keys()?.into_iter().map(|(run, key, _)| (run, key)).collect();
        for (run, key) in &told.keys {
            if !keys.contains(&(run.clone(), key.clone())) {
                self.fault(run, &format!("`{key}` was acknowledged and is lost"));
            }
        }
        for run in told.begun.keys().filter(|run| runs.iter().all(|row| row.id != **run)) {
            self.fault(run, "it was acknowledged and is lost");
        }
        Ok(())
    }

    /// Every order to a program was carried out, and nothing that was not ordered.
    fn marks(&mut self, site: &Site, ordered: &BTreeSet<String>) {
        let marks = fs::read_to_string(site.path().join("ids.txt")).unwrap_or_default();
        self.marks = marks.lines().count();
        self.orders = ordered.len();
        let carried_out: BTreeSet<String> = marks.lines().map(str::to_owned).collect();
        for id in ordered.symmetric_difference(&carried_out) {
            self.fault(id, "ordered and not carried out, or the other way round");
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        text.push_str(&format!("{byte:02x}"));
    }
    text
}
