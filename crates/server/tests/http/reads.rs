//! What is read, of a run that really ran.

use countersign_server::access::AuthMode;
use serde_json::{Value, json};

use crate::rig::{Answer, Client, Rig, demo_folder, json as with_json, serve};

/// Starts a run of the demo, and waits until it rests.
async fn rested(client: &Client) -> String {
    let started = crate::rig::Answer::of(
        client
            .request("POST", "/v1/runs")
            .header("content-type", "application/json")
            .header("prefer", "wait=20")
            .body("{}"),
    )
    .await;
    assert_eq!(started.status, 201, "{}", started.text);
    let body = started.good();
    assert_eq!(body["status"], "waiting", "{body}");
    let run = body["run"].as_str().unwrap().to_owned();
    assert_eq!(started.header("location"), format!("/v1/runs/{run}"));
    assert_eq!(started.header("etag"), format!("\"{}\"", body["version"]));
    run
}

#[tokio::test]
async fn a_run_is_seen_from_every_side() {
    let rig = serve().await;
    let client = rig.client();
    let run = rested(&client).await;

    let listed = client.get("/v1/runs").await.good();
    assert_eq!(listed["items"][0]["run"], run.as_str());
    assert_eq!(listed["items"][0]["status"], "waiting");
    assert_eq!(listed.get("next_cursor"), None);

    let status = client.get(&format!("/v1/runs/{run}")).await;
    let (tag, status) = (status.header("etag").to_owned(), status.good());
    assert_eq!(tag, format!("\"{}\"", status["version"]));
    assert_eq!(status["phase"], "approval");
    assert_eq!(status["waits"][0]["kind"], "approval");
    assert_eq!(status["protocol"]["folder_changed"], false);
    let again = client.request("GET", &format!("/v1/runs/{run}")).header("if-none-match", tag);
    assert_eq!(crate::rig::Answer::of(again).await.status, 304);

    let first = client.get(&format!("/v1/runs/{run}?version=1")).await.good();
    assert_eq!((&first["version"], &first["phase"]), (&json!(1), &json!("outline")));
    assert_eq!(
        client.get(&format!("/v1/runs/{run}?version=99")).await.problem(404),
        "unknown_version"
    );

    let now = client.get(&format!("/v1/runs/{run}/document")).await.good();
    let then = client.get(&format!("/v1/runs/{run}/document?version=1")).await.good();
    assert!(now.get("draft").is_some() && then.get("draft").is_none());
    let topic = client.get(&format!("/v1/runs/{run}/document?pointer=/topic")).await.good();
    assert_eq!(topic, now["topic"]);
    let nowhere = client.get(&format!("/v1/runs/{run}/document?pointer=/nowhere")).await;
    assert_eq!(nowhere.problem(404), "not_found");

    let patch = client.get(&format!("/v1/runs/{run}/diff?from=1")).await.good();
    let ops: Vec<&str> =
        patch.as_array().unwrap().iter().map(|op| op["path"].as_str().unwrap()).collect();
    assert!(ops.contains(&"/draft"), "{ops:?}");

    let versions = all(&client, &format!("/v1/runs/{run}/versions?limit=2")).await;
    let numbers: Vec<u64> = versions.iter().map(|one| one["version"].as_u64().unwrap()).collect();
    let last = status["version"].as_u64().unwrap();
    assert_eq!(numbers, (1..=last).collect::<Vec<_>>(), "every version once, in order");
    assert!(versions[0]["summary"].as_str().unwrap().starts_with("started by ann"));
    let events = all(&client, &format!("/v1/runs/{run}/events?limit=3")).await;
    let numbers: Vec<u64> = events.iter().map(|one| one["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=status["events"].as_u64().unwrap()).collect::<Vec<_>>());

    let graph = client.get(&format!("/v1/runs/{run}/graph")).await;
    assert_eq!(graph.header("content-type"), "image/svg+xml");
    assert!(graph.text.contains("<svg"));
    let mermaid = client.get(&format!("/v1/runs/{run}/graph?format=mermaid")).await;
    assert!(mermaid.text.contains("flowchart"), "{}", mermaid.text);

    let next = client.get(&format!("/v1/runs/{run}/next")).await.good();
    assert_eq!((&next["expects"], &next["waits"][0]["kind"]), (&Value::Null, &json!("approval")));
    let proof = client.get(&format!("/v1/runs/{run}/verify")).await.good();
    assert_eq!((&proof["verified"], &proof["versions"]), (&json!(true), &json!(last)));
    let state = client.get(&format!("/v1/runs/{run}/state?version=1")).await.good();
    assert_eq!(state["version"], 1);

    let inbox = client.get("/v1/inbox").await.good();
    assert_eq!(inbox["items"][0]["address"], format!("{run}/w1"));
    assert_eq!(client.get("/v1/inbox?kind=question").await.good()["items"], json!([]));
    assert_eq!(client.get("/v1/inbox?kind=quiz").await.problem(400), "bad_query");
    assert_eq!(client.get("/v1/runs?stauts=waiting").await.problem(400), "bad_query");
    assert_eq!(client.get("/v1/runs/nobody").await.problem(404), "unknown_run");
    assert_eq!(client.get("/v1/nothing").await.problem(404), "unknown_path");
    let wrong = client.post("/v1/inbox", &json!({})).await;
    assert_eq!(wrong.problem(405), "method_not_allowed");
    assert_eq!(wrong.header("allow"), "GET");
    rig.end().await;
}

/// Every item of a list, page by page.
async fn all(client: &Client, path: &str) -> Vec<Value> {
    let (mut items, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = client.get(&format!("{path}{cursor}")).await.good();
        items.extend(page["items"].as_array().unwrap().iter().cloned());
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return items,
        }
    }
}

#[tokio::test]
async fn protocols_and_contracts_are_listed_and_shown() {
    let rig = serve().await;
    let client = rig.client();
    let protocols = client.get("/v1/protocols").await.good();
    let named: Vec<(&str, &str)> = protocols
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["origin"].as_str().unwrap(), one["name"].as_str().unwrap()))
        .collect();
    assert_eq!(named[0], ("folder", "demo"));
    assert!(named.contains(&("shipped", "delivery")), "{named:?}");
    let demo = client.get("/v1/protocols/demo").await.good();
    assert_eq!((&demo["origin"], &demo["workflows"][0]["id"]), (&json!("folder"), &json!("text")));
    assert_eq!(demo["workflows"][0]["phases"][0]["work"], "planner → outline");
    let intake = client.get("/v1/protocols/intake").await.good();
    assert!(intake["workflows"][0]["input"]["schema"].is_object(), "{intake}");
    let planner = client.get("/v1/protocols/demo/agents/planner").await.good();
    assert_eq!(
        (&planner["base"], &planner["phases"]),
        (&json!("oracle"), &json!(["text/outline"]))
    );
    let missing = client.get("/v1/protocols/demo/agents/planer").await;
    assert_eq!(missing.problem(404), "unknown_agent");
    let no_skill = client.get("/v1/protocols/demo/agents/planner?skill=none").await;
    assert_eq!(no_skill.problem(404), "unknown_skill");
    assert_eq!(client.get("/v1/protocols/dmeo").await.problem(404), "unknown_protocol");
    assert!(client.get("/v1/protocols/answer/graph").await.text.contains("<svg"));

    let contracts = client.get("/v1/contracts").await.good();
    let ids: Vec<&str> =
        contracts.as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert!(ids.contains(&"guardian_report") && ids.contains(&"outline"), "{ids:?}");
    let report = client.get("/v1/contracts/guardian_report").await.good();
    assert!(report["schema"].is_object() && report["rules"].is_array());
    let exported = client.get("/v1/contracts/guardian_report/export?target=openai").await.good();
    assert_eq!(exported["target"], "openai");
    assert_eq!(client.get("/v1/contracts/guardian_raport").await.problem(404), "unknown_contract");
    assert_eq!(
        client.get("/v1/contracts/guardian_report/export?target=x").await.problem(400),
        "bad_query"
    );

    let me = client.get("/v1/me").await.good();
    assert_eq!(
        me,
        json!({"tenant": "local", "role": "admin", "user": "ann", "key": null, "keyless": true})
    );
    assert_eq!(client.get("/v1/health").await.good()["status"], "ok");
    assert_eq!(client.get("/v1/ready").await.good()["status"], "ok");
    assert!(client.get("/v1/docs").await.text.contains("/v1/runs/{run}/verify"));
    rig.end().await;
}

