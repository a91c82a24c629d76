//! Bodies that were sound and are not any more: every route that takes one answers with a problem of the client's,
//! and never breaks down over it. Seeded: a case that fails can be made again by its number.

use serde_json::{Value, json};
use testkit::SeededRng;

use crate::rig::{Answer, Client, serve, sound_bodies};

const SEED: u64 = 0x0bad_b0d1;

/// How many bodies each route gets.
const EACH: u64 = 130;

/// After how many a run is taken that nothing has happened to yet.
const FRESH: u64 = 10;

/// Where raw text is put that no value can hold.
const MARK: &str = "\"@@\"";

/// Texts that stand where a value was.
fn raw(chance: &mut SeededRng) -> String {
    let deep = |open: &str, close: &str, levels: usize| {
        format!("{}{}{}", open.repeat(levels), 1, close.repeat(levels))
    };
    match chance.next_below(14) {
        0 => deep("[", "]", 90),
        1 => deep("[", "]", 50_000),
        2 => deep("{\"a\":", "}", 200),
        3 => "[".repeat(100_000),
        4 => "1e999".to_owned(),
        5 => "-123456789012345678901234567890".to_owned(),
        6 => "18446744073709551616".to_owned(),
        7 => "9007199254740993.5e-320".to_owned(),
        8 => "\"\\ud800\"".to_owned(),
        9 => "\"\\u0000\\u202e\\uffff\"".to_owned(),
        10 => format!("\"{}\"", "x".repeat(200_000)),
        11 => "NaN".to_owned(),
        12 => "\"../../../../etc/passwd\"".to_owned(),
        _ => "{\"\": {\"\": []}, \"__proto__\": 1}".to_owned(),
    }
}

/// A value of some kind.
fn other(chance: &mut SeededRng) -> Value {
    let all = [
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(f64::MAX),
        json!(""),
        json!("x"),
        json!([]),
        json!({}),
        json!([[["x"]]]),
        json!({"x": {"y": null}}),
    ];
    chance.pick(&all).clone()
}

/// Some place in a value.
fn somewhere<'v>(value: &'v mut Value, chance: &mut SeededRng) -> &'v mut Value {
    let inside = match &*value {
        Value::Object(members) => members.len(),
        Value::Array(items) => items.len(),
        _ => 0,
    };
    if inside == 0 || chance.roll_percent(25) {
        return value;
    }
    let which = chance.next_below(inside);
    let one = match value {
        Value::Object(members) => members.values_mut().nth(which),
        Value::Array(items) => items.get_mut(which),
        _ => None,
    };
    somewhere(one.unwrap(), chance)
}

/// Some object in a value that has members; none where there is none on the way.
fn members_of<'v>(
    value: &'v mut Value,
    chance: &mut SeededRng,
) -> &'v mut serde_json::Map<String, Value> {
    let members = value.as_object_mut().unwrap();
    let inner = members.values().position(|one| one.as_object().is_some_and(|one| !one.is_empty()));
    match inner.filter(|_| chance.roll_percent(50)) {
        Some(which) => members_of(members.values_mut().nth(which).unwrap(), chance),
        None => members,
    }
}

/// A sound body made unsound, or at least another one.
fn mutated(sound: &Value, chance: &mut SeededRng) -> Vec<u8> {
    let mut body = sound.clone();
    let mut marked = None;
    for _ in 0..chance.next_between(1, 2) {
        match chance.next_below(5) {
            0 | 1 => *somewhere(&mut body, chance) = other(chance),
            2 => {
                *somewhere(&mut body, chance) = json!("@@");
                marked = Some(raw(chance));
            }
            3 if body.is_object() => {
                let members = members_of(&mut body, chance);
                let which = chance.next_below(members.len());
                let name = members.keys().nth(which).cloned();
                members.shift_remove(&name.unwrap_or_default());
            }
            _ if body.is_object() => {
                let added = other(chance);
                members_of(&mut body, chance).insert("never".to_owned(), added);
            }
            _ => {}
        }
    }
    let text = body.to_string();
    let mut bytes = marked.map_or(text.clone(), |raw| text.replace(MARK, &raw)).into_bytes();
    let index = chance.next_below(bytes.len());
    match chance.next_below(10) {
        0 => bytes.truncate(index),
        1 => bytes[index] = *chance.pick(&[0xff, 0xc3, 0xed, 0x00, 0x80]),
        2 => bytes.extend_from_slice(b"}"),
        3 => bytes.insert(0, 0xfe),
        _ => {}
    }
    bytes
}

