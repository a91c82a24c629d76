//! No program that the owner did not allow, through the real program: what a model writes is never
//! taken for a protocol, and programs run only where a person or an operator permits them.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

#[path = "trust/mcp_servers.rs"]
mod mcp_servers;
#[path = "trust/model_servers.rs"]
mod model_servers;
#[path = "trust/protected.rs"]
mod protected;
#[path = "trust/settings_file.rs"]
mod settings_file;
mod test_project;

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use test_project::TestProject;

const PROGRAM: &str = env!("CARGO_BIN_EXE_countersign");

/// A policy whose program leaves a mark.
const MARKS: &str =
    "policy: { programs: { mark: { command: [sh, -c, \"echo ran >> marker\"] } } }\n";

/// A workflow that runs it and ends.
const WORKFLOW: &str = "
id: main
phases:
  - { id: mark, do: { run: { program: mark } }, apply: { set: { at: /marked, value: 'true' } } }
  - { id: done, terminal: true }
transitions: [{ from: mark, to: done }]
";

impl TestProject {
    /// A folder with a protocol that runs a program.
    fn marking() -> Self {
        let project = Self::new();
        project.write_protocol(MARKS);
        project
    }

    fn write_protocol(&self, policy: &str) {
        let index = format!("name: w\nversion: 1.0.0\ndefault_workflow: main\n{policy}");
        self.write(".opencode/protocol/index.yaml", &index);
        self.write(".opencode/protocol/workflows/main.yaml", WORKFLOW);
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs what must go well, and gives what it said to a person.
    #[track_caller]
    fn says(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let said = said(&output);
        assert!(output.status.success(), "{arguments:?}: {said}");
        said
    }

    #[track_caller]
    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[arguments, &["--json"]].concat());
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Starts a run that must halt for want of trust; its id.
    #[track_caller]
    fn halts(&self, arguments: &[&str]) -> String {
        let worked = self.json(arguments);
        assert_eq!(worked["status"], "halted", "{worked:#}");
        worked["run"].as_str().unwrap().to_owned()
    }

    fn status(&self, run: &str) -> String {
        self.json(&["status", run])["status"].as_str().unwrap().to_owned()
    }

    /// Why a run is halted, as a person reads it.
    fn why(&self, run: &str) -> String {
        let output = self.run(&["status", run]);
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
    }

    /// How often the program ran.
    fn marks(&self) -> usize {
        fs::read_to_string(self.path().join("marker")).unwrap_or_default().lines().count()
    }

