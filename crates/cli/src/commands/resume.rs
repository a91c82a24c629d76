//! `countersign resume RUN [--grant BUDGET=AMOUNT]`: continues a halted run and optionally raises a
//! budget.

use std::collections::BTreeMap;

use countersign_protocol::parse_duration;
use countersign_run::InputKind;

use super::after_input;
use crate::args::ResumeArgs;
use crate::exit::{CliError, CliExit};

pub(super) fn run(args: &ResumeArgs, json: bool) -> Result<CliExit, CliError> {
    let grants: BTreeMap<String, u64> =
        args.grants.iter().map(|grant| parse_grant(grant)).collect::<Result<_, _>>()?;
    after_input::submit_and_report(&args.target, |by| InputKind::Resumed { by, grants }, json)
}

/// Parses `tokens=10000`, `money=0.5` or `wall_time=10m`; amounts have the syntax of protocol
/// files.
fn parse_grant(grant: &str) -> Result<(String, u64), CliError> {
    let wrong = |why: &str| {
        CliError::Usage(format!(
            "invalid grant `{grant}`: {why}; expected BUDGET=AMOUNT, such as `tokens=10000`"
        ))
    };
    let (name, amount) = grant.split_once('=').ok_or_else(|| wrong("it has no `=`"))?;
    let plain = name.split('@').next().unwrap_or(name);
    let amount = match plain {
        "wall_time" => parse_duration(amount).map(|duration| duration.millis.unsigned_abs()),
        "money" => {
            amount.parse::<f64>().ok().filter(|sum| *sum > 0.0).map(|sum| (sum * 1e6) as u64)
        }
        _ => amount.parse().ok(),
    };
    Ok((name.to_owned(), amount.ok_or_else(|| wrong("the amount is invalid"))?))
}
