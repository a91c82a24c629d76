//! The subject of an approval: what a person signs.
//!
//! A subject is a transition together with the parts of the document that the gate names, without
//! engine-owned fields. Its digest binds the decision: a decision on another digest does not open
//! the gate, and an open wait whose subject changes is superseded by a new one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use countersign_contract::json::{digest_json, measure_json};
use countersign_contract::limits;
use countersign_contract::patch::{Patch, PatchOperation};
use countersign_protocol::{
    DecisionTrigger, DocumentDefinition, GateCheck, PresentationFormat, PresentationRule, Protocol,
    WorkflowTransition,
};
use serde_json::{Map, Value, json};

use super::deciders::list_excluded;
use super::run_decision::RunDecision;
use crate::InputRejection;
use crate::event::RunEvent;
use crate::state::{ApprovalDecision, DecisionOutcomeKind};
use crate::wait::{
    ApprovalSubject, PresentedFile, PresentedPart, RunWait, SubjectPart, WaitApproval, WaitKind,
    WaitResolution,
};

/// Digests of the files that a subject includes, by path.
type FileDigests = BTreeMap<String, Option<String>>;

/// Computes the digest of what an approval of a transition signs; `None` if the transition has no
/// manual gate. `digests` has the files that the approval shows.
pub(crate) fn compute_subject_digest(
    definition: &DocumentDefinition,
    transition: &WorkflowTransition,
    document: &Value,
    digests: &FileDigests,
) -> Option<String> {
    let parts = collect_parts(definition, transition, document)?;
    let parts: Map<String, Value> =
        parts.into_iter().map(|part| (part.pointer, part.value)).collect();
    let WorkflowTransition { from, to, .. } = transition;
    let mut signed = json!({ "transition": { "from": from, "to": to }, "parts": parts });
    let files = list_shown_files(transition, document);
    if !files.is_empty() {
        let content = |path: &str| digests.get(path).cloned().flatten();
        let files: Map<String, Value> =
            files.into_iter().map(|path| (path.to_owned(), content(path).into())).collect();
        signed["files"] = Value::Object(files);
    }
    Some(digest_json(&signed))
}

/// The paths of the files that an approval shows.
fn list_shown_files<'d>(transition: &WorkflowTransition, document: &'d Value) -> BTreeSet<&'d str> {
    let gate = transition.gate.as_ref().map(|gate| &gate.check);
    let Some(GateCheck::Manual { present, .. }) = gate else { return BTreeSet::new() };
    let files = present.iter().filter(|part| part.format.is_some_and(PresentationFormat::is_file));
    files.filter_map(|part| document.pointer(&part.pointer)?.as_str()).collect()
}

/// Collects the approved parts; `None` if the transition has no manual gate.
fn collect_parts(
    definition: &DocumentDefinition,
    transition: &WorkflowTransition,
    document: &Value,
) -> Option<Vec<SubjectPart>> {
    let Some(GateCheck::Manual { subject, .. }) = transition.gate.as_ref().map(|gate| &gate.check)
    else {
        return None;
    };
    let mut shown = document.clone();
    for field in &definition.engine {
        remove_at_pointer(&mut shown, &field.pointer);
    }
    if subject.is_empty() {
        return Some(vec![SubjectPart { pointer: String::new(), value: shown }]);
    }
    let part = |pointer: &String| SubjectPart {
        pointer: pointer.clone(),
        value: shown.pointer(pointer).cloned().unwrap_or(Value::Null),
    };
    Some(subject.iter().map(part).collect())
}

fn remove_at_pointer(document: &mut Value, pointer: &str) {
    let Some((parent, key)) = pointer.rsplit_once('/') else { return };
    if let Some(Value::Object(members)) = document.pointer_mut(parent) {
        members.remove(&key.replace("~1", "/").replace("~0", "~"));
    }
}

/// Rejects a decision on a subject that is not the one of the wait. An approval must name the
/// digest; a denial may.
pub(super) fn check_named_subject(
    wait: &RunWait,
    approve: bool,
    named: Option<&String>,
) -> Result<(), InputRejection> {
    let Some(subject) = &wait.subject else { return Ok(()) };
    match named {
        None if approve => Err(InputRejection::SubjectRequired { wait: wait.id.clone() }),
        Some(named) if *named != subject.digest => Err(wait.reject_old_subject(&wait.id)),
        _ => Ok(()),
    }
}

