//! A set of JSON Pointers that answers, without walking through all of them, whether a place lies in,
//! around or beside one of them.
//!
//! Texts must be pointers that were checked: two of them name one place only if they are equal.

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::limits::MAX_DEPTH;

/// Pointers with their positions in the list they come from; of equal ones the first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PointerSet {
    positions: BTreeMap<String, usize>,
}

impl PointerSet {
    /// A set of these pointers.
    pub(crate) fn from_pointers<'p>(pointers: impl IntoIterator<Item = &'p str>) -> Self {
        let mut positions = BTreeMap::new();
        for (position, pointer) in pointers.into_iter().enumerate() {
            positions.entry(pointer.to_owned()).or_insert(position);
        }
        Self { positions }
    }

    /// The position of the first pointer in the list that is this place or lies around it. No document
    /// is deeper than [`MAX_DEPTH`], so steps beyond are not looked at.
    pub(crate) fn find_covering(&self, place: &str) -> Option<usize> {
        let steps = place.match_indices('/').map(|(end, _)| end).chain([place.len()]);
        let around = steps.take(MAX_DEPTH + 1).map(|end| &place[..end]);
        around.filter_map(|around| self.positions.get(around).copied()).min()
    }

    /// Whether this place is one of the pointers.
    pub(crate) fn contains(&self, place: &str) -> bool {
        self.positions.contains_key(place)
    }

    /// Whether one of the pointers is this place or lies around it.
    pub(crate) fn covers(&self, place: &str) -> bool {
        self.find_covering(place).is_some()
    }

    /// The pointers inside a place, in the order of their texts, with their positions.
    pub(crate) fn iter_inside<'s>(&'s self, place: &str) -> impl Iterator<Item = (&'s str, usize)> {
        let first = format!("{place}/");
        let bounds = (Bound::Included(first.as_str()), Bound::Unbounded);
        let behind = self.positions.range::<str, _>(bounds);
        let inside = behind.take_while(move |(pointer, _)| pointer.starts_with(&first));
        inside.map(|(pointer, position)| (pointer.as_str(), *position))
    }

    /// Whether one of the pointers lies inside a place.
    pub(crate) fn has_any_inside(&self, place: &str) -> bool {
        self.iter_inside(place).next().is_some()
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
