//! Visits every file below a folder of the workspace once, in order.
//!
//! Links are not followed, so there are no cycles; hidden files are not visited.

use std::ops::ControlFlow;

use super::{Workspace, WorkspaceError, WorkspacePath};

/// Maximum depth of visited folders.
const MAX_DEPTH: usize = 64;

/// How a walk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WalkOutcome {
    /// Every file was visited.
    Complete,
    /// Some folders are nested too deeply and were not visited.
    TooDeep,
    /// The visitor stopped the walk.
    Stopped,
}

impl Workspace {
    /// Passes the files below a folder to a visitor until it stops the walk.
    pub(crate) fn walk(
        &self,
        folder: &WorkspacePath,
        visit: &mut dyn FnMut(&WorkspacePath) -> ControlFlow<()>,
    ) -> Result<WalkOutcome, WorkspaceError> {
        self.walk_down(folder, 0, visit)
    }

    fn walk_down(
        &self,
        folder: &WorkspacePath,
        depth: usize,
        visit: &mut dyn FnMut(&WorkspacePath) -> ControlFlow<()>,
    ) -> Result<WalkOutcome, WorkspaceError> {
        if depth > MAX_DEPTH {
            return Ok(WalkOutcome::TooDeep);
        }
        let mut walked = WalkOutcome::Complete;
        for name in self.list_names(folder)?.0 {
            let child = folder.join(&name);
            // The entry may have disappeared meanwhile.
            let Ok(found) = self.root.symlink_metadata(child.to_path_buf()) else { continue };
            if found.is_dir() {
                match self.walk_down(&child, depth + 1, visit) {
                    Ok(WalkOutcome::Stopped) => return Ok(WalkOutcome::Stopped),
                    Ok(WalkOutcome::TooDeep) => walked = WalkOutcome::TooDeep,
                    Ok(WalkOutcome::Complete) | Err(WorkspaceError::NotFound { .. }) => {}
                    Err(error) => return Err(error),
                }
            } else if found.is_file() && visit(&child).is_break() {
                return Ok(WalkOutcome::Stopped);
            }
        }
        Ok(walked)
    }
}
