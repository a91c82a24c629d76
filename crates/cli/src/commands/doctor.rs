//! `countersign doctor`

use crate::args::Doctor;
use crate::exit::{Error, Exit};

pub(super) fn run(_: &Doctor, _: bool) -> Result<Exit, Error> {
    Err(Error::Usage("not built yet".to_owned()))
}
