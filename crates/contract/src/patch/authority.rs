//! Checks which locations a patch may write, and which locations no patch may write.
//!
//! The check looks at locations, not at values: it asks what an operation would write, never
//! whether the write would change anything.

use serde_json::Value;

use super::json_pointer::find_index_below;
use super::patch_error::{describe_pointer, member_pointer};
use super::patch_writes::{ArrayLengths, PatchWrite};
use super::{JsonPointer, JsonPointerError, Patch, PatchOperation, PointerSet};
use crate::limits::MAX_LISTED_NAMES;
use crate::reply::{Violation, ViolationCode, ViolationList};

/// The pointers that a patch may write, and the protected pointers that it may not write even where
/// the first list allows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Authority {
    writable: Vec<JsonPointer>,
    protected: Vec<JsonPointer>,
    /// The pointers of `writable`, indexed for lookup; `protected_set` does the same for
    /// `protected`.
    write_set: PointerSet,
    protected_set: PointerSet,
}

impl Authority {
    /// Parses both lists. A pointer covers its location and everything below it; the empty pointer
    /// covers the whole document.
    pub fn parse<W: AsRef<str>, P: AsRef<str>>(
        writes: &[W],
        protected: &[P],
    ) -> Result<Self, JsonPointerError> {
        let writes: Vec<JsonPointer> =
            writes.iter().map(|text| text.as_ref().parse()).collect::<Result<_, _>>()?;
        let protected: Vec<JsonPointer> =
            protected.iter().map(|text| text.as_ref().parse()).collect::<Result<_, _>>()?;
        let set =
            |all: &[JsonPointer]| PointerSet::from_pointers(all.iter().map(JsonPointer::as_str));
        let (write_set, protected_set) = (set(&writes), set(&protected));
        Ok(Self { writable: writes, protected, write_set, protected_set })
    }

    /// Returns the pointers that a patch may write, in the order given to [`Authority::parse`].
    #[must_use]
    pub fn writable(&self) -> &[JsonPointer] {
        &self.writable
    }

    /// Returns the pointers that a patch may not write, in the order given to [`Authority::parse`].
    #[must_use]
    pub fn protected_pointers(&self) -> &[JsonPointer] {
        &self.protected
    }

    /// Returns one violation for every operation member that goes beyond this authority. The
    /// pointers of the violations lead into the patch: `/2/path`.
    ///
    /// - Every operation except `test` writes its `path`; `move` also writes its `from`. The
    ///   location that `test` or the `from` of `copy` reads must be writable, too.
    /// - A write to a location is a write to everything below it. Replacing, removing or adding a
    ///   value that contains a protected location is refused, even if that location would keep its
    ///   value.
    /// - Adding or removing an array item is a write to every later item.
    /// - A pointer means the location it has when its operation runs. An array that contains a
    ///   location outside the authority cannot be replaced, so its indices mean the same from the
    ///   first operation to the last.
    ///
    /// ```
    /// use countersign_contract::patch::{Authority, Patch};
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
    ///     "/1/path: expected a location that does not affect /domain/locked, \
    ///      found /domain [not_authorized]",
    ///     "/2/from: expected a location under /domain, found /control/limits [not_authorized]",
    /// ]);
    /// ```
    #[must_use]
    pub fn check(&self, patch: &Patch, document: &Value) -> Vec<Violation> {
        let mut lengths = ArrayLengths::new(document);
        let mut violations = ViolationList::default();
        for (index, op) in patch.ops.iter().enumerate() {
            violations.extend(self.check_read(index, op));
            for reach in lengths.collect_writes(op) {
                violations.extend(self.check_write(index, &reach));
            }
        }
        violations.finish()
    }

