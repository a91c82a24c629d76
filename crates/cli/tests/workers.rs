//! Workers as processes: they share what is due, a dead one's runs go on, a stopped one's late word is refused.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod test_project;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, ChildStdout, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use test_project::TestProject;

/// A program that takes as long as the file `slow` is there, then a question.
const FILES: [(&str, &str); 4] = [
    (
        ".opencode/protocol/index.yaml",
        "name: w\nversion: 1.0.0\ndefault_workflow: main\npolicy: { programs: { mark: { command: [./mark.sh], timeout: 2m } } }\n",
    ),
    (
        ".opencode/protocol/workflows/main.yaml",
        r"
id: main
phases:
  - { id: mark, do: { run: { program: mark } }, apply: { append: { at: /marks, value: reply.stdout } } }
  - { id: ask, ask: { question: Which?, apply: { set: /answer } } }
  - { id: again, do: { run: { program: mark } }, apply: { append: { at: /marks, value: reply.stdout } } }
  - { id: done, terminal: true }
transitions: [{ from: mark, to: ask }, { from: ask, to: again }, { from: again, to: done }]
",
    ),
    (
        "mark.sh",
        "#!/bin/sh\necho \"$COUNTERSIGN_ACTION_ID\" >> begun.txt\nwhile [ -e slow ]; do sleep 0.02; done\necho done\n",
    ),
    ("slow", ""),
];

