//! `countersign history`

use crate::args::History;
use crate::exit::{Error, Exit};

pub(super) fn run(_: &History, _: bool) -> Result<Exit, Error> {
    Err(Error::Usage("not built yet".to_owned()))
}
