//! Ways of equal priority that can be open at once: then the order of the file decides, silently.

use serde_json::{Map, Value};

use super::effort::Effort;
use super::opening::Openings;
use super::whole;
use super::witness::{Asked, Search};
use super::written::gate_origin;
use crate::protocol::{Check, Protocol, Transition, Workflow};
use crate::reply::show;
use crate::spec::Diagnostic;

pub(super) fn check(
    protocol: &Protocol,
    openings: &Openings<'_>,
    effort: &Effort,
) -> Vec<Diagnostic> {
    let mut search = Search::of(protocol, effort);
    let mut findings = Vec::new();
    for workflow in whole::workflows(protocol) {
        search.turn_to(protocol.document_of(workflow));
        for phase in workflow.phases.iter().filter(|phase| !phase.terminal) {
            let ways = workflow.ways_out(&phase.id);
            let asked: Vec<(&Transition, Asked<'_>)> = ways
                .into_iter()
                .filter(|(index, _)| {
                    !openings.is_never(&workflow.id, *index)
                        && !openings.is_always(&workflow.id, *index)
                })
                .filter_map(|(_, way)| Some((way, asked(way)?)))
                .collect();
            of_phase(&mut search, workflow, &asked, &mut findings);
        }
    }
    findings
}

fn asked(way: &Transition) -> Option<Asked<'_>> {
    match &way.gate.as_ref()?.check {
        Check::Expression(expr) => Some(Asked::Expression(expr)),
        Check::Status { pointer, value } => Some(Asked::Status { pointer, value }),
        Check::File { .. } | Check::FileAt { .. } | Check::Manual { .. } => None,
    }
}

fn of_phase(
    search: &mut Search<'_>,
    workflow: &Workflow,
    asked: &[(&Transition, Asked<'_>)],
    findings: &mut Vec<Diagnostic>,
) {
    for (index, (later, second)) in asked.iter().enumerate() {
        let overlap = asked[..index].iter().find_map(|(earlier, first)| {
            if !search.effort.spend(1) {
                return None;
            }
            let plain =
                earlier.apply.is_empty() && later.apply.is_empty() && earlier.gives == later.gives;
            let same = earlier.to == later.to && earlier.spends == later.spends && plain;
            if earlier.priority != later.priority || same {
                return None;
            }
            let witness = search.both_open(workflow, &later.from, first, second)?;
            Some((earlier, first, witness))
        });
        if search.effort.is_spent() {
            return;
        }
        let Some((earlier, first, witness)) = overlap else { continue };
        let message = format!(
            "the ways from `{}` to `{}` and to `{}` have the same priority and can both be open: {}",
            later.from,
            earlier.to,
            later.to,
            shown(&witness, first, second)
        );
        let hint = format!(
            "the one to `{}` would be taken, as it stands first; say which comes first with \
             `priority`, or close one gate where the other is open",
            earlier.to
        );
        let origin = gate_origin(&later.origin);
        let fault = origin.fault("overlapping_gates", message);
        findings.push(fault.warning().hinting(Some(hint)));
    }
}

/// What of the witness the two gates read.
fn shown(witness: &Value, first: &Asked<'_>, second: &Asked<'_>) -> String {
    let mut read: Vec<String> = first.fields();
    read.extend(second.fields());
    let mut parts = Map::new();
    for name in read {
        if let Some(value) = witness.get(&name) {
            parts.insert(name, value.clone());
        }
    }
    if parts.is_empty() {
        return "with any document".to_owned();
    }
    let told: Vec<String> =
        parts.iter().map(|(name, value)| format!("`{name}` = {}", show(value))).collect();
    format!("with {}", told.join(", "))
}