    /// Refuses a `test` or a `copy` that reads outside the writable locations. A model that may
    /// write one location must not find out the value of another by testing it, or copy it. A
    /// protected location, such as an engine-owned field, may be read if it lies inside a writable
    /// one.
    fn check_read(&self, index: usize, op: &PatchOperation) -> Option<Violation> {
        let (name, pointer) = match op {
            PatchOperation::Test { path, .. } => ("path", path),
            PatchOperation::Copy { from, .. } => ("from", from),
            PatchOperation::Add { .. }
            | PatchOperation::Remove { .. }
            | PatchOperation::Replace { .. }
            | PatchOperation::Move { .. } => {
                return None;
            }
        };
        if self.write_set.covers(pointer.as_str()) {
            return None;
        }
        let (at, found) = (member_pointer(index, name), describe_pointer(pointer.as_str()));
        Some(Violation::new(ViolationCode::NotAuthorized, at, self.describe_allowed(), found))
    }

    fn check_write(&self, index: usize, reach: &PatchWrite) -> Option<Violation> {
        let refused = |expected: String| {
            let (at, found) =
                (member_pointer(index, reach.member), describe_pointer(reach.pointer.as_str()));
            Violation::new(ViolationCode::NotAuthorized, at, expected, found)
        };
        if let Some((protected, touch)) = self.find_protected_overlap(reach) {
            let violation = refused(format!(
                "a location that does not affect {}",
                describe_pointer(protected.as_str())
            ));
            return Some(match touch {
                ProtectedOverlap::Inside => violation,
                ProtectedOverlap::Around => violation.with_hint(format!(
                    "{protected} lies inside; write the locations next to it one by one"
                )),
                ProtectedOverlap::ShiftsIndex => violation.with_hint(format!(
                    "adding or removing an item shifts the index of the items after it, including {protected}"
                )),
            });
        }
        let beyond = self.find_unauthorized_pointer(reach)?;
        let violation = refused(self.describe_allowed());
        Some(if beyond == reach.pointer {
            violation
        } else {
            violation.with_hint(format!("this would also change {beyond}"))
        })
    }

    /// Returns the first protected pointer, in list order, that the write overlaps, and how it
    /// overlaps.
    fn find_protected_overlap(
        &self,
        reach: &PatchWrite,
    ) -> Option<(&JsonPointer, ProtectedOverlap)> {
        let path = reach.pointer.as_str();
        let inside =
            self.protected_set.find_covering(path).map(|at| (at, ProtectedOverlap::Inside));
        let (around, touch) = match &reach.shift {
            None => (path, ProtectedOverlap::Around),
            Some(shift) => (shift.array.as_str(), ProtectedOverlap::ShiftsIndex),
        };
        let shifts = |pointer: &str| match &reach.shift {
            None => true,
            Some(shift) => {
                find_index_below(pointer, around).is_some_and(|index| index >= shift.first)
            }
        };
        let touched = self.protected_set.iter_inside(around).filter(|(pointer, _)| shifts(pointer));
        let touched = touched.map(|(_, at)| at).min().map(|at| (at, touch));
        let first = inside.into_iter().chain(touched).min_by_key(|(at, _)| *at);
        first.map(|(at, touch)| (&self.protected[at], touch))
    }

    /// Returns the first written location that no writable pointer covers.
    fn find_unauthorized_pointer(&self, reach: &PatchWrite) -> Option<JsonPointer> {
        let may = |pointer: &JsonPointer| self.write_set.covers(pointer.as_str());
        match &reach.shift {
            Some(shift) if may(&shift.array) => None,
            Some(shift) => (shift.first..=shift.last)
                .map(|index| JsonPointer::from_array_item(shift.array.as_str(), index))
                .find(|pointer| !may(pointer)),
            None => Some(reach.pointer.clone()).filter(|pointer| !may(pointer)),
        }
    }

    fn describe_allowed(&self) -> String {
        match self.writable.as_slice() {
            [] => "no change".to_owned(),
            pointers => {
                let listed = &pointers[..pointers.len().min(MAX_LISTED_NAMES)];
                let names: Vec<&str> = listed.iter().map(JsonPointer::as_str).collect();
                let more = if listed.len() < pointers.len() { " or others" } else { "" };
                format!("a location under {}{more}", names.join(" or "))
            }
        }
    }
}

/// How a write overlaps a protected location.
#[derive(Debug, Clone, Copy)]
enum ProtectedOverlap {
    Inside,
    Around,
    ShiftsIndex,
}
