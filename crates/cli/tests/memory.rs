//! Memory alone, with the real program: what is kept, what is refused, what is composed and why, what is forgotten.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

#[path = "memory/commands.rs"]
mod commands;
#[path = "memory/strict.rs"]
mod strict;

use std::fs;

use commands::{WHOSE, dinner, does, fails, memory, raw, remembered};
use serde_json::{Value, json};

#[test]
fn whose_memory_is_never_guessed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let event = ["remember", "--event", "Hi"];
    let (code, _, err) = raw(folder, &event, "");
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("`--user` is missing"), "{err}");
    let (code, _, err) = raw(folder, &["remember", "--event", "Hi", "--user", "ann"], "");
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("`--agent` is missing"), "{err}");
    let (code, _, err) =
        raw(folder, &["remember", "--event", "Hi", "--user", "", "--agent", "helper"], "");
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("`--user`: `user_id` of a scope must be 1 to 256 bytes"), "{err}");
    assert!(!folder.join(".countersign").exists(), "nothing was made for nobody");
    // A file beside the work may say it.
    fs::write(folder.join("countersign.toml"), "user = 'ann'\nagent = 'helper'\n").unwrap();
    let (code, _, err) = raw(folder, &event, "");
    assert_eq!(code, 0, "{err}");
}

