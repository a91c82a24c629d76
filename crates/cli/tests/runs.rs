//! Whole stories with the real program: runs are started, looked at, answered, forked, moved and
//! proved. What a person sees is under snapshot; what a program reads is asserted.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

mod test_project;
#[path = "runs/signatures.rs"]
mod signatures;

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use test_project::TestProject;

/// What the program showed.
struct Shown {
    code: i32,
    out: String,
    err: String,
}

impl TestProject {
    /// A project with a shipped protocol.
    fn with(template: &str) -> Self {
        let project = Self::new();
        project.does(&["init", template]);
        project
    }

    /// A project with a protocol of one workflow.
    fn of(workflow: &str) -> Self {
        let project = Self::new();
        project.write(
            ".opencode/protocol/index.yaml",
            "name: own\nversion: 1.0.0\ndefault_workflow: own\n",
        );
        project.write(".opencode/protocol/workflows/own.yaml", workflow);
        project
    }

    fn run(&self, arguments: &[&str]) -> Shown {
        let output = self.command(arguments).output().unwrap();
        Shown {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs what must go well.
    #[track_caller]
    fn does(&self, arguments: &[&str]) -> Shown {
        let shown = self.run(arguments);
        assert_eq!(shown.code, 0, "{arguments:?}: {}{}", shown.out, shown.err);
        shown
    }

    #[track_caller]
    fn json(&self, arguments: &[&str]) -> Value {
        let shown = self.run(&[arguments, &["--json"]].concat());
        serde_json::from_str(&shown.out).unwrap_or_else(|error| panic!("{error}: {}", shown.out))
    }

    /// Every run, the oldest first.
    fn runs(&self) -> Vec<String> {
        let listed = self.json(&["list"]);
        let ids = listed.as_array().unwrap().iter().rev();
        ids.map(|one| one["run"].as_str().unwrap().to_owned()).collect()
    }

    /// What was shown, with everything that differs from time to time taken out.
    fn steady(&self, shown: &Shown) -> String {
        let mut text =
            format!("exit {}\n──── stdout\n{}──── stderr\n{}", shown.code, shown.out, shown.err);
        text = text.replace(&self.path().display().to_string(), "DIR");
        if self.path().join(".countersign").exists() {
            for (index, run) in self.runs().iter().enumerate() {
                text = text.replace(run.as_str(), &format!("RUN{}", index + 1));
            }
        }
        text
    }

    fn db(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.path().join(".countersign/countersign.db")).unwrap()
    }

    /// Every run of the project proves itself: asked at the end of each story.
    #[track_caller]
    fn proves_everything(&self) {
        let proofs = self.json(&["replay", "--all", "--verify"]);
        let proofs = proofs.as_array().unwrap();
        assert!(!proofs.is_empty());
        for proof in proofs {
            assert_eq!(proof["verified"], true, "{proof}");
        }
    }
}

macro_rules! snapshot {
    ($name:literal, $project:expr, $arguments:expr) => {{
        let shown = $project.run(&$arguments);
        let text = $project.steady(&shown);
        insta::with_settings!({ filters => FILTERS.to_vec() }, {
            insta::assert_snapshot!($name, text);
        });
    }};
}

const FILTERS: [(&str, &str); 16] = [
    (r"/w(\d+)-[a-z0-9]{6}/", "/w$1-TOKEN/"),
    (r"\b1[789]\d{11}\b", "MILLIS"),
    ("run `[bcdfghjkmnpqrstvwxz234679]{6}`", "run `RUN`"),
    (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d{3}Z)?", "TIME"),
    (r"\d+ (s|min) ago", "N ago"),
    // A column is as wide as its longest age.
    ("CHANGED +", "CHANGED  "),
    ("  N ago +", "  N ago  "),
    (r"for \d+ s\n", "for N\n"),
    (r"[0-9a-f]{64}", "HASH"),
    (r"\([0-9a-f]{12}\)", "(DIGEST)"),
    (r"\b[0-9a-f]{12}\b", "DIGEST"),
    (r"in [0-9.]+ ms, \d+ events per second", "in N ms, N events per second"),
    (r"\d+ KB, write-ahead log \d+ (bytes|KB)", "N KB, write-ahead log N"),
    (r"SQLite [0-9.]+", "SQLite N"),
    (r"system      .*", "system      SYSTEM"),
    (r"\d+ lines, \d+ bytes", "N lines, N bytes"),
];

#[test]
fn the_demo_from_the_first_word_to_the_last() {
    let project = TestProject::with("demo");
    assert_eq!(project.json(&["run", "--detach"])["status"], "waiting");
    let run = project.runs()[0].clone();
    snapshot!("demo_list", project, ["list"]);
    snapshot!("demo_status", project, ["status"]);
    snapshot!("demo_history", project, ["history"]);
    snapshot!("demo_inbox", project, ["inbox"]);
    snapshot!("demo_replay", project, ["replay"]);
    snapshot!("demo_graph", project, ["graph", &run]);
    snapshot!("demo_graph_svg", project, ["graph", &run, "--format", "svg"]);
    snapshot!("demo_doctor", project, ["doctor"]);

    let status = project.json(&["status", &run[..3]]);
    assert_eq!(status["waits"][0]["kind"], "approval");
    assert_eq!(status["closed_gates"][0]["reason"], "somebody must approve it");
    assert_eq!((&status["model_calls"], &status["last_reply"]["attempt"]), (&4.into(), &2.into()));
    assert_eq!(status["protocol"]["folder_changed"], false);
    let inbox = project.json(&["inbox", &run, "--kind", "approval"]);
    assert_eq!(inbox[0]["address"], format!("{run}/w1"));
    assert_eq!(project.json(&["inbox", "--kind", "question"]), Value::Array(Vec::new()));

    project.does(&["approve", &format!("{run}/w1"), "--note", "fine"]);
    snapshot!("demo_status_at_the_end", project, ["status", &run]);
    snapshot!("demo_history_of_the_end", project, ["history", &run, "--after", "5"]);
    snapshot!("demo_diff", project, ["diff", &run, "1", "5"]);
    snapshot!("demo_verify", project, ["replay", &run, "--verify"]);
    snapshot!("demo_nothing_waits", project, ["inbox"]);
    snapshot!("demo_nothing_after", project, ["history", "--after", "99"]);
    project.proves_everything();
}

#[test]
fn programs_read_what_people_see() {
    let project = TestProject::with("demo");
    project.json(&["run", "--detach"]);
    let run = project.runs()[0].clone();
    let listed = project.json(&["list", "--status", "waiting"]);
    assert_eq!(listed[0]["summary"], "Is the text good enough to be published?");
    assert_eq!(project.json(&["list", "--status", "failed"]), Value::Array(Vec::new()));
    assert_eq!(project.run(&["list", "--status", "asleep"]).code, 2);

    let history = project.json(&["history"]);
    assert_eq!(history.as_array().unwrap().len(), 5);
    assert_eq!(history[0]["summary"], "started by ann");
    assert_eq!(history[1]["events"][0]["event"], "reply_refused");
    let full = project.does(&["history", "--full"]);
    let events: Vec<Value> =
        full.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.len() as u64, listed[0]["events"].as_u64().unwrap());
    assert_eq!(events.last().unwrap()["hash"], listed[0]["hash"]);
    assert_eq!(project.json(&["history", "--full"]), Value::from(events));

