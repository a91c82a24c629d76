//! `countersign admit CONTRACT [FILE]`: checks a reply against a contract.

use countersign_contract::contract::Contract;
use countersign_contract::json::RepairLevel;
use countersign_contract::reply::{
    AdmissionOptions, AdmissionVerdict, FinishReason, IntakeMode, RuleContext, render_reask,
};
use countersign_view::wire::AdmissionView;
use serde_json::json;

use crate::args::{AdmitArgs, FinishReasonArg, IntakeArg, RepairLevelArg};
use crate::exit::{CliError, CliExit};
use crate::{files, output, render};

pub(super) fn run(args: &AdmitArgs, json: bool) -> Result<CliExit, CliError> {
    let contract = files::load_contract(&args.contract, args.contracts.as_deref())?;
    let terms = build_terms(&contract, args);
    let state = args.state.as_deref().map(files::read_json).transpose()?;
    let run = args.run.as_deref().map(files::read_json).transpose()?;
    let context = RuleContext { state: state.as_ref(), run: run.as_ref(), new: None };
    let (name, reply) = files::read_reply(args.file.as_deref())?;

    let verdict = contract.admit_bytes(&reply, terms, &context);
    let unchecked = contract.list_unchecked_rules(&context);
    if json {
        output::print_json(&json!(AdmissionView::from_verdict(
            &contract, &verdict, &unchecked, args.reask
        )));
    } else if args.reask {
        if let AdmissionVerdict::Refused(violations) = &verdict {
            output::print_data(&render_reask(&contract, violations));
        }
    } else {
        match &verdict {
            AdmissionVerdict::Accepted(accepted) => {
                render::print_accepted(&contract, accepted, &unchecked);
                output::print_json(accepted.value());
            }
            AdmissionVerdict::Refused(violations) => {
                render::print_refused(&contract, violations, (&name, &reply), &unchecked);
            }
        }
    }
    Ok(if verdict.as_accepted().is_some() { CliExit::Success } else { CliExit::Refused })
}

/// Returns the contract's admission options, overridden by the command line.
fn build_terms(contract: &Contract, args: &AdmitArgs) -> AdmissionOptions {
    let finish = match args.finish {
        FinishReasonArg::Stop => FinishReason::Stop,
        FinishReasonArg::Length => FinishReason::Length,
    };
    let mut terms = contract.admission_options(finish);
    if let Some(intake) = args.intake {
        terms.intake = match intake {
            IntakeArg::Strict => IntakeMode::Strict,
            IntakeArg::Fenced => IntakeMode::Fenced,
            IntakeArg::Tolerant => IntakeMode::Tolerant,
        };
        terms.repairs = terms.intake.default_repairs();
    }
    if let Some(repairs) = args.repairs {
        terms.repairs = match repairs {
            RepairLevelArg::None => RepairLevel::None,
            RepairLevelArg::Lossless => RepairLevel::Lossless,
            RepairLevelArg::Syntactic => RepairLevel::Syntactic,
            RepairLevelArg::Guess => RepairLevel::Guess,
        };
    }
    terms
}
