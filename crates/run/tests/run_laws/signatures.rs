//! A witness of signatures, apart from the engine: who saw what, and what was then done.

use std::collections::{BTreeMap, BTreeSet};

use countersign_protocol::{Assignee, DistinctParty, GateCheck, Protocol};
use countersign_run::{IdentitySource, InputKind, RunEvent, RunInput, RunState, SubjectPart};
use serde_json::Value;

/// Who may approve the calls of the protocol in the laws.
const CALL_APPROVERS: [&str; 2] = ["anna", "bob"];

/// What a person saw when they approved a transition, and who they were then.
struct Signature {
    parts: Vec<SubjectPart>,
    files: BTreeMap<String, Option<String>>,
    /// Whether the name was checked.
    checked: bool,
    /// Whether the person had approved something else in the run before.
    approver: bool,
}

/// What people signed in the current phase, and who took part in the run.
#[derive(Default)]
pub(crate) struct SignatureWitness {
    /// The signatures for each transition, by person.
    signed: BTreeMap<usize, BTreeMap<String, Signature>>,
    /// People whose approval counted, with those who approved together with them.
    approvers: BTreeSet<String>,
    /// What the files contain, as the current input tells.
    contents: BTreeMap<String, Option<String>>,
    starters: BTreeSet<String>,
    authors: BTreeSet<String>,
    /// People who may decide beside those whom the gate names: delegates, and by escalation.
    deputies: BTreeSet<String>,
    /// Transitions with a manual gate that were taken.
    pub(crate) taken: usize,
    /// Those of them whose approval showed a file.
    pub(crate) files: usize,
    /// The calls that somebody who may approved, as they saw them, by action.
    calls: BTreeMap<String, Value>,
    /// The approved call that the current input is the result of; a retry repeats it.
    repeatable: Option<Value>,
    /// Calls that needed an approval and were made.
    pub(crate) made: usize,
}

impl SignatureWitness {
    /// Notes an input that the run took, as the person saw the run before it.
    pub(crate) fn see_input(&mut self, protocol: &Protocol, before: &RunState, input: &RunInput) {
        self.repeatable = None;
        self.contents.clone_from(&input.file_digests);
        match &input.payload {
            InputKind::Start(start) => self.starters.extend(start.by.clone()),
            InputKind::ModelReplied(reply) => drop(self.authors.insert(reply.by.clone())),
            InputKind::ManualPatch { by, .. } | InputKind::Answered { by, .. } => {
                self.authors.insert(by.clone());
            }
            InputKind::ApprovalDecided { wait, approve: true, by, subject: named, .. } => {
                let Some(wait) = before.waits.get(wait) else { return };
                let Some(subject) = &wait.subject else { return };
                assert_eq!(named.as_ref(), Some(&subject.digest), "another digest was accepted");
                if let Some(action) = &wait.action
                    && (CALL_APPROVERS.contains(&by.as_str()) || self.deputies.contains(by))
                {
                    self.calls.insert(action.clone(), subject.parts[0].value.clone());
                }
                let Some(index) = wait.transition else { return };
                let checked = input.sender.as_ref();
                let checked = checked.is_some_and(|one| one.identity != IdentitySource::Claim);
                let shown = wait.presented.iter().filter_map(|part| part.file.as_ref());
                let signature = Signature {
                    parts: subject.parts.clone(),
                    files: shown.map(|file| (file.path.clone(), file.digest.clone())).collect(),
                    checked,
                    approver: self.approvers.contains(by),
                };
                self.signed.entry(index).or_default().insert(by.clone(), signature);
            }
            InputKind::Delegated { to, .. } => drop(self.deputies.insert(to.clone())),
            _ => {}
        }
        if let Some(action) = input.payload.action()
            && !protocol.policy.approvals.is_empty()
        {
            self.see_result(before, action);
        }
    }

    /// Compares a call that was made with what was approved for its action.
    fn see_result(&mut self, before: &RunState, action: &str) {
        let Some((name, call)) = before.pending[action].describe_call() else { return };
        let needs_approval = match name.as_str() {
            "write" => call["origin"] == "tool" || call["path"] == "held.md",
            "http" | "copy" => true,
            _ => false,
        };
        if needs_approval {
            self.made += 1;
            let approved = self.calls.remove(action);
            assert_eq!(approved.as_ref(), Some(&call), "nobody approved this call");
            self.repeatable = approved;
        }
    }

    /// Holds a transition against what was signed; `state` is the run just before the event.
    pub(crate) fn see_event(&mut self, protocol: &Protocol, state: &RunState, event: &RunEvent) {
        if matches!(event, RunEvent::PhaseEntered { .. }) {
            self.signed.clear();
            self.deputies.clear();
        }
        if let RunEvent::EffectRequested { action, attempt, effect, .. } = event
            && *attempt > 1
            && let Some(call) = &self.repeatable
            && call["name"] == serde_json::to_value(effect).unwrap()["effect"]
        {
            self.calls.insert(action.clone(), call.clone());
        }
        if let RunEvent::WaitEscalated { wait } = event {
            let approval = state.waits[wait].approval.as_ref().unwrap();
            self.deputies.extend(approval.escalate_to.iter().map(ToString::to_string));
        }
        let RunEvent::TransitionTaken { transition: Some(index), .. } = event else { return };
        let workflow = &protocol.workflows[&state.workflow];
        let gate = workflow.transitions[*index].gate.as_ref();
        let Some(GateCheck::Manual { rules, subject, present, .. }) = gate.map(|gate| &gate.check)
        else {
            return;
        };
        self.taken += 1;
        let mut document = (*state.document).clone();
        for field in &protocol.document_for(workflow).engine {
            forget(&mut document, &field.pointer);
        }
        let pointers = if subject.is_empty() { vec![String::new()] } else { subject.clone() };
        let value = |pointer: &String| document.pointer(pointer).cloned().unwrap_or(Value::Null);
        let done: Vec<(String, Value)> =
            pointers.iter().map(|pointer| (pointer.clone(), value(pointer))).collect();
        let shown = present.iter().filter(|part| part.format.is_some_and(|one| one.is_file()));
        let shown = shown.filter_map(|part| state.document.pointer(&part.pointer)?.as_str());
        let content = |path: &str| self.contents.get(path).cloned().flatten();
        let files: BTreeMap<String, Option<String>> =
            shown.map(|path| (path.to_owned(), content(path))).collect();
        self.files += usize::from(!files.is_empty());
        let signers = self.signed.get(index).into_iter().flatten();
        let valid = signers.filter(|(name, seen)| {
            let parts: Vec<(String, Value)> =
                seen.parts.iter().map(|part| (part.pointer.clone(), part.value.clone())).collect();
            let assigned = rules.who.is_empty()
                || rules.who.contains(&Assignee::User((*name).clone()))
                || self.deputies.contains(*name);
            let excluded = rules.distinct_from.iter().any(|party| match party {
                DistinctParty::Starter => self.starters.contains(*name),
                DistinctParty::Author => self.authors.contains(*name),
                DistinctParty::Approver => seen.approver,
            });
            let same = parts == done && seen.files == files;
            same && assigned && !excluded && (seen.checked || !rules.verified)
        });
        let names: Vec<String> = valid.map(|(name, _)| name.clone()).collect();
        let count = names.len();
        self.approvers.extend(names);
        assert!(count >= rules.need as usize, "{count} of {} signed {done:?}", rules.need);
    }
}

fn forget(document: &mut Value, pointer: &str) {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    if let Some(Value::Object(members)) = document.pointer_mut(parent) {
        members.remove(name);
    }
}
