//! Hooks: a fixed patch, or a program that receives JSON and answers with JSON.
//!
//! Every failure of the program becomes an abort with a reason; a hook never fails silently or
//! partially. The core decides what the answer means for the run.

use std::time::Duration;

use countersign_contract::json::{RepairLevel, parse_json};
use countersign_protocol::{HookDefinition, ProtocolPolicy};
use serde_json::Value;

use crate::program::{ProgramError, ProgramInvocation, ProgramOutput, launch_program};
use crate::workspace::Workspace;

/// Maximum length of an abort reason, in characters.
const MAX_REASON_CHARS: usize = 1_000;

/// The result of a hook.
#[derive(Debug, Clone, PartialEq)]
pub enum HookResult {
    /// The run continues unchanged.
    Ok,
    /// The hook refuses to let the run continue.
    Abort {
        /// Why the hook aborted, as text for people; at most 1000 characters when a program gives
        /// it.
        reason: String,
    },
    /// The run continues with a changed document.
    Patch {
        /// The patch operations, as defined by RFC 6902.
        ops: Value,
    },
    /// The run continues in another phase.
    Redirect {
        /// Name of the target phase; never empty.
        to: String,
    },
}

/// Runs a hook. A program receives `context` on standard input and `id` in the environment variable
/// `COUNTERSIGN_ACTION_ID`.
pub async fn run_hook(
    hook: &HookDefinition,
    context: &Value,
    id: &str,
    policy: &ProtocolPolicy,
    workspace: &Workspace,
) -> HookResult {
    let (name, timeout) = match hook {
        HookDefinition::Patch { ops, .. } => return HookResult::Patch { ops: ops.clone() },
        HookDefinition::Program { program, timeout, .. } => (program, timeout),
    };
    let Some(program) = policy.programs.get(name) else {
        return build_abort(name, "the policy declares no program of that name");
    };
    let limit = timeout.unwrap_or(program.timeout);
    let finished = launch_program(ProgramInvocation {
        command: &program.command,
        args: &[],
        working_folder: workspace.path(),
        inherited_env: &program.environment,
        env: &[("COUNTERSIGN_ACTION_ID", id)],
        stdin: context.to_string().as_bytes(),
        timeout: Duration::from_millis(limit.millis.unsigned_abs()),
    })
    .await;
    match finished {
        Ok(finished) => parse_output(name, &finished),
        Err(ProgramError::TimedOut { .. }) => {
            build_abort(name, &format!("it took longer than {limit} and was stopped"))
        }
        Err(error) => build_abort(name, &error.to_string()),
    }
}

fn parse_output(name: &str, finished: &ProgramOutput) -> HookResult {
    if !finished.status.success() {
        return build_abort(name, &format!("it ended with {}", finished.status));
    }
    if finished.stdout.truncated {
        return build_abort(name, "its answer is longer than 1 MiB");
    }
    let Ok(text) = str::from_utf8(&finished.stdout.bytes) else {
        return build_abort(name, "its answer is not UTF-8");
    };
    let value = match parse_json(text, RepairLevel::None) {
        Ok(reading) if reading.data_losses.is_empty() => reading.value,
        Ok(_) => {
            return build_abort(
                name,
                "its answer has a duplicate key or a number that is too large",
            );
        }
        Err(stop) => {
            return build_abort(
                name,
                &format!("its answer is not valid JSON at byte {}", stop.span.start),
            );
        }
    };
    parse_result(&value).unwrap_or_else(|fault| build_abort(name, &fault))
}

fn parse_result(value: &Value) -> Result<HookResult, String> {
    let Some(answer) = value.as_object() else {
        return Err("its answer is not an object".to_owned());
    };
    let expected = "`ok`, `abort`, `patch` or `redirect`";
    let result = match answer.get("result") {
        Some(Value::String(result)) => result.as_str(),
        Some(_) => return Err(format!("its `result` is not a string; expected {expected}")),
        None => return Err(format!("its answer has no `result`; expected {expected}")),
    };
    let field = match result {
        "ok" => None,
        "abort" => Some("reason"),
        "patch" => Some("ops"),
        "redirect" => Some("to"),
        _ => return Err(format!("its `result` is not one of {expected}")),
    };
    if let Some(other) = answer.keys().find(|key| *key != "result" && Some(key.as_str()) != field) {
        let other: String = other.chars().take(40).flat_map(char::escape_debug).collect();
        return Err(format!("its answer has a field `{other}`, which `{result}` does not accept"));
    }
    match (result, field.and_then(|field| answer.get(field))) {
        ("ok", _) => Ok(HookResult::Ok),
        ("abort", None) => Err("it returned `abort` without a `reason`".to_owned()),
        ("abort", Some(Value::String(reason))) => {
            Ok(HookResult::Abort { reason: reason.chars().take(MAX_REASON_CHARS).collect() })
        }
        ("patch", Some(ops @ Value::Array(_))) => Ok(HookResult::Patch { ops: ops.clone() }),
        ("redirect", Some(Value::String(to))) if !to.is_empty() => {
            Ok(HookResult::Redirect { to: to.clone() })
        }
        ("abort", _) => Err("it returned `abort`, but its `reason` is not a string".to_owned()),
        ("patch", _) => Err("it returned `patch`, but its `ops` are not a list".to_owned()),
        _ => Err("it returned `redirect`, but its `to` does not name a phase".to_owned()),
    }
}

fn build_abort(name: &str, reason: &str) -> HookResult {
    HookResult::Abort { reason: format!("hook program `{name}`: {reason}") }
}
