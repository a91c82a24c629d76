//! `countersign inbox`

use crate::args::Inbox;
use crate::exit::{Error, Exit};

pub(super) fn run(_: &Inbox, _: bool) -> Result<Exit, Error> {
    Err(Error::Usage("not built yet".to_owned()))
}
