//! Writes the state files beside the protocol after every commit. They are a projection: the log is
//! the truth, and a file that cannot be written is told and holds nothing up.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use countersign_core::protocol::StateFormat;
use countersign_core::run::{Event, State};
use countersign_runtime::projection;
use countersign_runtime::watch::Watch;

use crate::{house, output};

/// Watches runs, and writes the newest document of those that no other run started.
pub(crate) struct Projecting {
    inner: Arc<dyn Watch>,
    protocol: PathBuf,
    /// How the folder wants its files, and the workflows it has; `None` where it cannot be read now.
    known: OnceLock<Option<(StateFormat, BTreeSet<String>)>>,
}

impl Projecting {
    /// For the runs of a protocol folder.
    pub(crate) fn new(inner: Arc<dyn Watch>, protocol: PathBuf) -> Self {
        Self { inner, protocol, known: OnceLock::new() }
    }

    /// How the files of a run are laid out; `None` for one that another protocol's workflow leads.
    fn format(&self, workflow: &str) -> Option<StateFormat> {
        let read = || {
            let (protocol, _) = house::protocol(&self.protocol).ok()?;
            Some((protocol.state_format, protocol.workflows.keys().cloned().collect()))
        };
        let (format, workflows) = self.known.get_or_init(read).as_ref()?;
        workflows.contains(workflow).then_some(*format)
    }
}

impl Watch for Projecting {
    fn committed(&self, state: &State, events: &[Event]) {
        if state.parent.is_none()
            && let Some(format) = self.format(&state.workflow)
        {
            let folder = projection::state_folder(&self.protocol);
            if let Err(error) = projection::write(&folder, format, &state.document) {
                output::talk(&format!("the state files could not be written: {error}"));
            }
        }
        self.inner.committed(state, events);
    }

    fn writing(&self, run: &str, text: &str) {
        self.inner.writing(run, text);
    }

    fn warned(&self, run: &str, message: &str) {
        self.inner.warned(run, message);
    }
}
