//! What a model is told about a refused reply.
//!
//! A function of contract and violations: the same input gives the same bytes. Short, because a
//! long complaint makes models loop; capped, because retries must not grow a prompt without end.

use std::fmt::Write as _;

use super::intake::Intake;
use super::{Code, Violation};
use crate::contract::Contract;

/// How many tokens the text may take, as estimated by [`tokens`].
const MAX_TOKENS: usize = 400;

/// Whether asking again makes sense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reask {
    /// Ask, with this text.
    Ask(String),
    /// Do not: the budget is spent.
    Spent,
    /// Do not: the model made the very same mistakes twice in a row.
    Repeated,
}

impl Reask {
    /// Decides after the `attempt`-th refusal (the first is 1), given the refusal before it.
    #[must_use]
    pub fn after(
        contract: &Contract,
        attempt: u32,
        violations: &[Violation],
        before: Option<&[Violation]>,
    ) -> Self {
        if attempt > contract.on_violation.reask {
            return Self::Spent;
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
        Self::Ask(reask(contract, violations))
    }
}

/// The text for the model.
#[must_use]
pub fn reask(contract: &Contract, violations: &[Violation]) -> String {
    let count = violations.len();
    let noun = if count == 1 { "violation" } else { "violations" };
    let mut text =
        format!("Your reply was refused: {count} {noun} of the contract `{}`.\n", contract.id);
    let end = format!("Send the whole reply again: {}.\n", envelope(contract.intake));
    let room =
        MAX_TOKENS.saturating_sub(tokens(&text) + tokens(&end) + tokens("… and 9999 more.\n"));
    let mut used = 0;
    for (index, violation) in violations.iter().enumerate() {
        let line = line(index + 1, violation);
        used += tokens(&line);
        if used > room && index > 0 {
            let _ = writeln!(text, "… and {} more.", count - index);
            break;
        }
        text.push_str(&cut(&line, room));
    }
    text + &end
}

fn envelope(intake: Intake) -> &'static str {
    match intake {
        Intake::Strict => "one JSON object and nothing else",
        Intake::Fenced => "one JSON object, alone or in one code fence",
        Intake::Tolerant => "exactly one JSON object; do not quote another",
    }
}

fn line(number: usize, violation: &Violation) -> String {
    let Violation { pointer, expected, found, .. } = violation;
    let place = if pointer.is_empty() { "the reply" } else { pointer };
    // A rule says what must hold; everything else names what was expected.
    let verb = if matches!(violation.code, Code::Rule(_)) { "" } else { "expected " };
    let mut line = format!("{number}. {place}: {verb}{expected}; found {found}.");
    if let Some(hint) = &violation.hint {
        let _ = write!(line, " Hint: {hint}.");
    }
    line.push('\n');
    line
}

/// The line itself, or as much of it as there is room for.
fn cut(line: &str, room: usize) -> String {
    if tokens(line) <= room {
        return line.to_owned();
    }
    let mut kept = String::new();
    for character in line.chars() {
        kept.push(character);
        if tokens(&kept) >= room.saturating_sub(1) {
            break;
        }
    }
    kept.push_str("…\n");
    kept
}

/// A generous estimate that needs no vocabulary: four ASCII characters a token, one of any other.
fn tokens(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let other = text.chars().filter(|character| !character.is_ascii()).count();
    ascii.div_ceil(4) + other
}
