//! Inputs that come again, and inputs that are only tried: neither changes a run.

use countersign_core::run::{Event, Incoming, Input};

use super::give::blank_input;
use super::look::entry;
use super::{Engine, EngineError, Outcome};

impl Engine {
    /// What the input with this key came to, at the version that took it; `None` where the key is new.
    ///
    /// # Errors
    /// [`EngineError::OtherInput`] where `is_same` says that the key was used for something else.
    pub async fn find_repeated(
        &self,
        run: &str,
        key: &str,
        is_same: impl Fn(&Incoming) -> bool,
    ) -> Result<Option<Outcome>, EngineError> {
        let id = self.run_id(run);
        let Some(version) = self.store().keyed(&id, key).await? else { return Ok(None) };
        let rows = self.store().log(&id, version.saturating_sub(1), 1).await?;
        if rows.iter().any(|row| row.body.is_empty()) {
            return Err(self.pruned(&id).await?);
        }
        let opened = rows.into_iter().map(|row| entry(row).open(run));
        let events = opened.collect::<Result<Vec<_>, _>>();
        let events = events.map_err(|source| EngineError::corrupt(run, source))?.concat();
        let same = events
            .iter()
            .any(|event| matches!(event, Event::Received { input } if is_same(&input.what)));
        if !same {
            return Err(EngineError::OtherInput { run: run.to_owned(), version });
        }
        let live = self.at(run, Some(version)).await?;
        Ok(Some(Outcome { events, ..Outcome::unchanged(&live) }))
    }

    /// Whether a run would take an input now. Keeps nothing, and changes nothing.
    ///
    /// # Errors
    /// What [`Engine::give_at`] would answer: a rejection, or another version than expected.
    pub async fn check_input(
        &self,
        run: &str,
        what: Incoming,
        at: Option<u64>,
    ) -> Result<(), EngineError> {
        let id = self.run_id(run);
        let live = self.fresh(&id).await?;
        let found = live.state.version;
        if let Some(expected) = at.filter(|expected| *expected != found) {
            return Err(EngineError::Moved { run: run.to_owned(), expected, found });
        }
        let mut input: Input = blank_input(what, None);
        self.decided(&id, &live, &mut input).await?;
        Ok(())
    }
}
