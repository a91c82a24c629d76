//! What `countersign.toml` names may have come with the folder: servers and scripts are asked about.

use std::fs;

use serde_json::json;

use super::model_servers::UnwantedServer;
use super::{TestProject, said};

#[test]
fn a_store_and_a_collector_of_a_file_are_reached_only_after_trust() {
    let server = UnwantedServer::listen();
    for (name, address) in [
        (
            "store",
            server.origin().replace("http://", "postgres://ann:s3cret@") + "/runs?sslmode=disable",
        ),
        ("telemetry", server.origin()),
    ] {
        let project = TestProject::new();
        project.write("countersign.toml", &format!("{name} = \"{address}\"\n"));
        let mut command =
            project.command(&["run", "ralph", "--input", "x", "--model", "human", "--queue"]);
        let refused = command.env("PGPASSWORD", "s3cret").output().unwrap();
        assert_eq!(refused.status.code(), Some(2), "{name}: {}", said(&refused));
        let message = said(&refused);
        assert!(
            message.contains(&format!("`{name}` in "))
                && message.contains("you have not trusted that file"),
            "{message}"
        );
        assert!(!message.contains("s3cret"), "{message}");
        assert!(!server.was_called(), "{name}");
        let trusted = project.run(&["trust", "--json"]);
        let shown = String::from_utf8(trusted.stdout).unwrap();
        assert!(shown.contains(&format!("{name} server ")) && !shown.contains("s3cret"), "{shown}");
    }
}

#[test]
fn what_a_file_allows_stays_trusted_where_a_flag_stands_in_its_models_place() {
    let project = TestProject::marking();
    project.write(
        "countersign.toml",
        "model = \"openai:x@http://127.0.0.1:9/v1\"\n[allow]\nprograms = [\"sh -c\"]\n",
    );
    project.trust();
    for arguments in [&["run"][..], &["run", "--model", "human"]] {
        assert_eq!(project.json(arguments)["status"], "completed", "{arguments:?}");
    }
    assert_eq!(project.marks(), 2);
}

#[test]
fn a_script_outside_the_folder_is_read_only_where_a_person_names_it() {
    let (there, here) = (TestProject::new(), TestProject::new());
    let secret = there.path().join("secret.yaml");
    fs::write(&secret, "token: canary-4711\n").unwrap();
    let model = format!("script:{}", secret.display());
    let run = there.json(&["run", "ralph", "--input", "Go on", "--model", &model, "--queue"]);
    let run = run["run"].as_str().unwrap();
    let file = here.path().join("run.jsonl");
    there.says(&["export", run, "--output", file.to_str().unwrap()]);
    let imported = here.json(&["import", "run.jsonl"]);
    let wants = json!([format!("model server {model}, named when the run was started")]);
    assert_eq!(
        (&imported["permissions"], &imported["halted"]),
        (&wants, &json!(true)),
        "{imported:#}"
    );
    here.says(&["resume", run]);
    here.says(&["worker", "--until-idle"]);
    assert_eq!(here.status(run), "halted");
    assert!(!here.says(&["history", run]).contains("canary"));
    // A pipe, or a device, is no script.
    let endless =
        here.run(&["run", "ralph", "--input", "x", "--model", "script:/dev/zero", "--json"]);
    let shown = String::from_utf8_lossy(&endless.stdout).into_owned() + &said(&endless);
    assert!(shown.contains("it is not a regular file"), "{shown}");
}
