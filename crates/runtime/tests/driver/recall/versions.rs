//! What is remembered of one version, kind by kind.

use std::collections::BTreeMap;

use countersign_memory::MemoryScope;
use countersign_memory::record::{MemoryEventKind, MemoryOrigin, SpeakerRole};
use countersign_run::{
    EffectCall, InputKind, ModelStep, PendingAction, RunEvent, RunInput, RunStart, RunState,
    RunWait, Timestamp, ToolCall, WaitKind, WaitResolution, apply,
};
use countersign_runtime::memory_recorder::{RecordedVersion, extract_memory_events};
use serde_json::{Value, from_value, json};

use super::fixtures::LAMPS;
use crate::rig::protocol;

type RecordedEvent = (MemoryEventKind, SpeakerRole, MemoryOrigin, Option<String>, String);

fn remembered(before: &RunState, what: InputKind, became: Vec<RunEvent>) -> Vec<RecordedEvent> {
    let (protocol, _) = protocol(LAMPS);
    let scope = MemoryScope::new("t", "anna", "lamps", "r1", "r1").unwrap();
    let input = RunInput {
        time: Timestamp(5),
        idempotency_key: None,
        sender: None,
        files: BTreeMap::new(),
        file_digests: BTreeMap::new(),
        payload: what,
    };
    let mut events = vec![RunEvent::InputReceived { input: Box::new(input) }];
    events.extend(became);
    let version = RecordedVersion { number: 7, time: Timestamp(5), events: &events };
    let lived = extract_memory_events(&scope, &protocol, before, version, Timestamp(9));
    for (number, event) in (1..).zip(&lived) {
        assert_eq!(event.id, format!("r1/7/{number}"));
        assert_eq!((event.ts, event.recorded_at), (Timestamp(5), Timestamp(9)));
    }
    let recorded = lived.into_iter();
    recorded.map(|it| (it.kind, it.role, it.origin, it.speaker, it.text)).collect()
}

fn run() -> RunState {
    let mut state = RunState::new("r1");
    (state.workflow, state.phase) = ("main".to_owned(), "write".to_owned());
    state
}

fn waiting(kind: WaitKind, question: &str) -> RunState {
    let mut state = run();
    let wait = RunWait {
        id: "w1".to_owned(),
        kind,
        phase: "ask".to_owned(),
        name: "q".to_owned(),
        definition_id: None,
        item: None,
        transition: None,
        question: question.to_owned(),
        answer_shape: None,
        who: Vec::new(),
        deadline: None,
        opened_at: Timestamp(1),
        subject: None,
        presented: Vec::new(),
        supersedes: Vec::new(),
        reminders: std::collections::BTreeMap::new(),
        action: None,
        approval: None,
    };
    state.waits.insert("w1".to_owned(), wait);
    state
}

fn doing(effect: Value) -> RunState {
    let mut state = run();
    let effect: EffectCall = from_value(effect).unwrap();
    let order = PendingAction::Effect { attempt: 1, effect, not_before: None, item: None };
    state.pending.insert("6.1".to_owned(), order);
    state
}

#[expect(clippy::unnecessary_wraps, reason = "a speaker is optional")]
fn by(name: &str) -> Option<String> {
    Some(name.to_owned())
}

#[test]
fn what_a_run_is_started_with_was_said_by_who_started_it() {
    let start = |parent| RunStart {
        input: Some(json!({"title": "Lamps", "pages": 2})),
        by: by("anna"),
        parent,
        ..RunStart::default()
    };
    let events = remembered(&RunState::new("r1"), InputKind::Start(Box::new(start(None))), vec![]);
    let text = "title: Lamps; pages: 2".to_owned();
    assert_eq!(
        events,
        [(MemoryEventKind::Message, SpeakerRole::User, MemoryOrigin::User, by("anna"), text)]
    );
    let parent = from_value(json!({"run": "r0", "action": "1.1", "depth": 1})).unwrap();
    let child = InputKind::Start(Box::new(start(Some(parent))));
    assert_eq!(remembered(&RunState::new("r1"), child, vec![]), []);
}

#[test]
fn decisions_are_remembered_with_their_note() {
    let before = waiting(WaitKind::Approval, "May it be sold?");
    let (wait, note) = ("w1".to_owned(), Some("too dear".to_owned()));
    let what = InputKind::ApprovalDecided {
        wait: wait.clone(),
        approve: false,
        by: "bob".into(),
        note: note.clone(),
        subject: None,
    };
    let resolution = WaitResolution::Denied { by: "bob".to_owned(), note };
    let events = remembered(&before, what, vec![RunEvent::WaitClosed { wait, resolution }]);
    let text = "denied: May it be sold? — too dear".to_owned();
    assert_eq!(
        events,
        [(MemoryEventKind::Decision, SpeakerRole::User, MemoryOrigin::User, by("bob"), text)]
    );
    let emitted = RunEvent::EventEmitted { name: "SOLD".to_owned(), data: Some(json!({"for": 3})) };
    let events = remembered(&run(), InputKind::Ticked, vec![emitted]);
    let text = "SOLD for: 3".to_owned();
    assert_eq!(
        events,
        [(MemoryEventKind::Decision, SpeakerRole::Tool, MemoryOrigin::System, None, text)]
    );
}

