//! Nothing that a model or a stranger wrote moves the cursor, changes the order of what is read, or
//! hides: every command is asked to show texts that try, as a pipe sees it and as a terminal does.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use countersign_contract::text::is_hidden;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Colours, a cleared screen, a title, a carriage return, backspaces, a bell, C1 controls,
/// bidirectional controls, zero-width characters, tags.
const CANARY: &str = "\u{1b}[32maccepted\u{1b}[0m\u{1b}[2J\u{1b}]0;t\u{7}\rover\u{8}\u{8}\u{b}\u{c}\u{7f}\u{85}\u{9b}31m\u{200b}\u{200d}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2060}\u{2066}\u{2067}\u{2068}\u{2069}\u{61c}\u{feff}\u{ad}\u{2028}\u{2029}\u{fe0f}\u{e0041}";

struct TestProject(TempDir);

impl TestProject {
    fn new() -> Self {
        let project = Self(tempfile::tempdir().unwrap());
        project.write(
            ".opencode/protocol/index.yaml",
            &yaml(&json!({"name": "own", "version": "1.0.0", "description": CANARY, "default_workflow": "own",
                "workflows": {"own": {"output": ["/draft"]}},
                "document": {"initial": {"topic": CANARY}}, "models": {"default": "script:replies.yaml"}})),
        );
        project.write(
            ".opencode/protocol/agents/writer.yaml",
            &yaml(&json!({"id": "writer", "description": CANARY, "base": "designer", "mode": "append", "prompt": CANARY})),
        );
        project.write(
            ".opencode/protocol/contracts/draft.yaml",
            &yaml(
                &json!({"id": "draft", "version": "1.0.0", "title": CANARY, "description": CANARY,
                "schema": {"type": "object", "required": ["body"], "additionalProperties": false,
                    "properties": {"body": {"type": "string", "description": CANARY},
                        "mood": {"enum": [CANARY, "calm"]}}}}),
            ),
        );
        project.write(
            ".opencode/protocol/workflows/own.yaml",
            &yaml(&json!({"id": "own", "name": CANARY,
                "phases": [
                    {"id": "write", "name": CANARY, "agent": "writer", "contract": "draft",
                        "prompt": CANARY, "reads": ["/topic"], "writes": ["/draft"], "apply": {"set": "/draft"}},
                    {"id": "ask", "ask": [{"id": "why", "question": format!("Why? {CANARY}"),
                        "choices": [{"id": "yes", "label": CANARY}, "no"], "apply": {"set": "/why"}}]},
                    {"id": "done", "terminal": true}],
                "transitions": [
                    {"from": "write", "to": "ask", "gate": "state.draft != null"},
                    {"from": "ask", "to": "done"}]})),
        );
        let refused = format!("{CANARY}\n{{\"bo{CANARY}dy\": \"{CANARY}\"}}");
        project.write(
            "replies.yaml",
            &yaml(&json!({"phases": {"write": [
                refused,
                {"reply": {"body": 1, CANARY: CANARY}},
                {"reply": {"body": CANARY, "mood": "calm"}}]}})),
        );
        project
    }

