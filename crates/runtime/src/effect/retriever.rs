//! Retrieval sources, by the names that the policy gives them.

use std::collections::BTreeMap;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use countersign_protocol::{ProtocolPolicy, RetrievalSource};
use serde_json::Value;

use super::{EffectError, EffectErrorKind, FilesRetriever};

/// A boxed future, so that sources of all kinds fit into one registry.
pub type RetrieverFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A source that answers queries.
pub trait SourceRetriever: Send + Sync {
    /// Answers a query. If nothing matches, the result is empty; if the source cannot be searched,
    /// it is an error.
    fn retrieve<'a>(&'a self, query: &'a Value) -> RetrieverFuture<'a, Result<Value, EffectError>>;
}

/// Opens kinds of sources that the runtime does not provide itself.
pub trait RetrieverFactory: Send + Sync {
    /// Opens a source that a policy declares. Returns `None` if its kind is unknown to this
    /// factory.
    ///
    /// This is called for every effect, so an implementation should cache what is expensive to
    /// open.
    fn open_retriever(
        &self,
        name: &str,
        declared: &RetrievalSource,
        base: &Path,
    ) -> Option<Result<Arc<dyn SourceRetriever>, EffectError>>;
}

/// Knows no kinds of sources, so that protocols can use only those that the runtime provides.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoopRetrieverFactory;

impl RetrieverFactory for NoopRetrieverFactory {
    fn open_retriever(
        &self,
        _name: &str,
        _declared: &RetrievalSource,
        _base: &Path,
    ) -> Option<Result<Arc<dyn SourceRetriever>, EffectError>> {
        None
    }
}

/// The retrieval sources of a protocol.
#[derive(Clone, Default)]
pub struct RetrieverRegistry {
    retrievers: BTreeMap<String, Result<Arc<dyn SourceRetriever>, EffectError>>,
}

impl RetrieverRegistry {
    /// Opens the sources that a policy declares. Relative folders are resolved against `base`.
    ///
    /// A source that cannot be opened causes an error only when it is queried, with its name in the
    /// message: a run that does not need it can continue.
    #[must_use]
    pub fn open(policy: &ProtocolPolicy, base: &Path) -> Self {
        Self::open_with_factory(policy, base, None)
    }

    /// Opens the sources that a policy declares, with a factory for further kinds.
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

    /// Registers a source under a name, and replaces the one from the policy.
    #[must_use]
    pub fn with_retriever(mut self, name: &str, source: Arc<dyn SourceRetriever>) -> Self {
        self.retrievers.insert(name.to_owned(), Ok(source));
        self
    }

    /// Queries the source with the given name.
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

/// Shows names only, because a source may hold secrets.
impl std::fmt::Debug for RetrieverRegistry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.retrievers.keys()).finish()
    }
}
