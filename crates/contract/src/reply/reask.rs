//! The message that tells a model why its reply was refused.
//!
//! The message depends only on the contract and the violations: the same input gives the same
//! bytes. It is short, because long complaints make models loop, and its size is limited, because
//! retries must not grow a prompt without end.

use std::fmt::Write as _;

use super::intake::IntakeMode;
use super::{Violation, ViolationCode, count_violations};
use crate::contract::Contract;

/// The limit of the message in tokens, as [`estimate_tokens`] counts them.
const MAX_REASK_TOKENS: usize = 400;

/// Whether to retry after a refused reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReaskDecision {
    /// Retry, and send this message.
    Ask(String),
    /// Do not retry: the allowed number of retries is used up.
    Exhausted,
    /// Do not retry: the model made exactly the same mistakes twice in a row.
    Repeated,
}

impl ReaskDecision {
    /// Decides after refusal number `attempt`, counted from 1. `before` holds the violations of the
    /// previous refusal. The contract's `on_violation` sets the number of retries.
    #[must_use]
    pub fn decide(
        contract: &Contract,
        attempt: u32,
        violations: &[Violation],
        before: Option<&[Violation]>,
    ) -> Self {
        Self::decide_within(contract, contract.on_violation.reask, attempt, violations, before)
    }

    /// Like [`ReaskDecision::decide`], but the caller sets the number of retries as `reasks`.
    #[must_use]
    pub fn decide_within(
        contract: &Contract,
        reasks: u32,
        attempt: u32,
        violations: &[Violation],
        before: Option<&[Violation]>,
    ) -> Self {
        if attempt > reasks {
            return Self::Exhausted;
        }
        let same = |left: &Violation, right: &Violation| {
            (&left.pointer, &left.code, &left.found) == (&right.pointer, &right.code, &right.found)
        };
        if before.is_some_and(|before| {
            before.len() == violations.len()
                && before.iter().zip(violations).all(|(left, right)| same(left, right))
        }) {
            return Self::Repeated;
        }
        Self::Ask(render_reask(contract, violations))
    }
}

/// Renders the message: the violations in order, as many as fit, and the form of the next reply.
#[must_use]
pub fn render_reask(contract: &Contract, violations: &[Violation]) -> String {
    let count = count_violations(violations);
    let noun = if count == 1 { "violation" } else { "violations" };
    let mut text =
        format!("Your reply was refused: {count} {noun} of the contract `{}`.\n", contract.id);
    let end = format!("Send the whole reply again: {}.\n", describe_envelope(contract.intake));
    let room = MAX_REASK_TOKENS.saturating_sub(
        estimate_tokens(&text) + estimate_tokens(&end) + estimate_tokens("… and 9999 more.\n"),
    );
    let mut used = 0;
    for (index, violation) in violations.iter().enumerate() {
        if violation.code == ViolationCode::MoreViolations {
            let _ = writeln!(text, "… and {} more.", count - index);
            break;
        }
        let line = render_violation(index + 1, violation);
        used += estimate_tokens(&line);
        if used > room && index > 0 {
            let _ = writeln!(text, "… and {} more.", count - index);
            break;
        }
        text.push_str(&truncate_line(&line, room));
    }
    text + &end
}

fn describe_envelope(intake: IntakeMode) -> &'static str {
    match intake {
        IntakeMode::Strict => "one JSON object and nothing else",
        IntakeMode::Fenced => "one JSON object, alone or in one code fence",
        IntakeMode::Tolerant => "exactly one JSON object; do not quote another",
    }
}

fn render_violation(number: usize, violation: &Violation) -> String {
    let Violation { pointer, expected, found, .. } = violation;
    let location = if pointer.is_empty() { "the reply" } else { pointer };
    // The text of a rule already says what must hold; other violations name what was expected.
    let verb = if matches!(violation.code, ViolationCode::Rule(_)) { "" } else { "expected " };
    let mut line = format!("{number}. {location}: {verb}{expected}; found {found}.");
    if let Some(hint) = &violation.hint {
        let _ = write!(line, " Hint: {hint}.");
    }
    line.push('\n');
    line
}

/// Returns the line, cut to `room` tokens if necessary.
fn truncate_line(line: &str, room: usize) -> String {
    if estimate_tokens(line) <= room {
        return line.to_owned();
    }
    let mut kept = String::new();
    for character in line.chars() {
        kept.push(character);
        if estimate_tokens(&kept) >= room.saturating_sub(1) {
            break;
        }
    }
    kept.push_str("…\n");
    kept
}

/// Estimates the number of tokens without a vocabulary; the estimate is rather high. Four ASCII
/// characters, or one other character, count as one token.
fn estimate_tokens(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let other = text.chars().filter(|character| !character.is_ascii()).count();
    ascii.div_ceil(4) + other
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::load_inline_contract;
    use crate::reply::{FinishReason, RuleContext};

    fn contract() -> Contract {
        load_inline_contract(
            "id: note\nversion: 1.0.0\nschema: { required: [a], properties: { a: { type: integer }, list: { items: { type: integer } } } }\nrules: [{ id: positive, then: reply.a > 0, at: /a, says: a is positive }]",
        )
        .unwrap()
    }

    fn refused(reply: &str) -> Vec<Violation> {
        contract().admit(reply, FinishReason::Stop, &RuleContext::default()).violations().to_vec()
    }

    #[test]
    fn it_says_place_expected_found_and_hint() {
        assert_eq!(
            render_reask(&contract(), &refused(r#"{"a": "1"}"#)),
            "Your reply was refused: 1 violation of the contract `note`.\n\
             1. /a: expected an integer; found \"1\". Hint: write the number without quotes.\n\
             Send the whole reply again: one JSON object and nothing else.\n"
        );
        // The text of a rule appears without "expected".
        assert!(
            render_reask(&contract(), &refused(r#"{"a": 0}"#))
                .contains("1. /a: a is positive; found 0.\n")
        );
    }

    #[test]
    fn it_stays_short_and_counts_the_rest() {
        let wrong: Vec<String> = (0..900).map(|n| format!("\"неверно {n}\"")).collect();
        let violations = refused(&format!("{{\"a\": 1, \"list\": [{}]}}", wrong.join(",")));
        assert_eq!(count_violations(&violations), 900);
        let text = render_reask(&contract(), &violations);
        assert!(estimate_tokens(&text) <= MAX_REASK_TOKENS, "{} tokens", estimate_tokens(&text));
        let listed = text.lines().filter(|line| line.contains("/list/")).count();
        assert!(text.contains(&format!("… and {} more.\n", 900 - listed)), "{text}");
        assert_eq!(text, render_reask(&contract(), &violations));
    }

    #[test]
    fn asking_ends_when_spent_or_when_nothing_changes() {
        let (first, other) = (refused(r#"{"a": "1"}"#), refused(r#"{"a": "2"}"#));
        let after = |attempt, before| ReaskDecision::decide(&contract(), attempt, &first, before);
        assert!(matches!(after(1, None), ReaskDecision::Ask(_)));
        assert!(matches!(after(2, Some(&other[..])), ReaskDecision::Ask(_)));
        assert_eq!(after(2, Some(&first[..])), ReaskDecision::Repeated);
        assert_eq!(after(3, Some(&other[..])), ReaskDecision::Exhausted);
    }
}
