//! Merges an agent's prompt with its base's prompt, as a whole or section by section.
//!
//! A section is a Markdown heading (`## Name`) with the text up to the next heading of the same or
//! a higher level. A `#` inside a code fence is not a heading.

/// How an agent's own prompt is merged with its base's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PromptMergeMode {
    Append,
    Prepend,
    Replace,
    Patch,
}

impl PromptMergeMode {
    /// Parses the mode from its name in files; `append` is the default.
    pub(super) fn parse(name: &str) -> Self {
        match name {
            "prepend" => Self::Prepend,
            "replace" => Self::Replace,
            "patch" => Self::Patch,
            _ => Self::Append,
        }
    }
}

/// Merges the two prompts. An empty own prompt leaves the base unchanged.
pub(super) fn join_prompts(base: &str, own: &str, mode: PromptMergeMode) -> String {
    let (base, own) = (base.trim(), own.trim());
    if own.is_empty() || base.is_empty() {
        return if own.is_empty() { base } else { own }.to_owned();
    }
    match mode {
        PromptMergeMode::Append => format!("{base}\n\n{own}"),
        PromptMergeMode::Prepend => format!("{own}\n\n{base}"),
        PromptMergeMode::Replace => own.to_owned(),
        PromptMergeMode::Patch => patch_sections(base, own),
    }
}

/// Counts the top-level sections of a prompt that patches another.
pub(super) fn count_sections(own: &str) -> usize {
    split_top_sections(own.trim()).len()
}

/// Replaces the sections of `base` whose headings `own` repeats, and appends the others.
fn patch_sections(base: &str, own: &str) -> String {
    let mut text = base.to_owned();
    let mut added = Vec::new();
    for section in split_top_sections(own) {
        let first = section.lines().next().unwrap_or_default();
        let found = parse_heading(first).and_then(|(_, name)| find_section(&text, name));
        match found {
            Some((start, end)) => {
                let (before, after) = (text[..start].trim_end(), text[end..].trim_start());
                let parts = [before, section.trim(), after];
                let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
                text = parts.join("\n\n");
            }
            None => added.push(section.trim().to_owned()),
        }
    }
    added.insert(0, text);
    added.retain(|part| !part.is_empty());
    added.join("\n\n")
}

/// Parses a heading into its level and its name.
fn parse_heading(line: &str) -> Option<(usize, &str)> {
    let level = line.len() - line.trim_start_matches('#').len();
    let name = line[level..].trim();
    ((1..=6).contains(&level) && line[level..].starts_with([' ', '\t']) && !name.is_empty())
        .then(|| (level, name.trim_end_matches('#').trim_end()))
}

/// Finds every heading: offset of its line, level, name.
fn find_headings(text: &str) -> Vec<(usize, usize, &str)> {
    let mut found = Vec::new();
    let (mut at, mut fenced) = (0, false);
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
            fenced = !fenced;
        } else if !fenced && let Some((level, name)) = parse_heading(line) {
            found.push((at, level, name));
        }
        at += line.len();
    }
    found
}

/// Finds the start and end of the section with this name.
fn find_section(text: &str, name: &str) -> Option<(usize, usize)> {
    let headings = find_headings(text);
    let index = headings.iter().position(|(_, _, other)| other.eq_ignore_ascii_case(name))?;
    let (start, level, _) = headings[index];
    let next = headings[index + 1..].iter().find(|(_, other, _)| *other <= level);
    Some((start, next.map_or(text.len(), |(start, _, _)| *start)))
}

/// Splits the text at its headings of the highest level; the text before the first one is a piece
/// too.
fn split_top_sections(text: &str) -> Vec<&str> {
    let headings = find_headings(text);
    let Some(top) = headings.iter().map(|(_, level, _)| *level).min() else { return vec![text] };
    let mut cuts = vec![0];
    cuts.extend(headings.iter().filter(|(_, level, _)| *level == top).map(|(at, _, _)| *at));
    cuts.push(text.len());
    let pieces = cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]);
    pieces.filter(|piece| !piece.trim().is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str =
        "You judge.\n\n## Task\n\nRead.\n\n### Detail\n\nAll.\n\n## Reply\n\nShort.\n";

    #[track_caller]
    fn check(mode: PromptMergeMode, own: &str, expected: &str) {
        assert_eq!(join_prompts(BASE, own, mode), expected);
    }

    #[test]
    fn whole_prompts_join_with_one_blank_line() {
        let base = BASE.trim();
        check(PromptMergeMode::Append, "Own.\n", &format!("{base}\n\nOwn."));
        check(PromptMergeMode::Prepend, "\nOwn.", &format!("Own.\n\n{base}"));
        check(PromptMergeMode::Replace, "Own.", "Own.");
        for mode in [
            PromptMergeMode::Append,
            PromptMergeMode::Prepend,
            PromptMergeMode::Replace,
            PromptMergeMode::Patch,
        ] {
            check(mode, " \n", base);
            assert_eq!(join_prompts("", "Own.", mode), "Own.");
        }
    }

    #[test]
    fn a_patch_replaces_the_sections_it_names_and_adds_the_others() {
        check(
            PromptMergeMode::Patch,
            "## task\n\nWrite.\n\n## Tone\n\nDry.",
            "You judge.\n\n## task\n\nWrite.\n\n## Reply\n\nShort.\n\n## Tone\n\nDry.",
        );
        check(
            PromptMergeMode::Patch,
            "### Detail\nNothing.",
            "You judge.\n\n## Task\n\nRead.\n\n### Detail\nNothing.\n\n## Reply\n\nShort.",
        );
        check(PromptMergeMode::Patch, "No heading.", &format!("{}\n\nNo heading.", BASE.trim()));
    }

    #[test]
    fn code_in_fences_has_no_headings() {
        let base = "## Task\n\n```sh\n# Reply\n```\n\n## Reply\n\nShort.";
        let patched = join_prompts(base, "## Reply\n\nLong.", PromptMergeMode::Patch);
        assert_eq!(patched, "## Task\n\n```sh\n# Reply\n```\n\n## Reply\n\nLong.");
    }
}