    // The patch between two versions makes the one out of the other.
    let mut document = project.json(&["show", "--at-version", "1"]);
    let patch = project.json(&["diff", &run, "1"]);
    let patch = countersign_contract::patch::Patch::parse(&patch).unwrap();
    patch.apply(&mut document).unwrap();
    assert_eq!(document, project.json(&["show"]));
    assert_eq!(project.json(&["show", "--pointer", "/outline/0"]), document["outline"][0]);
    assert_eq!(project.json(&["show", "--state"])["phase"], "approval");
    snapshot!("show_nothing_there", project, ["show", "--pointer", "/draft/titel/x"]);
    snapshot!("show_no_pointer", project, ["show", "--pointer", "draft"]);
    snapshot!("show_no_version", project, ["show", "--at-version", "77"]);
    snapshot!("diff_no_version", project, ["diff", &run, "first"]);
    snapshot!("diff_the_same", project, ["diff", &run, "5"]);
    assert_eq!(project.json(&["graph", &run])["format"], "mermaid");
    let doctor = project.json(&["doctor"]);
    assert_eq!((&doctor["ok"], &doctor["store"]["runs"]["waiting"]), (&true.into(), &1.into()));
    project.proves_everything();
}

#[test]
fn a_loop_of_tasks_runs_to_its_end() {
    let project = TestProject::with("ralph");
    snapshot!("ralph_check", project, ["check"]);
    project.does(&["run", "--input", "a goal"]);
    snapshot!("ralph_status", project, ["status"]);
    let run = project.runs()[0].clone();
    snapshot!("ralph_graph", project, ["graph", &run]);
    snapshot!("ralph_graph_of_the_workflow", project, ["graph", "--workflow", "task_loop"]);
    snapshot!("ralph_graph_svg", project, ["graph", &run, "--format", "svg"]);
    snapshot!("ralph_no_such_workflow", project, ["graph", "--workflow", "task_lop"]);
    // A folder that changes does not change what has begun.
    project.write(".opencode/protocol/rules/new.md", "Be brief.\n");
    assert_eq!(project.json(&["status"])["protocol"]["folder_changed"], true);
    project.proves_everything();
}

