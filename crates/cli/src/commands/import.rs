//! `countersign import`

use crate::args::Import;
use crate::exit::{Error, Exit};

pub(super) fn run(_: &Import, _: bool) -> Result<Exit, Error> {
    Err(Error::Usage("not built yet".to_owned()))
}
