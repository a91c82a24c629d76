//! What the server keeps in files: for its owner alone, without passwords, and nothing that is over.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use countersign_run::EffectCall;
use countersign_runtime::effect::EffectJournal;
use countersign_server::access::{AccessRole, AuthMode};
use serde_json::json;

use crate::rig::{Rig, demo_folder, serve};

/// Every file and folder below a folder, with its mode.
fn modes(folder: &Path, found: &mut Vec<(String, u32, bool)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let metadata = entry.metadata().unwrap();
        let name = entry.path().display().to_string();
        found.push((name, metadata.permissions().mode() & 0o777, metadata.is_dir()));
        if metadata.is_dir() {
            modes(&entry.path(), found);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_server_keeps_is_its_owners_alone() {
    let rig = serve().await;
    rig.new_key("acme", AccessRole::Operator);
    let client = rig.client();
    client.post("/v1/runs", &json!({"model": "human"})).await.good();
    let body = json!({"user": "ann", "agent": "helper", "items": [{"event": "I am vegetarian"}]});
    client.post("/v1/memory/remember", &body).await.good();
    let acme = rig.client_of("acme", AccessRole::Operator);
    acme.post("/v1/runs", &json!({"protocol": "demo", "model": "human"})).await.good();
    let mut found = Vec::new();
    let home = rig.folder.path().join(".countersign");
    modes(&home, &mut found);
    let mode = fs::metadata(&home).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o700);
    for name in ["countersign.db", "countersign.db-wal", "memory.db", "keys.json", "token"] {
        assert!(found.iter().any(|(path, ..)| path.ends_with(name)), "{name} in {found:?}");
    }
    for (path, mode, folder) in found {
        // A tenant's folder of work is a folder of work.
        if path.contains("/tenants/acme/") && !path.contains("/tenants/acme/.countersign") {
            continue;
        }
        // What ships is no secret, and lies in a folder that is closed.
        if path.contains("/shipped") {
            continue;
        }
        assert_eq!(mode, if folder { 0o700 } else { 0o600 }, "{path}");
    }
    rig.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_password_in_the_address_of_a_model_is_refused_and_recorded_nowhere() {
    let rig = serve().await;
    let client = rig.client();
    let model = "openai:x@http://ann:s3cret@127.0.0.1:9/v1";
    let refused = client.post("/v1/runs", &json!({ "model": model })).await;
    assert_eq!(refused.problem(422), "credentials");
    assert!(!refused.text.contains("s3cret"), "{}", refused.text);
    assert!(client.get("/v1/runs").await.good()["items"].as_array().unwrap().is_empty());
    let folder = rig.end().await;
    for name in ["countersign.db", "memory.db"] {
        let bytes = fs::read(folder.path().join(".countersign").join(name)).unwrap();
        assert!(!bytes.windows(6).any(|part| part == b"s3cret"), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn notes_of_effects_that_no_run_waits_for_are_swept() {
    let folder = demo_folder();
    let effects = folder.path().join(".countersign/effects");
    let journal = EffectJournal::open(&effects).unwrap();
    let program = "deploy".to_owned();
    let effect = EffectCall::Run { program, args: Vec::new(), input: None };
    // A process died between the commit of the result and the end of its note.
    journal.record_start("gone/1.1", &effect).unwrap();
    assert_eq!(fs::read_dir(&effects).unwrap().count(), 1);
    let rig = Rig::open(folder, AuthMode::LoopbackToken).await;
    rig.client().get("/v1/me").await.good();
    let swept = async {
        while fs::read_dir(&effects).unwrap().count() > 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), swept).await.expect("it is swept");
    rig.end().await;
}
