//! The state of a run after an input.

use countersign_contract::reply::Violation;
use countersign_run::RunState;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::WaitView;
use crate::show::RunOutputView;

/// The state of a run after an input.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct InputResponse {
    /// The id of the run.
    #[schema(example = "k7mw2p")]
    pub run: String,
    /// The version of the run after the input.
    pub version: u64,
    /// `running`, `waiting`, `halted`, `completed` or `failed`.
    #[schema(example = "running")]
    pub status: String,
    /// The id of the current phase.
    pub phase: String,
    /// The open waits of the run.
    pub waits: Vec<WaitView>,
    /// The output of the run. Empty until the run is completed.
    pub output: Vec<RunOutputView>,
    /// Everything that is wrong with the submitted reply. Null if it was accepted or if no reply
    /// was submitted.
    #[schema(value_type = Option<Vec<Object>>)]
    pub violations: Option<Vec<Violation>>,
}

impl InputResponse {
    /// Builds the response from the state of a run.
    #[must_use]
    pub fn from_state(
        state: &RunState,
        output: Vec<RunOutputView>,
        violations: Option<Vec<Violation>>,
    ) -> Self {
        Self {
            run: state.run.clone(),
            version: state.version,
            status: state.status().as_str().to_owned(),
            phase: state.phase.clone(),
            waits: state.waits.values().map(WaitView::from).collect(),
            output,
            violations,
        }
    }
}

/// The state of a run with its document, after a command worked on it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RunResultView {
    /// The id of the run.
    pub run: String,
    /// `running`, `waiting`, `halted`, `completed` or `failed`.
    pub status: String,
    /// The id of the current phase.
    pub phase: String,
    /// The version of the run.
    pub version: u64,
    /// The open waits of the run.
    pub waits: Vec<WaitView>,
    /// The output of the run. Empty until the run is completed.
    pub output: Vec<RunOutputView>,
    /// The current document of the run.
    pub document: Value,
}

impl RunResultView {
    /// Builds the view from the state of a run.
    #[must_use]
    pub fn from_state(state: &RunState, output: Vec<RunOutputView>) -> Self {
        Self {
            run: state.run.clone(),
            status: state.status().as_str().to_owned(),
            phase: state.phase.clone(),
            version: state.version,
            waits: state.waits.values().map(WaitView::from).collect(),
            output,
            document: (*state.document).clone(),
        }
    }
}
