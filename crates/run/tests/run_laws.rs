//! What holds for every run, whatever comes in and in whatever order.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![expect(clippy::disallowed_methods, reason = "tests read fixtures")]

#[path = "../../protocol/tests/protocol_load/folder.rs"]
#[expect(dead_code, reason = "shared with the tests of loading")]
mod folder;
#[path = "run_laws/random_input.rs"]
mod random_input;
#[path = "run_laws/protocols.rs"]
mod protocols;
#[path = "run_laws/signatures.rs"]
mod signatures;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use countersign_protocol::{ChannelEvent, Protocol};
use countersign_run::{
    BlockReason, DecisionOutcome, GENESIS_HASH, InputKind, RunDelivery, RunEvent, RunInput,
    RunLogEntry, RunStart, RunState, Timestamp, apply, decide, fold_entry, next_alarm,
    render_prompt, seal_entry, verify,
};
use proptest::prelude::*;
use testkit::SeededRng;

static PROTOCOLS: LazyLock<Vec<Protocol>> = LazyLock::new(protocols::all);

/// A run under way, with its log and with the orders that should be out.
struct Live<'p> {
    protocol: &'p Protocol,
    state: RunState,
    log: Vec<RunLogEntry>,
    orders: BTreeMap<String, bool>,
    witness: signatures::SignatureWitness,
}

impl<'p> Live<'p> {
    fn new(protocol: &'p Protocol) -> Self {
        let (orders, witness) = (BTreeMap::new(), signatures::SignatureWitness::default());
        Self { protocol, state: RunState::new("r"), log: Vec::new(), orders, witness }
    }

    fn hash(&self) -> &str {
        self.log.last().map_or(GENESIS_HASH, |last| &last.hash)
    }

    /// Takes an input, and holds every law against what comes of it. Whether it was taken.
    fn take(&mut self, input: &RunInput) -> bool {
        let before = bytes(&self.state);
        let decided = decide(self.protocol, &self.state, input);
        assert_eq!(bytes(&self.state), before, "deciding changes nothing");
        let again = decide(self.protocol, &self.state, input);
        let step = match (decided, again) {
            (Ok(step), Ok(again)) => {
                let sealed = self.seal(&step);
                assert_eq!(sealed, self.seal(&again), "the same twice");
                self.log.push(sealed);
                step
            }
            (Err(rejection), Err(again)) => {
                assert_eq!(rejection, again);
                assert!(!rejection.to_string().is_empty() && !rejection.code().is_empty());
                return false;
            }
            (first, second) => panic!("decided {first:?} once and {second:?} then"),
        };
        let notified = matches!(
            input.payload,
            InputKind::Notified { .. }
                | InputKind::DeliveryFinished { .. }
                | InputKind::DeliveryFailed { .. }
        );
        assert!(self.state.end.is_none() || notified, "an ended run stays ended");
        self.witness.see_input(self.protocol, &self.state, input);
        self.folds(&step);
        self.state = step.state;
        self.holds();
        true
    }

    fn seal(&self, step: &DecisionOutcome) -> RunLogEntry {
        seal_entry(&self.state, &step.state, &step.events, self.hash())
    }

    /// The events lead from the state before to the one after, and nobody but the engine writes the
    /// engine's places.
    fn folds(&mut self, step: &DecisionOutcome) {
        let mut state = self.state.clone();
        for event in &step.events {
            let before = self.engine_values(&state);
            self.witness.see_event(self.protocol, &state, event);
            apply(&mut state, event).unwrap();
            if !matches!(event, RunEvent::EngineFieldsUpdated { .. } | RunEvent::Started { .. }) {
                assert_eq!(self.engine_values(&state), before, "{event:?}");
            }
            self.count(event);
        }
        assert_eq!(bytes(&state), bytes(&step.state), "the fold is the state");
    }

    fn engine_values(&self, state: &RunState) -> Vec<Option<serde_json::Value>> {
        let Some(workflow) = self.protocol.workflows.get(&state.workflow) else {
            return Vec::new();
        };
        let fields = self.protocol.document_for(workflow).engine.iter();
        fields.map(|field| state.document.pointer(&field.pointer).cloned()).collect()
    }

