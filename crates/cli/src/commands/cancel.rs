//! `countersign cancel RUN`

use std::sync::Arc;

use countersign_core::run::Incoming;
use countersign_runtime::watch::Unwatched;

use super::given;
use crate::args::Cancel;
use crate::exit::{Error, Exit};
use crate::house::{House, wait};

pub(super) fn run(args: &Cancel, json: bool) -> Result<Exit, Error> {
    wait(async {
        let house = House::open(&args.site, None, Arc::new(Unwatched))?;
        let run = house.run(Some(&args.run)).await?;
        let what = Incoming::Cancelled { by: house.settings.user(), reason: args.reason.clone() };
        let outcome = house.engine.give(&run, what, None).await?;
        given::told(&house, outcome, json).await.map(|_| Exit::Good)
    })
}
