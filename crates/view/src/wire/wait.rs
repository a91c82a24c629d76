//! Open waits, as the API sends them.

use countersign_protocol::{Assignee, PresentationFormat};
use countersign_run::{
    ApprovalSubject, InputSender, PresentedFile, PresentedPart, RunWait, Timestamp,
    WaitAnswerShape, WaitApproval, WaitKind, check_assignee,
};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::DecisionOutcomes;
use crate::show::wait_text;

/// Why a person may not answer a wait.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct WaitRefusal {
    /// The code of the rejection that an answer would get: `not_assignee`, `not_distinct`,
    /// `already_approved` or `not_verified`.
    #[schema(example = "not_distinct")]
    pub code: String,
    /// The reason, in one sentence.
    pub message: String,
}

/// An open wait. It accepts exactly one answer.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct WaitView {
    /// The id of the wait, unique in the run.
    #[schema(example = "w1")]
    pub id: String,
    /// The kind of answer that ends the wait: `question`, `document`, `approval`, `budget`, `work`,
    /// `incident`.
    #[schema(value_type = String, example = "approval")]
    pub kind: WaitKind,
    /// The phase that waits.
    pub phase: String,
    /// The id of the question in the phase, the name of the budget, or the target phase of the
    /// transition.
    pub name: String,
    /// The id of the question in the protocol file, if it is asked for each of several items.
    /// Absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub definition_id: Option<String>,
    /// The item that the question is about. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<Value>,
    /// The transition that an approval is about, by its index in the workflow. Absent for other
    /// waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transition: Option<usize>,
    /// The question, in one sentence.
    pub question: String,
    /// The shape of the answer: `{"kind": "value", "schema"}`,
    /// `{"kind": "choices", "choices": [{"id", "label"}]}`, or
    /// `{"kind": "document", "suggested_path", "accepts"}`. Absent if the kind determines it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub answer_shape: Option<WaitAnswerShape>,
    /// Who may answer: users, `group:NAME`, `role:NAME`. Absent if everyone may.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>, example = json!(["ann", "group:finance"]))]
    pub who: Vec<Assignee>,
    /// The deadline, in Unix milliseconds. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>)]
    pub deadline: Option<Timestamp>,
    /// When the wait was opened, in Unix milliseconds.
    #[schema(value_type = i64)]
    pub opened_at: Timestamp,
    /// What an approval signs: `{"digest", "parts": [{"pointer", "value"}]}`. With `"omitted": true`
    /// the parts are too large; read them from the document. `changes` is the difference to the
    /// wait that this one replaces. Absent for other kinds of wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub subject: Option<ApprovalSubject>,
    /// What the approver is shown of the subject, in this order. Absent if the whole subject is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub presented: Vec<PresentedPartView>,
    /// The waits that this one replaces because their subject changed, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub supersedes: Vec<String>,
    /// The action that is held until the approval. Absent if the approval is for a transition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// What a decision needs: `{"need", "distinct_from", "excluded", "verified", "note"}`; and what
    /// was decided so far: `votes` and `delegations`. Absent for other kinds of wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub approval: Option<WaitApproval>,
    /// What the held call would do, in words: the difference of the file, the command line, the
    /// request. Absent if the approval is for a transition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// Whether the caller may answer. Absent if the server does not know the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub may_answer: Option<bool>,
    /// Why the caller may not answer. Absent if the caller may, or is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<WaitRefusal>,
    /// What follows from each decision. Absent for kinds of wait that take no decision, and where
    /// the workflow of the run was not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcomes: Option<DecisionOutcomes>,
    /// The agent whose call is held. Absent for other waits, and where the workflow of the run was
    /// not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "editor")]
    pub agent: Option<String>,
    /// Who started the run that asks. Empty where the run was not read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requested_by: Vec<String>,
}

