//! `countersign replay`

use crate::args::Replay;
use crate::exit::{Error, Exit};

pub(super) fn run(_: &Replay, _: bool) -> Result<Exit, Error> {
    Err(Error::Usage("not built yet".to_owned()))
}
