//! `countersign submit RUN [FILE]`: hands in a reply in a model's place, or a patch.

use std::sync::Arc;

use countersign_core::run::{Incoming, Pending};
use countersign_runtime::driver::handed_in;
use countersign_runtime::watch::Unwatched;

use super::given;
use crate::args::Submit;
use crate::exit::{Error, Exit};
use crate::files;
use crate::house::{House, wait};

pub(super) fn run(args: &Submit, json: bool) -> Result<Exit, Error> {
    let (_, bytes) = files::reply(args.file.as_deref())?;
    // Bytes that are no text are a reply like any other: they are refused, and that is recorded.
    let text = String::from_utf8_lossy(&bytes).into_owned();
    wait(async {
        let house = House::open(&args.site, None, Arc::new(Unwatched))?;
        let run = house.run(Some(&args.run)).await?;
        let by = house.settings.user();
        let state = house.engine.look(&run).await?.state;
        let out = state.pending.iter().find(|(_, order)| matches!(order, Pending::Model { .. }));
        let action = args.action.clone().or_else(|| out.map(|(id, _)| id.clone()));
        let what = match action {
            Some(action) => handed_in(&action, &text, &by),
            None => Incoming::Submitted { text, by },
        };
        let outcome = house.engine.give(&run, what, args.key.clone()).await?;
        given::told(&house, outcome, json).await
    })
}
