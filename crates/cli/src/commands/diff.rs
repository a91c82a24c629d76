//! `countersign diff`

use crate::args::Diff;
use crate::exit::{Error, Exit};

pub(super) fn run(_: &Diff, _: bool) -> Result<Exit, Error> {
    Err(Error::Usage("not built yet".to_owned()))
}
