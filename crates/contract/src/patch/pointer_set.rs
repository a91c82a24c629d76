//! A set of JSON Pointers that finds the pointers at, above or below a location without scanning
//! all of them.
//!
//! The texts must be validated pointers: two of them name the same location only if they are equal.

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::limits::MAX_DEPTH;

/// Pointers with their positions in the original list. For equal pointers the first position is
/// kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PointerSet {
    positions: BTreeMap<String, usize>,
}

impl PointerSet {
    /// Creates a set from the pointers; the position of each is its index in the iterator.
    #[must_use]
    pub fn from_pointers<'p>(pointers: impl IntoIterator<Item = &'p str>) -> Self {
        let mut positions = BTreeMap::new();
        for (position, pointer) in pointers.into_iter().enumerate() {
            positions.entry(pointer.to_owned()).or_insert(position);
        }
        Self { positions }
    }

    /// Returns the position of the first pointer, in list order, that equals this location or lies
    /// above it. Segments beyond [`MAX_DEPTH`] are ignored, because no document is deeper.
    pub(crate) fn find_covering(&self, location: &str) -> Option<usize> {
        let steps = location.match_indices('/').map(|(end, _)| end).chain([location.len()]);
        let around = steps.take(MAX_DEPTH + 1).map(|end| &location[..end]);
        around.filter_map(|around| self.positions.get(around).copied()).min()
    }

    /// Returns whether the set has exactly this pointer.
    #[must_use]
    pub fn contains(&self, location: &str) -> bool {
        self.positions.contains_key(location)
    }

    /// Returns whether a pointer of the set equals this location or lies above it.
    #[must_use]
    pub fn covers(&self, location: &str) -> bool {
        self.find_covering(location).is_some()
    }

    /// Returns the pointers below a location with their positions, sorted by their text.
    pub fn iter_inside<'s>(&'s self, location: &str) -> impl Iterator<Item = (&'s str, usize)> {
        let first = format!("{location}/");
        let bounds = (Bound::Included(first.as_str()), Bound::Unbounded);
        let behind = self.positions.range::<str, _>(bounds);
        let inside = behind.take_while(move |(pointer, _)| pointer.starts_with(&first));
        inside.map(|(pointer, position)| (pointer.as_str(), *position))
    }

    /// Returns whether a pointer of the set lies below this location.
    #[must_use]
    pub fn has_any_inside(&self, location: &str) -> bool {
        self.iter_inside(location).next().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_around_and_inside() {
        let set = PointerSet::from_pointers(["/a-b", "/a/b", "/a", "/a/b/c", "/a/b"]);
        assert_eq!(set.find_covering("/a/b/c/d"), Some(1));
        assert_eq!(set.find_covering("/a/x"), Some(2));
        assert_eq!(set.find_covering("/a-bc"), None);
        assert!(!set.covers(""));
        let inside: Vec<_> = set.iter_inside("/a").collect();
        assert_eq!(inside, [("/a/b", 1), ("/a/b/c", 3)]);
        assert!(set.has_any_inside("") && !set.has_any_inside("/a-b"));
        let all = PointerSet::from_pointers([""]);
        assert!(all.covers("") && all.covers("/x/y"));
    }

    #[test]
    fn a_pointer_of_slashes_is_looked_at_up_to_the_depth_of_documents() {
        let deep = "/".repeat(1 << 20);
        let set = PointerSet::from_pointers([deep.as_str()]);
        assert!(!set.covers(&deep));
        assert!(set.has_any_inside("/"));
    }
}
