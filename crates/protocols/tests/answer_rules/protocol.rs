//! The protocol as it ships, as it is after an edit, and what a question becomes in it.

use countersign_contracts::registry;
use countersign_core::protocol::{Bundle, Loaded, Protocol, load};
use countersign_core::run::{
    Incoming, Input, ModelReply, Pending, Rejection, Start, State, Time, Usage, decide,
};
use countersign_core::spec::{Source, Tree};
use countersign_protocols::find;
use serde_json::{Value, json};

pub(crate) const WORKFLOW: &str = "workflows/answer.yaml";

/// The nine types, in the order of the seed.
pub(crate) const TYPES: [&str; 9] = [
    "STATUS_METRIC",
    "STATUS_SUMMARY",
    "STATUS_LIST",
    "HOWTO_POLICY",
    "DESIGN_ARCH",
    "DATA_DEFINITION",
    "TROUBLESHOOTING",
    "KNOWLEDGE_QA",
    "CASUAL",
];

pub(crate) fn bundle() -> Bundle {
    find("answer").unwrap().bundle()
}

pub(crate) fn loaded(bundle: Bundle) -> Protocol {
    let loaded = load(bundle, &registry());
    let Loaded { protocol, .. } = loaded.unwrap_or_else(|faults| panic!("{faults:#?}"));
    protocol
}

pub(crate) fn shipped() -> Protocol {
    loaded(bundle())
}

/// The protocol after one replacement in its workflow.
pub(crate) fn edited(old: &str, new: &str) -> Protocol {
    let mut bundle = bundle();
    let text = bundle.files.get_mut(WORKFLOW).unwrap();
    assert_eq!(text.matches(old).count(), 1, "`{old}` stands there once");
    *text = text.replace(old, new);
    loaded(bundle)
}

/// A file of the protocol as data.
pub(crate) fn read(path: &str) -> Value {
    Tree::parse(Source::new(path, &bundle().files[path])).unwrap().value
}

/// Begins a run.
pub(crate) fn begin(protocol: &Protocol, start: Start) -> Result<State, Rejection> {
    let start = Start {
        protocol: protocol.digest.clone(),
        workflow: protocol.default_workflow.clone(),
        ..start
    };
    given(protocol, &State::blank("r1"), Incoming::Start(Box::new(start)))
}

/// Begins a run with a question.
pub(crate) fn asked(protocol: &Protocol, question: &str) -> State {
    begin(protocol, Start { input: Some(json!(question)), ..Start::default() }).unwrap()
}

/// Whoever is asked says this.
pub(crate) fn replied(protocol: &Protocol, state: &State, reply: &Value) -> State {
    let is_model = |order: &Pending| matches!(order, Pending::Model { .. });
    let action = state.pending.iter().find(|(_, order)| is_model(order)).unwrap().0.clone();
    let reply = ModelReply {
        action,
        text: reply.to_string(),
        finish: countersign_core::reply::Finish::Stop,
        usage: Usage::default(),
        by: "script".to_owned(),
        sent: None,
        exchange: None,
        build: None,
        repairs: Vec::new(),
    };
    given(protocol, state, Incoming::ModelReplied(Box::new(reply))).unwrap()
}

pub(crate) fn given(
    protocol: &Protocol,
    state: &State,
    what: Incoming,
) -> Result<State, Rejection> {
    let time = Time(1_794_787_200_000 + i64::try_from(state.version).unwrap() * 1_000);
    let input = Input { time, key: None, files: std::collections::BTreeMap::new(), what };
    decide(protocol, state, &input).map(|step| step.state)
}
