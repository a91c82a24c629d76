//! Vectors beside words: what is remembered and what is asked is shown to an embedder, and what it makes of
//! them is kept. Nobody asks it twice for the same.

use countersign_memory::record::MemoryEvent;
use countersign_memory::store::{Memory, MemoryError, UnembeddedEvents};
use countersign_memory::{EmbeddingVector, MemorySubject, PacketRequest, VectorError};
use countersign_models::{Embedder, ModelError};
use thiserror::Error;

/// So many texts go to an embedder at once.
const BATCH_SIZE: usize = 64;

/// So many of the newest events are looked through before a question, for those without a vector.
const MAX_NEWEST_EVENTS: usize = 256;

/// A text is shown up to so many characters: models for vectors read some hundred words.
const MAX_TEXT_CHARS: usize = 8_000;

/// Why there is no vector.
#[derive(Debug, Error)]
pub enum EmbedError {
    /// The memory could not.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The embedder did not answer.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// What it made cannot be compared.
    #[error("`{embedder}` made no vector: {source}")]
    Vector {
        /// Who.
        embedder: String,
        /// What is wrong with it.
        source: VectorError,
    },
}

/// Embeds every event of a subject that has no vector yet, the newest first. `progress` hears how many are
/// done, of how many. What was done stays done, so that it can be broken off.
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
            // All of them were forgotten meanwhile, and are not missing any more.
            continue;
        }
        done += kept;
    }
}

/// The request with the vector of its words; the newest events without one get theirs by the way. As it is
/// where nothing is asked.
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

/// The same where there may be no embedder, and the words alone must do where it is away: then with the
/// reason.
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

/// The words of a request: what is being said, or else what it is about.
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

/// What an embedder is shown of an event: who speaks belongs to what is said.
fn format_event(event: &MemoryEvent) -> String {
    match &event.speaker {
        Some(speaker) => truncate_text(&format!("{speaker}: {}", event.text)),
        None => truncate_text(&event.text),
    }
}

/// What an embedder is shown of a text; a blank one would be refused by most.
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
