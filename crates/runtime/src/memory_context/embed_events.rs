//! Computes vectors for stored events and for queries with an embedder, and stores them, so that no
//! text is embedded twice.

use countersign_memory::record::MemoryEvent;
use countersign_memory::store::{Memory, MemoryError, UnembeddedEvents};
use countersign_memory::{EmbeddingVector, MemorySubject, PacketRequest, VectorError};
use countersign_models::{Embedder, ModelError};
use thiserror::Error;

/// Maximum number of texts per request to the embedder.
const BATCH_SIZE: usize = 64;

/// How many of the newest events are checked for missing vectors before a query.
const MAX_NEWEST_EVENTS: usize = 256;

/// Maximum length of an embedded text, in characters: embedding models read some hundred words.
const MAX_TEXT_CHARS: usize = 8_000;

/// Why a vector could not be computed.
#[derive(Debug, Error)]
pub enum EmbedError {
    /// The memory returned an error.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The embedder returned an error.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The embedder returned an invalid vector.
    #[error("`{embedder}` returned no vector: {source}")]
    Vector {
        /// Name of the embedder.
        embedder: String,
        /// What is wrong with the vector.
        source: VectorError,
    },
}

/// Embeds every event of a subject that has no vector yet, newest first. `progress` receives how
/// many are done, and the total. Finished work is stored, so the call can be interrupted. Returns
/// the number of embedded events.
pub async fn embed_all(
    memory: &dyn Memory,
    embedder: &dyn Embedder,
    subject: &MemorySubject,
    progress: &mut (dyn FnMut(u64, u64) + Send),
) -> Result<u64, EmbedError> {
    let mut done = 0;
    loop {
        let missing =
            memory.list_unembedded_events(subject, embedder.name(), usize::MAX, BATCH_SIZE).await?;
        progress(done, done + missing.all);
        if missing.events.is_empty() {
            return Ok(done);
        }
        let texts: Vec<String> = missing.events.iter().map(format_event).collect();
        let vectors = embed_texts(embedder, &texts).await?;
        let kept = save_vectors(memory, subject, &missing, vectors).await?;
        if kept == 0 {
            // All of them were erased meanwhile, and are no longer missing.
            continue;
        }
        done += kept;
    }
}

/// Adds the vector of the query text to a request, and embeds the newest events that have no
/// vector. A request without query text is returned unchanged.
pub async fn add_vector(
    memory: &dyn Memory,
    embedder: &dyn Embedder,
    request: PacketRequest,
) -> Result<PacketRequest, EmbedError> {
    let Some(question) = extract_query_text(&request) else { return Ok(request) };
    let subject = request.scope.subject();
    let missing = memory
        .list_unembedded_events(&subject, embedder.name(), MAX_NEWEST_EVENTS, BATCH_SIZE - 1)
        .await?;
    let mut texts: Vec<String> = missing.events.iter().map(format_event).collect();
    texts.push(truncate_text(&question));
    let mut vectors = embed_texts(embedder, &texts).await?;
    let vector = vectors.pop();
    save_vectors(memory, &subject, &missing, vectors).await?;
    Ok(PacketRequest { vector, ..request })
}

/// Like [`add_vector`], but the embedder is optional, and a failure leaves the request without a
/// vector and returns the reason.
pub async fn try_add_vector(
    memory: &dyn Memory,
    embedder: Option<&dyn Embedder>,
    request: PacketRequest,
) -> (PacketRequest, Option<EmbedError>) {
    let Some(embedder) = embedder else { return (request, None) };
    match add_vector(memory, embedder, request.clone()).await {
        Ok(nearer) => (nearer, None),
        Err(error) => (request, Some(error)),
    }
}

/// Returns the text to embed for a request: the message, or else the cues.
fn extract_query_text(request: &PacketRequest) -> Option<String> {
    let message = request.message.as_deref().map(str::trim).filter(|text| !text.is_empty());
    if let Some(message) = message {
        return Some(message.to_owned());
    }
    let cues = request.cues.as_ref()?;
    let lists = [&cues.keywords, &cues.entities, &cues.tags];
    let words: Vec<&str> = lists.into_iter().flatten().flatten().map(String::as_str).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// Formats an event for the embedder, with the speaker, who is part of the meaning.
fn format_event(event: &MemoryEvent) -> String {
    match &event.speaker {
        Some(speaker) => truncate_text(&format!("{speaker}: {}", event.text)),
        None => truncate_text(&event.text),
    }
}

/// Trims and shortens a text for the embedder; most embedders refuse an empty one.
fn truncate_text(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() {
        return "-".to_owned();
    }
    text.chars().take(MAX_TEXT_CHARS).collect()
}

async fn embed_texts(
    embedder: &dyn Embedder,
    texts: &[String],
) -> Result<Vec<EmbeddingVector>, EmbedError> {
    let made = embedder.embed(texts).await?;
    let vector = |numbers: Vec<f32>| {
        EmbeddingVector::from_floats(embedder.name(), &numbers)
            .map_err(|source| EmbedError::Vector { embedder: embedder.name().to_owned(), source })
    };
    made.into_iter().map(vector).collect()
}

async fn save_vectors(
    memory: &dyn Memory,
    subject: &MemorySubject,
    missing: &UnembeddedEvents,
    vectors: Vec<EmbeddingVector>,
) -> Result<u64, EmbedError> {
    if missing.events.is_empty() {
        return Ok(0);
    }
    let ids = missing.events.iter().map(|event| event.id.clone());
    Ok(memory.store_vectors(subject, ids.zip(vectors).collect()).await?)
}
