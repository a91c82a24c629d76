//! What is sent: one type for one shape, whichever door it leaves by. `--json` of the command line and the
//! bodies of HTTP are these.
//!
//! A member may be added; one that is there keeps its meaning. Moments are milliseconds since 1970, UTC.
//! Not here: what is stored (the core's), what decides.

mod cursor_page;
mod wait;
mod run;
mod status;
mod version;
mod next_step;
mod input_response;
mod verification;
mod diagnostic;
mod contract;
mod admission;
mod protocol;
mod memory_views;
mod worker;

pub use admission::AdmissionView;
pub use contract::{
    CompatibilityView, ContractDiffView, ContractExportView, ContractRef, ContractRow,
    ContractView, ExportLossView, OnViolationView, RuleView, SchemaChangeView,
};
pub use cursor_page::CursorPage;
pub use diagnostic::{CheckReport, DiagnosticView};
pub use input_response::{InputResponse, RunResultView};
pub use memory_views::{
    AlternativePacket, BuildExplanation, BuildReplay, ForgetResponse, MemorySearchHit, PacketView,
    RefusedMemoryRow, RememberResponse, SavedMemoryRow,
};
pub use next_step::{ExpectedInput, NextStep, StepContract, StepRule, find_expected_input};
pub use protocol::{
    PhaseView, ProtocolRow, ProtocolView, TransitionView, WorkflowInputView, WorkflowView,
};
pub use run::RunRow;
pub use status::{
    BudgetView, ChildRunRow, HaltView, PendingActionRow, ProtocolRef, RunEndView, RunStatusView,
};
pub use verification::{VerificationView, verify_and_report};
pub use version::{EventRow, VersionRow};
pub use wait::{InboxRow, WaitView};
pub use worker::{WorkerView, load_workers};