#[test]
fn faults_of_a_protocol_are_shown_where_they_are() {
    let project = TestProject::of(
        "id: own\nphases:\n  - { id: a, ask: { question: 'Why?' } }\n  - { id: b }\n  - { id: done, terminal: true }\ntransitions:\n  - { from: a, to: done }\n",
    );
    snapshot!("check_warnings", project, ["check"]);
    project.write(
        ".opencode/protocol/workflows/own.yaml",
        "id: own\nphases:\n  - { id: a }\n  - { id: done, terminal: true }\ntransitions:\n  - { from: a, to: doen, gate: state.x > }\n",
    );
    snapshot!("check_what_does_not_load", project, ["check", "."]);
    let found = project.json(&["check"]);
    assert_eq!(project.run(&["check", "--json"]).code, 1);
    let first = &found["diagnostics"][0];
    for member in ["code", "severity", "file", "line", "column", "message", "hint"] {
        assert!(first.get(member).is_some(), "{member}: {first}");
    }
    assert_eq!(first["file"], ".opencode/protocol/workflows/own.yaml");
    project.write(
        ".opencode/protocol/workflows/own.yaml",
        "id: own\nphases:\n  - { id: a, ask: { question: 'Why?' } }\n  - { id: done, terminal: true }\ntransitions:\n  - { from: a, to: done }\n",
    );
    assert_eq!(project.run(&["check"]).code, 0);
    assert_eq!(project.run(&["check", "--strict"]).code, 1);
    let nowhere = TestProject::new();
    snapshot!("check_no_protocol", nowhere, ["check"]);
    snapshot!(
        "doctor_of_faults",
        {
            project.write(".opencode/protocol/workflows/own.yaml", "id: own\nphases: []\n");
            &project
        },
        ["doctor"]
    );
}

const QUESTIONS: &str = "
id: own
phases:
  - id: ask
    ask:
      - { id: colour, question: 'Which colour?', deadline: 2d, choices: [red, { id: green, label: Deep green }], apply: { set: /colour } }
      - { id: amount, question: 'How many?', deadline: 1d, who: bob, answer: { type: integer, minimum: 1 }, apply: { set: /amount } }
      - { id: brief, question: 'The brief, please.', deadline: 3d, document: { suggested_path: in/brief.md, accepts: [.md] }, apply: { set: /brief } }
  - { id: done, terminal: true }
transitions:
  - { from: ask, to: done }
";

#[test]
fn questions_are_answered_by_whoever_may() {
    let project = TestProject::of(QUESTIONS);
    snapshot!("questions_check", project, ["check"]);
    project.json(&["run", "--detach"]);
    let run = project.runs()[0].clone();
    snapshot!("questions_inbox", project, ["inbox"]);
    snapshot!("questions_status", project, ["status"]);
    project.does(&["answer", &format!("{run}/w1"), "green"]);
    project.does(&["answer", &format!("{run}/w2"), "3", "--as", "bob"]);
    project.write("brief.md", "Be brief.\n");
    project.does(&["answer", &run, "--file", "brief.md"]);
    assert_eq!(project.json(&["show", "--pointer", "/colour"]), "green");
    assert_eq!(project.json(&["status"])["status"], "completed");
    snapshot!("questions_history", project, ["history"]);
    project.proves_everything();
}