#[test]
fn a_wait_that_nobody_answered_says_nothing() {
    let before = waiting(WaitKind::Question, "Which colour?");
    let (wait, resolution) = ("w1".to_owned(), WaitResolution::Expired);
    assert_eq!(
        remembered(&before, InputKind::Ticked, vec![RunEvent::WaitClosed { wait, resolution }]),
        []
    );
}

#[test]
fn a_document_is_remembered_by_its_place() {
    let before = waiting(WaitKind::Document, "Bring the drawing.");
    let value = json!({"path": "in/lamp.pdf", "name": "lamp.pdf", "bytes": 3, "sha256": "00"});
    let what = InputKind::Answered { wait: "w1".to_owned(), value, by: "workspace".to_owned() };
    let resolution = WaitResolution::Answered { by: "workspace".to_owned() };
    let closed = RunEvent::WaitClosed { wait: "w1".to_owned(), resolution };
    let events = remembered(&before, what, vec![closed]);
    assert_eq!(events[0].4, "Bring the drawing. — in/lamp.pdf");
}

#[test]
fn results_are_remembered_when_they_came_to_something() {
    let used = |ok| {
        let mut before = run();
        let call = ToolCall::read_file("a.md");
        before.pending.insert("6.1".to_owned(), PendingAction::Tool { call });
        let (action, output) = ("6.1".to_owned(), "green glass".to_owned());
        let what = InputKind::ToolFinished { action: action.clone(), ok, output };
        remembered(&before, what, vec![RunEvent::ToolFinished { action, ok }])
    };
    let text = "read a.md: green glass".to_owned();
    assert_eq!(
        used(true),
        [(MemoryEventKind::ToolResult, SpeakerRole::Tool, MemoryOrigin::Tool, by("read"), text)]
    );
    assert_eq!(used(false), []);

    let done = |effect: Value, became: Vec<RunEvent>| {
        let (action, result) = ("6.1".to_owned(), json!({"price": 3}));
        remembered(&doing(effect), InputKind::EffectFinished { action, result }, became)
    };
    let is_done = || vec![RunEvent::EffectFinished { action: "6.1".to_owned() }];
    let events = done(
        json!({"effect": "http", "method": "GET", "url": "https://shop.example/lamps?key=secret"}),
        is_done(),
    );
    let text = "GET https://shop.example/lamps: price: 3".to_owned();
    assert_eq!(
        events,
        [(MemoryEventKind::ToolResult, SpeakerRole::Tool, MemoryOrigin::Web, by("http"), text)]
    );
    let looked = json!({"effect": "retrieve", "source": "notes", "query": "lamps"});
    assert_eq!(done(looked.clone(), is_done())[0].2, MemoryOrigin::Web);
    assert_eq!(done(looked, vec![]), [], "a result that was not taken");
    let ran = json!({"effect": "run", "program": "count", "args": []});
    let events = done(ran, is_done());
    assert_eq!((events[0].2, events[0].4.as_str()), (MemoryOrigin::Tool, "ran count: price: 3"));
}

#[test]
fn what_a_tool_gave_comes_from_the_packet_of_the_reply_that_asked_for_it() {
    let received = |time, what| {
        let input = RunInput {
            time: Timestamp(time),
            idempotency_key: None,
            sender: None,
            files: BTreeMap::new(),
            file_digests: BTreeMap::new(),
            payload: what,
        };
        RunEvent::InputReceived { input: Box::new(input) }
    };
    let mut before = run();
    before.step = Some(ModelStep::default());
    before.pending.insert("5.1".to_owned(), PendingAction::Model { not_before: None });
    let reply = json!({"action": "5.1", "text": "{}", "by": "m", "packet_build": "r1/5.1"});
    let reply = InputKind::ModelReplied(from_value(reply).unwrap());
    apply(&mut before, &received(4, reply)).unwrap();
    let (action, call) = ("6.1".to_owned(), ToolCall::read_file("a.md"));
    apply(&mut before, &RunEvent::ToolRequested { action: action.clone(), call }).unwrap();

    let what = InputKind::ToolFinished { action, ok: true, output: "green glass".to_owned() };
    let events = [received(5, what)];
    let version = RecordedVersion { number: 7, time: Timestamp(5), events: &events };
    let scope = MemoryScope::new("t", "anna", "lamps", "r1", "r1").unwrap();
    let lived = extract_memory_events(&scope, &protocol(LAMPS).0, &before, version, Timestamp(9));
    assert_eq!(lived.len(), 1);
    assert_eq!(lived[0].build.as_deref(), Some("r1/5.1"));
}

#[test]
fn what_is_handed_in_is_a_reply_of_who_handed_it_in() {
    let what = InputKind::ManualPatch { text: "{\"ops\":[]}".to_owned(), by: "anna".to_owned() };
    let accepted = RunEvent::ReplyAccepted {
        attempt: 0,
        repairs: vec![],
        more_repairs: 0,
        defaults: vec![],
        more_defaults: 0,
    };
    let patch = from_value(json!([{"op": "add", "path": "/a", "value": 1}])).unwrap();
    let events = remembered(&run(), what, vec![accepted, RunEvent::DocumentChanged { patch }]);
    assert_eq!(events[0].3, by("anna"));
    let text = "/a = 1".to_owned();
    assert_eq!(
        events[1],
        (MemoryEventKind::StatePatch, SpeakerRole::Tool, MemoryOrigin::System, None, text)
    );
}
