//! A story, as it is written, and how it is run.
//!
//! ```yaml
//! about: What the story shows, in a sentence.
//! given: What the run is started with.     # and `workflow`, `document`, `rejected` where they are needed
//! then: { phase: ask }                     # what holds after the start, see `expected`
//! steps:
//!   - reply: { any: value }                # whoever is asked for a reply says this; a text is said as it is
//!   - fails: { failure: overloaded, message: Away., retryable: true }
//!   - { answer: Yes., wait: w2 }           # `wait` by id or name, where there are several
//!   - { approve: true }                    # or false, of what waits for a decision
//!   - { submit: { merge: {} } }            # a reply or a patch by hand
//!   - { resume: { questions: 2 } }         # with what is granted; also `halt: why`, `cancel: why`
//!   - { file: { in/a.md: text } }          # laid into the folder of work
//!   - { restart: true }                    # the process ends, another one opens the same database
//!   - { wait_for: 90000 }                  # milliseconds go by; a second goes by before every step anyway
//! ```
//!
//! Every step may have `by`, `run` (another run than the story's), and `then`.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use countersign_contract::reply::FinishReason;
use countersign_contract::source::{ParsedSourceFile, SourceFile};
use countersign_protocol::Protocol;
use countersign_run::{
    InputKind, ModelReply, PendingAction, ReplyUsage, RunEvent, RunStart, RunState, WaitKind,
};
use countersign_runtime::engine::{EngineError, InputOutcome};
use countersign_runtime::integrity::verify_stored_run;
use serde_json::Value;

use super::expected::{expect, expect_rejection};
use super::log_text::{last, version};
use super::test_app::{RUN, TestApp};

