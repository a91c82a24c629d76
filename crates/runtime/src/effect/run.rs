//! Runs a program that the policy declares, and makes a result of what it said.

use std::process::ExitStatus;
use std::time::Duration;

use countersign_core::protocol::{Policy, Program};
use serde_json::{Value, json};

use super::lossless::lossless;
use super::{EffectError, EffectErrorKind};
use crate::program::{Captured, Finished, Launch, ProgramError, STDERR_LIMIT, launch};
use crate::workspace::Workspace;

/// The program of a name, if the policy declares it.
pub(super) fn declared<'p>(name: &str, policy: &'p Policy) -> Result<&'p Program, EffectError> {
    policy.programs.get(name).ok_or_else(|| {
        let message = format!("the policy declares no program `{name}`");
        EffectError::lasting(EffectErrorKind::NotAllowed, message)
    })
}

/// Performs one run under an id, which the program finds in `COUNTERSIGN_ACTION_ID`.
pub(super) async fn run(
    name: &str,
    program: &Program,
    args: &[String],
    input: Option<&Value>,
    id: &str,
    workspace: &Workspace,
) -> Result<Value, EffectError> {
    let input = input.map(Value::to_string).unwrap_or_default();
    let finished = launch(Launch {
        command: &program.command,
        args,
        folder: workspace.path(),
        inherits: &program.environment,
        variables: &[("COUNTERSIGN_ACTION_ID", id)],
        input: input.as_bytes(),
        limit: Duration::from_millis(program.timeout.millis.unsigned_abs()),
    })
    .await;
    match finished {
        Ok(finished) if finished.status.success() => Ok(result(&finished)),
        Ok(finished) => Err(ended_badly(name, &finished)),
        Err(ProgramError::TimedOut { stderr, .. }) => {
            let message =
                format!("program `{name}` took longer than {} and was ended", program.timeout);
            let detail = json!({ "stderr": stderr.text() });
            Err(EffectError::passing(EffectErrorKind::TimedOut, message).with_detail(detail))
        }
        Err(error @ (ProgramError::Empty | ProgramError::Missing { .. })) => {
            let message = format!("program `{name}`: {error}");
            Err(EffectError::lasting(EffectErrorKind::NotConfigured, message))
        }
        Err(error) => {
            let message = format!("program `{name}`: {error}");
            Err(EffectError::passing(EffectErrorKind::Unavailable, message))
        }
    }
}

/// `code`, `stdout`, `stderr`, `json` where standard output is JSON, and `truncated` where it was cut.
fn result(finished: &Finished) -> Value {
    let stdout = finished.stdout.text();
    let mut result = json!({
        "code": finished.status.code(),
        "stdout": stdout,
        "stderr": finished.stderr.text(),
    });
    if finished.stdout.truncated {
        result["truncated"] = json!(true);
    } else if let Some(value) = lossless(&stdout) {
        result["json"] = value;
    }
    result
}

fn ended_badly(name: &str, finished: &Finished) -> EffectError {
    let mut stdout = finished.stdout.clone();
    stdout.bytes.truncate(STDERR_LIMIT);
    let detail = json!({
        "code": finished.status.code(),
        "stdout": Captured::text(&stdout),
        "stderr": finished.stderr.text(),
    });
    let message = format!("program `{name}` ended with {}", ending(finished.status));
    // Somebody ended it from outside: that may not happen again. Its own "no" will.
    let error = match finished.status.code() {
        Some(_) => EffectError::lasting(EffectErrorKind::Failed, message),
        None => EffectError::passing(EffectErrorKind::Failed, message),
    };
    error.with_detail(detail)
}

fn ending(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("code {code}"),
        None => status.to_string(),
    }
}
