//! Documents that lie where they were asked for: whoever puts a file at the suggested path has answered.

use countersign_core::json::sha256;
use countersign_core::run::{Incoming, Wait, WaitShape};
use serde_json::json;

use super::perform::Hands;
use crate::engine::Live;

/// How large a document may be that is taken by itself; a larger one is left to a person's word.
const LARGEST: u64 = 64 * 1024 * 1024;

/// Who answers then.
const BY: &str = "workspace";

impl Hands {
    /// The answer to a wait whose document has arrived; `tried` are waits that did not take theirs.
    ///
    /// A wait that is meant for somebody is left to that person: a file does not say who brought it.
    pub(super) async fn arrived(&self, live: &Live, tried: &[String]) -> Option<Incoming> {
        let state = &live.state;
        if state.halted.is_some() || state.end.is_some() {
            return None;
        }
        for wait in state.waits.values().filter(|wait| !tried.contains(&wait.id)) {
            if let Some(path) = suggested(wait) {
                let (workspace, path) = (self.workspace(&live.protocol), path.to_owned());
                let read = move || workspace.read(&path, LARGEST).map(|content| (path, content));
                let Ok(Ok((path, content))) = tokio::task::spawn_blocking(read).await else {
                    continue;
                };
                if content.truncated {
                    continue;
                }
                let name = path.rsplit('/').next().unwrap_or_default();
                let (bytes, digest) = (content.bytes.len(), sha256(&[&content.bytes]));
                let value = json!({ "path": path, "name": name, "bytes": bytes, "sha256": digest });
                let (wait, by) = (wait.id.clone(), BY.to_owned());
                return Some(Incoming::Answered { wait, value, by });
            }
        }
        None
    }
}

/// Where the document of a wait is looked for.
pub(super) fn suggested(wait: &Wait) -> Option<&str> {
    match &wait.shape {
        Some(WaitShape::Document { suggested_path, .. }) if wait.who.is_none() => {
            suggested_path.as_deref()
        }
        _ => None,
    }
}
