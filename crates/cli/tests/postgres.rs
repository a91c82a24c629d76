//! The program on `PostgreSQL`: every command by `--store`, variable and file; the database is copied
//! there and back, and nothing shows a password.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::fs;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;
use tempfile::TempDir;
use tokio_postgres::NoTls;

const ADDRESS: &str = "COUNTERSIGN_TEST_POSTGRES";

static COUNT: AtomicU32 = AtomicU32::new(0);

/// A database of its own for a test, and a folder of work.
struct TestProject {
    base: String,
    name: String,
    folder: TempDir,
}

impl TestProject {
    fn open(test: &str) -> Option<Self> {
        let Ok(base) = std::env::var(ADDRESS) else {
            let why =
                format!("{ADDRESS} is not set; `cargo xtask verify` starts a server where it can");
            testkit::report_not_run(&format!("cli on postgres: {test}"), &why);
            return None;
        };
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("cli{}_{number}", std::process::id());
        let project = Self { base, name, folder: tempfile::tempdir().unwrap() };
        project.admin(&format!("CREATE ROLE r_{} LOGIN", project.name));
        project.admin(&format!("CREATE DATABASE {0} OWNER r_{0} TEMPLATE template0", project.name));
        Some(project)
    }

    fn admin(&self, statement: &str) {
        Self::execute(&self.base, statement);
    }

    /// Changes rows as somebody who may do everything.
    fn tamper(&self, statement: &str) {
        let (server, _) = self.base.rsplit_once('/').unwrap();
        Self::execute(&format!("{server}/{}", self.name), statement);
    }

    fn execute(address: &str, statement: &str) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(address, NoTls).await.unwrap();
            drop(tokio::spawn(connection));
            client.batch_execute(statement).await.unwrap();
        });
    }

    /// The address, with a password that the server does not ask for.
    fn url(&self) -> String {
        let (server, _) = self.base.rsplit_once('/').unwrap();
        let server = server.replace("tester@", &format!("r_{}:s3cret@", self.name));
        format!("{server}/{}", self.name)
    }

    fn run(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        command.env_remove("COUNTERSIGN_STORE").env("COUNTERSIGN_USER", "ann");
        command.env(testkit::CONFIG_HOME, testkit::config_home(self.folder.path()));
        command.envs(variables.iter().copied()).output().unwrap()
    }

    /// Runs what must go well, on the server.
    #[track_caller]
    fn does(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments, &[("COUNTERSIGN_STORE", &self.url())]);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(!format!("{out}{err}").contains("s3cret"), "{arguments:?}: {out}{err}");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {out}{err}");
        out
    }

    #[track_caller]
    fn json(&self, arguments: &[&str]) -> Value {
        let shown = self.does(&[arguments, &["--json"]].concat());
        serde_json::from_str(&shown).unwrap_or_else(|error| panic!("{error}: {shown}"))
    }

    /// A run of the demo's protocol, which waits for a person.
    fn begin(&self) -> String {
        self.does(&["init", "demo"]);
        assert_eq!(self.json(&["run", "--detach"])["status"], "waiting");
        self.json(&["list"])[0]["run"].as_str().unwrap().to_owned()
    }
}

