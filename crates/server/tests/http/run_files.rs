//! The files of a run: only those that its log records, only as the run could read them, and never as something that a
//! browser runs.

use std::fs;

use countersign_server::access::{AccessRole, AuthMode};
use serde_json::{Value, json};

use crate::rig::{Answer, Client, Rig, demo_folder, json as with_json};

/// A run that writes three files, copies one of them, and asks for a document.
const PAPERS: &str = "id: text
phases:
  - { id: page, do: { write: { path: out/page.html, content: \"'<script>alert(1)</script>'\" } } }
  - { id: note, do: { write: { path: 'out/./note.md', content: \"'# Note'\" } } }
  - { id: copy, do: { copy: { from: out/note.md, to: 'out/отчёт 1.md' } } }
  - { id: brief, writes: [/brief], ask: { id: brief, question: Bring it., document: { suggested_path: inputs/brief.txt }, apply: { set: /brief } } }
  - { id: done, terminal: true }
transitions:
  - { from: page, to: note }
  - { from: note, to: copy }
  - { from: copy, to: brief }
  - { from: brief, to: done }
";

async fn papers() -> Rig {
    let folder = demo_folder();
    fs::write(folder.path().join(".opencode/protocol/workflows/text.yaml"), PAPERS).unwrap();
    fs::write(folder.path().join("secret.md"), "not of a run").unwrap();
    Rig::open(folder, AuthMode::KeyRequired).await
}

async fn start(client: &Client) -> String {
    let request = with_json(client.request("POST", "/v1/runs"), &json!({"protocol": "demo"}));
    let started = Answer::of(request.header("prefer", "wait=20")).await.good();
    started["run"].as_str().unwrap().to_owned()
}

async fn read(client: &Client, run: &str, path: &str) -> Answer {
    let mut encoded = String::new();
    path.bytes().for_each(|byte| encoded.push_str(&format!("%{byte:02X}")));
    client.get(&format!("/v1/runs/{run}/files/content?path={encoded}")).await
}

fn paths(files: &Value) -> Vec<(&str, &str)> {
    let files = files.as_array().unwrap().iter();
    files.map(|file| (file["path"].as_str().unwrap(), file["source"].as_str().unwrap())).collect()
}

#[tokio::test]
async fn what_a_run_wrote_and_received_is_listed_and_sent_as_a_download() {
    let rig = papers().await;
    let client = rig.client_of("default", AccessRole::Operator);
    let run = start(&client).await;
    let upload = client
        .request("PUT", &format!("/v1/runs/{run}/waits/w1/document?name=brief.txt"))
        .header("content-type", "application/octet-stream")
        .body("in short");
    Answer::of(upload.header("prefer", "wait=20")).await.good();
    let reader = rig.client_of("default", AccessRole::Reader);
    let files = reader.get(&format!("/v1/runs/{run}/files")).await.good();
    let listed = paths(&files);
    let (upload, source) = listed[0];
    assert!(
        upload.starts_with(&format!("inputs/{run}/")) && upload.ends_with("/brief.txt"),
        "{upload}"
    );
    assert_eq!(source, "upload");
    assert_eq!(
        listed[1..],
        [("out/note.md", "effect"), ("out/page.html", "effect"), ("out/отчёт 1.md", "effect")]
    );
    let brief = read(&reader, &run, upload).await;
    assert_eq!((brief.status, brief.text.as_str()), (200, "in short"));
    assert_eq!((&files[0]["bytes"], &files[0]["current_bytes"]), (&json!(8), &json!(8)));

    let page = read(&reader, &run, "out/page.html").await;
    assert_eq!((page.status, page.text.as_str()), (200, "<script>alert(1)</script>"));
    assert_eq!(page.header("content-type"), "application/octet-stream");
    assert_eq!(page.header("x-content-type-options"), "nosniff");
    assert!(page.header("content-security-policy").starts_with("sandbox; default-src 'none'"));
    assert!(page.header("content-disposition").starts_with("attachment; filename=\"page.html\""));
    let copy = read(&reader, &run, "out/отчёт 1.md").await;
    assert_eq!((copy.status, copy.text.as_str()), (200, "# Note"));
    assert_eq!(copy.header("content-type"), "text/markdown; charset=utf-8");
    assert!(copy.header("content-disposition").ends_with("%201.md"), "{:?}", copy.headers);

    let folder = rig.folder.path();
    fs::write(folder.join("out/note.md"), "another, longer note").unwrap();
    fs::remove_file(folder.join("out/page.html")).unwrap();
    let files = reader.get(&format!("/v1/runs/{run}/files")).await.good();
    assert_eq!((&files[1]["bytes"], &files[1]["current_bytes"]), (&json!(6), &json!(20)));
    assert_eq!(files[2]["current_bytes"], Value::Null);
    assert_eq!(read(&reader, &run, "out/page.html").await.problem(404), "file_missing");
    rig.end().await;
}

#[tokio::test]
async fn no_other_file_is_reached_through_a_run() {
    let rig = papers().await;
    let client = rig.client_of("default", AccessRole::Operator);
    let run = start(&client).await;
    for path in [
        "secret.md",
        "../secret.md",
        "out/../secret.md",
        "/etc/passwd",
        ".countersign/token",
        ".opencode/protocol/index.yaml",
        "replies.yaml",
        "out",
        "out/./note.md",
        "",
    ] {
        assert_eq!(read(&client, &run, path).await.problem(404), "unknown_file", "{path}");
    }
    assert_eq!(read(&client, "nobody", "out/note.md").await.problem(404), "unknown_run");
    let path = format!("/v1/runs/{run}/files/content");
    assert_eq!(client.get(&path).await.problem(400), "bad_query");

    // What lies there now may have become a link that leads out, or a folder.
    let note = rig.folder.path().join("out/note.md");
    fs::remove_file(&note).unwrap();
    #[cfg(unix)]
    {
        let outside = tempfile::NamedTempFile::new().unwrap();
        std::os::unix::fs::symlink(outside.path(), &note).unwrap();
        assert!(read(&client, &run, "out/note.md").await.status >= 400);
        fs::remove_file(&note).unwrap();
        std::os::unix::fs::symlink(rig.folder.path().join(".countersign/keys.json"), &note)
            .unwrap();
        assert!(read(&client, &run, "out/note.md").await.status >= 400);
        fs::remove_file(&note).unwrap();
    }
    fs::create_dir(&note).unwrap();
    assert!(read(&client, &run, "out/note.md").await.status >= 400);

    let other = rig.client_of("acme", AccessRole::Admin);
    assert_eq!(read(&other, &run, "out/page.html").await.problem(404), "unknown_run");
    let listed = other.get(&format!("/v1/runs/{run}/files")).await;
    assert_eq!(listed.problem(404), "unknown_run");
    rig.end().await;
}
