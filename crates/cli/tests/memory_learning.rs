//! Memory that grows, with the real program: what a model proposes is held against its contract, waits, and is
//! ruled on.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

const WHOSE: [&str; 6] = ["--user", "ann", "--agent", "helper", "--now", "2026-01-21T12:00:00Z"];

const TALK: &str = r#"{"event": "Hello! I am not vegetarian any more. I moved to Rome.", "id": "e1", "ts": "2026-01-20T18:00:00Z"}
{"event": "You may like the markets there.", "id": "e2", "role": "assistant", "origin": "model", "ts": "2026-01-20T18:00:10Z"}
{"event": "price: 12 €", "id": "e3", "role": "tool", "kind": "tool_result", "origin": "tool", "ts": "2026-01-20T18:01:00Z"}
"#;

/// Exit code, standard output and standard error of `countersign memory …` as Ann, at a moment that stands still.
fn memory(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.arg("memory").args(arguments).args(WHOSE).current_dir(folder).stdin(Stdio::null());
    for variable in ["CLICOLOR_FORCE", "COUNTERSIGN_USER", "COUNTERSIGN_AGENT", "COUNTERSIGN_MODEL"]
    {
        command.env_remove(variable);
    }
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[track_caller]
fn does(folder: &Path, arguments: &[&str]) -> Value {
    let all: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
    let (code, out, err) = memory(folder, &all);
    assert_eq!(code, 0, "{arguments:?}: {out}{err}");
    serde_json::from_str(&out).unwrap()
}

fn talked() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("talk.jsonl"), TALK).unwrap();
    does(folder.path(), &["remember", "talk.jsonl"]);
    folder
}

/// Writes the replies of a model, and lets it propose.
fn proposing(folder: &Path, replies: &[Value]) -> (i32, String, String) {
    let list: Vec<Value> = replies.iter().map(|reply| json!({ "reply": reply })).collect();
    fs::write(folder.join("replies.yaml"), Value::from(list).to_string()).unwrap();
    memory(folder, &["propose", "--model", "script:replies.yaml"])
}

fn fact(key: &str, value: &str, event: &str, quote: &str) -> Value {
    json!({ "key": key, "value": value, "event": event, "quote": quote, "confidence": 0.8, "preference": false })
}

fn facts(facts: &[Value]) -> Value {
    json!({ "facts": facts, "insights": [] })
}

#[test]
fn what_a_model_proposes_waits_and_is_ruled_on() {
    let folder = talked();
    let folder = folder.path();
    let reply = json!({
        "facts": [fact("city", "Rome", "e1", "to Rome"), fact("price", "12 €", "e3", "price: 12 €")],
        "insights": [{
            "type": "hypothesis",
            "statement": "She may want a market guide.",
            "because": ["e1", "e2"],
            "confidence": 0.4,
            "tests_suggested": ["ask her"],
        }],
    });
    let (code, out, err) = proposing(folder, std::slice::from_ref(&reply));
    assert_eq!(code, 0, "{err}");
    insta::assert_snapshot!(format!("{out}---\n{err}"));
    let (_, text, _) = memory(folder, &["compose", "--message", "Where does she live?"]);
    assert!(!text.contains("Known facts"), "what is proposed is not known: {text}");

    let waiting = does(folder, &["candidates"]);
    assert_eq!(waiting.as_array().unwrap().len(), 3);
    let id = |what: &str| {
        let all = waiting.as_array().unwrap();
        let one = all.iter().find(|one| one["claim"].to_string().contains(what)).unwrap();
        one["id"].as_str().unwrap().to_owned()
    };
    // The quote is the whole sentence.
    let city = waiting.as_array().unwrap().iter().find(|one| one["id"] == id("Rome")).unwrap();
    assert_eq!(city["claim"]["evidence"], json!([{ "event": "e1", "quote": "I moved to Rome." }]));
    assert_eq!(city["origin"], "model");

    let kept = does(folder, &["promote", &id("Rome")]);
    assert_eq!((&kept["kind"], &kept["outcome"]), (&json!("fact"), &json!("added")));
    let (code, _, err) = memory(folder, &["refuse", &id("12 €"), "--reason", "it changes daily"]);
    assert_eq!(code, 0, "{err}");
    let (code, _, err) = memory(folder, &["promote", &id("12 €")]);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("was already decided: it was refused"), "{err}");
    assert_eq!(does(folder, &["promote", &id("guide")])["kind"], "insight");
    let (code, _, err) = memory(folder, &["promote", "c-none"]);
    assert_eq!((code, err.contains("no candidate `c-none` in this scope")), (2, true), "{err}");

    let (_, text, _) = memory(folder, &["compose", "--message", "Where does she live?"]);
    assert!(text.contains("- city: Rome\n"), "{text}");
    assert!(text.contains("unvalidated: She may want a market guide."), "{text}");
    let (_, text, _) =
        memory(folder, &["compose", "--message", "markets in Rome", "--purpose", "responder"]);
    assert!(!text.contains("market guide"), "a guess reaches no responder: {text}");

    // The same reply proposes nothing anew, and brings nothing back.
    let (code, _, err) = proposing(folder, &[reply]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(err, "3 events read; nothing new proposed, 3 already known\n");
    let (_, out, err) = memory(folder, &["candidates"]);
    assert_eq!(out, "");
    assert!(err.starts_with("no candidate waits for a decision"), "{err}");
    let (_, page, _) = memory(folder, &["candidates", "--all"]);
    assert!(page.contains("refused: it changes daily"), "{page}");
}

