//! Repeated inputs and trial inputs: neither changes a run.

use countersign_run::{AttributedInput, InputKind, RunEvent, RunInput};

use super::read_run::row_to_entry;
use super::submit_input::new_input;
use super::{Engine, EngineError, InputOutcome};

impl Engine {
    /// Returns the outcome of the input with this key, at the version that accepted it, or `None`
    /// if the key is new.
    ///
    /// # Errors
    /// [`EngineError::KeyReused`] if `is_same` reports that the key was used for a different input.
    pub async fn find_repeated_input(
        &self,
        run: &str,
        key: &str,
        is_same: impl Fn(&InputKind) -> bool,
    ) -> Result<Option<InputOutcome>, EngineError> {
        let id = self.run_id(run);
        let Some(version) = self.store().find_key_version(&id, key).await? else { return Ok(None) };
        let rows = self.store().read_log(&id, version.saturating_sub(1), 1).await?;
        if rows.iter().any(|row| row.body.is_empty()) {
            return Err(self.build_pruned_error(&id).await?);
        }
        let opened = rows.into_iter().map(|row| row_to_entry(row).decode_events(run));
        let events = opened.collect::<Result<Vec<_>, _>>();
        let events = events.map_err(|source| EngineError::corrupt(run, source))?.concat();
        let same = events.iter().any(
            |event| matches!(event, RunEvent::InputReceived { input } if is_same(&input.payload)),
        );
        if !same {
            return Err(EngineError::KeyReused { run: run.to_owned(), version });
        }
        let live = self.load_version(run, Some(version)).await?;
        Ok(Some(InputOutcome { events, ..InputOutcome::from_unchanged(&live) }))
    }

    /// Checks whether a run would accept an input now. Stores and changes nothing.
    ///
    /// # Errors
    /// The error that [`Engine::submit_input_if`] would return: a rejection, or a version mismatch.
    pub async fn check_input(
        &self,
        run: &str,
        what: impl Into<AttributedInput>,
        at: Option<u64>,
    ) -> Result<(), EngineError> {
        let id = self.run_id(run);
        let live = self.refresh_live_run(&id).await?;
        let found = live.state.version;
        if let Some(expected) = at.filter(|expected| *expected != found) {
            return Err(EngineError::VersionMismatch { run: run.to_owned(), expected, found });
        }
        let mut input: RunInput = new_input(what, None);
        self.decide_input(&id, &live, &mut input).await?;
        Ok(())
    }
}