    fn trust(&self) {
        testkit::trust_protocol(PROGRAM, &self.path());
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A script in which the worker of `ralph` uses tools once, and then is done.
fn ralph(calls: &Value) -> String {
    let plan = json!({ "tasks": [{ "id": "task-01", "title": "Do it" }] });
    let done = json!({ "task": { "id": "task-01", "status": "done" } });
    let script = json!({
        "phases": {
            "decompose": [{ "reply": plan }],
            "work_loop": [{ "reply": { "tool_calls": calls } }, { "reply": done }],
        }
    });
    script.to_string()
}

const RALPH: [&str; 6] = ["run", "ralph", "--input", "Go on", "--model", "script:script.json"];

#[test]
fn a_model_cannot_make_the_next_command_run_its_program() {
    let project = TestProject::new();
    let index = format!("name: ralph\nversion: 1.0.0\ndefault_workflow: main\n{MARKS}");
    let calls = json!([
        { "tool": "write", "path": "index.yaml", "content": index },
        { "tool": "write", "path": "workflows/main.yaml", "content": WORKFLOW },
        { "tool": "write", "path": "workflows/ralph.yaml",
            "content": WORKFLOW.replace("id: main", "id: ralph") },
        { "tool": "write", "path": "contracts/any.yaml",
            "content": "id: any\nversion: 1.0.0\nschema: { type: object }\n" },
    ]);
    project.write("script.json", &ralph(&calls));
    project.says(&RALPH);
    assert!(project.path().join("index.yaml").is_file(), "the attack was written");
    assert!(project.path().join("workflows/main.yaml").is_file());
    for next in [&["run"][..], &["run", "main"], &["check"], &["graph"]] {
        let output = project.run(next);
        assert_eq!(output.status.code(), Some(2), "{next:?}: {}", said(&output));
        assert!(said(&output).contains("no protocol at"), "{next:?}: {}", said(&output));
    }
    // The shipped one is still the shipped one.
    project.says(&RALPH);
    assert_eq!(project.marks(), 0);
    // Whoever names the folder means it, and is asked all the same.
    let run = project.halts(&["run", "main", "--protocol", "."]);
    assert!(project.why(&run).contains("wants to run program `mark`"), "{}", project.why(&run));
    assert_eq!(project.marks(), 0);
}

#[test]
fn tools_do_not_reach_protocols_settings_and_dot_files() {
    let project = TestProject::new();
    project.write(".env", "SECRET=canary-4711\n");
    project.write(".mcp.json", "{}");
    std::os::unix::fs::symlink(".env", project.path().join("plain.txt")).unwrap();
    std::os::unix::fs::symlink(".opencode", project.path().join("way")).unwrap();
    fs::create_dir(project.path().join(".opencode")).unwrap();
    let hostile = [
        ".opencode/protocol/index.yaml",
        ".OpenCode/Protocol/index.yaml",
        "way/protocol/index.yaml",
        "sub/.opencode/protocol/index.yaml",
        ".mcp.json",
        ".env",
        ".ENV.local",
        "plain.txt",
        ".claude/settings.json",
        ".cursor/rules",
        ".envrc",
        ".git/hooks/pre-commit",
        ".gitattributes",
        "replies.yaml",
        "countersign.toml",
        ".countersign/x",
        ".config/countersign/trust.json",
    ];
    let mut calls: Vec<Value> = hostile
        .iter()
        .map(|path| json!({ "tool": "write", "path": path, "content": "attack" }))
        .collect();
    calls.extend([".env", "plain.txt"].map(|path| json!({ "tool": "read", "path": path })));
    calls.push(json!({ "tool": "search", "query": "canary" }));
    calls.push(json!({ "tool": "list", "path": "" }));
    // A round takes eight calls at most.
    let rounds: Vec<&[Value]> = calls.chunks(4).collect();
    let done = json!({ "reply": { "task": { "id": "task-01", "status": "done" } } });
    let plan = json!({ "reply": { "tasks": [{ "id": "task-01", "title": "Do it" }] } });
    let mut said: Vec<Value> =
        rounds.iter().map(|round| json!({ "reply": { "tool_calls": round } })).collect();
    said.push(done);
    let script = json!({ "phases": { "decompose": [plan], "work_loop": said } });
    project.write("script.json", &script.to_string());
    let run = project.json(&RALPH);
    let run = run["run"].as_str().unwrap();
    project.says(&["export", run, "--output", "run.jsonl"]);
    let exported = fs::read_to_string(project.path().join("run.jsonl")).unwrap();
    assert!(!exported.contains("canary-4711"), "the secret reached the model");
    let refused = exported.matches("is hidden from the workspace").count();
    assert!(refused >= hostile.len() + 2, "{refused} refusals: {exported}");
    assert_eq!(fs::read_to_string(project.path().join(".env")).unwrap(), "SECRET=canary-4711\n");
    assert_eq!(fs::read_to_string(project.path().join(".mcp.json")).unwrap(), "{}");
    for path in hostile.iter().filter(|path| !matches!(**path, ".env" | ".mcp.json" | "plain.txt"))
    {
        assert!(!project.path().join(path).exists(), "{path} was written");
    }
}

#[test]
fn effects_and_gates_see_what_tools_see_unless_the_owner_shows_more() {
    let workflow = "
id: main
phases:
  - { id: look, ask: { question: Where?, apply: { set: /at } } }
  - { id: write, do: { write: { path: '{{ state.at }}', content: '\"x\"' }, on_failed: { goto: refused } } }
  - { id: written, terminal: true }
  - { id: refused, terminal: true }
transitions:
  - { from: look, to: write }
  - { from: write, to: written, gate: { type: file_exists, path: '{{ state.at }}' } }
";
    let project = TestProject::new();
    project.write_protocol("policy: { files: { show: [.github/**] } }\n");
    project.write(".opencode/protocol/workflows/main.yaml", workflow);
    // Who may reach hidden files is a person's word, and asked for like a program.
    let run = project.json(&["run", "--detach"])["run"].as_str().unwrap().to_owned();
    project.says(&["answer", &run, "notes.md"]);
    assert!(
        project.why(&run).contains("to access hidden files (.github/**)"),
        "{}",
        project.why(&run)
    );
    project.trust();
    for (at, phase) in [
        (".github/notes.md", "written"),
        ("notes.md", "written"),
        (".github/.env", "refused"),
        (".env", "refused"),
        (".opencode/protocol/index.yaml", "refused"),
    ] {
        let run = project.json(&["run", "--detach"]);
        let run = run["run"].as_str().unwrap().to_owned();
        project.says(&["answer", &run, at]);
        assert_eq!(project.json(&["status", &run])["phase"], phase, "{at}");
    }
    assert!(!project.path().join(".env").exists());
}

#[test]
fn a_program_runs_only_after_somebody_trusts_the_list() {
    let project = TestProject::marking();
    let run = project.halts(&["run"]);
    let why = project.why(&run);
    for part in
        ["wants to run program `mark` (sh -c \"echo ran >> marker\")", "countersign trust --run"]
    {
        assert!(why.contains(part), "{why}");
    }
    assert_eq!(project.marks(), 0);
    // Resuming alone changes nothing.
    project.says(&["resume", &run]);
    project.run(&["run", "--resume", &run, "--detach"]);
    assert_eq!((project.status(&run).as_str(), project.marks()), ("halted", 0));

    // Nobody is at the terminal: nothing is trusted without `--yes`.
    let output = project.run(&["trust"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(
        said(&output).contains("program mark: sh -c \"echo ran >> marker\""),
        "{}",
        said(&output)
    );
    project.trust();
    let listed = project.json(&["trust", "--list"]);
    assert_eq!(listed[0]["subject"], "protocol w", "{listed:#}");
    project.says(&["resume", &run]);
    project.run(&["run", "--resume", &run, "--detach"]);
    assert_eq!((project.status(&run).as_str(), project.marks()), ("completed", 1));

    // Another edit needs no new trust; another list does.
    project.write(".opencode/protocol/rules/style.md", "Be brief.\n");
    assert_eq!(project.json(&["run"])["status"], "completed");
    assert_eq!(project.marks(), 2);
    project.write_protocol(&MARKS.replace("echo ran", "echo  ran"));
    project.halts(&["run"]);
    project.write_protocol(&MARKS.replace("} } }", "} }, hosts: [example.org] }"));
    project.halts(&["run"]);
    assert_eq!(project.marks(), 2);

    // What was trusted before still is, until it is revoked.
    project.write_protocol(MARKS);
    assert_eq!(project.json(&["run"])["status"], "completed");
    project.says(&["trust", "--revoke"]);
    project.halts(&["run"]);
    assert_eq!(project.marks(), 3);
}

/// Runs the program at a terminal, and types into it.
fn at_a_terminal(project: &TestProject, arguments: &str, typed: &str) -> Option<Output> {
    let line = format!("{PROGRAM} {arguments}");
    let mut command = Command::new("script");
    command.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
    command.current_dir(project.path()).env(testkit::CONFIG_HOME, &project.config);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().ok()?;
    child.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
    Some(child.wait_with_output().unwrap())
}

#[test]
fn whoever_starts_a_run_at_a_terminal_is_asked() {
    let project = TestProject::marking();
    for (typed, marks) in [("n\n", 0), ("y\n", 1), ("", 2)] {
        let Some(output) = at_a_terminal(&project, "run", typed) else {
            testkit::report_not_run(
                "trust::whoever_starts_a_run_at_a_terminal_is_asked",
                "no `script`",
            );
            return;
        };
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        let prompted = shown.contains("Trust this?") && shown.contains("program mark: sh -c");
        assert_eq!(prompted, !typed.is_empty(), "{typed:?}: {shown}");
        assert_eq!(project.marks(), marks, "{typed:?}: {shown}");
    }
}

#[test]
fn trust_holds_for_one_folder_and_one_name() {
    let (project, other) = (TestProject::marking(), TestProject::marking());
    project.trust();
    let elsewhere = TestProject { folder: other.folder, config: project.config.clone() };
    elsewhere.halts(&["run"]);
    assert_eq!(elsewhere.marks(), 0);
    let index = fs::read_to_string(project.path().join(".opencode/protocol/index.yaml")).unwrap();
    project.write(".opencode/protocol/index.yaml", &index.replace("name: w", "name: v"));
    project.halts(&["run"]);
    assert_eq!(project.marks(), 0);
}

#[test]
fn a_run_that_is_queued_is_refused_by_the_worker_that_takes_it() {
    let project = TestProject::marking();
    let run = project.json(&["run", "--queue"])["run"].as_str().unwrap().to_owned();
    project.says(&["worker", "--until-idle"]);
    assert_eq!((project.status(&run).as_str(), project.marks()), ("halted", 0));
    // An allow-list of the operator permits it, whatever the protocol calls it.
    for (allowed, expected) in [("cargo", ("halted", 0)), ("sh -c", ("completed", 1))] {
        let run = project.json(&["run", "--queue"])["run"].as_str().unwrap().to_owned();
        project.says(&["worker", "--until-idle", "--allow-program", allowed]);
        assert_eq!((project.status(&run).as_str(), project.marks()), expected, "{allowed}");
    }
}

#[test]
fn an_allow_list_that_came_with_the_folder_counts_only_when_trusted() {
    let project = TestProject::marking();
    project.write("countersign.toml", "[allow]\nprograms = [\"sh\"]\n");
    let output = project.run(&["run", "--json"]);
    assert!(said(&output).contains("because you have not trusted it"), "{}", said(&output));
    project.halts(&["run"]);
    assert_eq!(project.marks(), 0);
    // Another protocol is named, so that only the list of the settings is trusted.
    project.write("plain/index.yaml", "name: plain\nversion: 1.0.0\ndefault_workflow: main\n");
    project
        .write("plain/workflows/main.yaml", "id: main\nphases: [{ id: only }]\ntransitions: []\n");
    project.says(&["trust", "--yes", "--protocol", "plain"]);
    let listed = project.json(&["trust", "--list"]);
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed:#}");
    assert_eq!(listed[0]["list"], json!(["program sh"]));
    assert_eq!(project.json(&["run"])["status"], "completed");
    assert_eq!(project.marks(), 1);
    let wrong = project.run(&["worker", "--allow-host", "a/b"]);
    assert_eq!(wrong.status.code(), Some(2), "{}", said(&wrong));
}

#[test]
fn a_worker_of_another_machine_permits_nothing_that_it_does_not_trust_itself() {
    let (owner, other) = (TestProject::marking(), TestProject::new());
    owner.trust();
    let store = owner.path().join("shared.db");
    let store = store.to_str().unwrap();
    let run = owner.json(&["run", "--queue", "--store", store])["run"].as_str().unwrap().to_owned();
    other.says(&["worker", "--until-idle", "--store", store]);
    assert_eq!(owner.json(&["status", &run, "--store", store])["status"], "halted");
    assert_eq!((owner.marks(), other.marks()), (0, 0));
    owner.says(&["resume", &run, "--store", store]);
    owner.says(&["worker", "--until-idle", "--store", store]);
    assert_eq!(owner.json(&["status", &run, "--store", store])["status"], "completed");
    assert_eq!((owner.marks(), other.marks()), (1, 0));
}

/// A server that is ended with the test.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn serve(project: &TestProject, more: &[&str]) -> Serving {
    let arguments = [&["serve", "--listen", "127.0.0.1:0", "--json"], more].concat();
    let mut serving = Serving(project.command(&arguments).stdout(Stdio::piped()).spawn().unwrap());
    let lines = BufReader::new(serving.0.stdout.take().unwrap()).lines();
    let mut lines_read = lines.map_while(Result::ok);
    assert!(lines_read.any(|line| line.contains("127.0.0.1:")), "it says where it listens");
    serving
}

#[track_caller]
fn until(project: &TestProject, run: &str, status: &str) {
    let deadline = Instant::now() + Duration::from_mins(1);
    while project.status(run) != status {
        assert!(Instant::now() < deadline, "{run} is {}, not {status}", project.status(run));
    }
}

#[test]
fn a_server_asks_for_trust_too() {
    let project = TestProject::marking();
    let serving = serve(&project, &[]);
    let run = project.json(&["run", "--queue"])["run"].as_str().unwrap().to_owned();
    until(&project, &run, "halted");
    assert_eq!(project.marks(), 0);
    // Trust counts at once, for a server that is running.
    project.trust();
    project.says(&["resume", &run]);
    until(&project, &run, "completed");
    assert_eq!(project.marks(), 1);
    drop(serving);

    let allowing = TestProject::marking();
    let serving = serve(&allowing, &["--allow-program", "sh"]);
    let run = allowing.json(&["run", "--queue"])["run"].as_str().unwrap().to_owned();
    until(&allowing, &run, "completed");
    assert_eq!(allowing.marks(), 1);
    drop(serving);
}

/// A run that stands before its program, as a file.
fn exported(to: &Path) -> String {
    let project = TestProject::marking();
    let run = project.json(&["run", "--queue"])["run"].as_str().unwrap().to_owned();
    project.says(&["export", &run, "--output", to.to_str().unwrap()]);
    run
}

#[test]
fn an_imported_run_is_halted_until_it_is_trusted() {
    let project = TestProject::new();
    let file = project.path().join("run.jsonl");
    let run = exported(&file);
    let message = project.says(&["import", "run.jsonl"]);
    for part in ["program mark: sh -c \"echo ran >> marker\"", "It is halted"] {
        assert!(message.contains(part), "{message}");
    }
    assert_eq!(project.status(&run), "halted");
    project.says(&["worker", "--until-idle"]);
    project.says(&["resume", &run]);
    project.says(&["worker", "--until-idle"]);
    assert_eq!((project.status(&run).as_str(), project.marks()), ("halted", 0));
    project.says(&["trust", "--run", &run, "--yes"]);
    project.says(&["resume", &run]);
    project.says(&["worker", "--until-idle"]);
    assert_eq!((project.status(&run).as_str(), project.marks()), ("completed", 1));
    let proof = project.json(&["replay", "--all", "--verify"]);
    assert!(proof.as_array().unwrap().iter().all(|run| run["verified"] == true), "{proof:#}");
}

#[test]
fn an_imported_run_is_halted_although_the_same_list_is_trusted() {
    let project = TestProject::marking();
    project.trust();
    let file = project.path().join("run.jsonl");
    let run = exported(&file);
    project.says(&["import", "run.jsonl"]);
    project.says(&["worker", "--until-idle"]);
    assert_eq!((project.status(&run).as_str(), project.marks()), ("halted", 0));
    // Importing again tells that it is here, and changes nothing.
    assert_eq!(project.json(&["import", "run.jsonl"])["outcome"], "store_ahead");
    project.says(&["resume", &run]);
    project.says(&["worker", "--until-idle"]);
    assert_eq!((project.status(&run).as_str(), project.marks()), ("completed", 1));
}

#[test]
fn an_imported_run_can_be_trusted_with_the_import() {
    let project = TestProject::new();
    let file = project.path().join("run.jsonl");
    let run = exported(&file);
    let imported = project.json(&["import", "run.jsonl", "--trust"]);
    assert_eq!(
        (&imported["halted"], &imported["outcome"]),
        (&json!(false), &json!("created")),
        "{imported:#}"
    );
    project.says(&["worker", "--until-idle"]);
    assert_eq!((project.status(&run).as_str(), project.marks()), ("completed", 1));
}

#[test]
fn an_imported_run_does_not_run_over_a_shared_store_either() {
    let (one, other) = (TestProject::new(), TestProject::new());
    let file = one.path().join("run.jsonl");
    let run = exported(&file);
    let store = one.path().join("shared.db");
    let store = store.to_str().unwrap();
    one.says(&["import", "run.jsonl", "--store", store]);
    for project in [&one, &other] {
        project.says(&["worker", "--until-idle", "--store", store]);
        assert_eq!(project.json(&["status", &run, "--store", store])["status"], "halted");
        assert_eq!(project.marks(), 0);
    }
}

#[test]
fn a_name_that_ships_is_not_shadowed_in_silence() {
    let project = TestProject::new();
    project.write_protocol("");
    let workflow = "id: ralph\nphases: [{ id: only }]\ntransitions: []\n";
    project.write(".opencode/protocol/workflows/main.yaml", &workflow.replace("ralph", "main"));
    project.write(".opencode/protocol/workflows/ralph.yaml", workflow);
    let message = project.says(&["run", "ralph"]);
    let folder = project.path().join(".opencode/protocol");
    let expected = format!(
        "`ralph` is a workflow of the protocol in {}; the shipped one is `shipped:ralph`",
        folder.display()
    );
    assert!(message.contains(&expected), "{message}");
    project.write("script.json", &ralph(&json!([{ "tool": "list" }])));
    let shipped = ["run", "shipped:ralph", "--input", "Go on", "--model", "script:script.json"];
    let worked = project.json(&shipped);
    assert_eq!(worked["document"]["tasks"][0]["status"], "done", "{worked:#}");
}
