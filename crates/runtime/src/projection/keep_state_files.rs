//! Keeps state files that a new run is about to replace.

use std::io::{self, Read as _};
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use countersign_protocol::StateFileLayout;

use super::ProjectionError;
use super::state_file_layout::state_file_names;
use crate::workspace::write_unsynced;

/// How many copies of one file are kept.
const MAX_COPIES: usize = 1_000;

/// Copies every state file in a folder to a file beside it, `NAME.bak`, or `NAME.bak.2` and so on
/// if that is taken by other content. Returns the names of the copies; empty if there is no state
/// file.
pub fn keep_state_files(
    folder: &Path,
    format: StateFileLayout,
) -> Result<Vec<String>, ProjectionError> {
    let fault = |file: &str| {
        let file = folder.join(file).display().to_string();
        move |source| ProjectionError::Io { file, source }
    };
    let dir = match Dir::open_ambient_dir(folder, ambient_authority()) {
        Ok(dir) => dir,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(fault("")(source)),
    };
    let mut kept = Vec::new();
    for file in state_file_names(format) {
        if let Some(bytes) = read_bytes(&dir, file).map_err(fault(file))? {
            kept.push(write_copy(&dir, file, &bytes).map_err(fault(file))?);
        }
    }
    Ok(kept)
}

/// Writes the bytes to the first free name, and returns it. A copy with the same bytes is enough.
fn write_copy(dir: &Dir, file: &str, bytes: &[u8]) -> io::Result<String> {
    for number in 1..=MAX_COPIES {
        let name = match number {
            1 => format!("{file}.bak"),
            _ => format!("{file}.bak.{number}"),
        };
        match read_bytes(dir, &name)? {
            Some(there) if there == bytes => return Ok(name),
            Some(_) => {}
            None => {
                write_unsynced(dir, &name, bytes)?;
                return Ok(name);
            }
        }
    }
    Err(io::Error::other(format!("there are already {MAX_COPIES} copies `{file}.bak`")))
}

fn read_bytes(dir: &Dir, file: &str) -> io::Result<Option<Vec<u8>>> {
    let mut opened = match dir.open(file) {
        Ok(opened) => opened,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    opened.read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}
