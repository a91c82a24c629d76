//! Meets every file below a folder of the workspace once, in order.
//!
//! Links are not followed, so there are no circles; hidden things are not met.

use std::ops::ControlFlow;

use super::{Place, Workspace, WorkspaceError};

/// How deep folders are entered.
const DEEPEST: usize = 64;

/// How a walk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Walked {
    /// Everything was met.
    All,
    /// Some folders lie too deep and were not entered.
    TooDeep,
    /// The visitor had enough.
    Stopped,
}

impl Workspace {
    /// Shows the files below a folder to a visitor until it has had enough.
    pub(crate) fn walk(
        &self,
        folder: &Place,
        visit: &mut dyn FnMut(&Place) -> ControlFlow<()>,
    ) -> Result<Walked, WorkspaceError> {
        self.walk_down(folder, 0, visit)
    }

    fn walk_down(
        &self,
        folder: &Place,
        depth: usize,
        visit: &mut dyn FnMut(&Place) -> ControlFlow<()>,
    ) -> Result<Walked, WorkspaceError> {
        if depth > DEEPEST {
            return Ok(Walked::TooDeep);
        }
        let mut walked = Walked::All;
        for name in self.names_in(folder)?.0 {
            let child = folder.child(&name);
            // What vanished since is not there to be met.
            let Ok(found) = self.root.symlink_metadata(child.path()) else { continue };
            if found.is_dir() {
                match self.walk_down(&child, depth + 1, visit) {
                    Ok(Walked::Stopped) => return Ok(Walked::Stopped),
                    Ok(Walked::TooDeep) => walked = Walked::TooDeep,
                    Ok(Walked::All) | Err(WorkspaceError::Missing { .. }) => {}
                    Err(error) => return Err(error),
                }
            } else if found.is_file() && visit(&child).is_break() {
                return Ok(Walked::Stopped);
            }
        }
        Ok(walked)
    }
}