    /// Orders that are asked for, answered, or dropped, counted apart from the fold.
    fn count(&mut self, event: &RunEvent) {
        match event {
            RunEvent::InputReceived { input } => {
                if let Some(action) = input.payload.action() {
                    self.orders.remove(action);
                }
            }
            RunEvent::ModelRequested { action, .. }
            | RunEvent::EffectRequested { action, .. }
            | RunEvent::ToolRequested { action, .. }
            | RunEvent::McpToolsRequested { action, .. }
            | RunEvent::HookRequested { action, .. }
            | RunEvent::ChildRequested { action, .. } => {
                assert!(self.orders.insert(action.clone(), false).is_none(), "ids are used once");
            }
            RunEvent::CallDenied { action, .. } => drop(self.orders.remove(action)),
            RunEvent::NotificationRequested { action, .. }
            | RunEvent::DeliveryRequested { action, .. } => {
                assert!(self.orders.insert(action.clone(), true).is_none(), "ids are used once");
            }
            RunEvent::PhaseEntered { .. }
            | RunEvent::Ended { .. }
            | RunEvent::Blocked {
                reason: BlockReason::Incident { .. } | BlockReason::MissingTicket { .. },
            } => {
                self.orders.retain(|_, tell| *tell);
            }
            _ => {}
        }
    }

    /// What holds of a run between two inputs.
    fn holds(&self) {
        let state = &self.state;
        let out: BTreeSet<&String> = state.pending.keys().collect();
        assert_eq!(
            out,
            self.orders.keys().collect(),
            "orders asked, less those answered or dropped"
        );
        let again: RunState = serde_json::from_str(&bytes(state)).unwrap();
        assert_eq!(bytes(&again), bytes(state), "a snapshot reads as what was written");
        let workflow = self.protocol.workflows.get(&state.workflow);
        let document = workflow.map(|workflow| self.protocol.document_for(workflow));
        if let Some(contract) = document.and_then(|document| document.contract.as_ref()) {
            let violations = contract.schema.list_violations(&state.document);
            assert!(violations.is_empty(), "the document fits its contract: {violations:?}");
        }
        assert!(state.blocked.is_none() || state.continuation.is_some(), "who helps lets it go on");
        let phase = workflow.and_then(|workflow| workflow.find_phase(&state.phase));
        for need in phase.iter().flat_map(|phase| &phase.needs) {
            assert!(state.tickets.contains(need), "{} was entered without `{need}`", state.phase);
        }
        let out = state.pending.values().any(|order| !order.is_message());
        self.owes_what_was_promised();
        let stands = !out && state.waits.is_empty() && state.retry_at.is_none();
        let is_asked =
            |action: &String| state.waits.values().any(|wait| wait.action.as_ref() == Some(action));
        assert!(state.held_calls.keys().all(is_asked), "a call waits for nobody: {state:#?}");
        let is_pending = |action: &String| state.pending.contains_key(action);
        assert!(state.held_calls.keys().chain(state.approved_calls.keys()).all(is_pending));
        let ended = state.end.is_some();
        assert!(
            !stands || ended || state.halted.is_some(),
            "nobody could ever move it: {state:#?}"
        );
        assert!(!ended || state.waits.is_empty() && state.blocked.is_none());
        let _ = (render_prompt(self.protocol, state), next_alarm(self.protocol, state));
    }

    /// Whoever is subscribed is told of every wait that opened and of the end, and an id names one
    /// delivery.
    fn owes_what_was_promised(&self) {
        let state = &self.state;
        let mut told: BTreeMap<String, &RunDelivery> = BTreeMap::new();
        let events: Vec<RunEvent> =
            self.log.iter().flat_map(|entry| entry.decode_events("r").unwrap()).collect();
        for event in &events {
            if let RunEvent::DeliveryRequested { delivery, attempt, action, .. } = event {
                let first = told.entry(delivery.id.clone()).or_insert(delivery);
                assert_eq!(**first, **delivery, "an attempt repeats the delivery");
                assert_eq!(*attempt == 1, *action == delivery.id);
            }
        }
        for one in &state.channels {
            let about = |event: ChannelEvent, wait: Option<&str>| {
                told.values()
                    .filter(|it| it.channel == one.channel && it.event == event)
                    .any(|it| wait == it.wait.as_ref().map(|wait| wait.id.as_str()))
            };
            for wait in state.waits.values().filter(|_| one.on.contains(&ChannelEvent::WaitOpened))
            {
                assert!(
                    about(ChannelEvent::WaitOpened, Some(&wait.id))
                        || about(ChannelEvent::WaitSuperseded, Some(&wait.id)),
                    "nobody was told of {wait:?}"
                );
            }
            let ends = one.on.contains(&ChannelEvent::RunEnded) && state.end.is_some();
            assert!(!ends || about(ChannelEvent::RunEnded, None), "nobody was told of the end");
        }
    }

