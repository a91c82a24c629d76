//! Protocols: folders of files that define a process, loaded once and immutable.
//!
//! The crate is pure. Files arrive as a [`ProtocolBundle`] of texts, and loading returns a
//! [`Protocol`] or diagnostics with locations. It executes nothing.

mod bundle;
mod origin;
mod duration;
mod template;
mod localized;
mod protocol;
mod document;
mod workflow;
mod ticket_rules;
mod approval;
mod call_approval;
mod channel;
mod gate;
mod failure_handler;
mod for_each;
mod work;
mod document_change;
mod budget_limits;
mod agent;
mod skill;
mod hook;
mod policy;
mod presentation;
mod mcp_server;
mod file_policy;
mod path_pattern;
mod memory_config;
mod load;
mod check;

pub use agent::{AgentTool, ResolvedAgent};
pub use approval::{
    ApprovalEscalation, ApprovalRules, Assignee, DistinctParty, NotePolicy, format_assignees,
};
pub use budget_limits::{BudgetLimit, BudgetLimits, BuiltinBudget, LimitAmount};
pub use bundle::ProtocolBundle;
pub use call_approval::{CALL_NAMES, CallApproval, CallApprovalCondition, CallPattern};
pub use channel::{
    ChannelEvent, ChannelSubscription, MAX_CHANNELS, is_channel_name, merge_subscriptions,
};
pub use check::{CHECK_CODES, check_protocol, is_behind_approval};
pub use document::{DocumentDefinition, ENGINE_FIELD_NAMES, EngineField};
pub use document_change::{ChangeOperation, DocumentChange};
pub use duration::{DurationMillis, parse_duration};
pub use failure_handler::{FailureHandler, FailurePolicy};
pub use file_policy::{FileAccess, FilePolicy, fold_name};
pub use for_each::ForEachItems;
pub use gate::{DecisionTrigger, GateCheck, RetryBackoff, RetryPolicy, TransitionGate};
pub use hook::HookDefinition;
pub use load::{
    AGENT_SCHEMA, CONTRACT_RECORD_FOLDER, INDEX_SCHEMA, LoadedProtocol, WORKFLOW_SCHEMA,
    check_contract_record, confine_path, load_protocol, read_contract_record,
};
pub use localized::{Localized, is_language_tag};
pub use mcp_server::{McpServerDefinition, McpToolSelector, McpTransport};
pub use memory_config::{ProtocolMemoryConfig, WorkingStatePart};
pub use origin::FileOrigin;
pub use path_pattern::PathPattern;
pub use policy::{ProgramDefinition, ProtocolPolicy, RetrievalSource};
pub use presentation::{PresentationFormat, PresentationRule};
pub use protocol::{Protocol, StateFileLayout};
pub use skill::{AgentSkill, SkillDefinition};
pub use template::TextTemplate;
pub(crate) use ticket_rules::PhasesByTicket;
pub use work::{
    AcceptedExtensions, AgentPurpose, AgentWork, AnswerChoice, AnswerShape, ChildFanOut,
    ChoiceSource, EffectTemplate, ListedChoice, PhaseQuestion, PhaseWork, WorkflowInvocation,
    WriteFormat,
};
pub use workflow::{
    WorkflowDefinition, WorkflowIndex, WorkflowInput, WorkflowPhase, WorkflowTransition,
};

/// The names that an expression of a protocol may use, in the order of their slots.
///
/// A gate knows the first two. A change made from a reply, an answer or a result knows all three.
pub const EXPRESSION_NAMES: [&str; 3] = ["state", "run", "reply"];

// The example of the README is a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeDoctest;
