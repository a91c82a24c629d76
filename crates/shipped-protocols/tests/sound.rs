//! What ships is sound: it loads without a remark, the analysis finds nothing, and every file of a
//! template is listed.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use countersign_protocol::{check_protocol, load_protocol};
use countersign_shipped_protocols::{SHIPPED_PROTOCOLS, find_shipped_protocol};

#[test]
fn nothing_is_to_be_remarked() {
    for shipped in SHIPPED_PROTOCOLS {
        let loaded = load_protocol(
            shipped.to_bundle(),
            &countersign_shipped_contracts::load_shipped_contracts(),
        );
        let loaded = loaded.unwrap_or_else(|faults| {
            let messages: Vec<String> = faults.iter().map(ToString::to_string).collect();
            panic!("{}: {}", shipped.name, messages.join("\n"))
        });
        let findings = loaded.warnings.into_iter().chain(check_protocol(&loaded.protocol));
        let messages: Vec<String> = findings.map(|finding| finding.to_string()).collect();
        assert!(messages.is_empty(), "{}: {}", shipped.name, messages.join("\n"));
    }
}

#[test]
fn every_file_of_a_template_is_listed() {
    let templates = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates");
    for folder in fs::read_dir(&templates).unwrap() {
        let folder = folder.unwrap().path();
        let shipped = find_shipped_protocol(folder.file_name().unwrap().to_str().unwrap()).unwrap();
        let listed: BTreeSet<String> = shipped
            .files
            .iter()
            .map(|(path, _)| *path)
            .chain(shipped.workspace_files.iter().map(|(path, _)| *path))
            .map(str::to_owned)
            .collect();
        let mut there = BTreeSet::new();
        collect(&folder, "", &mut there);
        assert_eq!(there, listed, "{}", shipped.name);
    }
}

fn collect(folder: &Path, prefix: &str, into: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            collect(&entry.path(), &format!("{name}/"), into);
        } else {
            into.insert(name);
        }
    }
}

/// Words of the shipped processes. What runs them knows none.
const WORDS: [&str; 22] = [
    "interview",
    "skeleton",
    "issue_updates",
    "ask_user",
    "gate_check",
    "proceed_to_gate",
    "pre_skeleton",
    "xiaobo",
    "xiaojing",
    "artifact",
    "attempt_count",
    "deliverable",
    "ready_to_check",
    "to_be_modify",
    "waiting_input",
    "llm_unparseable",
    "analyst",
    "architect",
    "guardian",
    "request_type",
    "track_policy",
    "draft_answer",
];

#[test]
fn no_code_knows_what_a_protocol_is_about() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Vec::new();
    for room in [
        "contract",
        "schema-tools",
        "protocol",
        "run",
        "runtime",
        "store",
        "models",
        "sources",
        "cli",
    ] {
        let source = crates.join(room).join("src");
        let mut files = BTreeSet::new();
        collect(&source, "", &mut files);
        assert!(!files.is_empty(), "{room} has code");
        for file in files {
            let text = fs::read_to_string(source.join(&file)).unwrap().to_lowercase();
            let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
            let words: BTreeSet<&str> = words.collect();
            let known = WORDS.iter().filter(|word| words.contains(**word));
            found.extend(known.map(|word| format!("{room}/src/{file}: {word}")));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
