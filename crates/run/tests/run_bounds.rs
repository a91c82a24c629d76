//! Whatever is recorded can be read again: results of actions that are too deep or too large become
//! failures, what a person sends is rejected, and the log proves itself in every case.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![expect(clippy::disallowed_methods, reason = "tests read fixtures")]

#[path = "../../protocol/tests/protocol_load/folder.rs"]
#[expect(dead_code, reason = "shared with the tests of loading")]
mod folder;

use std::collections::BTreeMap;

use countersign_contract::limits::{MAX_INPUT_BYTES, MAX_LISTED_REPAIRS, MAX_REASON_CHARS};
use countersign_protocol::Protocol;
use countersign_run::{
    GENESIS_HASH, HookAnswer, InputKind, InputRejection, ModelReply, ReplyUsage, RunEvent,
    RunInput, RunLogEntry, RunStart, RunState, Timestamp, decide, fold_entry, seal_entry, verify,
};
use serde_json::{Value, json};

const INDEX: &str = "--- index.yaml
name: t
version: 1.0.0
default_workflow: main
hooks: { lint: { program: lint } }
policy: { programs: { lint: { command: [lint], timeout: 10s } } }
--- contracts/any.yaml
id: any
version: 1.0.0
intake: tolerant
schema: { type: object }
on_violation: { reask: 1, then: wait }
";

/// A run under way, with its log.
struct Story {
    protocol: Protocol,
    state: RunState,
    log: Vec<RunLogEntry>,
    time: i64,
}

impl Story {
    fn start(workflow: &str, document: Value) -> Self {
        let text = format!("{INDEX}--- workflows/main.yaml\nid: main\n{workflow}");
        let protocol = folder::sound(&text);
        let mut story = Self { protocol, state: RunState::new("r"), log: Vec::new(), time: 1_000 };
        let protocol = story.protocol.digest.clone();
        let start = RunStart {
            protocol,
            workflow: "main".to_owned(),
            document: Some(document),
            ..RunStart::default()
        };
        story.take(InputKind::Start(Box::new(start))).unwrap();
        story
    }

    /// Gives the run an input, and reads back all that was recorded so far.
    fn take(&mut self, what: InputKind) -> Result<Vec<RunEvent>, InputRejection> {
        self.time += 1_000;
        self.take_at(self.time, what)
    }

    fn take_at(&mut self, time: i64, what: InputKind) -> Result<Vec<RunEvent>, InputRejection> {
        let input = RunInput {
            time: Timestamp(time),
            idempotency_key: None,
            sender: None,
            files: BTreeMap::new(),
            file_digests: BTreeMap::new(),
            payload: what,
        };
        let step = decide(&self.protocol, &self.state, &input)?;
        let hash = self.log.last().map_or(GENESIS_HASH, |last| &last.hash);
        self.log.push(seal_entry(&self.state, &step.state, &step.events, hash));
        self.state = step.state;
        let mut folded = RunState::new("r");
        for entry in &self.log {
            fold_entry(&mut folded, &entry.body).expect("what is recorded can be read again");
        }
        assert_eq!(folded, self.state);
        let snapshot = serde_json::to_string(&self.state).unwrap();
        let snapshot: RunState = serde_json::from_str(&snapshot).expect("a snapshot can be read");
        assert_eq!(snapshot, self.state);
        let proved = verify(&self.protocol, "r", &self.log).expect("deciding again gives the same");
        assert_eq!(proved.state, self.state);
        Ok(step.events)
    }

    /// The id of the only order that is out.
    fn action(&self) -> String {
        assert_eq!(self.state.pending.len(), 1, "{:?}", self.state.pending);
        self.state.pending.keys().next().unwrap().clone()
    }

    fn reply(&mut self, text: String) -> Vec<RunEvent> {
        let reply = ModelReply {
            action: self.action(),
            text,
            finish: countersign_contract::reply::FinishReason::Stop,
            by: "m".to_owned(),
            usage: ReplyUsage::default(),
            response_format: None,
            exchange: None,
            packet_build: None,
            repairs: Vec::new(),
        };
        self.take(InputKind::ModelReplied(Box::new(reply))).unwrap()
    }
}