#[test]
fn everything_is_remembered_by_flags() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let event = remembered(folder, &["--event", "I am vegetarian", "--speaker", "Ann"]);
    assert_eq!((&event["kind"], &event["outcome"]), (&json!("event"), &json!("added")));
    let id = event["id"].as_str().unwrap();
    assert_eq!(remembered(folder, &["--event", "I am vegetarian", "--speaker", "Ann"])["id"], id);
    let (code, out, err) = memory(folder, &["remember", "--event", "Hello", "--id", "e1"]);
    assert_eq!((code, &*out, &*err), (0, "", "kept event e1\n"));

    let fact = ["--fact", "diet=vegetarian", "--source", id, "--quote", "vegetarian"];
    assert_eq!(remembered(folder, &[&fact[..], &["--id", "f1"]].concat())["outcome"], "added");
    let other = remembered(folder, &["--fact", "diet=vegan", "--id", "f2"]);
    assert_eq!((&other["outcome"], &other["related_ids"]), (&json!("disputed"), &json!(["f1"])));
    let third = remembered(folder, &["--fact", "diet=pescatarian", "--confirmed"]);
    assert_eq!(third["outcome"], "superseded");
    let said = fails(folder, 1, &["remember", "--fact", "a=b", "--source", id, "--quote", "meat"]);
    assert!(said.contains("its quote does not occur exactly"), "{said}");
    let said = fails(folder, 2, &["remember", "--fact", "diet"]);
    assert!(said.contains("`--fact` must be KEY=VALUE"), "{said}");

    let episode = ["--episode", "Dinner was planned", "--start", "2026-01-20", "--id", "ep1"];
    assert_eq!(remembered(folder, &episode)["kind"], "episode");
    fs::write(folder.join("p.json"), r#"{"steps": ["ask", "cook"]}"#).unwrap();
    let procedure = ["--procedure", "p.json", "--task-type", "dinner", "--id", "p1"];
    assert_eq!(remembered(folder, &procedure)["revision"], 1);
    assert_eq!(remembered(folder, &["--insight", "She may like tofu"])["kind"], "insight");
    fs::write(folder.join("w.json"), r#"{"goal": "a dinner for six"}"#).unwrap();
    assert_eq!(remembered(folder, &["--working-memory", "w.json"])["revision"], 1);
    assert_eq!(remembered(folder, &["--working-memory", "w.json"])["revision"], 2);
    fs::write(folder.join("w.json"), r#"{"goal": "dinner", "state_version": 1}"#).unwrap();
    let said = fails(folder, 1, &["remember", "--working-memory", "w.json"]);
    assert!(said.contains("the working state is at version 2, expected 1"), "{said}");
    assert_eq!(remembered(folder, &["--summary", "Ann plans a dinner."])["revision"], 1);
}

#[test]
fn lines_are_read_before_anything_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let lines = |lines: &str, more: &[&str]| {
        let all: Vec<&str> = ["remember"].iter().chain(more).chain(&WHOSE).copied().collect();
        raw(folder, &all, lines)
    };
    let (code, _, err) = lines("{\"event\": \"a\"}\n\n{\"evnt\": \"b\"}\n", &["-"]);
    assert_eq!(code, 2);
    assert!(err.contains("<stdin>:3: unknown field `evnt`"), "{err}");
    let (code, _, err) = lines("{\"event\": \"a\", \"role\": \"king\"}\n", &["-"]);
    assert_eq!(code, 2);
    assert!(
        err.contains("<stdin>:1: `role`: unknown variant `king`, expected one of `user`"),
        "{err}"
    );
    let (code, _, err) = lines("\n", &["-"]);
    assert_eq!(code, 2);
    assert!(err.contains("nothing to remember"), "{err}");
    assert!(!folder.join(".countersign").exists());

    // One that the rules refuse does not hold up the others.
    let input = "{\"event\": \"a\", \"id\": \"e1\"}\n{\"event\": \"b\", \"id\": \"e1\"}\n{\"event\": \"c\", \"id\": \"e2\", \"session\": \"s2\"}\n{\"fact\": \"k\", \"value\": 1, \"sources\": [\"e2\"]}\n";
    let (code, out, err) = lines(input, &["--json"]);
    assert_eq!(code, 1, "{err}");
    let account: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(account["saved"].as_array().unwrap().len(), 3, "{account}");
    assert_eq!(
        account["refused"],
        json!([{ "line": 2, "message": "event `e1` already exists with different content" }])
    );
}

const COMPOSE: [&str; 5] =
    ["compose", "--message", "What can Bob eat at the dinner?", "--tokens", "400"];

#[test]
fn a_packet_is_text_and_its_build_is_kept() {
    let folder = dinner();
    let folder = folder.path();
    let (code, text, err) = memory(folder, &COMPOSE);
    assert_eq!(code, 0, "{err}");
    assert!(text.contains("I am vegetarian, and Bob is allergic to nuts.\n"), "{text}");
    assert!(text.contains("- goal: a dinner on Friday\n"), "{text}");
    let composed = does(folder, &COMPOSE);
    assert_eq!(composed["text"], text);
    let build = composed["build"].as_str().unwrap();
    assert!(err.starts_with(&format!("build {build}: ")), "{err}");
    let (_, packet, _) = memory(folder, &[&COMPOSE[..], &["--packet"]].concat());
    assert_eq!(serde_json::from_str::<Value>(&packet).unwrap(), composed["packet"]);

    let purpose = |purpose| does(folder, &[&COMPOSE[..], &["--purpose", purpose]].concat());
    let responder = purpose("responder");
    assert!(!responder["text"].as_str().unwrap().contains("tofu"));
    let recall = does(folder, &[&COMPOSE[..], &["--policy", "recall"]].concat());
    assert_ne!(recall["build"], composed["build"]);
    let chars = does(folder, &[&COMPOSE[..], &["--tokenizer", "chars"]].concat());
    assert_eq!(chars["packet"]["explain"]["determinism"]["tokenizer"], "chars/4");

    for (arguments, said) in [
        (&["--tokens", "100"][..], "`--tokens` must be at least 256, found 100"),
        (&["--policy", "nope"], "`--policy`: unknown policy `nope`; expected `default`, `recall`"),
        (&["--since", "soon"], "`--since` must be a timestamp such as"),
        (
            &["--since", "2026-02-01", "--until", "2026-01-01"],
            "`--until` must be no earlier than `--since`",
        ),
        (&["--purpose", "king"], "[possible values: planner, tool, responder]"),
        (&["--section", "facts"], "expected NAME=N, such as `facts=200`"),
        (&["--section", "facts=many"], "expected a number, found `many`"),
        (
            &["--section", "fact=200"],
            "`--section`: unknown section `fact`; expected `working_state`, `facts`,",
        ),
    ] {
        let heard = fails(folder, 2, &[&["compose"], arguments].concat());
        assert!(heard.contains(said), "{arguments:?}: {heard}");
    }
    fs::write(folder.join("p.yaml"), "id: [").unwrap();
    let heard = fails(folder, 2, &["compose", "--policy", "p.yaml"]);
    assert!(heard.contains("p.yaml:1:5"), "{heard}");
    // A floor that does not fit is an answer, and it is no.
    let goal = json!({ "goal": "dinner ".repeat(400) }).to_string();
    fs::write(folder.join("w.json"), goal).unwrap();
    remembered(folder, &["--working-memory", "w.json"]);
    let heard = fails(folder, 1, &COMPOSE);
    assert!(heard.contains("goal, constraints and slots need"), "{heard}");
}

#[test]
fn sections_may_have_budgets_of_their_own() {
    let folder = dinner();
    let folder = folder.path();
    let only = ["--section", "facts=200", "--section", "working_state=100"];
    let composed = does(folder, &[&COMPOSE[..3], &only].concat());
    let text = composed["text"].as_str().unwrap();
    assert!(text.contains("vegetarian") && text.contains("goal"), "{text}");
    assert!(!text.contains("risotto") && !text.contains("tofu"), "{text}");
    let budget = &composed["packet"]["meta"]["budget"];
    assert_eq!(
        (&budget["max_tokens"], &budget["per_section"]["facts"]),
        (&json!(300), &json!(200))
    );
    assert_eq!(budget["per_section"]["episodes"], 0);
}

#[test]
fn a_procedure_may_be_for_some_prompts_only() {
    let folder = dinner();
    let folder = folder.path();
    fs::write(folder.join("p.json"), r#"{"steps": ["light the oven"]}"#).unwrap();
    let arguments = ["--procedure", "p.json", "--task-type", "dinner", "--purpose", "tool"];
    remembered(folder, &arguments);
    let text = |purpose| {
        let options = ["--task-type", "dinner", "--purpose", purpose];
        does(folder, &[&COMPOSE[..], &options].concat())["text"].as_str().unwrap().to_owned()
    };
    assert!(text("tool").contains("light the oven"), "{}", text("tool"));
    assert!(!text("planner").contains("light the oven"), "{}", text("planner"));
    let line = json!({"procedure": {"steps": ["x"]}, "purposes": ["king"]}).to_string();
    let all: Vec<&str> = ["remember", "-"].into_iter().chain(WHOSE).collect();
    let (code, _, err) = raw(folder, &all, &line);
    assert_eq!(code, 2);
    assert!(err.contains("<stdin>:1: `purposes`: unknown variant `king`"), "{err}");
}

#[test]
fn a_build_is_explained() {
    let folder = dinner();
    let folder = folder.path();
    let build = does(folder, &COMPOSE)["build"].as_str().unwrap().to_owned();
    let (code, page, err) = memory(folder, &["explain", &build]);
    assert_eq!(code, 0, "{err}");
    insta::assert_snapshot!(page);
    let explanation = does(folder, &["explain", &build]);
    assert_eq!(explanation["identical"], true);
    assert!(explanation["rows"].as_array().unwrap().len() > 5);
    assert_eq!(explanation["prefix"], Value::Null, "there is none before it");
    remembered(folder, &["--event", "Bob eats nothing at all.", "--id", "e99"]);
    let mut later = COMPOSE.to_vec();
    later.extend(["--now", "2026-01-22"]);
    let all: Vec<&str> =
        [&later[..], &WHOSE[..4], &["--json"]].into_iter().flatten().copied().collect();
    let (code, out, err) = raw(folder, &all, "");
    assert_eq!(code, 0, "{err}");
    let next: Value = serde_json::from_str(&out).unwrap();
    let next = next["build"].as_str().unwrap();
    let prefix = &does(folder, &["explain", next])["prefix"];
    assert_eq!(prefix["previous"], build.as_str());
    assert!(prefix["share"].as_f64().unwrap() > 0.2, "{prefix}");
    let (_, page, _) = memory(folder, &["explain", next]);
    assert!(page.contains(&format!("% of the previous packet, {build}: ")), "{page}");
    let said = fails(folder, 2, &["explain", "b-0"]);
    assert!(said.contains("no build `b-0` of user `ann` with agent `helper`"), "{said}");
    let (code, _, err) =
        raw(folder, &["explain", &build, "--user", "bob", "--agent", "helper"], "");
    assert_eq!(code, 2, "a build is its subject's: {err}");
}

#[test]
fn a_build_is_composed_again() {
    let folder = dinner();
    let folder = folder.path();
    let composed = does(folder, &COMPOSE);
    let build = composed["build"].as_str().unwrap();
    // What is remembered since does not matter.
    remembered(folder, &["--event", "Bob eats fish.", "--id", "e9"]);
    remembered(folder, &["--fact", "guests=9", "--confirmed"]);
    let (code, out, err) = memory(folder, &["replay", build]);
    let digest = composed["digest"].as_str().unwrap();
    assert_eq!((code, &*out), (0, ""));
    assert!(err.starts_with(&format!("identical: composing build {build} again")), "{err}");
    assert!(err.contains(digest), "{err}");
    assert_eq!(does(folder, &["replay", build])["identical"], true);

    let (code, difference, err) = memory(folder, &["replay", build, "--policy", "recall"]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("under recall 1.0.0: "), "{err}");
    assert!(difference.contains("\n- - goal: a dinner on Friday\n"), "{difference}");
    let report = does(folder, &["replay", build, "--policy", "recall"]);
    assert_eq!(report["digest"], digest);
    assert!(!report["diff"].as_array().unwrap().is_empty());
    let (_, difference, err) = memory(folder, &["replay", build, "--policy", "default"]);
    assert_eq!(difference, "");
    assert!(err.contains("The text is identical."), "{err}");
}

#[test]
fn events_are_looked_for() {
    let folder = tempfile::tempdir().unwrap();
    let (code, out, err) = memory(folder.path(), &["search", "nuts"]);
    assert_eq!((code, &*out), (0, ""));
    assert_eq!(err, "the memory is empty; store something with `countersign memory remember`\n");
    assert!(!folder.path().join(".countersign").exists(), "a look makes nothing");

    let folder = dinner();
    let folder = folder.path();
    let (_, page, _) = memory(folder, &["search", "who is allergic to nuts"]);
    insta::assert_snapshot!(page);
    let found = does(folder, &["search", "allergic", "--limit", "1"]);
    assert_eq!(found.as_array().unwrap().len(), 1);
    assert_eq!(found[0]["id"], "e1");
    assert!(found[0]["parts"]["words"].as_i64().unwrap() > 0);
    let (_, out, err) = memory(folder, &["search", "zebra"]);
    assert_eq!(out, "");
    assert_eq!(err, "no event of ann and helper matches \"zebra\"\n");
}

/// A file beside the work, as another memory.
const OTHER: [&str; 2] = ["--store", "other.db"];

#[test]
fn an_export_comes_back_as_it_was() {
    let folder = dinner();
    let folder = folder.path();
    let (code, lines, err) = memory(folder, &["export"]);
    assert_eq!((code, lines.lines().count()), (0, 12), "{err}");
    let (code, out, err) = memory(folder, &["export", "--output", "ann.jsonl"]);
    assert_eq!((code, &*out), (0, ""), "{err}");
    assert!(err.contains("ann.jsonl: 12 lines"), "{err}");
    assert_eq!(fs::read_to_string(folder.join("ann.jsonl")).unwrap(), lines);

    let later = ["--store", "other.db", "--now", "2026-02-01"];
    let import = [&["import", "ann.jsonl", "--trusted"][..], &later].concat();
    let (code, _, err) = raw(folder, &import, "");
    assert_eq!((code, &*err), (0, "12 lines imported\n"));
    let (_, again, _) = memory(folder, &[&["export"][..], &OTHER].concat());
    assert_eq!(again, lines, "the round trip is equal");
    let (code, _, _) = raw(folder, &import, "");
    assert_eq!(code, 0);
    let (_, again, _) = memory(folder, &[&["export"][..], &OTHER].concat());
    assert_eq!(again, lines, "once more changes nothing");

    // From elsewhere it is believed less.
    let foreign = ["import", "ann.jsonl", "--store", "third.db", "--json"];
    let account = does(folder, &foreign[..4]);
    assert_eq!(account["refused"], json!([]));
    let (_, foreign, _) = memory(folder, &["export", "--store", "third.db"]);
    assert!(foreign.contains("\"origin\":\"imported\""), "{foreign}");

    let (code, _, err) = raw(folder, &["import", "-", "--store", "x.db"], "\n{\"event\": \"a\"}\n");
    assert_eq!(code, 2);
    assert!(err.contains("<stdin>:2: not a line of an export:"), "{err}");
    assert!(!folder.join("x.db").exists());
    // A line that the rules refuse is named by its number in the file.
    let other = lines.lines().next().unwrap().replace("vegetarian", "vegan");
    let all = ["import", "-", "--trusted"];
    let (code, _, err) = raw(folder, &all, &format!("\n{other}\n"));
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("refused line 2: event `e1` already exists"), "{err}");
    // So is one that cannot be read, and the others are taken in.
    let broken = lines.replacen('\n', "\n{\"subject\": 1}\n", 1);
    let all = ["import", "-", "--trusted", "--store", "fourth.db"];
    let (code, _, err) = raw(folder, &all, &broken);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("refused line 2: not a line of an export: "), "{err}");
    assert!(err.ends_with("12 lines imported\n"), "{err}");
    let (_, again, _) = memory(folder, &["export", "--store", "fourth.db"]);
    assert_eq!(again, lines);
}

