//! The protocol as it ships, as it is after an edit, and what a question becomes in it.

use countersign_contract::source::{ParsedSourceFile, SourceFile};
use countersign_protocol::{LoadedProtocol, Protocol, ProtocolBundle, load_protocol};
use countersign_run::{
    InputKind, InputRejection, ModelReply, PendingAction, ReplyUsage, RunInput, RunStart, RunState,
    Timestamp, decide,
};
use countersign_shipped_contracts::load_shipped_contracts;
use countersign_shipped_protocols::find_shipped_protocol;
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

pub(crate) fn bundle() -> ProtocolBundle {
    find_shipped_protocol("answer").unwrap().to_bundle()
}

pub(crate) fn loaded(bundle: ProtocolBundle) -> Protocol {
    let loaded = load_protocol(bundle, &load_shipped_contracts());
    let LoadedProtocol { protocol, .. } = loaded.unwrap_or_else(|faults| panic!("{faults:#?}"));
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
    ParsedSourceFile::parse(SourceFile::new(path, &bundle().files[path])).unwrap().value
}

/// Begins a run.
pub(crate) fn begin(protocol: &Protocol, start: RunStart) -> Result<RunState, InputRejection> {
    let start = RunStart {
        protocol: protocol.digest.clone(),
        workflow: protocol.default_workflow.clone(),
        ..start
    };
    decide_input(protocol, &RunState::new("r1"), InputKind::Start(Box::new(start)))
}

/// Begins a run with a question.
pub(crate) fn ask_question(protocol: &Protocol, question: &str) -> RunState {
    begin(protocol, RunStart { input: Some(json!(question)), ..RunStart::default() }).unwrap()
}

/// Whoever is asked says this.
pub(crate) fn replied(protocol: &Protocol, state: &RunState, reply: &Value) -> RunState {
    let is_model = |order: &PendingAction| matches!(order, PendingAction::Model { .. });
    let action = state.pending.iter().find(|(_, order)| is_model(order)).unwrap().0.clone();
    let reply = ModelReply {
        action,
        text: reply.to_string(),
        finish: countersign_contract::reply::FinishReason::Stop,
        usage: ReplyUsage::default(),
        by: "script".to_owned(),
        response_format: None,
        exchange: None,
        packet_build: None,
        repairs: Vec::new(),
    };
    decide_input(protocol, state, InputKind::ModelReplied(Box::new(reply))).unwrap()
}

pub(crate) fn decide_input(
    protocol: &Protocol,
    state: &RunState,
    what: InputKind,
) -> Result<RunState, InputRejection> {
    let time = Timestamp(1_794_787_200_000 + i64::try_from(state.version).unwrap() * 1_000);
    let input = RunInput {
        time,
        idempotency_key: None,
        sender: None,
        files: std::collections::BTreeMap::new(),
        file_digests: std::collections::BTreeMap::new(),
        payload: what,
    };
    decide(protocol, state, &input).map(|step| step.state)
}
