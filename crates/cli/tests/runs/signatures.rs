//! What a signature holds for, from the command line: nothing that was not seen, and nobody who only claims a name.

use std::fs;

use serde_json::Value;

use crate::test_project::TestProject;

/// The attack that a signature must stand: the text changes between the look and the yes.
#[test]
fn what_was_not_seen_is_not_approved() {
    let project = TestProject::with("demo");
    project.json(&["run", "--detach"]);
    let run = project.runs()[0].clone();
    project.write("patch.json", r#"{"merge": {"draft": {"title": "Mine", "body": "Mine"}}}"#);
    let forged = project.run(&["submit", &run, "patch.json", "--as", "mallory"]);
    assert_eq!(forged.code, 1, "{}", forged.err);
    assert!(forged.err.contains("a person decides on the document"), "{}", forged.err);
    let code = |arguments: &[&str]| project.json(arguments)["errors"][0]["code"].clone();
    assert_eq!(code(&["submit", &run, "patch.json", "--as", "mallory"]), "patch_not_expected");
    assert_eq!(code(&["approve", &run, "--subject", "sha256:0000"]), "subject_changed");
    assert_eq!(code(&["deny", &run]), "note_required");
    let seen = project.does(&["inbox", &format!("{run}/w1")]).out;
    assert!(seen.contains("A cheque once needed two hands"), "{seen}");
    let other = project.run(&["approve", &run, "--subject", "sha256:0000"]);
    assert_eq!(other.code, 1);
    assert!(other.err.contains("changed since you saw it"), "{}", other.err);

    let reason = project.run(&["deny", &run]);
    assert_eq!(reason.code, 1);
    assert!(reason.err.contains("Give the reason with `--note TEXT`"), "{}", reason.err);

    // A phase that lets others write asks again, and the run alone no longer says what was seen.
    let workflow = ".opencode/protocol/workflows/text.yaml";
    let text = fs::read_to_string(project.path().join(workflow)).unwrap();
    let open = text.replace(
        "    name: A person decides\n",
        "    name: A person decides\n    writes: [/draft]\n",
    );
    assert_ne!(text, open);
    project.write(workflow, &open);
    project.json(&["run", "--detach"]);
    let run = project.runs().into_iter().find(|one| *one != run).unwrap();
    let short = project.run(&["submit", &run, "patch.json"]);
    assert_ne!(short.code, 0, "the contract of the draft holds for every door");
    let body = "A cheque needs two hands, as everybody knows.\n\nThe second one is mine.\n\nAnd nobody has looked at it.";
    let patch =
        serde_json::json!({"merge": {"draft": {"title": "The second signature", "body": body}}});
    project.write("patch.json", &patch.to_string());
    project.does(&["submit", &run, "patch.json", "--as", "mallory"]);
    for old in [run.clone(), format!("{run}/w1")] {
        let blind = project.run(&["approve", &old]);
        assert_eq!(blind.code, 1, "{old}");
        assert!(blind.err.contains("changed since you saw it; `w2` asks"), "{}", blind.err);
        let difference = "What changed:\n  /draft/body is now \"A cheque needs two hands";
        assert!(blind.err.contains(difference), "{}", blind.err);
    }
    assert_eq!(code(&["approve", &format!("{run}/w1")]), "subject_changed");
    project.does(&["delegate", &format!("{run}/w2"), "--to", "bob", "--note", "on leave"]);
    project.does(&["approve", &format!("{run}/w2"), "--as", "bob"]);
    assert_eq!(project.json(&["status", &run])["status"], "completed");
    project.proves_everything();
}

/// A call that needs an approval is shown with what it would do, is made once it is approved, and
/// nothing else is done before; a file that an approval shows is part of what is signed.
#[test]
fn a_call_and_a_file_are_signed_as_they_were_shown() {
    let project = TestProject::new();
    project.write(
        ".opencode/protocol/index.yaml",
        "name: own
version: 1.0.0
default_workflow: own
document: { initial: { text: \"one\\ntwo\\n\", path: note.md } }
policy:
  programs: { count: { command: [wc, -l] } }
  approvals:
    - { calls: write, when: \"call.path === 'note.md'\", who: [anna], description: 'May it write {{ call.path }}?' }
    - { calls: run, deadline: 1h }
",
    );
    project.write(
        ".opencode/protocol/workflows/own.yaml",
        "id: own
phases:
  - { id: write, do: { write: { path: note.md, content: state.text } } }
  - { id: sign }
  - { id: count, do: { run: { program: count, args: [note.md, 'a b'] }, on_failed: { then: { goto: stopped }, apply: { set: { at: /why, value: failure.code } } } } }
  - { id: stopped, terminal: true }
  - { id: done, terminal: true }
transitions:
  - { from: write, to: sign }
  - { from: sign, to: count, gate: { type: manual, subject: [/path], present: [ { at: /path, as: file, title: The note } ], deadline: 2h } }
  - { from: sign, to: stopped, after: denied }
  - { from: count, to: done }
",
    );
    project.does(&["check"]);
    project.does(&["trust", "--yes"]);
    project.write("note.md", "one\n2\n");
    project.json(&["run"]);
    let run = project.runs()[0].clone();
    let asked = project.does(&["inbox"]).out;
    assert!(asked.contains("May it write note.md?"), "{asked}");
    assert!(asked.contains("changes note.md\n       one\n      -2\n      +two"), "{asked}");
    assert_eq!(project.run(&["approve", &run, "--as", "mallory"]).code, 1);
    assert_eq!(
        fs::read_to_string(project.path().join("note.md")).unwrap(),
        "one\n2\n",
        "nothing is done before the yes"
    );
    project.does(&["approve", &format!("{run}/w1"), "--as", "anna"]);
    assert_eq!(fs::read_to_string(project.path().join("note.md")).unwrap(), "one\ntwo\n");

    // The file changes between the look and the yes.
    let shown = project.does(&["inbox", &format!("{run}/w2")]).out;
    assert!(shown.contains("The note: note.md (sha256:"), "{shown}");
    project.write("note.md", "one\nhundred\n");
    let blind = project.run(&["approve", &format!("{run}/w2")]);
    assert_eq!(blind.code, 1);
    assert!(
        blind.err.contains("changed since you saw it") && blind.err.contains("w3"),
        "{}",
        blind.err
    );
    project.does(&["approve", &format!("{run}/w3")]);

    // The command line is shown as it would be run, and a no is handled.
    let asked = project.does(&["inbox", &format!("{run}/w4")]).out;
    assert!(asked.contains("runs wc -l note.md 'a b'"), "{asked}");
    project.run(&["deny", &format!("{run}/w4"), "--note", "not now"]);
    let status = project.json(&["status", &run]);
    assert_eq!(status["phase"], "stopped", "{status}");
    project.proves_everything();
}

/// A name that `--as` claims has no groups, is recorded as a claim, and does not sign where the
/// protocol wants to know who somebody is.
#[cfg(unix)]
#[test]
fn a_claimed_name_does_not_sign_where_names_are_verified() {
    let ask = |flag: &str| {
        let output = std::process::Command::new("id").arg(flag).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let (user, group) = (ask("-un"), ask("-gn"));
    let project = TestProject::of(&format!(
        "id: own
phases: [ {{ id: check }}, {{ id: paid, terminal: true }} ]
transitions:
  - {{ from: check, to: paid, gate: {{ type: manual, who: [mallory, 'group:{group}'], verified: true, deadline: 1h }} }}
"
    ));
    project.json(&["run", "--as", "mallory"]);
    let run = project.runs()[0].clone();
    let wait = format!("{run}/w1");
    let claimed = project.run(&["approve", &wait, "--as", "mallory"]);
    assert_eq!(claimed.code, 1);
    assert!(claimed.err.contains("the name `mallory` is only claimed"), "{}", claimed.err);
    let other = project.run(&["approve", &wait, "--as", "anna"]);
    assert_eq!(other.code, 1, "a claimed name has no groups: {}", other.err);
    assert!(other.err.contains("assigned to"), "{}", other.err);
    // Without a name, the person is the one whom the operating system knows.
    let mut own = project.command(&["approve", &wait]);
    let own = own.env_remove("COUNTERSIGN_USER").env("USER", "mallory").output().unwrap();
    assert!(own.status.success(), "{}", String::from_utf8_lossy(&own.stderr));
    assert_eq!(project.json(&["history"])[1]["summary"], format!("{user} approved w1"));
    let events = project.json(&["history", "--full"]);
    let inputs = events.as_array().unwrap().iter();
    let senders: Vec<Value> = inputs
        .filter_map(|entry| entry["event"].get("input"))
        .filter_map(|input| {
            let start = input.pointer("/payload/sender").or(input.get("sender"));
            Some(start?["identity"].clone())
        })
        .collect();
    assert_eq!(senders, ["claim", "system"], "{events}");
    project.proves_everything();
}
