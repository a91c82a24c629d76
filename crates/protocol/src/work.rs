//! The work of a phase: a model step, questions, an effect, a child workflow, or nothing.

use std::sync::Arc;

use countersign_contract::contract::Contract;
use countersign_contract::expr::Expr;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::gate::RetryPolicy;
use super::{
    Assignee, DocumentChange, DurationMillis, FailureHandler, ForEachItems, Localized,
    ResolvedAgent, TextTemplate,
};

/// The work of a phase.
#[derive(Debug)]
pub enum PhaseWork {
    /// No work: the gates are evaluated at once. If all are closed, anyone may submit a patch.
    None,
    /// Calls a model under a contract.
    Agent(AgentWork),
    /// Asks people; the phase is done when every question is answered.
    Ask(Vec<PhaseQuestion>),
    /// Executes an effect outside the engine.
    Effect {
        /// Items to repeat the effect for; executed once if absent.
        for_each: Option<ForEachItems>,
        /// The effect to execute.
        effect: EffectTemplate,
        /// How the result changes the document.
        apply: Vec<DocumentChange>,
        /// Contract that the result must satisfy; unchecked if absent.
        contract: Option<Arc<Contract>>,
        /// When a failed attempt is retried; no retries if absent.
        retry: Option<RetryPolicy>,
        /// What happens when the effect has failed permanently.
        on_failed: FailureHandler,
    },
    /// Starts another workflow as a child run.
    Invoke(WorkflowInvocation),
}

impl PhaseWork {
    /// Whether the work is an effect that copies a file.
    #[must_use]
    pub fn copies_files(&self) -> bool {
        matches!(self, Self::Effect { effect: EffectTemplate::Copy { .. }, .. })
    }
}

/// A model step.
#[derive(Debug)]
pub struct AgentWork {
    /// The agent that is called.
    pub agent: Arc<ResolvedAgent>,
    /// Contract that the reply must satisfy.
    pub contract: Arc<Contract>,
    /// Task template over `state` and `run`; the phase's name and description if absent.
    pub prompt: Option<Localized<TextTemplate>>,
    /// The kind of memory packet that the model receives.
    pub purpose: AgentPurpose,
    /// Pointers of the document that the model sees; the whole document if absent.
    pub reads: Option<Vec<String>>,
    /// How an accepted reply changes the document.
    pub apply: Vec<DocumentChange>,
    /// What happens when all retries are used up; `None` follows the handler of the `violations`
    /// budget, or else the contract.
    pub on_refused: Option<FailureHandler>,
    /// Budget to spend from when a step is refused permanently, such as `reviewer_failures`.
    pub refusal_spends: Option<String>,
}

/// The kind of memory packet that a model receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AgentPurpose {
    /// A packet for a model that plans.
    Planner,
    /// A packet for a model that uses tools.
    Tool,
    /// A packet for a model whose text is shown to a person.
    Responder,
}

impl AgentPurpose {
    /// The name in protocol files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Planner => "planner",
            Self::Tool => "tool",
            Self::Responder => "responder",
        }
    }
}

/// A question to people, or a request for a document.
#[derive(Debug)]
pub struct PhaseQuestion {
    /// Unique in its phase. If the question is asked per item, the source of the template that
    /// gives each id.
    pub id: String,
    /// Items to ask about, with the template of their ids; asked once if absent.
    pub for_each: Option<(ForEachItems, TextTemplate)>,
    /// The text of the question.
    pub question: Localized<TextTemplate>,
    /// Shape of the answer.
    pub shape: AnswerShape,
    /// Who may answer; anyone if empty.
    pub who: Vec<Assignee>,
    /// Time to answer; no limit if absent.
    pub deadline: Option<DurationMillis>,
    /// Answer to use when the deadline passes.
    pub default: Option<Value>,
    /// What happens when the deadline passes without a default.
    pub on_timeout: FailureHandler,
    /// How the answer changes the document; expressions read it as `reply`.
    pub apply: Vec<DocumentChange>,
    /// Condition for asking; always asked if absent.
    pub when: Option<Expr>,
}

