//! Protocols: a folder of files that says how a process goes, loaded once and never changed.
//!
//! Pure: the files come in as a [`Bundle`] of texts, and what they say comes out as a [`Protocol`]
//! or as diagnostics with places. Nothing here runs anything.

mod bundle;
mod origin;
mod duration;
mod template;
mod language;
mod definition;
mod document;
mod workflow;
mod ticket;
mod gate;
mod outcome;
mod each;
mod work;
mod change;
mod budget;
mod agent;
mod hook;
mod policy;
mod files;
mod pattern;
mod memory;
mod load;
mod check;

pub use agent::{Agent, Tool};
pub use budget::{Budget, BudgetName, Limit, Most};
pub use bundle::Bundle;
pub use change::{Change, Verb};
pub use check::{CODES as CHECK_CODES, check};
pub use definition::{Protocol, StateFormat};
pub use document::{Document, ENGINE_NAMES, EnginePlace};
pub use duration::{Duration, parse_duration};
pub use each::Each;
pub use files::{FileAccess, FilePolicy, fold_name};
pub use gate::{Check, Gate, Retry, RetryMode};
pub use hook::Hook;
pub use language::{ByLanguage, is_language};
pub(crate) use load::confined;
pub use load::{AGENT_SCHEMA, INDEX_SCHEMA, Loaded, WORKFLOW_SCHEMA, load};
pub use memory::{MemoryUse, WorkingPart};
pub use origin::Origin;
pub use outcome::{Otherwise, Outcome};
pub use pattern::PathPattern;
pub use policy::{Policy, Program, Source as RetrievalSource};
pub use template::Template;
pub(crate) use ticket::Needs;
pub use work::{
    Accepts, AgentWork, Choice, Choices, EffectSpec, ForEach, Invoke, ListedChoice, Purpose,
    Question, Shape, Work,
};
pub use workflow::{Phase, Transition, Workflow, WorkflowIndex, WorkflowInput};

/// The names an expression of a protocol may use, in the order of their slots.
///
/// A gate knows the first two; a change made from a reply, an answer or a result knows all.
pub const NAMES: [&str; 3] = ["state", "run", "reply"];
