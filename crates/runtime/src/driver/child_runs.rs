//! Runs that start and notify each other. Two runs never share a commit, so each side can be ahead
//! of the other or behind it; in both cases nothing is lost and nothing is done twice.

use countersign_run::{
    ExecutionStatus, InputKind, ParentRun, PendingAction, RunNotification, RunStart, RunState,
};
use countersign_store::StoreError;
use serde_json::Value;

use super::driver::Driver;
use crate::engine::{EngineError, LiveRun};

impl Driver {
    /// Starts a child run, unless it was started before a crash. Returns the input for the parent
    /// if the child cannot be started.
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
            prior_authors: live.state.list_participants(),
            ..RunStart::default()
        };
        let reason = match self.engine.start_named_run(run, &live.protocol, start, None).await {
            Ok(_) => return Ok(None),
            Err(EngineError::Store(StoreError::Conflict { .. })) => {
                if self.engine.load_version(run, None).await?.state.parent.as_ref() == Some(&parent)
                {
                    return Ok(None);
                }
                format!("run `{run}` already exists and is not a child of this run")
            }
            Err(EngineError::Rejected(rejection)) => rejection.to_string(),
            Err(other) => return Err(other),
        };
        let (action, document) = (action.to_owned(), Value::Null);
        Ok(Some(InputKind::ChildEnded { action, completed: false, reason: Some(reason), document }))
    }

    /// Returns the cancellation for a child that its parent no longer waits for, because the parent
    /// continued between requesting the child and its start. The driver checks this before it does
    /// anything else for the child; afterwards the parent sends its own notifications.
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
                reason: Some("the parent run continued before this run started".to_owned()),
            })),
            Err(other) => Err(other),
        }
    }

    /// Sends a notification to another run, and returns the input that confirms it to the sender.
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
            // A run that was notified before, has ended, or never started needs no notification.
            Ok(_) | Err(EngineError::Rejected(_) | EngineError::RunNotFound { .. }) => {
                Ok(InputKind::Notified { action: action.to_owned() })
            }
            Err(other) => Err(other),
        }
    }
}