#[test]
fn what_is_over_goes_when_it_is_told_to() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let passing = |text: &str, until: &str| {
        remembered(folder, &["--event", text, "--expires", until]);
    };
    passing("herons pass", "2026-01-01");
    remembered(folder, &["--insight", "Herons leave", "--expires", "2026-01-01"]);
    remembered(folder, &["--event", "herons stay"]);
    let (code, out, err) = memory(folder, &["expire", "--dry-run"]);
    assert_eq!((code, &*out), (0, ""));
    let stays = "1 expired row is kept: a build used it, or it is an insight that was not validated; \
        `--include-used` removes it too\n";
    assert_eq!(err, format!("1 event, 0 insights would be removed; nothing was changed. {stays}"));
    let (code, _, err) = memory(folder, &["expire"]);
    assert_eq!((code, err), (0, format!("removed: 1 event, 0 insights. {stays}")));
    let (_, _, err) = memory(folder, &["expire", "--include-used"]);
    assert_eq!(err, "removed: 0 events, 1 insight\n");
    let (_, _, err) = memory(folder, &["expire"]);
    assert_eq!(err, "there are no expired items to remove\n");

    // What ends with a run goes when that has ended; what a build used stays with it.
    passing("cranes pass", "run_end");
    assert_eq!(does(folder, &["expire"])["events"], 0);
    let build = does(folder, &["compose", "--keyword", "cranes"])["build"].clone();
    let build = build.as_str().unwrap();
    passing("storks pass", "run_end");
    let report = does(folder, &["expire", "--run-ended"]);
    let expected = json!({"dry_run": false, "events": 1, "insights": 0, "retained": 1});
    assert_eq!(report, expected);
    assert_eq!(memory(folder, &["replay", build]).0, 0);
    let (_, _, err) = memory(folder, &["expire", "--run-ended"]);
    assert_eq!(err, format!("there are no expired items to remove. {stays}"));
    assert_eq!(does(folder, &["expire", "--run-ended", "--include-used"])["events"], 1);
    assert!(fails(folder, 1, &["replay", build]).contains("is no longer stored"));
}

