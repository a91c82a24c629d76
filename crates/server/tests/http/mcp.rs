//! MCP under `/mcp`, as bytes: who comes in, what each role is offered, what is no MCP at all.
//!
//! What clients of others do with it is in the tests of the command line.

use std::collections::{BTreeMap, BTreeSet};

use countersign_server::access::AccessRole;
use serde_json::{Value, json};

use crate::rig::{Answer, Client, json as body, serve, serve_keyed};

async fn send_request(client: &Client, method: &str, params: Value) -> Answer {
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let request = body(client.request("POST", "/mcp"), &message);
    Answer::of(request.header("accept", "application/json, text/event-stream")).await
}

async fn offered(client: &Client) -> BTreeSet<String> {
    let listed = send_request(client, "tools/list", json!({})).await.good();
    let tools = listed["result"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// Calls a tool; the problem that it tells, or null.
async fn problem_of(client: &Client, name: &str, arguments: Value) -> Value {
    let params = json!({"name": name, "arguments": arguments});
    let answer = send_request(client, "tools/call", params).await.good();
    let result = &answer["result"];
    if result["isError"] != true {
        return Value::Null;
    }
    assert_eq!(result.get("structuredContent"), None, "clients hold it against the tool's shape");
    serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap()
}

#[tokio::test]
async fn a_role_is_offered_what_its_routes_let_it_do_and_may_do_no_more() {
    let rig = serve_keyed().await;
    let mut roles = BTreeMap::new();
    for role in AccessRole::ALL {
        roles.insert(role, offered(&rig.client_of("acme", role)).await);
    }
    let counts: Vec<usize> = roles.values().map(BTreeSet::len).collect();
    assert_eq!(counts, [9, 17, 18, 18], "{roles:?}");
    let all = &roles[&AccessRole::Admin];
    for role in AccessRole::ALL {
        let client = rig.client_of("acme", role);
        for name in all {
            // Arguments that no tool takes: whoever is let in gets no further.
            let problem = problem_of(&client, name, json!({"never": 1})).await;
            let code = if roles[&role].contains(name) { "bad_arguments" } else { "role" };
            assert_eq!(problem["code"], code, "{name} as {role}: {problem}");
        }
    }
    rig.end().await;
}

#[tokio::test]
async fn an_agent_claims_as_a_model_and_answers_for_nothing() {
    let rig = serve().await;
    let client = rig.client();
    let telling = |things: Value| json!({"user": "ann", "agent": "helper", "items": things});
    let person = telling(json!([
        {"event": "I am vegetarian", "id": "e1"},
        {"fact": "diet", "value": "vegetarian", "sources": ["e1"], "id": "f1"},
    ]));
    client.post("/v1/memory/remember", &person).await.good();

    for (thing, said) in [
        (json!({"fact": "diet", "value": "meat", "confirmed": true}), "`confirmed`"),
        (json!({"fact": "diet", "value": "meat", "origin": "user"}), "`origin`"),
        (json!({"insight": "She may like tofu", "validation": "validated"}), "`validation`"),
        (json!({"procedure": {"steps": ["Cook meat"]}, "id": "p1"}), "`id`"),
        (json!({"event": "x", "origin": "system"}), "`origin`"),
    ] {
        let problem = problem_of(&client, "remember", telling(json!([thing]))).await;
        assert_eq!(problem["code"], "bad_body", "{problem}");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.starts_with("`items`, number 1: ") && detail.contains(said), "{detail}");
    }
    let things = telling(json!([
        {"fact": "diet", "value": "meat", "valid_from": "2026-01-01", "confidence": 1},
        {"event": "On Sundays I eat meat", "role": "user", "id": "e2"},
        {"fact": "diet", "value": "meat", "valid_from": "2026-01-01", "confidence": 1, "sources": ["e2"], "quote": "I eat meat"},
        {"insight": "She may like tofu", "validation": "testing"},
    ]));
    let params = json!({"name": "remember", "arguments": things});
    let answer = send_request(&client, "tools/call", params).await.good();
    let result = &answer["result"]["structuredContent"];
    let refused = result["refused"][0]["message"].as_str().unwrap();
    assert!(refused.ends_with("must quote the event that supports it"), "{result}");
    let outcomes: Vec<&Value> =
        result["saved"].as_array().unwrap().iter().map(|one| &one["outcome"]).collect();
    // Newer and surer, and no more than a contradiction.
    assert_eq!(outcomes, ["added", "disputed", "added"], "{result}");
    // A program with a key speaks for people.
    let confirmed = json!([{"fact": "diet", "value": "vegan", "confirmed": true}]);
    let result = client.post("/v1/memory/remember", &telling(confirmed)).await.good();
    assert_eq!(result["saved"][0]["outcome"], "superseded", "{result}");
    rig.end().await;
}

#[tokio::test]
async fn the_summary_of_a_person_is_not_the_agents_to_replace() {
    let rig = serve().await;
    let client = rig.client();
    let telling = |session: &str, text: &str| json!({"user": "ann", "agent": "helper", "session": session, "items": [{"summary": text}]});
    client.post("/v1/memory/remember", &telling("s1", "Ann spoke of food.")).await.good();
    for (session, kept) in [("s1", 0), ("s2", 1), ("s2", 1)] {
        let params = json!({"name": "remember", "arguments": telling(session, "Meat, meat.")});
        let answer = send_request(&client, "tools/call", params).await.good();
        let result = &answer["result"]["structuredContent"];
        assert_eq!(result["saved"].as_array().unwrap().len(), kept, "{result}");
    }
    rig.end().await;
}

#[tokio::test]
async fn the_door_has_the_same_guard_as_every_route() {
    let rig = serve_keyed().await;
    let nobody = rig.client();
    let response = send_request(&nobody, "tools/list", json!({})).await;
    assert_eq!(response.problem(401), "no_key");
    assert_eq!(response.header("www-authenticate"), "Bearer");
    let reader = rig.client_of("acme", AccessRole::Reader);
    for method in ["GET", "DELETE"] {
        let response = Answer::of(reader.request(method, "/mcp")).await;
        assert_eq!(response.problem(405), "method_not_allowed");
        assert_eq!(response.header("allow"), "POST");
    }
    rig.end().await;
    let rig = serve().await;
    let client = rig.client();
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let with = |name: &'static str, value: &'static str| {
        Answer::of(body(client.request("POST", "/mcp"), &message).header(name, value))
    };
    assert_eq!(with("host", "evil.example").await.problem(403), "foreign_host");
    assert_eq!(with("origin", "http://evil.example").await.problem(403), "foreign_origin");
    rig.end().await;
}

#[tokio::test]
async fn what_is_no_mcp_is_told_as_a_problem() {
    let rig = serve().await;
    let client = rig.client();
    let post = |kind: &'static str, accept: &'static str, text: String| {
        let request = client.request("POST", "/mcp").header("content-type", kind);
        Answer::of(request.header("accept", accept).body(text))
    };
    let both = "application/json, text/event-stream";
    let response = post("application/json", "text/html", "{}".to_owned()).await;
    assert_eq!(response.problem(406), "not_mcp");
    assert_eq!(post("text/plain", both, "{}".to_owned()).await.problem(415), "not_mcp");
    let long = format!("{{\"x\": \"{}\"}}", "x".repeat(5 << 20));
    assert_eq!(post("application/json", both, long).await.problem(413), "too_large");
    for broken in ["", "{", "[]", "7", "{\"jsonrpc\": \"1.0\"}", "{\"never\": 1}"] {
        let response = post("application/json", both, broken.to_owned()).await;
        assert!(
            (400..500).contains(&response.status),
            "{broken}: {} {}",
            response.status,
            response.text
        );
    }
    assert_eq!(offered(&client).await.len(), 18, "it still answers");
    rig.end().await;
}
