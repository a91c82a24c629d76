//! Compares two texts line by line.

use std::fmt::Write as _;

use crate::render::{BAD, DIM, GOOD};

/// The number of unchanged lines to show around a change.
const CONTEXT_LINES: usize = 2;

/// The text that a line comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineOrigin {
    Before,
    After,
    Both,
}

/// Formats removed and added lines with a few unchanged lines around them.
pub(super) fn diff_lines(before: &str, after: &str) -> String {
    let lines = align_lines(before, after);
    let changed = |at: usize| {
        let from = at.saturating_sub(CONTEXT_LINES);
        let to = (at + CONTEXT_LINES + 1).min(lines.len());
        lines[from..to].iter().any(|(side, _)| *side != LineOrigin::Both)
    };
    let mut text = String::new();
    let mut hidden = 0;
    for (at, (side, line)) in lines.iter().enumerate() {
        if !changed(at) {
            hidden += 1;
            continue;
        }
        write_unchanged(&mut text, &mut hidden);
        let _ = match side {
            LineOrigin::Before => writeln!(text, "{BAD}-{BAD:#} {line}"),
            LineOrigin::After => writeln!(text, "{GOOD}+{GOOD:#} {line}"),
            LineOrigin::Both => writeln!(text, "  {line}"),
        };
    }
    write_unchanged(&mut text, &mut hidden);
    text
}

fn write_unchanged(text: &mut String, hidden: &mut usize) {
    if *hidden > 0 {
        let noun = if *hidden == 1 { "line" } else { "lines" };
        let _ = writeln!(text, "{DIM}  … {hidden} unchanged {noun}{DIM:#}");
        *hidden = 0;
    }
}

/// Aligns two texts by their longest common subsequence; common lines appear once.
fn align_lines<'t>(before: &'t str, after: &'t str) -> Vec<(LineOrigin, &'t str)> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    // `longest[i][j]`: the length of the longest common subsequence of `old[i..]` and `new[j..]`.
    let mut longest = vec![vec![0_usize; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            longest[i][j] = if old[i] == new[j] {
                longest[i + 1][j + 1] + 1
            } else {
                longest[i + 1][j].max(longest[i][j + 1])
            };
        }
    }
    let (mut i, mut j, mut lines) = (0, 0, Vec::new());
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            lines.push((LineOrigin::Both, old[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || (i < old.len() && longest[i + 1][j] >= longest[i][j + 1]) {
            lines.push((LineOrigin::Before, old[i]));
            i += 1;
        } else {
            lines.push((LineOrigin::After, new[j]));
            j += 1;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_went_what_came_and_a_little_around() {
        let before = "a\nb\nc\nd\ne\nold\nf";
        let after = "a\nb\nc\nd\ne\nnew\nnewer\nf";
        assert_eq!(
            crate::style::strip_styles(&diff_lines(before, after)),
            "  … 3 unchanged lines\n  d\n  e\n- old\n+ new\n+ newer\n  f\n"
        );
        assert_eq!(crate::style::strip_styles(&diff_lines("a", "a")), "  … 1 unchanged line\n");
        assert_eq!(crate::style::strip_styles(&diff_lines("", "x")), "+ x\n");
        assert_eq!(crate::style::strip_styles(&diff_lines("x", "")), "- x\n");
    }
}