impl From<&countersign_run::RunWait> for WaitView {
    fn from(wait: &countersign_run::RunWait) -> Self {
        let countersign_run::RunWait { id, kind, phase, name, .. } = wait.clone();
        let countersign_run::RunWait { definition_id: of, item, transition, question, .. } =
            wait.clone();
        let countersign_run::RunWait { answer_shape: shape, who, deadline, opened_at, .. } =
            wait.clone();
        let countersign_run::RunWait { subject, supersedes, action, approval, .. } = wait.clone();
        let presented = wait.presented.iter().map(|part| PresentedPartView::new(wait, part));
        Self {
            id,
            kind,
            phase,
            name,
            definition_id: of,
            item,
            transition,
            question,
            answer_shape: shape,
            who,
            deadline,
            opened_at,
            subject,
            presented: presented.collect(),
            supersedes,
            action,
            approval,
            preview: None,
            may_answer: None,
            refusal: None,
            outcomes: None,
            agent: None,
            requested_by: Vec::new(),
        }
    }
}

/// One part of a subject, as the approver is shown it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct PresentedPartView {
    /// The heading above the part.
    #[schema(example = "The text")]
    pub title: String,
    /// JSON Pointer of the part in the document.
    #[schema(example = "/draft/text")]
    pub pointer: String,
    /// The format: `text`, `markdown`, `table`, `json`, `image`, `file` or `difference`.
    #[schema(value_type = String, example = "markdown")]
    pub format: PresentationFormat,
    /// The value, as the subject has it. Null if the document has none, or the subject is too large.
    pub value: Value,
    /// The value that was approved last, for `difference`. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// The file that the value names, for `file` and `image`: `{"path", "digest"}`. Without a digest
    /// there is no such file, or it is too large to be signed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub file: Option<PresentedFile>,
}

impl PresentedPartView {
    fn new(wait: &countersign_run::RunWait, part: &PresentedPart) -> Self {
        let PresentedPart { title, pointer, format, before, file } = part.clone();
        let value = wait.subject.as_ref().and_then(|subject| subject.find_value(&pointer));
        let value = value.cloned().unwrap_or(Value::Null);
        let format = format.unwrap_or(match value {
            Value::String(_) => PresentationFormat::Text,
            _ => PresentationFormat::Json,
        });
        Self { title, pointer, format, value, before, file }
    }
}

impl WaitRefusal {
    /// Why a person may not answer a wait; `None` if the person may.
    #[must_use]
    pub fn find(wait: &RunWait, user: &str, sender: &InputSender) -> Option<Self> {
        let rejection = check_assignee(wait, user, Some(sender)).err()?;
        Some(Self { code: rejection.code().to_owned(), message: rejection.to_string() })
    }
}

