//! Writes the state files beside the protocol after every commit. They are a projection: the log is
//! the truth, and a file that cannot be written is told and holds nothing up.

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
    format: OnceLock<Option<StateFormat>>,
}

impl Projecting {
    /// For the runs of a protocol folder.
    pub(crate) fn new(inner: Arc<dyn Watch>, protocol: PathBuf) -> Self {
        Self { inner, protocol, format: OnceLock::new() }
    }

    /// How the folder wants its files; `None` where it cannot be read now.
    fn format(&self) -> Option<StateFormat> {
        let read =
            || house::protocol(&self.protocol).ok().map(|(protocol, _)| protocol.state_format);
        *self.format.get_or_init(read)
    }
}

impl Watch for Projecting {
    fn committed(&self, state: &State, events: &[Event]) {
        if state.parent.is_none()
            && let Some(format) = self.format()
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
}