#[test]
fn what_is_forgotten_is_gone_to_the_last_byte() {
    let folder = dinner();
    let folder = folder.path();
    let bob = ["remember", "--event", "I am Bob.", "--user", "bob", "--agent", "helper"];
    assert_eq!(raw(folder, &bob, "").0, 0);
    let build = does(folder, &COMPOSE)["build"].as_str().unwrap().to_owned();
    let erased = ["verify-erased", "--needle", "risotto", "--needle", "allergic to nuts"];
    let (code, out, err) = raw(folder, &erased, "");
    assert_eq!((code, &*out), (1, ""));
    assert!(err.contains("found \"risotto\" in "), "{err}");
    assert!(err.contains("memory.db"), "{err}");
    assert!(err.contains(" at byte "), "{err}");

    let (code, _, err) = raw(folder, &["forget", "--agent", "helper"], "");
    assert_eq!(code, 2);
    assert!(err.contains("`--user` is missing; name the user to erase"), "{err}");
    let (code, _, err) = raw(folder, &["forget", "--user", "ann"], "");
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("This data of ann with every agent will be erased permanently:"), "{err}");
    assert!(err.lines().any(|line| line.split_whitespace().eq(["events", "3"])), "{err}");
    assert!(err.contains("use `--yes` to confirm"), "{err}");
    assert_eq!(memory(folder, &["export"]).1.lines().count(), 12, "nothing was forgotten");

    let (code, out, err) = raw(folder, &["forget", "--user", "ann", "--yes", "--json"], "");
    assert_eq!(code, 0, "{err}");
    let account: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(account["rows"]["events"], 3);
    let (code, _, err) = raw(folder, &erased, "");
    assert_eq!(code, 0, "{err}");
    assert!(err.starts_with("erased: searched every byte of the memory for 2 texts"), "{err}");
    fs::write(folder.join("needles.txt"), "risotto\n\ntofu\nI am Bob.\n").unwrap();
    let (code, out, _) = raw(folder, &["verify-erased", "--needles", "needles.txt", "--json"], "");
    assert_eq!(code, 1);
    let report: Value = serde_json::from_str(&out).unwrap();
    let found = report["found"].as_array().unwrap();
    assert!(!found.is_empty() && found.iter().all(|one| one["needle"] == "I am Bob."), "{report}");
    let said = fails(folder, 2, &["verify-erased"]);
    assert!(said.contains("`--needle TEXT`"), "{said}");
    let said = fails(folder, 2, &["replay", &build]);
    assert!(said.contains("no build"), "{said}");

    let (code, _, err) = raw(folder, &["forget", "--user", "ann", "--yes"], "");
    assert_eq!((code, &*err), (0, "there is no memory of ann with every agent\n"));
    // It does not come back.
    let said = fails(folder, 1, &["remember", "--event", "Hello", "--id", "e1"]);
    assert!(said.contains("event `e1` was forgotten"), "{said}");
}