impl TestProject {
    /// A folder with a trusted protocol that runs a slow program.
    fn marking() -> Self {
        let project = Self::new();
        for (path, text) in FILES {
            project.write(path, text);
            if text.starts_with("#!") {
                let path = project.path().join(path);
                fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
        testkit::trust_protocol(env!("CARGO_BIN_EXE_countersign"), &project.path());
        project
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[arguments, &["--json"]].concat());
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {complaint}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn said(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{arguments:?}: {said}");
        said
    }

    /// Lets programs end.
    fn hurry(&self) {
        fs::remove_file(self.path().join("slow")).unwrap();
    }

    /// How often a program was begun.
    fn begun(&self) -> usize {
        fs::read_to_string(self.path().join("begun.txt")).unwrap_or_default().lines().count()
    }

    fn worker(&self, name: &str, more: &[&str]) -> Running {
        let arguments = ["worker", "--json", "--name", name, "--poll", "100ms"];
        let mut command = self.command(&[&arguments, more].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let mut running = Running { child, lines };
        running.tells("started");
        running
    }

    fn proved(&self) {
        let proof = self.json(&["replay", "--all", "--verify"]);
        assert!(proof.as_array().unwrap().iter().all(|run| run["verified"] == true), "{proof:#}");
    }
}

/// A worker process, and what it tells.
struct Running {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Running {
    /// Reads on to a piece of news.
    fn tells(&mut self, news: &str) -> Value {
        loop {
            let mut line = String::new();
            assert_ne!(self.lines.read_line(&mut line).unwrap(), 0, "it never told `{news}`");
            let line: Value = serde_json::from_str(&line).unwrap();
            if line["event"] == news {
                return line;
            }
        }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.child.id().cast_signed()).unwrap(), signal).unwrap();
    }

    /// Reads what is left, and gives the code it ends with.
    fn ends(mut self) -> Option<i32> {
        let left = self.lines.by_ref().lines().map(Result::unwrap).collect::<Vec<_>>();
        let code = self.child.wait().unwrap().code();
        assert!(left.last().is_none_or(|line| line.contains("stopped")), "{left:?}");
        code
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Where a test broke off.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_queued_run_is_worked_on_and_an_answer_beside_a_worker_is_left_to_it() {
    let project = TestProject::marking();
    let empty = project.said(&["workers"]);
    assert_eq!(empty.trim(), "no worker is running; start one with `countersign worker`");
    let message = project.said(&["run", "--queue", "--idempotency-key", "1"]);
    assert!(message.contains("run key-1 is queued for workers: no worker is running"), "{message}");
    let mut worker = project.worker("w1", &[]);
    assert_eq!(worker.tells("run_acquired")["run"], "key-1");
    let workers = project.json(&["workers"]);
    assert_eq!(workers[0]["name"], "w1");
    assert_eq!(workers[0]["lost"], false);
    assert_eq!(workers[0]["runs"], serde_json::json!(["key-1"]));
    let table = String::from_utf8(project.run(&["workers"]).stdout).unwrap();
    assert!(table.starts_with("WORKER  HOST"), "{table}");
    // A command that finds the run held leaves it there, and says so.
    let message = project.said(&["run", "--resume", "key-1", "--detach"]);
    assert!(message.contains("worker w1 is working on run key-1."), "{message}");
    project.hurry();
    assert_eq!(worker.tells("run_idle")["reason"], "waiting");
    // Whoever is first drives it on.
    project.said(&["answer", "key-1", "red"]);
    let status = || project.json(&["status", "key-1"])["status"].clone();
    let patience = Instant::now() + Duration::from_secs(30);
    while status() != "completed" {
        assert!(Instant::now() < patience, "{}", status());
    }
    worker.signal(Signal::TERM);
    assert_eq!(worker.ends(), Some(0));
    assert_eq!(project.json(&["workers"]), serde_json::json!([]));
    assert_eq!(project.begun(), 2);
    project.proved();
}

#[test]
fn whoever_sits_at_a_terminal_follows_a_worker() {
    let project = TestProject::marking();
    project.said(&["run", "--queue", "--idempotency-key", "1"]);
    let mut worker = project.worker("w1", &[]);
    worker.tells("run_acquired");
    let mut command = project.command(&["run", "--resume", "key-1"]);
    let mut following = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(following.stderr.take().unwrap()).lines();
    let message = lines.find(|line| line.as_ref().unwrap().contains("following")).unwrap().unwrap();
    assert!(message.contains("worker w1 is working on run key-1; following"), "{message}");
    project.hurry();
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert!(rest.iter().any(|line| line.contains("Which?")), "{rest:?}");
    assert!(following.wait().unwrap().success());
    worker.signal(Signal::INT);
    assert_eq!(worker.ends(), Some(0));
}

#[test]
fn a_dead_workers_run_goes_on_within_two_leases() {
    let project = TestProject::marking();
    project.said(&["run", "--queue", "--idempotency-key", "1"]);
    let mut first = project.worker("first", &["--lease", "2s"]);
    first.tells("run_acquired");
    let mut second = project.worker("second", &["--lease", "2s"]);
    first.signal(Signal::KILL);
    let killed = Instant::now();
    assert_eq!(second.tells("run_acquired")["run"], "key-1");
    let took = killed.elapsed();
    assert!(took < Duration::from_secs(4), "{took:?}, and leases are of 2 s");
    project.hurry();
    second.tells("run_idle");
    // The list says that one was lost.
    let workers = project.json(&["workers"]);
    let lost: Vec<_> = workers.as_array().unwrap().iter().map(|one| &one["lost"]).collect();
    assert_eq!(lost, [true, false], "{workers:#}");
    second.signal(Signal::TERM);
    assert_eq!(second.ends(), Some(0));
    project.proved();
}

#[test]
fn a_run_on_which_three_workers_were_killed_is_parked_until_it_is_resumed() {
    let project = TestProject::marking();
    project.said(&["run", "--queue", "--idempotency-key", "1"]);
    for name in ["first", "second", "third"] {
        let mut worker = project.worker(name, &[]);
        assert_eq!(worker.tells("run_acquired")["run"], "key-1", "{name} works on it");
        worker.signal(Signal::KILL);
        worker.child.wait().unwrap();
    }
    // The fourth finds nothing to do.
    let mut fourth = project.worker("fourth", &["--until-idle"]);
    fourth.tells("stopped");
    assert_eq!(fourth.ends(), Some(0));
    let parked = "parked: 3 workers ended while working on it at version 1; resume with `countersign resume key-1`";
    let status = String::from_utf8(project.run(&["status", "key-1"]).stdout).unwrap();
    assert!(status.contains(parked), "{status}");
    assert_eq!(project.json(&["status", "key-1"])["parked"], parked);
    let list = String::from_utf8(project.run(&["list"]).stdout).unwrap();
    assert!(list.contains(parked), "{list}");
    assert_eq!(project.json(&["list"])[0]["parked"], true);
    let inbox = String::from_utf8(project.run(&["inbox"]).stdout).unwrap();
    assert!(inbox.contains(parked), "{inbox}");
    let message = project.said(&["run", "--resume", "key-1", "--detach"]);
    assert!(message.contains("Resume it with `countersign resume key-1`"), "{message}");
    // A person lets it go on, and this time it can.
    project.hurry();
    let message = project.said(&["resume", "key-1"]);
    assert!(message.contains("Which?"), "{message}");
    assert!(project.json(&["status", "key-1"])["parked"].is_null());
    project.proved();
}

#[test]
fn a_run_that_is_left_with_ctrl_c_is_not_parked() {
    let project = TestProject::marking();
    project.said(&["run", "--queue", "--idempotency-key", "1"]);
    for times in 1..=4 {
        let mut leaving = project.command(&["run", "--resume", "key-1"]).spawn().unwrap();
        let patience = Instant::now() + Duration::from_secs(30);
        while project.begun() < times {
            assert!(Instant::now() < patience, "it never began");
        }
        let process = Pid::from_raw(leaving.id().cast_signed()).unwrap();
        kill_process(process, Signal::INT).unwrap();
        assert_eq!(leaving.wait().unwrap().code(), Some(130));
    }
    assert!(project.json(&["status", "key-1"])["parked"].is_null());
    project.hurry();
    let message = project.said(&["run", "--resume", "key-1", "--detach"]);
    assert!(message.contains("Which?"), "{message}");
    project.proved();
}

#[test]
fn a_stopped_workers_late_word_is_refused() {
    let project = TestProject::marking();
    project.said(&["run", "--queue", "--idempotency-key", "1"]);
    let mut first = project.worker("first", &["--lease", "1s", "--capacity", "1"]);
    first.tells("run_acquired");
    while project.begun() < 1 {
        std::thread::yield_now();
    }
    first.signal(Signal::STOP);
    let mut second = project.worker("second", &["--lease", "1s"]);
    assert_eq!(second.tells("run_acquired")["run"], "key-1");
    while project.begun() < 2 {
        std::thread::yield_now();
    }
    // Both programs end; the second worker keeps what came of it, and the first wakes with the same in its hands.
    project.hurry();
    assert_eq!(second.tells("run_idle")["reason"], "waiting");
    let version = project.json(&["status", "key-1"])["version"].clone();
    first.signal(Signal::CONT);
    assert_eq!(first.tells("lease_lost")["run"], "key-1");
    assert_eq!(project.json(&["status", "key-1"])["version"], version, "nothing of it was kept");
    let marks = project.json(&["show", "key-1", "--pointer", "/marks"]);
    assert_eq!(marks, serde_json::json!(["done\n"]));
    for worker in [first, second] {
        worker.signal(Signal::TERM);
        assert_eq!(worker.ends(), Some(0));
    }
    project.proved();
}

#[test]
fn a_worker_that_is_told_to_stop_waits_for_its_steps_and_a_second_word_ends_it() {
    let project = TestProject::marking();
    project.said(&["run", "--queue", "--idempotency-key", "1"]);
    let mut worker = project.worker("w1", &[]);
    worker.tells("run_acquired");
    while project.begun() < 1 {
        std::thread::yield_now();
    }
    worker.signal(Signal::TERM);
    assert_eq!(worker.tells("stopping")["runs"], 1);
    worker.signal(Signal::TERM);
    assert_eq!(worker.tells("stopped")["released"], 1);
    assert_eq!(worker.ends(), Some(0));
    // What it held is free at once: another goes on with the same order.
    let mut worker = project.worker("w2", &["--until-idle"]);
    worker.tells("run_acquired");
    while project.begun() < 2 {
        std::thread::yield_now();
    }
    worker.signal(Signal::TERM);
    worker.tells("stopping");
    project.hurry();
    assert_eq!(worker.tells("run_idle")["reason"], "waiting");
    assert_eq!(worker.tells("stopped")["released"], 0);
    assert_eq!(worker.ends(), Some(0));
    let ids = fs::read_to_string(project.path().join("begun.txt")).unwrap();
    let ids: Vec<&str> = ids.lines().collect();
    assert_eq!(ids[0], ids[1], "the same order, under the same id");
    project.proved();
}

#[test]
fn wrong_terms_are_told() {
    let project = TestProject::marking();
    for (arguments, expected) in [
        (["--lease", "soon"], "expected a duration of at least 100ms, such as `30s`"),
        (["--lease", "5ms"], "at least 100ms"),
        (["--capacity", "0"], "0 is not in 1..=65535"),
        (["--name", "../w"], "expected up to 64 letters"),
    ] {
        let output = project.run(&[&["worker"], &arguments[..]].concat());
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(expected), "{said}");
    }
}
