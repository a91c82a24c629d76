//! Writes the state files next to the protocol after each commit. They are a projection of the run
//! log; if a file cannot be written, the writer reports it and the run continues.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use countersign_protocol::StateFileLayout;
use countersign_run::{RunEvent, RunState};
use countersign_runtime::projection::{StateFileProjector, state_folder};
use countersign_runtime::run_observer::RunObserver;

use crate::{context, output};

/// Observes runs and writes the newest document of each top-level run.
pub(crate) struct StateFileWriter {
    inner: Arc<dyn RunObserver>,
    protocol: PathBuf,
    /// The writer thread; `None` if it could not be started, which has been reported.
    projector: OnceLock<Option<StateFileProjector>>,
    /// The folder's state file layout and workflows; `None` if the folder cannot be read now.
    folder_layout: OnceLock<Option<(StateFileLayout, BTreeSet<String>)>>,
}

impl StateFileWriter {
    /// Creates a writer for the runs of a protocol folder.
    pub(crate) fn new(inner: Arc<dyn RunObserver>, protocol: PathBuf) -> Self {
        Self { inner, protocol, projector: OnceLock::new(), folder_layout: OnceLock::new() }
    }

    fn projector(&self) -> Option<&StateFileProjector> {
        let warn = |why: String| {
            output::print_message(&format!("cannot write the state files: {why}"));
        };
        let begin = || {
            let folder = state_folder(&self.protocol);
            let begun = StateFileProjector::new(folder, move |error| warn(error.to_string()));
            begun.map_err(|error| warn(error.to_string())).ok()
        };
        self.projector.get_or_init(begin).as_ref()
    }

    /// Returns the layout of a run's state files; `None` if its workflow belongs to another
    /// protocol.
    fn find_state_format(&self, workflow: &str) -> Option<StateFileLayout> {
        let read = || {
            let (protocol, _) = context::load_protocol_folder(&self.protocol).ok()?;
            Some((protocol.state_format, protocol.workflows.keys().cloned().collect()))
        };
        let (format, workflows) = self.folder_layout.get_or_init(read).as_ref()?;
        workflows.contains(workflow).then_some(*format)
    }
}

impl RunObserver for StateFileWriter {
    fn on_commit(&self, state: &RunState, events: &[RunEvent]) {
        if state.parent.is_none()
            && let Some(format) = self.find_state_format(&state.workflow)
            && let Some(files) = self.projector()
        {
            files.enqueue(format, &state.document);
        }
        self.inner.on_commit(state, events);
    }

    fn on_model_text(&self, state: &RunState, order: &str, text: &str) {
        self.inner.on_model_text(state, order, text);
    }

    fn on_model_done(&self, state: &RunState, order: &str) {
        self.inner.on_model_done(state, order);
    }

    fn on_warning(&self, run: &str, message: &str) {
        self.inner.on_warning(run, message);
    }
}
