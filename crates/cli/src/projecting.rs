//! Has the state files beside the protocol written after commits. They are a projection: the log is the
//! truth, and a file that cannot be written is told and holds nothing up.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use countersign_core::protocol::StateFormat;
use countersign_core::run::{Event, State};
use countersign_runtime::projection::{Projector, state_folder};
use countersign_runtime::watch::Watch;

use crate::{house, output};

/// Watches runs, and writes the newest document of those that no other run started.
pub(crate) struct Projecting {
    inner: Arc<dyn Watch>,
    protocol: PathBuf,
    /// Who writes them; `None` where there can be no thread for it, which was told.
    files: OnceLock<Option<Projector>>,
    /// How the folder wants its files, and the workflows it has; `None` where it cannot be read now.
    known: OnceLock<Option<(StateFormat, BTreeSet<String>)>>,
}

impl Projecting {
    /// For the runs of a protocol folder.
    pub(crate) fn new(inner: Arc<dyn Watch>, protocol: PathBuf) -> Self {
        Self { inner, protocol, files: OnceLock::new(), known: OnceLock::new() }
    }

    fn files(&self) -> Option<&Projector> {
        let told = |why: String| {
            output::talk(&format!("the state files could not be written: {why}"));
        };
        let begin = || {
            let folder = state_folder(&self.protocol);
            let begun = Projector::new(folder, move |error| told(error.to_string()));
            begun.map_err(|error| told(error.to_string())).ok()
        };
        self.files.get_or_init(begin).as_ref()
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
            && let Some(files) = self.files()
        {
            files.show(format, &state.document);
        }
        self.inner.committed(state, events);
    }

    fn writing(&self, state: &State, order: &str, text: &str) {
        self.inner.writing(state, order, text);
    }

    fn wrote(&self, state: &State, order: &str) {
        self.inner.wrote(state, order);
    }

    fn warned(&self, run: &str, message: &str) {
        self.inner.warned(run, message);
    }
}
