//! Lists events without vectors and stores new vectors.

use super::MemoryError;
use super::row_store::{MemoryResult, RowStore};
use crate::record::{EventLocation, MemoryEvent};
use crate::{EmbeddingVector, MemorySubject};

/// Events of a subject that have no vector of an embedder.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UnembeddedEvents {
    /// The events, newest first, up to the requested number.
    pub events: Vec<MemoryEvent>,
    /// The total number of such events among those searched.
    pub all: u64,
}

/// Lists events without a vector among the newest.
pub(super) fn list_unembedded_events(
    row_store: &impl RowStore,
    subject: &MemorySubject,
    embedder: &str,
    among: usize,
    limit: usize,
) -> MemoryResult<UnembeddedEvents> {
    row_store.find_unembedded_events(subject, embedder, among, limit)
}

/// Stores vectors and returns how many; events that no longer exist get none.
pub(super) fn store_vectors(
    row_store: &mut impl RowStore,
    subject: &MemorySubject,
    vectors: &[(String, EmbeddingVector)],
) -> MemoryResult<u64> {
    let ids: Vec<&str> = vectors.iter().map(|(event, _)| event.as_str()).collect();
    let events = row_store.load_events_by_id(subject, &ids)?;
    let mut places: Vec<(EventLocation, &EmbeddingVector)> = Vec::new();
    for (event, vector) in vectors {
        let expected = match places.iter().find(|(_, one)| one.embedder() == vector.embedder()) {
            Some((_, one)) => Some(one.components().len()),
            None => row_store.load_dimensions(subject, vector.embedder())?,
        };
        let found = vector.components().len();
        if let Some(expected) = expected.filter(|expected| *expected != found) {
            let embedder = vector.embedder().to_owned();
            return Err(MemoryError::Dimensions { embedder, expected, found });
        }
        if let Some(event) = events.get(event) {
            places.push((event.location, vector));
        }
    }
    row_store.put_vectors(subject, &places)?;
    Ok(places.len() as u64)
}
