//! A story: the files of a protocol, then `--- inputs`, a YAML list of what comes in.
//!
//! An input is written as the log has it, without what the story can supply: `time` counts a second
//! an input (or `after: 90000` milliseconds), and `action: model` stands for the order of that kind
//! that is out. A decision on an approval names the subject of its wait, unless `subject` says
//! otherwise (`~` for none). `given` is the input that a run starts with. `files` tells which files are there, `file_digests` what is in those that an approval shows. `input: prompt` is none: it shows the whole prompt.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use countersign_contract::source::{ParsedSourceFile, SourceFile};
use countersign_protocol::Protocol;
use countersign_run::{
    GENESIS_HASH, InputKind, InputSender, RunEvent, RunInput, RunStart, RunState, Timestamp,
    decide, fold_entry, next_alarm, render_prompt, seal_entry, verify,
};
use serde_json::{Value, json};

use crate::folder::sound;

/// Runs a story and tells what became true.
pub(crate) fn tell(text: &str) -> String {
    let (files, inputs) = text.split_once("--- inputs\n").expect("a story has inputs");
    let protocol = sound(files);
    let inputs = ParsedSourceFile::parse(SourceFile::new("inputs.yaml", inputs)).unwrap().value;
    let mut teller = Teller::new(&protocol);
    for input in inputs.as_array().expect("inputs are a list") {
        teller.input(input);
    }
    teller.end()
}

/// An input as a reader needs it: what came, without what is known anyway.
fn shown(what: &InputKind) -> String {
    let mut value = serde_json::to_value(what).unwrap();
    let members = value.as_object_mut().unwrap();
    let kind = members.remove("kind").unwrap();
    for known in ["action", "protocol", "finish", "subject"] {
        if members.get(known).is_some_and(|value| value != "length") {
            members.remove(known);
        }
    }
    if members.get("usage").is_some_and(|usage| usage["input_tokens"] == 0 && usage["cost"] == 0) {
        members.remove("usage");
    }
    let rest = if members.is_empty() { String::new() } else { format!(" {value}") };
    format!("{}{rest}", kind.as_str().unwrap())
}

/// What an input says of files in the workspace.
#[derive(serde::Deserialize)]
struct FileFacts {
    files: BTreeMap<String, bool>,
    file_digests: BTreeMap<String, Option<String>>,
}

struct Teller<'p> {
    protocol: &'p Protocol,
    state: RunState,
    hash: String,
    log: Vec<countersign_run::RunLogEntry>,
    time: i64,
    transcript: String,
}

impl<'p> Teller<'p> {
    fn new(protocol: &'p Protocol) -> Self {
        let (state, hash) = (RunState::new("r1"), GENESIS_HASH.to_owned());
        Self {
            protocol,
            state,
            hash,
            log: Vec::new(),
            time: 1_768_996_800_000,
            transcript: String::new(),
        }
    }

    fn input(&mut self, written: &Value) {
        self.time += written["after"].as_i64().unwrap_or(1_000);
        let mut what = written.clone();
        let members = what.as_object_mut().unwrap();
        members.remove("after");
        if members["kind"] == "prompt" {
            return self.prompt();
        }
        let sender = members.remove("sender").map(|sender| serde_json::from_value(sender).unwrap());
        let mut fact = |name: &str| members.remove(name).unwrap_or_else(|| json!({}));
        let facts = json!({ "files": fact("files"), "file_digests": fact("file_digests") });
        let facts: FileFacts = serde_json::from_value(facts).unwrap();
        if what == "start" || what["kind"] == "start" {
            let workflow = what["workflow"].as_str().unwrap_or(&self.protocol.default_workflow);
            let start = RunStart {
                protocol: self.protocol.digest.clone(),
                workflow: workflow.to_owned(),
                document: what.get("document").cloned(),
                phase: what["phase"].as_str().map(str::to_owned),
                halted: what["halted"].as_str().map(str::to_owned),
                model: what["model"].as_str().map(str::to_owned),
                by: what["by"].as_str().map(str::to_owned),
                parent: what
                    .get("parent")
                    .map(|parent| serde_json::from_value(parent.clone()).unwrap()),
                input: what.get("input").cloned(),
                tickets: serde_json::from_value(what["tickets"].clone()).unwrap_or_default(),
                memory_disabled: false,
                channels: serde_json::from_value(what["channels"].clone()).unwrap_or_default(),
                fork: what.get("fork").map(|fork| serde_json::from_value(fork.clone()).unwrap()),
                ..RunStart::default()
            };
            return self.decide(InputKind::Start(Box::new(start)), sender, facts);
        }
        if let Some(kind) = what["action"].as_str() {
            let out = self.state.pending.iter().find(|(_, order)| order.kind() == kind);
            if let Some((id, _)) = out {
                what["action"] = json!(id);
            }
        }
        if what["kind"] == "approval_decided" && what.get("subject").is_none() {
            let wait = self.state.waits.get(what["wait"].as_str().unwrap());
            let seen = wait.and_then(|wait| wait.subject.as_ref()).map(|subject| &subject.digest);
            what["subject"] = json!(seen);
        }
        if what["kind"] == "model_replied" && what.get("by").is_none() {
            what["by"] = json!("script");
        }
        if what["text"].is_object() {
            what["text"] = json!(what["text"].to_string());
        }
        let incoming: InputKind = serde_json::from_value(what).unwrap();
        self.decide(incoming, sender, facts);
    }

