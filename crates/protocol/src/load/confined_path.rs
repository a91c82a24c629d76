//! Paths as authors write them: relative, and never leading outside.
//!
//! This check catches authors' mistakes. Code that opens a file confines it by capability.

use super::file_node::FileNode;
use super::load_diagnostics::LoadDiagnostics;

/// Reads a path that must stay inside the folder.
pub(super) fn read_confined_path(
    member: &FileNode<'_>,
    faults: &LoadDiagnostics,
) -> Option<String> {
    let text = member.text()?;
    match confine_path("", text) {
        Ok(path) => Some(path),
        Err(reason) => {
            report_path_escape(member, text, reason, faults);
            None
        }
    }
}

/// Checks a path template, with each placeholder taken as a plain name.
pub(super) fn check_template_path(member: &FileNode<'_>, faults: &LoadDiagnostics) -> Option<()> {
    let text = member.text()?;
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        plain = plain + before + "x";
        rest = after.split_once("}}").map_or("", |(_, after)| after);
    }
    match confine_path("", &(plain + rest)) {
        Ok(_) => Some(()),
        Err(reason) => {
            report_path_escape(member, text, reason, faults);
            None
        }
    }
}

pub(super) fn report_path_escape(
    member: &FileNode<'_>,
    text: &str,
    reason: &str,
    faults: &LoadDiagnostics,
) {
    let message = format!("`{}` {reason}", text.replace('\0', "\\0"));
    let hint = "write a path relative to the workspace, with `/` between names".to_owned();
    faults.push(member.diagnose("path_escapes", message).with_hint(Some(hint)));
}

/// Joins a path to a folder and resolves `.` and `..`. The error says why the path leads outside or
/// is invalid.
pub fn confine_path(folder: &str, path: &str) -> Result<String, &'static str> {
    let drive = path.as_bytes().get(1) == Some(&b':') && path.as_bytes()[0].is_ascii_alphabetic();
    if path.contains('\0') {
        return Err("contains a NUL character");
    }
    if path.starts_with(['/', '\\']) || drive {
        return Err("is absolute");
    }
    if path.contains('\\') {
        return Err("contains a backslash");
    }
    let mut names: Vec<&str> = folder.split('/').filter(|name| !name.is_empty()).collect();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop().ok_or("points outside the folder")?;
            }
            name => names.push(name),
        }
    }
    if names.is_empty() { Err("does not name a file") } else { Ok(names.join("/")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside() {
        let read = |folder, path| confine_path(folder, path).map_err(str::to_owned);
        assert_eq!(read("", "a/./b.md").unwrap(), "a/b.md");
        assert_eq!(read("contracts", "../schemas/x.json").unwrap(), "schemas/x.json");
        for (path, reason) in [
            ("../a", "points outside the folder"),
            ("a/../../b", "points outside the folder"),
            ("/etc/passwd", "is absolute"),
            ("C:/x", "is absolute"),
            ("\\\\host\\x", "is absolute"),
            ("a\\..\\b", "contains a backslash"),
            ("a\0b", "contains a NUL character"),
            ("", "does not name a file"),
            (".", "does not name a file"),
        ] {
            assert_eq!(read("", path).unwrap_err(), reason, "{path:?}");
        }
    }
}
