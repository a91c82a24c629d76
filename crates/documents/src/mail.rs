//! The text of a mail: who wrote to whom, what they wrote, and the documents that are attached.

use mail_parser::{Address, Message, MessageParser, MimeHeaders as _, PartType};

use crate::document_text::TextCollector;
use crate::extract_document::extract_nested;
use crate::html::render_html;
use crate::{DocumentError, DocumentFormat, DocumentPartKind, DocumentText};

/// Extracts the text of a mail that is attached at a depth; 0 is the file itself.
pub(crate) fn extract_mail(bytes: &[u8], depth: usize) -> Result<DocumentText, DocumentError> {
    let message = MessageParser::default().parse(bytes);
    let message = message.filter(|message| !message.headers().is_empty());
    let message = message
        .ok_or_else(|| DocumentError::broken("is not a readable mail: it has no headers"))?;
    let mut collector = TextCollector::new(DocumentFormat::Mail);
    let mut text = format_headers(&message);
    text.push('\n');
    text.push_str(read_body(&message, collector.remaining_bytes()).trim());
    text.push('\n');
    let mut attached: Vec<(String, DocumentText)> = Vec::new();
    let mut attached_bytes = 0;
    for part in message.attachments() {
        let name = part.attachment_name().map_or_else(
            || format!("attachment {}", attached.len() + 1),
            |name| name.replace(['/', '\\', '\n'], "_"),
        );
        let bytes = match &part.body {
            PartType::Message(inner) => inner.raw_message(),
            _ => part.contents(),
        };
        let inner_name = match &part.body {
            PartType::Message(_) => format!("{name}.eml"),
            _ => name.clone(),
        };
        let size = bytes.len();
        match extract_nested(&inner_name, bytes, depth + 1) {
            Ok(document) => {
                let what = document.format.describe();
                text.push_str(&format!("\nAttached: {name} ({what}, {size} bytes)"));
                attached_bytes += document.text_bytes();
                attached.push((name, document));
            }
            Err(error) => {
                text.push_str(&format!("\nAttached: {name} ({size} bytes); it {error}"));
            }
        }
        if text.len() + attached_bytes > collector.remaining_bytes() {
            collector.note("the text is too long; later attachments were left out".to_owned());
            break;
        }
    }
    collector.push(DocumentPartKind::Body, "", &text);
    for (name, document) in attached {
        collector.push_attachment(&name, &document);
    }
    collector.finish()
}

fn format_headers(message: &Message<'_>) -> String {
    let mut lines = String::new();
    for (name, addresses) in [("From", message.from()), ("To", message.to()), ("Cc", message.cc())]
    {
        if let Some(addresses) = addresses {
            lines.push_str(&format!("{name}: {}\n", format_addresses(addresses)));
        }
    }
    if let Some(date) = message.date() {
        lines.push_str(&format!("Date: {}\n", date.to_rfc3339()));
    }
    if let Some(subject) = message.subject() {
        lines.push_str(&format!("Subject: {subject}\n"));
    }
    lines
}

fn format_addresses(addresses: &Address<'_>) -> String {
    let shown = addresses.iter().map(|one| match (one.name(), one.address()) {
        (Some(name), Some(address)) => format!("{name} <{address}>"),
        (name, address) => address.or(name).unwrap_or_default().to_owned(),
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// Returns the text of a mail, or what its HTML reads like if it has no other.
fn read_body(message: &Message<'_>, limit: usize) -> String {
    let mut body = String::new();
    for part in message.text_bodies() {
        match &part.body {
            PartType::Text(text) => body.push_str(text),
            PartType::Html(source) => body.push_str(&render_html(source, limit)),
            _ => {}
        }
        body.push('\n');
    }
    body
}
