//! Asks the user at the terminal for the answers that a run waits for.

use std::path::PathBuf;

use countersign_run::{InputKind, RunState, RunWait, WaitAnswerShape, WaitKind, check_assignee};
use countersign_runtime::engine::{DocumentAnswerError, EngineError};
use countersign_view::show::wait_text;

use super::answer::parse_answer;
use super::provide_document::provide_document;
use crate::context::CliContext;
use crate::exit::CliError;
use crate::{output, terminal};

/// Asks for every wait that a person can answer here. Returns `false` if there was no answer.
pub(super) async fn prompt_for_waits(
    context: &CliContext,
    state: &RunState,
) -> Result<bool, CliError> {
    let mut moved = false;
    for wait in state.waits.values() {
        let by = context.settings.user();
        let sender = context.settings.sender();
        if check_assignee(wait, &by, Some(&sender)).is_err() {
            continue;
        }
        if let Some(preview) = context.engine.preview_wait(&state.run, wait).await {
            output::print_message(&preview);
        }
        let Some(what) = prompt_for_wait(wait, &by).await? else { continue };
        let submitted = match what {
            PromptedAnswer::Input(what) => {
                context.submit_input(&state.run, what, None).await.map_err(Into::into)
            }
            PromptedAnswer::Document(file) => {
                provide_document(context, &state.run, &wait.id, &file, None).await?
            }
        };
        match submitted {
            Ok(_) => {
                moved = true;
                // One answer may have ended the phase and closed the other questions.
                break;
            }
            Err(DocumentAnswerError::Engine(EngineError::Rejected(rejection))) => {
                output::print_message(&format!("  not accepted: {rejection}"));
                moved = true;
            }
            Err(other) => return Err(other.into()),
        }
    }
    Ok(moved)
}

/// What a person entered at the terminal.
enum PromptedAnswer {
    Input(InputKind),
    Document(PathBuf),
}

async fn prompt_for_wait(wait: &RunWait, by: &str) -> Result<Option<PromptedAnswer>, CliError> {
    let (id, by) = (wait.id.clone(), by.to_owned());
    Ok(match wait.kind {
        WaitKind::Question => {
            let choices = match &wait.answer_shape {
                Some(WaitAnswerShape::Choices { choices }) => {
                    let ids: Vec<&str> = choices.iter().map(|choice| choice.id.as_str()).collect();
                    format!(" [{}]", ids.join(" / "))
                }
                _ => String::new(),
            };
            let line = terminal::prompt_line(&format!("? {}{choices}", wait.question)).await;
            line.filter(|line| !line.is_empty()).map(|line| {
                let value = parse_answer(&line, Some(wait));
                PromptedAnswer::Input(InputKind::Answered { wait: id, value, by })
            })
        }
        WaitKind::Document => {
            let line =
                terminal::prompt_line(&format!("? {} (path of the file)", wait.question)).await;
            line.filter(|line| !line.is_empty())
                .map(|path| PromptedAnswer::Document(PathBuf::from(path)))
        }
        WaitKind::Approval | WaitKind::Budget | WaitKind::Incident => {
            if let Some(subject) = wait_text::describe_subject(wait) {
                output::print_message(&subject);
            }
            let line = terminal::prompt_line(&format!(
                "? {} [y/n, or press Enter to skip]",
                wait.question
            ))
            .await;
            let approve = match line.as_deref().map(str::trim) {
                Some("y" | "Y" | "yes") => true,
                Some("n" | "N" | "no") => false,
                _ => return Ok(None),
            };
            Some(PromptedAnswer::Input(wait.decide(approve, &by, None)))
        }
        WaitKind::Work => None,
    })
}
