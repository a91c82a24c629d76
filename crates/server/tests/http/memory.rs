//! Memory by HTTP: told, composed, explained, replayed, searched and forgotten.

use countersign_server::access::AccessRole;
use serde_json::{Value, json};

use crate::rig::{serve, serve_keyed};

fn of_ann(more: &Value) -> Value {
    let mut body = json!({"user": "ann", "agent": "helper"});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

#[tokio::test]
async fn what_is_told_is_found_explained_and_forgotten() {
    let rig = serve().await;
    let client = rig.client();
    let things = json!([
        {"event": "I am vegetarian", "id": "e1"},
        {"fact": "diet", "value": "vegetarian", "sources": ["e1"], "quote": "vegetarian"},
        {"fact": "age", "value": 7, "sources": ["e9"]},
    ]);
    let saved = client.post("/v1/memory/remember", &of_ann(&json!({"items": things}))).await.good();
    let kinds: Vec<&str> = saved["saved"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["event", "fact"], "{saved}");
    assert_eq!(saved["refused"][0]["line"], 3, "{saved}");
    let again = of_ann(&json!({"items": [{"event": "I am vegetarian", "id": "e1"}]}));
    let again = client.post("/v1/memory/remember", &again).await.good();
    assert_eq!(
        again["saved"].as_array().unwrap().len() + again["refused"].as_array().unwrap().len(),
        1
    );

    let request = of_ann(&json!({"message": "What does Ann eat?", "tokens": 600}));
    let packet = client.post("/v1/memory/compose", &request).await.good();
    assert!(packet["text"].as_str().unwrap().contains("vegetarian"), "{packet}");
    let request =
        of_ann(&json!({"message": "What does Ann eat?", "per_section": {"episodes": 300}}));
    let none = client.post("/v1/memory/compose", &request).await.good();
    assert!(!none["text"].as_str().unwrap().contains("vegetarian"), "{none}");
    assert_eq!(none["packet"]["meta"]["budget"]["max_tokens"], 300);
    let build = packet["build"].as_str().unwrap();
    let explained =
        client.get(&format!("/v1/memory/builds/{build}?user=ann&agent=helper")).await.good();
    assert_eq!((&explained["identical"], &explained["digest"]), (&json!(true), &packet["digest"]));
    let path = format!("/v1/memory/builds/{build}/replay");
    let replayed = client.post(&path, &of_ann(&json!({}))).await.good();
    assert_eq!(replayed["identical"], true);
    let other = client.post(&path, &of_ann(&json!({"policy": "recall"}))).await.good();
    assert!(other["alternative"]["digest"].is_string() && other["diff"].is_array());
    let hits =
        client.post("/v1/memory/search", &of_ann(&json!({"text": "vegetarian"}))).await.good();
    assert_eq!(hits[0]["id"], "e1");

    let dry =
        client.post("/v1/memory/forget", &json!({"user": "ann", "dry_run": true})).await.good();
    assert!(dry["rows"]["events"].as_u64().unwrap() > 0, "{dry}");
    let gone = client.post("/v1/memory/forget", &json!({"user": "ann"})).await.good();
    assert_eq!(gone["rows"], dry["rows"]);
    let hits =
        client.post("/v1/memory/search", &of_ann(&json!({"text": "vegetarian"}))).await.good();
    assert_eq!(hits, json!([]));
    rig.end().await;
}

#[tokio::test]
async fn what_cannot_be_meant_is_told() {
    let rig = serve().await;
    let client = rig.client();
    for (path, body, code) in [
        ("remember", of_ann(&json!({"items": []})), "bad_body"),
        ("remember", of_ann(&json!({"items": [{"evnt": "x"}]})), "bad_body"),
        ("remember", of_ann(&json!({"items": [{"event": "x"}], "now": "soon"})), "bad_body"),
        ("remember", json!({"user": "", "agent": "a", "items": [{"event": "x"}]}), "scope"),
        ("compose", of_ann(&json!({"policy": "none"})), "bad_body"),
        ("compose", of_ann(&json!({"purpose": "none"})), "bad_body"),
        ("compose", of_ann(&json!({"tokenizer": "none"})), "bad_body"),
        ("compose", of_ann(&json!({"tokens": 1})), "not_composed"),
        ("compose", of_ann(&json!({"per_section": {"fact": 1}})), "bad_body"),
        ("compose", json!({"user": "ann"}), "bad_body"),
    ] {
        let response = client.post(&format!("/v1/memory/{path}"), &body).await;
        assert_eq!(response.problem(422), code, "{path} {body}: {}", response.text);
    }
    let missing = client.get("/v1/memory/builds/b-0?user=ann&agent=helper").await;
    assert_eq!(missing.problem(404), "unknown_build");
    rig.end().await;
}

#[tokio::test]
async fn memory_is_one_tenants() {
    let rig = serve_keyed().await;
    let (ours, theirs) =
        (rig.client_of("acme", AccessRole::Admin), rig.client_of("other", AccessRole::Admin));
    let request = of_ann(&json!({"items": [{"event": "I am vegetarian"}]}));
    ours.post("/v1/memory/remember", &request).await.good();
    let search = of_ann(&json!({"text": "vegetarian"}));
    assert_eq!(ours.post("/v1/memory/search", &search).await.good().as_array().unwrap().len(), 1);
    assert_eq!(theirs.post("/v1/memory/search", &search).await.good(), json!([]));
    let packet = ours.post("/v1/memory/compose", &of_ann(&json!({"message": "food"}))).await.good();
    let build = packet["build"].as_str().unwrap();
    let path = format!("/v1/memory/builds/{build}?user=ann&agent=helper");
    assert_eq!(theirs.get(&path).await.problem(404), "unknown_build");
    assert_eq!(
        theirs.post("/v1/memory/forget", &json!({"user": "ann"})).await.good()["rows"],
        json!({})
    );
    assert_eq!(ours.post("/v1/memory/search", &search).await.good().as_array().unwrap().len(), 1);
    rig.end().await;
}
