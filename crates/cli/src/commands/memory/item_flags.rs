//! Parses a memory item from flags.

use std::path::Path;

use countersign_runtime::memory_context::MemoryInput;
use countersign_shipped_contracts::JsonObject;
use serde_json::Value;

use crate::args::MemoryRememberArgs;
use crate::exit::CliError;
use crate::files;

/// Returns the item that the flags describe; `None` if they name no item.
pub(super) fn parse_item(args: &MemoryRememberArgs) -> Result<Option<MemoryInput>, CliError> {
    let (what, details) = (&args.item, &args.details);
    let (fact, value) = match what.fact.as_deref().map(parse_key_value).transpose()? {
        Some((key, value)) => (Some(key), Some(value)),
        None => (None, None),
    };
    let input = MemoryInput {
        event: what.event.clone(),
        fact,
        value,
        episode: what.episode.clone(),
        procedure: read_object("--procedure", what.procedure.as_deref())?,
        insight: what.insight.clone(),
        working_memory: read_object("--working-memory", what.working_memory.as_deref())?,
        summary: what.summary.clone(),
        session: None,
        run: None,
        id: details.id.clone(),
        role: details.role.clone(),
        kind: details.kind.clone(),
        origin: details.origin.clone(),
        speaker: details.speaker.clone(),
        ts: details.ts.clone(),
        tags: details.tags.clone(),
        entities: details.entities.clone(),
        sources: details.sources.clone(),
        quote: details.quote.clone(),
        confidence: details.confidence,
        level: details.level.clone(),
        preference: details.preference,
        confirmed: details.confirmed,
        notes: details.notes.clone(),
        compression_level: details.compression_level.clone(),
        applicability: read_object("--applicability", details.applicability.as_deref())?,
        trigger: details.trigger.clone(),
        tests_suggested: details.tests_suggested.clone(),
        valid_from: details.valid_from.clone(),
        valid_to: details.valid_to.clone(),
        start: details.start.clone(),
        end: details.end.clone(),
        highlights: details.highlights.clone(),
        task_type: details.task_type.clone(),
        priority: details.priority,
        usage: details.usage,
        purposes: details.purposes.clone(),
        insight_type: details.insight_type.clone(),
        validation: details.validation.clone(),
        expires: details.expires.clone(),
        build: details.build.clone(),
    };
    Ok((!input.list_kinds().is_empty()).then_some(input))
}

/// Reads the JSON object from the file of a flag, if the flag is given.
pub(super) fn read_object(flag: &str, path: Option<&Path>) -> Result<Option<JsonObject>, CliError> {
    let Some(path) = path else { return Ok(None) };
    match files::read_json(path)? {
        Value::Object(object) => Ok(Some(object)),
        _ => Err(CliError::Usage(format!("`{flag}`: {} must hold a JSON object", path.display()))),
    }
}

/// Parses `KEY=VALUE`. The value is JSON if it parses as such, otherwise text.
pub(super) fn parse_key_value(text: &str) -> Result<(String, Value), CliError> {
    let Some((key, value)) = text.split_once('=').filter(|(key, _)| !key.trim().is_empty()) else {
        return Err(CliError::Usage(format!(
            "`--fact` must be KEY=VALUE, such as `diet=vegetarian`, found `{text}`"
        )));
    };
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
    Ok((key.trim().to_owned(), value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_json_or_a_text() {
        let read = |text: &str| parse_key_value(text).ok();
        assert_eq!(read("price=12"), Some(("price".to_owned(), json!(12))));
        assert_eq!(read("diet=no meat"), Some(("diet".to_owned(), json!("no meat"))));
        assert_eq!(read("url=a=b"), Some(("url".to_owned(), json!("a=b"))));
        assert_eq!(read("diet"), None);
        assert_eq!(read("=x"), None);
    }
}
