//! Vectors of events: which ones are missing, and keeping those that were made.

use super::MemoryError;
use super::shelves::{Answer, Shelves};
use crate::record::{Event, Place};
use crate::{Subject, Vector};

/// Events of a subject that have no vector of an embedder.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Unembedded {
    /// The newest of them first, as many as were asked for.
    pub events: Vec<Event>,
    /// How many there are.
    pub all: u64,
}

/// The events without a vector among the newest.
pub(super) fn unembedded(
    shelves: &impl Shelves,
    subject: &Subject,
    embedder: &str,
    among: usize,
    limit: usize,
) -> Answer<Unembedded> {
    shelves.unembedded(subject, embedder, among, limit)
}

/// Keeps vectors, and says how many: of events that are gone by now there is nothing to keep.
pub(super) fn keep(
    shelves: &mut impl Shelves,
    subject: &Subject,
    vectors: &[(String, Vector)],
) -> Answer<u64> {
    let ids: Vec<&str> = vectors.iter().map(|(event, _)| event.as_str()).collect();
    let events = shelves.named(subject, &ids)?;
    let mut places: Vec<(Place, &Vector)> = Vec::new();
    for (event, vector) in vectors {
        let expected = match places.iter().find(|(_, one)| one.embedder() == vector.embedder()) {
            Some((_, one)) => Some(one.body().len()),
            None => shelves.dimensions(subject, vector.embedder())?,
        };
        let found = vector.body().len();
        if let Some(expected) = expected.filter(|expected| *expected != found) {
            let embedder = vector.embedder().to_owned();
            return Err(MemoryError::Dimensions { embedder, expected, found });
        }
        if let Some(event) = events.get(event) {
            places.push((event.place, vector));
        }
    }
    shelves.put_vectors(subject, &places)?;
    Ok(places.len() as u64)
}
