//! `store prune` through the binary: what goes, what stays, and what is said of it afterwards.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::path::Path;
use std::process::{Command, Stdio};

use rusqlite::Connection;
use serde_json::Value;

/// Runs a command and gives its code and what it said.
fn run_program(project: &Path, arguments: &[&str]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.current_dir(project).args(arguments).stdin(Stdio::null());
    // What one run remembers, the prompts of others tell.
    command.env_remove("COUNTERSIGN_STORE").env("COUNTERSIGN_MEMORY", "off");
    command.env("COUNTERSIGN_USER", "ann");
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(said).unwrap())
}

#[track_caller]
fn json(project: &Path, arguments: &[&str]) -> Value {
    let (code, said) = run_program(project, &[arguments, &["--json"]].concat());
    assert_eq!(code, 0, "{arguments:?}: {said}");
    serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"))
}

/// A run of the demo that has ended, and its id.
fn ended(project: &Path) -> String {
    let run = open(project);
    assert_eq!(
        run_program(project, &["approve", &format!("{run}/w1"), "--note", "a fine zebra"]).0,
        0
    );
    assert_eq!(json(project, &["status", &run])["status"], "completed");
    run
}

fn open(project: &Path) -> String {
    json(project, &["run", "--detach"])["run"].as_str().unwrap().to_owned()
}

fn database(project: &Path) -> Connection {
    Connection::open(project.join(".countersign/countersign.db")).unwrap()
}

/// How many bodies, snapshots or bytes hold a word.
fn holding(project: &Path, word: &str) -> i64 {
    let sql = "SELECT (SELECT count(*) FROM log WHERE instr(body, ?1))
        + (SELECT count(*) FROM snapshots WHERE instr(body, ?1))
        + (SELECT count(*) FROM blobs WHERE instr(bytes, ?1))";
    database(project).query_row(sql, [word], |row| row.get(0)).unwrap()
}

