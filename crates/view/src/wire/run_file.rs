//! The files of a run, as the API sends them: those that its effects and tools wrote, and those
//! that people provided.

use std::collections::BTreeMap;

use countersign_contract::json::sha256_hex;
use countersign_run::{
    EffectCall, InputKind, RunEvent, RunLogEntry, Timestamp, ToolCall, WaitKind,
};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// One file of a run: its last version that the log of the run records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RunFileView {
    /// The run that wrote or received the file: the requested run, or one of its children.
    #[schema(example = "k7mw2p")]
    pub run: String,
    /// The path inside the workspace.
    #[schema(example = "artifacts/report.md")]
    pub path: String,
    /// The size in bytes that the log records.
    pub bytes: u64,
    /// The SHA-256 digest that the log records, as 64 hexadecimal digits.
    pub sha256: String,
    /// Where the file comes from: `effect`, `tool`, or `upload` for a document that a person
    /// provided.
    #[schema(example = "effect")]
    pub source: String,
    /// The version of the run that recorded the file.
    pub version: u64,
    /// When it was recorded, in Unix milliseconds.
    #[schema(value_type = i64)]
    pub time: Timestamp,
    /// The size in bytes of the file that is there now. Null if it is gone, or hidden from runs.
    pub current_bytes: Option<u64>,
}

/// Lists the files that a run wrote or received, by path, as its log records them. The current
/// size of each is unknown.
#[must_use]
pub fn list_run_files(run: &str, log: &[RunLogEntry]) -> Vec<RunFileView> {
    let mut files = BTreeMap::new();
    // Writes that were requested, and waits that ask for a document.
    let (mut effects, mut writes) = (Vec::new(), BTreeMap::new());
    let mut documents = Vec::new();
    for entry in log {
        let mut add = |path: String, bytes: u64, sha256: String, source: &str| {
            let row = RunFileView {
                run: run.to_owned(),
                path: path.clone(),
                bytes,
                sha256,
                source: source.to_owned(),
                version: entry.version,
                time: entry.time,
                current_bytes: None,
            };
            files.insert(path, row);
        };
        for event in entry.decode_events(run).unwrap_or_default() {
            match event {
                RunEvent::EffectRequested {
                    action,
                    effect: EffectCall::Write { .. } | EffectCall::Copy { .. },
                    ..
                } => effects.push(action),
                RunEvent::ToolRequested { action, call: ToolCall::Write { path, content } } => {
                    writes.insert(action, (path, content));
                }
                RunEvent::ToolFinished { action, ok } => {
                    if let Some((path, content)) = writes.remove(&action).filter(|_| ok) {
                        let digest = sha256_hex(&[content.as_bytes()]);
                        add(normalize_path(&path), content.len() as u64, digest, "tool");
                    }
                }
                RunEvent::WaitOpened { wait } if wait.kind == WaitKind::Document => {
                    documents.push(wait.id);
                }
                RunEvent::InputReceived { input } => match &input.payload {
                    InputKind::EffectFinished { action, result } if effects.contains(action) => {
                        if let Some((path, bytes, sha256)) = read_written_file(result) {
                            add(path, bytes, sha256, "effect");
                        }
                    }
                    InputKind::Answered { wait, value, .. } if documents.contains(wait) => {
                        if let Some((path, bytes, sha256)) = read_written_file(value) {
                            add(path, bytes, sha256, "upload");
                        }
                    }
                    _ => {}
                },
                _ => {}
            }
        }
    }
    files.into_values().collect()
}

/// Reads path, size and digest from the result of a write, or from an answer with a document.
fn read_written_file(value: &Value) -> Option<(String, u64, String)> {
    let path = value["path"].as_str()?.to_owned();
    Some((path, value["bytes"].as_u64()?, value["sha256"].as_str()?.to_owned()))
}

/// Removes the segments of a path that mean "here", as the workspace does.
fn normalize_path(path: &str) -> String {
    let names: Vec<&str> = path.split('/').filter(|name| *name != ".").collect();
    names.join("/")
}
