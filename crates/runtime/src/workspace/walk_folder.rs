//! Meets every file below a folder of the workspace once, in order.
//!
//! Links are not followed, so there are no circles; hidden things are not met.

use std::ops::ControlFlow;

use super::{Workspace, WorkspaceError, WorkspacePath};

/// How deep folders are entered.
const MAX_DEPTH: usize = 64;

/// How a walk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WalkOutcome {
    /// Everything was met.
    Complete,
    /// Some folders lie too deep and were not entered.
    TooDeep,
    /// The visitor had enough.
    Stopped,
}

impl Workspace {
    /// Shows the files below a folder to a visitor until it has had enough.
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
            // What vanished since is not there to be met.
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
