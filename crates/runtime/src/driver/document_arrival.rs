//! Documents that arrive at the path where they were requested: a file at the suggested path
//! answers the wait.

use std::time::SystemTime;

use countersign_contract::json::sha256_hex;
use countersign_protocol::format_assignees;
use countersign_run::{INPUTS_FOLDER, InputKind, RunInputs, RunWait, WaitAnswerShape};
use serde_json::json;

use super::effect_executor::EffectExecutor;
use crate::engine::LiveRun;
use crate::workspace::{
    SPECIFIED_FOLDER, TYPE_PROBE_BYTES, Workspace, WorkspaceError, check_document_type,
};

/// Maximum size of a document that is accepted automatically, in bytes. A person must confirm a
/// larger one.
const MAX_DOCUMENT_BYTES: u64 = 64 * 1024 * 1024;

/// Size and modification time of a file.
pub(super) type FileStamp = (u64, Option<SystemTime>);

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
                let (workspace, path) =
                    (self.workspace_for(&live.protocol, state), path.to_owned());
                let shared = self.find_shared_file(&state.run, wait).map(|(path, _)| path);
                let all_runs = self.workspace().clone();
                let read = move || {
                    if let Some(shared) = shared {
                        copy_shared_file(&all_runs, &shared, &workspace, &path)?;
                    }
                    workspace.read(&path, MAX_DOCUMENT_BYTES).map(|content| (path, content))
                };
                let Ok(Ok((path, content))) = tokio::task::spawn_blocking(read).await else {
                    continue;
                };
                if content.truncated {
                    continue;
                }
                let name = path.rsplit('/').next().unwrap_or_default();
                let first = &content.bytes[..content.bytes.len().min(TYPE_PROBE_BYTES)];
                // A person decides what to do with a file that is not what its name says.
                if check_document_type(name, first).is_err() {
                    continue;
                }
                let (bytes, digest) = (content.bytes.len(), sha256_hex(&[&content.bytes]));
                let value = json!({ "path": path, "name": name, "bytes": bytes, "sha256": digest });
                let (wait, by) = (wait.id.clone(), ANSWERED_BY.to_owned());
                return Some(InputKind::Answered { wait, value, by });
            }
        }
        None
    }

    /// Finds the document of a wait where the specification writes it, `workspace/inputs/…`, with
    /// its stamp. That place belongs to no run, so only a file counts that was put there after the
    /// wait was opened, and only if the run has none in its own folder.
    pub(super) fn find_shared_file(
        &self,
        run: &str,
        wait: &RunWait,
    ) -> Option<(String, FileStamp)> {
        let expected = suggested_path(wait)?;
        let below = expected.strip_prefix(&format!("{}/", RunInputs::for_run_id(run).folder()))?;
        let shared = format!("{SPECIFIED_FOLDER}/{INPUTS_FOLDER}/{below}");
        let stamp = self.workspace().read_file_stamp(&shared)?;
        let changed = stamp.1?.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_millis();
        let is_new = changed >= u128::try_from(wait.opened_at.0).ok()?;
        let is_needed = self.workspace().read_file_stamp(expected).is_none();
        (is_new && is_needed).then_some((shared, stamp))
    }
}

/// Copies a document that belongs to no run into the folder of the run that asks for it.
fn copy_shared_file(
    all_runs: &Workspace,
    shared: &str,
    workspace: &Workspace,
    path: &str,
) -> Result<(), WorkspaceError> {
    let (file, size) = all_runs.open_file(shared)?;
    if size <= MAX_DOCUMENT_BYTES {
        workspace.write_from(path, file)?;
    }
    Ok(())
}

/// Describes a file that somebody put in place for a wait, and that does not answer it: it is where
/// no run looks, or it is not of the expected type. `None` if there is no such file.
///
/// `workspace` is the workspace of all runs.
#[must_use]
pub fn describe_unused_document(
    workspace: &Workspace,
    run: &str,
    wait: &RunWait,
) -> Option<String> {
    let Some(WaitAnswerShape::Document { suggested_path: Some(path), accepts }) =
        &wait.answer_shape
    else {
        return None;
    };
    let provide = format!("provide it with `countersign answer {run}/{} --file FILE`", wait.id);
    if workspace.read_file_stamp(path).is_some() {
        if !wait.who.is_empty() {
            let who = format_assignees(&wait.who);
            return Some(format!(
                "the file `{path}` does not say who provided it, and only {who} may: {provide}"
            ));
        }
        let lower = path.to_lowercase();
        if !accepts.is_empty() && !accepts.iter().any(|end| lower.ends_with(&end.to_lowercase())) {
            let kinds = accepts.join(", ");
            return Some(format!(
                "the file `{path}` is not of an accepted type ({kinds}): {provide}"
            ));
        }
        let name = path.rsplit('/').next().unwrap_or_default();
        let first = workspace.read(path, TYPE_PROBE_BYTES as u64).ok()?;
        if let Err(mismatch) = check_document_type(name, &first.bytes) {
            let (found, expected) = (mismatch.found, mismatch.expected);
            return Some(format!("the file `{path}` is {found}; expected {expected}"));
        }
        if first.size > MAX_DOCUMENT_BYTES {
            let limit = MAX_DOCUMENT_BYTES >> 20;
            return Some(format!("the file `{path}` is larger than {limit} MiB: {provide}"));
        }
        return None;
    }
    let below = path.strip_prefix(&format!("{}/", RunInputs::for_run_id(run).folder()))?;
    let elsewhere = [
        format!("{INPUTS_FOLDER}/{below}"),
        below.to_owned(),
        format!("{SPECIFIED_FOLDER}/{INPUTS_FOLDER}/{below}"),
    ];
    let found = elsewhere.iter().find(|other| workspace.read_file_stamp(other).is_some())?;
    Some(format!("the file `{found}` belongs to no run; move it to `{path}`"))
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
