//! The workspace of the trial: scripts of the shipped protocols, and a small protocol whose
//! programs record each execution.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A protocol with three rounds of a reply, a file and a program that records its id.
const FILES: [(&str, &str); 6] = [
    (
        ".opencode/protocol/index.yaml",
        "name: chaos\nversion: 1.0.0\ndefault_workflow: marks\nmodels: { default: \"script:marks.yaml\" }\npolicy: { programs: { mark: { command: [./mark.sh] } } }\n",
    ),
    (
        ".opencode/protocol/contracts/note.yaml",
        "id: note\nversion: 1.0.0\nschema: { type: object, additionalProperties: false, required: [note], properties: { note: { type: string, minLength: 3 } } }\n",
    ),
    (".opencode/protocol/agents/writer.yaml", "id: writer\ndescription: writes\nbase: designer\n"),
    (
        ".opencode/protocol/workflows/marks.yaml",
        r#"
id: marks
phases:
  - { id: write, agent: writer, contract: note, apply: { append: { at: /notes, value: reply.note } } }
  - { id: put, do: { write: { path: "out/{{ run.id }}-{{ state.notes.length }}.md", content: "state.notes.join(',')" } } }
  - { id: mark, do: { run: { program: mark, args: ["{{ state.notes.length }}"] } }, apply: { append: { at: /marks, value: reply.stdout } } }
  - { id: done, terminal: true }
transitions:
  - { from: write, to: put }
  - { from: put, to: mark }
  - { from: mark, to: write, gate: "state.notes.length < 3" }
  - { from: mark, to: done, priority: 1 }
"#,
    ),
    (
        "marks.yaml",
        "- { reply: { note: one }, delay_ms: 40 }\n- sure\n- { reply: { note: two }, delay_ms: 80 }\n- { reply: { note: three }, delay_ms: 20 }\n",
    ),
    (
        "mark.sh",
        "#!/bin/sh\nsleep 0.05\necho \"$COUNTERSIGN_ACTION_ID\" >> ids.txt\necho \"mark $1\"\n",
    ),
];

/// The shipped scripts and their names in the workspace.
const SCRIPTS: [(&str, &str); 3] = [
    ("answer/replies.yaml", "answer.yaml"),
    ("intake/replies.yaml", "intake.yaml"),
    ("delivery/replies.yaml", "delivery.yaml"),
];

/// The kinds of runs and the arguments that start each of them.
pub(super) const RUN_KINDS: [(&str, &[&str]); 4] = [
    ("marks", &["run", "--queue"]),
    (
        "answer",
        &[
            "run",
            "answer",
            "--queue",
            "--model",
            "script:answer.yaml",
            "--input",
            "How many tasks of project Atlas are late?",
        ],
    ),
    ("intake", &["run", "intake", "--queue", "--model", "script:intake.yaml"]),
    (
        "delivery",
        &[
            "run",
            "delivery",
            "--queue",
            "--model",
            "script:delivery.yaml",
            "--input",
            "A note on countersigning",
        ],
    ),
];

/// The answers to an intake, in order.
pub(super) const INTAKE_ANSWERS: [&str; 3] = ["200 chairs, please.", "40 euros a chair.", "Yes."];

/// The option that an intake's document run chooses for its outline.
pub(super) const OUTLINE_CHOICE: &str = "collect";

/// The workspace folder and the program that runs in it.
pub(super) struct ChaosWorkspace {
    folder: TempDir,
    program: PathBuf,
    /// The URL of a server; `None` if the runs are stored in the folder.
    server: Option<String>,
}

impl ChaosWorkspace {
    pub(super) fn new(program: PathBuf, store: &str) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        for (path, text) in FILES {
            let path = folder.path().join(path);
            if let Some(above) = path.parent() {
                fs::create_dir_all(above)?;
            }
            fs::write(&path, text)?;
            if text.starts_with("#!") {
                fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
            }
        }
        let templates = testkit::workspace_root().join("crates/shipped-protocols/templates");
        for (from, to) in SCRIPTS {
            fs::copy(templates.join(from), folder.path().join(to))?;
        }
        testkit::trust_protocol(&program, folder.path());
        let server = (store != "sqlite").then(|| store.to_owned());
        Ok(Self { folder, program, server })
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn server(&self) -> Option<&str> {
        self.server.as_deref()
    }

    /// Builds a command that runs the program in the folder, isolated from the settings of this
    /// machine.
    pub(super) fn build_command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(self.path()).stdin(Stdio::null());
        for name in ["COUNTERSIGN_MODEL", "COUNTERSIGN_PROTOCOL", "COUNTERSIGN_STORE"] {
            command.env_remove(name);
        }
        command.env("COUNTERSIGN_USER", "anna").env("COUNTERSIGN_MEMORY", "off");
        command.env(testkit::CONFIG_HOME, testkit::config_home(self.path()));
        if let Some(server) = &self.server {
            command.env("COUNTERSIGN_STORE", server);
        }
        command
    }
}
