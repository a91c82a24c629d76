//! Whether the server says that it cannot keep anything, and that it can again.

use std::fs;

use serde_json::{Value, json};

use crate::rig::{Answer, Client, serve};

/// The code and the sentence of a server that is not ready.
async fn not_ready(client: &Client) -> (String, String) {
    let answer = client.get("/v1/ready").await;
    let problem: Value = serde_json::from_str(&answer.text).unwrap();
    (answer.problem(503), problem["detail"].as_str().unwrap().to_owned())
}

async fn start(client: &Client) -> Answer {
    client.post("/v1/runs", &json!({"model": "human"})).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_gone_or_another_takes_nothing_until_it_is_back() {
    let rig = serve().await;
    let client = rig.client();
    assert_eq!(client.get("/v1/ready").await.status, 200);
    assert_eq!(start(&client).await.status, 201);
    let home = rig.folder.path().join(".countersign");
    let [path, away] = ["countersign.db", "away.db"].map(|name| home.join(name));
    fs::rename(&path, &away).unwrap();
    assert_eq!(start(&client).await.problem(503), "store_replaced");
    assert_eq!(not_ready(&client).await.0, "store_replaced");
    fs::copy(&away, &path).unwrap();
    assert_eq!(start(&client).await.problem(503), "store_replaced", "a copy is another file");
    let (code, said) = not_ready(&client).await;
    assert_eq!(code, "store_replaced");
    assert!(said.contains("countersign.db") && said.contains("restart"), "{said}");
    assert_eq!(client.get("/v1/health").await.status, 200, "the process lives");
    fs::rename(&away, &path).unwrap();
    assert_eq!(start(&client).await.status, 201);
    assert_eq!(client.get("/v1/ready").await.status, 200);
    rig.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_memory_that_is_gone_is_told_too() {
    let rig = serve().await;
    let client = rig.client();
    let home = rig.folder.path().join(".countersign");
    let [path, away] = ["memory.db", "away.db"].map(|name| home.join(name));
    fs::rename(&path, &away).unwrap();
    let body = json!({"user": "ann", "agent": "helper", "items": [{"event": "I am vegetarian"}]});
    assert_eq!(client.post("/v1/memory/remember", &body).await.problem(503), "store_replaced");
    let (code, said) = not_ready(&client).await;
    assert!(code == "store_replaced" && said.starts_with("memory: "), "{said}");
    fs::rename(&away, &path).unwrap();
    assert_eq!(client.get("/v1/ready").await.status, 200);
    client.post("/v1/memory/remember", &body).await.good();
    rig.end().await;
}
