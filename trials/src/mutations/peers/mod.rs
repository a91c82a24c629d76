//! Runs the peers on the same bytes: `json_repair` (`PyPI`) and `jsonrepair` (npm), installed on
//! demand.
//!
//! Each peer runs as one process over a file with all texts. A peer that cannot be installed or run
//! is listed as such in the table and never counts as a refusal.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::case::MutationCase;

/// A peer and its answers, or why it did not run.
#[derive(Debug)]
pub(crate) struct PeerResult {
    /// The package name, with the version if the peer ran.
    pub(crate) name: String,
    /// One answer per case: the returned value, or `None` if the peer refused.
    pub(crate) answers: Result<Vec<Option<Value>>, String>,
}

/// Installs and runs both peers.
pub(crate) fn run_peers(cases: &[MutationCase]) -> Vec<PeerResult> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let home = package.parent().unwrap_or(package).join("target/trials");
    ["json_repair", "jsonrepair"]
        .into_iter()
        .map(|name| {
            let run = write_cases(&home, cases).and_then(|file| match name {
                "json_repair" => run_json_repair(&home, &file),
                _ => run_jsonrepair(&home, &file),
            });
            match run.and_then(|output| parse_answers(&output, cases.len())) {
                Ok((version, answers)) => {
                    PeerResult { name: format!("{name} {version}"), answers: Ok(answers) }
                }
                Err(reason) => PeerResult { name: name.to_owned(), answers: Err(reason) },
            }
        })
        .collect()
}

/// Writes the texts, one JSON string per line.
fn write_cases(home: &Path, cases: &[MutationCase]) -> Result<PathBuf, String> {
    let file = home.join("cases.jsonl");
    let lines: Vec<String> =
        cases.iter().map(|case| Value::from(case.text.as_str()).to_string()).collect();
    fs::create_dir_all(home).map_err(|error| format!("{}: {error}", home.display()))?;
    write_file(&file, &lines.join("\n"))?;
    Ok(file)
}

fn run_json_repair(home: &Path, file: &Path) -> Result<String, String> {
    let script = home.join("json_repair_batch.py");
    write_file(&script, include_str!("json_repair.py"))?;
    let venv = home.join("venv");
    let interpreter = venv.join("bin/python");
    if !interpreter.exists() {
        run_command(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    }
    run_command(Command::new(&interpreter).args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "json_repair",
    ]))?;
    run_command(Command::new(&interpreter).arg(&script).arg(file))
}

fn run_jsonrepair(home: &Path, file: &Path) -> Result<String, String> {
    let script = home.join("jsonrepair_batch.mjs");
    write_file(&script, include_str!("jsonrepair.mjs"))?;
    let install = ["install", "--silent", "--no-audit", "--no-fund", "--prefix"];
    run_command(Command::new("npm").args(install).arg(home).arg("jsonrepair"))?;
    run_command(Command::new("node").arg(&script).arg(file))
}

fn write_file(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Runs a program to completion; returns its standard output, or one line with the reason why it
/// failed.
fn run_command(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("`{program}`: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    Err(format!("`{program}` ended with {}: {last}", output.status))
}

/// Parses the version and one answer per case.
fn parse_answers(output: &str, cases: usize) -> Result<(String, Vec<Option<Value>>), String> {
    let mut lines =
        output.lines().map(|line| serde_json::from_str::<Value>(line).unwrap_or(Value::Null));
    let version = lines.next().and_then(|first| first["version"].as_str().map(str::to_owned));
    let version = version.ok_or("it reported no version")?;
    let answers: Vec<Option<Value>> = lines.map(|answer| parse_answer(&answer)).collect();
    if answers.len() != cases {
        return Err(format!("{} answers to {cases} cases", answers.len()));
    }
    Ok((version, answers))
}

/// Returns the value of an answer. An answer that cannot be parsed counts as null, which is not a
/// valid reply.
fn parse_answer(answer: &Value) -> Option<Value> {
    if answer.get("refused").is_some() {
        return None;
    }
    let text = answer.get("text").and_then(Value::as_str);
    let read = text.map(|text| serde_json::from_str(text).unwrap_or(Value::Null));
    Some(read.or_else(|| answer.get("value").cloned()).unwrap_or(Value::Null))
}
