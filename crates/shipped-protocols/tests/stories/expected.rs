//! What a story expects: `then` of a start or a step.
//!
//! ```yaml
//! then:
//!   phase: ask                 # where the run stands; `run: r1.2` looks at another run
//!   status: waiting            # running, waiting, halted, completed, failed
//!   waits: [question]          # the kinds of all open waits, by their ids
//!   asks: Which colour         # a part of the question of an open wait
//!   choices: [red, green]      # the ids of the choices of an open wait
//!   refused: [rule:no_such_task, required /plan]   # of the newest version: code, or code and place
//!   events: [announced TASK_DONE, blocked]         # kinds of events since the step; announced ones by name
//!   no_events: [document_changed]
//!   prompt: [parts, of, it]    # what the model that is asked now is told, system text and turns
//!   holds: [state.count === 2, run.phase === 'ask']
//!   rejected: wrong_shape      # it was not taken, and this is the code
//! ```

use countersign_contract::expr::Expr;
use countersign_protocol::Protocol;
use countersign_run::{
    InputRejection, RunEvent, RunState, WaitAnswerShape, build_run_value, render_prompt,
};
use serde_json::Value;

const KNOWN: [&str; 12] = [
    "run",
    "phase",
    "status",
    "waits",
    "asks",
    "choices",
    "refused",
    "events",
    "no_events",
    "prompt",
    "holds",
    "rejected",
];

/// Looks whether a run stands as expected.
pub(crate) fn expect(then: &Value, protocol: &Protocol, state: &RunState, transcript: &str) {
    let Some(members) = then.as_object() else { return };
    for key in members.keys() {
        assert!(KNOWN.contains(&key.as_str()), "`then` has no `{key}`");
    }
    if let Some(phase) = then["phase"].as_str() {
        assert_eq!(state.phase, phase, "{transcript}");
    }
    if let Some(status) = then["status"].as_str() {
        assert_eq!(state.status().as_str(), status, "{transcript}");
    }
    if then.get("waits").is_some() {
        let kinds: Vec<&str> = state.waits.values().map(|wait| wait.kind.as_str()).collect();
        assert_eq!(kinds, texts(&then["waits"]), "{transcript}");
    }
    for part in texts(&then["asks"]) {
        let found = state.waits.values().any(|wait| wait.question.contains(part));
        assert!(found, "nothing asks `{part}`: {:?}\n{transcript}", state.waits);
    }
    if then.get("choices").is_some() {
        let shown = state.waits.values().find_map(|wait| match &wait.answer_shape {
            Some(WaitAnswerShape::Choices { choices }) => {
                Some(choices.iter().map(|choice| choice.id.as_str()).collect::<Vec<_>>())
            }
            _ => None,
        });
        assert_eq!(shown.unwrap_or_default(), texts(&then["choices"]), "{transcript}");
    }
    if then.get("prompt").is_some() {
        let prompt = render_prompt(protocol, state)
            .unwrap_or_else(|| panic!("nobody is asked\n{transcript}"));
        let turns: Vec<String> = prompt.messages.into_iter().map(|turn| turn.text).collect();
        let all = format!("{}\n{}", prompt.system, turns.join("\n"));
        for part in texts(&then["prompt"]) {
            assert!(all.contains(part), "the prompt does not say `{part}`:\n{all}");
        }
    }
    let run = build_run_value(state);
    for source in texts(&then["holds"]) {
        let expr = Expr::compile(source, &["state", "run"])
            .unwrap_or_else(|error| panic!("{source}: {error}"));
        let held = expr.eval_bool(&[Some(&state.document), Some(&run)]);
        assert!(
            matches!(held, Ok(true)),
            "`{source}` does not hold: {held:?}\n{transcript}\n{:#}",
            state.document
        );
    }
}

/// Looks whether what happened since the step was expected.
pub(crate) fn expect_events(then: &Value, events: &[RunEvent], transcript: &str) {
    let names: Vec<String> = events
        .iter()
        .map(|event| match event {
            RunEvent::EventEmitted { name, .. } => format!("event_emitted {name}"),
            other => other.kind().to_owned(),
        })
        .collect();
    let happened = |named: &str| names.iter().any(|name| name == named);
    for name in texts(&then["events"]) {
        assert!(happened(name), "`{name}` did not happen: {names:?}\n{transcript}");
    }
    for name in texts(&then["no_events"]) {
        assert!(!happened(name), "`{name}` happened\n{transcript}");
    }
    if then.get("refused").is_some() {
        let refused = events.iter().rev().find_map(|event| match event {
            RunEvent::ReplyRefused { violations, .. } => Some(violations.as_slice()),
            _ => None,
        });
        let found =
            refused.unwrap_or_default().iter().map(|one| (one.code.to_string(), &one.pointer));
        let found: Vec<_> = found.collect();
        let wanted = texts(&then["refused"]);
        let fits = |want: &str| {
            let (code, at) =
                want.split_once(' ').map_or((want, None), |(code, at)| (code, Some(at)));
            found.iter().any(|(found, pointer)| found == code && at.is_none_or(|at| at == *pointer))
        };
        assert!(!found.is_empty(), "nothing was refused\n{transcript}");
        for want in wanted {
            assert!(fits(want), "not refused with `{want}`: {found:?}\n{transcript}");
        }
    }
}

/// Looks whether a rejection was expected.
pub(crate) fn expect_rejection(then: &Value, rejection: &InputRejection, transcript: &str) {
    let wanted = then["rejected"].as_str();
    assert_eq!(
        wanted,
        Some(rejection.code()),
        "{rejection} {:?}\n{transcript}",
        rejection.violations()
    );
}

/// A list of texts, or one.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(list) => list.iter().map(|one| one.as_str().expect("texts")).collect(),
        _ => Vec::new(),
    }
}
