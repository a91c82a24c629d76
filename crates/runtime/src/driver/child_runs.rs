//! Runs that start and tell each other. Two runs never share a commit, so each side can find the
//! other ahead of it or behind, and either way nothing is lost and nothing is done twice.

use countersign_core::run::{
    ExecutionStatus, InputKind, ParentRun, PendingAction, RunNotification, RunStart, RunState,
};
use countersign_store::StoreError;
use serde_json::Value;

use super::driver::Driver;
use crate::engine::{EngineError, LiveRun};

impl Driver {
    /// Starts a child run, unless it was started before a crash. Gives what the parent has to know
    /// where it cannot be.
    pub(super) async fn start_child(
        &self,
        live: &LiveRun,
        action: &str,
        order: &PendingAction,
    ) -> Result<Option<InputKind>, EngineError> {
        let PendingAction::Child { run, workflow, document, depth, .. } = order else {
            return Ok(None);
        };
        let parent =
            ParentRun { run: live.state.run.clone(), action: action.to_owned(), depth: *depth };
        let start = RunStart {
            protocol: live.protocol.digest.clone(),
            workflow: workflow.clone(),
            document: Some(document.clone()),
            model: live.state.model.clone(),
            parent: Some(parent.clone()),
            ..RunStart::default()
        };
        let reason = match self.engine.start_named_run(run, &live.protocol, start, None).await {
            Ok(_) => return Ok(None),
            Err(EngineError::Store(StoreError::Conflict { .. })) => {
                if self.engine.load_version(run, None).await?.state.parent.as_ref() == Some(&parent)
                {
                    return Ok(None);
                }
                format!("there is another run `{run}`, which is none of its own")
            }
            Err(EngineError::Rejected(rejection)) => rejection.to_string(),
            Err(other) => return Err(other),
        };
        let (action, document) = (action.to_owned(), Value::Null);
        Ok(Some(InputKind::ChildEnded { action, completed: false, reason: Some(reason), document }))
    }

    /// What a child is told that nobody waits for, because its parent went on between ordering it and
    /// its start. It is asked before anything else is done for it; later ones are told by the parent.
    pub(super) async fn find_orphan_cancellation(
        &self,
        state: &RunState,
    ) -> Result<Option<InputKind>, EngineError> {
        let Some(parent) = &state.parent else { return Ok(None) };
        if state.version > 1 || state.end.is_some() {
            return Ok(None);
        }
        match self.engine.load_version(&parent.run, None).await {
            Ok(live) if live.state.pending.contains_key(&parent.action) => Ok(None),
            Ok(_) | Err(EngineError::RunNotFound { .. }) => Ok(Some(InputKind::Cancelled {
                by: format!("run {}", parent.run),
                reason: Some("it went on before this one began".to_owned()),
            })),
            Err(other) => Err(other),
        }
    }

    /// Tells another run something, and gives what the teller has to know then.
    pub(super) async fn notify_run(
        &self,
        teller: &RunState,
        action: &str,
        other: &str,
        tell: &RunNotification,
    ) -> Result<InputKind, EngineError> {
        let what = match tell {
            RunNotification::ChildEnded { action } => InputKind::ChildEnded {
                action: action.clone(),
                completed: teller.status() == ExecutionStatus::Completed,
                reason: teller.end.as_ref().and_then(|(_, reason)| reason.clone()),
                document: (*teller.document).clone(),
            },
            RunNotification::Cancel { reason } => {
                let by = format!("run {}", teller.run);
                InputKind::Cancelled { by, reason: Some(reason.clone()) }
            }
        };
        let key = format!("told by {}/{action}", teller.run);
        match self.engine.submit_input(other, what, Some(key)).await {
            // One that was told before, has ended, or never began needs no telling.
            Ok(_) | Err(EngineError::Rejected(_) | EngineError::RunNotFound { .. }) => {
                Ok(InputKind::Told { action: action.to_owned() })
            }
            Err(other) => Err(other),
        }
    }
}