impl RunDecision<'_> {
    /// Digest of the current subject of a transition; `None` if it has no manual gate.
    pub(super) fn compute_subject_digest(&self, index: usize) -> Option<String> {
        let transition = &self.workflow.transitions[index];
        let digests = &self.input.file_digests;
        for path in list_shown_files(transition, &self.state.document) {
            if !digests.contains_key(path) {
                self.undigested_files.borrow_mut().insert(path.to_owned());
            }
        }
        let definition = self.document_definition();
        compute_subject_digest(definition, transition, &self.state.document, digests)
    }

    /// Whether the subject of an open approval is not what the wait shows any more. The document
    /// cannot change without a decision; a file can. `false` if the input does not tell of the file.
    pub(super) fn has_changed_subject(&self, wait: &RunWait) -> bool {
        let (Some(index), Some(subject)) = (wait.transition, &wait.subject) else { return false };
        self.compute_subject_digest(index).as_ref() != Some(&subject.digest)
            && self.knows_shown_files(wait)
    }

    /// Whether the input has the digest of every file that an open approval shows.
    pub(super) fn knows_shown_files(&self, wait: &RunWait) -> bool {
        let Some(index) = wait.transition else { return true };
        let shown = list_shown_files(&self.workflow.transitions[index], &self.state.document);
        shown.into_iter().all(|path| self.input.file_digests.contains_key(path))
    }

    /// The decision on a transition, if it is a decision on the current subject.
    pub(super) fn find_current_decision(&self, index: usize) -> Option<&ApprovalDecision> {
        let decision = self.state.decisions.get(&index)?;
        (decision.subject == self.compute_subject_digest(index)).then_some(decision)
    }

    /// Whether a transition has a manual gate that nobody has opened for the current subject.
    pub(super) fn lacks_approval(&self, index: usize) -> bool {
        let gate = self.workflow.transitions[index].gate.as_ref();
        gate.is_some_and(|gate| matches!(gate.check, GateCheck::Manual { .. }))
            && !self.find_current_decision(index).is_some_and(|decision| decision.approve)
    }

    /// Whether an approval in this phase ended as `trigger` says.
    pub(super) fn has_decision(&self, trigger: DecisionTrigger) -> bool {
        let wanted = match trigger {
            DecisionTrigger::Denied => DecisionOutcomeKind::Denied,
            DecisionTrigger::Expired => DecisionOutcomeKind::Expired,
        };
        self.state.decisions.values().any(|decision| decision.outcome() == wanted)
    }

    /// Builds the wait that asks for the approval of a transition; `None` if it has no manual gate.
    pub(super) fn build_approval_wait(&self, index: usize) -> Option<RunWait> {
        let transition = &self.workflow.transitions[index];
        let gate = transition.gate.as_ref()?;
        let GateCheck::Manual { rules, deadline, question, present, .. } = &gate.check else {
            return None;
        };
        let fallback =
            || format!("May the run go from `{}` to `{}`?", transition.from, transition.to);
        let question = match question {
            None => fallback(),
            Some(template) => {
                let roots = [Some(&*self.state.document), Some(&*self.run_value())];
                template.render(&roots).unwrap_or_else(|error| {
                    format!(
                        "{} (the text of the gate cannot be shown: {})",
                        fallback(),
                        error.message
                    )
                })
            }
        };
        let mut wait = self.new_wait(WaitKind::Approval, &transition.to, question);
        wait.transition = Some(index);
        wait.who.clone_from(&rules.who);
        wait.approval = Some(WaitApproval {
            excluded: list_excluded(&self.state, &rules.distinct_from),
            ..WaitApproval::from_rules(rules, self.input.time)
        });
        wait.deadline = deadline.map(|deadline| self.input.time.plus_millis(deadline.millis));
        wait.subject = self.build_subject(index);
        wait.presented = present.iter().map(|rule| self.build_presented_part(rule)).collect();
        Some(wait)
    }

    fn build_presented_part(&self, rule: &PresentationRule) -> PresentedPart {
        let PresentationRule { pointer, format, title } = rule.clone();
        let last = pointer.rsplit('/').next().unwrap_or_default();
        let title = title.unwrap_or_else(|| last.replace("~1", "/").replace("~0", "~"));
        let before = match format {
            Some(PresentationFormat::Difference) => self.state.approved_values.get(&pointer),
            _ => None,
        };
        let value = self.state.document.pointer(&pointer).and_then(Value::as_str);
        let file = value.filter(|_| format.is_some_and(PresentationFormat::is_file)).map(|path| {
            let digest = self.input.file_digests.get(path).cloned().flatten();
            PresentedFile { path: path.to_owned(), digest }
        });
        PresentedPart { title, pointer, format, before: before.cloned(), file }
    }

    fn build_subject(&self, index: usize) -> Option<ApprovalSubject> {
        let digest = self.compute_subject_digest(index)?;
        let transition = &self.workflow.transitions[index];
        let parts = collect_parts(self.document_definition(), transition, &self.state.document)?;
        let omitted = measure_json(&parts).bytes > limits::MAX_SUBJECT_BYTES;
        let parts = if omitted { Vec::new() } else { parts };
        Some(ApprovalSubject { digest, parts, omitted, changes: None })
    }

    /// Replaces every approval wait whose subject this decision changed.
    pub(super) fn supersede_changed_approvals(&mut self) {
        let shows_files = |wait: &RunWait| wait.presented.iter().any(|part| part.file.is_some());
        if Arc::ptr_eq(&self.before.document, &self.state.document)
            && !self.state.waits.values().any(shows_files)
        {
            return;
        }
        let open: Vec<RunWait> = self.state.waits.values().cloned().collect();
        for old in open {
            if !self.has_changed_subject(&old) {
                continue;
            }
            let Some(index) = old.transition else { continue };
            let Some(mut wait) = self.build_approval_wait(index) else { continue };
            if let Some(subject) = &mut wait.subject {
                subject.changes = self.find_subject_changes(&old, index);
            }
            if let (Some(now), Some(before)) = (&mut wait.approval, &old.approval) {
                // A person handed over the decision, not one subject of it.
                now.delegations.clone_from(&before.delegations);
            }
            wait.supersedes = old.supersedes;
            wait.supersedes.push(old.id.clone());
            let resolution = WaitResolution::Superseded;
            self.emit(RunEvent::WaitClosed { wait: old.id, resolution });
            self.open_new_wait(wait);
        }
    }

    /// The difference between the subject of the first wait and the current one, because a person
    /// may have seen any wait between them. `None` if it is too large to store.
    fn find_subject_changes(&self, old: &RunWait, index: usize) -> Option<Patch> {
        let transition = &self.workflow.transitions[index];
        let definition = self.document_definition();
        let before = collect_parts(definition, transition, &self.before.document)?;
        let after = collect_parts(definition, transition, &self.state.document)?;
        let changes =
            before.iter().zip(&after).flat_map(|(before, after)| diff_part(before, after));
        let latest: Patch = serde_json::from_value(changes.collect()).ok()?;
        let earlier = old.subject.as_ref().and_then(|subject| subject.changes.clone());
        let changes = match earlier {
            None if old.supersedes.is_empty() => latest,
            earlier => join_changes(earlier?, latest),
        };
        (measure_json(&changes).bytes <= limits::MAX_SUBJECT_BYTES).then_some(changes)
    }
}

