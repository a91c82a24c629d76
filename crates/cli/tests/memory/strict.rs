//! What must not happen without a word: fields that are lost, facts that are stirred up, rows of somebody else, guesses
//! in disguise.

use std::fs;

use crate::commands::{WHOSE, dinner, fails, memory, raw, remembered};

#[test]
fn what_is_said_of_another_kind_of_thing_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (arguments, why) in [
        (
            &["--fact", "pin=1234", "--expires", "2026-01-22"][..],
            "`expires` does not apply to `fact`; it applies to `event`, `insight`",
        ),
        (
            &["--event", "hi", "--confirmed"],
            "`confirmed` does not apply to `event`; it applies to `fact`",
        ),
        (&["--insight", "x", "--role", "user"], "`role` does not apply to `insight`"),
        (&["--event", "  "], "`event` is empty"),
        (&["--episode", ""], "`episode` is empty"),
    ] {
        let heard = fails(folder, 2, &[&["remember"], arguments].concat());
        assert!(heard.contains(why), "{arguments:?}: {heard}");
    }
    let all: Vec<&str> = ["remember", "-"].into_iter().chain(WHOSE).collect();
    let (code, _, err) = raw(folder, &all, "[]");
    assert_eq!(code, 2);
    assert!(err.contains("<stdin>:1:") && !err.contains("struct"), "{err}");
}

#[test]
fn what_a_person_settled_is_not_stirred_up_by_saying_it_again() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let first = ["--fact", "diet=vegetarian", "--id", "f1"];
    remembered(folder, &first);
    fs::write(folder.join("before.jsonl"), memory(folder, &["export"]).1).unwrap();
    remembered(folder, &["--fact", "diet=vegan", "--id", "f2", "--confirmed"]);
    fs::write(folder.join("after.jsonl"), memory(folder, &["export"]).1).unwrap();
    let settled = memory(folder, &["export"]).1;
    for file in ["before.jsonl", "after.jsonl"] {
        for more in [&["--trusted"][..], &[]] {
            let (code, _, err) = memory(folder, &[&["import", file], more].concat());
            assert_eq!(code, 0, "{err}");
            assert_eq!(memory(folder, &["export"]).1, settled, "{file} {more:?}");
        }
    }
    let (code, _, err) = memory(folder, &[&["remember"][..], &first].concat());
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("outdated: f2 is current"), "{err}");
    assert_eq!(memory(folder, &["export"]).1, settled);
    // A later time is another matter.
    remembered(folder, &[&first[..], &["--valid-from", "2026-03-01"]].concat());
    assert_ne!(memory(folder, &["export"]).1, settled);
}

#[test]
fn an_import_writes_to_nobody_else() {
    let folder = dinner();
    let folder = folder.path();
    let lines = memory(folder, &["export"]).1;
    let count = lines.lines().count();
    let other = lines.replace(r#""tenant":"default""#, r#""tenant":"acme""#);
    fs::write(folder.join("own.jsonl"), lines).unwrap();
    fs::write(folder.join("other.jsonl"), other).unwrap();
    for arguments in [
        &["import", "own.jsonl", "--user", "bob", "--store", "new.db"][..],
        &["import", "own.jsonl", "--agent", "other", "--store", "new.db"],
        &["import", "other.jsonl", "--store", "new.db"],
    ] {
        let (code, _, err) = raw(folder, arguments, "");
        assert_eq!((code, err.matches("refused line").count()), (1, count), "{err}");
        assert!(err.contains("which differs from the flags"), "{err}");
    }
    let (code, _, err) =
        raw(folder, &["import", "own.jsonl", "--trusted", "--store", "new.db"], "");
    assert_eq!(code, 0, "whoever names nobody means all of the file: {err}");
}

#[test]
fn no_guess_reaches_a_responder_by_its_speaker_or_by_other_letters() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    remembered(folder, &["--insight", "Bob may like tofu.", "--id", "i1"]);
    for (said, speaker) in [
        ("may like tofu", "Bob"),
        ("Ｂｏｂ ｍａｙ like tofu", "helper"),
        ("Bob may li\u{200b}ke tofu", "aide"),
    ] {
        remembered(folder, &["--event", said, "--speaker", speaker, "--role", "assistant"]);
    }
    let arguments = ["compose", "--message", "tofu like Bob may", "--purpose"];
    let text = |purpose| memory(folder, &[&arguments[..], &[purpose]].concat()).1;
    // Nor once the guess is told in other words.
    remembered(folder, &["--insight", "Eve sings.", "--id", "i1"]);
    assert_eq!(text("planner").matches("assistant:").count(), 3, "{}", text("planner"));
    assert!(!text("responder").contains("assistant:"), "{}", text("responder"));
}
