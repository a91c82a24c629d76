//! Replay: folds a log, checks its hash chain, repeats every decision and compares the results byte
//! by byte.

use std::collections::BTreeMap;

use countersign_protocol::Protocol;
use thiserror::Error;

use super::decide::{compute_subject_digest, find_transition};
use super::event::RunEvent;
use super::log_chain::{GENESIS_HASH, RunLogEntry, seal_entry};
use super::{CorruptLogError, InputRejection, RunState, apply, decide};

/// The result of a successful verification.
#[derive(Debug)]
pub struct LogVerification {
    /// Number of events in the log.
    pub events: u64,
    /// Number of inputs that were decided again.
    pub versions: u64,
    /// Hash of the last entry.
    pub hash: String,
    /// State of the run after the last event.
    pub state: RunState,
}

/// Why a log failed verification.
#[derive(Debug, Error)]
pub enum VerificationError {
    /// The log cannot be folded.
    #[error(transparent)]
    Corrupt(#[from] CorruptLogError),
    /// An input that was accepted then is rejected now.
    #[error("version {version}: its input is rejected when it is decided again: {source}")]
    Rejected {
        /// Version of the run that the entry records.
        version: u64,
        /// Why the input is rejected.
        source: InputRejection,
    },
    /// Repeating a decision gives another result.
    #[error(
        "version {version}, event {seq}: repeating the decision gives\n  {decided}\nbut the log has\n  {recorded}"
    )]
    Differs {
        /// Version of the run that the entry records.
        version: u64,
        /// Number of the first event that differs.
        seq: u64,
        /// What is decided now, as JSON.
        decided: String,
        /// What the log contains, as JSON.
        recorded: String,
    },
    /// The events agree, but folding them gives another state than the decision did.
    #[error("version {version}: folding its events does not give the state that was decided")]
    FoldMismatch {
        /// Version of the run that the entry records.
        version: u64,
    },
    /// A transition was taken for a document that nobody approved.
    #[error(
        "version {version}: the transition to `{to}` was taken, but nobody approved its subject"
    )]
    NotApproved {
        /// Version of the run that the entry records.
        version: u64,
        /// Id of the phase that the transition leads to.
        to: String,
    },
    /// A call was made that nobody approved.
    #[error("version {version}: call `{action}` has a result, but nobody approved it")]
    CallNotApproved {
        /// Version of the run that the entry records.
        version: u64,
        /// Id of the action.
        action: String,
    },
    /// A version does not begin with its input.
    #[error("event {seq}: a version must begin with its input, found `{kind}`")]
    MissingInput {
        /// Number of the first event of the version.
        seq: u64,
        /// Kind of that event; `nothing` if the version has no events.
        kind: &'static str,
    },
}

/// Verifies a log: the hash chain is intact, every decision gives the same events, and the state is
/// the fold of the events.
///
/// A log that lacks whole versions at its end still verifies. To detect that, compare the hash with
/// one stored elsewhere.
pub fn verify(
    protocol: &Protocol,
    run: &str,
    log: &[RunLogEntry],
) -> Result<LogVerification, VerificationError> {
    let mut state = RunState::new(run);
    let mut hash = GENESIS_HASH.to_owned();
    for (index, kept) in log.iter().enumerate() {
        let (version, seq) = (state.version + 1, state.seq + 1);
        if kept.first_seq != seq {
            return Err(CorruptLogError::OutOfOrder { expected: seq, found: kept.first_seq }.into());
        }
        let events = kept.decode_events(run)?;
        let input = match events.first() {
            Some(RunEvent::InputReceived { input }) => input,
            Some(other) => return Err(VerificationError::MissingInput { seq, kind: other.kind() }),
            None => return Err(VerificationError::MissingInput { seq, kind: "nothing" }),
        };
        let step = decide(protocol, &state, input)
            .map_err(|source| VerificationError::Rejected { version, source })?;
        let again = seal_entry(&state, &step.state, &step.events, &hash);
        if kept.body != again.body {
            return Err(describe_difference(&again, &step.events, kept, &events));
        }
        if kept.hash != again.hash {
            let (expected, found) = (again.hash, kept.hash.clone());
            return Err(CorruptLogError::HashMismatch { version, expected, found }.into());
        }
        let digests = match events.first() {
            Some(RunEvent::InputReceived { input }) => input.file_digests.clone(),
            _ => BTreeMap::new(),
        };
        for event in &events {
            check_approval(protocol, &state, event, (version, &digests))?;
            check_call_approval(&state, event, version)?;
            apply(&mut state, event)?;
        }
        // Every decision starts from the fold, so a difference shows by the last version.
        if index + 1 == log.len() && state != step.state {
            return Err(VerificationError::FoldMismatch { version });
        }
        hash = again.hash;
    }
    Ok(LogVerification { events: state.seq, versions: state.version, hash, state })
}

