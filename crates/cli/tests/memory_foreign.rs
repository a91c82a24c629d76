//! Exports of other memories and chat programs, with the real program: archives, folders, reports,
//! and files that mean harm.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::io::{Cursor, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Exit code, standard output and standard error of `countersign memory … --user ann --agent helper`.
fn memory(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.arg("memory").args(arguments);
    command.args(["--user", "ann", "--agent", "helper", "--now", "2026-01-21T12:00:00Z"]);
    command.current_dir(folder).stdin(Stdio::null());
    for variable in ["CLICOLOR_FORCE", "COUNTERSIGN_USER", "COUNTERSIGN_AGENT", "COUNTERSIGN_STORE"]
    {
        command.env_remove(variable);
    }
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[track_caller]
fn json_of(folder: &Path, arguments: &[&str]) -> Value {
    let all: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
    let (code, out, err) = memory(folder, &all);
    assert_eq!(code, 0, "{arguments:?}: {out}{err}");
    serde_json::from_str(&out).unwrap()
}

fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn conversations() -> Vec<u8> {
    let message = |id: &str, role: &str, text: &str| {
        json!({"id": id, "author": {"role": role}, "create_time": 1_750_000_000.5,
            "content": {"content_type": "text", "parts": [text]}, "metadata": {}, "recipient": "all"})
    };
    let conversation = json!({"title": "Bread", "conversation_id": "c1", "create_time": 1_750_000_000.0,
    "current_node": "n3", "mapping": {
        "n1": {"id": "n1", "message": null, "parent": null, "children": ["n2"]},
        "n2": {"id": "n2", "message": message("m2", "user", "I bake rye bread on Sundays."),
            "parent": "n1", "children": ["n3", "n4"]},
        "n3": {"id": "n3", "message": message("m3", "assistant", "Rye needs a warm oven."),
            "parent": "n2", "children": []},
        "n4": {"id": "n4", "message": message("m4", "assistant", "Which flour?"),
            "parent": "n2", "children": []},
    }});
    json!([conversation, {"title": "broken"}]).to_string().into_bytes()
}

#[test]
fn an_archive_is_looked_at_imported_and_imported_again() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let files: [(&str, &[u8]); 3] = [
        ("chat.html", b"<html>"),
        ("export/conversations.json", &conversations()),
        ("user.json", b"{}"),
    ];
    fs::write(folder.join("chatgpt.zip"), archive(&files)).unwrap();
    let import = ["import", "--from", "chatgpt", "chatgpt.zip"];
    let dry = json_of(folder, &[&import[..], &["--dry-run"]].concat());
    assert_eq!((&dry["dry_run"], &dry["saved"]), (&json!(true), &json!(0)));
    assert_eq!(dry["taken"].as_array().unwrap().len(), 2, "{dry}");
    assert!(!folder.join(".countersign").exists(), "nothing is stored");

    let report = ["--report", "report.jsonl"];
    let (code, out, err) = memory(folder, &[&import[..], &report].concat());
    assert_eq!((code, &*out), (0, ""), "{err}");
    assert_eq!(
        err,
        "2 events imported\n\
         left out: 4\n  \
         export/conversations.json#/0/mapping/n4: it is on another branch of the conversation\n  \
         export/conversations.json#/1: it is no conversation with `mapping`: an object\n  \
         chat.html: the import from `chatgpt` does not read this file\n  \
         user.json: the import from `chatgpt` does not read this file\n"
    );
    let lines = fs::read_to_string(folder.join("report.jsonl")).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let results: Vec<&str> = lines.iter().map(|line| line["result"].as_str().unwrap()).collect();
    assert_eq!(results, ["taken", "taken", "left_out", "left_out", "left_out", "left_out"]);
    assert_eq!(lines[0]["place"], "export/conversations.json#/0/mapping/n2");

    let before = memory(folder, &["export"]).1;
    let again = json_of(folder, &import);
    assert_eq!((&again["saved"], &again["refused"]), (&json!(2), &json!([])));
    assert_eq!(memory(folder, &["export"]).1, before, "the second time adds nothing");
    let compose = ["compose", "--message", "When do I bake rye bread?", "--packet"];
    let packet: Value = serde_json::from_str(&memory(folder, &compose).1).unwrap();
    let quotes = packet["short_term"]["key_quotes"].as_array().unwrap();
    assert_eq!(quotes[0]["quote"], "I bake rye bread on Sundays.", "{packet:#}");
    let cited = packet["citations"].as_array().unwrap();
    let summaries: Vec<&str> = cited.iter().map(|one| one["summary"].as_str().unwrap()).collect();
    assert!(summaries.iter().all(|summary| summary.starts_with("imported: ")), "{summaries:?}");
}

