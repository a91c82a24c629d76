//! What is sent: one type for one shape, whichever door it leaves by. `--json` of the command line and the
//! bodies of HTTP are these.
//!
//! A member may be added; one that is there keeps its meaning. Moments are milliseconds since 1970, UTC.
//! Not here: what is stored (the core's), what decides.

mod page;
mod wait;
mod run;
mod status;
mod version;
mod next;
mod taken;
mod proof;
mod finding;
mod contract;
mod admission;
mod protocol;
mod memory;
mod worker;

pub use admission::Admission;
pub use contract::{
    Comparison, ContractExport, ContractRef, ContractRow, ContractView, Direction, Loss,
    OnViolation, RuleView, SchemaChange,
};
pub use finding::{Finding, Findings};
pub use memory::{
    Explained, Forgotten, Hit, KeptRow, OtherPacket, Packet, RefusedRow, Remembered, Replayed,
};
pub use next::{Asks, NextStep, StepContract, StepRule, asks};
pub use page::Page;
pub use proof::{Proof, proof};
pub use protocol::{InputView, PhaseView, ProtocolRow, ProtocolView, WayView, WorkflowView};
pub use run::RunRow;
pub use status::{BudgetUse, ChildRow, End, Halt, OrderRow, ProtocolRef, RunStatus};
pub use taken::{Taken, Worked};
pub use version::{EventRow, VersionRow};
pub use wait::{InboxRow, Wait};
pub use worker::{WorkerView, workers};