#[test]
fn runs_are_halted_resumed_cancelled_and_forked() {
    let project = TestProject::with("demo");
    project.json(&["run", "--detach"]);
    let first = project.runs()[0].clone();
    project.does(&["halt", &first, "--reason", "lunch"]);
    snapshot!("halted_status", project, ["status", &first]);
    project.does(&["resume", &first]);
    project.does(&["fork", &first, "--at-version", "3", "--detach"]);
    let fork = project.runs().into_iter().find(|run| *run != first).unwrap();
    snapshot!("fork_status", project, ["status", &fork]);
    snapshot!("fork_diff", project, ["diff", &fork, &format!("{first}@3")]);
    project.does(&["cancel", &fork, "--reason", "enough"]);
    snapshot!("cancelled_status", project, ["status", &fork]);
    snapshot!("cancelled_list", project, ["list"]);
    assert_eq!(project.json(&["status", &fork])["fork"]["run"], first);
    snapshot!("halted_history", project, ["history", &first, "--after", "5"]);
    snapshot!("all_proved", project, ["replay", "--all", "--verify"]);
    project.proves_everything();
}

#[test]
fn a_run_travels_from_folder_to_folder() {
    let project = TestProject::with("demo");
    project.json(&["run", "--detach"]);
    let run = project.runs()[0].clone();
    snapshot!("export_told", project, ["export", &run, "--output", "run.jsonl"]);
    let file = fs::read_to_string(project.path().join("run.jsonl")).unwrap();
    assert_eq!(project.does(&["export", &run]).out, file);
    let header: Value = serde_json::from_str(file.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&header["format"], &header["run"]),
        (&"countersign-run".into(), &run.clone().into())
    );

    let other = TestProject::new();
    other.write("run.jsonl", &file);
    snapshot!("import_new", other, ["import", "run.jsonl"]);
    snapshot!("import_same", other, ["import", "run.jsonl"]);
    assert_eq!(other.does(&["export", &run]).out, file);
    assert_eq!(other.json(&["inbox"])[0]["address"], format!("{run}/w1"));
    // It goes on there, and back here the two have parted.
    other.does(&["approve", &run]);
    project.does(&["deny", &run, "--note", "no"]);
    project.write("back.jsonl", &other.does(&["export", &run]).out);
    snapshot!("import_another_history", project, ["import", "back.jsonl"]);
    assert_eq!(other.json(&["import", "run.jsonl"])["outcome"], "store_ahead");

    let third = TestProject::new();
    let touched = file.lines().map(|line| {
        let entry = line.starts_with("{\"line\":\"entry\"");
        let other = if entry { "A cheque never needed" } else { "A cheque once needed" };
        line.replace("A cheque once needed", other)
    });
    third.write("run.jsonl", &touched.collect::<Vec<_>>().join("\n"));
    snapshot!("import_tampered", third, ["import", "run.jsonl"]);
    assert!(
        !third.path().join(".countersign").exists(),
        "nothing is made for a file that is refused"
    );
    snapshot!("import_no_file", third, ["import", "nowhere.jsonl"]);
    project.proves_everything();
    other.proves_everything();
}

/// Whatever somebody changes in the database with other tools is found, and named.
#[test]
fn what_was_changed_behind_our_back_is_found() {
    for (name, change) in [
        (
            "body",
            "UPDATE log SET body = replace(body, '\"op\":\"add\",\"path\":\"/draft\"', '\"op\":\"add\",\"path\":\"/drift\"') WHERE version = 5",
        ),
        (
            "hash",
            "UPDATE log SET hash = substr(hash, 1, 23) || 'beef' || substr(hash, 28) WHERE version = 2",
        ),
        ("row", "UPDATE log SET time = time + 1 WHERE version = 1"),
        ("gone", "DELETE FROM log WHERE version = 3"),
        ("last_gone", "DELETE FROM log WHERE version = 5"),
        (
            "cut_off",
            "UPDATE log SET body = substr(body, 1, instr(body, ',{\"event\":\"engine_fields_updated') - 1) || ']}' WHERE version = 5",
        ),
        ("torn", "UPDATE log SET body = substr(body, 1, length(body) - 40) WHERE version = 5"),
        ("status", "UPDATE runs SET status = 'completed'"),
        ("wait", "DELETE FROM waits"),
        ("bytes", "UPDATE blobs SET bytes = x'00'"),
        ("protocol", "UPDATE protocols SET text = replace(text, 'deadline: 7d', 'deadline: 9d')"),
    ] {
        let project = TestProject::with("demo");
        project.json(&["run", "--detach"]);
        let run = project.runs()[0].clone();
        project.proves_everything();
        // Foreign keys and the like are of no help against somebody who owns the file.
        assert!(project.db().execute(change, []).unwrap() > 0, "{name} changes nothing");
        let shown = project.run(&["replay", &run, "--verify"]);
        assert_eq!(shown.code, 1, "{name}: {}", shown.err);
        let text = project.steady(&shown);
        insta::with_settings!({ filters => FILTERS.to_vec() }, {
            insta::assert_snapshot!(format!("tampered_{name}"), text);
        });
        assert_eq!(project.json(&["replay", "--verify"])["verified"], false);
        assert_eq!(project.json(&["replay", "--all", "--verify"])[0]["verified"], false);
    }
}

