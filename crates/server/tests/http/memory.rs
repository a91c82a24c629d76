//! Memory by HTTP: told, composed, explained, replayed, searched and forgotten.

use countersign_memory::MemoryScope;
use countersign_memory::record::{
    CandidateState, ClaimCandidate, FactEvidence, MemoryClaim, MemoryFact, MemoryOrigin,
};
use countersign_memory::store::{MemoryWriter as _, SqliteMemory};
use countersign_run::Timestamp;
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
async fn every_field_of_a_packet_can_be_told() {
    let rig = serve().await;
    let client = rig.client();
    let things = json!([
        {"event": "I am vegetarian", "id": "e1"},
        {"fact": "diet", "value": "vegetarian", "sources": ["e1"], "notes": "since school"},
        {"insight": "She may like tofu", "trigger": "failure", "tests_suggested": ["ask her"]},
        {"procedure": {"steps": ["cook"]}, "task_type": "dinner", "applicability": {"season": "winter"}},
        {"episode": "A dinner.", "compression_level": "milestone", "start": "2026-01-01", "end": "2026-01-02"},
        {"working_memory": {"goal": "dinner", "decisions": [
            {"statement": "no meat", "evidence_id": "e1", "by": "Ann", "weight": 3}]}},
    ]);
    let body = of_ann(&json!({"items": things, "now": "2026-01-03T00:00:00Z"}));
    let saved = client.post("/v1/memory/remember", &body).await.good();
    assert_eq!(saved["refused"], json!([]), "{saved}");
    let request =
        json!({"message": "dinner", "task_type": "dinner", "now": "2026-01-03T00:00:00Z"});
    let packet =
        client.post("/v1/memory/compose", &of_ann(&request)).await.good()["packet"].clone();
    let long = &packet["long_term"];
    assert_eq!(long["facts"][0]["notes"], "since school");
    assert_eq!(long["procedures"][0]["applicability"], json!({"season": "winter"}));
    assert_eq!(long["episodes"][0]["compression_level"], "milestone");
    let insight = &packet["insight"]["hypotheses"][0];
    assert_eq!(
        (&insight["trigger"], &insight["tests_suggested"]),
        (&json!("failure"), &json!(["ask her"]))
    );
    let decision = &packet["short_term"]["working_state"]["decisions"][0];
    assert_eq!((&decision["by"], &decision["weight"]), (&json!("Ann"), &json!(3)), "{decision}");
    assert_eq!(packet["citations"][0]["type"], "message");
    assert_eq!(packet["citations"][0]["summary"], "user: I am vegetarian");
    assert_eq!(packet["meta"]["scope"]["tenant_id"], "default");
    for wrong in [
        json!({"fact": "a", "value": 1, "trigger": "failure"}),
        json!({"insight": "a", "notes": "b"}),
        json!({"insight": "a", "trigger": "because"}),
        json!({"episode": "a", "compression_level": "low"}),
    ] {
        let body = of_ann(&json!({"items": [wrong]}));
        assert_eq!(client.post("/v1/memory/remember", &body).await.problem(422), "bad_body");
    }
    rig.end().await;
}

