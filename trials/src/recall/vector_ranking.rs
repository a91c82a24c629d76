//! Countersign's ranking with an embedder beside the words: a memory of its own for each conversation, asked as a
//! run would ask it.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use countersign_memory::RelevanceScore;
use countersign_memory::policy::{MemoryPolicy, SimilarityPolicy};
use countersign_memory::record::MemoryEvent;
use countersign_memory::store::{
    EphemeralMemory, Memory as _, MemoryError, NewMemoryEvent, RetrievalLimits,
};
use countersign_models::{
    Embedder, ModelConfigError, ModelSettings, ModelSpec, ModelSpecError, connect_embedder,
};
use countersign_runtime::memory_context::{EmbedError, add_vector, embed_all};
use thiserror::Error;
use tokio::runtime::Runtime;

use super::packet_composer::build_request;

/// So many events go into the memory at once.
const BATCH_SIZE: usize = 1_000;

/// Why vectors could not take part.
#[derive(Debug, Error)]
pub(crate) enum VectorRankingError {
    /// The embedder cannot be meant.
    #[error("`--embedder`: {0}")]
    Spec(#[from] ModelSpecError),
    /// It cannot be reached with these settings.
    #[error("`--embedder`: {0}")]
    Config(#[from] ModelConfigError),
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
pub(crate) struct VectorRanking {
    runtime: Runtime,
    embedder: Arc<dyn Embedder>,
    limits: Vec<RetrievalLimits>,
}

impl VectorRanking {
    /// By its address; each weight is a system of its own.
    pub(crate) fn connect(
        spec: &str,
        weights: &[i64],
        policy: &MemoryPolicy,
    ) -> Result<Self, VectorRankingError> {
        let spec: ModelSpec = spec.parse()?;
        let embedder = connect_embedder(&spec, &ModelSettings::default())?;
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let limits = weights.iter().map(|weight| RetrievalLimits {
            similarity: SimilarityPolicy { weight: *weight, ..SimilarityPolicy::default() },
            ..RetrievalLimits::from_policy(policy)
        });
        Ok(Self { runtime, embedder, limits: limits.collect() })
    }

    /// What the systems are called.
    pub(crate) fn system_names(&self) -> impl Iterator<Item = String> {
        self.limits.iter().map(|limits| {
            let weight = limits.similarity.weight as f64 / 1e6;
            format!("countersign, {} at {weight:.2}", self.embedder.name())
        })
    }

    /// Remembers a conversation, and has a vector made of every turn.
    pub(crate) fn embed_conversation<'n>(
        &'n self,
        events: &[MemoryEvent],
    ) -> Result<EmbeddedConversation<'n>, VectorRankingError> {
        let memory = EphemeralMemory::default();
        self.runtime.block_on(async {
            for some in events.chunks(BATCH_SIZE) {
                memory
                    .append_events(some.iter().cloned().map(NewMemoryEvent::from).collect())
                    .await?;
            }
            if let Some(event) = events.first() {
                let subject = event.scope.subject();
                embed_all(&memory, &*self.embedder, &subject, &mut |_, _| {}).await?;
            }
            Ok::<_, VectorRankingError>(())
        })?;
        let by_id = events.iter().enumerate().map(|(at, event)| (event.id.clone(), at)).collect();
        Ok(EmbeddedConversation { ranking: self, memory, by_id, last: events.last().cloned() })
    }
}

/// A conversation that is remembered.
pub(crate) struct EmbeddedConversation<'n> {
    ranking: &'n VectorRanking,
    memory: EphemeralMemory,
    by_id: BTreeMap<String, usize>,
    last: Option<MemoryEvent>,
}

impl EmbeddedConversation<'_> {
    /// The turns that answer, with their scores, best first; for each weight.
    pub(crate) fn rank_turns(
        &self,
        question: &str,
    ) -> Result<Vec<Vec<(usize, RelevanceScore)>>, VectorRankingError> {
        let Some(last) = &self.last else { return Ok(Vec::new()) };
        let request = build_request(last, question, None);
        self.ranking.runtime.block_on(async {
            let request = add_vector(&self.memory, &*self.ranking.embedder, request).await?;
            let mut rankings = Vec::new();
            for limits in &self.ranking.limits {
                let found = self.memory.retrieve_candidates(&request, *limits).await?;
                let quotes = found.quotes.into_iter();
                rankings.push(quotes.map(|one| (self.by_id[&one.row.id], one.score)).collect());
            }
            Ok(rankings)
        })
    }
}
