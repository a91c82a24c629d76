//! The trial itself: makes the cases, asks every system, prints the report, says whether the promises held.

use std::io::{self, Write};

use clap::Args;
use countersign_core::json::RepairLevel;
use countersign_core::reply::Intake;
use serde_json::Value;
use thiserror::Error;

use super::case::Case;
use super::judge::{Court, NoContract, Outcome, Panicked};
use super::peers;
use super::report::{self, Fault, Misdeed, Row};
use super::tally::Tally;

/// How many wrong acceptances at guess are printed.
const HANDFUL: usize = 5;

/// How many decoys and panics are printed.
const PAGE: usize = 50;

/// What the command line says.
#[derive(Debug, Clone, Args)]
pub(crate) struct Settings {
    /// How many cases.
    #[arg(long, default_value_t = 20_000)]
    pub(crate) cases: u64,
    /// The seed; the same seed gives the same cases.
    #[arg(long, default_value_t = 20_261_115)]
    pub(crate) seed: u64,
    /// Also run the peers, installing them under `target/trials` first.
    #[arg(long)]
    pub(crate) peers: bool,
}

/// Why the trial could not be held.
#[derive(Debug, Error)]
pub(crate) enum TrialError {
    /// A contract is missing.
    #[error(transparent)]
    Contract(#[from] NoContract),
    /// The report could not be written.
    #[error("the report could not be written: {0}")]
    Report(#[from] io::Error),
}

/// How Countersign fared at one level.
#[derive(Debug)]
pub(crate) struct AtLevel {
    pub(crate) level: RepairLevel,
    pub(crate) tally: Tally,
    pub(crate) faults: Vec<Fault>,
}

/// Holds the trial; true where nothing was wrong at the default level and no decoy was taken at any.
pub(crate) fn run(settings: &Settings, out: &mut dyn Write) -> Result<bool, TrialError> {
    let court = Court::open()?;
    let cases: Vec<Case> =
        (0..settings.cases).map(|number| Case::make(settings.seed, number)).collect();
    let sizes: Vec<usize> = cases.iter().map(|case| case.text.len()).collect();
    writeln!(
        out,
        "{} cases, seed {}, texts of {} to {} bytes\n",
        cases.len(),
        settings.seed,
        sizes.iter().min().unwrap_or(&0),
        sizes.iter().max().unwrap_or(&0)
    )?;
    let levels = RepairLevel::ALL.map(|level| at_level(&court, &cases, level));
    let mut rows: Vec<Row> = levels
        .iter()
        .map(|one| Row {
            system: format!("countersign {}", one.level.as_str()),
            tally: Ok(one.tally.clone()),
        })
        .collect();
    if settings.peers {
        rows.extend(
            peers::run(&cases).into_iter().flat_map(|peer| peer_rows(&court, &cases, peer)),
        );
    }
    report::systems(out, &rows)?;
    for one in levels.iter().filter(|one| one.level == Intake::Tolerant.default_repairs()) {
        let level = one.level.as_str();
        report::labels(out, &format!("corruption, at {level}"), &one.tally.by_corruption, false)?;
        report::labels(out, &format!("decoy, at {level}"), &one.tally.by_decoy, true)?;
    }
    for one in &levels {
        let panics = one.faults.iter().filter(|fault| fault.misdeed == Misdeed::Panic).count();
        if panics > 0 {
            writeln!(out, "panics at {}: {panics}\n", one.level.as_str())?;
        }
        faults(out, one)?;
    }
    Ok(levels.iter().all(AtLevel::holds))
}

/// Asks Countersign at one level.
pub(crate) fn at_level(court: &Court, cases: &[Case], level: RepairLevel) -> AtLevel {
    let mut one = AtLevel { level, tally: Tally::default(), faults: Vec::new() };
    for case in cases {
        let misdeed = match court.admit(case, level) {
            Ok(accepted) => {
                let outcome = court.judge(case, accepted.as_ref());
                one.tally.add(case, outcome);
                match outcome {
                    Outcome::Decoy => Some(Misdeed::Decoy),
                    Outcome::Wrong => accepted.map(Misdeed::Wrong),
                    Outcome::Right | Outcome::Refused => None,
                }
            }
            Err(Panicked) => Some(Misdeed::Panic),
        };
        if let Some(misdeed) = misdeed {
            one.faults.push(Fault { level: level.as_str(), misdeed, case: case.clone() });
        }
    }
    one
}

impl AtLevel {
    /// Whether this level keeps what is promised of it.
    pub(crate) fn holds(&self) -> bool {
        let may_err = self.level > Intake::Tolerant.default_repairs();
        self.faults.iter().all(|fault| may_err && matches!(fault.misdeed, Misdeed::Wrong(_)))
    }
}

/// A peer as it is, and followed by the contract.
fn peer_rows(court: &Court, cases: &[Case], peer: peers::Peer) -> Vec<Row> {
    let name = peer.name;
    let answers = match peer.answers {
        Ok(answers) => answers,
        Err(reason) => return vec![Row { system: name, tally: Err(reason) }],
    };
    let tally = |accept: &dyn Fn(&Case, &Value) -> Option<Value>| {
        let mut tally = Tally::default();
        for (case, answer) in cases.iter().zip(&answers) {
            let accepted = answer.as_ref().and_then(|value| accept(case, value));
            tally.add(case, court.judge(case, accepted.as_ref()));
        }
        tally
    };
    let alone = tally(&|_, value| Some(value.clone()));
    let validated = tally(&|case, value| court.validated(case, value));
    vec![
        Row { system: format!("{name}, alone"), tally: Ok(alone) },
        Row { system: format!("{name}, then the contract"), tally: Ok(validated) },
    ]
}

/// Every wrong acceptance below guess and a handful at guess; of decoys and panics a page.
fn faults(out: &mut dyn Write, one: &AtLevel) -> io::Result<()> {
    let wrong = |fault: &&Fault| matches!(fault.misdeed, Misdeed::Wrong(_));
    let (wrong, mut grave): (Vec<&Fault>, Vec<&Fault>) = one.faults.iter().partition(wrong);
    grave.sort_by_key(|fault| fault.misdeed != Misdeed::Panic);
    let shown = if one.level == RepairLevel::Guess { HANDFUL } else { wrong.len() };
    for fault in grave.iter().take(PAGE).chain(wrong.iter().take(shown)) {
        report::fault(out, fault)?;
    }
    let hidden = grave.len().saturating_sub(PAGE) + wrong.len().saturating_sub(shown);
    if hidden > 0 {
        writeln!(out, "and {hidden} more at {}", one.level.as_str())?;
    }
    Ok(())
}
