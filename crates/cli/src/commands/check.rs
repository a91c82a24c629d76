//! `countersign check`

use crate::args::Check;
use crate::exit::{Error, Exit};

pub(super) fn run(_: &Check, _: bool) -> Result<Exit, Error> {
    Err(Error::Usage("not built yet".to_owned()))
}
