//! Every shipped file satisfies the specification's own schemas exactly as it is written, without
//! defaults filled in and without keys removed; and another YAML parser reads the same values.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

use countersign_contract::source::{ParsedSourceFile, SourceFile};
use countersign_shipped_contracts::load_shipped_contracts;
use countersign_shipped_contracts::shipped::SHIPPED_CONTRACTS;
use countersign_shipped_protocols::SHIPPED_PROTOCOLS;
use serde_json::{Value, json};

/// Every YAML and JSON file of the shipped protocols: `PROTOCOL/path` and text.
fn shipped_files() -> Vec<(String, String)> {
    let mut files = Vec::new();
    for shipped in SHIPPED_PROTOCOLS {
        let workspace = shipped
            .workspace_files
            .iter()
            .filter_map(|(path, content)| Some((*path, std::str::from_utf8(content).ok()?)));
        let all = shipped.files.iter().copied().chain(workspace);
        let readable = all.filter(|(path, _)| path.ends_with(".yaml") || path.ends_with(".json"));
        files.extend(
            readable.map(|(path, text)| (format!("{}/{path}", shipped.name), text.to_owned())),
        );
    }
    files
}

/// The contract with the specification's schema for a file of a protocol folder.
fn schema_of(path: &str) -> Option<&'static str> {
    let (_, path) = path.split_once('/')?;
    match path.split_once('/') {
        None if path.starts_with("index.") => Some("protocol_index"),
        Some(("workflows", _)) => Some("workflow"),
        Some(("agents", _)) => Some("agent"),
        _ => None,
    }
}

#[test]
fn every_shipped_file_satisfies_the_schema_as_it_is_written() {
    let contracts = load_shipped_contracts();
    let mut checked: BTreeMap<&str, usize> = BTreeMap::new();
    let mut found = Vec::new();
    for (path, text) in shipped_files() {
        let Some(id) = schema_of(&path) else { continue };
        let parsed = ParsedSourceFile::parse(SourceFile::new(&path, &text)).unwrap();
        let violations = contracts.get(id).unwrap().schema.list_violations(&parsed.value);
        found.extend(violations.iter().map(|violation| format!("{path}: {}", violation.message)));
        *checked.entry(id).or_default() += 1;
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(checked["protocol_index"] >= 10 && checked["workflow"] >= 10, "{checked:?}");
    assert!(checked["agent"] >= 15, "{checked:?}");
}

#[test]
fn another_parser_reads_the_same_values_and_another_validator_accepts_them() {
    let test = "shipped protocols: PyYAML";
    let Some(python) = std::env::var_os("COUNTERSIGN_TEST_PYYAML") else {
        testkit::report_not_run(test, "no Python with PyYAML and jsonschema");
        return;
    };
    let schema = |shipped: &countersign_shipped_contracts::shipped::ShippedContract| {
        (shipped.id.to_owned(), serde_json::from_str::<Value>(shipped.schema).unwrap())
    };
    let schemas: BTreeMap<String, Value> = SHIPPED_CONTRACTS.iter().map(schema).collect();
    let files = shipped_files();
    let listed: Vec<Value> = files
        .iter()
        .map(|(path, text)| json!({ "path": path, "text": text, "schema": schema_of(path) }))
        .collect();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/specification/read_files.py");
    let mut reader = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let request = json!({ "schemas": schemas, "files": listed }).to_string();
    reader.stdin.take().unwrap().write_all(request.as_bytes()).unwrap();
    let output = reader.wait_with_output().unwrap();
    assert!(output.status.success());
    let answers: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answers.len(), files.len());
    for ((path, text), answer) in files.iter().zip(&answers) {
        assert_eq!(answer["errors"], json!([]), "{path}");
        let ours = ParsedSourceFile::parse(SourceFile::new(path, text)).unwrap();
        assert_eq!(answer["value"], ours.value, "{path}");
    }
}
