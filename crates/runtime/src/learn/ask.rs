//! Asking a model until its contract lets a reply in, outside of any run.

use std::sync::Arc;

use countersign_core::contract::Contract;
use countersign_core::reply::{Finish, Reask, Verdict, Violation};
use countersign_models::{Ask, Model, Role, Turn, measured};
use serde_json::Value;

use super::LearnError;
use crate::driver::meant;

/// A reply that was let in.
#[derive(Debug, Clone, PartialEq)]
pub struct Admitted {
    /// What it says.
    pub value: Value,
    /// How often the model was asked.
    pub attempts: u32,
    /// How many mends the reply needed.
    pub repairs: usize,
}

/// What is heard while a model is asked.
#[derive(Debug)]
pub enum Heard<'a> {
    /// It writes this.
    Writing(&'a str),
    /// Its reply was refused for these reasons.
    Refused(&'a [Violation]),
}

/// Asks a model, and again as often as the contract says: each time with everything that was wrong. `admit` holds
/// a reply against the contract and whatever its rules read.
pub async fn ask(
    model: &dyn Model,
    contract: &Arc<Contract>,
    mut question: Ask,
    admit: &(dyn Fn(&str, Finish) -> Verdict + Sync),
    heard: &mut (dyn FnMut(Heard<'_>) + Send),
) -> Result<Admitted, LearnError> {
    question.contract = Some(Arc::clone(contract));
    let (mut attempts, mut before) = (1, None);
    loop {
        let mut live = |text: &str| heard(Heard::Writing(text));
        let answer = measured(model, &question, None, &mut live).await?;
        let mended = meant(&answer, Some(contract)).map(|(text, _)| text);
        let nulls = usize::from(mended.is_some());
        let said = mended.unwrap_or_else(|| answer.text.clone());
        let violations = match admit(&said, answer.finish) {
            Verdict::Accepted(accepted) => {
                let repairs = accepted.repairs().len() + nulls;
                return Ok(Admitted { value: accepted.into_value(), attempts, repairs });
            }
            Verdict::Refused(violations) => violations,
        };
        heard(Heard::Refused(&violations));
        match Reask::after(contract, attempts, &violations, before.as_deref()) {
            Reask::Ask(complaint) => {
                question.turns.push(Turn { role: Role::Assistant, text: answer.text });
                question.turns.push(Turn { role: Role::User, text: complaint });
                (attempts, before) = (attempts + 1, Some(violations));
            }
            Reask::Spent | Reask::Repeated => {
                let (model, contract) = (model.name().to_owned(), contract.id.clone());
                return Err(LearnError::Refused { model, contract, attempts, violations });
            }
        }
    }
}
