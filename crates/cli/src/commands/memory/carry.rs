//! `countersign memory export`: memory as JSON Lines.

use countersign_runtime::private;
use serde_json::json;

use super::desk;
use crate::args::{ExportMemory, Whose};
use crate::exit::{Error, Exit};
use crate::house::wait;
use crate::output;

pub(super) fn export(whose: &Whose, args: &ExportMemory, json: bool) -> Result<Exit, Error> {
    let subject = desk::scope(whose)?.subject();
    let file = args.output.as_ref().filter(|file| file.as_os_str() != "-");
    let memory = desk::look(whose)?;
    wait(async {
        let lines = memory.export(&subject).await?;
        let (user, agent) = (&subject.user, &subject.agent);
        if lines.is_empty() {
            output::talk(&format!("nothing is remembered of user `{user}` with agent `{agent}`"));
        }
        let written = lines.iter().map(|line| json!(line).to_string());
        let text: String = written.flat_map(|line| [line, "\n".to_owned()]).collect();
        let Some(file) = file else {
            output::json_text(&text);
            return Ok(Exit::Good);
        };
        let shown = file.display().to_string();
        private::write_output(file, text.as_bytes())
            .map_err(|source| Error::Unwritable { what: shown.clone(), source })?;
        if json {
            let (count, bytes) = (lines.len(), text.len());
            output::json(&json!({ "file": shown, "lines": count, "bytes": bytes }));
        } else {
            output::talk(&format!(
                "what is remembered of {user} with {agent} is in {shown}: {}, {} bytes. It holds every word.",
                desk::counted(lines.len() as u64, "line"),
                text.len()
            ));
        }
        Ok(Exit::Good)
    })
}
