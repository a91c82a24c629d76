//! Checks the workspace: documented paths and links exist, every code has a page, and files are
//! small and documented.

use std::fs;
use std::path::Path;

use countersign_contract::reply::ViolationCode;
use countersign_protocol::CHECK_CODES;

use crate::{architecture, doc_commands, growth_targets, links, names, process};

const LONGEST_FILE: usize = 600;

const VAGUE_NAMES: [&str; 6] =
    ["utils.rs", "helpers.rs", "common.rs", "types.rs", "misc.rs", "util.rs"];

/// The codes of diagnostics in authors' files, in addition to those of violations and of the
/// analysis.
const FILE_CODES: [&str; 50] = [
    "invalid_yaml",
    "invalid_schema",
    "invalid_expression",
    "unreadable_file",
    "duplicate_id",
    "missing_index",
    "unknown_folder",
    "unknown_key",
    "unknown_keyword",
    "unknown_format",
    "broken_default",
    "misplaced_key",
    "include_cycle",
    "include_clash",
    "two_works",
    "contract_missing",
    "contract_record",
    "contract_claim",
    "unknown_workflow",
    "unknown_phase",
    "unknown_agent",
    "unknown_base",
    "unknown_contract",
    "unknown_rule",
    "unknown_tool",
    "unknown_skill",
    "invalid_skill",
    "unknown_mcp_server",
    "unknown_mcp_tool",
    "unknown_hook",
    "unknown_program",
    "unknown_source",
    "unknown_policy",
    "unknown_host",
    "unknown_budget",
    "unknown_engine_value",
    "engine_field",
    "presented_part_not_signed",
    "not_authorized",
    "invalid_pointer",
    "path_escapes",
    "invalid_duration",
    "invalid_host",
    "invalid_version",
    "invalid_initial",
    "invalid_default",
    "reserved_id",
    "prompt_missing",
    "model_missing",
    "tools_missing",
];

/// Returns every problem found.
pub(crate) fn run() -> Vec<String> {
    let mut faults = Vec::new();
    for page in ["ARCHITECTURE.md", "CONTRIBUTING.md"] {
        faults.extend(check_paths(page));
    }
    faults.extend(architecture::run());
    faults.extend(check_error_pages());
    let pages = list_tracked_files("*.md");
    faults.extend(links::run(&pages));
    for page in &pages {
        faults.extend(doc_commands::check_page(page, &read_file(page)));
    }
    faults.extend(growth_targets::run());
    faults.extend(names::run());
    for file in list_rust_files(".") {
        faults.extend(check_source_file(&file));
    }
    faults
}

/// Checks that every path in backticks on a page exists. A path with `…` or a name in capitals
/// (`docs/errors/CODE.md`) is a pattern; the folder before it must exist.
fn check_paths(page: &str) -> Vec<String> {
    let text = read_file(page);
    let quoted = text.split('`').skip(1).step_by(2);
    let paths = quoted.filter(|text| {
        text.contains('/')
            && !text.contains([' ', '<', '*', '{', '(', ':'])
            && !text.starts_with(['/', '-', '.', '#', '$'])
    });
    paths
        .filter(|path| !process::workspace_root().join(remove_pattern(path)).exists())
        .map(|path| format!("{page} names `{path}`, which does not exist"))
        .collect()
}

/// Returns the folder of a path whose file name is a pattern, else the whole path.
fn remove_pattern(path: &str) -> &str {
    let Some((folder, name)) = path.rsplit_once('/') else { return path };
    let is_pattern = name.contains('…') || name.starts_with("NAME") || name.starts_with("CODE");
    if is_pattern { folder } else { path }
}

/// Checks that every code has a page, and that every page has a code.
fn check_error_pages() -> Vec<String> {
    let mut codes: Vec<String> = ViolationCode::ALL.iter().map(ToString::to_string).collect();
    codes.extend(FILE_CODES.into_iter().chain(CHECK_CODES).map(str::to_owned));
    codes.push("rule".to_owned());
    let mut faults = Vec::new();
    for code in &codes {
        if !process::workspace_root().join(format!("docs/errors/{code}.md")).exists() {
            faults.push(format!("docs/errors/{code}.md is missing"));
        }
    }
    for page in
        fs::read_dir(process::workspace_root().join("docs/errors")).into_iter().flatten().flatten()
    {
        let name = page.file_name().to_string_lossy().into_owned();
        let code = name.trim_end_matches(".md");
        if code != "README" && !codes.iter().any(|known| known == code) {
            faults.push(format!("docs/errors/{name} does not belong to an error code"));
        }
    }
    faults
}

fn check_source_file(file: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let text = read_file(file);
    let lines = text.lines().count();
    if lines > LONGEST_FILE {
        faults.push(format!(
            "{file} has {lines} lines; split it into files of at most {LONGEST_FILE}"
        ));
    }
    let name = Path::new(file).file_name().map(|name| name.to_string_lossy().into_owned());
    if name.is_some_and(|name| VAGUE_NAMES.contains(&name.as_str())) {
        faults.push(format!("{file}: name the file after its main type or task"));
    }
    if !text.starts_with("//!") && !text.starts_with("#![") {
        faults.push(format!("{file} has no description (`//!` on its first line)"));
    }
    faults
}

/// Lists the Rust files below a folder.
pub(crate) fn list_rust_files(folder: &str) -> Vec<String> {
    list_tracked_files("*.rs")
        .into_iter()
        .filter(|file| folder == "." || file.starts_with(folder))
        .collect()
}

/// Lists the files that git tracks or would add, by pattern.
fn list_tracked_files(pattern: &str) -> Vec<String> {
    let arguments = ["ls-files", "--cached", "--others", "--exclude-standard", pattern];
    let listing = process::capture_output("git", &arguments).unwrap_or_default();
    listing
        .lines()
        .filter(|file| process::workspace_root().join(file).exists())
        .map(str::to_owned)
        .collect()
}

pub(crate) fn read_file(file: &str) -> String {
    fs::read_to_string(process::workspace_root().join(file)).unwrap_or_default()
}
