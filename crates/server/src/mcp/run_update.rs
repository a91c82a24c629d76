//! The state of a run after a tool changed it, with advice on what to do next.

use countersign_contract::reply::Violation;
use countersign_protocol::format_assignees;
use countersign_run::WaitKind;
use serde::Serialize;
use utoipa::ToSchema;

use crate::access::Caller;
use crate::http::ApiError;
use countersign_view::show::RunOutputView;
use countersign_view::wire::{ExpectedInput, InputResponse, WaitView, find_expected_input};

/// How long a call waits for a run to pause by default, in seconds.
pub(super) const DEFAULT_WAIT_SECONDS: u64 = 10;

/// The current state of the run, and what to do next.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(super) struct McpRunUpdate {
    /// The id of the run.
    run: String,
    /// The version of the run: the number of inputs it has accepted.
    version: u64,
    /// `running`, `waiting`, `halted`, `completed` or `failed`.
    status: String,
    /// The id of the current phase.
    phase: String,
    /// Whether the submitted reply satisfied its contract. Null if no reply was submitted.
    accepted: Option<bool>,
    /// Everything that is wrong with the reply, one item per violation: `pointer` is the JSON
    /// Pointer of the value (empty: the whole reply), `code` the kind of violation, `expected` and
    /// `found` the required and the actual value, `message` a summary in one sentence, and `hint`
    /// what to do.
    #[schema(value_type = Vec<Object>)]
    violations: Vec<Violation>,
    /// What you can submit now: `reply` (to `action`), `patch`, or null for nothing.
    expects: Option<String>,
    /// The action that the next reply answers. It changes after every reply.
    action: Option<String>,
    /// The open waits of the run.
    waits: Vec<WaitView>,
    /// The output of the run. Empty until the run is completed.
    output: Vec<RunOutputView>,
    /// What to do next, in one or two sentences.
    next_step: String,
}

impl McpRunUpdate {
    /// Builds the update from the response to an input; `replied` tells whether that input was a
    /// reply.
    pub(super) async fn from_input_response(
        caller: &Caller,
        taken: InputResponse,
        replied: bool,
    ) -> Result<Self, ApiError> {
        let expected_input =
            find_expected_input(&caller.runtime.engine.get_run(&taken.run).await?.state);
        let next = describe_next_action(&taken, expected_input.as_ref(), caller);
        let InputResponse { run, version, status, phase, waits, output, violations } = taken;
        let (asks, action) = match expected_input {
            Some(ExpectedInput::Reply { action }) => (Some("reply".to_owned()), Some(action)),
            Some(ExpectedInput::Patch) => (Some("patch".to_owned()), None),
            None => (None, None),
        };
        let accepted = replied.then_some(violations.is_none());
        let violations = violations.unwrap_or_default();
        Ok(Self {
            run,
            version,
            status,
            phase,
            accepted,
            violations,
            expects: asks,
            action,
            waits,
            output,
            next_step: next,
        })
    }
}

fn describe_next_action(
    taken: &InputResponse,
    expected_input: Option<&ExpectedInput>,
    caller: &Caller,
) -> String {
    let run = &taken.run;
    let again = taken.violations.is_some();
    let refused = if again { "The reply was refused and changed nothing. " } else { "" };
    let by_model = |wait: &&WaitView| wait.kind == WaitKind::Work;
    let people: Vec<&WaitView> = taken.waits.iter().filter(|wait| !by_model(wait)).collect();
    let text = match (taken.status.as_str(), expected_input) {
        ("completed", _) => "The run is completed: `output` contains its result.".to_owned(),
        ("failed", _) => format!("The run has failed: call show_run for run {run}; `end` contains the reason."),
        ("halted", _) => {
            format!("A person halted the run. A person can resume it with `countersign resume {run}`.")
        }
        (_, Some(ExpectedInput::Reply { action }))
            if taken.waits.iter().any(|wait| by_model(&wait)) =>
        {
            if again {
                return format!(
                    "{refused}Fix everything that `violations` lists, and submit the reply again with submit_reply and action {action}; next_step returns the prompt again."
                );
            }
            format!(
                "It is your turn: call next_step for run {run}, write the requested reply, and submit it with submit_reply and action {action}."
            )
        }
        (_, Some(ExpectedInput::Reply { .. })) => {
            format!("A model is writing the reply: call show_run for run {run} later.")
        }
        (_, _) if !people.is_empty() => describe_waits(&people, caller),
        (_, Some(ExpectedInput::Patch)) => {
            "Every transition is closed: call next_step for the reasons, then submit a patch that opens one."
                .to_owned()
        }
        ("running", None) => format!("A worker is processing the run: call show_run for run {run} later."),
        (_, None) => format!("The run expects nothing now: call show_run for run {run} to see why."),
    };
    format!("{refused}{text}")
}

fn describe_waits(people: &[&WaitView], caller: &Caller) -> String {
    let mut text = "The run waits for a person:".to_owned();
    for wait in people {
        let whom = if wait.who.is_empty() {
            String::new()
        } else {
            format!(", for {}", format_assignees(&wait.who))
        };
        text.push_str(&format!(" {} ({}{whom}): {}", wait.id, wait.kind.as_str(), wait.question));
    }
    let (user, mine) = (&caller.user, caller.sender.to_assignees(&caller.user));
    let foreign =
        |wait: &&WaitView| !wait.who.is_empty() && !wait.who.iter().any(|one| mine.contains(one));
    if people.iter().all(foreign) {
        text.push_str(&format!(" You act as {user}, so you cannot answer: tell the person."));
    } else {
        text.push_str(
            " Ask the person; call answer, approve or deny only with what the person said.",
        );
    }
    text
}
