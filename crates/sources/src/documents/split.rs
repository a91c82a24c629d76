//! Splits a document into passages: parts that can be found and referred to, with the headings
//! above them.

use std::collections::BTreeMap;

/// Maximum length of a passage in characters; a passage grows by whole paragraphs up to this.
const MAX_PASSAGE_CHARS: usize = 1_200;

/// A passage of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DocumentPassage {
    /// Position inside the file: a heading, a line or a page; empty for the beginning of the file.
    pub(super) anchor: String,
    /// The headings above it, outermost first.
    pub(super) headings: Vec<String>,
    pub(super) text: String,
}

/// Splits a part of a document, such as a page, whose position is `anchor`.
pub(super) fn split_part(text: &str, anchor: &str) -> Vec<DocumentPassage> {
    let mut anchors = AnchorCounter::default();
    let pieces = gather_paragraphs(text.lines().enumerate());
    let passages = pieces.into_iter().map(|(_, text)| DocumentPassage {
        anchor: anchors.next_anchor(anchor),
        headings: Vec::new(),
        text,
    });
    passages.collect()
}

/// Splits a text without headings.
pub(super) fn split_text(text: &str) -> Vec<DocumentPassage> {
    let pieces = gather_paragraphs(text.lines().enumerate());
    let passages = pieces.into_iter().map(|(line, text)| DocumentPassage {
        anchor: format!("line={}", line + 1),
        headings: Vec::new(),
        text,
    });
    passages.collect()
}

/// Splits a text whose headings are those of Markdown.
pub(super) fn split_document(text: &str) -> Vec<DocumentPassage> {
    let mut passages = Vec::new();
    let mut anchors = AnchorCounter::default();
    let mut trail: Vec<(usize, String)> = Vec::new();
    let mut section: Vec<(usize, &str)> = Vec::new();
    let mut fence: Option<&str> = None;
    let lines = text.lines().enumerate();
    for (number, line) in lines {
        let trimmed = line.trim_start();
        match fence {
            Some(mark) if trimmed.starts_with(mark) => fence = None,
            Some(_) => {}
            None => fence = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark)),
        }
        if fence.is_none()
            && let Some((level, heading)) = parse_heading(line)
        {
            end_section(&mut section, &trail, &mut anchors, &mut passages);
            trail.retain(|(above, _)| *above < level);
            trail.push((level, heading));
        }
        section.push((number, line));
    }
    end_section(&mut section, &trail, &mut anchors, &mut passages);
    passages
}

fn end_section(
    section: &mut Vec<(usize, &str)>,
    trail: &[(usize, String)],
    anchors: &mut AnchorCounter,
    passages: &mut Vec<DocumentPassage>,
) {
    let headings: Vec<String> = trail.iter().map(|(_, heading)| heading.clone()).collect();
    let slug = headings.last().map(|heading| slugify(heading)).unwrap_or_default();
    let lines = std::mem::take(section);
    // A heading without text below it is left out.
    if lines.iter().all(|(_, line)| line.trim().is_empty() || parse_heading(line).is_some()) {
        return;
    }
    for (_, text) in gather_paragraphs(lines.into_iter()) {
        passages.push(DocumentPassage {
            anchor: anchors.next_anchor(&slug),
            headings: headings.clone(),
            text,
        });
    }
}

/// Returns the level and the text of a heading line.
fn parse_heading(line: &str) -> Option<(usize, String)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let words = line[level..].strip_prefix([' ', '\t'])?.trim().trim_end_matches('#').trim();
    ((1..=6).contains(&level) && !words.is_empty()).then(|| (level, words.to_owned()))
}

/// Converts a heading to the fragment of a link (the part after `#`).
fn slugify(heading: &str) -> String {
    let lower = heading.to_lowercase();
    let kept = lower.chars().filter_map(|letter| match letter {
        letter if letter.is_alphanumeric() || letter == '-' || letter == '_' => Some(letter),
        letter if letter.is_whitespace() => Some('-'),
        _ => None,
    });
    kept.collect()
}

