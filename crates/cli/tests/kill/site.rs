//! A folder of work with a protocol, and the program that is run in it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// Three rounds of a reply, a file, a program and a question.
const FILES: [(&str, &str); 6] = [
    (
        ".opencode/protocol/index.yaml",
        "name: kill\nversion: 1.0.0\ndefault_workflow: main\nmodels: { default: \"script:script.yaml\" }\npolicy: { programs: { mark: { command: [./mark.sh] } } }\n",
    ),
    (
        ".opencode/protocol/contracts/note.yaml",
        "id: note\nversion: 1.0.0\nschema: { type: object, additionalProperties: false, required: [note], properties: { note: { type: string, minLength: 3 } } }\n",
    ),
    (".opencode/protocol/agents/writer.yaml", "id: writer\ndescription: writes\nbase: designer\n"),
    (
        ".opencode/protocol/workflows/main.yaml",
        r#"
id: main
phases:
  - { id: write, agent: writer, contract: note, apply: { append: { at: /notes, value: reply.note } } }
  - { id: put, do: { write: { path: "out/{{ run.id }}-{{ state.notes.length }}.md", content: "state.notes.join(',')" } } }
  - { id: mark, do: { run: { program: mark, args: ["{{ state.notes.length }}"] } }, apply: { append: { at: /marks, value: reply.stdout } } }
  - { id: ask, ask: { id: more, question: Which?, apply: { append: { at: /answers } } } }
  - { id: done, terminal: true }
transitions:
  - { from: write, to: put }
  - { from: put, to: mark }
  - { from: mark, to: ask }
  - { from: ask, to: write, gate: "state.notes.length < 3" }
  - { from: ask, to: done, priority: 1 }
"#,
    ),
    (
        "script.yaml",
        "- { reply: { note: one } }\n- sure\n- { reply: { note: two } }\n- { reply: { note: three } }\n",
    ),
    ("mark.sh", "#!/bin/sh\necho \"$COUNTERSIGN_ACTION_ID\" >> ids.txt\necho \"mark $1\"\n"),
];

/// The folder.
pub(crate) struct Site {
    folder: TempDir,
}

/// One call of the program.
pub(crate) struct Errand {
    pub(crate) run: String,
    /// The key of the answer it brings.
    pub(crate) answers: Option<String>,
    /// Whether it begins the run.
    pub(crate) begins: bool,
    arguments: Vec<String>,
    folder: PathBuf,
}

/// How a process ended.
#[derive(Debug)]
pub(crate) enum End {
    /// By itself, with code 0, and what it said.
    Good(Value),
    /// By itself, with another code, and what it said.
    Bad(String),
    /// By us.
    Killed,
}

/// A process that is running.
pub(crate) struct Running(Child);

impl Site {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in FILES {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            if text.starts_with("#!") {
                fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
        testkit::trust_protocol(env!("CARGO_BIN_EXE_countersign"), folder.path());
        Self { folder }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn start(&self, run: &str, key: &str) -> Errand {
        Errand {
            begins: true,
            ..self.errand(run, &["run", "--detach", "--json", "--idempotency-key", key])
        }
    }

    pub(crate) fn resume(&self, run: &str) -> Errand {
        self.errand(run, &["run", "--resume", run, "--detach", "--json"])
    }

    pub(crate) fn answer(&self, run: &str, wait: &str) -> Errand {
        let key = format!("{run}-{wait}");
        let wait_address = format!("{run}/{wait}");
        let arguments = [
            "answer",
            &wait_address,
            &format!("answer {wait}"),
            "--idempotency-key",
            &key,
            "--json",
        ];
        Errand { answers: Some(key.clone()), ..self.errand(run, &arguments) }
    }

    /// Lets a run go on on which too many processes were killed.
    pub(crate) fn unpark(&self, run: &str) -> Errand {
        self.errand(run, &["resume", run, "--json"])
    }

    /// Whether nobody works on a run any more, because too many processes were killed while they did.
    pub(crate) fn is_parked(&self, run: &str) -> bool {
        let sql = "SELECT lease_version = version AND lease_deaths >= 3 FROM runs WHERE id = ?1";
        self.database().query_row(sql, [run], |row| row.get(0)).unwrap()
    }

    fn errand(&self, run: &str, arguments: &[&str]) -> Errand {
        let arguments = arguments.iter().map(|&one| one.to_owned()).collect();
        let folder = self.path().to_owned();
        Errand { run: run.to_owned(), answers: None, begins: false, arguments, folder }
    }

    /// The wait that is open, as a reader of the file sees it.
    pub(crate) fn open_wait(&self, run: &str) -> Option<String> {
        let db = self.database();
        let mut query = db.prepare("SELECT id FROM waits WHERE run = ?1").unwrap();
        let mut rows = query.query([run]).unwrap();
        rows.next().unwrap().map(|row| row.get(0).unwrap())
    }

    pub(crate) fn database(&self) -> rusqlite::Connection {
        let path = self.path().join(".countersign/countersign.db");
        let db = rusqlite::Connection::open(path).unwrap();
        db.busy_timeout(Duration::from_secs(10)).unwrap();
        db
    }
}

impl Errand {
    pub(crate) fn spawn(&self) -> Running {
        let child = Command::new(env!("CARGO_BIN_EXE_countersign"))
            .args(&self.arguments)
            .current_dir(&self.folder)
            .env(testkit::CONFIG_HOME, testkit::config_home(&self.folder))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Running(child)
    }

    /// Lets it come to its own end.
    pub(crate) fn run(&self) -> End {
        self.spawn().until(Instant::now() + Duration::from_mins(2))
    }
}

impl Running {
    /// Waits for its end, but not longer than this.
    pub(crate) fn until(mut self, moment: Instant) -> End {
        while self.0.try_wait().unwrap().is_none() {
            let left = moment.saturating_duration_since(Instant::now());
            if left.is_zero() {
                // It may have ended by now, and then its own end counts.
                self.0.kill().unwrap();
                break;
            }
            std::thread::sleep(left.min(Duration::from_millis(1)));
        }
        let output = self.0.wait_with_output().unwrap();
        match output.status.code() {
            None => End::Killed,
            Some(0) => End::Good(serde_json::from_slice(&output.stdout).unwrap()),
            // Programs are told what is wrong on standard output, as JSON.
            Some(code) => {
                let said = [&output.stdout[..], &output.stderr].concat();
                End::Bad(format!("exit {code}: {}", String::from_utf8_lossy(&said)))
            }
        }
    }
}
