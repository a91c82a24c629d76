//! What holds for every answer, and what is counted.

use countersign_server::access::AccessRole;
use serde_json::json;

use crate::rig::{Answer, serve, serve_keyed};

#[tokio::test]
async fn a_key_that_asks_too_often_is_told_when_to_come_back() {
    let rig = serve_keyed().await;
    let (hasty, other) =
        (rig.client_of("acme", AccessRole::Reader), rig.client_of("acme", AccessRole::Reader));
    let mut refused = None;
    // The rig lets a key ask twenty times a second.
    for _ in 0..200 {
        let answer = hasty.get("/v1/me").await;
        if answer.status != 200 {
            refused = Some(answer);
            break;
        }
    }
    let refused = refused.expect("nobody asks two hundred times in a moment");
    assert_eq!(refused.problem(429), "rate_limited");
    assert_eq!(refused.header("retry-after"), "1");
    assert_eq!(other.get("/v1/me").await.status, 200, "another key is another's");
    rig.end().await;
}

#[tokio::test]
async fn answers_are_packed_and_never_taken_for_a_page() {
    let rig = serve().await;
    let client = rig.client();
    let packed = client.request("GET", "/v1/contracts").header("accept-encoding", "gzip");
    let packed = packed.send().await.unwrap();
    assert_eq!(packed.headers()["content-encoding"], "gzip");
    assert!(packed.bytes().await.unwrap().starts_with(&[0x1f, 0x8b]));
    let plain = client.get("/v1/contracts").await;
    assert_eq!(plain.header("content-encoding"), "");
    assert_eq!(plain.header("x-content-type-options"), "nosniff");
    assert!(plain.header("content-security-policy").starts_with("default-src 'none'"));
    let preflight = client
        .request("OPTIONS", "/v1/runs")
        .header("access-control-request-method", "POST")
        .header("origin", "http://evil.example");
    let preflight = Answer::of(preflight).await;
    assert_eq!(preflight.header("access-control-allow-origin"), "", "there is no CORS");
    rig.end().await;
}

#[tokio::test]
async fn what_is_asked_is_counted_and_workers_are_listed() {
    let rig = serve().await;
    let client = rig.client();
    client.post("/v1/runs", &json!({"model": "human"})).await.good();
    client.get("/v1/runs/nobody").await;
    client.get("/v1/made/up").await;
    let metrics = client.get("/v1/metrics").await;
    assert!(metrics.header("content-type").starts_with("text/plain; version=0.0.4"));
    for line in [
        "countersign_http_requests_total{method=\"POST\",path=\"/v1/runs\",status=\"201\"} 1",
        "countersign_http_requests_total{method=\"GET\",path=\"/v1/runs/{run}\",status=\"404\"} 1",
        "countersign_http_requests_total{method=\"GET\",path=\"other\",status=\"404\"} 1",
        "countersign_http_request_seconds_count{method=\"POST\",path=\"/v1/runs\"} 1",
        "countersign_http_requests_in_flight 1",
    ] {
        assert!(metrics.text.lines().any(|found| found == line), "{line} in {}", metrics.text);
    }
    assert!(!metrics.text.contains("made/up") && !metrics.text.contains("nobody"));
    let workers = client.get("/v1/workers").await.good();
    assert_eq!(workers[0]["host"], "here", "{workers}");
    assert_eq!(workers[0]["lost"], false);
    rig.end().await;
}
