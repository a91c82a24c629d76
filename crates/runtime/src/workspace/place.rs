//! A path as somebody wrote it, taken apart into names.
//!
//! This refuses what no honest path contains, with a reason. It is not what keeps a run inside its
//! workspace: the folder's handle is.

use std::path::PathBuf;

use thiserror::Error;

/// The longest path, in bytes.
const LONGEST_PATH: usize = 1_024;

/// The longest name, in bytes: what common file systems take.
const LONGEST_NAME: usize = 255;

/// A relative path of plain names. No names: the workspace itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    names: Vec<String>,
}

/// Why a text is no path inside a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PathFault {
    /// Nothing is named.
    #[error("it names nothing")]
    Empty,
    /// It begins at the root of the machine.
    #[error("it is absolute, and a path relative to the workspace was expected")]
    Absolute,
    /// It begins with a Windows drive.
    #[error("it names a drive, and a path relative to the workspace was expected")]
    Drive,
    /// One of its names is `..`.
    #[error("`..` is not allowed in it")]
    Upwards,
    /// Two slashes in a row, or a slash at the end.
    #[error("one of its names is empty")]
    EmptyName,
    /// A backslash: a separator on one system, a letter on another.
    #[error("it contains a backslash; names are separated by `/`")]
    Backslash,
    /// A NUL, a line break or another control character.
    #[error("it contains a control character")]
    Control,
    /// Longer than file systems take.
    #[error("it is too long: at most 1024 bytes, and 255 for a name")]
    TooLong,
}

impl Place {
    /// A place that has a name: a file or a folder below the workspace.
    pub(crate) fn parse(text: &str) -> Result<Self, PathFault> {
        let place = Self::names_of(text)?;
        if place.names.is_empty() { Err(PathFault::Empty) } else { Ok(place) }
    }

    /// A folder: also the workspace itself, as an empty text or `.`, and with a slash at the end.
    pub(crate) fn parse_folder(text: &str) -> Result<Self, PathFault> {
        match text.strip_suffix('/') {
            Some("") => Err(PathFault::Absolute),
            Some(rest) => Self::names_of(rest),
            None => Self::names_of(text),
        }
    }

    fn names_of(text: &str) -> Result<Self, PathFault> {
        if text.len() > LONGEST_PATH {
            return Err(PathFault::TooLong);
        }
        if text.chars().any(char::is_control) {
            return Err(PathFault::Control);
        }
        if text.contains('\\') {
            return Err(PathFault::Backslash);
        }
        if text.starts_with('/') {
            return Err(PathFault::Absolute);
        }
        if matches!(text.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic()) {
            return Err(PathFault::Drive);
        }
        let mut names = Vec::new();
        for name in text.split('/').filter(|_| !text.is_empty()) {
            match name {
                "" => return Err(PathFault::EmptyName),
                ".." => return Err(PathFault::Upwards),
                "." => {}
                name if name.len() > LONGEST_NAME => return Err(PathFault::TooLong),
                name => names.push(name.to_owned()),
            }
        }
        Ok(Self { names })
    }

    /// The workspace itself.
    pub(crate) fn root() -> Self {
        Self { names: Vec::new() }
    }

    /// The names, from the workspace down.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// The path for the folder's handle; `.` for the workspace itself.
    pub(crate) fn path(&self) -> PathBuf {
        if self.names.is_empty() { PathBuf::from(".") } else { self.names.iter().collect() }
    }

    /// The folder it lies in, and its own name.
    pub(crate) fn split(&self) -> Option<(Self, &str)> {
        let (last, rest) = self.names.split_last()?;
        Some((Self { names: rest.to_vec() }, last))
    }

    /// Something in this folder.
    pub(crate) fn child(&self, name: &str) -> Self {
        let mut names = self.names.clone();
        names.push(name.to_owned());
        Self { names }
    }
}

/// With `/` between names on every system.
impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.names.join("/"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<&str, PathFault>) {
        let found = Place::parse(text).map(|place| place.to_string());
        assert_eq!(found, expected.map(str::to_owned), "{text:?}");
    }

    #[test]
    fn honest_paths_are_taken() {
        check("a", Ok("a"));
        check("./a/./b.txt", Ok("a/b.txt"));
        check("дело/справка 1.md", Ok("дело/справка 1.md"));
        check("..a/b..", Ok("..a/b.."));
        check("at 10:30.txt", Ok("at 10:30.txt"));
    }

    #[test]
    fn every_refusal_has_its_reason() {
        check("", Err(PathFault::Empty));
        check(".", Err(PathFault::Empty));
        check("/etc/passwd", Err(PathFault::Absolute));
        check("//server/share", Err(PathFault::Absolute));
        check("C:/x", Err(PathFault::Drive));
        check("c:x", Err(PathFault::Drive));
        check("..", Err(PathFault::Upwards));
        check("a/../b", Err(PathFault::Upwards));
        check("a//b", Err(PathFault::EmptyName));
        check("a/", Err(PathFault::EmptyName));
        check("a\\b", Err(PathFault::Backslash));
        check("a\0b", Err(PathFault::Control));
        check("a\nb", Err(PathFault::Control));
        check(&"n".repeat(256), Err(PathFault::TooLong));
        check(&"n/".repeat(513), Err(PathFault::TooLong));
    }

    #[test]
    fn a_folder_may_be_the_workspace_itself() {
        for text in ["", ".", "./"] {
            assert_eq!(Place::parse_folder(text).unwrap().path(), PathBuf::from("."), "{text:?}");
        }
        assert_eq!(Place::parse_folder("a/b/").unwrap().to_string(), "a/b");
        assert_eq!(Place::parse_folder("/"), Err(PathFault::Absolute));
        assert_eq!(Place::parse_folder("a//"), Err(PathFault::EmptyName));
    }
}