/// Joins paragraphs up to the maximum length, each result with its first line.
fn gather_paragraphs<'t>(lines: impl Iterator<Item = (usize, &'t str)>) -> Vec<(usize, String)> {
    let mut pieces: Vec<(usize, String)> = Vec::new();
    let mut paragraph: Option<(usize, String)> = None;
    let mut full = true;
    let mut add = |(line, text): (usize, String), pieces: &mut Vec<(usize, String)>| {
        let length = text.chars().count();
        match pieces.last_mut() {
            Some((_, last)) if !full && last.chars().count() + length + 2 <= MAX_PASSAGE_CHARS => {
                last.push_str("\n\n");
                last.push_str(&text);
            }
            _ => pieces.extend(chop_text(&text).into_iter().map(|text| (line, text))),
        }
        full = false;
    };
    for (number, line) in lines {
        if line.trim().is_empty() {
            if let Some(paragraph) = paragraph.take() {
                add(paragraph, &mut pieces);
            }
            continue;
        }
        match &mut paragraph {
            Some((_, text)) => {
                text.push('\n');
                text.push_str(line.trim_end());
            }
            None => paragraph = Some((number, line.trim_end().to_owned())),
        }
    }
    if let Some(paragraph) = paragraph {
        add(paragraph, &mut pieces);
    }
    pieces
}

/// Cuts a text that is too long, at the last end of a sentence or blank before the limit.
fn chop_text(text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((end, _)) = rest.char_indices().nth(MAX_PASSAGE_CHARS) {
        let window = &rest[..end];
        let half = window.len() / 2;
        let mark = |letter: char| ".!?。！？\n".contains(letter);
        let cut = window
            .rfind(mark)
            .or_else(|| window.rfind(char::is_whitespace))
            .filter(|cut| *cut > half)
            .map_or(end, |cut| cut + window[cut..].chars().next().map_or(1, char::len_utf8));
        parts.push(rest[..cut].trim().to_owned());
        rest = rest[cut..].trim_start();
    }
    if !rest.is_empty() {
        parts.push(rest.to_owned());
    }
    parts
}

/// Makes anchors unique.
#[derive(Default)]
struct AnchorCounter {
    counts: BTreeMap<String, usize>,
}

impl AnchorCounter {
    fn next_anchor(&mut self, wanted: &str) -> String {
        let times = self.counts.entry(wanted.to_owned()).or_default();
        *times += 1;
        if *times == 1 { wanted.to_owned() } else { format!("{wanted}~{times}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, &[&str], &str)]) {
        let found = split_document(text);
        let found: Vec<(&str, Vec<&str>, &str)> = found
            .iter()
            .map(|it| {
                let headings = it.headings.iter().map(String::as_str).collect();
                (it.anchor.as_str(), headings, it.text.as_str())
            })
            .collect();
        let expected: Vec<(&str, Vec<&str>, &str)> = expected
            .iter()
            .map(|(anchor, headings, text)| (*anchor, headings.to_vec(), *text))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn headings_cut() {
        check(
            "before\n\n# A b!\n\none\n\ntwo\n## C\nthree\n# A b!\nfour\n",
            &[
                ("", &[], "before"),
                ("a-b", &["A b!"], "# A b!\n\none\n\ntwo"),
                ("c", &["A b!", "C"], "## C\nthree"),
                ("a-b~2", &["A b!"], "# A b!\nfour"),
            ],
        );
        check(
            "# 예산 변경\r\n\r\n승인\r\n",
            &[("예산-변경", &["예산 변경"], "# 예산 변경\n\n승인")],
        );
    }

    #[test]
    fn a_fence_holds_no_headings_and_an_empty_section_is_none() {
        check(
            "# A\n## B\n```\n# no\n\n```\n#no\n",
            &[("b", &["A", "B"], "## B\n```\n# no\n\n```\n#no")],
        );
        check("", &[]);
        check("# only\n", &[]);
    }

    #[test]
    fn what_is_long_is_cut_at_sentences() {
        let sentence = "This sentence is as long as others. ";
        let passages = split_text(&sentence.repeat(100));
        assert!(passages.len() > 2);
        for passage in &passages {
            assert!(
                passage.text.chars().count() <= MAX_PASSAGE_CHARS && passage.text.ends_with('.')
            );
        }
        let solid = "字".repeat(3_000);
        let whole: String = split_text(&solid).into_iter().map(|it| it.text).collect();
        assert_eq!(whole, solid);
        let texts = split_text("a\n\nb\n");
        assert_eq!((texts.len(), texts[0].anchor.as_str()), (1, "line=1"));
    }

    #[test]
    fn pages_are_pointed_at() {
        let passages = split_part(&"word ".repeat(400), "page=3");
        assert_eq!(passages[0].anchor, "page=3");
        assert_eq!(passages[1].anchor, "page=3~2");
    }
}
