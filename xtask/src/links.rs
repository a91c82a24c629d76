//! Checks the links of the documentation: every relative link and every anchor leads somewhere, and
//! `docs/SUMMARY.md` lists every page below `docs`.

use std::fs;
use std::path::Path;

use crate::process;

/// The table of contents that mdBook reads.
const SUMMARY: &str = "docs/SUMMARY.md";

/// Checks the given Markdown files; returns every problem found.
pub(crate) fn run(files: &[String]) -> Vec<String> {
    let root = process::workspace_root();
    let mut faults = Vec::new();
    for file in files {
        let page = root.join(file);
        for target in list_links(&read_page(&page)) {
            if let Some(fault) = check_link(&page, &target) {
                faults.push(format!("{file} links to `{target}`: {fault}"));
            }
        }
    }
    let listed = list_links(&read_page(&root.join(SUMMARY)));
    for file in files {
        let Some(page) = file.strip_prefix("docs/") else { continue };
        if file != SUMMARY && !listed.iter().any(|link| link == page) {
            faults.push(format!("{SUMMARY} does not list {file}"));
        }
    }
    faults
}

/// Checks one link of a page; returns what is wrong with it.
fn check_link(page: &Path, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") || target.contains([' ', '…']) {
        return None;
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let linked = if path.is_empty() { page.to_owned() } else { page.parent()?.join(path) };
    if !linked.exists() {
        return Some("there is no such file".to_owned());
    }
    let is_page = linked.extension().is_some_and(|extension| extension == "md");
    if anchor.is_empty() || !is_page {
        return None;
    }
    let anchors = list_anchors(&read_page(&linked));
    let is_known = anchors.iter().any(|known| known == anchor);
    (!is_known).then(|| format!("no heading has the anchor `{anchor}`"))
}

/// Lists the targets of the links in a text, without those in code blocks.
fn list_links(text: &str) -> Vec<String> {
    let lines = list_prose_lines(text).into_iter();
    let targets = lines.flat_map(|line| line.split("](").skip(1));
    targets.filter_map(|rest| rest.split(')').next()).map(str::to_owned).collect()
}

/// Lists the anchors of the headings in a text, as GitHub and mdBook make them.
fn list_anchors(text: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    let mut slugs: Vec<String> = Vec::new();
    for line in list_prose_lines(text) {
        let heading = line.trim_start_matches('#');
        if heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let slug = make_slug(heading);
        let repeated = slugs.iter().filter(|known| **known == slug).count();
        anchors.push(if repeated == 0 { slug.clone() } else { format!("{slug}-{repeated}") });
        slugs.push(slug);
    }
    anchors
}

/// Makes the anchor of a heading: lower case, hyphens for spaces, no punctuation.
fn make_slug(heading: &str) -> String {
    let mut slug = String::new();
    for character in heading.trim().to_lowercase().chars() {
        if character.is_alphanumeric() || character == '-' || character == '_' {
            slug.push(character);
        } else if character == ' ' {
            slug.push('-');
        }
    }
    slug
}

/// Lists the lines of a text that are not in a code block.
fn list_prose_lines(text: &str) -> Vec<&str> {
    let mut is_code = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            lines.push(line);
        }
    }
    lines
}

fn read_page(page: &Path) -> String {
    fs::read_to_string(page).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_are_those_of_github() {
        let text = "# Start\n## 5. The manager decides\n```sh\n# no heading\n```\n## `what` & why?\n## Start\n";
        let anchors = list_anchors(text);
        assert_eq!(anchors, ["start", "5-the-manager-decides", "what--why", "start-1"]);
    }

    #[test]
    fn links_in_code_are_not_followed() {
        let text = "[a](b.md#c) and [d](e.md)\n```md\n[f](g.md)\n```\n";
        assert_eq!(list_links(text), ["b.md#c", "e.md"]);
    }
}