#[test]
fn a_reply_is_mended_and_asked_for_again() {
    let folder = talked();
    let folder = folder.path();
    let wrong = facts(&[fact("city", "Rome", "e1", "She moved to Rome.")]);
    let fenced = format!("Here:\n```json\n{}\n```", facts(&[fact("city", "Rome", "e1", "Rome.")]));
    let (code, out, err) = proposing(folder, &[wrong, fenced.into()]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("a quote appears letter for letter in the event it cites"), "{err}");
    assert!(err.contains("3 events read on attempt 2; 1 candidate proposed"), "{err}");
    assert!(out.contains("e1: \"I moved to Rome.\""), "{out}");
}

#[test]
fn a_hostile_reply_writes_nothing() {
    let folder = talked();
    let folder = folder.path();
    // The words of another tenant are in the same file.
    let secret = ["remember", "--event", "The code is 4711.", "--id", "s1", "--tenant", "other"];
    does(folder, &secret);
    let cases = [
        // Words left out turn the sentence round, or are made up.
        (fact("diet", "vegetarian", "e1", "I am vegetarian"), "/facts/0/quote"),
        (fact("city", "Rome", "e1", "I moved to rome."), "/facts/0/quote"),
        (fact("city", "Rome", "e3", "I moved to Rome."), "/facts/0/quote"),
        // Somebody else's event, and one that is not there.
        (fact("code", "4711", "s1", "The code is 4711."), "/facts/0/event"),
        (fact("code", "4711", "e99", "The code is 4711."), "/facts/0/event"),
        // A guess dressed as a fact: it says more than it quotes, or quotes a model.
        (fact("taste", "likes markets", "e1", "I moved to Rome."), "/facts/0/value"),
        (fact("taste", "the markets", "e2", "You may like the markets there."), "/facts/0/event"),
        (fact(" ", "Rome", "e1", "I moved to Rome."), "/facts/0"),
    ];
    for (claim, pointer) in cases {
        let reply = facts(&[claim, fact("city", "Rome", "e1", "I moved to Rome.")]);
        let (code, out, err) = proposing(folder, &[reply.clone(), reply]);
        assert_eq!((code, &*out), (1, ""), "{err}");
        assert!(err.contains(pointer), "{pointer}: {err}");
        assert!(
            err.contains("contract `memory_candidates_v1` refused the reply of ")
                && err.contains(" 2 times; "),
            "{err}"
        );
        assert_eq!(does(folder, &["candidates", "--all"]), json!([]), "nothing of it was written");
    }
    // A verdict is not the model's to give.
    let sure = json!({
        "facts": [],
        "insights": [{
            "type": "pattern", "statement": "It is so.", "because": ["e1"], "confidence": 1,
            "tests_suggested": [], "validation_state": "validated",
        }],
    });
    let (code, _, err) = proposing(folder, &[sure.clone(), sure]);
    assert_eq!(code, 1, "{err}");
    let (code, _, err) = proposing(folder, &[json!("I cannot do that."), json!("No, really not.")]);
    assert_eq!(code, 1, "{err}");
    assert_eq!(does(folder, &["candidates", "--all"]), json!([]));
}

#[test]
fn a_models_claim_replaces_nothing_that_a_person_said() {
    let folder = talked();
    let folder = folder.path();
    does(folder, &["remember", "--fact", "city=Paris", "--id", "f1"]);
    proposing(folder, &[facts(&[fact("city", "Rome", "e1", "I moved to Rome.")])]);
    let id = does(folder, &["candidates"])[0]["id"].as_str().unwrap().to_owned();
    let ruled = does(folder, &["promote", &id]);
    assert_eq!((&ruled["outcome"], &ruled["related_ids"]), (&json!("disputed"), &json!(["f1"])));
}