    fn path(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// What a command shows, in a pipe and as on a terminal with colours; both without anything hidden.
    #[track_caller]
    fn shows(&self, arguments: &[&str]) -> String {
        let mut shown = String::new();
        for coloured in [false, true] {
            shown = self.once(arguments, coloured, "").1;
        }
        shown
    }

    /// A command that changes something, so that it is run once.
    #[track_caller]
    fn once(&self, arguments: &[&str], coloured: bool, input: &str) -> (i32, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        command.args(arguments).current_dir(self.path());
        for variable in ["CLICOLOR_FORCE", "NO_COLOR", "COUNTERSIGN_AGENT", "COUNTERSIGN_STORE"] {
            command.env_remove(variable);
        }
        if coloured {
            command.env("CLICOLOR_FORCE", "1");
        }
        let streams = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = streams.env("COUNTERSIGN_USER", "ann").spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        let mut whole = String::new();
        for bytes in [output.stdout, output.stderr] {
            let text = String::from_utf8(bytes).unwrap();
            assert_nothing_hidden(arguments, &text, coloured);
            whole.push_str(&text);
        }
        (output.status.code().unwrap(), whole)
    }

    #[track_caller]
    fn json(&self, arguments: &[&str]) -> Value {
        let (_, shown) = self.once(&[arguments, &["--json"]].concat(), false, "");
        serde_json::from_str(&shown).unwrap_or_else(|error| panic!("{error}: {shown}"))
    }
}

/// JSON that is YAML too: every hidden character as an escape that both know, or YAML alone.
fn yaml(value: &Value) -> String {
    let mut text = String::new();
    for character in value.to_string().chars() {
        match u32::from(character) {
            code if !is_hidden(character) => text.extend(char::from_u32(code)),
            code @ ..=0xffff => text.push_str(&format!("\\u{code:04x}")),
            code => text.push_str(&format!("\\U{code:08x}")),
        }
    }
    text
}

/// Only our own colours, and only where there may be some.
#[track_caller]
fn assert_nothing_hidden(arguments: &[&str], text: &str, coloured: bool) {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        let sequence = after.split_once('m').filter(|(sequence, _)| {
            sequence.starts_with('[')
                && sequence[1..].bytes().all(|byte| byte.is_ascii_digit() || byte == b';')
        });
        let Some((_, after)) = sequence.filter(|_| coloured) else {
            panic!("{arguments:?}: an escape sequence: {text:?}");
        };
        assert!(
            !after.starts_with("accepted\\"),
            "{arguments:?}: a colour of somebody else: {text:?}"
        );
        rest = after;
    }
    plain.push_str(rest);
    let hidden = plain.chars().find(|one| is_hidden(*one));
    assert_eq!(hidden, None, "{arguments:?}: {text:?}");
}

/// Whether the text shows what the canary tries.
#[track_caller]
fn tells(shown: &str, of: &str) {
    assert!(shown.contains(r"\u{202e}") || shown.contains(r"\u{1b}"), "{of}: {shown}");
}

#[test]
fn a_run_shows_what_models_people_and_files_hide() {
    let project = TestProject::new();
    project.shows(&["check"]);
    let input = json!({"topic": CANARY, "more": CANARY}).to_string();
    let (_, run) =
        project.once(&["run", "--input", &input, "--detach", "--idempotency-key", "k"], true, "");
    tells(&run, "progress");
    let failing = json!([{"error": {"kind": "refused", "message": CANARY}}]);
    project.write("failing.yaml", &yaml(&failing));
    let failing = ["run", "--model", "script:failing.yaml", "--detach", "--idempotency-key", "a"];
    tells(&project.once(&failing, true, "").1, "the error of a provider");
    let run = "key-k".to_owned();
    for arguments in [
        &["list"][..],
        &["status", &run],
        &["history", &run],
        &["history", &run, "--full"],
        &["inbox"],
        &["next", "key-a"],
        &["show", &run],
        &["show", &run, "--state"],
        &["show", &run, "--pointer", "/draft/body"],
        &["show", &run, "--pointer", "/dr\u{202e}aft"],
        &["diff", &run, "0"],
        &["graph", &run],
        &["graph", &run, "--format", "svg"],
        &["graph"],
        &["replay"],
        &["replay", "--all", "--verify"],
        &["export", &run],
        &["doctor"],
        &["store", "verify"],
        &["contract", "list", "--contracts", ".opencode/protocol/contracts"],
        &["status", CANARY],
        &["task", "list", &run],
        &["workers"],
        &["memory", "search", CANARY, "--user", "ann", "--agent", "own"],
        &["memory", "compose", "--message", "over", "--user", "ann", "--agent", "own"],
        &["memory", "export", "--user", "ann", "--agent", "own"],
    ] {
        project.shows(arguments);
        project.shows(&[arguments, &["--json"]].concat());
    }
    tells(&project.shows(&["history", &run]), "refused replies beside their violations");
    tells(&project.shows(&["inbox"]), "a question");
    tells(&project.shows(&["status", &run]), "a status");
    // What is escaped for people is exact for programs.
    assert_eq!(project.json(&["show", &run, "--pointer", "/draft/body"]), CANARY);
    let exported = project.once(&["export", &run], false, "").1;
    project.write("run.jsonl", &exported);
    let other = TestProject::new();
    let file = project.path().join("run.jsonl");
    let (code, said) = other.once(&["import", file.to_str().unwrap()], false, "");
    assert_eq!(code, 0, "{said}");

    let wait = format!("{run}/w1");
    let (code, said) = project.once(&["answer", &wait, CANARY], true, "");
    assert_eq!(code, 1, "{said}");
    project.once(&["halt", &run, "--reason", CANARY], true, "");
    project.shows(&["status", &run]);
    project.once(&["resume", &run], true, "");
    project.once(&["answer", &wait, "yes"], true, "");
    let shown = project.shows(&["status", &run]);
    assert!(shown.contains(r"\u202e"), "what a run made is JSON: {shown}");
    project.once(&["cancel", &run, "--reason", CANARY], true, "");
    tells(&project.shows(&["history", &run]), "reasons");
}

