//! Scripts as models: in order, by position, by label, over restarts.

use std::sync::Arc;

use countersign_contract::reply::FinishReason;
use countersign_models::{
    ChatModel, ModelCallIndex, ModelConfigError, ModelErrorKind, ModelRequest, ModelSettings,
    ModelSpec, TokenUsage, connect_model,
};

use crate::asking::{ask, closed};

fn script(text: &str) -> Arc<dyn ChatModel> {
    let file = tempfile::Builder::new().suffix(".yaml").tempfile().unwrap();
    std::fs::write(file.path(), text).unwrap();
    connect_model(&ModelSpec::Script(file.path().to_owned()), &ModelSettings::default()).unwrap()
}

fn at(label: &str, in_run: usize, under_label: usize) -> ModelRequest {
    let position = Some(ModelCallIndex { in_run, under_label });
    ModelRequest { label: Some(label.to_owned()), call_index: position, ..ask() }
}

async fn says(model: &Arc<dyn ChatModel>, ask: &ModelRequest) -> Result<String, ModelErrorKind> {
    let mut live = |_: &str| {};
    model.complete(ask, &mut live).await.map(|answer| answer.text).map_err(|error| error.kind)
}

#[tokio::test]
async fn replies_come_in_order_and_then_no_more() {
    let model = script(
        "- one\n- reply: { two: 2 }\n  finish: length\n  usage: { input_tokens: 5, output_tokens: 6, cached_tokens: 1 }\n",
    );
    let mut pieces = Vec::new();
    let mut live = |piece: &str| pieces.push(piece.to_owned());
    let first = model.complete(&ask(), &mut live).await.unwrap();
    let second = model.complete(&ask(), &mut live).await.unwrap();
    let error = model.complete(&ask(), &mut live).await.unwrap_err();
    assert_eq!((first.text.as_str(), first.finish, first.usage), ("one", FinishReason::Stop, None));
    let usage = TokenUsage { input_tokens: 5, output_tokens: 6, cached_tokens: Some(1) };
    assert_eq!(second.text, "{\"two\":2}");
    assert_eq!((second.finish, second.usage), (FinishReason::Length, Some(usage)));
    assert_eq!(pieces, ["one", "{\"two\":2}"]);
    assert_eq!(second.exchange.response, b"{\"two\":2}");
    let request = String::from_utf8(second.exchange.request).unwrap();
    assert!(request.contains("Judge. Answer in JSON."), "{request}");
    assert!(!error.is_retryable());
    assert!(
        error
            .to_string()
            .ends_with("the script has no reply left: it has 2 replies, and this is call 3"),
        "{error}"
    );
}

#[tokio::test]
async fn a_new_process_goes_on_where_the_run_was() {
    for _process in 0..2 {
        let model = script("[one, two, three]");
        assert_eq!(says(&model, &at("work", 2, 0)).await.unwrap(), "three");
        assert_eq!(says(&model, &at("work", 0, 0)).await.unwrap(), "one");
        let ended = ModelErrorKind::ScriptExhausted { entries: 3, label: None, calls_before: 3 };
        assert_eq!(says(&model, &at("work", 3, 0)).await, Err(ended));
    }
}

#[tokio::test]
async fn labels_have_lists_of_their_own() {
    let model = script("phases:\n  decompose: [a]\n  work: [b, c]\n");
    assert_eq!(says(&model, &at("work", 7, 1)).await.unwrap(), "c");
    assert_eq!(says(&model, &at("decompose", 7, 0)).await.unwrap(), "a");
    let counted = |label: &str| ModelRequest { label: Some(label.to_owned()), ..ask() };
    assert_eq!(says(&model, &counted("work")).await.unwrap(), "b");
    assert_eq!(says(&model, &counted("decompose")).await.unwrap(), "a");
    assert_eq!(says(&model, &counted("work")).await.unwrap(), "c");
    let error = says(&model, &counted("review")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the script has no reply left: it has no replies under `review`, and this is call 1"
    );
}

#[tokio::test]
async fn a_reply_for_somebody_else_is_not_given() {
    let model = script("- { when: work, reply: a }\n- { when: verdict.v1, reply: b }\n");
    let with_contract = |mut ask: ModelRequest| {
        ask.contract = Some(closed());
        ask
    };
    assert_eq!(says(&model, &at("work", 0, 0)).await.unwrap(), "a");
    assert_eq!(says(&model, &with_contract(at("work", 1, 0))).await.unwrap(), "b");
    let error = says(&model, &with_contract(at("review", 0, 0))).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "entry 1 of the script is for `work`, but the request is for `review` with `verdict.v1`"
    );
    let nameless = ModelRequest { call_index: Some(ModelCallIndex::default()), ..ask() };
    let error = says(&model, &nameless).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "entry 1 of the script is for `work`, but the request is for no phase or contract"
    );
}

#[tokio::test]
async fn failures_are_played_like_replies() {
    let model =
        script("- error: { kind: rate_limited, retry_after_ms: 250, message: slow }\n- fine\n");
    let error = model.complete(&ask(), &mut |_| {}).await.unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), ("rate_limited", true));
    assert_eq!(error.retry_after().unwrap().as_millis(), 250);
    assert_eq!(says(&model, &ask()).await.unwrap(), "fine");
}

#[tokio::test(start_paused = true)]
async fn a_delay_passes_before_the_reply() {
    let model = script("- { reply: late, delay_ms: 60000 }\n");
    let start = tokio::time::Instant::now();
    assert_eq!(says(&model, &ask()).await.unwrap(), "late");
    assert_eq!(start.elapsed().as_secs(), 60);
}

#[test]
fn a_broken_script_is_told_with_its_place() {
    let file = tempfile::Builder::new().suffix(".json").tempfile().unwrap();
    std::fs::write(file.path(), "[\"a\", {\"rply\": 1}]").unwrap();
    let spec = ModelSpec::Script(file.path().to_owned());
    let Err(ModelConfigError::BadScript(faults)) = connect_model(&spec, &ModelSettings::default())
    else {
        panic!()
    };
    assert_eq!(
        (faults[0].line_column().line, faults[0].hint.as_deref()),
        (1, Some("did you mean `reply`?"))
    );
}

#[tokio::test]
async fn a_person_is_waited_for() {
    let model = connect_model(&ModelSpec::Human, &ModelSettings::default()).unwrap();
    let error = model.complete(&ask(), &mut |_| {}).await.unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), ("human_required", false));
    assert_eq!(error.to_string(), "`human`: a person must answer");
}

#[tokio::test]
async fn a_reply_is_given_only_to_a_request_that_it_fits() {
    let model = script(
        "inputs: [About 200 chairs.]\nphases:\n  work:\n    - { expects: [200 Chairs, supply], reply: a }\n",
    );
    let about = |text: &str| ModelRequest {
        messages: ModelRequest::new("", text).messages,
        ..at("work", 0, 0)
    };
    assert_eq!(says(&model, &about("The supply of 200 CHAIRS.")).await.unwrap(), "a");
    let error = says(&model, &about("The supply of ten tables.")).await.unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), ("script_input_unknown", false));
    let said = error.to_string();
    assert!(said.contains("`200 Chairs`; it knows `About 200 chairs.`;"), "{said}");
}
