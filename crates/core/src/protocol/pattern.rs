//! Patterns of paths: names with `*` in them, and `**` for any number of names.
//!
//! As in a shell, a wildcard does not stand for a hidden name; whoever means one writes its dot.

use super::files::{fold_name, is_hidden_name, names_reserved};

/// A pattern of paths inside the workspace. It covers what it matches and what lies below that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathPattern {
    source: String,
    segments: Vec<Segment>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Segment {
    /// `**`: any number of names that are not hidden.
    Any,
    /// One name, folded; `*` in it stands for any characters.
    Name(String),
}

impl PathPattern {
    /// Reads a pattern, or says in a few words what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let path = super::confined("", text)?;
        let segment = |name: &str| match name {
            "**" => Segment::Any,
            name => Segment::Name(fold_name(name)),
        };
        let segments: Vec<Segment> = path.split('/').map(segment).collect();
        Ok(Self { source: text.to_owned(), segments })
    }

    /// The text it was read from.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether everything it could show is reserved.
    #[must_use]
    pub fn is_reserved(&self) -> bool {
        let names = self.segments.iter().map(|segment| match segment {
            Segment::Any => "*".to_owned(),
            Segment::Name(name) => name.clone(),
        });
        names_reserved(&names.collect::<Vec<_>>())
    }

    /// Whether folded names are matched, or lie below what is matched.
    pub(super) fn covers(&self, names: &[String]) -> bool {
        self.reach(names).last() == Some(&true)
    }

    /// Whether folded names are a folder on the way to what could be matched, or are matched.
    pub(super) fn leads_through(&self, names: &[String]) -> bool {
        self.reach(names).contains(&true)
    }

    /// How much of the pattern the names may have used up; the last state lies at or below a match.
    fn reach(&self, names: &[String]) -> Vec<bool> {
        let end = self.segments.len();
        let mut reached = vec![false; end + 1];
        reached[0] = true;
        self.skip_any(&mut reached);
        for name in names {
            let mut next = vec![false; end + 1];
            for at in (0..=end).filter(|at| reached[*at]) {
                match self.segments.get(at) {
                    None => next[end] |= !is_hidden_name(name),
                    Some(Segment::Any) => next[at] |= !is_hidden_name(name),
                    Some(Segment::Name(pattern)) => next[at + 1] |= matches_name(pattern, name),
                }
            }
            self.skip_any(&mut next);
            reached = next;
        }
        reached
    }

    /// `**` may also stand for no name at all.
    fn skip_any(&self, reached: &mut [bool]) {
        for at in 0..self.segments.len() {
            if reached[at] && self.segments[at] == Segment::Any {
                reached[at + 1] = true;
            }
        }
    }
}

/// Whether a folded name fits a folded pattern in which `*` stands for any characters.
fn matches_name(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    if is_hidden_name(name) && !pattern.starts_with('.') {
        return false;
    }
    let Some(mut left) = name.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match left.find(part) {
            Some(at) => left = &left[at + part.len()..],
            None => return false,
        }
    }
    left.ends_with(last)
}
