//! Which wait is meant by `RUN` or `RUN/WAIT`.

use countersign_core::run::WaitKind;

use crate::exit::Error;
use crate::house::House;
use crate::show;

/// The run and the wait. Where only a run is named, the one open wait of these kinds is meant.
pub(super) async fn wait(
    house: &House,
    named: &str,
    kinds: &[WaitKind],
) -> Result<(String, String), Error> {
    let (run, wait) = match named.split_once('/') {
        Some((run, wait)) => (run, Some(wait)),
        None => (named, None),
    };
    let run = house.run(Some(run)).await?;
    if let Some(wait) = wait {
        return Ok((run, wait.to_owned()));
    }
    let state = house.engine.look(&run).await?.state;
    let open: Vec<_> = state.waits.values().filter(|wait| kinds.contains(&wait.kind)).collect();
    match &open[..] {
        [one] => Ok((run, one.id.clone())),
        [] => {
            let standing = show::standing(&state);
            Err(Error::Usage(format!("nothing of that kind waits. {standing}")))
        }
        several => {
            let told: Vec<String> = several.iter().map(|wait| show::wait(&run, wait)).collect();
            Err(Error::Usage(format!(
                "several things wait; name one of them:\n{}",
                told.join("\n")
            )))
        }
    }
}
