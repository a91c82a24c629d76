//! `countersign diff RUN BEFORE [AFTER]`: shows the changes between two versions of the document.

use std::fmt::Write as _;

use countersign_contract::patch::{Patch, PatchOperation};
use serde_json::{Value, json};

use crate::args::DiffArgs;
use crate::context::{CliContext, block_on};
use crate::exit::{CliError, CliExit};
use crate::output;
use crate::render::{BAD, GOOD, HEADING};
use countersign_view::show::truncate_line;

pub(super) fn run(args: &DiffArgs, json: bool) -> Result<CliExit, CliError> {
    block_on(async {
        let context = CliContext::open_existing(&args.store_args)?;
        let run = context.resolve_run(Some(&args.run)).await?;
        let before = load_side(&context, &run, Some(&args.before)).await?;
        let after = load_side(&context, &run, args.after.as_deref()).await?;
        let patch = Patch::diff(&before.document, &after.document);
        if json {
            output::print_json(&json!(patch));
        } else if patch.ops.is_empty() {
            output::print_message(&format!("{} and {} are the same.", before.label, after.label));
        } else {
            output::print_message(&format!("from {} to {}:", before.label, after.label));
            output::print_data(&format_changes(before.document, &patch));
        }
        Ok(CliExit::Success)
    })
}

/// One side of a comparison.
struct DiffSide {
    document: Value,
    label: String,
}

/// Loads the document at `VERSION` of the run, at `OTHER@VERSION`, or, without a name, the current
/// one.
async fn load_side(
    context: &CliContext,
    run: &str,
    named: Option<&str>,
) -> Result<DiffSide, CliError> {
    let (other, version) = match named.map(|named| named.rsplit_once('@').unwrap_or(("", named))) {
        Some((other, version)) => (other, Some(version)),
        None => ("", None),
    };
    let run =
        if other.is_empty() { run.to_owned() } else { context.resolve_run(Some(other)).await? };
    let version = version
        .map(|version| {
            let expected = "expected a version, such as `3`, or `OTHER@3`";
            version.parse::<u64>().map_err(|_| CliError::Usage(format!("`{version}`: {expected}")))
        })
        .transpose()?;
    let state = context.engine.load_version(&run, version).await?.state;
    let label = format!("{run}@{}", state.version);
    Ok(DiffSide { document: (*state.document).clone(), label })
}

/// Formats one change per line: `+` for added, `-` for removed, `~` for old and new values.
pub(super) fn format_changes(mut document: Value, patch: &Patch) -> String {
    const MAX_VALUE_CHARS: usize = 100;
    let brief = |value: &Value| truncate_line(&value.to_string(), MAX_VALUE_CHARS);
    let mut text = String::new();
    for op in &patch.ops {
        let was = document.pointer(op.path().as_str()).map(&brief).unwrap_or_default();
        let pointer = if op.path().as_str().is_empty() { "/" } else { op.path().as_str() };
        let _ = match op {
            PatchOperation::Add { value, .. } => {
                writeln!(text, "{GOOD}+{GOOD:#} {pointer} {}", brief(value))
            }
            PatchOperation::Remove { .. } => writeln!(text, "{BAD}-{BAD:#} {pointer} {was}"),
            PatchOperation::Replace { value, .. } => {
                writeln!(text, "{HEADING}~{HEADING:#} {pointer} {was} → {}", brief(value))
            }
            PatchOperation::Move { .. }
            | PatchOperation::Copy { .. }
            | PatchOperation::Test { .. } => Ok(()),
        };
        // The pointers of later operations refer to the document after this operation.
        Patch::from_ops(vec![op.clone()])
            .apply(&mut document)
            .expect("the operation was computed for this document");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_is_a_line() {
        let before = json!({"status": "a", "tasks": [{"id": 1}, {"id": 2}], "old": true});
        let after = json!({"status": "b", "tasks": [{"id": 1}], "new": {"x": null}});
        let patch = Patch::diff(&before, &after);
        assert_eq!(
            crate::style::strip_styles(&format_changes(before, &patch)),
            "- /old true\n~ /status \"a\" → \"b\"\n- /tasks/1 {\"id\":2}\n+ /new {\"x\":null}\n"
        );
    }
}