impl Drop for TestProject {
    fn drop(&mut self) {
        self.admin(&format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name));
        self.admin(&format!("DROP ROLE IF EXISTS r_{}", self.name));
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_run_goes_from_the_first_word_to_the_last() {
    let Some(project) = TestProject::open("a_run_goes_from_the_first_word_to_the_last") else {
        return;
    };
    let run = project.begin();
    assert!(!project.folder.path().join(".countersign/countersign.db").exists());
    assert_eq!(project.json(&["inbox"])[0]["address"], format!("{run}/w1"));
    project.does(&["approve", &format!("{run}/w1"), "--note", "fine"]);
    assert_eq!(project.json(&["status", &run[..3]])["status"], "completed");
    for command in ["history", "show", "graph"] {
        project.does(&[command, &run]);
    }
    project.does(&["fork", &run, "--at-version", "2", "--detach"]);
    let proofs = project.json(&["replay", "--all", "--verify"]);
    assert!(proofs.as_array().unwrap().iter().all(|proof| proof["verified"] == true), "{proofs}");
    let verified = project.json(&["store", "verify", "--decide"]);
    assert_eq!((&verified["ok"], &verified["tenants"][0]["runs"]), (&true.into(), &2.into()));
    assert!(project.does(&["store", "verify"]).is_empty());
}

#[test]
fn a_row_that_somebody_edits_is_told_by_its_name() {
    let Some(project) = TestProject::open("a_row_that_somebody_edits_is_told_by_its_name") else {
        return;
    };
    let run = project.begin();
    for (edit, undo, expected) in [
        ("waits SET who = 'mallory'", "waits SET who = NULL", "addressee of wait w1 `mallory`"),
        (
            "waits SET deadline = deadline + 1000",
            "waits SET deadline = deadline - 1000",
            "deadline of wait w1 `",
        ),
        (
            "waits SET body = replace(body, '\"id\"', ' \"id\"')",
            "waits SET body = replace(body, ' \"id\"', '\"id\"')",
            "text of wait w1 `",
        ),
        (
            "runs SET updated_at = updated_at + 1000",
            "runs SET updated_at = updated_at - 1000",
            "time of the last change `",
        ),
        ("runs SET status = 'failed'", "runs SET status = 'waiting'", "status `failed`"),
        (
            "runs SET wake_at = wake_at + 86400000",
            "runs SET wake_at = wake_at - 86400000",
            "next wake-up `",
        ),
    ] {
        project.tamper(&format!("UPDATE countersign.{edit}"));
        for command in [&["store", "verify"][..], &["replay", &run, "--verify"]] {
            let output = project.run(command, &[("COUNTERSIGN_STORE", &project.url())]);
            let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
            assert_eq!(output.status.code(), Some(1), "{edit}: {said}");
            assert!(said.contains(expected), "{edit}: {said}");
        }
        project.tamper(&format!("UPDATE countersign.{undo}"));
        project.does(&["replay", &run, "--verify"]);
    }
}

#[test]
fn the_store_is_named_by_flag_variable_and_file() {
    let Some(project) = TestProject::open("the_store_is_named_by_flag_variable_and_file") else {
        return;
    };
    let run = project.begin();
    let listed = |arguments: &[&str]| {
        let output = project.run(arguments, &[]);
        text(&output.stdout)
    };
    assert!(listed(&["list", "--store", &project.url(), "--json"]).contains(&run));
    fs::write(
        project.folder.path().join("countersign.toml"),
        format!("store = \"{}\"\n", project.url()),
    )
    .unwrap();
    // A file may have come with the folder: its server is asked about first.
    let refused = project.run(&["list"], &[]);
    assert!(
        text(&refused.stderr).contains("you have not trusted that file"),
        "{}",
        text(&refused.stderr)
    );
    project.run(&["trust", "--yes"], &[]);
    assert!(listed(&["list", "--json"]).contains(&run));
}

#[test]
fn doctor_tells_what_the_server_is_like() {
    let Some(project) = TestProject::open("doctor_tells_what_the_server_is_like") else { return };
    let url = project.url();
    let report = |url: &str| {
        let output = project.run(&["doctor", "--json"], &[("COUNTERSIGN_STORE", url)]);
        let output_text = text(&output.stdout);
        assert!(!output_text.contains("s3cret"), "{output_text}");
        serde_json::from_str::<Value>(&output_text).unwrap()
    };
    let before = report(&url);
    assert_eq!(before["store"]["schema"]["number"], 0);
    project.begin();
    let after = report(&url);
    let store = &after["store"];
    assert_eq!(store["schema"]["number"], store["schema"]["supported"]);
    assert_eq!(store["role"]["row_security"], true);
    assert!(store["server"]["latency_ms"].as_f64().unwrap() > 0.0);
    assert_eq!(store["runs"]["waiting"], 1);
    // The server of the tests does not wait for its disk, and is told so.
    assert_eq!(
        after["problems"][0]["problem"],
        "the server acknowledges writes before they are on disk"
    );
    let stranger = report(&url.replace("r_cli", "r_nobody"));
    let output_text = stranger["problems"][0]["problem"].as_str().unwrap();
    assert_eq!(
        output_text,
        "the database is not available: the server rejected the role or the password (28000)"
    );
}

#[test]
fn memory_lies_beside_the_runs() {
    let Some(project) = TestProject::open("memory_lies_beside_the_runs") else { return };
    project.begin();
    let file = project.folder.path().join(".countersign/memory.db");
    assert!(!file.exists(), "nothing is remembered here");
    let whose = ["--user", "ann", "--agent", "helper"];
    let on = |arguments: &[&str], store: Option<&str>| {
        let named = store.map_or(Vec::new(), |store| vec!["--store", store]);
        let arguments = [&["memory"], arguments, &whose, &named].concat();
        let url = project.url();
        let output = project.run(&arguments, &[("COUNTERSIGN_STORE", &url)]);
        let output_text = format!("{}{}", text(&output.stdout), text(&output.stderr));
        assert!(!output_text.contains("s3cret"), "{output_text}");
        (output.status.code().unwrap(), output_text)
    };
    // A file remembers, and what it has is carried to the server.
    let local = file.display().to_string();
    let said = ["remember", "--event", "Call me on 555-0199.", "--id", "e1"];
    assert_eq!(on(&said, Some(&local)), (0, "kept event e1\n".to_owned()));
    let (_, searched) = on(&["search", "call"], None);
    assert!(!searched.contains("555-0199"), "{searched}");
    assert_eq!(on(&["export", "--output", "ann.jsonl"], Some(&local)).0, 0);
    assert_eq!(on(&["import", "ann.jsonl", "--trusted"], None).0, 0);
    let (_, searched) = on(&["search", "call"], None);
    assert!(searched.contains("555-0199"), "{searched}");
    let doctor = project.run(&["doctor", "--json"], &[("COUNTERSIGN_STORE", &project.url())]);
    let doctor: Value = serde_json::from_str(&text(&doctor.stdout)).unwrap();
    assert_eq!(doctor["store"]["memory"]["location"], "server");
    assert!(
        doctor["store"]["memory"]["unused_local_file"].as_str().unwrap().ends_with("memory.db")
    );
    // What is forgotten there is found nowhere, and what nobody can look into is told.
    let sought = ["verify-erased", "--needle", "555-0199"];
    let (code, output_text) = on(&sought, None);
    assert_eq!(code, 1);
    assert!(output_text.contains("in countersign.memory_events.body at byte"), "{output_text}");
    assert_eq!(on(&["forget", "--yes"], None).0, 0);
    let (code, output_text) = on(&sought, None);
    assert_eq!(code, 0, "{output_text}");
    assert!(
        output_text.contains("Not searched, because this program cannot read them: free space"),
        "{output_text}"
    );
    assert_eq!(on(&["verify-scope"], None).0, 0);
    assert_eq!(on(&sought, Some(&local)).0, 1, "the file is another memory");
}

#[test]
fn what_is_wrong_with_an_address_shows_nothing_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let run = |store: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        command.args(["list", "--store", store]).current_dir(folder.path()).stdin(Stdio::null());
        let output = command.output().unwrap();
        let output_text = format!("{}{}", text(&output.stdout), text(&output.stderr));
        assert!(!output_text.contains("s3cret"), "{output_text}");
        (output.status.code().unwrap(), output_text)
    };
    let (code, output_text) = run("postgres://u:s3cret@h:port/d");
    assert_eq!(code, 2, "{output_text}");
    assert!(output_text.contains("expected `postgres://user@host:port/database`"), "{output_text}");
    let (code, output_text) = run("postgres://u:s3cret@%2Fno%2Fsuch%2Ffolder/d");
    assert_eq!(code, 3, "{output_text}");
    assert!(output_text.contains("the connection was refused"), "{output_text}");
}

