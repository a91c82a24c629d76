//! `countersign memory export`: writes the memory as JSON Lines.

use countersign_runtime::private_files;
use serde_json::json;

use super::open_memory;
use crate::args::{MemoryExportArgs, ScopeArgs};
use crate::context::block_on;
use crate::exit::{CliError, CliExit};
use crate::output;

pub(super) fn export_memory(
    whose: &ScopeArgs,
    args: &MemoryExportArgs,
    json: bool,
) -> Result<CliExit, CliError> {
    let subject = open_memory::resolve_scope(whose)?.subject();
    let file = args.output.as_ref().filter(|file| file.as_os_str() != "-");
    let memory = open_memory::open_existing(whose)?;
    block_on(async {
        let lines = memory.export(&subject).await?;
        let (user, agent) = (&subject.user, &subject.agent);
        if lines.is_empty() {
            output::print_message(&format!(
                "there is no memory of user `{user}` with agent `{agent}`"
            ));
        }
        let written = lines.iter().map(|line| json!(line).to_string());
        let text: String = written.flat_map(|line| [line, "\n".to_owned()]).collect();
        let Some(file) = file else {
            output::print_json_text(&text);
            return Ok(CliExit::Success);
        };
        let shown = file.display().to_string();
        private_files::write_output(file, text.as_bytes())
            .map_err(|source| CliError::Unwritable { what: shown.clone(), source })?;
        if json {
            let (count, bytes) = (lines.len(), text.len());
            output::print_json(&json!({ "file": shown, "lines": count, "bytes": bytes }));
        } else {
            output::print_message(&format!(
                "exported the memory of {user} with {agent} to {shown}: {}, {} bytes. The file contains all text in full.",
                open_memory::pluralize(lines.len() as u64, "line"),
                text.len()
            ));
        }
        Ok(CliExit::Success)
    })
}
