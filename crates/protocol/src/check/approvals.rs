//! Finds approvals that nobody can deny to any effect, and approvals of what others may write.

use countersign_contract::source::Diagnostic;

use super::standalone_workflows;
use super::wording::format_pointer;
use crate::load::is_within;
use crate::{
    DecisionTrigger, GateCheck, PhaseWork, Protocol, WorkflowDefinition, WorkflowPhase,
    WorkflowTransition,
};

pub(super) fn check(protocol: &Protocol) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for workflow in standalone_workflows::find_standalone_workflows(protocol) {
        for transition in &workflow.transitions {
            let Some(phase) = workflow.find_phase(&transition.from) else { continue };
            findings.extend(check_denial(workflow, phase, transition));
            findings.extend(check_subject_authority(phase, transition));
        }
    }
    findings
}

/// Reports a manual gate whose denial leads nowhere.
fn check_denial(
    workflow: &WorkflowDefinition,
    phase: &WorkflowPhase,
    transition: &WorkflowTransition,
) -> Option<Diagnostic> {
    let GateCheck::Manual { .. } = transition.gate.as_ref()?.check else { return None };
    let leads_out = |other: &WorkflowTransition| {
        other.from == transition.from && other.after == Some(DecisionTrigger::Denied)
    };
    if phase.terminal || workflow.transitions.iter().any(leads_out) {
        return None;
    }
    let message = format!(
        "a denial of the approval in `{}` leads nowhere: the run waits until a person resumes it",
        phase.id
    );
    let hint = format!("add a transition: `{{ from: {}, to: PHASE, after: denied }}`", phase.id);
    let fault = transition.origin.child("gate").diagnose("denial_without_transition", message);
    Some(fault.into_warning().with_hint(Some(hint)))
}

/// Reports a phase in which others may write what is being approved.
fn check_subject_authority(
    phase: &WorkflowPhase,
    transition: &WorkflowTransition,
) -> Option<Diagnostic> {
    let gate = transition.gate.as_ref()?;
    let GateCheck::Manual { subject, .. } = &gate.check else { return None };
    // While a phase has work, `writes` is the authority of the one who does it.
    let PhaseWork::None = phase.work else { return None };
    let writes = phase.writes.as_deref().unwrap_or_default();
    let overlaps = |written: &&String| {
        subject.is_empty()
            || subject.iter().any(|part| is_within(part, written) || is_within(written, part))
    };
    let written = writes.iter().find(overlaps)?;
    let message = format!(
        "phase `{}` lets others write {} while it is being approved; each change asks for the approval anew",
        phase.id,
        format_pointer(written)
    );
    let hint = "let an earlier phase write it, or name with `subject` only what does not change";
    let fault = transition.origin.child("gate").diagnose("approved_part_writable", message);
    Some(fault.into_warning().with_hint(Some(hint.to_owned())))
}
