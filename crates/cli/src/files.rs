//! Reads the files that the command line names: replies, contracts, and folders of contracts.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_contract::contract::{self, Contract, ContractRegistry};
use countersign_contract::json::{self, RepairLevel, TextSpan};
use countersign_contract::limits::MAX_REPLY_BYTES;
use countersign_contract::source::{Diagnostic, ParsedSourceFile, SourceFile};
use countersign_protocol::check_contract_record;
use serde_json::Value;

use crate::contract_records;
use crate::exit::CliError;

/// Loads the shipped contracts and those of the user's folder.
pub(crate) fn load_registry(folder: Option<&Path>) -> Result<ContractRegistry, CliError> {
    let shipped = countersign_shipped_contracts::load_shipped_contracts();
    let Some(folder) = folder else { return Ok(shipped) };
    let mut registry = shipped.clone();
    let mut faults = Vec::new();
    let mut loaded = Vec::new();
    for file in list_contract_files(folder)? {
        match load_contract_file(&file, &shipped) {
            Ok(contract) => {
                loaded.push((file, format!("{}@{}", contract.id, contract.version)));
                registry.add(contract)?;
            }
            Err(CliError::InvalidFiles(more)) => faults.extend(more),
            Err(error) => return Err(error),
        }
    }
    let records = contract_records::load_records(&contract_records::record_folder(folder))?;
    let loaded: Vec<(PathBuf, Arc<Contract>)> = loaded
        .into_iter()
        .map(|(file, name)| Ok((file, Arc::clone(registry.find(&name)?))))
        .collect::<Result<_, CliError>>()?;
    let others: Vec<&Contract> = loaded.iter().map(|(_, contract)| &**contract).collect();
    for (file, contract) in &loaded {
        let source = SourceFile::new(display_path(file), read_text(file)?);
        if let Ok(parsed) = ParsedSourceFile::parse(source) {
            faults.extend(check_contract_record(&records, contract, &parsed, &others));
        }
    }
    if faults.is_empty() { Ok(registry) } else { Err(CliError::InvalidFiles(faults)) }
}

/// Loads a contract by id, `id@version`, or path.
pub(crate) fn load_contract(name: &str, folder: Option<&Path>) -> Result<Arc<Contract>, CliError> {
    if is_contract_path(name) {
        return load_contract_at(Path::new(name)).map(Arc::new);
    }
    Ok(Arc::clone(load_registry(folder)?.find(name)?))
}

/// Loads the contract in a file.
pub(crate) fn load_contract_at(path: &Path) -> Result<Contract, CliError> {
    load_contract_file(path, &countersign_shipped_contracts::load_shipped_contracts())
}

/// Returns whether a name on the command line is a file path and not a contract id.
pub(crate) fn is_contract_path(name: &str) -> bool {
    let extension = Path::new(name).extension();
    name.contains(['/', '\\'])
        || extension.is_some_and(|extension| is_contract_extension(extension.to_str()))
}

/// Returns a reader for the files that the contract file at `path` references.
pub(crate) fn reference_reader(path: &Path) -> impl Fn(&str) -> Result<String, String> {
    let folder = path.parent().unwrap_or(Path::new(".")).to_path_buf();
    move |relative: &str| {
        let path = folder.join(relative);
        fs::read_to_string(&path)
            .map_err(|error| format!("cannot read {}: {error}", display_path(&path)))
    }
}

/// Lists the contract files of a folder by name; skips the schemas next to them.
fn list_contract_files(folder: &Path) -> Result<Vec<PathBuf>, CliError> {
    let unreadable = |source| CliError::Unreadable { what: display_path(folder), source };
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let extension = path.extension().and_then(|extension| extension.to_str());
        if is_contract_extension(extension) && !name.ends_with(".schema.json") && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn is_contract_extension(extension: Option<&str>) -> bool {
    matches!(extension, Some("yaml" | "yml" | "json"))
}

/// Loads a contract file. As in a protocol, its base is a shipped contract.
fn load_contract_file(path: &Path, shipped: &ContractRegistry) -> Result<Contract, CliError> {
    let text = read_text(path)?;
    let source = SourceFile::new(display_path(path), text);
    contract::load_contract_with_base(source, &reference_reader(path), shipped)
        .map_err(CliError::InvalidFiles)
}

/// Reads a reply from a file or from standard input. Reads one byte more than the limit, so that an
/// oversized reply is reported without reading all of it.
pub(crate) fn read_reply(file: Option<&Path>) -> Result<(String, Vec<u8>), CliError> {
    let limit = MAX_REPLY_BYTES as u64 + 1;
    let mut bytes = Vec::new();
    match file.filter(|file| *file != Path::new("-")) {
        None => {
            let unreadable =
                |source| CliError::Unreadable { what: "standard input".to_owned(), source };
            std::io::stdin().lock().take(limit).read_to_end(&mut bytes).map_err(unreadable)?;
            Ok(("<stdin>".to_owned(), bytes))
        }
        Some(file) => {
            let unreadable = |source| CliError::Unreadable { what: display_path(file), source };
            let handle = fs::File::open(file).map_err(unreadable)?;
            handle.take(limit).read_to_end(&mut bytes).map_err(unreadable)?;
            Ok((display_path(file), bytes))
        }
    }
}

/// Reads a JSON file.
pub(crate) fn read_json(path: &Path) -> Result<Value, CliError> {
    let text = read_text(path)?;
    json::parse_json(&text, RepairLevel::None).map(|reading| reading.value).map_err(|stop| {
        let location =
            SourceFile::new(display_path(path), text.clone()).line_column_at(stop.span.start);
        CliError::Usage(format!(
            "{}:{}:{}: invalid JSON",
            display_path(path),
            location.line,
            location.column
        ))
    })
}

/// Reads a file with one JSON value per line; skips empty lines.
pub(crate) fn read_json_lines(path: &Path) -> Result<Vec<Value>, CliError> {
    let text = read_text(path)?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(index, line)| {
            let reading = json::parse_json(line, RepairLevel::None);
            reading.map(|reading| reading.value).map_err(|stop| {
                let column = line[..stop.span.start].chars().count() + 1;
                CliError::Usage(format!(
                    "{}:{}:{column}: invalid JSON",
                    display_path(path),
                    index + 1
                ))
            })
        })
        .collect()
}

/// Reads a file as UTF-8 text.
pub(crate) fn read_text(path: &Path) -> Result<String, CliError> {
    let unreadable = |source| CliError::Unreadable { what: display_path(path), source };
    let bytes = fs::read(path).map_err(unreadable)?;
    String::from_utf8(bytes).map_err(|error| {
        // The report quotes the readable part, up to the invalid byte.
        let start = error.utf8_error().valid_up_to();
        let readable = String::from_utf8_lossy(&error.as_bytes()[..start]).into_owned();
        let source = Arc::new(SourceFile::new(display_path(path), readable));
        let message =
            format!("not text: the byte 0x{:02x} is not valid UTF-8", error.as_bytes()[start]);
        let span = TextSpan::new(start, start);
        CliError::InvalidFiles(vec![Diagnostic::new("not_utf8", message, &source, span)])
    })
}

fn display_path(path: &Path) -> String {
    path.display().to_string()
}
