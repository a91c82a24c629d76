//! Path patterns: names with `*`, and `**` for any number of names.
//!
//! As in a shell, a wildcard does not match a hidden name; a pattern for one must spell out the
//! dot.

use super::file_policy::{contains_reserved_name, fold_name, is_hidden_name};

/// A pattern of paths inside the workspace. It covers the paths it matches and everything below
/// them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathPattern {
    source: String,
    segments: Vec<PathPatternSegment>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum PathPatternSegment {
    /// `**`: any number of names that are not hidden.
    AnyDepth,
    /// One folded name; `*` in it matches any characters.
    Name(String),
}

impl PathPattern {
    /// Parses a pattern. The error is a short phrase that says what is wrong.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let path = super::confine_path("", text)?;
        let segment = |name: &str| match name {
            "**" => PathPatternSegment::AnyDepth,
            name => PathPatternSegment::Name(fold_name(name)),
        };
        let segments: Vec<PathPatternSegment> = path.split('/').map(segment).collect();
        Ok(Self { source: text.to_owned(), segments })
    }

    /// The text that the pattern was parsed from.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether everything that the pattern can match is reserved.
    #[must_use]
    pub fn is_reserved(&self) -> bool {
        let names = self.segments.iter().map(|segment| match segment {
            PathPatternSegment::AnyDepth => "*".to_owned(),
            PathPatternSegment::Name(name) => name.clone(),
        });
        contains_reserved_name(&names.collect::<Vec<_>>())
    }

    /// Whether the folded names match, or are below a match.
    pub(super) fn covers(&self, names: &[String]) -> bool {
        self.match_states(names).last() == Some(&true)
    }

    /// Whether the folded names match, or are a folder that leads to a possible match.
    pub(super) fn leads_through(&self, names: &[String]) -> bool {
        self.match_states(names).contains(&true)
    }

    /// Returns the positions in the pattern that the names can reach. The last one is a match or
    /// below a match.
    fn match_states(&self, names: &[String]) -> Vec<bool> {
        let end = self.segments.len();
        let mut reached = vec![false; end + 1];
        reached[0] = true;
        self.skip_any(&mut reached);
        for name in names {
            let mut next = vec![false; end + 1];
            for at in (0..=end).filter(|at| reached[*at]) {
                match self.segments.get(at) {
                    None => next[end] |= !is_hidden_name(name),
                    Some(PathPatternSegment::AnyDepth) => next[at] |= !is_hidden_name(name),
                    Some(PathPatternSegment::Name(pattern)) => {
                        next[at + 1] |= matches_name(pattern, name);
                    }
                }
            }
            self.skip_any(&mut next);
            reached = next;
        }
        reached
    }

    /// Advances past `**`, which may match no name at all.
    fn skip_any(&self, reached: &mut [bool]) {
        for at in 0..self.segments.len() {
            if reached[at] && self.segments[at] == PathPatternSegment::AnyDepth {
                reached[at + 1] = true;
            }
        }
    }
}

/// Whether a folded name matches a folded pattern in which `*` matches any characters.
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