/// Tells a story of a protocol, and holds it against its snapshot.
pub(crate) fn tell(protocol: &str, name: &str) {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let transcript = runtime.block_on(heard(protocol, name)).transcript;
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(tests.join(protocol).join("snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, transcript));
}

/// Everything that came in for the run of a story, in order, and how the run ended.
pub(super) async fn record(
    protocol: &str,
    name: &str,
) -> (Arc<Protocol>, Vec<InputKind>, RunState) {
    let app = heard(protocol, name).await.app;
    let log = app.engine.read_log(RUN).await.unwrap();
    let events = log.iter().flat_map(|entry| entry.decode_events(RUN).unwrap());
    let inputs = events.filter_map(|event| match event {
        RunEvent::InputReceived { input } => Some(input.payload),
        _ => None,
    });
    (Arc::clone(&app.protocol), inputs.collect(), app.state(RUN).await)
}

/// A story that ran to its end.
async fn heard(protocol: &str, name: &str) -> Teller {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(protocol);
    let text = std::fs::read_to_string(folder.join(format!("{name}.yaml"))).unwrap();
    let story = match ParsedSourceFile::parse(SourceFile::new(name, &text)) {
        Ok(tree) => tree.value,
        Err(fault) => panic!("{fault}"),
    };
    let mut teller = Teller { app: TestApp::new(protocol), transcript: String::new() };
    teller.tell(&story).await;
    teller
}

struct Teller {
    app: TestApp,
    transcript: String,
}

impl Teller {
    async fn tell(&mut self, story: &Value) {
        let _ = writeln!(
            self.transcript,
            "# {}",
            story["about"].as_str().expect("a story has `about`")
        );
        let protocol = &self.app.protocol;
        let start = RunStart {
            protocol: protocol.digest.clone(),
            workflow: text(&story["workflow"]).unwrap_or_else(|| protocol.default_workflow.clone()),
            document: story.get("document").cloned(),
            input: story.get("given").cloned(),
            by: text(&story["by"]),
            ..RunStart::default()
        };
        let started = self.app.start(start).await;
        if self.taken(started, &story["then"]) {
            self.rest(&story["then"]).await;
        }
        for step in story["steps"].as_array().into_iter().flatten() {
            self.step(step).await;
        }
        self.prove().await;
    }

    async fn step(&mut self, step: &Value) {
        self.app.clock.advance(1_000);
        let known = [
            "reply", "fails", "answer", "wait", "approve", "submit", "resume", "halt", "cancel",
            "file", "restart", "wait_for", "by", "run", "then", "finish", "usage", "note",
        ];
        for key in step.as_object().expect("a step is an object").keys() {
            assert!(known.contains(&key.as_str()), "a step has no `{key}`");
        }
        if step.get("restart").is_some() {
            self.app.restart();
            self.transcript
                .push_str("~ the process ended, and another one opened the same database\n");
        } else if let Some(millis) = step["wait_for"].as_i64() {
            self.app.clock.advance(millis);
            let _ = writeln!(self.transcript, "~ {millis} ms went by");
        } else if let Some(files) = step["file"].as_object() {
            for (path, content) in files {
                self.app.put(path, content.as_str().expect("a file has a text"));
                let _ = writeln!(self.transcript, "~ a file lies at {path}");
            }
        } else {
            let (run, what) = self.incoming(step).await;
            let taken = self.app.give(&run, what).await;
            if !self.taken(taken, &step["then"]) {
                return;
            }
        }
        self.rest(&step["then"]).await;
    }

    /// What a step gives, and to which run.
    async fn incoming(&self, step: &Value) -> (String, InputKind) {
        let by = text(&step["by"]).unwrap_or_else(|| "anna".to_owned());
        if let Some(said) = step.get("reply") {
            let (run, action) = self.find_model_action(step).await;
            let said = said.as_str().map_or_else(|| said.to_string(), str::to_owned);
            let finish =
                if step["finish"] == "length" { FinishReason::Length } else { FinishReason::Stop };
            let usage = step.get("usage").cloned();
            let usage: ReplyUsage = usage.map_or_else(ReplyUsage::default, |usage| {
                serde_json::from_value(usage).expect("`usage` has tokens and cost")
            });
            let by = "script".to_owned();
            let (sent, exchange, build) = (None, None, None);
            let (text, repairs) = (said, Vec::new());
            let reply = ModelReply {
                action,
                text,
                finish,
                by,
                usage,
                response_format: sent,
                exchange,
                packet_build: build,
                repairs,
            };
            return (run, InputKind::ModelReplied(Box::new(reply)));
        }
        if let Some(fails) = step.get("fails") {
            let (run, action) = self.find_model_action(step).await;
            let failure = text(&fails["failure"]).unwrap_or_else(|| "overloaded".to_owned());
            let message = text(&fails["message"]).unwrap_or_else(|| "It is away.".to_owned());
            let retryable = fails["retryable"].as_bool().unwrap_or(true);
            let retry_after = fails["retry_after"].as_i64();
            let exchange = None;
            let what = InputKind::ModelFailed {
                action,
                failure,
                message,
                retryable,
                retry_after,
                exchange,
            };
            return (run, what);
        }
        let why = |key: &str| text(&step[key]);
        let run = text(&step["run"]).unwrap_or_else(|| RUN.to_owned());
        let what = if let Some(value) = step.get("answer") {
            let open = |kind| matches!(kind, WaitKind::Question | WaitKind::Document);
            let (run, wait) = self.waiting(step, open).await;
            return (run, InputKind::Answered { wait, value: value.clone(), by });
        } else if let Some(approve) = step["approve"].as_bool() {
            let open = |kind| !matches!(kind, WaitKind::Question | WaitKind::Document);
            let (run, wait) = self.waiting(step, open).await;
            let state = self.app.engine.get_run(&run).await.unwrap().state;
            let what = match state.waits.get(&wait) {
                Some(seen) => seen.decide(approve, &by, text(&step["note"])),
                None => {
                    let (note, subject) = (text(&step["note"]), None);
                    InputKind::ApprovalDecided { wait, approve, by: by.clone(), note, subject }
                }
            };
            return (run, what);
        } else if let Some(patch) = step.get("submit") {
            let text = patch.as_str().map_or_else(|| patch.to_string(), str::to_owned);
            InputKind::ManualPatch { text, by }
        } else if let Some(grants) = step.get("resume") {
            let grants = serde_json::from_value(grants.clone()).unwrap_or_default();
            InputKind::Resumed { by, grants }
        } else if step.get("halt").is_some() {
            InputKind::Halted { by, reason: why("halt") }
        } else {
            assert!(step.get("cancel").is_some(), "a step that says nothing: {step}");
            InputKind::Cancelled { by, reason: why("cancel") }
        };
        (run, what)
    }

    /// The run that asks for a reply, and its order.
    async fn find_model_action(&self, step: &Value) -> (String, String) {
        let mut asking = Vec::new();
        for run in self.runs(step) {
            let pending = self.app.state(&run).await.pending;
            let out =
                pending.iter().find(|(_, order)| matches!(order, PendingAction::Model { .. }));
            asking.extend(out.map(|(action, _)| (run, action.clone())));
        }
        assert_eq!(
            asking.len(),
            1,
            "one run asks for a reply: {asking:?}, {step}\n{}",
            self.transcript
        );
        asking.remove(0)
    }

    /// The run that waits, and its wait.
    async fn waiting(&self, step: &Value, kind: impl Fn(WaitKind) -> bool) -> (String, String) {
        let named = text(&step["wait"]);
        let mut waits = Vec::new();
        for run in self.runs(step) {
            for wait in self.app.state(&run).await.waits.into_values() {
                let meant = named
                    .as_ref()
                    .map_or(kind(wait.kind), |named| wait.id == *named || wait.name == *named);
                if meant {
                    waits.push((run.clone(), wait.id));
                }
            }
        }
        // A wait that is closed is named by its id, so that the story can tell what happens then.
        if let (true, Some(named)) = (waits.is_empty(), named) {
            return (text(&step["run"]).unwrap_or_else(|| RUN.to_owned()), named);
        }
        assert_eq!(waits.len(), 1, "one wait is meant: {waits:?}, {step}\n{}", self.transcript);
        waits.remove(0)
    }

    fn runs(&self, step: &Value) -> Vec<String> {
        text(&step["run"]).map_or_else(|| self.app.runs.keys().cloned().collect(), |run| vec![run])
    }

    /// Whether it was taken; what was not must have been expected.
    fn taken(&mut self, outcome: Result<InputOutcome, EngineError>, then: &Value) -> bool {
        match outcome {
            Ok(_) => {
                assert!(
                    then.get("rejected").is_none(),
                    "it was taken, and {then}\n{}",
                    self.transcript
                );
                true
            }
            Err(EngineError::Rejected(rejection)) => {
                let _ = writeln!(self.transcript, "> rejected: {rejection} [{}]", rejection.code());
                expect_rejection(then, &rejection, &self.transcript);
                false
            }
            Err(other) => panic!("{other}\n{}", self.transcript),
        }
    }

    /// Lets everything come to rest, tells what became true, and looks whether it was expected.
    async fn rest(&mut self, then: &Value) {
        self.app.drive().await;
        let mut fresh = Vec::new();
        let runs: Vec<(String, u64)> = self.app.runs.clone().into_iter().collect();
        for (run, shown_version) in runs {
            let mut state = RunState::new(&run);
            for entry in self.app.engine.read_log(&run).await.unwrap() {
                let protocol = &self.app.protocol;
                let (text, events) = version(protocol, &mut state, &entry);
                if entry.version > shown_version {
                    let of = if run == RUN { String::new() } else { format!("[{run}] ") };
                    self.transcript.push_str(&text.replacen("> ", &format!("> {of}"), 1));
                    fresh.extend(events);
                }
            }
            self.app.runs.insert(run.clone(), state.version);
            if then["run"].as_str().unwrap_or(RUN) == run {
                expect(then, &self.app.protocol, &state, &self.transcript);
            }
        }
        super::expected::expect_events(then, &fresh, &self.transcript);
    }

    /// Every log proves itself, and the last documents are shown.
    async fn prove(&mut self) {
        for run in self.app.runs.keys() {
            if let Err(flaw) = verify_stored_run(&self.app.engine, run).await.unwrap() {
                panic!("{run}: {flaw}\n{}", self.transcript);
            }
            let state = self.app.state(run).await;
            let (status, phase) = (state.status().as_str(), &state.phase);
            let _ = write!(
                self.transcript,
                "\n{run}: {status} in {phase}\n{:#}\n",
                last(&self.app.protocol, &state)
            );
        }
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}
