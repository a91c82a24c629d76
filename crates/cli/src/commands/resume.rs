//! `countersign resume RUN [--grant BUDGET=AMOUNT]`: continues a halted run and optionally raises a
//! budget.

use std::collections::BTreeMap;
use std::sync::Arc;

use countersign_protocol::parse_duration;
use countersign_run::InputKind;
use countersign_runtime::run_observer::NoopRunObserver;

use super::after_input;
use crate::args::ResumeArgs;
use crate::context::{CliContext, block_on};
use crate::exit::{CliError, CliExit};

pub(super) fn run(args: &ResumeArgs, json: bool) -> Result<CliExit, CliError> {
    let grants = args.grants.iter().map(|grant| parse_grant(grant)).collect::<Result<_, _>>()?;
    block_on(async {
        let context = CliContext::open(&args.store_args, None, Arc::new(NoopRunObserver))?;
        let run = context.resolve_run(Some(&args.run)).await?;
        let by = context.settings.user();
        let grants: BTreeMap<String, u64> = grants;
        let outcome =
            context.engine.submit_input(&run, InputKind::Resumed { by, grants }, None).await?;
        after_input::drive_and_report(&context, outcome, json).await
    })
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