    fn decide(&mut self, payload: InputKind, sender: Option<InputSender>, facts: FileFacts) {
        let time = Timestamp(self.time);
        let FileFacts { files, file_digests } = facts;
        let input = RunInput { time, idempotency_key: None, sender, files, file_digests, payload };
        let sender = input.sender.as_ref().map_or_else(String::new, |sender| {
            format!(" {}", serde_json::to_string(sender).unwrap())
        });
        let kind = format!("{}{sender}", shown(&input.payload));
        match decide(self.protocol, &self.state, &input) {
            Err(rejection) => {
                let _ = writeln!(
                    self.transcript,
                    "> {kind}\n  rejected: {rejection} [{}]",
                    rejection.code()
                );
            }
            Ok(step) => {
                let sealed = seal_entry(&self.state, &step.state, &step.events, &self.hash);
                self.hash.clone_from(&sealed.hash);
                self.log.push(sealed);
                let _ = writeln!(self.transcript, "> {kind}");
                for event in &step.events {
                    self.event(event);
                }
                self.state = step.state;
                self.hold();
                let alarm = next_alarm(self.protocol, &self.state);
                let alarm = alarm
                    .map_or_else(String::new, |at| format!(", wakes in {} ms", at.0 - self.time));
                let (phase, status) = (&self.state.phase, self.state.status().as_str());
                let _ = writeln!(self.transcript, "  = {status} in {phase}{alarm}");
                if let Some(prompt) = render_prompt(self.protocol, &self.state) {
                    let last = prompt.messages.last().unwrap();
                    let _ = writeln!(
                        self.transcript,
                        "  ? {}",
                        last.text.trim_end().replace('\n', "\n    ")
                    );
                }
            }
        }
    }

    /// What holds after every input.
    fn hold(&self) {
        let mut folded = RunState::new("r1");
        for entry in &self.log {
            fold_entry(&mut folded, &entry.body).unwrap();
        }
        assert_eq!(folded, self.state, "the fold of the log is the state");
        let bytes = |state: &RunState| serde_json::to_string(state).unwrap();
        assert_eq!(bytes(&folded), bytes(&self.state), "down to the order of keys");
        let workflow = &self.protocol.workflows[&self.state.workflow];
        if let Some(contract) = &self.protocol.document_for(workflow).contract {
            let violations = contract.schema.list_violations(&self.state.document);
            assert!(violations.is_empty(), "the document fits its contract: {violations:?}");
        }
    }

    fn prompt(&mut self) {
        let prompt = render_prompt(self.protocol, &self.state).expect("a model is asked");
        let _ = writeln!(self.transcript, "> prompt for {:?}\n{}", prompt.model, prompt.system);
        for turn in prompt.messages {
            let _ = writeln!(self.transcript, "--- {:?}\n{}", turn.role, turn.text.trim_end());
        }
        self.transcript.push_str("---\n");
    }

    fn event(&mut self, event: &RunEvent) {
        if matches!(event, RunEvent::InputReceived { .. }) {
            return;
        }
        let mut value = serde_json::to_value(event).unwrap();
        let kind = value["event"].as_str().unwrap().to_owned();
        value.as_object_mut().unwrap().remove("event");
        if kind == "started" {
            value.as_object_mut().unwrap().remove("protocol");
        }
        let _ = writeln!(self.transcript, "  {kind} {value}");
    }

    /// The last of it, and the proof.
    fn end(mut self) -> String {
        let verified = verify(self.protocol, "r1", &self.log).unwrap();
        assert_eq!(verified.state, self.state, "the fold of the log is the state");
        assert_eq!(verified.hash, self.hash);
        let snapshot = serde_json::to_string(&self.state).unwrap();
        let again: RunState = serde_json::from_str(&snapshot).unwrap();
        assert_eq!(again, self.state, "a snapshot reads as what was written");
        let _ = write!(self.transcript, "\n{:#}\n", self.state.document);
        self.transcript
    }
}
