//! Runs a program that the policy declares, and converts its output into a result.

use std::process::ExitStatus;
use std::time::Duration;

use countersign_protocol::{ProgramDefinition, ProtocolPolicy};
use serde_json::{Value, json};

use super::lossless_json::parse_lossless;
use super::{EffectError, EffectErrorKind};
use crate::program::{
    CapturedOutput, ProgramError, ProgramInvocation, ProgramOutput, STDERR_LIMIT, launch_program,
};
use crate::workspace::Workspace;

/// Returns the program with this name, if the policy declares it.
pub(super) fn find_program<'p>(
    name: &str,
    policy: &'p ProtocolPolicy,
) -> Result<&'p ProgramDefinition, EffectError> {
    policy.programs.get(name).ok_or_else(|| {
        let message = format!("the policy declares no program `{name}`");
        EffectError::new_permanent(EffectErrorKind::NotAllowed, message)
    })
}

/// Runs a program under an action id, which the program receives in `COUNTERSIGN_ACTION_ID`.
pub(super) async fn run_program(
    name: &str,
    program: &ProgramDefinition,
    args: &[String],
    input: Option<&Value>,
    id: &str,
    workspace: &Workspace,
) -> Result<Value, EffectError> {
    let input = input.map(Value::to_string).unwrap_or_default();
    let finished = launch_program(ProgramInvocation {
        command: &program.command,
        args,
        working_folder: workspace.path(),
        inherited_env: &program.environment,
        env: &[("COUNTERSIGN_ACTION_ID", id)],
        stdin: input.as_bytes(),
        timeout: Duration::from_millis(program.timeout.millis.unsigned_abs()),
    })
    .await;
    match finished {
        Ok(finished) if finished.status.success() => Ok(output_to_json(&finished)),
        Ok(finished) => Err(build_exit_error(name, &finished)),
        Err(ProgramError::TimedOut { stderr, .. }) => {
            let message =
                format!("program `{name}` took longer than {} and was stopped", program.timeout);
            let detail = json!({ "stderr": stderr.to_text() });
            Err(EffectError::new_transient(EffectErrorKind::TimedOut, message).with_detail(detail))
        }
        Err(error @ (ProgramError::EmptyCommand | ProgramError::NotFound { .. })) => {
            let message = format!("program `{name}`: {error}");
            Err(EffectError::new_permanent(EffectErrorKind::NotConfigured, message))
        }
        Err(error) => {
            let message = format!("program `{name}`: {error}");
            Err(EffectError::new_transient(EffectErrorKind::Unavailable, message))
        }
    }
}

/// Returns `code`, `stdout` and `stderr`, `json` if standard output is JSON, and `truncated` if it
/// was cut.
fn output_to_json(finished: &ProgramOutput) -> Value {
    let stdout = finished.stdout.to_text();
    let mut result = json!({
        "code": finished.status.code(),
        "stdout": stdout,
        "stderr": finished.stderr.to_text(),
    });
    if finished.stdout.truncated {
        result["truncated"] = json!(true);
    } else if let Some(value) = parse_lossless(&stdout) {
        result["json"] = value;
    }
    result
}

fn build_exit_error(name: &str, finished: &ProgramOutput) -> EffectError {
    let mut stdout = finished.stdout.clone();
    stdout.bytes.truncate(STDERR_LIMIT);
    let detail = json!({
        "code": finished.status.code(),
        "stdout": CapturedOutput::to_text(&stdout),
        "stderr": finished.stderr.to_text(),
    });
    let message = format!("program `{name}` ended with {}", describe_exit(finished.status));
    // A program killed by a signal may succeed next time; one that exits with an error code will
    // repeat it.
    let error = match finished.status.code() {
        Some(_) => EffectError::new_permanent(EffectErrorKind::Failed, message),
        None => EffectError::new_transient(EffectErrorKind::Failed, message),
    };
    error.with_detail(detail)
}

fn describe_exit(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("code {code}"),
        None => status.to_string(),
    }
}