/// A list in a list, so deep.
fn nested(depth: usize) -> Value {
    (0..depth).fold(json!(1), |inside, _| json!([inside]))
}

/// The words for events, without the engine's own fields.
fn kinds(events: &[RunEvent]) -> Vec<&'static str> {
    events.iter().map(RunEvent::kind).filter(|kind| *kind != "engine_fields_updated").collect()
}

const EMITS: &str = "phases:
  - { id: write, agent: fixer, contract: any, apply: [ { emit: { event: SAID, data: reply } } ] }
  - { id: done, terminal: true }
transitions: [ { from: write, to: done } ]
";

#[test]
fn announced_data_that_could_not_be_read_again_refuses_the_reply() {
    for depth in [100, 103, 104, 110, 125, 126, 127] {
        let mut story = Story::start(EMITS, json!({}));
        // The object around the list is one level more.
        let events = story.reply(json!({ "a": nested(depth - 1) }).to_string());
        if depth <= 103 {
            assert!(kinds(&events).contains(&"event_emitted"), "{depth}: {:?}", kinds(&events));
            continue;
        }
        assert!(
            matches!(&events[1], RunEvent::ReplyRefused { violations, feedback: Some(_), .. }
                if violations[0].code.to_string() == "too_deep"),
            "{depth}: {events:?}"
        );
        assert_eq!(kinds(&events), ["input_received", "reply_refused", "model_requested"]);
    }
}

#[test]
fn a_hook_s_patch_beyond_the_depth_ends_the_hook() {
    let workflow = "phases:
  - { id: work, on_exit: lint }
  - { id: done, terminal: true }
transitions: [ { from: work, to: done } ]
";
    for depth in [99, 101, 126] {
        let mut story = Story::start(workflow, json!({}));
        let ops = json!([{ "op": "add", "path": "/a", "value": nested(depth - 2) }]);
        let answer = HookAnswer::Patch { ops };
        let events =
            story.take(InputKind::HookFinished { action: story.action(), answer }).unwrap();
        assert!(story.state.pending.is_empty(), "it is not launched again");
        if depth <= 100 {
            assert_eq!(story.state.phase, "done");
            continue;
        }
        assert_eq!(
            kinds(&events),
            ["input_received", "hook_finished", "gates_closed", "wait_opened"]
        );
        let reason = &story.state.closed_gates[0].reason;
        let expected = format!("the patch is nested {depth} levels deep; the limit is 100");
        assert!(reason.contains(&expected), "{reason}");
    }
}

#[test]
fn an_effect_s_result_beyond_the_bounds_is_a_failure_of_the_effect() {
    let workflow = "phases:
  - { id: act, do: { run: { program: lint } }, apply: { set: /result } }
  - { id: done, terminal: true }
transitions: [ { from: act, to: done } ]
";
    let large = Value::String("x".repeat(MAX_INPUT_BYTES));
    for (result, code) in [(nested(101), "too_deep"), (large, "too_large")] {
        let mut story = Story::start(workflow, json!({}));
        let action = story.action();
        let events = story.take(InputKind::EffectFinished { action, result }).unwrap();
        assert!(
            matches!(&events[1], RunEvent::EffectFailed { failure, .. } if failure == code),
            "{:?}",
            kinds(&events)
        );
        assert!(story.state.pending.is_empty());
        assert_eq!(story.state.waits.len(), 1, "a person must look");
        assert!(story.log.last().unwrap().body.len() < 10_000, "the value itself is not kept");
    }
}

