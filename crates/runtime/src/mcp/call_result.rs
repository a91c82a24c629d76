//! Turns the result of an MCP tool into the text that the agent reads.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

use crate::tool::{MAX_OUTPUT_BYTES, ToolOutcome, truncate_output};

/// Describes a result: texts as they are, everything else by its type and size.
#[must_use]
pub(crate) fn describe_call_result(result: &CallToolResult) -> ToolOutcome {
    let (mut text, mut size) = (String::new(), 0);
    for (index, block) in result.content.iter().enumerate() {
        let part = describe_block(block);
        size += part.len() + usize::from(index > 0);
        if text.len() <= MAX_OUTPUT_BYTES {
            if index > 0 {
                text.push('\n');
            }
            text.push_str(&part);
        }
    }
    if let (true, Some(value)) = (result.content.is_empty(), &result.structured_content) {
        text = value.to_string();
        size = text.len();
    }
    if text.is_empty() {
        text.push_str("the tool returned nothing");
        size = text.len();
    }
    let outcome = truncate_output(text, size as u64);
    ToolOutcome { ok: !result.is_error.unwrap_or(false), ..outcome }
}

fn describe_block(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => describe_bytes("image", &image.mime_type, &image.data),
        ContentBlock::Audio(audio) => describe_bytes("audio", &audio.mime_type, &audio.data),
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => {
                format!("[resource {uri}]\n{text}")
            }
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                let kind = format!("resource {uri}");
                describe_bytes(&kind, mime_type.as_deref().unwrap_or("unknown type"), blob)
            }
            _ => "[content of an unknown kind]".to_owned(),
        },
        ContentBlock::ResourceLink(link) => {
            format!("[link to resource {}: {}]", link.uri, link.name)
        }
        _ => "[content of an unknown kind]".to_owned(),
    }
}

/// Describes base64 data by its type and its size before the encoding.
fn describe_bytes(kind: &str, mime_type: &str, data: &str) -> String {
    let padding = data.bytes().rev().take_while(|byte| *byte == b'=').count().min(2);
    let bytes = (data.len() / 4 * 3).saturating_sub(padding);
    format!("[{kind}, {mime_type}, {bytes} bytes; not shown]")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn describe(result: Value) -> ToolOutcome {
        describe_call_result(&serde_json::from_value(result).unwrap())
    }

    #[test]
    fn texts_are_shown_and_other_content_is_named() {
        let outcome = describe(json!({ "content": [
            { "type": "text", "text": "one" },
            { "type": "image", "data": "aGVsbG8=", "mimeType": "image/png" },
            { "type": "audio", "data": "aGVsbG9v", "mimeType": "audio/wav" },
            { "type": "resource", "resource": { "uri": "file:///a", "text": "inside" } },
            { "type": "resource", "resource": { "uri": "file:///b", "blob": "aGVsbG8=" } },
            { "type": "resource_link", "uri": "file:///c", "name": "c" },
        ] }));
        assert!(outcome.ok && !outcome.truncated);
        assert_eq!(
            outcome.output,
            "one\n[image, image/png, 5 bytes; not shown]\n[audio, audio/wav, 6 bytes; not shown]\n\
             [resource file:///a]\ninside\n[resource file:///b, unknown type, 5 bytes; not shown]\n\
             [link to resource file:///c: c]"
        );
    }

    #[test]
    fn an_error_of_the_tool_is_a_failed_call() {
        let content = json!([{ "type": "text", "text": "no such city" }]);
        let outcome = describe(json!({ "content": content, "isError": true }));
        assert!(!outcome.ok);
        assert_eq!(outcome.output, "no such city");
    }

    #[test]
    fn structured_content_is_shown_if_there_is_no_other() {
        let structured = json!({ "content": [], "structuredContent": { "a": 1 } });
        assert_eq!(describe(structured).output, r#"{"a":1}"#);
        let outcome = describe(json!({ "content": [] }));
        assert_eq!(outcome.output, "the tool returned nothing");
    }

    #[test]
    fn a_long_result_is_cut_and_says_so() {
        let long = "é".repeat(MAX_OUTPUT_BYTES);
        let content = json!([{ "type": "text", "text": long }, { "type": "text", "text": "end" }]);
        let outcome = describe(json!({ "content": content }));
        assert!(outcome.truncated);
        assert!(outcome.output.len() < MAX_OUTPUT_BYTES + 100);
        assert!(
            outcome.output.ends_with("of 32772 bytes are shown"),
            "{}",
            &outcome.output[16_380..]
        );
    }
}
