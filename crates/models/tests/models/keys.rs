//! A key shows nowhere: not in what is kept, not in what is told, not in what is printed.

use std::fmt::Debug;

use countersign_models::{ModelConfigError, ModelError, ModelProvider, ProviderKey, ProviderKeys};
use serde_json::Value;

use crate::asking::{KEY, PATIENT, ask, call, settings};
use crate::loopback::{Step, response};

/// Every way in which a key could be written down.
fn forms() -> [String; 4] {
    let quoted = Value::from(KEY).to_string();
    let quoted = quoted[1..quoted.len() - 1].to_owned();
    let debugged = format!("{KEY:?}");
    let debugged = debugged[1..debugged.len() - 1].to_owned();
    [KEY.to_owned(), quoted.replace('/', "\\/"), quoted, debugged]
}

#[track_caller]
fn clean(location: &str, text: &str) {
    for form in forms() {
        assert!(!text.contains(&form), "{location}: {text}");
    }
    // No half of it either.
    assert!(!text.contains("4f9a") && !text.contains("secret"), "{location}: {text}");
}

#[track_caller]
fn printed(location: &str, value: &impl Debug) {
    clean(location, &format!("{value:?}"));
    clean(location, &format!("{value:#?}"));
}

fn look_through(error: &ModelError) {
    clean("display", &error.to_string());
    printed("debug", error);
    let exchange = error.exchange.as_ref().unwrap();
    clean("request", &String::from_utf8_lossy(&exchange.request));
    clean("response", &String::from_utf8_lossy(&exchange.response));
}

#[tokio::test]
async fn a_server_that_echoes_the_headers_gives_nothing_away() {
    for provider in ModelProvider::ALL {
        for status in ["400", "401", "429", "500"] {
            let head = format!("HTTP/1.1 {status} X\r\n").into_bytes();
            let echo = Step::Echo("{\"error\":{\"code\":\"c\",\"message\":", "}}");
            let (outcome, _, server) = call(provider, vec![Step::Send(head), echo], &ask()).await;
            // The key was sent, once, where it belongs, and came back.
            let seen = server.seen().remove(0);
            assert_eq!(seen.head.matches(KEY).count(), 1, "{provider}");
            assert!(!seen.head.lines().next().unwrap().contains("4f9a"), "never in the path");
            let error = outcome.unwrap_err();
            let kept =
                String::from_utf8(error.exchange.as_ref().unwrap().response.clone()).unwrap();
            assert!(kept.contains("content-type") && kept.contains('…'), "{kept}");
            look_through(&error);
        }
    }
}

#[tokio::test]
async fn a_key_in_an_answer_or_a_prompt_is_blotted_out() {
    let quoted = Value::from(KEY).to_string();
    let body = format!(
        "{{\"model\":{quoted},\"message\":{{\"content\":{quoted}}},\"done\":true,\"done_reason\":{quoted}}}\n"
    );
    let steps = response(200, "content-type: application/x-ndjson\r\n", &body);
    let mut question = ask();
    question.system = format!("My key is {KEY}.");
    let (outcome, ..) = call(ModelProvider::Ollama, steps, &question).await;
    let answer = outcome.unwrap();
    assert_eq!(answer.text, "…");
    printed("answer", &answer);
    clean("request", &String::from_utf8_lossy(&answer.exchange.request));

    for body in [
        format!("{{\"error\":{quoted}}}\n"),
        format!("{{\"message\":{{}},\"done\":true,\"done_reason\":\"load\",\"x\":{quoted}}}\n"),
        format!("{quoted}\n"),
    ] {
        let steps = response(200, "content-type: application/x-ndjson\r\n", &body);
        look_through(&call(ModelProvider::Ollama, steps, &question).await.0.unwrap_err());
    }
    let header = format!("content-type: {KEY}\r\n");
    look_through(
        &call(ModelProvider::OpenAi, response(200, &header, ""), &question).await.0.unwrap_err(),
    );
}

#[test]
fn settings_and_their_errors_do_not_show_keys() {
    for provider in ModelProvider::ALL {
        printed("settings", &settings(provider, "http://127.0.0.1:1", PATIENT));
    }
    let key = ProviderKey::parse(KEY).unwrap();
    clean("key", &format!("{key} {key:?}"));
    printed("keys", &ProviderKeys::default().with_host("h", key));
    let errors: Vec<ModelConfigError> = [
        ("OPENAI_API_KEY", format!("{KEY} {KEY}")),
        ("OPENAI_API_KEY_FILE", "/nowhere".to_owned()),
        ("COUNTERSIGN_KEYS_BY_HOST", "h".to_owned()),
    ]
    .into_iter()
    .map(|(variable, value)| {
        ProviderKeys::from_env(&|name| (name == variable).then(|| value.clone())).unwrap_err()
    })
    .collect();
    for error in &errors {
        printed("error", error);
        clean("error", &error.to_string());
    }
}
