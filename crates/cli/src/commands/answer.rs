//! `countersign answer RUN[/WAIT] VALUE`, or `--file FILE` for a document.

use std::path::Path;
use std::sync::Arc;

use countersign_core::json::{RepairLevel, read};
use countersign_core::run::{Incoming, Wait, WaitKind, WaitShape};
use countersign_runtime::watch::Unwatched;
use countersign_runtime::workspace::{IncomingDocument, bring};
use serde_json::Value;

use super::{addressed, given};
use crate::args::Answer;
use crate::exit::{Error, Exit};
use crate::house::{House, wait};

pub(super) fn run(args: &Answer, json: bool) -> Result<Exit, Error> {
    wait(async {
        let house = House::open(&args.site, None, Arc::new(Unwatched))?;
        let kind = if args.file.is_some() { WaitKind::Document } else { WaitKind::Question };
        let (run, id) = addressed::wait(&house, &args.wait, &[kind]).await?;
        let state = house.engine.look(&run).await?.state;
        let wait = state.waits.get(&id);
        let value = match (&args.file, &args.value) {
            (Some(file), _) => brought(&house, file, wait)?,
            (None, Some(text)) => meant(text, wait),
            (None, None) => return Err(Error::Usage("an answer, or `--file`".to_owned())),
        };
        let what = Incoming::Answered { wait: id, value, by: house.settings.user() };
        let outcome = house.engine.give(&run, what, args.key.clone()).await?;
        given::told(&house, outcome, json).await
    })
}

/// A text as the answer it is meant to be: JSON where the question asks for more than a text.
pub(crate) fn meant(text: &str, wait: Option<&Wait>) -> Value {
    let plain = || Value::String(text.to_owned());
    let Some(WaitShape::Value { schema }) = wait.and_then(|wait| wait.shape.as_ref()) else {
        return plain();
    };
    if schema["type"] == "string" {
        return plain();
    }
    read(text, RepairLevel::None).map_or_else(|_| plain(), |reading| reading.value)
}

/// Copies a document into the workspace, where it was asked for, and tells what it is.
pub(crate) fn brought(house: &House, file: &Path, wait: Option<&Wait>) -> Result<Value, Error> {
    let shown = file.display().to_string();
    let bytes =
        std::fs::read(file).map_err(|source| Error::Unreadable { what: shown.clone(), source })?;
    let name =
        file.file_name().map_or_else(|| shown.clone(), |name| name.to_string_lossy().into_owned());
    let workspace = countersign_runtime::workspace::Workspace::open(house.home.workspace())?;
    Ok(bring(&workspace, wait, IncomingDocument::from_bytes(&name, &bytes))?)
}
