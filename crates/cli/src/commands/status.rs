//! `countersign status`

use crate::args::Status;
use crate::exit::{Error, Exit};

pub(super) fn run(_: &Status, _: bool) -> Result<Exit, Error> {
    Err(Error::Usage("not built yet".to_owned()))
}
