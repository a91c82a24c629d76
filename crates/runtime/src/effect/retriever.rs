//! Sources: where things are looked up, by the names that the policy gives them.

use std::collections::BTreeMap;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use countersign_core::protocol::{ProtocolPolicy, RetrievalSource};
use serde_json::Value;

use super::{EffectError, EffectErrorKind, FilesRetriever};

/// A future behind a pointer, so that sources of all kinds fit one registry.
pub type RetrieverFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Something that answers questions.
pub trait SourceRetriever: Send + Sync {
    /// Looks something up. Nothing found is an empty answer; not being able to look is an error.
    fn retrieve<'a>(&'a self, query: &'a Value) -> RetrieverFuture<'a, Result<Value, EffectError>>;
}

/// Kinds of sources beyond those that the runtime has itself.
pub trait RetrieverFactory: Send + Sync {
    /// Opens a source that a policy declares; nothing where its kind is not known here.
    ///
    /// It is asked for every effect, so what is dear to open is kept by whoever opens it.
    fn open_retriever(
        &self,
        name: &str,
        declared: &RetrievalSource,
        base: &Path,
    ) -> Option<Result<Arc<dyn SourceRetriever>, EffectError>>;
}

/// The sources of a protocol.
#[derive(Clone, Default)]
pub struct RetrieverRegistry {
    retrievers: BTreeMap<String, Result<Arc<dyn SourceRetriever>, EffectError>>,
}

impl RetrieverRegistry {
    /// The sources that a policy declares. Relative folders are meant from `base`.
    ///
    /// One that cannot be had is an error when it is asked, with its name, and no sooner: a run
    /// that does not need it may go on.
    #[must_use]
    pub fn open(policy: &ProtocolPolicy, base: &Path) -> Self {
        Self::open_with_factory(policy, base, None)
    }

    /// The same with more kinds than the runtime has itself.
    #[must_use]
    pub fn open_with_factory(
        policy: &ProtocolPolicy,
        base: &Path,
        kinds: Option<&dyn RetrieverFactory>,
    ) -> Self {
        let mut sources = Self::default();
        for (name, declared) in &policy.sources {
            let source = match declared.kind.as_str() {
                "files" => FilesRetriever::open(name, &declared.settings, base)
                    .map(|files| Arc::new(files) as Arc<dyn SourceRetriever>),
                kind => kinds
                    .and_then(|kinds| kinds.open_retriever(name, declared, base))
                    .unwrap_or_else(|| {
                        let what = "which is not configured here";
                        let message = format!("source `{name}` is of kind `{kind}`, {what}");
                        Err(EffectError::new_permanent(EffectErrorKind::NotConfigured, message))
                    }),
            };
            sources.retrievers.insert(name.clone(), source);
        }
        sources
    }

    /// Sets a source of any kind under a name, over what the policy gave.
    #[must_use]
    pub fn with_retriever(mut self, name: &str, source: Arc<dyn SourceRetriever>) -> Self {
        self.retrievers.insert(name.to_owned(), Ok(source));
        self
    }

    /// Asks a source by its name.
    pub async fn retrieve(&self, name: &str, query: &Value) -> Result<Value, EffectError> {
        match self.retrievers.get(name) {
            Some(Ok(source)) => source.retrieve(query).await,
            Some(Err(error)) => Err(error.clone()),
            None => Err(EffectError::new_permanent(
                EffectErrorKind::NotConfigured,
                format!("the policy declares no source `{name}`"),
            )),
        }
    }
}

/// Names only: a source may hold what should not be shown.
impl std::fmt::Debug for RetrieverRegistry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.retrievers.keys()).finish()
    }
}
