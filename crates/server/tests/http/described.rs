//! What the API says about itself is true: its examples fit its shapes, and so do its answers.

use serde_json::{Value, json};

use crate::rig::{Answer, json as with_json, serve};

/// A schema of the description, able to find the others.
fn schema(described: &Value, schema: &Value) -> jsonschema::Validator {
    let mut whole = schema.clone();
    whole["components"] = described["components"].clone();
    jsonschema::options().with_draft(jsonschema::Draft::Draft202012).build(&whole).unwrap()
}

#[track_caller]
fn fits(described: &Value, shape: &Value, value: &Value, what: &str) {
    let validator = schema(described, shape);
    let faults: Vec<String> = validator.iter_errors(value).map(|fault| fault.to_string()).collect();
    assert!(faults.is_empty(), "{what}: {faults:?} in {value}");
}

#[tokio::test]
async fn every_example_fits_its_shape() {
    let rig = serve().await;
    let described = rig.client().get("/v1/openapi.json").await.good();
    let mut seen = 0;
    for (name, shape) in described["components"]["schemas"].as_object().unwrap() {
        if let Some(example) = shape.get("example") {
            fits(&described, shape, example, name);
            seen += 1;
        }
        for (member, shape) in shape["properties"].as_object().into_iter().flatten() {
            if let Some(example) = shape.get("example") {
                fits(&described, shape, example, &format!("{name}.{member}"));
                seen += 1;
            }
        }
    }
    assert!(seen > 30, "{seen} examples");
    for (path, item) in described["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let named = format!("{method} {path}");
            assert!(operation["summary"].as_str().is_some_and(|text| !text.is_empty()), "{named}");
            assert!(operation["description"].as_str().unwrap().contains("Needs"), "{named}");
            assert!(operation["responses"]["default"].is_object(), "{named}");
            if method == "post" {
                let body = &operation["requestBody"]["content"]["application/json"]["schema"];
                assert!(body["$ref"].is_string(), "{named} has a body with a name");
            }
        }
    }
    rig.end().await;
}

#[tokio::test]
async fn every_answer_fits_its_shape() {
    let rig = serve().await;
    let client = rig.client();
    let described = client.get("/v1/openapi.json").await.good();
    let request = with_json(client.request("POST", "/v1/runs"), &json!({}));
    let started = Answer::of(request.header("prefer", "wait=20")).await.good();
    let run = started["run"].as_str().unwrap();
    let body = json!({"user": "ann", "agent": "helper", "items": [{"event": "I am vegetarian"}]});
    let compose = json!({"user": "ann", "agent": "helper", "message": "food"});
    let build = client.post("/v1/memory/compose", &compose).await.good()["build"].clone();
    let build = build.as_str().unwrap();
    let mut seen = 0;
    for (path, item) in described["paths"].as_object().unwrap() {
        let filled = path
            .replace("{run}", run)
            .replace("{name}", "demo")
            .replace("{agent}", "planner")
            .replace("{id}", "outline")
            .replace("{build}", build);
        let answer = match (path.as_str(), item.get("get").is_some()) {
            ("/v1/runs/{run}/diff", _) => client.get(&format!("{filled}?from=1")).await,
            // Without `format`, the answer is a picture.
            (path, true) if path.ends_with("/graph") => {
                client.get(&format!("{filled}?format=json")).await
            }
            ("/v1/contracts/{id}/export", _) => {
                client.get(&format!("{filled}?target=grammar")).await
            }
            ("/v1/memory/builds/{build}", _) => {
                client.get(&format!("{filled}?user=ann&agent=helper")).await
            }
            ("/v1/memory/remember", _) => client.post(&filled, &body).await,
            ("/v1/memory/compose", _) => client.post(&filled, &compose).await,
            ("/v1/memory/search", _) => {
                client
                    .post(&filled, &json!({"user": "ann", "agent": "helper", "text": "food"}))
                    .await
            }
            ("/v1/contracts/{id}/admit", _) => client.post(&filled, &json!({"text": "no"})).await,
            ("/v1/contracts/diff", _) => {
                let same = json!({"old": {"id": "outline"}, "new": {"id": "outline"}});
                client.post(&filled, &same).await
            }
            // Streams have no end, there are no bytes of a scripted model, and this run has no file.
            (path, true)
                if !path.ends_with("/stream")
                    && !path.contains("{digest}")
                    && !path.ends_with("/content") =>
            {
                client.get(&filled).await
            }
            _ => continue,
        };
        assert!((200..300).contains(&answer.status), "{path}: {}", answer.text);
        let operation =
            item.get("get").filter(|_| !path.ends_with("/diff") || path.contains("runs"));
        let operation = operation.or(item.get("post")).unwrap();
        let content = &operation["responses"]["200"]["content"]["application/json"];
        if let Some(shape) = content.get("schema") {
            fits(&described, shape, &answer.good(), path);
            seen += 1;
        }
        let missing = client.get("/v1/runs/nobody").await;
        let problem: Value = serde_json::from_str(&missing.text).unwrap();
        fits(
            &described,
            &json!({"$ref": "#/components/schemas/ProblemDetails"}),
            &problem,
            "a problem",
        );
    }
    assert!(seen > 20, "{seen} answers");
    rig.end().await;
}
