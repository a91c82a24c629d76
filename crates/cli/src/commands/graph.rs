//! `countersign graph`

use crate::args::Graph;
use crate::exit::{Error, Exit};

pub(super) fn run(_: &Graph, _: bool) -> Result<Exit, Error> {
    Err(Error::Usage("not built yet".to_owned()))
}
