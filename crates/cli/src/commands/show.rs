//! `countersign show`

use crate::args::Show;
use crate::exit::{Error, Exit};

pub(super) fn run(_: &Show, _: bool) -> Result<Exit, Error> {
    Err(Error::Usage("not built yet".to_owned()))
}