#[test]
fn who_moved_back_is_learned_again() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let said = [("e1", "I live in Paris.", "Paris"), ("e2", "I moved to Rome.", "Rome")];
    let back = ("e3", "I moved back to Paris.", "Paris");
    for ((event, words, city), day) in said.into_iter().chain([back]).zip(11..) {
        let ts = format!("2026-01-{day}T18:00:00Z");
        does(folder, &["remember", "--event", words, "--id", event, "--ts", &ts]);
        let (code, _, err) = proposing(folder, &[facts(&[fact("city", city, event, city)])]);
        assert_eq!(code, 0, "{err}");
        let id = does(folder, &["candidates"])[0]["id"].as_str().unwrap().to_owned();
        does(folder, &["promote", &id]);
        let (_, text, _) = memory(folder, &["compose", "--message", "Where does she live?"]);
        assert!(text.contains(&format!("- city: {city}\n")), "{event}: {text}");
    }
}

#[test]
fn a_fact_is_ended_by_saying_so() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    does(folder, &["remember", "--fact", "job=baker", "--id", "f1"]);
    let end = ["remember", "--fact", "job=baker", "--valid-to", "2026-01-20"];
    let (code, _, err) = memory(folder, &end);
    assert_eq!((code, &*err), (0, "known fact f1: revision 2 is unchanged\n"));
    let (_, text, _) = memory(folder, &["compose", "--message", "What does she do?"]);
    assert!(!text.contains("baker"), "{text}");
}