/// A snapshot saves folding, and must not say more than the events do.
#[test]
fn a_snapshot_that_says_something_else_is_found() {
    let project = TestProject::with("demo");
    project.json(&["run", "--detach"]);
    let head = project.json(&["list"])[0].clone();
    let mut state = project.json(&["show", "--state"]);
    let (version, seq) = (head["version"].as_i64(), head["events"].as_i64());
    let run = project.runs()[0].clone();
    let keep = |state: &Value| {
        let body = json!({ "v": 1, "hash": head["hash"], "state": state }).to_string();
        let insert = "INSERT OR REPLACE INTO snapshots
            SELECT number, ?2, tail, ?3, ?4 FROM runs WHERE id = ?1";
        project.db().execute(insert, (&run, version, seq, body)).unwrap();
    };
    keep(&state);
    project.proves_everything();
    state["document"]["topic"] = "something else".into();
    keep(&state);
    assert_eq!(project.json(&["show", "--pointer", "/topic"]), "something else");
    let proof = project.json(&["replay", "--verify"]);
    assert_eq!(
        proof["failure"],
        "a snapshot differs from the state that the events before it produce"
    );
}

/// A look leaves nothing behind.
#[test]
fn looking_makes_nothing() {
    let project = TestProject::new();
    snapshot!("empty_list", project, ["list"]);
    snapshot!("empty_inbox", project, ["inbox"]);
    snapshot!("empty_status", project, ["status"]);
    snapshot!("empty_doctor", project, ["doctor"]);
    snapshot!("empty_store", project, ["list", "--store", "other.db"]);
    assert_eq!(project.json(&["list"]), Value::Array(Vec::new()));
    assert_eq!(fs::read_dir(project.path()).unwrap().count(), 0);
}

#[test]
fn the_doctor_names_the_way_out() {
    let project = TestProject::with("demo");
    project.write("countersign.toml", "modle = \"human\"\n");
    snapshot!("doctor_of_settings", project, ["doctor"]);
    project.write("countersign.toml", "model = \"openai:gpt-5-mini\"\n");
    snapshot!("doctor_without_key", project, ["doctor"]);
    assert_eq!(project.run(&["doctor"]).code, 1);
    project.write("countersign.toml", "model = \"human\"\n");
    assert_eq!(project.run(&["doctor"]).code, 0);
    project.does(&["run", "--detach"]);
    let db = project.path().join(".countersign/countersign.db");
    fs::write(&db, "not a database at all, but long enough to be looked at").unwrap();
    assert_eq!(project.run(&["doctor"]).code, 1);
}

/// Pictures are the same each time, and hold nothing that could break out of them.
#[test]
fn names_cannot_break_a_drawing() {
    let project = TestProject::of(
        "id: own\nname: \"a <b> & \\\"c\\\"\"\nphases:\n  - { id: a, name: 'x\"] --> y; <script>' }\n  - { id: done, terminal: true }\ntransitions:\n  - { from: a, to: done, gate: \"state.a < 1 && state.b !== '</text>'\" }\n",
    );
    let svg = project.does(&["graph", "--format", "svg"]).out;
    assert_eq!(svg, project.does(&["graph", "--format", "svg"]).out);
    assert!(!svg.contains("<script>") && !svg.contains("<b>"), "{svg}");
    assert_eq!(svg.matches("</text>").count(), svg.matches("<text ").count());
    let mermaid = project.does(&["graph"]).out;
    assert!(mermaid.contains("x#34;#93; --#62; y#59; #60;script#62;"), "{mermaid}");
}

/// The project is where the test says it is: no protocol of this repository is found from there.
#[test]
fn a_project_stands_alone() {
    let project = TestProject::new();
    assert!(!project.path().starts_with(Path::new(env!("CARGO_MANIFEST_DIR"))));
    assert_eq!(project.run(&["graph"]).code, 2);
}
