//! Prompts and keys go to a server only where somebody on this machine said so.

use std::net::{SocketAddr, TcpListener};
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::json;

use super::{TestProject, said};

#[test]
fn an_imported_run_that_names_a_server_for_its_model_is_halted() {
    let (there, here) = (TestProject::new(), TestProject::new());
    let model = "openai:x@http://127.0.0.1:9/v1";
    let run = there.json(&["run", "ralph", "--input", "Go on", "--model", model, "--queue"]);
    let run = run["run"].as_str().unwrap();
    let file = here.path().join("run.jsonl");
    there.says(&["export", run, "--output", file.to_str().unwrap()]);
    let imported = here.json(&["import", "run.jsonl"]);
    let wants = json!(["model server http://127.0.0.1:9, named when the run was started"]);
    assert_eq!(
        (&imported["permissions"], &imported["halted"]),
        (&wants, &json!(true)),
        "{imported:#}"
    );
}

/// A server that nobody may call without being asked: whoever connects to it is heard of.
pub(crate) struct UnwantedServer {
    address: SocketAddr,
    calls: mpsc::Receiver<()>,
}

impl UnwantedServer {
    pub(crate) fn listen() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (heard, calls) = mpsc::channel();
        thread::spawn(move || while listener.accept().is_ok() && heard.send(()).is_ok() {});
        Self { address, calls }
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn model(&self) -> String {
        format!("openai:x@{}/v1", self.origin())
    }

    pub(crate) fn was_called(&self) -> bool {
        self.calls.try_recv().is_ok()
    }

    fn is_called_soon(&self) -> bool {
        self.calls.recv_timeout(Duration::from_mins(1)).is_ok()
    }
}

#[test]
fn a_worker_asks_its_own_operator_before_a_foreign_run_sends_prompts_and_keys_away() {
    let (one, other) = (TestProject::new(), TestProject::new());
    let server = UnwantedServer::listen();
    let store = one.path().join("shared.db");
    let store = ["--store", store.to_str().unwrap()];
    let model = server.model();
    let begun = ["run", "ralph", "--input", "Go on", "--model", &model, "--queue"];
    let run = one.json(&[&begun[..], &store].concat());
    let run = run["run"].as_str().unwrap();
    other.says(&[&["worker", "--until-idle"][..], &store].concat());
    let status = other.json(&[&["status", run][..], &store].concat());
    assert_eq!(status["status"], "halted", "{status:#}");
    let why = format!("run `{run}` wants to send prompts to {}", server.origin());
    assert!(status.to_string().contains(&why), "{status:#}");
    assert!(!server.was_called());
    // What can be trusted is shown, and trusting it lets the run go on there.
    let trusted = other.says(&[&["trust", "--run", run, "--yes"][..], &store].concat());
    assert!(trusted.contains(&format!("model server {}", server.origin())), "{trusted}");
    other.says(&[&["resume", run][..], &store].concat());
    let mut worker =
        other.command(&[&["worker"][..], &store].concat()).stderr(Stdio::null()).spawn().unwrap();
    assert!(server.is_called_soon());
    worker.kill().unwrap();
    worker.wait().unwrap();
}

#[test]
fn a_model_that_a_person_names_is_trusted_for_the_commands_that_go_on() {
    let project = TestProject::new();
    let server = UnwantedServer::listen();
    project.json(&["run", "ralph", "--input", "Go on", "--model", &server.model(), "--queue"]);
    let listed = project.json(&["trust", "--list"]);
    let line = format!("model server {}", server.origin());
    assert_eq!(listed[0]["list"], json!([line]), "{listed:#}");
    // A model at its provider's own address needs no trust.
    project.json(&["run", "ralph", "--input", "Go on", "--model", "openai:gpt-5-mini", "--queue"]);
    assert_eq!(project.json(&["trust", "--list"]).as_array().unwrap().len(), 1);
}

#[test]
fn servers_that_a_settings_file_names_count_only_after_trust() {
    let project = TestProject::new();
    let server = UnwantedServer::listen();
    project.write("countersign.toml", &format!("model = \"{}\"\n", server.model()));
    let run = project.halts(&["run", "ralph", "--input", "Go on"]);
    assert!(project.why(&run).contains(&server.origin()), "{}", project.why(&run));
    let proposed = project.run(&["memory", "propose", "--user", "ann", "--agent", "a"]);
    assert_eq!(proposed.status.code(), Some(2), "{}", said(&proposed));
    assert!(said(&proposed).contains("you have not trusted that file"), "{}", said(&proposed));
    project.write("countersign.toml", &format!("embedder = \"{}\"\n", server.model()));
    let refused = project.run(&["run", "ralph", "--input", "Go on", "--model", "human"]);
    assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
    assert!(said(&refused).contains("`embedder` in "), "{}", said(&refused));
    assert!(!server.was_called());
    let trusted = project.says(&["trust", "--yes"]);
    assert!(trusted.contains(&format!("model server {}", server.origin())), "{trusted}");
    project.json(&["run", "ralph", "--input", "Go on", "--model", "human", "--queue"]);
}
