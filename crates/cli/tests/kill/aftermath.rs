//! What must be true when the dust has settled.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::site::Site;

/// What was looked at.
pub(crate) struct Checked {
    pub(crate) events: u64,
    pub(crate) orders: usize,
    pub(crate) marks: usize,
    pub(crate) files: usize,
}

/// Checks every run, every acknowledgement, every file and every order.
pub(crate) fn check(
    site: &Site,
    started: &BTreeMap<String, bool>,
    acknowledged: &[(String, String)],
) -> Checked {
    let proofs = json_output(site, &["replay", "--all", "--verify", "--json"]);
    let proofs = proofs.as_array().unwrap();
    assert_eq!(proofs.len(), started.len(), "the runs that are there are those that were begun");
    assert!(proofs.iter().all(|proof| proof["verified"] == json!(true)), "{proofs:#?}");

    let db = site.database();
    for (run, key) in acknowledged {
        let kept: bool = db
            .query_row(
                "SELECT count(*) = 1 FROM keys WHERE run = ?1 AND key = ?2",
                [run, key],
                |row| row.get(0),
            )
            .unwrap();
        assert!(kept, "the answer {key} of {run} was acknowledged");
    }

    let (mut ordered, mut done) = (BTreeSet::new(), BTreeSet::new());
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    for run in started.keys() {
        // The script refuses one reply; everything else happens once, in every run alike.
        let document = json_output(site, &["show", run, "--json"]);
        let whole = document.to_string();
        for part in [
            r#"["one","two","three"]"#,
            r#"["mark 1\n","mark 2\n","mark 3\n"]"#,
            r#"["answer w1","answer w2","answer w3"]"#,
        ] {
            assert!(whole.contains(part), "{run} lacks {part}: {whole}");
        }
        let history = json_output(site, &["history", run, "--full", "--json"]);
        gather(&history, run, &mut ordered, &mut done);
        for (round, content) in ["one", "one,two", "one,two,three"].into_iter().enumerate() {
            files.insert(format!("{run}-{}.md", round + 1), content.to_owned());
        }
    }
    let marks = fs::read_to_string(site.path().join("ids.txt")).unwrap();
    let carried_out: BTreeSet<String> = marks.lines().map(str::to_owned).collect();
    assert_eq!(ordered.len(), 3 * started.len(), "one order a round, and no second one");
    assert_eq!(ordered, done, "each of them came to its end");
    assert_eq!(carried_out, ordered, "each was carried out, and nothing that was not ordered");

    let mut found = BTreeMap::new();
    for entry in fs::read_dir(site.path().join("out")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        // What a kill in the middle of a write leaves; nothing reads it.
        if !name.starts_with(".countersign-") {
            found.insert(name, fs::read_to_string(&path).unwrap());
        }
    }
    assert_eq!(found, files, "each file, whole, and no other");
    Checked {
        events: proofs.iter().map(|proof| proof["events"].as_u64().unwrap()).sum(),
        orders: ordered.len(),
        marks: marks.lines().count(),
        files: files.len(),
    }
}

/// The program orders of a run, and those that were done.
fn gather(history: &Value, run: &str, ordered: &mut BTreeSet<String>, done: &mut BTreeSet<String>) {
    match history {
        Value::Array(items) => items.iter().for_each(|item| gather(item, run, ordered, done)),
        Value::Object(members) => {
            let id = members.get("action").and_then(Value::as_str);
            let id = id.map(|action| format!("{run}/{action}"));
            match (members.get("event").and_then(Value::as_str), id) {
                (Some("effect_requested"), Some(id)) if members["effect"]["effect"] == "run" => {
                    ordered.insert(id);
                }
                (Some("effect_finished"), Some(id)) if ordered.contains(&id) => {
                    done.insert(id);
                }
                _ => members.values().for_each(|value| gather(value, run, ordered, done)),
            }
        }
        _ => {}
    }
}

fn json_output(site: &Site, arguments: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_countersign"))
        .args(arguments)
        .current_dir(site.path())
        .output()
        .unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {complaint}");
    serde_json::from_slice(&output.stdout).unwrap()
}