#[test]
fn what_a_person_sends_beyond_the_bounds_is_rejected() {
    let workflow = "phases:
  - { id: ask, ask: [ { id: q, question: What?, answer: {}, apply: { set: /a } } ] }
  - { id: done, terminal: true }
transitions: [ { from: ask, to: done } ]
";
    let mut story = Story::start(workflow, json!({}));
    let answer =
        |value: Value| InputKind::Answered { wait: "w1".to_owned(), value, by: "anna".to_owned() };
    let deep = story.take(answer(nested(101))).unwrap_err();
    assert_eq!(deep.to_string(), "the answer is nested 101 levels deep; the limit is 100");
    let large = story.take(answer(json!("x".repeat(MAX_INPUT_BYTES)))).unwrap_err();
    assert_eq!(large.code(), "too_large");
    let text = "x".repeat(MAX_INPUT_BYTES);
    let submitted = story.take(InputKind::ManualPatch { text, by: "anna".to_owned() }).unwrap_err();
    assert_eq!(submitted.code(), "too_large");
    story.take(answer(nested(98))).unwrap();
    assert_eq!(story.state.phase, "done");
}

#[test]
fn a_reply_beyond_the_bounds_is_a_failure_of_the_provider() {
    let mut story = Story::start(EMITS, json!({}));
    let events = story.reply("x".repeat(MAX_INPUT_BYTES));
    assert_eq!(kinds(&events), ["input_received", "provider_failed", "model_requested"]);
    assert!(story.log.last().unwrap().body.len() < 10_000);
}

#[test]
fn orders_that_copy_a_document_too_often_fail_instead_of_filling_the_memory() {
    let workflow = "phases:
  - id: each
    do: { each: state.items, run: { program: lint, input: state } }
  - { id: done, terminal: true }
transitions: [ { from: each, to: done } ]
";
    let document = json!({ "items": (0..100).collect::<Vec<_>>(), "text": "x".repeat(1 << 20) });
    let text = format!("{INDEX}--- workflows/main.yaml\nid: main\n{workflow}");
    let protocol = folder::sound(&text);
    let start = RunStart {
        protocol: protocol.digest.clone(),
        workflow: "main".to_owned(),
        document: Some(document),
        ..RunStart::default()
    };
    let what = InputKind::Start(Box::new(start));
    let input = RunInput {
        time: Timestamp(1),
        idempotency_key: None,
        sender: None,
        files: BTreeMap::new(),
        file_digests: BTreeMap::new(),
        payload: what,
    };
    let rejection = decide(&protocol, &RunState::new("r"), &input).unwrap_err();
    assert_eq!(rejection.code(), "too_large", "{rejection}");
}

#[test]
fn lists_and_reasons_in_events_are_bounded() {
    let workflow = "phases:
  - id: write
    agent: fixer
    contract: any
    apply: [ { merge: { at: '', value: reply } } ]
  - { id: done, terminal: true }
transitions:
  - { from: write, to: done, gate: { type: status, field: state, value: go } }
";
    let mut story = Story::start(workflow, json!({}));
    let commas: Vec<String> = (0..500).map(|number| format!("\"k{number}\":[1,],")).collect();
    let commas = commas.concat();
    let text = format!("{{{commas}\"state\":\"{}\"}}", "s".repeat(100_000));
    let events = story.reply(text);
    let RunEvent::ReplyAccepted { repairs, more_repairs, .. } = &events[1] else {
        panic!("{events:?}");
    };
    assert_eq!((repairs.len(), repairs.len() + more_repairs), (MAX_LISTED_REPAIRS, 500));
    assert_eq!(story.state.last_reply.as_ref().unwrap().repairs, 500);
    let reason = &story.state.closed_gates[0].reason;
    assert!(reason.chars().count() <= MAX_REASON_CHARS + 1, "{}", reason.len());
}

#[test]
fn a_time_before_the_last_one_is_the_last_one() {
    let mut story = Story::start(EMITS, json!({}));
    let before = story.state.updated_at;
    story
        .take_at(before.0 - 2_000, InputKind::Halted { by: "anna".to_owned(), reason: None })
        .unwrap();
    assert_eq!(story.state.updated_at, before);
    assert_eq!(story.log.last().unwrap().time, before);
}
