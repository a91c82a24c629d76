//! Which model answers to which name.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use countersign_models::{Model, ModelSpec, Settings, connect};

/// Finds models by name.
pub trait Models: Send + Sync {
    /// The model of a name; `None` where a person takes its place, or why there is none.
    fn find(&self, name: &str) -> Result<Option<Arc<dyn Model>>, String>;
}

/// Models that are connected as their names are met.
pub struct Connected {
    settings: Settings,
    /// What scripts' paths are relative to.
    folder: PathBuf,
    known: Mutex<BTreeMap<String, Arc<dyn Model>>>,
}

impl Connected {
    /// With these keys and addresses; paths of scripts are meant from `folder`.
    #[must_use]
    pub fn new(settings: Settings, folder: PathBuf) -> Self {
        Self { settings, folder, known: Mutex::default() }
    }
}

impl Models for Connected {
    fn find(&self, name: &str) -> Result<Option<Arc<dyn Model>>, String> {
        if let Some(known) = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(name) {
            return Ok(Some(Arc::clone(known)));
        }
        let spec: ModelSpec = name.parse().map_err(|error| format!("{error}"))?;
        let spec = match spec {
            ModelSpec::Human => return Ok(None),
            ModelSpec::Script(file) => ModelSpec::Script(self.folder.join(file)),
            remote @ ModelSpec::Remote { .. } => remote,
        };
        let model = connect(&spec, &self.settings).map_err(|error| format!("{error}"))?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(name.to_owned(), Arc::clone(&model));
        Ok(Some(model))
    }
}
