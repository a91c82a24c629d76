//! Runs are found by words and filters, and summed up.

use serde_json::{Value, json};

use crate::rig::{Client, serve};

async fn begin(client: &Client, topic: &str) -> String {
    let started = client.post("/v1/runs", &json!({"input": {"topic": topic}})).await.good();
    started["run"].as_str().unwrap().to_owned()
}

async fn titles(client: &Client, query: &str) -> Vec<String> {
    let page = client.get(&format!("/v1/runs?{query}")).await.good();
    let rows = page["items"].as_array().unwrap().iter();
    rows.map(|row| row["title"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn runs_are_found_by_title_and_filters() {
    let rig = serve().await;
    let client = rig.client();
    begin(&client, "Handmade lamps").await;
    begin(&client, "Договор поставки").await;
    let last = begin(&client, "合同价格 of lamps").await;
    assert_eq!(titles(&client, "q=lamp").await, ["合同价格 of lamps", "Handmade lamps"]);
    assert_eq!(
        titles(&client, "q=%D0%B4%D0%BE%D0%B3%D0%BE%D0%B2%D0%BE%D1%80%D1%8B").await,
        ["Договор поставки"]
    );
    assert_eq!(titles(&client, "q=%E4%BB%B7%E6%A0%BC").await, ["合同价格 of lamps"]);
    assert_eq!(titles(&client, "q=lamps+handmade").await, ["Handmade lamps"]);
    assert_eq!(titles(&client, &format!("q={last}")).await, ["合同价格 of lamps"]);
    assert!(titles(&client, "q=%E2%80%94").await.is_empty());
    assert_eq!(titles(&client, "q=").await.len(), 3);
    // Pages of a search join, and a cursor belongs to its search.
    let page = client.get("/v1/runs?q=lamp&limit=1").await.good();
    let cursor = page["next_cursor"].as_str().unwrap();
    assert_eq!(
        titles(&client, &format!("q=lamp&limit=1&cursor={cursor}")).await,
        ["Handmade lamps"]
    );
    let other = client.get(&format!("/v1/runs?q=lamps&limit=1&cursor={cursor}")).await;
    assert_eq!(other.problem(400), "bad_cursor");

    let row = &page["items"][0];
    let by = row["started_by"].as_str().unwrap();
    assert_eq!(titles(&client, &format!("started_by={by}")).await.len(), 3);
    assert!(titles(&client, "started_by=nobody").await.is_empty());
    let version = row["protocol_version"].as_str().unwrap();
    assert_eq!(titles(&client, &format!("version={version}&workflow=text")).await.len(), 3);
    assert!(titles(&client, "version=0.0.1").await.is_empty());
    assert_eq!(titles(&client, "since=2020-01-01").await.len(), 3);
    assert!(titles(&client, "until=2020-01-01T00:00:00Z").await.is_empty());
    for query in ["since=yesterday", "until=", "status=done"] {
        let refused = client.get(&format!("/v1/runs?{query}")).await;
        assert_eq!(refused.problem(400), "bad_query", "{query}");
    }
    assert!(row["duration_ms"].as_i64().unwrap() >= 0);
    assert_eq!((&row["ended_at"], &row["waiting_child"]), (&Value::Null, &Value::Null));
    rig.end().await;
}

#[tokio::test]
async fn the_inbox_and_forks_name_runs_by_their_titles() {
    let rig = serve().await;
    let client = rig.client();
    let run = begin(&client, "Handmade lamps").await;
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    let listed = loop {
        let inbox = client.get(&format!("/v1/inbox?run={run}")).await.good();
        if let Some(row) = inbox["items"].get(0) {
            break row.clone();
        }
        assert!(std::time::Instant::now() < until, "nothing waits");
        tokio::task::yield_now().await;
    };
    assert_eq!(listed["title"], "Handmade lamps");
    let forked = client.post(&format!("/v1/runs/{run}/fork"), &json!({"version": 1})).await.good();
    let fork = forked["run"].as_str().unwrap();
    let status = client.get(&format!("/v1/runs/{fork}")).await.good();
    assert_eq!(
        (&status["fork"]["run"], &status["fork"]["title"], &status["fork"]["version"]),
        (&json!(run), &json!("Handmade lamps"), &json!(1))
    );
    rig.end().await;
}

#[tokio::test]
async fn statistics_count_the_runs_of_a_period() {
    let rig = serve().await;
    let client = rig.client();
    begin(&client, "one").await;
    begin(&client, "two").await;
    let stats = client.get("/v1/stats").await.good();
    assert_eq!((&stats["total"]["runs"], &stats["truncated"]), (&json!(2), &json!(false)));
    let days = (stats["until"].as_i64().unwrap() - stats["since"].as_i64().unwrap()) / 86_400_000;
    assert_eq!(days, 29, "29 whole days and today");
    let counted: u64 = stats["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|row| row["totals"]["runs"].as_u64())
        .sum();
    assert_eq!((counted, &stats["items"][0]["workflow"]), (2, &json!("text")));
    assert_eq!(stats["days"][0]["totals"]["runs"], 2);
    let other = client.get("/v1/stats?workflow=none").await.good();
    assert_eq!((&other["total"]["runs"], &other["items"]), (&json!(0), &json!([])));
    let old = client.get("/v1/stats?since=2020-01-01&until=2020-02-01").await.good();
    assert_eq!(old["total"]["runs"], 0);
    for query in [
        "since=2020-01-01",
        "since=2020-02-01&until=2020-01-01",
        "since=2020-01-01&until=2021-06-01",
        "until=soon",
        "period=7",
    ] {
        let refused = client.get(&format!("/v1/stats?{query}")).await;
        assert_eq!(refused.problem(400), "bad_query", "{query}");
    }
    rig.end().await;
}
