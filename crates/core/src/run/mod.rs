//! Runs: what an input means for a run, and what a run is after its events.
//!
//! ```text
//! Input ──► decide(protocol, state) ──► events ──► apply ──► State
//!               │                          │
//!           Rejection              seal: bytes and hashes
//! ```
//!
//! Pure: no clock, no chance, no IO. Time and fresh ids come in with the input. Only `apply` changes
//! a state, for live runs, recovery and replay alike.

mod time;
mod status;
mod order;
mod input;
mod wait;
mod event;
mod round;
mod state;
mod view;
mod rejection;
mod decide;
mod apply;
mod chain;
mod prompt;
mod verify;

pub use apply::{CorruptLog, apply};
pub use chain::{Entry, GENESIS, fold, link, seal};
pub use decide::{Step, decide, hand_in, next_alarm, next_alarm_after, see_files, tool_calls};
pub use event::{Event, FORMAT, Tell};
pub use input::{Exchange, Fork, HookAnswer, Incoming, Input, ModelReply, Parent, Start, Usage};
pub use order::{Effect, ToolCall};
pub use prompt::{Prompt, model_of, prompt, terms};
pub use rejection::Rejection;
pub use round::{Lost, Round};
pub use state::{
    Blocked, ClosedGate, Decision, EndKind, LastReply, ModelStep, Next, OfEach, Pending, Role,
    State, ToolUse, Turn,
};
pub use status::Status;
pub use time::Time;
pub use verify::{Fault, Verification, verify};
pub use view::view;
pub use wait::{Closing, Wait, WaitKind, WaitShape};
