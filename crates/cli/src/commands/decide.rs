//! `countersign approve` and `countersign deny`.

use std::sync::Arc;

use countersign_core::run::{Incoming, WaitKind};
use countersign_runtime::watch::Unwatched;

use super::{addressed, given};
use crate::args::Decide;
use crate::exit::{Error, Exit};
use crate::house::{House, wait};

pub(super) fn run(args: &Decide, approve: bool, json: bool) -> Result<Exit, Error> {
    wait(async {
        let house = House::open(&args.site, None, Arc::new(Unwatched))?;
        let kinds = [WaitKind::Approval, WaitKind::Budget, WaitKind::Trouble];
        let (run, wait) = addressed::wait(&house, &args.wait, &kinds).await?;
        let (by, note) = (house.settings.user(), args.note.clone());
        let what = Incoming::Decided { wait, approve, by, note };
        let outcome = house.engine.give(&run, what, args.key.clone()).await?;
        given::told(&house, outcome, json).await
    })
}
