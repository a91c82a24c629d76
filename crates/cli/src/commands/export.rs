//! `countersign export`

use crate::args::Export;
use crate::exit::{Error, Exit};

pub(super) fn run(_: &Export, _: bool) -> Result<Exit, Error> {
    Err(Error::Usage("not built yet".to_owned()))
}
