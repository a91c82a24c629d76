//! The types that the API sends: one type for each shape, shared by HTTP, MCP and the command
//! line's `--json`.
//!
//! New members may be added; existing ones keep their meaning. Timestamps are Unix milliseconds.
//! The stored formats are in the core crate.

mod cursor_page;
mod wait;
mod decision_outcomes;
mod run_file;
mod run;
mod run_stats;
mod status;
mod version;
mod next_step;
mod input_response;
mod verification;
mod diagnostic;
mod contract;
mod admission;
mod protocol;
mod agent;
mod graph_view;
mod memory_views;
mod worker;

pub use admission::AdmissionView;
pub use agent::{AgentRuleView, AgentSkillView, AgentView};
pub use contract::{
    CompatibilityView, ContractDiffView, ContractExportView, ContractRef, ContractRow,
    ContractView, ExportLossView, OnViolationView, RuleView, SchemaChangeView,
};
pub use cursor_page::CursorPage;
pub use decision_outcomes::{DecisionOutcomes, DecisionResult};
pub use diagnostic::{CheckReport, DiagnosticView};
pub use graph_view::{GraphEdgeView, GraphPhaseView, GraphView};
pub use input_response::{InputResponse, RunResultView};
pub use memory_views::{
    AlternativePacket, BuildExplanation, BuildReplay, ForgetResponse, MemorySearchHit, PacketView,
    RefusedMemoryRow, RememberResponse, SavedMemoryRow,
};
pub use next_step::{ExpectedInput, NextStep, StepContract, StepRule, find_expected_input};
pub use protocol::{
    ModelScriptView, PhaseView, ProtocolRow, ProtocolView, TransitionView, WorkflowInputView,
    WorkflowView,
};
pub use run::{RunRow, WaitingChildView, build_run_rows};
pub use run_file::{RunFileView, list_run_files};
pub use run_stats::{RunStatsDay, RunStatsView, RunTotalsView};
pub use status::{
    BudgetView, ChildRunRow, HaltView, ParentRunView, PendingActionRow, ProtocolRef, RunEndView,
    RunStatusView,
};
pub use verification::{VerificationView, verify_and_report};
pub use version::{EventRow, VersionRow};
pub use wait::{InboxRow, WaitRefusal, WaitView};
pub use worker::{WorkerView, load_workers};