/// Shape of an answer.
#[derive(Debug)]
pub enum AnswerShape {
    /// Any value that satisfies a contract.
    Value(Arc<Contract>),
    /// One of several choices, given by its id.
    Choices(ChoiceSource),
    /// A file that the person provides.
    Document {
        /// Path where the file is expected, inside the workspace.
        suggested_path: Option<TextTemplate>,
        /// Extensions that are accepted.
        accepts: AcceptedExtensions,
    },
    /// Any value that satisfies a JSON Schema, which the single expression of the template gives.
    Computed(TextTemplate),
}

/// Which file extensions are accepted.
#[derive(Debug)]
pub enum AcceptedExtensions {
    /// Extensions with the dot, fixed in the file; any if empty.
    Listed(Vec<String>),
    /// The result of an expression that gives the list.
    Computed(Expr),
}

/// Where the choices of a question come from.
#[derive(Debug)]
pub enum ChoiceSource {
    /// Choices listed in the protocol file.
    Listed(Vec<ListedChoice>),
    /// The result of an expression over `state` and `run`: a list of texts, or of objects with `id`
    /// and `label`.
    Computed(Expr),
}

/// A choice as a protocol file lists it.
#[derive(Debug)]
pub struct ListedChoice {
    /// The value of the answer.
    pub id: String,
    /// The text that people see, which may contain expressions; the id if absent.
    pub label: Option<Localized<TextTemplate>>,
}

/// A choice in the language of the run. Stored with the wait that offers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerChoice {
    /// The value of the answer.
    pub id: String,
    /// The text that people see.
    pub label: String,
}

/// An effect whose values are templates and expressions.
#[derive(Debug)]
pub enum EffectTemplate {
    /// Writes a file inside the workspace.
    Write {
        /// Path of the file inside the workspace.
        path: TextTemplate,
        /// Content of the file; a string is written as it is, any other value as JSON.
        content: Expr,
        /// Whether to leave an existing file with different content unchanged.
        once: bool,
        /// The format that the content, which is Markdown, is converted to; written as it is if
        /// absent.
        format: Option<WriteFormat>,
    },
    /// Copies a file inside the workspace.
    Copy {
        /// Path of the file to copy, inside the workspace.
        from: TextTemplate,
        /// Path of the copy, inside the workspace.
        to: TextTemplate,
        /// Whether to leave an existing file with different content unchanged.
        once: bool,
    },
    /// Runs a program that the policy declares.
    Run {
        /// Name of the program in the policy.
        program: String,
        /// Arguments appended to the declared ones.
        args: Vec<TextTemplate>,
        /// Value passed on standard input as JSON; absent if there is none.
        input: Option<Expr>,
    },
    /// Sends a request to a host that the policy allows.
    Http {
        /// The HTTP method.
        method: String,
        /// The absolute URL.
        url: TextTemplate,
        /// Request body, sent as JSON; absent if there is none.
        body: Option<Expr>,
    },
    /// Queries a source that the policy declares.
    Retrieve {
        /// Name of the source in the policy.
        source: TextTemplate,
        /// The query, in the form that the source expects.
        query: Expr,
    },
}

/// A format that a `write` effect converts Markdown to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteFormat {
    /// A Word document.
    Docx,
}

/// Another workflow, started as a child run.
#[derive(Debug)]
pub struct WorkflowInvocation {
    /// Items to start a child for; one child if absent.
    pub fan_out: Option<ChildFanOut>,
    /// Id of the child's workflow.
    pub workflow: String,
    /// Pointers in the child's document with the expressions that give their values, evaluated in
    /// the parent.
    pub input: Vec<(String, Expr)>,
    /// How a completed child changes the parent's document; expressions read the child's document
    /// as `reply`.
    pub output: Vec<DocumentChange>,
    /// Phase to enter when the child completes; if absent, the gates decide.
    pub on_complete: Option<String>,
    /// What happens when the child has failed.
    pub on_failed: FailureHandler,
}

/// One child run per item.
#[derive(Debug)]
pub struct ChildFanOut {
    /// The items to start a child for.
    pub for_each: ForEachItems,
    /// Expression that gives the text identifying an item's child; the item itself if absent.
    pub key: Option<Expr>,
    /// Maximum number of children that run at the same time.
    pub max_concurrent: usize,
}
