//! Reads notes in Markdown: each section is an event, dated by the front matter, the file name or
//! the file.

use countersign_contract::Timestamp;

use super::foreign_text::split_markdown;
use super::item_collector::{EventDraft, ItemCollector};
use super::json_elements::parse_time;
use super::{ForeignFile, ForeignFileError};
use crate::record::SpeakerRole;

/// Converts one note.
pub(super) fn convert(
    file: ForeignFile<'_>,
    items: &mut ItemCollector<'_>,
) -> Result<(), ForeignFileError> {
    let text = std::str::from_utf8(file.bytes)
        .map_err(|_| ForeignFileError::Text { path: file.path.to_owned() })?;
    let text = text.trim_start_matches('\u{feff}');
    let (front, body, offset) = split_front_matter(text);
    let name = file.path.rsplit('/').next().unwrap_or(file.path);
    let name = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let title = front.title.unwrap_or_else(|| name.to_owned());
    let ts = front.date.or_else(|| parse_name_date(name)).or(file.modified);
    let mut counts = std::collections::BTreeMap::<String, usize>::new();
    let parts = split_markdown(body);
    if parts.is_empty() {
        items.leave_out("", "the note has no text");
    }
    for part in parts {
        let mut headings = part.headings;
        // A note often repeats its title as the first heading.
        headings.retain(|heading| *heading != title);
        headings.insert(0, title.clone());
        let text = format!("{}\n\n{}", headings.join(" > "), part.body);
        // The same text twice in a note is two parts; a change elsewhere in the note changes
        // neither of them.
        let count = counts.entry(text.clone()).or_default();
        *count += 1;
        let number = count.to_string();
        let draft = EventDraft {
            id: vec![file.path, &text, &number],
            session: file.path,
            ts,
            role: SpeakerRole::User,
            speaker: None,
            text: text.clone(),
            tags: front.tags.clone(),
            entities: Vec::new(),
        };
        items.add_event(&format!("L{}", part.line + offset), draft);
    }
    Ok(())
}

/// What the front matter of a note says.
#[derive(Default)]
struct FrontMatter {
    title: Option<String>,
    date: Option<Timestamp>,
    tags: Vec<String>,
}

/// Splits the front matter off: simple `name: value` lines between two lines `---`. Returns the
/// number of its lines too.
fn split_front_matter(text: &str) -> (FrontMatter, &str, usize) {
    let mut front = FrontMatter::default();
    let Some(rest) = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n")) else {
        return (front, text, 0);
    };
    let (mut at, mut number, mut in_tags) = (0, 1, false);
    for line in rest.split_inclusive('\n') {
        at += line.len();
        number += 1;
        let line = line.trim_end();
        if line == "---" || line == "..." {
            return (front, &rest[at..], number);
        }
        if let Some(tag) = line.trim_start().strip_prefix("- ").filter(|_| in_tags) {
            front.tags.push(unquote(tag));
            continue;
        }
        let Some((name, value)) = line.split_once(':') else { continue };
        let (name, value) = (name.trim().to_lowercase(), value.trim());
        in_tags = name == "tags" && value.is_empty();
        match name.as_str() {
            "title" => front.title = Some(unquote(value)).filter(|title| !title.is_empty()),
            "date" | "created" | "created_at" => {
                front.date = front.date.or_else(|| parse_time(&unquote(value)));
            }
            "tags" => {
                let list = value.trim_start_matches('[').trim_end_matches(']').split(',');
                let tags = list.map(unquote).filter(|tag| !tag.is_empty());
                front.tags.extend(tags);
            }
            _ => {}
        }
    }
    // Without an end it is no front matter.
    (FrontMatter::default(), text, 0)
}

fn unquote(text: &str) -> String {
    text.trim().trim_matches(['"', '\'']).trim_start_matches('#').to_owned()
}

/// Reads a date at the beginning of a file name: `2025-06-10 Visit`.
fn parse_name_date(name: &str) -> Option<Timestamp> {
    parse_time(name.get(..10)?)
}
