//! Documents that arrive at the path where they were requested: a file at the suggested path
//! answers the wait.

use countersign_contract::json::sha256_hex;
use countersign_run::{InputKind, RunWait, WaitAnswerShape};
use serde_json::json;

use super::effect_executor::EffectExecutor;
use crate::engine::LiveRun;

/// Maximum size of a document that is accepted automatically, in bytes. A person must confirm a
/// larger one.
const MAX_DOCUMENT_BYTES: u64 = 64 * 1024 * 1024;

/// The actor recorded for automatic answers.
const ANSWERED_BY: &str = "workspace";

impl EffectExecutor {
    /// Returns the answer to a wait whose document has arrived; `tried` lists the waits that
    /// rejected theirs.
    ///
    /// A wait with an assignee is left to that person, because a file does not say who provided it.
    pub(super) async fn find_arrived_document(
        &self,
        live: &LiveRun,
        tried: &[String],
    ) -> Option<InputKind> {
        let state = &live.state;
        if state.halted.is_some() || state.end.is_some() {
            return None;
        }
        for wait in state.waits.values().filter(|wait| !tried.contains(&wait.id)) {
            if let Some(path) = suggested_path(wait) {
                let (workspace, path) = (self.workspace_for(&live.protocol), path.to_owned());
                let read = move || {
                    workspace.read(&path, MAX_DOCUMENT_BYTES).map(|content| (path, content))
                };
                let Ok(Ok((path, content))) = tokio::task::spawn_blocking(read).await else {
                    continue;
                };
                if content.truncated {
                    continue;
                }
                let name = path.rsplit('/').next().unwrap_or_default();
                let (bytes, digest) = (content.bytes.len(), sha256_hex(&[&content.bytes]));
                let value = json!({ "path": path, "name": name, "bytes": bytes, "sha256": digest });
                let (wait, by) = (wait.id.clone(), ANSWERED_BY.to_owned());
                return Some(InputKind::Answered { wait, value, by });
            }
        }
        None
    }
}

/// Returns the path where the document of a wait is expected.
pub(super) fn suggested_path(wait: &RunWait) -> Option<&str> {
    match &wait.answer_shape {
        Some(WaitAnswerShape::Document { suggested_path, .. }) if wait.who.is_empty() => {
            suggested_path.as_deref()
        }
        _ => None,
    }
}