#[tokio::test]
async fn a_graph_as_data_has_the_work_of_each_phase_and_the_time_in_it() {
    let rig = serve().await;
    let client = rig.client();
    let request = with_json(client.request("POST", "/v1/runs"), &json!({}));
    let started = Answer::of(request.header("prefer", "wait=20")).await.good();
    let run = started["run"].as_str().unwrap();
    let graph = client.get(&format!("/v1/runs/{run}/graph?format=json")).await.good();
    let phases = graph["phases"].as_array().unwrap();
    let outline = phases.iter().find(|phase| phase["id"] == "outline").unwrap();
    assert_eq!(outline["visits"], 1, "{graph}");
    assert!(outline["agent"].is_string() && outline["contract"].as_str().unwrap().contains('@'));
    assert!(outline["writes"].is_array(), "{outline}");
    let current: Vec<_> = phases.iter().filter(|phase| phase["current"] == true).collect();
    assert_eq!((current.len(), &current[0]["id"]), (1, &started["phase"]));
    assert!(graph["edges"].as_array().unwrap().iter().any(|edge| edge["taken"] == 1), "{graph}");
    let plain = client.get("/v1/protocols/demo/graph?format=json").await.good();
    assert!(plain["phases"].as_array().unwrap().iter().all(|phase| phase["visits"] == 0));
    let drawn = client.get(&format!("/v1/runs/{run}/graph")).await.text;
    assert!(drawn.contains("data-phase=\"outline\""), "{drawn}");
    rig.end().await;
}

#[tokio::test]
async fn a_protocol_says_which_script_plays_its_model_and_which_inputs_it_knows() {
    let folder = demo_folder();
    let script = "inputs: [Write about tea.]\nanswers: [Green.]\nphases: { outline: [{ expects: tea, reply: no }] }\n";
    std::fs::write(folder.path().join("replies.yaml"), script).unwrap();
    let rig = Rig::open(folder, AuthMode::LoopbackToken).await;
    let client = rig.client();
    let demo = client.get("/v1/protocols/demo").await.good();
    let known =
        json!({"file": "replies.yaml", "inputs": ["Write about tea."], "answers": ["Green."]});
    assert_eq!(demo["script"], known);
    // The topic of the run is not tea: nothing is made up.
    let request = with_json(client.request("POST", "/v1/runs"), &json!({}));
    let stopped = Answer::of(request.header("prefer", "wait=20")).await.good();
    let question = stopped["waits"][0]["question"].as_str().unwrap();
    assert!(question.contains("a script plays the model"), "{question}");
    assert!(question.contains("Write about tea."), "{question}");
    rig.end().await;
}
