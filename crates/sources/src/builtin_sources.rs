//! The built-in kinds of sources, and the sources that are open.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use countersign_protocol::RetrievalSource;
use countersign_runtime::document::DocumentReader;
use countersign_runtime::effect::{EffectError, RetrieverFactory, SourceRetriever};

use crate::documents::DocumentSource;
use crate::neo4j::Neo4jSource;
use crate::postgres::PostgresSource;
use crate::settings::{EnvLookup, SourceSettings};
use crate::sqlite::SqliteSource;

/// Maximum number of sources that stay open; beyond that they are opened again for each use.
const MAX_OPEN_SOURCES: usize = 64;

/// Opens sources of the kinds `sqlite`, `postgres`, `documents` and `neo4j`, and keeps them open.
///
/// Two runs whose policies declare a source in the same way share it. Opening reads only the
/// settings: the first query accesses the file, folder or server.
pub struct BuiltinSources {
    documents: DocumentReader,
    environment: Box<EnvLookup>,
    open: Mutex<BTreeMap<String, Arc<dyn SourceRetriever>>>,
}

impl BuiltinSources {
    /// Supports all kinds. `documents` reads PDF and Office files, and `environment` looks up variables.
    #[must_use]
    pub fn new(documents: DocumentReader, environment: Box<EnvLookup>) -> Self {
        Self { documents, environment, open: Mutex::new(BTreeMap::new()) }
    }

    fn open_source(
        &self,
        name: &str,
        declared: &RetrievalSource,
        base: &Path,
    ) -> Option<Result<Arc<dyn SourceRetriever>, EffectError>> {
        let known = match declared.kind.as_str() {
            "sqlite" => SqliteSource::SETTINGS,
            "postgres" => PostgresSource::SETTINGS,
            "documents" => DocumentSource::SETTINGS,
            "neo4j" => Neo4jSource::SETTINGS,
            _ => return None,
        };
        let settings = match SourceSettings::parse(
            name,
            &declared.settings,
            base,
            &*self.environment,
            known,
        ) {
            Ok(settings) => settings,
            Err(error) => return Some(Err(error)),
        };
        Some(match declared.kind.as_str() {
            "sqlite" => SqliteSource::from_settings(&settings).map(into_shared),
            "postgres" => PostgresSource::from_settings(&settings).map(into_shared),
            "documents" => {
                DocumentSource::from_settings(&settings, self.documents.clone()).map(into_shared)
            }
            _ => Neo4jSource::from_settings(&settings).map(into_shared),
        })
    }
}

fn into_shared(source: impl SourceRetriever + 'static) -> Arc<dyn SourceRetriever> {
    Arc::new(source)
}

impl RetrieverFactory for BuiltinSources {
    fn open_retriever(
        &self,
        name: &str,
        declared: &RetrievalSource,
        base: &Path,
    ) -> Option<Result<Arc<dyn SourceRetriever>, EffectError>> {
        let key = format!("{name}\n{}\n{}\n{}", declared.kind, base.display(), declared.settings);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(source) = open.get(&key) {
            return Some(Ok(Arc::clone(source)));
        }
        let opened = self.open_source(name, declared, base)?;
        if let Ok(source) = &opened {
            if open.len() >= MAX_OPEN_SOURCES {
                open.clear();
            }
            open.insert(key, Arc::clone(source));
        }
        Some(opened)
    }
}

/// Shows no settings, because they may contain secrets.
impl std::fmt::Debug for BuiltinSources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BuiltinSources").field("documents", &self.documents).finish_non_exhaustive()
    }
}
