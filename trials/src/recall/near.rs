//! Countersign's ranking with an embedder beside the words: a memory of its own for each conversation, asked as a
//! run would ask it.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use countersign_memory::Score;
use countersign_memory::policy::{Policy, Similarity};
use countersign_memory::record::Event;
use countersign_memory::store::{InMemory, Limits, Memory as _, MemoryError, NewEvent};
use countersign_models::{
    ConfigError, Embedder, ModelSpec, ModelSpecError, Settings, connect_embedder,
};
use countersign_runtime::remember::{EmbedError, embed_all, with_vector};
use thiserror::Error;
use tokio::runtime::Runtime;

use super::packet::request;

/// So many events go into the memory at once.
const AT_ONCE: usize = 1_000;

/// Why vectors could not take part.
#[derive(Debug, Error)]
pub(crate) enum NearError {
    /// The embedder cannot be meant.
    #[error("`--embedder`: {0}")]
    Spec(#[from] ModelSpecError),
    /// It cannot be reached with these settings.
    #[error("`--embedder`: {0}")]
    Config(#[from] ConfigError),
    /// It made no vector.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// The memory could not.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// There can be no thread for it.
    #[error("no thread for the embedder: {0}")]
    Io(#[from] io::Error),
}

/// An embedder, and how much it may count.
pub(crate) struct Near {
    runtime: Runtime,
    embedder: Arc<dyn Embedder>,
    limits: Vec<Limits>,
}

impl Near {
    /// By its address; each weight is a system of its own.
    pub(crate) fn connect(spec: &str, weights: &[i64], policy: &Policy) -> Result<Self, NearError> {
        let spec: ModelSpec = spec.parse()?;
        let embedder = connect_embedder(&spec, &Settings::default())?;
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let limits = weights.iter().map(|weight| Limits {
            similarity: Similarity { weight: *weight, ..Similarity::default() },
            ..Limits::of(policy)
        });
        Ok(Self { runtime, embedder, limits: limits.collect() })
    }

    /// What the systems are called.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> {
        self.limits.iter().map(|limits| {
            let weight = limits.similarity.weight as f64 / 1e6;
            format!("countersign, {} at {weight:.2}", self.embedder.name())
        })
    }

    /// Remembers a conversation, and has a vector made of every turn.
    pub(crate) fn remember<'n>(&'n self, events: &[Event]) -> Result<Talk<'n>, NearError> {
        let memory = InMemory::default();
        self.runtime.block_on(async {
            for some in events.chunks(AT_ONCE) {
                memory.remember(some.iter().cloned().map(NewEvent::from).collect()).await?;
            }
            if let Some(event) = events.first() {
                let subject = event.scope.subject();
                embed_all(&memory, &*self.embedder, &subject, &mut |_, _| {}).await?;
            }
            Ok::<_, NearError>(())
        })?;
        let by_id = events.iter().enumerate().map(|(at, event)| (event.id.clone(), at)).collect();
        Ok(Talk { near: self, memory, by_id, last: events.last().cloned() })
    }
}

/// A conversation that is remembered.
pub(crate) struct Talk<'n> {
    near: &'n Near,
    memory: InMemory,
    by_id: BTreeMap<String, usize>,
    last: Option<Event>,
}

impl Talk<'_> {
    /// The turns that answer, with their scores, best first; for each weight.
    pub(crate) fn ask(&self, question: &str) -> Result<Vec<Vec<(usize, Score)>>, NearError> {
        let Some(last) = &self.last else { return Ok(Vec::new()) };
        let request = request(last, question, None);
        self.near.runtime.block_on(async {
            let request = with_vector(&self.memory, &*self.near.embedder, request).await?;
            let mut rankings = Vec::new();
            for limits in &self.near.limits {
                let found = self.memory.found(&request, *limits).await?;
                let quotes = found.quotes.into_iter();
                rankings.push(quotes.map(|one| (self.by_id[&one.row.id], one.score)).collect());
            }
            Ok(rankings)
        })
    }
}