/// Checks that a transition with a manual gate was taken only after somebody approved exactly what
/// the document contained then.
fn check_approval(
    protocol: &Protocol,
    state: &RunState,
    event: &RunEvent,
    (version, digests): (u64, &BTreeMap<String, Option<String>>),
) -> Result<(), VerificationError> {
    let RunEvent::TransitionTaken { transition: Some(index), approved_subject, to, .. } = event
    else {
        return Ok(());
    };
    let Some((definition, transition)) = find_transition(protocol, &state.workflow, *index) else {
        return Ok(());
    };
    let digest = compute_subject_digest(definition, transition, &state.document, digests);
    let decision = state.decisions.get(index).filter(|decision| decision.approve);
    let approved = decision.and_then(|decision| decision.subject.clone());
    if digest == *approved_subject && (digest.is_none() || digest == approved) {
        return Ok(());
    }
    Err(VerificationError::NotApproved { version, to: to.clone() })
}

/// Checks that a call has a result only if nobody had to approve it, or somebody approved exactly
/// its arguments.
fn check_call_approval(
    state: &RunState,
    event: &RunEvent,
    version: u64,
) -> Result<(), VerificationError> {
    let RunEvent::InputReceived { input } = event else { return Ok(()) };
    let Some(action) = input.payload.action() else { return Ok(()) };
    if state.check_call_approved(action) {
        return Ok(());
    }
    Err(VerificationError::CallNotApproved { version, action: action.to_owned() })
}