#[tokio::test]
async fn candidates_and_insights_are_decided_on() {
    let rig = serve_keyed().await;
    let operator = rig.client_of("default", AccessRole::Operator);
    let reader = rig.client_of("default", AccessRole::Reader);
    let things = json!([{"event": "I moved to Rome", "id": "e1"},
        {"insight": "She may like tofu", "id": "i1"}, {"insight": "She may dance", "id": "i2"}]);
    operator.post("/v1/memory/remember", &of_ann(&json!({"items": things}))).await.good();

    // What a model proposed waits in the same memory.
    let memory = SqliteMemory::open(rig.folder.path().join(".countersign/memory.db")).unwrap();
    let scope = MemoryScope::new("default", "ann", "helper", "default", "default").unwrap();
    let now = Timestamp(1_700_000_000_000);
    for (id, key) in [("c1", "city"), ("c2", "town"), ("d1", "street")] {
        let mut fact = MemoryFact::new(format!("f-{id}"), key, "Rome", now);
        fact.evidence =
            vec![FactEvidence { event: "e1".to_owned(), quote: Some("to Rome".to_owned()) }];
        let candidate = ClaimCandidate {
            id: id.to_owned(),
            revision: 1,
            origin: MemoryOrigin::Model,
            claim: MemoryClaim::from(fact),
            state: CandidateState::Proposed,
            recorded_at: now,
        };
        memory.propose_candidate(&scope, candidate).await.unwrap();
    }
    let list = "/v1/memory/candidates?user=ann&agent=helper";
    let waiting = reader.get(list).await.good();
    assert_eq!(waiting.as_array().unwrap().len(), 3, "{waiting}");
    assert_eq!((&waiting[0]["kind"], &waiting[0]["origin"]), (&json!("fact"), &json!("model")));

    let path = |id: &str, what: &str| format!("/v1/memory/candidates/{id}/{what}");
    let none = of_ann(&json!({}));
    assert_eq!(reader.post(&path("c1", "promote"), &none).await.problem(403), "role");
    let several = operator.post(&path("c", "promote"), &none).await;
    assert_eq!(several.problem(422), "refused");
    assert!(several.text.contains("matches 2 candidates"), "{}", several.text);
    let kept =
        operator.post(&path("c1", "promote"), &of_ann(&json!({"confirmed": true}))).await.good();
    assert_eq!((&kept["decided"], &kept["saved"]["outcome"]), (&json!("c1"), &json!("added")));
    let again = operator.post(&path("c1", "promote"), &none).await;
    assert_eq!(again.problem(422), "refused");
    let reason = of_ann(&json!({"reason": "it is a city"}));
    let refused = operator.post(&path("c2", "refuse"), &reason).await.good();
    assert_eq!((&refused["decided"], &refused["saved"]), (&json!("c2"), &Value::Null));
    let all = reader.get(&format!("{list}&all=true")).await.good();
    let state = |id: &str| {
        let one = all.as_array().unwrap().iter().find(|one| one["id"] == id).unwrap();
        one["state"].clone()
    };
    assert_eq!(state("c1"), json!({"status": "promoted", "id": "f-c1"}));
    assert_eq!(state("c2"), json!({"status": "refused", "reason": "it is a city"}));
    assert_eq!(reader.get(list).await.good().as_array().unwrap().len(), 1);

    let path = |id: &str, what: &str| format!("/v1/memory/insights/{id}/{what}");
    let learned = of_ann(&json!({"fact": "likes", "value": "tofu", "preference": true}));
    let early = operator.post(&path("i1", "learn"), &learned).await;
    assert_eq!(early.problem(422), "refused");
    assert_eq!(reader.post(&path("i1", "validate"), &none).await.problem(403), "role");
    let holds = operator.post(&path("i1", "validate"), &none).await.good();
    assert_eq!((&holds["decided"], &holds["saved"]["revision"]), (&json!("i1"), &json!(2)));
    let fact = operator.post(&path("i1", "learn"), &learned).await.good();
    assert_eq!(fact["saved"]["kind"], "fact", "{fact}");
    let both = of_ann(&json!({"fact": "likes", "value": "tofu", "procedure": {}}));
    assert_eq!(operator.post(&path("i1", "learn"), &both).await.problem(422), "bad_body");
    let not = operator.post(&path("i2", "reject"), &none).await.good();
    assert_eq!(not["saved"]["kind"], "insight");
    assert_eq!(operator.post(&path("i9", "reject"), &none).await.problem(404), "not_found");
    // Another tenant has none of it.
    let other = rig.client_of("acme", AccessRole::Admin);
    assert_eq!(other.get(list).await.good(), json!([]));
    assert_eq!(other.post(&path("i1", "validate"), &none).await.problem(404), "not_found");
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
