//! Parses a path into names.
//!
//! This rejects what no valid path contains, with a reason. It is not what keeps a run inside its
//! workspace; the folder's handle does that.

use std::path::PathBuf;

use thiserror::Error;

/// Maximum length of a path, in bytes.
const MAX_PATH_BYTES: usize = 1_024;

/// Maximum length of a name in bytes, as common file systems allow.
const MAX_NAME_BYTES: usize = 255;

/// A relative path of plain names. An empty list means the workspace itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorkspacePath {
    names: Vec<String>,
}

/// Why a text is not a path inside a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WorkspacePathError {
    /// The path names nothing.
    #[error("it names no file or folder")]
    Empty,
    /// The path starts at the root of the file system.
    #[error("it is absolute; expected a path relative to the workspace")]
    Absolute,
    /// The path starts with a Windows drive.
    #[error("it names a drive; expected a path relative to the workspace")]
    DriveLetter,
    /// One of the names is `..`.
    #[error("`..` is not allowed in it")]
    ParentSegment,
    /// The path has two slashes in a row, or a slash at the end.
    #[error("one of its names is empty")]
    EmptyName,
    /// The path has a backslash, which is a separator on one system and a character on another.
    #[error("it contains a backslash; names are separated by `/`")]
    Backslash,
    /// The path has a NUL, a line break or another control character.
    #[error("it contains a control character")]
    ControlCharacter,
    /// The path or a name is longer than file systems allow.
    #[error("it is too long: at most 1024 bytes, and 255 for a name")]
    TooLong,
}

impl WorkspacePath {
    /// Parses the path of a file or a folder below the workspace.
    pub(crate) fn parse(text: &str) -> Result<Self, WorkspacePathError> {
        let parsed = Self::parse_names(text)?;
        if parsed.names.is_empty() { Err(WorkspacePathError::Empty) } else { Ok(parsed) }
    }

    /// Parses the path of a folder. The workspace itself is an empty text or `.`; a slash at the
    /// end is allowed.
    pub(crate) fn parse_folder(text: &str) -> Result<Self, WorkspacePathError> {
        match text.strip_suffix('/') {
            Some("") => Err(WorkspacePathError::Absolute),
            Some(rest) => Self::parse_names(rest),
            None => Self::parse_names(text),
        }
    }

    /// Returns the path with its names replaced.
    pub(crate) fn map_names(self, replace: impl FnOnce(Vec<String>) -> Vec<String>) -> Self {
        Self { names: replace(self.names) }
    }

    fn parse_names(text: &str) -> Result<Self, WorkspacePathError> {
        if text.len() > MAX_PATH_BYTES {
            return Err(WorkspacePathError::TooLong);
        }
        if text.chars().any(char::is_control) {
            return Err(WorkspacePathError::ControlCharacter);
        }
        if text.contains('\\') {
            return Err(WorkspacePathError::Backslash);
        }
        if text.starts_with('/') {
            return Err(WorkspacePathError::Absolute);
        }
        if matches!(text.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic()) {
            return Err(WorkspacePathError::DriveLetter);
        }
        let mut names = Vec::new();
        for name in text.split('/').filter(|_| !text.is_empty()) {
            match name {
                "" => return Err(WorkspacePathError::EmptyName),
                ".." => return Err(WorkspacePathError::ParentSegment),
                "." => {}
                name if name.len() > MAX_NAME_BYTES => return Err(WorkspacePathError::TooLong),
                name => names.push(name.to_owned()),
            }
        }
        Ok(Self { names })
    }

    /// Returns the path of the workspace itself.
    pub(crate) fn root() -> Self {
        Self { names: Vec::new() }
    }

    /// Returns the names, from the workspace down.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the path for the folder's handle; `.` for the workspace itself.
    pub(crate) fn to_path_buf(&self) -> PathBuf {
        if self.names.is_empty() { PathBuf::from(".") } else { self.names.iter().collect() }
    }

    /// Splits the path into its parent folder and its own name.
    pub(crate) fn split(&self) -> Option<(Self, &str)> {
        let (last, rest) = self.names.split_last()?;
        Some((Self { names: rest.to_vec() }, last))
    }

    /// Returns the path of an entry in this folder.
    pub(crate) fn join(&self, name: &str) -> Self {
        let mut names = self.names.clone();
        names.push(name.to_owned());
        Self { names }
    }
}

/// Formats the path with `/` between names on every system.
impl std::fmt::Display for WorkspacePath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.names.join("/"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<&str, WorkspacePathError>) {
        let found = WorkspacePath::parse(text).map(|parsed| parsed.to_string());
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
        check("", Err(WorkspacePathError::Empty));
        check(".", Err(WorkspacePathError::Empty));
        check("/etc/passwd", Err(WorkspacePathError::Absolute));
        check("//server/share", Err(WorkspacePathError::Absolute));
        check("C:/x", Err(WorkspacePathError::DriveLetter));
        check("c:x", Err(WorkspacePathError::DriveLetter));
        check("..", Err(WorkspacePathError::ParentSegment));
        check("a/../b", Err(WorkspacePathError::ParentSegment));
        check("a//b", Err(WorkspacePathError::EmptyName));
        check("a/", Err(WorkspacePathError::EmptyName));
        check("a\\b", Err(WorkspacePathError::Backslash));
        check("a\0b", Err(WorkspacePathError::ControlCharacter));
        check("a\nb", Err(WorkspacePathError::ControlCharacter));
        check(&"n".repeat(256), Err(WorkspacePathError::TooLong));
        check(&"n/".repeat(513), Err(WorkspacePathError::TooLong));
    }

    #[test]
    fn a_folder_may_be_the_workspace_itself() {
        for text in ["", ".", "./"] {
            assert_eq!(
                WorkspacePath::parse_folder(text).unwrap().to_path_buf(),
                PathBuf::from("."),
                "{text:?}"
            );
        }
        assert_eq!(WorkspacePath::parse_folder("a/b/").unwrap().to_string(), "a/b");
        assert_eq!(WorkspacePath::parse_folder("/"), Err(WorkspacePathError::Absolute));
        assert_eq!(WorkspacePath::parse_folder("a//"), Err(WorkspacePathError::EmptyName));
    }
}
