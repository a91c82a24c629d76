//! A sound body for every route that takes one.

use serde_json::{Value, json};

/// A body for each route that has one, with something in most of its places.
pub(crate) fn sound_bodies() -> Vec<(&'static str, Value)> {
    let of_ann = |more: Value| {
        let mut body = json!({
            "user": "ann", "agent": "helper", "session": "s", "run": "r", "now": "2026-11-16T12:00:00Z",
        });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let decision = |more: Value| {
        let mut body = json!({"user": "ann", "agent": "helper", "now": "2026-11-16T12:00:00Z"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let things = json!([
        {"event": "I am vegetarian", "id": "e1", "role": "user"},
        {"fact": "diet", "value": "vegetarian", "sources": ["e1"], "quote": "vegetarian"},
    ]);
    let contract = "id: own\nversion: 1.0.0\nschema: { type: object }\n";
    let index = "name: own\nversion: 1.0.0\ndefault_workflow: own\n";
    let flow = "id: own\nphases: [{ id: a }, { id: b, terminal: true }]\ntransitions: [{ from: a, to: b, gate: 1 < 2 }]\n";
    vec![
        (
            "/v1/runs",
            json!({"protocol": "demo", "workflow": "text", "document": {"topic": "x"}, "model": "human"}),
        ),
        ("/v1/runs/{run}/fork", json!({"version": 1, "protocol": "demo", "model": "human"})),
        (
            "/v1/runs/{run}/submit",
            json!({"text": "{\"points\": [\"one point here\"]}", "action": "1.1"}),
        ),
        ("/v1/runs/{run}/waits/w1/answer", json!({"value": {"a": [1, 2.5, "x"], "b": null}})),
        ("/v1/runs/{run}/waits/w1/approve", json!({"note": "well written"})),
        ("/v1/runs/{run}/waits/w1/deny", json!({"note": "badly written"})),
        ("/v1/runs/{run}/waits/w1/delegate", json!({"to": "ben", "note": "on leave"})),
        ("/v1/runs/{run}/halt", json!({"reason": "wrong input"})),
        ("/v1/runs/{run}/resume", json!({"grants": {"tokens": 10_000, "calls@outline": 3}})),
        ("/v1/runs/{run}/cancel", json!({"reason": "wrong input"})),
        (
            "/v1/contracts/outline/admit",
            json!({
                "text": "{\"points\": [\"one point here\", \"two points here\", \"three points here\"]}",
                "intake": "tolerant", "repairs": "guess", "finish": "stop", "state": {"outline": []},
                "run": {"id": "r"}, "reask": true,
            }),
        ),
        (
            "/v1/contracts/diff",
            json!({"old": {"id": "outline"}, "new": {"text": contract}, "examples": [{"points": ["x"]}, 1]}),
        ),
        (
            "/v1/protocols/check",
            json!({"files": {"index.yaml": index, "workflows/own.yaml": flow}}),
        ),
        ("/v1/memory/remember", of_ann(json!({"items": things}))),
        (
            "/v1/memory/compose",
            of_ann(json!({
                "purpose": "planner", "message": "What does Ann eat?", "keywords": ["food"],
                "entities": ["Ann"], "tags": ["diet"], "since": "2026-01-01T00:00:00Z",
                "until": "2026-12-31T00:00:00Z", "task_type": "cook", "tokens": 600,
                "policy": "recall", "tokenizer": "chars",
            })),
        ),
        ("/v1/memory/search", of_ann(json!({"text": "vegetarian", "limit": 5}))),
        (
            "/v1/memory/builds/b-0/replay",
            json!({"user": "ann", "agent": "helper", "policy": "recall"}),
        ),
        ("/v1/memory/forget", json!({"user": "bob", "agent": "helper", "dry_run": true})),
        ("/v1/memory/candidates/c1/promote", decision(json!({"confirmed": true}))),
        ("/v1/memory/candidates/c1/refuse", decision(json!({"reason": "She meant her brother."}))),
        ("/v1/memory/insights/i1/validate", decision(json!({}))),
        ("/v1/memory/insights/i1/reject", decision(json!({}))),
        ("/v1/memory/insights/i1/learn", decision(json!({"fact": "likes", "value": "tofu"}))),
        (
            "/mcp",
            json!({
                "jsonrpc": "2.0", "id": 7, "method": "tools/call",
                "params": {"name": "search_memory", "arguments": {"user": "ann", "agent": "helper", "text": "x"}},
            }),
        ),
    ]
}