#[test]
fn rows_are_where_their_scope_says() {
    let folder = dinner();
    let folder = folder.path();
    let (code, out, err) = memory(folder, &["verify-scope"]);
    assert_eq!((code, &*out), (0, ""));
    assert_eq!(err, "valid: every row has a scope, and refers to no row of another scope\n");
    let file = folder.join(".countersign/memory.db");
    let db = rusqlite::Connection::open(file).unwrap();
    db.execute_batch("PRAGMA foreign_keys = OFF; UPDATE events SET subject = 99 WHERE id = 'e2'")
        .unwrap();
    drop(db);
    let (code, out, _) = memory(folder, &["verify-scope"]);
    assert_eq!(code, 1);
    assert!(out.starts_with("TABLE"), "{out}");
    let (_, out, _) = memory(folder, &["verify-scope", "--json"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["ok"], false);
}

#[test]
fn junk_is_counted() {
    let folder = dinner();
    let folder = folder.path();
    for id in ["e7", "e8"] {
        remembered(folder, &["--event", "The tram was late.", "--id", id]);
    }
    remembered(folder, &["--event", "the TRAM was late", "--id", "e9", "--expires", "2026-01-01"]);
    let audit = does(folder, &["audit"]);
    assert_eq!(audit["events"], 6);
    assert_eq!(audit["exact_duplicates"]["examples"], json!(["event e7 = event e8"]));
    assert_eq!(audit["contradicted"]["count"], 2);
    assert_eq!(audit["expired"]["examples"], json!(["event e9"]));
    let (_, page, _) = memory(folder, &["audit"]);
    insta::assert_snapshot!(page);
    let (code, out, _) = raw(folder, &["audit", "--user", "bob", "--agent", "helper"], "");
    assert_eq!(code, 0);
    assert_eq!(out, "bob with helper: 0 events, 0 facts\nNo junk was found.\n");
}

#[test]
fn what_holds_again_later_is_no_duplicate() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    remembered(folder, &["--fact", "city=Rome", "--id", "c1"]);
    let stay = ["--valid-from", "2026-01-10", "--valid-to", "2026-01-12"];
    remembered(folder, &[&["--fact", "city=Oslo", "--id", "c2"][..], &stay].concat());
    let audit = does(folder, &["audit"]);
    assert_eq!((&audit["facts"], &audit["exact_duplicates"]["count"]), (&json!(3), &json!(0)));
}