#[test]
fn a_folder_of_notes_is_read_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let notes = folder.join("notes");
    fs::create_dir_all(notes.join(".obsidian")).unwrap();
    fs::create_dir_all(notes.join("2025")).unwrap();
    fs::write(notes.join("2025/2025-06-10 Visit.md"), "# Plan\nMeet Ann.\n").unwrap();
    fs::write(notes.join(".obsidian/x.md"), "hidden").unwrap();
    fs::write(notes.join("photo.png"), b"\x89PNG").unwrap();
    fs::write(notes.join("broken.md"), b"\xff\xfe\xff").unwrap();
    let report = json_of(folder, &["import", "--from", "markdown", "notes"]);
    assert_eq!(report["taken"][0]["place"], "2025/2025-06-10 Visit.md#L2", "{report}");
    let left: Vec<&str> = report["left_out"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["place"].as_str().unwrap())
        .collect();
    assert_eq!(left, ["broken.md", "photo.png"]);
    // A time range finds the note by its date.
    let range = ["compose", "--since", "2025-06-01", "--until", "2025-06-30", "--keyword", "plan"];
    assert!(memory(folder, &range).1.contains("Meet Ann."));
}

#[test]
fn exports_that_mean_harm_end_in_an_error_and_store_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).unwrap();

    // 257 MiB of spaces in 260 KB.
    let mut bomb = ZipWriter::new(Cursor::new(Vec::new()));
    bomb.start_file("conversations.json", SimpleFileOptions::default().compression_level(Some(1)))
        .unwrap();
    let block = vec![b' '; 1 << 20];
    for _ in 0..257 {
        bomb.write_all(&block).unwrap();
    }
    write("bomb.zip", &bomb.finish().unwrap().into_inner());

    // The end of an archive that has a million entries.
    let mut many = b"PK\x03\x04".to_vec();
    many.extend(b"PK\x06\x06");
    many.extend([0; 28]);
    many.extend(1_000_000_u64.to_le_bytes());
    many.extend([0; 16]);
    many.extend(b"PK\x06\x07");
    many.extend([0; 16]);
    many.extend(b"PK\x05\x06");
    many.extend([0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]);
    many.extend([0xff; 8]);
    many.extend([0, 0]);
    write("many.zip", &many);

    let mut torn = archive(&[("conversations.json", b"[]")]);
    torn.truncate(torn.len() - 10);
    write("torn.zip", &torn);
    write("deep.json", format!("{}{}", "[".repeat(200_000), "]".repeat(200_000)).as_bytes());
    write("text.json", b"\"hello\"");
    write("half.json", b"[{\"mapping\": ");
    for (file, expected) in [
        ("bomb.zip", "`conversations.json` is too large: a file may have 256.0 MB"),
        ("many.zip", "`many.zip` has more than 100000 files"),
        ("torn.zip", "`torn.zip` is a damaged ZIP archive"),
        ("deep.json", "recursion limit exceeded"),
        (
            "text.json",
            "`text.json` is not a list of ChatGPT conversations with `mapping`; found a string",
        ),
        ("half.json", "`half.json` is not JSON that can be read: EOF while parsing"),
        ("gone.json", "`gone.json`"),
    ] {
        let (code, out, err) = memory(folder, &["import", "--from", "chatgpt", file]);
        assert!(code > 1 && out.is_empty(), "{file}: {code} {out}{err}");
        assert!(err.contains(expected), "{file}: {err}");
    }
    assert!(!folder.join(".countersign").exists(), "nothing is stored");
    // An export without anything to take is no success either.
    write("empty.json", b"[]");
    let (code, _, err) = memory(folder, &["import", "--from", "chatgpt", "empty.json"]);
    assert_eq!((code, &*err), (1, "nothing imported\n"));
    let (code, _, err) = memory(folder, &["import", "empty.json", "--dry-run"]);
    assert!(code == 2 && err.contains("--from"), "{err}");
}
