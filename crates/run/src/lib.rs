//! Runs: deciding what an input does to a run, and folding events into its state.
//!
//! ```text
//! RunInput ──► decide(protocol, state) ──► events ──► apply ──► RunState
//!                 │                          │
//!          InputRejection          seal_entry: bytes and hashes
//! ```
//!
//! The crate is pure: no clock, no randomness, no IO. Time and new ids arrive with the input.
//! Only [`apply`] changes a state, for live runs, recovery and replay alike.

mod status;
mod effect_call;
mod mcp_tools;
mod input;
mod wait;
mod delivery;
mod event;
mod item_progress;
mod pending_action;
mod state;
mod run_value;
mod run_inputs;
mod run_title;
mod rejection;
mod decide;
mod apply_event;
mod log_chain;
mod prompt;
mod document_terms;
mod verify;

pub use apply_event::{CorruptLogError, apply};
pub use countersign_contract::Timestamp;
pub use decide::{
    DecisionOutcome, FileProbe, check_assignee, compute_call_digest, decide, manual_patch_contract,
    mcp_tool_calls_contract, next_alarm, next_alarm_after, record_file_facts, tool_calls_contract,
};
pub use delivery::{DeliveredWait, RunDelivery};
pub use effect_call::{EffectCall, SKILL_TOOL, ToolCall};
pub use event::{LOG_FORMAT, RunEvent, RunNotification};
pub use input::{
    AttributedInput, ExchangeDigests, ForkOrigin, HookAnswer, IdentitySource, InputKind,
    InputSender, ModelReply, ParentRun, ReplyUsage, RunInput, RunStart,
};
pub use item_progress::{FailedItem, ItemProgress};
pub use log_chain::{GENESIS_HASH, RunLogEntry, fold_entry, hash_entry, seal_entry};
pub use mcp_tools::{McpToolChanges, McpToolDefinition, PinnedMcpTools, UnusableMcpTool};
pub use pending_action::PendingAction;
pub use prompt::{StepPrompt, render_contract_terms, render_prompt, resolve_model};
pub use rejection::InputRejection;
pub use run_inputs::{INPUTS_FOLDER, RunInputs};
pub use run_title::{MAX_TITLE_CHARS, clean_title};
pub use run_value::build_run_value;
pub use state::{
    ApprovalDecision, BlockReason, ClosedGate, Continuation, DecisionOutcomeKind, LastReply,
    ModelStep, PromptMessage, PromptRole, QuestionItem, RunEndKind, RunState, ToolUse,
};
pub use status::ExecutionStatus;
pub use verify::{LogVerification, VerificationError, verify};
pub use wait::{
    ApprovalSubject, ApprovalVote, PresentedFile, PresentedPart, RunWait, SubjectPart,
    WaitAnswerShape, WaitApproval, WaitDelegation, WaitKind, WaitResolution,
};

// The example of the README is a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeDoctest;
