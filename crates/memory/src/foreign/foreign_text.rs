//! Cuts long texts into parts that can be found and quoted.

/// The length from which a part is long enough, in bytes.
const PART_BYTES: usize = 1_200;

/// A part of a text in Markdown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextPart {
    /// The headings above the part, the highest first.
    pub(super) headings: Vec<String>,
    /// The text of the part without its headings.
    pub(super) body: String,
    /// The number of the line on which the part begins, starting at 1.
    pub(super) line: usize,
}

/// Cuts a text at its headings, and long sections between paragraphs. Nothing is lost but empty
/// lines; code blocks are not cut, and `#` in them is no heading.
pub(super) fn split_markdown(text: &str) -> Vec<TextPart> {
    let mut parts = Vec::new();
    let mut headings: Vec<(usize, String)> = Vec::new();
    let (mut body, mut first, mut fenced) = (String::new(), 0, false);
    let mut close = |headings: &[(usize, String)], body: &mut String, line: usize| {
        let text = std::mem::take(body);
        if !text.trim().is_empty() {
            let headings = headings.iter().map(|(_, heading)| heading.clone()).collect();
            parts.push(TextPart { headings, body: text.trim().to_owned(), line });
        }
    };
    for (number, line) in (1..).zip(text.lines()) {
        let fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        if let Some((level, heading)) = parse_heading(line).filter(|_| !fenced && !fence) {
            close(&headings, &mut body, first);
            headings.retain(|(above, _)| *above < level);
            headings.push((level, heading));
            continue;
        }
        fenced ^= fence;
        if line.trim().is_empty() && !fenced && body.len() >= PART_BYTES {
            close(&headings, &mut body, first);
        }
        if body.trim().is_empty() {
            body.clear();
            first = number;
        }
        body.push_str(line);
        body.push('\n');
    }
    close(&headings, &mut body, first);
    parts
}

fn parse_heading(line: &str) -> Option<(usize, String)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let heading = line[level..].strip_prefix(' ')?.trim();
    ((1..=6).contains(&level) && !heading.is_empty())
        .then(|| (level, heading.trim_end_matches('#').trim_end().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_at_headings_and_between_paragraphs() {
        let long = "A sentence of some length about herons. ".repeat(40);
        let text = format!(
            "before\n\n# One\nfirst\n\n## Two ##\n```sh\n# no heading\n\nls\n```\n### Three\n\n## Four\n{long}\n\nrest\n"
        );
        let parts = split_markdown(&text);
        let said: Vec<(String, &str, usize)> = parts
            .iter()
            .map(|it| (it.headings.join(" > "), &it.body[..it.body.len().min(24)], it.line))
            .collect();
        assert_eq!(
            said,
            [
                (String::new(), "before", 1),
                ("One".to_owned(), "first", 4),
                ("One > Two".to_owned(), "```sh\n# no heading\n\nls\n`", 7),
                ("One > Four".to_owned(), "A sentence of some lengt", 15),
                ("One > Four".to_owned(), "rest", 17),
            ]
        );
    }
}
