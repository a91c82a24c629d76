//! Asking whoever sits at the terminal what a run waits for.

use std::path::Path;

use countersign_core::run::{Incoming, State, Wait, WaitKind, WaitShape};
use serde_json::Value;

use super::answer::{brought, meant};
use crate::exit::Error;
use crate::house::House;
use crate::{output, terminal};

/// Asks for everything that waits for a person here. False where nobody answered.
pub(super) async fn ask(house: &House, state: &State) -> Result<bool, Error> {
    let mut moved = false;
    for wait in state.waits.values() {
        let by = house.settings.user();
        if wait.who.as_ref().is_some_and(|who| *who != by) {
            continue;
        }
        let Some(what) = asked(house, wait, &by).await? else { continue };
        match house.engine.give(&state.run, what, None).await {
            Ok(_) => {
                moved = true;
                // One answer may have ended the phase, and the other questions with it.
                break;
            }
            Err(countersign_runtime::engine::EngineError::Rejected(rejection)) => {
                output::talk(&format!("  not taken: {rejection}"));
                moved = true;
            }
            Err(other) => return Err(other.into()),
        }
    }
    Ok(moved)
}

async fn asked(house: &House, wait: &Wait, by: &str) -> Result<Option<Incoming>, Error> {
    let (id, by) = (wait.id.clone(), by.to_owned());
    Ok(match wait.kind {
        WaitKind::Question => {
            let choices = match &wait.shape {
                Some(WaitShape::Choices { choices }) => {
                    let ids: Vec<&str> = choices.iter().map(|choice| choice.id.as_str()).collect();
                    format!(" [{}]", ids.join(" / "))
                }
                _ => String::new(),
            };
            let line = terminal::ask(&format!("? {}{choices}", wait.question)).await;
            line.filter(|line| !line.is_empty()).map(|line| Incoming::Answered {
                wait: id,
                value: meant(&line, Some(wait)),
                by,
            })
        }
        WaitKind::Document => {
            let line = terminal::ask(&format!("? {} (path of the file)", wait.question)).await;
            match line.filter(|line| !line.is_empty()) {
                None => None,
                Some(path) => {
                    let value: Value = brought(house, Path::new(&path), Some(wait))?;
                    Some(Incoming::Answered { wait: id, value, by })
                }
            }
        }
        WaitKind::Approval | WaitKind::Budget | WaitKind::Trouble => {
            let line =
                terminal::ask(&format!("? {} [y/n, or nothing to leave it]", wait.question)).await;
            let approve = match line.as_deref().map(str::trim) {
                Some("y" | "Y" | "yes") => true,
                Some("n" | "N" | "no") => false,
                _ => return Ok(None),
            };
            Some(Incoming::Decided { wait: id, approve, by, note: None })
        }
        WaitKind::Work => None,
    })
}
