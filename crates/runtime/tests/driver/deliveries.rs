//! Deliveries: at least once under one id, beside the run's own work, and given up in the end.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use countersign_protocol::{ChannelEvent, ChannelSubscription};
use countersign_run::{ExecutionStatus, RunEvent};
use countersign_runtime::channel::{
    ChannelDefinition, ChannelKind, ChannelSet, DeliveryRetryPolicy, SecretSource,
};
use countersign_runtime::driver::IdleReason;
use countersign_runtime::engine::Engine;

use crate::rig::{Answer, EPOCH, Kind, Receiver, TestApp, answer};

const ASKS: &str = r#"
--- index.yaml
name: t
version: 1.0.0
default_workflow: main
channels:
  desk: { on: [wait_opened] }
workflows:
  main:
    title: The hall
--- workflows/main.yaml
id: main
phases:
  - { id: pick, ask: { question: "Which <colour>?", who: anna, deadline: 10h, apply: { set: /colour } } }
  - { id: done, terminal: true }
transitions: [ { from: pick, to: done } ]
"#;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn text(text: &str, origin: &str) -> SecretSource {
    SecretSource::Text { text: text.to_owned(), origin: origin.to_owned() }
}

fn webhook(name: &str, url: &str, on: &[ChannelEvent]) -> ChannelDefinition {
    let subscription = ChannelSubscription {
        channel: name.to_owned(),
        on: on.iter().copied().collect(),
        remind_before: None,
        subject: false,
    };
    ChannelDefinition {
        name: name.to_owned(),
        kind: ChannelKind::Webhook {
            url: text(url, "`url`"),
            secrets: vec![text(SECRET, "environment variable S")],
        },
        subscription: (!on.is_empty()).then_some(subscription),
        retry: DeliveryRetryPolicy { max_attempts: 4, ..DeliveryRetryPolicy::default() },
        timeout: Duration::from_secs(20),
        tenants: vec!["local".to_owned()],
    }
}

/// An engine whose runs are delivered to this address.
fn engine(app: &TestApp, url: &str, on: &[ChannelEvent]) -> Arc<Engine> {
    app.engine_with_channels(ChannelSet::new([webhook("desk", url, on)]))
}

/// The events of a run about deliveries, in short.
async fn told(app: &TestApp, run: &str) -> Vec<String> {
    let events = app.events(run).await;
    let short = events.iter().filter_map(|event| match event {
        RunEvent::DeliveryRequested { delivery, attempt, .. } => {
            Some(format!("{} {attempt}", delivery.event.as_str()))
        }
        RunEvent::DeliveryFinished { .. } => Some("finished".to_owned()),
        RunEvent::DeliveryFailed { failure, retry_at, .. } => {
            let end = if retry_at.is_none() { ", given up" } else { "" };
            Some(format!("{failure}{end}"))
        }
        _ => None,
    });
    short.collect()
}

async fn a_delivery_is_repeated_under_its_id(kind: Kind) {
    let app = TestApp::new(kind, ASKS);
    let answers = [
        Answer::Status("500 Broken"),
        Answer::Status("503 Later\r\nretry-after: 600"),
        Answer::Status("302 Found\r\nlocation: /elsewhere"),
        Answer::Status("204 No Content"),
    ];
    let mut receiver = Receiver::open(answers.to_vec()).await;
    let engine = engine(&app, &receiver.url, &[]);
    app.start(&engine, "r1").await;
    let driver = app.driver(&engine, "w");
    let mut bodies = Vec::new();
    for pause in [0, 7_000, 600_000, 60_000] {
        app.clock.advance(pause);
        assert_eq!(driver.drive("r1").await.unwrap(), IdleReason::WaitingForInput);
        bodies.extend(receiver.drain());
    }
    assert_eq!(bodies.len(), 4, "one attempt each time, and no redirect is followed");
    let ids: BTreeSet<&str> = bodies.iter().map(|one| one.header("webhook-id")).collect();
    assert_eq!(ids.len(), 1, "{ids:?}");
    assert!(bodies.iter().all(|one| one.body == bodies[0].body));
    let times: Vec<i64> =
        bodies.iter().map(|one| one.header("webhook-timestamp").parse().unwrap()).collect();
    let begun = EPOCH / 1000;
    assert_eq!(times, [begun, begun + 7, begun + 607, begun + 667]);
    let body = bodies[0].json();
    assert_eq!(body["type"], "wait_opened");
    assert_eq!(body["id"], bodies[0].header("webhook-id"));
    assert_eq!(body["data"]["run"], "r1");
    assert_eq!(body["data"]["title"], "The hall");
    assert_eq!(body["data"]["wait"]["question"], "Which <colour>?");
    assert_eq!(body["data"]["wait"]["deadline"], EPOCH + 36_000_000);
    let expected = [
        "wait_opened 1",
        "refused",
        "wait_opened 2",
        "refused",
        "wait_opened 3",
        "refused",
        "wait_opened 4",
        "finished",
    ];
    assert_eq!(told(&app, "r1").await, expected);
    let log = app.engine().read_log("r1").await.unwrap();
    assert!(
        log.iter().all(|entry| !entry.body.contains("secret") && !entry.body.contains("whsec"))
    );
}

