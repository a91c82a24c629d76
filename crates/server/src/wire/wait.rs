//! Open waits as they are sent.

use countersign_core::run::{Timestamp, WaitAnswerShape, WaitKind};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::show::wait_text;

/// An open wait. Exactly one answer is taken.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct WaitView {
    /// Unique in the run.
    #[schema(example = "w1")]
    pub id: String,
    /// What kind of answer moves it: `question`, `document`, `approval`, `budget`, `work`, `trouble`.
    #[schema(value_type = String, example = "approval")]
    pub kind: WaitKind,
    /// The phase that waits.
    pub phase: String,
    /// The question's id in the phase, the budget's name, or the phase a way leads to.
    pub name: String,
    /// The question's id in the file, where it is asked for each of several items.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// The item that it is asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<Value>,
    /// The way that an approval is about, by its position among the workflow's transitions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub way: Option<usize>,
    /// What is asked, in a sentence.
    pub question: String,
    /// What an answer looks like: `{"shape": "value", "schema"}`, `{"shape": "choices", "choices":
    /// [{"id", "label"}]}`, or `{"shape": "document", "suggested_path", "accepts"}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub shape: Option<WaitAnswerShape>,
    /// Who may answer; everybody when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// Until when.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>)]
    pub deadline: Option<Timestamp>,
    /// Since when.
    #[schema(value_type = i64)]
    pub opened_at: Timestamp,
}

impl From<&countersign_core::run::RunWait> for WaitView {
    fn from(wait: &countersign_core::run::RunWait) -> Self {
        let countersign_core::run::RunWait { id, kind, phase, name, .. } = wait.clone();
        let countersign_core::run::RunWait { of, item, way, question, .. } = wait.clone();
        let countersign_core::run::RunWait { shape, who, deadline, opened_at, .. } = wait.clone();
        Self { id, kind, phase, name, of, item, way, question, shape, who, deadline, opened_at }
    }
}

/// An open wait in the inbox: where it is, and how it is answered.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct InboxRow {
    /// Unique in the run.
    #[schema(example = "w1")]
    pub id: String,
    /// What kind of answer moves it: `question`, `document`, `approval`, `budget`, `work`, `trouble`.
    #[schema(value_type = String, example = "approval")]
    pub kind: WaitKind,
    /// The phase that waits.
    pub phase: String,
    /// The question's id in the phase, the budget's name, or the phase a way leads to.
    pub name: String,
    /// The question's id in the file, where it is asked for each of several items.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// The item that it is asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<Value>,
    /// The way that an approval is about, by its position among the workflow's transitions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub way: Option<usize>,
    /// What is asked, in a sentence.
    pub question: String,
    /// What an answer looks like, as in [`WaitView`].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub shape: Option<WaitAnswerShape>,
    /// Who may answer; everybody when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// Until when.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>)]
    pub deadline: Option<Timestamp>,
    /// Since when.
    #[schema(value_type = i64)]
    pub opened_at: Timestamp,
    /// The run that waits.
    #[schema(example = "k7mw2p")]
    pub run: String,
    /// Run and wait in one: `k7mw2p/w1`.
    #[schema(example = "k7mw2p/w1")]
    pub address: String,
    /// What an answer looks like, in words; null where the kind says it all.
    pub in_words: Option<String>,
    /// The command that answers it.
    pub answer_with: String,
}

impl InboxRow {
    /// A wait of a run.
    #[must_use]
    pub fn from_wait(run: &str, wait: &countersign_core::run::RunWait) -> Self {
        let WaitView { id, kind, phase, name, of, item, way, .. } = WaitView::from(wait);
        let WaitView { question, shape, who, deadline, opened_at, .. } = WaitView::from(wait);
        let (in_words, answer_with) =
            (wait_text::describe_answer(wait), wait_text::answer_command(run, wait));
        let (run, address) = (run.to_owned(), format!("{run}/{}", wait.id));
        Self {
            id,
            kind,
            phase,
            name,
            of,
            item,
            way,
            question,
            shape,
            who,
            deadline,
            opened_at,
            run,
            address,
            in_words,
            answer_with,
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
            "id": "w1", "kind": "question", "phase": "ask", "name": "n", "of": "q", "item": {"a": 1},
            "way": 2, "question": "How many?", "shape": {"shape": "value", "schema": {"type": "integer"}},
            "who": "ann", "deadline": 5, "opened_at": 3,
        });
        let bare = json!({
            "id": "w2", "kind": "trouble", "phase": "ask", "name": "n", "question": "And now?", "opened_at": 3,
        });
        for kept in [full, bare] {
            let wait: countersign_core::run::RunWait =
                serde_json::from_value(kept.clone()).unwrap();
            assert_eq!(json!(WaitView::from(&wait)), kept);
            let mut listed = json!(InboxRow::from_wait("r", &wait));
            let object = listed.as_object_mut().unwrap();
            for added in ["run", "address", "in_words", "answer_with"] {
                object.remove(added).unwrap();
            }
            assert_eq!(listed, kept);
        }
    }
}
