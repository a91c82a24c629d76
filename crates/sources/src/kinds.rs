//! The kinds of sources that there are, and the sources that are open.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use countersign_core::protocol::RetrievalSource;
use countersign_runtime::effect::{EffectError, Source, SourceKinds};

use crate::documents::{Documents, PdfReader};
use crate::neo4j::Neo4j;
use crate::postgres::Postgres;
use crate::settings::{Environment, Settings};
use crate::sqlite::Sqlite;

/// How many sources are kept open; beyond that they are opened anew.
const MOST_OPEN: usize = 64;

/// Opens sources of the kinds `sqlite`, `postgres`, `documents` and `neo4j`, and keeps them open.
///
/// Two runs whose policies declare a source alike share it. Opening reads the settings only: the
/// file, folder or server is looked for when the source is first asked.
pub struct Kinds {
    pdf: PdfReader,
    environment: Box<Environment>,
    open: Mutex<BTreeMap<String, Arc<dyn Source>>>,
}

impl Kinds {
    /// All kinds. PDF files are read by this reader, and variables in this environment.
    #[must_use]
    pub fn new(pdf: PdfReader, environment: Box<Environment>) -> Self {
        Self { pdf, environment, open: Mutex::new(BTreeMap::new()) }
    }

    fn configure(
        &self,
        name: &str,
        declared: &RetrievalSource,
        base: &Path,
    ) -> Option<Result<Arc<dyn Source>, EffectError>> {
        let known = match declared.kind.as_str() {
            "sqlite" => Sqlite::SETTINGS,
            "postgres" => Postgres::SETTINGS,
            "documents" => Documents::SETTINGS,
            "neo4j" => Neo4j::SETTINGS,
            _ => return None,
        };
        let settings =
            match Settings::read(name, &declared.settings, base, &*self.environment, known) {
                Ok(settings) => settings,
                Err(error) => return Some(Err(error)),
            };
        Some(match declared.kind.as_str() {
            "sqlite" => Sqlite::configure(&settings).map(shared),
            "postgres" => Postgres::configure(&settings).map(shared),
            "documents" => Documents::configure(&settings, self.pdf.clone()).map(shared),
            _ => Neo4j::configure(&settings).map(shared),
        })
    }
}

fn shared(source: impl Source + 'static) -> Arc<dyn Source> {
    Arc::new(source)
}

impl SourceKinds for Kinds {
    fn open(
        &self,
        name: &str,
        declared: &RetrievalSource,
        base: &Path,
    ) -> Option<Result<Arc<dyn Source>, EffectError>> {
        let key = format!("{name}\n{}\n{}\n{}", declared.kind, base.display(), declared.settings);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(source) = open.get(&key) {
            return Some(Ok(Arc::clone(source)));
        }
        let opened = self.configure(name, declared, base)?;
        if let Ok(source) = &opened {
            if open.len() >= MOST_OPEN {
                open.clear();
            }
            open.insert(key, Arc::clone(source));
        }
        Some(opened)
    }
}

/// Names nothing: settings may hold what should not be shown.
impl std::fmt::Debug for Kinds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kinds").field("pdf", &self.pdf).finish_non_exhaustive()
    }
}