async fn what_fails_for_good_is_given_up(kind: Kind) {
    let app = TestApp::new(kind, ASKS);
    let receiver = Receiver::open(vec![Answer::Status("500 Broken")]).await;
    let on = [ChannelEvent::RunEnded];
    let engine = engine(&app, &receiver.url, &on);
    app.start(&engine, "r1").await;
    let driver = app.driver(&engine, "w");
    for _ in 0..6 {
        driver.drive("r1").await.unwrap();
        app.clock.advance(3_600_000);
    }
    let failed = told(&app, "r1").await;
    assert_eq!(failed.last().unwrap(), "refused, given up", "after four attempts: {failed:?}");
    assert_eq!(failed.len(), 8);
    // The run goes on, ends, and is still worked on until everything is delivered or given up.
    answer(&engine, "r1", "w1", "red").await.unwrap();
    let ended = IdleReason::Ended(ExecutionStatus::Completed);
    assert_eq!(driver.drive("r1").await.unwrap(), ended);
    assert_eq!(app.state("r1").await.pending.len(), 1, "the delivery of the end");
    let head = app.store.load_head(&engine.run_id("r1")).await.unwrap().unwrap();
    assert!(head.wake_at.is_some(), "a worker comes back for it");
    for _ in 0..4 {
        app.clock.advance(3_600_000);
        assert_eq!(driver.drive("r1").await.unwrap(), ended);
    }
    assert_eq!(app.state("r1").await.pending.len(), 0);
    assert_eq!(told(&app, "r1").await.last().unwrap(), "refused, given up");

    let gone = Receiver::open(vec![Answer::Status("410 Gone")]).await;
    let engine = self::engine(&app, &gone.url, &[]);
    app.start(&engine, "r2").await;
    app.driver(&engine, "w").drive("r2").await.unwrap();
    assert_eq!(told(&app, "r2").await, ["wait_opened 1", "gone, given up"]);

    let engine = app.engine_with_channels(ChannelSet::default());
    app.start(&engine, "r3").await;
    app.driver(&engine, "w").drive("r3").await.unwrap();
    assert_eq!(told(&app, "r3").await, ["wait_opened 1", "unknown_channel, given up"]);
}

async fn a_channel_that_is_away_holds_up_nothing(kind: Kind) {
    let app = TestApp::new(kind, ASKS);
    let mut receiver = Receiver::open(vec![Answer::Never, Answer::Status("200 OK")]).await;
    let engine = engine(&app, &receiver.url, &[]);
    app.start(&engine, "r1").await;
    let driver = app.driver(&engine, "w");
    let work = driver.drive("r1");
    let person = async {
        receiver.next().await;
        // The receiver has the request and stays silent; a person answers meanwhile.
        answer(&engine, "r1", "w1", "red").await.unwrap();
        let mut commits = 0;
        while app.state("r1").await.end.is_none() {
            commits += 1;
            assert!(commits < 1_000, "the run waits for its channel");
            app.clock.advance(200);
            tokio::task::yield_now().await;
        }
        app.state("r1").await
    };
    tokio::select! {
        biased;
        state = person => assert_eq!(state.pending.len(), 1, "the delivery is under way"),
        rest = work => panic!("the delivery cannot have ended: {rest:?}"),
    }
}

async fn a_crash_repeats_a_delivery_under_its_id(kind: Kind) {
    let app = TestApp::new(kind, ASKS);
    let mut receiver = Receiver::open(vec![Answer::Never, Answer::Status("200 OK")]).await;
    let engine = engine(&app, &receiver.url, &[]);
    app.start(&engine, "r1").await;
    let driver = app.driver(&engine, "w1");
    let first = {
        // The receiver has the request; the process dies before it can record an answer.
        let work = driver.drive("r1");
        tokio::select! {
            biased;
            first = receiver.next() => first,
            rest = work => panic!("the delivery cannot have ended: {rest:?}"),
        }
    };
    assert_eq!(told(&app, "r1").await, ["wait_opened 1"]);
    app.clock.advance(600_000);
    let other = self::engine(&app, &receiver.url, &[]);
    app.driver(&other, "w2").drive("r1").await.unwrap();
    let second = receiver.next().await;
    assert_eq!(second.header("webhook-id"), first.header("webhook-id"));
    assert_eq!(second.body, first.body, "a receiver that knows the id can drop the second");
    assert_eq!(told(&app, "r1").await, ["wait_opened 1", "finished"]);
    assert!(receiver.drain().is_empty());
}