/// An open wait in the inbox: its run, and how to answer it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct InboxRow {
    /// The id of the wait, unique in the run.
    #[schema(example = "w1")]
    pub id: String,
    /// The kind of answer that ends the wait: `question`, `document`, `approval`, `budget`, `work`,
    /// `incident`.
    #[schema(value_type = String, example = "approval")]
    pub kind: WaitKind,
    /// The phase that waits.
    pub phase: String,
    /// The id of the question in the phase, the name of the budget, or the target phase of the
    /// transition.
    pub name: String,
    /// The id of the question in the protocol file, if it is asked for each of several items.
    /// Absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub definition_id: Option<String>,
    /// The item that the question is about. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<Value>,
    /// The transition that an approval is about, by its index in the workflow. Absent for other
    /// waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transition: Option<usize>,
    /// The question, in one sentence.
    pub question: String,
    /// The shape of the answer, as in [`WaitView`]. Absent if the kind determines it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub answer_shape: Option<WaitAnswerShape>,
    /// Who may answer: users, `group:NAME`, `role:NAME`. Absent if everyone may.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>, example = json!(["ann", "group:finance"]))]
    pub who: Vec<Assignee>,
    /// The deadline, in Unix milliseconds. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>)]
    pub deadline: Option<Timestamp>,
    /// When the wait was opened, in Unix milliseconds.
    #[schema(value_type = i64)]
    pub opened_at: Timestamp,
    /// What an approval signs: `{"digest", "parts": [{"pointer", "value"}]}`. With `"omitted": true`
    /// the parts are too large; read them from the document. `changes` is the difference to the
    /// wait that this one replaces. Absent for other kinds of wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub subject: Option<ApprovalSubject>,
    /// What the approver is shown of the subject, as in [`WaitView`]. Absent if the whole subject is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub presented: Vec<PresentedPartView>,
    /// The waits that this one replaces because their subject changed, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub supersedes: Vec<String>,
    /// The action that is held until the approval. Absent if the approval is for a transition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// What a decision needs: `{"need", "distinct_from", "excluded", "verified", "note"}`; and what
    /// was decided so far: `votes` and `delegations`. Absent for other kinds of wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub approval: Option<WaitApproval>,
    /// What the held call would do, in words: the difference of the file, the command line, the
    /// request. Absent if the approval is for a transition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// Whether the caller may answer. Absent if the server does not know the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub may_answer: Option<bool>,
    /// Why the caller may not answer. Absent if the caller may, or is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<WaitRefusal>,
    /// The run that waits.
    #[schema(example = "k7mw2p")]
    pub run: String,
    /// The title of the run, or its workflow if it has none. Absent if the run was not read.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schema(example = "A shop for handmade lamps")]
    pub title: String,
    /// The run and the wait in one address: `k7mw2p/w1`.
    #[schema(example = "k7mw2p/w1")]
    pub address: String,
    /// The expected answer, in words. Null if the kind is self-explanatory.
    pub answer_hint: Option<String>,
    /// The command that answers the wait.
    pub answer_command: String,
}

impl InboxRow {
    /// Builds the row from a wait of a run.
    #[must_use]
    pub fn from_wait(run: &str, wait: &countersign_run::RunWait) -> Self {
        let WaitView { id, kind, phase, name, definition_id, item, transition, .. } =
            WaitView::from(wait);
        let WaitView { question, answer_shape, who, deadline, opened_at, .. } =
            WaitView::from(wait);
        let WaitView { subject, presented, supersedes, action, approval, .. } =
            WaitView::from(wait);
        let (answer_hint, answer_command) =
            (wait_text::describe_answer(wait), wait_text::answer_command(run, wait));
        let (run, address) = (run.to_owned(), format!("{run}/{}", wait.id));
        Self {
            id,
            kind,
            phase,
            name,
            definition_id,
            item,
            transition,
            question,
            answer_shape,
            who,
            deadline,
            opened_at,
            subject,
            presented,
            supersedes,
            action,
            approval,
            preview: None,
            may_answer: None,
            refusal: None,
            run,
            title: String::new(),
            address,
            answer_hint,
            answer_command,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_sent_of_a_wait_is_what_is_kept_of_it() {
        let full = json!({
            "id": "w1", "kind": "question", "phase": "ask", "name": "n", "definition_id": "q", "item": {"a": 1},
            "transition": 2, "question": "How many?", "answer_shape": {"kind": "value", "schema": {"type": "integer"}},
            "who": ["ann", "group:finance"], "action": "a1", "deadline": 5, "opened_at": 3, "supersedes": ["w0"],
            "subject": {"digest": "d", "parts": [{"pointer": "/a", "value": 1}]},
            "approval": {"need": 2, "note": "optional", "votes": [{"by": "ben"}]},
        });
        let bare = json!({
            "id": "w2", "kind": "incident", "phase": "ask", "name": "n", "question": "And now?", "opened_at": 3,
        });
        for kept in [full, bare] {
            let wait: countersign_run::RunWait = serde_json::from_value(kept.clone()).unwrap();
            assert_eq!(json!(WaitView::from(&wait)), kept);
            let mut listed = json!(InboxRow::from_wait("r", &wait));
            let object = listed.as_object_mut().unwrap();
            for added in ["run", "address", "answer_hint", "answer_command"] {
                object.remove(added).unwrap();
            }
            assert_eq!(listed, kept);
        }
    }
}
