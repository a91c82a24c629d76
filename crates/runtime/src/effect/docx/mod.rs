//! DOCX: Markdown as a Word document.
//!
//! The same Markdown gives the same bytes on every machine, so a repeated effect writes the same
//! file. Time and memory are linear in the text.

mod docx_text;
mod docx_package;

use pulldown_cmark::{Options, Parser};

use super::{EffectError, EffectErrorKind};

/// Renders Markdown as the bytes of a DOCX file.
///
/// Headings, paragraphs, lists, tables, quotes, code and emphasis are kept; links keep their text
/// and their address; images are replaced by their description, HTML is shown as it is written.
pub fn render_docx(markdown: &str) -> Result<Vec<u8>, EffectError> {
    let events = Parser::new_ext(markdown, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH);
    let text = docx_text::write_text(events);
    docx_package::write_package(&text).map_err(|error| {
        let message = format!("the text cannot be written as DOCX: {error}");
        EffectError::new_permanent(EffectErrorKind::Invalid, message)
    })
}

#[cfg(test)]
mod tests;