    /// The log proves itself and gives the state.
    fn proves(&self) {
        let verified = verify(self.protocol, "r", &self.log).unwrap();
        assert_eq!(bytes(&verified.state), bytes(&self.state));
        assert_eq!(verified.hash, self.hash());
        let mut folded = RunState::new("r");
        for entry in &self.log {
            fold_entry(&mut folded, &entry.body).unwrap();
        }
        assert_eq!(bytes(&folded), bytes(&self.state));
    }

    /// A log that was changed does not prove itself, or ends in another hash.
    fn tampered(&self, chance: &mut SeededRng) {
        let mut log = self.log.clone();
        let at = chance.next_below(log.len());
        match chance.next_below(5) {
            0 => log[at].body = flipped(chance, &log[at].body),
            1 => log[at].hash = flipped(chance, &log[at].hash),
            2 => {
                log.remove(at);
            }
            3 if log.len() > 1 => {
                let other = (at + 1 + chance.next_below(log.len() - 1)) % log.len();
                log.swap(at, other);
            }
            _ => match chance.next_below(4) {
                0 => log[at].first_seq += 1,
                1 => log[at].last_seq += 1,
                2 => log[at].version += 1,
                _ => log[at].time = Timestamp(log[at].time.0 ^ 1),
            },
        }
        if let Ok(verified) = verify(self.protocol, "r", &log) {
            assert_ne!(verified.hash, self.hash(), "version {} of {:?}", at + 1, self.log);
        }
    }
}

fn bytes(state: &RunState) -> String {
    serde_json::to_string(state).unwrap()
}

/// The text with one byte changed into another that keeps it text.
fn flipped(chance: &mut SeededRng, text: &str) -> String {
    let ascii: Vec<usize> =
        text.bytes().enumerate().filter(|(_, byte)| byte.is_ascii()).map(|(at, _)| at).collect();
    let at = *chance.pick(&ascii);
    let mut bytes = text.as_bytes().to_vec();
    let other = b" 0123456789abcdef{}[]\",:x";
    loop {
        let byte = *chance.pick(other);
        if byte != bytes[at] {
            bytes[at] = byte;
            return String::from_utf8(bytes).unwrap();
        }
    }
}

/// Whether the same input once more must be told back.
fn answers_once(what: &InputKind) -> bool {
    what.action().is_some()
        || matches!(
            what,
            InputKind::Start(_) | InputKind::Answered { .. } | InputKind::ApprovalDecided { .. }
        )
}

fn run(which: usize, seed: u64, inputs: usize) -> (Live<'static>, SeededRng, usize) {
    let mut chance = SeededRng::new(seed);
    let mut live = Live::new(&PROTOCOLS[which % PROTOCOLS.len()]);
    let mut taken = 0;
    let mut after_the_end = 0;
    for _ in 0..inputs {
        after_the_end += usize::from(live.state.end.is_some());
        if after_the_end > 4 {
            break;
        }
        let input = random_input::random_input(&mut chance, live.protocol, &live.state);
        if live.take(&input) {
            taken += 1;
            if answers_once(&input.payload) {
                assert!(!live.take(&input), "a second answer was taken: {:?}", input.payload);
            }
        }
    }
    (live, chance, taken)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_run_holds_whatever_comes(which in 0..PROTOCOLS.len(), seed in any::<u64>(), inputs in 1..60_usize) {
        let (live, _, _) = run(which, seed, inputs);
        live.proves();
    }

    #[test]
    fn tampering_is_found(which in 0..PROTOCOLS.len(), seed in any::<u64>(), inputs in 1..25_usize) {
        let (live, mut chance, _) = run(which, seed, inputs);
        if !live.log.is_empty() {
            for _ in 0..8 {
                live.tampered(&mut chance);
            }
        }
    }
}

