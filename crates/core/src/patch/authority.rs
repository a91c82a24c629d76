//! Who may write where: the places a patch may change, and those that no patch may.
//!
//! The check is by place, not by value: it asks what an operation would write, never whether that
//! would make a difference.

use serde_json::Value;

use super::error::{member, named};
use super::pointer::below_index;
use super::reach::{Lengths, Reach};
use super::{Op, Patch, Pointer, PointerError, PointerSet};
use crate::limits::MAX_LISTED_NAMES;
use crate::reply::{Code, Violation, ViolationList};

/// The places that may be written, and those that may not whatever the first list says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Authority {
    writes: Vec<Pointer>,
    protected: Vec<Pointer>,
    /// The same, to be looked up.
    write_set: PointerSet,
    protected_set: PointerSet,
}

impl Authority {
    /// Reads both lists. A place covers itself and everything below it; the empty pointer covers all.
    pub fn parse<W: AsRef<str>, P: AsRef<str>>(
        writes: &[W],
        protected: &[P],
    ) -> Result<Self, PointerError> {
        let writes: Vec<Pointer> =
            writes.iter().map(|text| text.as_ref().parse()).collect::<Result<_, _>>()?;
        let protected: Vec<Pointer> =
            protected.iter().map(|text| text.as_ref().parse()).collect::<Result<_, _>>()?;
        let set = |all: &[Pointer]| PointerSet::from_pointers(all.iter().map(Pointer::as_str));
        let (write_set, protected_set) = (set(&writes), set(&protected));
        Ok(Self { writes, protected, write_set, protected_set })
    }

    /// The places that may be written.
    #[must_use]
    pub fn writes(&self) -> &[Pointer] {
        &self.writes
    }

    /// The places that may not.
    #[must_use]
    pub fn protected(&self) -> &[Pointer] {
        &self.protected
    }

    /// One violation for every write that reaches too far; the pointers lead into the patch:
    /// `/2/path`.
    ///
    /// - Every verb but `test` writes its `path`; `move` writes its `from` as well. What `test` and the
    ///   `from` of `copy` name must lie where may be written, too.
    /// - A write to a place is a write to everything below it: replacing, removing or adding
    ///   something around a protected place is refused, even if that place would keep its value.
    /// - Adding or removing an item of an array is a write to every later item.
    /// - A place is what it is when its operation runs. An array around a place that is out of reach
    ///   cannot be replaced, so its indices mean the same from the first operation to the last.
    ///
    /// ```
    /// use countersign_core::patch::{Authority, Patch};
    /// use serde_json::json;
    ///
    /// let authority = Authority::parse(&["/domain"], &["/domain/locked"]).unwrap();
    /// let document = json!({"domain": {"locked": 1}, "control": {"limits": 3}});
    /// let patch = Patch::parse(&json!([
    ///     {"op": "copy", "from": "/domain/locked", "path": "/domain/seen"},
    ///     {"op": "replace", "path": "/domain", "value": {}},
    ///     {"op": "move", "from": "/control/limits", "path": "/domain/limits"},
    /// ])).unwrap();
    /// let violations = authority.check(&patch, &document);
    /// let lines: Vec<String> = violations.iter().map(ToString::to_string).collect();
    /// assert_eq!(lines, [
    ///     "/1/path: expected a place that leaves /domain/locked alone, found /domain [not_authorized]",
    ///     "/2/from: expected a place under /domain, found /control/limits [not_authorized]",
    /// ]);
    /// ```
    #[must_use]
    pub fn check(&self, patch: &Patch, document: &Value) -> Vec<Violation> {
        let mut lengths = Lengths::of(document);
        let mut violations = ViolationList::default();
        for (index, op) in patch.ops.iter().enumerate() {
            violations.extend(self.overlooked(index, op));
            for reach in lengths.writes(op) {
                violations.extend(self.judge(index, &reach));
            }
        }
        violations.finish()
    }

    /// What `test` and the `from` of `copy` may not look at: a model that may write one place is not
    /// to find out by trying, or carry over, what stands in another. An engine's place may be looked
    /// at where it lies among those that may be written.
    fn overlooked(&self, index: usize, op: &Op) -> Option<Violation> {
        let (name, place) = match op {
            Op::Test { path, .. } => ("path", path),
            Op::Copy { from, .. } => ("from", from),
            Op::Add { .. } | Op::Remove { .. } | Op::Replace { .. } | Op::Move { .. } => {
                return None;
            }
        };
        if self.write_set.covers(place.as_str()) {
            return None;
        }
        let (at, found) = (member(index, name), named(place.as_str()));
        Some(Violation::new(Code::NotAuthorized, at, self.allowed(), found))
    }

    fn judge(&self, index: usize, reach: &Reach) -> Option<Violation> {
        let refused = |expected: String| {
            let (at, found) = (member(index, reach.member), named(reach.place.as_str()));
            Violation::new(Code::NotAuthorized, at, expected, found)
        };
        if let Some((protected, touch)) = self.hit(reach) {
            let violation =
                refused(format!("a place that leaves {} alone", named(protected.as_str())));
            return Some(match touch {
                Touch::Inside => violation,
                Touch::Around => violation.hinting(format!(
                    "{protected} lies inside; write the places beside it one by one"
                )),
                Touch::Shifts => violation.hinting(format!(
                    "what is behind an added or removed item gets another index, and so would {protected}"
                )),
            });
        }
        let beyond = self.beyond(reach)?;
        let violation = refused(self.allowed());
        Some(if beyond == reach.place {
            violation
        } else {
            violation.hinting(format!("this would change what stands at {beyond} too"))
        })
    }

    /// A protected place that is written: the first in the list.
    fn hit(&self, reach: &Reach) -> Option<(&Pointer, Touch)> {
        let place = reach.place.as_str();
        let inside = self.protected_set.find_covering(place).map(|at| (at, Touch::Inside));
        let (around, touch) = match &reach.shift {
            None => (place, Touch::Around),
            Some(shift) => (shift.array.as_str(), Touch::Shifts),
        };
        let shifts = |pointer: &str| match &reach.shift {
            None => true,
            Some(shift) => below_index(pointer, around).is_some_and(|index| index >= shift.first),
        };
        let touched = self.protected_set.inside(around).filter(|(pointer, _)| shifts(pointer));
        let touched = touched.map(|(_, at)| at).min().map(|at| (at, touch));
        let first = inside.into_iter().chain(touched).min_by_key(|(at, _)| *at);
        first.map(|(at, touch)| (&self.protected[at], touch))
    }

    /// The first place written that is not among those that may be.
    fn beyond(&self, reach: &Reach) -> Option<Pointer> {
        let may = |place: &Pointer| self.write_set.covers(place.as_str());
        match &reach.shift {
            Some(shift) if may(&shift.array) => None,
            Some(shift) => (shift.first..=shift.last)
                .map(|index| Pointer::item(shift.array.as_str(), index))
                .find(|place| !may(place)),
            None => Some(reach.place.clone()).filter(|place| !may(place)),
        }
    }

    fn allowed(&self) -> String {
        match self.writes.as_slice() {
            [] => "no change at all".to_owned(),
            places => {
                let listed = &places[..places.len().min(MAX_LISTED_NAMES)];
                let names: Vec<&str> = listed.iter().map(Pointer::as_str).collect();
                let more = if listed.len() < places.len() { " or one of others" } else { "" };
                format!("a place under {}{more}", names.join(" or "))
            }
        }
    }
}

/// How a write touches a protected place.
#[derive(Debug, Clone, Copy)]
enum Touch {
    Inside,
    Around,
    Shifts,
}