/// Two differences in a row as one. Where values were only replaced, the last one of each location
/// remains.
fn join_changes(earlier: Patch, latest: Patch) -> Patch {
    let mut ops = earlier.ops;
    ops.extend(latest.ops);
    if ops.iter().all(|op| matches!(op, PatchOperation::Replace { .. })) {
        let mut seen = BTreeSet::new();
        ops.reverse();
        ops.retain(|op| seen.insert(op.path().to_string()));
        ops.reverse();
    }
    Patch::from_ops(ops)
}

/// The operations that turn one value of a part into another, with pointers into the document.
fn diff_part(before: &SubjectPart, after: &SubjectPart) -> Vec<Value> {
    let changes = Patch::diff(&before.value, &after.value);
    let Ok(Value::Array(mut operations)) = serde_json::to_value(changes) else { return Vec::new() };
    for operation in &mut operations {
        for member in ["path", "from"] {
            if let Some(Value::String(pointer)) = operation.get_mut(member) {
                pointer.insert_str(0, &after.pointer);
            }
        }
    }
    operations
}

/// The protocol's document definition and transition that an event of this run refers to.
pub(crate) fn find_transition<'p>(
    protocol: &'p Protocol,
    workflow: &str,
    index: usize,
) -> Option<(&'p DocumentDefinition, &'p WorkflowTransition)> {
    let workflow = protocol.find_workflow(workflow).ok()?;
    Some((protocol.document_for(workflow), workflow.transitions.get(index)?))
}