#[test]
fn a_database_is_copied_there_and_back() {
    let Some(project) = TestProject::open("a_database_is_copied_there_and_back") else { return };
    // Two runs in a file: one has ended, one waits.
    let local = |arguments: &[&str]| {
        let output = project.run(arguments, &[]);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(!format!("{out}{err}").contains("s3cret"), "{arguments:?}: {out}{err}");
        (output.status.code().unwrap(), out, err)
    };
    assert_eq!(local(&["init", "demo"]).0, 0);
    for _ in 0..2 {
        assert_eq!(local(&["run", "--detach"]).0, 0);
    }
    let (_, listed, _) = local(&["list", "--json"]);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let run = listed[1]["run"].as_str().unwrap();
    assert_eq!(local(&["approve", &format!("{run}/w1")]).0, 0);

    let file = ".countersign/countersign.db";
    let url = project.url();
    let (code, _, output_text) = local(&["store", "copy", file, &url]);
    assert_eq!(code, 0, "{output_text}");
    assert!(output_text.contains("default: 2 runs copied, 0 already existed"), "{output_text}");
    assert!(
        output_text.contains("1 runs are open: work on them in only one of the two databases"),
        "{output_text}"
    );
    // Again: nothing is to be done. What came meanwhile is taken along.
    let (_, _, output_text) = local(&["store", "copy", file, &url]);
    assert!(output_text.contains("default: 0 runs copied, 2 already existed"), "{output_text}");
    let open = listed[0]["run"].as_str().unwrap();
    assert_eq!(local(&["approve", &format!("{open}/w1")]).0, 0);
    let (_, _, output_text) = local(&["store", "copy", file, &url]);
    assert!(output_text.contains("default: 1 runs copied, 1 already existed"), "{output_text}");

    // There the runs are the same, and back again too.
    let verified = project.json(&["store", "verify", "--decide"]);
    assert_eq!((&verified["ok"], &verified["tenants"][0]["runs"]), (&true.into(), &2.into()));
    let (code, _, output_text) = local(&["store", "copy", &url, "back.db"]);
    assert_eq!(code, 0, "{output_text}");
    for run in [run, open] {
        let there = project.does(&["export", run]);
        let (_, back, _) = local(&["export", run, "--store", "back.db"]);
        assert_eq!(back, there);
        assert_eq!(local(&["export", run]).1, there);
    }

    // A run that went another way in the two is refused, and the others are not.
    let (code, _, output_text) = local(&["store", "copy", &url, &url]);
    assert_eq!(
        (code, output_text.contains("cannot be copied into itself")),
        (2, true),
        "{output_text}"
    );
    let (code, _, output_text) = local(&["store", "copy", "gone.db", &url]);
    assert_eq!(
        (code, output_text.contains("no database at `gone.db`")),
        (2, true),
        "{output_text}"
    );
}
