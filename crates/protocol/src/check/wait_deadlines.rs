//! Finds waits without a deadline, and gates with retries although nothing can have changed.

use countersign_contract::source::Diagnostic;

use super::located_expressions::STATE_SLOT;
use super::standalone_workflows;
use super::wording::format_names;
use crate::{
    AnswerShape, GateCheck, PhaseQuestion, PhaseWork, Protocol, WorkflowPhase, WorkflowTransition,
};

pub(super) fn check(protocol: &Protocol) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for workflow in standalone_workflows::find_standalone_workflows(protocol) {
        for phase in &workflow.phases {
            if let PhaseWork::Ask(questions) = &phase.work {
                findings.extend(questions.iter().enumerate().filter_map(|(index, question)| {
                    check_question_deadline(phase, questions.len(), index, question)
                }));
            }
        }
        for transition in &workflow.transitions {
            let Some(phase) = workflow.find_phase(&transition.from) else { continue };
            findings.extend(check_approval_deadline(phase, transition));
            findings.extend(check_retry(phase, transition));
        }
    }
    findings
}

fn check_question_deadline(
    phase: &WorkflowPhase,
    count: usize,
    index: usize,
    question: &PhaseQuestion,
) -> Option<Diagnostic> {
    if question.deadline.is_some() || phase.timeout.is_some() {
        return None;
    }
    let ask = phase.origin.child("ask");
    let listed = ask.tree.value.pointer(&ask.pointer).is_some_and(serde_json::Value::is_array);
    let origin = if listed { ask.child(&index.to_string()) } else { ask };
    let waited = match (&question.shape, count > 1) {
        (AnswerShape::Document { .. }, true) => format!("the document `{}`", question.id),
        (AnswerShape::Document { .. }, false) => "a document".to_owned(),
        (AnswerShape::Value(_) | AnswerShape::Computed(_) | AnswerShape::Choices(_), true) => {
            format!("an answer to `{}`", question.id)
        }
        (AnswerShape::Value(_) | AnswerShape::Computed(_) | AnswerShape::Choices(_), false) => {
            "an answer".to_owned()
        }
    };
    let message = format!("phase `{}` waits for {waited} with no deadline", phase.id);
    let hint = "add `deadline: 2d` here or `timeout` to the phase, and say what happens then";
    let origin = origin.child("question");
    let fault = origin.diagnose("wait_without_deadline", message);
    Some(fault.into_warning().with_hint(Some(hint.to_owned())))
}

fn check_approval_deadline(
    phase: &WorkflowPhase,
    transition: &WorkflowTransition,
) -> Option<Diagnostic> {
    let Some(GateCheck::Manual { deadline: None, .. }) =
        transition.gate.as_ref().map(|gate| &gate.check)
    else {
        return None;
    };
    if phase.timeout.is_some() || phase.terminal {
        return None;
    }
    let message = format!(
        "the transition from `{}` to `{}` waits for an approval with no deadline",
        transition.from, transition.to
    );
    let hint = "add `deadline: 2d` to the gate, or `timeout` to the phase";
    let fault = transition.origin.child("gate").diagnose("wait_without_deadline", message);
    Some(fault.into_warning().with_hint(Some(hint.to_owned())))
}

/// Reports a useless retry. A gate is evaluated when the work of its phase is done; after that only
/// the next phase changes the document.
fn check_retry(phase: &WorkflowPhase, transition: &WorkflowTransition) -> Option<Diagnostic> {
    let gate = transition.gate.as_ref()?;
    gate.retry?;
    let still = match &gate.check {
        GateCheck::Expression(expr) => expr.read_paths().iter().all(|read| read.slot == STATE_SLOT),
        GateCheck::Status { .. } => true,
        GateCheck::FileExists { .. }
        | GateCheck::FileExistsTemplate { .. }
        | GateCheck::Manual { .. } => false,
    };
    // In a phase without work anyone may submit a patch, and a hook's patch may arrive later.
    if !still || matches!(phase.work, PhaseWork::None) || phase.on_enter.is_some() {
        return None;
    }
    let message = format!(
        "`retry` has no effect: the gate reads only the document, and nothing changes it while the run waits in {}",
        format_names([phase.id.as_str()])
    );
    let hint = "remove `retry`; send the run back to a phase that changes what the gate reads";
    let fault =
        transition.origin.child("gate").child("retry").diagnose("retry_without_change", message);
    Some(fault.into_warning().with_hint(Some(hint.to_owned())))
}
