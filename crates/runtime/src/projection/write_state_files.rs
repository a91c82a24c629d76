//! Writes the state files of a document.

use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use countersign_protocol::StateFileLayout;
use serde_json::Value;

use super::ProjectionError;
use super::state_file_layout::{WRITE_MARKER, select_part, state_file_names};
use crate::workspace::write_unsynced;

/// Writes a document into a folder, which is created if missing.
///
/// Each file is replaced atomically, without waiting for the disk, because the log is stored
/// already. A set of several files has a marker until it is complete; a crash leaves the marker,
/// and the next write removes it.
pub fn write_state_files(
    folder: &Path,
    format: StateFileLayout,
    document: &Value,
) -> Result<(), ProjectionError> {
    let Value::Object(document) = document else { return Err(ProjectionError::NotAnObject) };
    let fault = |file: &Path| {
        let file = file.display().to_string();
        move |source| ProjectionError::Io { file, source }
    };
    Dir::create_ambient_dir_all(folder, ambient_authority()).map_err(fault(folder))?;
    let dir = Dir::open_ambient_dir(folder, ambient_authority()).map_err(fault(folder))?;
    let files = state_file_names(format);
    let marker = folder.join(WRITE_MARKER);
    if files.len() > 1 {
        write_unsynced(&dir, WRITE_MARKER, b"").map_err(fault(&marker))?;
    }
    for file in files {
        let part = Value::Object(select_part(file, document));
        let text = format!("{part:#}\n");
        write_unsynced(&dir, file, text.as_bytes()).map_err(fault(&folder.join(file)))?;
    }
    if files.len() > 1 {
        dir.remove_file(WRITE_MARKER).map_err(fault(&marker))?;
    }
    Ok(())
}
