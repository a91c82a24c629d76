//! Who works on a run, where it is not us.

use countersign_runtime::driver::Rest;

use crate::exit::Error;
use crate::house::House;

/// Who works on a run, or on the child it waits for, in a few words; `None` where nobody does.
pub(super) async fn holder(house: &House, run: &str, rest: &Rest) -> Result<Option<String>, Error> {
    let (id, what) = match rest {
        Rest::Held => (run, format!("run {run}")),
        Rest::Child(child) => (child.as_str(), format!("run {child}, which it waits for")),
        _ => return Ok(None),
    };
    let head = house.engine.store().head(&house.engine.run_id(id)).await?;
    let now = house.engine.clock().now().0;
    let lease = head.and_then(|head| head.lease).filter(|lease| lease.until > now);
    Ok(lease.map(|lease| format!("worker {} works on {what}", lease.worker)))
}
