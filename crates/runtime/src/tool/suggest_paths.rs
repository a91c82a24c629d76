//! Suggests paths for a file that does not exist.

use std::ops::ControlFlow;

use crate::workspace::{MAX_LISTED_ENTRIES, Workspace, WorkspacePath};

/// Maximum number of files that are visited.
const MAX_VISITED_FILES: usize = 2_000;

/// Maximum number of suggestions.
const MAX_SUGGESTIONS: usize = 3;

/// Returns paths near one that does not exist: the same name elsewhere, and similar names in its
/// folder.
pub(super) fn suggest_paths(workspace: &Workspace, path: &str) -> Vec<String> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let mut found: Vec<(usize, String)> = Vec::new();
    // A folder that cannot be listed gives no suggestions.
    for entry in workspace.list(folder, MAX_LISTED_ENTRIES).unwrap_or_default().entries {
        if let Some(far) = measure_distance(name, &entry.name) {
            let whole =
                if folder.is_empty() { entry.name } else { format!("{folder}/{}", entry.name) };
            found.push((far, whole));
        }
    }
    let mut seen = 0;
    let mut visit = |file: &WorkspacePath| {
        let same = |last: &String| last.to_lowercase() == name.to_lowercase();
        if file.names().last().is_some_and(same) {
            found.push((0, file.to_string()));
        }
        seen += 1;
        if seen < MAX_VISITED_FILES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    // An aborted walk still contributes what it found.
    drop(workspace.walk(&WorkspacePath::root(), &mut visit));
    found.sort();
    found.dedup();
    found.into_iter().map(|(_, path)| path).take(MAX_SUGGESTIONS).collect()
}

/// Returns the edit distance of two names if they are similar enough.
fn measure_distance(left: &str, right: &str) -> Option<usize> {
    let (left, right) = (left.to_lowercase(), right.to_lowercase());
    let longest = left.chars().count().max(right.chars().count());
    let far = strsim::osa_distance(&left, &right);
    (far <= longest / 3).then_some(far)
}
