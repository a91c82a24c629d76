//! `countersign resume RUN [--grant BUDGET=AMOUNT]`

use std::collections::BTreeMap;
use std::sync::Arc;

use countersign_core::protocol::parse_duration;
use countersign_core::run::Incoming;
use countersign_runtime::watch::Unwatched;

use super::given;
use crate::args::Resume;
use crate::exit::{Error, Exit};
use crate::house::{House, wait};

pub(super) fn run(args: &Resume, json: bool) -> Result<Exit, Error> {
    let grants = args.grants.iter().map(|grant| granted(grant)).collect::<Result<_, _>>()?;
    wait(async {
        let house = House::open(&args.site, None, Arc::new(Unwatched))?;
        let run = house.run(Some(&args.run)).await?;
        let by = house.settings.user();
        let grants: BTreeMap<String, u64> = grants;
        let outcome = house.engine.give(&run, Incoming::Resumed { by, grants }, None).await?;
        given::told(&house, outcome, json).await
    })
}

/// `tokens=10000`, `money=0.5`, `wall_time=10m`: amounts as protocol files have them.
fn granted(grant: &str) -> Result<(String, u64), Error> {
    let wrong = |why: &str| {
        Error::Usage(format!("`{grant}`: {why}; expected something like `tokens=10000`"))
    };
    let (name, amount) = grant.split_once('=').ok_or_else(|| wrong("no `=`"))?;
    let plain = name.split('@').next().unwrap_or(name);
    let amount = match plain {
        "wall_time" => parse_duration(amount).map(|duration| duration.millis.unsigned_abs()),
        "money" => {
            amount.parse::<f64>().ok().filter(|sum| *sum > 0.0).map(|sum| (sum * 1e6) as u64)
        }
        _ => amount.parse().ok(),
    };
    Ok((name.to_owned(), amount.ok_or_else(|| wrong("the amount cannot be read"))?))
}
