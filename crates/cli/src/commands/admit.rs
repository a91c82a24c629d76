//! `countersign admit CONTRACT [FILE]`

use countersign_core::contract::Contract;
use countersign_core::json::RepairLevel;
use countersign_core::reply::{Context, Finish, Intake, Terms, Verdict, reask};
use countersign_server::wire::Admission;
use serde_json::json;

use crate::args::{Admit, FinishName, IntakeName, RepairsName};
use crate::exit::{Error, Exit};
use crate::{files, output, show};

pub(super) fn run(args: &Admit, json: bool) -> Result<Exit, Error> {
    let contract = files::contract(&args.contract, args.contracts.as_deref())?;
    let terms = terms(&contract, args);
    let state = args.state.as_deref().map(files::value).transpose()?;
    let run = args.run.as_deref().map(files::value).transpose()?;
    let context = Context { state: state.as_ref(), run: run.as_ref(), new: None };
    let (name, reply) = files::reply(args.file.as_deref())?;

    let verdict = contract.admit_bytes(&reply, terms, &context);
    let unchecked = contract.unchecked(&context);
    if json {
        output::json(&json!(Admission::of(&contract, &verdict, &unchecked, args.reask)));
    } else if args.reask {
        if let Verdict::Refused(violations) = &verdict {
            output::data(&reask(&contract, violations));
        }
    } else {
        match &verdict {
            Verdict::Accepted(accepted) => {
                show::accepted(&contract, accepted, &unchecked);
                output::json(accepted.value());
            }
            Verdict::Refused(violations) => {
                show::refused(&contract, violations, (&name, &reply), &unchecked);
            }
        }
    }
    Ok(if verdict.accepted().is_some() { Exit::Good } else { Exit::Refused })
}

/// The contract's terms, but for what the command line says.
fn terms(contract: &Contract, args: &Admit) -> Terms {
    let finish = match args.finish {
        FinishName::Stop => Finish::Stop,
        FinishName::Length => Finish::Length,
    };
    let mut terms = contract.terms(finish);
    if let Some(intake) = args.intake {
        terms.intake = match intake {
            IntakeName::Strict => Intake::Strict,
            IntakeName::Fenced => Intake::Fenced,
            IntakeName::Tolerant => Intake::Tolerant,
        };
        terms.repairs = terms.intake.default_repairs();
    }
    if let Some(repairs) = args.repairs {
        terms.repairs = match repairs {
            RepairsName::None => RepairLevel::None,
            RepairsName::Lossless => RepairLevel::Lossless,
            RepairsName::Syntactic => RepairLevel::Syntactic,
            RepairsName::Guess => RepairLevel::Guess,
        };
    }
    terms
}
