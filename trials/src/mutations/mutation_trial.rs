//! Runs the trial: generates the cases, evaluates every system, prints the report, and returns
//! whether the guarantees hold.

use std::io::{self, Write};

use clap::Args;
use countersign_contract::json::RepairLevel;
use countersign_contract::reply::IntakeMode;
use serde_json::Value;
use thiserror::Error;

use super::case::MutationCase;
use super::judge::{AdmissionPanic, CaseJudge, CaseOutcome, MissingContract};
use super::mutation_report::{self, CaseFailure, CaseFailureKind, SystemRow};
use super::mutation_tally::MutationTally;
use super::peers;

/// The maximum number of wrong acceptances to print for the repair level `guess`.
const MAX_GUESS_FAILURES: usize = 5;

/// The maximum number of accepted decoys and panics to print.
const MAX_SEVERE_FAILURES: usize = 50;

/// The command-line arguments of the trial.
#[derive(Debug, Clone, Args)]
pub(crate) struct MutationTrialArgs {
    /// The number of cases.
    #[arg(long, default_value_t = 20_000)]
    pub(crate) cases: u64,
    /// The seed; the same seed generates the same cases.
    #[arg(long, default_value_t = 20_261_115)]
    pub(crate) seed: u64,
    /// Also run the peers; installs them under `target/trials` first.
    #[arg(long)]
    pub(crate) peers: bool,
}

/// Why the trial could not run.
#[derive(Debug, Error)]
pub(crate) enum MutationTrialError {
    /// A shipped contract is missing.
    #[error(transparent)]
    Contract(#[from] MissingContract),
    /// The report could not be written.
    #[error("the report could not be written: {0}")]
    Report(#[from] io::Error),
}

/// The results of Countersign at one repair level.
#[derive(Debug)]
pub(crate) struct LevelResult {
    pub(crate) level: RepairLevel,
    pub(crate) tally: MutationTally,
    pub(crate) faults: Vec<CaseFailure>,
}

/// Runs the trial; returns `true` if nothing was wrong at the default level and no decoy was
/// accepted at any level.
pub(crate) fn run(
    settings: &MutationTrialArgs,
    out: &mut dyn Write,
) -> Result<bool, MutationTrialError> {
    let court = CaseJudge::load()?;
    let cases: Vec<MutationCase> =
        (0..settings.cases).map(|number| MutationCase::generate(settings.seed, number)).collect();
    let sizes: Vec<usize> = cases.iter().map(|case| case.text.len()).collect();
    writeln!(
        out,
        "{} cases, seed {}, texts of {} to {} bytes\n",
        cases.len(),
        settings.seed,
        sizes.iter().min().unwrap_or(&0),
        sizes.iter().max().unwrap_or(&0)
    )?;
    let levels = RepairLevel::ALL.map(|level| run_at_level(&court, &cases, level));
    let mut rows: Vec<SystemRow> = levels
        .iter()
        .map(|one| SystemRow {
            system: format!("countersign {}", one.level.as_str()),
            tally: Ok(one.tally.clone()),
        })
        .collect();
    if settings.peers {
        rows.extend(
            peers::run_peers(&cases)
                .into_iter()
                .flat_map(|peer| build_peer_rows(&court, &cases, peer)),
        );
    }
    mutation_report::write_systems(out, &rows)?;
    for one in levels.iter().filter(|one| one.level == IntakeMode::Tolerant.default_repairs()) {
        let level = one.level.as_str();
        mutation_report::write_labels(
            out,
            &format!("corruption, at {level}"),
            &one.tally.by_corruption,
            false,
        )?;
        mutation_report::write_labels(
            out,
            &format!("decoy, at {level}"),
            &one.tally.by_decoy,
            true,
        )?;
    }
    for one in &levels {
        let panics = one.faults.iter().filter(|fault| fault.kind == CaseFailureKind::Panic).count();
        if panics > 0 {
            writeln!(out, "panics at {}: {panics}\n", one.level.as_str())?;
        }
        write_failures(out, one)?;
    }
    Ok(levels.iter().all(LevelResult::keeps_promise))
}

/// Evaluates Countersign at one repair level.
pub(crate) fn run_at_level(
    court: &CaseJudge,
    cases: &[MutationCase],
    level: RepairLevel,
) -> LevelResult {
    let mut one = LevelResult { level, tally: MutationTally::default(), faults: Vec::new() };
    for case in cases {
        let misdeed = match court.admit_case(case, level) {
            Ok(accepted) => {
                let outcome = court.judge_outcome(case, accepted.as_ref());
                one.tally.add(case, outcome);
                match outcome {
                    CaseOutcome::Decoy => Some(CaseFailureKind::Decoy),
                    CaseOutcome::Wrong => accepted.map(CaseFailureKind::Wrong),
                    CaseOutcome::Right | CaseOutcome::Refused => None,
                }
            }
            Err(AdmissionPanic) => Some(CaseFailureKind::Panic),
        };
        if let Some(misdeed) = misdeed {
            one.faults.push(CaseFailure {
                level: level.as_str(),
                kind: misdeed,
                case: case.clone(),
            });
        }
    }
    one
}

impl LevelResult {
    /// Returns whether this level keeps its guarantee.
    pub(crate) fn keeps_promise(&self) -> bool {
        let may_err = self.level > IntakeMode::Tolerant.default_repairs();
        self.faults.iter().all(|fault| may_err && matches!(fault.kind, CaseFailureKind::Wrong(_)))
    }
}

/// Builds two rows for a peer: alone, and followed by the contract.
fn build_peer_rows(
    court: &CaseJudge,
    cases: &[MutationCase],
    peer: peers::PeerResult,
) -> Vec<SystemRow> {
    let name = peer.name;
    let answers = match peer.answers {
        Ok(answers) => answers,
        Err(reason) => return vec![SystemRow { system: name, tally: Err(reason) }],
    };
    let tally = |accept: &dyn Fn(&MutationCase, &Value) -> Option<Value>| {
        let mut tally = MutationTally::default();
        for (case, answer) in cases.iter().zip(&answers) {
            let accepted = answer.as_ref().and_then(|value| accept(case, value));
            tally.add(case, court.judge_outcome(case, accepted.as_ref()));
        }
        tally
    };
    let alone = tally(&|_, value| Some(value.clone()));
    let validated = tally(&|case, value| court.validate_value(case, value));
    vec![
        SystemRow { system: format!("{name}, alone"), tally: Ok(alone) },
        SystemRow { system: format!("{name}, then the contract"), tally: Ok(validated) },
    ]
}

/// Writes every wrong acceptance below `guess`, a few at `guess`, and up to a page of decoys and
/// panics.
fn write_failures(out: &mut dyn Write, one: &LevelResult) -> io::Result<()> {
    let wrong = |fault: &&CaseFailure| matches!(fault.kind, CaseFailureKind::Wrong(_));
    let (wrong, mut grave): (Vec<&CaseFailure>, Vec<&CaseFailure>) =
        one.faults.iter().partition(wrong);
    grave.sort_by_key(|fault| fault.kind != CaseFailureKind::Panic);
    let shown = if one.level == RepairLevel::Guess { MAX_GUESS_FAILURES } else { wrong.len() };
    for fault in grave.iter().take(MAX_SEVERE_FAILURES).chain(wrong.iter().take(shown)) {
        mutation_report::write_failure(out, fault)?;
    }
    let hidden =
        grave.len().saturating_sub(MAX_SEVERE_FAILURES) + wrong.len().saturating_sub(shown);
    if hidden > 0 {
        writeln!(out, "and {hidden} more at {}", one.level.as_str())?;
    }
    Ok(())
}
