//! Waits nobody set an end to, and gates asked again though nothing can have changed.

use super::finding::names;
use super::whole;
use super::written::STATE;
use crate::protocol::{Check, Phase, Protocol, Question, Shape, Transition, Work};
use crate::spec::Diagnostic;

pub(super) fn check(protocol: &Protocol) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for workflow in whole::workflows(protocol) {
        for phase in &workflow.phases {
            if let Work::Ask(questions) = &phase.work {
                findings.extend(questions.iter().enumerate().filter_map(|(index, question)| {
                    question_without_deadline(phase, questions.len(), index, question)
                }));
            }
        }
        for way in &workflow.transitions {
            let Some(phase) = workflow.phase(&way.from) else { continue };
            findings.extend(approval_without_deadline(phase, way));
            findings.extend(retry_without_change(phase, way));
        }
    }
    findings
}

fn question_without_deadline(
    phase: &Phase,
    count: usize,
    index: usize,
    question: &Question,
) -> Option<Diagnostic> {
    if question.deadline.is_some() || phase.timeout.is_some() {
        return None;
    }
    let ask = phase.origin.child("ask");
    let listed = ask.tree.value.pointer(&ask.pointer).is_some_and(serde_json::Value::is_array);
    let origin = if listed { ask.child(&index.to_string()) } else { ask };
    let waited = match (&question.shape, count > 1) {
        (Shape::Document { .. }, true) => format!("the document `{}`", question.id),
        (Shape::Document { .. }, false) => "a document".to_owned(),
        (Shape::Value(_) | Shape::Computed(_) | Shape::Choices(_), true) => {
            format!("an answer to `{}`", question.id)
        }
        (Shape::Value(_) | Shape::Computed(_) | Shape::Choices(_), false) => "an answer".to_owned(),
    };
    let message = format!("phase `{}` waits for {waited} without end: no deadline", phase.id);
    let hint = "say `deadline: 2d` here, or `timeout` on the phase, and what follows then";
    let origin = origin.child("question");
    let fault = origin.fault("wait_without_deadline", message);
    Some(fault.warning().hinting(Some(hint.to_owned())))
}

fn approval_without_deadline(phase: &Phase, way: &Transition) -> Option<Diagnostic> {
    let Some(Check::Manual { deadline: None, .. }) = way.gate.as_ref().map(|gate| &gate.check)
    else {
        return None;
    };
    if phase.timeout.is_some() || phase.terminal {
        return None;
    }
    let message = format!(
        "the way from `{}` to `{}` waits for an approval without end: no deadline",
        way.from, way.to
    );
    let hint = "say `deadline: 2d` in the gate, or `timeout` on the phase";
    let fault = way.origin.child("gate").fault("wait_without_deadline", message);
    Some(fault.warning().hinting(Some(hint.to_owned())))
}

/// A gate is asked when the work of its phase is done; then only the next phase changes the document.
fn retry_without_change(phase: &Phase, way: &Transition) -> Option<Diagnostic> {
    let gate = way.gate.as_ref()?;
    gate.retry?;
    let still = match &gate.check {
        Check::Expression(expr) => expr.reads().iter().all(|read| read.slot == STATE),
        Check::Status { .. } => true,
        Check::File { .. } | Check::FileAt { .. } | Check::Manual { .. } => false,
    };
    // Without work anybody may hand in a patch; a hook's patch may come later.
    if !still || matches!(phase.work, Work::None) || phase.on_enter.is_some() {
        return None;
    }
    let message = format!(
        "asking again cannot help: the gate reads only the document, and nothing changes it while \
         the run waits in {}",
        names([phase.id.as_str()])
    );
    let hint = "drop `retry`; send the run back to a phase that changes what the gate reads";
    let fault = way.origin.child("gate").child("retry").fault("retry_without_change", message);
    Some(fault.warning().hinting(Some(hint.to_owned())))
}
