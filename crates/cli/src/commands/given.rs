//! What every command that gives a run something does afterwards: work on it, and tell where it stands.

use countersign_core::run::{Status, WaitKind};
use countersign_runtime::driver::Rest;
use countersign_runtime::engine::Outcome;
use countersign_server::show::products;
use countersign_server::wire::Taken;
use serde_json::json;

use super::held::holder;
use crate::exit::{Error, Exit};
use crate::house::House;
use crate::{output, product, show};

/// Lets the run go on as far as it can, and tells where it stands.
pub(super) async fn told(house: &House, outcome: Outcome, json: bool) -> Result<Exit, Error> {
    let run = outcome.state.run.clone();
    let refused = outcome.violations().map(<[_]>::to_vec);
    let rest = house.driver()?.drive(&run).await?;
    let outcome = house.engine.look(&run).await?;
    let state = &outcome.state;
    let products = products(&house.engine, &run).await?;
    if json {
        let mut told = json!(Taken::of(state, products, refused.clone()));
        told["held"] = json!(rest == Rest::Held);
        output::json(&told);
    } else {
        if let Some(violations) = &refused {
            show::violations(violations);
        }
        output::talk(&show::standing(state));
        match holder(house, &run, &rest).await? {
            Some(holder) => output::talk(&format!("{holder}, and goes on with it.")),
            None => show::rest(&run, &rest),
        }
        for wait in state.waits.values().filter(|wait| wait.kind != WaitKind::Work) {
            output::talk(&show::wait(&run, wait));
        }
        product::print(&run, &products);
    }
    let good = refused.is_none() && state.status() != Status::Failed;
    Ok(if good { Exit::Good } else { Exit::Refused })
}
