//! Objects made by an expression: fields in JavaScript's order, found by name.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::eval_budget::EvalBudget;
use super::expr_error::UnlocatedError;
use super::expr_string::ExprString;
use super::expr_value::{ExprValue, compute_depth};
use super::property::parse_array_index;

/// Up to this many fields a walk over them is as good as an index.
const FEW_FIELDS: usize = 8;

/// An object made by an expression: from an object literal.
#[derive(Debug)]
pub struct ExprObject<'a> {
    fields: Vec<(ExprString<'a>, ExprValue<'a>)>,
    /// Where each name stands; empty while there are few.
    index_by_name: BTreeMap<ExprString<'a>, usize>,
    // Bounded, as a list's is.
    depth: usize,
}

impl<'a> ExprObject<'a> {
    /// The fields as `ExprObject.entries` gives them: whole numbers ascending, then the others as written.
    #[must_use]
    pub fn fields(&self) -> &[(ExprString<'a>, ExprValue<'a>)] {
        &self.fields
    }

    pub(super) fn get(&self, name: &str) -> Option<&ExprValue<'a>> {
        find_field(&self.fields, &self.index_by_name, name).map(|place| &self.fields[place].1)
    }

    pub(super) fn depth(&self) -> usize {
        self.depth
    }
}

/// An object that is not finished.
#[derive(Debug, Default)]
pub(super) struct ExprObjectBuilder<'a> {
    fields: Vec<(ExprString<'a>, ExprValue<'a>)>,
    index_by_name: BTreeMap<ExprString<'a>, usize>,
}

impl<'a> ExprObjectBuilder<'a> {
    /// Sets a field; one that is there keeps its place.
    pub(super) fn set_field(
        &mut self,
        name: ExprString<'a>,
        value: ExprValue<'a>,
        budget: &mut EvalBudget,
    ) -> Result<(), UnlocatedError> {
        budget.charge_steps(1)?;
        if let Some(place) = find_field(&self.fields, &self.index_by_name, name.as_str()) {
            self.fields[place].1 = value;
            return Ok(());
        }
        // The field, and its place in the index.
        budget.charge_bytes(
            size_of::<(ExprString<'a>, ExprValue<'a>)>() + size_of::<(ExprString<'a>, usize)>(),
        )?;
        self.fields.push((name, value));
        let count = self.fields.len();
        if count > FEW_FIELDS {
            let unplaced = if self.index_by_name.is_empty() { 0 } else { count - 1 };
            for (at, (name, _)) in self.fields.iter().enumerate().skip(unplaced) {
                self.index_by_name.insert(name.clone(), at);
            }
        }
        Ok(())
    }

    /// Finishes it.
    pub(super) fn build(
        mut self,
        budget: &mut EvalBudget,
    ) -> Result<ExprValue<'a>, UnlocatedError> {
        budget.charge_bytes(size_of::<ExprObject<'a>>())?;
        let depth = compute_depth(self.fields.iter().map(|(_, value)| value))?;
        let order =
            |name: &ExprString<'a>| parse_array_index(name.as_str()).map_or(u64::MAX, u64::from);
        if !self.fields.is_sorted_by_key(|(name, _)| order(name)) {
            self.fields.sort_by_key(|(name, _)| order(name));
            for (at, (name, _)) in self.fields.iter().enumerate() {
                if let Some(place) = self.index_by_name.get_mut(name.as_str()) {
                    *place = at;
                }
            }
        }
        let Self { fields, index_by_name: places } = self;
        Ok(ExprValue::Object(Rc::new(ExprObject { fields, index_by_name: places, depth })))
    }
}

fn find_field(
    fields: &[(ExprString<'_>, ExprValue<'_>)],
    places: &BTreeMap<ExprString<'_>, usize>,
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
        let mut budget = EvalBudget::new();
        let mut fields = ExprObjectBuilder::default();
        for round in 0..3 {
            for name in 0..40 {
                let name = if name % 2 == 0 { format!("n{name}") } else { (40 - name).to_string() };
                fields
                    .set_field(
                        ExprString::from(name),
                        ExprValue::Num(f64::from(round)),
                        &mut budget,
                    )
                    .unwrap();
            }
        }
        let ExprValue::Object(object) = fields.build(&mut budget).unwrap() else { panic!() };
        let names: Vec<&str> = object.fields().iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names.len(), 40);
        assert_eq!(names[..3], ["1", "3", "5"]);
        assert_eq!(names[20..23], ["n0", "n2", "n4"]);
        for name in names {
            assert!(matches!(object.get(name), Some(ExprValue::Num(2.0))), "{name}");
        }
        assert!(object.get("n1").is_none());
    }
}
