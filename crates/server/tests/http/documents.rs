//! Documents and models over HTTP and MCP: a document answers only the run that it was uploaded for,
//! a refused one leaves no file, and a run whose model does not exist does not start.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::rig::{Answer, Client, Rig, json as with_json, serve};

const BRING: &str = "id: bring
phases:
  - id: bring
    ask:
      - { id: paper, question: Bring it, document: { suggested_path: inputs/note/style.md, accepts: [.md, .pdf] }, apply: { set: /paper } }
  - { id: done, terminal: true }
transitions:
  - { from: bring, to: done }
";

async fn begin(rig: &Rig, client: &Client) -> String {
    let protocol = rig.folder.path().join(".opencode/protocol");
    fs::write(protocol.join("workflows/bring.yaml"), BRING).unwrap();
    let body = json!({"workflow": "bring"});
    let request = with_json(client.request("POST", "/v1/runs"), &body).header("prefer", "wait=20");
    Answer::of(request).await.good()["run"].as_str().unwrap().to_owned()
}

async fn upload(client: &Client, run: &str, name: &str, body: &'static [u8]) -> Answer {
    let path = format!("/v1/runs/{run}/waits/w1/document?name={name}");
    Answer::of(client.request("PUT", &path).header("prefer", "wait=20").body(body)).await
}

/// Every file below a folder.
fn list_files(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(list_files(&path));
        } else {
            found.push(path.display().to_string());
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_of_one_run_answers_no_other() {
    let rig = serve().await;
    let client = rig.client();
    let (first, second) = (begin(&rig, &client).await, begin(&rig, &client).await);
    let suggested = async |run: &str| {
        let inbox = client.get(&format!("/v1/inbox?run={run}")).await.good();
        inbox["items"][0]["answer_shape"]["suggested_path"].as_str().unwrap().to_owned()
    };
    let (place, other) = (suggested(&first).await, suggested(&second).await);
    assert_eq!(place, format!("inputs/{first}/note/style.md"));
    assert_eq!(other, format!("inputs/{second}/note/style.md"));

    let taken = upload(&client, &first, "style.md", b"# Of the first\n").await.good();
    assert_eq!(taken["status"], "completed", "{taken}");
    // The same names as before documents belonged to runs, and the place of the other run.
    for path in ["inputs/note/style.md", "note/style.md"] {
        let path = rig.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "# Of no run\n").unwrap();
    }
    // The run looks again whenever something reaches it.
    for verb in ["halt", "resume"] {
        client.post(&format!("/v1/runs/{second}/{verb}"), &json!({})).await.good();
    }
    let waiting = client.get(&format!("/v1/runs/{second}")).await.good();
    assert_eq!(waiting["status"], "waiting", "{waiting}");
    let document = client.get(&format!("/v1/runs/{first}/document")).await.good();
    let path = document["paper"]["path"].as_str().unwrap();
    let named = json!({"value": {"path": path}});
    let foreign = client.post(&format!("/v1/runs/{second}/waits/w1/answer"), &named).await;
    assert_eq!(foreign.problem(422), "answer_mismatch");
    let own = fs::read_to_string(rig.folder.path().join(path)).unwrap();
    assert_eq!(own, "# Of the first\n");
    rig.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_upload_leaves_no_file() {
    let rig = serve().await;
    let client = rig.client();
    let run = begin(&rig, &client).await;
    assert_eq!(upload(&client, &run, "style.exe", b"MZ").await.problem(422), "answer_mismatch");
    let wrong = upload(&client, &run, "style.pdf", b"# Not a PDF\n").await;
    assert_eq!(wrong.problem(422), "answer_mismatch");
    assert!(
        wrong.text.contains("a PDF document, because the name ends with `.pdf`"),
        "{}",
        wrong.text
    );
    let inputs = rig.folder.path().join("inputs");
    assert!(!inputs.exists(), "{:?}", list_files(&inputs));

    // Of several at once, one is taken, and the file of that one stays.
    let bodies: [&'static [u8]; 4] = [b"# One\n", b"# Two\n", b"# Three\n", b"# One\n"];
    let all = bodies.map(|body| {
        let (client, run) = (rig.client(), run.clone());
        tokio::spawn(async move { upload(&client, &run, "style.md", body).await.status })
    });
    let mut statuses = Vec::new();
    for one in all {
        statuses.push(one.await.unwrap());
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409, 409, 409]);
    let document = client.get(&format!("/v1/runs/{run}/document")).await.good();
    let kept = rig.folder.path().join(document["paper"]["path"].as_str().unwrap());
    assert_eq!(list_files(&inputs), [kept.display().to_string()]);
    let digest = countersign_contract::json::sha256_hex(&[&fs::read(kept).unwrap()]);
    assert_eq!(document["paper"]["sha256"], digest);
    rig.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_whose_model_does_not_exist_does_not_start() {
    let rig = serve().await;
    let client = rig.client();
    for (model, reason) in [
        ("openia:gpt", "no provider `openia`; did you mean `openai`?"),
        ("gpt", "`gpt` does not name a provider"),
        ("gemini:pro", "set `GEMINI_API_KEY`"),
        ("script:nowhere.yaml", "cannot read the script `nowhere.yaml`"),
    ] {
        let refused = client.post("/v1/runs", &json!({"model": model})).await;
        assert_eq!(refused.problem(422), "no_model");
        assert!(refused.text.contains(reason), "{model}: {}", refused.text);
        let params = json!({"name": "start_run", "arguments": {"model": model}});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let request = with_json(client.request("POST", "/mcp"), &message);
        let request = request.header("accept", "application/json, text/event-stream");
        let told = Answer::of(request).await.good();
        assert_eq!(told["result"]["isError"], true, "{told}");
        let problem: Value =
            serde_json::from_str(told["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(problem["code"], "no_model", "{problem}");
    }
    assert_eq!(client.get("/v1/runs").await.good()["items"], json!([]));
    assert_eq!(client.get("/v1/inbox").await.good()["items"], json!([]));

    // A key that started a run names it, also when its model is gone.
    let keyed = async |model: &str| {
        let body = json!({"model": model});
        let request = with_json(client.request("POST", "/v1/runs"), &body);
        Answer::of(request.header("idempotency-key", "k")).await
    };
    assert_eq!(keyed("gemini:pro").await.problem(422), "no_model");
    assert_eq!(keyed("human").await.status, 201);
    assert_eq!(keyed("gemini:pro").await.problem(422), "key_reused");
    rig.end().await;
}