#[test]
fn a_session_is_summed_up() {
    let folder = talked();
    let folder = folder.path();
    does(folder, &["remember", "--insight", "You may like the markets there."]);
    let shown = does(folder, &["summarize", "--dry-run"]);
    assert_eq!(shown["sources"], json!(["e1", "e3"]), "no guess, though a model said it aloud");
    assert_eq!(shown["revision"], Value::Null);
    let (code, out, err) = memory(folder, &["summarize"]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(
        out,
        "user: Hello! I am not vegetarian any more. I moved to Rome. · tool: price: 12 €\n"
    );
    assert_eq!(err, "kept summary of session default, revision 1: by rules, from 2 events\n");
    let composed = does(folder, &["compose", "--purpose", "responder"]);
    assert!(composed["text"].as_str().unwrap().contains("I moved to Rome."), "{composed}");
    let cited = composed["packet"]["citations"].to_string();
    assert!(cited.contains("\"e1\"") && cited.contains("\"e3\""), "{cited}");

    // By a model: a line rests on events, and repeats no guess.
    let summing = |replies: &[Value]| {
        let list: Vec<Value> = replies.iter().map(|reply| json!({ "reply": reply })).collect();
        fs::write(folder.join("s.yaml"), Value::from(list).to_string()).unwrap();
        memory(folder, &["summarize", "--model", "script:s.yaml"])
    };
    let line = |text: &str, event: &str| json!({ "lines": [{ "text": text, "events": [event] }] });
    let leak = line("Ann was told: you may like the markets there.", "e1");
    let stranger = line("Ann moved.", "e2");
    let (code, _, err) = summing(&[leak, stranger.clone(), line("Ann moved to Rome.", "e1")]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("a summary does not repeat an insight that is not validated"), "{err}");
    assert!(err.contains("a line names events that were shown"), "{err}");
    assert!(err.contains("revision 2: by script:s.yaml, from 1 event"), "{err}");
    let (code, _, err) = summing(&[stranger.clone(), stranger]);
    assert_eq!(code, 1, "{err}");
    let (_, text, _) = memory(folder, &["compose", "--purpose", "responder"]);
    assert!(text.contains("Ann moved to Rome."), "{text}");
    let (code, _, err) = memory(folder, &["summarize", "--session", "none"]);
    assert_eq!((code, err.contains("nothing to summarize in session `none`")), (2, true), "{err}");
}

#[test]
fn episodes_age() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let episodes = r#"{"episode": "Ann planned a dinner.", "id": "a", "start": "2026-01-05", "tags": ["dinner"]}
{"episode": "Ann cooked a risotto.", "id": "b", "start": "2026-01-06", "tags": ["dinner"]}
{"episode": "Ann ate alone.", "id": "c", "start": "2026-01-20"}
"#;
    fs::write(folder.join("e.jsonl"), episodes).unwrap();
    does(folder, &["remember", "e.jsonl"]);
    let (_, composed, err) = memory(folder, &["compose", "--tag", "dinner"]);
    assert!(composed.contains("Ann planned a dinner."), "{composed}");
    let build = err.split("build ").nth(1).unwrap().split(':').next().unwrap().to_owned();

    let (code, page, err) = memory(folder, &["age", "--dry-run"]);
    assert_eq!((code, &*err), (0, "1 episode would age; nothing was changed\n"));
    let (code, aged, err) = memory(folder, &["age"]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(aged, page);
    insta::assert_snapshot!(format!("{aged}---\n{err}"));
    let (_, out, err) = memory(folder, &["age"]);
    assert_eq!((&*out, &*err), ("", "no episode is old enough to be compressed\n"));

    let (_, composed, _) = memory(folder, &["compose", "--tag", "dinner"]);
    assert!(composed.contains("Ann planned a dinner. Ann cooked a risotto."), "{composed}");
    assert_eq!(does(folder, &["replay", &build])["identical"], true);
}

#[test]
fn what_cannot_be_asked_is_told() {
    let folder = talked();
    let folder = folder.path();
    let stderr = |arguments: &[&str], expected: i32| {
        let (code, _, err) = memory(folder, arguments);
        assert_eq!(code, expected, "{arguments:?}: {err}");
        err
    };
    assert!(stderr(&["propose"], 2).contains("`--model` is missing"));
    let err = stderr(&["propose", "--model", "gpt"], 2);
    assert!(err.contains("`--model`: `gpt` does not name a provider"), "{err}");
    assert!(stderr(&["propose", "--model", "human"], 2).contains("memory remember"));
    fs::write(folder.join("replies.yaml"), "[]").unwrap();
    let empty = ["propose", "--model", "script:replies.yaml", "--session", "none"];
    assert!(stderr(&empty, 2).contains("session `none` has no visible events to learn from"));
}

#[test]
fn a_guess_that_is_validated_becomes_a_fact_or_a_procedure() {
    let folder = talked();
    let folder = folder.path();
    let insight = ["remember", "--insight", "She may like the sea.", "--id", "i1", "--run", "r7"];
    does(folder, &[&insight[..], &["--source", "e1"]].concat());
    let (code, _, err) = memory(folder, &["learn", "i1", "--fact", "likes=the sea"]);
    let why = "refused: insight `i1` is unvalidated, expected validated; when it has been tested, use `countersign memory validate i1`\n";
    assert_eq!((code, err.as_str()), (1, why));
    let (code, _, err) = memory(folder, &["reject", "i1"]);
    assert_eq!((code, err.as_str()), (0, "insight i1 is now rejected\n"));
    let (code, _, err) = memory(folder, &["learn", "i1", "--fact", "likes=the sea"]);
    assert_eq!((code, err.contains("is rejected")), (1, true), "{err}");
    let (_, text, _) = memory(folder, &["compose", "--message", "the sea", "--run", "r7"]);
    assert!(!text.contains("the sea"), "{text}");

    let judged = does(folder, &["validate", "i"]);
    assert_eq!((&judged["insight"], &judged["revision"]), (&json!("i1"), &json!(3)), "{judged}");
    let kept = does(folder, &["learn", "i1", "--fact", "likes=the sea", "--preference"]);
    assert_eq!((&kept["kind"], &kept["outcome"]), (&json!("fact"), &json!("added")), "{kept}");
    fs::write(folder.join("steps.json"), r#"{"steps": ["Look at the tides"]}"#).unwrap();
    let steps = ["learn", "i1", "--procedure", "steps.json", "--task-type", "trip", "--id", "p1"];
    assert_eq!(does(folder, &steps)["kind"], "procedure");
    let used = ["remember", "--procedure", "steps.json", "--usage", "3", "--id", "p2"];
    does(folder, &used);
    let (_, text, _) = memory(folder, &["compose", "--message", "sea", "--task-type", "trip"]);
    assert!(text.contains("likes: the sea") && text.contains("Look at the tides"), "{text}");
    // Both rest on what the guess rests on.
    let (_, lines, _) = memory(folder, &["export"]);
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let row = |kind: &str, id: &str| {
        let rows = lines.iter().map(|line| &line["row"][kind]);
        rows.clone().find(|row| row["id"] == id || id.is_empty() && row.is_object()).unwrap()
    };
    assert_eq!(row("fact", "")["fact"]["evidence"][0]["event"], "e1");
    assert_eq!(row("procedure", "p1")["sources"], json!(["e1"]));
    assert_eq!(row("procedure", "p2")["usage"], 3, "it is what the writer says");

    let (code, _, err) = memory(folder, &["validate", "i9"]);
    assert_eq!((code, err.contains("no insight `i9` in this scope")), (2, true), "{err}");
    let (code, _, _) = memory(folder, &["learn", "i1"]);
    assert_eq!(code, 2, "it says what is learned");
}