async fn fresh(client: &Client) -> String {
    let begun = client.post("/v1/runs", &json!({"protocol": "demo", "model": "human"})).await;
    begun.good()["run"].as_str().unwrap().to_owned()
}

/// What the description says of a body; what it does not describe has no schema.
fn described(openapi: &Value, path: &str) -> Option<jsonschema::Validator> {
    let path = path.replace("/w1/", "/{wait}/").replace("/outline/", "/{id}/");
    let path = path.replace("/b-0/", "/{build}/");
    let path = path.replace("/c1/", "/{candidate}/").replace("/i1/", "/{insight}/");
    let body = &openapi["paths"].get(&path)?["post"]["requestBody"]["content"];
    let mut whole = body["application/json"]["schema"].clone();
    whole["components"] = openapi["components"].clone();
    let options = jsonschema::options().with_draft(jsonschema::Draft::Draft202012);
    Some(options.build(&whole).unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_body_breaks_the_server_and_none_that_is_unsound_is_taken() {
    let rig = serve().await;
    let client = rig.client();
    let openapi = client.get("/v1/openapi.json").await.good();
    let bodies = sound_bodies();
    let routes = openapi["paths"].as_object().unwrap().values();
    let with_bodies = routes.filter(|item| item["post"].get("requestBody").is_some()).count();
    assert_eq!(bodies.len(), with_bodies + 1, "every route with a body is here, and MCP");
    let (mut cases, mut unsound, mut taken) = (0, 0, 0);
    for (route, (path, body)) in (0..).zip(&bodies) {
        let schema = described(&openapi, path);
        assert!(schema.as_ref().is_none_or(|schema| schema.is_valid(body)), "{path} is sound");
        let mut run = fresh(&client).await;
        for case in 0..EACH {
            if case % FRESH == 0 && path.contains("{run}") {
                run = fresh(&client).await;
            }
            let mut chance = SeededRng::for_case(SEED, route * EACH + case);
            let bytes = mutated(body, &mut chance);
            let request = client.request("POST", &path.replace("{run}", &run));
            let request =
                request.header("content-type", "application/json").header("if-match", "*");
            let request = request.header("accept", "application/json, text/event-stream");
            let answer = Answer::of(request.body(bytes.clone())).await;
            let shown: String = String::from_utf8_lossy(&bytes).chars().take(300).collect();
            let named = format!("{path}, case {case}: {shown}\n{} {}", answer.status, answer.text);
            assert!(answer.status < 500, "{named}");
            cases += 1;
            let Some(schema) = &schema else { continue };
            let sound =
                serde_json::from_slice::<Value>(&bytes).is_ok_and(|one| schema.is_valid(&one));
            unsound += u64::from(!sound);
            if answer.status < 400 {
                // Nothing at all is the empty object.
                assert!(sound || bytes.is_empty(), "{named}");
                taken += 1;
                answer.good();
            } else {
                assert!(!answer.problem(answer.status).is_empty(), "{named}");
            }
        }
        assert_eq!(client.get("/v1/ready").await.status, 200, "after {path}");
    }
    assert!(cases >= 2_000 && unsound > 1_000 && taken > 100, "{cases}, {unsound}, {taken}");
    assert!(!fresh(&client).await.is_empty(), "it still begins runs");
    rig.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_document_breaks_the_server() {
    let rig = serve().await;
    let client = rig.client();
    let run = fresh(&client).await;
    for case in 0..100 {
        let mut chance = SeededRng::for_case(SEED, 1_000_000 + case);
        let length = chance.next_below(5_000);
        let bytes: Vec<u8> = (0..length).map(|_| chance.next_u64() as u8).collect();
        let names = ["a.md", "..", "%2e%2e%2fx", "a%00b", "con", "x%ff", "", "%20", "a%0ab"];
        let path = format!("/v1/runs/{run}/waits/w1/document?name={}", chance.pick(&names));
        let answer = Answer::of(client.request("PUT", &path).body(bytes)).await;
        assert!((400..500).contains(&answer.status), "{path}: {} {}", answer.status, answer.text);
        assert!(!answer.problem(answer.status).is_empty());
    }
    assert_eq!(client.get("/v1/ready").await.status, 200);
    rig.end().await;
}
