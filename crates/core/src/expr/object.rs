//! Objects made by an expression: fields in JavaScript's order, found by name.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::budget::Budget;
use super::error::Fault;
use super::property::array_index;
use super::text::Text;
use super::value::{Val, depth_round};

/// Up to this many fields a walk over them is as good as an index.
const FEW_FIELDS: usize = 8;

/// An object made by an expression: from an object literal.
#[derive(Debug)]
pub struct Object<'a> {
    fields: Vec<(Text<'a>, Val<'a>)>,
    /// Where each name stands; empty while there are few.
    places: BTreeMap<Text<'a>, usize>,
    // Bounded, as a list's is.
    depth: usize,
}

impl<'a> Object<'a> {
    /// The fields as `Object.entries` gives them: whole numbers ascending, then the others as written.
    #[must_use]
    pub fn fields(&self) -> &[(Text<'a>, Val<'a>)] {
        &self.fields
    }

    pub(super) fn get(&self, name: &str) -> Option<&Val<'a>> {
        place(&self.fields, &self.places, name).map(|place| &self.fields[place].1)
    }

    pub(super) fn depth(&self) -> usize {
        self.depth
    }
}

/// An object that is not finished.
#[derive(Debug, Default)]
pub(super) struct Fields<'a> {
    fields: Vec<(Text<'a>, Val<'a>)>,
    places: BTreeMap<Text<'a>, usize>,
}

impl<'a> Fields<'a> {
    /// Sets a field; one that is there keeps its place.
    pub(super) fn set(
        &mut self,
        name: Text<'a>,
        value: Val<'a>,
        budget: &mut Budget,
    ) -> Result<(), Fault> {
        budget.work(1)?;
        if let Some(place) = place(&self.fields, &self.places, name.as_str()) {
            self.fields[place].1 = value;
            return Ok(());
        }
        // The field, and its place in the index.
        budget.create(size_of::<(Text<'a>, Val<'a>)>() + size_of::<(Text<'a>, usize)>())?;
        self.fields.push((name, value));
        let count = self.fields.len();
        if count > FEW_FIELDS {
            let unplaced = if self.places.is_empty() { 0 } else { count - 1 };
            for (at, (name, _)) in self.fields.iter().enumerate().skip(unplaced) {
                self.places.insert(name.clone(), at);
            }
        }
        Ok(())
    }

    /// Finishes it.
    pub(super) fn object(mut self, budget: &mut Budget) -> Result<Val<'a>, Fault> {
        budget.create(size_of::<Object<'a>>())?;
        let depth = depth_round(self.fields.iter().map(|(_, value)| value))?;
        let order = |name: &Text<'a>| array_index(name.as_str()).map_or(u64::MAX, u64::from);
        if !self.fields.is_sorted_by_key(|(name, _)| order(name)) {
            self.fields.sort_by_key(|(name, _)| order(name));
            for (at, (name, _)) in self.fields.iter().enumerate() {
                if let Some(place) = self.places.get_mut(name.as_str()) {
                    *place = at;
                }
            }
        }
        let Self { fields, places } = self;
        Ok(Val::Object(Rc::new(Object { fields, places, depth })))
    }
}

fn place(
    fields: &[(Text<'_>, Val<'_>)],
    places: &BTreeMap<Text<'_>, usize>,
    name: &str,
) -> Option<usize> {
    if places.is_empty() {
        fields.iter().position(|(known, _)| known.as_str() == name)
    } else {
        places.get(name).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_fields_are_found_and_keep_their_order() {
        let mut budget = Budget::full();
        let mut fields = Fields::default();
        for round in 0..3 {
            for name in 0..40 {
                let name = if name % 2 == 0 { format!("n{name}") } else { (40 - name).to_string() };
                fields.set(Text::from(name), Val::Num(f64::from(round)), &mut budget).unwrap();
            }
        }
        let Val::Object(object) = fields.object(&mut budget).unwrap() else { panic!() };
        let names: Vec<&str> = object.fields().iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names.len(), 40);
        assert_eq!(names[..3], ["1", "3", "5"]);
        assert_eq!(names[20..23], ["n0", "n2", "n4"]);
        for name in names {
            assert!(matches!(object.get(name), Some(Val::Num(2.0))), "{name}");
        }
        assert!(object.get("n1").is_none());
    }
}
