//! Where a run stands after it was given something.

use countersign_core::reply::Violation;
use countersign_core::run::RunState;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::WaitView;
use crate::show::RunOutputView;

/// Where a run stands after it was given something.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct InputResponse {
    /// The run.
    #[schema(example = "k7mw2p")]
    pub run: String,
    /// Its version now.
    pub version: u64,
    /// `running`, `waiting`, `halted`, `completed` or `failed`.
    #[schema(example = "running")]
    pub status: String,
    /// The phase it stands in.
    pub phase: String,
    /// What it waits for.
    pub waits: Vec<WaitView>,
    /// What it made, once it is completed.
    pub output: Vec<RunOutputView>,
    /// Everything wrong with the reply that was handed in; null where it was accepted, or none was.
    #[schema(value_type = Option<Vec<Object>>)]
    pub violations: Option<Vec<Violation>>,
}

impl InputResponse {
    /// A run after an input.
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

/// Where a run stands after it was worked on, with its document.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RunResultView {
    /// The run.
    pub run: String,
    /// `running`, `waiting`, `halted`, `completed` or `failed`.
    pub status: String,
    /// The phase it stands in.
    pub phase: String,
    /// Its version.
    pub version: u64,
    /// What it waits for.
    pub waits: Vec<WaitView>,
    /// What it made, once it is completed.
    pub output: Vec<RunOutputView>,
    /// Its document.
    pub document: Value,
}

impl RunResultView {
    /// A run as it is.
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