#[test]
fn files_and_arguments_are_quoted_visibly() {
    let project = TestProject::new();
    let contracts = ["--contracts", ".opencode/protocol/contracts"];
    let reply = format!("{{\"body\": \"{CANARY}\", \"{CANARY}\": 1,\r\n \"mood\": \"x\"}}");
    project.write("reply.json", &reply);
    for arguments in [
        &["admit", "draft", "reply.json"][..],
        &["admit", "draft", "reply.json", "--reask"],
        &["contract", "show", "draft"],
        &["contract", "export", "draft", "--target", "grammar"],
        &["contract", "export", "draft", "--target", "openai"],
        &["contract", "list"],
    ] {
        project.shows(&[arguments, &contracts].concat());
        project.shows(&[arguments, &contracts, &["--json"]].concat());
    }
    let shown = project.shows(&[&["admit", "draft", "reply.json"][..], &contracts].concat());
    tells(&shown, "an excerpt of a reply");
    for arguments in [&["agent", "list"][..], &["agent", "show", "writer"]] {
        tells(&project.shows(arguments), "an agent");
        project.shows(&[arguments, &["--json"]].concat());
    }
    // A name of a file, a fault in a file, a line of the command that cannot be read.
    let name = format!("a{CANARY}.json").replace('/', "");
    let _ = fs::write(project.path().join(&name), &reply);
    project.shows(&[&["admit", "draft", &name][..], &contracts].concat());
    project.shows(&[&["admit", "draft", &format!("no{name}")][..], &contracts].concat());
    project.shows(&["admit", &format!("dra\u{202e}{CANARY}")]);
    tells(&project.shows(&[CANARY]), "no such command");
    tells(&project.shows(&["run", &format!("--{CANARY}")]), "no such flag");
    project.write(
        ".opencode/protocol/workflows/own.yaml",
        &format!("id: own\nphases:\n  - {{ id: a, nmae: \"\u{202e}\u{200b}\" }}\n# {CANARY}\n"),
    );
    project.shows(&["check"]);
    project.shows(&["check", "--json"]);
    project.write("countersign.toml", &format!("modle = '\u{202e}\u{200b}'\n# {}\n", "\u{2066}"));
    project.shows(&["doctor"]);
    project.shows(&["list"]);
}

