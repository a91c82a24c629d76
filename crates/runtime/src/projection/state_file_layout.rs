//! Maps parts of a document to files.

use std::path::{Path, PathBuf};

use countersign_protocol::StateFileLayout;
use serde_json::{Map, Value};

/// Name of the marker file that exists while a set of several files is written.
pub(super) const WRITE_MARKER: &str = ".countersign-writing";

/// Returns the files of a layout, in the order in which they are written and merged.
pub(super) fn state_file_names(format: StateFileLayout) -> &'static [&'static str] {
    match format {
        StateFileLayout::Single => &["current.json"],
        StateFileLayout::Multi => &["workflow.json", "sprint.json", "tasks.json"],
    }
}

/// Returns the part of a document that belongs to a file.
pub(super) fn select_part(file: &str, document: &Map<String, Value>) -> Map<String, Value> {
    let home = |key: &str| match key {
        "tasks" | "current_task_id" => "tasks.json",
        key if key.starts_with("sprint") => "sprint.json",
        _ => "workflow.json",
    };
    let of_file = |key: &str| file == "current.json" || home(key) == file;
    let part = document.iter().filter(|(key, _)| of_file(key));
    part.map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// Returns the folder for the state files of a protocol: beside a folder named `protocol`, else
/// inside it.
///
/// Beside any other folder, they would mix with those of its neighbours.
#[must_use]
pub fn state_folder(protocol: &Path) -> PathBuf {
    match protocol.parent() {
        Some(above) if protocol.ends_with("protocol") => above.join("state"),
        _ => protocol.join("state"),
    }
}
