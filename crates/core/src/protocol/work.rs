//! What is done in a phase: a model's step, a question, an effect, a child workflow, or nothing.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::gate::Retry;
use super::{Agent, ByLanguage, Change, Duration, Each, Outcome, Template};
use crate::contract::Contract;
use crate::expr::Expr;

/// The work of a phase.
#[derive(Debug)]
pub enum Work {
    /// None: the ways out are asked at once. When none is open, anybody may hand in a patch.
    None,
    /// A model is asked, under a contract.
    Agent(AgentWork),
    /// People are asked; the phase is done when every question is answered.
    Ask(Vec<Question>),
    /// Something is done outside.
    Effect {
        /// For each of what; once where absent.
        each: Option<Each>,
        /// What.
        effect: EffectSpec,
        /// How the result changes the document.
        apply: Vec<Change>,
        /// What the result must satisfy.
        contract: Option<Arc<Contract>>,
        /// When a failed attempt is repeated.
        retry: Option<Retry>,
        /// What follows when it has failed for good.
        on_failed: Outcome,
    },
    /// Another workflow runs, as a run of its own.
    Invoke(Invoke),
}

/// A model's step.
#[derive(Debug)]
pub struct AgentWork {
    /// Who is asked.
    pub agent: Arc<Agent>,
    /// What the reply must satisfy.
    pub contract: Arc<Contract>,
    /// What is asked, filled in from `state` and `run`. Without it, the phase's name and description.
    pub prompt: Option<ByLanguage<Template>>,
    /// Which packet it gets.
    pub purpose: Purpose,
    /// The pointers of the document that are shown; all of it when absent.
    pub reads: Option<Vec<String>>,
    /// How an accepted reply changes the document.
    pub apply: Vec<Change>,
    /// What follows when every re-asking is spent; `None` is what the contract says.
    pub on_refused: Option<Outcome>,
    /// The budget that a step refused for good spends from, such as `reviewer_failures`.
    pub refusal_spends: Option<String>,
}

/// Which packet of memory a model gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// One that plans.
    Planner,
    /// One that uses tools.
    Tool,
    /// One whose words reach a person.
    Responder,
}

impl Purpose {
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
pub struct Question {
    /// Unique in its phase. Where it is asked for each of several items, the text of the template that names
    /// each.
    pub id: String,
    /// For each of what, and under which ids; once where absent.
    pub each: Option<(Each, Template)>,
    /// What is asked.
    pub question: ByLanguage<Template>,
    /// What an answer looks like.
    pub shape: Shape,
    /// Who may answer; everybody when absent.
    pub who: Option<String>,
    /// How long an answer is waited for.
    pub deadline: Option<Duration>,
    /// The answer that is taken when the deadline passes.
    pub default: Option<Value>,
    /// What follows a deadline without a default.
    pub otherwise: Outcome,
    /// How the answer, as `reply`, changes the document.
    pub apply: Vec<Change>,
    /// Asked only where this holds.
    pub when: Option<Expr>,
}

/// What an answer looks like.
#[derive(Debug)]
pub enum Shape {
    /// Any value that satisfies a contract.
    Value(Arc<Contract>),
    /// One of a list, by its id.
    Choices(Choices),
    /// A file.
    Document {
        /// Where it is looked for, inside the workspace.
        suggested_path: Option<Template>,
        /// What is taken.
        accepts: Accepts,
    },
    /// Any value that satisfies a JSON Schema, which the one expression in here gives.
    Computed(Template),
}

/// Which files are taken.
#[derive(Debug)]
pub enum Accepts {
    /// Those with these extensions, with the dot; any when empty.
    Listed(Vec<String>),
    /// An expression gives the list.
    Computed(Expr),
}

/// Where the choices of a question come from.
#[derive(Debug)]
pub enum Choices {
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
    pub label: ByLanguage<String>,
}

/// One of several answers. Stored with the wait that offers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// What is answered.
    pub id: String,
    /// What is shown.
    pub label: String,
}

/// Something done outside, with places to fill.
#[derive(Debug)]
pub enum EffectSpec {
    /// Writes a file inside the workspace.
    Write {
        /// Where.
        path: Template,
        /// What; a text as it is, anything else as JSON.
        content: Expr,
        /// Whether a file that holds something else is left alone.
        once: bool,
    },
    /// Copies a file inside the workspace.
    Copy {
        /// Which.
        from: Template,
        /// Where to.
        to: Template,
        /// Whether a file that holds something else is left alone.
        once: bool,
    },
    /// Runs a program that the policy declares.
    Run {
        /// Its name in the policy.
        program: String,
        /// Arguments behind the declared ones.
        args: Vec<Template>,
        /// What it gets on standard input, as JSON.
        input: Option<Expr>,
    },
    /// Calls a host that the policy allows.
    Http {
        /// The method.
        method: String,
        /// The address.
        url: Template,
        /// The body, as JSON.
        body: Option<Expr>,
    },
    /// Looks something up in a declared source.
    Retrieve {
        /// Its name in the policy.
        source: Template,
        /// The question.
        query: Expr,
    },
}

/// Another workflow as a run of its own.
#[derive(Debug)]
pub struct Invoke {
    /// For each of what; once where absent.
    pub each: Option<ForEach>,
    /// Its id.
    pub workflow: String,
    /// Where in the child's document what of ours goes.
    pub input: Vec<(String, Expr)>,
    /// How the child's document, as `reply`, changes ours when it completes.
    pub output: Vec<Change>,
    /// The phase that follows; without it, the gates decide.
    pub on_complete: Option<String>,
    /// What follows a child that failed.
    pub on_failed: Outcome,
}

/// A child for each of several items.
#[derive(Debug)]
pub struct ForEach {
    /// Which items.
    pub each: Each,
    /// What tells the child of an item from the others, a text; the item itself where absent.
    pub key: Option<Expr>,
    /// How many run at once.
    pub limit: usize,
}