#[test]
fn the_words_go_and_the_hashes_stay() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path();
    assert_eq!(run_program(project, &["init", "demo"]).0, 0);
    let (old, waiting) = (ended(project), open(project));
    let fork = json(project, &["fork", &old, "--at-version", "3", "--detach"]);
    let fork = fork["run"].as_str().unwrap().to_owned();
    let before = json(project, &["show", &old, "--at-version", "3"]);
    assert!(holding(project, "a fine zebra") > 0);

    // Nothing is guessed, and a look changes nothing.
    let (code, said) = run_program(project, &["store", "prune", "--yes"]);
    assert_eq!(code, 2);
    assert!(said.contains("missing `--before` or `--keep`"), "{said}");
    let (code, said) = run_program(project, &["store", "prune", "--before", "soon", "--yes"]);
    assert_eq!(code, 2);
    assert!(said.contains("`--before` must be a timestamp"), "{said}");
    let none = json(project, &["store", "prune", "--before", "1d", "--dry-run"]);
    assert_eq!(none["tenants"][0]["to_prune"], Value::Array(Vec::new()), "it ended today");
    let none = json(project, &["store", "prune", "--keep", "1", "--dry-run"]);
    assert_eq!(none["tenants"][0]["to_prune"], Value::Array(Vec::new()), "the latest stays");
    let planned = json(project, &["store", "prune", "--keep", "0", "--dry-run"]);
    let going = &planned["tenants"][0]["to_prune"];
    assert_eq!((&going[0]["run"], going.as_array().unwrap().len()), (&Value::from(&*old), 1));
    assert_eq!(going[0]["kept_versions"], serde_json::json!([3]));
    let (code, said) = run_program(project, &["store", "prune", "--keep", "0"]);
    assert_eq!(code, 2);
    assert!(said.contains("cannot ask for confirmation, so nothing was pruned"), "{said}");
    assert!(holding(project, "a fine zebra") > 0);

    let (code, said) = run_program(project, &["store", "prune", "--keep", "0", "--yes"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("keeps its state at version 3, which other runs started from"), "{said}");
    assert!(
        said.contains("1 runs pruned:") && said.contains("1 states and every hash are kept"),
        "{said}"
    );
    assert_eq!(holding(project, "a fine zebra"), 0);

    // What is asked of it is told, not guessed.
    let output = project.join("old.jsonl");
    let output = output.to_str().unwrap();
    for arguments in [
        &["show", &old][..],
        &["status", &old],
        &["history", &old],
        &["replay", &old],
        &["replay", &old, "--verify"],
        &["export", &old, "--output", output],
        &["graph", &old],
        &["diff", &old, "1", "2"],
        &["fork", &old, "--at-version", "2", "--detach"],
        &["fork", &old, "--detach"],
        &["approve", &format!("{old}/w1")],
        &["halt", &old],
    ] {
        let (code, said) = run_program(project, arguments);
        assert_ne!(code, 0, "{arguments:?}: {said}");
        assert!(!said.contains("panicked") && !said.contains("damaged"), "{arguments:?}: {said}");
        assert!(said.contains("was pruned at 20"), "{arguments:?}: {said}");
    }
    // It is listed, and what others began from is there.
    let listed = json(project, &["list"]);
    assert_eq!(listed.as_array().unwrap().len(), 3);
    assert_eq!(json(project, &["show", &old, "--at-version", "3"]), before);
    let again = json(project, &["fork", &old, "--at-version", "3", "--detach"]);
    assert_eq!(run_program(project, &["status", again["run"].as_str().unwrap()]).0, 0);

    // Those who stay lost nothing: the bytes that they name too are there.
    let verified = json(project, &["store", "verify", "--decide"]);
    assert_eq!(verified["ok"], true, "{verified}");
    assert_eq!(verified["tenants"][0]["pruned"], 1);
    for run in [&waiting, &fork] {
        assert_eq!(json(project, &["replay", run, "--verify"])["verified"], true);
    }
    let (code, said) = run_program(project, &["replay", "--all", "--verify"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("skipping 1 pruned runs"), "{said}");
    let nothing = json(project, &["store", "prune", "--keep", "0", "--dry-run"]);
    assert_eq!(nothing["tenants"][0]["already_pruned"], 1);
    assert_eq!(nothing["tenants"][0]["to_prune"], Value::Array(Vec::new()));
}

#[test]
fn a_hash_that_was_touched_since_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path();
    run_program(project, &["init", "demo"]);
    let run = ended(project);
    assert_eq!(run_program(project, &["store", "prune", "--before", "2999-01-01", "--yes"]).0, 0);
    let (code, said) = run_program(project, &["store", "verify"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("1 were pruned: their hashes match those that were verified"), "{said}");
    for touch in [
        "UPDATE log SET hash = 'sha256:0' WHERE version = 2",
        "UPDATE log SET time = time + 1 WHERE version = 3",
        "UPDATE runs SET seal = 'other'",
    ] {
        database(project)
            .execute_batch(&format!("CREATE TABLE saved AS SELECT * FROM log; {touch}"))
            .unwrap();
        let (code, said) = run_program(project, &["store", "verify"]);
        assert_eq!(code, 1, "{touch}: {said}");
        assert!(
            said.contains(&format!("run {run}: the hashes of its log have the seal")),
            "{said}"
        );
        database(project)
            .execute_batch("DELETE FROM log; INSERT INTO log SELECT * FROM saved; DROP TABLE saved")
            .unwrap();
    }
}

#[test]
fn a_run_whose_chain_is_broken_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path();
    run_program(project, &["init", "demo"]);
    let (broken, whole) = (ended(project), ended(project));
    let touch = "UPDATE log SET body = replace(body, 'a fine zebra', 'a poor zebra') WHERE run = 1";
    assert!(database(project).execute(touch, []).unwrap() > 0);
    let (code, said) = run_program(project, &["store", "prune", "--keep", "0", "--yes"]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains(&format!("not pruned: run {broken}: ")), "{said}");
    assert!(holding(project, "a poor zebra") > 0, "evidence stays");
    assert!(run_program(project, &["show", &whole]).1.contains("was pruned at"));
}
