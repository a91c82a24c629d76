//! Countersign's ranking with an embedder in addition to words: each conversation has its own
//! memory, which is queried as by a run.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use countersign_memory::RelevanceScore;
use countersign_memory::policy::{MemoryPolicy, SimilarityPolicy};
use countersign_memory::record::MemoryEvent;
use countersign_memory::store::{
    EphemeralMemory, MemoryError, MemoryReader as _, MemoryWriter as _, NewMemoryEvent,
    RetrievalLimits,
};
use countersign_models::{
    Embedder, ModelConfigError, ModelSettings, ModelSpec, ModelSpecError, connect_embedder,
};
use countersign_runtime::memory_context::{EmbedError, add_vector, embed_all};
use thiserror::Error;
use tokio::runtime::Runtime;

use super::packet_composer::build_request;

/// The number of events to store at once.
const BATCH_SIZE: usize = 1_000;

/// Why the vector ranking failed.
#[derive(Debug, Error)]
pub(crate) enum VectorRankingError {
    /// The embedder specification is invalid.
    #[error("`--embedder`: {0}")]
    Spec(#[from] ModelSpecError),
    /// The embedder cannot be used with these settings.
    #[error("`--embedder`: {0}")]
    Config(#[from] ModelConfigError),
    /// The embedder did not return a vector.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// A memory operation failed.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The runtime could not start a thread.
    #[error("cannot start a thread for the embedder: {0}")]
    Io(#[from] io::Error),
}

/// An embedder and the weights to evaluate.
pub(crate) struct VectorRanking {
    runtime: Runtime,
    embedder: Arc<dyn Embedder>,
    limits: Vec<RetrievalLimits>,
}

impl VectorRanking {
    /// Connects to an embedder; each weight counts as a separate system.
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

    /// Returns the names of the systems.
    pub(crate) fn system_names(&self) -> impl Iterator<Item = String> {
        self.limits.iter().map(|limits| {
            let weight = limits.similarity.weight as f64 / 1e6;
            format!("countersign, {} at {weight:.2}", self.embedder.name())
        })
    }

    /// Stores a conversation and computes a vector for every turn.
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

/// A stored conversation with vectors.
pub(crate) struct EmbeddedConversation<'n> {
    ranking: &'n VectorRanking,
    memory: EphemeralMemory,
    by_id: BTreeMap<String, usize>,
    last: Option<MemoryEvent>,
}

impl EmbeddedConversation<'_> {
    /// Returns the matching turns with their scores, best first, for each weight.
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
