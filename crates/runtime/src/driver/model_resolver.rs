//! Resolves model names to models.

use std::fmt::Display;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use countersign_contract::source::SourceFile;
use countersign_models::{
    ChatModel, ModelConfigError, ModelSettings, ModelSpec, ScriptExamples, ScriptedModel,
    connect_model,
};

use crate::lru_cache::LruCache;
use crate::trust::is_outside_folder;

/// Maximum size of a script, in bytes.
const MAX_SCRIPT_BYTES: u64 = 8 << 20;

/// Maximum number of connected models in the cache. Runs choose the names, and any model can be
/// connected again.
const MAX_CACHED_MODELS: usize = 256;

/// Resolves model names to connected models.
pub trait ModelResolver: Send + Sync {
    /// Returns the model of a name; `Ok(None)` if a person replies in its place, or an error
    /// message if there is no such model.
    fn resolve_model(&self, name: &str) -> Result<Option<Arc<dyn ChatModel>>, String>;

    /// Returns the inputs and answers that the script of a name fits; `None` if the name is no
    /// script in the working folder, or the script cannot be read.
    fn load_script_examples(&self, name: &str) -> Option<ScriptExamples> {
        let _ = name;
        None
    }
}

/// A resolver that connects models on first use and caches them.
pub struct CachedModelResolver {
    settings: ModelSettings,
    /// Base folder for relative script paths.
    folder: PathBuf,
    cache: Mutex<LruCache<String, Arc<dyn ChatModel>>>,
}

impl CachedModelResolver {
    /// Creates a resolver with these API keys and addresses; script paths are relative to `folder`.
    #[must_use]
    pub fn new(settings: ModelSettings, folder: PathBuf) -> Self {
        Self { settings, folder, cache: Mutex::new(LruCache::new(MAX_CACHED_MODELS)) }
    }
}

impl ModelResolver for CachedModelResolver {
    fn resolve_model(&self, name: &str) -> Result<Option<Arc<dyn ChatModel>>, String> {
        let mut known = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(&name.to_owned()) {
            return Ok(Some(Arc::clone(known)));
        }
        drop(known);
        let spec: ModelSpec = name.parse().map_err(|error| format!("{error}"))?;
        let spec = match spec {
            ModelSpec::Human => return Ok(None),
            ModelSpec::Script(file) => {
                return Ok(Some(self.cache_model(name, Arc::new(self.read_script(&file)?))));
            }
            remote @ ModelSpec::Remote { .. } => remote,
        };
        let model = connect_model(&spec, &self.settings).map_err(|error| format!("{error}"))?;
        Ok(Some(self.cache_model(name, model)))
    }

    fn load_script_examples(&self, name: &str) -> Option<ScriptExamples> {
        match name.parse().ok()? {
            ModelSpec::Script(file) if !is_outside_folder(&file) => {
                Some(self.read_script(&file).ok()?.examples().clone())
            }
            _ => None,
        }
    }
}

impl CachedModelResolver {
    fn cache_model(&self, name: &str, model: Arc<dyn ChatModel>) -> Arc<dyn ChatModel> {
        let mut known = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(name.to_owned(), Arc::clone(&model));
        model
    }

    /// Reads a script. Inside the folder, no link can lead out of it; a script outside it was
    /// permitted by a person.
    fn read_script(&self, file: &Path) -> Result<ScriptedModel, String> {
        let shown = file.display().to_string();
        let fault = |why: &dyn Display| format!("cannot read the script `{shown}`: {why}");
        let (folder, inside) = if is_outside_folder(file) {
            let whole = self.folder.join(file);
            let name = whole.file_name().map(PathBuf::from).unwrap_or_default();
            (whole.parent().map(Path::to_owned).unwrap_or_default(), name)
        } else {
            (self.folder.clone(), file.to_owned())
        };
        let folder = Dir::open_ambient_dir(&folder, ambient_authority());
        let folder = folder.map_err(|error| fault(&error))?;
        // Reading a pipe would never end, and some special files have no end.
        if !folder.metadata(&inside).map_err(|error| fault(&error))?.is_file() {
            return Err(fault(&"it is not a regular file"));
        }
        let mut text = String::new();
        let opened = folder.open(&inside).map_err(|error| fault(&error))?;
        let read = opened.take(MAX_SCRIPT_BYTES + 1).read_to_string(&mut text);
        read.map_err(|error| fault(&error))?;
        if text.len() as u64 > MAX_SCRIPT_BYTES {
            return Err(fault(&format!("it is larger than {} MiB", MAX_SCRIPT_BYTES >> 20)));
        }
        let script = ScriptedModel::parse(SourceFile::new(
            self.folder.join(file).display().to_string(),
            text,
        ));
        script.map_err(|faults| ModelConfigError::BadScript(faults).to_string())
    }
}