#[test]
fn memory_shows_what_is_hidden_in_it() {
    let project = TestProject::new();
    let things = [
        json!({"event": format!("I like tea {CANARY}"), "id": "e1", "speaker": CANARY}),
        json!({"event": format!("Noted {CANARY}"), "id": format!("e2{}", "\u{202e}"), "role": "assistant"}),
        json!({"fact": "tea", "value": format!("{CANARY} a"), "id": "f1", "sources": ["e1"], "tags": [CANARY]}),
        json!({"fact": "tea", "value": format!("{CANARY} b"), "id": "f2"}),
        json!({"episode": format!("Tea was had {CANARY}"), "id": "ep1", "start": "2026-01-19", "highlights": [CANARY]}),
        json!({"insight": format!("Tea may be liked {CANARY}"), "id": "i1"}),
        json!({"procedure": {"steps": [CANARY]}, "task_type": "tea", "id": "p1"}),
        json!({"working_memory": {"goal": format!("tea {CANARY}")}}),
        json!({"summary": format!("Tea {CANARY}"), "sources": ["e1"]}),
        json!({"nothing": CANARY}),
    ];
    let lines = things.each_ref().map(ToString::to_string).join("\n");
    let whose = ["--user", "ann", "--agent", "helper", "--now", "2026-01-21T12:00:00Z"];
    let (_, said) =
        project.once(&[&["memory", "remember", "-"][..], &whose].concat(), true, &lines);
    assert!(said.contains("<stdin>:10"), "{said}");
    let sound = things.len() - 1;
    let lines: Vec<String> = things[..sound].iter().map(Value::to_string).collect();
    let remember = [&["memory", "remember", "-"][..], &whose].concat();
    let (code, said) = project.once(&remember, true, &lines.join("\n"));
    assert_eq!(code, 0, "{said}");
    let wide = [&whose[..], &["--tenant", "\u{202e}t"]].concat();
    project.shows(&[&["memory", "search", "tea"][..], &wide].concat());
    for arguments in [
        &["search", "tea"][..],
        &["compose", "--message", "tea", "--purpose", "planner"],
        &["compose", "--message", "tea", "--purpose", "responder"],
        &["audit"],
        &["age", "--dry-run"],
        &["expire", "--dry-run"],
        &["candidates"],
        &["export"],
        &["verify-scope"],
        &["verify-erased", CANARY],
        &["explain", CANARY],
        &["validate", CANARY],
        &["promote", CANARY],
        &["forget", "--event", "e1", "--dry-run"],
        &["summarize"],
    ] {
        let all = [&["memory"][..], arguments, &whose].concat();
        project.shows(&all);
        project.shows(&[&all[..], &["--json"]].concat());
    }
    let planner = ["memory", "compose", "--message", "tea", "--purpose", "planner"];
    tells(&project.shows(&[&planner[..], &whose].concat()), "a packet");
    let packet = project.json(&[&planner[..], &whose].concat());
    let build = packet["build"].as_str().or(packet["id"].as_str()).unwrap_or_default().to_owned();
    project.shows(&[&["memory", "explain", &build][..], &whose].concat());
    project.shows(&[&["memory", "replay", &build][..], &whose].concat());
    // What is exported comes back as it was.
    let (_, exported) = project.once(&[&["memory", "export"][..], &whose].concat(), false, "");
    assert!(exported.contains(r"\u202e") && !exported.contains(r"\u{"), "{exported}");
    for line in exported.lines() {
        serde_json::from_str::<Value>(line).unwrap();
    }
    let file = project.path().join("memory.jsonl");
    fs::write(&file, format!("{exported}{{\"x\u{202e}\": \"{}\"}}\n", "\u{9b}")).unwrap();
    let import = ["memory", "import", file.to_str().unwrap()];
    project.once(&[&import[..], &whose].concat(), true, "");
}

/// Every place that prints in this program goes through the one that makes things visible.
#[test]
fn no_other_place_prints() {
    fn files(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                files(&path, found);
            } else {
                found.push(path);
            }
        }
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    files(&source, &mut found);
    for path in found {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.strip_prefix(&source).unwrap().to_string_lossy().into_owned();
        let rules = [
            ("output.rs", &["anstream::std", "io::stdout", "io::stderr()", "\\x1b"][..]),
            ("excerpt.rs", &["Renderer"]),
            ("style.rs", &["anstyle::Style"]),
        ];
        for (module, words) in rules {
            for word in words.iter().filter(|_| name != module) {
                assert!(!text.contains(word), "{name} has `{word}`, which belongs into {module}");
            }
        }
    }
}