/// How many seeded runs must reach everything together; a rare event, such as `tickets_revoked`,
/// needs that many.
const SEEDED_RUNS: u64 = 1_440;

/// Laws over runs that go nowhere would prove nothing.
#[test]
fn guesses_reach_every_event_and_every_end() {
    let mut kinds = BTreeSet::new();
    let mut ends = BTreeSet::new();
    let (mut taken, mut signed, mut made, mut files) = (0, 0, 0, 0);
    for seed in 0..SEEDED_RUNS {
        let (live, _, some) = run(seed as usize, seed, 60);
        taken += some;
        signed += live.witness.taken;
        made += live.witness.made;
        files += live.witness.files;
        let events = live.log.iter().flat_map(|entry| entry.decode_events("r").unwrap());
        kinds.extend(events.map(|event| event.kind().to_owned()));
        ends.extend(live.state.end.map(|(end, _)| format!("{end:?}")));
    }
    let missing: Vec<&str> = KINDS.into_iter().filter(|kind| !kinds.contains(*kind)).collect();
    assert!(missing.is_empty(), "never seen: {missing:?}");
    assert_eq!(ends.len(), 3, "{ends:?}");
    assert!(taken > SEEDED_RUNS as usize * 10, "only {taken} inputs were taken");
    assert!(signed > 40, "only {signed} approved transitions were taken");
    assert!(files > 3, "only {files} approved transitions showed a file");
    assert!(made > 40, "only {made} approved calls were made");
}

/// Every event there is; a new one must be reached too.
const KINDS: [&str; 47] = [
    "mcp_tools_requested",
    "mcp_tools_pinned",
    "mcp_tools_unavailable",
    "input_received",
    "started",
    "phase_entered",
    "transition_taken",
    "tickets_issued",
    "tickets_revoked",
    "gates_closed",
    "model_requested",
    "provider_failed",
    "reply_refused",
    "reply_accepted",
    "document_changed",
    "event_emitted",
    "engine_fields_updated",
    "budget_spent",
    "wait_opened",
    "wait_closed",
    "approval_given",
    "wait_delegated",
    "wait_escalated",
    "blocked",
    "continuation_deferred",
    "effect_requested",
    "call_denied",
    "effect_finished",
    "effect_failed",
    "tool_requested",
    "tool_finished",
    "hook_requested",
    "hook_finished",
    "child_requested",
    "child_ended",
    "item_failed",
    "notification_requested",
    "notified",
    "deadline_near",
    "delivery_requested",
    "delivery_finished",
    "delivery_failed",
    "halted",
    "resumed",
    "unblocked",
    "budget_granted",
    "ended",
];

/// Phases that ask nothing and lead round end the run; they do not hold the engine.
#[test]
fn a_ring_of_questions_nobody_is_asked_ends() {
    let protocol = folder::sound(
        "--- index.yaml
name: ring
version: 1.0.0
default_workflow: main
--- workflows/main.yaml
id: main
phases:
  - { id: a, ask: { question: Really?, when: \"false\" } }
  - { id: b, ask: { question: Really?, when: \"false\" } }
  - { id: done, terminal: true }
transitions:
  - { from: a, to: b }
  - { from: b, to: a }
  - { from: b, to: done, gate: \"false\", priority: 1 }
",
    );
    let start = RunStart {
        protocol: protocol.digest.clone(),
        workflow: "main".to_owned(),
        ..RunStart::default()
    };
    let what = InputKind::Start(Box::new(start));
    let input = RunInput {
        time: Timestamp(0),
        idempotency_key: None,
        sender: None,
        files: BTreeMap::new(),
        file_digests: BTreeMap::new(),
        payload: what,
    };
    let step = decide(&protocol, &RunState::new("r"), &input).unwrap();
    let (end, reason) = step.state.end.unwrap();
    assert_eq!(format!("{end:?}"), "Failed");
    assert_eq!(
        reason.unwrap(),
        "the run made 200 moves on one input: its phases form an endless loop"
    );
}