#[test]
fn an_import_goes_in_steps_and_names_what_it_passes_over() {
    let folder = dinner();
    let (code, exported, err) = memory(folder.path(), &["export"]);
    assert_eq!(code, 0, "{err}");
    let lines: Vec<&str> = exported.lines().collect();
    let (long, deep) = ("x".repeat(9 << 20), "[".repeat(200));
    let mut file = vec![lines[0], &long, &deep, "", r#"{"subject": 1}"#];
    file.extend(&lines[1..]);
    // More than one batch: what is here already is the same again.
    let padded: Vec<String> =
        (0..40).map(|_| format!("{}{}", lines[0], " ".repeat(1 << 17))).collect();
    file.extend(padded.iter().map(String::as_str));
    let other = tempfile::tempdir().unwrap();
    fs::write(other.path().join("all.jsonl"), file.join("\n")).unwrap();
    let (code, out, err) = memory(other.path(), &["import", "all.jsonl", "--trusted", "--json"]);
    assert_eq!(code, 1, "{err}");
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["saved"], lines.len() + padded.len(), "{out}");
    let said = |at: usize| {
        let one = &report["refused"][at];
        (one["line"].as_u64().unwrap(), one["message"].as_str().unwrap().to_owned())
    };
    assert_eq!(said(0).0, 2);
    assert!(said(0).1.starts_with("the line is longer than 8"), "{out}");
    assert_eq!(said(1).0, 3);
    assert!(said(1).1.starts_with("the line is nested more than 100 levels deep"), "{out}");
    assert_eq!(said(2).0, 5);
    assert!(said(2).1.starts_with("not a line of an export"), "{out}");
    let (_, again, _) = memory(other.path(), &["export"]);
    assert_eq!(again, exported, "all of it is there as it was");

    // Bad lines are counted, and not all of them are named.
    let bad = format!("{}\n{}", lines[0], "{}\n".repeat(150));
    fs::write(other.path().join("bad.jsonl"), bad).unwrap();
    let (_, out, _) = memory(other.path(), &["import", "bad.jsonl", "--trusted", "--json"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    let named = report["refused"].as_array().unwrap().len();
    assert_eq!((named, &report["more_refused"]), (100, &json!(50)), "{out}");
}
