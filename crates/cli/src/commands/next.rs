//! `countersign next RUN`: everything somebody needs who takes the model's place.

use std::sync::Arc;

use countersign_server::wire::NextStep;
use serde_json::json;

use super::serve::Warnings;
use crate::args::Next;
use crate::exit::{Error, Exit};
use crate::house::{House, wait};
use crate::output;

pub(super) fn run(args: &Next, json: bool) -> Result<Exit, Error> {
    wait(async {
        let house = House::open(&args.site, None, Arc::new(Warnings))?;
        let run = house.run(args.run.as_deref()).await?;
        let live = house.engine.at(&run, None).await?;
        let next = NextStep::of(&house.engine, &live).await;
        if json {
            output::json(&json!(next));
        } else {
            output::data(&next.page());
        }
        Ok(Exit::Good)
    })
}
