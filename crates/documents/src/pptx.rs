//! The text of a presentation: each slide with its tables and its notes.

use crate::document_text::TextCollector;
use crate::docx::join_lines;
use crate::limits::MAX_PARTS;
use crate::office_archive::OfficeArchive;
use crate::office_xml::{XmlToken, attribute, walk_xml};
use crate::{DocumentError, DocumentFormat, DocumentPartKind, DocumentText};

/// Extracts the text of the presentation whose main part is at `main`.
pub(crate) fn extract_presentation(
    archive: &mut OfficeArchive<'_>,
    main: &str,
) -> Result<DocumentText, DocumentError> {
    let xml = archive.read_part(main)?.unwrap_or_default();
    let relations = archive.read_relationships(main)?;
    let mut paths = Vec::new();
    walk_xml(&xml, main, |token| {
        if let XmlToken::Open("sldId", tag) = token {
            // A slide has a number as `id`, and its part as `r:id`.
            let mut parts = tag.attributes().flatten().filter_map(|id| relations.get(&*id.value));
            paths.extend(parts.next().map(|relation| relation.target.clone()));
        }
        paths.len() <= MAX_PARTS
    })?;
    let mut collector = TextCollector::new(DocumentFormat::Pptx);
    for path in paths {
        if collector.is_full() {
            break;
        }
        let Some(xml) = archive.read_part(&path)? else {
            return Err(DocumentError::broken(format!(
                "is a presentation without its slide `{path}`"
            )));
        };
        let (mut text, is_hidden) = read_slide(&xml, &path)?;
        let notes = archive.read_relationships(&path)?;
        let notes = notes.into_values().find(|relation| relation.kind == "notesSlide");
        if let Some(notes) = notes
            && let Some(xml) = archive.read_part(&notes.target)?
        {
            let (notes, _) = read_slide(&xml, &notes.target)?;
            if !notes.trim().is_empty() {
                text.push_str(&format!("\nNotes:\n{notes}"));
            }
        }
        collector.push(DocumentPartKind::Slide, if is_hidden { "hidden" } else { "" }, &text);
    }
    collector.finish()
}

/// Reads the text of a slide or of its notes, and whether it is hidden.
fn read_slide(xml: &str, path: &str) -> Result<(String, bool), DocumentError> {
    let (mut text, mut paragraph, mut is_hidden) = (String::new(), String::new(), false);
    let (mut in_text, mut in_number) = (false, false);
    let mut row: Option<(Vec<String>, String)> = None;
    walk_xml(xml, path, |token| {
        match token {
            XmlToken::Open("sld", tag) => {
                is_hidden = attribute(tag, "show").as_deref() == Some("0");
            }
            XmlToken::Open("t", _) => in_text = true,
            XmlToken::Close("t") => in_text = false,
            // The number of the slide, which a program fills in.
            XmlToken::Open("fld", tag) => {
                in_number = attribute(tag, "type").as_deref() == Some("slidenum");
            }
            XmlToken::Close("fld") => in_number = false,
            XmlToken::Open("br", _) => paragraph.push('\n'),
            XmlToken::Open("tr", _) => row = Some((Vec::new(), String::new())),
            XmlToken::Close("tc") => {
                if let Some((cells, cell)) = &mut row {
                    cells.push(join_lines(&std::mem::take(cell)));
                }
            }
            XmlToken::Close("tr") => {
                if let Some((cells, _)) = row.take() {
                    text.push_str(&cells.join(" | "));
                    text.push('\n');
                }
            }
            XmlToken::Close("p") => {
                let target = row.as_mut().map_or(&mut text, |(_, cell)| cell);
                if !paragraph.trim().is_empty() {
                    target.push_str(paragraph.trim_end());
                    target.push('\n');
                }
                paragraph.clear();
            }
            XmlToken::Text(part) if in_text && !in_number => paragraph.push_str(part),
            _ => {}
        }
        true
    })?;
    Ok((text, is_hidden))
}