/// Reports the first event that differs, or the whole text if only the text differs.
fn describe_difference(
    again: &RunLogEntry,
    decided: &[RunEvent],
    kept: &RunLogEntry,
    events: &[RunEvent],
) -> VerificationError {
    let version = again.version;
    let text = |event: Option<&RunEvent>| {
        let text = |event| serde_json::to_string(event).expect("events serialize to JSON");
        event.map_or_else(|| "nothing".to_owned(), text)
    };
    let longest = decided.len().max(events.len());
    let first = (0..longest).find(|index| decided.get(*index) != events.get(*index));
    match first {
        Some(index) => {
            let (again_text, kept) = (text(decided.get(index)), text(events.get(index)));
            VerificationError::Differs {
                version,
                seq: again.first_seq + index as u64,
                decided: again_text,
                recorded: kept,
            }
        }
        None => {
            let (again_text, kept) = (again.body.clone(), kept.body.clone());
            VerificationError::Differs {
                version,
                seq: again.first_seq,
                decided: again_text,
                recorded: kept,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use countersign_contract::contract::ContractRegistry;
    use countersign_protocol::load_protocol;
    use serde_json::json;

    use super::*;
    use crate::Timestamp;
    use crate::input::{InputKind, RunInput, RunStart};
    use crate::log_chain::hash_entry;

    const INDEX: &str = "name: t
version: 1.0.0
default_workflow: main
policy: { approvals: [ { calls: write } ] }
";
    const MAIN: &str = "id: main
phases:
  - { id: check }
  - { id: pay, do: { write: { path: paid.txt, content: state.amount } } }
  - { id: done, terminal: true }
transitions:
  - { from: check, to: pay, gate: { type: manual, subject: [/amount] } }
  - { from: pay, to: done }
";

    fn test_protocol() -> Protocol {
        let files = [("index.yaml", INDEX), ("workflows/main.yaml", MAIN)];
        load_protocol(files.into_iter().collect(), &ContractRegistry::default())
            .expect("it loads")
            .protocol
    }

    /// The log of a run that pays after two approvals: of the amount, and of the call.
    fn write_log(protocol: &Protocol) -> Vec<RunLogEntry> {
        let (mut state, mut log) = (RunState::new("r"), Vec::<RunLogEntry>::new());
        let start = RunStart {
            protocol: protocol.digest.clone(),
            workflow: "main".to_owned(),
            document: Some(json!({ "amount": 1420.5 })),
            ..RunStart::default()
        };
        let mut payload = InputKind::Start(Box::new(start));
        for second in 0..4 {
            let input = RunInput {
                time: Timestamp(second * 1_000),
                idempotency_key: None,
                sender: None,
                files: BTreeMap::new(),
                file_digests: BTreeMap::new(),
                payload,
            };
            let step = decide(protocol, &state, &input).expect("it is taken");
            let hash = log.last().map_or(GENESIS_HASH, |last| &last.hash);
            log.push(seal_entry(&state, &step.state, &step.events, hash));
            state = step.state;
            payload = match (state.waits.values().next(), state.pending.keys().next()) {
                (Some(wait), _) => wait.decide(true, "anna", None),
                (None, Some(action)) => InputKind::EffectFinished {
                    action: action.clone(),
                    result: json!({ "path": "paid.txt" }),
                },
                (None, None) => break,
            };
        }
        assert!(state.end.is_some(), "it paid: {state:?}");
        log
    }

    /// The states before each event of a log, with the events.
    fn replay_events(log: &[RunLogEntry]) -> Vec<(RunState, RunEvent)> {
        let mut state = RunState::new("r");
        let events = log.iter().flat_map(|entry| entry.decode_events("r").expect("events"));
        let mut steps = Vec::new();
        for event in events {
            steps.push((state.clone(), event.clone()));
            apply(&mut state, &event).expect("it applies");
        }
        steps
    }

    #[test]
    fn what_was_done_is_compared_with_what_was_approved() {
        let protocol = test_protocol();
        let log = write_log(&protocol);
        verify(&protocol, "r", &log).expect("it verifies");
        let (mut transitions, mut calls) = (0, 0);
        for (state, event) in replay_events(&log) {
            let digests = BTreeMap::new();
            let check = |state: &RunState, event: &RunEvent| {
                check_approval(&protocol, state, event, (2, &digests))
            };
            check(&state, &event).expect("it was approved");
            check_call_approval(&state, &event, 4).expect("it was approved");
            if let RunEvent::TransitionTaken { approved_subject: Some(_), .. } = &event {
                transitions += 1;
                let mut paid = (*state.document).clone();
                paid["amount"] = json!(9_000);
                let other = RunState { document: paid.into(), ..state.clone() };
                let unsigned = RunState { decisions: BTreeMap::new(), ..state.clone() };
                let mut denied = state.clone();
                denied.decisions.values_mut().for_each(|decision| decision.approve = false);
                for state in [other, unsigned, denied] {
                    let error = check(&state, &event).expect_err("nobody approved that");
                    assert!(matches!(error, VerificationError::NotApproved { version: 2, .. }));
                }
                let mut event = event.clone();
                if let RunEvent::TransitionTaken { approved_subject, .. } = &mut event {
                    *approved_subject = None;
                }
                check(&state, &event).expect_err("the log must name the digest");
            }
            if matches!(&event, RunEvent::InputReceived { input } if input.payload.action().is_some())
            {
                calls += 1;
                let mut other = state.clone();
                other.approved_calls.values_mut().for_each(|digest| digest.push('0'));
                let mut held = state.clone();
                held.held_calls.append(&mut held.approved_calls);
                for state in [other, held] {
                    let error = check_call_approval(&state, &event, 4).expect_err("not approved");
                    assert!(matches!(error, VerificationError::CallNotApproved { version: 4, .. }));
                }
            }
        }
        assert_eq!((transitions, calls), (1, 1));
    }

    /// Whoever can write the store changes the amount everywhere, and seals the log again.
    #[test]
    fn another_amount_under_the_same_signature_does_not_verify() {
        let protocol = test_protocol();
        let mut hash = GENESIS_HASH.to_owned();
        let mut forged = write_log(&protocol);
        let mut seen = 0;
        for entry in &mut forged {
            seen += entry.body.matches("1420.5").count();
            entry.body = entry.body.replace("1420.5", "9000.5");
            entry.hash = hash_entry(&hash, &entry.body);
            hash.clone_from(&entry.hash);
        }
        assert!(seen > 2, "the amount stands in the document, the subject and the call");
        let error = verify(&protocol, "r", &forged).expect_err("nobody signed 9000.5");
        assert!(!error.to_string().contains("hash"), "the chain itself is sound: {error}");
    }
}
