//! Reads and writes the registered versions beside contract files: `registry/ID@VERSION.json`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use countersign_contract::source::{ParsedSourceFile, SourceFile};
use countersign_protocol::read_contract_record;
use countersign_runtime::private_files;
use countersign_schema_tools::ContractRecords;
use serde_json::Value;

use crate::exit::CliError;
use crate::files;

/// Returns the folder that holds the records of the contract files in `folder`.
pub(crate) fn record_folder(folder: &Path) -> PathBuf {
    folder.join("registry")
}

/// Reads the records of a folder; none if there is no such folder.
pub(crate) fn load_records(folder: &Path) -> Result<ContractRecords, CliError> {
    let shipped = countersign_shipped_contracts::load_shipped_contracts();
    let mut records = ContractRecords::default();
    let mut faults = Vec::new();
    for path in list_json_files(folder)? {
        let source = SourceFile::new(path.display().to_string(), files::read_text(&path)?);
        let read = ParsedSourceFile::parse(source)
            .map_err(|fault| vec![fault])
            .and_then(|file| read_contract_record(&file, &shipped));
        match read {
            Ok(record) => records.add(record),
            Err(found) => faults.extend(found),
        }
    }
    if faults.is_empty() { Ok(records) } else { Err(CliError::InvalidFiles(faults)) }
}

/// Writes a record. The file appears whole or not at all.
pub(crate) fn write_record(path: &Path, record: &Value) -> Result<(), CliError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)
        .and_then(|()| private_files::write_output(path, format!("{record:#}\n").as_bytes()))
        .map_err(|source| CliError::Unwritable { what: path.display().to_string(), source })
}

fn list_json_files(folder: &Path) -> Result<Vec<PathBuf>, CliError> {
    let unreadable = |source| CliError::Unreadable { what: folder.display().to_string(), source };
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(unreadable)?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}
