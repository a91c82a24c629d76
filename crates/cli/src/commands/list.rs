//! `countersign list`

use crate::args::List;
use crate::exit::{Error, Exit};

pub(super) fn run(_: &List, _: bool) -> Result<Exit, Error> {
    Err(Error::Usage("not built yet".to_owned()))
}
