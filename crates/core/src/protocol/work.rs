//! What is done in a phase: a model's step, a question, an effect, a child workflow, or nothing.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::gate::RetryPolicy;
use super::{
    DocumentChange, DurationMillis, FailureHandler, ForEachItems, Localized, ResolvedAgent,
    TextTemplate,
};
use crate::contract::Contract;
use crate::expr::Expr;

/// The work of a phase.
#[derive(Debug)]
pub enum PhaseWork {
    /// None: the ways out are asked at once. When none is open, anybody may hand in a patch.
    None,
    /// A model is asked, under a contract.
    Agent(AgentWork),
    /// People are asked; the phase is done when every question is answered.
    Ask(Vec<PhaseQuestion>),
    /// Something is done outside.
    Effect {
        /// For each of what; once where absent.
        for_each: Option<ForEachItems>,
        /// What.
        effect: EffectTemplate,
        /// How the result changes the document.
        apply: Vec<DocumentChange>,
        /// What the result must satisfy.
        contract: Option<Arc<Contract>>,
        /// When a failed attempt is repeated.
        retry: Option<RetryPolicy>,
        /// What follows when it has failed for good.
        on_failed: FailureHandler,
    },
    /// Another workflow runs, as a run of its own.
    Invoke(WorkflowInvocation),
}

/// A model's step.
#[derive(Debug)]
pub struct AgentWork {
    /// Who is asked.
    pub agent: Arc<ResolvedAgent>,
    /// What the reply must satisfy.
    pub contract: Arc<Contract>,
    /// What is asked, filled in from `state` and `run`. Without it, the phase's name and description.
    pub prompt: Option<Localized<TextTemplate>>,
    /// Which packet it gets.
    pub purpose: AgentPurpose,
    /// The pointers of the document that are shown; all of it when absent.
    pub reads: Option<Vec<String>>,
    /// How an accepted reply changes the document.
    pub apply: Vec<DocumentChange>,
    /// What follows when every re-asking is spent; `Empty` is what the contract says.
    pub on_refused: Option<FailureHandler>,
    /// The budget that a step refused for good spends from, such as `reviewer_failures`.
    pub refusal_spends: Option<String>,
}

/// Which packet of memory a model gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AgentPurpose {
    /// One that plans.
    Planner,
    /// One that uses tools.
    Tool,
    /// One whose words reach a person.
    Responder,
}

impl AgentPurpose {
    /// The name in files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Planner => "planner",
            Self::Tool => "tool",
            Self::Responder => "responder",
        }
    }
}

/// A question to people, or a document they are to bring.
#[derive(Debug)]
pub struct PhaseQuestion {
    /// Unique in its phase. Where it is asked for each of several items, the text of the template that names
    /// each.
    pub id: String,
    /// For each of what, and under which ids; once where absent.
    pub for_each: Option<(ForEachItems, TextTemplate)>,
    /// What is asked.
    pub question: Localized<TextTemplate>,
    /// What an answer looks like.
    pub shape: AnswerShape,
    /// Who may answer; everybody when absent.
    pub who: Option<String>,
    /// How long an answer is waited for.
    pub deadline: Option<DurationMillis>,
    /// The answer that is taken when the deadline passes.
    pub default: Option<Value>,
    /// What follows a deadline without a default.
    pub otherwise: FailureHandler,
    /// How the answer, as `reply`, changes the document.
    pub apply: Vec<DocumentChange>,
    /// Asked only where this holds.
    pub when: Option<Expr>,
}

/// What an answer looks like.
#[derive(Debug)]
pub enum AnswerShape {
    /// Any value that satisfies a contract.
    Value(Arc<Contract>),
    /// One of a list, by its id.
    Choices(ChoiceSource),
    /// A file.
    Document {
        /// Where it is looked for, inside the workspace.
        suggested_path: Option<TextTemplate>,
        /// What is taken.
        accepts: AcceptedExtensions,
    },
    /// Any value that satisfies a JSON Schema, which the one expression in here gives.
    Computed(TextTemplate),
}

/// Which files are taken.
#[derive(Debug)]
pub enum AcceptedExtensions {
    /// Those with these extensions, with the dot; any when empty.
    Listed(Vec<String>),
    /// An expression gives the list.
    Computed(Expr),
}

/// Where the choices of a question come from.
#[derive(Debug)]
pub enum ChoiceSource {
    /// They stand in the file.
    Listed(Vec<ListedChoice>),
    /// An expression over `state` and `run` gives them: a list of texts, or of objects with `id` and `label`.
    Computed(Expr),
}

/// One of several answers as a file lists it.
#[derive(Debug)]
pub struct ListedChoice {
    /// What is answered.
    pub id: String,
    /// What is shown.
    pub label: Localized<String>,
}

/// One of several answers. Stored with the wait that offers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerChoice {
    /// What is answered.
    pub id: String,
    /// What is shown.
    pub label: String,
}

/// Something done outside, with places to fill.
#[derive(Debug)]
pub enum EffectTemplate {
    /// Writes a file inside the workspace.
    Write {
        /// Where.
        path: TextTemplate,
        /// What; a text as it is, anything else as JSON.
        content: Expr,
        /// Whether a file that holds something else is left alone.
        once: bool,
    },
    /// Copies a file inside the workspace.
    Copy {
        /// Which.
        from: TextTemplate,
        /// Where to.
        to: TextTemplate,
        /// Whether a file that holds something else is left alone.
        once: bool,
    },
    /// Runs a program that the policy declares.
    Run {
        /// Its name in the policy.
        program: String,
        /// Arguments behind the declared ones.
        args: Vec<TextTemplate>,
        /// What it gets on standard input, as JSON.
        input: Option<Expr>,
    },
    /// Calls a host that the policy allows.
    Http {
        /// The method.
        method: String,
        /// The address.
        url: TextTemplate,
        /// The body, as JSON.
        body: Option<Expr>,
    },
    /// Looks something up in a declared source.
    Retrieve {
        /// Its name in the policy.
        source: TextTemplate,
        /// The question.
        query: Expr,
    },
}

/// Another workflow as a run of its own.
#[derive(Debug)]
pub struct WorkflowInvocation {
    /// For each of what; once where absent.
    pub fan_out: Option<ChildFanOut>,
    /// Its id.
    pub workflow: String,
    /// Where in the child's document what of ours goes.
    pub input: Vec<(String, Expr)>,
    /// How the child's document, as `reply`, changes ours when it completes.
    pub output: Vec<DocumentChange>,
    /// The phase that follows; without it, the gates decide.
    pub on_complete: Option<String>,
    /// What follows a child that failed.
    pub on_failed: FailureHandler,
}

/// A child for each of several items.
#[derive(Debug)]
pub struct ChildFanOut {
    /// Which items.
    pub for_each: ForEachItems,
    /// What tells the child of an item from the others, a text; the item itself where absent.
    pub key: Option<Expr>,
    /// How many run at once.
    pub max_concurrent: usize,
}