async fn answers_are_read_within_bounds(kind: Kind) {
    let app = TestApp::new(kind, ASKS);
    let receiver = Receiver::open(vec![Answer::Flood]).await;
    let engine = engine(&app, &receiver.url, &[]);
    app.start(&engine, "r1").await;
    let driver = app.driver(&engine, "w");
    let done = tokio::time::timeout(Duration::from_secs(15), driver.drive("r1")).await;
    assert_eq!(done.expect("a flood is not read").unwrap(), IdleReason::WaitingForInput);
    assert_eq!(told(&app, "r1").await, ["wait_opened 1", "finished"]);

    let silent = Receiver::open(vec![Answer::Never]).await;
    let slow = ChannelDefinition {
        timeout: Duration::from_millis(50),
        ..webhook("desk", &silent.url, &[])
    };
    let engine = app.engine_with_channels(ChannelSet::new([slow]));
    app.start(&engine, "r2").await;
    app.driver(&engine, "w").drive("r2").await.unwrap();
    assert_eq!(told(&app, "r2").await[..2], ["wait_opened 1", "timed_out"]);
}

/// A run keeps the subscriptions it started with; deliveries use the channels of the process.
async fn subscriptions_are_fixed_at_the_start(kind: Kind) {
    let app = TestApp::new(kind, ASKS);
    let mut receiver = Receiver::open(vec![Answer::Status("200 OK")]).await;
    let on = [ChannelEvent::WaitClosed, ChannelEvent::RunEnded];
    let began = engine(&app, &receiver.url, &on);
    let other = engine(&app, &receiver.url, &[]);
    app.start(&began, "r1").await;
    app.start(&other, "r2").await;
    for run in ["r1", "r2"] {
        answer(&other, run, "w1", "red").await.unwrap();
        app.driver(&other, "w").drive(run).await.unwrap();
    }
    let kinds = |bodies: &crate::rig::Received| bodies.json()["type"].to_string();
    let bodies: Vec<_> = receiver.drain().iter().map(kinds).collect();
    let closed = ["\"wait_opened\"", "\"wait_closed\"", "\"run_ended\"", "\"wait_opened\""];
    assert_eq!(bodies.iter().collect::<BTreeSet<_>>().len(), 3);
    assert_eq!(bodies.len(), closed.len());
    // The same key starts the same run, whatever the channels are by then.
    let start = app.begin();
    let key = Some("k".to_owned());
    let first = began.start_run(&app.protocol, start.clone(), key.clone()).await.unwrap();
    let second = other.start_run(&app.protocol, start, key).await.unwrap();
    assert_eq!(first, second);
}

async fn an_untrusted_file_delivers_nothing(kind: Kind) {
    let app = TestApp::new(kind, ASKS);
    let mut receiver = Receiver::open(vec![Answer::Status("200 OK")]).await;
    let set = ChannelSet::new([webhook("desk", &receiver.url, &[ChannelEvent::RunEnded])]);
    let engine = app.engine_with_channels(set.refuse_deliveries("not trusted"));
    app.start(&engine, "r1").await;
    app.driver(&engine, "w").drive("r1").await.unwrap();
    assert_eq!(told(&app, "r1").await[..2], ["wait_opened 1", "not_trusted"]);
    assert!(receiver.drain().is_empty());
    // Trusted later, it delivers what is still owed.
    let engine = self::engine(&app, &receiver.url, &[]);
    app.clock.advance(7_000);
    app.driver(&engine, "w").drive("r1").await.unwrap();
    assert_eq!(told(&app, "r1").await.last().unwrap(), "finished");
}

on_both!(
    a_delivery_is_repeated_under_its_id,
    what_fails_for_good_is_given_up,
    a_channel_that_is_away_holds_up_nothing,
    a_crash_repeats_a_delivery_under_its_id,
    answers_are_read_within_bounds,
    subscriptions_are_fixed_at_the_start,
    an_untrusted_file_delivers_nothing,
);
